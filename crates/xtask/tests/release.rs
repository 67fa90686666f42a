//! What releases and other people's checks are made of: man pages and completions are written, the scripts that are started
//! by workflows exist, and the install script takes an archive only with its checksum.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn folder(name: &str) -> PathBuf {
    let dir = std::env::temp_dir().join(format!("tessera-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).unwrap();
    dir
}

#[test]
fn every_command_has_a_man_page_and_every_shell_a_script() {
    let dir = folder("release");
    let pages = xtask::release::man(&dir.join("man")).unwrap();
    let scripts = xtask::release::completions(&dir.join("completions")).unwrap();
    assert!(pages > 15 && scripts == 5, "{pages} pages, {scripts} scripts");
    let check = fs::read_to_string(dir.join("man/tessera-check.1")).unwrap();
    assert!(check.contains("\\-\\-races"), "{check}");
    for script in fs::read_dir(dir.join("completions")).unwrap() {
        let path = script.unwrap().path();
        assert!(fs::read_to_string(&path).unwrap().contains("sweep"), "{}", path.display());
    }
    fs::remove_dir_all(dir).unwrap();
}

/// `install.sh` of version 1.0.0 with archives from `from`.
fn install(from: &Path, to: &Path) -> Output {
    let mut command = Command::new("sh");
    command.arg(xtask::root().join("install.sh")).arg("1.0.0");
    command.env("TESSERA_DOWNLOAD_URL", format!("file://{}", from.display())).env("TESSERA_INSTALL_DIR", to);
    command.output().unwrap()
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn the_install_script_compares_the_checksum_before_it_installs() {
    if Command::new("curl").arg("--version").output().is_err() {
        eprintln!("SKIPPED: THE INSTALL SCRIPT IS NOT TRIED: there is no curl");
        return;
    }
    let dir = folder("install");
    let name = "tessera-1.0.0-x86_64-unknown-linux-musl";
    let (archives, to) = (dir.join("archives"), dir.join("bin"));
    fs::create_dir_all(archives.join(name)).unwrap();
    fs::write(archives.join(name).join("tessera"), "#!/bin/sh\necho tessera 1.0.0\n").unwrap();
    let shell =
        |text: &str| assert!(Command::new("sh").args(["-c", text]).current_dir(&archives).status().unwrap().success());
    shell(&format!("chmod +x {name}/tessera && ln -s tessera {name}/ptoas && tar -czf {name}.tar.gz {name}"));
    shell(&format!("sha256sum {name}.tar.gz >{name}.tar.gz.sha256"));

    let done = install(&archives, &to);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert!(String::from_utf8_lossy(&done.stdout).contains("installed: tessera 1.0.0"));
    assert_eq!(Command::new(to.join("ptoas")).output().unwrap().stdout, b"tessera 1.0.0\n");

    fs::remove_dir_all(&to).unwrap();
    shell(&format!("echo more >>{name}.tar.gz"));
    let refused = install(&archives, &to);
    assert!(!refused.status.success() && !to.exists());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("nothing was installed"));
    fs::remove_dir_all(dir).unwrap();
}

/// Every `bash FILE`, `sh FILE` of a workflow or of the action names a file of the tree.
#[test]
fn workflows_start_scripts_that_exist() {
    let mut files = vec![xtask::root().join("action.yml")];
    files.extend(fs::read_dir(xtask::root().join(".github/workflows")).unwrap().map(|f| f.unwrap().path()));
    let mut scripts = 0;
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let words: Vec<&str> = text.split_whitespace().collect();
        for pair in words.windows(2).filter(|pair| matches!(pair[0], "bash" | "sh")) {
            let script = pair[1].trim_matches('"').trim_start_matches("$GITHUB_ACTION_PATH/");
            if script.contains('/') || script.ends_with(".sh") {
                assert!(xtask::root().join(script).is_file(), "{}: {script}", file.display());
                scripts += 1;
            }
        }
    }
    assert!(scripts >= 5, "{scripts}");
}
