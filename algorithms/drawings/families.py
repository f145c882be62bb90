"""The pictures on the pages of the field's algorithms, one for each page of docs/algorithms."""

from __future__ import annotations

from math import log2

from mmsim.claims import Case
from mmsim_algorithms.drawings.measured import Parts, Picture, Times, Way, cases
from mmsim_algorithms.grids import powers


def sizes(least: int, most: int, factor: int = 2) -> tuple[int, ...]:
    """least, factor least, ..., most."""
    return tuple(powers(least, most, factor))


def squares(least: int, most: int) -> tuple[int, ...]:
    """n = s^2 words of matrices with sides s = least, 2 least, ..., most."""
    return tuple(side * side for side in sizes(least, most))


def times(same: tuple[Case, ...], ways: dict[str, str]) -> Times:
    """Programs by names and claims, all in the same cases."""
    return Times(tuple(Way(name, claim, same) for name, claim in ways.items()))


HMM = {"d": 4, "w": 16, "L": 100, "l": 1}
SMALL = "an HMM with d = 4, w = 16, L = 100 and l = 1"

SUM = Picture(
    "sum",
    (
        times(
            cases("n", sizes(1024, 2**16, 4), on="DMM", p=512, w=32, l=5),
            {
                "tree of neighbours": "SUM-strided",
                "tree of halves": "SUM-tree",
                "columns": "SUM-columns",
            },
        ),
        Parts(
            "SUM-columns",
            cases("p", sizes(32, 4096), on="DMM", n=4096, w=32, l=100),
            {
                "n/w": lambda n, p, w: n / w + 3 * p / w - 2 + 2 * log2(w),
                "nl/p": lambda n, p, l: n / p * (l - 1),
                "l log n": lambda p, l: (1 + 2 * log2(p)) * (l - 1),
            },
        ),
    ),
    "On the DMM with w = 32. Left: 512 threads, l = 5. Right: what the time of the columns is made "
    "of for n = 4096 and l = 100.",
    "Left: the tree of neighbours takes three to five times as long as the tree of halves, and "
    "the columns take least. Right: with few threads nl/p is nearly all of the time, with many l "
    "log n is.",
)

SCAN = Picture(
    "prefix-sums",
    (
        times(
            cases("n", sizes(512, 2**15, 4), on="UMM", p=256, w=32, l=5),
            {"simple: doubling": "SCAN-doubling.UMM", "optimal: a tree": "SCAN-tree"},
        ),
        Parts(
            "SCAN-tree",
            cases("p", sizes(32, 2048), on="UMM", n=4096, w=32, l=100),
            {
                "n/w": lambda n, w: 12 * (n / w - 1) + 7 * log2(w),
                "nl/p": lambda n, p, l: 7 * (n / p - 1) * (l - 1),
                "l log n": lambda p, l: 7 * log2(p) * (l - 1),
            },
        ),
    ),
    "On the UMM with w = 32. Left: 256 threads, l = 5. Right: what the time of the tree is made of "
    "for n = 4096 and l = 100.",
    "Left: the tree takes less time than doubling, and more so the larger n is. Right: with few "
    "threads nl/p is nearly all of the time, with many l log n is most of it.",
)

SAT_CASES = cases("n", squares(32, 256), **(HMM | {"w": 8}))
SAT = Picture(
    "summed-area",
    (
        times(
            SAT_CASES,
            {way: f"SAT-{way}" for way in ("2R2W", "4R4W", "2R1W", "1R1W")},
        ),
        Parts(
            "SAT-1R1W",
            SAT_CASES,
            {
                "global stages": lambda n, w: 2 * n / w + 4 * n / w**2,
                "shared stages": lambda n, w, d: 6 * (n / (d * w) + n**0.5 * (1 - 1 / d)),
                "latency L": lambda n, w, L: (2 * n**0.5 / w - 1) * 6 * (L - 1),
            },
        ),
    ),
    "Matrices of 32 × 32 to 256 × 256 words on an HMM with d = 4, w = 8, L = 100 and l = 1. Right: "
    "what the time of 1R1W is made of.",
    "Left: 2R2W takes longest, then 4R4W. 2R1W takes least up to 128 × 128 words, 1R1W for 256 × "
    "256. Right: most of the time of 1R1W is latency, and its share falls as n grows.",
)

PRODUCT = Picture(
    "product",
    (
        times(
            cases("n", squares(32, 128), **HMM),
            {"rows, in global memory": "MATMUL-HMM.global", "tiles": "MATMUL-HMM.tiled"},
        ),
        times(
            cases("n", squares(32, 128), **HMM),
            {"tiles, RAW": "MATMUL-HMM.RAW", "tiles, RAP": "MATMUL-HMM.RAP"},
        ),
    ),
    f"Matrices of 32 × 32 to 128 × 128 words on {SMALL}. Left: A B. Right: A Bᵀ, for which a warp "
    "reads columns of the tiles.",
    "Left: tiles take a third of the time or less. Right: RAP takes a quarter of the time of RAW, "
    "or less.",
)

SORT = Picture(
    "sorting",
    (
        times(
            cases("n", sizes(64, 2**14, 4), on="DMM", p=lambda n: n // 2, w=32, l=5),
            {"bitonic sort": "SORT-bitonic", "without conflicts": "SORT-bitonic.free"},
        ),
        Times(
            (
                Way(
                    "merging reads, worst input",
                    "SORT-merge.worst",
                    cases("E", sizes(1, 16), n=1024, w=32, run=512, l=5),
                ),
            ),
            "stages of a pass",
        ),
    ),
    "On the DMM with w = 32. Left: n/2 threads, l = 5. Right: a pass that merges two runs of 512 "
    "words; without conflicts its merging reads take n/w = 32 stages.",
    "Left: without conflicts bitonic sort takes about two thirds of the time for large n. Right: "
    "the stages grow in proportion to E.",
)

CONVOLUTION = Picture(
    "convolution",
    (
        Times(
            (
                Way(
                    "in one memory, L = 100",
                    "CONV-direct.UMM",
                    cases("n", sizes(64, 4096, 4), on="UMM", m=64, p=lambda n: n, w=16, l=100),
                ),
                Way(
                    "in shared memories",
                    "CONV-HMM",
                    cases("n", sizes(64, 4096, 4), m=64, p=lambda n: n, k=1, **HMM),
                ),
            )
        ),
        Parts(
            "CONV-HMM",
            cases("m", sizes(16, 256), n=1024, p=1024, k=1, **HMM),
            {
                "global stages": lambda n, m, w, d: 2 * (n + d * m) / w,
                "shared stages": lambda n, m, w, d: (n / d + 2 * m + 2 * m * n / d) / w,
                "latency L": lambda n, m, p, d, L: (
                    (-(-m * d // p) - (-(n + d * m - d) // p) + n / p) * (L - 1)
                ),
            },
        ),
    ),
    f"On {SMALL}, a thread for each of n words. Left: m = 64; in one memory of w = 16 and latency "
    "100. Right: what the time is made of for n = 1024.",
    "Left: in the shared memories it takes a sixth of the time or less. Right: the longer the "
    "sequence a is, the more of the time are shared stages.",
)

MATCHING = Picture(
    "string-matching",
    (
        times(
            cases("n", sizes(256, 4096), m=16, p=256, **HMM),
            {"in the global memory": "ASM-HMM.global", "in shared memories": "ASM-HMM"},
        ),
    ),
    f"A pattern of 16 letters, 256 threads on {SMALL}. Of the way in the global memory there is "
    "a bound.",
    "In the shared memories it takes less than a tenth of the time. The runs in the global "
    "memory lie below their bound.",
)

DYNAMIC = Picture(
    "dynamic-programming",
    (
        Times(
            (
                Way("in global memory", "DP-HMM.global", cases("n", sizes(8, 64), w=4, d=2, L=16)),
                Way("tiles", "DP-HMM", cases("n", sizes(8, 64), w=4, d=2, r=4, L=16, l=1)),
            )
        ),
    ),
    "On an HMM with d = 2, w = 4, L = 16 and l = 1: n threads in the global memory, d blocks of "
    "rw = 16 threads for the tiles.",
    "Tiles take a quarter of the time or less.",
)

INPUTS = {"algorithm": "prefix sums", "t": lambda n: 2 * n, "p": 256, "w": 32, "l": 5}
BULK = Picture(
    "bulk",
    (
        times(
            cases("n", sizes(1, 128), on="UMM", **INPUTS),
            {"row by row": "BULK-rows.UMM", "column by column": "BULK-columns"},
        ),
        times(
            cases("n", tuple(range(1, 34)), on="DMM", **INPUTS),
            {"row by row": "BULK-rows.DMM", "column by column": "BULK-columns"},
        ),
    ),
    "Prefix sums of 256 inputs of n words each, with w = 32 and l = 5. Left: on the UMM. Right: on "
    "the DMM, for every n.",
    "Left: column by column the time grows like n, row by row like n² up to n = w. Right: row by "
    "row takes as long as column by column for odd n, and 22 times as long for n = 32.",
)

POSITIONS = cases("f", sizes(1, 4096), n=4096, p=1024, w=32, l=20)
LISTS = Picture(
    "fragments",
    (
        Times(
            (
                Way(
                    "a thread for each fragment",
                    "LIST-fragments",
                    cases("f", sizes(32, 128), n=4096, w=32, l=20),
                ),
                Way("by positions", "LIST-positions", POSITIONS),
            )
        ),
        Parts(
            "LIST-positions",
            POSITIONS,
            {
                "n/w": lambda n, w: 3 * n / w,
                "f, beyond n/w": lambda n, w, f: max(0, f - n / w),
                "nl/p": lambda n, p, l: 3 * (n / p) * (l - 1),
            },
        ),
    ),
    "A list of 4096 words in f fragments on the UMM with w = 32 and l = 20; by positions with 1024 "
    "threads. Right: what their time is made of.",
    "Left: by positions the time is the same up to f = 128 = n/w and then grows with f. A thread "
    "for each fragment takes many times as long. Right: up to f = n/w two thirds of the time are "
    "n/w; from there on f is more and more of it.",
)

POLYGON = Picture(
    "triangulation",
    (
        Times(
            (
                Way("row by row", "POLY-rows", cases("n", sizes(8, 64), w=8, l=30)),
                Way(
                    "diagonals, n threads",
                    "POLY-diagonals.O",
                    cases("n", sizes(8, 64), p=lambda n: n, w=8, l=30),
                ),
                Way(
                    "as soon as possible, n²/2 threads",
                    "POLY-eager.O",
                    cases("n", sizes(8, 64), p=lambda n: n * n // 2, w=8, l=30),
                ),
            )
        ),
    ),
    "On the UMM with w = 8 and l = 30.",
    "The diagonals take less time than row by row, and the sums as soon as possible least; both "
    "lie below their bounds.",
)

STENCIL = Picture(
    "stencil",
    (
        times(
            cases("n", squares(64, 512), on="UMM", p=1024, w=32, l=5),
            {"by columns": "STENCIL-columns", "by rows": "STENCIL-rows.UMM"},
        ),
        times(
            cases("r", sizes(1, 32), n=128 * 128, **HMM),
            {"rows, in global memory": "STENCIL-HMM.global", "bands": "STENCIL-HMM.bands"},
        ),
    ),
    f"Left: on the UMM with w = 32, l = 5 and 1024 threads. Right: 128 × 128 words on {SMALL}, n/r "
    "threads.",
    "Left: by columns it takes 22 times as long as by rows. Right: bands take less time than "
    "rows in the global memory for every r, and least for r = 4.",
)

SPARSE = Picture(
    "sparse",
    (
        Times(
            tuple(
                Way(
                    name,
                    claim,
                    cases("k", sizes(least, 128), on="UMM", n=1024, p=1024, w=32, l=5),
                )
                for name, claim, least in (
                    ("rows, a thread each", "SPMV-threads.UMM", 1),
                    ("rows, a warp each", "SPMV-warps", 32),
                    ("ELLPACK", "SPMV-ell", 1),
                )
            )
        ),
        times(
            cases("k", sizes(1, 64), n=1024, p=1024, **HMM),
            {"ELLPACK, in global memory": "SPMV-HMM.global", "x in shared": "SPMV-HMM.shared"},
        ),
    ),
    f"1024 rows of k nonzero words, 1024 threads. Left: on the UMM with w = 32 and l = 5. Right: "
    f"on {SMALL}, scattered columns.",
    "Left: a thread for each row takes longest, and its time grows like k² up to k = w. ELLPACK "
    "takes least. Right: with x in the shared memories it takes a quarter of the time for large "
    "k.",
)

HISTOGRAM = Picture(
    "histogram",
    (
        Times(
            (
                *(
                    Way(
                        f"atomics, k = {k}",
                        "HIST-atomic",
                        cases("n", sizes(1024, 2**14), on="DMM", p=1024, w=32, l=5, k=k),
                    )
                    for k in (32, 4, 1)
                ),
                Way(
                    "a column for each lane",
                    "HIST-lanes",
                    cases("n", sizes(1024, 2**14), p=1024, w=32, l=5, m=64, skew=0),
                ),
            )
        ),
        times(
            cases("k", sizes(1, 16), n=4096, p=1024, m=64, **HMM),
            {"in the global memory": "HIST-HMM.global", "in shared memories": "HIST-HMM"},
        ),
    ),
    "Left: on the DMM with w = 32, l = 5 and 1024 threads; 64 bins for the columns. Right: 4096 "
    f"values in 64 bins on {SMALL}, 1024 threads.",
    "Left: atomics take the longer the more threads of a warp have the same value. The columns "
    "for lanes lie between k = 1 and k = 4 for large n. Right: in the shared memories the time "
    "grows more slowly with k.",
)

FFT = Picture(
    "fft",
    (
        times(
            cases("n", sizes(512, 2**15, 4), on="UMM", p=lambda n: n // 2, w=16, l=100),
            {"in place": "FFT-in-place", "Stockham": "FFT-stockham"},
        ),
        times(
            cases("n", sizes(4096, 2**16, 4), **HMM),
            {"Stockham, in global memory": "FFT-HMM.global", "columns and rows": "FFT-HMM"},
        ),
    ),
    f"n/2 threads. Left: on the UMM with w = 16 and l = 100. Right: on {SMALL}.",
    "Left: Stockham's way takes about a third of the time for large n. Right: by columns and "
    "rows it takes about a third of the time, too.",
)

PICTURES = (
    *(SUM, SCAN, SAT, PRODUCT, SORT, CONVOLUTION, MATCHING, DYNAMIC, BULK, LISTS, POLYGON),
    *(STENCIL, SPARSE, HISTOGRAM, FFT),
)
