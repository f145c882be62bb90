"""The product of matrices with a tensor unit: what it leaves, by hand, and no race."""

import numpy as np
import pytest

from mmsim_algorithms.errors import PreconditionError
from mmsim_algorithms.product import claims
from mmsim_algorithms.product.programs import factors
from mmsim_algorithms.product.tensor import TensorDMM, with_tensor_unit

schedules = pytest.mark.parametrize("schedule", ["synchronous", "asynchronous"])


@schedules
def test_the_product(schedule):
    for w, q in ((1, 3), (2, 4), (3, 2), (4, 1)):
        a, b = factors((w * q) ** 2)
        run = with_tensor_unit(TensorDMM(w, 2, 7), a, b, schedule=schedule)
        assert (run.arrays["c"] == a @ b).all()


def test_a_thread_of_t_by_t_elements_holds_t_words_of_a_and_one_of_b(monkeypatch):
    monkeypatch.setattr(claims, "within", lambda run, registers: registers)
    assert claims.by_parts("synchronous", "DMM", 16, 2, 1, 2) == 6


@pytest.mark.parametrize("shape", [(6, 6), (4, 8), (16,), (0, 0)])
def test_what_is_not_taken_is_refused(shape):
    with pytest.raises(PreconditionError, match="MATMUL"):
        with_tensor_unit(TensorDMM(4, 1, 1), np.zeros(shape, int), np.zeros(shape, int))
