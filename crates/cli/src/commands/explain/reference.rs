//! The reference page of an instruction: everything that its row says, with a picture and programs that run.

use super::pages::{cost_table, fact_lines, rule_table};
use crate::render::document::Block;
use crate::render::{example, legality};
use tessera::case::{Case, Status};
use tessera::fill::Fill;
use tessera::intrinsics::{python, rust};
use tessera::program::{Content, From};
use tessera::{Diagnostic, Profile, Program};
use tessera_check::examples::{Example, examples};
use tessera_isa::inst::Inst;
use tessera_isa::ops::{Opcode, Text};
use tessera_micro::rules::rule;

/// The declarations of an instruction in Rust and Python.
fn declarations(op: Opcode) -> impl Iterator<Item = Block> {
    let all = [("python", python::declarations(op)), ("rust", rust::declarations(op))];
    let text = |lines: Vec<String>| lines.into_iter().map(|line| line + "\n").collect();
    all.into_iter().filter(|(_, lines)| !lines.is_empty()).map(move |(lang, lines)| Block::Code(lang, text(lines)))
}

/// A program of a few lines.
#[derive(Debug)]
pub struct Sample {
    /// The profile that it is legal on.
    pub profile: Profile,
    /// Its text.
    pub text: String,
    /// Whether it runs on made-up inputs.
    pub runs: bool,
}

/// A program that uses the instruction and is legal: one that runs, where there is one.
pub fn sample(op: Opcode) -> Option<Sample> {
    let profiles = [Profile::A5, Profile::A2a3, Profile::Cpu];
    let own = op.shapes().iter().flat_map(|shape| {
        let lines = example::examples(op, shape);
        [lines.ssa, lines.asm, lines.dps]
    });
    let own = own.filter(|line| !line.is_empty()).flat_map(|line| profiles.map(|p| (p, line.clone())));
    let tested = examples().iter().filter(|example| !example.breaks);
    let tested = tested.filter_map(|example| Some((Profile::parse(example.profile)?, example.text.clone())));
    let mut legal: Option<Sample> = None;
    for (profile, text) in own.chain(tested) {
        let program = Program::read(&text, Some(profile));
        let uses = program.module().funcs.iter().flat_map(|f| &f.ops).any(|o| o.opcode() == Some(op));
        if !uses || program.check().iter().any(Diagnostic::is_error) {
            continue;
        }
        let text = program.text(None);
        let runs = runs(&program);
        if runs {
            return Some(Sample { profile, text, runs });
        }
        legal.get_or_insert(Sample { profile, text, runs });
    }
    legal
}

/// Whether it runs on made-up inputs.
fn runs(program: &Program) -> bool {
    let mut case = Case::new(program.clone());
    case.fills_missing = true;
    if case.run().status == Status::Passed {
        return true;
    }
    // Indices and counts are small numbers.
    let Ok(kernel) = program.entry() else { return false };
    let zeros = kernel.arguments().into_iter().map(|a| {
        let name = kernel.name(a.value).to_string();
        Content { label: name.clone(), name, from: From::Fill(Fill::Zeros) }
    });
    case.inputs.contents = zeros.filter(|c| kernel.find(&c.name).is_some_and(|v| kernel.elem(v).is_some())).collect();
    case.run().status == Status::Passed
}

/// The contents of the picture of an instruction: its use in the program, on the first profile where an element
/// moves.
pub fn instance(op: Opcode, sample: &Sample) -> Option<Inst> {
    [sample.profile, Profile::Cpu].into_iter().find_map(|profile| {
        let program = Program::read(&sample.text, Some(profile));
        let met = tessera_check::instructions(program.module(), profile);
        let (_, inst) = met.into_iter().find(|(_, inst)| inst.op == op)?;
        tessera_draw::instruction::draw(&inst).is_some().then_some(inst)
    })
}

/// The picture of an instruction, where it moves or computes elements.
pub fn picture(op: Opcode) -> Option<String> {
    tessera_draw::instruction::draw(&instance(op, &sample(op)?)?)
}

/// The page.
pub fn page(op: Opcode) -> Vec<Block> {
    let info = op.info();
    let heading = |text: &str| Block::Heading(2, text.into());
    let mut page = vec![Block::Heading(1, op.title()), Block::Text(info.summary.into())];
    if !info.formula.is_empty() {
        page.push(Block::Code("text", info.formula.into()));
    }
    let sample = sample(op);
    let drawn = sample.as_ref().and_then(|s| tessera_draw::instruction::draw(&instance(op, s)?));
    if let Some(svg) = drawn {
        let (about, file) = (format!("What {} does", op.title()), format!("img/{}.svg", op.mnemonic()));
        page.push(Block::Picture { svg, about, file });
    }
    page.push(Block::Table(fact_lines(info)));
    forms(op, &mut page);
    if let Some(table) = legality::legality(info) {
        let legend = legality::legend(&table.render());
        page.extend([heading("Legality"), Block::Table(table)]);
        page.extend((!legend.is_empty()).then_some(Block::List(legend)));
    }
    let edge_cases = info.edge_cases();
    if !edge_cases.is_empty() {
        page.extend([heading("Edge cases"), Block::List(edge_cases.into_iter().map(String::from).collect())]);
    }
    page.push(heading("Cost"));
    match cost_table(op) {
        Some((title, table)) => page.extend([Block::Text(title), Block::Table(table)]),
        None if info.by_flows() => page.push(Block::Text("By path: docs/spec/isa/cost.md.".into())),
        None => page.push(Block::Text("Unknown (docs/spec/isa/cost.md).".into())),
    }
    rules(op, &mut page);
    if let Some(sample) = sample {
        page.extend([heading("Example"), Block::Code("mlir", sample.text)]);
        let words = if sample.runs { "Legal and runs on" } else { "Legal on" };
        page.push(Block::Text(format!("{words} {}.", sample.profile)));
    }
    page
}

/// Every form in all spellings.
fn forms(op: Opcode, page: &mut Vec<Block>) {
    let info = op.info();
    page.push(Block::Heading(2, "Forms".into()));
    let forms = if info.text == Text::Forms { info.forms } else { &[] };
    for form in forms {
        let Some(shape) = op.shapes().iter().find(|s| s.form == form.form) else { continue };
        let lines = example::examples(op, shape);
        let printed = [&lines.asm, &lines.ssa, &lines.dps].map(|line| example::as_printed(line));
        page.push(Block::Heading(3, form.form.to_string()));
        page.extend(form.formula.map(|formula| Block::Code("text", formula.into())));
        let texts: Vec<String> = printed.into_iter().filter(|line| !line.is_empty()).collect();
        page.extend((!texts.is_empty()).then(|| Block::Code("mlir", texts.join("\n"))));
        page.extend(example::call(op, form.form).map(|call| Block::Code("cpp", format!("{call};"))));
    }
    if forms.is_empty() {
        page.push(Block::Code("mlir", super::pages::written_lines(op).join("\n")));
    }
    page.extend(declarations(op));
}

/// Each rule, with a program that breaks it and one that keeps it.
fn rules(op: Opcode, page: &mut Vec<Block>) {
    if op.info().rules.is_empty() {
        return;
    }
    page.extend([Block::Heading(2, "Rules".into()), Block::Table(rule_table(op.info()))]);
    for id in op.info().rules.iter().filter_map(|r| rule(r.id)).map(|r| r.id) {
        // Rules of all instructions have pages of their own.
        if !id.starts_with(op.mnemonic()) {
            continue;
        }
        for Example { breaks, profile, text, .. } in examples().iter().filter(|example| example.rule == id) {
            let words = if *breaks { "Breaks" } else { "Keeps" };
            page.extend([Block::Text(format!("{words} {id} on {profile}:")), Block::Code("mlir", text.clone())]);
            let found = Program::read(text, Profile::parse(profile)).check();
            if let Some(found) = found.iter().find(|d| *breaks && d.rule == id) {
                let help = found.help.as_ref().map_or(String::new(), |help| format!(" — help: {help}"));
                page.push(Block::Text(format!("{}{help}", found.message)));
            }
        }
    }
}
