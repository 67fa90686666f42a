//! Suggested inputs to try a kernel with: numbers for its scalars, contents for its memory.

use super::{Bindings, Extents, Input, Kernel, Limits, Need, Progress};
use crate::fill::Fill;
use crate::{Diagnostic, Elem, Literal, Number};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tessera_ir::{Operand, ScalarType, ValueId};
use tessera_isa::ops::Kind;

/// Numbers that a scalar is tried with, the likeliest first.
const TRIED: [i64; 9] = [64, 16, 128, 32, 256, 1, 8, 512, 1024];
const PAIRS: [[i64; 2]; 6] = [[16, 64], [16, 32], [16, 128], [8, 64], [64, 16], [32, 16]];

/// A scale of 1.0 as a quantization parameter, for signed 8-bit results and for others (fixpipe.md 1).
const PARAMETERS: [i128; 2] = [0x4000_3F80_0000, 0x3F80_0000];

/// A trial run is stopped here; what has run so long runs on.
const LIMITS: Limits = Limits { steps: 1 << 16, memory: 1 << 28 };
/// Bytes of made-up contents that a trial takes.
const BYTES: u64 = 1 << 28;
/// Trials, and steps of all of them, before the first numbers are as good as any.
const TRIALS: usize = 40;
const STEPS: u64 = 1 << 17;

/// Everything that a kernel still needs to run.
#[derive(Clone, Debug, Default)]
pub struct Suggestion {
    /// Numbers of scalars.
    pub set: Vec<(ValueId, Number)>,
    /// Memory and tiles whose contents are made up, with extents where the program does not imply them.
    pub fill: Vec<(ValueId, Fill, Option<Vec<u64>>)>,
    /// Why a trial with them stopped, if it did.
    pub stops: Option<Diagnostic>,
    /// Whether nothing was stored in that trial.
    is_idle: bool,
}

impl Kernel {
    /// Numbers and contents for everything that is not bound. They are found by trying: with what comes back the kernel
    /// runs, unless [`Suggestion::stops`] tells why not.
    pub fn suggest(&self, bound: &[(ValueId, Input)], blocks: u32) -> Suggestion {
        let first = self.suggest_with(bound, blocks, None);
        if !first.stops.as_ref().is_some_and(|d| d.rule.starts_with("quant-")) {
            return first;
        }
        // Numbers of 64 bits are parameters then, and few of them are any.
        let with = |parameter| self.suggest_with(bound, blocks, Some(parameter));
        PARAMETERS.into_iter().map(with).find(|other| other.stops.is_none()).unwrap_or(first)
    }

    fn suggest_with(&self, bound: &[(ValueId, Input)], blocks: u32, parameter: Option<i128>) -> Suggestion {
        let is_bound = |v: ValueId| bound.iter().any(|(b, input)| *b == v && !matches!(input, Input::Strides { .. }));
        let arguments = self.arguments();
        let free: Vec<_> = arguments.iter().filter(|a| !is_bound(a.value)).collect();
        let scalar = |v: ValueId| if let Need::Scalar(ty) = self.need(v) { Some((v, ty)) } else { None };
        let scalars: Vec<(ValueId, ScalarType)> = free.iter().filter_map(|a| scalar(a.value)).collect();
        let needs_contents = |v: ValueId, is_read: bool, is_optional: bool| match self.need(v) {
            Need::Buffer(_, dims) => is_read || dims.is_some_and(|d| d.contains(&None)),
            Need::Tile(_) | Need::Conv(_) => !is_optional,
            Need::Scalar(_) | Need::Nothing => false,
        };
        let memory = free.iter().filter(|a| needs_contents(a.value, a.is_read, a.is_optional)).map(|a| a.value);
        // Contexts are filled, and windows have room.
        let given = self.in_windows();
        let memory: Vec<ValueId> = memory.filter(|value| !given.contains(value)).collect();
        let (mut first, mut idle) = (None, None);
        let progress = Arc::new(Progress::default());
        for numbers in tried(scalars.len()).take(TRIALS) {
            let set: Vec<(ValueId, Number)> =
                scalars.iter().zip(numbers).map(|((v, ty), n)| (*v, self.number(*v, *ty, n, parameter))).collect();
            let bindings = Bindings { blocks, limits: LIMITS, progress: Some(progress.clone()), ..Bindings::default() };
            let suggestion = self.trial(Bindings { inputs: bound.to_vec(), ..bindings }, set, &memory, parameter);
            match (&suggestion.stops, suggestion.is_idle) {
                (None, false) => return suggestion,
                // Other numbers may make it do something.
                (None, true) => _ = idle.get_or_insert(suggestion),
                (Some(_), _) => _ = first.get_or_insert(suggestion),
            }
            if scalars.is_empty() || progress.steps.load(Ordering::Relaxed) > STEPS {
                break;
            }
        }
        idle.or(first).unwrap_or_default()
    }

    fn trial(
        &self,
        mut bindings: Bindings,
        set: Vec<(ValueId, Number)>,
        memory: &[ValueId],
        parameter: Option<i128>,
    ) -> Suggestion {
        let mut stops: Option<Diagnostic> = None;
        let mut fill = Vec::new();
        for (value, number) in &set {
            match self.bind_number(*value, Literal::Number(*number)) {
                Ok(input) => bindings.inputs.push((*value, input)),
                Err(error) => stops = Some(error.diagnostic().clone()),
            }
        }
        let extents = self.extents(&bindings.inputs, bindings.blocks);
        let mut bytes = 0u64;
        for value in memory {
            // If nothing is implied, any length will do; a trial shows whether it suffices.
            let place = self.func().args.iter().position(|v| v == value);
            let is_known = place.and_then(|n| extents.get(n)).is_some_and(|e| !matches!(e, Extents::Unknown(_)));
            let shape = (!is_known).then(|| self.some_shape(*value));
            let known = place.and_then(|n| extents.get(n).cloned()).and_then(Extents::known).unwrap_or_default();
            let count = known.iter().fold(1u64, |n, d| n.saturating_mul(*d));
            bytes = bytes.saturating_add(count.saturating_mul(8));
            let is_wide = matches!(self.elem(*value), Some(Elem::U64 | Elem::I64));
            let contents = parameter.filter(|_| is_wide).map_or(Fill::Random(None), |p| Fill::Value(Number::Int(p)));
            if bytes > BYTES {
                let what = "the views imply more memory than a trial takes";
                stops = Some(Diagnostic::error("memory-limit", what));
            } else {
                match self.bind_fill(*value, contents, shape.as_deref(), &extents) {
                    Ok(input) => bindings.inputs.extend(input.map(|input| (*value, input))),
                    Err(error) => stops = Some(error.diagnostic().clone()),
                }
            }
            fill.push((*value, contents, shape));
        }
        let mut is_idle = false;
        if stops.is_none() {
            // What a kernel only writes is defined where it stores.
            let written = self.arguments().into_iter().filter(|a| a.is_written && !a.is_read).map(|a| a.value);
            let bound: Vec<ValueId> = bindings.inputs.iter().map(|(value, _)| *value).collect();
            let written: Vec<ValueId> = written.filter(|v| !bound.contains(v)).collect();
            bindings
                .outputs
                .extend(written.iter().filter(|v| matches!(self.need(**v), Need::Buffer(..))).map(|v| (*v, 0)));
            let outcome = self.execute(bindings);
            let stores = |v: &ValueId| outcome.buffers.iter().all(|b| b.value != *v || b.is_defined);
            is_idle = !written.is_empty() && !written.iter().any(stores);
            stops = outcome.diagnostics.into_iter().find(Diagnostic::is_error).filter(|d| d.rule != "loop");
        }
        Suggestion { set, fill, stops, is_idle }
    }

    /// A number for a scalar: a parameter, where it is used as one.
    fn number(&self, value: ValueId, ty: ScalarType, n: i64, parameter: Option<i128>) -> Number {
        let is_parameter = |o: &Operand| o.arg.value() == Some(value) && o.role.kind() == Kind::Quant;
        let used = self.func().ops.iter().any(|op| op.operands.iter().any(is_parameter));
        parameter.filter(|_| used).map_or_else(|| number(ty, n), Number::Int)
    }

    fn some_shape(&self, value: ValueId) -> Vec<u64> {
        match self.need(value) {
            Need::Buffer(_, Some(dims)) => dims.iter().map(|d| d.unwrap_or(64)).collect(),
            _ => vec![1 << 16],
        }
    }
}

/// Candidate lists of numbers: all equal, two unequal ones in turn, all 0, then one of them 0 or 1.
fn tried(scalars: usize) -> impl Iterator<Item = Vec<i64>> {
    let alike = TRIED.into_iter().map(move |n| vec![n; scalars]);
    let one_off = move |n: i64| {
        (0..scalars).rev().flat_map(move |at| {
            [0, 1].map(|other| {
                let mut all = vec![n; scalars];
                all.iter_mut().skip(at).take(1).for_each(|v| *v = other);
                all
            })
        })
    };
    // Of rows and columns the one is often less than the other.
    let in_turn = PAIRS.into_iter().map(move |pair| (0..scalars).map(|n| pair[n % 2]).collect());
    let first = alike.chain(in_turn).chain(std::iter::once(vec![0; scalars]));
    first.chain(TRIED.into_iter().filter(|n| *n > 1).flat_map(one_off))
}

fn number(ty: ScalarType, n: i64) -> Number {
    match ty {
        ScalarType::Float(_) => Number::Float(1.0),
        ScalarType::Int(1, _) => Number::Int(1),
        ScalarType::Int(bits, _) if bits <= 8 => Number::Int(n.clamp(0, 127).into()),
        _ => Number::Int(n.into()),
    }
}
