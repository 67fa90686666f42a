//! When everything happens (sync.md 8, isa/cost.md 4): random programs with flags against a model that counts for itself,
//! and what a timeline tells besides.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

use std::collections::{HashMap, VecDeque};
use tessera::program::{Timeline, TimelineOptions};
use tessera::{Elem, ErrorKind, Missing, Profile, Program, costs};
use tessera_isa::cost::{Cost, Costs, Cube, PUBLISHED, figure};
use tessera_isa::ops::Pipe;
use tessera_isa::tile::Loc;
use tessera_race::timeline::{SliceKind, WaitReason};
use tessera_testkit::random::Random;

const TILE: &str = "!pto.tile_buf<vec, 16x64xf32>";
const VIEW: &str = "!pto.tensor_view<16x64xf32>";

/// A kernel around these lines, with tiles %a to %d, which lie side by side.
fn kernel(lines: &[String]) -> String {
    let mut text = String::from("func.func @k(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %n: index) {\n");
    for n in [0, 1, 16, 64] {
        text += &format!("  %c{n} = arith.constant {n} : index\n");
    }
    for (view, from) in [("v", "x"), ("w", "y")] {
        text += &format!(
            "  %{view} = pto.make_tensor_view %{from}, shape = [%c16, %c64], strides = [%c64, %c1] : {VIEW}\n"
        );
    }
    for tile in ["a", "b", "c", "d"] {
        text += &format!("  %{tile} = pto.alloc_tile : {TILE}\n");
    }
    lines.iter().for_each(|line| text += &format!("  {line}\n"));
    text + "  return\n}\n"
}

fn load(tile: &str) -> String {
    format!("pto.tload ins(%v : {VIEW}) outs(%{tile} : {TILE})")
}

fn add(to: &str, a: &str, b: &str) -> String {
    format!("pto.tadd ins(%{a}, %{b} : {TILE}, {TILE}) outs(%{to} : {TILE})")
}

fn exp(to: &str, from: &str) -> String {
    format!("pto.texp ins(%{from} : {TILE}) outs(%{to} : {TILE})")
}

fn store(tile: &str) -> String {
    format!("pto.tstore ins(%{tile} : {TILE}) outs(%w : {VIEW})")
}

fn flag(kind: &str, from: &str, to: &str, id: u64) -> String {
    format!("pto.{kind}_flag[<PIPE_{from}>, <PIPE_{to}>, <EVENT_ID{id}>]")
}

fn line_of(text: &str, profile: Profile, values: &[(&str, i64)]) -> Timeline {
    let kernel = Program::parse(text).unwrap().on(profile).kernel("k").unwrap();
    let values = values.iter().map(|(name, n)| (kernel.find(name).unwrap(), *n)).collect();
    kernel.timeline(&TimelineOptions { values, ..TimelineOptions::default() }).unwrap()
}

fn works(line: &Timeline) -> Vec<(Pipe, u64, u64)> {
    let slices = line.processes.iter().flat_map(|p| &p.slices);
    slices.filter(|s| s.is_work()).map(|s| (s.pipe, s.start, s.end)).collect()
}

const PIPES: [&str; 3] = ["MTE2", "V", "MTE3"];

/// A random program with flags, and what its pipes do by isa/cost.md 4: a pipe does one thing after the other, and what
/// comes after a wait starts after its set was reached.
fn random(random: &mut Random) -> (String, Vec<u64>) {
    let (mut lines, mut starts) = (Vec::new(), Vec::new());
    let mut ends: HashMap<&str, u64> = PIPES.iter().map(|p| (*p, 0)).collect();
    let mut tokens: HashMap<(&str, &str, u64), VecDeque<u64>> = HashMap::new();
    let tiles = ["a", "b", "c", "d"];
    for _ in 0..random.range(5, 40) {
        match random.below(8) {
            n @ 0..4 => {
                let [x, y, z] = [(); 3].map(|()| random.pick(&tiles));
                let (text, pipe, cycles) = match n {
                    0 => (load(x), "MTE2", 32),
                    1 => (add(x, y, z), "V", 335),
                    2 => (exp(x, y), "V", 341),
                    _ => (store(x), "MTE3", 1),
                };
                lines.push(text);
                let end = ends.get_mut(pipe).unwrap();
                starts.push(*end);
                *end += cycles;
            }
            4 | 5 => {
                let (from, to, id) = (random.pick(&PIPES), random.pick(&PIPES), random.below(8));
                if from != to {
                    lines.push(flag("set", from, to, id));
                    tokens.entry((from, to, id)).or_default().push_back(ends[from]);
                }
            }
            6 => {
                let mut open: Vec<_> = tokens.iter().filter(|(_, t)| !t.is_empty()).map(|(k, _)| *k).collect();
                open.sort_unstable();
                if !open.is_empty() {
                    let key = random.pick(&open);
                    let at = tokens.get_mut(&key).unwrap().pop_front().unwrap();
                    lines.push(flag("wait", key.0, key.1, key.2));
                    let end = ends.get_mut(key.1).unwrap();
                    *end = at.max(*end);
                }
            }
            _ if random.once_in(4) => {
                lines.push("pto.barrier <PIPE_ALL>".into());
                let all = *ends.values().max().unwrap();
                ends.values_mut().for_each(|end| *end = all);
            }
            _ => lines.push("pto.barrier <PIPE_V>".into()),
        }
    }
    // Something makes the process a manual one.
    lines.push("pto.barrier <PIPE_MTE2>".into());
    (kernel(&lines), starts)
}

#[test]
fn starts_are_those_of_a_model() {
    let mut numbers = Random(7);
    for _ in 0..300 {
        let (text, wanted) = random(&mut numbers);
        let line = line_of(&text, Profile::A2a3, &[]);
        let starts: Vec<u64> = works(&line).iter().map(|w| w.1).collect();
        assert_eq!(starts, wanted, "{text}");
        assert_eq!(line.total, works(&line).iter().map(|w| w.2).max().unwrap_or(0));
        // A pipe is idle, waits or works, never two at once.
        for pipe in Pipe::ALL {
            let slices = line.processes[0].slices.iter().filter(|s| s.pipe == *pipe);
            slices.fold(0, |end, slice| {
                assert!(slice.start >= end && slice.end >= slice.start, "{text}");
                slice.end
            });
        }
        // The critical path has no gaps.
        let path: Vec<_> = line.path.iter().map(|s| &line.processes[s.at.0].slices[s.at.1]).collect();
        assert!(path.windows(2).all(|w| w[0].end == w[1].start), "{text}");
        assert_eq!(path.first().map_or(0, |s| s.start), 0);
        assert_eq!(path.last().map_or(0, |s| s.end), line.total);
    }
}

#[test]
fn an_automatic_program_is_that_with_its_flags() {
    let loop_of = |body: &[String]| {
        let mut lines = vec!["scf.for %i = %c0 to %n step %c1 {".to_string()];
        lines.extend_from_slice(body);
        lines.push("}".into());
        kernel(&lines)
    };
    let straight = kernel(&[load("a"), load("b"), add("c", "a", "b"), exp("d", "c"), store("d")]);
    for text in [straight, loop_of(&[load("a"), add("c", "a", "a"), store("c")])] {
        for profile in [Profile::A2a3, Profile::A5] {
            let synced = Program::parse(&text).unwrap().on(profile).kernel("k").unwrap().synced().unwrap();
            let [auto, manual] = [&text, &synced.text].map(|text| line_of(text, profile, &[("n", 3)]));
            assert_eq!(works(&auto), works(&manual), "{}", synced.text);
            assert!(!auto.arrows.is_empty());
        }
    }
}

#[test]
fn waits_name_what_they_wait_for() {
    let flags = |a: &str, b: &str| [flag("set", a, b, 3), flag("wait", a, b, 3)];
    let [set, wait] = flags("MTE2", "V");
    let [set2, wait2] = flags("V", "MTE3");
    let lines = [load("a"), load("b"), set, wait, add("c", "a", "b"), set2, wait2, store("c")];
    let line = line_of(&kernel(&lines), Profile::A2a3, &[]);
    let waits: Vec<_> = line.processes[0].slices.iter().filter(|s| !s.is_work()).collect();
    let shown = |n: usize| (waits[n].pipe, waits[n].start, waits[n].end, waits[n].what.clone());
    assert_eq!(shown(0), (Pipe::V, 0, 64, SliceKind::Wait(WaitReason::Flag(Pipe::Mte2, Pipe::V, 3))));
    assert_eq!(shown(1), (Pipe::Mte3, 0, 399, SliceKind::Wait(WaitReason::Flag(Pipe::V, Pipe::Mte3, 3))));
    let path: Vec<String> = line.path.iter().map(|s| s.why.to_string()).collect();
    assert_eq!(path, ["start", "same pipe", "MTE2→V EVENT_ID3", "V→MTE3 EVENT_ID3"]);
    assert_eq!((line.total, line.unknown(), line.bound()), (400, 1, Some((0, Pipe::V, 335))));
    assert_eq!(line.arrows.len(), 2);
    // Two tiles are loaded, and all three are there while the sum is made.
    let used = &line.processes[0].memories[0];
    assert_eq!(
        (used.loc, used.used.as_slice()),
        (Loc::Vec, &[(0, 4096), (32, 8192), (64, 12288), (399, 4096), (400, 0)][..])
    );
}

#[test]
fn operands_meet_in_banks() {
    // b begins in a's group, 64 KiB further: another bank. d is one row off.
    let mut text = kernel(&[add("d", "a", "b"), "pto.barrier <PIPE_ALL>".into()]);
    for (tile, at) in [("a", 0), ("b", 65536), ("c", 4096), ("d", 8224)] {
        text =
            text.replace(&format!("%{tile} = pto.alloc_tile"), &format!("%{tile} = pto.alloc_tile addr = %at{tile}"));
        text = text.replacen("  %c0 =", &format!("  %at{tile} = arith.constant {at} : i64\n  %c0 ="), 1);
    }
    let line = line_of(&text, Profile::A2a3, &[]);
    let sides: Vec<_> = line.meetings.iter().map(|m| m.sides.map(|s| (s.address, s.bank(), s.group()))).collect();
    assert_eq!(sides, [[(0, 0, 0), (65536, 16, 0)]]);
    assert!(line_of(&text, Profile::A5, &[]).meetings.is_empty());
}

#[test]
fn what_is_not_known_is_said() {
    let text = kernel(&["scf.for %i = %c0 to %n step %c1 {".into(), load("a"), "}".into()]);
    let on = |profile| Program::parse(&text).unwrap().on(profile).kernel("k").unwrap();
    let error = on(Profile::A2a3).timeline(&TimelineOptions::default()).unwrap_err();
    assert_eq!((error.kind(), error.missing()), (ErrorKind::Undecided, Some(&Missing::Value("n".into()))));
    assert!(error.message().contains("how often this loop runs depends on %n"), "{error}");
    assert_eq!(line_of(&text, Profile::A2a3, &[("n", 5)]).total, 160);
    assert_eq!(line_of(&text, Profile::A2a3, &[("n", 0)]).total, 0);
    let error = on(Profile::Cpu).timeline(&TimelineOptions::default()).unwrap_err();
    assert!(error.message().contains("cpu has no costs"), "{error}");
    // Nothing sets the flag.
    let text = kernel(&[flag("wait", "MTE2", "V", 0), exp("a", "b")]);
    let kernel = Program::parse(&text).unwrap().on(Profile::A5).kernel("k").unwrap();
    let error = kernel.timeline(&TimelineOptions::default()).unwrap_err();
    assert_eq!(error.rule(), "flag-unmatched-wait");
}

/// All that costs say, for every type.
fn meant(costs: &Costs) -> Vec<String> {
    let mut all = vec![format!("{:?}", costs.transfers)];
    for elem in Elem::ALL {
        for Cost { on, ops, published, repeat_bytes, timing } in costs.vector.iter() {
            let cycles = [1, 2, 9].map(|n| timing.cycles(*elem, n));
            all.push(format!("{on} {ops:?} {published} {repeat_bytes} {elem} {cycles:?}"));
        }
        for Cube { on, ops, startup, fractal, k_bytes, per_fractal } in costs.cubes.iter() {
            let cycles = figure(per_fractal, *elem);
            all.push(format!("{on} {ops:?} {startup} {fractal:?} {k_bytes} {elem} {cycles:?}"));
        }
    }
    all
}

#[test]
fn costs_can_be_replaced() {
    let written = include_str!("../../../../docs/spec/isa/cost.toml");
    assert_eq!(meant(&costs::parse(written).unwrap()), meant(&PUBLISHED));
    let own = "[[vector]]\nprofile = \"a5\"\nops = [\"tadd\"]\nlatency = {f32 = 100, f = 3}\nper_repeat = 1\n";
    let options = TimelineOptions { costs: Some(costs::parse(own).unwrap()), ..TimelineOptions::default() };
    let text = kernel(&[add("c", "a", "b")]);
    let line = Program::parse(&text).unwrap().on(Profile::A5).kernel("k").unwrap().timeline(&options).unwrap();
    assert_eq!((line.total, line.unknown()), (115, 0));
    for (text, at, what) in [
        ("[[vector]]\nprofile = \"a6\"\n", "line 2, column 11:", "there is no profile 'a6'"),
        ("[[vector]]\nprofile = \"cpu\"\n", "line 2, column 11:", "cpu has no costs"),
        ("[[transfer]]\nprofile = \"a5\"\npath = \"gm->vek\"\n", "line 3, column 8:", "did you mean 'vec'"),
        ("[[cube]]\nprofile = \"a5\"\nops = [\"tmatmull\"]\n", "line 3,", "did you mean 'tmatmul'"),
        (&own.replace("100", "-1"), "line 4,", "invalid value"),
        (&own.replace("latency", "latenzy"), "line 4, column 1:", "unknown field `latenzy`"),
        (&own.replace("latency = {f32 = 100, f = 3}\n", ""), "line 1,", "latency, or startup"),
        ("[[transfer]]\nbytes_per_cycle = 0\n", "line 2,", "nonzero"),
        ("x = \n", "line 1, column", ""),
    ] {
        let error = costs::parse(text).unwrap_err();
        assert!(error.message().starts_with(at) && error.message().contains(what), "{text}: {error}");
    }
}
