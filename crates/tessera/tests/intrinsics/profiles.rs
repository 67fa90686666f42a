//! The same call on every profile: legal here, refused there, by the right rule.

use crate::{param, rule};
use tessera::Result;
use tessera::prelude::*;

type Nd<T, const R: usize, const C: usize> = Tile<loc::Vec, T, R, C>;
type Mat<T, const R: usize, const C: usize> = Tile<loc::Mat, T, R, C>;
type Acc = Tile<loc::Acc, f32, 16, 32>;

/// Runs a call on cpu, a2a3 and a5 and compares the rules ("legal" for none).
fn on_all(what: &str, call: impl Fn(&Machine) -> Result<RecordEvent>, want: [&str; 3]) {
    for (profile, want) in Profile::ALL.into_iter().zip(want) {
        assert_eq!(rule(call(&Machine::new(profile))), want, "{what} on {profile}");
    }
}

/// A destination and a source.
macro_rules! tiles {
    ($m:ident, $dst:ty, $src:ty) => {{
        let (dst, src): ($dst, $src) = ($m.tile()?, $m.tile()?);
        (dst, src)
    }};
}

#[test]
fn tiles() {
    let tile = |m: &Machine| m.tile::<loc::Vec, F8E4M3, 16, 32, layout::Nd>().map(|_| tsync([]));
    let [cpu, a2a3, a5] = Profile::ALL.map(|p| rule(tile(&Machine::new(p))));
    assert_eq!([cpu, a2a3, a5], ["tile-dtype", "tile-dtype", "legal"]);
    let tile = |m: &Machine| m.tile::<loc::ScaleLeft, u8, 16, 2, layout::Usual>().map(drop);
    let [cpu, a2a3, a5] = Profile::ALL.map(|p| rule(tile(&Machine::new(p))));
    assert_eq!([cpu, a2a3, a5], ["legal", "tile-loc", "legal"]);
    let tile = |m: &Machine| m.tile::<loc::Vec, f32, 256, 256, layout::Nd>().map(drop);
    let [cpu, a2a3, a5] = Profile::ALL.map(|p| rule(tile(&Machine::new(p))));
    assert_eq!([cpu, a2a3, a5], ["legal", "tile-size", "legal"]);
    let options = TileOptions::new().compact(Compact::RowPlusOne);
    for profile in Profile::ALL {
        let m = Machine::new(profile);
        let tile = m.tile_with::<loc::Vec, f16, 16, 16, layout::Nz>(options);
        assert_eq!(rule(tile), "tile-compact");
        let tile = m.tile_with::<loc::Vec, f16, 17, 16, layout::Nz>(options);
        assert_eq!(rule(tile), "legal");
        let tile = m.tile_with::<loc::Vec, i8, 1, 32, layout::Nd>(TileOptions::new().valid(2, 1));
        assert_eq!(rule(tile), "tile-shape");
        let pad = TileOptions::new().pad(Pad::Custom(PadLiteral::Int(1000)));
        assert_eq!(rule(m.tile_with::<loc::Vec, i8, 1, 32, layout::Nd>(pad)), "tile-pad");
    }
}

#[test]
fn moves() {
    on_all(
        "TMOV Vec→Mat",
        |m| {
            let (mut dst, src) = tiles!(m, Tile<loc::Mat, f16, 16, 32, layout::Nd>, Nd<f16, 16, 32>);
            tmov(&mut dst, &src)
        },
        ["legal", "tmov-loc", "legal"],
    );
    on_all(
        "TMOV ND→DN",
        |m| {
            let (mut dst, src) = tiles!(m, Tile<loc::Vec, f16, 16, 32, layout::Dn>, Nd<f16, 16, 32>);
            tmov(&mut dst, &src)
        },
        ["legal", "tmov-layout", "tmov-layout"],
    );
    on_all(
        "TMOV i64 into Left",
        |m| {
            let (mut dst, src) = tiles!(m, Tile<loc::Left, i64, 16, 16>, Mat<i64, 16, 16>);
            tmov(&mut dst, &src)
        },
        ["legal", "tmov-dtype", "tmov-dtype"],
    );
    on_all(
        "TMOV of other regions",
        |m| {
            let (mut dst, src) = tiles!(m, Nd<f16, 16, 32>, Nd<f16, 16, 32>);
            dst.set_valid(16, 31)?;
            tmov(&mut dst, &src)
        },
        ["tmov-valid"; 3],
    );
    on_all(
        "TEXTRACT Vec→Mat",
        |m| {
            let (mut dst, src) = tiles!(m, Tile<loc::Mat, f16, 16, 16, layout::Nd>, Nd<f16, 16, 32>);
            textract(&mut dst, &src, 0, 16)
        },
        ["legal", "textract-loc", "legal"],
    );
    on_all(
        "TEXTRACT at an unaligned column",
        |m| {
            let (mut dst, src) = tiles!(m, Tile<loc::Left, f16, 16, 16>, Mat<f16, 16, 32>);
            textract(&mut dst, &src, 0, 8)
        },
        ["legal", "textract-align", "textract-align"],
    );
    on_all(
        "TINSERT Vec→Vec",
        |m| {
            let (mut dst, src) = tiles!(m, Nd<f16, 16, 32>, Nd<f16, 16, 16>);
            tinsert(&mut dst, &src, 0, 16)
        },
        // a2a3: isa/today.md 5.4.
        ["legal"; 3],
    );
    on_all(
        "TINSERT beyond the end",
        |m| {
            let mut dst: Mat<f16, 16, 32> = m.tile()?;
            let src: Acc = m.tile()?;
            tinsert(&mut dst, &src, 1, 0)
        },
        ["tinsert-bounds"; 3],
    );
    on_all(
        "TMOV f32→u8 by scalar",
        |m| {
            let (mut dst, src) = tiles!(m, Mat<u8, 16, 32>, Acc);
            tmov_quant(&mut dst, &src, param(1.0, 0, false))
        },
        ["legal", "tmov-dtype", "legal"],
    );
}

#[test]
fn rearrangements() {
    on_all(
        "TTRANS of DN",
        |m| {
            let (mut dst, src) = tiles!(m, Nd<f16, 16, 16>, Tile<loc::Vec, f16, 16, 16, layout::Dn>);
            ttrans(&mut dst, &src)
        },
        ["legal", "ttrans-layout", "legal"],
    );
    on_all(
        "TTRANS into too few rows",
        |m| {
            let (mut dst, src) = tiles!(m, Nd<f32, 8, 8>, Nd<f32, 8, 16>);
            ttrans(&mut dst, &src)
        },
        ["ttrans-shape"; 3],
    );
    on_all(
        "TTRANS of i64",
        |m| {
            let (mut dst, src) = tiles!(m, Nd<i64, 8, 8>, Nd<i64, 8, 8>);
            ttrans(&mut dst, &src)
        },
        ["legal", "ttrans-dtype", "ttrans-dtype"],
    );
    on_all(
        "TCONCAT in Mat",
        |m| {
            let (mut dst, src) = tiles!(m, Mat<f16, 16, 32>, Mat<f16, 16, 16>);
            tconcat(&mut dst, &src, &src)
        },
        ["legal", "tconcat-loc", "tconcat-loc"],
    );
    on_all(
        "TCONCAT of rows",
        |m| {
            let (mut dst, src) = tiles!(m, Nd<i32, 4, 8>, Nd<i32, 2, 8>);
            tconcat_rows(&mut dst, &src, &src)
        },
        ["legal", "tconcat-dim", "tconcat-dim"],
    );
    on_all(
        "TPACK",
        |m| {
            let (mut dst, src) = tiles!(m, Nd<i16, 4, 16>, Nd<i32, 4, 16>);
            tpack(&mut dst, &src)
        },
        ["legal", "tpack-profile", "legal"],
    );
    on_all(
        "TINTERLEAVE",
        |m| {
            let (mut dst1, src1) = tiles!(m, Nd<i16, 4, 16>, Nd<i16, 4, 16>);
            let (mut dst0, src0) = tiles!(m, Nd<i16, 4, 16>, Nd<i16, 4, 16>);
            tinterleave(&mut dst1, &mut dst0, &src1, &src0)
        },
        ["legal", "tinterleave-profile", "legal"],
    );
    on_all(
        "TDEINTERLEAVE of odd columns",
        |m| {
            let (mut dst1, mut src) = tiles!(m, Nd<i16, 4, 16>, Nd<i16, 4, 16>);
            let mut dst0: Nd<i16, 4, 16> = m.tile()?;
            src.set_valid(4, 14)?;
            dst1.set_valid(4, 7)?;
            dst0.set_valid(4, 7)?;
            tdeinterleave_one(&mut dst1, &mut dst0, &src)
        },
        ["legal", "tinterleave-profile", "legal"],
    );
    on_all(
        "TFILLPAD in Left",
        |m| {
            let src: Tile<loc::Left, f16, 16, 16> = m.tile()?;
            let mut dst: Tile<loc::Left, f16, 16, 16> = m.tile_with(TileOptions::new().pad(Pad::Zero))?;
            tfillpad(&mut dst, &src)
        },
        ["legal", "tfillpad-loc", "tfillpad-loc"],
    );
    on_all(
        "TIMG2COL of i32",
        |m| {
            let src = m.conv_tile::<i32>(&[1, 1, 4, 4, 8])?;
            let mut dst: Tile<loc::Left, i32, 16, 8> = m.tile()?;
            timg2col(&mut dst, &src, Img2col::kernel(1, 1))
        },
        ["legal", "timg2col-dtype", "legal"],
    );
}

#[test]
fn transfers_and_regions() {
    on_all(
        "TLOAD into Left",
        |m| {
            let mut dst: Tile<loc::Left, i32, 16, 8> = m.tile()?;
            tload(&mut dst, &[0; 128])
        },
        ["legal", "tload-loc", "tload-loc"],
    );
    on_all(
        "TLOAD of NZ into ND",
        |m| {
            let mut dst: Nd<i32, 16, 8> = m.tile()?;
            tload(&mut dst, Tensor::new(&[0; 128]).shape(&[1, 1, 1, 16, 8]).tag(ViewTag::Nz))
        },
        ["legal", "tload-layout", "tload-layout"],
    );
    on_all(
        "TLOAD of another shape",
        |m| {
            let mut dst: Nd<i32, 16, 8> = m.tile()?;
            tload(&mut dst, Tensor::new(&[0; 128]).shape(&[8, 16]))
        },
        ["tload-shape"; 3],
    );
    on_all(
        "TSTORE out of Bias",
        |m| {
            let src: Tile<loc::Bias, i32, 1, 8> = m.tile()?;
            tstore(&mut [0; 8], &src)
        },
        ["legal", "tstore-loc", "tstore-loc"],
    );
    on_all(
        "TMOV of a region that nobody set",
        |m| {
            let src: Nd<i32, 16, 8> = m.tile_with(TileOptions::new().unset())?;
            let mut dst: Nd<i32, 16, 8> = m.tile()?;
            tmov(&mut dst, &src)
        },
        ["valid-unset"; 3],
    );
    on_all(
        "TSUBVIEW at an unaligned column",
        |m| {
            let (mut dst, src) = tiles!(m, Nd<i32, 4, 8>, Nd<i32, 4, 16>);
            tsubview(&mut dst, &src, 0, 4)
        },
        ["tsubview-window"; 3],
    );
}
