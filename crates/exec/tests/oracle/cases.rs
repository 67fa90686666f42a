//! Random instructions, guided by the legality tables so that many of them are legal.

use super::{compute, global, irregular, more, vector};
use tessera_isa::codec::Number;
use tessera_isa::elem::Elem;
use tessera_isa::inst::{AccToVec, Inst, Relu, ScalarArg, Split, TileArg};
use tessera_isa::ops::{AttrName, Family, Form, Lay, Layouts, Opcode, Role, Sig, Types};
use tessera_isa::profile::Profile;
use tessera_isa::tile::{BLayout, Compact, Extent, LayoutName, Loc, Pad, PadLiteral, SLayout, Tile, TileType};
use tessera_testkit::random::Random;

/// An instruction and how its tiles share storage.
pub struct Case {
    pub inst: Inst,
    /// Two operands that are one storage.
    pub shared: Option<(usize, usize)>,
    /// Elements of the buffer of a load or store.
    pub buffer: u64,
}

/// The traits that many cases should have.
pub const TRAITS: &[&str] = &[
    "core 1",
    "rows halved",
    "columns halved",
    "split",
    "relu",
    "fp4",
    "empty window",
    "partial region",
    "one storage",
    "conversion",
    "conv load",
    "odd rows",
];

impl Case {
    /// The traits that it has.
    pub fn traits(&self) -> Vec<&'static str> {
        let inst = &self.inst;
        let elems = || inst.tiles.iter().map(|t| t.tile.elem);
        let mut all = Vec::new();
        let mut add = |name, is: bool| {
            if is {
                all.push(name);
            }
        };
        add("core 1", inst.attrs.acc_to_vec() == Some(AccToVec::SingleModeVec1));
        add("rows halved", inst.attrs.acc_to_vec() == Some(AccToVec::DualModeSplitM));
        add("columns halved", inst.attrs.acc_to_vec() == Some(AccToVec::DualModeSplitN));
        add("split", inst.attrs.split().is_some());
        add("relu", inst.relu());
        add("fp4", elems().any(Elem::is_fp4));
        add("empty window", inst.tiles.iter().any(|t| t.valid.contains(&Some(0))));
        add("partial region", inst.tiles.iter().any(|t| t.valid != [Some(t.tile.rows), Some(t.tile.cols)]));
        add("one storage", self.shared.is_some());
        let first = elems().next();
        add("conversion", inst.op == Opcode::Tmov && elems().any(|e| Some(e) != first));
        add("conv load", inst.op == Opcode::Tload && inst.conv.is_some());
        add("odd rows", inst.tiles.iter().any(|t| t.tile.is_boxed() && t.tile.rows % 16 == 1 && t.tile.rows > 1));
        all
    }
}

pub type Layout = (BLayout, SLayout, u32);

pub fn case(random: &mut Random, profile: Profile, op: Opcode, form: Form) -> Option<Case> {
    let mut case = match op {
        Opcode::Tmov | Opcode::TmovFp | Opcode::Textract | Opcode::TextractFp | Opcode::Tinsert | Opcode::TinsertFp => {
            window(random, profile, op, form)?
        }
        Opcode::Ttrans => more::transpose(random, profile, form)?,
        Opcode::Tconcat => more::join(random, profile, form)?,
        Opcode::Tpack => more::pack(random, profile)?,
        Opcode::Tfillpad | Opcode::TfillpadInplace | Opcode::TfillpadExpand => more::fill(random, profile, op, form)?,
        Opcode::Treshape => more::reshape(random, profile)?,
        Opcode::Tinterleave | Opcode::Tdeinterleave => more::interleave(random, profile, op, form)?,
        Opcode::Timg2col => more::image(random, profile)?,
        Opcode::Mgather | Opcode::Mscatter => global::table(random, profile, op, form)?,
        _ if op.info().family == Family::Memory => global::transfer(random, profile, op, form)?,
        _ if vector::FAMILIES.contains(&op.info().family) => vector::vector(random, profile, op, form)?,
        _ if op.info().family == Family::Irregular && (op, form) != (Opcode::Tgather, Form::Plain) => {
            irregular::irregular(random, profile, op, form)?
        }
        _ => compute::compute(random, profile, op)?,
    };
    // Run-time extents now and then, where they may be.
    let is_static = matches!(op, Opcode::TquantMx | Opcode::TmovZz);
    for tile in case.inst.tiles.iter_mut().filter(|_| !is_static) {
        if case.inst.conv.is_none() && random.once_in(3) {
            tile.tile.v_row = Extent::Dynamic;
        }
        if case.inst.conv.is_none() && random.once_in(3) {
            tile.tile.v_col = Extent::Dynamic;
        }
    }
    let legal = tessera_check::check(&case.inst).iter().all(|f| !f.is_error());
    legal.then_some(case)
}

pub fn lay(random: &mut Random, lay: Lay, loc: Loc, profile: Profile) -> Layout {
    let named = |name: LayoutName, fractal: u32| match name {
        LayoutName::Nd => (BLayout::RowMajor, SLayout::NoneBox, 512),
        LayoutName::Dn => (BLayout::ColMajor, SLayout::NoneBox, 512),
        LayoutName::Nz => (BLayout::ColMajor, SLayout::RowMajor, fractal),
        LayoutName::Zn => (BLayout::RowMajor, SLayout::ColMajor, fractal),
        LayoutName::Zz => (BLayout::RowMajor, SLayout::RowMajor, fractal),
        LayoutName::Nn => (BLayout::ColMajor, SLayout::ColMajor, fractal),
    };
    let fractal = if loc == Loc::Acc {
        1024
    } else if matches!(loc, Loc::ScaleLeft | Loc::ScaleRight) {
        32
    } else {
        random.pick(&[512, 512, 512, 1024, 32])
    };
    match lay {
        Lay::Any => named(random.pick(LayoutName::ALL), fractal),
        Lay::Of(names) => named(random.pick(names), fractal),
        Lay::Exactly(name, fractal) => named(name, fractal),
        Lay::Usual => loc.usual(profile),
        Lay::OneRowNd | Lay::OneLine | Lay::RowMajor | Lay::Like(_) => named(LayoutName::Nd, 512),
        Lay::OneColumnDn => named(LayoutName::Dn, 512),
    }
}

pub fn layouts(random: &mut Random, way: Layouts, src: Loc, dst: Loc, profile: Profile) -> (Layout, Layout) {
    let of = |role: Role| way.iter().find(|(r, _)| *r == role).map_or(Lay::Any, |(_, lay)| *lay);
    let from = lay(random, of(Role::Src), src, profile);
    let to = lay(random, of(Role::Dst), dst, profile);
    if of(Role::Dst) == Lay::Like(Role::Src) { (from, from) } else { (from, to) }
}

pub fn elems(random: &mut Random, types: Types, profile: Profile) -> Option<(Elem, Elem)> {
    if matches!(types, Types::EqualOf([]) | Types::EachOf([]) | Types::Pairs([])) {
        return None;
    }
    let exists: Vec<Elem> =
        Elem::ALL.iter().copied().filter(|e| profile == Profile::A5 || e.info().on_cpu_and_a2a3).collect();
    Some(match types {
        Types::Any => (random.pick(&exists), random.pick(&exists)),
        Types::Equal | Types::Alike => {
            let e = random.pick(&exists);
            (e, e)
        }
        Types::EqualOf(list) => {
            let e = random.pick(list);
            (e, e)
        }
        Types::EachOf(list) => (random.pick(list), random.pick(list)),
        Types::Pairs(pairs) => {
            let (s, ds) = random.pick(pairs);
            (s, random.pick(ds))
        }
        Types::ByRole(_) | Types::Rows(..) => return None,
        Types::OwnRule => random.pick(&[
            (Elem::F32, Elem::F32),
            (Elem::I32, Elem::I32),
            (Elem::F16, Elem::F32),
            (Elem::Bf16, Elem::F32),
            (Elem::U64, Elem::U64),
            (Elem::I64, Elem::I64),
        ]),
    })
}

/// A signature for this form.
pub fn path(random: &mut Random, profile: Profile, op: Opcode, form: Form) -> Option<&'static Sig> {
    let fitting: Vec<&'static Sig> = op.info().sigs.iter().filter(|s| s.is_for(profile, form)).collect();
    (!fitting.is_empty()).then(|| random.pick(&fitting))
}

/// The numbers that rows and columns are multiples of.
pub fn units(elem: Elem, layout: Layout) -> (u64, u64) {
    let c0 = elem.c0();
    match layout {
        (BLayout::RowMajor, SLayout::NoneBox, _) => (1, c0),
        (BLayout::ColMajor, SLayout::NoneBox, _) => (c0, 1),
        (_, SLayout::RowMajor, 512) => (16, c0),
        (_, SLayout::ColMajor, 512) => (c0, 16),
        (_, _, 1024) => (16, 16),
        (_, SLayout::RowMajor, _) => (16, 2),
        _ => (2, 16),
    }
}

fn extent(random: &mut Random, unit: u64) -> u64 {
    if unit == 1 { random.range(1, 20) } else { unit * random.range(1, 3) }
}

pub fn tile(loc: Loc, elem: Elem, rows: u64, cols: u64, layout: Layout, profile: Profile) -> Tile {
    TileType::new(loc, elem, rows, cols).with_layout(layout.0, layout.1, layout.2).resolve(profile)
}

/// A tile of random size.
pub fn any_tile(random: &mut Random, loc: Loc, elem: Elem, layout: Layout, profile: Profile) -> Tile {
    let (ru, cu) = units(elem, layout);
    let mut rows = extent(random, ru);
    let mut compact = Compact::Null;
    if loc == Loc::Vec && layout.0 == BLayout::ColMajor && layout.1 == SLayout::RowMajor {
        match random.below(4) {
            0 => rows += 1,
            1 => {
                rows += 1;
                compact = Compact::RowPlusOne;
            }
            2 => rows = random.range(1, 40),
            _ => {}
        }
    }
    let cols = extent(random, cu);
    let mut t = tile(loc, elem, rows, cols, layout, profile);
    if rows % 16 == 1 {
        t.compact = compact;
    }
    t
}

/// A size that suits both layouts.
pub fn common(random: &mut Random, a: (Elem, Layout), b: (Elem, Layout)) -> (u64, u64) {
    let ((ra, ca), (rb, cb)) = (units(a.0, a.1), units(b.0, b.1));
    (extent(random, ra.max(rb)), extent(random, ca.max(cb)))
}

/// A valid region of a tile: often all of it, sometimes empty.
pub fn valid(random: &mut Random, tile: &Tile) -> [u64; 2] {
    let mut one = |n: u64, even: bool| {
        let v = match random.below(8) {
            0 => 0,
            1..=3 => n,
            _ => random.range(1, n),
        };
        if even { v / 2 * 2 } else { v }
    };
    let fp4 = tile.elem.is_fp4();
    [one(tile.rows, fp4 && tile.rows_share_bytes()), one(tile.cols, fp4)]
}

pub fn with_valid(mut tile: Tile, valid: [u64; 2], role: Role) -> TileArg {
    (tile.v_row, tile.v_col) = (Extent::Static(valid[0]), Extent::Static(valid[1]));
    TileArg::of_type(role, tile)
}

/// A number that the type holds.
pub fn value(random: &mut Random, elem: Elem) -> Number {
    if elem.is_float() {
        let bits = random.next() & elem.mask();
        match elem.decode(bits) {
            Number::Float(v) if !v.is_nan() => Number::Float(v),
            _ => Number::Float(1.0),
        }
    } else {
        elem.decode(random.next() & elem.mask())
    }
}

/// A quantization parameter that fits the type, mostly.
pub fn parameter(random: &mut Random, dst: Elem) -> u64 {
    let scale = random.pick(&[1.0f32, 0.1, -0.5, 3.7e-3, 117.0, 1e30, -0.0]);
    let signed = u64::from(dst == Elem::I8);
    let offset = random.pick(&[0, 0, 3, 127, 256, 511]);
    u64::from(scale.to_bits()) | random.below(16) << 32 | offset << 37 | signed << 46 | random.below(4) << 60
}

fn aligned(random: &mut Random, limit: u64) -> u64 {
    let step = random.pick(&[1, 2, 8, 16, 32, 64]);
    random.below(limit / step + 1) * step
}

const MODES: &[Option<AccToVec>] = &[
    None,
    None,
    Some(AccToVec::SingleModeVec0),
    Some(AccToVec::SingleModeVec1),
    Some(AccToVec::DualModeSplitM),
    Some(AccToVec::DualModeSplitN),
];

/// TMOV, TEXTRACT and TINSERT.
fn window(random: &mut Random, profile: Profile, op: Opcode, form: Form) -> Option<Case> {
    let path = path(random, profile, op, form)?;
    let (src_loc, dst_loc) = (random.pick(path.locs_of(Role::Src)), random.pick(path.locs_of(Role::Dst)));
    let pair = random.pick(path.layouts);
    let (from, to) = layouts(random, pair, src_loc, dst_loc, profile);
    let (mut src_elem, mut dst_elem) = elems(random, path.types, profile)?;
    if form == Form::Fill && src_loc != Loc::Acc {
        dst_elem = src_elem;
    }
    if dst_loc == Loc::Scaling && profile != Profile::Cpu {
        (src_elem, dst_elem) = (Elem::U64, Elem::U64);
    }
    let mode = if src_loc == Loc::Acc && dst_loc == Loc::Vec { random.pick(MODES) } else { None };
    if matches!(mode, Some(AccToVec::DualModeSplitM | AccToVec::DualModeSplitN)) {
        dst_elem = src_elem;
    }
    let (rows, cols) = common(random, (src_elem, from), (dst_elem, to));
    let (rows, cols) = if matches!(dst_loc, Loc::Bias | Loc::Scaling) && profile != Profile::Cpu
        || pair.contains(&(Role::Src, Lay::OneRowNd))
    {
        (1, cols * 32)
    } else {
        (rows, cols)
    };
    let mut src = tile(src_loc, src_elem, rows, cols, from, profile);
    let mut dst = tile(dst_loc, dst_elem, rows, cols, to, profile);
    let is_move = matches!(op, Opcode::Tmov | Opcode::TmovFp);
    if !is_move || random.once_in(3) {
        src = any_tile(random, src_loc, src_elem, from, profile);
    }
    if !is_move || random.once_in(3) {
        dst = any_tile(random, dst_loc, dst_elem, to, profile);
    }
    let mut inst = Inst::new(op, form, profile);
    if src_loc == Loc::Acc {
        inst.attrs.set(AttrName::ReluPreMode, random.pick(&[None, None, Some(Relu::NormalRelu), Some(Relu::NoRelu)]));
    }
    inst.attrs.set(AttrName::AccToVecMode, mode);
    if op == Opcode::Tinsert && matches!(form, Form::Plain | Form::NoIndex) && random.once_in(3) {
        inst.attrs.set(AttrName::Mode, Some(random.pick(&[Split::Split2, Split::Split4])));
    }
    let (m, n) = inst.dual_division();
    let mut src_valid = valid(random, &src);
    let mut dst_valid = valid(random, &dst);
    if is_move {
        src_valid = [src_valid[0].min(dst.rows * m) / m * m, src_valid[1].min(dst.cols * n) / n * n];
        dst_valid = [src_valid[0] / m, src_valid[1] / n];
    }
    let extract = matches!(op, Opcode::Textract | Opcode::TextractFp);
    if extract && !random.once_in(4) {
        dst_valid = [dst_valid[0].min(src.rows / m), dst_valid[1].min(src.cols / n)];
    } else if !is_move && !extract && !random.once_in(4) {
        src_valid = [src_valid[0].min(dst.rows), src_valid[1].min(dst.cols)];
    }
    if n == 2 {
        // Half of the window is a multiple of 16 columns.
        (src_valid[1], dst_valid[1]) = (src_valid[1] / 32 * 32, dst_valid[1] / 16 * 16);
    }
    if m == 2 {
        src_valid[0] = src_valid[0] / 2 * 2;
    }
    inst.tiles.push(with_valid(src, src_valid, Role::Src));
    if form == Form::VectorQuant {
        let n = (src.cols + dst.cols).div_ceil(16) * 16;
        let fp = tile(Loc::Scaling, Elem::U64, 1, n, (BLayout::RowMajor, SLayout::NoneBox, 512), profile);
        inst.tiles.push(with_valid(fp, [1, n], Role::Fp));
    }
    let limits = if extract {
        [src.rows.saturating_sub(dst_valid[0] * m), src.cols.saturating_sub(dst_valid[1] * n)]
    } else {
        [dst.rows.saturating_sub(src_valid[0]), dst.cols.saturating_sub(src_valid[1])]
    };
    if form == Form::TwoWindows {
        let other = any_tile(random, dst_loc, dst_elem, to, profile);
        let other_valid = valid(random, &other);
        let far = [src.rows.saturating_sub(other_valid[0]), src.cols.saturating_sub(other_valid[1])];
        inst.tiles.push(with_valid(dst, dst_valid, Role::Dst0));
        inst.tiles.push(with_valid(other, other_valid, Role::Dst1));
        for (role, limit) in
            [Role::Row, Role::Col, Role::Row1, Role::Col1].into_iter().zip([limits[0], limits[1], far[0], far[1]])
        {
            let v = aligned(random, limit);
            inst.scalars.push(ScalarArg::new(role, v));
        }
    } else {
        if random.once_in(3) {
            dst.pad = random.pick(&[Pad::Zero, Pad::Max, Pad::Custom(PadLiteral::Bits(1))]);
        }
        inst.tiles.push(with_valid(dst, dst_valid, Role::Dst));
        if !is_move && form != Form::NoIndex {
            for (role, limit) in [Role::Row, Role::Col].into_iter().zip(limits) {
                let v = aligned(random, limit);
                inst.scalars.push(ScalarArg::new(role, v));
            }
        }
    }
    match form {
        Form::ScalarQuant => {
            let v = parameter(random, dst_elem);
            inst.scalars.push(ScalarArg::new(Role::Quant, v as i64));
        }
        Form::Fill => {
            let v = value(random, dst_elem);
            inst.scalars.push(ScalarArg::new(Role::Fill, v));
        }
        _ => {}
    }
    let same = inst.tiles.len() == 2 && is_move && inst.tiles[0].tile == inst.tiles[1].tile && src_loc != Loc::Acc;
    let shared = (same && random.once_in(3)).then_some((0, 1));
    Some(Case { inst, shared, buffer: 0 })
}
