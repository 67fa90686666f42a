//! npy files: arrays of elements with a shape, as numpy reads and writes them.
//!
//! In memory an [`Array`] is always dense, row-major and little-endian; reading converts Fortran order and big-endian
//! files. A bad file is a sentence, never a panic and never an allocation beyond the file's own size. That, and the
//! element types that numpy has no name for (`V2`, `bfloat16`, fp8, fp4 packed two to a byte), is why it is written by
//! hand.
//!
//! ```
//! use tessera::npy::Array;
//!
//! let array = Array::new(&[2, 3], &[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
//! let read = Array::parse(&array.to_file())?;
//! assert_eq!(read.shape, [2, 3]);
//! assert_eq!(read.to_vec::<f32>()?[4], 5.0);
//! assert!(read.to_vec::<i32>().is_err());
//! # Ok::<(), tessera::Error>(())
//! ```

mod header;
mod values;

use crate::error::{Error, Result};
use crate::typed::element::{Element, pack, unpack};
use header::Header;
use std::io::Write;
use std::path::Path;
use tessera_isa::elem::{Elem, ElemKind};
pub use values::Float;
pub(crate) use values::Reader;

/// More dimensions than a conv tile with depth are not needed by anything.
pub const MAX_DIMS: usize = 6;
const MAGIC: &[u8] = b"\x93NUMPY";

/// A numpy element type: what the descriptor says besides the byte order.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Dtype {
    /// A kind character (`f`, `i`, `u`, `V`, …) and bytes per element, as in `<f4`.
    Kind(char, usize),
    /// A name of `ml_dtypes`, as in `bfloat16`.
    Named(String),
}

/// An array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// The element type.
    pub dtype: Dtype,
    /// The descriptor as written.
    pub descr: String,
    /// The extents.
    pub shape: Vec<u64>,
    /// The elements: row-major, little-endian.
    pub bytes: Vec<u8>,
}

impl Array {
    /// Elements in row-major order, as many as the shape has.
    pub fn new<T: Element>(shape: &[u64], elements: &[T]) -> Result<Array> {
        let count = shape.iter().try_fold(1u64, |n, d| n.checked_mul(*d));
        if count != Some(elements.len() as u64) {
            let what = format!("{} elements do not fill shape {}", elements.len(), shape_text(shape));
            return Err(Error::request(what).help("give as many elements as the extents multiply to"));
        }
        Ok(Array::of_elem(T::ELEM, shape.to_vec(), pack(elements)))
    }

    /// The elements in row-major order.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        match self.holds(T::ELEM) {
            true => Ok(unpack(&self.bytes)),
            false => Err(Error::request(format!("the array holds {}, and {} is asked for", self.descr, T::ELEM))
                .help(format!("{} can be read as {}", accepted(T::ELEM), T::ELEM))),
        }
    }

    /// Reads a file.
    pub fn read(file: impl AsRef<Path>) -> Result<Array> {
        let bytes = std::fs::read(&file).map_err(|e| about(file.as_ref(), &e.to_string()))?;
        Array::parse_owned(bytes).map_err(|e| about(file.as_ref(), e.message()))
    }

    /// Writes a file.
    pub fn write(&self, file: impl AsRef<Path>) -> Result<()> {
        let write = || {
            let mut to = std::fs::File::create(&file)?;
            to.write_all(&self.file_header())?;
            to.write_all(&self.bytes)
        };
        write().map_err(|e: std::io::Error| about(file.as_ref(), &e.to_string()))
    }

    /// Reads a file's bytes.
    pub fn parse(file: &[u8]) -> Result<Array> {
        let read = || {
            let (header, data) = split(file)?;
            let form = Form::of(header, data.len())?;
            Ok(form.array(data.to_vec()))
        };
        read().map_err(|what: String| Error::request(what))
    }

    /// The same; the elements stay in the memory that the file has.
    pub fn parse_owned(mut file: Vec<u8>) -> Result<Array> {
        let read = || {
            let (header, data) = split(&file)?;
            Ok((Form::of(header, data.len())?, file.len() - data.len()))
        };
        let (form, first) = read().map_err(|what: String| Error::request(what))?;
        file.drain(..first);
        Ok(form.array(file))
    }

    /// The array, moved out of this one, which is left without elements.
    pub(crate) fn take(&mut self) -> Array {
        let bytes = std::mem::take(&mut self.bytes);
        Array { bytes, ..self.clone() }
    }

    /// An array of an element type, with the descriptor that files are written with (syntax.md 4). The last extent of
    /// an fp4 array counts elements; the file's counts bytes.
    pub fn of_elem(elem: Elem, mut shape: Vec<u64>, bytes: Vec<u8>) -> Array {
        if let (true, Some(last)) = (elem.is_fp4(), shape.last_mut()) {
            *last = last.div_ceil(2);
        }
        let descr = elem.info().npy.to_string();
        let dtype = descriptor(&descr).map_or(Dtype::Kind('V', 1), |(dtype, _, _)| dtype);
        Array { dtype, descr, shape, bytes }
    }

    /// The file of the array.
    pub fn to_file(&self) -> Vec<u8> {
        [self.file_header().as_slice(), &self.bytes].concat()
    }

    /// The file of the array, in the memory that it has.
    pub fn into_file(mut self) -> Vec<u8> {
        let header = self.file_header();
        self.bytes.reserve_exact(header.len());
        self.bytes.splice(0..0, header);
        self.bytes
    }

    /// The bytes of a file before the elements.
    fn file_header(&self) -> Vec<u8> {
        let tuple = shape_text(&self.shape);
        let header = format!("{{'descr': '{}', 'fortran_order': False, 'shape': {tuple}, }}", self.descr);
        // Numpy aligns the data to 64 bytes; 10 bytes stand before the header and a newline ends it.
        let width = (10 + header.len() + 1).next_multiple_of(64) - 11;
        let header = format!("{header:<width$}\n");
        let len = (header.len() as u16).to_le_bytes();
        [MAGIC, &[1, 0], &len, header.as_bytes()].concat()
    }

    /// Whether the array holds elements of this type (syntax.md 4).
    pub fn holds(&self, elem: Elem) -> bool {
        let info = elem.info();
        match &self.dtype {
            Dtype::Named(name) => info.dtype_names.contains(&name.as_str()),
            Dtype::Kind(kind, width) => {
                let bytes = (elem.bits() as usize).div_ceil(8);
                let own = if has_numpy_type(elem) { kind_of(elem) } else { 'u' };
                *width == bytes && (*kind == own || *kind == 'V')
            }
        }
    }
}

/// The data layout that a header describes.
struct Form {
    header: Header,
    dtype: Dtype,
    width: usize,
    big_endian: bool,
}

impl Form {
    /// A header with this many bytes of data behind it.
    fn of(header: Header, len: usize) -> std::result::Result<Form, String> {
        let (dtype, width, big_endian) = descriptor(&header.descr)?;
        if header.shape.len() > MAX_DIMS {
            return Err(format!("it has {} dimensions, and at most {MAX_DIMS} are read", header.shape.len()));
        }
        let count = header.shape.iter().try_fold(1u64, |n, d| n.checked_mul(*d));
        let wanted = count.and_then(|n| n.checked_mul(width as u64));
        let shape = shape_text(&header.shape);
        let wanted = wanted.ok_or_else(|| format!("its shape {shape} is more than any file holds"))?;
        if len as u64 != wanted {
            let how = if (len as u64) < wanted { "is cut short" } else { "has bytes left over" };
            return Err(format!(
                "it {how}: shape {shape} of {} needs {wanted} bytes of data, and it has {len}",
                header.descr
            ));
        }
        Ok(Form { header, dtype, width, big_endian })
    }

    fn array(self, mut bytes: Vec<u8>) -> Array {
        let Form { header, dtype, width, big_endian } = self;
        if header.fortran_order {
            bytes = to_row_major(&bytes, &header.shape, width);
        }
        if big_endian && width > 1 {
            bytes.chunks_exact_mut(width).for_each(<[u8]>::reverse);
        }
        // The bytes are little-endian now, and a file written of them says so.
        Array { dtype, descr: header.descr.replacen('>', "<", 1), shape: header.shape, bytes }
    }
}

fn about(file: &Path, why: &str) -> Error {
    Error::request(format!("{}: {why}", file.display()))
}

/// The descriptors that a file of this element type may have, for messages.
pub fn accepted(elem: Elem) -> String {
    let info = elem.info();
    let bytes = elem.bits().div_ceil(8);
    let mut all = vec![info.npy.to_string()];
    if !has_numpy_type(elem) {
        all.push(format!("V{bytes}"));
        all.extend(info.dtype_names.iter().map(|n| n.to_string()));
    }
    all.join(", ")
}

/// The numpy expression that converts another array to this type.
pub fn cast(elem: Elem) -> String {
    let bits = elem.bits().next_multiple_of(8);
    match elem.info().dtype_names.first() {
        Some(name) if has_numpy_type(elem) => format!("cast it in numpy: a.astype(np.{name})"),
        Some(name) => format!("cast it in numpy: a.astype(ml_dtypes.{name}).view(np.uint{bits})"),
        None => "give its bits as np.uint8, two elements in a byte, the first one low".into(),
    }
}

/// A shape as numpy writes it.
pub fn shape_text(shape: &[u64]) -> String {
    match shape {
        [one] => format!("({one},)"),
        many => format!("({})", many.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")),
    }
}

fn has_numpy_type(elem: Elem) -> bool {
    !elem.is_float() || matches!(elem, Elem::F32 | Elem::F16)
}

fn kind_of(elem: Elem) -> char {
    match elem.kind() {
        ElemKind::Float => 'f',
        ElemKind::SignedInt => 'i',
        ElemKind::UnsignedInt => 'u',
    }
}

/// The header and the data of a file.
fn split(file: &[u8]) -> std::result::Result<(Header, &[u8]), String> {
    let rest = file.strip_prefix(MAGIC).ok_or("it is no npy file: it does not begin with \\x93NUMPY")?;
    let short = "it is cut short inside its header";
    let (&[major, _minor], rest) = rest.split_first_chunk().ok_or(short)?;
    let width = match major {
        1 => 2,
        2 | 3 => 4,
        other => return Err(format!("its npy version is {other}, and 1 to 3 are read")),
    };
    let (len, rest) = rest.split_at_checked(width).ok_or(short)?;
    let len = len.iter().rev().fold(0, |len, byte| len << 8 | usize::from(*byte));
    let (header, data) = rest.split_at_checked(len).ok_or(short)?;
    Ok((Header::parse(header)?, data))
}

/// The element type, its bytes and its byte order.
fn descriptor(descr: &str) -> std::result::Result<(Dtype, usize, bool), String> {
    if let Some(elem) = Elem::ALL.iter().find(|e| e.info().dtype_names.contains(&descr)) {
        return Ok((Dtype::Named(descr.into()), (elem.bits() as usize).div_ceil(8), false));
    }
    let big_endian = descr.starts_with('>');
    let bare = descr.strip_prefix(['<', '>', '|', '=']).unwrap_or(descr);
    let mut chars = bare.chars();
    let kind = chars.next();
    let width: Option<usize> = chars.as_str().parse().ok();
    match (kind, width) {
        (Some(kind @ ('f' | 'i' | 'u' | 'V' | 'b')), Some(width @ (1 | 2 | 4 | 8))) => {
            Ok((Dtype::Kind(kind, width), width, big_endian))
        }
        _ => {
            let shown: String = descr.chars().take(40).collect();
            Err(format!("its element type '{shown}' is none that tiles have"))
        }
    }
}

/// Elements in column-major order, reordered: the first index runs fastest in the file.
fn to_row_major(bytes: &[u8], shape: &[u64], width: usize) -> Vec<u8> {
    let dims: Vec<usize> = shape.iter().map(|d| *d as usize).collect();
    let mut strides = Vec::with_capacity(dims.len());
    let mut stride = width;
    for d in &dims {
        strides.push(stride);
        stride = stride.saturating_mul(*d);
    }
    let mut index = vec![0usize; dims.len()];
    let mut at = 0usize;
    let mut out = Vec::with_capacity(bytes.len());
    while out.len() < bytes.len() {
        out.extend_from_slice(bytes.get(at..at + width).unwrap_or(&[]));
        // The next index, the last one fastest; `at` follows.
        for ((i, d), s) in index.iter_mut().zip(&dims).zip(&strides).rev() {
            *i += 1;
            at += s;
            if *i < *d {
                break;
            }
            at -= *i * s;
            *i = 0;
        }
    }
    out
}
