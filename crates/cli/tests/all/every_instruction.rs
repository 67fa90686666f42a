//! Every row of the instruction table, through every front: what a row lacks fails here, with the row's name.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::ffi::OsString;
use std::path::PathBuf;
use tessera_asm::{convert, parse, print};
use tessera_cli::{run, session::Session};
use tessera_ir::TextForm;
use tessera_isa::inst::{Inst, TileArg};
use tessera_isa::ops::{Family, Form, Kind, Opcode, Text};
use tessera_isa::profile::Profile;
use tessera_isa::sem::Sem;
use tessera_isa::tile::{Loc, TileType};

/// What a command prints, and its exit code.
fn command(words: &[&str], input: &str) -> (String, u8) {
    let (mut stdin, mut stdout, mut stderr) = (input.as_bytes(), Vec::new(), Vec::new());
    let mut session = Session {
        dir: PathBuf::new(),
        stdin: &mut stdin,
        stdout: &mut stdout,
        stderr: &mut stderr,
        color: false,
        dialect: None,
    };
    let code = run(["tessera"].iter().chain(words).map(OsString::from), &mut session);
    (String::from_utf8(stdout).unwrap() + &String::from_utf8(stderr).unwrap(), code)
}

/// The programs that the page of an instruction shows, one for each form of text.
fn examples(page: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let forms = page.split("\nForms\n").nth(1).unwrap_or_default().split("\n\n").next().unwrap_or_default();
    for line in forms.lines() {
        match line.trim_start().split_once(' ') {
            Some(("asm" | "ssa" | "dps", text)) => all.push(text.trim().to_string()),
            _ if line.starts_with("         ") => {
                if let Some(last) = all.last_mut() {
                    *last += &format!(" {}", line.trim());
                }
            }
            _ => {}
        }
    }
    all
}

#[test]
fn every_instruction_has_a_page_whose_examples_are_programs() {
    for op in Opcode::ALL {
        let info = op.info();
        let (page, code) = command(&["explain", op.mnemonic()], "");
        assert_eq!(code, 0, "{page}");
        assert!(
            page.starts_with(&format!("{}, an instruction", op.title()))
                && page.replace("docs/spec/", "").contains(info.source),
            "{page}"
        );
        assert_eq!(page.contains("\nLegality\n"), !info.sigs.is_empty(), "{page}");
        // Known or not, the vector unit's cost is told, and whatever happens at the edges.
        let is_vector = matches!(info.family, Family::Elementwise | Family::Scalar | Family::Reduce);
        assert!(!is_vector || page.contains("\nCost"), "{page}");
        assert_eq!(page.contains("\nEdge cases"), !info.edge_cases().is_empty(), "{page}");
        let examples = examples(&page);
        if info.text == Text::Forms {
            assert!(examples.len() >= info.forms.len(), "{op}: {page}");
        }
        for text in examples {
            // Legal on at least one profile, in one of which the table has it.
            let legal = |p: &Profile| command(&["check", "-", "--profile", p.name()], &text).1 == 0;
            assert!(Profile::ALL.iter().any(legal), "{op} is legal nowhere: {text}");
            // What is printed says the same, in every form.
            let parsed = parse(&text, None);
            let printed = print(&parsed);
            assert_eq!(print(&parse(&printed, None)), printed, "{op}");
            for form in [TextForm::Asm, TextForm::Ssa, TextForm::Dps] {
                let again = parse(&convert(&parsed, form), None);
                assert!(!again.has_errors(), "{op} as {form:?}: {}", convert(&parsed, form));
            }
        }
    }
}

/// Fail closed: an operand set that no signature of the row is for is refused, and so is an instruction without a meaning.
#[test]
fn what_the_table_does_not_allow_is_refused() {
    for op in Opcode::ALL.iter().filter(|op| !op.info().sigs.is_empty()) {
        let info = op.info();
        assert!(!matches!(info.sem, Sem::Nothing), "{op} has no meaning");
        for profile in Profile::ALL {
            for form in Form::ALL.iter().filter(|form| !info.sigs.iter().any(|s| s.is_for(profile, **form))) {
                let mut inst = Inst::new(*op, *form, profile);
                let tile = TileType::new(Loc::Vec, tessera_isa::elem::Elem::F16, 16, 32).resolve(profile);
                let roles = info.forms.iter().flat_map(|f| f.operands()).filter(|o| o.role.kind() == Kind::Tile);
                inst.tiles.extend(roles.map(|o| TileArg::of_type(o.role, tile)));
                let found = tessera_check::check(&inst);
                assert!(found.iter().any(|f| f.is_error()), "{op} {form} is taken on {profile}");
            }
        }
    }
}

/// Elements are computed by steps, and nothing else computes them.
#[test]
fn every_instruction_of_a_family_computes() {
    for op in Opcode::ALL.iter().filter(|op| op.info().family != Family::Support) {
        // What makes a scalar of an element, or an address of an operand, leaves tiles as they are.
        let leaves =
            matches!(op.info().sem, Sem::Gets | Sem::Binds | Sem::Configures | Sem::RoundsF32 { .. } | Sem::Value);
        assert!(op.info().sem.computes() || leaves, "{op} computes nothing");
        assert!(!op.info().cpp.is_empty(), "{op} has no intrinsic");
    }
}
