"""Shared memory beyond what a DMM has, and layouts for machines of another width."""

from functools import partial

import numpy as np

import mmsim as mm
from tests.kit.planted.pair import HMM, TWO, declared, pair, zeros


@mm.program
def staged(T, a, b):
    """A tile larger than the shared memory of a DMM (Discrete Memory Machine)."""
    s = mm.shared(T.block_size, dtype=int)
    s[T.index] = a[T.id]
    b[T.id] = s[T.index]


@mm.program
def blocks_together(T, a, b):
    """The tiles of one block fit, but not those of all blocks of a DMM together."""
    s = mm.shared(T.block_size, dtype=int)
    s[T.index] = a[T.id]
    b[T.id] = s[T.index]


@mm.program
def two_tiles(T, a, b):
    """Two tiles, each of which fits alone."""
    x = mm.shared(64, dtype=int)
    y = mm.shared(64, dtype=int)
    x[T.index] = a[T.id]
    y[T.index] = x[T.index]
    b[T.id] = y[T.index]


@mm.program
def two_tiles_mended(T, a, b):
    x = mm.shared(64, dtype=int)
    x[T.index] = a[T.id]
    b[T.id] = x[T.index]


@mm.program
def rounded_up(T, a, b):
    """Small arrays that each begin at the next multiple of the width."""
    x = mm.shared(1, dtype=int)
    y = mm.shared(64, dtype=int)
    if T.index == 0:
        x[0] = a[T.id]
    y[T.index] = a[T.id]
    T.barrier()
    b[T.id] = x[0] + y[T.index]


@mm.program
def rounded_up_mended(T, a, b):
    y = mm.shared(65, dtype=int)
    if T.index == 0:
        y[64] = a[T.id]
    y[T.index] = a[T.id]
    T.barrier()
    b[T.id] = y[64] + y[T.index]


@mm.program
def tile_on_one_dmm(T, a, b):
    """A DMM's one memory has less room for tiles than the blocks need."""
    s = mm.shared((8, 9), dtype=int)
    i, j = T.index // 8, T.index % 8
    s[i, j] = a[T.id]
    T.barrier()
    b[T.id] = s[j, i]


@mm.program
def tile_on_one_dmm_mended(T, a, b):
    s = mm.shared((8, 8), dtype=int)
    i, j = T.index // 8, T.index % 8
    s[i, j] = a[T.id]
    T.barrier()
    b[T.id] = s[j, i]


@mm.program
def rap_of_16(T, a, b):
    """RAP (random address permute-shift) for rows of 16 words on a machine 32 wide."""
    b[T.id] = a[T.id // a.shape[1], T.id % a.shape[1]]


@mm.program
def diagonal_of_64(T, a, b):
    """A diagonal layout for rows of 64 words on a machine 32 wide."""
    b[T.id] = a[T.id // a.shape[1], T.id % a.shape[1]]


@mm.program
def ras_of_8(T, a, b):
    """RAS (random address shift) for rows of 8 words on a machine 32 wide, for the output."""
    b[T.id // b.shape[1], T.id % b.shape[1]] = a[T.id]


def square(width):
    return mm.place(np.arange(width**2).reshape(width, width), mm.layout.RAP(width, seed=0))


def diagonal(width):
    return mm.place(np.arange(128).reshape(-1, width), mm.layout.Diagonal(width))


def shifted(width):
    return mm.place(zeros(64 // width, width), mm.layout.RAS(width, seed=0))


on_hmm = partial(pair, machine=HMM)

PAIRS = [
    on_hmm(
        staged,
        staged,
        np.arange(128),
        zeros(128),
        threads=128,
        shared_words=96,
        fixed={"block_size": 64},
        finds=declared(
            "capacity",
            "s of 0",
            0,
            "s = mm.shared(",
            note="the blocks on shared[0] need 128 words of it, and there are 96",
        ),
    ),
    on_hmm(
        blocks_together,
        blocks_together,
        np.arange(256),
        zeros(256),
        threads=256,
        block_size=64,
        shared_words=64,
        fixed={"machine": mm.HMM(4, 32, 10)},
        finds=declared(
            "capacity",
            "s of 2",
            128,
            "s = mm.shared(",
            note="the blocks on shared[0] need 128 words of it, and there are 64",
        ),
    ),
    on_hmm(
        two_tiles,
        two_tiles_mended,
        np.arange(64),
        zeros(64),
        shared_words=100,
        finds=declared(
            "capacity",
            "y of 0",
            0,
            "y = mm.shared(",
            note="the blocks on shared[0] need 128 words of it, and there are 100",
        ),
    ),
    on_hmm(
        rounded_up,
        rounded_up_mended,
        np.arange(64),
        zeros(64),
        shared_words=65,
        finds=declared(
            "capacity",
            "y of 0",
            0,
            "y = mm.shared(",
            note="the blocks on shared[0] need 96 words of it, and there are 65",
        ),
    ),
    pair(
        tile_on_one_dmm,
        tile_on_one_dmm_mended,
        np.arange(128),
        zeros(128),
        shared_words=128,
        **TWO,
        finds=declared(
            "capacity",
            "s of 1",
            64,
            "s = mm.shared(",
            note="the blocks on memory need 168 words of it, and there are 128",
        ),
    ),
    pair(
        rap_of_16,
        rap_of_16,
        square(16),
        zeros(64),
        fixed={"arguments": (square(32), zeros(64))},
        finds=declared(
            "placement",
            "a",
            0,
            "def rap_of_16(",
            note="has rows of 16 words, but the machine is 32 wide",
        ),
    ),
    pair(
        diagonal_of_64,
        diagonal_of_64,
        diagonal(64),
        zeros(64),
        fixed={"arguments": (diagonal(32), zeros(64))},
        finds=declared(
            "placement",
            "a",
            0,
            "def diagonal_of_64(",
            note="Diagonal(width=64) has rows of 64 words, but the machine is 32 wide",
        ),
    ),
    pair(
        ras_of_8,
        ras_of_8,
        np.arange(64),
        shifted(8),
        schedule="synchronous",
        fixed={"arguments": (np.arange(64), shifted(32))},
        finds=declared(
            "placement",
            "b",
            0,
            "def ras_of_8(",
            note="has rows of 8 words, but the machine is 32 wide",
        ),
    ),
]
