//! Between global memory and tiles (isa/memory.md 6).

use crate::{Emitted, Emitter, cannot, words};
use tessera_ir::{Def, Op, OpKind, Type};
use tessera_isa::codec::{Number, Overflow};
use tessera_isa::ops::{AttrName, Effect, Form, Opcode, Role};
use tessera_isa::tile::{Extent, Pad, Tile};

impl Emitter<'_> {
    /// An instruction with a view; a pointer is a dense view of the tile's valid region.
    pub(crate) fn transfer(&mut self, op: &Op, opcode: Opcode, form: Form) -> Emitted<()> {
        let name = opcode.info().cpp.first().copied().unwrap_or_default();
        if op.operand(Role::IdxView).is_some() {
            return self.gather_by_view(op, name);
        }
        let stores = opcode.effect(form, Role::Global) == Effect::Write;
        let role = if stores { Role::Src } else { Role::Dst };
        let tile = self.tile(op, role)?;
        let conv =
            self.operand(op, role).and_then(|v| if let Type::Conv(conv) = self.ty(v) { Some(*conv) } else { None });
        let (global, _) = self.global_operand(op)?;
        let view = match self.ty(global) {
            Type::Ptr(..) if form == Form::Window => {
                return Err(cannot(op.span, "a window of a pointer", "make a view first"));
            }
            Type::Ptr(elem, _) if conv.is_none() => {
                let (rows, cols) = (format!("{tile}.GetValidRow()"), format!("{tile}.GetValidCol()"));
                self.view_of_pointer(*elem, self.value(global), &rows, &cols)
            }
            Type::Ptr(..) => match conv {
                Some(conv) => self.view_of_conv(&conv, &self.value(global)),
                None => self.value(global),
            },
            // A window of a view is a view that begins further on.
            _ if form == Form::Window => {
                let (row, col) = (self.index(op, Role::Row), self.index(op, Role::Col));
                self.view_at(global, op, (&row, &col), &tile)?
            }
            _ => self.view_for(global, op)?,
        };
        let templates = self.transfer_templates(op, form, &tile, &view)?;
        let mut arguments = if stores { vec![view, tile] } else { vec![tile, view] };
        for role in [Role::Fp, Role::Idx] {
            if self.operand(op, role).is_some() {
                arguments.push(self.tile(op, role)?);
            }
        }
        if form == Form::ScalarQuant {
            arguments.push(self.scalar(op, Role::Quant)?);
        }
        // Other words of padding have no effect where they are legal (isa/memory.md 4).
        if let Some(fill) = op.operand(Role::Fill).map(|o| o.arg) {
            let padded = self.padded(op, &arguments[0], fill)?;
            arguments[0] = padded;
        }
        let call = |template: &str| format!("{name}{template}({});", arguments.join(", "));
        match templates.as_slice() {
            [by_element, by_row] => {
                let idx = self.tile(op, Role::Idx)?;
                let data = arguments.get(usize::from(stores)).cloned().unwrap_or_default();
                let same = |axis: &str| format!("{idx}.GetValid{axis}() == {data}.GetValid{axis}()");
                self.line(&format!("if ({} && {}) {{", same("Row"), same("Col")));
                self.line(&format!("    {}", call(by_element)));
                self.line("} else {");
                self.line(&format!("    {}", call(by_row)));
                self.line("}");
            }
            templates => self.line(&call(templates.first().map_or("", String::as_str))),
        }
        Ok(())
    }

    /// MGATHER with indices in global memory; rows need no scratch, and C++ is given the table (cpp.md 6.4).
    fn gather_by_view(&mut self, op: &Op, name: &str) -> Emitted<()> {
        let word = |name: AttrName| op.known_attrs().word(name).map(|word| format!("{}::{}", name.cpp(), word.cpp));
        let mut views = Vec::new();
        for role in [Role::Global, Role::IdxView, Role::ScratchView] {
            let Some(value) = op.operand(role).and_then(|o| o.arg.value()) else { continue };
            views.push(match self.ty(value) {
                Type::Ptr(..) => {
                    return Err(cannot(op.span, format!("{role} that is a pointer"), "make a view of it first"));
                }
                _ => self.view_for(value, op)?,
            });
        }
        let way = if views.len() == 3 { "Coalesce::Elem" } else { "Coalesce::Row" };
        if views.len() == 2 {
            views.push(views[0].clone());
        }
        let way = word(AttrName::Coalesce).unwrap_or_else(|| way.into());
        let beyond = word(AttrName::GatherOob).map(|word| format!(", {word}")).unwrap_or_default();
        let dst = self.tile(op, Role::Dst)?;
        self.line(&format!("{name}<{way}{beyond}>({dst}, {});", views.join(", ")));
        Ok(())
    }

    /// The modes, as template arguments; nothing where none is said. Two, where the shape of the indices decides when it
    /// runs: by element, and by row.
    fn transfer_templates(&self, op: &Op, form: Form, tile: &str, view: &str) -> Emitted<Vec<String>> {
        let attrs = op.known_attrs();
        let word = |name: AttrName| attrs.word(name).map(|word| format!("{}::{}", name.cpp(), word.cpp));
        if self.operand(op, Role::Idx).is_some() {
            let modes: Vec<String> = [AttrName::ScatterAtomicOp, AttrName::GatherOob, AttrName::ScatterOob]
                .into_iter()
                .filter_map(word)
                .collect();
            if modes.is_empty() && word(AttrName::Coalesce).is_none() {
                return Ok(Vec::new());
            }
            let mut rest = String::new();
            if attrs.get(AttrName::ScatterOob).is_some() && attrs.get(AttrName::ScatterAtomicOp).is_none() {
                rest += ", ScatterAtomicOp::None";
            }
            modes.iter().for_each(|mode| rest += &format!(", {mode}"));
            let ways = word(AttrName::Coalesce).map_or_else(|| self.coalesce(op), |word| vec![word]);
            return Ok(ways.into_iter().map(|way| format!("<{way}{rest}>")).collect());
        }
        let said = [AttrName::AtomicType, AttrName::ReluPreMode].map(word);
        let phase = word(AttrName::StPhase);
        if said.iter().all(Option::is_none) && phase.is_none() {
            return Ok(Vec::new());
        }
        let mut all: Vec<String> = phase.into_iter().collect();
        all.extend([self.type_of(tile), self.type_of(view)]);
        if form == Form::VectorQuant {
            all.push(self.type_of(&self.tile(op, Role::Fp)?));
        }
        let [atomic, relu] = said;
        all.push(atomic.unwrap_or_else(|| "AtomicType::AtomicNone".into()));
        all.extend(relu);
        Ok(vec![format!("<{}>", all.join(", "))])
    }

    /// Elements or rows, as the valid regions of data and indices say; both where they are not known yet.
    fn coalesce(&self, op: &Op) -> Vec<String> {
        let valid = |role: Role| {
            let tile = self.ty(self.operand(op, role)?).tile()?;
            Some((tile.v_row.known()?, tile.v_col.known()?))
        };
        let data = valid(Role::Dst).or_else(|| valid(Role::Src));
        let ways: &[&str] = match (data, valid(Role::Idx)) {
            (Some(data), Some(idx)) if data == idx => &["Elem"],
            (Some(_), Some(_)) => &["Row"],
            _ => &["Elem", "Row"],
        };
        ways.iter().map(|way| format!("Coalesce::{way}")).collect()
    }

    /// The destination of a load with a pad value beside its type: another tile in the same place, whose type has it.
    fn padded(&mut self, op: &Op, name: &str, fill: tessera_ir::Arg) -> Emitted<String> {
        let unclear = || cannot(op.span, "a pad value that is computed", "write a constant");
        let dst = self.operand(op, Role::Dst).ok_or_else(unclear)?;
        let tile = self.ty(dst).tile().ok_or_else(unclear)?.resolve(self.profile);
        let number = match fill.value().map(|v| self.func.value(v).def) {
            Some(Def::Result(id, _)) => match self.func.op(id).kind {
                OpKind::Constant(number) => number,
                _ => Number::Int(self.constant(fill).ok_or_else(unclear)?.into()),
            },
            _ => Number::Int(self.constant(fill).ok_or_else(unclear)?.into()),
        };
        let bits = tile.elem.encode(number, Overflow::Infinity);
        let bits = u32::try_from(bits)
            .map_err(|_| cannot(op.span, "a pad value of more than 32 bits", "use a tile with pad=zero, max or min"))?;
        let plain = Tile { pad: Pad::Null, ..tile };
        let ty = words::tile_type(&plain, op.span)?.replace("PadValue::Null", &words::custom_pad(bits));
        let alias = self.names.fresh(&format!("{}_padded", self.names.object(dst)));
        self.line(&format!("{ty} {alias};"));
        self.bind(&alias, name, Some(dst));
        for (extent, axis) in [(tile.v_row, "Row"), (tile.v_col, "Col")] {
            if extent == Extent::Dynamic {
                self.line(&format!("{alias}.SetValid{axis}({name}.GetValid{axis}());"));
            }
        }
        Ok(alias)
    }
}
