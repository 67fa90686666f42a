//! Programs that ask for too much: every bound is met, and says so. Judged by work, sentences and exit codes, not by time.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use tessera_cli::{Session, run};
use tessera_testkit::random::Random;

/// The exit code, standard output and standard error of a command line on a program.
fn tessera(words: &str, program: &str) -> (u8, String, String) {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let mut stdin = program.as_bytes();
    let mut session = Session {
        dir: PathBuf::new(),
        stdin: &mut stdin,
        stdout: &mut stdout,
        stderr: &mut stderr,
        color: false,
        dialect: None,
    };
    let args = std::iter::once("tessera").chain(words.split_whitespace()).map(OsString::from);
    let code = run(args, &mut session);
    (code, String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

/// A kernel on three 64x64 tiles %a, %b and %c: what is loaded, a body, and a store of %b.
fn kernel(elem: &str, body: &str) -> String {
    let tile = format!("!pto.tile_buf<vec, 64x64x{elem}>");
    let view = format!("!pto.tensor_view<?x?x{elem}>");
    let mut text = format!(
        "func.func @k(%x: !pto.ptr<{elem}>, %y: !pto.ptr<{elem}>, %n: index) attributes {{pto.entry}} {{\n\
         %c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n%c64 = arith.constant 64 : index\n"
    );
    for (name, pointer) in [("from", "x"), ("to", "y")] {
        writeln!(
            text,
            "%{name} = pto.make_tensor_view %{pointer}, shape = [%c64, %c64], strides = [%c64, %c1] : {view}"
        )
        .unwrap();
    }
    for name in ["a", "b", "c"] {
        writeln!(text, "%{name} = pto.alloc_tile : {tile}\npto.tload ins(%from : {view}) outs(%{name} : {tile})")
            .unwrap();
    }
    format!("{text}{body}pto.tstore ins(%b : {tile}) outs(%to : {view})\nreturn\n}}\n")
}

fn binary(elem: &str, op: &str, [a, b, d]: [&str; 3]) -> String {
    let tile = format!("!pto.tile_buf<vec, 64x64x{elem}>");
    format!("pto.{op} ins(%{a}, %{b} : {tile}, {tile}) outs(%{d} : {tile})\n")
}

/// Loops in loops around a body, each of %n rounds.
fn loops(depth: usize, body: &str) -> String {
    let begin: String = (0..depth).map(|n| format!("scf.for %i{n} = %c0 to %n step %c1 {{\n")).collect();
    format!("{begin}{body}{}", "}\n".repeat(depth))
}

/// Formulas as deep as the loops are long.
fn deep() -> String {
    kernel("f32", &loops(5, &binary("f32", "tadd", ["a", "b", "b"])))
}

/// Sums of products of sums, of which every one could be taken apart.
fn sums() -> String {
    let body = [
        binary("i32", "tmul", ["a", "b", "b"]),
        binary("i32", "tadd", ["a", "b", "a"]),
        binary("i32", "tadd", ["a", "b", "b"]),
    ];
    kernel("i32", &loops(3, &body.concat()))
}

/// Hundreds of instructions on the same tiles: no two of them are alike, and none can go.
fn straight() -> String {
    let mut random = Random(7);
    let mut line = |_| {
        let op = random.pick(&["tadd", "tmul", "tmax", "tsub"]);
        binary("f32", op, [(); 3].map(|()| random.pick(&["a", "b", "c"])))
    };
    kernel("f32", &(0..200).map(&mut line).collect::<String>())
}

#[test]
fn proofs_stop_at_the_work_that_is_allowed() {
    for (program, n) in [(deep(), 64), (sums(), 64), (straight(), 1)] {
        let file = std::env::temp_dir().join(format!("tessera-limits-{}-{}.pto", std::process::id(), program.len()));
        std::fs::write(&file, &program).unwrap();
        let file = file.display();
        let known = format!("--profile a5 --set n={n} --limit-work 100K");
        for words in [format!("equiv {file} {file} {known}"), format!("opt {file} {known}")] {
            let (code, out, err) = tessera(&words, "");
            assert_eq!(code, 3, "{words}: {out}{err}");
            let said = format!("{out}{err}");
            assert!(said.contains("more than 100000 elements and operands were computed after"), "{said}");
            assert!(said.contains("--limit-work"), "{said}");
        }
        std::fs::remove_file(file.to_string()).unwrap();
    }
}

/// A trace computes nothing, but it keeps what happened.
#[test]
fn a_trace_stops_at_the_memory_that_is_allowed() {
    let (code, out, err) = tessera("trace - --at y[0] --profile a5 --set n=64 --max-memory 4MiB", &deep());
    assert_eq!(code, 3, "{out}{err}");
    assert!(out.contains("--max-memory") || out.contains("--limit-work"), "{out}{err}");
}

#[test]
fn an_optimizer_that_is_out_of_work_puts_out_what_it_proved() {
    let program = kernel("f32", &(0..40).map(|_| binary("f32", "tadd", ["a", "b", "b"])).collect::<String>());
    let (code, out, err) = tessera("opt - --profile a5 --set n=1 --limit-work 3M", &program);
    assert_eq!(code, 3, "{err}");
    assert!(err.contains("stopped after 3000000 elements and operands were computed; --limit-work 12000000"), "{err}");
    let (code, again, err) = tessera("check - --profile a5", &out);
    assert_eq!(code, 0, "{again}{err}");
}

/// Runs the command as a process.
fn process(words: &str, program: &str) -> std::process::Child {
    let mut child = Command::new(env!("CARGO_BIN_EXE_tessera"))
        .args(words.split_whitespace())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(program.as_bytes()).unwrap();
    child
}

/// A run is bounded by its steps, which may take hours; the process has a limit of its own.
#[test]
fn a_process_ends_at_its_processor_time() {
    let words = "run - --profile a5 --set n=40 --shape x=64x64 --shape y=64x64 --limit-time 1s";
    let done = process(words, &deep()).wait_with_output().unwrap();
    let err = String::from_utf8(done.stderr).unwrap();
    assert_eq!(done.status.code(), Some(3), "{err}");
    assert!(err.starts_with("error: the limit of 1 s of processor time was met (running: "), "{err}");
    assert!(err.ends_with(" steps); --limit-time 4s allows more\n"), "{err}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_process_ends_at_its_memory() {
    let far = "func.func @k(%x: !pto.ptr<i32>) attributes {pto.entry} {\n%far = arith.constant 100000000 : index\n\
               %one = arith.constant 1 : i32\npto.store_scalar %one, %x[%far] : !pto.ptr<i32>, i32\nreturn\n}\n";
    let done = process("run - --out x=- --limit-memory 64MiB", far).wait_with_output().unwrap();
    let err = String::from_utf8(done.stderr).unwrap();
    assert_eq!(done.status.code(), Some(3), "{err}");
    assert!(err.starts_with("error: the limit of 64 MiB of memory was met"), "{err}");
}

/// A buffer that is found to be longer one element after the other is followed in time in proportion to it.
#[test]
fn a_buffer_that_grows_is_followed_within_the_limit_of_the_process() {
    let program = "func.func @k(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) {\n%c0 = arith.constant 0 : index\n\
         %c1 = arith.constant 1 : index\n%n = arith.constant 100000 : index\nscf.for %i = %c0 to %n step %c1 {\n\
         %v = pto.load_scalar %x[%i] : !pto.ptr<f32> -> f32\npto.store_scalar %v, %y[%i] : !pto.ptr<f32>, f32\n}\n\
         return\n}\n";
    let done = process("trace - --at y[7]", program).wait_with_output().unwrap();
    let (out, err) = (String::from_utf8(done.stdout).unwrap(), String::from_utf8(done.stderr).unwrap());
    assert!(!err.contains("processor time"), "{err}");
    // How it ends does not matter here: what is loaded as a scalar is data.
    assert!(format!("{out}{err}").contains("loaded as a scalar"), "{out}{err}");
}

/// An interrupt ends a proof, a run and a search for races in the middle.
#[cfg(unix)]
#[test]
fn an_interrupt_ends_every_command() {
    let words = [
        "opt - --profile a5 --set n=64 --limit-work 100G --max-memory 100GiB",
        "run - --profile a5 --set n=40 --shape x=64x64 --shape y=64x64",
        "run - --profile a5 --set n=40 --shape x=64x64 --shape y=64x64 --races",
    ];
    for words in words {
        let mut child = process(words, &deep());
        std::thread::sleep(std::time::Duration::from_millis(300));
        assert!(child.try_wait().unwrap().is_none(), "{words}: it ended by itself");
        let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(killed.success());
        assert_eq!(child.wait().unwrap().code(), Some(130), "{words}");
    }
}

/// A server whose editor talks nonsense, or dies in the middle of a message, ends and says why.
#[test]
fn a_server_survives_its_client() {
    let initialize = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}"#;
    let message = |text: &str| format!("Content-Length: {}\r\n\r\n{text}", text.len());
    let good = message(initialize);
    let inputs = [
        String::new(),
        "garbage\r\n\r\n".to_string(),
        "Content-Length: -1\r\n\r\n{}".to_string(),
        "Content-Length: 99999999999999999999\r\n\r\n{}".to_string(),
        "Content-Length: 1000\r\n\r\n{\"jsonrpc\":".to_string(),
        message("{\"jsonrpc\": \"2.0\", \"id\": {}, \"method\": 7}"),
        message("[[[[[["),
        message(&"[".repeat(100_000)),
        format!("{good}{}", message("not json")),
        format!("{good}Content-Length: 50\r\n\r\n{{"),
    ];
    for input in inputs {
        let done = process("lsp", &input).wait_with_output().unwrap();
        let err = String::from_utf8(done.stderr).unwrap();
        let start: String = input.chars().take(60).collect();
        assert!(matches!(done.status.code(), Some(1 | 2)), "{start:?}: {:?} {err}", done.status);
        assert!(!err.contains("panicked"), "{start:?}: {err}");
    }
}
