"""Fifty layouts of tiles with accesses, as in kernels, each one request of a warp.

Both are written as CuTe prints them: the layout of the tile's elements in memory, and a
thread-value layout of the elements that each thread accesses in one instruction. It numbers the
elements by columns: in a tile of 32 rows element (i, j) is i + 32 j.
"""

from __future__ import annotations

from dataclasses import dataclass

from mmsim.api.tile_conflicts import conflicts
from mmsim.model.questions import MATRICES, Conflicts, Kind
from mmsim.model.tiles import Strided, cute
from mmsim_algorithms.gpu.bank_accesses import ACCESSES, Access


@dataclass(frozen=True)
class Case:
    """One layout and one access to it; `size` is the bytes of an element."""

    name: str
    layout: str
    access: str
    size: int = 4
    kind: Kind = "read"

    @property
    def threads_and_values(self) -> Strided:
        """The access as a layout."""
        read = cute(self.access)
        assert isinstance(read, Strided)
        return read

    @property
    def vector(self) -> int:
        """The number of elements that a thread accesses in one instruction."""
        return self.threads_and_values.extents[1]

    @property
    def answer(self) -> Conflicts:
        """mmsim's answer."""
        return conflicts(
            self.layout, self.access, bytes=self.size, vector=self.vector, kind=self.kind
        )

    @property
    def instruction(self) -> Access:
        """The GPU's instruction for this access."""
        size, threads = self.size * self.vector, self.threads_and_values.extents[0]
        if self.kind in MATRICES:
            name = f"{self.kind} .x{threads // 8}"
        else:
            verb = {"read": "load", "write": "store"}[self.kind]
            name = f"{verb} of {size} byte{'' if size == 1 else 's'}"
        return next(access for access in ACCESSES if access.name == name)


ROW, COLUMN = "(32,1):(32,0)", "(32,1):(1,0)"
"""Of a tile of 32 rows, by 32 threads."""
HALF_ROW, ROWS = "(32,1):(64,0)", "(32,8):(1,64)"
"""Of a tile of 64 rows; each thread a row of 8 halves, as `ldmatrix` takes them."""
FOURS = "(32,4):(1,32)"
"""Of a tile of 32 rows: each thread four neighbours, one row below the other."""
TRANSPOSED = "((8,2,2),8):((128,8,1024),1)"
"""The access of `ldmatrix.trans` to a tile of 128 rows, stored by columns: 8 elements of a column
for each thread, from 8 columns, 2 neighbours, and the next 8 columns."""

FRAGMENT = "((4,8),2):((128,1),64)"
"""The elements of a thread of `mma` in 8 rows: two halves, next to those of three others."""
MODE_128, MODE_64 = "Swizzle<3,3,3> o (64,64):(64,1)", "Swizzle<2,3,3> o (64,64):(64,1)"
SHORT_64 = "Swizzle<2,3,3> o (64,32):(32,1)"
"""The hardware's modes of 128 and of 64 bytes, for halves."""

CASES = (
    Case("row of floats", "(32,32):(32,1)", ROW),
    Case("column of floats", "(32,32):(32,1)", COLUMN),
    Case("column, rows padded by 1", "(32,32):(33,1)", COLUMN),
    Case("column, rows padded by 2", "(32,32):(34,1)", COLUMN),
    Case("column, rows padded by 4", "(32,32):(36,1)", COLUMN),
    Case("column, all bank bits swizzled", "Swizzle<5,0,5> o (32,32):(32,1)", COLUMN),
    Case("row of a tile by columns", "(32,32):(1,32)", ROW),
    Case("every second float of a row", "(32,64):(64,1)", "(32,1):(64,0)"),
    Case("column, three bits swizzled", "Swizzle<3,0,5> o (32,32):(32,1)", COLUMN),
    Case("one float for all", "(32,32):(32,1)", "(32,1):(0,0)"),
    Case("block of 4 rows, 8 columns", "(32,32):(32,1)", "((8,4),1):((32,1),0)"),
    Case("block of 4 rows, padded by 8", "(32,32):(40,1)", "((8,4),1):((32,1),0)"),
    Case("store of a row", "(32,32):(32,1)", ROW, 4, "write"),
    Case("store of a column", "(32,32):(32,1)", COLUMN, 4, "write"),
    Case("store to one float by all", "(32,32):(32,1)", "(32,1):(0,0)", 4, "write"),
    Case("column by half a warp", "(32,32):(32,1)", "(16,1):(1,0)"),
    Case("column by 8 threads, padded by 4", "(32,32):(36,1)", "(8,1):(1,0)"),
    Case("row of halves", "(64,64):(64,1)", HALF_ROW, 2),
    Case("column of halves", "(64,64):(64,1)", COLUMN, 2),
    Case("column of halves, padded by 1", "(64,64):(65,1)", COLUMN, 2),
    Case("column of halves, padded by 2", "(64,64):(66,1)", COLUMN, 2),
    Case("row of half2", "(64,64):(64,1)", "(32,2):(128,64)", 2),
    Case("fragment of mma, half2", "(64,64):(64,1)", FRAGMENT, 2),
    Case("fragment of mma, mode of 128 bytes", MODE_128, FRAGMENT, 2),
    Case("row of bytes", "(32,128):(128,1)", ROW, 1),
    Case("column of bytes", "(32,128):(128,1)", COLUMN, 1),
    Case("row of doubles", "(32,32):(32,1)", ROW, 8),
    Case("column of doubles", "(32,32):(32,1)", COLUMN, 8),
    Case("column of doubles, padded by 1", "(32,32):(33,1)", COLUMN, 8),
    Case("one double for two threads", "(32,32):(32,1)", "((2,16),1):((0,32),0)", 8),
    Case(
        "store of one double by two threads", "(32,32):(32,1)", "((2,16),1):((0,32),0)", 8, "write"
    ),
    Case("16 doubles for each half-warp", "(32,32):(32,1)", "((16,2),1):((32,0),0)", 8),
    Case("row of float2", "(32,64):(64,1)", "(32,2):(64,32)"),
    Case("float2, shared with the next but one", "(32,64):(64,1)", "((2,2,8),2):((64,0,128),32)"),
    Case("row of float4", "(8,128):(128,1)", "(32,4):(32,8)"),
    Case("8 float4 for each quarter-warp", "(32,32):(32,1)", "((8,4),4):((128,0),32)"),
    Case("column of float4", "(32,32):(32,1)", FOURS),
    Case("column of float4, padded by 4", "(32,32):(36,1)", FOURS),
    Case("column of float4, swizzled", "Swizzle<3,2,3> o (32,32):(32,1)", FOURS),
    Case("one float4 for two threads", "(32,32):(36,1)", "((2,16),4):((0,1),32)"),
    Case("column of 8 halves, mode of 128 bytes", MODE_128, ROWS, 2),
    Case("ldmatrix .x4, rows", "(64,64):(64,1)", ROWS, 2, "ldmatrix"),
    Case("ldmatrix .x4, padded by 8", "(64,64):(72,1)", ROWS, 2, "ldmatrix"),
    Case("ldmatrix .x4, mode of 128 bytes", MODE_128, ROWS, 2, "ldmatrix"),
    Case("ldmatrix .x4, mode of 64 bytes", MODE_64, ROWS, 2, "ldmatrix"),
    Case("ldmatrix .x2, short rows", "(64,32):(32,1)", "(16,8):(1,64)", 2, "ldmatrix"),
    Case("ldmatrix .x1, mode of 64 bytes", SHORT_64, "(8,8):(1,64)", 2, "ldmatrix"),
    Case("ldmatrix.trans .x4, by columns", "(128,32):(1,128)", TRANSPOSED, 2, "ldmatrix"),
    Case(
        "ldmatrix.trans .x4, swizzled",
        "Swizzle<3,3,4> o (128,32):(1,128)",
        TRANSPOSED,
        2,
        "ldmatrix",
    ),
    Case("stmatrix .x4, mode of 128 bytes", MODE_128, ROWS, 2, "stmatrix"),
)
