"""Claims about bulk execution: t steps for each of p inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import product
from math import isqrt
from typing import Any

import numpy as np

import mmsim as mm
from mmsim.claims import (
    Case,
    Claim,
    ClaimError,
    Precondition,
    correct,
    gcd,
    maximum,
    minimum,
    root,
)
from mmsim.claims.launch import SymbolicLaunch
from mmsim_algorithms.bulk.programs import (
    ByColumns,
    chords,
    prefix_sums,
    sort,
    triangulated,
    triangulation,
)
from mmsim_algorithms.grids import BOTH, FULL_WARPS, machine

SECTION = 1
PAPER = "BULK, IPDPSW 2014"
DERIVED = "BULK, derived here"
WIDE = Precondition("w <= n, or n divides w", lambda n, w: n >= w or w % n == 0)
LAYOUTS: dict[str, mm.layout.Layout] = {"columns": ByColumns(), "rows": mm.layout.RAW()}


def steps(algorithm: str, n: int) -> int:
    """Accesses of the sequential algorithm to its input of n words."""
    if algorithm == "prefix sums":
        return 2 * n
    if algorithm == "sort":
        return 2 * n * (n - 1)
    s = isqrt(n)
    return s * (s * s - 1) // 3 - 2 * (s - 1)


def square(algorithm: str, n: int) -> bool:
    """Return whether n is a square, for a triangulation."""
    return algorithm != "triangulation" or isqrt(n) ** 2 == n


def takes(name: str, least: int) -> Callable[[str, int, int], bool]:
    """Return whether this algorithm takes n words, so many at least, and t accesses to each."""
    return lambda algorithm, n, t: algorithm != name or (n >= least and t == steps(name, n))


ACCESSES = (
    Precondition("for prefix sums, t = 2n", takes("prefix sums", 1)),
    Precondition("for sort, n >= 2 and t = 2n(n - 1)", takes("sort", 2)),
    Precondition("for triangulation, n is a square", square),
    Precondition(
        "for triangulation, s = sqrt n >= 3 and t = s(s^2 - 1)/3 - 2(s - 1)",
        takes("triangulation", 9),
    ),
)


def bulk(
    layout: str,
    schedule: mm.Schedule,
    algorithm: str,
    on: str,
    n: int,
    t: int,
    p: int,
    **units: int,
) -> mm.Run:
    """One of the algorithms on p inputs of n words in one of `LAYOUTS`, checked."""
    execute = partial(
        machine(on, **units).run, threads=p, schedule=schedule, max_accesses=2 * t + 100_000
    )
    if algorithm == "triangulation":
        s = isqrt(n)
        a = chords(p, s)
        run = execute(triangulation, mm.place(a, LAYOUTS[layout]), s)
        expected = np.array([triangulated(one.reshape(s, s)).ravel() for one in a])
    else:
        a = np.random.default_rng(n).integers(0, 1000, (p, n))
        run = execute(
            {"prefix sums": prefix_sums, "sort": sort}[algorithm], mm.place(a, LAYOUTS[layout])
        )
        expected = a.cumsum(axis=1) if algorithm == "prefix sums" else np.sort(a, axis=1)
    if len(run.rounds) != (t if schedule == "synchronous" else 0):
        raise ClaimError(f"{algorithm} of {n} words took {len(run.rounds)} rounds, not t={t}")
    return correct(run, a=expected)


def by_rows(algorithm: str, on: str, n: Any, p: Any, w: Any, l: Any) -> list[SymbolicLaunch]:
    """The launch of `bulk` in rows."""
    program = {"prefix sums": prefix_sums, "sort": sort, "triangulation": triangulation}[algorithm]
    sizes: dict[str, Any] = {"a": (p, n)}
    if program is triangulation:
        sizes["n"] = root(n)
    return [SymbolicLaunch(program, sizes, threads=p, machine=machine(on, w, l))]


def by_columns(algorithm: str, on: str, n: Any, p: Any, w: Any, l: Any) -> list[SymbolicLaunch]:
    """The launch of `bulk` in columns."""
    (launch,) = by_rows(algorithm, on, n, p, w, l)
    return [replace(launch, layouts={"a": lambda i, j: j * p + i})]


def either(schedule: mm.Schedule, layout: str, **case: Any) -> mm.Run:
    """Bulk execution in the layout that the case names."""
    return bulk(layout, schedule, **case)


def inputs(*on: str) -> Iterator[Case]:
    """Inputs of 1 to 64 words, one warp and nine warps of them."""
    algorithms = {
        "prefix sums": (1, 2, 4, 8, 12, 33),
        "sort": (2, 5),
        "triangulation": (9, 16, 64),
    }
    for name, w, (warps, l) in product(on, (2, 4, 5, 8, 32), ((1, 30), (9, 5))):
        for algorithm, sizes in algorithms.items():
            for n in sizes:
                if n >= w or w % n == 0:
                    t = steps(algorithm, n)
                    sizes_of = {"n": n, "t": t, "p": warps * w, "w": w, "l": l}
                    yield {"algorithm": algorithm, "on": name, **sizes_of}


def _claims() -> Iterator[Claim]:
    yield Claim(
        id="BULK-columns",
        source=DERIVED,
        title="bulk execution, inputs column by column, UMM and DMM",
        formula=lambda t, p, w, l: t * (p / w + l - 1),
        kind="exact",
        grid=partial(inputs, *BOTH),
        run=partial(bulk, "columns"),
        launches=by_columns,
        requires=(*ACCESSES, FULL_WARPS),
        note="adjacent threads access adjacent words at each of t steps",
    )
    yield Claim(
        id="BULK-rows.UMM",
        source=DERIVED,
        title="bulk execution, inputs of n words row by row, UMM",
        formula=lambda t, n, p, w, l: t * (p * minimum(n, w) / w + l - 1),
        kind="exact",
        grid=partial(inputs, "UMM"),
        run=partial(bulk, "rows"),
        launches=by_rows,
        requires=(*ACCESSES, FULL_WARPS, WIDE),
        note="the naive way: the words of a step lie n apart, for n >= w each in another group",
    )
    yield Claim(
        id="BULK-rows.DMM",
        source=DERIVED,
        title="bulk execution, inputs of n words row by row, DMM",
        formula=lambda t, n, p, w, l: t * (p * gcd(n, w) / w + l - 1),
        kind="exact",
        grid=partial(inputs, "DMM"),
        run=partial(bulk, "rows"),
        launches=by_rows,
        requires=(*ACCESSES, FULL_WARPS),
        note="stride access; inputs of n words meet no conflict where gcd(n, w) = 1",
    )
    yield Claim(
        id="BULK-columns.O",
        source=PAPER,
        title="bulk execution, inputs column by column, UMM and DMM",
        formula=lambda t, p, w, l: p * t / w + l * t,
        kind="upper",
        grid=partial(inputs, *BOTH),
        run=partial(bulk, "columns"),
        requires=(*ACCESSES, FULL_WARPS),
    )
    yield Claim(
        id="BULK-rows.O",
        source=PAPER,
        title="bulk execution, inputs row by row, UMM and DMM",
        formula=lambda t, p, l: p * t + l * t,
        kind="upper",
        grid=partial(inputs, *BOTH),
        run=partial(bulk, "rows"),
        requires=(*ACCESSES, FULL_WARPS),
    )
    yield Claim(
        id="BULK-LB",
        source=PAPER,
        title="lower bound: p threads make t accesses each, to inputs of their own",
        formula=lambda t, p, w, l: maximum(p * t / w + l - 1, l * t),
        kind="lower",
        grid=lambda: (
            {"layout": layout, **case} for layout, case in product(LAYOUTS, inputs(*BOTH))
        ),
        run=either,
        requires=(*ACCESSES, FULL_WARPS),
        note="a stage serves at most w of pt accesses, and a thread waits l for each of its own",
    )


CLAIMS = list(_claims())
