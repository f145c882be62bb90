"""Claims about bitonic sort, pairwise merge sort and every sort by comparisons."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from math import factorial, gcd
from typing import Any

import numpy as np
import numpy.typing as npt

import mmsim as mm
from mmsim.claims import (
    Case,
    Claim,
    Precondition,
    ceiling,
    correct,
    floor,
    log2,
    maximum,
    named,
    within,
)
from mmsim.claims.launch import SymbolicLaunch
from mmsim_algorithms.grids import (
    BINARY,
    BINARY_WIDTHS,
    BOTH,
    PAIRS,
    POWERS_OF_TWO,
    machine,
    power_of_two,
    powers,
)
from mmsim_algorithms.sorting.bitonic import bitonic, bitonic_without_conflicts
from mmsim_algorithms.sorting.columns import column_sort, merge_columns
from mmsim_algorithms.sorting.merging import merge_sorted, serial_pass, worst

SECTION = 1
DERIVED = "SORT, derived here"
WORST = "SORT, IPDPS 2020"

FEW = Precondition("2E <= w", lambda w, E: w >= 2 * E)
MANY = Precondition("w/2 < E < w", lambda w, E: E < w < 2 * E)
NARROW = Precondition("E < w", lambda w, E: w > E)
PART = Precondition("n is twice a run", lambda n, run: n == 2 * run)
ROWS = Precondition(
    "the runs are wE words times a power of two",
    lambda w, E, run: run % (w * E) == 0 and power_of_two(run // (w * E)),
)
PRIME = Precondition("gcd(E, w) = 1", lambda w, E: gcd(E, w) == 1)
THREADS = Precondition(
    "p = n/E >= w, and p and w are powers of two",
    lambda n, w, E: n % E == 0 and n // E >= w and power_of_two(n // E, w),
)
HIGH = Precondition(
    "n/w >= 2w and n/w >= 2(w - 1)^2", lambda n, w: n >= 2 * w * max(w, (w - 1) ** 2)
)
"""Of a sort by columns."""
COMPARED = Precondition(
    "n >= 2 is a power of two; by columns, p, w and n/w are as there",
    lambda by, n, p, w: (
        n >= 2
        and power_of_two(n)
        and (by != "columns" or (power_of_two(p, w) and w <= p <= n and HIGH.holds(n=n, w=w)))
    ),
)
HAS_WORST = Precondition(
    "E < w for the worst input", lambda w, E, words: str(words) != "worst" or w > E
)
LONG = Precondition("E >= w log n", lambda n, w, E: n**w <= 2**E)


def shuffled(n: int) -> npt.NDArray[Any]:
    """The numbers 0 .. n - 1 in disorder, the same each time."""
    return np.random.default_rng(n).permutation(n)


def bitonically(schedule: mm.Schedule, on: str, n: int, p: int, w: int, l: int) -> mm.Run:
    """Bitonic sort, checked."""
    run = machine(on, w, l).run(bitonic, shuffled(n), threads=p, schedule=schedule)
    return correct(run, a=np.arange(n))


def bitonically_free(schedule: mm.Schedule, on: str, n: int, p: int, w: int, l: int) -> mm.Run:
    """Bitonic sort without bank conflicts, checked."""
    run = machine(on, w, l).run(
        bitonic_without_conflicts, shuffled(n), w, threads=p, schedule=schedule
    )
    return correct(run, a=np.arange(n))


def of_pairs(on: str, n: Any, p: Any, w: Any, l: Any) -> list[SymbolicLaunch]:
    """The launch of `bitonically`."""
    return [SymbolicLaunch(bitonic, {"a": (n,)}, p, machine(on, w, l))]


def of_pairs_in_turn(on: str, n: Any, p: Any, w: Any, l: Any) -> list[SymbolicLaunch]:
    """The launch of `bitonically_free`."""
    arguments = {"a": (n,), "w": w}
    return [SymbolicLaunch(bitonic_without_conflicts, arguments, p, machine(on, w, l))]


def in_one_bank(schedule: mm.Schedule, n: int, w: int, l: int) -> mm.Run:
    """Merge sort of the column of a single bank, by one thread, checked."""
    runs, data, length = [], shuffled(n), 1
    while length < n:
        arguments = (data, np.zeros_like(data), 1, length)
        runs.append(mm.DMM(w, l).run(merge_columns, *arguments, threads=1, schedule=schedule))
        data = runs[-1].arrays["b"]
        length *= 2
    return correct(mm.total(runs), b=np.arange(n))


def compared(schedule: mm.Schedule, by: str, on: str, n: int, p: int, w: int, l: int) -> mm.Run:
    """A sort whose cost is the same for all inputs, by two registers for data, checked.

    It is bitonic sort, sort by columns, or merge sort in one bank.
    """
    if by == "one bank":
        run = in_one_bank(schedule, n, w, l)
    elif by == "columns":
        run = column_sort(machine(on, w, l), shuffled(n), p, schedule=schedule)
        correct(run, b=np.arange(n))
    else:
        sort = bitonically if by == "bitonic" else bitonically_free
        run = sort(schedule, on, n, p, w, l)
    return within(run, 2)


def reading_stages(run: mm.Run) -> int:
    """Stages of all reads."""
    return sum(row.stages for row in run.accesses if row.kind == "read")


def last_pass(schedule: mm.Schedule, n: int, w: int, E: int, run: int, l: int) -> mm.Run:
    """The pass that merges the two runs of the worst input, checked."""
    halves = np.sort(worst(n, w, E).reshape(2, run), axis=1)
    done = mm.DMM(w, l).run(
        *(serial_pass, halves.ravel(), np.zeros(n, int), run, E),
        threads=n // E,
        schedule=schedule,
    )
    return correct(done, b=np.arange(n))


def merging_stages(run: mm.Run) -> int:
    """Stages of the reads of a serial merge: a read for each written word."""
    return sum(row.stages for row in run.accesses if row.function == "following")


INPUTS: dict[str, Callable[[int], npt.NDArray[Any]]] = {
    "random": shuffled,
    "in order": np.arange,
    "reversed": lambda n: np.arange(n)[::-1],
}


def free_of_conflicts(schedule: mm.Schedule, n: int, w: int, E: int, l: int, words: str) -> mm.Run:
    """Merge sort without conflicts of one of `INPUTS`, or of the worst input, checked."""
    a = worst(n, w, E) if words == "worst" else INPUTS[words](n)
    run = merge_sorted(mm.DMM(w, l), a, E, conflicts=False, schedule=schedule)
    return correct(run, b=np.arange(n))


def moving_stages(run: mm.Run) -> int:
    """Stages of all accesses but those of the searches."""
    return sum(row.stages for row in run.accesses if row.function != "begin")


def binary(*on: str) -> Iterator[Case]:
    """Powers of two: n up to 256, p up to a thread for each pair."""
    for name, w, l in product(on, BINARY_WIDTHS, (1, 30)):
        for n in powers(2 * w, 256, 2):
            for p in sorted({max(w, n // 8), n // 2}):
                yield {"on": name, "n": n, "p": p, "w": w, "l": l}


def any_width() -> Iterator[Case]:
    """n and p powers of two, any width up to p."""
    for on, w, l in product(BOTH, (3, 9, 12, 32), (1, 30)):
        for n in powers(64, 1024, 2):
            yield {"on": on, "n": n, "p": n // 2, "w": w, "l": l}


def worst_cases() -> Iterator[Case]:
    """All E < w, two warps' words and more."""
    for w, parts in product((2, 3, 4, 5, 8, 12, 16, 32), (1, 2)):
        for E in range(1, w):
            if w < 32 or E in (3, 7, 15, 16, 17, 24, 31):
                run = parts * w * E
                yield {"n": 2 * run, "w": w, "E": E, "run": run, "l": 5}


def some_worst(*conditions: Precondition) -> Iterator[Case]:
    """Those of the worst cases that satisfy conditions on w and E."""
    for case in worst_cases():
        if all(one.holds(w=case["w"], E=case["E"]) for one in conditions):
            yield case


def any_sort() -> Iterator[Case]:
    """Bitonic sort on both machines, the conflict-free sorts, and merge sort in one bank."""
    for n, l in product((4, 32, 256), (1, 30)):
        yield {"by": "one bank", "on": "DMM", "n": n, "p": 1, "w": 1, "l": l}
    for w, l in product((1, 2, 4, 8), (1, 30)):
        for n in powers(2 * w, 128):
            for by, on in (("bitonic", "DMM"), ("bitonic", "UMM"), ("bitonic free", "DMM")):
                yield {"by": by, "on": on, "n": n, "p": n // 2, "w": w, "l": l}
    for (w, n), l in product(((1, 2), (1, 64), (1, 256), (2, 256), (4, 512), (8, 1024)), (1, 30)):
        yield {"by": "columns", "on": "DMM", "n": n, "p": w, "w": w, "l": l}


def any_input() -> Iterator[Case]:
    """Odd E, from one warp up; the worst input if there is one."""
    for w, E, warps in product((2, 4, 8, 16), (1, 3, 5), (1, 8)):
        for words in (*INPUTS, "worst"):
            if words != "worst" or w > E:
                yield {"n": warps * w * E, "w": w, "E": E, "l": 3, "words": words}


def long_runs() -> Iterator[Case]:
    """E of w log n words and more, for up to 64 threads."""
    grid = product(((1, 10), (2, 25), (4, 49)), (1, 30), ("random", "reversed"))
    for (w, E), l, words in grid:
        for p in powers(w, 64):
            yield {"n": p * E, "w": w, "E": E, "l": l, "words": words}


def _bits(n: int) -> Fraction:
    """The comparisons that n! orders need: log2(n!), rounded up."""
    return Fraction((factorial(n) - 1).bit_length())


BITS = named("bits", _bits)


def _steps(n: Any) -> Any:
    """Steps of bitonic sort."""
    return log2(n) * (log2(n) + 1) / 2


def _claims() -> Iterator[Claim]:
    yield Claim(
        id="SORT-bitonic",
        source=DERIVED,
        title="bitonic sort, DMM and UMM",
        formula=lambda n, p, w, l: (
            2 * n / w * (_steps(n) + log2(w) * log2(n) - log2(w) * (log2(w) - 1) / 2)
            + 2 * n / p * (l - 1) * _steps(n)
        ),
        kind="exact",
        grid=lambda: binary(*BOTH),
        run=bitonically,
        launches=of_pairs,
        requires=(POWERS_OF_TWO, PAIRS),
        note="four accesses at each of log n (log n + 1)/2 steps, in two stages where words less "
        "than w apart are compared: at log n - j steps they are 2^j apart",
    )
    yield Claim(
        id="SORT-bitonic.free",
        source=DERIVED,
        title="bitonic sort without bank conflicts, DMM",
        formula=lambda n, p, w, l: 2 * (n / w + n * (l - 1) / p) * _steps(n),
        kind="exact",
        grid=lambda: binary("DMM"),
        run=bitonically_free,
        launches=of_pairs_in_turn,
        requires=(POWERS_OF_TWO, PAIRS),
        note="of a pair in an odd row of w words the second word comes first",
    )
    yield Claim(
        id="SORT-bitonic.O",
        source="SORT, textbook",
        title="bitonic sort, DMM and UMM, any width",
        formula=lambda n, p, w, l: (n / w + n * l / p) * log2(n) ** 2,
        kind="upper",
        constant=3,
        grid=any_width,
        run=bitonically,
        requires=(BINARY, PAIRS),
        note="the ratio is largest on the UMM with odd w, where most requests lie in two groups",
    )
    yield Claim(
        id="SORT-LB",
        source=DERIVED,
        title="lower bound of a sort by comparisons with two registers",
        formula=lambda n, p, w, l: maximum(
            (BITS(n) - 2 + n) / w + l - 1, l * (BITS(n) - 2 + n) / p
        ),
        kind="lower",
        grid=any_sort,
        run=compared,
        requires=(COMPARED,),
        note="bits(n) is log2(n!), rounded up. A thread compares a word that it reads with one "
        "other at most, which gives one bit; and n words are written. A third of all inputs has no "
        "word in its place. It is for sorts that take the same time for all inputs",
    )
    yield Claim(
        id="SORT-LB.reads",
        source=DERIVED,
        title="lower bound of a sort by comparisons with two registers: stages of reads",
        formula=lambda n, w: BITS(n) / w,
        kind="lower",
        grid=any_sort,
        run=compared,
        measure=reading_stages,
        quantity="S",
        requires=(COMPARED,),
        note="a stage reads w words for w threads at most, which gives w bits",
    )
    yield Claim(
        id="SORT-merge.worst",
        source=DERIVED,
        title="pairwise merge sort, the worst input: stages of a pass's merging reads",
        formula=lambda n, w, E: n * E / w,
        kind="exact",
        grid=lambda: some_worst(FEW),
        run=last_pass,
        measure=merging_stages,
        quantity="S",
        requires=(FEW, PART, ROWS),
        note="E stages for each of a warp's E reads: E threads go side by side through the same "
        "banks. Without conflicts it is n/w",
    )
    yield Claim(
        id="SORT-merge.worst.wide",
        source=DERIVED,
        title="pairwise merge sort, a bad input for E > w/2: stages of a pass's merging reads",
        formula=lambda n, w, E: (
            n / w * ceiling(w / 2) + n * (2 * E / w - 1) / E * (1 + floor(w / 2) - ceiling(w / 2))
        ),
        kind="exact",
        grid=lambda: some_worst(MANY, PRIME),
        run=last_pass,
        measure=merging_stages,
        quantity="S",
        requires=(MANY, PART, ROWS, PRIME),
        note="half of a warp's threads, rounded up, go side by side through the same banks; for an "
        "even w one more thread does at 2E - w of the E reads",
    )
    yield Claim(
        id="SORT-merge.worst.threads",
        source=WORST,
        title="pairwise merge sort, the worst input: at most ceil(w/E) effective threads of a warp",
        formula=lambda n, w, E: n / ceiling(w / E),
        kind="lower",
        grid=worst_cases,
        run=last_pass,
        measure=merging_stages,
        quantity="S",
        requires=(NARROW, PART, ROWS),
        note="n reads in S stages are n/S threads at work; as cited, gcd(E, w) = 1",
    )
    yield Claim(
        id="SORT-merge.free",
        source=DERIVED,
        title="merge sort without bank conflicts, any input: stages that move the words",
        formula=lambda n, w, E: 2 * n / w * (1 + log2(n / E)),
        kind="exact",
        grid=any_input,
        run=free_of_conflicts,
        measure=moving_stages,
        quantity="S",
        requires=(PRIME, THREADS, HAS_WORST),
        note="all accesses but those of the binary searches; the worst input is among them",
    )
    yield Claim(
        id="SORT-merge.free.O",
        source=DERIVED,
        title="merge sort without bank conflicts: its time with the searches, long runs",
        formula=lambda n, w, E, l: (n / w + E * l) * (1 + log2(n / E)),
        kind="upper",
        constant=5,
        grid=long_runs,
        run=free_of_conflicts,
        requires=(PRIME, THREADS, LONG),
        note="n/p = E. A search reads 2 log n words, which may all be in one bank: with E >= w log "
        "n that is at most what moves the words",
    )


CLAIMS = list(_claims())
