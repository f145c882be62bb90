"""Terms against numbers: each operation, at random points."""

from fractions import Fraction
from random import Random

import numpy as np
import pytest

from mmsim.proof.terms import Term, Undecided, inverse, power_of_two, symbol, total

NAMES = ("a", "b", "k", "n")
LANES = 3


def random_term(random, lanes=False):
    """A sum of products of symbols and powers of two."""
    found = Term.of(random.randint(-3, 3))
    for _ in range(random.randint(0, 3)):
        part = Term.of(Fraction(random.randint(-6, 6), random.choice((1, 1, 2))))
        if lanes and random.random() < 0.5:
            part = Term.of(np.array([random.randint(-3, 3) for _ in range(LANES)]))
        for name in random.choices(NAMES, k=random.randint(0, 2)):
            part = part * symbol(name)
        for name in random.choices(NAMES, k=random.choice((0, 0, 1, 2))):
            part = part * power_of_two(symbol(name) * random.randint(-2, 2))
        found = found + part
    return found


def random_point(random):
    return {name: random.randint(1, 5) for name in NAMES}


def at(term, lane, point):
    return term.of_lanes(lane).at(point)


def test_sums_and_products_have_the_values_of_their_parts():
    random = Random(0)
    for _ in range(300):
        one, other = random_term(random, True), random_term(random, True)
        point, lane = random_point(random), random.randrange(LANES)
        x, y = at(one, lane, point), at(other, lane, point)
        assert at(one + other, lane, point) == x + y
        assert at(one - other, lane, point) == x - y
        assert at(one * other, lane, point) == x * y
        assert at(3 - one, lane, point) == 3 - x
        assert at(one**2, lane, point) == x**2
        assert (one - other == Term({})) == (one == other)
        assert not (one + other - one - other).parts
        mask = np.array([True, False, True])
        masked = one.of_lanes(mask)
        assert masked.is_uniform or at(masked, 1, point) == at(one, 2, point)


def test_terms_for_symbols_are_as_numbers_for_them():
    random = Random(1)
    for _ in range(300):
        term, point = random_term(random), random_point(random)
        values = {
            name: symbol(random.choice(NAMES)) * random.randint(1, 3) + random.randint(0, 2)
            for name in random.sample(NAMES, 2)
        }
        inner = {**point, **{name: int(value.at(point)) for name, value in values.items()}}
        assert term.with_values(values).at(point) == term.at(inner)
        assert inverse(symbol("a") * 3 * power_of_two(symbol("b"))).at(point) == Fraction(
            1, 3 * point["a"] * 2 ** point["b"]
        )


def test_a_sum_over_a_symbol_is_that_of_its_values():
    random = Random(2)
    for _ in range(300):
        term, point = random_term(random), random_point(random)
        low = random.choice((Term.of(random.randint(0, 3)), symbol("n"), symbol("n") * 2 - 1))
        high = low + random.choice((Term.of(random.randint(0, 4)), symbol("b"), symbol("a") * 2))
        numbers = range(int(low.at(point)), int(high.at(point)))
        expected = sum(term.at({**point, "k": k}) for k in numbers)
        assert total(term, "k", low, high).at(point) == expected, (term, low, high, point)


def test_the_factors_of_powers_make_up_the_term():
    random = Random(3)
    for _ in range(100):
        term, point = random_term(random), random_point(random)
        parts = term.by_power("a")
        in_exponent = any(name == "a" for _, exponent in term.parts for name, _ in exponent)
        assert (parts is None) == in_exponent
        if parts is not None:
            assert all("a" not in part.symbols for part in parts.values())
            found = sum(part.at(point) * point["a"] ** power for power, part in parts.items())
            assert found == term.at(point)


def test_what_is_no_term_is_refused():
    n, k = symbol("n"), symbol("k")
    for wrong in (n * k, n**2, power_of_two(k), n * Fraction(1, 2)):
        with pytest.raises(Undecided, match="2 to the power of"):
            power_of_two(wrong)
    with pytest.raises(Undecided, match="1/"):
        inverse(n + 1)
    with pytest.raises(Undecided, match="the sum of"):
        total(n * inverse(k), "k", Term.of(1), n)


def test_a_part_that_is_0_vanishes():
    zero = Term({((("n", 1),), ()): 0})
    assert not (symbol("k") + zero - symbol("k")).parts


def test_numbers_of_lanes_have_no_bound():
    lanes = Term.of(np.array([0, 1, 2**20]))
    large = lanes * 2**50 * lanes + lanes
    assert large.of_lanes(2).number == 2**90 + 2**20
    assert (lanes * lanes * lanes * lanes).of_lanes(2).number == 2**80
    assert (lanes + 2**70 - lanes).number == 2**70
    assert (2**70 - lanes * symbol("n")).of_lanes(1).at({"n": 3}) == 2**70 - 3
