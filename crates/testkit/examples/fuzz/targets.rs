//! What inputs are given to, and what must hold of it besides that it ends.

use serde_json::json;
use tessera::equiv::{Answer, Given, equiv};
use tessera::npy::Array;
use tessera::program::{Bindings, Input, Kernel, Limits, Need, OrderOptions, Ranks};
use tessera::{Diagnostic, Dialect, Profile, Program};
use tessera_ir::TextForm;
use tessera_lsp::{Connection, Message, Notification, Request, serve};

/// What a target takes.
pub enum Kind {
    /// The text of a program.
    Text,
    /// An npy file.
    Array,
    /// Bytes that decide what is done.
    Bytes,
}

/// One place where inputs come in.
pub struct Target {
    pub name: &'static str,
    pub kind: Kind,
    pub run: fn(&[u8]),
}

pub static TARGETS: &[Target] = &[
    Target { name: "text", kind: Kind::Text, run: text },
    Target { name: "attribute", kind: Kind::Text, run: attribute },
    Target { name: "npy", kind: Kind::Array, run: npy },
    Target { name: "run", kind: Kind::Text, run: pipeline },
    Target { name: "agree", kind: Kind::Text, run: agree },
    Target { name: "emit", kind: Kind::Text, run: emit },
    Target { name: "migrate", kind: Kind::Text, run: migrate },
    Target { name: "judged", kind: Kind::Text, run: judged },
    Target { name: "ranks", kind: Kind::Text, run: ranks },
    Target { name: "server", kind: Kind::Text, run: server },
    Target { name: "calls", kind: Kind::Bytes, run: crate::calls::run },
];

/// Reading ends; what is read is printed, read again as the same text, and converted.
fn text(bytes: &[u8]) {
    let parsed = tessera_asm::parse_bytes(bytes, None);
    if parsed.has_errors() {
        return;
    }
    let printed = tessera_asm::print(&parsed);
    let again = tessera_asm::parse(&printed, None);
    assert!(!again.has_errors(), "printed text is not read: {:?}", again.diagnostics.first());
    assert_eq!(printed, tessera_asm::print(&again), "printing is no fixpoint");
    for to in [TextForm::Asm, TextForm::Ssa, TextForm::Dps] {
        let converted = tessera_asm::convert(&parsed, to);
        let back = tessera_asm::parse(&converted, None);
        assert!(!back.has_errors(), "text in form {to:?} is not read: {:?}", back.diagnostics.first());
    }
}

/// Each line's braces and types by themselves.
fn attribute(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for line in text.lines().take(64) {
        if let Some(dictionary) = line.find('{').and_then(|at| line.get(at..)) {
            let program = format!("%d = pto.tmov %s {dictionary} : !pto.tile<16x16xf32> -> !pto.tile<16x16xf32>\n");
            self::text(program.as_bytes());
        }
        if let Some(ty) = line.find('!').and_then(|at| line.get(at..)) {
            let _ = tessera_asm::parse_type(ty);
        }
    }
}

/// What is read is written and read again.
fn npy(bytes: &[u8]) {
    if let Ok(array) = Array::parse(bytes) {
        let again = Array::parse(&array.to_file());
        assert_eq!(
            again.map(|a| (a.shape, a.bytes)).ok(),
            Some((array.shape, array.bytes)),
            "the file is read otherwise"
        );
    }
}

/// A number that an input stands for.
fn choice(bytes: &[u8]) -> usize {
    bytes.iter().fold(bytes.len(), |sum, b| sum.wrapping_mul(31).wrapping_add(usize::from(*b)))
}

fn profile(bytes: &[u8]) -> Profile {
    Profile::ALL[choice(bytes) % Profile::ALL.len()]
}

/// From text to bytes, on every profile; then where they come from.
fn pipeline(bytes: &[u8]) {
    // The input decides where it runs: on one profile, as one to three blocks.
    let (profile, blocks) = (profile(bytes), 1 + (choice(bytes) / 3 % 3) as u32);
    let program = Program::read(bytes, Some(profile));
    let found = program.check();
    sound(&found);
    let _ = program.portability();
    let is_refused = found.iter().any(Diagnostic::is_error);
    if program.has_errors() {
        return;
    }
    let kernel = match program.kernel_or_entry(None) {
        Ok(kernel) => kernel,
        Err(error) => return sound(error.diagnostics()),
    };
    // Analyses that take programs that were refused, too.
    if let Err(error) = kernel.plan(&[]) {
        sound(error.diagnostics());
    }
    match kernel.order(&OrderOptions::default()) {
        Ok(report) => sound(&report.diagnostics),
        Err(error) => sound(error.diagnostics()),
    }
    if is_refused {
        return;
    }
    let bindings = Bindings { inputs: inputs(&kernel), blocks, limits: LIMITS, ..Bindings::default() };
    let outcome = kernel.execute(bindings);
    sound(&outcome.diagnostics);
    let given = Given { blocks, limits: LIMITS, work: 1 << 18, ..Given::default() };
    if let Answer::Stopped(_, error) = equiv(&kernel, &kernel, &given, &[]) {
        sound(error.diagnostics());
    }
    if let Err(error) = tessera::opt::optimize(&program, None, &given, &[]) {
        sound(error.diagnostics());
    }
}

/// What a run may cost.
const LIMITS: Limits = Limits { steps: 20_000, memory: 16 << 20 };

/// A run does the same with and without fusion, and where everything is defined also without looking at that.
fn agree(bytes: &[u8]) {
    let program = Program::read(bytes, Some(profile(bytes)));
    if program.has_errors() || program.check().iter().any(Diagnostic::is_error) {
        return;
    }
    let Ok(kernel) = program.kernel_or_entry(None) else { return };
    let blocks = 1 + bytes.len() as u32 % 3;
    let bindings = Bindings { inputs: inputs(&kernel), blocks, limits: LIMITS, ..Bindings::default() };
    let run = |fuses: bool, tracked: bool| {
        let outcome = kernel.execute(Bindings { fuses, tracked, ..bindings.clone() });
        let buffers: Vec<Vec<u8>> = outcome.buffers.iter().map(|buffer| buffer.bytes.clone()).collect();
        let found: Vec<_> = outcome.diagnostics.iter().map(|d| (d.rule, d.message.clone(), d.span)).collect();
        (found, buffers)
    };
    let fused = run(true, true);
    assert_eq!(fused, run(false, true), "fusion changes what a run does");
    if fused.0.is_empty() {
        assert_eq!(fused, run(true, false), "an untracked run does something else");
    }
}

/// Every function as C++, in the order that it has and in orders that are made.
fn emit(bytes: &[u8]) {
    use tessera_emit::Options;
    let program = Program::read(bytes, Some(profile(bytes)));
    if program.has_errors() || program.check().iter().any(Diagnostic::is_error) {
        return;
    }
    let asked = [
        Options { sync: true, ..Options::default() },
        Options { sync: true, resync: true, debug_lines: Some("k.pto"), ..Options::default() },
        Options { sync: true, barriers: true, ..Options::default() },
        Options::default(),
    ];
    let options = &asked[choice(bytes) / 3 % asked.len()];
    match tessera_emit::build(program.module(), program.profile(), options) {
        Err(refused) => sound([&*refused]),
        Ok(built) => sound(&built.notes()),
    }
}

/// The text of each version is read, and is that version's text already.
fn migrate(bytes: &[u8]) {
    let program = Program::read(bytes, None);
    if program.has_errors() || !program.undecided_dialect().is_empty() {
        return;
    }
    for version in [Dialect::V0_27, Dialect::V0_60, Dialect::V0_64] {
        let (text, unsaid) = program.migrated(version);
        sound(&unsaid);
        if !unsaid.is_empty() {
            continue;
        }
        let again = Program::read(text.as_bytes(), None);
        assert!(!again.has_errors(), "text of {version} is not read: {:?}", again.check().first());
        assert_eq!(again.migrated(version).0, text, "text of {version} is no fixpoint");
    }
}

/// The numbers and contents that the tool makes up for a kernel: with them it runs, and its order is judged.
fn judged(bytes: &[u8]) {
    let program = Program::read(bytes, Some(profile(bytes)));
    if program.has_errors() || program.check().iter().any(Diagnostic::is_error) {
        return;
    }
    let Ok(kernel) = program.kernel_or_entry(None) else { return };
    // What is made up is found by runs that have a command's limits: loops of millions of rounds are for `run`.
    if longest(&program) > 4096 {
        return;
    }
    let suggestion = kernel.suggest(&[], 1);
    let mut bindings = Bindings { limits: LIMITS, ..Bindings::default() };
    let numbers = suggestion.set.iter().filter_map(|(value, number)| {
        Some((*value, kernel.bind_number(*value, tessera::Literal::Number(*number)).ok()?))
    });
    bindings.inputs.extend(numbers);
    let extents = kernel.extents(&bindings.inputs, 1);
    for (value, fill, shape) in &suggestion.fill {
        let size: Option<u64> = shape.as_ref().and_then(|s| s.iter().try_fold(1u64, |n, d| n.checked_mul(*d)));
        if size.is_none_or(|n| n > 1 << 20) {
            return;
        }
        if let Ok(Some(input)) = kernel.bind_fill(*value, *fill, shape.as_deref(), &extents) {
            bindings.inputs.push((*value, input));
        }
    }
    let (outcome, report) = kernel.execute_judged(bindings);
    sound(&outcome.diagnostics);
    sound(report.iter().flat_map(|report| &report.diagnostics));
}

/// The largest number of the text.
fn longest(program: &Program) -> u64 {
    let words = program.source().split(|c: char| !c.is_ascii_digit());
    words.filter(|word| !word.is_empty()).map(|word| word.parse().unwrap_or(u64::MAX)).max().unwrap_or(0)
}

/// Two to four ranks together: a window goes where the program sends it, and a run ends with or without their order.
fn ranks(bytes: &[u8]) {
    let program = Program::read(bytes, Some(profile(bytes)));
    if program.has_errors() || program.check().iter().any(Diagnostic::is_error) {
        return;
    }
    let Ok(kernel) = program.kernel_or_entry(None) else { return };
    let mut ranks = match Ranks::new(vec![kernel; 2 + choice(bytes) / 3 % 3]) {
        Ok(ranks) => ranks,
        Err(error) => return sound(error.diagnostics()),
    };
    let windows: Vec<String> = ranks.windows().iter().flat_map(|w| w.args.iter().chain(&w.context).cloned()).collect();
    for rank in 0..ranks.count() {
        let Some(kernel) = ranks.kernel(rank).cloned() else { return };
        let own =
            inputs(&kernel).into_iter().filter(|(value, _)| !windows.iter().any(|name| name == kernel.name(*value)));
        let bindings = Bindings { inputs: own.collect(), limits: LIMITS, ..Bindings::default() };
        ranks.bindings[rank] = bindings;
    }
    let (outcome, judged) = ranks.execute_judged();
    sound(&outcome.diagnostics);
    sound(&judged);
}

/// An editor opens the text, changes it at any place, asks about any place, and says whatever a line of it says.
fn server(bytes: &[u8]) {
    struct NoPages;
    impl tessera_lsp::Pages for NoPages {
        fn explain(&self, _: &str) -> Option<String> {
            None
        }
        fn layout(&self, _: &tessera_isa::tile::Tile, _: Profile) -> String {
            String::new()
        }
        fn examples(&self, _: tessera::Opcode) -> Vec<[String; 3]> {
            Vec::new()
        }
    }
    let (client, connection) = Connection::memory();
    let server = std::thread::spawn(|| serve(connection, std::sync::Arc::new(NoPages)));
    let text = String::from_utf8_lossy(bytes);
    let document = json!({"uri": "file:///k.pto"});
    let at =
        |n: usize| json!({"line": bytes.get(n).map_or(0, |b| u32::from(*b) * 7), "character": bytes.len() % (n + 2)});
    let range = json!({"start": at(1), "end": at(3)});
    let place = json!({"textDocument": document, "position": at(5), "range": range, "newName": "x",
        "context": {"includeDeclaration": true, "diagnostics": []}});
    let open = json!({"textDocument": {"uri": "file:///k.pto", "languageId": "pto", "version": 1, "text": text}});
    let change = json!({"textDocument": {"uri": "file:///k.pto", "version": 2},
        "contentChanges": [{"range": range, "text": "%a = \u{1F600}"}]});
    let told = [("initialized", json!({})), ("textDocument/didOpen", open), ("textDocument/didChange", change)];
    let _ = client.sender.send(Request::new(0.into(), "initialize".into(), json!({"capabilities": {}})).into());
    for (method, params) in told {
        let _ = client.sender.send(Notification::new(method.into(), params).into());
    }
    let asked = [
        "hover",
        "completion",
        "definition",
        "references",
        "rename",
        "codeAction",
        "semanticTokens/range",
        "inlayHint",
        "documentSymbol",
        "formatting",
        "foldingRange",
        "signatureHelp",
        "documentHighlight",
        "codeLens",
        "prepareRename",
        "rangeFormatting",
        "documentLink",
    ];
    for (n, what) in (1..).zip(asked) {
        let _ = client.sender.send(Request::new(n.into(), format!("textDocument/{what}"), place.clone()).into());
    }
    for line in text.lines().take(16) {
        if let Ok(message) = serde_json::from_str::<Message>(line) {
            let _ = client.sender.send(message);
        }
    }
    // The client dies without a word.
    drop(client);
    let ended = server.join();
    assert!(ended.is_ok_and(|exit| exit.is_ok()), "the server ends with its client");
}

/// An `internal` error is a defect, and so a finding.
fn sound<'a>(found: impl IntoIterator<Item = &'a Diagnostic>) {
    for diagnostic in found {
        assert!(diagnostic.rule != "internal", "{diagnostic:?}");
    }
}

/// Something for every argument that needs it.
fn inputs(kernel: &Kernel) -> Vec<(tessera_ir::ValueId, Input)> {
    let mut all = Vec::new();
    for value in &kernel.func().args {
        let input = match kernel.need(*value) {
            Need::Scalar(_) => kernel.bind_number(*value, tessera::Number::Int(2)).ok(),
            Need::Tile(tile) if tile.bytes() <= 1 << 20 => Some(Input::TileBytes(vec![1; tile.bytes() as usize])),
            Need::Buffer(elem, _) => {
                Some(Input::Buffer { bytes: vec![1; 1 << 14], elem, dims: vec![(1 << 17) / u64::from(elem.bits())] })
            }
            _ => None,
        };
        all.extend(input.map(|input| (*value, input)));
    }
    all
}
