"""Checked runs of the sums, and the cases of their claims."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

import mmsim as mm
from mmsim.claims import Case, ClaimError
from mmsim.claims.launch import SymbolicLaunch
from mmsim_algorithms.grids import (
    BINARY_WIDTHS,
    BOTH,
    exact,
    machine,
    powers,
)
from mmsim_algorithms.sums.programs import (
    block_sums,
    by_few_barriers,
    columns,
    few_barriers,
    numbers,
    strided_tree,
    summed,
    tree,
)

TREES = {"strided": strided_tree, "tree": tree}


def adding_up(run: mm.Run, found: Any, a: npt.NDArray[Any]) -> mm.Run:
    """Return the run, refused unless its result is the sum of a."""
    if found != a.sum():
        raise ClaimError(f"{run.program} on {run.machine} found {found}, the sum is {a.sum()}")
    return run


def by_tree(
    order: str, schedule: mm.Schedule, on: str, n: int, p: int, w: int, l: int, trace: bool = False
) -> mm.Run:
    """Add n numbers in place by one of `TREES`."""
    a = numbers(n)
    run = machine(on, w, l).run(TREES[order], a, threads=p, schedule=schedule, trace=trace)
    return adding_up(run, run.arrays["a"][0], a)


def by_columns(
    schedule: mm.Schedule, on: str, n: int, p: int, w: int, l: int, trace: bool = False
) -> mm.Run:
    """Add n numbers by columns."""
    a, c = numbers(n), np.zeros(p, int)
    run = machine(on, w, l).run(columns, a, c, threads=p, schedule=schedule, trace=trace)
    return adding_up(run, run.arrays["c"][0], a)


def by_warps(schedule: mm.Schedule, on: str, n: int, w: int, l: int, trace: bool = False) -> mm.Run:
    """Add n numbers by wl threads with few barriers."""
    a = numbers(n)
    run = by_few_barriers(machine(on, w, l), a, w * l, schedule=schedule, trace=trace)
    return adding_up(run, run.arrays["c"][0, 0], a)


def on_hmm(schedule: mm.Schedule, n: int, p: int, w: int, d: int, L: int, l: int = 1) -> mm.Run:
    """Add n numbers on an HMM, a block for each DMM."""
    a = numbers(n)
    run = summed(mm.HMM(d, w, L, l), a, p, schedule=schedule)
    return adding_up(run, run.arrays["b"][0], a)


def in_global_memory(
    schedule: mm.Schedule, n: int, p: int, w: int, d: int, L: int, l: int = 1
) -> mm.Run:
    """Add n numbers on an HMM by columns, all of it in the global memory."""
    a, c = numbers(n), np.zeros(p, int)
    run = mm.HMM(d, w, L, l).run(columns, a, c, threads=p, schedule=schedule)
    return adding_up(run, run.arrays["c"][0], a)


def of_tree(order: str, on: str, n: Any, p: Any, w: Any, l: Any) -> list[SymbolicLaunch]:
    """The launch of `by_tree`."""
    return [SymbolicLaunch(TREES[order], {"a": (n,)}, threads=p, machine=machine(on, w, l))]


def of_columns(on: str, n: Any, p: Any, w: Any, l: Any) -> list[SymbolicLaunch]:
    """The launch of `by_columns`."""
    arrays = {"a": (n,), "c": (p,)}
    return [SymbolicLaunch(columns, arrays, threads=p, machine=machine(on, w, l))]


def of_warps(on: str, n: Any, w: Any, l: Any) -> list[SymbolicLaunch]:
    """The launch of `by_warps`."""
    arguments = {"a": (n,), "c": (3, w * l), "w": w}
    return [SymbolicLaunch(few_barriers, arguments, threads=w * l, machine=machine(on, w, l))]


def of_blocks(n: Any, p: Any, w: Any, d: Any, L: Any, l: Any) -> list[SymbolicLaunch]:
    """The launches of `on_hmm`."""
    hmm = mm.HMM(d, w, L, l)
    return [
        SymbolicLaunch(block_sums, {"a": (n,), "b": (d,)}, p, hmm, block_size=exact(p) / d),
        SymbolicLaunch(block_sums, {"a": (d,), "b": (1,)}, d, hmm, block_size=d),
    ]


def of_global_memory(n: Any, p: Any, w: Any, d: Any, L: Any, l: Any) -> list[SymbolicLaunch]:
    """The launch of `in_global_memory`."""
    return [SymbolicLaunch(columns, {"a": (n,), "c": (p,)}, p, mm.HMM(d, w, L, l))]


PROGRAMS: dict[str, Callable[..., mm.Run]] = {
    "strided": partial(by_tree, "strided"),
    "tree": partial(by_tree, "tree"),
    "columns": by_columns,
}


def any_program(schedule: mm.Schedule, program: str, **case: Any) -> mm.Run:
    """One of `PROGRAMS`."""
    return PROGRAMS[program](schedule, **case)


def barriers(run: mm.Run) -> int:
    """Count the barriers that a traced run passed."""
    return len(run.trace.releases)


def binary(pairs: bool = True, wide: bool = False) -> Iterator[Case]:
    """Powers of two: n up to 4096, p up to a thread for each pair (or each number).

    With `wide` each warp's words may lie in as many groups as it has lanes: w^2 <= n.
    """
    for on, w, l in product(BOTH, BINARY_WIDTHS, (1, 5, 30)):
        for n in powers(w * w if wide else 2 * w, 4096, 4):
            most = n // 2 if pairs else n
            for p in sorted({max(w, n // 32), 4 * w, most}):
                if n // 32 <= p <= most:
                    yield {"on": on, "n": n, "p": p, "w": w, "l": l}


def any_width() -> Iterator[Case]:
    """n and p powers of two, any width up to p."""
    for on, w, l in product(BOTH, (3, 5, 8, 12, 32), (1, 30)):
        for n in powers(64, 16384, 4):
            for p in sorted({max(32, n // 32), n // 2}):
                yield {"on": on, "n": n, "p": p, "w": w, "l": l}


def any_shares() -> Iterator[Case]:
    """Any p >= w, and any multiple n of p."""
    for on, w, l in product(BOTH, (2, 3, 5, 12, 32), (1, 30)):
        for p, share in product((w + 1, 101, 600, 2048, 6001), (1, 7, 40)):
            if share * p < 20_000:
                yield {"on": on, "n": share * p, "p": p, "w": w, "l": l}


def by_latency(powers_of_w: bool) -> Iterator[Case]:
    """wl threads; l a power of w, or any."""
    for on, w in product(BOTH, BINARY_WIDTHS):
        chosen = powers(1, max(64, w), w) if powers_of_w else (1, 2, 5, 30, 64)
        for l, share in product(chosen, (1, 5, 32)):
            yield {"on": on, "n": share * w * l, "w": w, "l": l}


def for_barriers() -> Iterator[Case]:
    """A small case for each width and latency, for runs that are traced."""
    for on, w, l in product(BOTH, (2, 4, 8, 16), (1, 2, 3, 5, 16, 17)):
        yield {"on": on, "n": w * l, "w": w, "l": l}


def multiprocessors() -> Iterator[Case]:
    """HMMs of 1 to w DMMs, p from a warp for each DMM on."""
    for w, L, l in product(BINARY_WIDTHS, (1, 100), (1, 3)):
        for d in powers(1, min(w, 8), 2):
            for p, share in product((d * w, 4 * d * w), (1, 16)):
                yield {"n": share * p, "p": p, "w": w, "d": d, "L": L, "l": l}
