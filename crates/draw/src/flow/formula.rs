//! Elements in words: a formula of the elements that one is made of.

use super::{At, Cell, Flow, How};
use tessera_isa::elem::Elem;
use tessera_isa::ops::Role;
use tessera_isa::sem::{self, Arg, Func, Piece, Step};

impl Flow {
    /// An element as a formula of others: `dst[3, 5] = src0[3, 5] + src1[3, 5]`.
    pub fn formula(&self, at: At) -> String {
        let name = |at: At| format!("{}[{}, {}]", self.name(at.operand), at.row, at.col);
        let value = |elem: Elem, bits: u64| elem.format_bits(bits);
        let made = match (self.how(at), self.cell(at)) {
            (How::Kept, _) => "what it was".to_string(),
            (How::Undefined, _) => "undefined".into(),
            (How::Decided, _) => "decided by data".into(),
            (How::Filled(bits), _) => self.operands.get(at.operand).map_or(String::new(), |o| value(o.elem, bits)),
            (How::Copied, _) => self.sources(at).first().map_or(String::new(), |from| name(*from)),
            (How::Folded(func), _) => self.fold(func, at),
            (How::Computed(func), Cell::Of { step, i, j }) => {
                let Some(Step::Apply(apply)) = self.steps.get(step as usize) else { return String::new() };
                let args = apply.args.iter().map(|arg| match arg {
                    Arg::Scalar(elem, bits) => value(*elem, *bits),
                    Arg::Element(side, map) => {
                        let (operand, width) = self.side(*side);
                        let (row, col) = map.of([i.into(), j.into()]);
                        name(At { operand, row, col: col / width })
                    }
                });
                let args: Vec<String> = args.collect();
                let piece = |p: &Piece| match p {
                    Piece::Text(text) => (*text).to_string(),
                    Piece::Argument(n, _) => args.get(*n).cloned().unwrap_or_default(),
                };
                sem::pieces(func.notation()).0.iter().map(piece).collect()
            }
            (How::Computed(func), _) => func.name().into(),
        };
        format!("{} = {made}", name(at))
    }

    /// A fold, with the rectangle of each operand that goes into it.
    fn fold(&self, func: Func, at: At) -> String {
        let range = |low: u64, high: u64| if low == high { low.to_string() } else { format!("{low}…{high}") };
        let part = |(operand, [r0, c0, r1, c1]): (usize, [u64; 4])| {
            format!("{}[{}, {}]", self.name(operand), range(r0, r1), range(c0, c1))
        };
        let parts: Vec<String> = bounds(&self.sources(at)).into_iter().map(part).collect();
        let is_product = matches!(func, Func::MulAdd(_) | Func::ScaledMulAdd);
        match parts.as_slice() {
            // The addend of a product comes first.
            [start, factors @ ..] if is_product && factors.len() % 2 == 0 => {
                format!("{start} + Σ {}", factors.join(" · "))
            }
            factors if is_product => format!("Σ {}", factors.join(" · ")),
            all => format!("{}({})", func.word(), all.join(", ")),
        }
    }

    /// The name of an operand in formulas.
    pub fn name(&self, operand: usize) -> String {
        let role = self.operands.get(operand).map(|o| o.role);
        role.map_or(String::new(), |role| if role == Role::Global { "view".into() } else { role.to_string() })
    }
}

/// The smallest rectangle of each operand that holds its elements: first and last row and column.
pub fn bounds(all: &[At]) -> Vec<(usize, [u64; 4])> {
    let mut found: Vec<(usize, [u64; 4])> = Vec::new();
    for at in all {
        match found.iter_mut().find(|(operand, _)| *operand == at.operand) {
            Some((_, [r0, c0, r1, c1])) => {
                (*r0, *c0, *r1, *c1) = ((*r0).min(at.row), (*c0).min(at.col), (*r1).max(at.row), (*c1).max(at.col));
            }
            None => found.push((at.operand, [at.row, at.col, at.row, at.col])),
        }
    }
    found
}
