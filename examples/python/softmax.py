"""A kernel from a file, on every profile, against numpy."""

from pathlib import Path

import numpy as np
import tessera
from tessera.testing import assert_kernel

program = tessera.Program(Path(__file__).parent.parent / "softmax.pto")
x = np.random.default_rng(1).standard_normal((13, 50)).astype(np.float32)
e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
wanted = e / e.sum(1, keepdims=True)

for profile in ["cpu", "a2a3", "a5"]:
    result = assert_kernel(
        program, profile, inputs={"x": x, "rows": 13, "cols": 50}, expected={"y": wanted}, rtol=1e-6
    )
    print(profile, result["y"].sum(1)[:3], [warning.rule for warning in result.warnings])

print(program.trace("y[3,5]", "a5", rows=13, cols=50, shapes={"x": (13, 50), "y": (13, 50)}).formula)
