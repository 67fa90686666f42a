//! Order between pipes and between cores (sync.md 2 and 5), and what else an instruction says without computing.

use crate::{Emitted, Emitter, cannot};
use tessera_ir::{Op, Type};
use tessera_isa::ops::{AttrName, Opcode, Order, Ordered, Role};
use tessera_isa::profile::Profile;

/// The name of a pipe, written as a pipe or as a class of instructions.
fn pipe(word: &str) -> Option<&'static str> {
    match Ordered::parse(word)? {
        Ordered::All => Some("PIPE_ALL"),
        Ordered::One(pipe) => Some(pipe.cpp()),
    }
}

impl Emitter<'_> {
    /// The id of a flag: a word, or an operand.
    fn flag_id(&self, op: &Op, word: Option<&String>) -> Option<String> {
        // The header names the ids that hardware has.
        let named = |n: i64| {
            if (0..8).contains(&n) { format!("EVENT_ID{n}") } else { format!("static_cast<event_t>({n})") }
        };
        let number = |word: &String| word.trim_start_matches("EVENT_ID").parse().ok();
        let written = word.map(|word| number(word).map_or_else(|| word.clone(), named));
        written.or_else(|| {
            let arg = op.operands.last()?.arg;
            Some(match self.constant(arg) {
                Some(n) => named(n),
                _ => format!("static_cast<event_t>({})", self.int(arg)),
            })
        })
    }

    pub(crate) fn order(&mut self, op: &Op, opcode: Opcode) -> Emitted<()> {
        let words = op.attrs.as_ref().map_or(&[][..], |a| &a.words);
        let unclear = || cannot(op.span, format!("pto.{opcode} as it is written here"), "name its pipes and its id");
        let first = || words.first().and_then(|word| pipe(word)).ok_or_else(unclear);
        match opcode.order() {
            Some(order @ (Order::Set | Order::Wait | Order::Record | Order::Await)) => {
                let name = if matches!(order, Order::Set | Order::Record) { "set_flag" } else { "wait_flag" };
                let to = words.get(1).and_then(|word| pipe(word)).ok_or_else(unclear)?;
                let id = self.flag_id(op, words.get(2)).ok_or_else(unclear)?;
                let from = first()?;
                self.line(&format!("{name}({from}, {to}, {id});"));
            }
            Some(Order::Barrier) => {
                let pipe = if words.is_empty() { "PIPE_ALL" } else { first()? };
                self.line(&format!("pipe_barrier({pipe});"));
            }
            Some(order @ (Order::Take | Order::Release)) => {
                let name = if order == Order::Take { "get_buf" } else { "rls_buf" };
                let number = |n: usize| words.get(n).and_then(|word| word.parse::<u32>().ok());
                let id = number(1).map(|n| n.to_string()).or_else(|| op.operands.first().map(|o| self.int(o.arg)));
                let (id, mode) = (id.ok_or_else(unclear)?, number(2).unwrap_or(0));
                self.line(&format!("{name}({}, {id}, {mode});", first()?));
            }
            Some(order @ (Order::CoreSet | Order::CoreWait)) => self.token(op, order == Order::CoreSet)?,
            Some(Order::Events) => {
                let is_event = |v| matches!(self.ty(v), Type::Event);
                if op.values().any(is_event) {
                    return Err(cannot(
                        op.span,
                        "an event of the text",
                        "use set_flag and wait_flag, or let flags be inserted",
                    ));
                }
                self.line("pipe_barrier(PIPE_ALL);");
            }
            Some(Order::Fence) => {
                self.line("pipe_barrier(PIPE_ALL);");
                self.line("dsb(DSB_DDR);");
            }
            Some(Order::Meet) => self.meet(op)?,
            // Hints on cache lines, and the address of the flags between cores.
            Some(Order::Nothing | Order::Cache) => self.hint(op, opcode)?,
            None => {}
        }
        Ok(())
    }

    /// What says something to the hardware and orders nothing.
    fn hint(&mut self, op: &Op, opcode: Opcode) -> Emitted<()> {
        let operand = op.operands.first().and_then(|o| o.arg.value());
        let data = match operand.map(|v| (v, self.ty(v))) {
            Some((v, Type::Ptr(..))) => Some(self.value(v)),
            Some((v, Type::View(_) | Type::Memref(_))) => Some(self.view(v)?.data.clone()),
            Some((v, Type::Scalar(_))) => Some(self.value(v)),
            _ => None,
        };
        match (opcode, data) {
            (Opcode::SetFfts, Some(data)) => self.line(&format!("set_ffts_base_addr((uint64_t)({data}));")),
            (Opcode::SetFfts, None) => {}
            (_, Some(data)) => self.line(&format!("dcci({data}, SINGLE_CACHE_LINE);")),
            (_, None) => self.line("dcci(static_cast<__gm__ void *>(nullptr), ENTIRE_DATA_CACHE);"),
        }
        Ok(())
    }

    /// A token for another core, or the wait for one: flags of the block on a2a3, of a pair of cores on a5.
    fn token(&mut self, op: &Op, is_set: bool) -> Emitted<()> {
        let Some((pipe, id)) = op.token() else {
            return Err(cannot(op.span, "a token without a pipe and an id", "write sync.set <PIPE_V>, 0"));
        };
        let (pipe, known, id) = (pipe.cpp(), self.constant(id), self.int(id));
        if self.profile == Profile::A2a3 {
            let mode = op.known_attrs().int(tessera_isa::ops::AttrName::FftsMode).unwrap_or(2);
            // Bit 0 on, the mode from bit 4, the id from bit 8.
            let bits = 1 | mode << 4;
            self.line(&match (is_set, known) {
                (true, Some(n)) => format!("ffts_cross_core_sync({pipe}, {:#x});", bits | i128::from(n) << 8),
                (true, None) => format!("ffts_cross_core_sync({pipe}, {bits:#x} | {id} << 8);"),
                (false, _) => format!("wait_flag_dev({id});"),
            });
        } else {
            let name = if is_set { "set_intra_block" } else { "wait_intra_block" };
            self.line(&format!("{name}({pipe}, {id});"));
        }
        Ok(())
    }

    /// Reads ahead into the cache change nothing; what waits for one has no word in C++.
    pub(crate) fn read_ahead(&self, op: &Op, opcode: Opcode) -> Emitted<()> {
        let is_waited_for = |id: &tessera_ir::OpId| self.func.op(*id).opcode().is_some_and(|o| o.order().is_none());
        match op.results.iter().any(|v| self.uses[v.index()].iter().any(is_waited_for)) {
            true => Err(cannot(op.span, format!("pto.{opcode} with a wait for it"), "take the wait out")),
            false => Ok(()),
        }
    }

    /// TPRINT of a tile, maybe through a place in global memory, or of a view.
    pub(crate) fn print_tile(&mut self, op: &Op) -> Emitted<()> {
        let format = op.known_attrs().word(AttrName::PrintFormat);
        let format = format.map(|word| format!("<{}::{}>", AttrName::PrintFormat.cpp(), word.cpp)).unwrap_or_default();
        let mut views = [Role::Global, Role::ScratchView].into_iter().filter_map(|role| op.operand(role)?.arg.value());
        let mut arguments: Vec<String> =
            self.tile(op, Role::Tile).or_else(|_| self.tile(op, Role::Src)).into_iter().collect();
        views.try_for_each(|view| self.view_for(view, op).map(|view| arguments.push(view)))?;
        self.line(&format!("TPRINT{format}({});", arguments.join(", ")));
        Ok(())
    }

    /// `cce::printf` of scalars.
    pub(crate) fn print(&mut self, op: &Op) -> Emitted<()> {
        let words = op.attrs.as_ref().map_or(&[][..], |a| &a.words);
        let mut text = String::new();
        let format = self.with_lengths(words.first().map_or("", String::as_str), op);
        let mut rest = format.chars();
        while let Some(c) = rest.next() {
            match c {
                // Escapes of the text are those of C++.
                '\\' => text.extend(['\\', rest.next().filter(|c| "nt\"\\".contains(*c)).unwrap_or('\\')]),
                '"' => text.push_str("\\\""),
                '\n' => text.push_str("\\n"),
                '\t' => text.push_str("\\t"),
                c if c.is_ascii_graphic() || c == ' ' => text.push(c),
                c => {
                    let mut bytes = [0; 4];
                    c.encode_utf8(&mut bytes).bytes().for_each(|b| text.push_str(&format!("\\{b:03o}")));
                }
            }
        }
        let mut arguments = vec![format!("\"{text}\"")];
        arguments.extend(op.operands.iter().map(|o| self.printed(o.arg)));
        self.line(&format!("cce::printf({});", arguments.join(", ")));
        Ok(())
    }

    /// A format with the length of what it prints: an integer of 64 bits is a `long long`.
    fn with_lengths(&self, format: &str, op: &Op) -> String {
        let (mut text, mut rest) = (String::new(), format.chars().peekable());
        let mut operands = op.operands.iter();
        while let Some(c) = rest.next() {
            text.push(c);
            if c != '%' {
                continue;
            }
            if rest.next_if_eq(&'%').is_some() {
                text.push('%');
                continue;
            }
            while let Some(c) = rest.next_if(|c| "-+ #.0123456789".contains(*c)) {
                text.push(c);
            }
            while rest.next_if(|c| "hlzjt".contains(*c)).is_some() {}
            let ty = operands.next().map(|o| self.scalar_of(o.arg));
            let is_long = ty.is_some_and(|ty| !matches!(ty, tessera_ir::ScalarType::Float(_)) && ty.bits() == 64);
            if is_long && rest.peek().is_some_and(|c| "diouxX".contains(*c)) {
                text.push_str("ll");
            }
        }
        text
    }

    /// A scalar as printf takes it.
    fn printed(&self, arg: tessera_ir::Arg) -> String {
        let text = self.signed_or_not(arg);
        match self.scalar_of(arg) {
            tessera_ir::ScalarType::Float(_) => format!("static_cast<float>({text})"),
            ty if ty.bits() == 64 => format!("static_cast<long long>({text})"),
            _ => text,
        }
    }
}
