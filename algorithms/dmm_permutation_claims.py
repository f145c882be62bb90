"""What CFP and SMM section 6 claim of permuting on the DMM."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from itertools import product
from typing import Any

import numpy as np

import mmsim as mm
from algorithms import permutations
from algorithms.dmm_permutation import ALGORITHMS, Permutation, conflict_free, moved, tables
from algorithms.grids import (
    ENOUGH_THREADS,
    FULL_WARPS,
    WHOLE_SHARES,
    machine,
    widths_and_latencies,
)
from mmsim.claims import Case, Claim, ClaimError, Precondition, correct

# CFP section III's example: w = 4, n = 16, P, and the S and D that the paper gives for it.
EXAMPLE_P = np.array([0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15])
EXAMPLE_S = np.array([0, 5, 10, 15, 1, 6, 11, 12, 2, 7, 8, 13, 3, 4, 9, 14])
EXAMPLE_D = np.array([0, 5, 10, 15, 4, 9, 14, 3, 8, 13, 2, 7, 12, 1, 6, 11])

# CFP Table I: how many times n words an algorithm reads, and writes.
READS_AND_WRITES = {
    "copy": (1, 1),
    "D-designated": (2, 1),
    "S-designated": (2, 1),
    "conflict-free": (3, 1),
}


# The runs.


@lru_cache(maxsize=1024)
def named(name: str, n: int, w: int, seed: int = 0) -> Permutation:
    """A permutation by name; CFP transposes a matrix of n/w rows and w columns."""
    if name == "transpose":
        return permutations.transpose(n, w)
    return permutations.NAMED[name](n, seed)


@lru_cache(maxsize=1024)
def prepared(algorithm: str, name: str, n: int, w: int, seed: int = 0) -> tuple[Permutation, ...]:
    """The tables of a named permutation, made once."""
    return tables(algorithm, named(name, n, w, seed), w)


def permuted(
    algorithm: str,
    schedule: mm.Schedule,
    permutation: str,
    n: int,
    w: int,
    l: int,
    p: int | None = None,
    on: str = "DMM",
    seed: int = 0,
    C: int = 0,
) -> mm.Run:
    """Permute n words by an algorithm with p threads (default: n), checked.

    C, the stages of the round that the tables direct, is there for the formulas.
    """
    a = np.arange(n)
    run = machine(on, w, l).run(
        ALGORITHMS[algorithm],
        a,
        np.zeros_like(a),
        *prepared(algorithm, permutation, n, w, seed),
        threads=p or n,
        schedule=schedule,
    )
    return correct(run, b=a if algorithm == "copy" else moved(a, named(permutation, n, w, seed)))


def example(algorithm: str, schedule: mm.Schedule, l: int) -> mm.Run:
    """CFP section III's example, checked.

    "as printed" is the conflict-free algorithm with the S and D that the paper prints.
    """
    program = conflict_free
    given: tuple[Permutation, ...] = (EXAMPLE_S, EXAMPLE_D)
    if algorithm != "as printed":
        program, given = ALGORITHMS[algorithm], tables(algorithm, EXAMPLE_P, 4)
    a = np.arange(16)
    run = mm.DMM(4, l).run(program, a, np.zeros_like(a), *given, threads=16, schedule=schedule)
    return correct(run, b=moved(a, EXAMPLE_P))


def proper(schedule: mm.Schedule, permutation: str, n: int, w: int, l: int, C: int = 0) -> mm.Run:
    """A conflict-free run, refused unless each of its warps is a colour of CFP section IV.

    The warps take each word once, w at a time, from different banks to different banks.
    """
    for table in prepared("conflict-free", permutation, n, w):
        banks = np.sort(table.reshape(n // w, w) % w, axis=1)
        if (banks != np.arange(w)).any() or (np.sort(table) != np.arange(n)).any():
            raise ClaimError(f"{permutation}, n={n}, w={w}: no proper colouring")
    return permuted("conflict-free", schedule, permutation, n, w, l)


def many_random(schedule: mm.Schedule, n: int, w: int) -> mm.Run:
    """A hundred random permutations, D-designated, one after the other."""
    return mm.total(
        permuted("D-designated", schedule, "random", n, w, 1, seed=seed) for seed in range(100)
    )


# What is measured.


def words(run: mm.Run, kind: str) -> int:
    """Words that a run of full warps reads or writes: w for each request."""
    return run.machine.width * sum(row.requests for row in run.accesses if row.kind == kind)


def casual_stages(run: mm.Run) -> int:
    """Stages of the round that the tables direct: a's reads or b's writes, whichever are more."""
    return max(row.stages for row in run.accesses if row.array in ("a", "b"))


def mean_casual_stages(run: mm.Run) -> int:
    """The same for many launches, the mean as a whole number."""
    return round(casual_stages(run) / run.launches)


def data_stages(run: mm.Run) -> int:
    """Stages of the accesses to a and b."""
    return sum(row.stages for row in run.accesses if row.array in ("a", "b"))


def data_time(run: mm.Run) -> int:
    """Time units of the rounds that access a and b: SMM doesn't charge for the tables."""
    return sum(row.time for row in run.rounds if row.array in ("a", "b"))


def colours(run: mm.Run) -> int:
    """Warps of a conflict-free run, each of them a colour of the bank graph."""
    return sum(row.requests for row in run.accesses if row.array == "a")


def matches(run: mm.Run, printed: bool) -> int:
    """For how many i the two tables compose to P(i): S^-1(D(i)) as printed, else D(S^-1(i))."""
    D, back = run.arrays["d"], permutations.inverse(run.arrays["s"])
    return int(np.count_nonzero((back[D] if printed else D[back]) == EXAMPLE_P))


# The cases.


def allowed(name: str, n: int) -> bool:
    """Shuffle and bit-reversal permute the bits of a number."""
    return name not in ("shuffle", "bit-reversal") or n & (n - 1) == 0


def cases(inverted: bool = False, only: str = "") -> Iterator[Case]:
    """Every named permutation with every width and latency; C is its congestion (the inverse's)."""
    for (w, l), name in product(widths_and_latencies(), permutations.NAMED):
        for n in sorted({2 * w, w * w} if w < 32 else {w * w}):
            if allowed(name, n) and only in ("", name):
                P = named(name, n, w)
                C = permutations.congestion(permutations.inverse(P) if inverted else P, w)
                yield {"permutation": name, "n": n, "w": w, "l": l, "C": C}


def at_one_latency() -> Iterator[Case]:
    """The cases with l = 5."""
    return (case for case in cases() if case["l"] == 5)


def shares(names: tuple[str, ...], machines: tuple[str, ...] = ("DMM",)) -> Iterator[Case]:
    """p threads for n = 2w^2 words: one warp, two, w of them, a thread for each word.

    C is what writing b takes: on the DMM the congestion of P, on the UMM its distribution.
    """
    for (w, l), on, name in product(widths_and_latencies(), machines, names):
        n = 2 * w * w
        if not allowed(name, n) or (w > 16 and l > 1):
            continue
        count = permutations.congestion if on == "DMM" else permutations.distribution
        for p in sorted({w, 2 * w, w * w, n} if w < 5 else {2 * w, n}):
            case = {"permutation": name, "on": on, "n": n, "p": p, "w": w, "l": l}
            yield {**case, "C": count(named(name, n, w), w)}


def any_threads() -> Iterator[Case]:
    """p >= w that divides n = 6w, multiples of w and others."""
    for w, l in product((2, 3, 4, 8, 32), (1, 5, 30)):
        for p in [p for p in range(w, 6 * w + 1) if 6 * w % p == 0]:
            yield {"permutation": "random", "n": 6 * w, "p": p, "w": w, "l": l}


def square_powers(square: bool = True) -> Iterator[Case]:
    """CFP's n = 1024, w = 32 and smaller powers of two; unless `square`, n/w and w may differ."""
    for n, w in ((1024, 32), (256, 16), (64, 8), (16, 4), (4, 2), (256, 8), (128, 4), (32, 2)):
        if n == w * w or not square:
            yield {"n": n, "w": w, "l": 1}


def few_threads() -> Iterator[Case]:
    """One warp, high latency, all writes of a warp in one bank."""
    for w, l in product((2, 4, 8), (30, 100, 300)):
        yield {"permutation": "transpose", "n": 2 * w * w, "p": w, "w": w, "l": l}


# The claims.

WHOLE_WARPS = Precondition("w divides n", lambda n, w: n % w == 0)
POWERS = Precondition("n and w are powers of two", lambda n, w: n & (n - 1) == 0 == w & (w - 1))
EXACT = (FULL_WARPS, WHOLE_SHARES)
ORDER = (ENOUGH_THREADS, WHOLE_SHARES)


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
        note="S^-1(D(4)) = S^-1(4) = 13 and P(4) = 1; the paper's product S^-1 . D gives P where "
        "the left factor is applied first",
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
        requires=(WHOLE_WARPS,),
    )
    yield Claim(
        id="CFP-A.D",
        source="CFP, section III",
        title="D-designated, n threads; C sums the congestion of P over the warps",
        formula=lambda n, w, l, C: 2 * (n / w + l - 1) + C + l - 1,
        kind="exact",
        grid=cases,
        run=partial(permuted, "D-designated"),
        requires=(WHOLE_WARPS,),
    )
    yield Claim(
        id="CFP-A.S",
        source="CFP, section III",
        title="S-designated, n threads; C sums the congestion of P^-1 over the warps",
        formula=lambda n, w, l, C: 2 * (n / w + l - 1) + C + l - 1,
        kind="exact",
        grid=lambda: cases(inverted=True),
        run=partial(permuted, "S-designated"),
        requires=(WHOLE_WARPS,),
    )
    yield Claim(
        id="CFP-A.conflict-free",
        source="CFP, section III",
        title="conflict-free, n threads, any permutation",
        formula=lambda n, w, l: 4 * (n / w + l - 1),
        kind="exact",
        grid=cases,
        run=partial(permuted, "conflict-free"),
        requires=(WHOLE_WARPS,),
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
                measure=partial(words, kind=kind),
                quantity="words",
                requires=(WHOLE_WARPS,),
            )
    stages: dict[str, Callable[[Any, Any], Any]] = {
        "identical": lambda n, w: n / w,
        "shuffle": lambda n, w: 2 * n / w,
        "transpose": lambda n, w: n,
        "bit-reversal": lambda n, w: n,
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
            measure=casual_stages,
            quantity="S",
            requires=(POWERS,),
            note="Table II's nanoseconds are a GTX 680's; at n = 1024, w = 32 its rows follow the "
            "32, 64, 1024 and 1024 stages",
        )
    yield Claim(
        id="CFP-T2.shuffle.printed",
        source="CFP, section VI",
        title="shuffle: S-designated meets more bank conflicts than D-designated, as printed",
        formula=lambda n, w: 2 * n / w + 1,
        kind="lower",
        grid=lambda: square_powers(square=False),
        run=partial(permuted, "S-designated", permutation="shuffle"),
        measure=casual_stages,
        quantity="S",
        requires=(POWERS,),
        printed=True,
        note="both take 2n/w stages on the DMM; banks of 8 bytes explain the GTX 680's times",
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
    )


def both_ways(name: str) -> Iterator[Case]:
    """D- and S-designated, wherever P and its inverse meet as many conflicts."""
    for algorithm in ("D-designated", "S-designated"):
        for case in square_powers(square=name in ("transpose", "bit-reversal")):
            yield {"algorithm": algorithm, "permutation": name, **case}


def designated(schedule: mm.Schedule, algorithm: str, **case: Any) -> mm.Run:
    """`permuted` where the algorithm is part of the case."""
    return permuted(algorithm, schedule, **case)


def _colouring_claims() -> Iterator[Claim]:
    for id, source, title, formula, measure, quantity in (
        (
            "CFP-COL",
            "CFP, sections IV and V",
            "every warp reads w different banks and writes w different banks",
            lambda n, w: 2 * n / w,
            data_stages,
            "S",
        ),
        (
            "SMM-T6.1",
            "SMM, Theorem 6.1 (König)",
            "n/w colours are enough for a bank graph, regular of degree n/w",
            lambda n, w: n / w,
            colours,
            "colours",
        ),
        (
            "SMM-L6.2",
            "SMM, Lemma 6.2",
            "a warp's sources are in different banks, and so are its destinations",
            lambda n, w: 2 * n / w,
            data_stages,
            "S",
        ),
    ):
        yield Claim(
            id=id,
            source=source,
            title=title,
            formula=formula,
            kind="exact",
            grid=at_one_latency,
            run=proper,
            measure=measure,
            quantity=quantity,
            requires=(WHOLE_WARPS,),
            note="S and D are checked bank by bank as well: a colouring that isn't proper raises",
        )


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
        measure=data_time,
        requires=EXACT,
        note=tables_free,
    )
    yield Claim(
        id="SMM-SP.any",
        source="SMM, section 6",
        title="straightforward permutation, P read too; C counts the stages of writing b",
        formula=lambda n, p, w, l, C: 2 * (p / w + l - 1) * n / p + C + (l - 1) * n / p,
        kind="exact",
        grid=lambda: shares(every, ("DMM", "UMM")),
        run=partial(permuted, "D-designated"),
        requires=EXACT,
    )
    yield Claim(
        id="SMM-SP.printed",
        source="SMM, section 6",
        title="straightforward permutation, O(n) at its worst, as printed",
        formula=lambda n: n,
        kind="upper",
        constant=3,
        grid=few_threads,
        run=partial(permuted, "D-designated"),
        measure=data_time,
        requires=ORDER,
        printed=True,
        note="n/p steps of latency l are missing: the ratio grows like l/p. " + tables_free,
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
        requires=ORDER,
    )
    yield Claim(
        id="SMM-T6.3",
        source="SMM, Theorem 6.3",
        title="any permutation, DMM, p threads, counting a and b",
        formula=lambda n, p, w, l: 2 * (p / w + l - 1) * n / p,
        kind="exact",
        grid=lambda: shares(every),
        run=partial(permuted, "conflict-free"),
        measure=data_time,
        requires=EXACT,
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
        requires=EXACT,
    )
    yield Claim(
        id="SMM-T6.3.O",
        source="SMM, Theorem 6.3",
        title="any permutation, DMM, any p >= w, counting the tables too",
        formula=lambda n, p, w, l: n / w + n * l / p,
        kind="upper",
        constant=8,
        grid=lambda: (*shares(("random",)), *any_threads()),
        run=partial(permuted, "conflict-free"),
        requires=ORDER,
        note="where w doesn't divide p a warp may take parts of two colours: congestion 2 at most",
    )


CLAIMS = [
    *_example_claims(),
    *_time_claims(),
    *_table_claims(),
    *_colouring_claims(),
    *_smm_claims(),
]
