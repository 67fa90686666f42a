//! Files and values that are bound to arguments and inputs (syntax.md 4).

use super::{Job, Stop};
use crate::npy::{self, Array};
use crate::session::Session;
use std::path::Path;
use tessera::program::{Bindings, Input, Need};
use tessera_ir::ValueId;

/// The largest input file.
const MAX_INPUT: u64 = 4 << 30;

/// The shapes of the arrays that were bound to buffers, to give outputs the same shape.
pub type Shapes = Vec<(ValueId, Vec<u64>)>;

/// The shapes of the arrays that are bound to buffers.
pub fn shapes(bindings: &Bindings) -> Shapes {
    let shape = |(value, input): &(ValueId, Input)| match input {
        Input::Buffer { dims, .. } => Some((*value, dims.clone())),
        _ => None,
    };
    bindings.inputs.iter().filter_map(shape).collect()
}

impl Job<'_> {
    /// Reads the files and finds the values.
    pub fn bindings(&self, session: &mut Session<'_>) -> Result<Bindings, Stop> {
        let args = self.args;
        let mut inputs: Vec<(ValueId, Input)> = Vec::new();
        let mut add = |value: ValueId, input: Input| {
            if inputs.iter().any(|(v, _)| *v == value) {
                return Err(Stop::binding(format!("%{} is bound twice", self.kernel.name(value))));
            }
            inputs.push((value, input));
            Ok(())
        };
        let about = |file: &Path, why: String| Stop::binding(format!("{}: {why}", file.display()));
        for bound in &args.inputs {
            let value = self.argument(&bound.name, bound.core1)?;
            let bytes = session.read(&bound.to, MAX_INPUT)?;
            add(value, self.array(value, &bytes).map_err(|why| about(&bound.to, why))?)?;
        }
        for bound in &args.raw_in {
            let value = self.argument(&bound.name, bound.core1)?;
            let bytes = session.read(&bound.to, MAX_INPUT)?;
            add(value, self.raw(value, bytes).map_err(|why| about(&bound.to, why))?)?;
        }
        for bound in &args.set {
            let value = self.argument(&bound.name, false)?;
            add(value, self.kernel.scalar_input(value, bound.to).map_err(Stop::binding)?)?;
        }
        if let Some(diagnostic) = self.kernel.unbound(&inputs) {
            return Err(Stop::Binding(Box::new(diagnostic)));
        }
        Ok(Bindings {
            inputs,
            outputs: self.wanted()?,
            blocks: args.blocks,
            tracked: !args.untracked,
            trace: args.trace.is_some(),
        })
    }

    /// The argument or input of a name.
    fn argument(&self, name: &str, core1: bool) -> Result<ValueId, Stop> {
        if core1 {
            let what = format!("%{name}@1 cannot be bound, because core 1's copies start undefined");
            return Err(Stop::binding(what));
        }
        let arguments = &self.kernel.func().args;
        let names: Vec<&str> = arguments.iter().map(|v| self.kernel.name(*v)).collect();
        let found = arguments.iter().zip(&names).find(|(_, n)| **n == name);
        found.map(|(v, _)| *v).ok_or_else(|| Stop::unknown(name, "input", &names))
    }

    /// An npy file for a value, or a sentence about why it does not fit.
    fn array(&self, value: ValueId, bytes: &[u8]) -> Result<Input, String> {
        let array = Array::parse(bytes)?;
        let mut shape = array.shape.clone();
        if let Some(elem) = self.elem(value) {
            if !array.holds(elem) {
                let name = self.kernel.name(value);
                let wanted = npy::accepted(elem);
                return Err(format!("its elements are {}, and %{name} takes {elem} ({wanted})", array.descr));
            }
            if let (true, Some(last)) = (elem.is_fp4(), shape.last_mut()) {
                *last = last.saturating_mul(2);
            }
        }
        self.kernel.input(value, &shape, array.bytes)
    }

    fn raw(&self, value: ValueId, bytes: Vec<u8>) -> Result<Input, String> {
        let name = self.kernel.name(value);
        let wanted = match self.kernel.need(value) {
            Need::Tile(tile) => tile.bytes(),
            Need::Conv(conv) => conv.bytes(),
            _ => {
                return Err(format!("%{name} is no tile, and only tiles have raw bytes; use --in or --set"));
            }
        };
        if bytes.len() as u64 != wanted {
            return Err(format!("it has {} bytes, and the declared area of %{name} has {wanted}", bytes.len()));
        }
        Ok(Input::TileBytes(bytes))
    }
}
