use super::*;
use tessera_isa::elem::Elem;
use tessera_isa::inst::Inst;
use tessera_isa::ops::{Form, Opcode, Role};
use tessera_isa::profile::Profile;
use tessera_isa::tile::{Loc, TileType};

/// So many rows of i32, which no registers hold together, go further with each of these: add what lies at two addresses to a third.
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
        let prepared = engine.caches[0].current().and_then(|entry| entry.prepared.as_ref()).unwrap();
        links.push(Link::new(prepared.plan.part().unwrap(), prepared.places.clone()));
    }
    Chain::new(links, &[]).groups.iter().map(|group| (group.strips, group.links.len())).collect()
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
