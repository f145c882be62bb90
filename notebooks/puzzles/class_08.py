"""Puzzles of class 8: your own kernel, and what is wrong with it. With CUDA's words."""

import numpy as np

import mmsim as mm
from puzzles.puzzle import Puzzle

PUZZLES = [
    Puzzle(
        name="halo",
        title="Neighbours",
        task="""b[i] is the sum of a[i], a[i + 1] and a[i + 2]. So each word is read three times
        from the global memory, and two of the three reads touch two address groups. Let each block
        copy its 18 words into shared memory first.""",
        starter="""
@mm.program
def window(T, a, b):
    i = T.blockIdx.x * T.blockDim.x + T.threadIdx.x
    b[i] = a[i] + a[i + 1] + a[i + 2]
""",
        machine=mm.HMM(2, 8, 20),
        threads=128,
        block_size=16,
        inputs=lambda rng: (rng.integers(0, 100, 130), np.zeros(128, int)),
        expected=lambda a, b: {"b": a[:-2] + a[1:-1] + a[2:]},
        gates=["stages in global <= 40", "shared_words <= 18", "no findings"],
        hints=[
            "A block has 16 threads and needs 18 words. Who copies the last two?",
            "Two threads of the block copy a second word.",
            "When may a thread read what another has copied?",
        ],
    ),
    Puzzle(
        name="ragged-end",
        title="The last block",
        task="""Each block reverses its 16 words. But a has only 44 words, so the last block has 12,
        and its threads read beyond the end. Guard the accesses. All threads of a block have to
        come to the same barrier.""",
        starter="""
@mm.program
def reverse(T, a, b):
    part = mm.shared(16, dtype=int)
    t = T.threadIdx.x
    first = T.blockIdx.x * T.blockDim.x
    count = min(16, a.size - first)
    part[t] = a[first + t]
    T.barrier()
    b[first + t] = part[count - 1 - t]
""",
        machine=mm.HMM(2, 8, 20),
        threads=48,
        block_size=16,
        inputs=lambda rng: (rng.integers(0, 100, 44), np.zeros(44, int)),
        expected=lambda a, b: {
            "b": np.concatenate([a[k : k + 16][::-1] for k in range(0, 44, 16)])
        },
        gates=["barriers <= 1", "no findings"],
        hints=[
            "Which threads of the last block have no word?",
            "A barrier within an if is not for all threads.",
            "The accesses before the barrier need a guard, and so do those after it.",
        ],
    ),
    Puzzle(
        name="count-votes",
        title="One vote for each block",
        task="""c[0] counts how many words of a are above 50. Every thread that finds one adds 1 by
        an atomic, and atomics of one word don't merge: each takes a stage. Use one atomic for each
        block.""",
        starter="""
@mm.program
def votes(T, a, c):
    i = T.blockIdx.x * T.blockDim.x + T.threadIdx.x
    if a[i] > 50:
        mm.atomic.add(c, 0, 1)
""",
        machine=mm.HMM(2, 8, 20),
        threads=64,
        block_size=16,
        inputs=lambda rng: (rng.integers(0, 100, 64), np.zeros(1, int)),
        expected=lambda a, c: {"c": (a > 50).sum()},
        gates=["stages of c <= 4", "no findings"],
        hints=[
            "There are four blocks. Who adds for its block, and what?",
            "A barrier can count: look for the barriers that give something to each thread.",
            "All threads have to come to that barrier, whatever their words are.",
        ],
    ),
]
