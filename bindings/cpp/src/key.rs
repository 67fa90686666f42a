//! Everything that an instruction depends on besides the contents of memories, as numbers.
//!
//! An instruction whose key was seen before runs without being looked at again. Automatic storage goes by its place, not
//! by its handle, so that the tiles of a function that is called again are the same to it.

use crate::abi::{TesseraConv, TesseraTile};
use crate::convert::{Answer, Operands};
use crate::engine::Engine;
use crate::view::View;
use smallvec::SmallVec;
use tessera_isa::ops::Opcode;

/// A key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key(SmallVec<[u64; 64]>);

/// What the host does is no instruction, and has numbers of its own.
const HOST: u64 = 1 << 32;

impl Key {
    /// The key of an instruction on tiles.
    pub fn of_instruction(op: Opcode, operands: &Operands<'_>, engine: &Engine) -> Answer<Key> {
        let mut key = Key(SmallVec::new());
        // The counts keep lists of different lengths apart.
        key.0.push(op.index() as u64 | (operands.tiles.len() as u64) << 8 | (operands.scalars.len() as u64) << 16);
        for arg in operands.tiles {
            key.0.push(arg.role.into());
            key.tile(&arg.tile, engine)?;
        }
        for s in operands.scalars {
            key.0.extend_from_slice(&[two(s.role, s.kind), s.bits]);
        }
        key.0.extend(operands.attrs.bits());
        if let Some((conv, _)) = &operands.conv {
            key.conv(conv, engine)?;
        }
        Ok(key)
    }

    /// The key of a TLOAD or TSTORE.
    pub fn of_transfer(op: Opcode, tile: &TesseraTile, view: &View, engine: &Engine) -> Answer<Key> {
        let mut key = Key(SmallVec::new());
        key.0.push(op.index() as u64);
        key.tile(tile, engine)?;
        key.view(view);
        Ok(key)
    }

    /// The key of a TLOAD of a conv tile.
    pub fn of_conv_load(conv: &TesseraConv, view: &View, engine: &Engine) -> Answer<Key> {
        let mut key = Key(SmallVec::new());
        key.0.push(Opcode::Tload.index() as u64);
        key.conv(conv, engine)?;
        key.view(view);
        Ok(key)
    }

    /// The key of what the host does with one vector core's copy of a tile.
    pub fn of_host(tile: &TesseraTile, view: &View, engine: &Engine, core: u8) -> Answer<Key> {
        let mut key = Key(SmallVec::new());
        key.0.push(HOST | u64::from(core));
        key.tile(tile, engine)?;
        key.view(view);
        Ok(key)
    }

    fn storage(&mut self, kind: u32, storage: u64, engine: &Engine) -> Answer<()> {
        if kind == 2 {
            let s = engine.storage(storage)?;
            self.0.extend_from_slice(&[s.at, s.bytes, s.loc as u64]);
        } else {
            self.0.push(storage);
        }
        Ok(())
    }

    fn tile(&mut self, t: &TesseraTile, engine: &Engine) -> Answer<()> {
        self.0.extend_from_slice(&[
            two(t.storage_kind, t.fractal),
            two(t.loc, t.elem),
            two(t.blayout, t.slayout),
            two(t.compact, t.pad),
            t.pad_bits.into(),
            t.rows,
            t.cols,
            t.type_valid_row as u64,
            t.type_valid_col as u64,
            t.valid_row as u64,
            t.valid_col as u64,
            t.offset,
            t.pitch,
        ]);
        self.storage(t.storage_kind, t.storage, engine)
    }

    fn conv(&mut self, c: &TesseraConv, engine: &Engine) -> Answer<()> {
        self.0.extend_from_slice(&[two(c.storage_kind, c.has_depth), two(c.loc, c.elem)]);
        self.0.extend_from_slice(&c.dims);
        self.storage(c.storage_kind, c.storage, engine)
    }

    fn view(&mut self, view: &View) {
        let g = &view.global;
        self.0.extend_from_slice(&[
            two(g.elem as u32, g.tag as u32),
            g.dims.len() as u64,
            g.offset.unwrap_or(0) as u64,
            g.buffer.unwrap_or(0),
        ]);
        self.0.extend(g.dims.iter().map(|d| d.unwrap_or(0)));
        self.0.extend(g.strides.iter().map(|s| s.unwrap_or(0) as u64));
    }
}

fn two(a: u32, b: u32) -> u64 {
    u64::from(a) << 32 | u64::from(b)
}
