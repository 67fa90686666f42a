//! Random legal instructions: the machine against the element-by-element oracle, bytes and definedness, bit for bit.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod oracle {
    pub mod cases;
    pub mod check;
    pub mod compute;
    pub mod global;
    pub mod irregular;
    pub mod more;
    pub mod vector;
}

use std::collections::BTreeMap;
use tessera_isa::ops::{Family, Form, Opcode};
use tessera_isa::profile::Profile;
use tessera_isa::sem::Sem;
use tessera_testkit::random::Random;

/// Every instruction that moves data, in each of its forms, and one of every kind that computes.
const FORMS: &[(Opcode, &[Form])] = &[
    (Opcode::Tmov, &[Form::Plain, Form::ScalarQuant]),
    (Opcode::TmovFp, &[Form::VectorQuant, Form::Fill]),
    (Opcode::Textract, &[Form::Plain, Form::ScalarQuant, Form::TwoWindows]),
    (Opcode::TextractFp, &[Form::VectorQuant, Form::Fill]),
    (Opcode::Tinsert, &[Form::Plain, Form::ScalarQuant, Form::NoIndex]),
    (Opcode::TinsertFp, &[Form::VectorQuant, Form::Fill]),
    (Opcode::Ttrans, &[Form::Plain, Form::Tmp]),
    (Opcode::Tconcat, &[Form::Plain, Form::Indexed, Form::IndexedOut]),
    (Opcode::Tpack, &[Form::Plain]),
    (Opcode::Tfillpad, &[Form::Plain, Form::Fill]),
    (Opcode::TfillpadInplace, &[Form::Plain, Form::Fill]),
    (Opcode::TfillpadExpand, &[Form::Plain, Form::Fill]),
    (Opcode::Treshape, &[Form::Plain]),
    (Opcode::Timg2col, &[Form::Plain]),
    (Opcode::Tinterleave, &[Form::Plain]),
    (Opcode::Tdeinterleave, &[Form::Plain, Form::OneSource]),
    (Opcode::Tload, &[Form::Plain, Form::Window]),
    (Opcode::Tprefetch, &[Form::Plain]),
    (Opcode::Tstore, &[Form::Plain, Form::ScalarQuant, Form::Window]),
    (Opcode::TstoreFp, &[Form::VectorQuant]),
    (Opcode::Mgather, &[Form::Plain]),
    (Opcode::Mscatter, &[Form::Plain]),
    (Opcode::Tgather, &[Form::Plain]),
];

/// Whether a profile lacks an instruction (rules.md: `tpack-profile`, `tinterleave-profile`; TINSERT out of Vec).
fn absent(profile: Profile, op: Opcode, form: Form) -> bool {
    profile == Profile::A2a3
        && (matches!(op, Opcode::Tpack | Opcode::Tinterleave | Opcode::Tdeinterleave)
            || (op == Opcode::Tinsert && form == Form::NoIndex)
            || (op == Opcode::TinsertFp && form == Form::Fill))
}

#[test]
fn random_vector_instructions_agree_with_the_oracle() {
    let mut traits: BTreeMap<&str, u32> = BTreeMap::new();
    let (mut ops, mut few) = (0, Vec::new());
    for op in Opcode::ALL.iter().filter(|op| oracle::vector::FAMILIES.contains(&op.info().family)) {
        ops += 1;
        for (profile, form) in Profile::ALL.into_iter().flat_map(|p| op.info().forms.iter().map(move |f| (p, f.form))) {
            let mut random = Random(profile as u64 * 1000 + op.index() as u64 * 10 + form as u64);
            let mut found = 0;
            for _ in 0..2000 {
                let Some(case) = oracle::cases::case(&mut random, profile, *op, form) else {
                    continue;
                };
                oracle::check::compare(&mut random, &case);
                for name in oracle::vector::traits(&case) {
                    *traits.entry(name).or_default() += 1;
                }
                found += 1;
                if found == 24 {
                    break;
                }
            }
            let exists = op.info().sigs.iter().any(|s| s.is_for(profile, form));
            if found < 12 && exists {
                few.push(format!("only {found} legal cases of {op} {form} on {profile}"));
            }
        }
    }
    assert!(few.is_empty(), "{few:#?}");
    assert_eq!(ops, 80);
    for name in oracle::vector::TRAITS {
        assert!(traits.get(name).is_some_and(|n| *n >= 10), "too few cases with {name}: {traits:?}");
    }
}

#[test]
fn random_instructions_agree_with_the_oracle() {
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    let mut traits: BTreeMap<&str, u32> = BTreeMap::new();
    for profile in Profile::ALL {
        for (op, forms) in FORMS {
            for form in *forms {
                let mut random = Random(profile as u64 * 1000 + op.index() as u64 * 10 + *form as u64);
                let mut found = 0;
                for _ in 0..3000 {
                    let Some(case) = oracle::cases::case(&mut random, profile, *op, *form) else {
                        continue;
                    };
                    oracle::check::compare(&mut random, &case);
                    for name in case.traits() {
                        *traits.entry(name).or_default() += 1;
                    }
                    found += 1;
                    if found == 100 {
                        break;
                    }
                }
                seen.insert(format!("{profile} {op} {form}"), found);
                assert!(
                    found >= 20 || absent(profile, *op, *form),
                    "only {found} legal cases of {op} {form} on {profile}"
                );
            }
        }
    }
    let all: u32 = seen.values().sum();
    assert!(all > 4000, "{all} cases: {seen:?}");
    for name in oracle::cases::TRAITS {
        assert!(traits.get(name).is_some_and(|n| *n >= 10), "too few cases with {name}: {traits:?}");
    }
}

#[test]
fn irregular_instructions_agree_with_the_oracle() {
    let rows = Opcode::ALL.iter().copied().filter(|op| op.info().family == Family::Irregular);
    // TGETVAL leaves no tile; the index form of TGATHER is among the others.
    let rows = rows.filter(|op| op.info().sem.computes());
    // Exponents in another order are written as a TMOV (isa/today.md 6.5).
    let rows = rows.chain([Opcode::TmovZz]);
    let forms = rows.flat_map(|op| op.info().forms.iter().map(move |f| (op, f.form)));
    for (profile, (op, form)) in forms.flat_map(|f| Profile::ALL.map(|p| (p, f))) {
        if (op, form) == (Opcode::Tgather, Form::Plain) {
            continue;
        }
        let mut random = Random(profile as u64 * 1000 + op.index() as u64 * 10 + form as u64);
        let mut found = 0;
        for _ in 0..400 {
            let Some(case) = oracle::cases::case(&mut random, profile, op, form) else { continue };
            oracle::check::compare(&mut random, &case);
            found += 1;
            if found == 30 {
                break;
            }
        }
        let exists = op.info().sigs.iter().any(|sig| sig.is_for(profile, form));
        assert_eq!(found >= 15, exists, "{found} legal cases of {op} {form} on {profile}");
    }
}

#[test]
fn products_agree_with_the_oracle() {
    let products = Opcode::ALL.iter().copied().filter(|op| matches!(op.info().sem, Sem::Contract { .. }));
    for (profile, op) in products.flat_map(|op| Profile::ALL.map(|p| (p, op))) {
        let mut random = Random(profile as u64 * 1000 + op.index() as u64);
        let mut found = 0;
        for _ in 0..200 {
            let Some(case) = oracle::cases::case(&mut random, profile, op, Form::Plain) else { continue };
            oracle::check::compare(&mut random, &case);
            found += 1;
            if found == 12 {
                break;
            }
        }
        let exists = op.info().sigs.iter().any(|sig| sig.on.has(profile));
        assert_eq!(found >= 5, exists, "{found} legal cases of {op} on {profile}");
    }
}
