//! What is wrong, as Python sees it: diagnostics as objects, and one exception.

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use tessera_cli::render::diagnostic::human;
use tessera_cli::source::Source;

pyo3::import_exception!(tessera._error, Error);

/// One finding: a rule, a sentence with the actual values, a place, a way out.
#[pyclass(frozen, get_all, eq, hash, module = "tessera")]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Diagnostic {
    /// The id of the broken rule, which `tessera.explain` knows.
    rule: String,
    /// `error`, `warning` or `note`.
    severity: String,
    /// One sentence with the actual values.
    message: String,
    /// The line of the program, counted from 1; None where the finding has no place.
    line: Option<usize>,
    /// The column, counted from 1 in characters.
    column: Option<usize>,
    /// The smallest change that helps, where one is known.
    help: Option<String>,
    /// Further facts, one sentence each.
    notes: Vec<String>,
    /// All of it as text, with the source line.
    rendered: String,
}

impl Diagnostic {
    pub fn new(found: &tessera::Diagnostic, source: Option<&Source>) -> Self {
        let at = source.zip(found.span).map(|(source, span)| source.position(source.clamp(span).start));
        let rendered = match source {
            Some(source) => human(found, source, false).trim_end().to_string(),
            None => plain(found),
        };
        Diagnostic {
            rule: found.rule.into(),
            severity: found.severity.name().into(),
            message: found.message.clone(),
            line: at.map(|p| p.line),
            column: at.map(|p| p.column),
            help: found.help.clone(),
            notes: found.notes.clone(),
            rendered,
        }
    }

    pub fn rendered(&self) -> &str {
        &self.rendered
    }

    /// All of some findings.
    pub fn all<'d>(
        found: impl IntoIterator<Item = &'d tessera::Diagnostic>,
        source: Option<&Source>,
    ) -> Vec<Diagnostic> {
        found.into_iter().map(|d| Diagnostic::new(d, source)).collect()
    }
}

/// A finding without a program around it.
fn plain(found: &tessera::Diagnostic) -> String {
    let mut text = format!("{}[{}]: {}", found.severity.name(), found.rule, found.message);
    for note in &found.notes {
        text.push_str(&format!("\n  note: {note}"));
    }
    if let Some(help) = &found.help {
        text.push_str(&format!("\n  help: {help}"));
    }
    text
}

#[pymethods]
impl Diagnostic {
    #[new]
    #[pyo3(signature = (rule, severity, message, line=None, column=None, help=None, notes=Vec::new(), rendered=String::new()))]
    #[allow(clippy::too_many_arguments, reason = "the fields")]
    fn py_new(
        rule: String,
        severity: String,
        message: String,
        line: Option<usize>,
        column: Option<usize>,
        help: Option<String>,
        notes: Vec<String>,
        rendered: String,
    ) -> Self {
        Diagnostic { rule, severity, message, line, column, help, notes, rendered }
    }

    /// Is it an error?
    #[getter]
    fn is_error(&self) -> bool {
        self.severity == "error"
    }

    fn __str__(&self) -> &str {
        &self.rendered
    }

    fn __repr__(&self) -> String {
        let place = match (self.line, self.column) {
            (Some(line), Some(column)) => format!(" at {line}:{column}"),
            _ => String::new(),
        };
        format!("<{} {}{place}: {}>", self.severity, self.rule, self.message)
    }

    fn _repr_html_(&self) -> String {
        crate::page::block(&self.rendered)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let d = self.clone();
        let fields = (d.rule, d.severity, d.message, d.line, d.column, d.help, d.notes, d.rendered);
        Ok((py.get_type::<Diagnostic>().into_any(), fields.into_pyobject(py)?))
    }
}

/// The exception of findings; the first one is what it is about.
pub fn raise_all(py: Python<'_>, found: Vec<Diagnostic>) -> PyErr {
    let text: Vec<&str> = found.iter().map(|d| d.rendered.as_str()).collect();
    let error = PyErr::new::<Error, _>(text.join("\n\n"));
    let rule = found.first().map(|d| d.rule.clone());
    let value = error.value(py);
    match value.setattr("rule", rule).and_then(|()| value.setattr("diagnostics", found)) {
        Ok(()) => error,
        Err(other) => other,
    }
}

/// An error of the library; the places are in the source.
pub fn raise(py: Python<'_>, error: &tessera::Error, source: Option<&Source>) -> PyErr {
    raise_all(py, Diagnostic::all(error.diagnostics(), source))
}

/// What was given does not exist or does not fit.
pub fn refuse(py: Python<'_>, message: impl Into<String>, help: impl Into<String>) -> PyErr {
    let found = tessera::Diagnostic::error("binding", message).help(help);
    raise_all(py, vec![Diagnostic::new(&found, None)])
}
