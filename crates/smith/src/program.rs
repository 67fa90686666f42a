//! Programs: statements of random candidates, control flow around them, and the repairs that make the whole legal.
//!
//! The verifier and a run have the last word: a statement that one of them refuses is taken out, and the rest is asked
//! again. So a mistake of the drawing costs a statement, never a legal program.

use crate::candidate::{Candidate, opcodes, signatures};
use crate::draft::{Draft, Node, Origin, Printed};
use crate::random::Random;
use std::fmt;
use tessera::npy::Array;
use tessera::program::{Bindings, Content, From, Inputs, Limits, Setting};
use tessera::{Diagnostic, Dialect, Kernel, Literal, OrderOptions, Profile, Program, TextForm, Verdict};
use tessera_ir::ValueId;
use tessera_isa::codec::Number;
use tessera_isa::elem::Elem;
use tessera_isa::ops::{Family, Opcode};

/// A kind of construct that programs may have besides instructions in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Feature {
    /// Loops and branches.
    Loops,
    /// Functions that are called.
    Calls,
    /// Cube and vector cores: kernels of one kind, and sections of both.
    Cores,
    /// Flags and barriers between pipes, placed as `plan --sync` places them.
    Flags,
    /// FIFOs between the cores of a block.
    Fifo,
    /// Valid extents that are known at run time.
    Dynamic,
    /// Communication between devices.
    Ranks,
    /// Micro instructions.
    Micro,
}

impl Feature {
    /// All of them.
    pub const ALL: [Feature; 8] = [
        Feature::Loops,
        Feature::Calls,
        Feature::Cores,
        Feature::Flags,
        Feature::Fifo,
        Feature::Dynamic,
        Feature::Ranks,
        Feature::Micro,
    ];

    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            Feature::Loops => "loops",
            Feature::Calls => "calls",
            Feature::Cores => "cores",
            Feature::Flags => "flags",
            Feature::Fifo => "fifo",
            Feature::Dynamic => "dynamic",
            Feature::Ranks => "ranks",
            Feature::Micro => "micro",
        }
    }

    /// The feature of a word.
    pub fn parse(word: &str) -> Option<Feature> {
        Feature::ALL.into_iter().find(|f| f.name() == word)
    }
}

/// The names of the families, for options.
pub fn family_name(family: Family) -> String {
    format!("{family:?}").to_lowercase()
}

/// What is asked of a program.
#[derive(Clone, Debug)]
pub struct Options {
    /// The profile that it is legal on.
    pub profile: Profile,
    /// The seed: the same seed and options are the same program everywhere.
    pub seed: u64,
    /// Instructions that are drawn.
    pub size: usize,
    /// The families that instructions are drawn from; all, if there are none.
    pub families: Vec<Family>,
    /// Further constructs.
    pub features: Vec<Feature>,
    /// The form that instructions are written in.
    pub form: TextForm,
    /// The version of the text; the newest one, if none is named.
    pub dialect: Option<Dialect>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            profile: Profile::Cpu,
            seed: 0,
            size: 12,
            families: Vec::new(),
            features: Vec::new(),
            form: TextForm::Dps,
            dialect: None,
        }
    }
}

/// Why no program is made, in a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused(pub String);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A program with the arrays that it was run with.
#[derive(Clone, Debug)]
pub struct Made {
    /// The program.
    pub text: String,
    /// Arrays of arguments.
    pub inputs: Vec<(String, Array)>,
    /// Numbers of scalar arguments.
    pub numbers: Vec<(String, i128)>,
    /// What the run left in its outputs.
    pub expected: Vec<(String, Array)>,
    /// Whether no two accesses race, on any path.
    pub is_race_free: bool,
    /// Findings that are defects of the tool: rule `internal`.
    pub defects: Vec<String>,
}

/// Statements of one program, at most.
pub const MOST: usize = 2000;

/// Makes a program.
pub fn smith(options: &Options) -> Result<Made, Refused> {
    refuse(options)?;
    // A seed whose first statements all fall is tried with other numbers.
    for attempt in 0..16 {
        let random = Random::of(options.seed, 0x50 + attempt);
        if let Some(made) = (Maker { options, random, defects: Vec::new() }).make() {
            return Ok(made);
        }
    }
    Err(Refused(format!(
        "no program of seed {} is legal on {} and runs; another seed, more --size or more --families may help",
        options.seed, options.profile
    )))
}

fn refuse(options: &Options) -> Result<(), Refused> {
    let has = |f: Feature| options.features.contains(&f);
    if has(Feature::Ranks) {
        return Err(Refused(
            "no profile runs communication between ranks, so a program with it could not be run; leave 'ranks' out"
                .into(),
        ));
    }
    if has(Feature::Micro) {
        return Err(Refused(
            "micro instructions are not drawn yet: programs are made of the table of tile instructions; leave 'micro' out"
                .into(),
        ));
    }
    if options.size == 0 || options.size > MOST {
        return Err(Refused(format!("a program has 1 to {MOST} instructions, and {} are asked for", options.size)));
    }
    if drawn(options).is_empty() {
        let names: Vec<String> = options.families.iter().map(|f| family_name(*f)).collect();
        return Err(Refused(format!(
            "no instruction of {} is drawn: they are written in shapes of their own around other instructions",
            names.join(", ")
        )));
    }
    Ok(())
}

/// The instructions that are drawn from.
fn drawn(options: &Options) -> Vec<Opcode> {
    let is_of = |op: &Opcode| options.families.is_empty() || options.families.contains(&op.info().family);
    opcodes().filter(is_of).collect()
}

struct Maker<'a> {
    options: &'a Options,
    random: Random,
    defects: Vec<String>,
}

/// What a run came to.
enum Ran {
    Fine(Box<Made>),
    /// The place in the text where it stopped.
    Stopped(Option<Diagnostic>),
}

impl Maker<'_> {
    fn has(&self, feature: Feature) -> bool {
        self.options.features.contains(&feature)
    }

    fn make(mut self) -> Option<Made> {
        let mut draft = Draft::new(self.options.profile);
        let opcodes = drawn(self.options);
        let only = self.has(Feature::Cores).then(|| self.random.below(3));
        if self.has(Feature::Fifo) {
            crate::draft::fifo(&mut draft, &mut self.random);
        }
        let mut left = self.options.size * 6 + 20;
        let mut count = 0;
        let mut kept: Vec<ValueId> = Vec::new();
        while count < self.options.size && left > 0 {
            left -= 1;
            if self.random.once_in(5) && self.has_support() {
                count += usize::from(self.support(&mut draft));
                continue;
            }
            let Some(one) = self.draw(&opcodes, &draft) else { continue };
            let first = draft.stmts.len();
            let Some(stmt) = draft.take(&mut self.random, &one) else {
                draft.stmts.truncate(first);
                continue;
            };
            // On cores of their own, instructions that touch both kinds of memory have no place.
            let fits = |n: usize| match (only, draft.stmts[n].cores) {
                (None, _) => !self.has(Feature::Fifo) || draft.stmts[n].cores == [true, false],
                (Some(0), cores) => !cores[1],
                (Some(1), cores) => !cores[0],
                (_, cores) => cores[0] != cores[1],
            };
            if !(first..=stmt).all(fits) {
                draft.stmts.truncate(first);
                draft.defined.retain(|v| v.index() < draft.origins.len());
                continue;
            }
            count += 1;
            let lines: Vec<Node> = (first..=stmt).map(Node::Line).collect();
            draft.body.extend(lines);
            let written = one.shape.outs.iter().filter_map(|role| {
                let op = draft.stmts[stmt].op.as_ref()?;
                op.operand(*role)?.arg.value()
            });
            let written: Vec<ValueId> = written.filter(|v| draft.tile(*v).is_some()).collect();
            for value in written {
                // What is computed goes out, now or at the end.
                if self.random.once_in(3) {
                    if let Some(store) = draft.store(&mut self.random, value) {
                        draft.body.push(Node::Line(store));
                    }
                } else {
                    kept.push(value);
                }
            }
        }
        for value in kept.iter().rev().take(4).copied().collect::<Vec<_>>() {
            if let Some(store) = draft.store(&mut self.random, value) {
                draft.body.push(Node::Line(store));
            }
        }
        if self.has(Feature::Dynamic) {
            draft.make_dynamic(&mut self.random);
        }
        let body = std::mem::take(&mut draft.body);
        draft.body = self.shape(&mut draft, body, only);
        kept.truncate(4);
        self.settle(draft, kept)
    }

    /// Whether instructions around others are drawn; sections and FIFOs have their own.
    fn has_support(&self) -> bool {
        let families = &self.options.families;
        let is_free = !self.has(Feature::Cores) && !self.has(Feature::Fifo);
        is_free && (families.is_empty() || families.contains(&Family::Support))
    }

    /// A statement that is written in a shape of its own.
    fn support(&mut self, draft: &mut Draft) -> bool {
        let opcodes: Vec<Opcode> = crate::support::opcodes().collect();
        let first = draft.stmts.len();
        let Some(op) = self.random.pick(&opcodes) else { return false };
        let stmt = crate::support::statement(draft, &mut self.random, op);
        draft.body.extend((first..draft.stmts.len()).map(Node::Line));
        stmt.is_some()
    }

    /// A legal instruction.
    fn draw(&mut self, opcodes: &[Opcode], draft: &Draft) -> Option<Candidate> {
        let profile = self.options.profile;
        let op = self.random.pick(opcodes)?;
        let shape = self.random.below(op.shapes().len());
        let form = op.shapes().get(shape)?.form;
        let sigs = signatures(op, form, profile).len();
        let sig = self.random.below(sigs);
        let recipe = Candidate::recipe(op, shape, sig, profile)?;
        let mut one = Candidate::clone(&recipe);
        let steps = self.random.range(4, 40) as usize;
        one.walk(&mut self.random, profile, &draft.pool(), steps);
        Some(one)
    }

    /// Control flow around the statements.
    fn shape(&mut self, draft: &mut Draft, mut body: Vec<Node>, only: Option<usize>) -> Vec<Node> {
        if self.has(Feature::Fifo) {
            return crate::draft::fifo_body(draft, body);
        }
        if self.has(Feature::Calls) && body.len() > 1 {
            for _ in 0..1 + self.random.below(2) {
                wrap(&mut self.random, &mut body, Node::Call);
            }
        }
        if self.has(Feature::Loops) && !body.is_empty() {
            for _ in 0..1 + self.random.below(3) {
                let trips = self.random.range(0, 3);
                let trips = if self.random.once_in(4) { trips } else { trips.max(1) };
                match self.random.below(4) {
                    0 => wrap(&mut self.random, &mut body, |all| Node::If(true, all, Vec::new())),
                    1 => {
                        let split = self.random.below(3);
                        wrap(&mut self.random, &mut body, |mut all| {
                            let no = all.split_off(all.len() * split / 3);
                            Node::If(no.is_empty(), all, no)
                        });
                    }
                    _ => wrap(&mut self.random, &mut body, |all| Node::For(trips, all)),
                }
            }
        }
        match only {
            Some(0) if self.random.once_in(2) => draft.kind = Some("vector"),
            Some(1) if self.random.once_in(2) => draft.kind = Some("cube"),
            Some(_) => body = sections(draft, body),
            None => {}
        }
        body
    }

    /// Takes out statements until the verifier and a run accept the rest.
    fn settle(mut self, mut draft: Draft, kept: Vec<ValueId>) -> Option<Made> {
        let most = 4 * draft.stmts.len() + 8;
        for _ in 0..most {
            if draft.alive(&draft.body).is_empty() {
                return None;
            }
            let printed = draft.print("");
            let program = Program::read(&printed.text, None);
            let found = program.check();
            if let Some(error) = found.iter().find(|d| d.is_error()) {
                self.note(error);
                let bad: Vec<&Diagnostic> = found.iter().filter(|d| d.is_error()).collect();
                self.cut(&mut draft, &printed, &bad);
                continue;
            }
            // What C++ cannot say is no program to test an assembler with.
            let options = tessera_emit::Options { sync: true, ..tessera_emit::Options::default() };
            if let Err(error) = tessera_emit::build(program.module(), program.profile(), &options) {
                let error = tessera::Error::from(error);
                self.cut(&mut draft, &printed, &error.diagnostics().collect::<Vec<_>>());
                continue;
            }
            match self.run(&draft, &program, &kept) {
                Ran::Fine(made) => return self.finish(&draft, *made),
                Ran::Stopped(found) => {
                    if let Some(found) = &found {
                        self.note(found);
                    }
                    self.cut(&mut draft, &printed, &found.iter().collect::<Vec<_>>());
                }
            }
        }
        None
    }

    fn note(&mut self, found: &Diagnostic) {
        if found.rule == "internal" {
            self.defects.push(found.message.clone());
        }
    }

    /// Takes out the statements that findings are about; without a place, one of the statements.
    fn cut(&mut self, draft: &mut Draft, printed: &Printed, found: &[&Diagnostic]) {
        let mut is_cut = false;
        for diagnostic in found {
            let mut stmts: Vec<usize> = Vec::new();
            if let Some(span) = diagnostic.span {
                let line = printed.text.get(..span.start as usize).map_or(0, |head| head.matches('\n').count());
                match printed.lines.get(line).copied().flatten() {
                    Some(stmt) => stmts.push(stmt),
                    None => {
                        // A definition: the statements that use it.
                        let text = printed.text.lines().nth(line).unwrap_or_default();
                        let name = text.trim().split([' ', ':']).next().and_then(|word| word.strip_prefix('%'));
                        let is_it = |v: &ValueId| name == Some(draft.name(*v));
                        let uses = |n: &usize| draft.stmts[*n].uses.iter().any(is_it);
                        stmts.extend(draft.alive(&draft.body).into_iter().filter(uses));
                    }
                }
            }
            for stmt in stmts {
                is_cut |= std::mem::replace(&mut draft.stmts[stmt].alive, false);
            }
        }
        if !is_cut {
            let alive = draft.alive(&draft.body);
            if let Some(stmt) = self.random.pick(&alive) {
                draft.stmts[stmt].alive = false;
            }
        }
    }

    fn run(&mut self, draft: &Draft, program: &Program, kept: &[ValueId]) -> Ran {
        let Ok(kernel) = program.entry() else { return Ran::Stopped(None) };
        let (mut inputs, mut numbers) = (Vec::new(), Vec::new());
        let mut outputs: Vec<String> = Vec::new();
        let mut shapes = Vec::new();
        for value in draft.arguments() {
            let name = draft.name(value).to_string();
            match &draft.origins[value.index()] {
                Origin::Input(array) => inputs.push((name, array.clone())),
                Origin::Number(Number::Int(n)) => numbers.push((name, *n)),
                Origin::Output(shape) => {
                    shapes.push((name.clone(), shape.clone()));
                    outputs.push(name);
                }
                _ => {}
            }
        }
        if outputs.is_empty() {
            let is_there = |v: &&ValueId| draft.alive(&draft.body).iter().any(|n| draft.stmts[*n].uses.contains(v));
            outputs.extend(kept.iter().filter(is_there).take(2).map(|v| draft.name(*v).to_string()));
        }
        if outputs.is_empty() {
            let tiles = draft.arguments().into_iter().filter(|v| draft.tile(*v).is_some());
            outputs.extend(tiles.take(1).map(|v| draft.name(v).to_string()));
        }
        let mut all: Vec<(String, Array)> = inputs.clone();
        // Memory that is only written begins as zeros, and its array is an input of the case.
        for (name, shape) in shapes {
            let elem = kernel.argument(&name).ok().and_then(|v| kernel.elem(v)).unwrap_or(Elem::F32);
            if let Ok(array) = tessera::fill::Fill::Zeros.array(elem, &shape) {
                all.push((name, array));
            }
        }
        match execute(&kernel, &all, &numbers, &outputs) {
            Ok(expected) => Ran::Fine(Box::new(Made {
                text: String::new(),
                inputs: all,
                numbers,
                expected,
                is_race_free: false,
                defects: std::mem::take(&mut self.defects),
            })),
            Err(found) => Ran::Stopped(found),
        }
    }

    /// The text in its last form: flags, dialect, and a head that says what it is.
    fn finish(&mut self, draft: &Draft, mut made: Made) -> Option<Made> {
        let outputs: Vec<String> = made.expected.iter().map(|(name, _)| name.clone()).collect();
        let plain = draft.print("").text;
        let mut program = Program::read(&plain, None);
        // A step that does not go through leaves the text as it was.
        let accepts = |text: String| {
            let program = Program::read(&text, None);
            let is_legal = !program.check().iter().any(Diagnostic::is_error);
            let kernel = program.entry().ok().filter(|_| is_legal)?;
            let found = execute(&kernel, &made.inputs, &made.numbers, &outputs).ok()?;
            (found == made.expected).then_some(program)
        };
        if self.has(Feature::Flags) {
            let synced = program.entry().ok()?.synced().ok()?;
            program = accepts(synced.text)?;
        }
        if self.options.form != TextForm::Dps
            && let Some(converted) = accepts(program.text(Some(self.options.form)))
        {
            program = converted;
        }
        if let Some(dialect) = self.options.dialect {
            let (text, unsaid) = program.migrated(dialect);
            if !unsaid.is_empty() {
                return None;
            }
            program = accepts(text)?;
        }
        let kernel = program.entry().ok()?;
        let verdict = kernel.order(&OrderOptions::default()).map_or(Verdict::Undecided, |report| report.verdict);
        made.is_race_free = verdict == Verdict::RaceFree;
        let Options { profile, seed, size, .. } = self.options;
        let head = format!(
            "// tessera smith --profile {profile} --seed {seed} --size {size}{}: {}\n",
            more(self.options),
            verdict.name()
        );
        let text = if self.options.dialect.is_some() { program.source().to_string() } else { program.text(None) };
        made.text = head + &text;
        Some(made)
    }
}

/// The options of a command line besides profile, seed and size.
fn more(options: &Options) -> String {
    let mut out = String::new();
    if !options.families.is_empty() {
        let names: Vec<String> = options.families.iter().map(|f| family_name(*f)).collect();
        out += &format!(" --families {}", names.join(","));
    }
    if !options.features.is_empty() {
        let names: Vec<&str> = options.features.iter().map(|f| f.name()).collect();
        out += &format!(" --features {}", names.join(","));
    }
    match options.form {
        TextForm::Asm => out += " --to asm",
        TextForm::Ssa => out += " --to ssa",
        TextForm::Dps => {}
    }
    if let Some(dialect) = options.dialect {
        out += &format!(" --dialect {dialect}");
    }
    out
}

/// Runs a kernel: what its outputs hold, or where it stopped.
pub(crate) fn execute(
    kernel: &Kernel,
    inputs: &[(String, Array)],
    numbers: &[(String, i128)],
    outputs: &[String],
) -> Result<Vec<(String, Array)>, Option<Diagnostic>> {
    let content = |(name, array): &(String, Array)| Content {
        name: name.clone(),
        label: name.clone(),
        from: From::Array(array.clone()),
    };
    let given = Inputs {
        contents: inputs.iter().map(content).collect(),
        set: numbers.iter().map(|(name, n)| (name.clone(), Setting::Value(Literal::Number(Number::Int(*n))))).collect(),
        ..Inputs::default()
    };
    let (mut bindings, open): (Bindings, _) = kernel.bind_inputs(given, 1).map_err(|_| None)?;
    kernel.unbound_or_open(&bindings.inputs, &open).map_err(|_| None)?;
    for name in outputs {
        let value = kernel.result(name).map_err(|_| None)?;
        bindings.outputs.push((value, 0));
    }
    bindings.outputs.sort_unstable();
    bindings.outputs.dedup();
    bindings.limits = Limits { steps: 1 << 20, memory: 1 << 28 };
    let shapes = kernel.shapes(&bindings);
    let mut outcome = kernel.execute(bindings);
    if let Some(error) = outcome.diagnostics.iter().find(|d| d.is_error()) {
        return Err(Some(error.clone()));
    }
    let mut all = Vec::new();
    for name in outputs {
        let value = kernel.result(name).map_err(|_| None)?;
        let array = kernel.take_array(&mut outcome, &shapes, value, 0).ok_or(None)?;
        all.push((name.clone(), array));
    }
    Ok(all)
}

/// Puts a run of neighbours into a node of their own.
fn wrap(random: &mut Random, body: &mut Vec<Node>, node: impl FnOnce(Vec<Node>) -> Node) {
    if body.is_empty() {
        return;
    }
    let first = random.below(body.len());
    let len = 1 + random.below((body.len() - first).min(8));
    let inner: Vec<Node> = body.drain(first..first + len).collect();
    // A call holds statements, and no other call.
    body.insert(first, node(inner));
}

/// Each run of statements of one kind of core in a section of that kind.
fn sections(draft: &Draft, body: Vec<Node>) -> Vec<Node> {
    let mut all: Vec<Node> = Vec::new();
    for node in body {
        let stmts = draft.alive(std::slice::from_ref(&node));
        let cube = stmts.iter().any(|n| draft.stmts[*n].cores[1]);
        let vector = stmts.iter().any(|n| draft.stmts[*n].cores[0]);
        let core = match (cube, vector) {
            (true, false) => "cube",
            _ => "vector",
        };
        // Both vector cores run a section, and only one of them may write.
        let is_store = stmts.iter().any(|n| {
            let op = draft.stmts[*n].op.as_ref();
            op.is_some_and(|op| op.opcode() == Some(Opcode::Tstore))
        });
        let node = if is_store && core == "vector" { Node::First(vec![node]) } else { node };
        match all.last_mut() {
            Some(Node::Section(last, inner)) if *last == core => inner.push(node),
            _ => all.push(Node::Section(core, vec![node])),
        }
    }
    all
}
