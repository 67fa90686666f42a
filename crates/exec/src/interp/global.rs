//! Global memory: pointers, views, and single elements (tile-model.md 7).

use super::code::{Access, Int, MakeView, Slot};
use super::exec::Exec;
use crate::memory::MemoryId;
use crate::nest::{read_bits, write_bits};
use crate::prepared::Failure;
use smallvec::SmallVec;
use tessera_ir::{ScalarType, Type};
use tessera_isa::codec::{Number, Overflow};
use tessera_isa::diag::Diagnostic;
use tessera_isa::elem::Elem;
use tessera_isa::inst::{GlobalArg, ViewTag};

/// A pointer or a view.
#[derive(Clone, Debug)]
pub(crate) struct Global {
    /// The buffer's memory.
    pub buffer: MemoryId,
    pub elem: Elem,
    /// The first element, counted from the buffer's start.
    pub offset: i64,
    /// Extents; none for a pointer.
    pub dims: SmallVec<[u64; 6]>,
    pub strides: SmallVec<[i64; 6]>,
    pub tag: ViewTag,
    /// May stores make the buffer longer?
    pub grows: bool,
}

impl Default for Global {
    fn default() -> Self {
        Global {
            buffer: 0,
            elem: Elem::U8,
            offset: 0,
            dims: SmallVec::new(),
            strides: SmallVec::new(),
            tag: ViewTag::Nd,
            grows: false,
        }
    }
}

fn out_of_bounds(what: String, help: impl Into<String>) -> Failure {
    Box::new(Diagnostic::error("gm-bounds", what).help(help))
}

/// Row-major strides of some extents.
pub(crate) fn dense_strides(dims: &[u64]) -> SmallVec<[i64; 6]> {
    let mut strides: SmallVec<[i64; 6]> = SmallVec::from_elem(1, dims.len());
    let mut next = 1i64;
    for (stride, dim) in strides.iter_mut().zip(dims).rev() {
        *stride = next;
        next = next.saturating_mul(*dim as i64);
    }
    strides
}

impl Global {
    /// An argument of the kernel: its extents come from the type, and from the file where the type has `?`.
    pub fn argument(ty: &Type, buffer: MemoryId, file_dims: &[u64], grows: bool) -> Option<Global> {
        let (elem, dims, strided) = match ty {
            Type::Ptr(elem, _) => (*elem, None, None),
            Type::View(v) => (v.elem, Some(&v.dims), None),
            Type::Memref(m) => (m.elem, Some(&m.dims), m.strided.as_ref()),
            _ => return None,
        };
        let given = |k: usize| file_dims.get(k).copied().unwrap_or(0);
        let dims: SmallVec<[u64; 6]> = dims
            .into_iter()
            .flatten()
            .enumerate()
            .map(|(k, d)| d.unwrap_or_else(|| given(k)))
            .collect();
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
            tag: ViewTag::Nd,
            grows,
        })
    }

    /// The view as an operand; a pointer is a dense view of the given extents.
    pub fn arg(&self, elements: u64, dense: Option<[u64; 2]>) -> GlobalArg {
        let mut arg = GlobalArg {
            elem: self.elem,
            tag: self.tag,
            dims: self.dims.iter().map(|d| Some(*d)).collect(),
            strides: self.strides.iter().map(|s| Some(*s)).collect(),
            offset: Some(self.offset),
            buffer: Some(elements),
        };
        if let (true, Some([rows, cols])) = (self.dims.is_empty(), dense) {
            arg.dims = SmallVec::from_slice(&[Some(rows), Some(cols)]);
            arg.strides = SmallVec::from_slice(&[Some(cols as i64), Some(1)]);
        }
        arg
    }

    /// The first byte of the view; `None` where it is no byte (before the buffer, or in the middle of one).
    pub fn byte(&self) -> Option<usize> {
        let offset = u64::try_from(self.offset).ok()?;
        if self.elem.is_fp4() {
            return (offset % 2 == 0).then_some((offset / 2) as usize);
        }
        usize::try_from(offset.checked_mul(self.elem.size()?)?).ok()
    }
}

impl Exec<'_> {
    pub fn global(&self, slot: Slot) -> Result<&Global, Failure> {
        self.globals
            .get(slot as usize)
            .ok_or_else(|| out_of_bounds("the operation names no global memory".into(), "give it a pointer"))
    }

    /// Elements of the buffer behind a view.
    pub fn elements(&self, global: &Global) -> u64 {
        let bytes = self.memories.get(global.buffer).map_or(0, |m| m.bytes().len() as u64);
        bytes * 8 / u64::from(global.elem.bits())
    }

    fn put_global(&mut self, slot: Slot, global: Global) {
        if let Some(place) = self.globals.get_mut(slot as usize) {
            *place = global;
        }
    }

    fn extents(&self, ints: &[Int], what: &str) -> Result<SmallVec<[u64; 6]>, Failure> {
        let mut dims = SmallVec::new();
        for (k, int) in ints.iter().enumerate() {
            let v = self.int(*int);
            dims.push(
                u64::try_from(v)
                    .map_err(|_| out_of_bounds(format!("{what} {k} of the view is {v}"), "it is at least 0"))?,
            );
        }
        Ok(dims)
    }

    pub fn make_view(&mut self, view: &MakeView) -> Result<(), Failure> {
        let dims = self.extents(&view.first, "extent")?;
        let strides = view.second.iter().map(|s| self.int(*s)).collect();
        let source = self.global(view.src)?;
        let made = Global {
            elem: view.elem,
            dims,
            strides,
            tag: view.tag,
            ..source.clone()
        };
        self.put_global(view.dst, made);
        Ok(())
    }

    pub fn partition(&mut self, view: &MakeView) -> Result<(), Failure> {
        let offsets = self.extents(&view.first, "offset")?;
        let sizes = self.extents(&view.second, "size")?;
        let mut made = self.global(view.src)?.clone();
        for (k, (offset, size)) in offsets.iter().zip(&sizes).enumerate() {
            let (extent, stride) = (
                made.dims.get(k).copied().unwrap_or(0),
                made.strides.get(k).copied().unwrap_or(0),
            );
            if offset.checked_add(*size).is_none_or(|end| end > extent) {
                let end = offset.saturating_add(*size);
                let what = format!("the partition takes {offset} to {end} of dimension {k}, and the view has {extent}");
                let help = format!("offset plus size is at most {extent}");
                return Err(out_of_bounds(what, help));
            }
            let moved = stride
                .checked_mul(*offset as i64)
                .and_then(|by| made.offset.checked_add(by));
            made.offset = moved.ok_or_else(|| {
                out_of_bounds(
                    format!("the partition starts {offset} strides of {stride} away"),
                    "use smaller strides",
                )
            })?;
        }
        made.dims = sizes;
        self.put_global(view.dst, made);
        Ok(())
    }

    pub fn add_pointer(&mut self, src: Slot, dst: Slot, by: i64) -> Result<(), Failure> {
        let mut moved = self.global(src)?.clone();
        moved.offset = moved.offset.checked_add(by).ok_or_else(|| {
            out_of_bounds(
                format!("a pointer at {} moves by {by}", moved.offset),
                "stay inside the buffer",
            )
        })?;
        self.put_global(dst, moved);
        Ok(())
    }

    /// The element that an access means: its offset in bytes, or in nibbles for fp4.
    fn element(&self, access: &Access) -> Result<(Global, i64, u64), Failure> {
        let pointer = self.global(access.pointer)?.clone();
        let index = self.int(access.index);
        let at = pointer.offset.saturating_add(index);
        let elements = self.elements(&pointer);
        let beyond = u64::try_from(at).map_or(true, |at| at >= elements);
        let grows = pointer.grows && matches!(at, 0..=0x4000_0000);
        if beyond && !grows {
            let what = format!("element {at} is accessed, and the buffer has {elements} elements");
            return Err(out_of_bounds(
                what,
                "give the argument a longer file, or stay inside it",
            ));
        }
        let unit = pointer.elem.size().unwrap_or(1) as i64;
        Ok((pointer, at * unit, elements))
    }

    pub fn load_scalar(&mut self, access: &Access) -> Result<(), Failure> {
        let (pointer, at, elements) = self.element(access)?;
        let bits = pointer.elem.bits();
        let byte = if bits == 4 { at / 2 } else { at } as usize;
        let len = (bits as usize / 8).max(1);
        let memory = self.memories.get(pointer.buffer);
        let exists = memory.is_some_and(|m| byte + len <= m.bytes().len());
        let defined = memory.is_some_and(|m| m.defined().has_all(byte, len));
        if !exists {
            let what = format!(
                "element {} is loaded, and the buffer has {elements} elements",
                pointer.offset.saturating_add(self.int(access.index))
            );
            return Err(out_of_bounds(what, "give the argument a file"));
        }
        if self.memories.tracked && !defined {
            let what = format!(
                "element {} of the buffer was never written, and its value is used",
                pointer.offset.saturating_add(self.int(access.index))
            );
            return Err(Box::new(
                Diagnostic::error("undefined-use", what).help("bind a file to the argument, or store it first"),
            ));
        }
        let raw = memory.map_or(0, |m| read_bits(m.bytes(), at, bits));
        let value = match (pointer.elem.decode(raw), access.ty) {
            (Number::Int(v), ScalarType::Float(_)) => (v as f64).to_bits() as i64,
            (Number::Int(v), ty) => super::scalar::wrap(v as i64, ty.bits()),
            (Number::Float(v), _) => v.to_bits() as i64,
        };
        self.set(access.slot, value);
        Ok(())
    }

    pub fn store_scalar(&mut self, access: &Access) -> Result<(), Failure> {
        let (pointer, at, _) = self.element(access)?;
        let elem = pointer.elem;
        let value = self.int(access.scalar);
        let raw = match access.ty {
            ScalarType::Float(_) => elem.encode_f64(f64::from_bits(value as u64), Overflow::Infinity),
            _ => elem.encode_int(value.into(), Overflow::Infinity),
        };
        let byte = if elem.is_fp4() { at / 2 } else { at } as usize;
        let len = elem.size().unwrap_or(1) as usize;
        self.reserve(pointer.buffer, (byte + len) as u64)?;
        if let Some(memory) = self.memories.get_mut(pointer.buffer) {
            write_bits(memory.as_mut(), at, elem.bits(), raw);
            memory.defined_mut().insert(byte, len);
            memory.note_written(byte, len);
        }
        Ok(())
    }
}
