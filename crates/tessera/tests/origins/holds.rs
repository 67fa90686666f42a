//! Equivalences that hold.

use crate::{compare, equal, kernel, listing};
use tessera::equiv::{Answer, Given};
use tessera_isa::profile::Profile;

#[test]
fn pairs_that_cancel() {
    let moved = listing(&["%d = pto.tmov %s : T -> T"]);
    let twice = listing(&["%t = pto.ttrans %s : T -> T", "%d = pto.ttrans %t : T -> T"]);
    assert_eq!(equal(&twice, &moved).elements, 256);
    let interleaved = "%i0, %i1 = pto.tinterleave %s0, %s1 : (T, T) -> (T, T)";
    let back = "%d0, %d1 = pto.tdeinterleave %i0, %i1 : (T, T) -> (T, T)";
    let pair = listing(&[interleaved, back]);
    let moves = listing(&["%d0 = pto.tmov %s0 : T -> T", "%d1 = pto.tmov %s1 : T -> T"]);
    assert_eq!(equal(&pair, &moves).outputs, 2);
}

#[test]
fn outputs_and_inputs_are_matched_by_name_and_then_by_position() {
    let a = listing(&["%first = pto.ttrans %x : T -> T", "%second = pto.tmov %y : T -> T"]);
    let named = listing(&["%second = pto.tmov %y : T -> T", "%first = pto.ttrans %x : T -> T"]);
    assert_eq!(equal(&a, &named).elements, 512);
    let placed = listing(&["%p = pto.ttrans %u : T -> T", "%q = pto.tmov %v : T -> T"]);
    assert_eq!(equal(&a, &placed).elements, 512);
}

#[test]
fn forms_are_equal() {
    let assembly = listing(&["%d = ttrans %s : T -> T"]);
    let dps = listing(&["pto.ttrans ins(%s : T) outs(%d : T)"]);
    assert_eq!(equal(&assembly, &dps).undefined, 0);
    let window = "%d = textract %s[2, 3] : !pto.tile<16x16xf32> -> !pto.tile<8x8xf32>\n";
    let constants = "%c2 = arith.constant 2 : index\n%c3 = arith.constant 3 : index\n\
        %d = pto.textract %s, %c2, %c3 : (!pto.tile<16x16xf32>, index, index) -> !pto.tile<8x8xf32>\n";
    assert_eq!(equal(window, constants).elements, 64);
}

#[test]
fn layouts_do_not_matter() {
    let nd = "%t = pto.tmov %s : !pto.tile<mat, 32x32xf16> -> !pto.tile<mat, 32x32xf16>\n\
        %d = pto.ttrans %t : !pto.tile<mat, 32x32xf16> -> !pto.tile<mat, 32x32xf16>\n";
    let nz = nd.replace("mat, 32x32xf16", "mat, 32x32xf16, blayout=col_major, slayout=row_major");
    assert_eq!(equal(nd, &nz).elements, 1024);
}

#[test]
fn profiles_do_not_matter_where_the_results_are_the_same() {
    // f32 to f16 out of an accumulator rounds alike everywhere.
    let cast = "%d = pto.tmov %s : !pto.tile<loc=acc, dtype=f32, rows=32, cols=32> -> \
        !pto.tile<loc=mat, dtype=f16, rows=32, cols=32>\n";
    for (a, b) in [(Profile::Cpu, Profile::A5), (Profile::A2a3, Profile::A5)] {
        let answer = compare(cast, a, cast, b, &Given::default());
        assert!(matches!(answer, Answer::Equal(e) if e.elements == 1024), "{answer:?}");
    }
    let kernel = kernel(8, 16, "  pto.tmov ins(%a : !pto.tile<8x16xf32>) outs(%b : !pto.tile<8x16xf32>)");
    let answer = compare(&kernel, Profile::A2a3, &kernel, Profile::A5, &Given::default());
    assert!(matches!(answer, Answer::Equal(e) if e.elements == 128), "{answer:?}");
}

#[test]
fn loops_are_their_bodies_one_after_the_other() {
    let looped = kernel(
        8,
        8,
        "  scf.for %i = %c0 to %c8 step %c1 {
    %t = pto.alloc_tile : !pto.tile<1x8xf32>
    pto.textract ins(%a, %i, %c0 : !pto.tile<8x8xf32>, index, index) outs(%t : !pto.tile<1x8xf32>)
    pto.tinsert ins(%t, %i, %c0 : !pto.tile<1x8xf32>, index, index) outs(%b : !pto.tile<8x8xf32>)
  }",
    );
    let moved = kernel(8, 8, "  pto.tmov ins(%a : !pto.tile<8x8xf32>) outs(%b : !pto.tile<8x8xf32>)");
    assert_eq!(equal(&looped, &moved).elements, 64);
}

#[test]
fn a_fill_before_a_conversion_is_a_fill_after_it() {
    let before = "%p = pto.tfillpad %s : !pto.tile<16x16xf32, v_col=8> -> !pto.tile<16x16xf32, pad=zero>\n\
        %d = pto.tmov %p : !pto.tile<16x16xf32, pad=zero> -> !pto.tile<16x16xf16>\n";
    let after = "%p = pto.tmov %s : !pto.tile<16x16xf32, v_col=8> -> !pto.tile<16x16xf16, v_col=8>\n\
        %d = pto.tfillpad %p : !pto.tile<16x16xf16, v_col=8> -> !pto.tile<16x16xf16, pad=zero>\n";
    let [before, after] = [before, after].map(|t| t.replace("16x16xf32, v_col=8", "vec, 16x16xf32, valid=16x8"));
    let [before, after] = [before, after].map(|t| t.replace("16x16xf16, v_col=8", "vec, 16x16xf16, valid=16x8"));
    let [before, after] = [before, after].map(|t| {
        t.replace("<16x16xf32, pad=zero>", "<vec, 16x16xf32, pad=zero>")
            .replace("<16x16xf16, pad=zero>", "<vec, 16x16xf16, pad=zero>")
    });
    assert_eq!(equal(&before, &after).elements, 256);
}

#[test]
fn undefined_elements_are_counted() {
    // A transpose of a window: the rest of the destination was never written by either.
    let a = listing(&["%t = pto.tmov %s : T -> T", "pto.tinsert ins(%u, %c0, %c0 : T, index, index) outs(%d : T)"]);
    let part = a.replace("%u, %c0, %c0 : !pto.tile<16x16xf32>", "%u, %c0, %c0 : !pto.tile<8x16xf32>");
    let part = format!("%c0 = arith.constant 0 : index\n{part}");
    // As an output of both, %d is an input of both as well: what nobody writes stays.
    assert_eq!(equal(&part, &part).undefined, 0);
    let alone = "%c0 = arith.constant 0 : index\n\
        %d = pto.tinsert %u, %c0, %c0 : (!pto.tile<8x16xf32>, index, index) -> !pto.tile<16x16xf32>\n";
    assert_eq!(equal(alone, alone).undefined, 128);
}
