//! What leaves a run: files that were asked for, tables of what was not, prints and dumps.

use super::inputs::Shapes;
use super::{Job, Stop, trace};
use crate::bind::{self, Bound};
use crate::npy::{self, Array};
use crate::policy::Format;
use crate::render::values::Values;
use crate::session::{Failure, Session};
use crate::source::Source;
use std::path::PathBuf;
use tessera::program::{Need, Outcome, TileData};
use tessera_ir::{Type, ValueId};
use tessera_isa::elem::Elem;

impl Job<'_> {
    /// The values that the command line wants; without any, the program's own outputs.
    pub fn wanted(&self) -> Result<Vec<(ValueId, u8)>, Stop> {
        let args = self.args;
        let mut all = Vec::new();
        for bound in &args.outputs {
            all.push((self.output(&bound.name, false)?, u8::from(bound.core1)));
        }
        for bound in &args.raw_out {
            all.push((self.output(&bound.name, true)?, u8::from(bound.core1)));
        }
        for bound in &args.dump {
            all.push((self.output(&bound.name, true)?, u8::from(bound.core1)));
        }
        if self.shows_outputs() {
            all.extend(self.own_outputs().into_iter().map(|v| (v, 0)));
        }
        all.sort_unstable();
        all.dedup();
        Ok(all)
    }

    /// Are the program's outputs shown, because none were asked for?
    fn shows_outputs(&self) -> bool {
        let args = self.args;
        let asked = !args.outputs.is_empty() || !args.raw_out.is_empty() || !args.dump.is_empty();
        !asked && args.policy.format == Format::Human
    }

    /// What a program puts out by itself: a listing's outputs, the buffers that a kernel writes.
    fn own_outputs(&self) -> Vec<ValueId> {
        if self.kernel.module().is_listing {
            return self.kernel.func().outputs.clone();
        }
        let arguments = self.kernel.arguments();
        arguments.iter().filter(|a| a.is_written).map(|a| a.value).collect()
    }

    /// The tile or buffer of a name.
    fn output(&self, name: &str, only_tiles: bool) -> Result<ValueId, Stop> {
        let func = self.kernel.func();
        let module = self.kernel.module();
        let Some(value) = self.kernel.find(name) else {
            let is_data = |v: &ValueId| !matches!(module.types.get(func.value(*v).ty), Type::Scalar(_) | Type::Event);
            let values = (0..func.values.len() as u32).map(ValueId).filter(is_data);
            let mut names: Vec<&str> = values.map(|v| self.kernel.name(v)).collect();
            names.dedup();
            return Err(Stop::unknown(name, "value", &names));
        };
        let is_argument = func.args.contains(&value);
        let refuse = |why: &str| Err(Stop::binding(format!("%{name} {why}")));
        match self.kernel.need(value) {
            Need::Tile(_) | Need::Conv(_) => Ok(value),
            Need::Buffer(..) if only_tiles => refuse("is no tile; use --out for the memory behind an argument"),
            Need::Buffer(..) if is_argument => Ok(value),
            Need::Buffer(..) => refuse("is a view; use --out with the argument that it is a view of"),
            Need::Scalar(_) | Need::Nothing => refuse("is a scalar, and only tiles and buffers can be put out"),
        }
    }

    /// `pto.tprint`, in the order of the program.
    pub fn show_printed(&self, session: &mut Session<'_>, outcome: &Outcome) -> Result<(), Failure> {
        for printed in &outcome.printed {
            let block = match self.args.blocks {
                1 => String::new(),
                _ => format!(" in block {}", printed.block),
            };
            let text = show_tile(self.kernel.name(printed.value), &block, &printed.data);
            // JSON lines keep standard output to themselves.
            match self.args.policy.format {
                Format::Human => session.stdout.write_all(text.as_bytes())?,
                Format::Json => session.stderr.write_all(text.as_bytes())?,
            }
        }
        Ok(())
    }

    /// Writes the files, all or none, then shows what is to be seen.
    pub fn put_out(
        &self,
        session: &mut Session<'_>,
        source: &Source,
        outcome: &Outcome,
        shapes: &Shapes,
    ) -> Result<(), Failure> {
        let args = self.args;
        let mut files: Vec<(PathBuf, Vec<u8>)> = Vec::new();
        for bound in &args.outputs {
            let array = self.kernel.find(&bound.name).and_then(|v| self.array_of(outcome, shapes, v, bound.core1));
            files.extend(array.map(|a| (bound.to.clone(), a.to_file())));
        }
        for bound in &args.raw_out {
            files.extend(self.tile(outcome, bound).map(|data| (bound.to.clone(), data.raw.clone())));
        }
        if let Some(file) = &args.trace {
            files.push((file.clone(), trace::lines(source, outcome).into_bytes()));
        }
        bind::write_all(session, &files)?;
        for bound in &args.dump {
            if let Some(data) = self.tile(outcome, bound) {
                let core = if bound.core1 { "@1" } else { "" };
                session.stdout.write_all(show_tile(&bound.name, core, data).as_bytes())?;
            }
        }
        if self.shows_outputs() {
            for value in self.own_outputs() {
                session.stdout.write_all(self.show(outcome, shapes, value).as_bytes())?;
            }
        }
        Ok(())
    }

    fn tile<'o, T>(&self, outcome: &'o Outcome, bound: &Bound<T>) -> Option<&'o TileData> {
        tile(outcome, self.kernel.find(&bound.name)?, bound.core1)
    }

    /// A tile's valid region, or a buffer in the shape of its input.
    fn array_of(&self, outcome: &Outcome, shapes: &Shapes, value: ValueId, core1: bool) -> Option<Array> {
        if let Some(data) = tile(outcome, value, core1) {
            return Some(Array::of_elem(data.elem, shape_of(data), data.elements.clone()));
        }
        let (elem, shape, bytes) = self.buffer(outcome, shapes, value)?;
        Some(Array::of_elem(elem, shape, bytes.to_vec()))
    }

    fn buffer<'o>(&self, outcome: &'o Outcome, shapes: &Shapes, value: ValueId) -> Option<(Elem, Vec<u64>, &'o [u8])> {
        let buffer = outcome.buffers.iter().find(|b| b.value == value)?;
        let elem = self.elem(value)?;
        let bound = shapes.iter().find(|(v, _)| *v == value).map(|(_, shape)| shape.clone());
        let elements = buffer.bytes.len() as u64 * 8 / u64::from(elem.bits());
        let shape = bound.unwrap_or_else(|| self.kernel.buffer_dims(value, elements));
        Some((elem, shape, &buffer.bytes))
    }

    fn show(&self, outcome: &Outcome, shapes: &Shapes, value: ValueId) -> String {
        let name = self.kernel.name(value);
        if let Some(data) = tile(outcome, value, false) {
            return show_tile(name, "", data);
        }
        let Some((elem, shape, bytes)) = self.buffer(outcome, shapes, value) else {
            return String::new();
        };
        let values = Values { elem, shape: &shape, bytes, defined: &[] };
        format!("%{name}: {elem} {}\n{}", npy::shape_text(&shape), values.table())
    }
}

fn tile(outcome: &Outcome, value: ValueId, core1: bool) -> Option<&TileData> {
    let mut tiles = outcome.tiles.iter();
    tiles.find(|t| t.value == value && t.core == u8::from(core1)).map(|t| &t.data)
}

/// The extents of a tile's file.
fn shape_of(data: &TileData) -> Vec<u64> {
    match data.conv {
        Some(conv) => conv.written_dims().to_vec(),
        None => vec![data.rows, data.cols],
    }
}

fn show_tile(name: &str, note: &str, data: &TileData) -> String {
    let shape = shape_of(data);
    let values = Values { elem: data.elem, shape: &shape, bytes: &data.elements, defined: &data.defined };
    format!("%{name}{note}: {} {}\n{}", data.elem, npy::shape_text(&shape), values.table())
}
