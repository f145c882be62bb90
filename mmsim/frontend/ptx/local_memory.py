"""Local memory: an array of each thread whose index only the run knows lies in global memory.

As on a card, words of 4 bytes with one number lie one behind the other for the threads of 32, so a
warp whose lanes take the same word accesses adjacent ones. An access of several words, as of a
double, is one of each.
"""

from __future__ import annotations

from collections.abc import Iterator

from mmsim.errors import Place
from mmsim.frontend.ptx.warp import WIDTH
from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import Type

WORD = 4
THREAD = ir.ThreadField("index")


def extents(size: int, held: Type, place: Place) -> tuple[ir.Expr, ...]:
    """The extents of the array that has `size` bytes for each thread of a block."""
    whole = ir.Binary("+", ir.ThreadField("block_size"), ir.Const(31), place)
    groups = ir.Binary("//", whole, WIDTH, place)
    return groups, ir.Const(-(-size // WORD)), ir.Const(32 * WORD // held.itemsize)


def located(
    index: ir.Expr, size: int, held: Type, place: Place
) -> Iterator[tuple[tuple[ir.Expr, ...], int]]:
    """For each word of an access of `size` bytes, the index, and its number of elements.

    `index` counts in units of the access. Each index has that of a vector of these elements.
    """
    word = WORD
    group = ir.Binary("//", THREAD, WIDTH, place)
    lane: ir.Expr = ir.Binary("&", THREAD, ir.Const(31), place)
    if size < word:
        parts = word // size
        last = ir.Binary("&", index, ir.Const(parts - 1), place)
        lane = ir.Binary("+", ir.Binary("*", lane, ir.Const(parts), place), last, place)
        index = ir.Binary(">>", index, ir.Const(parts.bit_length() - 1), place)
        word = size
    count = size // word
    for number in range(count):
        own = index
        if count > 1:
            first = ir.Binary("*", index, ir.Const(count), place)
            own = ir.Binary("+", first, ir.Const(number), place)
        yield (group, own, lane), word // held.itemsize
