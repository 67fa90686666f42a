//! When everything happens in a kernel, as an object.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use tessera_cli::render::timeline::{Shown, Used, draw, events, page, path, used};
use tessera_cli::source::Source;

/// When everything happens in a kernel: cycles that are estimates. It draws itself in a notebook.
#[pyclass(frozen, module = "tessera")]
#[derive(Clone, Debug)]
pub struct Timeline {
    /// Cycles from the start to the end.
    #[pyo3(get)]
    total: u64,
    /// How many instructions have no known cost and count as one cycle; with any, `total` is a lower bound.
    #[pyo3(get)]
    unknown: u64,
    /// The pipe that most of the critical path is on, in a sentence.
    #[pyo3(get)]
    bound: Option<String>,
    /// Chrome trace events, which Perfetto opens.
    #[pyo3(get)]
    json: String,
    /// The picture.
    #[pyo3(get)]
    svg: String,
    text: String,
    pipes: Vec<Used>,
    path: Vec<tessera_cli::render::timeline::PathStep>,
}

impl Timeline {
    pub fn new(line: &tessera::program::Timeline, kernel: &tessera::Kernel, source: &Source, own_costs: bool) -> Self {
        let shown = Shown { line, kernel, source, own_costs };
        Timeline {
            total: line.total,
            unknown: line.unknown(),
            bound: shown.bound(),
            json: events(&shown),
            svg: draw(&shown),
            text: page(&shown),
            pipes: used(&shown),
            path: path(&shown),
        }
    }
}

#[pymethods]
impl Timeline {
    /// Is the total only a lower bound?
    #[getter]
    fn at_least(&self) -> bool {
        self.unknown > 0
    }

    /// The pipes that do something: dictionaries with core, pipe, instructions, unknown, busy and share.
    #[getter]
    fn pipes<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let pipe = |used: &Used| {
            let dict = PyDict::new(py);
            dict.set_item("core", &used.core)?;
            dict.set_item("pipe", used.pipe)?;
            dict.set_item("instructions", used.instructions)?;
            dict.set_item("unknown", used.unknown)?;
            dict.set_item("busy", used.busy)?;
            dict.set_item("share", used.busy as f64 / self.total.max(1) as f64)?;
            Ok(dict)
        };
        self.pipes.iter().map(pipe).collect()
    }

    /// The instructions that make it so long: dictionaries with core, line, instruction, iteration, pipe, start, cycles
    /// and after.
    #[getter]
    fn critical_path<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let step = |step: &tessera_cli::render::timeline::PathStep| {
            let dict = PyDict::new(py);
            dict.set_item("core", &step.core)?;
            dict.set_item("line", step.line)?;
            dict.set_item("instruction", &step.instruction)?;
            dict.set_item("iteration", step.iteration.clone())?;
            dict.set_item("pipe", step.pipe)?;
            dict.set_item("start", step.start)?;
            dict.set_item("cycles", step.cycles)?;
            dict.set_item("after", &step.after)?;
            Ok(dict)
        };
        self.path.iter().map(step).collect()
    }

    fn _repr_svg_(&self) -> &str {
        &self.svg
    }

    fn __str__(&self) -> &str {
        &self.text
    }

    fn __repr__(&self) -> String {
        let least = if self.unknown > 0 { "at least " } else { "" };
        format!("<Timeline of {least}{} cycles>", self.total)
    }
}
