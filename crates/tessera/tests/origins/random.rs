//! Random programs: equal to themselves in every form and after `opt`, by origins and by data; and the cost of a proof.

use tessera::equiv::{Answer, equiv};
use tessera::opt::optimize;
use tessera::program::{Bindings, Input, Program};
use tessera_ir::TextForm;
use tessera_isa::profile::Profile;
use tessera_testkit::random::Random;

/// A straight line of instructions on tiles of n x n, most of which undo or repeat each other.
fn program(random: &mut Random, n: u64, lines: usize, outputs: bool) -> String {
    let tile = format!("!pto.tile<{n}x{n}xf32>");
    let half = format!("!pto.tile<{}x{n}xf32>", n / 2);
    let mut text = String::new();
    let mut tiles: Vec<String> = vec!["s0".into(), "s1".into()];
    for k in 0..lines {
        let from = tiles.len().saturating_sub(6);
        let mut pick = || tiles[from + random.below((tiles.len() - from) as u64) as usize].clone();
        let (a, b) = (pick(), pick());
        let (row, name) = (random.below(n / 2 + 1), format!("t{k}"));
        let made = match random.below(8) {
            0 | 1 => format!("%{name} = pto.ttrans %{a} : {tile} -> {tile}\n"),
            2 => format!("%{name} = pto.tmov %{a} : {tile} -> {tile}\n"),
            3 => format!(
                "%r{k} = arith.constant {row} : index\n%z{k} = arith.constant 0 : index\n%h{k} = pto.textract %{a}, \
                 %r{k}, %z{k} : ({tile}, index, index) -> {half}\n%{name} = pto.tinsert %h{k}, %r{k}, %z{k}, init(%{b}) : \
                 ({half}, index, index, {tile}) -> {tile}\n"
            ),
            4 => format!("%{name}, %o{k} = pto.tinterleave %{a}, %{b} : ({tile}, {tile}) -> ({tile}, {tile})\n"),
            5 => format!("%{name}, %o{k} = pto.tdeinterleave %{a}, %{b} : ({tile}, {tile}) -> ({tile}, {tile})\n"),
            6 => format!(
                "%w{k} = pto.treshape %{a} : {tile} -> !pto.tile<{}x{}xf32>\n%{name} = pto.treshape %w{k} : \
                 !pto.tile<{}x{}xf32> -> {tile}\n",
                n / 2,
                n * 2,
                n / 2,
                n * 2
            ),
            _ => format!(
                "%{name} = pto.tfillpad %{a} : {tile} -> !pto.tile<vec, {n}x{n}xf32, pad=zero>\n%p{k} = pto.tmov %{name} : \
                 !pto.tile<vec, {n}x{n}xf32, pad=zero> -> {tile}\n"
            ),
        };
        let is_padded = made.contains("pad=zero");
        tiles.push(if is_padded { format!("p{k}") } else { name });
        text.push_str(&made);
    }
    if outputs {
        let last = tiles.last().cloned().unwrap_or_default();
        text.push_str(&format!("%result = pto.tmov %{last} : {tile} -> {tile}\n"));
    }
    text
}

fn is_equal(a: &Program, b: &Program) -> bool {
    let answer = equiv(&a.entry().unwrap(), &b.entry().unwrap(), &Default::default(), &[]);
    matches!(answer, Answer::Equal(_))
}

/// Runs a program on data and gives its outputs by name.
fn run(program: &Program, n: u64) -> Vec<(String, Vec<u8>)> {
    let kernel = program.entry().unwrap();
    let func = kernel.func();
    let inputs = func.args.iter().map(|v| {
        let seed = kernel.name(*v).bytes().map(u64::from).sum::<u64>();
        let elements = (0..n * n).flat_map(|i| ((seed * 1000 + i) as f32).to_le_bytes()).collect();
        let input = Input::Tile { rows: n, cols: n, elements };
        (*v, input)
    });
    let outcome = kernel.execute(Bindings {
        inputs: inputs.collect(),
        outputs: func.outputs.iter().map(|v| (*v, 0)).collect(),
        ..Bindings::default()
    });
    assert!(!outcome.failed(), "{:?}", outcome.diagnostics);
    let tiles = outcome.tiles.iter();
    let mut all: Vec<_> = tiles.map(|t| (kernel.name(t.value).to_string(), t.data.elements.clone())).collect();
    all.sort();
    all
}

#[test]
fn random_programs_survive_every_form_and_opt() {
    let mut random = Random(1);
    let mut steps = 0;
    for round in 0..60 {
        let text = program(&mut random, 16, 4 + round % 9, true);
        for profile in [Profile::Cpu, Profile::A5] {
            let original = Program::read(&text, Some(profile));
            if original.check().iter().any(|d| d.is_error()) {
                assert_eq!(profile, Profile::A5, "{text}\n{:?}", original.check());
                continue;
            }
            for form in [TextForm::Asm, TextForm::Ssa, TextForm::Dps] {
                let other = Program::read(original.text(Some(form)), Some(profile));
                assert!(is_equal(&original, &other), "{text}\n{}", original.text(Some(form)));
            }
            let better = optimize(&original, None, &Default::default(), &[]).unwrap();
            let after = Program::read(&better.text, Some(profile));
            assert!(is_equal(&original, &after), "{text}\n{}", better.text);
            assert_eq!(run(&original, 16), run(&after, 16), "{text}\n{}", better.text);
            steps += better.steps.len();
        }
    }
    assert!(steps > 50, "only {steps} steps were taken");
}

#[test]
fn random_programs_with_another_index_are_told_apart_exactly_where_data_is() {
    let mut random = Random(2);
    let mut told_apart = 0;
    for _ in 0..40 {
        let text = program(&mut random, 16, 8, true);
        let Some(at) = text.find("arith.constant ").map(|at| at + "arith.constant ".len()) else {
            continue;
        };
        let digit = text[at..].split(' ').next().unwrap();
        let other = (digit.parse::<u64>().unwrap() + 1) % 9;
        let changed = format!("{}{other}{}", &text[..at], &text[at + digit.len()..]);
        let (a, b) = (Program::read(&text, None), Program::read(&changed, None));
        // All input elements differ, so data differs exactly where origins do.
        assert_eq!(is_equal(&a, &b), run(&a, 16) == run(&b, 16), "{text}\n{changed}");
        told_apart += usize::from(!is_equal(&a, &b));
    }
    assert!(told_apart > 5, "only {told_apart} programs differed");
}

#[test]
fn a_thousand_instructions_on_big_tiles() {
    let mut random = Random(3);
    let text = program(&mut random, 128, 750, true);
    let program = Program::read(&text, None);
    let instructions = text.matches("= pto.").count();
    let copy = Program::read(program.text(Some(TextForm::Dps)), None);
    let start = std::time::Instant::now();
    assert!(is_equal(&program, &copy));
    println!("equiv of two programs of {instructions} instructions on 128x128 tiles: {:?}", start.elapsed());
    assert!(instructions >= 1000, "only {instructions} instructions");
}
