//! The numbers and clauses of an instruction of the cube core.

use crate::call::{Attr, GroupItem, Inst, Item};
use crate::check::{self, Known, Refusal, broken};
use crate::footprint::{Touch, Whose};
use crate::table::{Space, is_l0b};
use crate::types::Ty;
use tessera_isa::elem::Elem;

/// An instruction, and what is known of its operands.
pub(super) struct Fields<'a> {
    pub inst: &'a Inst<'a>,
    pub known: &'a [Known],
}

impl Fields<'_> {
    pub fn at(&self, n: usize) -> Option<i64> {
        self.known.get(n).and_then(|v| v.int())
    }

    /// The operand that plays a role.
    pub fn int(&self, name: &str) -> Option<i64> {
        self.at(self.inst.call.operand(name)?)
    }

    /// The n-th operand of a group.
    pub fn in_group(&self, group: &str, n: usize) -> Option<i64> {
        let range = self.inst.call.group(group)?;
        range.clone().nth(n).and_then(|n| self.at(n))
    }

    /// The pointer's element.
    pub fn elem(&self, n: usize) -> Elem {
        if let Some(Ty::Ptr(elem, _)) = self.inst.args.get(n) { *elem } else { Elem::U8 }
    }

    /// Bytes of a pointer's element; a pair of fp4 codes is one.
    pub fn size(&self, n: usize) -> i64 {
        self.elem(n).bytes_of(1) as i64
    }

    pub fn space(&self, n: usize) -> Space {
        self.inst.args.get(n).and_then(|ty| ty.pointer()).map_or(Space::Gm, |(space, _)| space)
    }

    pub fn has_word(&self, word: &str) -> bool {
        self.inst.call.items.iter().any(|item| matches!(item, Item::Word(given) if given == word))
    }

    /// The items of a group.
    pub fn group(&self, name: &str) -> Option<&[GroupItem]> {
        self.inst.call.items.iter().find_map(|item| match item {
            Item::Group(word, items) if word == name => Some(items.as_slice()),
            _ => None,
        })
    }

    /// The only word of a group.
    pub fn word_in(&self, group: &str) -> Option<&str> {
        self.group(group)?
            .iter()
            .find_map(|item| if let GroupItem::Word(word) = item { Some(word.as_str()) } else { None })
    }

    /// The word behind `key =` in a group.
    pub fn pair_in(&self, group: &str, key: &str) -> Option<&str> {
        self.group(group)?.iter().find_map(|item| match item {
            GroupItem::Pair(name, word) if name == key => Some(word.as_str()),
            _ => None,
        })
    }

    /// The operand behind `key =` in a group.
    pub fn named_in(&self, group: &str, key: &str) -> Option<usize> {
        let first = self.inst.call.group(group)?.start;
        let operands = self.group(group)?.iter().filter(|i| matches!(i, GroupItem::Value | GroupItem::Named(_)));
        operands.enumerate().find_map(|(n, item)| match item {
            GroupItem::Named(name) if name == key => Some(first + n),
            _ => None,
        })
    }

    /// The operand of a group that has no name.
    pub fn value_in(&self, group: &str) -> Option<usize> {
        let first = self.inst.call.group(group)?.start;
        let operands = self.group(group)?.iter().filter(|i| matches!(i, GroupItem::Value | GroupItem::Named(_)));
        operands.enumerate().find_map(|(n, item)| matches!(item, GroupItem::Value).then_some(first + n))
    }

    pub fn is_on(&self, attribute: &str) -> bool {
        match self.inst.call.attr(attribute) {
            Some(Attr::Bool(v)) => *v,
            Some(Attr::Int(v, _)) => *v != 0,
            Some(Attr::Word(word)) => word == "true",
            None => false,
        }
    }

    /// `X-range`.
    pub fn range(&self, name: &str, given: Option<i64>, least: i64, most: i64) -> Result<(), Refusal> {
        match given {
            Some(v) if !(least..=most).contains(&v) => {
                let what = format!("{name} is {v}, and must be {least} to {most}");
                Err(broken(self.inst, "range", what, "use several instructions"))
            }
            _ => Ok(()),
        }
    }

    /// `X-align` of a base address on the chip.
    pub fn base(&self, n: usize, unit: i64) -> Result<(), Refusal> {
        self.aligned(n, self.at(n), unit)
    }

    pub fn aligned(&self, n: usize, at: Option<i64>, unit: i64) -> Result<(), Refusal> {
        match at.filter(|at| self.space(n) != Space::Gm && at.rem_euclid(unit) != 0) {
            Some(at) => {
                let what = format!("{} byte {at} is no multiple of {unit}", self.space(n).name());
                Err(broken(self.inst, "align", what, format!("{} is one", at.wrapping_sub(at.rem_euclid(unit)))))
            }
            None => Ok(()),
        }
    }

    /// `X-align` of a stride in L1 or UB.
    pub fn stride(&self, name: &str, bytes: Option<i64>) -> Result<(), Refusal> {
        match bytes.filter(|bytes| bytes % 32 != 0) {
            Some(bytes) => {
                let what = format!("{name} is {bytes} bytes, which is no multiple of 32");
                Err(broken(self.inst, "align", what, "use a multiple of 32 bytes"))
            }
            None => Ok(()),
        }
    }

    /// The `-bounds` rule of bytes from a pointer on the chip on.
    pub fn bounds(&self, n: usize, at: Option<i64>, len: Option<i64>) -> Result<(), Refusal> {
        match (at, len, self.space(n)) {
            (_, _, Space::Gm) => Ok(()),
            (Some(at), Some(len), space) => check::bounds(self.inst, space, at, len.max(0) as u64),
            _ => Ok(()),
        }
    }

    /// The numbers behind the two pointers of a load into L0, by position or by name.
    pub fn numbers(&self, short: [&str; 4], full: [&str; 6]) -> Result<Numbers, Refusal> {
        let (mut given, mut at): (Vec<(usize, Option<&str>)>, usize) = (Vec::new(), 0);
        for item in &self.inst.call.items {
            let name = if let Item::Group(name, _) = item { Some(name.as_str()) } else { None };
            for _ in 0..item.count() {
                given.push((at, name));
                at += 1;
            }
        }
        let given: Vec<_> = given.into_iter().skip(2).collect();
        let wrong = || {
            let what = format!("{} numbers are given", given.len());
            let help = format!("write {}, or {}", short.join(", "), full.join(", "));
            Err(broken(self.inst, "form", what, help))
        };
        let names: &[&str] = match given.len() {
            2 | 4 => &short[..given.len()],
            6 => &full,
            _ => return wrong(),
        };
        let mut numbers = [None; 6];
        let mut seen = [false; 6];
        for (n, (at, name)) in given.iter().enumerate() {
            let Some(place) = name.map_or(Some(n), |name| names.iter().position(|known| *known == name)) else {
                return wrong();
            };
            if std::mem::replace(&mut seen[place], true) {
                return wrong();
            }
            numbers[place] = self.at(*at);
        }
        Ok(match names.len() {
            6 => Numbers::Full(numbers),
            n => {
                let start = |k: usize| if n == 4 { numbers[k] } else { Some(0) };
                Numbers::Short { extents: [numbers[0], numbers[1]], start: [start(2), start(3)] }
            }
        })
    }

    /// Whether the destination is L0B.
    pub fn is_right(&self) -> bool {
        is_l0b(self.inst.call.name)
    }

    pub fn touch(&self, operand: usize, at: i64, len: i64, writes: bool) -> Touch {
        Touch { operand, whose: Whose::Own, at: self.at(operand).unwrap_or(0) + at, len: len.max(0) as u64, writes }
    }
}

/// The numbers of a load into L0.
#[derive(Clone, Copy, Debug)]
pub(super) enum Numbers {
    /// Rows or columns and k as they are written, and the first box.
    Short {
        extents: [Option<i64>; 2],
        start: [Option<i64>; 2],
    },
    Full([Option<i64>; 6]),
}
