"""The sentences of domains: a proof may only assume what is true in each case of the claim."""

import pytest
import sympy

import mmsim_algorithms
from mmsim.proof import domain

CLAIMS = [claim for claim in mmsim_algorithms.claims() if claim.launches is not None]
CASES = 15


def true(fact, case):
    """Return whether a fact is true of a case's numbers."""
    kind, *parts = fact

    def number(expression):
        expression = sympy.sympify(expression)
        return expression.subs({one: case[one.name] for one in expression.free_symbols})

    if kind == "square":
        return sympy.sqrt(case[parts[0]]).is_Integer
    if kind == "power":
        return case[parts[0]].bit_count() == 1
    if kind == "divides":
        below, above = map(number, parts)
        return below.is_Integer and above.is_Integer and above % below == 0
    if kind == "least":
        return number(parts[0]) >= 0
    assert kind == "equal"
    return number(parts[1]) == case[parts[0]]


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_sentences_are_true_in_each_case(claim):
    cases = claim.cases()
    names = [name for name, value in cases[0].items() if isinstance(value, int)]
    reader = domain._Reader(tuple(names))
    facts = [(fact, one.text) for one in claim.requires for fact in reader.facts(one.text)]
    for case in cases[:: -(-len(cases) // CASES)] if facts else ():
        for fact, text in facts:
            assert true(fact, case), (text, fact, case)
