"""The counts of a run, row by row: plain data.

`least` is the least number of stages for the same requests. By the papers' rules it is one for each
request, as a warp's request has at most w distinct addresses. The row has it because other rules
may need more: a rule that serves a warp in halves takes a stage for each half with a request.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter
from typing import Any, Literal, TypeVar

from mmsim.errors import CallError
from mmsim.host.guesses import Guessed, instead
from mmsim.ir.liveness import Registers
from mmsim.results.prediction import Prediction
from mmsim.tabular import Rows, Tabular

Kind = Literal["read", "write", "atomic"]
AnyRow = TypeVar("AnyRow")

ACCESS = attrgetter("function", "file", "line", "array", "kind")
"""The accesses whose requests a row counts: those of a line, of one kind, to one array."""
IN_SPACE = attrgetter("function", "file", "line", "array", "kind", "space")
"""The same in one memory."""


class Stages:
    """Counts of stages: `stages` were taken, and at least `least` were needed."""

    stages: int
    least: int

    @property
    def wasted(self) -> int:
        """Stages beyond the least possible."""
        return self.stages - self.least


def _changed(row: AnyRow, **fields: object) -> AnyRow:
    """A row with other fields, as `dataclasses.replace`, which takes far longer."""
    made = object.__new__(type(row))
    vars(made).update(vars(row), **fields)
    return made


@dataclass(frozen=True)
class AccessRow(Stages, Tabular):
    """All requests that one source line made to one array, reads and writes apart.

    `space` is "global" or "shared" on the HMM, "memory" elsewhere. `access_class` is the papers'
    (ICPP section III). "coalesced": every request to a memory of address groups went to one group.
    "conflict-free": every request to a memory of banks had at most one word in each bank. "casual":
    any other. The rule of a unit may name the first of these otherwise.
    """

    function: str
    file: str
    line: int
    array: str
    kind: Kind
    space: str
    requests: int
    stages: int
    least: int
    access_class: str

    def with_counts(self, requests: int, stages: int, least: int, class_: str) -> AccessRow:
        """This access with other counts."""
        counts = {"requests": requests, "stages": stages, "least": least}
        return _changed(self, **counts, access_class=class_)


@dataclass(frozen=True)
class RoundRow(Stages, Tabular):
    """One round of the synchronous schedule: a memory instruction that some thread executed.

    It began at time unit `start` and took `time` time units; `stages` is summed over all units.
    """

    number: int
    start: int
    time: int
    function: str
    file: str
    line: int
    array: str
    kind: Kind
    space: str
    requests: int
    stages: int
    access_class: str
    least: int

    def after(self, rounds: int, time: int) -> RoundRow:
        """This round of a launch that begins after so many rounds and so much time."""
        if not rounds and not time:
            return self
        return _changed(self, number=rounds + self.number, start=time + self.start)


class AccessRows(Rows[AccessRow]):
    """The accesses of a run."""

    __slots__ = ()


class RoundRows(Rows[RoundRow]):
    """The rounds of a run."""

    __slots__ = ()


class SweepRows(Tabular, Guessed, list[dict[str, Any]]):
    """The rows of a sweep."""

    __slots__ = ()
    _instead = instead(
        {
            "to_dataframe to_pandas df": "pandas.DataFrame(rows)",
            "to_csv": "pandas.DataFrame(rows).to_csv(path)",
            "plot": "mm.figures.sweep(rows, over)",
        }
    )

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, str):
            raise CallError(
                f"rows have numbers, not names; write [row[{at!r}] for row in rows], or "
                f"pandas.DataFrame(rows)[{at!r}]"
            )
        return super().__getitem__(at)


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
    """The lines of a program and of its functions, and the registers of a thread.

    On a card, it has the predicted time of the launch, too.
    """

    _instead = instead(
        {
            "to_dataframe to_pandas df": "pandas.DataFrame(profile.lines)",
            "to_csv": "run.to_csv(path)",
            "time": "run.time, or line.time of each line of profile.lines",
            "plot": "mm.figures.lines(run)",
            "milliseconds ms bound": "profile.prediction, of a run on a card such as mm.H200()",
        }
    )

    program: str
    lines: tuple[ProfileLine, ...]
    registers: Registers | None = None
    predicts: Callable[[], Prediction] | None = field(default=None, compare=False)

    @cached_property
    def prediction(self) -> Prediction | None:
        """The predicted time of the launch, computed on demand.

        None on a machine that isn't a card, for several launches, and for a run from a file.

        Under the asynchronous schedule, it is that of the run. In lock step, as no card runs, it is
        that of `Card.predict`: the arguments count as they are now, and it raises what that raises.
        """
        return None if self.predicts is None else self.predicts()

    @property
    def stages(self) -> int:
        """All stages of the run."""
        return sum(line.stages for line in self.lines)

    @property
    def wasted(self) -> int:
        """All stages beyond the least possible."""
        return sum(line.wasted for line in self.lines)
