"""Predictions of times on a card: what binds, its parts, how sure, warm and cold; two compared."""

import math
from dataclasses import replace

import numpy as np
import pytest

import mmsim as mm
from mmsim import cuda
from mmsim.errors import LaunchError
from mmsim.results.prediction import UNMODELLED, Prediction

H200 = mm.H200()
LAUNCH = H200.milliseconds(H200.launch_time)
SIZES = {"threads": 4096, "block_size": 128}
SMALL, OTHER = np.ones(4096, np.float32), np.zeros(4096, np.float32)


@mm.program
def copy(T, a, b):
    b[T.id] = a[T.id]


@mm.program
def divided(T, a, b, n):
    x = a[T.id]
    for _ in range(n):
        x = 1.0 / x
    b[T.id] = x


@mm.program
def nothing(T, a):
    pass


def made(kernel="made", milliseconds=1.23456, **others):
    known = {"card": "h200", "bound": "tags", "error": None, "kernels": 0, "parts": {}}
    known |= {"again": lambda: 0.5}
    return Prediction(kernel=kernel, milliseconds=milliseconds, **{**known, **others})


def shown(**numbers):
    return str(made(**numbers))


def test_a_prediction_is_one_line():
    assert shown() == (
        "made on h200: 1.235 ms, bound by tags (no kernel that this binds was measured)"
    )
    assert shown(error=0.214, kernels=12) == (
        "made on h200: 1.235 ms, bound by tags (off by 21% for 12 kernels that this binds)"
    )
    assert shown(error=0.05, kernels=1).endswith("(off by 5% for 1 kernel that this binds)")
    assert shown(empty=True).startswith("made on h200: 1.235 ms from an empty cache, bound by tags")
    assert shown(bound=UNMODELLED) == (
        "made on h200: at least 1.235 ms, bound by instructions, which this machine does not model "
        "(no kernel that this binds was measured)"
    )


def test_a_prediction_is_a_table_of_its_parts():
    one = made(parts={"memory": 0.5, "blocks": 1.23456})
    lines = [str(one), "part    milliseconds", "memory           0.5", "blocks         1.235"]
    assert repr(one).splitlines() == lines
    assert '<td style="text-align:right">1.235</td>' in one._repr_html_()


def test_the_error_is_that_of_kept_kernels_that_the_same_binds():
    found = H200.predict(copy, SMALL, OTHER, **SIZES)
    errors = {name: (error, kernels) for name, kernels, error in H200.errors}
    assert found.bound == "latency"
    assert (found.error, found.kernels) == errors["latency"]
    unknown = replace(H200, errors=()).predict(copy, SMALL, OTHER, **SIZES)
    assert (unknown.error, unknown.kernels) == (None, 0)


def test_the_time_is_that_of_the_requests_and_a_launch():
    """The last cluster's request is at 0 + latency + a miss; nothing is in the cache first."""
    found = H200.predict(copy, SMALL, OTHER, **SIZES)
    assert found.milliseconds == found.parts["memory"] == max(found.parts.values())
    least = H200.global_latency + H200.miss_latency
    assert found.milliseconds > H200.milliseconds(least + H200.launch_time)
    assert found.kernel == "copy"
    assert found.card == "h200"


def test_a_second_launch_finds_its_words_in_the_cache():
    found = H200.predict(copy, SMALL, OTHER, **SIZES)
    assert LAUNCH < found.warm < found.milliseconds
    assert found.warm == found.warm


def test_arrays_stay():
    H200.predict(copy, SMALL, OTHER, **SIZES)
    assert not OTHER.any()


def test_instructions_bind_a_long_computation():
    """The 4 warps of each block divide 20,000 times, on a multiprocessor of their own."""
    costs = dict(H200.operations)
    a = SMALL.astype(np.float64)
    found = H200.predict(divided, a, a.copy(), 20_000, **SIZES)
    assert found.bound == "instructions"
    of_a_block = H200.milliseconds(4 * 20_000 * costs["quotient float64"])
    assert LAUNCH + of_a_block <= found.milliseconds < LAUNCH + 1.2 * of_a_block
    assert found.warm == found.milliseconds


def test_blocks_bind_where_they_do_nothing():
    found = H200.predict(nothing, SMALL, threads=32 * 10_000, block_size=32)
    assert found.bound == "blocks"
    assert found.milliseconds == H200.milliseconds(10_000 * H200.block_time + H200.launch_time)


def test_numbas_kernels_and_programs_have_the_same_time():
    @cuda.jit
    def copied(a, b):
        i = cuda.grid(1)
        b[i] = a[i]

    kernel = H200.predict(copied, SMALL, OTHER, grid=32, block=128)
    program = H200.predict(copy, SMALL, OTHER, **SIZES)
    assert (kernel.bound, kernel.milliseconds) == (program.bound, program.milliseconds)
    assert kernel.kernel == "copied"


def test_a_card_without_times_of_operations_says_so():
    """Each of the 4 schedulers issues at most one operation of a warp in a clock cycle."""
    bare = replace(H200, operations=())
    a = SMALL.astype(np.float64)
    found = bare.predict(divided, a, a.copy(), 2_000, **SIZES)
    assert found.bound == "instructions, which this machine does not model"
    assert (found.error, found.kernels) == (None, 0)
    of_a_block = H200.milliseconds(2_000 * H200.cycle_time)  # of 4 warps
    assert LAUNCH + of_a_block <= found.milliseconds == found.parts["instructions"]
    assert found.milliseconds < LAUNCH + 4 * of_a_block
    assert found.milliseconds < H200.predict(divided, a, a.copy(), 2_000, **SIZES).milliseconds
    assert bare.predict(copy, SMALL, OTHER, **SIZES).bound == "latency"
    timeless = replace(bare, cycle_time=0)
    assert timeless.predict(divided, a, a.copy(), 2_000, **SIZES).bound == "latency"


TIMES = "(0.5 ms, 1.5 ms)"


@pytest.mark.parametrize(
    ("errors", "said"),
    [
        ((0.3, 0.4), "more than such predictions miss, a factor of 1.65"),
        ((1.2, 0.1), "no more than such predictions miss, a factor of 3.33; measure both"),
        (
            (0.3, None),
            "whether that exceeds what predictions miss isn't known, as no kernel bound by blocks "
            "was measured",
        ),
        (
            (None, 0.3),
            "whether that exceeds what predictions miss isn't known, as no kernel bound by tags "
            "was measured",
        ),
    ],
)
def test_two_predictions_are_compared_by_what_such_predictions_miss(errors, said):
    """The errors as if independent: hypot(0.3, 0.4) = 0.5 < log(3) = 1.1 < hypot(1.2, 0.1)."""
    near = made("near", 0.5, error=errors[0])
    far = made("far", 1.5, error=errors[1], bound="blocks")
    found = mm.compare(near, far)
    assert str(found) == f"near is predicted to be 3 times as fast as far {TIMES}: {said}"
    assert mm.compare(far, near).faster is found.faster is near
    assert found.ratio == 3
    assert found.miss == (None if None in errors else math.hypot(*errors))
    assert found.exceeds is (None if None in errors else said.startswith("more"))
    assert str(mm.compare(far, near)).startswith("near is predicted to be 3 times as fast as far")


def test_close_and_equal_predictions():
    one, other = made(error=0.1), made(milliseconds=1.24, error=0.1)
    assert str(mm.compare(other, one)) == (
        "the second is predicted to be less than 1% faster than the first (1.235 ms, 1.24 ms): "
        "no more than such predictions miss, a factor of 1.15; measure both"
    )
    same = mm.compare(one, one)
    assert str(same) == "the first and the second are predicted to take the same time, 1.235 ms"
    assert (same.faster, same.ratio, same.exceeds) == (None, 1, False)
    assert mm.compare(made(milliseconds=0.0), one).ratio == math.inf
    assert mm.compare(*[made(milliseconds=0.0)] * 2).ratio == 1


def test_compared_predictions_have_names():
    one = made()
    assert mm.compare(one, made("other")).names == ("made", "other")
    assert mm.compare(one, made(card="h100")).names == ("made on h200", "made on h100")
    named = mm.compare(one, made(milliseconds=3.0, error=0.25), names=["new", "old"])
    assert repr(named).splitlines()[1:] == [
        "kernel  card  milliseconds  bound by  off by",
        "new     h200         1.235  tags",
        "old     h200             3  tags      25%",
    ]
    with pytest.raises(LaunchError, match="names has 1 texts; give one for each of the two"):
        mm.compare(one, one, names=["new"])


def test_what_can_not_be_compared():
    run = mm.DMM(4, 3).run(copy, SMALL, OTHER, threads=4)
    for pair in ((made(), run), (run, made()), (made(), copy)):
        with pytest.raises(LaunchError, match=r"two runs, or two predictions as card\.predict"):
            mm.compare(*pair)
    for window in ({"start": 1}, {"end": 5}, {"preset": "latency"}):
        with pytest.raises(LaunchError, match="start, end and preset are for two runs"):
            mm.compare(made(), made(), **window)


def test_wrong_launches_are_refused():
    with pytest.raises(LaunchError):
        H200.predict(copy, SMALL, threads=4096)
    with pytest.raises(LaunchError):
        H200.predict(copy, SMALL, OTHER)
