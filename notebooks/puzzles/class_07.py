"""Puzzles of class 7: what counts on a card."""

import numpy as np

import mmsim as mm
from puzzles.puzzle import Puzzle

PUZZLES = [
    Puzzle(
        name="four-at-once",
        title="Four at a time",
        task="""32 threads double 128 words of a memory with a latency of 20. A thread makes eight
        accesses in a row, and waits for each. Wait only twice: a card reads up to four numbers in
        one access.""",
        starter="""
@mm.program
def double(T, a, b):
    for k in range(T.id, 128, 32):
        b[k] = 2 * a[k]
""",
        machine=mm.UMM(8, 20),
        threads=32,
        inputs=lambda rng: (rng.integers(0, 100, 128), np.zeros(128, int)),
        expected=lambda a, b: {"b": 2 * a},
        gates=["time <= 58"],
        hints=[
            "How often does a warp wait for the latency now?",
            "Let a thread take four adjacent words in one access.",
            "mm.vector reads adjacent numbers as a tuple, and writes a tuple.",
        ],
    ),
    Puzzle(
        name="rows-of-nine",
        title="Rows that don't fit",
        task="""A matrix has 16 rows of 9 words, without gaps. A warp for each row seems natural:
        it takes 8 words and then 1. But rows begin anywhere in an address group, and most requests
        touch two groups. Take each group once.""",
        starter="""
@mm.program
def double(T, a, b):
    for j in range(T.lane, 9, 8):
        b[T.warp, j] = 2 * a[T.warp, j]
""",
        machine=mm.UMM(8, 5),
        threads=128,
        inputs=lambda rng: (rng.integers(0, 100, (16, 9)), np.zeros((16, 9), int)),
        expected=lambda a, b: {"b": 2 * a},
        gates=["stages <= 36"],
        hints=[
            "144 words are 18 groups, to be read once and written once.",
            "Forget the rows: which words does a warp have to take?",
            "Count the words from 0 to 143, and compute row and column of word k.",
        ],
    ),
]
