"""What a run did: time, arrays, accesses, rounds; several runs as one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy.typing as npt

from mmsim.errors import LaunchError, MMSimError
from mmsim.language.ir import Source
from mmsim.machines import Machine
from mmsim.memory import MANY
from mmsim.results.findings import Finding, merge
from mmsim.results.profile import Profile, profile
from mmsim.results.rows import AccessRow, RoundRow, classify
from mmsim.results.trace import Trace

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class Run:
    """The result of `Machine.run`: plain data.

    Attributes
    ----------
    time
        Time units until everything had drained.
    arrays
        Every array parameter by name, as it stood at the end, in logical order. One of more than
        64 KiB that the program doesn't write is no copy of the argument but a read-only view of it.
    accesses
        An `AccessRow` for each source line, array and read or write, in the order of the program.
    rounds
        Under the synchronous schedule a `RoundRow` for each round, else empty.
    findings
        With `check=True` what looking on found: a `Finding` for each data race, read of what nobody
        has written, and barrier that not all reach; None: not checked.
    machine, program, threads, block_size, schedule, engine, sources
        What was run, and the text of its functions.
    """

    machine: Machine
    program: str
    threads: int
    block_size: int
    schedule: str
    engine: str
    time: int
    arrays: dict[str, npt.NDArray[Any]]
    accesses: tuple[AccessRow, ...]
    rounds: tuple[RoundRow, ...]
    sources: tuple[Source, ...]
    launches: int = 1
    findings: tuple[Finding, ...] | None = None
    record: Trace | None = field(default=None, repr=False)

    @property
    def requests(self) -> int:
        """Warp requests of the run."""
        return sum(row.requests for row in self.accesses)

    @property
    def stages(self) -> int:
        """Pipeline stages that all requests occupied."""
        return sum(row.stages for row in self.accesses)

    @property
    def trace(self) -> Trace:
        """Everything that happened. Raises `MMSimError` if the run did not record it."""
        if self.record is None:
            advice = "run it with engine='events', or with trace=True"
            if self.launches > 1:
                advice = "its launches have one each, if they were run with trace=True"
            raise MMSimError(f"this run of {self.program!r} has no trace; {advice}")
        return self.record

    def profile(self) -> Profile:
        """The program's source, line by line, with what each line cost and wasted."""
        return profile(
            self.program,
            self.sources,
            self.accesses,
            self.rounds,
            self.schedule == "synchronous",
        )

    def plot(self, *, axes: Axes | None = None) -> Axes:
        """Draw the pipeline of a short run with a trace, else the stages by round or by line.

        `mmsim.figures` has these figures and others.
        """
        from mmsim.view.figures import plot

        return plot(self, axes=axes)

    def to_json(self) -> str:
        """The run as JSON text; `Run.from_json` gives an equal run."""
        from mmsim.results.codec import dump

        return dump(self)

    def to_csv(self, path: str | Path, rows: Literal["accesses", "rounds"] = "accesses") -> None:
        """Write `accesses` or `rounds` to a file of comma-separated values.

        The columns are the fields of `AccessRow` or `RoundRow`, and `wasted`.
        """
        from mmsim.view.sheets import save_csv

        save_csv(self, path, rows)

    @classmethod
    def from_json(cls, text: str) -> Run:
        """The run that `to_json` wrote. Raises `FormatError` for anything else."""
        from mmsim.results.codec import load

        return load(text, cls)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Run):
            return NotImplemented
        return self.to_json() == other.to_json()

    __hash__ = None  # type: ignore[assignment]  # it holds arrays

    def __repr__(self) -> str:
        from mmsim.view import text

        return text(self)

    def _repr_html_(self) -> str:
        from mmsim.view import html

        return html(self)

    def __rich__(self) -> object:
        from mmsim.view import rich

        return rich(self)


def total(runs: Iterable[Run]) -> Run:
    """Several launches as one run: one after the other, each begun when the last has drained.

    Times, accesses and rounds add up; of an array name that several
    launches have, the last one's contents are kept, copied or, if larger than 64 KiB, shared.
    Raises `LaunchError` for no runs, or runs on different machines or schedules.

    >>> import numpy as np, mmsim as mm
    >>> @mm.program
    ... def read(T, a):
    ...     a[T.id]
    >>> run = mm.UMM(4, 5).run(read, np.zeros(8), threads=8)
    >>> run.time, mm.total([run, run]).time
    (6, 12)
    """
    launches = list(runs) if isinstance(runs, Iterable) else [runs]
    if not launches:
        raise LaunchError("total of no runs; give at least one")
    for run in launches:
        if not isinstance(run, Run):
            raise LaunchError(f"total takes runs, not {run!r}")
    first = launches[0]
    for run in launches[1:]:
        if (run.machine, run.schedule) != (first.machine, first.schedule):
            raise LaunchError(
                f"total of runs on different machines or schedules: {first.machine} "
                f"{first.schedule} and {run.machine} {run.schedule}"
            )
    arrays: dict[str, npt.NDArray[Any]] = {}
    accesses: dict[tuple[Any, ...], AccessRow] = {}
    rounds: list[RoundRow] = []
    sources: dict[tuple[str, int, str], Source] = {}
    start = 0
    for run in launches:
        arrays.update((name, _own(array)) for name, array in run.arrays.items())
        for row in run.accesses:
            key = (row.file, row.line, row.function, row.array, row.kind, row.space)
            accesses[key] = add_rows(accesses[key], row) if key in accesses else row
        before = len(rounds)
        rounds += [row.after(before, start) for row in run.rounds]
        for source in run.sources:
            sources.setdefault((source.file, source.first, source.function), source)
        start += run.time
    programs = list(dict.fromkeys(run.program for run in launches))
    return replace(
        first,
        program=" + ".join(programs),
        threads=max(run.threads for run in launches),
        block_size=max(run.block_size for run in launches),
        engine=" + ".join(dict.fromkeys(run.engine for run in launches)),
        time=start,
        arrays=arrays,
        accesses=tuple(accesses.values()),
        rounds=tuple(rounds),
        sources=tuple(sources.values()),
        launches=sum(run.launches for run in launches),
        findings=merge(run.findings for run in launches),
        record=None,
    )


def _own(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A copy of an array, or the array itself if it is large."""
    return array.copy() if array.nbytes <= MANY else array


def add_rows(first: AccessRow, second: AccessRow) -> AccessRow:
    """Two rows of one line, array and kind as one."""
    requests, stages = first.requests + second.requests, first.stages + second.stages
    conflict = "group" if "coalesced" in (first.access_class, second.access_class) else "bank"
    return AccessRow(
        first.function,
        first.file,
        first.line,
        first.array,
        first.kind,
        first.space,
        requests,
        stages,
        first.least + second.least,
        classify(conflict, requests, stages),
    )
