"""Tessera: the PTO tile ISA in Python."""

from . import instructions as instructions
from . import testing as testing
from ._result import Result as Result
from ._sweep import Case as Case
from ._sweep import Outcome as Outcome
from ._sweep import sweep as sweep
from ._error import Error as Error
from ._tessera import Argument as Argument
from ._tessera import Diagnostic as Diagnostic
from ._tessera import Equivalence as Equivalence
from ._tessera import Kernel as Kernel
from ._tessera import Layout as Layout
from ._tessera import Machine as Machine
from ._tessera import Plan as Plan
from ._tessera import Program as Program
from ._tessera import Races as Races
from ._tessera import Tile as Tile
from ._tessera import Timeline as Timeline
from ._tessera import Trace as Trace
from ._tessera import __version__ as __version__
from ._tessera import explain as explain
from .instructions import *

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
