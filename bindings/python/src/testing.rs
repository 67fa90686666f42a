//! Comparing what a kernel gave with what it should be: the worst elements, and where they were written.

use crate::array::{as_numpy, elements, read};
use crate::given::{self, about};
use crate::program::{Program, result};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tessera::compare::{Comparison, Difference, Tolerance, compare};
use tessera::equiv::Given;
use tessera::npy::{Array, shape_text};
use tessera::program::Need;
use tessera::trace::last_written;
use tessera::{Kernel, Literal};

/// Runs a kernel and compares its outputs: the result, and a text about what differs.
#[pyfunction]
#[pyo3(signature = (program, profile, entry, blocks, inputs, expected, atol, rtol, ulp, races))]
#[allow(clippy::too_many_arguments, reason = "the arguments of `assert_kernel`")]
pub fn compare_kernel<'py>(
    py: Python<'py>,
    program: &Bound<'py, Program>,
    profile: Option<&str>,
    entry: Option<&str>,
    blocks: i64,
    inputs: &Bound<'py, PyDict>,
    expected: &Bound<'py, PyDict>,
    atol: Option<f64>,
    rtol: Option<f64>,
    ulp: Option<u64>,
    races: bool,
) -> PyResult<(Bound<'py, PyAny>, Option<String>)> {
    let program = program.get();
    let tolerance = Tolerance { atol, rtol, ulp };
    let names: Vec<String> = expected.keys().iter().map(|name| name.extract()).collect::<PyResult<_>>()?;
    let (kernel, outputs) = program.outputs(py, profile, entry, blocks, &names, Some(inputs), None)?;
    let order = if races { program.judged(py, &kernel, blocks, inputs)? } else { Vec::new() };
    let mut wrong = Vec::new();
    for (name, (_, want)) in names.iter().zip(expected.iter()) {
        let failed = |error: tessera::Error| about(py, name, &error);
        let value = kernel.result(name).map_err(failed)?;
        let Some(elem) = kernel.elem(value) else { continue };
        let got = outputs.array(name).map_err(failed)?;
        let (array, is_unpacked) = read(&as_numpy(&want, Some(elem))?)?;
        let want = match is_unpacked {
            true => elements(&want, elem).map(|(shape, packed)| Array::of_elem(elem, shape, packed))?,
            false => array,
        };
        // The memory behind a pointer has any shape.
        let has_shape = !matches!(kernel.need(value), Need::Buffer(_, None)) && !elem.is_fp4();
        if has_shape && got.shape != want.shape {
            let [w, g] = [&want.shape, &got.shape].map(|s| shape_text(s));
            wrong.push(format!("%{name} has the shape {g}, and {w} is expected"));
            continue;
        }
        let found = py.detach(|| compare(elem, got, &want, &tolerance)).map_err(failed)?;
        if !found.is_equal() {
            let places = Places { program, kernel: &kernel, blocks: given::blocks(py, blocks)?, inputs };
            wrong.push(places.report(name, value, &found));
        }
    }
    wrong.extend(order);
    let text =
        (!wrong.is_empty()).then(|| format!("{} on {}\n{}", program.source().name, kernel.profile(), wrong.join("\n")));
    Ok((result(py, program, &kernel, outputs)?, text))
}

struct Places<'a, 'py> {
    program: &'a Program,
    kernel: &'a Kernel,
    blocks: u32,
    inputs: &'a Bound<'py, PyDict>,
}

impl Places<'_, '_> {
    fn report(&self, name: &str, value: tessera_ir::ValueId, found: &Comparison) -> String {
        let Comparison { elements, different, worst } = found;
        let at: Vec<u64> = worst.iter().map(|d| d.element).collect();
        // A trace that gives no answer leaves the places out; the difference stands.
        let hops = self.given().and_then(|given| last_written(self.kernel, &given, value, 0, &at).ok());
        let mut text = format!("%{name} differs in {different} of {elements} elements; the worst are");
        for (n, d) in worst.iter().enumerate() {
            let op = hops.as_ref().and_then(|hops| hops.get(n)?.as_ref()?.op);
            let place = op.map(|op| {
                let (op, source) = (self.kernel.func().op(op), self.program.source());
                let what = op.opcode().map_or("", |o| o.mnemonic());
                format!(", written in line {} by {what}", source.line(op.span))
            });
            text.push_str(&format!("\n  {}{}", line(d), place.unwrap_or_default()));
        }
        text
    }

    /// What is known of a run without its data.
    fn given(&self) -> Option<Given> {
        let (mut set, mut shapes) = (Vec::new(), Vec::new());
        for (name, value) in self.inputs.iter() {
            let name = name.extract::<String>().ok()?.trim_start_matches('%').to_string();
            let argument = self.kernel.argument(&name).ok()?;
            match self.kernel.need(argument) {
                Need::Scalar(_) => set.push((name, Literal::Number(given::number(&value).ok()??))),
                _ => shapes.extend(value.getattr("shape").and_then(|s| s.extract()).ok().map(|s| (name, s))),
            }
        }
        Some(Given { set, shapes, blocks: self.blocks, ..Given::default() })
    }
}

fn line(d: &Difference) -> String {
    let index: Vec<String> = d.index.iter().map(u64::to_string).collect();
    let ulp = d.ulp.map(|n| format!(", {n} ulp")).unwrap_or_default();
    format!("[{}]: {} instead of {} (off by {}{ulp})", index.join(", "), d.got, d.want, d.distance)
}
