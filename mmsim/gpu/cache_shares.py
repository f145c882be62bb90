"""The number of equal blocks that each multiprocessor runs while all write to memory.

Clusters of multiprocessors have about equal shares of the memory, whatever their size. So a
multiprocessor of a small cluster has more of it and runs more blocks. The language has no number
of the multiprocessor, so the kernel is written in CUDA C.
"""

from __future__ import annotations

import numpy as np

from mmsim.cuda_c.kernels import MOST_THREADS, Kernel
from mmsim.gpu.cache_points import SECTOR
from mmsim.gpu.cache_stage import Stage
from mmsim.gpu.record import Row

SHARES = "shares"
"""The number of its row."""
BLOCKS = 100
"""Blocks for each multiprocessor, on average."""
WRITES = 12
"""The random sectors to which each thread writes a word."""
SOURCE = """extern "C" __global__ void writes_and_where(volatile int *a, int *b, const int *p)
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


def kernel(blocks: int) -> Kernel:
    """Many blocks, whose threads write p[0] times to p[1] sectors of p[2] words."""
    size = (blocks, 1, 1), (MOST_THREADS, 1, 1)
    return Kernel(SOURCE, "writes_and_where", "global", (), *size, 0)


def measured(stage: Stage) -> Row:
    """The blocks that each multiprocessor ran."""
    cp = stage.cp
    written = kernel(BLOCKS * stage.card.multiprocessors)
    b = cp.zeros(written.grid[0], dtype=np.int32)
    p = cp.asarray(np.array([WRITES, stage.scratch.size // SECTOR, SECTOR], np.int32))
    stage.ready(written, (stage.scratch, b, p))()
    ran = np.bincount(cp.asnumpy(b))
    return {"number": SHARES, "blocks": " ".join(map(str, ran))}
