"""The machine that launches run on.

By default it is the HMM that stands for an NVIDIA H200: `mmsim gpu calibrate` measured its numbers
on one (benchmarks/results/gpu/calibration.json). With MMSIM_MACHINE=h200 in the environment it is
the card with its caches, see `mmsim.card`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextvars import ContextVar
from functools import cache
from typing import Generic, TypeVar

from mmsim.api.cards import Card, card
from mmsim.api.machines import HMM, Machine
from mmsim.errors import MachineError, shown
from mmsim.model.byte_banks import BANK_BYTES

T = TypeVar("T")
VARIABLE = "MMSIM_MACHINE"
"""The variable of the environment with the name of a card: the machine of launches."""
MULTIPROCESSORS = 132
WIDTH = 32
GLOBAL_LATENCY = 11031
SHARED_LATENCY = 29
GROUP_PS = 30.846
"""Picoseconds of a time unit: the time of one address group in the whole GPU's global memory."""


@cache
def h200() -> HMM:
    """The HMM that stands for an NVIDIA H200: its banks have 4 bytes, its address groups 128.

    >>> h200()
    HMM(dmms=132, width=32, global_latency=11031, shared_latency=29, bank_bytes=4)
    """
    return HMM(MULTIPROCESSORS, WIDTH, GLOBAL_LATENCY, SHARED_LATENCY, BANK_BYTES)


_current: ContextVar[Machine | None] = ContextVar("machine", default=None)
_everywhere: list[Machine] = []


def current() -> Machine:
    """The machine that a launch runs on now: the chosen one, that of MMSIM_MACHINE, or the H200."""
    chosen = _current.get() or (_everywhere[-1] if _everywhere else None)
    named = os.environ.get(VARIABLE)
    return chosen or (card(named) if named else h200())


class Chosen(Generic[T]):
    """A value is set; the end of a `with` block goes back to the one before it was chosen."""

    def __init__(self, put: Callable[[T], object], before: object, value: T) -> None:
        self._put, self._before, self._value = put, before, value
        put(value)

    def __enter__(self) -> T:
        self._put(self._value)
        return self._value

    def __exit__(self, *error: object) -> None:
        self._put(self._before)  # type: ignore[arg-type]


def machine(chosen: Machine) -> Chosen[Machine]:
    """Run the launches of a `with` block, or all later ones of this thread, on another machine.

    `set_machine` chooses it for every thread.

    >>> import mmsim as mm
    >>> with machine(mm.HMM(dmms=2, width=4, global_latency=10)):
    ...     current().width
    4
    """
    return Chosen(_current.set, _current.get(), a_machine(chosen))


def set_machine(chosen: Machine) -> None:
    """Let all launches of this process, in all of its threads, run on another machine."""
    _everywhere[:] = [chosen]


def milliseconds(time_units: int) -> float:
    """The milliseconds of time units of the card, or of the H200's global memory."""
    machine = current()
    if isinstance(machine, Card):
        return machine.milliseconds(time_units)
    return time_units * GROUP_PS * 1e-9


class Clock:
    """The milliseconds of all launches of this process so far, in the model's time."""

    milliseconds = 0.0


def a_machine(given: object) -> Machine:
    """Return the given machine; any other value is an error."""
    if not isinstance(given, Machine):
        raise MachineError(
            f"{shown(given)} is not a machine; give one as mm.HMM(2, 32, 300, bank_bytes=4)"
        )
    return given


def stepped(asked: Machine) -> Machine:
    """The machine for stepping through a launch of a machine.

    A chosen machine shows itself. A small machine of the same warps and banks replaces one with the
    global latency of the default machine, which is too long to be watched, and one whose launches
    can't be traced.
    """
    if asked.pipelined and vars(asked).get("global_latency") != GLOBAL_LATENCY:
        return asked
    return HMM(2, asked.width, global_latency=5, shared_latency=2, bank_bytes=asked.bank_bytes)
