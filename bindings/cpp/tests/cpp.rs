//! The C++ headers compiled and run: with `g++` and with a `clang++`, where they are installed, or with all of `TESSERA_COMPILERS`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking, and tells what it left out"
)]

mod support;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use support::{compilers, has_compiler, library, root};
use tessera_isa::ops::{Family, Opcode};

fn compile(compiler: &str, flags: &[&str], source: &Path, out: &Path) -> Output {
    let mut command = Command::new(compiler);
    // Sanitizers, for example.
    let more = std::env::var("TESSERA_CXXFLAGS").unwrap_or_default();
    command
        .args(flags)
        .args(more.split_whitespace())
        .args(["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I"])
        .arg(root().join("include"));
    command.arg(source).arg(library()).args(["-lpthread", "-ldl", "-lm", "-o"]).arg(out);
    command.output().unwrap()
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn compile_and_run(name: &str) {
    compile_and_run_with(name, &["-std=c++17"]);
}

fn compile_and_run_with(name: &str, flags: &[&str]) {
    compile_and_run_with_args(name, flags, &[]);
}

fn compile_and_run_with_args(name: &str, flags: &[&str], args: &[&str]) {
    for compiler in compilers() {
        let source = root().join("tests/cpp").join(format!("{name}.cpp"));
        let out = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{compiler}"));
        let compiled = compile(&compiler, flags, &source, &out);
        assert!(compiled.status.success(), "{compiler} {name}:\n{}", text(&compiled));
        let ran = Command::new(&out).args(args).output().unwrap();
        assert!(ran.status.success(), "{name} by {compiler}:\n{}", text(&ran));
    }
}

#[test]
fn the_examples_of_the_pages_run() {
    compile_and_run("examples");
}

/// Programs that are written for the host's simulator.
#[test]
fn programs_for_the_host_run() {
    compile_and_run_with("host", &["-std=c++20", "-D__CPU_SIM"]);
}

/// Programs as a test-suite for the simulator has them.
#[test]
fn programs_of_a_suite_run() {
    compile_and_run_with("suite", &["-std=c++20", "-D__CPU_SIM"]);
}

/// Beside the names of programs, macros included.
#[test]
fn names_of_programs_do_not_collide() {
    compile_and_run_with("names", &["-std=c++20", "-D__CPU_SIM"]);
}

#[test]
fn conv_tiles_move_between_shapes_and_layouts() {
    compile_and_run("conv");
}

/// The files that programs name (cpp.md 1): each may come first and alone.
#[test]
fn every_named_header_stands_alone() {
    let named = [
        "common/constants.hpp",
        "common/type.hpp",
        "common/pto_tile.hpp",
        "common/memory.hpp",
        "common/utils.hpp",
        "common/event.hpp",
        "common/pto_instr.hpp",
        "common/cpu_stub.hpp",
        "common/debug.h",
        "common/fifo.hpp",
        "common/fixpipe.hpp",
        "cpu/tile_offsets.hpp",
        "cpu/MXTypes.hpp",
        "comm/comm_types.hpp",
        "comm/pto_comm_inst.hpp",
        "comm/pto_comm_instr_impl.hpp",
    ];
    if !has_compiler("g++") {
        return;
    }
    for name in named {
        let source = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("alone.cpp");
        std::fs::write(&source, format!("#include <pto/{name}>\n#include <pto/pto-inst.hpp>\nint main() {{}}\n"))
            .unwrap();
        let mut command = Command::new("g++");
        command.args(["-std=c++17", "-D__CPU_SIM", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-I"]);
        let output = command.arg(root().join("include")).arg(&source).output().unwrap();
        assert!(output.status.success(), "{name}:\n{}", text(&output));
    }
}

#[test]
fn cores_that_are_threads_meet_in_pipes() {
    compile_and_run_with("pipes", &["-std=c++20", "-D__CPU_SIM"]);
}

#[test]
fn devices_of_one_process_communicate() {
    compile_and_run_with("communication", &["-std=c++20", "-D__CPU_SIM"]);
}

#[test]
fn cpu_differs_where_it_must() {
    compile_and_run_with("differences", &["-std=c++20", "-D__CPU_SIM"]);
}

/// Errors that no handler takes: thrown and caught or not, in any thread, printed, or the end.
#[test]
fn errors_have_a_place_and_an_end() {
    compile_and_run_with_args("errors", &["-std=c++17", "-D__CPU_SIM"], &["caught"]);
    for compiler in compilers() {
        let program = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("errors-{compiler}"));
        let run = |mode: &str, what: &str| {
            let ran = Command::new(&program).arg(what).env("TESSERA_ERRORS", mode).output().unwrap();
            (ran.status.code(), text(&ran))
        };
        let place = |said: &str, line: u32| said.contains(&format!("errors.cpp:{line}: error[tinsert-bounds]: "));
        for (what, line) in [("", 39), ("thread", 14)] {
            let (code, said) = run("throw", what);
            assert!(code == Some(1) && place(&said, line) && said.contains("help: "), "{what}: {code:?} {said}");
        }
        assert_eq!(run("", "own").0, Some(7));
        // Whatever else ends a program is left to whoever was asked before.
        let (code, said) = run("", "other");
        assert!(code.is_none() && said.contains("not ours"), "{code:?} {said}");
        let (code, said) = run("print", "");
        assert!(code == Some(1) && said.contains("went on, 2 errors"), "{code:?} {said}");
        assert!(place(&said, 39) && place(&said, 40), "{said}");
        assert_eq!(run("print", "three").0, Some(3));
        let (code, said) = run("abort", "");
        assert!(code.is_none() && place(&said, 39) && !said.contains("went on"), "{code:?} {said}");
        let (code, said) = run("often", "");
        assert!(code == Some(1) && said.contains("TESSERA_ERRORS is 'often'"), "{code:?} {said}");
    }
}

#[test]
fn kernels_move_what_they_should() {
    compile_and_run("kernels");
}

#[test]
fn views_are_stored_to_and_picked_from() {
    compile_and_run("transfer");
}

#[test]
fn overloads_do_what_they_should() {
    compile_and_run("intrinsics");
}

#[test]
fn kernels_compute_what_they_should() {
    compile_and_run("compute");
}

/// The kernel calls every instruction of the vector unit.
#[test]
fn the_vector_unit_computes_what_it_should() {
    let kernel = std::fs::read_to_string(root().join("tests/cpp/vector.cpp")).unwrap();
    let vector = [Family::Elementwise, Family::Scalar, Family::Reduce];
    for op in Opcode::ALL.iter().filter(|op| vector.contains(&op.info().family)) {
        let is_called = |name: &str| kernel.contains(&format!(" {name}(")) || kernel.contains(&format!(" {name}<"));
        assert!(op.info().cpp.iter().all(|name| is_called(name)), "{op} is not called");
    }
    compile_and_run("vector");
}

#[test]
fn misuse_is_refused_at_run_time() {
    compile_and_run("misuse");
}

#[test]
fn the_kernel_of_the_guide_runs_and_is_the_one_in_the_guide() {
    compile_and_run("kernel");
    let kernel = std::fs::read_to_string(root().join("tests/cpp/kernel.cpp")).unwrap();
    let guide = std::fs::read_to_string(root().join("../../docs/cpp.md")).unwrap();
    let code = kernel.split_once('\n').unwrap().1;
    assert!(guide.contains(code), "docs/cpp.md shows another kernel than tests/cpp/kernel.cpp");
}

#[test]
fn the_c_header_is_c() {
    let header = root().join("include/tessera.h");
    for compiler in compilers() {
        let mut command = Command::new(&compiler);
        command.args(["-x", "c", "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]);
        let output = command.arg(&header).output().unwrap();
        assert!(output.status.success(), "{compiler}:\n{}", text(&output));
    }
}

/// Every line that is marked is refused with the rules it names, and no other line is.
fn refused(name: &str) {
    let source = root().join("tests/cpp").join(format!("{name}.cpp"));
    let mut marked: BTreeMap<String, usize> = BTreeMap::new();
    for line in std::fs::read_to_string(&source).unwrap().lines() {
        let ids = line.split_once("// refused:").map_or("", |(_, ids)| ids);
        for id in ids.split_whitespace() {
            *marked.entry(id.to_string()).or_default() += 1;
        }
    }
    assert!(marked.len() > 5);
    for compiler in compilers() {
        let output = Command::new(&compiler)
            .args(["-std=c++17", "-fsyntax-only"])
            .arg(if compiler.starts_with("g++") { "-fmax-errors=0" } else { "-ferror-limit=0" })
            .arg("-I")
            .arg(root().join("include"))
            .arg(&source)
            .output()
            .unwrap();
        let said = text(&output);
        let mut found: BTreeMap<String, usize> = BTreeMap::new();
        let failed = ["static assertion failed", "static_assert failed"];
        let messages = said.lines().filter_map(|l| failed.iter().find_map(|words| l.split_once(words)).map(|(_, m)| m));
        for message in messages {
            // g++: `failed: tile-align: …`; clang++: `failed due to requirement '…': tile-align: …`, older ones with the
            // text in quotes.
            let words = message.split([' ', '"']).filter_map(|w| w.strip_suffix(':'));
            let id = words.into_iter().find(|w| marked.contains_key(*w)).unwrap_or(message);
            *found.entry(id.to_string()).or_default() += 1;
        }
        assert!(!output.status.success());
        assert!(marked.keys().eq(found.keys()), "{compiler}: marked {marked:?}, refused {found:?}");
        assert!(found.iter().all(|(id, n)| *n >= marked[id]), "{compiler}: marked {marked:?}, refused {found:?}");
    }
}

#[test]
fn misuse_does_not_compile_on_a2a3() {
    refused("refused_a2a3");
}

#[test]
fn misuse_does_not_compile_on_a5() {
    refused("refused_a5");
}
