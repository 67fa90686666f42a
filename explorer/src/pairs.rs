//! Questions about all inputs: where an element comes from, and whether two programs are equal.

use crate::Answer;
use crate::answers::Places;
use crate::setup::{self, said};
use serde::Deserialize;
use serde_json::{Value, json};
use tessera::equiv::{Answer as Verdict, Which};
use tessera::trace::{How, Moment, Target};

#[derive(Debug, Deserialize)]
pub struct AskOrigin {
    #[serde(flatten)]
    program: setup::Ask,
    /// `%dst[3, 5]`.
    target: String,
    /// When: a block, and how many of its instructions have run; left out: in the end.
    moment: Option<(u32, u64)>,
}

#[derive(Debug, Deserialize)]
pub struct AskEquiv {
    a: String,
    b: String,
    profile: Option<String>,
}

pub fn origin(ask: &AskOrigin) -> Answer {
    let setup = ask.program.setup()?;
    let (kernel, places) = (&setup.kernel, Places::new(&ask.program.text));
    let target = Target::parse(&ask.target).map_err(said)?;
    let mut given = setup.symbols();
    given.until = ask.moment.map(|(block, instructions)| Moment { block, instructions });
    let way = tessera::trace::back(kernel, &given, &target, false).map_err(said)?;
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
                "op": op.map(|op| op.kind.name()), "at": op.map(|op| places.at(op.span)),
                "loops": hop.loops.iter().map(|(name, n)| format!("{name} = {n}")).collect::<Vec<_>>(),
            })
        })
        .collect();
    Ok(
        json!({ "target": ask.target, "formula": way.formula.map(|f| f.term.text()), "hops": hops, "is_cut": way.is_cut }),
    )
}

pub fn equiv(ask: &AskEquiv) -> Answer {
    let mut setups = Vec::new();
    for (name, text) in [("the first program", &ask.a), ("the second program", &ask.b)] {
        let program = setup::Ask { text: text.clone(), profile: ask.profile.clone(), ..setup::Ask::default() };
        setups.push(program.setup().map_err(|e| format!("{name}: {e}"))?);
    }
    let [a, b] = setups.as_slice() else { return Err("two programs are compared".into()) };
    Ok(match tessera::equiv::equiv(&a.kernel, &b.kernel, &a.symbols(), &[]) {
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
