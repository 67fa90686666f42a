"""The pytest plugin: `assert_kernel` as a fixture."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from ._result import Result


@pytest.fixture
def assert_kernel() -> Callable[..., Result]:
    """`tessera.testing.assert_kernel`: a kernel gives what it should, or the worst elements are shown."""
    from .testing import assert_kernel

    return assert_kernel
