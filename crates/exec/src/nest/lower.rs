//! Lowering: from a move between two layouts to nests.
//!
//! Each axis of the domain walks along digits of the source's and the destination's axes. It is cut where a walk crosses
//! the edge of a box that it did not start on (head), repeated as a whole number of periods common to all walks (body),
//! and what is left over is cut again (tail). Inside a piece every walk is a sum of loops; the pieces of the domain's
//! axes multiply to nests.

use super::{Bits, Dim, Fill, Move, Nest};
use smallvec::{SmallVec, smallvec};
use tessera_isa::layout::{Axis, Digit, Layout};

/// One axis of the domain of a move: its extent, and how far it steps over (row, column) of the two tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DomainAxis {
    /// How many indices it has.
    pub extent: u64,
    /// Rows and columns of the source per index.
    pub src: [u64; 2],
    /// Rows and columns of the destination per index.
    pub dst: [u64; 2],
    /// Conversion parameters per index.
    pub param: u64,
}

/// The nests of a move. An empty domain has none.
///
/// ```
/// use tessera_exec::nest::{Bits, Map, Move, lower};
/// use tessera_isa::layout::Layout;
/// let nd = Layout::row_major(4, 8, 8);
/// let whole = Move { rows: 4, cols: 8, src: Map::IDENTITY, dst: Map::IDENTITY };
/// let nests = lower(&whole, &nd, &nd, Bits::same(32));
/// assert_eq!(nests.len(), 1);
/// assert_eq!(nests[0].dims.len(), 1); // one run of 32 elements
/// ```
pub fn lower(mv: &Move, src: &Layout, dst: &Layout, bits: Bits) -> SmallVec<[Nest; 4]> {
    lower_axes(&axes(mv, 0), (src, mv.src.origin), (dst, mv.dst.origin), bits)
}

/// The nests of a move with one parameter per column (vector quantization, fixpipe.md 1): column `j` of the domain has
/// parameter `first + j`.
pub fn lower_with_params(mv: &Move, src: &Layout, dst: &Layout, bits: Bits, first: u64) -> SmallVec<[Nest; 4]> {
    let mut nests = lower_axes(&axes(mv, 1), (src, mv.src.origin), (dst, mv.dst.origin), bits);
    for nest in &mut nests {
        nest.param = nest.param.saturating_add_unsigned(first);
    }
    nests
}

/// The nests of a move whose domain has any number of axes (a convolution window has four: TIMG2COL, ops.md 7).
pub fn lower_axes(
    axes: &[DomainAxis],
    src: (&Layout, [u64; 2]),
    dst: (&Layout, [u64; 2]),
    bits: Bits,
) -> SmallVec<[Nest; 4]> {
    let mut nests = SmallVec::new();
    if axes.iter().all(|a| a.extent > 0) {
        let axes: Axes = axes.iter().copied().filter(|a| a.extent > 1).collect();
        separate(&axes, [src, dst], &mut |base, dims| nests.push(nest(base, dims, bits)));
    }
    nests
}

/// The fills that write `pattern` (the low `bits` bits) to every element of `rows × cols` elements at `origin`.
pub fn lower_fill(
    origin: [u64; 2],
    rows: u64,
    cols: u64,
    layout: &Layout,
    bits: u32,
    pattern: u64,
) -> SmallVec<[Fill; 4]> {
    let axis = |extent: u64, dst: [u64; 2]| DomainAxis { extent, src: [0, 0], dst, param: 0 };
    lower_fill_axes(&[axis(rows, [1, 0]), axis(cols, [0, 1])], (layout, origin), bits, pattern)
}

/// The fills of a domain with any number of axes; only their destination steps count.
pub fn lower_fill_axes(axes: &[DomainAxis], dst: (&Layout, [u64; 2]), bits: u32, pattern: u64) -> SmallVec<[Fill; 4]> {
    let mut fills = SmallVec::new();
    if axes.iter().all(|a| a.extent > 0) {
        let nowhere = Layout::row_major(1, 1, 1);
        let axes: Axes = axes.iter().filter(|a| a.extent > 1).map(|a| DomainAxis { src: [0, 0], ..*a }).collect();
        separate(&axes, [(&nowhere, [0, 0]), dst], &mut |base, dims| {
            fills.push(Fill::new(bits, pattern, unit(base[1], bits), dims.iter().map(|d| (d.0, unit(d.1[1], bits)))));
        });
    }
    fills
}

type Axes = SmallVec<[DomainAxis; 4]>;
/// A loop over source, destination and parameters, in elements.
type Steps = (u64, [i64; 3]);

fn axes(mv: &Move, param: u64) -> [DomainAxis; 2] {
    let axis = |k: usize, extent: u64| DomainAxis {
        extent,
        src: [mv.src.step[0][k], mv.src.step[1][k]],
        dst: [mv.dst.step[0][k], mv.dst.step[1][k]],
        param: if k == 1 { param } else { 0 },
    };
    [axis(0, mv.rows), axis(1, mv.cols)]
}

/// Elements to bytes, or to nibbles where an element is one.
fn unit(elements: i64, bits: u32) -> i64 {
    if bits == 4 { elements } else { elements.wrapping_mul(i64::from(bits / 8)) }
}

fn nest(base: [i64; 3], dims: &[Steps], bits: Bits) -> Nest {
    let dim = |&(extent, [s, d, param]): &Steps| Dim { extent, src: unit(s, bits.src), dst: unit(d, bits.dst), param };
    let mut nest = Nest {
        bits,
        src: unit(base[0], bits.src),
        dst: unit(base[1], bits.dst),
        param: base[2],
        dims: dims.iter().map(dim).collect(),
    };
    nest.normalise();
    if bits == Bits::same(4) { nest.in_bytes().unwrap_or(nest) } else { nest }
}

/// Emits (base, loops) for the whole domain.
///
/// Where two domain axes walk along one boxed axis of a tile, one of them has to go from box edge to box edge for the two
/// to be independent; if it does not, the shorter one is unrolled.
fn separate(axes: &[DomainAxis], sides: [(&Layout, [u64; 2]); 2], emit: &mut dyn FnMut([i64; 3], &[Steps])) {
    let mut base = [0i64; 3];
    let mut linear: SmallVec<[[i64; 3]; 4]> = axes.iter().map(|a| [0, 0, a.param as i64]).collect();
    let mut walks: SmallVec<[SmallVec<[Walk; 4]>; 4]> = smallvec![SmallVec::new(); axes.len()];
    for (side, (layout, origin)) in sides.into_iter().enumerate() {
        for (coordinate, axis) in [&layout.row, &layout.col].into_iter().enumerate() {
            let start = origin[coordinate];
            let step = |a: &DomainAxis| {
                if side == 0 { a.src[coordinate] } else { a.dst[coordinate] }
            };
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
fn unroll(axes: &[DomainAxis], k: usize, sides: [(&Layout, [u64; 2]); 2], emit: &mut dyn FnMut([i64; 3], &[Steps])) {
    let mut rest: Axes = axes.into();
    let axis = rest.remove(k);
    for i in 0..axis.extent {
        let moved = |origin: [u64; 2], step: [u64; 2]| {
            [0, 1].map(|c: usize| origin[c].saturating_add(step[c].saturating_mul(i)))
        };
        let [(src, from), (dst, to)] = sides;
        let param = (axis.param as i64).wrapping_mul(i as i64);
        separate(&rest, [(src, moved(from, axis.src)), (dst, moved(to, axis.dst))], &mut |mut base, dims| {
            base[2] = base[2].wrapping_add(param);
            emit(base, dims);
        });
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
    linear: [i64; 3],
    walks: &'a [Walk],
}

/// A part of a domain axis where every walk is a sum of loops.
struct Piece {
    base: [i64; 3],
    dims: SmallVec<[Steps; 4]>,
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
            let dims = smallvec![(to - at, strides(axis, at, to, 1))];
            return out.push(Piece { base: base(axis, at), dims });
        };
        let phase = walk.start.saturating_add(at) % width;
        let repeats = (to - at) / period;
        if phase != 0 {
            let edge = at + (width - phase);
            cut(axis, at, edge, out);
            at = edge;
        } else if repeats > 1 || (repeats == 1 && at + period < to) {
            let stride = strides(axis, at, to, period);
            let first = out.len();
            cut(axis, at, at + period, out);
            for piece in &mut out[first..] {
                piece.dims.insert(0, (repeats, stride));
            }
            at += repeats * period;
        } else {
            cut(axis, at, at + width, out);
            at += width;
        }
    }
}

/// How far each side moves with `count` indices, a multiple of every live period in `from..to`.
fn strides(axis: &Walks, from: u64, to: u64, count: u64) -> [i64; 3] {
    let mut sum = axis.linear.map(|s| s.wrapping_mul(count as i64));
    for walk in axis.walks {
        let (digits, period) = walk.live(from, to);
        if let Some(first) = digits.first() {
            sum[walk.side] = sum[walk.side].wrapping_add(first.stride.wrapping_mul((count / period) as i64));
        }
    }
    sum
}

fn base(axis: &Walks, at: u64) -> [i64; 3] {
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
    base: [i64; 3],
    dims: &mut SmallVec<[Steps; 8]>,
    emit: &mut dyn FnMut([i64; 3], &[Steps]),
) {
    let Some((axis, rest)) = pieces.split_first() else {
        return emit(base, dims);
    };
    for piece in axis {
        let before = dims.len();
        dims.extend_from_slice(&piece.dims);
        let base = [0, 1, 2].map(|k: usize| base[k].wrapping_add(piece.base[k]));
        multiply(rest, base, dims, emit);
        dims.truncate(before);
    }
}
