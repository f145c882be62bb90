"""The prefix sums with a tensor unit: what they leave, by hand, as products, and no race."""

import numpy as np
import pytest

from mmsim_algorithms.errors import PreconditionError
from mmsim_algorithms.prefix_sums import tensor_claims as claims
from mmsim_algorithms.prefix_sums.tensor import by_products, with_tensor_unit
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


def test_both_engines():
    machine, a = TensorDMM(3, 2, 7), np.arange(27)
    for schedule in ("synchronous", "asynchronous"):
        runs = [
            machine.run(by_products, a, 3, threads=9, schedule=schedule, engine=engine)
            for engine in ("events", "array")
        ]
        assert runs[0].time == runs[1].time
        assert (runs[0].arrays["x"] == runs[1].arrays["x"]).all()


def by_matrices(x, w):
    """The prefix sums and the rows of each product, as cited; n is a power of w."""
    sums = np.triu(np.ones((w, w), int))
    spread = np.eye(w, dtype=int)
    spread[0] = 1
    x, n, h, sent = x.copy(), x.size, 1, []

    def multiply(words, matrix):
        rows = x[words].reshape(-1, w)
        sent.append(len(rows))
        x[words] = (rows @ matrix).ravel()

    while h < n:
        multiply(slice(h - 1, n, h), sums)
        h *= w
    while h > w:
        h //= w
        multiply(slice(h - 1, n - h // w, h // w), spread)
    return x, sent


@pytest.mark.parametrize(("n", "w"), [(27, 3), (64, 4), (16, 2), (5, 5)])
def test_a_call_for_each_product_of_matrices(n, w):
    a = np.arange(n) * 7919 % 1009
    sums, sent = by_matrices(a, w)
    assert (sums == np.cumsum(a)).all()
    run = claims.prefix_sums("synchronous", n=n, p=n, w=w, l=1, L=1)
    assert [one.stages for one in run.rounds if one.space == "shared"] == [
        w * rows for rows in sent
    ]


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
