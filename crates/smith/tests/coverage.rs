//! What programs are made of: every row, form, element type and word that the table allows on some profile.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use tessera::{Diagnostic, Profile, Program};
use tessera_isa::elem::Elem;
use tessera_isa::inst::AttrValue;
use tessera_isa::ops::{AttrKind, AttrName, Form, Opcode, Text};
use tessera_isa::sem::Sem;
use tessera_smith::candidate::{Candidate, opcodes, signatures};
use tessera_smith::random::Random;
use tessera_smith::{Feature, Options, smith};

/// What the drawn instructions have.
#[derive(Default)]
struct Reached {
    forms: BTreeSet<(Opcode, Form)>,
    elems: BTreeSet<Elem>,
    words: BTreeSet<(AttrName, u8)>,
}

fn reached() -> Reached {
    let mut all = Reached::default();
    let mut random = Random(5);
    for op in opcodes() {
        for (n, shape) in op.shapes().iter().enumerate() {
            for profile in Profile::ALL {
                for sig in 0..signatures(op, shape.form, profile).len() {
                    let Some(recipe) = Candidate::recipe(op, n, sig, profile) else { continue };
                    let mut one = Candidate::clone(&recipe);
                    let has_words = one.op.info().attrs.iter().any(|a| matches!(a.info().kind, AttrKind::Word { .. }));
                    for _ in 0..if has_words { 16 } else { 2 } {
                        one.walk(&mut random, profile, &[], 16);
                        assert!(one.fault(profile).is_none(), "{op} on {profile} left what is legal");
                        all.forms.insert((op, shape.form));
                        all.elems.extend(one.tiles.iter().map(|(_, ty)| ty.elem));
                        all.words.extend(one.attrs.iter().filter_map(|(name, value)| match value {
                            AttrValue::Word(n) => Some((name, n)),
                            _ => None,
                        }));
                    }
                }
            }
        }
    }
    all
}

#[test]
fn every_form_element_type_and_word_is_drawn() {
    let reached = reached();
    let forms = opcodes().flat_map(|op| op.info().forms.iter().map(move |f| (op, f.form)));
    let allowed = |(op, form): &(Opcode, Form)| Profile::ALL.iter().any(|p| !signatures(*op, *form, *p).is_empty());
    let missing: Vec<_> = forms.filter(allowed).filter(|f| !reached.forms.contains(f)).collect();
    assert!(missing.is_empty(), "forms: {missing:?}");
    let missing: Vec<_> = Elem::ALL.iter().filter(|e| !reached.elems.contains(e)).collect();
    assert!(missing.is_empty(), "element types: {missing:?}");
    let names: BTreeSet<AttrName> = opcodes().flat_map(|op| op.info().attrs.iter().copied()).collect();
    let mut missing = Vec::new();
    for name in names {
        let AttrKind::Word { list, .. } = name.info().kind else { continue };
        for (n, word) in list.iter().enumerate() {
            if !reached.words.contains(&(name, n as u8)) {
                missing.push(format!("{name} = {}", word.name));
            }
        }
    }
    // The first is refused wherever it may be written (isa/memory.md 4). The others go with the types and extents of five
    // operands at once (isa/today.md 6.4), which a walk seldom meets.
    let known = ["pad_mode = PadFirstElem", "quant_type = MXFP4_E2M1", "storeMode = nz", "storeMode = nd"];
    assert!(missing.iter().all(|word| known.contains(&word.as_str())), "words: {missing:?}");
}

/// The instructions that whole programs have.
#[test]
fn programs_have_every_row_that_they_can_have() {
    let mut found: BTreeSet<Opcode> = BTreeSet::new();
    for (profile, seed) in Profile::ALL.into_iter().flat_map(|p| (0..42).map(move |seed| (p, seed))) {
        let features = match seed % 7 {
            0 => vec![Feature::Flags, Feature::Loops],
            1 => vec![Feature::Fifo],
            2 => vec![Feature::Dynamic, Feature::Calls],
            3 => vec![Feature::Cores],
            _ => Vec::new(),
        };
        let size = if features.is_empty() { 60 } else { 12 };
        let made = smith(&Options { profile, seed, features, size, ..Options::default() }).unwrap();
        assert_eq!(made.defects, Vec::<String>::new());
        let program = Program::read(&made.text, None);
        assert!(!program.check().iter().any(Diagnostic::is_error), "{}", made.text);
        for func in &program.module().funcs {
            func.walk(&mut |_, op, _| found.extend(op.opcode()));
        }
    }
    let missing: Vec<&str> = Opcode::ALL
        .iter()
        .filter(|op| !found.contains(op))
        .filter(|op| why_not(**op).is_none())
        .map(|op| op.mnemonic())
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// Why no program has an instruction.
fn why_not(op: Opcode) -> Option<&'static str> {
    let info = op.info();
    match (info.sem, info.text) {
        (Sem::Traps, _) => Some("it stops the program"),
        (Sem::Orders(_), Text::AsWritten | Text::Meet) => {
            Some("order is inserted as flags and barriers, which say the same")
        }
        (Sem::Comm(_), _) => Some("ranks have random programs of their own, in the tests of the library"),
        (_, Text::Pipe(_)) => Some("of the two forms of FIFOs one is made, from the cube core to the vector cores"),
        _ => None,
    }
}
