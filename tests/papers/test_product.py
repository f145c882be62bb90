"""The product of matrices: what it leaves, by hand, and where RAP saves what."""

import numpy as np
import pytest

import mmsim as mm
from mmsim.claims import ClaimError
from mmsim_algorithms.product import by_columns, by_rows, claims, in_registers, tiled, tiled_by_rows
from mmsim_algorithms.product.programs import factors

PROGRAMS = (by_rows, by_columns, in_registers, tiled, tiled_by_rows)
schedules = pytest.mark.parametrize("schedule", ["synchronous", "asynchronous"])


@schedules
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_the_product_is_right_and_has_no_race(program, schedule):
    for width, size in ((2, 0), (3, 100), (4, 0)):
        example = program.prepare(width, size=size)
        a, b = example.arguments[:2]
        for machine in (mm.HMM(3, width, 9), mm.DMM(width, 2), mm.UMM(width, 2)):
            run = machine.run(
                program, *example.arguments, **example.launch, schedule=schedule, check=True
            )
            assert (run.arrays["c"] == (a @ b.T if program is tiled_by_rows else a @ b)).all()
            assert run.findings == ()


def test_two_by_two_by_hand():
    """w = 2, l = 3: two warps; 2 products of two reads, then a write; 2 stages a round, or 4."""
    a, b = factors(4)
    run = mm.DMM(2, 3).run(by_rows, a, b, np.zeros_like(a), threads=4)
    assert run.time == 5 * (2 + 3 - 1)
    run = mm.DMM(2, 3).run(by_columns, a, b, np.zeros_like(a), threads=4)
    assert run.time == 2 * ((4 + 2) + (2 + 2)) + (4 + 2)


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


def test_wrong_products_and_too_many_registers_are_refused(monkeypatch):
    monkeypatch.setitem(claims.ORDERS, "rows", wrong)
    with pytest.raises(ClaimError, match="wrong result in 'c'"):
        claims.multiplied("rows", "synchronous", "DMM", 16, 16, 4, 1)
    monkeypatch.setattr(claims, "within", lambda run, registers: registers)
    assert claims.by_parts("synchronous", "DMM", 16, 2, 1, 2) == 6


@mm.program
def wrong(T, a, b, c):
    c[T.id // a.shape[0], T.id % a.shape[0]] = a[0, 0] + b[0, 0]
