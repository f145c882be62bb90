"""Bulk execution: the number of steps that it takes, and what is refused."""

import pytest

from mmsim.claims import ClaimError
from mmsim_algorithms.bulk import ByColumns
from mmsim_algorithms.bulk.claims import LAYOUTS, bulk, steps


def test_a_wrong_number_of_steps_is_refused(monkeypatch):
    case = {"algorithm": "sort", "on": "UMM", "n": 3, "p": 4, "w": 4, "l": 1}
    assert bulk("rows", "synchronous", **case, t=steps("sort", 3)).time == 12 * 4 * 3 // 4
    with pytest.raises(ClaimError, match="12 rounds, not t=13"):
        bulk("rows", "synchronous", **case, t=13)
    monkeypatch.setitem(LAYOUTS, "rows", ByColumns())
    assert bulk("rows", "synchronous", **case, t=12).time == 12
