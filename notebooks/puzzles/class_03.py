"""Puzzles of class 3: the transpose."""

import numpy as np

import mmsim as mm
from puzzles.puzzle import Puzzle

PUZZLES = [
    Puzzle(
        name="tile-without-padding",
        title="A tile without padding",
        task="""Each block transposes a tile of 8 × 8 words in its shared memory. Reading a column
        of the tile takes 8 stages. Free the program of conflicts without more words of shared
        memory.""",
        starter="""
@mm.program
def transpose(T, a, b):
    tile = mm.shared((8, 8))
    I, J = T.block // 2, T.block % 2
    i, j = T.index // 8, T.index % 8
    tile[i, j] = a[8 * I + i, 8 * J + j]
    T.barrier()
    b[8 * J + i, 8 * I + j] = tile[j, i]
""",
        machine=mm.HMM(2, 8, 10),
        threads=256,
        block_size=64,
        inputs=lambda rng: (rng.integers(0, 1000, (16, 16)), np.zeros((16, 16), int)),
        expected=lambda a, b: {"b": a.T},
        gates=["no wasted", "shared_words <= 64", "no findings"],
        hints=[
            "The words of a column must lie in different banks, and so must those of a row.",
            "Word (i, j) need not stand in column j of the tile.",
            "Rotate each row of the tile by another number of places, and read it accordingly.",
        ],
    ),
    Puzzle(
        name="turn-the-picture",
        title="Turn the picture",
        task="""b is a, turned by a quarter to the right: what was the first row becomes the last
        column. The reads are free of conflicts, but each warp writes a column. Let both take one
        stage for each warp.""",
        starter="""
@mm.program
def turn(T, a, b):
    i, j = T.id // 16, T.id % 16
    b[j, 15 - i] = a[i, j]
""",
        machine=mm.DMM(8, 4),
        threads=256,
        schedule="synchronous",
        inputs=lambda rng: (rng.integers(0, 1000, (16, 16)), np.zeros((16, 16), int)),
        expected=lambda a, b: {"b": np.rot90(a, -1)},
        gates=["stages <= 64"],
        hints=[
            "Which elements a warp takes is free, if only every element is taken once.",
            "A row of a becomes a column of b, and a column of a becomes a row. Take neither.",
            "Along a diagonal, the row changes with the column.",
        ],
    ),
    Puzzle(
        name="swap-in-place",
        title="Swap in place",
        task="""28 threads transpose a in place: each swaps one pair of elements, so that no barrier
        is needed. But the pairs of a warp have conflicts. Find an order of the pairs without
        conflicts. You have 32 threads.""",
        starter="""
@mm.program
def transpose(T, a):
    if T.id < 28:
        i, j = 0, T.id + 1
        while j > 7:  # pair T.id of (0, 1), (0, 2), ..., (0, 7), (1, 2), ...
            i += 1
            j += i - 7
        a[i, j], a[j, i] = a[j, i], a[i, j]
""",
        machine=mm.DMM(8, 4),
        threads=32,
        inputs=lambda rng: (rng.integers(0, 1000, (8, 8)),),
        expected=lambda a: {"a": a.T},
        gates=["stages <= 16", "no barriers", "no findings"],
        hints=[
            "Four warps, and four accesses of each: every access has to take one stage.",
            "The elements (i, i + 1) lie along a diagonal. With which elements are they swapped?",
            "Let warp k take the diagonal k + 1, counted around the edge of the matrix. Which "
            "pairs are on the diagonal 4 twice?",
        ],
    ),
]
