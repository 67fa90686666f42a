//! What the library leaves to the command: with which option something is given.

use tessera::program::Need;
use tessera::{Diagnostic, Error, ErrorKind, Kernel, Missing};

/// `1 element`, `2 elements`.
pub fn counted(n: u64, what: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{n} {what}{plural}")
}

fn option(missing: &Missing) -> String {
    match missing {
        Missing::Value(name) => format!("--set {name}=VALUE"),
        Missing::Array(name) => format!("--in {name}=FILE.npy"),
        Missing::Shape(name) | Missing::Extents(name) => format!("--shape {name}=NxM"),
        Missing::Input(_) => "--at".into(),
        Missing::Entry => "--entry".into(),
        _ => "--out NAME".into(),
    }
}

/// An error in one sentence.
pub fn sentence(error: &Error) -> String {
    let message = error.message();
    match (error.missing(), error.help_text()) {
        (Some(Missing::Shape(name)), _) => format!("--shape {name}: {message}"),
        (Some(Missing::Argument(_)), _) => format!("{message}; use --out with the argument that it is a view of"),
        (Some(missing @ Missing::Extents(_)), _) => format!("{message}; {} gives it extents", option(missing)),
        (Some(missing @ Missing::Input(_)), _) => format!("{message}; {} follows any element back", option(missing)),
        (Some(missing), _) => format!("{message}; use {}", option(missing)),
        (None, Some(help)) => format!("{message}; {help}"),
        (None, None) => message.to_string(),
    }
}

/// What an error reports.
pub fn diagnostics(error: &Error) -> Vec<Diagnostic> {
    let mut all: Vec<Diagnostic> = error.diagnostics().cloned().map(limited).collect();
    let (Some(missing), Some(first)) = (error.missing(), all.first_mut()) else { return all };
    if error.kind() == ErrorKind::Request && first.span.is_none() {
        (first.message, first.help) = (sentence(error), None);
        return all;
    }
    first.help = Some(match missing {
        _ if error.missing_all().len() > 1 => {
            let options: Vec<String> = error.missing_all().iter().map(option).collect();
            format!("add {}", options.join(" "))
        }
        Missing::Outputs => format!("name the tiles to compare with {}", option(missing)),
        Missing::Entry => format!("mark one with attributes {{pto.entry}}, or name one with {}", option(missing)),
        _ => format!("add {}", option(missing)),
    });
    all
}

/// What a run found; a buffer that was not filled can be given a file.
pub fn found(kernel: &Kernel, mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let func = kernel.func();
    let buffers: Vec<_> = func.args.iter().filter(|v| matches!(kernel.need(**v), Need::Buffer(..))).collect();
    for d in diagnostics.iter_mut().filter(|d| d.rule == "undefined-read") {
        if buffers.iter().any(|v| Some(func.value(**v).span) == d.span) {
            d.help = Some("bind a file to it with --in, or store all of it".into());
        }
    }
    diagnostics.into_iter().map(limited).collect()
}

/// What stopped at a limit can be given more.
fn limited(mut d: Diagnostic) -> Diagnostic {
    if let ("loop" | "memory-limit" | "undecided", Some(help)) = (d.rule, &mut d.help) {
        *help = help.replace("allow more work", "allow more with --limit-work");
        *help = help.replace("allow more steps", "allow more with --max-steps");
        *help = help.replace("allow more memory", "allow more with --max-memory");
    }
    d
}
