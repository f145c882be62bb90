"""Atomics on the GPU at hand, compared with the model: `mmsim gpu atomics`.

In the model requests of an atomic access for one address don't merge (`Conflict.of_atomics`). In
small programs each thread makes one such access, in patterns of addresses, and the profiler counts
its cost. In shared memory a full block also repeats some of them between two readings of the clock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mmsim.api.kernels import kernel
from mmsim.api.machines import DMM, HMM
from mmsim.cuda_c.kernels import WARP, Kernel
from mmsim.frontend.program import Program
from mmsim.gpu.counting import METRICS, NAME, profiled, renamed
from mmsim.gpu.expected import Memory
from mmsim.gpu.ncu import Profiled
from mmsim.gpu.record import Record, Row
from mmsim.gpu.replay import replay
from mmsim.gpu.signed import facts
from mmsim.gpu.words import CardHMM
from mmsim_algorithms.gpu import atomic_programs as programs
from mmsim_algorithms.gpu import sessions
from mmsim_algorithms.gpu.atomic_patterns import (
    EVERY,
    FEW,
    WORDS,
    Pattern,
    one_address,
    random,
    stride,
)

WANTED: dict[Memory, tuple[str, ...]] = {
    "shared": (
        METRICS["shared", "atomic"],
        "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum",
        "smsp__inst_executed_op_shared_atom.sum",
        "smsp__inst_executed_op_shared_atom_dot_alu.sum",
        "smsp__inst_executed_op_shared_atom_dot_cas.sum",
    ),
    "global": (
        "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum",
        "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum",
        "lts__t_requests_op_atom.sum",
        "lts__t_requests_op_red.sum",
        "lts__t_sectors_op_atom.sum",
        "lts__t_sectors_op_red.sum",
        "lts__d_atomic_input_cycles_active.sum",
    ),
}
"""The metrics, as far as the GPU at hand has them: `op_red` discards the old value."""

BLOCK = 1024
TIMES = (16, 80)
"""The repetitions of the access: the difference leaves out the common part."""
REPEAT = 10
SAMPLES = 5


@dataclass(frozen=True)
class Access:
    """A kind of atomic access: one to each of `patterns` is counted, `again` repeats it."""

    name: str
    memory: Memory
    program: Program
    dtype: type[np.generic] = np.int32
    patterns: tuple[Pattern, ...] = FEW
    again: Program | None = None

    def arguments(self, pattern: Pattern) -> tuple[Any, ...]:
        """h, index, values and old. Sums of these values are exact in float32, too."""
        values = (1 + np.arange(pattern.threads) % 3).astype(self.dtype)
        return np.zeros(WORDS, self.dtype), pattern.index, values, np.zeros_like(values)

    def about(self, pattern: Pattern) -> Row:
        """The access's name and stages: by the papers' rule, and by that for long words."""
        return {
            "access": self.name,
            "memory": self.memory,
            "pattern": pattern.name,
            "warps": pattern.warps,
            "model": self.stages(HMM(1, WARP, 1), pattern),
            "model by size": self.stages(CardHMM(1, WARP, 1), pattern),
        }

    def stages(self, machine: HMM, pattern: Pattern) -> int:
        """The stages of the access on a machine."""
        given = self.arguments(pattern)
        run = machine.run(self.program, *given, threads=pattern.threads, engine="events")
        return sum(row.stages for row in run.accesses if row.kind == "atomic")


_USED, _UNUSED, _COUNT = programs.add_again, programs.add_unused_again, programs.count_again
ACCESSES = (
    Access("int32 add, old value used", "shared", programs.shared_add, patterns=EVERY, again=_USED),
    Access("int32 add of 1, unused", "shared", programs.shared_count, patterns=EVERY, again=_COUNT),
    Access("int32 add, unused", "shared", programs.shared_add_unused, again=_UNUSED),
    Access("int32 add of 1, old value used", "shared", programs.shared_ticket),
    Access("int32 max, old value used", "shared", programs.shared_max),
    Access("int32 exch, old value used", "shared", programs.shared_exch),
    Access("int32 cas, old value used", "shared", programs.shared_cas),
    Access("int64 add, old value used", "shared", programs.shared_add, np.int64, again=_USED),
    Access("float32 add, old value used", "shared", programs.shared_add, np.float32, again=_USED),
    Access("float32 add, unused", "shared", programs.shared_add_unused, np.float32, again=_UNUSED),
    Access("int32 add, old value used", "global", programs.global_add),
    Access("int32 add of 1, unused", "global", programs.global_count),
    Access("int32 add, unused", "global", programs.global_add_unused),
    Access("float32 add, unused", "global", programs.global_add_unused, np.float32),
)


@dataclass(frozen=True)
class Case:
    """A kind of access to one pattern, and the kernel that makes it once."""

    access: Access
    pattern: Pattern
    kernel: Kernel


def measured(command: str, say: Callable[[str], None]) -> Iterator[Record]:
    """The record so far, first with the times and then with the counts, too.

    Raises `NoGPU` without a GPU, `NoCounters` if its counters can't be read.
    """
    known = facts(command)
    wanted = [name for names in WANTED.values() for name in names]
    profiler, metrics, more = sessions.session(wanted)
    record = Record("atomics", {**known, **more}, ())
    for access in ACCESSES:
        if access.again is not None:
            say(f"cycles of {access.name}")
            record = replace(record, rows=(*record.rows, *cycles(access)))
    yield record
    say("counting")
    cases = prepare()
    launches = profiled(profiler, [(case.kernel, (1,)) for case in cases], metrics)
    yield replace(record, rows=(*record.rows, *compare(cases, launches)))


# ------------------------------------------------------------ counts


def prepare() -> list[Case]:
    """All cases to count. Kernels of one access have one name, and one text for each size."""
    cases = []
    for number, access in enumerate(ACCESSES):
        for pattern in access.patterns:
            how: dict[str, Any] = {"threads": pattern.threads, "clear_shared": False}
            written = kernel(access.program, *access.arguments(pattern), **how)
            cases.append(Case(access, pattern, renamed(written, f"{NAME}{number}")))
    return cases


def compare(cases: Sequence[Case], launches: Sequence[Profiled]) -> Iterator[Row]:
    """The counts of each launch to compare with the model's stages, None for a missing one.

    Raises `NoCounters` if the launches aren't those of the cases, one by one.
    """
    own = sessions.in_order(launches, [case.kernel.name for case in cases])
    for case, launch in zip(cases, own, strict=True):
        counts = launch.counts(WANTED[case.access.memory])
        yield {"measure": "counts", **case.access.about(case.pattern), **counts}


def hardware(row: Row) -> int | None:
    """The count to compare with the model's stages; None if it is missing.

    In shared memory it is wavefronts, in global memory requests at the second-level cache.
    """
    names = [METRICS["shared", "atomic"]]
    if row["memory"] == "global":
        names = ["lts__t_requests_op_atom.sum", "lts__t_requests_op_red.sum"]
    counts = [row[name] for name in names]
    known = [count for count in counts if isinstance(count, int)]
    return sum(known) if len(known) == len(counts) else None


# ------------------------------------------------------------ cycles


def patterns_in_time() -> tuple[Pattern, ...]:
    """The patterns that a full block repeats."""
    return stride(1, BLOCK), random(WARP, 0, BLOCK), one_address(BLOCK)


def cycles(access: Access) -> Iterator[Row]:
    """Clock cycles of one access of a full block, the median of some launches.

    `equal` says whether the first launches left the words that the simulator computes.
    """
    assert access.again is not None
    for pattern in patterns_in_time():
        given = access.arguments(pattern)
        few, many = (
            replay(
                access.again,
                *given,
                times,
                threads=BLOCK,
                space="shared",
                repeat=REPEAT,
                samples=SAMPLES,
            )
            for times in TIMES
        )
        run = DMM(WARP, 1).run(access.again, *given, TIMES[0], threads=BLOCK, engine="events")
        apart = TIMES[1] - TIMES[0]
        yield {
            "measure": "cycles",
            **access.about(pattern),
            "cycles": (many.median - few.median) / apart,
            "low": (many.low - few.high) / apart,
            "high": (many.high - few.low) / apart,
            "equal": bool((run.arrays["h"] == few.arrays["h"]).all()),
        }
