//! Quick fixes applied to a whole text, one after the other: `tessera check --fix`.

use crate::config::Config;
use crate::snapshot::Snapshot;
use crate::text::Text;
use crate::{actions, fixes};
use std::sync::Arc;
use tessera::Profile;

/// The most fixes that are applied to a text.
const MOST: usize = 200;

/// A text after its fixes.
#[derive(Debug)]
pub struct Fixed {
    /// The text.
    pub text: String,
    /// The fixes, in the order in which they were applied.
    pub applied: Vec<Applied>,
}

/// A fix that was applied.
#[derive(Debug)]
pub struct Applied {
    /// The rule of the finding.
    pub rule: &'static str,
    /// The line (from 1) of the finding in the text that the fix was applied to.
    pub line: usize,
    /// The change in words: `Insert pto.barrier <PIPE_V>`.
    pub title: String,
}

/// Applies quick fixes until no finding has one. Each fix was tried: it makes its finding go away and adds none. No
/// profiles mean the module's own, else all of them.
pub fn fix(text: &str, profiles: &[Profile], races: bool) -> Fixed {
    let config = Config { profiles: profiles.to_vec(), races, hints: false };
    let mut snapshot = Arc::new(Snapshot::new("file:///text".into(), 0, Text::new(text), config, None));
    let mut applied = Vec::new();
    while applied.len() < MOST
        && let Some((next, done)) = first(&snapshot)
    {
        applied.push(done);
        snapshot = next;
    }
    Fixed { text: snapshot.text.text.to_string(), applied }
}

/// The text with the first fix of its first finding that has one.
fn first(snapshot: &Arc<Snapshot>) -> Option<(Arc<Snapshot>, Applied)> {
    let rules = snapshot.findings().iter().filter_map(|f| Some((f, fixes::fixes(snapshot, f).into_iter().next()?)));
    let order = snapshot.races().iter().filter_map(|f| Some((f, actions::flags(snapshot, f)?)));
    let (finding, fix) = rules.chain(order).next()?;
    let line = snapshot.text.line_of(finding.span().start) + 1;
    let applied = Applied { rule: finding.diagnostic.rule, line, title: fix.title };
    Some((Arc::new(fixes::tried(snapshot, fix.edits)), applied))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_instruction_and_a_missing_flag_are_fixed() {
        let text = "%d = pto.tad %a, %b : (!pto.tile<vec, 16x64xf32>, !pto.tile<vec, 16x64xf32>) -> !pto.tile<vec, 16x64xf32>\n";
        let fixed = fix(text, &[Profile::A5], false);
        assert_eq!(fixed.applied.len(), 1, "{fixed:?}");
        assert!(fixed.text.contains("pto.tadd %a"), "{}", fixed.text);
        assert!(fix(&fixed.text, &[Profile::A5], false).applied.is_empty());
    }
}
