//! Out of the accumulator, with conversion (cube.md 6).

use super::fields::Fields;
use super::layout::acc;
use super::moves::parameters_in_bounds;
use super::{Read, saturates_unsaid};
use crate::check::{Refusal, broken};
use crate::dma;
use crate::footprint::{Touch, Whose};
use crate::run::{Core, Issue, Place, Value, scalar_bits};
use crate::table::Space;
use tessera_isa::codec::{Number, Overflow, QuantParam};
use tessera_isa::diag::Diagnostic;
use tessera_isa::elem::Elem;
use tessera_isa::inst::{ScalarType, Sign};
use tessera_isa::sem::Func;

/// Modes of pre_quant without `_scalar` and `_vec`: the accumulator's type, the destination's, whether there is a scale.
const MODES: &[(&str, Elem, &[Elem], bool)] = &[
    ("f32_f16", Elem::F32, &[Elem::F16], false),
    ("f32_bf16", Elem::F32, &[Elem::Bf16], false),
    ("qf322f16_pre", Elem::F32, &[Elem::F16], true),
    ("qf322bf16_pre", Elem::F32, &[Elem::Bf16], true),
    ("qf322f32_pre", Elem::F32, &[Elem::F32], true),
    ("qf322fp8_pre", Elem::F32, &[Elem::F8e4m3], true),
    ("qf322hif8_pre", Elem::F32, &[Elem::Hif8], true),
    ("qf322b8_pre", Elem::F32, &[Elem::I8, Elem::U8], true),
    ("deqf16", Elem::I32, &[Elem::F16], true),
    ("qs322bf16_pre", Elem::I32, &[Elem::Bf16], true),
    ("req8", Elem::I32, &[Elem::I8, Elem::U8], true),
];
/// Modes without a public rule (cube.md 7).
const UNKNOWN: &[&str] = &[
    "qf322hif8_pre_hybrid",
    "deqs32_int",
    "deqs16",
    "req4",
    "qf162b8_pre",
    "qf162s4_pre",
    "qf162s16_pre",
    "qf322s4_pre",
];
const RELUS: [&str; 4] = ["no_relu", "normal_relu", "scalar_relu", "vector_relu"];
/// The greatest number of runs that an overlap is looked for in.
const MOST_RUNS: i64 = 1 << 16;

/// Whether a mode of pre_quant or pre_relu is known, and does not run.
pub(super) fn is_unknown(mode: &str) -> bool {
    mode == "pwl" || UNKNOWN.contains(&split(mode).0)
}

/// A mode without its ending, and whether a parameter for each column is read; `None` where it has no ending.
fn split(mode: &str) -> (&str, Option<bool>) {
    match (mode.strip_suffix("_vec"), mode.strip_suffix("_scalar")) {
        (Some(base), _) => (base, Some(true)),
        (_, Some(base)) => (base, Some(false)),
        _ => (mode, None),
    }
}

/// The clauses in the order in which they stand.
pub(super) const CLAUSES: &[&[&str]] = &[
    &["dst_mode"],
    &["unit_flag"],
    &["pre_quant"],
    &["pre_relu"],
    &["nz2nd", "nz2dn", "nz2nz"],
    &["loop3"],
    &["sat", "nosat"],
    &["atomic"],
];

/// The order of a destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    Rows,
    /// By columns; the step between rows of the accumulator is an operand.
    Columns,
    /// Blocks of 16 or 8 columns.
    Blocks,
}

/// The types, words and clauses of a store.
pub(super) fn types(f: &Fields<'_>) -> Result<(), Refusal> {
    let inst = f.inst;
    let (from, to) = (f.elem(0), f.elem(1));
    let mode = f.pair_in("pre_quant", "mode");
    let relu = f.pair_in("pre_relu", "mode");
    let row = mode.map(split).map(|(base, vector)| (MODES.iter().find(|row| row.0 == base), vector));
    match (f.group("pre_quant"), mode, row) {
        (Some(_), None, _) => return Err(broken(inst, "mode", "pre_quant names no mode".into(), "write mode = …")),
        (_, Some(mode), Some((row, vector))) if row.is_none_or(|row| row.3 != vector.is_some()) => {
            if !is_unknown(mode) {
                let names: Vec<&str> = MODES.iter().map(|row| row.0).collect();
                let what = format!("`{mode}` is no mode of pre_quant");
                let help = format!("modes are {}, with _scalar or _vec where they scale", names.join(", "));
                return Err(broken(inst, "mode", what, help));
            }
        }
        _ => {}
    }
    if let Some(group) = f.group("pre_relu")
        && !relu.is_some_and(|relu| RELUS.contains(&relu) || is_unknown(relu))
    {
        let what = relu.map_or(format!("pre_relu with {} items names no mode", group.len()), |relu| {
            format!("`{relu}` is no mode of pre_relu")
        });
        return Err(broken(inst, "mode", what, format!("modes are {}", RELUS.join(", "))));
    }
    if super::unknown_mode(inst.call).is_some() {
        return Ok(());
    }
    let scales = matches!(relu, Some("scalar_relu" | "vector_relu"));
    let fits = match row.and_then(|(row, _)| row) {
        Some((_, source, targets, _)) => from == *source && targets.contains(&to),
        None => from == to && matches!(from, Elem::F32 | Elem::I32) && !(scales && from == Elem::I32),
    };
    if !fits {
        let what = format!("{from} is not stored as {to} with {}", mode.unwrap_or("no pre_quant"));
        return Err(broken(
            inst,
            "dtype",
            what,
            "take a mode for the two types, or f32 to f32 and i32 to i32 without one",
        ));
    }
    let is_vector = row.and_then(|(_, vector)| vector) == Some(true);
    payload(f, "pre_quant", mode, is_vector, mode.is_some())?;
    payload(f, "pre_relu", relu, relu == Some("vector_relu"), scales)?;
    clip(f, to)?;
    layout(f)?;
    splits(f)?;
    if let Some(ty) = f.pair_in("atomic", "type") {
        let op = f.pair_in("atomic", "op").unwrap_or("add");
        let wanted = dma::atomic_elem(ty);
        if wanted != Some(to) || !dma::ATOMIC_OPS.contains(&op) || f.space(1) != Space::Gm {
            let what = format!("atomic(type = {ty}, op = {op}) into {to}");
            return Err(broken(inst, "atomic", what, "name the destination's type, and add, max or min"));
        }
    }
    Ok(())
}

/// A mode's parameter: a float, a pointer to fb, or none.
fn payload(f: &Fields<'_>, group: &str, mode: Option<&str>, vector: bool, wanted: bool) -> Result<(), Refusal> {
    let Some(mode) = mode else { return Ok(()) };
    let given = f.value_in(group).and_then(|n| f.inst.args.get(n));
    let is_float = |ty: ScalarType| matches!(ty, ScalarType::Float(Elem::F16 | Elem::Bf16 | Elem::F32));
    let fits = match given {
        None => !wanted,
        Some(ty) if vector => ty.pointer().is_some_and(|(space, _)| space == Space::Fb),
        Some(ty) => wanted && ty.scalar().is_some_and(is_float),
    };
    if fits {
        return Ok(());
    }
    let wanted = match (wanted, vector) {
        (false, _) => "none",
        (_, true) => "a pointer to fb",
        (_, false) => "a scalar of f16, bf16 or f32",
    };
    let given = given.map_or("nothing".to_string(), |ty| ty.to_string());
    let what = format!("{mode} has {given} as its parameter, and takes {wanted}");
    Err(broken(f.inst, "payload", what, format!("give {wanted}")))
}

fn clip(f: &Fields<'_>, to: Elem) -> Result<(), Refusal> {
    let Some(ty) = f.named_in("pre_relu", "clip").and_then(|n| f.inst.args.get(n)?.scalar()) else { return Ok(()) };
    let fits = match (to, ty) {
        (Elem::F16, ScalarType::Float(Elem::F16)) => true,
        (Elem::U8, ScalarType::Int(16, sign)) => sign != Sign::Signed,
        (Elem::I8, ScalarType::Int(8 | 16, sign)) => sign != Sign::Unsigned,
        _ => false,
    };
    if fits {
        return Ok(());
    }
    let what = format!("the clip value is {}, and the destination {to}", crate::types::element_text(ty));
    Err(broken(f.inst, "clip", what, "f16 takes f16, u8 takes i16, i8 takes i8 or i16, others none"))
}

fn layout_of(f: &Fields<'_>) -> Layout {
    match (f.group("nz2dn"), f.group("nz2nz").is_some() || f.has_word("nz2nz")) {
        (Some(_), _) => Layout::Columns,
        (_, true) => Layout::Blocks,
        _ => Layout::Rows,
    }
}

fn layout(f: &Fields<'_>) -> Result<(), Refusal> {
    let wrong = |what: &str, help: &str| Err(broken(f.inst, "layout", what.into(), help));
    if layout_of(f) == Layout::Blocks {
        if f.elem(1) != Elem::F32 {
            return wrong("nz2nz has a destination of another type than f32", "store rows or columns");
        }
        if f.group("loop3").is_some() {
            return wrong("nz2nz has a loop3", "write one store each");
        }
    } else if f.group("loop3").is_some() && f.group("nz2dn").is_none() && !f.has_word("nz2nd") {
        return wrong("loop3 stands without a layout", "write nz2nd before it");
    }
    Ok(())
}

fn splits(f: &Fields<'_>) -> Result<(), Refusal> {
    let Some(word) = f.word_in("dst_mode") else { return Ok(()) };
    let wrong = |what: String, help: &str| Err(broken(f.inst, "split", what, help));
    if !matches!(word, "split_m" | "split_n") {
        return wrong(format!("`{word}` is no split"), "write split_m, split_n or the number of a core");
    }
    let extra = ["pre_quant", "pre_relu", "loop3"].into_iter().find(|group| f.group(group).is_some());
    if let Some(extra) = extra {
        return wrong(format!("{word} stands with {extra}"), "store each half on its own");
    }
    if f.elem(0) != f.elem(1) || layout_of(f) != Layout::Rows {
        return wrong(format!("{word} converts, or has another layout than nz2nd"), "store each half on its own");
    }
    Ok(())
}

/// The numbers of a store.
struct Store {
    m: i64,
    n: i64,
    ss: i64,
    ds: i64,
    layout: Layout,
    /// Rows of the accumulator from one to the next.
    step: i64,
    /// The columns of a block.
    width: i64,
    /// Repetitions: count, source and destination stride.
    loop3: [i64; 3],
    size: i64,
}

impl Store {
    fn new(f: &Fields<'_>) -> Option<Store> {
        let layout = layout_of(f);
        let group = |name: &str, usual: i64| if f.group(name).is_some() { f.in_group(name, 0) } else { Some(usual) };
        let loop3 = match f.group("loop3") {
            Some(_) => [f.in_group("loop3", 0)?, f.in_group("loop3", 1)?, f.in_group("loop3", 2)?],
            None => [1, 0, 0],
        };
        Some(Store {
            m: f.int("m")?,
            n: f.int("n")?,
            ss: f.int("ss")?,
            ds: f.int("ds")?,
            layout,
            step: if layout == Layout::Columns { group("nz2dn", 1)? } else { 1 },
            width: if layout == Layout::Blocks && group("nz2nz", 0)? == 1 { 8 } else { 16 },
            loop3,
            size: f.size(1),
        })
    }

    /// The k-th run of elements that follow each other in the destination: where it starts, and each element's row and
    /// column.
    fn run(&self, k: i64) -> (i64, Vec<(i64, i64)>) {
        let (m, n, w) = (self.m, self.n, self.width);
        let elements = match self.layout {
            Layout::Rows => (0..n).map(|j| (k, j)).collect(),
            Layout::Columns => (0..m).map(|i| (i, k)).collect(),
            Layout::Blocks => (0..m).flat_map(|i| (k * w..(k + 1) * w).map(move |j| (i, j))).collect(),
        };
        (k * self.ds, elements)
    }

    /// The number of runs, and elements of one.
    fn shape(&self) -> [i64; 2] {
        match self.layout {
            Layout::Rows => [self.m, self.n],
            Layout::Columns => [self.n, self.m],
            Layout::Blocks => [self.n / self.width, self.m * self.width],
        }
    }

    /// Bytes of a repetition in the destination.
    fn reach(&self) -> i64 {
        let [runs, len] = self.shape();
        ((runs - 1).saturating_mul(self.ds)).saturating_add(len).saturating_mul(self.size)
    }
}

/// The vector core that gets everything.
fn core_of(f: &Fields<'_>) -> Option<i64> {
    f.value_in("dst_mode").and_then(|n| f.at(n))
}

pub(super) fn check(f: &Fields<'_>) -> Result<(), Refusal> {
    let inst = f.inst;
    if let Some(given) = f.group("nz2nz").filter(|items| !items.is_empty()).and(f.in_group("nz2nz", 0))
        && !(0..=1).contains(&given)
    {
        return Err(broken(inst, "layout", format!("split is {given}"), "split is 0 or 1"));
    }
    if let Some(step) = f.in_group("nz2dn", 0).filter(|step| *step != 1 && f.group("unit_flag").is_some()) {
        return Err(broken(inst, "layout", format!("unit_flag stands with a step of {step}"), "use step 1"));
    }
    let width = if f.in_group("nz2nz", 0) == Some(1) { 8 } else { 16 };
    if let Some(n) = f.int("n").filter(|n| layout_of(f) == Layout::Blocks && n % width != 0) {
        return Err(broken(
            inst,
            "layout",
            format!("nz2nz has {n} columns, no multiple of {width}"),
            "use whole blocks",
        ));
    }
    match (f.word_in("dst_mode"), f.int("m"), f.int("n")) {
        (Some("split_m"), Some(m), _) if m % 2 != 0 => {
            return Err(broken(inst, "split", format!("split_m has {m} rows"), "use an even number"));
        }
        (Some("split_n"), _, Some(n)) if n % 32 != 0 => {
            return Err(broken(inst, "split", format!("split_n has {n} columns"), "use a multiple of 32"));
        }
        _ => {}
    }
    f.base(0, 64)?;
    f.base(1, 32)?;
    let is_vector =
        |group: &str| f.value_in(group).filter(|n| inst.args.get(*n).is_some_and(|ty| ty.pointer().is_some()));
    let (quant, slopes) = (is_vector("pre_quant"), is_vector("pre_relu"));
    quant.map_or(Ok(()), |n| f.base(n, 128))?;
    slopes.map_or(Ok(()), |n| f.base(n, 64))?;
    let (size, on_chip) = (f.size(1), f.space(1) != Space::Gm);
    if let Some(ds) = f.int("ds").filter(|ds| on_chip && (*ds == 0 || ds.wrapping_mul(size) % 32 != 0)) {
        let what = format!("ds is {ds} elements of {size} bytes");
        return Err(broken(inst, "align", what, "use a stride whose bytes are a multiple of 32, and not 0"));
    }
    if f.in_group("loop3", 0).is_some_and(|count| count > 1) && on_chip {
        f.stride("the destination stride of loop3", f.in_group("loop3", 2).map(|d| d.wrapping_mul(size)))?;
    }
    const FIELD: i64 = 65535;
    const WIDE: i64 = (1 << 32) - 1;
    f.range("m", f.int("m"), 1, FIELD)?;
    f.range("n", f.int("n"), 1, 4095)?;
    f.range("ss", f.int("ss"), 0, FIELD)?;
    f.range("ds", f.int("ds"), 0, WIDE)?;
    for (n, (name, most)) in [("loop3's count", FIELD), ("s3", FIELD), ("d3", WIDE)].into_iter().enumerate() {
        f.range(name, f.in_group("loop3", n), 0, most)?;
    }
    f.range("step", f.in_group("nz2dn", 0), 0, FIELD)?;
    f.range("core", core_of(f), 0, 1)?;
    f.range("sid", f.int("sid"), 0, 3)?;
    f.range("cache", f.int("cache"), 0, 15)?;
    let Some(s) = Store::new(f) else { return Ok(()) };
    let [runs, len] = s.shape();
    if runs > 1 && s.ds < len {
        let what = format!("{runs} runs of {len} elements are {} elements apart", s.ds);
        return Err(broken(inst, "overlap", what, "use a stride of at least a run"));
    }
    let [count, s3, d3] = s.loop3;
    if count == 0 {
        return Ok(());
    }
    let columns = (s.n - 1) / 16;
    let last = 64 * (columns * s.ss + s.step * (s.m - 1) + (count - 1) * s3) + 4 * s.n.min(16).max((s.n - 1) % 16 + 1);
    f.bounds(0, f.at(0), Some(last))?;
    quant.map_or(Ok(()), |n| part(f, n, s.n * 8, false))?;
    slopes.map_or(Ok(()), |n| part(f, n, s.n * 4, true))?;
    let halved = match f.word_in("dst_mode") {
        Some("split_m") => Store { m: s.m / 2, ..s },
        Some("split_n") => Store { n: s.n / 2, ..s },
        _ => s,
    };
    f.bounds(1, f.at(1), Some(((count - 1) * d3 * size).saturating_add(halved.reach())))
}

/// Parameters in their part of fb (cube.md 1 and 2).
fn part(f: &Fields<'_>, n: usize, len: i64, slopes: bool) -> Result<(), Refusal> {
    if let Some(at) = f.at(n).filter(|at| (*at >= 0x10000) != slopes) {
        let what = format!("the parameters are at fb byte {at:#x}");
        let help = if slopes { "slopes are from 0x10000 on" } else { "quantization parameters are below 0x10000" };
        return Err(broken(f.inst, "payload", what, help));
    }
    parameters_in_bounds(f, n, f.at(n), len)
}

/// Repetitions that write a common byte: the later one in order stays.
pub(super) fn overlapping_repetitions(f: &Fields<'_>) -> Option<Diagnostic> {
    let s = Store::new(f)?;
    let ([count, _, d3], [runs, len]) = (s.loop3, s.shape());
    if count < 2 || runs.saturating_mul(count) > MOST_RUNS {
        return None;
    }
    let mut starts: Vec<i64> =
        (0..count).flat_map(|r| (0..runs).map(move |n| (r, n))).map(|(r, n)| r * d3 + n * s.ds).collect();
    starts.sort_unstable();
    starts.windows(2).find(|pair| pair[1] - pair[0] < len)?;
    let rule = f.inst.call.row.rule(f.inst.call.name, "overlap");
    let what = format!("{}: repetitions of loop3 write common bytes", f.inst.call.name);
    Some(Diagnostic::warning(rule, what).help("the later one stays"))
}

/// How conversion treats what the destination cannot hold.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Narrow {
    AsUsual,
    Saturate,
    SaturateKeepNan,
    Infinity,
}

/// Everything between an accumulator's element and the destination's.
struct Conversion {
    from: Elem,
    to: Elem,
    /// Whether a scale is multiplied in.
    scales: bool,
    has_slope: bool,
    is_relu: bool,
    narrow: Narrow,
    clip: Option<u64>,
}

impl Conversion {
    fn new(f: &Fields<'_>, issue: &Issue<'_, '_>, core: &Core<'_>) -> Conversion {
        let mode = f.pair_in("pre_quant", "mode").map(split);
        let relu = f.pair_in("pre_relu", "mode");
        let keeps_nan = core.specials.control >> 50 & 1 == 1;
        let narrow = match (f.has_word("nosat"), f.has_word("sat"), f.group("sat").is_some()) {
            (true, ..) => Narrow::Infinity,
            (_, true, _) => Narrow::Saturate,
            (.., true) => Narrow::SaturateKeepNan,
            _ if !saturates_unsaid(core.specials) => Narrow::AsUsual,
            _ if keeps_nan => Narrow::SaturateKeepNan,
            _ => Narrow::Saturate,
        };
        let to = f.elem(1);
        let clip = f.named_in("pre_relu", "clip").and_then(|n| {
            let Some(Value::Int(raw)) = issue.args.get(n) else { return None };
            let ty = f.inst.args.get(n)?.scalar()?;
            Some(match to {
                Elem::F16 => scalar_bits(Some(ty), *raw, ScalarType::Float(Elem::F16)),
                Elem::U8 => *raw as u64 & 0xFFFF,
                _ => *raw as u64,
            })
        });
        Conversion {
            from: f.elem(0),
            to,
            scales: mode.is_some_and(|(_, vector)| vector.is_some()),
            has_slope: matches!(relu, Some("scalar_relu" | "vector_relu")),
            is_relu: relu == Some("normal_relu"),
            narrow,
            clip,
        }
    }

    /// The destination's bits.
    fn of(&self, bits: u64, param: QuantParam, slope: f32) -> u64 {
        let to = self.to;
        if self.from == Elem::I32 && to == Elem::I32 {
            let v = bits as u32 as i32;
            return u64::from(if self.is_relu { v.max(0) } else { v } as u32);
        }
        let x = if self.from == Elem::I32 { bits as u32 as i32 as f32 } else { f32::from_bits(bits as u32) };
        let t = if self.scales { x * param.scale } else { x };
        let t = if self.has_slope && !(t >= 0.0) { slope * t } else { t };
        let v = match to {
            Elem::F32 if !self.scales && !self.has_slope => bits,
            Elem::F32 => Elem::F32.encode_f32(t, Overflow::Infinity),
            Elem::I8 | Elem::U8 => integer(t, param) as u64 & 0xFF,
            _ => self.float(t),
        };
        let signed = to == Elem::I8 && param.signed;
        let v = if self.is_relu { relu(to, v, signed) } else { v };
        match self.clip {
            Some(clip) => least(to, v, clip, signed),
            None => v,
        }
    }

    fn float(&self, t: f32) -> u64 {
        let to = self.to;
        let largest = if let (_, Number::Float(largest)) = to.range() { largest } else { 0.0 };
        match self.narrow {
            Narrow::AsUsual if self.scales => to.encode_f32(t, Overflow::Saturate),
            Narrow::AsUsual => to.encode_f32(t, Overflow::Infinity),
            Narrow::Saturate if t.is_nan() => 0,
            Narrow::Saturate | Narrow::SaturateKeepNan if t.is_infinite() => {
                to.encode_f64(largest.copysign(f64::from(t)), Overflow::Saturate)
            }
            Narrow::Saturate | Narrow::SaturateKeepNan => to.encode_f32(t, Overflow::Saturate),
            // From here on HiFloat8 rounds beyond its largest number, which is an infinity here.
            Narrow::Infinity if to == Elem::Hif8 && f64::from(t).abs() >= 1.25 * largest => {
                to.encode_f32(f32::INFINITY.copysign(t), Overflow::Infinity)
            }
            // A type without infinities overflows to its NaN, which keeps the sign.
            Narrow::Infinity if to == Elem::F8e4m3 && !t.is_nan() => {
                let bits = to.encode_f32(t, Overflow::Infinity);
                if to.is_nan(bits) { bits & 0x7F | u64::from(t.is_sign_negative()) << 7 } else { bits }
            }
            Narrow::Infinity => to.encode_f32(t, Overflow::Infinity),
        }
    }
}

/// An integer of 8 bits (fixpipe.md 4, a5); bit 46 of the parameter says whether it is signed.
fn integer(t: f32, param: QuantParam) -> i32 {
    if t.is_nan() {
        return 0;
    }
    let v = t.round_ties_even().clamp(-256.0, 255.0) as i32 + param.offset;
    if param.signed { v.clamp(-128, 127) } else { v.clamp(0, 255) }
}

/// `v > 0 ? v : +0`.
fn relu(elem: Elem, v: u64, signed: bool) -> u64 {
    let positive = match elem.decode(v) {
        Number::Float(v) => v > 0.0,
        Number::Int(v) => v > 0 || elem == Elem::I8 && !signed,
    };
    if positive { v } else { 0 }
}

/// `min(v, clip)`.
fn least(elem: Elem, v: u64, clip: u64, signed: bool) -> u64 {
    let is_above = match (elem.decode(v), elem.decode(clip)) {
        (Number::Float(v), Number::Float(clip)) => v > clip,
        _ if elem == Elem::I8 && signed => i64::from(v as u8 as i8) > clip as i64,
        _ => (v & 0xFF) as i64 > clip as i64,
    };
    if is_above { clip & elem.mask() } else { v }
}

pub(super) fn run(f: &Fields<'_>, issue: &Issue<'_, '_>, core: &mut Core<'_>) -> Result<(), Refusal> {
    let Some(s) = Store::new(f) else { return Ok(()) };
    let how = Conversion::new(f, issue, core);
    let columns = parameters(f, &s, issue, core)?;
    let atomic = atomic(f, issue, core)?;
    let ((from, src), (to, dst)) = (issue.ptr("src"), issue.ptr("dst"));
    let split = f.word_in("dst_mode");
    let core_of = |unit: i64| if to.space == Space::Ub { Place { unit: 1 + unit as u32, ..to } } else { to };
    let parts: Vec<(Place, i64, i64, Store)> = match split {
        Some("split_m") => [0, 1].map(|c| (core_of(c), c * (s.m / 2), 0, Store { m: s.m / 2, ..s })).into(),
        Some(_) => [0, 1].map(|c| (core_of(c), 0, c * (s.n / 2), Store { n: s.n / 2, ..s })).into(),
        None => vec![(core_of(self::core_of(f).unwrap_or(0)), 0, 0, s)],
    };
    let mut skipped = 0;
    for (to, row, column, s) in parts {
        let [count, s3, d3] = s.loop3;
        for r in 0..count {
            for (first, elements) in (0..s.shape()[0]).map(|k| s.run(k)) {
                let at = dst + (r * d3 + first) * s.size;
                let mut run = Read::zeros(elements.len() * s.size as usize);
                for (n, (i, j)) in elements.iter().enumerate() {
                    let (i, j) = (i + row, j + column);
                    let from_at = src + 64 * r * s3 + acc(s.step * i, j, s.ss);
                    let bits = Read::of(core, from, from_at, 4).bits(0, 4);
                    let (param, slope) = columns.get(j as usize).copied().unwrap_or((QuantParam::scalar(0), 0.0));
                    run.set(n * s.size as usize, bits.map(|bits| how.of(bits, param, slope)), s.size as usize);
                }
                if to.space == Space::Gm {
                    core.memory.global(to, at, run.bytes.len() as u64, true)?;
                }
                match atomic {
                    None => run.write(core, to, at),
                    Some((elem, func)) => {
                        for n in 0..elements.len() {
                            let new = run.bits(n * s.size as usize, s.size as usize);
                            let done = dma::combine_element(core, (to, at + n as i64 * s.size), elem, func, new);
                            skipped += u64::from(!done);
                        }
                    }
                }
            }
        }
    }
    if skipped > 0 {
        let what = format!("{}: {skipped} undefined elements change nothing in global memory", f.inst.call.name);
        core.notes.push(Diagnostic::warning("undefined-read", what).help("compute them first, or store fewer"));
    }
    Ok(())
}

/// The quantization parameter and the slope of every column.
fn parameters(
    f: &Fields<'_>,
    s: &Store,
    issue: &Issue<'_, '_>,
    core: &Core<'_>,
) -> Result<Vec<(QuantParam, f32)>, Refusal> {
    let word = |group: &str, size: usize, j: i64| -> Result<Option<u64>, Refusal> {
        match f.value_in(group).and_then(|n| Some((n, issue.args.get(n)?))) {
            Some((_, Value::Ptr(place, at))) => {
                let at = at + size as i64 * j;
                match Read::of(core, *place, at, size).bits(0, size) {
                    Some(bits) => Ok(Some(bits)),
                    None => issue.broken(
                        "undefined-use",
                        format!("the {group} parameter of column {j}, fb bytes {at:#x} on, is undefined"),
                        "bring it with mte_l1_fb first",
                    ),
                }
            }
            Some((n, Value::Int(raw))) => {
                let ty = f.inst.args.get(n).and_then(|ty| ty.scalar());
                Ok(Some(scalar_bits(ty, *raw, ScalarType::Float(Elem::F32))))
            }
            _ => Ok(None),
        }
    };
    let mode = f.pair_in("pre_quant", "mode").map(split);
    let scales = mode.is_some_and(|(_, vector)| vector.is_some());
    let is_vector = mode.is_some_and(|(_, vector)| vector == Some(true));
    let mut out = Vec::new();
    for j in 0..s.n {
        let bits = if scales { word("pre_quant", 8, j)?.unwrap_or(0) } else { 0 };
        let param = if is_vector { QuantParam::vector(bits) } else { QuantParam::scalar(bits) };
        if scales && !param.scale.is_finite() {
            let what = format!("{}: the scale of column {j} is {}", f.inst.call.name, param.scale);
            return Err(Box::new(Diagnostic::error("quant-scale", what).help("use a finite scale")));
        }
        // An i8 destination takes either sign (cube.md 2).
        if scales && f.elem(1) == Elem::U8 && param.signed {
            let what = format!("{}: bit 46 of column {j} says signed, and the destination is u8", f.inst.call.name);
            return Err(Box::new(Diagnostic::error("quant-sign", what).help("clear bit 46, or store i8")));
        }
        let slope = word("pre_relu", 4, j)?.map_or(0.0, |bits| f32::from_bits(bits as u32));
        out.push((param, slope));
    }
    Ok(out)
}

/// The combining operation of a store to global memory: the clause's, else the control register's.
fn atomic(f: &Fields<'_>, issue: &Issue<'_, '_>, core: &Core<'_>) -> Result<Option<(Elem, Func)>, Refusal> {
    if f.space(1) != Space::Gm {
        return Ok(None);
    }
    match f.pair_in("atomic", "type") {
        Some(ty) => {
            let func = dma::atomic_func(f.pair_in("atomic", "op").unwrap_or("add"));
            Ok(dma::atomic_elem(ty).map(|elem| (elem, func)))
        }
        None => dma::atomic(issue, core, f.size(1)),
    }
}

pub(super) fn touched(f: &Fields<'_>, most: usize) -> Option<Vec<Touch>> {
    let s = Store::new(f)?;
    let [count, s3, d3] = s.loop3;
    let (m, n, ss, step) = (s.m, s.n, s.ss, s.step);
    let columns = (n + 15) / 16;
    let [runs, len] = s.shape();
    let rows = if step == 1 { 1 } else { m };
    if count.checked_mul(columns.checked_mul(rows)?.checked_add(2 * runs)?)? > most as i64 {
        return None;
    }
    let mut out = Vec::new();
    for r in 0..count {
        for column in 0..columns {
            let start = 64 * r * s3 + acc(0, 16 * column, ss);
            match step {
                1 => out.push(f.touch(0, start, 64 * (m - 1) + 4 * (n - 16 * column).min(16), false)),
                _ => {
                    out.extend((0..m).map(|i| f.touch(0, start + 64 * step * i, 4 * (n - 16 * column).min(16), false)))
                }
            }
        }
        let write = |whose: Whose, runs: i64, len: i64| {
            (0..runs).map(|k| (whose, (r * d3 + k * s.ds) * s.size, len * s.size)).collect::<Vec<_>>()
        };
        let writes = match (f.word_in("dst_mode"), core_of(f)) {
            (Some("split_m"), _) => [0, 1].into_iter().flat_map(|c| write(Whose::Core(c), runs / 2, len)).collect(),
            (Some(_), _) => [0, 1].into_iter().flat_map(|c| write(Whose::Core(c), runs, len / 2)).collect(),
            (None, Some(core)) => write(Whose::Core(core as u8), runs, len),
            (None, None) => write(Whose::Own, runs, len),
        };
        out.extend(writes.into_iter().map(|(whose, at, len)| Touch { whose, ..f.touch(1, at, len, true) }));
    }
    for (group, size) in [("pre_quant", 8), ("pre_relu", 4)] {
        let pointer = f.value_in(group).filter(|n| f.inst.args.get(*n).is_some_and(|ty| ty.pointer().is_some()));
        out.extend(pointer.map(|operand| f.touch(operand, 0, size * n, false)));
    }
    Some(out)
}
