//! The results of a run: requested files, tables of other outputs, prints and dumps.

use super::{Job, Stop, trace};
use crate::bind::Bound;
use crate::output;
use crate::policy::Format;
use crate::render::values::{Values, show_tile};
use crate::session::{Failure, Session};
use std::io::Write;
use std::path::{Path, PathBuf};
use tessera::npy;
use tessera::program::{Need, Outcome, PrintedValue, Shapes, TileData};
use tessera_ir::ValueId;

impl Job<'_> {
    /// The values that the command line wants; without any, the program's own outputs.
    pub fn wanted(&self) -> Result<Vec<(ValueId, u8)>, Stop> {
        let args = self.args;
        let mut all = Vec::new();
        let files = args.outputs.iter().map(|b| (&b.name, b.core1, false));
        let raw = args.raw_out.iter().map(|b| (&b.name, b.core1, true));
        let dumps = args.dump.iter().map(|b| (&b.name, b.core1, true));
        let expected = args.expect.iter().map(|b| (&b.name, b.core1, false));
        for (name, core1, only_tiles) in files.chain(raw).chain(dumps).chain(expected) {
            all.push((self.output(name, only_tiles)?, u8::from(core1)));
        }
        if self.shows_outputs() {
            all.extend(self.kernel.outputs().into_iter().map(|v| (v, 0)));
        }
        all.sort_unstable();
        all.dedup();
        Ok(all)
    }

    /// Whether the program's outputs are shown, because none were requested.
    fn shows_outputs(&self) -> bool {
        let args = self.args;
        let asked = !args.outputs.is_empty() || !args.raw_out.is_empty() || !args.dump.is_empty();
        !asked && args.expect.is_empty() && args.format == Format::Human
    }

    fn output(&self, name: &str, only_tiles: bool) -> Result<ValueId, Stop> {
        let is_buffer = |v: ValueId| matches!(self.kernel.need(v), Need::Buffer(..));
        if only_tiles && self.kernel.find(name).is_some_and(is_buffer) {
            return Err(Stop::binding(format!("%{name} is no tile; use --out for the memory behind an argument")));
        }
        Ok(self.kernel.result(name)?)
    }

    /// `pto.tprint`, in the order of the program.
    pub fn show_printed(&self, session: &mut Session<'_>, outcome: &Outcome) -> Result<(), Failure> {
        for printed in &outcome.printed {
            let block = match self.args.blocks {
                1 => String::new(),
                _ => format!(" in block {}", printed.block),
            };
            let text = match &printed.what {
                PrintedValue::Tile(value, data) => show_tile(self.kernel.name(*value), &block, data, printed.format),
                PrintedValue::Text(text) => format!("{}\n", text.trim_end_matches('\n')),
            };
            self.shown(session).write_all(text.as_bytes())?;
        }
        Ok(())
    }

    /// The stream for tables: JSON lines and arrays keep standard output to themselves.
    pub fn shown<'s>(&self, session: &'s mut Session<'_>) -> &'s mut dyn Write {
        match self.args.format == Format::Json || self.files().any(output::is_stdout) {
            true => &mut *session.stderr,
            false => &mut *session.stdout,
        }
    }

    /// Every file that the command line wants written.
    fn files(&self) -> impl Iterator<Item = &Path> {
        let args = self.args;
        let raw = args.raw_out.iter().map(|b| &b.to).chain(&args.trace).map(PathBuf::as_path);
        args.outputs.iter().map(|b| b.to.file.as_path()).chain(raw)
    }

    /// Refuses, before the run, files that cannot be written.
    pub fn check_files(&self, session: &Session<'_>) -> Result<(), Failure> {
        if self.args.format == Format::Json && self.files().any(output::is_stdout) {
            return Err(Failure::usage("--format json writes to standard output, and so does `-`"));
        }
        output::check(session, &self.files().collect::<Vec<_>>())
    }

    /// Writes the files, all or none, then shows what is to be seen.
    pub fn put_out(&self, session: &mut Session<'_>, outcome: &mut Outcome, shapes: &Shapes) -> Result<(), Failure> {
        let args = self.args;
        let mut files: Vec<(PathBuf, Vec<u8>)> = Vec::new();
        for (n, bound) in args.outputs.iter().enumerate() {
            let value = self.kernel.find(&bound.name);
            let core = u8::from(bound.core1);
            // The last use of an array moves it.
            let names = args.outputs.iter().skip(n + 1).map(|b| &b.name);
            let names = names.chain(args.raw_out.iter().map(|b| &b.name)).chain(args.dump.iter().map(|b| &b.name));
            let is_last = !names.chain(args.expect.iter().map(|b| &b.name)).any(|name| self.kernel.find(name) == value);
            let array = value.and_then(|v| match is_last {
                true => self.kernel.take_array(outcome, shapes, v, core),
                false => self.kernel.array(outcome, shapes, v, core),
            });
            let elem = value.and_then(|v| self.kernel.elem(v));
            let array = array.map(|array| match elem.zip(bound.to.as_float) {
                Some((elem, float)) => array.widened(elem, float),
                None => array,
            });
            files.extend(array.map(|a| (bound.to.file.clone(), a.into_file())));
        }
        for bound in &args.raw_out {
            files.extend(self.tile(outcome, bound).map(|data| (bound.to.clone(), data.raw.clone())));
        }
        if let Some(file) = &args.trace {
            files.push((file.clone(), trace::lines(self.source, outcome).into_bytes()));
        }
        output::write(session, &files)?;
        for bound in &args.dump {
            if let Some(data) = self.tile(outcome, bound) {
                let core = if bound.core1 { "@1" } else { "" };
                self.shown(session).write_all(show_tile(&bound.name, core, data, None).as_bytes())?;
            }
        }
        if self.shows_outputs() {
            for value in self.kernel.outputs() {
                session.stdout.write_all(self.show(outcome, shapes, value).as_bytes())?;
            }
        }
        Ok(())
    }

    fn tile<'o, T>(&self, outcome: &'o Outcome, bound: &Bound<T>) -> Option<&'o TileData> {
        tile(outcome, self.kernel.find(&bound.name)?, bound.core1)
    }

    fn show(&self, outcome: &Outcome, shapes: &Shapes, value: ValueId) -> String {
        let name = self.kernel.name(value);
        if let Some(data) = tile(outcome, value, false) {
            return show_tile(name, "", data, None);
        }
        let Some((elem, shape, bytes)) = self.kernel.contents(outcome, shapes, value, 0) else { return String::new() };
        let values = Values { elem, shape: &shape, bytes, defined: &[], format: None };
        format!("%{name}: {elem} {}\n{}", npy::shape_text(&shape), values.table())
    }
}

fn tile(outcome: &Outcome, value: ValueId, core1: bool) -> Option<&TileData> {
    let mut tiles = outcome.tiles.iter();
    tiles.find(|t| t.value == value && t.core == u8::from(core1)).map(|t| &t.data)
}
