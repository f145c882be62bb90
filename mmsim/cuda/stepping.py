"""Step through a launch in the player."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from mmsim.api.machines import Machine
from mmsim.api.result import Run
from mmsim.cuda.launches import MOST_COPIED, Launched, history, run_on
from mmsim.cuda.machines import Chosen, a_machine, stepped
from mmsim.errors import MMSimError
from mmsim.printable import printable

if TYPE_CHECKING:
    from mmsim.view.player import Player


def trace(on: bool = True) -> Chosen[bool]:
    """Record the launches of a `with` block, or all launches from now on.

    Then `cuda.last` and `kernel.last` have a `trace`, for the player and the figures. Such launches
    run on the machine of `cuda.machine`. The latencies of the default machine are too long to step
    through, so a small machine with the same warps and banks replaces it. A recorded launch uses
    the engine "events" and takes longer. `cuda.trace(False)` ends the recording.

    >>> import numpy as np
    >>> from mmsim import cuda
    >>> @cuda.jit
    ... def twice(a):
    ...     a[cuda.grid(1)] *= 2
    >>> with cuda.trace():
    ...     twice[2, 32](np.ones(64, np.float32))
    >>> twice.last.trace.dispatches[0].array, twice.last.machine.global_latency
    ('a', 5)
    """
    return Chosen(partial(setattr, history, "tracing"), history.tracing, on)


def player(
    name: str,
    launched: Launched,
    machine: Machine | None = None,
    start: int = 0,
    end: int | None = None,
    preset: str | None = None,
) -> Player:
    """As `Dispatcher.player`, for the last launch of the kernel `name`."""
    run = _recorded(name, launched, machine)
    from mmsim.view.player import Player  # loads the tables that a page needs

    note = ""
    if machine is None and run.machine != launched.machine:
        note = (
            "A small machine of the same warps and banks, which can be watched; launches run on "
            f"{launched.machine}. {name}.player(machine=...) shows any other."
        )
    return Player(run.traces, start, end, note=printable(note), preset=preset)


def _recorded(name: str, launched: Launched, machine: Machine | None) -> Run:
    """The launch with its trace: the recorded one, else a second run."""
    if launched.run.record is not None and machine in (None, launched.run.machine):
        return launched.run
    if launched.before is None:
        raise MMSimError(
            f"kernel {name!r} was launched with more than {MOST_COPIED} bytes of arrays, too many "
            "to be kept for another run; record the launch itself: put it into `with "
            "cuda.trace():`, or, on a machine of your choice, into `with cuda.machine(...), "
            "cuda.trace():`"
        )
    chosen = stepped(launched.machine) if machine is None else a_machine(machine)
    return run_on(chosen, launched.program, launched.before, launched.configuration, trace=True)
