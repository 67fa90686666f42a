//! The attributes of the instruction table, with their types.

use super::attr::{Attr, Entry};
use super::{Parser, Res};
use crate::sink::shown;
use tessera_ir::OpAttrs;
use tessera_isa::codec::Number;
use tessera_isa::diag::{Diagnostic, nearest};
use tessera_isa::inst::{AccToVec, Attrs, Relu, Split, ViewTag};
use tessera_isa::ops::AttrName;

impl Parser<'_> {
    /// Sorts attributes into those the instruction knows and the others, which are kept and warned about.
    pub(super) fn sort_attrs(&mut self, entries: Vec<Entry>, known: &[AttrName], op: &str) -> Option<Box<OpAttrs>> {
        if entries.is_empty() {
            return None;
        }
        let mut out = Box::<OpAttrs>::default();
        for entry in entries {
            match known.iter().find(|name| name.name() == entry.key) {
                Some(name) => {
                    let _ = self.typed(&mut out.known, *name, &entry);
                }
                None => self.unknown_attr(&mut out, entry, known, op),
            }
        }
        Some(out)
    }

    fn unknown_attr(&mut self, out: &mut OpAttrs, entry: Entry, known: &[AttrName], op: &str) {
        let text = match entry.value {
            Attr::Unit => String::new(),
            _ => self.expand(self.slice(entry.value_span)),
        };
        let mut diagnostic = Diagnostic::warning(
            "unknown-attribute",
            format!("{op} does not know the attribute {}, which is kept", shown(&entry.key)),
        )
        .at(entry.span(), "without effect");
        diagnostic = match nearest(&entry.key, known.iter().map(|a| a.name())) {
            Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
            None if known.is_empty() => diagnostic.help(format!("{op} has no attributes")),
            None => {
                let names: Vec<&str> = known.iter().map(|a| a.name()).collect();
                diagnostic.help(format!("{op} has {}", names.join(", ")))
            }
        };
        self.push(diagnostic);
        out.unknown.push((entry.key, text, entry.key_span));
    }

    fn typed(&mut self, attrs: &mut Attrs, name: AttrName, entry: &Entry) -> Res<()> {
        match name {
            AttrName::ReluPreMode => attrs.relu = Some(self.word_of(entry, Relu::ALL, Relu::name)?),
            AttrName::AccToVecMode => attrs.acc_to_vec = Some(self.word_of(entry, AccToVec::ALL, AccToVec::name)?),
            AttrName::Mode => attrs.split = Some(self.word_of(entry, Split::ALL, Split::name)?),
            AttrName::Layout => attrs.layout = Some(self.word_of(entry, ViewTag::ALL, ViewTag::name)?),
            AttrName::Dim => match &entry.value {
                Attr::Int(n, _) => attrs.dim = Some(i64::try_from(*n).unwrap_or(i64::MAX)),
                _ => return self.bad_attr(entry, "an integer"),
            },
            AttrName::PadValue => match &entry.value {
                Attr::Int(n, _) => attrs.pad_value = Some(Number::Int(*n)),
                Attr::Float(v, _) => attrs.pad_value = Some(Number::Float(*v)),
                _ => return self.bad_attr(entry, "a number"),
            },
            AttrName::Kernel => attrs.kernel = Some(self.numbers(entry)?),
            AttrName::Stride => attrs.stride = Some(self.numbers(entry)?),
            AttrName::Dilation => attrs.dilation = Some(self.numbers(entry)?),
            AttrName::Pad => attrs.pad = Some(self.numbers(entry)?),
            AttrName::Fmap => attrs.fmap = Some(self.numbers(entry)?),
            AttrName::Shape => attrs.shape = Some(self.numbers(entry)?),
        }
        Ok(())
    }

    fn bad_attr<T>(&mut self, entry: &Entry, wanted: &str) -> Res<T> {
        let text = format!("{} is {wanted}, and `{}` is written", entry.key, shown(self.slice(entry.value_span)));
        self.fail("syntax-attribute", entry.value_span, text, format!("write {wanted}"))
    }

    fn numbers<const N: usize>(&mut self, entry: &Entry) -> Res<[i64; N]> {
        let mut out = [0i64; N];
        if let Attr::List(list) = &entry.value {
            let mut found = 0;
            for (slot, item) in out.iter_mut().zip(list) {
                if let Attr::Int(n, _) = item {
                    *slot = i64::try_from(*n).unwrap_or(i64::MAX);
                    found += 1;
                }
            }
            if found == N && list.len() == N {
                return Ok(out);
            }
        }
        self.bad_attr(entry, &format!("a list of {N} integers"))
    }

    /// A word in the dialect's spelling or as a string.
    fn word_of<T: Copy>(&mut self, entry: &Entry, all: &'static [T], name: fn(T) -> &'static str) -> Res<T> {
        let word = match &entry.value {
            Attr::Str(text) => text.as_str(),
            Attr::Dialect(_, body) => body.rsplit([' ', '\t']).next().unwrap_or_default().trim_matches('"'),
            _ => "",
        };
        if let Some(found) = all.iter().find(|w| name(**w) == word) {
            return Ok(*found);
        }
        let names: Vec<&str> = all.iter().map(|w| name(*w)).collect();
        let text = format!(
            "{} is one of {}, and `{}` is written",
            entry.key,
            names.join(", "),
            shown(self.slice(entry.value_span))
        );
        let help = match nearest(word, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("write \"{}\"", names.first().copied().unwrap_or_default()),
        };
        self.fail("syntax-attribute", entry.value_span, text, help)
    }
}
