//! Words behind a mnemonic, and operands whose order the types tell (isa/memory.md 6): `mgather.row.clamp %t, %v, %idx`.

use super::attr::{Attr, Entry};
use super::inst::{Signature, Written};
use super::{Parser, Raw, Results};
use tessera_isa::diag::Span;
use tessera_isa::ops::{AttrKind, AttrName, Kind, Opcode, Shape};

/// An instruction whose mnemonic carries words of its attributes, `mscatter.elem.skip.atomic_add`, and these.
pub(super) fn suffixed(word: &str, span: Span) -> Option<(Opcode, Vec<Entry>)> {
    // `.` and `_` are one letter (isa/structure.md 2).
    let word = word.replace('_', ".");
    let (base, rest) = word.split_once('.')?;
    let op = Opcode::parse(base).filter(|op| op.info().attrs.contains(&AttrName::Coalesce))?;
    let mut entries: Vec<Entry> = Vec::new();
    let mut words = rest.split('.');
    while let Some(word) = words.next() {
        let (word, is_atomic) = if word == "atomic" { (words.next()?, true) } else { (word, false) };
        let has = |name: &&AttrName| {
            let listed = matches!(name.info().kind, AttrKind::Word { list, .. } if list.iter().any(|w| w.name == word));
            listed && is_atomic == (**name == AttrName::ScatterAtomicOp)
        };
        let name = op.info().attrs.iter().find(has)?;
        let value = Attr::Word(word.to_string());
        entries.push(Entry { key: name.name().to_string(), key_span: span, value, value_span: span });
    }
    Some((op, entries))
}

impl Parser<'_> {
    /// An instruction without results and `outs(…)` that writes something: its operands are ins and outs, or outs and ins,
    /// as their types tell. The signature lists them as they stand.
    pub(super) fn split_outs(&mut self, results: &Results, opcode: Opcode, w: &mut Written) {
        let writes = |f: &&Shape| !f.outs.is_empty();
        if !results.names.is_empty() || w.outs.is_some() || !opcode.shapes().iter().any(|f| writes(&f)) {
            return;
        }
        if let Signature::Arrow(types, outs) = &w.signature
            && outs.is_empty()
            && types.len() == w.count()
        {
            let raws = w.ins.iter_mut().chain(w.indices.iter_mut().flatten());
            raws.zip(types).for_each(|(raw, ty)| raw.ty = Some(*ty));
            w.signature = Signature::None;
        }
        let plays = |raw: &Raw, role| self.raw_type(raw).is_none_or(|id| self.module.types.get(id).plays(role));
        for form in opcode.shapes().iter().filter(writes) {
            let bracketed = w.indices.is_some();
            let plain = || form.ins.iter().copied().filter(move |r| !bracketed || r.kind() != Kind::Index);
            let (ins, outs) = (plain().count(), form.outs.len());
            if ins + outs != w.ins.len() {
                continue;
            }
            let written = || form.outs.iter().copied();
            let fits = |mut roles: Box<dyn Iterator<Item = _> + '_>| {
                w.ins.iter().all(|raw| roles.next().is_some_and(|role| plays(raw, role)))
            };
            if fits(Box::new(plain().chain(written()))) {
                w.outs = Some(w.ins.drain(ins..).collect());
                return;
            }
            if fits(Box::new(written().chain(plain()))) {
                w.outs = Some(w.ins.drain(..outs).collect());
                return;
            }
        }
    }
}
