//! Damage: bytes, words, numbers, lines, and pieces of other inputs.

use crate::corpus::Corpus;
use crate::targets::{Kind, Target};
use tessera_testkit::random::Random;

/// Numbers at which something changes.
const NUMBERS: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "7",
    "8",
    "15",
    "16",
    "17",
    "31",
    "32",
    "33",
    "63",
    "64",
    "128",
    "255",
    "256",
    "512",
    "1024",
    "4095",
    "4096",
    "65535",
    "65536",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "-1",
    "-2147483648",
    "-9223372036854775808",
    "0x0",
    "0x7FFFFFFF",
    "0xFFFFFFFFFFFFFFFF",
    "1e400",
    "-0.0",
    "0.1",
    "65504.0",
    "65520.0",
    "3.5e38",
];

/// An input for a target.
pub fn input(corpus: &Corpus, target: &Target, random: &mut Random) -> Vec<u8> {
    let seeds = match target.kind {
        Kind::Text => &corpus.programs,
        Kind::Array => &corpus.arrays,
        Kind::Bytes => return bytes(random),
    };
    let seeds = if !corpus.kept.is_empty() && random.once_in(50) { &corpus.kept } else { seeds };
    let Some(seed) = pick(seeds, random) else { return bytes(random) };
    let mut input = seed.clone();
    for _ in 0..1 + random.below(4) {
        damage(&mut input, corpus, seeds, random);
        input.truncate(64 << 10);
    }
    input
}

fn bytes(random: &mut Random) -> Vec<u8> {
    let len = 16 + random.below(240) as usize;
    random.bytes(len)
}

fn pick<'a>(list: &'a [Vec<u8>], random: &mut Random) -> Option<&'a Vec<u8>> {
    list.get(random.below(list.len() as u64) as usize)
}

fn damage(input: &mut Vec<u8>, corpus: &Corpus, seeds: &[Vec<u8>], random: &mut Random) {
    let place = |random: &mut Random, len: usize| random.below(len as u64 + 1) as usize;
    let at = place(random, input.len());
    let end = (at + random.below(24) as usize).min(input.len());
    match random.below(12) {
        0 => input.truncate(at),
        1 => drop(input.drain(at..end)),
        2 => {
            if let Some(byte) = input.get_mut(at) {
                *byte ^= 1 << random.below(8);
            }
        }
        3 => {
            let copied = input[at..end].to_vec();
            let to = place(random, input.len());
            input.splice(to..to, copied);
        }
        4 => {
            let word = pick(&corpus.words, random).cloned().unwrap_or_default();
            input.splice(at..at, word);
        }
        5..=7 => replace_word(input, at, corpus, random),
        8 => replace_number(input, at, random),
        9 => lines(input, random),
        10 => {
            // The beginning of this one, the end of another.
            let other = pick(seeds, random).cloned().unwrap_or_default();
            let from = line_start(&other, place(random, other.len()));
            input.truncate(line_start(input, at));
            input.extend_from_slice(&other[from..]);
        }
        _ => {
            let byte = random.next() as u8;
            input.insert(at, byte);
        }
    }
}

fn line_start(text: &[u8], at: usize) -> usize {
    text[..at].iter().rposition(|b| *b == b'\n').map_or(0, |n| n + 1)
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.'
}

/// The word at a place, or the next one.
fn word_at(text: &[u8], at: usize) -> Option<(usize, usize)> {
    let start = at + text[at..].iter().position(|b| is_word(*b))?;
    let start = text[..start].iter().rposition(|b| !is_word(*b)).map_or(0, |n| n + 1);
    let len = text[start..].iter().position(|b| !is_word(*b)).unwrap_or(text.len() - start);
    Some((start, start + len))
}

/// Another word of the language, or one that stands elsewhere in the input.
fn replace_word(input: &mut Vec<u8>, at: usize, corpus: &Corpus, random: &mut Random) {
    let Some((start, end)) = word_at(input, at) else { return };
    let elsewhere = random.below(input.len() as u64) as usize;
    let word = match word_at(input, elsewhere) {
        Some((a, b)) if random.once_in(2) => input[a..b].to_vec(),
        _ => pick(&corpus.words, random).cloned().unwrap_or_default(),
    };
    input.splice(start..end, word);
}

fn replace_number(input: &mut Vec<u8>, at: usize, random: &mut Random) {
    let Some(digit) = input[at..].iter().position(u8::is_ascii_digit) else { return };
    let start = at + digit;
    let len = input[start..].iter().position(|b| !b.is_ascii_digit()).unwrap_or(input.len() - start);
    input.splice(start..start + len, random.pick(NUMBERS).bytes());
}

/// A line goes, comes twice, or changes places.
fn lines(input: &mut Vec<u8>, random: &mut Random) {
    let mut all: Vec<Vec<u8>> = input.split(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
    let (a, b) = (random.below(all.len() as u64) as usize, random.below(all.len() as u64) as usize);
    match random.below(3) {
        0 => drop(all.remove(a)),
        1 => all.insert(b, all[a].clone()),
        _ => all.swap(a, b),
    }
    *input = all.join(&b'\n');
}
