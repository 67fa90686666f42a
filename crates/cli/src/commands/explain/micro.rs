//! The pages of micro instructions.

use crate::render::table::paragraph;
use std::fmt::Write;
use tessera_micro::picture::{Line, lines};
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
    out + &picture(name, row)
}

/// Bytes or lanes that a line of a picture shows.
const SHOWN: usize = 16;

/// Which byte goes where, and which lanes are on, for each word.
fn picture(name: &'static str, row: &'static Row) -> String {
    let all = lines(name, row);
    let title = match all.first() {
        None => return String::new(),
        Some(Line::Loaded(..)) => "Bytes of the register from 0 on, by the byte of UB that each comes from; . is 0",
        Some(Line::Stored(..)) => "Bytes of UB from the address on, by the byte of the register; . is not written",
        Some(Line::Lanes(..)) => "Lanes from 0 on; x is on, and the number of those that are",
    };
    let mut out = format!("\n{title}\n");
    for line in &all {
        let numbers = |bytes: &[Option<usize>]| {
            let shown = bytes.iter().take(SHOWN).map(|byte| byte.map_or(".".to_string(), |n| n.to_string()));
            shown.map(|text| format!("{text:>4}")).collect::<String>()
        };
        let _ = match line {
            Line::Loaded(word, bytes) | Line::Stored(word, bytes) => writeln!(out, "  {word:<12}{} …", numbers(bytes)),
            Line::Lanes(word, lanes) => {
                let shown: String = lanes.iter().take(2 * SHOWN).map(|on| if *on { 'x' } else { '.' }).collect();
                let count = lanes.iter().filter(|on| **on).count();
                writeln!(out, "  {word:<12}{shown} … {count} of {}", lanes.len())
            }
        };
    }
    out
}
