"""RAP's tables of congestions, simulated (RAP sections V and VII).

Each sample draws a layout and an access of one warp and counts the congestion; what is reported is
the mean over the samples with its standard error. No array is built: the bank of a word is all that
counts. Seeds are fixed, so that a table is the same every time, and rows are plain data.

    for cell in table_2():
        print(cell.access, cell.layout, cell.w, cell.mean, cell.standard_error, cell.printed)
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import log, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from algorithms.max_load import expected_max_load, expected_random
from algorithms.rap import cells
from algorithms.rap_higher import LAYOUTS as HIGHER_LAYOUTS
from mmsim.conflicts import stage_counts

Integers = npt.NDArray[np.int64]

ACCESSES = ("contiguous", "stride", "diagonal", "random")
LAYOUTS = ("RAW", "RAS", "RAP")
WIDTHS = (16, 32, 64, 128, 256)
TRANSPOSES = {
    ("CRSW", "read"): "contiguous",
    ("CRSW", "write"): "stride",
    ("SRCW", "read"): "stride",
    ("SRCW", "write"): "contiguous",
    ("DRDW", "read"): "diagonal transposed",
    ("DRDW", "write"): "diagonal",
}
HIGHER_ACCESSES = ("contiguous", "stride1", "stride2", "stride3", "random")


@dataclass(frozen=True)
class Cell:
    """One cell of a table: the congestion of an access under a layout.

    Attributes
    ----------
    mean, standard_error
        Of the simulation; the error is 0 where all samples agree.
    printed
        The paper's figure as it stands in its table: a number, or a function of w.
    expected
        What the mean is an estimate of, where it can be counted (`algorithms.max_load`).
    note
        Of a malicious access, which one it is.
    """

    access: str
    layout: str
    w: int
    mean: float
    standard_error: float
    printed: str = ""
    expected: float | None = None
    note: str = ""

    @property
    def difference(self) -> float | None:
        """Ours less the paper's, where the paper prints a number."""
        try:
            return self.mean - float(self.printed)
        except ValueError:
            return None

    @property
    def same_digits(self) -> bool | None:
        """Whether the mean, rounded as the paper rounds, is the paper's number."""
        try:
            return round(self.mean, 2) == float(self.printed)
        except ValueError:
            return None

    @property
    def agrees(self) -> bool | None:
        """Whether the paper's number differs by no more than its rounding and three errors."""
        gap = self.difference
        return None if gap is None else abs(gap) <= 0.005 + 3 * self.standard_error


@dataclass(frozen=True)
class Point:
    """One point of a curve: a congestion that the paper calls Õ(log w / log log w).

    `log_ratio` is ln w / ln ln w, or what stands inside the Õ for w/6 times 6 (Table IV, R1P).
    """

    access: str
    layout: str
    w: int
    mean: float
    standard_error: float
    log_ratio: float


def printed_table(number: int) -> list[dict[str, str]]:
    """A table of the paper, 2, 3 or 4, as printed: its rows by column name."""
    text = (files("algorithms") / "tables" / f"rap_table{number}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))


# Matrices (Tables II and III).


def table_2(samples: int = 200_000, widths: Iterable[int] = WIDTHS, seed: int = 0) -> list[Cell]:
    """RAP Table II: contiguous, stride, diagonal and random access under RAW, RAS and RAP."""
    printed = {
        (row["access"], row["layout"], int(column[1:])): row[column]
        for row in printed_table(2)
        for column in row
        if column[0] == "w"
    }
    return [
        _matrix_cell(access, layout, w, samples, seed, printed.get((access, layout, w), ""))
        for access in ACCESSES
        for layout in LAYOUTS
        for w in widths
    ]


def table_3(samples: int = 200_000, w: int = 32, seed: int = 0) -> list[Cell]:
    """RAP Table III's congestions: "CRSW read" and so on under RAW, RAS and RAP.

    All warps of a transpose have the same law, so one access of each sample is enough.
    """
    printed = {(row["transpose"], row["layout"]): row for row in printed_table(3)}
    table = []
    for layout in LAYOUTS:
        for (transpose, kind), pattern in TRANSPOSES.items():
            paper = printed[transpose, layout][f"{kind}_congestion"] if w == 32 else ""
            cell = _matrix_cell(pattern, layout, w, samples, seed, paper, f"{transpose} {kind}")
            table.append(cell)
    return table


def _matrix_cell(
    pattern: str, layout: str, w: int, samples: int, seed: int, printed: str, name: str = ""
) -> Cell:
    expected = _expected_of_matrix(pattern, layout, w)
    if expected in (1.0, float(w)):
        samples = min(samples, 1000)  # they will all be alike
    mean, error = _mean(
        congestions(pattern, layout, w, count, random)
        for count, random in _chunks(samples, w, f"{name or pattern} {layout}", seed)
    )
    return Cell(name or pattern, layout, w, mean, error, printed, expected)


def _expected_of_matrix(pattern: str, layout: str, w: int) -> float | None:
    if pattern == "random":
        return expected_random(w)
    if pattern == "contiguous" or (pattern, layout) == ("stride", "RAP"):
        return 1.0
    if layout == "RAW":
        return float(w) if pattern == "stride" else 1.0
    return expected_max_load(w, w) if layout == "RAS" else None


def congestions(
    pattern: str, layout: str, w: int, samples: int, random: np.random.RandomState
) -> Integers:
    """The congestion of an access to a w x w matrix (`algorithms.rap.cells`), sample by sample.

    Each sample has a layout of its own; the warps of an access take turns.
    """
    if pattern == "random":
        row, column = cells(pattern, w, samples, random)
    else:
        row, column = cells(pattern, w, min(w, samples), random)
    if layout == "RAW":
        shift = np.zeros((1, w), dtype=np.int64)
    elif layout == "RAS":
        shift = random.randint(w, size=(samples, w))
    else:
        shift = permutations(samples, w, random)
    counted: Integers = _compiled()(row, column, shift, samples, w)
    return counted


def permutations(count: int, w: int, random: np.random.RandomState) -> Integers:
    """`count` random permutations of 0..w-1, one in each row."""
    return random.random_sample((count, w)).argsort(axis=1)


@cache
def _compiled() -> Callable[..., Any]:
    import numba  # loads when a table is simulated

    compiled: Callable[..., Any] = numba.njit(_congestions)
    return compiled


def _congestions(
    row: Integers, column: Integers, shift: Integers, samples: int, w: int
) -> Integers:
    """What `mmsim.conflicts.stage_counts` says of word (column + shift of the row) mod w of a row.

    Sample s has row s, modulo their number, of each of the three arrays. It stands here once more
    because hundreds of millions of accesses are counted; the tests hold one to the other.
    """
    counted = np.empty(samples, dtype=np.int64)
    last = np.full(w * w, -1, dtype=np.int64)  # the last sample that asked for the word
    load = np.empty(w, dtype=np.int64)
    for s in range(samples):
        load[:] = 0
        most = 0
        a, r = s % len(row), s % len(shift)
        for t in range(row.shape[1]):
            i = row[a, t]
            bank = column[a, t] + shift[r, i]
            if bank >= w:  # quicker than a remainder
                bank -= w
            if last[i * w + bank] != s:  # equal addresses are one request
                last[i * w + bank] = s
                load[bank] += 1
                most = max(most, load[bank])
        counted[s] = most
    return counted


# Arrays of four dimensions (Table IV).


def table_4(w: int = 32, samples: int = 20_000, seed: int = 0, steps: int = 200) -> list[Cell]:
    """RAP Table IV: a w x w x w x w array under RAW, RAS, 1P, R1P, 3P, w²P and 1Pw²R.

    "malicious" is the worst access that `malicious` finds in so many steps; "random_numbers" are
    the layouts' own counts.
    """
    printed = {row["access"]: row for row in printed_table(4)}
    table = []
    for access in HIGHER_ACCESSES:
        for layout in HIGHER_LAYOUTS:
            mean, error = _mean(
                higher_congestions(layout, w, *lines(access, w, count, random), random)
                for count, random in _chunks(samples, w, f"{access} {layout}", seed)
            )
            expected = _expected(access, layout, w)
            table.append(Cell(access, layout, w, mean, error, printed[access][layout], expected))
    for layout in HIGHER_LAYOUTS:
        cell = malicious(layout, w, samples, seed, steps)
        table.append(cell)
    for layout in HIGHER_LAYOUTS:
        count = float(random_numbers(layout, w))
        paper = printed["random_numbers"][layout]
        table.append(Cell("random_numbers", layout, w, count, 0.0, paper, count))
    return table


def random_numbers(layout: str, w: int) -> int:
    """How many random numbers a layout of a w x w x w x w array uses."""
    if layout in ("RAW", "RAS"):
        return 0 if layout == "RAW" else w**3
    numbers: int = HIGHER_LAYOUTS[layout](w, 0).numbers  # type: ignore[attr-defined]
    return numbers


def _expected(access: str, layout: str, w: int) -> float | None:
    if access == "random":
        return expected_random(w, w**3)
    if access == "contiguous":
        return 1.0
    if layout == "RAW" or (layout == "1P" and access != "stride1"):
        return float(w)
    if layout == "RAS" or (layout in ("w2P", "1Pw2R") and access != "stride1"):
        return expected_max_load(w, w)
    return 1.0


def lines(
    access: str, w: int, samples: int, random: np.random.RandomState
) -> tuple[Integers, Integers, Integers, Integers]:
    """The indices i, j, k, l of an access of section VII, a row a sample.

    A warp's elements differ in one index, and the others are random; "random" is w elements with
    replacement.
    """
    if access == "random":
        i, j, k, l = random.randint(w, size=(4, samples, w))
        return i, j, k, l
    index = [np.repeat(random.randint(w, size=(samples, 1)), w, axis=1) for _ in range(4)]
    axis = {"stride3": 0, "stride2": 1, "stride1": 2, "contiguous": 3}[access]
    index[axis] = np.tile(np.arange(w), (samples, 1))
    return index[0], index[1], index[2], index[3]


def higher_congestions(
    layout: str,
    w: int,
    i: Integers,
    j: Integers,
    k: Integers,
    l: Integers,
    random: np.random.RandomState,
) -> Integers:
    """The congestion of accesses to a[i][j][k][l], a row a sample, each under a layout of its own.

    Only the random numbers that an access needs are drawn: of w³ independent ones, those of its
    rows; of w² permutations, those of its i, j.
    """
    samples = len(i)
    sample = np.arange(samples)[:, None]
    row = (i * w + j) * w + k
    if layout == "RAW":
        shift = np.zeros_like(i)
    elif layout == "RAS":
        shift = _own_numbers(w, row + sample * w**3, random)
    elif layout == "1P":
        shift = permutations(samples, w, random)[sample, k]
    elif layout == "R1P":
        r = permutations(samples, w, random)
        shift = r[sample, i] + r[sample, j] + r[sample, k]
    elif layout == "3P":
        r, s, t = permutations(3 * samples, w, random).reshape(3, samples, w)
        shift = r[sample, i] + s[sample, j] + t[sample, k]
    elif layout == "w2P":
        shift = _own_permutations(w, i * w + j + sample * w**2, k, random)
    else:
        s = _own_numbers(w, i * w + j + sample * w**2, random)
        shift = s + permutations(samples, w, random)[sample, k]
    address = row * w + (l + shift) % w
    warp = np.repeat(np.arange(samples), i.shape[1])
    return stage_counts(address.ravel(), warp, samples, w, "bank")


def _own_numbers(w: int, keys: Integers, random: np.random.RandomState) -> Integers:
    """A random number for each different key."""
    different, which = np.unique(keys, return_inverse=True)
    drawn = random.randint(w, size=len(different))
    return drawn[which.reshape(keys.shape)]


def _own_permutations(
    w: int, keys: Integers, k: Integers, random: np.random.RandomState
) -> Integers:
    """Entry k of a random permutation for each different key."""
    different, which, times = np.unique(keys, return_inverse=True, return_counts=True)
    which = which.reshape(keys.shape)
    entry = random.randint(w, size=len(different))[which]  # enough if only one entry is asked for
    several = times > 1
    drawn = permutations(int(several.sum()), w, random)
    asked = several[which]
    entry[asked] = drawn[(np.cumsum(several) - 1)[which[asked]], k[asked]]
    return entry


# Malicious accesses: made by somebody who knows the technique and not the random numbers.


def malicious(layout: str, w: int, samples: int = 20_000, seed: int = 0, steps: int = 200) -> Cell:
    """The access of w elements with the largest expected congestion that we know.

    It begins with the worst of `patterns` and climbs from there: in each step one element, chosen
    at random, is replaced by a copy of another with one index drawn anew or two of i, j, k
    swapped, and the change stays if the mean over 500 layouts rises. Both are then measured anew;
    the larger counts, and `note` says which it is. For RAW and 1P a stride has congestion w, more
    than which there is none.
    """
    printed = {row["access"]: row for row in printed_table(4)}["malicious"][layout]

    def measure(access: Integers, samples: int, name: str) -> tuple[float, float]:
        def parts() -> Iterator[Integers]:
            for count, random in _chunks(samples, w, f"{name} {layout}", seed):
                i, j, k, l = np.repeat(access[:, None], count, axis=1)
                yield higher_congestions(layout, w, i, j, k, l, random)

        return _mean(parts())

    scores = {name: measure(access, 1000, name)[0] for name, access in patterns(w)}
    name = max(scores, key=lambda one: scores[one])
    access = dict(patterns(w))[name]
    mean, error = measure(access, samples, "malicious")
    if mean < w and steps:
        climbed = _climb(access, w, lambda access: measure(access, 500, "climb")[0], steps, seed)
        again = measure(climbed, samples, "malicious")
        if again[0] > mean:
            (mean, error), name = again, f"{name}, improved by search"
    return Cell("malicious", layout, w, mean, error, printed, note=name)


def patterns(w: int) -> Iterator[tuple[str, Integers]]:
    """Accesses that might be malicious, by name: four rows of w indices i, j, k, l.

    "stride1" to "stride3" are section VII's and "diagonal1" to "diagonal3" the same with a
    different l for each element; "six-fold" are the paper's groups of six (section VII) with
    disjoint i, j, k; "six-fold, shared" are groups of i, j, k = 0, 1, x with x as their l;
    "three-fold" are x, x, x + 1 and its two other orders; the grids have i, j or j, k from the
    square of the first √w numbers.
    """
    x = np.arange(w)
    zero = np.zeros_like(x)
    for name, l in (("stride", zero), ("diagonal", x)):
        yield f"{name}1", np.array([zero, zero, x, l])
        yield f"{name}2", np.array([zero, x, zero, l])
        yield f"{name}3", np.array([x, zero, zero, l])
    if w >= 6:
        first, third = 3 * (x // 6), 2 + x // 6
        yield "six-fold", np.array([*_orders((first, first + 1, first + 2), x) % w, zero])
        yield "six-fold, shared", np.array([*_orders((zero, zero + 1, third), x) % w, third])
        first = x // 3
        yield "three-fold", np.array([*_orders((first, first, first + 1), 2 * x) % w, zero])
    side = max(int(sqrt(w)), 1)
    yield "grid i, j", np.array([x % side, x // side, zero, zero]) % w
    yield "grid j, k", np.array([zero, x % side, x // side, zero]) % w


def _orders(triple: tuple[Integers, Integers, Integers], order: Integers) -> Integers:
    """Three numbers in the order of that number, modulo six.

    Of x, x, y the even orders are the three different ones.
    """
    all_orders = np.array([(0, 1, 2), (1, 0, 2), (0, 2, 1), (1, 2, 0), (2, 0, 1), (2, 1, 0)])
    return np.take_along_axis(np.array(triple), all_orders[order % 6].T, axis=0)


def _climb(
    access: Integers, w: int, score: Callable[[Integers], float], steps: int, seed: int
) -> Integers:
    """A local search from an access upwards (see `malicious`)."""
    random = np.random.RandomState(seed)
    best, height = access, score(access)
    for _ in range(steps):
        to, source, index, other = random.randint((w, w, 4, 3))
        tried = best.copy()
        tried[:, to] = best[:, source]
        if random.randint(2):
            tried[index, to] = random.randint(w)
        else:
            tried[[index % 3, other], to] = tried[[other, index % 3], to]
        reached = score(tried)
        if reached > height:
            best, height = tried, reached
    return best


# Curves.


def curves(
    widths: Iterable[int] = (4, 8, 16, 32, 64, 128, 256), samples: int = 2000, seed: int = 0
) -> list[Point]:
    """What the paper calls Õ(log w / log log w), measured: one `Point` for each curve and width.

    Matrices under RAS (stride) and RAP (diagonal), random access, the strides of Table IV that
    aren't 1 or w, and its malicious accesses, the worst of `patterns` without a further search.
    """
    points = []
    for w in widths:
        ratio = log(w) / log(log(w))
        for access, layout in (("stride", "RAS"), ("diagonal", "RAP"), ("random", "RAP")):
            cell = _matrix_cell(access, layout, w, samples, seed, "")
            points.append(Point(access, layout, w, cell.mean, cell.standard_error, ratio))
        for layout in ("RAS", "w2P", "1Pw2R"):
            mean, error = _mean(
                higher_congestions(layout, w, *lines("stride2", w, count, random), random)
                for count, random in _chunks(samples, w, f"stride2 {layout}", seed)
            )
            points.append(Point("stride2", layout, w, mean, error, ratio))
        for layout in ("RAS", "R1P", "3P", "w2P", "1Pw2R"):
            cell = malicious(layout, w, samples, seed, steps=0)
            inside = 6 * log(w / 6) / log(log(w / 6)) if layout == "R1P" and w > 6 * np.e else ratio
            points.append(Point("malicious", layout, w, cell.mean, cell.standard_error, inside))
    return points


# Means.


def _chunks(
    samples: int, w: int, name: str, seed: int
) -> Iterator[tuple[int, np.random.RandomState]]:
    """The samples in pieces that fit the cache, with a random stream for each cell of a table."""
    random = np.random.RandomState([seed, w, *name.encode()])
    chunk = max(2**17 // w, 1)
    for start in range(0, samples, chunk):
        yield min(chunk, samples - start), random


def _mean(parts: Iterable[Integers]) -> tuple[float, float]:
    """The mean of all samples and its standard error."""
    count = total = squares = 0
    for part in parts:
        count += len(part)
        total += int(part.sum())
        squares += int((part * part).sum())
    variance = (squares - total * total / count) / max(count - 1, 1)
    return total / count, sqrt(max(variance, 0.0) / count)
