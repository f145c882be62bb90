"""Schedules without conflicts, and three easy steps: the papers derive them from a colouring.

On the DMM an edge joins the banks that an element leaves and enters, and a colour is a warp, which
moves its elements (CFP section IV, SMM section 6, ICPP section VI). On the UMM and the HMM an edge
joins rows, and a colour is a column to travel in (SMM section 7, ICPP section VII).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mmsim_algorithms import permutations
from mmsim_algorithms.colouring.bipartite import colour, colour_many
from mmsim_algorithms.errors import PreconditionError, require

Integers = npt.NDArray[np.int64]


def conflict_free(P: npt.ArrayLike, w: int) -> tuple[Integers, Integers]:
    """Return S and D with P(S(i)) = D(i): each warp reads w banks by S and writes w banks by D.

    CFP section IV, SMM section 6: c_i,j is an element of colour i, S(i*w + j) = c_i,j and D(i*w +
    j) = P(c_i,j). The papers leave the order within a colour open; here its j-th element is in bank
    j of a, so that lane j of every warp reads bank j.

    >>> P = permutations.transpose(16)  # CFP's worked example, with w = 4
    >>> S, D = conflict_free(P, 4)
    >>> permutations.congestion(P, 4), permutations.congestion(D, 4)
    (16, 4)
    """
    P = permutations.check(P)
    _width_divides(len(P), w, "n", "CFP, section IV")
    banks = (np.arange(len(P)) % w).astype(np.int32)
    colours = colour(banks, (P % w).astype(np.int32), w)
    S = np.empty_like(P)
    S[colours.astype(np.int64) * w + banks] = np.arange(len(P))
    D = P[S]
    _check_banks(S, D, w)
    return S, D


def conflict_free_rows(P_rows: npt.ArrayLike, w: int) -> tuple[Integers, Integers]:
    """`conflict_free` for all rows of a matrix: s[i] and d[i] for P_i (ICPP section VI).

    Row i of `P_rows` holds P_i, the permutation of row i; its length is a multiple of w.

    >>> s, d = conflict_free_rows([[0, 2, 1, 3], [3, 2, 1, 0]], 2)
    >>> s.shape, d.shape
    ((2, 4), (2, 4))
    """
    given = np.asarray(P_rows)
    require(
        given.ndim == 2 and given.size > 0,
        f"one permutation for each row of a matrix; the shape is {given.shape}",
        "ICPP, section VI",
    )
    P = _check_rows(given)
    m = P.shape[1]
    _width_divides(m, w, "the length of a row", "ICPP, section VI")
    banks = np.broadcast_to((np.arange(m) % w).astype(np.int32), P.shape)
    colours = colour_many(banks, (P % w).astype(np.int32), w)
    s = np.empty_like(P)
    np.put_along_axis(s, colours.astype(np.int64) * w + banks, np.arange(m)[None], axis=1)
    d = np.take_along_axis(P, s, axis=1)
    _check_banks(s.ravel(), d.ravel(), w)
    return s, d


def three_steps(P: npt.ArrayLike, side: int) -> tuple[Integers, Integers, Integers]:
    """Split P into row-wise, column-wise and row-wise permutations of a side x side matrix.

    SMM section 7 (Lemmas 7.3 and 7.4), ICPP section VII. An edge joins the rows that an element
    leaves and enters. Step 1 moves it to the column that is its colour, step 2 to its row, step 3
    to its column: `first[i, j]` is the column to which step 1 moves element (i, j), `second[j, i]`
    the row to which step 2 moves element (i, j), `third[i, j]` the column to which step 3 moves
    element (i, j). So row i of `second` belongs to column i, as in a transpose, a row-wise
    permutation and a transpose.

    >>> P = permutations.bit_reversal(16)
    >>> bool((compose(*three_steps(P, 4)) == P).all())
    True
    """
    P = permutations.check(P)
    require(
        side > 0 and side * side == len(P),
        f"P permutes a matrix of side x side elements; {len(P)} are not {side} x {side}",
        "SMM, section 7; ICPP, section VII",
    )
    to_row, to_column = np.divmod(P, side)
    from_row = np.repeat(np.arange(side, dtype=np.int32), side)
    colours = colour(from_row, to_row.astype(np.int32), side).astype(np.int64)
    first = colours.reshape(side, side)
    second = np.empty_like(first)
    second[colours, from_row] = to_row
    third = np.empty_like(first)
    third[to_row, colours] = to_column
    require(
        bool((compose(first, second, third) == P).all()),
        "the three steps make up P",
        "SMM, section 7; ICPP, section VII",
    )
    return first, second, third


def compose(first: Integers, second: Integers, third: Integers) -> Integers:
    """Return the permutation of a matrix by three steps, such as those of `three_steps`.

    >>> stay = np.array([[0, 1], [0, 1]])
    >>> compose(stay, stay, stay)
    array([0, 1, 2, 3])
    """
    side = len(first)
    row = np.repeat(np.arange(side), side)
    column = first.ravel()
    row = second[column, row]
    return row * side + third[row, column]


def _width_divides(n: int, w: int, name: str, source: str) -> None:
    require(w > 0 and n % w == 0, f"w divides {name}; {w} does not divide {n}", source)


def _check_rows(rows: npt.NDArray[np.generic]) -> Integers:
    """Check that each row is a permutation; return them as int64. An error names the row."""
    checked = np.empty(rows.shape, dtype=np.int64)
    for i, row in enumerate(rows):
        try:
            checked[i] = permutations.check(row)
        except PreconditionError as error:
            raise PreconditionError(f"row {i}: {error}") from None
    return checked


def _check_banks(S: Integers, D: Integers, w: int) -> None:
    """Refuse a schedule unless each warp's elements lie in w banks (CFP Lemma 2)."""
    warp_start = np.arange(len(S)) // w * w
    for name, addresses in (("S", S), ("D", D)):
        entered = np.zeros(len(S), dtype=np.bool_)
        entered[warp_start + addresses % w] = True
        require(bool(entered.all()), f"each warp of {name} touches {w} banks", "CFP, Lemma 2")
