//! Inputs for which two programs differ: found by working their terms out, not by argument.

use crate::Elem;
use crate::formula::number_text;
use std::collections::BTreeSet;
use tessera_isa::codec::{Number, Overflow};
use tessera_provenance::{Term, TermId, Terms, Values};

/// The number of inputs that are tried,
const TRIALS: u64 = 160;

/// and how many results of functions may be worked out for that.
const MAX_WORK: usize = 1 << 22;

/// An element that two programs make in different ways.
#[derive(Clone, Debug)]
pub(crate) struct Open {
    /// The origins in each program.
    pub ids: [Vec<TermId>; 2],
    /// The trial in which it differs.
    pub trial: Option<u64>,
}

/// Tries inputs until every one is told apart, or enough were tried. `elem` says the type of an input.
pub(crate) fn tell_apart(terms: &Terms, elem: &dyn Fn(u32) -> Elem, open: &mut [&mut Open]) {
    let mut work = 0;
    for trial in 0..TRIALS {
        let mut left = open.iter_mut().filter(|o| o.trial.is_none()).peekable();
        if left.peek().is_none() || work > MAX_WORK {
            return;
        }
        let mut values = Values::new(terms, |input, byte| Some(input_byte(elem(input), trial, input, byte)));
        if values.is_by_zero() {
            work += values.worked_out();
            continue;
        }
        for one in left {
            if work + values.worked_out() > MAX_WORK {
                break;
            }
            let [a, b] = &one.ids;
            if a.iter().zip(b).any(|(a, b)| values.byte(*a) != values.byte(*b)) {
                one.trial = Some(trial);
            }
        }
        work += values.worked_out();
    }
}

/// The elements of inputs that some bytes depend on, as (input, element).
pub(crate) fn read(terms: &Terms, elem: &dyn Fn(u32) -> Elem, ids: &[TermId]) -> BTreeSet<(u32, u64)> {
    let mut found = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut waiting: Vec<TermId> = ids.to_vec();
    while let Some(id) = waiting.pop() {
        match terms.get(id) {
            Term::Input { input, byte } => {
                found.insert((input, byte * 8 / u64::from(elem(input).bits())));
            }
            Term::Nibbles(pair) => waiting.extend(pair.map(|n| n.of)),
            Term::Applied { function, operands, byte } if seen.insert(id - TermId::from(byte)) => {
                for (operand, elem) in operands.iter().zip(function.types()) {
                    waiting.extend(terms.bytes(*operand, elem.bytes_of(1) as usize));
                }
            }
            _ => {}
        }
    }
    found
}

/// The bytes of a trial; none if they are undefined.
pub(crate) fn value(terms: &Terms, elem: &dyn Fn(u32) -> Elem, trial: u64, ids: &[TermId], to: Elem) -> String {
    let mut values = Values::new(terms, |input, byte| Some(input_byte(elem(input), trial, input, byte)));
    let bytes: Option<Vec<u8>> = ids.iter().map(|id| values.byte(*id)).collect();
    bytes.map_or("undefined".into(), |bytes| text(to, &bytes))
}

/// An element of an input in a trial.
pub(crate) fn input_value(elem: Elem, trial: u64, input: u32, element: u64) -> String {
    let (first, size) = (element * u64::from(elem.bits()) / 8, elem.bytes_of(1));
    let bytes: Vec<u8> = (first..first + size).map(|b| input_byte(elem, trial, input, b)).collect();
    text(elem, &bytes)
}

/// A number, with its bits where the number does not say them.
fn text(elem: Elem, bytes: &[u8]) -> String {
    let bits = bytes.iter().take(8).rev().fold(0u64, |bits, byte| bits << 8 | u64::from(*byte));
    let number = number_text(elem, bits);
    let is_said = !elem.is_nan(bits) && elem.size() == Some(bytes.len() as u64);
    if is_said { number } else { format!("{number} (0x{bits:0width$X})", width = bytes.len() * 2) }
}

fn input_byte(elem: Elem, trial: u64, input: u32, byte: u64) -> u8 {
    let size = elem.bytes_of(1);
    let bits = element_bits(elem, trial, mixed((u64::from(input) << 40) ^ (byte / size), trial));
    (bits >> (8 * (byte % size))) as u8
}

/// Small numbers that are told apart, numbers that round, special ones, anything, and mixtures.
fn element_bits(elem: Elem, trial: u64, random: u64) -> u64 {
    let small = (random >> 8) % 255;
    let float = |v: f32| elem.encode_f32(v, Overflow::Infinity);
    let special = |k: u64| {
        let (lowest, highest) = elem.range();
        let mask = elem.mask();
        let top = mask ^ mask >> 1;
        let number = |n: Number| elem.encode(n, Overflow::Infinity);
        let nan = float(f32::NAN);
        match (k % 16, elem.is_float()) {
            (0, _) => 0,
            (1, _) => top,
            (2, true) => float(1.0),
            (3, true) => float(-1.0),
            (4, true) => float(f32::INFINITY),
            (5, true) => float(f32::NEG_INFINITY),
            (6, true) => nan,
            (7, true) => nan ^ top,
            (8, true) => nan | 1,
            (9, true) => 1,
            (10, true) => top | 1,
            (2, false) => 1,
            (3, false) => mask,
            (4, false) => mask >> 1,
            (11, _) => number(lowest),
            (12, _) => number(highest),
            (k, true) => float(k as f32 - 12.5),
            (k, false) => k,
        }
    };
    let bits = match (trial % 5, elem.is_float()) {
        (0, true) => float(small as f32 / 8.0 - 15.0),
        (0, false) => (small / 4).wrapping_sub(31),
        // All bits of the significand, near one: sums of them round.
        (1, true) => {
            float((1.0 + (random >> 40) as f32 / (1u64 << 24) as f32) * if random & 1 == 0 { 1.5 } else { -0.75 })
        }
        (2, _) => special(random >> 16),
        (3, _) if random & 1 == 0 => special(random >> 16),
        (3, true) => float(small as f32 / 4.0),
        _ => random >> 3,
    };
    bits & elem.mask()
}

/// Numbers without a pattern, the same on every machine.
fn mixed(key: u64, trial: u64) -> u64 {
    let mut x = key.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ trial.wrapping_add(1).wrapping_mul(0xD1B5_4A32_D192_ED03);
    for _ in 0..2 {
        x ^= x >> 32;
        x = x.wrapping_mul(0xBF58_476D_1CE4_E5B9);
    }
    x ^ x >> 29
}
