"""Many shapes of one kernel, on all cores; with a dask client they run on other machines."""

from pathlib import Path

import numpy as np
import tessera

program = tessera.Program(Path(__file__).parent.parent / "softmax.pto")


def case(rows: int, cols: int) -> tessera.Case:
    x = np.random.default_rng(rows * 64 + cols).standard_normal((rows, cols)).astype(np.float32)
    e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    inputs = {"x": x, "rows": rows, "cols": cols}
    return tessera.Case(program, "a5", inputs, {"y": e / e.sum(1, keepdims=True)}, f"{rows}x{cols}", rtol=1e-5)


outcomes = tessera.sweep([case(rows, cols) for rows in range(1, 17, 3) for cols in range(8, 65, 8)])
print(f"{sum(outcome.ok for outcome in outcomes)} of {len(outcomes)} are right")
for outcome in outcomes:
    if not outcome.ok:
        print(outcome.name, outcome.error)
        raise SystemExit(1)
