//! The cases of `tessera bench` under criterion: `cargo bench -p tessera-bench --bench instructions`.
//!
//! Throughput counts bytes read plus bytes written, or multiply-adds. `tessera bench` interleaves an instruction with its yardstick and gives
//! their ratio; here each has its own distribution, to compare one version of the code with another.
#![allow(clippy::print_stderr, reason = "a benchmark talks to the terminal")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use tessera_cli::bench::{Instructions, Laps, Work, cases};

fn instructions(criterion: &mut Criterion) {
    for case in cases() {
        let mut group = criterion.benchmark_group(case.name);
        for (name, tracked) in [("plain", false), ("tracked", true)] {
            let mut lap = match Instructions::new(case, tracked) {
                Ok(lap) => lap,
                Err(error) => {
                    eprintln!("{}: {error}", case.name);
                    continue;
                }
            };
            let amount = (case.work.amount() * lap.turns()) as u64;
            group.throughput(match case.work {
                Work::Bytes(_) => Throughput::Bytes(amount),
                Work::MultiplyAdds(_) => Throughput::Elements(amount),
            });
            group.bench_function(name, |bench| bench.iter(|| lap.lap()));
        }
        if let Ok(mut lap) = Laps::new(case, false) {
            group.bench_function(case.yardstick.name(), |bench| bench.iter(|| lap.lap()));
        }
        group.finish();
    }
}

criterion_group!(benches, instructions);
criterion_main!(benches);
