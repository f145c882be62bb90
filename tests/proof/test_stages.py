"""The stages of requests with symbols, against the rules of the model at numbers."""

from itertools import product
from random import Random

import numpy as np
import pytest

from mmsim.model.conflicts import Banks, Groups
from mmsim.proof.facts import Facts, Range, Split
from mmsim.proof.stages import stages
from mmsim.proof.terms import Term, Undecided, power_of_two, simple, symbol

RULES = {"banks": Banks, "groups": Groups}
FREE = ("x", "y", "a")


def known_facts(random):
    """Facts with a range, and points at which they are true."""
    facts = Facts()
    facts.lows = {name: random.choice((0, 0, 1, 2)) for name in FREE}
    facts.ranges = [Range("i", Term.of(random.randint(0, 1)), symbol("x") + 2)]
    points = []
    for steps in product(range(3), repeat=len(FREE)):
        point = {name: facts.lows[name] + step for name, step in zip(FREE, steps, strict=True)}
        for i in range(int(facts.ranges[0].low.at(point)), point["x"] + 2):
            points.append({**point, "i": i})
    return facts, points


def agree(unit, width, facts, points, offsets, lanes, atomic=False):
    """Compare; False where the stages aren't found."""
    try:
        found = stages(facts, unit, width, offsets, lanes, atomic)
    except (Split, Undecided):
        return False
    rule = RULES[unit](width).of_atomics() if atomic else RULES[unit](width)
    for point in points:
        words = [int(term.of_lanes(lane).at(point)) for lane in range(lanes) for term in offsets]
        assert rule.stages(words) == found, (unit, width, offsets, point, words, atomic)
    return True


@pytest.mark.parametrize("width", [2, 3])
def test_all_small_requests(width):
    random = Random(width)
    for lanes in range(1, width + 1):
        for addresses in product(range(2 * width + 1), repeat=lanes):
            facts, points = known_facts(random)
            own = np.array(addresses)
            base = symbol("x") * width + symbol("i") * width * random.randint(0, 1)
            offset = Term.of(simple(own)) + base
            if random.random() < 0.5:  # rows that differ by a symbol
                rows = np.array([random.randint(0, 1) for _ in range(lanes)])
                offset = offset + symbol("y") * Term.of(rows * width)
            chosen = random.sample(points, 4)
            for unit, atomic in product(RULES, (False, True)):
                agree(unit, width, facts, chosen, [offset], lanes, atomic)
            assert agree("groups", width, facts, chosen, [Term.of(simple(own)) + base], lanes)


def random_offset(random, width, lanes):
    """Numbers of the lanes, and products with a factor for all lanes or one for each."""

    def factor():
        step = random.choice((1, 1, width, width, 2 * width, width // 2 or 1, 3))
        kinds = (
            np.arange(lanes) * random.choice((0, 1, 1, 2, width)),
            np.array([random.randint(0, 2) for _ in range(lanes)]),
            np.arange(lanes) // 2,
            np.full(lanes, random.randint(0, 2)),
        )
        return Term.of(simple(random.choice(kinds) * step))

    found = factor() + factor()
    for name in random.sample((*FREE, "i"), random.randint(0, 2)):
        part = power_of_two(symbol(name)) if name == "a" else symbol(name)
        found = found + part * factor()
    return found


def compare_random(seed, count):
    """Compare random requests; returns how many had an answer."""
    random = Random(seed)
    decided = 0
    for _ in range(count):
        width = random.choice((2, 4, 4, 8, 32))
        lanes = random.randint(1, width)
        facts, points = known_facts(random)
        offset = random_offset(random, width, lanes)
        several = random.choice((1, 1, 1, 2, 4))
        offsets = [offset * several + k for k in range(several)]
        unit, atomic = random.choice(list(RULES)), several == 1 and random.random() < 0.4
        chosen = random.sample(points, min(6, len(points)))
        decided += agree(unit, width, facts, chosen, offsets, lanes, atomic)
    return decided


def test_random_requests():
    assert compare_random(0, 250) > 80


@pytest.mark.long
def test_many_random_requests():
    assert compare_random(1, 20_000) > 5000


def test_requests_of_several_warps():
    """Their stages add up, whatever each warp's lanes ask for."""
    random = Random(2)
    decided = 0
    for _ in range(150):
        width, warps = random.choice((2, 4, 8)), random.randint(2, 4)
        facts, _ = known_facts(random)
        each = [random.randint(1, width) for _ in range(warps)]
        offset = random_offset(random, width, sum(each))
        unit, atomic = random.choice(list(RULES)), random.random() < 0.4
        senders = np.repeat(np.arange(warps), each)
        try:
            found = stages(facts, unit, width, [offset], sum(each), atomic, senders)
        except (Split, Undecided):
            continue
        apart = [
            stages(facts, unit, width, [offset.of_lanes(senders == warp)], count, atomic)
            for warp, count in enumerate(each)
        ]
        assert found == sum(apart), (unit, width, offset, each, atomic)
        decided += 1
    assert decided > 50


def test_a_request_that_depends_on_a_size_asks_for_it():
    facts = Facts()
    facts.lows = {"x": 0}
    lanes = Term.of(np.arange(4))
    with pytest.raises(Split) as caught:
        stages(facts, "groups", 4, [lanes + symbol("x")], 4)
    assert (caught.value.name, caught.value.modulus) == ("x", 4)
    assert stages(facts, "banks", 4, [lanes + symbol("x")], 4) == 1
    with pytest.raises(Split):  # the rows x and 0 are one for x = 0
        stages(facts, "groups", 4, [symbol("x") * Term.of(np.array([0, 4, 0, 0]))], 4)


def test_rows_that_are_one_by_what_is_known():
    facts = Facts()
    facts.ranges = [Range("i", Term.of(3), Term.of(4))]
    offset = symbol("i") * Term.of(np.array([4, 0, 4])) + Term.of(np.array([0, 12, 17]))
    assert stages(facts, "groups", 4, [offset], 3) == 2
    assert stages(facts, "banks", 4, [offset * 4], 3, atomic=True) == 3
    assert stages(facts, "banks", 4, [offset - offset.of_lanes([0])], 3) == 1
