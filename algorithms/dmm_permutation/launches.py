"""The launches of the permutations on the DMM, with symbols for their sizes.

Their tables direct the accesses. Those of a conflict-free permutation give each request one stage,
those of a permutation with a closed form are written so, and for any other the formula has the sum.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import mmsim as mm
from mmsim.claims.claim import symbols_of
from mmsim.claims.launch import SymbolicLaunch, below
from mmsim_algorithms.dmm_permutation.many_arrays import PROGRAMS
from mmsim_algorithms.dmm_permutation.programs import ALGORITHMS
from mmsim_algorithms.grids import machine
from mmsim_algorithms.permutations import bit_reversal

TABLES = {"copy": "", "D-designated": "p", "S-designated": "q", "conflict-free": "sd"}
DIRECTED = {"copy": "", "D-designated": "b", "S-designated": "a", "conflict-free": "ab"}
"""The tables of an algorithm, and the arrays that are accessed along them."""


def directed(
    algorithm: str, on: mm.Machine, n: Any, p: Any, block: Any = None, name: str = "C"
) -> SymbolicLaunch:
    """A launch along any permutation; the sum of stages of the directed round has this name."""
    sizes = dict.fromkeys(("a", "b", *TABLES[algorithm]), (n,))
    stages = 1 if algorithm == "conflict-free" else symbols_of([name])[name]
    every = dict.fromkeys(DIRECTED[algorithm], stages)
    return SymbolicLaunch(ALGORITHMS[algorithm], sizes, p, on, block, stages=every)


def written(
    directed: list[SymbolicLaunch], permutation: str, n: Any, columns: Any
) -> list[SymbolicLaunch]:
    """The launch along one of `FORMS`: P itself or its inverse, whichever its table holds."""
    (launch,) = directed
    (table,) = set(launch.arguments) - {"a", "b"}
    if permutation == "bit-reversal":
        columns = launch.machine.width
    element = FORMS[permutation][table == "q"](n, columns)
    return [replace(launch, contents={table: element}, stages={})]


@below(lambda n, i: n)
def reversed_in(n: Any, i: Any) -> Any:
    """The number i < n, a power of two, with its bits in reverse order."""
    return bit_reversal(n)[i]


def _reversal(n: Any, w: Any) -> Callable[[Any], Any]:
    """The lower bits of i, within a row of w, become the upper ones."""
    return lambda i: reversed_in(w, i % w) * (n // w) + reversed_in(n // w, i // w)


FORMS: dict[str, tuple[Callable[[Any, Any], Callable[[Any], Any]], ...]] = {
    "identical": (lambda n, columns: lambda i: i, lambda n, columns: lambda i: i),
    "shuffle": (
        lambda n, columns: lambda i: 2 * i % n + 2 * i // n,
        lambda n, columns: lambda i: i // 2 + i % 2 * (n // 2),
    ),
    "transpose": (
        lambda n, columns: lambda i: i % columns * (n // columns) + i // columns,
        lambda n, columns: lambda i: i % (n // columns) * columns + i // (n // columns),
    ),
    "bit-reversal": (_reversal, _reversal),
}
"""The element i of a permutation of n words, and of its inverse."""


def by_all(algorithm: str, n: Any, w: Any, l: Any) -> list[SymbolicLaunch]:
    """A thread for each word, any permutation."""
    return [directed(algorithm, mm.DMM(w, l), n, n)]


def by_some(algorithm: str, on: str, n: Any, p: Any, w: Any, l: Any) -> list[SymbolicLaunch]:
    """p threads, any permutation."""
    return [directed(algorithm, machine(on, w, l), n, p)]


def transposing(on: str, n: Any, p: Any, w: Any, l: Any) -> list[SymbolicLaunch]:
    """p threads, D-designated, along the transpose of a matrix of w columns."""
    return written(by_some("D-designated", on, n, p, w, l), "transpose", n, w)


def named(algorithm: str, permutation: str, n: Any, w: Any, l: Any) -> list[SymbolicLaunch]:
    """A thread for each word along one of `FORMS`."""
    return written(by_all(algorithm, n, w, l), permutation, n, w)


def example(algorithm: str, l: Any) -> list[SymbolicLaunch]:
    """CFP section III's example, which transposes four rows of four words."""
    if algorithm in ("conflict-free", "as printed"):
        return by_all("conflict-free", 16, 4, l)
    return named(algorithm, "transpose", 16, 4, l)


def conflict_free_rows(k: Any, n: Any, w: Any, d: Any, l: Any) -> list[SymbolicLaunch]:
    """k arrays on d DMMs, conflict-free."""
    sizes = {"a": (k, n), "b": (k, n), "s": (n,), "d": (n,)}
    machine = mm.HMM(dmms=d, width=w, global_latency=20, shared_latency=l)
    free = {"alpha": 1, "beta": 1}
    return [SymbolicLaunch(PROGRAMS["conflict-free"], sizes, k * n, machine, n, stages=free)]


def designated_rows(k: Any, n: Any, w: Any, d: Any, l: Any) -> list[SymbolicLaunch]:
    """The same, D-designated; the sum of stages of the directed round is C in each block."""
    (launch,) = conflict_free_rows(k, n, w, d, l)
    sizes = {"a": (k, n), "b": (k, n), "p": (n,)}
    stages = {"beta": symbols_of("C")["C"]}
    return [replace(launch, program=PROGRAMS["D-designated"], arguments=sizes, stages=stages)]
