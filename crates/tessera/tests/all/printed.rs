//! What is printed is read and checked again: every sample in each version, as DPS in a module, and with flags.

use std::path::Path;
use tessera::{Dialect, OrderOptions, Profile, Program, TextForm, Verdict};
use tessera_isa::diag::{Diagnostic, Severity};
use tessera_testkit::cases;

type Tested = Result<(), Box<dyn std::error::Error>>;

/// The examples, the sample cases without errors, and a kernel whose cores are functions that it calls.
fn samples() -> Result<Vec<(String, String)>, Box<dyn std::error::Error>> {
    let mut all = vec![("calls".to_string(), CALLS.to_string())];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    for folder in [folder.join("sync"), folder.join("origins"), folder] {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|e| e == "pto") {
                all.push((path.display().to_string(), std::fs::read_to_string(path)?));
            }
        }
    }
    for kind in ["legal", "warning", "runtime"] {
        all.extend(cases::of("cases", kind)?.into_iter().map(|case| (case.name, case.program)));
    }
    assert!(all.len() > 100);
    Ok(all)
}

/// Two calls of one function for vector cores and one for the cube core, with pipes of their own.
const CALLS: &str = "\
module attributes {pto.target_arch = \"a5\"} {
  func.func @k() attributes {pto.entry} {
    func.call @c() : () -> ()
    func.call @v() : () -> ()
    return
  }
  func.func private @c() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %a = pto.alloc_tile : !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>
    %b = pto.import_reserved_buffer {name = \"c2v\", peer_func = @v} -> i32
    pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024} (c2v_consumer_buf = %b : i32)
    pto.tpush_to_aiv(%a : !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) {split = 1}
    return
  }
  func.func private @v() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %b = pto.reserve_buffer {name = \"c2v\", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32
    pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024} (c2v_consumer_buf = %b : i32)
    %t = pto.tpop_from_aic {split = 1} -> !pto.tile_buf<vec, 8x16xf32>
    pto.tfree_from_aic {split = 1}
    return
  }
}
";

fn rules(found: &[Diagnostic]) -> Vec<&'static str> {
    let mut rules: Vec<_> = found
        .iter()
        .filter(|d| d.severity != Severity::Note)
        .map(|d| d.rule)
        .filter(|rule| !rule.starts_with("dialect-"))
        .collect();
    rules.sort_unstable();
    rules
}

/// The findings about the same program in another text. Types may be written at more places.
fn same(name: &str, first: &Program, text: &str) {
    let again = Program::read(text, Some(first.profile()));
    let (mut before, mut after) = (rules(&first.check()), rules(&again.check()));
    before.dedup();
    after.dedup();
    assert_eq!(before, after, "{name}:\n{text}\n{:#?}", again.check());
}

#[test]
fn printed_programs_have_the_findings_of_their_sources() -> Tested {
    for (n, (name, text)) in samples()?.into_iter().enumerate() {
        let program = Program::read(&text, None);
        if program.has_errors() {
            continue;
        }
        same(&name, &program, &program.text(None));
        let dialect = Dialect::ALL[n % Dialect::ALL.len()];
        same(&name, &program, &program.text_in(None, Some(dialect)).0);
        same(&name, &program, &program.text_in(Some(TextForm::Dps), Some(dialect)).0);
        if program.undecided_dialect().is_empty() {
            same(&name, &program, &program.migrated(dialect).0);
        }
    }
    Ok(())
}

#[test]
fn programs_with_flags_are_read_again_and_free_of_races() -> Tested {
    for (n, (name, text)) in samples()?.into_iter().enumerate() {
        let program = Program::read(&text, Some(if n % 2 == 0 { Profile::A5 } else { Profile::A2a3 }));
        let is_wrong = program.check().iter().any(Diagnostic::is_error);
        let Some(synced) = (!is_wrong).then(|| program.entry().and_then(|kernel| kernel.synced())).and_then(Result::ok)
        else {
            continue;
        };
        let again = Program::read(&synced.text, Some(program.profile()));
        let (mut before, after) = (rules(&program.check()), rules(&again.check()));
        before.dedup();
        assert!(after.iter().all(|rule| before.contains(rule)), "{name}: {after:?}\n{}", synced.text);
        if n % 4 == 0 {
            let verdict = again.entry()?.order(&OrderOptions::default())?.verdict;
            assert!(!matches!(verdict, Verdict::Races), "{name}: {verdict:?}\n{}", synced.text);
        }
    }
    Ok(())
}
