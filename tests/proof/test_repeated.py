"""Launches whose number depends on a size: their sums, against runs."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import mmsim as mm
from mmsim.claims import Claim, ceiling, minimum
from mmsim.claims.launch import Repeated, SymbolicLaunch, each_launch
from mmsim.proof.prove import prove
from mmsim_algorithms.summed_area.hybrid_claims import in_turns


@mm.program
def steps(T: mm.Thread, a: mm.Array, k: int) -> None:
    """Some of k accesses, fewer than 5, and one by the last of k blocks."""
    s = mm.shared(4)
    for i in range(min(k, 4)):
        a[i * 4 + T.lane]
    s[T.lane] = 1
    if T.block == k - 1:
        a[T.lane]


def launches(low, d, n, L):
    """For k = low .. n, k blocks of a warp."""
    machine = mm.HMM(d, 4, L)
    return [
        Repeated(
            lambda k: SymbolicLaunch(steps, {"a": (16,), "k": k}, 4 * k, machine, 4), low, n + 1
        )
    ]


def run(low, d, schedule, n, L):
    """The launches, one by one."""
    runs = []
    for one in each_launch(launches(low, d, n, L)):
        arguments = np.zeros(16), one.arguments["k"]
        sizes = {"threads": one.threads, "block_size": 4}
        runs.append(one.machine.run(steps, *arguments, **sizes, schedule=schedule))
    return mm.total(runs)


def time(low, d, n, L):
    """The time for n >= 4."""
    small = sum(k * k + k * (L - 1) for k in range(low, 4))
    large = 4 * (n * (n + 1) / 2 - 6) + (n - 3) * 4 * (L - 1)
    before = sum(ceiling(k / d) for k in range(1, low))
    return small + large + in_turns(n, d) - before + (n - low + 1) * L


@pytest.mark.parametrize("low", [1, 2])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_sums_over_launches(low, d):
    claim = Claim(
        id="X",
        source="a test",
        title="launches",
        formula=partial(time, low, d),
        kind="exact",
        grid=lambda: [{"n": n, "L": L} for n in (4, 5, 9) for L in (1, 3)],
        run=partial(run, low, d),
        launches=partial(launches, low, d),
        requires=(mm.claims.Precondition("4 <= n", lambda n: n >= 4),),
    )
    for case in claim.cases():
        assert claim.measure(claim.run(schedule="synchronous", **case)) == claim.evaluate(case)
    proof = prove(claim)
    assert proof.proved, proof.why
    wrong = replace(claim, formula=lambda n, L: time(low, d, n, L) + minimum(n, 6) - 6)
    assert prove(wrong).against is not None
