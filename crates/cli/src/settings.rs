//! Settings of a project: the file `tessera.toml` in the working directory or in the nearest folder above it.
//!
//! A key is the long name of an option, such as `profile = "a5"`. A key at the top holds for every command that has the
//! option, a key of a table such as `[check]` for that command. An option on the command line stands over a setting; lists
//! (`allow`, `deny`) are added up. No other place knows an option: settings become arguments, which the command reads like
//! those that were typed.

use crate::commands::Cli;
use crate::session::Failure;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, CommandFactory};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use tessera_isa::diag::nearest;
use toml::{Table, Value};

/// The name of the file.
pub const FILE: &str = "tessera.toml";

/// Options that only make sense on a command line.
const NOT_SETTINGS: [&str; 3] = ["help", "version", "no-config"];

/// The settings of a file.
#[derive(Debug)]
pub struct Settings {
    /// The file.
    pub path: PathBuf,
    /// The values of options by command; those under the empty name hold for every command that has them.
    pub values: BTreeMap<String, BTreeMap<String, Value>>,
}

impl Settings {
    /// The settings that hold in a directory, if there is a file.
    pub fn of_directory(dir: &Path) -> Result<Option<Settings>, Failure> {
        let here = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
        let Ok(here) = std::fs::canonicalize(here) else { return Ok(None) };
        let Some(path) = here.ancestors().map(|folder| folder.join(FILE)).find(|path| path.is_file()) else {
            return Ok(None);
        };
        let text = std::fs::read_to_string(&path).map_err(|e| Failure::file("read", &path, &e))?;
        // The file's name says enough where it is in the directory itself.
        let path = path.strip_prefix(&here).map(Path::to_path_buf).unwrap_or(path);
        let values = read(&text).map_err(|why| Failure::usage(format!("{}: {why}", path.display())))?;
        Ok(Some(Settings { path, values }))
    }

    /// The settings of a command: its own over those of all.
    fn of_command(&self, name: &str) -> BTreeMap<&str, &Value> {
        let of = |table: &str| self.values.get(table).into_iter().flatten().map(|(key, value)| (key.as_str(), value));
        of("").chain(of(name)).collect()
    }
}

/// Reads the file's text. A key that no command has, or a value that no option takes, is refused with its line.
fn read(text: &str) -> Result<BTreeMap<String, BTreeMap<String, Value>>, String> {
    let table: Table = text.parse().map_err(|error: toml::de::Error| error.to_string().trim_end().to_string())?;
    let cli = Cli::command();
    let mut all: BTreeMap<String, BTreeMap<String, Value>> = BTreeMap::new();
    for (key, value) in table {
        match value {
            Value::Table(table) => {
                let Some(command) = cli.find_subcommand(&key) else {
                    return Err(unknown("command", &key, cli.get_subcommands().map(Command::get_name)));
                };
                for (option, value) in table {
                    let arg = find(&cli, command, &option)
                        .ok_or_else(|| unknown(&format!("option of {key}"), &option, names(&cli, command)))?;
                    check(&option, arg, &value)?;
                    all.entry(key.clone()).or_default().insert(option, value);
                }
            }
            value => {
                let arg = cli.get_subcommands().find_map(|command| find(&cli, command, &key));
                let arg = arg.ok_or_else(|| {
                    unknown("option", &key, cli.get_subcommands().flat_map(|command| names(&cli, command)))
                })?;
                check(&key, arg, &value)?;
                all.entry(String::new()).or_default().insert(key, value);
            }
        }
    }
    Ok(all)
}

fn unknown<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str>) -> String {
    match nearest(name, known) {
        Some(near) => format!("there is no {what} '{name}'; did you mean '{near}'?"),
        None => format!("there is no {what} '{name}'; `tessera --help` lists them"),
    }
}

/// The options of a command that can be set, with those of all commands.
fn options<'a>(cli: &'a Command, command: &'a Command) -> impl Iterator<Item = &'a Arg> {
    let global = cli.get_arguments().filter(|arg| arg.is_global_set());
    let is_setting = |arg: &&Arg| arg.get_long().is_some_and(|long| !NOT_SETTINGS.contains(&long));
    command.get_arguments().chain(global).filter(is_setting)
}

fn names<'a>(cli: &'a Command, command: &'a Command) -> impl Iterator<Item = &'a str> {
    options(cli, command).filter_map(Arg::get_long)
}

fn find<'a>(cli: &'a Command, command: &'a Command, name: &str) -> Option<&'a Arg> {
    options(cli, command).find(|arg| arg.get_long() == Some(name))
}

/// Whether an option may be given several times.
fn is_list(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::Append)
}

/// Refuses a value of a kind that the option does not take.
fn check(name: &str, arg: &Arg, value: &Value) -> Result<(), String> {
    let (fits, wanted) = match (arg.get_action().takes_values(), is_list(arg)) {
        (false, _) => (value.is_bool(), "true or false"),
        (true, true) => {
            let is_words = value.as_array().is_some_and(|all| all.iter().all(|one| word(one).is_some()));
            (is_words || word(value).is_some(), "a list of words")
        }
        (true, false) => (word(value).is_some(), "a word or a number"),
    };
    if fits { Ok(()) } else { Err(format!("{name} is {wanted}, and {value} is not")) }
}

/// A value as one argument.
fn word(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Integer(n) => Some(n.to_string()),
        Value::Float(x) => Some(x.to_string()),
        _ => None,
    }
}

/// A command line with the settings of the project, and the file they are from if any are used.
pub fn apply(args: Vec<OsString>, dir: &Path) -> Result<(Vec<OsString>, Option<PathBuf>), Failure> {
    let is_off = args.iter().take_while(|arg| *arg != "--").any(|arg| arg == "--no-config");
    let cli = Cli::command();
    // A line that cannot be read is complained about where it is read for good.
    let matches = cli.clone().ignore_errors(true).try_get_matches_from(&args).ok();
    let Some((name, given)) = matches.as_ref().and_then(ArgMatches::subcommand).filter(|_| !is_off) else {
        return Ok((args, None));
    };
    let (Some(at), Some(command)) = (args.iter().position(|arg| arg == name), cli.find_subcommand(name)) else {
        return Ok((args, None));
    };
    let Some(settings) = Settings::of_directory(dir)? else { return Ok((args, None)) };
    let mut added = Vec::new();
    for (key, value) in settings.of_command(name) {
        let Some(arg) = find(&cli, command, key) else { continue };
        let id = arg.get_id().as_str();
        let is_given =
            given.try_contains_id(id).unwrap_or(false) && given.value_source(id) == Some(ValueSource::CommandLine);
        if is_given && !is_list(arg) {
            continue;
        }
        match value {
            Value::Boolean(true) => added.push(OsString::from(format!("--{key}"))),
            Value::Boolean(false) => {}
            Value::Array(all) => added.extend(all.iter().filter_map(word).map(|word| format!("--{key}={word}").into())),
            value => added.extend(word(value).map(|word| OsString::from(format!("--{key}={word}")))),
        }
    }
    if added.is_empty() {
        return Ok((args, None));
    }
    let mut args = args;
    args.splice(at + 1..at + 1, added);
    Ok((args, Some(settings.path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_keys_and_values_of_another_kind_are_refused() {
        let why = |text: &str| read(text).expect_err(text);
        assert!(read("profile = \"a5\"\nallow = [\"textract-divides\"]\n[check]\nraces = true\n").is_ok());
        assert_eq!(why("profil = \"a5\""), "there is no option 'profil'; did you mean 'profile'?");
        assert_eq!(why("[chek]\nraces = true"), "there is no command 'chek'; did you mean 'check'?");
        assert_eq!(why("[check]\nrace = true"), "there is no option of check 'race'; did you mean 'races'?");
        assert_eq!(why("strict = 1"), "strict is true or false, and 1 is not");
        assert_eq!(why("profile = true"), "profile is a word or a number, and true is not");
        assert!(why("profile = ").contains("line 1"), "{}", why("profile = "));
        assert!(why("help = true").contains("there is no option 'help'"));
    }
}
