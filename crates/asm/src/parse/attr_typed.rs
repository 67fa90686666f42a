//! The attributes of the instruction table, with their types.

use super::attr::{Attr, Entry};
use super::{Parser, Res};
use crate::dialect::{Part, shape};
use crate::sink::{did_you_mean, shown};
use tessera_ir::OpAttrs;
use tessera_isa::diag::{Diagnostic, nearest};
use tessera_isa::inst::{AttrValue, Precision};
use tessera_isa::ops::{AttrKind, AttrName, Opcode, RuleKind, Text};
use tessera_isa::sem::{Fifo, Sem};

/// Attributes that later versions of the dialect call otherwise.
const LATER: &[(&str, AttrName)] = &[
    ("satmode", AttrName::SatMode),
    ("precisionType", AttrName::PrecisionMode),
    ("precisionType", AttrName::HighPrecision),
];

/// Attributes of stores and moves that pushes do not have (isa/today.md 7.3).
const OF_QUANT: [&str; 5] = ["stPhase", "atomicType", "subBlockId", "clipReluMode", "isChannelSplit"];

impl Parser<'_> {
    /// Sorts attributes into those the instruction knows and the others, which are kept and warned about.
    pub(super) fn sort_attrs(&mut self, entries: Vec<Entry>, known: &[AttrName], op: &str) -> Option<Box<OpAttrs>> {
        if entries.is_empty() {
            return None;
        }
        let mut out = Box::<OpAttrs>::default();
        for mut entry in entries {
            match known.iter().find(|name| name.name() == entry.key) {
                Some(AttrName::Byte | AttrName::PipeId) => self.mark(Part::Attribute, &entry.key, entry.key_span),
                Some(AttrName::Coalesce) if matches!(entry.value, Attr::Dialect(..)) => {
                    self.mark(Part::Shape, shape::COALESCE, entry.key_span);
                }
                _ => {}
            }
            // Later spellings (isa/today.md 1.1).
            let own = LATER.iter().find(|(later, own)| *later == entry.key && known.contains(own)).map(|(_, own)| *own);
            if let Some(own) = own {
                if out.known.get(own).is_some() {
                    let text = format!("{} and {} of {op} are one attribute, and both are written", entry.key, own);
                    let _: Res<()> = self.fail("syntax-duplicate", entry.span(), text, "remove one of them");
                    continue;
                }
                self.mark(Part::Attribute, &entry.key, entry.key_span);
                entry.key = own.name().to_string();
                // Each instruction has its own word for the two.
                if let Attr::Dialect(_, body) = &entry.value {
                    let is_high = body.ends_with("high_precision");
                    let word = if is_high { Precision::High } else { Precision::Default };
                    match own {
                        AttrName::PrecisionMode => entry.value = Attr::Word(word.name().to_string()),
                        AttrName::HighPrecision => entry.value = Attr::Bool(is_high),
                        _ => {}
                    }
                }
            }
            match known.iter().find(|name| name.name() == entry.key) {
                // The row has a rule for words that the attribute does not have; the text is kept (isa/notes.md).
                Some(name) if has_word_rule(op) && is_foreign(name.info().kind, &entry.value) => {
                    let text = self.value_text(&entry);
                    out.known.set(*name, Some(AttrValue::FOREIGN));
                    out.unknown.push((entry.key, text, entry.key_span));
                }
                Some(name) if matches!(name.info().kind, AttrKind::Name) => {
                    let is_epilogue = *name == AttrName::AccPushEpilogue && matches!(entry.value, Attr::Dialect(..));
                    if matches!(entry.value, Attr::Str(_) | Attr::Symbol(_)) || is_epilogue {
                        let text = self.value_text(&entry);
                        out.names.push((*name, text));
                    } else {
                        let _: Res<AttrValue> = self.typed(*name, &entry);
                    }
                }
                Some(name) => {
                    if let Ok(value) = self.typed(*name, &entry) {
                        out.known.set(*name, Some(value));
                    }
                }
                None => self.unknown_attr(&mut out, entry, known, op),
            }
        }
        Some(out)
    }

    fn unknown_attr(&mut self, out: &mut OpAttrs, entry: Entry, known: &[AttrName], op: &str) {
        let text = self.value_text(&entry);
        // Attributes of the dialect that an operation carries along have no meaning (isa/today.md 4.1).
        if entry.key.starts_with("pto.") || entry.key.starts_with("__pto.") {
            out.unknown.push((entry.key, text, entry.key_span));
            return;
        }
        let names: Vec<&str> = known.iter().map(|a| a.name()).collect();
        // What stands on an operation of a FIFO says how tiles go through it.
        // For the ends of a pipe `fifo-init` says so.
        let is_end = |op: Opcode| matches!(op.info().sem, Sem::Fifo(Fifo::Initialize(_)));
        let is_fifo = Opcode::parse(op).is_some_and(|op| matches!(op.info().text, Text::Pipe(_)) && !is_end(op));
        if is_fifo && !matches!(entry.key.as_str(), "loop_depth" | "postupdate" | "tail") {
            let what = format!("{op} does not know the attribute {}, which may change what it does", shown(&entry.key));
            let help = did_you_mean(&entry.key, names.iter().copied(), || format!("{op} has {}", names.join(", ")));
            let is_quant = OF_QUANT.contains(&entry.key.as_str());
            let _: Res<()> =
                self.fail(if is_quant { "fifo-quant" } else { "syntax-attribute" }, entry.span(), what, help);
            return;
        }
        let what = format!("{op} does not know the attribute {}, which is kept", shown(&entry.key));
        let help = did_you_mean(&entry.key, names.iter().copied(), || match names.as_slice() {
            [] => format!("{op} has no attributes"),
            names => format!("{op} has {}", names.join(", ")),
        });
        // It says that a loop is a vecscope (micro/model.md 2).
        if entry.key != tessera_ir::VECSCOPE_LOOP {
            self.push(Diagnostic::warning("unknown-attribute", what).at(entry.span(), "without effect").help(help));
        }
        out.unknown.push((entry.key, text, entry.key_span));
    }

    fn typed(&mut self, name: AttrName, entry: &Entry) -> Res<AttrValue> {
        let kind = name.info().kind;
        if let Some(value) = value_of(kind, &entry.value) {
            return Ok(value);
        }
        let wanted = kind.wanted();
        let text = format!("{} is {wanted}, and `{}` is written", entry.key, shown(self.slice(entry.value_span)));
        let help = match kind {
            AttrKind::Word { list, spelling, .. } => {
                match nearest(word_of(&entry.value), list.iter().map(|w| w.name)) {
                    Some(near) => format!("did you mean `{}`?", spelling.spell(near)),
                    None => format!("write {}", spelling.spell(list.first().map_or("", |w| w.name))),
                }
            }
            _ => format!("write {wanted}"),
        };
        self.fail("syntax-attribute", entry.value_span, text, help)
    }
}

fn has_word_rule(op: &str) -> bool {
    Opcode::parse(op).is_some_and(|op| op.info().rules.iter().any(|rule| rule.kind == RuleKind::Words))
}

/// Whether it is a word, and none of the attribute's.
fn is_foreign(kind: AttrKind, value: &Attr) -> bool {
    matches!(kind, AttrKind::Word { .. }) && value_of(kind, value).is_none() && !word_of(value).is_empty()
}

fn value_of(kind: AttrKind, value: &Attr) -> Option<AttrValue> {
    match (kind, value) {
        (AttrKind::Word { list, .. }, value) => {
            let word = word_of(value);
            let found = list.iter().position(|w| w.name == word || w.also.contains(&word))?;
            Some(AttrValue::Word(found as u8))
        }
        (AttrKind::Int(_), Attr::Int(n, _)) => Some(saturated(*n).into()),
        (AttrKind::Bool, Attr::Bool(b)) => Some(AttrValue::Bool(*b)),
        (AttrKind::Number, Attr::Int(n, _)) => Some(AttrValue::Int(*n)),
        (AttrKind::Number, Attr::Float(v, _)) => Some(AttrValue::Float(v.to_bits())),
        (AttrKind::Ints(n), Attr::List(list)) if list.len() == n => {
            let mut out = [0i64; 4];
            for (slot, item) in out.iter_mut().zip(list) {
                let Attr::Int(n, _) = item else { return None };
                *slot = saturated(*n);
            }
            Some(AttrValue::Ints(out))
        }
        _ => None,
    }
}

/// A word in the dialect's spelling, bare or as a string.
fn word_of(value: &Attr) -> &str {
    match value {
        Attr::Str(text) | Attr::Word(text) => text,
        Attr::Dialect(_, body) => body.rsplit([' ', '\t']).next().unwrap_or_default().trim_matches('"'),
        _ => "",
    }
}

/// Words may be written as their numbers in generic form.
pub(super) fn named(entries: &mut [Entry], known: &[AttrName]) {
    for entry in entries {
        let name = known.iter().find(|name| name.name() == entry.key);
        if let (Some(AttrKind::Word { list, first, .. }), Attr::Int(n, _)) = (name.map(|n| n.info().kind), &entry.value)
            && let Some(word) = usize::try_from(n - i128::from(first)).ok().and_then(|n| list.get(n))
        {
            entry.value = Attr::Word(word.name.into());
        }
    }
}

fn saturated(n: i128) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}
