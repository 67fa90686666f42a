//! The tables of instructions, attributes and rules are whole: what one names, the other has.

use tessera_isa::inst::AttrValue;
use tessera_isa::ops::{AttrKind, AttrName, Effect, Family, Kind, Opcode, Role, other};
use tessera_isa::rules::{all, rule};
use tessera_isa::sem::Sem;

#[test]
fn mnemonics_are_unique_and_found() {
    for op in Opcode::ALL {
        assert_eq!(Opcode::parse(op.mnemonic()), Some(*op));
        assert!(other(op.mnemonic()).is_none(), "{op} is listed twice");
    }
    assert_eq!(Opcode::parse("tmov.fp"), Some(Opcode::TmovFp));
    assert_eq!(format!("{:?} {:?}", Opcode::Tmov, Opcode::Tprint), "Tmov Tprint");
}

#[test]
fn every_rule_of_a_row_is_a_rule() {
    for op in Opcode::ALL {
        let info = op.info();
        let ids = [info.ids.profile, info.ids.loc, info.ids.layout, info.ids.dtype];
        for id in ids.into_iter().flatten().chain(info.rules.iter().map(|r| r.id)) {
            assert!(rule(id).is_some(), "{op} names the unknown rule {id}");
            assert!(info.rules.iter().any(|r| r.id == id), "{op} does not list {id}");
        }
    }
}

/// A row with tile operands says which tiles it takes, and what it does with them.
#[test]
fn rows_are_complete() {
    for op in Opcode::ALL {
        let info = op.info();
        assert!(!info.summary.is_empty() && !info.source.is_empty(), "{op}");
        let tiles = info.forms.iter().flat_map(|f| f.operands()).any(|o| o.role.kind() == Kind::Tile);
        let judged = tiles && *op != Opcode::Tprint;
        assert_eq!(judged, !info.sigs.is_empty(), "{op} takes tiles and needs signatures");
        assert_eq!(judged, info.ids.loc.is_some(), "{op} needs ids for a missing signature");
        if info.family != Family::Support {
            assert!(!info.formula.is_empty() && !info.cpp.is_empty() && !info.rules.is_empty(), "{op}");
            assert!(!matches!(info.sem, Sem::Nothing), "{op} has no meaning");
        }
        for form in info.forms {
            let named = |role: Role| form.operand(role).is_some();
            assert!(form.outs.iter().all(|o| o.effect != Effect::Read), "{op}: what is written stands in outs");
            assert!(form.operands().all(|o| named(o.role)), "{op}");
            if !info.sigs.is_empty() {
                assert!(info.sigs.iter().any(|s| s.forms.contains(&form.form)), "{op} {}: no signature", form.form);
            }
        }
    }
}

#[test]
fn a_default_is_of_the_kind() {
    for name in AttrName::ALL {
        let info = name.info();
        let fits = match (info.kind, info.default) {
            (_, None) => true,
            (AttrKind::Word { list, .. }, Some(AttrValue::Word(n))) => usize::from(n) < list.len(),
            (AttrKind::Int(_), Some(AttrValue::Int(_))) | (AttrKind::Bool, Some(AttrValue::Bool(_))) => true,
            (AttrKind::Number, Some(AttrValue::Int(_) | AttrValue::Float(_))) => true,
            (AttrKind::Ints(n), Some(AttrValue::Ints(v))) => v.iter().skip(n).all(|v| *v == 0),
            _ => false,
        };
        assert!(fits, "{name}");
        assert!(matches!(info.kind, AttrKind::Word { .. }) == info.about.is_empty(), "{name}");
    }
}

#[test]
fn ids_are_unique_and_texts_are_sentences() {
    let mut ids: Vec<_> = all().map(|r| r.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all().count());
    assert!(all().all(|r| r.text.len() > 10 && !r.source.is_empty() && !r.text.ends_with('.')));
    assert!(rule("tinsert-bounds").is_some() && rule("tinsert-bound").is_none());
}
