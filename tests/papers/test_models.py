"""Three ways to the same number: a model of the addresses, the claim's formula, and the machine.

`models` has the models, a module for each family of algorithms.
"""

import importlib
import pkgutil
import random

import models
import pytest
from models import cost

import mmsim_algorithms
from mmsim.claims.claim import call_with, show
from mmsim_algorithms.errors import PreconditionError

CLAIMS = {claim.id: claim for claim in mmsim_algorithms.claims()}
MODULES = [
    importlib.import_module(f"models.{module.name}")
    for module in pkgutil.iter_modules(models.__path__)
]


def exported(name):
    """The exports of this name of all modules, in one dictionary by claim."""
    return {id_: one for module in MODULES for id_, one in getattr(module, name, {}).items()}


MODELS, OPEN = exported("MODELS"), exported("OPEN")
ON_GRID, DRAWN = 3, 3
"""The numbers of cases of the grid and of others on which each claim is tried."""
LARGEST, LARGEST_OF_CUBES = 128, 16
"""The largest n of these, and for work of about n³; `make test-long` has all."""


def family(id_):
    return id_.partition("-")[0]


def allowed(claim, case):
    return all(call_with(condition.holds, case) for condition in claim.requires)


def drawn(claim, cases, draws, count=DRAWN, tries=3000):
    """Points beside the grid that the claim allows: each value is one of its parameter's values.

    Half of the numbers are any between the least and the largest of them.
    """
    values = {name: sorted({case[name] for case in cases}) for name in cases[0]}
    found = []
    for _ in range(tries if values else 0):
        point = {name: draws.choice(known) for name, known in values.items()}
        for name, known in values.items():
            if isinstance(known[0], int) and draws.random() < 0.5:
                point[name] = draws.randint(known[0], known[-1])
        if point not in cases and point not in found and allowed(claim, point):
            found.append(point)
        if len(found) == count:
            break
    return found


def points(claim):
    """Small cases of the grid, the first and the last of them, and points beside it."""
    draws = random.Random(claim.id)
    largest = LARGEST_OF_CUBES if family(claim.id) in ("DP", "POLY") else LARGEST
    cases = [case for case in claim.cases() if case.get("n", 0) <= largest]
    inner = draws.sample(cases[1:-1], min(max(len(cases) - 2, 0), ON_GRID - 2))
    return [*cases[:1], *inner, *cases[1:][-1:], *drawn(claim, cases, draws)]


def check(id_, cases):
    claim = CLAIMS[id_]
    for case in cases:
        modelled = cost.time(MODELS[id_](**case))
        measured = claim.measure(claim.run(schedule="synchronous", **case))
        claimed = claim.evaluate(case)
        said = f"{show(case)}: model {modelled}, machine {measured}, claimed {claimed}"
        assert id_ in OPEN or modelled == measured, said
        assert claim.agrees(modelled, claimed), said
        assert claim.agrees(measured, claimed), said


@pytest.mark.parametrize("id_", sorted(MODELS))
def test_model_formula_and_machine_agree(id_):
    check(id_, points(CLAIMS[id_]))


@pytest.mark.long
@pytest.mark.parametrize("id_", sorted(MODELS))
def test_they_agree_on_the_whole_grid_and_beside_it(id_):
    claim = CLAIMS[id_]
    cases = claim.cases()
    check(id_, cases + drawn(claim, cases, random.Random(id_), count=50))


def test_a_family_with_a_model_has_one_for_each_of_its_claims():
    families = {family(id_) for id_ in MODELS}
    claims = {id_ for id_ in CLAIMS if family(id_) in families}
    assert claims == set(MODELS)
    assert set(OPEN) <= set(MODELS)


@pytest.mark.parametrize(
    ("latency", "requests", "dmm", "umm"),
    [
        (3, [[0, 1, 10, 6], [8, 9, 14, 15]], 5, 7),
        (5, [[7, 5, 15, 0], [10, 11, 12, 9]], 7, 9),
    ],
    ids=["SMM, Figure 4", "ICPP, Figure 3"],
)
def test_the_papers_examples(latency, requests, dmm, umm):
    for rule, time in ((cost.banks, dmm), (cost.groups, umm)):
        rounds = cost.Rounds(w=4)
        rounds.add(rule, latency, requests)
        assert rounds.time == time


# Machines of width 1, which few grids have: a warp is one thread.

TWO_LANES = sorted(
    id_ for id_ in MODELS if "w >= 2" in {condition.text for condition in CLAIMS[id_].requires}
)
REFUSED = ("SCAN-async", "SCAN-TCU", "SUM-async")
"""Here a warp of one thread leaves as many sums as it got, so these programs refuse it."""


def narrow(claim, count=3):
    """The first cases of the grid, with width 1."""
    return [{**case, "w": 1} for case in claim.cases()[:count] if "w" in case]


@pytest.mark.parametrize("id_", sorted(MODELS))
def test_a_claim_that_allows_width_1_holds_there(id_):
    check(id_, [case for case in narrow(CLAIMS[id_], count=2) if allowed(CLAIMS[id_], case)])


@pytest.mark.parametrize("id_", [id_ for id_ in TWO_LANES if not id_.startswith(REFUSED)])
def test_a_claim_that_needs_two_lanes_fails_with_one(id_):
    claim = CLAIMS[id_]
    agreed = []
    for case in narrow(claim):
        time = claim.measure(claim.run(schedule="synchronous", **case))
        assert cost.time(MODELS[id_](**case)) == time
        agreed.append(claim.agrees(time, claim.evaluate(case)))
    assert not (any if claim.kind == "exact" else all)(agreed)


@pytest.mark.parametrize("id_", [id_ for id_ in TWO_LANES if id_.startswith(REFUSED)])
def test_what_one_lane_does_not_reduce_is_refused(id_):
    for case in narrow(CLAIMS[id_]):
        with pytest.raises(PreconditionError, match=r"two (threads|words) or more"):
            CLAIMS[id_].run(schedule="synchronous", **case)
