//! `ptoas`: the command lines of the public assembler, word for word (spec/build.md 1).

use super::build::{Request, build};
use crate::session::{FINE, Failure, Outcome, Session, USAGE_ERROR};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use tessera::Profile;
use tessera_isa::diag::nearest;

/// The version of the assembler whose flags these are.
const VERSION: &str = "0.60";

/// What a flag is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flag {
    Output,
    Arch,
    Level,
    Backend,
    /// Flags are inserted.
    Sync,
    /// Barriers of all pipes are inserted.
    Barriers,
    /// The placed program as text.
    Ir,
    Verbose,
    Version,
    Help,
    /// No effect; whether a value follows.
    Nothing(bool),
}

const FLAGS: &[(&str, Flag)] = &[
    ("o", Flag::Output),
    ("pto-arch", Flag::Arch),
    ("pto-level", Flag::Level),
    ("pto-backend", Flag::Backend),
    ("enable-insert-sync", Flag::Sync),
    ("enable-bufid_sync", Flag::Sync),
    ("enable-graph-sync-solver", Flag::Sync),
    ("enable-unified-sync", Flag::Sync),
    ("enable-inject-barrier-all-sync", Flag::Barriers),
    ("emit-pto-ir", Flag::Ir),
    ("v", Flag::Verbose),
    ("version", Flag::Version),
    ("help", Flag::Help),
    ("h", Flag::Help),
    ("disable-infer-layout", Flag::Nothing(false)),
    ("enable-shape-inference", Flag::Nothing(false)),
    ("enable-op-fusion", Flag::Nothing(false)),
    ("enable-tile-op-expand", Flag::Nothing(false)),
    ("mlir-print-ir-after-all", Flag::Nothing(false)),
    ("mlir-print-ir-before-all", Flag::Nothing(false)),
    ("mlir-print-ir-module-scope", Flag::Nothing(false)),
    ("mlir-print-ir-after-change", Flag::Nothing(false)),
    ("mlir-print-ir-after-failure", Flag::Nothing(false)),
    ("mlir-print-debuginfo", Flag::Nothing(false)),
    ("mlir-timing", Flag::Nothing(false)),
    ("mlir-print-ir-tree-dir", Flag::Nothing(true)),
    ("mlir-print-ir-after", Flag::Nothing(true)),
    ("mlir-print-ir-before", Flag::Nothing(true)),
];

/// Families of flags without effect; a value stands behind `=`.
const FAMILIES: &[&str] = &["plan-memory-", "mlir-", "vpto-", "graph-sync-solver-"];

const USAGE: &str = "\
Usage: ptoas [FLAGS] [FILE]

Makes C++ for the vendor's compiler of a PTO program. Without FILE, or with `-`, the program is standard input.
Flags begin with one or two dashes, and a value stands behind `=` or a space.

  -o F                              the file to write; without it standard output
  --pto-arch=a2|a3|a5               the device; without it the module's own, else a3
  --pto-level=level1|level2|level3  1, 2: no tile has an address; 3: every tile has one. Default: level2
  --enable-insert-sync              insert flags and barriers; also --enable-bufid_sync, --enable-graph-sync-solver,
                                    --enable-unified-sync
  --enable-inject-barrier-all-sync  insert a barrier of all pipes before every instruction
  --emit-pto-ir                     write the placed, ordered program as text
  -v                                say what is not as strong or as exact as it could be
  --version, --help

Accepted without effect: --plan-memory-*, --disable-infer-layout, --enable-shape-inference, --enable-op-fusion,
--enable-tile-op-expand, --mlir-*, --vpto-*, --graph-sync-solver-*.
Refused: --pto-backend=vpto, --emit-vpto*, and a file .o as output: objects are the vendor's compiler's.

Exit codes: 0 fine, 1 the program has errors (nothing is written), 2 the command line or a file is wrong.
`tessera build --help` has the same with other names.
";

/// Whether the command was called by the assembler's name.
pub fn is_called(name: &OsString) -> bool {
    Path::new(name).file_stem().is_some_and(|stem| stem == "ptoas")
}

pub fn run(args: &[OsString], session: &mut Session<'_>) -> u8 {
    let outcome = main(args, session);
    outcome.unwrap_or_else(|failure| match failure.message.is_empty() {
        true => failure.code,
        false => {
            let _ = writeln!(session.stderr, "ptoas: error: {}", failure.message);
            failure.code
        }
    })
}

fn main(args: &[OsString], session: &mut Session<'_>) -> Outcome {
    let Some(request) = read(args, session)? else { return Ok(FINE) };
    build(&request, session)
}

fn wrong(message: impl Into<String>) -> Failure {
    Failure { code: USAGE_ERROR, message: message.into() }
}

fn unknown(flag: &str) -> Failure {
    let name = flag.trim_start_matches('-').split('=').next().unwrap_or_default();
    let near = nearest(name, FLAGS.iter().map(|(name, _)| *name).filter(|name| name.len() > 1));
    let dashed = |name: &str| format!("{}{name}", if name.len() > 1 { "--" } else { "-" });
    wrong(match near {
        Some(near) => format!("unknown flag {flag}; did you mean {}? (ptoas --help lists them)", dashed(near)),
        None => format!("unknown flag {flag} (ptoas --help lists them)"),
    })
}

/// What the command line asks for; nothing where it was answered already.
fn read(args: &[OsString], session: &mut Session<'_>) -> Result<Option<Request>, Failure> {
    let mut request = Request {
        file: "-".into(),
        profile: None,
        default: Profile::A2a3,
        level: Some(2),
        sync: false,
        resync: false,
        barriers: false,
        output: None,
        debug_lines: false,
        emit_ir: false,
        verbose: false,
        talks: false,
        sync_flag: "use --enable-insert-sync",
    };
    let (mut file, mut order, mut ignored): (Option<PathBuf>, Vec<String>, Vec<String>) = Default::default();
    let mut rest = args.iter().skip(1);
    let mut only_files = false;
    while let Some(arg) = rest.next() {
        let text = arg.to_str().unwrap_or_default();
        if only_files || arg == "-" || !text.starts_with('-') {
            if let Some(first) = &file {
                let (first, second) = (first.display(), arg.to_string_lossy());
                return Err(wrong(format!("two programs, {first} and {second}: give one at a time")));
            }
            file = Some(arg.into());
            continue;
        }
        if text == "--" {
            only_files = true;
            continue;
        }
        let (name, behind) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value.to_string())),
            None => (text, None),
        };
        let bare = name.trim_start_matches('-');
        if bare.starts_with("emit-vpto") {
            return Err(objects(text));
        }
        let found = FLAGS.iter().find(|(known, _)| *known == bare).map(|(_, flag)| *flag);
        let is_family = FAMILIES.iter().any(|family| bare.starts_with(family));
        let flag = found.or(is_family.then_some(Flag::Nothing(false))).ok_or_else(|| unknown(text))?;
        let has_value = matches!(flag, Flag::Output | Flag::Arch | Flag::Level | Flag::Backend | Flag::Nothing(true));
        let value = match (has_value, behind) {
            (true, Some(value)) if !value.is_empty() => value,
            (true, _) => {
                let next = rest.next().and_then(|next| next.to_str()).filter(|next| !next.is_empty());
                next.ok_or_else(|| wrong(format!("{name} needs a value, as in {}", example(flag))))?.to_string()
            }
            (false, value) => value.unwrap_or_default(),
        };
        let is_on = !matches!(value.as_str(), "false" | "0");
        match flag {
            Flag::Output => request.output = Some(value.into()),
            Flag::Arch => request.profile = Some(arch(&value)?),
            Flag::Level => request.level = Some(level(&value)?),
            Flag::Backend if value == "vpto" => return Err(objects(text)),
            Flag::Backend => ignored.push(name.into()),
            Flag::Sync | Flag::Barriers if !is_on => {}
            Flag::Sync | Flag::Barriers => {
                if let Some(other) = order.iter().find(|other| *other != bare) {
                    return Err(wrong(format!("--{other} and --{bare} both insert flags: choose one")));
                }
                order.push(bare.into());
                (request.sync, request.barriers) = (flag == Flag::Sync, flag == Flag::Barriers);
            }
            Flag::Ir => request.emit_ir = is_on,
            Flag::Verbose => request.verbose = true,
            Flag::Version => {
                writeln!(session.stdout, "ptoas {VERSION} (tessera {})", env!("CARGO_PKG_VERSION"))?;
                return Ok(None);
            }
            Flag::Help => {
                session.stdout.write_all(USAGE.as_bytes())?;
                return Ok(None);
            }
            Flag::Nothing(_) => ignored.push(name.into()),
        }
    }
    request.file = file.unwrap_or_else(|| "-".into());
    if request.verbose && !ignored.is_empty() {
        writeln!(session.stderr, "ptoas: note: without effect here: {}", ignored.join(", "))?;
    }
    Ok(Some(request))
}

fn objects(flag: &str) -> Failure {
    wrong(format!("{flag} asks for objects, which the vendor's compiler makes: leave it out, and compile the C++"))
}

fn example(flag: Flag) -> &'static str {
    match flag {
        Flag::Output => "-o kernel.cpp",
        Flag::Arch => "--pto-arch=a3",
        Flag::Level => "--pto-level=level2",
        _ => "--flag=value",
    }
}

fn arch(value: &str) -> Result<Profile, Failure> {
    match value {
        "a2" | "a3" => Ok(Profile::A2a3),
        "a5" => Ok(Profile::A5),
        _ => Err(wrong(format!("--pto-arch={value} is none of a2, a3, a5"))),
    }
}

fn level(value: &str) -> Result<u8, Failure> {
    match value {
        "level1" => Ok(1),
        "level2" => Ok(2),
        "level3" => Ok(3),
        _ => Err(wrong(format!("--pto-level={value} is none of level1, level2, level3"))),
    }
}
