"""A verdict is worth what it is held to: counts of their own, and wrong colourings that fall.

Wrong rules of conflicts are among those of `tests/kit/mutation/rule_mutants.toml`.
"""

import ast
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import mmsim_algorithms
from mmsim.claims import verify_claim
from mmsim_algorithms.dmm_permutation import cases, colouring_claims

CLAIMS = {claim.id: claim for claim in mmsim_algorithms.claims()}


def test_no_count_of_the_algorithms_asks_the_rule_of_the_machines():
    """RAP Table IV simulates congestions with it, which are held to the paper's printed means.

    `wide_banks` and `tensor` are machines of their own, and count nothing; `bank_accesses` measures
    a GPU beside the rule.
    """
    folder = Path(mmsim_algorithms.__file__).parent
    asking = set()
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            name = node.attr if isinstance(node, ast.Attribute) else ""
            imported = isinstance(node, ast.ImportFrom) and node.module == "mmsim.model.conflicts"
            if imported or name in ("Banks", "Groups", "InParts"):
                asking.add(path.relative_to(folder).as_posix())
    machines = {"dmm_permutation/wide_banks.py", "product/tensor.py"}
    assert asking == machines | {"rap/higher_simulation.py", "gpu/bank_accesses.py"}


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


@pytest.mark.long
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
