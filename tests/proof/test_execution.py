"""The cost of random programs with symbols for their sizes, against runs at numbers."""

import time
from random import Random

import pytest

import mmsim as mm
from mmsim.proof.facts import Undecided
from tests.kit.generators.random_sizes import differences, sized_case

SECONDS = 2
"""For one program; one that takes longer counts as undecided."""


def compared(seeds):
    """How many programs had their cost found, and at how many points it was compared."""
    decided = compared = 0
    for seed in seeds:
        try:
            one = sized_case(seed)
            found, points = differences(one, time.monotonic() + SECONDS, Random(seed))
        except (Undecided, mm.LanguageError):
            continue
        assert not found, f"{seed}\n{one}\n{found}"
        decided += 1
        compared += points
    return decided, compared


def test_random_programs():
    decided, points = compared(range(40))
    assert decided >= 10
    assert points >= 100


@pytest.mark.long
@pytest.mark.parametrize("hundred", range(50))
def test_many_random_programs(hundred):
    decided, _ = compared(range(10_000 + 100 * hundred, 10_100 + 100 * hundred))
    assert decided >= 20
