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

const SCATTER: &str =
    "pto.tscatter ins(%a, %i : !pto.tile<1x32xf32>, !pto.tile<1x32xi32>) outs(%d : !pto.tile<1x32xf32>)\n";

#[test]
fn what_decides_about_an_irregular_instruction_is_data() {
    let (scattered, _) = undecided(SCATTER);
    assert!(scattered.message().contains("idx %i decides what TSCATTER does"), "{scattered}");
    let (sorted, _) =
        undecided("%d = pto.tsort32 %s, %i : (!pto.tile<1x32xf32>, !pto.tile<1x32xu32>) -> !pto.tile<1x64xf32>\n");
    assert!(sorted.message().contains("src %s decides what TSORT32 does"), "{sorted}");
    let (scalar, place) = undecided(
        "%k = arith.constant 3 : index\n\
        %v = pto.tgetval %s, %k : (!pto.tile<1x32xf32>, index) -> f32\n\
        pto.texpands ins(%v : f32) outs(%d : !pto.tile<1x32xf32>)\n",
    );
    assert!(place.starts_with("%v = pto.tgetval"), "{scalar}");
}

#[test]
fn generated_indices_decide() {
    let start = |n: u32| {
        format!(
            "%c = arith.constant {n} : i32\n\
            %i = pto.alloc_tile : !pto.tile<1x32xi32>\n\
            pto.tci ins(%c {{descending = true}} : i32) outs(%i : !pto.tile<1x32xi32>)\n{SCATTER}"
        )
    };
    // The last element first: the same by a gather with the same indices.
    let gathered = start(31).replace("tscatter", "tgather");
    let compare = |a: &str, b: &str| compare(a, Profile::Cpu, b, Profile::Cpu, &Given::default());
    let answer = compare(&start(31), &gathered);
    assert!(matches!(answer, Answer::Equal(e) if (e.elements, e.undefined) == (32, 0)), "{answer:?}");
    let moved = "pto.tmov ins(%a : !pto.tile<1x32xf32>) outs(%d : !pto.tile<1x32xf32>)\n";
    assert!(!matches!(compare(&start(31), moved), Answer::Equal(_)));
}

#[test]
fn the_parts_of_a_partial_operation_are_followed() {
    let text = "pto.tpartadd ins(%a, %b : !pto.tile<1x32xf32>, !pto.tile<vec, 1x32xf32, valid=1x20>) \
        outs(%d : !pto.tile<1x32xf32>)\n";
    let other = text.replace("%a, %b", "%a, %c").replace("%c", "%b");
    let compare = |a: &str, b: &str| compare(a, Profile::Cpu, b, Profile::A5, &Given::default());
    assert!(matches!(compare(text, &other), Answer::Equal(e) if e.elements == 32));
    assert!(!matches!(compare(text, &text.replace("tpartadd", "tpartmul")), Answer::Equal(_)));
}
