//! SARIF logs against the schema of SARIF 2.1.0, which the package serde-sarif carries.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

use serde_json::Value;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use tessera_cli::{Session, run};

/// The schema, from where cargo keeps the package.
fn schema() -> Value {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    // What other platforms are built from need not be here.
    let rustc = Command::new("rustc").arg("-vV").output().unwrap();
    let host = String::from_utf8(rustc.stdout).unwrap();
    let host = host.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let words = ["metadata", "--format-version", "1", "--offline", "--filter-platform", host, "--manifest-path"];
    let asked = Command::new(env!("CARGO")).args(words).arg(manifest).output().unwrap();
    assert!(asked.status.success(), "{}", String::from_utf8_lossy(&asked.stderr));
    let data: Value = serde_json::from_slice(&asked.stdout).unwrap();
    let package = data["packages"].as_array().unwrap().iter().find(|p| p["name"] == "serde-sarif").unwrap();
    let folder = Path::new(package["manifest_path"].as_str().unwrap()).parent().unwrap();
    let text = std::fs::read_to_string(folder.join("src/schema.json")).unwrap();
    // A bracket too many, which is no pattern at all to some readers of patterns.
    serde_json::from_str(&text.replace("-[a-zA-Z]{2}]?$", "-[a-zA-Z]{2}?$")).unwrap()
}

/// What `check --format sarif` prints.
fn log(words: &[&str], stdin: &str) -> Value {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let mut session = Session {
        dir: PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")),
        stdin: &mut stdin.as_bytes(),
        stdout: &mut stdout,
        stderr: &mut stderr,
        color: false,
        dialect: None,
    };
    let words = ["tessera", "check", "--format", "sarif"].iter().chain(words);
    run(words.map(OsString::from), &mut session);
    serde_json::from_slice(&stdout).unwrap()
}

#[test]
fn logs_are_valid() {
    let schema = jsonschema::validator_for(&schema()).unwrap();
    let illegal = "%b = pto.ttrans %a : !pto.tile<8x16xf32> -> !pto.tile<8x16xf32>\n%c = pto.nothing %ä\n";
    let legal = "%b = pto.tabs %a : !pto.tile<8x16xf32> -> !pto.tile<8x16xf32>\n";
    let all = [
        (log(&["-", "--profile", "a5"], illegal), 1),
        (log(&["-"], legal), 0),
        (log(&["-", "--profile", "all"], illegal), 3),
        (log(&["examples/sync/race.pto", "--profile", "a5", "--races"], ""), 1),
        (
            log(
                &["examples/sync/race.pto", "examples/sync/sum.pto", "no such file", "--profile", "all", "--races"],
                "",
            ),
            2,
        ),
        (log(&["examples/cores_deadlock.pto", "--profile", "a5", "--races"], ""), 0),
    ];
    for (log, least) in &all {
        let wrong: Vec<String> = schema.iter_errors(log).map(|e| format!("{}: {e}", e.instance_path())).collect();
        assert!(wrong.is_empty(), "{wrong:#?}\n{log:#}");
        assert!(log["runs"][0]["results"].as_array().unwrap().len() >= *least, "{log:#}");
    }
    // A wrong log is found out.
    let mut wrong = all[0].0.clone();
    wrong["runs"][0]["results"][0]["level"] = "bad".into();
    assert!(!schema.is_valid(&wrong));
    // A race has its own fields, and the place of the other access.
    let race = &all[3].0["runs"][0]["results"][0];
    assert_eq!(race["ruleId"], "race-raw");
    assert_eq!(race["locations"][0]["physicalLocation"]["region"]["startLine"], 17);
    assert!(race["relatedLocations"].as_array().is_some_and(|all| !all.is_empty()));
    assert!(race["properties"].as_object().unwrap().len() > 4, "{race:#}");
}
