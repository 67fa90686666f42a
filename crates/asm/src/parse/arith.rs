//! `arith` and `math`: constants and arithmetic on scalars (syntax.md 4; isa/structure.md 7).

use super::attr::Attr;
use super::{Parser, Raws, Res, Results, TypeAt};
use crate::lex::Tok;
use crate::sink::{did_you_mean, shown};
use crate::words;
use smallvec::smallvec;
use tessera_ir::{CastOp, CmpPred, FloatPred, Op, OpKind, ScalarType, TextForm, Type};
use tessera_isa::codec::{Number, Overflow};
use tessera_isa::diag::Span;
use tessera_isa::ops::Role;

impl Parser<'_> {
    /// An operation of `arith` or `math`, or `None` if there is none of this name.
    pub(super) fn arith(&mut self, results: &Results, word: &str) -> Option<Res<()>> {
        let kind = words::arith(word);
        if kind.is_none() && !matches!(word, "arith.constant" | "arith.cmpi" | "arith.cmpf") {
            return None;
        }
        self.bump();
        Some(match kind {
            Some(kind @ OpKind::Cast(_)) => self.cast(results, kind, word),
            Some(kind) => self.arith_same(results, kind),
            None if word == "arith.constant" => self.constant(results),
            None => self.compare(results, word == "arith.cmpf"),
        })
    }

    pub(super) fn constant(&mut self, results: &Results) -> Res<()> {
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
        let raws = self.plain_operands(match &kind {
            OpKind::Select => 3,
            OpKind::Arith(op) => op.arity(),
            OpKind::Float(op) => op.arity(),
            _ => 2,
        })?;
        let words = if self.eat_word("overflow") { self.flags()? } else { Vec::new() };
        self.fastmath()?;
        self.optional_dictionary()?;
        self.expect(Tok::Colon, "`:` and the type")?;
        let mut ty = self.ty()?;
        // MLIR writes the type of a select's condition where it is no scalar.
        if kind == OpKind::Select && self.eat(Tok::Comma) {
            ty = self.ty()?;
        }
        self.build_arith(results, kind, &raws, ty, ty, words)
    }

    /// `fastmath<…>` changes nothing here (isa/structure.md 7).
    fn fastmath(&mut self) -> Res<()> {
        if self.eat_word("fastmath") {
            self.flags()?;
        }
        Ok(())
    }

    pub(super) fn flags(&mut self) -> Res<Vec<String>> {
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

    pub(super) fn plain_operands(&mut self, count: usize) -> Res<Raws> {
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
        let is_float = |ty: TypeAt| matches!(self.module.types.get(ty.0), Type::Scalar(ScalarType::Float(_)));
        let fits = |ty: TypeAt, float: bool| if float { is_float(ty) } else { is_number(ty) };
        let (from, to) = match kind {
            OpKind::Cast(cast) => cast.floats(),
            OpKind::Float(_) | OpKind::CmpFloat(_) => (true, true),
            _ => (false, false),
        };
        let use_type = |float: bool| if float { "use f16, bf16 or f32" } else { "use index or an integer type" };
        let is_bits = kind == OpKind::Cast(CastOp::Bitcast);
        let any = |ty: TypeAt| is_bits && (is_number(ty) || is_float(ty));
        if matches!(kind, OpKind::Cast(_)) && !fits(out, to) && !any(out) {
            let text = match kind {
                OpKind::Cast(cast) if is_bits || cast.floats() != (false, false) => {
                    format!("{} gives {}", cast.name(), self.type_text(out.0))
                }
                _ => format!("an integer is converted to {}", self.type_text(out.0)),
            };
            return self.fail("type-mismatch", out.1, text, use_type(to));
        }
        if !is_select && !fits(ty, from) && !any(ty) {
            let what = if from { "arithmetic on floats" } else { "integer arithmetic" };
            let text = format!("{what} is written in the type {}", self.type_text(ty.0));
            return self.fail("type-mismatch", ty.1, text, use_type(from));
        }
        let is_comparison = matches!(kind, OpKind::Cmp(_) | OpKind::CmpFloat(_));
        let out = if is_comparison { (self.common.i1, out.1) } else { out };
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

    fn compare(&mut self, results: &Results, is_float: bool) -> Res<()> {
        let span = self.tok.span;
        let word = self.here().trim_matches('"');
        let (found, names): (_, Vec<&str>) = match is_float {
            true => (FloatPred::parse(word).map(OpKind::CmpFloat), FloatPred::ALL.iter().map(|p| p.name()).collect()),
            false => (CmpPred::parse(word).map(OpKind::Cmp), CmpPred::ALL.iter().map(|p| p.name()).collect()),
        };
        let Some(kind) = found else {
            let usual = "write eq, ne, slt, sle, sgt, sge, ult, ule, ugt or uge";
            let list = || if is_float { format!("write one of {}", names.join(", ")) } else { usual.into() };
            let help = did_you_mean(word, names.iter().copied(), list);
            return self.fail("syntax-expected", span, format!("`{}` is no comparison", shown(word)), help);
        };
        self.bump();
        self.expect(Tok::Comma, "`,`")?;
        let raws = self.plain_operands(2)?;
        self.fastmath()?;
        self.expect(Tok::Colon, "`:` and the type")?;
        let ty = self.ty()?;
        self.build_arith(results, kind, &raws, ty, ty, Vec::new())
    }

    /// `%a : i32 to index`.
    fn cast(&mut self, results: &Results, kind: OpKind, word: &str) -> Res<()> {
        let raws = self.plain_operands(1)?;
        self.fastmath()?;
        self.expect(Tok::Colon, "`:` and the types")?;
        let from = self.ty()?;
        self.expect_word("to")?;
        let to = self.ty()?;
        self.cast_width(&kind, [from, to], word)?;
        self.build_arith(results, kind, &raws, from, to, Vec::new())
    }

    /// A cast of bits keeps their number; `unrealized_conversion_cast` is between integers.
    pub(super) fn cast_width(&mut self, kind: &OpKind, [from, to]: [TypeAt; 2], word: &str) -> Res<()> {
        let (Type::Scalar(a), Type::Scalar(b)) = (self.module.types.get(from.0), self.module.types.get(to.0)) else {
            return match *kind == OpKind::Cast(CastOp::Bitcast) {
                true => self.fail("cast-width", from.1.to(to.1), format!("{word} is between scalars"), "cast scalars"),
                false => Ok(()),
            };
        };
        let is_int = |s: &ScalarType| matches!(s, ScalarType::Int(..));
        let only_ints = word.starts_with("builtin.");
        if *kind != OpKind::Cast(CastOp::Bitcast) || a.bits() == b.bits() && (!only_ints || is_int(a) && is_int(b)) {
            return Ok(());
        }
        let text = format!("{word} makes {} of {}", self.type_text(to.0), self.type_text(from.0));
        let help = if only_ints { "cast between iN, siN and uiN" } else { "cast to a type of as many bits" };
        self.fail("cast-width", from.1.to(to.1), text, help)
    }
}
