"""A sparse matrix times a vector: what it computes, by hand, and which words conflict."""

import numpy as np
import pytest

import mmsim as mm
from mmsim_algorithms.sparse import ell, row_of_thread, row_of_warp
from mmsim_algorithms.sparse.claims import CLAIMS, GROUPED, SCATTERED, is_grouped, is_scattered
from mmsim_algorithms.sparse.programs import compressed, grouped, scattered, values


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


@pytest.mark.parametrize(("k", "banks", "groups"), [(1, 1, 1), (2, 2, 2), (3, 1, 3), (8, 4, 4)])
def test_nonzero_words_of_a_warps_rows_lie_k_apart(k, banks, groups):
    """w = 4, 4 warps, k reads each."""
    c, (words, x) = grouped(16, k, 4), values(16, k)
    for machine, expected in ((mm.DMM(4, 2), banks), (mm.UMM(4, 2), groups)):
        run = machine.run(row_of_thread, *compressed(c, words), x, np.zeros(16, int), threads=16)
        assert stages(run, "v") == stages(run, "c") == 4 * k * expected
        assert stages(run, "x") == 4 * k


def test_scattered_words_are_in_w_groups_and_w_banks():
    c, (words, x) = scattered(32, 3, 4), values(32, 3)
    for machine, expected in ((mm.DMM(4, 2), 1), (mm.UMM(4, 2), 4)):
        run = machine.run(ell, c.T.copy(), words.T.copy(), x, np.zeros(32, int), threads=32)
        assert stages(run, "x") == 8 * 3 * expected


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
