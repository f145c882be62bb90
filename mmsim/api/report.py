"""A report of a check that can be stepped through and saved."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mmsim.api.result import Run, Saved
from mmsim.api.trace import Trace
from mmsim.results import report

if TYPE_CHECKING:
    from mmsim.view.player import Player


@dataclass(frozen=True, eq=False, repr=False)
class Report(Saved, report.Report):
    """The result of `Machine.check`: plain data.

    Attributes
    ----------
    findings
        A `Finding` for each mistake. If there is none, `ok` is True.
    run
        The run; None if an error of the program ended it.
    time
        Time units until the program ended, or until its error.
    machine, program, threads, block_size, schedule
        The launch that was checked.
    proved
        A `Proof` for all sizes, with `prove=True`; else None.
    """

    run: Run | None = None
    record: Trace | None = field(default=None, repr=False)

    @classmethod
    def of(cls, plain: report.Report) -> Report:
        """Return the checker's report, with the methods for users."""
        made = cls._as(plain)
        if plain.run is not None:
            made.__dict__["run"] = Run.of(plain.run)
        return made

    @property
    def trace(self) -> Trace:
        """The trace, up to the error if there was one. Raises `MMSimError` if there is no trace."""
        found = super().trace
        assert isinstance(found, Trace)
        return found

    def player(
        self, *, start: int = 0, end: int | None = None, preset: str | None = None
    ) -> Player:
        """Return a page to step through the check, with findings marked; see `Trace.player`."""
        from mmsim.view.player import Player

        scope = self.looked_for if self.ok else ""
        return Player(self.trace, start, end, self.findings, looked_for=scope, preset=preset)

    def to_json(self) -> str:
        """Return the report as JSON text; `Report.from_json` returns an equal report."""
        from mmsim.results.codec import dump

        return dump(self, looked_for=self.looked_for)
