"""The multiprocessors of each cluster: two of one cluster that look up pages delay each other.

Only two multiprocessors run. They read words of more pages than each knows, so each has to look all
pages up. Two of one cluster use the same unit, so both take longer than one of them alone; two of
different clusters don't. The language has no number of the multiprocessor, so the kernel is CUDA C.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from mmsim.cuda_c.kernels import MOST_THREADS, Kernel
from mmsim.gpu import cache_halves
from mmsim.gpu.cache_points import SECTOR
from mmsim.gpu.cache_stage import Stage
from mmsim.gpu.record import Row

CLUSTERS = "clusters"
"""The number of its row."""
PAGES = 32
"""Pages of a request, one for each lane; their distance is the largest in the array."""
SPAN = 2048
"""Sectors read in each page: together a small part of the cache."""
TIMES = 8
MOST = 20
"""Launches until both multiprocessors have had a block twice."""
LONGER = 1.25
"""A pair is delayed from this multiple of the time alone on."""
SOURCE = """extern "C" __global__ void asks_for_pages(
    const volatile int *a, const int *p, int *cycles)
{
    unsigned int own;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(own));
    if (own != p[1] && own != p[2])
        return;
    int times = p[0], far = p[3], words = p[5];
    unsigned int span = p[4], n = threadIdx.x, sum = 0;
    unsigned int first = (n % 32) * far;
    long long begin = clock64();
    for (int step = 0; step < times; step++) {
        int found[8];
        for (int k = 0; k < 8; k++) {
            unsigned int x = n;  // then the last steps of MurmurHash3
            x ^= x >> 16;
            x *= 0x85EBCA6Bu;
            x ^= x >> 13;
            x *= 0xC2B2AE35u;
            x ^= x >> 16;
            found[k] = a[first + x % span * words];
            n += blockDim.x;
        }
        for (int k = 0; k < 8; k++)
            sum += found[k];
    }
    __syncthreads();
    if (threadIdx.x == 0)
        cycles[own == p[1] ? 0 : 1] = (int)(clock64() - begin);
    if (sum == 1)
        cycles[2] = 1;  // so that the reads are needed
}
"""


class NoBlock(Exception):
    """A multiprocessor has had no block, so its cluster is unknown."""


def kernel(blocks: int) -> Kernel:
    """A block for each multiprocessor; those with numbers p[1] and p[2] read p[0] times."""
    size = (blocks, 1, 1), (MOST_THREADS, 1, 1)
    return Kernel(SOURCE, "asks_for_pages", "global", (), *size, 0)


def measured(stage: Stage) -> Row:
    """The clusters in the order of their first blocks, each with its multiprocessors.

    If multiprocessors have no blocks, the row reports this, and no clusters.
    """
    every = range(stage.card.multiprocessors)
    of_blocks = cache_halves.multiprocessors(stage)
    order = sorted(every, key=lambda one: of_blocks.index(one) if one in of_blocks else len(every))
    try:
        found = grouped(order, lambda one, other: _cycles(stage, one, other))
    except NoBlock as error:
        return {"number": CLUSTERS, "not measured": str(error)}
    shown = "; ".join(" ".join(map(str, sorted(own))) for own in found)
    return {"number": CLUSTERS, "multiprocessors": shown}


def grouped(every: Sequence[int], cycles: Callable[[int, int], int]) -> list[list[int]]:
    """Clusters of multiprocessors: with the first one of each, all that delay it.

    >>> grouped([4, 1, 3, 0], lambda one, other: 10 + 9 * (one != other and one % 3 == other % 3))
    [[4, 1], [3, 0]]
    """
    left, found = list(every), []
    while left:
        first = left.pop(0)
        alone = cycles(first, first)
        own = [other for other in left if cycles(first, other) > LONGER * alone]
        found.append([first, *own])
        left = [one for one in left if one not in own]
    return found


def _cycles(stage: Stage, one: int, other: int) -> int:
    """The least cycles that a multiprocessor takes next to another one, of two launches."""
    cp = stage.cp
    written = kernel(stage.card.multiprocessors)
    far = stage.scratch.size // PAGES
    p = cp.asarray(np.array([TIMES, one, other, far, SPAN, SECTOR], np.int32))
    took: list[int] = []
    for _ in range(MOST):
        cycles = cp.zeros(3, dtype=np.int32)
        stage.ready(written, (stage.scratch, p, cycles))()
        found = cp.asnumpy(cycles)
        if found[0] and (found[1] or one == other):  # else one of them had no block
            took.append(int(found[0]))
        if len(took) == 2:
            return min(took)
    raise NoBlock(f"multiprocessors {one} and {other} had no block in {MOST} launches")
