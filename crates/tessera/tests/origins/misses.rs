//! Near misses: programs that differ in one thing, each caught at the right element.

use crate::{compare, different, kernel, listing};
use tessera::equiv::{Answer, Given};
use tessera_isa::profile::Profile;

fn window(row: u64, col: u64) -> String {
    format!("%d = textract %s[{row}, {col}] : !pto.tile<16x16xf32> -> !pto.tile<8x8xf32>\n")
}

#[test]
fn one_index_off() {
    let found = different(&window(2, 3), &window(2, 4));
    assert_eq!(found.elements, 64);
    let first = &found.first[0];
    assert_eq!(first.at, ["%d[0, 0]", "%d[0, 0]"]);
    assert_eq!(first.is, ["%s[2, 3]", "%s[2, 4]"]);
    assert_eq!(different(&window(2, 3), &window(3, 3)).first[0].is, ["%s[2, 3]", "%s[3, 3]"]);
}

#[test]
fn one_wrong_pad_value() {
    let pad = |pad: &str| {
        format!("%d = pto.tfillpad %s : !pto.tile<vec, 8x16xf32, valid=8x12> -> !pto.tile<vec, 8x16xf32, pad={pad}>\n")
    };
    let found = different(&pad("zero"), &pad("min"));
    assert_eq!(found.elements, 32);
    assert_eq!(found.first[0].at[0], "%d[0, 12]");
    assert_eq!(found.first[0].is[0], "the constant 0.0 (f32 0x00000000)");
    assert_eq!(found.first[0].is[1], "the constant -inf (f32 0xFF800000)");
}

#[test]
fn swapped_operands() {
    let join = |a: &str, b: &str| {
        format!(
            "%d = pto.tconcat {a}, {b} : (!pto.tile<8x8xf32>, !pto.tile<8x8xf32>) -> !pto.tile<8x16xf32>\n%e = pto.tmov %s0 : !pto.tile<8x8xf32> -> !pto.tile<8x8xf32>\n"
        )
    };
    let found = different(&join("%s0", "%s1"), &join("%s1", "%s0"));
    assert_eq!(found.elements, 128);
    assert_eq!(found.first[0].is, ["%s0[0, 0]", "%s1[0, 0]"]);
}

#[test]
fn a_transpose_that_is_missing() {
    let a = listing(&["%d = pto.ttrans %s : T -> T"]);
    let b = listing(&["%d = pto.tmov %s : T -> T"]);
    let found = different(&a, &b);
    assert_eq!(found.elements, 240, "the diagonal is the same");
    assert_eq!(found.first[0].is, ["%s[1, 0]", "%s[0, 1]"]);
}

#[test]
fn another_rounding_another_relu_another_scale() {
    let quant = |scale: f32, relu: &str| {
        let bits = 1u64 << 46 | 5 << 37 | u64::from(scale.to_bits());
        format!(
            "%q = arith.constant {bits} : i64\n%d = pto.tmov %s, %q {{reluPreMode = #pto<relu_pre_mode {relu}>}} : \
             (!pto.tile<loc=acc, dtype=f32, rows=16, cols=32>, i64) -> !pto.tile<loc=mat, dtype=i8, rows=16, cols=32>\n"
        )
    };
    let (plain, scaled) = (quant(1.0, "no_relu"), quant(2.0, "no_relu"));
    let found = different(&plain, &scaled);
    assert_eq!(found.elements, 512);
    assert_eq!(found.first[0].is[0], "f32 → i8 times 1.0 plus 5 (%s[0, 0])");
    assert_eq!(different(&plain, &quant(1.0, "normal_relu")).elements, 512);
    // cpu adds the offset before it rounds, hardware afterwards.
    let answer = compare(&plain, Profile::Cpu, &plain, Profile::A5, &Given::default());
    assert!(matches!(answer, Answer::Different(d) if d.elements == 512));
}

#[test]
fn a_store_that_is_missing_or_moved() {
    let copy = "  pto.tmov ins(%a : !pto.tile<8x8xf32>) outs(%b : !pto.tile<8x8xf32>)";
    let whole = kernel(8, 8, copy);
    let without = whole.replace("  pto.tstore ins(%b : !pto.tile<8x8xf32>) outs(%w : !pto.tensor_view<?x?xf32>)\n", "");
    let found = different(&whole, &without);
    assert!(!found.first.is_empty());
    let moved = whole.replace(
        "strides = [%cols, %c1] : !pto.tensor_view<?x?xf32>\n  %a",
        "strides = [%c1, %cols] : !pto.tensor_view<?x?xf32>\n  %a",
    );
    assert_ne!(whole, moved);
    let found = different(&whole, &moved);
    assert_eq!(found.first[0].at[0], "%y[1]");
    assert_eq!(found.first[0].is, ["%x[1]", "%x[8]"]);
    // What is not written is what the buffer held.
    let shorter = whole.replace("  %b = pto.alloc_tile : !pto.tile<8x8xf32>", "  %b = pto.alloc_tile : !pto.tile<8x8xf32>\n  %half = pto.partition_view %w, offsets = [%c0, %c0], sizes = [%c8, %c2] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<8x2xf32>\n  %n = pto.alloc_tile : !pto.tile<vec, 8x8xf32, valid=8x2>\n");
    let shorter = shorter.replace(
        "  pto.tstore ins(%b : !pto.tile<8x8xf32>) outs(%w : !pto.tensor_view<?x?xf32>)",
        "  pto.textract ins(%b, %c0, %c0 : !pto.tile<8x8xf32>, index, index) outs(%n : !pto.tile<vec, 8x8xf32, valid=8x2>)\n  pto.tstore ins(%n : !pto.tile<vec, 8x8xf32, valid=8x2>) outs(%half : !pto.partition_tensor_view<8x2xf32>)",
    );
    let found = different(&whole, &shorter);
    assert_eq!(found.elements, 48);
    assert_eq!(found.first[0].is, ["%x[2]", "%y[2]"]);
}

#[test]
fn another_shape_or_number_of_outputs() {
    let a = listing(&["%d = pto.tmov %s : T -> T"]);
    let b = listing(&["%d = pto.tmov %s : T -> T", "%e = pto.tmov %s : T -> T"]);
    assert_eq!(different(&a, &b).first[0].is, ["not put out", "put out"]);
    let found = different(&window(0, 0), &window(0, 0).replace("8x8", "8x16"));
    assert_eq!(found.first[0].is, ["8x8 of f32", "8x16 of f32"]);
}
