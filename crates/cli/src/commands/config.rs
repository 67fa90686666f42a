//! `tessera config`: the settings that hold here, and where they come from.

use crate::session::{FINE, Outcome, Session};
use crate::settings::{FILE, Settings};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example of a tessera.toml:\n  profile = \"a5\"\n  allow = [\"textract-divides\"]\n  limit-time = \
                        \"60s\"\n\n  [check]\n  races = true\n  strict = true\n\nA key is the long name of an option. \
                        The command line overrides the file; --no-config ignores it."
)]
pub struct Args {}

pub fn run(_: &Args, session: &mut Session<'_>) -> Outcome {
    let Some(settings) = Settings::of_directory(&session.dir)? else {
        writeln!(session.stdout, "There is no {FILE} here or in a folder above; every option has its default.")?;
        return Ok(FINE);
    };
    writeln!(session.stdout, "# {}", settings.path.display())?;
    for (command, values) in &settings.values {
        if !command.is_empty() {
            writeln!(session.stdout, "\n[{command}]")?;
        }
        for (key, value) in values {
            writeln!(session.stdout, "{key} = {value}")?;
        }
    }
    Ok(FINE)
}
