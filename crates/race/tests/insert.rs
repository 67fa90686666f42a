//! Inserted flags: enough of them, and not one too many (sync.md 7).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(dead_code, reason = "the programs are those of another test")]

#[path = "oracle/program.rs"]
mod program;

use program::{Block, Pick, Stmt, text};
use std::collections::BTreeSet;
use tessera_ir::Func;
use tessera_ir::inline::inline;
use tessera_isa::profile::Profile;
use tessera_race::{Limits, Mode, Options, SyncPlan, Verdict, check, insert, insert_unrolled};
use tessera_testkit::random::Random;

struct Case {
    parsed: tessera_asm::Parsed,
    func: Func,
    text: String,
    profile: Profile,
}

fn case(text: String, profile: Profile) -> Case {
    let parsed = tessera_asm::parse_bytes(text.as_bytes(), Some(profile));
    let errors: Vec<_> = parsed.diagnostics.iter().filter(|d| d.is_error()).collect();
    assert!(errors.is_empty(), "{errors:?}\n{text}");
    let func = inline(&parsed.module, parsed.module.entry(None).unwrap()).unwrap().into_owned();
    Case { parsed, func, text, profile }
}

impl Case {
    fn verdict(&self, func: &Func) -> (Verdict, Vec<tessera_isa::diag::Diagnostic>) {
        let module = &self.parsed.module;
        let placement = tessera_plan::plan(module, func, self.profile, &[]).unwrap();
        let options = Options { mode: Some(Mode::Manual), ..Options::default() };
        let report = check(module, func, self.profile, &placement, &self.text, &options);
        (report.verdict, report.diagnostics)
    }

    fn printed(&self, func: &Func) -> String {
        let mut module = self.parsed.module.clone();
        module.funcs[0] = func.clone();
        tessera_asm::print_module(&module)
    }

    /// Inserts and judges. Gives the number of edges.
    fn run(mut self) -> usize {
        let func = self.func.clone();
        let placement = tessera_plan::plan(&self.parsed.module, &func, self.profile, &[]).unwrap();
        let synced = insert(&mut self.parsed.module, &func, self.profile, &placement, Limits::default());
        assert!(synced.serial.is_none() && synced.between.is_none());
        self.judge(&synced)
    }

    /// The same with loops unrolled. Gives the function with flags, as text.
    fn unrolled(mut self) -> String {
        let func = self.func.clone();
        let done = insert_unrolled(&mut self.parsed.module, &func, self.profile, Limits::default()).unwrap();
        self.judge(&done.synced);
        let text = self.printed(&done.synced.func);
        assert_eq!(done.kept.is_empty(), !text.contains("_flag_dyn"), "{text}");
        text
    }

    /// Judges what was inserted, and takes out one edge after the other. Gives the number of edges.
    fn judge(&self, synced: &SyncPlan) -> usize {
        let (verdict, found) = self.verdict(&synced.func);
        assert_eq!(
            verdict,
            Verdict::RaceFree,
            "{}: {}\n{}",
            self.profile,
            found.iter().map(|d| format!("{}: {} {:?}\n", d.rule, d.message, d.notes)).collect::<String>(),
            self.printed(&synced.func)
        );
        // What is printed reads as the same program.
        let again = case(self.printed(&synced.func), self.profile);
        let (verdict, found) = again.verdict(&again.func);
        assert_eq!(verdict, Verdict::RaceFree, "{}\n{found:#?}", again.text);
        let edges: BTreeSet<usize> = synced.table.iter().map(|s| s.edge).collect();
        for edge in &edges {
            let mut without = synced.func.clone();
            let out: BTreeSet<u32> = synced.table.iter().filter(|s| s.edge == *edge).map(|s| s.op.0).collect();
            without.blocks.iter_mut().for_each(|b| b.ops.retain(|op| !out.contains(&op.0)));
            let (verdict, _) = self.verdict(&without);
            let removed = self.printed(&without);
            assert_eq!(
                verdict,
                Verdict::Races,
                "{}: edge {edge} of\n{}is not needed:\n{removed}",
                self.profile,
                self.printed(&synced.func)
            );
        }
        edges.len()
    }
}

fn load(t: &[usize], b: Block) -> Stmt {
    Stmt::Load(Pick { of: t.to_vec() }, b)
}

fn add(c: &[usize], a: &[usize], b: &[usize]) -> Stmt {
    Stmt::Add(Pick { of: c.to_vec() }, Pick { of: a.to_vec() }, Pick { of: b.to_vec() })
}

fn store(t: &[usize], b: Block) -> Stmt {
    Stmt::Store(Pick { of: t.to_vec() }, b)
}

fn edges(program: &[Stmt], profile: Profile) -> usize {
    case(text(program, 10, 2).text, profile).run()
}

#[test]
fn straight_lines_loops_and_ping_pong() {
    let line =
        [load(&[0], Block::Fixed(0)), load(&[2], Block::Fixed(1)), add(&[4], &[0], &[2]), store(&[4], Block::Fixed(9))];
    let body = vec![load(&[0], Block::Moving(0, 1)), add(&[4], &[0], &[0]), store(&[4], Block::Moving(-9, -1))];
    let two =
        vec![load(&[0, 2], Block::Moving(0, 1)), add(&[4, 6], &[0, 2], &[0, 2]), store(&[4, 6], Block::Moving(-9, -1))];
    for profile in Profile::ALL {
        assert_eq!(edges(&line, profile), 2);
        assert_eq!(edges(&[Stmt::For(None, body.clone())], profile), 4);
        assert_eq!(edges(&[Stmt::For(Some(5), body.clone())], profile), 4);
        assert_eq!(edges(&[Stmt::For(None, two.clone())], profile), 4);
        assert_eq!(edges(&[Stmt::For(Some(1), body.clone())], profile), 2);
    }
}

#[test]
fn the_next_iteration_is_loaded_ahead() {
    // The load for the next iteration stands before the add of this one.
    let body =
        vec![load(&[2, 0], Block::Moving(1, 1)), add(&[4], &[0, 2], &[0, 2]), store(&[4], Block::Moving(-9, -1))];
    for profile in Profile::ALL {
        edges(&[load(&[0], Block::Fixed(0)), Stmt::For(Some(6), body.clone())], profile);
        edges(&[load(&[0], Block::Fixed(0)), Stmt::For(None, body.clone())], profile);
    }
}

fn random(r: &mut Random, len: u64, depth: u32) -> Vec<Stmt> {
    let mut all = Vec::new();
    let in_loop = depth > 0;
    for _ in 0..len {
        let pick = |r: &mut Random| {
            let n = if in_loop && r.once_in(3) { 2 } else { 1 };
            (0..n).map(|_| r.below(6) as usize).collect::<Vec<_>>()
        };
        let block = |r: &mut Random| match in_loop && r.once_in(2) {
            true => Block::Moving(r.below(3) as i64, 1),
            false => Block::Fixed(r.below(4) as i64),
        };
        all.push(match r.below(12) {
            0..3 => load(&pick(r), block(r)),
            3..6 => add(&pick(r), &pick(r), &pick(r)),
            6..8 => store(&pick(r), block(r)),
            8 => Stmt::LoadMat(r.below(2) as usize, block(r)),
            9 => match r.below(4) {
                0 => Stmt::MoveLeft(r.below(2) as usize, r.below(2) as usize),
                1 => Stmt::MoveRight(r.below(2) as usize, r.below(2) as usize),
                2 => Stmt::Product(r.below(2) as usize, r.below(2) as usize, r.below(2) as usize),
                _ => Stmt::StoreAcc(r.below(2) as usize, block(r)),
            },
            10 if depth < 2 => {
                let count = if depth == 0 && r.once_in(2) { None } else { Some(r.below(4)) };
                let len = r.range(1, 4);
                Stmt::For(count, random(r, len, depth + 1))
            }
            _ if depth < 2 => {
                let (yes, no) = (r.range(0, 2), r.range(0, 2));
                let condition = r.below(2) as usize;
                let (yes, no) = (random(r, yes, depth.max(2)), random(r, no, depth.max(2)));
                Stmt::If(condition, yes, no)
            }
            _ => Stmt::ReadScalar(block(r)),
        });
    }
    all
}

#[test]
fn random_programs() {
    let mut r = Random(7);
    let many = std::env::var("TESSERA_SYNC_PROGRAMS").ok().and_then(|n| n.parse().ok());
    for _ in 0..many.unwrap_or(60) {
        let len = r.range(2, 8);
        let program = random(&mut r, len, 0);
        for profile in Profile::ALL {
            edges(&program, profile);
        }
    }
}

#[test]
fn an_edge_that_later_ones_order_in_other_iterations_goes() {
    // The stores were ordered by a barrier before a flag there and one back ordered them anyway.
    let turns = [0, 2, 4];
    let body = vec![store(&[4, 2], Block::Fixed(8)), add(&[2], &turns, &turns), add(&[2], &turns, &turns)];
    for (profile, want) in [(Profile::Cpu, 2), (Profile::A2a3, 3), (Profile::A5, 2)] {
        assert_eq!(edges(&[Stmt::For(Some(3), body.clone())], profile), want, "{profile}");
    }
}

/// Loads into ten tiles, then as many additions.
fn ten() -> Vec<Stmt> {
    let loads = (0..10).map(|n| load(&[2 * n], Block::Fixed(n as i64)));
    loads.chain((0..10).map(|n| add(&[2 * n], &[2 * n], &[2 * n]))).collect()
}

#[test]
fn flags_are_joined_where_ids_run_out() {
    for profile in Profile::ALL {
        for program in [ten(), vec![Stmt::For(None, ten())], vec![Stmt::For(Some(4), ten())]] {
            let case = case(text(&program, 20, 2).text, profile);
            let (mut module, func) = (case.parsed.module.clone(), case.func.clone());
            let placement = tessera_plan::plan(&module, &func, profile, &[]).unwrap();
            let synced = insert(&mut module, &func, profile, &placement, Limits::default());
            assert!(synced.serial.is_none() && synced.between.is_none());
            assert!(synced.short_of_ids);
            let printed = case.printed(&synced.func);
            assert!(!printed.contains("PIPE_ALL"), "{printed}");
            assert!(printed.contains("EVENT_ID7"), "{printed}");
            case.judge(&synced);
        }
    }
}

#[test]
fn what_is_far_apart_waits_for_a_later_iteration() {
    // A load meets the store of nine iterations before.
    let body = vec![load(&[0], Block::Moving(0, 1)), store(&[2], Block::Moving(9, 1))];
    for profile in Profile::ALL {
        assert_eq!(edges(&[Stmt::For(Some(12), body.clone())], profile), if profile == Profile::Cpu { 1 } else { 2 });
    }
}

#[test]
fn loops_are_unrolled_for_flags_with_one_id() {
    let two = vec![
        load(&[0, 2], Block::Moving(0, 1)),
        add(&[4, 6], &[0, 2], &[0, 2]),
        store(&[4, 6], Block::Moving(-99, -1)),
    ];
    let three = vec![
        load(&[0, 2, 4], Block::Moving(0, 1)),
        add(&[0, 2, 4], &[0, 2, 4], &[0, 2, 4]),
        store(&[0, 2, 4], Block::Moving(-99, -1)),
    ];
    for profile in Profile::ALL {
        for (body, copies) in [(&two, 2), (&three, 3)] {
            // Turns of so many iterations, and those that are left over.
            let text = case(text(&[Stmt::For(None, body.clone())], 10, 2).text, profile).unrolled();
            assert_eq!(text.matches("pto.tload").count(), 2 * copies - 1, "{text}");
            assert_eq!(text.matches("scf.if").count(), copies - 1, "{text}");
            assert!(!text.contains("arith.select"), "{text}");
        }
        let text = |times: u64| case(text(&[Stmt::For(Some(times), two.clone())], 10, 2).text, profile).unrolled();
        assert_eq!(text(3).matches("scf.for").count(), 0);
        assert_eq!((text(9).matches("scf.for").count(), text(9).matches("pto.tload").count()), (1, 3));
    }
}

#[test]
fn what_meets_late_keeps_a_loop_as_it_is() {
    // The store of iteration 40 writes what was written before the loop.
    let body = vec![load(&[0, 2], Block::Moving(0, 1)), store(&[0, 2], Block::Moving(200, 1))];
    let program = [store(&[4], Block::Fixed(240)), Stmt::For(None, body)];
    let text = case(text(&program, 10, 2).text, Profile::A5).unrolled();
    assert_eq!((text.contains("_flag_dyn"), text.matches("pto.tload").count()), (true, 1), "{text}");
}

#[test]
fn random_programs_unrolled() {
    let mut r = Random(11);
    let many = std::env::var("TESSERA_SYNC_PROGRAMS").ok().and_then(|n| n.parse().ok());
    for _ in 0..many.unwrap_or(30) {
        let len = r.range(2, 6);
        let program = random(&mut r, len, 0);
        for profile in Profile::ALL {
            case(text(&program, 10, 2).text, profile).unrolled();
        }
    }
}
