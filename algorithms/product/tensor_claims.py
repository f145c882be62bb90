"""Claims about the product of matrices on a DMM with a tensor unit."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import mmsim as mm
from mmsim.claims import Case, Claim, correct, root
from mmsim.claims.launch import SymbolicLaunch
from mmsim_algorithms.grids import WHOLE_ROWS
from mmsim_algorithms.product.programs import factors
from mmsim_algorithms.product.tensor import TensorDMM, by_tensor, with_tensor_unit

SECTION = 3
PAPER = "MATMUL, SPAA 2020 (TCU)"
DERIVED = "MATMUL, derived here"


def multiplied(schedule: mm.Schedule, n: int, w: int, l: int, L: int) -> mm.Run:
    """The product of two matrices of n words, checked. l is the tensor unit's latency."""
    a, b = factors(n)
    run = with_tensor_unit(TensorDMM(w, L, l), a, b, schedule=schedule)
    return correct(run, c=a @ b)


def launches(n: Any, w: Any, l: Any, L: Any) -> list[SymbolicLaunch]:
    """The launch of `multiplied`."""
    sizes = {**dict.fromkeys("abc", (root(n), root(n))), "w": w}
    return [SymbolicLaunch(by_tensor, sizes, root(n) * w, TensorDMM(w, L, l))]


def in_lock_step(schedule: mm.Schedule, **case: int) -> mm.Run:
    """The same under the synchronous schedule, in which a call is a round."""
    return multiplied("synchronous", **case)


def in_calls(run: mm.Run) -> int:
    """The time of the rounds of the tensor unit."""
    return sum(one.time for one in run.rounds if one.space == "shared")


def calls(run: mm.Run) -> int:
    """The number of rounds of the tensor unit."""
    return sum(one.space == "shared" for one in run.rounds)


def cases() -> Iterator[Case]:
    """Up to 24 x 24 words."""
    for w, q, l, L in product((1, 2, 3, 4, 8), (1, 2, 3, 6), (1, 30), (1, 5)):
        if w * q <= 24:
            yield {"n": (w * q) ** 2, "w": w, "l": l, "L": L}


CLAIMS = [
    Claim(
        id="MATMUL-TCU.calls",
        source=PAPER,
        title="product of matrices: time of the calls of a (w^2, l) tensor unit",
        formula=lambda n, w, l: n * root(n) / w + n / w**2 * (l - 1),
        kind="exact",
        grid=cases,
        run=in_lock_step,
        launches=launches,
        measure=in_calls,
        requires=(WHOLE_ROWS,),
        note="O(n^(3/2)/sqrt m + (n/m) l), as cited, m = w^2: n/w^2 calls for sqrt(n) x w words",
    ),
    Claim(
        id="MATMUL-TCU",
        source=DERIVED,
        title="product of matrices on a DMM of latency L with a (w^2, l) tensor unit",
        formula=lambda n, w, l, L: (
            n * root(n) / w
            + n / w**2 * (l - 1)
            + (n / w**2 * (w + 1) + root(n) / w) * (root(n) + L - 1)
        ),
        kind="exact",
        grid=cases,
        run=multiplied,
        launches=launches,
        requires=(WHOLE_ROWS,),
        note="w + 1 reads for each call, and a write for each w columns",
    ),
]
