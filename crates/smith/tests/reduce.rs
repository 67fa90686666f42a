//! Planted failures in long programs become short ones.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use tessera::{Diagnostic, Profile, Program};
use tessera_isa::ops::Opcode;
use tessera_smith::reduce::{Goal, operations, reduce};
use tessera_smith::{Feature, Options, smith};

/// Pairs of instructions of which the second reads what the first wrote: a failure that needs both.
fn flows(program: &Program) -> Vec<(Opcode, Opcode)> {
    let mut all = Vec::new();
    for func in &program.module().funcs {
        let mut writers: BTreeMap<u32, Opcode> = BTreeMap::new();
        func.walk(&mut |_, op, _| {
            let Some(opcode) = op.opcode() else { return };
            let written: Vec<u32> = op.dsts().iter().map(|(_, v)| v.0).collect();
            for value in op.values().filter(|v| !written.contains(&v.0)) {
                all.extend(writers.get(&value.0).map(|writer| (*writer, opcode)));
            }
            writers.extend(written.into_iter().map(|v| (v, opcode)));
        });
    }
    all
}

#[test]
fn planted_failures_become_short() {
    let mut planted = 0;
    for seed in 0..40 {
        let features = if seed % 2 == 0 { vec![Feature::Loops] } else { vec![Feature::Calls, Feature::Loops] };
        let profile = Profile::ALL[seed as usize % 3];
        let options = Options { profile, seed, size: 60, features, ..Options::default() };
        let program = Program::read(smith(&options).unwrap().text, None);
        let found = flows(&program);
        let computes = |op: &Opcode| ![Opcode::Tload, Opcode::Tstore].contains(op);
        let Some(pair) = found.iter().rev().find(|(a, b)| computes(a) && computes(b)).copied() else { continue };
        if operations(&program) < 120 {
            continue;
        }
        planted += 1;
        let mut last = String::new();
        let mut fails = |program: &Program| flows(program).contains(&pair);
        let reduced = reduce(&program, &Goal::default(), &mut fails, &mut |text| last = text.into());
        assert!(reduced.operations[1] <= 12, "{pair:?}: {:?}\n{}", reduced.operations, reduced.text);
        let small = Program::read(&reduced.text, None);
        assert!(flows(&small).contains(&pair), "{}", reduced.text);
        assert!(!small.check().iter().any(Diagnostic::is_error), "{}", reduced.text);
        // Whoever interrupts it has the best program so far.
        assert_eq!(last, reduced.text);
        if planted == 6 {
            break;
        }
    }
    assert_eq!(planted, 6);
}

/// A rule that a program breaks is all that has to be left of it.
#[test]
fn a_broken_rule_is_left() {
    let options = Options { profile: Profile::A5, seed: 3, size: 30, ..Options::default() };
    let text = tessera_smith::illegal(&options, "tadd-dtype").unwrap().text;
    let program = Program::read(&text, None);
    let goal = Goal { keeps_legal: false, ..Goal::default() };
    let mut fails = |program: &Program| program.check().iter().any(|d| d.rule == "tadd-dtype");
    let reduced = reduce(&program, &goal, &mut fails, &mut |_| {});
    assert!(reduced.operations[1] <= 4, "{:?}\n{}", reduced.operations, reduced.text);
}
