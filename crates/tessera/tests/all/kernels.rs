//! What real kernels are written with (isa/structure.md 2, 3, 7): old spellings, functions, memrefs, addresses, floats.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

use tessera::{Profile, Program, Result};

/// Prints, reads and prints again; then the program still means the same.
fn canonical(text: &str) -> Program {
    let program = Program::parse(text).unwrap();
    let printed = program.text(None);
    let again = Program::parse(&printed).unwrap_or_else(|e| panic!("{e}\n{printed}"));
    assert_eq!(again.text(None), printed);
    again
}

fn rules(text: &str, profile: Profile) -> Vec<&'static str> {
    Program::read(text, Some(profile)).check().iter().filter(|d| d.is_error()).map(|d| d.rule).collect()
}

fn ramp(n: usize) -> Vec<f32> {
    (0..n).map(|i| i as f32).collect()
}

const SPELLINGS: &str = r#"module attributes {pto.target_arch = "a5"} {
  func.func @k(%p: !pto.ptr<f32>, %o: !pto.ptr<f32>) {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : index
    %r = arith.constant 16 : index
    %c = arith.constant 64 : index
    %q = pto.addptr %p, %c0 : <f32> -> <f32>
    %v = pto.make_tensor_view %q, shape = [%r, %c], strides = [%c, %one] : !pto.tensor_view<2xf32>
    %w = pto.subview %v, offsets = [0, 0], sizes = [16, 64] : !pto.tensor_view<2xf32> -> !pto.tile_view<16x64xf32>
    %x = pto.alloc_tile : <vec, 16x64xf32>
    %y = pto.alloc_tile : !pto.tile_buf<16x64xf16, #pto.address_space<vec>>
    pto.tload ins(%w : !pto.tile_view<16x64xf32>) outs(%x : <vec, 16x64xf32>)
    pto.tcvt ins(%x {rmode = #pto<round_mode ROUND>} : <vec, 16x64xf32>) outs(%y : !pto.tile_buf<16x64xf16, #pto.address_space<vec>>)
    %z = pto.alloc_tile : !pto.tile_buf<16x32xf32, #pto.address_space<vec>>
    pto.tgather ins(%x, {maskPattern = #pto.mask_pattern<P0101>} : <vec, 16x64xf32>) outs(%z : !pto.tile_buf<vec, 16x32xf32>)
    %c32 = arith.constant 32 : index
    %ov = pto.make_tensor_view %o, shape = [%r, %c32], strides = [%c32, %one] : !pto.tensor_view<2xf32>
    pto.tstore ins(%z : !pto.tile_buf<vec, 16x32xf32>) outs(%ov : !pto.tensor_view<2xf32>)
    return
  }
}
"#;

#[test]
fn old_spellings_mean_the_new_ones() -> Result<()> {
    let program = canonical(SPELLINGS);
    let text = program.text(None);
    for word in ["tensor_view<2xf32>", "subview", "tile_view", "address_space", " <f32>", " <vec"] {
        assert!(!text.contains(word), "{word} is printed:\n{text}");
    }
    let outputs = program.entry()?.on(Profile::A5).input("p", &ramp(1024))?.run()?;
    let even: Vec<f32> = ramp(1024).into_iter().step_by(2).collect();
    assert_eq!(outputs.get::<f32>("o")?, even);
    Ok(())
}

const FUNCTIONS: &str = r#"module {
  func.func private @twice(%t: !pto.tile_buf<vec, 8x16xf32>) {
    pto.tadd ins(%t, %t : !pto.tile_buf<vec, 8x16xf32>, !pto.tile_buf<vec, 8x16xf32>) outs(%t : !pto.tile_buf<vec, 8x16xf32>)
    return
  }
  func.func @good(%t: !pto.tile_buf<vec, 8x16xf32>, %u: memref<8x16xf32, #pto.address_space<vec>>) attributes {pto.aicore} {
    call @twice(%t) : (!pto.tile_buf<vec, 8x16xf32>) -> ()
    pto.tadds ins(%t, %one : !pto.tile_buf<vec, 8x16xf32>, f32) outs(%u : memref<8x16xf32, #pto.address_space<vec>>)
    return
  }
  func.func @broken() {
    pto.nothing
    scf.for %i = %a
  func.func @illegal(%t: !pto.tile_buf<vec, 3x3xf32>) {
    pto.tadd ins(%t, %t : !pto.tile_buf<vec, 3x3xf32>, !pto.tile_buf<vec, 3x3xf32>) outs(%t : !pto.tile_buf<vec, 3x3xf32>)
    return
  }
}
"#;

#[test]
fn an_entry_is_looked_at_alone() -> Result<()> {
    let text = FUNCTIONS.replace("    call @twice", "    %one = arith.constant 1.0 : f32\n    call @twice");
    assert!(Program::read(&text, None).has_errors());
    let program = Program::read_entry(&text, None, Some("good"));
    let found = program.check();
    assert!(found.iter().all(|d| !d.is_error()), "{found:?}");
    assert_eq!(found.iter().map(|d| d.message.as_str()).collect::<Vec<_>>(), ["2 of 4 functions were not looked at"]);
    // A tile of the caller's is the callee's, and one that is bound to nothing starts undefined.
    let outputs = program.kernel("good")?.input("t", &ramp(128))?.output("u")?.run()?;
    assert_eq!(outputs.get::<f32>("u")?[..3], [1.0, 3.0, 5.0]);
    let illegal = Program::read_entry(&text, None, Some("illegal")).check();
    assert!(illegal.iter().any(|d| d.rule == "tile-align"), "{illegal:?}");
    Ok(())
}

#[test]
fn the_kernel_is_one_function_that_returns_nothing() {
    let body = "() { return }";
    let several = format!("func.func @a{body}\nfunc.func @b{body}\nfunc.func private @c{body}");
    let error = Program::parse(&several).unwrap().entry().unwrap_err();
    assert_eq!((error.rule(), error.message()), ("entry-ambiguous", "2 functions could be the kernel: @a, @b"));
    let marked = several.replace("@b()", "@b() attributes {pto.entry}");
    assert!(Program::parse(&marked).unwrap().entry().is_ok());
    assert!(Program::parse(&several.replace("@b", "private @b")).unwrap().entry().is_ok());
    let returns = "func.func @k() -> i32 {\n  %c = arith.constant 1 : i32\n  return %c : i32\n}";
    assert_eq!(rules(returns, Profile::Cpu), ["entry-result"]);
    let circle = "func.func @k() {\n  call @g() : () -> ()\n  return\n}\nfunc.func private @g() {\n  call @g() : () -> ()\n  \
                  return\n}";
    assert_eq!(rules(circle, Profile::Cpu), ["call-recursive"]);
    let branches = "func.func @k(%c: i1) {\n  cf.cond_br %c, ^bb1, ^bb2\n^bb1:\n  cf.br ^bb2\n^bb2:\n  return\n}";
    assert_eq!(rules(branches, Profile::Cpu), ["syntax-blocks"]);
}

const MEMREFS: &str = r#"module attributes {pto.target_arch = "a5"} {
  func.func @k(%x: memref<32x64xf32, #pto.address_space<gm>>, %n: index) attributes {pto.entry} {
    %three = arith.constant 3.0 : f32
    %c64 = arith.constant 64 : index
    %c8192 = arith.constant 16384 : i64
    %m = memref.alloc() : memref<32x64xf32, #pto.address_space<vec>>
    %t = pto.bind_tile %m, %n, %c64 {config = #pto.tile_buf_config<blayout=row_major, slayout=none_box, s_fractal_size=512, pad=null>} : memref<32x64xf32, #pto.address_space<vec>> -> memref<32x64xf32, strided<[64, 1], offset: ?>, #pto.address_space<vec>>
    %v = memref.reinterpret_cast %x to offset: [64], sizes: [%n, 64], strides: [64, 1] : memref<32x64xf32, #pto.address_space<gm>> to memref<?x64xf32, strided<[64, 1], offset: ?>, #pto.address_space<gm>>
    pto.tload ins(%v : memref<?x64xf32, strided<[64, 1], offset: ?>, #pto.address_space<gm>>) outs(%t : memref<32x64xf32, strided<[64, 1], offset: ?>, #pto.address_space<vec>>)
    %w = memref.reinterpret_cast %m to offset: [64], sizes: [2, 64], strides: [64, 1] : memref<32x64xf32, #pto.address_space<vec>> to memref<2x64xf32, strided<[64, 1], offset: 64>, #pto.address_space<vec>>
    pto.tmuls ins(%w, %three : memref<2x64xf32, strided<[64, 1], offset: 64>, #pto.address_space<vec>>, f32) outs(%w : memref<2x64xf32, strided<[64, 1], offset: 64>, #pto.address_space<vec>>)
    %c = memref.cast %v : memref<?x64xf32, strided<[64, 1], offset: ?>, #pto.address_space<gm>> to memref<?x?xf32, strided<[?, ?], offset: ?>, #pto.address_space<gm>>
    pto.tstore ins(%t : memref<32x64xf32, #pto.address_space<vec>>) outs(%c : memref<?x?xf32, strided<[?, ?], offset: ?>, #pto.address_space<gm>>)
    %pc = pto.pointer_cast(%c8192) [%c64, %c64] {config = #pto.tile_buf_config<blayout=#pto.blayout<row_major>, slayout=#pto.slayout<none_box>, s_fractal_size=512, pad=#pto.pad_value<null>>} : memref<64x64xf32, #pto.address_space<vec>>
    memref.dealloc %m : memref<32x64xf32, #pto.address_space<vec>>
    return
  }
}
"#;

#[test]
fn memrefs_are_tiles_and_views() -> Result<()> {
    let program = canonical(MEMREFS);
    for profile in [Profile::Cpu, Profile::A5] {
        let outputs = program.entry()?.on(profile).input("x", &ramp(2048))?.set("n", 20)?.run()?;
        let mut wanted = ramp(2048);
        wanted[128..256].iter_mut().for_each(|v| *v *= 3.0);
        assert_eq!(outputs.get::<f32>("x")?, wanted);
    }
    let gm = "func.func @k() {\n  %m = memref.alloc() : memref<16x32xf16>\n  return\n}";
    assert_eq!(rules(gm, Profile::Cpu), ["memref-space"]);
    let transposed = MEMREFS.replace("sizes: [2, 64], strides: [64, 1]", "sizes: [2, 64], strides: [1, 64]");
    assert_eq!(rules(&transposed, Profile::A5), ["tsubview-window"]);
    Ok(())
}

const ADDRESSES: &str = r#"module {
  func.func @k(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %i: !pto.ptr<i32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c5 = arith.constant 5 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %v = pto.make_tensor_view %x, shape = [%c8, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
    %d = pto.get_tensor_view_dim %v, %c1 : !pto.tensor_view<?x?xf32> -> index
    %t = pto.alloc_tile : !pto.tile_buf<vec, 8x16xf32>
    pto.tload ins(%v : !pto.tensor_view<?x?xf32>) outs(%t : !pto.tile_buf<vec, 8x16xf32>)
    %p = pto.tile_buf_addr %t : !pto.tile_buf<vec, 8x16xf32> -> !pto.ptr<f32, ub>
    %q = pto.addptr %p, %d : !pto.ptr<f32, ub> -> !pto.ptr<f32, ub>
    %e = pto.load_scalar %q[%c5] : !pto.ptr<f32, ub> -> f32
    %ee = arith.addf %e, %e : f32
    pto.store_scalar %ee, %q[%c5] : !pto.ptr<f32, ub>, f32
    pto.print ins("e = %f, d = %d", %ee, %d : f32, index)
    %w = pto.make_tensor_view %y, shape = [%c8, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
    pto.tstore ins(%t : !pto.tile_buf<vec, 8x16xf32>) outs(%w : !pto.tensor_view<?x?xf32>)
    %a = pto.tensor_view_addr %w : !pto.tensor_view<?x?xf32> -> !pto.ptr<f32>
    %b = pto.castptr %a : !pto.ptr<f32> -> !pto.ptr<i32>
    %bits = pto.load_scalar %b[%c1] : !pto.ptr<i32> -> i32
    pto.store_scalar %bits, %i[%c0] : !pto.ptr<i32>, i32
    return
  }
}
"#;

#[test]
fn pointers_lead_into_tiles() -> Result<()> {
    let program = canonical(ADDRESSES);
    for profile in Profile::ALL {
        let outputs = program.entry()?.on(profile).input("x", &ramp(128))?.run()?;
        let mut wanted = ramp(128);
        wanted[21] *= 2.0;
        assert_eq!(outputs.get::<f32>("y")?, wanted);
        assert_eq!(outputs.get::<i32>("i")?, [1.0f32.to_bits() as i32]);
    }
    let beyond = ADDRESSES.replace("arith.constant 5", "arith.constant 112");
    assert_eq!(rules(&beyond, Profile::A5), ["tile-bounds", "tile-bounds"]);
    let dim = ADDRESSES.replace("get_tensor_view_dim %v, %c1", "get_tensor_view_dim %v, %c5");
    assert_eq!(rules(&dim, Profile::A5), ["view-dim"]);
    let number = ADDRESSES.replace(
        "%q = pto.addptr %p, %d : !pto.ptr<f32, ub>",
        "%n = pto.castptr %p : !pto.ptr<f32, ub> -> i64\n    %q = pto.castptr %n : i64",
    );
    let error = Program::parse(&number)?.entry()?.input("x", &ramp(128))?.run().unwrap_err();
    assert_eq!(error.rule(), "not-executable");
    Ok(())
}

/// A kernel that stores a float, an integer and a half, after these statements.
fn scalars(statements: &str) -> String {
    format!(
        "func.func @k(%p: !pto.ptr<f32>, %q: !pto.ptr<i32>) {{\n  %c0 = arith.constant 0 : index\n{statements}  \
         pto.store_scalar %f, %p[%c0] : !pto.ptr<f32>, f32\n  pto.store_scalar %n, %q[%c0] : !pto.ptr<i32>, i32\n  return\n}}"
    )
}

#[test]
fn floats_are_computed_as_their_type_says() -> Result<()> {
    let zero = "%n = arith.constant 0 : i32\n";
    let cases: [(&str, f32); 14] = [
        ("%f = arith.addf %a, %b fastmath<fast> : f32", 1.25),
        ("%f = arith.subf %a, %b : f32", 3.75),
        ("%f = arith.divf %a, %b : f32", -2.0),
        ("%f = arith.remf %b, %a : f32", -1.25),
        ("%f = arith.negf %a : f32", -2.5),
        ("%f = arith.minimumf %a, %b : f32", -1.25),
        ("%f = arith.maxnumf %a, %b : f32", 2.5),
        ("%f = math.fma %a, %b, %a : f32", -0.625),
        ("%f = math.absf %b : f32", 1.25),
        ("%f = math.floor %b : f32", -2.0),
        ("%f = math.ceil %b : f32", -1.0),
        ("%e = math.exp2 %three : f32\n  %f = math.log2 %e : f32", 3.0),
        ("%e = math.powf %three, %three : f32\n  %s = math.mulf %e, %three : f32\n  %f = math.sqrt %s : f32", 9.0),
        ("%h = arith.truncf %third : f32 to f16\n  %f = arith.extf %h : f16 to f32", 0.33325195),
    ];
    for (statement, wanted) in cases {
        let statement = statement.replace("math.mulf", "arith.mulf");
        let constants = [("a", "2.5"), ("b", "-1.25"), ("three", "3.0"), ("third", "0.33333334")];
        let constants: String = constants.map(|(n, v)| format!("  %{n} = arith.constant {v} : f32\n")).concat();
        let program = canonical(&scalars(&format!("{constants}  {statement}\n  {zero}")));
        let outputs = program.entry()?.run()?;
        assert_eq!(outputs.get::<f32>("p")?, [wanted], "{statement}");
    }
    Ok(())
}

#[test]
fn integers_of_floats_and_bits_stay_in_range() -> Result<()> {
    let float = |v: &str| format!("  %f = arith.constant {v} : f32\n");
    let cases: [(&str, &str, i32); 9] = [
        ("-2.75", "%n = arith.fptosi %f : f32 to i32", -2),
        ("3000000000.0", "%n = arith.fptoui %f : f32 to i32", -1294967296),
        ("1.0", "%n = arith.bitcast %f : f32 to i32", 0x3F80_0000),
        ("1.0", "%c = arith.cmpf oeq, %f, %f : f32\n  %n = arith.extui %c : i1 to i32", 1),
        (
            "1.0",
            "%m = arith.constant -7 : i32\n  %two = arith.constant 2 : i32\n  %n = arith.floordivsi %m, %two : i32",
            -4,
        ),
        (
            "1.0",
            "%m = arith.constant -7 : i32\n  %two = arith.constant 2 : i32\n  %n = arith.ceildivsi %m, %two : i32",
            -3,
        ),
        (
            "1.0",
            "%m = arith.constant 7 : i32\n  %two = arith.constant 2 : i32\n  %n = arith.ceildivui %m, %two : i32",
            4,
        ),
        ("1.0", "%m = arith.constant -7 : i32\n  %n = math.absi %m : i32", 7),
        (
            "1.0",
            "%m = arith.constant -7 : i32\n  %u = builtin.unrealized_conversion_cast %m : i32 to ui32\n  %n = \
             builtin.unrealized_conversion_cast %u : ui32 to i32",
            -7,
        ),
    ];
    for (value, statement, wanted) in cases {
        let program = canonical(&scalars(&format!("{}  {statement}\n", float(value))));
        assert_eq!(program.entry()?.run()?.get::<i32>("q")?, [wanted], "{statement}");
    }
    let too_large = scalars(&format!("{}  %n = arith.fptosi %f : f32 to i32\n", float("3000000000.0")));
    assert_eq!(Program::parse(&too_large)?.entry()?.run().unwrap_err().rule(), "scalar-range");
    let narrow =
        scalars(&format!("{}  %h = arith.bitcast %f : f32 to i16\n  %n = arith.extsi %h : i16 to i32\n", float("1.0")));
    assert_eq!(rules(&narrow, Profile::Cpu), ["cast-width"]);
    let trap = scalars(&format!("{}  %n = arith.constant 0 : i32\n  pto.trap\n", float("1.0")));
    assert_eq!(Program::parse(&trap)?.entry()?.run().unwrap_err().rule(), "trap");
    Ok(())
}

const CORES: &str = r#"module attributes {pto.target_arch = "a5"} {
  func.func @cube(%gm: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %zero = arith.constant 0 : i32
    %b = pto.import_reserved_buffer {name = "c2v", peer_func = @vec} -> i32
    pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024} (c2v_consumer_buf = %b : i32, v2c_consumer_buf = %zero : i32)
    pto.sync.set <PIPE_FIX>, 3
    return
  }
  func.func @vec(%gm: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %b = pto.reserve_buffer {name = "c2v", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32
    %t = pto.tpop_from_aic {split = 1} -> !pto.tile_buf<vec, 8x16xf32>
    %i = pto.get_subblock_idx
    pto.section.vector {
      pto.tadd ins(%t, %t : !pto.tile_buf<vec, 8x16xf32>, !pto.tile_buf<vec, 8x16xf32>) outs(%t : !pto.tile_buf<vec, 8x16xf32>)
    }
    pto.tfree_from_aic {split = 1}
    return
  }
  func.func @low(%a: i32) {
    %p = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 512, slot_num = 8}(%a : i32) -> !pto.pipe
    %t = pto.declare_tile -> !pto.tile_buf<vec, 8x16xf32>
    pto.tpop(%t, %p : !pto.tile_buf<vec, 8x16xf32>, !pto.pipe) {split = 0}
    pto.tfree(%p : !pto.pipe) {split = 0}
    return
  }
}
"#;

#[test]
fn cores_and_fifos_are_read_and_kept() {
    let program = canonical(CORES);
    assert_eq!(program.text(None), CORES);
    let other = Program::read_entry(CORES, None, Some("cube"));
    assert!(other.module().func("vec").is_some() && other.module().func("low").is_none());
}

#[test]
fn a_section_runs_where_its_kind_is_the_only_one() -> Result<()> {
    let text = "func.func @k(%t: !pto.tile<8x16xf32>) {\n  pto.section.vector {\n    pto.tadd ins(%t, %t : !pto.tile<8x16xf32>, \
                !pto.tile<8x16xf32>) outs(%t : !pto.tile<8x16xf32>)\n  }\n  return\n}";
    let outputs = canonical(text).entry()?.input("t", &ramp(128))?.output("t")?.run()?;
    assert_eq!(outputs.get::<f32>("t")?[..3], [0.0, 2.0, 4.0]);
    let both = text.replace("  return", "  pto.section.cube {\n  }\n  return");
    let outputs = canonical(&both).entry()?.input("t", &ramp(128))?.output("t")?.run()?;
    assert_eq!(outputs.get::<f32>("t")?[..3], [0.0, 2.0, 4.0]);
    Ok(())
}

#[test]
fn a_brace_too_many_takes_out_one_function() -> Result<()> {
    let good = |name: &str, value: &str| {
        format!(
            "func.func @{name}(%p: !pto.ptr<f32>) {{\n  %c = arith.constant {value} : f32\n  %z = arith.constant 0 : index\n  \
             pto.store_scalar %c, %p[%z] : !pto.ptr<f32>, f32\n  return\n}}\n"
        )
    };
    let broken = "func.func @broken() {\n  scf.for %i = {\n  }}\n  }\n  return\n}\n";
    let text = good("a", "1.0") + broken + &good("b", "2.0");
    for text in [text.clone(), format!("module {{\n{text}}}\n")] {
        // One error, and nothing behind it.
        let found = Program::read(&text, None).check();
        assert_eq!(found.iter().filter(|d| d.is_error()).count(), 1, "{found:?}");
        for (entry, value) in [("a", 1.0), ("b", 2.0)] {
            let program = Program::read_entry(&text, None, Some(entry));
            let outputs = program.kernel(entry)?.run()?;
            assert_eq!(outputs.get::<f32>("p")?, [value], "{text}");
        }
    }
    let stray = good("a", "1.0") + "  return\n}\n" + &good("b", "2.0");
    assert_eq!(rules(&stray, Profile::Cpu), ["syntax-mixed"]);
    assert!(Program::read_entry(&stray, None, Some("b")).kernel("b")?.run().is_ok());
    Ok(())
}

#[test]
fn a_declared_function_does_not_run() -> Result<()> {
    let text = |body: &str| {
        format!(
            "func.func private @other(i32) -> i32\nfunc.func @k(%q: !pto.ptr<i32>) {{\n  %c0 = arith.constant 0 : index\n  %c = \
             arith.constant 1 : i32\n  {body}\n  return\n}}"
        )
    };
    let call = "%n = call @other(%c) : (i32) -> i32\n  pto.store_scalar %n, %q[%c0] : !pto.ptr<i32>, i32";
    let program = Program::parse(&text(call))?;
    let found = program.check();
    assert!(found.iter().any(|d| d.rule == "not-executable" && !d.is_error()), "{found:?}");
    let error = program.entry()?.run().unwrap_err();
    assert_eq!(error.rule(), "not-executable");
    assert_eq!(error.message(), "the called function is only declared, and has no body");
    Ok(())
}

#[test]
fn what_is_said_of_memory_is_true() {
    let memref = "memref<16x32xf16, #pto.address_space<vec>>";
    let bind = |strides: &str| {
        format!(
            "func.func @k(%n: index) {{\n  %c = arith.constant 16 : index\n  %m = memref.alloc() : {memref}\n  %t = pto.bind_tile %m, \
             %n, %c {{config = #pto.tile_buf_config<blayout=row_major>}} : {memref} -> memref<16x32xf16, strided<[{strides}], offset: \
             ?>, #pto.address_space<vec>>\n  return\n}}"
        )
    };
    assert_eq!(rules(&bind("32, 1"), Profile::A5), [""; 0]);
    assert_eq!(rules(&bind("64, 1"), Profile::A5), ["type-mismatch"]);
    let address = |space: &str| {
        format!(
            "func.func @k(%t: !pto.tile_buf<vec, 16x16xf32>) {{\n  %p = pto.tile_buf_addr %t : !pto.tile_buf<vec, 16x16xf32> -> \
             !pto.ptr<f32{space}>\n  return\n}}"
        )
    };
    for (space, found) in
        [("", &[][..]), (", ub", &[]), (", #pto.address_space<vec>", &[]), (", l1", &["type-mismatch"])]
    {
        assert_eq!(rules(&address(space), Profile::A5), found, "{space}");
    }
    // A pop from the view's two types, and a word that marks nothing.
    let dim = "func.func @k(%v: !pto.tensor_view<4x8xf32>) {\n  %c1 = arith.constant 1 : index\n  %n = pto.get_tensor_view_dim %v, %c1 \
               : !pto.tensor_view<4x8xf32>, index -> index\n  return\n}";
    assert_eq!(rules(dim, Profile::A5), [""; 0]);
    let kind = "func.func @k() attributes {pto.kernel_kind = #pto.kernel_kind<tensor>} {\n  return\n}";
    let found = Program::read(kind, None).check();
    assert_eq!(found.iter().map(|d| d.rule).collect::<Vec<_>>(), ["unknown-attribute"]);
}

#[test]
fn scratch_that_is_not_touched_costs_nothing() -> Result<()> {
    let text = "!i = !pto.tile_buf<vec, 128x128xi32>\nfunc.func @k(%a: !i, %b: !i, %o: !i) \
                {\n  %t = pto.alloc_tile : !i\n  pto.txor ins(%a, %b, %t : !i, !i, !i) outs(%o : !i)\n  return\n}";
    let run = |text: &str, profile| {
        let kernel = Program::read(text, Some(profile)).entry()?;
        kernel.input("a", &vec![5i32; 1 << 14])?.input("b", &vec![3i32; 1 << 14])?.output("o")?.run()?.get::<i32>("o")
    };
    assert_eq!(run(text, Profile::A5)?[0], 6);
    assert_eq!(run(text, Profile::A2a3).unwrap_err().rule(), "capacity");
    // What is used otherwise has storage.
    let used = text.replace("  pto.txor", "  pto.tadd ins(%t, %t : !i, !i) outs(%t : !i)\n  pto.txor");
    assert_eq!(run(&used, Profile::A5).unwrap_err().rule(), "capacity");
    Ok(())
}

#[test]
fn what_kernels_are_made_of_is_read_in_generic_form() -> Result<()> {
    let text = r#""builtin.module"() ({
  "func.func"() <{function_type = (!pto.ptr<f32>, index) -> (), sym_name = "k"}> ({
  ^bb0(%y: !pto.ptr<f32>, %n: index):
    %c0 = "arith.constant"() <{value = 0 : index}> : () -> index
    %c8 = "arith.constant"() <{value = 8 : index}> : () -> index
    %f = "arith.constant"() <{value = 4.0 : f32}> : () -> f32
    %s = "math.sqrt"(%f) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
    %h = "arith.addf"(%f, %s) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
    %less = "arith.cmpf"(%s, %h) <{fastmath = #arith.fastmath<none>, predicate = 4 : i64}> : (f32, f32) -> i1
    %e = "arith.select"(%less, %h, %f) : (i1, f32, f32) -> f32
    %bits = "arith.bitcast"(%e) : (f32) -> i32
    %u = "builtin.unrealized_conversion_cast"(%bits) : (i32) -> ui32
    %m = "memref.alloc"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<8x8xf32, #pto.address_space<vec>>
    %t = "pto.bind_tile"(%m, %n, %c8) <{config = #pto.tile_buf_config<blayout=row_major, slayout=none_box, s_fractal_size=512, pad=null>}> : (memref<8x8xf32, #pto.address_space<vec>>, index, index) -> memref<8x8xf32, #pto.address_space<vec>>
    "pto.section.vector"() ({
      "pto.store_scalar"(%e, %y, %c0) : (f32, !pto.ptr<f32>, index) -> ()
    }) : () -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
"#;
    let outputs = canonical(text).entry()?.set("n", 4)?.run()?;
    assert_eq!(outputs.get::<f32>("y")?, [6.0]);
    let narrow = text.replace("\"arith.bitcast\"(%e) : (f32) -> i32", "\"arith.bitcast\"(%e) : (f32) -> i16");
    assert_eq!(rules(&narrow, Profile::Cpu)[0], "cast-width");
    Ok(())
}
