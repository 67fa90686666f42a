"""The exception."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._tessera import Diagnostic


class Error(ValueError):
    """A refused program, instruction, tile or value.

    Its text is what is wrong, where, and a way out; `rule` is the id of the broken rule, which `tessera.explain` knows,
    and `diagnostics` are all findings as objects.
    """

    rule: str
    diagnostics: list[Diagnostic]


Error.__module__ = "tessera"
