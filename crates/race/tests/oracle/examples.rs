//! The worked examples of sync.md 6, on every profile.

use super::program::{Block, Id, Pick, Stmt, id, text, turn};
use super::{compare, findings, redundant, report};
use tessera_isa::ops::Pipe::{Mte2, Mte3, V};
use tessera_isa::profile::Profile;
use tessera_race::Verdict;

const A: usize = 0;
const B: usize = 2;
const C: usize = 4;
const D: usize = 6;

fn load(t: usize) -> Stmt {
    Stmt::Load(Pick::one(t), Block::Fixed(t as i64))
}

fn add(c: usize, a: usize, b: usize) -> Stmt {
    Stmt::Add(Pick::one(c), Pick::one(a), Pick::one(b))
}

fn store(t: usize) -> Stmt {
    Stmt::Store(Pick::one(t), Block::Fixed(100 + t as i64))
}

fn set(a: tessera_isa::ops::Pipe, b: tessera_isa::ops::Pipe, n: i64) -> Stmt {
    Stmt::Set(a, b, id(n))
}

fn wait(a: tessera_isa::ops::Pipe, b: tessera_isa::ops::Pipe, n: i64) -> Stmt {
    Stmt::Wait(a, b, id(n))
}

/// The rules that are broken, in order, after model and checker agreed.
fn rules(program: &[Stmt], profile: Profile) -> Vec<String> {
    compare(program, 8, 0, profile, 9);
    let t = text(program, 8, 0);
    findings(&report(&t.text, profile), &t.text).into_iter().map(|(rule, ..)| rule).collect()
}

#[test]
fn one_and_two() {
    let all = |with: bool| {
        let mut p = vec![load(A), load(B), set(Mte2, V, 0), wait(Mte2, V, 0), add(C, A, B)];
        if with {
            p.extend([set(V, Mte3, 0), wait(V, Mte3, 0)]);
        }
        p.push(store(C));
        p
    };
    for profile in Profile::ALL {
        assert_eq!(compare(&all(true), 8, 0, profile, 0), Verdict::RaceFree);
        assert_eq!(rules(&all(false), profile), ["race-raw"]);
    }
}

#[test]
fn three_a_loop_without_a_way_back() {
    let body = vec![
        load(A),
        set(Mte2, V, 0),
        wait(Mte2, V, 0),
        add(C, A, A),
        set(V, Mte3, 0),
        wait(V, Mte3, 0),
        Stmt::Store(Pick::one(C), Block::Moving(100, 1)),
    ];
    for profile in Profile::ALL {
        for count in [Some(4), None] {
            assert_eq!(rules(&[Stmt::For(count, body.clone())], profile), ["race-war", "race-war"]);
        }
    }
}

/// Example 4, with flags by `flag`, with and without what stands before and after the loop.
fn ping_pong(flag: Id, before: bool, after: bool) -> Vec<Stmt> {
    let (a, c) = (Pick { of: vec![0, 2] }, Pick { of: vec![4, 6] });
    let ends = |set: bool| {
        let one = |a, b, n| {
            let n = if flag.of == 1 { 0 } else { n };
            if set { Stmt::Set(a, b, id(n)) } else { Stmt::Wait(a, b, id(n)) }
        };
        [one(V, Mte2, 0), one(V, Mte2, 1), one(Mte3, V, 0), one(Mte3, V, 1)]
    };
    let body = vec![
        Stmt::Wait(V, Mte2, flag),
        Stmt::Load(a.clone(), Block::Fixed(0)),
        Stmt::Set(Mte2, V, flag),
        Stmt::Wait(Mte2, V, flag),
        Stmt::Wait(Mte3, V, flag),
        Stmt::Add(c.clone(), a.clone(), a),
        Stmt::Set(V, Mte2, flag),
        Stmt::Set(V, Mte3, flag),
        Stmt::Wait(V, Mte3, flag),
        Stmt::Store(c, Block::Moving(100, 1)),
        Stmt::Set(Mte3, V, flag),
    ];
    let mut all = Vec::new();
    all.extend(ends(true).into_iter().filter(|_| before));
    all.push(Stmt::For(None, body));
    all.extend(ends(false).into_iter().filter(|_| after));
    all
}

#[test]
fn four_to_six_ping_pong() {
    for profile in Profile::ALL {
        assert_eq!(compare(&ping_pong(turn(2), true, true), 8, 0, profile, 12), Verdict::RaceFree);
        assert_eq!(rules(&ping_pong(turn(2), false, true), profile), ["flag-unmatched-wait"; 2]);
        let hardware = profile != Profile::Cpu;
        let leaks: &[&str] = if hardware { &["flag-leak"; 4] } else { &[] };
        let found = rules(&ping_pong(turn(2), true, false), profile);
        assert_eq!(found, leaks, "{profile}");
        let again: &[&str] = if hardware { &["flag-overwrite"; 2] } else { &[] };
        assert_eq!(rules(&ping_pong(id(0), true, true), profile), again);
    }
}

#[test]
fn seven_barriers() {
    let all = |bar: bool| {
        let mut p = vec![load(A), set(Mte2, V, 0), wait(Mte2, V, 0), add(C, A, A)];
        if bar {
            p.push(Stmt::Bar(Some(V)));
        }
        p.extend([add(D, C, C), Stmt::Bar(None), store(D)]);
        p
    };
    for profile in Profile::ALL {
        let races: &[&str] = if profile == Profile::A2a3 { &["race-raw"] } else { &[] };
        assert_eq!(rules(&all(false), profile), races);
        assert_eq!(compare(&all(true), 8, 0, profile, 0), Verdict::RaceFree);
        let t = text(&all(true), 8, 0);
        let warned: Vec<_> = report(&t.text, profile).diagnostics.iter().map(|d| d.rule).collect();
        let useless: &[&str] = if profile == Profile::A5 { &["barrier-useless"] } else { &[] };
        assert_eq!(warned, useless);
    }
}

#[test]
fn eight_global_memory() {
    let g = Block::Fixed(7);
    let program = [Stmt::Bar(None), Stmt::Store(Pick::one(C), g), Stmt::Load(Pick::one(A), g), Stmt::Bar(None)];
    for profile in Profile::ALL {
        assert_eq!(rules(&program, profile), ["race-raw"]);
    }
}

#[test]
fn what_orders_nothing_is_found_on_request() {
    // Either flag of the loads is enough, and the barrier is for nothing.
    let needed =
        [load(A), set(Mte2, V, 0), wait(Mte2, V, 0), add(C, A, A), set(V, Mte3, 0), wait(V, Mte3, 0), store(C)];
    let mut more = needed.to_vec();
    more.splice(1..1, [set(Mte2, V, 1), wait(Mte2, V, 1)]);
    more.insert(6, Stmt::Bar(Some(Mte2)));
    for profile in Profile::ALL {
        assert_eq!(redundant(&text(&needed, 8, 0).text, profile), []);
        let t = text(&more, 8, 0);
        let lines: Vec<usize> = [1, 3, 6].map(|n| t.lines[n]).into();
        let found = redundant(&t.text, profile);
        assert!(found.iter().all(|(rule, _)| rule == "barrier-useless"), "{found:?}");
        assert_eq!(found.iter().map(|f| f.1).collect::<Vec<_>>(), lines, "{profile}");
    }
}

#[test]
fn events_are_recorded_and_waited_for() {
    let with = |record: &str, wait: &str| {
        let (mut lines, tile) = (text(&[], 0, 0).text, super::program::TILE);
        let at = lines.find("return").unwrap();
        let view = "!pto.tensor_view<16x16xf32>";
        lines.insert_str(at, &format!(
            "%v = pto.make_tensor_view %g, shape = [%c16, %c16], strides = [%c16, %c1] : {view}\n%a = pto.alloc_tile : {tile}\n%c = pto.alloc_tile : {tile}\n\
             pto.tload ins(%v : {view}) outs(%a : {tile})\n{record}\n{wait}\npto.tadd ins(%a, %a : {tile}, {tile}) outs(%c : {tile})\n"
        ));
        lines
    };
    let record = "%e = pto.record_event[<TLOAD>, <TVEC>, <EVENT_ID0>] : !pto.event";
    for profile in Profile::ALL {
        for wait in [
            "pto.tsync ins(%e : !pto.event)",
            "pto.tsync %e : !pto.event",
            "pto.wait_event[<TLOAD>, <TVEC>, <EVENT_ID0>]",
        ] {
            let t = with(record, wait);
            assert_eq!(findings(&report(&t, profile), &t).len(), 0, "{profile} {wait}");
        }
        // The event is there, and nobody waits for it.
        let t = with(record, "pto.tsync");
        let rules: Vec<String> = findings(&report(&t, profile), &t).into_iter().map(|f| f.0).collect();
        let expected: &[&str] = if profile == Profile::Cpu { &["race-raw"] } else { &["flag-leak", "race-raw"] };
        assert_eq!(rules, expected, "{profile}");
    }
}
