"""The prefix sums with a tensor unit: what they leave, by hand, as products, and no race."""

import numpy as np
import pytest

from mmsim_algorithms.errors import PreconditionError
from mmsim_algorithms.prefix_sums import tensor_claims as claims
from mmsim_algorithms.prefix_sums.tensor import with_tensor_unit
from mmsim_algorithms.product.tensor import TensorDMM

schedules = pytest.mark.parametrize("schedule", ["synchronous", "asynchronous"])


@schedules
@pytest.mark.parametrize("w", [2, 3, 5])
def test_the_prefix_sums_of_any_number(schedule, w):
    for n in (1, 2, 5, 9, 26, 27, 64):
        for p in (w, 4 * w):
            a = np.arange(n)[::-1] ** 2
            run = with_tensor_unit(TensorDMM(w, 2, 7), a, p, schedule=schedule)
            assert (run.arrays["x"] == np.cumsum(a)).all()


@pytest.mark.parametrize(
    ("shape", "w", "p", "message"),
    [
        ((0,), 2, 2, "a row of numbers"),
        ((2, 2), 2, 2, "a row of numbers"),
        ((4,), 1, 4, "two words or more"),
        ((4,), 2, 3, "w=2 divides p=3"),
        ((4,), 2, 0, "w=2 divides p=0"),
    ],
)
def test_what_is_not_taken_is_refused(shape, w, p, message):
    with pytest.raises(PreconditionError, match=message):
        with_tensor_unit(TensorDMM(w, 1, 1), np.zeros(shape, int), p)


def test_a_size_between_two_powers_may_need_one_level_more():
    """n = 6, w = 3: with 2 floor(log_3 n) = 2, but two levels up and one down."""
    run = claims.prefix_sums("synchronous", n=6, p=6, w=3, l=1, L=1)
    assert claims.calls(run) == 3
    assert not claims.power(6, 3)
