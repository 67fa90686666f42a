//! The version of the text that is read: stated, or inferred from what only one version has, and what follows from it
//! (isa/today.md 1).

use super::Parser;
use crate::dialect::{
    self, Mark, Part, Saturated, counts_byte_1, inferred, is_core_flag, lacks, saturation, saturation_word,
};
use tessera_ir::{Dialect, Module, Op};
use tessera_isa::diag::{Diagnostic, Severity, Span};
use tessera_isa::inst::AttrValue;
use tessera_isa::ops::{AttrName, Opcode, RuleKind};
use tessera_isa::profile::Profile;
use tessera_isa::sem::Saturation;

/// The warning that a gather does not say whether an index means a row or an element, which later versions ask for; a
/// scatter, if it says anything else (isa/today.md 6.7).
fn lacks_mode(op: &Op, opcode: Opcode) -> Option<Diagnostic> {
    let (info, attrs) = (opcode.info(), op.known_attrs());
    let asks = info.attrs.contains(&AttrName::GatherOob) || info.attrs.iter().any(|name| attrs.get(*name).is_some());
    if !info.attrs.contains(&AttrName::Coalesce) || attrs.get(AttrName::Coalesce).is_some() || !asks {
        return None;
    }
    let rule = info.rules.iter().find(|r| r.kind == RuleKind::TableAttr)?.id;
    let what = format!("{opcode} has no coalesce, which versions from {} on ask for", Dialect::V0_60);
    let found = Diagnostic::warning(rule, what).at(op.span, "rows or elements?");
    Some(found.help("write coalesce = #pto<coalesce row> or #pto<coalesce elem>; here the shapes decide"))
}

impl Parser<'_> {
    /// Notes a spelling that some version lacks, at its first place.
    pub(super) fn mark(&mut self, part: Part, name: &str, span: Span) {
        let known = match part {
            Part::Operation => dialect::operation(name),
            _ => dialect::known(part, name),
        };
        if let Some(known) = known
            && self.marked.insert(known.number)
        {
            self.marks.push(Mark { known, span });
        }
    }

    /// Which version the text has, and what follows from it.
    pub(super) fn finish_dialect(&mut self) {
        if let Some(text) = self.given_dialect.take() {
            self.state_dialect(&text, None);
        }
        let stated = self.stated;
        self.module.dialect = stated.or_else(|| inferred(&self.marks));
        self.module.profile = Some(self.profile());
        if let Some(stated) = stated {
            self.warn_spellings(stated);
        }
        let is_unstated = self.module.dialect.is_none();
        let on_a5 = self.profile() == Profile::A5;
        let mut modes = Vec::new();
        let (mut converted, mut core_flag): (Option<(Span, Saturated)>, Option<Span>) = (None, None);
        let Module { funcs, types, dialect, .. } = &mut self.module;
        let has_later_meaning = dialect.is_some_and(|dialect| dialect >= Dialect::V0_60);
        for func in funcs.iter_mut() {
            let mut implied = Vec::new();
            for (n, op) in func.ops.iter().enumerate() {
                let Some(opcode) = op.opcode() else { continue };
                let attrs = opcode.info().attrs;
                if attrs.contains(&AttrName::SatMode)
                    && op.known_attrs().get(AttrName::SatMode).is_none()
                    && let Some(saturated) = saturation(types, func, op)
                {
                    if has_later_meaning {
                        implied.push((n, AttrName::SatMode, AttrValue::from(Saturation::Off)));
                    } else if is_unstated {
                        converted.get_or_insert((op.span, saturated));
                    }
                }
                if has_later_meaning && let Some(found) = lacks_mode(op, opcode) {
                    modes.push(found);
                }
                if is_unstated && on_a5 && is_core_flag(op) {
                    core_flag.get_or_insert(op.span);
                }
                if *dialect != Some(Dialect::V0_27)
                    && attrs.contains(&AttrName::IsMsb)
                    && counts_byte_1(types, func, op)
                {
                    implied.push((n, AttrName::Byte, AttrValue::Int(1)));
                }
            }
            for (n, name, value) in implied {
                let Some(op) = func.ops.get_mut(n) else { continue };
                let attrs = op.attrs_mut();
                // `isMSB = true` says the same as the byte does.
                if attrs.known.get(AttrName::IsMsb).is_some() {
                    attrs.known.set(AttrName::IsMsb, None::<AttrValue>);
                } else {
                    attrs.implied.push(name);
                }
                attrs.known.set(name, Some(value));
            }
        }
        let found = [
            converted.map(|(span, saturated)| {
                let what = format!(
                    "the conversion has no saturation mode and the text no version: up to {} it means {}, from {} on OFF",
                    Dialect::V0_27,
                    saturation_word(saturated.usual),
                    Dialect::V0_60
                );
                Diagnostic::warning("dialect-meaning", what)
                    .at(span, format!("read as {}", saturation_word(saturated.usual)))
                    .help("write satmode, or state the version: module attributes {pto.dialect = \"0.60\"}")
            }),
            core_flag.map(|span| {
                let what = format!(
                    "the text has no version: up to {} sync.set and sync.wait are set_intra_block and wait_intra_block on a5, \
                     from {} on they are flags as on a2a3",
                    Dialect::V0_27,
                    Dialect::V0_60
                );
                Diagnostic::warning("dialect-meaning", what)
                    .at(span, format!("read as in {}", Dialect::V0_27))
                    .help("write set_intra_block, or state the version: module attributes {pto.dialect = \"0.60\"}")
            }),
        ];
        found.into_iter().flatten().chain(modes).for_each(|found| self.push(found));
    }

    /// A version that is stated, with its place in the text if it has one.
    pub(super) fn state_dialect(&mut self, text: &str, at: Option<Span>) {
        let found = match Dialect::parse(text) {
            None => {
                let (what, help) = Dialect::unknown(text);
                Diagnostic::error("unknown-dialect", what).help(help)
            }
            Some((dialect, is_newer)) => {
                // What is given stands over what is written.
                self.stated = Some(dialect);
                if !is_newer {
                    return;
                }
                let what = format!("version {text} is not known yet, and is read as {dialect}");
                Diagnostic::new("unknown-dialect", Severity::Note, what)
            }
        };
        self.push(match at {
            Some(at) => found.at(at, "the version"),
            None => found,
        });
    }

    /// Warns about spellings that the stated version lacks, once for each.
    fn warn_spellings(&mut self, stated: Dialect) {
        let lacking: Vec<Mark> = self.marks.iter().filter(|mark| !mark.is_in(stated)).copied().collect();
        for mark in lacking {
            self.push(lacks(&mark, stated).at(mark.span, "not of this version"));
        }
    }
}
