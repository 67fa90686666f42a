//! `arith`: constants and integer arithmetic (syntax.md 4).

use super::attr::Attr;
use super::{Parser, Raws, Res, Results, TypeAt};
use crate::lex::Tok;
use crate::sink::{did_you_mean, shown};
use crate::words;
use smallvec::smallvec;
use tessera_ir::{CmpPred, Op, OpKind, ScalarType, TextForm, Type};
use tessera_isa::codec::{Number, Overflow};
use tessera_isa::diag::Span;
use tessera_isa::ops::Role;

impl Parser<'_> {
    /// An operation of `arith`, or `None` if there is none of this name.
    pub(super) fn arith(&mut self, results: &Results, name: &str) -> Option<Res<()>> {
        let kind = words::arith(name);
        if kind.is_none() && !matches!(name, "constant" | "cmpi") {
            return None;
        }
        self.bump();
        Some(match kind {
            Some(kind @ OpKind::Cast(_)) => self.cast(results, kind),
            Some(kind) => self.arith_same(results, kind),
            None if name == "cmpi" => self.compare(results),
            None => self.constant(results),
        })
    }

    fn constant(&mut self, results: &Results) -> Res<()> {
        let start = self.tok.span;
        if self.eat_word("dense") {
            return self.dense(results);
        }
        let value = if self.at_word("true") || self.at_word("false") {
            let word = self.bump().span;
            Attr::Bool(self.slice(word) == "true")
        } else {
            self.signed_number()?
        };
        let span = start.to(self.prev);
        let ty = match value {
            Attr::Bool(_) if !self.at(Tok::Colon) => (self.common.i1, span),
            _ => {
                self.expect(Tok::Colon, "`:` and the type")?;
                self.ty()?
            }
        };
        self.build_constant(results, &value, span, ty)
    }

    fn signed_number(&mut self) -> Res<Attr> {
        let sign = if self.eat(Tok::Minus) { -1 } else { 1 };
        Ok(match self.tok.kind {
            Tok::Float => Attr::Float(self.float()? * f64::from(sign), None),
            Tok::Int => Attr::Int(self.integer()? * i128::from(sign), None),
            _ => return self.expected("a number, `true` or `false`"),
        })
    }

    /// `<[0, 0, 0, 0]> : vector<4xi16>`, or `<0>` for all of them.
    fn dense(&mut self, results: &Results) -> Res<()> {
        self.expect(Tok::Less, "`<`")?;
        let mut values = Vec::new();
        let is_list = self.at(Tok::LBracket);
        let start = self.tok.span;
        if is_list {
            let open = self.bump().span;
            self.items(open, Tok::RBracket, |p| {
                values.push(p.signed_number()?);
                Ok(())
            })?;
        } else {
            values.push(self.signed_number()?);
        }
        let span = start.to(self.prev);
        self.expect(Tok::Greater, "`>`")?;
        self.expect(Tok::Colon, "`:` and the type")?;
        let ty = self.ty()?;
        let Type::Vector(len, scalar) = *self.module.types.get(ty.0) else {
            let text = format!("dense<…> is a vector, and its type is {}", self.type_text(ty.0));
            return self.fail("type-mismatch", ty.1, text, "write vector<4xi16>");
        };
        let mut all = Vec::new();
        for value in &values {
            all.push(self.number_of(value, span, ty, scalar)?);
        }
        if let ([one], false) = (all.as_slice(), is_list) {
            all = vec![*one; len as usize];
        }
        if all.len() as u64 != len {
            let text = format!("{} numbers are written for {len}", all.len());
            return self.fail("operand-count", span, text, format!("write {len} numbers"));
        }
        let op = Op::new(OpKind::Dense(all), TextForm::Ssa, results.start);
        self.simple(op, results, &smallvec![ty])
    }

    /// A constant rounded to its type, with its range checked.
    pub(super) fn build_constant(&mut self, results: &Results, value: &Attr, span: Span, ty: TypeAt) -> Res<()> {
        let Type::Scalar(scalar) = *self.module.types.get(ty.0) else {
            let text = format!("a constant is a scalar, and its type is {}", self.type_text(ty.0));
            return self.fail("type-mismatch", ty.1, text, "use index, an integer or a float type");
        };
        let number = self.number_of(value, span, ty, scalar)?;
        let op = Op::new(OpKind::Constant(number), TextForm::Ssa, results.start);
        self.simple(op, results, &smallvec![ty])
    }

    fn number_of(&mut self, value: &Attr, span: Span, ty: TypeAt, scalar: ScalarType) -> Res<Number> {
        Ok(match (value, scalar) {
            (Attr::Bool(b), ScalarType::Int(1, _)) => Number::Int(if *b { -1 } else { 0 }),
            (Attr::Int(n, _), ScalarType::Index) => self.wrapped(*n, 64, span)?,
            (Attr::Int(n, _), ScalarType::Int(bits, _)) => self.wrapped(*n, bits.into(), span)?,
            (Attr::Int(n, _), ScalarType::Float(elem)) if self.slice(span).starts_with("0x") => {
                if *n < 0 || *n > i128::from(elem.mask()) {
                    let text = format!("{} has more bits than {elem}", shown(self.slice(span)));
                    return self.fail("syntax-integer", span, text, "write as many digits as the type has");
                }
                elem.decode(*n as u64)
            }
            (Attr::Int(n, _), ScalarType::Float(elem)) => elem.decode(elem.encode_int(*n, Overflow::Infinity)),
            (Attr::Float(v, _), ScalarType::Float(elem)) => elem.decode(elem.encode_f64(*v, Overflow::Infinity)),
            _ => {
                let text = format!("{} is no {}", shown(self.slice(span)), self.type_text(ty.0));
                return self.fail("type-mismatch", span, text, "write a value of the type");
            }
        })
    }

    /// An integer as the bits of its width, sign-extended.
    fn wrapped(&mut self, n: i128, bits: u32, span: Span) -> Res<Number> {
        let top = 1i128 << (bits - 1);
        let (low, high) = (-top, (top << 1) - 1);
        if n < low || n > high {
            let text = format!("{n} does not fit into {bits} bits");
            return self.fail("syntax-integer", span, text, format!("write a value from {low} to {high}"));
        }
        Ok(Number::Int(if n >= top { n - (top << 1) } else { n }))
    }

    /// Operands and result of one type: `%a, %b : T`; a select's condition is i1.
    fn arith_same(&mut self, results: &Results, kind: OpKind) -> Res<()> {
        let raws = self.plain_operands(if kind == OpKind::Select { 3 } else { 2 })?;
        let words = if self.eat_word("overflow") { self.flags()? } else { Vec::new() };
        self.optional_dictionary()?;
        self.expect(Tok::Colon, "`:` and the type")?;
        let mut ty = self.ty()?;
        // MLIR writes the type of a select's condition where it is no scalar.
        if kind == OpKind::Select && self.eat(Tok::Comma) {
            ty = self.ty()?;
        }
        self.build_arith(results, kind, &raws, ty, ty, words)
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

    fn plain_operands(&mut self, count: usize) -> Res<Raws> {
        let mut out = Raws::new();
        for n in 0..count {
            if n > 0 {
                self.expect(Tok::Comma, "`,`")?;
            }
            self.need(Tok::Percent, "an operand `%name`")?;
            out.push(self.operand()?);
        }
        Ok(out)
    }

    /// Looks operands up with the operation's type and puts the operation into the block. A comparison gives i1.
    pub(super) fn build_arith(
        &mut self,
        results: &Results,
        kind: OpKind,
        raws: &Raws,
        ty: TypeAt,
        out: TypeAt,
        words: Vec<String>,
    ) -> Res<()> {
        let is_select = kind == OpKind::Select;
        let is_number = |ty: TypeAt| self.module.types.get(ty.0).plays(Role::Number);
        if matches!(kind, OpKind::Cast(_)) && !is_number(out) {
            let text = format!("an integer is converted to {}", self.type_text(out.0));
            return self.fail("type-mismatch", out.1, text, "use index or an integer type");
        }
        if !is_select && !is_number(ty) {
            let text = format!("integer arithmetic is written in the type {}", self.type_text(ty.0));
            return self.fail("type-mismatch", ty.1, text, "use index or an integer type");
        }
        let out = if matches!(kind, OpKind::Cmp(_)) { (self.common.i1, out.1) } else { out };
        let mut op = Op::new(kind, TextForm::Ssa, results.start);
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
        self.finish(op, results, &[out], loc)
    }

    fn compare(&mut self, results: &Results) -> Res<()> {
        let span = self.tok.span;
        let word = self.here().trim_matches('"');
        let Some(predicate) = CmpPred::parse(word) else {
            let help = did_you_mean(word, CmpPred::ALL.iter().map(|p| p.name()), || {
                "write eq, ne, slt, sle, sgt, sge, ult, ule, ugt or uge".into()
            });
            return self.fail("syntax-expected", span, format!("`{}` is no comparison", shown(word)), help);
        };
        self.bump();
        self.expect(Tok::Comma, "`,`")?;
        let raws = self.plain_operands(2)?;
        self.expect(Tok::Colon, "`:` and the type")?;
        let ty = self.ty()?;
        self.build_arith(results, OpKind::Cmp(predicate), &raws, ty, ty, Vec::new())
    }

    /// `%a : i32 to index`.
    fn cast(&mut self, results: &Results, kind: OpKind) -> Res<()> {
        let raws = self.plain_operands(1)?;
        self.expect(Tok::Colon, "`:` and the types")?;
        let from = self.ty()?;
        self.expect_word("to")?;
        let to = self.ty()?;
        self.build_arith(results, kind, &raws, from, to, Vec::new())
    }
}
