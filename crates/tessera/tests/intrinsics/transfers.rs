//! Instructions with views of global memory, by their typed functions (isa/memory.md).

use tessera::prelude::*;
use tessera::{AtomicType, AttrName, Attrs, Coalesce, GatherOob, ScatterAtomic};

type Row = Tile<loc::Vec, f32, 1, 8>;

#[test]
fn stores_add_and_windows_are_moved() -> tessera::Result<()> {
    let machine = Machine::new(Profile::A5);
    let mut tile: Row = machine.tile()?;
    let matrix: Vec<f32> = (0..64).map(|i| i as f32).collect();
    let view = || Tensor::new(&matrix).shape(&[4, 16]);
    tload_window(&mut tile, view(), 2, 8, Attrs::default())?;
    assert_eq!(tile.to_vec()?, (40..48).map(|i| i as f32).collect::<Vec<_>>());
    assert_eq!(tload_window(&mut tile, view(), 2, 9, Attrs::default()).unwrap_err().rule(), "gm-bounds");
    let mut out = vec![1f32; 64];
    tstore_window(TensorMut::new(&mut out).shape(&[4, 16]), &tile, 3, 0, Attrs::default())?;
    assert_eq!(out[47..50], [1.0, 40.0, 41.0]);
    let add = Attrs::default().with(AttrName::AtomicType, AtomicType::Add);
    tstore_with(TensorMut::new(&mut out[..8]).shape(&[1, 8]), &tile, add)?;
    assert_eq!(out[..9], [41.0, 42.0, 43.0, 44.0, 45.0, 46.0, 47.0, 48.0, 1.0]);
    tprefetch(&mut tile, Tensor::new(&matrix[..8]).shape(&[1, 8]))?;
    assert_eq!(tile.to_vec()?, matrix[..8]);
    Ok(())
}

#[test]
fn elements_are_picked_and_put_by_index() -> tessera::Result<()> {
    let machine = Machine::new(Profile::Cpu);
    let (mut tile, mut idx): (Row, Tile<loc::Vec, i32, 1, 8>) = (machine.tile()?, machine.tile()?);
    idx.write(&[11, 0, 5, 12, 3, 3, 1, 30])?;
    let mut table: Vec<f32> = (0..12).map(|i| i as f32).collect();
    let view = Tensor::new(&table).shape(&[3, 4]);
    let zero = Attrs::default().with(AttrName::Coalesce, Coalesce::Elem).with(AttrName::GatherOob, GatherOob::Zero);
    mgather(&mut tile, view.clone(), &idx, zero)?;
    assert_eq!(tile.to_vec()?, [11.0, 0.0, 5.0, 0.0, 3.0, 3.0, 1.0, 0.0]);
    assert_eq!(mgather(&mut tile, view, &idx, Attrs::default()).unwrap_err().rule(), "mgather-index");
    idx.write(&[0, 0, 1, 2, 3, 3, 3, 11])?;
    let add = Attrs::default().with(AttrName::ScatterAtomicOp, ScatterAtomic::Add);
    mscatter(TensorMut::new(&mut table).shape(&[3, 4]), &tile, &idx, add)?;
    assert_eq!(table[..4], [11.0, 6.0, 2.0, 10.0]);
    Ok(())
}

#[test]
fn accumulators_are_stored_quantized() -> tessera::Result<()> {
    let machine = Machine::new(Profile::A2a3);
    let mut acc: Tile<loc::Acc, f32, 16, 16> = machine.tile()?;
    acc.write(&[2.5; 256])?;
    let mut bytes = vec![0i8; 256];
    let half = u64::from(2f32.to_bits()) | 1 << 46;
    tstore_scalar_quant(TensorMut::new(&mut bytes).shape(&[16, 16]), &acc, half, Attrs::default())?;
    assert_eq!(bytes, [5; 256]);
    let mut fp: Tile<loc::Scaling, u64, 1, 16> = machine.tile()?;
    fp.write(&[half; 16])?;
    bytes.fill(0);
    tstore_fp(TensorMut::new(&mut bytes).shape(&[16, 16]), &acc, &fp, Attrs::default())?;
    assert_eq!(bytes, [5; 256]);
    Ok(())
}

/// Records of a value and an index, as TSORT32 leaves them.
#[test]
fn lists_are_merged_and_counted() -> tessera::Result<()> {
    let machine = Machine::new(Profile::Cpu);
    let (mut a, mut b): (Tile<loc::Vec, f32, 1, 8>, Tile<loc::Vec, f32, 1, 8>) = (machine.tile()?, machine.tile()?);
    a.write(&[9.0, 0.0, 7.0, 0.0, 5.0, 0.0, 1.0, 0.0])?;
    b.write(&[8.0, 0.0, 6.0, 0.0, 4.0, 0.0, 2.0, 0.0])?;
    let mut merged: Tile<loc::Vec, f32, 1, 16> = machine.tile()?;
    let mut counts: Tile<loc::Vec, u16, 1, 16> = machine.tile()?;
    counts.set_valid(1, 4)?;
    tmrgsort_lists(&mut merged, &mut counts, &a, &b, false)?;
    let values: Vec<f32> = merged.to_vec()?.into_iter().step_by(2).collect();
    assert_eq!(values, [9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 2.0, 1.0]);
    assert_eq!(counts.to_vec()?, [4, 4, 0, 0]);
    Ok(())
}
