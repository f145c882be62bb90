"""Banks of two words: the rule, and how CFP Table II's times follow it."""

import numpy as np
import pytest

import mmsim as mm
from mmsim_algorithms.dmm_permutation.cases import casual_stages, named
from mmsim_algorithms.dmm_permutation.programs import permute
from mmsim_algorithms.dmm_permutation.wide_banks import WideBankDMM, WideBanks
from mmsim_algorithms.printed import table

GUIDE = [
    # CUDA C Programming Guide, compute capability 3.x, 32-bit mode, 32 banks
    (range(0, 64, 2), 1),  # a stride of two words
    (range(32), 1),
    (range(0, 96, 3), 1),
    (range(0, 1024, 32), 16),
    ([0, 32], 1),  # one aligned segment of 64 words
    ([32, 64], 2),  # two of them
    ([5] * 32, 1),
]


@pytest.mark.parametrize(("addresses", "stages"), GUIDE)
def test_the_rule(addresses, stages):
    rule = WideBanks(32)
    assert rule.stages(list(addresses)) == stages
    counted = rule.stage_counts(np.array(addresses), np.zeros(len(addresses), dtype=int), 1)
    assert counted.tolist() == [stages]


def test_the_rule_counts_pairs_in_a_bank():
    random = np.random.RandomState(0)
    for width in (2, 4, 5, 32):
        addresses = random.randint(0, 8 * width, size=width).tolist()
        pairs = {(address % width, address // (2 * width)) for address in addresses}
        most = max(sum(bank == own for own, _ in pairs) for bank in range(width))
        assert WideBanks(width).stages(addresses) == most
        assert max(WideBanks(width).stage_of(addresses)) + 1 == most


def more_stages(machine, algorithm, name, seeds=1):
    """Stages of the casual round beyond the identical permutation's; the mean over seeds."""
    found = [
        casual_stages(permute(machine, algorithm, named(name, 1024, 32, seed)))
        for seed in range(seeds)
    ]
    return np.mean(found) - 32


@pytest.mark.parametrize("algorithm", ["D-designated", "S-designated"])
@pytest.mark.parametrize("name", ["shuffle", "random"])
def test_the_times_of_table_2_follow_wide_banks_more_closely(algorithm, name):
    """Time beyond the identical permutation's, divided by what the transpose has beyond it."""
    printed = {row["permutation"]: row for row in table("cfp_table2")}
    column = f"{algorithm.replace('-', '_').lower()}_ns"
    identical, this, transpose = (
        float(printed[row][column]) for row in ("identical", name, "transpose")
    )
    measured = (this - identical) / (transpose - identical)
    narrow, wide = (
        more_stages(machine, algorithm, name, 20 if name == "random" else 1)
        / more_stages(machine, algorithm, "transpose")
        for machine in (mm.DMM(32, 1), WideBankDMM(32, 1))
    )
    assert abs(wide - measured) < abs(narrow - measured) / 2
