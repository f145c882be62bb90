"""Prefix sums: what they leave, how long they take, and that nothing races."""

from itertools import product

import numpy as np
import pytest

import mmsim as mm
from mmsim_algorithms.errors import PreconditionError
from mmsim_algorithms.prefix_sums import few_barriers
from mmsim_algorithms.prefix_sums.programs import (
    by_doubling,
    by_few_barriers,
    by_registers,
    by_tree,
)

MACHINES = (mm.DMM(4, 3), mm.UMM(4, 3))
machines = pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: type(machine).__name__)


@pytest.mark.parametrize("schedule", ["synchronous", "asynchronous"])
@machines
def test_the_sums_are_right_for_any_number_of_words_and_threads(machine, schedule):
    for n in (1, 2, 3, 5, 8, 16, 31, 64):
        for p in (1, 3, 4, n):
            a = np.arange(n)[::-1] - 3
            _, sums = by_doubling(machine, a, p, schedule=schedule)
            assert (sums == np.cumsum(a)).all()
            if n & (n - 1) == 0:
                _, sums = by_tree(machine, a, p, schedule=schedule)
                assert (sums == np.cumsum(a)).all()
            for p in (4, 12, 20):
                _, sums = by_registers(machine, np.tile(a, p), p, schedule=schedule)
                assert (sums == np.cumsum(np.tile(a, p))).all()


@pytest.mark.parametrize("schedule", ["synchronous", "asynchronous"])
@pytest.mark.parametrize("w", [2, 3, 4, 8])
def test_few_barriers_leave_right_sums_for_any_width_and_power_of_two_of_warps(w, schedule):
    for machine, warps, share in product((mm.DMM(w, 3), mm.UMM(w, 3)), (1, 2, 4, 16), (1, 4)):
        n = share * warps * w
        if n & (n - 1) == 0:
            a = np.arange(n)[::-1] - 3
            _, sums = by_few_barriers(machine, a, warps * w, schedule=schedule)
            assert (sums == np.cumsum(a)).all()


@machines
@pytest.mark.parametrize("warps", [1, 4, 16, 32])
def test_few_barriers_have_no_race(machine, warps):
    """Subtrees of 4 leaves above the warps' own: none, one level, two, three."""
    for schedule in ("synchronous", "asynchronous"):
        run = machine.run(
            few_barriers,
            np.arange(16 * warps),
            4,
            4,
            threads=4 * warps,
            schedule=schedule,
            check=True,
        )
        assert run.findings == ()


@machines
@pytest.mark.parametrize("left_out", range(4))
def test_each_barrier_is_needed(machine, left_out):
    """16 warps have two levels of subtrees: without one of their four barriers there is a race."""

    @mm.program
    def all_but_one(T, s, left_out):
        n, i, q = s.size // 2, T.lane, T.warp
        for level in range(3):
            roots = (16, 4, 1)[level]
            if level > 0 and level - 1 != left_out:
                T.barrier()
            if i < 2 and q < roots:
                s[2 * (roots + q) + i] = s[4 * (roots + q) + 2 * i] + s[4 * (roots + q) + 2 * i + 1]
            mm.warp.sync()
            if i < 1 and q < roots:
                s[roots + q] = s[2 * (roots + q)] + s[2 * (roots + q) + 1]
        for level in range(3):
            roots = (1, 4, 16)[level]
            if level > 0 and level + 1 != left_out:
                T.barrier()
            for k in (1, 2):
                if i < k and q < roots:
                    v = (roots + q) * k + i
                    prefix = s[v]
                    s[2 * v] = prefix - s[2 * v + 1]
                    s[2 * v + 1] = prefix
                mm.warp.sync()

    arguments = (np.concatenate([np.zeros(64, int), np.arange(64)]), left_out)
    launch = {"threads": 64, "schedule": "asynchronous", "check": True}
    assert machine.run(all_but_one, *arguments[:1], 4, **launch).findings == ()
    assert machine.run(all_but_one, *arguments, **launch).findings


def test_what_is_not_taken_is_refused():
    for n, p in ((16, 6), (12, 8), (0, 4), (4, 0)):
        with pytest.raises(PreconditionError, match="divides"):
            by_registers(mm.DMM(4, 1), np.arange(n), p)
    with pytest.raises(PreconditionError, match="n is a power of two"):
        by_tree(mm.DMM(4, 1), np.arange(12), 4)
    with pytest.raises(PreconditionError, match="a row of numbers"):
        by_doubling(mm.DMM(4, 1), np.zeros((2, 2)), 4)
    for w, n, p, match in (
        (4, 12, 4, "n is a power of two"),
        (1, 4, 4, "two threads or more"),
        (4, 64, 12, "p/w is a power of two"),
        (4, 8, 16, "p = 16 divides n = 8"),
    ):
        with pytest.raises(PreconditionError, match=match):
            by_few_barriers(mm.UMM(w, 1), np.arange(n), p)
