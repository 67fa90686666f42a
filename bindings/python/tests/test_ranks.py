"""Several ranks in one run."""

from pathlib import Path

import numpy as np
import pytest

import tessera

EXAMPLES = Path(__file__).parents[3] / "examples" / "ranks"


def test_all_reduce_is_numpys_sum() -> None:
    x = np.random.default_rng(1).integers(-8, 8, (4, 4, 64)).astype(np.float32)
    result = tessera.Program(EXAMPLES / "all_reduce.pto").run(ranks=4, races=True, x=x)
    assert (result["x"] == np.broadcast_to(x.sum(0), (4, 4, 64))).all()


def test_experts() -> None:
    rng = np.random.default_rng(2)
    x = rng.standard_normal((4, 8, 16)).astype(np.float32)
    route = rng.integers(0, 4, (4, 8)).astype(np.int32)
    result = tessera.Program(EXAMPLES / "moe.pto").run(ranks=4, races=True, x=x, route=route, inbox="zeros")
    assert (result["y"].reshape(4, 8, 16) == x * (route + 1)[..., None].astype(np.float32)).all()


def test_hangs_and_races_are_errors() -> None:
    x = np.zeros((2, 1, 64), np.float32)
    with pytest.raises(tessera.Error, match=r"flag\[0\] of rank 1 is 1, wants ge 2"):
        tessera.Program(EXAMPLES / "hang.pto").run(ranks=2, x=x)
    with pytest.raises(tessera.Error, match="race-raw"):
        tessera.Program(EXAMPLES / "race.pto").run(ranks=2, races=True, x=x)


def test_the_first_axis_is_the_rank() -> None:
    program = tessera.Program(EXAMPLES / "all_gather.pto")
    with pytest.raises(tessera.Error, match="its first axis has 3, and there are 2 ranks"):
        program.run(ranks=2, x=np.zeros((3, 1, 64), np.float32))
    with pytest.raises(tessera.Error, match="there cannot be 65 ranks"):
        program.run(ranks=65, x="zeros")
