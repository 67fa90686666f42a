//! Emitted C++ does what the text does: sample programs are emitted, compiled, run, and compared with what they must
//! give. `TESSERA_EMIT_CASES=DIR` runs the cases of another folder instead.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking, and tells what it left out"
)]

mod case;
#[path = "../support/mod.rs"]
mod support;

use case::Case;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use tessera::program::{Kernel, Need, Program};
use tessera_ir::{ScalarType, ValueId};
use tessera_isa::diag::Diagnostic;
use tessera_isa::ops::{AttrName, Family, Opcode};
use tessera_isa::profile::Profile;
use tessera_isa::tile::Extent;
use tessera_testkit::cases;

/// Cases that together have every instruction and every kind of program; compiling all of them would take minutes.
const SAMPLES: &[&str] = &[
    "001-tmov_fp-a2a3-dps",
    "004-tconcat-cpu-ssa",
    "007-textract_fp-a2a3-ssa",
    "009-tinsert_fp-a5-dps",
    "011-tfillpad_inplace-a2a3-gm",
    "012-tfillpad_expand-a5-gm",
    "013-timg2col-a2a3-dps",
    "014-tinterleave-cpu-gm",
    "020-convtile-cpu-gm",
    "057-init-a2a3-ssa",
    "061-assign-cpu-asm",
    "062-views-a5-gm",
    "063-alias-cpu-dps",
    "065-control-cpu-gm",
    "066-calls-a2a3-gm",
    "067-blocks-a5-gm",
    "068-undefined-a5-gm",
    "069-footprint-a5-dps",
    "084-tinsert-a5-asm",
    "229-tmov_fp-a5-gm",
];

/// The same of instructions that compute, and of kernels.
const COMPUTED: &[&str] = &[
    "037-tlrelu-a2a3-dps",
    "078-tpairreducesum-cpu-ssa",
    "081-tmatmul_bias-cpu-gm",
    "091-tget_scale_addr-a5-dps",
    "096-trandom-cpu-gm",
    "097-thistogram-a5-gm",
    "099-tgather-compare-cpu-dps",
    "100-tgather-mask-a2a3-dps",
    "103-tsort32-a2a3-gm",
    "104-tmrgsort-blocks-a5-gm",
    "105-tmrgsort-lists-cpu-dps",
    "112-tquant-a2a3-asm",
    "114-tgetval-cpu-gm",
    "115-tsetval-a2a3-gm",
    "116-tprint-a5-dps",
    "117-tload-cpu-gm",
    "118-tstore-a2a3-gm",
    "119-tstore_fp-a5-gm",
    "120-tprefetch-cpu-gm",
    "121-mgather-a2a3-gm",
    "122-mscatter-a5-gm",
    "123-softmax-cpu-gm",
    "124-layernorm-a2a3-gm",
    "126-topk-cpu-gm",
    "127-rope-a2a3-gm",
    "128-blocked_matmul-a5-gm",
    "129-attention-a5-gm",
    "130-mixed-a2a3-gm",
];

/// A case as C++: the emitted kernel, and a function that runs it on files.
struct Translation {
    name: String,
    profile: Profile,
    code: String,
    /// Output files, with what they must be equal to.
    expected: Vec<(PathBuf, Vec<u8>)>,
}

/// The text of the function that runs a kernel, while it is written.
#[derive(Default)]
struct Runner {
    before: String,
    arguments: Vec<String>,
    after: String,
    expected: Vec<(PathBuf, Vec<u8>)>,
}

impl Runner {
    fn input(&mut self, variable: &str, file: &Path, bytes: &[u8]) {
        std::fs::write(file, bytes).unwrap();
        writeln!(self.before, "    Buffer {variable}(\"{}\");", file.display()).unwrap();
        self.arguments.push(variable.into());
    }

    fn output(&mut self, variable: &str, file: PathBuf, want: &[u8]) {
        writeln!(self.after, "    {variable}.Write(\"{}\");", file.display()).unwrap();
        self.expected.push((file, want.to_vec()));
    }
}

fn translate(case: &Case, scratch: &Path) -> Result<Translation, String> {
    let program = Program::read(&case.text, Some(case.profile));
    let kernel = program.entry().map_err(|e| e.to_string())?;
    let code = tessera_emit::cpp(program.module(), kernel.func(), case.profile).map_err(|d| d.message)?;
    let mut runner = Runner::default();
    let file = |value: &str, kind: &str| scratch.join(format!("{}.{value}.{kind}", case.name));
    for value in &kernel.func().args {
        argument(case, &kernel, *value, &file, &mut runner)?;
    }
    for value in &kernel.func().outputs {
        let id = kernel.name(*value);
        match case.expected.get(id) {
            Some(want) => {
                let variable = format!("o_{id}");
                writeln!(runner.before, "    Buffer {variable}(size_t{{{}}});", want.len()).unwrap();
                runner.arguments.push(variable.clone());
                runner.output(&variable, file(id, "out"), want);
            }
            None => runner.arguments.push("nullptr".into()),
        }
    }
    if runner.expected.len() < case.expected.len() {
        return Err("an output of the case is a value inside the kernel".into());
    }
    let signature = code.split("AICORE void ").nth(1).and_then(|t| t.lines().next()).unwrap_or_default();
    for (parameter, argument) in [("int64_t block_idx", "block"), ("int64_t block_num", "blocks")] {
        runner.arguments.extend(signature.contains(parameter).then(|| argument.to_string()));
    }
    let entry = signature.split('(').next().unwrap_or_default();
    let Runner { before, arguments, after, expected } = runner;
    let code = format!(
        "namespace {} {{\n{code}\nstatic void Run()\n{{\n{before}    const int64_t blocks = {};\n    for (int64_t block = 0; \
         block < blocks; ++block) {{\n        pto::Reset();\n        {entry}({});\n    }}\n{after}}}\n}} // namespace\n\n",
        case.name,
        case.blocks,
        arguments.join(", "),
    );
    Ok(Translation { name: case.name.clone(), profile: case.profile, code, expected })
}

fn argument(
    case: &Case,
    kernel: &Kernel,
    value: ValueId,
    file: &impl Fn(&str, &str) -> PathBuf,
    runner: &mut Runner,
) -> Result<(), String> {
    let id = kernel.name(value);
    let input = case.inputs.get(id);
    let variable = format!("a_{id}");
    match kernel.need(value) {
        Need::Scalar(ty) => {
            let text = case.scalars.get(id).cloned().ok_or("a scalar is not set")?;
            runner.arguments.push(match ty {
                // Hexadecimal digits are the bits of a float.
                ScalarType::Float(elem) if text.starts_with("0x") => format!("pto::FromBits<{}>({text})", elem.cpp()),
                _ => text,
            });
        }
        Need::Buffer(_, dims) => {
            let want = case.expected.get(id);
            match (input, want) {
                (Some(npy), _) => runner.input(&variable, &file(id, "in"), &npy.bytes),
                (None, Some(want)) => {
                    writeln!(runner.before, "    Buffer {variable}(size_t{{{}}});", want.len()).unwrap();
                    runner.arguments.push(variable.clone());
                }
                (None, None) => return Err(format!("{id} has no file")),
            }
            let shape = input.map_or(&[][..], |n| &n.shape);
            let unknown = dims.iter().flatten().zip(shape).filter(|(d, _)| d.is_none());
            runner.arguments.extend(unknown.map(|(_, n)| n.to_string()));
            if let Some(want) = want {
                runner.output(&variable, file(id, "out"), want);
            }
        }
        Need::Tile(t) => {
            match input {
                Some(npy) => runner.input(&variable, &file(id, "in"), &npy.bytes),
                None => runner.arguments.push("nullptr".into()),
            }
            let shape = input.map_or(vec![t.rows, t.cols], |n| n.shape.clone());
            for (extent, n) in [(t.v_row, shape.first()), (t.v_col, shape.last())] {
                if extent == Extent::Dynamic {
                    runner.arguments.push(n.copied().unwrap_or(0).to_string());
                }
            }
        }
        Need::Conv(_) => runner.input(&variable, &file(id, "in"), &input.ok_or("a conv tile has no file")?.bytes),
        _ => {}
    }
    Ok(())
}

const HEAD: &str = r#"
#include <cstdio>
#include <cstring>
#include <vector>
#include <pto/pto-inst.hpp>

// Bytes of a file, as a pointer to whatever the kernel wants.
struct Buffer {
    explicit Buffer(const char *path)
    {
        FILE *f = std::fopen(path, "rb");
        std::fseek(f, 0, SEEK_END);
        bytes.resize(static_cast<size_t>(std::ftell(f)));
        std::rewind(f);
        if (std::fread(bytes.data(), 1, bytes.size(), f) != bytes.size()) {
            std::abort();
        }
        std::fclose(f);
    }
    explicit Buffer(size_t size) : bytes(size) {}
    void Write(const char *path)
    {
        FILE *f = std::fopen(path, "wb");
        std::fwrite(bytes.data(), 1, bytes.size(), f);
        std::fclose(f);
    }
    template <typename T>
    operator T *()
    {
        return reinterpret_cast<T *>(bytes.data());
    }
    std::vector<unsigned char> bytes;
};

"#;

/// Compiles all kernels of a profile as one program and runs it; gives what went wrong.
fn compile_and_run(profile: Profile, translations: &[&Translation], scratch: &Path) -> Vec<String> {
    let mut code = format!("#define PTO_PROFILE_{}\n{HEAD}", profile.name().to_uppercase());
    let mut calls = String::new();
    for t in translations {
        code += &t.code;
        let catch = "catch (const pto::Error &e)";
        writeln!(
            calls,
            "    try {{ {0}::Run(); }} {catch} {{ std::fprintf(stderr, \"{0}: %s\\n\", e.what()); }}",
            t.name
        )
        .unwrap();
    }
    write!(code, "int main()\n{{\n{calls}    return 0;\n}}\n").unwrap();
    let (source, exe) = (scratch.join(format!("{profile}.cpp")), scratch.join(format!("{profile}.exe")));
    std::fs::write(&source, code).unwrap();
    let compiled = Command::new("g++")
        .args(["-std=c++17", "-Wall", "-Wextra", "-Werror", "-I"])
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("include"))
        .arg(&source)
        .arg(support::library())
        .args(["-lpthread", "-ldl", "-lm", "-o"])
        .arg(&exe)
        .output()
        .unwrap();
    if !compiled.status.success() {
        return vec![String::from_utf8_lossy(&compiled.stderr).into_owned()];
    }
    let ran = Command::new(&exe).output().unwrap();
    // What a kernel prints is its own.
    let mut wrong: Vec<String> = String::from_utf8_lossy(&ran.stderr).lines().map(str::to_string).collect();
    if !ran.status.success() {
        wrong.push(format!("{profile}: {}", ran.status));
    }
    for (path, want) in translations.iter().flat_map(|t| &t.expected) {
        let got = std::fs::read(path).unwrap_or_default();
        if got != *want {
            let at = got.iter().zip(want).position(|(a, b)| a != b);
            wrong.push(format!("{} differs at byte {at:?}", path.file_name().unwrap().to_string_lossy()));
        }
    }
    wrong
}

/// Runs cases; gives how many ran, and those that could not be translated.
fn run_all(cases: Vec<Case>, folder: &str) -> (usize, Vec<String>) {
    let scratch = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(folder);
    std::fs::create_dir_all(&scratch).unwrap();
    let (mut translations, mut skipped) = (Vec::new(), Vec::new());
    for case in cases {
        match translate(&case, &scratch) {
            Ok(t) => translations.push(t),
            Err(why) => skipped.push(format!("{}: {why}", case.name)),
        }
    }
    let mut wrong = Vec::new();
    for profile in Profile::ALL {
        let of_profile: Vec<&Translation> = translations.iter().filter(|t| t.profile == profile).collect();
        wrong.extend(compile_and_run(profile, &of_profile, &scratch));
    }
    assert!(wrong.is_empty(), "{} cases, wrong:\n{}", translations.len(), wrong.join("\n"));
    (translations.len(), skipped)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    all.sort();
    all
}

#[test]
fn samples_give_what_they_must() {
    if !support::has_compiler("g++") {
        return;
    }
    let given = std::env::var_os("TESSERA_EMIT_CASES").map(PathBuf::from);
    let own = |set: &str, names: &[&str]| -> Vec<cases::Case> {
        let all = cases::of(set, "legal").unwrap();
        all.into_iter().filter(|case| names.contains(&case.name.as_str())).collect()
    };
    let samples = match &given {
        Some(folder) => cases::read(folder).unwrap(),
        None => [own("cases", SAMPLES), own("cases-compute", COMPUTED)].concat(),
    };
    let (count, skipped) = run_all(samples.iter().filter_map(Case::sample).collect(), "samples");
    // Every case of ours can be emitted; of other folders, what cannot is told.
    println!("{count} cases, skipped {skipped:#?}");
    assert!(given.is_some() || (skipped.is_empty() && count == SAMPLES.len() + COMPUTED.len()));
}

#[test]
fn programs_give_what_the_simulator_gives() {
    if !support::has_compiler("g++") {
        return;
    }
    let programs = files(&support::root().join("tests/programs"));
    let cases = programs.iter().flat_map(|file| Profile::ALL.map(|p| Case::simulated(file, p))).flatten().collect();
    let (count, skipped) = run_all(cases, "programs");
    assert!(skipped.is_empty() && count >= 10, "{count} cases, skipped {skipped:#?}");
}

/// Every form of every row, wherever its example is legal.
#[test]
fn examples_of_rows_give_what_the_simulator_gives() {
    if !support::has_compiler("g++") {
        return;
    }
    let mut cases = Vec::new();
    // Conv tiles and configurations are in the samples.
    let has_tiles = |op: &&Opcode| op.info().family != Family::Support && !op.info().forms.is_empty();
    let is_conv = |op: &Opcode| op.info().attrs.contains(&AttrName::Kernel);
    for op in Opcode::ALL.iter().filter(has_tiles).filter(|op| !is_conv(op)) {
        let before = cases.len();
        for shape in op.shapes().iter().enumerate() {
            cases.extend(Profile::ALL.iter().filter_map(|p| Case::example(*op, shape, *p)));
        }
        assert!(cases.len() > before, "{op} has no example");
    }
    let (count, skipped) = run_all(cases, "examples");
    assert!(skipped.is_empty() && count > 0, "{count} cases, skipped {skipped:#?}");
}

#[test]
fn what_cpp_cannot_say_is_refused() {
    let refused = |text: &str| {
        let program = Program::read(text, None);
        assert!(!program.check().iter().any(Diagnostic::is_error), "{:?}", program.check());
        let kernel = program.entry().unwrap();
        tessera_emit::cpp(program.module(), kernel.func(), program.profile()).unwrap_err().message
    };
    let wide = "func.func @k(%n: i64, %p: !pto.ptr<bf16>) {\n  %b = arith.sitofp %n : i64 to bf16\n  \
                pto.store_scalar %b, %p[0] : !pto.ptr<bf16>, bf16\n  return\n}";
    assert_eq!(refused(wide), "an integer of 64 bits as bfloat16_t cannot be written in C++");
}
