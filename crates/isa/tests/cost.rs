//! The figures of costs are those of the specification.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use tessera_isa::cost::{COSTS, Timing, cost, figure};
use tessera_isa::elem::Elem;
use tessera_isa::ops::Opcode;
use tessera_isa::profile::Profile;
use toml::{Table, Value};

/// A figure as the file writes it, for a type: its own name goes first, `f` and `i` are all floats and integers.
fn written(value: &Value, elem: Elem) -> Option<u64> {
    let kind = if elem.is_float() { "f" } else { "i" };
    let number = match value {
        Value::Table(by_type) => by_type.get(elem.name()).or(by_type.get(kind))?,
        all => all,
    };
    Some(number.as_integer().unwrap() as u64)
}

#[test]
fn figures_are_those_of_the_file() {
    let file: Table = include_str!("../../../docs/spec/isa/cost.toml").parse().unwrap();
    let mut listed = 0;
    for entry in file["vector"].as_array().unwrap() {
        let profile = Profile::parse(entry["profile"].as_str().unwrap()).unwrap();
        assert_eq!(entry["repeat_bytes"].as_integer(), Some(256));
        for name in entry["ops"].as_array().unwrap() {
            // Rows that are not there yet have no cost either.
            let Some(op) = Opcode::parse(name.as_str().unwrap()) else { continue };
            let found = cost(op, profile).unwrap_or_else(|| panic!("{op} has no cost on {profile}"));
            assert_eq!(found.published, entry["basis"].as_str() == Some("published"), "{op}");
            listed += 1;
            for elem in Elem::ALL.iter().copied() {
                let same =
                    |key: &str, ours: Option<u64>| assert_eq!(ours, written(&entry[key], elem), "{op} {key} {elem}");
                match found.timing {
                    Timing::Startup { startup, completion, per_repeat, interval } => {
                        same("startup", Some(startup.into()));
                        same("completion", figure(completion, elem));
                        same("per_repeat", figure(per_repeat, elem));
                        same("interval", Some(interval.into()));
                    }
                    Timing::Latency { latency, per_repeat } => {
                        same("latency", figure(latency, elem));
                        same("per_repeat", figure(per_repeat, elem));
                    }
                }
            }
        }
    }
    assert_eq!(listed, COSTS.iter().map(|c| c.ops.len()).sum::<usize>());
}

/// The worked examples of isa/cost.md 1: 1024 elements of f32 are 16 repeats.
#[test]
fn cycles_are_those_of_the_page() {
    let cycles = |name: &str, profile| cost(Opcode::parse(name).unwrap(), profile)?.timing.cycles(Elem::F32, 16);
    assert_eq!([cycles("tadd", Profile::A2a3), cycles("tadd", Profile::A5)], [Some(335), Some(37)]);
    assert_eq!([cycles("texp", Profile::A2a3), cycles("texp", Profile::A5)], [Some(341), Some(46)]);
    assert_eq!([cycles("tabs", Profile::A5), cycles("tabs", Profile::Cpu)], [Some(20), None]);
    assert_eq!(cost(Opcode::Texp, Profile::A5).unwrap().timing.cycles(Elem::Bf16, 1), None);
}
