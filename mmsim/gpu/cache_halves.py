"""The time of single reads of a line by a multiprocessor after another one has read the line.

The second-level cache may have two halves: a multiprocessor asks its own half, which may have to
ask the other. One multiprocessor follows a chain of lines, which brings them into the cache; then
another one follows it twice. Its first reads of lines that its own half lacks take longer than its
second reads. The language has no clock, so the kernel is written in CUDA C.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from mmsim.cuda_c.kernels import MOST_THREADS, Kernel
from mmsim.gpu.cache_points import LINE
from mmsim.gpu.cache_stage import Stage, chain
from mmsim.gpu.record import Row

HALVES, OF_BLOCKS, OF_EACH = "halves", "halves of blocks", "halves of multiprocessors"
"""The numbers of its rows."""
LINES = 2048
EVERY = 4
"""The number of multiprocessors whose single reads are in the record."""
QUANTILES = (5, 25, 50, 75, 95)
SOURCE = """extern "C" __global__ void reads_one_by_one(
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
WHERE = """extern "C" __global__ void multiprocessor_of_each_block(int *b)
{
    unsigned int own;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(own));
    if (threadIdx.x == 0)
        b[blockIdx.x] = own;
}
"""


def kernel(blocks: int) -> Kernel:
    """A block for each multiprocessor; the multiprocessor with number p[1] reads p[0] times."""
    return Kernel(SOURCE, "reads_one_by_one", "global", (), (blocks, 1, 1), (1, 1, 1), 0)


def measured(stage: Stage) -> Iterator[Row]:
    """Clock cycles of the reads: quantiles of the first and second reads of multiprocessors.

    The last two rows give the half of each multiprocessor, and of each block of a grid with one
    block for each multiprocessor: 0 is the half of multiprocessor 0.
    """
    cp = stage.cp
    a = cp.asarray(chain(LINES))
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
    blocks = multiprocessors(stage)
    yield {"number": OF_BLOCKS, "halves": "".join(of_each[one] for one in blocks)}


def multiprocessors(stage: Stage) -> list[int]:
    """The multiprocessor of each block, for one block on each multiprocessor."""
    cp = stage.cp
    b = cp.zeros(stage.card.multiprocessors, dtype=np.int32)
    size = (b.size, 1, 1), (MOST_THREADS, 1, 1)
    written = Kernel(WHERE, "multiprocessor_of_each_block", "global", (), *size, 0)
    stage.ready(written, (b,))()
    return [int(one) for one in cp.asnumpy(b)]


def _cycles(stage: Stage, a: Any, multiprocessor: int) -> Any:
    """The cycles of each read by one multiprocessor; zeros if it has no block."""
    cp = stage.cp
    written = kernel(stage.card.multiprocessors)
    cycles = cp.zeros(a.size // LINE, dtype=np.int32)
    p = cp.asarray(np.array([cycles.size, multiprocessor], np.int32))
    stage.ready(written, (a, p, cycles))()
    return cp.asnumpy(cycles)
