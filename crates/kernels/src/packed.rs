//! Steps whose results depend on whole rows, or on data: operands are gathered into dense buffers by copying kernels, the
//! results are computed there, and spread.
//!
//! The dense buffers are laid out so that the loops over results are the inner ones: a fold takes its k-th elements of all
//! results side by side, a product the rows of its right factor. So results are computed many at a time, and each of them
//! still in rising k (reduce.md 5, matrix.md 1).

use super::contract::{contract, scaled};
use super::fold::{fold, fold_rows};
use super::indices::{are_below, gather};
use super::pack::{compare, select};
use super::packed_operand::{PackedOperand, Tile};
use super::pair::parts;
use super::product::Product;
use crate::Place;
use crate::memory::Memories;
use crate::nest::OutOfBounds;
use crate::nest::{Map, Nest, Nests, read_bits};
use smallvec::SmallVec;
use std::borrow::Cow;
use tessera_isa::elem::Elem;
use tessera_isa::sem::{Func, SCALE_BLOCK};

/// The computation on the dense buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PackedOp {
    /// A fold over k; if `starts`, the last input has the initial values. Of four inputs before it two are scales, one
    /// for each block of k.
    Reduce { func: Func, to: Elem, extent: [usize; 3], starts: bool },
    /// Elements of the first input by the indices in the second.
    Gather { columns: u64 },
    /// Eight results of a function are a byte; a scalar is its second argument, where there is one input.
    Pack { func: Func, columns: usize, scalar: Option<(Elem, u64)> },
    /// The second or the third input, by the bits of the first; a scalar is either, where there are two.
    Select { columns: usize, scalar: Option<(u64, bool)> },
}

/// A compiled step.
#[derive(Clone, Debug)]
pub struct PackedKernel {
    pub what: PackedOp,
    pub inputs: SmallVec<[PackedOperand; 3]>,
    pub output: PackedOperand,
    /// The same without copies, where operands lie so.
    pub(super) product: Option<Box<Product>>,
}

/// An element, again and again.
fn repeated(elem: Elem, bits: u64, n: usize) -> Vec<u8> {
    let bytes = bits.to_le_bytes();
    bytes[..elem.bits() as usize / 8].repeat(n)
}

impl PackedKernel {
    /// A fold: the destination, the arguments, and the initial values.
    pub fn reduce(
        func: Func,
        extent: [u64; 3],
        dst: (Tile<'_>, Map<3>),
        args: &[(Tile<'_>, Map<3>)],
        scales: Option<[(Tile<'_>, Map<3>); 2]>,
        start: Option<(Tile<'_>, Map<3>)>,
    ) -> PackedKernel {
        let [rows, cols, depth] = extent;
        // Results row by row; k-th elements of all results side by side; or a factor by the axes that it has.
        let result = (Map { origin: [0, 0], step: [[cols, 1, 0], [0, 0, 0]] }, 1);
        let own = |map: &Map<3>, depth: u64| {
            let uses = |axis: usize| map.step[0][axis] + map.step[1][axis] > 0;
            let (rows, cols) = (if uses(0) { rows } else { 1 }, if uses(1) { cols } else { 1 });
            ([rows, cols, depth], rows.saturating_mul(cols))
        };
        let mut inputs: SmallVec<[PackedOperand; 3]> = SmallVec::new();
        let blocks = depth.div_ceil(SCALE_BLOCK);
        let args = args.iter().map(|arg| (arg, depth)).chain(scales.iter().flatten().map(|scale| (scale, blocks)));
        let args: SmallVec<[_; 4]> = args.collect();
        for (n, ((tile, map), depth)) in args.iter().copied().enumerate() {
            let (extent, along) = own(map, depth);
            let buffer = match (args.len(), n) {
                // The left factor row by row: one element of it meets a row of the right one.
                (2 | 4, 0) | (4, 2) => (Map { origin: [0, 0], step: [[1, 0, 0], [0, 0, 1]] }, depth),
                _ => (Map { origin: [0, 0], step: [[0, 0, 1], [extent[1], 1, 0]] }, along),
            };
            inputs.push(PackedOperand::new(*tile, *map, extent, buffer, true));
        }
        let once = [rows, cols, 1];
        inputs.extend(start.map(|(tile, map)| PackedOperand::new(tile, map, once, result, true)));
        let output = PackedOperand::new(dst.0, dst.1, once, result, false);
        let product = match (func, args.as_slice()) {
            (Func::MulAdd(None), [(a, _), (b, _)]) => Product::new(extent, dst, [**a, **b], start),
            _ => None,
        };
        let extent = [rows, cols, depth].map(|n| n as usize);
        PackedKernel {
            product: product.map(Box::new),
            what: PackedOp::Reduce { func, to: output.elem, extent, starts: start.is_some() },
            inputs,
            output,
        }
    }

    /// Elements of `src`, whose declared shape is given, by the linear indices in `idx`.
    pub fn gather(src: Tile<'_>, shape: [u64; 2], idx: Tile<'_>, dst: Tile<'_>, extent: [u64; 2]) -> PackedKernel {
        let by_rows = |extent: [u64; 2]| (Map::SAME, extent[1]);
        let inputs = [
            PackedOperand::new(src, Map::SAME, shape, by_rows(shape), true),
            PackedOperand::new(idx, Map::SAME, extent, by_rows(extent), true),
        ];
        let output = PackedOperand::new(dst, Map::SAME, extent, by_rows(extent), false);
        PackedKernel {
            what: PackedOp::Gather { columns: shape[1] },
            inputs: inputs.into_iter().collect(),
            output,
            product: None,
        }
    }

    /// Bits of a function over rows and columns; `mask` is a row of bytes.
    pub fn pack(
        func: Func,
        extent: [u64; 2],
        args: &[Tile<'_>],
        scalar: Option<(Elem, u64)>,
        mask: Tile<'_>,
    ) -> PackedKernel {
        let [rows, columns] = extent;
        let bytes = rows * columns.div_ceil(8);
        let inputs =
            args.iter().map(|tile| PackedOperand::new(*tile, Map::SAME, extent, (Map::SAME, columns), true)).collect();
        let output = PackedOperand::new(mask, Map::SAME, [1, bytes], (Map::SAME, bytes), false);
        PackedKernel { what: PackedOp::Pack { func, columns: columns as usize, scalar }, inputs, output, product: None }
    }

    /// Elements of two tiles, or of one and a scalar, by the bits of a mask whose rows of bytes are given.
    pub fn select(extent: [u64; 2], mask: Tile<'_>, args: [Result<Tile<'_>, u64>; 2], dst: Tile<'_>) -> PackedKernel {
        let [rows, columns] = extent;
        let by_rows = |tile| PackedOperand::new(tile, Map::SAME, extent, (Map::SAME, columns), true);
        let bytes = [rows, columns.div_ceil(8)];
        let mut inputs: SmallVec<[PackedOperand; 3]> =
            SmallVec::from_iter([PackedOperand::new(mask, Map::SAME, bytes, (Map::SAME, bytes[1]), true)]);
        let mut scalar = None;
        for (n, arg) in args.into_iter().enumerate() {
            match arg {
                Ok(tile) => inputs.push(by_rows(tile)),
                Err(bits) => scalar = Some((bits, n == 0)),
            }
        }
        let output = PackedOperand::new(dst, Map::SAME, extent, (Map::SAME, columns), false);
        PackedKernel { what: PackedOp::Select { columns: columns as usize, scalar }, inputs, output, product: None }
    }

    /// Computes. Indices are in range: the code that runs the instruction has checked them
    /// ([`PackedKernel::indices`]).
    pub fn run<M: AsRef<[u8]> + AsMut<[u8]>>(&self, memories: &mut [M], places: &[Place]) -> Result<(), OutOfBounds> {
        if self.run_there(memories, places).is_some() {
            return Ok(());
        }
        if self.product.as_ref().is_some_and(|product| product.run(memories, places).is_some()) {
            return Ok(());
        }
        let out = self.results(memories, places)?;
        let place = places.get(usize::from(self.output.operand)).ok_or(OutOfBounds::NOWHERE)?;
        let memory = memories.get_mut(place.memory.index()).ok_or(OutOfBounds::NOWHERE)?.as_mut();
        self.output.spread(&out, memory, place.at)
    }

    /// Selects or gathers where everything but the mask lies dense and apart, without copies.
    fn run_there<M: AsRef<[u8]> + AsMut<[u8]>>(&self, memories: &mut [M], places: &[Place]) -> Option<()> {
        let size = self.output.elem.bits() as usize / 8;
        match (self.what, self.inputs.as_slice()) {
            (PackedOp::Select { columns, scalar: None }, [mask, x, y]) => {
                let at = places.get(usize::from(mask.operand))?;
                let bits = mask.copy(memories.get(at.memory.index())?.as_ref(), at.at).ok()?;
                let ([x, y], out) = self.dense_operands([x, y], memories, places)?;
                select(size, columns, &bits, x, y, out);
            }
            (PackedOp::Gather { .. }, [src, idx]) => {
                let ([src, indices], out) = self.dense_operands([src, idx], memories, places)?;
                gather(size, idx.elem, src, indices, out);
            }
            _ => return None,
        }
        Some(())
    }

    /// Two inputs and the output where they lie, if all of them lie dense and the output apart from the inputs.
    fn dense_operands<'m, M: AsRef<[u8]> + AsMut<[u8]>>(
        &self,
        inputs: [&PackedOperand; 2],
        memories: &'m mut [M],
        places: &[Place],
    ) -> Option<([&'m [u8]; 2], &'m mut [u8])> {
        let place = |stage: &PackedOperand| places.get(usize::from(stage.operand)).copied();
        let (x_at, y_at, out_at) = (place(inputs[0])?, place(inputs[1])?, place(&self.output)?);
        let (x_bytes, y_bytes, out) = (inputs[0].range(x_at)?, inputs[1].range(y_at)?, self.output.range(out_at)?);
        let is_apart = |at: Place, bytes: &std::ops::Range<usize>| {
            at.memory != out_at.memory || bytes.end <= out.start || out.end <= bytes.start
        };
        let [(x, x_len), (y, y_len), (to, to_len)] = parts(memories, [(x_at, false), (y_at, false), (out_at, true)])?;
        let fits = x_bytes.end <= x_len && y_bytes.end <= y_len && out.end <= to_len;
        if !fits || !is_apart(x_at, &x_bytes) || !is_apart(y_at, &y_bytes) {
            return None;
        }
        // SAFETY: the ranges lie in memories that are borrowed as long as the slices, and the one that is written is
        // apart from the others.
        unsafe {
            let x = std::slice::from_raw_parts(x.add(x_bytes.start), x_bytes.len());
            let y = std::slice::from_raw_parts(y.add(y_bytes.start), y_bytes.len());
            Some(([x, y], std::slice::from_raw_parts_mut(to.add(out.start), out.len())))
        }
    }

    /// The dense results.
    fn results<M: AsRef<[u8]> + AsMut<[u8]>>(
        &self,
        memories: &mut [M],
        places: &[Place],
    ) -> Result<Vec<u8>, OutOfBounds> {
        // Borrowed once, all together: inputs may share a memory, and what lies dense in it is read there.
        let all: SmallVec<[&[u8]; 16]> = memories.iter().map(AsRef::as_ref).collect();
        if let (PackedOp::Reduce { func, to, .. }, [input]) = (self.what, self.inputs.as_slice())
            && let Some((first, pitch)) = input.rows
            && let Some(place) = places.get(usize::from(input.operand))
            && let Some(rows) = all.get(place.memory.index()).and_then(|memory| memory.get(place.at + first..))
            && let Some(out) = fold_rows(func, input.elem, to, input.columns as usize, input.len, (rows, pitch))
        {
            return Ok(out);
        }
        let mut inputs: SmallVec<[Cow<'_, [u8]>; 3]> = SmallVec::new();
        for input in &self.inputs {
            let place = places.get(usize::from(input.operand)).ok_or(OutOfBounds::NOWHERE)?;
            let memory = *all.get(place.memory.index()).ok_or(OutOfBounds::NOWHERE)?;
            inputs.push(input.gather(memory, place.at)?);
        }
        Ok(match (self.what, inputs.as_slice()) {
            (PackedOp::Reduce { func: Func::MulAdd(reduced), to, extent, .. }, [a, b, start @ ..]) => {
                let (x, y) = (self.inputs[0].elem, self.inputs[1].elem);
                let start = start.first().map(|s| &**s);
                contract((x, a), (y, b), reduced, to, extent, start).ok_or(OutOfBounds::NOWHERE)?
            }
            (PackedOp::Reduce { func: Func::ScaledMulAdd, extent, .. }, [a, b, a_scale, b_scale, start @ ..]) => {
                let (x, y) = (self.inputs[0].elem, self.inputs[1].elem);
                scaled((x, a, a_scale), (y, b, b_scale), extent, start.first().map(|s| &**s))
            }
            (PackedOp::Reduce { func, to, extent, .. }, [x, ..]) => {
                let shape = [extent[0] * extent[1], extent[2]];
                fold(func, self.inputs[0].elem, to, shape, x).ok_or(OutOfBounds::NOWHERE)?
            }
            (PackedOp::Gather { .. }, [src, idx]) => {
                let mut out = vec![0; self.output.bytes()];
                gather(self.output.elem.bits() as usize / 8, self.inputs[1].elem, src, idx, &mut out);
                out
            }
            (PackedOp::Pack { .. }, inputs) => self.packed(inputs).ok_or(OutOfBounds::NOWHERE)?,
            (PackedOp::Select { columns, scalar }, [mask, inputs @ ..]) => {
                let all = |bits: u64| repeated(self.output.elem, bits, self.output.len);
                let size = self.output.elem.bits() as usize / 8;
                let mut out = vec![0; self.output.bytes()];
                match (scalar, inputs) {
                    (None, [x, y]) => select(size, columns, mask, x, y, &mut out),
                    (Some((bits, true)), [y]) => select(size, columns, mask, &all(bits), y, &mut out),
                    (Some((bits, false)), [x]) => select(size, columns, mask, x, &all(bits), &mut out),
                    _ => return Err(OutOfBounds::NOWHERE),
                }
                out
            }
            _ => return Err(OutOfBounds::NOWHERE),
        })
    }

    /// Whether all indices of a gather are defined and in range, by a quick check.
    pub fn is_in_range(&self, memories: &Memories, places: &[Place]) -> bool {
        let [src, idx] = self.inputs.as_slice() else { return false };
        let Some((at, memory)) = memories.operand(places, idx.operand) else { return false };
        let Some(first) = idx.dense.map(|dense| at + dense) else { return false };
        let Some(bytes) = memory.bytes().get(first..first + idx.bytes()) else { return false };
        let is_defined = !memories.tracked || memory.defined().has_all(first, bytes.len());
        is_defined && are_below(idx.elem, bytes, src.len)
    }

    fn packed(&self, inputs: &[Cow<'_, [u8]>]) -> Option<Vec<u8>> {
        let PackedOp::Pack { func, scalar, columns } = self.what else { return None };
        if let (Func::Compare(cmp), [x, rest @ ..], [input, ..]) = (func, inputs, self.inputs.as_slice()) {
            let y = match (rest.first(), scalar) {
                (Some(y), _) => Some(Cow::Borrowed(&**y)),
                (None, Some((elem, bits))) => (elem == input.elem).then(|| repeated(elem, bits, input.len).into()),
                (None, None) => None,
            };
            if let Some(found) = y.and_then(|y| compare(cmp, input.elem, columns, x, &y)) {
                return Some(found);
            }
        }
        let element = |input: usize, n: usize| {
            let elem = self.inputs[input].elem;
            (elem, read_bits(&inputs[input], (n * (elem.bits() as usize / 8)) as i64, elem.bits()))
        };
        let byte = |result| {
            let mut pairs: SmallVec<[(Elem, u64); 16]> = SmallVec::new();
            self.reads(result, |input, n| {
                pairs.push(element(input, n));
                pairs.extend(scalar);
            });
            Some(func.eval(Elem::U8, &pairs)? as u8)
        };
        (0..self.output.len).map(byte).collect()
    }

    /// Calls `f(input, element)` for every element of the buffers that a result of a fold or of packing reads, in the
    /// order of the formula.
    pub fn reads(&self, result: usize, mut f: impl FnMut(usize, usize)) {
        if let PackedOp::Pack { columns, .. } = self.what {
            let (row, byte) = (result / columns.div_ceil(8).max(1), result % columns.div_ceil(8).max(1));
            for column in 8 * byte..(8 * byte + 8).min(columns) {
                (0..self.inputs.len()).for_each(|input| f(input, row * columns + column));
            }
            return;
        }
        let PackedOp::Reduce { extent: [rows, cols, depth], starts, .. } = self.what else {
            return;
        };
        let (args, results) = (self.inputs.len() - usize::from(starts), rows * cols);
        if starts {
            f(args, result);
        }
        for k in 0..depth {
            if args >= 2 {
                f(0, result / cols * depth + k);
                f(1, k * cols + result % cols);
            }
            if args == 4 {
                let (block, blocks) = (k / SCALE_BLOCK as usize, depth.div_ceil(SCALE_BLOCK as usize));
                f(2, result / cols * blocks + block);
                f(3, block * cols + result % cols);
            }
            if args == 1 {
                f(0, k * results + result);
            }
        }
    }

    /// The indices of a gather, as the tile has them now; of a fold, none. They are in the memory, or nothing is read.
    pub fn indices(&self, memories: &Memories, places: &[Place]) -> Result<Vec<u64>, OutOfBounds> {
        let (PackedOp::Gather { .. }, Some(idx)) = (self.what, self.inputs.get(1)) else {
            return Ok(Vec::new());
        };
        let (at, memory) = memories.operand(places, idx.operand).ok_or(OutOfBounds::NOWHERE)?;
        let bytes = idx.gather(memory.bytes(), at)?;
        let size = idx.elem.bits() as usize / 8;
        Ok((0..idx.len).map(|k| read_bits(&bytes, (k * size) as i64, idx.elem.bits())).collect())
    }

    /// A gather by these indices as the copies that it comes to, from its first operand to its destination.
    pub fn copies(&self, indices: &[u64]) -> Nests {
        let (from, to) = (self.inputs[0].offsets(true), self.output.offsets(false));
        let bits = self.output.elem.bits();
        let copy = |(index, d): (&u64, i64)| {
            let s = *from.get(*index as usize)?;
            Some(Nest { bits: [bits, bits, 0, 0], base: [d, s, 0, 0], dims: SmallVec::new() })
        };
        indices.iter().zip(to).filter_map(copy).collect()
    }

    /// Determines which results of a fold are defined: those of which all inputs are. `read` has, for every input,
    /// 0xFF for the bytes that are defined from an offset on; the results have the same form.
    pub fn defined(&self, read: &[(Vec<u8>, i64)], (out, start): (&mut [u8], i64)) {
        let whole: SmallVec<[Vec<bool>; 3]> = self
            .inputs
            .iter()
            .zip(read)
            .map(|(input, (bytes, first))| {
                let all = |at: i64| {
                    let element = input.element(at);
                    let element = (element.start - first) as usize..(element.end - first) as usize;
                    bytes.get(element).is_some_and(|b| b.iter().all(|b| *b == 0xFF))
                };
                input.offsets(true).into_iter().map(all).collect()
            })
            .collect();
        let size = self.output.elem.bits() as usize / 8;
        for (result, at) in self.output.offsets(false).into_iter().enumerate() {
            let mut all = true;
            self.reads(result, |input, element| all &= whole.get(input).and_then(|w| w.get(element)) == Some(&true));
            if let Some(bytes) = out.get_mut((at - start) as usize..(at - start) as usize + size) {
                bytes.fill(if all { 0xFF } else { 0 });
            }
        }
    }

    /// Calls `f(input, byte)` for the elements of a fold that a byte of the destination depends on; bytes are counted from
    /// their operands' starts.
    pub fn sources_of(&self, byte: i64, mut f: impl FnMut(usize, i64)) {
        let size = i64::from(self.output.elem.bits() / 8);
        let result = self.output.offsets(false).into_iter().position(|at| (at..at + size).contains(&byte));
        let offsets: SmallVec<[Vec<i64>; 3]> = self.inputs.iter().map(|input| input.offsets(true)).collect();
        if let Some(result) = result {
            self.reads(result, |input, element| f(input, self.inputs[input].element(offsets[input][element]).start));
        }
    }
}
