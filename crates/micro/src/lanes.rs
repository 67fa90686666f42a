//! Compute on registers and masks (micro/vector.md 3 to 7, predicate.md 2).

mod convert;
pub(crate) use convert::rounding as rounding_of;
mod whole;

use crate::check::{Refusal, conversion_word, pair, plain_word};
use crate::reg::{BYTES, Mask, Reg};
use crate::run::{Core, Issue, Made, Results, Value};
use crate::table::{Extreme, Fold, Lanes, Permute, Predicate};
use crate::types::{lane_bits, lane_elem};
use smallvec::smallvec;
use tessera_isa::codec::{Number, Overflow};
use tessera_isa::diag::Diagnostic;
use tessera_isa::elem::{Elem, PadKind};
use tessera_isa::inst::{Cmp, ScalarType};
use tessera_isa::sem::{Func, Rounding, Saturation};

/// Makes a register.
fn reg(reg: Reg) -> Results {
    smallvec![Made::Reg(Box::new(reg))]
}

/// The operands of a lane-wise instruction, before the mask: registers, and scalars in every lane.
struct Operands<'i, 'v> {
    issue: &'i Issue<'i, 'v>,
    lane: ScalarType,
    elem: Elem,
    /// Bytes of a lane.
    size: usize,
    mask: Mask,
}

impl<'i, 'v> Operands<'i, 'v> {
    fn new(issue: &'i Issue<'i, 'v>) -> Self {
        let lane = issue.inst.lanes().unwrap_or(ScalarType::Index);
        Operands { issue, lane, elem: lane_elem(lane), size: (lane_bits(lane) / 8) as usize, mask: issue.only_mask() }
    }

    fn count(&self) -> usize {
        BYTES / self.size
    }

    /// The bits of a lane of the n-th operand.
    fn get(&self, n: usize, i: usize) -> Option<u64> {
        match self.issue.args.get(n) {
            Some(Value::Reg(reg)) => reg.known(self.size, i),
            Some(Value::Int(_)) => Some(self.issue.lane_of(n, self.lane)),
            _ => None,
        }
    }

    /// The bits of some operands' lanes, where all are defined.
    fn all<const N: usize>(&self, i: usize) -> Option<[u64; N]> {
        let mut out = [0; N];
        for (n, value) in out.iter_mut().enumerate() {
            *value = self.get(n, i)?;
        }
        Some(out)
    }

    /// Both operands, where they are registers, all of it is defined, and every lane is on.
    fn whole(&self) -> Option<[&'v Reg; 2]> {
        let (Some(Value::Reg(x)), Some(Value::Reg(y))) = (self.issue.args.first(), self.issue.args.get(1)) else {
            return None;
        };
        let is_whole = x.defined.is_all() && y.defined.is_all() && self.mask.is_on(self.size);
        is_whole.then_some([*x, *y])
    }

    fn on(&self, i: usize) -> Option<bool> {
        self.mask.on(self.size, i)
    }

    /// A register whose inactive lanes are 0.
    fn masked(&self, lane: impl Fn(usize) -> Option<u64>) -> Reg {
        Reg::from_lanes(self.size, |i| match self.on(i)? {
            true => lane(i),
            false => Some(0),
        })
    }

    /// The same for a mask.
    fn marked(&self, lane: impl Fn(usize) -> Option<bool>) -> Mask {
        Mask::from_lanes(self.size, |i| Some(self.on(i)? && lane(i)?))
    }

    fn unary(&self, func: Func, x: u64) -> Option<u64> {
        func.eval(self.elem, &[(self.elem, x)])
    }

    fn binary(&self, func: Func, x: u64, y: u64) -> Option<u64> {
        func.eval(self.elem, &[(self.elem, x), (self.elem, y)])
    }
}

/// Lane by lane.
pub(crate) fn map(issue: &Issue<'_, '_>, sem: Lanes, core: &mut Core<'_>) -> Result<Results, Refusal> {
    let ops = Operands::new(issue);
    let (elem, bits) = (ops.elem, lane_bits(ops.lane));
    Ok(match sem {
        // Bits, whatever they mean: floats, too.
        Lanes::Map(Func::Not) => reg(ops.masked(|i| ops.get(0, i).map(|x| !x & elem.mask()))),
        Lanes::Map(Func::And) => reg(ops.masked(|i| ops.all(i).map(|[x, y]| x & y))),
        Lanes::Map(Func::Or) => reg(ops.masked(|i| ops.all(i).map(|[x, y]| x | y))),
        Lanes::Map(Func::Xor) => reg(ops.masked(|i| ops.all(i).map(|[x, y]| x ^ y))),
        Lanes::Map(func @ (Func::Shl | Func::Shr)) => {
            let count = |i: usize| -> Option<i64> {
                match issue.args.get(1)? {
                    Value::Int(v) => Some(*v),
                    _ => {
                        let ty = issue.inst.args.get(1)?.lane()?;
                        match lane_elem(ty).decode(ops.get(1, i)?) {
                            Number::Int(v) => i64::try_from(v).ok().or(Some(i64::MAX)),
                            Number::Float(_) => None,
                        }
                    }
                }
            };
            let is_outside =
                |i: &usize| ops.on(*i) == Some(true) && count(*i).is_some_and(|n| !(0..i64::from(bits)).contains(&n));
            if let Some(i) = (0..ops.count()).find(is_outside) {
                let rule = issue.inst.call.row.rule(issue.inst.call.name, "count");
                let given = count(i).unwrap_or(0);
                let what =
                    format!("{}: the count of lane {i} is {given}, and lanes have {bits} bits", issue.inst.call.name);
                core.notes.push(Diagnostic::warning(rule, what).help("its low bits count here"));
            }
            reg(ops.masked(|i| {
                let count = count(i)?.rem_euclid(i64::from(bits)) as u64;
                ops.binary(func, ops.get(0, i)?, count)
            }))
        }
        Lanes::Map(func @ (Func::Div | Func::Rem)) if !elem.is_float() => {
            let zero = |i: &usize| ops.on(*i) == Some(true) && ops.get(1, *i) == Some(0);
            if let Some(i) = (0..ops.count()).find(zero) {
                return issue.broken("zero", format!("the divisor of lane {i} is 0"), "mask the lane off");
            }
            reg(ops.masked(|i| ops.all(i).and_then(|[x, y]| ops.binary(func, x, y))))
        }
        Lanes::Map(func @ (Func::Abs | Func::Neg | Func::Exp | Func::Log | Func::Sqrt | Func::Relu)) => {
            reg(ops.masked(|i| ops.get(0, i).and_then(|x| ops.unary(func, x))))
        }
        Lanes::Map(func) => match ops.whole().and_then(|[x, y]| whole::binary(func, elem, x, y)) {
            Some(made) => reg(made),
            None => reg(ops.masked(|i| ops.all(i).and_then(|[x, y]| ops.binary(func, x, y)))),
        },
        Lanes::LeakyRelu => reg(ops.masked(|i| {
            let [x, y] = ops.all(i)?;
            let keeps = matches!(elem.decode(x), Number::Float(v) if v >= 0.0);
            if keeps { Some(x) } else { ops.binary(Func::Mul, y, x) }
        })),
        Lanes::Carry { subtracts } => {
            let given = issue.args.iter().filter_map(|v| if let Value::Mask(m) = v { Some(**m) } else { None }).nth(1);
            // With two masks the first is the carry, and the second the lanes.
            let (carry, active) = match given {
                Some(active) => (Some(ops.mask), active),
                None => (None, ops.mask),
            };
            let ops = Operands { mask: active, ..ops };
            let sum = |i: usize| {
                let [x, y] = ops.all(i)?;
                let k = carry.map_or(Some(subtracts), |carry| carry.on(ops.size, i))?;
                Some(match subtracts {
                    false => {
                        let t = x + y + u64::from(k);
                        (t & elem.mask(), t > elem.mask())
                    }
                    true => {
                        let borrow = y + u64::from(!k);
                        (x.wrapping_sub(borrow) & elem.mask(), x >= borrow)
                    }
                })
            };
            let made = ops.masked(|i| sum(i).map(|(r, _)| r));
            let carries = ops.marked(|i| sum(i).map(|(_, c)| c));
            smallvec![Made::Reg(Box::new(made)), Made::Mask(Box::new(carries))]
        }
        Lanes::MulAdd([a, b, c]) => {
            let kept = if issue.inst.call.operand("s").is_some() { 1 } else { 0 };
            reg(Reg::from_lanes(ops.size, |i| match ops.on(i)? {
                true => {
                    let lane = |n: u8| ops.get(usize::from(n), i);
                    Some(mul_add(elem, lane(a)?, lane(b)?, lane(c)?))
                }
                false => ops.get(kept, i),
            }))
        }
        Lanes::MulWide => {
            let product = |i: usize| {
                let [x, y] = ops.all(i)?;
                let number = |bits: u64| if let Number::Int(v) = elem.decode(bits) { v } else { 0 };
                Some((number(x) * number(y)) as u64)
            };
            let low = ops.masked(|i| product(i).map(|t| t & elem.mask()));
            let high = ops.masked(|i| product(i).map(|t| t >> 32));
            smallvec![Made::Reg(Box::new(low)), Made::Reg(Box::new(high))]
        }
        Lanes::ExpDif => {
            let narrow = ops.size == 2;
            let odd = usize::from(issue.inst.call.word(0).map(plain_word) == Some("ODD"));
            reg(Reg::from_lanes(4, |i| {
                let j = if narrow { 2 * i + odd } else { i };
                match ops.on(j)? {
                    true => ops.all(j).and_then(|[x, y]| Func::ExpDif.eval(Elem::F32, &[(elem, x), (elem, y)])),
                    false => Some(0),
                }
            }))
        }
        Lanes::MulConvert => {
            let odd = usize::from(issue.inst.call.word(1).map(plain_word) == Some("ODD"));
            reg(Reg::from_lanes(2, |j| {
                if j % 2 != odd {
                    return Some(0);
                }
                match ops.on(j / 2)? {
                    true => ops.all(j / 2).and_then(|[x, s]| {
                        let product = ops.binary(Func::Mul, x, s)?;
                        Some(convert::convert(Elem::F32, Elem::F16, product, "A", Some(false)))
                    }),
                    false => Some(0),
                }
            }))
        }
        Lanes::Count => {
            let down = issue.inst.call.attr_word("order") == Some("DESC");
            reg(Reg::from_lanes(ops.size, |i| {
                let start = ops.get(0, i)?;
                let by = if down { -(i as i128) } else { i as i128 };
                match elem.decode(start) {
                    Number::Int(s) => Some((s + by) as u64 & elem.mask()),
                    // The sum in f32 is rounded once; the number of a lane is exact in it.
                    Number::Float(_) if elem == Elem::F32 => {
                        Func::Add.eval(elem, &[(elem, start), (elem, elem.encode_int(by, Overflow::Infinity))])
                    }
                    Number::Float(s) => Some(elem.encode_f64(s + by as f64, Overflow::Infinity)),
                }
            }))
        }
        Lanes::Convert => reg(converted(&ops)),
        Lanes::Integral => {
            let rounding = convert::rounding(issue.inst.call.word(0).map_or("R", plain_word), elem);
            reg(ops.masked(|i| ops.get(0, i).map(|x| integral(elem, x, rounding))))
        }
        Lanes::Compare => {
            let cmp = compared(issue.inst.call);
            let holds = |x, y| Func::Compare(cmp).eval(Elem::U8, &[(elem, x), (elem, y)]) == Some(1);
            smallvec![Made::Mask(Box::new(ops.marked(|i| ops.all(i).map(|[x, y]| holds(x, y)))))]
        }
        Lanes::Select => {
            let (x, y) = (issue.reg(0), issue.reg(1));
            reg(Reg::from_bytes(|k| if ops.on(k / ops.size)? { x.byte(k) } else { y.byte(k) }))
        }
        Lanes::Broadcast => {
            let highest = issue.inst.call.attr_word("position") == Some("HIGHEST");
            let value = match issue.args.first() {
                Some(Value::Reg(_)) => ops.get(0, if highest { ops.count() - 1 } else { 0 }),
                _ => Some(issue.lane_of(0, ops.lane)),
            };
            reg(ops.masked(|_| value))
        }
    })
}

/// The comparison that a word names.
pub(crate) fn compared(call: &crate::Call) -> Cmp {
    match call.word(0) {
        Some("ne") => Cmp::Ne,
        Some("lt") => Cmp::Lt,
        Some("le") => Cmp::Le,
        Some("gt") => Cmp::Gt,
        Some("ge") => Cmp::Ge,
        _ => Cmp::Eq,
    }
}

/// `a·b + c`, exact and rounded once.
fn mul_add(elem: Elem, a: u64, b: u64, c: u64) -> u64 {
    match (elem.decode(a), elem.decode(b), elem.decode(c)) {
        (Number::Int(a), Number::Int(b), Number::Int(c)) => a.wrapping_mul(b).wrapping_add(c) as u64 & elem.mask(),
        (Number::Float(a), Number::Float(b), Number::Float(c)) if elem == Elem::F32 => {
            elem.encode_f32((a as f32).mul_add(b as f32, c as f32), Overflow::Infinity)
        }
        (Number::Float(a), Number::Float(b), Number::Float(c)) => {
            // The product of two narrow floats is exact in binary64; the sum is rounded to odd, so that rounding it
            // again rounds the exact sum once (Boldo and Melquiond 2008).
            let p = a * b;
            let s = p + c;
            let (bp, bc) = (s - c, s - (s - c));
            let error = (p - bp) + (c - bc);
            let is_even = s.to_bits() & 1 == 0;
            let s = if s.is_finite() && error != 0.0 && is_even {
                let away = (error > 0.0) == (s > 0.0);
                f64::from_bits(if away { s.to_bits() + 1 } else { s.to_bits() - 1 })
            } else {
                s
            };
            elem.encode_f64(s, Overflow::Infinity)
        }
        _ => 0,
    }
}

/// A float rounded to an integer, in its own type.
fn integral(elem: Elem, bits: u64, rounding: Rounding) -> u64 {
    let wide = match elem.decode(bits) {
        Number::Float(v) => Elem::F32.encode_f64(v, Overflow::Infinity),
        Number::Int(_) => 0,
    };
    let rounded = tessera_isa::sem::cvt(Elem::F32, Elem::F32, wide, rounding, Some(Saturation::Off));
    elem.encode_f32(f32::from_bits(rounded as u32), Overflow::Infinity)
}

/// The lanes that a conversion goes to (vector.md 5).
fn converted(ops: &Operands<'_, '_>) -> Reg {
    let inst = ops.issue.inst;
    let Some(to) = inst.results.first().and_then(|ty| ty.lane()) else { return Reg::default() };
    let Some(what) = pair(ops.lane, to) else { return Reg::default() };
    let rnd = conversion_word(inst.call, "rnd").unwrap_or_else(|| what.rounding.get(..1).unwrap_or("R"));
    let saturates = what.saturates.then(|| conversion_word(inst.call, "sat") != Some("NOSAT"));
    let part = match conversion_word(inst.call, "part") {
        Some("ODD" | "P1") => 1,
        Some("P2") => 2,
        Some("P3") => 3,
        _ => 0,
    };
    let float = |ty: ScalarType| if let ScalarType::Float(elem) = ty { elem } else { lane_elem(ty) };
    let (from, into) = (float(ops.lane), float(to));
    let to_size = (lane_bits(to) / 8) as usize;
    let one = |bits: u64| convert::convert(from, into, bits, rnd, saturates);
    let source = ops.issue.reg(0);
    if into.is_fp4() {
        return Reg::from_bytes(|k| {
            if k % 4 != part {
                return Some(0);
            }
            let nibble = |j: usize| match ops.on(j)? {
                true => source.known(2, j).map(|bits| one(bits) as u8),
                false => Some(0),
            };
            let first = k / 4 * 2;
            Some(nibble(first)? | nibble(first + 1)? << 4)
        });
    }
    if from.is_fp4() {
        return Reg::from_lanes(2, |j| {
            let k = j / 2 * 4 + part;
            match ops.on(k)? {
                true => source.byte(k).map(|byte| one(u64::from(byte >> (4 * (j % 2)) & 15))),
                false => Some(0),
            }
        });
    }
    let value = |i: usize| match ops.on(i)? {
        true => source.known(ops.size, i).map(one),
        false => Some(0),
    };
    match (ops.size, to_size) {
        (wide, narrow) if wide > narrow => {
            let n = wide / narrow;
            Reg::from_lanes(narrow, |j| if j % n == part { value(j / n) } else { Some(0) })
        }
        (narrow, wide) => Reg::from_lanes(wide, |i| value(wide / narrow * i + part * usize::from(wide > narrow))),
    }
}

impl Extreme {
    /// The extreme of two lanes.
    fn func(self) -> Func {
        match self {
            Extreme::Max => Func::Max,
            Extreme::Min => Func::Min,
        }
    }

    /// The bits that an inactive lane counts as.
    fn neutral(self, elem: Elem) -> u64 {
        elem.pad_bits(match self {
            Extreme::Max => PadKind::Min,
            Extreme::Min => PadKind::Max,
        })
    }

    /// Whether the first of two numbers is beyond the second; a NaN is not.
    fn beats<T: PartialOrd>(self, x: T, y: T) -> bool {
        match self {
            Extreme::Max => x > y,
            Extreme::Min => x < y,
        }
    }
}

pub(crate) fn fold(issue: &Issue<'_, '_>, sem: Fold) -> Result<Results, Refusal> {
    let ops = Operands::new(issue);
    let (elem, size, count) = (ops.elem, ops.size, ops.count());
    // A lane as it counts; undefined where it, or its mask bit, is.
    let lane = |i: usize, inactive: u64| match ops.on(i)? {
        true => ops.get(0, i),
        false => Some(inactive),
    };
    let find = |side: Extreme| {
        let better = |x: u64, y: u64| match (elem.decode(x), elem.decode(y)) {
            (Number::Float(x), Number::Float(y)) => side.beats(x, y),
            (Number::Int(x), Number::Int(y)) => side.beats(x, y),
            (Number::Float(_), Number::Int(_)) | (Number::Int(_), Number::Float(_)) => false,
        };
        let mut best: Option<(usize, u64)> = None;
        for i in 0..count {
            let value = lane(i, side.neutral(elem))?;
            if elem.is_nan(value) {
                return Some((i, value));
            }
            if best.is_none_or(|(_, old)| better(value, old)) {
                best = Some((i, value));
            }
        }
        best
    };
    let extreme = |side: Extreme, lanes: std::ops::Range<usize>| {
        let start = side.neutral(elem);
        lanes.map(|i| lane(i, start)).try_fold(start, |a, b| ops.binary(side.func(), a, b?))
    };
    // A result for each of the eight groups of 32 bytes.
    let groups = |of: &dyn Fn(std::ops::Range<usize>) -> Option<u64>| {
        let n = count / 8;
        reg(Reg::from_lanes(size, |g| if g < 8 { of(g * n..(g + 1) * n) } else { Some(0) }))
    };
    Ok(match sem {
        Fold::Sum => {
            let to = issue.inst.results.first().and_then(|ty| ty.lane()).unwrap_or(ops.lane);
            let (wide, to_size) = (lane_elem(to), (lane_bits(to) / 8) as usize);
            let values: Option<Vec<u64>> = (0..count).map(|i| lane(i, 0)).collect();
            let total = values.and_then(|values| {
                let widened = values.into_iter().map(|v| match elem.decode(v) {
                    Number::Int(v) => v as u64 & wide.mask(),
                    Number::Float(_) => v,
                });
                tree(wide, widened.collect())
            });
            reg(Reg::from_lanes(to_size, |i| if i == 0 { total } else { Some(0) }))
        }
        Fold::Find(side) => {
            let found = find(side);
            reg(Reg::from_lanes(size, |i| match i {
                0 => found.map(|(_, bits)| bits),
                1 => found.map(|(k, _)| k as u64),
                _ => Some(0),
            }))
        }
        Fold::Mark(side) => {
            let value = extreme(side, 0..count);
            let equal = |x: u64, y: u64| {
                elem.is_nan(x) && elem.is_nan(y)
                    || Func::Compare(Cmp::Eq).eval(Elem::U8, &[(elem, x), (elem, y)]) == Some(1)
            };
            let mask = match value {
                Some(value) => ops.marked(|i| ops.get(0, i).map(|x| equal(x, value))),
                None => Mask::from_lanes(size, |_| None),
            };
            let made = Reg::from_lanes(size, |i| if i == 0 { value } else { Some(0) });
            smallvec![Made::Reg(Box::new(made)), Made::Mask(Box::new(mask))]
        }
        Fold::GroupSum => groups(&|lanes| {
            let values: Option<Vec<u64>> = lanes.map(|i| lane(i, 0)).collect();
            values.and_then(|values| tree(elem, values))
        }),
        Fold::GroupExtreme(side) => groups(&|lanes| extreme(side, lanes)),
        Fold::Pairs => reg(Reg::from_lanes(size, |k| match k < count / 2 {
            true => ops.binary(Func::Add, lane(2 * k, 0)?, lane(2 * k + 1, 0)?),
            false => Some(0),
        })),
        Fold::Histogram => {
            let (acc, x, mask) = (issue.reg(0), issue.reg(1), ops.mask);
            let half = issue.int("h") as u64 * 128;
            let is_cumulative = issue.inst.call.name.starts_with('c');
            let mut counts = Some([0u64; BYTES]);
            for i in 0..BYTES {
                match (mask.bit(i), x.byte(i)) {
                    (Some(false), _) => {}
                    (Some(true), Some(byte)) => {
                        if let Some(count) = counts.as_mut().and_then(|all| all.get_mut(usize::from(byte))) {
                            *count += 1;
                        }
                    }
                    _ => counts = None,
                }
            }
            reg(Reg::from_lanes(2, |k| {
                let (counts, bin) = (counts.as_ref()?, half + k as u64);
                let first = if is_cumulative { 0 } else { bin };
                let count: u64 = (first..=bin).filter_map(|b| counts.get(b as usize)).sum();
                Some((acc.known(2, k)? + count) & 0xFFFF)
            }))
        }
    })
}

/// A sum as a tree of neighbours, every sum rounded to the type; at last plus +0 (vector.md 6).
fn tree(elem: Elem, mut values: Vec<u64>) -> Option<u64> {
    let add = |x: u64, y: u64| Func::Add.eval(elem, &[(elem, x), (elem, y)]);
    while values.len() > 1 {
        values = values.chunks(2).map(|pair| add(*pair.first()?, *pair.get(1)?)).collect::<Option<_>>()?;
    }
    add(*values.first()?, 0)
}

pub(crate) fn permute(issue: &Issue<'_, '_>, sem: Permute, core: &mut Core<'_>) -> Result<Results, Refusal> {
    let ops = Operands::new(issue);
    let (size, count) = (ops.size, ops.count());
    let x = issue.reg(0);
    let high_half = |n: usize| usize::from(issue.inst.call.word(n).map(plain_word) == Some("HIGHER"));
    // Byte k of lane i of two registers in a row, before or after interleaving.
    let interleaved = |half: usize| {
        Reg::from_bytes(|k| {
            let lane = half * count + k / size;
            issue.reg(lane % 2).byte(lane / 2 * size + k % size)
        })
    };
    let dealt = |odd: usize| {
        Reg::from_bytes(|k| {
            let lane = 2 * (k / size) + odd;
            issue.reg(lane / count).byte(lane % count * size + k % size)
        })
    };
    Ok(match sem {
        Permute::Same => reg(x.clone()),
        Permute::ByIndex => {
            let indices = issue.reg(1);
            if let Some(i) = (0..count).find(|i| indices.known(size, *i).is_some_and(|n| n >= count as u64)) {
                let rule = issue.inst.call.row.rule(issue.inst.call.name, "index");
                let given = indices.lane(size, i);
                let what = format!("{}: lane {i} asks for lane {given}, and there are {count}", issue.inst.call.name);
                core.notes.push(Diagnostic::warning(rule, what).help("the lane becomes undefined"));
            }
            reg(Reg::from_bytes(|k| {
                let n = indices.known(size, k / size).filter(|n| *n < count as u64)?;
                x.byte(n as usize * size + k % size)
            }))
        }
        Permute::Interleave => {
            smallvec![Made::Reg(Box::new(interleaved(0))), Made::Reg(Box::new(interleaved(1)))]
        }
        Permute::Deinterleave => smallvec![Made::Reg(Box::new(dealt(0))), Made::Reg(Box::new(dealt(1)))],
        Permute::Half => match issue.inst.call.name.starts_with("vd") {
            true => reg(dealt(high_half(0))),
            false => reg(interleaved(high_half(0))),
        },
        Permute::Squeeze => {
            let mut made = Reg::zero();
            let mut kept = 0;
            for i in (0..count).filter(|i| ops.on(*i) == Some(true)) {
                (0..size).for_each(|j| made.set_byte(kept * size + j, x.byte(i * size + j)));
                kept += 1;
            }
            let unknown = (0..count).find(|i| ops.on(*i).is_none());
            (unknown.unwrap_or(count)..count).for_each(|lane| made.clear(size, lane));
            core.specials.kept = Some(unknown.is_none().then_some((kept * size) as i64));
            reg(made)
        }
        Permute::CountBelow => {
            let below = |i: usize| (0..i).try_fold(0u64, |n, j| Some(n + u64::from(ops.on(j)?)));
            core.specials.kept = Some(below(count).map(|n| n as i64 * size as i64));
            reg(Reg::from_lanes(size, |i| below(i).map(|n| n & ops.elem.mask())))
        }
        Permute::Pack => {
            let half = size / 2;
            let base = high_half(0) * BYTES / 2;
            reg(Reg::from_bytes(|k| match k.checked_sub(base).filter(|k| *k < BYTES / 2) {
                Some(k) => x.byte(k / half * size + k % half),
                None => Some(0),
            }))
        }
        Permute::Widen => {
            let base = issue.int("h") as usize * count / 2;
            let signed = issue.inst.call.name.starts_with("vs");
            reg(Reg::from_bytes(|k| {
                let (lane, j) = (base + k / (2 * size), k % (2 * size));
                match j < size {
                    true => x.byte(lane * size + j),
                    false if signed => x.byte(lane * size + size - 1).map(|b| if b >= 0x80 { 0xFF } else { 0 }),
                    false => Some(0),
                }
            }))
        }
    })
}

/// The number of lanes of a mask of the name's granularity.
pub(crate) fn lanes_of(call: &crate::Call) -> usize {
    BYTES / call.name.rsplit_once("_b").and_then(|(_, bits)| bits.parse::<usize>().ok()).map_or(1, |bits| bits / 8)
}

/// The mask of the first lanes of a count.
pub(crate) fn below_of(call: &crate::Call, count: u32) -> Mask {
    Mask::from_lanes(BYTES / lanes_of(call), |k| Some((k as u32) < count))
}

/// The mask of a pattern.
pub(crate) fn pattern_of(call: &crate::Call) -> Mask {
    let size = call.name.rsplit_once("_b").and_then(|(_, bits)| bits.parse::<usize>().ok()).map_or(1, |bits| bits / 8);
    let lanes = BYTES / size;
    let word = call.word(0).unwrap_or("PAT_ALL");
    let set = |k: usize| match word {
        "PAT_ALL" => true,
        "PAT_ALLF" => false,
        "PAT_H" => k < lanes / 2,
        "PAT_Q" => k < lanes / 4,
        "PAT_M3" => k.is_multiple_of(3),
        "PAT_M4" => k.is_multiple_of(4),
        word => word.strip_prefix("PAT_VL").and_then(|n| n.parse().ok()).is_some_and(|n: usize| k < n),
    };
    Mask::from_lanes(size, |k| Some(set(k)))
}

pub(crate) fn predicate(issue: &Issue<'_, '_>, sem: Predicate, core: &mut Core<'_>) -> Result<Results, Refusal> {
    let name = issue.inst.call.name;
    let size = name.rsplit_once("_b").and_then(|(_, bits)| bits.parse::<usize>().ok()).map_or(1, |bits| bits / 8);
    let lanes = BYTES / size;
    let (a, b, c) = (issue.mask(0), issue.mask(1), issue.mask(2));
    let upper = if issue.inst.call.word(0) == Some("HIGHER") { 128 } else { 0 };
    let one = |mask: Mask| -> Results { smallvec![Made::Mask(Box::new(mask))] };
    let both = |low: Mask, high: Mask| -> Results { smallvec![Made::Mask(Box::new(low)), Made::Mask(Box::new(high))] };
    // A defined 0 of the governing mask gives a defined 0.
    let governed = |m: Option<bool>, value: Option<bool>| match (m, value) {
        (Some(false), _) => Some(false),
        (Some(true), value) => value,
        (None, Some(false)) => Some(false),
        (None, _) => None,
    };
    Ok(match sem {
        Predicate::Pattern => one(pattern_of(issue.inst.call)),
        Predicate::Below => {
            let given = issue.int("c") as i32;
            if given < 0 {
                let rule = issue.inst.call.row.rule(name, "negative");
                let what = format!("{name}: the count {given} is negative, and counts as {}", given as u32);
                core.notes.push(Diagnostic::warning(rule, what).help("give a count of at least 0"));
            }
            let count = given as u32;
            let rest = count.saturating_sub(lanes as u32);
            let mask = below_of(issue.inst.call, count);
            smallvec![Made::Mask(Box::new(mask)), Made::Int(i64::from(rest as i32))]
        }
        Predicate::Pack => one(Mask::from_fn(|k| match k.checked_sub(upper).filter(|k| *k < 128) {
            Some(k) => a.bit(2 * k),
            None => Some(false),
        })),
        Predicate::Unpack => one(Mask::from_fn(|k| if k % 2 == 0 { a.bit(upper + k / 2) } else { Some(false) })),
        Predicate::Logic => one(Mask::from_fn(|k| {
            let (x, y) = (a.bit(k), b.bit(k));
            let value = match name {
                "pand" if x == Some(false) || y == Some(false) => Some(false),
                "por" if x == Some(true) || y == Some(true) => Some(true),
                "pand" => x.zip(y).map(|(x, y)| x & y),
                "por" => x.zip(y).map(|(x, y)| x | y),
                _ => x.zip(y).map(|(x, y)| x ^ y),
            };
            governed(c.bit(k), value)
        })),
        Predicate::Not => one(Mask::from_fn(|k| governed(b.bit(k), a.bit(k).map(|x| !x)))),
        Predicate::Select => one(Mask::from_fn(|k| if c.bit(k)? { a.bit(k) } else { b.bit(k) })),
        Predicate::Interleave => {
            let made = |half: usize| {
                Mask::from_fn(|k| {
                    let lane = half * lanes + k / size;
                    let from = if lane.is_multiple_of(2) { &a } else { &b };
                    from.bit(lane / 2 * size + k % size)
                })
            };
            both(made(0), made(1))
        }
        Predicate::Deinterleave => {
            let made = |odd: usize| {
                Mask::from_fn(|k| {
                    let lane = 2 * (k / size) + odd;
                    let from = if lane < lanes { &a } else { &b };
                    from.bit(lane % lanes * size + k % size)
                })
            };
            both(made(0), made(1))
        }
        Predicate::Same => one(a),
    })
}
