"""A verdict is worth what it is held to: wrong rules and wrong colourings make claims fall.

The runs under wrong rules of conflicts are made by `wrong_rules.py`, in a process of its own.
"""

import ast
import json
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import mmsim_algorithms
from mmsim.claims import verify_claim
from mmsim_algorithms.dmm_permutation import cases, colouring_claims
from tests.kit.tools.wrong_rules import counts_conflicts

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
CLAIMS = {claim.id: claim for claim in mmsim_algorithms.claims()}
ABOUT_CONFLICTS = [id_ for id_, claim in CLAIMS.items() if counts_conflicts(claim)]
STAND = {
    "no request that is measured takes more than two stages": {
        *("CFP-T2.identical", "CFP-T2.shuffle", "CFP-T2.wide.identical"),
        *("CFP-T2.wide.shuffle.D", "CFP-T2.wide.shuffle.S", "ICPP-L4.identical"),
        *("ICPP-L4.identical.inverse", "ICPP-L4.shuffle", "ICPP-L4.shuffle.inverse", "RAP-CUDA"),
        *("RAP-E3", "RAP-T2.1", "RAP-T3.reads.1", "RAP-T3.writes.1", "RAP-T4.1", "RAP-TH2"),
        *("SMM-L7.3", "SORT-LB.reads", "SORT-columns.stages", "SORT-free", "SORT-merge.free"),
        *("SORT-merging", "SUM-HMM.transfers", "SUM-columns.transfers"),
    },
    "fewer stages keep an upper bound": {
        *("RAP-T1.RAS.O", "RAP-T1.RAS.any", "RAP-T1.RAS.worst", "RAP-T4.O", "RAP-TH2.O"),
        *("RAP-TH2.any", "SMM-L5.1.O", "SMM-ST.O", "SMM-ST.UMM", "SMM-ST.bound", "SMM-T3.1b.O"),
        "SMM-T3.1c.O",
    },
    "fewer stages keep a lower bound on n - D; the upper one falls": {
        "ICPP-T3.eps.least",
        "ICPP-T3.least",
    },
}
"""Claims about conflicts that hold though a request takes two stages at most, by the reason."""
UNTOUCHED = set().union(*STAND.values())
SERIAL_KEEPS = {
    "SMM-ST.UMM": "its bound is that of a stage for each word, the most there is",
    "SORT-LB.reads": "more stages keep a lower bound",
}
OTHER_QUANTITIES = {
    "words": "of requests, whatever their stages",
    "R": "of requests, whatever their stages",
    "rounds": "of rounds, whatever their stages",
    "B": "of barriers, which no stage changes",
    "cells": "of ICPP Table I, by class: casual is casual at two stages",
}


@cache
def found(engine):
    done = subprocess.run(
        [sys.executable, "-m", "tests.kit.tools.wrong_rules", engine],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    return json.loads(done.stdout)


def test_claims_about_conflicts_are_known_by_what_they_hold():
    assert {"CFP-A.D", "CFP-F7.D", "ICPP-L4.D", "IEICE-1", "SMM-SP.any"} <= set(ABOUT_CONFLICTS)
    assert {"SMM-T3.1b", "SMM-T3.1c", "SMM-ST", "ICPP-T3.most", "RAP-E3"} <= set(ABOUT_CONFLICTS)
    assert "SMM-T3.1a" not in ABOUT_CONFLICTS
    assert set(ABOUT_CONFLICTS) >= UNTOUCHED


def test_what_was_counted_by_the_rule_itself_would_stand():
    """The test of the test: a claim whose C the machine's rule counts holds under a wrong rule."""
    planted = found("array")["capped"]["planted"]
    assert planted["changed"] > 0
    assert planted["result"] == "holds"


@pytest.mark.parametrize("id_", ABOUT_CONFLICTS)
def test_a_claim_about_conflicts_falls_under_a_rule_of_two_stages_at_most(id_):
    claim, capped = CLAIMS[id_], found("array")["capped"][id_]
    right = found("array")["right"][id_]
    if claim.printed:
        another = capped["measured"] != right["measured"]
        assert another or capped["result"] == "not refuted" or not capped["changed"]
    elif id_ in UNTOUCHED:
        assert capped["result"] == right["result"] == "holds"
    else:
        assert right["result"] == "holds"
        assert capped["result"] == "fails"


@pytest.mark.parametrize("id_", sorted(UNTOUCHED))
def test_a_claim_that_stands_has_its_reason(id_):
    """Either the wrong rule changes nothing that is measured, or it changes it the right way."""
    claim, array = CLAIMS[id_], found("array")
    right, capped = (np.array(array[rule][id_]["measured"]) for rule in ("right", "capped"))
    (reason,) = [reason for reason, ids in STAND.items() if id_ in ids]
    if reason.startswith("no request"):
        assert (right == capped).all()
    else:
        assert claim.kind == ("upper" if "upper bound" in reason else "lower")
        lower, higher = (capped, right) if claim.kind == "upper" else (right, capped)
        assert (lower <= higher).all()
        assert (lower < higher).any()


@pytest.mark.parametrize("id_", sorted(UNTOUCHED))
def test_a_claim_that_stands_falls_where_each_lane_takes_a_stage(id_):
    serial = found("array")["serial"][id_]
    assert serial["changed"] > 0
    assert serial["result"] == ("holds" if id_ in SERIAL_KEEPS else "fails")


def test_every_exact_claim_whose_runs_meet_conflicts_falls():
    """Of all claims, also those that hold a congestion as a plain number."""
    capped = found("array")["capped"]
    fallen, standing = set(), set()
    for id_, claim in CLAIMS.items():
        if claim.kind == "exact" and not claim.printed and capped[id_]["changed"]:
            (fallen if capped[id_]["result"] == "fails" else standing).add(id_)
    assert {"CFP-E1.D", "ICPP-L1.casual.shared", "RAP-L1.stride", "SMM-SP"} <= fallen
    assert {id_ for id_ in standing if CLAIMS[id_].quantity not in OTHER_QUANTITIES} == {
        "RAP-T3.reads.1",  # the writes conflict
        "RAP-T3.writes.1",
    }


def test_the_event_engine_finds_the_same():
    array, events = found("array")["capped"], found("events")["capped"]
    assert set(ABOUT_CONFLICTS) - set(events) <= {
        "CFP-T2.wide.random",
        "RAP-TH2.any",
        "RAP-TH2.any.printed",
    } | {id_ for id_ in ABOUT_CONFLICTS if id_.startswith("ICPP-T3")}
    for id_, one in events.items():
        assert (one["result"], one["measured"]) == (array[id_]["result"], array[id_]["measured"])
        assert bool(one["changed"]) == bool(array[id_]["changed"])
        assert one["engines"] == ["events"]
    assert all(array[id_]["engines"] == ["array"] for id_ in ("CFP-A.D", "SMM-ST", "ICPP-L4.D"))


def test_no_count_of_the_algorithms_asks_the_rule_of_the_machines():
    """RAP Table IV simulates congestions with it, which are held to the paper's printed means.

    `wide_banks` has a rule of its own, of another card, and counts nothing.
    """
    folder = Path(mmsim_algorithms.__file__).parent
    asking = set()
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            name = node.attr if isinstance(node, ast.Attribute) else ""
            if isinstance(node, ast.ImportFrom) and node.module == "mmsim.model.conflicts":
                asking.add(path.relative_to(folder).as_posix())
            assert name not in ("Banks", "Groups", "InParts"), path
    assert asking == {"dmm_permutation/wide_banks.py", "rap/higher_simulation.py"}


# Colourings.


def one_colour_too_many(left, right, nodes, colours):
    """Still proper: one edge gets a colour of its own."""
    colours[-1] = colours.max() + 1
    return colours


def two_of_a_node(left, right, nodes, colours):
    """The first two edges of a left node in one colour; all colours stay in use."""
    first, second = np.flatnonzero(left == left[0])[:2]
    colours[second] = colours[first]
    return colours


def broken(monkeypatch, method, how):
    right_way = colouring_claims.METHODS[method]

    def wrong_way(left, right, nodes):
        return how(left, right, nodes, right_way(left, right, nodes).copy())

    monkeypatch.setitem(colouring_claims.METHODS, method, wrong_way)


def result(id_, method=""):
    """The verdict on some cases of a claim, of those that are coloured in one way."""
    few = [case for case in CLAIMS[id_].cases() if case.get("method", method) == method]
    small = [case for case in few if case["n"] <= 64]
    assert small
    return verify_claim(replace(CLAIMS[id_], grid=lambda: small)).result


@pytest.mark.parametrize(
    ("id_", "method"),
    [
        ("CFP-COL", "augmenting paths"),
        *(("SMM-T6.1", method) for method in colouring_claims.METHODS),
    ],
)
def test_a_wrong_colouring_makes_the_claims_fail(monkeypatch, id_, method):
    assert (result(id_, method), result(f"{id_}.proper", method)) == ("holds", "holds")
    with monkeypatch.context() as patch:
        broken(patch, method, one_colour_too_many)
        assert (result(id_, method), result(f"{id_}.proper", method)) == ("fails", "holds")
    broken(monkeypatch, method, two_of_a_node)
    assert (result(id_, method), result(f"{id_}.proper", method)) == ("holds", "fails")


def test_an_irregular_graph_makes_the_claim_on_its_degree_fail(monkeypatch):
    right_graph = colouring_claims.bank_graph

    def irregular(permutation, n, w):
        left, right = right_graph(permutation, n, w)
        right[np.argmax(right != right[0])] = right[0]
        return left, right

    assert result("SMM-T6.1.degree", "Euler splits") == "holds"
    monkeypatch.setattr(colouring_claims, "bank_graph", irregular)
    monkeypatch.setitem(
        colouring_claims.METHODS, "Euler splits", lambda left, right, nodes: 0 * left
    )
    assert result("SMM-T6.1.degree", "Euler splits") == "fails"


@pytest.mark.parametrize("id_", ["CFP-L2", "SMM-L6.2"])
@pytest.mark.parametrize("table", ["s", "d"])
def test_a_table_that_is_no_colouring_makes_the_lemma_fail(monkeypatch, id_, table):
    """Words in the order of one array are moved rightly, and meet conflicts in the other."""

    def unordered(algorithm, name, n, w, seed=0):
        words, P = np.arange(n), cases.named(name, n, w, seed)
        return (words, P) if table == "d" else (np.argsort(P), words)

    assert result(id_) == "holds"
    monkeypatch.setattr(cases, "prepared", unordered)
    assert result(id_) == "fails"


def test_a_search_that_looks_at_edges_again_breaks_the_bound(monkeypatch):
    flips = colouring_claims.flips

    def again(left, right, nodes):
        for colour, step in flips(left, right, nodes):
            yield colour, replace(step, looked=step.looked * len(left))

    assert result("CFP-COL.looks") == "holds"
    monkeypatch.setattr(colouring_claims, "flips", again)
    assert result("CFP-COL.looks") == "fails"
