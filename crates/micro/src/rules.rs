//! The rules of micro instructions, beside those of tile instructions (`docs/spec/micro`).

use crate::table::rule_ids;
use std::sync::LazyLock;
use tessera_isa::diag::Severity;
use tessera_isa::profile::Profiles;
pub use tessera_isa::rules::Rule;

/// The rule with this id, of either table.
///
/// ```
/// assert_eq!(tessera_micro::rules::rule("vecscope-op").unwrap().source, "micro/model.md 2");
/// ```
pub fn rule(id: &str) -> Option<&'static Rule> {
    all().find(|rule| rule.id == id)
}

/// Every rule: those of tile instructions, then those of micro instructions.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    tessera_isa::rules::all().chain(OWN.iter())
}

/// Rules with ids of their own: the id, whether it only warns, the text, the page.
const WHOLE: &[(&str, bool, &str, &str)] = &[
    ("micro-profile", false, "micro instructions exist on a5 only; cpu warns, and a5's rules hold", "micro/model.md 1"),
    ("vreg-type", false, "a register has lanes of 8, 16, 32 or 64 bits, 2048 bits together", "micro/model.md 3"),
    ("mask-type", false, "a mask is meant for lanes of 8, 16 or 32 bits", "micro/model.md 3"),
    ("ptr-space", false, "a pointer's memory is gm, ub, l1, l0a, l0b, l0c, bt or fb", "micro/model.md 3"),
    ("vecscope-missing", false, "what works on registers stands in a vecscope", "micro/model.md 2"),
    ("vecscope-nested", false, "no vecscope stands in a vecscope", "micro/model.md 2"),
    ("vecscope-op", false, "no transfer, flag, tile instruction or call stands in a vecscope", "micro/model.md 2"),
    ("vecscope-capture", false, "a strict vecscope uses its arguments and its own values only", "micro/model.md 2"),
    ("vecscope-kind", false, "a vecscope is not in cube code", "micro/model.md 2"),
    ("vreg-escape", false, "registers do not cross the edge of a vecscope", "micro/model.md 2"),
    ("castptr-gm", false, "a number is no global address", "micro/model.md 4a"),
    ("castptr-space", false, "castptr keeps the memory", "micro/model.md 4a"),
    ("castptr-auto", true, "a number as a UB address, where tiles are placed automatically", "micro/model.md 2"),
    ("buf-mode", false, "the mode of get_buf and rls_buf is 0 or 1", "micro/model.md 8"),
    (
        "load_scalar-space",
        false,
        "scalars are loaded from gm and ub, and from l1 outside of vecscopes",
        "micro/model.md 4a",
    ),
    (
        "store_scalar-space",
        false,
        "scalars are stored to gm and ub, and to l1 outside of vecscopes",
        "micro/model.md 4a",
    ),
    ("load_scalar-align", false, "the address is a multiple of the element's bytes", "micro/model.md 4a"),
    ("store_scalar-align", false, "the address is a multiple of the element's bytes", "micro/model.md 4a"),
    ("ub-bounds", false, "every byte touched lies in the 256 Ki bytes of UB", "micro/memory.md 1"),
    ("l1-bounds", false, "every byte touched lies in the 512 Ki bytes of L1", "micro/memory.md 1"),
    ("l0a-bounds", false, "every byte touched lies in L0A", "micro/cube.md 1"),
    ("l0b-bounds", false, "every byte touched lies in L0B", "micro/cube.md 1"),
    ("l0c-bounds", false, "every byte touched lies in L0C", "micro/cube.md 1"),
    ("mx-bounds", false, "every byte touched lies in the memory of block scales", "micro/cube.md 1"),
    ("bt-bounds", false, "every byte touched lies in the bias table", "micro/cube.md 1"),
    ("fb-bounds", false, "every byte touched lies in the FIXPIPE buffer", "micro/cube.md 1"),
    ("align-kind", false, "a state of a load stream is no state of a store stream", "micro/memory.md 5"),
    ("align-linear", false, "a state of a store stream is used once on every path", "micro/memory.md 5"),
    ("align-stream", false, "an unaligned stream goes on where it is", "micro/memory.md 5"),
    ("align-leak", true, "bytes wait at the end of a vecscope that no flush wrote", "micro/memory.md 5"),
];

/// Kinds of rules: the end of the id, whether it only warns, the text, the page.
const KINDS: &[(&str, bool, &str, &str)] = &[
    ("space", false, "pointers point to the memories that the row names", "micro/memory.md 1"),
    ("dtype", false, "types are those of the row", "micro/memory.md 1"),
    ("dist", false, "the word is one of the row's", "micro/memory.md 4"),
    ("mode", false, "the word is one of the row's", "micro/memory.md 1"),
    ("mask", false, "the mask has the granularity of the lanes", "micro/model.md 5"),
    ("immediate", false, "the index is a constant", "micro/memory.md 7"),
    ("pad", false, "the pad value is as wide as an element, and at most 32 bytes go to a side", "micro/memory.md 2"),
    ("align", false, "addresses and strides are multiples of what the memory wants", "micro/memory.md 2"),
    ("range", false, "counts, lengths and strides fit their fields", "micro/memory.md 2"),
    ("overlap", false, "two rows write no common byte", "micro/memory.md 1"),
    (
        "count",
        false,
        "counts are in range; a shift's count outside of the lane's bits is a warning",
        "micro/vector.md 2",
    ),
    ("sqzn", false, "a squeeze has run earlier in the vecscope", "micro/memory.md 5"),
    ("duplicate", true, "active lanes of a scatter have different indices", "micro/memory.md 6"),
    ("register", false, "the word is AR", "micro/memory.md 5"),
    ("position", false, "LOWEST or HIGHEST, and only with a register", "micro/predicate.md 1"),
    ("pattern", false, "the word is one of the row's, and sets no more lanes than there are", "micro/predicate.md 1"),
    ("granularity", false, "masks have the granularity of the name and of each other", "micro/predicate.md 1"),
    ("negative", true, "a count of 2^31 and more counts without sign", "micro/predicate.md 1"),
    ("part", false, "LOWER or HIGHER; the half is 0 or 1", "micro/vector.md 2"),
    ("scalar", false, "the scalar is one for a lane", "micro/vector.md 2"),
    ("attr", false, "words and attributes are the row's and complete", "micro/vector.md 2"),
    ("default", true, "an attribute that the conversion takes is left out", "micro/vector.md 2"),
    ("bin", false, "the half of the bins is 0 or 1", "micro/vector.md 2"),
    ("zero", false, "no divisor of an active lane is 0", "micro/vector.md 2"),
    ("index", true, "a lane's number is below the number of lanes", "micro/vector.md 2"),
    ("repeat", false, "0 to 255 groups are sorted", "micro/vector.md 8"),
    ("config", false, "the control word names lists and a repeat", "micro/vector.md 8"),
    ("kind", false, "the kind names two classes of accesses", "micro/model.md 8"),
    ("atomic", false, "rows are elements of the type that the control register combines", "micro/cube.md 7"),
    ("clause", false, "clauses go with the types", "micro/cube.md 2"),
    ("payload", false, "a clause has the parameter that its mode takes", "micro/cube.md 2"),
    ("clip", false, "the clip value has a type for the destination", "micro/cube.md 2"),
    ("layout", false, "the layout goes with the destination", "micro/cube.md 2"),
    ("split", false, "what is split divides evenly", "micro/cube.md 2"),
    ("form", false, "the short or the full operands, all of them", "micro/cube.md 2"),
    ("small", false, "at most 4 elements a row", "micro/cube.md 3"),
];

/// Rules of shifts count lanes; vstus's counts bytes and is an error.
fn only_warns(id: &str, warns: bool) -> bool {
    warns || (id.ends_with("-count") && id.starts_with("vsh"))
}

static OWN: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    let rule = |id: &'static str, warns: bool, text: &'static str, source: &'static str| Rule {
        id,
        severity: if only_warns(id, warns) { Severity::Warning } else { Severity::Error },
        on: Profiles::CPU_A5,
        text,
        source,
        implied: false,
    };
    let mut own: Vec<Rule> = WHOLE.iter().map(|(id, warns, text, source)| rule(id, *warns, text, source)).collect();
    for (id, _) in rule_ids() {
        let known = own.iter().any(|r| r.id == id) || tessera_isa::rules::rule(id).is_some();
        let kind = KINDS.iter().find(|(end, ..)| id.rsplit_once('-').is_some_and(|(_, rest)| rest == *end));
        if let (false, Some((_, warns, text, source))) = (known, kind) {
            own.push(rule(id, *warns, text, source));
        }
    }
    own
});
