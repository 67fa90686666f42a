//! A program from text to result: read, check, plan, run.
//!
//! ```
//! use tessera::{Profile, Program};
//!
//! let text = "%dst = pto.ttrans %src : !pto.tile<8x16xf32> -> !pto.tile<16x8xf32>";
//! let elements: Vec<f32> = (0..128).map(|i| i as f32).collect();
//! let outputs = Program::parse(text)?.entry()?.on(Profile::A5).input("src", &elements)?.run()?;
//! // Row 0 of the result is column 0 of the source.
//! assert_eq!(outputs.get::<f32>("dst")?[..3], [0.0, 16.0, 32.0]);
//! # Ok::<(), tessera::Error>(())
//! ```
//!
//! Tools that report findings as data use [`Program::read`], [`Program::check`] and [`Kernel::execute`].

mod arguments;
mod bars;
mod bind;
mod call;
mod detect;
mod extents;
mod inputs;
mod kernel;
mod ranks;
mod suggest;
mod sync;
mod timeline;

pub use arguments::Argument;
pub use bind::{Literal, Need};
pub use call::{Data, Outputs, Shapes, tile_shape};
pub use extents::Extents;
pub use inputs::{Content, From, InputError, Inputs, Setting};
pub use kernel::{Bindings, Kernel};
pub use ranks::{RankWindow, Ranks, outcome_of};
pub use suggest::Suggestion;
pub use sync::{SyncPlace, SyncRow, Synced, fallbacks};
pub use tessera_check::Portability;
pub use tessera_interp::{Input, Limits, Outcome, PrintedValue, Progress, TileData};
pub use tessera_interp::{RankOutput, RanksOutcome};
pub use tessera_plan::Placement;
pub use tessera_race::timeline::Timeline;
pub use tessera_race::{Mode as OrderMode, Options as OrderOptions, Report as OrderReport, Verdict};
pub use timeline::TimelineOptions;

use crate::{Error, Missing, Profile, Result};
use std::borrow::Cow;
use std::sync::Arc;
use tessera_asm::{Parsed, Trivia};
use tessera_ir::inline::{inline, join};
use tessera_ir::{Dialect, Func, LocId, Module, NameId, OpKind, Place, TextForm, ValueId};
use tessera_isa::diag::{Diagnostic, Fact, SOURCE, Severity, Span, nearest};
use tessera_isa::ops::{DECLARED, UNKNOWN_OP, why_not};

/// A program that was read, on a profile. Clones are the same program.
#[derive(Clone, Debug)]
pub struct Program(Arc<Read>);

#[derive(Debug)]
struct Read {
    parsed: Parsed,
    profile: Profile,
    /// The functions that everything is about, if they were named.
    entry: Option<String>,
    /// The version of the text, if it was given.
    dialect: Option<String>,
}

impl Program {
    /// Reads a module or listing without errors, on its own profile, else on `cpu`.
    pub fn parse(text: &str) -> Result<Program> {
        Program::parse_shared(text.into())
    }

    /// The same of a text that is kept as it is.
    pub fn parse_shared(text: Arc<str>) -> Result<Program> {
        Program::of(tessera_asm::parse_shared(text, None), None, None, None).sound()
    }

    /// Reads the bytes of a file, which may have errors and may not be text at all: [`Program::check`] gives them all.
    /// Without a profile the module's own counts, else `cpu`.
    pub fn read(bytes: impl AsRef<[u8]>, profile: Option<Profile>) -> Program {
        Program::read_entry(bytes, profile, None)
    }

    /// Reads a program of which only one function counts (several, with commas between them), and what it reaches:
    /// what is wrong elsewhere is no news (isa/structure.md 3).
    pub fn read_entry(bytes: impl AsRef<[u8]>, profile: Option<Profile>, entry: Option<&str>) -> Program {
        Program::read_as(bytes, profile, entry, None)
    }

    /// The same in a version of the text, `0.60`, which stands over what the module says (isa/today.md 1).
    pub fn read_as(
        bytes: impl AsRef<[u8]>,
        profile: Option<Profile>,
        entry: Option<&str>,
        dialect: Option<&str>,
    ) -> Program {
        let parsed = tessera_asm::parse_bytes_as(bytes.as_ref(), profile, dialect);
        Program::of(parsed, profile, entry, dialect)
    }

    fn of(mut parsed: Parsed, profile: Option<Profile>, entry: Option<&str>, dialect: Option<&str>) -> Program {
        if let Some(entry) = entry {
            focus(&mut parsed, entry);
        }
        let target = parsed.module.target;
        // "When the command line overrides a different module attribute, say so" (tile-model.md 1).
        if let (Some(given), Some((own, span))) = (profile, target)
            && given != own
        {
            let what = format!("the module is made for {own}, and {given} is used instead");
            let warning = Diagnostic::warning("profile-override", what)
                .at(span, format!("{own} is written here"))
                .help(format!("leave the profile out to use {own}"));
            parsed.diagnostics.push(warning);
        }
        let profile = profile.or(target.map(|t| t.0)).unwrap_or(Profile::Cpu);
        let (entry, dialect) = (entry.map(String::from), dialect.map(String::from));
        Program(Arc::new(Read { parsed, profile, entry, dialect }))
    }

    /// The same text on another profile, where it may have errors.
    pub fn on(&self, profile: Profile) -> Program {
        let dialect = self.0.dialect.as_deref();
        let parsed = tessera_asm::parse_as(self.source().clone(), Some(profile), dialect);
        Program::of(parsed, Some(profile), self.0.entry.as_deref(), dialect).at_level(self.0.parsed.module.level)
    }

    /// The same program with the rules of a level asked, whatever its `pto.level` says (isa/today.md 9).
    pub fn at_level(mut self, level: Option<u8>) -> Program {
        if let Some(read) = Arc::get_mut(&mut self.0).filter(|_| level.is_some()) {
            read.parsed.module.level = level;
        }
        self
    }

    pub(crate) fn sound(self) -> Result<Program> {
        let text = self.source();
        match Error::of(self.0.parsed.diagnostics.clone()) {
            Some(error) => Err(error.in_text(text)),
            None => Ok(self),
        }
    }

    /// The text as it was read.
    pub fn source(&self) -> &Arc<str> {
        &self.0.parsed.trivia.text
    }

    /// The profile that everything is about.
    pub fn profile(&self) -> Profile {
        self.0.profile
    }

    /// The program. After errors in the text it is incomplete.
    pub fn module(&self) -> &Module {
        &self.0.parsed.module
    }

    /// Comments and the like.
    pub fn trivia(&self) -> &Trivia {
        &self.0.parsed.trivia
    }

    /// The span and name of each function; also of functions that could not be read to their end.
    pub fn extents(&self) -> &[(Option<NameId>, Span)] {
        &self.0.parsed.functions
    }

    /// The candidates to run, by name: the entry, else every possible entry; a listing has no name.
    pub fn entries(&self) -> Vec<Option<String>> {
        let module = self.module();
        let name = |func: &Func| Some(module.names.text(func.name).to_string());
        match module.entry(None) {
            _ if module.is_listing => vec![None],
            Some(entry) => vec![name(entry)],
            None => module.candidates().into_iter().map(name).collect(),
        }
    }

    /// Canonical text, in the forms that the program is written in or all in one. The program has no errors.
    pub fn text(&self, form: Option<TextForm>) -> String {
        match form {
            Some(form) => tessera_asm::convert(&self.0.parsed, form),
            None => tessera_asm::print(&self.0.parsed),
        }
    }

    /// The same in a version of the text, and what the version cannot say, which stays as it is (isa/today.md 1.3).
    /// In DPS it is a module with a function, as assemblers take it.
    pub fn text_in(&self, form: Option<TextForm>, dialect: Option<Dialect>) -> (String, Vec<Diagnostic>) {
        let parsed = &self.0.parsed;
        let text = match (form, dialect) {
            (Some(TextForm::Dps), _) => match tessera_asm::convert_for_assembler(parsed, dialect) {
                Ok(text) => text,
                Err(found) => return (String::new(), vec![*found]),
            },
            (Some(form), _) => tessera_asm::convert_as(parsed, form, dialect),
            (None, Some(dialect)) => tessera_asm::print_as(parsed, dialect),
            (None, None) => tessera_asm::print(parsed),
        };
        let unsaid = dialect.map(|dialect| tessera_asm::dialect::unsaid(parsed, &text, dialect));
        (text, unsaid.unwrap_or_default())
    }

    /// The program for a version: its text there, which says the version, and what could not be rewritten
    /// (isa/today.md 1.4).
    pub fn migrated(&self, dialect: Dialect) -> (String, Vec<Diagnostic>) {
        let (text, unsaid) = tessera_asm::migrate(&self.0.parsed, dialect);
        (text, self.with_locations(unsaid))
    }

    /// The meanings that a text without a version leaves open, as errors.
    pub fn undecided_dialect(&self) -> Vec<Diagnostic> {
        tessera_asm::undecided(&self.0.parsed)
    }

    /// Whether the text has errors; then nothing else is possible.
    pub fn has_errors(&self) -> bool {
        self.0.parsed.has_errors()
    }

    /// Everything that can be said without running: the text, every rule, and whether the tiles fit their memories.
    pub fn check(&self) -> Vec<Diagnostic> {
        let mut found = self.0.parsed.diagnostics.clone();
        if self.0.parsed.is_whole() {
            let module = self.module();
            found.extend(module.entry(None).and_then(|func| entry_result(module, func)));
            found.extend(tessera_check::check_module(module, self.0.profile));
            self.check_capacity(&mut found);
            found.extend(cannot_run(module));
        }
        self.with_locations(found)
    }

    /// `capacity` of every function that is not called. An operation that was refused leaves nothing to place: a function
    /// that reaches one is not asked.
    fn check_capacity(&self, found: &mut Vec<Diagnostic>) {
        let module = self.module();
        let called: Vec<_> = module.funcs.iter().flat_map(Func::callees).collect();
        // The functions that errors are in; an error outside of all of them, a type's, may be about any.
        let within = |at: Span| self.extents().iter().find(|(_, whole)| (whole.start..whole.end).contains(&at.start));
        let refused: Vec<Option<NameId>> = found
            .iter()
            .filter(|d| d.is_error())
            .map(|d| d.span.and_then(within).and_then(|(name, _)| *name))
            .collect();
        for func in module.funcs.iter().filter(|f| !called.contains(&f.name)) {
            let reached = module.reachable(&[func.name]);
            if refused.iter().any(|name| name.is_none_or(|name| reached.contains(&name))) {
                continue;
            }
            let Ok(inlined) = inline(module, func) else { continue };
            let placed = tessera_race::place(module, &inlined, self.profile(), &[], None);
            found.extend(placed.err().map(|diagnostic| *diagnostic));
        }
    }

    /// The legality of each instruction on each profile.
    pub fn portability(&self) -> Portability {
        tessera_check::portability(self.module())
    }

    /// The function of this name, with its calls inlined.
    pub fn kernel(&self, name: &str) -> Result<Kernel> {
        self.kernel_or_entry(Some(name))
    }

    /// The function that is marked as the entry, or the only one; a listing as a whole.
    pub fn entry(&self) -> Result<Kernel> {
        self.kernel_or_entry(None)
    }

    /// The function of this name, else the entry.
    pub fn kernel_or_entry(&self, name: Option<&str>) -> Result<Kernel> {
        let module = self.module();
        let refused = |d: Box<Diagnostic>| Error::from(d).in_text(self.source());
        let several = name.is_some_and(|names| names.contains(','));
        let named = |names: &str| names.split(',').map(|name| module.entry(Some(name.trim()))).collect();
        let funcs: Option<Vec<&Func>> = match name.filter(|_| several) {
            Some(names) => named(names),
            None => module.entry(name).map(|func| module.together(func)),
        };
        let Some((func, funcs)) = funcs.as_deref().and_then(|all| Some((*all.first()?, all))) else {
            let (mut funcs, ambiguous) = (module.candidates(), name.is_none());
            if !ambiguous {
                funcs = module.funcs.iter().filter(|_| !module.is_listing).collect();
            }
            let names: Vec<&str> = funcs.iter().map(|f| module.names.text(f.name)).collect();
            let mut named = name.into_iter().flat_map(|names| names.split(',')).map(str::trim);
            return Err(no_entry(named.find(|n| module.entry(Some(n)).is_none()).or(name), &names));
        };
        if let Some(found) = funcs.iter().find_map(|func| entry_result(module, func)) {
            return Err(refused(Box::new(found)));
        }
        if let Some(found) = funcs.iter().find_map(|func| one_thread_per_element(module, func)) {
            return Err(refused(Box::new(found)));
        }
        let inlined = if funcs.len() > 1 { join(module, funcs).map(Cow::Owned) } else { inline(module, func) };
        let inlined = inlined.map_err(refused)?;
        match tessera_ir::verify(module, &inlined).into_iter().next() {
            Some(broken) => Err(refused(Box::new(broken))),
            None => Ok(Kernel::new(self, inlined)),
        }
    }

    /// Diagnostics with the `loc(…)` of their operations and arguments as notes, and as facts `source` with file, line and
    /// column (syntax.md 1).
    pub fn with_locations(&self, mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
        let module = self.module();
        if module.locs.is_empty() || diagnostics.is_empty() {
            return diagnostics;
        }
        let of_func = |func: &Func| -> Vec<(Span, LocId)> {
            let ops = func.ops.iter().filter_map(|op| Some((op.span, op.loc?)));
            let arg = |value: ValueId| func.value(value).span.to(func.value(value).type_span);
            ops.chain(func.arg_locs.iter().map(|(value, loc)| (arg(*value), *loc))).collect()
        };
        let mut locations: Vec<(Span, LocId)> = module.funcs.iter().flat_map(of_func).collect();
        locations.sort_by_key(|(span, _)| span.start);
        for diagnostic in &mut diagnostics {
            let Some(at) = diagnostic.span else { continue };
            let before = locations.partition_point(|(span, _)| span.start <= at.start);
            let last = before.checked_sub(1).and_then(|n| locations.get(n));
            let Some((_, loc)) = last.filter(|(span, _)| at.end <= span.end) else { continue };
            let Some(loc) = module.locs.get(*loc) else { continue };
            let Some(Place { file, line, column }) = &loc.place else {
                diagnostic.notes.push(format!("the operation comes from {}", loc.text));
                continue;
            };
            diagnostic.notes.push(format!("the operation comes from {file}:{line}:{column}"));
            let [line, column] = [*line, *column].map(|n| Fact::Number(n.into()));
            let place = vec![("file", Fact::Text(file.to_string())), ("line", line), ("column", column)];
            diagnostic.facts.push((SOURCE, Fact::Parts(place)));
        }
        diagnostics
    }
}

/// Takes out every function that the named ones do not reach, and what was found in it.
fn focus(parsed: &mut Parsed, entry: &str) {
    let named = entry.split(',').map(|name| parsed.module.names.find(name.trim().trim_start_matches('@')));
    let Some(named) = named.collect::<Option<Vec<NameId>>>() else { return };
    let is_function = |name: &NameId| parsed.functions.iter().any(|(known, _)| known.as_ref() == Some(name));
    if !named.iter().all(is_function) {
        return;
    }
    let reached = parsed.module.reachable(&named);
    let (kept, left): (Vec<_>, Vec<_>) =
        parsed.functions.iter().partition(|(name, _)| name.is_some_and(|name| reached.contains(&name)));
    let inside = |at: Span| left.iter().any(|(_, span)| (span.start..span.end).contains(&at.start));
    parsed.diagnostics.retain(|d| !d.span.is_some_and(inside));
    let mut keep = parsed.module.funcs.iter().map(|f| reached.contains(&f.name)).collect::<Vec<_>>().into_iter();
    parsed.trivia.block_ends.retain(|_| keep.next().unwrap_or(true));
    parsed.module.funcs.retain(|f| reached.contains(&f.name));
    if !left.is_empty() {
        let what = format!("{} of {} functions were not looked at", left.len(), left.len() + kept.len());
        let note = Diagnostic::new("entry", Severity::Note, what).help("leave the entry out to check all of them");
        parsed.diagnostics.push(note);
    }
}

/// The instructions that are known and do not run, all in one note.
fn cannot_run(module: &Module) -> Option<Diagnostic> {
    let mut names: Vec<&str> = Vec::new();
    let mut note: Option<Diagnostic> = None;
    for op in module.funcs.iter().flat_map(|f| &f.ops) {
        let (name, (what, help)) = match &op.kind {
            OpKind::Other(name) if op.id_array().is_none() && *name != UNKNOWN_OP => (*name, why_not(name)),
            OpKind::Micro(call) => match tessera_micro::run::why_not(call) {
                Some(why) => (call.name, why),
                None => continue,
            },
            OpKind::Call(callee) if module.funcs.iter().any(|f| f.name == *callee && f.is_declaration) => {
                (DECLARED, why_not(DECLARED))
            }
            _ => continue,
        };
        if names.contains(&name) {
            continue;
        }
        names.push(name);
        note = Some(match note {
            None => Diagnostic::new("not-executable", Severity::Note, what).at(op.span, "does not run").help(help),
            Some(note) => note.and_at(op.span, what),
        });
    }
    note
}

/// A function that a kernel reaches, and that runs once for each element (isa/today.md 4.1).
fn one_thread_per_element(module: &Module, kernel: &Func) -> Option<Diagnostic> {
    let reached = module.reachable(&[kernel.name]);
    let is_simt = |func: &&Func| func.attrs.iter().any(|(key, _)| key == "pto.simt_entry");
    let func = module.funcs.iter().filter(|func| reached.contains(&func.name)).find(is_simt)?;
    let what = format!("@{} runs one thread per element", module.names.text(func.name));
    let help = "rewrite it with tile instructions or vector micro-operations";
    Some(Diagnostic::error("not-executable", what).at(func.span, "marked pto.simt_entry").help(help))
}

/// A kernel returns nothing.
fn entry_result(module: &Module, func: &Func) -> Option<Diagnostic> {
    let first = func.results.first()?;
    let (name, ty) = (module.names.text(func.name), tessera_asm::print_type(module.types.get(*first)));
    let what = format!("@{name} returns {ty}, and nobody takes what a kernel returns");
    let error = Diagnostic::error("entry-result", what).at(func.span, "the kernel");
    Some(error.help("store the value into global memory, or call the function from a kernel"))
}

fn no_entry(entry: Option<&str>, names: &[&str]) -> Error {
    let list = || names.iter().map(|n| format!("@{n}")).collect::<Vec<_>>().join(", ");
    match entry {
        Some(name) if names.is_empty() => Error::new("entry", format!("a listing has no function @{name}"))
            .help("leave the name out: a listing runs as a whole"),
        Some(name) => {
            let near = nearest(name, names.iter().copied());
            let help = near.map_or_else(|| format!("the functions are {}", list()), |n| format!("did you mean @{n}?"));
            Error::new("entry", format!("the program has no function @{name}")).help(help)
        }
        None if names.is_empty() => Error::new("entry", "the module has no function to run").help("write a func.func"),
        None => Error::new("entry-ambiguous", format!("{} functions could be the kernel: {}", names.len(), list()))
            .missing_is(Missing::Entry),
    }
}
