//! `Program`: text that is checked, run, placed, traced and compared.

use crate::array::array_to_numpy;
use crate::error::{Diagnostic, raise, raise_all, refuse};
use crate::given::{self, numbers};
use crate::stop::stoppable;
use crate::timeline::Timeline;
use crate::views::{Equivalence, Kernel, Plan, Races, Trace};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tessera::equiv::{Answer, Given, Which, equiv};
use tessera::program::{Bindings, Inputs, OrderOptions, Outputs, PrintedValue, Setting, TimelineOptions};
use tessera::trace::{ElementPath, Target, back, forward};
use tessera::{Profile, TextForm};
use tessera_cli::render::values::show_tile;
use tessera_cli::source::Source;

/// A program of the PTO tile ISA: a module or a listing.
///
/// `source` is a path, or the text itself: a `str` is a path where it is one line that names a file or ends in `.pto` or
/// `.mlir`; `bytes` are always text. Errors in the text are `check()`'s to tell; everything else raises `tessera.Error`.
///
/// >>> import tessera
/// >>> program = tessera.Program("%d = pto.tadd %a, %b : (!pto.tile<8x8xf32>, !pto.tile<8x8xf32>) -> !pto.tile<8x8xf32>")
/// >>> program.check("a5")
/// []
#[pyclass(frozen, module = "tessera")]
pub struct Program {
    source: Arc<Source>,
    bytes: Vec<u8>,
    profile: Option<Profile>,
    entry: Option<String>,
    /// The program as each profile reads it.
    read: Mutex<Vec<(Option<Profile>, tessera::Program)>>,
}

/// Is a line of text a file's name?
fn is_path(text: &str) -> bool {
    let looks = [".pto", ".mlir"].iter().any(|end| text.ends_with(end));
    !text.contains('\n') && !text.is_empty() && text.len() < 4096 && (looks || Path::new(text).is_file())
}

impl Program {
    fn on(&self, py: Python<'_>, profile: Option<&str>) -> PyResult<tessera::Program> {
        let profile = profile.map(|name| given::profile(py, name)).transpose()?.or(self.profile);
        let mut known = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, program)) = known.iter().find(|(p, _)| *p == profile) {
            return Ok(program.clone());
        }
        let program = tessera::Program::read_entry(&self.bytes, profile, self.entry.as_deref());
        known.push((profile, program.clone()));
        Ok(program)
    }

    pub fn raise(&self, py: Python<'_>, error: &tessera::Error) -> PyErr {
        raise(py, error, Some(&self.source))
    }

    /// Errors among findings are an exception.
    fn sound(&self, py: Python<'_>, found: &[tessera::Diagnostic]) -> PyResult<()> {
        let errors = Diagnostic::all(found.iter().filter(|d| d.is_error()), Some(&self.source));
        if errors.is_empty() { Ok(()) } else { Err(raise_all(py, errors)) }
    }

    /// The kernel of a program without errors in its text.
    pub fn kernel(&self, py: Python<'_>, profile: Option<&str>, entry: Option<&str>) -> PyResult<tessera::Kernel> {
        let program = self.on(py, profile)?;
        if program.has_errors() {
            self.sound(py, &program.check())?;
        }
        program.kernel_or_entry(entry.or(self.entry.as_deref())).map_err(|e| self.raise(py, &e))
    }

    /// The kernel of a legal program.
    fn legal(&self, py: Python<'_>, profile: Option<&str>, entry: Option<&str>) -> PyResult<tessera::Kernel> {
        let program = self.on(py, profile)?;
        let found = py.detach(|| program.check());
        self.sound(py, &found)?;
        self.kernel(py, profile, entry)
    }

    /// Runs the kernel; the outputs, and the kernel that they are of.
    #[allow(clippy::too_many_arguments, reason = "the arguments of `run`")]
    pub fn outputs(
        &self,
        py: Python<'_>,
        profile: Option<&str>,
        entry: Option<&str>,
        blocks: i64,
        outputs: &[String],
        inputs: Option<&Bound<'_, PyDict>>,
        more: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<(tessera::Kernel, Outputs)> {
        let kernel = self.kernel(py, profile, entry)?;
        let mut bindings = given::inputs(&kernel, given::blocks(py, blocks)?, inputs, more)?;
        for name in outputs {
            let value = kernel.result(name).map_err(|e| self.raise(py, &e))?;
            bindings.outputs.push((value, 0));
        }
        let job = kernel.clone();
        let done = stoppable(py, move |progress| job.run_with(Bindings { progress: Some(progress), ..bindings }))?;
        done.map(|outputs| (kernel, outputs)).map_err(|e| self.raise(py, &e))
    }

    /// The errors in the order of the pipes of a run, in sentences; a program whose order cannot be wrong is not run.
    pub fn judged(
        &self,
        py: Python<'_>,
        kernel: &tessera::Kernel,
        blocks: i64,
        inputs: &Bound<'_, PyDict>,
    ) -> PyResult<Vec<String>> {
        if !kernel.orders_pipes(None) {
            return Ok(Vec::new());
        }
        let bindings = given::inputs(kernel, given::blocks(py, blocks)?, Some(inputs), None)?;
        let job = kernel.clone();
        let report =
            stoppable(py, move |progress| job.execute_judged(Bindings { progress: Some(progress), ..bindings }).1)?;
        let errors = report.into_iter().flat_map(|report| report.diagnostics).filter(|d| d.is_error());
        Ok(errors.map(|d| format!("{}: {}", d.rule, d.message)).collect())
    }

    pub fn source(&self) -> &Source {
        &self.source
    }
}

/// What a run gave, as Python has it.
pub fn result<'py>(
    py: Python<'py>,
    program: &Program,
    kernel: &tessera::Kernel,
    outputs: Outputs,
) -> PyResult<Bound<'py, PyAny>> {
    let warnings = Diagnostic::all(outputs.warnings(), Some(&program.source));
    let printed: Vec<String> = outputs
        .printed()
        .iter()
        .map(|(name, what)| match what {
            PrintedValue::Tile(_, data) => show_tile(name, "", data, None),
            PrintedValue::Text(text) => format!("{}\n", text.trim_end_matches('\n')),
        })
        .collect();
    let arrays = PyDict::new(py);
    for (name, array) in outputs.into_arrays() {
        let elem = kernel.find(&name).and_then(|value| kernel.elem(value));
        let Some(elem) = elem else { continue };
        arrays.set_item(name, array_to_numpy(py, elem, array)?)?;
    }
    let class = py.import("tessera._result")?.getattr("Result")?;
    class.call1((arrays, warnings, kernel.profile().name(), printed.concat()))
}

#[pymethods]
impl Program {
    #[new]
    #[pyo3(signature = (source: "str | bytes | PathLike[str]", *, profile=None, entry=None, name=None))]
    fn py_new(
        py: Python<'_>,
        source: &Bound<'_, PyAny>,
        profile: Option<&str>,
        entry: Option<String>,
        name: Option<String>,
    ) -> PyResult<Self> {
        let text = source.cast::<PyString>().ok().map(|s| s.to_string());
        let (own, bytes) = if let Ok(bytes) = source.cast::<PyBytes>() {
            ("<text>".to_string(), bytes.as_bytes().to_vec())
        } else if let Some(text) = text.as_ref().filter(|text| !is_path(text)) {
            ("<text>".to_string(), text.clone().into_bytes())
        } else {
            let path = match text {
                Some(text) => PathBuf::from(text),
                None => source.extract::<PathBuf>().map_err(|_| {
                    let kind = source.get_type();
                    refuse(py, format!("{kind} is no program"), "give text, bytes or a path")
                })?,
            };
            (path.display().to_string(), std::fs::read(&path).map_err(|e| file_error(&path, &e))?)
        };
        let profile = profile.map(|name| given::profile(py, name)).transpose()?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let source = Arc::new(Source::new(name.unwrap_or(own), text));
        Ok(Program { source, bytes, profile, entry, read: Mutex::default() })
    }

    /// What messages call the program: its path, or `<text>`.
    #[getter]
    fn name(&self) -> &str {
        &self.source.name
    }

    /// The text as it was read.
    #[getter]
    fn text(&self) -> &str {
        &self.source.text
    }

    /// The profile that counts where none is given: the one of the constructor, the module's own, else `cpu`.
    #[getter]
    fn profile(&self, py: Python<'_>) -> PyResult<&'static str> {
        Ok(self.on(py, None)?.profile().name())
    }

    /// The kernels: the entry, or all that could be it.
    #[getter]
    fn kernels(&self, py: Python<'_>) -> PyResult<Vec<Kernel>> {
        let program = self.on(py, None)?;
        if program.has_errors() {
            self.sound(py, &program.check())?;
        }
        let all = py.detach(|| tessera::info::kernels(&program, self.entry.as_deref()));
        Ok(all.iter().map(Kernel::new).collect())
    }

    /// Everything that can be said without running it, as `Diagnostic`s; an empty list is a legal program without warnings.
    #[pyo3(signature = (profile=None))]
    fn check(&self, py: Python<'_>, profile: Option<&str>) -> PyResult<Vec<Diagnostic>> {
        let program = self.on(py, profile)?;
        let found = py.detach(|| program.check());
        Ok(Diagnostic::all(&found, Some(&self.source)))
    }

    /// Runs the kernel on arrays and numbers by name, and gives a `Result` with its outputs by name.
    ///
    /// Inputs whose names are no Python names, or those of an option, go into `inputs`. A string makes an array up:
    /// `"random"`, `"random:SEED"`, `"iota"`, `"zeros"`, `"ones"`, `"value:V"`. `outputs` asks for further tiles.
    ///
    /// With `ranks` so many ranks run together: arrays have the rank as their first axis, those that come out too, and
    /// the strings `"rank"` and `"ranks"` are the rank's number and how many there are. `races` judges their order.
    #[pyo3(signature = (profile=None, *, entry=None, blocks=1, ranks=None, races=false, outputs: "Sequence[str]" = Vec::new(), inputs: "Mapping[str, Any] | None" = None, **arrays: "Any") -> "Result")]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments")]
    fn run<'py>(
        &self,
        py: Python<'py>,
        profile: Option<&str>,
        entry: Option<&str>,
        blocks: i64,
        ranks: Option<i64>,
        races: bool,
        outputs: Vec<String>,
        inputs: Option<&Bound<'py, PyDict>>,
        arrays: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if let Some(ranks) = ranks {
            let job = crate::ranks::Job { profile, entry, blocks, ranks, races, outputs };
            return crate::ranks::run(self, py, job, &[inputs, arrays]);
        }
        if races {
            let what = "races=True judges the order of several ranks";
            return Err(refuse(py, what, "give ranks=N, or call races()"));
        }
        let (kernel, outputs) = self.outputs(py, profile, entry, blocks, &outputs, inputs, arrays)?;
        result(py, self, &kernel, outputs)
    }

    /// Where an element comes from (`"%dst[3,5]"`, `"y[17]"`), or with `forward` where an input element goes.
    ///
    /// No data is needed; numbers for scalars are keyword arguments, shapes of pointers are in `shapes`.
    #[pyo3(signature = (element, profile=None, *, forward=false, full=false, entry=None, blocks=1, shapes: "Mapping[str, Sequence[int]]" = Vec::new(), **numbers: "float"))]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments")]
    fn trace(
        &self,
        py: Python<'_>,
        element: &str,
        profile: Option<&str>,
        forward: bool,
        full: bool,
        entry: Option<&str>,
        blocks: i64,
        #[pyo3(from_py_with = shapes)] shapes: Vec<(String, Vec<u64>)>,
        numbers: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Trace> {
        let kernel = self.legal(py, profile, entry)?;
        let mut given = known(py, blocks, shapes, numbers)?;
        let target = Target::parse(element).map_err(|e| self.raise(py, &e))?;
        let way = stoppable(py, |progress| {
            given.progress = Some(progress);
            match forward {
                true => self::forward(&kernel, &given, &target).map(|hops| ElementPath {
                    formula: None,
                    hops,
                    is_cut: false,
                }),
                false => back(&kernel, &given, &target, full),
            }
        })?;
        let way = way.map_err(|e| self.raise(py, &e))?;
        Ok(Trace::new(&target, &way, &kernel, &self.source, given.blocks))
    }

    /// Is another program equal for all inputs? The answer is true, false, or neither (`answer == "undecided"`).
    #[pyo3(signature = (other, profile=None, *, other_profile=None, outputs: "Sequence[str]" = Vec::new(), blocks=1, shapes: "Mapping[str, Sequence[int]]" = Vec::new(), **numbers: "float"))]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments")]
    fn equiv(
        &self,
        py: Python<'_>,
        other: &Bound<'_, Program>,
        profile: Option<&str>,
        other_profile: Option<&str>,
        outputs: Vec<String>,
        blocks: i64,
        #[pyo3(from_py_with = shapes)] shapes: Vec<(String, Vec<u64>)>,
        numbers: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Equivalence> {
        let other = other.get();
        let a = self.legal(py, profile, None)?;
        let b = other.legal(py, other_profile.or(profile), None)?;
        let given = known(py, blocks, shapes, numbers)?;
        let answer = stoppable(py, |progress| equiv(&a, &b, &Given { progress: Some(progress), ..given }, &outputs))?;
        match answer {
            Answer::Stopped(which, error) if error.kind() != tessera::ErrorKind::Undecided => {
                Err(if which == Which::A { self } else { other }.raise(py, &error))
            }
            answer => Ok(Equivalence::new(&answer)),
        }
    }

    /// Where the tiles lie, and which instruction waits for which; it draws itself in a notebook.
    #[pyo3(signature = (profile=None, *, entry=None))]
    fn plan(&self, py: Python<'_>, profile: Option<&str>, entry: Option<&str>) -> PyResult<Plan> {
        let kernel = self.legal(py, profile, entry)?;
        let placement = py.detach(|| kernel.plan(&[])).map_err(|e| self.raise(py, &e))?;
        Ok(Plan::new(&kernel, &placement, &self.source))
    }

    /// Which accesses of different pipes race, which flags are wrong, and where the program stops for ever.
    #[pyo3(signature = (profile=None, *, entry=None))]
    fn races(&self, py: Python<'_>, profile: Option<&str>, entry: Option<&str>) -> PyResult<Races> {
        let kernel = self.legal(py, profile, entry)?;
        let report = py.detach(|| kernel.order(&OrderOptions::default())).map_err(|e| self.raise(py, &e))?;
        Ok(Races::new(&report, &self.source))
    }

    /// When everything happens on each pipe, by costs that are estimates; it draws itself in a notebook.
    ///
    /// Numbers that loops and branches depend on are keyword arguments. `costs` is a file like docs/spec/isa/cost.toml in
    /// place of the published costs.
    #[pyo3(signature = (profile=None, *, entry=None, blocks=1, costs=None, **numbers: "float"))]
    fn timeline(
        &self,
        py: Python<'_>,
        profile: Option<&str>,
        entry: Option<&str>,
        blocks: i64,
        costs: Option<PathBuf>,
        numbers: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Timeline> {
        let kernel = self.legal(py, profile, entry)?;
        let mut options = TimelineOptions { blocks: given::blocks(py, blocks)?, ..TimelineOptions::default() };
        if let Some(file) = &costs {
            let text = std::fs::read_to_string(file).map_err(|e| file_error(file, &e))?;
            let read = tessera::costs::parse(&text);
            options.costs = Some(read.map_err(|e| raise(py, &e, None))?);
        }
        let set = self::numbers(numbers)?.into_iter().map(|(name, value)| (name, Setting::Value(value)));
        let inputs = Inputs { set: set.collect(), ..Inputs::default() };
        let (bindings, _) =
            kernel.bind_inputs(inputs, options.blocks).map_err(|refused| self.raise(py, &refused.error))?;
        options.values = kernel.integers(&bindings);
        let line = py.detach(|| kernel.timeline(&options)).map_err(|e| self.raise(py, &e))?;
        Ok(Timeline::new(&line, &kernel, &self.source, costs.is_some()))
    }

    /// The program in another form: `asm`, `ssa` or `dps`; without one, as it is written, in canonical text.
    #[pyo3(signature = (form=None))]
    fn to(&self, py: Python<'_>, form: Option<&str>) -> PyResult<String> {
        let parse = |word: &str| match word {
            "asm" => Some(TextForm::Asm),
            "ssa" => Some(TextForm::Ssa),
            "dps" => Some(TextForm::Dps),
            _ => None,
        };
        let form = form.map(|f| given::word(py, "form of text", f, parse, &["asm", "ssa", "dps"])).transpose()?;
        let program = self.on(py, None)?;
        if program.has_errors() {
            self.sound(py, &program.check())?;
        }
        Ok(program.text(form))
    }

    /// C++17 for `#include <pto/pto-inst.hpp>`.
    #[pyo3(signature = (profile=None, *, entry=None))]
    fn cpp(&self, py: Python<'_>, profile: Option<&str>, entry: Option<&str>) -> PyResult<String> {
        let kernel = self.legal(py, profile, entry)?;
        let options = tessera_emit::Options { entry, ..tessera_emit::Options::default() };
        let built = tessera_emit::build(kernel.module(), kernel.profile(), &options);
        built.map(|built| built.text).map_err(|d| self.raise(py, &d.into()))
    }

    fn __str__(&self) -> &str {
        &self.source.text
    }

    fn __repr__(&self) -> String {
        format!("<Program {}, {} lines>", self.source.name, self.source.text.lines().count())
    }

    fn _repr_html_(&self) -> String {
        crate::page::block(&self.source.text)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        let same = |o: &Program| {
            let names = self.source.name == o.source.name;
            names && self.bytes == o.bytes && self.profile == o.profile && self.entry == o.entry
        };
        other.cast::<Program>().is_ok_and(|o| same(o.get()))
    }

    fn __hash__(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        (&self.source.name, &self.bytes).hash(&mut hasher);
        hasher.finish()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let class = py.get_type::<Program>().into_any();
        let profile = self.profile.map(|p| p.name());
        let args = (PyBytes::new(py, &self.bytes), profile, self.entry.clone(), self.source.name.clone());
        Ok((class.getattr("_restore")?, args.into_pyobject(py)?))
    }

    /// What a pickle calls.
    #[staticmethod]
    fn _restore(
        py: Python<'_>,
        text: &Bound<'_, PyBytes>,
        profile: Option<&str>,
        entry: Option<String>,
        name: String,
    ) -> PyResult<Program> {
        Program::py_new(py, text.as_any(), profile, entry, Some(name))
    }
}

/// Shapes by name: a dictionary.
fn shapes(all: &Bound<'_, PyAny>) -> PyResult<Vec<(String, Vec<u64>)>> {
    let wrong = |_| refuse(all.py(), "shapes are a dictionary of names and extents", "give {'x': (16, 64)}");
    let dict = all.cast::<PyDict>().map_err(|e| wrong(e.into()))?;
    let shape = |(name, dims): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        Ok((name.extract::<String>()?.trim_start_matches('%').to_string(), dims.extract().map_err(wrong)?))
    };
    dict.iter().map(shape).collect()
}

fn known(
    py: Python<'_>,
    blocks: i64,
    shapes: Vec<(String, Vec<u64>)>,
    set: Option<&Bound<'_, PyDict>>,
) -> PyResult<Given> {
    Ok(Given { set: numbers(set)?, shapes, blocks: given::blocks(py, blocks)?, ..Given::default() })
}

/// The exception that `open` would raise.
fn file_error(path: &Path, error: &std::io::Error) -> PyErr {
    let text = error.to_string();
    let why = text.split(" (os error").next().unwrap_or(&text).to_string();
    PyOSError::new_err((error.raw_os_error(), why, path.display().to_string()))
}
