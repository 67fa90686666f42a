"""Many runs: on threads here, on a dask client where one is given."""

from __future__ import annotations

import hashlib
import os
import pickle
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ._result import Result
from ._error import Error
from ._tessera import Program


@dataclass(frozen=True)
class Case:
    """A program, what it runs with, and what must come of it, if anything."""

    program: Program | str | os.PathLike[str]
    profile: str | None = None
    inputs: Mapping[str, Any] = field(default_factory=dict)
    expected: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""
    entry: str | None = None
    blocks: int = 1
    atol: float | None = None
    rtol: float | None = None
    ulp: int | None = None

    @classmethod
    def of(cls, case: Case | Mapping[str, Any]) -> Case:
        """A case, or a dictionary of its fields."""
        made = case if isinstance(case, Case) else cls(**case)
        program = made.program if isinstance(made.program, Program) else Program(made.program)
        return cls(**{**made.__dict__, "program": program, "name": made.name or program.name})

    def run(self) -> Outcome:
        """Runs it; whatever is wrong is in the outcome."""
        from .testing import assert_kernel

        how: dict[str, Any] = {n: getattr(self, n) for n in ("atol", "rtol", "ulp", "entry", "blocks")}
        try:
            return Outcome(self.name, assert_kernel(self.program, self.profile, self.inputs, self.expected, **how), None)
        except (Error, AssertionError) as error:
            return Outcome(self.name, None, error)

    def key(self) -> str:
        """What makes it this case and no other one: a hash of its contents."""
        return hashlib.sha256(pickle.dumps((_VERSION, self), protocol=4)).hexdigest()


_VERSION = 1


@dataclass(frozen=True)
class Outcome:
    """What became of a case: its result, or what was wrong."""

    name: str
    result: Result | None
    error: Exception | None

    @property
    def ok(self) -> bool:
        """Did it run, and was everything as expected?"""
        return self.error is None


def _run_batch(batch: list[Case]) -> list[Outcome]:
    return [case.run() for case in batch]


def sweep(
    cases: Iterable[Case | Mapping[str, Any]],
    client: Any = None,
    *,
    progress: Callable[[int, int], object] | None = None,
    store: str | os.PathLike[str] | None = None,
    batch: int | None = None,
    threads: int | None = None,
) -> list[Outcome]:
    """Runs cases and gives their outcomes in the same order.

    Without a `client` they run on threads of this process; a `dask.distributed` client gets them in batches. `progress` is
    called with how many are done, and of how many. Outcomes are kept in the folder `store`, where one is given, and what
    is there is not run again: a sweep that was stopped goes on where it was.
    """
    all_cases = [Case.of(case) for case in cases]
    done: dict[int, Outcome] = {}
    files: list[Path] = []
    if store is not None:
        folder = Path(store)
        folder.mkdir(parents=True, exist_ok=True)
        files = [folder / f"{case.key()}.pickle" for case in all_cases]
        done = {n: kept for n, file in enumerate(files) if (kept := _load(file)) is not None}
    todo = [n for n in range(len(all_cases)) if n not in done]
    workers = threads or os.cpu_count() or 1
    size = batch or max(1, min(64, len(todo) // (workers * 4)))
    batches = [todo[at : at + size] for at in range(0, len(todo), size)]

    def keep(batch_of: list[int], outcomes: list[Outcome]) -> None:
        for n, outcome in zip(batch_of, outcomes):
            done[n] = outcome
            if files:
                _save(files[n], outcome)
        if progress is not None:
            progress(len(done), len(all_cases))

    if progress is not None and done:
        progress(len(done), len(all_cases))
    work = [[all_cases[n] for n in batch_of] for batch_of in batches]
    if client is not None:
        import distributed

        # Each batch runs once, also where two cases are alike.
        futures = client.map(_run_batch, work, pure=False)
        of_future = {future.key: batch_of for future, batch_of in zip(futures, batches)}
        for future, outcomes in distributed.as_completed(futures, with_results=True):  # type: ignore[no-untyped-call, unused-ignore]
            keep(of_future[future.key], outcomes)
    else:
        with ThreadPoolExecutor(workers) as pool:
            running = {pool.submit(_run_batch, cases): batch_of for cases, batch_of in zip(work, batches)}
            for finished in as_completed(running):
                keep(running[finished], finished.result())
    return [done[n] for n in range(len(all_cases))]


def _load(file: Path) -> Outcome | None:
    """What was kept; a file that is cut short counts as none."""
    try:
        with file.open("rb") as kept:
            outcome = pickle.load(kept)
    except (OSError, EOFError, pickle.UnpicklingError):
        return None
    return outcome if isinstance(outcome, Outcome) else None


def _save(file: Path, outcome: Outcome) -> None:
    """Whole or not at all."""
    part = file.with_suffix(f".{os.getpid()}.part")
    part.write_bytes(pickle.dumps(outcome))
    part.replace(file)
