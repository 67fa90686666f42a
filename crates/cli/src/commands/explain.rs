//! `tessera explain`: everything that the program can name, from the tables that it runs on.

mod micro;
pub mod order;
mod pages;
pub mod reference;

use crate::complete::Completed;
use crate::render::document::{Block, html};
use crate::render::table::paragraph;
use crate::session::{FINE, Failure, Outcome, Session};
use pages::*;
use std::fmt::Write;
use std::path::PathBuf;
use tessera::{Elem, Profile};
use tessera_isa::diag::{distance, nearest};
use tessera_isa::ops::{AttrKind, AttrName, Family, Opcode, Pipe, Word, other, others};
use tessera_isa::tile::{LayoutName, Loc};
use tessera_micro::rules::{self, rule};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  tessera explain tinsert\n  tessera explain tinsert-bounds\n  tessera explain NZ\n  tessera explain tinsert --html tinsert.html\n  \
                        tessera explain        (the list of everything)"
)]
pub struct Args {
    /// A name in any spelling. Default: list all names
    #[arg(value_parser = known_names(), hide_possible_values = true)]
    name: Option<String>,
    /// Write the page, with its picture, to this file instead; `-` is standard output
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

/// Any name is taken, and those that have a page are completed.
fn known_names() -> Completed<String> {
    Completed { parse: |text| Ok(text.to_string()), words: names }
}

pub fn run(args: &Args, session: &mut Session<'_>) -> Outcome {
    let text = match &args.name {
        None => index(),
        Some(name) => explain(name).ok_or_else(|| unknown(name))?,
    };
    if let Some(file) = &args.html {
        let op = args.name.as_deref().and_then(|name| opcode(name.trim()));
        let page = op.map_or_else(|| vec![Block::Code("", text)], reference::page);
        let title = op.map_or_else(|| args.name.clone().unwrap_or_else(|| "tessera".into()), |op| op.title());
        session.write(file, html(&title, &page).into_bytes())?;
        return Ok(FINE);
    }
    session.stdout.write_all(text.as_bytes())?;
    Ok(FINE)
}

/// The language reference: a section for each topic.
pub const LANGUAGE: &str = include_str!("explain/language.md");

/// Synonyms: the name that has a page.
fn by_other_name(word: &str) -> Option<String> {
    let same = |w: &&str| w.eq_ignore_ascii_case(word);
    let is_word = |a: &&AttrName| {
        let is_listed = |w: &Word| same(&w.name) || same(&w.cpp) || w.also.iter().any(same);
        same(&a.cpp()) || matches!(a.info().kind, AttrKind::Word { list, .. } if list.iter().any(is_listed))
    };
    let elem = || Elem::ALL.iter().copied().find(|e| e.info().dtype_names.iter().any(same));
    let loc = || Loc::ALL.iter().copied().find(|l| same(&l.memory_name()));
    let others: [(&[&str], &str); 8] = [
        (&["fp4", "float4"], "f4e2m1x2"),
        (&["fp8", "float8"], "f8e4m3"),
        (
            &["tile", "tile_buf", "conv_tile", "fractal", "blayout", "slayout", "valid", "v_row", "v_col", "compact"],
            "types",
        ),
        (&["memref", "ptr", "tensor_view", "partition_tensor_view"], "views"),
        (&["func", "module", "blocks", "listing"], "functions"),
        (&["event", "events", "flag", "flags", "barriers"], "order"),
        (&["asm", "ssa", "dps", "forms"], "syntax"),
        (&["box", "boxes", "boxed"], "NZ"),
    ];
    let other = || others.iter().find(|(names, _)| names.iter().any(same)).and_then(|(_, page)| explain(page));
    let attribute = AttrName::ALL.iter().find(is_word).copied().map(attribute_page);
    attribute.or_else(|| elem().map(elem_page)).or_else(|| loc().map(loc_page)).or_else(other)
}

/// The topics of the reference.
pub fn topics() -> impl Iterator<Item = &'static str> {
    LANGUAGE.split("\n## ").skip(1).filter_map(|section| section.lines().next())
}

/// The section of a topic, in any case.
fn topic_page(word: &str) -> Option<String> {
    let mut sections = LANGUAGE.split("\n## ").skip(1).filter_map(|section| section.split_once('\n'));
    let (topic, text) = sections.find(|(topic, _)| topic.eq_ignore_ascii_case(word))?;
    let code = text.trim_end().replace("```pto\n", "").replace("```\n", "").replace("```", "");
    Some(format!("{topic}, a topic of the language\n{code}\n"))
}

/// The page of a name, if anything has it.
pub fn explain(name: &str) -> Option<String> {
    let word = name.trim();
    let same = |w: &&str| w.eq_ignore_ascii_case(word);
    let layout = || LayoutName::ALL.iter().find(|l| same(&l.name()));
    let spelled = || Elem::ALL.iter().copied().find(|e| e.info().spellings.iter().any(same));
    let loc = || Loc::ALL.iter().find(|l| same(&l.name()) || same(&l.cpp()) || **l == Loc::Vec && same(&"ub"));
    let pipe = || Pipe::ALL.iter().find(|p| same(&p.name()) || same(&p.cpp()));
    let attribute = || AttrName::ALL.iter().find(|a| same(&a.name()));
    // One name has both pages: `trap`.
    let page = match (opcode(word), rule(word)) {
        (Some(op), Some(rule)) => Some(format!("{}\n{}", instruction_page(op), rule_page(rule))),
        (op, rule) => op.map(instruction_page).or_else(|| rule.map(rule_page)),
    };
    page.or_else(|| layout().copied().map(layout_page))
        .or_else(|| tessera_micro::find(without_prefix(word)).map(micro::page))
        .or_else(|| Profile::parse(word).map(profile_page))
        .or_else(|| Elem::parse(word).or_else(spelled).map(elem_page))
        .or_else(|| loc().copied().map(loc_page))
        .or_else(|| pipe().copied().map(pipe_page))
        .or_else(|| attribute().copied().map(attribute_page))
        .or_else(|| other(&without_prefix(word).to_ascii_lowercase()).map(other_page))
        .or_else(|| topic_page(word))
        .or_else(|| by_other_name(word))
}

/// The instruction of a mnemonic, with or without `pto.`, in any case, or of a C++ intrinsic.
fn opcode(word: &str) -> Option<Opcode> {
    let bare = without_prefix(word);
    let lower = bare.to_ascii_lowercase();
    let by_cpp = || Opcode::ALL.iter().copied().find(|op| op.info().cpp.contains(&bare));
    Opcode::parse(&lower).or_else(by_cpp)
}

fn without_prefix(word: &str) -> &str {
    match word.get(..4) {
        Some(head) if head.eq_ignore_ascii_case("pto.") => &word[4..],
        _ => word,
    }
}

/// Every name that has a page, as the index lists them.
pub fn names() -> Vec<&'static str> {
    let mut all: Vec<&str> = Opcode::ALL.iter().map(|op| op.mnemonic()).collect();
    all.extend(Opcode::ALL.iter().flat_map(|op| op.info().aliases.iter().chain(op.info().cpp)));
    all.extend(tessera_micro::rows().flat_map(tessera_micro::Row::names));
    all.extend(rules::all().map(|r| r.id));
    all.extend(Elem::ALL.iter().flat_map(|e| e.info().spellings));
    all.extend(Profile::spellings());
    all.extend(LayoutName::ALL.iter().map(|l| l.name()));
    all.extend(Loc::ALL.iter().map(|l| l.name()));
    all.extend(Pipe::ALL.iter().map(|p| p.name()));
    all.extend(AttrName::ALL.iter().map(|a| a.name()));
    all.extend(others());
    all.extend(topics());
    all
}

/// Names that may be meant: those with the word in them, one that a slip is away, those that speak of it, else the
/// one with
/// the nearest letters.
fn meant(word: &str) -> Vec<&'static str> {
    const SHOWN: usize = 4;
    let lower = word.to_ascii_lowercase();
    // `transposes`, `division`: the beginning of a word says what it is about.
    let stem = lower.get(..lower.len().saturating_sub(2).max(4)).unwrap_or(&lower);
    let mut found: Vec<&str> = Vec::new();
    if lower.len() > 2 && lower.len() < 40 {
        let ops = || Opcode::ALL.iter().map(|op| (op.mnemonic(), op.info()));
        found.extend(ops().filter(|(name, _)| name.strip_prefix('t') == Some(&lower)).map(|(name, _)| name));
        if found.is_empty() {
            found.extend(ops().filter(|(name, _)| name.contains(&lower)).map(|(name, _)| name));
        }
        // One wrong letter in five is a slip.
        let slip =
            nearest(word, names()).filter(|near| distance(&lower, &near.to_ascii_lowercase()) <= 1 + lower.len() / 5);
        if found.is_empty() && slip.is_none() {
            let speaks = |text: &str| {
                text.to_ascii_lowercase().split(|c: char| !c.is_alphanumeric()).any(|w| w.starts_with(stem))
            };
            found.extend(ops().filter(|(_, info)| speaks(info.summary)).map(|(name, _)| name));
            let sections = LANGUAGE.split("\n## ").skip(1).filter(|section| speaks(section));
            found.extend(sections.filter_map(|section| section.lines().next()));
        }
        found.truncate(SHOWN);
    }
    if found.is_empty() && lower.len() > 1 {
        found.extend(nearest(word, names()));
    }
    found
}

fn unknown(name: &str) -> Failure {
    let shown: String = name.chars().take(40).collect();
    let near: Vec<String> = meant(without_prefix(name.trim())).iter().map(|name| format!("'{name}'")).collect();
    let near = match near.split_last() {
        None => "`tessera explain` lists everything that can be explained".into(),
        Some((one, [])) => format!("did you mean {one}?"),
        Some((last, rest)) => format!("did you mean {} or {last}?", rest.join(", ")),
    };
    Failure::usage(format!("nothing is called '{shown}'; {near}"))
}

/// All instructions by family, with what the families are called.
pub fn sections() -> [(&'static str, Vec<Opcode>); 8] {
    let families = [
        ("Layout instructions", Family::Layout),
        ("Elementwise instructions", Family::Elementwise),
        ("Tile-scalar instructions", Family::Scalar),
        ("Reductions and expansions", Family::Reduce),
        ("Matrix products", Family::Matrix),
        ("Irregular instructions", Family::Irregular),
        ("Global memory", Family::Memory),
        ("Instructions around them", Family::Support),
    ];
    families
        .map(|(title, family)| (title, Opcode::ALL.iter().copied().filter(|op| op.info().family == family).collect()))
}

fn index() -> String {
    let mut out = String::new();
    let mut section = |title: &str, names: Vec<&str>| {
        let _ = write!(out, "{title}\n{}\n", paragraph(&names.join("  "), 2).replace("  \n", "\n"));
    };
    for (title, ops) in sections() {
        section(title, ops.iter().map(|op| op.mnemonic()).collect());
    }
    section("Micro instructions", tessera_micro::rows().flat_map(tessera_micro::Row::names).collect());
    section("Profiles", Profile::ALL.iter().map(|p| p.name()).collect());
    section("Element types", Elem::ALL.iter().map(|e| e.name()).collect());
    section("Layouts", LayoutName::ALL.iter().map(|l| l.name()).collect());
    section("Locations", Loc::ALL.iter().map(|l| l.name()).collect());
    section("Pipes", Pipe::ALL.iter().map(|p| p.name()).collect());
    section("Attributes", AttrName::ALL.iter().map(|a| a.name()).collect());
    section("Rules", rules::all().map(|r| r.id).collect());
    section("The language", topics().collect());
    section("Recognised, not executable yet", others().collect());
    out.push_str("tessera explain NAME shows one of them.\n");
    out
}
