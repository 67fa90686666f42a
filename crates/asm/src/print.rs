//! Canonical text: printing, reading and printing again gives the same text, and reading gives the same program
//! (syntax.md 5).

mod flow;
mod inst;
mod micro;
mod module;
mod special;
mod trivia;
mod types;
mod version;

pub(crate) use types::pad_text;
pub use types::print_type;

use crate::Parsed;
use crate::trivia::Trivia;
use rustc_hash::FxHashMap;
use std::fmt;
use tessera_ir::{Arg, Dialect, Func, LocId, Module, NameId, Op, OpKind, Operand, TextForm, TypeId, ValueId};
use tessera_isa::inst::AttrValue;
use tessera_isa::ops::{AttrName, Text};

/// The canonical text of what was read, with its comments.
///
/// ```
/// let parsed = tessera_asm::parse("%d=tmov %s:!pto.tile<16x8xf32>->!pto.tile<16x8xf32>  // copy", None);
/// let text = tessera_asm::print(&parsed);
/// assert_eq!(text, "%d = tmov %s : !pto.tile<16x8xf32> -> !pto.tile<16x8xf32>  // copy\n");
/// ```
pub fn print(parsed: &Parsed) -> String {
    print_with(&parsed.module, &parsed.trivia, None)
}

/// The canonical text of a version (isa/today.md 1.3). What the version cannot say stays as it is.
///
/// ```
/// use tessera_ir::Dialect;
/// let text = "func.func @k(%p: !pto.ptr<i32>, %i: index) {\n  %x = pto.load_scalar %p[%i] : !pto.ptr<i32> -> i32\n  return\n}\n";
/// let text = tessera_asm::print_as(&tessera_asm::parse(text, None), Dialect::V0_64);
/// assert!(text.contains("%x = pto.load %p[%i] : !pto.ptr<i32> -> i32"));
/// ```
pub fn print_as(parsed: &Parsed, dialect: Dialect) -> String {
    print_with(&parsed.module, &parsed.trivia, Some(dialect))
}

/// The canonical text of a program.
pub fn print_module(module: &Module) -> String {
    print_with(module, &Trivia::default(), None)
}

/// The text in a version, else in the program's own, else in 0.60.
pub(crate) fn print_with(module: &Module, trivia: &Trivia, dialect: Option<Dialect>) -> String {
    let empty = Func::new(NameId(0), tessera_isa::diag::Span::default());
    let mut printer = Printer::new(module, &empty, trivia);
    printer.dialect = dialect.unwrap_or(printer.dialect);
    printer.module();
    printer.out
}

/// One operation on one line, without its regions, for messages.
pub fn print_op(module: &Module, func: &Func, op: &Op) -> String {
    let trivia = Trivia::default();
    let mut printer = Printer::new(module, func, &trivia);
    printer.op(op);
    printer.tail(op);
    printer.out
}

/// The attribute of a module that says its version.
pub(crate) const DIALECT: &str = "pto.dialect";

/// The name of tile types, except in the signatures of SSA and assembly.
const TILE: &str = "!pto.tile_buf";

/// A program on its way to text. Methods that print return the printer, so that one line of text is one chain.
struct Printer<'a> {
    module: &'a Module,
    func: &'a Func,
    func_index: usize,
    trivia: &'a Trivia,
    out: String,
    indent: usize,
    /// The first comment that is not printed yet.
    comment: usize,
    aliases: FxHashMap<TypeId, &'a str>,
    tile: &'static str,
    dialect: Dialect,
    /// Whether the module says its version.
    is_stated: bool,
    /// Whether some pipe of the function has an id.
    has_ids: bool,
}

/// Whether some pipe of a function has an id other than 0.
fn has_ids(func: &Func) -> bool {
    let id = |op: &Op| op.known_attrs().get(AttrName::PipeId);
    func.ops.iter().filter_map(id).any(|id| id != AttrValue::Int(0))
}

/// Whether the text may be written as a word, without quotes.
fn is_bare(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(crate::lex::is_word)
}

impl<'a> Printer<'a> {
    fn new(module: &'a Module, func: &'a Func, trivia: &'a Trivia) -> Self {
        let mut aliases = FxHashMap::default();
        for (name, id, _) in &trivia.type_aliases {
            aliases.entry(*id).or_insert(name.as_str());
        }
        Printer {
            module,
            func,
            func_index: 0,
            trivia,
            out: String::new(),
            indent: 0,
            comment: 0,
            aliases,
            tile: TILE,
            dialect: module.dialect.unwrap_or_else(|| Printer::unstated(module)),
            is_stated: module.has_wrapper && module.attrs.iter().any(|(key, _)| key == DIALECT),
            has_ids: has_ids(func),
        }
    }

    fn text(&mut self, text: &str) -> &mut Self {
        self.out.push_str(text);
        self
    }

    /// For `write!(self, …)`; writing to a string cannot fail.
    fn write_fmt(&mut self, text: fmt::Arguments<'_>) -> &mut Self {
        let _ = fmt::Write::write_fmt(&mut self.out, text);
        self
    }

    fn name(&mut self, value: ValueId) -> &mut Self {
        let name = self.module.names.text(self.func.value(value).name);
        self.text("%").text(name)
    }

    fn arg(&mut self, arg: Arg) -> &mut Self {
        match arg {
            Arg::Value(v) => self.name(v),
            Arg::Int(n) => write!(self, "{n}"),
        }
    }

    /// `@name`, quoted where it must be.
    fn symbol(&mut self, text: &str) -> &mut Self {
        if is_bare(&text.replace('-', "_")) && !text.ends_with('-') {
            write!(self, "@{text}")
        } else {
            write!(self, "@\"{text}\"")
        }
    }

    /// A type, by its alias where it has one.
    fn ty(&mut self, id: TypeId) -> &mut Self {
        if let Some(alias) = self.aliases.get(&id).copied() {
            return self.text("!").text(alias);
        }
        self.write_type(id)
    }

    fn type_of(&mut self, value: ValueId) -> &mut Self {
        self.ty(self.func.value(value).ty)
    }

    /// The type of an operand; a literal counts as an index.
    fn arg_type(&mut self, arg: Arg) -> &mut Self {
        match arg {
            Arg::Value(v) => self.type_of(v),
            Arg::Int(_) => self.text("index"),
        }
    }

    fn list<T>(&mut self, items: impl IntoIterator<Item = T>, each: impl Fn(&mut Self, T) -> &mut Self) -> &mut Self {
        for (n, item) in items.into_iter().enumerate() {
            each(if n > 0 { self.text(", ") } else { self }, item);
        }
        self
    }

    fn operands(&mut self, operands: &[Operand]) -> &mut Self {
        self.list(operands, |p, o| p.arg(o.arg))
    }

    fn operand_types(&mut self, operands: &[Operand]) -> &mut Self {
        self.list(operands, |p, o| p.arg_type(o.arg))
    }

    fn result_types(&mut self, op: &Op) -> &mut Self {
        self.list(&op.results, |p, v| p.type_of(*v))
    }

    /// `%a, %b = `, or `%0:2 = ` for a pack.
    fn results(&mut self, op: &Op) -> &mut Self {
        if op.results.is_empty() {
            return self;
        }
        match self.pack(op) {
            Some(base) if op.results.len() > 1 => write!(self, "%{base}:{}", op.results.len()),
            _ => self.list(&op.results, |p, v| p.name(*v)),
        };
        self.text(" = ")
    }

    /// The common name of results that were written as a pack.
    fn pack(&self, op: &Op) -> Option<&'a str> {
        let mut base = None;
        for (n, value) in op.results.iter().enumerate() {
            let (head, tail) = self.module.names.text(self.func.value(*value).name).split_once('#')?;
            if tail != n.to_string() || base.is_some_and(|b| b != head) {
                return None;
            }
            base = Some(head);
        }
        base
    }

    /// Attributes that no instruction knows, as they were written, behind `before`.
    fn unknown_attrs(&mut self, op: &Op, before: &str, after: &str) -> &mut Self {
        match op.attrs.as_deref().filter(|a| !a.unknown.is_empty()) {
            Some(attrs) => self.text(before).list(&attrs.unknown, |p, (key, value, _)| p.attr(key, value)).text(after),
            None => self,
        }
    }

    fn attr(&mut self, key: &str, value: &str) -> &mut Self {
        if is_bare(key) && key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            self.text(key);
        } else {
            write!(self, "\"{key}\"");
        }
        if value.is_empty() { self } else { write!(self, " = {value}") }
    }

    /// `loc(…)` behind an operation.
    fn tail(&mut self, op: &Op) {
        self.loc(op.loc);
    }

    fn loc(&mut self, loc: Option<LocId>) -> &mut Self {
        match loc.and_then(|id| self.module.locs.get(id)) {
            Some(loc) => write!(self, " loc({})", loc.text),
            None => self,
        }
    }

    /// One operation without its regions and location.
    fn op(&mut self, op: &Op) {
        self.results(op);
        match &op.kind {
            OpKind::Pto(opcode, form) => {
                let mnemonic = self.core_flag(op).unwrap_or_else(|| self.mnemonic(op, *opcode));
                self.text(if op.form == TextForm::Asm { "" } else { "pto." }).text(mnemonic);
                match opcode.form(*form).filter(|_| opcode.info().text == Text::Forms) {
                    Some(form) => self.instruction(op, *opcode, form),
                    None => self.special(op, *opcode),
                }
            }
            OpKind::Micro(call) => self.micro(op, call),
            OpKind::Other(name) => self.other(op, name),
            _ => self.flow_or_arith(op),
        };
    }
}
