"""Claims about the sum in the measures of two other models, AGPU and TMM.

Koike and Sadakane, "A Novel Computational Model for GPUs with Application to I/O Optimal Sorting
Algorithms", IPDPSW 2014 (AGPU), count transfers of w consecutive words between the global memory
and the shared ones. Ma, Agrawal and Chamberlain, "A Memory Access Model for Highly-threaded
Many-core Architectures", Future Generation Computer Systems 30, 2014 (TMM), charge M transfers with
the latency of each, shared by as many threads as hide it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any

import mmsim as mm
from mmsim.claims import Case, Claim, log2
from mmsim_algorithms.grids import BOTH, POWERS_OF_TWO, THREADS
from mmsim_algorithms.sums.cases import (
    binary,
    by_columns,
    multiprocessors,
    of_blocks,
    of_columns,
    on_hmm,
)
from mmsim_algorithms.sums.hmm_claims import REQUIRES

SECTION = 3
AGPU = "SUM, IPDPSW 2014 (AGPU)"
TMM = "SUM, FGCS 2014 (TMM)"


def transfers(space: str, run: mm.Run) -> int:
    """The address groups that move to or from a memory: its stages."""
    return sum(row.stages for row in run.accesses if row.space == space)


def moved(n: Any, p: Any, w: Any) -> Any:
    """The transfers of the sum by columns: of n words, of p sums, and of the tree's words."""
    return n / w + 3 * p / w - 2 + 2 * log2(w)


def one_memory() -> Iterator[Case]:
    """Powers of two, the width 1 among them."""
    yield from binary(pairs=False)
    for on, n, p, l in product(BOTH, (8, 64), (1, 8), (1, 30)):
        yield {"on": on, "n": n, "p": p, "w": 1, "l": l}


def many_memories() -> Iterator[Case]:
    """Those of SUM-HMM, and the width 1."""
    yield from multiprocessors()
    for p, L in product((2, 16), (1, 100)):
        yield {"n": 64, "p": p, "w": 1, "d": 1, "L": L, "l": 1}


CLAIMS = [
    Claim(
        id="SUM-HMM.transfers",
        source=AGPU,
        title="sum on an HMM: transfers of w words of the global memory, the I/O of the AGPU",
        formula=lambda n, w, d: n / w + d + 2,
        kind="exact",
        grid=many_memories,
        run=on_hmm,
        launches=of_blocks,
        measure=partial(transfers, "global"),
        quantity="S",
        requires=REQUIRES,
        note="O(n/w) transfers, as cited; the d sums are written one by one and read at once",
    ),
    Claim(
        id="SUM-columns.transfers",
        source="SUM, derived here",
        title="sum by columns, DMM and UMM: transfers of w words",
        formula=moved,
        kind="exact",
        grid=one_memory,
        run=by_columns,
        launches=of_columns,
        measure=partial(transfers, "memory"),
        quantity="S",
        requires=(POWERS_OF_TWO, THREADS),
        note="of the n words, of p sums, and of two accesses at each step of the tree",
    ),
    Claim(
        id="SUM-columns.TMM",
        source=TMM,
        title="sum by columns, DMM and UMM: the latency of M transfers, hidden by p/w warps",
        formula=lambda n, p, w, l: moved(n, p, w) * l * w / p,
        kind="lower",
        grid=one_memory,
        run=by_columns,
        requires=(POWERS_OF_TWO, THREADS),
        note="ML/(TP), as cited, for M of SUM-columns.transfers: each warp has one transfer under "
        "way. With p = w it is the time",
    ),
    Claim(
        id="SUM-columns.TMM.O",
        source=TMM,
        title="sum by columns, DMM and UMM: work, hidden latency of M transfers, and span",
        formula=lambda n, p, w, l: moved(n, p, w) * (1 + l * w / p) + 2 * l * log2(p),
        kind="upper",
        grid=one_memory,
        run=by_columns,
        requires=(POWERS_OF_TWO, THREADS),
        note="O(W/P + ML/(TP) + span), as cited, for M of SUM-columns.transfers. W/P is M, a stage "
        "for each; the tree has 2 log p accesses in sequence, l each",
    ),
]
