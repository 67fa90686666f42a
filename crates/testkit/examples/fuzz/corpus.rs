//! What damage starts from: the programs of the repository, their words, and earlier findings.

use std::collections::BTreeSet;
use std::path::Path;

/// Programs, npy files, and the words of the programs.
pub struct Corpus {
    pub programs: Vec<Vec<u8>>,
    pub arrays: Vec<Vec<u8>>,
    pub words: Vec<Vec<u8>>,
    pub kept: Vec<Vec<u8>>,
}

/// Longer programs are damaged in one place while everything else runs as before.
const LONGEST: usize = 8 << 10;

impl Corpus {
    pub fn load() -> Corpus {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut all = Corpus { programs: Vec::new(), arrays: Vec::new(), words: Vec::new(), kept: Vec::new() };
        let repository = root.join("../..");
        for dir in ["examples", "tests", "fuzz/seeds", "crates/check/tests", "crates/asm/tests", "crates/emit/tests"] {
            all.add(&repository.join(dir), 0);
        }
        let kept = std::fs::read_dir(root.join("corpus")).into_iter().flatten().flatten();
        all.kept = kept.filter_map(|e| std::fs::read(e.path()).ok()).collect();
        let text: BTreeSet<&[u8]> = all
            .programs
            .iter()
            .flat_map(|p| p.split(|b| !(b.is_ascii_alphanumeric() || b"_.%!#".contains(b))))
            .filter(|w| (1..=24).contains(&w.len()))
            .collect();
        let words = text.into_iter().map(<[u8]>::to_vec).collect();
        all.words = words;
        all
    }

    fn add(&mut self, dir: &Path, depth: u32) {
        let mut entries: Vec<_> =
            std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        // The same order everywhere, so that a seed means the same inputs.
        entries.sort();
        for path in entries {
            if path.is_dir() && depth < 8 {
                self.add(&path, depth + 1);
                continue;
            }
            let Some(extension) = path.extension().and_then(|e| e.to_str()) else { continue };
            let list = match extension {
                "pto" | "mlir" => &mut self.programs,
                "npy" => &mut self.arrays,
                _ => continue,
            };
            let Ok(bytes) = std::fs::read(&path) else { continue };
            // Files of rule programs hold many.
            let parts = bytes.split(|b| *b == 0).next().map(String::from_utf8_lossy).unwrap_or_default().into_owned();
            match extension {
                "npy" if bytes.len() <= LONGEST && list.len() < 500 => list.push(bytes),
                "npy" => {}
                _ => {
                    list.extend(parts.split("// -----\n").filter(|p| p.len() <= LONGEST).map(|p| p.as_bytes().to_vec()))
                }
            }
        }
    }
}
