//! A kernel's arguments: what happens to the memory behind them, and which of them must be bound.

use super::bind::{Need, scalar_name};
use super::{Input, Kernel};
use crate::{Error, Missing, Result};
use tessera_ir::edges::Control;
use tessera_ir::{Def, Func, OpKind, ValueId};
use tessera_isa::ops::{Effect, Role};
use tessera_isa::sem::{Comm, Sem};

/// An argument of a function, or an input of a listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Argument {
    /// The value.
    pub value: ValueId,
    /// Whether its memory is read.
    pub is_read: bool,
    /// Whether its memory is written.
    pub is_written: bool,
    /// Whether it may be left unbound.
    pub is_optional: bool,
}

impl Kernel {
    /// The arguments, in order, with what happens to the memory behind them.
    pub fn arguments(&self) -> Vec<Argument> {
        let func = self.func();
        let unused = |value: &ValueId| {
            let is_optional = func.value(*value).def == Def::ListingOut;
            Argument { value: *value, is_read: false, is_written: false, is_optional }
        };
        let mut all: Vec<Argument> = func.args.iter().map(unused).collect();
        let mut origins = Origins::new(func);
        // A block may hand a pointer back to where it was followed before; what is known only grows.
        while origins.follow(func) && func.blocks.len() > 1 {}
        for (pointer, is_written) in accesses(func) {
            for n in &origins.0[pointer.index()] {
                all[*n].is_written |= is_written;
                all[*n].is_read |= !is_written;
            }
        }
        all
    }

    /// Whether every required argument is bound.
    pub fn unbound(&self, inputs: &[(ValueId, Input)]) -> Result<()> {
        self.unbound_or_open(inputs, &[])
    }

    /// The same; the extents of the arguments in `open` are missing besides. One error tells of all.
    pub fn unbound_or_open(&self, inputs: &[(ValueId, Input)], open: &[ValueId]) -> Result<()> {
        let arguments = self.arguments();
        // A context is filled (isa/comm.md 2).
        let contexts = self.contexts();
        let open_to_fill = |a: &&Argument| self.must_bind(a) && !contexts.contains(&a.value);
        let unbound = arguments.iter().filter(open_to_fill).filter(|a| !inputs.iter().any(|i| is_bound(i, a.value)));
        let mut all: Vec<(ValueId, String, Missing)> = Vec::new();
        for argument in unbound.filter(|a| !open.contains(&a.value)) {
            let name = self.name(argument.value).to_string();
            let (what, missing) = match self.need(argument.value) {
                Need::Scalar(ty) => (format!("the scalar %{name} of type {}", scalar_name(ty)), Missing::Value(name)),
                Need::Tile(tile) => (format!("the tile %{name} ({tile})"), Missing::Array(name)),
                _ => (format!("the buffer of %{name}"), Missing::Array(name)),
            };
            all.push((argument.value, what, missing));
        }
        // An extent that depends on a scalar is requested after the scalar is bound.
        if all.is_empty() {
            let name = |v: &ValueId| self.name(*v).to_string();
            all.extend(open.iter().map(|v| (*v, format!("the extents of %{}", name(v)), Missing::Extents(name(v)))));
        }
        let Some(((first, what, missing), rest)) = all.split_first() else { return Ok(()) };
        let place = |value: &ValueId| self.func().value(*value).span;
        if rest.is_empty() {
            let verb = if open.contains(first) { "are not known before the run" } else { "is not bound to anything" };
            let error = Error::request(format!("{what} {verb}")).at(place(first), "needs a value");
            return Err(error.missing_is(missing.clone()));
        }
        let list: Vec<&str> = all.iter().map(|(_, what, _)| what.as_str()).collect();
        let error = Error::request(format!("{} arguments are not bound: {}", all.len(), list.join(", ")));
        let error = error.at(place(first), "needs a value");
        let error = rest.iter().fold(error, |error, (value, ..)| error.and_at(place(value), "and this"));
        Err(error.all_missing(all.into_iter().map(|(_, _, missing)| missing).collect()))
    }

    /// Whether the kernel cannot run without this argument.
    fn must_bind(&self, a: &Argument) -> bool {
        match self.need(a.value) {
            Need::Nothing => false,
            Need::Scalar(_) => true,
            // A tile of a kernel starts undefined, as long as its extents are known (isa/structure.md 3).
            Need::Tile(tile) if matches!(self.func().value(a.value).def, Def::Arg(_)) => {
                tile.v_row.known().is_none() || tile.v_col.known().is_none()
            }
            Need::Tile(_) | Need::Conv(_) => !a.is_optional,
            // A buffer that is only written grows as it needs to, as long as its extents are known.
            Need::Buffer(_, dims) => a.is_read && !a.is_written || dims.is_some_and(|d| d.iter().any(Option::is_none)),
        }
    }
}

/// The pointers and views that operations go through, and whether they write there.
fn accesses(func: &Func) -> Vec<(ValueId, bool)> {
    let mut all = Vec::new();
    func.walk(&mut |_, op, _| {
        // A transfer reads behind its first pointer and writes behind its second.
        if let OpKind::Micro(call) = &op.kind {
            let pointers = op.operands.iter().take(2).enumerate();
            all.extend(pointers.filter_map(|(n, o)| Some((o.arg.value()?, call.global(n)?))));
        }
        let global = op.operand(Role::Global).and_then(|o| o.arg.value());
        let is_written = match op.kind {
            OpKind::Pto(opcode, form) => match opcode.info().sem {
                Sem::Loads => Some(false),
                Sem::Stores => Some(true),
                Sem::Comm(comm) => {
                    all.extend(shared(op, comm));
                    None
                }
                sem => sem.computes().then(|| opcode.effect(form, Role::Global) != Effect::Read),
            },
            _ => None,
        };
        all.extend(global.zip(is_written));
    });
    all
}

/// The views of an operation between ranks, and whether it writes them. A signal starts at 0, so that it need not be
/// given.
fn shared(op: &tessera_ir::Op, comm: Comm) -> impl Iterator<Item = (ValueId, bool)> {
    let is_written = move |role: Role| match role {
        Role::DstView | Role::Signal => true,
        Role::Member => matches!(comm, Comm::Broadcast | Comm::Scatter),
        _ => false,
    };
    let views = op.operands.iter().filter(|o| o.role.is_shared() && o.role != Role::Workspace);
    views.filter_map(move |o| Some((o.arg.value()?, is_written(o.role))))
}

/// By value: the arguments, by position, whose memory it may point into.
struct Origins(Vec<Vec<usize>>);

impl Origins {
    fn new(func: &Func) -> Self {
        let mut origins = Origins(vec![Vec::new(); func.values.len()]);
        for (n, value) in func.args.iter().enumerate() {
            origins.0[value.index()].push(n);
        }
        origins
    }

    /// Follows every operation once; returns whether anything new was found.
    fn follow(&mut self, func: &Func) -> bool {
        let mut grown = false;
        func.walk(&mut |_, op, _| {
            if let (true, Ok(control)) = (op.kind.is_flow(), Control::of(func, op)) {
                for (to, from) in control.edges().iter().flat_map(|edge| edge.pairs()) {
                    grown |= from.value().is_some_and(|from| self.join(to, from));
                }
            } else if let Some(pointer) = op.operand(Role::Global).and_then(|o| o.arg.value()) {
                // Views, windows and moved pointers; a loaded scalar points nowhere.
                op.results.iter().for_each(|result| grown |= self.join(*result, pointer));
            }
        });
        grown
    }

    fn join(&mut self, to: ValueId, from: ValueId) -> bool {
        let more = self.0[from.index()].clone();
        let known = &mut self.0[to.index()];
        let before = known.len();
        known.extend(more);
        known.sort_unstable();
        known.dedup();
        known.len() > before
    }
}

/// Whether an input gives a value its contents or extents; strides alone do not.
fn is_bound((value, input): &(ValueId, Input), of: ValueId) -> bool {
    *value == of && !matches!(input, Input::Strides { .. })
}
