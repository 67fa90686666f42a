//! Criterion benchmarks: `cargo bench -p tessera-bench`. `tessera bench` is what users run.
