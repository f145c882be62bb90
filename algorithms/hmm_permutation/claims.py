"""Claims of ICPP and IEICE about permuting on the HMM."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from math import isqrt
from typing import Any

import mmsim as mm
from mmsim.claims import (
    Case,
    Claim,
    Precondition,
    Relation,
    ceiling,
    floor,
    maximum,
    minimum,
    named,
    root,
)
from mmsim.claims.launch import SymbolicLaunch
from mmsim_algorithms.access.rounds_claims import ANY_D, ONE_DMM
from mmsim_algorithms.grids import (
    BITS,
    DEFINED,
    ICPP,
    IEICE,
    MULTIPROCESSORS,
    SQUARE_TRANSPOSE,
    WHOLE_WARPS,
    power_of_two,
)
from mmsim_algorithms.hmm_permutation import deficit, launches
from mmsim_algorithms.hmm_permutation.cases import (
    MATRIX,
    RANDOM,
    SAMPLE,
    all_algorithms,
    any_algorithm,
    at_one_latency,
    below_n,
    cells,
    column_wise_run,
    columns,
    designated,
    distributed,
    distributed_own,
    distribution,
    inverse_distribution,
    many_random,
    matrices,
    of_sizes,
    only,
    permuted,
    random_sizes,
    row_wise_run,
    scheduled_run,
    single_random,
    single_random_own,
    squares,
    stages_of_reads,
    stages_of_writes,
    table_cases,
    transpose_run,
)
from mmsim_algorithms.hmm_permutation.regular_claims import SQUARE

SECTION = 4


# The claims.

SIDES = Precondition(
    "w divides rows; w rows divides n",
    lambda rows, n, w: rows % w == 0 and n % (w * rows) == 0,
)
D_ROWS = Precondition("d divides rows", lambda rows, d: rows % d == 0)
D_TILES = Precondition("d divides n/w^2", lambda n, w, d: n % (d * w * w) == 0)
D_COLUMNS = Precondition("d divides n/rows", lambda n, rows, d: n % (rows * d) == 0)
D_SIDE = Precondition("d divides sqrt n", lambda n, d: isqrt(n) ** 2 == n and isqrt(n) % d == 0)
ALL_CASES = (WHOLE_WARPS, DEFINED, SQUARE_TRANSPOSE)
CASUAL = Precondition("2 <= w, 9 <= n", lambda n, w: w >= 2 and n >= 9)
"""Every round with w = 1 is coalesced, and a random one with n = 4, w = 2 may be by chance."""
TILES_OF_BITS = Precondition(
    "for shuffle and bit-reversal, n and w are powers of two; for shuffle, d divides n/(2w)",
    lambda algorithm, n, w, d: (
        (algorithm not in BITS or power_of_two(n, w))
        and (algorithm != "shuffle" or n % (2 * d * w) == 0)
    ),
)


def _designated_claims() -> Iterator[Claim]:
    for id, source, algorithm, of, size, d in (
        ("ICPP-L4.D", "ICPP, Lemma 4", "D-designated", "P", ICPP, 1),
        ("ICPP-L4.S", "ICPP, Lemma 4", "S-designated", "P^-1", ICPP, 1),
        ("IEICE-1", "IEICE, abstract", "D-designated", "P", IEICE, MULTIPROCESSORS),
    ):
        yield Claim(
            id=id,
            source=source,
            title=f"{algorithm}; D is the distribution D_w({of})",
            formula=lambda n, w, L, D: D + 2 * n / w + 3 * L - 3,
            kind="exact",
            grid=partial(distributed, inverted=of != "P"),
            run=partial(designated, algorithm),
            launches=partial(launches.designated, algorithm),
            requires=ALL_CASES,
            derived={"D": distribution if of == "P" else inverse_distribution},
            own=partial(distributed_own, size, d, inverted=of != "P"),
        )
    distributions: dict[str, tuple[Callable[..., Any], Callable[[int], int], str]] = {
        "identical": (lambda n, w: n / w, lambda w: w, "w <= n"),
        "shuffle": (lambda n, w: minimum(2, w) * n / w, lambda w: 2 * w, "2w <= n"),
        "bit-reversal": (lambda n: n, lambda w: w * w, "w <= sqrt n"),
        "transpose": (lambda n: n, lambda w: w * w, "w <= sqrt n"),
    }
    for name, (formula, least, text) in distributions.items():
        for id, algorithm, of, measure in (
            (f"ICPP-L4.{name}", "D-designated", "P", stages_of_writes),
            (f"ICPP-L4.{name}.inverse", "S-designated", "P^-1", stages_of_reads),
        ):
            yield Claim(
                id=id,
                source="ICPP, section IV",
                title=f"{name}: distribution D_w({of})",
                formula=formula,
                kind="exact",
                grid=partial(of_sizes, name, least),
                run=partial(designated, algorithm),
                launches=partial(launches.named, algorithm),
                measure=measure,
                quantity="D",
                requires=(*ALL_CASES, _at_least(text, least)),
                own=only({"permutation": name, **ICPP}),
            )


def _at_least(text: str, least: Callable[[int], int]) -> Precondition:
    return Precondition(text, lambda n, w: n >= least(w))


def _rounds(count: int) -> Callable[..., Any]:
    """So many coalesced global rounds and as many conflict-free shared ones, on d DMMs."""
    return lambda n, w, d, L: count * n / w + count * n / (d * w) + count * L - count


def _rounds_on_one(count: int) -> Callable[..., Any]:
    """The same on one DMM, as in ICPP Table I."""
    return lambda n, w, L: 2 * count * n / w + count * L - count


def _round_claims() -> Iterator[Claim]:
    for id, place, title, count, run, of_run, cases, requires in _ROUNDS:
        theorem = id == "T9"
        yield Claim(
            id=f"ICPP-{id}",
            source=f"ICPP, {place}",
            title=f"{title}, one DMM",
            formula=_rounds_on_one(count),
            kind="exact",
            grid=partial(cases, d_below=2),
            run=run,
            launches=of_run,
            requires=(*requires, ONE_DMM),
            own=only(RANDOM if theorem else MATRIX, d=1),
        )
        yield Claim(
            id=f"ICPP-{id}.d.printed",
            source=f"ICPP, {place}",
            title=f"{title}, d DMMs, as printed",
            formula=_rounds_on_one(count),
            kind="exact",
            grid=partial(at_one_latency, cases),
            run=run,
            requires=requires,
            printed=True,
            misprint=ANY_D,
            only=ONE_DMM,
            note="Table I counts n/w for a shared round, though the threads lie on the d DMMs of "
            f"section II (ICPP-L1.shared). With n = 64, w = 4, d = 2, L = 30 it takes {53 * count} "
            f"time units, not {61 * count}. As an upper bound it is right for any d",
        )
        yield Claim(
            id="IEICE-3" if theorem else f"ICPP-{id}.d",
            source="IEICE, abstract" if theorem else f"ICPP, {place}",
            title="any permutation, d DMMs" if theorem else f"{title}, d DMMs, corrected",
            formula=_rounds(count),
            kind="exact",
            grid=cases,
            run=run,
            launches=of_run,
            requires=requires,
            own=only({**RANDOM, **IEICE} if theorem else MATRIX, d=MULTIPROCESSORS),
        )


Launches = Callable[..., list[SymbolicLaunch]]
_ROUNDS: tuple[
    tuple[str, str, str, int, Callable[..., mm.Run], Launches, Callable[..., Iterator[Case]], Any],
    ...,
] = (
    (
        "L5",
        "Lemma 5",
        "transpose",
        2,
        transpose_run,
        launches.turned,
        partial(matrices, tiles=True),
        (SIDES, D_TILES),
    ),
    (
        "L7",
        "Lemma 7",
        "row-wise permutation",
        4,
        row_wise_run,
        launches.by_rows,
        matrices,
        (SIDES, D_ROWS),
    ),
    (
        "L8",
        "Lemma 8",
        "column-wise permutation",
        8,
        column_wise_run,
        launches.by_columns,
        columns,
        (SIDES, D_TILES, D_COLUMNS),
    ),
    (
        "T9",
        "Theorem 9",
        "scheduled permutation",
        16,
        scheduled_run,
        launches.scheduled,
        squares,
        (SQUARE, D_SIDE, D_TILES, DEFINED),
    ),
)
"""Id, place, title, rounds of either kind, run, launches, cases, preconditions."""


def _table_1_claims() -> Iterator[Claim]:
    casual = (SQUARE, CASUAL)
    requires = {id: requires for id, *_, requires in _ROUNDS}
    for row, title, run, needs in (
        ("d_designated", "D-designated", partial(designated, "D-designated"), casual),
        ("s_designated", "S-designated", partial(designated, "S-designated"), casual),
        ("transpose", "transpose", transpose_run, requires["L5"]),
        ("row_wise", "row-wise permutation", row_wise_run, requires["L7"]),
        ("column_wise", "column-wise permutation", column_wise_run, requires["L8"]),
        ("scheduled", "scheduled permutation", scheduled_run, requires["T9"]),
    ):
        permutes = row in ("d_designated", "s_designated", "scheduled")
        yield Claim(
            id=f"ICPP-T1.{row}",
            source="ICPP, Table I",
            title=f"{title}: the six cells that count rounds by class",
            formula=lambda: 6,
            kind="exact",
            grid=partial(table_cases, permutes),
            run=run,
            measure=partial(cells, algorithm=row),
            quantity="cells",
            requires=needs,
            note="counted from the classes of the run's own rounds; the column of times is checked "
            "by the claims of the lemmas",
            own=only(RANDOM if permutes else MATRIX, d=1),
        )


def _bound_claims() -> Iterator[Claim]:
    yield Claim(
        id="ICPP-LB",
        source="ICPP, section VII",
        title="lower bound of a permutation, all algorithms",
        formula=lambda n, w, L: maximum(n / w, L),
        kind="lower",
        constant=2,
        grid=all_algorithms,
        run=any_algorithm,
        requires=(SQUARE, D_SIDE, D_TILES, TILES_OF_BITS),
        note="with the constant 2, as both parts of ICPP-LB.sum are at least twice one of these",
    )
    yield Claim(
        id="ICPP-LB.sum",
        source="ICPP, section VII",
        title="the same, both limits together, raised here",
        formula=lambda n, w, L: maximum(2 * n / w + L - 1, n / w + 2 * L - 1),
        kind="lower",
        grid=all_algorithms,
        run=any_algorithm,
        requires=(SQUARE, D_SIDE, D_TILES, TILES_OF_BITS),
        note="n words of a are read and n of b are written, w in a time unit, and the last "
        "completes L - 1 later; the word read last is written after it was read",
    )
    yield Claim(
        id="ICPP-T9.O",
        source="ICPP, section VII",
        title="the scheduled permutation is optimal: O(n/w + L)",
        formula=lambda n, w, L: n / w + L,
        kind="upper",
        constant=32,
        grid=lambda: (case for case in squares() if case["L"] in (1, 100)),
        run=scheduled_run,
        requires=(SQUARE, D_SIDE, D_TILES, DEFINED),
        own=only(RANDOM, d=1),
    )


MANY = Precondition(
    "8 <= w, w^2 <= n, 3000 <= count (w - 1)^2",
    lambda n, w, count: w >= 8 and w * w <= n and count * (w - 1) ** 2 >= 3000,
)
"""The sum is a thousand or more, so that its distribution is close to the normal one."""
LARGE = Precondition("16 <= w, 16 w^2 <= n", lambda n, w: w >= 16 and n >= 16 * w * w)
"""The mean is within half a standard deviation of its limit for n to infinity."""
ERRORS = 5
"""A random count must come within so many standard deviations: chance breaks this once in 3e6."""

MEAN, VARIANCE = named("E", deficit.mean), named("V", deficit.variance)


def _most(mean: Any, variance: Any) -> Any:
    return floor(mean + ERRORS * root(variance))


def _least(mean: Any, variance: Any) -> Any:
    return ceiling(mean - ERRORS * root(variance))


def _random_claims() -> Iterator[Claim]:
    limits: tuple[tuple[str, Relation, Callable[..., Any]], ...] = (
        ("most", "upper", _most),
        ("least", "lower", _least),
    )
    for word, kind, limit in limits:
        yield Claim(
            id=f"ICPP-T3.{word}",
            source="ICPP, Table III",
            title=f"random: n - D_w summed over count permutations, at {word}",
            formula=partial(_summed, limit),
            kind=kind,
            grid=random_sizes,
            run=many_random,
            measure=below_n,
            quantity="deficit",
            requires=(WHOLE_WARPS, MANY),
            note="the permutations of the seeds 0, 1, ...; E and V are the exact mean and variance "
            "of n - D_w over all permutations, and the limits are five standard deviations",
            own=SAMPLE,
        )
        yield Claim(
            id=f"ICPP-T3.eps.{word}",
            source="ICPP, section IV, made precise",
            title=f"random: n - D_w of every single permutation, at {word}",
            formula=partial(_single, limit),
            kind=kind,
            grid=single_random,
            run=partial(permuted, "D-designated", permutation="random"),
            measure=below_n,
            quantity="deficit",
            requires=(WHOLE_WARPS, LARGE),
            note="the paper: 'for enough large n, there exists small eps > 0, such that n - eps "
            "< D_w(random) <= n with high probability' and no value. The mean and the variance of "
            "n - D_w tend to (w - 1)^2/2, 480.5 for w = 32, for all large n: eps = 590 is enough "
            "there and eps = 371 is not, by five standard deviations",
            own=single_random_own,
        )


def _summed(limit: Callable[..., Any], n: Any, w: Any, count: Any) -> Any:
    return limit(count * MEAN(n, w), count * VARIANCE(n, w))


def _single(limit: Callable[..., Any], w: Any) -> Any:
    return limit((w - 1) ** 2 / 2, (w - 1) ** 2 / 2)


CLAIMS = [
    *_designated_claims(),
    *_round_claims(),
    *_table_1_claims(),
    *_bound_claims(),
    *_random_claims(),
]
