"""Claims about the sum on the HMM."""

from __future__ import annotations

from mmsim.claims import Claim, Precondition, log2, maximum
from mmsim_algorithms.grids import FAST, POWERS_OF_TWO, power_of_two
from mmsim_algorithms.sums.cases import (
    in_global_memory,
    multiprocessors,
    of_blocks,
    of_global_memory,
    on_hmm,
)
from mmsim_algorithms.sums.claims import DERIVED

SECTION = 2
PAPER = "SUM, IPDPSW 2013"
"""The HMM; IEICE E96-D 2013 has the DMM and the UMM alone."""
BLOCKS = Precondition("d is a power of two, d <= w", lambda d, w: power_of_two(d) and d <= w)
WARPS = Precondition("dw <= p <= n, d < p", lambda n, p, w, d: d < p and d * w <= p <= n)
REQUIRES = (POWERS_OF_TWO, BLOCKS, WARPS)

CLAIMS = [
    Claim(
        id="SUM-HMM",
        source=DERIVED,
        title="sum on an HMM of d DMMs: columns and a tree in each, then a tree of the d sums",
        formula=lambda n, p, w, d, L, l: (
            (n / p) * (p / w + L - 1)
            + 3 * p / (d * w)
            + 2 * (log2(w) - 1)
            + (1 + 2 * log2(p / d)) * (l - 1)
            + (d + L - 1)
            + (2 * L + l * (1 + 2 * log2(d)))
        ),
        kind="exact",
        grid=multiprocessors,
        run=on_hmm,
        launches=of_blocks,
        requires=REQUIRES,
        note="the second launch, of d threads on one DMM, is the last part",
    ),
    Claim(
        id="SUM-HMM.O",
        source=PAPER,
        title="sum on an HMM of d DMMs with shared latency 1",
        formula=lambda n, p, w, L: n / w + n * L / p + L + log2(n),
        kind="upper",
        constant=4,
        grid=lambda: (case for case in multiprocessors() if case["l"] == 1),
        run=on_hmm,
        requires=(*REQUIRES, FAST),
    ),
    Claim(
        id="SUM-HMM.global",
        source=DERIVED,
        title="sum on an HMM by columns, all of it in the global memory",
        formula=lambda n, p, w, L: (
            (n / p + 1) * (p / w + L - 1) + 2 * (p / w - 1 + log2(w) + log2(p) * (L - 1))
        ),
        kind="exact",
        grid=multiprocessors,
        run=in_global_memory,
        launches=of_global_memory,
        requires=REQUIRES,
        note="the naive way: a step of the tree waits for the global latency, 2L log p in all, "
        "where SUM-HMM waits for 4L",
    ),
    Claim(
        id="SUM-HMM.LB",
        source=PAPER,
        title="lower bound for a sum on an HMM",
        formula=lambda n, p, w, L: maximum(n / w + L - 1, n * L / p, log2(n)),
        kind="lower",
        grid=multiprocessors,
        run=on_hmm,
        requires=REQUIRES,
    ),
]
