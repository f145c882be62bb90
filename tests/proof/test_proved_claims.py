"""Proved claims: no changed formula is proved, and runs at points of the domain agree."""

from dataclasses import replace
from functools import partial
from itertools import islice

import pytest
import sympy

from mmsim.proof.prove import prove
from tests.kit.runs.proved import (
    CLAIMS,
    belongs,
    compare,
    proof_points,
    refused,
    small_points,
    some_points,
)

SOME = ("SMM-L5.1", "SMM-L7.4", "SUM-tree", "CONV-direct.UMM", "ICPP-T9")
CHANGES, FEW = 20, 3
POINTS = 40


def by_id(names):
    return [claim for claim in CLAIMS if claim.id in names]


@pytest.mark.parametrize("claim", by_id(SOME), ids=lambda claim: claim.id)
def test_no_changed_formula_is_proved(claim):
    found = refused(claim, 0, FEW)
    assert found.tried
    assert found.refuted
    assert not found.wrong


def test_small_cases_of_the_grid_refute_a_formula():
    """Small numbers for its symbols don"'t: C is the congestion of a permutation."""
    (claim,) = by_id(["CFP-F7.D"])

    def formula(k, n, w, d, l, C):
        return (C + 2 * n / w) * sympy.ceiling(k / sympy.sympify(d) ** 2) + 3 * (l - 1)

    grid = [case for case in claim.cases() if case["permutation"] == "random"]
    against = prove(replace(claim, formula=formula, grid=lambda: grid), [3], seconds=2).against
    assert against["w"] == 3
    assert against["k"] > against["d"] > 1
    assert against["measured"] != int(against["claimed"])


@pytest.mark.long
@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_none_of_many_changed_formulas_is_proved(claim):
    for width in (2, 3, 4):
        assert not refused(claim, 1, CHANGES, width).wrong


@pytest.mark.parametrize("claim", by_id(SOME), ids=lambda claim: claim.id)
def test_points_of_the_proofs(claim):
    """The small points of a domain belong to parts of its proof, and the formula holds there."""
    found = proof_points(claim, 2)
    known = {frozenset(case.items()) for case in found}
    small = list(small_points(claim, 2, 4))
    assert small
    missed = [case for case in small if frozenset(case.items()) not in known]
    assert not missed, missed[:3]
    chosen = [*islice(small, 4), *found[:: 1 + len(found) // 8]]
    for case in filter(partial(belongs, claim), chosen):
        compare(claim, case)


@pytest.mark.long
@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_many_points_of_the_proofs(claim):
    for width in (3, 1, 2, 5):
        found = proof_points(claim, width)
        if found is None:
            continue
        known = {frozenset(case.items()) for case in found}
        missed = [c for c in small_points(claim, width, 3) if frozenset(c.items()) not in known]
        assert not missed, missed[:3]
        for case in some_points(claim, width, POINTS):
            compare(claim, case)
