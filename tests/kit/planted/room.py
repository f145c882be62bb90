"""Shared memory beyond what a DMM has, and layouts for machines of another width."""

from functools import partial

import numpy as np

import mmsim as mm
from tests.kit.planted.pair import HMM, TWO, misplaced, no_room, planted, zeros

on_hmm = partial(planted, machine=HMM)


@no_room("s of 0", 0, 128, 96)
@on_hmm(np.arange(128), zeros(128), threads=128, shared_words=96, fixed={"block_size": 64})
def staged(T, a, b):
    """A tile larger than the shared memory of a DMM (Discrete Memory Machine)."""
    s = mm.shared(T.block_size, dtype=int)
    s[T.index] = a[T.id]
    b[T.id] = s[T.index]


@no_room("s of 2", 128, 128, 64)
@on_hmm(
    np.arange(256),
    zeros(256),
    threads=256,
    block_size=64,
    shared_words=64,
    fixed={"machine": mm.HMM(4, 32, 10)},
)
def blocks_together(T, a, b):
    """The tiles of one block fit, but not those of all blocks of a DMM together."""
    s = mm.shared(T.block_size, dtype=int)
    s[T.index] = a[T.id]
    b[T.id] = s[T.index]


@no_room("y of 0", 0, 128, 100)
@on_hmm(np.arange(64), zeros(64), shared_words=100)
def two_tiles(T, a, b):
    """Two tiles, each of which fits alone."""
    x = mm.shared(64, dtype=int)
    y = mm.shared(64, dtype=int)  # bug
    x[T.index] = a[T.id]
    y[T.index] = x[T.index]  # bug
    b[T.id] = y[T.index]  # bug
    b[T.id] = x[T.index]  # twin


@no_room("y of 0", 0, 96, 65)
@on_hmm(np.arange(64), zeros(64), shared_words=65)
def rounded_up(T, a, b):
    """Small arrays that each begin at the next multiple of the width."""
    x = mm.shared(1, dtype=int)  # bug
    y = mm.shared(64, dtype=int)  # bug
    y = mm.shared(65, dtype=int)  # twin
    if T.index == 0:
        x[0] = a[T.id]  # bug
        y[64] = a[T.id]  # twin
    y[T.index] = a[T.id]
    T.barrier()
    b[T.id] = x[0] + y[T.index]  # bug
    b[T.id] = y[64] + y[T.index]  # twin


@no_room("s of 1", 64, 168, 128, "memory")
@planted(np.arange(128), zeros(128), shared_words=128, **TWO)
def tile_on_one_dmm(T, a, b):
    """A DMM's one memory has less room for tiles than the blocks need."""
    s = mm.shared((8, 9), dtype=int)  # bug
    s = mm.shared((8, 8), dtype=int)  # twin
    i, j = T.index // 8, T.index % 8
    s[i, j] = a[T.id]
    T.barrier()
    b[T.id] = s[j, i]


def square(width):
    return mm.place(np.arange(width**2).reshape(width, width), mm.layout.RAP(width, seed=0))


@misplaced("a", "def rap_of_16(", 16)
@planted(square(16), zeros(64), fixed={"arguments": (square(32), zeros(64))})
def rap_of_16(T, a, b):
    """RAP (random address permute-shift) for rows of 16 words on a machine 32 wide."""
    b[T.id] = a[T.id // a.shape[1], T.id % a.shape[1]]


def diagonal(width):
    return mm.place(np.arange(128).reshape(-1, width), mm.layout.Diagonal(width))


@misplaced("a", "def diagonal_of_64(", 64, "Diagonal(width=64)")
@planted(diagonal(64), zeros(64), fixed={"arguments": (diagonal(32), zeros(64))})
def diagonal_of_64(T, a, b):
    """A diagonal layout for rows of 64 words on a machine 32 wide."""
    b[T.id] = a[T.id // a.shape[1], T.id % a.shape[1]]


def shifted(width):
    return mm.place(zeros(64 // width, width), mm.layout.RAS(width, seed=0))


@misplaced("b", "def ras_of_8(", 8)
@planted(
    np.arange(64),
    shifted(8),
    schedule="synchronous",
    fixed={"arguments": (np.arange(64), shifted(32))},
)
def ras_of_8(T, a, b):
    """RAS (random address shift) for rows of 8 words on a machine 32 wide, for the output."""
    b[T.id // b.shape[1], T.id % b.shape[1]] = a[T.id]
