//! Compile-time rules, compared with the rules of the machine.

use super::*;
use tessera_isa::inst::{Inst, ScalarArg, TileArg};
use tessera_isa::tile::{BLayout, SLayout};

const ORDERS: [Option<(BLayout, SLayout, u32)>; 4] = [
    None,
    Some((BLayout::RowMajor, SLayout::NoneBox, 512)),
    Some((BLayout::ColMajor, SLayout::NoneBox, 512)),
    Some((BLayout::ColMajor, SLayout::RowMajor, 512)),
];

/// Legal tiles of several kinds, a few of each.
fn tiles() -> Vec<TileType> {
    let mut tiles = Vec::new();
    for loc in [Loc::Vec, Loc::Mat, Loc::Left, Loc::Acc, Loc::Scaling] {
        for elem in [Elem::F32, Elem::I32, Elem::F16, Elem::I8, Elem::U64] {
            for order in ORDERS {
                for (rows, cols) in [(1, 32), (32, 32), (32, 64), (16, 64)] {
                    let ty = TileType::new(loc, elem, rows, cols);
                    tiles.push(order.map_or(ty, |(b, s, fractal)| ty.with_layout(b, s, fractal)));
                }
            }
        }
    }
    tiles.retain(|t| Profile::ALL.iter().all(|p| t.resolve(*p).broken(*p).is_none()));
    tiles
}

/// The rule that the machine gives for an instruction of two tiles.
fn asked(op: Opcode, form: Form, tiles: &[(Role, &TileType)], profile: Profile) -> Option<&'static str> {
    let mut inst = Inst::new(op, form, profile);
    for (role, ty) in tiles {
        inst.tiles.push(TileArg::of_type(*role, ty.resolve(profile)));
    }
    if op == Opcode::Tsubview {
        inst.scalars.push(ScalarArg::new(Role::Row, 0));
        inst.scalars.push(ScalarArg::new(Role::Col, 0));
    }
    tessera_check::check(&inst).into_iter().find(|f| f.is_error()).map(|f| f.rule)
}

/// Compares a rule of types with the machine's on every pair of tiles. `decided` are the ids that the types decide in
/// full: where they say nothing, the machine does not give them either.
fn compare(
    what: &str,
    (op, form, roles): (Opcode, Form, [Role; 2]),
    rule: impl Fn(Option<TileType>, Option<TileType>) -> Wrong,
    decided: &[&str],
) {
    let tiles = tiles();
    let mut refused = 0;
    for dst in &tiles {
        for src in &tiles {
            let wrong = rule(Some(*dst), Some(*src));
            for profile in Profile::ALL {
                let operands: Vec<(Role, &TileType)> = match roles[1] {
                    Role::Tmp => vec![(Role::Src, src), (Role::Tmp, dst), (Role::Dst, src)],
                    role => vec![(role, src), (roles[0], dst)],
                };
                let given = asked(op, form, &operands, profile);
                match wrong {
                    Some(rule) => {
                        refused += 1;
                        assert!(given.is_some(), "{what} on {profile}: {rule} for {dst:?} from {src:?}");
                    }
                    None => {
                        let silent = given.is_none_or(|g| !decided.contains(&g));
                        assert!(silent, "{what} on {profile}: {given:?} for {dst:?} from {src:?}");
                    }
                }
            }
        }
    }
    assert!(refused > 0, "{what} refuses nothing");
}

#[test]
fn instruction_rules_agree_with_the_machine() {
    let plain = |op| (op, Form::Plain, [Role::Dst, Role::Src]);
    let ids = ["treshape-loc", "treshape-box", "treshape-bytes"];
    compare("TRESHAPE", plain(Opcode::Treshape), treshape, &ids);
    compare("TTRANS", plain(Opcode::Ttrans), ttrans, &["ttrans-size"]);
    let tmp = (Opcode::Ttrans, Form::Tmp, [Role::Dst, Role::Tmp]);
    compare("TTRANS tmp", tmp, ttrans_tmp, &["ttrans-tmp"]);
    compare("TPACK", plain(Opcode::Tpack), tpack, &["tpack-size"]);
    compare("TFILLPAD", plain(Opcode::Tfillpad), tfillpad, &["tfillpad-shape"]);
    compare("TFILLPAD_EXPAND", plain(Opcode::TfillpadExpand), tfillpad_expand, &["tfillpad-shape"]);
    // Whether two Left tiles have one outer order is the profile's matter.
    compare("TSUBVIEW", plain(Opcode::Tsubview), tsubview, &[]);
    let quant = (Opcode::Tmov, Form::ScalarQuant, [Role::Dst, Role::Src]);
    // Whether Mat is quantized is the profile's matter.
    compare("TMOV quant", quant, |_, src| fixpipe(src), &[]);
}
