//! Communication between ranks: the calls of `pto::comm`, and meetings of all cores (cpp.md 6.8, isa/comm.md).

use crate::views::{numbers_of, open_numbers};
use crate::{Emitted, Emitter, cannot};
use tessera_ir::{Arg, Op, Type, ValueId};
use tessera_isa::diag::Diagnostic;
use tessera_isa::inst::AtomicType;
use tessera_isa::ops::{AttrName, Opcode, Role};
use tessera_isa::sem::{Comm, Sem};

/// The name of the call: the mnemonic in capitals, without its prefix.
fn name(opcode: Opcode) -> String {
    let mnemonic = opcode.info().mnemonic;
    mnemonic.rsplit('.').next().unwrap_or(mnemonic).to_uppercase()
}

impl Emitter<'_> {
    pub(crate) fn communicate(&mut self, op: &Op, opcode: Opcode) -> Emitted<()> {
        let Sem::Comm(comm) = opcode.info().sem else { return Ok(()) };
        self.communicates = true;
        let call = format!("comm::{}", name(opcode));
        let word = |name: AttrName| {
            op.known_attrs().word(name).map(|word| format!(", comm::{}::{}", name.cpp(), word.cpp)).unwrap_or_default()
        };
        match comm {
            Comm::Put | Comm::Get => {
                let [dst, src] = [Role::DstView, Role::SrcView].map(|role| self.shared_view(op, role));
                let (dst, src, staging) = (dst?, src?, self.staging(op)?);
                let is_added = op.known_attrs().atomic_type() == Some(AtomicType::Add);
                let template = if is_added { "<AtomicType::AtomicAdd>" } else { "" };
                self.line(&format!("{call}{template}({dst}, {src}{staging});"));
            }
            Comm::Notify | Comm::Wait | Comm::Test => {
                let (signal, value) = (self.shared_view(op, Role::Signal)?, self.signal_value(op));
                let word = word(if comm == Comm::Notify { AttrName::NotifyOp } else { AttrName::WaitCmp });
                return self.flag_or_line(op, format!("{call}({signal}, {value}{word})"));
            }
            Comm::Broadcast | Comm::Gather | Comm::Scatter | Comm::Reduce => {
                let side = if op.operand(Role::DstView).is_some() { Role::DstView } else { Role::SrcView };
                let (group, view) = (self.group(op)?, self.shared_view(op, side)?);
                let acc = op.operand(Role::Acc).and_then(|o| o.arg.value());
                let acc = acc.map(|v| format!(", {}", self.value(v))).unwrap_or_default();
                let (staging, word) = (self.staging(op)?, word(AttrName::ReduceOp));
                self.line(&format!("{call}({group}, {view}{acc}{staging}{word});"));
            }
            Comm::Session => self.session(op)?,
            Comm::PutAsync | Comm::GetAsync => {
                let [dst, src] = [Role::DstView, Role::SrcView].map(|role| self.shared_view(op, role));
                let (dst, src, session) = (dst?, src?, self.tile(op, Role::Session)?);
                let event = self.names.object(self.result(op)?).to_string();
                // One that nobody waits for is legal.
                self.line(&format!(
                    "[[maybe_unused]] const comm::AsyncEvent {event} = {call}({dst}, {src}, {session});"
                ));
            }
            Comm::AwaitEvent | Comm::TestEvent => {
                let (event, session) = (self.tile(op, Role::AsyncEvent)?, self.tile(op, Role::Session)?);
                let member = if comm == Comm::AwaitEvent { "Wait" } else { "Test" };
                return self.flag_or_line(op, format!("{event}.{member}({session})"));
            }
        }
        Ok(())
    }

    /// A call whose result, if it has one, may be used or not.
    fn flag_or_line(&mut self, op: &Op, call: String) -> Emitted<()> {
        match op.results.first() {
            Some(result) if self.needed[result.index()] => self.define(op, call),
            Some(_) => {
                self.line(&format!("(void){call};"));
                Ok(())
            }
            None => {
                self.line(&format!("{call};"));
                Ok(())
            }
        }
    }

    /// A view operand that is not the only one of its instruction.
    fn shared_view(&self, op: &Op, role: Role) -> Emitted<String> {
        let value = op.operand(role).and_then(|o| o.arg.value());
        let value = value.ok_or_else(|| Diagnostic::internal(op.span, "an operation between ranks lacks a view"))?;
        self.view_for(value, op)
    }

    /// The tiles through which bytes pass.
    fn staging(&self, op: &Op) -> Emitted<String> {
        let tiles = [Role::Ping, Role::Pong].into_iter().filter(|role| op.operand(*role).is_some());
        tiles.map(|role| Ok(format!(", {}", self.tile(op, role)?))).collect()
    }

    /// The number that a signal is set to, or compared with: 32 bits, of which a narrow one keeps its sign.
    fn signal_value(&self, op: &Op) -> String {
        let Some(arg) = op.operand(Role::Scalar).map(|o| o.arg) else { return "0".into() };
        match (self.scalar_of(arg).bits(), self.constant(arg)) {
            (1, None) => format!("({} ? -1 : 0)", self.int(arg)),
            (1, Some(n)) => (-n.abs()).to_string(),
            _ => self.int(arg),
        }
    }

    /// The views of the members of a group: of one type, in which the numbers that they share are constants.
    fn group(&mut self, op: &Op) -> Emitted<String> {
        let is_member = |o: &&tessera_ir::Operand| o.role == Role::Member;
        let members: Vec<ValueId> = op.operands.iter().filter(is_member).filter_map(|o| o.arg.value()).collect();
        let Some(first) = members.first() else {
            return Err(Diagnostic::internal(op.span, "a group has no members"));
        };
        let (elem, tag) = (self.view(*first)?.elem, self.tag_of(*first, op)?);
        let all = members.iter().map(|v| Ok(self.view(*v)?.five(tag))).collect::<Emitted<Vec<_>>>()?;
        let shapes: Vec<_> = all.iter().map(|(shape, _)| shape).collect();
        let strides: Vec<_> = all.iter().map(|(_, strides)| strides).collect();
        let (shape, stride) = (numbers_of("Shape", &shapes), numbers_of("Stride", &strides));
        let ty = format!("GlobalTensor<{}, {shape}, {stride}, Layout::{}>", elem.cpp(), tag.cpp());
        let [member_type, views, group] = ["Member", "members", "group"].map(|name| self.names.fresh(name));
        let mut list = Vec::new();
        for (member, (sizes, steps)) in members.iter().zip(&all) {
            let data = &self.view(*member)?.data;
            let (sizes, steps) = (open_numbers(&shape, sizes), open_numbers(&stride, steps));
            // What is static needs no argument.
            let numbers = match sizes.is_empty() && steps.is_empty() {
                true => String::new(),
                false => format!(", {shape}({sizes}), {stride}({steps})"),
            };
            list.push(format!("{member_type}({data}{numbers})"));
        }
        let root = op.known_attrs().int(AttrName::Root).unwrap_or(0);
        self.line(&format!("using {member_type} = {ty};"));
        self.line(&format!("{member_type} {views}[] = {{{}}};", list.join(", ")));
        self.line(&format!("comm::ParallelGroup<{member_type}> {group}({views}, {}, {root});", members.len()));
        Ok(group)
    }

    /// A session has nothing to keep where a transfer runs when it is called; how hardware makes one of scratch and
    /// workspace is not among the names of cpp.md.
    fn session(&mut self, op: &Op) -> Emitted<()> {
        let session = self.names.object(self.result(op)?).to_string();
        self.directive("#if !defined(__CPU_SIM)");
        self.directive("#error \"build_async_session: a session of a device is made by the host's library\"");
        self.directive("#endif");
        self.line(&format!("[[maybe_unused]] const comm::AsyncSession {session}{{}};"));
        Ok(())
    }

    /// `SYNCALL`: all cores of some kinds meet.
    pub(crate) fn meet(&mut self, op: &Op) -> Emitted<()> {
        let words = op.attrs.as_ref().map_or(&[][..], |a| &a.words);
        let cores = match words.get(1).map(String::as_str) {
            Some("aiv_only") => "SyncCoreType::AIVOnly",
            Some("aic_only") => "SyncCoreType::AICOnly",
            Some("mix") => "SyncCoreType::Mix",
            _ => return Err(cannot(op.span, "pto.syncall without its cores", "write core_type = aiv_only")),
        };
        let Some(workspace) = op.operand(Role::Global).and_then(|o| o.arg.value()) else {
            self.line(&format!("SYNCALL<{cores}>();"));
            return Ok(());
        };
        let view = match self.ty(workspace) {
            Type::Ptr(elem, _) => self.view_of_pointer(*elem, self.value(workspace), "1", "16"),
            _ => self.view_for(workspace, op)?,
        };
        let count = op.operand(Role::Number).map(|o| match o.arg {
            Arg::Value(v) => format!(", static_cast<int32_t>({})", self.value(v)),
            Arg::Int(n) => format!(", {n}"),
        });
        self.line(&format!("SYNCALL<SyncAllMode::Soft, {cores}>({view}{});", count.unwrap_or_default()));
        Ok(())
    }
}
