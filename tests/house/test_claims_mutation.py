"""Mutation testing of the claims: what each depends on, and that it notices (docs/mutation.md)."""

import json
from fractions import Fraction
from types import SimpleNamespace

import pytest

import mmsim as mm
from mmsim.claims import Claim, gcd, maximum, minimum, root
from mmsim.claims.verify import fingerprint
from mmsim_algorithms import claims
from tests.kit import ROOT
from tests.kit.mutation.claims_page import page, read, tried
from tests.kit.mutation.dependence import RULES, Met, depends, met
from tests.kit.mutation.fates import Fate, explanations, judged
from tests.kit.mutation.mutate_claims import (
    UNPROVED,
    Trials,
    slack,
    try_all,
    unnoticed,
    usual,
)
from tests.kit.mutation.rules import Edit, RuleMutant, rule_mutants
from tests.kit.mutation.sample_runs import read as sample
from tests.kit.mutation.sample_runs import through_shared

KEPT = (ROOT / "benchmarks" / "results" / "claims-mutation.json").read_text(encoding="utf-8")
MUTANTS = rule_mutants()
CLAIMS = claims()


def claim(formula, quantity="T", kind="exact", **more):
    return Claim("X", "a paper", "reading", formula, kind, list, None, quantity=quantity, **more)


def meets(*units, most=1.0, dmms=1, asynchronous=False, barriers=False):
    return Met(frozenset(units), most, dmms, asynchronous, barriers)


@pytest.mark.parametrize(
    ("one", "runs", "rules"),
    [
        (claim(lambda n, w, l: n / w + l - 1), meets("bank"), "banks latency rounds warps"),
        (claim(lambda n, w: n / w), meets("bank"), "banks rounds warps"),
        (claim(lambda n, L: n + L - 1), meets("group", most=4), "groups conflicts latency rounds"),
        (claim(lambda: 5), meets("bank", most=2), "banks latency rounds warps"),
        (
            claim(lambda n, w, l: n * gcd(root(n), w) + l),
            meets("bank"),
            "banks conflicts latency rounds warps",
        ),
        (claim(lambda n, p, w: minimum(n / p, w)), meets("group"), "groups conflicts rounds warps"),
        (claim(lambda n, w: minimum(n, 7) / w), meets("group"), "groups rounds warps"),
        (
            claim(lambda n, w, l, C: n / w + C + l),
            meets("bank", "group"),
            "banks groups conflicts latency rounds warps",
        ),
        (
            claim(lambda n, w, d, L: n / w + n / (d * w) + L),
            meets("bank", "group", dmms=3),
            "banks groups latency rounds warps DMMs",
        ),
        (claim(lambda n, w, d: n / (d * w)), meets("bank"), "banks rounds warps"),
        (claim(lambda n, w, k: 3**k * n / w), meets("group"), "groups rounds warps"),
        (
            claim(lambda n, w, l: n / w + l - 1),
            meets("bank", asynchronous=True),
            "banks latency warps turns",
        ),
        (
            claim(lambda n, w, l: maximum(n / w, l), kind="lower"),
            meets("group"),
            "latency rounds warps turns",
        ),
        (
            claim(lambda n, w: n - n / w, "deficit", "lower"),
            meets("group", most=4),
            "groups conflicts warps counts",
        ),
        (claim(lambda n, w, l: n + l * (w - w)), meets("bank"), "banks rounds"),
        (claim(lambda n, w: n / w, "S"), meets("bank"), "banks warps counts"),
        (claim(lambda n: n, "D"), meets("group", most=9), "groups conflicts counts"),
        (claim(lambda n: 2 * n, "words"), meets("bank"), "counts"),
        (claim(lambda: 6, "cells"), meets("bank", "group"), "banks groups warps counts"),
        (claim(lambda: 9, "address"), meets("bank"), ""),
        (
            claim(lambda n, w: n / w, kind="upper"),
            meets("bank", barriers=True),
            "banks rounds warps barriers",
        ),
        (
            claim(lambda n, w: n / w, kind="lower"),
            meets("bank", barriers=True),
            "rounds warps turns",
        ),
        (claim(lambda n: n, "S"), meets("bank", barriers=True), "banks counts"),
    ],
)
def test_the_rules_that_a_formula_depends_on(one, runs, rules):
    assert depends(one, runs) == set(rules.split())


def test_a_quantity_that_is_not_known_is_refused():
    with pytest.raises(KeyError, match="luck"):
        depends(claim(lambda n: n, "luck"), meets("bank"))


def test_what_runs_meet():
    import numpy as np

    a, q = np.arange(64), np.zeros(64, dtype=np.int64)

    def run(machine, schedule="synchronous"):
        return machine.run(sample, a, 4 * np.arange(15), threads=15, schedule=schedule)

    assert met([run(mm.DMM(4, 1))]) == meets("bank", most=15 / 4)
    assert met([run(mm.UMM(4, 1), "asynchronous")]) == meets(
        "group", most=15 / 4, asynchronous=True
    )
    both = met([run(mm.DMM(4, 1)), run(mm.UMM(4, 1))])
    assert both.units == {"bank", "group"}

    @mm.program
    def own(T, a):
        s = mm.shared(4)
        s[T.index] = a[T.id]

    def on(dmms, threads):
        return mm.HMM(dmms, 4, 9).run(own, a, threads=threads, block_size=4)

    assert met([on(3, 64)]) == meets("bank", "group", dmms=3)
    assert met([on(3, 8), on(9, 4)]).dmms == 2  # the others have no block
    assert met([mm.HMM(3, 4, 9).run(sample, a, q, threads=16)]).dmms == 1  # nothing is shared

    b = np.zeros_like(a)
    barrier = mm.UMM(4, 1).run(through_shared, a, a, b, threads=15)
    assert met([barrier]).barriers
    assert met([mm.total([run(mm.UMM(4, 1)), barrier])]).barriers


def test_what_no_machine_ran_meets_nothing():
    (counted,) = {
        one.run("synchronous", w=8, in_row=1, t=2) for one in CLAIMS if one.id == "RAP-TH3"
    }
    assert met([counted]) == meets(most=0.0)


def test_every_claim_has_a_quantity_that_is_known():
    for one in CLAIMS:
        depends(one, meets("bank"))


def test_the_mutants_change_what_is_there():
    names = [one.name for one in MUTANTS]
    assert len(set(names)) == len(names)
    assert {one.rule for one in MUTANTS} == set(RULES)
    for one in MUTANTS:
        for path, text in one.texts().items():
            assert text != path.read_text(encoding="utf-8")
            compile(text, str(path), "exec")
    gone = RuleMutant("latency", "gone", (Edit("mmsim/model/rounds.py", "no such line", ""),))
    with pytest.raises(ValueError, match="no such line"):
        gone.texts()


ONE_OF_EACH = {
    "banks": ("bank = address div w", "SMM-E1.DMM"),
    "wide banks": ("a bank of two words gives one at a time", "CFP-T2.wide.transpose"),
    "groups": ("groups of one word", "SMM-E1.UMM"),
    "conflicts": ("at most two stages", "SMM-T3.1b"),
    "latency": ("no latency", "SMM-E1.DMM"),
    "rounds": ("the longest request instead of the sum", "SMM-E1.DMM"),
    "warps": ("warps of w/2 threads", "SMM-E1.DMM"),
    "DMMs": ("one shared memory serves all DMMs", "ICPP-L1.casual.shared"),
    "turns": ("a unit is free only when its request has completed", "SMM-T4.1.hidden"),
    "barriers": ("a barrier costs a time unit", "SUM-HMM"),
    "counts": ("every request is counted twice", "RAP-E3"),
}
LEFT_ALONE = "RAP-E2"  # an address: no rule of the model has a part in it


@pytest.mark.long
def test_a_claim_falls_when_a_rule_is_another(tmp_path):
    """One mutant of each rule and a claim that depends on it."""
    assert set(ONE_OF_EACH) == set(RULES)
    trials = Trials(tmp_path, jobs=2)
    ids = sorted({id_ for _, id_ in ONE_OF_EACH.values()} | {LEFT_ALONE})
    before = trials.without(ids, whole=False)
    found = trials.under({name: [id_, LEFT_ALONE] for name, id_ in ONE_OF_EACH.values()}, before)
    for rule, (name, id_) in ONE_OF_EACH.items():
        assert rule in before[id_]["depends"]
        assert found[name][id_], (name, id_)
        assert not found[name][LEFT_ALONE]
        assert bool(trials.lemmas[name]) == (rule not in UNPROVED), name


def test_how_far_a_bound_is_from_being_refuted():
    measured = [(6, "8"), (4, "5")]  # under both schedules
    assert slack(claim(lambda n: n, kind="upper"), measured) == Fraction(5, 4)
    assert slack(claim(lambda n: n, kind="lower"), measured) == Fraction(3, 4)
    assert slack(claim(lambda n: n), measured) == 1
    assert slack(claim(lambda n: n, kind="upper", printed=True), measured) == 1
    assert slack(claim(lambda n: n, kind="upper"), [(0, "3")]) == 3


def test_the_tightest_cases_are_tried_first():
    bound = Claim(
        "X",
        "a paper",
        "reading",
        formula=lambda n: n,
        kind="upper",
        constant=9,
        grid=lambda: [{"n": n} for n in (2, 9, 4)],
        run=lambda schedule, n: SimpleNamespace(time={2: 5, 4: 16, 9: 18}[n]),
    )
    assert [*usual(bound, whole=True)["outcomes"]] == ["2", "0", "1"]


class Planned:
    """Trials whose end is known: `falls` has mutants, claims, and whether all cases are needed."""

    def __init__(self, falls):
        self.falls = falls
        self.asked = []

    def without(self, ids, whole):
        return {id_: {"depends": ["latency", "rounds"], "whole": whole} for id_ in ids}

    def under(self, mutants, before):
        self.asked.append(mutants)
        return {
            name: {id_: (name, id_, before[id_]["whole"]) in self.falls for id_ in ids}
            for name, ids in mutants.items()
        }


def test_all_cases_are_tried_only_where_some_show_nothing():
    mutants = [
        RuleMutant(rule, name, ())
        for rule, name in (("latency", "1"), ("latency", "2"), ("rounds", "3"), ("warps", "4"))
    ]
    falls = {("1", "X", False), ("3", "X", False), ("2", "Y", False), ("3", "Y", True)}
    trials = Planned(falls)
    assert try_all(["X", "Y"], mutants, trials) == [
        Fate("X", ("latency", "rounds"), ("1", "3")),
        Fate("Y", ("latency", "rounds"), ("2", "3")),
    ]
    assert trials.asked == [{name: ["X", "Y"] for name in "123"}, {"3": ["Y"]}]


# The run that is kept.


def test_the_kept_run_is_of_the_claims_and_mutants_as_they_are():
    made, fates, _ = read(KEPT)
    assert [fate.claim for fate in fates] == [one.id for one in CLAIMS], "run make mutate-claims"
    assert made.claims == fingerprint(tried(CLAIMS)), "run make mutate-claims"
    assert {name for fate in fates for name in fate.fell} <= {one.name for one in MUTANTS}


def test_every_claim_fell_under_a_mutant_of_each_rule_or_it_is_explained():
    assert judged(read(KEPT)[1], MUTANTS, explanations()) == ([], [])
    assert all(why.endswith(".") for why in explanations().values())


def test_the_page_says_which_lemmas_a_mutant_contradicts():
    lemmas = {one.name: ["L1", "L4"] for one in MUTANTS}
    found = page(KEPT.replace('"fates"', f'"lemmas": {json.dumps(lemmas)}, "fates"', 1))
    assert found.count("| L1, L4 |") == len(MUTANTS)
    assert "with such a rule nothing is proved" in found


def test_mutants_of_rules_that_proofs_use_have_to_contradict_a_lemma():
    tried = {one.name: [] for one in MUTANTS if one.rule in ("turns", "latency")}
    assert unnoticed(MUTANTS, tried) == [one.name for one in MUTANTS if one.rule == "latency"]


def test_no_mutant_is_idle():
    """Each makes a claim fall that depends on its rule."""
    _, fates, _ = read(KEPT)
    for one in MUTANTS:
        assert any(one.rule in fate.depends and one.name in fate.fell for fate in fates), one.name


def test_the_page_is_what_the_kept_run_makes_it():
    saved = (ROOT / "docs" / "mutation-claims.md").read_text(encoding="utf-8")
    assert page(KEPT) == saved, "run make mutate-claims"
