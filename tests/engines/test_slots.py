"""The search for a line in a set of a cache: compiled to vector instructions, and plain."""

import numba
import numpy as np
import pytest

from mmsim.engines.array import cached_time
from mmsim.model.cache import slot_of


@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_the_compiled_search_finds_the_first_slot(kind):
    cached_time.compiled()  # Numba learns how to compile the search

    @numba.njit
    def found(tags, first, ways, line):
        return slot_of(tags, first, ways, line)

    tags = np.random.default_rng(0).integers(-1, 40, 96).astype(kind)
    for ways in (3, 8, 16, 24, 32, 48):
        for first in range(0, 48, ways):
            for line in range(-1, 41):
                own = slot_of(tags.tolist(), first, ways, line)
                assert found(tags, first, ways, line) == own, (ways, first, line)
