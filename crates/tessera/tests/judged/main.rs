//! Runs that are judged while they go on (sync.md 4): exactly for that run, and as the static form says it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod random;

use tessera::program::Bindings;
use tessera::{Diagnostic, Kernel, OrderMode, OrderOptions, Profile, Program, Verdict};
use tessera_interp::Input;
use tessera_isa::codec::Number;

const TILE: &str = "!pto.tile_buf<vec, 16x16xf32>";
const VIEW: &str = "!pto.tensor_view<16x16xf32>";

/// A kernel that loads into %a, adds into %c and stores %c; its body is given.
fn program(body: &str, profile: Profile) -> Kernel {
    let text = format!(
        "func.func @k(%g: !pto.ptr<f32>, %o: !pto.ptr<f32>, %p: !pto.ptr<i32>, %n: index) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %v = pto.make_tensor_view %g, shape = [%c16, %c16], strides = [%c16, %c1] : {VIEW}
  %w = pto.make_tensor_view %o, shape = [%c16, %c16], strides = [%c16, %c1] : {VIEW}
  %a = pto.alloc_tile : {TILE}
  %c = pto.alloc_tile : {TILE}
  {body}
  return
}}"
    );
    let body = [
        ("LOAD", format!("pto.tload ins(%v : {VIEW}) outs(%a : {TILE})")),
        ("ADD", format!("pto.tadd ins(%a, %a : {TILE}, {TILE}) outs(%c : {TILE})")),
        ("STORE", format!("pto.tstore ins(%c : {TILE}) outs(%w : {VIEW})")),
    ];
    let text = body.iter().fold(text, |text, (word, op)| text.replace(word, op));
    let program = Program::parse(&text).unwrap().on(profile);
    program.kernel("k").unwrap()
}

/// `set V MTE2 0` and the like.
fn flag(what: &str, from: &str, to: &str, id: u8) -> String {
    format!("pto.{what}_flag[<PIPE_{from}>, <PIPE_{to}>, <EVENT_ID{id}>]")
}

fn pair(from: &str, to: &str) -> String {
    format!("{}\n  {}", flag("set", from, to, 0), flag("wait", from, to, 0))
}

fn bound(kernel: &Kernel, integers: [i32; 2], n: i128) -> Bindings {
    let mut bindings = Bindings { order: Some(OrderMode::Manual), ..Bindings::default() };
    let floats = |name: &str| {
        let buffer = Input::Buffer { bytes: vec![0; 4 * 16 * 16], elem: tessera::Elem::F32, dims: vec![16, 16] };
        (kernel.find(name).unwrap(), buffer)
    };
    let bytes = integers.iter().flat_map(|n| n.to_le_bytes()).collect();
    let numbers = Input::Buffer { bytes, elem: tessera::Elem::I32, dims: vec![2] };
    bindings.inputs = vec![
        floats("g"),
        floats("o"),
        (kernel.find("p").unwrap(), numbers),
        (kernel.find("n").unwrap(), Input::Scalar(Number::Int(n))),
    ];
    bindings
}

fn judged(body: &str, profile: Profile, integers: [i32; 2], n: i128) -> (Verdict, Vec<Diagnostic>) {
    let kernel = program(body, profile);
    let (outcome, report) = kernel.execute_judged(bound(&kernel, integers, n));
    assert!(!outcome.failed(), "{:?}", outcome.diagnostics);
    let report = report.unwrap();
    (report.verdict, report.diagnostics)
}

fn verdict(body: &str, integers: [i32; 2], n: i128) -> Verdict {
    judged(body, Profile::A5, integers, n).0
}

/// A second load may come while the addition still reads.
fn once_more() -> String {
    format!("LOAD\n  {}\n  ADD", pair("MTE2", "V"))
}

#[test]
fn a_run_goes_its_own_way() {
    let body = once_more();
    let loaded = "%x = pto.load_scalar %p[%c1] : !pto.ptr<i32> -> i32\n  %m = arith.index_cast %x : i32 to index";
    let rounds = |upper: &str| format!("{loaded}\n  scf.for %i = %c0 to {upper} step %c1 {{\n  {body}\n  }}");
    let whiles = format!(
        "{loaded}\n  %last = scf.while (%k = %c0) : (index) -> index {{
    %more = arith.cmpi slt, %k, %m : index
    scf.condition(%more) %k : index
  }} do {{
  ^bb0(%i: index):
  {body}
    %next = arith.addi %i, %c1 : index
    scf.yield %next : index
  }}"
    );
    for body in [rounds("%m"), whiles] {
        assert_eq!(verdict(&body, [7, 0], 0), Verdict::RaceFree);
        assert_eq!(verdict(&body, [7, 1], 0), Verdict::RaceFree);
        assert_eq!(verdict(&body, [7, 2], 0), Verdict::Races);
    }
    assert_eq!(verdict(&rounds("%n"), [0, 0], 1), Verdict::RaceFree);
    assert_eq!(verdict(&rounds("%n"), [0, 0], 2), Verdict::Races);
    // A branch on what was computed: nobody but the run knows.
    let store = pair("V", "MTE3");
    let branch = format!(
        "LOAD\n  {}\n  ADD\n  {}\n  {}\n  %e = pto.tgetval ins(%c, %c0 : {TILE}, index) outs : f32
  %zero = arith.constant 0.0 : f32\n  %is = arith.cmpf oeq, %e, %zero : f32\n  scf.if %is {{\n  STORE\n  }} else {{\n  {store}\n  STORE\n  }}",
        pair("MTE2", "V"),
        flag("set", "V", "S", 0),
        flag("wait", "V", "S", 0)
    );
    let (found, _) = judged(&branch, Profile::A5, [0, 0], 0);
    // What S waited for is before everything later.
    assert_eq!(found, Verdict::RaceFree);
}

#[test]
fn ids_and_places_are_those_of_the_run() {
    let dynamic = "scf.for %i = %c0 to %n step %c1 {
    %m = arith.remui %i, %c2 : index
    LOAD
    pto.set_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %m]
    pto.wait_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %m]
    ADD
    pto.set_flag_dyn[<PIPE_V>, <PIPE_MTE2>, %m]
    pto.wait_flag_dyn[<PIPE_V>, <PIPE_MTE2>, %m]
  }";
    assert_eq!(verdict(dynamic, [0, 0], 50), Verdict::RaceFree);
    let (found, diagnostics) = judged(&dynamic.replace("remui %i, %c2", "addi %i, %c2"), Profile::A5, [0, 0], 50);
    assert_eq!(found, Verdict::Races);
    assert!(diagnostics.iter().all(|d| d.rule == "flag-id-range"), "{diagnostics:?}");
    assert!(diagnostics[0].message.contains("has id 8 in iteration 6"), "{}", diagnostics[0].message);
}

#[test]
fn a_long_run_needs_no_more_memory_than_a_short_one() {
    let (up, down) = (pair("MTE2", "V"), pair("V", "MTE2"));
    let body = format!("scf.for %i = %c0 to %n step %c1 {{\n  LOAD\n  {up}\n  ADD\n  {down}\n  }}");
    assert_eq!(verdict(&body, [0, 0], 100_000), Verdict::RaceFree);
    let racing = format!("scf.for %i = %c0 to %n step %c1 {{\n  LOAD\n  {up}\n  ADD\n  }}");
    let (found, diagnostics) = judged(&racing, Profile::A5, [0, 0], 100_000);
    assert_eq!(found, Verdict::Races);
    let rules: Vec<_> = diagnostics.iter().map(|d| d.rule).collect();
    assert_eq!(rules, ["race-war"], "one report for a pair of program points");
    assert!(diagnostics[0].message.contains("tadd of the iteration before"), "{}", diagnostics[0].message);
}

#[test]
fn a_wait_may_stand_before_its_set() {
    // The flag goes from V to MTE2, and nothing on V waits for MTE2.
    let early = format!("ADD\n  {}\n  LOAD\n  {}", flag("wait", "V", "MTE2", 0), flag("set", "V", "MTE2", 0));
    assert_eq!(verdict(&early, [0, 0], 0), Verdict::RaceFree);
    // Here the set waits for the wait.
    let circle = format!(
        "{}\n  LOAD\n  {}\n  ADD\n  {}",
        flag("wait", "V", "MTE2", 0),
        pair("MTE2", "V"),
        flag("set", "V", "MTE2", 0)
    );
    let (found, diagnostics) = judged(&circle, Profile::A5, [0, 0], 0);
    assert_eq!(found, Verdict::Races);
    assert_eq!(diagnostics[0].rule, "flag-unmatched-wait");
    assert!(diagnostics[0].message.contains("comes only after it"), "{}", diagnostics[0].message);
}

#[test]
fn a_plain_run_warns_of_flags() {
    let kernel = program(&flag("wait", "V", "MTE2", 0), Profile::A5);
    let outcome = kernel.execute(bound(&kernel, [0, 0], 0));
    assert!(!outcome.failed());
    let rules: Vec<_> = outcome.diagnostics.iter().map(|d| (d.rule, d.is_error())).collect();
    assert_eq!(rules, [("flag-unmatched-wait", false)]);
}

#[test]
fn the_same_is_found_before_and_during_a_run() {
    let mut races = 0;
    for (seed, profile) in (0..480).zip(Profile::ALL.iter().cycle()) {
        let body = random::body(seed);
        // In many turns a pair that was reported comes again and again.
        let body = match seed < 240 {
            true => body,
            false => format!("scf.for %again = %c0 to %c16 step %c1 {{\n  {body}\n  }}"),
        };
        let kernel = program(&body, *profile);
        let options = OrderOptions { mode: Some(OrderMode::Manual), ..OrderOptions::default() };
        // A run reports each race; only a report on all paths joins those of one cause.
        let placement =
            tessera_race::place(kernel.module(), kernel.func(), kernel.profile(), &[], options.mode).unwrap();
        let text = kernel.program().source();
        let before = tessera_race::check(kernel.module(), kernel.func(), kernel.profile(), &placement, text, &options);
        // Of flags that are wrong in some turns the two may tell another turn.
        if seed >= 240 && before.diagnostics.iter().any(|d| d.rule.starts_with("flag-")) {
            continue;
        }
        let (outcome, during) = kernel.execute_judged(bound(&kernel, [0, 0], 0));
        assert!(!outcome.failed(), "{:?}", outcome.diagnostics);
        // A run keeps the last write: of several iterations that race with one instruction it names that one.
        let sentence = |d: &Diagnostic| match (d.message.find(" of iteration"), d.message.find(" may still")) {
            (Some(from), Some(to)) if from < to => format!("{}{}", &d.message[..from], &d.message[to..]),
            _ => d.message.replace(" of the iteration before", ""),
        };
        let said = |found: &[Diagnostic]| {
            let mut all: Vec<_> = found.iter().map(|d| (d.rule, d.span.map(|s| s.start), sentence(d))).collect();
            all.sort();
            all
        };
        let during = during.unwrap();
        assert_eq!(said(&during.diagnostics), said(&before.diagnostics), "{profile}, seed {seed}\n{body}");
        assert_eq!(during.verdict, before.verdict);
        races += usize::from(during.verdict == Verdict::Races);
    }
    assert!((40..440).contains(&races), "{races} programs race");
}

#[test]
fn what_reads_in_place_meets_the_reads_before_it() {
    // Round 0 reads %a and writes %c, round 1 reads %a and writes it: V may still read when V writes.
    let turns = |between: &str| {
        format!(
            "scf.for %i = %c0 to %n step %c1 {{
    %is = arith.cmpi eq, %i, %c0 : index
    %to = arith.select %is, %c, %a : {TILE}
    {between}
    pto.tadd ins(%a, %a : {TILE}, {TILE}) outs(%to : {TILE})
  }}"
        )
    };
    let (found, told) = judged(&turns(""), Profile::A2a3, [0, 0], 2);
    assert_eq!((found, told.iter().map(|d| d.rule).collect()), (Verdict::Races, vec!["race-war"]), "{told:?}");
    assert_eq!(judged(&turns("pto.barrier <PIPE_V>"), Profile::A2a3, [0, 0], 2).0, Verdict::RaceFree);
    assert_eq!(judged(&turns(""), Profile::A5, [0, 0], 2).0, Verdict::RaceFree);
}

#[test]
fn a_wrong_flag_is_told_of_once_in_a_run() {
    let body = [flag("set", "V", "V", 0), flag("wait", "V", "V", 0), flag("set", "V", "ALL", 9)].join("\n  ");
    let (_, told) = judged(&body, Profile::A5, [0, 0], 0);
    let rules: Vec<_> = told.iter().map(|d| d.rule).collect();
    assert_eq!(rules, ["flag-pipe", "flag-id-range", "flag-pipe"], "{told:?}");
    let before = program(&body, Profile::A5).order(&OrderOptions::default()).unwrap();
    assert_eq!(rules, before.diagnostics.iter().map(|d| d.rule).collect::<Vec<_>>());
}
