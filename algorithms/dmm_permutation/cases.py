"""The checked runs and the cases for the claims about permuting on the DMM."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import product

import numpy as np

import mmsim as mm
from mmsim.claims import Case, correct
from mmsim.claims.claim import call_with
from mmsim_algorithms import permutations
from mmsim_algorithms.dmm_permutation.programs import (
    ALGORITHMS,
    Permutation,
    conflict_free,
    moved,
    tables,
)
from mmsim_algorithms.grids import (
    BINARY_WIDTHS,
    LATENCIES,
    WIDTHS,
    allowed,
    machine,
    powers,
    widths_and_latencies,
)

# CFP section III's example: w = 4, n = 16, P, and the paper's S and D for it.
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

    C, the stages of the round that the tables direct, is for the formulas.
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

    "as printed" is the conflict-free algorithm with the printed S and D.
    """
    program = conflict_free
    given: tuple[Permutation, ...] = (EXAMPLE_S, EXAMPLE_D)
    if algorithm != "as printed":
        program, given = ALGORITHMS[algorithm], tables(algorithm, EXAMPLE_P, 4)
    a = np.arange(16)
    run = mm.DMM(4, l).run(program, a, np.zeros_like(a), *given, threads=16, schedule=schedule)
    return correct(run, b=moved(a, EXAMPLE_P))


def many_random(schedule: mm.Schedule, n: int, w: int) -> mm.Run:
    """A hundred random permutations, D-designated, in sequence."""
    return mm.total(
        permuted("D-designated", schedule, "random", n, w, 1, seed=seed) for seed in range(100)
    )


# What is measured.


def words(run: mm.Run, kind: str) -> int:
    """Words that a run of full warps reads or writes: w for each request."""
    return run.machine.width * sum(row.requests for row in run.accesses if row.kind == kind)


def casual_stages(run: mm.Run) -> int:
    """Stages of the round that the tables direct: a's reads or b's writes, the larger number."""
    return max(row.stages for row in run.accesses if row.array in ("a", "b"))


def mean_casual_stages(run: mm.Run) -> int:
    """The same for many launches: the mean as a whole number."""
    return round(casual_stages(run) / run.launches)


def data_time(run: mm.Run) -> int:
    """Time units of the rounds that access a and b: SMM doesn't charge for the tables."""
    return sum(row.time for row in run.rounds if row.array in ("a", "b"))


def matches(run: mm.Run, printed: bool) -> int:
    """Count the i with the right P(i) by both tables: S^-1(D(i)) as printed, else D(S^-1(i))."""
    D, back = run.arrays["d"], permutations.inverse(run.arrays["s"])
    return int(np.count_nonzero((back[D] if printed else D[back]) == EXAMPLE_P))


# The cases.


def stages_of_writes(permutation: str, on: str, n: int, w: int) -> int:
    """The stages of writing b: on the DMM the congestion of P, on the UMM its distribution."""
    count = permutations.congestion if on == "DMM" else permutations.distribution
    return count(named(permutation, n, w), w)


def congestion(permutation: str, n: int, w: int) -> int:
    """C of writing b along a named permutation on the DMM."""
    return permutations.congestion(named(permutation, n, w), w)


def inverse_congestion(permutation: str, n: int, w: int) -> int:
    """C of reading a along the inverse."""
    return permutations.congestion(permutations.inverse(named(permutation, n, w)), w)


def cases(inverted: bool = False, only: str = "") -> Iterator[Case]:
    """Every named permutation with every width and latency; C is its congestion (the inverse's)."""
    count = inverse_congestion if inverted else congestion
    for w, l, name in product(WIDTHS, LATENCIES, permutations.NAMED):
        for n in sorted({2 * w, w * w} if w < 32 else {w * w}):
            if allowed(name, n) and only in ("", name):
                yield {"permutation": name, "n": n, "w": w, "l": l, "C": count(name, n, w)}


def at_one_latency() -> Iterator[Case]:
    """The cases with l = 5."""
    return (case for case in cases() if case["l"] == 5)


def shares(names: tuple[str, ...], machines: tuple[str, ...] = ("DMM",)) -> Iterator[Case]:
    """p threads for n = 2w^2 words: one warp, two, w of them, a thread for each word."""
    for (w, l), on, name in product(widths_and_latencies(), machines, names):
        n = 2 * w * w
        if not allowed(name, n) or (w > 16 and l > 1):
            continue
        for p in sorted({w, 2 * w, w * w, n} if w < 5 else {2 * w, n}):
            yield {"permutation": name, "on": on, "n": n, "p": p, "w": w, "l": l}


def counted(names: tuple[str, ...], machines: tuple[str, ...]) -> Iterator[Case]:
    """The same with C, the stages of writing b."""
    for case in shares(names, machines):
        yield {**case, "C": call_with(stages_of_writes, case)}


def any_threads() -> Iterator[Case]:
    """p >= w that divides n = 6w, multiples of w and others."""
    for w, l in product((2, 3, 4, 8, 32), (1, 5, 30)):
        for p in [p for p in range(w, 6 * w + 1) if 6 * w % p == 0]:
            yield {"permutation": "random", "n": 6 * w, "p": p, "w": w, "l": l}


def one_thread_more() -> Iterator[Case]:
    """p = w^2 + 1 threads, so that nearly every warp takes parts of two colours."""
    for w in (4, 8, 16):
        p = w * w + 1
        yield {"permutation": "random", "n": p * w, "p": p, "w": w, "l": 1}


def square_powers(square: bool = False) -> Iterator[Case]:
    """CFP's n = 1024, w = 32 and other powers of two; unless `square`, n/w and w may differ."""
    for w in (1, *BINARY_WIDTHS):
        for n in powers(w, w * w if w == 32 else 4 * w * w):
            if n == w * w or not square:
                yield {"n": n, "w": w, "l": 1}


def few_threads() -> Iterator[Case]:
    """One warp, high latency, all writes of a warp in one bank."""
    for w, l in product((2, 4, 8), (30, 100, 300)):
        yield {"permutation": "transpose", "n": 2 * w * w, "p": w, "w": w, "l": l}


def one_warp() -> list[Case]:
    """A single warp, all of whose writes are in one bank, as the latency grows."""
    latencies = (30, 60, 120, 240, 480, 960)
    return [{"permutation": "transpose", "n": 32, "p": 4, "w": 4, "l": l} for l in latencies]
