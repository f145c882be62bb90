"""The triangulation by a pipeline of threads: what it finds, its rounds by hand, and no race."""

import pytest

import mmsim as mm
from mmsim_algorithms.triangulation import pipeline_claims as claims
from mmsim_algorithms.triangulation.pipeline import empty_line, in_line, pipeline
from mmsim_algorithms.triangulation.programs import (
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
