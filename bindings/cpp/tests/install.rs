//! What is installed, by the script and by CMake, is found by pkg-config and by find_package, and runs with either library.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;
use support::{has_compiler, library, root};

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}:\n{said}");
    said
}

/// An empty folder.
fn fresh(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// A folder with the libraries under the names that cargo gives them for users.
fn built() -> PathBuf {
    let folder = fresh("built");
    let archive = library();
    std::fs::copy(&archive, folder.join("libtessera_capi.a")).unwrap();
    let beside = archive.with_extension("so");
    let shared = [beside, archive.with_file_name("libtessera_capi.so")].into_iter().find(|path| path.exists());
    std::fs::copy(shared.expect("cargo builds the shared library too"), folder.join("libtessera_capi.so")).unwrap();
    folder
}

fn kernel() -> PathBuf {
    root().join("tests/cpp/kernel.cpp")
}

fn by_pkg_config(prefix: &Path, out: &Path) {
    if !has_compiler("pkg-config") {
        return;
    }
    for is_static in [false, true] {
        let mut asked = Command::new("pkg-config");
        asked.args(["--cflags", "--libs", "tessera"]).env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig"));
        let flags = run(&mut asked);
        let program = out.join(if is_static { "static" } else { "shared" });
        let mut compile = Command::new("g++");
        compile.args(["-std=c++17", "-O1"]).arg(kernel());
        let flags = flags.split_whitespace();
        if is_static {
            compile.args(flags.filter(|f| f.starts_with("-I"))).arg(prefix.join("lib/libtessera.a"));
            compile.args(["-lpthread", "-ldl", "-lm"]);
        } else {
            compile.args(flags);
        }
        run(compile.arg("-o").arg(&program));
        run(&mut Command::new(&program));
    }
}

#[test]
fn the_script_installs_what_pkg_config_finds() {
    if !cfg!(target_os = "linux") || !has_compiler("g++") {
        return;
    }
    let (prefix, built) = (fresh("by-script"), built());
    run(Command::new(root().join("install/install.sh")).arg(&prefix).arg(&built));
    by_pkg_config(&prefix, &fresh("with-pkg-config"));
    // The same folder serves CMake.
    if has_compiler("cmake") {
        with_cmake(&prefix, &built);
    }
}

fn with_cmake(prefix: &Path, built: &Path) {
    let installed = fresh("by-cmake");
    let build = fresh("cmake-build");
    let mut configure = Command::new("cmake");
    configure.arg("-S").arg(root()).arg("-B").arg(&build);
    configure.arg(format!("-DTESSERA_LIBRARY_DIR={}", built.display())).arg("-DCMAKE_INSTALL_LIBDIR=lib");
    run(&mut configure);
    run(Command::new("cmake").arg("--install").arg(&build).arg("--prefix").arg(&installed));
    let list = |folder: &Path| {
        let mut files = Vec::new();
        let mut todo = vec![folder.to_path_buf()];
        while let Some(next) = todo.pop() {
            for entry in std::fs::read_dir(next).unwrap().map(Result::unwrap) {
                let path = entry.path();
                if path.is_dir() { todo.push(path) } else { files.push(path.strip_prefix(folder).unwrap().to_owned()) }
            }
        }
        files.sort();
        files
    };
    assert_eq!(list(prefix), list(&installed));
    let project = fresh("user");
    std::fs::copy(kernel(), project.join("kernel.cpp")).unwrap();
    let text = "cmake_minimum_required(VERSION 3.16)\nproject(user CXX)\nfind_package(tessera 0.1 REQUIRED)\n\
                add_executable(one kernel.cpp)\ntarget_link_libraries(one tessera::tessera)\n\
                add_executable(two kernel.cpp)\ntarget_link_libraries(two tessera::shared)\n";
    std::fs::write(project.join("CMakeLists.txt"), text).unwrap();
    let out = project.join("build");
    let mut configure = Command::new("cmake");
    configure.arg("-S").arg(&project).arg("-B").arg(&out);
    run(configure.arg(format!("-DCMAKE_PREFIX_PATH={}", installed.display())));
    run(Command::new("cmake").arg("--build").arg(&out));
    run(&mut Command::new(out.join("one")));
    run(&mut Command::new(out.join("two")));
}
