//! The oracle: every instruction element by element, straight from the formulas of ops.md.
//!
//! Slow and obvious on purpose: it knows neither index maps nor nests, only `Tile::layout().offset`. Tests compare the
//! machine against it bit for bit; users never run it. Instructions are legal when they come here.

mod blocks;
mod compute;
mod global;
mod image;
mod irregular;
mod mx;
mod rows;
mod vector;

use crate::definition::codec::{Beyond, encode, float, integer};
use crate::definition::{self, FixpipeMode};
use blocks::Footprint;
use tessera_isa::codec::{Number, QuantParam};
use tessera_isa::elem::Elem;
use tessera_isa::inst::{AccToVec, ConvType, Inst};
use tessera_isa::ops::{Form, Opcode, Role};
use tessera_isa::profile::Profile;
use tessera_isa::tile::{Loc, Tile};

/// Bytes, and for each of them 0xFF where it is defined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Content {
    pub bytes: Vec<u8>,
    /// Which bits of them are defined.
    pub defined: Vec<u8>,
}

/// A tile: its type, its valid region, and its contents on both vector cores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    pub tile: Tile,
    /// The type, for a conv tile.
    pub conv: Option<ConvType>,
    pub valid: [u64; 2],
    /// Declared bytes on core 0 and core 1.
    pub cores: [Content; 2],
}

/// An element: its bits, and which of them are defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    pub bits: u64,
    pub defined: u64,
}

impl Cell {
    /// A defined element.
    pub(crate) fn of(bits: u64) -> Self {
        Cell { bits, defined: !0 }
    }

    /// An element that is defined or not.
    fn result(bits: u64, is_defined: bool) -> Self {
        Cell { bits, defined: if is_defined { !0 } else { 0 } }
    }

    /// Are all bits of the element defined?
    pub(crate) fn is_whole(self, elem: Elem) -> bool {
        self.defined & elem.mask() == elem.mask()
    }
}

impl Content {
    /// This many undefined bytes.
    pub fn undefined(bytes: u64) -> Self {
        Content { bytes: vec![0; bytes as usize], defined: vec![0; bytes as usize] }
    }

    pub(crate) fn get(&self, element: i64, elem: Elem) -> Cell {
        Cell { bits: read(&self.bytes, element, elem), defined: read(&self.defined, element, elem) }
    }

    pub(crate) fn set(&mut self, element: i64, elem: Elem, cell: Cell) {
        write(&mut self.bytes, element, elem, cell.bits);
        write(&mut self.defined, element, elem, cell.defined);
    }
}

fn read(bytes: &[u8], element: i64, elem: Elem) -> u64 {
    let at = element.max(0) as usize;
    match elem.size() {
        None => u64::from(bytes[at / 2] >> (at % 2 * 4) & 15),
        Some(size) => (0..size as usize).fold(0, |v, k| v | u64::from(bytes[at * size as usize + k]) << (8 * k)),
    }
}

fn write(bytes: &mut [u8], element: i64, elem: Elem, value: u64) {
    let at = element.max(0) as usize;
    match elem.size() {
        None => {
            let (byte, shift) = (&mut bytes[at / 2], at % 2 * 4);
            *byte = *byte & !(15 << shift) | ((value & 15) as u8) << shift;
        }
        Some(size) => (0..size as usize).for_each(|k| bytes[at * size as usize + k] = (value >> (8 * k)) as u8),
    }
}

impl Picture {
    /// A tile of which nothing is defined.
    pub fn new(tile: Tile, conv: Option<ConvType>) -> Self {
        let content = Content::undefined(tile.bytes());
        Picture {
            tile,
            conv,
            valid: [tile.v_row.known().unwrap_or(tile.rows), tile.v_col.known().unwrap_or(tile.cols)],
            cores: [content.clone(), content],
        }
    }

    pub(crate) fn get(&self, r: u64, c: u64) -> Cell {
        self.cores[0].get(self.tile.layout().offset(r, c), self.tile.elem)
    }

    pub(crate) fn set(&mut self, core: usize, r: u64, c: u64, cell: Cell) {
        self.cores[core].set(self.tile.layout().offset(r, c), self.tile.elem, cell);
    }

    /// Writes elements at their rows and columns.
    fn put(&mut self, core: usize, written: Vec<(u64, u64, Cell)>) {
        written.into_iter().for_each(|(r, c, cell)| self.set(core, r, c, cell));
    }

    /// Every element outside the first rows and columns becomes a value.
    pub(crate) fn fill_outside(&mut self, core: usize, kept: [u64; 2], bits: u64) {
        for [r, c] in area([self.tile.rows, self.tile.cols]).filter(|[r, c]| *r >= kept[0] || *c >= kept[1]) {
            self.set(core, r, c, Cell::of(bits));
        }
    }
}

/// Every row and column, row by row.
pub(crate) fn area([rows, cols]: [u64; 2]) -> impl Iterator<Item = [u64; 2]> {
    (0..rows).flat_map(move |r| (0..cols).map(move |c| [r, c]))
}

/// What an instruction comes to: whether undefined bytes were stored to global memory, or the broken rule.
pub type Done = Result<bool, &'static str>;

/// A scalar as an element: its low bits, or the nearest float (isa/scalar.md 2).
pub(crate) fn scalar_bits(elem: Elem, v: Number) -> Result<u64, &'static str> {
    match v {
        Number::Int(v) => Ok(v as u64 & elem.mask()),
        Number::Float(v) => encode(elem, v, Beyond::Infinite).ok_or(NO_MEANING),
    }
}

/// The value of an element.
pub(crate) fn number(elem: Elem, bits: u64) -> Number {
    match (float(elem, bits), integer(elem, bits)) {
        (Some(v), _) => Number::Float(v),
        (None, v) => Number::Int(v.unwrap_or(0)),
    }
}

/// What has no meaning breaks this rule.
pub(crate) const NO_MEANING: &str = "not-executable";

/// Runs one instruction on its tiles, which are in the order of [`Inst::tiles`].
pub fn execute(inst: &Inst, tiles: &mut [Picture], global: Option<&mut Content>) -> Done {
    let old = tiles.to_vec();
    let mut run = Reference { inst, old: &old, tiles };
    if run.is_about_nothing() {
        return Ok(false);
    }
    match inst.op {
        Opcode::Tmov | Opcode::TmovFp | Opcode::Textract | Opcode::TextractFp | Opcode::Tinsert | Opcode::TinsertFp => {
            run.windows()
        }
        Opcode::Ttrans => run.transpose(),
        Opcode::Tconcat if inst.form == Form::Plain => run.join(),
        Opcode::Tconcat => run.join_indexed(),
        Opcode::Tpack => run.pack(),
        Opcode::Tfillpad | Opcode::TfillpadInplace | Opcode::TfillpadExpand => run.fill_padding(),
        Opcode::Tinterleave => run.interleave(),
        Opcode::Tdeinterleave => run.deinterleave(),
        Opcode::Treshape | Opcode::Bitcast => run.reinterpret(),
        Opcode::Timg2col => run.image_to_columns(),
        Opcode::Tload => run.load(global),
        Opcode::Tprefetch => run.prefetch(global),
        Opcode::Tstore | Opcode::TstoreFp => run.store(global),
        Opcode::Mgather | Opcode::Mscatter => run.by_index(global),
        _ => run.computed(),
    }
}

pub(crate) struct Reference<'a> {
    pub inst: &'a Inst,
    /// The tiles before the instruction: what it reads.
    pub old: &'a [Picture],
    pub tiles: &'a mut [Picture],
}

impl<'a> Reference<'a> {
    /// Are all destinations 0 × 0, and all sources empty (isa/today.md 5.3)? Views and conv tiles have other rules.
    fn is_about_nothing(&self) -> bool {
        if matches!(self.inst.op, Opcode::Treshape | Opcode::Bitcast | Opcode::TfillpadExpand)
            || self.inst.conv.is_some()
        {
            return false;
        }
        let all = || self.inst.tiles.iter().zip(self.old);
        let mut dsts = all().filter(|(arg, _)| arg.role.is_dst()).peekable();
        let mut others = all().filter(|(arg, _)| !arg.role.is_dst() && arg.role != Role::Tmp);
        dsts.peek().is_some() && dsts.all(|(_, p)| p.valid == [0, 0]) && others.all(|(_, p)| p.valid.contains(&0))
    }

    pub(crate) fn index(&self, role: Role) -> Result<usize, &'static str> {
        self.inst.tile_index(role).filter(|n| *n < self.tiles.len()).ok_or(NO_MEANING)
    }

    pub(crate) fn source(&self, role: Role) -> Result<&'a Picture, &'static str> {
        Ok(&self.old[self.index(role)?])
    }

    fn number(&self, role: Role) -> Result<u64, &'static str> {
        self.inst.index_u64(role).ok_or(NO_MEANING)
    }

    pub(crate) fn fill_value(&self, elem: Elem) -> Result<u64, &'static str> {
        self.inst.scalar(Role::Fill).and_then(|v| elem.encode_exact(&v)).ok_or(NO_MEANING)
    }

    /// TMOV, TEXTRACT, TINSERT and their `_FP` forms (ops.md 2 and 3; fixpipe.md).
    fn windows(&mut self) -> Done {
        let extract = matches!(self.inst.op, Opcode::Textract | Opcode::TextractFp);
        let insert = matches!(self.inst.op, Opcode::Tinsert | Opcode::TinsertFp);
        let mut list = vec![(Role::Dst, Role::Row, Role::Col)];
        if self.inst.form == Form::TwoWindows {
            list = vec![(Role::Dst0, Role::Row, Role::Col), (Role::Dst1, Role::Row1, Role::Col1)];
        }
        for (dst, row, col) in list {
            let at = if extract || insert { [self.number(row)?, self.number(col)?] } else { [0, 0] };
            let (from, to) = if extract { (at, [0, 0]) } else { ([0, 0], at) };
            self.window(dst, from, to, extract)?;
        }
        Ok(false)
    }

    fn window(&mut self, dst: Role, from: [u64; 2], to: [u64; 2], extract: bool) -> Done {
        let (d, src, target) = (self.index(dst)?, self.source(Role::Src)?, self.source(dst)?);
        let mode = self.inst.attrs.acc_to_vec();
        let (split_m, split_n) = (mode == Some(AccToVec::DualModeSplitM), mode == Some(AccToVec::DualModeSplitN));
        // The source window, and what one core takes of it.
        let halves = [src.valid[0] / (1 + u64::from(split_m)), src.valid[1] / (1 + u64::from(split_n))];
        let extent = if extract { target.valid } else { halves };
        let cores: &[usize] = match mode {
            Some(AccToVec::SingleModeVec1) => &[1],
            Some(AccToVec::DualModeSplitM | AccToVec::DualModeSplitN) => &[0, 1],
            _ => &[0],
        };
        for core in cores.iter().copied() {
            let (r0, c0) = match (core, split_m, split_n) {
                (1, true, _) => (from[0] + extent[0], from[1]),
                (1, _, true) => (from[0], from[1] + extent[1]),
                _ => (from[0], from[1]),
            };
            let mut written = Vec::new();
            for [i, j] in area(extent) {
                let column = from[1] * u64::from(extract) + j;
                let cell = self.value(src, target.tile.elem, [r0 + i, c0 + j], column)?;
                written.push((to[0] + i, to[1] + j, cell));
            }
            if !written.is_empty() {
                let footprint = Footprint::of(self.inst, &src.tile, &target.tile, extent, extract);
                footprint.clobber(&mut self.tiles[d], core, to, &written);
            }
            self.tiles[d].put(core, written);
            if self.inst.form == Form::Fill {
                let bits = self.fill_value(target.tile.elem)?;
                self.tiles[d].fill_outside(core, target.valid, bits);
            }
        }
        Ok(false)
    }

    /// What is stored for an element of the source; `column` is that of its quantization parameter.
    pub(crate) fn value(&self, src: &Picture, dst: Elem, at: [u64; 2], column: u64) -> Result<Cell, &'static str> {
        let cell = src.get(at[0], at[1]);
        let elem = src.tile.elem;
        // On cpu Mat is quantized as Acc is (fixpipe.md 1).
        let is_quantized = self.source(Role::Fp).is_ok() || self.inst.scalar(Role::Quant).is_some();
        if src.tile.loc != Loc::Acc && !is_quantized {
            let into_bias = self.inst.dst().is_some_and(|d| d.tile.loc == Loc::Bias);
            return Ok(if elem != dst {
                Cell::result(definition::convert(dst, (elem, cell.bits)).ok_or(NO_MEANING)?, cell.is_whole(elem))
            } else if into_bias && self.inst.profile != Profile::Cpu && elem == Elem::F32 {
                let is_nan = f32::from_bits(cell.bits as u32).is_nan();
                Cell::result(if is_nan { 0x7FC0_0000 } else { cell.bits }, cell.is_whole(elem))
            } else {
                cell
            });
        }
        let way = FixpipeMode {
            relu: self.inst.relu(),
            hardware_rounding: self.inst.profile != Profile::Cpu,
            saturate_inf: self.inst.attrs.saturate_inf(),
        };
        let param = match (self.source(Role::Fp), self.inst.scalar(Role::Quant)) {
            (Ok(fp), _) => {
                let raw = fp.get(0, column);
                if raw.defined != !0 {
                    return Err("undefined-use");
                }
                // The low 13 bits of the scale count as zero (fixpipe.md 3).
                Some(raw.bits >> 13 << 13)
            }
            (_, Some(Number::Int(v))) => Some(v as u64),
            _ => None,
        };
        if let Some(fault) = param.and_then(|bits| QuantParam::scalar(bits).check(elem, dst).err()) {
            return Err(fault.rule());
        }
        if elem == dst && !way.relu && param.is_none() {
            return Ok(cell);
        }
        let bits = definition::fixpipe(dst, (elem, cell.bits & elem.mask()), way, param).ok_or(NO_MEANING)?;
        Ok(Cell::result(bits, cell.is_whole(elem)))
    }

    /// TRESHAPE copies all bytes on cpu (ops.md 4); on hardware the two are one storage.
    fn reinterpret(&mut self) -> Done {
        self.tiles[self.index(Role::Dst)?].cores[0] = self.source(Role::Src)?.cores[0].clone();
        Ok(false)
    }
}
