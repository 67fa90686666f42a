//! The tasks are whole, right solutions pass, and cheating ones do not.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use tessera_smith::gym::{Score, score, tasks};

const ADD: &str = include_str!("gym/add.pto");
const SOFTMAX: &str = include_str!("gym/softmax.pto");

fn scored(name: &str, text: &str) -> Score {
    let task = tasks().iter().find(|t| t.name == name).unwrap();
    let profile = Some(tessera::Profile::A5);
    let one = score(task, text, profile, 11);
    assert_eq!(one, score(task, text, profile, 11));
    one
}

#[test]
fn there_are_sixty_tasks_in_five_levels_and_each_formula_gives_its_output() {
    assert_eq!(tasks().len(), 60);
    assert_eq!(tasks().iter().map(|t| t.name.as_str()).collect::<BTreeSet<_>>().len(), 60);
    for level in 1..=5 {
        assert!(tasks().iter().filter(|t| t.level == level).count() >= 5, "level {level}");
    }
    for task in tasks() {
        // A kernel that does nothing is asked for the golden, too: its complaint is about elements, never the formula.
        let empty = format!("{} {{\n  return\n}}\n", task.signature());
        let found = scored(&task.name, &empty);
        assert!(!found.is_correct, "{}", task.name);
        let why = found.notes.join("; ");
        assert!(why.contains("elements are wrong") || why.contains("FIFO"), "{}: {why}", task.name);
        assert!(found.floor.is_some(), "{} has no floor", task.name);
        assert!(task.page().contains(&task.signature()));
    }
}

#[test]
fn right_solutions_pass() {
    for (name, text) in [("add", ADD), ("softmax", SOFTMAX)] {
        let found = scored(name, text);
        assert!(found.is_correct && found.is_race_free, "{name}: {found:?}");
        assert!(found.cycles >= found.floor && found.cycles.is_some(), "{name}: {found:?}");
    }
}

#[test]
fn cheating_is_seen() {
    // The output does not depend on the inputs.
    let constant = ADD.replace("pto.tadd ins(%ta, %tb", "pto.tsub ins(%ta, %ta");
    let found = scored("add", &constant);
    assert!(!found.is_correct && found.notes.iter().any(|n| n.contains("does not depend on the inputs")), "{found:?}");
    // It reads beyond its arguments.
    let beyond = ADD
        .replace("%a, shape", "%q, shape")
        .replace("  %va =", "  %q = pto.addptr %a, %c64 : !pto.ptr<f32> -> !pto.ptr<f32>\n  %va =");
    let found = scored("add", &beyond);
    assert!(!found.is_correct && found.notes.iter().any(|n| n.contains("gm-bounds")), "{found:?}");
    // It writes an input, where a later check might look.
    let writes = ADD.replace("outs(%vy :", "outs(%va :");
    let found = scored("add", &writes);
    assert!(!found.is_correct, "{found:?}");
    // It leaves a part of what the output held.
    let partial = ADD.replace(
        "%y, shape = [%c16, %c64], strides = [%c64, %c1] : !pto.tensor_view<16x64xf32>",
        "%y, shape = [%c16, %c64], strides = [%c1, %c16] : !pto.tensor_view<16x64xf32>",
    );
    assert!(!scored("add", &partial).is_correct);
    // Another signature.
    let other = ADD.replace("%y", "%out");
    assert!(scored("add", &other).notes.iter().any(|n| n.contains("no argument %y")));
}
