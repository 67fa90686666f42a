//! Canonical text: printing, reading and printing again gives the same text, and reading gives the same program
//! (syntax.md 5).

mod flow;
mod inst;
mod module;
mod special;
mod trivia;
mod types;

pub(crate) use types::pad_text;
pub use types::print_type;

use crate::Parsed;
use crate::trivia::Trivia;
use rustc_hash::FxHashMap;
use std::fmt::Write;
use tessera_ir::{Arg, Func, Module, NameId, Op, OpAttrs, OpKind, TypeId, ValueId};
use tessera_isa::ops::Text;

/// The canonical text of what was read, with its comments.
///
/// ```
/// let parsed = tessera_asm::parse("%d=tmov %s:!pto.tile<16x8xf32>->!pto.tile<16x8xf32>  // copy", None);
/// let text = tessera_asm::print(&parsed);
/// assert_eq!(text, "%d = tmov %s : !pto.tile<16x8xf32> -> !pto.tile<16x8xf32>  // copy\n");
/// ```
pub fn print(parsed: &Parsed) -> String {
    print_with(&parsed.module, &parsed.trivia)
}

/// The canonical text of a program.
pub fn print_module(module: &Module) -> String {
    print_with(module, &Trivia::default())
}

pub(crate) fn print_with(module: &Module, trivia: &Trivia) -> String {
    let empty = Func::new(NameId(0), tessera_isa::diag::Span::default());
    let mut printer = Printer::new(module, &empty, trivia);
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

/// A program on its way to text.
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
}

impl<'a> Printer<'a> {
    fn new(module: &'a Module, func: &'a Func, trivia: &'a Trivia) -> Self {
        let mut aliases = FxHashMap::default();
        for (name, id, _) in &trivia.type_aliases {
            aliases.entry(*id).or_insert(name.as_str());
        }
        Printer { module, func, func_index: 0, trivia, out: String::new(), indent: 0, comment: 0, aliases }
    }

    fn text(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn name(&mut self, value: ValueId) {
        let name = self.module.names.text(self.func.value(value).name);
        self.out.push('%');
        self.out.push_str(name);
    }

    fn arg(&mut self, arg: Arg) {
        match arg {
            Arg::Value(v) => self.name(v),
            Arg::Int(n) => {
                let _ = write!(self.out, "{n}");
            }
        }
    }

    /// `@name`, quoted where it must be.
    fn symbol(&mut self, name: NameId) {
        let text = self.module.names.text(name);
        self.out.push('@');
        let bare = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.' | b'-');
        if !text.is_empty() && text.bytes().all(bare) && !text.ends_with('-') {
            self.out.push_str(text);
        } else {
            let _ = write!(self.out, "\"{text}\"");
        }
    }

    /// A type, by its alias where it has one.
    fn ty(&mut self, id: TypeId, tile: &str) {
        if let Some(alias) = self.aliases.get(&id) {
            self.out.push('!');
            self.out.push_str(alias);
        } else {
            types::write_type(&mut self.out, self.module.types.get(id), tile);
        }
    }

    /// The type of an operand; a literal counts as an index.
    fn arg_type(&mut self, arg: Arg, tile: &str) {
        match arg {
            Arg::Value(v) => self.ty(self.func.value(v).ty, tile),
            Arg::Int(_) => self.text("index"),
        }
    }

    /// Items with commas between them.
    fn list<T: Copy>(&mut self, items: impl IntoIterator<Item = T>, mut each: impl FnMut(&mut Self, T)) {
        for (n, item) in items.into_iter().enumerate() {
            if n > 0 {
                self.text(", ");
            }
            each(self, item);
        }
    }

    /// `%a, %b = `, or `%0:2 = ` for a pack.
    fn results(&mut self, op: &Op) {
        if op.results.is_empty() {
            return;
        }
        match self.pack(op) {
            Some(base) if op.results.len() > 1 => {
                let _ = write!(self.out, "%{base}:{}", op.results.len());
            }
            _ => self.list(op.results.iter().copied(), Self::name),
        }
        self.text(" = ");
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

    /// Attributes that no instruction knows, as they were written, behind `first` other ones.
    fn unknown_attrs(&mut self, attrs: &OpAttrs, mut first: bool) {
        for (key, value, _) in &attrs.unknown {
            if !first {
                self.text(", ");
            }
            first = false;
            self.attr(key, value);
        }
    }

    fn attr(&mut self, key: &str, value: &str) {
        let bare = key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && key.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.'));
        if bare {
            self.text(key);
        } else {
            let _ = write!(self.out, "\"{key}\"");
        }
        if !value.is_empty() {
            let _ = write!(self.out, " = {value}");
        }
    }

    /// `loc(…)` behind an operation.
    fn tail(&mut self, op: &Op) {
        if let Some(loc) = op.attrs.as_ref().and_then(|a| a.loc.as_ref()) {
            let _ = write!(self.out, " loc({loc})");
        }
    }

    /// One operation without its regions and location.
    fn op(&mut self, op: &Op) {
        self.results(op);
        match &op.kind {
            OpKind::Pto(opcode, form) => match opcode.form(*form).filter(|_| opcode.info().text == Text::Forms) {
                Some(form) => self.instruction(op, *opcode, form),
                None => self.special(op, *opcode),
            },
            OpKind::Other(name) => self.other(op, name),
            _ => self.flow_or_arith(op),
        }
    }
}
