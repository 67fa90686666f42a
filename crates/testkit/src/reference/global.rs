//! Between global memory and tiles (isa/memory.md), element by element.

use super::{Cell, Content, Done, NO_MEANING, Reference, area};
use crate::definition;
use tessera_isa::inst::{Coalesce, GatherOob, GlobalArg, ScatterAtomic, ScatterOob, ViewTag};
use tessera_isa::ops::{Form, Opcode, Role};
use tessera_isa::profile::Profile;
use tessera_isa::sem::Func;

impl Reference<'_> {
    fn global(&self) -> Result<GlobalArg, &'static str> {
        self.inst.global.clone().ok_or(NO_MEANING)
    }

    /// TLOAD: the valid region; the padding where a value is given or the tile has one; else hardware leaves rows of the
    /// view undefined that the tile does not want (isa/structure.md 8).
    pub(super) fn load(&mut self, global: Option<&mut Content>) -> Done {
        let (d, view, buffer) = (self.index(Role::Dst)?, self.global()?, global.ok_or(NO_MEANING)?);
        if let Some(conv) = self.inst.conv {
            let tile = &mut self.tiles[d];
            let cols = conv.written_dims().last().copied().ok_or(NO_MEANING)?;
            for k in 0..conv.elements() {
                let dense = || view.offset.map(|at| at + k as i64);
                let from = if view.dims.is_empty() { dense() } else { element_of(&view, k / cols, k % cols) };
                tile.set(0, 0, k, buffer.get(from.ok_or(NO_MEANING)?, view.elem));
            }
            return Ok(false);
        }
        let elem = self.tiles[d].tile.elem;
        let given = if self.inst.has_scalar(Role::Fill) { Some(self.fill_value(elem)?) } else { None };
        let tile = &mut self.tiles[d];
        let (valid, [rows, cols]) = (tile.valid, [tile.tile.rows, tile.tile.cols]);
        match given.or(tile.tile.pad_bits()) {
            Some(bits) => tile.fill_outside(0, valid, bits),
            None if self.inst.profile != Profile::Cpu && self.inst.form == Form::Plain => {
                let [have_rows, have_cols] = view.shape();
                for [r, c] in area([rows, cols]) {
                    let (row, col) = (have_rows.ok_or(NO_MEANING)?, have_cols.ok_or(NO_MEANING)?);
                    let is_more = match view.tag {
                        ViewTag::Dn => c >= valid[1] && c < col,
                        _ => r >= valid[0] && r < row,
                    };
                    if is_more {
                        tile.set(0, r, c, Cell { bits: 0, defined: 0 });
                    }
                }
            }
            None => {}
        }
        for [r, c] in area(valid) {
            tile.set(0, r, c, buffer.get(element_of(&view, r, c).ok_or(NO_MEANING)?, view.elem));
        }
        Ok(false)
    }

    /// TPREFETCH: a load without padding, or a tile of which nothing is known.
    pub(super) fn prefetch(&mut self, global: Option<&mut Content>) -> Done {
        let (d, view, buffer) = (self.index(Role::Dst)?, self.global()?, global.ok_or(NO_MEANING)?);
        let tile = &mut self.tiles[d];
        let valid = tile.valid;
        if view.shape() != valid.map(Some) {
            tile.cores[0] = Content::undefined(tile.tile.bytes());
            return Ok(false);
        }
        for [r, c] in area(valid) {
            tile.set(0, r, c, buffer.get(element_of(&view, r, c).ok_or(NO_MEANING)?, view.elem));
        }
        Ok(false)
    }

    /// TSTORE and TSTORE_FP: the valid region, converted; undefined bytes become zeros, or add nothing.
    pub(super) fn store(&mut self, global: Option<&mut Content>) -> Done {
        let (src, view, buffer) = (self.source(Role::Src)?, self.global()?, global.ok_or(NO_MEANING)?);
        let mut stored = Vec::new();
        for [r, c] in area(src.valid) {
            // Integers of one width are stored as they are.
            let to = if src.tile.loc == tessera_isa::tile::Loc::Acc { view.elem } else { src.tile.elem };
            stored.push((element_of(&view, r, c).ok_or(NO_MEANING)?, self.value(src, to, [r, c], c)?));
        }
        let op = self.inst.attrs.adds().then_some(Func::Add);
        put(buffer, &view, &stored, op)
    }

    /// MGATHER and MSCATTER.
    pub(super) fn by_index(&mut self, global: Option<&mut Content>) -> Done {
        let is_gather = self.inst.op == Opcode::Mgather;
        let role = if is_gather { Role::Dst } else { Role::Src };
        let (d, view, buffer) = (self.index(role)?, self.global()?, global.ok_or(NO_MEANING)?);
        let (data, idx) = (self.source(role)?, self.source(Role::Idx)?);
        let [rows, cols] = data.valid;
        let (Some(height), Some(width)) = (view.shape()[0], view.shape()[1]) else { return Err(NO_MEANING) };
        let by_row = match self.inst.attrs.coalesce() {
            Some(named) => named == Coalesce::Row,
            None => idx.valid != data.valid,
        };
        let n = if by_row { height } else { height * width };
        let mut places = Vec::new();
        for [i, j] in area([rows, cols]) {
            let at = if by_row { i } else { i * cols + j };
            let cell = idx.get(at / idx.valid[1], at % idx.valid[1]);
            if !cell.is_whole(idx.tile.elem) {
                return Err("undefined-use");
            }
            places.push(([i, j], cell.bits & 0xFFFF_FFFF));
        }
        // Where the index leads: nowhere, to a zero, or to an element.
        let mut found: Vec<([u64; 2], Option<Option<u64>>)> = Vec::new();
        for (at, k) in places {
            let (gather, scatter) = (self.inst.attrs.gather_oob(), self.inst.attrs.scatter_oob());
            let refused = if is_gather { "mgather-index" } else { "mscatter-index" };
            let clamps = if is_gather { gather == Some(GatherOob::Clamp) } else { scatter == Some(ScatterOob::Clamp) };
            let wraps = if is_gather { gather == Some(GatherOob::Wrap) } else { scatter == Some(ScatterOob::Wrap) };
            let leads = match k {
                k if k < n => Some(Some(k)),
                _ if is_gather && gather == Some(GatherOob::Zero) => Some(None),
                _ if !is_gather && scatter == Some(ScatterOob::Skip) => None,
                _ if n == 0 => return Err(refused),
                _ if clamps => Some(Some(n - 1)),
                k if wraps => Some(Some(k % n)),
                _ => return Err(refused),
            };
            found.push((at, leads));
        }
        let element = |k: u64, j: u64| match by_row {
            true => element_of(&view, k, j),
            false => element_of(&view, k / width, k % width),
        };
        let mut stored = Vec::new();
        for ([i, j], leads) in found {
            match leads {
                Some(None) => self.tiles[d].set(0, i, j, Cell::of(0)),
                Some(Some(k)) if is_gather => {
                    let cell = buffer.get(element(k, j).ok_or(NO_MEANING)?, view.elem);
                    self.tiles[d].set(0, i, j, cell);
                }
                Some(Some(k)) => stored.push((element(k, j).ok_or(NO_MEANING)?, data.get(i, j))),
                None => {}
            }
        }
        if is_gather {
            return Ok(false);
        }
        let op = match self.inst.attrs.scatter_atomic() {
            Some(ScatterAtomic::Add) => Some(Func::Add),
            Some(ScatterAtomic::Max) => Some(Func::Max),
            Some(ScatterAtomic::Min) => Some(Func::Min),
            _ => None,
        };
        put(buffer, &view, &stored, op)
    }
}

/// Writes elements one after the other, or combines them with what is there; tells whether one was undefined.
fn put(buffer: &mut Content, view: &GlobalArg, stored: &[(i64, Cell)], op: Option<Func>) -> Done {
    let mut undefined = false;
    for (at, cell) in stored {
        let is_whole = cell.is_whole(view.elem);
        match op {
            None => buffer.set(*at, view.elem, *cell),
            Some(op) if is_whole => {
                let old = buffer.get(*at, view.elem);
                let args = [(view.elem, old.bits), (view.elem, cell.bits & view.elem.mask())];
                let new = definition::eval(op, view.elem, &args).ok_or(NO_MEANING)?;
                buffer.set(*at, view.elem, Cell::of(new));
            }
            Some(_) => undefined = true,
        }
    }
    for (byte, defined) in buffer.bytes.iter_mut().zip(&mut buffer.defined) {
        if *defined != 0xFF {
            (*byte, *defined) = (0, 0xFF);
            undefined = true;
        }
    }
    Ok(undefined)
}

/// The element of a buffer that (r, c) of a view is, by the table of tile-model.md 7.
fn element_of(view: &GlobalArg, r: u64, c: u64) -> Option<i64> {
    let dims = view.dims.iter().copied().collect::<Option<Vec<u64>>>()?;
    let n = dims.len();
    let mut index = vec![0u64; n];
    // Splits a number into the digits of some dimensions, the last one running fastest.
    let mut split = |axes: &[usize], mut v: u64| {
        for axis in axes.iter().rev().copied() {
            index[axis] = v % dims[axis].max(1);
            v /= dims[axis].max(1);
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
    index.iter().zip(&view.strides).try_fold(view.offset?, |at, (i, stride)| Some(at + *i as i64 * (*stride)?))
}
