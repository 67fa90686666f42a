//! The order of calls, judged while a C++ program runs (sync.md 4): by the detector that judges runs of text.
//!
//! A thread is one core, or several one after the other, by the block and the vector core that its context names. The kind of
//! core is known where it pushes, pops or calls another core. A thread that never does is a core by itself. A **kernel** ends
//! with its thread, or where the thread's core begins anew; with the last core of a block the findings of the block are told.

#![allow(clippy::missing_safety_doc, reason = "the module comment of `calls` says it for all")]

mod findings;

use crate::abi::{TesseraFifo, TesseraTile};
use crate::convert;
use crate::machine::{TesseraMachine, guarded};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::cell::RefCell;
use std::ffi::{CStr, c_char};
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Once};
use tessera_ir::OpId;
use tessera_isa::inst::{Inst, TileArg};
use tessera_isa::ops::Opcode;
use tessera_isa::profile::Profile;
use tessera_isa::sem::{Dir, Fifo};
use tessera_race::Core;
use tessera_race::detector::{CallDetector, CallFifo, CallSite, Called};

/// 0 off, 1 warnings, 2 errors.
static MODE: AtomicU8 = AtomicU8::new(0);
static ENVIRONMENT: Once = Once::new();
/// Numbers of instructions.
static VARIANTS: AtomicU64 = AtomicU64::new(1);
/// The judges of blocks on several cores.
static BLOCKS: Mutex<Vec<(u32, Shared)>> = Mutex::new(Vec::new());

/// Calls of a thread whose kind of core is not known, of which more are not kept.
const MOST_EARLY: usize = 4096;

/// `pipe_t` of C++, in its order.
const PIPES: [&str; 8] = ["PIPE_S", "PIPE_V", "PIPE_MTE1", "PIPE_MTE2", "PIPE_MTE3", "PIPE_M", "PIPE_ALL", "PIPE_FIX"];

type Shared = Arc<Mutex<Block>>;

/// The cores of a block, with the judge of all of them.
struct Block {
    judge: CallDetector,
    /// By process: whether a thread has been it, and whether it has ended.
    began: [bool; 3],
    ended: [bool; 3],
}

/// One core of a thread.
struct Process {
    block: u32,
    subblock: u32,
    core: Option<Core>,
    early: Vec<(u32, Call)>,
    judge: Option<(Shared, usize)>,
    /// By the place and what is called there.
    ops: FxHashMap<(u32, Opcode, [u32; 3]), OpId>,
}

/// A call.
#[derive(Clone)]
enum Call {
    Issued {
        variant: Option<u64>,
        address: Option<u64>,
        inst: Arc<Inst>,
    },
    Ordered {
        op: Opcode,
        words: [u32; 3],
        id: i64,
    },
    Moved {
        part: Fifo,
        of: TesseraFifo,
        tile: Option<Box<TileArg>>,
    },
    /// The event of this number: 0 the last instruction records it, 1 the next one waits for it, 2 every later one does.
    Event {
        number: u64,
        what: u32,
    },
}

/// A thread's calls.
#[derive(Default)]
struct Thread {
    profile: Option<Profile>,
    sites: Vec<CallSite>,
    places: FxHashMap<(usize, usize, u32), u32>,
    /// The place of the next call: its site, block and vector core.
    site: u32,
    block: u32,
    subblock: u32,
    current: usize,
    processes: Vec<Process>,
}

thread_local! {
    static THREAD: RefCell<Thread> = RefCell::default();
}

/// Whether the order of calls is judged.
#[inline]
pub(crate) fn is_on() -> bool {
    MODE.load(Ordering::Relaxed) != 0
}

/// A number for an instruction that comes again.
pub(crate) fn variant() -> u64 {
    VARIANTS.fetch_add(1, Ordering::Relaxed)
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Calls `f` with what this thread has called so far; nothing happens while the thread ends, or in a panic.
fn with(f: impl FnOnce(&mut Thread)) {
    let run = || {
        let _ = THREAD.try_with(|thread| thread.try_borrow_mut().map(|mut thread| f(&mut thread)));
        Ok(())
    };
    if guarded(run).is_err() {
        MODE.store(0, Ordering::Relaxed);
    }
}

/// An instruction was issued on a machine of a profile; its view, if it has one, starts at an address.
#[cold]
pub(crate) fn issued(profile: Profile, variant: Option<u64>, address: Option<u64>, inst: Arc<Inst>) {
    with(|thread| {
        thread.profile = Some(profile);
        thread.tell(None, Call::Issued { variant, address, inst });
    });
}

impl Thread {
    /// The process of the place that was said last.
    fn process(&mut self, core: Option<Core>) -> usize {
        let at = (self.block, self.subblock);
        let is_it = |p: &Process| (p.block, p.subblock) == at && (core.is_none() || p.core.is_none() || p.core == core);
        if !self.processes.get(self.current).is_some_and(is_it) {
            self.current = self.processes.iter().rposition(is_it).unwrap_or_else(|| {
                let (early, ops) = Default::default();
                let new = Process { block: at.0, subblock: at.1, core: None, early, judge: None, ops };
                self.processes.push(new);
                self.processes.len() - 1
            });
        }
        self.current
    }

    /// A call at the place that was said last, by a kind of core where that is known.
    fn tell(&mut self, core: Option<Core>, call: Call) {
        let current = self.process(core);
        let (site, profile) = (self.site, self.profile);
        let Some(process) = self.processes.get_mut(current) else { return };
        if process.judge.is_some() {
            return process.give(&self.sites, site, call);
        }
        process.core = process.core.or(core);
        process.early.push((site, call));
        let is_full = process.early.len() >= MOST_EARLY;
        if (process.core.is_some() && profile.is_some()) || is_full {
            process.begin(profile.unwrap_or(Profile::Cpu), &self.sites);
        }
    }

    /// The kernel that this thread runs ends.
    fn end(&mut self) {
        for mut process in std::mem::take(&mut self.processes) {
            if !process.early.is_empty() {
                process.begin(self.profile.unwrap_or(Profile::Cpu), &self.sites);
            }
            let Some((block, n)) = process.judge.take() else { continue };
            let mut all = lock(&BLOCKS);
            let is_done = {
                let mut block = lock(&block);
                block.ended[n] = true;
                // A core whose thread has not come yet may still do so.
                let is_whole = block.began[0] && block.began[1] && block.began == block.ended;
                is_whole && block.judge.is_quiet()
            };
            let is_shared = all.iter().any(|(_, other)| Arc::ptr_eq(other, &block));
            if is_done || !is_shared {
                all.retain(|(_, other)| !Arc::ptr_eq(other, &block));
                findings::tell(lock(&block).judge.findings());
            }
        }
        self.current = 0;
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        self.end();
    }
}

impl Process {
    /// The kind of core is known, or never will be: what was kept is told.
    fn begin(&mut self, profile: Profile, sites: &[CallSite]) {
        let core = *self.core.get_or_insert(Core::Unsplit);
        self.judge = Some(match core {
            Core::Unsplit => {
                let (began, ended) = ([true, false, false], [false; 3]);
                let judge = CallDetector::new(profile, &[Core::Unsplit]);
                (Arc::new(Mutex::new(Block { judge, began, ended })), 0)
            }
            Core::Cube => (block(self.block, 0, profile), 0),
            Core::Vector(n) => (block(self.block, 1 + usize::from(n), profile), 1 + usize::from(n)),
        });
        for (site, call) in std::mem::take(&mut self.early) {
            self.give(sites, site, call);
        }
    }

    fn give(&mut self, sites: &[CallSite], site: u32, call: Call) {
        let Some((block, n)) = &self.judge else { return };
        let judge = &mut lock(block).judge;
        let (op, words) = match &call {
            Call::Issued { inst, .. } => (inst.op, [u32::MAX; 3]),
            Call::Ordered { op, words, .. } => (*op, *words),
            Call::Moved { part: Fifo::Push(_), .. } => (Opcode::Tpush, [u32::MAX; 3]),
            Call::Moved { part: Fifo::Pop(_), .. } => (Opcode::Tpop, [u32::MAX; 3]),
            Call::Moved { .. } => (Opcode::Tfree, [u32::MAX; 3]),
            Call::Event { .. } => (Opcode::Tsync, [u32::MAX; 3]),
        };
        let at = *self.ops.entry((site, op, words)).or_insert_with(|| {
            let pipes: SmallVec<[&'static str; 2]> =
                words.iter().take(2).filter_map(|n| PIPES.get(*n as usize).copied()).collect();
            let called = Called { op, words: pipes, mode: u8::try_from(words[2]).ok() };
            let unknown = CallSite { name: op.title().to_string(), file: String::new(), line: 0 };
            let site = sites.get((site as usize).wrapping_sub(1)).unwrap_or(&unknown);
            judge.op(site, &called)
        });
        match call {
            Call::Issued { variant, address, inst } => judge.issued(*n, at, variant, address, &inst),
            Call::Ordered { id, .. } => judge.ordered(*n, at, Some(id)),
            Call::Event { number, what: 0 } => judge.records(*n, at, number),
            Call::Event { number, what } => judge.awaits(*n, at, number, what == 1),
            Call::Moved { part, of, tile } => {
                let in_global = !of.global.is_null();
                let fifo = CallFifo {
                    dir: if of.to_vector != 0 { Dir::C2v } else { Dir::V2c },
                    split: of.split.min(2) as u8,
                    both: of.both != 0,
                    in_global,
                    slots: of.slots.into(),
                    slot_size: of.slot_size,
                    base: of.base,
                };
                judge.moved(*n, at, part, (of.key, fifo), (tile.as_deref(), in_global.then_some(of.global as u64)));
            }
        }
    }
}

/// The block of a process that begins: one in which no process has this number yet.
fn block(number: u32, process: usize, profile: Profile) -> Shared {
    let mut all = lock(&BLOCKS);
    if let Some(at) = all.iter().position(|(n, _)| *n == number) {
        let shared = all[at].1.clone();
        let mut block = lock(&shared);
        if !block.began[process] {
            block.began[process] = true;
            drop(block);
            return shared;
        }
        // Another launch of the same block.
        findings::tell(block.judge.findings());
        drop(block);
        all.remove(at);
    }
    let judge = CallDetector::new(profile, &[Core::Cube, Core::Vector(0), Core::Vector(1)]);
    let mut began = [false; 3];
    began[process] = true;
    let shared = Arc::new(Mutex::new(Block { judge, began, ended: [false; 3] }));
    all.push((number, shared.clone()));
    shared
}

/// The kind of core that a caller names: 1 the cube core, 2 a vector core, 3 both in one, else unknown.
fn core(kind: u32, subblock: u32) -> Option<Core> {
    match kind {
        1 => Some(Core::Cube),
        2 => Some(Core::Vector((subblock & 1) as u8)),
        3 => Some(Core::Unsplit),
        _ => None,
    }
}

/// Whether the order of calls is judged: 0 no, 1 with warnings, 2 with errors. The byte changes with `tessera_races_set`; at first
/// it is what `TESSERA_RACES` (`off`, `warn`, `error`) says in the environment.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_races_mode() -> *const u8 {
    ENVIRONMENT.call_once(|| {
        let mode = match std::env::var("TESSERA_RACES").as_deref() {
            Ok("error") => 2,
            Ok("warn") => 1,
            _ => 0,
        };
        MODE.store(mode, Ordering::Relaxed);
    });
    MODE.as_ptr()
}

/// Says how the order of calls is judged from here on: 0 not at all, 1 with warnings, 2 with errors. Returns what was before.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_races_set(mode: u32) -> u32 {
    tessera_races_mode();
    MODE.swap(mode.min(2) as u8, Ordering::Relaxed).into()
}

/// The place of this thread's next call: the intrinsic, the file and the line, the block and the vector core of the thread.
///
/// # Safety
/// The strings are null or end in NUL, and live as long as the process.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_races_at(
    name: *const c_char,
    file: *const c_char,
    line: u32,
    block: u32,
    subblock: u32,
) {
    with(|thread| {
        (thread.block, thread.subblock) = (block, subblock);
        let next = thread.sites.len() as u32 + 1;
        thread.site = *thread.places.entry((name as usize, file as usize, line)).or_insert(next);
        if thread.site == next {
            let text = |pointer: *const c_char| match pointer.is_null() {
                true => String::new(),
                // SAFETY: not null; the caller vouches for the NUL.
                false => unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned(),
            };
            thread.sites.push(CallSite { name: text(name), file: text(file), line });
        }
    });
}

/// An order operation of this thread: `first` and `second` are the numbers of its pipes in C++, `mode` is that of a token; what it
/// does not have is `UINT32_MAX`. `kind` is the kind of core: 1 the cube core, 2 a vector core, 3 both in one, 0 unknown.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_races_order(op: u32, kind: u32, first: u32, second: u32, mode: u32, id: i64) {
    with(|thread| {
        if let Ok(op) = convert::word(Opcode::WITH_CPP, op, "instruction") {
            let core = core(kind, thread.subblock);
            thread.tell(core, Call::Ordered { op, words: [first, second, mode], id });
        }
    });
}

/// This thread pushes into a FIFO (`part` 0), pops from it (1), frees a slot (2) or takes one to fill it (3). Without a tile other
/// instructions fill or read the slot where it lies.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_races_move(
    machine: *mut TesseraMachine,
    fifo: *const TesseraFifo,
    part: u32,
    tile: *const TesseraTile,
) {
    // SAFETY: null, or valid for the call (module comment of `calls`).
    let (machine, fifo, tile) = unsafe { (machine.as_ref(), fifo.as_ref(), tile.as_ref()) };
    let Some((machine, fifo)) = machine.zip(fifo) else { return };
    with(|thread| {
        thread.profile = Some(machine.profile);
        let (to_vector, pushes) = (fifo.to_vector != 0, matches!(part, 0 | 3));
        let core = core(if to_vector == pushes { 1 } else { 2 }, thread.subblock);
        let part = [Fifo::Push(None), Fifo::Pop(None), Fifo::Free(None), Fifo::Alloc(None)].get(part as usize).copied();
        let tile = tile.and_then(|tile| machine.moved_tile(tile).ok()).map(Box::new);
        if let Some(part) = part {
            thread.tell(core, Call::Moved { part, of: *fifo, tile });
        }
    });
}

/// An event of this thread, by a number that tells it from others: it is recorded behind the instruction before (`what` 0), the
/// next instruction waits for it (1), or everything that comes later (2).
#[unsafe(no_mangle)]
pub extern "C" fn tessera_races_event(number: u64, what: u32) {
    with(|thread| thread.tell(None, Call::Event { number, what }));
}

/// The kernel that this thread runs ends here.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_races_end() {
    with(Thread::end);
}

/// The program ends: everything that was judged is told.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_races_finish() {
    with(|thread| {
        thread.end();
        let all = std::mem::take(&mut *lock(&BLOCKS));
        all.iter().for_each(|(_, block)| findings::tell(lock(block).judge.findings()));
    });
}
