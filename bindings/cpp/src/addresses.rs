//! The functions of the C ABI about addresses of the host. What `calls` says of pointers holds here too.
#![allow(clippy::missing_safety_doc, reason = "the module comment of `calls` says it for all")]

use crate::abi::TesseraStatus;
use crate::convert::Refusal;
use crate::machine::TesseraMachine;
use std::ffi::c_void;

/// The address of automatic storage on the host; it stays there until it is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_storage_data(
    machine: *mut TesseraMachine,
    handle: u64,
    data: *mut *mut c_void,
) -> TesseraStatus {
    TesseraMachine::call(machine, |m| {
        // SAFETY: module comment.
        let out = unsafe { data.as_mut() }.ok_or_else(Refusal::null)?;
        *out = m.storage_data(handle)?.cast();
        Ok(Vec::new())
    })
}

/// The address of a location's memory on the host: a tile at address a lies a bytes behind it, as long as the machine
/// lives. New memory reads as 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_memory_base(
    machine: *mut TesseraMachine,
    loc: u32,
    data: *mut *mut c_void,
) -> TesseraStatus {
    TesseraMachine::call(machine, |m| {
        // SAFETY: module comment.
        let out = unsafe { data.as_mut() }.ok_or_else(Refusal::null)?;
        *out = m.base(loc)?.cast();
        Ok(Vec::new())
    })
}

/// Is it an address of the machine's memories or automatic storage? 0 for null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_contains(machine: *const TesseraMachine, address: usize) -> u32 {
    // SAFETY: module comment.
    unsafe { machine.as_ref() }.map_or(0, |m| m.contains(address as u64).into())
}

/// How many bytes a location's memory can have at its address; 0 for null and before the address was asked for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_memory_room(machine: *const TesseraMachine, loc: u32) -> u64 {
    // SAFETY: module comment.
    unsafe { machine.as_ref() }.map_or(0, |m| m.room(loc))
}

/// Says that `size` bytes from `data` on are one buffer, so that views of it that leave it are refused; 0 forgets it. For
/// all machines and threads.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_register_buffer(data: *const c_void, size: usize) {
    crate::view::register(data as usize, size);
}
