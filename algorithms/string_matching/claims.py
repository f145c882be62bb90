"""Claims about approximate string matching."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np

import mmsim as mm
from mmsim.claims import Case, Claim, Precondition, ceiling, correct, maximum
from mmsim.claims.launch import SymbolicLaunch
from mmsim_algorithms.grids import BOTH, exact, machine, powers
from mmsim_algorithms.string_matching.programs import (
    edits,
    in_one_memory,
    in_shared_memory,
    strings,
)

SECTION = 1
PAPER = "ASM, MCSoC 2013"
DERIVED = "ASM, derived here"

ROWS = Precondition("w >= 2 divides m", lambda m, w: m % w == 0 < w - 1)
PARTS = Precondition("m divides p, and p divides n", lambda n, m, p: p % m == n % p == 0)
SHARES = Precondition("dm divides p", lambda m, p, d: p % (d * m) == 0)
SHORT = Precondition("d^2 <= n", lambda n, d: d * d <= n)


def matched(schedule: mm.Schedule, on: str, n: int, m: int, p: int, w: int, l: int) -> mm.Run:
    """The matching on a DMM or a UMM, checked."""
    x, y = strings(m, n)
    run = machine(on, w, l).run(
        *(in_one_memory, x, y, np.zeros((2, p), int), np.zeros(n, int)),
        threads=p,
        schedule=schedule,
    )
    return correct(run, e=edits(x, y[2 * m :]))


def on_hmm(schedule: mm.Schedule, n: int, m: int, p: int, w: int, d: int, L: int, l: int) -> mm.Run:
    """The matching on an HMM, a block for each DMM, checked."""
    x, y = strings(m, n)
    run = mm.HMM(d, w, L, l).run(
        in_shared_memory, x, y, np.zeros(n, int), threads=p, block_size=p // d, schedule=schedule
    )
    return correct(run, e=edits(x, y[2 * m :]))


def in_global_memory(
    schedule: mm.Schedule, n: int, m: int, p: int, w: int, d: int, L: int, l: int
) -> mm.Run:
    """The matching on an HMM, all in the global memory, checked."""
    x, y = strings(m, n)
    run = mm.HMM(d, w, L, l).run(
        *(in_one_memory, x, y, np.zeros((2, p), int), np.zeros(n, int)),
        threads=p,
        block_size=p // d,
        schedule=schedule,
    )
    return correct(run, e=edits(x, y[2 * m :]))


def of_one_memory(on: str, n: Any, m: Any, p: Any, w: Any, l: Any) -> list[SymbolicLaunch]:
    """The launch of `matched`."""
    arrays = {"x": (m,), "y": (n + 2 * m,), "v": (2, p), "e": (n,)}
    return [SymbolicLaunch(in_one_memory, arrays, p, machine(on, w, l))]


def of_blocks(n: Any, m: Any, p: Any, w: Any, d: Any, L: Any, l: Any) -> list[SymbolicLaunch]:
    """The launch of `on_hmm`."""
    arrays, hmm = {"x": (m,), "y": (n + 2 * m,), "e": (n,)}, mm.HMM(d, w, L, l)
    return [SymbolicLaunch(in_shared_memory, arrays, p, hmm, block_size=exact(p) / d)]


def flat(*on: str) -> Iterator[Case]:
    """Patterns of one to three warps, one part of the text and three."""
    for name, w, l in product(on, (2, 3, 4, 8), (1, 30)):
        for m, parts, share in product((w, 3 * w), (1, 3), (1, 4)):
            p = parts * m
            yield {"on": name, "n": p * share, "m": m, "p": p, "w": w, "l": l}


def multiprocessors() -> Iterator[Case]:
    """1 to 4 DMMs, one part of the text for each and more."""
    for w, d, (L, l) in product((2, 5), (1, 2, 4), ((100, 1), (10, 3))):
        for m, parts, share in product((w, 2 * w), (1, 2), (1, 5)):
            p = d * parts * m
            yield {"n": p * share, "m": m, "p": p, "w": w, "d": d, "L": L, "l": l}


def longer() -> Iterator[Case]:
    """Texts of 32 to 512 letters, patterns of 2 to 32."""
    for w, (d, L, l) in product((2, 4), ((1, 1, 1), (2, 50, 10))):
        for m, n in product(powers(w, 32), powers(32, 512)):
            for p in sorted({n // 4, n}):
                if d * m <= p:
                    yield {"n": n, "m": m, "p": p, "w": w, "d": d, "L": L, "l": l}


def one_column_each() -> Iterator[Case]:
    """As many threads as letters of the text, and a latency below all else."""
    for w, m, n in ((8, 16, 512), (16, 16, 256)):
        yield {"on": "UMM", "n": n, "m": m, "p": n, "w": w, "l": 1}


def slow_shared_memory() -> Iterator[Case]:
    """As many threads as letters of the text, and a shared latency above all else."""
    for m in (4, 8, 16):
        yield {"n": 64, "m": m, "p": 64, "w": 4, "d": 1, "L": 1, "l": 2000}


def filling(n: Any, m: Any, p: Any, w: Any, q: Any, l: Any) -> Any:
    """Time of the table in one memory, if q parts are filled."""
    columns = n * m / p + 2 * m
    stages = q * (3 * m / w * (columns + w - 1) - 1) + n * m / p * q
    return stages + (3 * columns + 3 * m - 4 + n * m / p) * (l - 1)


def _on_hmm(n: Any, m: Any, p: Any, w: Any, d: Any, L: Any, l: Any) -> Any:
    fetched = n / p + ceiling(2 * m * d / p)
    return (
        2 * (n + m * d) / w
        + p / w
        + (fetched + 1 + n / p) * (L - 1)
        + 2 * (n / d + m) / w
        + (fetched + n / p) * (l - 1)
        + filling(n, m, p, w, p / (d * m), l)
    )


def _claims() -> Iterator[Claim]:
    yield Claim(
        id="ASM-DMM",
        source=DERIVED,
        title="approximate string matching of m and n letters, DMM",
        formula=lambda n, m, p, w, l: p / w + l - 1 + filling(n, m, p, w, p / m, l),
        kind="exact",
        grid=partial(flat, "DMM"),
        run=matched,
        launches=of_one_memory,
        requires=(ROWS, PARTS),
        note="p/m parts of nm/p + 2m columns, m threads for each: a row's words lie in different "
        "banks",
    )
    yield Claim(
        id="ASM-flat.O",
        source=DERIVED,
        title="approximate string matching of m and n letters, DMM and UMM",
        formula=lambda n, m, p, w, l: m * n / w + m * n * l / p,
        kind="upper",
        constant=15,
        grid=lambda: (*flat(*BOTH), *one_column_each()),
        run=matched,
        requires=(ROWS, PARTS),
        note="on the UMM w adjacent words of the text, or of the step before, may lie in two "
        "groups: a part of c = nm/p + 2m columns has m/w (5c - c/w - 2) stages, and c is 3nm/p at "
        "most. With p = n and l = 1 the ratio tends to 15 as n and w grow. The latencies have less "
        "than 13 for mnl/p",
    )
    yield Claim(
        id="ASM-HMM.global",
        source=DERIVED,
        title="approximate string matching on an HMM, all in the global memory",
        formula=lambda n, m, p, w, L: m * n / w + m * n * L / p,
        kind="upper",
        constant=15,
        grid=lambda: (case for case in multiprocessors() if case["l"] == 1),
        run=in_global_memory,
        requires=(ROWS, PARTS, SHARES),
        note="the naive way: more DMMs do not help. The constant is that of ASM-flat.O on the UMM",
    )
    yield Claim(
        id="ASM-HMM",
        source=DERIVED,
        title="approximate string matching on an HMM, by parts in the shared memories",
        formula=_on_hmm,
        kind="exact",
        grid=multiprocessors,
        run=on_hmm,
        launches=of_blocks,
        requires=(ROWS, PARTS, SHARES),
    )
    yield Claim(
        id="ASM-HMM.O",
        source=PAPER,
        title="approximate string matching on an HMM, by parts in the shared memories",
        formula=lambda n, m, p, w, d, L, l: n / w + m * n / (d * w) + n * L / p + m * n * l / p,
        kind="upper",
        constant=13,
        grid=lambda: (*longer(), *slow_shared_memory()),
        run=on_hmm,
        requires=(ROWS, PARTS, SHARES, SHORT),
        note="for p = n each part of m columns is begun 2m columns early, three times the work. "
        "ASM-HMM has at most 13 for mnl/p, less than 13 for mn/(dw), 5 for n/w and 5 for nL/p. "
        "With p = n the ratio tends to 13 as l grows",
    )
    yield Claim(
        id="ASM-LB",
        source=PAPER,
        title="lower bound: pattern and text are read, n results are written",
        formula=lambda n, m, p, w, L: maximum((2 * n + m) / w + L - 1, (2 * n + m) * L / p),
        kind="lower",
        grid=lambda: (case for case in multiprocessors() if case["l"] == 1),
        run=on_hmm,
        requires=(ROWS, PARTS, SHARES),
    )


CLAIMS = list(_claims())
