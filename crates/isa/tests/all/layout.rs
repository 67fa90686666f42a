//! Layouts against the six formulas of tile-model.md 5, written out plainly, over random legal tile types.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use proptest::prelude::*;
use tessera_isa::elem::Elem;
use tessera_isa::layout::{Axis, Layout};
use tessera_isa::profile::Profile;
use tessera_isa::tile::{BLayout, LayoutName, Loc, SLayout, Tile, TileType};

/// The offset straight from the table of the spec.
fn formula(t: &Tile, r: u64, c: u64) -> u64 {
    let c0 = t.elem.c0();
    let (mut ir, ic) = match (t.slayout, t.fractal) {
        (SLayout::NoneBox, _) => (1, 1),
        (SLayout::RowMajor, 512) => (16, c0),
        (SLayout::ColMajor, 512) => (c0, 16),
        (_, 1024) => (16, 16),
        (SLayout::RowMajor, 32) => (16, 2),
        (SLayout::ColMajor, 32) => (2, 16),
        other => panic!("no box for {other:?}"),
    };
    if t.slayout == SLayout::RowMajor && t.rows == 1 {
        ir = 1;
    }
    let (rows, cols, n) = (t.rows, t.cols, ir * ic);
    let (br, i, bc, j) = (r / ir, r % ir, c / ic, c % ic);
    match t.layout_name() {
        LayoutName::Nd => r * cols + c,
        LayoutName::Dn => c * rows + r,
        LayoutName::Nz => bc * rows * ic + br * n + i * ic + j,
        LayoutName::Zn => br * cols * ir + bc * n + j * ir + i,
        LayoutName::Zz => br * cols * ir + bc * n + i * ic + j,
        LayoutName::Nn => bc * rows * ic + br * n + j * ir + i,
    }
}

prop_compose! {
    /// A legal tile type on a5: extents are drawn in boxes and 32-byte runs, so that most draws are legal.
    fn legal_tile()(
        elem in prop::sample::select(Elem::ALL),
        b in prop::sample::select(BLayout::ALL),
        s in prop::sample::select(SLayout::ALL),
        fractal in prop::sample::select(&[512u32, 1024, 32][..]),
        loc in prop::sample::select(&[Loc::Vec, Loc::Mat][..]),
        down in 1u64..5, across in 1u64..5, odd in 1u64..70,
    ) -> Tile {
        let probe = TileType::new(loc, elem, 64, 64).with_layout(b, s, fractal).resolve(Profile::A5);
        let (ir, ic) = probe.box_dims().unwrap_or((16, 16));
        let (rows, cols) = match (s, b) {
            (SLayout::NoneBox, BLayout::RowMajor) => (odd, across * elem.c0()),
            (SLayout::NoneBox, BLayout::ColMajor) => (down * elem.c0(), if elem.is_fp4() { odd * 2 } else { odd }),
            // NZ in Vec takes any number of rows.
            (SLayout::RowMajor, BLayout::ColMajor) if loc == Loc::Vec => (odd, across * ic),
            _ => (down * ir, across * ic),
        };
        TileType::new(loc, elem, rows, cols).with_layout(b, s, fractal).resolve(Profile::A5)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn layouts_agree_with_the_formulas(tile in legal_tile()) {
        prop_assume!(tile.fault(Profile::A5).is_none());
        let layout = tile.layout();
        for r in 0..tile.rows {
            for c in 0..tile.cols {
                let offset = layout.offset(r, c);
                prop_assert_eq!(offset as u64, formula(&tile, r, c), "({}, {}) of {}", r, c, tile);
                prop_assert_eq!(layout.inverse(offset), Some((r, c)));
            }
        }
    }

    #[test]
    fn legal_tiles_are_bijections_onto_a_multiple_of_32_bytes(tile in legal_tile()) {
        prop_assume!(tile.fault(Profile::A5).is_none());
        let layout = tile.layout();
        let all = (0..tile.rows).flat_map(|r| (0..tile.cols).map(move |c| (r, c)));
        let mut offsets: Vec<i64> = all.map(|(r, c)| layout.offset(r, c)).collect();
        offsets.sort_unstable();
        prop_assert!(offsets.iter().copied().eq(0..offsets.len() as i64), "{}", tile);
        prop_assert_eq!(layout.footprint(), tile.rows * tile.cols);
        // Columns of 2-byte rows fill whole blocks only with whole boxes (docs/spec-notes.md, "fractal 32").
        let short_columns = tile.fractal == 32 && tile.rows % 16 != 0;
        prop_assert!(tile.bytes() % 32 == 0 || short_columns, "{}", tile);
        prop_assert_eq!(layout.inverse(layout.footprint() as i64), None);
    }

    #[test]
    fn windows_that_are_layouts_show_the_same_elements(
        tile in legal_tile(), r in 0u64..80, c in 0u64..80, rows in 1u64..40, cols in 1u64..40,
    ) {
        prop_assume!(tile.fault(Profile::A5).is_none());
        let layout = tile.layout();
        match layout.window(r, c, rows, cols) {
            Some((start, window)) => {
                for i in 0..rows {
                    for j in 0..cols {
                        prop_assert_eq!(start + window.offset(i, j), layout.offset(r + i, c + j));
                    }
                }
            }
            None => {
                // Without boxes every window inside the tile is a layout.
                prop_assert!(tile.is_boxed() || r + rows > tile.rows || c + cols > tile.cols);
            }
        }
        let turned = layout.transposed();
        prop_assert_eq!(turned.offset(c.min(tile.cols - 1), r.min(tile.rows - 1)),
            layout.offset(r.min(tile.rows - 1), c.min(tile.cols - 1)));
    }
}

#[test]
fn most_random_tiles_are_legal() {
    // The properties above assume legality; they would be empty if the generator seldom met it.
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let legal =
        (0..200).filter(|_| legal_tile().new_tree(&mut runner).unwrap().current().fault(Profile::A5).is_none()).count();
    assert!(legal > 80, "only {legal} of 200 random tile types are legal");
}

#[test]
fn the_examples_of_the_spec() {
    let nz = |loc, elem, rows, cols, fractal| {
        TileType::new(loc, elem, rows, cols)
            .with_layout(BLayout::ColMajor, SLayout::RowMajor, fractal)
            .resolve(Profile::A5)
            .layout()
    };
    assert_eq!(nz(Loc::Vec, Elem::F16, 33, 32, 512).offset(0, 16), 528);
    assert_eq!(nz(Loc::Vec, Elem::I8, 16, 32, 512).offset(1, 2), 34);
    assert_eq!(nz(Loc::Vec, Elem::F32, 16, 32, 1024).offset(1, 18), 274);
}

#[test]
fn digits_are_what_the_simulator_lowers_from() {
    let zn = TileType::new(Loc::Right, Elem::F16, 32, 48).resolve(Profile::A5).layout();
    let digits =
        |axis: &tessera_isa::layout::Axis| axis.digits.iter().map(|d| (d.extent, d.stride)).collect::<Vec<_>>();
    assert_eq!(digits(&zn.row), [(2, 48 * 16), (16, 1)]);
    // Boxes of one row lie side by side, so the column axis has a single digit.
    assert_eq!(digits(&zn.col), [(48, 16)]);
}

fn nz(rows: u64, cols: u64, ir: u64, ic: u64) -> Layout {
    Layout {
        row: Axis::boxed(rows, ir, (ir * ic) as i64, ic as i64),
        col: Axis::boxed(cols, ic, (rows * ic) as i64, 1),
    }
}

#[test]
fn the_checks_of_the_spec() {
    assert_eq!(nz(33, 32, 16, 16).offset(0, 16), 528);
    assert_eq!(nz(16, 32, 16, 32).offset(1, 2), 34);
    assert_eq!(nz(16, 32, 16, 16).offset(1, 18), 274);
}

#[test]
fn windows_at_box_edges_are_layouts_and_others_are_not() {
    let zn = Layout { row: Axis::boxed(32, 16, 32 * 16, 1), col: Axis::linear(32, 16) };
    let (start, inside) = zn.window(16, 4, 16, 8).unwrap();
    for r in 0..16 {
        for c in 0..8 {
            assert_eq!(start + inside.offset(r, c), zn.offset(16 + r, 4 + c));
        }
    }
    assert!(zn.window(8, 0, 16, 8).is_none());
    assert!(zn.window(0, 0, 33, 8).is_none());
}
