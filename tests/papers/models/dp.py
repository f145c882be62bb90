"""The least triangulation on an HMM: docs/algorithms/dynamic-programming.md."""

from __future__ import annotations

from collections.abc import Sequence

from models.cost import Rounds, groups, warps


def in_global_memory(n: int, w: int, d: int, L: int) -> int:
    """The time word by word, n threads: each word of diagonal s has s - 1 sums and a weight."""
    rounds = Rounds(w)
    for s in range(2, n):
        i = range(n - s)
        own = warps([row * n + row + s for row in i], w)
        for k in range(1, s):
            rounds.add(groups, L, warps([row * n + row + k for row in i], w))
            rounds.add(groups, L, warps([(row + k) * n + row + s for row in i], w))
        rounds.add(groups, L, own)  # the weight
        rounds.add(groups, L, own)  # the word
    return rounds.time


class Tiles:
    """Rounds in which the blocks treat one tile each, by r rows of w threads.

    The block's warp y has the rows y, y + r, y + 2r, ... of its tile, and thread x of it column x.
    Word (i, j) of a tile in shared memory lies at i·w + j.
    """

    def __init__(self, n: int, w: int, r: int, L: int, l: int) -> None:
        self.n, self.w, self.L, self.l, self.rounds = n, w, L, l, Rounds(w)
        self.steps = [range(first, first + r) for first in range(0, w, r)]  # a row for each warp
        self.blocks = 0

    def globally(self, tiles: Sequence[tuple[int, int]]) -> None:
        """Each block accesses a tile (I, J) of the table."""
        self.blocks = len(tiles)
        for rows in self.steps:
            first = [(I * self.w + i) * self.n + J * self.w for I, J in tiles for i in rows]
            self.rounds.add(groups, self.L, [range(word, word + self.w) for word in first])

    def shared(self, asked: list[list[int]]) -> None:
        """Each block sends these requests to its shared memory."""
        self.rounds.shared(self.l, [asked] * self.blocks)

    def whole(self) -> None:
        """Each block accesses a tile in shared memory."""
        for rows in self.steps:
            self.shared([[i * self.w + x for x in range(self.w)] for i in rows])

    def fetch(self, tiles: Sequence[tuple[int, int]]) -> None:
        """Each block copies a tile to its shared memory."""
        self.globally(tiles)
        self.whole()

    def product(self) -> None:
        """Each block multiplies two tiles: w sums for each word, which stays in a register."""
        w = self.w
        for k in range(w):
            for rows in self.steps:
                self.shared([[i * w + k] * w for i in rows])
            self.shared([[k * w + x for x in range(w)] for _ in self.steps[0]])

    def diagonal_after_diagonal(self) -> None:
        """Each block completes its tile (I, J), given the tiles (I, I) and (J, J).

        A diagonal is done and written. Then the threads take its word in their column, for the
        words above it, with one of (I, I), and its word in their row, for the words on its right,
        with one of (J, J).
        """
        w = self.w
        for j_minus_i in range(1 - w, w):
            done = {x - j_minus_i: x for x in range(w) if 0 <= x - j_minus_i < w}  # row: column
            for rows in self.steps:
                self.shared([[i * w + done[i]] if i in done else [] for i in rows])
            for rows in self.steps:
                above = [[(k, x) for k, x in done.items() if k > i] for i in rows]
                self.shared([[k * w + x for k, x in lanes] for lanes in above])
                self.shared(
                    [[i * w + k for k, _ in lanes] for i, lanes in zip(rows, above, strict=True)]
                )
            for rows in self.steps:
                right = {i: range(done[i] + 1, w) for i in rows if i in done}
                self.shared([[i * w + done[i] for _ in lanes] for i, lanes in right.items()])
                self.shared([[done[i] * w + x for x in lanes] for i, lanes in right.items()])

    def by_one_warp(self) -> None:
        """Each block completes its tile on the diagonal by one warp, as in the global memory."""
        w = self.w
        for s in range(2, w):
            i = range(w - s)
            own = [[row * w + row + s for row in i]]
            for k in range(1, s):
                self.shared([[row * w + row + k for row in i]])
                self.shared([[(row + k) * w + row + s for row in i]])
            self.shared(own)  # the weight
            self.shared(own)  # the word


def tiled(n: int, w: int, d: int, r: int, L: int, l: int) -> int:
    """The time by w × w tiles, a launch for each diagonal of tiles; block b has every d-th tile."""
    machine, m = Tiles(n, w, r, L, l), n // w
    for D in range(m):
        for first in range(0, m - D, d):
            tiles = [(I, I + D) for I in range(first, min(first + d, m - D))]
            if D == 0:
                machine.fetch(tiles)
                machine.by_one_warp()
                machine.whole()
                machine.globally(tiles)
                continue
            for K in range(1, D):
                machine.fetch([(I, I + K) for I, J in tiles])
                machine.fetch([(I + K, J) for I, J in tiles])
                machine.product()
            machine.fetch([(I, I) for I, J in tiles])
            machine.fetch([(J, J) for I, J in tiles])
            machine.globally(tiles)  # the weights
            machine.diagonal_after_diagonal()
            machine.globally(tiles)  # the result
    return machine.rounds.time


MODELS = {
    "DP-HMM.global": in_global_memory,
    "DP-HMM": tiled,
    "DP-HMM.O": tiled,
    "DP-LB": tiled,
    "DP-LB.sums": tiled,
}
