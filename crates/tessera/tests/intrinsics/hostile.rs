//! Values that fit nowhere: every one ends in an error, none in a panic.

use crate::rule;
use tessera::prelude::*;
use tessera::{Elem, Extent, Loc, TileType};
use tessera::{Result, TileBuf};

const HUGE: [usize; 6] = [usize::MAX, usize::MAX - 1, usize::MAX / 2 + 1, i64::MAX as usize, 1 << 32, 65536];

#[test]
fn indices() -> Result<()> {
    for profile in Profile::ALL {
        let m = Machine::new(profile);
        let mut small: Tile<loc::Vec, i32, 1, 8, layout::Nd> = m.tile()?;
        let mut large: Tile<loc::Vec, i32, 4, 16, layout::Nd> = m.tile()?;
        let mut nz0: Tile<loc::Vec, i32, 16, 8, layout::Nz> = m.tile()?;
        let mut nz1: Tile<loc::Vec, i32, 16, 8, layout::Nz> = m.tile()?;
        let acc: Tile<loc::Acc, f32, 16, 16> = m.tile()?;
        let mut mat: Tile<loc::Mat, f16, 16, 16> = m.tile()?;
        // An index that is no multiple of anything breaks `-align` before `-bounds` (ops.md 1, rule 8).
        let window = ["textract-bounds", "textract-align"];
        for n in HUGE {
            for (r, c) in [(n, 0), (0, n), (n, n)] {
                let refused = rule(textract(&mut small, &large, r, c));
                assert!(window.contains(&refused), "{refused} at ({r}, {c})");
                let refused = rule(textract_fp(&mut small, &large, 1, r, c));
                assert!(window.contains(&refused), "{refused} at ({r}, {c})");
                assert_eq!(rule(textract(&mut mat, &acc, r, c)), "textract-bounds");
                assert_eq!(rule(tinsert(&mut mat, &acc, r, c)), "tinsert-bounds");
                assert_eq!(rule(tsubview(&mut small, &large, r, c)), "tsubview-window");
                let pair = textract_pair(&mut nz0, &mut nz1, &large, (0, 0), (r, c));
                assert_eq!(rule(pair), "textract-bounds");
                let refused = rule(tinsert(&mut large, &small, r, c));
                assert!(["tinsert-bounds", "tinsert-loc"].contains(&refused), "{refused}");
            }
        }
    }
    Ok(())
}

#[test]
fn regions_and_addresses() -> Result<()> {
    for profile in Profile::ALL {
        let m = Machine::new(profile);
        let mut tile: Tile<loc::Vec, i32, 4, 16> = m.tile()?;
        for n in HUGE {
            assert_eq!(rule(tile.set_valid(n, 1)), "valid-range");
            assert_eq!(rule(tile.set_valid(1, n)), "valid-range");
            assert_eq!(rule(tile.get(n, n)), "valid-range");
            let fixed = TileOptions::new().valid(n, n);
            assert_eq!(rule(m.tile_with::<loc::Vec, i32, 4, 16, layout::Nd>(fixed)), "tile-shape");
        }
        for address in [u64::MAX, u64::MAX - 31, 1 << 63, i64::MAX as u64 & !31, 1 << 40] {
            let refused = rule(tassign(&mut tile, address));
            assert!(["tassign-range", "tassign-align", "legal"].contains(&refused), "{refused} at {address}");
            if refused == "legal" {
                // cpu has no capacity; the simulator has.
                assert_eq!(rule(tfillpad(&mut tile, 1)), "memory-limit");
            }
        }
        tassign(&mut tile, 0)?;
        tile.write(&[5; 64])?;
        tile.set_valid(0, 0)?;
        assert_eq!(tile.to_vec()?, []);
        tile.write(&[])?;
        tload(&mut tile, &[0i32; 0])?;
        // Where all regions are empty, nothing is padded (isa/today.md 5.3).
        tfillpad(&mut tile, 3)?;
        tile.set_valid(4, 16)?;
        assert_eq!(tile.to_vec()?, [5; 64]);
    }
    Ok(())
}

#[test]
fn lengths() -> Result<()> {
    let m = Machine::new(Profile::A5);
    let mut tile: Tile<loc::Vec, i32, 4, 16> = m.tile()?;
    for n in [0, 1, 63, 65, 1000] {
        assert_eq!(rule(tile.write(&vec![0; n])), "tload-shape");
        assert_eq!(rule(tile.write_bytes(&vec![0; n])), "tload-shape");
    }
    for n in [0, 1, 63] {
        assert_eq!(rule(tload(&mut tile, &vec![0; n])), "gm-bounds");
        assert_eq!(rule(tstore(&mut vec![0; n], &tile)), "gm-bounds");
    }
    let mut image = m.conv_tile::<f16>(&[1, 1, 2, 2, 16])?;
    assert_eq!(rule(image.write(&[])), "tload-shape");
    assert_eq!(rule(tload_conv(&mut image, &[f16::ONE; 63])), "gm-bounds");
    // Of five fp4 elements only four have whole bytes.
    let mut fp4: Tile<loc::Vec, F4E2M1, 1, 64> = m.tile()?;
    fp4.set_valid(1, 4)?;
    tload(&mut fp4, &[F4E2M1::from_bits(3); 5])?;
    let mut out = [F4E2M1::default(); 5];
    tstore(&mut out, &fp4)?;
    assert_eq!(out.map(F4E2M1::to_bits), [3, 3, 3, 3, 0]);
    assert_eq!(rule(fp4.set_valid(1, 3)), "tile-fp4");
    Ok(())
}

#[test]
fn views() -> Result<()> {
    let extremes = [i64::MIN, i64::MIN + 1, -1, i64::MAX, i64::MAX / 2];
    for profile in Profile::ALL {
        let m = Machine::new(profile);
        let mut tile: Tile<loc::Vec, i32, 4, 16> = m.tile()?;
        let mut data = vec![0; 64];
        for stride in extremes {
            for strides in [[stride, 1], [16, stride], [stride, stride]] {
                let view = Tensor::new(&data).shape(&[4, 16]).strides(&strides);
                assert_eq!(rule(tload(&mut tile, view)), "gm-bounds", "{strides:?}");
                let view = TensorMut::new(&mut data).shape(&[4, 16]).strides(&strides);
                assert_eq!(rule(tstore(view, &tile)), "gm-bounds", "{strides:?}");
            }
        }
        for n in HUGE {
            assert_eq!(rule(tload(&mut tile, Tensor::new(&data).offset(n))), "gm-bounds");
            // cpu takes the leading part of any view; hardware of one with no more rows than the tile (isa/structure.md 8).
            let refused = if profile == Profile::Cpu { "gm-bounds" } else { "tload-shape" };
            assert_eq!(rule(tload(&mut tile, Tensor::new(&data).shape(&[n, n]))), refused);
            assert_eq!(rule(tload(&mut tile, Tensor::new(&data).shape(&[n; 5]))), refused);
        }
        for shape in [&[][..], &[1; 6], &[0; 3], &[64], &[1; 5]] {
            assert_eq!(rule(tload(&mut tile, Tensor::new(&data).shape(shape))), "tload-shape");
            let nz = Tensor::new(&data).shape(shape).tag(ViewTag::Nz);
            let refused = rule(tload(&mut tile, nz));
            assert!(["tload-shape", "tload-layout"].contains(&refused), "{refused}");
        }
        let uneven = Tensor::new(&data).shape(&[4, 16]).strides(&[16]);
        assert_eq!(rule(tload(&mut tile, uneven)), "tload-shape");
        let bare = Tensor::new(&data).strides(&[0, 0]);
        tload(&mut tile, bare)?;
    }
    Ok(())
}

#[test]
fn types() -> Result<()> {
    let m = Machine::new(Profile::Cpu);
    for n in [0, 1 << 32, u64::MAX, u64::MAX / 32 * 32] {
        for (rows, cols) in [(n, 32), (32, n), (n, n)] {
            let refused = rule(m.alloc(&TileType::new(Loc::Vec, Elem::U8, rows, cols)));
            assert!(["tile-shape", "tile-size"].contains(&refused), "{refused}");
        }
    }
    let big = TileType::new(Loc::Vec, Elem::U64, 1 << 15, 1 << 15);
    assert_eq!(rule(m.alloc(&big)), "memory-limit");
    let valid = TileType::new(Loc::Vec, Elem::U8, 2, 32).with_valid(Extent::Static(u64::MAX), Extent::Dynamic);
    assert_eq!(rule(m.alloc(&valid)), "tile-shape");
    for fractal in [0, 1, 511, u32::MAX] {
        let ty = TileType { fractal: Some(fractal), ..TileType::new(Loc::Mat, Elem::U8, 32, 32) };
        assert_eq!(rule(m.alloc(&ty)), "tile-fractal");
    }
    for n in [0, usize::MAX, 1 << 40] {
        assert!(m.conv_tile::<f16>(&[n, 1, 4, 4, 16]).is_err());
        assert!(m.conv_tile::<f16>(&[1, n, n, n, n, 16]).is_err());
    }
    assert!(m.conv_tile::<f16>(&[]).is_err());
    Ok(())
}

#[test]
fn parameters_and_values() -> Result<()> {
    for profile in Profile::ALL {
        let m = Machine::new(profile);
        let mut acc: Tile<loc::Acc, f32, 16, 32> = m.tile()?;
        acc.write(&[f32::NAN; 512])?;
        let mut dst: Tile<loc::Mat, i8, 16, 32> = m.tile()?;
        for param in [0, u64::MAX, 1 << 46, u64::MAX >> 1, 0x7F80_0000 | 1 << 46] {
            let refused = rule(tmov_quant(&mut dst, &acc, param));
            assert!(["legal", "quant-sign", "quant-scale"].contains(&refused), "{refused}");
        }
        let mut vec: Tile<loc::Vec, i8, 1, 32> = m.tile()?;
        for value in [f64::NAN, f64::INFINITY, 1e300, 0.5, 128.0, -129.0] {
            assert_eq!(rule(tfillpad(&mut vec, value)), "fp-value", "{value}");
        }
        assert_eq!(rule(tfillpad(&mut vec, u64::MAX)), "fp-value");
        assert_eq!(rule(tfillpad(&mut vec, i64::MIN)), "fp-value");

        let image = m.conv_tile::<i8>(&[1, 1, 4, 4, 32])?;
        let mut left: Tile<loc::Left, i8, 16, 32> = m.tile()?;
        for n in [i64::MIN, -1, 0, 512, i64::MAX] {
            assert_eq!(rule(timg2col(&mut left, &image, Img2col::kernel(n, 1))), "timg2col-config");
            let k = Img2col::kernel(1, 1);
            assert_eq!(rule(timg2col(&mut left, &image, k.stride(n, n))), "timg2col-config");
            assert_eq!(rule(timg2col(&mut left, &image, k.dilation(1, n))), "timg2col-config");
            let padded = rule(timg2col(&mut left, &image, k.pad(0, n, 0, n)));
            assert_eq!(padded, if n == 0 { "legal" } else { "timg2col-config" });
            assert_eq!(rule(timg2col(&mut left, &image, k.fmap(n, n))), "timg2col-fmap");
        }
        for n in HUGE {
            // Beyond the last window everything is padding, or the position is refused.
            let refused = rule(timg2col(&mut left, &image, Img2col::kernel(1, 1).position(n, n)));
            assert!(["legal", "timg2col-config"].contains(&refused), "{refused}");
        }
    }
    Ok(())
}

#[test]
fn a_core_that_does_not_exist() -> Result<()> {
    let m = Machine::new(Profile::A5);
    let buf: TileBuf = m.tile::<loc::Vec, i32, 1, 8, layout::Nd>()?.into_buf();
    assert!(buf.data_on(1).is_ok());
    assert_eq!(rule(buf.data_on(2)), "binding");
    assert_eq!(rule(buf.data_on(255)), "binding");
    Ok(())
}

#[test]
fn a_machine_and_its_tiles_go_to_another_thread() {
    let m = Machine::new(Profile::Cpu);
    let mut tile: Tile<loc::Vec, i32, 8, 8> = m.tile().unwrap();
    tload(&mut tile, &[7; 64]).unwrap();
    let (m, tile) = std::thread::spawn(move || {
        let mut copy: Tile<loc::Vec, i32, 8, 8> = m.tile().unwrap();
        tmov(&mut copy, &tile).unwrap();
        (m, copy)
    })
    .join()
    .unwrap();
    assert_eq!(tile.to_vec().unwrap(), [7; 64]);
    assert_eq!(m.take_warnings(), []);
}
