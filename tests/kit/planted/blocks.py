"""Races between blocks, which no barrier orders."""

from functools import partial

import numpy as np

import mmsim as mm
from tests.kit.planted.pair import HMM, TWO, UMM, planted, race, zeros

on_hmm = partial(planted, machine=HMM)


@race("a[0]", (0, "write", "a[T.index] =", 0), (64, "read", "b[T.index] =", 1), 64, "blocks")
@on_hmm(zeros(64), zeros(64), **TWO)
def handed_over(T, a, b):
    """One block reads what another writes in the same launch."""
    if T.block == 0:
        a[T.index] = T.index
    T.barrier()
    if T.block == 1:  # twin: if T.block == 0:
        b[T.index] = a[T.index]


@race("total[0]", (0, "read", "total[0] += x"), (64, "write", "total[0] += x"), 1, "blocks")
@race("total[0]", (0, "write", "total[0] += x"), (64, "write", "total[0] += x"), 1, "blocks")
@on_hmm(np.arange(128), zeros(2), **TWO)
def block_sums(T, a, total):
    """The first thread of each block adds the block's sum to one total."""
    if T.index == 0:
        x = 0
        for i in range(T.block_size):
            x += a[T.block * T.block_size + i]
        total[0] += x  # bug
        total[T.block] += x  # twin


@race("done[0]", (0, "read", "done[0] += 1", 10), (64, "write", "done[0] += 1", 21), 1, "blocks")
@race(
    "done[0]",
    (0, "write", "done[0] += 1", 20),
    (64, "read", "if done[0] == T.blocks:", 31),
    1,
    "blocks",
)
@on_hmm(zeros(2), zeros(1), zeros(1), **TWO)
def last_block_done(T, sums, done, total):
    """The block that takes itself for the last adds up what the others may not have written."""
    if T.index == 0:  # bug
        sums[T.block] = T.block  # bug
        done[0] += 1  # bug
        if done[0] == T.blocks:  # bug
            for i in range(T.blocks):  # bug
                total[0] += sums[i]  # bug
    if T.id == 0:  # twin
        for i in range(T.blocks):  # twin
            sums[i] = i  # twin
            total[0] += sums[i]  # twin


@race("a[64]", (64, "read", "b[i] ="), (63, "write", "a[i] ="), 2, "blocks")
@race("b[64]", (63, "write", "b[i] ="), (64, "read", "a[i] ="), 2, "blocks")
@on_hmm(np.arange(130), zeros(130), 2, fixed={"arguments": (np.arange(130), zeros(130), 1)}, **TWO)
def jacobi_in_one_launch(T, a, b, steps):
    """Two steps of a stencil in one launch, with a barrier that only the block knows."""
    for k in range(steps):
        i = T.id + 1
        if k % 2 == 0:
            b[i] = a[i - 1] + a[i + 1]
        else:
            a[i] = b[i - 1] + b[i + 1]
        T.barrier()


@race(
    "a[64]",
    (0, "write", "a[T.block * T.block_size + i] =", 10),
    (64, "write", "a[T.block * T.block_size + i] =", 1),
    1,
    "blocks",
)
@on_hmm(zeros(129), **TWO)
def segments_overlap(T, a):
    """Each block clears one element more than its own."""
    end = T.block_size + 1  # bug
    end = T.block_size  # twin
    for i in range(T.index, end, T.block_size):
        a[T.block * T.block_size + i] = T.block


@race("b[0]", (0, "write", "b[T.index] =", 8), (64, "write", "b[T.index] =", 10), 64, "round")
@planted(np.arange(128), zeros(128), machine=UMM, schedule="synchronous", **TWO)
def index_for_id(T, a, b):
    """T.index where T.id is meant: all blocks write the first block's elements."""
    b[T.index] = a[T.id]  # bug
    b[T.id] = a[T.id]  # twin


@mm.program
def halo_in_place_mended(T, a, b):
    s = mm.shared(T.block_size + 1, dtype=int)
    s[T.index] = a[T.id]
    if T.index == 0:
        s[T.block_size] = a[T.id + T.block_size]
    T.barrier()
    b[T.id] = s[T.index + 1] - s[T.index]


@race("a[64]", (0, "read", "s[T.block_size] ="), (64, "write", "a[T.id] ="), 1, "blocks")
@on_hmm(
    np.arange(129) ** 2,
    twin=halo_in_place_mended,
    fixed={"arguments": (np.arange(129) ** 2, zeros(128))},
    **TWO,
)
def halo_in_place(T, a):
    """A block reads its neighbour's edge, which that may have overwritten already."""
    s = mm.shared(T.block_size + 1, dtype=int)
    s[T.index] = a[T.id]
    if T.index == 0:
        s[T.block_size] = a[T.id + T.block_size]
    T.barrier()
    a[T.id] = s[T.index + 1] - s[T.index]
