//! A command line that runs a kernel as it is.

use super::Args;
use crate::bind::Give;
use std::path::Path;
use tessera::program::{Setting, Suggestion};
use tessera::{Kernel, Literal, Number, Profile};

/// The words of `tessera run`.
pub struct Ready(Vec<String>);

impl Ready {
    /// Runs this file.
    pub fn new(file: &Path, profile: Option<Profile>, entry: Option<&str>, blocks: u32) -> Ready {
        let mut words = vec!["tessera".into(), "run".into(), file.display().to_string()];
        words.extend(profile.into_iter().flat_map(|p| ["--profile".into(), p.name().into()]));
        words.extend(entry.into_iter().flat_map(|e| ["--entry".into(), e.into()]));
        if blocks > 1 {
            words.extend(["--blocks".into(), blocks.to_string()]);
        }
        Ready(words)
    }

    /// Runs so many ranks.
    pub fn ranks(mut self, count: u32) -> Ready {
        self.0.extend(["--ranks".into(), count.to_string()]);
        self
    }

    /// The command line as it is, as far as it binds something.
    pub(super) fn of(args: &Args) -> Ready {
        let mut ready = Ready::new(&args.file, args.profile, args.entry.as_deref(), args.blocks);
        for bound in &args.set {
            ready.option("--set", &bound.name, &setting(&bound.to));
        }
        for bound in &args.inputs {
            ready.option("--in", &bound.name, &given(&bound.to));
        }
        for bound in &args.raw_in {
            ready.option("--raw-in", &bound.name, &format!("={}", bound.to.display()));
        }
        for (name, dims) in &args.shape {
            ready.option("--shape", name, &format!("={}", by(dims)));
        }
        ready
    }

    fn option(&mut self, option: &str, name: &str, to: &str) {
        self.0.extend([option.into(), format!("{name}{to}")]);
    }

    /// Binds what a kernel still needs.
    pub fn with(mut self, kernel: &Kernel, suggestion: &Suggestion) -> Ready {
        for (value, number) in &suggestion.set {
            self.option("--set", kernel.name(*value), &format!("={}", shown(*number)));
        }
        for (value, fill, shape) in &suggestion.fill {
            let given = format!("{}=", kernel.name(*value));
            if !self.0.iter().any(|word| word.starts_with(&given)) {
                self.option("--in", kernel.name(*value), &format!("={fill}"));
            }
            if let Some(dims) = shape {
                self.option("--shape", kernel.name(*value), &format!("={}", by(dims)));
            }
        }
        self
    }

    /// The line, for a shell.
    pub fn line(&self) -> String {
        self.0.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    }
}

fn by(dims: &[u64]) -> String {
    dims.iter().map(u64::to_string).collect::<Vec<_>>().join("x")
}

fn shown(number: Number) -> String {
    match number {
        Number::Int(v) => v.to_string(),
        Number::Float(v) => format!("{v:?}"),
    }
}

fn given(give: &Give) -> String {
    match give {
        Give::File(file, cast) => format!("={}{}", file.display(), if *cast { ":cast" } else { "" }),
        Give::Fill(fill) => format!("={fill}"),
    }
}

fn setting(setting: &Setting) -> String {
    let list = |all: &[i64]| all.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
    match setting {
        Setting::Value(Literal::Bits(bits)) => format!("={bits:#x}"),
        Setting::Value(Literal::Number(number)) => format!("={}", shown(*number)),
        Setting::Valid([rows, cols]) => format!(".valid={rows},{cols}"),
        Setting::Strides(strides) => format!(".strides={}", list(strides)),
        Setting::Offset(offset) => format!(".offset={offset}"),
        Setting::Rank => "=rank".into(),
        Setting::Ranks => "=ranks".into(),
        _ => String::new(),
    }
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./=:,+@%".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_string(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}
