//! The instructions as functions, made of the rows of the table: arguments in C++ order, or by the names of their roles.

use crate::array::{as_numpy, elem_of, put, read};
use crate::error::{raise, refuse};
use crate::given::{number, word};
use crate::machine::Tile;
use numpy::PyUntypedArray;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyCFunction, PyDict, PyFloat, PyInt, PyString, PyTuple};
use std::ffi::CString;
use tessera::dynamic::{GlobalArg, Instruction};
use tessera::intrinsics::python::{Overload, argument, callable, gives_element, keywords, name, overloads};
use tessera::npy::cast;
use tessera::{AttrName, Attrs, Elem, Number, Opcode, Role, ViewTag};
use tessera_isa::diag::nearest;
use tessera_isa::inst::AttrValue;
use tessera_isa::ops::{AttrKind, Effect, Kind};

/// A name without case and underscores, so that `cmpMode` and `cmp_mode` are one.
fn plain(name: &str) -> String {
    name.chars().filter(|c| *c != '_').map(|c| c.to_ascii_lowercase()).collect()
}

/// What an argument is.
enum Given<'py> {
    Tile(PyRef<'py, Tile>),
    Number(Number),
    Array(Bound<'py, PyAny>),
}

impl<'py> Given<'py> {
    fn new(value: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(tile) = value.cast::<Tile>() {
            return Ok(Given::Tile(tile.try_borrow()?));
        }
        Ok(match number(value)? {
            Some(number) => Given::Number(number),
            None => Given::Array(value.clone()),
        })
    }

    fn plays(&self, role: Role) -> bool {
        match self {
            Given::Tile(_) => role.kind() == Kind::Tile && role != Role::Global,
            Given::Number(_) => role.kind() != Kind::Tile,
            Given::Array(_) => role == Role::Global,
        }
    }

    fn word(&self) -> String {
        match self {
            Given::Tile(_) => "a tile".into(),
            Given::Number(_) => "a number".into(),
            Given::Array(other) => other.get_type().name().map_or("an object".into(), |n| format!("{n}")),
        }
    }
}

/// An instruction with what Python knows of it.
#[derive(Debug)]
struct Function {
    op: Opcode,
    overloads: Vec<Overload>,
}

impl Function {
    fn call(&self, args: &Bound<'_, PyTuple>, keywords: Option<&Bound<'_, PyDict>>) -> PyResult<Py<PyAny>> {
        let py = args.py();
        let mut given: Vec<(Option<Role>, Given<'_>)> = Vec::with_capacity(8);
        for value in args.iter_borrowed() {
            given.push((None, Given::new(&value)?));
        }
        let mut attrs = Attrs::default();
        let mut tag = ViewTag::Nd;
        for (key, value) in keywords.into_iter().flat_map(|k| k.iter()) {
            let key: String = key.extract()?;
            match self.keyword(py, &key)? {
                Keyword::Role(role) => given.push((Some(role), Given::new(&value)?)),
                Keyword::Attr(name) => attrs.set(name, Some(attribute(name, &value)?)),
                Keyword::Tag => {
                    let all: Vec<&str> = ViewTag::ALL.iter().map(|t| t.name()).collect();
                    tag = word(py, "layout of a view", &value.extract::<String>()?, ViewTag::parse, &all)?;
                }
            }
        }
        let Some((overload, places)) = self.overloads.iter().find_map(|o| Some((o, places(o, &given)?))) else {
            return Err(self.no_overload(py, &given));
        };
        let mut inst = Instruction::new(self.op).attrs(attrs);
        let mut global = None;
        let elem = self.scalar_elem(overload, &places, &given);
        for (role, place) in overload.roles.iter().zip(&places) {
            match &given[*place].1 {
                Given::Tile(tile) => inst = inst.tile(*role, &tile.buf),
                Given::Number(value) => inst = inst.scalar(*role, scalar(*role, *value, elem)),
                Given::Array(array) => global = Some(array),
            }
        }
        let failed = |error| raise(py, &error, None);
        match global {
            None if gives_element(self.op) => return as_python(py, inst.get_number().map_err(failed)?),
            None => inst.issue().map(drop).map_err(failed)?,
            Some(array) => self.on_array(inst, overload, array, elem, tag)?,
        }
        Ok(py.None())
    }

    /// The element type that a number among the operands becomes: that of the source, else of the destination.
    fn scalar_elem(&self, overload: &Overload, places: &[usize], given: &[(Option<Role>, Given<'_>)]) -> Option<Elem> {
        let has_scalar = overload.roles.iter().any(|r| matches!(r.kind(), Kind::Fill) || *r == Role::Global);
        let of = |wanted: Role| {
            let at = overload.roles.iter().position(|r| *r == wanted)?;
            match &given[*places.get(at)?].1 {
                Given::Tile(tile) => tile.buf.tile_type().ok().map(|t| t.elem),
                _ => None,
            }
        };
        has_scalar.then(|| of(Role::Src).or_else(|| of(Role::Dst)).or_else(|| of(Role::Src0)))?
    }

    /// Issues the instruction on an array as global memory; what it stores is in the array afterwards.
    fn on_array(
        &self,
        inst: Instruction<'_>,
        overload: &Overload,
        data: &Bound<'_, PyAny>,
        elem: Option<Elem>,
        tag: ViewTag,
    ) -> PyResult<()> {
        let py = data.py();
        let stores = self.op.effect(overload.form, Role::Global) != Effect::Read;
        if stores && data.cast::<PyUntypedArray>().is_err() {
            let what =
                format!("{} stores into a numpy array, and {} is given", self.op.title(), data.get_type().name()?);
            return Err(refuse(py, what, "give an array that can be written"));
        }
        let array = as_numpy(data, elem)?;
        let (mut dense, is_unpacked) = read(&array)?;
        let Some(elem) = elem_of(&dense, elem).filter(|_| !is_unpacked) else {
            let what = format!("its elements are {}, which global memory does not have", dense.descr);
            let help = match (is_unpacked, elem) {
                (true, _) => "give fp4 packed, two elements in a byte, as np.uint8".to_string(),
                (false, Some(elem)) => cast(elem),
                (false, None) => "give an array of a type that tiles have, such as np.float32".to_string(),
            };
            return Err(refuse(py, what, help));
        };
        if let (true, Some(last)) = (elem.is_fp4(), dense.shape.last_mut()) {
            *last *= 2;
        }
        let mut strides = vec![1i64; dense.shape.len()];
        for n in (1..dense.shape.len()).rev() {
            strides[n - 1] = strides[n].saturating_mul(dense.shape[n] as i64);
        }
        let view = GlobalArg {
            elem,
            tag,
            dims: dense.shape.iter().map(|n| Some(*n)).collect(),
            strides: strides.into_iter().map(Some).collect(),
            offset: Some(0),
            buffer: None,
        };
        inst.issue_at(view, &mut dense.bytes).map_err(|error| raise(py, &error, None))?;
        if stores { put(&array, &dense.bytes) } else { Ok(()) }
    }

    fn keyword(&self, py: Python<'_>, name: &str) -> PyResult<Keyword> {
        let wanted = plain(name);
        let roles = || self.overloads.iter().flat_map(|o| &o.roles).copied();
        let is_role = |r: &Role| r.name() == name || plain(r.name()) == wanted || plain(r.cpp()) == wanted;
        if let Some(role) = roles().find(|r| r.name() == name).or_else(|| roles().find(is_role)) {
            return Ok(Keyword::Role(role));
        }
        let attrs = self.op.info().attrs;
        if name == AttrName::Layout.name() && roles().any(|r| r == Role::Global) {
            return Ok(Keyword::Tag);
        }
        if let Some(attr) = attrs.iter().find(|a| plain(a.name()) == wanted) {
            return Ok(Keyword::Attr(*attr));
        }
        let mut known: Vec<&str> = roles().map(|r| r.name()).chain(attrs.iter().map(|a| a.name())).collect();
        known.sort_unstable();
        known.dedup();
        let help = match nearest(name, known.iter().copied()) {
            Some(near) => format!("did you mean {near}?"),
            None => format!("it takes {}", known.join(", ")),
        };
        Err(refuse(py, format!("{} has no operand or attribute {name}", self.op.title()), help))
    }

    fn no_overload(&self, py: Python<'_>, given: &[(Option<Role>, Given<'_>)]) -> PyErr {
        let shown: Vec<String> = given
            .iter()
            .map(|(role, value)| match role {
                Some(role) => format!("{}={}", role.name(), value.word()),
                None => value.word(),
            })
            .collect();
        let what = format!("{} cannot be called with ({})", self.op.title(), shown.join(", "));
        let calls: Vec<String> = self.overloads.iter().map(|o| call_text(self.op, o)).collect();
        refuse(py, what, format!("call {}", calls.join(" or ")))
    }
}

enum Keyword {
    Role(Role),
    Attr(AttrName),
    /// The layout tag of a view.
    Tag,
}

/// For each role, the place of what is given for it; none where something does not fit.
fn places(overload: &Overload, given: &[(Option<Role>, Given<'_>)]) -> Option<Vec<usize>> {
    if given.len() != overload.roles.len() {
        return None;
    }
    let place = |(at, role): (usize, &Role)| {
        let named = given.iter().position(|(name, _)| *name == Some(*role));
        let here = given.get(at).filter(|(name, _)| name.is_none()).map(|_| at);
        named.xor(here).filter(|place| given[*place].1.plays(*role))
    };
    overload.roles.iter().enumerate().map(place).collect()
}

/// The call as text.
fn call_text(op: Opcode, overload: &Overload) -> String {
    let roles: Vec<&str> = overload.roles.iter().map(|r| argument(*r)).collect();
    format!("{}({})", name(op), roles.join(", "))
}

/// A number as the operand wants it: a tile of floats meets floats.
fn scalar(role: Role, value: Number, elem: Option<Elem>) -> Number {
    match value {
        Number::Int(v) if role.kind() == Kind::Fill && elem.is_some_and(Elem::is_float) => Number::Float(v as f64),
        other => other,
    }
}

/// The value of an attribute: a word, a number, a flag or a list.
fn attribute(name: AttrName, value: &Bound<'_, PyAny>) -> PyResult<AttrValue> {
    let py = value.py();
    let wrong = |kind: AttrKind| {
        let help = format!("give {}", kind.wanted());
        refuse(py, format!("{} cannot be {}", name.name(), value), help)
    };
    let kind = name.info().kind;
    match kind {
        AttrKind::Word { list, .. } => {
            let given = value.cast::<PyString>().map_err(|_| wrong(kind))?.to_string();
            let same = |w: &&str| w.eq_ignore_ascii_case(&given);
            let at = list.iter().position(|w| same(&w.name) || same(&w.cpp) || w.also.iter().any(same));
            at.and_then(|n| u8::try_from(n).ok()).map(AttrValue::Word).ok_or_else(|| wrong(kind))
        }
        AttrKind::Bool => match value.cast::<PyBool>() {
            Ok(flag) => Ok(AttrValue::Bool(flag.is_true())),
            Err(_) => Err(wrong(kind)),
        },
        AttrKind::Int(_) if value.is_instance_of::<PyInt>() => Ok(AttrValue::Int(value.extract()?)),
        AttrKind::Number if value.is_instance_of::<PyInt>() => Ok(AttrValue::Int(value.extract()?)),
        AttrKind::Number if value.is_instance_of::<PyFloat>() => {
            Ok(AttrValue::Float(value.extract::<f64>()?.to_bits()))
        }
        AttrKind::Ints(n) => {
            let list: Vec<i64> = value.extract().map_err(|_| wrong(kind))?;
            if list.len() != n {
                return Err(wrong(kind));
            }
            let mut all = [0; 4];
            all.iter_mut().zip(list).for_each(|(place, v)| *place = v);
            Ok(AttrValue::Ints(all))
        }
        _ => Err(wrong(kind)),
    }
}

fn as_python(py: Python<'_>, value: Number) -> PyResult<Py<PyAny>> {
    Ok(match value {
        Number::Int(v) => v.into_pyobject(py)?.into_any().unbind(),
        Number::Float(v) => v.into_pyobject(py)?.into_any().unbind(),
    })
}

/// The docstring: how it is called, and its page.
fn doc(op: Opcode) -> String {
    let overloads = overloads(op);
    let attrs: Vec<String> = keywords(op).iter().map(|a| format!("{}=None", a.name())).collect();
    let page = tessera_cli::commands::explain::explain(op.mnemonic()).unwrap_or_default();
    let calls: Vec<String> = overloads.iter().map(|o| call_text(op, o)).collect();
    match overloads.as_slice() {
        [one] => {
            let mut arguments: Vec<String> = one.roles.iter().map(|r| argument(*r).to_string()).collect();
            if !attrs.is_empty() {
                arguments.push("*".into());
                arguments.extend(attrs);
            }
            format!("{}({})\n--\n\n{page}", name(op), arguments.join(", "))
        }
        _ => format!("{}\n\n{page}", calls.join("\n")),
    }
}

/// The function of an instruction.
#[pyfunction]
#[pyo3(signature = (name) -> "Callable[..., Any] | None")]
pub fn instruction<'py>(py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyCFunction>>> {
    let Some(op) = callable().find(|op| self::name(*op) == name) else { return Ok(None) };
    // Functions of an extension live as long as the process, and so do their names; each is made once.
    let text =
        |text: String| -> PyResult<&'static std::ffi::CStr> { Ok(Box::leak(CString::new(text)?.into_boxed_c_str())) };
    let function = Function { op, overloads: overloads(op) };
    let call = move |args: &Bound<'_, PyTuple>, keywords: Option<&Bound<'_, PyDict>>| function.call(args, keywords);
    PyCFunction::new_closure(py, Some(text(self::name(op))?), Some(text(doc(op))?), call).map(Some)
}

/// The names of all functions.
#[pyfunction]
pub fn instructions() -> Vec<String> {
    callable().map(name).collect()
}
