"""Claims about the optimal triangulation with about n threads: by diagonals and by a pipeline."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import mmsim as mm
from mmsim.claims import Case, Claim, Precondition, correct
from mmsim.claims.launch import SymbolicLaunch
from mmsim_algorithms.grids import BOTH, exact, machine
from mmsim_algorithms.triangulation.claims import DERIVED, TWO_SIDES
from mmsim_algorithms.triangulation.claims import diagonals as in_diagonals
from mmsim_algorithms.triangulation.pipeline import empty_line, in_line, pipeline
from mmsim_algorithms.triangulation.programs import by_diagonals, least, weights

SECTION = 1
PAPER = "POLY, IJACSA 2018"

WARPS = Precondition("w divides n", lambda n, w: n % w == 0)
PAIRS = Precondition("p >= floor(n/2)", lambda n, p: 2 * p >= n - 1)


def diagonals(schedule: mm.Schedule, n: int, w: int, l: int) -> mm.Run:
    """By diagonals with n threads on the DMM."""
    return in_diagonals(by_diagonals, schedule, n=n, p=n, w=w, l=l, on="DMM")


def piped(schedule: mm.Schedule, on: str, n: int, p: int, w: int, l: int) -> mm.Run:
    """By a pipeline of p threads, checked."""
    u = weights(n, n)
    arguments = in_line(u), empty_line(n), n
    run = machine(on, w, l).run(pipeline, *arguments, threads=p, schedule=schedule)
    return correct(run, c=in_line(least(u)))


def of_diagonals(n: Any, w: Any, l: Any) -> list[SymbolicLaunch]:
    """The launch of `diagonals`."""
    return [SymbolicLaunch(by_diagonals, {"u": (n, n), "c": (n, n)}, n, mm.DMM(w, l))]


def of_pipeline(on: str, n: Any, p: Any, w: Any, l: Any) -> list[SymbolicLaunch]:
    """The launch of `piped`."""
    line = (exact(n * (n + 1)) / 2,)
    return [SymbolicLaunch(pipeline, {"u": line, "c": line, "n": n}, p, machine(on, w, l))]


def in_lock_step(schedule: mm.Schedule, on: str, n: int, p: int, w: int, l: int) -> mm.Run:
    """The same under the synchronous schedule, which alone has rounds."""
    return piped("synchronous", on, n, p, w, l)


def rounds(run: mm.Run) -> int:
    """The rounds of a run."""
    return len(run.rounds)


def polygons() -> Iterator[Case]:
    """2 to 40 sides, n threads, w a divisor of n."""
    for w, m, l in product((1, 2, 3, 5, 8), (1, 2, 3, 5), (1, 5, 30)):
        if w * m > 1:
            yield {"n": w * m, "w": w, "l": l}


def pipelines() -> Iterator[Case]:
    """2 to 24 sides, n/2 threads or n."""
    for on, w, n, l in product(BOTH, (1, 3, 32), (2, 3, 8, 13, 24), (1, 30)):
        for p in sorted({n // 2, n}):
            yield {"on": on, "n": n, "p": p, "w": w, "l": l}


CLAIMS = [
    Claim(
        id="POLY-diagonals",
        source=DERIVED,
        title="optimal triangulation, diagonal arrangement, n threads, DMM",
        formula=lambda n, w, l: (
            n * (n + w) * (2 * n + w + 3) / (6 * w) - 2 * n / w + (n - 1) * (n + 2) * (l - 1)
        ),
        kind="exact",
        grid=polygons,
        run=diagonals,
        launches=of_diagonals,
        requires=(TWO_SIDES, WARPS),
        note="diagonal g has 2g + 2 rounds of ceiling((n - g)/w) warps, each of w adjacent words",
    ),
    Claim(
        id="POLY-pipeline.rounds",
        source=PAPER,
        title="optimal triangulation by a pipeline of n/2 threads: rounds",
        formula=lambda n: (n - 1) * (7 * n - 4) / 2,
        kind="exact",
        grid=pipelines,
        run=in_lock_step,
        launches=of_pipeline,
        measure=rounds,
        quantity="rounds",
        requires=(TWO_SIDES, PAIRS),
        note="O(n^2) steps with n threads, as cited; here a step has seven rounds at most, and the "
        "n(n - 1)/2 elements a step each",
    ),
    Claim(
        id="POLY-pipeline.O",
        source=DERIVED,
        title="optimal triangulation by a pipeline of n/2 threads, DMM and UMM",
        formula=lambda n, l: n**3 / 2 + 7 * n**2 * l / 2,
        kind="upper",
        grid=lambda: (case for case in pipelines() if case["n"] > 3),
        run=piped,
        requires=(TWO_SIDES, PAIRS),
        note="3g + 2 accesses at most for an element of diagonal g, each with a stage of its own "
        "at worst: at a step the threads access elements of different diagonals",
    ),
]
