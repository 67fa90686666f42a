"""What a run gave."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import TYPE_CHECKING, Any

from ._error import Error
from ._tessera import Diagnostic, nearest

if TYPE_CHECKING:
    import numpy as np


class Result(Mapping[str, "np.ndarray[Any, Any]"]):
    """The outputs of a run by name, with or without `%`; its warnings, and what was printed."""

    __slots__ = ("_arrays", "warnings", "profile", "printed")

    def __init__(
        self, arrays: dict[str, np.ndarray[Any, Any]], warnings: list[Diagnostic], profile: str, printed: str
    ) -> None:
        self._arrays = arrays
        self.warnings = warnings
        self.profile = profile
        self.printed = printed

    def __getitem__(self, name: str) -> np.ndarray[Any, Any]:
        bare = name.removeprefix("%")
        if bare in self._arrays:
            return self._arrays[bare]
        near = nearest(bare, list(self._arrays))
        known = ", ".join(f"'{n}'" for n in self._arrays)
        known = f"there are {known}" if known else "nothing was written; ask for a tile with run(..., outputs=[...])"
        raise KeyError(f"there is no output '{name}'; " + (f"did you mean '{near}'?" if near else known))

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def __reduce__(self) -> tuple[Any, ...]:
        return Result, (self._arrays, self.warnings, self.profile, self.printed)

    def __repr__(self) -> str:
        outputs = ", ".join(f"{n}: {a.dtype}{list(a.shape)}" for n, a in self._arrays.items())
        warnings = f", {len(self.warnings)} warnings" if self.warnings else ""
        return f"<Result on {self.profile}: {outputs}{warnings}>"

    def _repr_html_(self) -> str:
        parts = [f"<b>{escape(n)}</b> {a.dtype} {a.shape}<pre>{escape(str(a))}</pre>" for n, a in self._arrays.items()]
        parts += [f"<pre>{escape(w.rendered)}</pre>" for w in self.warnings]
        return "".join(parts)


__all__ = ["Error", "Result"]
