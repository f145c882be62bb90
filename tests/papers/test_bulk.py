"""Bulk execution: what it leaves, what it costs in either layout, and what is refused."""

import numpy as np
import pytest

import mmsim as mm
from mmsim.claims import ClaimError
from mmsim_algorithms.bulk import ByColumns, claims, prefix_sums, sort, triangulation
from mmsim_algorithms.bulk.claims import LAYOUTS, bulk, steps
from mmsim_algorithms.bulk.programs import chords, triangulated

PROGRAMS = (prefix_sums, sort, triangulation)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
@pytest.mark.parametrize("schedule", ["synchronous", "asynchronous"])
def test_the_examples_are_right_and_have_no_race(program, schedule):
    for width in (2, 3, 8):
        example = program.prepare(width)
        a = example.arguments[0].data
        expected = {
            prefix_sums: lambda a=a: a.cumsum(axis=1),
            sort: lambda a=a: np.sort(a, axis=1),
            triangulation: lambda a=a: [triangulated(one.reshape(6, 6)).ravel() for one in a],
        }[program]()
        for machine in (mm.UMM(width, 3), mm.DMM(width, 3), mm.HMM(2, width, 9)):
            run = machine.run(
                program, *example.arguments, **example.launch, schedule=schedule, check=True
            )
            assert (run.arrays["a"] == np.array(expected)).all()
            assert run.findings == ()


def every_triangulation(weights, i, j):
    """The weights of all ways to triangulate the vertices i .. j, the chord (i, j) among them."""
    if j == i + 1:
        return [0]
    return [
        weights[i, j] + one + other
        for k in range(i + 1, j)
        for one in every_triangulation(weights, i, k)
        for other in every_triangulation(weights, k, j)
    ]


def test_a_triangulation_is_the_least_of_all():
    a = chords(4, 7, seed=5)
    run = mm.UMM(4, 2).run(triangulation, a, 7, threads=4)
    for found, weights in zip(run.arrays["a"], a, strict=True):
        ways = every_triangulation(weights.reshape(7, 7), 0, 6)
        assert len(ways) == 42  # Catalan's number
        assert found[6] == min(ways)


@pytest.mark.parametrize(
    ("machine", "rows"), [(mm.UMM(4, 3), 8), (mm.DMM(4, 3), 4)], ids=["UMM", "DMM"]
)
def test_prefix_sums_of_six_words_by_hand(machine, rows):
    """8 threads, w = 4, l = 3: 12 rounds of 2 stages, or of 8 groups, or of 2 * gcd(6, 4) banks."""
    for layout, stages in ((ByColumns(), 2), (mm.layout.RAW(), rows)):
        run = machine.run(prefix_sums, mm.place(np.ones((8, 6), int), layout), threads=8)
        assert [one.stages for one in run.rounds] == [stages] * 12
        assert run.time == 12 * (stages + 2)


def test_a_wrong_number_of_steps_and_a_wrong_result_are_refused(monkeypatch):
    case = {"algorithm": "sort", "on": "UMM", "n": 3, "p": 4, "w": 4, "l": 1}
    assert bulk("rows", "synchronous", **case, t=steps("sort", 3)).time == 12 * 4 * 3 // 4
    with pytest.raises(ClaimError, match="12 rounds, not t=13"):
        bulk("rows", "synchronous", **case, t=13)
    monkeypatch.setitem(LAYOUTS, "rows", ByColumns())
    assert bulk("rows", "synchronous", **case, t=12).time == 12
    monkeypatch.setattr(claims, "sort", prefix_sums)
    with pytest.raises(ClaimError, match="wrong result in 'a'"):
        bulk("rows", "synchronous", **case, t=6)
