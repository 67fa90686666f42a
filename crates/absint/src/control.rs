//! Control flow: what each kind of operation is to an analysis, and the join of two arms.

use crate::state::join_config;
use crate::{Analysis, Origin, Outcome, Step, Val, Vals, View};
use tessera_ir::edges::{Control, If, Select};
use tessera_ir::{BlockId, Op, OpId, OpKind};

/// Control flow from operation to operation.
pub trait ControlFlow<'a>: Analysis<'a> {
    fn block(&mut self, block: BlockId) -> Step<'a, Self> {
        let func = self.state().func;
        func.block(block).ops.iter().try_for_each(|id| self.visit(*id, func.op(*id)))
    }

    fn op(&mut self, id: OpId, op: &'a Op) -> Step<'a, Self> {
        match &op.kind {
            OpKind::Pto(opcode, form) => return self.instruction(id, op, *opcode, *form),
            OpKind::Other(_) | OpKind::Call(_) => self.other(id, op),
            OpKind::Constant(number) => {
                for result in &op.results {
                    let n = self.literal(*result, self.state().literal(*result, *number));
                    self.state_mut().set(*result, Val::Scalar(n));
                }
            }
            OpKind::Dense(_) => op.results.iter().for_each(|vector| self.set_by_type(*vector, Origin::Argument)),
            OpKind::Arith(_) | OpKind::Cmp(_) | OpKind::Cast(_) => {
                let n = self.compute(op);
                self.state_mut().set_all(&op.results, [Val::Scalar(n)]);
            }
            OpKind::Float(_) | OpKind::CmpFloat(_) | OpKind::Micro(_) => self.set_unknown(op),
            OpKind::For | OpKind::If | OpKind::While | OpKind::Select => {
                return self.control(id, op, Control::of(self.state().func, op));
            }
            OpKind::Yield | OpKind::Condition | OpKind::Return => {}
        }
        Ok(())
    }

    /// Walks the arm that is taken, or joins both.
    fn choose(&mut self, i: If<'a>) -> Step<'a, Self> {
        if let Some(condition) = self.truth(i.condition) {
            let arm = usize::from(!condition);
            self.block(i.blocks[arm])?;
            let values = self.vals(i.yields[arm]);
            self.state_mut().set_all(i.results, values);
            return Ok(());
        }
        let mut arm = |n: usize| {
            self.apart(|this| {
                this.block(i.blocks[n])?;
                Ok(this.vals(i.yields[n]))
            })
        };
        let (then, otherwise) = (arm(0)?, arm(1)?);
        self.join(then.1, otherwise.1);
        let values: Vals<Self::Int> = then.0.into_iter().zip(otherwise.0).map(|(a, b)| self.either(a, b)).collect();
        self.state_mut().set_all(i.results, values);
        Ok(())
    }

    /// The value that is taken, or either of two.
    fn choose_value(&mut self, s: Select<'a>) {
        let [yes, no] = s.choices.map(|c| self.val(c.arg));
        let chosen = match self.truth(s.condition) {
            Some(true) => yes,
            Some(false) => no,
            None => self.either(yes, no),
        };
        self.state_mut().set_all(s.results, [chosen]);
    }

    /// Whether a condition holds, where that is known.
    fn truth(&self, condition: tessera_ir::Arg) -> Option<bool> {
        self.int(condition).map(|v| v != 0)
    }

    /// Walks something and takes back what it changed.
    #[allow(clippy::type_complexity, reason = "values, and what a branch left")]
    fn apart<V>(
        &mut self,
        walk: impl FnOnce(&mut Self) -> Result<V, Self::Stop>,
    ) -> Result<(V, (Outcome<Self::Int, Self::Root>, Self::Own)), Self::Stop> {
        let (mark, own) = (self.state_mut().branch(), self.own());
        let values = walk(self)?;
        let left = (self.state_mut().undo(&mark), self.own());
        self.set_own(own);
        Ok((values, left))
    }

    /// Makes the state what holds after either branch.
    fn join(
        &mut self,
        (a, left): (Outcome<Self::Int, Self::Root>, Self::Own),
        (b, right): (Outcome<Self::Int, Self::Root>, Self::Own),
    ) {
        let ids = a.changed.keys().chain(b.changed.keys().filter(|id| !a.changed.contains_key(id)));
        for id in ids {
            let now = self.state().objects[*id].clone();
            let mut joined = a.changed.get(id).unwrap_or(&now).clone();
            if !joined.join(b.changed.get(id).unwrap_or(&now)) {
                joined.place = self.anywhere();
            }
            *self.state_mut().change(*id) = joined;
        }
        self.state_mut().config = join_config(&a.config, &b.config);
        self.join_own(left, right);
    }

    /// The value that either of two is.
    fn either(&mut self, a: Val<Self::Int>, b: Val<Self::Int>) -> Val<Self::Int> {
        match (a, b) {
            (a, b) if a == b => a,
            (Val::Tile(x), Val::Tile(y)) => {
                let mut joined = self.state().objects[x].clone();
                joined.join(&self.state().objects[y]);
                joined.place = self.anywhere();
                self.state_mut().objects.push(joined);
                Val::Tile(self.state().objects.len() - 1)
            }
            (Val::Scalar(a), Val::Scalar(b)) => Val::Scalar(self.either_int(&a, &b)),
            (Val::View(x), Val::View(y)) => {
                let (a, b) = (self.state().views[x].clone(), self.state().views[y].clone());
                if a.dims.len() != b.dims.len() || (a.elem, a.tags, a.place.root) != (b.elem, b.tags, b.place.root) {
                    return Val::None;
                }
                let mut all =
                    |a: &[Self::Int], b: &[Self::Int]| a.iter().zip(b).map(|(a, b)| self.either_int(a, b)).collect();
                let (dims, strides) = (all(&a.dims, &b.dims), all(&a.strides, &b.strides));
                let at = self.either_int(&a.place.at, &b.place.at);
                let (place, bits) = (crate::Place { at, ..a.place }, a.bits.filter(|_| a.bits == b.bits));
                self.state_mut().add_view(View { dims, strides, place, bits, ..a })
            }
            _ => Val::None,
        }
    }
}

impl<'a, A: Analysis<'a>> ControlFlow<'a> for A {}
