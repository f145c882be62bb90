"""Claims about CFP Table II's permutations on banks of two words, as its card has them.

Compared with the identical permutation, a transpose takes 992 more stages on the papers' banks, a
random permutation about 79 and the shuffle 32, by either algorithm. The times of Table II differ.
D-designated's extra time for the random permutation is 15% of that for the transpose, and for the
shuffle nothing; S-designated's are 19% and 8%. On banks of two words the extra stages are 480, 76,
and 0 or 32: 16%, and 0% or 7%.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

import mmsim as mm
from mmsim.claims import Case, Claim, Precondition, correct, minimum
from mmsim.claims.launch import SymbolicLaunch
from mmsim_algorithms.dmm_permutation.cases import (
    casual_stages,
    mean_casual_stages,
    named,
    prepared,
    square_powers,
)
from mmsim_algorithms.dmm_permutation.launches import named as launched
from mmsim_algorithms.dmm_permutation.programs import ALGORITHMS, moved
from mmsim_algorithms.dmm_permutation.wide_banks import WideBankDMM
from mmsim_algorithms.grids import power_of_two

SECTION = 6

SOURCE = "CFP, Table II, on banks of two words"
BOTH = ("D-designated", "S-designated")
POWERS = Precondition(
    "n and w are powers of two, 4 w <= n",
    lambda n, w: power_of_two(n, w) and n >= 4 * w,
)
SQUARE = Precondition("n = w^2", lambda n, w: n == w * w)
CARD = Precondition(
    "n = 1024, w = 32, count = 100", lambda n, w, count: (n, w, count) == (1024, 32, 100)
)
"""The mean is a number that was counted for these."""
RULE = (
    "a bank gives the words i and i + w of an aligned row of 2w words in one time unit "
    "(`wide_banks`)"
)


def permuted(
    schedule: mm.Schedule, algorithm: str, permutation: str, n: int, w: int, l: int, seed: int = 0
) -> mm.Run:
    """Permute n words with n threads on banks of two words, checked."""
    a = np.arange(n)
    tables = prepared(algorithm, permutation, n, w, seed)
    run = WideBankDMM(w, l).run(
        ALGORITHMS[algorithm], a, np.zeros_like(a), *tables, threads=n, schedule=schedule
    )
    return correct(run, b=moved(a, named(permutation, n, w, seed)))


def launches(algorithm: str, permutation: str, n: Any, w: Any, l: Any) -> list[SymbolicLaunch]:
    """The launch of `permuted`."""
    of_one_word = launched(algorithm, permutation, n, w, l)
    return [replace(launch, machine=WideBankDMM(w, l)) for launch in of_one_word]


def many_random(schedule: mm.Schedule, algorithm: str, n: int, w: int, count: int) -> mm.Run:
    """Random permutations, in sequence."""
    return mm.total(permuted(schedule, algorithm, "random", n, w, 1, seed) for seed in range(count))


def cases(permutation: str, algorithms: tuple[str, ...], square: bool) -> Iterator[Case]:
    """CFP's n = 1024, w = 32 and smaller powers of two."""
    for algorithm in algorithms:
        for case in square_powers(square=square):
            if case["n"] >= 4 * case["w"]:
                yield {"algorithm": algorithm, "permutation": permutation, **case}


def _claims() -> Iterator[Claim]:
    rows: tuple[tuple[str, tuple[str, ...], Any], ...] = (
        ("identical", BOTH, lambda n, w: n / w),
        ("shuffle", BOTH[:1], lambda n, w: n / w),
        ("shuffle", BOTH[1:], lambda n, w: minimum(2, w) * n / w),
        ("transpose", BOTH, lambda n: n / 2),
        ("bit-reversal", BOTH, lambda n: n / 2),
    )
    for name, algorithms, formula in rows:
        square = name in ("transpose", "bit-reversal")
        single = f".{algorithms[0][0]}" if len(algorithms) == 1 else ""
        yield Claim(
            id=f"CFP-T2.wide.{name}{single}",
            source=SOURCE,
            title=f"{name}: stages of the casual round, {' and '.join(algorithms)}",
            formula=formula,
            kind="exact",
            grid=partial(cases, name, algorithms, square),
            run=permuted,
            launches=launches,
            measure=casual_stages,
            quantity="S",
            requires=(POWERS, SQUARE) if square else (POWERS,),
            note=RULE,
        )
    yield Claim(
        id="CFP-T2.wide.random",
        source=SOURCE,
        title="random: mean of a hundred permutations' stages of the casual round, D-designated",
        formula=lambda: 108,
        kind="exact",
        grid=lambda: [{"algorithm": "D-designated", "n": 1024, "w": 32, "count": 100}],
        run=many_random,
        measure=mean_casual_stages,
        quantity="S",
        requires=(CARD,),
        note=f"{RULE}; 111 on the papers' banks",
    )


CLAIMS = list(_claims())
