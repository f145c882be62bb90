"""The report of `Machine.check` on a program: what was found, and what was looked for."""

from __future__ import annotations

from dataclasses import dataclass, field

from mmsim.errors import MMSimError
from mmsim.host.guesses import Guessed, instead
from mmsim.model.machines import Machine
from mmsim.model.threads import Shape, launched
from mmsim.printable import counted, printable
from mmsim.results.findings import Finding, Findings
from mmsim.results.proved import Proof
from mmsim.results.run import Run
from mmsim.results.trace import Trace
from mmsim.tabular import Tabular

LOCK_STEP = "in lock step (synchronous schedule): data races within a round"
INDEPENDENTLY = (
    "with warps and lanes that run independently (asynchronous schedule): data races between warps "
    "and between blocks, missing syncs between the lanes of a warp"
)
OF_A_RUN = "lost updates, reads of uninitialized memory, divergent barriers"
OF_A_CHECK = "results that depend on which write wins, deadlocks"
AS_ON_A_GPU = (
    "races between warps and missing syncs between lanes that run independently, as on a GPU: "
    'pass schedule="asynchronous"'
)
OTHERS = "other arguments, other numbers of threads, and paths that were not taken"


@dataclass(frozen=True, eq=False, repr=False)
class Report(Tabular, Guessed):
    """The result of a check; `mmsim.api.report.Report` describes the fields."""

    _instead = instead(
        {
            "errors warnings problems": "report.findings",
            "races": "[finding for finding in report.findings if finding.kind == 'race']",
            "passed good": "report.ok",
            "plot": "report.player() to step through it, or report.run.plot()",
        }
    )

    machine: Machine
    program: str
    threads: int
    block_size: int
    schedule: str
    time: int
    findings: tuple[Finding, ...]
    run: Run | None = None
    record: Trace | None = field(default=None, repr=False)
    shape: Shape | None = None
    proved: Proof | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "findings", Findings(self.findings))

    @property
    def ok(self) -> bool:
        """Return whether nothing was found."""
        return not self.findings

    @property
    def looked_for(self) -> str:
        """The mistakes that the check looks for under this schedule, and those that it doesn't."""
        return looked_for(self.schedule, thorough=True)

    @property
    def trace(self) -> Trace:
        """The trace, up to the error if there was one. Raises `MMSimError` if there is no trace."""
        if self.record is None:
            raise MMSimError(
                f"this check of {self.program!r} has no trace; give it trace=True (an error that "
                "is found before any thread begins has none all the same)"
            )
        return self.record

    def __str__(self) -> str:
        found = counted(len(self.findings), "finding") if self.findings else "nothing found"
        threads = launched(self.threads, self.block_size, self.shape)
        head = f"{printable(self.program)} on {self.machine}, {threads}, {self.schedule}: {found}"
        lines = [f"{number}. {one}" for number, one in enumerate(self.findings, 1)]
        lines = lines or [self.looked_for]
        return "\n".join([head, *lines, *([] if self.proved is None else [str(self.proved)])])

    __repr__ = __str__


def looked_for(schedule: str, *, thorough: bool) -> str:
    """The mistakes that a check under a schedule looked for, and those that it didn't.

    `thorough` stands for `Machine.check`, else for one run with `check=True`.

    >>> looked_for("asynchronous", thorough=True).partition(". ")[2]
    'Not looked for: other arguments, other numbers of threads, and paths that were not taken.'
    """
    lock_step = schedule == "synchronous"
    done = [LOCK_STEP if lock_step else INDEPENDENTLY, OF_A_RUN, *[OF_A_CHECK] * thorough]
    missing = [AS_ON_A_GPU] * lock_step + [f"{OF_A_CHECK} (machine.check and mmsim check do)"] * (
        not thorough
    )
    return f"Looked for {', '.join(done)}. Not looked for: {'; '.join([*missing, OTHERS])}."
