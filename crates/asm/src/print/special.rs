//! Instructions whose text has a shape of its own (syntax.md 4).

use super::Printer;
use std::fmt::Write;
use tessera_ir::{Arg, Op, Operand, ScalarType, Sign, TextForm, Type};
use tessera_isa::ops::{Opcode, Role, Text};

const TILE: &str = "!pto.tile_buf";

impl Printer<'_> {
    pub(super) fn special(&mut self, op: &Op, opcode: Opcode) {
        if op.form != TextForm::Asm {
            self.text("pto.");
        }
        self.text(opcode.mnemonic());
        match opcode.info().text {
            Text::Alloc => {
                for operand in &op.operands {
                    let _ = write!(self.out, " {} = ", operand.role.name());
                    self.arg(operand.arg);
                }
                self.attrs(op, opcode);
                self.text(" : ");
                self.result_types(op);
            }
            Text::Assign => self.tassign(op),
            Text::SetValid => {
                self.text(" ");
                self.operands(&op.operands);
                self.attrs(op, opcode);
                if let Some(tile) = op.operands.first() {
                    self.text(" : ");
                    self.arg_type(tile.arg, TILE);
                }
            }
            Text::Subset => self.subset(op, opcode),
            Text::MakeView => {
                self.two_lists(op, ["shape", "strides"]);
                self.attrs(op, opcode);
                self.text(" : ");
                self.result_types(op);
            }
            Text::Partition => {
                self.two_lists(op, ["offsets", "sizes"]);
                self.attrs(op, opcode);
                self.first_and_result(op);
            }
            Text::AddPtr => {
                self.text(" ");
                self.operands(&op.operands);
                self.attrs(op, opcode);
                self.first_and_result(op);
            }
            Text::LoadScalar => {
                self.text(" ");
                self.element(&op.operands);
                self.attrs(op, opcode);
                self.first_and_result(op);
            }
            Text::StoreScalar => {
                self.text(" ");
                let (value, place) = op.operands.split_at(op.operands.len().min(1));
                self.operands(value);
                self.text(", ");
                self.element(place);
                self.attrs(op, opcode);
                self.text(" : ");
                self.list(place.iter().take(1).chain(value).map(|o| o.arg), |p, arg| p.arg_type(arg, TILE));
            }
            Text::Value => {
                if let Some(value) = op.operands.first() {
                    self.text(" ");
                    self.arg(value.arg);
                    if matches!(value.arg, Arg::Value(_)) {
                        self.text(" : ");
                        self.arg_type(value.arg, TILE);
                    }
                }
                self.attrs(op, opcode);
            }
            Text::Ignored => {
                let words = op.attrs.as_deref().map(|a| a.words.join(", ")).unwrap_or_default();
                if !words.is_empty() {
                    let _ = write!(self.out, " {{{words}}}");
                }
            }
            Text::Number => {
                self.attrs(op, opcode);
                let ty = op.results.first().map(|v| self.func.value(*v).ty);
                let usual = Type::Scalar(ScalarType::Int(64, Sign::None));
                if ty.is_some_and(|id| *self.module.types.get(id) != usual) {
                    self.text(" : ");
                    self.result_types(op);
                }
            }
            Text::Attributes => self.attrs(op, opcode),
            _ => self.synchronisation(op, opcode),
        }
    }

    /// ` : T -> T`: the first operand's type and the result's.
    fn first_and_result(&mut self, op: &Op) {
        self.text(" : ");
        if let Some(first) = op.operands.first() {
            self.arg_type(first.arg, TILE);
        }
        self.text(" -> ");
        self.result_types(op);
    }

    fn tassign(&mut self, op: &Op) {
        let tile = op.operand(Role::Tile).copied();
        let addr = op.operand(Role::Addr).copied();
        self.text(" ");
        if let Some(tile) = tile {
            self.arg(tile.arg);
        }
        self.text(", ");
        match addr.map(|o| o.arg) {
            Some(Arg::Int(n)) if n >= 0 => {
                let _ = write!(self.out, "@tile(0x{n:X})");
            }
            Some(arg) => self.arg(arg),
            None => {}
        }
        // The type is written where it was: a listing may name a tile here before it has one.
        let written = |o: &Operand| o.type_span != o.span;
        if !op.results.is_empty() {
            self.first_and_result(op);
        } else if let Some(tile) = tile.filter(written) {
            self.text(" : ");
            self.arg_type(tile.arg, TILE);
            if let Some(addr) = addr.filter(written) {
                self.text(", ");
                self.arg_type(addr.arg, TILE);
            }
        }
    }

    fn subset(&mut self, op: &Op, opcode: Opcode) {
        self.text(" ");
        let (src, at) = op.operands.split_at(op.operands.len().min(1));
        self.operands(src);
        self.text("[");
        self.operands(at);
        let [rows, cols] = op.attrs.as_deref().and_then(|a| a.sizes).unwrap_or_default();
        let _ = write!(self.out, "] sizes [{rows}, {cols}]");
        self.attrs(op, opcode);
        self.text(" : ");
        if let Some(src) = src.first() {
            self.arg_type(src.arg, TILE);
        }
    }

    fn two_lists(&mut self, op: &Op, words: [&str; 2]) {
        let (global, numbers) = op.operands.split_at(op.operands.len().min(1));
        self.text(" ");
        self.operands(global);
        let (first, second) = numbers.split_at(numbers.len() / 2);
        for (word, list) in words.into_iter().zip([first, second]) {
            let _ = write!(self.out, ", {word} = [");
            self.operands(list);
            self.text("]");
        }
    }

    /// `%p[%i]`.
    fn element(&mut self, operands: &[Operand]) {
        let (pointer, index) = operands.split_at(operands.len().min(1));
        self.operands(pointer);
        self.text("[");
        self.operands(index);
        self.text("]");
    }

    fn synchronisation(&mut self, op: &Op, opcode: Opcode) {
        let words = op.attrs.as_deref().map(|a| a.words.as_slice()).unwrap_or_default();
        let plain = |w: &str| {
            !w.is_empty()
                && w.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.'))
                && (!w.starts_with(|c: char| c.is_ascii_digit()) || w.bytes().all(|b| b.is_ascii_digit()))
        };
        let shown: Vec<String> =
            words.iter().map(|w| if plain(w) { format!("<{w}>") } else { format!("\"{w}\"") }).collect();
        if opcode == Opcode::Barrier && shown.len() == 1 {
            let _ = write!(self.out, " {}", shown.join(""));
        } else if !shown.is_empty() {
            let _ = write!(self.out, "[{}]", shown.join(", "));
        }
        if !op.operands.is_empty() {
            self.text(" ");
            self.operands(&op.operands);
        }
        self.attrs(op, opcode);
        if !op.operands.is_empty() {
            self.text(" : ");
            self.list(op.operands.iter().map(|o| o.arg), |p, arg| p.arg_type(arg, TILE));
            if !op.results.is_empty() {
                self.text(" -> ");
                self.result_types(op);
            }
        } else if !op.results.is_empty() {
            self.text(" : ");
            self.result_types(op);
        }
    }
}
