//! The program between text and bytes: values, operations and regions in arenas.
//!
//! A [`Module`] owns its functions; a [`Func`] owns its values, operations and blocks, each in an arena with a typed id.
//! An operation names its operands by role ([`Operand::role`]), so that nobody counts positions: the destination of a
//! TINSERT is `op.dst()` whether the text was assembly, SSA (then it is a result) or DPS (then it is an operand).
//!
//! A listing (instructions without a function around them, syntax.md 1) is a module of one function whose
//! [`Func::args`] are the names that the text reads and never defines, then the tiles that it only writes.
//!
//! Spans are kept on operations, operands and definitions; nothing here knows how text is read or printed.

pub mod edges;
pub mod func;
pub mod inline;
mod names;
pub mod op;
pub mod scalar;
pub mod types;
mod verify;
pub mod view;

pub use func::{Block, Def, Func, Value};
pub use names::Names;
pub use op::{Arg, ArithOp, CastOp, CmpPred, Op, OpAttrs, OpKind, Operand, TextForm};
pub use types::{MemrefType, ScalarType, Sign, Strided, Type, TypeTable, ViewType};
pub use verify::verify;

use tessera_isa::diag::Span;
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

/// A program.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// Is the text a listing?
    pub is_listing: bool,
    /// Was there a `module { … }` wrapper?
    pub has_wrapper: bool,
    /// The module attribute `pto.target_arch` or `pto.device-spec`, with its place.
    pub target: Option<(Profile, Span)>,
    /// Other module attributes, as written, in order.
    pub attrs: Vec<(String, String)>,
    /// The functions, in order.
    pub funcs: Vec<Func>,
    /// Every type, once.
    pub types: TypeTable,
    /// Every name, once.
    pub names: Names,
}

impl Module {
    /// The function with this name.
    pub fn func(&self, name: &str) -> Option<&Func> {
        let id = self.names.find(name)?;
        self.funcs.iter().find(|f| f.name == id)
    }

    /// The entry: the function of that name, else the one marked `pto.entry`, else the only one that nobody calls.
    pub fn entry(&self, name: Option<&str>) -> Option<&Func> {
        if let Some(name) = name {
            return self.func(name.strip_prefix('@').unwrap_or(name));
        }
        if let Some(f) = self.funcs.iter().find(|f| f.is_entry) {
            return Some(f);
        }
        let called: Vec<NameId> = self.funcs.iter().flat_map(|f| f.callees()).collect();
        let mut free = self.funcs.iter().filter(|f| !f.is_declaration && !called.contains(&f.name));
        let first = free.next();
        if free.next().is_some() { None } else { first.or(self.funcs.first().filter(|_| self.funcs.len() == 1)) }
    }
}
