"""A sparse matrix times a vector: what it computes, by hand, and which words conflict."""

import numpy as np
import pytest

import mmsim as mm
from mmsim.claims import ClaimError
from mmsim_algorithms.sparse import claims, ell, ell_shared, row_of_thread, row_of_warp
from mmsim_algorithms.sparse.claims import CLAIMS, GROUPED, SCATTERED, is_grouped, is_scattered
from mmsim_algorithms.sparse.programs import compressed, grouped, scattered, times, values

PROGRAMS = (row_of_thread, row_of_warp, ell, ell_shared)


def dense(program, arguments):
    """The product of an example, with the whole matrix."""
    if program in (ell, ell_shared):
        c, v, x, y = arguments
        rows, columns, words = np.indices(c.shape)[1].ravel(), c.ravel(), v.ravel()
    else:
        r, columns, words, x, y = arguments[:5]
        rows = np.repeat(np.arange(y.size), np.diff(r))
    matrix = np.zeros((y.size, x.size), int)
    np.add.at(matrix, (rows, columns), words)
    return matrix @ x


@pytest.mark.parametrize("schedule", ["synchronous", "asynchronous"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_every_program_computes_the_product_without_a_race(program, schedule):
    for width, size in ((1, 0), (2, 9), (4, 0)):
        example = program.prepare(width, size=size)
        for machine in (mm.UMM(width, 2), mm.DMM(width, 2), mm.HMM(2, width, 9, 2)):
            run = machine.run(
                program, *example.arguments, **example.launch, schedule=schedule, check=True
            )
            assert (run.arrays["y"] == dense(program, example.arguments)).all()
            assert run.findings == ()


@pytest.mark.parametrize("program", [row_of_thread, row_of_warp], ids=lambda one: one.name)
def test_rows_may_have_any_length(program):
    r = np.array([0, 0, 3, 4, 12])
    c, v = np.arange(12) % 4, np.arange(12) + 1
    arguments = (r, c, v, np.arange(4) + 2, np.zeros(4, int), *([2] * (program is row_of_warp)))
    run = mm.DMM(2, 3).run(program, *arguments, threads=4)
    assert (run.arrays["y"] == dense(program, arguments)).all()


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


@pytest.mark.parametrize("way", claims.WAYS)
def test_a_wrong_product_is_refused(way, monkeypatch):
    monkeypatch.setattr(claims, "times", lambda *given: times(*given) + 1)
    with pytest.raises(ClaimError, match="wrong result in 'y'"):
        claims.any_way("synchronous", way, on="DMM", n=8, p=8, w=4, l=1, k=4)
    with pytest.raises(ClaimError, match="wrong result in 'y'"):
        claims.on_hmm(ell_shared, "synchronous", 16, 16, 2, 2, 1, 1, 1)


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
