"""Words of other sizes than a bank's: narrowing arguments, and machines for the other sizes.

A bank of a GPU is 4 bytes wide, an address group has 128 bytes. So the papers' rule, 32 banks or 32
words of a group, is for words of 4 bytes; machines with `bank_bytes=4` serve others as a GPU does.
In the CUDA C of a program, an element of shared memory takes 4 bytes at least, as a word of the
model takes a bank. The machines here follow this.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from mmsim.api.machines import DMM, HMM
from mmsim.frontend.program import Program
from mmsim.model.byte_banks import BANK_BYTES, ByteBanks, ByteGroups, Long
from mmsim.model.conflicts import Conflict, InParts
from mmsim.model.layout import Placed
from mmsim.model.machines import Unit, Units

WORD_BYTES = BANK_BYTES

_FLOAT32 = float(np.finfo(np.float32).max)
_NARROW: dict[str, tuple[type[np.generic], float, float]] = {
    "i": (np.int32, -(2**31), 2**31 - 1),
    "u": (np.uint32, 0, 2**32 - 1),
    "f": (np.float32, -_FLOAT32, _FLOAT32),
}
"""The narrower type of a kind of element, with its least and its largest value."""


def narrowed(value: Any) -> Any:
    """An argument of a program in words of 4 bytes at most, if its values allow.

    The layout of a placed array stays. A float may lose digits, but not its magnitude.

    >>> narrowed(np.array([1, 2])).dtype, narrowed(np.array([1, 2**40])).dtype
    (dtype('int32'), dtype('int64'))
    """
    if isinstance(value, Placed):
        return replace(value, data=narrowed(value.data))
    if isinstance(value, list | tuple):
        value = np.array(value)
    if not isinstance(value, np.ndarray) or value.dtype.itemsize <= WORD_BYTES:
        return value
    if value.dtype.kind not in _NARROW:
        return value
    narrow, least, largest = _NARROW[value.dtype.kind]
    values = value[np.isfinite(value)]
    fits = not values.size or (least <= values.min() and values.max() <= largest)
    return value.astype(narrow) if fits else value


@dataclass(frozen=True)
class CardBanks(ByteBanks):
    """Banks of 4 bytes, in which a shorter word takes a whole bank, as in a program's CUDA C.

    >>> banks = CardBanks(32)
    >>> banks.of_words(1), banks.of_words(8)
    (Banks(width=32), InParts(width=16, rule=Banks(width=16)))
    """

    def of_words(self, size: int) -> Conflict:
        return super().of_words(max(size, WORD_BYTES))

    def of_vectors(self, size: int, kind: str, count: int) -> Conflict:
        return super().of_vectors(max(size, WORD_BYTES), kind, count)


@dataclass(frozen=True)
class PartedGroups(ByteGroups):
    """Address groups of bytes, of which each part of a request for long elements takes its own.

    >>> PartedGroups(32).of_words(8)
    InParts(width=16, rule=Groups(width=16))
    """

    def of_words(self, size: int) -> Conflict:
        rule = super().of_words(size)
        return InParts(rule.width, rule.rule) if isinstance(rule, Long) else rule


@dataclass(frozen=True, repr=False)
class CardDMM(DMM):
    """The DMM that serves words as a GPU's shared memory does, for the CUDA C of a program."""

    bank_bytes: int | None = WORD_BYTES

    @cached_property
    def memory(self) -> Unit:
        return Unit("memory", CardBanks(self.width), self.latency)


@dataclass(frozen=True, repr=False)
class CardHMM(HMM):
    """The HMM that serves words as a GPU does, for the CUDA C of a program.

    >>> import mmsim as mm
    >>> @mm.program
    ... def copy(T, a, b):
    ...     b[T.id] = a[T.id]
    >>> a = np.zeros(64)
    >>> run = CardHMM(2, 32, 10).run(copy, a, a.copy(), threads=64, block_size=32)
    >>> [(row.requests, row.stages, row.least, row.access_class) for row in run.accesses]
    [(2, 4, 4, 'coalesced'), (2, 4, 4, 'coalesced')]
    """

    bank_bytes: int | None = WORD_BYTES

    @cached_property
    def shared(self) -> Units:
        return Units((), self.dmms, self.shared_latency, CardBanks(self.width))


@dataclass(frozen=True, repr=False)
class PredictedHMM(CardHMM):
    """The machine of the predictions that are kept: in global memory, too, half-warps in turn."""

    @cached_property
    def memory(self) -> Unit:
        return replace(super().memory, conflict=PartedGroups(self.width))


def time_units(machine: HMM, program: Program, *args: Any, **how: Any) -> int:
    """The time of a program on the asynchronous HMM that serves 8-byte words by half-warps.

    `how` gives its threads, as for `Machine.run`.
    If all words have 4 bytes, the time is that of `machine.run`:

    >>> import numpy as np, mmsim as mm
    >>> @mm.program
    ... def copy(T, a, b):
    ...     b[T.id] = a[T.id]
    >>> data = np.arange(64, dtype=np.int32)
    >>> how = {"threads": 64, "block_size": 32}
    >>> machine = mm.HMM(dmms=2, width=32, global_latency=10)
    >>> time_units(machine, copy, data, data.copy(), **how)
    21
    >>> machine.run(copy, data, data.copy(), schedule="asynchronous", **how).time
    21
    >>> time_units(machine, copy, data.astype(float), np.zeros(64), **how)
    24
    """
    card = PredictedHMM(machine.dmms, machine.width, machine.global_latency, machine.shared_latency)
    return card.run(program, *args, **how, schedule="asynchronous", engine="array").time
