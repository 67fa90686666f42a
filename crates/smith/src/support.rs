//! Statements of instructions that are written in shapes of their own: one way to write each shape of text.

use crate::draft::{Draft, Origin};
use crate::random::Random;
use tessera::fill::Fill;
use tessera_ir::{ScalarType, Sign, Type, ValueId};
use tessera_isa::codec::Number;
use tessera_isa::elem::Elem;
use tessera_isa::ops::{Opcode, Role, Text};
use tessera_isa::sem::Sem;
use tessera_isa::tile::{Extent, Loc, TileType};

/// The instructions that have such a statement here.
pub fn opcodes() -> impl Iterator<Item = Opcode> {
    Opcode::ALL.iter().copied().filter(|op| {
        let is_written = matches!(
            op.info().text,
            Text::Number
                | Text::Attributes
                | Text::Value
                | Text::Ignored
                | Text::Hint(_)
                | Text::LoadScalar
                | Text::StoreScalar
                | Text::Dim
                | Text::Print
                | Text::Address(_)
                | Text::AddPtr
                | Text::Subset
                | Text::Partition
                | Text::Assign
                | Text::SetValid
                | Text::Extents(_)
                | Text::Slot
        );
        is_written && !matches!(op.info().sem, Sem::Traps)
    })
}

/// A statement of one of them, and the tile that holds something new behind it.
pub fn statement(draft: &mut Draft, random: &mut Random, op: Opcode) -> Option<usize> {
    let name = op.printed();
    let any = [false, false];
    let i32 = ScalarType::Int(32, Sign::None);
    let shown = |draft: &Draft, v: ValueId| format!("%{}", draft.name(v));
    let typed = |draft: &Draft, v: ValueId| tessera_asm::print_type(draft.ty(v));
    let result = |draft: &mut Draft, ty: Type| draft.value("r", ty, Origin::Result);
    let array = |elem: Elem, shape: &[u64]| Fill::Iota.array(elem, shape).ok();
    let memory = |draft: &mut Draft| {
        let array = array(Elem::F32, &[16, 32])?;
        Some(draft.value("p", Type::Ptr(Elem::F32, None), Origin::Input(array)))
    };
    let tile = TileType::new(Loc::Vec, Elem::F32, 16, 32);
    Some(match op.info().text {
        Text::Number => {
            let value = result(draft, Type::Scalar(ScalarType::Int(64, Sign::None)));
            let text = format!("{} = pto.{name}", shown(draft, value));
            draft.push_raw(text, vec![value], any)
        }
        Text::Attributes => {
            draft.push_raw(format!("pto.{name} {{fmap = [4, 4], pad = [0, 0, 0, 0]}}"), Vec::new(), any)
        }
        Text::Value => {
            let value = draft.constant(ScalarType::Float(Elem::F16), Number::Float(0.5));
            let text = format!("pto.{name} {} : {}", shown(draft, value), typed(draft, value));
            draft.push_raw(text, vec![value], any)
        }
        Text::Ignored => draft.push_raw(format!("pto.{name}"), Vec::new(), any),
        Text::Hint(words) => {
            let word = random.pick_or(words, "");
            draft.push_raw(format!("pto.{name} {word}"), Vec::new(), any)
        }
        Text::LoadScalar => {
            let (p, at) = (memory(draft)?, draft.index(random.range(0, 15)));
            let value = result(draft, Type::Scalar(ScalarType::Float(Elem::F32)));
            let text = format!(
                "{} = pto.{name} {}[{}] : {} -> f32",
                shown(draft, value),
                shown(draft, p),
                shown(draft, at),
                typed(draft, p)
            );
            draft.push_raw(text, vec![p, at, value], any)
        }
        Text::StoreScalar => {
            let p = draft.value("p", Type::Ptr(Elem::F32, None), Origin::Output(vec![1, 16]));
            let at = draft.index(random.range(0, 15));
            let value = draft.constant(ScalarType::Float(Elem::F32), Number::Float(2.5));
            let text = format!(
                "pto.{name} {}, {}[{}] : {}, f32",
                shown(draft, value),
                shown(draft, p),
                shown(draft, at),
                typed(draft, p)
            );
            draft.push_raw(text, vec![p, at, value], any)
        }
        Text::Dim => {
            let (view, at) = (view(draft, random)?, draft.index(random.range(0, 1)));
            let value = result(draft, Type::Scalar(ScalarType::Index));
            let text = format!(
                "{} = pto.{name} {}, {} : {} -> index",
                shown(draft, value),
                shown(draft, view),
                shown(draft, at),
                typed(draft, view)
            );
            draft.push_raw(text, vec![view, at, value], any)
        }
        Text::Print => {
            let value = draft.constant(i32, Number::Int(random.range(0, 9).into()));
            let text = format!("pto.{name} ins(\"%d\\n\", {} : i32)", shown(draft, value));
            draft.push_raw(text, vec![value], any)
        }
        Text::Address(roles) => match roles.contains(&Role::Tile) {
            true => {
                let t = draft.input(random, &Type::Tile(tile), Role::Src)?;
                let value = result(draft, Type::Ptr(Elem::F32, Some("ub".into())));
                let text = format!(
                    "{} = pto.{name} {} : {} -> {}",
                    shown(draft, value),
                    shown(draft, t),
                    typed(draft, t),
                    typed(draft, value)
                );
                draft.push_raw(text, vec![t, value], [true, false])
            }
            false => {
                let of = if roles.contains(&Role::Global) {
                    if random.once_in(2) { memory(draft)? } else { view(draft, random)? }
                } else {
                    draft.constant(ScalarType::Int(64, Sign::None), Number::Int(64))
                };
                let to = match random.once_in(2) {
                    true => Type::Ptr(Elem::F32, None),
                    false => Type::Scalar(ScalarType::Int(64, Sign::None)),
                };
                let value = result(draft, to);
                let text = format!(
                    "{} = pto.{name} {} : {} -> {}",
                    shown(draft, value),
                    shown(draft, of),
                    typed(draft, of),
                    typed(draft, value)
                );
                draft.push_raw(text, vec![of, value], any)
            }
        },
        Text::AddPtr => {
            let (p, at) = (memory(draft)?, draft.index(random.range(0, 15)));
            let value = result(draft, Type::Ptr(Elem::F32, None));
            let ty = typed(draft, p);
            let text = format!(
                "{} = pto.{name} {}, {} : {ty} -> {ty}",
                shown(draft, value),
                shown(draft, p),
                shown(draft, at)
            );
            draft.push_raw(text, vec![p, at, value], any)
        }
        Text::Subset => {
            let t = draft.input(random, &Type::Tile(tile), Role::Src)?;
            let (r, c) = (draft.index(8 * random.range(0, 1)), draft.index(8 * random.range(0, 2)));
            let window = result(draft, Type::Tile(TileType::new(Loc::Vec, Elem::F32, 8, 16)));
            let text = format!(
                "{} = pto.{name} {}[{}, {}] sizes [8, 16] : {} -> {}",
                shown(draft, window),
                shown(draft, t),
                shown(draft, r),
                shown(draft, c),
                typed(draft, t),
                typed(draft, window)
            );
            draft.push_raw(text, vec![t, r, c, window], [true, false])
        }
        Text::Partition => {
            let view = view(draft, random)?;
            let [r, c, h, w] = [8 * random.range(0, 1), 8 * random.range(0, 2), 8, 16].map(|n| draft.index(n));
            let ty = tessera_ir::ViewType {
                partition: true,
                dims: [Some(8), Some(16)].into_iter().collect(),
                elem: Elem::F32,
            };
            let part = result(draft, Type::View(ty));
            let text = format!(
                "{} = pto.{name} {}, offsets = [{}, {}], sizes = [{}, {}] : {} -> {}",
                shown(draft, part),
                shown(draft, view),
                shown(draft, r),
                shown(draft, c),
                shown(draft, h),
                shown(draft, w),
                typed(draft, view),
                typed(draft, part)
            );
            draft.push_raw(text, vec![view, r, c, h, w, part], any)
        }
        Text::Assign => {
            let t = draft.value("t", Type::Tile(tile), Origin::Tile([None; 2]));
            let addr = draft.constant(ScalarType::Int(64, Sign::None), Number::Int((64 * random.range(0, 64)).into()));
            let text = format!("pto.{name} {}, {} : {}, i64", shown(draft, t), shown(draft, addr), typed(draft, t));
            draft.push_raw(text, vec![t, addr], [true, false])
        }
        Text::SetValid => {
            let n = draft.index(16);
            let open = tile.with_valid(Extent::Dynamic, Extent::Dynamic);
            let t = draft.value("t", Type::Tile(open), Origin::Tile([Some(n); 2]));
            let [r, c] = [random.range(1, 16), random.range(1, 32)].map(|n| draft.index(n));
            let text = format!(
                "pto.{name} {}, {}, {} : {}",
                shown(draft, t),
                shown(draft, r),
                shown(draft, c),
                typed(draft, t)
            );
            draft.push_raw(text, vec![t, n, r, c], [true, false])
        }
        Text::Extents(axes) => {
            let t = draft.input(random, &Type::Tile(tile), Role::Src)?;
            let results: Vec<ValueId> = axes.iter().map(|_| result(draft, Type::Scalar(ScalarType::Index))).collect();
            let names: Vec<String> = results.iter().map(|v| shown(draft, *v)).collect();
            let types = if results.len() > 1 { "(index, index)" } else { "index" };
            let text =
                format!("{} = pto.{name} {} : {} -> {types}", names.join(", "), shown(draft, t), typed(draft, t));
            draft.push_raw(text, results.into_iter().chain([t]).collect(), [true, false])
        }
        Text::Slot => {
            let (count, at) = (random.range(2, 4), draft.index(random.range(0, 1)));
            let many = format!("!pto.multi_tile_buf<vec, 16x32xf32, count={count}>");
            let all =
                draft.value("m", Type::Tile(tile), Origin::Line(format!("pto.alloc_multi_tile : {many}"), Vec::new()));
            let one = result(draft, Type::Tile(tile));
            let text = format!(
                "{} = pto.{name} {}[{}] : {many} -> {}",
                shown(draft, one),
                shown(draft, all),
                shown(draft, at),
                typed(draft, one)
            );
            draft.push_raw(text, vec![all, at, one], [true, false])
        }
        _ => return None,
    })
}

fn view(draft: &mut Draft, random: &mut Random) -> Option<ValueId> {
    draft.memory(random, (Elem::F32, [16, 32], tessera_isa::inst::ViewTag::Nd), true)
}
