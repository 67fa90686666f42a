//! MLIR's generic form: `"pto.tmov"(%a, %b) <{properties}> ({regions}) {attributes} : (types) -> (types)`.

use super::attr::{Attr, Entry};
use super::attr_typed::named;
use super::flow::set_types;
use super::inst::{Signature, Written};
use super::special::Draft;
use super::{Parser, Raws, Res, Results, Types};
use crate::dialect::Part;
use crate::lex::Tok;
use crate::sink::shown;
use crate::words::{self, Pto};
use smallvec::SmallVec;
use tessera_ir::edges::FOR_BOUNDS;
use tessera_ir::{BlockId, CmpPred, FloatPred, LocId, Op, OpKind, TextForm};
use tessera_isa::diag::Span;
use tessera_isa::ops::{Opcode, Role, Shape, Text};

/// An operand of the assembler's definition, by the roles that it may have in a row.
#[derive(Clone, Copy, PartialEq)]
struct OperandGroup {
    roles: &'static [Role],
    is_optional: bool,
}

/// The operands that a row reads and writes, by their places in the text.
struct Ordered {
    op: Opcode,
    ins: Vec<usize>,
    outs: Vec<usize>,
}

const fn one(roles: &'static [Role]) -> OperandGroup {
    OperandGroup { roles, is_optional: false }
}

const fn maybe(roles: &'static [Role]) -> OperandGroup {
    OperandGroup { roles, is_optional: true }
}

/// Orders that are not sources first (isa/today.md 3).
const DIALECT_ORDER: &[(&str, &[OperandGroup])] = {
    use Role::*;
    &[
        (
            "tload",
            &[
                one(&[Global]),
                one(&[Dst]),
                maybe(&[Fill]),
                maybe(&[LeftPadding]),
                maybe(&[RightPadding]),
                maybe(&[InitCondition]),
            ],
        ),
        ("tmov", &[one(&[Src]), one(&[Dst]), maybe(&[Fp, Tmp]), maybe(&[Quant])]),
        ("tstore", &[one(&[Src]), one(&[Global]), maybe(&[Fp]), maybe(&[Quant])]),
        ("textract", &[one(&[Src, Src0]), one(&[Row]), one(&[Col]), one(&[Dst]), maybe(&[Fp]), maybe(&[Quant])]),
        ("tinsert", &[one(&[Src]), one(&[Row]), one(&[Col]), one(&[Dst]), maybe(&[Fp]), maybe(&[Quant])]),
        ("tpow", &[one(&[Src0]), one(&[Src1]), one(&[Dst]), maybe(&[Tmp])]),
        ("tpows", &[one(&[Src]), one(&[Scalar]), one(&[Dst]), maybe(&[Tmp])]),
        ("trsqrt", &[one(&[Src]), one(&[Dst]), maybe(&[Tmp])]),
        ("tgather", &[one(&[Src]), one(&[Dst]), maybe(&[Cdst]), maybe(&[Idx]), maybe(&[Tmp]), maybe(&[Scalar])]),
        ("tscatter", &[one(&[Src]), one(&[Dst]), maybe(&[Idx])]),
        ("mgather", &[one(&[Global]), one(&[Idx]), one(&[Dst])]),
        ("tsetval", &[one(&[Dst]), one(&[Index]), one(&[Scalar])]),
    ]
};

#[derive(Default)]
pub(super) struct Generic {
    pub name: String,
    pub name_span: Span,
    pub operands: Raws,
    pub entries: Vec<Entry>,
    pub blocks: SmallVec<[BlockId; 2]>,
    pub ins: Types,
    pub outs: Types,
    pub loc: Option<LocId>,
}

impl Generic {
    pub fn take(&mut self, key: &str) -> Option<Entry> {
        let at = self.entries.iter().position(|e| e.key == key)?;
        Some(self.entries.remove(at))
    }
}

impl Parser<'_> {
    /// `"name"(%a, %b) <{…}>`: all of the head.
    pub(super) fn generic_head(&mut self) -> Res<Generic> {
        let name_span = self.bump().span;
        let name = super::attr::unquote(self.slice(name_span));
        let mut out = Generic { name, name_span, ..Generic::default() };
        let open = self.expect(Tok::LParen, "`(` and the operands")?.span;
        out.operands = self.operand_list(open, Tok::RParen)?;
        if self.eat(Tok::Less) {
            self.need(Tok::LBrace, "`{` and the properties")?;
            out.entries = self.dictionary()?;
            self.expect(Tok::Greater, "`>`")?;
        }
        Ok(out)
    }

    /// Attributes, types and location: all behind the regions.
    pub(super) fn generic_tail(&mut self, g: &mut Generic) -> Res<()> {
        if self.at(Tok::LBrace) {
            self.attributes(&mut g.entries)?;
        }
        self.expect(Tok::Colon, "`:` and the types")?;
        (g.ins, g.outs) = self.arrow_types()?;
        g.loc = self.tail(&mut Vec::new())?;
        if g.ins.len() != g.operands.len() {
            let text = format!("{} operands have {} types", g.operands.len(), g.ins.len());
            return self.fail("operand-count", g.name_span, text, "write one type per operand");
        }
        set_types(&mut g.operands, &g.ins);
        Ok(())
    }

    /// Any operation in generic form; its quoted name is next.
    pub(super) fn generic(&mut self, results: &Results) -> Res<()> {
        let mut g = self.generic_head()?;
        if self.at(Tok::LParen) {
            let open = self.bump().span;
            loop {
                g.blocks.push(self.region(&[])?);
                if !self.eat(Tok::Comma) {
                    break;
                }
            }
            self.close(Tok::RParen, open)?;
        }
        self.generic_tail(&mut g)?;
        if g.outs.len() != results.names.len() {
            let text = format!("{} results have {} types", results.names.len(), g.outs.len());
            return self.fail("operand-count", g.name_span, text, "write one type per result");
        }
        let name = g.name.clone();
        if let Some(outcome) = self.generic_lower(results, &name, &mut g) {
            return outcome;
        }
        if let Some(mnemonic) = name.strip_prefix("pto.") {
            self.mark(Part::Operation, mnemonic, g.name_span);
            match words::pto(mnemonic) {
                Some(Pto::Table(op)) if op.info().text != Text::Forms => {
                    return self.generic_special(results, op, g);
                }
                Some(Pto::Table(op)) => return self.generic_pto(results, op, g),
                Some(Pto::Other(other)) => return self.generic_other(results, other, g),
                None => {}
            }
        } else if ["arith.", "math.", "builtin."].iter().any(|dialect| name.starts_with(dialect)) {
            if let Some(outcome) = self.generic_arith(results, &name, &mut g) {
                return outcome;
            }
        } else if let Some(outcome) = self.generic_flow(results, &name, &mut g) {
            return outcome;
        }
        self.unknown_op(&name, g.name_span)
    }

    /// Sections, and tiles one level lower (isa/structure.md 4 and 7).
    fn generic_lower(&mut self, results: &Results, name: &str, g: &mut Generic) -> Option<Res<()>> {
        match (name, g.operands.as_slice(), g.blocks.as_slice(), g.outs.as_slice()) {
            ("pto.section.cube" | "pto.section.vector", [], [body], []) => {
                Some(self.section_of(results, name.trim_start_matches("pto."), g.name_span, *body))
            }
            ("memref.alloc" | "memref.alloca", [], [], [ty]) => Some(self.made_tile(results, *ty)),
            ("pto.bind_tile", [src, row, col], [], [to]) => {
                Some(self.bind(results, *src, &Raws::from_slice(&[*row, *col]), &g.entries, *to))
            }
            _ => None,
        }
    }

    /// Operands are ins, then outs: the last ones, as many as there are destinations and no results (syntax.md 1).
    fn generic_pto(&mut self, results: &Results, op: Opcode, mut g: Generic) -> Res<()> {
        let mut w = Written::default();
        let segments = g.take("operandSegmentSizes").map(|e| e.value);
        if results.names.is_empty()
            && let Some(order) = self.dialect_order(op, &g, segments.as_ref())
        {
            let mut operands = std::mem::take(&mut g.operands);
            let outs = order.outs.iter().map(|n| operands[*n]).collect();
            w.ins = order.ins.iter().map(|n| operands[*n]).collect();
            operands.clear();
            w.outs = Some(outs);
            let op = order.op;
            w.entries = g.entries;
            named(&mut w.entries, op.info().attrs);
            w.loc = g.loc;
            return self.build(results, op, TextForm::Ssa, &mut w);
        }
        if results.names.is_empty() {
            let total = g.operands.len();
            let forms = op.shapes();
            let counted = || {
                let counted = |f: &&Shape| f.ins.len() + f.outs.len() == total;
                let plays = |f: &&Shape| {
                    let types = g.ins.iter().map(|(id, _)| self.module.types.get(*id));
                    f.ins.iter().chain(&f.outs).zip(types).all(|(role, ty)| ty.plays(*role))
                };
                // Types tell forms of one length apart (isa/notes.md).
                let all = || forms.iter().filter(counted);
                all().find(plays).or_else(|| all().next()).or(forms.first())
            };
            let outs = segments.and_then(|s| outs_of(op, &s)).or_else(|| counted().map(|f| f.outs.len()));
            let outs = outs.unwrap_or(0).min(total);
            let split = total - outs;
            w.outs = Some(g.operands.drain(split..).collect());
        } else {
            w.signature = Signature::Arrow(g.ins, g.outs);
        }
        w.ins = g.operands;
        w.entries = g.entries;
        named(&mut w.entries, op.info().attrs);
        w.loc = g.loc;
        self.build(results, op, TextForm::Ssa, &mut w)
    }

    /// The operands of an instruction whose definition has its destination before optional operands (isa/today.md 3), by
    /// what the row reads and writes. Segments tell which are there; without them the number and the types do.
    fn dialect_order(&self, op: Opcode, g: &Generic, segments: Option<&Attr>) -> Option<Ordered> {
        let all: &[OperandGroup] = DIALECT_ORDER.iter().find(|(name, _)| *name == op.mnemonic())?.1;
        let counts: Option<Vec<usize>> = match segments {
            Some(Attr::List(list)) if list.len() <= all.len() => {
                let count = |a: &Attr| if let Attr::Int(n, _) = a { usize::try_from(*n).ok() } else { None };
                list.iter().map(count).collect()
            }
            Some(_) => return None,
            None => None,
        };
        let total = g.operands.len();
        let given = |counts: &[usize]| -> Option<Vec<OperandGroup>> {
            let parts = all.iter().zip(counts).flat_map(|(part, n)| std::iter::repeat_n(*part, *n));
            // A count may be any number; one more than there are operands is enough to refuse it.
            let parts: Vec<OperandGroup> = parts.take(total + 1).collect();
            (parts.len() == total).then_some(parts)
        };
        let written = match counts {
            Some(counts) => given(&counts)?,
            None => {
                // Optional operands may be left out; the first choice whose types fit some shape is meant.
                let optional = all.iter().filter(|part| part.is_optional).count() as u32;
                (0..1u32 << optional).rev().find_map(|mask| {
                    let mut bit = 0;
                    let counts: Vec<usize> = all
                        .iter()
                        .map(|part| {
                            if !part.is_optional {
                                return 1;
                            }
                            bit += 1;
                            usize::from(mask & (1 << (bit - 1)) != 0)
                        })
                        .collect();
                    let parts = given(&counts)?;
                    self.shape_of(op, &parts, g).map(|_| parts)
                })?
            }
        };
        self.shape_of(op, &written, g)
    }

    /// The operands in the order of a shape that has exactly these, with types that play their roles.
    fn shape_of(&self, op: Opcode, parts: &[OperandGroup], g: &Generic) -> Option<Ordered> {
        let rows = [Some(op), Opcode::parse(&format!("{}_fp", op.mnemonic()))];
        rows.into_iter().flatten().find_map(|op| {
            op.shapes().iter().find_map(|shape| {
                let place = |role: &Role| parts.iter().position(|part| part.roles.contains(role));
                let ins = shape.ins.iter().map(place).collect::<Option<Vec<_>>>()?;
                let outs = shape.outs.iter().map(place).collect::<Option<Vec<_>>>()?;
                let mut used: Vec<usize> = ins.iter().chain(&outs).copied().collect();
                used.sort_unstable();
                used.dedup();
                let plays = |(role, n): (&Role, &usize)| {
                    g.ins.get(*n).is_some_and(|(id, _)| {
                        let ty = self.module.types.get(*id);
                        let is_float = ty.tile().is_some_and(|tile| tile.elem.is_float());
                        ty.plays(*role) && !(*role == Role::Idx && is_float)
                    })
                };
                let fits = shape.ins.iter().zip(&ins).all(plays) && shape.outs.iter().zip(&outs).all(plays);
                (fits && used.len() == parts.len() && used.len() == shape.ins.len() + shape.outs.len())
                    .then_some(Ordered { op, ins, outs })
            })
        })
    }

    fn generic_other(&mut self, results: &Results, name: &'static str, g: Generic) -> Res<()> {
        let form = if results.names.is_empty() { TextForm::Dps } else { TextForm::Ssa };
        let mut op = Op::new(OpKind::Other(name), form, results.start);
        let last = g.operands.len().saturating_sub(1);
        for (n, raw) in g.operands.iter().enumerate() {
            let tile = self.raw_type(raw).is_some_and(|id| self.module.types.get(id).is_tile());
            let role = match tile {
                true if n == last && results.names.is_empty() => Role::Dst,
                true => Role::Src,
                false => Role::Number,
            };
            op.operands.extend(self.resolve(raw, role, None));
        }
        op.attrs = self.sort_attrs(g.entries, &[], name);
        self.finish(op, results, &g.outs, g.loc)
    }

    fn generic_special(&mut self, results: &Results, op: Opcode, mut g: Generic) -> Res<()> {
        let segments = g.take("operandSegmentSizes").map(|e| e.value);
        let roles: SmallVec<[Role; 8]> = match op.info().text {
            Text::Alloc => match &segments {
                Some(Attr::List(list)) => {
                    let counts = list.iter().filter_map(|a| if let Attr::Int(n, _) = a { Some(*n) } else { None });
                    let all = [Role::Addr, Role::ValidRow, Role::ValidCol].into_iter().zip(counts);
                    all.filter(|(_, n)| *n > 0).map(|(role, _)| role).collect()
                }
                _ if g.operands.is_empty() => SmallVec::new(),
                _ => {
                    let text = format!("{op}'s operands have no operandSegmentSizes");
                    let help = "add <{operandSegmentSizes = array<i32: addr, valid_row, valid_col>}>";
                    return self.fail("syntax-attribute", g.name_span, text, help);
                }
            },
            Text::Assign => SmallVec::from_slice(&[Role::Tile, Role::Addr]),
            Text::SetValid => SmallVec::from_slice(&[Role::Tile, Role::ValidRow, Role::ValidCol]),
            Text::Subset => {
                let all = [Role::Src, Role::Row, Role::Col, Role::ValidRow, Role::ValidCol];
                let counts = [3, 5].into_iter().find(|n| *n == g.operands.len()).unwrap_or(3);
                all.into_iter().take(counts).collect()
            }
            Text::Meet => [Role::Global, Role::Number].into_iter().take(g.operands.len().min(2)).collect(),
            Text::Slot => SmallVec::from_slice(&[Role::Src, Role::Index]),
            Text::StoreScalar => SmallVec::from_slice(&[Role::Scalar, Role::Global, Role::Number]),
            Text::MakeView | Text::Partition | Text::AddPtr | Text::LoadScalar | Text::Dim => {
                let rest = g.operands.iter().skip(1).map(|_| Role::Number);
                std::iter::once(Role::Global).chain(rest).collect()
            }
            Text::Value => SmallVec::from_slice(&[Role::Fill]),
            _ => g.operands.iter().map(|_| Role::Scalar).collect(),
        };
        let mut draft = Draft::default();
        let roles = match op.info().text {
            Text::Comm(text) => {
                let operands = std::mem::take(&mut g.operands);
                let counts = super::comm::counts(segments.as_ref(), text.parts.len());
                let roles = self.comm_roles(op, text, &operands, &counts)?;
                g.operands = operands;
                roles.into_iter().collect()
            }
            Text::Pipe(text) => {
                self.pipe_roles(&mut draft, op, text, g.operands.clone(), &[])?;
                std::mem::take(&mut draft.operands).into_iter().map(|(role, _)| role).collect()
            }
            _ => roles,
        };
        if roles.len() != g.operands.len() {
            let text = format!("{op} takes {} operands, and {} are written", roles.len(), g.operands.len());
            return self.fail("operand-count", g.name_span, text, format!("write {} operands", roles.len()));
        }
        if let Some(Attr::List(list)) = g.take("sizes").map(|e| e.value)
            && let [Attr::Int(rows, _), Attr::Int(cols, _)] = list.as_slice()
        {
            draft.sizes = Some([rows, cols].map(|n| u64::try_from(*n).unwrap_or(u64::MAX)));
        }
        draft.types = g.outs;
        draft.operands = roles.into_iter().zip(g.operands).collect();
        draft.entries = g.entries;
        named(&mut draft.entries, op.info().attrs);
        self.finish_special(results, op, TextForm::Ssa, draft, g.loc)
    }

    fn generic_arith(&mut self, results: &Results, name: &str, g: &mut Generic) -> Option<Res<()>> {
        let (first, out) = (g.ins.first().copied(), g.outs.first().copied());
        let loc = g.loc.take();
        let raws = std::mem::take(&mut g.operands);
        let flags = match g.take("overflowFlags").map(|e| e.value) {
            Some(Attr::Dialect(_, body)) => {
                let is_flag = |w: &&str| *w != "none" && !w.is_empty() && w.bytes().all(|b| b.is_ascii_alphabetic());
                body.split(", ").filter(is_flag).map(str::to_string).collect()
            }
            _ => Vec::new(),
        };
        // It changes nothing here (isa/structure.md 7).
        g.take("fastmath");
        let build = |p: &mut Self, kind, ty, out| p.build_arith(results, kind, &raws, ty, out, flags);
        let done = match (words::arith(name), name) {
            (Some(OpKind::Select), _) => build(self, OpKind::Select, out?, out?),
            (Some(kind), _) => match self.cast_width(&kind, [first?, out?], name) {
                Ok(()) => build(self, kind, first?, out?),
                failed => failed,
            },
            (None, "arith.cmpi" | "arith.cmpf") => {
                let Attr::Int(n, _) = g.take("predicate")?.value else { return None };
                let n = usize::try_from(n).ok()?;
                let kind = match name == "arith.cmpf" {
                    true => OpKind::CmpFloat(*FloatPred::ALL.get(n)?),
                    false => OpKind::Cmp(*CmpPred::ALL.get(n)?),
                };
                build(self, kind, first?, first?)
            }
            (None, "arith.constant") => {
                let entry = g.take("value")?;
                self.build_constant(results, &entry.value, entry.value_span, out?)
            }
            _ => return None,
        };
        if let Some(entry) = g.entries.first() {
            let text = format!("{name} does not know the attribute {}", shown(&entry.key));
            return Some(self.fail("syntax-attribute", entry.span(), text, "leave it out"));
        }
        self.late_loc(loc);
        Some(done)
    }

    /// The location of the operation that was put into the block last.
    fn late_loc(&mut self, loc: Option<LocId>) {
        if let (Some(id), true) = (self.func.block(self.block).ops.last().copied(), loc.is_some()) {
            self.func.op_mut(id).loc = loc;
        }
    }

    fn generic_flow(&mut self, results: &Results, name: &str, g: &mut Generic) -> Option<Res<()>> {
        let kind = match name {
            "scf.for" => OpKind::For,
            "scf.if" => OpKind::If,
            "scf.while" => OpKind::While,
            "scf.yield" => OpKind::Yield,
            "scf.condition" => OpKind::Condition,
            "func.return" => OpKind::Return,
            "func.call" => match g.take("callee")?.value {
                Attr::Symbol(symbol) => OpKind::Call(self.module.names.intern(&symbol)),
                _ => return None,
            },
            _ => return None,
        };
        Some(self.build_flow(results, kind, g))
    }

    fn build_flow(&mut self, results: &Results, kind: OpKind, g: &mut Generic) -> Res<()> {
        let at = g.name_span;
        let regions = g.blocks.len();
        let wanted = match kind {
            OpKind::For => 1,
            OpKind::If | OpKind::While => 2,
            _ => 0,
        };
        if regions != wanted || (kind == OpKind::For && g.operands.len() < FOR_BOUNDS) {
            let text = format!("{} has {wanted} regions, and {regions} are written", g.name);
            return self.fail("syntax-region", at, text, format!("write {wanted} regions"));
        }
        if matches!(kind, OpKind::Return | OpKind::Yield | OpKind::Condition) {
            self.check_end(&kind, at)?;
        }
        let mut op = Op::new(kind.clone(), TextForm::Ssa, results.start);
        for (n, raw) in g.operands.iter().enumerate() {
            let role = match kind {
                OpKind::For if n < FOR_BOUNDS => Role::Number,
                OpKind::For | OpKind::While => Role::Init,
                OpKind::If => Role::Number,
                _ => Role::Scalar,
            };
            op.operands.extend(self.resolve(raw, role, None));
        }
        match (&kind, g.blocks.as_slice()) {
            (OpKind::For, [body]) => {
                let args = self.func.block(*body).args.len();
                // The induction variable, and the carried values.
                let wanted = 1 + g.operands.len() - FOR_BOUNDS;
                if args != wanted {
                    let text = format!("the body of scf.for takes {args} values, and {wanted} are given");
                    return self.fail("operand-count", at, text, "write ^bb0(%i: index, …):");
                }
                self.check_yield(*body, &OpKind::Yield, &g.outs, at)?;
                let (inits, outs) = (g.ins.len() - FOR_BOUNDS, g.outs.len());
                if inits != outs {
                    let text = format!("scf.for has {outs} types, and {inits} are written");
                    return self.fail("operand-count", at, text, format!("write {outs} types"));
                }
            }
            (OpKind::If, [then, other]) => {
                self.check_yield(*then, &OpKind::Yield, &g.outs, at)?;
                if !g.outs.is_empty() || !self.func.block(*other).ops.is_empty() {
                    self.check_yield(*other, &OpKind::Yield, &g.outs, at)?;
                }
            }
            (OpKind::While, [before, after]) => {
                let counts = [self.func.block(*before).args.len(), self.func.block(*after).args.len()];
                if counts != [g.ins.len(), g.outs.len()] {
                    let text = format!("the regions of scf.while take {} and {} values", counts[0], counts[1]);
                    return self.fail("operand-count", at, text, "write labels ^bb0(…): with one argument per value");
                }
                self.check_yield(*before, &OpKind::Condition, &g.outs, at)?;
                self.check_yield(*after, &OpKind::Yield, &g.ins, at)?;
            }
            _ => {}
        }
        op.blocks = std::mem::take(&mut g.blocks);
        op.attrs = self.sort_attrs(std::mem::take(&mut g.entries), &[], &g.name);
        let prev = self.prev;
        if wanted > 0 {
            self.prev = at;
        }
        let outcome = self.finish(op, results, &g.outs, g.loc.take());
        self.prev = prev;
        outcome
    }
}

/// The number of destinations that `operandSegmentSizes` counts: one number for each operand of a form, 0 for those
/// left out (isa/notes.md), or the numbers of sources and destinations.
fn outs_of(op: Opcode, segments: &Attr) -> Option<usize> {
    let Attr::List(list) = segments else { return None };
    let counts: SmallVec<[usize; 8]> =
        list.iter().filter_map(|a| if let Attr::Int(n, _) = a { usize::try_from(*n).ok() } else { None }).collect();
    let form = op.info().forms.iter().find(|f| f.operands().count() == counts.len());
    match (form, counts.as_slice()) {
        (Some(form), counts) => Some(counts.iter().skip(form.ins.len()).fold(0, |all, n| all.saturating_add(*n))),
        (None, [_, outs]) => Some(*outs),
        (None, _) => None,
    }
}
