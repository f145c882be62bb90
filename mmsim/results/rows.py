"""What a run counted, row by row: plain data.

`least` is the number of stages that the same requests would have taken at best: a warp's request
has at most w distinct addresses, so one stage each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["read", "write"]
AccessClass = Literal["coalesced", "conflict-free", "casual"]


@dataclass(frozen=True)
class AccessRow:
    """All requests that one source line made to one array, reads and writes apart.

    `space` is "global" or "shared" on the HMM, "memory" elsewhere. `access_class` is the papers'
    (ICPP section III): "coalesced" if every request to a memory of address groups went to one
    group, "conflict-free" if every request to a memory of banks wanted one word of a bank at most,
    else "casual".
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
    access_class: AccessClass

    @property
    def wasted(self) -> int:
        """Stages beyond the least possible."""
        return self.stages - self.least


@dataclass(frozen=True)
class RoundRow:
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
    access_class: AccessClass

    @property
    def least(self) -> int:
        """The least possible stages: one for each request."""
        return self.requests

    @property
    def wasted(self) -> int:
        """Stages beyond the least possible."""
        return self.stages - self.least

    def after(self, rounds: int, time: int) -> RoundRow:
        """This round of a launch that begins after so many rounds and so much time."""
        return RoundRow(
            rounds + self.number,
            time + self.start,
            self.time,
            self.function,
            self.file,
            self.line,
            self.array,
            self.kind,
            self.space,
            self.requests,
            self.stages,
            self.access_class,
        )


def classify(conflict: str, requests: int, stages: int) -> AccessClass:
    """The papers' class of requests that took so many stages (ICPP section III)."""
    if stages > requests:
        return "casual"
    return "conflict-free" if conflict == "bank" else "coalesced"
