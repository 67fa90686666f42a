"""For test suites: a kernel gives what it should, or the assertion shows the worst elements and where they were written."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ._result import Result
from ._tessera import Program, compare_kernel

__all__ = ["assert_kernel"]


def assert_kernel(
    program: Program | str | os.PathLike[str],
    profile: str | None = None,
    inputs: Mapping[str, Any] | None = None,
    expected: Mapping[str, Any] | None = None,
    *,
    atol: float | None = None,
    rtol: float | None = None,
    ulp: int | None = None,
    entry: str | None = None,
    blocks: int = 1,
    races: bool = True,
) -> Result:
    """Runs a kernel and compares outputs with what is expected: bit for bit, unless a tolerance is given.

    An element is near enough if it is at most `atol + rtol * |expected|` off, or at most `ulp` values of its type.
    With `races`, a kernel that orders its pipes itself must also do so without a race in this run.
    """
    __tracebackhide__ = True
    if not isinstance(program, Program):
        program = Program(program)
    given, wanted = dict(inputs or {}), dict(expected or {})
    result, differs = compare_kernel(program, profile, entry, blocks, given, wanted, atol, rtol, ulp, races)
    if differs is not None:
        raise AssertionError(differs)
    return result
