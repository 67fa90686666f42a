//! `Machine` and its tiles.

use crate::array::{as_numpy, dtype, elements, to_numpy, with_undefined};
use crate::error::{Diagnostic, raise, refuse};
use crate::given::{self, number, word};
use crate::page::block;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyEllipsis, PySlice, PyString, PyTuple};
use tessera::dynamic::TileData;
use tessera::npy::shape_text;
use tessera::program::tile_shape;
use tessera::{Compact, Elem, Extent, Loc, Pad, PadLiteral, TileBuf, TileType};
use tessera_cli::render::{grid, tile as picture};
use tessera_ir::Type;
use tessera_isa::tile::{BLayout, LayoutName, SLayout, Tile as TileOnProfile};

/// A simulated core of a profile: its memories, and the tiles in them.
///
/// >>> import tessera
/// >>> m = tessera.Machine("a5")
/// >>> a = m.tile("vec", "f32", (16, 64), valid=(16, 60))
/// >>> a
/// <Tile vec 16x64xf32 ND valid 16x60 on a5>
#[pyclass(frozen, module = "tessera")]
pub struct Machine(tessera::Machine);

fn wrong(py: Python<'_>) -> impl Fn(tessera::Error) -> PyErr {
    move |error| raise(py, &error, None)
}

/// An element type: its name here or in numpy, or a dtype.
fn elem(given: &Bound<'_, PyAny>) -> PyResult<Elem> {
    let py = given.py();
    let name =
        match given.cast::<PyString>() {
            Ok(name) => name.to_string(),
            // A dtype has a name, a scalar type of numpy a __name__.
            Err(_) => given.getattr("name").or_else(|_| given.getattr("__name__")).and_then(|n| n.extract()).map_err(
                |_| refuse(py, format!("{given} is no element type"), "give a name such as 'f32', or a numpy dtype"),
            )?,
        };
    let by_numpy = |word: &str| Elem::ALL.iter().copied().find(|e| e.info().dtype_names.contains(&word));
    let all: Vec<&str> = Elem::ALL.iter().map(|e| e.name()).collect();
    word(py, "element type", &name, |w| Elem::parse(w).or_else(|| by_numpy(w)), &all)
}

/// A tile type as text has it.
fn written(py: Python<'_>, text: &str) -> PyResult<TileType> {
    let full = if text.trim_start().starts_with('!') { text.to_string() } else { format!("!pto.tile<{text}>") };
    let help = "write one such as '!pto.tile<16x32xf16>', or give location, element type and shape";
    match tessera_asm::parse_type(&full) {
        Ok(Type::Tile(tile)) => Ok(tile),
        Ok(_) => Err(refuse(py, format!("'{text}' is no tile type"), help)),
        Err(found) => {
            Err(refuse(py, format!("'{text}' is no tile type: {}", found.message), found.help.unwrap_or(help.into())))
        }
    }
}

fn pad(given: &Bound<'_, PyAny>) -> PyResult<Pad> {
    let py = given.py();
    if let Some(number) = number(given)? {
        return Ok(Pad::Custom(match number {
            tessera::Number::Int(v) => PadLiteral::Int(
                i64::try_from(v)
                    .map_err(|_| refuse(py, format!("{v} is no pad value"), "give a number of the element type"))?,
            ),
            tessera::Number::Float(v) => PadLiteral::Float(v.to_bits()),
        }));
    }
    let parse = |word: &str| match word {
        "null" => Some(Pad::Null),
        "zero" => Some(Pad::Zero),
        "max" => Some(Pad::Max),
        "min" => Some(Pad::Min),
        _ => None,
    };
    word(py, "pad value", &given.extract::<String>()?, parse, &["null", "zero", "max", "min"])
}

/// Rows and columns, if they are given.
fn pair(given: &Bound<'_, PyAny>) -> PyResult<Option<(u64, u64)>> {
    if given.is_none() {
        return Ok(None);
    }
    let pair: PyResult<Vec<u64>> = given.try_iter().and_then(|all| all.map(|n| n?.extract()).collect());
    match pair.as_deref() {
        Ok([rows, cols]) => Ok(Some((*rows, *cols))),
        _ => Err(no_pair(given.py(), given)),
    }
}

fn no_pair(py: Python<'_>, given: impl std::fmt::Display) -> PyErr {
    refuse(py, format!("{given} is no number of rows and of columns"), "give two, such as (16, 64)")
}

#[pymethods]
impl Machine {
    #[new]
    #[pyo3(signature = (profile="cpu"))]
    fn py_new(py: Python<'_>, profile: &str) -> PyResult<Self> {
        Ok(Machine(tessera::Machine::new(given::profile(py, profile)?)))
    }

    /// The profile.
    #[getter]
    fn profile(&self) -> &'static str {
        self.0.profile().name()
    }

    /// A new tile, whose contents are undefined: location, element type and shape, or a type as text has it alone.
    ///
    /// `layout` is a name (`ND`, `DN`, `NZ`, `ZN`, `ZZ`, `NN`; left out: the location's usual one), `valid` the valid
    /// region (left out: all of it), which can be changed later.
    #[pyo3(signature = (loc, elem=None, shape=None, *, valid=None, layout=None, fractal=None, pad=None, compact=None, address=None))]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments")]
    fn tile(
        &self,
        py: Python<'_>,
        loc: &str,
        elem: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = pair)] shape: Option<(u64, u64)>,
        #[pyo3(from_py_with = pair)] valid: Option<(u64, u64)>,
        layout: Option<&str>,
        fractal: Option<u32>,
        pad: Option<&Bound<'_, PyAny>>,
        compact: Option<&str>,
        address: Option<u64>,
    ) -> PyResult<Tile> {
        let mut ty = match (elem, shape) {
            (Some(elem), Some((rows, cols))) => {
                let all: Vec<&str> = Loc::ALL.iter().map(|l| l.name()).collect();
                // The unified buffer has the name of its memory too, as in text.
                let loc = if loc == "ub" { Loc::Vec.name() } else { loc };
                TileType::new(word(py, "location", loc, Loc::parse, &all)?, self::elem(elem)?, rows, cols)
            }
            (None, None) => written(py, loc)?,
            _ => return Err(PyTypeError::new_err("a tile takes location, element type and shape, or a type as text")),
        };
        if let Some(layout) = layout {
            let all: Vec<&str> = LayoutName::ALL.iter().map(|l| l.name()).collect();
            (ty.blayout, ty.slayout) = orders(word(py, "layout", layout, LayoutName::parse, &all)?);
        }
        ty.fractal = fractal.or(ty.fractal);
        if let Some(pad) = pad {
            ty.pad = self::pad(pad)?;
        }
        if let Some(compact) = compact {
            let all: Vec<&str> = Compact::ALL.iter().map(|c| c.name()).collect();
            ty.compact = word(py, "compact mode", compact, Compact::parse, &all)?;
        }
        // The region can be changed later, so it is no part of the type, unless text says so.
        if elem.is_some() {
            (ty.v_row, ty.v_col) = (Extent::Dynamic, Extent::Dynamic);
        }
        let mut buf = self.0.alloc(&ty).map_err(wrong(py))?;
        let dynamic = ty.v_row == Extent::Dynamic || ty.v_col == Extent::Dynamic;
        if let Some((rows, cols)) = valid.or(dynamic.then_some((ty.rows, ty.cols))) {
            buf.set_valid(rows as usize, cols as usize).map_err(wrong(py))?;
        }
        if let Some(address) = address {
            buf.assign(address).map_err(wrong(py))?;
        }
        Ok(Tile { buf, conv: None })
    }

    /// A new conv tile in L1: NC1HWC0 with five extents, NDC1HWC0 with six.
    fn conv_tile(&self, py: Python<'_>, elem: &Bound<'_, PyAny>, shape: Vec<usize>) -> PyResult<Tile> {
        let (buf, conv) = self.0.alloc_conv(self::elem(elem)?, &shape).map_err(wrong(py))?;
        Ok(Tile { buf, conv: Some(conv.written_dims().to_vec()) })
    }

    /// The warnings since the last call.
    fn take_warnings(&self) -> Vec<Diagnostic> {
        Diagnostic::all(&self.0.take_warnings(), None)
    }

    fn __repr__(&self) -> String {
        format!("<Machine {}>", self.0.profile())
    }
}

fn orders(layout: LayoutName) -> (Option<BLayout>, Option<SLayout>) {
    let all = BLayout::ALL.iter().flat_map(|b| SLayout::ALL.iter().map(|s| (*b, *s)));
    let found = all.into_iter().find(|(b, s)| LayoutName::of(*b, *s) == layout);
    (found.map(|f| f.0), found.map(|f| f.1))
}

/// Which elements of a tile's contents were written: an array of bools.
fn is_defined<'py>(py: Python<'py>, data: &TileData) -> PyResult<Bound<'py, PyAny>> {
    let shape = tile_shape(data);
    let count: u64 = shape.iter().product();
    let bits = u64::from(data.elem.bits());
    let is_defined = |n: u64| {
        let bytes = (n * bits / 8) as usize..((n + 1) * bits).div_ceil(8) as usize;
        data.defined.get(bytes).is_some_and(|bytes| bytes.iter().all(|b| *b == 0xFF))
    };
    let flags: Vec<bool> = (0..count).map(is_defined).collect();
    numpy::PyArray1::from_vec(py, flags).call_method1("reshape", (shape,))
}

/// A tile on a machine. `tile[:] = array` writes its valid region, `tile.numpy()` reads it.
#[pyclass(module = "tessera")]
pub struct Tile {
    pub buf: TileBuf,
    /// The extents of a conv tile.
    conv: Option<Vec<u64>>,
}

impl Tile {
    fn ty(&self, py: Python<'_>) -> PyResult<TileOnProfile> {
        self.buf.tile_type().map_err(wrong(py))
    }

    /// The type with the valid region as it is now.
    fn now(&self, py: Python<'_>) -> PyResult<TileOnProfile> {
        let mut ty = self.ty(py)?;
        if let Ok((rows, cols)) = self.buf.valid() {
            (ty.v_row, ty.v_col) = (Extent::Static(rows as u64), Extent::Static(cols as u64));
        }
        Ok(ty)
    }

    fn data(&self, py: Python<'_>) -> PyResult<TileData> {
        self.buf.data().map_err(wrong(py))
    }

    fn elem_of(&self, py: Python<'_>) -> PyResult<Elem> {
        Ok(self.ty(py)?.elem)
    }

    /// The extents that arrays of its contents have.
    fn extents(&self, py: Python<'_>) -> PyResult<Vec<u64>> {
        match &self.conv {
            Some(dims) => Ok(dims.clone()),
            None => self.buf.valid().map(|(rows, cols)| vec![rows as u64, cols as u64]).map_err(wrong(py)),
        }
    }

    fn write(&mut self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let (elem, wanted) = (self.elem_of(py)?, self.extents(py)?);
        let mut value = value.clone();
        if number(&value)?.is_some() {
            // One number fills all of it.
            let array = as_numpy(&vec![&value].into_pyobject(py)?, Some(elem))?;
            value = py.import("numpy")?.call_method1("broadcast_to", (array, wanted.clone()))?;
        }
        let (shape, packed) = elements(&value, elem)?;
        if shape != wanted {
            let (is, takes) = (shape_text(&shape), shape_text(&wanted));
            let what = format!("its shape is {is}, and the valid region of {} is {takes}", self.now(py)?);
            return Err(refuse(py, what, format!("give an array of shape {takes}")));
        }
        match self.conv {
            Some(_) => self.buf.write_raw(&packed),
            None => self.buf.write_elements(shape.iter().product(), &packed),
        }
        .map_err(wrong(py))
    }
}

#[pymethods]
impl Tile {
    /// The location.
    #[getter]
    fn loc(&self, py: Python<'_>) -> PyResult<&'static str> {
        Ok(self.ty(py)?.loc.name())
    }

    /// The element type.
    #[getter]
    fn elem(&self, py: Python<'_>) -> PyResult<&'static str> {
        Ok(self.elem_of(py)?.name())
    }

    /// The numpy type of the arrays of its contents.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        dtype(py, self.elem_of(py)?)
    }

    /// The declared extents.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        match &self.conv {
            Some(dims) => PyTuple::new(py, dims),
            None => self.ty(py).and_then(|ty| PyTuple::new(py, [ty.rows, ty.cols])),
        }
    }

    /// The profile of the tile's machine.
    #[getter]
    fn profile(&self) -> &'static str {
        self.buf.machine().profile().name()
    }

    /// Valid rows and columns; they can be set.
    #[getter]
    fn valid(&self, py: Python<'_>) -> PyResult<(usize, usize)> {
        self.buf.valid().map_err(wrong(py))
    }

    #[setter]
    fn set_valid(&mut self, py: Python<'_>, #[pyo3(from_py_with = pair)] valid: Option<(u64, u64)>) -> PyResult<()> {
        let (rows, cols) = valid.ok_or_else(|| no_pair(py, "None"))?;
        self.buf.set_valid(rows as usize, cols as usize).map_err(wrong(py))
    }

    /// Where the elements lie in memory; it draws itself.
    #[getter]
    fn layout(&self, py: Python<'_>) -> PyResult<Layout> {
        Ok(Layout { tile: self.now(py)?, profile: self.profile() })
    }

    /// TASSIGN: binds the tile to a byte address of its memory; moves no data.
    fn assign(&mut self, py: Python<'_>, address: u64) -> PyResult<()> {
        self.buf.assign(address).map_err(wrong(py))
    }

    /// The valid region as a new array. `core` is a vector core, 0 or 1.
    ///
    /// Elements that nothing has written: `undefined="mask"` masks them (a `numpy.ma.MaskedArray`, if there are any),
    /// `"raise"` refuses them, `"zero"` gives 0.
    #[pyo3(signature = (core=0, *, undefined="mask") -> "ndarray[Any, Any]")]
    fn numpy<'py>(&self, py: Python<'py>, core: u8, undefined: &str) -> PyResult<Bound<'py, PyAny>> {
        let data = self.buf.data_on(core).map_err(wrong(py))?;
        let defined = is_defined(py, &data)?;
        with_undefined(to_numpy(py, data.elem, &tile_shape(&data), data.elements)?, defined, undefined)
    }

    /// Which elements of the valid region were written: an array of bools.
    #[getter]
    fn defined<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        is_defined(py, &self.data(py)?)
    }

    /// The declared bytes as they lie in memory; undefined ones are 0.
    #[getter]
    fn raw<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.data(py)?.raw))
    }

    fn __getitem__<'py>(&self, py: Python<'py>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.numpy(py, 0, "mask")?.get_item(key)
    }

    fn __setitem__(&mut self, py: Python<'_>, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let is_all = key.is_instance_of::<PyEllipsis>() || key.eq(PySlice::full(py))?;
        if is_all {
            return self.write(py, value);
        }
        if !self.defined(py)?.call_method0("all")?.is_truthy()? {
            let what = "a part of a tile cannot be written while elements of its valid region are undefined";
            return Err(refuse(py, what, "write all of it first: tile[:] = 0"));
        }
        let array = self.numpy(py, 0, "raise")?;
        array.set_item(key, value)?;
        self.write(py, &array)
    }

    #[pyo3(signature = (dtype=None, copy=None) -> "ndarray[Any, Any]")]
    fn __array__<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<&Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        // numpy drops the mask of an array that it makes plain.
        let array = self.numpy(py, 0, "raise")?;
        match (dtype, copy) {
            (_, Some(false)) => Err(refuse(py, "the contents of a tile are copied", "leave copy=False out")),
            (Some(dtype), _) => array.call_method1("astype", (dtype,)),
            (None, _) => Ok(array),
        }
    }

    fn __str__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("{}\n{}", self.now(py)?, self.numpy(py, 0, "mask")?.str()?))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(match &self.conv {
            Some(dims) => format!("<Tile conv {}x{} on {}>", shape_text(dims), self.elem(py)?, self.profile()),
            None => format!("<Tile {} on {}>", self.now(py)?, self.profile()),
        })
    }

    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        self.__str__(py).map(|text| block(&text))
    }
}

/// Where the elements of a tile lie in memory.
#[pyclass(frozen, module = "tessera")]
pub struct Layout {
    tile: TileOnProfile,
    profile: &'static str,
}

#[pymethods]
impl Layout {
    /// `ND`, `DN`, `NZ`, `ZN`, `ZZ` or `NN`.
    #[getter]
    fn name(&self) -> &'static str {
        self.tile.layout_name().name()
    }

    /// The picture.
    #[getter]
    fn svg(&self) -> String {
        picture::draw(&self.tile, &self.title())
    }

    /// Bytes of the declared area.
    #[getter]
    fn bytes(&self) -> u64 {
        self.tile.bytes()
    }

    fn _repr_svg_(&self) -> String {
        self.svg()
    }

    fn __str__(&self) -> String {
        let mut text = format!("{}\n\n{}\n", self.title(), grid::draw(&self.tile, 24, tessera_cli::render::width()));
        for (key, about) in grid::legend(&self.tile, "· marks padding") {
            text.push_str(&format!("  {key:<10} {about}\n"));
        }
        text
    }

    fn __repr__(&self) -> String {
        format!("<Layout of {}>", self.title())
    }
}

impl Layout {
    fn title(&self) -> String {
        format!("{} on {}", self.tile, self.profile)
    }
}
