//! The program as a graph of steps, so that the checker sees every path with its loops and branches.

use tessera_ir::{BlockId, Func, OpId, OpKind};

/// What happens at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Entry,
    Op(OpId),
    /// Control flow is reached; loops take their initial values.
    Enter(OpId),
    /// A loop decides about another iteration.
    Head(OpId),
    /// Control flow is left; its results are there.
    Leave(OpId),
    Exit,
}

/// Steps and the edges between them.
pub struct Graph {
    pub steps: Vec<Step>,
    /// By step: what may come next.
    pub next: Vec<Vec<usize>>,
    /// By step: what may have come before.
    pub before: Vec<Vec<usize>>,
}

impl Graph {
    /// The graph of a function.
    pub fn new(func: &Func) -> Self {
        let mut graph = Graph { steps: Vec::new(), next: Vec::new(), before: Vec::new() };
        let entry = graph.add(Step::Entry, &[]);
        let last = graph.block(func, func.body, entry);
        graph.add(Step::Exit, &[last]);
        graph
    }

    fn add(&mut self, step: Step, before: &[usize]) -> usize {
        let node = self.steps.len();
        self.steps.push(step);
        self.next.push(Vec::new());
        self.before.push(Vec::new());
        before.iter().for_each(|b| self.edge(*b, node));
        node
    }

    fn edge(&mut self, from: usize, to: usize) {
        self.next[from].push(to);
        self.before[to].push(from);
    }

    fn block(&mut self, func: &Func, block: BlockId, mut at: usize) -> usize {
        for id in &func.block(block).ops {
            let op = func.op(*id);
            at = match op.kind {
                OpKind::For => {
                    let head = self.head(*id, at);
                    let last = self.block(func, op.blocks[0], head);
                    self.edge(last, head);
                    self.add(Step::Leave(*id), &[head])
                }
                OpKind::While => {
                    let head = self.head(*id, at);
                    let decided = self.block(func, op.blocks[0], head);
                    let last = self.block(func, op.blocks[1], decided);
                    self.edge(last, head);
                    self.add(Step::Leave(*id), &[decided])
                }
                OpKind::If => {
                    let enter = self.add(Step::Enter(*id), &[at]);
                    let ends: Vec<usize> = op.blocks.iter().map(|b| self.block(func, *b, enter)).collect();
                    self.add(Step::Leave(*id), &ends)
                }
                _ => self.add(Step::Op(*id), &[at]),
            };
        }
        at
    }

    fn head(&mut self, id: OpId, at: usize) -> usize {
        let enter = self.add(Step::Enter(id), &[at]);
        self.add(Step::Head(id), &[enter])
    }
}
