//! Pointers: into global memory and into the memories of a core (isa/structure.md 7).

use crate::function::declared;
use crate::{Emitted, Emitter, cannot, words};
use tessera_ir::{Op, Type, ValueId};
use tessera_isa::diag::Diagnostic;
use tessera_isa::elem::Elem;
use tessera_isa::ops::{Opcode, Role};
use tessera_isa::tile::Loc;

/// The memory that a pointer points into; none for global memory.
pub(crate) fn memory(ty: &Type) -> Option<Loc> {
    let Type::Ptr(_, Some(word)) = ty else { return None };
    let named = word.strip_prefix("#pto.address_space<").and_then(|text| text.strip_suffix('>')).unwrap_or(word);
    match named {
        "ub" | "vec" => Some(Loc::Vec),
        "l1" | "mat" => Some(Loc::Mat),
        "l0a" | "left" => Some(Loc::Left),
        "l0b" | "right" => Some(Loc::Right),
        "l0c" | "acc" => Some(Loc::Acc),
        "bt" | "bias" => Some(Loc::Bias),
        "fb" | "scaling" => Some(Loc::Scaling),
        _ => None,
    }
}

impl Emitter<'_> {
    /// The type of a pointer variable.
    pub(crate) fn pointer_type(&self, value: ValueId) -> Emitted<String> {
        match self.ty(value) {
            ty @ Type::Ptr(elem, _) => Ok(format!("{} {} *", words::space(memory(ty)), elem.cpp())),
            _ => Err(cannot(self.span(value), "this value as a pointer", "use a pointer")),
        }
    }

    /// A pointer that an operation makes.
    fn define_pointer(&mut self, op: &Op, text: &str) -> Emitted<()> {
        let result = self.result(op)?;
        let ty = self.pointer_type(result)?;
        self.line(&format!("{} = {text};", declared(&ty, self.names.object(result))));
        Ok(())
    }

    /// The pointer, view or memref of an operation, with its element type.
    pub(crate) fn global_operand(&self, op: &Op) -> Emitted<(ValueId, Elem)> {
        let found = op.values().find_map(|v| Some((v, self.ty(v).global_elem()?)));
        found.ok_or_else(|| Diagnostic::internal(op.span, "an operation lacks its global memory"))
    }

    /// The first element of a pointer, view or memref.
    fn data(&self, value: ValueId) -> Emitted<String> {
        match self.ty(value) {
            Type::Ptr(..) => Ok(self.value(value)),
            _ => Ok(self.view(value)?.data.clone()),
        }
    }

    pub(crate) fn addptr(&mut self, op: &Op) -> Emitted<()> {
        let (pointer, elem) = self.global_operand(op)?;
        let by = match op.operand(Role::Number) {
            Some(o) => self.constant(o.arg).map_or_else(|| self.int(o.arg), |v| v.to_string()),
            None => "0".into(),
        };
        let text = self.moved(op, &self.data(pointer)?, elem, &[by])?;
        self.define_pointer(op, &text)
    }

    pub(crate) fn scalar_access(&mut self, op: &Op, opcode: Opcode) -> Emitted<()> {
        let (pointer, elem) = self.global_operand(op)?;
        if elem.is_fp4() {
            return Err(cannot(
                op.span,
                format!("one element of {elem}, which shares its byte,"),
                "load a tile instead",
            ));
        }
        let data = self.data(pointer)?;
        let data = if data.contains(' ') { format!("({data})") } else { data };
        let place = format!("{data}[{}]", self.index(op, Role::Number));
        if opcode == Opcode::LoadScalar {
            let ty = words::scalar_type(self.result_type(op)?, op.span)?;
            return self.define(op, format!("static_cast<{ty}>({place})"));
        }
        if let Some(stored) = op.operand(Role::Scalar) {
            self.line(&format!("{place} = static_cast<{}>({});", elem.cpp(), self.int(stored.arg)));
        }
        Ok(())
    }

    /// A pointer to a tile, of a view, to another type, or as a number.
    pub(crate) fn address_of(&mut self, op: &Op) -> Emitted<()> {
        let Some(operand) = op.operands.first() else {
            return Err(Diagnostic::internal(op.span, "an address of nothing"));
        };
        let result = self.result(op)?;
        let source = match operand.arg.value() {
            Some(v) if self.is_tile(v) => format!("{}.data()", self.value(v)),
            Some(v) if self.ty(v).global_elem().is_some() => self.data(v)?,
            _ => self.int(operand.arg),
        };
        match self.ty(result) {
            Type::Scalar(_) => {
                let ty = words::scalar_type(self.result_type(op)?, op.span)?;
                self.define(op, format!("static_cast<{ty}>(reinterpret_cast<uintptr_t>({source}))"))
            }
            _ => {
                let ty = self.pointer_type(result)?;
                self.define_pointer(op, &format!("reinterpret_cast<{ty}>({source})"))
            }
        }
    }
}
