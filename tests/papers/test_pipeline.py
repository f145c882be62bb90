"""The triangulation by a pipeline of threads: what it finds, its rounds by hand, and no race."""

import numpy as np
import pytest

import mmsim as mm
from mmsim.claims import ClaimError
from mmsim_algorithms.triangulation import pipeline_claims as claims
from mmsim_algorithms.triangulation.pipeline import empty_line, first, in_line, pipeline
from mmsim_algorithms.triangulation.programs import (
    by_diagonals,
    diagonal_arrangement,
    least,
    weights,
)

schedules = pytest.mark.parametrize("schedule", ["synchronous", "asynchronous"])
machines = pytest.mark.parametrize("machine", [mm.DMM(4, 3), mm.UMM(4, 3)], ids=str)


@schedules
@machines
def test_the_least_sums(machine, schedule):
    for n in (1, 2, 3, 4, 7, 12):
        for p in {max(1, n // 2), n, n + 3}:
            u = weights(n, n)
            arguments = in_line(u), empty_line(n), n
            run = machine.run(pipeline, *arguments, threads=p, schedule=schedule)
            assert (run.arrays["c"] == in_line(least(u))).all()


def test_too_few_threads_miss_sums():
    """n/2 threads are needed: a claim asks for them."""
    u = weights(12, 12)
    run = mm.UMM(4, 3).run(pipeline, in_line(u), empty_line(12), 12, threads=1)
    assert (run.arrays["c"] != in_line(least(u))).any()
    assert not claims.PAIRS.holds(n=12, p=5)
    assert claims.PAIRS.holds(n=12, p=6)
    assert claims.PAIRS.holds(n=13, p=6)


@schedules
@machines
def test_the_example_has_no_race(machine, schedule):
    for width, size in ((1, 0), (3, 0), (8, 0), (4, 13)):
        example = pipeline.prepare(width, size=size)
        run = machine.run(
            pipeline, *example.arguments, **example.launch, schedule=schedule, check=True
        )
        assert run.findings == ()


def test_the_diagonals_follow_each_other():
    assert [first(5, g) for g in range(6)] == [0, 5, 9, 12, 14, 15]


def test_four_sides_by_hand():
    """w = 1: 3 + 2 + 1 elements; two threads, and the second one only has the last element.

    An element of diagonal 1 has 5 accesses, of diagonal 2 has 7; the last one has 7 by thread 0
    and 4 by thread 1, which takes c[1, 0] + c[1, 2] at the step before, in rounds of thread 0.
    """
    run = mm.UMM(1, 1).run(pipeline, in_line(weights(4)), empty_line(4), 4, threads=2)
    assert len(run.rounds) == 3 * 5 + 3 * 7
    assert run.time == 3 * 5 + 2 * 7 + 7 + 4


@pytest.mark.parametrize("on", [mm.DMM, mm.UMM])
def test_by_diagonals_has_fewer_stages(on):
    n = 24
    u = weights(n)
    machine = on(8, 1)
    one = machine.run(by_diagonals, diagonal_arrangement(u), np.zeros((n, n), int), threads=n)
    other = machine.run(pipeline, in_line(u), empty_line(n), n, threads=n // 2)
    assert 2 * one.time < other.time


def test_diagonals_of_four_sides_by_hand():
    """w = 2 on the DMM: 4, 6 and 8 rounds of 3, 2 and 1 words."""
    run = claims.diagonals("synchronous", n=4, w=2, l=5)
    assert run.time == 4 * (2 + 4) + 6 * (1 + 4) + 8 * (1 + 4)


def test_wrong_sums_are_refused(monkeypatch):
    monkeypatch.setattr(claims, "least", lambda u: least(u) + 1)
    with pytest.raises(ClaimError, match="wrong result in 'c'"):
        claims.piped("synchronous", "DMM", n=8, p=4, w=2, l=1)
