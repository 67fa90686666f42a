//! The program between text and bytes: values, operations and regions in arenas.
//!
//! A [`Module`] owns its functions; a [`Func`] owns its values, operations and blocks, each in an arena with a typed
//! id. An operation names its operands by role ([`Operand::role`]), so that no code counts positions: the destination
//! of a TINSERT is `op.dst()` whether the text was assembly, SSA (then it is a result) or DPS (then it is an operand).
//! A listing (instructions without a function around them, syntax.md 1) is a module of one function whose
//! [`Func::args`] are the names that the text reads and never defines, then the tiles that it only writes.
//!
//! Spans are kept on operations, operands and definitions; nothing here knows how text is read or printed.

pub mod cores;
pub mod dialect;
pub mod edges;
pub mod fifo;
pub mod float;
pub mod func;
pub mod inline;
pub mod loc;
mod names;
pub mod op;
pub mod scalar;
pub mod types;
mod verify;
pub mod view;

pub use cores::{Core, Runs};
pub use dialect::Dialect;
pub use fifo::{Fifo, FifoId, Fifos};
pub use func::{Block, Def, Func, Value};
pub use loc::{Loc, LocId, Locs, Place};
pub use names::Names;
pub use op::{
    Arg, ArithOp, CastOp, CmpPred, FloatOp, FloatPred, Op, OpAttrs, OpKind, Operand, TextForm, VECSCOPE_LOOP,
};
pub use types::{Field, MemrefType, ScalarType, Sign, StackSlots, Strided, Type, TypeTable, ViewType};
pub use verify::verify;

use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;
use tessera_isa::diag::Span;
use tessera_isa::ops::{Bind, Role};
use tessera_isa::profile::Profile;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);
        impl $name {
            /// The position in its arena.
            pub fn index(self) -> usize { self.0 as usize }
        }
    )*};
}
ids! {
    /// A value of a function.
    ValueId;
    /// An operation of a function.
    OpId;
    /// A block of a function.
    BlockId;
    /// A type of a module.
    TypeId;
    /// A name of a module.
    NameId;
}

/// The lines of a text, for messages that name several places in one sentence.
#[derive(Clone, Debug)]
pub struct Lines(pub Arc<str>);

impl Default for Lines {
    fn default() -> Self {
        Lines("".into())
    }
}

impl Lines {
    /// `line:column` of a place, both from 1.
    pub fn place(&self, span: Span) -> String {
        let before = self.0.get(..span.start as usize).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        format!("{}:{}", before.matches('\n').count() + 1, line.chars().count() + 1)
    }
}

/// A program.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// Whether the text is a listing.
    pub is_listing: bool,
    /// Whether there was a `module { … }` wrapper.
    pub has_wrapper: bool,
    /// The module attribute `pto.target_arch` or `pto.device-spec`, with its place.
    pub target: Option<(Profile, Span)>,
    /// The version of the text: stated, else what it has of one version only. Unstated text has none
    /// (isa/today.md 1).
    pub dialect: Option<Dialect>,
    /// The profile on which its types were compared.
    pub profile: Option<Profile>,
    /// The level whose rules are asked (isa/today.md 9): 1, 2 or 3, of the attribute `pto.level` or the caller.
    pub level: Option<u8>,
    /// Other module attributes, as written, in order.
    pub attrs: Vec<(String, String)>,
    pub funcs: Vec<Func>,
    pub lines: Lines,
    pub types: TypeTable,
    pub names: Names,
    /// The places that front ends wrote behind operations.
    pub locs: Locs,
    /// `loc(…)` of the module.
    pub loc: Option<LocId>,
}

impl Module {
    /// The function with this name.
    pub fn func(&self, name: &str) -> Option<&Func> {
        let id = self.names.find(name)?;
        self.funcs.iter().find(|f| f.name == id)
    }

    /// The entry: the function of that name, else the only candidate; those that run together are one.
    pub fn entry(&self, name: Option<&str>) -> Option<&Func> {
        match name {
            Some(name) => self.func(name.strip_prefix('@').unwrap_or(name)),
            None => {
                let candidates = self.candidates();
                let first = candidates.first().copied()?;
                let group = self.together(first);
                candidates.iter().all(|f| group.iter().any(|g| g.name == f.name)).then_some(first)
            }
        }
    }

    /// The candidates for the kernel (isa/structure.md 3): functions marked `pto.entry`, else functions without
    /// callers that are not private.
    pub fn candidates(&self) -> Vec<&Func> {
        let marked: Vec<&Func> = self.funcs.iter().filter(|f| f.is_entry).collect();
        if !marked.is_empty() {
            return marked;
        }
        let called: FxHashSet<NameId> = self.funcs.iter().flat_map(|f| f.callees()).collect();
        let open = |f: &&Func| !f.is_declaration && !f.is_private();
        let free: Vec<&Func> = self.funcs.iter().filter(open).filter(|f| !called.contains(&f.name)).collect();
        // One function that calls itself is the kernel, and refused as such.
        if free.is_empty() && self.funcs.len() == 1 { self.funcs.iter().filter(open).collect() } else { free }
    }

    /// Whether the assembler finds scratch that an instruction leaves out (isa/today.md 9): at levels 1 and 2, and
    /// without a level where a tile of the function has no address.
    pub fn finds_scratch(&self, func: &Func) -> bool {
        let is_automatic = || {
            let mut found = false;
            func.walk(&mut |_, op, _| {
                let allocates = op.opcode().and_then(|o| o.info().binds) == Some(Bind::New);
                found |= allocates && op.operand(Role::Addr).is_none();
            });
            found
        };
        self.level.map_or_else(is_automatic, |level| level < 3)
    }

    /// The functions that one reaches by calls, itself first.
    pub fn called<'a>(&'a self, entry: &'a Func) -> Vec<&'a Func> {
        let by_name: FxHashMap<NameId, &Func> = self.funcs.iter().map(|f| (f.name, f)).collect();
        let mut all = vec![entry];
        let mut seen: FxHashSet<NameId> = FxHashSet::from_iter([entry.name]);
        let mut at = 0;
        while let Some(func) = all.get(at).copied() {
            at += 1;
            let new = func.callees().into_iter().filter(|name| seen.insert(*name));
            all.extend(new.filter_map(|name| by_name.get(&name).copied()));
        }
        all
    }

    /// The functions that run together with a kernel: itself, and the functions at the other ends of its FIFOs if it
    /// has a kind and they have no callers (isa/structure.md 4).
    pub fn together<'a>(&'a self, entry: &'a Func) -> Vec<&'a Func> {
        let mut all = vec![entry];
        let called: FxHashSet<NameId> = self.funcs.iter().flat_map(|f| f.callees()).collect();
        let mut at = 0;
        while let Some(func) = all.get(at).copied().filter(|_| entry.core.is_some()) {
            at += 1;
            // Both ends name each other only where tiles go both ways.
            let ends: Vec<NameId> = self.called(func).iter().flat_map(|f| f.peers(&self.names)).collect();
            let is_end = |f: &&Func| ends.contains(&f.name) || f.peers(&self.names).contains(&func.name);
            let is_free = |f: &&Func| f.core.is_some() && !called.contains(&f.name) && !f.is_declaration;
            let new = self.funcs.iter().filter(is_free).filter(is_end);
            let new: Vec<&Func> = new.filter(|f| !all.iter().any(|known| known.name == f.name)).collect();
            all.extend(new);
        }
        all
    }

    /// The functions that these reach by calls and `peer_func`, themselves included.
    pub fn reachable(&self, from: &[NameId]) -> FxHashSet<NameId> {
        let by_name: FxHashMap<NameId, &Func> = self.funcs.iter().map(|f| (f.name, f)).collect();
        let mut reached = FxHashSet::default();
        let mut next = from.to_vec();
        while let Some(name) = next.pop() {
            if let (true, Some(func)) = (reached.insert(name), by_name.get(&name)) {
                next.extend(func.callees());
                next.extend(func.peers(&self.names));
            }
        }
        reached
    }
}
