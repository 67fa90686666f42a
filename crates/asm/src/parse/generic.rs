//! MLIR's generic form: `"pto.tmov"(%a, %b) <{properties}> ({regions}) {attributes} : (types) -> (types)`.

use super::attr::{Attr, Entry};
use super::attr_typed::named;
use super::inst::Written;
use super::special::Draft;
use super::{Parser, Raw, Res, Results, Types};
use crate::lex::Tok;
use crate::words::{self, ARITH, CASTS, PREDICATES, Pto};
use smallvec::SmallVec;
use tessera_ir::edges::FOR_BOUNDS;
use tessera_ir::{BlockId, Op, OpKind, TextForm};
use tessera_isa::diag::Span;
use tessera_isa::ops::{Opcode, Role, Text};

/// The parts of an operation in generic form.
pub(super) struct Generic {
    pub name: String,
    pub name_span: Span,
    pub operands: SmallVec<[Raw; 6]>,
    pub entries: Vec<Entry>,
    pub blocks: SmallVec<[BlockId; 2]>,
    pub ins: Types,
    pub outs: Types,
    pub loc: Option<Box<str>>,
}

impl Generic {
    /// Takes an attribute out.
    pub fn take(&mut self, key: &str) -> Option<Entry> {
        let at = self.entries.iter().position(|e| e.key == key)?;
        Some(self.entries.remove(at))
    }
}

impl Parser<'_> {
    /// `"name"(%a, %b) <{…}>`: all of the head.
    pub(super) fn generic_head(&mut self) -> Res<Generic> {
        let name_span = self.bump().span;
        let mut out = Generic {
            name: super::attr::unquote(self.slice(name_span)),
            name_span,
            operands: SmallVec::new(),
            entries: Vec::new(),
            blocks: SmallVec::new(),
            ins: Types::new(),
            outs: Types::new(),
            loc: None,
        };
        let open = self.expect(Tok::LParen, "`(` and the operands")?.span;
        while !self.at(Tok::RParen) {
            out.operands.push(self.operand()?);
            if !self.eat(Tok::Comma) {
                break;
            }
        }
        self.close(Tok::RParen, open)?;
        if self.at(Tok::Less) {
            self.bump();
            if !self.at(Tok::LBrace) {
                return self.expected("`{` and the properties");
            }
            out.entries = self.dictionary()?;
            self.expect(Tok::Greater, "`>`")?;
        }
        Ok(out)
    }

    /// Attributes, types and location: all behind the regions.
    pub(super) fn generic_tail(&mut self, g: &mut Generic) -> Res<()> {
        if self.at(Tok::LBrace) {
            g.entries.extend(self.dictionary()?);
        }
        self.expect(Tok::Colon, "`:` and the types")?;
        g.ins = self.type_list()?;
        self.expect(Tok::Arrow, "`->`")?;
        g.outs = self.type_list()?;
        let mut none = Vec::new();
        g.loc = self.tail(&mut none)?;
        if g.ins.len() != g.operands.len() {
            let text = format!("{} operands have {} types", g.operands.len(), g.ins.len());
            return self.fail("operand-count", g.name_span, text, "write one type per operand");
        }
        for (raw, ty) in g.operands.iter_mut().zip(&g.ins) {
            raw.ty = Some(*ty);
        }
        Ok(())
    }

    /// Any operation in generic form; its quoted name is next.
    pub(super) fn generic(&mut self, start: Span, results: &Results) -> Res<()> {
        let mut g = self.generic_head()?;
        if self.at(Tok::LParen) {
            let open = self.bump().span;
            loop {
                let block = self.region(&[])?;
                g.blocks.push(block);
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
        if let Some(mnemonic) = name.strip_prefix("pto.") {
            match words::pto(mnemonic) {
                Some(Pto::Table(op)) if op.info().text != Text::Forms => {
                    return self.generic_special(start, results, op, g);
                }
                Some(Pto::Table(op)) => return self.generic_pto(start, results, op, g),
                Some(Pto::Other(other)) => return self.generic_other(start, results, other, g),
                None => {}
            }
        } else if let Some(arith) = name.strip_prefix("arith.") {
            if let Some(outcome) = self.generic_arith(start, results, arith, &mut g) {
                return outcome;
            }
        } else if let Some(outcome) = self.generic_flow(start, results, &name, &mut g) {
            return outcome;
        }
        self.unknown_op(&name, g.name_span)
    }

    /// Operands are ins, then outs: the last ones, as many as there are destinations and no results (syntax.md 1).
    fn generic_pto(&mut self, start: Span, results: &Results, op: Opcode, mut g: Generic) -> Res<()> {
        let mut w = Written::new();
        // Counts of the row's operands tell the same.
        g.take("operandSegmentSizes");
        if results.names.is_empty() {
            let total = g.operands.len();
            let forms = op.shapes();
            let form = forms.iter().find(|f| f.ins.len() + f.outs.len() == total).or(forms.first());
            let outs = form.map_or(0, |f| f.outs.len()).min(total);
            let split = total - outs;
            w.outs = Some(g.operands.iter().skip(split).copied().collect());
            g.operands.truncate(split);
        }
        w.ins = g.operands;
        if !results.names.is_empty() {
            w.signature = super::inst::Signature::Arrow(g.ins, g.outs);
        }
        w.entries = g.entries;
        named(&mut w.entries, op.info().attrs);
        w.loc = g.loc;
        self.build(start, results, op, TextForm::Ssa, &mut w)
    }

    fn generic_other(&mut self, start: Span, results: &Results, name: &'static str, g: Generic) -> Res<()> {
        let mut op = Op::new(OpKind::Other(name), TextForm::Ssa, start);
        if results.names.is_empty() {
            op.form = TextForm::Dps;
        }
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
        self.finish(op, start, results, &g.outs, g.loc)
    }

    fn generic_special(&mut self, start: Span, results: &Results, op: Opcode, mut g: Generic) -> Res<()> {
        let segments: Option<SmallVec<[i128; 4]>> = match g.take("operandSegmentSizes").map(|e| e.value) {
            Some(Attr::List(list)) => {
                Some(list.iter().filter_map(|a| if let Attr::Int(n, _) = a { Some(*n) } else { None }).collect())
            }
            _ => None,
        };
        let mut draft = Draft { types: g.outs.clone(), ..Draft::default() };
        let roles: SmallVec<[Role; 8]> = match op.info().text {
            Text::Alloc => {
                let all = [Role::Addr, Role::ValidRow, Role::ValidCol];
                match &segments {
                    Some(counts) => {
                        all.into_iter().zip(counts).filter(|(_, n)| **n > 0).map(|(role, _)| role).collect()
                    }
                    None if g.operands.is_empty() => SmallVec::new(),
                    None => {
                        let text = "alloc_tile's operands have no operandSegmentSizes";
                        let help = "add <{operandSegmentSizes = array<i32: addr, valid_row, valid_col>}>";
                        return self.fail("syntax-attribute", g.name_span, text, help);
                    }
                }
            }
            Text::Assign => SmallVec::from_slice(&[Role::Tile, Role::Addr]),
            Text::SetValid => SmallVec::from_slice(&[Role::Tile, Role::ValidRow, Role::ValidCol]),
            Text::Subset => SmallVec::from_slice(&[Role::Src, Role::Row, Role::Col]),
            Text::StoreScalar => SmallVec::from_slice(&[Role::Scalar, Role::Global, Role::Number]),
            Text::MakeView | Text::Partition | Text::AddPtr | Text::LoadScalar => {
                let rest = g.operands.iter().skip(1).map(|_| Role::Number);
                std::iter::once(Role::Global).chain(rest).collect()
            }
            Text::Value => SmallVec::from_slice(&[Role::Fill]),
            _ => g.operands.iter().map(|_| Role::Scalar).collect(),
        };
        if roles.len() != g.operands.len() {
            let text = format!("{op} takes {} operands, and {} are written", roles.len(), g.operands.len());
            return self.fail("operand-count", g.name_span, text, format!("write {} operands", roles.len()));
        }
        if let Some(entry) = g.take("sizes")
            && let Attr::List(list) = &entry.value
            && let [Attr::Int(rows, _), Attr::Int(cols, _)] = list.as_slice()
        {
            let size = |n: i128| u64::try_from(n).unwrap_or(u64::MAX);
            draft.sizes = Some([size(*rows), size(*cols)]);
        }
        draft.operands = roles.into_iter().zip(g.operands).collect();
        draft.entries = g.entries;
        named(&mut draft.entries, op.info().attrs);
        self.finish_special(start, results, op, TextForm::Ssa, draft, g.loc)
    }

    fn generic_arith(&mut self, start: Span, results: &Results, name: &str, g: &mut Generic) -> Option<Res<()>> {
        let first = g.ins.first().copied();
        let out = g.outs.first().copied();
        let loc = g.loc.take();
        let done = if name == "constant" {
            let entry = g.take("value")?;
            let hex = self.slice(entry.value_span).starts_with("0x");
            let ty = out?;
            let value = entry.value;
            let is_bits = hex && matches!(value, Attr::Int(..));
            self.build_constant(start, results, &value, is_bits, entry.value_span, ty)
        } else if let Some(op) = words::named(ARITH, name) {
            g.take("overflowFlags");
            self.build_arith(start, results, OpKind::Arith(op), &g.operands, first?, out?, Vec::new())
        } else if let Some(cast) = words::named(CASTS, name) {
            self.build_cast(start, results, OpKind::Cast(cast), &g.operands, first?, out?)
        } else if name == "cmpi" {
            let entry = g.take("predicate")?;
            let Attr::Int(n, _) = entry.value else { return None };
            let (_, predicate) = PREDICATES.get(usize::try_from(n).ok()?)?;
            self.build_compare(start, results, *predicate, &g.operands, first?)
        } else if name == "select" {
            self.build_arith(start, results, OpKind::Select, &g.operands, out?, out?, Vec::new())
        } else {
            return None;
        };
        self.late_loc(loc);
        Some(done)
    }

    /// The location of the operation that was put into the block last.
    fn late_loc(&mut self, loc: Option<Box<str>>) {
        if loc.is_some() {
            let id = self.func.block(self.block).ops.last().copied();
            if let Some(id) = id
                && let Some(mut op) = self.func.ops.get(id.index()).cloned()
            {
                self.set_loc(&mut op, id, loc);
                if let Some(slot) = self.func.ops.get_mut(id.index()) {
                    *slot = op;
                }
            }
        }
    }

    fn generic_flow(&mut self, start: Span, results: &Results, name: &str, g: &mut Generic) -> Option<Res<()>> {
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
        Some(self.build_flow(start, results, kind, g))
    }

    fn build_flow(&mut self, start: Span, results: &Results, kind: OpKind, g: &mut Generic) -> Res<()> {
        let at = g.name_span;
        let carried = |skip: usize| -> Types { g.ins.iter().skip(skip).copied().collect() };
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
        let mut op = Op::new(kind.clone(), TextForm::Ssa, start);
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
                let inits = carried(FOR_BOUNDS);
                self.exactly(&inits, g.outs.len(), "scf.for", at)?;
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
                let ins = carried(0);
                self.check_yield(*after, &OpKind::Yield, &ins, at)?;
            }
            _ => {}
        }
        op.blocks = g.blocks.clone();
        let entries = std::mem::take(&mut g.entries);
        op.attrs = self.sort_attrs(entries, &[], &g.name);
        let prev = self.prev;
        if wanted > 0 {
            self.prev = at;
        }
        let outcome = self.finish(op, start, results, &g.outs, g.loc.take());
        self.prev = prev;
        outcome
    }
}
