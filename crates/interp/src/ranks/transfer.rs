//! Copies, sums and reductions between views of any ranks (isa/comm.md 3).

use super::super::step::Exec;
use super::views::{Shared, runs};
use tessera_isa::elem::Elem;
use tessera_isa::sem::Func;
use tessera_kernels::memory::Memories;
use tessera_kernels::{Failure, failure, internal_error};

/// Elements on their way: their bytes, and which of them are defined.
#[derive(Debug, Default)]
pub struct Staged {
    bytes: Vec<u8>,
    /// One byte per byte; empty while all of them are defined.
    undefined: Vec<bool>,
}

fn broken() -> Failure {
    internal_error("a view between ranks lies outside of its memory")
}

/// `dst[i] = src[i]`.
pub fn copy(memories: &mut Memories, dst: &Shared, src: &Shared) -> Result<(), Failure> {
    let meets = dst.memory == src.memory && dst.reach().zip(src.reach()).is_some_and(|(a, b)| a.0 < b.1 && b.0 < a.1);
    if meets {
        let staged = gather(memories, src)?;
        return scatter(memories, dst, &staged);
    }
    for ([to, from], len) in runs([dst, src]) {
        memories.copy((src.memory, from as usize), (dst.memory, to as usize), len as usize);
    }
    Ok(())
}

/// The elements of a view, row by row.
pub fn gather(memories: &Memories, src: &Shared) -> Result<Staged, Failure> {
    let total = (src.count() * src.size()) as usize;
    let mut staged = Staged { bytes: Vec::with_capacity(total), undefined: Vec::new() };
    let memory = memories.get(src.memory).ok_or_else(broken)?;
    for ([from], len) in runs([src]) {
        let (from, len) = (from as usize, len as usize);
        let bytes = memory.bytes().get(from..from + len).ok_or_else(broken)?;
        let is_defined = !memories.tracked || memory.defined().has_all(from, len);
        if !is_defined && staged.undefined.is_empty() {
            staged.undefined = vec![false; staged.bytes.len()];
        }
        if !is_defined {
            staged.undefined.extend((from..from + len).map(|byte| !memory.defined().has(byte)));
        } else if !staged.undefined.is_empty() {
            staged.undefined.extend(std::iter::repeat_n(false, len));
        }
        staged.bytes.extend_from_slice(bytes);
    }
    Ok(staged)
}

/// Elements go into a view, row by row.
pub fn scatter(memories: &mut Memories, dst: &Shared, staged: &Staged) -> Result<(), Failure> {
    let tracked = memories.tracked;
    let memory = memories.get_mut(dst.memory).ok_or_else(broken)?;
    let mut at = 0;
    for ([to], len) in runs([dst]) {
        let (to, len) = (to as usize, len as usize);
        let from = staged.bytes.get(at..at + len).ok_or_else(broken)?;
        memory.as_mut().get_mut(to..to + len).ok_or_else(broken)?.copy_from_slice(from);
        memory.note_written(to, len);
        if tracked {
            memory.defined_mut().insert(to, len);
            let missing = staged.undefined.get(at..at + len).unwrap_or_default();
            for (n, _) in missing.iter().enumerate().filter(|(_, missing)| **missing) {
                memory.defined_mut().remove(to + n, 1);
            }
        }
        at += len;
    }
    Ok(())
}

/// `all = func(all, more)`, element by element, each step rounded to the element type; an undefined argument makes the
/// result undefined.
pub fn combine(func: Func, elem: Elem, all: &mut Staged, more: &Staged) -> Result<(), Failure> {
    if !more.undefined.is_empty() {
        all.undefined.resize(all.bytes.len(), false);
    }
    let size = elem.bytes_of(1) as usize;
    if !all.undefined.is_empty() && !more.undefined.is_empty() {
        for (to, from) in all.undefined.chunks_mut(size).zip(more.undefined.chunks(size)) {
            if from.contains(&true) {
                to.fill(true);
            }
        }
    }
    combine_bytes(func, elem, &mut all.bytes, &more.bytes)
}

/// The elements of two equally long slices.
fn combine_bytes(func: Func, elem: Elem, all: &mut [u8], more: &[u8]) -> Result<(), Failure> {
    /// Elements of a type of the host.
    macro_rules! each {
        ($ty:ty, $step:expr) => {{
            const SIZE: usize = size_of::<$ty>();
            let step: fn($ty, $ty) -> $ty = $step;
            for (a, b) in all.as_chunks_mut::<SIZE>().0.iter_mut().zip(more.as_chunks::<SIZE>().0) {
                *a = step(<$ty>::from_le_bytes(*a), <$ty>::from_le_bytes(*b)).to_le_bytes();
            }
            return Ok(());
        }};
    }
    match (func, elem) {
        (Func::Add, Elem::I8 | Elem::U8) => each!(u8, |a, b| a.wrapping_add(b)),
        (Func::Add, Elem::I16 | Elem::U16) => each!(u16, |a, b| a.wrapping_add(b)),
        (Func::Add, Elem::I32 | Elem::U32) => each!(u32, |a, b| a.wrapping_add(b)),
        (Func::Add, Elem::F32) => {
            // NaNs are those of the one definition, so only numbers take the short way.
            let is_number = |bytes: &[u8]| {
                bytes.as_chunks::<4>().0.iter().fold(true, |all, b| all & f32::from_le_bytes(*b).is_finite())
            };
            if is_number(all) && is_number(more) {
                each!(f32, |a, b| a + b)
            }
        }
        (Func::Max, Elem::I8) => each!(i8, |a, b| a.max(b)),
        (Func::Max, Elem::U8) => each!(u8, |a, b| a.max(b)),
        (Func::Max, Elem::I16) => each!(i16, |a, b| a.max(b)),
        (Func::Max, Elem::U16) => each!(u16, |a, b| a.max(b)),
        (Func::Max, Elem::I32) => each!(i32, |a, b| a.max(b)),
        (Func::Max, Elem::U32) => each!(u32, |a, b| a.max(b)),
        (Func::Min, Elem::I8) => each!(i8, |a, b| a.min(b)),
        (Func::Min, Elem::U8) => each!(u8, |a, b| a.min(b)),
        (Func::Min, Elem::I16) => each!(i16, |a, b| a.min(b)),
        (Func::Min, Elem::U16) => each!(u16, |a, b| a.min(b)),
        (Func::Min, Elem::I32) => each!(i32, |a, b| a.min(b)),
        (Func::Min, Elem::U32) => each!(u32, |a, b| a.min(b)),
        _ => {}
    }
    let size = elem.bytes_of(1) as usize;
    for (a, b) in all.chunks_exact_mut(size).zip(more.chunks_exact(size)) {
        let bits = |bytes: &[u8]| bytes.iter().rev().fold(0u64, |bits, byte| bits << 8 | u64::from(*byte));
        let Some(made) = func.eval(elem, &[(elem, bits(a)), (elem, bits(b))]) else {
            let what = format!("elements of {elem} cannot be combined");
            return Err(failure("not-executable", what, "use another type"));
        };
        a.copy_from_slice(made.to_le_bytes().get(..size).ok_or_else(broken)?);
    }
    Ok(())
}

/// `dst[i] = dst[i] + src[i]`.
pub fn add(memories: &mut Memories, dst: &Shared, src: &Shared) -> Result<(), Failure> {
    let mut all = gather(memories, dst)?;
    let more = gather(memories, src)?;
    combine(Func::Add, dst.elem, &mut all, &more)?;
    scatter(memories, dst, &all)
}

impl Exec<'_> {
    /// What passed through tiles is nobody's any more: they become undefined.
    pub(super) fn clobber(&mut self, at: tessera_ir::OpId, tiles: &[super::super::code::TileSlot]) {
        for slot in tiles {
            let object = self.object_of(*slot);
            self.undefine(Some(at), object);
        }
    }
}
