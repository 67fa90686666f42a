//! A program rewritten for another version of the text (isa/today.md 1.4).

use crate::dialect::{counts_byte_1, lacks, unsaid};
use crate::print::{DIALECT, print_with};
use crate::{Mark, Parsed};
use rustc_hash::FxHashMap;
use tessera_ir::{Dialect, Func, Module, OpId, OpKind, ValueId};
use tessera_isa::diag::{Diagnostic, Severity};
use tessera_isa::ops::{AttrName, Form, Opcode, Role};
use tessera_isa::tile::Extent;

/// The program's text in a version, which it says, and what could not be rewritten. Comments and names survive, and every
/// run has the same bytes.
///
/// ```
/// use tessera_ir::Dialect;
/// let text = "module {\n  func.func @k(%p: !pto.ptr<i32>, %i: index) {\n    %x = pto.load %p[%i] : !pto.ptr<i32> -> i32\n    return\n  }\n}\n";
/// let (text, unsaid) = tessera_asm::migrate(&tessera_asm::parse(text, None), Dialect::V0_27);
/// assert!(text.contains("pto.dialect = \"0.27\"") && text.contains("pto.load_scalar") && unsaid.is_empty());
/// ```
pub fn migrate(parsed: &Parsed, dialect: Dialect) -> (String, Vec<Diagnostic>) {
    let mut module = parsed.module.clone();
    let mut trivia = parsed.trivia.clone();
    if !module.is_listing {
        if !module.has_wrapper {
            module.has_wrapper = true;
            trivia.wrapper = module.funcs.first().map(|func| (func.span.start, u32::MAX));
        }
        if !module.attrs.iter().any(|(key, _)| key == DIALECT) {
            module.attrs.push((DIALECT.to_string(), format!("\"{dialect}\"")));
        }
    }
    if dialect >= Dialect::V0_60 {
        let mut funcs = std::mem::take(&mut module.funcs);
        funcs.iter_mut().for_each(|func| without_memrefs(&module, func));
        module.funcs = funcs;
    }
    let text = print_with(&module, &trivia, Some(dialect));
    let mut found = unsaid(parsed, &text, dialect);
    found.sort_by_key(|d| d.span.map_or(0, |span| span.start));
    (text, found)
}

/// The meanings that a text without a version leaves open, as errors (isa/today.md 1.4).
pub fn undecided(parsed: &Parsed) -> Vec<Diagnostic> {
    if parsed.module.dialect.is_some() {
        return Vec::new();
    }
    const HELP: &str = "say which version the text is of";
    let told = parsed.diagnostics.iter().filter(|d| d.rule == "dialect-meaning");
    let mut found: Vec<Diagnostic> =
        told.map(|d| Diagnostic { severity: Severity::Error, ..d.clone() }.help(HELP)).collect();
    for func in &parsed.module.funcs {
        let counts = |op: &&tessera_ir::Op| {
            let attrs = op.attrs.as_deref();
            attrs.is_some_and(|a| a.implied.contains(&AttrName::Byte)) || counts_byte_1(&parsed.module.types, func, op)
        };
        if let Some(op) = func.ops.iter().find(|op| op.opcode() == Some(Opcode::Thistogram) && counts(op)) {
            let what = "thistogram of 4-byte elements says no byte and the text no version: up to 0.27 byte 3 is counted, from \
                        0.60 on byte 1";
            found.push(Diagnostic::error("dialect-meaning", what).at(op.span, "which byte?").help(HELP));
            break;
        }
    }
    found
}

/// Tiles that were bound to storage one level lower become tiles of their own, or other shapes of one (isa/today.md 1.4).
pub(crate) fn without_memrefs(module: &Module, func: &mut Func) {
    let is_bind = |func: &Func, id: OpId| matches!(func.op(id).kind, OpKind::Pto(Opcode::BindTile, _));
    let binds: Vec<OpId> = (0..func.ops.len() as u32).map(OpId).filter(|id| is_bind(func, *id)).collect();
    if binds.is_empty() {
        return;
    }
    let mut uses: FxHashMap<ValueId, usize> = FxHashMap::default();
    func.ops.iter().flat_map(tessera_ir::Op::values).for_each(|value| *uses.entry(value).or_default() += 1);
    for id in binds {
        let op = func.op(id);
        let source = op.operand(Role::Src).and_then(|o| o.arg.value());
        let tiles = source.zip(op.results.first().copied());
        let Some((source, result)) = tiles else { continue };
        let made = (0..func.ops.len() as u32).map(OpId).find(|id| func.op(*id).results.contains(&source));
        let is_alone = uses.get(&source) == Some(&1);
        let extents = module.types.get(func.value(result).ty).tile().map(|tile| [tile.v_row, tile.v_col]);
        let is_dynamic = extents.is_none_or(|all| all.contains(&Extent::Dynamic));
        let alloc = made.filter(|id| func.op(*id).opcode() == Some(Opcode::AllocTile) && is_alone && !is_dynamic);
        match alloc {
            // The storage is this tile's alone.
            Some(alloc) => {
                let (operands, attrs) = (func.op(alloc).operands.clone(), func.op(alloc).attrs.clone());
                func.blocks.iter_mut().for_each(|block| block.ops.retain(|id| *id != alloc));
                let op = func.op_mut(id);
                (op.kind, op.operands, op.attrs) = (OpKind::Pto(Opcode::AllocTile, Form::Plain), operands, attrs);
            }
            None => func.op_mut(id).kind = OpKind::Pto(Opcode::Treshape, Form::Plain),
        }
    }
}

/// The first mark of a text that a version lacks, as a finding about another text with the same spelling.
pub(crate) fn finding(mark: &Mark, source: &[Mark], dialect: Dialect) -> Diagnostic {
    let found = lacks(mark, dialect);
    match source.iter().find(|other| other.is_same(mark)) {
        Some(own) => found.at(own.span, "stays as it is"),
        None => found,
    }
}
