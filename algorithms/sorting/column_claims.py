"""Claims about sorting, partition, permutation and merging without any bank conflict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

import mmsim as mm
from mmsim.claims import Case, Claim, ClaimError, Precondition, correct, log2
from mmsim.claims.launch import Repeated, SymbolicLaunch
from mmsim_algorithms.grids import POWERS_OF_TWO, exact, powers
from mmsim_algorithms.grids import THREADS as ENOUGH
from mmsim_algorithms.sorting.claims import DERIVED, HIGH, INPUTS
from mmsim_algorithms.sorting.columns import column_sort, in_order, merge_columns, shift, spread
from mmsim_algorithms.sorting.partition import deliver, fetch, partition, permute, sort_by_class
from mmsim_algorithms.sorting.two_lists import merge_lists, merge_two

SECTION = 2
CONFLICT_FREE = "SORT, ESA 2015"

PERMUTATIONS = ("random", "identical", "transpose")

NOT_MANY = Precondition("p <= w^2", lambda p, w: p <= w**2)
ONE_WARP = Precondition("p = w", lambda p, w: p == w)
SHARES = Precondition("p log n <= n, and n >= 64", lambda n, p: n**p <= 2**n and n >= 64)
CUBE = Precondition("w^2 divides n, and n >= w^3", lambda n, w: n % w**2 == 0 and n >= w**3)
PARTS = Precondition("w divides n/p, and n >= 2", lambda n, p, w: n >= 2 and n % (p * w) == 0)
SEARCHED = Precondition("n/p >= w log n", lambda n, p, w: n ** (w * p) <= 2**n)
FITTING = Precondition(
    "n, p and w are those of the claims on each program",
    lambda way, n, p, w: (
        POWERS_OF_TWO.holds(n=n, p=p, w=w)
        and ENOUGH.holds(n=n, p=p, w=w)
        and (HIGH.holds(n=n, w=w) if way == "sort" else PARTS.holds(n=n, p=p, w=w))
        if way in ("sort", "merge")
        else CUBE.holds(n=n, w=w) and p == w
    ),
)

AN_INPUT = Precondition(
    "words are an input of the program",
    lambda way, words: words in (INPUTS if way in ("sort", "merge") else PERMUTATIONS),
)


def by_columns(schedule: mm.Schedule, n: int, p: int, w: int, l: int, words: str) -> mm.Run:
    """Sort one of `INPUTS` by columns, checked."""
    run = column_sort(mm.DMM(w, l), INPUTS[words](n), p, schedule=schedule)
    return correct(run, b=np.arange(n))


def permutation(name: str, n: int, w: int) -> Any:
    """One of `PERMUTATIONS`; "transpose" is that of n/w rows of w words."""
    if name == "random":
        return np.random.default_rng(n).permutation(n)
    rows = np.arange(n).reshape(-1, w)
    return (rows if name == "identical" else rows.T).ravel()


def permuted(schedule: mm.Schedule, n: int, w: int, l: int, words: str) -> mm.Run:
    """Move words to the places of a permutation, checked."""
    d = permutation(words, n, w)
    a = np.arange(n) * 3
    expected = np.zeros(n, int)
    expected[d] = a
    return correct(permute(mm.DMM(w, l), a, d, schedule=schedule), b=expected)


def partitioned(schedule: mm.Schedule, n: int, w: int, l: int, words: str) -> mm.Run:
    """Move words to the columns of their classes, checked."""
    classes = permutation(words, n, w) % w
    run = partition(mm.DMM(w, l), np.arange(n), classes, schedule=schedule)
    for v, column in enumerate(run.arrays["b"].reshape(-1, w).T):
        if not np.array_equal(np.sort(column), np.flatnonzero(classes == v)):
            raise ClaimError(f"class {v} of {words!r} is not in its column")
    return run


def merged(schedule: mm.Schedule, n: int, p: int, w: int, l: int, words: str) -> mm.Run:
    """Merge the sorted halves of one of `INPUTS`, checked."""
    first, second = np.sort(INPUTS[words](n).reshape(2, -1), axis=1)
    return correct(merge_lists(mm.DMM(w, l), first, second, p, schedule=schedule), b=np.arange(n))


def of_classes(n: Any, w: Any, l: Any) -> list[SymbolicLaunch]:
    """The launches of `partitioned`."""
    arrays, ends, dmm = {"a": (n,), "b": (n,)}, {"ends": (w, w)}, mm.DMM(w, l)
    columns = {**arrays, "d": (n,), "e": (n,), **ends}
    spreading = SymbolicLaunch(spread, {**arrays, "w": w, "far": w, "near": 1}, w, dmm)
    sorting = SymbolicLaunch(sort_by_class, columns, w, dmm)
    return [
        *(sorting, spreading, spreading, sorting),
        SymbolicLaunch(fetch, {**arrays, **ends}, w, dmm),
    ]


def of_places(n: Any, w: Any, l: Any) -> list[SymbolicLaunch]:
    """The launches of `permuted`: a thread delivers words to places in its own bank."""
    *before, last = of_classes(n, w, l)
    sizes = {**last.arguments, "d": (n,)}
    return [*before, replace(last, program=deliver, arguments=sizes, stages={"b": 1})]


def of_columns(n: Any, p: Any, w: Any, l: Any) -> list[SymbolicLaunch | Repeated]:
    """The launches of `by_columns`."""
    h, dmm, sizes = exact(n) / w, mm.DMM(w, l), {"a": (n,), "b": (n,), "w": w}

    def launch(program: mm.Program, **numbers: Any) -> SymbolicLaunch:
        return SymbolicLaunch(program, {**sizes, **numbers}, p, dmm)

    def merge(first: Any, passes: Any) -> Repeated:
        return Repeated(lambda k: launch(merge_columns, run=first * 2**k), 0, passes)

    return [
        merge(1, log2(h)),
        launch(spread, far=w, near=1),
        merge(h / w, log2(w)),
        launch(spread, far=1, near=h / w),
        merge(h / w, log2(w)),
        launch(shift),
        launch(merge_columns, run=h / 2),
        launch(in_order),
    ]


def of_lists(n: Any, p: Any, w: Any, l: Any) -> list[SymbolicLaunch]:
    """The launch of `merged`."""
    arrays = {**dict.fromkeys("abxy", (n,)), "starts": (p + 1,)}
    return [SymbolicLaunch(merge_two, {**arrays, "w": w}, p, mm.DMM(w, l))]


WAYS: dict[str, Any] = {
    "sort": by_columns,
    "permute": permuted,
    "partition": partitioned,
    "merge": merged,
}


def any_way(schedule: mm.Schedule, way: str, p: int, w: int, **case: Any) -> mm.Run:
    """One of `WAYS`; permutation and partition are by p = w threads."""
    threads = {"p": p} if way in ("sort", "merge") else {}
    run: mm.Run = WAYS[way](schedule=schedule, w=w, **threads, **case)
    return run


def congestion(run: mm.Run) -> int:
    """The most stages of a request, on average over an access, rounded up."""
    return max(-(-row.stages // row.requests) for row in run.accesses)


SIZES = ((1, 2), (1, 16), (1, 64), (2, 8), (2, 32), (2, 128), (4, 128), (4, 256))
"""Widths w and numbers of words n that are sorted by columns."""


def sorting(most: int) -> Iterator[Case]:
    """Up to `most` threads for each column, and at most w."""
    for (w, n), words in product(SIZES, ("random", "reversed")):
        for p in powers(w, w * min(w, most)):
            for l in (1, 5) if most == 1 else (3,):
                yield {"n": n, "p": p, "w": w, "l": l, "words": words}
    for w, n in ((8, 1024), (16, 8192)):
        if w <= max(8, most):
            yield {"n": n, "p": w * min(w, most), "w": w, "l": 1, "words": "random"}


def shares() -> Iterator[Case]:
    """n from 64 on, p up to n / log n."""
    sizes = ((1, 64), (1, 128), (2, 64), (2, 128), (2, 256), (4, 128), (4, 256), (8, 1024))
    for (w, n), l in product(sizes, (1, 30)):
        for p in powers(w if n < 256 else 4 * w, n):
            if n**p <= 2**n:
                yield {"n": n, "p": p, "w": w, "l": l, "words": "random"}


def moving(*names: str) -> Iterator[Case]:
    """Any width, w^3 words and more."""
    for w, words in product((1, 2, 3, 4, 5), names):
        for n, l in product((w**3, w**3 + w**2, 3 * w**3), (1, 5)):
            yield {"n": n, "w": w, "l": l, "words": words}
    yield {"n": 512, "w": 8, "l": 1, "words": "random"}


def lists() -> Iterator[Case]:
    """n/p from w on."""
    for w in (1, 2, 4, 8):
        for p, E in product(powers(w, 8 * w, 2), powers(w, 16 * w, 4)):
            for words in INPUTS if p * E < 256 else ("random",):
                if p * E > 1:
                    yield {"n": p * E, "p": p, "w": w, "l": 3, "words": words}


def one_warp() -> Iterator[Case]:
    """p = w, also with long lists."""
    for w, l, words in product((1, 2, 4, 8), (1, 30), INPUTS):
        for n in (2 * w**2, 8 * w**2):
            yield {"n": n, "p": w, "w": w, "l": l, "words": words}
    yield {"n": 2048, "p": 32, "w": 32, "l": 5, "words": "random"}


def long_lists() -> Iterator[Case]:
    """n/p of w log n words, about, and more."""
    for w, l in product((1, 2, 4), (1, 30)):
        for p, E in product(powers(w, 16 * w), powers(w, 64 * w)):
            n = p * E
            if n > 1 and n ** (w * p) <= 2**n <= n ** (3 * w * p):
                yield {"n": n, "p": p, "w": w, "l": l, "words": "random"}


def every_way() -> Iterator[Case]:
    """Each of `WAYS` on a few inputs."""
    for w, n, p in ((1, 16, 4), (2, 64, 8), (4, 128, 16), (4, 512, 8), (8, 1024, 64)):
        for words in INPUTS:
            yield {"way": "sort", "n": n, "p": p, "w": w, "l": 2, "words": words}
            yield {"way": "merge", "n": n, "p": p, "w": w, "l": 2, "words": words}
    for way, w, words in product(("permute", "partition"), (1, 2, 3, 5, 8), PERMUTATIONS):
        yield {"way": way, "n": 2 * w**3, "p": w, "w": w, "l": 2, "words": words}


def _search_steps(p: Any, E: Any) -> Any:
    """Steps of p searches, one thread at a time, for words E apart in the merged list."""
    return (log2(E) + 1) * (p - 1) + (p + 1) * (log2(p) - 1) - 2 * p + 4


def _column_steps(m: Any, E: Any) -> Any:
    """Steps of all searches of the sort by columns, for m <= w threads in a column."""
    M = log2(m)
    return (
        (log2(E) + 1) * (3 * m * M - 2 * m + 2)
        + 3 * m * M * (M - 1) / 2
        - 5 * m * M
        + 12 * m
        - 2 * M
        - 12
    )


def _claims() -> Iterator[Claim]:
    yield Claim(
        id="SORT-columns",
        source=DERIVED,
        title="sort by columns, DMM, a thread for each column",
        formula=lambda n, w, l: l * (n / w * (2 * log2(n * w) + 11) + 2 * (w - 1)),
        kind="exact",
        grid=lambda: sorting(1),
        run=by_columns,
        launches=of_columns,
        requires=(POWERS_OF_TWO, HIGH, ONE_WARP),
        note="log(nw) + 1 passes merge and four move; any access of the warp takes l",
    )
    yield Claim(
        id="SORT-columns.stages",
        source=DERIVED,
        title="sort by columns, DMM: stages, up to w threads for each column",
        formula=lambda n, p, w: (
            n / w * (2 * log2(n * w) + 11)
            + 2 * w
            + (3 * log2(p / w) - 2) * p / w
            + 2 * _column_steps(p / w, n / p)
        ),
        kind="exact",
        grid=lambda: sorting(16),
        run=by_columns,
        launches=of_columns,
        measure=lambda run: sum(row.stages for row in run.accesses),
        quantity="S",
        requires=(POWERS_OF_TWO, HIGH, ENOUGH, NOT_MANY),
        note="the threads of a column search where their words begin, in their own bank",
    )
    yield Claim(
        id="SORT-columns.O",
        source=CONFLICT_FREE,
        title="sort without bank conflicts, searches included",
        formula=lambda n, p, w, l: (n / w + n * l / p) * log2(n),
        kind="upper",
        constant=6,
        grid=shares,
        run=by_columns,
        requires=(POWERS_OF_TWO, HIGH, ENOUGH, SHARES),
        note="as cited O((n/w) log n) by w threads in any case; by columns only for these n",
    )
    yield Claim(
        id="SORT-free",
        source=CONFLICT_FREE,
        title="sort by columns, permutation, partition and merging have no bank conflict",
        formula=lambda: 1,
        kind="exact",
        grid=every_way,
        run=any_way,
        measure=congestion,
        quantity="congestion",
        requires=(FITTING, AN_INPUT),
        note="every request of every access, searches included; as cited for sort, permutation "
        "and partition",
    )
    yield Claim(
        id="SORT-partition",
        source=DERIVED,
        title="w-way partition without bank conflicts, by w threads",
        formula=lambda n, w, l: l * (24 * n / w + 2 * w**2 + 6 * w),
        kind="exact",
        grid=lambda: moving(*PERMUTATIONS),
        run=partitioned,
        launches=of_classes,
        requires=(CUBE,),
        note="n/w words of each class. Columns are sorted by counting, spread and sorted again; "
        "then each column fetches n/w^2 + w - 1 words from each column",
    )
    yield Claim(
        id="SORT-partition.O",
        source=CONFLICT_FREE,
        title="w-way partition without bank conflicts",
        formula=lambda n, w, l: n * l / w,
        kind="upper",
        constant=32,
        grid=lambda: moving("random"),
        run=partitioned,
        requires=(CUBE,),
        note="as cited for n >= w^2",
    )
    yield Claim(
        id="SORT-permute",
        source=DERIVED,
        title="permutation without bank conflicts, its places read by the program, by w threads",
        formula=lambda n, w, l: l * (25 * n / w + 3 * w**2 + 5 * w),
        kind="exact",
        grid=lambda: moving(*PERMUTATIONS),
        run=permuted,
        launches=of_places,
        requires=(CUBE,),
        note="a partition by banks; each thread then writes its words to their places in its bank",
    )
    yield Claim(
        id="SORT-permute.O",
        source=DERIVED,
        title="permutation without bank conflicts, its places read by the program",
        formula=lambda n, w, l: n * l / w,
        kind="upper",
        constant=33,
        grid=lambda: moving("random"),
        run=permuted,
        requires=(CUBE,),
        note="ESA 2015, as cited, has a randomized O((n/w) log log log_(n/w) n) for any n",
    )
    yield Claim(
        id="SORT-merging",
        source=DERIVED,
        title="merging two sorted lists without bank conflicts: stages, searches included",
        formula=lambda n, p, w: 8 * n / w + 3 * p / w + 2 * _search_steps(p, n / p),
        kind="exact",
        grid=lists,
        run=merged,
        launches=of_lists,
        measure=lambda run: sum(row.stages for row in run.accesses),
        quantity="S",
        requires=(POWERS_OF_TWO, ENOUGH, PARTS),
        note="the lists have n/2 words each. The threads of a warp search one at a time",
    )
    yield Claim(
        id="SORT-merging.time",
        source=DERIVED,
        title="merging two sorted lists without bank conflicts by w threads",
        formula=lambda n, w, l: l * (8 * n / w + 3 + 2 * _search_steps(w, n / w)),
        kind="exact",
        grid=one_warp,
        run=merged,
        launches=of_lists,
        requires=(POWERS_OF_TWO, ENOUGH, PARTS, ONE_WARP),
        note="any access of the warp takes l",
    )
    yield Claim(
        id="SORT-merging.O",
        source=DERIVED,
        title="merging two sorted lists without bank conflicts, long lists",
        formula=lambda n, p, w, l: n / w + n * l / p,
        kind="upper",
        constant=13,
        grid=long_lists,
        run=merged,
        requires=(POWERS_OF_TWO, ENOUGH, PARTS, SEARCHED),
        note="with n/p >= w log n the searches, one at a time, take at most two times n/w stages",
    )


CLAIMS = list(_claims())
