//! The attributes of one instruction.

use super::{
    AccToVec, AtomicType, Cmp, Coalesce, F32Rounding, GatherOob, GroupAxis, MaskPattern, NotifyOp, PadMode, Phase,
    Precision, ReduceOp, Relu, WaitCmp,
};
use super::{QuantScaleAlg, QuantType, ScatterAtomic, ScatterOob, Space, Split, StoreMode, ViewTag};
use crate::codec::Number;
use crate::ops::{AttrKind, AttrName, Word};
use crate::sem::{Rounding, Saturation};
use smallvec::SmallVec;

/// The value of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AttrValue {
    /// A word, by its place in the attribute's list; [`AttrValue::FOREIGN`] where it is none of them.
    Word(u8),
    Int(i128),
    /// The bits of a binary64.
    Float(u64),
    /// `true` or `false`.
    Bool(bool),
    /// As many integers as the attribute's kind has; the others are 0.
    Ints([i64; 4]),
}

impl AttrValue {
    /// A word that its attribute does not have: text keeps it, a rule of the row refuses it (isa/notes.md).
    pub const FOREIGN: AttrValue = AttrValue::Word(u8::MAX);

    /// The number, if it is one.
    pub fn number(self) -> Option<Number> {
        match self {
            AttrValue::Int(v) => Some(Number::Int(v)),
            AttrValue::Float(bits) => Some(Number::Float(f64::from_bits(bits))),
            _ => None,
        }
    }
}

impl From<i64> for AttrValue {
    fn from(v: i64) -> Self {
        AttrValue::Int(v.into())
    }
}

impl From<[i64; 2]> for AttrValue {
    fn from([a, b]: [i64; 2]) -> Self {
        AttrValue::Ints([a, b, 0, 0])
    }
}

impl From<[i64; 4]> for AttrValue {
    fn from(v: [i64; 4]) -> Self {
        AttrValue::Ints(v)
    }
}

impl From<Number> for AttrValue {
    fn from(v: Number) -> Self {
        match v {
            Number::Int(v) => AttrValue::Int(v),
            Number::Float(v) => AttrValue::Float(v.to_bits()),
        }
    }
}

/// The attributes that an instruction is given, by name.
///
/// ```
/// use tessera_isa::inst::{Attrs, Relu};
/// use tessera_isa::ops::AttrName;
///
/// let attrs = Attrs::default().with(AttrName::ReluPreMode, Relu::NormalRelu).with(AttrName::Kernel, [3, 1]);
/// assert_eq!(attrs.relu(), Some(Relu::NormalRelu));
/// assert_eq!(attrs.kernel(), Some([3, 1]));
/// // What is left out counts as its default, where it has one.
/// assert_eq!((attrs.fmap(), attrs.stride()), (None, [1, 1]));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Attrs(SmallVec<[(AttrName, AttrValue); 4]>);

impl Attrs {
    /// No attribute.
    pub const fn new() -> Self {
        Attrs(SmallVec::new_const())
    }

    /// The attributes that are given, in the table's order.
    pub fn iter(&self) -> impl Iterator<Item = (AttrName, AttrValue)> {
        self.0.iter().copied()
    }

    /// The value that is given.
    pub fn get(&self, name: AttrName) -> Option<AttrValue> {
        self.0.iter().find(|(n, _)| *n == name).map(|(_, v)| *v)
    }

    /// The value that counts: the one that is given, or the attribute's default.
    pub fn value(&self, name: AttrName) -> Option<AttrValue> {
        self.get(name).or(name.info().default)
    }

    /// The word that is given, where the attribute has words.
    pub fn word(&self, name: AttrName) -> Option<&'static Word> {
        match (name.info().kind, self.get(name)?) {
            (AttrKind::Word { list, .. }, AttrValue::Word(n)) => list.get(usize::from(n)),
            _ => None,
        }
    }

    /// Gives an attribute a value, or takes it away.
    pub fn set(&mut self, name: AttrName, value: Option<impl Into<AttrValue>>) {
        let found = self.0.binary_search_by_key(&name, |(n, _)| *n);
        let at = found.unwrap_or_else(|at| at);
        if found.is_ok() {
            self.0.remove(at);
        }
        if let Some(value) = value {
            self.0.insert(at, (name, value.into()));
        }
    }

    /// With this attribute.
    #[must_use]
    pub fn with(mut self, name: AttrName, value: impl Into<AttrValue>) -> Self {
        self.set(name, Some(value));
        self
    }

    /// The attributes given here, and those given only in `other`. An attribute of TIMG2COL takes precedence over the
    /// configuration that SETFMATRIX and SET_IMG2COL_PADDING set (ops.md 7), and a new configuration over an earlier
    /// one.
    #[must_use]
    pub fn or(&self, other: &Attrs) -> Attrs {
        let mut all = other.clone();
        for (name, value) in self.iter() {
            all.set(name, Some(value));
        }
        all
    }

    /// The attributes as numbers, for keys of what is made ready; different attributes give different numbers.
    pub fn bits(&self) -> impl Iterator<Item = u64> {
        self.iter().flat_map(|(name, value)| {
            let (kind, [a, b, c, d]) = match value {
                AttrValue::Word(n) => (0, [n.into(), 0, 0, 0]),
                AttrValue::Int(v) => (1, [v as u64, (v >> 64) as u64, 0, 0]),
                AttrValue::Float(bits) => (2, [bits, 0, 0, 0]),
                AttrValue::Bool(b) => (3, [b.into(), 0, 0, 0]),
                AttrValue::Ints(v) => (4, v.map(|v| v as u64)),
            };
            [(name as u64) << 8 | kind, a, b, c, d]
        })
    }

    fn ints(&self, name: AttrName) -> Option<[i64; 4]> {
        match self.value(name)? {
            AttrValue::Ints(v) => Some(v),
            _ => None,
        }
    }

    fn pair(&self, name: AttrName) -> Option<[i64; 2]> {
        self.ints(name).map(|[a, b, _, _]| [a, b])
    }

    /// An integer that counts, given or by default.
    pub fn int(&self, name: AttrName) -> Option<i128> {
        match self.value(name)? {
            AttrValue::Int(v) => Some(v),
            _ => None,
        }
    }

    /// A yes or no that counts, given or by default.
    pub fn flag(&self, name: AttrName) -> bool {
        self.value(name) == Some(AttrValue::Bool(true))
    }

    /// `dim` of TCONCAT.
    pub fn dim(&self) -> i128 {
        match self.value(AttrName::Dim) {
            Some(AttrValue::Int(v)) => v,
            _ => i128::MAX,
        }
    }

    /// `src1Col` of the row expands, if it is given.
    pub fn src1_col(&self) -> Option<i128> {
        match self.get(AttrName::Src1Col)? {
            AttrValue::Int(v) => Some(v),
            _ => None,
        }
    }

    /// `isBinary` of TCOLSUM.
    pub fn is_binary(&self) -> bool {
        self.get(AttrName::IsBinary) == Some(AttrValue::Bool(true))
    }

    /// `enable` of SETHF32MODE and SETTF32MODE, if it is given.
    pub fn enable(&self) -> Option<bool> {
        match self.get(AttrName::Enable)? {
            AttrValue::Bool(on) => Some(on),
            _ => None,
        }
    }

    /// Whether quantization saturates infinities, too (`saturate_inf`).
    pub fn saturate_inf(&self) -> bool {
        self.get(AttrName::SaturateInf) == Some(AttrValue::Bool(true))
    }

    /// Whether the store adds to the old contents (`atomicType`).
    pub fn adds(&self) -> bool {
        self.atomic_type() == Some(AtomicType::Add)
    }

    /// `init_out_buffer` of TLOAD.
    pub fn init_out_buffer(&self) -> bool {
        self.get(AttrName::InitOutBuffer) == Some(AttrValue::Bool(true))
    }

    /// `kernel = [h, w]`, if it is given.
    pub fn kernel(&self) -> Option<[i64; 2]> {
        self.pair(AttrName::Kernel)
    }

    /// `stride = [h, w]`.
    pub fn stride(&self) -> [i64; 2] {
        self.pair(AttrName::Stride).unwrap_or_default()
    }

    /// `dilation = [h, w]`.
    pub fn dilation(&self) -> [i64; 2] {
        self.pair(AttrName::Dilation).unwrap_or_default()
    }

    /// `pad = [left, right, top, bottom]`.
    pub fn pad(&self) -> [i64; 4] {
        self.ints(AttrName::Pad).unwrap_or_default()
    }

    /// `pad_value`, if it is given.
    pub fn pad_value(&self) -> Option<Number> {
        self.get(AttrName::PadValue).and_then(AttrValue::number)
    }

    /// `fmap = [h, w]`, if it is given.
    pub fn fmap(&self) -> Option<[i64; 2]> {
        self.pair(AttrName::Fmap)
    }

    /// `shape = [rows, cols]` of TRESHAPE, if it is given.
    pub fn shape(&self) -> Option<[i64; 2]> {
        self.pair(AttrName::Shape)
    }
}

impl<A: Into<Attrs>, B: Into<Attrs>> From<(A, B)> for Attrs {
    fn from((a, b): (A, B)) -> Self {
        a.into().or(&b.into())
    }
}

/// Attributes whose words are a type of their own.
macro_rules! words {
    ($($(#[$doc:meta])* $get:ident: $name:ident = $word:ident;)*) => {
        $(impl From<$word> for AttrValue {
            fn from(w: $word) -> Self {
                AttrValue::Word(w as u8)
            }
        }
        impl From<$word> for Attrs {
            fn from(w: $word) -> Self {
                Attrs::default().with(AttrName::$name, w)
            }
        })*
        impl Attrs {
            $($(#[$doc])* pub fn $get(&self) -> Option<$word> {
                match self.value(AttrName::$name)? {
                    AttrValue::Word(n) => $word::ALL.get(usize::from(n)).copied(),
                    _ => None,
                }
            })*
        }
    };
}

words! {
    /// `reluPreMode`.
    relu: ReluPreMode = Relu;
    /// `accToVecMode`, if it is given.
    acc_to_vec: AccToVecMode = AccToVec;
    /// `mode` of TINSERT, if it is given.
    split: Mode = Split;
    /// `location` of a reserved buffer, if it is given.
    location: Location = Space;
    /// `layout` of a view, if it is given.
    layout: Layout = ViewTag;
    /// `cmpMode`.
    cmp: CmpMode = Cmp;
    /// `mode` of SETHF32MODE and SETTF32MODE.
    f32_rounding: F32Mode = F32Rounding;
    /// `pad_mode` of TLOAD.
    pad_mode: PadMode = PadMode;
    /// `atomicType` of TSTORE.
    atomic_type: AtomicType = AtomicType;
    /// `notifyOp` of TNOTIFY, if it is given.
    notify_op: NotifyOp = NotifyOp;
    /// `cmp` of TWAIT and TTEST, if it is given.
    wait_cmp: WaitCmp = WaitCmp;
    /// `reduceOp` of TREDUCE, if it is given.
    reduce_op: ReduceOp = ReduceOp;
    /// `stPhase` of TSTORE, which changes nothing.
    st_phase: StPhase = Phase;
    /// `gatherOob` of MGATHER.
    gather_oob: GatherOob = GatherOob;
    /// `scatterOob` of MSCATTER.
    scatter_oob: ScatterOob = ScatterOob;
    /// `scatterAtomicOp` of MSCATTER.
    scatter_atomic: ScatterAtomicOp = ScatterAtomic;
    /// `coalesce`, if it is given.
    coalesce: Coalesce = Coalesce;
    /// `precision_mode`, which changes nothing.
    precision: PrecisionMode = Precision;
    /// `rmode` of TCVT.
    rounding: Rmode = Rounding;
    /// `sat_mode` of TCVT, if it is given.
    saturation: SatMode = Saturation;
    /// `maskPattern` of TGATHER, if it is given.
    mask_pattern: MaskPattern = MaskPattern;
    /// `quant_type` of TQUANT, if it is given.
    quant_type: QuantType = QuantType;
    /// `quantScaleAlg` of TQUANT_MX.
    quant_scale_alg: QuantScaleAlg = QuantScaleAlg;
    /// `grpAxis` of TQUANT_MX and of TMOV of exponents.
    group_axis: GrpAxis = GroupAxis;
    /// `storeMode` of TQUANT_MX, if it is given.
    store_mode: StoreMode = StoreMode;
}
