//! Are two programs equal for all inputs?
//!
//! Both run on origins with one table of terms ([`tessera_provenance`]). Inputs are matched by name, those whose name
//! only one program has by position; so are outputs: the buffers that a kernel writes, a listing's output tiles, and what
//! is printed. Equal origins of every output byte mean equal outputs for every input that both programs run with. Where
//! origins differ, inputs are looked for with which the programs do: without such a witness there is no answer.
//!
//! ```
//! use tessera::equiv::{Answer, equiv};
//! use tessera::Program;
//!
//! let a = Program::parse("%t = pto.ttrans %s : !pto.tile<16x16xf32> -> !pto.tile<16x16xf32>
//!     %d = pto.ttrans %t : !pto.tile<16x16xf32> -> !pto.tile<16x16xf32>")?;
//! let b = Program::parse("%d = pto.tmov %s : !pto.tile<16x16xf32> -> !pto.tile<16x16xf32>")?;
//! let answer = equiv(&a.entry()?, &b.entry()?, &Default::default(), &[]);
//! assert!(matches!(answer, Answer::Equal(equal) if equal.elements == 256));
//! # Ok::<(), tessera::Error>(())
//! ```

use crate::program::{Kernel, Need};
pub use crate::symbolic::Given;
use crate::symbolic::{Explain, Keep, place};
use crate::witness::{self, Open, tell_apart};
use crate::{Elem, Error, Missing};
use std::borrow::Cow;
use std::cell::RefCell;
use tessera_ir::{Def, ValueId};
use tessera_provenance::{Mark, Output, ProvenanceTracker, Term, TermId, Terms, UNDEFINED};

/// The number of differing elements that are explained.
const SHOWN: usize = 5;

/// The number of input elements of a witness that are shown.
const INPUTS: usize = 4;

/// For more elements than this no inputs are looked for.
const MAX_OPEN: usize = 1 << 18;

/// One of the two programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// The first.
    A,
    /// The second.
    B,
}

/// Whether two programs are equal.
#[derive(Clone, Debug)]
pub enum Answer {
    /// For all inputs.
    Equal(Equal),
    /// Not for all inputs.
    Different(Different),
    /// One of the programs gives no answer.
    Stopped(Which, Error),
}

/// The extent of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Equal {
    /// The number of outputs.
    pub outputs: usize,
    /// The number of their elements.
    pub elements: u64,
    /// The number of elements that neither program defines.
    pub undefined: u64,
}

/// The difference of two programs.
#[derive(Clone, Debug, Default)]
pub struct Different {
    /// The number of differing elements.
    pub elements: u64,
    /// The number of elements that are computed in different ways without a witness that tells them apart.
    pub open: u64,
    /// The first of them, or what else differs.
    pub first: Vec<Difference>,
}

/// One element that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The element in each program's words: `%dst[3, 5]`.
    pub at: [String; 2],
    /// Its formula in each of the programs.
    pub is: [String; 2],
    /// Inputs with which it differs, where it is computed.
    pub witness: Option<Witness>,
}

/// Inputs with which two programs differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// Input elements and their values, the first ones.
    pub inputs: Vec<(String, String)>,
    /// The number of further input elements that the difference depends on.
    pub more: u64,
    /// The value of the element in each program.
    pub values: [String; 2],
}

/// Compares two programs. Instead of their own outputs, these values can be compared.
pub fn equiv(a: &Kernel, b: &Kernel, given: &Given, wanted: &[String]) -> Answer {
    let wanted = match wanted {
        [] => Wanted::Own(&[]),
        these => Wanted::These(these),
    };
    equiv_again(a, b, given, wanted, true, &mut None).unwrap_or_else(|(which, error)| Answer::Stopped(which, error))
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Wanted<'w> {
    /// Everything that can be seen from outside, and these tiles.
    Own(&'w [String]),
    /// These tiles and arguments only.
    These(&'w [String]),
}

/// A run of the first program, for the next comparison with it.
pub(crate) struct FirstRun {
    wanted: Vec<ValueId>,
    bound: Vec<ValueId>,
    watch: ProvenanceTracker,
    terms: Terms,
    /// The end of the first program's terms.
    mark: Mark,
}

impl FirstRun {
    /// The work of all comparisons so far.
    pub(crate) fn work(&self) -> u64 {
        self.terms.work()
    }
}

/// The program that gives no answer, and why.
type Stopped = (Which, Error);

/// Compares a program with one more; inputs with which they differ are looked for where `tells`.
pub(crate) fn equiv_again(
    a: &Kernel,
    b: &Kernel,
    given: &Given,
    wanted: Wanted<'_>,
    tells: bool,
    last: &mut Option<FirstRun>,
) -> Result<Answer, Stopped> {
    let [in_a, in_b] = [Which::A, Which::B].map(|which| move |error: Error| (which, error));
    given.check(&[a, b]).map_err(in_a)?;
    let numbers_a: Vec<(ValueId, u32)> = a.func().args.iter().copied().zip(0..).collect();
    let numbers_b = matched(a, &numbers_a, b);
    let pairs = pairs(a, b, wanted)?;
    // Contents can be given to a tile that a listing only writes; that is an input only where both programs have it.
    let shared = |k: &Kernel, v: ValueId, own: &[(ValueId, u32)], other: &Kernel, others: &[(ValueId, u32)]| {
        let partner = others.iter().find(|(_, n)| Some(*n) == number_of(own, v)).map(|(o, _)| *o);
        let is_output = |k: &Kernel, v: ValueId| k.func().value(v).def == Def::ListingOut;
        is_output(k, v) && partner.is_some_and(|p| is_output(other, p))
    };
    let tiles = |kernel: &Kernel, of: fn(&Pair) -> Option<ValueId>| -> Vec<ValueId> {
        pairs.iter().filter_map(of).filter(|v| kernel.need(*v).is_tile()).collect()
    };
    let given_a = |v: ValueId| shared(a, v, &numbers_a, b, &numbers_b);
    let bound: Vec<ValueId> = a.func().args.iter().copied().filter(|v| given_a(*v)).collect();
    let outputs = tiles(a, |p| p.0);
    // Another partner may ask for other outputs, or have other inputs in common.
    let (known, mut terms) = match last.take() {
        Some(l) if l.wanted == outputs && l.bound == bound => (Some(l), Terms::default()),
        // The work counts, whatever it was for.
        other => (None, other.map_or_else(|| given.terms(), |l| l.terms.emptied())),
    };
    let first = match known {
        Some(first) => first,
        None => {
            let watch = given.run(a, &mut terms, &numbers_a, &outputs, Keep::Nothing, &given_a).map_err(in_a)?;
            let mark = terms.mark();
            FirstRun { wanted: outputs, bound, watch, terms, mark }
        }
    };
    let FirstRun { watch: first, terms, mark, .. } = last.insert(first);
    terms.roll_back(mark);
    let given_b = |v| shared(b, v, &numbers_b, a, &numbers_a);
    let second = given.run(b, terms, &numbers_b, &tiles(b, |p| p.1), Keep::Nothing, &given_b).map_err(in_b)?;
    let compared = Compared {
        kernels: [a, b],
        numbers: [&numbers_a, &numbers_b],
        watches: [first, &second],
        terms: RefCell::new(std::mem::take(terms)),
        open: RefCell::default(),
        after: RefCell::default(),
        given,
    };
    let answer = compared.all(&pairs, matches!(wanted, Wanted::Own(_)), tells);
    *terms = compared.terms.into_inner();
    Ok(answer)
}

fn number_of(numbers: &[(ValueId, u32)], value: ValueId) -> Option<u32> {
    numbers.iter().find(|(v, _)| *v == value).map(|(_, n)| *n)
}

/// The input numbers of the second program: its arguments by name, the rest by position.
fn matched(a: &Kernel, numbers: &[(ValueId, u32)], b: &Kernel) -> Vec<(ValueId, u32)> {
    let has = |k: &Kernel, name: &str| k.func().args.iter().any(|v| k.name(*v) == name);
    let mut next = numbers.len() as u32;
    let mut all = Vec::new();
    for (n, value) in b.func().args.iter().enumerate() {
        let name = b.name(*value);
        let by_name = numbers.iter().find(|(v, _)| a.name(*v) == name);
        let by_position = numbers.get(n).filter(|(v, _)| !has(b, a.name(*v)));
        next += 1;
        all.push((*value, by_name.or(by_position).map_or(next, |(_, n)| *n)));
    }
    all
}

type Pair = (Option<ValueId>, Option<ValueId>);

/// Outputs that belong together: by name, the rest by position.
fn pairs(a: &Kernel, b: &Kernel, wanted: Wanted<'_>) -> Result<Vec<Pair>, Stopped> {
    let named = |wanted: &[String]| -> Result<Vec<Pair>, Stopped> {
        let find = |k: &Kernel, which: Which, name: &str| {
            let found = k.find(name).filter(|v| k.has_elements(*v));
            found.ok_or_else(|| (which, Error::unknown("tile or argument", name, &k.names_with_elements())))
        };
        wanted.iter().map(|name| Ok((Some(find(a, Which::A, name)?), Some(find(b, Which::B, name)?)))).collect()
    };
    let more = match wanted {
        Wanted::These(these) => return named(these),
        Wanted::Own(more) => named(more)?,
    };
    let (outs_a, outs_b) = (a.outputs(), b.outputs());
    let name_in = |k: &Kernel, outs: &[ValueId], name: &str| outs.iter().copied().find(|v| k.name(*v) == name);
    let mut rest_b = outs_b.iter().copied().filter(|v| name_in(a, &outs_a, b.name(*v)).is_none());
    let pair = |v: &ValueId| (Some(*v), name_in(b, &outs_b, a.name(*v)).or_else(|| rest_b.next()));
    let mut all: Vec<Pair> = outs_a.iter().map(pair).collect();
    all.extend(rest_b.map(|v| (None, Some(v))));
    let is_new: Vec<Pair> = more.into_iter().filter(|p| !all.contains(p)).collect();
    all.extend(is_new);
    Ok(all)
}

/// Two programs that have run.
struct Compared<'a> {
    kernels: [&'a Kernel; 2],
    numbers: [&'a [(ValueId, u32)]; 2],
    watches: [&'a ProvenanceTracker; 2],
    terms: RefCell<Terms>,
    /// Elements with different origins.
    open: RefCell<Vec<Pending<'a>>>,
    /// After how many of them each other difference was found.
    after: RefCell<Vec<usize>>,
    given: &'a Given,
}

/// An element of two outputs, by its place among all.
struct Pending<'a> {
    outputs: [&'a Output; 2],
    index: u64,
    open: Open,
}

impl<'a> Compared<'a> {
    /// Compares these outputs and, where `everything`, all else that can be seen from outside.
    fn all(&self, pairs: &[Pair], everything: bool, tells: bool) -> Answer {
        let mut equal = Equal::default();
        let mut different = Different::default();
        for (a, b) in pairs {
            for core in [0, 1] {
                let of = |n: usize, v: &Option<ValueId>| {
                    let outputs = self.watches[n].outputs.iter();
                    v.and_then(|v| outputs.clone().find(|o| o.value == v && o.core == core))
                };
                let (left, right) = (of(0, a), of(1, b));
                let is_empty = |o: Option<&Output>| o.is_none_or(|o| o.origins.iter().all(|id| *id == UNDEFINED));
                // Nothing need be on core 1, and nothing read it if nothing is.
                if core == 1 && is_empty(left) && is_empty(right) {
                    continue;
                }
                self.one(left, right, &mut equal, &mut different);
            }
        }
        if everything {
            self.buffers(pairs, &mut different);
            self.prints(&mut equal, &mut different);
        }
        self.resolve(tells, &mut different);
        if !different.first.is_empty() {
            return Answer::Different(different);
        }
        if different.open > 0 {
            let why = format!(
                "{} elements are computed in different ways, and no inputs were found with which they differ",
                different.open
            );
            return Answer::Stopped(Which::A, Error::undecided(None, why));
        }
        if equal.outputs == 0 {
            let why = "neither program puts anything out, so there is nothing to compare";
            return Answer::Stopped(Which::A, Error::undecided(None, why).missing_is(Missing::Outputs));
        }
        Answer::Equal(equal)
    }

    /// Buffers that no pair names must be left alone, or be changed alike.
    fn buffers(&self, pairs: &[Pair], different: &mut Different) {
        for (value, number) in self.numbers[0] {
            let partner = self.numbers[1].iter().find(|(_, n)| n == number).map(|(v, _)| *v);
            let named = pairs.iter().any(|(a, b)| *a == Some(*value) || (b.is_some() && *b == partner));
            let Some(partner) = partner.filter(|p| !named && self.is_buffer(0, *value) && self.is_buffer(1, *p)) else {
                continue;
            };
            let of = |n: usize, v: ValueId| self.watches[n].outputs.iter().find(|o| o.value == v);
            self.one(of(0, *value), of(1, partner), &mut Equal::default(), different);
        }
    }

    fn prints(&self, equal: &mut Equal, different: &mut Different) {
        let [a, b] = self.watches.map(|w| &w.printed);
        for (left, right) in a.iter().zip(b) {
            self.one(Some(left), Some(right), equal, different);
        }
        if a.len() != b.len() {
            let is = [a.len(), b.len()].map(|n| format!("{n} tiles are printed"));
            self.differs(different, ["pto.tprint"; 2].map(String::from), is);
        }
    }

    fn one(&self, left: Option<&'a Output>, right: Option<&'a Output>, equal: &mut Equal, different: &mut Different) {
        let (a, b) = match (left, right) {
            (Some(a), Some(b)) => (a, b),
            (None, None) => return,
            // A buffer that one program may write and this run did not is as good as none.
            (Some(a), None) if self.is_untouched(0, a) => return,
            (None, Some(b)) if self.is_untouched(1, b) => return,
            _ => {
                let at = |n: usize, o: Option<&Output>| {
                    o.map_or("no such output".to_string(), |o| format!("%{}", self.kernels[n].name(o.value)))
                };
                let is = |o: Option<&Output>| if o.is_some() { "put out" } else { "not put out" }.to_string();
                let (at, is) = ([at(0, left), at(1, right)], [is(left), is(right)]);
                self.differs(different, at, is);
                return;
            }
        };
        let buffers = [self.is_buffer(0, a.value), self.is_buffer(1, b.value)];
        let same_shape = buffers.contains(&true) || (a.rows, a.cols) == (b.rows, b.cols);
        if !same_shape || a.elem.bits() != b.elem.bits() {
            let shape = |o: &Output| format!("{}x{} of {}", o.rows, o.cols, o.elem);
            let (at, is) = ([self.whole(0, a), self.whole(1, b)], [shape(a), shape(b)]);
            self.differs(different, at, is);
            return;
        }
        equal.outputs += 1;
        let size = a.elem.bytes_of(1) as usize;
        let per = if a.elem.is_fp4() { 2 } else { 1 };
        let (left, right) = self.levelled(a, b);
        for (k, (x, y)) in left.chunks(size).zip(right.chunks(size)).enumerate() {
            equal.elements += per;
            if x == y {
                equal.undefined += per * u64::from(x.contains(&UNDEFINED));
                continue;
            }
            let mut open = self.open.borrow_mut();
            if open.len() >= MAX_OPEN {
                different.open += per;
                continue;
            }
            // An element that only one program defines differs for every input.
            let undefined = |(a, b): (&TermId, &TermId)| (*a == UNDEFINED) != (*b == UNDEFINED);
            let trial = x.iter().zip(y).any(undefined).then_some(0);
            let ids = [x.to_vec(), y.to_vec()];
            open.push(Pending { outputs: [a, b], index: k as u64 * per, open: Open { ids, trial } });
        }
    }

    /// Notes a difference that no element shows, after those that are open so far.
    fn differs(&self, different: &mut Different, at: [String; 2], is: [String; 2]) {
        different.first.push(Difference { at, is, witness: None });
        self.after.borrow_mut().push(self.open.borrow().len());
    }

    /// Finds inputs with which elements differ that have different origins.
    fn resolve(&self, tells: bool, different: &mut Different) {
        let mut pending = self.open.borrow_mut();
        if tells {
            let mut all: Vec<&mut Open> = pending.iter_mut().map(|p| &mut p.open).collect();
            tell_apart(&self.terms.borrow(), &|input| self.elem(input), &mut all);
        }
        let mut others = std::mem::take(&mut different.first).into_iter().zip(self.after.take()).peekable();
        for (n, Pending { outputs: [a, b], index, open }) in pending.iter().enumerate() {
            while let Some((other, _)) = others.next_if(|(_, after)| *after <= n) {
                different.first.push(other);
            }
            let per = if a.elem.is_fp4() { 2 } else { 1 };
            let Some(trial) = open.trial else {
                different.open += per;
                continue;
            };
            different.elements += per;
            if different.first.len() < SHOWN {
                let [x, y] = &open.ids;
                different.first.push(Difference {
                    at: [self.element(0, a, *index), self.element(1, b, *index)],
                    is: [self.explain(0, x, a.elem), self.explain(1, y, b.elem)],
                    witness: self.witness(open, trial, [a.elem, b.elem]),
                });
            }
        }
        different.first.extend(others.map(|(other, _)| other));
    }

    /// The type of an input.
    fn elem(&self, input: u32) -> Elem {
        let of = |n: usize| {
            let value = self.numbers[n].iter().find(|(_, k)| *k == input)?.0;
            self.kernels[n].elem(value)
        };
        of(0).or_else(|| of(1)).unwrap_or(Elem::U8)
    }

    /// Inputs with which an element differs that one of the programs computes.
    fn witness(&self, open: &Open, trial: u64, elems: [Elem; 2]) -> Option<Witness> {
        let (terms, elem) = (&*self.terms.borrow(), |input| self.elem(input));
        let ids: Vec<TermId> = open.ids.concat();
        if ids.contains(&UNDEFINED) || !ids.iter().any(|id| matches!(terms.get(*id), Term::Applied { .. })) {
            return None;
        }
        let read = witness::read(terms, &elem, &ids);
        let name = |input: u32, element: u64| {
            let bits = u64::from(elem(input).bits());
            let (byte, len) = (element * bits / 8, elem(input).bytes_of(1));
            let of = |n: usize| {
                let value = self.numbers[n].iter().find(|(_, k)| *k == input)?.0;
                Some(place(self.kernels[n], self.given, value, byte, len))
            };
            of(0).or_else(|| of(1)).unwrap_or_default()
        };
        let shown = read.iter().take(INPUTS);
        let inputs: Vec<(String, String)> = shown
            .map(|(input, element)| {
                (name(*input, *element), witness::input_value(elem(*input), trial, *input, *element))
            })
            .collect();
        let value = |n: usize| witness::value(terms, &elem, trial, &open.ids[n], elems[n]);
        Some(Witness { more: (read.len() - inputs.len()) as u64, inputs, values: [value(0), value(1)] })
    }

    /// Origins of equal length: beyond the end of what a run touched, a buffer holds what it held.
    fn levelled<'o>(&self, a: &'o Output, b: &'o Output) -> (Cow<'o, [TermId]>, Cow<'o, [TermId]>) {
        let len = a.origins.len().max(b.origins.len());
        let level = |n: usize, o: &'o Output| {
            let have = o.origins.len();
            if have == len {
                return Cow::Borrowed(o.origins.as_slice());
            }
            let source = self.argument(n, o);
            let mut terms = self.terms.borrow_mut();
            let rest = (have as u64..len as u64).map(|at| source.map_or(UNDEFINED, |input| terms.input(input, at)));
            Cow::Owned(o.origins.iter().copied().chain(rest).collect())
        };
        (level(0, a), level(1, b))
    }

    /// The input number of the argument whose buffer an output is.
    fn argument(&self, n: usize, output: &Output) -> Option<u32> {
        number_of(self.numbers[n], output.value).filter(|_| self.is_buffer(n, output.value))
    }

    /// Whether an argument's buffer still holds its input.
    fn is_untouched(&self, n: usize, output: &Output) -> bool {
        let mut terms = self.terms.borrow_mut();
        self.argument(n, output)
            .is_some_and(|input| (0..).zip(&output.origins).all(|(at, id)| *id == terms.input(input, at)))
    }

    fn is_buffer(&self, n: usize, value: ValueId) -> bool {
        matches!(self.kernels[n].need(value), Need::Buffer(..))
    }

    fn whole(&self, n: usize, output: &Output) -> String {
        let core = if output.core == 1 { "@1" } else { "" };
        format!("%{}{core}", self.kernels[n].name(output.value))
    }

    fn element(&self, n: usize, output: &Output, index: u64) -> String {
        let name = self.whole(n, output);
        if self.is_buffer(n, output.value) {
            return format!("{name}[{index}]");
        }
        let cols = output.cols.max(1);
        format!("{name}[{}, {}]", index / cols, index % cols)
    }

    fn explain(&self, n: usize, ids: &[TermId], elem: Elem) -> String {
        let (kernel, numbers, terms) = (self.kernels[n], self.numbers[n], &self.terms.borrow());
        Explain { kernel, terms, numbers, given: self.given }.element(ids, elem)
    }
}
