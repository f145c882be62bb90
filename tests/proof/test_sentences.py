"""The sentences of domains: a proof may only assume what is true in each case of the claim."""

import pytest
import sympy

import mmsim_algorithms
from mmsim.proof.sentences import Reader

CLAIMS = [claim for claim in mmsim_algorithms.claims() if claim.launches is not None]
CASES = 15
SENTENCES = {
    "k divides n/2w": "divides(k, n/(2*w))",
    "dkw divides p, and p divides kn": "divides(d*k*w, p); divides(p, k*n)",
    "w >= 2 divides m and n/d": "least(w - 2); divides(w, m); divides(w, n/d)",
    "w divides k and n": "divides(w, k); divides(w, n)",
    "w divides k, n and rows": "divides(w, k); divides(w, n); divides(w, rows)",
    "p w divides n": "divides(p*w, n)",
    "p/w divides n": "divides(p/w, n)",
    "w divides sqrt n": "square(n); divides(w, sqrt(n))",
    "d divides sqrt(n)/w": "square(n); divides(d, sqrt(n)/w)",
    "n, p and w are powers of two": "power(n, 2); power(p, 2); power(w, 2)",
    "n and w are powers of two, w <= n": "power(n, 2); power(w, 2); least(n - w)",
    "sqrt n >= 2 is a power of two": "least(sqrt(n) - 2); square(n); power(sqrt(n), 2)",
    "k is a power of two that divides m": "power(k, 2); divides(k, m)",
    "n is a power of w, n >= w": "power(n, w); least(n - w)",
    "rw and w/r are squares": "square(r*w); square(w/r)",
    "w/r^3 is a fourth power": "square(w/r**3); square(sqrt(w)/r**(3/2))",
    "w <= p <= n/2": "least(p - w); least(n/2 - p)",
    "dw <= p, d < p": "least(-d*w + p); least(-d + p - 1)",
    "n = s^2, w and s are powers of two, 2w <= s": "square(n); power(w, 2); "
    "square(n); power(sqrt(n), 2); least(sqrt(n) - 2*w)",
    "n = w^2, p = w": "equal(n, w**2); equal(p, w)",
    "k = ceiling((p/w - 1)/w)": "equal(k, ceiling((p/w - 1)/w))",
    "p >= floor(n/2)": "least(p - floor(n/2))",
    "p >= n//2 + 1, w <= n**2": "least(p - floor(n/2) - 1); least(n**2 - w)",
    "w divides n/d, or n/d divides w": "either(divides(w, n/d) | divides(n/d, w))",
    "w divides n/d, or is a multiple of it": "either(divides(w, n/d) | divides(n/d, w))",
    "d = 1, or n/(rw) <= p": "either(equal(d, 1) | least(-n/(r*w) + p))",
    "for transpose and shuffle, n is a square; w <= n": "square(n); least(n - w)",
    "for shuffle, n is a square; w <= n": "least(n - w)",
    # What isn't understood has no fact: "n" belongs to one list or the other.
    "w divides k, n and p are squares": "divides(w, k); square(p)",
    "w < n/2": "",
    "k is the least number with n/(rw) - 1 <= wk(k+1)/2": "",
    "w divides n, or n is large": "",
    "2 ln w < n": "",
}


def written(fact):
    """A fact as text."""
    if fact.kind == "either":
        return f"either({' | '.join('; '.join(map(written, one)) for one in fact.parts)})"
    return f"{fact.kind}({', '.join(map(str, fact.parts))})"


@pytest.mark.parametrize("sentence", SENTENCES)
def test_facts_of_a_sentence(sentence):
    reader = Reader([*"dklmnprw", "rows"], ["transpose"])
    assert "; ".join(map(written, reader.facts(sentence))) == SENTENCES[sentence]


def test_a_name_defined_in_a_sentence_is_known_in_the_next():
    reader = Reader("dntw")
    assert reader.facts("tw divides s") == []
    reader.facts("w divides s = sqrt n")
    assert "; ".join(map(written, reader.facts("tw divides s; 2w <= s"))) == (
        "square(n); divides(t*w, sqrt(n)); least(sqrt(n) - 2*w)"
    )


def true(fact, case):
    """Return whether a fact is true of a case's numbers."""
    if fact.kind == "either":
        return any(all(true(one, case) for one in facts) for facts in fact.parts)
    one, *others = (
        sympy.sympify(part).subs({name: case[name.name] for name in part.free_symbols})
        for part in map(sympy.sympify, fact.parts)
    )
    match fact.kind:
        case "square":
            return sympy.sqrt(one).is_Integer
        case "power":
            return others[0] == one == 1 or any(others[0] ** k == one for k in range(64))
        case "divides":
            return one.is_Integer and (others[0] / one).is_Integer
        case "least":
            return one >= 0
    return one == others[0]


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_sentences_are_true_in_each_case(claim):
    cases = claim.cases()
    names = [name for name, value in cases[0].items() if not isinstance(value, str)]
    for case in cases[:: -(-len(cases) // CASES)]:
        reader = Reader(names, [value for value in case.values() if isinstance(value, str)])
        for sentence in claim.requires:
            for fact in reader.facts(sentence.text):
                assert true(fact, case), (sentence.text, fact, case)
