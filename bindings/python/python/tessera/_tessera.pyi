# Made by .ci/python of what maturin reads out of the extension (BLESS=1 writes it anew); do not edit.
from collections.abc import Callable, Mapping, Sequence
from numpy import ndarray
from ._result import Result
from _typeshed import SupportsGetItem
from os import PathLike
from typing import Any, Final, SupportsFloat, SupportsIndex, final

__all__ = ["__version__", "Argument", "Diagnostic", "Equivalence", "Kernel", "Layout", "Machine", "Plan", "Program", "Races", "Tile", "Timeline", "Trace", "compare_kernel", "element_type", "explain", "instruction", "instructions", "main", "nearest"]

__version__: Final[str]

@final
class Argument:
    """
    An argument of a kernel, or an input of a listing.
    """
    def __repr__(self, /) -> str: ...
    @property
    def elem(self, /) -> str | None:
        """
        The type of its elements.
        """
    @property
    def extents(self, /) -> list[str]:
        """
        Its extents: numbers, names of scalars, or `?`.
        """
    @property
    def is_read(self, /) -> bool:
        """
        Is it read?
        """
    @property
    def is_written(self, /) -> bool:
        """
        Is it written?
        """
    @property
    def kind(self, /) -> str:
        """
        `scalar`, `memory`, `tile` or `other`.
        """
    @property
    def name(self, /) -> str:
        """
        Its name, without `%`.
        """
    @property
    def type(self, /) -> str:
        """
        Its type, as text has it.
        """

@final
class Diagnostic:
    """
    One finding: a rule, a sentence with the actual values, a place, a way out.
    """
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self, /) -> int: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __new__(cls, /, rule: str, severity: str, message: str, line: SupportsIndex | None = None, column: SupportsIndex | None = None, help: str | None = None, notes: SupportsGetItem[int, str] = ..., rendered: str = ...) -> Diagnostic: ...
    def __reduce__(self, /) -> tuple[Any, tuple]: ...
    def __repr__(self, /) -> str: ...
    def __str__(self, /) -> str: ...
    def _repr_html_(self, /) -> str: ...
    @property
    def column(self, /) -> int | None:
        """
        The column, counted from 1 in characters.
        """
    @property
    def help(self, /) -> str | None:
        """
        The smallest change that helps, where one is known.
        """
    @property
    def is_error(self, /) -> bool:
        """
        Is it an error?
        """
    @property
    def line(self, /) -> int | None:
        """
        The line of the program, counted from 1; None where the finding has no place.
        """
    @property
    def message(self, /) -> str:
        """
        One sentence with the actual values.
        """
    @property
    def notes(self, /) -> list[str]:
        """
        Further facts, one sentence each.
        """
    @property
    def rendered(self, /) -> str:
        """
        All of it as text, with the source line.
        """
    @property
    def rule(self, /) -> str:
        """
        The id of the broken rule, which `tessera.explain` knows.
        """
    @property
    def severity(self, /) -> str:
        """
        `error`, `warning` or `note`.
        """

@final
class Equivalence:
    """
    Whether two programs are equal for all inputs.
    """
    def __bool__(self, /) -> bool:
        """
        True where they are equal; an undecided answer is neither and raises.
        """
    def __repr__(self, /) -> str: ...
    def __str__(self, /) -> str: ...
    def _repr_html_(self, /) -> str: ...
    @property
    def answer(self, /) -> str:
        """
        `equal`, `different` or `undecided`.
        """
    @property
    def details(self, /) -> list[str]:
        """
        The first differences, or why there is no answer, in words.
        """
    @property
    def elements(self, /) -> int:
        """
        How many elements were compared, or differ.
        """

@final
class Kernel:
    """
    A kernel of a program.
    """
    def __repr__(self, /) -> str: ...
    def _repr_html_(self, /) -> str: ...
    @property
    def arguments(self, /) -> list[Argument]:
        """
        Its arguments, in order.
        """
    @property
    def cores(self, /) -> str:
        """
        The cores that it runs on, in words.
        """
    @property
    def is_entry(self, /) -> bool:
        """
        Is it the one that runs where none is named?
        """
    @property
    def name(self, /) -> str | None:
        """
        Its name, without `@`; None for a listing.
        """
    @property
    def uses_blocks(self, /) -> bool:
        """
        Does it ask which block it is?
        """

@final
class Layout:
    """
    Where the elements of a tile lie in memory.
    """
    def __repr__(self, /) -> str: ...
    def __str__(self, /) -> str: ...
    def _repr_svg_(self, /) -> str: ...
    @property
    def bytes(self, /) -> int:
        """
        Bytes of the declared area.
        """
    @property
    def name(self, /) -> str:
        """
        `ND`, `DN`, `NZ`, `ZN`, `ZZ` or `NN`.
        """
    @property
    def svg(self, /) -> str:
        """
        The picture.
        """

@final
class Machine:
    """
    A simulated core of a profile: its memories, and the tiles in them.

    >>> import tessera
    >>> m = tessera.Machine("a5")
    >>> a = m.tile("vec", "f32", (16, 64), valid=(16, 60))
    >>> a
    <Tile vec 16x64xf32 ND valid 16x60 on a5>
    """
    def __new__(cls, /, profile: str = "cpu") -> Machine: ...
    def __repr__(self, /) -> str: ...
    def conv_tile(self, /, elem: Any, shape: SupportsGetItem[int, SupportsIndex]) -> Tile:
        """
        A new conv tile in L1: NC1HWC0 with five extents, NDC1HWC0 with six.
        """
    @property
    def profile(self, /) -> str:
        """
        The profile.
        """
    def take_warnings(self, /) -> list[Diagnostic]:
        """
        The warnings since the last call.
        """
    def tile(self, /, loc: str, elem: Any | None = None, shape=None, *, valid=None, layout: str | None = None, fractal: SupportsIndex | None = None, pad: Any | None = None, compact: str | None = None, address: SupportsIndex | None = None) -> Tile:
        """
        A new tile, whose contents are undefined: location, element type and shape, or a type as text has it alone.

        `layout` is a name (`ND`, `DN`, `NZ`, `ZN`, `ZZ`, `NN`; left out: the location's usual one), `valid` the valid
        region (left out: all of it), which can be changed later.
        """

@final
class Plan:
    """
    Where the tiles of a kernel lie, and which instruction waits for which.
    """
    def __repr__(self, /) -> str: ...
    def __str__(self, /) -> str: ...
    def _repr_svg_(self, /) -> str: ...
    @property
    def svg(self, /) -> str:
        """
        The memory map as a picture.
        """
    @property
    def tiles(self, /) -> list[dict]:
        """
        The placed tiles: dictionaries with memory, name, type, address, bytes, first and last line, manual.
        """

@final
class Program:
    """
    A program of the PTO tile ISA: a module or a listing.

    `source` is a path, or the text itself: a `str` is a path where it is one line that names a file or ends in `.pto` or
    `.mlir`; `bytes` are always text. Errors in the text are `check()`'s to tell; everything else raises `tessera.Error`.

    >>> import tessera
    >>> program = tessera.Program("%d = pto.tadd %a, %b : (!pto.tile<8x8xf32>, !pto.tile<8x8xf32>) -> !pto.tile<8x8xf32>")
    >>> program.check("a5")
    []
    """
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self, /) -> int: ...
    def __new__(cls, /, source: "str | bytes | PathLike[str]", *, profile: str | None = None, entry: str | None = None, name: str | None = None) -> Program: ...
    def __reduce__(self, /) -> tuple[Any, tuple]: ...
    def __repr__(self, /) -> str: ...
    def __str__(self, /) -> str: ...
    def _repr_html_(self, /) -> str: ...
    @staticmethod
    def _restore(text: bytes, profile: str | None, entry: str | None, name: str) -> Program:
        """
        What a pickle calls.
        """
    def check(self, /, profile: str | None = None) -> list[Diagnostic]:
        """
        Everything that can be said without running it, as `Diagnostic`s; an empty list is a legal program without warnings.
        """
    def cpp(self, /, profile: str | None = None, *, entry: str | None = None) -> str:
        """
        C++17 for `#include <pto/pto-inst.hpp>`.
        """
    def equiv(self, /, other: Program, profile: str | None = None, *, other_profile: str | None = None, outputs: "Sequence[str]" = ..., blocks: SupportsIndex = 1, shapes: "Mapping[str, Sequence[int]]" = ..., **numbers: "float") -> Equivalence:
        """
        Is another program equal for all inputs? The answer is true, false, or neither (`answer == "undecided"`).
        """
    @property
    def kernels(self, /) -> list[Kernel]:
        """
        The kernels: the entry, or all that could be it.
        """
    @property
    def name(self, /) -> str:
        """
        What messages call the program: its path, or `<text>`.
        """
    def plan(self, /, profile: str | None = None, *, entry: str | None = None) -> Plan:
        """
        Where the tiles lie, and which instruction waits for which; it draws itself in a notebook.
        """
    @property
    def profile(self, /) -> str:
        """
        The profile that counts where none is given: the one of the constructor, the module's own, else `cpu`.
        """
    def races(self, /, profile: str | None = None, *, entry: str | None = None) -> Races:
        """
        Which accesses of different pipes race, which flags are wrong, and where the program stops for ever.
        """
    def run(self, /, profile: str | None = None, *, entry: str | None = None, blocks: SupportsIndex = 1, ranks: SupportsIndex | None = None, races: bool = False, outputs: "Sequence[str]" = ..., inputs: "Mapping[str, Any] | None" = None, **arrays: "Any") -> "Result":
        """
        Runs the kernel on arrays and numbers by name, and gives a `Result` with its outputs by name.

        Inputs whose names are no Python names, or those of an option, go into `inputs`. A string makes an array up:
        `"random"`, `"random:SEED"`, `"iota"`, `"zeros"`, `"ones"`, `"value:V"`. `outputs` asks for further tiles.

        With `ranks` so many ranks run together: arrays have the rank as their first axis, those that come out too, and
        the strings `"rank"` and `"ranks"` are the rank's number and how many there are. `races` judges their order.
        """
    @property
    def text(self, /) -> str:
        """
        The text as it was read.
        """
    def timeline(self, /, profile: str | None = None, *, entry: str | None = None, blocks: SupportsIndex = 1, costs: str | PathLike[str] | None = None, **numbers: "float") -> Timeline:
        """
        When everything happens on each pipe, by costs that are estimates; it draws itself in a notebook.

        Numbers that loops and branches depend on are keyword arguments. `costs` is a file like docs/spec/isa/cost.toml in
        place of the published costs.
        """
    def to(self, /, form: str | None = None) -> str:
        """
        The program in another form: `asm`, `ssa` or `dps`; without one, as it is written, in canonical text.
        """
    def trace(self, /, element: str, profile: str | None = None, *, forward: bool = False, full: bool = False, entry: str | None = None, blocks: SupportsIndex = 1, shapes: "Mapping[str, Sequence[int]]" = ..., **numbers: "float") -> Trace:
        """
        Where an element comes from (`"%dst[3,5]"`, `"y[17]"`), or with `forward` where an input element goes.

        No data is needed; numbers for scalars are keyword arguments, shapes of pointers are in `shapes`.
        """

@final
class Races:
    """
    What is known of the order between the pipes of a program.
    """
    def __repr__(self, /) -> str: ...
    def __str__(self, /) -> str: ...
    def _repr_html_(self, /) -> str: ...
    @property
    def diagnostics(self, /) -> list[Diagnostic]:
        """
        Races and broken rules of flags, in the order of the text; where nothing could be told, why.
        """
    @property
    def verdict(self, /) -> str:
        """
        `race-free`, `races` or `undecided`.
        """

@final
class Tile:
    """
    A tile on a machine. `tile[:] = array` writes its valid region, `tile.numpy()` reads it.
    """
    def __array__(self, /, dtype: Any | None = None, copy: bool | None = None) -> "ndarray[Any, Any]": ...
    def __getitem__(self, key: Any, /) -> Any: ...
    def __repr__(self, /) -> str: ...
    def __setitem__(self, key: Any, value: Any, /) -> None: ...
    def __str__(self, /) -> str: ...
    def _repr_html_(self, /) -> str: ...
    def assign(self, /, address: SupportsIndex) -> None:
        """
        TASSIGN: binds the tile to a byte address of its memory; moves no data.
        """
    @property
    def defined(self, /) -> Any:
        """
        Which elements of the valid region were written: an array of bools.
        """
    @property
    def dtype(self, /) -> Any:
        """
        The numpy type of the arrays of its contents.
        """
    @property
    def elem(self, /) -> str:
        """
        The element type.
        """
    @property
    def layout(self, /) -> Layout:
        """
        Where the elements lie in memory; it draws itself.
        """
    @property
    def loc(self, /) -> str:
        """
        The location.
        """
    def numpy(self, /, core: SupportsIndex = 0, *, undefined: str = "mask") -> "ndarray[Any, Any]":
        """
        The valid region as a new array. `core` is a vector core, 0 or 1.

        Elements that nothing has written: `undefined="mask"` masks them (a `numpy.ma.MaskedArray`, if there are any),
        `"raise"` refuses them, `"zero"` gives 0.
        """
    @property
    def profile(self, /) -> str:
        """
        The profile of the tile's machine.
        """
    @property
    def raw(self, /) -> bytes:
        """
        The declared bytes as they lie in memory; undefined ones are 0.
        """
    @property
    def shape(self, /) -> tuple:
        """
        The declared extents.
        """
    @property
    def valid(self, /) -> tuple[int, int]:
        """
        Valid rows and columns; they can be set.
        """
    @valid.setter
    def valid(self, /, valid) -> None: ...

@final
class Timeline:
    """
    When everything happens in a kernel: cycles that are estimates. It draws itself in a notebook.
    """
    def __repr__(self, /) -> str: ...
    def __str__(self, /) -> str: ...
    def _repr_svg_(self, /) -> str: ...
    @property
    def at_least(self, /) -> bool:
        """
        Is the total only a lower bound?
        """
    @property
    def bound(self, /) -> str | None:
        """
        The pipe that most of the critical path is on, in a sentence.
        """
    @property
    def critical_path(self, /) -> list[dict]:
        """
        The instructions that make it so long: dictionaries with core, line, instruction, iteration, pipe, start, cycles
        and after.
        """
    @property
    def json(self, /) -> str:
        """
        Chrome trace events, which Perfetto opens.
        """
    @property
    def pipes(self, /) -> list[dict]:
        """
        The pipes that do something: dictionaries with core, pipe, instructions, unknown, busy and share.
        """
    @property
    def svg(self, /) -> str:
        """
        The picture.
        """
    @property
    def total(self, /) -> int:
        """
        Cycles from the start to the end.
        """
    @property
    def unknown(self, /) -> int:
        """
        How many instructions have no known cost and count as one cycle; with any, `total` is a lower bound.
        """

@final
class Trace:
    """
    The way of an element: newest step first, or oldest first where it was followed forward.
    """
    def __len__(self, /) -> int: ...
    def __repr__(self, /) -> str: ...
    def __str__(self, /) -> str: ...
    def _repr_html_(self, /) -> str: ...
    @property
    def element(self, /) -> str:
        """
        The element.
        """
    @property
    def formula(self, /) -> str | None:
        """
        What it is as a formula of input elements, where it is computed.
        """
    @property
    def is_cut(self, /) -> bool:
        """
        Are there more steps than are kept? `full=True` keeps them.
        """
    @property
    def steps(self, /) -> list[dict]:
        """
        The steps: dictionaries with how, line, op, block, loops, to, from, detail and depth.
        """

def compare_kernel(program: Program, profile: str | None, entry: str | None, blocks: SupportsIndex, inputs: dict, expected: dict, atol: SupportsFloat | SupportsIndex | None, rtol: SupportsFloat | SupportsIndex | None, ulp: SupportsIndex | None, races: bool) -> tuple[Any, str | None]:
    """
    Runs a kernel and compares its outputs: the result, and a text about what differs.
    """

def element_type(name: str) -> tuple[str, str | None, bool]:
    """
    What numpy has for an element type: a native type for its bits, the name of its own, and whether two share a byte.
    """

def explain(name: str) -> str:
    """
    The page of a name: an instruction, a rule, a type, a layout, a profile, an attribute, a topic.
    """

def instruction(name: str) -> "Callable[..., Any] | None":
    """
    The function of an instruction.
    """

def instructions() -> list[str]:
    """
    The names of all functions.
    """

def main(args: SupportsGetItem[int, str]) -> int:
    """
    The `tessera` command with the arguments of a process; gives its exit code.
    """

def nearest(name: str, names: SupportsGetItem[int, str]) -> str | None:
    """
    The name that is meant by a misspelt one, if one is near.
    """
