//! Instructions whose text has a shape of its own (syntax.md 4).

use super::{Printer, is_bare};
use crate::dialect;
use tessera_ir::{Arg, Op, Operand, ScalarType, Sign, Type};
use tessera_isa::ops::{CommText, Opcode, Order, PipeText, Role, Text};
use tessera_isa::sem::{Fifo, Sem};

/// The first operand, and the others.
fn split(operands: &[Operand]) -> (&[Operand], &[Operand]) {
    operands.split_at(operands.len().min(1))
}

impl Printer<'_> {
    pub(super) fn special(&mut self, op: &Op, opcode: Opcode) -> &mut Self {
        match opcode.info().text {
            Text::Alloc => {
                for operand in &op.operands {
                    write!(self, " {} = ", operand.role.name()).arg(operand.arg);
                }
                self.attrs(op, opcode).text(" : ").result_types(op)
            }
            Text::Assign => self.tassign(op),
            Text::SetValid => {
                self.text(" ").operands(&op.operands).attrs(op, opcode);
                if op.operands.is_empty() { self } else { self.first_type(op) }
            }
            Text::Subset => {
                let [rows, cols] = op.attrs.as_deref().and_then(|a| a.sizes).unwrap_or_default();
                let (window, valid) = op.operands.split_at(op.operands.len().min(3));
                write!(self.element(window), " sizes [{rows}, {cols}]");
                if !valid.is_empty() {
                    self.text(" valid [").operands(valid).text("]");
                }
                self.attrs(op, opcode);
                let is_old = dialect::operation(self.mnemonic(op, opcode)).is_some_and(|k| k.spelling.gone.is_some());
                if is_old { self.first_type(op) } else { self.first_and_result(op) }
            }
            // The valid extents are the allocation's.
            Text::Slot => {
                let written = op.operands.get(..2).unwrap_or(&op.operands);
                self.element(written).attrs(op, opcode).first_and_result(op)
            }
            Text::MakeView => self.two_lists(op, ["shape", "strides"]).attrs(op, opcode).text(" : ").result_types(op),
            Text::Partition => self.two_lists(op, ["offsets", "sizes"]).attrs(op, opcode).first_and_result(op),
            Text::AddPtr => self.text(" ").operands(&op.operands).attrs(op, opcode).first_and_result(op),
            Text::Address(_) | Text::Dim | Text::Extents([_]) => {
                self.text(" ").operands(&op.operands).attrs(op, opcode).first_and_result(op)
            }
            Text::Extents(_) => self.text(" ").operands(&op.operands).text(" : ").operand_types(&op.operands),
            Text::Print => {
                let format = op.attrs.as_deref().and_then(|a| a.words.first()).cloned().unwrap_or_default();
                write!(self, " ins(\"{format}\"");
                if !op.operands.is_empty() {
                    self.text(", ").operands(&op.operands).text(" : ").operand_types(&op.operands);
                }
                self.text(")")
            }
            Text::LoadScalar => self.element(&op.operands).attrs(op, opcode).first_and_result(op),
            Text::StoreScalar => {
                let (value, place) = split(&op.operands);
                self.text(" ").operands(value).text(",").element(place).attrs(op, opcode).text(" : ");
                self.list(split(place).0.iter().chain(value), |p, o| p.arg_type(o.arg))
            }
            Text::Value => {
                if let Some(value) = op.operands.first() {
                    self.text(" ").arg(value.arg);
                    if matches!(value.arg, Arg::Value(_)) {
                        self.first_type(op);
                    }
                }
                self.attrs(op, opcode)
            }
            Text::Ignored => match op.attrs.as_deref().map(|a| a.words.join(", ")).unwrap_or_default() {
                words if words.is_empty() => self,
                words if words.starts_with('"') => self.text(" ").text(&words),
                words => write!(self, " {{{words}}}"),
            },
            Text::Number => {
                self.attrs(op, opcode);
                let ty = op.results.first().map(|v| self.func.value(*v).ty);
                let usual = Type::Scalar(ScalarType::Int(64, Sign::None));
                let is_usual = ty.is_none_or(|id| *self.module.types.get(id) == usual);
                if is_usual { self } else { self.text(" : ").result_types(op) }
            }
            Text::Pipe(text) => self.pipe_text(op, opcode, text),
            Text::Comm(text) => self.between_ranks(op, opcode, text),
            Text::Meet => {
                self.text("(").operands(&op.operands);
                if !op.operands.is_empty() {
                    self.text(" : ").operand_types(&op.operands);
                }
                let words = op.attrs.as_deref().map(|a| a.words.as_slice()).unwrap_or_default();
                let [mode, cores] = [0, 1].map(|n| words.get(n).map_or("", String::as_str));
                write!(self, ") mode = #pto.sync_all_mode<{mode}>, core_type = #pto.sync_core_type<{cores}>");
                self.attrs(op, opcode)
            }
            Text::Attributes => self.attrs(op, opcode),
            Text::Hint(_) => {
                let words = op.attrs.as_deref().map(|a| a.words.join(" ")).unwrap_or_default();
                if op.operands.is_empty() {
                    return write!(self, " {words}").attrs(op, opcode);
                }
                self.text(" ").operands(&op.operands);
                write!(self, " {words}").attrs(op, opcode).first_type(op)
            }
            _ => self.synchronisation(op, opcode),
        }
    }

    /// `{…}(operands) -> T`, or `(operands) {…} -> T` where tiles move (isa/structure.md 5).
    fn pipe_text(&mut self, op: &Op, opcode: Opcode, text: PipeText) -> &mut Self {
        // The vector core that runs it stands behind the attributes (isa/today.md 7.1).
        let split = op.operands.iter().position(|o| o.role == Role::Number).unwrap_or(op.operands.len());
        let (operands, sub_block) = op.operands.split_at(split);
        if text.attrs_first {
            self.attrs(op, opcode);
        }
        if !operands.is_empty() && text.worded {
            self.text(" (").list(operands, |p, o| {
                let word = text.operands.iter().find(|(role, ..)| *role == o.role).map_or("", |(_, word, _)| word);
                write!(p, "{word} = ").arg(o.arg).text(" : ").arg_type(o.arg)
            });
            self.text(")");
        } else if !operands.is_empty() {
            if matches!(opcode.info().sem, Sem::Fifo(Fifo::Initialize(_))) {
                self.text("(").list(operands, |p, o| p.arg(o.arg).text(" : ").arg_type(o.arg)).text(")");
                return if op.results.is_empty() { self } else { self.text(" -> ").result_types(op) };
            }
            self.text("(").operands(operands);
            // Extents have no types in the text.
            if !operands.iter().all(|o| matches!(o.role, Role::ValidRow | Role::ValidCol)) {
                self.text(" : ").operand_types(operands);
            }
            self.text(")");
        }
        if !text.attrs_first {
            self.attrs(op, opcode);
        }
        if !sub_block.is_empty() {
            self.text(" aiv_subblockid(").operands(sub_block).text(")");
        }
        if op.results.is_empty() { self } else { self.text(" -> ").result_types(op) }
    }

    /// `(dst, src, buf(ping) : T, T, T) {…} -> T` (isa/comm.md 1).
    fn between_ranks(&mut self, op: &Op, opcode: Opcode, text: CommText) -> &mut Self {
        self.text("(");
        let mut open = None;
        for (n, operand) in op.operands.iter().enumerate() {
            let word = text.word(operand.role);
            if open.is_some() && open != word {
                self.text(")");
            }
            self.text(if n > 0 { ", " } else { "" });
            if let Some(word) = word.filter(|_| open != word) {
                write!(self, "{word}(");
            }
            open = word;
            self.arg(operand.arg);
        }
        self.text(if open.is_some() { ")" } else { "" });
        if !op.operands.is_empty() {
            self.text(" : ").operand_types(&op.operands);
        }
        self.text(")").attrs(op, opcode);
        if op.results.is_empty() { self } else { self.text(" -> ").result_types(op) }
    }

    /// ` : T -> T`: the first operand's type and the result's.
    fn first_and_result(&mut self, op: &Op) -> &mut Self {
        self.first_type(op).text(" -> ").result_types(op)
    }

    fn tassign(&mut self, op: &Op) -> &mut Self {
        let (tile, addr) = (op.operand(Role::Tile), op.operand(Role::Addr));
        self.text(" ").list(tile, |p, o| p.arg(o.arg)).text(", ");
        match addr.map(|o| o.arg) {
            Some(Arg::Int(n)) if n >= 0 => write!(self, "@tile(0x{n:X})"),
            Some(arg) => self.arg(arg),
            None => self,
        };
        if !op.results.is_empty() {
            return self.first_and_result(op);
        }
        // The type is written where it was: a listing may name a tile here before it has one.
        let written = |o: &&Operand| o.type_span != o.span;
        match tile.filter(written) {
            Some(tile) => {
                self.text(" : ").list([tile].into_iter().chain(addr.filter(written)), |p, o| p.arg_type(o.arg))
            }
            None => self,
        }
    }

    fn two_lists(&mut self, op: &Op, words: [&str; 2]) -> &mut Self {
        let (global, numbers) = split(&op.operands);
        self.text(" ").operands(global);
        let (first, second) = numbers.split_at(numbers.len() / 2);
        for (word, list) in words.into_iter().zip([first, second]) {
            write!(self, ", {word} = [").operands(list).text("]");
        }
        self
    }

    /// ` %p[%i]`.
    fn element(&mut self, operands: &[Operand]) -> &mut Self {
        let (pointer, index) = split(operands);
        self.text(" ").operands(pointer).text("[").operands(index).text("]")
    }

    fn synchronisation(&mut self, op: &Op, opcode: Opcode) -> &mut Self {
        let words = op.attrs.as_deref().map(|a| a.words.as_slice()).unwrap_or_default();
        let plain = |w: &str| {
            is_bare(w) && (!w.starts_with(|c: char| c.is_ascii_digit()) || w.bytes().all(|b| b.is_ascii_digit()))
        };
        let shown: Vec<String> =
            words.iter().map(|w| if plain(w) { format!("<{w}>") } else { format!("\"{w}\"") }).collect();
        if let (Some(Order::CoreSet | Order::CoreWait), [pipe, ids @ ..]) = (opcode.order(), words) {
            let ids: String = ids.iter().map(|id| format!(", {id}")).collect();
            write!(self, " <{pipe}>{ids}");
            for operand in &op.operands {
                self.text(", ").arg(operand.arg);
            }
            if self.core_flag(op).is_some() {
                return self;
            }
            return self.attrs(op, opcode);
        }
        // The pipe of a buffer is quoted, and a mode may follow (isa/today.md 8.2).
        let is_buffer = matches!(opcode.order(), Some(Order::Take | Order::Release));
        if let (true, [pipe, rest @ ..]) = (is_buffer, words)
            && pipe.starts_with("PIPE_")
        {
            write!(self, " \"{pipe}\"");
            for operand in &op.operands {
                self.text(", ").arg(operand.arg);
            }
            let rest: String = rest.iter().map(|word| format!(", {word}")).collect();
            return write!(self, "{rest}").attrs(op, opcode);
        }
        if let (true, [class, rest @ ..], [operand]) = (is_buffer, words, op.operands.as_slice()) {
            write!(self, "[#pto.pipe_event_type<{class}>, ").arg(operand.arg);
            let rest: String = rest.iter().map(|word| format!(", {word}")).collect();
            return write!(self, "{rest}]").attrs(op, opcode);
        }
        // A computed id stands beside the words (sync.md 2).
        if !shown.is_empty() && !op.operands.is_empty() && op.results.is_empty() {
            return write!(self, "[{}, ", shown.join(", ")).operands(&op.operands).text("]").attrs(op, opcode);
        }
        // Operation classes are words of an enumeration of their own.
        let class = |w: &String| format!("#pto.pipe_event_type<{w}>");
        let is_class = |w: &String| plain(w) && !w.starts_with("PIPE_");
        match (opcode, words) {
            (Opcode::RecordEvent | Opcode::WaitEvent, [from, to, id])
                if is_class(from) && is_class(to) && plain(id) =>
            {
                write!(self, "[{}, {}, <{id}>]", class(from), class(to));
                return self.attrs(op, opcode);
            }
            (Opcode::GetBuf | Opcode::RlsBuf, [pipe, id, mode @ ..])
                if is_class(pipe) && plain(id) && op.operands.is_empty() && mode.len() < 2 =>
            {
                write!(self, "[{}, {id}", class(pipe));
                // The mode means nothing (isa/today.md 8.2).
                if self.is_later() {
                    write!(self, ", {}", mode.first().map_or("0", String::as_str));
                }
                return self.text("]").attrs(op, opcode);
            }
            // `barrier_sync` takes a class, `barrier` a pipe.
            (Opcode::Barrier, [word]) if is_class(word) => {
                write!(self, "_sync[<{word}>]");
                return self.attrs(op, opcode);
            }
            _ => {}
        }
        if opcode == Opcode::Barrier && shown.len() == 1 {
            write!(self, " {}", shown.join(""));
        } else if !shown.is_empty() {
            write!(self, "[{}]", shown.join(", "));
        }
        if op.operands.is_empty() {
            self.attrs(op, opcode);
            return if op.results.is_empty() { self } else { self.text(" : ").result_types(op) };
        }
        self.text(" ").operands(&op.operands).attrs(op, opcode).text(" : ").operand_types(&op.operands);
        if op.results.is_empty() { self } else { self.text(" -> ").result_types(op) }
    }
}
