//! The inputs of a kernel, by name: contents, extents, numbers.

use super::{Bindings, Input, Kernel, Literal, Need};
use crate::fill::Fill;
use crate::npy::Array;
use crate::{Error, Number, Result};
use tessera_ir::ValueId;

/// The initial contents of an argument, or of an input of a listing.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum From {
    /// An array of its type.
    Array(Array),
    /// An array whose numbers are rounded to its type.
    Cast(Array),
    /// Contents that are made up.
    Fill(Fill),
    /// The declared bytes of a tile, as they lie in memory.
    Raw(Vec<u8>),
}

/// Contents with a name.
#[derive(Clone, Debug)]
pub struct Content {
    /// The argument, with or without `%`.
    pub name: String,
    /// The name of the contents in messages, such as a file.
    pub label: String,
    /// The contents.
    pub from: From,
}

/// Inputs besides contents (isa/structure.md 3).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Setting {
    /// A scalar.
    Value(Literal),
    /// The `?` extents of a tile.
    Valid([u64; 2]),
    /// The `?` strides of a memref.
    Strides(Vec<i64>),
    /// The `?` offset of a memref.
    Offset(i64),
    /// The number of the rank (isa/comm.md 2).
    Rank,
    /// The number of ranks.
    Ranks,
}

/// All of it.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// Contents.
    pub contents: Vec<Content>,
    /// Extents of what is made up; memory that has extents and no contents begins as zeros.
    pub shapes: Vec<(String, Vec<u64>)>,
    /// Numbers.
    pub set: Vec<(String, Setting)>,
    /// The rank, and the number of ranks; 0 is one.
    pub rank: (u32, u32),
}

/// Why something cannot be bound.
#[derive(Debug)]
pub struct InputError {
    /// The contents that it is about.
    pub label: Option<String>,
    /// The error.
    pub error: Error,
}

impl std::convert::From<Error> for InputError {
    fn from(error: Error) -> Self {
        InputError { label: None, error }
    }
}

impl InputError {
    fn about(label: &str, error: Error) -> InputError {
        InputError { label: Some(label.to_string()), error }
    }
}

impl Inputs {
    /// With an array for an argument.
    #[must_use]
    pub fn array(mut self, name: &str, array: Array) -> Inputs {
        let (name, label) = (name.to_string(), name.to_string());
        self.contents.push(Content { name, label, from: From::Array(array) });
        self
    }

    fn content(&self, name: &str) -> Option<&Content> {
        self.contents.iter().find(|c| bare(&c.name) == bare(name))
    }

    /// The extents that an argument is given.
    fn shape(&self, name: &str) -> Option<Vec<u64>> {
        let shape = self.shapes.iter().find(|(n, _)| bare(n) == name).map(|(_, dims)| dims.clone());
        let valid = |(n, setting): &(String, Setting)| match setting {
            Setting::Valid(valid) if bare(n) == name => Some(valid.to_vec()),
            _ => None,
        };
        shape.or_else(|| self.set.iter().find_map(valid))
    }
}

fn bare(name: &str) -> &str {
    name.strip_prefix('%').unwrap_or(name)
}

impl Kernel {
    /// Makes the inputs of a run; contents are moved, not copied. Also returns the arguments whose extents are
    /// unknown.
    pub fn bind_inputs(
        &self,
        mut inputs: Inputs,
        blocks: u32,
    ) -> std::result::Result<(Bindings, Vec<ValueId>), InputError> {
        let mut bindings = Bindings { blocks: blocks.max(1), ..Bindings::default() };
        for Content { name, label, from } in &mut inputs.contents {
            let value = self.argument(name)?;
            let input = match from {
                From::Array(array) => self.bind_array(value, array.take()),
                From::Cast(array) => {
                    let cast = match self.elem(value) {
                        Some(elem) => array.cast(elem),
                        None => Ok(array.take()),
                    };
                    cast.and_then(|array| self.bind_array(value, array))
                }
                From::Raw(bytes) => self.bind_raw(value, std::mem::take(bytes)),
                From::Fill(_) => continue,
            };
            bindings.add(self, value, input.map_err(|error| InputError::about(label, error))?)?;
        }
        self.bind_settings(&inputs, &mut bindings)?;
        let open = self.bind_fills(&inputs, &mut bindings)?;
        Ok((bindings, open))
    }

    fn bind_settings(&self, inputs: &Inputs, bindings: &mut Bindings) -> Result<()> {
        for (name, setting) in &inputs.set {
            let value = self.argument(name)?;
            let beside = || inputs.set.iter().filter(|(other, _)| bare(other) == bare(name)).map(|(_, s)| s);
            let is_filled = || inputs.content(name).is_some_and(|c| matches!(c.from, From::Fill(_)));
            let input = match setting {
                Setting::Value(number) => self.bind_number(value, *number)?,
                Setting::Rank => self.bind_number(value, Number::Int(inputs.rank.0.into()))?,
                Setting::Ranks => self.bind_number(value, Number::Int(inputs.rank.1.max(1).into()))?,
                // Contents that are made up take the region as their shape.
                Setting::Valid(_) if is_filled() => continue,
                Setting::Valid([rows, cols]) => self.bind_valid(value, *rows, *cols)?,
                Setting::Offset(_) if beside().any(|s| matches!(s, Setting::Strides(_))) => continue,
                Setting::Offset(offset) => self.bind_strides(value, Vec::new(), *offset)?,
                Setting::Strides(strides) => {
                    let offset = beside().find_map(|s| if let Setting::Offset(n) = s { Some(*n) } else { None });
                    self.bind_strides(value, strides.clone(), offset.unwrap_or(0))?
                }
            };
            bindings.add(self, value, input)?;
        }
        Ok(())
    }

    /// Makes up contents; gives the arguments whose extents are not known.
    fn bind_fills(&self, inputs: &Inputs, bindings: &mut Bindings) -> std::result::Result<Vec<ValueId>, InputError> {
        let mut fills: Vec<(ValueId, Fill, String)> = Vec::new();
        for content in &inputs.contents {
            if let From::Fill(fill) = content.from {
                fills.push((self.argument(&content.name)?, fill, content.label.clone()));
            }
        }
        for (name, dims) in &inputs.shapes {
            let value = self.argument(name)?;
            let label = format!("extents {} of %{}", crate::npy::shape_text(dims), bare(name));
            match inputs.content(name) {
                None => fills.push((value, Fill::Zeros, label)),
                Some(content) if matches!(content.from, From::Fill(_)) => {}
                Some(_) => {
                    let error = Error::request(format!("%{} has the extents of its file", bare(name)));
                    return Err(InputError::about(&label, error));
                }
            }
        }
        if fills.is_empty() {
            return Ok(Vec::new());
        }
        let (rank, count) = inputs.rank;
        let contexts = self.contexts();
        let extents = self.extents_of_rank(&bindings.inputs, bindings.blocks, &contexts, (rank, count.max(1)));
        let mut open = Vec::new();
        for (value, fill, label) in fills {
            let shape = inputs.shape(self.name(value));
            // Random contents differ from rank to rank.
            let fill = fill.of_rank(self.argument_place(value), rank);
            match self.bind_fill(value, fill, shape.as_deref(), &extents) {
                Ok(Some(input)) => bindings.add(self, value, input)?,
                Ok(None) => open.push(value),
                Err(error) => return Err(InputError::about(&label, error)),
            }
        }
        Ok(open)
    }

    /// The input that the declared bytes of a tile are.
    fn bind_raw(&self, value: ValueId, bytes: Vec<u8>) -> Result<Input> {
        let name = self.name(value);
        let wanted = match self.need(value) {
            Need::Tile(tile) => tile.bytes(),
            Need::Conv(conv) => conv.bytes(),
            _ => return Err(Error::request(format!("%{name} is no tile, and only tiles have raw bytes"))),
        };
        if bytes.len() as u64 != wanted {
            let what = format!("it has {} bytes, and the declared area of %{name} has {wanted}", bytes.len());
            return Err(Error::request(what));
        }
        Ok(Input::TileBytes(bytes))
    }
}
