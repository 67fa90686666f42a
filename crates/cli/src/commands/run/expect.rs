//! `--expect`: compares outputs with expected arrays.

use super::inputs::read_array;
use super::{Args, Job, Stop};
use crate::bind::Give;
use crate::policy::Format;
use crate::render::table::{Table, paragraph};
use crate::session::{FINE, Failure, PROGRAM_ERROR, Session};
use crate::words::{self, counted};
use tessera::case::Expected;
use tessera::compare::{Comparison, Difference, Tolerance};
use tessera::program::{Limits, Need, Outcome, Setting, Shapes};
use tessera::trace::{Given, Hop, How, last_written};

/// Steps of all blocks that are followed to find out who wrote an element.
const STEPS: u64 = 1 << 14;

/// How far elements may be off.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Tolerances {
    /// Allow each element an error of X plus --rtol times the expected value
    #[arg(long, value_name = "X", requires = "expect", allow_negative_numbers = true, value_parser = tolerance)]
    atol: Option<f64>,
    /// Allow each element an error of X times the expected value plus --atol
    #[arg(long, value_name = "X", requires = "expect", allow_negative_numbers = true, value_parser = tolerance)]
    rtol: Option<f64>,
    /// Allow each element a distance of N values of its type; 0: equal values, any NaN equals any NaN
    #[arg(long, value_name = "N", requires = "expect")]
    ulp: Option<u64>,
}

fn tolerance(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.parse().ok();
    number.filter(|n| *n >= 0.0).ok_or_else(|| format!("'{text}' is no tolerance, such as 0.001 or 1e-5"))
}

impl From<Tolerances> for Tolerance {
    fn from(Tolerances { atol, rtol, ulp }: Tolerances) -> Self {
        Tolerance { atol, rtol, ulp }
    }
}

/// The steps that wrote some elements last, or why that is not known.
type Writers = Result<Vec<Option<Hop>>, String>;

impl Args {
    /// The expectations of the command line, with their files read.
    pub(super) fn read_expected(&self, session: &mut Session<'_>) -> Result<Vec<Expected>, Stop> {
        let mut all = Vec::new();
        for bound in &self.expect {
            let (file, is_cast) = match &bound.to {
                Give::File(file, is_cast) => (file, *is_cast),
                Give::Fill(fill) => {
                    let what = format!("--expect {}={fill}: outputs are compared with files", bound.name);
                    return Err(Stop::binding(format!("{what}; a file of that name is ./{fill}")));
                }
            };
            all.push(Expected {
                name: bound.name.clone(),
                core1: bound.core1,
                label: file.display().to_string(),
                array: read_array(session, file)?,
                is_cast,
                tolerance: self.tolerance.into(),
            });
        }
        Ok(all)
    }
}

impl Job<'_> {
    /// Compares, shows the worst elements, and gives the exit code.
    pub fn compare(
        &self,
        session: &mut Session<'_>,
        outcome: &Outcome,
        shapes: &Shapes,
        wanted: &[Expected],
    ) -> Result<u8, Failure> {
        let mut code = FINE;
        for want in wanted {
            let found = want.compare(self.kernel, outcome, shapes);
            let found = found.map_err(|e| Failure::usage(format!("{}: {}", want.label, words::sentence(&e))))?;
            let mut writers = Ok(Vec::new());
            if !found.is_equal() {
                code = PROGRAM_ERROR;
                writers = self.writers(want, &found.worst);
            }
            match self.args.format {
                Format::Json => writeln!(session.stdout, "{}", self.record(want, &found, &writers))?,
                Format::Human => {
                    self.shown(session).write_all(self.found(want, &found, &writers).as_bytes())?;
                }
            }
        }
        Ok(code)
    }

    fn found(&self, want: &Expected, found: &Comparison, writers: &Writers) -> String {
        let name = format!("%{}{}", want.name, if want.core1 { "@1" } else { "" });
        let file = &want.label;
        let Comparison { elements, different, worst } = found;
        if found.is_equal() {
            let how = if Tolerance::from(self.args.tolerance).is_exact() { "equals" } else { "is near enough to" };
            return format!("{name} {how} {file}: {}\n", counted(*elements, "element"));
        }
        let of = counted(*elements, "element");
        let mut out = format!("{name} differs from {file} in {different} of {of}\n");
        let mut table = Table::new(["element", "got", "want", "difference", "ulp", "last written by"]);
        for (n, d) in worst.iter().enumerate() {
            let hop = writers.as_ref().ok().and_then(|all| all.get(n));
            let writer = hop.map_or("not known".into(), |hop| self.writer(hop.as_ref()));
            table.row([at(d), d.got.clone(), d.want.clone(), distance(d), ulp(d), writer]);
        }
        out.push_str(&table.render());
        if let Err(why) = writers {
            out.push_str(&paragraph(&format!("who wrote them is not known: {why}"), 2));
        }
        out
    }

    /// The steps that wrote the worst elements last, or why that is not known.
    fn writers(&self, want: &Expected, worst: &[Difference]) -> Writers {
        let kernel = self.kernel;
        let value = kernel.result(&want.name).map_err(|e| e.message().to_string())?;
        let set = self.args.set.iter().filter_map(|b| match b.to {
            Setting::Value(number) => Some((b.name.clone(), number)),
            _ => None,
        });
        let mut given = Given {
            set: set.collect(),
            blocks: self.args.blocks,
            limits: Limits { steps: (STEPS / u64::from(self.args.blocks)).max(1 << 8), ..Limits::default() },
            ..Given::default()
        };
        if matches!(kernel.need(value), Need::Buffer(..)) {
            given.shapes.push((want.name.clone(), want.array.shape.clone()));
        }
        let elements: Vec<u64> = worst.iter().map(|d| d.element).collect();
        let too_long = || format!("the kernel takes more than the {STEPS} steps that are followed");
        if kernel.func().ops.len() as u64 > STEPS {
            return Err(too_long());
        }
        let written = last_written(kernel, &given, value, u8::from(want.core1), &elements);
        written.map_err(|e| if e.rule() == "loop" { too_long() } else { e.message().to_string() })
    }

    fn writer(&self, hop: Option<&Hop>) -> String {
        let Some((hop, op)) = hop.and_then(|hop| Some((hop, hop.op?))) else { return "nothing wrote it".into() };
        let op = self.kernel.func().op(op);
        let from = hop.from.as_ref().filter(|_| matches!(hop.how, How::Moved | How::Converted(_)));
        let from = from.map_or(String::new(), |from| format!(" of {from}"));
        let block = if self.args.blocks > 1 { format!(", block {}", hop.block) } else { String::new() };
        let rounds: String = hop.loops.iter().map(|(name, n)| format!(", {name} = {n}")).collect();
        format!("line {}: {}{from}{block}{rounds}", self.source.line(op.span), op.kind.name())
    }

    fn record(&self, want: &Expected, found: &Comparison, writers: &Writers) -> serde_json::Value {
        let element = |(n, d): (usize, &Difference)| {
            let hop = writers.as_ref().ok().and_then(|all| all.get(n)?.as_ref());
            let line = hop.and_then(|h| h.op).map(|op| self.source.line(self.kernel.func().op(op).span));
            serde_json::json!({
                "index": d.index, "got": d.got, "want": d.want, "ulp": d.ulp,
                // JSON has no infinity: one of the two is no number then.
                "difference": d.distance.is_finite().then_some(d.distance),
                "line": line, "from": hop.and_then(|h| h.from.clone()),
            })
        };
        let worst: Vec<_> = found.worst.iter().enumerate().map(element).collect();
        serde_json::json!({
            "expect": want.name, "file": want.label,
            "equal": found.is_equal(), "elements": found.elements, "different": found.different,
            "worst": worst, "writers_unknown": writers.as_ref().err(),
        })
    }
}

fn at(d: &Difference) -> String {
    let index: Vec<String> = d.index.iter().map(u64::to_string).collect();
    format!("[{}]", index.join(", "))
}

fn distance(d: &Difference) -> String {
    match format!("{:.4e}", d.distance).parse::<f64>() {
        Ok(v) if v == 0.0 || (1e-4..1e9).contains(&v) => v.to_string(),
        Ok(v) if v.is_finite() => format!("{v:e}"),
        _ => "–".into(),
    }
}

fn ulp(d: &Difference) -> String {
    d.ulp.map_or("–".into(), |ulp| ulp.to_string())
}
