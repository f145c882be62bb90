"""The pictures of sections on the pages of docs/algorithms, and all pictures of these pages."""

from __future__ import annotations

from math import isqrt

from mmsim_algorithms.drawings.families import PICTURES, sizes, squares
from mmsim_algorithms.drawings.measured import Parts, Picture, Times, Way, cases
from mmsim_algorithms.prefix_sums import tensor_claims as scan

UNIT = {"w": 4, "l": 30, "L": 5}
SCAN_TENSOR = Picture(
    "prefix-sums",
    (
        Times(
            (
                Way("square calls", "SCAN-TCU", cases("n", sizes(16, 1024, 4), p=16, **UNIT)),
                Way(
                    "a call for each level",
                    "SCAN-TCU",
                    cases("n", sizes(16, 1024, 4), p=lambda n: n, **UNIT),
                ),
                Way(
                    "in registers, without the unit",
                    "SCAN-registers",
                    cases("n", sizes(16, 1024, 4), on="DMM", p=16, w=4, l=5, k=1),
                ),
            )
        ),
        Parts(
            "SCAN-TCU",
            cases("p", sizes(16, 4096, 4), n=1024, **UNIT),
            {
                "words sent": lambda n, w: float(scan.words(n, w)),
                "memory stages": lambda n, w: float(scan.stages(n, w)),
                "latency l": lambda n, p, w, l: float(scan.call_count(n, p, w) * (l - 1)),
                "latency L": lambda n, p, w, L: float(scan.call_count(n, p, w) * 2 * (L - 1)),
            },
        ),
    ),
    "On a DMM with w = 4 and L = 5, and a tensor unit of latency l = 30. Left: w² = 16 threads "
    "make square calls, n threads one call for each level; in registers with 16 threads on the DMM "
    "alone. Right: what the time is made of for n = 1024.",
    "Left: with a call for each level it takes less time than with square calls, and in registers "
    "without the unit least. Right: with few threads more than half of the time is "
    "latency, with many half of it are the words sent.",
    section="tensor",
)

MATRICES = cases("n", squares(8, 64), w=8, l=50, L=5)
PRODUCT_TENSOR = Picture(
    "product",
    (
        Times(
            (
                Way("with a tensor unit", "MATMUL-TCU", MATRICES),
                Way(
                    "rows, without the unit",
                    "MATMUL-rows",
                    cases("n", squares(8, 64), on="DMM", p=lambda n: n, w=8, l=5),
                ),
            )
        ),
        Parts(
            "MATMUL-TCU",
            MATRICES,
            {
                "words sent": lambda n, w: n * isqrt(n) // w,
                "memory stages": lambda n, w: (n // w**2 * (w + 1) + isqrt(n) // w) * isqrt(n),
                "latency l": lambda n, w, l: n // w**2 * (l - 1),
                "latency L": lambda n, w, L: (n // w**2 * (w + 1) + isqrt(n) // w) * (L - 1),
            },
        ),
    ),
    "Matrices of 8 × 8 to 64 × 64 words on a DMM with w = 8 and L = 5, and a tensor unit of "
    "latency l = 50. Right: what the time is made of.",
    "Left: with a tensor unit it takes a little more time than by rows. Right: for large n half of "
    "the time are stages of the memory, and more than two fifths are the words sent.",
    section="tensor",
)

COLUMNS = cases("p", sizes(32, 4096), on="DMM", n=4096, w=32, l=100)
SUM_TMM = Picture(
    "sum",
    (
        Times(
            (
                Way("sum by columns", "SUM-columns", COLUMNS),
                Way("", "SUM-columns.TMM.O", COLUMNS),
                Way("", "SUM-columns.TMM", COLUMNS),
            )
        ),
    ),
    "4096 numbers on the DMM with w = 32 and l = 100.",
    "With few threads the time is that of the lower bound, the latency that no thread hides. With "
    "many it lies near the upper bound.",
    section="models",
)

SECTIONS = (SCAN_TENSOR, PRODUCT_TENSOR, SUM_TMM)
EVERY_PICTURE = (*PICTURES, *SECTIONS)
