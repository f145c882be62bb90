"""Phases: which lanes of a request are served together."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmsim.model.byte_banks import SIZES, ByteBanks
from mmsim.model.conflicts import Banks, Groups, InParts

REQUESTS = st.dictionaries(st.integers(0, 31), st.integers(0, 40), min_size=1)


@pytest.mark.parametrize("kind", ["read", "write", "atomic", "cas"])
@pytest.mark.parametrize("size", SIZES)
@given(asked=REQUESTS)
def test_phases_come_one_after_the_other(size, kind, asked):
    """Each has stages of its own, after those of the one before, as many as it would take alone."""
    lanes = np.array(sorted(asked))
    addresses = [asked[lane] for lane in lanes.tolist()]
    rule = ByteBanks(32).of_access(size, kind)
    phases, stages = rule.phase_of(addresses, lanes), rule.stage_of(addresses, lanes)
    if size <= 4:
        assert phases == []
        return
    assert sorted(set(phases)) == list(range(max(phases) + 1))
    assert phases == sorted(phases)
    alone = ByteBanks(32 * 4 // size).of_access(4, kind)
    before = 0
    for phase in range(max(phases) + 1):
        own = [at for at, one in enumerate(phases) if one == phase]
        count = alone.stages([addresses[at] for at in own])
        assert min(stages[at] for at in own) >= before
        before += count
        assert max(stages[at] for at in own) == before - 1
    assert rule.stages(addresses, lanes) == before


@pytest.mark.parametrize(("size", "count"), [(8, 2), (16, 4)])
def test_a_whole_warp_has_a_phase_for_each_128_bytes(size, count):
    addresses = list(range(32))
    own = [lane * count // 32 for lane in range(32)]
    for kind in ("read", "write", "atomic", "cas"):
        assert ByteBanks(32).of_access(size, kind).phase_of(addresses) == own
    pairs = [lane // 2 for lane in range(32)]
    half = [lane * count // 2 // 32 for lane in range(32)]
    assert ByteBanks(32).of_access(size, "read").phase_of(pairs) == half
    assert ByteBanks(32).of_access(size, "write").phase_of(pairs) == own


def test_the_papers_rules_have_no_phases():
    for rule in (Banks(4), Groups(4), Banks(4).of_atomics(), Groups(4).of_atomics()):
        assert rule.phase_of([0, 1, 4, 9], np.arange(4)) == []
    assert InParts(2, Groups(4)).of_atomics().phase_of([0, 1, 4], np.array([1, 6, 7])) == [0, 1, 1]
