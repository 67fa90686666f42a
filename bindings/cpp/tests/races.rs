//! C++ whose order is judged: kernels are clean as they are, and each pair of a set and a wait that is left out is found; so is
//! each flag of C++ that `tessera build` makes.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking"
)]

mod support;

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::{has_compiler, library, root};
use tessera_cli::Session;

/// The repository.
fn repository() -> PathBuf {
    root().join("../..")
}

fn compile(source: &Path, flags: &[&str], name: &str) -> PathBuf {
    let out = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let mut command = Command::new("g++");
    command.args(["-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I"]).arg(root().join("include"));
    command.args(flags).arg(source).arg(library()).args(["-lpthread", "-ldl", "-lm", "-o"]).arg(&out);
    let done = command.output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    out
}

/// The exit code, and both outputs.
fn run(program: &Path, args: &[&str], mode: &str) -> (i32, String) {
    let done = Command::new(program).args(args).env("TESSERA_RACES", mode).output().unwrap();
    let text = format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    (done.status.code().unwrap_or(-1), text)
}

#[test]
fn each_pair_of_a_kernel_that_is_missing_is_found() {
    if !has_compiler("g++") {
        return;
    }
    let program = compile(&root().join("tests/cpp/races.cpp"), &["-DPTO_PROFILE_A5"], "races");
    let expected = [("gemm", 5), ("fifo", 8), ("mixed", 4), ("tokens", 3), ("events", 3)];
    for (kernel, pairs) in expected {
        assert_eq!(run(&program, &[kernel, "count"], "error"), (0, format!("{pairs}\n")), "{kernel}");
        for pair in (0..pairs).map(|pair: u32| pair.to_string()) {
            let (code, text) = run(&program, &[kernel, &pair], "error");
            assert!(code == 1 && text.contains("error[race-"), "{kernel} {pair}: {code}\n{text}");
            let (code, text) = run(&program, &[kernel, &pair], "warn");
            assert!(code == 0 && text.contains("warning[race-"), "{kernel} {pair}: {code}\n{text}");
            assert_eq!(run(&program, &[kernel, &pair], "off"), (0, String::new()));
        }
    }
    let (_, text) = run(&program, &["gemm", "4"], "error");
    let place = |text: &str| text.split("races.cpp:").nth(1).unwrap().split(':').next().unwrap().to_string();
    let source = std::fs::read_to_string(root().join("tests/cpp/races.cpp")).unwrap();
    let line = source.lines().position(|line| line.contains("TSTORE(gc, acc)")).unwrap() + 1;
    assert_eq!(place(&text), line.to_string(), "{text}");
    for said in [
        "FIX reads src, L0C 0x0000..0x1000",
        "M writes dst, L0C 0x0000..0x1000",
        "note: missing: M -> FIX",
        "help: add set_flag(PIPE_M, PIPE_FIX, EVENT_ID0) after races.cpp:",
    ] {
        assert!(text.contains(said), "{said}:\n{text}");
    }
    // Which core, where there are several.
    let (_, text) = run(&program, &["mixed", "2"], "error");
    for said in
        ["TLOAD of C reads the view while TSTORE of V0", "note: missing: V0 MTE3 -> C MTE2", "add set_intra_block("]
    {
        assert!(text.contains(said), "{said}:\n{text}");
    }
    // One finding a line, for programs.
    let json = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("races.jsonl");
    let _ = std::fs::remove_file(&json);
    let mut command = Command::new(&program);
    command.args(["gemm", "4"]).env("TESSERA_RACES", "error").env("TESSERA_FINDINGS", &json);
    assert_eq!(command.output().unwrap().status.code(), Some(1));
    let text = std::fs::read_to_string(json).unwrap();
    assert!(text.starts_with("{\"kind\":\"finding\",\"rule\":\"race-raw\",\"severity\":\"error\""), "{text}");
}

/// C++ of a program, as `tessera build` makes it.
fn build(file: &str, profile: &str) -> String {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let mut session = Session {
        dir: repository(),
        stdin: &mut std::io::empty(),
        stdout: &mut stdout,
        stderr: &mut stderr,
        color: false,
        dialect: None,
    };
    tessera_cli::run(["tessera", "build", file, "--profile", profile].map(Into::into), &mut session);
    assert!(!stdout.is_empty(), "{file}: {}", String::from_utf8_lossy(&stderr));
    String::from_utf8(stdout).unwrap()
}

/// A program that runs the kernel, without the flag whose number it is given.
fn program(code: &str) -> (String, usize) {
    let mut text = String::from("#include <cstdlib>\nstatic int dropped;\n");
    let mut flags = 0;
    for line in code.lines() {
        let call = line.trim_start();
        if call.starts_with("set_flag(") || call.starts_with("wait_flag(") {
            writeln!(text, "if (dropped != {flags}) {{ {call} }}").unwrap();
            flags += 1;
        } else {
            writeln!(text, "{line}").unwrap();
        }
    }
    let head = code.lines().find(|line| line.contains("__global__")).unwrap();
    let (name, parameters) = head.split_once("void ").unwrap().1.split_once('(').unwrap();
    let arguments = parameters.trim_end_matches(')').split(", ").enumerate().map(|(n, parameter)| {
        let kind = parameter.replace("__gm__ ", "").rsplit_once(' ').unwrap().0.to_string();
        match kind.ends_with('*') || parameter.contains('*') {
            true => format!("reinterpret_cast<{} *>(memory[{n}])", kind.trim_end_matches(['*', ' '])),
            false => "4".into(),
        }
    });
    let arguments: Vec<String> = arguments.collect();
    writeln!(
        text,
        "static char memory[16][1 << 22];\nint main(int, char **argv)\n{{\n    dropped = std::atoi(argv[1]);\n    {name}({});\n}}",
        arguments.join(", ")
    )
    .unwrap();
    (text, flags)
}

#[test]
fn each_flag_that_is_missing_in_built_cpp_is_found() {
    if !has_compiler("g++") {
        return;
    }
    let examples = [
        ("examples/sync/ping_pong.pto", "a5"),
        ("examples/sync/double.pto", "a2a3"),
        ("examples/softmax.pto", "a2a3"),
        ("examples/gemm.pto", "a5"),
    ];
    for (n, (file, profile)) in examples.into_iter().enumerate() {
        let (code, flags) = program(&build(file, profile));
        assert!(flags > 3, "{file} has {flags} flags");
        let source = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("built{n}.cpp"));
        std::fs::write(&source, &code).unwrap();
        let profile = format!("-DPTO_PROFILE_{}", profile.to_uppercase());
        let program = compile(&source, &[&profile], &format!("built{n}"));
        assert_eq!(run(&program, &["-1"], "error"), (0, String::new()), "{file}:\n{code}");
        for flag in 0..flags {
            let (code, text) = run(&program, &[&flag.to_string()], "error");
            assert!(code == 1 && text.contains("error["), "{file}, flag {flag}: {code}\n{text}");
        }
    }
}

/// The exit code of `tessera sanitize`, and its outputs.
fn sanitize(args: &[&str]) -> (u8, String, String) {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let mut session = Session {
        dir: root().join("tests/cpp"),
        stdin: &mut std::io::empty(),
        stdout: &mut stdout,
        stderr: &mut stderr,
        color: false,
        dialect: None,
    };
    let words = ["tessera", "sanitize"].iter().chain(args).map(|word| (*word).into());
    let code = tessera_cli::run(words, &mut session);
    (code, String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

#[test]
fn each_tool_of_the_sanitizer_finds_its_mistake_in_cpp() {
    if !has_compiler("g++") {
        return;
    }
    let source = root().join("tests/cpp/sanitize.cpp");
    let program = compile(&source, &["-DPTO_PROFILE_A5"], "sanitize");
    let program = program.to_str().unwrap();
    let text = std::fs::read_to_string(source).unwrap();
    let line_of = |tool: &str| text.lines().position(|line| line.contains("// ") && line.contains(tool)).unwrap() + 1;
    let tools = [
        ("memcheck", "error", "tassign-align", 1),
        ("initcheck", "warning", "undefined-read", 0),
        ("racecheck", "error", "race-raw", 1),
        ("synccheck", "error", "flag-leak", 1),
    ];
    for (tool, severity, rule, code) in tools {
        let (ended, stdout, stderr) = sanitize(&[program, "--tool", tool, "--format", "json"]);
        let finding: Vec<&str> = stdout.lines().collect();
        assert_eq!((ended, finding.len()), (code, 1), "{tool}: {stdout}{stderr}");
        for said in [
            format!("\"rule\":\"{rule}\""),
            format!("\"severity\":\"{severity}\""),
            format!("\"line\":{},", line_of(&format!(" {tool}"))),
        ] {
            assert!(stdout.contains(&said), "{tool}: {said}: {stdout}");
        }
    }
    let (code, stdout, stderr) = sanitize(&[program]);
    assert_eq!((code, stdout.as_str()), (1, "the kernel has run\n"));
    assert!(stderr.ends_with("4 findings\n"), "{stderr}");
    let (code, stdout, _) = sanitize(&[program, "--format", "sarif"]);
    assert_eq!((code, stdout.matches("\"ruleId\"").count()), (1, 4), "{stdout}");
    // Its arguments are the program's.
    let clean = compile(&root().join("tests/cpp/races.cpp"), &["-DPTO_PROFILE_A5"], "sanitized-races");
    let (code, _, stderr) = sanitize(&[clean.to_str().unwrap(), "--", "gemm"]);
    assert!(code == 0 && stderr.ends_with("nothing found\n"), "{stderr}");
    // What calls nothing was not compiled with the header.
    let (code, _, stderr) = sanitize(&["/bin/true"]);
    assert!(code == 2 && stderr.contains("called no instruction of Tessera"), "{stderr}");
}
