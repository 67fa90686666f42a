//! The operations on pointers, views and single elements of global memory (tile-model.md 7).

use super::code::{Access, GlobalSlot, Int, IntSlot, MakeView, slot_bits};
use super::step::Exec;
use smallvec::SmallVec;
use tessera_exec::engine::Global;
use tessera_ir::Type;
use tessera_ir::{OpId, ScalarType};
use tessera_isa::codec::Overflow;
use tessera_isa::elem::Elem;
use tessera_isa::inst::scalar_number;
use tessera_kernels::memory::ArrayAccess;
use tessera_kernels::nest::{read_bits, write_bits};
use tessera_kernels::{Failure, MemoryId, failure, internal_error};

fn out_of_bounds(what: String, help: impl Into<String>) -> Failure {
    failure("gm-bounds", what, help)
}

impl Exec<'_> {
    pub fn global(&self, slot: GlobalSlot) -> &Global {
        &self.globals[slot.index()]
    }

    fn extents(&self, ints: &[Int], what: &str) -> Result<SmallVec<[u64; 6]>, Failure> {
        let mut extents = SmallVec::with_capacity(ints.len());
        for (k, int) in ints.iter().enumerate() {
            let v = self.int(*int);
            let negative = |_| out_of_bounds(format!("{what} {k} of the view is {v}"), "it is at least 0");
            extents.push(u64::try_from(v).map_err(negative)?);
        }
        Ok(extents)
    }

    pub fn make_view(&mut self, view: &MakeView) -> Result<(), Failure> {
        let dims = self.extents(&view.first, "extent")?;
        let strides = view.second.iter().map(|s| self.int(*s)).collect();
        let Global { buffer, offset, grows, tile, bound, .. } = *self.global(view.src);
        let made = Global { buffer, elem: view.elem, offset, dims, strides, tags: view.tags, grows, tile, bound };
        self.globals[view.dst.index()] = made;
        Ok(())
    }

    pub fn partition(&mut self, view: &MakeView) -> Result<(), Failure> {
        let offsets = self.extents(&view.first, "offset")?;
        let sizes = self.extents(&view.second, "size")?;
        let mut made = self.global(view.src).clone();
        for (k, (offset, size)) in offsets.iter().zip(&sizes).enumerate() {
            let axis = made.dims.get(k).copied().zip(made.strides.get(k).copied());
            let (extent, stride) = axis.ok_or_else(|| internal_error("a partition has more axes than its view"))?;
            if offset.checked_add(*size).is_none_or(|end| end > extent) {
                let end = offset.saturating_add(*size);
                let what = format!("the partition takes {offset} to {end} of dimension {k}, and the view has {extent}");
                let help = format!("offset plus size is at most {extent}");
                return Err(out_of_bounds(what, help));
            }
            let moved = stride.checked_mul(*offset as i64).and_then(|by| made.offset.checked_add(by));
            made.offset = moved.ok_or_else(|| {
                out_of_bounds(format!("the partition starts {offset} strides of {stride} away"), "use smaller strides")
            })?;
        }
        made.dims = sizes;
        self.globals[view.dst.index()] = made;
        Ok(())
    }

    /// `pto.addptr`; a view or memref that becomes a pointer loses its extents.
    pub fn add_pointer(&mut self, src: GlobalSlot, dst: GlobalSlot, by: i64, is_pointer: bool) -> Result<(), Failure> {
        let mut moved = self.global(src).clone();
        moved.offset = moved.offset.checked_add(by).ok_or_else(|| {
            out_of_bounds(format!("a pointer at {} moves by {by}", moved.offset), "stay inside the buffer")
        })?;
        if is_pointer {
            (moved.dims, moved.strides) = (SmallVec::new(), SmallVec::new());
        }
        if let Some(rank) = self.cx.rank {
            rank.space.rebase(rank.number, &mut moved);
        }
        self.globals[dst.index()] = moved;
        Ok(())
    }

    /// The bytes of an element that is at this byte, or nibble for fp4: the first one, and how many.
    fn bytes_at(elem: Elem, at: i64) -> (usize, usize) {
        (if elem.is_fp4() { at / 2 } else { at } as usize, elem.bytes_of(1) as usize)
    }

    /// The element that an access means, how many there are, and its offset in bytes, or in nibbles for fp4.
    fn element(&self, access: &Access) -> Result<(Global, [i64; 2], u64), Failure> {
        let pointer = self.global(access.pointer).clone();
        let index = self.int(access.index);
        let at = pointer.offset.saturating_add(index);
        let elements = pointer.elements(&self.engine.memories);
        let beyond =
            u64::try_from(at).map_or(true, |at| at >= elements || pointer.tile.is_some_and(|first| at < first));
        if pointer.buffer == MemoryId::NONE {
            let what = "the pointer was made of a number, and points to no tile and no argument";
            return Err(failure("not-executable", what, "make it with tile_buf_addr, or pass it as an argument"));
        }
        if let (Some(first), true) = (pointer.tile, beyond) {
            let (at, count) = (i128::from(at) - i128::from(first), elements - first);
            let what = format!("element {at} of a tile is accessed, and it has {count} in memory");
            return Err(failure("tile-bounds", what, "stay inside the tile"));
        }
        let grows = pointer.grows && matches!(at, 0..=0x4000_0000);
        if beyond && !grows {
            let what = format!("element {at} is accessed, and the buffer has {elements} elements");
            return Err(out_of_bounds(what, "give the argument a longer file, or stay inside it"));
        }
        let unit = pointer.elem.bytes_of(1) as i64;
        Ok((pointer, [at, at * unit], elements))
    }

    pub fn load_scalar(&mut self, op: OpId, access: &Access, to: IntSlot) -> Result<(), Failure> {
        self.watch_load(op, access)?;
        let (pointer, [element, at], elements) = self.element(access)?;
        let (byte, len) = Self::bytes_at(pointer.elem, at);
        let tracked = self.engine.memories.tracked;
        let memory = self.engine.memories.get_mut(pointer.buffer);
        let Some(memory) = memory.filter(|m| byte + len <= m.bytes().len()) else {
            let what = format!("element {element} is loaded, and the buffer has {elements} elements");
            return Err(out_of_bounds(what, "give the argument a file"));
        };
        memory.touch([(byte, len)].into_iter(), ArrayAccess::READS)?;
        if tracked && !memory.defined().has_all(byte, len) {
            let what = format!("element {element} of the buffer was never written, and its value is used");
            return Err(failure("undefined-use", what, "bind a file to the argument, or store it first"));
        }
        let raw = read_bits(memory.bytes(), at, pointer.elem.bits());
        self.set(to, slot_bits(scalar_number(pointer.elem, raw), access.ty));
        self.observe_scalar(op, pointer.buffer, byte, len, false);
        Ok(())
    }

    pub fn store_scalar(&mut self, op: OpId, access: &Access, scalar: Int) -> Result<(), Failure> {
        let (pointer, [_, at], _) = self.element(access)?;
        let elem = pointer.elem;
        let value = self.int(scalar);
        let raw = match access.ty {
            ScalarType::Float(_) => elem.encode_f64(f64::from_bits(value as u64), Overflow::Infinity),
            _ => elem.encode_int(value.into(), Overflow::Infinity),
        };
        if let Some(recorder) = &mut self.recorder {
            recorder.has_scalar = true;
        }
        let (byte, len) = Self::bytes_at(elem, at);
        self.engine.reserve(pointer.buffer, (byte + len) as u64)?;
        if let Some(memory) = self.engine.memories.get_mut(pointer.buffer) {
            let access = if elem.is_fp4() { ArrayAccess::READS_AND_WRITES } else { ArrayAccess::WRITES };
            memory.touch([(byte, len)].into_iter(), access)?;
            write_bits(memory.as_mut(), at, elem.bits(), raw);
            memory.defined_mut().insert(byte, len);
            memory.note_written(byte, len);
        }
        self.watch_store(op, pointer.buffer, byte, len);
        self.observe_scalar(op, pointer.buffer, byte, len, true);
        Ok(())
    }
}

fn dense_strides(dims: &[u64]) -> SmallVec<[i64; 6]> {
    let mut strides: SmallVec<[i64; 6]> = SmallVec::from_elem(1, dims.len());
    let mut next = 1i64;
    for (stride, dim) in strides.iter_mut().zip(dims).rev() {
        *stride = next;
        next = next.saturating_mul(i64::try_from(*dim).unwrap_or(i64::MAX));
    }
    strides
}

/// An argument of the kernel: its extents come from the type, and from the file where the type has `?`.
pub(crate) fn global_argument(ty: &Type, buffer: MemoryId, file_dims: &[u64], grows: bool) -> Option<Global> {
    let (elem, dims, strided) = match ty {
        Type::Ptr(elem, _) => (*elem, None, None),
        Type::View(v) => (v.elem, Some(&v.dims), None),
        Type::Memref(m) => (m.elem, Some(&m.dims), m.strided.as_ref()),
        _ => return None,
    };
    let given = |k: usize| file_dims.get(k).copied().unwrap_or(0);
    let dims: SmallVec<[u64; 6]> =
        dims.into_iter().flatten().enumerate().map(|(k, d)| d.unwrap_or_else(|| given(k))).collect();
    let dense = dense_strides(&dims);
    let strides = match strided {
        Some(s) => s.strides.iter().zip(&dense).map(|(s, d)| s.unwrap_or(*d)).collect(),
        None => dense,
    };
    Some(Global {
        buffer,
        elem,
        offset: strided.and_then(|s| s.offset).unwrap_or(0),
        dims,
        strides,
        grows,
        tags: tessera_ir::view::tags_of_type(ty),
        ..Global::default()
    })
}
