//! Time and memory of reading generated programs: `cargo run --release --example speed`.
#![allow(clippy::print_stdout, reason = "an example talks to the terminal")]

use std::time::Instant;

/// The largest amount of memory the process has had, in MB (Linux).
fn peak() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|l| l.starts_with("VmHWM"));
    let kib = line.and_then(|l| l.split_whitespace().nth(1)).and_then(|n| n.parse::<f64>().ok());
    kib.unwrap_or(0.0) / 1024.0
}

fn main() {
    for n in [1_000, 10_000, 100_000] {
        let text = tessera_asm::generate(n);
        let mut best = f64::INFINITY;
        for _ in 0..10 {
            let start = Instant::now();
            let parsed = tessera_asm::parse(&text, None);
            best = best.min(start.elapsed().as_secs_f64() * 1e3);
            assert!(!parsed.has_errors());
        }
        let mb = text.len() as f64 / 1e6;
        println!("{n:>7} instructions, {mb:.2} MB: {best:.2} ms, peak {:.1} MB so far", peak());
    }
}
