//! `arith`: constants and integer arithmetic (syntax.md 4).

use super::attr::Attr;
use super::{Parser, Raw, Res, Results, Types};
use crate::lex::Tok;
use crate::print::print_type;
use crate::sink::shown;
use crate::words::{self, ARITH, CASTS, PREDICATES};
use smallvec::{SmallVec, smallvec};
use tessera_ir::{CmpPred, Op, OpKind, ScalarType, TextForm, Type, TypeId};
use tessera_isa::codec::{Number, Overflow};
use tessera_isa::diag::{Span, nearest};
use tessera_isa::ops::Role;

impl Parser<'_> {
    /// An operation of `arith`, or `None` if there is none of this name.
    pub(super) fn arith(&mut self, start: Span, results: &Results, name: &str) -> Option<Res<()>> {
        if name == "constant" {
            self.bump();
            return Some(self.constant(start, results));
        }
        if let Some(op) = words::named(ARITH, name) {
            self.bump();
            return Some(self.arith_same(start, results, OpKind::Arith(op), 2));
        }
        if let Some(cast) = words::named(CASTS, name) {
            self.bump();
            return Some(self.cast(start, results, OpKind::Cast(cast)));
        }
        match name {
            "cmpi" => {
                self.bump();
                Some(self.compare(start, results))
            }
            "select" => {
                self.bump();
                Some(self.arith_same(start, results, OpKind::Select, 3))
            }
            _ => None,
        }
    }

    fn constant(&mut self, start: Span, results: &Results) -> Res<()> {
        let value_span = self.tok.span;
        let is_hex = self.here().starts_with("0x");
        let value = if self.at_word("true") || self.at_word("false") {
            let word = self.bump().span;
            Attr::Bool(self.slice(word) == "true")
        } else {
            let negative = self.eat(Tok::Minus);
            let sign = if negative { -1 } else { 1 };
            match self.tok.kind {
                Tok::Float => Attr::Float(self.float()? * f64::from(sign), None),
                Tok::Int => Attr::Int(self.integer()? * i128::from(sign), None),
                _ => return self.expected("a number, `true` or `false`"),
            }
        };
        let value_span = value_span.to(self.prev);
        let ty = match value {
            Attr::Bool(_) if !self.at(Tok::Colon) => (self.common.i1, value_span),
            _ => {
                self.expect(Tok::Colon, "`:` and the type")?;
                self.ty()?
            }
        };
        self.build_constant(start, results, &value, is_hex, value_span, ty)
    }

    /// A constant rounded to its type, with its range checked.
    pub(super) fn build_constant(
        &mut self,
        start: Span,
        results: &Results,
        value: &Attr,
        is_hex: bool,
        span: Span,
        ty: (TypeId, Span),
    ) -> Res<()> {
        let Type::Scalar(scalar) = *self.module.types.get(ty.0) else {
            let text = format!("a constant is a scalar, and its type is {}", print_type(self.module.types.get(ty.0)));
            return self.fail("type-mismatch", ty.1, text, "use index, an integer or a float type");
        };
        let number = match (value, scalar) {
            (Attr::Bool(b), ScalarType::Int(1, _)) => Number::Int(if *b { -1 } else { 0 }),
            (Attr::Int(n, _), ScalarType::Index) => self.wrapped(*n, 64, span)?,
            (Attr::Int(n, _), ScalarType::Int(bits, _)) => self.wrapped(*n, bits.into(), span)?,
            (Attr::Int(n, _), ScalarType::Float(elem)) if is_hex => {
                if *n < 0 || *n > i128::from(elem.mask()) {
                    let text = format!("{} has more bits than {elem}", shown(self.slice(span)));
                    return self.fail("syntax-integer", span, text, "write as many digits as the type has");
                }
                elem.decode(*n as u64)
            }
            (Attr::Int(n, _), ScalarType::Float(elem)) => elem.decode(elem.encode_int(*n, Overflow::Infinity)),
            (Attr::Float(v, _), ScalarType::Float(elem)) => elem.decode(elem.encode_f64(*v, Overflow::Infinity)),
            _ => {
                let text = format!("{} is no {}", shown(self.slice(span)), print_type(self.module.types.get(ty.0)));
                return self.fail("type-mismatch", span, text, "write a value of the type");
            }
        };
        let op = Op::new(OpKind::Constant(number), TextForm::Ssa, start);
        self.simple(op, start, results, &smallvec![ty])
    }

    /// An integer as the bits of its width, sign-extended.
    fn wrapped(&mut self, n: i128, bits: u32, span: Span) -> Res<Number> {
        let (low, high) = (-(1i128 << (bits - 1)), (1i128 << bits) - 1);
        if n < low || n > high {
            let text = format!("{n} does not fit into {bits} bits");
            let help = format!("write a value from {low} to {high}");
            return self.fail("syntax-integer", span, text, help);
        }
        let top = 1i128 << (bits - 1);
        Ok(Number::Int(if n >= top { n - (top << 1) } else { n }))
    }

    /// Operands and result of one type: `%a, %b : T`; a select's condition is i1.
    fn arith_same(&mut self, start: Span, results: &Results, kind: OpKind, count: usize) -> Res<()> {
        let raws = self.plain_operands(count)?;
        let mut words = Vec::new();
        if self.eat_word("overflow") {
            words = self.flags()?;
        }
        if self.at(Tok::LBrace) {
            self.dictionary()?;
        }
        self.expect(Tok::Colon, "`:` and the type")?;
        let mut ty = self.ty()?;
        // MLIR writes the type of a select's condition where it is no scalar.
        if kind == OpKind::Select && self.eat(Tok::Comma) {
            ty = self.ty()?;
        }
        self.build_arith(start, results, kind, &raws, ty, ty, words)
    }

    fn flags(&mut self) -> Res<Vec<String>> {
        self.expect(Tok::Less, "`<`")?;
        let mut out = Vec::new();
        while self.at(Tok::Word) {
            out.push(self.here().to_string());
            self.bump();
            if !self.eat(Tok::Comma) {
                break;
            }
        }
        self.expect(Tok::Greater, "`>`")?;
        Ok(out)
    }

    fn plain_operands(&mut self, count: usize) -> Res<SmallVec<[Raw; 4]>> {
        let mut out = SmallVec::new();
        for n in 0..count {
            if n > 0 {
                self.expect(Tok::Comma, "`,`")?;
            }
            if !self.at(Tok::Percent) {
                return self.expected("an operand `%name`");
            }
            out.push(self.operand()?);
        }
        Ok(out)
    }

    /// Looks operands up with the operation's type and puts the operation into the block.
    #[expect(clippy::too_many_arguments, reason = "the parts of one operation, shared with the generic form")]
    pub(super) fn build_arith(
        &mut self,
        start: Span,
        results: &Results,
        kind: OpKind,
        raws: &[Raw],
        ty: (TypeId, Span),
        result: (TypeId, Span),
        words: Vec<String>,
    ) -> Res<()> {
        let is_select = kind == OpKind::Select;
        if !is_select && !self.module.types.get(ty.0).plays(Role::Number) {
            let text = format!("integer arithmetic is written in the type {}", print_type(self.module.types.get(ty.0)));
            return self.fail("type-mismatch", ty.1, text, "use index or an integer type");
        }
        let mut op = Op::new(kind, TextForm::Ssa, start);
        for (n, raw) in raws.iter().enumerate() {
            let mut raw = *raw;
            raw.ty = Some(if is_select && n == 0 { (self.common.i1, raw.span) } else { ty });
            op.operands.extend(self.resolve(&raw, Role::Number, None));
        }
        let mut entries = Vec::new();
        let loc = self.tail(&mut entries)?;
        op.attrs = self.sort_attrs(entries, &[], "the operation");
        if !words.is_empty() {
            op.attrs_mut().words = words;
        }
        self.finish(op, start, results, &[result], loc)
    }

    fn compare(&mut self, start: Span, results: &Results) -> Res<()> {
        let span = self.tok.span;
        let word = self.here().trim_matches('"');
        let Some(predicate) = words::named(PREDICATES, word) else {
            let names = PREDICATES.iter().map(|(n, _)| *n);
            let help = match nearest(word, names) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "write eq, ne, slt, sle, sgt, sge, ult, ule, ugt or uge".into(),
            };
            let text = format!("`{}` is no comparison", shown(word));
            return self.fail("syntax-expected", span, text, help);
        };
        self.bump();
        self.expect(Tok::Comma, "`,`")?;
        let raws = self.plain_operands(2)?;
        self.expect(Tok::Colon, "`:` and the type")?;
        let ty = self.ty()?;
        self.build_compare(start, results, predicate, &raws, ty)
    }

    pub(super) fn build_compare(
        &mut self,
        start: Span,
        results: &Results,
        predicate: CmpPred,
        raws: &[Raw],
        ty: (TypeId, Span),
    ) -> Res<()> {
        let result = (self.common.i1, ty.1);
        self.build_arith(start, results, OpKind::Cmp(predicate), raws, ty, result, Vec::new())
    }

    /// `%a : i32 to index`.
    fn cast(&mut self, start: Span, results: &Results, kind: OpKind) -> Res<()> {
        let raws = self.plain_operands(1)?;
        self.expect(Tok::Colon, "`:` and the types")?;
        let from = self.ty()?;
        if !self.eat_word("to") {
            return self.expected("`to`");
        }
        let to = self.ty()?;
        self.build_cast(start, results, kind, &raws, from, to)
    }

    pub(super) fn build_cast(
        &mut self,
        start: Span,
        results: &Results,
        kind: OpKind,
        raws: &[Raw],
        from: (TypeId, Span),
        to: (TypeId, Span),
    ) -> Res<()> {
        if !self.module.types.get(to.0).plays(Role::Number) {
            let text = format!("an integer is converted to {}", print_type(self.module.types.get(to.0)));
            return self.fail("type-mismatch", to.1, text, "use index or an integer type");
        }
        self.build_arith(start, results, kind, raws, from, to, Vec::new())
    }

    /// The types of a list, or a message that says how many are wanted.
    pub(super) fn exactly(&mut self, types: &Types, wanted: usize, what: &str, at: Span) -> Res<()> {
        if types.len() == wanted {
            return Ok(());
        }
        let text = format!("{what} has {wanted} types, and {} are written", types.len());
        self.fail("operand-count", at, text, format!("write {wanted} types"))
    }
}
