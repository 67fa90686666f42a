//! The log of a vecscope for race detection: its accesses, and the values that make one wait for another
//! (micro/model.md 8).

use super::code::{BlockArgCopy, Code, Int, IntSlot, MicroSlot, Support};
use super::micro::{MicroOp, MicroSupport, MicroVar, Touched};
use super::observe::Space;
use super::step::Exec;
use smallvec::SmallVec;
use tessera_ir::OpId;
use tessera_isa::ops::Pipe;
use tessera_micro::order::{Log, Node, NodeKind, Touch};
use tessera_micro::run::Place;
use tessera_micro::{Class, Sem};

/// Bytes that an operation touches: where, from, to, and whether it writes.
pub type Bytes = Vec<(Space, u64, u64, bool)>;

/// The log of a vecscope, and which node each value comes from.
#[derive(Debug, Default)]
pub struct ScopeLog {
    log: Log,
    /// By slot: the node of its value, one more.
    ints: Vec<u32>,
    micros: Vec<u32>,
    /// The number of loops around the vecscope.
    depth: usize,
}

impl ScopeLog {
    fn int(&self, int: Int) -> u32 {
        match int {
            Int::Slot(slot) => self.ints.get(slot.index()).copied().unwrap_or(0),
            Int::Imm(_) => 0,
        }
    }

    fn var(&self, var: &MicroVar) -> u32 {
        match var {
            MicroVar::Int(int) | MicroVar::Address(_, int) => self.int(*int),
            MicroVar::Micro(slot) => self.micros.get(slot.index()).copied().unwrap_or(0),
            MicroVar::Global(_) => 0,
        }
    }

    fn set(&mut self, slot: IntSlot, node: u32) {
        if let Some(to) = self.ints.get_mut(slot.index()) {
            *to = node;
        }
    }

    fn set_micro(&mut self, slot: MicroSlot, node: u32) {
        if let Some(to) = self.micros.get_mut(slot.index()) {
            *to = node;
        }
    }

    /// The node of a value made of others.
    fn value(&mut self, nodes: &[u32]) -> u32 {
        let mut after: SmallVec<[u32; 4]> = nodes.iter().filter(|n| **n > 0).map(|n| n - 1).collect();
        after.sort_unstable();
        after.dedup();
        match after.as_slice() {
            [] => 0,
            [one] => one + 1,
            _ => {
                let (turns, touches) = (SmallVec::new(), SmallVec::new());
                self.log.push(Node { op: 0, turns, act: NodeKind::Value, after, touches }) + 1
            }
        }
    }
}

impl Exec<'_> {
    /// Starts the log of a vecscope, if an observer looks for races.
    pub fn begin_log(&mut self) {
        if self.observer.as_ref().is_some_and(|observer| observer.looks_at_bytes()) {
            let (ints, micros) = (vec![0; self.ints.len()], vec![0; self.cx.program.micros]);
            self.scope_log = Some(Box::new(ScopeLog { log: Log::default(), ints, micros, depth: self.turns.len() }));
        }
    }

    /// It ends: it is one instruction of pipe V, and its accesses have an order of their own.
    pub fn end_log(&mut self, at: OpId) {
        let Some(scope) = self.scope_log.take() else { return };
        let touches = scope.log.nodes.iter().flat_map(|node| &node.touches);
        let place = Place { space: tessera_micro::Space::Ub, unit: 0 };
        let Some(space) = self.micro_space(place) else { return };
        let bytes = touches.map(|t| (space, t.from as u64, t.to as u64, t.writes)).collect();
        self.observe_bytes(at, Pipe::V, merged(bytes));
        self.observe_scope(at, &scope.log);
    }

    /// A micro instruction has run, and has touched bytes.
    pub fn log_micro(&mut self, op: &MicroOp, touched: Vec<Touched>) {
        let Some(mut scope) = self.scope_log.take() else {
            let Some(pipe) = op.call.pipe().filter(|_| !touched.is_empty()) else { return };
            let bytes = touched.iter().filter_map(|t| Some((self.micro_space(t.place)?, t.from, t.to, t.writes)));
            let bytes = merged(bytes.collect());
            return self.observe_bytes(op.at, pipe, bytes);
        };
        let uses: SmallVec<[u32; 8]> = op.args.iter().map(|var| scope.var(var)).collect();
        let act = match (op.call.row.sem, op.call.row.class) {
            (Sem::Bar, _) => Some(NodeKind::Bar(op.call.word(0).unwrap_or_default().to_string())),
            (_, class @ (Class::Vld | Class::Vst)) => Some(NodeKind::Access(class)),
            _ => None,
        };
        let node = match act {
            None => scope.value(&uses),
            Some(act) => {
                let touches = touched.into_iter().map(|t| Touch {
                    from: t.from as i64,
                    to: t.to as i64,
                    writes: t.writes,
                    data: t.data.map(|bytes| bytes.into_iter().map(u32::from).collect()),
                });
                let after = uses.iter().filter(|n| **n > 0).map(|n| n - 1).collect();
                let turns = self.turns.iter().skip(scope.depth).map(|turn| turn.1).collect();
                scope.log.push(Node { op: op.at.0, turns, act, after, touches: touches.collect() }) + 1
            }
        };
        for var in &op.results {
            match var {
                MicroVar::Int(Int::Slot(slot)) | MicroVar::Address(_, Int::Slot(slot)) => scope.set(*slot, node),
                MicroVar::Micro(slot) => scope.set_micro(*slot, node),
                _ => {}
            }
        }
        self.scope_log = Some(scope);
    }

    /// A scalar in a vecscope was loaded or stored.
    pub fn log_scalar(
        &mut self,
        at: OpId,
        uses: &[Int],
        bytes: (u64, u64),
        stored: Option<&[u8]>,
        to: Option<IntSlot>,
    ) -> bool {
        let Some(mut scope) = self.scope_log.take() else { return false };
        let after = uses.iter().map(|int| scope.int(*int)).filter(|n| *n > 0).map(|n| n - 1).collect();
        let (class, writes) = if stored.is_some() { (Class::St, true) } else { (Class::Ld, false) };
        let touch = Touch {
            from: bytes.0 as i64,
            to: bytes.1 as i64,
            writes,
            data: stored.map(|bytes| bytes.iter().copied().map(u32::from).collect()),
        };
        let turns = self.turns.iter().skip(scope.depth).map(|turn| turn.1).collect();
        let node =
            Node { op: at.0, turns, act: NodeKind::Access(class), after, touches: [touch].into_iter().collect() };
        let node = scope.log.push(node) + 1;
        if let Some(slot) = to {
            scope.set(slot, node);
        }
        self.scope_log = Some(scope);
        true
    }

    /// Logs the nodes that the value of an operation on numbers comes from.
    pub fn log_number(&mut self, code: &Code) {
        let Some(mut scope) = self.scope_log.take() else { return };
        let made = match code {
            Code::Set { dst, .. } => Some((*dst, 0)),
            Code::Arith { dst, a, b, .. } | Code::Cmp { dst, a, b, .. } | Code::CmpFloat { dst, a, b, .. } => {
                let nodes = [scope.int(*a), scope.int(*b)];
                Some((*dst, scope.value(&nodes)))
            }
            Code::Cast { dst, a, .. } | Code::Convert { dst, a, .. } => Some((*dst, scope.int(*a))),
            Code::Float { dst, args, .. } => {
                let nodes = args.as_ref().map(|a| scope.int(a));
                Some((*dst, scope.value(&nodes)))
            }
            Code::Support(_, support) => match &**support {
                Support::Micro(MicroSupport::Move { to, from, by }) => {
                    let nodes = [scope.int(*from), by.map_or(0, |(n, _)| scope.int(n))];
                    Some((*to, scope.value(&nodes)))
                }
                _ => None,
            },
            _ => None,
        };
        if let Some((slot, node)) = made {
            scope.set(slot, node);
        }
        self.scope_log = Some(scope);
    }

    /// The nodes of values that control flow hands on.
    pub fn log_hands(&mut self, hands: &[BlockArgCopy]) {
        let Some(scope) = &mut self.scope_log else { return };
        let nodes: SmallVec<[u32; 8]> = hands
            .iter()
            .map(|hand| match hand {
                BlockArgCopy::Int { from, .. } => scope.int(*from),
                BlockArgCopy::Micro { from, .. } => scope.micros.get(from.index()).copied().unwrap_or(0),
                _ => 0,
            })
            .collect();
        for (hand, node) in hands.iter().zip(nodes) {
            match hand {
                BlockArgCopy::Int { to, .. } => scope.set(*to, node),
                BlockArgCopy::Micro { to, .. } => scope.set_micro(*to, node),
                _ => {}
            }
        }
    }
}

/// The same bytes, sorted, each range once.
fn merged(mut bytes: Bytes) -> Bytes {
    bytes.sort_by_key(|(_, from, to, writes)| (*writes, *from, *to));
    let mut out: Bytes = Vec::new();
    for (space, from, to, writes) in bytes {
        let same = out.iter_mut().rev().take(2).find(|last| last.0 == space && last.3 == writes && last.2 >= from);
        match same {
            Some(last) => last.2 = last.2.max(to),
            None => out.push((space, from, to, writes)),
        }
    }
    out
}
