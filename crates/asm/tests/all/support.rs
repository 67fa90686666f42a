//! Helpers that tests share: programs as text without places, so that two of them can be compared, and the corpus.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use tessera_asm::{Parsed, parse};
use tessera_ir::{Arg, BlockId, Func, Module, Op, OpKind, Type, ValueId};
use tessera_isa::inst::{AttrValue, Attrs};
use tessera_isa::ops::{AttrName, Role};
use tessera_isa::sem::Saturation;
use tessera_testkit::cases;

/// Programs as the ISA's pages write them, and every fourth sample case whose text has no error, sorted.
pub fn corpus() -> std::io::Result<Vec<(String, String)>> {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let read = |path: PathBuf| Ok((path.display().to_string(), std::fs::read_to_string(&path)?));
    let mut all = entries(&tests.join("pages"))?.into_iter().map(read).collect::<std::io::Result<Vec<_>>>()?;
    for kind in cases::KINDS {
        let samples = cases::of("cases", kind).map_err(std::io::Error::other)?.into_iter().step_by(4);
        let named = samples.map(|case| (format!("{kind}/{}", case.name), case.program));
        all.extend(named.filter(|(_, text)| kind != "illegal" || !parse(text, None).has_errors()));
    }
    assert!(all.len() > 100);
    Ok(all)
}

fn entries(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut all = std::fs::read_dir(folder)?.map(|e| e.map(|e| e.path())).collect::<std::io::Result<Vec<_>>>()?;
    all.sort();
    Ok(all)
}

/// Reads a text that must have no errors.
pub fn read(text: &str) -> Parsed {
    let parsed = parse(text, None);
    assert!(!parsed.has_errors(), "{:#?}\n{text}", parsed.diagnostics);
    parsed
}

/// Everything that a program says, without places and ids.
pub fn dump(module: &Module) -> String {
    let mut out = format!(
        "listing {} wrapper {} target {:?} attrs {:?}\n",
        module.is_listing,
        module.has_wrapper,
        module.target.map(|t| t.0),
        module.attrs
    );
    for func in &module.funcs {
        let value = |v: &ValueId| name(module, func, *v);
        let _ = writeln!(
            out,
            "func {} entry {} declaration {} attrs {:?} args {:?} results {:?} outputs {:?}",
            module.names.text(func.name),
            func.is_entry,
            func.is_declaration,
            func.attrs,
            func.args.iter().map(value).collect::<Vec<_>>(),
            func.results.iter().map(|t| module.types.get(*t)).collect::<Vec<_>>(),
            func.outputs.iter().map(value).collect::<Vec<_>>(),
        );
        block(module, func, func.body, 1, &mut out);
    }
    out
}

fn name(module: &Module, func: &Func, v: ValueId) -> String {
    let value = func.value(v);
    let name = module.names.text(value.name);
    match (module.types.get(value.ty), module.profile) {
        // Printing writes the layout that a type leaves out.
        (Type::Tile(tile), Some(profile)) if !module.is_listing => format!("%{name}: {:?}", tile.resolve(profile)),
        (ty, _) => format!("%{name}: {ty:?}"),
    }
}

/// The attributes of an operation, with what it means by leaving one out.
fn meant(module: &Module, func: &Func, op: &Op) -> Attrs {
    let mut known = op.known_attrs().clone();
    let elem = |v: ValueId| module.types.get(func.value(v).ty).tile().map(|tile| tile.elem);
    let takes = |name| op.opcode().is_some_and(|o| o.info().attrs.contains(&name));
    let src = op.operand(Role::Src).and_then(|o| o.arg.value()).and_then(elem);
    if takes(AttrName::SatMode)
        && known.get(AttrName::SatMode).is_none()
        && let (Some(from), Some(to)) = (src, op.dsts().first().and_then(|(_, v)| elem(*v)))
    {
        known.set(AttrName::SatMode, Some(Saturation::usual(from, to)).filter(|usual| *usual != Saturation::Off));
    }
    if takes(AttrName::IsMsb) {
        let top = src.and_then(|elem| elem.size()).map_or(0, |size| size as i64 - 1);
        let of_msb = if known.flag(AttrName::IsMsb) { top } else { 0 };
        let byte = known.get(AttrName::Byte).or(Some(of_msb.into()));
        known.set(AttrName::IsMsb, None::<AttrValue>);
        known.set(AttrName::Byte, byte);
    }
    known
}

fn block(module: &Module, func: &Func, id: BlockId, depth: usize, out: &mut String) {
    let b = func.block(id);
    let args: Vec<_> = b.args.iter().map(|v| name(module, func, *v)).collect();
    let _ = writeln!(out, "{:depth$}block {args:?}", "");
    for id in &b.ops {
        let op = func.op(*id);
        let results: Vec<_> = op.results.iter().map(|v| name(module, func, *v)).collect();
        let kind = match &op.kind {
            OpKind::Call(callee) => format!("Call({})", module.names.text(*callee)),
            other => format!("{other:?}"),
        };
        let _ = write!(out, "{:depth$}{results:?} {kind} {:?}", "", op.form);
        for o in &op.operands {
            let _ = match o.arg {
                Arg::Value(v) => write!(out, " {:?}={}", o.role, name(module, func, v)),
                Arg::Int(n) => write!(out, " {:?}={n}", o.role),
            };
        }
        let _ = write!(out, " {:?}", meant(module, func, op));
        if let Some(a) = op.attrs.as_deref() {
            let unknown: Vec<_> = a.unknown.iter().map(|(k, v, _)| (k, v)).collect();
            let _ = write!(out, " {unknown:?} {:?} {:?}", a.sizes, a.words);
        }
        if let Some(loc) = op.loc.and_then(|id| module.locs.get(id)) {
            let _ = write!(out, " loc({})", loc.text);
        }
        out.push('\n');
        for b in &op.blocks {
            block(module, func, *b, depth + 1, out);
        }
    }
}
