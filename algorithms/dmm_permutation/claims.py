"""Claims of CFP and SMM section 6 about permuting on the DMM."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import mmsim as mm
from mmsim.claims import Case, Claim, Growth, Precondition, minimum
from mmsim_algorithms.dmm_permutation import launches
from mmsim_algorithms.dmm_permutation.cases import (
    READS_AND_WRITES,
    any_threads,
    at_one_latency,
    cases,
    casual_stages,
    congestion,
    counted,
    data_time,
    example,
    few_threads,
    inverse_congestion,
    many_random,
    matches,
    mean_casual_stages,
    one_thread_more,
    one_warp,
    permuted,
    shares,
    square_powers,
    stages_of_writes,
    words,
)
from mmsim_algorithms.grids import (
    DEFINED,
    ENOUGH_THREADS,
    FULL_WARPS,
    WHOLE_SHARES,
    WHOLE_WARPS,
    power_of_two,
)

SECTION = 6


# The claims.

POWERS = Precondition(
    "n and w are powers of two; w <= n", lambda n, w: power_of_two(n, w) and w <= n
)
CARD = Precondition("n = 1024, w = 32", lambda n, w: (n, w) == (1024, 32))
"""CFP's sizes; the mean of a hundred permutations is a number that was counted for these."""
EXACT = (FULL_WARPS, WHOLE_SHARES)
ORDER = (ENOUGH_THREADS, WHOLE_SHARES)
WORST = Precondition("w^2 divides n", lambda n, w: n % (w * w) == 0)
"""The transpose then moves the words of a warp to one bank, and each to its own address group."""
WHOLE_MATRIX = Precondition(
    "w divides n for transpose", lambda permutation, n, w: permutation != "transpose" or n % w == 0
)


def _example_claims() -> Iterator[Claim]:
    def designated(l: Any) -> Any:
        return 3 * l + 21

    def free(l: Any) -> Any:
        return 4 * l + 12

    for id, algorithm, formula in (
        ("CFP-E1.D", "D-designated", designated),
        ("CFP-E1.S", "S-designated", designated),
        ("CFP-E1.conflict-free", "conflict-free", free),
        ("CFP-E1.paper", "as printed", free),
    ):
        yield Claim(
            id=id,
            source="CFP, section III",
            title="worked example, n = 16, w = 4, "
            + algorithm.replace("as printed", "conflict-free with the paper's own S and D"),
            formula=formula,
            kind="exact",
            grid=lambda: [{"l": l} for l in (1, 2, 5, 30)],
            run=partial(example, algorithm),
            launches=partial(launches.example, algorithm),
            note="the paper gives P, S and D; the times follow from its section II",
        )
    yield Claim(
        id="CFP-SD.printed",
        source="CFP, section III",
        title="worked example: S^-1(D(i)) = P(i) for all i, as printed",
        formula=lambda: 16,
        kind="exact",
        grid=lambda: [{"l": 1}],
        run=partial(example, "as printed"),
        measure=partial(matches, printed=True),
        quantity="matches",
        printed=True,
        note="'suppose that S^-1(D(i)) = P(i)', for the paper's own S, D and P: S^-1(D(4)) = "
        "S^-1(4) = 13 and P(4) = 1. Its product S^-1 . D gives P where the left factor is applied "
        "first",
    )
    yield Claim(
        id="CFP-SD",
        source="CFP, section III",
        title="worked example: D(S^-1(i)) = P(i) for all i, corrected",
        formula=lambda: 16,
        kind="exact",
        grid=lambda: [{"l": 1}],
        run=partial(example, "as printed"),
        measure=partial(matches, printed=False),
        quantity="matches",
    )


def _time_claims() -> Iterator[Claim]:
    yield Claim(
        id="CFP-A.copy",
        source="CFP, section V",
        title="copy, n threads",
        formula=lambda n, w, l: 2 * (n / w + l - 1),
        kind="exact",
        grid=lambda: cases(only="identical"),
        run=partial(permuted, "copy"),
        launches=partial(launches.by_all, "copy"),
        requires=(WHOLE_WARPS,),
        derived={"C": congestion},
    )
    yield Claim(
        id="CFP-A.D",
        source="CFP, section III",
        title="D-designated, n threads; C sums the congestion of P over the warps",
        formula=lambda n, w, l, C: 2 * (n / w + l - 1) + C + l - 1,
        kind="exact",
        grid=cases,
        run=partial(permuted, "D-designated"),
        launches=partial(launches.by_all, "D-designated"),
        requires=(WHOLE_WARPS, DEFINED),
        derived={"C": congestion},
    )
    yield Claim(
        id="CFP-A.S",
        source="CFP, section III",
        title="S-designated, n threads; C sums the congestion of P^-1 over the warps",
        formula=lambda n, w, l, C: 2 * (n / w + l - 1) + C + l - 1,
        kind="exact",
        grid=lambda: cases(inverted=True),
        run=partial(permuted, "S-designated"),
        launches=partial(launches.by_all, "S-designated"),
        requires=(WHOLE_WARPS, DEFINED),
        derived={"C": inverse_congestion},
    )
    yield Claim(
        id="CFP-A.conflict-free",
        source="CFP, section III",
        title="conflict-free, n threads, any permutation",
        formula=lambda n, w, l: 4 * (n / w + l - 1),
        kind="exact",
        grid=cases,
        run=partial(permuted, "conflict-free"),
        launches=partial(launches.by_all, "conflict-free"),
        requires=(WHOLE_WARPS, DEFINED),
        derived={"C": congestion},
    )


def _times_n(factor: int) -> Callable[[Any], Any]:
    return lambda n: factor * n


def _table_claims() -> Iterator[Claim]:
    for algorithm, factors in READS_AND_WRITES.items():
        for kind, factor in zip(("read", "write"), factors, strict=True):
            yield Claim(
                id=f"CFP-T1.{algorithm}.{kind}",
                source="CFP, Table I",
                title=f"{algorithm}: words that it {kind}s",
                formula=_times_n(factor),
                kind="exact",
                grid=at_one_latency,
                run=partial(permuted, algorithm),
                launches=partial(launches.by_all, algorithm),
                measure=partial(words, kind=kind),
                quantity="words",
                requires=(WHOLE_WARPS, DEFINED),
                derived={"C": congestion},
            )
    stages: dict[str, Callable[[Any, Any], Any]] = {
        "identical": lambda n, w: n / w,
        "shuffle": lambda n, w: minimum(2, w, n / w) * n / w,
        "transpose": lambda n, w: minimum(w, n / w) * n / w,
        "bit-reversal": lambda n, w: minimum(w, n / w) * n / w,
    }
    for name, formula in stages.items():
        yield Claim(
            id=f"CFP-T2.{name}",
            source="CFP, section VI",
            title=f"{name}: stages of the casual round, D- and S-designated",
            formula=formula,
            kind="exact",
            grid=partial(both_ways, name),
            run=designated,
            launches=launches.named,
            measure=casual_stages,
            quantity="S",
            requires=(POWERS,),
            note="Table II's nanoseconds are a GTX 680's; at n = 1024, w = 32 its rows follow the "
            "32, 64, 1024 and 1024 stages. The minima matter for other sizes only: with w = 1, or "
            "with n/w < w rows of the matrix, a warp meets fewer conflicts than at n = w^2",
        )
    yield Claim(
        id="CFP-T2.random",
        source="CFP, section VI",
        title="random: mean of a hundred permutations' stages of the casual round",
        formula=lambda: 111,
        kind="exact",
        grid=lambda: [{"n": 1024, "w": 32}],
        run=many_random,
        measure=mean_casual_stages,
        quantity="S",
        requires=(CARD,),
    )


def both_ways(name: str) -> Iterator[Case]:
    """D- and S-designated, where P and its inverse have the same number of conflicts."""
    for algorithm in ("D-designated", "S-designated"):
        for case in square_powers():
            yield {"algorithm": algorithm, "permutation": name, **case}


def designated(schedule: mm.Schedule, algorithm: str, **case: Any) -> mm.Run:
    """`permuted` with the algorithm as part of the case."""
    return permuted(algorithm, schedule, **case)


def _smm_claims() -> Iterator[Claim]:
    every = ("random", "shuffle", "bit-reversal")
    tables_free = "counts the rounds of a and b: SMM doesn't charge for reading P, or s"
    yield Claim(
        id="SMM-SP",
        source="SMM, section 6",
        title="straightforward permutation at its worst, DMM and UMM",
        formula=lambda n, p, w, l: (p / w + l - 1) * n / p + n + (l - 1) * n / p,
        kind="exact",
        grid=lambda: shares(("transpose",), ("DMM", "UMM")),
        run=partial(permuted, "D-designated"),
        launches=launches.transposing,
        measure=data_time,
        requires=(*EXACT, WORST),
        note=f"the permutation is a transpose of w columns; {tables_free}",
    )
    yield Claim(
        id="SMM-SP.any",
        source="SMM, section 6",
        title="straightforward permutation, P read too; C counts the stages of writing b",
        formula=lambda n, p, w, l, C: 2 * (p / w + l - 1) * n / p + C + (l - 1) * n / p,
        kind="exact",
        grid=lambda: counted(every, ("DMM", "UMM")),
        run=partial(permuted, "D-designated"),
        launches=partial(launches.by_some, "D-designated"),
        requires=(*EXACT, DEFINED),
        derived={"C": stages_of_writes},
    )
    yield Claim(
        id="SMM-SP.printed",
        source="SMM, section 6",
        title="straightforward permutation, O(n) at its worst, as printed",
        formula=lambda n: n,
        kind="upper",
        grid=one_warp,
        run=partial(permuted, "D-designated"),
        measure=data_time,
        requires=ORDER,
        printed=True,
        growth=Growth("l", lambda n, p, w, l: ((p / w + l - 1) * n / p + n + (l - 1) * n / p) / n),
        note="'in the worst case', of p threads. The paper's own Theorem 4.1 asks for nl/p at "
        "least: with n = 32, p = w = 4 the time is 16l + 24, 15384 for l = 960. " + tables_free,
    )
    yield Claim(
        id="SMM-SP.O",
        source="SMM, section 6",
        title="straightforward permutation, corrected; P read too",
        formula=lambda n, p, l: n + n * l / p,
        kind="upper",
        constant=3,
        grid=lambda: (*shares(("random",), ("DMM", "UMM")), *few_threads(), *any_threads()),
        run=partial(permuted, "D-designated"),
        requires=(*ORDER, WHOLE_MATRIX),
    )
    yield Claim(
        id="SMM-T6.3",
        source="SMM, Theorem 6.3",
        title="any permutation, DMM, p threads, counting a and b",
        formula=lambda n, p, w, l: 2 * (p / w + l - 1) * n / p,
        kind="exact",
        grid=lambda: shares(every),
        run=partial(permuted, "conflict-free"),
        launches=partial(launches.by_some, "conflict-free"),
        measure=data_time,
        requires=(*EXACT, DEFINED),
        note=tables_free,
    )
    yield Claim(
        id="SMM-T6.3.tables",
        source="SMM, Theorem 6.3",
        title="any permutation, DMM, p threads, counting the tables too",
        formula=lambda n, p, w, l: 4 * (p / w + l - 1) * n / p,
        kind="exact",
        grid=lambda: shares(every),
        run=partial(permuted, "conflict-free"),
        launches=partial(launches.by_some, "conflict-free"),
        requires=(*EXACT, DEFINED),
    )
    yield Claim(
        id="SMM-T6.3.O",
        source="SMM, Theorem 6.3",
        title="any permutation, DMM, any p >= w, counting the tables too",
        formula=lambda n, p, w, l: n / w + n * l / p,
        kind="upper",
        constant=5,
        grid=lambda: (*shares(("random",)), *any_threads(), *one_thread_more()),
        run=partial(permuted, "conflict-free"),
        requires=(*ORDER, WHOLE_WARPS),
        note="where w doesn't divide p a warp may take parts of two colours: congestion 2 at most "
        "for b. It is 1 for a, which is read from each bank in turn, and for the tables. So "
        "p/w + 1 - 1/w warps at most take 5p/w + 4l + 1 - 5/w at a step. No smaller constant is "
        "enough: with p = w^2 + 1, n = pw and l = 1 the ratio tends to 5 as w grows",
    )


CLAIMS = [
    *_example_claims(),
    *_time_claims(),
    *_table_claims(),
    *_smm_claims(),
]
