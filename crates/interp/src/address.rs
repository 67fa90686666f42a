//! Addresses as values: pointers into tiles, casts of pointers, extents of views, prints and traps (isa/structure.md 7).

use super::code::{Address, Int, IntSlot, Scalar, TileSlot, Var};
use super::step::Exec;
use super::{Printed, PrintedValue};
use smallvec::SmallVec;
use tessera_exec::engine::Global;
use tessera_ir::OpId;
use tessera_isa::codec::Number;
use tessera_isa::elem::Elem;
use tessera_kernels::{Failure, failure};

impl Exec<'_> {
    /// `tile_buf_addr`, `castptr` and `tensor_view_addr`.
    pub fn address(&mut self, address: &Address) -> Result<(), Failure> {
        let made = match (address.from, address.elem) {
            (Var::Tile(tile), Some(elem)) => self.tile_address(self.object_of(tile), elem)?,
            (Var::Global(global), Some(elem)) => self.pointer_as(self.global(global), elem)?,
            (Var::Int(slot), Some(elem)) => {
                // Beyond every array where the number of the element does not fit.
                let at = i128::from(self.int(Int::Slot(slot))) * 8 / i128::from(elem.bits());
                let at = i64::try_from(at).unwrap_or(i64::MAX);
                let mut made = Global { elem, offset: at, ..Global::default() };
                if let Some(rank) = self.cx.rank {
                    rank.space.rebase(rank.number, &mut made);
                }
                made
            }
            (Var::Global(global), None) => {
                let pointer = self.global(global);
                let bits = pointer.offset.saturating_mul(i64::from(pointer.elem.bits()));
                let base = self.cx.rank.map_or(0, |rank| rank.space.base_of(pointer));
                if let Var::Int(to) = address.to {
                    self.set(to, base.wrapping_add(bits / 8));
                }
                return Ok(());
            }
            _ => return Ok(()),
        };
        if let Var::Global(to) = address.to {
            self.globals[to.index()] = made;
        }
        Ok(())
    }

    /// The pointer to a tile's first byte; it stays inside the tile.
    fn tile_address(&mut self, tile: tessera_exec::engine::TileId, elem: Elem) -> Result<Global, Failure> {
        self.engine.reserve_tile(tile, 0)?;
        let object = self.engine.object(tile)?;
        let elements = |bytes: u64| bytes * 8 / u64::from(elem.bits());
        let first = elements(object.place.at as u64);
        let end = first + elements(self.engine.span(object));
        let buffer = object.place.memory;
        Ok(Global { buffer, elem, offset: first as i64, tile: Some(first), bound: Some(end), ..Global::default() })
    }

    /// A pointer to elements of another type, at the same byte.
    fn pointer_as(&self, pointer: &Global, elem: Elem) -> Result<Global, Failure> {
        let (old, new) = (i64::from(pointer.elem.bits()), i64::from(elem.bits()));
        let bits = pointer.offset.saturating_mul(old);
        if bits % new != 0 {
            let what = format!("the pointer is at bit {bits}, where no {elem} starts");
            return Err(failure("gm-bounds", what, "move it to a multiple of the element first"));
        }
        let scaled = |n: u64| (u128::from(n) * old as u128 / new as u128) as u64;
        Ok(Global {
            elem,
            offset: bits / new,
            dims: SmallVec::new(),
            strides: SmallVec::new(),
            tile: pointer.tile.map(scaled),
            bound: pointer.bound.map(scaled),
            ..pointer.clone()
        })
    }

    /// `get_validshape`: the valid extents of this moment.
    pub fn valid_extents(&mut self, tile: TileSlot, to: &[(usize, IntSlot)]) -> Result<(), Failure> {
        let valid = self.engine.object(self.object_of(tile))?.valid;
        for (axis, slot) in to {
            let Some(extent) = valid.get(*axis).copied().flatten() else {
                let what = "a valid extent of the tile is asked for before it is set";
                return Err(failure("valid-unset", what, "set it with set_validshape first"));
            };
            self.set(*slot, extent as i64);
        }
        Ok(())
    }

    /// `get_tensor_view_dim` and `get_tensor_view_stride`.
    pub fn view_number(&mut self, view: &super::code::ViewNumber) -> Result<(), Failure> {
        let (global, index) = (self.global(view.view), self.int(view.index));
        let n = usize::try_from(index).ok();
        let found = match view.is_stride {
            true => n.and_then(|n| global.strides.get(n).copied()),
            false => n.and_then(|n| global.dims.get(n).map(|d| *d as i64)),
        };
        let rank = global.dims.len();
        let Some(value) = found else {
            let what = format!("dimension {index} of a view of {rank} dimensions is asked for");
            return Err(failure("view-dim", what, "dimensions count from 0"));
        };
        self.set(view.to, value);
        Ok(())
    }

    /// `pto.print ins("fmt %d", %v : i32)`.
    pub fn print_text(&mut self, at: OpId, format: &str, values: &[Scalar]) {
        let mut numbers = values.iter().map(|scalar| scalar.number(self.int(scalar.int)));
        let mut text = String::new();
        let mut chars = format.chars().peekable();
        while let Some(c) = chars.next() {
            match (c, chars.peek()) {
                ('%', Some('%')) => {
                    chars.next();
                    text.push('%');
                }
                ('%', Some(_)) => {
                    // Widths and precisions of C's formats say how wide, not what.
                    let kind = chars.find(|c| c.is_ascii_alphabetic() && !matches!(c, 'l' | 'h' | 'z'));
                    text.push_str(&numbers.next().map_or_else(String::new, |n| shown(n, kind)));
                }
                ('\\', Some('n')) => {
                    chars.next();
                    text.push('\n');
                }
                _ => text.push(c),
            }
        }
        for number in numbers {
            text.push(' ');
            text.push_str(&shown(number, None));
        }
        self.printed.push(Printed { op: at, block: self.block, what: PrintedValue::Text(text), format: None });
    }
}

fn shown(number: Number, kind: Option<char>) -> String {
    match (number, kind) {
        (Number::Int(v), Some('x')) => format!("{v:x}"),
        (Number::Int(v), _) => v.to_string(),
        (Number::Float(v), _) => format!("{v:?}"),
    }
}
