"""CUDA's indices of threads and blocks, by their numbers.

Threads of a block, and blocks of a grid, are numbered x first, then y, then z: thread (x, y, z) of
a block of (X, Y, Z) has the index x + X (y + Y z). So x = index mod X, y = (index div X) mod Y and
z = index div XY. An engine gets the program with these instead of T.threadIdx and
T.blockIdx, so it need not know them. The writer of CUDA C keeps them.
"""

from __future__ import annotations

from functools import cache

from mmsim.errors import Place
from mmsim.ir import nodes as ir
from mmsim.ir.nodes import AXES
from mmsim.ir.walk import with_expressions, with_inside

Sides = tuple[bool, bool, bool]
"""True for each of x, y and z along which there is more than one place."""
NOWHERE = Place("T", "", 0)
"""The place of operations outside of any text. They always have a value."""
OF = {"threadIdx": ("index", "blockDim"), "blockIdx": ("block", "gridDim")}
"""The number and the extents from which an index is computed."""


def numbered(body: ir.Block, block: Sides, grid: Sides) -> ir.Block:
    """A program with numbers instead of indices, for launches with these sides."""
    sides = {"threadIdx": block, "blockIdx": grid}

    def of_block(old: ir.Block) -> ir.Block:
        return tuple(with_inside(with_expressions(one, of), of_block) for one in old)

    def of(value: ir.Expr) -> ir.Expr:
        if isinstance(value, ir.ThreadField) and value.field in ir.INDICES:
            name, axis = value.field.split(".")
            return index_of(name, AXES.index(axis), sides[name])
        return with_expressions(value, of)

    return of_block(body)


@cache
def index_of(name: str, axis: int, sides: Sides) -> ir.Expr:
    """The index called `name` along an axis, from the number of the thread or of the block.

    >>> index_of("threadIdx", 0, (True, False, False)), index_of("blockIdx", 1, (True, False, True))
    (ThreadField(field='index'), Const(value=0))
    >>> index_of("threadIdx", 1, (True, True, False))  # doctest: +NORMALIZE_WHITESPACE
    Binary(op='//', left=ThreadField(field='index'), right=ThreadField(field='blockDim.x'),
        place=Place(function='T', file='', line=0, column=0, end_column=0, text=''))
    """
    number, extents = OF[name]
    if not sides[axis]:
        return ir.Const(0)
    value: ir.Expr = ir.ThreadField(number)
    for before in range(axis):
        if sides[before]:
            value = ir.Binary("//", value, ir.ThreadField(f"{extents}.{AXES[before]}"), NOWHERE)
    if any(sides[axis + 1 :]):
        value = ir.Binary("%", value, ir.ThreadField(f"{extents}.{AXES[axis]}"), NOWHERE)
    return value
