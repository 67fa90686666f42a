//! What Python gives by name: profiles, numbers, arrays for arguments.

use crate::array::{as_numpy, describe, pack, read, unpacked_name};
use crate::error::{Diagnostic, refuse};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString};
use tessera::fill::Fill;
use tessera::npy::Array;
use tessera::program::{Bindings, Input, Need};
use tessera::{Kernel, Literal, Number, Profile};
use tessera_isa::diag::nearest;

/// The most blocks that a kernel runs as, like the command.
const MAX_BLOCKS: u32 = 65536;

/// One of some words, in any case; else the nearest one is named.
pub fn word<T>(
    py: Python<'_>,
    what: &str,
    given: &str,
    parse: impl Fn(&str) -> Option<T>,
    all: &[&str],
) -> PyResult<T> {
    let found = parse(given).or_else(|| all.iter().find(|w| w.eq_ignore_ascii_case(given)).and_then(|w| parse(w)));
    found.ok_or_else(|| {
        let help = match nearest(given, all.iter().copied()) {
            Some(near) => format!("did you mean '{near}'?"),
            None => format!("there are {}", all.join(", ")),
        };
        refuse(py, format!("'{given}' is no {what}"), help)
    })
}

pub fn profile(py: Python<'_>, name: &str) -> PyResult<Profile> {
    let all: Vec<&str> = Profile::ALL.iter().map(|p| p.name()).collect();
    word(py, "profile", name, Profile::parse, &all)
}

pub fn blocks(py: Python<'_>, blocks: i64) -> PyResult<u32> {
    let inside = u32::try_from(blocks).ok().filter(|n| (1..=MAX_BLOCKS).contains(n));
    inside.ok_or_else(|| {
        refuse(py, format!("a kernel cannot run as {blocks} blocks"), format!("give a number from 1 to {MAX_BLOCKS}"))
    })
}

/// A number of Python or numpy, if it is one.
pub fn number(value: &Bound<'_, PyAny>) -> PyResult<Option<Number>> {
    if value.is_instance_of::<PyFloat>() {
        return Ok(Some(Number::Float(value.extract()?)));
    }
    if value.is_instance_of::<PyBool>() {
        return Ok(Some(Number::Int(value.extract::<bool>()?.into())));
    }
    if value.is_instance_of::<PyInt>() {
        let wide = |_| refuse(value.py(), format!("{value} has more than 128 bits"), "give a smaller number");
        return value.extract::<i128>().map(|v| Some(Number::Int(v))).map_err(wide);
    }
    // A numpy scalar, or an array with one element and no extents.
    let is_single = value.getattr("ndim").is_ok_and(|n| n.extract::<usize>().is_ok_and(|n| n == 0));
    match is_single {
        true => {
            let item = value.call_method0("item").or_else(|_| value.call_method0("__float__"))?;
            let is_plain = item.is_instance_of::<PyFloat>() || item.is_instance_of::<PyInt>();
            // ml_dtypes' numbers give themselves.
            let item = if is_plain { item } else { value.call_method0("__float__")? };
            number(&item)
        }
        false => Ok(None),
    }
}

/// A finding about what was given under a name.
pub fn about(py: Python<'_>, name: &str, error: &tessera::Error) -> PyErr {
    let mut first = error.diagnostic().clone();
    if first.rule == "binding" && first.message.starts_with("its ") {
        first.message = format!("{name}: {}", first.message);
    }
    crate::error::raise_all(py, vec![Diagnostic::new(&first, None)])
}

/// What is bound to an argument.
fn input(
    kernel: &Kernel,
    name: &str,
    given: &Bound<'_, PyAny>,
    bindings: &Bindings,
    rank: (u32, u32),
) -> PyResult<Input> {
    let py = given.py();
    let wrong = |error: tessera::Error| about(py, name, &error);
    let value = kernel.argument(name).map_err(wrong)?;
    if matches!(kernel.need(value), Need::Scalar(_)) {
        return match number(given)? {
            Some(number) => kernel.bind_number(value, Literal::Number(number)).map_err(wrong),
            None => {
                let what = format!("{name}: the argument is a scalar, and {} is given", given.get_type().name()?);
                Err(refuse(py, what, "give a number"))
            }
        };
    }
    if let Ok(text) = given.cast::<PyString>() {
        let text = text.to_string();
        let Some(fill) = Fill::parse(&text).map_err(wrong)? else {
            let help = "give an array, or one of 'random', 'random:SEED', 'iota', 'zeros', 'ones', 'value:V'";
            return Err(refuse(py, format!("{name}: '{text}' is no array"), help));
        };
        let extents = kernel.extents_on(&bindings.inputs, bindings.blocks, rank);
        return kernel.bind_fill(value, fill, None, &extents).map_err(wrong)?.ok_or_else(|| {
            refuse(py, format!("{name}: its extents are not known before the run"), "give an array that has them")
        });
    }
    let elem = kernel.elem(value);
    let numpy = as_numpy(given, elem)?;
    let bind = |(array, is_unpacked): (Array, bool)| {
        match elem {
            Some(elem) if is_unpacked && unpacked_name(elem) == Some(array.descr.as_str()) => {
                kernel.bind(value, &array.shape, pack(&array.bytes))
            }
            _ => kernel.bind_array(value, array),
        }
        .map_err(wrong)
    };
    // A few bytes may be spread over any extents, so those are looked at before anything is copied.
    bind(describe(&numpy)?)?;
    bind(read(&numpy)?)
}

/// The inputs of one of several ranks: its part of arrays whose first axis is the rank, and its number and theirs for the
/// words `"rank"` and `"ranks"`.
pub fn inputs_of_rank(
    kernel: &Kernel,
    blocks: u32,
    given: &[Option<&Bound<'_, PyDict>>],
    (rank, count): (usize, usize),
) -> PyResult<Bindings> {
    let mut all: Option<Bound<'_, PyDict>> = None;
    for (name, value) in given.iter().flatten().flat_map(|dict| dict.iter()) {
        let (py, text) = (value.py(), value.cast::<PyString>().ok().map(|t| t.to_string()));
        let argument = name.extract::<String>()?;
        let is_scalar = kernel.argument(&argument).is_ok_and(|v| matches!(kernel.need(v), Need::Scalar(_)));
        let own = match (text.as_deref(), is_scalar) {
            (Some("rank"), true) => rank.into_pyobject(py)?.into_any(),
            (Some("ranks"), true) => count.into_pyobject(py)?.into_any(),
            (Some(_), _) => value,
            (None, true) if number(&value)?.is_some() => value,
            (None, _) => {
                let first = value.len().unwrap_or(0);
                if first != count {
                    let what = format!("{argument}: its first axis has {first}, and there are {count} ranks");
                    return Err(refuse(py, what, "give an array whose first axis is the rank"));
                }
                value.get_item(rank)?
            }
        };
        all.get_or_insert_with(|| PyDict::new(py)).set_item(name, own)?;
    }
    inputs_on(kernel, blocks, [all.as_ref(), None], (rank as u32, count as u32))
}

/// Everything that is given, by name: a dictionary, and keyword arguments.
pub fn inputs(
    kernel: &Kernel,
    blocks: u32,
    inputs: Option<&Bound<'_, PyDict>>,
    more: Option<&Bound<'_, PyDict>>,
) -> PyResult<Bindings> {
    inputs_on(kernel, blocks, [inputs, more], (0, 1))
}

/// The same for one of several ranks: its number, and how many there are.
fn inputs_on(
    kernel: &Kernel,
    blocks: u32,
    given: [Option<&Bound<'_, PyDict>>; 2],
    rank: (u32, u32),
) -> PyResult<Bindings> {
    let mut bindings = Bindings { blocks, ..Bindings::default() };
    let all = || given.iter().flatten().flat_map(|all| all.iter());
    // What is made up has the extents that scalars decide, so those come first.
    let (fills, rest): (Vec<_>, Vec<_>) = all().partition(|(_, given)| given.is_instance_of::<PyString>());
    for (name, given) in rest.into_iter().chain(fills) {
        let (py, name) = (given.py(), name.extract::<String>()?);
        let input = input(kernel, &name, &given, &bindings, rank)?;
        let value = kernel.argument(&name).map_err(|e| about(py, &name, &e))?;
        bindings.add(kernel, value, input).map_err(|e| about(py, &name, &e))?;
    }
    Ok(bindings)
}

/// Numbers for scalars, by name.
pub fn numbers(all: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<(String, Literal)>> {
    let mut numbers = Vec::new();
    for (name, given) in all.into_iter().flat_map(|all| all.iter()) {
        let name: String = name.extract()?;
        let Some(value) = number(&given)? else {
            let what = format!("{name}: {} is no number, and no data is needed here", given.get_type().name()?);
            return Err(refuse(given.py(), what, "give numbers for scalars only"));
        };
        numbers.push((name.trim_start_matches('%').to_string(), Literal::Number(value)));
    }
    Ok(numbers)
}
