//! What a program runs with: the words and numbers that somebody typed, or arrays that were dropped.

use crate::program::read;
use serde::Deserialize;
use std::collections::BTreeMap;
use tessera::case::{Case, Expected};
use tessera::compare::Tolerance;
use tessera::fill::Fill;
use tessera::npy::Array;
use tessera::program::{Bindings, Content, From, Input, InputError, Inputs, Limits, Need, Setting, Shapes};
use tessera::trace::Given;
use tessera::{Diagnostic, Elem, Kernel, Literal, Number, Program};
use tessera_ir::ValueId;
use tessera_isa::codec::Overflow;

/// How long a page may be busy, and how much it holds.
const LIMITS: Limits = Limits { steps: 2_000_000, memory: 1 << 27 };

/// A program and what it is given.
#[derive(Debug, Default, Deserialize)]
pub struct Ask {
    pub text: String,
    pub profile: Option<String>,
    pub entry: Option<String>,
    /// By argument: what it is, see [`Contents`]; what is left out is made up.
    #[serde(default)]
    pub given: BTreeMap<String, String>,
    pub blocks: Option<u32>,
}

/// A program that can run.
pub struct Setup {
    pub kernel: Kernel,
    pub bindings: Bindings,
}

impl Ask {
    pub fn program(&self) -> Result<Program, String> {
        read(&self.text, self.profile.as_deref(), self.entry.as_deref())
    }

    /// The program with everything bound; one with errors is refused.
    pub fn setup(&self) -> Result<Setup, String> {
        let program = self.program()?;
        if let Some(error) = program.check().iter().find(|d| Diagnostic::is_error(d)) {
            return Err(format!("{}: {}", error.rule, error.message));
        }
        let kernel = program.kernel_or_entry(self.entry.as_deref()).map_err(said)?;
        let mut case = Case { entry: self.entry.clone(), fills_missing: true, ..Case::new(program) };
        (case.blocks, case.limits, case.inputs) = (self.blocks.unwrap_or(1).max(1), LIMITS, self.inputs(&kernel)?);
        let bindings = case.bindings(&kernel).map_err(|InputError { label, error }| {
            let label = label.map_or(String::new(), |label| format!("{label}: "));
            format!("{label}{}", error.message())
        })?;
        Ok(Setup { kernel, bindings })
    }

    fn inputs(&self, kernel: &Kernel) -> Result<Inputs, String> {
        let mut inputs = Inputs::default();
        for (name, text) in self.given.iter().filter(|(_, text)| !text.trim().is_empty()) {
            let label = format!("%{name}");
            let value = kernel.argument(name).map_err(said)?;
            let wrong = |why: String| format!("{label}: {why}");
            if matches!(kernel.need(value), Need::Scalar(_)) {
                inputs.set.push((name.clone(), Setting::Value(literal(text.trim()).map_err(wrong)?)));
                continue;
            }
            let Contents { shape, what } = Contents::parse(text).map_err(wrong)?;
            let from = match what {
                Source::Fill(fill) => From::Fill(fill),
                Source::File(array) => From::Array(array),
                Source::Numbers(numbers) => {
                    let elem = kernel.elem(value).ok_or_else(|| format!("%{name} has no elements"))?;
                    let is_all = |s: &Vec<u64>| s.iter().product::<u64>() == numbers.len() as u64;
                    let shape = shape.clone().or_else(|| kernel.need(value).dims()).filter(is_all);
                    From::Array(array(elem, shape.unwrap_or_else(|| vec![numbers.len() as u64]), &numbers))
                }
            };
            inputs.shapes.extend(shape.filter(|_| matches!(from, From::Fill(_))).map(|shape| (name.clone(), shape)));
            inputs.contents.push(Content { name: name.clone(), label, from });
        }
        Ok(inputs)
    }
}

impl Setup {
    /// The shapes that buffers come out in.
    pub fn shapes(&self) -> Shapes {
        self.kernel.shapes(&self.bindings)
    }

    /// What is known where the data is not.
    pub fn symbols(&self) -> Given {
        let name = |v: &ValueId| self.kernel.name(*v).to_string();
        let mut given = Given { blocks: self.bindings.blocks, limits: LIMITS, ..Given::default() };
        for (value, input) in &self.bindings.inputs {
            match input {
                Input::Scalar(number) => given.set.push((name(value), Literal::Number(*number))),
                Input::Buffer { dims, .. } => given.shapes.push((name(value), dims.clone())),
                Input::Tile { rows, cols, .. } if matches!(self.kernel.need(*value), Need::Tile(_)) => {
                    given.shapes.push((name(value), vec![*rows, *cols]));
                }
                _ => {}
            }
        }
        given
    }
}

pub fn said(error: tessera::Error) -> String {
    error.message().to_string()
}

/// Contents as they are written: `[8x16:] iota`, `[8x16:] 1 2.5 nan`, `npy:HEX` for a file.
struct Contents {
    shape: Option<Vec<u64>>,
    what: Source,
}

enum Source {
    Fill(Fill),
    Numbers(Vec<Number>),
    File(Array),
}

impl Contents {
    fn parse(text: &str) -> Result<Contents, String> {
        let text = text.trim();
        if let Some(hex) = text.strip_prefix("npy:") {
            let array = bytes(hex).map(|file| Array::parse(&file).map_err(said));
            let array = array.ok_or("the digits of a file are hexadecimal, two for each byte")??;
            return Ok(Contents { shape: None, what: Source::File(array) });
        }
        let extents = |head: &str| head.split('x').map(|n| n.trim().parse().ok()).collect::<Option<Vec<u64>>>();
        let split = text.split_once(':').and_then(|(head, rest)| Some((extents(head)?, rest.trim())));
        let (shape, text) = split.map_or((None, text), |(shape, rest)| (Some(shape), rest));
        let what = match Fill::parse(text).map_err(said)? {
            Some(fill) => Source::Fill(fill),
            None => Source::Numbers(numbers(text)?),
        };
        Ok(Contents { shape, what })
    }
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    let pair = |n: usize| u8::from_str_radix(hex.get(n..n + 2)?, 16).ok();
    (0..hex.len()).step_by(2).map(pair).collect()
}

fn literal(text: &str) -> Result<Literal, String> {
    match text.strip_prefix("0x").map(|hex| u64::from_str_radix(hex, 16)) {
        Some(Ok(bits)) => Ok(Literal::Bits(bits)),
        _ => number(text).map(Literal::Number),
    }
}

fn number(text: &str) -> Result<Number, String> {
    let int = text.parse().ok().map(Number::Int);
    let number = int.or_else(|| text.parse().ok().map(Number::Float));
    number.ok_or_else(|| format!("'{text}' is no number; write numbers, random, iota, zeros, ones or value:N"))
}

fn numbers(text: &str) -> Result<Vec<Number>, String> {
    text.split([' ', ',', '\t', '\n']).filter(|word| !word.is_empty()).map(number).collect()
}

/// Numbers as elements of a type.
fn array(elem: Elem, shape: Vec<u64>, numbers: &[Number]) -> Array {
    let raw: Vec<u64> = numbers.iter().map(|n| elem.encode(*n, Overflow::Infinity)).collect();
    let bytes = match elem.size() {
        Some(size) if !elem.is_fp4() => {
            raw.iter().flat_map(|v| v.to_le_bytes().into_iter().take(size as usize)).collect()
        }
        _ => raw.chunks(2).map(|pair| (pair[0] | pair.get(1).unwrap_or(&0) << 4) as u8).collect(),
    };
    Array::of_elem(elem, shape, bytes)
}

/// How far an output may be off: `ulp=2`, `atol=0.1`, `rtol=0.01`.
fn tolerance<'a>(words: impl Iterator<Item = &'a str>) -> Result<Option<Tolerance>, String> {
    let mut found = None;
    for word in words {
        let near: &mut Tolerance = found.get_or_insert_default();
        let wrong = || format!("'{word}' is no tolerance; write ulp=2, atol=0.1 or rtol=0.01");
        let (key, number) = word.split_once('=').ok_or_else(wrong)?;
        let part = || number.parse().ok().filter(|n: &f64| *n >= 0.0).ok_or_else(wrong);
        match key {
            "ulp" => near.ulp = Some(number.parse().map_err(|_| wrong())?),
            "atol" => near.atol = Some(part()?),
            "rtol" => near.rtol = Some(part()?),
            _ => return Err(wrong()),
        }
    }
    Ok(found)
}

/// What outputs must be, a line for each: `%dst: 1 2 3`, `%dst: npy:HEX`, `%dst ulp=2 atol=0.1 rtol=0.01: …`; without a
/// name it is the first output.
pub fn expected(kernel: &Kernel, text: &str, outputs: &[(String, Elem, Array)]) -> Result<Vec<Expected>, String> {
    let mut all = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let is_name = |word: &str| word.starts_with('%') || outputs.iter().any(|(name, ..)| name == word);
        let named = line.split_once(':').and_then(|(head, rest)| {
            let mut words = head.split_whitespace();
            let name = words.next().filter(|word| is_name(word))?;
            Some((name.trim_start_matches('%'), words, rest))
        });
        let first = outputs.first().map_or("", |(name, ..)| name);
        let (name, near, rest) = named.unwrap_or((first, "".split_whitespace(), line));
        let Some((_, elem, got)) = outputs.iter().find(|(n, ..)| n == name) else {
            let names: Vec<String> = kernel.outputs().into_iter().map(|v| format!("%{}", kernel.name(v))).collect();
            return Err(format!("there is no output %{name}; there are {}", names.join(", ")));
        };
        let wrong = |why: String| format!("what %{name} must be: {why}");
        let near = tolerance(near).map_err(wrong)?;
        let (array, exact) = match Contents::parse(rest).map_err(wrong)?.what {
            Source::File(array) => (array, Tolerance::default()),
            Source::Fill(fill) => (fill.array(*elem, &got.shape).map_err(said)?, Tolerance::default()),
            Source::Numbers(numbers) => {
                let count: u64 = got.shape.iter().product();
                if count != numbers.len() as u64 {
                    return Err(format!("%{name} has {count} elements, and {} are expected", numbers.len()));
                }
                // Who types a number means its value.
                (array(*elem, got.shape.clone(), &numbers), Tolerance { ulp: Some(0), ..Tolerance::default() })
            }
        };
        let name = name.to_string();
        all.push(Expected {
            label: name.clone(),
            name,
            core1: false,
            array,
            is_cast: false,
            tolerance: near.unwrap_or(exact),
        });
    }
    Ok(all)
}
