//! The irregular instructions, element by element from the formulas of isa/irregular.md.

use super::compute::element;
use super::{Cell, Done, NO_MEANING, Picture, Reference, area, number, scalar_bits};
use crate::definition::{
    self,
    codec::{clamp, shape},
};
use std::cmp::Ordering;
use tessera_isa::codec::Number;
use tessera_isa::elem::Elem;
use tessera_isa::inst::{Cmp, QuantType};
use tessera_isa::ops::{AttrName, Form, Opcode, Role};
use tessera_isa::sem::Func;

type Row = Vec<(f64, [Cell; 2])>;

impl Reference<'_> {
    pub(super) fn irregular(&mut self) -> Done {
        match self.inst.op {
            Opcode::Tci | Opcode::Ttri | Opcode::Trandom => self.generated(),
            Opcode::Thistogram => self.histogram(),
            Opcode::Tgather => match self.inst.form {
                Form::Compare => self.matches(),
                Form::Mask => self.columns(),
                _ => self.gather(),
            },
            Opcode::Tgatherb => self.blocks(),
            Opcode::Tscatter => self.scatter(),
            Opcode::Tsort32 => self.sort(),
            Opcode::Tmrgsort => self.merge(),
            Opcode::Tpartargmax | Opcode::Tpartargmin => self.pick(),
            Opcode::Tpartadd => self.part(Func::Add),
            Opcode::Tpartmul => self.part(Func::Mul),
            Opcode::Tpartmax => self.part(Func::Max),
            Opcode::Tpartmin => self.part(Func::Min),
            Opcode::Tquant | Opcode::Tdequant => self.quantize(),
            Opcode::TquantMx => self.quantize_mx(),
            Opcode::TmovZz => self.exponents(),
            Opcode::Tsetval => self.set_value(),
            _ => Err(NO_MEANING),
        }
    }

    fn integer(&self, role: Role) -> Result<i128, &'static str> {
        match self.inst.scalar(role) {
            Some(Number::Int(v)) => Ok(v),
            _ => Err(NO_MEANING),
        }
    }

    /// TCI, TTRI, TRANDOM (isa/irregular.md 3 and 5).
    fn generated(&mut self) -> Done {
        let (d, op) = (self.index(Role::Dst)?, self.inst.op);
        let (elem, valid) = (self.old[d].tile.elem, self.old[d].valid);
        self.scratch();
        for [i, j] in area(valid) {
            let bits = match op {
                Opcode::Tci => {
                    let down = self.inst.attrs.flag(AttrName::Descending);
                    let step = if down { -i128::from(j) } else { i128::from(j) };
                    (self.integer(Role::Scalar)? + step) as u64
                }
                Opcode::Ttri => {
                    let edge = i128::from(i) + self.integer(Role::Scalar)?;
                    let upper = self.inst.attrs.int(AttrName::UpperOrLower) == Some(1);
                    let one = if upper { i128::from(j) >= edge } else { i128::from(j) <= edge };
                    match (one, elem) {
                        (false, _) => 0,
                        (true, Elem::F32) => 0x3F80_0000,
                        (true, Elem::F16) => 0x3C00,
                        (true, Elem::Bf16) => 0x3F80,
                        (true, _) => 1,
                    }
                }
                _ => self.philox(i, j, valid[1])?,
            };
            self.tiles[d].set(0, i, j, Cell::of(bits & elem.mask()));
        }
        Ok(false)
    }

    fn philox(&self, i: u64, j: u64, cols: u64) -> Result<u64, &'static str> {
        let word = |role| self.integer(role).map(|v| v as u32);
        let mut k = [word(Role::Key0)?, word(Role::Key1)?];
        let counter = [Role::Counter0, Role::Counter1, Role::Counter2, Role::Counter3].map(word);
        let mut c = [counter[0]?, counter[1]?, counter[2]?, counter[3]?];
        // Long addition, word by word.
        let a = 64 * (cols.div_ceil(256) - 1) + (cols - 1) % 64 + 1;
        let mut carry = u128::from(i) * u128::from(a) + u128::from(j / 4);
        for word in &mut c {
            let sum = u128::from(*word) + (carry & 0xFFFF_FFFF);
            *word = sum as u32;
            carry = (carry >> 32) + (sum >> 32);
        }
        for _ in 0..self.inst.attrs.int(AttrName::Rounds).unwrap_or(10) {
            let (p, q) = (u64::from(c[0]) * 0xD251_1F53, u64::from(c[2]) * 0xCD9E_8D57);
            let (h0, l0, h1, l1) = ((p >> 32) as u32, p as u32, (q >> 32) as u32, q as u32);
            c = [h1 ^ c[1] ^ k[0], l1, h0 ^ c[3] ^ k[1], l0];
            k = [k[0].wrapping_add(0x9E37_79B9), k[1].wrapping_add(0xBB67_AE85)];
        }
        Ok(c[(j % 4) as usize].into())
    }

    fn histogram(&mut self) -> Done {
        let (src, idx, d) = (self.source(Role::Src)?, self.source(Role::Idx)?, self.index(Role::Dst)?);
        let size = src.tile.elem.bits() / 8;
        let attrs = &self.inst.attrs;
        let top = if attrs.flag(AttrName::IsMsb) { size - 1 } else { 0 };
        let byte = attrs.get(AttrName::Byte).and(attrs.int(AttrName::Byte)).map_or(top, |b| b as u32);
        let of = |x: u64, byte: u32| x >> (8 * byte) & 0xFF;
        for i in 0..src.valid[0] {
            let row: Vec<_> = (0..src.valid[1]).map(|j| element(src, i, j)).collect();
            let mut filter = Vec::new();
            for above in byte + 1..size {
                let (_, bits, defined) =
                    if size == 2 { element(idx, i, 0) } else { element(idx, u64::from(3 - above), 0) };
                if !row.is_empty() && !defined {
                    return Err("undefined-use");
                }
                filter.push((above, bits));
            }
            let passing: Vec<u64> =
                row.iter().map(|x| x.1).filter(|x| filter.iter().all(|(above, f)| of(*x, *above) == *f)).collect();
            for b in 0..256 {
                let count = passing.iter().filter(|x| of(**x, byte) <= b).count() as u64;
                self.tiles[d].set(0, i, b, Cell::result(count, row.iter().all(|x| x.2)));
            }
        }
        Ok(false)
    }

    fn matches(&mut self) -> Done {
        let (src, d, c) = (self.source(Role::Src)?, self.index(Role::Dst)?, self.index(Role::Cdst)?);
        let elem = src.tile.elem;
        let wanted = number(elem, scalar_bits(elem, self.inst.scalar(Role::Scalar).ok_or(NO_MEANING)?)?);
        let offset = self.inst.attrs.int(AttrName::Offset).unwrap_or(0);
        let mut found: Vec<Vec<u64>> = Vec::new();
        for i in 0..src.valid[0] {
            let mut row = Vec::new();
            for j in 0..src.valid[1] {
                let (_, bits, defined) = element(src, i, j);
                if !defined {
                    return Err("undefined-use");
                }
                let order = match (number(elem, bits), wanted) {
                    (Number::Int(x), Number::Int(y)) => Some(x.cmp(&y)),
                    (Number::Float(x), Number::Float(y)) => x.partial_cmp(&y),
                    _ => None,
                };
                let hit = if self.inst.attrs.cmp() == Some(Cmp::Gt) { Ordering::Greater } else { Ordering::Equal };
                if order == Some(hit) {
                    row.push((offset + i128::from(i * src.tile.cols + j)) as u64 & 0xFFFF_FFFF);
                }
            }
            if row.len() as u64 > self.old[d].valid[1] {
                return Err("tgather-room");
            }
            found.push(row);
        }
        self.scratch();
        for (i, row) in (0..).zip(found) {
            let count = self.old[c].tile.elem;
            self.tiles[c].cores[0].set(i as i64, count, Cell::of(row.len() as u64));
            self.tiles[d].put(0, (0..).zip(row).map(|(n, index)| (i, n, Cell::of(index))).collect());
        }
        Ok(false)
    }

    fn columns(&mut self) -> Done {
        let (src, d) = (self.source(Role::Src)?, self.index(Role::Dst)?);
        let name = self.inst.attrs.mask_pattern().ok_or(NO_MEANING)?.name();
        // The digits of the pattern, from the right.
        let digits: Vec<bool> = name.bytes().skip(1).map(|b| b == b'1').rev().collect();
        for i in 0..src.valid[0] {
            let kept = (0..src.valid[1]).filter(|j| digits[*j as usize % 4]);
            for (n, j) in (0..).zip(kept) {
                self.tiles[d].set(0, i, n, src.get(i, j));
            }
        }
        Ok(false)
    }

    fn blocks(&mut self) -> Done {
        let (src, idx, d) = (self.source(Role::Src)?, self.source(Role::Idx)?, self.index(Role::Dst)?);
        let (size, bytes) = (self.old[d].tile.elem.size().ok_or(NO_MEANING)?, src.tile.bytes());
        let per_block = 32 / size;
        let mut written = Vec::new();
        for [i, j] in area(self.old[d].valid) {
            let (_, offset, defined) = element(idx, i, j / per_block);
            if !defined {
                return Err("undefined-use");
            }
            if offset + 32 > bytes || self.inst.profile.is_npu() && offset % 32 != 0 {
                return Err("tgatherb-index");
            }
            let at = (offset + j % per_block * size) as usize;
            let read = |of: &[u8]| (0..size as usize).fold(0, |v, k| v | u64::from(of[at + k]) << (8 * k));
            let content = &src.cores[0];
            written.push((i, j, Cell { bits: read(&content.bytes), defined: read(&content.defined) }));
        }
        self.tiles[d].put(0, written);
        Ok(false)
    }

    fn scatter(&mut self) -> Done {
        let (src, idx, d) = (self.source(Role::Src)?, self.source(Role::Idx)?, self.index(Role::Dst)?);
        let (rows, cols) = (self.old[d].tile.rows, self.old[d].tile.cols);
        let mut written = Vec::new();
        for [i, j] in area(src.valid) {
            let (elem, bits, defined) = element(idx, i, j);
            let Number::Int(k) = number(elem, bits) else { return Err(NO_MEANING) };
            if !defined {
                return Err("undefined-use");
            }
            let k = u64::try_from(k).ok().filter(|k| *k < rows * cols).ok_or("tscatter-index")?;
            written.push((k / cols, k % cols, src.get(i, j)));
        }
        if self.inst.profile.is_npu() {
            for [r, c] in area([rows, cols]) {
                self.tiles[d].set(0, r, c, Cell::of(0));
            }
        }
        self.tiles[d].put(0, written);
        Ok(false)
    }

    /// The records of a row, by insertion: stable, descending, NaN last (isa/irregular.md 6).
    fn sort(&mut self) -> Done {
        let (src, idx, d) = (self.source(Role::Src)?, self.source(Role::Idx)?, self.index(Role::Dst)?);
        let mut rows: Vec<Vec<Row>> = Vec::new();
        for i in 0..src.valid[0] {
            let mut blocks: Vec<Row> = Vec::new();
            for j in 0..src.valid[1] {
                if j % 32 == 0 {
                    blocks.push(Vec::new());
                }
                let value = key(src, i, j)?;
                let from = if idx.valid[0] == src.valid[0] { i } else { 0 };
                let block = blocks.last_mut().ok_or(NO_MEANING)?;
                let at = block.iter().position(|other| comes_before(value, other.0)).unwrap_or(block.len());
                block.insert(at, (value, [src.get(i, j), idx.get(from, j)]));
            }
            rows.push(blocks);
        }
        self.scratch();
        let whole = src.valid[1].next_multiple_of(32);
        let p = 8 / self.old[d].tile.elem.size().ok_or(NO_MEANING)?;
        for (i, blocks) in (0..).zip(rows) {
            if self.inst.profile.is_npu() {
                for c in p * src.valid[1]..(p * whole).min(self.old[d].tile.cols) {
                    self.tiles[d].set(0, i, c, Cell::result(0, false));
                }
            }
            for (n, (_, [value, index])) in (0..).zip(blocks.into_iter().flatten()) {
                let half = |shift: u32| Cell { bits: index.bits >> shift, defined: index.defined >> shift };
                let cells = if p == 2 { vec![value, index] } else { vec![value, Cell::of(0), half(0), half(16)] };
                self.tiles[d].put(0, (p * n..).zip(cells).map(|(c, cell)| (i, c, cell)).collect());
            }
        }
        Ok(false)
    }

    fn merge(&mut self) -> Done {
        let d = self.index(Role::Dst)?;
        let p = 8 / self.old[d].tile.elem.size().ok_or(NO_MEANING)?;
        let records = |tile: &Picture, from: u64, to: u64| -> Result<Vec<(f64, Vec<Cell>)>, &'static str> {
            let one = |n: u64| Ok((key(tile, 0, p * n)?, (0..p).map(|k| tile.get(0, p * n + k)).collect()));
            (from / p..to / p).map(one).collect()
        };
        let mut written: Vec<(u64, Vec<Vec<Cell>>)> = Vec::new();
        let mut counts = None;
        if let Ok(src) = self.source(Role::Src) {
            let length = self.integer(Role::Scalar)? as u64;
            for first in (0..src.valid[1] / (4 * length)).map(|g| 4 * length * g) {
                let mut lists = Vec::new();
                for k in 0..4 {
                    lists.push(records(src, first + k * length, first + (k + 1) * length)?);
                }
                written.push((first, merged(&lists, false).0));
            }
        } else {
            let mut lists = Vec::new();
            for role in [Role::Src0, Role::Src1, Role::Src2, Role::Src3] {
                if let Ok(src) = self.source(role) {
                    lists.push(records(src, 0, src.valid[1])?);
                }
            }
            let (mut all, taken) = merged(&lists, self.inst.attrs.flag(AttrName::Exhausted));
            all.truncate((self.old[d].valid[1] / p) as usize);
            written.push((0, all));
            counts = Some(taken);
        }
        self.scratch();
        for (first, all) in written {
            for (c, cell) in (first..).zip(all.into_iter().flatten()) {
                self.tiles[d].set(0, 0, c, cell);
            }
        }
        if let Some(counts) = counts {
            let executed = self.index(Role::Executed)?;
            self.tiles[executed].put(0, (0..).zip(counts).map(|(k, n)| (0, k, Cell::of(n))).collect());
        }
        Ok(false)
    }

    fn part(&mut self, func: Func) -> Done {
        let (a, b, d) = (self.source(Role::Src0)?, self.source(Role::Src1)?, self.index(Role::Dst)?);
        let elem = self.old[d].tile.elem;
        for [i, j] in area(self.old[d].valid) {
            let is_in = |p: &Picture| i < p.valid[0] && j < p.valid[1];
            let cell = match (is_in(a), is_in(b)) {
                (true, true) => {
                    let (x, y) = (element(a, i, j), element(b, i, j));
                    let bits = definition::eval(func, elem, &[(x.0, x.1), (y.0, y.1)]).ok_or(NO_MEANING)?;
                    Cell::result(bits, x.2 && y.2)
                }
                (true, false) => a.get(i, j),
                (false, true) => b.get(i, j),
                (false, false) => Cell::of(match func {
                    Func::Max => end(elem, true),
                    Func::Min => end(elem, false),
                    _ => 0,
                }),
            };
            self.tiles[d].set(0, i, j, cell);
        }
        Ok(false)
    }

    fn pick(&mut self) -> Done {
        let (a, b) = (self.source(Role::Src0)?, self.source(Role::Src1)?);
        let (ai, bi) = (self.source(Role::Src0Idx)?, self.source(Role::Src1Idx)?);
        let (d, di) = (self.index(Role::Dst)?, self.index(Role::DstIdx)?);
        for [i, j] in area(self.old[d].valid) {
            let is_in = |p: &Picture| i < p.valid[0] && j < p.valid[1];
            let first = match (is_in(a), is_in(b)) {
                (true, true) => {
                    let (x, y) = (element(a, i, j), element(b, i, j));
                    let order = match (number(x.0, x.1), number(y.0, y.1)) {
                        (Number::Int(x), Number::Int(y)) => Some(x.cmp(&y)),
                        (Number::Float(x), Number::Float(y)) => x.partial_cmp(&y),
                        _ => None,
                    };
                    let loses = if self.inst.op == Opcode::Tpartargmax { Ordering::Less } else { Ordering::Greater };
                    // The first NaN wins.
                    let is_nan = |x: (Elem, u64, bool)| matches!(number(x.0, x.1), Number::Float(v) if v.is_nan());
                    let nan = is_nan(x) || !is_nan(y);
                    let first = if order.is_none() { nan } else { order != Some(loses) };
                    (x.2 && y.2).then_some(Some(first))
                }
                (true, false) => Some(Some(true)),
                (false, true) => Some(Some(false)),
                (false, false) => Some(None),
            };
            let cells = match first {
                Some(Some(true)) => [a.get(i, j), ai.get(i, j)],
                Some(Some(false)) => [b.get(i, j), bi.get(i, j)],
                Some(None) => [Cell::of(0); 2],
                None => [Cell::result(0, false); 2],
            };
            self.tiles[d].set(0, i, j, cells[0]);
            self.tiles[di].set(0, i, j, cells[1]);
        }
        Ok(false)
    }

    fn quantize(&mut self) -> Done {
        let (src, d) = (self.source(Role::Src)?, self.index(Role::Dst)?);
        let to = self.old[d].tile.elem;
        self.scratch();
        let f32_of = |x: (Elem, u64, bool)| (f32::from_bits(x.1 as u32), x.2);
        for [i, j] in area(self.old[d].valid) {
            let x = element(src, i, j);
            if let Ok(scale) = self.source(Role::Scale) {
                let Number::Int(v) = number(x.0, x.1) else { return Err(NO_MEANING) };
                let ((s, a), (o, b)) =
                    (f32_of(element(scale, i, 0)), f32_of(element(self.source(Role::Offset)?, i, 0)));
                let t = (v as f32 - o) * s;
                let bits = if t.is_nan() { 0x7FC0_0000 } else { t.to_bits() };
                self.tiles[d].set(0, i, j, Cell::result(bits.into(), x.2 && a && b));
                continue;
            }
            let fp = self.source(Role::Fp)?;
            let column = match fp.valid[1] {
                1 => 0,
                8 => j % 8,
                _ => j,
            };
            let ((x, a), (f, b)) = (f32_of(x), f32_of(element(fp, i, column)));
            let (mut t, mut all) = (x * f, a && b);
            if self.inst.attrs.quant_type() == Some(QuantType::Int8Asym) {
                let (o, c) = f32_of(element(self.source(Role::Offset)?, i, column));
                (t, all) = (t + o, all && c);
            }
            let (low, high) = if to == Elem::U8 { (0.0, 255.0) } else { (-128.0, 127.0) };
            let v = if t.is_nan() { 0 } else { t.round_ties_even().max(low).min(high) as i32 };
            self.tiles[d].set(0, i, j, Cell::result(v as u64 & 0xFF, all));
        }
        Ok(false)
    }

    fn set_value(&mut self) -> Done {
        let d = self.index(Role::Dst)?;
        let elem = self.old[d].tile.elem;
        let bits = scalar_bits(elem, self.inst.scalar(Role::Scalar).ok_or(NO_MEANING)?)?;
        let at = self.inst.index(Role::Index).ok_or(NO_MEANING)? as i64;
        self.tiles[d].cores[0].set(at, elem, Cell::of(bits));
        Ok(false)
    }
}

/// The lowest or the highest finite value of a type.
fn end(elem: Elem, lowest: bool) -> u64 {
    match shape(elem) {
        Some(shape) => shape.largest | u64::from(lowest) << (elem.bits() - 1),
        None => clamp(elem, if lowest { i128::MIN / 2 } else { i128::MAX / 2 }) as u64 & elem.mask(),
    }
}

/// A value that decides about an order.
fn key(tile: &Picture, r: u64, c: u64) -> Result<f64, &'static str> {
    let (elem, bits, defined) = element(tile, r, c);
    match number(elem, bits) {
        Number::Float(v) if defined => Ok(v),
        _ => Err("undefined-use"),
    }
}

fn comes_before(x: f64, y: f64) -> bool {
    x > y || y.is_nan() && !x.is_nan()
}

/// Records of several lists, and how many each gave.
fn merged(lists: &[Vec<(f64, Vec<Cell>)>], until_exhausted: bool) -> (Vec<Vec<Cell>>, [u64; 4]) {
    let (mut taken, mut all) = ([0u64; 4], Vec::new());
    loop {
        let used_up = lists.iter().zip(taken).any(|(list, n)| n as usize == list.len());
        let mut best: Option<usize> = None;
        for (k, list) in lists.iter().enumerate() {
            let Some((value, _)) = list.get(taken[k] as usize) else { continue };
            if best.is_none_or(|b| comes_before(*value, lists[b][taken[b] as usize].0)) {
                best = Some(k);
            }
        }
        let Some(k) = best.filter(|_| !(until_exhausted && used_up)) else { return (all, taken) };
        all.push(lists[k][taken[k] as usize].1.clone());
        taken[k] += 1;
    }
}
