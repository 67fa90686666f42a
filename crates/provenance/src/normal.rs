//! Normal forms: terms that are equal by a law that holds **bit for bit** in the element type become one.
//!
//! Integers wrap around, so sums, products, bitwise functions and the greatest and least of them commute and associate.
//! Floats commute but do not associate, except for the greatest and the least, and every arithmetic function makes its
//! NaN canonical: `x · 1` is `x` with a canonical NaN, which is not a copy of `x`. `x + -0` is the same; `x + +0` is not,
//! since it makes -0 positive. Tests hold each law against [`Func::eval`] on special values.

use super::function::{Function, size};
use super::terms::{Elements, TermId, Terms, UNDEFINED};
use smallvec::SmallVec;
use tessera_isa::elem::Elem;
use tessera_isa::inst::Cmp;
use tessera_isa::sem::Func;

/// Limits of flattening: the operands of one commutative sum, and of all sums of one program.
const MAX_GATHERED: usize = 1024;
const MAX_WORK: usize = 1 << 22;

/// Steps of a fold in one term; the next term starts as the result of this one.
const BLOCK: usize = 16;

impl Terms {
    /// The element that a function makes of others.
    pub fn apply(&mut self, function: Function, operands: Elements) -> TermId {
        self.spend(1 + operands.len() as u64);
        if self.met().is_some() {
            return UNDEFINED;
        }
        if let Function::Mapped { func: Func::Select { bit }, to, args } = function {
            return self.select(bit, to, args, &operands);
        }
        if operands.contains(&UNDEFINED) {
            return UNDEFINED;
        }
        if let Some(value) = self.constants(function, &operands).and_then(|args| function.eval(&args)) {
            // A zero divisor has no result, and the run reports it.
            return self.constant_element(value, function.bytes());
        }
        match function {
            Function::Mapped { func: Func::Compare(cmp), to, args } if self.is_normal => {
                self.compare(cmp, to, args, operands)
            }
            Function::Mapped { func, to, args } if self.is_normal => self.mapped(func, to, args, operands),
            Function::Fold { func, to, args } => self.fold(func, to, args, &operands),
            function => self.hold(function, operands),
        }
    }

    fn constants(&self, function: Function, operands: &[TermId]) -> Option<Vec<(Elem, u64)>> {
        let typed = operands.iter().zip(function.types());
        typed.map(|(id, elem)| Some((elem, self.constant_bits(*id, size(elem))?))).collect()
    }

    /// The mask byte and the element that it picks count, the other one does not (isa/notes.md).
    fn select(&mut self, bit: u8, to: Elem, args: [Option<Elem>; 3], operands: &[TermId]) -> TermId {
        let [mask, first, second] = *operands else { return UNDEFINED };
        if mask == UNDEFINED || first == second {
            return if mask == UNDEFINED { UNDEFINED } else { first };
        }
        if let Some(mask) = Terms::constant_of(mask) {
            return if mask >> bit & 1 == 1 { first } else { second };
        }
        // Of eight comparisons only the one that decides is kept.
        if let Some((function @ Function::Mapped { func: Func::Compare(_), .. }, pairs)) = self.applied(mask) {
            let Some(pair) = pairs.as_chunks::<2>().0.get(usize::from(bit)).copied() else { return second };
            let alone = self.apply(function, SmallVec::from_slice(&pair));
            if let Some(mask) = Terms::constant_of(alone) {
                return if mask & 1 == 1 { first } else { second };
            }
            let function = Function::Mapped { func: Func::Select { bit: 0 }, to, args };
            return self.hold(function, SmallVec::from_slice(&[alone, first, second]));
        }
        self.hold(Function::Mapped { func: Func::Select { bit }, to, args }, SmallVec::from_slice(operands))
    }

    /// `x > y` is `y < x`, and equality is the same from both sides.
    fn compare(&mut self, cmp: Cmp, to: Elem, args: [Option<Elem>; 3], mut operands: Elements) -> TermId {
        let turned = match cmp {
            Cmp::Gt => Cmp::Lt,
            Cmp::Ge => Cmp::Le,
            other => other,
        };
        let [x, y, _] = args;
        let is_float = x.is_some_and(Elem::is_float);
        if is_float {
            operands.iter_mut().for_each(|id| *id = self.without_canonical(*id));
        }
        if x == y {
            for pair in operands.as_chunks_mut::<2>().0 {
                if turned != cmp || (matches!(cmp, Cmp::Eq | Cmp::Ne) && pair[0] > pair[1]) {
                    pair.swap(0, 1);
                }
            }
        }
        let cmp = if x == y { turned } else { cmp };
        self.hold(Function::Mapped { func: Func::Compare(cmp), to, args }, operands)
    }

    fn mapped(&mut self, func: Func, to: Elem, args: [Option<Elem>; 3], operands: Elements) -> TermId {
        let held = Function::Mapped { func, to, args };
        let is_same = args.iter().flatten().all(|elem| *elem == to);
        match func {
            Func::Arg { .. } | Func::Cvt { .. } | Func::FixpipeAdd { .. } => self.hold(held, operands),
            _ if is_float(to) && args.iter().flatten().all(|elem| is_float(*elem)) => {
                self.floats(func, to, args, operands)
            }
            _ if !to.is_float() && is_same => self.integers(func, to, &operands),
            _ => self.hold(held, operands),
        }
    }

    /// A function of some elements of one type.
    fn of(&mut self, func: Func, elem: Elem, operands: &[TermId]) -> TermId {
        let mut args = [None; 3];
        args.iter_mut().take(operands.len()).for_each(|arg| *arg = Some(elem));
        self.apply(Function::Mapped { func, to: elem, args }, SmallVec::from_slice(operands))
    }

    // Floats.

    fn floats(&mut self, func: Func, to: Elem, args: [Option<Elem>; 3], mut operands: Elements) -> TermId {
        let bits = matches!(func, Func::Abs | Func::Neg);
        if !bits {
            operands.iter_mut().for_each(|id| *id = self.without_canonical(*id));
        }
        let [a, b, c] = args.map(|elem| elem.unwrap_or(to));
        let inner =
            |func: Func, args: [Elem; 2]| Function::Mapped { func, to, args: [Some(args[0]), Some(args[1]), None] };
        // A function of several f32 operations is the chain of these if the result is f32 itself.
        let is_chain = to == Elem::F32;
        match (func, operands.as_slice()) {
            (Func::AddAdd | Func::SubAdd, [x, y, z]) if is_chain => {
                let first = if func == Func::AddAdd { Func::Add } else { Func::Sub };
                let sum = self.apply(inner(first, [a, b]), SmallVec::from_slice(&[*x, *y]));
                self.apply(inner(Func::Add, [to, c]), SmallVec::from_slice(&[sum, *z]))
            }
            (Func::Axpy, [x, y, z]) if is_chain => {
                let product = self.apply(inner(Func::Mul, [a, b]), SmallVec::from_slice(&[*x, *y]));
                self.apply(inner(Func::Add, [c, to]), SmallVec::from_slice(&[*z, product]))
            }
            (Func::ExpDif, [x, y]) if is_chain => {
                let difference = self.apply(inner(Func::Sub, [a, b]), SmallVec::from_slice(&[*x, *y]));
                self.of(Func::Exp, to, &[difference])
            }
            (Func::Sub, [x, y]) => {
                let negated = self.of(Func::Neg, b, &[*y]);
                self.apply(inner(Func::Add, [a, b]), SmallVec::from_slice(&[*x, negated]))
            }
            (Func::Recip, [x]) => {
                let one = self.float(to, 1.0);
                self.apply(inner(Func::Div, [to, a]), SmallVec::from_slice(&[one, *x]))
            }
            (Func::Div | Func::MulRecip, [x, y]) => match self.reciprocal(*y, b) {
                Some(reciprocal) => self.apply(inner(Func::Mul, [a, b]), SmallVec::from_slice(&[*x, reciprocal])),
                None => self.hold(Function::Mapped { func, to, args }, operands),
            },
            (Func::Abs | Func::Neg, [x]) => match (func, self.applied(*x)) {
                (_, Some((Function::Mapped { func: Func::Neg, .. }, [y]))) => match func {
                    Func::Neg => *y,
                    _ => self.of(Func::Abs, to, &[*y]),
                },
                (Func::Abs, Some((Function::Mapped { func: Func::Abs, .. }, _))) => *x,
                _ => self.hold(Function::Mapped { func, to, args }, operands),
            },
            (Func::Max | Func::Min, [_, _]) if a == to && b == to => self.gathered(func, to, &operands),
            (Func::Relu, [x]) if a == to => {
                let zero = self.float(to, 0.0);
                self.gathered(Func::Max, to, &[*x, zero])
            }
            (Func::Add | Func::Mul, [x, y]) => {
                let neutral = |elem: Elem| self.float_bits(elem, if func == Func::Add { -0.0 } else { 1.0 });
                let is_neutral = |id: TermId, elem: Elem| self.constant_bits(id, size(elem)) == Some(neutral(elem));
                match (*x, *y) {
                    (x, y) if a == to && is_neutral(y, b) => self.canonical(x, to),
                    (x, y) if b == to && is_neutral(x, a) => self.canonical(y, to),
                    (x, y) if a == b && x > y => {
                        self.hold(Function::Mapped { func, to, args }, SmallVec::from_slice(&[y, x]))
                    }
                    (x, y) => self.hold(Function::Mapped { func, to, args }, SmallVec::from_slice(&[x, y])),
                }
            }
            _ => self.hold(Function::Mapped { func, to, args }, operands),
        }
    }

    fn float_bits(&self, elem: Elem, value: f32) -> u64 {
        elem.encode_f32(value, tessera_isa::codec::Overflow::Infinity)
    }

    fn float(&mut self, elem: Elem, value: f32) -> TermId {
        let bits = self.float_bits(elem, value);
        self.constant_element(bits, size(elem))
    }

    /// The reciprocal of a power of two, where both are normal numbers: to divide by one is to multiply by the other.
    fn reciprocal(&mut self, id: TermId, elem: Elem) -> Option<TermId> {
        let bits = self.constant_bits(id, size(elem))?;
        let value = f32::from_bits(tessera_isa::sem::convert(elem, Elem::F32, bits) as u32);
        let reciprocal = 1.0 / value;
        let is_power = |v: f32| v.is_normal() && v.to_bits().trailing_zeros() >= 23;
        let is_exact = is_power(value) && is_power(reciprocal);
        let there = self.float_bits(elem, reciprocal);
        let back = f32::from_bits(tessera_isa::sem::convert(elem, Elem::F32, there) as u32);
        (is_exact && back == reciprocal).then(|| self.constant_element(there, size(elem)))
    }

    /// An element of which a NaN is made canonical.
    fn canonical(&mut self, id: TermId, elem: Elem) -> TermId {
        if self.is_canonical(id) {
            return id;
        }
        self.hold(Function::Many { func: Func::Max, to: elem }, SmallVec::from_slice(&[id]))
    }

    /// Whether a NaN result is canonical; results of arithmetic are.
    fn is_canonical(&self, id: TermId) -> bool {
        match self.applied(id) {
            Some((Function::Mapped { func, .. }, _)) => {
                let keeps = matches!(func, Func::Abs | Func::Neg | Func::Select { .. } | Func::Arg { .. });
                !keeps && !matches!(func, Func::Cvt { .. } | Func::FixpipeAdd { .. })
            }
            Some((Function::Many { to, .. }, _)) => to.is_float(),
            _ => false,
        }
    }

    /// The element before its NaN was made canonical, for functions that do so themselves.
    fn without_canonical(&self, id: TermId) -> TermId {
        match self.applied(id) {
            Some((Function::Many { func: Func::Max | Func::Min, to }, [only])) if to.is_float() => *only,
            _ => id,
        }
    }

    // Folds.

    fn fold(&mut self, func: Func, to: Elem, args: [Option<Elem>; 4], operands: &[TermId]) -> TermId {
        let Some((start, steps)) = operands.split_first() else { return UNDEFINED };
        let state = Func::state(to);
        let neutral = self.constant_bits(*start, size(state)).is_some_and(|bits| func.start(state) == Some(bits));
        let is_same = args == [Some(to), None, None, None];
        match func {
            _ if !self.is_normal => {}
            // Nothing is rounded: the order does not matter, nor where the fold was cut.
            Func::Max | Func::Min if is_same && (neutral || state == to) && !steps.is_empty() => {
                let all = if neutral { steps } else { operands };
                return self.gathered(func, to, all);
            }
            Func::Add | Func::Mul if is_same && !to.is_float() => {
                return self.gathered(func, to, operands);
            }
            // One addition after the other, in f32, and rounded once.
            Func::Add | Func::Mul if to.is_float() => {
                let step = Function::Mapped { func, to: state, args: [Some(state), args[0], None] };
                let sum = steps.iter().fold(*start, |sum, x| self.apply(step, SmallVec::from_slice(&[sum, *x])));
                return self.rounded(sum, state, to);
            }
            _ => {}
        }
        self.blocks(func, to, args, operands)
    }

    fn rounded(&mut self, id: TermId, state: Elem, to: Elem) -> TermId {
        if state == to {
            return id;
        }
        let conversion = tessera_kernels::Conversion::Value { src: state, dst: to };
        let bytes = self.bytes(id, size(state));
        let bytes = self.convert(conversion, &bytes, super::Param::None, size(to));
        self.element(&bytes)
    }

    /// A fold that starts as the result of the same fold is the longer one, where nothing is rounded in between: a product
    /// cut along k is the whole product (matrix.md 1). Long ones are cut in one way.
    fn blocks(&mut self, func: Func, to: Elem, args: [Option<Elem>; 4], operands: &[TermId]) -> TermId {
        let state = Func::state(to);
        let per_step = args.iter().flatten().count().max(1);
        let within = Function::Fold { func, to: state, args };
        let Some((start, steps)) = operands.split_first() else { return UNDEFINED };
        let mut all: Elements = match self.applied(*start) {
            Some((function, before)) if function == within && before.len() <= BLOCK * per_step => before.into(),
            _ => SmallVec::from_slice(&[*start]),
        };
        let mut left = steps;
        loop {
            let room = (1 + BLOCK * per_step).saturating_sub(all.len());
            let (now, later) = left.split_at(room.min(left.len()));
            all.extend_from_slice(now);
            left = later;
            if left.is_empty() {
                return match all.as_slice() {
                    [only] if state == to => *only,
                    _ => self.hold(Function::Fold { func, to, args }, all),
                };
            }
            all = SmallVec::from_slice(&[self.hold(within, all)]);
        }
    }

    // Elements whose order does not matter.

    fn integers(&mut self, func: Func, to: Elem, operands: &[TermId]) -> TermId {
        let constant = |terms: &mut Terms, bits: u64| terms.constant_element(bits & to.mask(), size(to));
        match (func, operands) {
            (Func::Add | Func::Mul | Func::And | Func::Or | Func::Xor | Func::Max | Func::Min, _) => {
                self.gathered(func, to, operands)
            }
            (Func::AddAdd, _) => self.gathered(Func::Add, to, operands),
            (Func::MulAdd(_), [s, x, y]) => {
                let product = self.gathered(Func::Mul, to, &[*x, *y]);
                self.gathered(Func::Add, to, &[*s, product])
            }
            (Func::Sub | Func::SubAdd, [x, y, rest @ ..]) => {
                let negated = self.of(Func::Neg, to, &[*y]);
                let all: Elements = [*x, negated].into_iter().chain(rest.iter().copied()).collect();
                self.gathered(Func::Add, to, &all)
            }
            (Func::Neg, [x]) => {
                let minus = constant(self, !0);
                self.gathered(Func::Mul, to, &[*x, minus])
            }
            (Func::Not, [x]) => {
                let ones = constant(self, !0);
                self.gathered(Func::Xor, to, &[*x, ones])
            }
            (Func::Relu, [x]) => {
                let zero = constant(self, 0);
                self.gathered(Func::Max, to, &[*x, zero])
            }
            (Func::Shl, [x, y]) => match self.constant_bits(*y, size(to)) {
                Some(count) => {
                    let factor = constant(self, 1 << (count & u64::from(to.bits() - 1)));
                    self.gathered(Func::Mul, to, &[*x, factor])
                }
                None => self.held(func, to, operands),
            },
            (Func::Recip, [x]) => {
                let one = constant(self, 1);
                self.held(Func::Div, to, &[one, *x])
            }
            _ => self.held(func, to, operands),
        }
    }

    fn held(&mut self, func: Func, to: Elem, operands: &[TermId]) -> TermId {
        let mut args = [None; 3];
        args.iter_mut().take(operands.len()).for_each(|arg| *arg = Some(to));
        self.hold(Function::Mapped { func, to, args }, SmallVec::from_slice(operands))
    }

    /// Any number of elements of one type, with those of the same function inside them taken apart; constants become one.
    fn gathered(&mut self, func: Func, to: Elem, operands: &[TermId]) -> TermId {
        let (mut all, constant) = self.taken_apart(func, to, operands);
        self.spend(all.len() as u64);
        let many = Function::Many { func, to };
        let bits = |value: u64| (to, value & to.mask());
        // Identity elements, and operands that nothing changes.
        let (neutral, absorbing) = match func {
            Func::And => (Some(to.mask()), Some(0)),
            Func::Or => (Some(0), Some(to.mask())),
            Func::Mul => (Some(1), Some(0)),
            Func::Max => (Func::Max.start(to), Func::Min.start(to).filter(|_| !to.is_float())),
            Func::Min => (Func::Min.start(to), Func::Max.start(to).filter(|_| !to.is_float())),
            _ => (Some(0), None),
        };
        let constant = constant.filter(|c| Some(*c) != neutral);
        if constant.is_some() && constant == absorbing {
            return self.constant_element(constant.unwrap_or(0), size(to));
        }
        match func {
            Func::Add => return self.sum(to, all, constant.unwrap_or(0)),
            Func::Xor => {
                all.sort_unstable();
                let pairs = all.chunk_by(|a, b| a == b).filter(|same| same.len() % 2 == 1);
                all = pairs.filter_map(|same| same.first().copied()).collect();
            }
            Func::Mul => {
                all.sort_unstable();
                // A constant times a sum is the sum of the products.
                if let ([only], Some(factor)) = (all.as_slice(), constant)
                    && let Some((Function::Many { func: Func::Add, .. }, parts)) = self.applied(*only)
                {
                    let parts: Elements = parts.into();
                    let factor = self.constant_element(factor, size(to));
                    let scaled: Elements = parts.iter().map(|p| self.gathered(Func::Mul, to, &[*p, factor])).collect();
                    return self.gathered(Func::Add, to, &scaled);
                }
            }
            _ => {
                all.sort_unstable();
                all.dedup();
            }
        }
        match (all.as_slice(), constant) {
            ([], _) => {
                let value = constant.or(neutral).map_or(0, |value| bits(value).1);
                return self.constant_element(value, size(to));
            }
            ([only], None) if !to.is_float() => return *only,
            ([only], None) => return self.canonical(*only, to),
            _ => {}
        }
        if let Some(constant) = constant {
            let constant = self.constant_element(constant, size(to));
            all.push(constant);
        }
        self.hold(many, all.into_iter().collect())
    }

    /// The elements that a function of any number is of, and what its constants come to.
    fn taken_apart(&mut self, func: Func, to: Elem, operands: &[TermId]) -> (Vec<TermId>, Option<u64>) {
        let many = Function::Many { func, to };
        let mut all: Vec<TermId> = Vec::with_capacity(operands.len());
        let mut constant = None;
        let mut work = self.gathered;
        let mut add = |all: &mut Vec<TermId>, id: TermId| match self.constant_bits(id, size(to)) {
            Some(bits) => {
                let so_far: SmallVec<[(Elem, u64); 2]> = constant.into_iter().chain([bits]).map(|b| (to, b)).collect();
                constant = many.eval(&so_far);
            }
            None => all.push(id),
        };
        for id in operands {
            match self.applied(*id) {
                Some((function, inner))
                    if function == many && inner.len() + operands.len() <= MAX_GATHERED && work < MAX_WORK =>
                {
                    work += inner.len();
                    inner.iter().for_each(|id| add(&mut all, *id));
                }
                _ => add(&mut all, *id),
            }
        }
        self.gathered = work;
        if all.len() > MAX_GATHERED.max(operands.len()) {
            // Too much to take apart again and again.
            let alone: Vec<TermId> =
                operands.iter().copied().filter(|id| self.constant_bits(*id, size(to)).is_none()).collect();
            let constants: Vec<(Elem, u64)> =
                operands.iter().filter_map(|id| Some((to, self.constant_bits(*id, size(to))?))).collect();
            return (alone, if constants.is_empty() { None } else { many.eval(&constants) });
        }
        (all, constant)
    }

    /// A sum of integers: equal elements are counted.
    fn sum(&mut self, to: Elem, all: Vec<TermId>, constant: u64) -> TermId {
        let product = Function::Many { func: Func::Mul, to };
        let mut counted: Vec<(TermId, u64)> = Vec::with_capacity(all.len());
        for id in all {
            // A product has its constant at the end.
            let factors: Option<(Elements, u64)> = match self.applied(id) {
                Some((function, [rest @ .., last])) if function == product => {
                    self.constant_bits(*last, size(to)).map(|count| (rest.into(), count))
                }
                _ => None,
            };
            counted.push(match factors {
                Some((rest, count)) => (self.gathered(Func::Mul, to, &rest), count),
                None => (id, 1),
            });
        }
        counted.sort_unstable();
        let mut all: Elements = SmallVec::new();
        for same in counted.chunk_by(|a, b| a.0 == b.0) {
            let count = same.iter().fold(0u64, |n, (_, count)| n.wrapping_add(*count)) & to.mask();
            match (same.first(), count) {
                (None, _) | (_, 0) => {}
                (Some((id, _)), 1) => all.push(*id),
                (Some((id, _)), count) => {
                    let count = self.constant_element(count, size(to));
                    let mut factors: Elements = match self.applied(*id) {
                        Some((function, inner)) if function == product => inner.into(),
                        _ => SmallVec::from_slice(&[*id]),
                    };
                    factors.push(count);
                    all.push(self.hold(product, factors));
                }
            }
        }
        let constant = constant & to.mask();
        if constant != 0 || all.is_empty() {
            all.push(self.constant_element(constant, size(to)));
        }
        match all.as_slice() {
            [only] => *only,
            _ => self.hold(Function::Many { func: Func::Add, to }, all),
        }
    }
}

/// The floats that the vector unit computes with: a sign bit in front.
fn is_float(elem: Elem) -> bool {
    matches!(elem, Elem::F16 | Elem::Bf16 | Elem::F32)
}
