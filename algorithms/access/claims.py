"""Claims of SMM section 3 about contiguous access, stride access and copy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any

import numpy as np

import mmsim as mm
from mmsim.claims import Case, Claim, ClaimError, Growth, Precondition, correct, gcd, minimum
from mmsim.claims.launch import SymbolicLaunch
from mmsim_algorithms.access.programs import PROGRAMS, copy
from mmsim_algorithms.grids import (
    ENOUGH_THREADS,
    FULL_WARPS,
    WHOLE_SHARES,
    machine,
    once,
    widths_and_latencies,
)

SECTION = 3
A_ROUND = "SMM, section 3: n/w for p/w in a round"
"""The name of a misprint in three places."""
SEEN = 256  # words up to which a claim looks at every single access


def read_all(schedule: mm.Schedule, access: str, on: str, n: int, p: int, w: int, l: int) -> mm.Run:
    """Access n words in the named way; on small inputs, see that each is accessed once."""
    small = n <= SEEN
    run = machine(on, w, l).run(
        PROGRAMS[access], np.zeros(n), threads=p, schedule=schedule, trace=small
    )
    if small:
        seen = sorted(element for one in run.trace.dispatches for element in one.elements)
        if seen != list(range(n)):
            raise ClaimError(f"the {access} access of {n} words with {p} threads misses some")
    return run


def copy_all(schedule: mm.Schedule, on: str, n: int, p: int, w: int, l: int) -> mm.Run:
    """Copy n words, checked."""
    a = np.arange(n)
    run = machine(on, w, l).run(copy, a, np.zeros_like(a), threads=p, schedule=schedule)
    return correct(run, a=a, b=a)


def reading(access: str, on: str, n: Any, p: Any, w: Any, l: Any) -> list[SymbolicLaunch]:
    """The launch of `read_all`."""
    return [SymbolicLaunch(PROGRAMS[access], {"m": (n,)}, threads=p, machine=machine(on, w, l))]


def copying(on: str, n: Any, p: Any, w: Any, l: Any) -> list[SymbolicLaunch]:
    """The launch of `copy_all`."""
    return [SymbolicLaunch(copy, {"a": (n,), "b": (n,)}, threads=p, machine=machine(on, w, l))]


def full_warps(machines: tuple[str, ...], **more: str) -> Iterator[Case]:
    """w divides p, p divides n; n/p prime to w, dividing it, equal to it and a multiple of it."""
    for (w, l), name, warps in product(widths_and_latencies(), machines, (1, 2, 5)):
        for steps in sorted({1, 2, 3, w, w + 1, 2 * w}):
            p = warps * w
            yield {**more, "on": name, "n": steps * p, "p": p, "w": w, "l": l}


def narrow(cases: Iterable[Case]) -> Iterator[Case]:
    """The cases of small width: enough to refute a misprint."""
    return (case for case in cases if case["w"] <= 5)


def any_threads(machines: tuple[str, ...], **more: str) -> Iterator[Case]:
    """p >= w that w needn't divide, so that the last warp is partly filled."""
    for (w, l), name in product(widths_and_latencies(), machines):
        for p, steps in product((w, w + 1, 2 * w - 1, 3 * w + 2), (1, 3, w, 2 * w + 1)):
            yield {**more, "on": name, "n": steps * p, "p": p, "w": w, "l": l}


BOTH = ("DMM", "UMM")
EXACT = (FULL_WARPS, WHOLE_SHARES)
ORDER = (ENOUGH_THREADS, WHOLE_SHARES)
PER_ROUND = "a round of p threads has p/w warps where the paper has n/w; its O() is right"


def _claims() -> Iterator[Claim]:
    yield Claim(
        id="SMM-T3.1a",
        source="SMM, Theorem 3.1",
        title="contiguous access, DMM and UMM",
        formula=lambda n, p, w, l: (p / w + l - 1) * n / p,
        kind="exact",
        grid=lambda: full_warps(BOTH, access="contiguous"),
        run=read_all,
        launches=reading,
        requires=EXACT,
    )
    yield Claim(
        id="SMM-T3.1a.printed",
        source="SMM, section 3",
        title="contiguous access, DMM, as printed",
        formula=lambda n, p, w, l: (n / w + l - 1) * n / p,
        kind="exact",
        grid=lambda: narrow(full_warps(("DMM",), access="contiguous")),
        run=read_all,
        requires=EXACT,
        printed=True,
        misprint=A_ROUND,
        scan=True,
        note=f"'takes (n/w + l - 1) n/p', above Theorem 3.1: {PER_ROUND}. With n = 16, "
        "p = w = 4, l = 5 it takes 20 time units, not 32",
    )
    yield Claim(
        id="SMM-T3.1a.O",
        source="SMM, Table 1",
        title="contiguous access, any p >= w",
        formula=lambda n, p, w, l: n / w + n * l / p,
        kind="upper",
        constant=2,
        grid=lambda: once(any_threads(BOTH, access="contiguous")),
        run=read_all,
        requires=ORDER,
    )
    yield Claim(
        id="SMM-T3.1b",
        source="SMM, Theorem 3.1",
        title="stride access, DMM",
        formula=lambda n, p, w, l: (gcd(n / p, w) * p / w + l - 1) * n / p,
        kind="exact",
        grid=lambda: full_warps(("DMM",), access="stride"),
        run=read_all,
        launches=reading,
        requires=EXACT,
    )
    yield Claim(
        id="SMM-T3.1b.printed",
        source="SMM, section 3",
        title="stride access, DMM, as printed",
        formula=lambda n, p, w, l: (gcd(n / p, w) * n / w + l - 1) * n / p,
        kind="exact",
        grid=lambda: narrow(full_warps(("DMM",), access="stride")),
        run=read_all,
        requires=EXACT,
        printed=True,
        misprint=A_ROUND,
        scan=True,
        note=f"'takes (G n/w + l - 1) n/p', above Theorem 3.1: {PER_ROUND}. With n = 16, "
        "p = w = 4, l = 5 it takes 32 time units, not 80",
    )
    yield Claim(
        id="SMM-T3.1b.O",
        source="SMM, Table 1",
        title="stride access, DMM, any p >= w",
        formula=lambda n, p, w, l: n / w * gcd(n / p, w) + n * l / p,
        kind="upper",
        grid=lambda: once(any_threads(("DMM",), access="stride")),
        run=read_all,
        requires=ORDER,
    )
    yield Claim(
        id="SMM-T3.1c",
        source="SMM, Theorem 3.1",
        title="stride access, UMM",
        formula=lambda n, p, w, l: (minimum(n / p, w) * p / w + l - 1) * n / p,
        kind="exact",
        grid=lambda: full_warps(("UMM",), access="stride"),
        run=read_all,
        launches=reading,
        requires=EXACT,
    )
    yield Claim(
        id="SMM-T3.1c.printed",
        source="SMM, section 3",
        title="stride access, UMM, as printed for n/p >= w",
        formula=lambda n, p, w, l: (w * n / w + l - 1) * n / p,
        kind="exact",
        grid=lambda: (
            case
            for case in full_warps(("UMM",), access="stride")
            if case["n"] >= case["p"] * case["w"]
        ),
        run=read_all,
        requires=(*EXACT, Precondition("p w <= n", lambda n, p, w: p * w <= n)),
        printed=True,
        misprint=A_ROUND,
        scan=True,
        note=f"'takes (w n/w + l - 1) n/p', above Theorem 3.1: {PER_ROUND}. With n = 16, "
        "p = w = 4, l = 5 it takes 32 time units, not 80",
    )
    yield Claim(
        id="SMM-T3.1c.O",
        source="SMM, Table 1",
        title="stride access, UMM, any p >= w",
        formula=lambda n, p, w, l: minimum(n, n**2 / (p * w)) + n * l / p,
        kind="upper",
        grid=lambda: once(any_threads(("UMM",), access="stride")),
        run=read_all,
        requires=ORDER,
    )
    yield Claim(
        id="SMM-T3.1c.O.printed",
        source="SMM, section 1.4",
        title="stride access, UMM, as printed in section 1.4: all within the minimum",
        formula=lambda n, p, w, l: minimum(n, n / w * n / p + n * l / p),
        kind="upper",
        grid=lambda: [
            {"access": "stride", "on": "UMM", "n": 64, "p": 4, "w": 4, "l": l}
            for l in (5, 10, 20, 40, 80)
        ],
        run=read_all,
        requires=ORDER,
        printed=True,
        scan=True,
        growth=Growth("l", lambda n, p, w, l: (p + l - 1) / p),
        note="section 1.4 has nl/p inside the minimum, Table 1 outside; with it inside, the time "
        "would be O(n) whatever the latency is, against Theorem 4.1's nl/p. With n = 64, "
        "p = w = 4 it is 16(l + 3), 1328 for l = 80 where the formula gives 64",
    )
    yield Claim(
        id="SMM-C3.2",
        source="SMM, Corollary 3.2",
        title="copy, DMM and UMM",
        formula=lambda n, p, w, l: 2 * (p / w + l - 1) * n / p,
        kind="exact",
        grid=lambda: full_warps(BOTH),
        run=copy_all,
        launches=copying,
        requires=EXACT,
    )
    yield Claim(
        id="SMM-C3.2.O",
        source="SMM, Corollary 3.2",
        title="copy, any p >= w",
        formula=lambda n, p, w, l: n / w + n * l / p,
        kind="upper",
        constant=4,
        grid=lambda: once(any_threads(BOTH)),
        run=copy_all,
        requires=ORDER,
    )


CLAIMS = list(_claims())
