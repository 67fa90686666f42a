//! Rows: order inside a vecscope, and names without a meaning (micro/model.md 8, memory.md 7a and 9).

use super::words::*;

/// The rows of this family.
pub(super) const ROWS: &[Row] = &[
    Row {
        name: "mem_bar",
        words: &[WordList {
            key: "kind",
            words: &[
                "VV_ALL", "VST_VLD", "VLD_VST", "VST_VST", "VS_ALL", "VST_LD", "VLD_ST", "VST_ST", "SV_ALL", "ST_VLD",
                "LD_VST", "ST_VST", "SS_ALL", "ST_LD", "LD_ST", "ST_ST",
            ],
            is_attribute: false,
            is_required: true,
        }],
        text: "pto.mem_bar \"VST_VLD\"",
        summary: "Orders accesses before it and after it, of the classes that it names.",
        formula: "a before b, for a of its first class earlier and b of its second class later in the vecscope",
        rules: &["kind"],
        sem: Sem::Bar,
        ..Row::VECTOR
    },
    Row {
        name: "vsld",
        aliases: &["vsst", "vsta", "vstu", "pld", "pst", "sprsti", "sprsts"],
        text: "pto.vsld …",
        summary: "A known name without a text that rows give: read and printed, not run.",
        formula: "none",
        rules: &["=not-executable"],
        sem: Sem::Unknown("no public text gives its operands"),
        ..Row::VECTOR
    },
];
