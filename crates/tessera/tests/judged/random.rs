//! Random bodies: loads, additions and stores, with flags and barriers that are right, or nearly.

use super::flag;
use tessera_testkit::random::Random;

const PIPES: [&str; 3] = ["MTE2", "V", "MTE3"];

fn pair(r: &mut Random, out: &mut Vec<String>) {
    let from = r.pick(&PIPES);
    let to = r.pick(&PIPES);
    let id = r.below(2) as u8;
    if from == to {
        return out.push(format!("pto.barrier <PIPE_{from}>"));
    }
    let mut both = [flag("set", from, to, id), flag("wait", from, to, id)];
    if r.below(8) == 0 {
        both.reverse();
    }
    // Now and then one is missing.
    let missing = r.below(24);
    out.extend(both.into_iter().enumerate().filter(|(n, _)| *n as u64 != missing).map(|(_, line)| line));
}

fn block(r: &mut Random, depth: u32, out: &mut Vec<String>) {
    for _ in 0..3 + r.below(5) {
        match r.below(10) {
            0..=3 => pair(r, out),
            4 => out.push(format!("pto.barrier <PIPE_{}>", r.pick(&["ALL", "V", "MTE2", "MTE3"]))),
            5 if depth < 2 => {
                out.push(format!("scf.for %i{} = %c0 to %c{} step %c1 {{", out.len(), 1 + r.below(2)));
                block(r, depth + 1, out);
                out.push("}".into());
            }
            _ => out.push(r.pick(&["LOAD", "ADD", "STORE"]).into()),
        }
    }
}

pub fn body(seed: u64) -> String {
    let mut out = Vec::new();
    block(&mut Random(seed), 0, &mut out);
    out.join("\n  ")
}
