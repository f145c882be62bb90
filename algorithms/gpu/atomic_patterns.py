"""Patterns of addresses for atomics: the word that each lane's thread accesses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mmsim.cuda_c.kernels import WARP

Integers = npt.NDArray[np.int32]
WORDS = 1024
"""Words of the array of the addresses."""


@dataclass(frozen=True, eq=False)
class Pattern:
    """The address of each thread of a block, and the pattern's name."""

    name: str
    index: Integers

    @property
    def threads(self) -> int:
        return len(self.index)

    @property
    def warps(self) -> int:
        return -(-self.threads // WARP)


def stride(step: int, threads: int = WARP) -> Pattern:
    """Addresses at distance `step`, around the end of the array.

    >>> stride(33).index[:4], stride(32, 64).index[31:34]
    (array([ 0, 33, 66, 99], dtype=int32), array([992,   0,  32], dtype=int32))
    """
    return _pattern(f"stride {step}", np.arange(threads) * step % WORDS)


def one_address(threads: int = WARP) -> Pattern:
    """The same address for all."""
    return _pattern("one address", np.arange(threads) * 0)


def random(words: int, seed: int, threads: int = WARP) -> Pattern:
    """Addresses drawn among the first words, independently."""
    drawn = np.random.default_rng(seed).integers(0, words, threads)
    return _pattern(f"random over {words} words, seed {seed}", drawn)


def _one_warp() -> Iterator[Pattern]:
    """Patterns of one warp, none of them random."""
    lane = np.arange(WARP)
    yield one_address()
    for step in (1, 2, 3, 4, 8, 16, 31, 32, 33):
        yield stride(step)
    yield _pattern("backwards", lane[::-1])
    for k in (2, 4, 8, 16):
        yield _pattern(f"{k} neighbours at each address", lane // k)
        yield _pattern(f"{k} addresses in turn", lane % k)
        yield _pattern(f"{k} neighbours at each address of one bank", lane // k * WARP)
        yield _pattern(f"{k} addresses of one bank in turn", lane % k * WARP)
        yield _pattern(f"{k} lanes in one bank, the rest apart", lane * np.where(lane < k, WARP, 1))
    for k in (2, 3, 4, 8, 16, 24):
        yield _pattern(f"{k} lanes at one address, the rest apart", lane * (lane >= k))


def _several_warps(threads: int) -> Iterator[Pattern]:
    yield one_address(threads)
    yield _pattern("an address for each warp", np.arange(threads) // WARP)
    for step in (1, 2, 32):
        yield stride(step, threads)
    for words in (4, 16, 32, 64, 256, WORDS):
        yield random(words, 0, threads)


def _pattern(name: str, index: npt.NDArray[np.int64]) -> Pattern:
    return Pattern(name, index.astype(np.int32))


EVERY = (
    *_one_warp(),
    *(random(words, seed) for words in (2, 4, 8, 16, 32, 64, 256, WORDS) for seed in (0, 1, 2)),
    *_several_warps(4 * WARP),
)
FEW_NAMES = (
    "one address",
    "stride 1",
    "stride 2",
    "stride 32",
    "2 neighbours at each address",
    "8 neighbours at each address",
    "2 addresses in turn",
    "8 addresses in turn",
    "8 addresses of one bank in turn",
    "random over 8 words, seed 0",
    "random over 32 words, seed 0",
    "random over 1024 words, seed 0",
)
FEW = tuple(one for one in EVERY if one.warps == 1 and one.name in FEW_NAMES)
"""A few patterns of one warp, for accesses that needn't be tried with every pattern."""
