//! Normal forms change no bit: every law is held against the slow definition of the functions, on special and random
//! values, and what is no law is told apart.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use tessera_isa::codec::Overflow;
use tessera_isa::elem::Elem;
use tessera_isa::inst::Cmp;
use tessera_isa::sem::Func;
use tessera_provenance::{Function, TermId, Terms, UNDEFINED, Values};
use tessera_testkit::random::Random;

const FLOATS: [Elem; 3] = [Elem::F16, Elem::Bf16, Elem::F32];
const INTEGERS: [Elem; 8] = [Elem::I8, Elem::U8, Elem::I16, Elem::U16, Elem::I32, Elem::U32, Elem::I64, Elem::U64];

fn size(elem: Elem) -> u64 {
    elem.size().unwrap()
}

/// Bits that arithmetic treats specially: zeros, ones, powers of two, ends, infinities, canonical and other NaN.
fn special(elem: Elem) -> Vec<u64> {
    let (mask, top) = (elem.mask(), elem.mask() ^ elem.mask() >> 1);
    if !elem.is_float() {
        return vec![0, 1, 2, 3, 7, 64, mask, mask - 1, mask >> 1, top, top + 1];
    }
    let values = [0.0, 1.0, 2.0, 0.5, 3.0, 1.5, 0.1, 1e-3, 1e4, f32::INFINITY, f32::NAN, f32::MIN_POSITIVE];
    let mut all: Vec<u64> = values.iter().map(|v| elem.encode_f32(*v, Overflow::Infinity)).collect();
    let nan = elem.encode_f32(f32::NAN, Overflow::Infinity);
    all.extend([1, 2, nan | 1, nan | 3, nan - 1]);
    let negative: Vec<u64> = all.iter().map(|bits| bits ^ top).collect();
    all.extend(negative);
    all
}

/// A table and the four elements of each of its inputs.
struct Table {
    terms: Terms,
}

impl Table {
    fn input(&mut self, n: u64, elem: Elem) -> TermId {
        let first = 8 * n;
        let bytes: Vec<TermId> = (first..first + size(elem)).map(|b| self.terms.input(0, b)).collect();
        self.terms.element(&bytes)
    }

    fn constant(&mut self, elem: Elem, bits: u64) -> TermId {
        self.terms.constant_element(bits, size(elem) as usize)
    }

    fn of(&mut self, func: Func, elem: Elem, operands: &[TermId]) -> TermId {
        let mut args = [None; 3];
        args.iter_mut().take(operands.len()).for_each(|a| *a = Some(elem));
        self.terms.apply(Function::Mapped { func, to: elem, args }, operands.into())
    }

    fn fold(&mut self, func: Func, elem: Elem, steps: &[TermId]) -> TermId {
        let start = self.constant(Func::state(elem), func.start(Func::state(elem)).unwrap());
        let operands = std::iter::once(start).chain(steps.iter().copied()).collect();
        self.terms.apply(Function::Fold { func, to: elem, args: [Some(elem), None, None, None] }, operands)
    }

    /// `x < y` and the like for one pair, and what it picks.
    fn pick(&mut self, cmp: Cmp, elem: Elem, [x, y, a, b]: [TermId; 4]) -> TermId {
        let function =
            Function::Mapped { func: Func::Compare(cmp), to: Elem::U8, args: [Some(elem), Some(elem), None] };
        let mask = self.terms.apply(function, [y, x, x, y].as_slice().into());
        let function = Function::Mapped {
            func: Func::Select { bit: 1 },
            to: elem,
            args: [Some(Elem::U8), Some(elem), Some(elem)],
        };
        self.terms.apply(function, [mask, a, b].as_slice().into())
    }

    fn values(&self, ids: &[TermId], elem: Elem, inputs: &[u64]) -> Vec<Option<u64>> {
        let byte = |_: u32, at: u64| Some((inputs[(at / 8) as usize] >> (8 * (at % 8))) as u8);
        let mut values = Values::new(&self.terms, byte);
        let mut bits = |id: TermId| {
            let bytes = self.terms.bytes(id, size(elem) as usize);
            bytes.into_iter().rev().try_fold(0u64, |bits, id| Some(bits << 8 | u64::from(values.byte(id)?)))
        };
        ids.iter().map(|id| bits(*id)).collect()
    }
}

fn functions(elem: Elem) -> Vec<Func> {
    let both = [Func::Abs, Func::Neg, Func::Relu, Func::Recip, Func::Add, Func::Sub, Func::Mul, Func::Div];
    let more = [Func::Rem, Func::Fmod, Func::Max, Func::Min, Func::AddAdd, Func::SubAdd];
    let own: &[Func] = match elem.is_float() {
        true => &[Func::Exp, Func::Log, Func::Sqrt, Func::Rsqrt, Func::MulRecip, Func::Prelu, Func::ExpDif, Func::Axpy],
        false => &[Func::Not, Func::And, Func::Or, Func::Xor, Func::Shl, Func::Shr, Func::Pow],
    };
    both.iter().chain(&more).chain(own).copied().collect()
}

fn arity(func: Func) -> usize {
    ["x", "y", "z"].iter().filter(|name| func.notation().split([' ', '(', ')', ',']).any(|w| w == **name)).count()
}

#[test]
fn random_terms_are_the_same_in_normal_form_and_as_written() {
    let mut random = Random(7);
    for round in 0..600 {
        let elem = if round % 2 == 0 { FLOATS[round / 2 % 3] } else { INTEGERS[round / 2 % 8] };
        let mut tables = [Table { terms: Terms::default() }, Table { terms: Terms::as_written() }];
        let mut pools: [Vec<TermId>; 2] = [Vec::new(), Vec::new()];
        let special = special(elem);
        for (table, pool) in tables.iter_mut().zip(&mut pools) {
            pool.extend((0..4).map(|n| table.input(n, elem)));
        }
        let all = functions(elem);
        for _ in 0..24 {
            let mut pick = |n: usize| random.below(n as u64) as usize;
            let (func, what) = (all[pick(all.len())], pick(8));
            let chosen: Vec<usize> = (0..5).map(|_| pick(pools[0].len())).collect();
            let constant = (pick(3) == 0).then(|| (pick(arity(func)), special[pick(special.len())]));
            let steps = 1 + pick(4);
            for (table, pool) in tables.iter_mut().zip(&mut pools) {
                let mut operands: Vec<TermId> = chosen.iter().map(|n| pool[*n]).collect();
                let made = match what {
                    0 => {
                        let folds = [Func::Add, Func::Mul, Func::Max, Func::Min];
                        table.fold(folds[steps - 1], elem, &operands[..1 + chosen[0] % 5])
                    }
                    1 => {
                        let cmps = [Cmp::Lt, Cmp::Ge, Cmp::Gt, Cmp::Ne];
                        table.pick(cmps[steps - 1], elem, [operands[0], operands[1], operands[2], operands[3]])
                    }
                    _ => {
                        if let Some((at, bits)) = constant {
                            operands[at] = table.constant(elem, bits);
                        }
                        table.of(func, elem, &operands[..arity(func)])
                    }
                };
                pool.push(made);
            }
        }
        for trial in 0..24 {
            let value = |random: &mut Random| match trial % 3 {
                0 => random.next() & elem.mask(),
                _ => special[random.below(special.len() as u64) as usize],
            };
            let inputs: Vec<u64> = (0..4).map(|_| value(&mut random)).collect();
            let [normal, written] = [0, 1].map(|n| tables[n].values(&pools[n], elem, &inputs));
            for (k, (a, b)) in normal.iter().zip(&written).enumerate() {
                assert_eq!(a, b, "{elem} {inputs:x?}: {:?}", tables[1].terms.get(pools[1][k]));
            }
        }
    }
}

/// Two ways to write something, of three inputs.
type Law = fn(&mut Table, Elem, [TermId; 3]) -> [TermId; 2];

/// Whether the two are one term; asserts that they agree on every triple of special values.
fn holds(law: Law, elem: Elem) -> (bool, bool) {
    let sides = |terms: Terms| {
        let mut table = Table { terms };
        let inputs = [0, 1, 2].map(|n| table.input(n, elem));
        let sides = law(&mut table, elem, inputs);
        (table, sides)
    };
    let (_, [a, b]) = sides(Terms::default());
    let (table, written) = sides(Terms::as_written());
    let special = special(elem);
    let top = elem.mask() ^ elem.mask() >> 1;
    let few: Vec<u64> = special.iter().copied().step_by(4).chain([top]).collect();
    let same = special.iter().all(|x| {
        special.iter().all(|y| {
            few.iter().all(|z| {
                let values = table.values(&written, elem, &[*x, *y, *z]);
                values[0] == values[1]
            })
        })
    });
    (a == b, same)
}

fn check(name: &str, elems: &[Elem], is_law: bool, law: Law) {
    for elem in elems {
        let (proved, same) = holds(law, *elem);
        assert_eq!(same, is_law, "{name} on {elem}: same bits");
        assert_eq!(proved, is_law, "{name} on {elem}: one term");
    }
}

#[test]
fn what_commutes() {
    for (name, law) in [
        ("add", (|t, e, [x, y, _]| [t.of(Func::Add, e, &[x, y]), t.of(Func::Add, e, &[y, x])]) as Law),
        ("mul", |t, e, [x, y, _]| [t.of(Func::Mul, e, &[x, y]), t.of(Func::Mul, e, &[y, x])]),
        ("max", |t, e, [x, y, _]| [t.of(Func::Max, e, &[x, y]), t.of(Func::Max, e, &[y, x])]),
        ("min", |t, e, [x, y, _]| [t.of(Func::Min, e, &[x, y]), t.of(Func::Min, e, &[y, x])]),
    ] {
        check(name, &FLOATS, true, law);
        check(name, &INTEGERS, true, law);
    }
    check("sub", &[Elem::F32, Elem::I32], false, |t, e, [x, y, _]| {
        [t.of(Func::Sub, e, &[x, y]), t.of(Func::Sub, e, &[y, x])]
    });
}

fn grouped(t: &mut Table, func: Func, e: Elem, [x, y, z]: [TermId; 3]) -> [TermId; 2] {
    let (left, right) = (t.of(func, e, &[x, y]), t.of(func, e, &[y, z]));
    [t.of(func, e, &[left, z]), t.of(func, e, &[x, right])]
}

#[test]
fn what_associates() {
    for (name, law) in [
        ("add", (|t, e, all| grouped(t, Func::Add, e, all)) as Law),
        ("mul", |t, e, all| grouped(t, Func::Mul, e, all)),
    ] {
        check(name, &INTEGERS, true, law);
        check(name, &FLOATS, false, law);
    }
    for (name, law) in [
        ("max", (|t, e, all| grouped(t, Func::Max, e, all)) as Law),
        ("min", |t, e, all| grouped(t, Func::Min, e, all)),
    ] {
        check(name, &INTEGERS, true, law);
        check(name, &FLOATS, true, law);
    }
    for (name, law) in [
        ("and", (|t, e, all| grouped(t, Func::And, e, all)) as Law),
        ("or", |t, e, all| grouped(t, Func::Or, e, all)),
        ("xor", |t, e, all| grouped(t, Func::Xor, e, all)),
    ] {
        check(name, &INTEGERS, true, law);
    }
}

fn one(t: &mut Table, e: Elem) -> TermId {
    let bits = if e.is_float() { e.encode_f32(1.0, Overflow::Infinity) } else { 1 };
    t.constant(e, bits)
}

#[test]
fn what_changes_nothing() {
    let times_one: Law = |t, e, [x, ..]| {
        let one = one(t, e);
        [t.of(Func::Mul, e, &[x, one]), x]
    };
    let plus_zero: Law = |t, e, [x, ..]| {
        let zero = t.constant(e, 0);
        [t.of(Func::Add, e, &[x, zero]), x]
    };
    check("x · 1", &INTEGERS, true, times_one);
    check("x + 0", &INTEGERS, true, plus_zero);
    // A NaN becomes canonical, and -0 + 0 is 0.
    check("x · 1", &FLOATS, false, times_one);
    check("x + 0", &FLOATS, false, plus_zero);
    check("max(x, x)", &INTEGERS, true, |t, e, [x, ..]| [t.of(Func::Max, e, &[x, x]), x]);
    check("max(x, x)", &FLOATS, false, |t, e, [x, ..]| [t.of(Func::Max, e, &[x, x]), x]);
    check("x - x", &INTEGERS, true, |t, e, [x, ..]| [t.of(Func::Sub, e, &[x, x]), t.constant(e, 0)]);
    check("x ^ x", &INTEGERS, true, |t, e, [x, ..]| [t.of(Func::Xor, e, &[x, x]), t.constant(e, 0)]);
    check("~~x", &INTEGERS, true, |t, e, [x, ..]| {
        let not = t.of(Func::Not, e, &[x]);
        [t.of(Func::Not, e, &[not]), x]
    });
    check("neg neg x", &FLOATS, true, |t, e, [x, ..]| {
        let negated = t.of(Func::Neg, e, &[x]);
        [t.of(Func::Neg, e, &[negated]), x]
    });
}

#[test]
fn what_a_canonical_nan_hides() {
    // A different copy is nevertheless equal to everything that computes with it.
    check("(x · 1) + y", &FLOATS, true, |t, e, [x, y, _]| {
        let one = one(t, e);
        let product = t.of(Func::Mul, e, &[x, one]);
        [t.of(Func::Add, e, &[product, y]), t.of(Func::Add, e, &[x, y])]
    });
    check("max(x, x) and x · 1", &FLOATS, true, |t, e, [x, ..]| {
        let one = one(t, e);
        [t.of(Func::Mul, e, &[x, one]), t.of(Func::Max, e, &[x, x])]
    });
    check("(x + y) · 1", &FLOATS, true, |t, e, [x, y, _]| {
        let (one, sum) = (one(t, e), t.of(Func::Add, e, &[x, y]));
        [t.of(Func::Mul, e, &[sum, one]), sum]
    });
}

#[test]
fn other_ways_to_write_the_same() {
    check("x - y and x + neg y", &FLOATS, true, |t, e, [x, y, _]| {
        let negated = t.of(Func::Neg, e, &[y]);
        [t.of(Func::Sub, e, &[x, y]), t.of(Func::Add, e, &[x, negated])]
    });
    check("relu and max", &[Elem::F16, Elem::F32, Elem::I32], true, |t, e, [x, ..]| {
        let zero = t.constant(e, 0);
        [t.of(Func::Relu, e, &[x]), t.of(Func::Max, e, &[x, zero])]
    });
    check("x / 4 and x · 0.25", &FLOATS, true, |t, e, [x, ..]| {
        let [four, quarter] = [4.0, 0.25].map(|v| t.constant(e, e.encode_f32(v, Overflow::Infinity)));
        [t.of(Func::Div, e, &[x, four]), t.of(Func::Mul, e, &[x, quarter])]
    });
    check("x << 3 and x · 8", &INTEGERS, true, |t, e, [x, ..]| {
        let (three, eight) = (t.constant(e, 3), t.constant(e, 8));
        [t.of(Func::Shl, e, &[x, three]), t.of(Func::Mul, e, &[x, eight])]
    });
    check("exp(x - y)", &[Elem::F32], true, |t, e, [x, y, _]| {
        let difference = t.of(Func::Sub, e, &[x, y]);
        [t.of(Func::ExpDif, e, &[x, y]), t.of(Func::Exp, e, &[difference])]
    });
    // In f16 the difference would be rounded in between.
    let difference: Law = |t, e, [x, y, _]| {
        let difference = t.of(Func::Sub, e, &[x, y]);
        [t.of(Func::ExpDif, e, &[x, y]), t.of(Func::Exp, e, &[difference])]
    };
    check("exp(x - y)", &[Elem::Bf16], false, difference);
}

#[test]
fn folds_and_chains() {
    let sum: Law = |t, e, [x, y, z]| {
        let zero = t.constant(e, 0);
        let chain = [x, y, z].into_iter().fold(zero, |sum, x| t.of(Func::Add, e, &[sum, x]));
        [t.fold(Func::Add, e, &[x, y, z]), chain]
    };
    check("a sum from +0", &[Elem::F32], true, sum);
    check("a sum from +0", &INTEGERS, true, sum);
    // In f16 the sum is rounded once, a chain at every step.
    check("a sum from +0", &[Elem::F16], false, sum);
    let plain: Law = |t, e, [x, y, z]| {
        let first = t.of(Func::Add, e, &[x, y]);
        [t.fold(Func::Add, e, &[x, y, z]), t.of(Func::Add, e, &[first, z])]
    };
    // -0 + -0 is -0.
    check("a sum without a start", &[Elem::F32], false, plain);
    check("a sum without a start", &INTEGERS, true, plain);
    let halves: Law = |t, e, [x, y, z]| {
        let (first, second) = (t.fold(Func::Add, e, &[x, y]), t.fold(Func::Add, e, &[z]));
        [t.fold(Func::Add, e, &[x, y, z]), t.of(Func::Add, e, &[first, second])]
    };
    check("a sum of halves", &INTEGERS, true, halves);
    let other: Law = |t, e, [x, y, z]| [t.fold(Func::Add, e, &[x, y, z]), t.fold(Func::Add, e, &[z, y, x])];
    check("a sum backwards", &INTEGERS, true, other);
    check("a sum backwards", &FLOATS, false, other);
    let greatest: Law = |t, e, [x, y, z]| {
        let (first, second) = (t.fold(Func::Max, e, &[x, y]), t.fold(Func::Max, e, &[z]));
        [t.fold(Func::Max, e, &[z, x, y]), t.of(Func::Max, e, &[first, second])]
    };
    check("the greatest of halves", &FLOATS, true, greatest);
    check("the greatest of halves", &INTEGERS, true, greatest);
}

#[test]
fn a_product_cut_along_k_is_the_whole_product() {
    for k in [1, 5, 16, 17, 40] {
        let mut table = Table { terms: Terms::default() };
        let pairs: Vec<TermId> = (0..2 * k).map(|n| table.input(n, Elem::F32)).collect();
        let function = Function::Fold {
            func: Func::MulAdd(None),
            to: Elem::F32,
            args: [Some(Elem::F32), Some(Elem::F32), None, None],
        };
        let from = |table: &mut Table, start: TermId, pairs: &[TermId]| {
            table.terms.apply(function, std::iter::once(start).chain(pairs.iter().copied()).collect())
        };
        let zero = table.constant(Elem::F32, 0);
        let whole = from(&mut table, zero, &pairs);
        for cut in 0..=k as usize {
            let first = from(&mut table, zero, &pairs[..2 * cut]);
            assert_eq!(from(&mut table, first, &pairs[2 * cut..]), whole, "{cut} of {k}");
        }
    }
}

#[test]
fn a_selection_counts_what_it_picks() {
    let mut table = Table { terms: Terms::default() };
    let elem = Elem::F32;
    let (x, y, mask) = (table.input(0, elem), table.input(1, elem), table.input(2, Elem::U8));
    let select =
        |bit| Function::Mapped { func: Func::Select { bit }, to: elem, args: [Some(Elem::U8), Some(elem), Some(elem)] };
    let mut apply = |bit, mask, a, b| table.terms.apply(select(bit), [mask, a, b].as_slice().into());
    assert_eq!(apply(3, Terms::constant(8), x, UNDEFINED), x);
    assert_eq!(apply(2, Terms::constant(8), UNDEFINED, y), y);
    assert_eq!(apply(2, Terms::constant(8), x, UNDEFINED), UNDEFINED);
    assert_eq!(apply(1, mask, x, x), x);
    assert_eq!(apply(1, UNDEFINED, x, x), UNDEFINED);
    let open = apply(1, mask, x, UNDEFINED);
    assert_eq!(table.values(&[open], elem, &[5, 6, 2]), [Some(5)]);
    assert_eq!(table.values(&[open], elem, &[5, 6, 1]), [None]);
}

#[test]
fn memory_is_bounded() {
    // A sum of ever new elements, which is taken apart again and again: it ends, full or not.
    let mut table = Table { terms: Terms::default() };
    let mut sum = table.constant(Elem::I32, 0);
    let mut inputs = Vec::new();
    table.terms.input_run(0, 0, 4 * 40_000, &mut |k, id| inputs.extend((k % 4 == 0).then_some(id)));
    for x in inputs {
        sum = table.of(Func::Add, Elem::I32, &[sum, x]);
    }
    assert_eq!(table.terms.met(), None);
    assert_ne!(sum, UNDEFINED);
}
