//! A program as a command line, as text, and for the languages.

use crate::Answer;
use crate::program::read;
use serde::Deserialize;
use serde_json::json;
use tessera::program::Need;
use tessera::{Diagnostic, Kernel, Program};

#[derive(Debug, Deserialize)]
pub struct Ask {
    text: String,
    profile: Option<String>,
    r#as: String,
}

pub fn answer(ask: &Ask) -> Answer {
    let program = read(&ask.text, ask.profile.as_deref(), None)?;
    if let Some(error) = program.check().iter().find(|d| Diagnostic::is_error(d)) {
        return Err(format!("{}: {}", error.rule, error.message));
    }
    let profile = program.profile();
    let kernel = || program.entry().map_err(|e| e.message().to_string());
    let text = match ask.r#as.as_str() {
        "pto" => program.text(None),
        "command" => {
            let args =
                arguments(&kernel()?, |name| format!(" --in {name}=random"), |name, n| format!(" --set {name}={n}"));
            format!("tessera run kernel.pto --profile {profile}{args}")
        }
        "rust" => {
            let args = arguments(
                &kernel()?,
                |name| format!("    .input(\"{name}\", &{name})?\n"),
                |name, n| format!("    .set(\"{name}\", {n})?\n"),
            );
            let text = ask.text.trim_end();
            format!(
                "use tessera::{{Profile, Program}};\n\nlet program = Program::parse(r#\"\n{text}\n\"#)?;\nlet outputs = \
                 program.entry()?.on(Profile::{profile:?})\n{args}    .run()?;\n"
            )
        }
        "python" => {
            let args = arguments(&kernel()?, |name| format!("{name}={name}, "), |name, n| format!("{name}={n}, "));
            let text = ask.text.trim_end();
            let args = args.trim_end_matches(", ");
            format!(
                "import tessera\n\nprogram = tessera.Program(\"\"\"\n{text}\n\"\"\", profile=\"{profile}\")\nresult = \
                 program.run({args})\n"
            )
        }
        "cpp" => cpp(&program)?,
        other => return Err(format!("there is no '{other}'; copy as pto, command, rust, python or cpp")),
    };
    Ok(json!({ "text": text }))
}

/// What the kernel needs, argument by argument.
fn arguments(kernel: &Kernel, contents: impl Fn(&str) -> String, number: impl Fn(&str, String) -> String) -> String {
    let suggestion = kernel.suggest(&[], 1);
    let shown = |n: tessera::Number| match n {
        tessera::Number::Int(v) => v.to_string(),
        tessera::Number::Float(v) => format!("{v:?}"),
    };
    let one = |a: tessera::program::Argument| {
        let name = kernel.name(a.value);
        match kernel.need(a.value) {
            Need::Scalar(_) => {
                let n = suggestion.set.iter().find(|(v, _)| *v == a.value)?;
                Some(number(name, shown(n.1)))
            }
            Need::Nothing => None,
            _ => suggestion.fill.iter().any(|(v, ..)| *v == a.value).then(|| contents(name)),
        }
    };
    kernel.arguments().into_iter().filter_map(one).collect()
}

fn cpp(program: &Program) -> Result<String, String> {
    let options = tessera_emit::Options::default();
    let built = tessera_emit::build(program.module(), program.profile(), &options).map_err(|d| d.message.clone())?;
    Ok(built.text)
}
