//! Random irregular instructions (isa/irregular.md).

use super::cases::{Case, Layout, tile, valid, value, with_valid};
use tessera_isa::elem::Elem::{self, *};
use tessera_isa::inst::{AttrValue, Cmp, Inst, MaskPattern, QuantType, ScalarArg};
use tessera_isa::ops::{AttrName, Form, Opcode, Role};
use tessera_isa::profile::Profile;
use tessera_isa::tile::{BLayout, Loc, SLayout, Tile};
use tessera_testkit::random::Random;
use tessera_testkit::reference::Content;

const ND: Layout = (BLayout::RowMajor, SLayout::NoneBox, 512);
const DN: Layout = (BLayout::ColMajor, SLayout::NoneBox, 512);
const STANDARD: &[Elem] = &[I8, U8, I16, U16, I32, U32, F16, Bf16, F32];
const SIGNED_FLOAT: &[Elem] = &[I16, I32, F16, F32];
const INDEX: &[Elem] = &[I16, U16, I32, U32];
const INDEX_32: &[Elem] = &[I32, U32];

/// The generator of one instruction.
struct Maker<'a> {
    random: &'a mut Random,
    inst: Inst,
}

impl Maker<'_> {
    /// A tile that every layout takes: row by row on hardware, anyhow on cpu.
    fn any(&mut self, elem: Elem) -> Tile {
        let anyhow =
            [ND, ND, DN, (BLayout::ColMajor, SLayout::RowMajor, 512), (BLayout::RowMajor, SLayout::ColMajor, 512)];
        let layout = if self.inst.profile == Profile::Cpu { self.random.pick(&anyhow) } else { ND };
        self.of(elem, 32, 64, layout)
    }

    fn of(&self, elem: Elem, rows: u64, cols: u64, layout: Layout) -> Tile {
        tile(Loc::Vec, elem, rows, cols, layout, self.inst.profile)
    }

    fn push(&mut self, role: Role, tile: Tile, region: [u64; 2]) {
        self.inst.tiles.push(with_valid(tile, region, role));
    }

    fn whole(&mut self, role: Role, tile: Tile) {
        self.push(role, tile, [tile.rows, tile.cols]);
    }

    fn elem(&mut self, cpu: &[Elem], a2a3: &[Elem], a5: &[Elem]) -> Elem {
        self.random.pick(match self.inst.profile {
            Profile::Cpu => cpu,
            Profile::A2a3 => a2a3,
            Profile::A5 => a5,
        })
    }

    fn number(&mut self, role: Role, n: i64) {
        self.inst.scalars.push(ScalarArg::new(role, n));
    }

    fn scratch(&mut self, elem: Elem, rows: u64, cols: u64) {
        let tmp = self.of(elem, rows, cols, ND);
        self.whole(Role::Tmp, tmp);
    }

    /// One row of records, at most `most` of them.
    fn records(&mut self, role: Role, elem: Elem, most: u64) -> u64 {
        let (p, n) = (64 / u64::from(elem.bits()), self.random.below(most + 1));
        let cols = (p * n).max(1).next_multiple_of(elem.c0());
        let row = self.of(elem, 1, cols, ND);
        self.push(role, row, [1, p * n]);
        n
    }
}

pub fn irregular(random: &mut Random, profile: Profile, op: Opcode, form: Form) -> Option<Case> {
    let mut m = Maker { random, inst: Inst::new(op, form, profile) };
    let npu = profile.is_npu();
    let mut shared = None;
    match op {
        Opcode::Tci | Opcode::Ttri | Opcode::Trandom => {
            let elem = match op {
                Opcode::Tci => m.elem(&[I8, U8, I16, U16, I32, U32, I64, U64], INDEX, INDEX),
                Opcode::Ttri => m.elem(&[I8, U16, I64, F16, Bf16, F32], &[I16, U32, F16, F32], &[U8, I64, Bf16, F32]),
                _ => m.random.pick(INDEX_32),
            };
            let dst = if op == Opcode::Tci { m.of(elem, 1, 64, ND) } else { m.any(elem) };
            if form == Form::Tmp {
                m.scratch(F32, 2, 256);
            }
            let region = valid(m.random, &dst);
            m.push(Role::Dst, dst, region);
            let n = m.random.next() as i64 >> m.random.pick(&[0, 32, 57]);
            match op {
                Opcode::Trandom => {
                    for role in [Role::Key0, Role::Key1, Role::Counter0, Role::Counter1, Role::Counter2, Role::Counter3]
                    {
                        let word = if m.random.once_in(3) { u64::MAX } else { m.random.next() };
                        m.number(role, i64::from(word as u32));
                    }
                    m.inst.attrs.set(AttrName::Rounds, Some(m.random.pick(&[10i64, 7])));
                }
                _ => m.number(Role::Scalar, n),
            }
            let flag = m.random.once_in(2);
            match op {
                Opcode::Tci => m.inst.attrs.set(AttrName::Descending, Some(AttrValue::Bool(flag))),
                Opcode::Ttri => m.inst.attrs.set(AttrName::UpperOrLower, Some(i64::from(flag))),
                _ => {}
            }
        }
        Opcode::Thistogram => {
            let elem = m.random.pick(&[U16, U32]);
            let (src, idx) = (m.any(elem), m.any(U8));
            let region = valid(m.random, &src);
            m.push(Role::Src, src, region);
            m.whole(Role::Idx, idx);
            let dst = m.of(U32, 32, 256, ND);
            m.push(Role::Dst, dst, [region[0], 256]);
            let byte = m.random.below(u64::from(elem.bits()) / 8);
            m.inst.attrs.set(AttrName::Byte, Some(byte as i64));
        }
        Opcode::Tgather if form == Form::Compare => {
            let elem = m.elem(STANDARD, &[F16, F32, I32], &[I16, U16, I32, U32, F16, F32]);
            let to = m.random.pick(INDEX_32);
            let src = m.any(elem);
            let region = valid(m.random, &src);
            m.push(Role::Src, src, region);
            if m.random.once_in(2) {
                m.scratch(F16, 2, 16);
            }
            let dst = m.any(to);
            let room = if m.random.once_in(4) { m.random.range(0, 8) } else { 64 };
            m.push(Role::Dst, dst, [region[0], room]);
            let (counts, of) = match m.random.once_in(2) {
                true => (m.of(to, 1, 32, ND), [1, 32]),
                false => (m.of(to, 32, 1, DN), [32, 1]),
            };
            m.push(Role::Cdst, counts, of);
            let wanted = if m.random.once_in(2) { value(m.random, elem) } else { elem.decode(0) };
            m.inst.scalars.push(ScalarArg::new(Role::Scalar, wanted));
            m.inst.attrs.set(AttrName::CmpMode, Some(m.random.pick(&[Cmp::Eq, Cmp::Gt])));
            m.inst.attrs.set(AttrName::Offset, Some(m.random.next() as i64 >> m.random.pick(&[32, 60])));
        }
        Opcode::Tgather if form == Form::Mask => {
            let elem = m.elem(STANDARD, &[I16, U16, F32], &[I8, I64, F8e4m3, F16]);
            let pattern = m.random.pick(MaskPattern::ALL);
            let (factor, first) = pattern.period();
            let src = m.any(elem);
            let cols = m.random.pick(&[64, 64, 33, 5]);
            let rows = m.random.range(1, 32);
            m.push(Role::Src, src, [rows, cols]);
            let kept = (cols - first).div_ceil(factor);
            let dst = m.of(elem, 32, kept, if kept.is_multiple_of(elem.c0()) || npu { ND } else { DN });
            let rows = m.random.range(rows, 32);
            m.push(Role::Dst, dst, [rows, kept]);
            m.inst.attrs.set(AttrName::MaskPattern, Some(pattern));
        }
        Opcode::Tgatherb => {
            let (elem, index) = (m.random.pick(STANDARD), m.random.pick(INDEX_32));
            // Bytes of any type.
            let of = m.elem(&[I8, F16, F32, U64], &[U8, Bf16, I32], &[F8e4m3, F4e2m1x2, F16, I64]);
            let (src, idx) = (if of.is_fp4() { m.of(of, 32, 64, ND) } else { m.any(of) }, m.any(index));
            m.whole(Role::Src, src);
            m.whole(Role::Idx, idx);
            let dst = m.of(elem, 32, 64, ND);
            let cols = m.random.below(64 / elem.c0() + 1) * elem.c0();
            let rows = m.random.below(33);
            m.push(Role::Dst, dst, [rows, cols]);
        }
        Opcode::Tscatter => {
            let elem = m.elem(STANDARD, STANDARD, &[I8, U16, F32, I64, Bf16]);
            let index = match elem.bits() {
                32 if npu => m.random.pick(INDEX_32),
                8 | 16 if npu => m.random.pick(&[I16, U16]),
                _ => m.random.pick(INDEX),
            };
            let (src, idx, dst) = (m.any(elem), m.any(index), m.any(elem));
            let region = valid(m.random, &src);
            m.push(Role::Src, src, region);
            m.push(Role::Idx, idx, region);
            let seen = valid(m.random, &dst);
            m.push(Role::Dst, dst, seen);
        }
        Opcode::Tsort32 => {
            let elem = m.random.pick(&[F16, F32]);
            let p = 64 / u64::from(elem.bits());
            let (src, idx) = (m.of(elem, 4, 96, ND), m.of(U32, 4, 96, ND));
            let [rows, cols] = valid(m.random, &src);
            m.push(Role::Src, src, [rows, cols]);
            let of = if m.random.once_in(3) { 1 } else { rows };
            m.push(Role::Idx, idx, [of, cols]);
            if !cols.is_multiple_of(32) || m.random.once_in(2) {
                m.scratch(elem, 1, 96);
            }
            let wide = if m.random.once_in(3) { 96 } else { 80 };
            let dst = m.of(elem, 4, p * wide, ND);
            m.push(Role::Dst, dst, [rows, p * wide]);
        }
        Opcode::Tmrgsort if form == Form::Blocks => {
            let elem = m.random.pick(&[F16, F32]);
            let p = 64 / u64::from(elem.bits());
            let length = if npu { 64 * m.random.range(1, 2) } else { p * m.random.range(1, 20) };
            let cols = 4 * length * m.random.range(1, 3) + if npu { 0 } else { p * m.random.below(3) };
            let (src, dst) = {
                let wide = cols.next_multiple_of(16);
                (m.of(elem, 1, wide, ND), m.of(elem, 1, wide, ND))
            };
            m.push(Role::Src, src, [1, cols]);
            m.push(Role::Dst, dst, [1, cols]);
            m.number(Role::Scalar, length as i64);
        }
        Opcode::Tmrgsort => {
            let elem = m.random.pick(&[F16, F32]);
            let lists = m.random.range(2, 4) as usize;
            for role in [Role::Src0, Role::Src1, Role::Src2, Role::Src3].into_iter().take(lists) {
                m.records(role, elem, 20);
            }
            if form == Form::ListsTmpOut || m.random.once_in(2) {
                m.scratch(elem, 1, 512);
            }
            m.records(Role::Dst, elem, 90);
            let counts = m.of(U16, 1, 16, ND);
            m.push(Role::Executed, counts, [1, 4]);
            m.inst.attrs.set(AttrName::Exhausted, Some(AttrValue::Bool(m.random.once_in(2))));
        }
        Opcode::Tpartadd | Opcode::Tpartmul | Opcode::Tpartmax | Opcode::Tpartmin => {
            let elem = m.elem(&[I8, U16, I64, F16, Bf16, F32], SIGNED_FLOAT, &[U8, I16, U32, Bf16, F32]);
            let (a, b, dst) = (m.any(elem), m.any(elem), m.any(elem));
            let (x, y) = (valid(m.random, &a), valid(m.random, &b));
            let whole = if m.random.once_in(2) { [32, 64] } else { [x[0].max(y[0]), x[1].max(y[1])] };
            let (x, y) = match m.random.below(4) {
                0 => (whole, y),
                1 => (x, whole),
                _ => (x, y),
            };
            m.push(Role::Src0, a, x);
            m.push(Role::Src1, b, y);
            let dst = if m.random.once_in(3) { a } else { dst };
            m.push(Role::Dst, dst, whole);
            let same = |i: &Inst, n: usize| i.tiles[n].tile.layout() == i.tiles[2].tile.layout();
            shared = m.random.once_in(2).then_some((0, 2)).filter(|_| same(&m.inst, 0));
        }
        Opcode::Tpartargmax | Opcode::Tpartargmin => {
            let elem = m.random.pick(STANDARD);
            let index =
                if elem == F32 && profile == Profile::A2a3 { m.random.pick(INDEX_32) } else { m.random.pick(INDEX) };
            let tiles = [elem, elem, index, index, elem, index].map(|e| m.any(e));
            let (x, y) = (valid(m.random, &tiles[0]), [32, 64]);
            let (x, y) = if m.random.once_in(2) { (y, x) } else { (x, y) };
            let roles = [Role::Src0, Role::Src1, Role::Src0Idx, Role::Src1Idx, Role::Dst, Role::DstIdx];
            for ((role, tile), region) in roles.into_iter().zip(tiles).zip([x, y, x, y, [32, 64], [32, 64]]) {
                m.push(role, tile, region);
            }
            let same = |i: &Inst| i.tiles[0].tile.layout() == i.tiles[4].tile.layout();
            shared = m.random.once_in(2).then_some((0, 4)).filter(|_| same(&m.inst));
        }
        Opcode::TquantMx => {
            let is_fp4 = m.random.once_in(2);
            let from = if is_fp4 { m.random.pick(&[F16, Bf16]) } else { m.random.pick(&[F32, F16, Bf16]) };
            let (by_rows, nv) = (m.random.once_in(2), m.random.once_in(2));
            let interleave = by_rows && m.random.once_in(3);
            let (to, code) = (if is_fp4 { F4e2m1x2 } else { m.random.pick(&[I8, U8]) }, m.random.pick(&[I8, U8]));
            let groups =
                if by_rows { [m.random.range(1, 2), 64] } else { [m.random.range(1, 33), m.random.range(1, 4)] };
            let region = if by_rows { [32 * groups[0], 64] } else { [groups[0], 32 * groups[1]] };
            let pad = if m.random.once_in(4) { 64 } else { 0 };
            let src = m.of(from, region[0], region[1] + if by_rows { 0 } else { pad }, ND);
            m.push(Role::Src, src, region);
            let dst = m.of(to, region[0], src.cols, ND);
            m.push(Role::Dst, dst, region);
            let flat = !by_rows && (from != F32 || m.random.once_in(2));
            let all = groups[0] * groups[1];
            let places = if flat { [1, all] } else { groups };
            let exp = if interleave { [groups[0] / 2, 2 * groups[1]] } else { places };
            let wide = |n: u64| n.next_multiple_of(32);
            let e = m.of(code, exp[0].max(1), wide(exp[1]), ND);
            m.push(Role::Exp, e, exp);
            for role in [Role::Max, Role::Scaling] {
                let cols = if flat {
                    (2 * all).next_multiple_of(128)
                } else if by_rows {
                    64
                } else {
                    places[1].next_multiple_of(32 / from.size().unwrap())
                };
                let tile = m.of(from, places[0], cols, ND);
                m.push(role, tile, places);
            }
            m.inst.attrs.set(AttrName::QuantType, Some(if is_fp4 { QuantType::MxFp4 } else { QuantType::MxFp8 }));
            let alg = if nv { tessera_isa::inst::QuantScaleAlg::Nv } else { tessera_isa::inst::QuantScaleAlg::Ocp };
            m.inst.attrs.set(AttrName::QuantScaleAlg, Some(alg));
            if by_rows {
                m.inst.attrs.set(AttrName::GrpAxis, Some(tessera_isa::inst::GroupAxis::Axis0));
            } else if groups[1] % 2 == 0 && m.random.once_in(2) {
                m.inst.attrs.set(AttrName::StoreMode, Some(tessera_isa::inst::StoreMode::Nz));
                let zz = m.of(code, 4, 96, ND);
                m.whole(Role::ExpZz, zz);
            }
            if interleave {
                m.inst.attrs.set(AttrName::Interleave, Some(AttrValue::Bool(true)));
            }
        }
        Opcode::TmovZz => {
            let elem = m.random.pick(&[U8, Hif8, F8e8m0]);
            let zz = (BLayout::RowMajor, SLayout::RowMajor, 32);
            if m.random.once_in(2) {
                let (rows, cols) = (2 * m.random.range(1, 5), 16 * m.random.range(1, 4));
                let src = m.of(elem, rows, cols.next_multiple_of(32), ND);
                m.push(Role::Src, src, [rows, cols]);
                m.scratch(elem, 1, 32);
                let dst = m.of(elem, 16 * rows.div_ceil(16), cols, zz);
                m.push(Role::Dst, dst, [rows, cols]);
                m.inst.attrs.set(AttrName::GrpAxis, Some(tessera_isa::inst::GroupAxis::Axis0));
            } else {
                let (rows, cols) = (m.random.range(1, 40), 2 * m.random.range(1, 4));
                let whole = rows.next_multiple_of(16) * cols;
                let src = m.of(elem, 1, whole.next_multiple_of(32), ND);
                m.push(Role::Src, src, [1, rows * cols]);
                m.scratch(elem, 1, (64 + whole / 16).next_multiple_of(32));
                let dst = m.of(elem, rows.next_multiple_of(16), cols, zz);
                m.push(Role::Dst, dst, [rows, cols]);
            }
        }
        Opcode::Tquant => {
            let how = m.random.pick(&[QuantType::Int8Sym, QuantType::Int8Asym]);
            let to = if how == QuantType::Int8Sym { I8 } else { U8 };
            let (src, dst) = (m.any(F32), m.any(to));
            let region = valid(m.random, &dst);
            m.push(Role::Src, src, region);
            let (param, cols) = match m.random.below(3) {
                0 => (m.of(F32, 32, 1, DN), 1),
                1 => (m.of(F32, 32, 8, ND), 8),
                _ if npu => (m.of(F32, 32, 8, ND), 8),
                _ => (m.any(F32), region[1]),
            };
            m.push(Role::Fp, param, [region[0], cols]);
            if how == QuantType::Int8Asym {
                m.push(Role::Offset, param, [region[0], cols]);
            }
            m.push(Role::Dst, dst, region);
            if m.random.once_in(2) && src.layout_name() == tessera_isa::tile::LayoutName::Nd {
                m.push(Role::Tmp, src, region);
            }
            m.inst.attrs.set(AttrName::QuantType, Some(how));
        }
        Opcode::Tdequant => {
            let elem = m.random.pick(&[I8, I16]);
            let (src, dst) = (m.any(elem), m.any(F32));
            let region = valid(m.random, &dst);
            m.push(Role::Src, src, region);
            for role in [Role::Scale, Role::Offset] {
                let (param, cols) =
                    if m.random.once_in(2) { (m.of(F32, 32, 1, DN), 1) } else { (m.of(F32, 32, 8, ND), 8) };
                m.push(role, param, [32, cols]);
            }
            m.push(Role::Dst, dst, region);
        }
        Opcode::Tsetval => {
            let elem = m.random.pick(&[I8, U16, I32, U64, F16, Bf16, F32]);
            let dst = m.any(elem);
            let region = valid(m.random, &dst);
            m.push(Role::Dst, dst, region);
            let at = m.random.below(32 * 64) as i64;
            m.number(Role::Index, at);
            let v = value(m.random, elem);
            m.inst.scalars.push(ScalarArg::new(Role::Scalar, v));
        }
        _ => return None,
    }
    Some(Case { inst: m.inst, shared, buffer: 0 })
}

/// Makes what decides mostly defined, and indices mostly such that there are elements.
pub fn settle(random: &mut Random, inst: &Inst, role: Role, content: &mut Content) {
    let rarely = random.once_in(12);
    let decides = match inst.op {
        Opcode::Thistogram | Opcode::Tgatherb | Opcode::Tscatter => role == Role::Idx,
        Opcode::Tgather if inst.form == Form::Compare => role == Role::Src,
        Opcode::Tsort32 => role == Role::Src,
        Opcode::Tmrgsort => !role.is_dst(),
        Opcode::TquantMx => role == Role::Src,
        _ => false,
    };
    if decides && !rarely {
        content.defined.fill(0xFF);
    }
    let Some(arg) = inst.tile(role).filter(|_| role == Role::Idx) else { return };
    let most = match inst.op {
        Opcode::Tgatherb => inst.tile(Role::Src).map_or(0, |t| t.tile.bytes() / 32),
        Opcode::Tscatter => inst.tile(Role::Dst).map_or(0, |t| t.tile.rows * t.tile.cols),
        _ => return,
    };
    let size = arg.tile.elem.bytes_of(1) as usize;
    for chunk in content.bytes.chunks_exact_mut(size) {
        let mut index = random.below(most) + if rarely && random.once_in(50) { most } else { 0 };
        if inst.op == Opcode::Tgatherb {
            index *= 32;
            if rarely || inst.profile == Profile::Cpu && random.once_in(2) {
                index = index.saturating_sub(random.below(32));
            }
        }
        chunk.copy_from_slice(&index.to_le_bytes()[..size]);
    }
}
