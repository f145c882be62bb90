"""Puzzles of class 2: latency and warps."""

import numpy as np

import mmsim as mm
from puzzles.puzzle import Puzzle

PUZZLES = [
    Puzzle(
        name="horner",
        title="Read it once",
        task="""Each thread evaluates a polynomial at its own x by Horner's rule. The program makes
        18 rounds, and each one waits for the latency. Seven rounds are enough.""",
        starter="""
@mm.program
def horner(T, x, c, y):
    y[T.id] = c[0]
    for k in range(1, 5):
        y[T.id] = y[T.id] * x[T.id] + c[k]
""",
        machine=mm.DMM(8, 10),
        threads=32,
        schedule="synchronous",
        inputs=lambda rng: (
            rng.integers(-5, 6, 32),
            rng.integers(-9, 10, 5),
            np.zeros(32, int),
        ),
        expected=lambda x, c, y: {"y": np.polyval(c, x)},
        gates=["rounds <= 7"],
        hints=[
            "A round is an access to the memory. How many are in one iteration?",
            "A variable of a thread costs nothing. What does the program read again and again?",
            "Five coefficients have to be read. Two rounds remain.",
        ],
    ),
    Puzzle(
        name="enough-threads",
        title="Seven idle warps",
        task="""The program adds 1 to each of 256 words, but only the first of its eight warps
        works, and waits 20 time units for each access. Let all warps work. Each warp runs by
        itself, so that their waits overlap.""",
        starter="""
@mm.program
def increment(T, a, b):
    if T.id < 8:
        for k in range(T.id, 256, 8):
            b[k] = a[k] + 1
""",
        machine=mm.DMM(8, 20),
        threads=64,
        inputs=lambda rng: (rng.integers(0, 100, 256), np.zeros(256, int)),
        expected=lambda a, b: {"b": a + 1},
        gates=["time <= 167"],
        hints=[
            "With 64 threads each has to do four of the 256 words.",
            "If a thread takes four words in a row, in which banks are the words of a warp?",
            "All 64 threads together should take 64 words in a row.",
        ],
    ),
    Puzzle(
        name="two-barriers",
        title="A sum with two barriers",
        task="""64 threads add 512 words: each adds 8 in a variable, and then a tree of halves adds
        the 64 sums, with a barrier in each of its 6 steps. Do it with two barriers, in at most 150
        time units and without a data race.""",
        starter="""
@mm.program
def total(T, a, c):
    s = mm.shared(64, dtype=int)
    x = 0
    for t in range(8):
        x += a[64 * t + T.id]
    s[T.id] = x
    k = 32
    while k > 0:
        T.barrier()
        if T.id < k:
            s[T.id] += s[T.id + k]
        k //= 2
    if T.id == 0:
        c[0] = s[0]
""",
        machine=mm.DMM(8, 4),
        threads=64,
        inputs=lambda rng: (rng.integers(0, 100, 512), np.zeros(1, int)),
        expected=lambda a, c: {"c": a.sum()},
        gates=["barriers <= 2", "time <= 150", "no findings"],
        hints=[
            "A tree need not be of halves: in one step a thread can add more than two sums.",
            "Two barriers separate three steps. From 64 sums to 1 in two steps: how many does a "
            "thread add in each?",
            "Eight threads add eight sums each. Let them read without conflicts, as all threads "
            "did before.",
        ],
    ),
]
