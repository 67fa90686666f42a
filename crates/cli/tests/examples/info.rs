//! `tessera info` gives every example a command line that runs as it is, on every profile that takes the program.

use std::ffi::OsString;
use std::path::Path;
use std::{fs, io};
use tessera_cli::{Session, run};

fn tessera(command: &str) -> (u8, String) {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let mut session = Session {
        dir: Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."),
        stdin: &mut io::empty(),
        stdout: &mut stdout,
        stderr: &mut stderr,
        color: false,
        dialect: None,
    };
    let code = run(command.split_whitespace().map(OsString::from), &mut session);
    (code, String::from_utf8_lossy(&stdout).into_owned() + &String::from_utf8_lossy(&stderr))
}

#[test]
fn the_command_line_of_info_runs() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut tried = 0;
    for entry in fs::read_dir(examples).unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().into_owned();
        for profile in ["cpu", "a2a3", "a5"].iter().filter(|_| name.ends_with(".pto")) {
            let (code, text) = tessera(&format!("tessera info examples/{name} --profile {profile} --format json"));
            assert_eq!(code, 0, "{text}");
            let info: serde_json::Value = serde_json::from_str(&text).unwrap();
            for kernel in info["kernels"].as_array().unwrap() {
                let (command, stops) = (&kernel["command"], &kernel["stops"]);
                let Some(command) = command.as_str().filter(|_| stops.is_null()) else { continue };
                let (code, text) = tessera(command);
                assert_eq!(code, 0, "{command}\n{text}");
                tried += 1;
            }
        }
    }
    assert!(tried > 20, "{tried}");
}
