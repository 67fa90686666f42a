//! Thousands of random programs: right ones, right ones with a flag dropped, swapped or renumbered, and plain noise.

use super::compare;
use super::program::{Block, Id, Pick, Stmt, id, text};
use tessera_isa::ops::Pipe::{self, Fix, M, Mte1, Mte2, Mte3, S, V};
use tessera_isa::profile::Profile;
use tessera_race::Verdict;
use tessera_testkit::random::Random;

const TILES: usize = 6;

fn pick(r: &mut Random, in_loop: bool) -> Pick {
    let len = if in_loop && r.once_in(3) { r.range(2, 3) } else { 1 };
    Pick { of: (0..len).map(|_| r.below(TILES as u64) as usize).collect() }
}

fn block(r: &mut Random, in_loop: bool) -> Block {
    match in_loop && r.once_in(2) {
        true => Block::Moving(r.below(4) as i64, r.below(3) as i64),
        false => Block::Fixed(r.below(4) as i64),
    }
}

fn flag_id(r: &mut Random, in_loop: bool) -> Id {
    let of = if in_loop && r.once_in(3) { r.range(2, 3) as i64 } else { 1 };
    let base = if r.once_in(60) { r.range(6, 9) as i64 } else { r.below(2) as i64 };
    Id { base, of, plus: r.below(of as u64) as i64 }
}

fn work(r: &mut Random, in_loop: bool) -> Stmt {
    match r.below(12) {
        0..3 => Stmt::Load(pick(r, in_loop), block(r, in_loop)),
        3..6 => Stmt::Add(pick(r, in_loop), pick(r, in_loop), pick(r, in_loop)),
        6..8 => Stmt::Store(pick(r, in_loop), block(r, in_loop)),
        8 => Stmt::LoadMat(r.below(2) as usize, block(r, in_loop)),
        9 => match r.below(3) {
            0 => Stmt::MoveLeft(r.below(2) as usize, r.below(2) as usize),
            1 => Stmt::MoveRight(r.below(2) as usize, r.below(2) as usize),
            _ => Stmt::Product(r.below(2) as usize, r.below(2) as usize, r.below(2) as usize),
        },
        10 => Stmt::StoreAcc(r.below(2) as usize, block(r, in_loop)),
        _ => match r.below(2) {
            0 => Stmt::ReadScalar(block(r, in_loop)),
            _ => Stmt::WriteScalar(block(r, in_loop)),
        },
    }
}

fn pipes(r: &mut Random) -> (Pipe, Pipe) {
    let usual =
        [(Mte2, V), (V, Mte3), (Mte3, V), (V, Mte2), (Mte3, Mte2), (Mte2, Mte1), (Mte1, M), (M, Fix), (V, S), (S, V)];
    let any = [S, V, M, Mte1, Mte2, Mte3, Fix];
    if r.once_in(8) { (r.pick(&any), r.pick(&any)) } else { r.pick(&usual) }
}

/// Statements without rhyme or reason.
fn noise(r: &mut Random, len: u64, depth: u32) -> Vec<Stmt> {
    let mut all = Vec::new();
    let in_loop = depth > 0;
    for _ in 0..len {
        match r.below(20) {
            0..10 => all.push(work(r, in_loop)),
            10..16 => {
                // A pair with something in between, both in the same block.
                let ((a, b), id) = (pipes(r), flag_id(r, in_loop));
                let between = r.below(3);
                all.push(Stmt::Set(a, b, id));
                all.extend((0..between).map(|_| work(r, in_loop)).collect::<Vec<_>>());
                all.push(Stmt::Wait(a, b, id));
            }
            16 => all.push(Stmt::Bar(if r.once_in(3) { None } else { Some(r.pick(&[V, Mte2, Mte3, S, M])) })),
            17 if depth < 2 => {
                let count = if depth == 0 && r.once_in(2) { None } else { Some(r.below(4)) };
                let len = r.range(2, 5);
                all.push(Stmt::For(count, noise(r, len, depth + 1)));
            }
            18 if depth < 2 => {
                let (yes, no) = (r.range(0, 3), r.range(0, 2));
                let condition = r.below(2) as usize;
                let (yes, no) = (noise(r, yes, depth.max(2)), noise(r, no, depth.max(2)));
                all.push(Stmt::If(condition, yes, no));
            }
            _ => {
                let (pipe, id) = (r.pick(&[V, Mte2, Mte3]), r.below(2) as u32);
                all.push(Stmt::Get(pipe, id));
                all.push(work(r, in_loop));
                all.push(Stmt::Rls(pipe, id));
            }
        }
    }
    all
}

/// A loop of load, add and store through `m` buffers, right for any number of iterations.
fn pipeline(r: &mut Random) -> Vec<Stmt> {
    let m = r.range(1, 2) as usize;
    let (a, c) = (Pick { of: (0..m).map(|n| 2 * n).collect() }, Pick { of: (0..m).map(|n| 5 + 2 * n).collect() });
    let turn = Id { base: 0, of: m as i64, plus: 0 };
    let count = if r.once_in(2) { None } else { Some(r.below(5)) };
    let ends = |set: bool| {
        let mut all = Vec::new();
        for n in 0..m as i64 {
            for (x, y) in [(V, Mte2), (Mte3, V)] {
                all.push(if set { Stmt::Set(x, y, id(n)) } else { Stmt::Wait(x, y, id(n)) });
            }
        }
        all
    };
    let body = vec![
        Stmt::Wait(V, Mte2, turn),
        Stmt::Load(a.clone(), Block::Moving(0, 1)),
        Stmt::Set(Mte2, V, turn),
        Stmt::Wait(Mte2, V, turn),
        Stmt::Wait(Mte3, V, turn),
        Stmt::Add(c.clone(), a.clone(), a),
        Stmt::Set(V, Mte2, turn),
        Stmt::Set(V, Mte3, turn),
        Stmt::Wait(V, Mte3, turn),
        Stmt::Store(c, Block::Moving(-5, -1)),
        Stmt::Set(Mte3, V, turn),
    ];
    let mut all = ends(true);
    all.push(Stmt::For(count, body));
    all.extend(ends(false));
    all
}

/// The cube core's way: two moves, a product, a store.
fn product() -> Vec<Stmt> {
    vec![
        Stmt::LoadMat(0, Block::Fixed(0)),
        Stmt::LoadMat(1, Block::Fixed(1)),
        Stmt::Set(Mte2, Mte1, id(0)),
        Stmt::Wait(Mte2, Mte1, id(0)),
        Stmt::MoveLeft(0, 0),
        Stmt::MoveRight(0, 1),
        Stmt::Set(Mte1, M, id(0)),
        Stmt::Wait(Mte1, M, id(0)),
        Stmt::Product(0, 0, 0),
        Stmt::Product(0, 0, 0),
        Stmt::Set(M, Fix, id(0)),
        Stmt::Wait(M, Fix, id(0)),
        Stmt::StoreAcc(0, Block::Fixed(2)),
    ]
}

/// The lists of statements of a program: the whole, and the bodies of its loops.
fn lists(program: &mut Vec<Stmt>, n: &mut u64, with: &mut dyn FnMut(&mut Vec<Stmt>)) {
    if *n == 0 {
        with(program);
    }
    *n = n.wrapping_sub(1);
    for stmt in program.iter_mut() {
        if let Stmt::For(_, body) = stmt {
            lists(body, n, with);
        }
    }
}

/// Breaks a program a little: an order operation is dropped, swapped with its neighbour, or has another id.
fn mutate(r: &mut Random, program: &mut Vec<Stmt>) {
    let (mut list, at, what) = (r.below(2), r.next() as usize, r.below(4));
    let number = r.below(3) as i64;
    lists(program, &mut list, &mut |all| {
        let is_order = |s: &Stmt| matches!(s, Stmt::Set(..) | Stmt::Wait(..));
        let places: Vec<usize> = (0..all.len()).filter(|n| is_order(&all[*n])).collect();
        if places.is_empty() {
            return;
        }
        let n = places[at % places.len()];
        match what {
            0 => drop(all.remove(n)),
            1 if n + 1 < all.len() => all.swap(n, n + 1),
            2 => {
                if let Stmt::Set(_, _, id) | Stmt::Wait(_, _, id) = &mut all[n] {
                    id.base = number;
                }
            }
            _ => {
                if let Stmt::Set(a, b, _) | Stmt::Wait(a, b, _) = &mut all[n] {
                    std::mem::swap(a, b);
                }
            }
        }
    });
}

/// How many programs are tried: a few, or as many as `TESSERA_SYNC_PROGRAMS` says.
pub fn count(few: u64) -> u64 {
    std::env::var("TESSERA_SYNC_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(few)
}

fn many(seed: u64, few: u64, make: impl Fn(&mut Random) -> Vec<Stmt>) {
    let mut r = Random(seed);
    let mut verdicts = [0; 3];
    for _ in 0..count(few) {
        let program = make(&mut r);
        for profile in Profile::ALL {
            verdicts[compare(&program, 10, 2, profile, 13) as usize] += 1;
        }
    }
    assert!(verdicts[Verdict::RaceFree as usize] + verdicts[Verdict::Races as usize] > 0, "{verdicts:?}");
}

#[test]
fn right_programs_and_broken_ones() {
    many(1, 60, |r| {
        let mut program = if r.once_in(4) { product() } else { pipeline(r) };
        for _ in 0..r.below(3) {
            mutate(r, &mut program);
        }
        program
    });
}

#[test]
fn noise_in_straight_lines_loops_and_branches() {
    many(2, 120, |r| {
        let len = r.range(2, 7);
        noise(r, len, 0)
    });
}

/// A loop that does not ask for its counter is tried out for a few iterations only: it is judged as if it asked.
#[test]
fn counters_that_nobody_needs() {
    let mut r = Random(21);
    for _ in 0..count(60) {
        let len = r.range(2, 6);
        let body = noise(&mut r, len, 2);
        let program = [Stmt::For(None, if r.once_in(3) { vec![Stmt::Inner(body)] } else { body })];
        let text = text(&program, 10, 2).text;
        let asks = |line: &str| match line.strip_prefix("scf.for ").and_then(|rest| rest.split_once(' ')) {
            Some((counter, _)) => format!("{line} %asked{} = arith.addi {counter}, %c0 : index\n", &counter[1..]),
            None => format!("{line}\n"),
        };
        let asking: String = text.lines().map(asks).collect();
        assert_ne!(text, asking);
        for profile in Profile::ALL {
            let [one, other] = [&text, &asking].map(|text| (super::report(text, profile), text));
            assert_eq!(one.0.verdict, other.0.verdict, "{profile}\n{text}");
            assert_eq!(super::findings(&one.0, one.1), super::findings(&other.0, other.1), "{profile}\n{text}");
        }
    }
}

#[test]
fn loops_in_loops() {
    let mut r = Random(5);
    for _ in 0..count(12) {
        let (n, m) = (r.range(1, 3), r.range(0, 2));
        let mut body = noise(&mut r, n, 2);
        let len = r.range(1, 3);
        let inner = noise(&mut r, len, 2);
        body.push(if r.once_in(3) { Stmt::While(inner) } else { Stmt::Inner(inner) });
        body.extend(noise(&mut r, m, 2));
        let program = [Stmt::For(if r.once_in(3) { Some(2) } else { None }, body)];
        for profile in Profile::ALL {
            compare(&program, 10, 0, profile, 8);
        }
    }
}

/// Loops one after the other and in each other, whose accesses of global memory meet only after some iterations.
#[test]
fn meetings_in_global_memory() {
    let mut r = Random(11);
    let away = |r: &mut Random| Block::Moving(r.range(0, 7) as i64, r.below(3) as i64);
    let one = |r: &mut Random| match r.below(4) {
        0 => Stmt::Load(Pick::one(0), away(r)),
        1 => Stmt::StoreAcc(0, away(r)),
        2 => Stmt::ReadScalar(away(r)),
        _ => Stmt::Store(Pick::one(8), away(r)),
    };
    for _ in 0..count(12) {
        let flag = r.pick(&[(Mte3, Mte2), (Fix, Mte3), (Mte2, Mte3)]);
        let mut body = vec![one(&mut r)];
        if r.once_in(2) {
            body.extend([Stmt::Set(flag.0, flag.1, id(0)), Stmt::Wait(flag.0, flag.1, id(0))]);
        }
        body.push(one(&mut r));
        let other = vec![one(&mut r)];
        let program = match r.below(3) {
            0 => vec![Stmt::For(None, body), Stmt::Inner(other)],
            1 => vec![Stmt::For(None, body.into_iter().chain([Stmt::Inner(other)]).collect())],
            _ => vec![Stmt::For(None, body), Stmt::Bar(None), Stmt::While(other)],
        };
        for profile in Profile::ALL {
            compare(&program, 10, 0, profile, 10);
        }
    }
}
