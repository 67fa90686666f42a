//! The pages of micro instructions.

use crate::render::table::paragraph;
use std::fmt::Write;
use tessera_micro::{Class, Row, Stands};

/// The page of an instruction of the second table.
pub fn page((name, row): (&'static str, &'static Row)) -> String {
    let mut out = format!("pto.{name}, a micro instruction of a5\n\n{}\n\n", paragraph(row.summary, 2));
    let mut line = |title: &str, text: String| {
        if !text.is_empty() {
            let _ = write!(out, "{title}\n{}\n", paragraph(&text, 2));
        }
    };
    line("Text", row.text.to_string());
    line("Meaning", row.formula.to_string());
    line("Inactive lanes", row.inactive.to_string());
    line("Types", row.types.join(", "));
    for list in row.words {
        line(&format!("Words of {}", list.key), list.words.join(", "));
    }
    let class = match row.class {
        Class::Vld => "; pto.mem_bar orders it as VLD",
        Class::Vst => "; pto.mem_bar orders it as VST",
        _ => "",
    };
    let place = match row.stands {
        Stands::InVecscope => "in a vecscope",
        Stands::Outside => "outside of vecscopes",
        Stands::Anywhere => "anywhere",
    };
    line("Runs", format!("on pipe {}, {place}{class}", row.pipe));
    let others: Vec<&str> = row.names().filter(|other| *other != name).collect();
    line("The same row", others.join(", "));
    let rules: Vec<&str> =
        row.rules.iter().map(|rule| rule.strip_prefix('=').unwrap_or_else(|| row.rule(name, rule))).collect();
    line("Rules", rules.join(", "));
    out
}
