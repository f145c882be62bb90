"""The product of matrices with a tensor unit: what it leaves, by hand, and no race."""

import numpy as np
import pytest

from mmsim.claims import ClaimError
from mmsim_algorithms.errors import PreconditionError
from mmsim_algorithms.product import tensor_claims as claims
from mmsim_algorithms.product.programs import factors
from mmsim_algorithms.product.tensor import TensorDMM, by_tensor, with_tensor_unit

schedules = pytest.mark.parametrize("schedule", ["synchronous", "asynchronous"])


@schedules
def test_the_product(schedule):
    for w, q in ((1, 3), (2, 4), (3, 2), (4, 1)):
        a, b = factors((w * q) ** 2)
        run = with_tensor_unit(TensorDMM(w, 2, 7), a, b, schedule=schedule)
        assert (run.arrays["c"] == a @ b).all()


@schedules
def test_the_example_has_no_race(schedule):
    for width, size in ((1, 0), (2, 30), (4, 0)):
        example = by_tensor.prepare(width, size=size)
        run = TensorDMM(width, 2, 7).run(
            by_tensor, *example.arguments, **example.launch, schedule=schedule, check=True
        )
        assert run.findings == ()


def test_a_call_by_hand():
    """4 x 4 words, w = 2: a call has a row of two words from each of 4 warps, 8 stages."""
    run = claims.multiplied("synchronous", n=16, w=2, l=9, L=3)
    calls = [one for one in run.rounds if one.space == "shared"]
    assert [one.time for one in calls] == [8 + 8] * 4
    #                  two rows of b's tile, two words of a
    assert run.time == 4 * (8 + 8 + 3 * (4 + 2)) + 2 * (4 + 2)
    assert claims.in_calls(run) == 4 * 16


@pytest.mark.parametrize("shape", [(6, 6), (4, 8), (16,), (0, 0)])
def test_what_is_not_taken_is_refused(shape):
    with pytest.raises(PreconditionError, match="MATMUL"):
        with_tensor_unit(TensorDMM(4, 1, 1), np.zeros(shape, int), np.zeros(shape, int))


def test_a_wrong_product_is_refused(monkeypatch):
    wrong = lambda machine, a, b, schedule: with_tensor_unit(machine, a + 1, b)  # noqa: E731
    monkeypatch.setattr(claims, "with_tensor_unit", wrong)
    with pytest.raises(ClaimError, match="wrong result in 'c'"):
        claims.multiplied("synchronous", n=4, w=2, l=1, L=1)
