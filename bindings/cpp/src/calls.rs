//! The functions of the C ABI.
//!
//! What holds for all of them: a `machine` is null or was made by `tessera_machine_create` and not destroyed since, and
//! no other thread uses it during the call; every other pointer is null or points to what its type says, for the time
//! of the call; every element of a view, or of its extent where given, is in the caller's memory, which is writable where
//! a call stores; so is every declared byte of a tile that is given by a pointer to memory of the caller's own. Breaking this is the only way to undefined behaviour: everything else ends in a status.
#![allow(clippy::missing_safety_doc, reason = "the module comment says it for all; functions say what they add")]

use crate::abi::*;
use crate::convert::{self, Answer, Operands, Refusal};
use crate::machine::{TesseraMachine, guarded};
use crate::view::View;
use std::ffi::c_void;
use tessera_isa::diag::Diagnostic;
use tessera_isa::profile::Profile;

/// The most operands that an instruction is given, and the most words.
const MAX_OPERANDS: u32 = 8;
const MAX_WORDS: u32 = 96;

/// The structure behind a pointer.
///
/// # Safety
/// The pointer is null or points to a `T` that lives as long as `'a`.
pub(crate) unsafe fn given<'a, T>(pointer: *const T) -> Answer<&'a T> {
    // SAFETY: the caller of the ABI vouches for it (module comment).
    unsafe { pointer.as_ref() }.ok_or_else(Refusal::null)
}

/// An array behind a pointer and a count.
///
/// # Safety
/// The pointer is null or points to `count` values that live as long as `'a`.
unsafe fn array<'a, T>(pointer: *const T, (count, most): (u32, u32), what: &str) -> Answer<&'a [T]> {
    match count {
        0 => Ok(&[]),
        _ if count > most => Err(Refusal::argument(format!("{count} {what}; there are at most {most}"))),
        _ if pointer.is_null() => Err(Refusal::null()),
        // SAFETY: not null, and the caller of the ABI vouches for the count (module comment).
        _ => Ok(unsafe { std::slice::from_raw_parts(pointer, count as usize) }),
    }
}

/// The operands behind the pointers of an instruction.
///
/// # Safety
/// The pointers are null or point to as many values as the instruction says, which live as long as `'a`.
unsafe fn operands<'a>(inst: &TesseraInst) -> Answer<Operands<'a>> {
    // SAFETY: the caller of the ABI vouches for them (module comment).
    unsafe {
        Ok(Operands {
            tiles: array(inst.tiles, (inst.tile_count, MAX_OPERANDS), "tiles")?,
            scalars: array(inst.scalars, (inst.scalar_count, MAX_OPERANDS), "scalars")?,
            attrs: array(inst.attrs, (inst.attr_count, MAX_OPERANDS), "attributes")?,
            words: array(inst.words, (inst.word_count, MAX_WORDS), "words")?,
            conv: inst.conv.as_ref(),
        })
    }
}

/// Copies bytes to a place of the caller's.
///
/// # Safety
/// The pointer is null or has room for the bytes.
unsafe fn copy_to(bytes: &[u8], place: *mut c_void) -> Answer<Vec<Diagnostic>> {
    if place.is_null() {
        return Err(Refusal::null());
    }
    // SAFETY: not null, so there is room; what is copied is ours.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), place.cast::<u8>(), bytes.len()) };
    Ok(Vec::new())
}

/// One call on a machine, with the structures behind some pointers.
macro_rules! call {
    ($machine:ident, [$($pointer:ident),*], |$m:ident| $body:expr) => {
        TesseraMachine::call($machine, |$m| {
            // SAFETY: null is refused, and the caller of the ABI vouches for the rest (module comment).
            $(let $pointer = unsafe { given($pointer)? };)*
            $body
        })
    };
}

/// The version of the library's ABI; headers compare it with `TESSERA_ABI_VERSION`.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_abi_version() -> u32 {
    TESSERA_ABI_VERSION
}

/// Makes a core of a profile with empty memories. `machine` receives it, or null if the call fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_machine_create(profile: u32, machine: *mut *mut TesseraMachine) -> TesseraStatus {
    // SAFETY: null or a place for a pointer (module comment).
    let Some(out) = (unsafe { machine.as_mut() }) else {
        return TesseraStatus::Null;
    };
    *out = std::ptr::null_mut();
    match guarded(|| convert::word(&Profile::ALL, profile, "profile").map(|p| Box::new(TesseraMachine::new(p)))) {
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
/// The pointer is not used again.
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
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_storage_alloc(
    machine: *mut TesseraMachine,
    tile: *const TesseraTile,
    handle: *mut u64,
) -> TesseraStatus {
    call!(machine, [tile], |m| {
        // SAFETY: module comment.
        let out = unsafe { handle.as_mut() }.ok_or_else(Refusal::null)?;
        *out = m.alloc_tile(tile)?;
        Ok(Vec::new())
    })
}

/// Allocates automatic storage for a conv tile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_storage_alloc_conv(
    machine: *mut TesseraMachine,
    tile: *const TesseraConv,
    handle: *mut u64,
) -> TesseraStatus {
    call!(machine, [tile], |m| {
        // SAFETY: module comment.
        let out = unsafe { handle.as_mut() }.ok_or_else(Refusal::null)?;
        *out = m.alloc_conv(tile)?;
        Ok(Vec::new())
    })
}

/// Frees automatic storage. Tiles that name it are refused from then on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_storage_free(machine: *mut TesseraMachine, handle: u64) -> TesseraStatus {
    TesseraMachine::call(machine, |m| m.free(handle).map(|()| Vec::new()))
}

/// Says that the caller writes to a tile's declared bytes through a pointer: they are defined from then on, whatever
/// instructions do to them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_expose(machine: *mut TesseraMachine, tile: *const TesseraTile) -> TesseraStatus {
    call!(machine, [tile], |m| m.expose(tile).map(|()| Vec::new()))
}

/// The same for a conv tile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_expose_conv(machine: *mut TesseraMachine, tile: *const TesseraConv) -> TesseraStatus {
    call!(machine, [tile], |m| m.expose_conv(tile).map(|()| Vec::new()))
}

/// Fills the memories of all locations, and automatic storage, with zeros, which are defined.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_machine_clear(machine: *mut TesseraMachine) -> TesseraStatus {
    TesseraMachine::call(machine, |m| {
        m.clear();
        Ok(Vec::new())
    })
}

/// Begins anew on a profile: contents, configuration and automatic storage are gone, and memories stay at their addresses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_machine_reset(machine: *mut TesseraMachine, profile: u32) -> TesseraStatus {
    TesseraMachine::call(machine, |m| {
        m.restart(convert::word(&Profile::ALL, profile, "profile")?);
        Ok(Vec::new())
    })
}

/// TASSIGN: may the tile lie where its descriptor says? Nothing is changed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_assign(machine: *mut TesseraMachine, tile: *const TesseraTile) -> TesseraStatus {
    call!(machine, [tile], |m| m.check_tile_place(tile).map(|()| Vec::new()))
}

/// TASSIGN of a conv tile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_assign_conv(machine: *mut TesseraMachine, tile: *const TesseraConv) -> TesseraStatus {
    call!(machine, [tile], |m| m.check_conv_place(tile).map(|()| Vec::new()))
}

/// Checks and executes one instruction. What happens to descriptors is the caller's business: after TRESHAPE on a2a3 and
/// a5, TFILLPAD_INPLACE and TSUBVIEW the destination is a view of the source, and TFILLPAD_EXPAND makes a dynamic valid
/// region the whole declared area.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_issue(machine: *mut TesseraMachine, inst: *const TesseraInst) -> TesseraStatus {
    call!(machine, [inst], |m| {
        // SAFETY: module comment; null is refused, except where it means "none".
        let given = unsafe { operands(inst)? };
        let op = convert::op(inst.op, false)?;
        if op.info().forms.is_empty() {
            return m.configure(op, convert::attrs(op, given.attrs)?, given.scalars);
        }
        m.issue(convert::inst(op, inst.form, m.profile, &given)?, given.words)
    })
}

/// Checks an instruction that reads one element of a tile as a scalar (TGETVAL), and gives the element; `len` is its size
/// in bytes.
///
/// # Safety
/// `value` has room for `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_get(
    machine: *mut TesseraMachine,
    inst: *const TesseraInst,
    value: *mut c_void,
    len: usize,
) -> TesseraStatus {
    call!(machine, [inst], |m| {
        // SAFETY: module comment; null is refused, except where it means "none".
        let given = unsafe { operands(inst)? };
        let op = convert::op(inst.op, false)?;
        let contents = m.get(convert::inst(op, inst.form, m.profile, &given)?, len)?;
        // SAFETY: `value` has room for `len` bytes, which is what `get` gave.
        unsafe { copy_to(&contents, value) }
    })
}

/// Checks and executes one instruction with a view of global memory: TLOAD, TSTORE, TSTORE_FP, TPREFETCH, MGATHER,
/// MSCATTER. What is stored without a defined value is written as 0, counted, and reported in a warning.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_transfer(
    machine: *mut TesseraMachine,
    inst: *const TesseraInst,
    view: *const TesseraView,
) -> TesseraStatus {
    call!(machine, [inst, view], |m| {
        // SAFETY: module comment; null is refused, except where it means "none".
        let given = unsafe { operands(inst)? };
        let op = convert::op(inst.op, true)?;
        m.transfer(convert::inst(op, inst.form, m.profile, &given)?, &mut View::new(view)?, given.words)
    })
}

/// TLOAD: the view into the tile's valid region.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_load(
    machine: *mut TesseraMachine,
    tile: *const TesseraTile,
    view: *const TesseraView,
) -> TesseraStatus {
    call!(machine, [tile, view], |m| m.load(tile, &mut View::new(view)?))
}

/// TLOAD of a conv tile from a view of the same dimensions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_load_conv(
    machine: *mut TesseraMachine,
    tile: *const TesseraConv,
    view: *const TesseraView,
) -> TesseraStatus {
    call!(machine, [tile, view], |m| m.load_conv(tile, &mut View::new(view)?))
}

/// TSTORE: the tile's valid region into the view. Bytes without a defined value are written as 0, counted, and reported
/// in a warning.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_store(
    machine: *mut TesseraMachine,
    view: *const TesseraView,
    tile: *const TesseraTile,
) -> TesseraStatus {
    call!(machine, [tile, view], |m| m.store(&mut View::new(view)?, tile))
}

/// Gives a tile's valid region its contents from a view, whatever location and layout the tile has: how a host puts
/// operands where no TLOAD reaches. The padding is left alone.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_host_load(
    machine: *mut TesseraMachine,
    tile: *const TesseraTile,
    view: *const TesseraView,
) -> TesseraStatus {
    call!(machine, [tile, view], |m| m.host_load(tile, &View::new(view)?).map(|()| Vec::new()))
}

/// Takes a tile's valid region into a view, whatever location and layout the tile has; `core` is the vector core whose
/// copy of a Vec tile is meant, 0 or 1. Undefined bytes are treated as in `tessera_store`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_host_store(
    machine: *mut TesseraMachine,
    view: *const TesseraView,
    tile: *const TesseraTile,
    core: u32,
) -> TesseraStatus {
    call!(machine, [tile, view], |m| m.host_store(&mut View::new(view)?, tile, core))
}

/// Copies all bytes of a tile's declared area to another tile of as many bytes; what is undefined stays so.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_copy(
    machine: *mut TesseraMachine,
    dst: *const TesseraTile,
    src: *const TesseraTile,
) -> TesseraStatus {
    call!(machine, [dst, src], |m| m.copy(dst, src).map(|()| Vec::new()))
}

/// Makes the contents of a tile undefined, as those of a new tile are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_undefine(machine: *mut TesseraMachine, tile: *const TesseraTile) -> TesseraStatus {
    call!(machine, [tile], |m| m.undefine(tile).map(|()| Vec::new()))
}

/// How many bytes without a defined value `tessera_store` has written as 0; 0 for null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_undefined_stored(machine: *const TesseraMachine) -> u64 {
    // SAFETY: module comment.
    unsafe { machine.as_ref() }.map_or(0, |m| m.undefined_stored)
}

/// Reads the bytes of a tile's declared area as they lie in memory; `len` is their number. Undefined bytes read as 0.
///
/// # Safety
/// `bytes` has room for `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_read(
    machine: *mut TesseraMachine,
    tile: *const TesseraTile,
    bytes: *mut c_void,
    len: usize,
) -> TesseraStatus {
    call!(machine, [tile], |m| {
        let tile = m.bytes(tile, len)?;
        let contents = m.read(tile, 0, len)?;
        // SAFETY: `bytes` has room for `len` bytes, which is what `read` gave.
        unsafe { copy_to(&contents, bytes) }
    })
}

/// Writes the bytes of a tile's declared area as they lie in memory; `len` is their number.
///
/// # Safety
/// `bytes` are `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_write(
    machine: *mut TesseraMachine,
    tile: *const TesseraTile,
    bytes: *const c_void,
    len: usize,
) -> TesseraStatus {
    call!(machine, [tile], |m| {
        if bytes.is_null() || isize::try_from(len).is_err() {
            return Err(Refusal::null());
        }
        // SAFETY: `bytes` are `len` bytes, and not null.
        let contents = unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), len) };
        let tile = m.bytes(tile, len)?;
        m.write(tile, 0, contents)
    })
}

/// Reads one element of a tile's declared area; `len` is its size in bytes. An undefined one reads as 0.
///
/// # Safety
/// `value` has room for `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_read_element(
    machine: *mut TesseraMachine,
    tile: *const TesseraTile,
    row: i64,
    col: i64,
    value: *mut c_void,
    len: usize,
) -> TesseraStatus {
    call!(machine, [tile], |m| {
        let (tile, offset) = m.element(tile, [row, col], len)?;
        let contents = m.read(tile, offset, len)?;
        // SAFETY: `value` has room for `len` bytes, which is what `read` gave.
        unsafe { copy_to(&contents, value) }
    })
}

/// Reads element (0, 0) of a tile as the scalar of an instruction; `len` is its size in bytes. An undefined one is
/// refused.
///
/// # Safety
/// `value` has room for `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_read_scalar(
    machine: *mut TesseraMachine,
    tile: *const TesseraTile,
    value: *mut c_void,
    len: usize,
) -> TesseraStatus {
    call!(machine, [tile], |m| {
        let contents = m.scalar(tile, len)?;
        // SAFETY: `value` has room for `len` bytes, which is what `scalar` gave.
        unsafe { copy_to(&contents, value) }
    })
}

/// Writes one element of a tile's declared area; `len` is its size in bytes.
///
/// # Safety
/// `value` are `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_write_element(
    machine: *mut TesseraMachine,
    tile: *const TesseraTile,
    row: i64,
    col: i64,
    value: *const c_void,
    len: usize,
) -> TesseraStatus {
    call!(machine, [tile], |m| {
        if value.is_null() {
            return Err(Refusal::null());
        }
        let (tile, offset) = m.element(tile, [row, col], len)?;
        // SAFETY: `element` accepted `len`, which is at most 8, and `value` are `len` bytes.
        let contents = unsafe { std::slice::from_raw_parts(value.cast::<u8>(), len) };
        m.write(tile, offset, contents)
    })
}

/// How many findings the last call left: errors if it failed, warnings if not. 0 for null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_diagnostic_count(machine: *const TesseraMachine) -> u32 {
    // SAFETY: module comment.
    unsafe { machine.as_ref() }.map_or(0, |m| m.found.len() as u32)
}

/// One finding of the last call.
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
    let Some(found) = m.found.get(index as usize) else { return TesseraStatus::Argument };
    *out = found.describe();
    TesseraStatus::Ok
}
