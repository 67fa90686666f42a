//! Program points: every operation gets a position in program order, and every block knows what it stands in.

use tessera_ir::{BlockId, Def, Func, OpId, ValueId};

/// Positions of the operations of a function and the nesting of its blocks.
///
/// Position 0 is the entry, the last one the exit. An operation without blocks has one position; control flow has one
/// where it begins and one where it ends.
#[derive(Clone, Debug)]
pub struct Points {
    begin: Vec<u32>,
    end: Vec<u32>,
    block_of: Vec<BlockId>,
    owner: Vec<Option<OpId>>,
    depth: Vec<u32>,
    ops: Vec<Option<OpId>>,
    body: BlockId,
}

impl Points {
    /// Numbers a function.
    pub fn new(func: &Func) -> Self {
        let mut points = Points {
            begin: vec![0; func.ops.len()],
            end: vec![0; func.ops.len()],
            block_of: vec![func.body; func.ops.len()],
            owner: vec![None; func.blocks.len()],
            depth: vec![0; func.blocks.len()],
            ops: vec![None],
            body: func.body,
        };
        points.number(func, func.body, 0);
        points.ops.push(None);
        points
    }

    fn number(&mut self, func: &Func, block: BlockId, depth: u32) {
        self.depth[block.index()] = depth;
        for id in &func.block(block).ops {
            self.begin[id.index()] = self.next(*id);
            self.block_of[id.index()] = block;
            let blocks = &func.op(*id).blocks;
            for b in blocks {
                self.owner[b.index()] = Some(*id);
                self.number(func, *b, depth + 1);
            }
            self.end[id.index()] = if blocks.is_empty() { self.begin[id.index()] } else { self.next(*id) };
        }
    }

    fn next(&mut self, id: OpId) -> u32 {
        self.ops.push(Some(id));
        (self.ops.len() - 1) as u32
    }

    /// The start of an operation.
    pub fn begin(&self, op: OpId) -> u32 {
        self.begin[op.index()]
    }

    /// The end of an operation, its blocks included.
    pub fn end(&self, op: OpId) -> u32 {
        self.end[op.index()]
    }

    /// The position after everything.
    pub fn exit(&self) -> u32 {
        (self.ops.len() - 1) as u32
    }

    /// The operation that begins or ends at a position; none at the entry and the exit.
    pub fn op_at(&self, position: u32) -> Option<OpId> {
        self.ops.get(position as usize).copied().flatten()
    }

    /// The block that an operation stands in.
    pub fn block_of(&self, op: OpId) -> BlockId {
        self.block_of[op.index()]
    }

    /// The control flow that a block belongs to; none for the body.
    pub fn owner(&self, block: BlockId) -> Option<OpId> {
        self.owner[block.index()]
    }

    /// The block whose every execution defines the value anew.
    pub fn home(&self, func: &Func, value: ValueId) -> BlockId {
        match func.value(value).def {
            Def::Result(op, _) => self.block_of(op),
            Def::BlockArg(block, _) => block,
            Def::Arg(_) | Def::Input | Def::ListingOut => self.body,
        }
    }

    /// The block around a block, the body's own for the body.
    fn outer(&self, block: BlockId) -> BlockId {
        self.owner(block).map_or(self.body, |op| self.block_of(op))
    }

    /// Whether `inner` is the block `outer` or nested in it.
    pub fn is_inside(&self, mut inner: BlockId, outer: BlockId) -> bool {
        while self.depth[inner.index()] > self.depth[outer.index()] {
            inner = self.outer(inner);
        }
        inner == outer
    }

    /// The innermost block around both.
    pub fn common(&self, mut a: BlockId, mut b: BlockId) -> BlockId {
        while a != b {
            if self.depth[a.index()] >= self.depth[b.index()] {
                a = self.outer(a);
            } else {
                b = self.outer(b);
            }
            if self.depth[a.index()] == 0 && self.depth[b.index()] == 0 {
                return self.body;
            }
        }
        a
    }

    /// The extent of a use in an outer block: the operation of that block that contains the use (if the block does),
    /// and the outermost loop that contains the use but not the block.
    pub fn reach(&self, func: &Func, op: OpId, home: BlockId) -> (Option<OpId>, Option<OpId>) {
        let common = self.common(self.block_of(op), home);
        let mut at = op;
        let mut outermost = None;
        while self.block_of(at) != common {
            let Some(owner) = self.owner(self.block_of(at)) else {
                break;
            };
            if func.op(owner).kind.is_loop() {
                outermost = Some(owner);
            }
            at = owner;
        }
        ((common == home).then_some(at), outermost)
    }
}
