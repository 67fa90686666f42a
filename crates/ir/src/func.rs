//! Functions: arenas of values, operations and blocks.

use crate::{BlockId, Core, LocId, NameId, Names, Op, OpId, OpKind, TypeId, ValueId};
use smallvec::SmallVec;
use tessera_isa::diag::Span;
use tessera_isa::ops::AttrName;

/// The definition of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Def {
    /// The n-th argument of the function.
    Arg(u32),
    /// The n-th result of an operation.
    Result(OpId, u32),
    /// The n-th argument of a block (induction variable, carried value).
    BlockArg(BlockId, u32),
    /// A name that a listing reads and never defines: an input.
    Input,
    /// A name that a listing only writes, in `outs(…)`: a tile allocated before its first use.
    ListingOut,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// Its name, without `%`.
    pub name: NameId,
    pub ty: TypeId,
    pub def: Def,
    /// The place of its definition in the text (first use, for inputs of a listing).
    pub span: Span,
    /// The place of its type in the text.
    pub type_span: Span,
}

/// A block: a list of operations with arguments.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    pub args: SmallVec<[ValueId; 2]>,
    pub ops: Vec<OpId>,
}

/// A function, or the body of a listing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Func {
    /// Its name, without `@`; `listing` for a listing.
    pub name: NameId,
    /// Marked `pto.entry`.
    pub is_entry: bool,
    /// The kind of core that runs it (`pto.kernel_kind`), where it is marked.
    pub core: Option<Core>,
    /// A declaration: there is no body, and nothing runs.
    pub is_declaration: bool,
    /// Other attributes, as written. Attributes of the n-th argument have the key `%n`, those of the n-th result
    /// `->n`.
    pub attrs: Vec<(String, String)>,
    /// The arguments. For a listing: the inputs, then the tiles that it only writes.
    pub args: Vec<ValueId>,
    pub results: Vec<TypeId>,
    /// The outputs of a listing: results that nothing consumes, and `outs` that it allocates. Empty for a function.
    pub outputs: Vec<ValueId>,
    /// The block of the body.
    pub body: BlockId,
    pub values: Vec<Value>,
    pub ops: Vec<Op>,
    pub blocks: Vec<Block>,
    /// By operation: the function that it was inlined from. Empty where nothing was.
    pub homes: Vec<NameId>,
    /// The place of the function's head.
    pub span: Span,
    /// `loc(…)` of the function.
    pub loc: Option<LocId>,
    /// `loc(…)` of arguments of the function and of its blocks, in the order of the values.
    pub arg_locs: Vec<(ValueId, LocId)>,
}

impl Func {
    /// An empty function.
    pub fn new(name: NameId, span: Span) -> Self {
        Func { name, span, blocks: vec![Block::default()], ..Func::default() }
    }

    /// Reserves space for `operations` operations, with a result each.
    pub fn reserve(&mut self, operations: usize) {
        self.values.reserve(operations);
        self.ops.reserve(operations);
        self.block_mut(self.body).ops.reserve(operations);
    }

    /// A new value.
    pub fn add_value(&mut self, value: Value) -> ValueId {
        self.values.push(value);
        ValueId((self.values.len() - 1) as u32)
    }

    /// A new operation, in no block yet.
    pub fn add_op(&mut self, op: Op) -> OpId {
        self.ops.push(op);
        OpId((self.ops.len() - 1) as u32)
    }

    /// A new operation at the end of a block.
    pub fn push_op(&mut self, block: BlockId, op: Op) -> OpId {
        let id = self.add_op(op);
        self.block_mut(block).ops.push(id);
        id
    }

    /// The location of an argument.
    pub fn arg_loc(&self, arg: ValueId) -> Option<LocId> {
        let at = self.arg_locs.binary_search_by_key(&arg, |(value, _)| *value).ok()?;
        self.arg_locs.get(at).map(|(_, loc)| *loc)
    }

    /// The function whose text an operation stands in.
    pub fn home(&self, op: OpId) -> NameId {
        self.homes.get(op.index()).copied().unwrap_or(self.name)
    }

    /// A new empty block.
    pub fn add_block(&mut self) -> BlockId {
        self.blocks.push(Block::default());
        BlockId((self.blocks.len() - 1) as u32)
    }

    /// The value of an id of this function.
    pub fn value(&self, id: ValueId) -> &Value {
        &self.values[id.index()]
    }

    /// The operation of an id of this function.
    pub fn op(&self, id: OpId) -> &Op {
        &self.ops[id.index()]
    }

    /// The block of an id of this function.
    pub fn block(&self, id: BlockId) -> &Block {
        &self.blocks[id.index()]
    }

    /// The value of an id of this function, to be changed.
    pub fn value_mut(&mut self, id: ValueId) -> &mut Value {
        &mut self.values[id.index()]
    }

    /// The operation of an id of this function, to be changed.
    pub fn op_mut(&mut self, id: OpId) -> &mut Op {
        &mut self.ops[id.index()]
    }

    /// The block of an id of this function, to be changed.
    pub fn block_mut(&mut self, id: BlockId) -> &mut Block {
        &mut self.blocks[id.index()]
    }

    /// The value with this name that is defined last in the text, as `--out NAME` means it.
    pub fn find(&self, name: NameId) -> Option<ValueId> {
        self.values.iter().rposition(|v| v.name == name).map(|i| ValueId(i as u32))
    }

    /// Calls `f` for every operation, outer before inner, in text order, with its depth.
    pub fn walk(&self, f: &mut impl FnMut(OpId, &Op, usize)) {
        self.walk_block(self.body, 0, f);
    }

    fn walk_block(&self, block: BlockId, depth: usize, f: &mut impl FnMut(OpId, &Op, usize)) {
        for id in &self.block(block).ops {
            let op = self.op(*id);
            f(*id, op, depth);
            for b in &op.blocks {
                self.walk_block(*b, depth + 1, f);
            }
        }
    }

    /// Whether it is declared `private`. Such a function is never the kernel.
    pub fn is_private(&self) -> bool {
        self.attrs.iter().any(|(key, value)| key == "sym_visibility" && value == "\"private\"")
    }

    /// The functions at the other ends of its FIFOs, `peer_func = @f` (isa/structure.md 5).
    pub fn peers(&self, names: &Names) -> Vec<NameId> {
        self.ops.iter().filter_map(|op| names.find(op.name_attr(AttrName::PeerFunc)?)).collect()
    }

    /// The functions that this one calls.
    pub fn callees(&self) -> Vec<NameId> {
        let called = |op: &Op| if let OpKind::Call(name) = op.kind { Some(name) } else { None };
        self.ops.iter().filter_map(called).collect()
    }
}
