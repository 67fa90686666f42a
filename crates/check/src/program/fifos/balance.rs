//! `fifo-free`: frees and pops in the order of the program.

use super::Check;
use tessera_ir::edges::Control;
use tessera_ir::fifo::{self, FifoId};
use tessera_ir::{BlockId, Fifos};
use tessera_isa::diag::Fault;
use tessera_isa::sem::Fifo as Part;

/// The greatest number of operations that are visited, iterations of loops included.
const BUDGET: u32 = 100_000;

/// A FIFO among all of a kernel.
type Of<'a> = (&'a Fifos, FifoId);

impl Check<'_> {
    /// `fifo-free`: a free has a popped slot, as far as the rounds of loops are known.
    pub(super) fn balance(&mut self, fifos: &Fifos, fifo: FifoId) {
        self.count(self.func.body, (fifos, fifo), &mut Some(0), &mut { BUDGET });
    }

    fn count(&mut self, block: BlockId, of: Of<'_>, count: &mut Option<i64>, budget: &mut u32) {
        let (func, Some(known)) = (self.func, of.0.list.get(of.1)) else { return };
        for id in &func.block(block).ops {
            *budget = budget.saturating_sub(1);
            let op = func.op(*id);
            let part = fifo::part(op).filter(|_| of.0.of(*id) == Some(of.1));
            if matches!(part, Some(Part::Pop(_))) {
                *count = count.map(|n| n + 1);
            } else if matches!(part, Some(Part::Free(_))) {
                if *count == Some(0) {
                    let what =
                        format!("{} has no popped tile whose slot could be freed here", known.describe(self.module));
                    let fault = Fault::new("fifo-free", what).help("free once for each pop, after it");
                    self.report.fault(op, "", fault);
                    *count = None;
                }
                *count = count.map(|n| n - 1);
            }
            let Some(first) = op.blocks.first().copied() else { continue };
            match Control::of(func, op) {
                Ok(Control::If(_)) if op.section_core().is_some() => {
                    if op.section_core() == Some(known.dir.consumer()) {
                        self.count(first, of, count, budget);
                    }
                }
                Ok(Control::If(_)) => {
                    let mut ways: Vec<Option<i64>> = vec![*count; op.blocks.len()];
                    for (block, way) in op.blocks.iter().zip(&mut ways) {
                        self.count(*block, of, way, budget);
                    }
                    *count = ways.iter().skip(1).all(|way| *way == ways[0]).then(|| ways[0]).flatten();
                }
                Ok(Control::For(f)) => {
                    let bounds = [f.lower, f.upper, f.step].map(|arg| self.constants.get(arg));
                    let rounds = match bounds {
                        [Some(lower), Some(upper), Some(step)] if step > 0 => {
                            Some((i128::from(upper) - i128::from(lower)).max(0) as u128)
                                .map(|n| n.div_ceil(step as u128))
                        }
                        _ => None,
                    };
                    self.rounds(first, rounds, of, count, budget);
                }
                _ => self.rounds(first, None, of, count, budget),
            }
        }
    }

    fn rounds(&mut self, body: BlockId, rounds: Option<u128>, of: Of<'_>, count: &mut Option<i64>, budget: &mut u32) {
        let Some(rounds) = rounds else {
            // Nothing is known inside, nor behind it unless a round changes nothing.
            let (before, mut inside) = (*count, Some(1 << 32));
            self.count(body, of, &mut inside, budget);
            *count = if inside == Some(1 << 32) { before } else { None };
            return;
        };
        for _ in 0..rounds {
            let before = *count;
            self.count(body, of, count, budget);
            if *count == before || *budget == 0 {
                *count = if *count == before { before } else { None };
                return;
            }
        }
    }
}
