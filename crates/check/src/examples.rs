//! Programs that keep and break each rule: those that the rules are tested with.

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The files of `tests/rules`.
pub const FILES: &[&str] = &[
    include_str!("../tests/rules/alive.pto"),
    include_str!("../tests/rules/comm.pto"),
    include_str!("../tests/rules/compute.pto"),
    include_str!("../tests/rules/conversion.pto"),
    include_str!("../tests/rules/cores.pto"),
    include_str!("../tests/rules/dialect.pto"),
    include_str!("../tests/rules/fifo_quant.pto"),
    include_str!("../tests/rules/fifo_views.pto"),
    include_str!("../tests/rules/fixpipe.pto"),
    include_str!("../tests/rules/global.pto"),
    include_str!("../tests/rules/irregular.pto"),
    include_str!("../tests/rules/matrix.pto"),
    include_str!("../tests/rules/memory.pto"),
    include_str!("../tests/rules/order.pto"),
    include_str!("../tests/rules/tconcat.pto"),
    include_str!("../tests/rules/textract.pto"),
    include_str!("../tests/rules/tfillpad.pto"),
    include_str!("../tests/rules/tile.pto"),
    include_str!("../tests/rules/timg2col.pto"),
    include_str!("../tests/rules/tinsert.pto"),
    include_str!("../tests/rules/tinterleave.pto"),
    include_str!("../tests/rules/tmov.pto"),
    include_str!("../tests/rules/today.pto"),
    include_str!("../tests/rules/today_rows.pto"),
    include_str!("../tests/rules/tpack.pto"),
    include_str!("../tests/rules/transfer.pto"),
    include_str!("../tests/rules/treshape.pto"),
    include_str!("../tests/rules/ttrans.pto"),
    include_str!("../tests/rules/vector_elementwise.pto"),
    include_str!("../tests/rules/vector_overlap.pto"),
    include_str!("../tests/rules/vector_reduce.pto"),
    include_str!("../tests/rules/vector_scalar.pto"),
];

/// The length in bytes from which on a program is too long to be shown.
const LONGEST: usize = 700;

/// A program that breaks a rule, or is legal where the rule could be broken.
#[derive(Clone, Debug)]
pub struct Example {
    /// The rule.
    pub rule: &'static str,
    /// Whether it breaks the rule.
    pub breaks: bool,
    /// The profile.
    pub profile: &'static str,
    /// The program.
    pub text: String,
}

/// By rule, the shortest program that keeps it and the shortest one that breaks it.
pub fn examples() -> &'static [Example] {
    static ALL: LazyLock<Vec<Example>> = LazyLock::new(|| {
        let mut best: BTreeMap<(&str, &str), Example> = BTreeMap::new();
        for program in FILES.iter().flat_map(|file| file.split("// -----\n")) {
            let value = |key: &str| program.lines().find_map(|line| line.strip_prefix(key)).map(str::trim);
            let (Some(profiles), Some(rules)) = (value("// profile:"), value("// rule:")) else { continue };
            let Some(profile) = profiles.split(' ').next_back() else { continue };
            let bare = |line: &str| line.split("// expected-").next().map(|code| format!("{}\n", code.trim_end()));
            let text: String = program.lines().filter(|line| !line.starts_with("//")).filter_map(bare).collect();
            if text.len() > LONGEST {
                continue;
            }
            for rule in rules.split(' ') {
                let breaks = program.contains(&format!("{{{{{rule}}}}}"));
                // A program that breaks another rule shows nothing of this one.
                if !breaks && program.contains("// expected-") {
                    continue;
                }
                let kind = if breaks { "breaks" } else { "keeps" };
                let example = Example { rule, breaks, profile, text: text.clone() };
                let shortest = best.entry((rule, kind)).or_insert_with(|| example.clone());
                if (text.len(), &text) < (shortest.text.len(), &shortest.text) {
                    *shortest = example;
                }
            }
        }
        best.into_values().collect()
    });
    &ALL
}
