"""The Hierarchical Memory Machine (ICPP section II): DMMs on one UMM."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from mmsim.model import machines


@dataclass(frozen=True)
class HMM(machines.Machine):
    """Hierarchical Memory Machine: `dmms` DMMs on one UMM (ICPP section II).

    Array parameters lie in the global memory (address groups, `global_latency`). `mm.shared` arrays
    lie in the shared memory (banks, `shared_latency`) of their block's DMM. With `bank_bytes`,
    elements take their own bytes in both memories, and an address group has as many bytes as all
    banks together.

    >>> HMM(dmms=2, width=32, global_latency=300)
    HMM(dmms=2, width=32, global_latency=300, shared_latency=1)
    """

    kind = "hmm"
    first_latency = "global_latency"

    dmms: int
    width: int
    global_latency: int
    shared_latency: int = 1
    bank_bytes: int | None = None

    def __post_init__(self) -> None:
        machines.check_numbers(self, "dmms", "width", "global_latency", "shared_latency")
        machines.check_bank_bytes(self)

    @cached_property
    def memory(self) -> machines.Unit:
        rule = machines.groups(self)
        return machines.Unit("global", rule, self.global_latency, None, "global")

    @cached_property
    def shared(self) -> machines.Units:
        rule = machines.banks(self)
        return machines.Units((), self.dmms, self.shared_latency, rule)

    def __repr__(self) -> str:
        return machines.in_short(self)

    @cached_property
    def units(self) -> machines.Units:
        return replace(self.shared, before=(self.memory,))
