"""Puzzles of class 5: the scheduled permutation, global and shared memory."""

import numpy as np

import mmsim as mm
from puzzles.puzzle import Puzzle


def columns_permuted(a: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The matrix a after element (i, j) has moved to (q[i, j], j)."""
    b = np.empty_like(a)
    b[q, np.arange(a.shape[1])] = a
    return b


PUZZLES = [
    Puzzle(
        name="pixels",
        title="Red, green and blue",
        task="""a has the colours of 64 pixels: red, green and blue of pixel 0, then of pixel 1, and
        so on. p gets all reds in row 0, all greens in row 1, all blues in row 2. Every read of the
        global memory touches three address groups. Touch each group once, with at most 48 words of
        shared memory in each block.""",
        starter="""
@mm.program
def planes(T, a, p):
    for c in range(3):
        p[c, T.id] = a[3 * T.id + c]
""",
        machine=mm.HMM(2, 8, 20),
        threads=64,
        block_size=16,
        inputs=lambda rng: (rng.integers(0, 256, 192), np.zeros((3, 64), int)),
        expected=lambda a, p: {"p": a.reshape(64, 3).T},
        gates=["no wasted", "shared_words <= 48", "no findings"],
        hints=[
            "A block of 16 threads has 16 pixels, and these are 48 adjacent words.",
            "Copy the 48 words into shared memory as they lie, three times 16 adjacent words.",
            "In shared memory there are no address groups: how many words of a warp that reads "
            "with stride 3 lie in one of 8 banks?",
        ],
    ),
    Puzzle(
        name="columns",
        title="A permutation within columns",
        task="""Each element of a moves within its column: from (i, j) to (q[i, j], j). Written
        to the global memory directly, the words of a warp go to many address groups. A
        block has 128 threads and the shared memory of the block has room for 8 columns. Do it with
        no wasted stage, whatever q is.""",
        starter="""
@mm.program
def permute(T, a, q, b):
    i, j = T.id // 16, T.id % 16
    b[q[i, j], j] = a[i, j]
""",
        machine=mm.HMM(2, 8, 20),
        threads=256,
        block_size=128,
        inputs=lambda rng: (
            rng.integers(0, 1000, (16, 16)),
            np.stack([rng.permutation(16) for _ in range(16)], axis=1),
            np.zeros((16, 16), int),
        ),
        expected=lambda a, q, b: {"b": columns_permuted(a, q)},
        gates=["no wasted", "shared_words <= 128", "no findings"],
        hints=[
            "Let a block do 8 whole columns: then all its words stay in its shared memory.",
            "Eight adjacent words of a row of a are one address group.",
            "In shared memory the words of a warp stay in their columns. How must the columns lie "
            "so that each is a bank?",
        ],
    ),
]
