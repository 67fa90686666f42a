use super::super::{Engine, TileId};
use super::*;
use tessera_isa::elem::Elem;
use tessera_isa::inst::Inst;
use tessera_isa::ops::{Form, Opcode, Role};
use tessera_isa::profile::Profile;
use tessera_isa::tile::{Loc, TileType};
use tessera_kernels::Level;

/// Tiles of `rows` rows of i32, which are too large together for registers, go through each of these: add the tiles at
/// two addresses into a third.
fn strips(rows: u64, adds: &[[i64; 3]]) -> Vec<(u64, usize)> {
    let mut engine = Engine::new(Profile::Cpu, true);
    let mut links = Vec::new();
    let tadd = Inst::new(Opcode::parse("tadd").unwrap(), Form::Plain, Profile::Cpu);
    for add in adds {
        let tiles = [Role::Src0, Role::Src1, Role::Dst].into_iter().zip(add).map(|(role, address)| {
            let tile = engine.tile(&TileType::new(Loc::Vec, Elem::I32, rows, 128)).unwrap();
            engine.assign(tile, *address).unwrap();
            (role, tile)
        });
        let tiles: Vec<_> = tiles.collect();
        engine.issue(&tadd, &tiles).unwrap();
        let compiled = engine.caches[0].current().and_then(|entry| entry.compiled.as_ref()).unwrap();
        links.push(FusedOp::new(compiled.plan.part().unwrap(), compiled.places.clone()));
    }
    FusionPlan::new(links, &[]).groups.iter().map(|group| (group.strips, group.links.len())).collect()
}

#[test]
fn strips_stay_in_the_first_level_cache() {
    let (a, b, c) = (0, 64 << 10, 128 << 10);
    assert_eq!(strips(128, &[[a, b, c], [c, b, c], [c, a, c]]), [(8, 3)], "three tiles of 64 KiB");
    assert_eq!(strips(4, &[[a, b, c], [c, b, c]]), [(1, 2)], "as they are");
}

#[test]
fn what_lies_across_strips_is_another_group() {
    let (a, b, c) = (0, 64 << 10, 128 << 10);
    // The second one reads rows that the first one has not written when it reads them.
    assert_eq!(strips(128, &[[a, a, b], [b + 512, b + 512, c + 512]]), [(1, 1), (1, 1)]);
    // The second one writes rows that the first one has yet to read.
    assert_eq!(strips(128, &[[a + 512, a + 512, c], [c, c, a]]), [(1, 1), (1, 1)]);
    // Reading twice is nothing.
    assert_eq!(strips(128, &[[a, a + 512, b + 512], [a + 512, a + 512, c + 512]]).len(), 1);
}

/// The numbers of the instructions that are left of a product, two moves of either factor before it, and one of its sums. The left
/// factor's source may be changed before the product. None where products do not wait.
fn left_of_product(dead: &[u32], is_changed: bool) -> Option<Vec<usize>> {
    let mut engine = Engine::new(Profile::Cpu, true);
    let mut tile = |loc, rows, cols| engine.tile(&TileType::new(loc, Elem::F32, rows, cols)).unwrap();
    let (a, b, s) = (tile(Loc::Vec, 128, 64), tile(Loc::Vec, 64, 128), tile(Loc::Vec, 128, 128));
    let (a_l1, b_l1) = (tile(Loc::Mat, 128, 64), tile(Loc::Mat, 64, 128));
    let (left, right, acc) = (tile(Loc::Left, 128, 64), tile(Loc::Right, 64, 128), tile(Loc::Acc, 128, 128));
    let mut address = 0;
    for (tile, bytes) in [(a, 32 << 10), (b, 32 << 10), (s, 64 << 10)] {
        engine.assign(tile, address).unwrap();
        address += bytes;
    }
    for (tile, address) in [(a_l1, 0), (b_l1, 32 << 10), (left, 0), (right, 0), (acc, 0)] {
        engine.assign(tile, address).unwrap();
    }
    let mut list: Vec<(&str, Vec<(Role, TileId)>)> = vec![
        ("tmov", vec![(Role::Src, a), (Role::Dst, a_l1)]),
        ("tmov", vec![(Role::Src, b), (Role::Dst, b_l1)]),
        ("tmov", vec![(Role::Src, a_l1), (Role::Dst, left)]),
        ("tmov", vec![(Role::Src, b_l1), (Role::Dst, right)]),
        ("tmatmul", vec![(Role::A, left), (Role::B, right), (Role::Dst, acc)]),
        ("tmov", vec![(Role::Src, acc), (Role::Dst, s)]),
    ];
    if is_changed {
        list.insert(4, ("trelu", vec![(Role::Src, a), (Role::Dst, a)]));
    }
    let mut links = Vec::new();
    for (op, tiles) in &list {
        let inst = Inst::new(Opcode::parse(op).unwrap(), Form::Plain, Profile::Cpu);
        engine.issue(&inst, tiles).unwrap();
        let compiled = engine.caches[0].current().and_then(|entry| entry.compiled.as_ref()).unwrap();
        links.push(FusedOp::new(compiled.plan.part()?, compiled.places.clone()));
    }
    Some(FusionPlan::new(links, dead).numbers)
}

#[test]
fn copies_for_products_are_not_made() {
    // Without vectors products do not wait.
    let left = |numbers: &[usize]| (Level::best() > Level::Scalar).then(|| numbers.to_vec());
    assert_eq!(left_of_product(&[0, 0, 1, 1, 3, 1], false), left(&[4]), "nobody needs any copy");
    assert_eq!(left_of_product(&[0; 6], false), left(&[0, 1, 2, 3, 4, 5]), "everything is needed later");
    assert_eq!(left_of_product(&[0, 0, 1, 1, 3, 0], false), left(&[4, 5]), "the sums are needed");
    let changed = left_of_product(&[0, 0, 1, 1, 0, 3, 1], true);
    assert_eq!(changed, left(&[0, 4, 5]), "what it was is in the first copy only");
}
