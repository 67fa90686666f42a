//! The form of an instruction that is written, and the role of each operand: the instruction table decides.

use super::attr::Attr;
use super::inst::{Signature, Written};
use super::{Parser, Raw, RawArg, Raws, Res, Results, TypeAt, Types, UNKNOWN};
use crate::sink::shown;
use tessera_ir::{Arg, Def, LocId, Op, OpId, OpKind, ScalarType, TextForm, Type, TypeId};
use tessera_isa::diag::Span;
use tessera_isa::elem::Elem;
use tessera_isa::ops::{Bind, Kind, Opcode, Role, Shape, Text};

/// Aliases of locations name each other at most this deep.
const MAX_ALIASES: usize = 16;

/// Longer locations are not expanded further.
const MAX_LOCATION: usize = 4096;

/// The assignment of a signature's input types to operands.
#[derive(Clone, Copy, PartialEq)]
enum Lists {
    All,
    /// One per tile operand; the type of `init` may be left to the result.
    Tiles,
    /// One for all tile operands, or none.
    Once,
}

/// The way out where a multi-buffer tile stands for one tile.
const OF_MULTI: &str = "take a tile of it: %t = pto.multi_tile_get %m[%k]";

/// The form that is written, and the way in which its signature lists types.
type Chosen = (&'static Shape, Lists);

/// Whether every signature lists the type of this role.
fn listed(role: Role) -> bool {
    matches!(role.kind(), Kind::Tile | Kind::Conv)
}

impl Parser<'_> {
    pub(super) fn build(
        &mut self,
        results: &Results,
        opcode: Opcode,
        mut text_form: TextForm,
        w: &mut Written,
    ) -> Res<()> {
        if w.outs.is_some() {
            // A window of a view stands in the assembly form only.
            if w.indices.is_none() {
                text_form = TextForm::Dps;
            }
            if !results.names.is_empty() {
                let text = format!("{opcode} has results and outs(…)");
                return self.fail("syntax-form", results.start, text, "write results (SSA) or outs(…) (DPS), not both");
            }
        }
        let n_outs = w.outs.as_ref().map_or(results.names.len(), |o| o.len());
        let (form, lists) = self.select(results.start, opcode, text_form == TextForm::Asm, w, n_outs)?;
        let tiles = form.outs.iter().filter(|role| listed(**role)).count();
        if let (Some(init), true) = (&w.init, tiles != 1 || text_form == TextForm::Dps) {
            let text = format!("init(…) belongs to one result, and {opcode} has {n_outs} destinations here");
            return self.fail("operand-count", init.span, text, "use the DPS form, whose outs keep their contents");
        }
        let mut ins = arrange(form, w);
        let result_types = self.spread(opcode, (form, lists), w, &mut ins, n_outs)?;
        if w.outs.is_none() && result_types.len() != n_outs {
            let text = format!("the types of the results of {opcode} are not known");
            return self.fail("syntax-expected", results.start.to(self.prev), text, "write `: types -> types`");
        }
        let mut op = Op::new(OpKind::Pto(opcode, form.form), text_form, results.start);
        let elem = self.fill_elem(w, &ins, form, &result_types);
        for (role, raw) in form.ins.iter().zip(&ins) {
            if matches!(raw.what, RawArg::Int(_)) && text_form != TextForm::Asm {
                let text = format!("the literal {} stands in an operand's place", self.slice(raw.span));
                let help = "only the assembly form takes literals; define it with arith.constant";
                let _: Res<()> = self.fail("syntax-form", raw.span, text, help);
                continue;
            }
            let usual = self.usual_type(*role, elem);
            let Some(operand) = self.resolve(raw, *role, usual) else { continue };
            // Selecting the form did not know the type of a name that this instruction is the first to use.
            if let Some(ty) = operand.arg.value().and_then(|v| self.type_of_value(v))
                && !ty.plays(*role)
            {
                return self.wrong_role(opcode, *role, raw);
            }
            op.operands.push(operand);
        }
        self.worded(&mut op, opcode, form, w)?;
        if let Some(init) = &w.init
            && let Some(operand) = self.resolve(init, Role::Init, None)
        {
            self.check_init(&operand.arg, operand.type_span, &result_types);
            op.operands.push(operand);
        }
        for (role, raw) in form.outs.iter().zip(w.outs.iter().flatten()) {
            // An undefined name in outs(…) of a listing is a tile allocated here (syntax.md 1); a view is an input.
            op.operands.extend(self.resolve(raw, *role, None));
        }
        let info = opcode.info();
        op.attrs = self.sort_attrs(std::mem::take(&mut w.entries), info.attrs, info.mnemonic);
        self.finish(op, results, &result_types, w.loc.take())
    }

    /// Operands that stand behind a word, among the attributes.
    fn worded(&mut self, op: &mut Op, opcode: Opcode, form: &Shape, w: &mut Written) -> Res<()> {
        let info = opcode.form(form.form);
        for entry in std::mem::take(&mut w.entries) {
            let Attr::Operand(raw) = entry.value else {
                w.entries.push(entry);
                continue;
            };
            let role = info.and_then(|f| f.ins.iter().find(|o| o.word() == Some(&entry.key))).map(|o| o.role);
            let Some(role) = role else {
                let text = format!("{} of {opcode} is no operand", shown(&entry.key));
                return self.fail("syntax-attribute", entry.span(), text, "leave it out");
            };
            let Some(operand) = self.resolve(&raw, role, None) else { continue };
            if let Some(ty) = operand.arg.value().and_then(|v| self.type_of_value(v))
                && !ty.plays(role)
            {
                return self.wrong_role(opcode, role, &raw);
            }
            op.operands.push(operand);
        }
        Ok(())
    }

    /// The form whose operands fit, and how the signature lists their types.
    fn select(&mut self, at: Span, opcode: Opcode, is_asm: bool, w: &Written, n_outs: usize) -> Res<Chosen> {
        let is_dps = w.outs.is_some();
        let counted = |f: &&Shape| f.outs.len() == n_outs && counts(f, w) && (is_dps || !f.dps_only);
        let mut wrong = None;
        // A form that takes the signature as it is goes before one that takes it as "one type for all".
        for once in [false, true] {
            for form in opcode.shapes().iter().filter(counted) {
                let Some(lists) = lists(form, w, is_asm, once) else { continue };
                match self.fits(form, lists, w) {
                    Ok(()) => return Ok((form, lists)),
                    Err(found) => wrong = wrong.or(found),
                }
            }
        }
        if !opcode.shapes().iter().any(|f| counted(&f)) {
            return self.wrong_count(at, opcode, w, n_outs);
        }
        // If only the order of the operands distinguishes the forms, a wrong kind fits none of them (isa/scalar.md 1).
        let mut orders = opcode.shapes().iter().filter(counted).map(|f| &f.ins);
        if let (Some(first), Some(other), Some(_)) = (orders.next(), orders.next(), &wrong)
            && first.iter().all(|role| other.contains(role))
        {
            let text = format!("{opcode} takes one tile and one scalar");
            return self.fail("operand-count", at.to(self.prev), text, "give a tile and a scalar, in either order");
        }
        // Nothing fits: say what is wrong with the form that comes nearest.
        if let Some((role, raw)) = wrong {
            return self.wrong_role(opcode, role, &raw);
        }
        let listed = match &w.signature {
            Signature::Arrow(ins, _) => ins.len(),
            _ => 1,
        };
        let operands = w.count() + usize::from(w.init.is_some());
        let text = format!("the signature of {opcode} lists {listed} types for {operands} operands");
        let help = "write one type per operand (assembly: one per tile)";
        self.fail("operand-count", at.to(self.prev), text, help)
    }

    /// Checks that the known operands fit the form's roles. The error is the first that does not, if there is one.
    fn fits(&self, form: &Shape, lists: Lists, w: &Written) -> Result<(), Option<(Role, Raw)>> {
        let mut plain = w.ins.iter();
        let mut indices = w.indices.iter().flatten();
        for (position, role) in form.ins.iter().enumerate() {
            let bracketed = w.indices.is_some() && role.in_brackets();
            let raw = if bracketed { indices.next() } else { plain.next() }.ok_or(None)?;
            let from_signature = match (&w.signature, lists) {
                (Signature::Arrow(ins, _), Lists::All) => ins.get(position).copied(),
                _ => None,
            };
            let raw = Raw { ty: raw.ty.or(from_signature), ..*raw };
            let ok = match (raw.what, self.raw_type(&raw)) {
                (RawArg::Int(_), _) => !listed(*role),
                (RawArg::Name(_), Some(id)) => self.module.types.get(id).plays(*role),
                // A broken statement's value fits everywhere, an unknown name too.
                (RawArg::Name(_), None) => true,
            };
            if !ok {
                return Err(Some((*role, raw)));
            }
        }
        let mut outs = form.outs.iter().zip(w.outs.iter().flatten());
        // Nothing is written into a literal, whatever type stands beside it.
        let plays = |role: Role, raw: &Raw| {
            matches!(raw.what, RawArg::Name(_))
                && self.raw_type(raw).is_none_or(|id| self.module.types.get(id).plays(role))
        };
        match outs.find(|(role, raw)| !plays(**role, raw)) {
            Some((role, raw)) => Err(Some((*role, *raw))),
            None => Ok(()),
        }
    }

    fn wrong_count<T>(&mut self, at: Span, opcode: Opcode, w: &Written, n_outs: usize) -> Res<T> {
        let ins = w.count();
        let names = |roles: &[Role]| roles.iter().map(|r| r.name()).collect::<Vec<_>>().join(", ");
        let written = |f: &Shape| format!("{opcode} ({}) -> ({})", names(&f.ins), names(&f.outs));
        let forms: Vec<String> = opcode.shapes().iter().map(written).collect();
        let plural = |n: usize| if n == 1 { "" } else { "s" };
        let (s, outs_s) = (plural(ins), plural(n_outs));
        let text = format!("{opcode} is written with {ins} operand{s} and {n_outs} destination{outs_s}");
        self.fail("operand-count", at.to(self.prev), text, format!("write {}", forms.join(" or ")))
    }

    fn wrong_role<T>(&mut self, opcode: Opcode, role: Role, raw: &Raw) -> Res<T> {
        let wanted = match role.kind() {
            _ if role.is_view() => "a pointer, view or memref",
            Kind::Tile | Kind::Conv => "a tile",
            Kind::Index => "an index or integer",
            Kind::Quant => "a 64-bit integer",
            Kind::Fill => "a scalar",
            Kind::Counts => "a vector<4xi16>",
            Kind::Pipe => "a pipe",
            Kind::Async => "a session or an event of asynchronous transfers",
        };
        if self.raw_type(raw).is_some_and(|id| self.module.types.get(id).slots().is_some()) {
            let text =
                format!("{} of {opcode} is {wanted}, and {} is several", role.name(), shown(self.slice(raw.span)));
            return self.fail("tile-multi", raw.span, text, OF_MULTI);
        }
        let is = match raw.what {
            RawArg::Int(_) => "a literal".into(),
            RawArg::Name(_) => self.raw_type(raw).map_or("of no known type".into(), |id| self.type_text(id)),
        };
        let text = format!("{} of {opcode} is {wanted}, and {} is {is}", role.name(), shown(self.slice(raw.span)));
        self.fail("type-mismatch", raw.span, text, format!("give {wanted}"))
    }

    /// Gives the signature's types to the operands and results they belong to.
    fn spread(&mut self, op: Opcode, chosen: Chosen, w: &mut Written, ins: &mut Raws, n_outs: usize) -> Res<Types> {
        let (form, lists) = chosen;
        let mut result_types = Types::new();
        match &w.signature {
            Signature::None => {
                // `init` has the type of the result.
                result_types.extend(w.init.iter().filter_map(|raw| Some((self.raw_type(raw)?, raw.span))));
            }
            Signature::Once(ty) => {
                // TRESHAPE writes its result's type; the source keeps its own, where it has one (syntax.md 2).
                let keeps = op.info().binds == Some(Bind::Bytes);
                for (role, raw) in form.ins.iter().zip(ins.iter_mut()) {
                    if listed(*role) && !(keeps && self.raw_type(raw).is_some()) {
                        raw.ty = Some(*ty);
                    }
                }
                if let Some(init) = &mut w.init {
                    init.ty = Some(*ty);
                }
                result_types.extend((0..n_outs).map(|_| *ty));
            }
            Signature::Arrow(types, outs) => {
                let mut next = types.iter().copied();
                for (role, raw) in form.ins.iter().zip(ins.iter_mut()) {
                    if lists == Lists::All || listed(*role) {
                        raw.ty = if lists == Lists::Once { types.first().copied() } else { next.next() };
                    }
                }
                if let Some(init) = &mut w.init {
                    init.ty = match lists {
                        Lists::Once => types.first().copied(),
                        _ => next.next().or(outs.first().copied()),
                    };
                }
                match outs.as_slice() {
                    all if all.len() == n_outs => result_types.extend(all.iter().copied()),
                    [one] => result_types.extend((0..n_outs).map(|_| *one)),
                    all => {
                        let text = format!("{n_outs} results of {op} have {} types", all.len());
                        let span = all.first().map_or(self.prev, |t| t.1);
                        return self.fail("operand-count", span, text, "write one type per result");
                    }
                }
            }
        }
        for (role, (id, span)) in form.outs.iter().zip(result_types.iter()) {
            let ty = self.module.types.get(*id);
            // TGETVAL gives the element's type, an integer of any sign (isa/notes.md).
            let source = ins.first().filter(|_| *role == Role::Value).and_then(|raw| self.raw_type(raw));
            let element = source.and_then(|id| self.module.types.get(id).tile()).map(|tile| tile.elem);
            if let Some(elem) = element.filter(|elem| !is_scalar_of(ty, *elem)) {
                let (wanted, is) = (elem.mlir(), self.type_text(*id));
                let text = format!("an element of {elem} is {wanted}, and the result is written as {is}");
                return self.fail("type-mismatch", *span, text, format!("write {wanted}"));
            }
            if !ty.plays(*role) {
                let kind = if listed(*role) { "a tile" } else { "no tile" };
                let text = format!("{} of {op} is {kind}, and its type is {}", role.name(), self.type_text(*id));
                return self.fail("type-mismatch", *span, text, format!("write the type of {}", role.name()));
            }
        }
        Ok(result_types)
    }

    /// The element type of a fill value that has none written: the destination's.
    fn fill_elem(&self, w: &Written, ins: &[Raw], form: &Shape, result_types: &Types) -> Option<Elem> {
        let out = w.outs.iter().flatten().next().and_then(|raw| self.raw_type(raw));
        let src = form.ins.iter().zip(ins).find(|(role, _)| listed(**role)).and_then(|(_, raw)| self.raw_type(raw));
        let id = result_types.first().map(|(id, _)| *id).or(out).or(src)?;
        self.module.types.get(id).tile().map(|t| t.elem)
    }

    fn check_init(&mut self, arg: &Arg, span: Span, result_types: &Types) {
        let (Some(value), Some((result, _))) = (arg.value(), result_types.first()) else { return };
        let known = self.func.value(value).ty;
        let types = &self.module.types;
        if known != UNKNOWN && !types.get(known).same(types.get(*result), self.profile()) {
            let text = format!("init(…) is {}, and the result is {}", self.type_text(known), self.type_text(*result));
            let _: Res<()> = self.fail("type-mismatch", span, text, "give the old contents of the result, in its type");
        }
    }

    /// Puts an operation into the block that is being read and defines its results.
    pub(super) fn finish(&mut self, mut op: Op, results: &Results, types: &[TypeAt], loc: Option<LocId>) -> Res<()> {
        op.span = op.span.to(self.prev);
        if types.len() != results.names.len() {
            let names = results.names.len();
            let text = format!("the operation has {} results, and {names} names stand before `=`", types.len());
            return self.fail("operand-count", op.span, text, "write one name per result");
        }
        self.check_multi(&op, types)?;
        let id = OpId(self.func.ops.len() as u32);
        op.loc = loc;
        for (n, ((name, span), ty)) in results.names.iter().zip(types).enumerate() {
            let value = self.define(*name, *ty, Def::Result(id, n as u32), *span);
            op.results.push(value);
        }
        self.check_order();
        self.func.push_op(self.block, op);
        Ok(())
    }

    /// A multi-buffer tile is no operand and no result of anything but its own operations (isa/today.md 5.2).
    pub(super) fn check_multi(&mut self, op: &Op, types: &[TypeAt]) -> Res<()> {
        let text = op.opcode().map(|opcode| opcode.info().text);
        let is_multi = |id: TypeId| id != UNKNOWN && self.module.types.get(id).slots().is_some();
        let operand = op.operands.iter().find(|o| o.arg.value().is_some_and(|v| is_multi(self.func.value(v).ty)));
        let at = match (operand.filter(|_| text != Some(Text::Slot)), types.iter().find(|ty| is_multi(ty.0))) {
            (Some(operand), _) => operand.span,
            (_, Some(ty)) if text != Some(Text::Alloc) => ty.1,
            _ => return Ok(()),
        };
        let what = format!("{} has a multi-buffer tile, which only multi_tile_get takes", op.kind.name());
        self.fail("tile-multi", at, what, OF_MULTI)
    }

    /// Replaces aliases in locations once all of them are known.
    pub(super) fn close_locs(&mut self) {
        for (id, span) in std::mem::take(&mut self.open_locs) {
            let Some(mut text) = self.module.locs.get(id).map(|loc| loc.text.to_string()) else { continue };
            for _ in 0..MAX_ALIASES {
                let next = self.expand(&text);
                if next == text || next.len() > MAX_LOCATION {
                    break;
                }
                text = next;
            }
            // The file of a location may have a `#` in its name.
            if super::attr::find_outside_strings(&text, b'#').is_some() {
                let what = format!("the location {} names no alias", shown(&text));
                let _: Res<()> = self.fail("undefined-name", span, what, "define it as `#loc = loc(…)`");
                text = "unknown".into();
            }
            self.module.locs.rewrite(id, &text);
        }
    }
}

fn counts(form: &Shape, w: &Written) -> bool {
    match &w.indices {
        None => form.ins.len() == w.ins.len(),
        Some(indices) => {
            let wanted = form.ins.iter().filter(|r| r.in_brackets()).count();
            wanted == indices.len() && form.ins.len() - wanted == w.ins.len()
        }
    }
}

/// The way in which the signature lists the form's types: all of them, or in assembly those of tiles only. `once` also
/// allows one type for all tiles.
fn lists(form: &Shape, w: &Written, is_asm: bool, once: bool) -> Option<Lists> {
    let Signature::Arrow(ins, _) = &w.signature else {
        return Some(Lists::Once);
    };
    let init = usize::from(w.init.is_some());
    let tiles = form.ins.iter().filter(|r| listed(**r)).count();
    match ins.len() {
        n if n == form.ins.len() + init => Some(Lists::All),
        _ if !is_asm => None,
        n if n == tiles + init || n == tiles => Some(Lists::Tiles),
        1 if once => Some(Lists::Once),
        _ => None,
    }
}

/// Whether it is the type of this element's values, whatever the sign.
fn is_scalar_of(ty: &Type, elem: Elem) -> bool {
    match ty {
        Type::Scalar(ScalarType::Float(float)) => *float == elem,
        Type::Scalar(ScalarType::Int(bits, _)) => !elem.is_float() && u32::from(*bits) == elem.bits(),
        _ => false,
    }
}

/// The operands in the form's order: those in brackets are its indices.
fn arrange(form: &Shape, w: &mut Written) -> Raws {
    let Some(indices) = w.indices.take() else {
        return std::mem::take(&mut w.ins);
    };
    let mut plain = w.ins.iter().copied();
    let mut bracketed = indices.iter().copied();
    form.ins.iter().filter_map(|role| if role.in_brackets() { bracketed.next() } else { plain.next() }).collect()
}
