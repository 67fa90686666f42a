//! The pages that the command prints by itself: `explain`, `demo`, and the cases of `bench`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

use std::ffi::OsString;
use std::path::PathBuf;
use tessera::Program;
use tessera_cli::bench::{Instructions, cases};
use tessera_cli::render::WIDTH;
use tessera_cli::render::example::examples;
use tessera_cli::{Session, run};
use tessera_isa::elem::Elem;
use tessera_isa::ops::{AttrName, Opcode, Pipe, Text, others};
use tessera_isa::profile::Profile;
use tessera_isa::rules::{self, rule};
use tessera_isa::tile::{LayoutName, Loc};

/// What a command line prints, or why it does not.
fn tessera(words: &[&str]) -> Result<String, String> {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let mut session = Session {
        dir: PathBuf::new(),
        stdin: &mut std::io::empty(),
        stdout: &mut stdout,
        stderr: &mut stderr,
        color: false,
        dialect: None,
    };
    let args = std::iter::once("tessera").chain(words.iter().copied()).map(OsString::from);
    match run(args, &mut session) {
        0 => Ok(String::from_utf8(stdout).unwrap()),
        _ => Err(String::from_utf8(stderr).unwrap()),
    }
}

fn explain(name: &str) -> Result<String, String> {
    tessera(&["explain", name])
}

fn fits(page: &str) {
    for line in page.lines() {
        assert!(line.chars().count() <= WIDTH, "{line}");
    }
}

#[test]
fn every_name_has_a_page_that_fits() {
    let mut names: Vec<&str> = Opcode::ALL.iter().map(|op| op.mnemonic()).collect();
    names.extend(Opcode::ALL.iter().flat_map(|op| op.info().aliases.iter().chain(op.info().cpp)));
    names.extend(rules::all().map(|r| r.id));
    names.extend(Elem::ALL.iter().flat_map(|e| e.info().spellings));
    names.extend(Profile::spellings());
    names.extend(LayoutName::ALL.iter().map(|l| l.name()));
    names.extend(Loc::ALL.iter().map(|l| l.name()));
    names.extend(Pipe::ALL.iter().map(|p| p.name()));
    names.extend(AttrName::ALL.iter().map(|a| a.name()));
    names.extend(others());
    for name in names {
        let page = explain(name).unwrap_or_default();
        assert!(page.len() > 40, "{name} is not explained");
        fits(&page);
        let upper = explain(&name.to_uppercase());
        assert!(upper.is_ok() || rule(name).is_some() || name.contains(char::is_uppercase), "{name} in capitals");
    }
    fits(&tessera(&["explain"]).unwrap());
}

#[test]
fn spellings_lead_to_one_page() {
    for name in ["tinsert", "TINSERT", "pto.tinsert", "PTO.TINSERT"] {
        assert_eq!(explain(name).unwrap(), explain("tinsert").unwrap(), "{name}");
    }
    assert_eq!(explain("TDeInterleave").unwrap(), explain("tdeinterleave").unwrap());
    assert_eq!(explain("Ascend910B4").unwrap(), explain("a2a3").unwrap());
    assert_eq!(explain("f8E4M3FN").unwrap(), explain("f8e4m3").unwrap());
    assert_eq!(explain("UB").unwrap(), explain("vec").unwrap());
    assert!(explain("tinsrt").unwrap_err().contains("'tinsert'"));
}

#[test]
fn the_demo_fits_a_terminal() {
    let page = tessera(&["demo"]).unwrap();
    assert!(page.lines().count() <= 40, "{} lines", page.lines().count());
    fits(&page);
}

#[test]
fn the_demo_is_legal_everywhere() {
    let text = tessera(&["demo", "--source"]).unwrap();
    for profile in Profile::ALL {
        let program = Program::read(&text, Some(profile));
        assert!(program.check().iter().all(|d| !d.is_error()), "{profile}: {:?}", program.check());
    }
}

#[test]
fn every_case_runs_with_and_without_tracking() {
    for case in cases() {
        for tracked in [false, true] {
            let mut instructions = Instructions::new(case, tracked).unwrap_or_else(|e| panic!("{}: {e}", case.name));
            assert!(instructions.lap().is_ok() && instructions.turns() > 1, "{}", case.name);
        }
    }
}

#[test]
fn forms_are_shown_as_they_are_printed() {
    let squeezed = |text: &str| text.split_whitespace().collect::<String>();
    for op in Opcode::ALL.iter().filter(|op| op.info().text == Text::Forms) {
        let page = squeezed(&explain(op.mnemonic()).unwrap());
        for form in op.info().forms {
            let Some(shape) = op.shapes().iter().find(|s| s.form == form.form) else { continue };
            let lines = examples(*op, shape);
            for line in [&lines.asm, &lines.ssa, &lines.dps].into_iter().filter(|l| !l.is_empty()) {
                let program = Program::read(line, None);
                if program.has_errors() {
                    assert!(!page.contains(&squeezed(line)), "{line}");
                    continue;
                }
                let printed = program.text(None);
                assert_eq!(Program::read(&printed, None).text(None), printed, "{line}");
                assert!(page.contains(&squeezed(&printed)), "{op}: {printed}");
            }
        }
    }
    let page = explain("tinterleave").unwrap();
    assert!(page.contains("TInterleave(dst1, dst0, src1, src0)"), "{page}");
}
