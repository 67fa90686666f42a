//! The functions of the C ABI.
//!
//! What holds for all of them: a `machine` is null or was made by `tessera_machine_create` and not destroyed since, and
//! no other thread uses it during the call; every other pointer is null or points to what its type says, for the time
//! of the call. Breaking this is the only way to undefined behaviour: everything else ends in a status.

use crate::abi::*;
use crate::convert::{self, Answer, Refusal};
use crate::machine::{TesseraMachine, guarded};
use crate::view::View;
use std::ffi::c_void;
use tessera_isa::codec::{Number, Overflow};

/// The most operands that an instruction is given.
const MAX_OPERANDS: u32 = 8;

/// The structure behind a pointer.
///
/// # Safety
/// The pointer is null or points to a `T` that lives as long as `'a`.
unsafe fn given<'a, T>(pointer: *const T) -> Answer<&'a T> {
    // SAFETY: the caller of the ABI vouches for it (module comment).
    unsafe { pointer.as_ref() }.ok_or_else(Refusal::null)
}

/// An array behind a pointer and a count.
///
/// # Safety
/// The pointer is null or points to `count` values that live as long as `'a`.
unsafe fn array<'a, T>(pointer: *const T, count: u32, what: &str) -> Answer<&'a [T]> {
    match count {
        0 => Ok(&[]),
        _ if count > MAX_OPERANDS => {
            Err(Refusal::argument(format!("{count} {what}; there are at most {MAX_OPERANDS}")))
        }
        _ if pointer.is_null() => Err(Refusal::null()),
        // SAFETY: not null, and the caller of the ABI vouches for the count (module comment).
        _ => Ok(unsafe { std::slice::from_raw_parts(pointer, count as usize) }),
    }
}

/// The version of the library's ABI; headers compare it with `TESSERA_ABI_VERSION`.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_abi_version() -> u32 {
    TESSERA_ABI_VERSION
}

/// Makes a core of a profile with empty memories. `machine` receives it, or null if the call fails.
///
/// # Safety
/// Pointers are null or valid for the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_machine_create(profile: u32, machine: *mut *mut TesseraMachine) -> TesseraStatus {
    // SAFETY: null or a place for a pointer (module comment).
    let Some(out) = (unsafe { machine.as_mut() }) else {
        return TesseraStatus::Null;
    };
    *out = std::ptr::null_mut();
    match guarded(|| convert::profile(profile).map(|p| Box::new(TesseraMachine::new(p)))) {
        Ok(made) => {
            *out = Box::into_raw(made);
            TesseraStatus::Ok
        }
        Err(refusal) => refusal.status,
    }
}

/// Frees a core and all its storage. Null is allowed.
///
/// # Safety
/// Pointers are null or valid for the call; the pointer is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_machine_destroy(machine: *mut TesseraMachine) {
    if !machine.is_null() {
        // SAFETY: made by `Box::into_raw` in `tessera_machine_create`, and not freed yet (module comment).
        let owned = unsafe { Box::from_raw(machine) };
        // A destructor that panics must not take the caller's program with it.
        let _ = guarded(|| {
            drop(owned);
            Ok(())
        });
    }
}

/// Allocates automatic storage for a tile in the memory of its location; its contents are undefined.
///
/// # Safety
/// Pointers are null or valid for the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_storage_alloc(
    machine: *mut TesseraMachine,
    tile: *const TesseraTile,
    handle: *mut u64,
) -> TesseraStatus {
    TesseraMachine::call(machine, |m| {
        // SAFETY: module comment.
        let (tile, out) = unsafe { (given(tile)?, handle.as_mut().ok_or_else(Refusal::null)?) };
        *out = m.alloc_tile(tile)?;
        Ok(Vec::new())
    })
}

/// Allocates automatic storage for a conv tile.
///
/// # Safety
/// Pointers are null or valid for the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_storage_alloc_conv(
    machine: *mut TesseraMachine,
    tile: *const TesseraConv,
    handle: *mut u64,
) -> TesseraStatus {
    TesseraMachine::call(machine, |m| {
        // SAFETY: module comment.
        let (tile, out) = unsafe { (given(tile)?, handle.as_mut().ok_or_else(Refusal::null)?) };
        *out = m.alloc_conv(tile)?;
        Ok(Vec::new())
    })
}

/// Frees automatic storage. Tiles that name it are refused from then on.
///
/// # Safety
/// Pointers are null or valid for the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_storage_free(machine: *mut TesseraMachine, handle: u64) -> TesseraStatus {
    TesseraMachine::call(machine, |m| m.free(handle).map(|()| Vec::new()))
}

/// TASSIGN: may the tile lie where its descriptor says? Nothing is changed.
///
/// # Safety
/// Pointers are null or valid for the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_assign(machine: *mut TesseraMachine, tile: *const TesseraTile) -> TesseraStatus {
    TesseraMachine::call(machine, |m| {
        // SAFETY: module comment.
        m.check_tile_place(unsafe { given(tile)? }).map(|()| Vec::new())
    })
}

/// TASSIGN of a conv tile.
///
/// # Safety
/// Pointers are null or valid for the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_assign_conv(machine: *mut TesseraMachine, tile: *const TesseraConv) -> TesseraStatus {
    TesseraMachine::call(machine, |m| {
        // SAFETY: module comment.
        m.check_conv_place(unsafe { given(tile)? }).map(|()| Vec::new())
    })
}

/// Checks and executes one instruction. What happens to descriptors is the caller's business: after TRESHAPE on a2a3 and
/// a5, TFILLPAD_INPLACE and TSUBVIEW the destination is a view of the source, and TFILLPAD_EXPAND makes a dynamic valid
/// region the whole declared area.
///
/// # Safety
/// Pointers are null or valid for the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_issue(machine: *mut TesseraMachine, inst: *const TesseraInst) -> TesseraStatus {
    TesseraMachine::call(machine, |m| {
        // SAFETY: module comment; null is refused, except where it means "none".
        let (inst, tiles, scalars, attrs, conv) = unsafe {
            let inst = given(inst)?;
            let tiles = array(inst.tiles, inst.tile_count, "tiles")?;
            let scalars = array(inst.scalars, inst.scalar_count, "scalars")?;
            (inst, tiles, scalars, array(inst.attrs, inst.attr_count, "attributes")?, inst.conv.as_ref())
        };
        let op = convert::op(inst.op)?;
        let attrs = convert::attrs(op, attrs)?;
        if op.info().forms.is_empty() {
            return m.configure(attrs, scalars);
        }
        let mut inst = convert::inst(op, m.profile(), tiles, scalars, conv)?;
        inst.attrs = attrs;
        m.issue(inst)
    })
}

/// TLOAD: the view into the tile's valid region.
///
/// # Safety
/// Pointers are null or valid for the call; every element of the view, or of its extent where given, is in the caller's memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_load(
    machine: *mut TesseraMachine,
    tile: *const TesseraTile,
    view: *const TesseraView,
) -> TesseraStatus {
    TesseraMachine::call(machine, |m| {
        // SAFETY: module comment.
        let (tile, view) = unsafe { (given(tile)?, View::new(given(view)?)?) };
        m.load(tile, &view)
    })
}

/// TLOAD of a conv tile from a view of the same dimensions.
///
/// # Safety
/// As for `tessera_load`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_load_conv(
    machine: *mut TesseraMachine,
    tile: *const TesseraConv,
    view: *const TesseraView,
) -> TesseraStatus {
    TesseraMachine::call(machine, |m| {
        // SAFETY: module comment.
        let (tile, view) = unsafe { (given(tile)?, View::new(given(view)?)?) };
        m.load_conv(tile, &view)
    })
}

/// TSTORE: the tile's valid region into the view. Bytes without a defined value are written as 0, counted, and reported
/// in a warning.
///
/// # Safety
/// As for `tessera_load`, and the memory is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_store(
    machine: *mut TesseraMachine,
    view: *const TesseraView,
    tile: *const TesseraTile,
) -> TesseraStatus {
    TesseraMachine::call(machine, |m| {
        // SAFETY: module comment.
        let (tile, mut view) = unsafe { (given(tile)?, View::new(given(view)?)?) };
        m.store(&mut view, tile)
    })
}

/// Gives a tile's valid region its contents from a view, whatever location and layout the tile has: how a host puts
/// operands where no TLOAD reaches. The padding is left alone.
///
/// # Safety
/// As for `tessera_load`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_host_load(
    machine: *mut TesseraMachine,
    tile: *const TesseraTile,
    view: *const TesseraView,
) -> TesseraStatus {
    TesseraMachine::call(machine, |m| {
        // SAFETY: module comment.
        let (tile, view) = unsafe { (given(tile)?, View::new(given(view)?)?) };
        m.host_load(tile, &view).map(|()| Vec::new())
    })
}

/// Takes a tile's valid region into a view, whatever location and layout the tile has; `core` is the vector core whose
/// copy of a Vec tile is meant, 0 or 1. Undefined bytes are treated as in `tessera_store`.
///
/// # Safety
/// As for `tessera_store`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_host_store(
    machine: *mut TesseraMachine,
    view: *const TesseraView,
    tile: *const TesseraTile,
    core: u32,
) -> TesseraStatus {
    TesseraMachine::call(machine, |m| {
        // SAFETY: module comment.
        let (tile, mut view) = unsafe { (given(tile)?, View::new(given(view)?)?) };
        m.host_store(&mut view, tile, core)
    })
}

/// Copies all bytes of a tile's declared area to another tile of as many bytes; what is undefined stays so.
///
/// # Safety
/// Pointers are null or valid for the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_copy(
    machine: *mut TesseraMachine,
    dst: *const TesseraTile,
    src: *const TesseraTile,
) -> TesseraStatus {
    TesseraMachine::call(machine, |m| {
        // SAFETY: module comment.
        let (dst, src) = unsafe { (given(dst)?, given(src)?) };
        m.copy(dst, src).map(|()| Vec::new())
    })
}

/// Makes the contents of a tile undefined, as those of a new tile are.
///
/// # Safety
/// Pointers are null or valid for the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_undefine(machine: *mut TesseraMachine, tile: *const TesseraTile) -> TesseraStatus {
    TesseraMachine::call(machine, |m| {
        // SAFETY: module comment.
        m.undefine(unsafe { given(tile)? }).map(|()| Vec::new())
    })
}

/// How many bytes without a defined value `tessera_store` has written as 0; 0 for null.
///
/// # Safety
/// Pointers are null or valid for the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_undefined_stored(machine: *const TesseraMachine) -> u64 {
    // SAFETY: module comment.
    unsafe { machine.as_ref() }.map_or(0, TesseraMachine::undefined_stored)
}

/// Reads the bytes of a tile's declared area as they lie in memory; `len` is their number. Undefined bytes read as 0.
///
/// # Safety
/// Pointers are null or valid for the call; `bytes` has room for `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_read(
    machine: *mut TesseraMachine,
    tile: *const TesseraTile,
    bytes: *mut c_void,
    len: usize,
) -> TesseraStatus {
    TesseraMachine::call(machine, |m| {
        // SAFETY: module comment.
        let tile = unsafe { given(tile)? };
        let contents = m.read(tile, len)?;
        if bytes.is_null() {
            return Err(Refusal::null());
        }
        // SAFETY: `bytes` has room for `len` bytes, which is what `read` gave; the contents are ours.
        unsafe { std::ptr::copy_nonoverlapping(contents.as_ptr(), bytes.cast::<u8>(), contents.len()) };
        Ok(Vec::new())
    })
}

/// Writes the bytes of a tile's declared area as they lie in memory; `len` is their number.
///
/// # Safety
/// Pointers are null or valid for the call; `bytes` are `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_write(
    machine: *mut TesseraMachine,
    tile: *const TesseraTile,
    bytes: *const c_void,
    len: usize,
) -> TesseraStatus {
    TesseraMachine::call(machine, |m| {
        // SAFETY: module comment.
        let tile = unsafe { given(tile)? };
        if bytes.is_null() || isize::try_from(len).is_err() {
            return Err(Refusal::null());
        }
        // SAFETY: `bytes` are `len` bytes, and not null.
        let contents = unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), len) };
        m.write(tile, contents).map(|()| Vec::new())
    })
}

/// Reads one element of a tile's declared area; `len` is its size in bytes. An undefined one reads as 0.
///
/// # Safety
/// Pointers are null or valid for the call; `value` has room for `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_read_element(
    machine: *mut TesseraMachine,
    tile: *const TesseraTile,
    row: i64,
    col: i64,
    value: *mut c_void,
    len: usize,
) -> TesseraStatus {
    TesseraMachine::call(machine, |m| {
        // SAFETY: module comment.
        let tile = unsafe { given(tile)? };
        let bits = m.read_element(tile, [row, col], len)?.to_le_bytes();
        if value.is_null() {
            return Err(Refusal::null());
        }
        // SAFETY: `read_element` accepted `len`, which is at most 8, and `value` has room for it.
        unsafe { std::ptr::copy_nonoverlapping(bits.as_ptr(), value.cast::<u8>(), len) };
        Ok(Vec::new())
    })
}

/// Writes one element of a tile's declared area; `len` is its size in bytes.
///
/// # Safety
/// Pointers are null or valid for the call; `value` are `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_write_element(
    machine: *mut TesseraMachine,
    tile: *const TesseraTile,
    row: i64,
    col: i64,
    value: *const c_void,
    len: usize,
) -> TesseraStatus {
    TesseraMachine::call(machine, |m| {
        // SAFETY: module comment.
        let tile = unsafe { given(tile)? };
        if value.is_null() {
            return Err(Refusal::null());
        }
        let offset = m.element_offset(tile, [row, col], len)?;
        // SAFETY: `element_offset` accepted `len`, which is at most 8, and `value` are `len` bytes.
        let contents = unsafe { std::slice::from_raw_parts(value.cast::<u8>(), len) };
        m.write_at(tile, offset, contents).map(|()| Vec::new())
    })
}

/// How many findings the last call left: errors if it failed, warnings if not. 0 for null.
///
/// # Safety
/// Pointers are null or valid for the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_diagnostic_count(machine: *const TesseraMachine) -> u32 {
    // SAFETY: module comment.
    unsafe { machine.as_ref() }.map_or(0, |m| m.found().len() as u32)
}

/// One finding of the last call.
///
/// # Safety
/// Pointers are null or valid for the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_diagnostic(
    machine: *const TesseraMachine,
    index: u32,
    diagnostic: *mut TesseraDiagnostic,
) -> TesseraStatus {
    // SAFETY: module comment.
    let (Some(m), Some(out)) = (unsafe { machine.as_ref() }, unsafe { diagnostic.as_mut() }) else {
        return TesseraStatus::Null;
    };
    match m.found().get(index as usize) {
        Some(found) => {
            *out = found.describe();
            TesseraStatus::Ok
        }
        None => TesseraStatus::Argument,
    }
}

/// The value of an element's bits.
///
/// # Safety
/// Pointers are null or valid for the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_decode(elem: u32, bits: u64, value: *mut f64) -> TesseraStatus {
    // SAFETY: module comment.
    let (Ok(elem), Some(out)) = (convert::elem(elem), unsafe { value.as_mut() }) else {
        return if value.is_null() { TesseraStatus::Null } else { TesseraStatus::Argument };
    };
    *out = match elem.decode(bits) {
        Number::Int(v) => v as f64,
        Number::Float(v) => v,
    };
    TesseraStatus::Ok
}

/// The bits of the element nearest to a value; beyond the largest one it is that one, infinities stay where there are.
///
/// # Safety
/// Pointers are null or valid for the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_encode(elem: u32, value: f64, bits: *mut u64) -> TesseraStatus {
    // SAFETY: module comment.
    let (Ok(elem), Some(out)) = (convert::elem(elem), unsafe { bits.as_mut() }) else {
        return if bits.is_null() { TesseraStatus::Null } else { TesseraStatus::Argument };
    };
    *out = elem.encode_f64(value, Overflow::Saturate);
    TesseraStatus::Ok
}
