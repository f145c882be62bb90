"""Permuting an array along a permutation given in advance, on the HMM (ICPP sections IV, VI, VII).

D- and S-designated (section IV) are the programs of `mmsim_algorithms.dmm_permutation` on an HMM:
`permute(mm.HMM(...), "D-designated", P)`. Here are the permutations without conflicts. Rows are
permuted in shared memory, columns by transposing. Any permutation of a square matrix is a
permutation within rows, one within columns, and one within rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt

import numpy as np
import numpy.typing as npt

import mmsim as mm
from mmsim.host.free_memory import require_memory
from mmsim_algorithms import permutations
from mmsim_algorithms.colouring import schedules
from mmsim_algorithms.dmm_permutation.programs import Permutation
from mmsim_algorithms.errors import PreconditionError, require
from mmsim_algorithms.transpose.hmm import transposed, zeros

# Bytes for each permuted word, roughly.
FOR_TABLES = 65
FOR_A_PLAN = 130

Tables = tuple[Permutation, Permutation]
"""s and d of a row-wise permutation: row i moves its word s[i, j] to d[i, j]."""


@mm.program
def row_wise(T: mm.Thread, a: mm.Array, b: mm.Array, s: mm.Array, d: mm.Array) -> None:
    """ICPP section VI, [Row-wise permutation]: a block for each row, a thread for each word."""
    alpha = mm.shared(a.shape[1])
    beta = mm.shared(a.shape[1])
    i, j = T.block, T.index
    alpha[j] = a[i, j]
    source, target = s[i, j], d[i, j]
    T.barrier()
    beta[target] = alpha[source]
    T.barrier()
    b[i, j] = beta[j]


@row_wise.example
def rows_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """A square matrix of at least `size` words (default: 2w x 2w), each row permuted at random."""
    side = -(-isqrt(size or 4 * width * width) // width) * width
    a = np.arange(side * side).reshape(side, side)
    rows = np.array([permutations.random(side, seed + i) for i in range(side)])
    s, d = schedules.conflict_free_rows(rows, width)
    return mm.Example(a, np.zeros_like(a), s, d, threads=a.size, block_size=side)


def row_tables(P: npt.ArrayLike, w: int) -> Tables:
    """Return s and d for permuting every row i along P[i] without bank conflicts.

    Raises `PreconditionError` unless every row of P is a permutation and w divides its length.
    """
    source = "ICPP, section VI"
    rows = np.asarray(P)
    require(rows.ndim == 2, f"P has a permutation for each row, not shape {rows.shape}", source)
    length = rows.shape[1]
    require(
        length > 0 and length % w == 0,
        f"w divides the length of a row, but w={w} and the length is {length}",
        source,
    )
    require_memory(f"a table for the rows of {rows.size} words", FOR_TABLES * rows.size)
    s, d = schedules.conflict_free_rows(np.array([permutations.check(row) for row in rows]), w)
    return s, d


@dataclass(frozen=True, eq=False)
class Plan:
    """The tables of the scheduled permutation: s and d of its three row-wise permutations.

    The second permutes the columns: its row j is for column j of the matrix.
    """

    first: Tables
    second: Tables
    third: Tables

    @property
    def side(self) -> int:
        """sqrt n."""
        return len(self.first[0])


def plan(P: npt.ArrayLike, w: int) -> Plan:
    """The plan for any permutation of n words on an HMM of width w (ICPP section VII).

    Raises `PreconditionError` unless P is a permutation, n a square and sqrt n a multiple of w.
    """
    source = "ICPP, section VII"
    P = permutations.check(P)
    side = isqrt(P.size)
    require(side * side == P.size, f"sqrt n is a whole number, but n={P.size}", source)
    require(side > 0 and side % w == 0, f"w divides sqrt n, but w={w} and sqrt n={side}", source)
    require_memory(f"the plan for {P.size} words", FOR_A_PLAN * P.size)
    first, second, third = schedules.three_steps(P, side)
    return Plan(row_tables(first, w), row_tables(second, w), row_tables(third, w))


def rows_permuted(
    machine: mm.HMM,
    a: npt.ArrayLike,
    tables: Tables,
    *,
    schedule: mm.Schedule = "synchronous",
    trace: bool | None = None,
) -> mm.Run:
    """Permute each row of a matrix: 4n/w + 4n/(dw) + 4L - 4 time units (ICPP Lemma 7).

    Raises `PreconditionError` unless w divides the length of a row and d the number of rows.
    """
    source = "ICPP, section VI"
    data = np.asarray(a)
    s, d = tables
    if data.ndim != 2 or not data.shape == s.shape == d.shape:
        text = f"a, s and d are matrices of one shape, not {data.shape}, {s.shape} and {d.shape}"
        raise PreconditionError(f"{text} ({source})")
    rows, length = data.shape
    w, dmms = machine.width, machine.dmms
    if not length or length % w:
        text = f"w divides the length of a row, but w={w} and the length is {length}"
        raise PreconditionError(f"{text} ({source})")
    if rows % dmms:
        text = f"d divides the rows, but d={dmms} and there are {rows}"
        raise PreconditionError(f"{text} ({source})")
    return machine.run(
        row_wise,
        data,
        zeros(data.shape, data.dtype),
        s,
        d,
        threads=data.size,
        block_size=length,
        schedule=schedule,
        trace=trace,
    )


def columns_permuted(
    machine: mm.HMM,
    a: npt.ArrayLike,
    tables: Tables,
    *,
    schedule: mm.Schedule = "synchronous",
    trace: bool | None = None,
) -> mm.Run:
    """Permute each column of a matrix: transpose, permute the rows, transpose (ICPP Lemma 8).

    `tables` has a row for each column: `row_tables(P, w)` permutes column j along P[j]. It takes
    8n/w + 8n/(dw) + 8L - 8 time units. Raises `PreconditionError` as `transposed` and
    `rows_permuted` do.
    """
    there = transposed(machine, a, schedule=schedule, trace=trace)
    moved = rows_permuted(machine, there.arrays["b"], tables, schedule=schedule, trace=trace)
    back = transposed(machine, moved.arrays["b"], schedule=schedule, trace=trace)
    return mm.total([there, moved, back])


def scheduled(
    machine: mm.HMM,
    a: npt.ArrayLike,
    plan: Plan,
    *,
    schedule: mm.Schedule = "synchronous",
    trace: bool | None = None,
) -> mm.Run:
    """Permute n words along any permutation: rows, columns, rows, in five launches (ICPP VII).

    It takes 16n/w + 16n/(dw) + 16L - 16 time units (IEICE). b of the run has the shape of `a`.
    With `trace` the launches are traced, and `Run.player` steps through them.
    Raises `PreconditionError` unless `plan` is for as many words and d divides sqrt n and n/w^2.

    >>> P = permutations.bit_reversal(64)
    >>> run = scheduled(mm.HMM(dmms=2, width=4, global_latency=10), np.arange(64), plan(P, 4))
    >>> run.time, (run.arrays["b"][P] == np.arange(64)).all()
    (528, np.True_)
    """
    data, side = np.asarray(a), plan.side
    require(
        data.size == side * side,
        f"a has the plan's {side * side} words, not {data.size}",
        "ICPP, section VII",
    )
    matrix = data.reshape(side, side)
    first = rows_permuted(machine, matrix, plan.first, schedule=schedule, trace=trace)
    second = columns_permuted(
        machine, first.arrays["b"], plan.second, schedule=schedule, trace=trace
    )
    third = rows_permuted(machine, second.arrays["b"], plan.third, schedule=schedule, trace=trace)
    run = mm.total([first, second, third])
    run.arrays["b"] = run.arrays["b"].reshape(data.shape)
    return run
