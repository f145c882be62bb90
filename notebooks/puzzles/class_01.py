"""Puzzles of class 1: banks and address groups."""

import numpy as np

import mmsim as mm
from puzzles.puzzle import Puzzle

PUZZLES = [
    Puzzle(
        name="scale-rows",
        title="Rows or columns",
        task="""Row i of the matrix a is to be multiplied by f[i]. The memory has address groups of
        8 words, and the program takes 136 stages. Make it take 24.""",
        starter="""
@mm.program
def scale(T, a, f, b):
    i, j = T.id % 8, T.id // 8
    b[i, j] = f[i] * a[i, j]
""",
        machine=mm.UMM(8, 5),
        threads=64,
        schedule="synchronous",
        inputs=lambda rng: (
            rng.integers(0, 100, (8, 8)),
            rng.integers(0, 10, 8),
            np.zeros((8, 8), int),
        ),
        expected=lambda a, f, b: {"b": f[:, None] * a},
        gates=["stages <= 24"],
        hints=[
            "Threads 0 to 7 are a warp. Which elements of a do they read together?",
            "A row of a is one address group; a column has a word in each of eight groups.",
            "If the threads of a warp have the same i, they also read the same word of f.",
        ],
    ),
    Puzzle(
        name="pairs",
        title="Sums of pairs",
        task="""b[k] is the sum of a[2k] and a[2k + 1]. A warp that reads every other word uses
        only four of the eight banks, so each of these reads takes two stages. Read the same words
        without a conflict.""",
        starter="""
@mm.program
def pairs(T, a, b):
    x = a[2 * T.id]
    y = a[2 * T.id + 1]
    b[T.id] = x + y
""",
        machine=mm.DMM(8, 4),
        threads=64,
        schedule="synchronous",
        inputs=lambda rng: (rng.integers(0, 100, 128), np.zeros(64, int)),
        expected=lambda a, b: {"b": a[::2] + a[1::2]},
        gates=["stages <= 24"],
        hints=[
            "Write down the banks of the words 0, 2, 4, ..., 14. Which banks are idle?",
            "Some threads may read their two words in the other order.",
            "Lanes 0 and 4 meet in one bank, and so do 1 and 5. Each two of them should differ.",
        ],
    ),
    Puzzle(
        name="own-tables",
        title="A table for each thread",
        task="""Thread t counts how many different values, from 0 to 7, are among a[t], a[8 + t],
        a[16 + t] and so on. It marks them in a table of its own, of 8 words. Arrange the eight
        tables in the same 64 words so that no access has a conflict, whatever the values are.""",
        starter="""
@mm.program
def distinct(T, a, d):
    seen = mm.shared(64, dtype=int)
    for k in range(8):
        seen[8 * T.id + k] = 0
    for t in range(8):
        seen[8 * T.id + a[8 * t + T.id]] = 1
    count = 0
    for k in range(8):
        count += seen[8 * T.id + k]
    d[T.id] = count
""",
        machine=mm.DMM(8, 4),
        threads=8,
        schedule="synchronous",
        inputs=lambda rng: (rng.integers(0, 8, 64), np.zeros(8, int)),
        expected=lambda a, d: {"d": [len(set(a[t::8].tolist())) for t in range(8)]},
        gates=["stages of seen <= 24", "shared_words == 64"],
        hints=[
            "In which bank is word k of the table of thread t? Does t matter?",
            "A conflict is impossible if each thread has a bank for itself.",
            "Neighbours in a table need not be neighbours in the memory.",
        ],
    ),
]
