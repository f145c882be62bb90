"""Races between blocks, which no barrier orders."""

from functools import partial

import numpy as np

import mmsim as mm
from tests.kit.planted.pair import HMM, TWO, UMM, pair, race, zeros


@mm.program
def handed_over(T, a, b):
    """One block reads what another writes in the same launch."""
    if T.block == 0:
        a[T.index] = T.index
    T.barrier()
    if T.block == 1:
        b[T.index] = a[T.index]


@mm.program
def handed_over_mended(T, a, b):
    if T.block == 0:
        a[T.index] = T.index
    T.barrier()
    if T.block == 0:
        b[T.index] = a[T.index]


@mm.program
def block_sums(T, a, total):
    """The first thread of each block adds the block's sum to one total."""
    if T.index == 0:
        x = 0
        for i in range(T.block_size):
            x += a[T.block * T.block_size + i]
        total[0] += x


@mm.program
def block_sums_mended(T, a, total):
    if T.index == 0:
        x = 0
        for i in range(T.block_size):
            x += a[T.block * T.block_size + i]
        total[T.block] += x


@mm.program
def last_block_done(T, sums, done, total):
    """The block that takes itself for the last adds up what the others may not have written."""
    if T.index == 0:
        sums[T.block] = T.block
        done[0] += 1
        if done[0] == T.blocks:
            for i in range(T.blocks):
                total[0] += sums[i]


@mm.program
def last_block_done_mended(T, sums, done, total):
    if T.id == 0:
        for i in range(T.blocks):
            sums[i] = i
            total[0] += sums[i]


@mm.program
def jacobi_in_one_launch(T, a, b, steps):
    """Two steps of a stencil in one launch, with a barrier that only the block knows."""
    for k in range(steps):
        i = T.id + 1
        if k % 2 == 0:
            b[i] = a[i - 1] + a[i + 1]
        else:
            a[i] = b[i - 1] + b[i + 1]
        T.barrier()


@mm.program
def segments_overlap(T, a):
    """Each block clears one element more than its own."""
    for i in range(T.index, T.block_size + 1, T.block_size):
        a[T.block * T.block_size + i] = T.block


@mm.program
def segments_overlap_mended(T, a):
    for i in range(T.index, T.block_size, T.block_size):
        a[T.block * T.block_size + i] = T.block


@mm.program
def index_for_id(T, a, b):
    """T.index where T.id is meant: all blocks write the first block's elements."""
    b[T.index] = a[T.id]


@mm.program
def index_for_id_mended(T, a, b):
    b[T.id] = a[T.id]


@mm.program
def halo_in_place(T, a):
    """A block reads its neighbour's edge, which that may have overwritten already."""
    s = mm.shared(T.block_size + 1, dtype=int)
    s[T.index] = a[T.id]
    if T.index == 0:
        s[T.block_size] = a[T.id + T.block_size]
    T.barrier()
    a[T.id] = s[T.index + 1] - s[T.index]


@mm.program
def halo_in_place_mended(T, a, b):
    s = mm.shared(T.block_size + 1, dtype=int)
    s[T.index] = a[T.id]
    if T.index == 0:
        s[T.block_size] = a[T.id + T.block_size]
    T.barrier()
    b[T.id] = s[T.index + 1] - s[T.index]


on_hmm = partial(pair, machine=HMM)

PAIRS = [
    on_hmm(
        handed_over,
        handed_over_mended,
        zeros(64),
        zeros(64),
        **TWO,
        finds=race(
            "a[0]", (0, "write", "a[T.index] =", 0), (64, "read", "b[T.index] =", 1), 64, "blocks"
        ),
    ),
    on_hmm(
        block_sums,
        block_sums_mended,
        np.arange(128),
        zeros(2),
        **TWO,
        finds=(
            race(
                "total[0]",
                (0, "read", "total[0] += x"),
                (64, "write", "total[0] += x"),
                1,
                "blocks",
            ),
            race(
                "total[0]",
                (0, "write", "total[0] += x"),
                (64, "write", "total[0] += x"),
                1,
                "blocks",
            ),
        ),
    ),
    on_hmm(
        last_block_done,
        last_block_done_mended,
        zeros(2),
        zeros(1),
        zeros(1),
        **TWO,
        finds=(
            race(
                "done[0]",
                (0, "read", "done[0] += 1", 10),
                (64, "write", "done[0] += 1", 21),
                1,
                "blocks",
            ),
            race(
                "done[0]",
                (0, "write", "done[0] += 1", 20),
                (64, "read", "if done[0] == T.blocks:", 31),
                1,
                "blocks",
            ),
        ),
    ),
    on_hmm(
        jacobi_in_one_launch,
        jacobi_in_one_launch,
        np.arange(130),
        zeros(130),
        2,
        fixed={"arguments": (np.arange(130), zeros(130), 1)},
        **TWO,
        finds=(
            race("a[64]", (64, "read", "b[i] ="), (63, "write", "a[i] ="), 2, "blocks"),
            race("b[64]", (63, "write", "b[i] ="), (64, "read", "a[i] ="), 2, "blocks"),
        ),
    ),
    on_hmm(
        segments_overlap,
        segments_overlap_mended,
        zeros(129),
        **TWO,
        finds=race(
            "a[64]",
            (0, "write", "a[T.block * T.block_size + i] =", 10),
            (64, "write", "a[T.block * T.block_size + i] =", 1),
            1,
            "blocks",
        ),
    ),
    pair(
        index_for_id,
        index_for_id_mended,
        np.arange(128),
        zeros(128),
        machine=UMM,
        schedule="synchronous",
        **TWO,
        finds=race(
            "b[0]", (0, "write", "b[T.index] =", 8), (64, "write", "b[T.index] =", 10), 64, "round"
        ),
    ),
    on_hmm(
        halo_in_place,
        halo_in_place_mended,
        np.arange(129) ** 2,
        fixed={"arguments": (np.arange(129) ** 2, zeros(128))},
        **TWO,
        finds=race(
            "a[64]", (0, "read", "s[T.block_size] ="), (64, "write", "a[T.id] ="), 1, "blocks"
        ),
    ),
]
