"""The three memory machines, as plain data (SMM section 2, ICPP section II).

A machine is one or more memory units. A unit conflicts by bank or by address group and has a
latency; `units` names them. Nothing else about a machine matters to anyone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from mmsim.conflicts import Conflict
from mmsim.errors import MachineError, shown

if TYPE_CHECKING:
    from mmsim.results import Run
    from mmsim.results.report import Report

LARGEST = 2**31 - 1
"""The largest width, latency or number of DMMs: times and addresses must fit into 64 bits."""

Schedule = Literal["synchronous", "asynchronous"]
Engine = Literal["array", "events"]


@dataclass(frozen=True)
class Unit:
    """One memory unit: its name, what it conflicts by, its latency, the DMM that it serves.

    `dmm` is None for the unit that every warp reaches.
    """

    name: str
    conflict: Conflict
    latency: int
    dmm: int | None = None


class Machine(ABC):
    """What DMM, UMM and HMM have in common: a width, memory units, and `run`."""

    width: int

    @property
    @abstractmethod
    def memory(self) -> Unit:
        """The unit in front of the memory that holds the array parameters."""

    @cached_property
    def shared(self) -> tuple[Unit, ...]:
        """The units of the DMMs' shared memories, one for each DMM.

        Empty where shared arrays lie in the machine's one memory.
        """
        return ()

    @cached_property
    def units(self) -> tuple[Unit, ...]:
        """All memory units."""
        return (self.memory, *self.shared)

    def run(
        self,
        program: Any,
        *args: Any,
        threads: int,
        block_size: int | None = None,
        schedule: Schedule = "synchronous",
        engine: Engine | None = None,
        trace: bool | None = None,
        max_accesses: int = 100_000,
        check: bool = False,
    ) -> Run:
        """Run `program` with `threads` threads and return what it did, to the time unit.

        Parameters
        ----------
        program
            A function decorated with `mmsim.program`.
        *args
            Its arguments after T, in order: arrays (NumPy or `mmsim.place`d) and numbers. They are
            copied; the results are in `Run.arrays`.
        threads, block_size
            p, and the threads of a block (default: one block of all threads).
        schedule
            "synchronous" (lock step, what the papers' formulas count) or "asynchronous" (every
            warp runs as soon as it may).
        engine
            "array" runs all warps at once, at any scale, and is exact for every program without a
            data race; "events", the discrete-event engine, is exact for any program and the only
            one that traces. Default: "events" where a trace is asked for, else "array".
        trace
            Record every dispatch, stage, completion and wait in `Run.trace`. Default: yes when
            `engine="events"` is named, else no.
        max_accesses
            Accesses plus loop iterations after which one sequencer (a warp, or under the
            synchronous schedule the program) is taken to run forever.
        check
            Look for data races, reads of what nobody has written, and barriers that not all reach,
            and tell of them in `Run.findings`. The run is the same otherwise; `Machine.check` looks
            for more.

        Raises
        ------
        LaunchError
            Arguments that don't fit the program or each other.
        ProgramError
            The program went wrong: an index out of range, a barrier that part of a warp reaches,
            a division by zero, no end. Arrays given by the caller are unchanged.

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
        from mmsim.launch import launch  # the floors above, entered only here

        return launch(
            self,
            program,
            args,
            threads=threads,
            block_size=block_size,
            schedule=schedule,
            engine=engine,
            trace=trace,
            max_accesses=max_accesses,
            check=check,
        )

    def check(
        self,
        program: Any,
        *args: Any,
        threads: int,
        block_size: int | None = None,
        schedule: Schedule = "synchronous",
        max_accesses: int = 100_000,
        shared_words: int | None = None,
        unset: str | Collection[str] = (),
        trace: bool = False,
    ) -> Report:
        """Run `program` and tell what is wrong with it, instead of what it computes.

        Looks for data races under the schedule asked for (a program can be right in lock step and
        racy without), reads of memory that nobody has written, barriers that not all threads of a
        block reach, deadlocks, results that depend on which of several concurrent writes stays (it
        runs again with another one), layouts for another width than the machine's, and shared
        arrays for which there is no room. What `run` raises as a `ProgramError` is a finding too.

        Parameters
        ----------
        program, args, threads, block_size, schedule, max_accesses
            As for `run`.
        shared_words
            The words of shared memory of one DMM, to be checked against what its blocks need; on a
            DMM or UMM, of all blocks. Default: any number.
        unset
            A name, or names, of array parameters whose first contents mean nothing: reading those
            before they are written is a mistake.
        trace
            Record what happens, for `Report.trace` and `Report.player`.

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
        from mmsim.check.checker import check  # the floors above, entered only here
        from mmsim.launch import in_words

        with in_words(program, threads):
            return check(
                self,
                program,
                args,
                threads=threads,
                block_size=block_size,
                schedule=schedule,
                max_accesses=max_accesses,
                shared_words=shared_words,
                unset=(unset,) if isinstance(unset, str) else unset,
                trace=trace,
            )


@dataclass(frozen=True)
class DMM(Machine):
    """Discrete Memory Machine of `width` banks and `latency` time units (SMM section 2).

    >>> DMM(width=32, latency=5)
    DMM(width=32, latency=5)
    """

    width: int
    latency: int

    def __post_init__(self) -> None:
        _check(self, "width", "latency")

    @cached_property
    def memory(self) -> Unit:
        return Unit("memory", "bank", self.latency)


@dataclass(frozen=True)
class UMM(Machine):
    """Unified Memory Machine: `width` words to an address group (SMM section 2).

    >>> UMM(4, 3) == UMM(width=4, latency=3)
    True
    """

    width: int
    latency: int

    def __post_init__(self) -> None:
        _check(self, "width", "latency")

    @cached_property
    def memory(self) -> Unit:
        return Unit("memory", "group", self.latency)


@dataclass(frozen=True)
class HMM(Machine):
    """Hierarchical Memory Machine: `dmms` DMMs on one UMM (ICPP section II).

    Array parameters lie in the global memory (address groups, `global_latency`), `mm.shared` arrays
    in the shared memory (banks, `shared_latency`) of the DMM that the block lives on.

    >>> HMM(dmms=2, width=32, global_latency=300)
    HMM(dmms=2, width=32, global_latency=300, shared_latency=1)
    """

    dmms: int
    width: int
    global_latency: int
    shared_latency: int = 1

    def __post_init__(self) -> None:
        _check(self, "dmms", "width", "global_latency", "shared_latency")

    @cached_property
    def memory(self) -> Unit:
        return Unit("global", "group", self.global_latency)

    @cached_property
    def shared(self) -> tuple[Unit, ...]:
        return tuple(
            Unit(f"shared[{dmm}]", "bank", self.shared_latency, dmm) for dmm in range(self.dmms)
        )


def _check(machine: Machine, *names: str) -> None:
    """Refuse a machine whose numbers aren't whole numbers from 1 on; NumPy's become Python's."""
    for name in names:
        value = getattr(machine, name)
        if isinstance(value, np.integer) and not isinstance(value, np.timedelta64):
            value = int(value)
            object.__setattr__(machine, name, value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise MachineError(
                f"{name} of a {type(machine).__name__} must be a whole number, not {value!r}"
            )
        if not 1 <= value <= LARGEST:
            bound = "at least 1" if value < 1 else f"at most {LARGEST}"
            raise MachineError(
                f"{name}={shown(value)}, but the {name} of a {type(machine).__name__} "
                f"must be {bound}"
            )
