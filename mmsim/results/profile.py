"""A program's source, line by line, with the cost of each line."""

from __future__ import annotations

from dataclasses import dataclass

from mmsim.host.guesses import Guessed, instead
from mmsim.ir.liveness import Registers
from mmsim.ir.nodes import Source
from mmsim.model.cache import Numbers
from mmsim.results.cache import CacheRow, bound, busy
from mmsim.results.rows import AccessRow, RoundRow
from mmsim.tabular import Tabular


@dataclass(frozen=True)
class ProfileLine:
    """One source line. `time` is None under the asynchronous schedule, where lines overlap.

    On a machine with sectors and a cache, `sectors` counts the sectors of its requests for global
    memory. `busy` has the time units for which they occupied each of
    `mmsim.results.cache.RESOURCES`; of ports, wires and slices, the busiest one. `bound` names the
    resource that binds them.
    """

    function: str
    file: str
    line: int
    text: str
    requests: int
    stages: int
    least: int
    time: int | None
    sectors: int = 0
    busy: tuple[int, ...] = ()
    bound: str = ""

    @property
    def wasted(self) -> int:
        """Stages beyond the least possible."""
        return self.stages - self.least


@dataclass(frozen=True, repr=False)
class Profile(Tabular, Guessed):
    """The lines of a program and of its functions, and the registers of a thread."""

    _instead = instead(
        {
            "to_dataframe to_pandas df": "pandas.DataFrame(profile.lines)",
            "to_csv": "run.to_csv(path)",
            "time": "run.time, or line.time of each line of profile.lines",
            "plot": "mm.figures.lines(run)",
        }
    )

    program: str
    lines: tuple[ProfileLine, ...]
    registers: Registers | None = None

    @property
    def stages(self) -> int:
        """All stages of the run."""
        return sum(line.stages for line in self.lines)

    @property
    def wasted(self) -> int:
        """All stages beyond the least possible."""
        return sum(line.wasted for line in self.lines)


def profile(
    program: str,
    sources: tuple[Source, ...],
    accesses: tuple[AccessRow, ...],
    rounds: tuple[RoundRow, ...],
    synchronous: bool,
    registers: Registers | None,
    cached: tuple[CacheRow, ...] = (),
    numbers: Numbers | None = None,
    taken: int = 0,
) -> Profile:
    """The profile of a run that took so many time units."""
    lines = []
    whole = () if numbers is None else busy(cached, numbers, of_run=True)
    for source in sources:
        for offset, text in enumerate(source.lines):
            number = source.first + offset
            here = [row for row in accesses if (row.file, row.line) == (source.file, number)]
            of_cache = [row for row in cached if (row.file, row.line) == (source.file, number)]
            times = () if numbers is None or not of_cache else busy(of_cache, numbers)
            time = sum(row.time for row in rounds if (row.file, row.line) == (source.file, number))
            lines.append(
                ProfileLine(
                    source.function,
                    source.file,
                    number,
                    text,
                    sum(row.requests for row in here),
                    sum(row.stages for row in here),
                    sum(row.least for row in here),
                    time if synchronous else None,
                    sum(row.sectors for row in of_cache),
                    times,
                    bound(times, whole, taken) if times else "",
                )
            )
    return Profile(program, tuple(lines), registers)
