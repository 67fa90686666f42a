//! What the views of a kernel imply of its arguments' memory, without running it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

use tessera::program::Extents;
use tessera::{Kernel, Number, Profile, Program};

/// A kernel on `%x`, `%y` (pointers to f32) and the scalars `%n`, `%m`.
fn kernel(body: &str) -> Kernel {
    let text = format!(
        "func.func @k(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %n: index, %m: index) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
{body}
  return
}}"
    );
    let program = Program::read(&text, Some(Profile::A5));
    let errors: Vec<_> = program.check().into_iter().filter(|d| d.is_error()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    program.entry().expect("the kernel")
}

fn extents(body: &str, numbers: &[(&str, i64)], blocks: u32) -> Vec<Extents> {
    let kernel = kernel(body);
    let bind = |(name, number): &(&str, i64)| {
        let value = kernel.argument(name).expect("an argument");
        (value, kernel.bind_number(value, Number::Int((*number).into())).expect("a number"))
    };
    kernel.extents(&numbers.iter().map(bind).collect::<Vec<_>>(), blocks)
}

fn of_x(body: &str, numbers: &[(&str, i64)], blocks: u32) -> Extents {
    extents(body, numbers, blocks).swap_remove(0)
}

const VIEW: &str = "%v = pto.make_tensor_view %x, shape = [%n, %m], strides = [%m, %c1] : !pto.tensor_view<?x?xf32>";

#[test]
fn a_view_gives_its_shape() {
    assert_eq!(of_x(VIEW, &[("n", 6), ("m", 40)], 1), Extents::Known(vec![6, 40]));
}

#[test]
fn without_the_scalars_nothing_is_known() {
    assert!(matches!(of_x(VIEW, &[("n", 6)], 1), Extents::Unknown(Some(_))));
}

#[test]
fn what_nothing_reaches_into_is_unused() {
    assert_eq!(extents(VIEW, &[("n", 6), ("m", 40)], 1)[1], Extents::Unused);
}

#[test]
fn a_strided_view_reaches_as_far_as_its_last_element() {
    let body = "%v = pto.make_tensor_view %x, shape = [%n, %c8], strides = [%c64, %c1] : !pto.tensor_view<?x?xf32>";
    assert_eq!(of_x(body, &[("n", 3)], 1), Extents::Known(vec![2 * 64 + 8]));
}

#[test]
fn a_pointer_that_moves_with_the_block_reaches_the_last_one() {
    let body = "%b = pto.get_block_idx
  %i = arith.index_cast %b : i64 to index
  %o = arith.muli %i, %c64 : index
  %p = pto.addptr %x, %o : !pto.ptr<f32> -> !pto.ptr<f32>
  %v = pto.make_tensor_view %p, shape = [%c8, %c8], strides = [%c8, %c1] : !pto.tensor_view<?x?xf32>";
    assert_eq!(of_x(body, &[], 1), Extents::Known(vec![8, 8]));
    assert_eq!(of_x(body, &[], 4), Extents::Known(vec![4 * 64]));
}

#[test]
fn a_loop_reaches_its_last_round() {
    let body = "scf.for %i = %c0 to %n step %c8 {
    %o = arith.muli %i, %c8 : index
    %p = pto.addptr %x, %o : !pto.ptr<f32> -> !pto.ptr<f32>
    %v = pto.make_tensor_view %p, shape = [%c1, %c8], strides = [%c8, %c1] : !pto.tensor_view<?x?xf32>
  }";
    assert_eq!(of_x(body, &[("n", 20)], 1), Extents::Known(vec![16 * 8 + 8]));
    assert_eq!(of_x(body, &[("n", 0)], 1), Extents::Unused);
}

#[test]
fn a_carried_pointer_goes_on_as_it_began() {
    let body = "%e = scf.for %i = %c0 to %n step %c1 iter_args(%p = %x) -> (!pto.ptr<f32>) {
    %v = pto.make_tensor_view %p, shape = [%c1, %c8], strides = [%c8, %c1] : !pto.tensor_view<?x?xf32>
    %q = pto.addptr %p, %c64 : !pto.ptr<f32> -> !pto.ptr<f32>
    scf.yield %q : !pto.ptr<f32>
  }
  %w = pto.make_tensor_view %e, shape = [%c1, %c1], strides = [%c1, %c1] : !pto.tensor_view<?x?xf32>";
    assert_eq!(of_x(body, &[("n", 5)], 1), Extents::Known(vec![5 * 64 + 1]));
}

#[test]
fn a_carried_number_that_grows_faster_is_not_known() {
    let body = "%e = scf.for %i = %c0 to %n step %c1 iter_args(%p = %c1) -> (index) {
    %q = arith.addi %p, %p : index
    scf.yield %q : index
  }
  %w = pto.make_tensor_view %x, shape = [%e, %c8], strides = [%c8, %c1] : !pto.tensor_view<?x?xf32>";
    assert!(matches!(of_x(body, &[("n", 5)], 1), Extents::Unknown(Some(_))));
}

#[test]
fn a_branch_that_a_scalar_decides_is_the_only_one_taken() {
    let body = "%big = arith.cmpi sgt, %n, %c8 : index
  scf.if %big {
    %v = pto.make_tensor_view %x, shape = [%c64, %c8], strides = [%c8, %c1] : !pto.tensor_view<?x?xf32>
  } else {
    %v = pto.make_tensor_view %x, shape = [%c1, %c8], strides = [%c8, %c1] : !pto.tensor_view<?x?xf32>
  }";
    assert_eq!(of_x(body, &[("n", 9)], 1), Extents::Known(vec![64, 8]));
    assert_eq!(of_x(body, &[("n", 8)], 1), Extents::Known(vec![1, 8]));
}

#[test]
fn an_element_counts_too() {
    let body = "%v = pto.load_scalar %x[%n] : !pto.ptr<f32> -> f32";
    assert_eq!(of_x(body, &[("n", 41)], 1), Extents::Known(vec![42]));
}

#[test]
fn of_several_views_the_largest_counts() {
    let body = "%v = pto.make_tensor_view %x, shape = [%c8, %c8], strides = [%c8, %c1] : !pto.tensor_view<?x?xf32>
  %w = pto.make_tensor_view %x, shape = [%c64, %c8], strides = [%c8, %c1] : !pto.tensor_view<?x?xf32>";
    assert_eq!(of_x(body, &[], 1), Extents::Known(vec![64, 8]));
}

#[test]
fn the_open_extents_of_a_view_are_what_its_windows_reach() {
    let text = "func.func @k(%x: !pto.tensor_view<?x8xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %p = pto.partition_view %x, offsets = [%n, %c0], sizes = [%c2, %c8] : !pto.tensor_view<?x8xf32> -> !pto.partition_tensor_view<2x8xf32>
  return
}";
    let kernel = Program::parse(text).expect("a program").entry().expect("the kernel");
    let n = kernel.argument("n").expect("n");
    let inputs = [(n, kernel.bind_number(n, Number::Int(10)).expect("a number"))];
    assert_eq!(kernel.extents(&inputs, 1)[0], Extents::Known(vec![12, 8]));
    assert!(matches!(kernel.extents(&[], 1)[0], Extents::Unknown(_)));
}

#[test]
fn deep_loops_that_carry_something_end() {
    let mut body = String::new();
    for depth in 0..60 {
        let from = if depth == 0 { "c0".into() } else { format!("a{}", depth - 1) };
        body += &format!(
            "%r{depth} = scf.for %i{depth} = %c0 to %n step %c1 iter_args(%a{depth} = %{from}) -> (index) {{\n"
        );
    }
    body += "%s = arith.addi %a59, %c1 : index\nscf.yield %s : index\n}\n";
    for depth in (0..59).rev() {
        body += &format!("scf.yield %r{} : index\n}}\n", depth + 1);
    }
    body += VIEW;
    assert!(matches!(of_x(&body, &[("n", 2), ("m", 2)], 1), Extents::Known(_) | Extents::Unknown(_)));
}

#[test]
fn a_pipe_takes_the_slots_of_its_directions() {
    let text = |mask: u32| {
        format!(
            "func.func @k(%x: !pto.ptr<f32>, %b: i32) attributes {{pto.kernel_kind = #pto.kernel_kind<cube>}} {{
  pto.aic_initialize_pipe {{dir_mask = {mask}, slot_size = 1024}} (gm_slot_buffer = %x : !pto.ptr<f32>, c2v_consumer_buf = %b : i32, v2c_consumer_buf = %b : i32)
  return
}}"
        )
    };
    for (mask, slots) in [(1, 8), (2, 8), (3, 2 * 4)] {
        let kernel = Program::parse(&text(mask)).expect("a program").entry().expect("the kernel");
        assert_eq!(kernel.extents(&[], 1)[0], Extents::Known(vec![slots * 1024 / 4]), "{mask}");
    }
}

/// A pointer that goes nobody knows where reaches nobody knows how far: it is not left out.
#[test]
fn a_pointer_that_is_lost_is_no_small_one() {
    let body = "%at = pto.load_scalar %y[%c0] : !pto.ptr<f32> -> f32
  %i = arith.fptosi %at : f32 to i64
  %far = arith.index_cast %i : i64 to index
  %p = pto.addptr %x, %far : !pto.ptr<f32> -> !pto.ptr<f32>
  %v = pto.make_tensor_view %p, shape = [%c8, %c8], strides = [%c8, %c1] : !pto.tensor_view<8x8xf32>";
    assert!(matches!(of_x(body, &[], 1), Extents::Unknown(Some(_))));
}

/// Rows that are stored backwards reach as far as the first of them.
#[test]
fn a_negative_stride_reaches_backwards() {
    let body = "%back = arith.subi %c0, %c8 : index
  %p = pto.addptr %x, %c64 : !pto.ptr<f32> -> !pto.ptr<f32>
  %v = pto.make_tensor_view %p, shape = [%c8, %c8], strides = [%back, %c1] : !pto.tensor_view<8x8xf32>";
    assert_eq!(of_x(body, &[], 1), Extents::Known(vec![72]));
}
