//! Operations on scalars under names of the pto dialect (isa/today.md 4.4). They are `arith` and `math`; a word says the
//! sign where it matters.

use super::special::Draft;
use super::{Parser, Raw, Raws, Res, Results, TypeAt};
use crate::dialect::scalars;
use crate::lex::Tok;
use crate::sink::{did_you_mean, shown};
use tessera_ir::{Arg, ArithOp, CastOp, CmpPred, FloatOp, FloatPred, OpKind, ScalarType, Type};
use tessera_isa::codec::Number;
use tessera_isa::diag::Span;
use tessera_isa::ops::Role;

/// The meaning of a name: one operation, or one for each sign.
enum Meaning {
    One(OpKind),
    BySign(OpKind, OpKind),
}

/// Comparisons, by the signs of their operands.
const COMPARISONS: [(&str, CmpPred, CmpPred, FloatPred); 6] = [
    ("eq", CmpPred::Eq, CmpPred::Eq, FloatPred::Oeq),
    ("ne", CmpPred::Ne, CmpPred::Ne, FloatPred::One),
    ("lt", CmpPred::Slt, CmpPred::Ult, FloatPred::Olt),
    ("le", CmpPred::Sle, CmpPred::Ule, FloatPred::Ole),
    ("gt", CmpPred::Sgt, CmpPred::Ugt, FloatPred::Ogt),
    ("ge", CmpPred::Sge, CmpPred::Uge, FloatPred::Oge),
];

fn meaning(name: &str) -> Option<Meaning> {
    use ArithOp::*;
    let one = |op| Some(Meaning::One(OpKind::Arith(op)));
    let float = |op| Some(Meaning::One(OpKind::Float(op)));
    let signs = |a, b| Some(Meaning::BySign(OpKind::Arith(a), OpKind::Arith(b)));
    let casts = |a, b| Some(Meaning::BySign(OpKind::Cast(a), OpKind::Cast(b)));
    match name {
        "and" => one(Andi),
        "or" => one(Ori),
        "xor" => one(Xori),
        "shl" => one(Shli),
        "absi" => one(Absi),
        "divi" => signs(Divsi, Divui),
        "remi" => signs(Remsi, Remui),
        "floordiv" => signs(Floordivsi, Divui),
        "ceildiv" => signs(Ceildivsi, Ceildivui),
        "shr" => signs(Shrsi, Shrui),
        "maxi" => signs(Maxsi, Maxui),
        "mini" => signs(Minsi, Minui),
        "maxf" => float(FloatOp::Maxnumf),
        "minf" => float(FloatOp::Minnumf),
        "maximum" => float(FloatOp::Maximumf),
        "minimum" => float(FloatOp::Minimumf),
        "absf" => float(FloatOp::Absf),
        "select" => Some(Meaning::One(OpKind::Select)),
        "trunci" => Some(Meaning::One(OpKind::Cast(CastOp::Trunci))),
        "exti" => casts(CastOp::Extsi, CastOp::Extui),
        "itof" => casts(CastOp::Sitofp, CastOp::Uitofp),
        "ftoi" => casts(CastOp::Fptosi, CastOp::Fptoui),
        "index_cast" => casts(CastOp::IndexCast, CastOp::IndexCastui),
        "bitcast" => Some(Meaning::One(OpKind::Cast(CastOp::Bitcast))),
        _ => ArithOp::parse(name).map_or_else(
            || FloatOp::parse(&format!("arith.{name}")).and_then(float),
            |op| one(op).filter(|_| matches!(op, Addi | Subi | Muli)),
        ),
    }
}

impl Parser<'_> {
    /// An operation on scalars, or none where the word is another one's; the mnemonic is next.
    pub(super) fn pto_scalar(&mut self, results: &Results, word: &str) -> Option<Res<()>> {
        let name = word.strip_prefix("pto.")?;
        let is_bits = name == "bitcast" && self.casts_scalar();
        if !is_bits && !scalars().any(|other| other == name) {
            return None;
        }
        self.bump();
        Some(match name {
            "constant" => self.constant(results),
            "cmpi" | "cmpf" => self.pto_compare(results, name == "cmpf"),
            "negi" => self.negated(results),
            "ftof" => self.pto_cast(results, name, None),
            "addui_extended" | "mul_extended" => self.extended(results, name == "addui_extended"),
            _ => match meaning(name) {
                Some(Meaning::BySign(a @ OpKind::Cast(_), b)) => self.pto_cast(results, name, Some((a, b))),
                Some(Meaning::One(kind @ OpKind::Cast(_))) => self.pto_cast(results, name, Some((kind.clone(), kind))),
                Some(Meaning::BySign(a, b)) => self.pto_same(results, name, (a, b)),
                Some(Meaning::One(kind)) => self.pto_same(results, name, (kind.clone(), kind)),
                None => self.unknown_op(word, self.prev),
            },
        })
    }

    /// Whether the operand of `bitcast`, which is next, is a scalar; on tiles it is another operation.
    fn casts_scalar(&mut self) -> bool {
        let token = self.second();
        let text = self.slice(token.span).trim_start_matches('%');
        let value = self.module.names.find(text).and_then(|name| self.scope.find(name));
        value.and_then(|v| self.type_of_value(v)).is_some_and(|ty| matches!(ty, Type::Scalar(_)))
    }

    /// `signed` or `unsigned`, and flags without effect; says which of the two operations is meant.
    fn sign(&mut self, name: &str, (signed, unsigned): (OpKind, OpKind)) -> Res<OpKind> {
        let mut kind = None;
        loop {
            let span = self.tok.span;
            match self.tok.kind {
                Tok::Word if self.here() == "signed" => kind = Some(signed.clone()),
                Tok::Word if self.here() == "unsigned" => kind = Some(unsigned.clone()),
                Tok::Word if matches!(self.here(), "overflow" | "fastmath") => {
                    self.bump();
                    self.flags()?;
                    continue;
                }
                Tok::Word if matches!(self.here(), "r" | "a" | "f" | "c" | "z" | "o" | "sat") => {
                    self.rounded_as(name, span)?;
                }
                _ => break,
            }
            self.bump();
        }
        match kind {
            Some(kind) => Ok(kind),
            None if signed == unsigned || name == "index_cast" => Ok(signed),
            None => {
                let text = format!("pto.{name} does not say the sign of its operands");
                self.fail("syntax-expected", self.tok.span, text, "write `signed` or `unsigned` behind the operands")
            }
        }
    }

    /// Scalars are rounded to nearest even, and cut toward zero to integers; other words would change the value.
    fn rounded_as(&mut self, name: &str, span: Span) -> Res<()> {
        let usual = if name == "ftoi" { "z" } else { "r" };
        if self.here() == usual {
            return Ok(());
        }
        let text = format!("`{}` of pto.{name} is not evaluated on scalars", shown(self.here()));
        self.fail("syntax-attribute", span, text, format!("write `{usual}`, or convert a tile with pto.tcvt"))
    }

    fn pto_same(&mut self, results: &Results, name: &str, kinds: (OpKind, OpKind)) -> Res<()> {
        let raws = self.plain_operands(match &kinds.0 {
            OpKind::Select => 3,
            OpKind::Arith(op) => op.arity(),
            OpKind::Float(op) => op.arity(),
            _ => 2,
        })?;
        let kind = self.sign(name, kinds)?;
        self.optional_dictionary()?;
        self.expect(Tok::Colon, "`:` and the type")?;
        let mut ty = self.ty()?;
        if kind == OpKind::Select && self.eat(Tok::Comma) {
            ty = self.ty()?;
        }
        self.build_arith(results, kind, &raws, ty, ty, Vec::new())
    }

    /// `lt %a, %b signed : i32`.
    fn pto_compare(&mut self, results: &Results, is_float: bool) -> Res<()> {
        let (span, word) = (self.tok.span, self.here());
        let row = COMPARISONS.iter().find(|(name, ..)| *name == word);
        let kinds = match (row, is_float) {
            (Some((.., pred)), true) => Some((OpKind::CmpFloat(*pred), OpKind::CmpFloat(*pred))),
            (Some((_, signed, unsigned, _)), false) => Some((OpKind::Cmp(*signed), OpKind::Cmp(*unsigned))),
            (None, true) => FloatPred::parse(word).map(|p| (OpKind::CmpFloat(p), OpKind::CmpFloat(p))),
            (None, false) => None,
        };
        let Some(kinds) = kinds else {
            let help =
                did_you_mean(word, COMPARISONS.map(|(name, ..)| name), || "write eq, ne, lt, le, gt or ge".into());
            return self.fail("syntax-expected", span, format!("`{}` is no comparison", shown(word)), help);
        };
        self.bump();
        self.eat(Tok::Comma);
        let raws = self.plain_operands(2)?;
        let name = if is_float { "cmpf" } else { "cmpi" };
        let kind = self.sign(name, kinds)?;
        self.expect(Tok::Colon, "`:` and the type")?;
        let ty = self.ty()?;
        self.build_arith(results, kind, &raws, ty, ty, Vec::new())
    }

    /// `%a signed : i32 to f32`; a float becomes wider or narrower as its types say.
    fn pto_cast(&mut self, results: &Results, name: &str, kinds: Option<(OpKind, OpKind)>) -> Res<()> {
        let raws = self.plain_operands(1)?;
        let any = (OpKind::Cast(CastOp::Extf), OpKind::Cast(CastOp::Extf));
        let kind = self.sign(name, kinds.clone().unwrap_or(any))?;
        self.expect(Tok::Colon, "`:` and the types")?;
        let from = self.ty()?;
        if !self.eat(Tok::Arrow) {
            self.expect_word("to")?;
        }
        let to = self.ty()?;
        let bits = |ty: TypeAt| match self.module.types.get(ty.0) {
            Type::Scalar(ty) => ty.bits(),
            _ => 0,
        };
        let kind = match kinds {
            None if bits(to) < bits(from) => OpKind::Cast(CastOp::Truncf),
            _ => kind,
        };
        self.cast_width(&kind, [from, to], &format!("pto.{name}"))?;
        self.build_arith(results, kind, &raws, from, to, Vec::new())
    }

    /// `negi %a : i32` is `0 - %a`.
    fn negated(&mut self, results: &Results) -> Res<()> {
        let raws = self.plain_operands(1)?;
        let any = OpKind::Arith(ArithOp::Subi);
        self.sign("negi", (any.clone(), any.clone()))?;
        self.expect(Tok::Colon, "`:` and the type")?;
        let ty = self.ty()?;
        let zero = self.number_beside(results, 0, ty, "zero");
        let both: Raws = [zero, raws.first().copied().unwrap_or(zero)].into_iter().collect();
        self.build_arith(results, any, &both, ty, ty, Vec::new())
    }

    /// A constant that the statement needs, as an operand.
    fn number_beside(&mut self, results: &Results, n: i128, ty: TypeAt, what: &str) -> Raw {
        let value = self.emit(results, OpKind::Constant(Number::Int(n)), &[], ty.0, what);
        self.raw_of(value, ty)
    }

    fn raw_of(&self, value: tessera_ir::ValueId, ty: TypeAt) -> Raw {
        let def = self.func.value(value);
        Raw { what: super::RawArg::Name(def.name), span: def.span, ty: Some(ty) }
    }

    /// Two results: the low part, and whether the sum overflows or the high part of the product.
    fn extended(&mut self, results: &Results, is_sum: bool) -> Res<()> {
        let name = if is_sum { "addui_extended" } else { "mul_extended" };
        let raws = self.plain_operands(2)?;
        let (signed, unsigned) = (OpKind::Cast(CastOp::Extsi), OpKind::Cast(CastOp::Extui));
        let widen = match is_sum {
            true => unsigned,
            false => self.sign(name, (signed, unsigned))?,
        };
        self.expect(Tok::Colon, "`:` and the type")?;
        let ty = self.ty()?;
        if self.eat(Tok::Comma) {
            self.ty()?;
        }
        let bits = match self.module.types.get(ty.0) {
            Type::Scalar(ScalarType::Int(bits, _)) => u32::from(*bits),
            _ => 64,
        };
        let [low, high] = results.names.as_slice() else {
            let text = format!("pto.{name} has two results, and {} are named", results.names.len());
            return self.fail("operand-count", results.start, text, "write two names");
        };
        if !is_sum && bits > 32 {
            let text = format!("the high part of a product of {bits} bits is not evaluated");
            return self.fail("type-mismatch", ty.1, text, "use i32 or a narrower type");
        }
        let of = |name| Results { names: [name].into_iter().collect(), start: results.start };
        let (first, second) = (of(*low), of(*high));
        if is_sum {
            let sum = OpKind::Arith(ArithOp::Addi);
            self.build_arith(&first, sum, &raws, ty, ty, Vec::new())?;
            let both: Raws =
                [Raw { what: super::RawArg::Name(low.0), span: low.1, ty: None }, raws[0]].into_iter().collect();
            return self.build_arith(&second, OpKind::Cmp(CmpPred::Ult), &both, ty, ty, Vec::new());
        }
        let wide = (self.module.types.intern(Type::Scalar(ScalarType::Int(64, tessera_ir::Sign::None))), ty.1);
        let operand = |arg, span| tessera_ir::Operand { role: Role::Number, arg, span, type_span: span };
        let mut draft = Draft::default();
        for raw in &raws {
            let raw = Raw { ty: Some(ty), ..*raw };
            let Some(value) = self.resolve(&raw, Role::Number, None) else { return Ok(()) };
            let made = self.emit(results, widen.clone(), &[value], wide.0, "wide");
            draft.operands.push((Role::Number, self.raw_of(made, wide)));
        }
        self.build_arith(&first, OpKind::Arith(ArithOp::Muli), &raws, ty, ty, Vec::new())?;
        let sides: Vec<_> = draft.operands.iter().filter_map(|(role, raw)| self.resolve(raw, *role, None)).collect();
        let product = self.emit(results, OpKind::Arith(ArithOp::Muli), &sides, wide.0, "product");
        let by = self.emit(results, OpKind::Constant(Number::Int(bits.into())), &[], wide.0, "bits");
        let sides = [product, by].map(|value| operand(Arg::Value(value), results.start));
        let shifted = self.emit(results, OpKind::Arith(ArithOp::Shrui), &sides, wide.0, "shifted");
        let raw: Raws = [self.raw_of(shifted, wide)].into_iter().collect();
        self.build_arith(&second, OpKind::Cast(CastOp::Trunci), &raw, wide, ty, Vec::new())
    }
}
