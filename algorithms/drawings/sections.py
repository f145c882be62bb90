"""The pictures of sections on the pages of docs/algorithms, and all pictures of these pages."""

from __future__ import annotations

from math import isqrt, log2

from mmsim_algorithms.drawings.families import HMM, PICTURES, SMALL, sizes, squares, times
from mmsim_algorithms.drawings.measured import Parts, Picture, Times, Way, cases
from mmsim_algorithms.prefix_sums import tensor_claims as scan
from mmsim_algorithms.prefix_sums.look_back import WAYS
from mmsim_algorithms.prefix_sums.look_back_claims import look_backs

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

SUM_HMM = Picture(
    "sum",
    (
        times(
            cases("n", sizes(1024, 2**16, 4), p=512, **HMM),
            {"in the global memory": "SUM-HMM.global", "trees in shared memories": "SUM-HMM"},
        ),
        Parts(
            "SUM-HMM",
            cases("n", sizes(1024, 2**16, 4), p=512, **HMM),
            {
                "reading": lambda n, p, w, L: (n // p) * (p / w + L - 1),
                "trees": lambda p, w, d: 3 * p / (d * w) - 2 + 2 * log2(w) + 1 + 2 * log2(d),
                "d sums": lambda d, L: d - 1 + 3 * L,
            },
        ),
    ),
    f"512 threads on {SMALL}. Right: what the time is made of with trees in shared memories.",
    "Left: with trees in the shared memories it takes a fourth of the time for the smallest n, and "
    "nearly as long for the largest. Right: for large n nearly all of the time is reading.",
    section="hmm",
)


TILES = cases("n", sizes(512, 2**13), w=16, r=8, L=100, d=4, k=lambda n: look_backs(n, 16, 8))
LOOK_BACK = Picture(
    "prefix-sums",
    (
        times(TILES, {way: f"SCAN-{way}" for way in WAYS}),
        Times(
            tuple(Way(way, f"SCAN-{way}.requests", TILES) for way in WAYS),
            "requests to the global memory",
        ),
    ),
    "On an HMM with d = 4, w = 16 and L = 100; tiles of 8 rows.",
    "Left: look-back takes about two thirds of the time of reduce-then-scan, and scan-then-add "
    "takes longest. Right: look-back has the fewest requests, too.",
    section="look-back",
)


def rounds(s: int, p: int) -> float:
    """The rounds of a tree of rows of s words, for each access."""
    return s * s / p - s / p if p <= s else s * s / p - 1 + log2(p / s)


TREES = cases("p", sizes(16, 1024, 4), on="UMM", n=32 * 32, w=16, l=20)
SAT_TREES = Picture(
    "summed-area",
    (
        Times((Way("trees", "SAT-trees", TREES), Way("", "SAT-trees.LB", TREES))),
        Parts(
            "SAT-trees",
            TREES,
            {
                "stages": lambda n, w: 19 * (n - isqrt(n)) // w,
                "latency l": lambda n, p, l: 14 * (l - 1) * rounds(isqrt(n), p),
            },
        ),
    ),
    "32 × 32 words on the UMM with w = 16 and l = 20. Right: what the time is made of.",
    "Left: the more threads, the less time. It is at least six times the lower bound. Right: with "
    "few threads nearly all of the time is latency, with many it is half.",
    section="trees",
)


CORNERS = cases("k", range(1, 16, 2), n=64 * 64, w=4, d=4, L=100, l=1)
SAT_HYBRID = Picture(
    "summed-area",
    (
        Times((Way("corners of k diagonals of tiles", "SAT-hybrid", CORNERS),)),
        Times(
            (
                Way("reads", "SAT-hybrid.reads", CORNERS),
                Way("writes", "SAT-hybrid.writes", CORNERS),
            ),
            "requests to the global memory",
        ),
    ),
    "64 × 64 words on an HMM with d = 4, w = 4 and L = 100.",
    "Left: the larger the corners, the less time: for k = 15 half of that for k = 1. Right: the "
    "reads double, and the writes grow by a third.",
    section="hybrid",
)

ONE_LAUNCH = cases("n", squares(32, 128), w=8, d=4, L=100, l=1)
SAT_BANDS = Picture(
    "summed-area",
    (
        times(
            ONE_LAUNCH,
            {"one launch": "SAT-bands", "1R1W": "SAT-1R1W", "2R1W": "SAT-2R1W"},
        ),
    ),
    "32 × 32 to 128 × 128 words on an HMM with d = 4, w = 8 and L = 100.",
    "One launch takes less time than 1R1W for all sizes, and than 2R1W too.",
    section="one-launch",
)

SORTED = cases("n", sizes(128, 512), p=4, w=4, l=5)
SORT_COLUMNS = Picture(
    "sorting",
    (
        Times(
            (
                Way(
                    "by columns",
                    "SORT-columns",
                    tuple({**case, "words": "random"} for case in SORTED),
                ),
                *(
                    Way(name, claim, tuple({**case, "on": "DMM"} for case in SORTED))
                    for name, claim in {
                        "bitonic": "SORT-bitonic",
                        "bitonic, without conflicts": "SORT-bitonic.free",
                    }.items()
                ),
            )
        ),
    ),
    "Random words and four threads on the DMM with w = 4 and l = 5.",
    "By columns it takes between a half and a third of the time of the bitonic sort.",
    section="columns",
)

POLYGONS = (4, 8, 12, 16, 20, 24)
PIPELINE = cases("n", POLYGONS, on="UMM", p=lambda n: n // 2, w=4, l=30)
POLY_PIPELINE = Picture(
    "triangulation",
    (
        Times(
            (
                Way("pipeline, n/2 threads", "POLY-pipeline.O", PIPELINE),
                Way(
                    "diagonals, n threads",
                    "POLY-diagonals.O",
                    cases("n", POLYGONS, p=lambda n: n, w=4, l=30),
                ),
            )
        ),
        Times((Way("pipeline", "POLY-pipeline.rounds", PIPELINE),), "rounds"),
    ),
    "On the UMM with w = 4 and l = 30.",
    "Left: the pipeline takes two to three times as long as n threads on the diagonals. Right: its "
    "rounds grow like the square of n.",
    section="pipeline",
)

SECTIONS = (
    SUM_HMM,
    SUM_TMM,
    LOOK_BACK,
    SCAN_TENSOR,
    SAT_HYBRID,
    SAT_TREES,
    SAT_BANDS,
    PRODUCT_TENSOR,
    SORT_COLUMNS,
    POLY_PIPELINE,
)
EVERY_PICTURE = (*PICTURES, *SECTIONS)
"""In the order of the pages of docs/algorithms."""
