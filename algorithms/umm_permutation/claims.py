"""Claims of SMM section 7 about permuting on the UMM."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from mmsim.claims import Claim, Precondition, root
from mmsim_algorithms.colouring.schedules import three_steps
from mmsim_algorithms.grids import FULL_WARPS, TWO_LANES
from mmsim_algorithms.transpose.umm_claims import (
    GROUPS,
    R_SHARES,
    R_THREADS,
    SHARES,
    W_THREADS,
    swap_time,
)
from mmsim_algorithms.umm_permutation import launches
from mmsim_algorithms.umm_permutation.cases import (
    all_stages,
    any_power,
    any_power_and_registers,
    columns_permuted,
    eighth_power,
    eighth_power_any,
    fourth_power,
    matrix_permuted,
    one_matrix,
    one_warp,
    one_warp_any,
    one_warp_less,
    permuted,
    rows_permuted,
    squared_powers,
    squared_powers_and_registers,
    time_of_data,
)
from mmsim_algorithms.umm_permutation.programs import one_pass, one_pass_tables, permutation

SECTION = 7


def _round(p: Any, w: Any, l: Any) -> Any:
    """The time of a round: each of p threads accesses a word of its warp's group."""
    return p / w + l - 1


P_TO_MATRIX = Precondition("w <= p <= w^2", lambda p, w: w <= p <= w * w)
WHOLE_ROWS = Precondition("p divides w^2", lambda p, w: w * w % p == 0)
FOURTH = Precondition("n = w^4", lambda n, w: n == w**4)
EIGHTH = Precondition("n = w^8", lambda n, w: n == w**8)
SQUARED = Precondition("n = w^(2^k)", lambda n, w, k: n == w ** (2**k))
POWER = Precondition("n = w^m", lambda n, w, m: n == w**m)

DATA = "charged are a and b only, as in the paper: the time of their rounds"
IN_THREE_STEPS = partial(launches.matrix_permuted, permutation, ("first", "second", "third"), "b")
IN_ONE_PASS = partial(launches.matrix_permuted, one_pass, ("source", "row", "column"), "ab")

ALL = "charged is everything, the tables too: a row-wise permutation reads one"


def _small_claims() -> Iterator[Claim]:
    """w x w: Lemmas 7.1 to 7.4."""
    yield Claim(
        id="SMM-L7.1",
        source="SMM, Lemma 7.1",
        title="row-wise permutation of w x w, UMM: a and b",
        formula=lambda p, w, l: 2 * _round(p, w, l) * w**2 / p,
        kind="exact",
        grid=one_matrix,
        run=rows_permuted,
        launches=launches.rows_permuted,
        measure=time_of_data,
        requires=(FULL_WARPS, P_TO_MATRIX, WHOLE_ROWS),
        note=DATA,
    )
    yield Claim(
        id="SMM-L7.1.tables",
        source="SMM, Lemma 7.1",
        title="row-wise permutation of w x w, UMM: all accesses",
        formula=lambda p, w, l: 3 * _round(p, w, l) * w**2 / p,
        kind="exact",
        grid=one_matrix,
        run=rows_permuted,
        launches=launches.rows_permuted,
        requires=(FULL_WARPS, P_TO_MATRIX, WHOLE_ROWS),
        note=ALL,
    )
    yield Claim(
        id="SMM-L7.1.O",
        source="SMM, Lemma 7.1",
        title="row-wise permutation of w x w, UMM, any shares: all accesses",
        formula=lambda p, w, l: w + w**2 * l / p,
        kind="upper",
        constant=6,
        grid=lambda: (*one_matrix(whole=False), *one_warp_less()),
        run=rows_permuted,
        requires=(FULL_WARPS, P_TO_MATRIX),
        note=f"{ALL}; rounding shares up at most doubles the latencies. No smaller constant is "
        "enough: with p = w(w - 1) the ratio tends to 6 as l and then w grow",
    )
    yield Claim(
        id="SMM-L7.2",
        source="SMM, Lemma 7.2",
        title="column-wise permutation of w x w, UMM, w threads, w registers: a and b",
        formula=lambda w, l: 6 * w * l,
        kind="exact",
        grid=one_warp,
        run=columns_permuted,
        launches=launches.columns_permuted,
        measure=time_of_data,
        note=DATA,
    )
    yield Claim(
        id="SMM-L7.2.tables",
        source="SMM, Lemma 7.2",
        title="column-wise permutation of w x w, UMM, w threads, w registers: all accesses",
        formula=lambda w, l: 7 * w * l,
        kind="exact",
        grid=one_warp,
        run=columns_permuted,
        launches=launches.columns_permuted,
        note=ALL,
    )
    yield Claim(
        id="SMM-L7.3",
        source="SMM, Lemma 7.3",
        title="colouring by rows: each request of Lemma 7.4 takes one stage",
        formula=lambda w: 13 * w,
        kind="exact",
        grid=one_warp_any,
        run=partial(matrix_permuted, permutation, three_steps),
        launches=IN_THREE_STEPS,
        measure=all_stages,
        quantity="S",
        note="the words of a row have different colours, so step 1 stays within it; those of a "
        "colour go to different rows, so step 2 stays within a column",
    )
    yield Claim(
        id="SMM-L7.4",
        source="SMM, Lemma 7.4",
        title="any permutation of w^2 words, UMM, w threads, w registers: a and b",
        formula=lambda w, l: 10 * w * l,
        kind="exact",
        grid=one_warp_any,
        run=partial(matrix_permuted, permutation, three_steps),
        launches=IN_THREE_STEPS,
        measure=time_of_data,
        note=DATA,
    )
    yield Claim(
        id="SMM-L7.4.tables",
        source="SMM, Lemma 7.4",
        title="any permutation of w^2 words, UMM, w threads, w registers: all accesses",
        formula=lambda w, l: 13 * w * l,
        kind="exact",
        grid=one_warp_any,
        run=partial(matrix_permuted, permutation, three_steps),
        launches=IN_THREE_STEPS,
        note=ALL,
    )
    yield Claim(
        id="SMM-L7.4.one-pass",
        source="SMM, section 7, improved",
        title="any permutation of w^2 words, UMM, a colour to each thread: a and b",
        formula=lambda w, l: 2 * w * l,
        kind="exact",
        grid=one_warp_any,
        run=partial(matrix_permuted, one_pass, one_pass_tables),
        launches=IN_ONE_PASS,
        measure=time_of_data,
        note=f"{DATA}; w threads can't read w^2 words and write them in less",
    )
    yield Claim(
        id="SMM-L7.4.one-pass.tables",
        source="SMM, section 7, improved",
        title="any permutation of w^2 words, UMM, a colour to each thread: all accesses",
        formula=lambda w, l: 5 * w * l,
        kind="exact",
        grid=one_warp_any,
        run=partial(matrix_permuted, one_pass, one_pass_tables),
        launches=IN_ONE_PASS,
        note="charged is everything: three tables are read",
    )


def _large_claims() -> Iterator[Claim]:
    """n words in several launches: w^4, w^8, Lemma 7.5, Theorem 7.6."""
    yield Claim(
        id="SMM-w4",
        source="SMM, section 7",
        title="any permutation of w^4 words, UMM, w registers: all accesses",
        formula=lambda p, w, l: w**3 + w**4 * l / p,
        kind="upper",
        constant=67,
        grid=lambda: (
            *fourth_power((1, 30), whole=False),
            *({"n": w**4, "p": w * (w * w - 1), "w": w, "l": 20_000} for w in (2, 3, 4, 5)),
        ),
        run=permuted,
        requires=(FOURTH, FULL_WARPS, W_THREADS),
        note=f"{ALL}. It needs 66.5: with w = 5 and p = 120 the latencies have 66.43 for nl/p, and "
        "less than 63 + 35/w in general; n/w has less than 47",
    )
    yield Claim(
        id="SMM-w4.data",
        source="SMM, section 7",
        title="any permutation of w^4 words, UMM, w registers: a and b",
        formula=lambda n, p, w, l: (
            34 * _round(p, w, l) * n / p + 2 * swap_time(n, p, w, l, w, w**2)
        ),
        kind="exact",
        grid=lambda: fourth_power((1, 5)),
        run=permuted,
        launches=partial(launches.by_squares, 2),
        measure=time_of_data,
        requires=(FOURTH, FULL_WARPS, W_THREADS, SHARES, TWO_LANES),
        note=f"{DATA}. Nine row-wise permutations, eight local transposes, two swaps. For w = 1 "
        "the word is a row already",
    )
    yield Claim(
        id="SMM-w4.tables",
        source="SMM, section 7",
        title="any permutation of w^4 words, UMM, w registers: all accesses",
        formula=lambda n, p, w, l: (
            43 * _round(p, w, l) * n / p + 2 * swap_time(n, p, w, l, w, w**2)
        ),
        kind="exact",
        grid=fourth_power,
        run=permuted,
        launches=partial(launches.by_squares, 2),
        requires=(FOURTH, FULL_WARPS, W_THREADS, SHARES, TWO_LANES),
        note=ALL,
    )
    yield Claim(
        id="SMM-w8",
        source="SMM, section 7",
        title="any permutation of w^8 words, UMM, w registers: all accesses",
        formula=lambda p, w, l: w**7 + w**8 * l / p,
        kind="upper",
        constant=238,
        grid=eighth_power_any,
        run=permuted,
        requires=(EIGHTH, FULL_WARPS, W_THREADS),
        note=f"{ALL}. With w = 2 and p = 126 the latencies have 237.73 for nl/p, the most of all "
        "w and p; n/w has less than 149",
    )
    yield Claim(
        id="SMM-w8.tables",
        source="SMM, section 7",
        title="any permutation of w^8 words, UMM, w registers: all accesses",
        formula=lambda n, p, w, l: (
            133 * _round(p, w, l) * n / p
            + 6 * swap_time(n, p, w, l, w, w**2)
            + 2 * swap_time(n, p, w, l, w, w**4)
        ),
        kind="exact",
        grid=eighth_power,
        run=permuted,
        launches=partial(launches.by_squares, 3),
        requires=(EIGHTH, FULL_WARPS, W_THREADS, SHARES, TWO_LANES),
        note=f"{ALL}. 27 row-wise permutations, 26 local transposes, eight swaps",
    )
    yield Claim(
        id="SMM-L7.5",
        source="SMM, Lemma 7.5",
        title="any permutation of n = w^(2^k) words, UMM, w registers: all accesses",
        formula=lambda n, p, w, l, k: 3**k * (n / w + n * l / p),
        kind="upper",
        constant=10,
        grid=squared_powers,
        run=permuted,
        requires=(SQUARED, FULL_WARPS, W_THREADS),
        note=f"{ALL}. The constant grows with n: 3^k = (log n / log w)^1.58. The paper's w^c x w^c "
        "is by squares only where c is a power of two, and its last transposes are of w^c x w^c, "
        "not w^(c/2) x w^(c/2). Of 3^k nl/p the row-wise permutations take less than 3 + 3/w, the "
        "local transposes less than 4, and the swaps less than 4/3, as two thirds of the "
        "transposes are of w x w and swap nothing. With w = 2, k = 4 and p = 32766 these are 9.09",
    )
    yield Claim(
        id="SMM-L7.5.any-power",
        source="SMM, Lemma 7.5, improved",
        title="any permutation of n = w^m words, UMM, w registers, by groups: all accesses",
        formula=lambda n, p, w, l, m: (10 * m - 7) * _round(p, w, l) * n / p,
        kind="exact",
        grid=any_power,
        run=partial(permuted, improved=True),
        requires=(POWER, FULL_WARPS, W_THREADS, SHARES, TWO_LANES),
        note=f"{ALL}. Matrices of w columns instead of square ones, tiles transposed directly to "
        "their place: every power of w, 2m - 1 row-wise permutations, 2m - 2 transposes",
    )
    yield Claim(
        id="SMM-T7.6",
        source="SMM, Theorem 7.6",
        title="any permutation of n = w^(2^k) words, UMM, r registers: all accesses",
        formula=lambda n, p, w, l, r, k: 3**k * (n / w + n * l / p) * root(w / r),
        kind="upper",
        constant=10,
        grid=squared_powers_and_registers,
        run=permuted,
        requires=(SQUARED, FULL_WARPS, R_THREADS, GROUPS),
        note=f"{ALL}. With one register the tiles are copied, as a swap in place holds two words. "
        "The constant is that of SMM-L7.5, which is the case r = w",
    )
    yield Claim(
        id="SMM-T7.6.any-power",
        source="SMM, Theorem 7.6, improved",
        title="any permutation of n = w^m words, UMM, r registers, by groups: all accesses",
        formula=lambda n, p, w, l, r, m: (
            3 * (2 * m - 1) * (p / w + l - 1) * n / p
            + 2 * (2 * m - 2) * (root(w / r) * p / w + l - 1) * n / p
        ),
        kind="exact",
        grid=any_power_and_registers,
        run=partial(permuted, improved=True),
        requires=(POWER, FULL_WARPS, R_THREADS, GROUPS, R_SHARES, TWO_LANES),
        note=f"{ALL}. Fewer registers cost bandwidth, not latency",
    )


CLAIMS = [*_small_claims(), *_large_claims()]
