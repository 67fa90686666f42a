//! The way of one element.

use crate::{kernel, listing};
use tessera::program::Program;
use tessera::trace::{Hop, How, Target, back, forward};
use tessera_isa::profile::Profile;

fn hops(text: &str, at: &str) -> Vec<Hop> {
    let program = Program::read(text, None);
    let kernel = program.entry().unwrap();
    back(&kernel, &Default::default(), &Target::parse(at).unwrap(), false).unwrap().hops
}

fn told(hops: &[Hop]) -> Vec<String> {
    let text = |h: &Hop| {
        let to = h.to.as_deref().unwrap_or("");
        let from = h.from.as_deref().unwrap_or("");
        match &h.how {
            How::Moved => format!("{to} = {from}"),
            How::Converted(f) => format!("{to} = {from}, {f}"),
            How::Filled(v) => format!("{to} = {v}"),
            other => format!("{other:?} {to}{from}"),
        }
    };
    hops.iter().map(text).collect()
}

#[test]
fn back_to_an_input() {
    let text = listing(&["%t = pto.ttrans %s : T -> T", "%d = pto.tmov %t : T -> T"]);
    let way = hops(&text, "d[3, 5]");
    assert_eq!(told(&way), ["%d[3, 5] = %t[3, 5]", "%t[3, 5] = %s[5, 3]", "Input %s[5, 3]"]);
}

#[test]
fn back_to_a_pad_value_and_to_nothing() {
    let pad = "%d = pto.tfillpad %s : !pto.tile<vec, 8x16xi16, valid=8x12> -> !pto.tile<vec, 8x16xi16, pad=max>\n";
    assert_eq!(told(&hops(pad, "%d[1,13]")), ["%d[1, 13] = the constant 32767 (i16 0x7FFF)"]);
    let part = "%d = tinsert %s[4, 0] : !pto.tile<4x8xf32> -> !pto.tile<16x8xf32>\n";
    assert_eq!(told(&hops(part, "%d[3,0]")), ["NeverWritten %d[3, 0]"]);
    assert_eq!(told(&hops(part, "%d[5,1]")), ["%d[5, 1] = %s[1, 1]", "Input %s[1, 1]"]);
}

#[test]
fn back_through_sums() {
    let text = "%c = pto.tadd %a, %b : (!pto.tile<8x8xf32>, !pto.tile<8x8xf32>) -> !pto.tile<8x8xf32>\n\
        %d = pto.trowsum %c : !pto.tile<8x8xf32> -> !pto.tile<vec, 8x8xf32, valid=8x1>\n";
    let way = hops(text, "d[3, 0]");
    assert_eq!(way[0].how, How::Computed("sum(%c[3, 0], %c[3, 1], … 6 more)".into()));
    assert_eq!(way[0].from.as_deref(), Some("%c[3, 0], %c[3, 1], %c[3, 2], %c[3, 3]"));
    assert_eq!((way[0].more, way[1].depth), (4, 1));
    assert_eq!(way[1].from.as_deref(), Some("%a[3, 0], %b[3, 0]"));
    assert_eq!(told(&way[2..4]), ["Input %a[3, 0]", "Input %b[3, 0]"]);
    let program = Program::read(text, None);
    let kernel = program.entry().unwrap();
    let way = forward(&kernel, &Default::default(), &Target::parse("a[3, 2]").unwrap()).unwrap();
    let to: Vec<_> = way.iter().filter_map(|h| h.to.as_deref()).collect();
    assert_eq!(to[..2], ["%c[3, 2]", "%d[3, 0]"]);
    assert_eq!(way[0].how, How::Computed("f32 sum of %a[3, 2]".into()));
}

#[test]
fn loops_show_their_iteration() {
    let text = kernel(
        8,
        8,
        "  scf.for %i = %c0 to %c8 step %c1 {
    %t = pto.alloc_tile : !pto.tile<1x8xf32>
    pto.textract ins(%a, %i, %c0 : !pto.tile<8x8xf32>, index, index) outs(%t : !pto.tile<1x8xf32>)
    pto.tinsert ins(%t, %i, %c0 : !pto.tile<1x8xf32>, index, index) outs(%b : !pto.tile<8x8xf32>)
  }",
    );
    let way = hops(&text, "y[26]");
    assert_eq!(
        told(&way),
        ["%y[26] = %b[3, 2]", "%b[3, 2] = %t[0, 2]", "%t[0, 2] = %a[3, 2]", "%a[3, 2] = %x[26]", "Input %x[26]"]
    );
    let loops: Vec<_> = way.iter().map(|h| h.loops.clone()).collect();
    assert_eq!(loops[1], [("%i".to_string(), 3)]);
    assert_eq!((loops[0].len(), loops[2].len(), loops[3].len()), (0, 1, 0));
}

#[test]
fn conversions_name_their_function() {
    let text = "%d = pto.tmov %s : !pto.tile<loc=acc, dtype=f32, rows=16, cols=16> -> \
        !pto.tile<loc=mat, dtype=f16, rows=16, cols=16>\n";
    assert_eq!(told(&hops(text, "d[1,2]")), ["%d[1, 2] = %s[1, 2], f32 → f16", "Input %s[1, 2]"]);
}

#[test]
fn bytes_that_part_are_followed_one_by_one() {
    // Two bytes of an i16 come from two i8 elements.
    let text = "%t = pto.treshape %s : !pto.tile<8x32xi8> -> !pto.tile<8x16xi16>\n";
    let way = hops(text, "t[2,3]");
    assert_eq!(
        told(&way),
        ["%t[2, 3] = 2 bytes from byte 0 of %s[2, 6] on", "Input 2 bytes from byte 0 of %s[2, 6] on"]
    );
    let joined = "%c0 = arith.constant 0 : index\n%b = pto.treshape %w : !pto.tile<8x16xi16> -> !pto.tile<8x32xi8>\n\
        %c = pto.tinsert %p, %c0, %c0, init(%b) : (!pto.tile<vec, 8x32xi8, valid=8x1>, index, index, !pto.tile<8x32xi8>) -> !pto.tile<8x32xi8>\n\
        %d = pto.treshape %c : !pto.tile<8x32xi8> -> !pto.tile<8x16xi16>\n";
    let way = told(&hops(joined, "d[1,0]"));
    assert!(way.contains(&"Input %p[1, 0]".to_string()), "{way:?}");
    assert!(way.contains(&"Input byte 1 of %w[1, 0]".to_string()), "{way:?}");
}

#[test]
fn forward_to_everywhere() {
    let text = listing(&["%t = pto.ttrans %s : T -> T", "%d = pto.tmov %t : T -> T", "%e = pto.ttrans %t : T -> T"]);
    let program = Program::read(&text, None);
    let kernel = program.entry().unwrap();
    let way = forward(&kernel, &Default::default(), &Target::parse("%s[1,2]").unwrap()).unwrap();
    let told = told(&way);
    assert_eq!(told[..3], ["%t[2, 1] = %s[1, 2]", "%d[2, 1] = %t[2, 1]", "%e[1, 2] = %t[2, 1]"]);
    for end in ["Ends %d[2, 1]", "Ends %e[1, 2]"] {
        assert!(told.contains(&end.to_string()), "{told:?}");
    }
}

#[test]
fn footprints_are_told() {
    // a2a3 writes whole blocks of 32 bytes: the padding behind a valid region is clobbered.
    let text = "%d = pto.tmov %s : !pto.tile<vec, 8x16xf32, valid=8x12> -> !pto.tile<vec, 8x16xf32, valid=8x12>\n";
    let program = Program::read(text, Some(Profile::A2a3));
    let kernel = program.entry().unwrap();
    let way = back(&kernel, &Default::default(), &Target::parse("d[0,13]").unwrap(), false).unwrap().hops;
    assert_eq!(way[0].how, How::Clobbered);
}

#[test]
fn wrong_questions_are_refused() {
    let text = listing(&["%dst = pto.ttrans %src : T -> T"]);
    let program = Program::read(&text, None);
    let kernel = program.entry().unwrap();
    let ask = |at: &str| match back(&kernel, &Default::default(), &Target::parse(at).unwrap(), false) {
        Err(error) => error.to_string(),
        other => panic!("{other:?}"),
    };
    assert!(ask("%dts[0,0]").contains("did you mean %dst?"));
    assert!(ask("%dst[16,0]").contains("16 rows"));
    assert!(ask("%dst[1]").contains("a row and a column"));
    for wrong in ["dst", "dst[", "[1,2]", "dst[-1,2]", "dst[1;2]", ""] {
        assert!(Target::parse(wrong).is_err(), "{wrong}");
    }
    let from = forward(&kernel, &Default::default(), &Target::parse("%dst[0,0]").unwrap());
    assert!(matches!(from, Err(error) if error.message().contains("no input")));
}
