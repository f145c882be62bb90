"""Cards by name, and the times that they predict for kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mmsim.api.machines import Cached
from mmsim.errors import Brief, MMSimError
from mmsim.host.guesses import advised
from mmsim.model import card as cards
from mmsim.model.hmm import HMM
from mmsim.model.threads import Given, Grid, Shape, asked
from mmsim.results.cache import bound, busy
from mmsim.results.prediction import UNMODELLED, Prediction

if TYPE_CHECKING:
    from mmsim.ir.dtypes import Integers
    from mmsim.meaning.counted import Counted
    from mmsim.meaning.launch import Launch
    from mmsim.results import run

Sizes = tuple[int, int | None, Shape | None]
"""The sizes of a launch, as `mmsim.model.threads.asked` returns them."""

MOST = 1 << 40
"""Accesses of a thread that are not taken for an endless program."""


@advised()
class Card(cards.Card, Cached):
    __doc__ = cards.Card.__doc__

    @advised("mm.H200().predict(kernel, a, b, threads=1024, block_size=128)")
    def predict(
        self,
        program: Any,
        *args: Any,
        threads: int | None = None,
        block_size: int | None = None,
        grid: Given | None = None,
        block: Given | None = None,
    ) -> Prediction:
        """Predict the time of one launch on this card, without the copies to and from it.

        The requests to memory, the operations that the multiprocessors issue, and the beginnings
        of blocks each take a time; these overlap, but not wholly. A launch comes in addition. The
        arrays aren't changed.

        Parameters
        ----------
        program, args, threads, block_size, grid, block
            As for `Machine.run`: a program, a kernel of numba.cuda, or of CUDA C++.

        Raises
        ------
        LaunchError, ProgramError
            As `Machine.run`.

        Examples
        --------
        >>> import numpy as np, mmsim as mm
        >>> @mm.program
        ... def copy(T, a, b):
        ...     b[T.id] = a[T.id]
        >>> a = np.zeros(4096, np.float32)
        >>> mm.H200().predict(copy, a, a.copy(), threads=4096, block_size=256).bound
        'latency'
        """
        with Brief():
            return self._predict(program, args, asked(threads, block_size, grid, block))

    def _predict(self, program: Any, args: tuple[Any, ...], sizes: Sizes) -> Prediction:
        """Run a launch with a cache full of other words, and predict its time."""
        from mmsim.api.binding import bind, exhaustion  # loads what parses and runs
        from mmsim.engines.array.cached_time import swept
        from mmsim.engines.selection import launch
        from mmsim.meaning.counted import counted

        with exhaustion(program, sizes[0]):
            one = bind(self, program, args, sizes, "asynchronous", MOST)
            operations = counted(one)
            one.pauses = self._pauses(one, operations)
            one.left = swept(self)
            run = launch(one, "array", None, False)
        counts = one.grid.unused(), one.held, operations.kinds, operations.warps

        def again() -> float:
            """Predict the same launch once more, with the cache that the first one left."""
            other = bind(self, program, args, sizes, "asynchronous", MOST)
            other.left = one.left
            other.pauses = one.pauses
            return self._prediction(*counts, launch(other, "array", None, False)).milliseconds

        return replace(self._prediction(*counts, run), again=again, empty=False)

    def _predicts(self, launch: Launch) -> Callable[[run.Run], Prediction]:
        """A function that predicts a launch's time: from its run, or in lock step by another."""
        if launch.schedule == "synchronous":
            grid = launch.grid
            sizes = grid.threads, grid.block_size, grid.shape
            return partial(self._without_lock_step, launch.program, launch.args, sizes)
        from mmsim.meaning.counted import counted

        operations = counted(launch)
        launch.pauses = self._pauses(launch, operations)
        counts = launch.grid.unused(), launch.held, operations.kinds, operations.warps
        return partial(self._prediction, *counts)

    def _pauses(self, one: Launch, operations: Counted) -> Callable[[], Integers]:
        """The time units that each warp of a launch computes before a request, once it is counted.

        An engine that needs them before it has run the program lets another launch count. If no
        decision depends on the order of atomics, this runs in lock step, without times of memory.
        """
        from mmsim.api.binding import bind
        from mmsim.engines.array import engine as array
        from mmsim.engines.selection import launch
        from mmsim.ir.needs import decides
        from mmsim.meaning.counted import counted
        from mmsim.model.issue import pauses

        def found() -> Integers:
            of = operations
            if not of.warps.any():
                sizes = one.grid.threads, one.grid.block_size, one.grid.shape
                program = one.program, one.args, sizes
                if decides(one.code, one.in_turn):
                    other = bind(self, *program, one.schedule, MOST)
                    of = counted(other)
                    launch(other, "array", None, False)
                else:
                    plain = HMM(self.dmms, self.width, 1, bank_bytes=self.bank_bytes)
                    other = bind(plain, *program, "synchronous", MOST)
                    of = counted(other)
                    array.run(other, path="interpreted")
                    operations.known = of.warps
            return pauses(self, of.kinds, of.warps, of.grid)

        return found

    def _without_lock_step(
        self, program: Any, args: tuple[Any, ...], sizes: Sizes, _: run.Run
    ) -> Prediction:
        return self._predict(program, args, sizes)

    def _prediction(
        self,
        grid: Grid,
        held: int | None,
        kinds: Sequence[str],
        warps: npt.NDArray[np.float64],
        run: run.Run,
    ) -> Prediction:
        """Predict the time of a launch from its run, and the operations of its warps by kind."""
        from mmsim.model.issue import issue, together

        times = {
            "memory": run.time,
            "instructions": issue(self, kinds, warps, grid, held),
            "blocks": grid.blocks * self.block_time,
        }
        most = max(times, key=times.__getitem__)
        taken = busy(run.cache, self.cache)
        of_memory = bound(taken, taken, run.time)
        waits = of_memory == "latency"
        if most == "memory" and waits and 2 * times["instructions"] >= run.time:
            most = "instructions"  # the warps compute for most of the time
        binds = of_memory if most == "memory" else most
        if most == "instructions" and not self.operations:
            binds = UNMODELLED
        number, error = next(
            ((number, error) for name, number, error in self.errors if name == binds), (0, None)
        )
        parts = {name: self._with_launch(time) for name, time in times.items()}
        total = self._with_launch(together(times, waits))
        return Prediction(
            run.program, self.name, total, binds, error, number, parts, _not_again, empty=True
        )

    def _with_launch(self, time: float) -> float:
        return self.milliseconds(time + self.launch_time)


def card(name: str) -> Card:
    """Return the machine that stands for a card: "h200", "h100", or one that you measured.

    >>> import mmsim as mm
    >>> mm.card("h100").device
    'NVIDIA H100 80GB HBM3'
    """
    return cards.read(name, Card)


def H200() -> Card:
    """Return the machine that stands for an NVIDIA H200, with the numbers measured on one.

    >>> import mmsim as mm
    >>> mm.H200().dmms, mm.H200().date
    (132, '2026-11-24')
    """
    return card("h200")


def H100() -> Card:
    """Return the machine that stands for an NVIDIA H100, with the numbers measured on one.

    >>> import mmsim as mm
    >>> mm.H100().dmms
    132
    """
    return card("h100")


def _not_again() -> float:
    raise MMSimError(
        "a run's prediction has no time with a warm cache; card.predict(kernel, ...).warm has one"
    )
