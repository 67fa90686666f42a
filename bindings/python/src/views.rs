//! What a program answers with: kernels, plans, traces, equivalence. All of it shows itself in a notebook.

use crate::error::Diagnostic;
use crate::page::{block, table};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tessera::equiv::{Answer, Different, Witness};
use tessera::info::{ArgumentKind, KernelInfo};
use tessera::program::{OrderReport, Placement};
use tessera::trace::{ElementPath, Target};
use tessera_cli::commands::{plan, trace};
use tessera_cli::render::map;
use tessera_cli::source::Source;

/// An argument of a kernel, or an input of a listing.
#[pyclass(frozen, get_all, module = "tessera")]
#[derive(Clone, Debug)]
pub struct Argument {
    /// Its name, without `%`.
    name: String,
    /// `scalar`, `memory`, `tile` or `other`.
    kind: &'static str,
    /// Its type, as text has it.
    r#type: String,
    /// The type of its elements.
    elem: Option<&'static str>,
    /// Its extents: numbers, names of scalars, or `?`.
    extents: Vec<String>,
    /// Is it read?
    is_read: bool,
    /// Is it written?
    is_written: bool,
}

#[pymethods]
impl Argument {
    fn __repr__(&self) -> String {
        format!("<Argument %{}: {}>", self.name, self.r#type)
    }
}

/// A kernel of a program.
#[pyclass(frozen, get_all, module = "tessera")]
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Its name, without `@`; None for a listing.
    name: Option<String>,
    /// Is it the one that runs where none is named?
    is_entry: bool,
    /// The cores that it runs on, in words.
    cores: &'static str,
    /// Does it ask which block it is?
    uses_blocks: bool,
    /// Its arguments, in order.
    arguments: Vec<Argument>,
}

impl Kernel {
    pub fn new(info: &KernelInfo) -> Self {
        let argument = |a: &tessera::info::ArgumentInfo| Argument {
            name: a.name.clone(),
            kind: match a.what {
                ArgumentKind::Scalar => "scalar",
                ArgumentKind::Memory => "memory",
                ArgumentKind::Tile => "tile",
                _ => "other",
            },
            r#type: a.ty.clone(),
            elem: a.elem.map(|e| e.name()),
            extents: a.extents.clone(),
            is_read: a.is_read,
            is_written: a.is_written,
        };
        Kernel {
            name: info.name.clone(),
            is_entry: info.is_entry,
            cores: info.cores,
            uses_blocks: info.uses_blocks,
            arguments: info.arguments.iter().map(argument).collect(),
        }
    }
}

#[pymethods]
impl Kernel {
    fn __repr__(&self) -> String {
        let arguments: Vec<String> = self.arguments.iter().map(|a| format!("%{}: {}", a.name, a.r#type)).collect();
        format!("<Kernel {}({})>", self.name.as_deref().unwrap_or("listing"), arguments.join(", "))
    }

    fn _repr_html_(&self) -> String {
        let row = |a: &Argument| {
            let does = [(a.is_read, "read"), (a.is_written, "written")];
            let does: Vec<&str> = does.iter().filter(|d| d.0).map(|d| d.1).collect();
            vec![a.name.clone(), a.r#type.clone(), a.extents.join(" × "), does.join(", ")]
        };
        table(&["argument", "type", "extents", ""], self.arguments.iter().map(row))
    }
}

/// Where the tiles of a kernel lie, and which instruction waits for which.
#[pyclass(frozen, module = "tessera")]
#[derive(Clone, Debug)]
pub struct Plan {
    text: String,
    svg: String,
    rows: Vec<Row>,
}

/// A placed tile.
#[derive(Clone, Debug)]
struct Row {
    memory: &'static str,
    name: String,
    ty: String,
    address: u64,
    bytes: u64,
    lines: [Option<usize>; 2],
    is_manual: bool,
}

impl Plan {
    pub fn new(kernel: &tessera::Kernel, placement: &Placement, source: &Source) -> Self {
        let (module, func, profile) = (kernel.module(), kernel.func(), kernel.profile());
        let memory_map = tessera_plan::map(module, func, profile, placement);
        let pipes = tessera_plan::pipes(module, func, profile, None);
        let line = |op: Option<tessera_ir::OpId>| op.map(|op| source.line(func.op(op).span));
        let mut rows = Vec::new();
        for memory in &memory_map.memories {
            rows.extend(memory.rows.iter().map(|row| Row {
                memory: memory.loc.name(),
                name: row.name.clone(),
                ty: row.ty.clone(),
                address: row.slot.addr,
                bytes: row.slot.bytes,
                lines: [line(row.first), line(row.last)],
                is_manual: row.is_manual,
            }));
        }
        Plan { text: plan::page(source, kernel, &memory_map, &pipes), svg: map::draw(&memory_map), rows }
    }
}

#[pymethods]
impl Plan {
    /// The placed tiles: dictionaries with memory, name, type, address, bytes, first and last line, manual.
    #[getter]
    fn tiles<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let tile = |row: &Row| {
            let dict = PyDict::new(py);
            dict.set_item("memory", row.memory)?;
            dict.set_item("name", row.name.trim_start_matches('%'))?;
            dict.set_item("type", &row.ty)?;
            dict.set_item("address", row.address)?;
            dict.set_item("bytes", row.bytes)?;
            dict.set_item("first", row.lines[0])?;
            dict.set_item("last", row.lines[1])?;
            dict.set_item("manual", row.is_manual)?;
            Ok(dict)
        };
        self.rows.iter().map(tile).collect()
    }

    /// The memory map as a picture.
    #[getter]
    fn svg(&self) -> &str {
        &self.svg
    }

    fn _repr_svg_(&self) -> &str {
        &self.svg
    }

    fn __str__(&self) -> &str {
        &self.text
    }

    fn __repr__(&self) -> String {
        format!("<Plan of {} tiles>", self.rows.len())
    }
}

/// The way of an element: newest step first, or oldest first where it was followed forward.
#[pyclass(frozen, module = "tessera")]
#[derive(Clone, Debug)]
pub struct Trace {
    /// The element.
    #[pyo3(get)]
    element: String,
    /// What it is as a formula of input elements, where it is computed.
    #[pyo3(get)]
    formula: Option<String>,
    /// Are there more steps than are kept? `full=True` keeps them.
    #[pyo3(get)]
    is_cut: bool,
    text: String,
    steps: Vec<Step>,
}

#[derive(Clone, Debug)]
struct Step {
    how: &'static str,
    line: Option<usize>,
    op: Option<&'static str>,
    block: u32,
    loops: Vec<(String, i64)>,
    to: Option<String>,
    from: Option<String>,
    detail: Option<String>,
    depth: usize,
}

impl Trace {
    pub fn new(target: &Target, way: &ElementPath, kernel: &tessera::Kernel, source: &Source, blocks: u32) -> Self {
        let step = |(n, hop): (usize, &tessera::trace::Hop)| {
            let record = trace::record(n, hop, kernel, source);
            Step {
                how: record.how,
                line: record.line,
                op: record.op,
                block: record.block,
                loops: record.loops.iter().map(|(name, i)| (name.to_string(), *i)).collect(),
                to: record.to.map(String::from),
                from: record.from.map(String::from),
                detail: record.detail.map(String::from),
                depth: record.depth,
            }
        };
        Trace {
            element: target.to_string(),
            formula: way.formula.as_ref().map(|f| f.line()),
            is_cut: way.is_cut,
            text: trace::page(target, way, kernel, source, blocks),
            steps: way.hops.iter().enumerate().map(step).collect(),
        }
    }
}

#[pymethods]
impl Trace {
    /// The steps: dictionaries with how, line, op, block, loops, to, from, detail and depth.
    #[getter]
    fn steps<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let step = |step: &Step| {
            let dict = PyDict::new(py);
            dict.set_item("how", step.how)?;
            dict.set_item("line", step.line)?;
            dict.set_item("op", step.op)?;
            dict.set_item("block", step.block)?;
            dict.set_item("loops", step.loops.clone())?;
            dict.set_item("to", &step.to)?;
            dict.set_item("from", &step.from)?;
            dict.set_item("detail", &step.detail)?;
            dict.set_item("depth", step.depth)?;
            Ok(dict)
        };
        self.steps.iter().map(step).collect()
    }

    fn __len__(&self) -> usize {
        self.steps.len()
    }

    fn __str__(&self) -> &str {
        &self.text
    }

    fn __repr__(&self) -> String {
        format!("<Trace of {}, {} steps>", self.element, self.steps.len())
    }

    fn _repr_html_(&self) -> String {
        block(&self.text)
    }
}

/// Whether two programs are equal for all inputs.
#[pyclass(frozen, get_all, module = "tessera")]
#[derive(Clone, Debug)]
pub struct Equivalence {
    /// `equal`, `different` or `undecided`.
    answer: &'static str,
    /// How many elements were compared, or differ.
    elements: u64,
    /// The first differences, or why there is no answer, in words.
    details: Vec<String>,
}

impl Equivalence {
    pub fn new(answer: &Answer) -> Self {
        match answer {
            Answer::Equal(equal) => Equivalence { answer: "equal", elements: equal.elements, details: Vec::new() },
            Answer::Different(different) => {
                // What is only computed in different ways is no difference.
                let is_open = different.elements == 0 && different.first.is_empty();
                let answer = if is_open { "undecided" } else { "different" };
                Equivalence { answer, elements: different.elements, details: differences(different) }
            }
            Answer::Stopped(_, error) => {
                let help = error.help_text().map(|help| format!("; {help}")).unwrap_or_default();
                let details = vec![format!("{}{help}", error.message())];
                Equivalence { answer: "undecided", elements: 0, details }
            }
        }
    }
}

fn differences(different: &Different) -> Vec<String> {
    let difference = |d: &tessera::equiv::Difference| {
        let at = if d.at[0] == d.at[1] { d.at[0].clone() } else { format!("{} and {}", d.at[0], d.at[1]) };
        let mut text = format!("{at}: {} in the first, {} in the second", d.is[0], d.is[1]);
        if let Some(Witness { inputs, values: [a, b], .. }) = &d.witness {
            let with: Vec<String> = inputs.iter().map(|(name, value)| format!("{name} = {value}")).collect();
            text.push_str(&format!(" (with {}: {a} and {b})", with.join(", ")));
        }
        text
    };
    let open = format!(
        "{} elements are computed in different ways, and no inputs were found with which they differ",
        different.open
    );
    different.first.iter().map(difference).chain((different.open > 0).then_some(open)).collect()
}

#[pymethods]
impl Equivalence {
    /// True where they are equal; an undecided answer is neither and raises.
    fn __bool__(&self, py: Python<'_>) -> PyResult<bool> {
        match self.answer {
            "undecided" => {
                let what = format!("there is no answer that holds for all inputs: {}", self.details.join("; "));
                Err(crate::error::refuse(py, what, "look at .answer instead of the truth of it"))
            }
            answer => Ok(answer == "equal"),
        }
    }

    fn __str__(&self) -> String {
        let head = format!("{}: {} elements", self.answer, self.elements);
        std::iter::once(head).chain(self.details.iter().map(|d| format!("  {d}"))).collect::<Vec<_>>().join("\n")
    }

    fn __repr__(&self) -> String {
        format!("<Equivalence {}, {} elements>", self.answer, self.elements)
    }

    fn _repr_html_(&self) -> String {
        block(&self.__str__())
    }
}

/// What is known of the order between the pipes of a program.
#[pyclass(frozen, get_all, module = "tessera")]
#[derive(Clone, Debug)]
pub struct Races {
    /// `race-free`, `races` or `undecided`.
    verdict: &'static str,
    /// Races and broken rules of flags, in the order of the text; where nothing could be told, why.
    diagnostics: Vec<Diagnostic>,
}

impl Races {
    pub fn new(report: &OrderReport, source: &Source) -> Self {
        Races { verdict: report.verdict.name(), diagnostics: Diagnostic::all(&report.diagnostics, Some(source)) }
    }
}

#[pymethods]
impl Races {
    fn __str__(&self) -> String {
        let found = self.diagnostics.iter().map(|d| d.rendered());
        std::iter::once(self.verdict).chain(found).collect::<Vec<_>>().join("\n\n")
    }

    fn __repr__(&self) -> String {
        format!("<Races {}, {} findings>", self.verdict, self.diagnostics.len())
    }

    fn _repr_html_(&self) -> String {
        block(&self.__str__())
    }
}
