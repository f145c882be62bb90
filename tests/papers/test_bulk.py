"""Bulk execution: what it leaves, what it costs in either layout, and what is refused."""

import pytest

import mmsim as mm
from mmsim.claims import ClaimError
from mmsim_algorithms.bulk import ByColumns, triangulation
from mmsim_algorithms.bulk.claims import LAYOUTS, bulk, steps
from mmsim_algorithms.bulk.programs import chords
from mmsim_algorithms.dynamic_programming.tables import triangulated as least_triangulations


def test_a_triangulation_is_the_least_of_all():
    """As the table of test_dynamic_programming.py, which is compared with all triangulations."""
    a = chords(4, 7, seed=5)
    run = mm.UMM(4, 2).run(triangulation, a, 7, threads=4)
    for found, weights in zip(run.arrays["a"], a, strict=True):
        assert found[6] == least_triangulations(weights.reshape(7, 7))[0, 6]


def test_a_wrong_number_of_steps_is_refused(monkeypatch):
    case = {"algorithm": "sort", "on": "UMM", "n": 3, "p": 4, "w": 4, "l": 1}
    assert bulk("rows", "synchronous", **case, t=steps("sort", 3)).time == 12 * 4 * 3 // 4
    with pytest.raises(ClaimError, match="12 rounds, not t=13"):
        bulk("rows", "synchronous", **case, t=13)
    monkeypatch.setitem(LAYOUTS, "rows", ByColumns())
    assert bulk("rows", "synchronous", **case, t=12).time == 12
