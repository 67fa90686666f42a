//! One instruction about to be issued: operands with their types on the profile, and whatever is known of the values.
//!
//! The verifier builds an [`Inst`] with what it can prove, the simulator with everything; rules and index maps read both
//! alike, so a rule is written once and reports the same id before and during a run.

mod attrs;
mod scalar;
mod view;

pub use attrs::{AttrValue, Attrs};
pub use scalar::{ScalarArg, ScalarType, Sign, scalar_number};
pub use view::ViewTags;

use crate::codec::Number;
use crate::elem::Elem;
use crate::layout::{Axis, Digit, Layout};
use crate::ops::{Bind, Effect, Form, Opcode, Role, RuleKind};
use crate::profile::Profile;
use crate::tile::{BLayout, LayoutName, Loc, SLayout, Tile, TileType, words};
use smallvec::SmallVec;

words! {
    /// ReLU on the way out of an accumulator.
    Relu {
        NoRelu = "no_relu", "NoRelu", "None.";
        NormalRelu = "normal_relu", "NormalRelu", "`v > 0 ? v : +0`.";
    }
    /// Which vector core an Acc→Vec form writes (fixpipe.md 6).
    AccToVec {
        SingleModeVec0 = "single_mode_vec0", "SingleModeVec0", "Core 0.";
        SingleModeVec1 = "single_mode_vec1", "SingleModeVec1", "Core 1.";
        DualModeSplitM = "dual_mode_split_m", "DualModeSplitM", "Rows halved between both.";
        DualModeSplitN = "dual_mode_split_n", "DualModeSplitN", "Columns halved between both.";
    }
    /// The NZ split forms of TINSERT.
    Split {
        Split2 = "split2", "SPLIT2", "Two groups of column blocks.";
        Split4 = "split4", "SPLIT4", "Four groups of column blocks.";
    }
    /// How TCMP and TCMPS compare (isa/elementwise.md 4).
    Cmp {
        Eq = "eq" | "equal", "EQ", "Equal.";
        Ne = "ne" | "not_equal", "NE", "Not equal.";
        Lt = "lt" | "less_than", "LT", "Less.";
        Le = "le" | "less_equal", "LE", "Less or equal.";
        Gt = "gt" | "greater_than", "GT", "Greater.";
        Ge = "ge" | "greater_equal", "GE", "Greater or equal.";
    }
    /// A wish for precision; both meet the tolerance of isa/elementwise.md 3.
    Precision {
        Default = "DEFAULT", "DEFAULT", "As fast as it can be.";
        High = "HIGH_PRECISION", "HIGH_PRECISION", "As exact as it can be.";
    }
    /// Which columns TGATHER keeps (isa/irregular.md 4); the digits are read from the right.
    MaskPattern {
        P0101 = "P0101", "P0101", "Columns 0, 2, 4 …";
        P1010 = "P1010", "P1010", "Columns 1, 3, 5 …";
        P0001 = "P0001", "P0001", "Columns 0, 4, 8 …";
        P0010 = "P0010", "P0010", "Columns 1, 5, 9 …";
        P0100 = "P0100", "P0100", "Columns 2, 6, 10 …";
        P1000 = "P1000", "P1000", "Columns 3, 7, 11 …";
        P1111 = "P1111", "P1111", "All columns.";
    }
    /// How TQUANT quantizes (isa/irregular.md 8).
    QuantType {
        Int8Sym = "INT8_SYM", "INT8_SYM", "Into i8, without an offset.";
        Int8Asym = "INT8_ASYM", "INT8_ASYM", "Into u8, with an offset.";
        MxFp8 = "MXFP8", "MXFP8", "Into f8e4m3, with shared exponents.";
        MxFp4 = "MXFP4_E2M1", "MXFP4_E2M1", "Into f4e2m1, with shared exponents.";
    }
    /// How a shared exponent is found (isa/today.md 6.4).
    QuantScaleAlg {
        Ocp = "ocp" | "OCP", "OCP", "By the exponent of the maximum.";
        Nv = "nv" | "NV", "NV", "By the maximum, rounded up.";
    }
    /// The axis of groups with one exponent (isa/today.md 6.4).
    GroupAxis {
        Axis1 = "axis1", "1", "Along the columns.";
        Axis0 = "axis0", "0", "Along the rows.";
    }
    /// Whether exponents are stored for the matrix unit, too (isa/today.md 6.4).
    StoreMode {
        Nd = "nd", "ND", "Only row by row.";
        Nz = "nz", "NZ", "Also in ZZ order.";
    }
    /// How f32 operands of products are rounded (isa/matrix.md 5).
    F32Rounding {
        Round = "round" | "round_away" | "ROUND" | "CAST_ROUND", "CAST_ROUND", "To the nearest, ties away from zero.";
        Rint = "rint" | "round_even" | "RINT" | "CAST_RINT", "CAST_RINT", "To the nearest, ties to even.";
    }
    /// What TLOAD writes outside the valid region (isa/memory.md 4).
    PadMode {
        PadNull = "PadNull", "PadNull", "The tile's own pad.";
        PadValue = "PadValue", "PadValue", "A value.";
        PadFirstElem = "PadFirstElem", "PadFirstElem", "The first element; refused.";
    }
    /// Whether a store adds to what is there (isa/memory.md 3).
    AtomicType {
        None = "atomic_none", "AtomicNone", "It replaces it.";
        Add = "atomic_add", "AtomicAdd", "It adds.";
    }
    /// What a notification does to the words of a signal (isa/comm.md 3).
    NotifyOp {
        Add = "atomic_add", "AtomicAdd", "It adds.";
        Set = "set", "Set", "It replaces them.";
    }
    /// How the words of a signal are compared (isa/comm.md 3).
    WaitCmp {
        Eq = "eq", "EQ", "Equal.";
        Ne = "ne", "NE", "Not equal.";
        Gt = "gt", "GT", "Greater.";
        Ge = "ge", "GE", "Greater or equal.";
        Lt = "lt", "LT", "Less.";
        Le = "le", "LE", "Less or equal.";
    }
    /// How the views of ranks are combined (isa/comm.md 3).
    ReduceOp {
        Sum = "sum", "Sum", "The sum.";
        Max = "max", "Max", "The maximum.";
        Min = "min", "Min", "The minimum.";
    }
    /// What MGATHER does with an index beyond the table (isa/memory.md 5).
    GatherOob {
        Undefined = "undefined", "Undefined", "It is an error.";
        Clamp = "clamp", "Clamp", "It is the last one.";
        Wrap = "wrap", "Wrap", "It starts again from the first one.";
        Zero = "zero", "Zero", "The element becomes 0.";
    }
    /// What MSCATTER does with an index beyond the table (isa/memory.md 5).
    ScatterOob {
        Undefined = "undefined", "Undefined", "It is an error.";
        Skip = "skip", "Skip", "Nothing is written.";
        Clamp = "clamp", "Clamp", "It is the last one.";
        Wrap = "wrap", "Wrap", "It starts again from the first one.";
    }
    /// How MSCATTER combines an element with what is there (isa/memory.md 5).
    ScatterAtomic {
        None = "none", "None", "It replaces it.";
        Add = "add", "Add", "The sum.";
        Max = "max", "Max", "The larger one.";
        Min = "min", "Min", "The smaller one.";
    }
    /// What an index of MGATHER and MSCATTER means (isa/memory.md 5).
    Coalesce {
        Row = "row", "Row", "A row of the table.";
        Elem = "elem", "Elem", "An element of the table.";
    }
    /// What MSCATTER leaves where two elements have one index (isa/today.md 6.7).
    ScatterConflict {
        Default = "default", "Default", "Either of them, on hardware.";
        Last = "last", "Last", "The last one.";
    }
    /// How a printed float is written (isa/today.md 6.8).
    PrintFormat {
        Width8Precision4 = "width8_precision4", "Width8_Precision4", "8 characters, 4 digits after the point.";
        Width8Precision2 = "width8_precision2", "Width8_Precision2", "8 characters, 2 digits after the point.";
        Width10Precision6 = "width10_precision6", "Width10_Precision6", "10 characters, 6 digits after the point.";
    }
    /// The pad of a tile, where an instruction names it again (isa/today.md 6.3).
    PadWord {
        Null = "null", "Null", "None.";
        Zero = "zero", "Zero", "0.";
        Max = "max", "Max", "The largest value.";
        Min = "min", "Min", "The smallest value.";
    }
    /// The phase of a store or of a product, which changes nothing (isa/memory.md 3, isa/matrix.md 6).
    Phase {
        Unspecified = "unspecified" | "Unspecified" | "Unknown" | "unknown" | "0", "Unspecified", "None is said.";
        Partial = "partial" | "Partial" | "2", "Partial", "More follows.";
        Final = "final" | "Final" | "3", "Final", "The last one.";
    }
    /// The memory of a reserved buffer.
    Space {
        Vec = "vec", "Vec", "UB of the vector cores.";
        Mat = "mat", "Mat", "L1 of the cube core.";
        Gm = "gm", "Gm", "Global memory.";
        Left = "left", "Left", "L0A.";
        Right = "right", "Right", "L0B.";
        Acc = "acc", "Acc", "L0C.";
        Bias = "bias", "Bias", "The bias table.";
        Scaling = "scaling", "Scaling", "The fixpipe buffer.";
    }
    /// The layout tag of a view of global memory.
    ViewTag {
        Nd = "nd", "ND", "Row-major.";
        Dn = "dn", "DN", "Column-major.";
        Nz = "nz", "NZ", "Boxed, five dimensions.";
    }
}

impl PrintFormat {
    /// The width of a number, and its digits after the point.
    pub const fn width_and_digits(self) -> (usize, usize) {
        match self {
            PrintFormat::Width8Precision4 => (8, 4),
            PrintFormat::Width8Precision2 => (8, 2),
            PrintFormat::Width10Precision6 => (10, 6),
        }
    }
}

impl MaskPattern {
    /// Every how many columns one is kept, and which of them.
    pub fn period(self) -> (u64, u64) {
        match self {
            MaskPattern::P0101 => (2, 0),
            MaskPattern::P1010 => (2, 1),
            MaskPattern::P0001 => (4, 0),
            MaskPattern::P0010 => (4, 1),
            MaskPattern::P0100 => (4, 2),
            MaskPattern::P1000 => (4, 3),
            MaskPattern::P1111 => (1, 0),
        }
    }
}

impl ViewTag {
    /// The tile layout of the same name.
    pub fn layout_name(self) -> LayoutName {
        match self {
            ViewTag::Nd => LayoutName::Nd,
            ViewTag::Dn => LayoutName::Dn,
            ViewTag::Nz => LayoutName::Nz,
        }
    }
}

/// A conv tile type: a dense array in L1 (tile-model.md 7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConvType {
    pub loc: Loc,
    /// NDC1HWC0 rather than NC1HWC0.
    pub has_depth: bool,
    /// N, D, C1, H, W, C0; D is 1 without depth.
    pub dims: [u64; 6],
    pub elem: Elem,
}

impl ConvType {
    /// Elements of the array, saturating.
    pub fn elements(&self) -> u64 {
        self.dims.iter().fold(1u64, |n, d| n.saturating_mul(*d))
    }

    /// Bytes of the array.
    pub fn bytes(&self) -> u64 {
        self.elem.bytes_of(self.elements())
    }

    /// The name of its format.
    pub fn format(&self) -> &'static str {
        if self.has_depth { "NDC1HWC0" } else { "NC1HWC0" }
    }

    /// The dimensions as written: five, or six with depth.
    pub fn written_dims(&self) -> SmallVec<[u64; 6]> {
        self.dims.iter().enumerate().filter(|(i, _)| self.has_depth || *i != 1).map(|(_, d)| *d).collect()
    }

    /// The array as a one-row tile, so that paths and placement need not know conv tiles.
    pub fn as_tile(&self) -> Tile {
        let n = self.elements();
        let dense = TileType::new(self.loc, self.elem, 1, n).with_layout(BLayout::RowMajor, SLayout::NoneBox, 512);
        dense.resolve(Profile::Cpu)
    }
}

/// The start of a tile's storage: addresses with one root can be compared, others cannot overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    pub root: Root,
    pub start: u64,
}

/// A storage that places are counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Root {
    /// A memory, for tiles with a known address.
    Memory(Loc),
    /// The storage of one automatic tile, wherever placement will put it.
    Auto(u32),
    /// Memory of the program that runs the simulator; places are its addresses.
    Host,
}

/// A tile operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TileArg {
    /// Its role in the instruction.
    pub role: Role,
    /// Its type on the profile.
    pub tile: Tile,
    /// Its layout; differs from the type's only for views, which keep their source's pitch.
    pub layout: Layout,
    /// Valid rows and columns, where known.
    pub valid: [Option<u64>; 2],
    /// Its place, if it is known.
    pub place: Option<Place>,
}

impl TileArg {
    /// Valid rows and columns, if both are known: they are whenever an instruction runs.
    pub fn known_valid(&self) -> Option<[u64; 2]> {
        Some([self.valid[0]?, self.valid[1]?])
    }

    /// Rows and columns that it may touch: the valid ones, all declared ones where those are unknown.
    pub fn most_valid(&self) -> [u64; 2] {
        [self.valid[0].unwrap_or(self.tile.rows), self.valid[1].unwrap_or(self.tile.cols)]
    }

    /// A tile whose type says all that is known of it.
    pub fn of_type(role: Role, tile: Tile) -> Self {
        TileArg { role, layout: tile.layout(), valid: [tile.v_row.known(), tile.v_col.known()], tile, place: None }
    }
}

/// A view of global memory as an operand of TLOAD or TSTORE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlobalArg {
    pub elem: Elem,
    pub tag: ViewTag,
    /// Extents, where known, outermost first; empty for a bare pointer.
    pub dims: SmallVec<[Option<u64>; 5]>,
    /// Strides in elements, where known.
    pub strides: SmallVec<[Option<i64>; 5]>,
    /// First element, counted from the start of the buffer, where known.
    pub offset: Option<i64>,
    /// Elements of the buffer bound to the argument, where known.
    pub buffer: Option<u64>,
}

impl GlobalArg {
    /// Rows and columns of the view (tile-model.md 7), where known.
    pub fn shape(&self) -> [Option<u64>; 2] {
        let mut shape = [Some(1u64); 2];
        for (is_row, dim) in self.axes() {
            let side = &mut shape[usize::from(!is_row)];
            *side = side.zip(self.dims[dim]).map(|(n, d)| n.saturating_mul(d));
        }
        shape
    }

    /// The view as a layout, where its extents and strides are known.
    pub fn layout(&self) -> Option<Layout> {
        let [mut row, mut col]: [SmallVec<[Digit; 4]>; 2] = Default::default();
        for (is_row, dim) in self.axes() {
            let digit = Digit { extent: self.dims[dim]?, stride: (*self.strides.get(dim)?)? };
            if is_row { row.push(digit) } else { col.push(digit) }
        }
        Some(Layout { row: Axis::from_digits(&row), col: Axis::from_digits(&col) })
    }

    /// A DN view of more rows than its second to last dimension has, where it meets a row-major tile on cpu: rows go on at
    /// the stride of that dimension (cpp.md 8).
    fn meet_rows(&mut self, tile: &TileArg) {
        let ([.., Some(cols)], [.., rows, stride]) = (self.dims.as_slice(), self.strides.as_slice()) else { return };
        let outer = self.dims.iter().rev().skip(1).try_fold(1u64, |n, d| d.and_then(|d| n.checked_mul(d)));
        let fits = tile.valid == [outer, Some(*cols)] && self.shape() != tile.valid;
        if self.tag == ViewTag::Dn && tile.tile.blayout == BLayout::RowMajor && outer.is_some() && fits {
            let (dims, strides) = ([outer, Some(*cols)], [*rows, *stride]);
            (self.tag, self.dims, self.strides) =
                (ViewTag::Nd, dims.into_iter().collect(), strides.into_iter().collect());
        }
    }

    /// Each dimension in the order in which an axis composes it, with the axis it belongs to (tile-model.md 7).
    pub fn axes(&self) -> impl Iterator<Item = (bool, usize)> {
        let (n, tag) = (self.dims.len(), self.tag);
        (0..n).map(move |dim| {
            let is_row = match tag {
                ViewTag::Nd => dim + 1 != n,
                ViewTag::Dn => dim + 2 == n,
                ViewTag::Nz => dim == 2 || dim == 3,
            };
            (is_row, dim)
        })
    }
}

/// One instruction about to be issued.
#[derive(Clone, Debug, PartialEq)]
pub struct Inst {
    pub op: Opcode,
    pub form: Form,
    /// The profile it is issued on.
    pub profile: Profile,
    /// Tile operands, destinations included, in the form's order (ins, then outs).
    pub tiles: SmallVec<[TileArg; 4]>,
    pub scalars: SmallVec<[ScalarArg; 4]>,
    /// The attributes; configuration that SETFMATRIX left is merged in.
    pub attrs: Attrs,
    /// The conv tile of TIMG2COL, or the destination of a conv TLOAD.
    pub conv: Option<ConvType>,
    /// The view of TLOAD or TSTORE.
    pub global: Option<GlobalArg>,
    /// Further views, by role (isa/today.md 6.7).
    pub views: SmallVec<[(Role, GlobalArg); 1]>,
    /// The indices that lie in global memory, row by row, once they are read.
    pub indices: Option<Box<[u64]>>,
    /// Whether its destinations are results (SSA), which are always new values.
    pub makes_dst: bool,
    /// Whether the assembler finds scratch that is left out (isa/today.md 9).
    pub finds_scratch: bool,
}

impl Inst {
    /// An instruction without operands.
    pub fn new(op: Opcode, form: Form, profile: Profile) -> Self {
        let (tiles, scalars, attrs) = Default::default();
        let views = SmallVec::new();
        let (conv, global, indices) = Default::default();
        Inst {
            op,
            form,
            profile,
            tiles,
            scalars,
            attrs,
            conv,
            global,
            views,
            indices,
            makes_dst: false,
            finds_scratch: false,
        }
    }

    /// The tile operand with this role.
    pub fn tile(&self, role: Role) -> Option<&TileArg> {
        self.tiles.iter().find(|t| t.role == role)
    }

    /// The position of the tile operand with this role.
    pub fn tile_index(&self, role: Role) -> Option<usize> {
        self.tiles.iter().position(|t| t.role == role)
    }

    /// The view operand with this role.
    pub fn view(&self, role: Role) -> Option<&GlobalArg> {
        match role {
            Role::Global => self.global.as_ref(),
            _ => self.views.iter().find(|(r, _)| *r == role).map(|(_, view)| view),
        }
    }

    /// The first source tile.
    pub fn src(&self) -> Option<&TileArg> {
        self.tile(Role::Src).or_else(|| self.tile(Role::Src0))
    }

    /// The first destination tile.
    pub fn dst(&self) -> Option<&TileArg> {
        self.tile(Role::Dst).or_else(|| self.tile(Role::Dst0))
    }

    /// The type of what is written: the first destination's, or the view's.
    pub fn written_elem(&self) -> Option<Elem> {
        self.dst().map(|d| d.tile.elem).or_else(|| self.global.as_ref().map(|view| view.elem))
    }

    /// Gives the instruction its view, which has the layout that the tile of data tells where none is written.
    pub fn set_view(&mut self, mut view: GlobalArg, tags: ViewTags) {
        if let Some(tile) = self.dst().or_else(|| self.src()) {
            // Only a transfer lays the tile out as the view; a table is counted row by row where it can be.
            let by_rows = crate::tile::Tile { blayout: BLayout::RowMajor, slayout: SLayout::NoneBox, ..tile.tile };
            tags.meet(&mut view, if self.op.info().by_flows() { &tile.tile } else { &by_rows });
            if self.profile == Profile::Cpu {
                view.meet_rows(tile);
            }
        }
        self.global = Some(view);
    }

    /// Whether the instruction has this scalar operand.
    pub fn has_scalar(&self, role: Role) -> bool {
        self.scalar_arg(role).is_some()
    }

    /// The value of a scalar operand, where it is there and known.
    pub fn scalar(&self, role: Role) -> Option<Number> {
        self.scalar_arg(role)?.value
    }

    /// The scalar operand with this role.
    pub fn scalar_arg(&self, role: Role) -> Option<&ScalarArg> {
        self.scalars.iter().find(|s| s.role == role)
    }

    /// The value of an index operand: 0 where the form leaves it out, `None` where it is not known.
    pub fn index(&self, role: Role) -> Option<i128> {
        match self.scalar_arg(role).map(|s| s.value) {
            None => Some(0),
            Some(Some(Number::Int(v))) => Some(v),
            Some(_) => None,
        }
    }

    /// An index that is known and in the range of indices.
    pub fn index_u64(&self, role: Role) -> Option<u64> {
        self.index(role).and_then(|v| u64::try_from(v).ok())
    }

    /// Whether nothing happens, since all regions are empty (isa/today.md 5.3): every destination tile has the valid region
    /// 0 × 0, and no source tile has a valid element.
    pub fn is_empty(&self) -> bool {
        let info = self.op.info();
        if info.expands
            || !info.sem.computes()
            || info.binds.is_some_and(|bind| bind != Bind::InPlace)
            || self.conv.is_some()
        {
            return false;
        }
        let effect = |arg: &TileArg| self.op.effect(self.form, arg.role);
        let written = || self.tiles.iter().filter(|arg| matches!(effect(arg), Effect::Write | Effect::ReadWrite));
        let mut read = self.tiles.iter().filter(|arg| effect(arg) == Effect::Read);
        let is_none = |arg: &TileArg| arg.valid == [Some(0), Some(0)];
        written().next().is_some() && written().all(is_none) && read.all(|arg| arg.valid.contains(&Some(0)))
    }

    /// Whether ReLU is requested.
    pub fn relu(&self) -> bool {
        self.attrs.relu() == Some(Relu::NormalRelu)
    }

    /// Whether data takes the path out of an accumulator (fixpipe.md). On cpu, data out of Mat that is quantized or
    /// carries ReLU takes it too.
    pub fn is_fixpipe(&self) -> bool {
        let is_quantized = || matches!(self.form, Form::ScalarQuant | Form::VectorQuant) || self.relu();
        let goes = |src: &TileArg| match src.tile.loc {
            Loc::Acc => true,
            Loc::Mat => self.profile == Profile::Cpu && self.dst().is_some() && is_quantized(),
            _ => false,
        };
        self.src().is_some_and(goes) && self.op.info().rules.iter().any(|r| r.kind == RuleKind::Fixpipe)
    }

    /// Rows and columns by which a dual mode divides the source window: (2, 1), (1, 2), or (1, 1) without one.
    pub fn dual_division(&self) -> (u64, u64) {
        match self.attrs.acc_to_vec() {
            Some(AccToVec::DualModeSplitM) => (2, 1),
            Some(AccToVec::DualModeSplitN) => (1, 2),
            _ => (1, 1),
        }
    }
}

impl WaitCmp {
    /// Whether a word of a signal compares true with a value (isa/comm.md 3).
    pub fn holds(self, word: i32, value: i32) -> bool {
        match self {
            WaitCmp::Eq => word == value,
            WaitCmp::Ne => word != value,
            WaitCmp::Gt => word > value,
            WaitCmp::Ge => word >= value,
            WaitCmp::Lt => word < value,
            WaitCmp::Le => word <= value,
        }
    }
}
