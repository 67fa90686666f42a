//! Files and values that are bound to arguments and inputs (syntax.md 4).

use super::{Job, Stop};
use crate::bind::Bound;
use crate::session::Session;
use crate::words;
use std::path::{Path, PathBuf};
use tessera::Error;
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
            let bytes = session.read(&bound.to, MAX_INPUT)?;
            let input = Array::parse(&bytes).and_then(|array| self.kernel.bind_array(value, array));
            bindings.add(self.kernel, value, input.map_err(|e| about(&bound.to, e))?)?;
        }
        for bound in &args.raw_in {
            let value = self.argument(bound)?;
            let bytes = session.read(&bound.to, MAX_INPUT)?;
            let input = self.raw(value, bytes);
            let wrong = |why| Stop::binding(format!("{}: {why}", bound.to.display()));
            bindings.add(self.kernel, value, input.map_err(wrong)?)?;
        }
        for bound in &args.set {
            let value = self.kernel.argument(&bound.name)?;
            bindings.add(self.kernel, value, self.kernel.bind_number(value, bound.to)?)?;
        }
        self.kernel.unbound(&bindings.inputs)?;
        bindings.outputs = self.wanted()?;
        Ok(bindings)
    }

    fn argument(&self, bound: &Bound<PathBuf>) -> Result<ValueId, Stop> {
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
