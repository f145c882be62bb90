"""The summed area table by (1+r)R1W: docs/algorithms/summed-area.md.

2R1W does a corner of the tiles (I, J) with I + J < k and as many in the other corner; 1R1W does the
waves between. In a corner the columns of tiles have 1, ..., k tiles, and so have the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt

from models.cost import Rounds, groups, place, requests, warps
from models.sat import Tile, borders, parts_of_tiles, some_waves, tiles_of_table

Line = list[Tile]


def lines(tiles: list[Tile], column: bool) -> list[Line]:
    """The tiles of each column, or of each row, in order.

    >>> lines([(0, 0), (0, 1), (1, 0)], column=True)
    [[(0, 0), (1, 0)], [(0, 1)]]
    """
    numbers = sorted({tile[column] for tile in tiles})
    return [[tile for tile in tiles if tile[column] == number] for number in numbers]


def added_up(rounds: Rounds, l: int, dmms: Sequence[Sequence[Sequence[Sequence[int]]]]) -> None:
    """Add the rounds of the shared memories in which words are stored, added and read again.

    Each DMM has a list of requests for each step of the addition; a step reads and writes them.
    """
    whole = [[request for step in own for request in step] for own in dmms]
    rounds.shared(l, whole)
    for step in range(len(dmms[0])):
        now = [own[step] for own in dmms]
        rounds.shared(l, now)
        rounds.shared(l, now)
    rounds.shared(l, whole)


def borders_added_up(rounds: Rounds, d: int, l: int, all_lines: list[Line]) -> None:
    """The second launch's additions: a block for each line, a warp for each border of w words."""
    w, steps = rounds.w, range(len(all_lines))
    borders_of_step = [range(step * w, step * w + w) for step in steps]
    dmms = [
        [
            [borders_of_step[step]] * sum(step < len(line) for line in all_lines[dmm::d])
            for step in steps
        ]
        for dmm in range(d)
    ]
    added_up(rounds, l, dmms)


def corner_of_tiles(
    rounds: Rounds, d: int, L: int, l: int, s: int, starts: list[int], tiles: list[Tile], near: bool
) -> None:
    """The four launches of a corner.

    The near corner leaves the borders of k columns and k rows to the waves. The far one reads what
    the waves leave: k borders above it, k borders on its left and a word of the table for each of
    these, and the k words of the table with which the third launch begins.
    """
    w, m = rounds.w, s // rounds.w
    a, b, above, left, corner = starts
    columns, tile_rows = lines(tiles, column=True), lines(tiles, column=False)
    parts_of_tiles(rounds, d, L, l, s, a, above, left, tiles)
    for start, all_lines in ((above, columns), (left, tile_rows)):
        outer = [line[0] for line in all_lines]
        if not near:
            borders(rounds, L, start, outer, m, "read")
        borders(rounds, L, start, tiles, m, "read")
        borders_added_up(rounds, d, l, all_lines)
        borders(rounds, L, start, tiles, m, "write")
        if near:
            borders(rounds, L, start, outer, m, "write")
    if not near:
        firsts = [(row[0][0] * w - 1, row[0][1] * w - 1) for row in tile_rows]
        rounds.add(groups, L, [[b + x * s + y] * w for x, y in firsts], "read")
        firsts = [(column[0][0] * w - 1, column[0][1] * w - 1) for column in columns]
        rounds.add(groups, L, warps([b + x * s + y for x, y in firsts], w), "read")
    corners_added_up(rounds, L, l, left, corner, columns, m)
    tiles_of_table(rounds, d, L, l, s, [a, above, left, corner, b], tiles)


def corners_added_up(
    rounds: Rounds, L: int, l: int, left: int, corner: int, columns: list[Line], m: int
) -> None:
    """The third launch, one block: the last word of each tile's border, and its sums by rows.

    Row e has the e-th tile of each column. A row of sums lies from a multiple of w on.
    """
    w, k = rounds.w, len(columns)
    tile_rows = [[column[e] for column in columns if e < len(column)] for e in range(k)]
    lasts = [[left + (I * m + J) * w + w - 1 for I, J in row] for row in tile_rows]
    rounds.add(groups, L, [warp for row in lasts for warp in warps(row, w)], "read")
    pitch = -(-k // w) * w
    sums = [warps(range(at * pitch, at * pitch + len(row)), w) for at, row in enumerate(tile_rows)]
    added_up(rounds, l, [sums])
    written = [[corner + word for word in warp] for row in sums for warp in row]
    rounds.add(groups, L, written, "write")


def hybrid(n: int, w: int, d: int, k: int, L: int, l: int) -> Rounds:
    """(1+r)R1W: a corner by 2R1W, waves, and the other corner."""
    rounds, s = Rounds(w), isqrt(n)
    m = s // w
    starts = place(w, n, n, s * (m + 1), s * (m + 1), k * (k + w))
    a, b, above, left, _ = starts
    for near in (True, False):
        if not near:
            some_waves(rounds, d, L, l, s, [a, above, left, b], range(k, 2 * m - 1 - k))
        corner_tiles = [(I, J) for I in range(k) for J in range(k - I)]
        if not near:
            corner_tiles = [(m - 1 - I, m - 1 - J) for I, J in corner_tiles]
        corner_of_tiles(rounds, d, L, l, s, starts, sorted(corner_tiles), near)
    return rounds


MODELS = {
    "SAT-hybrid": hybrid,
    "SAT-hybrid.matrix": requests(hybrid, "matrix"),
    "SAT-hybrid.reads": requests(hybrid, "matrix", "read"),
    "SAT-hybrid.writes": requests(hybrid, "write"),
}
