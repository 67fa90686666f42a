//! One micro instruction in a program: what stands in its text, and how the row's operands are found in it.

use crate::table::{Kind, Row, Sem, Space};
use crate::types::Ty;
use smallvec::SmallVec;
use std::ops::Range;

/// An attribute's value.
#[derive(Clone, Debug, PartialEq)]
pub enum Attr {
    Word(String),
    /// An integer, with its type if that is written.
    Int(i64, Option<String>),
    Bool(bool),
}

/// An item of a group.
#[derive(Clone, Debug, PartialEq)]
pub enum GroupItem {
    /// The next operand.
    Value,
    Word(String),
    /// `word = %v`: the next operand under a name.
    Named(String),
    /// `word = word`.
    Pair(String, String),
}

/// An item behind the mnemonic.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// The next operand.
    Value,
    /// The next two operands, `%p[%i]`.
    Indexed,
    Word(String),
    /// `name(…)`.
    Group(String, Vec<GroupItem>),
}

impl Item {
    /// The number of operands that it takes.
    pub fn count(&self) -> usize {
        match self {
            Item::Value => 1,
            Item::Indexed => 2,
            Item::Word(_) => 0,
            Item::Group(_, items) => {
                items.iter().filter(|i| matches!(i, GroupItem::Value | GroupItem::Named(_))).count()
            }
        }
    }
}

/// An instruction's text without its operands' names and types.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The name that is written.
    pub name: &'static str,
    pub row: &'static Row,
    pub items: Vec<Item>,
    pub attrs: Vec<(String, Attr)>,
}

impl Call {
    /// The n-th word of the text.
    pub fn word(&self, n: usize) -> Option<&str> {
        let words = self.items.iter().filter_map(|item| if let Item::Word(word) = item { Some(word) } else { None });
        words.map(String::as_str).nth(n)
    }

    /// An attribute.
    pub fn attr(&self, key: &str) -> Option<&Attr> {
        self.attrs.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// The word of an attribute.
    pub fn attr_word(&self, key: &str) -> Option<&str> {
        match self.attr(key)? {
            Attr::Word(word) => Some(word),
            Attr::Int(..) | Attr::Bool(_) => None,
        }
    }

    /// The operands of every group of a name, in order.
    pub fn groups<'a>(&'a self, name: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
        let mut at = 0;
        self.items.iter().filter_map(move |item| {
            let range = at..at + item.count();
            at = range.end;
            matches!(item, Item::Group(word, _) if word == name || (name == "loop" && is_loop(word))).then_some(range)
        })
    }

    /// The operands of a group that stands at most once.
    pub fn group(&self, name: &str) -> Option<Range<usize>> {
        self.groups(name).next()
    }

    /// The number of operands outside of groups.
    pub fn plain(&self) -> usize {
        let outside = self.items.iter().filter(|item| !matches!(item, Item::Group(..)));
        outside.map(Item::count).sum()
    }

    /// The number of operands.
    pub fn count(&self) -> usize {
        self.items.iter().map(Item::count).sum()
    }

    /// The pipe that it runs on; none where its text names one.
    pub fn pipe(&self) -> Option<tessera_isa::ops::Pipe> {
        let mut parts = self.row.pipe.split("; ");
        let usual = parts.next().unwrap_or_default();
        let own = parts.find_map(|part| part.strip_prefix(self.name).map(str::trim)).unwrap_or(usual);
        tessera_isa::ops::Pipe::ALL.iter().copied().find(|pipe| pipe.cpp().strip_prefix("PIPE_") == Some(own))
    }

    /// Whether an instruction outside of vecscopes writes behind its n-th operand; `None` where the operand is no
    /// pointer to global memory of the row.
    pub fn global(&self, n: usize) -> Option<bool> {
        let is_pointer = |arg: &crate::table::Arg| matches!(arg.kind, Kind::Ptr(Space::Gm | Space::AnySpace));
        match self.row.sem {
            Sem::Dma(_) | Sem::Cube(_) => self.row.args.get(n).filter(|arg| is_pointer(arg)).map(|_| n > 0),
            // The value that is stored comes first.
            Sem::Device if self.items.first() == Some(&Item::Indexed) => (n == 0).then_some(false),
            Sem::Device => (n == 1).then_some(true),
            _ => None,
        }
    }

    /// Whether it is an instruction outside of vecscopes that does something on a pipe.
    pub fn is_on_pipe(&self) -> bool {
        matches!(self.row.sem, Sem::Dma(_) | Sem::Cube(_) | Sem::Sort(_))
    }

    /// The number of the operand that plays a role of the row: operands outside of groups come first in every text.
    pub fn operand(&self, name: &str) -> Option<usize> {
        let plain =
            self.row.args.iter().filter(|arg| !matches!(arg.kind, Kind::Group(..) | Kind::Word | Kind::Clauses));
        let n = plain.clone().position(|arg| arg.name == name)?;
        (n < self.plain()).then_some(n)
    }
}

/// `loop1` and `loop2` are read as `loop` (memory.md 2).
fn is_loop(word: &str) -> bool {
    matches!(word, "loop" | "loop1" | "loop2")
}

/// A call with the types of its operands and results.
#[derive(Clone, Debug)]
pub struct Inst<'a> {
    pub call: &'a Call,
    pub args: SmallVec<[Ty; 8]>,
    pub results: SmallVec<[Ty; 2]>,
}

impl Inst<'_> {
    /// The type of the operand that plays a role.
    pub fn arg(&self, name: &str) -> Option<Ty> {
        self.args.get(self.call.operand(name)?).copied()
    }

    /// The lanes of T: those of the first register operand of that kind, else of the result.
    pub fn lanes(&self) -> Option<tessera_isa::inst::ScalarType> {
        use crate::table::Lane;
        let plain = self.call.row.args.iter().filter(|arg| !matches!(arg.kind, Kind::Group(..) | Kind::Word));
        let of_args = plain.zip(&self.args).find_map(|(arg, ty)| match arg.kind {
            Kind::Reg(Lane::T) | Kind::ScalarOrReg => ty.lane(),
            _ => None,
        });
        of_args.or_else(|| {
            let results = self.call.row.results.iter().zip(&self.results);
            results.filter(|(arg, _)| matches!(arg.kind, Kind::Reg(_))).find_map(|(_, ty)| ty.lane())
        })
    }

    /// Whether a further result is the moved pointer (memory.md 7a).
    pub fn is_moving(&self) -> bool {
        self.call.row.moves && self.results.len() > self.call.row.results.len()
    }
}
