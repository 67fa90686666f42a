//! The TFILLPAD family and TIMG2COL.

use crate::{filled, ramp, rule};
use tessera::Result;
use tessera::prelude::*;

#[test]
fn tfillpad_surrounds_the_source_with_the_pad_value() -> Result<()> {
    for profile in Profile::ALL {
        let m = Machine::new(profile);
        let (mut src, values) = filled::<loc::Vec, i16, 4, 16, layout::Nd>(&m)?;
        src.set_valid(3, 5)?;
        for (pad, fill) in [(Pad::Zero, 0), (Pad::Min, i16::MIN), (Pad::Custom(PadLiteral::Int(-3)), -3)] {
            let mut dst: Tile<loc::Vec, i16, 4, 16> = m.tile_with(TileOptions::new().pad(pad))?;
            tfillpad(&mut dst, &src)?;
            let got = dst.to_vec()?;
            for r in 0..4 {
                for c in 0..16 {
                    let want = if r < 3 && c < 5 { values[r * 16 + c] } else { fill };
                    assert_eq!(got[r * 16 + c], want, "({r}, {c}) on {profile}");
                }
            }
        }
        let mut plain: Tile<loc::Vec, i16, 4, 16> = m.tile()?;
        assert_eq!(rule(tfillpad(&mut plain, &src)), "tfillpad-pad");
    }
    Ok(())
}

#[test]
fn tfillpad_inplace_makes_a_view() -> Result<()> {
    for profile in Profile::ALL {
        let m = Machine::new(profile);
        let (mut src, values) = filled::<loc::Mat, f16, 16, 32, layout::Nz>(&m)?;
        src.set_valid(10, 20)?;
        let mut dst: Tile<loc::Mat, f16, 16, 32> = m.tile_with(TileOptions::new().pad(Pad::Zero))?;
        tfillpad_inplace(&mut dst, &src)?;
        src.set_valid(16, 32)?;
        let (got, own) = (dst.to_vec()?, src.to_vec()?);
        for r in 0..16 {
            for c in 0..32 {
                let want = if r < 10 && c < 20 { values[r * 32 + c] } else { f16::ZERO };
                assert_eq!(got[r * 32 + c].to_bits(), want.to_bits(), "({r}, {c}) on {profile}");
                assert_eq!(own[r * 32 + c].to_bits(), want.to_bits(), "the source is filled too");
            }
        }
    }
    Ok(())
}

#[test]
fn tfillpad_expand_fills_a_larger_tile() -> Result<()> {
    for profile in Profile::ALL {
        let m = Machine::new(profile);
        let (src, values) = filled::<loc::Vec, u8, 2, 32, layout::Nd>(&m)?;
        let mut dst: Tile<loc::Vec, u8, 3, 64> = m.tile_with(TileOptions::new().pad(Pad::Max).unset())?;
        tfillpad_expand(&mut dst, &src)?;
        assert_eq!(dst.valid()?, (3, 64), "a dynamic region becomes the declared area");
        let got = dst.to_vec()?;
        for r in 0..3 {
            for c in 0..64 {
                let want = if r < 2 && c < 32 { values[r * 32 + c] } else { 255 };
                assert_eq!(got[r * 64 + c], want, "({r}, {c}) on {profile}");
            }
        }
        let mut fixed: Tile<loc::Vec, u8, 3, 64> = m.tile_with(TileOptions::new().pad(Pad::Max).valid(1, 32))?;
        assert_eq!(rule(tfillpad_expand(&mut fixed, &src)), "tfillpad-valid");
    }
    Ok(())
}

#[test]
fn values_fill_what_is_outside_the_valid_region() -> Result<()> {
    for profile in Profile::ALL {
        let m = Machine::new(profile);
        let want: Vec<i32> = (0..32).map(|i| if i / 16 == 0 && i % 16 < 3 { 5 } else { -9 }).collect();
        for instruction in 0..3 {
            let mut dst: Tile<loc::Vec, i32, 2, 16> = m.tile()?;
            dst.set_valid(1, 3)?;
            dst.write(&[5; 3])?;
            match instruction {
                0 => tfillpad(&mut dst, -9)?,
                1 => tfillpad_inplace(&mut dst, -9.0)?,
                _ => tfillpad_expand(&mut dst, -9i8)?,
            };
            let region = if instruction == 2 { (2, 16) } else { (1, 3) };
            assert_eq!(dst.valid()?, region, "{profile}");
            dst.set_valid(2, 16)?;
            assert_eq!(dst.to_vec()?, want, "{profile}");
            dst.set_valid(1, 3)?;
            assert_eq!(rule(tfillpad(&mut dst, 0.5)), "fp-value");
        }
    }
    Ok(())
}

/// The formula of ops.md 7 for one image without depth.
fn window(image: &[f16], dims: [i64; 5], config: [i64; 6], m: i64, k: i64) -> f16 {
    let [n_all, c1_all, h, w, c0_all] = dims;
    let [kernel, stride, dilation, pad, pos_m, pos_k] = config;
    let out = |n: i64| (n + 2 * pad - dilation * (kernel - 1) - 1) / stride + 1;
    let (oh, ow) = (out(h), out(w));
    let (m, k) = (pos_m + m, pos_k + k);
    let (n, oy, ox) = (m / (oh * ow), m / ow % oh, m % ow);
    let (c1, t, c0) = (k / (c0_all * kernel * kernel), k / c0_all % (kernel * kernel), k % c0_all);
    let iy = oy * stride + t / kernel * dilation - pad;
    let ix = ox * stride + t % kernel * dilation - pad;
    if n >= n_all || c1 >= c1_all || iy < 0 || iy >= h || ix < 0 || ix >= w {
        return f16::from_f32(-1.0);
    }
    image[((((n * c1_all + c1) * h + iy) * w + ix) * c0_all + c0) as usize]
}

#[test]
fn timg2col_unrolls_the_windows() -> Result<()> {
    for profile in Profile::ALL {
        let m = Machine::new(profile);
        let image: Vec<f16> = ramp(2 * 2 * 6 * 5 * 16);
        let mut src = m.conv_tile::<f16>(&[2, 2, 6, 5, 16])?;
        tload_conv(&mut src, &image)?;
        assert_eq!(src.to_vec()?.iter().map(|v| v.to_bits()).collect::<Vec<_>>()[..9], {
            let bits: Vec<u16> = image.iter().map(|v| v.to_bits()).collect();
            bits[..9].to_vec()
        });
        let mut dst: Tile<loc::Left, f16, 32, 64> = m.tile()?;
        for [kernel, stride, dilation, pad, pos_m, pos_k] in
            [[3, 1, 1, 1, 0, 0], [2, 2, 1, 0, 3, 16], [3, 1, 2, 2, 20, 80]]
        {
            let config = Img2col::kernel(kernel, kernel)
                .stride(stride, stride)
                .dilation(dilation, dilation)
                .pad(pad, pad, pad, pad)
                .pad_value(-1i8)
                .fmap(6, 5)
                .position(pos_m as usize, pos_k as usize);
            timg2col(&mut dst, &src, config)?;
            let got = dst.to_vec()?;
            for r in 0..32 {
                for c in 0..64 {
                    let want = window(&image, [2, 2, 6, 5, 16], [kernel, stride, dilation, pad, pos_m, pos_k], r, c);
                    let at = (r * 64 + c) as usize;
                    assert_eq!(got[at].to_bits(), want.to_bits(), "({r}, {c}) on {profile}");
                }
            }
        }
        // SETFMATRIX stays until it is set again; an attribute wins.
        m.setfmatrix([6, 5], [0, 0, 0, 0])?;
        m.set_img2col_padding(-1i8)?;
        m.set_img2col_rpt();
        timg2col(&mut dst, &src, Img2col::kernel(1, 1))?;
        assert_eq!(dst.to_vec()?[0].to_bits(), image[0].to_bits());
        m.setfmatrix([7, 5], [0, 0, 0, 0])?;
        assert_eq!(rule(timg2col(&mut dst, &src, Img2col::kernel(1, 1))), "timg2col-fmap");
        timg2col(&mut dst, &src, Img2col::kernel(1, 1).fmap(6, 5))?;
        assert_eq!(rule(timg2col(&mut dst, &src, Img2col::kernel(0, 1).fmap(6, 5))), "timg2col-config");
        assert_eq!(rule(timg2col(&mut dst, &src, Img2col::kernel(9, 9).fmap(6, 5))), "timg2col-empty");
    }
    Ok(())
}
