"""The Unified Memory Machine (SMM section 2): one memory of address groups."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from mmsim.model.machines import Machine, Unit, check_numbers, groups


@dataclass(frozen=True)
class UMM(Machine):
    """Unified Memory Machine: `width` words to an address group (SMM section 2).

    >>> UMM(4, 3) == UMM(width=4, latency=3)
    True
    """

    kind = "umm"

    width: int
    latency: int

    def __post_init__(self) -> None:
        check_numbers(self, "width", "latency")

    @cached_property
    def memory(self) -> Unit:
        return Unit("memory", groups(self), self.latency)
