//! Edits of a module that leave it whole: what depends on something that goes, goes too.

use rustc_hash::{FxHashMap, FxHashSet};
use tessera_ir::{Arg, BlockId, Def, Func, Module, Op, OpId, OpKind, ScalarType, Type, ValueId};
use tessera_isa::codec::Number;
use tessera_isa::elem::Elem;
use tessera_isa::inst::AttrValue;
use tessera_isa::ops::{AttrName, Text};
use tessera_isa::sem::Sem;
use tessera_isa::tile::{Compact, Extent, Pad};

/// An operation of a module: the place of its function, and its id there.
pub type OpAt = (usize, OpId);

/// Every operation in a block, outer before inner.
pub fn ops(module: &Module) -> Vec<OpAt> {
    let mut all = Vec::new();
    for (n, func) in module.funcs.iter().enumerate() {
        func.walk(&mut |id, op, _| {
            if !is_end(op) {
                all.push((n, id));
            }
        });
    }
    all
}

/// Whether an operation ends a block.
fn is_end(op: &Op) -> bool {
    matches!(op.kind, OpKind::Yield | OpKind::Condition | OpKind::Return)
}

/// Whether nothing but its results matters.
fn is_pure(op: &Op) -> bool {
    match &op.kind {
        OpKind::Constant(_) | OpKind::Dense(_) | OpKind::Arith(_) | OpKind::Cmp(_) | OpKind::Select => true,
        OpKind::Cast(_) | OpKind::Float(_) | OpKind::CmpFloat(_) => true,
        OpKind::Pto(op, _) => matches!(op.info().sem, Sem::Value | Sem::Block) || op.info().text == Text::Subset,
        _ => false,
    }
}

/// Takes operations out, with everything that depends on them and everything that is left without a use.
pub fn remove(module: &mut Module, gone: &FxHashSet<OpAt>) {
    for (n, func) in module.funcs.iter_mut().enumerate() {
        let mut out: FxHashSet<OpId> = gone.iter().filter(|(f, _)| *f == n).map(|(_, id)| *id).collect();
        dependents(func, &mut out);
        func.blocks.iter_mut().for_each(|block| block.ops.retain(|id| !out.contains(id)));
        sweep(func);
    }
    arguments(module);
}

/// Adds the operations that use what others define, and the inner ones of others.
fn dependents(func: &Func, out: &mut FxHashSet<OpId>) {
    let mut parents: FxHashMap<OpId, OpId> = FxHashMap::default();
    let mut order: Vec<OpId> = Vec::new();
    func.walk(&mut |id, op, _| {
        order.push(id);
        for block in &op.blocks {
            parents.extend(func.block(*block).ops.iter().map(|inner| (*inner, id)));
        }
    });
    loop {
        let before = out.len();
        let mut dead: FxHashSet<ValueId> = FxHashSet::default();
        for id in &order {
            let op = func.op(*id);
            let is_inside = parents.get(id).is_some_and(|parent| out.contains(parent));
            if is_inside || op.values().any(|v| dead.contains(&v)) {
                // A block whose end is gone goes with its operation.
                match parents.get(id).filter(|_| is_end(op) && !is_inside) {
                    Some(parent) => _ = out.insert(*parent),
                    None if is_end(op) => {}
                    None => _ = out.insert(*id),
                }
            }
            if out.contains(id) {
                dead.extend(op.results.iter().copied());
                dead.extend(op.blocks.iter().flat_map(|b| func.block(*b).args.iter().copied()));
            }
        }
        if out.len() == before {
            return;
        }
    }
}

/// Takes out what has no use: numbers, allocations, views, and control flow without a body.
fn sweep(func: &mut Func) {
    loop {
        let mut used: FxHashSet<ValueId> = FxHashSet::default();
        func.walk(&mut |_, op, _| used.extend(op.values()));
        let mut dead: FxHashSet<OpId> = FxHashSet::default();
        func.walk(&mut |id, op, _| {
            let is_unused = op.results.iter().all(|v| !used.contains(v));
            let is_empty = matches!(op.kind, OpKind::For | OpKind::If)
                && op.blocks.iter().all(|b| func.block(*b).ops.iter().all(|id| is_end(func.op(*id))));
            if is_unused && (is_pure(op) || is_empty) {
                dead.insert(id);
            }
        });
        if dead.is_empty() {
            return;
        }
        func.blocks.iter_mut().for_each(|block| block.ops.retain(|id| !dead.contains(id)));
    }
}

/// Takes out arguments that nothing uses of functions that nothing calls. Those of a listing follow from its text.
fn arguments(module: &mut Module) {
    let called: FxHashSet<_> = module.funcs.iter().flat_map(Func::callees).collect();
    let is_listing = module.is_listing;
    for func in module.funcs.iter_mut().filter(|f| !is_listing && !f.is_declaration && !called.contains(&f.name)) {
        let mut used: FxHashSet<ValueId> = FxHashSet::default();
        func.walk(&mut |_, op, _| used.extend(op.values()));
        let before = func.args.len();
        func.args.retain(|arg| used.contains(arg));
        if func.args.len() < before {
            func.attrs.retain(|(key, _)| !key.starts_with('%'));
            func.arg_locs.clear();
        }
    }
}

/// Takes out functions that are not named, and their calls.
pub fn without_function(module: &Module, at: usize) -> Option<Module> {
    let name = module.funcs.get(at)?.name;
    let mut other = module.clone();
    let calls =
        ops(&other).into_iter().filter(|(n, id)| matches!(other.funcs[*n].op(*id).kind, OpKind::Call(c) if c == name));
    let calls = calls.collect();
    remove(&mut other, &calls);
    other.funcs.remove(at);
    (!other.funcs.is_empty()).then_some(other)
}

/// Puts the body of a loop, a branch or a section in its place; of a branch the block of this number.
pub fn unwrap(module: &Module, (n, id): OpAt, which: usize) -> Option<Module> {
    let mut other = module.clone();
    let func = other.funcs.get_mut(n)?;
    let op = func.op(id).clone();
    let block = *op.blocks.get(which)?;
    let mut replaced: FxHashMap<ValueId, Arg> = FxHashMap::default();
    match op.kind {
        OpKind::For if which == 0 => {
            let args = func.block(block).args.clone();
            let given = op.operands.first().into_iter().chain(op.operands.iter().skip(3));
            replaced.extend(args.iter().copied().zip(given.map(|o| o.arg)));
        }
        OpKind::If => {}
        _ => return None,
    }
    let mut inner = func.block(block).ops.clone();
    let end = inner.last().filter(|id| is_end(func.op(**id))).copied();
    if let Some(end) = end {
        inner.pop();
        let handed: Vec<Arg> = func.op(end).operands.iter().map(|o| o.arg).collect();
        replaced.extend(op.results.iter().copied().zip(handed));
    }
    let parent = parent_block(func, id)?;
    let at = func.block(parent).ops.iter().position(|o| *o == id)?;
    func.block_mut(parent).ops.splice(at..=at, inner);
    for op in &mut func.ops {
        for operand in &mut op.operands {
            for _ in 0..4 {
                match operand.arg.value().and_then(|v| replaced.get(&v)) {
                    Some(to) => operand.arg = *to,
                    None => break,
                }
            }
        }
    }
    sweep(func);
    arguments(&mut other);
    Some(other)
}

fn parent_block(func: &Func, id: OpId) -> Option<BlockId> {
    let at = func.blocks.iter().position(|block| block.ops.contains(&id))?;
    Some(BlockId(at as u32))
}

/// Makes the results of operations arguments of their function.
pub fn promote(module: &Module, which: &[OpAt]) -> Option<Module> {
    if module.is_listing {
        return None;
    }
    let called: FxHashSet<_> = module.funcs.iter().flat_map(Func::callees).collect();
    let mut other = module.clone();
    let mut changed = false;
    for (n, id) in which {
        let func = other.funcs.get_mut(*n)?;
        if called.contains(&func.name) || func.op(*id).results.is_empty() || !func.op(*id).blocks.is_empty() {
            continue;
        }
        for value in func.op(*id).results.clone() {
            func.value_mut(value).def = Def::Arg(func.args.len() as u32);
            func.args.push(value);
        }
        func.blocks.iter_mut().for_each(|block| block.ops.retain(|o| o != id));
        func.arg_locs.clear();
        changed = true;
    }
    other.funcs.iter_mut().for_each(sweep);
    arguments(&mut other);
    changed.then_some(other)
}

/// The same program with other types.
pub fn map_types(module: &Module, map: &dyn Fn(&Type) -> Type) -> Option<Module> {
    let mut other = module.clone();
    let mut changed = false;
    for func in &mut other.funcs {
        for value in &mut func.values {
            let (old, new) = (module.types.get(value.ty), map(module.types.get(value.ty)));
            if *old != new {
                value.ty = other.types.intern(new);
                changed = true;
            }
        }
    }
    changed.then_some(other)
}

/// The extents that tile types and views have, each once, the largest first.
pub fn extents(module: &Module) -> Vec<u64> {
    let mut all: Vec<u64> = Vec::new();
    for func in &module.funcs {
        for value in &func.values {
            match module.types.get(value.ty) {
                Type::Tile(t) => {
                    all.extend([Some(t.rows), Some(t.cols), t.v_row.known(), t.v_col.known()].into_iter().flatten());
                }
                Type::View(view) => all.extend(view.dims.iter().flatten()),
                _ => {}
            }
        }
    }
    all.sort_unstable_by(|a, b| b.cmp(a));
    all.dedup();
    all.retain(|n| *n > 1);
    all
}

/// The program with another extent wherever one is: in types, in numbers, in attributes.
pub fn resize(module: &Module, from: u64, to: u64) -> Module {
    let one = |n: u64| if n == from { to } else { n };
    let open = |extent: Extent| match extent {
        Extent::Static(n) => Extent::Static(one(n)),
        Extent::Dynamic => Extent::Dynamic,
    };
    let map = |ty: &Type| match ty {
        Type::Tile(t) => {
            let mut t = *t;
            (t.rows, t.cols) = (one(t.rows), one(t.cols));
            (t.v_row, t.v_col) = (open(t.v_row), open(t.v_col));
            Type::Tile(t)
        }
        Type::View(view) => {
            let mut view = view.clone();
            view.dims.iter_mut().flatten().for_each(|n| *n = one(*n));
            Type::View(view)
        }
        other => other.clone(),
    };
    let mut other = map_types(module, &map).unwrap_or_else(|| module.clone());
    for func in &mut other.funcs {
        for op in &mut func.ops {
            if let OpKind::Constant(Number::Int(n)) = &mut op.kind
                && *n == i128::from(from)
            {
                *n = to.into();
            }
            let Some(attrs) = op.attrs.as_deref_mut() else { continue };
            if let Some(sizes) = &mut attrs.sizes {
                *sizes = sizes.map(one);
            }
            for (name, value) in attrs.known.clone().iter() {
                if let AttrValue::Ints(mut all) = value {
                    all.iter_mut().filter(|n| **n == from as i64).for_each(|n| *n = to as i64);
                    attrs.known.set(name, Some(AttrValue::Ints(all)));
                }
            }
        }
    }
    other
}

/// The program with one element type in place of another.
pub fn retype(module: &Module, from: Elem, to: Elem) -> Option<Module> {
    let scalar = |ty: ScalarType| if ty == ScalarType::of(from) { ScalarType::of(to) } else { ty };
    let one = |elem: Elem| if elem == from { to } else { elem };
    map_types(module, &|ty| match ty {
        Type::Tile(t) => Type::Tile(tessera_isa::tile::TileType { elem: one(t.elem), ..*t }),
        Type::Ptr(elem, space) => Type::Ptr(one(*elem), space.clone()),
        Type::View(view) => Type::View(tessera_ir::ViewType { elem: one(view.elem), ..view.clone() }),
        Type::Scalar(ty) => Type::Scalar(scalar(*ty)),
        other => other.clone(),
    })
}

/// The element types of tiles, each once.
pub fn elems(module: &Module) -> Vec<Elem> {
    let mut all: Vec<Elem> = module
        .funcs
        .iter()
        .flat_map(|f| &f.values)
        .filter_map(|v| module.types.get(v.ty).tile().map(|t| t.elem))
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Tile types without what is seldom needed: pads, compact modes, valid regions.
pub fn plain_types(module: &Module) -> Vec<Module> {
    let pads = map_types(module, &|ty| match ty {
        Type::Tile(t) => Type::Tile(tessera_isa::tile::TileType { pad: Pad::Null, compact: Compact::Null, ..*t }),
        other => other.clone(),
    });
    let whole = map_types(module, &|ty| match ty {
        Type::Tile(t) => Type::Tile(t.with_valid(Extent::Static(t.rows), Extent::Static(t.cols))),
        other => other.clone(),
    });
    pads.into_iter().chain(whole).collect()
}

/// Smaller numbers for a constant.
pub fn constants(module: &Module, (n, id): OpAt) -> Vec<Module> {
    let Some(OpKind::Constant(number)) = module.funcs.get(n).map(|f| &f.op(id).kind) else { return Vec::new() };
    let smaller: Vec<Number> = match number {
        Number::Int(n) if *n > 1 || *n < 0 => [0, 1, n / 2].into_iter().map(Number::Int).collect(),
        Number::Float(v) if *v != 0.0 && *v != 1.0 => [0.0, 1.0].into_iter().map(Number::Float).collect(),
        _ => Vec::new(),
    };
    let with = |number: Number| {
        let mut other = module.clone();
        other.funcs[n].op_mut(id).kind = OpKind::Constant(number);
        other
    };
    smaller.into_iter().map(with).collect()
}

/// Each attribute left out.
pub fn attributes(module: &Module, (n, id): OpAt) -> Vec<Module> {
    let Some(func) = module.funcs.get(n) else { return Vec::new() };
    let names: Vec<AttrName> = func.op(id).known_attrs().iter().map(|(name, _)| name).collect();
    let without = |name: AttrName| {
        let mut other = module.clone();
        other.funcs[n].op_mut(id).attrs_mut().known.set(name, None::<AttrValue>);
        other
    };
    names.into_iter().map(without).collect()
}

/// One operand as an earlier value of its type: fewer values are left.
pub fn operands(module: &Module, (n, id): OpAt) -> Vec<Module> {
    let Some(func) = module.funcs.get(n) else { return Vec::new() };
    let mut all = Vec::new();
    for (at, operand) in func.op(id).operands.iter().enumerate() {
        let Some(value) = operand.arg.value() else { continue };
        let ty = func.value(value).ty;
        let is_tile = module.types.get(ty).is_tile();
        let earlier = func.op(id).values().take_while(|v| *v != value).find(|v| func.value(*v).ty == ty);
        let argument = func.args.iter().copied().find(|v| func.value(*v).ty == ty && *v != value);
        let is_argument = func.args.contains(&value);
        let other = earlier.or(argument.filter(|a| !is_argument || a.0 < value.0));
        if let (Some(to), true) = (other, is_tile) {
            let mut other = module.clone();
            other.funcs[n].op_mut(id).operands[at].arg = Arg::Value(to);
            sweep(&mut other.funcs[n]);
            arguments(&mut other);
            all.push(other);
        }
    }
    all
}
