//! Quantization on a push (isa/today.md 6.10 and 7.3).

use super::Check;
use tessera_ir::{Op, OpId, fifo};
use tessera_isa::diag::Fault;
use tessera_isa::elem::Elem;
use tessera_isa::ops::{AttrName, Role};
use tessera_isa::profile::Profile;
use tessera_isa::sem::{Dir, Epilogue, PushParam};
use tessera_isa::tile::{LayoutName, Loc, Tile};

fn refuse(what: impl Into<String>, help: impl Into<String>) -> Option<Fault> {
    Some(Fault::new("fifo-quant", what.into()).help(help.into()))
}

/// The parameter that an operation sets.
fn sets(op: &Op) -> PushParam {
    if op.operand(Role::Fp).is_some() { PushParam::Vector } else { PushParam::Scalar }
}

impl Check<'_> {
    /// `fifo-init` of `acc_push_epilogue`: it is well formed, and stands on a pipe of tiles from the cube core only.
    pub(super) fn epilogue(&self, init: &Op) -> Option<Fault> {
        let init_fault = |what: String, help: &str| Some(Fault::new("fifo-init", what).help(help));
        let epilogue = match fifo::epilogue(init)? {
            Ok(epilogue) => epilogue,
            Err(what) => {
                let help = "write #pto.acc_push_epilogue<layout = nz2nd, quant = no_convert, relu = no_relu>";
                return init_fault(format!("acc_push_epilogue: {what}"), help);
            }
        };
        if init.known_attrs().int(AttrName::DirMask) != Some(Dir::C2v.bit()) {
            let what = "acc_push_epilogue is for tiles of the cube core, and dir_mask is not 1";
            return init_fault(what.into(), "write dir_mask = 1");
        }
        if fifo::has_entries(self.func, init, Dir::C2v) {
            let what = "acc_push_epilogue converts tiles, and views of slots go through the pipe";
            return init_fault(what.into(), "leave it out, or move tiles");
        }
        if !epilogue.quant.is_on(self.profile) {
            let what = format!("quant = {} is one of a5, and the program is for {}", epilogue.quant, self.profile);
            return Some(Fault::new("fifo-type", what).help("convert after the pop"));
        }
        None
    }

    /// `fifo-quant` of the operation that sets a parameter.
    pub(super) fn set_quant(&mut self, id: OpId, op: &Op) {
        let name = op.kind.name();
        let epilogue = self.fifos.of(id).and_then(|n| self.fifos.list[n].epilogue);
        let wanted = epilogue.map(|epilogue| epilogue.quant);
        let number = fifo::pipe_id(op);
        if self.fifos.init(id).is_some_and(|init| self.report.refused.contains_key(&self.func.op(init).span)) {
            return;
        }
        let fault = match (self.fifos.init(id), wanted.map(|quant| (quant, quant.param()))) {
            (None, _) => refuse(format!("no pipe has id = {number}"), "name a pipe that is initialized"),
            (_, None) => refuse(
                format!("the pipe with id = {number} has no acc_push_epilogue, and nothing uses the parameter"),
                "initialize both ends with acc_push_epilogue",
            ),
            (_, Some((_, Some(param)))) if param == sets(op) => self.vector(op),
            (_, Some((quant, param))) => {
                let help = param.map_or("leave it out".to_string(), |param| format!("write {}", param.setter()));
                refuse(format!("{name} is for another way of quantizing than {quant}"), help)
            }
        };
        if let Some(fault) = fault {
            self.report.fault(op, "", fault);
        }
    }

    /// The parameters of columns: one row in Scaling, of the types of the profile.
    fn vector(&self, op: &Op) -> Option<Fault> {
        let tile: Tile = self.tile(op.operand(Role::Fp).and_then(|o| o.arg.value()))?;
        let fits = match self.profile {
            Profile::A2a3 => matches!(tile.elem, Elem::I64 | Elem::U64),
            _ => matches!(tile.elem, Elem::F16 | Elem::Bf16 | Elem::F32),
        };
        let is_row = tile.loc == Loc::Scaling && tile.rows == 1 && tile.layout_name() == LayoutName::Nd;
        if fits && is_row {
            return None;
        }
        let wanted = if self.profile == Profile::A2a3 { "i64 or u64" } else { "f16, bf16 or f32" };
        refuse(format!("{tile} holds no parameters of columns"), format!("give one row in Scaling of {wanted}"))
    }

    /// `fifo-quant` of a push: its parameter is set before it, in its block.
    pub(super) fn quantizes(&self, push: OpId, epilogue: Option<Epilogue>) -> Option<Fault> {
        let quant = epilogue?.quant;
        let param = quant.param()?;
        if fifo::quant_of(self.func, push).is_some_and(|set| sets(self.func.op(set)) == param) {
            return None;
        }
        let number = fifo::pipe_id(self.func.op(push));
        refuse(
            format!("the pipe quantizes by {quant}, and no {} stands before the push in its block", param.setter()),
            format!("write pto.{} {{id = {number}}} before it", param.setter()),
        )
    }
}
