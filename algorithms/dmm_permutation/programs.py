"""Permuting an array along a permutation given in advance, on the DMM (CFP; SMM section 6).

The value of each a[i] goes to b[P(i)]. The host prepares tables, which the threads read: P itself,
its inverse, or the conflict-free order of CFP section IV. CFP has a thread for each word; SMM has p
threads with n/p words each. The programs here serve both. They run on any machine: on an HMM they
are ICPP section IV's algorithms in its global memory.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

import mmsim as mm
from mmsim_algorithms import permutations
from mmsim_algorithms.access.programs import copy
from mmsim_algorithms.colouring import schedules
from mmsim_algorithms.errors import require

Permutation = npt.NDArray[np.int64]


@mm.program
def destination_designated(T: mm.Thread, a: mm.Array, b: mm.Array, p: mm.Array) -> None:
    """CFP section III, [Destination-designated permutation algorithm]; p[i] holds P(i)."""
    for i in range(T.id, a.size, T.count):
        b[p[i]] = a[i]


@mm.program
def source_designated(T: mm.Thread, a: mm.Array, b: mm.Array, q: mm.Array) -> None:
    """CFP section III, [Source-designated permutation algorithm]; q[i] holds the inverse of P."""
    for i in range(T.id, a.size, T.count):
        b[i] = a[q[i]]


@mm.program
def conflict_free(T: mm.Thread, a: mm.Array, b: mm.Array, s: mm.Array, d: mm.Array) -> None:
    """CFP section III, [Conflict-free permutation algorithm]; s and d hold S and D."""
    for i in range(T.id, a.size, T.count):
        b[d[i]] = a[s[i]]


ALGORITHMS = {
    "copy": copy,
    "D-designated": destination_designated,
    "S-designated": source_designated,
    "conflict-free": conflict_free,
}


def tables(algorithm: str, P: npt.ArrayLike, w: int) -> tuple[Permutation, ...]:
    """Return the tables of an algorithm of `ALGORITHMS`: P, its inverse, or S and D.

    Raises `PreconditionError` unless P is a permutation and, for S and D, w divides n.
    """
    P = permutations.check(P)
    if algorithm == "D-designated":
        return (P,)
    if algorithm == "S-designated":
        return (permutations.inverse(P),)
    if algorithm == "conflict-free":
        require(P.size % w == 0, f"w divides n, but w={w} and n={P.size}", "CFP, section IV")
        return schedules.conflict_free(P, w)
    require(
        algorithm == "copy", f"{algorithm!r} is not one of {', '.join(ALGORITHMS)}", "CFP, Table I"
    )
    return ()


def permute(
    machine: mm.Machine,
    algorithm: str,
    P: npt.ArrayLike,
    a: npt.ArrayLike | None = None,
    *,
    threads: int | None = None,
    block_size: int | None = None,
    schedule: mm.Schedule = "synchronous",
) -> mm.Run:
    """Permute `a` (default: 0, 1, ..., n-1) along P by an algorithm of `ALGORITHMS`.

    `threads` is p, by default n. "copy" copies for any P: the papers compare the others with it.
    Raises `PreconditionError` as `tables` does, and for an array of another size.

    >>> from mmsim_algorithms.permutations import transpose
    >>> permute(mm.DMM(4, 5), "D-designated", transpose(16)).time
    36
    >>> permute(mm.DMM(4, 5), "conflict-free", transpose(16)).time
    32
    """
    given = tables(algorithm, P, machine.width)
    n = np.size(P)
    data = np.arange(n) if a is None else np.asarray(a)
    require(data.shape == (n,), f"a has n={n} words, not shape {data.shape}", "CFP, section III")
    return machine.run(
        ALGORITHMS[algorithm],
        data,
        np.zeros_like(data),
        *given,
        threads=n if threads is None else threads,
        block_size=block_size,
        schedule=schedule,
    )


def moved(a: npt.ArrayLike, P: Permutation) -> npt.NDArray[np.generic]:
    """The right b: b[P(i)] = a[i]."""
    data = np.asarray(a)
    b = np.empty_like(data)
    b[P] = data
    return b


def _example(algorithm: str, width: int, size: int, seed: int) -> mm.Example:
    """A random permutation of about `size` words (default: w x w), a thread for each."""
    n = -(-(size or width * width) // width) * width
    a = np.arange(n)
    given = tables(algorithm, permutations.random(n, seed), width)
    return mm.Example(a, np.zeros_like(a), *given, threads=n)


@destination_designated.example
def destination_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    return _example("D-designated", width, size, seed)


@source_designated.example
def source_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    return _example("S-designated", width, size, seed)


@conflict_free.example
def conflict_free_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    return _example("conflict-free", width, size, seed)
