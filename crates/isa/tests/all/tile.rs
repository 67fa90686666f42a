//! The `tile-*` rules: each broken alone, with its values in the message, and the tile types next to it that are legal.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use tessera_isa::elem::Elem;
use tessera_isa::profile::Profile;
use tessera_isa::tile::{BLayout, Compact, Extent, Loc, Pad, PadLiteral, SLayout, TileType};

fn nd(elem: Elem, rows: u64, cols: u64) -> TileType {
    TileType::new(Loc::Vec, elem, rows, cols)
}

fn nz(loc: Loc, elem: Elem, rows: u64, cols: u64) -> TileType {
    TileType::new(loc, elem, rows, cols).with_layout(BLayout::ColMajor, SLayout::RowMajor, 512)
}

/// The broken rule and its sentence.
fn fault(t: TileType, profile: Profile) -> Option<(&'static str, String)> {
    t.resolve(profile).fault(profile).map(|f| (f.rule, f.message))
}

#[track_caller]
fn refused(t: TileType, profile: Profile, rule: &str, values: &[&str]) {
    let (got, message) = fault(t, profile).unwrap_or_else(|| panic!("{} is accepted", t.resolve(profile)));
    assert_eq!(got, rule, "{message}");
    for value in values {
        assert!(message.contains(value), "{message:?} does not name {value}");
    }
}

#[track_caller]
fn accepted(t: TileType, profile: Profile) {
    assert_eq!(fault(t, profile), None);
}

#[test]
fn shape() {
    for p in Profile::ALL {
        refused(nd(Elem::F32, 0, 8), p, "tile-shape", &["0 × 8"]);
        refused(nd(Elem::F32, 8, 0), p, "tile-shape", &["8 × 0"]);
        let t = nd(Elem::F32, 8, 16);
        refused(t.with_valid(Extent::Static(8), Extent::Static(17)), p, "tile-shape", &["v_col=17", "cols=16"]);
        refused(t.with_valid(Extent::Static(9), Extent::Static(16)), p, "tile-shape", &["v_row=9", "rows=8"]);
        accepted(t.with_valid(Extent::Static(0), Extent::Dynamic), p);
    }
}

#[test]
fn alignment() {
    for p in Profile::ALL {
        refused(nd(Elem::F32, 4, 2), p, "tile-align", &["cols=2", "8 bytes"]);
        accepted(nd(Elem::F32, 4, 8), p);
        let dn = |rows| nd(Elem::F16, rows, 3).with_layout(BLayout::ColMajor, SLayout::NoneBox, 512);
        refused(dn(8), p, "tile-align", &["rows=8", "16 bytes"]);
        accepted(dn(16), p);
    }
    let help = nd(Elem::F32, 4, 2).resolve(Profile::Cpu).fault(Profile::Cpu).unwrap().help.unwrap();
    assert_eq!(help, "cols 2 → 8, keep v_col=2");
}

#[test]
fn boxes() {
    for p in Profile::ALL {
        refused(nz(Loc::Mat, Elem::F16, 16, 24), p, "tile-box-cols", &["cols=24", "16"]);
        refused(nz(Loc::Mat, Elem::F16, 24, 32), p, "tile-box-rows", &["rows=24", "16"]);
        // NZ in Vec takes any rows; one row of row-major boxes is just a row.
        accepted(nz(Loc::Vec, Elem::F16, 33, 32), p);
        accepted(nz(Loc::Mat, Elem::F16, 1, 32), p);
        let zn =
            |rows| TileType::new(Loc::Mat, Elem::I8, rows, 16).with_layout(BLayout::RowMajor, SLayout::ColMajor, 512);
        refused(zn(16), p, "tile-box-rows", &["rows=16", "32"]);
        accepted(zn(32), p);
    }
}

#[test]
fn fractals() {
    for p in Profile::ALL {
        let f = |elem, fractal| nz(Loc::Vec, elem, 16, 32).with_layout(BLayout::ColMajor, SLayout::RowMajor, fractal);
        refused(f(Elem::F16, 256), p, "tile-fractal", &["256"]);
        refused(f(Elem::F16, 1024), p, "tile-fractal", &["1024", "16 bits"]);
        refused(f(Elem::F32, 32), p, "tile-fractal", &["32", "32 bits"]);
        accepted(f(Elem::F32, 1024), p);
        accepted(f(Elem::I8, 32), p);
        let unboxed = nd(Elem::F32, 16, 32).with_layout(BLayout::RowMajor, SLayout::NoneBox, 1024);
        // Without boxes it means nothing (isa/today.md 5.4).
        let fault = unboxed.resolve(p).fault(p).expect("a warning");
        assert!(!fault.is_error() && fault.rule == "tile-fractal");
    }
}

#[test]
fn compact_mode() {
    for p in Profile::ALL {
        let t = |rows, compact| TileType { compact, ..nz(Loc::Vec, Elem::F16, rows, 32) };
        refused(t(32, Compact::RowPlusOne), p, "tile-compact", &["rows=32"]);
        accepted(t(33, Compact::RowPlusOne), p);
        accepted(t(32, Compact::Normal), p);
    }
}

#[test]
fn pad_values() {
    let t = |elem, literal| TileType { pad: Pad::Custom(literal), ..nd(elem, 16, 32) };
    let float = |v: f64| PadLiteral::Float(v.to_bits());
    for p in Profile::ALL {
        refused(t(Elem::I8, PadLiteral::Int(300)), p, "tile-pad", &["300", "i8"]);
        refused(t(Elem::F16, float(1e6)), p, "tile-pad", &["1000000", "f16"]);
        refused(t(Elem::U8, PadLiteral::Bits(0x1FF)), p, "tile-pad", &["0x1FF", "u8"]);
        accepted(t(Elem::U8, PadLiteral::Bits(0xFF)), p);
        accepted(t(Elem::F16, float(-1.5)), p);
        let inexact = t(Elem::F16, float(0.1)).resolve(p).fault(p).unwrap();
        assert_eq!((inexact.rule, inexact.is_error()), ("tile-pad", false));
    }
    let bits = |elem, pad| TileType { pad, ..nd(elem, 16, 32) }.resolve(Profile::A5).pad_bits();
    assert_eq!(bits(Elem::F32, Pad::Min), Some(0xFF80_0000));
    assert_eq!(bits(Elem::F8e4m3, Pad::Max), Some(0x7E));
    assert_eq!(bits(Elem::I16, Pad::Custom(PadLiteral::Int(-2))), Some(0xFFFE));
    assert_eq!(bits(Elem::I16, Pad::Null), None);
}

#[test]
fn fp4_comes_in_pairs() {
    let t = |v_row, v_col| nd(Elem::F4e2m1x2, 16, 64).with_valid(Extent::Static(v_row), Extent::Static(v_col));
    refused(t(16, 31), Profile::A5, "tile-fp4", &["v_col=31"]);
    // Rows do not share bytes in ND.
    accepted(t(15, 32), Profile::A5);
    let dn = t(15, 32).with_layout(BLayout::ColMajor, SLayout::NoneBox, 512);
    refused(TileType { rows: 64, ..dn }, Profile::A5, "tile-fp4", &["v_row=15"]);
}

#[test]
fn what_a_profile_has() {
    refused(nd(Elem::F8e4m3, 16, 32), Profile::Cpu, "tile-dtype", &["cpu", "f8e4m3"]);
    refused(nd(Elem::Hif8, 16, 32), Profile::A2a3, "tile-dtype", &["a2a3", "hif8"]);
    accepted(nd(Elem::Hif8, 16, 32), Profile::A5);
    let scale = TileType::new(Loc::ScaleLeft, Elem::U8, 16, 2);
    refused(scale, Profile::A2a3, "tile-loc", &["a2a3", "scale_left"]);
    accepted(scale, Profile::A5);
    accepted(scale, Profile::Cpu);
}

#[test]
fn sizes() {
    refused(nd(Elem::F32, 1024, 64), Profile::A2a3, "tile-size", &["262144", "196608"]);
    accepted(nd(Elem::F32, 1024, 64), Profile::A5);
    accepted(nd(Elem::F32, 1 << 20, 8), Profile::Cpu);
    for p in Profile::ALL {
        refused(nd(Elem::I8, 1 << 20, 1 << 20), p, "tile-size", &["1048576"]);
        refused(nd(Elem::I8, u64::MAX, u64::MAX), p, "tile-size", &["18446744073709551615"]);
    }
}

#[test]
fn usual_layouts_stay_symbolic_until_a_profile_is_chosen() {
    let left = TileType::new(Loc::Left, Elem::F16, 16, 32);
    assert_eq!(left.resolve(Profile::A2a3).layout_name().name(), "ZZ");
    assert_eq!(left.resolve(Profile::A5).layout_name().name(), "NZ");
    // Hardware replaces a written outer order of Left; the simulator does not.
    let written = left.with_layout(BLayout::RowMajor, SLayout::RowMajor, 512);
    assert!(written.replaces_blayout(Profile::A5) && !written.replaces_blayout(Profile::Cpu));
    assert_eq!(written.resolve(Profile::A5).layout_name().name(), "NZ");
    assert_eq!(written.resolve(Profile::Cpu).layout_name().name(), "ZZ");
    assert_eq!(written.resolve(Profile::Cpu).to_string(), "left 16x32xf16 ZZ");
}
