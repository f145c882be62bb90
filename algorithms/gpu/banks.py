"""Bank conflicts as the GPU counts them, compared with the rule of banks of 4 bytes.

Every kind of access of `bank_accesses` makes the requests of `bank_patterns`. The profiler counts
the wavefronts of shared memory; those of a launch without requests are subtracted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mmsim.cuda_c.kernels import Kernel
from mmsim.gpu import ncu
from mmsim.gpu.counting import NAME, profiled
from mmsim.gpu.ncu import NoCounters, Profiled
from mmsim.gpu.record import Record, Row
from mmsim.gpu.signed import facts
from mmsim_algorithms.gpu.bank_accesses import ACCESSES, Access, Index
from mmsim_algorithms.gpu.bank_patterns import patterns

METRIC = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"
PATTERNS = 1000
SEED = 1


@dataclass(frozen=True)
class Counted:
    """The counts of one kind of access, one for each of its patterns."""

    access: Access
    counts: tuple[int, ...]

    def row(self) -> Row:
        """Itself as plain data, with the rule's stages."""
        model = self.model
        return {
            "access": self.access.name,
            "bytes": self.access.size,
            "patterns": len(self.counts),
            "equal": sum(a == b for a, b in zip(self.counts, model, strict=True)),
            "hardware": sum(self.counts),
            "model": sum(model),
            "counts": " ".join(map(str, self.counts)),
        }

    @property
    def model(self) -> list[int]:
        """The rule's stages of the same patterns."""
        return [self.access.stages(index) for index in requests(self.access, len(self.counts))]


def requests(access: Access, count: int) -> list[Index]:
    """The patterns of a kind of access; lanes that must take part, or give no address, do so."""
    found = patterns(access.size, access.elements, count, SEED)
    if access.whole:
        found = [np.where(index < 0, 0, index).astype(np.int32) for index in found]
    return found


def measured(command: str, say: Callable[[str], None], count: int = PATTERNS) -> Iterator[Record]:
    """The record so far, kind of access by kind of access.

    Raises `NoGPU` without a GPU, `NoCounters` if its counters can't be read.
    """
    profiler = ncu.find()
    known = {**facts(command), "ncu": ncu.version(profiler), "seed": SEED}
    record = Record("banks", known, ())
    for number, access in enumerate(ACCESSES):
        say(access.name)
        found = counts(profiler, access, f"{NAME}{number}", requests(access, count))
        counted = Counted(access, tuple(found))
        record = replace(record, rows=(*record.rows, counted.row()))
        yield record


def counts(profiler: str, access: Access, name: str, every: Sequence[Index]) -> list[int]:
    """The wavefronts of requests of one kind, each by itself; `name` begins as `NAME` does.

    Raises `NoGPU` without a GPU, `NoCounters` if its counters can't be read.
    """
    launches = [(kernel, (1,)) for kernel in prepare(access, name, every)]
    return list(read(access, profiled(profiler, launches, [METRIC]), len(every)))


def prepare(access: Access, name: str, every: Sequence[Index]) -> list[Kernel]:
    """The launches of requests of one kind of access; the first launch makes none."""
    starts = range(0, len(every), access.packed)
    packs = [list(every[first : first + access.packed]) for first in starts]
    return [access.kernel(name, pack) for pack in ([], *packs)]


def read(access: Access, launches: Sequence[Profiled], count: int) -> Iterator[int]:
    """The count of each request, a digit of its launch's count.

    Raises `NoCounters` if a launch is missing, or has an impossible count.
    """
    wanted = 1 + -(-count // access.packed)
    counts = [launch.metrics[METRIC] for launch in launches if METRIC in launch.metrics]
    if len(counts) != wanted:
        raise NoCounters(f"ncu counted {len(counts)} launches of {wanted}; run it again")
    none, *others = counts
    for number, total in enumerate(others):
        rest = total - none
        digits = min(access.packed, count - number * access.packed)
        for _ in range(digits):
            rest, digit = divmod(rest, access.base)
            yield digit
        if rest:
            raise NoCounters(f"{access.name}: {total:,} wavefronts don't belong to these requests")
