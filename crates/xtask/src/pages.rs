//! The reference pages of `docs/isa`, `docs/layouts.md`, and the pictures of the gallery.

use crate::Files;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use tessera::{BLayout, Elem, Loc, Profile, SLayout, TileType};
use tessera_cli::commands::explain::reference::{page, sample};
use tessera_cli::commands::explain::sections;
use tessera_cli::render::document::{Block, markdown};
use tessera_isa::ops::Opcode;
use tessera_isa::tile::LayoutName;

pub(crate) fn generate(root: &Path, files: &mut Files) {
    instructions(root, files);
    contents(root, files);
    layouts(files);
    gallery(root, files);
}

/// A page for each instruction, their index, and the samples of the explorer.
fn instructions(root: &Path, files: &mut Files) {
    let mut index = String::from(
        "# The instructions\n\nOne page each, made of the instruction table: what it does, with a picture, how it is \
         written, where it is legal, what it costs. [Layouts](../layouts.md) have pictures too; the text around \
         instructions is in [language.md](../language.md).\n",
    );
    for (title, names) in sections() {
        let _ = write!(index, "\n## {title}\n\n| instruction | |\n|---|---|\n");
        for op in names {
            let page = page(op);
            for block in &page {
                if let Block::Picture { svg, file, .. } = block {
                    files.insert(Path::new("docs/isa").join(file), svg.clone());
                }
            }
            files.insert(PathBuf::from(format!("docs/isa/{op}.md")), linked(&markdown(&page), root));
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
}

/// The text of a page of `docs/isa` with links to the pages of the specification that it names, code left as it is.
fn linked(text: &str, root: &Path) -> String {
    let mut is_code = false;
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        is_code ^= line.starts_with("```");
        match is_code {
            true => out += line,
            false => out.extend(line.split_inclusive(' ').map(|word| with_link(word, root))),
        }
    }
    out
}

/// A word with a link where it names a page: `isa/cost.md` and `docs/spec/isa/cost.md` are one page, `matrix.md` is `isa/matrix.md`.
fn with_link(word: &str, root: &Path) -> String {
    let Some(end) = word.find(".md").map(|n| n + ".md".len()).filter(|_| !word.contains("](")) else {
        return word.into();
    };
    let start = word[..end].rfind(|c: char| !(c.is_ascii_lowercase() || "/-.".contains(c))).map_or(0, |n| n + 1);
    let name = &word[start..end];
    let bare = name.strip_prefix("docs/").unwrap_or(name);
    let pages = [bare.to_string(), format!("spec/{bare}"), format!("spec/isa/{bare}")];
    match pages.iter().find(|page| root.join("docs").join(page).is_file()) {
        Some(page) => format!("{}[{name}](../{page}){}", &word[..start], &word[end..]),
        None => word.into(),
    }
}

/// The instructions in the contents of the site, below their index; the rest of the contents is written by hand.
fn contents(root: &Path, files: &mut Files) {
    const INDEX: &str = "- [The instructions](isa/README.md)\n";
    let file = Path::new("docs/SUMMARY.md");
    let text = std::fs::read_to_string(root.join(file)).unwrap();
    let (before, after) = text.split_once(INDEX).expect("docs/SUMMARY.md has the index of instructions");
    let mut out = format!("{before}{INDEX}");
    for (title, names) in sections() {
        let _ = writeln!(out, "  - [{title}]()");
        for op in names {
            let _ = writeln!(out, "    - [{}](isa/{op}.md)", op.title().replace('_', "\\_"));
        }
    }
    out.extend(after.split_inclusive('\n').skip_while(|line| line.starts_with("  ")));
    files.insert(file.into(), out);
}

fn layouts(files: &mut Files) {
    let mut text = String::from(
        "# Layouts\n\nA layout says where the elements of a tile are in memory. [Tiles, locations and layouts](tiles.md) is the \
         introduction. Each picture shows the tile in logical order with the offset of every element, coloured from \
         the first byte to the last, and below it the memory itself. `tessera layout TYPE --svg FILE` draws any type.\n\n\
         Letters of the formulas:\n\n| letter | meaning |\n|---|---|\n\
         | `r`, `c` | the row and the column of the element |\n\
         | `rows`, `cols` | the declared extents of the tile |\n\
         | `IR`, `IC` | the rows and the columns of a box |\n\
         | `N = IR·IC` | the elements of a box |\n\
         | `br = r / IR`, `bc = c / IC` | the row of boxes and the column of boxes that the element is in |\n\
         | `ir = r mod IR`, `ic = c mod IC` | the row and the column of the element inside its box |\n",
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
            "\n## {name}\n\n{}\n\n`offset(r, c) = {}`\n\n```sh\ntessera layout '{ty}' --profile a5 --svg {name}.svg\n```\n\n![{name}]({file})\n",
            name.about(),
            name.formula()
        );
        files.insert(Path::new("docs").join(&file), tessera_draw::tile::draw(&tile, &format!("{tile} on a5")));
    }
    files.insert("docs/layouts.md".into(), text);
}

/// The pictures of the gallery are what the commands beside them draw.
fn gallery(root: &Path, files: &mut Files) {
    let gallery = std::fs::read_to_string(root.join("docs/gallery.md")).unwrap();
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
        let made = std::env::temp_dir().join(format!("tessera-codegen-{}-{}", std::process::id(), words[at]));
        words[at] = made.display().to_string();
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let mut session = tessera_cli::Session {
            dir: root.to_path_buf(),
            stdin: &mut std::io::empty(),
            stdout: &mut stdout,
            stderr: &mut stderr,
            color: false,
            dialect: None,
        };
        let code = tessera_cli::run(words.into_iter().map(std::ffi::OsString::from), &mut session);
        assert_eq!(code, 0, "{command}: {}", String::from_utf8_lossy(&stderr));
        files.insert(file, std::fs::read_to_string(&made).unwrap());
        std::fs::remove_file(made).unwrap();
    }
}
