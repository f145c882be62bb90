"""The summed area table by (1+r)R1W: docs/algorithms/summed-area.md.

2R1W does a corner of the tiles (I, J) with I + J < k and as many in the other corner; 1R1W does the
waves between. In a corner the columns of tiles have 1, ..., k tiles, and so have the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt

from models.cost import Rounds, groups, place, warps
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
    the waves leave: k borders above it, k borders on its left and a word for each of these, as they
    have the table's words, and the k sums with which the third launch begins. The page has only
    the number of these, and the formula that the last k are read by as few warps as possible.
    """
    w, m = rounds.w, s // rounds.w
    a, b, above, left, corner, ends = starts
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
        words = [ends + at * w for at in range(len(tile_rows))]
        rounds.add(groups, L, [[word] for word in words], "read")
        rounds.add(groups, L, warps(words, w), "read")
    corners_added_up(rounds, L, l, left, corner, tile_rows, m)
    tiles_of_table(rounds, d, L, l, s, [a, above, left, corner, b], tiles)


def corners_added_up(
    rounds: Rounds, L: int, l: int, left: int, corner: int, tile_rows: list[Line], m: int
) -> None:
    """The third launch, one block: the last word of each tile's border, and its sums by rows.

    A row of sums lies from a multiple of w on. The page does not say so, but its number of stages.
    """
    w = rounds.w
    lasts = [[left + (I * m + J) * w + w - 1 for I, J in row] for row in tile_rows]
    rounds.add(groups, L, [warp for row in lasts for warp in warps(row, w)], "read")
    pitch = -(-m // w) * w
    sums = [warps(range(at * pitch, at * pitch + len(row)), w) for at, row in enumerate(tile_rows)]
    added_up(rounds, l, [sums])
    written = [[corner + word for word in warp] for row in sums for warp in row]
    rounds.add(groups, L, written, "write")


def hybrid(n: int, w: int, d: int, k: int, L: int, l: int) -> Rounds:
    """(1+r)R1W: a corner by 2R1W, waves, and the other corner."""
    rounds, s = Rounds(w), isqrt(n)
    m = s // w
    a, b, above, left, corner, ends = place(w, n, n, s * (m + 1), s * (m + 1), m * (m + w), s)
    starts = [a, b, above, left, corner, ends]
    for near in (True, False):
        if not near:
            some_waves(rounds, d, L, l, s, [a, above, left, b], range(k, 2 * m - 1 - k))
        corner_tiles = [(I, J) for I in range(k) for J in range(k - I)]
        if not near:
            corner_tiles = [(m - 1 - I, m - 1 - J) for I, J in corner_tiles]
        corner_of_tiles(rounds, d, L, l, s, starts, sorted(corner_tiles), near)
    return rounds


def time(**case: int) -> int:
    """The time."""
    return hybrid(**case).time


def of_matrix(**case: int) -> int:
    """The requests that read the matrix."""
    return hybrid(**case).requests["matrix"]


def reads(**case: int) -> int:
    """The requests that read."""
    requests = hybrid(**case).requests
    return requests["matrix"] + requests["read"]


def writes(**case: int) -> int:
    """The requests that write."""
    return hybrid(**case).requests["write"]


MODELS = {
    "SAT-hybrid": time,
    "SAT-hybrid.matrix": of_matrix,
    "SAT-hybrid.reads": reads,
    "SAT-hybrid.writes": writes,
}
