"""The result of a run: time, arrays, accesses, rounds; several runs as one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy.typing as npt

from mmsim.errors import LaunchError, MMSimError, UnknownNameError, shown
from mmsim.host.arguments import several
from mmsim.host.guesses import Guessed, instead
from mmsim.ir.liveness import Registers
from mmsim.ir.nodes import Source
from mmsim.model.machines import Machine
from mmsim.model.memory import MANY
from mmsim.model.threads import Shape
from mmsim.results.cache import CacheRow, CacheRows, bound, busy, merged
from mmsim.results.findings import Finding, Findings, merge
from mmsim.results.rows import (
    IN_SPACE,
    AccessRow,
    AccessRows,
    Profile,
    ProfileLine,
    RoundRow,
    RoundRows,
)
from mmsim.results.trace import Trace
from mmsim.tabular import Rows, Tabular

AnyRow = TypeVar("AnyRow", AccessRow, RoundRow, CacheRow)

ROWS = "run.profile() for each line, or run.accesses for each line and array"
INSTEAD = instead(
    {
        "conflicts bank_conflicts": f"run.wasted for the stages beyond the least possible, {ROWS}",
        "cycles total_time elapsed duration T": "run.time",
        "result results output out data": "run[NAME] for an array parameter, run.arrays for all",
        "stats counters metrics": ROWS,
        "summary report describe": f"print(run), {ROWS}",
        "lines by_line": "run.profile()",
        "to_pandas df": "run.to_dataframe()",
        "timeline animate step": "run.player()",
        "transactions wavefronts": "run.stages",
        "show": "run.plot() for a figure, run.player() to step through it",
        "save": "run.to_json() for all of it as text, run.to_csv(path) for its rows",
        "compare": "run.diff(other) for a table, mm.compare(run, other) to step through both",
        "latency": "run.machine.latency, or run.time for the time of the run",
        "prediction predicted milliseconds bound": "run.profile().prediction on a card, or "
        "card.predict(kernel, ...), as mm.H200().predict",
        "savefig": "mm.figures.save(run.plot(), path)",
    }
)
"""Names of other tools' results, with a run's name for each."""

TABLES: dict[str, type[Rows[Any]]] = {
    "accesses": AccessRows,
    "rounds": RoundRows,
    "findings": Findings,
    "cache": CacheRows,
}
"""The fields of a run that show themselves as tables."""


@dataclass(frozen=True, eq=False, repr=False)
class Run(Tabular, Guessed):
    """The result of a launch; `mmsim.Run` describes the fields."""

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
    registers: Registers | None = None
    launches: int = 1
    findings: tuple[Finding, ...] | None = None
    record: Trace | None = field(default=None, repr=False)
    shape: Shape | None = None
    records: tuple[Trace, ...] = field(default=(), repr=False)
    cache: tuple[CacheRow, ...] = ()
    text: str = ""

    def __post_init__(self) -> None:
        for name, kind in TABLES.items():
            rows = getattr(self, name)
            if type(rows) is tuple:
                object.__setattr__(self, name, kind(rows))

    @property
    def _instead(self) -> dict[str, str]:
        arrays = vars(self).get("arrays", ())  # there are none before it is made
        return INSTEAD | {name: f"run[{name!r}]" for name in arrays}

    @property
    def requests(self) -> int:
        """Warp requests of the run."""
        return sum(row.requests for row in self.accesses)

    @property
    def stages(self) -> int:
        """Pipeline stages that all requests occupied."""
        return sum(row.stages for row in self.accesses)

    @property
    def wasted(self) -> int:
        """Stages beyond the least possible, of all requests."""
        return sum(row.wasted for row in self.accesses)

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """The final contents of an array parameter, by name: `run["b"]` is `run.arrays["b"]`.

        Raises `UnknownNameError`, which is a `KeyError`, for any other name.
        """
        if not isinstance(name, str) or name not in self.arrays:
            known = ", ".join(self.arrays)
            raise UnknownNameError(
                f"{self.program} has no array parameter {shown(name)}; there are {known}"
            )
        return self.arrays[name]

    __iter__ = None  # else Python would take anything with an index for a sequence

    @property
    def trace(self) -> Trace:
        """Everything that happened. Raises `MMSimError` if the run did not record it."""
        if self.record is None:
            advice = (
                f"run it with trace=True, as machine.run({self.program}, ..., trace=True); "
                f"{self.program}.player() steps through a launch {self.program}[grid, block](...), "
                "and `with cuda.trace():` records it"
            )
            if self.records:
                advice = "run.traces has one for each of its launches, and run.player() shows them"
            elif self.launches > 1:
                advice = (
                    "it has one for each launch if all of them were run with trace=True, or within "
                    "`with cuda.trace():`"
                )
            raise MMSimError(f"this run of {self.program!r} has no trace; {advice}")
        return self.record

    @property
    def traces(self) -> tuple[Trace, ...]:
        """The trace of each launch. Raises `MMSimError` if a launch was not recorded."""
        return self.records or (self.trace,)

    def profile(self) -> Profile:
        """Return the program's source, line by line, with the cost and the waste of each line."""
        numbers = self.machine.cache
        whole = () if numbers is None else busy(self.cache, numbers, of_run=True)
        lines = []
        for source in self.sources:
            for number, text in enumerate(source.lines, source.first):
                here = of_line(self.accesses, source.file, number)
                cached = of_line(self.cache, source.file, number)
                rounds = of_line(self.rounds, source.file, number)
                times = () if numbers is None or not cached else busy(cached, numbers)
                lines.append(
                    ProfileLine(
                        source.function,
                        source.file,
                        number,
                        text,
                        sum(row.requests for row in here),
                        sum(row.stages for row in here),
                        sum(row.least for row in here),
                        None if self.schedule != "synchronous" else sum(one.time for one in rounds),
                        sum(row.sectors for row in cached),
                        times,
                        bound(times, whole, self.time) if times else "",
                    )
                )
        return Profile(self.program, tuple(lines), self.registers, vars(self).get("predicts"))


def of_line(rows: Iterable[AnyRow], file: str, line: int) -> list[AnyRow]:
    """The rows of a source line."""
    return [row for row in rows if (row.file, row.line) == (file, line)]


def total(runs: Iterable[Run]) -> Run:
    """See `mmsim.total`."""
    launches = [runs] if isinstance(runs, Run) else several("total takes runs", runs)
    if not launches:
        raise LaunchError("total of no runs; give at least one")
    first = launches[0]
    arrays: dict[str, npt.NDArray[Any]] = {}
    programs: dict[str, None] = {}
    for run in launches:
        if not isinstance(run, Run):
            raise LaunchError(f"total takes runs, not {shown(run)}")
        same = run.machine is first.machine or run.machine == first.machine
        if not same or run.schedule != first.schedule:
            raise LaunchError(
                f"total of runs on different machines or schedules: {first.machine} "
                f"{first.schedule} and {run.machine} {run.schedule}"
            )
        programs[run.program] = None
        arrays |= run.arrays
    for name, array in arrays.items():
        if array.nbytes <= MANY:
            arrays[name] = array.copy()
    accesses, rounds, sources = _rows(launches)
    traced = all([run.records or run.record is not None for run in launches])
    shapes = {run.shape for run in launches}
    return Run(
        machine=first.machine,
        program=" + ".join(programs),
        threads=max([run.threads for run in launches]),
        block_size=max([run.block_size for run in launches]),
        schedule=first.schedule,
        engine=" + ".join(dict.fromkeys([run.engine for run in launches])),
        time=sum([run.time for run in launches]),
        arrays=arrays,
        accesses=accesses,
        rounds=rounds,
        sources=sources,
        registers=_most([run.registers for run in launches]),
        launches=sum([run.launches for run in launches]),
        findings=merge([run.findings for run in launches]),
        text="".join([run.text for run in launches]),
        shape=first.shape if len(shapes) == 1 else None,
        records=tuple(trace for run in launches for trace in run.traces) if traced else (),
        cache=merged(row for run in launches for row in run.cache),
    )


def _most(needed: list[Registers | None]) -> Registers | None:
    """The registers that suffice for each of several launches; None if one isn't known."""
    known = [one for one in needed if one is not None]
    if len(known) < len(needed):
        return None
    return Registers(max([one.data for one in known]), max([one.words for one in known]))


def _rows(
    launches: list[Run],
) -> tuple[tuple[AccessRow, ...], tuple[RoundRow, ...], tuple[Source, ...]]:
    """The rows and sources of several launches."""
    accesses: dict[tuple[Any, ...], AccessRow] = {}
    rounds: list[RoundRow] = []
    sources: dict[tuple[str, int, str], Source] = {}
    start = 0
    for run in launches:
        for row in run.accesses:
            key = IN_SPACE(row)
            accesses[key] = add_rows(accesses[key], row) if key in accesses else row
        before = len(rounds)
        rounds += [row.after(before, start) for row in run.rounds]
        for source in run.sources:
            sources.setdefault((source.file, source.first, source.function), source)
        start += run.time
    return AccessRows(accesses.values()), RoundRows(rounds), tuple(sources.values())


def add_rows(first: AccessRow, second: AccessRow) -> AccessRow:
    """Two rows of one line, array and kind as one."""
    requests, stages = first.requests + second.requests, first.stages + second.stages
    class_ = first.access_class if second.access_class != "casual" else "casual"
    return first.with_counts(requests, stages, first.least + second.least, class_)
