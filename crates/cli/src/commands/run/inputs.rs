//! Files and values that are bound to arguments and inputs (syntax.md 4; isa/structure.md 3).

use super::{Args, Job, Ready, Stop};
use crate::bind::{Bound, Give, Of};
use crate::session::Session;
use crate::words;
use std::path::Path;
use tessera::Error;
use tessera::npy::Array;
use tessera::program::{Bindings, Content, From, InputError, Inputs};

const MAX_INPUT: u64 = 4 << 30;

impl Job<'_> {
    pub fn bindings(&self, session: &mut Session<'_>) -> Result<Bindings, Stop> {
        let args = self.args;
        for bound in &args.inputs {
            self.argument(bound)?;
        }
        for bound in &args.raw_in {
            self.argument(bound)?;
        }
        args.set.iter().try_for_each(args_alone)?;
        if let Some(bound) = args.set.iter().find(|bound| bound.core1) {
            let what = format!("'{}@1': a scalar has no copy on core 1", bound.name);
            return Err(Stop::binding(what));
        }
        let inputs = args.read_inputs(session)?;
        let (bindings, open) = self.kernel.bind_inputs(inputs, args.blocks).map_err(refused)?;
        let mut bindings = Bindings {
            tracked: !args.untracked,
            trace: args.trace.is_some(),
            fuses: !args.no_fuse,
            limits: args.limits.into(),
            ..bindings
        };
        let unbound = self.kernel.unbound_or_open(&bindings.inputs, &open);
        unbound.map_err(|error| self.unbound(&error, &bindings))?;
        bindings.outputs = self.wanted()?;
        Ok(bindings)
    }

    /// The missing inputs, with a command line that has them.
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

    fn argument<T>(&self, bound: &Bound<T>) -> Result<(), Stop> {
        args_alone(bound)?;
        if bound.core1 {
            let what = format!("%{}@1 cannot be bound, because core 1's copies start undefined", bound.name);
            return Err(Stop::binding(what));
        }
        Ok(self.kernel.argument(&bound.name).map(|_| ())?)
    }
}

impl Args {
    /// The inputs of the command line, with their files read.
    pub(super) fn read_inputs(&self, session: &mut Session<'_>) -> Result<Inputs, Stop> {
        let mut inputs = Inputs {
            shapes: self.shape.clone(),
            set: self.set.iter().map(|bound| (bound.name.clone(), bound.to.clone())).collect(),
            ..Inputs::default()
        };
        for Bound { name, to, .. } in &self.inputs {
            let (label, from) = match to {
                Give::Fill(fill) => (format!("--in {name}={fill}"), From::Fill(*fill)),
                Give::File(file, is_cast) => {
                    let array = read_array(session, file)?;
                    (file.display().to_string(), if *is_cast { From::Cast(array) } else { From::Array(array) })
                }
            };
            inputs.contents.push(Content { name: name.clone(), label, from });
        }
        for Bound { name, to, .. } in &self.raw_in {
            let from = From::Raw(session.read(to, MAX_INPUT)?);
            inputs.contents.push(Content { name: name.clone(), label: to.display().to_string(), from });
        }
        Ok(inputs)
    }
}

/// Refuses a name of one of several ranks where there is one.
fn args_alone<T>(bound: &Bound<T>) -> Result<(), Stop> {
    if matches!(bound.of, Of::All | Of::Rank(0 | 1)) {
        return Ok(());
    }
    let what = format!("{}: there is one rank; --ranks N runs several", bound.name);
    Err(Stop::binding(what))
}

/// The array of a file.
pub fn read_array(session: &mut Session<'_>, file: &Path) -> Result<Array, Stop> {
    let bytes = session.read(file, MAX_INPUT)?;
    let wrong = |error: Error| Stop::binding(format!("{}: {}", file.display(), words::sentence(&error)));
    Array::parse_owned(bytes).map_err(wrong)
}

fn refused(InputError { label, error }: InputError) -> Stop {
    match label {
        Some(label) => Stop::binding(format!("{label}: {}", words::sentence(&error))),
        None => error.into(),
    }
}
