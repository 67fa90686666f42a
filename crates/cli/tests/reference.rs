//! The reference pages of `docs/isa` and `docs/layouts.md`, made of the instruction table.
//! `BLESS=1 cargo test -p tessera-pto-cli --test reference` writes them anew; twice, where declarations have changed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use tessera::{BLayout, Elem, Loc, Profile, SLayout, TileType};
use tessera_cli::commands::explain::reference::{instance, page, picture, sample};
use tessera_cli::commands::explain::sections;
use tessera_cli::render::document::{Block, html, markdown};
use tessera_draw::flow::{At, Flow};
use tessera_isa::ops::Opcode;
use tessera_isa::tile::LayoutName;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Compares files with what they must hold, or writes them.
fn blessed(files: &BTreeMap<PathBuf, String>) {
    let mut wrong = Vec::new();
    for (file, text) in files {
        let path = root().join(file);
        if std::env::var_os("BLESS").is_some() {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
        }
        if std::fs::read_to_string(&path).is_ok_and(|found| found == *text) {
            continue;
        }
        wrong.push(file.display().to_string());
    }
    assert!(wrong.is_empty(), "not as the table has it, BLESS=1 writes them: {wrong:?}");
}

/// Files of a folder that nothing writes any more.
fn stale(dir: &str, files: &BTreeMap<PathBuf, String>) {
    for entry in std::fs::read_dir(root().join(dir)).unwrap() {
        let path = entry.unwrap().path();
        let name = Path::new(dir).join(path.file_name().unwrap());
        if path.is_file() && !files.contains_key(&name) {
            assert!(std::env::var_os("BLESS").is_some(), "{} belongs to no instruction", name.display());
            std::fs::remove_file(path).unwrap();
        }
    }
}

#[test]
fn declarations_are_those_of_the_generated_files() {
    let read = |file: &str| std::fs::read_to_string(root().join(file)).unwrap();
    let mut all: BTreeMap<(String, &str), String> = BTreeMap::new();
    for line in read("bindings/python/python/tessera/instructions.pyi").lines() {
        let Some((name, _)) = line.strip_prefix("def ").and_then(|rest| rest.split_once('(')) else { continue };
        let text = line.strip_suffix(": ...").unwrap_or(line);
        let _ = writeln!(all.entry((name.into(), "python")).or_default(), "{text}");
    }
    let typed = root().join("crates/tessera/src/typed");
    let dirs = [typed.clone(), typed.join("generated")];
    let mut files: Vec<PathBuf> =
        dirs.iter().flat_map(|d| std::fs::read_dir(d).unwrap()).map(|e| e.unwrap().path()).collect();
    files.sort();
    for file in files.iter().filter(|f| f.is_file()) {
        for line in std::fs::read_to_string(file).unwrap().lines() {
            let line = line.trim();
            // `name[Dst: AsTile](dst: write Dst, …)` of the macro, or a function.
            let of_macro = line.split_once('[').filter(|(name, rest)| {
                !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && rest.contains("](")
            });
            let (name, text) = match (of_macro, line.strip_prefix("pub fn ")) {
                (Some((name, rest)), _) => {
                    let (_, args) = rest.split_once("](").unwrap();
                    let args = args.trim_end_matches(')');
                    let arg = |arg: &str| {
                        arg.replace(": write ", ": &mut ")
                            .replace(": read ", ": &")
                            .replace(": attrs ", ": ")
                            .replace(": value ", ": ")
                            .replace(": index ", ": ")
                    };
                    (name, format!("fn {name}({})", args.split(", ").map(arg).collect::<Vec<_>>().join(", ")))
                }
                (None, Some(rest)) if !rest.starts_with('$') => {
                    (rest.split(['(', '<']).next().unwrap(), format!("fn {}", rest.trim_end_matches(" {")))
                }
                _ => continue,
            };
            if text.ends_with(')') || text.contains(" -> ") {
                let _ = writeln!(all.entry((name.into(), "rust")).or_default(), "{text}");
            }
        }
    }
    all.retain(|(name, _), _| Opcode::ALL.iter().any(|op| op.mnemonic() == name));
    let text = all.into_iter().map(|((name, lang), text)| format!("=== {name} {lang}\n{text}")).collect();
    blessed(&BTreeMap::from([(PathBuf::from("crates/cli/src/commands/explain/signatures.txt"), text)]));
}

#[test]
fn every_instruction_has_a_page() {
    let mut files = BTreeMap::new();
    let mut index = String::from(
        "# The instructions\n\nOne page each, made of the instruction table: what it does, with a picture, how it is \
         written, where it is legal, what it costs. [Layouts](../layouts.md) have pictures too; the text around \
         instructions is in [language.md](../language.md).\n",
    );
    for (title, names) in sections() {
        let _ = write!(index, "\n## {title}\n\n| instruction | |\n|---|---|\n");
        for op in names {
            let page = page(op);
            assert!(html(&op.title(), &page).ends_with(">\n"), "{op}");
            for block in &page {
                if let Block::Picture { svg, file, .. } = block {
                    assert!(svg.len() < 60_000, "{op}: {} bytes", svg.len());
                    files.insert(Path::new("docs/isa").join(file), svg.clone());
                }
            }
            files.insert(PathBuf::from(format!("docs/isa/{op}.md")), markdown(&page));
            let _ = writeln!(
                index,
                "| [{}]({op}.md) | {} |",
                op.title().replace('_', "\\_"),
                op.info().summary.replace('|', "\\|")
            );
        }
    }
    files.insert("docs/isa/README.md".into(), index);
    let samples = Opcode::ALL.iter().filter(|op| op.info().sem.computes()).filter_map(|op| Some((op, sample(*op)?)));
    let samples = samples.map(|(op, s)| format!("=== {op} {}\n{}", s.profile, s.text)).collect();
    files.insert("explorer/samples.txt".into(), samples);
    blessed(&files);
    stale("docs/isa", &files);
    stale("docs/isa/img", &files);
}

/// Whatever writes elements has a picture, and an example that is legal.
#[test]
fn what_moves_or_computes_has_a_picture_and_an_example() {
    let (mut without, mut idle) = (Vec::new(), Vec::new());
    for op in Opcode::ALL.iter().copied().filter(|op| op.info().sem.computes()) {
        let Some(sample) = sample(op) else {
            without.push(op.mnemonic());
            continue;
        };
        if !sample.runs {
            idle.push(op.mnemonic());
        }
        if picture(op).is_none() {
            without.push(op.mnemonic());
        }
    }
    assert!(without.is_empty(), "no picture: {without:?}");
    assert!(idle.is_empty(), "the example does not run: {idle:?}");
}

/// Both directions of a picture say the same.
#[test]
fn sources_and_users_agree() {
    for op in Opcode::ALL.iter().copied().filter(|op| op.info().sem.computes()) {
        let Some(inst) = sample(op).and_then(|s| instance(op, &s)) else { continue };
        let inst = tessera_draw::sample::known(&inst);
        let read = |tile: usize, byte: i64, len: u64| tessera_draw::sample::element(&inst, tile, byte, len);
        let flow = Flow::of(&inst, Some(&read)).unwrap();
        for (operand, o) in flow.operands.iter().enumerate().filter(|(_, o)| o.is_dst) {
            for at in [At { operand, row: 0, col: 0 }, At { operand, row: o.rows - 1, col: o.cols - 1 }] {
                for from in flow.sources(at) {
                    let o = &flow.operands[from.operand];
                    assert!(from.row < o.rows && from.col < o.cols, "{op}: {at:?} from {from:?}");
                    assert!(flow.users(from).contains(&at), "{op}: {at:?} from {from:?}");
                }
                assert!(flow.formula(at).contains(" = "), "{op}");
            }
        }
        assert!(flow.operands.iter().any(|o| o.is_dst), "{op} writes nothing");
    }
}

#[test]
fn layouts_have_pictures() {
    let mut files = BTreeMap::new();
    let mut text = String::from(
        "# Layouts\n\nWhere the elements of a tile lie in memory. Each picture shows the tile in logical order with the \
         offset of every element, coloured from the first byte to the last, and below it the memory itself. \
         `tessera layout TYPE --svg FILE` draws any type.\n",
    );
    for name in LayoutName::ALL {
        let (b, s) = match name {
            LayoutName::Nd => (BLayout::RowMajor, SLayout::NoneBox),
            LayoutName::Dn => (BLayout::ColMajor, SLayout::NoneBox),
            LayoutName::Nz => (BLayout::ColMajor, SLayout::RowMajor),
            LayoutName::Zn => (BLayout::RowMajor, SLayout::ColMajor),
            LayoutName::Zz => (BLayout::RowMajor, SLayout::RowMajor),
            LayoutName::Nn => (BLayout::ColMajor, SLayout::ColMajor),
        };
        let tile = TileType::new(Loc::Vec, Elem::F32, 32, 16).with_layout(b, s, 512).resolve(Profile::A5);
        assert_eq!(tile.layout_name(), *name);
        let file = format!("img/layouts/{name}.svg");
        let ty = format!("!pto.tile<vec, 32x16xf32, blayout={b}, slayout={s}>");
        let _ = write!(
            text,
            "\n## {name}\n\n`offset(r, c) = {}`\n\n```sh\ntessera layout '{ty}' --profile a5 --svg {name}.svg\n```\n\n![{name}]({file})\n",
            name.formula()
        );
        files.insert(Path::new("docs").join(&file), tessera_draw::tile::draw(&tile, &format!("{tile} on a5")));
    }
    files.insert("docs/layouts.md".into(), text);
    blessed(&files);
}

/// The pictures of the gallery are what the commands beside them draw.
#[test]
fn the_gallery_shows_what_its_commands_draw() {
    let gallery = std::fs::read_to_string(root().join("docs/gallery.md")).unwrap();
    let mut files = BTreeMap::new();
    for command in gallery.lines().filter(|l| l.starts_with("tessera ") && l.contains(" --svg ")) {
        let mut words: Vec<String> = Vec::new();
        for (n, part) in command.split('\'').enumerate() {
            match n % 2 {
                1 => words.push(part.into()),
                _ => words.extend(part.split_whitespace().map(String::from)),
            }
        }
        let at = words.iter().position(|w| w == "--svg").unwrap() + 1;
        let file = Path::new("docs/img/gallery").join(&words[at]);
        assert!(gallery.contains(&format!("(img/gallery/{})", words[at])), "{command} has no picture");
        let made = std::env::temp_dir().join(format!("tessera-gallery-{}-{}", std::process::id(), words[at]));
        words[at] = made.display().to_string();
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let mut session = tessera_cli::Session {
            dir: root(),
            stdin: &mut std::io::empty(),
            stdout: &mut stdout,
            stderr: &mut stderr,
            color: false,
        };
        let code = tessera_cli::run(words.into_iter().map(std::ffi::OsString::from), &mut session);
        assert_eq!(code, 0, "{command}: {}", String::from_utf8_lossy(&stderr));
        files.insert(file, std::fs::read_to_string(&made).unwrap());
        std::fs::remove_file(made).unwrap();
    }
    assert!(files.len() >= 4, "{}", files.len());
    blessed(&files);
}

/// The committed page of the explorer is made of the files in explorer/page; `bash explorer/build` makes it anew.
#[test]
fn the_explorer_is_made_of_its_files() {
    let page = std::fs::read_to_string(root().join("crates/cli/assets/explorer.html")).unwrap();
    for entry in std::fs::read_dir(root().join("explorer/page")).unwrap() {
        let file = entry.unwrap().path();
        let text = std::fs::read_to_string(&file).unwrap();
        let parts: Vec<&str> = match file.extension().and_then(|e| e.to_str()) {
            Some("html") => ["/*STYLE*/", "/*WASM*/", "/*SCRIPT*/"]
                .iter()
                .fold(vec![text.as_str()], |parts, mark| parts.into_iter().flat_map(|part| part.split(mark)).collect()),
            _ => text.split("\"use strict\";\n").collect(),
        };
        for part in parts {
            assert!(page.contains(part), "{} has changed: run bash explorer/build", file.display());
        }
    }
}
