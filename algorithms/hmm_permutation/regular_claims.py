"""Claims of IEICE about transpose, shuffle and bit-reversal."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product
from math import isqrt

import numpy as np

import mmsim as mm
from mmsim.claims import Case, Claim, Precondition, correct
from mmsim_algorithms import permutations
from mmsim_algorithms.grids import IEICE, MULTIPROCESSORS, power_of_two
from mmsim_algorithms.hmm_permutation.launches import regular
from mmsim_algorithms.hmm_permutation.regular import REGULAR
from mmsim_algorithms.transpose.hmm import transposed

SECTION = 4


def permuted(regular: str, schedule: mm.Schedule, n: int, w: int, k: int, L: int) -> mm.Run:
    """Permute n words by a regular permutation on k DMMs, checked."""
    machine = mm.HMM(dmms=k, width=w, global_latency=L)
    a = np.arange(n)
    P = permutations.NAMED[regular](n, 0)
    b = np.empty_like(a)
    b[P] = a
    if regular == "transpose":
        side = isqrt(n)
        run = transposed(machine, a.reshape(side, side), schedule=schedule)
        return correct(run, b=b.reshape(side, side))
    return correct(REGULAR[regular](machine, a, schedule=schedule), b=b)


def sizes(regular: str) -> Iterator[Case]:
    """Widths with every number of DMMs, from one tile for each DMM up."""
    for w, L in product((1, 2, 3, 4, 5, 8, 12, 16), (1, 5, 30, 100)):
        if not power_of_two(w) and regular != "transpose":
            continue
        if regular == "transpose":
            words = [(m * w) ** 2 for m in (1, 2, 3)]
        elif regular == "shuffle":
            words = [2 * w, 4 * w, w * w, 8 * w * w]
        else:
            words = [w * w, 2 * w * w, 8 * w * w]
        tile = 2 * w if regular == "shuffle" else w * w
        for n in sorted({n for n in words if n <= 2304}):
            for k in (1, 2, 3, 4, 8, 9):
                if n % (tile * k) == 0:
                    yield {"n": n, "w": w, "k": k, "L": L}


SQUARE = Precondition("w divides sqrt n", lambda n, w: isqrt(n) ** 2 == n and isqrt(n) % w == 0)
POWERS = Precondition("n, w and k are powers of two", lambda n, w, k: power_of_two(n, w, k))
REQUIRES = {
    "transpose": (
        SQUARE,
        Precondition("k divides n/w^2", lambda n, w, k: n % (k * w * w) == 0),
    ),
    "shuffle": (
        POWERS,
        Precondition("2 k w <= n", lambda n, w, k: 2 * k * w <= n),
    ),
    "bit-reversal": (
        POWERS,
        Precondition("k w^2 <= n", lambda n, w, k: k * w * w <= n),
    ),
}
TILES = {
    "transpose": "tiles of w x w in the diagonal arrangement",
    "shuffle": "tiles of 2 x w, the second row rotated by w/2",
    "bit-reversal": "tiles of w x w in the diagonal arrangement, w^2 <= n",
}

CLAIMS = [
    Claim(
        id=f"IEICE-2.{name}",
        source="IEICE, abstract",
        title=f"{name} on k DMMs",
        formula=lambda n, w, k, L: 2 * n / w + 2 * n / (k * w) + 2 * L - 2,
        kind="exact",
        grid=partial(sizes, name),
        run=partial(permuted, name),
        launches=partial(regular, name),
        requires=REQUIRES[name],
        note=f"the abstract gives no algorithm; this one takes {TILES[name]}",
        own=lambda: [{**IEICE, "k": MULTIPROCESSORS}],
    )
    for name in REGULAR
]
