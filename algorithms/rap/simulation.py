"""RAP's tables of congestions, simulated (RAP sections V and VII).

Each sample draws a layout and an access of one warp and counts the congestion. The report has the
mean over the samples with its standard error. No array is built: only the bank of a word counts.
Seeds are fixed, so that a table is the same every time, and rows are plain data.

    for cell in table_2():
        print(cell.access, cell.layout, cell.w, cell.mean, cell.standard_error, cell.printed)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import numpy as np

from mmsim_algorithms.printed import table
from mmsim_algorithms.rap.estimates import Cell, Integers, chunks, mean_and_error, permutations
from mmsim_algorithms.rap.max_load import expected_max_load, expected_random
from mmsim_algorithms.rap.patterns import cells

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


# Matrices (Tables II and III).


def table_2(samples: int = 200_000, widths: Iterable[int] = WIDTHS, seed: int = 0) -> list[Cell]:
    """RAP Table II: contiguous, stride, diagonal and random access under RAW, RAS and RAP."""
    printed = {
        (row["access"], row["layout"], int(column[1:])): row[column]
        for row in table("rap_table2")
        for column in row
        if column[0] == "w"
    }
    return [
        matrix_cell(access, layout, w, samples, seed, printed.get((access, layout, w), ""))
        for access in ACCESSES
        for layout in LAYOUTS
        for w in widths
    ]


def table_3(samples: int = 200_000, w: int = 32, seed: int = 0) -> list[Cell]:
    """RAP Table III's congestions: "CRSW read" and so on under RAW, RAS and RAP.

    All warps of a transpose have the same law, so one access of each sample is enough.
    """
    printed = {(row["transpose"], row["layout"]): row for row in table("rap_table3")}
    found = []
    for layout in LAYOUTS:
        for (transpose, kind), pattern in TRANSPOSES.items():
            paper = printed[transpose, layout][f"{kind}_congestion"] if w == 32 else ""
            cell = matrix_cell(pattern, layout, w, samples, seed, paper, f"{transpose} {kind}")
            found.append(cell)
    return found


def matrix_cell(
    pattern: str, layout: str, w: int, samples: int, seed: int, printed: str, name: str = ""
) -> Cell:
    expected = _expected_of_matrix(pattern, layout, w)
    if expected in (1.0, float(w)):
        samples = min(samples, 1000)  # they will all be the same
    mean, error = mean_and_error(
        congestions(pattern, layout, w, count, random)
        for count, random in chunks(samples, w, f"{name or pattern} {layout}", seed)
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
    """The congestion of an access to a w x w matrix (`patterns.cells`), sample by sample.

    Each sample has its own layout; the warps of an access take turns.
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


@cache
def _compiled() -> Callable[..., Any]:
    from mmsim.host.compiler import compiled  # loads Numba, when a table is simulated

    return compiled(_congestions)


def _congestions(
    row: Integers, column: Integers, shift: Integers, samples: int, w: int
) -> Integers:
    """Count as `mmsim.model.conflicts.Banks`, for word (column + shift of the row) mod w of a row.

    Sample s has row s, modulo their number, of each of the three arrays. It is repeated here
    because hundreds of millions of accesses are counted; tests compare the two.
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
