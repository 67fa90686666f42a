//! Nests that change values: out of an accumulator (fixpipe.md 4), and the converting moves of the `cpu` profile.
//!
//! The scalar twin is the definition itself, [`Conversion::apply`], element by element. If the innermost loop is
//! contiguous on both sides, whole rows go through [`apply_run`] or, if one exists, a vector kernel. The vector kernel
//! takes the columns sixteen at a time, so that the parameters of a column are loaded once for all its rows.

use super::fixpipe::{Run, apply_run};
use crate::copy::{Loop, ONCE, Outer};
use crate::nest::{DST, Dim, Nest, OPERANDS, OutOfBounds, SRC, walk};
use crate::{Kernel, Level, Sides};
use smallvec::SmallVec;
use tessera_isa::codec::QuantParam;
use tessera_isa::elem::Elem;
use tessera_isa::sem::{Fixpipe, convert, relu};

/// The operand of a nest that says which quantization parameter belongs to an element: eight bytes each.
const PARAM: usize = 2;

/// The change of an element's value on the way from source to destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conversion {
    /// Out of an accumulator (fixpipe.md).
    Fixpipe(Fixpipe),
    /// A converting move of the `cpu` profile (ops.md 1, rule 5).
    Value {
        /// The type that is read.
        src: Elem,
        /// The type that is written.
        dst: Elem,
    },
}

impl Conversion {
    /// The bits to store for the bits of one element.
    #[inline]
    pub fn apply(&self, bits: u64, param: Option<&QuantParam>) -> u64 {
        match self {
            Conversion::Fixpipe(fixpipe) if fixpipe.src.bits() != 32 => {
                if fixpipe.relu {
                    relu(fixpipe.dst, bits)
                } else {
                    bits
                }
            }
            Conversion::Fixpipe(fixpipe) => fixpipe.apply(bits as u32, param),
            Conversion::Value { src, dst } => convert(*src, *dst, bits),
        }
    }

    /// The same as a fixpipe form, where there is one: a float narrowed by a move rounds as a plain cast does.
    fn as_fixpipe(&self) -> Option<Fixpipe> {
        match *self {
            Conversion::Fixpipe(fixpipe) => Some(fixpipe).filter(|f| f.src.bits() == 32),
            Conversion::Value { src: Elem::F32, dst: dst @ (Elem::F16 | Elem::Bf16) } => {
                Some(Fixpipe { src: Elem::F32, dst, relu: false, hardware_rounding: false, saturate_inf: false })
            }
            Conversion::Value { .. } => None,
        }
    }
}

/// The quantization parameters of one run: none (the plain form), one for all columns, or one per column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Params {
    list: Vec<QuantParam>,
    // The same by field, as vector registers want them.
    scale: Vec<f32>,
    offset: Vec<i32>,
}

impl Params {
    /// The parameters, that of column 0 first.
    pub fn new(params: impl IntoIterator<Item = QuantParam>) -> Self {
        let mut all = Params::default();
        all.set(params);
        all
    }

    /// Replaces all parameters.
    pub fn set(&mut self, params: impl IntoIterator<Item = QuantParam>) {
        self.list.clear();
        self.list.extend(params);
        self.scale.clear();
        self.scale.extend(self.list.iter().map(|p| p.scale));
        self.offset.clear();
        self.offset.extend(self.list.iter().map(|p| p.offset));
    }

    /// The number of parameters.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are none: the plain form.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

/// The parameters that a vector kernel reads: of one column, or of consecutive columns. Null in the plain form.
#[derive(Clone, Copy)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "vector kernels exist on x86-64 only"))]
pub struct Lanes {
    pub scale: *const f32,
    pub offset: *const i32,
    pub per_column: bool,
}

/// A vector kernel: `n` columns in every row of one loop.
///
/// Safety: for every row, `n` source elements are readable and `n` destination elements writable; where the kernel
/// quantizes, the parameters of one column or, per column, of all `n` are readable; the machine has the instructions that
/// the kernel was compiled for.
pub type RawConvert = unsafe fn(*const u8, *mut u8, &Loop, usize, &Lanes, &Fixpipe);

/// A converting nest with its kernels.
#[derive(Clone, Debug)]
pub struct Convert {
    nest: Nest,
    conversion: Conversion,
    vector: Option<Vector>,
    staged: Option<Box<PackedKernel>>,
    /// Of the source and of the destination.
    spans: [(i128, i128); 2],
    param_span: (i128, i128),
}

#[derive(Clone, Debug)]
struct Vector {
    plain: Option<RawConvert>,
    quant: Option<RawConvert>,
    fixpipe: Fixpipe,
    per_column: bool,
    n: usize,
    rows: Loop,
    /// The other loops, each with its stride in parameters, too.
    outer: SmallVec<[Outer<3>; 6]>,
}

impl Convert {
    /// Chooses the kernels of a converting nest, which was lowered with the widths of both element types.
    pub fn new(nest: Nest, conversion: Conversion, level: Level) -> Convert {
        let vector = Vector::new(&nest, &conversion, level.clamped());
        Convert {
            staged: if vector.is_none() { PackedKernel::new(&nest, &conversion, level).map(Box::new) } else { None },
            vector,
            conversion,
            spans: [nest.span(SRC), nest.span(DST)],
            param_span: nest.span(PARAM),
            nest,
        }
    }

    /// Converts; the operands start at the given bytes, the source's first.
    pub fn run(&self, mut bytes: Sides<'_>, at: [usize; 2], params: &Params) -> Result<(), OutOfBounds> {
        bytes.check(self.spans, at)?;
        if !params.is_empty() {
            OutOfBounds::check(self.param_span, 0, params.len() * 8)?;
        }
        if let Some(staged) = &self.staged {
            let mut rows = vec![0; staged.bytes];
            staged.convert.run(Sides::Two(bytes.source(), &mut rows), [at[0], 0], params)?;
            let (Sides::Two(_, dst) | Sides::One(dst)) = bytes;
            return staged.spread.run(Sides::Two(&rows, dst), [0, at[1]]);
        }
        let vector = self.vector.as_ref();
        let raw = vector.and_then(|v| if params.is_empty() { v.plain } else { v.quant });
        match raw.zip(vector) {
            Some((raw, vector)) => {
                let (src, dst) = bytes.pointers();
                let (src, dst) = (src.wrapping_add(at[0]), dst.wrapping_add(at[1]));
                let [to, from, param, _] = self.nest.base;
                walk(&vector.outer, [from, to, param / 8], &mut |at| {
                    let [s, d, p] = at.map(|at| at as isize);
                    let lanes = Lanes {
                        scale: params.scale.as_ptr().wrapping_offset(p),
                        offset: params.offset.as_ptr().wrapping_offset(p),
                        per_column: vector.per_column,
                    };
                    let (src, dst) = (src.wrapping_offset(s), dst.wrapping_offset(d));
                    // SAFETY: both spans lie inside their memories, and that of the parameters inside theirs.
                    unsafe { raw(src, dst, &vector.rows, vector.n, &lanes, &vector.fixpipe) }
                });
            }
            None => self.scalar(&mut bytes, at, params),
        }
        Ok(())
    }

    fn scalar(&self, bytes: &mut Sides<'_>, at: [usize; 2], params: &Params) {
        let bits = self.nest.bits;
        let unit = |at: usize, bits: u32| at as i64 * if bits == 4 { 2 } else { 1 };
        let mut moved = self.nest.clone();
        moved.base[SRC] = moved.base[SRC].wrapping_add(unit(at[0], bits[SRC]));
        moved.base[DST] = moved.base[DST].wrapping_add(unit(at[1], bits[DST]));
        match (&self.vector, moved.dims.pop()) {
            (Some(vector), Some(row)) => moved.for_each_element(|base| {
                if vector.row(bytes, &row, base, params).is_none() {
                    let row = Nest { bits, base, dims: [row].into_iter().collect() };
                    self.elements(bytes, &row, params);
                }
            }),
            (_, row) => {
                moved.dims.extend(row);
                self.elements(bytes, &moved, params);
            }
        }
    }

    /// Element by element, straight from the definition.
    fn elements(&self, bytes: &mut Sides<'_>, nest: &Nest, params: &Params) {
        nest.for_each_element(|[d, s, p, _]| {
            let param = usize::try_from(p / 8).ok().and_then(|p| params.list.get(p));
            bytes.map((s, nest.bits[SRC]), (d, nest.bits[DST]), |x| self.conversion.apply(x, param));
        });
    }
}

/// A nest whose rows are contiguous in the source only, such as an accumulator's into a column-major tile: converted row
/// by row into a buffer, then spread by a copying kernel.
#[derive(Clone, Debug)]
struct PackedKernel {
    convert: Convert,
    spread: Kernel,
    bytes: usize,
}

impl PackedKernel {
    /// Longer nests go element by element rather than through a buffer of any size.
    const LIMIT: u64 = 1 << 24;

    fn new(nest: &Nest, conversion: &Conversion, level: Level) -> Option<PackedKernel> {
        conversion.as_fixpipe()?;
        let (from, to) = (i64::from(nest.bits[SRC] / 8), u64::from(nest.bits[DST] / 8));
        let row = nest.dims.iter().position(|d| d.step[SRC] == from && matches!(d.step[PARAM], 0 | 8))?;
        let elements = nest.elements();
        if !(1..=Self::LIMIT).contains(&elements) || nest.bits[DST] < 8 {
            return None;
        }
        let mut convert = nest.clone();
        convert.base[DST] = 0;
        let row = convert.dims.remove(row);
        convert.dims.push(row);
        let mut spread = convert.clone();
        (spread.bits, spread.base) = ([nest.bits[DST], nest.bits[DST], 0, 0], [nest.base[DST], 0, 0, 0]);
        let mut stride = to as i64;
        for (inner, outer) in convert.dims.iter_mut().zip(&mut spread.dims).rev() {
            inner.step[DST] = stride;
            outer.step = [outer.step[DST], stride, 0, 0];
            stride *= inner.extent as i64;
        }
        spread.normalise();
        let bytes = usize::try_from(elements * to).ok()?;
        Vector::new(&convert, conversion, level.clamped())?;
        Some(PackedKernel {
            convert: Convert::new(convert, *conversion, level),
            spread: Kernel::new(&spread, level),
            bytes,
        })
    }
}

impl Vector {
    fn new(nest: &Nest, conversion: &Conversion, level: Level) -> Option<Vector> {
        let fixpipe = conversion.as_fixpipe()?;
        let (plain, quant) = kernels(&fixpipe, level);
        let (last, outer) = nest.dims.split_last()?;
        let contiguous = [SRC, DST].iter().all(|&k| last.step[k] == i64::from(nest.bits[k] / 8));
        let widths = nest.bits[SRC] == 32 && nest.bits[DST] == fixpipe.dst.bits();
        if !contiguous || !widths || !matches!(last.step[PARAM], 0 | 8) || nest.elements() == 0 {
            return None;
        }
        // The kernel takes the longest loop over which the parameters stay the same.
        let longest = (0..outer.len()).filter(|&k| outer[k].step[PARAM] == 0).max_by_key(|&k| outer[k].extent);
        let others = outer.iter().enumerate().filter(|&(k, _)| Some(k) != longest);
        Some(Vector {
            plain,
            quant,
            fixpipe,
            per_column: last.step[PARAM] == 8,
            n: last.extent as usize,
            rows: longest.map_or(ONCE, |k| Loop::of(&outer[k])),
            outer: others.map(|(_, d)| (d.extent, [d.step[SRC], d.step[DST], d.step[PARAM] / 8])).collect(),
        })
    }

    /// One row without vectors of our own, where its two sides do not overlap.
    fn row(&self, bytes: &mut Sides<'_>, row: &Dim, at: [i64; OPERANDS], params: &Params) -> Option<()> {
        let range = |at: i64, stride: i64| {
            let start = usize::try_from(at).ok()?;
            Some(start..start.checked_add(usize::try_from(stride).ok()?.checked_mul(self.n)?)?)
        };
        let first = usize::try_from(at[PARAM] / 8).ok()?;
        let params = match (params.is_empty(), self.per_column) {
            (true, _) => Run::Plain,
            (false, false) => Run::Same(params.list.get(first)?),
            (false, true) => Run::Each(params.list.get(first..first.checked_add(self.n)?)?),
        };
        let (src, dst) = bytes.runs(range(at[SRC], row.step[SRC])?, range(at[DST], row.step[DST])?)?;
        apply_run(&self.fixpipe, src, params, dst);
        Some(())
    }
}

/// The vector kernels of a plain and of a quantizing form.
#[cfg(target_arch = "x86_64")]
fn kernels(fixpipe: &Fixpipe, level: Level) -> (Option<RawConvert>, Option<RawConvert>) {
    if level < Level::Avx512 {
        return (None, None);
    }
    (super::x86::convert(fixpipe, false), super::x86::convert(fixpipe, true))
}

#[cfg(not(target_arch = "x86_64"))]
fn kernels(_: &Fixpipe, _: Level) -> (Option<RawConvert>, Option<RawConvert>) {
    (None, None)
}
