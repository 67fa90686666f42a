//! Between numpy and elements: dense bytes in, arrays out.
//!
//! What is read is copied once, whatever its strides and byte order, so that nothing the caller does later reaches a run;
//! what comes out is handed over without a copy.

use crate::error::refuse;
use numpy::{PyArray1, PyArrayDescrMethods, PyArrayDyn, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use tessera::Elem;
use tessera::npy::{Array, Dtype, accepted, cast};

/// Type numbers from here on are not numpy's own (`NPY_USERDEF`), such as those of ml_dtypes.
const USER_TYPES: i32 = 256;

/// The most bytes of an array that are copied.
const MOST: usize = 1 << 36;

/// The ml_dtypes name of a type that has one element in a byte there, and two here.
pub fn unpacked_name(elem: Elem) -> Option<&'static str> {
    (elem == Elem::F4e2m1x2).then_some("float4_e2m1fn")
}

/// The Python half of the conversions.
fn helper<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module = MODULE.get_or_try_init(py, || py.import("tessera._arrays").map(Bound::unbind))?;
    module.bind(py).getattr(name)
}

/// What somebody gives as an array: numpy's own, or made one of. `elem` is what it is for.
pub fn as_numpy<'py>(data: &Bound<'py, PyAny>, elem: Option<Elem>) -> PyResult<Bound<'py, PyUntypedArray>> {
    if let Ok(array) = data.cast::<PyUntypedArray>() {
        return Ok(array.clone());
    }
    let made = helper(data.py(), "as_numpy")?.call1((data, elem.map(Elem::name)))?;
    Ok(made.cast_into::<PyUntypedArray>()?)
}

/// An array with how its elements are read: bytes of it can be taken and put.
struct Strided<'a> {
    data: *mut u8,
    shape: &'a [usize],
    strides: &'a [isize],
    width: usize,
    /// Are the bytes of an element in the other order?
    swapped: bool,
}

impl Strided<'_> {
    /// Calls with each element's place in the array and in dense bytes.
    fn walk(&self, f: &mut dyn FnMut(*mut u8, usize)) {
        self.walk_from(self.data, 0, &mut 0, f);
    }

    fn walk_from(&self, at: *mut u8, depth: usize, dense: &mut usize, f: &mut dyn FnMut(*mut u8, usize)) {
        let (Some(extent), Some(stride)) = (self.shape.get(depth), self.strides.get(depth)) else {
            f(at, *dense);
            *dense += self.width;
            return;
        };
        for n in 0..*extent {
            self.walk_from(at.wrapping_offset(stride.wrapping_mul(n as isize)), depth + 1, dense, f);
        }
    }
}

fn strided<'a>(array: &'a Bound<'_, PyUntypedArray>) -> Strided<'a> {
    let dtype = array.dtype();
    // SAFETY: it is an array, and of its element type only the pointer to the first one is asked.
    let data = unsafe { array.cast_unchecked::<PyArrayDyn<u8>>() }.data();
    let is_big = dtype.byteorder() == b'>' || cfg!(target_endian = "big") && dtype.byteorder() == b'=';
    let width = dtype.itemsize();
    Strided { data, shape: array.shape(), strides: array.strides(), width, swapped: is_big && width > 1 }
}

/// The elements, dense and little-endian. An array of few bytes may have any extents, so the memory may not be there.
fn bytes(array: &Bound<'_, PyUntypedArray>) -> PyResult<Vec<u8>> {
    let view = strided(array);
    let extents = array.shape().iter().try_fold(view.width, |n, extent| n.checked_mul(*extent));
    let mut dense: Vec<u8> = Vec::new();
    let Some(len) = extents.filter(|len| *len <= MOST && dense.try_reserve_exact(*len).is_ok()) else {
        let what = format!("its shape is {:?}, and its elements do not fit into memory", array.shape());
        return Err(refuse(array.py(), what, "give a smaller array"));
    };
    if len == 0 {
        return Ok(dense);
    }
    if array.is_c_contiguous() && !view.swapped {
        // SAFETY: a contiguous array has its elements one after the other behind its pointer. numpy lets other threads
        // of the program write them meanwhile, as in its own functions; this one holds the interpreter.
        dense.extend_from_slice(unsafe { std::slice::from_raw_parts(view.data, len) });
        return Ok(dense);
    }
    dense.resize(len, 0);
    view.walk(&mut |at, n| {
        let Some(element) = dense.get_mut(n..n + view.width) else { return };
        // SAFETY: numpy vouches that every index within the shape lies in the array's memory.
        unsafe { std::ptr::copy_nonoverlapping(at, element.as_mut_ptr(), view.width) };
        if view.swapped {
            element.reverse();
        }
    });
    Ok(dense)
}

/// Puts dense little-endian elements into an array of the caller's, which may be written.
pub fn put(array: &Bound<'_, PyUntypedArray>, dense: &[u8]) -> PyResult<()> {
    let py = array.py();
    if !array.getattr(intern!(py, "flags"))?.getattr(intern!(py, "writeable"))?.extract::<bool>()? {
        return Err(refuse(py, "the array that is stored into is read-only", "give one that can be written"));
    }
    let view = strided(array);
    view.walk(&mut |at, n| {
        let Some(element) = dense.get(n..n + view.width) else { return };
        for (k, byte) in element.iter().enumerate() {
            let k = if view.swapped { view.width - 1 - k } else { k };
            // SAFETY: as above, and the array may be written.
            unsafe { *at.wrapping_add(k) = *byte };
        }
    });
    Ok(())
}

/// The array with its elements copied; whether its elements are fp4, one in a byte.
pub fn read(array: &Bound<'_, PyUntypedArray>) -> PyResult<(Array, bool)> {
    let (described, is_unpacked) = describe(array)?;
    Ok((Array { bytes: bytes(array)?, ..described }, is_unpacked))
}

/// The same without elements: what can be refused before they are copied.
pub fn describe(array: &Bound<'_, PyUntypedArray>) -> PyResult<(Array, bool)> {
    let py = array.py();
    let dtype = array.dtype();
    let name: String = dtype.getattr(intern!(py, "name"))?.extract()?;
    let kind = char::from(dtype.kind());
    let own = match dtype.num() {
        n if n >= USER_TYPES => Dtype::Named(name.clone()),
        _ => Dtype::Kind(kind, dtype.itemsize()),
    };
    let is_unpacked = Elem::ALL.iter().any(|e| unpacked_name(*e) == Some(name.as_str()));
    let is_known = match &own {
        Dtype::Kind(..) => matches!(kind, 'f' | 'i' | 'u' | 'b' | 'V') && dtype.itemsize() <= 8,
        _ => is_unpacked || Elem::ALL.iter().any(|e| e.info().dtype_names.contains(&name.as_str())),
    };
    if !is_known {
        let what = format!("its element type {name} is none that tiles have");
        return Err(refuse(py, what, "cast it in numpy: a.astype(np.float32), for one"));
    }
    let shape = array.shape().iter().map(|n| *n as u64).collect();
    Ok((Array { dtype: own, descr: name, shape, bytes: Vec::new() }, is_unpacked))
}

/// Two elements in a byte, the first one low.
pub fn pack(one_in_a_byte: &[u8]) -> Vec<u8> {
    let pair = |pair: &[u8]| pair.iter().rev().fold(0, |byte, element| byte << 4 | element & 15);
    one_in_a_byte.chunks(2).map(pair).collect()
}

/// The packed elements that an array is for tiles and memory of an element type, and its shape in elements.
pub fn elements(data: &Bound<'_, PyAny>, elem: Elem) -> PyResult<(Vec<u64>, Vec<u8>)> {
    let (array, is_unpacked) = read(&as_numpy(data, Some(elem))?)?;
    if is_unpacked && unpacked_name(elem) == Some(array.descr.as_str()) {
        return Ok((array.shape, pack(&array.bytes)));
    }
    if !array.holds(elem) {
        let what = format!("its elements are {}, and {elem} ({}) is wanted", array.descr, accepted(elem));
        return Err(refuse(data.py(), what, cast(elem)));
    }
    let mut shape = array.shape;
    if let (true, Some(last)) = (elem.is_fp4(), shape.last_mut()) {
        *last *= 2;
    }
    Ok((shape, array.bytes))
}

/// The element type that an array has, the wanted one where it can be that.
pub fn elem_of(array: &Array, wanted: Option<Elem>) -> Option<Elem> {
    wanted.filter(|e| array.holds(*e)).or_else(|| Elem::ALL.iter().copied().find(|e| array.holds(*e)))
}

/// Packed elements as a numpy array of this shape, in elements.
pub fn to_numpy<'py>(py: Python<'py>, elem: Elem, shape: &[u64], packed: Vec<u8>) -> PyResult<Bound<'py, PyAny>> {
    let flat = PyArray1::from_vec(py, packed);
    let native = elem.info().npy;
    let name = unpacked_name(elem).or(elem.info().dtype_names.first().copied());
    helper(py, "from_bytes")?.call1((flat, native, name, shape.to_vec(), elem.is_fp4()))
}

/// The element type of the arrays that [`to_numpy`] makes.
pub fn dtype(py: Python<'_>, elem: Elem) -> PyResult<Bound<'_, PyAny>> {
    helper(py, "dtype")?.call1((elem.name(),))
}

/// The array, with what is undefined as the caller asks: masked, zero, or refused.
pub fn with_undefined<'py>(
    array: Bound<'py, PyAny>,
    defined: Bound<'py, PyAny>,
    undefined: &str,
) -> PyResult<Bound<'py, PyAny>> {
    helper(array.py(), "with_undefined")?.call1((array, defined, undefined))
}

/// An array of the library, whose fp4 rows count bytes, in numpy.
pub fn array_to_numpy<'py>(py: Python<'py>, elem: Elem, array: Array) -> PyResult<Bound<'py, PyAny>> {
    let mut shape = array.shape;
    if let (true, Some(last)) = (elem.is_fp4(), shape.last_mut()) {
        *last *= 2;
    }
    to_numpy(py, elem, &shape, array.bytes)
}
