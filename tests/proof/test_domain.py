"""The domains of proofs: no case of a claim may be lost, neither by its terms nor by a split."""

import math
import random
from dataclasses import replace
from fractions import Fraction
from inspect import signature
from itertools import product

import pytest

import mmsim_algorithms
from mmsim.claims.claim import call_with
from mmsim.proof.domain import Case, domain, holds
from mmsim.proof.facts import Split
from mmsim.proof.prove import leaves, possible, tidied, valued
from mmsim.proof.prove import points as numbers_of
from mmsim.proof.terms import Term, power_of_two, symbol

LARGEST = {"n": 40, "p": 40, "m": 24}
"""The largest number for a parameter, 6 for others."""
POINTS = 4
SPLITS = 4


def numbers_in(case, point, known):
    """Numbers for a case's symbols that give such parameters, or None.

    A symbol is what it is named by, so it keeps its number where it is in `known`.
    """
    zero = [case.values[name] - value for name, value in point.items()]
    zero += [below * quotient - above for above, below, quotient in case.shares]
    terms = [*zero, *case.assumed]
    names = dict.fromkeys(name for term in terms for name in sorted(term.symbols))
    most = max([*point.values(), *known.values()]) + 3
    if any(known[name] < case.lows[name] for name in names.keys() & known.keys()):
        return None

    def search(numbers):
        lowest = {name: case.lows[name] for name in names} | numbers
        free = names.keys() - numbers.keys()
        done = [(term, term.at(lowest)) for term in terms if not term.symbols & free]
        if any(value < 0 or (value > 0 and term in zero) for term, value in done):
            return None
        if not free:
            return numbers
        name = next(name for name in names if name in free)
        growing = [term for term in zero if name in term.symbols and grows(term, free)]
        for value in range(case.lows[name], most + 1):
            if any(term.at({**lowest, name: value}) > 0 for term in growing):
                return None
            found = search({**numbers, name: value})
            if found is not None:
                return found
        return None

    return search({name: known[name] for name in names if name in known})


def grows(term, free):
    """Return whether a term doesn't decrease in symbols."""
    negative = [product for product, value in term.parts.items() if value < 0]
    return not free & {name for part in negative for powers in part for name, _ in powers}


def texts_of(claim):
    """The texts of a claim's cases."""
    strings = {name for one in claim.cases() for name in one if isinstance(one[name], str)}
    found = ({name: one[name] for name in sorted(strings) if name in one} for one in claim.cases())
    return list({tuple(one.items()): one for one in found}.values())


def sizes_of(claim):
    """The names of a claim's numbers, and those that may be 0."""
    cases = claim.cases()
    names = dict.fromkeys(name for one in cases for name in one if not isinstance(one[name], str))
    return list(names), {name for name in names if any(one.get(name) == 0 for one in cases)}


def points(claim, texts, width, pick):
    """Small points of a claim's domain, by trial of numbers."""
    names, zeros = sizes_of(claim)
    found = [{**texts, "w": width}]
    left = {one: set(signature(one.holds).parameters) for one in claim.requires}
    used = set().union(*left.values())
    for name in sorted(set(names) - {"w"}, key=lambda name: (LARGEST.get(name, 0), name)):
        most = LARGEST.get(name, 6) if name in used else 1
        found = [
            {**one, name: value} for one in found for value in range(name not in zeros, most + 1)
        ]
        known = {"w", name, *texts, *(found[0] if found else ())}
        ready = [one for one, needed in left.items() if needed <= known]
        left = {one: needed for one, needed in left.items() if one not in ready}
        found = [point for point in found if all(call_with(one.holds, point) for one in ready)]
        found = pick.sample(found, min(len(found), 500))
    return [{name: one[name] for name in names} for one in found]


def any_split(case, pick):
    """A question about the symbols of a case."""
    name, other = pick.choices(sorted(case.lows), k=2)
    kind = pick.randrange(4)
    if kind == 0:
        return Split(name, modulus=pick.choice([2, 3, 4]))
    if kind == 1:
        return Split(name, at=Term.of(case.lows[name] + pick.randint(1, 3)))
    if kind == 2 and name != other:
        return Split(name, at=Term.of(pick.randint(-1, 2)), other=other)
    one, two = pick.choices(list(case.values.values()), k=2)
    return Split("", assumed=(one * 2 - two * 3 + pick.randint(-5, 5)) * Fraction(1, 2))


def chosen(cases, point, known):
    """The case that a point is in, and the numbers of its symbols there."""
    for case in cases:
        numbers = numbers_in(case, point, known)
        if numbers is not None:
            return case, numbers
    raise AssertionError(f"{point} is in none of {cases}")


def follow(case, point, pick):
    """Follow a point to a case of which nothing is asked, then through some other splits."""
    case, numbers = chosen([case], point, {})
    asked = [case]
    while asked is not None:
        asked = case.finer(few=True)
        try:
            assert asked is not None or holds(replace(case, values=dict(case.values)), case.facts())
        except Split as split:
            asked = case.split(split)
        if asked is not None:
            case, numbers = chosen(asked, point, numbers)
    for _ in range(SPLITS):
        if not case.lows:
            return
        cases = case.finer() if pick.random() < 0.2 else case.split(any_split(case, pick))
        case, numbers = chosen([case] if cases is None else cases, point, numbers)


CLAIMS = [one for one in mmsim_algorithms.claims() if one.launches is not None]
DIFFERENT = list({tuple(q.text for q in one.requires): one for one in CLAIMS}.values())
"""A claim for each domain."""


@pytest.mark.parametrize("claim", DIFFERENT, ids=lambda claim: claim.id)
def test_each_point_of_a_domain_stays_in_some_case(claim):
    pick = random.Random(claim.id)
    names, zeros = sizes_of(claim)
    sentences = [one.text for one in claim.requires]
    for width in (2, pick.choice([1, 3, 4])):
        texts = pick.choice(texts_of(claim))
        found = points(claim, texts, width, pick)
        fixed = {"w": width} if "w" in names else {}
        whole = domain(names, fixed, sentences, texts, zeros)
        for point in pick.sample(found, min(len(found), POINTS)):
            follow(whole, point, pick)


def test_known_numbers_are_found():
    case = domain("np", {"w": 3}, ["n = w^4", "p = w n"])
    assert (case.values["n"].number, case.values["p"].number) == (81, 243)
    assert domain("n", {"w": 3}, ["n = w^4", "n is a power of two"]) is None
    assert domain("n", {"w": 6}, ["w is a square"]) is None
    assert domain("n", {"w": 6}, ["w divides n", "n = 10"]) is None


def test_divisors_of_a_number_are_cases():
    case = domain("p", {"w": 6}, ["p divides w^2"])
    cases = case.finer(few=True)
    found = sorted(one.values["p"].number for one in cases)
    assert found == [one for one in range(1, 37) if 36 % one == 0]


def test_divisors_of_a_power_of_two_are_powers_of_two():
    (case,) = domain("npq", {}, ["n is a power of two", "p q divides n"]).finer(few=True)
    assert not case.shares
    assert not any(powers for one in case.values.values() for powers, _ in one.parts)


@pytest.mark.parametrize(
    "sides",
    [
        lambda x, y, z, t: (x**2 * 6, y * z),
        lambda x, y, z, t: (x * y, z**2 * 4),
        lambda x, y, z, t: (t * x * 3, y * z * 2),
        lambda x, y, z, t: (t**2 * x, y**2 * 8),
    ],
)
def test_each_solution_of_products_is_found_and_is_one(sides):
    values = {**{name: symbol(name) for name in "xyz"}, "t": power_of_two(symbol("e"))}
    above, below = sides(*values.values())
    cases = Case(values, {"x": 1, "y": 1, "z": 1, "e": 0}, ((above, below, Term.of(1)),)).finer()
    for case in cases:
        left, right = sides(*case.values.values())
        assert left == right
    found = 0
    for numbers in product(range(1, 9), range(1, 9), range(1, 9), (1, 2, 4)):
        left, right = sides(*numbers)
        if left == right:
            found += 1
            chosen(cases, dict(zip("xyzt", numbers, strict=True)), {})
    assert found > 3


def test_a_sum_may_be_0_where_a_parameter_is_defined_by_it():
    case = domain("kp", {}, ["k = p - 1"])
    assert numbers_in(case, {"k": 0, "p": 1}, {}) is not None
    case = domain("kp", {"w": 4}, ["w divides p", "k = ceiling((p/w - 1)/w)"])
    case, _ = chosen(case.split(Split("p/w", at=Term.of(2))), {"p": 4}, {})
    assert holds(case, case.facts())
    assert case.values["k"].number == 0


def test_a_negative_term_of_halves_is_in_the_other_case():
    case = domain("n", {}, [])
    term = (symbol("n") - 3) * Fraction(1, 2)
    for n in range(1, 7):
        chosen(case.split(Split("", assumed=term)), {"n": n}, {})


def test_nothing_is_divided_by_a_parameter_that_may_be_0():
    case = domain("knp", {}, ["k p divides k n"], {}, "k")
    assert numbers_in(case, {"k": 0, "p": 2, "n": 3}, {}) is not None


def test_powers_of_4_are_named_by_half_their_logarithm():
    case = domain("l", {"w": 4}, ["l is a power of w"])
    assert str(case.values["l"]) == "2^(2*log2(l)/2)"
    assert domain("l", {"w": 4}, ["l is a power of w", "l = 8"]) is None
    assert domain("l", {"w": 1}, ["l is a power of w"]).values["l"].number == 1


def test_an_equation_with_a_quotient_is_kept_by_a_split():
    case = domain("r", {"w": 16}, ["w/r is a square"])
    for r in (1, 4, 16):
        chosen(case.split(Split("sqrt(w/r)", modulus=3)), {"r": r}, {})


EXACT = {
    "w <= sqrt n; n is a power of two": lambda n, w: n >= w * w and n & (n - 1) == 0,
    "w divides sqrt n": lambda n, w: math.isqrt(n) ** 2 == n and math.isqrt(n) % w == 0,
    "n is a square; w divides sqrt(n), or is a multiple of it": (
        lambda n, w: math.isqrt(n) ** 2 == n and (math.isqrt(n) % w == 0 or w % math.isqrt(n) == 0)
    ),
}


@pytest.mark.parametrize("w", [2, 3, 4])
@pytest.mark.parametrize("sentence", EXACT)
def test_no_other_number_is_in_a_domain(sentence, w):
    """Roots of numbers that are no squares, and divisors that are numbers, are decided."""
    if "power of two" in sentence and w == 3:
        return
    whole = domain(["n"], {"w": w}, [sentence])
    found = set()
    for case, inside in leaves(whole, lambda case: holds(case, case.facts()), math.inf):
        if inside:
            facts = case.facts()
            found |= {int(valued(case.values["n"], at, facts)) for at in numbers_of(case, facts)}
    assert {n for n in found if n <= 60} == {n for n in range(1, 61) if EXACT[sentence](n, w)}


def test_assumptions_with_common_symbols_and_of_one_symbol():
    x, y = symbol("x"), symbol("y")
    case = tidied(Case({}, {"x": 1, "y": 1}, assumed=(x * y - 2 * x, 5 - x * y)))
    assert case.lows == {"x": 1, "y": 2}
    assert case.assumed == (5 - x * y,)
    kept = Case({}, {"x": 0, "y": 1}, assumed=(x * y - 2 * x,))
    assert tidied(kept) == kept  # x may be 0


@pytest.mark.parametrize("most", [0, 1, 5, 12])
def test_few_values_of_products(most):
    """The parts of a case with a bound on a product have all of its points, and few."""
    x, y, z = symbol("x"), symbol("y"), symbol("z")
    case = Case({"x": x, "y": y, "z": z}, {"x": 1, "y": 1, "z": 0}, assumed=(most - x * y * 2 - z,))
    found = [
        tuple(int(valued(part.values[name], at, part.facts())) for name in "xyz")
        for part, inside in leaves(case, lambda part: possible(part, part.facts()), math.inf)
        if inside
        for at in numbers_of(part, part.facts())
    ]
    known = product(range(1, 7), range(1, 7), range(13))
    assert sorted(found) == sorted(p for p in known if most >= 2 * p[0] * p[1] + p[2])
