"""Fast Fourier transforms: docs/algorithms/fft.md."""

from __future__ import annotations

from collections.abc import Callable

from models.cost import RULES, Rounds, groups, log, one_of, warps


def in_place(on: str, n: int, p: int, w: int, l: int) -> int:
    """The time in place: pairs n/2, n/4, ..., 1 apart, each with a root, then a bit reversal."""
    rounds, h = Rounds(w), n // 2
    while h:
        for first in range(0, n // 2, p):
            pairs = range(first, first + p)
            upper = warps([pair // h * 2 * h + pair % h for pair in pairs], w)
            lower = warps([pair // h * 2 * h + pair % h + h for pair in pairs], w)
            root = warps([pair % h * (n // (2 * h)) for pair in pairs], w)
            for access in (upper, lower, root, upper, lower):
                rounds.add(RULES[on], l, access)
        h //= 2
    for first in range(0, n, p):
        words = range(first, first + p)
        rounds.add(RULES[on], l, warps(words, w))
        rounds.add(RULES[on], l, warps([bits_reversed(word, n) for word in words], w))
    return rounds.time


def bits_reversed(word: int, n: int) -> int:
    """The number with the bits of a number below n = 2^k in reverse order.

    >>> [bits_reversed(word, 8) for word in range(8)]
    [0, 4, 2, 6, 1, 5, 3, 7]
    """
    return sum((word >> bit & 1) << (log(n) - 1 - bit) for bit in range(log(n)))


def stockham(on: str, n: int, p: int, w: int, l: int) -> int:
    """The time by Stockham's way: pairs n/2 apart, each with a root, are written h apart."""
    rounds, h = Rounds(w), 1
    while h < n:
        for first in range(0, n // 2, p):
            pairs = range(first, first + p)
            for addresses in (
                pairs,
                [pair + n // 2 for pair in pairs],
                [pair // h * h for pair in pairs],  # the root
                [pair // h * 2 * h + pair % h for pair in pairs],
                [pair // h * 2 * h + pair % h + h for pair in pairs],
            ):
                rounds.add(RULES[on], l, warps(addresses, w))
        h *= 2
    return rounds.time


def in_global_memory(n: int, w: int, d: int, L: int, l: int) -> int:
    """The time of Stockham's way in the global memory of an HMM, n/2 threads."""
    return stockham("UMM", n, n // 2, w, L)


class Side:
    """A side of the transform on an HMM: a block has w columns (or rows) of an s × s matrix.

    Its thread i·w + j, for 0 <= i < s/2 and 0 <= j < w, has words i and i + s/2 of column j.
    """

    def __init__(self, n: int, w: int, d: int, L: int, l: int, rounds: Rounds) -> None:
        self.s = round(n**0.5)
        self.w, self.d, self.L, self.l, self.rounds = w, d, L, l, rounds
        self.blocks = range(self.s // w)
        self.threads = [(i, j) for i in range(self.s // 2) for j in range(w)]

    def globally(self, words: Callable[[int, int, int], int | None]) -> None:
        """Add a round in which thread (i, j) of a block accesses global word words(block, i, j)."""
        asked = [warps([words(b, *thread) for thread in self.threads], self.w) for b in self.blocks]
        self.rounds.add(groups, self.L, [warp for block in asked for warp in block])

    def shared(self, words: Callable[[int, int], int | None]) -> None:
        """Add a round in which thread (i, j) of each block accesses shared word words(i, j)."""
        asked = warps([words(*thread) for thread in self.threads], self.w)
        self.rounds.shared(self.l, [asked * (len(self.blocks) // self.d)] * self.d)

    def fetch_roots(self) -> None:
        """Add the fetch of the s/2 roots of a side by the first s/2 threads of each block."""

        def word(i: int, j: int) -> int | None:
            return i * self.w + j if i * self.w + j < self.s // 2 else None

        self.globally(lambda block, i, j: word(i, j))
        self.shared(word)

    def transform(self, at: Callable[[int, int], int]) -> None:
        """Add Stockham's way for the w columns, where word k of column j lies at at(k, j)."""
        h = 1
        while h < self.s:
            for k in (0, self.s // 2):
                self.shared(lambda i, j, k=k: at(i + k, j))
            self.shared(lambda i, j, h=h: i // h * h)  # the root
            for k in (0, h):
                self.shared(lambda i, j, k=k, h=h: at(i // h * 2 * h + i % h + k, j))
            h *= 2


def columns_and_rows(n: int, w: int, d: int, L: int, l: int) -> int:
    """The time by columns, then by rows, of an s × s matrix; n/2 threads.

    Word (k, j) of a block's columns lies at k·w + j in its shared memory. A block's rows are
    columns there: word k of row j lies at k·w + (j + k) mod w.
    """
    rounds = Rounds(w)
    side = Side(n, w, d, L, l, rounds)
    s, halves = side.s, (0, side.s // 2)

    def column(k: int, j: int) -> int:
        return k * w + j

    def row(k: int, j: int) -> int:
        return k * w + (j + k) % w

    side.fetch_roots()
    for k in halves:  # fetch the columns
        side.globally(lambda block, i, j, k=k: (i + k) * s + block * w + j)
        side.shared(lambda i, j, k=k: column(i + k, j))
    side.transform(column)
    for k in halves:  # multiply with a root for each word, and store the columns
        side.shared(lambda i, j, k=k: column(i + k, j))
        for _ in ("root", "word"):
            side.globally(lambda block, i, j, k=k: (i + k) * s + block * w + j)

    side.fetch_roots()
    for first in (0, w * s // 2):  # fetch the rows, word after word of each

        def of_row(i: int, j: int, first: int = first) -> tuple[int, int]:
            return divmod(first + i * w + j, s)

        side.globally(lambda block, i, j, of=of_row: (block * w + of(i, j)[0]) * s + of(i, j)[1])
        side.shared(lambda i, j, of=of_row: row(of(i, j)[1], of(i, j)[0]))
    side.transform(row)
    for k in halves:  # store them as columns
        side.shared(lambda i, j, k=k: row(i + k, j))
        side.globally(lambda block, i, j, k=k: (i + k) * s + block * w + j)
    return rounds.time


MODELS = {
    "FFT-in-place": in_place,
    "FFT-stockham": stockham,
    "FFT-LB": one_of("way", {"in place": in_place, "stockham": stockham}),
    "FFT-HMM.global": in_global_memory,
    "FFT-HMM": columns_and_rows,
}
