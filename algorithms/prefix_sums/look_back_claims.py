"""Claims about prefix sums on the HMM: one launch with look-back, and three launches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import count, product
from typing import Any

import numpy as np

import mmsim as mm
from mmsim.claims import Case, Claim, Precondition, ceiling, correct, maximum
from mmsim.claims.launch import SymbolicLaunch
from mmsim_algorithms.grids import exact
from mmsim_algorithms.prefix_sums.look_back import (
    WAYS,
    added,
    look_back,
    scanned,
    sums_before,
    tile_scans,
    tile_sums,
)

SECTION = 1
PAPER = "SCAN, Merrill and Garland 2016"
DERIVED = "SCAN, derived here"

TILES = Precondition("rw divides n", lambda n, w, r: n % (r * w) == 0)
MASKS = Precondition("w <= 64", lambda w: w <= 64)
IN_TURN = Precondition("d = 1, or n/(rw) <= L", lambda n, w, r, d, L: d == 1 or n <= r * w * L)
"""So that all warps take turns, whatever DMM they are on."""
LOOKS = Precondition(
    "k is the least number with n/(rw) - 1 <= wk(k+1)/2",
    lambda n, w, r, k: k == look_backs(n, w, r),
)
"""In lock step the last block looks back k times."""
REQUIRES = (TILES, MASKS, IN_TURN, LOOKS)


def look_backs(n: int, w: int, r: int) -> int:
    """The least k with n/(rw) - 1 <= wk(k+1)/2."""
    return next(k for k in count() if n // (r * w) - 1 <= w * k * (k + 1) // 2)


def scan(way: str, schedule: mm.Schedule, n: int, w: int, r: int, L: int, d: int, k: int) -> mm.Run:
    """Prefix sums of n numbers by one of `WAYS`, checked."""
    a = (np.arange(n) * 7919 + 13) % 1009 - 300
    run = WAYS[way](mm.HMM(d, w, L), a, r, schedule=schedule)
    return correct(run, b=np.cumsum(a))


def launches(way: str, n: Any, w: Any, r: Any, L: Any, d: Any) -> list[SymbolicLaunch]:
    """The launches of `scan`."""
    hmm, sums, threads = mm.HMM(d, w, L), (exact(n) / (r * w),), exact(n) / r
    programs: dict[str, Any] = {
        "look-back": ((look_back, {"a": (n,), "b": (n,), "state": sums}),),
        "reduce-then-scan": (
            (tile_sums, {"a": (n,), "sums": sums}),
            (scanned, {"a": (n,), "b": (n,), "sums": sums}),
        ),
        "scan-then-add": (
            (tile_scans, {"a": (n,), "b": (n,), "sums": sums}),
            (added, {"b": (n,), "sums": sums}),
        ),
    }
    of_tiles = [
        SymbolicLaunch(program, {**arrays, "r": r}, threads, hmm, block_size=w)
        for program, arrays in programs[way]
    ]
    return [
        of_tiles[0],
        *(SymbolicLaunch(sums_before, {"sums": sums}, w, hmm, block_size=w) for _ in of_tiles[1:]),
        *of_tiles[1:],
    ]


def any_way(schedule: mm.Schedule, way: str, **case: Any) -> mm.Run:
    """Prefix sums by the way that the case names."""
    return scan(way, schedule, **case)


def requests(run: mm.Run) -> int:
    """Requests of warps to the global memory, each for up to w words."""
    return sum(row.requests for row in run.accesses)


def cases() -> Iterator[Case]:
    """1 to 60 tiles of 1 to 8 rows, on one DMM or on several."""
    for w, r, B in product((1, 2, 3, 8, 32), (1, 8), (1, 2, 5, 28, 60)):
        for d, L in ((1, 1), (1, 20), (3, 60)):
            if r * B * w <= 4096:
                n = r * B * w
                yield {"n": n, "w": w, "r": r, "L": L, "d": d, "k": look_backs(n, w, r)}


def few(way: str) -> Iterator[Case]:
    """The cases with a short latency and with a long one."""
    for case in cases():
        if case["L"] in (1, 60):
            yield {"way": way, **case}


def looks(n: Any, w: Any, r: Any, k: Any) -> Any:
    """All looks of B = n/(rw) blocks, in lock step, if the last one looks k times.

    Block b looks t times or more if b > wt(t-1)/2. So this is the sum of B - 1 - wt(t-1)/2 over t.
    """
    return k * (n / (r * w) - 1) - w * (k - 1) * k * (k + 1) / 6


def _three(reads_and_writes: int) -> Callable[..., Any]:
    def time(n: Any, w: Any, r: Any, L: Any) -> Any:
        B = n / (r * w)
        rounds = reads_and_writes * r + 2
        return reads_and_writes * n / w + 2 * B + rounds * (L - 1) + 2 * L * ceiling(B / w)

    return time


TIMES: dict[str, Callable[..., Any]] = {
    "look-back": lambda n, w, r, L, k: (
        2 * n / w + 2 * n / (r * w) - 1 + looks(n, w, r, k) + (2 * r + 1 + 2 * k) * (L - 1)
    ),
    "reduce-then-scan": _three(3),
    "scan-then-add": _three(4),
}
REQUESTS: dict[str, Callable[..., Any]] = {
    "look-back": lambda n, w, r, k: 2 * n / w + 2 * n / (r * w) - 1 + looks(n, w, r, k),
    "reduce-then-scan": lambda n, w, r: 3 * n / w + 2 * n / (r * w) + 2 * ceiling(n / (r * w**2)),
    "scan-then-add": lambda n, w, r: 4 * n / w + 2 * n / (r * w) + 2 * ceiling(n / (r * w**2)),
}
NOTES = {
    "look-back": "of B = n/(rw) blocks, block b looks t times if wt(t-1)/2 < b <= wt(t+1)/2: when "
    "it looks for the t-th time, the nearest blocks that know their prefix have looked t - 1 times",
    "reduce-then-scan": "3r + 2 rounds of all n/(rw) blocks, and two for each w sums in between",
    "scan-then-add": "4r + 2 rounds of all n/(rw) blocks, and two for each w sums in between",
}


def _claims() -> Iterator[Claim]:
    for way in WAYS:
        yield Claim(
            id=f"SCAN-{way}.requests",
            source=PAPER,
            title=f"{way}: requests for up to w words of the global memory",
            formula=REQUESTS[way],
            kind="exact",
            grid=cases,
            run=partial(scan, way),
            launches=partial(launches, way),
            measure=requests,
            quantity="R",
            requires=REQUIRES,
            note={"look-back": "2n", "reduce-then-scan": "3n", "scan-then-add": "4n"}[way]
            + " words as cited; the terms with r, of sums and looks back, are derived here",
        )
        yield Claim(
            id=f"SCAN-{way}",
            source=DERIVED,
            title=f"prefix sums of n numbers on the HMM, {way}",
            formula=TIMES[way],
            kind="exact",
            grid=cases,
            run=partial(scan, way),
            launches=partial(launches, way),
            requires=REQUIRES,
            note=NOTES[way],
        )
    yield Claim(
        id="SCAN-HMM.LB",
        source=DERIVED,
        title="lower bound for prefix sums on the HMM",
        formula=lambda n, w, L: maximum(2 * n / w + L - 1, n / w + 2 * L - 1),
        kind="lower",
        grid=lambda: (case for way in WAYS for case in few(way)),
        run=any_way,
        requires=REQUIRES,
        note="n words are read and n written, the last one after all have been read",
    )


CLAIMS = list(_claims())
