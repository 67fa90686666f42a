"""Tessera: the PTO tile ISA in Python.

`Program` is text that is checked, run, placed, traced and compared; `Machine` and its tiles take every instruction as a
function (`tessera.tadd(c, a, b)`), with its page as docstring; `sweep` runs many cases; `tessera.testing` is for tests.
"""

from __future__ import annotations

from typing import Any

from . import instructions
from ._error import Error
from ._tessera import (
    Argument,
    Diagnostic,
    Equivalence,
    Kernel,
    Layout,
    Machine,
    Plan,
    Program,
    Races,
    Tile,
    Timeline,
    Trace,
    __version__,
    explain,
)

# What is imported when it is used: numpy, and all that is not needed for a first run.
_LATER = {"Result": "_result", "Case": "_sweep", "Outcome": "_sweep", "sweep": "_sweep"}

__all__ = [
    "Argument",
    "Case",
    "Diagnostic",
    "Equivalence",
    "Error",
    "Kernel",
    "Layout",
    "Machine",
    "Outcome",
    "Plan",
    "Program",
    "Races",
    "Result",
    "Tile",
    "Timeline",
    "Trace",
    "__version__",
    "explain",
    "instructions",
    "sweep",
    "testing",
]


def __getattr__(name: str) -> Any:
    if name in _LATER:
        from importlib import import_module

        value = getattr(import_module(f".{_LATER[name]}", __name__), name)
    elif name == "testing":
        from importlib import import_module

        return import_module(".testing", __name__)
    else:
        try:
            value = getattr(instructions, name)
        except AttributeError as error:
            raise AttributeError(str(error).replace(instructions.__name__, __name__)) from None
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *dir(instructions)})
