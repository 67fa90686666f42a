//! From a legal module to text: kernels are found, placed and ordered, and their functions printed in the order of the
//! module, callees before callers.

use crate::names::{legal, reserved};
use crate::{Emitted, function};
use std::collections::{HashMap, HashSet};
use tessera_ir::inline::{inline, join};
use tessera_ir::{Core, Func, Module, NameId, OpId, Type, ValueId, fifo};
use tessera_isa::diag::{Diagnostic, Severity};
use tessera_isa::ops::{Order, Text};
use tessera_isa::profile::Profile;
use tessera_plan::Placement;
use tessera_race::{Limits, SyncPlan, insert, insert_barriers, place_above};

/// What is wanted besides the program.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options<'a> {
    /// Whether flags and barriers are inserted. A function that has some keeps them, and gets none.
    pub sync: bool,
    /// Whether the flags and barriers that the text has are taken out first.
    pub resync: bool,
    /// Whether barriers of all pipes are inserted instead of flags.
    pub barriers: bool,
    /// The name of the text, where `#line` is wanted.
    pub debug_lines: Option<&'a str>,
    /// The function that is built, with what it reaches. Default: all.
    pub entry: Option<&'a str>,
}

/// A built module.
#[derive(Debug)]
pub struct Built {
    /// The C++.
    pub text: String,
    /// The functions of the text, in its order.
    pub functions: Vec<Function>,
    /// The kernels as they were placed and ordered.
    pub kernels: Vec<Kernel>,
    /// The program with the inserted operations.
    pub module: Module,
}

/// A function of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    pub name: String,
    pub parameters: Vec<Parameter>,
    pub core: Option<Core>,
    /// Whether only the first vector core of a block runs it.
    pub is_kernel: bool,
}

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its C++ name and type.
    pub name: String,
    pub ty: String,
    /// The value that it is, or is about, and its name in the text.
    pub value: ValueId,
    pub of: String,
    /// The address of a tile that the caller has to give it.
    pub address: Option<u64>,
}

/// Functions that run together, without calls between them or with all calls left.
#[derive(Debug)]
pub struct Kernel {
    /// The function before anything was inserted.
    pub before: Func,
    /// The function that is printed.
    pub func: Func,
    pub placement: Placement,
    /// The inserted operations, where some were asked for.
    pub plan: Option<SyncPlan>,
    /// Whether the text ordered its pipes itself, so that nothing was inserted.
    pub kept: bool,
    /// Whether the function is called by others.
    pub is_called: bool,
    /// Whether it is several functions of the module, each a section of this one.
    pub is_joined: bool,
}

/// Builds a module that is legal on the profile.
pub fn build(module: &Module, profile: Profile, options: &Options<'_>) -> Emitted<Built> {
    let mut module = module.clone();
    let mut kernels = Vec::new();
    for unit in units(&module, options.entry)? {
        kernels.extend(placed(&mut module, unit, profile, options)?);
    }
    let names = function_names(&module);
    let (text, functions) = function::print(&module, &kernels, &names, profile, options)?;
    Ok(Built { text, functions, kernels, module })
}

/// What is placed together: functions that run together, or a function with those that it calls, callees first.
enum Unit {
    One(Box<Func>, bool),
    Calls(Vec<Func>),
}

/// The functions of the module by the way in which they are built.
fn units(module: &Module, entry: Option<&str>) -> Emitted<Vec<Unit>> {
    let called: HashSet<NameId> = module.funcs.iter().flat_map(|f| f.callees()).collect();
    let mut done: HashSet<NameId> = HashSet::new();
    let mut units = Vec::new();
    let wanted = entry.and_then(|name| module.func(name.trim_start_matches('@')));
    let is_root = |f: &&Func| !f.is_declaration && wanted.map_or(!called.contains(&f.name), |w| w.name == f.name);
    let mut roots: Vec<&Func> = module.funcs.iter().filter(is_root).collect();
    if roots.is_empty() {
        roots = module.funcs.iter().filter(|f| !f.is_declaration).take(1).collect();
    }
    for root in roots {
        if done.contains(&root.name) {
            continue;
        }
        let group = module.together(root);
        done.extend(group.iter().map(|f| f.name));
        units.push(match group.as_slice() {
            [_] if root.callees().is_empty() => Unit::One(Box::new(root.clone()), false),
            [_] => match separate(module, root)? {
                Some(all) => Unit::Calls(all),
                None => Unit::One(Box::new(inline(module, root)?.into_owned()), false),
            },
            group => Unit::One(Box::new(join(module, group)?), true),
        });
    }
    Ok(units)
}

/// A function and all that it calls, callees first, where C++ can say the calls.
fn separate(module: &Module, root: &Func) -> Emitted<Option<Vec<Func>>> {
    // Unfolding finds what is wrong with calls: recursion, a missing function, a wrong kind of core.
    let unfolded = inline(module, root)?;
    let all = module.called(root);
    if !all.iter().skip(1).all(|f| is_callable(module, f))
        || all.iter().any(|f| f.ops.iter().any(|op| fifo::part(op).is_some()))
    {
        return Ok(None);
    }
    let mut order: Vec<NameId> = Vec::new();
    fn visit(module: &Module, func: &Func, order: &mut Vec<NameId>) {
        for callee in func.callees() {
            if !order.contains(&callee)
                && let Some(callee) = module.funcs.iter().find(|f| f.name == callee)
            {
                visit(module, callee, order);
            }
        }
        if !order.contains(&func.name) {
            order.push(func.name);
        }
    }
    visit(module, root, &mut order);
    let find = |name: &NameId| module.funcs.iter().find(|f| f.name == *name);
    let mut all: Vec<Func> = order.iter().filter_map(find).cloned().collect();
    if let Some(last) = all.last_mut() {
        last.core = last.core.or(unfolded.core);
    }
    Ok(Some(all))
}

/// Whether C++ can say a call of the function.
fn is_callable(module: &Module, func: &Func) -> bool {
    let ty = |v: &ValueId| module.types.get(func.value(*v).ty);
    let is_plain = |ty: &Type| matches!(ty, Type::Scalar(_) | Type::Ptr(..));
    let args = func.args.iter().all(|v| is_plain(ty(v)) || matches!(ty(v), Type::Tile(_)));
    let result = func.results.len() <= 1 && func.results.iter().all(|id| is_plain(module.types.get(*id)));
    // Code of one kind of core is left out for the other, and what it returns with it.
    let returns = func.results.is_empty() || func.core.is_none();
    args && result && returns && !func.is_declaration
}

/// Places and orders a unit; where functions with calls left do not fit beside each other, they are unfolded.
fn placed(module: &mut Module, unit: Unit, profile: Profile, options: &Options<'_>) -> Emitted<Vec<Kernel>> {
    match unit {
        Unit::One(func, is_joined) => {
            let kernel = kernel(module, *func, profile, options, &[0; 9])?;
            Ok(vec![Kernel { is_joined, ..kernel }])
        }
        Unit::Calls(all) => {
            let mut floors: HashMap<NameId, [u64; 9]> = HashMap::new();
            let mut kernels = Vec::new();
            let last = all.last().map(|f| f.name);
            for func in &all {
                let mut floor = [0; 9];
                for used in func.callees().iter().filter_map(|name| floors.get(name)) {
                    floor.iter_mut().zip(used).for_each(|(all, used)| *all = (*all).max(*used));
                }
                match kernel(module, func.clone(), profile, options, &floor) {
                    Ok(kernel) => {
                        floors.insert(func.name, kernel.placement.high_water);
                        kernels.push(Kernel { is_called: Some(func.name) != last, ..kernel });
                    }
                    // Together they need more room than unfolded, where lives end.
                    Err(_) => {
                        let Some(root) = all.last() else { return Ok(Vec::new()) };
                        let unfolded = inline(module, root)?.into_owned();
                        return placed(module, Unit::One(Box::new(unfolded), false), profile, options);
                    }
                }
            }
            Ok(kernels)
        }
    }
}

/// One function, placed above a floor and ordered.
fn kernel(
    module: &mut Module,
    mut func: Func,
    profile: Profile,
    options: &Options<'_>,
    floor: &[u64; 9],
) -> Emitted<Kernel> {
    if options.resync {
        without_order(&mut func);
    }
    let has_order = orders_itself(&func);
    if !options.sync || has_order {
        let placement = place_above(module, &func, profile, &[], None, floor)?;
        let before = func.clone();
        let kept = options.sync && has_order;
        return Ok(Kernel { before, func, placement, plan: None, kept, is_called: false, is_joined: false });
    }
    let placement = place_above(module, &func, profile, &[], Some(tessera_race::Mode::Auto), floor)?;
    let plan = match options.barriers {
        true => insert_barriers(module, &func, profile, &placement),
        false => insert(module, &func, profile, &placement, Limits::default()),
    };
    if let Some(between) = &plan.between {
        return Err(between.clone());
    }
    let (before, ordered) = (func, plan.func.clone());
    let plan = Some(plan);
    Ok(Kernel { before, func: ordered, placement, plan, kept: false, is_called: false, is_joined: false })
}

/// Whether a function has flags, barriers or buffer tokens.
fn orders_itself(func: &Func) -> bool {
    let mut found = false;
    func.walk(&mut |_, op, _| found |= op.is_manual());
    found
}

/// Takes the flags and barriers out of a function.
fn without_order(func: &mut Func) {
    let out: HashSet<OpId> = (0..)
        .map(OpId)
        .zip(&func.ops)
        .filter(|(_, op)| op.opcode().and_then(|o| o.order()).is_some_and(Order::is_manual))
        .map(|(id, _)| id)
        .collect();
    func.blocks.iter_mut().for_each(|block| block.ops.retain(|op| !out.contains(op)));
}

/// The C++ names of all functions: their own, as far as C++ has such names.
fn function_names(module: &Module) -> HashMap<NameId, String> {
    let mut taken = reserved();
    let mut names = HashMap::new();
    for func in &module.funcs {
        let mut name = legal(module.names.text(func.name));
        while !taken.insert(name.clone()) {
            name.push('_');
        }
        names.insert(func.name, name);
    }
    names
}

impl Built {
    /// The notes on what was inserted, besides the fallbacks.
    pub fn notes(&self) -> Vec<Diagnostic> {
        let kept = self.kernels.iter().filter(|k| k.kept).map(|k| {
            let what = "the function has flags or barriers of its own, so none are inserted";
            Diagnostic::new("sync-kept", Severity::Note, what)
                .at(k.before.span, "this function")
                .help("--resync takes them out and makes new ones")
        });
        kept.collect()
    }

    /// Whether an instruction runs on a pipe.
    pub fn has_work(&self) -> bool {
        let mut found = false;
        for kernel in &self.kernels {
            kernel.func.walk(&mut |_, op, _| {
                found |= op.opcode().is_some_and(|o| o.order().is_none() && matches!(o.info().text, Text::Forms));
            });
        }
        found
    }

    /// Whether a function orders its pipes.
    pub fn has_order(&self) -> bool {
        self.kernels.iter().any(|k| orders_itself(&k.func))
    }
}
