"""The three kinds of rounds on the HMM: coalesced, conflict-free, casual (ICPP section III)."""

from __future__ import annotations

import numpy as np

import mmsim as mm


@mm.program
def coalesced(T: mm.Thread, a: mm.Array) -> None:
    """A coalesced round: every warp reads one address group of the global memory."""
    a[T.id]


@mm.program
def scattered(T: mm.Thread, a: mm.Array, w: int) -> None:
    """The worst casual round of the global memory: the threads of a warp step by n/w words."""
    a[T.lane * (a.size // w) + T.warp]


@mm.program
def conflict_free(T: mm.Thread) -> None:
    """A conflict-free round: every warp writes w consecutive words of its shared memory."""
    alpha = mm.shared(T.block_size)
    alpha[T.index] = T.index


@mm.program
def one_bank(T: mm.Thread, w: int) -> None:
    """The worst casual round of the shared memory: each warp of a w x w block stays in a bank."""
    alpha = mm.shared((w, w))
    alpha[T.index % w, T.index // w] = T.index


@coalesced.example
def coalesced_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    n = size or width * width
    return mm.Example(np.arange(n), threads=n)


@scattered.example
def scattered_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    n = width * width
    return mm.Example(np.arange(n), width, threads=n)


@conflict_free.example
def conflict_free_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    return mm.Example(threads=width * width, block_size=width)


@one_bank.example
def one_bank_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    return mm.Example(width, threads=width * width)
