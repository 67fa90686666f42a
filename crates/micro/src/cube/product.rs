//! Products (cube.md 5).

use super::fields::Fields;
use super::layout::{acc, bytes_of, c0, element, pieces, row_of_box, scale, up};
use super::{Read, saturates_unsaid};
use crate::check::{self, Refusal};
use crate::footprint::{Touch, Whose};
use crate::run::{Core, Issue, Place, Specials};
use crate::table::{Cube, Sem, Space, Start};
use tessera_isa::codec::Number;
use tessera_isa::elem::Elem;
use tessera_isa::sem::{Reduced, SCALE_BLOCK, add_once};

/// The extents and places of a product.
struct Product {
    extent: [i64; 3],
    /// Whether the left operand is one run of bytes.
    is_vector: bool,
    elems: [Elem; 2],
    is_integer: bool,
}

/// How operands and steps are computed.
struct Arithmetic {
    saturates: bool,
    reduced: Option<Reduced>,
}

impl Product {
    fn new(f: &Fields<'_>) -> Option<Product> {
        let extent = [f.int("m")?, f.int("n")?, f.int("k")?];
        let is_vector = extent[0] == 1 && !f.has_word("disable_gemv");
        let c = f.inst.call.operand("c")?;
        Some(Product { extent, is_vector, elems: [f.elem(0), f.elem(1)], is_integer: f.elem(c) == Elem::I32 })
    }

    /// Runs of bytes that hold the elements of an operand: the first byte, the row, the first k, and the number of
    /// elements.
    fn runs(&self, right: bool) -> Vec<(i64, i64, i64, i64)> {
        let [m, n, k] = self.extent;
        let elem = self.elems[usize::from(right)];
        if self.is_vector && !right {
            return vec![(0, 0, 0, k)];
        }
        let (rows, c0) = (if right { n } else { m }, c0(elem));
        let boxes = pieces(rows, 16);
        let column = move |b: i64| (0..rows).map(move |r| (row_of_box(r, b, boxes), r, b * c0, c0.min(k - b * c0)));
        (0..pieces(k, c0)).flat_map(column).collect()
    }

    /// One past the last byte of an operand.
    fn end(&self, right: bool) -> i64 {
        let [m, n, k] = self.extent;
        let elem = self.elems[usize::from(right)];
        if self.is_vector && !right {
            return bytes_of(k, elem);
        }
        let (rows, c0) = (if right { n } else { m }, c0(elem));
        let last = pieces(k, c0) - 1;
        row_of_box(rows - 1, last, pieces(rows, 16)) + bytes_of(k - last * c0, elem)
    }

    /// The byte of a scale, from a sixteenth of the operand's address on.
    fn scale(&self, right: bool, row: i64, block: i64) -> i64 {
        if self.is_vector && !right { block } else { scale(row, block, pieces(self.extent[2], 64)) }
    }

    /// Runs of the accumulator that are written, with the footprint.
    fn written(&self) -> Vec<(i64, i64)> {
        let [m, n, _] = self.extent;
        let columns = up(n, 16) / 16;
        match self.is_vector {
            true => (0..columns).map(|j| (acc(0, 16 * j, 16), 64)).collect(),
            false => vec![(0, 64 * columns * up(m, 16))],
        }
    }
}

pub(super) fn check(f: &Fields<'_>) -> Result<(), Refusal> {
    let scaled = matches!(f.inst.call.row.sem, Sem::Cube(Cube::Product { scaled: true, .. }));
    let c = f.inst.call.operand("c").unwrap_or(2);
    f.base(0, 512)?;
    f.base(1, 512)?;
    f.base(c, 64)?;
    if let Some(bias) = f.inst.call.operand("bias") {
        f.base(bias, 64)?;
    }
    for name in ["m", "n", "k"] {
        f.range(name, f.int(name), 1, 4095)?;
    }
    if let Some(k) = f.int("k").filter(|k| scaled && k % 64 != 0) {
        let what = format!("k is {k}, and a block-scaled product takes multiples of 64");
        return Err(check::broken(f.inst, "range", what, "fill up with zeros"));
    }
    let Some(p) = Product::new(f) else { return Ok(()) };
    let [m, n, k] = p.extent;
    for (right, operand) in [(false, 0), (true, 1)] {
        f.bounds(operand, f.at(operand), Some(p.end(right)))?;
    }
    f.bounds(c, f.at(c), p.written().iter().map(|(at, len)| at + len).max())?;
    if let Some(bias) = f.inst.call.operand("bias") {
        f.bounds(bias, f.at(bias), Some(4 * n))?;
    }
    for (right, rows, space) in [(false, m, Space::ScalesA), (true, n, Space::ScalesB)] {
        if let Some(at) = f.at(usize::from(right)).filter(|_| scaled) {
            let blocks = k / SCALE_BLOCK as i64;
            let end = (0..rows).map(|row| p.scale(right, row, blocks - 1)).max().unwrap_or(0) + 1;
            check::bounds(f.inst, space, at / 16, end as u64)?;
        }
    }
    Ok(())
}

impl Arithmetic {
    fn new(f: &Fields<'_>, specials: &Specials) -> Arithmetic {
        let saturates = f.has_word("sat") || !f.has_word("nosat") && saturates_unsaid(specials);
        let reduced = f.word_in("tf32_mode").map(|word| Reduced { dropped: 13, to_even: word == "round_even" });
        Arithmetic { saturates, reduced }
    }

    /// The value of an operand's element.
    fn operand(&self, elem: Elem, bits: u64) -> f64 {
        let bits = self.reduced.map_or(bits, |reduced| u64::from(reduced.round(bits as u32)));
        match elem.decode(bits) {
            Number::Int(v) => v as f64,
            Number::Float(v) if self.saturates && !v.is_finite() => {
                let largest = if let (_, Number::Float(largest)) = elem.range() { largest } else { 0.0 };
                if v.is_nan() { 0.0 } else { largest.copysign(v) }
            }
            Number::Float(v) => v,
        }
    }

    /// The first summand, or a step's result.
    fn kept(&self, s: f32) -> f32 {
        match self.saturates && !s.is_finite() {
            true if s.is_nan() => 0.0,
            true => f32::MAX.copysign(s),
            false => s,
        }
    }

    fn step(&self, s: f32, p: f64) -> f32 {
        let p = if self.saturates && p.is_nan() { 0.0 } else { p };
        self.kept(add_once(s, p))
    }
}

/// An operand as rows of k values, and whether all of a row is defined.
struct Operand {
    values: Vec<f64>,
    is_defined: Vec<bool>,
}

impl Operand {
    fn new(p: &Product, right: bool, (place, at): (Place, i64), how: &Arithmetic, core: &Core<'_>) -> Operand {
        let [m, n, k] = p.extent;
        let (rows, elem) = (if right { n } else { m }, p.elems[usize::from(right)]);
        let mut values = vec![0.0; (rows * k) as usize];
        let mut is_defined = vec![true; rows as usize];
        for (byte, row, first, count) in p.runs(right) {
            let len = bytes_of(count, elem) as usize;
            let read = Read::of(core, place, at + byte, len);
            if let Some(defined) = is_defined.get_mut(row as usize) {
                *defined &= read.is_defined(0, len);
            }
            let to = (row * k + first) as usize;
            for (j, value) in values.iter_mut().skip(to).take(count as usize).enumerate() {
                *value = how.operand(elem, element(&read.bytes, elem, j));
            }
        }
        Operand { values, is_defined }
    }

    /// Multiplies in the scales of the operand.
    fn scale(&mut self, p: &Product, right: bool, operand: i64, core: &Core<'_>) {
        let space = if right { Space::ScalesB } else { Space::ScalesA };
        let [_, _, k] = p.extent;
        for (row, values) in self.values.chunks_mut(k as usize).enumerate() {
            for (block, values) in values.chunks_mut(SCALE_BLOCK as usize).enumerate() {
                let at = operand / 16 + p.scale(right, row as i64, block as i64);
                let byte = core.memory.byte(Place { space, unit: 0 }, at as u64);
                let Some(byte) = byte else {
                    self.is_defined[row] = false;
                    continue;
                };
                if let Number::Float(scale) = Elem::F8e8m0.decode(u64::from(byte)) {
                    values.iter_mut().for_each(|value| *value *= scale);
                }
            }
        }
    }
}

pub(super) fn run(
    f: &Fields<'_>,
    start: Start,
    scaled: bool,
    issue: &Issue<'_, '_>,
    core: &mut Core<'_>,
) -> Result<(), Refusal> {
    let Some(p) = Product::new(f) else { return Ok(()) };
    let how = Arithmetic::new(f, core.specials);
    let (a, b, (place, c), bias) = (issue.ptr("a"), issue.ptr("b"), issue.ptr("c"), issue.ptr("bias"));
    let mut left = Operand::new(&p, false, a, &how, core);
    let mut right = Operand::new(&p, true, b, &how, core);
    if scaled {
        left.scale(&p, false, a.1, core);
        right.scale(&p, true, b.1, core);
    }
    let [m, n, k] = p.extent;
    let stride = up(m, 16);
    let rows = if p.is_vector { 1 } else { stride };
    for column in 0..pieces(n, 16) {
        for i in 0..rows {
            let at = c + acc(i, 16 * column, stride);
            let before = match start {
                Start::Zero => Read::zeros(64),
                Start::Accumulator => Read::of(core, place, at, 64),
                Start::Bias => Read::of(core, bias.0, bias.1 + 64 * column, 4 * (n - 16 * column).min(16) as usize),
            };
            let mut made = Read::zeros(64);
            for lane in 0..16 {
                let j = 16 * column + lane as i64;
                let inside = i < m && j < n;
                let defined = inside && left.is_defined[i as usize] && right.is_defined[j as usize];
                let first = before.bits(4 * lane, 4).filter(|_| defined);
                let of = |row: i64| (row * k) as usize..((row + 1) * k) as usize;
                let sum = first.map(|first| {
                    let (xs, ys) = (&left.values[of(i)], &right.values[of(j)]);
                    let pairs = xs.iter().zip(ys);
                    if p.is_integer {
                        let s = pairs.fold(first as i32, |s, (x, y)| s.wrapping_add(*x as i32 * *y as i32));
                        return u64::from(s as u32);
                    }
                    let s = how.kept(f32::from_bits(first as u32));
                    let s = pairs.fold(s, |s, (x, y)| how.step(s, x * y));
                    u64::from(if s.is_nan() { 0x7FC0_0000 } else { s.to_bits() })
                });
                made.set(4 * lane, sum, 4);
            }
            made.write(core, place, at);
        }
    }
    Ok(())
}

pub(super) fn touched(f: &Fields<'_>, start: Start, scaled: bool) -> Option<Vec<Touch>> {
    // A product whose operands do not fit breaks a rule.
    let p =
        Product::new(f).filter(|p| [false, true].into_iter().all(|right| (1..=64 << 10).contains(&p.end(right))))?;
    let c = f.inst.call.operand("c")?;
    let [m, n, k] = p.extent;
    let mut out = Vec::new();
    for (right, operand) in [(false, 0), (true, 1)] {
        let runs = p.runs(right);
        out.extend(runs.iter().map(|(at, _, _, n)| f.touch(operand, *at, bytes_of(*n, p.elems[operand]), false)));
        if scaled {
            let (rows, blocks) = (if right { n } else { m }, k / SCALE_BLOCK as i64);
            let pairs = (0..rows).flat_map(|row| (0..blocks / 2).map(move |pair| (row, 2 * pair)));
            out.extend(pairs.map(|(row, block)| {
                let at = p.scale(right, row, block);
                Touch { whose: Whose::Scales, ..f.touch(operand, at, 2, false) }
            }));
        }
    }
    if start == Start::Bias {
        out.push(f.touch(f.inst.call.operand("bias")?, 0, 4 * n, false));
    }
    for (at, len) in p.written() {
        if start == Start::Accumulator {
            out.push(f.touch(c, at, len, false));
        }
        out.push(f.touch(c, at, len, true));
    }
    Some(merged(out))
}

/// Ranges that follow each other as one.
fn merged(touches: Vec<Touch>) -> Vec<Touch> {
    let mut out: Vec<Touch> = Vec::new();
    for touch in touches {
        match out.last_mut() {
            Some(last)
                if (last.operand, last.whose, last.writes) == (touch.operand, touch.whose, touch.writes)
                    && last.at + last.len as i64 == touch.at =>
            {
                last.len += touch.len;
            }
            _ => out.push(touch),
        }
    }
    out
}
