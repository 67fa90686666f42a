//! The cases of `tessera bench` under criterion: `cargo bench -p tessera-bench --bench instructions`.
//!
//! Throughput counts bytes read plus bytes written. `tessera bench` interleaves an instruction with its memcpy and gives
//! their ratio; here each has its own distribution, to compare one version of the code with another.
#![allow(clippy::print_stderr, reason = "a benchmark talks to the terminal")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use tessera_cli::bench::{CASES, Instructions, Memcpy};

fn instructions(criterion: &mut Criterion) {
    for case in CASES {
        let mut group = criterion.benchmark_group(case.name);
        for (name, tracked) in [("plain", false), ("tracked", true)] {
            let mut lap = match Instructions::new(case, tracked) {
                Ok(lap) => lap,
                Err(error) => {
                    eprintln!("{}: {error}", case.name);
                    continue;
                }
            };
            group.throughput(Throughput::Bytes((case.bytes * lap.turns()) as u64));
            group.bench_function(name, |bench| bench.iter(|| lap.lap()));
        }
        let mut lap = Memcpy::new(case);
        group.bench_function("memcpy", |bench| bench.iter(|| lap.lap()));
        group.finish();
    }
}

criterion_group!(benches, instructions);
criterion_main!(benches);
