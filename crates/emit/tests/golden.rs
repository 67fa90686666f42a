//! Texts that a person has read: a program, a profile, and the C++ that it must give. `BLESS=1` writes them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use tessera_emit::{Options, build};
use tessera_isa::profile::Profile;

/// Programs of `examples/` and of this folder, with the profile that they are built for.
const KERNELS: &[(&str, Profile)] = &[
    ("examples/softmax", Profile::A5),
    ("examples/gemm", Profile::A2a3),
    ("examples/gemm_requantized", Profile::A5),
    ("examples/embedding", Profile::A5),
    ("examples/topk", Profile::A5),
    ("examples/ragged_edge", Profile::A2a3),
    ("examples/conv_img2col", Profile::A5),
    ("examples/transpose_loop", Profile::A5),
    ("examples/cores_split", Profile::A5),
    ("examples/cores_both_ways", Profile::A5),
    ("crates/emit/tests/golden/calls", Profile::A2a3),
    ("crates/emit/tests/golden/ids", Profile::A5),
    ("crates/emit/tests/golden/tokens", Profile::A2a3),
];

fn text(file: &Path, profile: Profile, options: &Options<'_>) -> String {
    let text = std::fs::read_to_string(file).unwrap();
    let parsed = tessera_asm::parse(&text, Some(profile));
    assert!(!parsed.has_errors(), "{}: {:?}", file.display(), parsed.diagnostics);
    build(&parsed.module, profile, options).unwrap_or_else(|e| panic!("{}: {}", file.display(), e.message)).text
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn kernels_give_the_text_that_was_read() {
    let options = Options { sync: true, ..Options::default() };
    let mut wrong = Vec::new();
    for (name, profile) in KERNELS {
        let got = text(&root().join(format!("{name}.pto")), *profile, &options);
        let stem = name.rsplit('/').next().unwrap_or_default();
        let golden = root().join(format!("crates/emit/tests/golden/{stem}.{profile}.cpp"));
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&golden, got).unwrap();
            continue;
        }
        let want = std::fs::read_to_string(&golden).unwrap_or_default();
        if let Some(line) = got.lines().zip(want.lines()).position(|(a, b)| a != b) {
            wrong.push(format!("{}:{}: {}", golden.display(), line + 1, got.lines().nth(line).unwrap_or_default()));
        } else if got.lines().count() != want.lines().count() {
            wrong.push(format!("{}: its end", golden.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Only names of the vendor's header, heads on one line, the same text twice.
#[test]
fn texts_keep_the_contract() {
    let ours = [
        "Partition(",
        "HostForget",
        "SETVAL",
        "GETVAL",
        "DenseConvTile",
        "HostFloat",
        "HostCopy",
        "NoTmp",
        "Exactly",
        "FromBits",
    ];
    for (name, profile) in KERNELS {
        let file = root().join(format!("{name}.pto"));
        let options = Options { sync: true, debug_lines: Some("k.pto"), ..Options::default() };
        let got = text(&file, *profile, &options);
        assert_eq!(got, text(&file, *profile, &options));
        assert_eq!(got.lines().next(), Some("#include \"pto/pto-inst.hpp\""));
        for word in ours {
            assert!(!got.contains(word), "{name}: {word}");
        }
        for line in got.lines().filter(|line| line.contains("AICORE")) {
            assert!(line.contains('(') && line.ends_with(')'), "{name}: {line}");
        }
        let balance = |open: char, close: char| got.matches(open).count() == got.matches(close).count();
        assert!(balance('{', '}') && balance('(', ')'), "{name}");
        assert_eq!(got.matches("\n#if ").count(), got.matches("\n#endif").count(), "{name}");
    }
}
