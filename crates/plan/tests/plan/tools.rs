//! Pipes and the memory map.

use crate::build::Builder;
use tessera_isa::ops::Pipe;
use tessera_isa::profile::Profile;
use tessera_isa::tile::Loc;
use tessera_plan::{Hazard, map, pipes, plan};

#[test]
fn pipes_and_waits() {
    let mut b = Builder::new();
    let (u, l) = (b.tile(Loc::Vec, 16), b.nd_tile(Loc::Mat, 16));
    let (x, y, m) = (b.alloc(u), b.alloc(u), b.alloc(l));
    let ops = [b.mov(x, y), b.mov(y, m), b.mov(x, y)];
    // Vec→Vec is V and Vec→Mat is MTE3 (ops.md 2).
    let p = pipes(&b.module, &b.func, Profile::A5, None);
    assert_eq!(p.ops, [(ops[0], Pipe::V), (ops[1], Pipe::Mte3), (ops[2], Pipe::V)]);
    let waits: Vec<_> = p.waits.iter().map(|w| (w.from, w.to, w.hazard, w.tile)).collect();
    assert_eq!(waits, [(ops[0], ops[1], Hazard::ReadAfterWrite, y), (ops[1], ops[2], Hazard::WriteAfterRead, y)]);
}

#[test]
fn waits_cross_iterations() {
    let mut b = Builder::new();
    let u = b.tile(Loc::Vec, 16);
    let x = b.alloc(u);
    let mut ops = Vec::new();
    b.for_loop(&[], |b, _| {
        ops.push(b.mov(x, x));
        ops.push(b.print(x));
        Vec::new()
    });
    let p = pipes(&b.module, &b.func, Profile::A5, None);
    let waits: Vec<_> = p.waits.iter().map(|w| (w.from, w.to, w.hazard)).collect();
    assert_eq!(waits, [(ops[0], ops[1], Hazard::ReadAfterWrite), (ops[1], ops[0], Hazard::WriteAfterRead)]);
}

#[test]
fn manual_tiles_at_one_address_wait_for_each_other() {
    let mut b = Builder::new();
    let u = b.tile(Loc::Vec, 16);
    let (x, y, z) = (b.alloc_at(u, 0), b.alloc_at(u, 64), b.alloc_at(u, 4096));
    b.mov(z, x);
    b.print(y);
    let p = pipes(&b.module, &b.func, Profile::A5, None);
    assert_eq!(p.waits.len(), 1);
}

#[test]
fn the_map_lists_every_tile() {
    let mut b = Builder::new();
    let (u, l) = (b.tile(Loc::Vec, 16), b.tile(Loc::Mat, 16));
    let (x, y, m, a) = (b.alloc(u), b.alloc(u), b.alloc_at(l, 512), b.alloc(l));
    b.mov(x, y);
    b.mov(y, m);
    b.mov(m, a);
    let p = plan(&b.module, &b.func, Profile::A5, &[]).expect("it fits");
    let map = map(&b.module, &b.func, Profile::A5, &p);
    let locs: Vec<Loc> = map.memories.iter().map(|m| m.loc).collect();
    assert_eq!(locs, [Loc::Vec, Loc::Mat]);
    let ub = &map.memories[0];
    assert_eq!((ub.rows.len(), ub.capacity, ub.reserved, ub.peak), (2, Some(248 * 1024), 8192, 1024));
    let manual = map.memories[1].rows.iter().find(|r| r.is_manual).expect("m is manual");
    assert_eq!((manual.slot.addr, manual.value), (512, m));
}

#[test]
fn an_empty_function_has_an_empty_map() {
    let b = Builder::new();
    let p = plan(&b.module, &b.func, Profile::Cpu, &[]).expect("nothing fits everywhere");
    let map = map(&b.module, &b.func, Profile::Cpu, &p);
    assert!(map.memories.is_empty());
}

#[test]
fn a_tile_waits_for_the_one_whose_bytes_it_takes_over() {
    let mut b = Builder::new();
    let (small, large) = (b.tile(Loc::Vec, 16), b.tile(Loc::Vec, 32));
    let (x, y, z) = (b.alloc(small), b.alloc(large), b.alloc(large));
    b.mov(x, y);
    let reader = b.print(y);
    let writer = b.mov(z, z);
    let p = plan(&b.module, &b.func, Profile::A5, &[]).expect("it fits");
    assert_eq!(p.slot(z).map(|s| s.addr), p.slot(y).map(|s| s.addr));
    assert_eq!(pipes(&b.module, &b.func, Profile::A5, None).waits.len(), 1, "only the print waits for the move");
    let waits = pipes(&b.module, &b.func, Profile::A5, Some(&p)).waits;
    let last = waits.last().map(|w| (w.from, w.to, w.hazard));
    assert_eq!((waits.len(), last), (2, Some((reader, writer, Hazard::WriteAfterRead))));
}
