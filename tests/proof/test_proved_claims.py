"""Proved claims: no changed formula is proved, and runs at points of the domain agree."""

from functools import partial
from itertools import islice

import pytest

from mmsim.engines import selection
from mmsim_algorithms.remembered import STORE, Store
from tests.kit.runs.proved import CLAIMS, belongs, proof_points, small_points, wrongly_proved

SOME = ("SMM-L5.1", "SMM-L7.4", "SUM-tree", "CONV-direct.UMM", "ICPP-T9")
CHANGES, FEW = 20, 3
POINTS = 20_000 // len(CLAIMS)


def by_id(names):
    return [claim for claim in CLAIMS if claim.id in names]


@pytest.mark.parametrize("claim", by_id(SOME), ids=lambda claim: claim.id)
def test_no_changed_formula_is_proved(claim):
    wrong, tried = wrongly_proved(claim, 0, FEW)
    assert tried
    assert not wrong


@pytest.mark.long
@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_none_of_many_changed_formulas_is_proved(claim):
    for width in (2, 3, 4):
        assert not wrongly_proved(claim, 1, CHANGES, width)[0]


@pytest.fixture
def forgotten(monkeypatch):
    """Runs are not remembered; gives a function that chooses the engine."""

    def choose(engine):
        monkeypatch.setattr(selection, "default_engine", engine)
        for name, value in vars(Store(room=STORE.room)).items():
            monkeypatch.setattr(STORE, name, value)

    return choose


def agree(claim, case, choose):
    """Compare the formula with runs on both engines."""
    claimed = claim.evaluate(case)
    for engine in ("array", "events"):
        choose(engine)
        run = claim.run(schedule="synchronous", **case)
        assert claim.measure(run) == claimed, (claim.id, engine, case)


@pytest.mark.parametrize("claim", by_id(SOME), ids=lambda claim: claim.id)
def test_points_of_the_proofs(claim, forgotten):
    """The small points of a domain belong to parts of its proof, and the formula holds there."""
    found = proof_points(claim, 2)
    known = {frozenset(case.items()) for case in found}
    small = list(small_points(claim, 2, 4))
    assert small
    missed = [case for case in small if frozenset(case.items()) not in known]
    assert not missed, missed[:3]
    chosen = [*islice(small, 4), *found[:: 1 + len(found) // 8]]
    for case in filter(partial(belongs, claim), chosen):
        agree(claim, case, forgotten)


@pytest.mark.long
@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_many_points_of_the_proofs(claim, forgotten):
    for width in (1, 2, 3, 4):
        found = proof_points(claim, width)
        if found is None:
            continue
        known = {frozenset(case.items()) for case in found}
        missed = [c for c in small_points(claim, width, 3) if frozenset(c.items()) not in known]
        assert not missed, missed[:3]
        found = [case for case in found if belongs(claim, case)]
        for case in found[:: 1 + len(found) * 4 // POINTS]:
            if max(value for value in case.values() if isinstance(value, int)) <= 1000:
                agree(claim, case, forgotten)
