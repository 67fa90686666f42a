//! Programs are the same for the same seed, accepted, and race-free where they say so.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use tessera::{Diagnostic, OrderOptions, Profile, Program, TextForm, Verdict};
use tessera_smith::{Feature, Options, illegal, smith};

fn options(profile: Profile, seed: u64, features: &[Feature]) -> Options {
    Options { profile, seed, features: features.to_vec(), ..Options::default() }
}

#[test]
fn programs_are_legal_and_say_truly_whether_they_are_race_free() {
    use Feature::{Calls, Cores, Dynamic, Fifo, Flags, Loops};
    let sets: [&[Feature]; 8] =
        [&[], &[Loops], &[Calls], &[Cores], &[Flags], &[Fifo], &[Dynamic], &[Loops, Calls, Dynamic, Flags]];
    for (n, features) in sets.into_iter().enumerate() {
        for profile in Profile::ALL {
            let made = smith(&options(profile, 100 + n as u64, features)).unwrap();
            let program = Program::read(&made.text, None);
            assert_eq!(program.profile(), profile);
            assert!(!program.check().iter().any(Diagnostic::is_error), "{}", made.text);
            let verdict = program.entry().unwrap().order(&OrderOptions::default()).unwrap().verdict;
            assert_eq!(made.is_race_free, verdict == Verdict::RaceFree, "{}", made.text);
            assert!(made.text.lines().next().unwrap().ends_with(verdict.name()));
            // What is printed is canonical, and its outputs hold something.
            assert_eq!(program.text(None), made.text);
            assert!(!made.expected.is_empty());
        }
    }
}

#[test]
fn a_seed_is_a_program() {
    for form in [TextForm::Asm, TextForm::Ssa, TextForm::Dps] {
        let options = Options { form, ..options(Profile::A5, 9, &[Feature::Loops]) };
        let (one, other) = (smith(&options).unwrap(), smith(&options).unwrap());
        assert_eq!(one.text, other.text);
        assert_eq!(one.expected, other.expected);
    }
    let [a, b] = [1, 2].map(|seed| smith(&options(Profile::A5, seed, &[])).unwrap().text);
    assert_ne!(a.lines().skip(1).collect::<Vec<_>>(), b.lines().skip(1).collect::<Vec<_>>());
}

#[test]
fn a_program_breaks_the_rule_that_is_asked_for_and_no_other() {
    for (profile, rule) in [
        (Profile::A5, "tadd-dtype"),
        (Profile::A2a3, "tmov-loc"),
        (Profile::Cpu, "ttrans-shape"),
        (Profile::A5, "tile-align"),
        (Profile::A2a3, "tmatmul-valid"),
    ] {
        let Ok(made) = illegal(&options(profile, 1, &[]), rule) else { panic!("{rule} on {profile}") };
        let found = Program::read(&made.text, Some(profile)).check();
        let broken: Vec<&str> = found.iter().filter(|d| d.is_error()).map(|d| d.rule).collect();
        assert!(!broken.is_empty() && broken.iter().all(|r| *r == rule), "{rule}: {broken:?}\n{}", made.text);
        assert!(made.is_drawn, "{rule}");
    }
}
