"""Answers of facts about terms, against all small numbers that fit them."""

import math
from collections import Counter
from operator import ge, gt, le, lt
from random import Random

import numpy as np
import pytest

from mmsim.proof.domain import domain, holds
from mmsim.proof.facts import Facts, Range, Split
from mmsim.proof.launched import Number
from mmsim.proof.prove import leaves, points, valued
from mmsim.proof.terms import Term, Undecided, symbol
from tests.kit.generators.random_facts import LANES, World
from tests.kit.generators.random_sizes import value

STEPS = 6


def bounded(world):
    term = world.term()
    low = world.facts.bound(term)
    assert all(min(world.at(term, point)) >= low for point in world.points), (term, low)
    return low > -math.inf


def compared(world):
    term = world.term()
    holds = np.broadcast_to(world.facts.holds(term), (LANES,)).tolist()
    for point in world.points:
        assert [one >= 0 for one in world.at(term, point)] == holds, (term, holds, point)
    return True


def divided(world):
    term, divisor = world.term(), world.divisor()
    quotient, rest = world.facts.divmod(term, divisor)
    for point in world.points:
        by = value(divisor, point, world.facts)
        found = zip(*(world.at(one, point) for one in (term, quotient, rest)), strict=True)
        expected = [(one, one // by, one % by) for one in world.at(term, point)]
        assert list(found) == expected, (term, divisor, quotient, rest, point)
    for one in (quotient, rest):
        if one.parts and one.is_uniform:
            world.made.append(one)
    return True


def straightened(world):
    term = world.powers()
    line = world.facts.straight(term)
    for point in world.points if line is not None else ():
        assert (term.at(point) >= 0) == (line.at(point) >= 0), (term, line, point)
    return line is not None


def rewritten(world):
    term = world.term()
    found = world.facts.reduced(term)
    ways = list(world.facts.other_ways(term)) if term.is_uniform else [term]
    for point in world.points:
        assert world.at(found, point) == world.at(term, point), (term, found, point)
        signs = [[np.sign(float(one)) for one in world.at(way, point)] for way in ways]
        assert all(one == signs[0] for one in signs), (term, ways, point)
    return found.parts != term.parts or len(ways) > 1


def with_residues(world):
    """In the case of a residue, a quotient is a term of another one; the case is left again."""
    facts = world.facts
    for name in list(facts.quotients)[:1]:
        new = facts.with_residue(name, 2, 1)
        for point in world.points:
            known = value(symbol(name), point, facts)
            assert known % 2 != 1 or value(new, point, facts) == known, (name, new, point)
        return True
    return False


CHECKS = (bounded, compared, divided, divided, straightened, rewritten, with_residues)


def checked(seeds):
    """Counts of right answers of each kind."""
    found = Counter()
    for seed in seeds:
        random = Random(seed)
        world = World(random)
        for _ in range(STEPS if len(world.points) > 3 else 0):
            check = random.choice(CHECKS)
            try:
                found[check] += check(world)
            except (Split, Undecided):
                pass
            except AssertionError:
                facts = world.facts
                print(f"seed {seed}:", facts.lows, facts.ranges, facts.shares, facts.assumed)
                raise
    return found


def test_random_terms():
    found = checked(range(60))
    assert all(found[check] >= 1 for check in CHECKS), found


@pytest.mark.long
@pytest.mark.parametrize("thousand", range(10))
def test_many_random_terms(thousand):
    checked(range(1000 + 1000 * thousand, 2000 + 1000 * thousand))


def facts_of(lows, *ranges):
    facts = Facts()
    facts.lows, facts.ranges = lows, list(ranges)
    return facts


def test_a_factor_that_may_be_0_decides_nothing():
    facts = facts_of({"z": 0}, Range("i", Term.of(1), Term.of(4)))
    with pytest.raises((Split, Undecided)):
        facts.holds(symbol("i") * symbol("z") * 3 - 1)


@pytest.mark.parametrize("divisor", [Term.of(-3), symbol("x") - symbol("y"), symbol("y")])
def test_a_divisor_that_may_not_be_positive_is_refused(divisor):
    facts = facts_of({"x": 1, "y": 0})
    with pytest.raises((Split, Undecided)):
        facts.divmod(symbol("x") * 5 + 1, divisor)


def test_a_residue_is_known_in_its_case_alone():
    x, facts = symbol("x"), facts_of({"x": 3})
    half, _ = facts.divmod(x, Term.of(2))
    facts.with_residue(str(half), 2, 1)
    _, rest = facts.divmod(x - 2, Term.of(4))
    with pytest.raises((Split, Undecided)):
        facts.holds(1 - rest)  # it is 3 at 5


@pytest.mark.parametrize("op", ["<", "<=", ">", ">="])
def test_a_size_is_compared_with_half_of_another_one(op):
    """A half is no whole number: 1 < 3/2."""
    covered = set()
    whole = domain(("n", "p"), {}, [f"n/2 {op} p"])
    for case, inside in leaves(whole, lambda one: holds(one, one.facts()), math.inf):
        facts = case.facts()
        for numbers in points(case, facts) if inside else ():
            covered.add(tuple(valued(case.values[name], numbers, facts) for name in "np"))
    compare = {"<": lt, "<=": le, ">": gt, ">=": ge}[op]
    every = {(n, p) for n in range(1, 5) for p in range(1, 5) if compare(n / 2, p)}
    assert every <= covered


def test_quotients_of_all_remainders_are_what_is_divided():
    facts = Facts()
    facts.lows = {"n": 1, "m": 1}
    n, m = symbol("n"), symbol("m")
    parts = [facts.divmod(n + rest, Term.of(3))[0] for rest in range(3)]
    assert facts.whole(sum(parts) * m + 1) == n * m + 1
    lower = [facts.divmod(n - 1 + rest, Term.of(3))[0] for rest in range(3)]
    assert facts.whole(sum(lower)) == n - 1
    for other in (parts[0] * 2 + parts[1] + parts[2], parts[0] + parts[2], parts[0] * parts[1]):
        assert facts.whole(other) == other


def test_lanes_that_differ_by_a_number_alone():
    facts = Facts()
    facts.lows = {"n": 3}
    facts.ranges = [Range("i", Term.of(2), Term.of(5))]
    for numbers in ([-9, -1, 0, 7, -1], [5, 3, -20], [-9, -8], [0, 4]):
        term = symbol("i") - 5 + Term.of(np.array(numbers) * 6)
        apart = [facts.holds(term.of_lanes(lane)) for lane in range(len(numbers))]
        assert np.broadcast_to(facts.holds(term), len(numbers)).tolist() == apart
    with pytest.raises(Split) as caught:  # as for the first lane that is open
        facts.holds(symbol("n") - Term.of(np.array([3, 5, 4])))
    assert caught.value.at == Term.of(5)


def test_a_bound_belongs_to_its_ranges_and_assumptions():
    facts = Facts()
    i, n = symbol("i"), symbol("n")
    for low in (1, 3, 2):
        with facts.within([Range("i", Term.of(low), n)]):
            assert facts.bound(i) == low
            assert facts.holds(i - low)
    assert facts.bound(n - 4) == -4
    facts.assumed = [n - 4]
    assert facts.bound(n - 4) == 0


def test_a_number_that_differs_among_lanes_is_not_compared():
    number = Number(Term.of(np.arange(4)), Term.of, Facts())
    assert number >= 0
    assert not number > 3
    with pytest.raises(Undecided):
        number >= 2  # noqa: B015
