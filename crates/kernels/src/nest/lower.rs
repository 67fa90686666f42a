//! Lowering: from index maps into layouts to nests.
//!
//! Each axis of the domain walks along digits of the operands' axes. It is cut where a walk crosses
//! the edge of a box that it did not start on (head), repeated as a whole number of periods common to all walks (body),
//! and what is left over is cut again (tail). Inside a piece every walk is a sum of loops; the pieces of the domain's
//! axes multiply to nests.

use super::{DST, Dim, Fill, Map, Nest, Nests, OPERANDS};
use smallvec::{SmallVec, smallvec};
use tessera_isa::layout::{Axis, Digit, Layout};

/// One operand of a lowering.
#[derive(Clone, Copy, Debug)]
pub struct Operand<'a, const D: usize = 2> {
    pub layout: &'a Layout,
    /// The map from a point of the domain to an element.
    pub map: Map<D>,
    pub bits: u32,
}

/// The nests over a domain of `D` axes; the first of at most four operands is written. An empty domain has none.
///
/// ```
/// use tessera_kernels::nest::{Map, Operand, lower};
/// use tessera_isa::layout::Layout;
/// let nd = Layout::row_major(4, 8, 8);
/// let whole = Operand { layout: &nd, map: Map::SAME, bits: 32 };
/// let nests = lower([4, 8], &[whole, whole, whole]);
/// assert_eq!(nests.len(), 1);
/// assert_eq!(nests[0].dims.len(), 1); // one run of 32 elements
/// ```
pub fn lower<const D: usize>(extent: [u64; D], operands: &[Operand<'_, D>]) -> Nests {
    let mut bits = [0; OPERANDS];
    for (bits, operand) in bits.iter_mut().zip(operands) {
        *bits = operand.bits;
    }
    let mut nests = Nests::new();
    each(extent, operands, &mut |base, dims| nests.push(nest(base, dims, bits)));
    nests
}

/// The nests that copy whole layouts: element (i, j) to element (i, j).
pub fn lower_copy(extent: [u64; 2], from: &Layout, to: &Layout, bits: u32) -> Nests {
    let operand = |layout| Operand { layout, map: Map::SAME, bits };
    lower(extent, &[operand(to), operand(from)])
}

/// The fills that write `pattern` (the low `bits` bits) to every element of `extent` elements at `origin`.
pub fn lower_fill(origin: [u64; 2], extent: [u64; 2], layout: &Layout, bits: u32, pattern: u64) -> SmallVec<[Fill; 4]> {
    let mut fills = SmallVec::new();
    let written = Operand { layout, map: Map::at(origin[0], origin[1]), bits };
    each(extent, &[written], &mut |base, dims| {
        let dims = dims.iter().map(|d| (d.extent, unit(d.step[DST], bits)));
        fills.push(Fill::new(bits, pattern, unit(base[DST], bits), dims));
    });
    fills
}

/// Emits (base, loops) for a whole domain, in elements.
fn each<const D: usize>(extent: [u64; D], operands: &[Operand<'_, D>], emit: &mut dyn FnMut(Offsets, &[Dim])) {
    if extent.contains(&0) {
        return;
    }
    let axis = |(k, extent): (usize, u64)| {
        let mut step = [[0; 2]; OPERANDS];
        for (step, operand) in step.iter_mut().zip(operands) {
            *step = operand.map.step.map(|coordinate| coordinate[k]);
        }
        DomainAxis { extent, step }
    };
    let axes: Axes = extent.into_iter().enumerate().filter(|a| a.1 > 1).map(axis).collect();
    let sides: Sides = operands.iter().map(|o| (o.layout, o.map.origin)).collect();
    separate(&axes, &sides, emit);
}

/// One axis of the domain: its extent, and how far it steps over (row, column) of each operand.
#[derive(Clone, Copy)]
struct DomainAxis {
    extent: u64,
    step: [[u64; 2]; OPERANDS],
}

type Axes = SmallVec<[DomainAxis; 4]>;
/// The layout of each operand, and the element that the domain starts at.
type Sides<'a> = SmallVec<[(&'a Layout, [u64; 2]); OPERANDS]>;
type Offsets = [i64; OPERANDS];

/// Elements to bytes, or to nibbles where an element is one.
fn unit(elements: i64, bits: u32) -> i64 {
    if bits == 4 { elements } else { elements.wrapping_mul(i64::from(bits / 8)) }
}

fn nest(base: Offsets, dims: &[Dim], bits: [u32; OPERANDS]) -> Nest {
    let units = |mut at: Offsets| {
        at.iter_mut().zip(bits).for_each(|(at, bits)| *at = unit(*at, bits));
        at
    };
    let dims = dims.iter().map(|d| Dim { extent: d.extent, step: units(d.step) }).collect();
    let mut nest = Nest { bits, base: units(base), dims };
    nest.normalise();
    if bits == [4, 4, 0, 0] { nest.in_bytes().unwrap_or(nest) } else { nest }
}

/// Emits (base, loops) for the whole domain.
///
/// Two domain axes that walk along one boxed axis of a tile are independent only if one of them goes from box edge to
/// box edge; if it does not, the shorter one is unrolled.
fn separate(axes: &[DomainAxis], sides: &[(&Layout, [u64; 2])], emit: &mut dyn FnMut(Offsets, &[Dim])) {
    let mut base: Offsets = [0; OPERANDS];
    let mut linear: SmallVec<[Offsets; 4]> = smallvec![[0; OPERANDS]; axes.len()];
    let mut walks: SmallVec<[SmallVec<[Walk; 4]>; 4]> = smallvec![SmallVec::new(); axes.len()];
    for (side, (layout, origin)) in sides.iter().enumerate() {
        for (coordinate, axis) in [&layout.row, &layout.col].into_iter().enumerate() {
            let start = origin[coordinate];
            let step = |a: &DomainAxis| a.step[side][coordinate];
            let mut walker = None;
            for (k, a) in axes.iter().enumerate().filter(|(_, a)| step(a) > 0) {
                if let Some(stride) = outermost(axis, step(a)) {
                    linear[k][side] = linear[k][side].wrapping_add(stride);
                } else if let Some(other) = walker.replace(k) {
                    return unroll(axes, if axes[other].extent < a.extent { other } else { k }, sides, emit);
                }
            }
            match walker {
                None => base[side] = base[side].wrapping_add(axis.offset(start)),
                Some(k) => match Walk::new(axis, start, step(&axes[k]), side) {
                    Some((constant, walk)) => {
                        base[side] = base[side].wrapping_add(constant);
                        walks[k].push(walk);
                    }
                    None => return unroll(axes, k, sides, emit),
                },
            }
        }
    }
    let pieces: SmallVec<[Vec<Piece>; 4]> = axes
        .iter()
        .zip(linear.iter().zip(&walks))
        .map(|(a, (&linear, walks))| {
            let mut out = Vec::new();
            cut(&Walks { linear, walks }, 0, a.extent, &mut out);
            out
        })
        .collect();
    multiply(&pieces, base, &mut SmallVec::new(), emit);
}

/// Lowers the domain once for every index of axis `k`.
fn unroll(axes: &[DomainAxis], k: usize, sides: &[(&Layout, [u64; 2])], emit: &mut dyn FnMut(Offsets, &[Dim])) {
    let mut rest: Axes = axes.into();
    let axis = rest.remove(k);
    for i in 0..axis.extent {
        let moved = |(side, (layout, origin)): (usize, &(_, [u64; 2]))| {
            let at = |c: usize| origin[c].saturating_add(axis.step[side][c].saturating_mul(i));
            (*layout, [0, 1].map(at))
        };
        let sides: Sides = sides.iter().enumerate().map(moved).collect();
        separate(&rest, &sides, emit);
    }
}

/// The stride of a step that moves only the outermost digit of an axis.
fn outermost(axis: &Axis, step: u64) -> Option<i64> {
    let inner = axis.digits.iter().skip(1).fold(1u64, |n, d| n.saturating_mul(d.extent.max(1)));
    let first = axis.digits.first()?;
    step.is_multiple_of(inner).then(|| first.stride.wrapping_mul((step / inner) as i64))
}

/// A domain axis that goes through the digits of a tile's axis one by one, from `start` on.
#[derive(Clone)]
struct Walk {
    digits: SmallVec<[Digit; 4]>,
    start: u64,
    side: usize,
}

impl Walk {
    /// A walk in steps of `step` is one in single steps over an innermost digit that much coarser, if it divides.
    fn new(axis: &Axis, start: u64, step: u64, side: usize) -> Option<(i64, Walk)> {
        let mut digits = axis.digits.clone();
        for d in &mut digits {
            d.extent = d.extent.max(1);
        }
        let last = digits.last_mut()?;
        if !last.extent.is_multiple_of(step) {
            return None;
        }
        let constant = last.stride.wrapping_mul((start % step) as i64);
        *last = Digit { extent: last.extent / step, stride: last.stride.wrapping_mul(step as i64) };
        Some((constant, Walk { digits, start: start / step, side }))
    }

    /// The digits that change somewhere in `from..to`, and the period of the first of them.
    fn live(&self, from: u64, to: u64) -> (&[Digit], u64) {
        let (low, high) = (self.start.saturating_add(from), self.start.saturating_add(to - 1));
        let mut digits = self.digits.as_slice();
        loop {
            let period = digits.iter().skip(1).fold(1u64, |n, d| n.saturating_mul(d.extent));
            match digits {
                [_, rest @ ..] if !rest.is_empty() && low / period == high / period => digits = rest,
                _ => return (digits, period),
            }
        }
    }

    fn offset(&self, i: u64) -> i64 {
        let mut rest = self.start.saturating_add(i);
        let mut sum = 0i64;
        for (k, d) in self.digits.iter().enumerate().rev() {
            let value = if k == 0 { rest } else { rest % d.extent };
            rest /= d.extent;
            sum = sum.wrapping_add((value as i64).wrapping_mul(d.stride));
        }
        sum
    }
}

/// Everything that moves with one domain axis.
struct Walks<'a> {
    linear: Offsets,
    walks: &'a [Walk],
}

/// A part of a domain axis where every walk is a sum of loops.
struct Piece {
    base: Offsets,
    dims: SmallVec<[Dim; 4]>,
}

fn cut(axis: &Walks, from: u64, to: u64, out: &mut Vec<Piece>) {
    let mut at = from;
    while at < to {
        let mut period = 1u64;
        let mut widest: Option<(&Walk, u64)> = None;
        for walk in axis.walks {
            let (digits, p) = walk.live(at, to);
            if digits.len() > 1 {
                period = lcm(period, p);
                if widest.is_none_or(|(_, w)| p > w) {
                    widest = Some((walk, p));
                }
            }
        }
        let Some((walk, width)) = widest else {
            let dims = smallvec![Dim { extent: to - at, step: strides(axis, at, to, 1) }];
            return out.push(Piece { base: base(axis, at), dims });
        };
        let phase = walk.start.saturating_add(at) % width;
        let repeats = (to - at) / period;
        if phase != 0 {
            let edge = at + (width - phase);
            cut(axis, at, edge, out);
            at = edge;
        } else if repeats > 1 || (repeats == 1 && at + period < to) {
            let step = strides(axis, at, to, period);
            let first = out.len();
            cut(axis, at, at + period, out);
            for piece in &mut out[first..] {
                piece.dims.insert(0, Dim { extent: repeats, step });
            }
            at += repeats * period;
        } else {
            cut(axis, at, at + width, out);
            at += width;
        }
    }
}

/// The movement of each side with `count` indices, a multiple of every live period in `from..to`.
fn strides(axis: &Walks, from: u64, to: u64, count: u64) -> Offsets {
    let mut sum = axis.linear.map(|s| s.wrapping_mul(count as i64));
    for walk in axis.walks {
        let (digits, period) = walk.live(from, to);
        if let Some(first) = digits.first() {
            sum[walk.side] = sum[walk.side].wrapping_add(first.stride.wrapping_mul((count / period) as i64));
        }
    }
    sum
}

fn base(axis: &Walks, at: u64) -> Offsets {
    let mut sum = axis.linear.map(|s| s.wrapping_mul(at as i64));
    for walk in axis.walks {
        sum[walk.side] = sum[walk.side].wrapping_add(walk.offset(at));
    }
    sum
}

fn lcm(a: u64, b: u64) -> u64 {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    (a / x.max(1)).saturating_mul(b)
}

/// One nest for every combination of pieces of the axes.
fn multiply(
    pieces: &[Vec<Piece>],
    base: Offsets,
    dims: &mut SmallVec<[Dim; 8]>,
    emit: &mut dyn FnMut(Offsets, &[Dim]),
) {
    let Some((axis, rest)) = pieces.split_first() else {
        return emit(base, dims);
    };
    for piece in axis {
        let before = dims.len();
        dims.extend_from_slice(&piece.dims);
        let mut at = base;
        at.iter_mut().zip(piece.base).for_each(|(at, by)| *at = at.wrapping_add(by));
        multiply(rest, at, dims, emit);
        dims.truncate(before);
    }
}
