//! Kernels on several cores: right ones, broken ones, and noise.

use super::mixed::{At, Kernel, Stmt, Text, compare};
use std::collections::BTreeSet;
use tessera_ir::Func;
use tessera_ir::inline::inline;
use tessera_isa::ops::Pipe::{self, Fix, M, Mte1, Mte2, Mte3, V};
use tessera_isa::profile::Profile;
use tessera_race::{Limits, Mode, Options, Verdict, check, insert};
use tessera_testkit::random::Random;

fn at(first: i64, step: i64, sub: i64) -> At {
    At { first, step, sub }
}

/// Product after product goes to the vector cores, which store them; `flags` are there where the cores order themselves.
fn down(count: Option<u64>, flags: [bool; 2], split: u8) -> Kernel {
    let flag = |on: bool, a: Pipe, b: Pipe| {
        let all = [Stmt::Set(a, b, 0), Stmt::Wait(a, b, 0)];
        all.into_iter().filter(move |_| on)
    };
    let [c, v] = flags;
    let mut cube = vec![Stmt::Product(0, 0)];
    cube.extend(flag(c, M, Fix));
    cube.push(Stmt::PushAcc(0));
    cube.extend(flag(c, Fix, M));
    let mut vector = vec![Stmt::PopHalf];
    vector.extend(flag(v, Mte2, V));
    vector.push(Stmt::AddPopped(0));
    // On a2a3 the next pop loads into another slot, and slots come again only after two.
    vector.extend(flag(v, V, Mte2));
    vector.push(Stmt::FreeHalf);
    vector.extend(flag(v, V, Mte3));
    vector.push(Stmt::Store(0, at(100, 2, 1)));
    vector.extend(flag(v, Mte3, V));
    Kernel { cube: vec![Stmt::For(count, cube)], vector: vec![Stmt::For(count, vector)], slots: 2, split }
}

/// Halves go to the cube core, which multiplies and stores.
fn up(count: Option<u64>) -> Kernel {
    let vector = vec![Stmt::PushHalf(0)];
    let cube =
        vec![Stmt::PopMat, Stmt::MovePopped(0), Stmt::FreeMat, Stmt::Product(0, 0), Stmt::StoreAcc(0, at(0, 1, 0))];
    Kernel { cube: vec![Stmt::For(count, cube)], vector: vec![Stmt::For(count, vector)], slots: 2, split: 1 }
}

/// The cube core stores to global memory, tells the vector cores, and they load.
fn through_memory(id: i64) -> Kernel {
    let cube = vec![Stmt::StoreAcc(0, at(0, 0, 0)), Stmt::CoreSet(Fix, id, None), Stmt::CoreSet(Fix, id + 16, None)];
    let vector = vec![Stmt::CoreWait(Mte2, id), Stmt::Load(0, at(0, 0, 0)), Stmt::CoreSet(Mte2, 1, None)];
    let mut cube = cube;
    cube.extend([Stmt::CoreWait(Fix, 1), Stmt::CoreWait(Fix, 17), Stmt::StoreAcc(1, at(0, 0, 0))]);
    Kernel { cube, vector, slots: 2, split: 1 }
}

#[test]
fn fifos_are_followed() {
    for profile in Profile::ALL {
        for count in [Some(5), None] {
            for split in [0, 1] {
                assert_eq!(compare(&down(count, [false; 2], split), profile, 10), Verdict::RaceFree);
                assert_eq!(compare(&down(count, [true; 2], split), profile, 10), Verdict::RaceFree);
            }
            assert_eq!(compare(&up(count), profile, 10), Verdict::RaceFree);
        }
        // Nobody frees, so the third push waits for ever.
        let mut kernel = down(Some(3), [false; 2], 1);
        if let Stmt::For(_, body) = &mut kernel.vector[0] {
            body.retain(|s| !matches!(s, Stmt::FreeHalf));
        }
        let verdict = if profile == Profile::A2a3 { Verdict::RaceFree } else { Verdict::Races };
        assert_eq!(compare(&kernel, profile, 0), verdict);
        // The popped tile is stored on another pipe than the one that popped it.
        let vector = vec![Stmt::PopHalf, Stmt::StorePopped(at(0, 0, 1)), Stmt::Bar(None), Stmt::FreeHalf];
        let kernel = Kernel { cube: vec![Stmt::PushAcc(0)], vector, slots: 2, split: 1 };
        assert_eq!(compare(&kernel, profile, 0), Verdict::Races);
    }
}

#[test]
fn tokens_order_global_memory() {
    for profile in [Profile::Cpu, Profile::A5] {
        let kernel = through_memory(0);
        assert_eq!(compare(&kernel, profile, 0), Verdict::RaceFree);
        for n in 0..kernel.cube.len() {
            let mut less = kernel.clone();
            less.cube.remove(n);
            compare(&less, profile, 0);
        }
        for n in 0..kernel.vector.len() {
            let mut less = kernel.clone();
            less.vector.remove(n);
            compare(&less, profile, 0);
        }
    }
}

#[test]
fn a_flag_may_close_a_circle_through_another_core() {
    for profile in Profile::ALL {
        let mut cube = vec![Stmt::Wait(Mte2, Fix, 0), Stmt::CoreSet(Fix, 0, None), Stmt::CoreWait(Mte2, 1)];
        if profile != Profile::A2a3 {
            cube.insert(2, Stmt::CoreSet(Fix, 16, None));
            cube.push(Stmt::CoreWait(Mte2, 17));
        }
        cube.push(Stmt::Set(Mte2, Fix, 0));
        let vector = vec![Stmt::CoreWait(V, 0), Stmt::CoreSet(V, 1, None)];
        assert_eq!(compare(&Kernel { cube, vector, slots: 2, split: 1 }, profile, 0), Verdict::Races);
    }
}

#[test]
fn counters_hold_fifteen() {
    for profile in Profile::ALL {
        for (count, verdict) in [(15, Verdict::RaceFree), (16, Verdict::Races)] {
            let mut sets = vec![Stmt::CoreSet(Fix, 0, None)];
            if profile != Profile::A2a3 {
                sets.push(Stmt::CoreSet(Fix, 16, None));
            }
            let cube = vec![Stmt::For(Some(count), sets)];
            let waits = vec![Stmt::CoreWait(V, 0)];
            let vector = vec![Stmt::For(Some(count), waits)];
            assert_eq!(compare(&Kernel { cube, vector, slots: 2, split: 1 }, profile, 0), verdict);
        }
    }
}

fn pipe(r: &mut Random, cube: bool) -> Pipe {
    if cube { r.pick(&[Mte2, Mte1, M, Fix]) } else { r.pick(&[Mte2, V, Mte3]) }
}

fn block(r: &mut Random) -> At {
    at(r.below(3) as i64, r.below(2) as i64, r.below(2) as i64)
}

fn noise(r: &mut Random, cube: bool, len: u64, manual: bool) -> Vec<Stmt> {
    let mut all = Vec::new();
    let tile = |r: &mut Random| r.below(2) as usize;
    for _ in 0..len {
        match r.below(10) {
            0..5 if cube => all.push(match r.below(5) {
                0 => Stmt::LoadMat(tile(r), At { sub: 0, ..block(r) }),
                1 => Stmt::MoveLeft(tile(r), tile(r)),
                2 => Stmt::Product(tile(r), tile(r)),
                _ => Stmt::StoreAcc(tile(r), At { sub: 0, ..block(r) }),
            }),
            0..5 => all.push(match r.below(3) {
                0 => Stmt::Load(tile(r), block(r)),
                1 => Stmt::Add(tile(r), tile(r)),
                _ => Stmt::Store(tile(r), block(r)),
            }),
            5 | 6 => {
                let id = r.below(2) as i64 + if cube && r.once_in(2) { 16 } else { 0 };
                let mode = r.once_in(6).then(|| r.below(3) as u8);
                all.push(match r.below(2) {
                    0 => Stmt::CoreSet(pipe(r, cube), id, mode),
                    _ => Stmt::CoreWait(pipe(r, cube), id),
                });
            }
            7 if manual => {
                let (a, b) = (pipe(r, cube), pipe(r, cube));
                if a != b {
                    all.extend([Stmt::Set(a, b, 0), Stmt::Wait(a, b, 0)]);
                }
            }
            8 if manual => all.push(Stmt::Bar(if r.once_in(3) { None } else { Some(pipe(r, cube)) })),
            _ => {}
        }
    }
    all
}

/// A right kernel with noise in it, or without something.
fn broken(r: &mut Random) -> Kernel {
    let count = if r.once_in(2) { None } else { Some(r.below(4)) };
    let flags = [r.once_in(2), r.once_in(2)];
    let mut kernel = match r.below(4) {
        0 => up(count),
        1 => through_memory(0),
        _ => down(count, flags, r.below(2) as u8),
    };
    for _ in 0..r.below(3) {
        let cube = r.once_in(2);
        let list = if cube { &mut kernel.cube } else { &mut kernel.vector };
        let list = match list.first_mut() {
            Some(Stmt::For(_, body)) if !r.once_in(4) => body,
            _ => list,
        };
        match (r.below(3), list.len()) {
            (_, 0) => {}
            // What uses a popped tile stays behind its pop.
            (0, len) => {
                let n = r.below(len as u64) as usize;
                if !matches!(list[n], Stmt::PopHalf | Stmt::PopMat) {
                    list.remove(n);
                }
            }
            (1, len) if len > 1 => {
                let n = r.below(len as u64 - 1) as usize;
                let pops = |s: &Stmt| matches!(s, Stmt::PopHalf | Stmt::PopMat);
                if !pops(&list[n]) && !pops(&list[n + 1]) {
                    list.swap(n, n + 1);
                }
            }
            (_, len) => {
                let n = r.below(len as u64 + 1) as usize;
                let manual = r.once_in(2);
                let some = noise(r, cube, 2, manual);
                list.splice(n..n, some);
            }
        }
    }
    kernel
}

#[test]
fn right_kernels_and_broken_ones() {
    let mut r = Random(3);
    for _ in 0..super::random::count(40) {
        let kernel = broken(&mut r);
        for profile in Profile::ALL {
            compare(&kernel, profile, 10);
        }
    }
}

#[test]
fn noise_on_three_cores() {
    let mut r = Random(4);
    for _ in 0..super::random::count(60) {
        let manual = [r.once_in(2), r.once_in(2)];
        let (c, v) = (r.range(1, 6), r.range(1, 6));
        let (cube, vector) = (noise(&mut r, true, c, manual[0]), noise(&mut r, false, v, manual[1]));
        let kernel = Kernel { cube, vector, slots: 2, split: 1 };
        for profile in Profile::ALL {
            compare(&kernel, profile, 0);
        }
    }
}

/// Inserts flags where the cores give each other enough tokens: enough of them, and not one too many; how many there are.
fn insert_into(text: &str, profile: Profile) -> Option<usize> {
    let parsed = tessera_asm::parse_bytes(text.as_bytes(), Some(profile));
    let errors: Vec<_> = parsed.diagnostics.iter().filter(|d| d.is_error()).collect();
    assert!(errors.is_empty(), "{errors:?}\n{text}");
    let mut module = parsed.module;
    let func = inline(&module, module.entry(None).unwrap()).unwrap().into_owned();
    let placement = tessera_plan::plan(&module, &func, profile, &[]).unwrap();
    let judged = |module: &tessera_ir::Module, func: &Func, mode: Mode| {
        let options = Options { mode: Some(mode), ..Options::default() };
        check(module, func, profile, &placement, text, &options)
    };
    let is_sound = judged(&module, &func, Mode::Auto).verdict == Verdict::RaceFree;
    let synced = insert(&mut module, &func, profile, &placement, Limits::default());
    if synced.between.is_some() || synced.serial.is_some() {
        assert!(!is_sound, "{profile}: {:?} {:?}\n{text}", synced.between, synced.serial);
        return None;
    }
    let printed = |func: &Func| {
        let mut module = module.clone();
        module.funcs[0] = func.clone();
        tessera_asm::print_module(&module)
    };
    assert!(is_sound);
    assert_eq!(super::report_of(&printed(&synced.func), profile, Some(Mode::Manual)).verdict, Verdict::RaceFree);
    let edges: BTreeSet<usize> = synced.table.iter().map(|s| s.edge).collect();
    for edge in &edges {
        let mut less = synced.func.clone();
        let out: BTreeSet<u32> = synced.table.iter().filter(|s| s.edge == *edge).map(|s| s.op.0).collect();
        less.blocks.iter_mut().for_each(|b| b.ops.retain(|op| !out.contains(&op.0)));
        let verdict = judged(&module, &less, Mode::Manual).verdict;
        assert_eq!(verdict, Verdict::Races, "{profile}: edge {edge} of\n{}", printed(&synced.func));
    }
    Some(edges.len())
}

#[test]
fn automatic_kernels_get_flags() {
    for profile in Profile::ALL {
        for count in [Some(3), None] {
            for split in [0, 1] {
                assert!(insert_into(&Text::new(&down(count, [false; 2], split)).text, profile).unwrap() > 0);
            }
            assert!(insert_into(&Text::new(&up(count)).text, profile).unwrap() > 0);
        }
        // The popped tile is stored on another pipe, and its slot freed only then.
        let vector = vec![Stmt::PopHalf, Stmt::StorePopped(at(0, 0, 1)), Stmt::FreeHalf];
        let kernel = Kernel { cube: vec![Stmt::PushAcc(0)], vector, slots: 2, split: 1 };
        insert_into(&Text::new(&kernel).text, profile).unwrap();
        // Nothing is inserted between cores.
        let (cube, vector) = (vec![Stmt::StoreAcc(0, at(0, 0, 0))], vec![Stmt::Load(0, at(0, 0, 0))]);
        assert_eq!(insert_into(&Text::new(&Kernel { cube, vector, slots: 2, split: 1 }).text, profile), None);
    }
    let mut r = Random(6);
    for _ in 0..super::random::count(20) {
        let mut kernel = broken(&mut r);
        let keeps = |s: &Stmt| !matches!(s, Stmt::Set(..) | Stmt::Wait(..) | Stmt::Bar(_));
        for list in [&mut kernel.cube, &mut kernel.vector] {
            list.retain(keeps);
            if let Some(Stmt::For(_, body)) = list.first_mut() {
                body.retain(keeps);
            }
        }
        for profile in Profile::ALL {
            insert_into(&Text::new(&kernel).text, profile);
        }
    }
}

/// A loop around both sections, which give each other tokens.
const AROUND: &str = "
func.func @k(%g: !pto.ptr<f32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %v = pto.make_tensor_view %g, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<16x16xf32>
  scf.for %i = %c0 to %n step %c1 {
    pto.section.cube {
      %m = pto.alloc_tile : !pto.tile_buf<loc=mat, f32, 16, 16>
      %l = pto.alloc_tile : !pto.tile_buf<loc=left, f32, 16, 16>
      pto.tload ins(%v : !pto.tensor_view<16x16xf32>) outs(%m : !pto.tile_buf<loc=mat, f32, 16, 16>)
      pto.tmov ins(%m : !pto.tile_buf<loc=mat, f32, 16, 16>) outs(%l : !pto.tile_buf<loc=left, f32, 16, 16>)
    }
    pto.section.vector {
      %a = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>
      %b = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>
      pto.tload ins(%v : !pto.tensor_view<16x16xf32>) outs(%a : !pto.tile_buf<vec, 16x16xf32>)
      pto.tadd ins(%a, %a : !pto.tile_buf<vec, 16x16xf32>, !pto.tile_buf<vec, 16x16xf32>) outs(%b : !pto.tile_buf<vec, 16x16xf32>)
    }
  }
  return
}
";

#[test]
fn flags_stand_in_sections_where_all_cores_run_the_loop() {
    for profile in Profile::ALL {
        // Each core needs a flag forward and one back.
        assert_eq!(insert_into(AROUND, profile), Some(4), "{profile}");
    }
}
