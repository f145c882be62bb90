"""Claims about prefix sums on the DMM and the UMM."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np

import mmsim as mm
from mmsim.claims import Case, Claim, ClaimError, Precondition, ceiling, log2, maximum
from mmsim.claims.launch import SymbolicLaunch
from mmsim_algorithms.grids import (
    BINARY,
    BINARY_WIDTHS,
    BOTH,
    FULL_WARPS,
    PAIRS,
    POWERS_OF_TWO,
    THREADS,
    TWO_LANES,
    TWO_WORDS,
    WHOLE_SHARES,
    exact,
    machine,
    meeting,
    powers,
)
from mmsim_algorithms.prefix_sums.programs import (
    by_doubling,
    by_few_barriers,
    by_registers,
    by_tree,
    doubling,
    few_barriers,
    in_registers,
    tree,
)
from mmsim_algorithms.sums.cases import barriers, for_barriers
from mmsim_algorithms.sums.claims import ASYNCHRONOUS, FEW, few

SECTION = 1
PAPER = "SCAN, ICA3PP 2012 and IEICE E96-D 2013"
DERIVED = "SCAN, derived here"
FEW_PAPER = ASYNCHRONOUS.replace("SUM", "SCAN")
WAYS: dict[str, Callable[..., tuple[mm.Run, Any]]] = {
    "doubling": by_doubling,
    "tree": by_tree,
    "few barriers": by_few_barriers,
    "registers": by_registers,
}
FULL = Precondition("p = wl", lambda p, w, l: p == w * l)
EARLIER = Precondition("k = ceiling((p/w - 1)/w)", lambda p, w, k: k == -(-(p // w - 1) // w))
"""The most sums of w earlier warps that a warp adds."""


def prefix_sums(
    way: str,
    schedule: mm.Schedule,
    on: str,
    n: int,
    p: int,
    w: int,
    l: int,
    k: int = 0,
    **more: Any,
) -> mm.Run:
    """Prefix sums of n numbers by one of `WAYS`, checked."""
    a = (np.arange(n) * 7919 + 13) % 1009
    run, sums = WAYS[way](machine(on, w, l), a, p, schedule=schedule, **more)
    if not np.array_equal(sums, np.cumsum(a)):
        raise ClaimError(f"{run.program} on {run.machine} left wrong prefix sums")
    return run


def launches(way: str, on: str, n: Any, p: Any, w: Any, l: Any) -> list[SymbolicLaunch]:
    """The launch of `prefix_sums`; `most` <= w is a power of two, as w is."""
    program, arguments = {
        "doubling": (doubling, {"a": (n,), "b": (n,)}),
        "tree": (tree, {"s": (2 * n,)}),
        "few barriers": (few_barriers, {"s": (2 * n,), "w": w, "most": w}),
        "registers": (
            in_registers,
            {"a": (n,), "b": (n,), "sums": (exact(p) / w,), "w": w},
        ),
    }[way]
    return [SymbolicLaunch(program, arguments, threads=p, machine=machine(on, w, l))]


def either(schedule: mm.Schedule, way: str, **case: Any) -> mm.Run:
    """Prefix sums by the way that the case names."""
    return prefix_sums(way, schedule, **case)


def traced(schedule: mm.Schedule, **case: Any) -> mm.Run:
    """With few barriers on the schedule that they are for, the asynchronous one, traced."""
    return prefix_sums("few barriers", "asynchronous", trace=True, **case)


def warps() -> Iterator[Case]:
    """Powers of two: 1 to 64 warps with 1 to 16 numbers to a thread."""
    for on, w, l in product(BOTH, BINARY_WIDTHS, (1, 5, 30)):
        for p, share in product(powers(w, min(64 * w, 1024), 2), (1, 2, 16)):
            if share * p <= 4096:
                yield {"on": on, "n": share * p, "p": p, "w": w, "l": l}


def hidden() -> Iterator[Case]:
    """p = wl threads, l a power of two."""
    for on, w, l in product(BOTH, BINARY_WIDTHS, (1, 2, 8, 32)):
        for share in (1, 8, 64):
            if share * w * l <= 16384:
                yield {"on": on, "n": share * w * l, "p": w * l, "w": w, "l": l}


def waiting() -> Iterator[Case]:
    """n = p = wl for each width and latency, for runs that are traced."""
    for case in for_barriers():
        if case["l"] in powers(1, case["l"]):
            yield {**case, "p": case["n"]}


def cases(*on: str, pairs: bool) -> Iterator[Case]:
    """Powers of two: n up to 2048, p up to a thread for each pair (or each number)."""
    for name, w, l in product(on, BINARY_WIDTHS, (1, 5, 30)):
        for n in powers(2 * w, 2048, 4):
            most = n // 2 if pairs else n
            for p in sorted({max(w, n // 16), most}):
                yield {"on": name, "n": n, "p": p, "w": w, "l": l}


def any_width(factor: int = 2) -> Iterator[Case]:
    """n and p powers of two, any width up to p; n grows by the factor."""
    for on, w, l in product(BOTH, (3, 5, 12, 32), (1, 30)):
        for n in powers(64, 4096, factor):
            for p in sorted({max(32, n // 16), n // 2}):
                yield {"on": on, "n": n, "p": p, "w": w, "l": l}


def rows() -> Iterator[Case]:
    """1 to 40 warps of threads with 1 or 8 words each."""
    for on, w, l in product(BOTH, (1, 2, 3, 8, 32), (1, 30)):
        for warps, r in product((1, 2, 9, 40), (1, 8)):
            p = warps * w
            if r * p <= 4096:
                yield {"on": on, "n": r * p, "p": p, "w": w, "l": l, "k": -(-(warps - 1) // w)}


def _claims() -> Iterator[Claim]:
    for on in BOTH:
        second = log2 if on == "UMM" else lambda w: 0
        yield Claim(
            id=f"SCAN-doubling.{on}",
            source=DERIVED,
            title=f"simple prefix sums, {on}",
            formula=_doubling(second),
            kind="exact",
            grid=partial(cases, on, pairs=False),
            run=partial(prefix_sums, "doubling"),
            launches=partial(launches, "doubling"),
            requires=(TWO_WORDS, POWERS_OF_TWO, THREADS),
            note="n words are read and written at each of log n steps, and those that have one h "
            "words before them read it: 3 log n - 1 times n words"
            + (
                "; for h < w the words of each warp but the first lie in two groups"
                if on == "UMM"
                else ""
            ),
        )
    yield Claim(
        id="SCAN-doubling.O",
        source=PAPER,
        title="simple prefix sums, DMM and UMM, any width",
        formula=lambda n, p, w, l: n * log2(n) / w + n * l * log2(n) / p + l * log2(n),
        kind="upper",
        constant=6,
        grid=any_width,
        run=partial(prefix_sums, "doubling"),
        requires=(TWO_WORDS, BINARY, THREADS),
        note="three accesses; where w is not a power of two, a warp's words may lie in two groups",
    )
    yield Claim(
        id="SCAN-tree",
        source=DERIVED,
        title="optimal prefix sums, DMM and UMM",
        formula=lambda n, p, w, l: (
            12 * (n / w - 1) + 7 * (log2(w) + (n / p - 1 + log2(p)) * (l - 1))
        ),
        kind="exact",
        grid=lambda: cases(*BOTH, pairs=True),
        run=partial(prefix_sums, "tree"),
        launches=partial(launches, "tree"),
        requires=(POWERS_OF_TWO, TWO_LANES, PAIRS),
        note="at a level of k nodes seven accesses, five of them to every other word, which has "
        "two stages for a warp: 2 * 1 + 5 * 2 = 12 for n/w - 1 warps in all",
    )
    yield Claim(
        id="SCAN-tree.O",
        source=PAPER,
        title="optimal prefix sums, DMM and UMM, any width",
        formula=lambda n, p, w, l: n / w + n * l / p + l * log2(n),
        kind="upper",
        constant=19,
        grid=any_width,
        run=partial(prefix_sums, "tree"),
        requires=(BINARY, PAIRS),
        note="a warp has 12 stages in seven accesses, and 2 * 2 + 5 * 3 at most where w is not a "
        "power of two; a round of q threads has at most q/w + 1 warps",
    )
    yield Claim(
        id="SCAN-registers",
        source=DERIVED,
        title="prefix sums of rows by exchange within warps, DMM and UMM",
        formula=lambda n, p, w, l, k: (
            2 * n / w + (1 + k) * p / w - k - w * k * (k - 1) / 2 + (2 * n / p + 1 + k) * (l - 1)
        ),
        kind="exact",
        grid=rows,
        run=partial(prefix_sums, "registers"),
        launches=partial(launches, "registers"),
        requires=(FULL_WARPS, WHOLE_SHARES, EARLIER),
        note="n words are read and written; p/w sums of warps are written, and read by k rounds of "
        "all warps that have more than w, 2w, ... before them",
    )
    yield Claim(
        id="SCAN-LB",
        source=f"{PAPER}, raised here",
        title="lower bound for prefix sums without exchange within a warp, DMM and UMM",
        formula=lambda n, p, w, l: maximum(
            2 * n / w + l - 1, n / w + 2 * l - 1, 2 * n * l / p, l * (log2(n) + 2)
        ),
        kind="lower",
        grid=lambda: (
            {"way": way, **case} for way, case in product(("doubling", "tree"), any_width(8))
        ),
        run=either,
        requires=(BINARY, PAIRS),
        note="n words are read and n written; the last sum is written after all words are read. "
        "After k reads in sequence a thread depends on 2^(k-1) words at most. The first "
        "part can't be raised: SCAN-LB.exchange",
    )
    yield Claim(
        id="SCAN-LB.exchange",
        source=DERIVED,
        title="lower bound for prefix sums, also with exchange within a warp, DMM and UMM",
        formula=lambda n, p, w, l: maximum(2 * n / w + l - 1, n / w + 2 * l - 1, 2 * n * l / p),
        kind="lower",
        grid=lambda: ({"way": "registers", **case} for case in rows()),
        run=either,
        requires=(FULL_WARPS, WHOLE_SHARES),
        note="the first three parts of SCAN-LB",
    )
    yield Claim(
        id="SCAN-async",
        source=DERIVED,
        title="prefix sums with few barriers, DMM and UMM",
        formula=_few_barriers,
        kind="exact",
        grid=warps,
        run=partial(prefix_sums, "few barriers"),
        launches=partial(launches, "few barriers"),
        requires=(POWERS_OF_TWO, TWO_LANES, THREADS),
        note="the rounds of SCAN-tree. Each of p/w warps has log w levels of fewer than w nodes, "
        "so there are more stages. In lock step; the asynchronous run takes no longer",
    )
    yield Claim(
        id="SCAN-async.O",
        source=FEW_PAPER,
        title="prefix sums with few barriers, wl threads, DMM and UMM",
        formula=lambda n, w, l: n / w + l * log2(n),
        kind="upper",
        constant=19,
        grid=hidden,
        run=partial(prefix_sums, "few barriers"),
        requires=(POWERS_OF_TWO, TWO_LANES, THREADS, FULL),
        note="12 stages for each w words and 7 rounds for each p words, in which p/w = l",
    )
    yield Claim(
        id="SCAN-async.barriers",
        source=DERIVED,
        title="barriers of the prefix sums with few barriers, asynchronous",
        formula=lambda p, w: 2 * ceiling(log2(p / w) / log2(w)),
        kind="exact",
        grid=lambda: (case for case in waiting() if case["p"] > case["w"]),
        run=traced,
        launches=partial(launches, "few barriers"),
        measure=barriers,
        quantity="B",
        requires=(POWERS_OF_TWO, TWO_LANES, Precondition("w < p <= n", lambda n, p, w: w < p <= n)),
        note="one on the way up and one on the way down for each level of subtrees with w leaves",
    )
    yield Claim(
        id="SCAN-async.barriers.O",
        source=FEW_PAPER,
        title="barriers of the prefix sums with few barriers, wl threads, asynchronous",
        formula=few,
        kind="upper",
        constant=2,
        grid=lambda: meeting(FEW, waiting()),
        run=traced,
        measure=barriers,
        quantity="B",
        requires=(POWERS_OF_TWO, TWO_LANES, THREADS, FULL, *FEW),
        note="the bound of the abstract as cited, for the way up and the way down; for w = 2 they "
        "are equal",
    )


def _few_barriers(n: Any, p: Any, w: Any, l: Any) -> Any:
    """`top` are the leaves of the topmost subtree, if there is one."""
    warps = p / w
    top = warps / w ** (ceiling(log2(warps) / log2(w)) - 1)
    return (
        12 * warps * (n / p - 1)
        + 7 * warps * log2(w)
        + 7 * (log2(w) * (warps - top) / (w - 1) + log2(top))
        + 7 * (n / p - 1 + log2(p)) * (l - 1)
    )


def _doubling(second: Callable[[Any], Any]) -> Callable[..., Any]:
    """`second` counts the steps in which all warps but one access a second group."""
    return lambda n, p, w, l: (
        (3 * log2(n) - 1) * (n / w + (l - 1) * n / p) + l + (n / w - 1) * second(w)
    )


CLAIMS = list(_claims())
