//! Random instructions between global memory and tiles.

use super::cases::{Case, Layout, any_tile, elems, layouts, parameter, path, tile, valid, value, with_valid};
use super::more::conv;
use tessera_isa::elem::Elem;
use tessera_isa::inst::{
    AtomicType, AttrValue, Coalesce, GatherOob, GlobalArg, Inst, PadMode, Relu, ScalarArg, ScatterAtomic, ScatterOob,
    ViewTag,
};
use tessera_isa::ops::{AttrName, Form, Opcode, Role, TypeOf, Types};
use tessera_isa::profile::Profile;
use tessera_isa::tile::{BLayout, LayoutName, Loc, Pad, SLayout};
use tessera_testkit::random::Random;

const ND: Layout = (BLayout::RowMajor, SLayout::NoneBox, 512);

/// A conv tile from a pointer, or from a view of its dimensions.
fn load_image(random: &mut Random, profile: Profile) -> Option<Case> {
    let conv = conv(random);
    let mut inst = Inst::new(Opcode::Tload, Form::Plain, profile);
    inst.conv = Some(conv);
    inst.tiles.push(tessera_isa::inst::TileArg::of_type(Role::Dst, conv.as_tile()));
    let dims: Vec<u64> = if random.once_in(2) { conv.written_dims().to_vec() } else { Vec::new() };
    let (strides, size) = strides(random, &dims, false);
    let offset = random.below(9) as i64;
    let buffer = (size as u64).max(conv.elements()) + offset as u64;
    inst.global = Some(GlobalArg {
        elem: conv.elem,
        tag: ViewTag::Nd,
        dims: dims.into_iter().map(Some).collect(),
        strides: strides.into_iter().map(Some).collect(),
        offset: Some(offset),
        buffer: Some(buffer),
    });
    Some(Case { inst, shared: None, buffer })
}

/// Strides with gaps, and how many elements they span.
fn strides(random: &mut Random, dims: &[u64], even: bool) -> (Vec<i64>, i64) {
    let mut strides = vec![1i64; dims.len()];
    let mut next = 1i64;
    for (stride, dim) in strides.iter_mut().zip(dims).rev() {
        *stride = next;
        let gap = if even { 2 * random.below(3) } else { random.below(5) };
        next = next * (*dim as i64).max(1) + gap as i64;
    }
    (strides, next)
}

/// TLOAD, TPREFETCH, TSTORE or TSTORE_FP of random size.
pub fn transfer(random: &mut Random, profile: Profile, op: Opcode, form: Form) -> Option<Case> {
    if op == Opcode::Tload && random.once_in(5) {
        return load_image(random, profile);
    }
    let path = path(random, profile, op, form)?;
    let load = matches!(op, Opcode::Tload | Opcode::Tprefetch);
    let loc = random.pick(if load { path.locs_of(Role::Dst) } else { path.locs_of(Role::Src) });
    let pair = random.pick(path.layouts);
    let (view_side, tile_side) = if load { (0, 1) } else { (1, 0) };
    let (a, b) = layouts(random, pair, Loc::Vec, loc, profile);
    let (c, d) = layouts(random, pair, loc, Loc::Vec, profile);
    let both = if load { [a, b] } else { [c, d] };
    let tag = match LayoutName::of(both[view_side].0, both[view_side].1) {
        LayoutName::Dn => ViewTag::Dn,
        LayoutName::Nz => ViewTag::Nz,
        _ => ViewTag::Nd,
    };
    let (from, to) = elems(random, path.types, profile)?;
    let (elem, view_elem) = if load { (to, from) } else { (from, to) };
    let mut t = any_tile(random, loc, elem, both[tile_side], profile);
    let mut v = valid(random, &t);
    if load {
        t.pad = random.pick(&[Pad::Null, Pad::Zero, Pad::Max]);
    }
    let fp4 = elem.is_fp4();
    // Extents whose rows and columns are the valid region.
    let dims: Vec<u64> = match tag {
        ViewTag::Nz => {
            v = [v[0] / 2 * 2, v[1] / 4 * 4];
            vec![1, v[1] / 4, v[0] / 2, 2, 4]
        }
        ViewTag::Dn => match random.below(2) {
            0 => vec![v[0], v[1]],
            _ => {
                v[1] = v[1] / 2 * 2;
                vec![v[1] / 2, v[0], 2]
            }
        },
        ViewTag::Nd => match random.below(3) {
            0 if v[0] == 1 => vec![v[1]],
            1 => {
                v[0] = v[0] / 2 * 2;
                vec![1, v[0] / 2, 2, v[1]]
            }
            _ => vec![v[0], v[1]],
        },
    };
    let (strides, next) = strides(random, &dims, fp4);
    let offset = if fp4 { 2 * random.below(5) as i64 } else { random.below(9) as i64 };
    let buffer = (next + offset + 2) as u64;
    let mut inst = Inst::new(op, form, profile);
    inst.global = Some(GlobalArg {
        elem: view_elem,
        tag,
        dims: dims.into_iter().map(Some).collect(),
        strides: strides.into_iter().map(Some).collect(),
        offset: Some(offset),
        buffer: Some(buffer),
    });
    if load && !fp4 && random.once_in(3) {
        // A larger view.
        v = v.map(|n| random.range(0, n));
    }
    inst.tiles.push(with_valid(t, v, if load { Role::Dst } else { Role::Src }));
    if form == Form::VectorQuant {
        let n = t.cols.div_ceil(16) * 16;
        inst.tiles.push(with_valid(tile(Loc::Scaling, Elem::U64, 1, n, ND, profile), [1, n], Role::Fp));
    }
    match form {
        Form::ScalarQuant => inst.scalars.push(ScalarArg::new(Role::Quant, parameter(random, view_elem) as i64)),
        Form::Window => inst.scalars.extend([Role::Row, Role::Col].map(|role| ScalarArg::new(role, 0u64))),
        _ if op == Opcode::Tload && random.once_in(3) => {
            inst.scalars.push(ScalarArg::new(Role::Fill, value(random, elem)));
            inst.attrs.set(AttrName::PadMode, Some(PadMode::PadValue));
        }
        _ => {}
    }
    if !load && loc == Loc::Acc && random.once_in(2) {
        inst.attrs.set(AttrName::ReluPreMode, Some(Relu::NormalRelu));
    }
    if !load && random.once_in(3) {
        inst.attrs.set(AttrName::AtomicType, Some(AtomicType::Add));
    }
    Some(Case { inst, shared: None, buffer })
}

/// MGATHER or MSCATTER of random size.
pub fn table(random: &mut Random, profile: Profile, op: Opcode, form: Form) -> Option<Case> {
    let gather = op == Opcode::Mgather;
    let role = if gather { Role::Dst } else { Role::Src };
    let path = path(random, profile, op, form)?;
    let Types::ByRole([(_, TypeOf::One(list)), ..]) = path.types else { return None };
    let elem = random.pick(list);
    let loc = random.pick(path.locs_of(role));
    let lays: &[Layout] = match profile {
        Profile::A5 => &[ND, (BLayout::ColMajor, SLayout::NoneBox, 512)],
        Profile::A2a3 => &[ND],
        Profile::Cpu => &[ND, (BLayout::ColMajor, SLayout::NoneBox, 512), (BLayout::ColMajor, SLayout::RowMajor, 512)],
    };
    let lay = random.pick(lays);
    let data = any_tile(random, loc, elem, lay, profile);
    let v = valid(random, &data);
    let by_row = random.once_in(2);
    let idx_loc = random.pick(path.locs_of(Role::Idx));
    let idx_valid = match by_row {
        true if random.once_in(2) => [v[0].max(1), 1],
        true => [1, v[0].max(1)],
        false => v,
    };
    let columns = idx_valid[1].div_ceil(8).max(1) * 8;
    let idx = tile(idx_loc, random.pick(&[Elem::I32, Elem::U32]), idx_valid[0].max(1), columns, ND, profile);
    let (height, width) = (random.range(1, 20), if by_row { v[1].max(1) } else { random.range(1, 20) });
    let gap = if profile == Profile::Cpu { random.below(3) } else { 0 };
    let offset = random.below(5) as i64;
    let mut inst = Inst::new(op, form, profile);
    let buffer = height * (width + gap) + 8;
    inst.global = Some(GlobalArg {
        elem,
        tag: ViewTag::Nd,
        dims: [Some(height), Some(width)].into_iter().collect(),
        strides: [Some((width + gap) as i64), Some(1)].into_iter().collect(),
        offset: Some(offset),
        buffer: Some(buffer),
    });
    let arg = with_valid(data, v, role);
    let idx = with_valid(idx, idx_valid, Role::Idx);
    inst.tiles.extend(if gather { [idx, arg] } else { [arg, idx] });
    if gather {
        inst.attrs.set(AttrName::GatherOob, Some(random.pick(GatherOob::ALL)));
    } else {
        inst.attrs.set(AttrName::ScatterOob, Some(random.pick(ScatterOob::ALL)));
        inst.attrs.set(AttrName::ScatterAtomicOp, Some(random.pick(ScatterAtomic::ALL)));
    }
    if random.once_in(2) {
        let word = if by_row { Coalesce::Row } else { Coalesce::Elem };
        inst.attrs.set(AttrName::Coalesce, Some(AttrValue::from(word)));
    }
    Some(Case { inst, shared: None, buffer })
}
