//! A broken statement is one message, and reading goes on behind it (isa/structure.md 2).
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use tessera_isa::diag::Diagnostic;

/// A kernel with room for one more statement.
const KERNEL: &str = r#"module attributes {pto.target_arch = "a5"} {
  func.func @k(%p: !pto.ptr<f32>, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %t = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>
    %u = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>
@@
    %v2 = pto.make_tensor_view %p, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
    pto.tload ins(%v2 : !pto.tensor_view<?x?xf32>) outs(%t : !pto.tile_buf<vec, 16x16xf32>)
    scf.for %i = %c0 to %c16 step %c1 {
      pto.tadd ins(%t, %t : !pto.tile_buf<vec, 16x16xf32>, !pto.tile_buf<vec, 16x16xf32>) outs(%u : !pto.tile_buf<vec, 16x16xf32>)
    }
    return
  }
  func.func private @other() {
    return
  }
}
"#;

/// Statements that are broken in one place each.
const BROKEN: &[&str] = &[
    r#"pto.tadd ins(%t, %t : !pto.tile_buf<vec, 16x16xf32>, !pto.tile_buf<vec, 16x16xf32> outs(%u : !pto.tile_buf<vec, 16x16xf32>)"#,
    r#"pto.tadd ins(%t, : !pto.tile_buf<vec, 16x16xf32>) outs(%u : !pto.tile_buf<vec, 16x16xf32>)"#,
    r#"pto.tadd ins(%t, %t : !pto.tile_buf<vec, 16x16xf32>) outs(%u : !pto.tile_buf<vec, 16x16xf32>)"#,
    r#"pto.tadd ins(%t, %t : !pto.tile_buf<vec, 16x16xf32, !pto.tile_buf<vec, 16x16xf32>) outs(%u : !pto.tile_buf<vec, 16x16xf32>)"#,
    r#"pto.tad ins(%t, %t : !pto.tile_buf<vec, 16x16xf32>, !pto.tile_buf<vec, 16x16xf32>) outs(%u : !pto.tile_buf<vec, 16x16xf32>)"#,
    r#"%x = arith.constant : index"#,
    r#"%x = arith.constnat 3 : index"#,
    r#"%x = arith.addi %c0 %c1 : index"#,
    r#"%x = arith.addi %c0, %c1 index"#,
    r#"%x arith.addi %c0, %c1 : index"#,
    r#"%x = = arith.addi %c0, %c1 : index"#,
    r#"%x = arith.cmpi lss, %c0, %c1 : index"#,
    r#"%x = pto.alloc_tile !pto.tile_buf<vec, 16x16xf32>"#,
    r#"%x = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf3>"#,
    r#"%x = pto.alloc_tile : !pto.tile_buf<vec 16x16xf32>"#,
    r#"%x = pto.alloc_tile : !pto.tile_buff<vec, 16x16xf32>"#,
    r#"%x = pto.alloc_tile addr %c0 : !pto.tile_buf<vec, 16x16xf32>"#,
    r#"%x = pto.make_tensor_view %p, shape = [%c16, %c16], strides = [%c16] : !pto.tensor_view<?x?xf32>"#,
    r#"%x = pto.make_tensor_view %p, shape [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>"#,
    r#"%x = pto.make_tensor_view %p, shape = [%c16, %c16, strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>"#,
    r#"%x = pto.partition_view %nope, offsets = [%c0, %c0], sizes = [%c16, %c16] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<16x16xf32>"#,
    r#"scf.for %j = %c0 to %c16 {
      %y = arith.addi %j, %c1 : index
    }"#,
    r#"scf.for %j = %c0 to %c16 step %c1 {
      %y = arith.addi %j, %c1 index
      %z = arith.addi %y, %c1 : index
    }"#,
    r#"scf.if %c0 == %c1 {
      %y = arith.addi %c0, %c1 : index
    }"#,
    r#"scf.if {
      %y = arith.addi %c0, %c1 : index
    } else {
      %y = arith.addi %c0, %c1 : index
    }"#,
    r#"pto.tcvt ins(%t {rmode = } : !pto.tile_buf<vec, 16x16xf32>) outs(%u : !pto.tile_buf<vec, 16x16xf32>)"#,
    r#"pto.tadd ins(%t, %t : !pto.tile_buf<vec, 16x16xf32>, !pto.tile_buf<vec, 16x16xf32>) outs(%u : !pto.tile_buf<vec, 16x16xf32>) {a = 1, a = 2}"#,
    r#"pto.set_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>"#,
    r#"func.call @other( : () -> ()"#,
    r#"%x = memref.alloc() : memref<16x16xf32>"#,
    r#"%x = memref.alloc( : memref<16x16xf32, #pto.address_space<vec>>"#,
    r#"%x = pto.bind_tile %t, %c16 {config = #pto.tile_buf_config<blayout=row_major>} : memref<16x16xf32, #pto.address_space<vec>> -> memref<16x16xf32, #pto.address_space<vec>>"#,
    r#"%x = memref.reinterpret_cast %t to offset [0], sizes: [4, 16], strides: [16, 1] : memref<16x16xf32, #pto.address_space<vec>> to memref<4x16xf32, #pto.address_space<vec>>"#,
    r#"%b = pto.reserve_buffer {name = "x", size = 3"#,
    r#"pto.tpush_to_aiv(%t : !pto.tile_buf<vec, 16x16xf32> {split = 1}"#,
    r#"%x = "arith.addi"(%c0, %c1) : (index, index) -> "#,
    r#"%x = math.exp %c0, %c1 : f32"#,
    r#"%x = arith.addf %c0, %c1 : index"#,
    r#"pto.tload ins(%p : !pto.ptr<f32>) outs(%t : !pto.tile_buf<vec, 16x16xf32>) extra words here"#,
    r#""unterminated string"#,
    r#"pto.print ins(%c0 : index)"#,
    r#"{ {"#,
    r#"@@@ what is this"#,
    r#"pto.section.cube
      %y = arith.addi %c0, %c1 : index
    }"#,
    r#"scf.for %j = %c0 to %c16 step %c1 {"#,
    r#"return %c0 : index"#,
];

fn errors(text: &str) -> Vec<Diagnostic> {
    tessera_asm::parse(text, None).diagnostics.into_iter().filter(Diagnostic::is_error).collect()
}

#[test]
fn a_broken_statement_is_one_message() {
    assert!(errors(&KERNEL.replace("@@", "")).is_empty());
    for statement in BROKEN {
        let found = errors(&KERNEL.replace("@@", &format!("    {statement}")));
        assert_eq!(found.len(), 1, "{statement}\n{found:#?}");
    }
}

#[test]
fn a_broken_function_leaves_the_others_alone() {
    for statement in BROKEN {
        let parsed = tessera_asm::parse(&KERNEL.replace("@@", &format!("    {statement}")), None);
        let other = parsed.module.func("other").unwrap_or_else(|| panic!("@other is gone behind {statement}"));
        assert_eq!(other.ops.len(), 1);
        let names: Vec<_> = parsed.functions.iter().filter_map(|(name, _)| *name).collect();
        assert_eq!(
            names.iter().map(|n| parsed.module.names.text(*n)).collect::<Vec<_>>(),
            ["k", "other"],
            "{statement}"
        );
    }
}
