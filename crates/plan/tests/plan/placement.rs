//! Cases by hand: who lives how long, who may share bytes, and what the checker refuses.

use crate::build::Builder;
use tessera_ir::ValueId;
use tessera_isa::diag::Diagnostic;
use tessera_isa::elem::Elem;
use tessera_isa::profile::Profile;
use tessera_isa::tile::Loc;
use tessera_plan::{Placement, Slot, plan};
use tessera_testkit::placement::validate;

fn placed(b: &Builder, profile: Profile, keep: &[ValueId]) -> Placement {
    let p = plan(&b.module, &b.func, profile, keep).expect("it fits");
    validate(&b.module, &b.func, profile, &p, keep).expect("it is valid");
    p
}

fn slot(p: &Placement, v: ValueId) -> Slot {
    p.slot(v).copied().unwrap_or_else(|| panic!("{v:?} has no storage"))
}

fn overlap(p: &Placement, a: ValueId, b: ValueId) -> bool {
    let (a, b) = (slot(p, a), slot(p, b));
    a.loc == b.loc && a.addr < b.limit() && b.addr < a.limit()
}

fn refused(b: &Builder, profile: Profile) -> Box<Diagnostic> {
    plan(&b.module, &b.func, profile, &[]).expect_err("it does not fit")
}

#[test]
fn the_dead_make_room_but_not_within_one_instruction() {
    let mut b = Builder::new();
    let t = b.tile(Loc::Vec, 4);
    let (x, y, z) = (b.alloc(t), b.alloc(t), b.alloc(t));
    b.print(x);
    b.mov(x, y);
    b.mov(y, z);
    let p = placed(&b, Profile::Cpu, &[]);
    assert!(!overlap(&p, x, y), "x is read by the move that writes y");
    assert!(overlap(&p, x, z), "x is dead when z begins");
    assert_eq!(p.high_water[Loc::Vec as usize], 256);
    assert_eq!(p.peak[Loc::Vec as usize].bytes, 256);
}

#[test]
fn a_kept_tile_is_never_reused() {
    let mut b = Builder::new();
    let t = b.tile(Loc::Vec, 4);
    let (x, y) = (b.alloc(t), b.alloc(t));
    b.print(x);
    b.print(y);
    assert!(overlap(&placed(&b, Profile::Cpu, &[]), x, y));
    assert!(!overlap(&placed(&b, Profile::Cpu, &[x]), x, y));
}

#[test]
fn inputs_live_from_the_start_and_are_never_marked() {
    let mut b = Builder::new();
    let t = b.tile(Loc::Vec, 1);
    let (x, y) = (b.input(t), b.alloc(t));
    b.print(y);
    b.print(x);
    let p = placed(&b, Profile::A5, &[]);
    assert_eq!(slot(&p, x).start, 0);
    assert!(!overlap(&p, x, y));
    assert!(p.fresh.iter().flatten().all(|v| *v != x));
    assert_eq!(p.fresh.iter().flatten().filter(|v| **v == y).count(), 1);
}

#[test]
fn loops_keep_what_comes_from_outside() {
    let mut b = Builder::new();
    let t = b.tile(Loc::Vec, 2);
    let outer = b.alloc(t);
    let mut inner = Vec::new();
    b.for_loop(&[], |b, _| {
        b.print(outer);
        let (x, y) = (b.alloc(t), b.alloc(t));
        b.print(x);
        b.print(y);
        inner.extend([x, y]);
        Vec::new()
    });
    let p = placed(&b, Profile::A2a3, &[]);
    assert!(overlap(&p, inner[0], inner[1]), "both live within one iteration");
    assert!(!overlap(&p, outer, inner[0]) && !overlap(&p, outer, inner[1]));
}

#[test]
fn branches_share_bytes() {
    let mut b = Builder::new();
    let t = b.tile(Loc::Vec, 2);
    let mut both = Vec::new();
    let results = b.branch(
        &[t],
        |b| {
            let x = b.alloc(t);
            b.print(x);
            let k = b.alloc(t);
            b.print(k);
            both.extend([x, k]);
            vec![k]
        },
        |b| {
            let y = b.alloc(t);
            b.print(y);
            vec![y]
        },
    );
    let later = b.alloc(t);
    b.print(later);
    b.print(results[0]);
    let p = placed(&b, Profile::Cpu, &[]);
    assert!(overlap(&p, both[0], both[1]), "what a branch does not hand on is dead within it");
    assert_eq!(p.peak[Loc::Vec as usize].bytes, 3 * 64);
}

#[test]
fn a_carried_result_gets_a_buffer_and_a_carried_tile_does_not() {
    let mut b = Builder::new();
    let t = b.tile(Loc::Vec, 2);
    let (x, y) = (b.input(t), b.input(t));
    let mut args = Vec::new();
    let results = b.for_loop(&[x, x], |b, a| {
        let made = b.moved(a[0], t);
        b.print(a[1]);
        args = a.to_vec();
        vec![made, y]
    });
    b.print(results[0]);
    b.print(results[1]);
    let p = placed(&b, Profile::A5, &[]);
    assert!(p.slot(args[0]).is_some(), "the next iteration writes `made` anew");
    assert!(p.slot(args[1]).is_none(), "y is handed on by reference");
    assert!(p.slot(results[0]).is_none());
    assert_eq!(slot(&p, args[0]).end, slot(&p, y).end - 1, "it lives until its result is read");
}

#[test]
fn a_buffer_is_not_handed_on_by_reference() {
    // a, b = b, f(a, b): the buffer of b is overwritten when the iteration ends, so a needs one as well.
    let mut b = Builder::new();
    let t = b.tile(Loc::Vec, 2);
    let x = b.input(t);
    let mut args = Vec::new();
    b.for_loop(&[x, x], |b, a| {
        let made = b.concat(a[0], a[1], t);
        args = a.to_vec();
        vec![a[1], made]
    });
    let p = placed(&b, Profile::Cpu, &[]);
    assert!(p.slot(args[0]).is_some() && p.slot(args[1]).is_some());
}

#[test]
fn swapping_two_tiles_needs_no_buffers() {
    let mut b = Builder::new();
    let t = b.tile(Loc::Vec, 2);
    let (x, y) = (b.alloc(t), b.alloc(t));
    let mut args = Vec::new();
    b.for_loop(&[x, y], |b, a| {
        b.mov(a[0], a[1]);
        args = a.to_vec();
        vec![a[1], a[0]]
    });
    let p = placed(&b, Profile::A5, &[]);
    assert!(args.iter().all(|a| p.slot(*a).is_none()));
    assert!(!overlap(&p, x, y));
}

#[test]
fn views_keep_their_root_alive() {
    let mut b = Builder::new();
    let (t, half) = (b.tile(Loc::Vec, 4), b.tile(Loc::Vec, 2));
    let x = b.alloc(t);
    b.print(x);
    let v = b.subview(x, half);
    let w = b.subview(v, half);
    let y = b.alloc(t);
    b.print(y);
    b.print(w);
    let p = placed(&b, Profile::A5, &[]);
    assert!(!overlap(&p, x, y));
    assert!(p.slot(v).is_none() && p.slot(w).is_none());
}

#[test]
fn treshape_binds_on_hardware_and_copies_on_cpu() {
    let mut b = Builder::new();
    let t = b.tile(Loc::Vec, 4);
    let (x, d, y) = (b.alloc(t), b.alloc(t), b.alloc(t));
    b.print(x);
    b.reshape(x, d);
    b.print(y);
    b.print(d);
    let p = placed(&b, Profile::A2a3, &[]);
    assert!(p.slot(d).is_none(), "it never has storage of its own");
    assert!(!overlap(&p, x, y), "d keeps x alive");
    let p = placed(&b, Profile::Cpu, &[]);
    assert!(overlap(&p, x, y), "x is dead after the copy");
    assert!(!overlap(&p, d, y));
}

#[test]
fn a_tile_bound_again_lets_the_old_storage_go() {
    let mut b = Builder::new();
    let t = b.tile(Loc::Vec, 4);
    let d = b.alloc(t);
    let mut sources = Vec::new();
    for _ in 0..100 {
        let s = b.alloc(t);
        b.print(s);
        b.reshape(s, d);
        b.print(d);
        sources.push(s);
    }
    let p = placed(&b, Profile::A5, &[]);
    assert_eq!(p.high_water[Loc::Vec as usize], 128, "one source after the other");
}

#[test]
fn treshape_in_a_branch_keeps_both_storages() {
    let mut b = Builder::new();
    let t = b.tile(Loc::Vec, 2);
    let (x, d) = (b.alloc(t), b.alloc(t));
    b.print(x);
    b.print(d);
    b.branch(
        &[],
        |b| {
            b.reshape(x, d);
            Vec::new()
        },
        |_| Vec::new(),
    );
    let y = b.alloc(t);
    b.print(y);
    b.print(d);
    let p = placed(&b, Profile::A5, &[]);
    assert!(!overlap(&p, x, d) && !overlap(&p, x, y) && !overlap(&p, d, y));
}

#[test]
fn fillpad_inplace_binds_a_tile_without_address_only() {
    let mut b = Builder::new();
    let t = b.tile(Loc::Vec, 2);
    let (x, d, m) = (b.alloc(t), b.alloc(t), b.alloc_at(t, 256));
    b.print(x);
    b.fill_inplace(x, d);
    b.fill_inplace(m, m);
    b.print(d);
    let p = placed(&b, Profile::Cpu, &[]);
    assert!(p.slot(d).is_none() && p.slot(m).is_none());
    assert_eq!(p.manual.len(), 1);
}

#[test]
fn automatic_tiles_avoid_manual_ones() {
    let mut b = Builder::new();
    let t = b.tile(Loc::Vec, 4);
    let m = b.alloc_at(t, 32);
    let (x, y) = (b.alloc(t), b.alloc(t));
    b.tassign(y, 512);
    b.print(m);
    b.mov(x, y);
    let p = placed(&b, Profile::A5, &[]);
    assert_eq!(slot(&p, x).addr, 160, "the hole of 32 bytes below the manual tile is too small");
    assert!(p.slot(y).is_none(), "assigned before any use");
    assert_eq!(p.high_water[Loc::Vec as usize], 640);
}

#[test]
fn a_tile_keeps_its_own_storage_until_it_is_assigned() {
    let mut b = Builder::new();
    let t = b.tile(Loc::Vec, 1);
    let (x, y) = (b.alloc(t), b.alloc(t));
    b.print(x);
    b.tassign(x, 64);
    b.print(y);
    b.print(x);
    let p = placed(&b, Profile::A5, &[]);
    assert!(overlap(&p, x, y), "the storage that x had is free again");
}

#[test]
fn computed_addresses_push_automatic_tiles_up() {
    let mut b = Builder::new();
    let t = b.tile(Loc::Vec, 1);
    let addr = b.block_idx();
    let (c, m, x) = (b.alloc_computed(t, addr), b.alloc_at(t, 256), b.alloc(t));
    b.print(c);
    b.print(m);
    b.print(x);
    let p = placed(&b, Profile::A5, &[]);
    assert_eq!(slot(&p, x).addr, 288);
    let known = b.constant(64);
    let k = b.alloc_computed(t, known);
    b.print(k);
    let p = placed(&b, Profile::A5, &[]);
    assert!(p.manual.iter().any(|m| m.slot.addr == 64), "a constant is no computed address");
}

#[test]
fn scaling_tiles_are_aligned_for_fp_operands() {
    let mut b = Builder::new();
    let t = b.tile(Loc::Scaling, 1);
    let (x, y) = (b.alloc(t), b.alloc(t));
    b.mov(x, y);
    let p = placed(&b, Profile::A5, &[]);
    assert!([x, y].iter().all(|v| slot(&p, *v).addr.is_multiple_of(128)));
}

#[test]
fn memories_are_separate() {
    let mut b = Builder::new();
    let (u, l) = (b.tile(Loc::Vec, 4), b.tile(Loc::Mat, 4));
    let (x, y) = (b.alloc(u), b.alloc(l));
    b.mov(x, y);
    let p = placed(&b, Profile::A5, &[]);
    assert_eq!((slot(&p, x).addr, slot(&p, y).addr), (0, 0));
}

#[test]
fn overflow_names_the_living_and_the_instruction() {
    let mut b = Builder::new();
    let t = b.tile(Loc::Vec, 2048);
    let tiles: Vec<ValueId> = (0..4).map(|_| b.alloc(t)).collect();
    let dead = b.alloc(t);
    b.print(dead);
    let mut last = None;
    for v in &tiles {
        last = Some(b.print(*v));
    }
    tiles.iter().for_each(|v| {
        b.print(*v);
    });
    let d = refused(&b, Profile::A2a3);
    assert_eq!(d.rule, "capacity");
    assert!(
        d.message.contains("4 tiles") && d.message.contains("262144 bytes") && d.message.contains("196608 bytes"),
        "{}",
        d.message
    );
    let at = b.func.op(last.expect("there are four")).span;
    assert_eq!(d.span, Some(at));
    assert_eq!(d.notes.iter().filter(|n| n.contains("65536 bytes")).count(), 4);
    assert_eq!(d.secondary.len(), 4);
    assert!(plan(&b.module, &b.func, Profile::Cpu, &[]).is_ok(), "cpu has no capacity");
    let d = refused(&b, Profile::A5);
    assert!(d.message.contains("253952 bytes"), "the last 8 Ki are the runtime's: {}", d.message);
}

#[test]
fn fragments_are_no_overflow() {
    // Smallest holes first would leave two gaps that no large tile fits into.
    let mut b = Builder::new();
    let unit = 196_608 / 32 / 8;
    let sizes: Vec<_> = (1..=8).map(|n| b.tile(Loc::Vec, n * unit)).collect();
    let small: Vec<ValueId> = (0..8).map(|_| b.alloc(sizes[0])).collect();
    small.iter().for_each(|v| {
        b.print(*v);
    });
    // Every other one dies: the living four leave four holes, and half of the memory.
    for v in small.iter().step_by(2) {
        b.print(*v);
    }
    let big = b.alloc(sizes[3]);
    b.print(big);
    for v in small.iter().skip(1).step_by(2) {
        b.print(*v);
    }
    let p = placed(&b, Profile::A2a3, &[]);
    assert_eq!(p.high_water[Loc::Vec as usize], 196_608);
    assert_eq!(p.peak[Loc::Vec as usize].bytes, 196_608);
}

#[test]
fn the_checker_refuses_broken_placements() {
    let mut b = Builder::new();
    let t = b.tile(Loc::Vec, 4);
    let m = b.alloc_at(t, 1024);
    let (x, y) = (b.alloc(t), b.alloc(t));
    b.print(m);
    b.mov(x, y);
    let mut args = Vec::new();
    b.for_loop(&[x], |b, a| {
        args = a.to_vec();
        vec![b.moved(a[0], t)]
    });
    b.print(y);
    let good = placed(&b, Profile::A5, &[]);
    let broken = |change: &dyn Fn(&mut Placement)| {
        let mut p = good.clone();
        change(&mut p);
        validate(&b.module, &b.func, Profile::A5, &p, &[]).expect_err("it is broken")
    };
    let at = |v: ValueId, addr: u64| {
        move |p: &mut Placement| {
            p.tiles[v.index()].iter_mut().for_each(|s| s.addr = addr);
            p.high_water = [1 << 20; 9];
        }
    };
    let y_at = slot(&good, y).addr;
    assert!(broken(&at(x, y_at)).contains("alive together"));
    assert!(broken(&at(x, y_at + 32)).contains("alive together"));
    assert!(broken(&at(x, 4100)).contains("not aligned"));
    assert!(broken(&at(x, 1056)).contains("manual tile"));
    assert!(broken(&at(x, 248 * 1024)).contains("past the end"));
    assert!(broken(&|p| p.tiles[x.index()] = None).contains("no storage"));
    assert!(broken(&|p| p.tiles[args[0].index()] = None).contains("overwritten"));
    assert!(broken(&|p| p.fresh.iter_mut().for_each(|f| f.clear())).contains("before it is marked"));
    assert!(broken(&|p| p.fresh.iter_mut().for_each(|f| f.push(y))).contains("holds contents"));
    assert!(broken(&|p| p.tiles[x.index()].iter_mut().for_each(|s| s.bytes = 32)).contains("needs 128 bytes"));
}

/// Loops in loops, each of which binds tiles from outside anew.
fn nest(b: &mut Builder, depth: usize, tiles: &[ValueId]) {
    let n = tiles.len();
    if depth == 0 {
        // Backwards, so that a storage moves on by one tile per round.
        tiles.windows(2).rev().for_each(|w| b.reshape(w[0], w[1]));
        return;
    }
    b.for_loop(&[tiles[depth % n], tiles[(depth + 1) % n]], |b, args| {
        nest(b, depth - 1, tiles);
        let ty = b.ty(args[1]);
        let made = b.moved(args[1], ty);
        b.reshape(tiles[depth % n], tiles[(depth * 7 + 1) % n]);
        vec![args[1], made]
    });
}

#[test]
fn nested_loops_that_bind_tiles_settle() {
    for depth in [1, 3, 8] {
        let mut b = Builder::new();
        let t = b.tile(Loc::Vec, 1);
        let tiles: Vec<ValueId> = (0..14).map(|_| b.alloc(t)).collect();
        tiles.iter().for_each(|v| {
            b.print(*v);
        });
        nest(&mut b, depth, &tiles);
        tiles.iter().for_each(|v| {
            b.print(*v);
        });
        let p = placed(&b, Profile::A5, &[]);
        assert!(tiles.iter().all(|v| p.slot(*v).is_some()));
    }
}

#[test]
fn a_tile_that_may_be_bound_to_a_hundred_others_keeps_them_all() {
    let mut b = Builder::new();
    let t = b.tile(Loc::Vec, 1);
    let d = b.alloc(t);
    b.print(d);
    for _ in 0..100 {
        let s = b.alloc(t);
        b.print(s);
        b.branch(
            &[],
            |b| {
                b.reshape(s, d);
                Vec::new()
            },
            |_| Vec::new(),
        );
    }
    b.print(d);
    let p = placed(&b, Profile::A5, &[]);
    assert_eq!(p.high_water[Loc::Vec as usize], 101 * 32);
}

#[test]
fn tiles_rotate_through_a_loop() {
    for count in [5, 60] {
        let mut b = Builder::new();
        let t = b.tile(Loc::Vec, 1);
        let tiles: Vec<ValueId> = (0..count).map(|_| b.alloc(t)).collect();
        let mut args = Vec::new();
        let results = b.for_loop(&tiles, |b, a| {
            b.print(a[0]);
            args = a.to_vec();
            a.iter().cycle().skip(1).take(count).copied().collect()
        });
        b.print(results[0]);
        let p = placed(&b, Profile::A5, &[]);
        let buffers = args.iter().filter(|a| p.slot(**a).is_some()).count();
        assert_eq!(buffers > 0, count > 32, "few tiles go by reference, many through buffers");
    }
}

/// Two products with operands of their own, which are all alive together.
fn products(at: Option<i64>) -> (Builder, [ValueId; 2], [ValueId; 2]) {
    let mut b = Builder::new();
    let left = b.typed(Loc::Left, Elem::F8e4m3, 16, 64);
    let left_scale = b.typed(Loc::ScaleLeft, Elem::F8e8m0, 16, 2);
    let right = b.typed(Loc::Right, Elem::F8e4m3, 64, 32);
    let right_scale = b.typed(Loc::ScaleRight, Elem::F8e8m0, 2, 32);
    let acc = b.typed(Loc::Acc, Elem::F32, 16, 32);
    let first = match at {
        Some(addr) => b.alloc_at(left, addr),
        None => b.alloc(left),
    };
    let (second, s1, s2) = (b.alloc(left), b.alloc(left_scale), b.alloc(left_scale));
    let (r, rs, c) = (b.alloc(right), b.alloc(right_scale), b.alloc(acc));
    for tile in [first, second, s1, s2, r, rs] {
        b.print(tile);
    }
    b.product([first, s1], [r, rs], c);
    b.product([second, s2], [r, rs], c);
    b.product([first, s1], [r, rs], c);
    (b, [first, second], [s1, s2])
}

#[test]
fn scales_lie_at_a_sixteenth_of_their_operands_address() {
    let (b, operands, scales) = products(None);
    let p = placed(&b, Profile::A5, &[]);
    assert!(!overlap(&p, operands[0], operands[1]) && !overlap(&p, scales[0], scales[1]));
    for (operand, scale) in operands.into_iter().zip(scales) {
        assert_eq!(slot(&p, scale).addr, slot(&p, operand).addr >> 4);
        assert!(slot(&p, operand).addr.is_multiple_of(512), "so that its scales are aligned to 32 bytes");
    }
}

#[test]
fn scales_follow_an_operand_that_the_program_places() {
    let (b, operands, scales) = products(Some(0x800));
    let p = placed(&b, Profile::A5, &[]);
    assert_eq!(slot(&p, scales[0]).addr, 0x80);
    assert_eq!(slot(&p, scales[1]).addr, slot(&p, operands[1]).addr >> 4);
    let (second, first) = (slot(&p, operands[1]), 0x800..0x800 + 1024);
    assert!(second.limit() <= first.start || second.addr >= first.end);
}

#[test]
fn one_scale_of_two_operands_that_are_alive_together_is_left_to_the_rule() {
    let mut b = Builder::new();
    let left = b.typed(Loc::Left, Elem::F8e4m3, 16, 64);
    let scale = b.typed(Loc::ScaleLeft, Elem::F8e8m0, 16, 2);
    let right = b.typed(Loc::Right, Elem::F8e4m3, 64, 32);
    let right_scale = b.typed(Loc::ScaleRight, Elem::F8e8m0, 2, 32);
    let acc = b.typed(Loc::Acc, Elem::F32, 16, 32);
    let (x, y, s) = (b.alloc(left), b.alloc(left), b.alloc(scale));
    let (r, rs, c) = (b.alloc(right), b.alloc(right_scale), b.alloc(acc));
    for tile in [x, y, s, r, rs] {
        b.print(tile);
    }
    b.product([x, s], [r, rs], c);
    b.product([y, s], [r, rs], c);
    b.product([x, s], [r, rs], c);
    let p = placed(&b, Profile::A5, &[]);
    assert!(!overlap(&p, x, y), "both are alive");
    let beside = [x, y].into_iter().filter(|v| slot(&p, *v).addr >> 4 == slot(&p, s).addr).count();
    assert!(beside <= 1);
}
