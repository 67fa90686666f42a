//! The library as people use it: text in, arrays in, arrays out, and errors that can be read.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

use tessera::npy::Array;
use tessera::program::Input;
use tessera::{ErrorKind, Missing, Number, Profile, Program};

/// Copies the first `n` rows of x to y; the rest of y is left alone.
const ROWS: &str = "module {
  func.func @rows(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %t = pto.alloc_tile : !pto.tile<1x8xf32>
    scf.for %i = %c0 to %n step %c1 {
      %at = arith.muli %i, %c8 : index
      %p = pto.addptr %x, %at : !pto.ptr<f32> -> !pto.ptr<f32>
      %q = pto.addptr %y, %at : !pto.ptr<f32> -> !pto.ptr<f32>
      %v = pto.make_tensor_view %p, shape = [%c1, %c8], strides = [%c8, %c1] : !pto.tensor_view<?x?xf32>
      %w = pto.make_tensor_view %q, shape = [%c1, %c8], strides = [%c8, %c1] : !pto.tensor_view<?x?xf32>
      pto.tload ins(%v : !pto.tensor_view<?x?xf32>) outs(%t : !pto.tile<1x8xf32>)
      pto.tstore ins(%t : !pto.tile<1x8xf32>) outs(%w : !pto.tensor_view<?x?xf32>)
    }
    return
  }
}
";

fn sixteen() -> Vec<f32> {
    (0..16).map(|i| i as f32).collect()
}

#[test]
fn arrays_go_in_and_come_out_by_name() -> tessera::Result<()> {
    let kernel = Program::parse(ROWS)?.kernel("rows")?.on(Profile::A5);
    let shaped = Array::new(&[2, 8], &sixteen())?;
    let outputs = kernel.input("x", &shaped)?.input("%y", &[7.0f32; 16])?.set("n", 1)?.run()?;
    let y = outputs.get::<f32>("y")?;
    assert_eq!((&y[..8], &y[8..]), (&sixteen()[..8], &[7.0; 8][..]));
    assert_eq!(outputs.names().collect::<Vec<_>>(), ["y"]);
    assert!(outputs.warnings().is_empty());
    let wrong = outputs.get::<i32>("y").unwrap_err();
    assert!(wrong.message().contains("<f4"), "{wrong}");
    assert_eq!(outputs.array("z").unwrap_err().help_text(), Some("did you mean %y?"));
    Ok(())
}

#[test]
fn tiles_can_be_asked_for_and_undefined_elements_are_told() -> tessera::Result<()> {
    let kernel = Program::parse(ROWS)?.entry()?;
    let outputs = kernel.input("x", &sixteen())?.set("n", 2)?.output("t")?.run()?;
    assert_eq!(outputs.array("t")?.shape, [1, 8]);
    assert_eq!(outputs.get::<f32>("t")?, sixteen()[8..]);
    let outputs = Program::parse(ROWS)?.entry()?.input("x", &sixteen())?.set("n", 0)?.output("t")?.run()?;
    assert_eq!(outputs.warnings().iter().map(|w| w.rule).collect::<Vec<_>>(), ["undefined-read"]);
    Ok(())
}

#[test]
fn what_does_not_fit_is_refused_with_what_is_missing() -> tessera::Result<()> {
    let kernel = || Program::parse(ROWS).and_then(|p| p.entry());
    let scalar = kernel()?.input("n", &sixteen()).unwrap_err();
    assert_eq!((scalar.kind(), scalar.missing()), (ErrorKind::Request, Some(&Missing::Value("n".into()))));
    let unbound = kernel()?.input("x", &sixteen())?.run().unwrap_err();
    assert_eq!((unbound.rule(), unbound.missing()), ("binding", Some(&Missing::Value("n".into()))));
    assert!(unbound.to_string().contains("line 2, column 57: func.func @rows"), "{unbound}");
    assert!(kernel()?.set("n", 0.5).is_err() && kernel()?.set("x", 1).is_err() && kernel()?.output("v").is_err());
    assert!(kernel()?.set("n", 1)?.set("n", 1).unwrap_err().message().contains("twice"));
    assert_eq!(Program::parse(ROWS)?.kernel("row").unwrap_err().help_text(), Some("did you mean @rows?"));
    assert!(Array::new(&[3], &sixteen()).is_err());
    Ok(())
}

#[test]
fn errors_of_a_text_and_of_a_profile_are_read_in_place() -> tessera::Result<()> {
    let broken = Program::parse("%a = pto.tmov %s : !pto.tile<8x8xf32>\n%b = pto.tmvo %a").unwrap_err();
    assert!(broken.to_string().contains("line 2, column 6: %b = pto.tmvo %a"), "{broken}");
    let text = "// packs\n%d = pto.tpack %s : !pto.tile<16x16xf32> -> !pto.tile<16x16xf16>";
    let source = vec![1.0f32; 256];
    assert!(Program::parse(text)?.entry()?.on(Profile::A5).input("s", &source)?.run().is_ok());
    let refused = Program::parse(text)?.entry()?.on(Profile::A2a3).input("s", &source)?.run().unwrap_err();
    assert_eq!((refused.rule(), refused.kind()), ("tpack-profile", ErrorKind::Illegal));
    // `main` prints an error that it returns with `Debug`.
    assert_eq!(format!("{refused:?}"), refused.to_string());
    assert!(refused.to_string().contains("\n  line 2, column 1: %d = pto.tpack"), "{refused}");
    Ok(())
}

/// Reads x and writes y.
const KERNEL: &str = "
func.func @k(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %z: !pto.tensor_view<4x8xf32>, %n: i8, %s: f16) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.addi %c4, %c4 : index
  %t = pto.alloc_tile : !pto.tile<4x8xf32>
  %v = pto.make_tensor_view %x, shape = [%c4, %c8], strides = [%c8, %c1] : !pto.tensor_view<?x?xf32>
  pto.tload ins(%v : !pto.tensor_view<?x?xf32>) outs(%t : !pto.tile<4x8xf32>)
  %q = scf.for %i = %c1 to %c8 step %c1 iter_args(%p = %y) -> (!pto.ptr<f32>) {
%w = pto.make_tensor_view %p, shape = [%c4, %c8], strides = [%c8, %c1] : !pto.tensor_view<?x?xf32>
pto.tstore ins(%t : !pto.tile<4x8xf32>) outs(%w : !pto.tensor_view<?x?xf32>)
scf.yield %p : !pto.ptr<f32>
  }
  return
}";

#[test]
fn arguments_know_what_happens_to_their_memory() {
    let program = Program::read(KERNEL, None);
    assert!(!program.has_errors(), "{:?}", program.check());
    let kernel = program.entry().unwrap();
    let used: Vec<(bool, bool)> = kernel.arguments().iter().map(|a| (a.is_read, a.is_written)).collect();
    assert_eq!(used, [(true, false), (false, true), (false, false), (false, false), (false, false)]);
    // The pointer that is read must be bound; what is only written need not.
    let missing = kernel.unbound(&[]).unwrap_err();
    assert!(missing.message().contains("%x"), "{missing}");
    let x = kernel.find("%x").unwrap();
    let bound = kernel.bind(x, &[4, 8], vec![0; 128]).unwrap();
    assert!(kernel.unbound(&[(x, bound)]).unwrap_err().message().contains("%n"));
    assert_eq!(kernel.buffer_dims(x, 32), [4, 8]);
    assert_eq!(kernel.buffer_dims(x, 40), [40]);
}

#[test]
fn values_must_fit_their_types() {
    let program = Program::read(KERNEL, None);
    let kernel = program.entry().unwrap();
    let [n, s, z] = ["n", "s", "z"].map(|name| kernel.find(name).unwrap());
    for (value, fits) in [(127, true), (255, true), (-128, true), (256, false), (-129, false)] {
        assert_eq!(kernel.bind_number(n, Number::Int(value)).is_ok(), fits, "{value}");
    }
    assert!(kernel.bind_number(n, Number::Float(1.0)).is_err());
    let rounded = kernel.bind_number(s, Number::Float(0.1));
    assert!(matches!(rounded, Ok(Input::Scalar(Number::Float(v))) if v == 0.0999755859375));
    assert!(kernel.bind(z, &[4, 8], vec![0; 128]).is_ok());
    let wrong = kernel.bind(z, &[8, 4], vec![0; 128]).unwrap_err().to_string();
    assert!(wrong.contains("(8, 4)") && wrong.contains("(4, 8)"), "{wrong}");
}
