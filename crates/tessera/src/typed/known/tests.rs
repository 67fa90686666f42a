//! What the types decide, compared with the rules that the machine asks.

use super::*;
use tessera_isa::inst::{Inst, TileArg};
use tessera_isa::ops::{Form, Opcode, Role};
use tessera_isa::tile::{Tile, TileType};

const ORDERS: [Option<(BLayout, SLayout, u32)>; 11] = [
    None,
    Some((BLayout::RowMajor, SLayout::NoneBox, 512)),
    Some((BLayout::ColMajor, SLayout::NoneBox, 512)),
    Some((BLayout::ColMajor, SLayout::RowMajor, 512)),
    Some((BLayout::RowMajor, SLayout::ColMajor, 512)),
    Some((BLayout::RowMajor, SLayout::RowMajor, 512)),
    Some((BLayout::ColMajor, SLayout::ColMajor, 512)),
    Some((BLayout::ColMajor, SLayout::RowMajor, 1024)),
    Some((BLayout::RowMajor, SLayout::RowMajor, 32)),
    Some((BLayout::ColMajor, SLayout::ColMajor, 32)),
    Some((BLayout::ColMajor, SLayout::RowMajor, 64)),
];

fn resolve(known: &Known, profile: Profile) -> Tile {
    let mut ty = TileType::new(known.loc, known.elem, known.rows, known.cols);
    if let Some((b, s, f)) = known.order {
        ty = ty.with_layout(b, s, f);
    }
    ty.resolve(profile)
}

fn id(wrong: Wrong) -> Option<&'static str> {
    wrong.and_then(|w| w.split(':').next())
}

#[test]
fn tile_rules_agree_with_the_machine() {
    let (mut refused, mut legal) = (0, 0);
    for loc in Loc::ALL.iter().copied() {
        for elem in Elem::ALL.iter().copied() {
            for order in ORDERS {
                for rows in [0, 1, 2, 8, 15, 16, 17, 32, 64, 1 << 20] {
                    for cols in [0, 1, 2, 3, 8, 16, 24, 32, 64, 1 << 12] {
                        let known = Known { loc, elem, rows, cols, order };
                        let wrong = id(known.tile());
                        for profile in Profile::ALL {
                            let fault = resolve(&known, profile).fault(profile).map(|f| f.rule);
                            // What depends on the profile: what exists, and the outer order of Left.
                            let exists = !matches!(fault, Some("tile-dtype" | "tile-loc"));
                            let left = loc == Loc::Left && fault == Some("tile-align");
                            match wrong {
                                // Another rule may come first on a profile, but none lets it pass.
                                Some(rule) => {
                                    assert!(fault.is_some(), "{known:?} on {profile}: {rule}");
                                    let same = !exists || left || fault == wrong;
                                    assert!(same, "{known:?} on {profile}: {fault:?}, not {rule}");
                                    refused += 1;
                                }
                                None => {
                                    let silent = matches!(fault, None | Some("tile-size"));
                                    assert!(silent || !exists || left, "{known:?} on {profile}: {fault:?}");
                                    legal += 1;
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    assert!(refused > 10_000 && legal > 10_000, "{refused} refused, {legal} legal");
}

/// Legal tiles of several kinds, a few of each.
fn tiles() -> Vec<Known> {
    let mut tiles = Vec::new();
    for loc in [Loc::Vec, Loc::Mat, Loc::Left, Loc::Acc, Loc::Scaling] {
        for elem in [Elem::F32, Elem::I32, Elem::F16, Elem::I8, Elem::U64] {
            for order in [ORDERS[0], ORDERS[1], ORDERS[2], ORDERS[3]] {
                for (rows, cols) in [(1, 32), (32, 32), (32, 64), (16, 64)] {
                    tiles.push(Known { loc, elem, rows, cols, order });
                }
            }
        }
    }
    tiles.retain(|t| t.tile().is_none() && Profile::ALL.iter().all(|p| resolve(t, *p).fault(*p).is_none()));
    tiles
}

/// The rule that the machine gives for an instruction of two tiles.
fn asked(op: Opcode, form: Form, tiles: &[(Role, &Known)], profile: Profile) -> Option<&'static str> {
    let mut inst = Inst::new(op, form, profile);
    for (role, known) in tiles {
        inst.tiles.push(TileArg::of_type(*role, resolve(known, profile)));
    }
    if op == Opcode::Tsubview {
        use tessera_isa::codec::Number;
        inst.scalars.push((Role::Row, Some(Number::Int(0))));
        inst.scalars.push((Role::Col, Some(Number::Int(0))));
    }
    tessera_check::check(&inst).into_iter().find(|f| f.is_error()).map(|f| f.rule)
}

/// Compares a rule of types with the machine's on every pair of tiles. `decided` are the ids that the types decide in
/// full: where they say nothing, the machine does not give them either.
fn compare(
    what: &str,
    (op, form, roles): (Opcode, Form, [Role; 2]),
    rule: impl Fn(Option<Known>, Option<Known>) -> Wrong,
    decided: &[&str],
) {
    let tiles = tiles();
    let mut refused = 0;
    for dst in &tiles {
        for src in &tiles {
            let wrong = id(rule(Some(*dst), Some(*src)));
            for profile in Profile::ALL {
                let operands: Vec<(Role, &Known)> = match roles[1] {
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
    compare("TTRANS tmp", tmp, |tmp, src| ttrans_tmp(src, tmp), &["ttrans-tmp"]);
    compare("TPACK", plain(Opcode::Tpack), tpack, &["tpack-layout", "tpack-size"]);
    compare("TFILLPAD", plain(Opcode::Tfillpad), tfillpad, &["tfillpad-dtype", "tfillpad-shape"]);
    let ids = ["tfillpad-dtype", "tfillpad-shape"];
    compare("TFILLPAD_EXPAND", plain(Opcode::TfillpadExpand), tfillpad_expand, &ids);
    // Whether two Left tiles have one outer order is the profile's matter.
    compare("TSUBVIEW", plain(Opcode::Tsubview), tsubview, &[]);
    let quant = (Opcode::Tmov, Form::ScalarQuant, [Role::Dst, Role::Src]);
    compare("TMOV quant", quant, |_, src| fixpipe(src), &["quant-source"]);
}
