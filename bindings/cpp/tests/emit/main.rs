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
use tessera_emit::{Function, Options, Parameter};
use tessera_ir::{Core, ScalarType};
use tessera_isa::diag::Diagnostic;
use tessera_isa::ops::{AttrName, Family, Opcode, Role};
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

/// Days after which every case has been tried.
const TURNS: usize = 25;

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
    after: String,
    expected: Vec<(PathBuf, Vec<u8>)>,
}

impl Runner {
    fn input(&mut self, variable: &str, file: &Path, bytes: &[u8]) {
        std::fs::write(file, bytes).unwrap();
        writeln!(self.before, "        static Buffer {variable}(\"{}\");", file.display()).unwrap();
    }

    fn output(&mut self, variable: &str, file: PathBuf, want: &[u8]) {
        writeln!(self.after, "        {variable}.Write(\"{}\");", file.display()).unwrap();
        self.expected.push((file, want.to_vec()));
    }
}

fn translate(case: &Case, scratch: &Path) -> Result<Translation, String> {
    let program = Program::read(&case.text, Some(case.profile));
    let kernel = program.entry().map_err(|e| e.to_string())?;
    // The sample's command line runs one function of several by name, or the only one.
    let options = Options { sync: case.profile.is_npu(), ..Options::default() };
    let built = tessera_emit::build(program.module(), case.profile, &options).map_err(|d| d.message)?;
    let (mut runner, mut code) = (Runner::default(), built.text.clone());
    let file = |value: &str, kind: &str| scratch.join(format!("{}.{value}.{kind}", case.name));
    // What front ends do: drop lines, rename qualifiers, call by name (build.md 2.5).
    code = code.lines().filter(|l| !l.starts_with("#include \"pto/")).fold(String::new(), |all, l| all + l + "\n");
    for qualifiers in ["extern \"C\" __global__ AICORE", "extern \"C\" AICORE", "static AICORE"] {
        code = code.replace(&format!("{qualifiers} "), "static inline ");
    }
    let candidates: Vec<&Function> = match built.functions.iter().filter(|f| f.is_kernel).collect::<Vec<_>>() {
        marked if !marked.is_empty() => marked,
        _ => built.functions.iter().collect(),
    };
    let mut calls: Vec<(Option<Core>, String)> = Vec::new();
    let mut known: Vec<(String, String)> = Vec::new();
    for function in candidates {
        let mut arguments = Vec::new();
        for parameter in &function.parameters {
            let key = parameter.name.clone();
            // Functions that run together are given one argument under one name.
            if !known.iter().any(|(name, _)| *name == key) {
                let text = argument(case, &kernel, parameter, &file, &mut runner)?;
                known.push((key.clone(), text));
            }
            arguments.extend(known.iter().find(|(name, _)| *name == key).map(|(_, text)| text.clone()));
        }
        calls.push((function.core, format!("{}({});", function.name, arguments.join(", "))));
    }
    if runner.expected.len() < case.expected.len() {
        return Err("an output of the case is a value inside the kernel".into());
    }
    let is_mixed = code.contains("__DAV_CUBE__") && code.contains("__DAV_VEC__");
    let Runner { before, after, expected, .. } = runner;
    let blocks = case.blocks;
    let name = &case.name;
    let mut text = format!("namespace {name} {{\n");
    let of = |core: Core| -> String {
        let wanted = calls.iter().filter(|(of, _)| of.is_none_or(|of| of == core));
        wanted.map(|(_, call)| call.as_str()).collect::<Vec<_>>().join(" ")
    };
    if is_mixed {
        for (core, on, off) in
            [("on_cube", "__DAV_CUBE__", "__DAV_VEC__"), ("on_vector", "__DAV_VEC__", "__DAV_CUBE__")]
        {
            write!(text, "#undef {off}\n#ifndef {on}\n#define {on}\n#endif\nnamespace {core} {{\n{code}}}\n").unwrap();
        }
        text += "#define __DAV_CUBE__\n";
        let (cube, vec) = (of(Core::Cube), of(Core::Vector));
        let pipes: String = pipes(&code).iter().map(|pipe| format!("        {pipe}::reset_for_cpu_sim();\n")).collect();
        write!(
            text,
            "static void Run()\n{{\n    using namespace pto;\n{before}    for (uint32_t block = 0; block < {blocks}; ++block) {{\n{pipes}        OnCores(block, {blocks}, \
             [&] {{ using namespace on_cube; {cube} }}, [&] {{ using namespace on_vector; {vec} }});\n    }}\n{after}}}\n"
        )
        .unwrap();
    } else {
        let calls: Vec<&str> = calls.iter().map(|(_, call)| call.as_str()).collect();
        write!(
            text,
            "{code}static void Run()\n{{\n    for (uint32_t block = 0; block < {blocks}; ++block) {{\n        pto::Reset();\n        \
             Block(block, {blocks});\n{before}        {}\n{after}    }}\n}}\n",
            calls.join(" "),
        )
        .unwrap();
    }
    text += "} // namespace\n\n";
    Ok(Translation { name: case.name.clone(), profile: case.profile, code: text, expected })
}

/// The types of the pipes of a text.
fn pipes(code: &str) -> Vec<String> {
    let mut all: Vec<String> = code
        .match_indices("TPipe<")
        .filter_map(|(at, _)| Some(code[at..].split_once('>')?.0.to_string() + ">"))
        .collect();
    all.sort();
    all.dedup();
    all
}

/// The argument for a parameter; files are read once for all blocks.
fn argument(
    case: &Case,
    kernel: &Kernel,
    parameter: &Parameter,
    file: &impl Fn(&str, &str) -> PathBuf,
    runner: &mut Runner,
) -> Result<String, String> {
    let id = parameter.of.as_str();
    let value = kernel.find(id).ok_or_else(|| format!("{id} is no value of the kernel"))?;
    let (input, want) = (case.inputs.get(id), case.expected.get(id));
    let (buffer, object) = (format!("b_{}", parameter.name), format!("a_{}", parameter.name));
    let is_output = parameter.name == format!("{id}_out") && kernel.func().outputs.contains(&value);
    if parameter.ty.ends_with('&') {
        let ty = parameter.ty.trim_end_matches([' ', '&']);
        writeln!(runner.before, "        {ty} {object};").unwrap();
        if let Some(address) = parameter.address {
            writeln!(runner.before, "        TASSIGN({object}, {address:#x});").unwrap();
        }
        let shape = input.map(|n| n.shape.clone());
        if let (Need::Tile(t), false) = (kernel.need(value), is_output) {
            let shape = shape.unwrap_or(vec![t.rows, t.cols]);
            for (extent, axis, n) in [(t.v_row, "Row", shape.first()), (t.v_col, "Col", shape.last())] {
                if extent == Extent::Dynamic {
                    let n = n.copied().unwrap_or(0);
                    writeln!(runner.before, "        {object}.SetValid{axis}({n});").unwrap();
                }
            }
        }
        let is_list = parameter.ty.starts_with("MrgSort");
        if let (Some(npy), false, false) = (input, is_output, is_list) {
            runner.input(&buffer, &file(id, "in"), &npy.bytes);
            let load = if parameter.ty.starts_with("ConvTile") { "LoadConv" } else { "HostLoad" };
            writeln!(runner.before, "        {load}({object}, {buffer});").unwrap();
        }
        if let Some(want) = want.filter(|_| is_output || kernel.func().outputs.contains(&value)) {
            writeln!(runner.after, "        Buffer o_{object}(size_t{{{}}});", want.len()).unwrap();
            match is_list {
                true => {
                    writeln!(runner.after, "        std::memcpy(o_{object}.bytes.data(), &{object}, sizeof {object});")
                        .unwrap()
                }
                false => writeln!(runner.after, "        HostStore(o_{object}, {object});").unwrap(),
            }
            runner.output(&format!("o_{object}"), file(id, "out"), want);
        }
        return Ok(object);
    }
    if let Some(dim) = parameter.name.rsplit_once("_dim").filter(|_| parameter.name != legal(id)) {
        let n = input.and_then(|n| n.shape.get(dim.1.parse::<usize>().ok()?)).ok_or("an extent is not known")?;
        return Ok(n.to_string());
    }
    match kernel.need(value) {
        Need::Scalar(ty) => {
            let text = case.scalars.get(id).cloned().ok_or("a scalar is not set")?;
            Ok(match ty {
                // Hexadecimal digits are the bits of a float.
                ScalarType::Float(elem) if text.starts_with("0x") => format!("pto::FromBits<{}>({text})", elem.cpp()),
                _ => text,
            })
        }
        Need::Buffer(..) => {
            match (input, want) {
                (Some(npy), _) => runner.input(&buffer, &file(id, "in"), &npy.bytes),
                (None, Some(want)) => {
                    writeln!(runner.before, "        static Buffer {buffer}(size_t{{{}}});", want.len()).unwrap()
                }
                (None, None) => return Err(format!("{id} has no file")),
            }
            if let Some(want) = want {
                runner.output(&buffer, file(id, "out"), want);
            }
            Ok(buffer)
        }
        _ => Err(format!("{id} is no argument that a file can be")),
    }
}

/// A name as the generator makes it.
fn legal(name: &str) -> String {
    let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) { format!("v{name}") } else { name }
}

const HEAD: &str = r#"
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <thread>
#include <vector>
#include <sys/wait.h>
#include <unistd.h>
#include <pto/pto-inst.hpp>
#include <pto/comm/pto_comm_inst.hpp>

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

template <typename ConvT>
void LoadConv(ConvT &tile, Buffer &buffer)
{
    std::memcpy(static_cast<void *>(tile.data()), buffer.bytes.data(), buffer.bytes.size());
}

// Each case has a process of its own: bytes that a pointer was handed out to stay defined in a process.
void Alone(const char *name, void (*run)())
{
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        int code = 0;
        try {
            run();
        } catch (const std::exception &e) {
            std::fprintf(stderr, "%s: %s\n", name, e.what());
        }
        std::fflush(stdout);
        _exit(code);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0) {
        std::fprintf(stderr, "%s: status %d\n", name, status);
    }
}

inline void Block(uint32_t block, uint32_t blocks)
{
    pto::cpu_sim::set_execution_context(block, 0, 1);
    pto::cpu_sim::pto_model::Current().blockCount = blocks;
}

// The cube core and two vector cores of a block.
inline void OnCores(uint32_t block, uint32_t blocks, const std::function<void()> &cube, const std::function<void()> &vec)
{
    std::exception_ptr errors[3];
    std::vector<std::thread> threads;
    for (uint32_t core = 0; core < 3; ++core) {
        threads.emplace_back([&, core] {
            try {
                pto::Reset();
                pto::cpu_sim::set_execution_context(block, core == 2 ? 1 : 0, 2);
                pto::cpu_sim::pto_model::Current().blockCount = blocks;
                core == 0 ? cube() : vec();
            } catch (...) {
                errors[core] = std::current_exception();
            }
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    for (const std::exception_ptr &error : errors) {
        if (error) {
            std::rethrow_exception(error);
        }
    }
}

"#;

/// Programs compiled together: more take too much memory, fewer read the header more often.
const TOGETHER: usize = 60;

/// Compiles all kernels of a profile and runs them; gives what went wrong.
fn compile_and_run(profile: Profile, translations: &[&Translation], scratch: &Path) -> Vec<String> {
    let parts = translations.chunks(TOGETHER).enumerate();
    parts.flat_map(|(n, part)| compile_part(profile, n, part, scratch)).collect()
}

fn compile_part(profile: Profile, part: usize, translations: &[&Translation], scratch: &Path) -> Vec<String> {
    let mut code = format!("#define PTO_PROFILE_{}\n{HEAD}", profile.name().to_uppercase());
    let mut calls = String::new();
    for t in translations {
        code += &t.code;
        writeln!(calls, "    Alone(\"{0}\", {0}::Run);", t.name).unwrap();
    }
    write!(code, "int main()\n{{\n{calls}    return 0;\n}}\n").unwrap();
    let (source, exe) = (scratch.join(format!("{profile}{part}.cpp")), scratch.join(format!("{profile}{part}.exe")));
    std::fs::write(&source, code).unwrap();
    let standard = std::env::var("TESSERA_EMIT_STD").unwrap_or_else(|_| "c++17".into());
    let compiled = Command::new(std::env::var("TESSERA_EMIT_CXX").unwrap_or_else(|_| "g++".into()))
        .arg(format!("-std={standard}"))
        // A core's code is not in the text for the other kind, and what only it uses stays.
        .args(["-D__CPU_SIM", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-Wno-unused-function", "-I"])
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
    // Another part of all cases each day, beside those that together have everything.
    let day = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs() / 86_400;
    let turn =
        std::env::var("TESSERA_EMIT_TURN").ok().and_then(|turn| turn.parse().ok()).unwrap_or(day) as usize % TURNS;
    let rotating = || {
        let all = cases::SETS.into_iter().flat_map(|set| cases::of(set, "legal").unwrap()).enumerate();
        all.filter(|(n, _)| n % TURNS == turn).map(|(_, case)| case).collect::<Vec<_>>()
    };
    let samples = match &given {
        Some(folder) => cases::read(folder).unwrap(),
        None => {
            println!("TESSERA_EMIT_TURN={turn} has these cases, too");
            let mut all = [own("cases", SAMPLES), own("cases-compute", COMPUTED)].concat();
            let known: Vec<String> = all.iter().map(|case| case.name.clone()).collect();
            all.extend(rotating().into_iter().filter(|case| !known.contains(&case.name)));
            all
        }
    };
    let (count, skipped) = run_all(samples.iter().filter_map(Case::sample).collect(), "samples");
    // Every case of ours can be emitted; of other folders, what cannot is told.
    println!("{count} cases, skipped {skipped:#?}");
    assert!(given.is_some() || (skipped.is_empty() && count >= SAMPLES.len() + COMPUTED.len()));
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

/// The programs of `examples/`, and the programs of other folders (`TESSERA_EMIT_PROGRAMS`), with inputs that are made up.
#[test]
fn example_programs_give_what_the_simulator_gives() {
    if !support::has_compiler("g++") {
        return;
    }
    let given = std::env::var_os("TESSERA_EMIT_PROGRAMS").map(PathBuf::from);
    let root = support::root().join("../../examples");
    let folders = given.clone().map_or_else(
        || vec![root.clone(), root.join("sync"), root.join("origins"), root.join("../crates/emit/tests/golden")],
        |dir| vec![dir],
    );
    let mut cases = Vec::new();
    for file in folders.iter().filter(|dir| dir.is_dir()).flat_map(|dir| files(dir)) {
        if file.extension().is_some_and(|e| e == "pto") {
            let name = format!("p_{}", file.file_stem().unwrap().to_string_lossy());
            let text = std::fs::read_to_string(&file).unwrap();
            cases.extend(Profile::ALL.iter().filter_map(|profile| Case::suggested(&name, &text, *profile)));
        }
    }
    let folder = if given.is_some() { "given" } else { "repository" };
    let (count, skipped) = run_all(cases, folder);
    println!("{count} programs, skipped {skipped:#?}");
    assert!(given.is_some() || (skipped.is_empty() && count >= 40), "{count} programs, skipped {skipped:#?}");
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
            // The header gathers by indices in global memory on cpu only: it takes them by way of a tile of UB.
            let is_run = |p: &&Profile| !p.is_npu() || !shape.1.ins.contains(&Role::IdxView);
            cases.extend(Profile::ALL.iter().filter(is_run).filter_map(|p| Case::example(*op, shape, *p)));
        }
        assert!(cases.len() > before, "{op} has no example");
    }
    let (count, skipped) = run_all(cases, "examples");
    assert!(skipped.is_empty() && count > 0, "{count} cases, skipped {skipped:#?}");
}

/// A front end as it treats the text (build.md 2.5), in Python: drops lines, renames qualifiers, finds functions by regular
/// expressions, wraps one in a C entry, compiles and runs it.
#[test]
fn a_front_end_takes_the_text() {
    let is_there = support::has_compiler("g++") && support::has_compiler("python3");
    if !is_there {
        let _ = std::io::Write::write_all(&mut std::io::stderr(), b"SKIPPED: NO g++ OR NO python3 FOR THE FRONT END\n");
        return;
    }
    let scratch = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("front_end");
    std::fs::create_dir_all(&scratch).unwrap();
    let text = "func.func @Add_kernel(%x: memref<16x16xf32>, %y: memref<16x16xf32>, %out: memref<16x16xf32>) attributes \
                {pto.entry, pto.kernel_kind = #pto.kernel_kind<vector>} {\n\
                %a = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>\n%b = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>\n\
                pto.tload ins(%x : memref<16x16xf32>) outs(%a : !pto.tile_buf<vec, 16x16xf32>)\n\
                pto.tload ins(%y : memref<16x16xf32>) outs(%b : !pto.tile_buf<vec, 16x16xf32>)\n\
                pto.tadd ins(%a, %b : !pto.tile_buf<vec, 16x16xf32>, !pto.tile_buf<vec, 16x16xf32>) outs(%b : !pto.tile_buf<vec, 16x16xf32>)\n\
                pto.tstore ins(%b : !pto.tile_buf<vec, 16x16xf32>) outs(%out : memref<16x16xf32>)\nreturn\n}\n";
    let program = Program::read(text, Some(Profile::A2a3));
    assert!(!program.check().iter().any(Diagnostic::is_error), "{:?}", program.check());
    let options = Options { sync: true, ..Options::default() };
    let built = tessera_emit::build(program.module(), program.profile(), &options).unwrap();
    std::fs::write(scratch.join("kernel.cpp"), built.text).unwrap();
    let done = Command::new("python3")
        .arg(support::root().join("tests/front_end.py"))
        .args([scratch.join("kernel.cpp"), support::root().join("include"), support::library()])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success() && said.contains("256 of 256 equal"), "{said}");
}

#[test]
fn what_cpp_cannot_say_is_refused() {
    let refused = |text: &str| {
        let program = Program::read(text, None);
        assert!(!program.check().iter().any(Diagnostic::is_error), "{:?}", program.check());
        tessera_emit::build(program.module(), program.profile(), &Options::default()).unwrap_err().message
    };
    let wide = "func.func @k(%n: i64, %p: !pto.ptr<bf16>) {\n  %b = arith.sitofp %n : i64 to bf16\n  \
                pto.store_scalar %b, %p[0] : !pto.ptr<bf16>, bf16\n  return\n}";
    assert_eq!(refused(wide), "an integer of 64 bits as bfloat16_t cannot be written in C++");
}
