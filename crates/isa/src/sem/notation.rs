//! The notation of functions, in messages and in formulas.

use super::Func;
use crate::inst::Cmp;

/// The operators by precedence, the loosest first: operators of one row have one precedence, and associate to the
/// left.
const OPERATORS: [&[&str]; 8] = [
    &["<", "<=", ">", ">=", "==", "!="],
    &["|"],
    &["^"],
    &["&"],
    &["<<", ">>"],
    &["+", "-"],
    &["·", "/", "mod", "rem"],
    &["~"],
];

/// The precedence of a call, a name or a number.
pub const TIGHT: usize = OPERATORS.len();

/// The precedence of an operator.
fn binds(operator: &str) -> Option<usize> {
    OPERATORS.iter().position(|row| row.contains(&operator))
}

impl Func {
    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Func::Bits => "copy",
            Func::LowBytes => "low bytes",
            Func::Convert | Func::Cvt { .. } => "conversion",
            Func::Fixpipe { .. } | Func::FixpipeAdd { .. } => "fixpipe",
            Func::Abs => "absolute value",
            Func::Neg => "negation",
            Func::Not => "complement",
            Func::Relu | Func::Prelu => "ReLU",
            Func::Recip => "reciprocal",
            Func::Exp => "exponential",
            Func::Log => "logarithm",
            Func::Sqrt => "square root",
            Func::Rsqrt => "reciprocal square root",
            Func::Add | Func::AddAdd => "sum",
            Func::Sub | Func::SubAdd => "difference",
            Func::Mul => "product",
            Func::Div | Func::MulRecip => "quotient",
            Func::Rem | Func::Fmod => "remainder",
            Func::Pow => "power",
            Func::Max => "maximum",
            Func::Min => "minimum",
            Func::And => "and",
            Func::Or => "or",
            Func::Xor => "exclusive or",
            Func::Shl | Func::Shr => "shift",
            Func::ExpDif => "exponential of a difference",
            Func::ReluConvert { .. } | Func::AddDequantizeRelu { .. } => "fused ReLU",
            Func::Axpy | Func::MulThenAdd { .. } | Func::MulAdd(_) | Func::ScaledMulAdd => "sum of products",
            Func::Quantize | Func::Dequantize => "quantization",
            Func::Compare(_) => "comparison",
            Func::Select { .. } => "selection",
            Func::Arg { greatest: true, .. } => "place of the maximum",
            Func::Arg { .. } => "place of the minimum",
        }
    }

    /// Its notation: a formula of its arguments `x`, `y` and `z`. A function of any number of arguments, and a fold,
    /// are written as a call of the name [`Func::word`].
    pub fn notation(self) -> &'static str {
        match self {
            Func::Bits => "x",
            Func::LowBytes => "low(x)",
            Func::Convert | Func::Cvt { .. } => "cvt(x)",
            Func::Fixpipe { .. } => "fixpipe(x, y)",
            Func::FixpipeAdd { .. } => "x + fixpipe(y)",
            Func::ScaledMulAdd => "scaled(x, y)",
            Func::Quantize => "quantize(x, y, z)",
            Func::Dequantize => "(x - y) · z",
            Func::Abs => "abs(x)",
            Func::Neg => "neg(x)",
            Func::Not => "~ x",
            Func::Relu => "relu(x)",
            Func::Recip => "recip(x)",
            Func::Exp => "exp(x)",
            Func::Log => "log(x)",
            Func::Sqrt => "sqrt(x)",
            Func::Rsqrt => "rsqrt(x)",
            Func::Add => "x + y",
            Func::Sub => "x - y",
            Func::Mul => "x · y",
            Func::Div => "x / y",
            Func::MulRecip => "x · recip(y)",
            Func::Rem => "x mod y",
            Func::Fmod => "x rem y",
            Func::Pow => "pow(x, y)",
            Func::Max => "max(x, y)",
            Func::Min => "min(x, y)",
            Func::And => "x & y",
            Func::Or => "x | y",
            Func::Xor => "x ^ y",
            Func::Shl => "x << y",
            Func::Shr => "x >> y",
            Func::Prelu => "prelu(x, y)",
            Func::ExpDif => "exp(x - y)",
            Func::AddAdd => "x + y + z",
            Func::SubAdd => "x - y + z",
            Func::Axpy => "z + x · y",
            Func::MulThenAdd { relu: false } => "x · y + z",
            Func::MulThenAdd { .. } => "relu(x · y + z)",
            Func::ReluConvert { subtracts: false } => "cvt(relu(x + y))",
            Func::ReluConvert { .. } => "cvt(relu(x - y))",
            Func::AddDequantizeRelu { .. } => "relu((x + y) · z)",
            Func::MulAdd(_) => "x + y · z",
            Func::Compare(Cmp::Eq) => "x == y",
            Func::Compare(Cmp::Ne) => "x != y",
            Func::Compare(Cmp::Lt) => "x < y",
            Func::Compare(Cmp::Le) => "x <= y",
            Func::Compare(Cmp::Gt) => "x > y",
            Func::Compare(Cmp::Ge) => "x >= y",
            Func::Select { .. } => "select(x, y, z)",
            Func::Arg { .. } => "arg(x)",
        }
    }

    /// Its name as a function of many elements: a fold, eight comparisons, a place.
    pub fn word(self) -> &'static str {
        match self {
            Func::Add | Func::MulAdd(_) | Func::ScaledMulAdd => "sum",
            Func::Mul => "prod",
            Func::Max | Func::Arg { greatest: true, value: true } => "max",
            Func::Min | Func::Arg { greatest: false, value: true } => "min",
            Func::And => "and",
            Func::Or => "or",
            Func::Xor => "xor",
            Func::Arg { greatest: true, .. } => "argmax",
            Func::Arg { .. } => "argmin",
            Func::Compare(_) => "mask",
            _ => "fold",
        }
    }
}

/// A piece of a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    /// The n-th argument; whatever binds less than this is put in parentheses.
    Argument(usize, usize),
    Text(&'static str),
}

/// The pieces of a notation, and how tightly all of it binds.
///
/// ```
/// use tessera_isa::sem::{Func, Piece, pieces};
///
/// let (all, _) = pieces(Func::Sub.notation());
/// let [Piece::Argument(0, left), Piece::Text(" - "), Piece::Argument(1, right)] = all[..] else { panic!("{all:?}") };
/// assert!(right > left, "x - (y - z) is not x - y - z");
/// ```
pub fn pieces(notation: &'static str) -> (Vec<Piece>, usize) {
    let is_end = |c: char| matches!(c, '(' | ')' | ',' | ' ');
    let mut all = Vec::new();
    let (mut loosest, mut depth) = (TIGHT, 0usize);
    // The operator on the left, and the text since the last argument.
    let (mut before, mut text, mut rest) = (None, notation, notation);
    while !rest.is_empty() {
        let end = rest.find(is_end).map_or(rest.len(), |at| at.max(1));
        let (word, after) = rest.split_at(end);
        if let Some(n) = ["x", "y", "z"].iter().position(|name| *name == word) {
            let (passed, _) = text.split_at(text.len() - rest.len());
            all.extend((!passed.is_empty()).then_some(Piece::Text(passed)));
            // On the right of an operator, one that binds alike needs parentheses too.
            let left = before.map_or(0, |b: usize| b + 1);
            let right = after.strip_prefix(' ').and_then(|a| binds(a.split(is_end).next()?)).unwrap_or(0);
            all.push(Piece::Argument(n, left.max(right)));
            text = after;
        }
        match word {
            "(" => (depth, before) = (depth + 1, None),
            ")" => (depth, before) = (depth.saturating_sub(1), None),
            " " => {}
            _ => {
                before = binds(word);
                loosest = loosest.min(before.filter(|_| depth == 0).unwrap_or(TIGHT));
            }
        }
        rest = after;
    }
    all.extend((!text.is_empty()).then_some(Piece::Text(text)));
    (all, loosest)
}
