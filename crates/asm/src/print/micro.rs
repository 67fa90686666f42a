//! Micro instructions and vecscopes (micro/model.md 4).

use super::Printer;
use tessera_ir::{Op, Operand};
use tessera_micro::{Attr, Call, GroupItem, Item, Kind};

/// Groups whose types stand behind their name.
const NAMED: [&str; 4] = ["pad", "shape", "dst_group", "ctrl"];

impl Printer<'_> {
    /// An instruction of the second table: what was read, with words in quotes and groups without commas.
    pub(super) fn micro(&mut self, op: &Op, call: &Call) -> &mut Self {
        write!(self, "pto.{}", call.name);
        let mut operands = op.operands.iter();
        let mut is_first = true;
        // The clauses of a store stand behind commas, other groups do not (the rows' text).
        let commas = call.row.args.iter().any(|arg| matches!(arg.kind, Kind::Clauses | Kind::Word));
        for item in &call.items {
            let separated = !is_first && (commas || !matches!(item, Item::Group(..)));
            self.text(if separated { ", " } else { " " });
            is_first = false;
            match item {
                Item::Value => self.next_operand(&mut operands),
                Item::Indexed => {
                    self.next_operand(&mut operands).text("[");
                    self.next_operand(&mut operands).text("]")
                }
                Item::Word(word) if call.row.args.iter().any(|arg| arg.kind == Kind::Word && arg.name == "mode") => {
                    self.text(word)
                }
                Item::Word(word) if call.row.text.contains("<PIPE_") => write!(self, "<{word}>"),
                Item::Word(word) => write!(self, "\"{word}\""),
                Item::Group(name, items) => {
                    self.text(name).text("(");
                    for (n, item) in items.iter().enumerate() {
                        self.text(if n > 0 { ", " } else { "" });
                        match item {
                            GroupItem::Value => self.next_operand(&mut operands),
                            GroupItem::Word(word) => self.text(word),
                            GroupItem::Named(word) => self.text(word).text(" = ").next_operand(&mut operands),
                            GroupItem::Pair(word, value) => self.text(word).text(" = ").text(value),
                        };
                    }
                    self.text(")")
                }
            };
        }
        for (n, (key, value)) in call.attrs.iter().enumerate() {
            self.text(if n == 0 { " {" } else { ", " }).text(key).text(" = ");
            match value {
                Attr::Word(word) => write!(self, "\"{word}\""),
                Attr::Int(v, Some(ty)) => write!(self, "{v} : {ty}"),
                Attr::Int(v, None) => write!(self, "{v}"),
                Attr::Bool(v) => write!(self, "{v}"),
            };
        }
        self.text(if call.attrs.is_empty() { "" } else { "}" });
        self.micro_types(op, call)
    }

    fn next_operand<'o>(&mut self, operands: &mut impl Iterator<Item = &'o Operand>) -> &mut Self {
        match operands.next() {
            Some(operand) => self.arg(operand.arg),
            None => self,
        }
    }

    fn micro_types(&mut self, op: &Op, call: &Call) -> &mut Self {
        if op.operands.is_empty() {
            return if op.results.is_empty() { self } else { self.text(" : ").result_types(op) };
        }
        // An index between brackets has a type where the row's text has one.
        let with_index = call.row.text.contains("index");
        let mut operands = op.operands.iter();
        let mut types: Vec<(String, &Operand)> = Vec::new();
        for item in &call.items {
            let before = match item {
                Item::Group(name, _) if name.starts_with("loop") => "loop ".to_string(),
                Item::Group(name, _) if NAMED.contains(&name.as_str()) => format!("{name} "),
                _ => String::new(),
            };
            for n in 0..item.count() {
                let Some(operand) = operands.next() else { break };
                if (n == 1 && *item == Item::Indexed && !with_index) || operand.arg.value().is_none() {
                    continue;
                }
                types.push((if n == 0 { before.clone() } else { String::new() }, operand));
            }
        }
        if !types.is_empty() {
            self.text(" : ").list(types, |p, (before, operand)| p.text(&before).arg_type(operand.arg));
        }
        if op.results.is_empty() { self } else { self.text(" -> ").result_types(op) }
    }

    /// `pto.section.cube`, `pto.vecscope`, or `pto.strict_vecscope(%a)`.
    pub(super) fn scope_head(&mut self, op: &Op) -> &mut Self {
        let word = op.scope_word().unwrap_or_default();
        write!(self, "pto.{word}");
        if word == "strict_vecscope" {
            let handed: Vec<Operand> = self.handed(op).filter_map(|op| op.operands.get(1).copied()).collect();
            self.text("(").operands(&handed).text(")");
        }
        self
    }

    /// The operations that hand operands to the arguments of a strict vecscope.
    fn handed<'o>(&'o self, op: &'o Op) -> impl Iterator<Item = &'o Op> + 'o {
        let block = op.blocks.first().map(|block| self.func.block(*block));
        let ops = block.into_iter().flat_map(|block| &block.ops).map(|id| self.func.op(*id));
        ops.take_while(|op| op.is_scope_argument())
    }

    /// The label of a strict vecscope's block.
    pub(super) fn scope_label(&mut self, op: &Op) {
        let args: Vec<_> = self.handed(op).filter_map(|op| op.results.first().copied()).collect();
        if !args.is_empty() {
            self.text("\n").margin().text("^bb0(");
            self.list(&args, |p, v| p.name(*v).text(": ").type_of(*v)).text("):");
        }
    }

    /// The types of the operands of a strict vecscope, behind its block.
    pub(super) fn scope_types(&mut self, op: &Op) {
        if op.scope_word() == Some("strict_vecscope") {
            let handed: Vec<Operand> = self.handed(op).filter_map(|op| op.operands.get(1).copied()).collect();
            self.text(" : (").operand_types(&handed).text(") -> ()");
        }
    }
}
