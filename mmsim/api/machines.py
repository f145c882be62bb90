"""The machines that users make, with their methods; `mmsim.model` has a file for each kind."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from mmsim.api.report import Report
from mmsim.api.result import Run
from mmsim.errors import Brief, LaunchError
from mmsim.host.arguments import yes_or_no
from mmsim.host.guesses import Guessed, advised, instead
from mmsim.model import cached, dmm, hmm, machines, umm
from mmsim.model.machines import Engine, Schedule
from mmsim.model.threads import Given, asked

if TYPE_CHECKING:
    from mmsim.meaning.launch import Launch
    from mmsim.results.prediction import Prediction
    from mmsim.results.run import Run as PlainRun

LAUNCH = (
    "machine.run(program, a, b, threads=16): what follows the program are its arguments in order"
)
INSTEAD = instead(
    {
        "w banks warp_size": "machine.width",
        "l": "machine.latency, on an HMM machine.global_latency",
        "L": "machine.global_latency",
        "d": "machine.dmms",
        "simulate launch execute call": "machine.run(program, ..., threads=)",
        "verify racecheck": "machine.check(program, ..., threads=)",
        "profile": "machine.run(program, ..., threads=).profile()",
    }
)
"""Names from papers and other tools, with a machine's name for each."""


class Machine(machines.Machine, Guessed):
    """The base of DMM, UMM and HMM: a width, memory units, `run` and `check`.

    Your own machine is a frozen dataclass derived from it (docs/machines.md).
    """

    _instead = INSTEAD

    @advised(LAUNCH, verbose="print(run), or run.profile(), for what each line costs")
    def run(
        self,
        program: Any,
        *args: Any,
        threads: int | None = None,
        block_size: int | None = None,
        grid: Given | None = None,
        block: Given | None = None,
        schedule: Schedule = "synchronous",
        engine: Engine | None = None,
        trace: bool | None = None,
        max_accesses: int = 100_000,
        check: bool = False,
    ) -> Run:
        """Run `program` with `threads` threads and return the result, exact to the time unit.

        Parameters
        ----------
        program
            A function decorated with `mmsim.program`.
        *args
            The program's arguments after T, in order: arrays (NumPy or `mmsim.place`d) and numbers.
            They are copied; the results are in `Run.arrays`.
        threads, block_size
            The number of threads, p, and the threads of a block (default: one block of all
            threads).
        grid, block
            In place of `threads` and `block_size`, the extents of the grid in blocks and of a block
            in threads. Each is a number, or up to three numbers along x, y and z.
        schedule
            "synchronous" (lock step, as in the papers' formulas) or "asynchronous" (every warp runs
            as soon as it can).
        engine
            "array" runs all warps together, at any scale. It is exact for every program without a
            data race. "events", the discrete-event engine, is exact for any program. Only "events"
            records traces. Default: "events" with a trace, else "array".
        trace
            Record every dispatch, stage, completion and wait in `Run.trace`. Default: True with
            `engine="events"`, else False.
        max_accesses
            The bound on accesses plus loop iterations of a warp, or of the program under the
            synchronous schedule. A program that exceeds it is taken to run forever.
        check
            Report data races under this schedule, lost updates, reads of uninitialized memory and
            divergent barriers in `Run.findings`; asynchronously also missing syncs in a warp. The
            result is the same without it. `Machine.check` looks for more.

        Raises
        ------
        LaunchError
            Arguments that don't fit the program or each other.
        ProgramError
            The program failed: an index out of range, a barrier that only part of a warp reaches, a
            division by zero, no end. The caller's arrays are unchanged.

        Examples
        --------
        >>> import numpy as np, mmsim as mm
        >>> @mm.program
        ... def copy(T, a, b):
        ...     b[T.id] = a[T.id]
        >>> run = mm.DMM(width=4, latency=3).run(copy, np.arange(8), np.zeros(8, int), threads=8)
        >>> run.time, run.arrays["b"]  # 2 (p/w + l - 1)
        (8, array([0, 1, 2, 3, 4, 5, 6, 7]))
        """
        from mmsim.api.binding import bind, exhaustion  # loads what parses and runs
        from mmsim.engines.selection import launch

        with Brief():
            sizes = asked(threads, block_size, grid, block)
            with exhaustion(program, sizes[0]):
                bound = bind(self, program, args, sizes, schedule, max_accesses)
                predicts = self._predicts(bound)
                plain = launch(bound, engine, trace, check)
            made = Run.of(plain)
            if predicts is not None:
                made.__dict__["predicts"] = partial(predicts, plain)
            if made.record is not None:
                how = {"threads": threads, "block_size": block_size, "grid": grid, "block": block}
                made.record.__dict__["launched"] = (program, args, how, schedule)
            return made

    def _predicts(self, launch: Launch) -> Callable[[PlainRun], Prediction] | None:
        """A function that predicts a launch's time from its run; None if this isn't a card."""
        return None

    @advised(LAUNCH.replace("run", "check"))
    def check(
        self,
        program: Any,
        *args: Any,
        threads: int | None = None,
        block_size: int | None = None,
        grid: Given | None = None,
        block: Given | None = None,
        schedule: Schedule | None = None,
        max_accesses: int = 100_000,
        shared_words: int | None = None,
        unset: str | Collection[str] = (),
        trace: bool = False,
        prove: bool = False,
        given: str | Sequence[str] = (),
    ) -> Report:
        """Run `program` and report its errors instead of its results.

        Looks for data races under the given schedule, reads of uninitialized memory, divergent
        barriers, deadlocks, layouts for another width than the machine's, and shared arrays that
        don't fit. A second run, in which another one of several concurrent writes stays, finds
        results that depend on it. A program may be correct in lock step and have a data race
        without it. A `ProgramError` of `run` is a finding too.

        Parameters
        ----------
        program, args, threads, block_size, grid, block, max_accesses
            As for `run`.
        schedule
            As for `run`. Default: "asynchronous" for a kernel of numba.cuda, as on a GPU;
            "synchronous" for any other program.
        shared_words
            The size of one DMM's shared memory in words. The shared arrays of its blocks must fit;
            on a DMM or UMM, those of all blocks. Default: no limit.
        unset
            The name or names of array parameters that are uninitialized at the start. A read before
            the first write is a finding.
        trace
            Record the run, for `Report.trace` and `Report.player`.
        prove
            Try to prove, for all sizes and inputs for which the facts in `given` hold, that the
            program has no data race, no index out of range and no divergent barrier, raises no
            exception, whatever the order of the warps, and has no bank conflict at this width. See
            `Report.proved`. Needs Z3, of the extra `proof`.
        given
            Facts for `prove`, each as text: comparisons of number parameters, `a.size`,
            `a.shape[0]`, `threads`, `block_size`, `blocks`, `width`, `blockDim.x`, `gridDim.x`,
            such as "threads % block_size == 0", and of an array's words, such as
            "all(0 <= x < n for x in a)". They must hold of this launch, too.

        Raises
        ------
        LaunchError
            Arguments that don't fit the program or each other.

        Examples
        --------
        >>> import numpy as np, mmsim as mm
        >>> @mm.program
        ... def shift(T, a):
        ...     a[T.id] = a[T.id + 1]
        >>> report = mm.DMM(4, 3).check(shift, np.arange(9), threads=8, schedule="asynchronous")
        >>> [(finding.kind, finding.element, finding.threads, finding.times)
        ...     for finding in report.findings]
        [('race', 'a[4]', (3, 4), (0, 4))]
        """
        from mmsim.api.binding import bind, exhaustion, language_of
        from mmsim.engines.check import check  # loads SimPy

        with Brief():
            sizes = asked(threads, block_size, grid, block)
            with exhaustion(program, sizes[0]):
                language = language_of(program)
                own: Schedule = "asynchronous" if language == "numba" else "synchronous"
                when = own if schedule is None else schedule
                report = Report.of(
                    check(
                        lambda: bind(self, program, args, sizes, when, max_accesses),
                        self,
                        sizes,
                        when,
                        language,
                        shared_words=shared_words,
                        unset=unset,
                        trace=trace,
                    )
                )
                if yes_or_no("prove", prove):
                    from mmsim.api.proving import proved  # loads Z3

                    proof = proved(self, program, args, sizes, max_accesses, given, report)
                    report = replace(report, proved=proof)
                elif not isinstance(given, str | Sequence) or given:
                    raise LaunchError("given= has facts for a proof; pass prove=True, too")
                return report


@advised()
class DMM(dmm.DMM, Machine):
    __doc__ = dmm.DMM.__doc__


@advised()
class UMM(umm.UMM, Machine):
    __doc__ = umm.UMM.__doc__


@advised(
    latency="global_latency= and shared_latency= (1 if left out): an HMM has two latencies, of the "
    "global memory and of the DMMs"
)
class HMM(hmm.HMM, Machine):
    __doc__ = hmm.HMM.__doc__


@advised(cache="capacity=, the places of the cache")
class Cached(cached.Cached, HMM):
    __doc__ = cached.Cached.__doc__


KINDS: dict[str, type[DMM] | type[UMM] | type[HMM]] = {
    one.kind: one for one in (DMM, UMM, HMM, Cached)
}
"""The kinds of machines by the names that the command line takes."""
