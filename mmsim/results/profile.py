"""A program's source, line by line, with the cost of each line."""

from __future__ import annotations

from dataclasses import dataclass

from mmsim.host.guesses import Guessed, instead
from mmsim.ir.liveness import Registers
from mmsim.results.rows import Stages
from mmsim.tabular import Tabular


@dataclass(frozen=True)
class ProfileLine(Stages):
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
