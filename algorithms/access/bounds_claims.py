"""Claims of SMM section 4: the lower bounds, and hidden latency."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, product

import mmsim as mm
from mmsim.claims import Case, Claim, Precondition, maximum
from mmsim_algorithms.access.claims import BOTH, EXACT, any_threads, read_all
from mmsim_algorithms.access.programs import PROGRAMS
from mmsim_algorithms.dmm_permutation.cases import any_threads as any_shares
from mmsim_algorithms.dmm_permutation.cases import permuted
from mmsim_algorithms.grids import WHOLE_SHARES, once, widths_and_latencies
from mmsim_algorithms.transpose.dmm import diagonal, straightforward
from mmsim_algorithms.transpose.dmm_claims import SQUARE, any_sides, transposed

SECTION = 4

READS: dict[str, Callable[..., mm.Run]] = {
    access: partial(read_all, access=access) for access in PROGRAMS
}
TRANSPOSES: dict[str, Callable[..., mm.Run]] = {
    "straightforward transpose": partial(transposed, straightforward),
    "diagonal transpose": partial(transposed, diagonal),
}
PERMUTATIONS: dict[str, Callable[..., mm.Run]] = {
    f"{algorithm} permutation": partial(permuted, algorithm, permutation="random")
    for algorithm in ("D-designated", "conflict-free")
}
RUNS = {**READS, **TRANSPOSES, **PERMUTATIONS}
"""Programs that access n words of input, checked."""


def any_program(schedule: mm.Schedule, program: str, **case: str | int) -> mm.Run:
    """One of `RUNS`."""
    return RUNS[program](schedule=schedule, **case)


def reads() -> Iterator[Case]:
    """Contiguous and stride access by p >= w threads, whether w divides p or not."""
    for program in READS:
        yield from any_threads(BOTH, program=program)


def moves() -> Iterator[Case]:
    """Transposes and permutations by p >= w threads, whether w divides p or not."""
    for on, program in product(BOTH, TRANSPOSES):
        yield from ({"program": program, **case} for case in any_sides(on) if case["w"] <= 16)
    for on, program, case in product(BOTH, PERMUTATIONS, list(any_shares())):
        numbers = {name: case[name] for name in ("n", "p", "w", "l")}
        yield {"program": program, "on": on, **numbers}


def latency_hidden(hidden: bool) -> Iterator[Case]:
    """Full warps, as many as the latency and more, or fewer."""
    for (w, l), on in product(widths_and_latencies(), BOTH):
        counts = {l, l + 1, 2 * l} if hidden else {1, l // 2, l - 1}
        for warps, steps in product(sorted(counts), (1, 2, 3, 7)):
            if (hidden or warps < l) and warps > 0:
                p = warps * w
                yield {"on": on, "n": steps * p, "p": p, "w": w, "l": l}


def on_their_own(schedule: mm.Schedule, on: str, n: int, p: int, w: int, l: int) -> mm.Run:
    """Contiguous access under the asynchronous schedule, whatever schedule is asked for."""
    return read_all("asynchronous", "contiguous", on, n, p, w, l)


def runs(program: str, n: int, w: int) -> bool:
    """Return whether a program of `RUNS` takes n words."""
    if program in TRANSPOSES:
        return SQUARE.holds(n)
    return program != "conflict-free permutation" or n % w == 0


RUNNABLE = Precondition("n is a square for a transpose, w divides n for conflict-free", runs)


def _claims() -> Iterator[Claim]:
    yield Claim(
        id="SMM-T4.1",
        source="SMM, Theorem 4.1",
        title="lower bound: bandwidth and latency limitation; reads, transposes, permutations",
        formula=lambda n, p, w, l: maximum(n / w + l - 1, n * l / p),
        kind="lower",
        grid=lambda: once(chain(reads(), moves())),
        run=any_program,
        requires=(WHOLE_SHARES, RUNNABLE),
        note="for any program that accesses all n words of its input; it holds under both "
        "schedules",
    )
    yield Claim(
        id="SMM-T4.1.moved",
        source="SMM, section 4",
        title="the same for data movement, which reads n words and writes n words",
        formula=lambda n, p, w, l: maximum(2 * n / w + l - 1, 2 * n * l / p),
        kind="lower",
        grid=moves,
        run=any_program,
        requires=(WHOLE_SHARES, RUNNABLE),
    )
    yield Claim(
        id="SMM-T4.1.hidden",
        source="SMM, section 4",
        title="latency hidden: contiguous access, p >= wl, warps on their own",
        formula=lambda n, w, l: n / w + l - 1,
        kind="exact",
        grid=lambda: latency_hidden(True),
        run=on_their_own,
        requires=(*EXACT, Precondition("w l <= p", lambda p, w, l: w * l <= p)),
        note="both runs of a case are asynchronous; only then can warps hide each other's latency",
    )
    yield Claim(
        id="SMM-T4.1.exposed",
        source="SMM, section 4",
        title="latency not hidden: contiguous access, p < wl, warps on their own",
        formula=lambda n, p, w, l: n * l / p + p / w - 1,
        kind="exact",
        grid=lambda: latency_hidden(False),
        run=on_their_own,
        requires=(*EXACT, Precondition("p < w l", lambda p, w, l: p < w * l)),
        note="both runs of a case are asynchronous; with fewer than wl threads the pipeline runs "
        "dry in every step",
    )


CLAIMS = list(_claims())
