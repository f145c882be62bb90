"""The prefix sums with a tensor unit: what they leave, by hand, as products, and no race."""

import numpy as np
import pytest

from mmsim.claims import ClaimError
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


@schedules
def test_the_example_has_no_race(schedule):
    for width, size in ((1, 0), (2, 30), (4, 0)):
        example = by_products.prepare(width, size=size)
        run = TensorDMM(width, 2, 7).run(
            by_products, *example.arguments, **example.launch, schedule=schedule, check=True
        )
        assert run.findings == ()


def test_two_levels_by_hand():
    """9 words, w = 3: three rows, one row of their last words, and two rows of words 3 to 8."""
    run = claims.prefix_sums("synchronous", n=9, p=9, w=3, l=20, L=5)
    calls = [one for one in run.rounds if one.space == "shared"]
    assert [one.time for one in calls] == [9 + 19, 3 + 19, 6 + 19]
    assert claims.in_calls(run) == 18 + 3 * 19
    #                 three rows, a stage each; one in one bank; two rows
    assert run.time == 18 + 3 * 19 + 2 * ((3 + 4) + (3 + 4) + (2 + 4))


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


def test_wrong_sums_are_refused(monkeypatch):
    wrong = lambda machine, a, p, schedule: with_tensor_unit(machine, a + 1, p)  # noqa: E731
    monkeypatch.setattr(claims, "with_tensor_unit", wrong)
    with pytest.raises(ClaimError, match="wrong result in 'x'"):
        claims.prefix_sums("synchronous", n=4, p=4, w=2, l=1, L=1)


def test_a_size_between_two_powers_may_need_one_level_more():
    """n = 6, w = 3: with 2 floor(log_3 n) = 2, but two levels up and one down."""
    run = claims.prefix_sums("synchronous", n=6, p=6, w=3, l=1, L=1)
    assert claims.calls(run) == 3
    assert not claims.power(6, 3)
