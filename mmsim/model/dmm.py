"""The Discrete Memory Machine (SMM section 2): one memory of banks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from mmsim.model.machines import Machine, Unit, banks, check_bank_bytes, check_numbers, in_short


@dataclass(frozen=True)
class DMM(Machine):
    """Discrete Memory Machine of `width` banks and `latency` time units (SMM section 2).

    A word holds an element. With `bank_bytes`, the bytes of a bank (4 on a GPU), an element takes
    its own bytes, and long elements are served in parts (docs/machines.md).

    >>> DMM(width=32, latency=5)
    DMM(width=32, latency=5)
    >>> DMM(32, 5, bank_bytes=4).memory.conflict
    ByteBanks(width=32, bank_bytes=4)
    """

    kind = "dmm"

    width: int
    latency: int
    bank_bytes: int | None = None

    def __post_init__(self) -> None:
        check_numbers(self, "width", "latency")
        check_bank_bytes(self)

    @cached_property
    def memory(self) -> Unit:
        return Unit("memory", banks(self), self.latency)

    def __repr__(self) -> str:
        return in_short(self)
