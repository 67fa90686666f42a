//! Several ranks in one run (isa/comm.md): the examples of its section 10, and random programs against a model that
//! walks every interleaving.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::collections::BTreeSet;
use std::fmt::Write;
use tessera::Program;
use tessera::npy::Array;
use tessera::program::{Content, From, Inputs, Ranks, RanksOutcome};

/// Functions that put, notify, wait and load, and the head of the kernel.
const PRELUDE: &str = include_str!("ranks/prelude.pto");

/// A kernel with this body; a put adds, and a notification sets, where it is said.
fn kernel(body: &str, adds: bool, sets: bool) -> String {
    let atomic = if adds { "{atomicType = #pto<atomic_type atomic_add>}" } else { "" };
    let notify = if sets { "set" } else { "atomic_add" };
    format!("{}{body}  return\n}}\n", PRELUDE.replace("ATOMIC", atomic).replace("NOTIFY", notify))
}

fn put(q: &str) -> String {
    let types = "!pto.ptr<i64>, index, index, !pto.ptr<f32>, !pto.ptr<f32>";
    format!("  func.call @put(%ctx, %me, {q}, %x, %y) : ({types}) -> ()\n")
}

fn peek(q: &str) -> String {
    let types = "!pto.ptr<i64>, index, index, !pto.ptr<f32>, !pto.ptr<f32>";
    format!("  func.call @peek(%ctx, %me, {q}, %y, %z) : ({types}) -> ()\n")
}

fn notify(q: &str, word: &str, value: &str) -> String {
    let types = "!pto.ptr<i64>, index, index, !pto.ptr<i32>, index, i32";
    format!("  func.call @ntf(%ctx, %me, {q}, %f, {word}, {value}) : ({types}) -> ()\n")
}

fn wait(word: &str, value: &str) -> String {
    format!("  func.call @wt(%f, {word}, {value}) : (!pto.ptr<i32>, index, i32) -> ()\n")
}

fn load() -> String {
    "  func.call @load(%y, %z) : (!pto.ptr<f32>, !pto.ptr<f32>) -> ()\n".into()
}

/// A plain store of x into y.
fn store() -> String {
    "  func.call @load(%x, %y) : (!pto.ptr<f32>, !pto.ptr<f32>) -> ()\n".into()
}

fn first(then: &str, other: &str) -> String {
    format!("  scf.if %first {{\n{then}  }} else {{\n{other}  }}\n")
}

/// For every other rank.
fn others(body: &str) -> String {
    let own = "%own = arith.cmpi ne, %q, %me : index";
    format!("  scf.for %q = %c0 to %n step %c1 {{\n  {own}\n  scf.if %own {{\n{body}  }}\n  }}\n")
}

fn barrier(value: &str) -> String {
    others(&notify("%q", "%me", "%one")) + &others(&wait("%q", value))
}

/// Runs a kernel on ranks whose x is their number everywhere, and judges it.
fn run(text: &str, count: u32) -> (RanksOutcome, Vec<String>) {
    let kernel = Program::parse(text).unwrap().entry().unwrap();
    let mut ranks = Ranks::new(vec![kernel; count as usize]).unwrap();
    for rank in 0..count {
        let content = |name: &str, value: f32| Content {
            name: name.into(),
            label: name.into(),
            from: From::Array(Array::new(&[1, 64], &[value; 64]).unwrap()),
        };
        let contents = vec![content("x", rank as f32 + 1.0), content("y", 0.0)];
        ranks.bind(rank as usize, Inputs { contents, ..Inputs::default() }, 1).unwrap();
    }
    let (outcome, found) = ranks.execute_judged();
    let rules = found.iter().chain(&outcome.diagnostics).filter(|d| d.is_error()).map(|d| d.rule.to_string());
    let rules: BTreeSet<String> = rules.collect();
    (outcome, rules.into_iter().collect())
}

/// The first element of an argument of each rank.
fn firsts(outcome: &RanksOutcome, argument: usize) -> Vec<f32> {
    let first = |rank: &tessera::program::RankOutput| {
        // A buffer that nothing stored into is empty.
        rank.buffers[argument].bytes.first_chunk().map_or(0.0, |bytes| f32::from_le_bytes(*bytes))
    };
    outcome.ranks.iter().map(first).collect()
}

const Z: usize = 4;

#[test]
fn the_examples_of_the_page() {
    let ring = |middle: &str| put("%right") + middle + &load();
    let sum = |before: &str| {
        before.to_string() + &put("%c0") + &notify("%c0", "%c0", "%one") + &first(&(wait("%c0", "%n32") + &load()), "")
    };
    let scalar = |flush: &str, forget: &str| {
        let far = "%by = func.call @far(%ctx, %me, %c0) : (!pto.ptr<i64>, index, index) -> index";
        let stored = format!(
            "  %v = arith.constant 2.5 : f32\n  pto.store %v, %y[%c0] : !pto.ptr<f32>, f32\n{flush}{}",
            notify("%c1", "%c0", "%one")
        );
        let loaded = format!(
            "{}{forget}  {far}\n  %ry = pto.addptr %y, %by : !pto.ptr<f32> -> !pto.ptr<f32>\n  \
             %u = pto.load %ry[%c0] : !pto.ptr<f32> -> f32\n  pto.store %u, %z[%c0] : !pto.ptr<f32>, f32\n",
            wait("%c0", "%one")
        );
        first(&stored, &loaded)
    };
    let flush = "  pto.cmo.cacheinvalid %y single_cache_line : !pto.ptr<f32>\n  \
                 pto.fence.barrier_all #pto.fence_scope<gm>\n";
    let forget = "  pto.cmo.cacheinvalid all #pto.address_space<gm>\n";
    let step = notify("%right", "%c0", "%one") + &wait("%c0", "%one");
    let two = notify("%right", "%c0", "%one") + &wait("%c0", "%two");
    let twice = |value: &str| store() + &barrier("%one") + &put("%right") + &barrier(value) + &load();
    let (none, raw, waw): (&[&str], &[&str], &[&str]) = (&[], &["race-raw"], &["race-waw"]);
    type Example = (&'static str, String, bool, bool, u32, &'static [&'static str]);
    let examples: Vec<Example> = vec![
        ("1", ring(&step), false, false, 3, none),
        ("2", ring(""), false, false, 3, raw),
        ("3", ring(&two), false, false, 3, &["deadlock"]),
        ("4", twice("%two"), false, false, 3, none),
        ("5", twice("%one"), false, false, 3, raw),
        ("6", sum(""), true, false, 3, none),
        ("7", sum(&first(&store(), "")), true, false, 3, waw),
        ("8", scalar("", ""), false, false, 2, &["comm-unflushed"]),
        ("8, flushed", scalar(flush, forget), false, false, 2, none),
        ("9", first(&notify("%c0", "%c0", "%one"), &notify("%c0", "%c0", "%two")), false, true, 2, &["race-signal"]),
    ];
    for (name, body, adds, sets, count, wanted) in examples {
        let (outcome, found) = run(&kernel(&body, adds, sets), count);
        assert_eq!(found, wanted, "example {name}: {:?}", outcome.diagnostics);
        match name {
            "1" | "4" => assert_eq!(firsts(&outcome, Z), [3.0, 1.0, 2.0], "example {name}"),
            "6" => assert_eq!(firsts(&outcome, Z)[0], 6.0),
            "8, flushed" => assert_eq!(firsts(&outcome, Z)[1], 2.5),
            _ => {}
        }
    }
}

#[test]
fn a_deadlock_names_every_rank() {
    let body = put("%right") + &notify("%right", "%c0", "%one") + &wait("%c0", "%two") + &load();
    let (outcome, _) = run(&kernel(&body, false, false), 3);
    let message = &outcome.diagnostics[0].message;
    for rank in 0..3 {
        let who = format!("rank {rank} block 0: V0 waits in comm.twait at ");
        assert!(message.contains(&who), "{message}");
        let left = (rank + 2) % 3;
        let why = format!("f[0] of rank {rank} is 1, wants ge 2; notified once, by rank {left} at ");
        assert!(message.contains(&why), "{message}");
    }
}

/// An operation of a random program.
#[derive(Clone, Copy, Debug)]
enum Act {
    Put(usize),
    Peek(usize),
    Notify(usize, usize),
    Wait(usize, i32),
}

/// What every interleaving says: whether all end, whether two conflicting accesses can come next together, and what each
/// rank peeked last in one of them.
fn model(programs: &[Vec<Act>]) -> (bool, bool, Vec<f32>) {
    let count = programs.len();
    let may_go = |at: &[usize], rank: usize| match programs[rank].get(at[rank]) {
        Some(Act::Wait(word, least)) => {
            let told = (0..count).flat_map(|r| &programs[r][..at[r]]);
            let sum = told.filter(|act| matches!(act, Act::Notify(q, w) if *q == rank && w == word)).count();
            sum as i32 >= *least
        }
        other => other.is_some(),
    };
    let (mut seen, mut next) = (BTreeSet::new(), vec![vec![0; count]]);
    let (mut ends, mut races) = (true, false);
    while let Some(at) = next.pop() {
        if !seen.insert(at.clone()) {
            continue;
        }
        let ready: Vec<usize> = (0..count).filter(|r| may_go(&at, *r)).collect();
        if ready.is_empty() {
            ends &= (0..count).all(|r| at[r] == programs[r].len());
        }
        for a in &ready {
            for b in ready.iter().filter(|b| *b > a) {
                races |= match (programs[*a][at[*a]], programs[*b][at[*b]]) {
                    (Act::Put(x), Act::Put(y) | Act::Peek(y)) | (Act::Peek(x), Act::Put(y)) => x == y,
                    _ => false,
                };
            }
            let mut more = at.clone();
            more[*a] += 1;
            next.push(more);
        }
    }
    let (mut at, mut y, mut z) = (vec![0; count], vec![0.0; count], vec![0.0; count]);
    while let Some(rank) = (0..count).find(|r| may_go(&at, *r)) {
        match programs[rank][at[rank]] {
            Act::Put(q) => y[q] = rank as f32 + 1.0,
            Act::Peek(q) => z[rank] = y[q],
            _ => {}
        }
        at[rank] += 1;
    }
    (ends, races, z)
}

fn text(programs: &[Vec<Act>]) -> String {
    let mut body = String::new();
    let index = |n: usize| ["%c0", "%c1", "%c2"][n];
    let number = |n: i32| if n == 1 { "%one" } else { "%two" };
    for (rank, acts) in programs.iter().enumerate() {
        writeln!(body, "  %is{rank} = arith.cmpi eq, %me, {} : index\n  scf.if %is{rank} {{", index(rank)).unwrap();
        for act in acts {
            body += &match *act {
                Act::Put(q) => put(index(q)),
                Act::Peek(q) => peek(index(q)),
                Act::Notify(q, w) => notify(index(q), index(w), "%one"),
                Act::Wait(w, v) => wait(index(w), number(v)),
            };
        }
        body += "  }\n";
    }
    kernel(&body, false, false)
}

#[test]
fn random_programs_are_what_every_interleaving_says() {
    let mut state = 0x2545_F491_4F6C_DD1Du64;
    let mut random = |n: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 33) as usize % n
    };
    let mut counts = [0; 3];
    for _ in 0..300 {
        let count = 2 + random(2);
        let mut program = |_| {
            let act = |_| match random(7) {
                0 => Act::Put(random(count)),
                1 => Act::Peek(random(count)),
                2 => Act::Put(random(count)),
                3..=5 => Act::Notify(random(count), random(2)),
                _ => Act::Wait(random(2), 1 + i32::from(random(4) == 0)),
            };
            (0..5).map(act).collect::<Vec<Act>>()
        };
        let programs: Vec<Vec<Act>> = (0..count).map(&mut program).collect();
        let (ends, races, z) = model(&programs);
        let (outcome, found) = run(&text(&programs), count as u32);
        let told = |rule: &str| found.iter().any(|f| f.starts_with(rule));
        assert_eq!(told("deadlock"), !ends, "{programs:?}: {found:?}");
        if !ends {
            counts[0] += 1;
            continue;
        }
        assert_eq!(told("race-"), races, "{programs:?}: {found:?}");
        if races {
            counts[1] += 1;
            continue;
        }
        counts[2] += 1;
        let is_peeked = |acts: &Vec<Act>| acts.iter().any(|act| matches!(act, Act::Peek(_)));
        for (rank, got) in firsts(&outcome, Z).into_iter().enumerate().filter(|(r, _)| is_peeked(&programs[*r])) {
            assert_eq!(got, z[rank], "rank {rank} of {programs:?}");
        }
    }
    assert!(counts.iter().all(|n| *n >= 20), "{counts:?} programs hang, race and are fine");
}

/// Runs a text on ranks with these arrays and `me`, `n` as scalars, and judges it.
fn run_on(text: &str, count: u32, blocks: u32, give: impl Fn(u32) -> Inputs) -> (RanksOutcome, Vec<String>) {
    let kernel = Program::parse(text).unwrap().entry().unwrap();
    let mut ranks = Ranks::new(vec![kernel; count as usize]).unwrap();
    for rank in 0..count {
        ranks.bind(rank as usize, give(rank), blocks).map_err(|e| e.error).unwrap();
    }
    let (outcome, found) = ranks.execute_judged();
    let told: Vec<String> =
        found.iter().chain(&outcome.diagnostics).filter(|d| d.is_error()).map(|d| d.rule.into()).collect();
    (outcome, told)
}

/// Three members of 2x8; the root is rank 1, and starts the reduction with its own.
#[test]
fn collectives_are_plain_loops() {
    let text = include_str!("ranks/collectives.pto");
    let element = |rank: u32, i: u32| ((rank * 37 + i * 11) % 23) as f32 / 3.0 - 3.0;
    for (word, func) in [
        ("sum", (|a, b| a + b) as fn(f32, f32) -> f32),
        ("max", |a, b| if a > b { a } else { b }),
        ("min", |a, b| if a < b { a } else { b }),
    ] {
        let text = text.replace("ELEM", "f32").replace("SIZE", "4").replace("REDUCE", word);
        let (outcome, told) = run_on(&text, 3, 1, |rank| {
            let x: Vec<f32> = (0..16).map(|i| element(rank, i)).collect();
            let set = vec![("me32".to_string(), tessera::program::Setting::Rank)];
            Inputs { set, ..Inputs::default() }.array("x", Array::new(&[2, 8], &x).unwrap())
        });
        assert_eq!((told, outcome.diagnostics.len()), (Vec::new(), 0), "{:?}", outcome.diagnostics);
        let floats = |rank: usize, argument: usize| -> Vec<f32> {
            let bytes = &outcome.ranks[rank].buffers[argument].bytes;
            bytes.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect()
        };
        // ctx, x, y, z, s, b.
        let reduced: Vec<f32> = (0..16).map(|i| func(func(element(1, i), element(0, i)), element(2, i))).collect();
        assert_eq!(floats(1, 2), reduced, "{word}");
        let gathered: Vec<f32> = (0..3).flat_map(|rank| (0..16).map(move |i| element(rank, i))).collect();
        assert_eq!(floats(1, 3), gathered);
        for rank in 0..3 {
            // Dealt out from the last rank to the first.
            assert_eq!(floats(rank, 4), gathered[(2 - rank) * 16..][..16]);
            assert_eq!(floats(rank, 5), reduced);
        }
    }
}

#[test]
fn reductions_round_at_each_step() {
    let text =
        include_str!("ranks/collectives.pto").replace("ELEM", "f16").replace("SIZE", "2").replace("REDUCE", "sum");
    // 2048 + 1 is 2048 in f16, whichever comes first; 1 + 1 is 2, and 2048 + 2 is 2050.
    let values = [0x3C00u16, 0x6800, 0x3C00];
    let (outcome, told) = run_on(&text, 3, 1, |rank| {
        let bytes = [values[rank as usize]; 16].iter().flat_map(|v| v.to_le_bytes()).collect();
        let set = vec![("me32".to_string(), tessera::program::Setting::Rank)];
        Inputs { set, ..Inputs::default() }.array("x", Array::of_elem(tessera::Elem::F16, vec![2, 8], bytes))
    });
    assert_eq!(told, Vec::<String>::new());
    assert_eq!(outcome.ranks[1].buffers[2].bytes[..2], 0x6800u16.to_le_bytes());
}

#[test]
fn blocks_of_ranks_meet_and_share_memory() {
    let (ranks, blocks) = (3, 4);
    let sum = (1..=blocks).sum::<u32>() * ranks;
    let (outcome, told) = run_on(include_str!("ranks/blocks.pto"), ranks, blocks, |_| {
        let number =
            |n: u32| tessera::program::Setting::Value(tessera::Literal::Number(tessera::Number::Int(n.into())));
        let set = vec![
            ("me32".to_string(), tessera::program::Setting::Rank),
            ("n32".to_string(), tessera::program::Setting::Ranks),
            ("all".to_string(), number(sum)),
        ];
        Inputs { set, ..Inputs::default() }.array("w", Array::new(&[16], &[0i32; 16]).unwrap())
    });
    // The word is read as data while it is ordered by its own signals and the meeting.
    assert_eq!(told, Vec::<String>::new(), "{:?}", outcome.diagnostics);
    for rank in &outcome.ranks {
        let out: Vec<i32> = rank.buffers[2].bytes.as_chunks().0.iter().map(|b| i32::from_le_bytes(*b)).collect();
        assert_eq!(out, vec![sum as i32; blocks as usize]);
    }
}

#[test]
fn copies_run_on_until_their_wait() {
    let load = "pto.tload ins(%y2 : !pto.tensor_view<1x64xf32>) outs(%t : !tile)";
    let wait = "%done = pto.comm.wait_async_event(%e, %s : !pto.async_event, !pto.async_session) -> i1";
    for (early, late, wanted) in [(wait, load, vec![]), (load, wait, vec!["race-raw"])] {
        let text = include_str!("ranks/async.pto").replace("EARLY", early).replace("LATE", late);
        let (outcome, told) = run_on(&text, 1, 1, |_| {
            let bytes = Array::of_elem(tessera::Elem::I8, vec![64], vec![0; 64]);
            Inputs::default().array("x", Array::new(&[64], &[1.5f32; 64]).unwrap()).array("w", bytes)
        });
        assert_eq!(told, wanted, "{:?}", outcome.diagnostics);
    }
}

#[test]
fn sixty_four_ranks_run() {
    let text = include_str!("../../../../examples/ranks/all_gather.pto");
    let (outcome, told) =
        run_on(text, 64, 1, |rank| Inputs::default().array("x", Array::new(&[1, 64], &[rank as f32; 64]).unwrap()));
    assert_eq!(told, Vec::<String>::new());
    let want: Vec<u8> = (0..64 * 64u32).flat_map(|n| ((n / 64) as f32).to_le_bytes()).collect();
    assert!(outcome.ranks.iter().all(|rank| rank.buffers[2].bytes == want));
}
