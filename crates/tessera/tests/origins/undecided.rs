//! Programs that data decides about.

use crate::{compare, kernel};
use tessera::equiv::{Answer, Given};
use tessera::{Error, ErrorKind, Missing};
use tessera_isa::codec::Number;
use tessera_isa::profile::Profile;

fn undecided(text: &str) -> (Error, String) {
    match compare(text, Profile::Cpu, text, Profile::Cpu, &Given::default()) {
        Answer::Stopped(_, error) if error.kind() == ErrorKind::Undecided => {
            let span = error.diagnostic().span.unwrap();
            let place = text[span.start as usize..span.end as usize].to_string();
            (error, place)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn counts_of_a_join_are_data() {
    let text = "%d = pto.tconcat %s0, %s1, %i0, %i1 : (!pto.tile<8x8xf32>, !pto.tile<8x8xf32>, !pto.tile<8x8xi32>, \
        !pto.tile<8x8xi32>) -> !pto.tile<8x16xf32>\n";
    let (undecided, place) = undecided(text);
    assert!(place.starts_with("%d = pto.tconcat"), "{place}");
    assert!(undecided.message().contains("%i0"), "{undecided}");
}

#[test]
fn constant_counts_decide() {
    // Zeros joined with zeros of everything: the counts are filled, so they are known.
    let text = "%i0 = pto.tfillpad %z : !pto.tile<vec, 8x8xi32, valid=0x0> -> !pto.tile<vec, 8x8xi32, pad=custom(8)>\n\
        %i1 = pto.tfillpad %z : !pto.tile<vec, 8x8xi32, valid=0x0> -> !pto.tile<vec, 8x8xi32, pad=custom(16)>\n\
        %d = pto.tconcat %s0, %s1, %i0, %i1 : (!pto.tile<8x8xf32>, !pto.tile<8x8xf32>, \
        !pto.tile<vec, 8x8xi32, pad=custom(8)>, !pto.tile<vec, 8x8xi32, pad=custom(16)>) -> !pto.tile<8x16xf32>\n";
    let answer = compare(text, Profile::Cpu, text, Profile::Cpu, &Given::default());
    // Two columns of the first, four of the second; ten of sixteen are not written.
    assert!(matches!(answer, Answer::Equal(e) if (e.elements, e.undefined) == (128, 80)), "{answer:?}");
}

const GATHER: &str = "%d = pto.tgather %s, %i : (!pto.tile<8x8xf32>, TI) -> !pto.tile<8x8xf32>\n";

#[test]
fn indices_of_a_gather_are_data() {
    let (undecided, place) = undecided(&GATHER.replace("TI", "!pto.tile<8x8xi32>"));
    assert!(place.starts_with("%d = pto.tgather"), "{place}");
    assert!(undecided.message().contains("the indices in %i decide"), "{undecided}");
}

#[test]
fn constant_indices_decide() {
    let filled = |n: u64| {
        let to = format!("!pto.tile<vec, 8x8xi32, pad=custom({n})>");
        let fill = format!("%i = pto.tfillpad %z : !pto.tile<vec, 8x8xi32, valid=0x0> -> {to}\n");
        fill + &GATHER.replace("TI", &to)
    };
    let answer = |a: u64, b: u64| compare(&filled(a), Profile::Cpu, &filled(b), Profile::Cpu, &Given::default());
    assert!(matches!(answer(9, 9), Answer::Equal(e) if e.undefined == 0), "{:?}", answer(9, 9));
    assert!(!matches!(answer(9, 10), Answer::Equal(_)), "{:?}", answer(9, 10));
}

#[test]
fn a_loaded_scalar_is_data() {
    let body = "  %n = pto.load_scalar %x[%c0] : !pto.ptr<f32> -> f32
  pto.tmov ins(%a : !pto.tile<8x8xf32>) outs(%b : !pto.tile<8x8xf32>)";
    let (undecided, place) = undecided(&kernel(8, 8, body));
    assert!(place.contains("load_scalar"), "{place}");
    assert!(undecided.message().contains("element 0"), "{undecided}");
}

#[test]
fn a_stored_scalar_is_a_constant() {
    let body = |n: u32| {
        format!(
            "  %n = arith.constant {n}.0 : f32
  pto.store_scalar %n, %y[%c0] : !pto.ptr<f32>, f32
  %m = pto.load_scalar %y[%c0] : !pto.ptr<f32> -> f32
  pto.tmov ins(%a : !pto.tile<8x8xf32>) outs(%b : !pto.tile<8x8xf32>)
  pto.tstore ins(%b : !pto.tile<8x8xf32>) outs(%w : !pto.tensor_view<?x?xf32>)
  pto.store_scalar %m, %y[%c2] : !pto.ptr<f32>, f32"
        )
    };
    // The store of the whole tile comes last in the kernel and hides the scalars.
    let (a, b) = (kernel(8, 8, &body(1)), kernel(8, 8, &body(2)));
    let answer = compare(&a, Profile::Cpu, &b, Profile::Cpu, &Given::default());
    assert!(matches!(answer, Answer::Equal(_)), "{answer:?}");
}

#[test]
fn scalar_arguments_need_values() {
    let text = kernel(8, 8, "  pto.tmov ins(%a : !pto.tile<8x8xf32>) outs(%b : !pto.tile<8x8xf32>)");
    let text = text.replace("%y: !pto.ptr<f32>)", "%y: !pto.ptr<f32>, %n: index)");
    let text = text.replace(
        "  return",
        "  scf.for %i = %c0 to %n step %c1 {
    pto.tstore ins(%a : !pto.tile<8x8xf32>) outs(%w : !pto.tensor_view<?x?xf32>)
  }
  return",
    );
    let (missing, place) = undecided(&text);
    assert_eq!((missing.message(), place.as_str()), ("the scalar %n has no value", "%n"));
    assert_eq!(missing.missing(), Some(&Missing::Value("n".into())));
    let given = |n: i128| Given { set: vec![("n".into(), Number::Int(n).into())], ..Given::default() };
    let answer = compare(&text, Profile::Cpu, &text, Profile::Cpu, &given(3));
    assert!(matches!(answer, Answer::Equal(_)), "{answer:?}");
    let unknown = Given { set: vec![("m".into(), Number::Int(1).into())], ..Given::default() };
    let answer = compare(&text, Profile::Cpu, &text, Profile::Cpu, &unknown);
    assert!(matches!(&answer, Answer::Stopped(_, error) if error.message().contains("%m")), "{answer:?}");
}
