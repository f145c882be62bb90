"""The summed area table on an HMM: docs/algorithms/summed-area.md.

The matrix has s x s words, s = sqrt n. It is cut in m x m tiles of w x w words. Each tile has a
block of threads, and block b is on DMM b mod d.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import isqrt

from models.cost import Rounds, groups, place, requests, warps

Tile = tuple[int, int]


def diagonal(start: int, i: int, j: int, w: int) -> int:
    """The address of word (i, j) of a tile in the diagonal arrangement."""
    return start + i * w + (i + j) % w


def shared_lines(rounds: Rounds, tiles: int, d: int, l: int, lines: Iterable[list[Tile]]) -> None:
    """Add a round of the shared memories: a warp of each tile for each of these lines of words."""
    w, words = rounds.w, list(lines)
    dmms: list[list[list[int]]] = [[] for _ in range(d)]
    for block in range(tiles):
        start = block // d * w * w
        dmms[block % d] += [[diagonal(start, i, j, w) for i, j in line] for line in words]
    rounds.shared(l, dmms)


def rows(w: int) -> list[list[Tile]]:
    """The words of a tile, row by row."""
    return [[(i, j) for j in range(w)] for i in range(w)]


def through(rounds: Rounds, tiles: int, d: int, l: int, across: bool, writes: bool) -> None:
    """The first warp of each tile goes down its columns, or along its rows: w steps."""
    for step in range(rounds.w):
        line = [(lane, step) if across else (step, lane) for lane in range(rounds.w)]
        for _ in range(1 + writes):
            shared_lines(rounds, tiles, d, l, [line])


def global_tiles(rounds: Rounds, L: int, a: int, s: int, tiles: list[Tile], label: str) -> None:
    """Add a global round in which each tile's warps access its rows."""
    w = rounds.w
    starts = [a + (I * w + i) * s + J * w for I, J in tiles for i in range(w)]
    rounds.add(groups, L, [range(start, start + w) for start in starts], label)


def borders(rounds: Rounds, L: int, start: int, tiles: list[Tile], m: int, label: str) -> None:
    """Add a global round in which a warp of each tile accesses the w words of its border."""
    w = rounds.w
    firsts = [start + (I * m + J) * w for I, J in tiles]
    rounds.add(groups, L, [range(first, first + w) for first in firsts], label)


def columns(rounds: Rounds, L: int, s: int, a: int, b: int) -> None:
    """A thread for each column adds down its column of a, and writes to b."""
    for row in range(s):
        for start, label in ((a, "read"), (b, "write")):
            line = range(start + row * s, start + row * s + s)
            rounds.add(groups, L, warps(line, rounds.w), label)


def naive(n: int, w: int, d: int, L: int, l: int) -> Rounds:
    """2R2W: down the columns, then along the rows with a thread for each."""
    rounds, s = Rounds(w), isqrt(n)
    a, b = place(w, n, n)
    columns(rounds, L, s, a, b)
    for column in range(s):
        for label in ("read", "write"):
            line = [b + row * s + column for row in range(s)]
            rounds.add(groups, L, warps(line, w), label)
    return rounds


def transposing(n: int, w: int, d: int, L: int, l: int) -> Rounds:
    """4R4W: columns, transpose, columns, transpose."""
    rounds, s = Rounds(w), isqrt(n)
    m = s // w
    a, b = place(w, n, n)
    tiles = [(I, J) for I in range(m) for J in range(m)]
    for _ in range(2):
        columns(rounds, L, s, a, b)
        global_tiles(rounds, L, b, s, tiles, "matrix")
        shared_lines(rounds, m * m, d, l, rows(w))
        shared_lines(rounds, m * m, d, l, [[(j, i) for i, j in row] for row in rows(w)])
        global_tiles(rounds, L, a, s, [(J, I) for I, J in tiles], "write")
    return rounds


def parts_of_tiles(
    rounds: Rounds, d: int, L: int, l: int, s: int, a: int, above: int, left: int, tiles: list[Tile]
) -> None:
    """The first launch of 2R1W: each tile writes its parts of the borders."""
    w, m = rounds.w, s // rounds.w
    global_tiles(rounds, L, a, s, tiles, "matrix")
    shared_lines(rounds, len(tiles), d, l, rows(w))
    through(rounds, len(tiles), d, l, across=False, writes=True)
    borders(rounds, L, above, tiles, m, "write")
    through(rounds, len(tiles), d, l, across=True, writes=False)
    borders(rounds, L, left, tiles, m, "write")


def tiles_of_table(
    rounds: Rounds, d: int, L: int, l: int, s: int, starts: list[int], tiles: list[Tile]
) -> None:
    """The last launch of 2R1W: each tile reads its words and borders, and writes the table.

    `starts` has the addresses of the matrix, the borders above and on the left, the sums of the
    corners, and the table.
    """
    w, m = rounds.w, s // rounds.w
    a, above, left, corner, b = starts
    global_tiles(rounds, L, a, s, tiles, "matrix")
    shared_lines(rounds, len(tiles), d, l, rows(w))
    borders(rounds, L, above, tiles, m, "read")
    through(rounds, len(tiles), d, l, across=False, writes=True)
    borders(rounds, L, left, tiles, m, "read")
    rounds.add(groups, L, [[corner + I * m + J] * w for I, J in tiles], "read")
    through(rounds, len(tiles), d, l, across=True, writes=True)
    shared_lines(rounds, len(tiles), d, l, rows(w))
    global_tiles(rounds, L, b, s, tiles, "write")


def tiled_twice(n: int, w: int, d: int, L: int, l: int) -> Rounds:
    """2R1W: a tile reads its words, its column border, its left border, and the sum of its corner.

    The first launch writes the sums of the tile's columns and, for each row, the sum of the tile up
    to that row. Then s threads add the first of these down all tiles of a column, and s threads the
    second along all tiles of a row. The last word of a border so added is the sum of all tiles on
    the left: m threads add these down the columns of tiles.
    """
    rounds, s = Rounds(w), isqrt(n)
    m = s // w
    a, b, above, left, corner = place(w, n, n, s * m, s * m, m * m)
    tiles = [(I, J) for I in range(m) for J in range(m)]
    parts_of_tiles(rounds, d, L, l, s, a, above, left, tiles)
    for step in range(m):
        for label in ("read", "write"):
            borders(rounds, L, above, [(step, J) for J in range(m)], m, label)
    for step in range(m):
        for label in ("read", "write"):
            borders(rounds, L, left, [(I, step) for I in range(m)], m, label)
    for step in range(m):
        sums = [left + (step * m + J) * w + w - 1 for J in range(m)]
        rounds.add(groups, L, warps(sums, w), "read")
        added = range(corner + step * m, corner + step * m + m)
        rounds.add(groups, L, warps(added, w), "write")
    tiles_of_table(rounds, d, L, l, s, [a, above, left, corner, b], tiles)
    return rounds


def waves(n: int, w: int, d: int, L: int, l: int) -> Rounds:
    """1R1W: the tiles with I + J = k in launch k."""
    rounds, s = Rounds(w), isqrt(n)
    m = s // w
    a, b, above, left = place(w, n, n, s * (m + 1), s * (m + 1))
    some_waves(rounds, d, L, l, s, [a, above, left, b], range(2 * m - 1))
    return rounds


def some_waves(
    rounds: Rounds, d: int, L: int, l: int, s: int, starts: list[int], launches: range
) -> None:
    """Some launches of 1R1W. A tile leaves both borders to its neighbours."""
    w, m = rounds.w, s // rounds.w
    a, above, left, b = starts
    for k in launches:
        tiles = [(I, k - I) for I in range(m) if 0 <= k - I < m]
        global_tiles(rounds, L, a, s, tiles, "matrix")
        shared_lines(rounds, len(tiles), d, l, rows(w))
        borders(rounds, L, above, tiles, m, "read")
        through(rounds, len(tiles), d, l, across=False, writes=True)
        borders(rounds, L, above, [(I + 1, J) for I, J in tiles], m, "write")
        borders(rounds, L, left, tiles, m + 1, "read")
        through(rounds, len(tiles), d, l, across=True, writes=True)
        borders(rounds, L, left, [(I, J + 1) for I, J in tiles], m + 1, "write")
        shared_lines(rounds, len(tiles), d, l, rows(w))
        global_tiles(rounds, L, b, s, tiles, "write")


WAYS = {"2R2W": naive, "4R4W": transposing, "2R1W": tiled_twice, "1R1W": waves}


MODELS = {
    **{f"SAT-{way}": rounds for way, rounds in WAYS.items()},
    **{f"SAT-{way}.reads": requests(rounds, "matrix", "read") for way, rounds in WAYS.items()},
    **{f"SAT-{way}.writes": requests(rounds, "write") for way, rounds in WAYS.items()},
    "SAT-1R1W.O": waves,
}
