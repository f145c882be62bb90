"""Puzzles of class 4: the conflict-free permutation."""

import numpy as np

import mmsim as mm
from puzzles.puzzle import Puzzle


def tables(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The places that threads read and write: a random schedule without conflicts.

    Each of the 8 warps takes a word from each bank, and puts one into each.
    """
    rows = np.stack([rng.permutation(8) for _ in range(8)], axis=1)
    source = 8 * rows + np.arange(8)
    rows = np.stack([rng.permutation(8) for _ in range(8)], axis=1)
    target = np.stack([rng.permutation(row) for row in 8 * rows + np.arange(8)])
    return source.ravel(), target.ravel()


def permuted(a: np.ndarray, s: np.ndarray, d: np.ndarray) -> np.ndarray:
    """The array a after each word s[t] has moved to place d[t]."""
    b = np.empty_like(a)
    b[d] = a[s]
    return b


PUZZLES = [
    Puzzle(
        name="perfect-shuffle",
        title="A perfect shuffle",
        task="""A pack of 64 cards is cut into halves and shuffled perfectly: b has a[0], a[32],
        a[1], a[33] and so on. The writes meet in four of the eight banks. Choose the words of each
        warp so that neither reads nor writes have a conflict. It needs no tables.""",
        starter="""
@mm.program
def shuffle(T, a, b):
    k, half = T.id % 32, T.id // 32
    b[2 * k + half] = a[32 * half + k]
""",
        machine=mm.DMM(8, 4),
        threads=64,
        schedule="synchronous",
        inputs=lambda rng: (rng.integers(0, 1000, 64), np.zeros(64, int)),
        expected=lambda a, b: {"b": a.reshape(2, 32).T.ravel()},
        gates=["stages <= 16"],
        hints=[
            "A word of the first half goes to an even place, a word of the second half to an odd "
            "one. A warp has to write to eight banks.",
            "Let a warp take four words of each half. Which four, so that their banks differ?",
            "If the four of the first half are in the banks 0 to 3, those of the second half must "
            "be in the banks 4 to 7: words of the first and of the second half have another k.",
        ],
    ),
    Puzzle(
        name="pairs-of-places",
        title="Two places in one request",
        task="""Thread k moves the word a[t[2k]] to b[t[2k + 1]]. The schedule is free of conflicts,
        but the table t isn't read well: source and target are two requests of a warp, of two
        stages each. Read both in one request.""",
        starter="""
@mm.program
def permute(T, a, b, t):
    source = t[2 * T.id]
    target = t[2 * T.id + 1]
    b[target] = a[source]
""",
        machine=mm.DMM(8, 10),
        threads=64,
        schedule="synchronous",
        inputs=lambda rng: (
            rng.integers(0, 1000, 64),
            np.zeros(64, int),
            np.stack(tables(rng), axis=1).ravel(),
        ),
        expected=lambda a, b, t: {"b": permuted(a, t[::2], t[1::2])},
        gates=["requests <= 24"],
        hints=[
            "There are eight warps. What do 24 requests leave for the table?",
            "The two places of a thread are adjacent words.",
            "A vector of adjacent elements is read in one access: mm.vector in the language.",
        ],
    ),
    Puzzle(
        name="permute-in-place",
        title="Permute in place",
        task="""Thread k moves the word at place s[k] to place d[k] of the same array a. The
        warps run by themselves, so one may overwrite a word that another has not read yet. Make it
        right, with one barrier and without another array.""",
        starter="""
@mm.program
def permute(T, a, s, d):
    a[d[T.id]] = a[s[T.id]]
""",
        machine=mm.DMM(8, 4),
        threads=64,
        inputs=lambda rng: (rng.integers(0, 1000, 64), *tables(rng)),
        expected=lambda a, s, d: {"a": permuted(a, s, d)},
        gates=["barriers <= 1", "no shared_words", "no findings"],
        hints=[
            "When may the first thread write? After which access of the last one?",
            "Where can a thread keep its word until then?",
            "All reads, the barrier, then all writes. Watch the order within one statement.",
        ],
    ),
]
