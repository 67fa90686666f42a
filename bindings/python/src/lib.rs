//! `import tessera`: the library as a Python extension.
//!
//! Thin by intent: names and arrays come in, objects go out, and what a program or an instruction means is asked of
//! [`tessera`]. The functions of the instructions, their docstrings and their types are made of the instruction table.

mod array;
mod error;
mod given;
mod instruction;
mod machine;
mod page;
mod program;
mod ranks;
mod stop;
mod testing;
mod timeline;
mod views;

use pyo3::prelude::*;
use std::ffi::OsString;
use tessera::Elem;
use tessera_cli::commands::explain as pages;
use tessera_isa::diag;

/// The page of a name: an instruction, a rule, a type, a layout, a profile, an attribute, a topic.
#[pyfunction]
fn explain(py: Python<'_>, name: &str) -> PyResult<String> {
    pages::explain(name).ok_or_else(|| {
        let help = match diag::nearest(name.trim(), pages::names()) {
            Some(near) => format!("did you mean '{near}'?"),
            None => "`tessera explain` lists everything that can be explained".into(),
        };
        error::refuse(py, format!("nothing is called '{name}'"), help)
    })
}

/// The name that is meant by a misspelt one, if one is near.
#[pyfunction]
fn nearest(name: &str, names: Vec<String>) -> Option<String> {
    diag::nearest(name, names.iter().map(String::as_str)).map(String::from)
}

/// What numpy has for an element type: a native type for its bits, the name of its own, and whether two share a byte.
#[pyfunction]
fn element_type(py: Python<'_>, name: &str) -> PyResult<(&'static str, Option<&'static str>, bool)> {
    let all: Vec<&str> = Elem::ALL.iter().map(|e| e.name()).collect();
    let elem = given::word(py, "element type", name, Elem::parse, &all)?;
    let own = array::unpacked_name(elem).or(elem.info().dtype_names.first().copied());
    Ok((elem.info().npy, own, elem.is_fp4()))
}

/// The `tessera` command with the arguments of a process; gives its exit code.
#[pyfunction]
fn main(py: Python<'_>, args: Vec<OsString>) -> u8 {
    py.detach(|| tessera_cli::process::main(args))
}

// Arrays are read while the interpreter's lock is held, so a build without one takes the lock.
#[pymodule(gil_used = true)]
mod _tessera {
    #[pymodule_export]
    use crate::error::Diagnostic;
    #[pymodule_export]
    use crate::instruction::{instruction, instructions};
    #[pymodule_export]
    use crate::machine::{Layout, Machine, Tile};
    #[pymodule_export]
    use crate::program::Program;
    #[pymodule_export]
    use crate::testing::compare_kernel;
    #[pymodule_export]
    use crate::timeline::Timeline;
    #[pymodule_export]
    use crate::views::{Argument, Equivalence, Kernel, Plan, Races, Trace};
    #[pymodule_export]
    use crate::{element_type, explain, main, nearest};

    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "Python's name")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
