"""Claims about the sum on the DMM and the UMM, and with few barriers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any

import mmsim as mm
from mmsim.claims import Claim, Precondition, ceiling, floor, log2, maximum
from mmsim_algorithms.grids import (
    BINARY,
    BINARY_WIDTH,
    BOTH,
    ENOUGH_THREADS,
    PAIRS,
    POWERS_OF_TWO,
    THREADS,
    TWO_LANES,
    WHOLE_SHARES,
    meeting,
    power_of_two,
    powers,
)
from mmsim_algorithms.sums.cases import (
    any_program,
    any_shares,
    any_width,
    barriers,
    binary,
    by_columns,
    by_latency,
    by_tree,
    by_warps,
    for_barriers,
    of_columns,
    of_tree,
    of_warps,
)

SECTION = 1
PAPER = "SUM, ICA3PP 2012 and IEICE E96-D 2013"
ASYNCHRONOUS = "SUM, IEICE E97-D 2014"
DERIVED = "SUM, derived here"

WIDE = Precondition("w^2 <= n", lambda n, w: w * w <= n)
COLUMNS = Precondition("wl divides n", lambda n, w, l: n % (w * l) == 0)
FEW = (
    Precondition("2 <= l", lambda l: l >= 2),
    Precondition(
        "4 <= w, or w = 2 and l is a power of two",
        lambda w, l: w >= 4 or (w == 2 and power_of_two(l)),
    ),
)
"""The domain of `few`, the bound of a number of barriers."""


def few(w: Any, l: Any) -> Any:
    """IEICE E97-D 2014: log l / log w + log log w, rounded down, as a number of barriers is whole.

    >>> few(4, 64), few(2, 8), few(4, 2)
    (4, 3, 1)
    """
    return floor(log2(l) / log2(w) + log2(log2(w)))


def is_power(l: int, w: int) -> bool:
    """Return whether l is a power of w."""
    return l == 1 or (w > 1 and l in powers(1, l, w))


def traced(schedule: mm.Schedule, **case: Any) -> mm.Run:
    """The sum with few barriers on its own schedule, the asynchronous one, with its trace."""
    return by_warps("asynchronous", trace=True, **case)


def traced_columns(schedule: mm.Schedule, **case: Any) -> mm.Run:
    """The sum by columns under the asynchronous schedule, with its trace."""
    return by_columns("asynchronous", trace=True, **case)


def _claims() -> Iterator[Claim]:
    yield Claim(
        id="SUM-strided",
        source=DERIVED,
        title="sum by a tree of neighbours, DMM and UMM",
        formula=lambda n, p, w, l: (
            3 * (n / w * (log2(w) + 1) - 1 + (n / p - 1 + log2(p)) * (l - 1))
        ),
        kind="exact",
        grid=lambda: binary(wide=True),
        run=partial(by_tree, "strided"),
        launches=partial(of_tree, "strided"),
        requires=(POWERS_OF_TWO, PAIRS, WIDE),
        note="the naive order: with step h a warp's words are 2h apart, in w/2h banks and 2h "
        "groups. It takes log w times the stages of SUM-tree",
    )
    yield Claim(
        id="SUM-tree",
        source=DERIVED,
        title="sum by a tree of halves, DMM and UMM",
        formula=lambda n, p, w, l: 3 * (n / w - 1 + log2(w) + (n / p - 1 + log2(p)) * (l - 1)),
        kind="exact",
        grid=binary,
        run=partial(by_tree, "tree"),
        launches=partial(of_tree, "tree"),
        requires=(POWERS_OF_TWO, PAIRS),
        note="two reads and a write of h words for h = n/2, n/4, ..., 1, in h/p steps or in one",
    )
    yield Claim(
        id="SUM-tree.O",
        source=PAPER,
        title="sum by a tree of halves, DMM and UMM, any width",
        formula=lambda n, p, w, l: n / w + n * l / p + l * log2(n),
        kind="upper",
        constant=6,
        grid=any_width,
        run=partial(by_tree, "tree"),
        requires=(BINARY, PAIRS),
        note="three accesses; where w is not a power of two, a warp's words may lie in two groups",
    )
    yield Claim(
        id="SUM-columns",
        source=DERIVED,
        title="sum by columns, then a tree of the p sums, DMM and UMM",
        formula=lambda n, p, w, l: (
            (n / p + 1) * (p / w + l - 1) + 2 * (p / w - 1 + log2(w) + log2(p) * (l - 1))
        ),
        kind="exact",
        grid=lambda: binary(pairs=False),
        run=by_columns,
        launches=of_columns,
        requires=(POWERS_OF_TWO, THREADS),
        note="a thread keeps its sum in a register, so that a step of the tree reads and writes "
        "one word",
    )
    yield Claim(
        id="SUM-columns.O",
        source=PAPER,
        title="sum by columns, DMM and UMM, any n, p and w",
        formula=lambda n, p, w, l: n / w + n * l / p + l * ceiling(log2(n)),
        kind="upper",
        constant=5,
        grid=any_shares,
        run=by_columns,
        requires=(ENOUGH_THREADS, WHOLE_SHARES),
        note="a row or a level of the tree ends with one warp that is not full, at most, and a "
        "warp's words lie in two groups at most, in one at the first row and at all writes: less "
        "than (2n + 3p)/w + 2n/p + 3 log p stages, besides n/p + 1 + 2 log p latencies less 1. "
        "With p = n and l = 1 the ratio tends to 5",
    )
    yield Claim(
        id="SUM-LB",
        source=PAPER,
        title="lower bound for a sum, DMM and UMM",
        formula=lambda n, p, w, l: maximum(n / w + l - 1, n * l / p, l * log2(n)),
        kind="lower",
        grid=lambda: (
            {"program": program, **case}
            for program, case in product(("tree", "columns"), any_width())
        ),
        run=any_program,
        requires=(BINARY, PAIRS),
        note="the third part: after k accesses a thread depends on f(k) <= f(k-1) + f(k-2) words "
        "at most, so f(k) <= 2^k, and each access takes l at least. It holds without exchange "
        "within a warp, which is free",
    )
    yield Claim(
        id="SUM-async",
        source=DERIVED,
        title="sum with few barriers, wl threads, DMM and UMM",
        formula=lambda n, w, l: (
            (n / (w * l) + 1 + 2 * log2(w)) * (2 * l - 1)
            + (w + 2 + 2 * log2(w)) * (l - 1) / (w - 1)
            + (3 + 2 * log2(w)) * (l - 1) * log2(l) / log2(w)
        ),
        kind="exact",
        grid=lambda: by_latency(True),
        run=by_warps,
        launches=of_warps,
        requires=(
            BINARY_WIDTH,
            TWO_LANES,
            COLUMNS,
            Precondition("l is a power of w", lambda w, l: is_power(l, w)),
        ),
        note="in lock step; the asynchronous run takes no longer",
    )
    yield Claim(
        id="SUM-async.O",
        source=ASYNCHRONOUS,
        title="sum with few barriers, wl threads, DMM and UMM, any l",
        formula=lambda n, w, l: n / w + l * ceiling(log2(n)),
        kind="upper",
        constant=6,
        grid=lambda: by_latency(False),
        run=by_warps,
        requires=(BINARY_WIDTH, TWO_LANES, COLUMNS),
        note="with w = 2: at most 2n/w + 12l + 5l ceil(log l), where l ceil(log n) is l + l "
        "ceil(log l) or more. With n = 2l it needs 5.43, for l = 30",
    )
    yield Claim(
        id="SUM-async.barriers",
        source=DERIVED,
        title="barriers of the sum with few barriers, asynchronous",
        formula=lambda w, l: ceiling(log2(l) / log2(w)),
        kind="exact",
        grid=lambda: (case for case in for_barriers() if case["l"] > 1),
        run=traced,
        launches=of_warps,
        measure=barriers,
        quantity="B",
        requires=(BINARY_WIDTH, TWO_LANES, COLUMNS, Precondition("l > 1", lambda l: l > 1)),
        note="each warp turns w sums into one before the next barrier: l sums are left before the "
        "first, 1 after the last",
    )
    yield Claim(
        id="SUM-async.barriers.O",
        source=ASYNCHRONOUS,
        title="barriers of the sum with few barriers, asynchronous",
        formula=few,
        kind="upper",
        grid=lambda: meeting(FEW, for_barriers()),
        run=traced,
        measure=barriers,
        quantity="B",
        requires=(BINARY_WIDTH, TWO_LANES, COLUMNS, *FEW),
        note="the bound of the abstract, a quotient of logarithms, as cited, with c = 1. "
        "SUM-async.barriers rounds the quotient up, and log log w is 1 or more from w = 4 on. For "
        "w = 2 they are equal",
    )
    yield Claim(
        id="SUM-columns.barriers",
        source=DERIVED,
        title="barriers of the sum by columns, asynchronous",
        formula=lambda p: ceiling(log2(p)),
        kind="exact",
        grid=lambda: (
            {"on": on, "n": 2 * p, "p": p, "w": w, "l": l}
            for on, w, l in product(BOTH, (2, 4, 8), (1, 5))
            for p in sorted({w, 2 * w, 3 * w, 8 * w, 64})
        ),
        run=traced_columns,
        launches=of_columns,
        measure=barriers,
        quantity="B",
        requires=(Precondition("p >= 2", lambda p: p >= 2), ENOUGH_THREADS, WHOLE_SHARES),
        note="one for each step of the tree",
    )


CLAIMS = list(_claims())
