//! Terms: equal things have equal numbers.

use tessera_isa::codec::QuantParam;
use tessera_isa::elem::Elem;
use tessera_isa::sem::Fixpipe;
use tessera_kernels::Conversion;
use tessera_provenance::{Param, Term, TermId, Terms, UNDEFINED};

fn fixpipe(dst: Elem, hardware_rounding: bool) -> Conversion {
    Conversion::Fixpipe(Fixpipe { src: Elem::F32, dst, relu: false, hardware_rounding, saturate_inf: false })
}

fn element(terms: &mut Terms, input: u32) -> Vec<TermId> {
    (0..4).map(|b| terms.input(input, b)).collect()
}

#[test]
fn inputs_have_one_number_in_whatever_pieces_they_are_asked_for() {
    let mut terms = Terms::default();
    let late = terms.input(3, 100);
    let mut all = Vec::new();
    terms.input_run(3, 90, 20, &mut |_, id| all.push(id));
    assert_eq!(all[10], late);
    for (k, id) in all.iter().enumerate() {
        let byte = 90 + k as u64;
        assert_eq!(terms.get(*id), Term::Input { input: 3, byte });
        assert_eq!(terms.input(3, byte), *id);
    }
}

#[test]
fn equal_functions_of_equal_bytes_are_equal() {
    let mut terms = Terms::default();
    let (x, y) = (element(&mut terms, 0), element(&mut terms, 1));
    let scalar = |bits: u64| Param::Fixed(QuantParam::scalar(bits));
    let one = u64::from(1f32.to_bits());
    let a = terms.convert(fixpipe(Elem::F16, true), &x, Param::None, 2);
    assert_eq!(a, terms.convert(fixpipe(Elem::F16, false), &x, Param::None, 2));
    let moved = Conversion::Value { src: Elem::F32, dst: Elem::F16 };
    assert_eq!(a, terms.convert(moved, &x, Param::None, 2), "a plain cast is a converting move");
    assert_ne!(a, terms.convert(fixpipe(Elem::F16, true), &y, Param::None, 2));
    assert_ne!(a, terms.convert(fixpipe(Elem::Bf16, true), &x, Param::None, 2));
    assert_ne!(a, terms.convert(fixpipe(Elem::F16, true), &x, scalar(one), 2));
    // The order of rounding matters only with an offset.
    let (signed, offset) = (1 << 46 | one, 1 << 46 | 3 << 37 | one);
    let i8 = |terms: &mut Terms, hardware, bits| terms.convert(fixpipe(Elem::I8, hardware), &x, scalar(bits), 1);
    assert_eq!(i8(&mut terms, true, signed), i8(&mut terms, false, signed));
    assert_ne!(i8(&mut terms, true, offset), i8(&mut terms, false, offset));
    // Constant parameters in a tile are parameters in the instruction.
    let bytes = one.to_le_bytes().map(Terms::constant);
    let vector = terms.convert(fixpipe(Elem::F16, true), &x, Param::Data(bytes.as_slice().into()), 2);
    assert_eq!(vector, terms.convert(fixpipe(Elem::F16, true), &x, scalar(one), 2));
}

#[test]
fn constants_are_folded_and_undefined_stays_so() {
    let mut terms = Terms::default();
    let one: Vec<TermId> = 1f32.to_le_bytes().map(Terms::constant).to_vec();
    let half = terms.convert(fixpipe(Elem::F16, false), &one, Param::None, 2);
    assert_eq!(half[..], [Terms::constant(0), Terms::constant(0x3C)]);
    let mut broken = one;
    broken[3] = UNDEFINED;
    let half = terms.convert(fixpipe(Elem::F16, false), &broken, Param::None, 2);
    assert_eq!(half[..], [UNDEFINED; 2]);
}

#[test]
fn halves_that_belong_together_are_their_byte() {
    let mut terms = Terms::default();
    let (a, b) = (terms.input(0, 0), terms.input(0, 1));
    let mixed = terms.join([terms.nibble(a, false), terms.nibble(b, false)]);
    assert_ne!(mixed, a);
    let other = terms.join([terms.nibble(a, true), terms.nibble(b, true)]);
    let back = terms.join([terms.nibble(mixed, false), terms.nibble(other, false)]);
    assert_eq!(back, a);
    let back = terms.join([terms.nibble(mixed, true), terms.nibble(other, true)]);
    assert_eq!(back, b);
    let constant = terms.join([terms.nibble(Terms::constant(0x21), true), terms.nibble(Terms::constant(0x43), false)]);
    assert_eq!(constant, Terms::constant(0x32));
}
