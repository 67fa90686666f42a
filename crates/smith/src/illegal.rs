//! Programs that break exactly one rule.

use crate::candidate::{Candidate, opcodes, signatures};
use crate::draft::{Draft, Node};
use crate::program::{Options, Refused, smith};
use crate::random::Random;
use tessera::{Diagnostic, Program};
use tessera_check::examples::examples;

/// A program that breaks a rule.
#[derive(Clone, Debug)]
pub struct Illegal {
    /// The program.
    pub text: String,
    /// Whether it was drawn; else it is the example that the rule is tested with.
    pub is_drawn: bool,
}

/// A program that breaks this rule, and no other one.
///
/// Rules of one instruction are broken by drawn instructions; rules of whole programs by the shortest program that the
/// rule is tested with.
pub fn illegal(options: &Options, rule: &str) -> Result<Illegal, Refused> {
    if let Some(text) = drawn(options, rule) {
        return Ok(Illegal { text, is_drawn: true });
    }
    let example = examples().iter().find(|e| e.rule == rule && e.breaks);
    let fits = |e: &&tessera_check::examples::Example| breaks(&Program::read(&e.text, Some(options.profile)), rule);
    match example.filter(fits) {
        Some(example) => Ok(Illegal {
            text: format!(
                "// tessera smith --profile {} --illegal {rule}: an example\n{}",
                options.profile, example.text
            ),
            is_drawn: false,
        }),
        None => Err(Refused(match example {
            Some(example) => format!(
                "no program that breaks {rule} on {} was found; on {} there is one",
                options.profile, example.profile
            ),
            None => format!(
                "no program that breaks {rule} was found: it is about text, files or a run, or needs several broken at once"
            ),
        })),
    }
}

/// Whether a program breaks this rule and no other.
fn breaks(program: &Program, rule: &str) -> bool {
    let found = program.check();
    let is_it = |d: &Diagnostic| d.rule == rule;
    found.iter().any(is_it) && found.iter().all(|d| is_it(d) || !d.is_error())
}

fn drawn(options: &Options, rule: &str) -> Option<String> {
    let mut random = Random::of(options.seed, 0x99);
    let profile = options.profile;
    let mut rows: Vec<_> =
        opcodes().filter(|op| op.info().rules.iter().any(|r| r.id == rule && r.on.has(profile))).collect();
    if rows.is_empty() && rule.starts_with("tile-") {
        rows = opcodes().collect();
    }
    for _ in 0..60 {
        let op = random.pick(&rows)?;
        let shape = random.below(op.shapes().len());
        let Some(form) = op.shapes().get(shape).map(|s| s.form) else { continue };
        let sig = random.below(signatures(op, form, profile).len());
        let Some(recipe) = Candidate::recipe(op, shape, sig, profile) else { continue };
        let Some(broken) = recipe.broken(&mut random, profile, rule, 60) else { continue };
        let mut draft = Draft::new(profile);
        let first = draft.stmts.len();
        let Some(stmt) = draft.take(&mut random, &broken) else { continue };
        draft.body.extend((first..=stmt).map(Node::Line));
        let text = draft.print("").text;
        if !breaks(&Program::read(&text, None), rule) {
            continue;
        }
        let head = format!("// tessera smith --profile {profile} --seed {} --illegal {rule}\n", options.seed);
        return Some(head + &around(options, rule, &text).unwrap_or(text));
    }
    None
}

/// The program beside a legal function of the size that was asked for, if the whole breaks still only this rule.
fn around(options: &Options, rule: &str, text: &str) -> Option<String> {
    let legal = smith(options).ok()?.text;
    let body = |text: &str| {
        let lines: Vec<&str> = text.lines().skip_while(|l| !l.contains("module attributes")).skip(1).collect();
        lines.split_last().map(|(_, all)| all.join("\n"))
    };
    let broken = body(text)?.replace("@smith", "@broken");
    let text = format!(
        "module attributes {{pto.target_arch = \"{}\"}} {{\n{}\n{broken}\n}}\n",
        options.profile,
        body(&legal)?
    );
    let program = Program::read(&text, None);
    breaks(&program, rule).then(|| program.text(None))
}
