//! Where tiles lie: in memories at their addresses, in automatic storage, or in memory of the caller's own.

use crate::convert::{self, Answer, Refusal};
use crate::machine::{TesseraMachine, no_storage, span};
use smallvec::SmallVec;
use std::ptr::NonNull;
use tessera_exec::engine::{PointerTarget, Storage};
use tessera_isa::diag::Fault;
use tessera_isa::inst::{Place, Root, TileArg};
use tessera_isa::profile::Profile;
use tessera_isa::tile::Loc;
use tessera_kernels::memory::AlignedBytes;

impl TesseraMachine {
    /// Checks where a tile lies (`tassign-range` and `tassign-align`; automatic storage is a memory of its own size), and says it as
    /// the engine does: pointers into its memories and handles become places there.
    pub(crate) fn place(&self, arg: &mut TileArg) -> Answer<()> {
        let Some(given) = arg.place else { return Ok(()) };
        let (bytes, start) = (span(arg), given.start);
        let (fault, root, start) = match given.root {
            Root::Memory(loc) => {
                let fault = tessera_check::check_address(loc, bytes, start.into(), self.profile);
                (fault.or_else(|| self.beyond_room(loc, start, bytes)), given.root, start)
            }
            Root::Auto(handle) => {
                let storage = self.engine.storage(handle).ok_or_else(|| no_storage(handle.into()))?;
                let fault = in_storage(storage, arg.tile.loc, start, bytes);
                (fault, Root::Auto(0), storage.at.saturating_add(start))
            }
            Root::Host => match self.engine.pointed(start) {
                PointerTarget::Memory(loc, _) | PointerTarget::Pool(Some(Storage { loc, .. }), _)
                    if loc != arg.tile.loc && self.profile != Profile::Cpu =>
                {
                    (Some(elsewhere(loc, arg.tile.loc)), given.root, start)
                }
                PointerTarget::Memory(loc, at) => {
                    (tessera_check::check_address(loc, bytes, at.into(), self.profile), Root::Memory(loc), at)
                }
                PointerTarget::Pool(Some(storage), at) => {
                    (in_storage(&storage, storage.loc, at - storage.at, bytes), Root::Auto(0), at)
                }
                PointerTarget::Pool(None, _) => {
                    let what = "the tile's pointer points to automatic storage that was freed";
                    return Err(Refusal::argument(what));
                }
                PointerTarget::Elsewhere if start.checked_add(bytes).is_none() => {
                    return Err(Refusal::argument(format!("{bytes} bytes at {start:#x} are no memory")));
                }
                PointerTarget::Elsewhere => (None, given.root, start),
            },
        };
        convert::legal(fault)?;
        arg.place = Some(Place { root, start });
        Ok(())
    }

    /// A memory that pointers point into cannot grow beyond its addresses.
    fn beyond_room(&self, loc: Loc, start: u64, bytes: u64) -> Option<Fault> {
        let room = self.engine.room(loc);
        let what =
            || format!("{bytes} bytes at {start:#x} are beyond the {room} bytes that {} has here", loc.memory_name());
        let is_beyond = room > 0 && start.checked_add(bytes).is_none_or(|end| end > room);
        is_beyond.then(|| Fault::new("memory-limit", what()).help("use lower addresses"))
    }

    /// Lends the engine what these tiles have of the caller's own memory.
    pub(crate) fn lend<'a>(&mut self, args: impl IntoIterator<Item = &'a TileArg>) {
        let mut pieces: SmallVec<[(u64, u64); 8]> = args.into_iter().filter_map(lent_of).collect();
        if pieces.is_empty() {
            return;
        }
        pieces.sort_unstable();
        // Tiles that overlap lie in one piece, so that they are seen to.
        pieces.dedup_by(|next, last| {
            let joined = next.0 < last.1;
            last.1 = if joined { last.1.max(next.1) } else { last.1 };
            joined
        });
        self.engine.lend(pieces.into_iter().filter_map(|(first, end)| {
            let pointer = NonNull::new(first as usize as *mut u8)?;
            // SAFETY: the caller vouches for the bytes of a tile that he gives by a pointer (see `calls`), and the engine
            // uses them in this call only.
            Some((first, unsafe { AlignedBytes::lent(pointer, (end - first) as usize) }))
        }));
    }

    /// The first byte of a location's memory; it stays there as long as the machine lives.
    pub(crate) fn base(&mut self, loc: u32) -> Answer<*mut u8> {
        let loc = convert::word(Loc::ALL, loc, "location")?;
        Ok(self.engine.fix(Some(loc))?)
    }

    pub(crate) fn contains(&self, address: u64) -> bool {
        !matches!(self.engine.pointed(address), PointerTarget::Elsewhere)
    }

    pub(crate) fn room(&self, loc: u32) -> u64 {
        Loc::ALL.get(loc as usize).map_or(0, |loc| self.engine.room(*loc))
    }

    /// The first byte of automatic storage.
    pub(crate) fn storage_data(&mut self, handle: u64) -> Answer<*mut u8> {
        let pool = self.engine.fix(None)?;
        let storage = u32::try_from(handle).ok().and_then(|h| self.engine.storage(h));
        let at = storage.ok_or_else(|| no_storage(handle))?.at;
        Ok(pool.wrapping_add(at as usize))
    }
}

/// The first byte and the end of what a tile, whose place was checked, has of the caller's own memory.
pub(crate) fn lent_of(arg: &TileArg) -> Option<(u64, u64)> {
    let Place { start, .. } = arg.place.filter(|place| place.root == Root::Host)?;
    Some((start, start.saturating_add(span(arg))))
}

fn elsewhere(storage: Loc, tile: Loc) -> Fault {
    let what = format!("the storage is in {storage}, and the tile is in {tile}");
    Fault::new("tassign-range", what).help("give both tiles one location")
}

/// What `tassign-range` has against so many bytes at an offset of automatic storage.
fn in_storage(storage: &Storage, loc: Loc, at: u64, bytes: u64) -> Option<Fault> {
    let size = storage.bytes;
    if storage.loc != loc {
        return Some(elsewhere(storage.loc, loc));
    }
    let what = || format!("{bytes} bytes at {at:#x} leave the storage of {size} bytes");
    let help = "bind the tile to the storage of a tile that is as large";
    at.checked_add(bytes).is_none_or(|end| end > size).then(|| Fault::new("tassign-range", what()).help(help))
}
