//! Questions about all inputs: where an element comes from, and whether two programs are equal.

use crate::Answer;
use crate::answers::place;
use crate::program::read;
use crate::run;
use serde::Deserialize;
use serde_json::{Number as JsonNumber, Value, json};
use std::collections::BTreeMap;
use tessera::equiv::{Answer as Verdict, Given, Which};
use tessera::program::Limits;
use tessera::trace::{How, Target};
use tessera::{Diagnostic, Kernel, Literal, Program};

/// How long a page may be busy.
const LIMITS: Limits = Limits { steps: 1_000_000, memory: 1 << 27 };

#[derive(Debug, Deserialize)]
pub struct AskOrigin {
    text: String,
    profile: Option<String>,
    entry: Option<String>,
    /// `%dst[3, 5]`.
    target: String,
    #[serde(default)]
    set: BTreeMap<String, JsonNumber>,
}

#[derive(Debug, Deserialize)]
pub struct AskEquiv {
    a: String,
    b: String,
    profile: Option<String>,
}

/// What is known: what is set, and of the rest what a run would be tried with.
fn given(kernel: &Kernel, set: &BTreeMap<String, JsonNumber>) -> Given {
    let mut given = Given { set: run::Ask::settings(set), limits: LIMITS, ..Given::default() };
    let suggestion = kernel.suggest(&[], 1);
    for (value, number) in suggestion.set {
        let name = kernel.name(value).to_string();
        if !set.contains_key(&name) {
            given.set.push((name, Literal::Number(number)));
        }
    }
    let shapes = suggestion.fill.into_iter().filter_map(|(v, _, shape)| Some((kernel.name(v).to_string(), shape?)));
    given.shapes.extend(shapes);
    given
}

fn legal(program: &Program) -> Result<(), String> {
    let error = program.check().into_iter().find(Diagnostic::is_error);
    error.map_or(Ok(()), |d| Err(format!("{}: {}", d.rule, d.message)))
}

pub fn origin(ask: &AskOrigin) -> Answer {
    let program = read(&ask.text, ask.profile.as_deref(), ask.entry.as_deref())?;
    legal(&program)?;
    let said = |e: tessera::Error| e.message().to_string();
    let kernel = program.kernel_or_entry(ask.entry.as_deref()).map_err(said)?;
    let target = Target::parse(&ask.target).map_err(said)?;
    let way = tessera::trace::back(&kernel, &given(&kernel, &ask.set), &target, false).map_err(said)?;
    let hops: Vec<Value> = way
        .hops
        .iter()
        .map(|hop| {
            let (how, detail) = match &hop.how {
                How::Moved => ("moved", None),
                How::Converted(by) => ("converted", Some(by)),
                How::Computed(formula) => ("computed", Some(formula)),
                How::Filled(value) => ("filled", Some(value)),
                How::Clobbered => ("clobbered", None),
                How::NeverWritten => ("never written", None),
                How::Input => ("input", None),
                How::Parameter => ("parameter", None),
                How::Ends => ("ends", None),
            };
            let op = hop.op.map(|op| kernel.func().op(op));
            json!({
                "how": how, "detail": detail, "from": hop.from, "to": hop.to, "depth": hop.depth, "more": hop.more,
                "op": op.map(|op| op.kind.name()), "at": op.map(|op| place(&ask.text, op.span)),
                "loops": hop.loops.iter().map(|(name, n)| format!("{name} = {n}")).collect::<Vec<_>>(),
            })
        })
        .collect();
    Ok(
        json!({ "target": ask.target, "formula": way.formula.map(|f| f.term.text()), "hops": hops, "is_cut": way.is_cut }),
    )
}

pub fn equiv(ask: &AskEquiv) -> Answer {
    let mut kernels = Vec::new();
    for (name, text) in [("the first program", &ask.a), ("the second program", &ask.b)] {
        let program = read(text, ask.profile.as_deref(), None)?;
        legal(&program).map_err(|e| format!("{name}: {e}"))?;
        kernels.push(program.entry().map_err(|e| format!("{name}: {}", e.message()))?);
    }
    let [a, b] = kernels.as_slice() else { return Err("two programs are compared".into()) };
    Ok(match tessera::equiv::equiv(a, b, &given(a, &BTreeMap::new()), &[]) {
        Verdict::Equal(equal) => {
            json!({ "answer": "equal", "outputs": equal.outputs, "elements": equal.elements, "undefined": equal.undefined })
        }
        Verdict::Different(different) => {
            let first = different.first.iter().map(|d| {
                let witness = d.witness.as_ref().map(|w| json!({ "inputs": w.inputs, "values": w.values }));
                json!({ "at": d.at, "is": d.is, "witness": witness })
            });
            json!({ "answer": "different", "elements": different.elements, "first": first.collect::<Vec<_>>() })
        }
        Verdict::Stopped(which, error) => {
            let who = if matches!(which, Which::A) { "the first program" } else { "the second program" };
            json!({ "answer": "undecided", "why": format!("{who}: {}", error.message()) })
        }
        #[allow(unreachable_patterns, reason = "further answers are no answer here")]
        _ => json!({ "answer": "undecided", "why": "neither a proof nor inputs with which they differ were found" }),
    })
}
