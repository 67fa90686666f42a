"""Every instruction as a function, made of the instruction table when it is first used."""

from __future__ import annotations

from typing import Any

from ._tessera import instruction, instructions, nearest

__all__ = instructions()


def __getattr__(name: str) -> Any:
    made = None if name.startswith("_") else instruction(name)
    if made is None:
        near = nearest(name, __all__)
        raise AttributeError(f"{__name__} has no instruction '{name}'" + (f"; did you mean '{near}'?" if near else ""))
    globals()[name] = made
    return made


def __dir__() -> list[str]:
    return sorted(__all__)
