//! Criterion benchmarks: `cargo bench -p tessera-bench`. `tessera bench` is what users run. The command `ulp` measures
//! the errors of exp, log, rsqrt and pow.
