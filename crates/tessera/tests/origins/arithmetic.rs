//! Programs that compute: what is proved equal, what differs and with which inputs, and how an element is written.

use crate::{compare, different, equal};
use tessera::equiv::{Answer, Given};
use tessera::opt::optimize;
use tessera::program::Program;
use tessera::trace::{Target, back};
use tessera::{Error, ErrorKind};
use tessera_isa::profile::Profile;

/// Lines in a short hand: `T` is a tile of 8x16, `H` one of 8x8, `C` a column of 8, all of one type.
fn lines(elem: &str, lines: &[&str]) -> String {
    let line = |l: &&str| {
        let l = l.replace('T', &format!("!pto.tile<8x16x{elem}>")).replace('H', &format!("!pto.tile<8x8x{elem}>"));
        l.replace('C', &format!("!pto.tile<vec, 8x1x{elem}, blayout=col_major>")) + "\n"
    };
    lines.iter().map(line).collect()
}

fn undecided(a: &str, b: &str) -> Error {
    match compare(a, Profile::Cpu, b, Profile::Cpu, &Given::default()) {
        Answer::Stopped(_, error) if error.kind() == ErrorKind::Undecided => error,
        other => panic!("{other:?}"),
    }
}

fn formula(text: &str, at: &str, is_full: bool) -> String {
    let program = Program::read(text, None);
    let errors: Vec<_> = program.check().into_iter().filter(|d| d.is_error()).collect();
    assert!(errors.is_empty(), "{text}\n{errors:?}");
    let way = back(&program.entry().unwrap(), &Default::default(), &Target::parse(at).unwrap(), is_full).unwrap();
    way.formula.map_or(String::new(), |f| f.line())
}

const SOFTMAX: [&str; 5] = [
    "%m = pto.trowmax %x : T -> C",
    "%c = pto.trowexpandsub %x, %m : (T, C) -> T",
    "%e = pto.texp %c : T -> T",
    "%s = pto.trowsum %e : T -> C",
    "%y = pto.trowexpanddiv %e, %s : (T, C) -> T",
];

#[test]
fn a_softmax_is_a_formula() {
    let text = lines("f32", &SOFTMAX);
    assert_eq!(
        formula(&text, "y[3,5]", false),
        "exp(%x[3, 5] - m) / sum(exp(%x[3, 0] - m), exp(%x[3, 1] - m), … 14 more), \
         where m = max(%x[3, 0], %x[3, 1], … 14 more)"
    );
    assert_eq!(formula(&text, "e[3,5]", false), "exp(%x[3, 5] - max(%x[3, 0], %x[3, 1], … 14 more))");
    let full = formula(&text, "e[3,5]", true);
    assert!(full.ends_with("%x[3, 14], %x[3, 15]))") && !full.contains('…'), "{full}");
}

#[test]
fn formulas_use_the_words_of_the_instructions() {
    let tests: [(&str, &[&str], &str); 8] = [
        ("f32", &["%c = arith.constant 1.5 : f32", "%d = pto.tadds %x, %c : (T, f32) -> T"], "%x[3, 5] + 1.5"),
        (
            "f32",
            &["%t = pto.tsub %x, %y : (T, T) -> T", "%d = pto.tsub %z, %t : (T, T) -> T"],
            "%z[3, 5] - (%x[3, 5] - %y[3, 5])",
        ),
        (
            "f32",
            &["%t = pto.tmul %x, %y : (T, T) -> T", "%d = pto.tadd %t, %z : (T, T) -> T"],
            "%x[3, 5] · %y[3, 5] + %z[3, 5]",
        ),
        (
            "f32",
            &["%t = pto.tadd %x, %y : (T, T) -> T", "%d = pto.tmul %t, %t : (T, T) -> T"],
            "t · t, where t = %x[3, 5] + %y[3, 5]",
        ),
        (
            "i32",
            &["%t = pto.tor %x, %y : (T, T) -> T", "%d = pto.tand %t, %z : (T, T) -> T"],
            "(%x[3, 5] | %y[3, 5]) & %z[3, 5]",
        ),
        ("f32", &["%d = pto.tmax %x, %y : (T, T) -> T"], "max(%x[3, 5], %y[3, 5])"),
        ("f32", &["%t = pto.tneg %x : T -> T", "%d = pto.trsqrt %t : T -> T"], "rsqrt(neg(%x[3, 5]))"),
        (
            "f32",
            &["%c = pto.tcolsum %x : T -> !pto.tile<1x16xf32>", "%d = pto.tcolexpand %c : !pto.tile<1x16xf32> -> T"],
            "sum(%x[0, 5], %x[1, 5], … 6 more)",
        ),
    ];
    for (elem, text, expected) in tests {
        assert_eq!(formula(&lines(elem, text), "d[3,5]", false), expected);
    }
}

#[test]
fn a_selection_shows_the_comparison_that_decides() {
    let text = lines(
        "f32",
        &[
            "%m = pto.tcmp %x, %y {cmpMode = #pto<cmp lt>} : (T, T) -> !pto.tile<8x32xu8>",
            "%d = pto.tsel %m, %x, %y : (!pto.tile<8x32xu8>, T, T) -> T",
        ],
    );
    assert_eq!(formula(&text, "d[3,5]", false), "select(%x[3, 5] < %y[3, 5], %x[3, 5], %y[3, 5])");
    let turned = text.replace("%x, %y {cmpMode = #pto<cmp lt>}", "%y, %x {cmpMode = #pto<cmp gt>}");
    assert_eq!(equal(&text, &turned).elements, 128);
    let other = text.replace("cmp lt", "cmp le");
    // x < y and x <= y pick the same number where they differ, but not the same zero.
    assert!(different(&text, &other).elements > 0);
}

#[test]
fn sums_commute_and_only_integers_associate() {
    let left = |e: &str| lines(e, &["%t = pto.tadd %x, %y : (T, T) -> T", "%d = pto.tadd %t, %z : (T, T) -> T"]);
    let turned = |e: &str| lines(e, &["%t = pto.tadd %y, %x : (T, T) -> T", "%d = pto.tadd %z, %t : (T, T) -> T"]);
    let right = |e: &str| lines(e, &["%t = pto.tadd %y, %z : (T, T) -> T", "%d = pto.tadd %x, %t : (T, T) -> T"]);
    for elem in ["f32", "f16", "i32", "i16"] {
        assert_eq!(equal(&left(elem), &turned(elem)).elements, 128, "{elem}");
    }
    assert_eq!(equal(&left("i32"), &right("i32")).elements, 128);
    let found = different(&left("f32"), &right("f32"));
    assert_eq!((found.elements, found.open), (128, 0));
    let witness = found.first[0].witness.as_ref().unwrap();
    let [x, y, z] = [0, 1, 2].map(|n| witness.inputs[n].1.parse::<f32>().unwrap());
    let [a, b] = [0, 1].map(|n| witness.values[n].parse::<f32>().unwrap());
    assert_eq!(((x + y) + z, x + (y + z)), (a, b));
    assert_ne!(a, b);
}

#[test]
fn a_row_sum_of_halves() {
    let whole = |e: &str| lines(e, &["%d = pto.trowsum %x : T -> C"]);
    let halves = |e: &str| {
        lines(
            e,
            &[
                "%a = textract %x[0, 0] : T -> H",
                "%b = textract %x[0, 8] : T -> H",
                "%s = pto.trowsum %a : H -> C",
                "%t = pto.trowsum %b : H -> C",
                "%d = pto.tadd %s, %t : (C, C) -> C",
            ],
        )
    };
    assert_eq!(equal(&whole("i32"), &halves("i32")).elements, 8);
    assert_eq!(different(&whole("f32"), &halves("f32")).elements, 8);
    let greatest = |text: String| text.replace("trowsum", "trowmax").replace("tadd", "tmax");
    assert_eq!(equal(&greatest(whole("f32")), &greatest(halves("f32"))).elements, 8);
}

#[test]
fn what_looks_like_a_copy_is_none() {
    let copy = lines("f32", &["%d = pto.tmov %x : T -> T"]);
    for (op, constant) in [("tmuls", "1.0"), ("tadds", "0.0"), ("tdivs", "1.0")] {
        let constant = format!("%c = arith.constant {constant} : f32");
        let text = lines("f32", &[&constant, &format!("%d = pto.{op} %x, %c : (T, f32) -> T")]);
        let found = different(&copy, &text);
        assert!(found.elements > 0 && found.first[0].witness.is_some(), "{op}: {found:?}");
    }
    let copy = lines("i32", &["%d = pto.tmov %x : T -> T"]);
    let times = lines("i32", &["%c = arith.constant 1 : i32", "%d = pto.tmuls %x, %c : (T, i32) -> T"]);
    assert_eq!(equal(&copy, &times).elements, 128);
}

#[test]
fn without_a_proof_or_a_witness_there_is_no_answer() {
    // A square is a product, which no law here says.
    let square = lines("i16", &["%t = pto.tmul %x, %x : (T, T) -> T", "%d = pto.tand %t, %t : (T, T) -> T"]);
    let power = lines("i16", &["%c = arith.constant 2 : i16", "%d = pto.tpows %x, %c : (T, i16) -> T"]);
    let error = undecided(&square, &power);
    assert!(error.message().contains("128 elements are computed in different ways"), "{error}");
}

#[test]
fn zero_divisors_are_no_witness() {
    let text = |op: &str| lines("i32", &[&format!("%d = pto.{op} %x, %y : (T, T) -> T")]);
    assert_eq!(equal(&text("tdiv"), &text("tdiv")).elements, 128);
    let found = different(&text("tdiv"), &text("trem"));
    let witness = found.first[0].witness.as_ref().unwrap();
    assert!(witness.inputs.iter().all(|(name, value)| !name.starts_with("%y") || value != "0"), "{witness:?}");
}

#[test]
fn fused_instructions_are_their_parts() {
    let parts = lines("f32", &["%c = pto.trowexpandsub %x, %m : (T, C) -> T", "%d = pto.texp %c : T -> T"]);
    let fused = lines("f32", &["%d = pto.trowexpandexpdif %x, %m : (T, C) -> T"]);
    assert_eq!(equal(&parts, &fused).elements, 128);
}

#[test]
fn long_programs_end() {
    let chain = |n: usize, elem: &str, second: &str| {
        let mut text = lines(elem, &["%t0 = pto.tmov %x : H -> H"]);
        for k in 1..n {
            let last = format!("%t{}", k - 1);
            let line = format!("%t{k} = pto.tadd {last}, {} : (H, H) -> H", second.replace("last", &last));
            text += &lines(elem, &[&line]);
        }
        text + &lines(elem, &[&format!("%d = pto.tadd %t{}, %y : (H, H) -> H", n - 1)])
    };
    let (a, b) = (chain(2000, "f32", "%y"), chain(2001, "f32", "%y"));
    assert_eq!(equal(&a, &a).elements, 64);
    assert_eq!(different(&a, &b).elements, 64);
    let way = formula(&a, "d[1,2]", false);
    assert_eq!(way, "%x[1, 2] + %y[1, 2] + … 1999 more");
    let (a, b) = (chain(300, "i32", "last"), chain(301, "i32", "last"));
    // Doubled more than 31 times, nothing is left of a number of 32 bits.
    assert_eq!(equal(&a, &b).elements, 64);
}

#[test]
fn loops_are_followed() {
    let kernel = |n: u64, op: &str| {
        format!(
            "func.func @k(%x: !pto.ptr<i32>, %y: !pto.ptr<i32>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %n = arith.constant {n} : index
  %v = pto.make_tensor_view %x, shape = [%c8, %c8], strides = [%c8, %c1] : !pto.tensor_view<?x?xi32>
  %w = pto.make_tensor_view %y, shape = [%c8, %c8], strides = [%c8, %c1] : !pto.tensor_view<?x?xi32>
  %a = pto.alloc_tile : !pto.tile<8x8xi32>
  %b = pto.alloc_tile : !pto.tile<8x8xi32>
  pto.tload ins(%v : !pto.tensor_view<?x?xi32>) outs(%a : !pto.tile<8x8xi32>)
  pto.tload ins(%v : !pto.tensor_view<?x?xi32>) outs(%b : !pto.tile<8x8xi32>)
  scf.for %i = %c0 to %n step %c1 {{
    pto.{op} ins(%b, %a : !pto.tile<8x8xi32>, !pto.tile<8x8xi32>) outs(%b : !pto.tile<8x8xi32>)
  }}
  pto.tstore ins(%b : !pto.tile<8x8xi32>) outs(%w : !pto.tensor_view<?x?xi32>)
  return
}}
"
        )
    };
    // x + 2047 x is x << 11.
    let sum = kernel(2047, "tadd");
    assert_eq!(equal(&sum, &sum).elements, 64);
    let once = kernel(1, "tmul");
    assert!(different(&sum, &once).elements > 0);
}

#[test]
fn opt_proves_its_steps_with_arithmetic() {
    let text = lines(
        "f32",
        &[
            "%t = pto.ttrans %x : !pto.tile<16x16xf32> -> !pto.tile<16x16xf32>",
            "%u = pto.ttrans %t : !pto.tile<16x16xf32> -> !pto.tile<16x16xf32>",
            "%e = pto.texp %u : !pto.tile<16x16xf32> -> !pto.tile<16x16xf32>",
            "%v = pto.tmov %e : !pto.tile<16x16xf32> -> !pto.tile<16x16xf32>",
            "%d = pto.tadd %v, %x : (!pto.tile<16x16xf32>, !pto.tile<16x16xf32>) -> !pto.tile<16x16xf32>",
        ],
    );
    let better = optimize(&Program::read(&text, None), None, &Default::default(), &[]).unwrap();
    assert_eq!(better.text.lines().count(), 2, "{}", better.text);
    assert_eq!(equal(&text, &better.text).elements, 256);
    // A sum with zero is no copy of floats, and stays.
    let zero = lines("f32", &["%c = arith.constant 0.0 : f32", "%d = pto.tadds %x, %c : (T, f32) -> T"]);
    let kept = optimize(&Program::read(&zero, None), None, &Default::default(), &[]).unwrap();
    assert!(kept.text.contains("tadds"), "{}", kept.text);
}

/// `A` and `B` are L1 tiles of 16x64 and 64x32, `L` and `R` those of the matrix unit, `l` and `r` their halves along K.
fn product(lines: &[&str], elem: &str, to: &str) -> String {
    let tile = |loc: &str, rows: u64, cols: u64| format!("!pto.tile<loc={loc}, {elem}, {rows}, {cols}>");
    let names = [
        ("A", tile("mat", 16, 64)),
        ("B", tile("mat", 64, 32)),
        ("L", tile("left", 16, 64)),
        ("R", tile("right", 64, 32)),
        ("l", tile("left", 16, 32)),
        ("r", tile("right", 32, 32)),
        ("C", format!("!pto.tile<loc=acc, {to}, 16, 32>")),
    ];
    let line = |line: &&str| {
        let word = |w: &str| names.iter().find(|(n, _)| *n == w).map_or(w.to_string(), |(_, t)| t.clone());
        let mut out = String::new();
        for piece in line.split_inclusive([' ', ',', '(', ')', ':']) {
            let (w, end) = piece.split_at(piece.trim_end_matches([' ', ',', '(', ')', ':']).len());
            out += &(word(w) + end);
        }
        out + "\n"
    };
    lines.iter().map(line).collect()
}

const WHOLE: [&str; 3] =
    ["%x = pto.tmov %a : (A) -> L", "%y = pto.tmov %b : (B) -> R", "%c = pto.tmatmul %x, %y : (L, R) -> C"];

/// Cut along K: the second half comes from this row and column.
fn cut(first: u64, second: u64) -> Vec<String> {
    let of = |n: u64, at: u64| {
        [
            format!("%k{n} = arith.constant {at} : index"),
            format!("%x{n} = pto.textract %a, %z, %k{n} : (A, index, index) -> l"),
            format!("%y{n} = pto.textract %b, %k{n}, %z : (B, index, index) -> r"),
        ]
    };
    let mut all = vec!["%z = arith.constant 0 : index".to_string()];
    all.extend(of(0, first));
    all.push("%c0 = pto.tmatmul %x0, %y0 : (l, r) -> C".into());
    all.extend(of(1, second));
    all.push("%c = pto.tmatmul.acc %c0, %x1, %y1 : (C, l, r) -> C".into());
    all
}

#[test]
fn a_product_cut_along_k_is_the_whole_product() {
    for (elem, to) in [("f16", "f32"), ("bf16", "f32"), ("f32", "f32"), ("i8", "i32")] {
        let part = |first, second| {
            let lines = cut(first, second);
            product(&lines.iter().map(String::as_str).collect::<Vec<_>>(), elem, to)
        };
        equal(&product(&WHOLE, elem, to), &part(0, 32));
    }
    // In the other order floats are rounded differently.
    let lines = cut(32, 0);
    let swapped = product(&lines.iter().map(String::as_str).collect::<Vec<_>>(), "f32", "f32");
    different(&product(&WHOLE, "f32", "f32"), &swapped);
}
