//! `tessera completions`: completion scripts, generated from the command line itself; kernels are asked for as they are
//! completed.

use super::Cli;
use crate::session::{FINE, Outcome, Session};
use clap::CommandFactory;
use clap_complete::Shell;

#[derive(Debug, clap::Args)]
#[command(after_help = "Example: tessera completions bash > ~/.local/share/bash-completion/completions/tessera")]
pub struct Args {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// Behind `--entry` stand the kernels of the program on the line.
const BASH: &str = r#"
_tessera_kernels() {
    local word
    if [[ "${COMP_WORDS[COMP_CWORD-1]}" == --entry ]]; then
        for word in "${COMP_WORDS[@]}"; do
            if [[ "$word" == *.pto ]]; then
                COMPREPLY=($(compgen -W "$(tessera info --names "$word" 2>/dev/null)" -- "${COMP_WORDS[COMP_CWORD]}"))
                return
            fi
        done
    fi
    _tessera "$@"
}
complete -F _tessera_kernels -o bashdefault -o default tessera
"#;
const FISH: &str = r#"
complete -c tessera -l entry -x \
    -a '(for file in (commandline -opc | string match "*.pto"); tessera info --names $file 2>/dev/null; end)'
"#;
const ZSH: &str = r#"
_tessera_kernels() {
    local -a kernels
    kernels=(${(f)"$(tessera info --names ${(M)words:#*.pto} 2>/dev/null)"})
    compadd -a kernels
}
"#;

pub fn run(args: &Args, session: &mut Session<'_>) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "tessera", &mut script);
    let script = String::from_utf8_lossy(&script);
    match args.shell {
        Shell::Bash => write!(session.stdout, "{script}{BASH}")?,
        Shell::Fish => write!(session.stdout, "{script}{FISH}")?,
        Shell::Zsh => write!(session.stdout, "{}", zsh(&script))?,
        _ => write!(session.stdout, "{script}")?,
    }
    Ok(FINE)
}

/// zsh asks a function that the line of an option names; the script calls itself at its end, so the function stands before.
fn zsh(script: &str) -> String {
    let (head, rest) = script.split_once('\n').unwrap_or((script, ""));
    let lines = rest.lines().map(|line| match line.contains("--entry=") {
        true => line.replace(":_default'", ":_tessera_kernels'") + "\n",
        false => format!("{line}\n"),
    });
    format!("{head}\n{ZSH}{}", lines.collect::<String>())
}
