//! `program.run(ranks=N, …)`: several ranks together, on arrays whose first axis is the rank.

use crate::array::array_to_numpy;
use crate::error::{Diagnostic, refuse};
use crate::given;
use crate::program::Program;
use crate::stop::stoppable;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use tessera::program::{Bindings, Outputs, PrintedValue, Ranks};
use tessera_cli::render::values::show_tile;

/// A run of several ranks, as Python asked for it.
pub struct Job<'a> {
    pub profile: Option<&'a str>,
    pub entry: Option<&'a str>,
    pub blocks: i64,
    pub ranks: i64,
    pub races: bool,
    pub outputs: Vec<String>,
}

/// Runs the ranks; a `Result` whose arrays have the rank as their first axis.
pub fn run<'py>(
    program: &Program,
    py: Python<'py>,
    job: Job<'_>,
    given: &[Option<&Bound<'py, PyDict>>],
) -> PyResult<Bound<'py, PyAny>> {
    let count = usize::try_from(job.ranks).ok().filter(|n| (1..=64).contains(n));
    let Some(count) = count else {
        return Err(refuse(py, format!("there cannot be {} ranks", job.ranks), "give a number from 1 to 64"));
    };
    let kernel = program.kernel(py, job.profile, job.entry)?;
    let blocks = given::blocks(py, job.blocks)?;
    let mut ranks = Ranks::new(vec![kernel.clone(); count]).map_err(|e| program.raise(py, &e))?;
    for rank in 0..count {
        let mut bindings = given::inputs_of_rank(&kernel, blocks, given, (rank, count))?;
        for name in &job.outputs {
            let value = kernel.result(name).map_err(|e| program.raise(py, &e))?;
            bindings.outputs.push((value, 0));
        }
        ranks.bindings[rank] = bindings;
    }
    let races = job.races;
    let done = stoppable(py, move |progress| {
        let with = |bindings: Bindings| Bindings { progress: Some(progress.clone()), ..bindings };
        ranks.bindings = std::mem::take(&mut ranks.bindings).into_iter().map(with).collect();
        ranks.run(races)
    })?;
    let outputs = done.map_err(|e| program.raise(py, &e))?;
    let warnings = outputs.first().map_or(&[][..], Outputs::warnings);
    let warnings = Diagnostic::all(warnings, Some(program.source()));
    let mut printed = String::new();
    for (rank, output) in outputs.iter().enumerate() {
        for (name, what) in output.printed() {
            printed += &match what {
                PrintedValue::Tile(_, data) => show_tile(name, &format!("@{rank}"), data, None),
                PrintedValue::Text(text) => format!("rank {rank}: {}\n", text.trim_end_matches('\n')),
            };
        }
    }
    let (numpy, arrays) = (py.import("numpy")?, PyDict::new(py));
    let lists = PyDict::new(py);
    for output in outputs {
        for (name, array) in output.into_arrays() {
            let elem = kernel.find(&name).and_then(|value| kernel.elem(value));
            let Some(elem) = elem else { continue };
            let list = match lists.get_item(&name)? {
                Some(list) => list.cast_into::<PyList>()?,
                None => {
                    let list = PyList::empty(py);
                    lists.set_item(&name, &list)?;
                    list
                }
            };
            list.append(array_to_numpy(py, elem, array)?)?;
        }
    }
    for (name, list) in lists.iter() {
        arrays.set_item(name, numpy.call_method1("stack", (list,))?)?;
    }
    let class = py.import("tessera._result")?.getattr("Result")?;
    class.call1((arrays, warnings, kernel.profile().name(), printed))
}
