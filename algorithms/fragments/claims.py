"""Claims about reading a list in fragments."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

import mmsim as mm
from mmsim.claims import Case, Claim, Precondition, correct, maximum
from mmsim.claims.launch import SymbolicLaunch
from mmsim_algorithms.fragments.programs import by_fragments, by_positions, listed, placed, shifts
from mmsim_algorithms.grids import FULL_WARPS, TWO_LANES, WHOLE_SHARES, powers

SECTION = 1
PAPER = "LIST, CANDAR 2013"
DERIVED = "LIST, derived here"

WHOLE_FRAGMENTS = Precondition("f divides n", lambda n, f: n % f == 0)
LONG_OR_SHORT = Precondition(
    "w divides n/f, or n/f divides w", lambda n, w, f: n % (f * w) == 0 or f * w % n == 0
)
LONG = Precondition("w divides n/f", lambda n, w, f: n % (f * w) == 0)
WORDS_IN_EACH = Precondition("f <= n", lambda n, f: f <= n)
WHOLE_WARPS = Precondition("w divides f", lambda w, f: f % w == 0)


A_THREAD_FOR_EACH = Precondition(
    "p = f by fragments", lambda program, p, f: program != "fragments" or p == f
)


def equal(n: int, f: int) -> list[int]:
    """The lengths of f fragments of the same length."""
    return [n // f] * f


def unequal(n: int, f: int) -> npt.NDArray[Any]:
    """The lengths of f fragments of n words, cut at random places."""
    cuts = np.sort(np.random.RandomState(n + f).permutation(n - 1)[: f - 1] + 1)
    return np.diff(np.concatenate([[0], cuts, [n]]))


def positions(
    schedule: mm.Schedule, n: int, p: int, w: int, l: int, f: int, random: bool = False
) -> mm.Run:
    """The list by positions: fragments of equal lengths at multiples of w, or at random."""
    lengths = unequal(n, f) if random else equal(n, f)
    a, start, first = placed(lengths, w, offset=w // 2 if random else 0, seed=n)
    run = mm.UMM(w, l).run(
        *(by_positions, a, shifts(start, first), np.zeros(n, int)), threads=p, schedule=schedule
    )
    return correct(run, b=listed(a, start, first))


def fragments(schedule: mm.Schedule, n: int, w: int, l: int, f: int) -> mm.Run:
    """The list by a thread for each fragment."""
    a, start, first = placed(equal(n, f), w, seed=n)
    run = mm.UMM(w, l).run(
        *(by_fragments, a, start, first, np.zeros(n, int)), threads=f, schedule=schedule
    )
    return correct(run, b=listed(a, start, first))


def of_positions(n: Any, p: Any, w: Any, l: Any, f: Any) -> list[SymbolicLaunch]:
    """The launch of `positions`: a warp's words are in a group for each of its fragments."""
    size = maximum(n, f * w)
    arrays = {"a": (size,), "shift": (n,), "b": (n,)}
    stages = {"a": size / n}
    return [SymbolicLaunch(by_positions, arrays, p, mm.UMM(w, l), stages=stages)]


def of_fragments(n: Any, w: Any, l: Any, f: Any) -> list[SymbolicLaunch]:
    """The launch of `fragments`: a warp's words are in a group for each of its threads."""
    arrays = {"a": (n,), "start": (f,), "first": (f + 1,), "b": (n,)}
    first = {"first": lambda j: j * (n // f)}
    return [SymbolicLaunch(by_fragments, arrays, f, mm.UMM(w, l), contents=first, stages={"a": w})]


def either(schedule: mm.Schedule, program: str, **case: Any) -> mm.Run:
    """The list by positions or by fragments."""
    if program == "positions":
        return positions(schedule, **case)
    return fragments(schedule, **{name: case[name] for name in ("n", "w", "l", "f")})


def lists() -> Iterator[Case]:
    """Powers of two: up to 4096 words in 1 to n fragments."""
    for w, n, l in product((2, 4, 16), (64, 512, 4096), (1, 30)):
        for p, f in product(sorted({max(w, n // 16), n}), powers(1, n, 8)):
            if w <= p:
                yield {"n": n, "p": p, "w": w, "l": l, "f": f}


def any_lists() -> Iterator[Case]:
    """Any width, up to 3840 words in 1 to n/2 fragments of random lengths."""
    for w, n, l in product((2, 5, 12), (60, 480, 3840), (1, 30)):
        for p, f in product(sorted({60, n}), sorted({1, n // 60, n // 8, n // 2})):
            yield {"n": n, "p": p, "w": w, "l": l, "f": f, "random": True}


def threads_for_fragments() -> Iterator[Case]:
    """A thread for each fragment of w words or more."""
    for w, warps, k, l in product((2, 3, 4, 8, 16), (1, 2, 5), (1, 3, 8), (1, 5, 30)):
        yield {"n": warps * w * k * w, "w": w, "l": l, "f": warps * w}


CLAIMS = [
    Claim(
        id="LIST-positions",
        source=DERIVED,
        title="a list in f fragments of equal length, by positions, UMM",
        formula=lambda n, p, w, l, f: 2 * n / w + maximum(n / w, f) + 3 * (n / p) * (l - 1),
        kind="exact",
        grid=lists,
        run=positions,
        launches=of_positions,
        requires=(FULL_WARPS, WHOLE_SHARES, WHOLE_FRAGMENTS, LONG_OR_SHORT),
        note="fragments begin at multiples of w. The displacements, the list, and the written "
        "words: a warp meets one address group of the list, or w/(n/f) short fragments",
    ),
    Claim(
        id="LIST-positions.O",
        source=PAPER,
        title="a list in f fragments of any lengths and places, by positions, UMM",
        formula=lambda n, p, w, l, f: n / w + n * l / p + l + f,
        kind="upper",
        constant=5,
        grid=any_lists,
        run=positions,
        requires=(Precondition("w <= p", lambda w, p: w <= p), WHOLE_SHARES, WORDS_IN_EACH),
        note="a warp with words of c fragments meets 2c groups at most, and c - 1 of them begin in "
        "its words, f - 1 in all words: the list takes 2(f + warps) stages",
    ),
    Claim(
        id="LIST-fragments",
        source=DERIVED,
        title="a list in f fragments of equal length, a thread for each, UMM",
        formula=lambda n, w, l, f: 4 * f / w + 2 * n + (3 + 2 * n / f) * (l - 1),
        kind="exact",
        grid=threads_for_fragments,
        run=fragments,
        launches=of_fragments,
        requires=(WHOLE_FRAGMENTS, LONG, WHOLE_WARPS, TWO_LANES),
        note="the naive way: each word that a warp reads or writes is in a group of its own",
    ),
    Claim(
        id="LIST-LB",
        source=DERIVED,
        title="lower bound for a list in f fragments, UMM",
        formula=lambda n, p, w, l, f: maximum(maximum(n / w, f) + l - 1, n * l / p),
        kind="lower",
        grid=lambda: (
            *({"program": "positions", **case} for case in lists()),
            *({"program": "fragments", "p": case["f"], **case} for case in threads_for_fragments()),
        ),
        run=either,
        requires=(WHOLE_FRAGMENTS, A_THREAD_FOR_EACH),
        note="each fragment has a group of its own, and a stage fetches words of one group",
    ),
]
