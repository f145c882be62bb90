"""A program's source, line by line, with what each line cost."""

from __future__ import annotations

from dataclasses import dataclass

from mmsim.ir.liveness import Registers
from mmsim.ir.nodes import Source
from mmsim.results.rows import AccessRow, RoundRow
from mmsim.tabular import Tabular


@dataclass(frozen=True)
class ProfileLine:
    """One source line: `time` is None under the asynchronous schedule, where lines overlap."""

    function: str
    file: str
    line: int
    text: str
    requests: int
    stages: int
    least: int
    time: int | None

    @property
    def wasted(self) -> int:
        """Stages beyond the least possible."""
        return self.stages - self.least


@dataclass(frozen=True, repr=False)
class Profile(Tabular):
    """The lines of a program and of the functions that it calls, and the registers it needs."""

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
) -> Profile:
    """The profile of a run."""
    lines = []
    for source in sources:
        for offset, text in enumerate(source.lines):
            number = source.first + offset
            here = [row for row in accesses if (row.file, row.line) == (source.file, number)]
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
                )
            )
    return Profile(program, tuple(lines), registers)
