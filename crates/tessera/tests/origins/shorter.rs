//! What `opt` takes out, and what it leaves.

use crate::{kernel, listing};
use tessera::opt::{Optimized, optimize};
use tessera::program::Program;
use tessera_isa::profile::Profile;

fn optimized(text: &str) -> Optimized {
    let program = Program::read(text, None);
    let errors: Vec<_> = program.check().into_iter().filter(|d| d.is_error()).collect();
    assert!(errors.is_empty(), "{text}\n{errors:?}");
    optimize(&program, None, &Default::default(), &[]).unwrap()
}

#[test]
fn pairs_that_cancel_become_one_move_or_none() {
    let twice = listing(&["%t = pto.ttrans %s : T -> T", "%d = pto.ttrans %t : T -> T"]);
    assert_eq!(optimized(&twice).text, listing(&["%d = pto.tmov %s : T -> T"]));
    let woven = listing(&[
        "%i0, %i1 = pto.tinterleave %s0, %s1 : (T, T) -> (T, T)",
        "%d0, %d1 = pto.tdeinterleave %i0, %i1 : (T, T) -> (T, T)",
        "%r = pto.tconcat %d0, %d1 : (T, T) -> !pto.tile<16x32xf32>",
    ]);
    let plain = listing(&["%r = pto.tconcat %s0, %s1 : (T, T) -> !pto.tile<16x32xf32>"]);
    assert_eq!(optimized(&woven).text, plain);
}

#[test]
fn an_insert_and_an_extract_cancel() {
    let body = "  %t = pto.alloc_tile : !pto.tile<16x16xf32>
  pto.tinsert ins(%a, %c8, %c0 : !pto.tile<8x8xf32>, index, index) outs(%t : !pto.tile<16x16xf32>)
  pto.textract ins(%t, %c8, %c0 : !pto.tile<16x16xf32>, index, index) outs(%b : !pto.tile<8x8xf32>)";
    let better = optimized(&kernel(8, 8, body));
    assert!(!better.text.contains("tinsert") && !better.text.contains("textract"), "{}", better.text);
    assert!(better.text.contains("pto.tstore ins(%a"), "{}", better.text);
}

#[test]
fn reshapes_in_a_row_become_one() {
    let text = "%t = pto.treshape %s : !pto.tile<16x16xf32> -> !pto.tile<8x32xf32>\n\
        %u = pto.treshape %t : !pto.tile<8x32xf32> -> !pto.tile<32x8xf32>\n\
        %d = pto.ttrans %u : !pto.tile<32x8xf32> -> !pto.tile<8x32xf32>\n";
    let better = optimized(text);
    assert_eq!(better.text.matches("treshape").count(), 1, "{}", better.text);
    assert_eq!(better.steps.len(), 1);
}

#[test]
fn dead_tiles_and_moves_onto_themselves_go() {
    let body = "  %t = pto.alloc_tile : !pto.tile<8x8xf32>
  pto.ttrans ins(%a : !pto.tile<8x8xf32>) outs(%t : !pto.tile<8x8xf32>)
  pto.tmov ins(%a : !pto.tile<8x8xf32>) outs(%a : !pto.tile<8x8xf32>)
  pto.ttrans ins(%a : !pto.tile<8x8xf32>) outs(%b : !pto.tile<8x8xf32>)";
    let better = optimized(&kernel(8, 8, body));
    assert_eq!(better.text.matches("ttrans").count(), 1, "{}", better.text);
    assert!(!better.text.contains("tmov") && !better.text.contains("%t "), "{}", better.text);
}

#[test]
fn padding_that_is_overwritten_goes() {
    let body = "  %p = pto.alloc_tile : !pto.tile<vec, 8x8xf32, valid=8x4>
  %q = pto.alloc_tile : !pto.tile<vec, 8x8xf32, pad=zero>
  pto.tfillpad ins(%p : !pto.tile<vec, 8x8xf32, valid=8x4>) outs(%q : !pto.tile<vec, 8x8xf32, pad=zero>)
  pto.tmov ins(%a : !pto.tile<8x8xf32>) outs(%q : !pto.tile<vec, 8x8xf32, pad=zero>)
  pto.ttrans ins(%q : !pto.tile<vec, 8x8xf32, pad=zero>) outs(%b : !pto.tile<8x8xf32>)";
    let better = optimized(&kernel(8, 8, body));
    assert!(!better.text.contains("tfillpad") && !better.text.contains("tmov"), "{}", better.text);
}

#[test]
fn a_chain_of_windows_becomes_one() {
    let text = "%t = textract %s[2, 3] : !pto.tile<16x16xf32> -> !pto.tile<8x8xf32>\n\
        %d = textract %t[1, 2] : !pto.tile<8x8xf32> -> !pto.tile<vec, 4x8xf32, valid=4x4>\n";
    let better = optimized(text);
    assert!(better.text.contains("%s[3, 5]"), "{}", better.text);
    assert_eq!(better.text.lines().count(), 1);
}

#[test]
fn steps_name_the_lines_of_the_text() {
    let text = listing(&["%t = pto.ttrans %s : T -> T", "%d = pto.ttrans %t : T -> T"]);
    let better = optimized(&text);
    let step = &better.steps[0];
    let (changed, what) = &step.changed[0];
    assert_eq!((changed.mnemonic, what.as_str()), ("ttrans", "becomes tmov of %s"));
    let removed = step.removed[0];
    assert_eq!(&text[removed.span.start as usize..][..2], "%t");
}

#[test]
fn what_matters_stays() {
    for text in [
        listing(&["%d = pto.ttrans %s : T -> T"]),
        listing(&["%t = pto.ttrans %s : T -> T", "%d = pto.tpack %t : T -> !pto.tile<16x16xf16>"]),
        // A clobbering move: what follows depends on what is undefined.
        "%c0 = arith.constant 0 : index\n%d = pto.tinsert %u, %c0, %c0 : (!pto.tile<8x16xf32>, index, index) -> \
         !pto.tile<16x16xf32>\n"
            .to_string(),
    ] {
        let better = optimized(&text);
        assert!(better.steps.is_empty(), "{text}\n{}", better.text);
    }
}

#[test]
fn a_step_is_legal_on_the_profile() {
    // Vec to Mat needs its own move on a5; the copy in between does not.
    let text = "%t = pto.tmov %s : !pto.tile<16x16xf32> -> !pto.tile<16x16xf32>\n\
        %d = pto.tmov %t : !pto.tile<16x16xf32> -> !pto.tile<mat, 16x16xf32>\n";
    let program = Program::read(text, Some(Profile::A5));
    let better = optimize(&program, None, &Default::default(), &[]).unwrap();
    assert_eq!(better.text.lines().count(), 1, "{}", better.text);
    let again = Program::read(&better.text, Some(Profile::A5));
    assert!(again.check().iter().all(|d| !d.is_error()));
}

#[test]
fn loops_keep_their_rounds() {
    let body = "  scf.for %i = %c0 to %c8 step %c1 {
    %t = pto.alloc_tile : !pto.tile<1x8xf32>
    %u = pto.alloc_tile : !pto.tile<1x8xf32>
    pto.textract ins(%a, %i, %c0 : !pto.tile<8x8xf32>, index, index) outs(%t : !pto.tile<1x8xf32>)
    pto.tmov ins(%t : !pto.tile<1x8xf32>) outs(%u : !pto.tile<1x8xf32>)
    %last = arith.subi %c8, %c1 : index
    %j = arith.subi %last, %i : index
    pto.tinsert ins(%u, %j, %c0 : !pto.tile<1x8xf32>, index, index) outs(%b : !pto.tile<8x8xf32>)
  }";
    let better = optimized(&kernel(8, 8, body)).text;
    assert!(!better.contains("tmov"), "{better}");
    assert!(better.contains("textract") && better.contains("tinsert"), "{better}");
    // Rows that go back where they were are a move, and the loop around nothing goes.
    let better = optimized(&kernel(8, 8, &body.replace("%j, %c0", "%i, %c0"))).text;
    assert!(!better.contains("scf.for") && better.contains("pto.tstore ins(%a"), "{better}");
}

#[test]
fn wanted_tiles_stay() {
    let body = "  %t = pto.alloc_tile : !pto.tile<8x8xf32>
  pto.ttrans ins(%a : !pto.tile<8x8xf32>) outs(%t : !pto.tile<8x8xf32>)
  pto.tmov ins(%a : !pto.tile<8x8xf32>) outs(%b : !pto.tile<8x8xf32>)";
    let text = kernel(8, 8, body);
    assert!(!optimized(&text).text.contains("ttrans"));
    let program = Program::read(&text, None);
    let better = optimize(&program, None, &Default::default(), &["t".into()]).unwrap();
    assert!(better.text.contains("outs(%t"), "{}", better.text);
    assert!(!better.text.contains("tmov"), "{}", better.text);
}
