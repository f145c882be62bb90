"""The product of matrices: what it leaves, by hand, and where RAP saves what."""

import numpy as np
import pytest

import mmsim as mm
from mmsim_algorithms.product import by_rows, claims, tiled, tiled_by_rows
from mmsim_algorithms.product.programs import factors


def stages(run, array):
    return sum(row.stages for row in run.accesses if row.array == array and row.kind == "read")


@pytest.mark.parametrize("seed", range(4))
def test_a_column_of_a_tile_is_one_stage_under_any_rap_and_w_without(seed):
    machine, (a, b) = mm.HMM(2, 8, 20), factors(256)
    r = np.random.RandomState(seed).permutation(8)
    for rotations, expected in ((r, 1), (0 * r, 8)):
        run = machine.run(
            tiled_by_rows, a, b, np.zeros_like(a), rotations, 8, threads=256, block_size=64
        )
        warps, steps = 256 // 8, 16
        assert stages(run, "two") == warps * steps * expected
        assert stages(run, "one") == warps * steps


def test_each_word_that_is_fetched_is_used_w_times():
    a, b = factors(256)
    for program, more, expected in ((tiled, (4,), 2 * 16 / 4), (by_rows, (), 2 * 16)):
        run = mm.HMM(2, 4, 20).run(
            program, a, b, np.zeros_like(a), *more, threads=256, block_size=16
        )
        reads = sum(r.stages for r in run.accesses if (r.space, r.kind) == ("global", "read"))
        assert reads == expected * 256 / 4


def test_too_many_registers_are_refused(monkeypatch):
    monkeypatch.setattr(claims, "within", lambda run, registers: registers)
    assert claims.by_parts("synchronous", "DMM", 16, 2, 1, 2) == 6
