"""A sparse matrix times a vector: what it computes, by hand, and which words conflict."""

import numpy as np
import pytest

import mmsim as mm
from mmsim_algorithms.sparse import ell, row_of_thread, row_of_warp
from mmsim_algorithms.sparse.claims import CLAIMS, GROUPED, SCATTERED, is_grouped, is_scattered
from mmsim_algorithms.sparse.programs import grouped, scattered, values


@pytest.mark.parametrize("program", [row_of_thread, row_of_warp], ids=lambda one: one.name)
def test_rows_may_have_any_length(program):
    r = np.array([0, 0, 3, 4, 12])
    c, v = np.arange(12) % 4, np.arange(12) + 1
    arguments = (r, c, v, np.arange(4) + 2, np.zeros(4, int), *([2] * (program is row_of_warp)))
    run = mm.DMM(2, 3).run(program, *arguments, threads=4)
    last = 5 * 2 + 6 * 3 + 7 * 4 + 8 * 5 + 9 * 2 + 10 * 3 + 11 * 4 + 12 * 5
    assert run.arrays["y"].tolist() == [0, 1 * 2 + 2 * 3 + 3 * 4, 4 * 5, last]


def stages(run, array):
    return sum(row.stages for row in run.accesses if row.array == array)


def test_the_claims_name_the_columns_that_their_times_need():
    by_id = {claim.id: claim.requires for claim in CLAIMS}
    for name in ("threads.DMM", "threads.UMM", "warps", "ell"):
        assert GROUPED in by_id[f"SPMV-{name}"]
    for name in ("HMM.global", "HMM.shared"):
        assert SCATTERED in by_id[f"SPMV-{name}"]
    assert is_grouped(grouped(16, 5, 4), 4)
    assert is_scattered(scattered(16, 5, 4), 4)
    assert not is_grouped(scattered(16, 5, 4), 4)
    assert not is_scattered(grouped(16, 5, 4), 4)


@pytest.mark.parametrize("machine", [mm.DMM(4, 2), mm.UMM(4, 2)], ids=str)
def test_other_columns_take_another_time(machine):
    """Sixteen rows of four words; a request for words of x in one bank takes four stages."""
    words, x = values(16, 4)
    i, t = np.arange(16)[:, None], np.arange(4)
    found = []
    for c in (grouped(16, 4, 4), (4 * i + t) % 16):
        run = machine.run(ell, c.T.copy(), words.T.copy(), x, np.zeros(16, int), threads=16)
        found.append((stages(run, "x"), run.time))
    (few, time), (many, longer) = found
    assert (few, many) == (16, 64)
    assert longer == time + 48
