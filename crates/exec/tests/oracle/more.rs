//! Random instructions other than windows.

use super::cases::{Case, Layout, any_tile, common, elems, layouts, path, tile, valid, value, with_valid};
use tessera_isa::codec::Number;
use tessera_isa::elem::Elem;
use tessera_isa::inst::{ConvType, Inst, ScalarArg};
use tessera_isa::ops::{AttrName, Form, Opcode, Role};
use tessera_isa::profile::Profile;
use tessera_isa::tile::{BLayout, Loc, Pad, PadLiteral, SLayout};
use tessera_testkit::random::Random;

const ND: Layout = (BLayout::RowMajor, SLayout::NoneBox, 512);

pub fn plain(inst: Inst) -> Option<Case> {
    Some(Case { inst, shared: None, buffer: 0 })
}

pub fn transpose(random: &mut Random, profile: Profile, form: Form) -> Option<Case> {
    let path = path(random, profile, Opcode::Ttrans, form)?;
    let (src_loc, dst_loc) = (random.pick(path.locs_of(Role::Src)), random.pick(path.locs_of(Role::Dst)));
    let pair = random.pick(path.layouts);
    let (from, to) = layouts(random, pair, src_loc, dst_loc, profile);
    let (a, mut b) = elems(random, path.types, profile)?;
    if a.bits() != b.bits() {
        b = a;
    }
    let src = any_tile(random, src_loc, a, from, profile);
    let (rows, cols) = common(random, (b, to), (b, to));
    let dst = tile(
        dst_loc,
        b,
        rows.max(src.cols.next_multiple_of(rows)),
        cols.max(src.rows.next_multiple_of(cols)),
        to,
        profile,
    );
    let v = valid(random, &src);
    let mut inst = Inst::new(Opcode::Ttrans, form, profile);
    inst.tiles.push(with_valid(src, v, Role::Src));
    if form == Form::Tmp {
        inst.tiles.push(with_valid(src, [src.rows, src.cols], Role::Tmp));
    }
    let free = if profile == Profile::A5 { valid(random, &dst) } else { [v[1], v[0]] };
    inst.tiles.push(with_valid(dst, free, Role::Dst));
    plain(inst)
}

pub fn join(random: &mut Random, profile: Profile, form: Form) -> Option<Case> {
    let path = path(random, profile, Opcode::Tconcat, form)?;
    let loc = random.pick(path.locs_of(Role::Src));
    let pair = random.pick(path.layouts);
    let (from, to) = layouts(random, pair, loc, loc, profile);
    let (elem, _) = elems(random, path.types, profile)?;
    let mut s0 = any_tile(random, loc, elem, from, profile);
    let mut s1 = any_tile(random, loc, elem, from, profile);
    s1.rows = s0.rows;
    (s0.compact, s1.compact) = (tessera_isa::tile::Compact::Null, tessera_isa::tile::Compact::Null);
    let (mut v0, mut v1) = (valid(random, &s0), valid(random, &s1));
    let mut inst = Inst::new(Opcode::Tconcat, form, profile);
    let by_rows = form == Form::Plain && profile == Profile::Cpu && random.once_in(2);
    let whole = if by_rows {
        inst.attrs.set(AttrName::Dim, Some(0));
        v1[1] = v0[1].min(v1[1]);
        v0[1] = v1[1];
        [v0[0] + v1[0], v0[1]]
    } else {
        v1[0] = v0[0];
        [v0[0], v0[1] + v1[1]]
    };
    let (ru, cu) = common(random, (elem, to), (elem, to));
    let rows = whole[0].max(1).next_multiple_of(ru);
    let cols = whole[1].max(1).next_multiple_of(cu);
    let dst = tile(loc, elem, rows, cols, to, profile);
    let mut dst_valid = whole;
    if form != Form::Plain {
        dst_valid[1] = random.range(0, cols);
    }
    inst.tiles.push(with_valid(s0, v0, Role::Src0));
    inst.tiles.push(with_valid(s1, v1, Role::Src1));
    if form != Form::Plain {
        let index = random.pick(&[Elem::I8, Elem::U8, Elem::I16, Elem::U16, Elem::I32, Elem::U32]);
        let idx_loc = if profile == Profile::Cpu { loc } else { Loc::Vec };
        for role in [Role::Idx0, Role::Idx1] {
            let t = tile(idx_loc, index, rows + random.below(3), index.c0(), ND, profile);
            inst.tiles.push(with_valid(t, [dst_valid[0].max(1).min(t.rows), 1], role));
        }
        inst.tiles.push(with_valid(dst, dst_valid, Role::Dst));
        if form == Form::IndexedOut {
            let t = tile(idx_loc, index, rows, index.c0(), ND, profile);
            inst.tiles.push(with_valid(t, [dst_valid[0], 1], Role::DstIdx));
        }
    } else {
        inst.tiles.push(with_valid(dst, dst_valid, Role::Dst));
    }
    plain(inst)
}

pub fn pack(random: &mut Random, profile: Profile) -> Option<Case> {
    let pick = |random: &mut Random, bits: u32| {
        let all: Vec<Elem> = Elem::ALL
            .iter()
            .copied()
            .filter(|e| e.bits() == bits && (profile == Profile::A5 || e.info().on_cpu_and_a2a3))
            .collect();
        random.pick(&all)
    };
    let (wide, narrow) = random.pick(&[(32, 16), (32, 8), (16, 8)]);
    let (a, b) = (pick(random, wide), pick(random, narrow));
    let (rows, cols) = common(random, (a, ND), (b, ND));
    let src = tile(Loc::Vec, a, rows, cols, ND, profile);
    let dst = tile(Loc::Vec, b, rows, cols, ND, profile);
    let v = valid(random, &src);
    let mut inst = Inst::new(Opcode::Tpack, Form::Plain, profile);
    inst.tiles.push(with_valid(src, v, Role::Src));
    inst.tiles.push(with_valid(dst, v, Role::Dst));
    plain(inst)
}

pub fn fill(random: &mut Random, profile: Profile, op: Opcode, form: Form) -> Option<Case> {
    let path = path(random, profile, op, form)?;
    let loc = random.pick(path.locs_of(Role::Dst));
    let src_loc = if loc == Loc::Mat && profile != Profile::Cpu { loc } else { random.pick(path.locs_of(Role::Src)) };
    let pair = random.pick(path.layouts);
    let (from, to) = layouts(random, pair, src_loc, loc, profile);
    let (elem, _) = elems(random, path.types, profile)?;
    let in_place = op == Opcode::TfillpadInplace
        || (op == Opcode::Tfillpad && random.once_in(3))
        || (loc == Loc::Mat && profile != Profile::Cpu);
    let from = if in_place { to } else { from };
    let src_loc = if in_place { loc } else { src_loc };
    let (rows, cols) = common(random, (elem, from), (elem, to));
    let src = tile(src_loc, elem, rows, cols, from, profile);
    let mut dst = tile(loc, elem, rows, cols, to, profile);
    if op == Opcode::TfillpadExpand && !in_place {
        (dst.rows, dst.cols) = (rows * random.range(1, 2), cols * random.range(1, 2));
    }
    let custom = Pad::Custom(PadLiteral::Bits(random.next() & elem.mask()));
    dst.pad = random.pick(&[Pad::Zero, Pad::Zero, Pad::Min, Pad::Max, custom]);
    let mut inst = Inst::new(op, form, profile);
    if form == Form::Fill {
        let v = valid(random, &dst);
        inst.tiles.push(with_valid(dst, v, Role::Dst));
        let fill = if loc == Loc::Mat && profile != Profile::Cpu { Number::Int(0) } else { value(random, elem) };
        inst.scalars.push(ScalarArg::new(Role::Fill, fill));
        return plain(inst);
    }
    let v = valid(random, &src);
    inst.tiles.push(with_valid(src, v, Role::Src));
    inst.tiles.push(with_valid(dst, if random.once_in(2) { v } else { [dst.rows, dst.cols] }, Role::Dst));
    Some(Case { inst, shared: in_place.then_some((0, 1)), buffer: 0 })
}

pub fn reshape(random: &mut Random, profile: Profile) -> Option<Case> {
    let loc = random.pick(Loc::ALL);
    let boxed = random.once_in(2);
    let exists: Vec<Elem> =
        Elem::ALL.iter().copied().filter(|e| profile == Profile::A5 || e.info().on_cpu_and_a2a3).collect();
    let layout = |random: &mut Random| {
        let b = random.pick(&[BLayout::RowMajor, BLayout::ColMajor]);
        let s = if boxed { random.pick(&[SLayout::RowMajor, SLayout::ColMajor]) } else { SLayout::NoneBox };
        (b, s, 512)
    };
    let (a, b) = (random.pick(&exists), random.pick(&exists));
    let (from, to) = (layout(random), layout(random));
    let src = any_tile(random, loc, a, from, profile);
    let mut dst = any_tile(random, loc, b, to, profile);
    // As many columns as make the bytes equal.
    let row = b.bytes_of(dst.rows).max(1);
    dst.cols = (src.bytes() / row).max(1);
    let mut inst = Inst::new(Opcode::Treshape, Form::Plain, profile);
    let (v, w) = (valid(random, &src), valid(random, &dst));
    inst.tiles.push(with_valid(src, v, Role::Src));
    inst.tiles.push(with_valid(dst, w, Role::Dst));
    Some(Case { inst, shared: (profile != Profile::Cpu).then_some((0, 1)), buffer: 0 })
}

pub fn interleave(random: &mut Random, profile: Profile, op: Opcode, form: Form) -> Option<Case> {
    let path = path(random, profile, op, form)?;
    let (src_loc, dst_loc) = (random.pick(path.locs_of(Role::Src)), random.pick(path.locs_of(Role::Dst)));
    let pair = random.pick(path.layouts);
    let (from, to) = layouts(random, pair, src_loc, dst_loc, profile);
    let (elem, _) = elems(random, path.types, profile)?;
    let (rows, cols) = common(random, (elem, from), (elem, to));
    let src = tile(src_loc, elem, rows, cols, from, profile);
    let dst = tile(dst_loc, elem, rows, cols, to, profile);
    let mut v = valid(random, &src);
    v[1] = v[1] / 2 * 2;
    let mut inst = Inst::new(op, form, profile);
    inst.tiles.push(with_valid(src, v, Role::Src0));
    if form == Form::OneSource {
        v[1] /= 2;
    } else {
        inst.tiles.push(with_valid(src, v, Role::Src1));
    }
    inst.tiles.push(with_valid(dst, v, Role::Dst0));
    inst.tiles.push(with_valid(dst, v, Role::Dst1));
    plain(inst)
}

/// A conv tile of random size.
pub fn conv(random: &mut Random) -> ConvType {
    let elem = random.pick(&[Elem::I8, Elem::F16, Elem::Bf16, Elem::F32, Elem::U8, Elem::I16, Elem::U32, Elem::F8e4m3]);
    let c0 = if elem.bits() == 16 && random.once_in(4) { 4 } else { elem.c0() };
    let has_depth = random.once_in(2);
    ConvType {
        loc: Loc::Mat,
        has_depth,
        dims: [
            random.range(1, 2),
            if has_depth { random.range(1, 3) } else { 1 },
            random.range(1, 2),
            random.range(1, 6),
            random.range(1, 6),
            c0,
        ],
        elem,
    }
}

pub fn image(random: &mut Random, profile: Profile) -> Option<Case> {
    let conv = conv(random);
    let elem = conv.elem;
    let layout = Loc::Left.usual(profile);
    let dst = any_tile(random, Loc::Left, elem, layout, profile);
    let v = valid(random, &dst);
    let mut inst = Inst::new(Opcode::Timg2col, Form::Plain, profile);
    inst.conv = Some(conv);
    inst.tiles.push(tessera_isa::inst::TileArg::of_type(Role::Src, conv.as_tile()));
    inst.tiles.push(with_valid(dst, v, Role::Dst));
    let mut two = |high: u64| [random.range(1, high) as i64, random.range(1, high) as i64];
    inst.attrs.set(AttrName::Kernel, Some(two(3)));
    inst.attrs.set(AttrName::Stride, Some(two(3)));
    inst.attrs.set(AttrName::Dilation, Some(two(2)));
    inst.attrs.set(AttrName::Pad, Some([0; 4].map(|_: i64| random.below(4) as i64)));
    if random.once_in(2) {
        inst.attrs.set(AttrName::PadValue, Some(value(random, elem)));
    }
    for role in [Role::PosM, Role::PosK] {
        let high = random.pick(&[0, 3, 64]);
        let v = random.range(0, high);
        inst.scalars.push(ScalarArg::new(role, v));
    }
    plain(inst)
}
