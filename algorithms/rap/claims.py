"""Claims of RAP sections III and IV about accesses to a w x w matrix, and its transposes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from mmsim.claims import Claim, Precondition
from mmsim_algorithms.grids import RAP_WIDTH, WIDTHS
from mmsim_algorithms.rap import launches
from mmsim_algorithms.rap.bounds import CONSTANT, below_w, first_moment, log_over_loglog
from mmsim_algorithms.rap.cases import (
    SEEDS,
    accessed,
    cases_of_table_3,
    congestion_curve,
    each,
    figures_of_table_2,
    high_sum,
    low_sum,
    many_matrices,
    mean_of_table_2,
    means_of_table_2,
    ones_of_table_2,
    own,
    stages,
    timed,
    transposed,
    transposed_in_place,
)
from mmsim_algorithms.rap.patterns import PATTERNS

SECTION = 3

MEAN = Precondition("100 <= m", lambda m: m >= 100)
"""The sum over m random permutations is close enough to m times the expectation."""
BELOW_W = Precondition(f"3 <= w, {CONSTANT} ln w / ln ln w < w", below_w)
PRINTED = Precondition(
    "hundredths is the figure of Table II",
    lambda pattern, layout, w, hundredths: (
        hundredths == figures_of_table_2().get((pattern, layout, w))
    ),
)


def _lemma_1() -> Iterator[Claim]:
    for name, names, formula in (
        ("contiguous", ("contiguous",), lambda w, l: w + l - 1),
        ("stride", ("stride",), lambda w, l: w**2 + l - 1),
        ("diagonal", ("diagonal", "diagonal transposed"), lambda w, l: w + l - 1),
    ):
        yield Claim(
            id=f"RAP-L1.{name}",
            source="RAP, section III",
            title=f"{name} access of a w x w matrix, DMM, w² threads",
            formula=formula,
            kind="exact",
            grid=timed(access=names),
            run=accessed,
            launches=launches.accessed,
            own=own(30, access=names),
        )
    for name, names, formula in (
        ("CRSW-SRCW", ("CRSW", "SRCW"), lambda w, l: w**2 + w + 2 * l - 2),
        ("DRDW", ("DRDW",), lambda w, l: 2 * (w + l - 1)),
    ):
        yield Claim(
            id=f"RAP-L1.{name}",
            source="RAP, Lemma 1",
            title=f"{name.replace('-', ' and ')} transpose of a w x w matrix, DMM, w² threads",
            formula=formula,
            kind="exact",
            grid=timed(transpose=names),
            run=transposed,
            launches=launches.transposed,
            note="the lemma gives the order; the times of section III's two accesses add up to it",
            own=own(30, transpose=names),
        )
        yield Claim(
            id=f"RAP-L1.{name}.in-place",
            source="RAP, Lemma 1",
            title=f"{name.replace('-', ' and ')} transpose in place, as the paper writes it",
            formula=formula,
            kind="exact",
            grid=timed(transpose=names, programs=("in place", "with barrier")),
            run=transposed_in_place,
            launches=launches.transposed_in_place,
            note="right in lock step; asynchronously the result is asked for with the barrier only",
            own=own(30, transpose=names, programs=("in place", "with barrier")),
        )


def _theorem_2() -> Iterator[Claim]:
    yield Claim(
        id="RAP-TH2",
        source="RAP, Theorem 2",
        title="contiguous and stride access under RAP: w warps of congestion 1",
        formula=lambda w: w,
        kind="exact",
        grid=each(access=("contiguous", "stride"), layout=("RAP",), seed=SEEDS),
        run=accessed,
        launches=launches.accessed_under,
        measure=stages(),
        quantity="S",
        own=own(access=("contiguous", "stride"), layout=("RAP",)),
    )
    yield Claim(
        id="RAP-TH2.transpose",
        source="RAP, Theorem 2",
        title="CRSW and SRCW transpose under RAP: two accesses of congestion 1",
        formula=lambda w, l: 2 * (w + l - 1),
        kind="exact",
        grid=timed(transpose=("CRSW", "SRCW"), layout=("RAP",)),
        run=transposed,
        launches=launches.transposed_under,
        own=own(30, transpose=("CRSW", "SRCW"), layout=("RAP",)),
    )
    yield Claim(
        id="RAP-TH2.O",
        source="RAP, Theorem 2",
        title="any access under RAP: stages of m warps, each under its own random permutation",
        formula=lambda m, w: log_over_loglog(m, w),
        kind="upper",
        constant=CONSTANT,
        grid=lambda: [
            {"pattern": pattern, "w": w, "m": 200} for pattern in PATTERNS for w in (8, 16, 32, 64)
        ],
        run=many_matrices,
        curve=congestion_curve,
        measure=stages("a"),
        quantity="S",
        requires=(MEAN, BELOW_W),
        note="the bound is on the expected congestion, so S/m is a mean over m random "
        "permutations; the accesses are made without knowing them. Where the bound is w or more, "
        "w <= 6, no access could exceed it. That of the proof, 2 (e^2 ln w / ln ln w + 1/2), is "
        "more than w up to w = 42",
        own=own(pattern=("diagonal",), m=(100,)),
    )
    yield Claim(
        id="RAP-TH2.any.printed",
        source="RAP, abstract",
        title="any access under RAP, w = 32: stages of m warps less five standard errors, as "
        "printed; 3.53 stands for what rounds to it",
        formula=lambda m: m * 3535 / 1000,
        kind="upper",
        grid=lambda: [{"pattern": "diagonal", "w": 32, "m": 5000, "trace": True}],
        run=many_matrices,
        measure=low_sum,
        quantity="S_low",
        printed=True,
        scan=True,
        note="3.53 is the stride access under RAS. The paper's own Table II has 3.61 for the "
        "diagonal access under RAP",
    )
    yield Claim(
        id="RAP-TH2.any",
        source="RAP, Theorem 2",
        title="any access under RAP, corrected: stages of m warps, by the first moment",
        formula=lambda m, w: m * first_moment(w),
        kind="upper",
        grid=lambda: [
            {"pattern": pattern, "w": w, "m": 200}
            for pattern in PATTERNS
            for w in (4, 5, 8, 16, 32, 64)
        ],
        run=many_matrices,
        measure=stages("a"),
        quantity="S",
        requires=(MEAN, Precondition("3 <= w", lambda w: w >= 3)),
        note="some bank has k requests or more with probability at most w/k! whatever is accessed, "
        "so 4.32 is a limit for every access at w = 32; algorithms/rap/bounds.py derives it",
        own=own(pattern=("diagonal",), m=(100,)),
    )


def _tables() -> Iterator[Claim]:
    yield Claim(
        id="RAP-T2.1",
        source="RAP, Table II",
        title="accesses whose congestion is 1: stages of w warps",
        formula=lambda w: w,
        kind="exact",
        grid=lambda: ones_of_table_2(range(3), (*WIDTHS, 64)),
        run=accessed,
        launches=launches.accessed_under,
        measure=stages(),
        quantity="S",
        own=lambda: ones_of_table_2(range(1), (128, RAP_WIDTH)),
    )
    yield Claim(
        id="RAP-T2.w",
        source="RAP, Table II",
        title="stride access under RAW, whose congestion is w: stages of w warps",
        formula=lambda w: w * w,
        kind="exact",
        grid=lambda: ({"access": "stride", "w": w} for w in (*WIDTHS, 64)),
        run=accessed,
        launches=launches.accessed_at_once,
        measure=stages(),
        quantity="S",
        own=lambda: ({"access": "stride", "w": w} for w in (128, RAP_WIDTH)),
    )
    yield Claim(
        id="RAP-T2.mean.most",
        source="RAP, Table II",
        title="means: stages of m warps less five standard errors, at most what rounds to the "
        "table's figure",
        formula=lambda m, hundredths: m * (2 * hundredths + 1) / 200,
        kind="upper",
        grid=lambda: means_of_table_2(400),
        run=mean_of_table_2,
        measure=low_sum,
        quantity="S_low",
        requires=(PRINTED, MEAN),
    )
    yield Claim(
        id="RAP-T2.mean.least",
        source="RAP, Table II",
        title="means: stages of m warps and five standard errors, at least what rounds to the "
        "table's figure",
        formula=lambda m, hundredths: m * (2 * hundredths - 1) / 200,
        kind="lower",
        grid=lambda: means_of_table_2(400),
        run=mean_of_table_2,
        measure=high_sum,
        quantity="S_high",
        requires=(PRINTED, MEAN),
    )
    one = {
        "reads": [("CRSW", "RAW"), ("CRSW", "RAS"), ("CRSW", "RAP"), ("SRCW", "RAP")],
        "writes": [("SRCW", "RAW"), ("SRCW", "RAS"), ("SRCW", "RAP"), ("CRSW", "RAP")],
    }
    for what, worst in (("reads", "SRCW"), ("writes", "CRSW")):
        yield Claim(
            id=f"RAP-T3.{what}.1",
            source="RAP, Table III",
            title=f"transposes whose {what} have congestion 1: stages of w warps",
            formula=lambda w: w,
            kind="exact",
            grid=partial(cases_of_table_3, [*one[what], ("DRDW", "RAW")]),
            run=transposed,
            launches=launches.transposed_at_once,
            measure=stages(kind=what.removesuffix("s")),
            quantity="S",
        )
        yield Claim(
            id=f"RAP-T3.{what}.w",
            source="RAP, Table III",
            title=f"{worst} under RAW, whose {what} have congestion w: stages of w warps",
            formula=lambda w: w * w,
            kind="exact",
            grid=partial(cases_of_table_3, [(worst, "RAW")]),
            run=transposed,
            launches=launches.transposed_at_once,
            measure=stages(kind=what.removesuffix("s")),
            quantity="S",
        )


CLAIMS = [*_lemma_1(), *_theorem_2(), *_tables()]
