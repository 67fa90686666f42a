//! Relations between the types of an instruction with a shape of its own.

use super::special::Draft;
use super::{Parser, Res, TypeAt};
use crate::print::print_type;
use tessera_ir::{ScalarType, Type, TypeId};
use tessera_isa::diag::Span;
use tessera_isa::ops::{Opcode, Role, Text};

impl Parser<'_> {
    /// Checks result types against operands, in the text's own shape and in the generic form alike.
    pub(super) fn check_types(&mut self, opcode: Opcode, draft: &Draft, start: Span) -> Res<()> {
        let result = draft.types.first().copied();
        let of = |role: Role| draft.operands.iter().find(|(r, _)| *r == role).map(|(_, raw)| raw);
        let known = |role: Role| of(role).and_then(|raw| self.raw_type(raw));
        match (opcode.info().text, result) {
            (Text::Alloc, Some(ty)) => {
                let made = self.module.types.get(ty.0);
                let (is_right, what) = match opcode {
                    Opcode::AllocMultiTile => (made.slots().is_some(), "multi-buffer tile"),
                    _ => (made.plays(Role::Tile), "tile"),
                };
                if is_right {
                    return Ok(());
                }
                let text = format!("{} is no {what} type", self.type_text(ty.0));
                self.fail("type-mismatch", ty.1, text, format!("write a {what} type"))
            }
            (Text::Slot, Some(ty)) => {
                let slot = known(Role::Src).and_then(|id| self.module.types.get(id).slots());
                let Some((slot, _)) = slot else {
                    let text = "multi_tile_get takes a multi-buffer tile";
                    return self.fail("tile-multi", start.to(self.prev), text, "make it with pto.alloc_multi_tile");
                };
                let slot = Type::Tile(*slot);
                if slot.same(self.module.types.get(ty.0), self.profile()) {
                    return Ok(());
                }
                let text = format!("a slot is {}, and {} is written", print_type(&slot), self.type_text(ty.0));
                self.fail("type-mismatch", ty.1, text, "write the type of a slot")
            }
            (Text::Assign | Text::AddPtr, Some(ty)) => {
                self.same_types(opcode, known(Role::Tile).or_else(|| known(Role::Global)), ty)
            }
            (Text::MakeView, Some(ty)) => self.rank(draft, ty, start),
            (Text::Partition, Some(ty)) => {
                if let Some(view) = of(Role::Global).and_then(|raw| raw.ty) {
                    self.rank(draft, view, start)?;
                }
                self.rank(draft, ty, start)
            }
            (Text::LoadScalar, ty) => self.element_of(known(Role::Global), ty),
            (Text::StoreScalar, _) => self.element_of(known(Role::Global), of(Role::Scalar).and_then(|raw| raw.ty)),
            (Text::Number, Some(ty)) => match self.module.types.get(ty.0) {
                Type::Scalar(ScalarType::Index | ScalarType::Int(..)) => Ok(()),
                other => {
                    let text = format!("{opcode} gives an integer, and its type is {}", print_type(other));
                    self.fail("type-mismatch", ty.1, text, "leave the type out")
                }
            },
            (Text::Pipe(_), Some(_)) => self.pipe_result(opcode, draft),
            _ => Ok(()),
        }
    }

    fn same_types(&mut self, opcode: Opcode, operand: Option<TypeId>, result: TypeAt) -> Res<()> {
        let types = &self.module.types;
        let differs = |operand: &TypeId| {
            let (from, to) = (types.get(*operand), types.get(result.0));
            // A memref or view becomes a pointer to its elements.
            let becomes = matches!(to, Type::Ptr(..)) && !matches!(from, Type::Ptr(..));
            !(from.same(to, self.profile()) || becomes && from.global_elem() == to.global_elem())
        };
        let Some(operand) = operand.filter(differs) else { return Ok(()) };
        let text = format!("{opcode} takes {} and gives {}", self.type_text(operand), self.type_text(result.0));
        self.fail("type-mismatch", result.1, text, "write the same type on both sides")
    }

    /// A view has as many dimensions as each of the two lists has numbers.
    fn rank(&mut self, draft: &Draft, ty: TypeAt, start: Span) -> Res<()> {
        let numbers = draft.operands.iter().filter(|(role, _)| *role == Role::Number).count();
        let dims = match self.module.types.get(ty.0) {
            Type::View(v) => v.dims.len(),
            Type::Memref(m) => m.dims.len(),
            other => {
                let text = format!("{} is no view type", print_type(other));
                return self.fail("type-mismatch", ty.1, text, "write a tensor view type");
            }
        };
        if dims * 2 != numbers {
            let text = format!("{numbers} numbers do not fit a view of {dims} dimensions");
            let help = "write one number per dimension in each list";
            return self.fail("operand-count", start.to(self.prev), text, help);
        }
        Ok(())
    }

    /// A scalar that is loaded or stored has the bits of the pointer's element.
    fn element_of(&mut self, pointer: Option<TypeId>, ty: Option<TypeAt>) -> Res<()> {
        let (Some(pointer), Some(ty)) = (pointer, ty) else { return Ok(()) };
        let (pointer, scalar) = (self.module.types.get(pointer), self.module.types.get(ty.0));
        // The operand's role refuses what points to no element.
        let Some(elem) = pointer.global_elem() else { return Ok(()) };
        let fits = match scalar {
            Type::Scalar(ScalarType::Float(float)) => *float == elem,
            Type::Scalar(s) => s.bits() == elem.bits() && !elem.is_float(),
            _ => false,
        };
        if fits {
            return Ok(());
        }
        let text = format!("{} is no element of {}", print_type(scalar), print_type(pointer));
        self.fail("type-mismatch", ty.1, text, "write the pointer's element type")
    }
}
