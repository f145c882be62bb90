"""Puzzles of class 9: tiles and swizzles."""

import numpy as np

import mmsim as mm
from puzzles.puzzle import Puzzle

BLOCK = np.array(
    [[(2 * (warp // 2) + k // 4, 4 * (warp % 2) + k % 4) for k in range(8)] for warp in range(8)]
)
"""The elements of each warp's block of 2 × 4: rows and columns."""

PUZZLES = [
    Puzzle(
        name="rows-of-twelve",
        title="Rows of twelve words",
        task="""A tile has 8 rows of 12 words, and is written by rows and read by columns. With 8
        banks, 12 is not a multiple of the width, and a rotation of row i by i places is free of
        conflicts in some columns only. Find another arrangement in the same 96 words.""",
        starter="""
@mm.program
def transpose(T, a, b):
    tile = mm.shared((8, 12))
    i = T.warp
    for j in range(T.lane, 12, 8):
        tile[i, (j + i) % 12] = a[i, j]
    T.barrier()
    i = T.lane
    for j in range(T.warp, 12, 8):
        b[j, i] = tile[i, (j + i) % 12]
""",
        machine=mm.DMM(8, 4),
        threads=64,
        inputs=lambda rng: (rng.integers(0, 1000, (8, 12)), np.zeros((12, 8), int)),
        expected=lambda a, b: {"b": a.T},
        gates=["no wasted", "shared_words <= 96", "no findings"],
        hints=[
            "Without a rotation, in which banks do the rows begin?",
            "Rows 0 and 1 begin four banks apart, and so do rows 2 and 3. They can stay so.",
            "Rotate both rows of such a couple by the same number of places.",
        ],
    ),
    Puzzle(
        name="swizzle-pairs",
        title="A swizzle of pairs",
        task="""The threads read and write pairs of words: a pair is a vector, in one access. To
        read a column of pairs takes 8 stages, and for 16 words 2 are enough. Move the pairs within
        the rows of the tile, and keep the vectors whole.""",
        starter="""
@mm.program
def columns(T, a, b):
    tile = mm.shared((8, 8))
    i, p = T.id // 4, T.id % 4
    mm.vector(tile, 2)[i, p] = mm.vector(a, 2)[i, p]
    T.barrier()
    i, p = T.id % 8, T.id // 8
    mm.vector(b, 2)[p, i] = mm.vector(tile, 2)[i, p]
""",
        machine=mm.DMM(8, 4),
        threads=32,
        inputs=lambda rng: (rng.integers(0, 1000, (8, 8)), np.zeros((4, 16), int)),
        expected=lambda a, b: {"b": a.reshape(8, 4, 2).transpose(1, 0, 2).reshape(4, 16)},
        gates=["no wasted", "shared_words <= 64", "requests <= 16", "no findings"],
        hints=[
            "A row has four places for pairs. Into how many places should a column go?",
            "Pairs of rows 0 to 3 need four different places, and those of rows 4 to 7 again.",
            "An exclusive or with the row, or a rotation by the row, of the pair's number p.",
        ],
    ),
    Puzzle(
        name="rows-columns-blocks",
        title="Rows, columns and blocks",
        task="""Element (i, j) of a tile stands in column j ^ SWIZZLE[i]. Warps read rows, columns,
        and blocks of 2 × 4 elements. Find eight numbers with which none of them has a conflict.
        Change nothing but the table.""",
        starter="""
SWIZZLE = (0, 0, 0, 0, 0, 0, 0, 0)


@mm.program
def look(T, a, rows, columns, blocks):
    tile = mm.shared((8, 8))
    i, j = T.id // 8, T.id % 8
    tile[i, j ^ SWIZZLE[i]] = a[i, j]
    T.barrier()
    rows[i, j] = tile[i, j ^ SWIZZLE[i]]
    columns[i, j] = tile[j, i ^ SWIZZLE[j]]
    y, x = 2 * (i // 2) + j // 4, 4 * (i % 2) + j % 4
    blocks[i, j] = tile[y, x ^ SWIZZLE[y]]
""",
        machine=mm.DMM(8, 4),
        threads=64,
        schedule="synchronous",
        inputs=lambda rng: (
            rng.integers(0, 1000, (8, 8)),
            *(np.zeros((8, 8), int) for _ in range(3)),
        ),
        expected=lambda a, rows, columns, blocks: {
            "rows": a,
            "columns": a.T,
            "blocks": a[BLOCK[..., 0], BLOCK[..., 1]],
        },
        gates=["stages of tile <= 32"],
        hints=[
            "Columns are free if all eight numbers differ. What do the two rows of a block need?",
            "A block has the columns 0 to 3 or 4 to 7 of two rows. One row has to go to the other "
            "half.",
            "The numbers of rows 0 and 1 differ by 4, and so do those of each two rows of a block.",
        ],
    ),
]
