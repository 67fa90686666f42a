//! Files and values that are bound to arguments and inputs (syntax.md 4; isa/structure.md 3).

use super::{Job, Ready, Stop};
use crate::bind::{Bound, Give, Setting};
use crate::session::Session;
use crate::words;
use std::path::Path;
use tessera::Error;
use tessera::fill::Fill;
use tessera::npy::Array;
use tessera::program::{Bindings, Input, Need};
use tessera_ir::ValueId;

const MAX_INPUT: u64 = 4 << 30;

impl Job<'_> {
    pub fn bindings(&self, session: &mut Session<'_>) -> Result<Bindings, Stop> {
        let args = self.args;
        let mut bindings = Bindings {
            blocks: args.blocks,
            tracked: !args.untracked,
            trace: args.trace.is_some(),
            limits: args.limits.into(),
            ..Bindings::default()
        };
        let about =
            |file: &Path, error: Error| Stop::binding(format!("{}: {}", file.display(), words::sentence(&error)));
        for bound in &args.inputs {
            let value = self.argument(bound)?;
            let Give::File(file, is_cast) = &bound.to else { continue };
            let input = self.array(session, file, *is_cast, value)?;
            let input = input.and_then(|array| self.kernel.bind_array(value, array));
            bindings.add(self.kernel, value, input.map_err(|e| about(file, e))?)?;
        }
        for bound in &args.raw_in {
            let value = self.argument(bound)?;
            let bytes = session.read(&bound.to, MAX_INPUT)?;
            let input = self.raw(value, bytes);
            let wrong = |why| Stop::binding(format!("{}: {why}", bound.to.display()));
            bindings.add(self.kernel, value, input.map_err(wrong)?)?;
        }
        self.settings(&mut bindings)?;
        let open = self.fill(&mut bindings)?;
        let unbound = self.kernel.unbound_or_open(&bindings.inputs, &open);
        unbound.map_err(|error| self.unbound(&error, &bindings))?;
        bindings.outputs = self.wanted()?;
        Ok(bindings)
    }

    /// The array of a file, cast to a value's type where that is asked for.
    pub fn array(
        &self,
        session: &mut Session<'_>,
        file: &Path,
        is_cast: bool,
        value: ValueId,
    ) -> Result<tessera::Result<Array>, Stop> {
        let bytes = session.read(file, MAX_INPUT)?;
        Ok(Array::parse(&bytes).and_then(|array| match self.kernel.elem(value) {
            Some(elem) if is_cast => array.cast(elem),
            _ => Ok(array),
        }))
    }

    fn settings(&self, bindings: &mut Bindings) -> Result<(), Stop> {
        let kernel = self.kernel;
        for bound in &self.args.set {
            let value = kernel.argument(&bound.name)?;
            let beside = || self.args.set.iter().filter(|other| other.name == bound.name);
            let input = match &bound.to {
                Setting::Value(number) => kernel.bind_number(value, *number)?,
                // What is made up takes the region as its shape.
                Setting::Valid(_) if self.filled(&bound.name).is_some() => continue,
                Setting::Valid([rows, cols]) => kernel.bind_valid(value, *rows, *cols)?,
                Setting::Offset(_) if beside().any(|b| matches!(b.to, Setting::Strides(_))) => continue,
                Setting::Offset(offset) => kernel.bind_strides(value, Vec::new(), *offset)?,
                Setting::Strides(strides) => {
                    let offset = beside().find_map(|b| if let Setting::Offset(n) = b.to { Some(n) } else { None });
                    kernel.bind_strides(value, strides.clone(), offset.unwrap_or(0))?
                }
            };
            bindings.add(kernel, value, input)?;
        }
        Ok(())
    }

    /// What is made up for an argument.
    fn filled(&self, name: &str) -> Option<Fill> {
        let fill = |b: &Bound<Give>| if let Give::Fill(fill) = b.to { Some(fill) } else { None };
        self.args.inputs.iter().filter(|b| b.name == name).find_map(fill)
    }

    /// The extents that the command line gives an argument.
    fn shape(&self, name: &str) -> Option<Vec<u64>> {
        let shape = self.args.shape.iter().find(|(n, _)| n == name).map(|(_, dims)| dims.clone());
        let valid = |b: &Bound<Setting>| match b.to {
            Setting::Valid(valid) if b.name == name => Some(valid.to_vec()),
            _ => None,
        };
        shape.or_else(|| self.args.set.iter().find_map(valid))
    }

    /// Makes up contents; gives the arguments whose extents are not known.
    fn fill(&self, bindings: &mut Bindings) -> Result<Vec<ValueId>, Stop> {
        let (args, kernel) = (self.args, self.kernel);
        let mut fills: Vec<(ValueId, Fill)> = Vec::new();
        for bound in &args.inputs {
            if let Give::Fill(fill) = bound.to {
                fills.push((self.argument(bound)?, fill));
            }
        }
        for (name, _) in &args.shape {
            let value = kernel.argument(name)?;
            if !args.inputs.iter().any(|b| b.name == *name) {
                fills.push((value, Fill::Zeros));
            } else if self.filled(name).is_none() {
                return Err(Stop::binding(format!("--shape {name}: %{name} has the extents of its file")));
            }
        }
        let extents = kernel.extents(&bindings.inputs, args.blocks);
        let mut open = Vec::new();
        for (value, fill) in fills {
            let name = kernel.name(value);
            match kernel.bind_fill(value, fill, self.shape(name).as_deref(), &extents) {
                Ok(Some(input)) => bindings.add(kernel, value, input)?,
                Ok(None) => open.push(value),
                Err(error) => return Err(Stop::binding(format!("--in {name}={fill}: {}", words::sentence(&error)))),
            }
        }
        Ok(open)
    }

    /// What is missing, with a command line that has it.
    fn unbound(&self, error: &Error, bindings: &Bindings) -> Stop {
        let mut found = words::diagnostics(error);
        if let Some(first) = found.first_mut() {
            let suggestion = self.kernel.suggest(&bindings.inputs, self.args.blocks);
            let line = Ready::of(self.args).with(self.kernel, &suggestion).line();
            let help = first.help.take().map_or(String::new(), |help| format!("{help}; to try it: "));
            first.help = Some(format!("{help}{line}"));
        }
        Stop::Binding(found)
    }

    pub fn argument<T>(&self, bound: &Bound<T>) -> Result<ValueId, Stop> {
        if bound.core1 {
            let what = format!("%{}@1 cannot be bound, because core 1's copies start undefined", bound.name);
            return Err(Stop::binding(what));
        }
        Ok(self.kernel.argument(&bound.name)?)
    }

    fn raw(&self, value: ValueId, bytes: Vec<u8>) -> Result<Input, String> {
        let name = self.kernel.name(value);
        let wanted = match self.kernel.need(value) {
            Need::Tile(tile) => tile.bytes(),
            Need::Conv(conv) => conv.bytes(),
            _ => return Err(format!("%{name} is no tile, and only tiles have raw bytes; use --in or --set")),
        };
        if bytes.len() as u64 != wanted {
            return Err(format!("it has {} bytes, and the declared area of %{name} has {wanted}", bytes.len()));
        }
        Ok(Input::TileBytes(bytes))
    }
}
