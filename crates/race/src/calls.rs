//! Functions whose calls are not inlined: each orders its own instructions, and a full barrier stands on both sides of a
//! call.

use crate::insert::has_work;
use rustc_hash::FxHashSet;
use tessera_ir::{Func, Module, OpId, OpKind};
use tessera_isa::profile::Profile;

/// The calls in a function whose callees give work to pipes.
pub fn working(module: &Module, func: &Func, profile: Profile) -> FxHashSet<OpId> {
    let works = |callee: &Func| module.called(callee).iter().any(|f| f.ops.iter().any(|op| has_work(op, profile)));
    let mut found = FxHashSet::default();
    func.walk(&mut |id, op, _| {
        if let OpKind::Call(name) = op.kind
            && module.funcs.iter().find(|f| f.name == name).is_some_and(works)
        {
            found.insert(id);
        }
    });
    found
}

/// Whether another function calls this one, so that its arguments may share bytes with each other.
pub fn is_called(module: &Module, func: &Func) -> bool {
    let calls = |f: &Func| f.ops.iter().any(|op| matches!(op.kind, OpKind::Call(name) if name == func.name));
    module.funcs.iter().any(calls)
}
