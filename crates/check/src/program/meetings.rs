//! `syncall-mode` and `syncall-workspace` (isa/comm.md 7), and `async-view` (isa/today.md 6.9): what types say.

use super::report::Report;
use tessera_ir::{Func, Module, Op, Type};
use tessera_isa::diag::Fault;
use tessera_isa::elem::Elem;
use tessera_isa::ops::{Opcode, Order, Role};

/// The words of a workspace, at least.
const WORDS: u64 = 16;

pub(super) fn check(module: &Module, func: &Func, report: &mut Report) {
    func.walk(&mut |_, op, _| {
        if op.opcode().and_then(Opcode::order) == Some(Order::Meet)
            && let Some(fault) = meeting(module, func, op)
        {
            report.fault(op, "", fault);
        }
        if op.opcode() == Some(Opcode::TprefetchAsync)
            && let Some(fault) = view(module, func, op)
        {
            report.fault(op, "", fault);
        }
    });
}

fn type_of<'a>(module: &'a Module, func: &Func, op: &Op, role: Role) -> Option<&'a Type> {
    op.operand(role).and_then(|o| o.arg.value()).map(|value| module.types.get(func.value(value).ty))
}

fn meeting(module: &Module, func: &Func, op: &Op) -> Option<Fault> {
    let is_soft = op.attrs.as_deref().and_then(|a| a.words.first()).is_some_and(|word| word == "soft");
    let workspace = type_of(module, func, op, Role::Global);
    if is_soft != workspace.is_some() {
        let what = match is_soft {
            true => "a meeting in soft mode counts in a workspace, and none is given",
            false => "a meeting in hard mode has no operands, and a workspace is given",
        };
        let help = "write syncall(%w : V) mode = soft, or syncall() mode = hard";
        return Some(Fault::new("syncall-mode", what).help(help));
    }
    let wrong = |what: String| {
        Some(Fault::new("syncall-workspace", what).help("give a view of 16 i32 in global memory, or a pointer to them"))
    };
    let ty = workspace?;
    let Some(elem) = ty.global_elem() else {
        return wrong("the workspace is no view and no pointer".into());
    };
    if !matches!(elem, Elem::I32 | Elem::U32) {
        return wrong(format!("the workspace has elements of {elem}, and cores are counted in i32"));
    }
    if matches!(ty, Type::Ptr(_, Some(_))) && ty.space() != Some(tessera_micro::Space::Gm) {
        return wrong("the workspace lies on the chip, where other blocks do not see it".into());
    }
    let dims = match ty {
        Type::View(view) => view.dims.iter().copied().collect::<Option<Vec<u64>>>(),
        Type::Memref(memref) => memref.dims.iter().copied().collect(),
        _ => None,
    };
    let words = dims.map(|dims| dims.iter().product::<u64>()).filter(|words| *words < WORDS)?;
    wrong(format!("the workspace has {words} words, and a meeting needs {WORDS}"))
}

fn view(module: &Module, func: &Func, op: &Op) -> Option<Fault> {
    let Some(Type::View(view)) = type_of(module, func, op, Role::Global) else {
        let what = "what is read ahead is no view";
        return Some(Fault::new("async-view", what).help("make a view of one dimension"));
    };
    let long = view.dims.iter().filter(|extent| **extent != Some(1)).count();
    if long <= 1 {
        return None;
    }
    let what = format!("the view that is read ahead has {long} dimensions of more than one element");
    Some(Fault::new("async-view", what).help("read a dense view of one dimension ahead"))
}
