//! What inputs are given to, and what must hold of it besides that it ends.

use tessera::equiv::{Answer, Given, equiv};
use tessera::npy::Array;
use tessera::program::{Bindings, Input, Kernel, Limits, Need, OrderOptions};
use tessera::{Diagnostic, Profile, Program};
use tessera_ir::TextForm;

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

/// From text to bytes, on every profile; then where they come from.
fn pipeline(bytes: &[u8]) {
    // The input decides where it runs: on one profile, as one to three blocks.
    let choice = bytes.iter().fold(bytes.len(), |sum, b| sum.wrapping_mul(31).wrapping_add(usize::from(*b)));
    let (profile, blocks) = (Profile::ALL[choice % Profile::ALL.len()], 1 + (choice / 3 % 3) as u32);
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
    let limits = Limits { steps: 20_000, memory: 16 << 20 };
    let bindings = Bindings { inputs: inputs(&kernel), blocks, limits, ..Bindings::default() };
    let outcome = kernel.execute(bindings);
    sound(&outcome.diagnostics);
    let given = Given { blocks, limits, ..Given::default() };
    if let Answer::Stopped(_, error) = equiv(&kernel, &kernel, &given, &[]) {
        sound(error.diagnostics());
    }
    if let Err(error) = tessera::opt::optimize(&program, None, &given, &[]) {
        sound(error.diagnostics());
    }
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
