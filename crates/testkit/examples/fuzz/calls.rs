//! Sequences of calls of the C ABI: descriptors with any tags, sizes, handles and addresses. Pointers are either null or
//! lead to what they say, as the header asks for.

use std::ptr::null_mut;
use tessera_capi::TesseraMachine;
use tessera_capi::abi::*;
use tessera_capi::calls::*;
use tessera_isa::elem::Elem;
use tessera_isa::ops::{AttrName, Opcode, Role};
use tessera_isa::tile::Loc;

/// Bytes that decide; zeros when there are no more.
struct Choices<'a>(std::slice::Iter<'a, u8>);

impl Choices<'_> {
    fn byte(&mut self) -> u8 {
        self.0.next().copied().unwrap_or(0)
    }

    /// A tag: mostly one that there is.
    fn tag(&mut self, count: usize) -> u32 {
        match self.byte() {
            255 => u32::MAX,
            n => u32::from(n) % (count as u32 + 1),
        }
    }

    /// An extent or an address.
    fn number(&mut self) -> u64 {
        match self.byte() {
            n @ 0..=63 => u64::from(n),
            n @ 64..=127 => u64::from(n - 64) * 16,
            n @ 128..=191 => u64::from(n - 128) * 1024,
            n @ 192..=250 => 1 << (n - 192),
            n => u64::MAX - u64::from(n - 251),
        }
    }

    fn tile(&mut self, handles: &[u64]) -> TesseraTile {
        let usual = self.byte() < 200;
        let rows = if usual { 16 } else { self.number() };
        let cols = if usual { 32 } else { self.number() };
        let [valid_row, valid_col] = match usual {
            true => [rows as i64, cols as i64],
            false => [self.number() as i64, self.number() as i64],
        };
        let automatic = !handles.is_empty() && self.byte() < 160;
        let storage = match automatic {
            true => handles[usize::from(self.byte()) % handles.len()],
            false => self.number().wrapping_mul(32),
        };
        TesseraTile {
            loc: if usual { Loc::Vec as u32 } else { self.tag(Loc::ALL.len()) },
            elem: self.tag(Elem::ALL.len()),
            rows,
            cols,
            blayout: if usual { 0 } else { self.tag(2) },
            slayout: if usual { 0 } else { self.tag(3) },
            fractal: if usual { 512 } else { self.number() as u32 },
            compact: if usual { 0 } else { self.tag(3) },
            pad: self.tag(5),
            pad_bits: u32::from(self.byte()) << 24,
            type_valid_row: if usual { rows as i64 } else { (self.number() as i64).wrapping_sub(1) },
            type_valid_col: if usual { cols as i64 } else { (self.number() as i64).wrapping_sub(1) },
            valid_row,
            valid_col,
            // A pointer to any place (3) would be the caller's fault.
            storage_kind: if automatic { 2 } else { Some(self.tag(3)).filter(|kind| *kind != 3).unwrap_or(4) },
            reserved: 0,
            storage,
            offset: if usual { 0 } else { self.number() },
            pitch: if usual { 0 } else { self.number() },
        }
    }
}

/// A machine that is destroyed whatever happens.
struct Held(*mut TesseraMachine);

impl Drop for Held {
    fn drop(&mut self) {
        // SAFETY: made by `tessera_machine_create`, destroyed once.
        unsafe { tessera_machine_destroy(self.0) };
    }
}

pub fn run(bytes: &[u8]) {
    let mut choices = Choices(bytes.iter());
    let mut machine: *mut TesseraMachine = null_mut();
    // SAFETY: the place for the machine is ours.
    let made = unsafe { tessera_machine_create(choices.tag(3), &mut machine) };
    if made != TesseraStatus::Ok {
        return;
    }
    let held = Held(machine);
    let mut handles: Vec<u64> = Vec::new();
    let mut data = vec![1u8; 1 << 16];
    while choices.0.len() > 0 {
        let status = step(held.0, &mut choices, &mut handles, &mut data);
        assert!(status != TesseraStatus::Internal, "a call ends in a defect");
        // SAFETY: the machine lives.
        unsafe {
            for index in 0..tessera_diagnostic_count(held.0).min(4) {
                let mut found = std::mem::zeroed::<TesseraDiagnostic>();
                assert!(tessera_diagnostic(held.0, index, &mut found) == TesseraStatus::Ok, "a finding is not there");
                let text = std::ffi::CStr::from_ptr(found.text);
                assert!(!text.is_empty(), "a finding has no text");
            }
        }
    }
}

fn step(machine: *mut TesseraMachine, c: &mut Choices<'_>, handles: &mut Vec<u64>, data: &mut [u8]) -> TesseraStatus {
    let kind = c.byte() % 8;
    let tile = c.tile(handles);
    // SAFETY: descriptors live during the call; a view's extent is what `data` has room for.
    unsafe {
        match kind {
            0 | 1 => {
                let mut handle = 0;
                let status = tessera_storage_alloc(machine, &tile, &mut handle);
                if status == TesseraStatus::Ok {
                    handles.push(handle);
                }
                status
            }
            2 => tessera_storage_free(machine, if handles.is_empty() { c.number() } else { handles.swap_remove(0) }),
            3 => tessera_assign(machine, &tile),
            4 | 5 => issue(machine, c, handles),
            6 => {
                let rows = c.number() as i64 % 64;
                let view = TesseraView {
                    data: data.as_mut_ptr().cast(),
                    elem: tile.elem,
                    layout: c.tag(4),
                    dims: 2,
                    reserved: 0,
                    shape: [rows, 32, 0, 0, 0],
                    stride: [32, 1, 0, 0, 0],
                    extent: 64 * 32,
                };
                match c.byte() % 4 {
                    0 => tessera_load(machine, &tile, &view),
                    1 => tessera_store(machine, &view, &tile),
                    2 => tessera_host_load(machine, &tile, &view),
                    _ => tessera_host_store(machine, &view, &tile, u32::from(c.byte() % 3)),
                }
            }
            _ => {
                let other = c.tile(handles);
                tessera_copy(machine, &tile, &other)
            }
        }
    }
}

fn issue(machine: *mut TesseraMachine, c: &mut Choices<'_>, handles: &[u64]) -> TesseraStatus {
    let op = c.tag(Opcode::ALL.len());
    // Operands that the instruction has, in one of its forms, or any.
    let shape =
        Opcode::ALL.get(op as usize).and_then(|o| o.shapes().get(usize::from(c.byte()) % o.shapes().len().max(1)));
    let mut roles: Vec<Role> = shape.map_or(Vec::new(), |s| s.ins.iter().chain(&s.outs).copied().collect());
    if c.byte() > 230 {
        roles.push(Role::ALL[usize::from(c.byte()) % Role::ALL.len()]);
    }
    let is_tile = |role: &&Role| role.kind() == tessera_isa::ops::Kind::Tile;
    let tiles: Vec<TesseraTileArg> = roles
        .iter()
        .filter(is_tile)
        .map(|role| TesseraTileArg { role: *role as u32, reserved: 0, tile: c.tile(handles) })
        .take(8)
        .collect();
    let scalars: Vec<TesseraScalar> = roles
        .iter()
        .filter(|role| !is_tile(role))
        .map(|role| TesseraScalar {
            role: *role as u32,
            kind: c.tag(2),
            bits: c.number(),
            elem: c.tag(Elem::ALL.len()),
            reserved: 0,
        })
        .take(8)
        .collect();
    let attrs: Vec<TesseraAttr> = (0..c.byte() % 3)
        .map(|_| TesseraAttr {
            name: c.tag(AttrName::ALL.len()),
            kind: c.tag(2),
            values: [c.number() as i64, c.number() as i64, 0, 0],
        })
        .collect();
    let inst = TesseraInst {
        op,
        tile_count: tiles.len() as u32,
        scalar_count: scalars.len() as u32,
        attr_count: attrs.len() as u32,
        form: if c.byte() > 220 { c.tag(8) } else { 0 },
        word_count: 0,
        tiles: tiles.as_ptr(),
        scalars: scalars.as_ptr(),
        attrs: attrs.as_ptr(),
        conv: std::ptr::null(),
        words: std::ptr::null(),
    };
    // SAFETY: the lists are as long as they say, and live during the call.
    unsafe { tessera_issue(machine, &inst) }
}
