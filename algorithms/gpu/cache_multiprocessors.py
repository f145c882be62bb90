"""The multiprocessors of a GPU, measured one by one: their halves of the cache, shares, clusters.

- The second-level cache may have two *halves*: a multiprocessor asks its own half, which may have
  to ask the other. One multiprocessor follows a chain of lines, which brings them into the cache;
  then another one follows it twice. Its first reads of lines that its own half lacks take longer
  than its second reads.
- Clusters of multiprocessors have about equal *shares* of the memory, whatever their size. So a
  multiprocessor of a small cluster runs more of many equal blocks that write to memory.
- Two multiprocessors of one *cluster* that look up pages use the same unit: both take longer than
  one of them alone. They read words of more pages than each knows, so each looks all pages up. Two
  of different clusters don't delay each other.

The language has neither a clock nor the number of the multiprocessor, so the kernels are CUDA C.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from mmsim.cuda_c.kernels import MOST_THREADS, Kernel
from mmsim.gpu.record import Row
from mmsim_algorithms.gpu.cache_point import LINE
from mmsim_algorithms.gpu.cache_points import SECTOR
from mmsim_algorithms.gpu.cache_stage import Stage, chain

HALVES, OF_BLOCKS, OF_EACH = "halves", "halves of blocks", "halves of multiprocessors"
SHARES, CLUSTERS = "shares", "clusters"
"""The numbers of the rows."""


def kernel(source: str, blocks: int, threads: int = MOST_THREADS) -> Kernel:
    """A kernel of CUDA C, launched with so many blocks."""
    head = re.search(r"void (\w+)\(", source)
    assert head is not None
    return Kernel(source, head[1], "global", (), (blocks, 1, 1), (threads, 1, 1), 0)


def _numbers(stage: Stage, *numbers: int) -> Any:
    """The numbers p of a kernel, on the GPU."""
    return stage.cp.asarray(np.array(numbers, np.int32))


# ------------------------------------------------------------ halves

LINES = 2048
EVERY = 4
"""The number of multiprocessors whose single reads are in the record."""
QUANTILES = (5, 25, 50, 75, 95)
READS = """extern "C" __global__ void reads_one_by_one(
    const volatile int *a, const int *p, int *cycles)
{
    __shared__ volatile int kept[32];
    unsigned int own;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(own));
    if (own != p[1])
        return;
    int x = 0;
    for (int step = 0; step < p[0]; step++) {
        long long begin = clock64();
        x = a[x];
        kept[step % 32] = x;  // waits for the read
        cycles[step] = (int)(clock64() - begin);
    }
}
"""
"""The multiprocessor with number p[1] reads p[0] times."""
WHERE = """extern "C" __global__ void multiprocessor_of_each_block(int *b)
{
    unsigned int own;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(own));
    if (threadIdx.x == 0)
        b[blockIdx.x] = own;
}
"""


def halves(stage: Stage) -> Iterator[Row]:
    """Clock cycles of the reads: quantiles of the first and second reads of multiprocessors.

    The last two rows give the half of each multiprocessor, and of each block of a grid with one
    block for each multiprocessor: 0 is the half of multiprocessor 0.
    """
    a = stage.cp.asarray(chain(LINES))
    longer = []
    for other in range(stage.card.multiprocessors):
        stage.read_other()
        missed = _cycles(stage, a, 0)
        _cycles(stage, a, 0)
        first = _cycles(stage, a, other)
        second = _cycles(stage, a, other)
        longer.append(np.percentile(first, 75) - np.percentile(second, 75))
        if other % EVERY:
            continue
        row: dict[str, Any] = {"number": HALVES, "multiprocessor": other}
        for name, cycles in (("misses", missed), ("first", first), ("second", second)):
            found = np.percentile(cycles, QUANTILES, method="nearest").tolist()
            row |= {
                f"{name}, {part}%": int(value) for part, value in zip(QUANTILES, found, strict=True)
            }
        yield row
    of_each = [str(int(2 * one > max(longer))) for one in longer]
    yield {"number": OF_EACH, "halves": "".join(of_each)}
    yield {"number": OF_BLOCKS, "halves": "".join(of_each[one] for one in multiprocessors(stage))}


def multiprocessors(stage: Stage) -> list[int]:
    """The multiprocessor of each block, for one block on each multiprocessor."""
    b = stage.cp.zeros(stage.card.multiprocessors, dtype=np.int32)
    stage.ready(kernel(WHERE, b.size), (b,))()
    return [int(one) for one in stage.cp.asnumpy(b)]


def _cycles(stage: Stage, a: Any, multiprocessor: int) -> Any:
    """The cycles of each read by one multiprocessor; zeros if it has no block."""
    cycles = stage.cp.zeros(a.size // LINE, dtype=np.int32)
    p = _numbers(stage, cycles.size, multiprocessor)
    stage.ready(kernel(READS, stage.card.multiprocessors, threads=1), (a, p, cycles))()
    return stage.cp.asnumpy(cycles)


# ------------------------------------------------------------ shares

BLOCKS = 100
"""Blocks for each multiprocessor, on average."""
TIMES_WRITTEN = 12
"""The random sectors to which each thread writes a word."""
WRITES = """extern "C" __global__ void writes_and_where(volatile int *a, int *b, const int *p)
{
    unsigned int own;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(own));
    if (threadIdx.x == 0)
        b[blockIdx.x] = own;
    int times = p[0], words = p[2];
    unsigned long long sectors = p[1];
    unsigned int n = blockIdx.x * blockDim.x + threadIdx.x;
    for (int step = 0; step < times; step++) {
        unsigned int x = n;  // then the last steps of MurmurHash3
        x ^= x >> 16;
        x *= 0x85EBCA6Bu;
        x ^= x >> 13;
        x *= 0xC2B2AE35u;
        x ^= x >> 16;
        a[(x * sectors >> 32) * words] = step;
        n += gridDim.x * blockDim.x;
    }
}
"""
"""Many blocks, whose threads write p[0] times to p[1] sectors of p[2] words."""


def shares(stage: Stage) -> Iterator[Row]:
    """The blocks that each multiprocessor ran."""
    written = kernel(WRITES, BLOCKS * stage.card.multiprocessors)
    b = stage.cp.zeros(written.grid[0], dtype=np.int32)
    p = _numbers(stage, TIMES_WRITTEN, stage.scratch.size // SECTOR, SECTOR)
    stage.ready(written, (stage.scratch, b, p))()
    ran = np.bincount(stage.cp.asnumpy(b))
    yield {"number": SHARES, "blocks": " ".join(map(str, ran))}


# ------------------------------------------------------------ clusters

PAGES = 32
"""Pages of a request, one for each lane; their distance is the largest in the array."""
SPAN = 2048
"""Sectors read in each page: together a small part of the cache."""
TIMES = 8
MOST = 20
"""Launches until both multiprocessors have had a block twice."""
LONGER = 1.25
"""A pair is delayed from this multiple of the time alone on."""
ASKS = """extern "C" __global__ void asks_for_pages(
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
"""The multiprocessors with numbers p[1] and p[2] read p[0] times."""


class NoBlock(Exception):
    """A multiprocessor has had no block, so its cluster is unknown."""


def clusters(stage: Stage) -> Iterator[Row]:
    """The clusters in the order of their first blocks, each with its multiprocessors.

    If multiprocessors have no blocks, the row reports this, and no clusters.
    """
    every = range(stage.card.multiprocessors)
    of_blocks = multiprocessors(stage)
    order = sorted(every, key=lambda one: of_blocks.index(one) if one in of_blocks else len(every))
    try:
        found = grouped(order, lambda one, other: _cycles_next_to(stage, one, other))
    except NoBlock as error:
        yield {"number": CLUSTERS, "not measured": str(error)}
        return
    shown = "; ".join(" ".join(map(str, sorted(own))) for own in found)
    yield {"number": CLUSTERS, "multiprocessors": shown}


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


def _cycles_next_to(stage: Stage, one: int, other: int) -> int:
    """The least cycles that a multiprocessor takes next to another one, of two launches."""
    written = kernel(ASKS, stage.card.multiprocessors)
    p = _numbers(stage, TIMES, one, other, stage.scratch.size // PAGES, SPAN, SECTOR)
    took: list[int] = []
    for _ in range(MOST):
        cycles = stage.cp.zeros(3, dtype=np.int32)
        stage.ready(written, (stage.scratch, p, cycles))()
        found = stage.cp.asnumpy(cycles)
        if found[0] and (found[1] or one == other):  # else one of them had no block
            took.append(int(found[0]))
        if len(took) == 2:
            return min(took)
    raise NoBlock(f"multiprocessors {one} and {other} had no block in {MOST} launches")
