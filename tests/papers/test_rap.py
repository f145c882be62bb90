"""RAP's accesses and transposes of a matrix: beyond what its claims say."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
import pytest

import mmsim as mm
import mmsim_algorithms
from mmsim.meaning import memoized
from mmsim.model.conflicts import Banks
from mmsim.model.layout import RAP
from mmsim.model.memory import offsets_of
from mmsim_algorithms.rap import cases as rap_cases
from mmsim_algorithms.rap import cuda as rap_cuda
from mmsim_algorithms.rap import cuda_claims, patterns
from mmsim_algorithms.rap import programs as rap
from mmsim_algorithms.rap.bounds import log_over_loglog

SCHEDULES = ("synchronous", "asynchronous")


def dispatched(program, w, *more, threads=None, layout=None):
    """The word addresses of each warp's requests to `a`, in order."""
    a = mm.place(rap.matrix(w), layout or mm.layout.RAW())
    run = mm.DMM(w, 1).run(program, a, *more, threads=threads or w * w, trace=True)
    return [dispatch.addresses for dispatch in run.trace.dispatches if dispatch.array == "a"]


def test_the_other_diagonal_is_the_transposed_one():
    one, other = dispatched(rap.diagonal, 5), dispatched(rap.diagonal_transposed, 5)
    for first, second in zip(one, other, strict=True):
        assert [(word % 5, word // 5) for word in first] == [divmod(word, 5) for word in second]


@pytest.mark.parametrize("layout", rap.LAYOUTS)
@pytest.mark.parametrize("transpose", rap.IN_PLACE)
@pytest.mark.parametrize("w", [1, 2, 3, 4, 7, 8])
def test_transposes_are_right_under_every_layout_and_schedule(transpose, layout, w):
    """The host code checks the results; in place without a barrier only in lock step."""
    for schedule in SCHEDULES:
        out = rap_cases.transposed(schedule, transpose, w, l=3, layout=layout, seed=1)
        assert np.array_equal(out.arrays["b"], rap.matrix(w).T)
        for programs in ("in place", "with barrier"):
            rap_cases.transposed_in_place(schedule, transpose, w, 3, layout, 1, programs)


def test_in_place_without_lock_step_is_a_race():
    """A warp writes over a row that a warp of the other DMM has yet to read."""
    right = rap.matrix(4).T
    wrong = rap.race()
    assert np.argwhere(wrong.arrays["a"] != right).tolist() == [[3, 2]]
    assert wrong.arrays["a"][3, 2] == 14  # W(3)'s a[3][2], where W(2) had not read 11 yet
    assert not np.array_equal(rap.race("with barrier").arrays["a"], right)  # two blocks
    assert np.array_equal(rap.race("out of place").arrays["b"], right)
    for programs in ("in place", "with barrier"):
        assert np.array_equal(rap.race(programs, "synchronous").arrays["a"], right)


def test_a_long_latency_hides_the_race():
    wrong = [
        L for L in range(1, 9) if not np.array_equal(rap.race(L=L).arrays["a"], rap.matrix(4).T)
    ]
    assert wrong == [1, 2]


@pytest.mark.parametrize("transpose", rap.WITH_BARRIER)
def test_a_barrier_is_enough_in_one_block(transpose):
    for schedule in SCHEDULES:
        run = mm.HMM(2, 4, 1).run(
            rap.WITH_BARRIER[transpose], rap.matrix(4), threads=16, schedule=schedule
        )
        assert np.array_equal(run.arrays["a"], rap.matrix(4).T)


@pytest.mark.parametrize("machine", [mm.DMM, mm.UMM])
@pytest.mark.parametrize("transpose", rap.IN_PLACE)
def test_one_unit_takes_all_reads_before_the_first_write(machine, transpose):
    """The rule of turns hides the race where all warps share one memory unit."""
    for w, l, block_size in ((2, 1, None), (4, 1, 12), (4, 9, 5), (8, 1, 24), (8, 40, None)):
        run = machine(w, l).run(
            rap.IN_PLACE[transpose],
            rap.matrix(w),
            threads=w * w,
            block_size=block_size,
            schedule="asynchronous",
            trace=True,
        )
        kinds = [dispatch.kind for dispatch in run.trace.dispatches]
        assert kinds == sorted(kinds)  # "read" before "write"
        assert np.array_equal(run.arrays["a"], rap.matrix(w).T)


# Section VI.


def test_figure_7_packs_six_shifts_to_a_word():
    packed = rap_cuda.pack(range(32))
    assert packed[0] == sum(i << (5 * i) for i in range(6))
    assert packed[5] == 30 | 31 << 5
    assert all((packed[i // 6] >> (5 * (i % 6))) & 31 == i for i in range(32))


def test_rotated_is_what_the_rap_layout_does():
    shifts = np.array([2, 0, 3, 1])
    words = rap_cuda.rotated(rap.matrix(4), shifts)
    offsets = offsets_of(RAP(4, shifts=(2, 0, 3, 1)), (4, 4))
    assert words.ravel()[offsets.ravel()].tolist() == list(range(16))


def test_erratum_6_the_printed_cuda_leaves_no_rap_layout():
    shifts = np.random.RandomState(0).permutation(32)
    run = cuda_claims.cuda("synchronous", rap_cuda.cuda_as_printed, 0, 1)
    b = run.arrays["b"]
    assert not np.array_equal(b, rap_cuda.rotated(rap.matrix(32).T, shifts))
    # Its columns are rotated where the layout rotates rows: the bank of (j, i) is i, whatever r.
    i, j = np.indices((32, 32))
    assert np.array_equal(b[(j + shifts[:, None]) % 32, i], rap.matrix(32))
    writes = [row.stages for row in run.accesses if row.kind == "write"]
    assert writes == [32 * 32]


def test_erratum_6_the_corrected_cuda_agrees_with_the_layout():
    """The same addresses as `crsw_to` under `mm.place`, hence the same stages."""
    run = cuda_claims.cuda("synchronous", rap_cuda.cuda_corrected, 0, 5)
    placed = rap_cases.transposed("synchronous", "CRSW", 32, 5, "RAP")
    assert run.rounds[-2].stages == placed.rounds[-2].stages == 32
    assert run.rounds[-1].stages == placed.rounds[-1].stages == 32


# Accesses that claims are checked on.


@pytest.mark.parametrize("pattern", patterns.PATTERNS)
@pytest.mark.parametrize("w", [4, 5, 8])
def test_patterns_are_cells_of_the_matrix_and_distinct_unless_random(pattern, w):
    row, column = patterns.cells(pattern, w, 6, np.random.RandomState(0))
    assert row.shape == column.shape == (6, w)
    assert {row.min() >= 0, column.min() >= 0, row.max() < w, column.max() < w} == {True}
    if pattern != "random":
        assert all(len(set(cells)) == w for cells in (row * w + column).tolist())


@pytest.mark.parametrize("pattern", ["contiguous", "stride", "diagonal", "diagonal transposed"])
def test_patterns_of_section_iii_are_its_programs(pattern):
    row, column = patterns.cells(pattern, 5, 5, np.random.RandomState(0))
    assert dispatched(rap.ACCESSES[pattern], 5) == [tuple(warp) for warp in row * 5 + column]


def test_many_matrices_have_the_layout_asked_for():
    """Under RAP rows and columns are free of conflicts; under RAS only rows are."""
    for pattern, layout in (("stride", "RAP"), ("contiguous", "RAP"), ("contiguous", "RAS")):
        run = rap_cases.many_matrices("synchronous", pattern, 8, 5, layout)
        assert rap_cases.stages("a")(run) == 5  # congestion 1 each
    run = rap_cases.many_matrices("synchronous", "stride", 8, 5, "RAS")
    assert rap_cases.stages("a")(run) > 5


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_limits_are_five_standard_errors_from_the_sum(schedule):
    run = rap_cases.many_matrices(schedule, "diagonal", 8, 50, trace=True)
    found = rap_cases.congestions_of(run)
    assert len(found) == 50
    assert found.sum() == rap_cases.stages("a")(run)
    mean = found.sum() / 50
    error = np.sqrt(((found - mean) ** 2).sum() / 49 / 50)
    assert rap_cases.low_sum(run) == np.floor(50 * (mean - 5 * error))
    assert rap_cases.high_sum(run) == np.ceil(50 * (mean + 5 * error))


def test_means_of_table_2_are_its_figures():
    cases = list(rap_cases.means_of_table_2(7))
    assert len(cases) == 10  # two of RAS, two of RAP and one more of RAS at two widths
    assert {(case["pattern"], case["layout"]) for case in cases} == {
        *(("stride", "RAS"), ("diagonal", "RAS"), ("diagonal", "RAP")),
        *(("random", "RAS"), ("random", "RAP")),
    }
    (one,) = [c for c in cases if (c["pattern"], c["layout"], c["w"]) == ("diagonal", "RAP", 32)]
    assert (one["m"], one["hundredths"]) == (7, 361)


@pytest.mark.parametrize("id_", ["RAP-T2.mean.least", "RAP-T4.R1P"])
def test_a_wrong_count_of_conflicts_breaks_the_lower_claims(monkeypatch, id_):
    """With no request of more than two stages they fail in every case."""
    (claim,) = [one for one in mmsim_algorithms.claims() if one.id == id_]
    cases = claim.cases()[:3]
    for case in cases:
        right = claim.measure(claim.run("synchronous", **case))
        assert claim.agrees(right, claim.evaluate(case))
    stages, stage_counts = Banks.stages, Banks.stage_counts
    monkeypatch.setattr(memoized, "_of_programs", WeakKeyDictionary())  # costs of known requests
    monkeypatch.setattr(Banks, "stages", lambda *of: min(2, stages(*of)))
    monkeypatch.setattr(Banks, "stage_counts", lambda *of: np.minimum(2, stage_counts(*of)))
    for case in cases:
        wrong = claim.measure(claim.run("synchronous", **case))
        assert not claim.agrees(wrong, claim.evaluate(case))


@pytest.mark.parametrize("count", [1, 2, 3])
def test_the_race_needs_dmms_with_unequal_numbers_of_warps(count):
    """With equal ones all DMMs have had as many turns when the first warp can write."""
    for latency in (1, 2, 7):
        run = mm.HMM(dmms=count, width=4, global_latency=latency).run(
            rap.crsw,
            rap.matrix(12),
            threads=144,
            block_size=12,
            schedule="asynchronous",
            trace=True,
        )
        assert np.array_equal(run.arrays["a"], rap.matrix(12).T)
        kinds = [dispatch.kind for dispatch in run.trace.dispatches]
        assert kinds == sorted(kinds)  # "read" before "write"


@pytest.mark.parametrize("w", [4, 16, 32])
def test_log_over_loglog_is_below_the_real_number(w):
    real = 100 * np.log(w) / np.log(np.log(w))
    assert real - 1 < log_over_loglog(100, w) <= real
