"""Sorting, partition, permutation and merging without bank conflicts: results, counts by hand."""

from itertools import product

import numpy as np
import pytest

import mmsim as mm
from mmsim_algorithms.errors import PreconditionError
from mmsim_algorithms.sorting import (
    column_sort,
    columns,
    merge_lists,
    merge_sorted,
    merge_two,
    partition,
    permute,
)
from mmsim_algorithms.sorting.column_claims import congestion
from mmsim_algorithms.sorting.partition import deliver, fetch, sort_by_class

schedules = pytest.mark.parametrize("schedule", ["synchronous", "asynchronous"])
PROGRAMS = (
    *(columns.merge_columns, columns.spread, columns.shift, columns.in_order),
    *(sort_by_class, fetch, deliver, merge_two),
)
each_program = pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)


def inputs(n):
    random = np.random.default_rng(n)
    yield from (random.permutation(n), random.integers(0, 3, n), np.arange(n)[::-1], np.zeros(n))


@schedules
@pytest.mark.parametrize(
    ("w", "n", "p"), [(1, 2, 1), (1, 16, 4), (1, 16, 16), (2, 8, 2), (2, 64, 32), (4, 128, 16)]
)
def test_columns_are_sorted_without_a_conflict(w, n, p, schedule):
    for a in inputs(n):
        run = column_sort(mm.DMM(w, 2), a, p, schedule=schedule)
        assert (run.arrays["b"] == np.sort(a)).all()
        assert congestion(run) == 1


def test_columns_sort_zeros_and_ones():
    """h = 4, w = 2: all 256 inputs by the numbers of ones in each column; their order is sorted."""
    for one, two in product(range(5), repeat=2):
        a = np.stack([np.arange(4) < one, np.arange(4) >= 4 - two], axis=1).astype(int).ravel()
        run = column_sort(mm.DMM(2, 1), a, 2)
        assert (run.arrays["b"] == np.sort(a)).all()


@schedules
@each_program
def test_no_program_has_a_race_or_a_conflict(program, schedule):
    for width in (1, 2, 4, 8):
        example = program.prepare(width)
        run = mm.DMM(width, 2).run(
            program, *example.arguments, **example.launch, schedule=schedule, check=True
        )
        assert run.findings == ()
        assert congestion(run) == 1


def test_a_conflict_would_be_seen():
    """The searches of the other merge sort have conflicts."""
    run = merge_sorted(mm.DMM(4, 1), np.random.default_rng(0).permutation(56), 7, conflicts=False)
    assert congestion(run) > 1


def test_the_movements_by_hand():
    """4 rows of 2 words, a column in each bank: 0 2 4 6 and 1 3 5 7."""
    a = np.arange(8)
    machine = mm.DMM(2, 1)

    def after(program, *numbers):
        run = machine.run(program, a, np.zeros_like(a), 2, *numbers, threads=2)
        return run.arrays["b"].tolist()

    assert after(columns.spread, 2, 1) == [0, 2, 4, 6, 1, 3, 5, 7]
    assert after(columns.spread, 1, 2) == [0, 4, 2, 6, 1, 5, 3, 7]
    assert after(columns.shift) == [5, 4, 7, 6, 0, 1, 2, 3]
    assert after(columns.in_order) == [0, 2, 1, 3, 5, 7, 4, 6]


@schedules
@pytest.mark.parametrize(("w", "h"), [(1, 1), (1, 3), (2, 4), (2, 6), (3, 9), (3, 12), (4, 16)])
def test_words_are_moved_to_their_places(w, h, schedule):
    n = w * h
    random = np.random.default_rng(n)
    transposed = np.arange(n).reshape(h, w).T.ravel()
    for d in (np.arange(n), np.arange(n)[::-1], transposed, random.permutation(n)):
        a = random.permutation(n)
        run = permute(mm.DMM(w, 2), a, d, schedule=schedule)
        assert (run.arrays["b"][d] == a).all()
        parts = partition(mm.DMM(w, 2), a, d % w, schedule=schedule)
        for v, column in enumerate(parts.arrays["b"].reshape(h, w).T):
            assert sorted(column) == sorted(a[d % w == v])
        assert congestion(run) == congestion(parts) == 1


@schedules
@pytest.mark.parametrize(("w", "p", "E"), [(1, 1, 2), (1, 4, 2), (2, 2, 2), (2, 8, 4), (4, 8, 16)])
def test_lists_are_merged_without_a_conflict(w, p, E, schedule):
    for a in inputs(p * E):
        first, second = np.sort(a.reshape(2, -1), axis=1)
        for lists in ((first, second), (np.sort(a)[: a.size // 2], np.sort(a)[a.size // 2 :])):
            run = merge_lists(mm.DMM(w, 2), *lists, p, schedule=schedule)
            assert (run.arrays["b"] == np.sort(np.concatenate(lists))).all()
            assert congestion(run) == 1


@pytest.mark.parametrize(
    "call",
    [
        lambda machine: column_sort(machine, np.arange(24), 4),
        lambda machine: column_sort(machine, np.arange(64), 4),
        lambda machine: column_sort(machine, np.arange(128), 2),
        lambda machine: column_sort(machine, np.arange(128), 256),
        lambda machine: permute(machine, np.arange(48), np.arange(48)),
        lambda machine: permute(machine, np.arange(72), np.arange(72)),
        lambda machine: permute(machine, np.arange(64), np.zeros(64, int)),
        lambda machine: partition(machine, np.arange(64), np.zeros(64, int)),
        lambda machine: partition(machine, np.arange(64), np.arange(63) % 4),
        lambda machine: merge_lists(machine, np.arange(16), np.arange(8), 4),
        lambda machine: merge_lists(machine, np.arange(24), np.arange(24), 4),
        lambda machine: merge_lists(machine, np.arange(16), np.arange(16), 2),
        lambda machine: merge_lists(machine, np.arange(16), np.arange(16), 16),
    ],
)
def test_what_cannot_be_done_without_conflicts_is_refused(call):
    with pytest.raises(PreconditionError, match="SORT"):
        call(mm.DMM(4, 1))
