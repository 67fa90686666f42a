//! The oracle: every instruction element by element, straight from the formulas of ops.md.
//!
//! Slow and obvious on purpose: it knows neither index maps nor nests, only `Tile::layout().offset`. Tests compare the
//! machine against it bit for bit; users never run it. Instructions are legal when they come here.

mod blocks;
mod compute;
mod image;
mod rows;

use blocks::Footprint;
use tessera_isa::codec::{Number, QuantParam};
use tessera_isa::elem::Elem;
use tessera_isa::inst::{AccToVec, ConvType, GlobalArg, Inst, ViewTag};
use tessera_isa::ops::{Form, Opcode, Role};
use tessera_isa::profile::Profile;
use tessera_isa::sem::{Fixpipe, convert};
use tessera_isa::tile::{Loc, Tile};

/// Bytes, and for each of them 0xFF where it is defined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Which bits of them are defined.
    pub defined: Vec<u8>,
}

/// A tile: its type, its valid region, and its contents on both vector cores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// The type.
    pub tile: Tile,
    /// The type, for a conv tile.
    pub conv: Option<ConvType>,
    /// Valid rows and columns.
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
    fn of(bits: u64) -> Self {
        Cell { bits, defined: !0 }
    }

    /// A value that was computed: defined if all of its source was.
    fn computed(bits: u64, source: Cell, elem: Elem) -> Self {
        let whole = source.defined & elem.mask() == elem.mask();
        Cell { bits, defined: if whole { !0 } else { 0 } }
    }
}

impl Content {
    /// This many undefined bytes.
    pub fn undefined(bytes: u64) -> Self {
        Content { bytes: vec![0; bytes as usize], defined: vec![0; bytes as usize] }
    }

    fn get(&self, element: i64, elem: Elem) -> Cell {
        Cell { bits: read(&self.bytes, element, elem), defined: read(&self.defined, element, elem) }
    }

    fn set(&mut self, element: i64, elem: Elem, cell: Cell) {
        write(&mut self.bytes, element, elem, cell.bits);
        write(&mut self.defined, element, elem, cell.defined);
    }
}

fn read(bytes: &[u8], element: i64, elem: Elem) -> u64 {
    let at = element.max(0) as usize;
    match elem.size() {
        None => u64::from(bytes.get(at / 2).copied().unwrap_or(0) >> (at % 2 * 4) & 15),
        Some(size) => (0..size as usize)
            .fold(0, |v, k| v | u64::from(bytes.get(at * size as usize + k).copied().unwrap_or(0)) << (8 * k)),
    }
}

fn write(bytes: &mut [u8], element: i64, elem: Elem, value: u64) {
    let at = element.max(0) as usize;
    match elem.size() {
        None => {
            if let Some(byte) = bytes.get_mut(at / 2) {
                let shift = at % 2 * 4;
                *byte = *byte & !(15 << shift) | ((value & 15) as u8) << shift;
            }
        }
        Some(size) => {
            for k in 0..size as usize {
                if let Some(byte) = bytes.get_mut(at * size as usize + k) {
                    *byte = (value >> (8 * k)) as u8;
                }
            }
        }
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

    pub(crate) fn set(&mut self, core: u8, r: u64, c: u64, cell: Cell) {
        let at = self.tile.layout().offset(r, c);
        self.cores[usize::from(core & 1)].set(at, self.tile.elem, cell);
    }

    /// Every element outside the first rows and columns becomes a value.
    fn fill_outside(&mut self, core: u8, kept: [u64; 2], bits: u64) {
        for r in 0..self.tile.rows {
            for c in 0..self.tile.cols {
                if r >= kept[0] || c >= kept[1] {
                    self.set(core, r, c, Cell::of(bits));
                }
            }
        }
    }
}

/// What an instruction comes to: whether undefined bytes were stored to global memory, or the broken rule.
pub type Done = Result<bool, &'static str>;

/// Runs one instruction on its tiles, which are in the order of [`Inst::tiles`].
pub fn execute(inst: &Inst, tiles: &mut [Picture], global: Option<&mut Content>) -> Done {
    let old = tiles.to_vec();
    let mut run = Reference { inst, old: &old, tiles };
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
        Opcode::Tstore => run.store(global),
        _ => run.computed(),
    }
    .unwrap_or(Err("not-executable"))
}

pub(crate) struct Reference<'a> {
    pub inst: &'a Inst,
    /// The tiles before the instruction: what it reads.
    pub old: &'a [Picture],
    pub tiles: &'a mut [Picture],
}

impl Reference<'_> {
    pub(crate) fn index(&self, role: Role) -> Option<usize> {
        self.inst.tile_index(role)
    }

    pub(crate) fn source(&self, role: Role) -> Option<&Picture> {
        self.old.get(self.index(role)?)
    }

    pub(crate) fn number(&self, role: Role) -> Option<u64> {
        self.inst.index_u64(role)
    }

    fn fill_value(&self, elem: Elem) -> Option<u64> {
        elem.encode_exact(&self.inst.scalar(Role::Fill)?)
    }

    /// TMOV, TEXTRACT, TINSERT and their `_FP` forms (ops.md 2 and 3; fixpipe.md).
    fn windows(&mut self) -> Option<Done> {
        let extract = matches!(self.inst.op, Opcode::Textract | Opcode::TextractFp);
        let insert = matches!(self.inst.op, Opcode::Tinsert | Opcode::TinsertFp);
        let mut list = vec![(Role::Dst, Role::Row, Role::Col)];
        if self.inst.form == Form::TwoWindows {
            list = vec![(Role::Dst0, Role::Row, Role::Col), (Role::Dst1, Role::Row1, Role::Col1)];
        }
        for (dst, row, col) in list {
            let at = if extract || insert { [self.number(row)?, self.number(col)?] } else { [0, 0] };
            let (from, to) = if extract { (at, [0, 0]) } else { ([0, 0], at) };
            if let Err(rule) = self.window(dst, from, to, extract)? {
                return Some(Err(rule));
            }
        }
        Some(Ok(false))
    }

    fn window(&mut self, dst: Role, from: [u64; 2], to: [u64; 2], extract: bool) -> Option<Done> {
        let d = self.index(dst)?;
        let src = self.source(Role::Src)?.clone();
        let target = self.old.get(d)?.clone();
        let mode = self.inst.attrs.acc_to_vec();
        let (split_m, split_n) = (mode == Some(AccToVec::DualModeSplitM), mode == Some(AccToVec::DualModeSplitN));
        // The source window, and what one core takes of it.
        let mut extent = if extract { target.valid } else { src.valid };
        if !extract {
            extent = [extent[0] / (1 + u64::from(split_m)), extent[1] / (1 + u64::from(split_n))];
        }
        let cores: &[u8] = match mode {
            Some(AccToVec::SingleModeVec1) => &[1],
            Some(AccToVec::DualModeSplitM | AccToVec::DualModeSplitN) => &[0, 1],
            _ => &[0],
        };
        for core in cores {
            let (r0, c0) = match (core, split_m, split_n) {
                (1, true, _) => (from[0] + extent[0], from[1]),
                (1, _, true) => (from[0], from[1] + extent[1]),
                _ => (from[0], from[1]),
            };
            let mut written = Vec::new();
            for i in 0..extent[0] {
                for j in 0..extent[1] {
                    let cell =
                        match self.value(&src, target.tile.elem, [r0 + i, c0 + j], from[1] * u64::from(extract) + j)? {
                            Ok(cell) => cell,
                            Err(rule) => return Some(Err(rule)),
                        };
                    written.push((to[0] + i, to[1] + j, cell));
                }
            }
            if !written.is_empty() {
                let footprint = Footprint::of(self.inst, &src.tile, &target.tile, extent, extract);
                footprint.clobber(self.tiles.get_mut(d)?, *core, to, &written);
            }
            for (r, c, cell) in written {
                self.tiles.get_mut(d)?.set(*core, r, c, cell);
            }
            if self.inst.form == Form::Fill {
                let bits = self.fill_value(target.tile.elem)?;
                self.tiles.get_mut(d)?.fill_outside(*core, target.valid, bits);
            }
        }
        Some(Ok(false))
    }

    /// What is stored for an element of the source; `column` is that of its quantization parameter.
    fn value(&self, src: &Picture, dst: Elem, at: [u64; 2], column: u64) -> Option<Result<Cell, &'static str>> {
        let cell = src.get(at[0], at[1]);
        let elem = src.tile.elem;
        if src.tile.loc != Loc::Acc {
            let into_bias = self.inst.dst()?.tile.loc == Loc::Bias && self.inst.profile != Profile::Cpu;
            if elem == dst && into_bias && elem == Elem::F32 && f32::from_bits(cell.bits as u32).is_nan() {
                return Some(Ok(Cell::computed(0x7FC0_0000, cell, elem)));
            }
            if elem == dst && into_bias && elem == Elem::F32 {
                return Some(Ok(Cell::computed(cell.bits, cell, elem)));
            }
            if elem == dst {
                return Some(Ok(cell));
            }
            return Some(Ok(Cell::computed(convert(elem, dst, cell.bits), cell, elem)));
        }
        let fixpipe =
            Fixpipe { src: elem, dst, relu: self.inst.relu(), hardware_rounding: self.inst.profile != Profile::Cpu };
        let param = match (self.source(Role::Fp), self.inst.scalar(Role::Quant)) {
            (Some(fp), _) => {
                let raw = fp.get(0, column);
                if raw.defined != !0 {
                    return Some(Err("undefined-use"));
                }
                Some(QuantParam::vector(raw.bits))
            }
            (None, Some(Number::Int(v))) => Some(QuantParam::scalar(v as u64)),
            _ => None,
        };
        if let Some(fault) = param.and_then(|p| p.check(elem, dst).err()) {
            return Some(Err(fault.rule()));
        }
        if elem == dst && !fixpipe.relu && param.is_none() {
            return Some(Ok(cell));
        }
        let bits = fixpipe.apply(cell.bits as u32, param.as_ref());
        Some(Ok(Cell::computed(bits, cell, elem)))
    }

    /// TRESHAPE copies all bytes on cpu (ops.md 4); on hardware the two are one storage.
    fn reinterpret(&mut self) -> Option<Done> {
        let (s, d) = (self.index(Role::Src)?, self.index(Role::Dst)?);
        self.tiles.get_mut(d)?.cores[0] = self.old.get(s)?.cores[0].clone();
        Some(Ok(false))
    }

    /// TLOAD: the valid region, and the padding where the tile has a pad value (tile-model.md 7).
    fn load(&mut self, global: Option<&mut Content>) -> Option<Done> {
        let (d, view, buffer) = (self.index(Role::Dst)?, self.inst.global.as_ref()?, global?);
        if let Some(conv) = self.inst.conv {
            let dims = conv.written_dims();
            let cols = dims.last().copied()?;
            for k in 0..conv.elements() {
                let from =
                    if view.dims.is_empty() { view.offset? + k as i64 } else { element_of(view, k / cols, k % cols)? };
                let cell = buffer.get(from, view.elem);
                self.tiles.get_mut(d)?.set(0, 0, k, cell);
            }
            return Some(Ok(false));
        }
        let tile = self.tiles.get_mut(d)?;
        let [rows, cols] = tile.valid;
        for r in 0..rows {
            for c in 0..cols {
                let cell = buffer.get(element_of(view, r, c)?, view.elem);
                tile.set(0, r, c, cell);
            }
        }
        if let Some(bits) = tile.tile.pad_bits() {
            tile.fill_outside(0, [rows, cols], bits);
        }
        Some(Ok(false))
    }

    /// TSTORE: the valid region; undefined bytes become zeros.
    fn store(&mut self, global: Option<&mut Content>) -> Option<Done> {
        let (src, view, buffer) = (self.source(Role::Src)?, self.inst.global.as_ref()?, global?);
        let mut undefined = false;
        for r in 0..src.valid[0] {
            for c in 0..src.valid[1] {
                let cell = src.get(r, c);
                undefined |= cell.defined & view.elem.mask() != view.elem.mask();
                buffer.set(element_of(view, r, c)?, view.elem, cell);
            }
        }
        for (byte, defined) in buffer.bytes.iter_mut().zip(&mut buffer.defined) {
            if *defined != 0xFF {
                (*byte, *defined) = (0, 0xFF);
            }
        }
        Some(Ok(undefined))
    }
}

/// The element of a buffer that (r, c) of a view is, by the table of tile-model.md 7.
fn element_of(view: &GlobalArg, r: u64, c: u64) -> Option<i64> {
    let dims: Option<Vec<u64>> = view.dims.iter().copied().collect();
    let dims = dims?;
    let n = dims.len();
    let mut index = vec![0u64; n];
    // Splits a number into the digits of some dimensions, the last one running fastest.
    let mut split = |axes: &[usize], mut v: u64| {
        for axis in axes.iter().rev() {
            let extent = dims.get(*axis).copied().unwrap_or(1).max(1);
            if let Some(slot) = index.get_mut(*axis) {
                *slot = v % extent;
            }
            v /= extent;
        }
    };
    let all = |skip: usize| (0..n).filter(|k| *k != skip).collect::<Vec<usize>>();
    match view.tag {
        ViewTag::Nd => {
            split(&all(n.checked_sub(1)?), r);
            split(&[n - 1], c);
        }
        ViewTag::Dn => {
            split(&[n.checked_sub(2)?], r);
            split(&all(n - 2), c);
        }
        ViewTag::Nz => {
            split(&[2, 3], r);
            split(&[0, 1, 4], c);
        }
    }
    let mut at = view.offset?;
    for (i, stride) in index.iter().zip(&view.strides) {
        at += *i as i64 * (*stride)?;
    }
    Some(at)
}
