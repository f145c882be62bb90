"""What `Machine.check` found out about a program."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mmsim.errors import MMSimError
from mmsim.machines import Machine
from mmsim.results.findings import Finding
from mmsim.results.run import Run
from mmsim.results.trace import Trace

if TYPE_CHECKING:
    from mmsim.player import Player


@dataclass(frozen=True, eq=False)
class Report:
    """The result of `Machine.check`: plain data.

    Attributes
    ----------
    findings
        A `Finding` for each thing that is wrong; none, and `ok`, if nothing was found.
    run
        The run, None where an error of the program ended it.
    time
        Time units until the program had ended, or until its error.
    machine, program, threads, block_size, schedule
        What was checked.
    """

    machine: Machine
    program: str
    threads: int
    block_size: int
    schedule: str
    time: int
    findings: tuple[Finding, ...]
    run: Run | None = None
    record: Trace | None = field(default=None, repr=False)

    @property
    def ok(self) -> bool:
        """Whether nothing was found."""
        return not self.findings

    @property
    def trace(self) -> Trace:
        """What happened, up to the error if there was one. Raises `MMSimError` without one."""
        if self.record is None:
            raise MMSimError(
                f"this check of {self.program!r} has no trace; give it trace=True (an error that "
                "is found before any thread begins has none all the same)"
            )
        return self.record

    def player(self, *, start: int = 0, end: int | None = None) -> Player:
        """A page to step through what happened, with the findings marked; see `Trace.player`."""
        from mmsim.player import Player

        return Player(self.trace, start, end, self.findings)

    def to_json(self) -> str:
        """The report as JSON text; `Report.from_json` gives an equal one."""
        from mmsim.results.codec import dump

        return dump(self)

    @classmethod
    def from_json(cls, text: str) -> Report:
        """The report that `to_json` wrote. Raises `FormatError` for anything else."""
        from mmsim.results.codec import load

        return load(text, cls)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Report):
            return NotImplemented
        return self.to_json() == other.to_json()

    __hash__ = None  # type: ignore[assignment]  # it holds arrays

    def __str__(self) -> str:
        count = len(self.findings)
        found = f"{count} finding{'' if count == 1 else 's'}" if count else "nothing found"
        head = (
            f"{self.program} on {self.machine}, {self.threads} threads in blocks of "
            f"{self.block_size}, {self.schedule}: {found}"
        )
        numbered = (f"{number}. {one}" for number, one in enumerate(self.findings, 1))
        return "\n".join([head, *numbered])

    __repr__ = __str__
