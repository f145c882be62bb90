"""Puzzles of class 6: random address permute-shift."""

import numpy as np

import mmsim as mm
from puzzles.puzzle import Puzzle


def three_ways(a: np.ndarray) -> np.ndarray:
    """The expected contents of a for the program of three directions."""
    i, j = np.indices(a.shape)
    return a[j, i] + 100 * a[j, (i + j) % 7] + 10000 * a[j, (i - j) % 7]


def shuffled(data: np.ndarray, rng: np.random.Generator) -> object:
    """A matrix under RAP, with random shifts."""
    shifts = tuple(rng.permutation(8).tolist())
    return mm.place(data, layout=mm.layout.RAP(8, shifts=shifts))


def keys_of_a_column(rng: np.random.Generator) -> np.ndarray:
    """Keys of 8 warps: those of a warp are 8 apart."""
    return np.concatenate([8 * rng.permutation(8) + rng.integers(8) for _ in range(8)])


PUZZLES = [
    Puzzle(
        name="three-directions",
        title="Three directions",
        task="""A tile of 7 × 7 words lies in a memory of 7 banks. Row i is rotated by SHIFTS[i].
        The program reads its columns, its diagonals and its antidiagonals. Find seven shifts with
        which none of them has a conflict, and change nothing else.""",
        starter="""
SHIFTS = (0, 0, 0, 0, 0, 0, 0)


@mm.program
def look(T, a, b):
    tile = mm.shared((7, 7))
    i, j = T.id // 7, T.id % 7
    tile[i, (j + SHIFTS[i]) % 7] = a[i, j]
    T.barrier()
    column = tile[j, (i + SHIFTS[j]) % 7]
    diagonal = tile[j, (i + j + SHIFTS[j]) % 7]
    antidiagonal = tile[j, (i - j + SHIFTS[j]) % 7]
    b[i, j] = column + 100 * diagonal + 10000 * antidiagonal
""",
        machine=mm.DMM(7, 3),
        threads=49,
        schedule="synchronous",
        inputs=lambda rng: (rng.integers(0, 100, (7, 7)), np.zeros((7, 7), int)),
        expected=lambda a, b: {"b": three_ways(a)},
        gates=["stages of tile <= 28", "shared_words <= 49"],
        hints=[
            "For a column the shifts must differ. For a diagonal, which sums must differ?",
            "SHIFTS[j], j + SHIFTS[j] and SHIFTS[j] - j must all be permutations of 0 to 6, "
            "modulo 7.",
            "Try multiples of j. Why do those of 1 and 6 fail?",
        ],
    ),
    Puzzle(
        name="plain-under-rap",
        title="The diagonal that doesn't pay",
        task="""Both matrices lie in the memory under RAP: each row is rotated by a shift that the
        program doesn't know. Its author takes diagonals, which are best in row-major order. Here
        they meet by chance. Transpose without a conflict, whatever the shifts are.""",
        starter="""
@mm.program
def transpose(T, a, b):
    i, j = T.id // 8, T.id % 8
    b[j, (i + j) % 8] = a[(i + j) % 8, j]
""",
        machine=mm.DMM(8, 4),
        threads=64,
        schedule="synchronous",
        inputs=lambda rng: (
            shuffled(rng.integers(0, 1000, (8, 8)), rng),
            shuffled(np.zeros((8, 8), int), rng),
        ),
        expected=lambda a, b: {"b": a.T},
        gates=["no wasted"],
        hints=[
            "Which accesses does RAP free of conflicts with certainty?",
            "The shifts are a permutation: no two rows have the same.",
            "Rows are free under any rotation. What else is free because the shifts differ?",
        ],
    ),
    Puzzle(
        name="lookups",
        title="Unlucky keys",
        task="""y[k] is t[x[k]], from a table of 64 words. The keys x of a warp are 8 apart, so that
        all its words lie in one bank. Copy the table into 64 words of shared memory so that such
        keys are free of conflicts.""",
        starter="""
@mm.program
def look_up(T, t, x, y):
    own = mm.shared(64)
    own[T.id] = t[T.id]
    T.barrier()
    key = x[T.id]
    y[T.id] = own[key]
""",
        machine=mm.DMM(8, 4),
        threads=64,
        inputs=lambda rng: (
            rng.integers(0, 1000, 64),
            keys_of_a_column(rng),
            np.zeros(64, int),
        ),
        expected=lambda t, x, y: {"y": t[x]},
        gates=["no wasted", "shared_words <= 64", "no findings"],
        hints=[
            "Think of the table as a matrix of 8 × 8 words. The keys of a warp are a column.",
            "Rows may be rotated, each by another number of places.",
            "Key k is in row k // 8 and column k % 8. The same formula says where to write and "
            "where to read.",
        ],
    ),
]
