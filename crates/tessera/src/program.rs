//! A program from text to result: read, check, plan, run.
//!
//! ```
//! use tessera::program::{Bindings, Input, Program};
//!
//! let text = "%dst = pto.ttrans %src : !pto.tile<8x16xi16> -> !pto.tile<16x16xi16>";
//! assert_eq!(Program::parse(text, None).check()[0].rule, "ttrans-shape");
//!
//! let text = "%dst = pto.ttrans %src : !pto.tile<16x16xi16> -> !pto.tile<16x16xi16>";
//! let program = Program::parse(text, None);
//! assert!(program.check().is_empty());
//! let kernel = program.kernel(None).unwrap();
//! let (src, dst) = (kernel.find("src").unwrap(), kernel.find("dst").unwrap());
//! let elements: Vec<u8> = (0..256i16).flat_map(i16::to_le_bytes).collect();
//! let outcome = kernel.run(Bindings {
//!     inputs: vec![(src, Input::Tile { rows: 16, cols: 16, elements })],
//!     outputs: vec![(dst, 0)],
//!     ..Bindings::default()
//! });
//! // Row 0 of the result is column 0 of the source: 0, 16, 32, …
//! assert_eq!(outcome.tiles[0].data.elements[..6], [0, 0, 16, 0, 32, 0]);
//! ```

mod bind;
mod kernel;

pub use bind::{Argument, Need};
pub use kernel::{Bindings, Kernel};
pub use tessera_exec::interp::{Input, Outcome, TileData};

use tessera_asm::{Parsed, Trivia};
use tessera_ir::inline::inline;
use tessera_ir::{Func, Module, TextForm};
use tessera_isa::diag::{Diagnostic, Span, nearest};
use tessera_isa::profile::Profile;

/// A program that was read, on a profile. It may have errors; [`Program::check`] gives them all.
#[derive(Debug)]
pub struct Program {
    parsed: Parsed,
    profile: Profile,
}

impl Program {
    /// Reads a module or listing. Without a profile the module's own counts, else `cpu`.
    pub fn parse(text: &str, profile: Option<Profile>) -> Program {
        Program::new(tessera_asm::parse(text, profile), profile)
    }

    /// Reads the bytes of a file, which may not be text at all.
    pub fn parse_bytes(bytes: &[u8], profile: Option<Profile>) -> Program {
        Program::new(tessera_asm::parse_bytes(bytes, profile), profile)
    }

    fn new(mut parsed: Parsed, given: Option<Profile>) -> Program {
        let target = parsed.module.target;
        // "When the command line overrides a different module attribute, say so" (tile-model.md 1).
        if let (Some(given), Some((own, span))) = (given, target)
            && given != own
        {
            let what = format!("the module is made for {own}, and {given} is used instead");
            let warning = Diagnostic::warning("profile-override", what)
                .at(span, format!("{own} is written here"))
                .help(format!("leave the profile out to use {own}"));
            parsed.diagnostics.push(warning);
        }
        Program { profile: given.or(target.map(|t| t.0)).unwrap_or(Profile::Cpu), parsed }
    }

    /// The profile that everything is about.
    pub fn profile(&self) -> Profile {
        self.profile
    }

    /// The program. After errors in the text it is incomplete.
    pub fn module(&self) -> &Module {
        &self.parsed.module
    }

    /// Comments and the like.
    pub fn trivia(&self) -> &Trivia {
        &self.parsed.trivia
    }

    /// Canonical text, in the forms that the program is written in or all in one. The program has no errors.
    pub fn text(&self, form: Option<TextForm>) -> String {
        match form {
            Some(form) => tessera_asm::convert(&self.parsed, form),
            None => tessera_asm::print(&self.parsed),
        }
    }

    /// Has the text errors? Then nothing else is possible.
    pub fn has_errors(&self) -> bool {
        self.parsed.has_errors()
    }

    /// Everything that can be said without running: the text, every rule, and whether the tiles fit their memories.
    pub fn check(&self) -> Vec<Diagnostic> {
        let mut found = self.parsed.diagnostics.clone();
        if !self.has_errors() {
            found.extend(tessera_check::check_module(self.module(), self.profile));
            self.check_capacity(&mut found);
        }
        self.with_locations(found)
    }

    /// `capacity` of every function that nobody calls.
    fn check_capacity(&self, found: &mut Vec<Diagnostic>) {
        let module = self.module();
        // A tile that is too big by itself has been reported; what is alive with it is no news.
        if found.iter().any(|d| d.is_error() && d.rule.starts_with("tile-")) {
            return;
        }
        let called: Vec<_> = module.funcs.iter().flat_map(Func::callees).collect();
        for func in module.funcs.iter().filter(|f| !called.contains(&f.name)) {
            let placed =
                inline(module, func).ok().map(|inlined| tessera_plan::plan(module, &inlined, self.profile, &[]));
            if let Some(Err(diagnostic)) = placed {
                found.push(*diagnostic);
            }
        }
    }

    /// Which instruction is legal on which profile.
    pub fn portability(&self) -> tessera_check::Portability {
        tessera_check::portability(self.module())
    }

    /// The function that runs, with its calls inlined: the one of that name, else the entry.
    pub fn kernel(&self, entry: Option<&str>) -> Result<Kernel<'_>, Box<Diagnostic>> {
        let module = self.module();
        let names: Vec<&str> = module.funcs.iter().map(|f| module.names.text(f.name)).collect();
        let Some(func) = module.entry(entry) else {
            let names = if module.is_listing { &[][..] } else { &names };
            return Err(Box::new(no_entry(entry, names)));
        };
        let inlined = inline(module, func)?;
        Ok(Kernel::new(self, inlined))
    }

    /// Diagnostics with the `loc(…)` of their operations as notes (syntax.md 1).
    pub fn with_locations(&self, mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
        let mut locations: Vec<(Span, &str)> = Vec::new();
        for func in &self.module().funcs {
            for op in &func.ops {
                if let Some(loc) = op.attrs.as_ref().and_then(|a| a.loc.as_deref()) {
                    locations.push((op.span, loc));
                }
            }
        }
        if locations.is_empty() {
            return diagnostics;
        }
        locations.sort_by_key(|(span, _)| span.start);
        for diagnostic in &mut diagnostics {
            let Some(at) = diagnostic.span else { continue };
            let before = locations.partition_point(|(span, _)| span.start <= at.start);
            let last = before.checked_sub(1).and_then(|n| locations.get(n));
            if let Some((_, loc)) = last.filter(|(span, _)| at.end <= span.end) {
                diagnostic.notes.push(format!("the operation comes from {loc}"));
            }
        }
        diagnostics
    }
}

fn no_entry(entry: Option<&str>, names: &[&str]) -> Diagnostic {
    let list = || names.iter().map(|n| format!("@{n}")).collect::<Vec<_>>().join(", ");
    match entry {
        Some(name) if names.is_empty() => Diagnostic::error("entry", format!("a listing has no function @{name}"))
            .help("leave the name out: a listing runs as a whole"),
        Some(name) => {
            let near = nearest(name, names.iter().copied());
            let help = near.map_or_else(|| format!("the functions are {}", list()), |n| format!("did you mean @{n}?"));
            Diagnostic::error("entry", format!("the program has no function @{name}")).help(help)
        }
        None if names.is_empty() => {
            Diagnostic::error("entry", "the module has no function to run").help("write a func.func")
        }
        None => {
            let what = format!("{} functions could be the entry: {}", names.len(), list());
            Diagnostic::error("entry", what).help("mark one with attributes {pto.entry}, or name one with --entry")
        }
    }
}
