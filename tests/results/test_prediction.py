"""Predictions of times on a card: what binds, its parts, how sure, warm and cold."""

from dataclasses import replace

import numpy as np
import pytest

import mmsim as mm
from mmsim import cuda
from mmsim.errors import LaunchError
from mmsim.results.prediction import Prediction

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


def shown(**numbers):
    known = {"error": None, "kernels": 0, "parts": {}, "again": lambda: 0.5}
    return str(Prediction("made", "h200", 1.23456, "tags", **{**known, **numbers}))


def test_a_prediction_is_one_line():
    assert shown() == (
        "made on h200: 1.235 ms, bound by tags (no kernel that this binds was measured)"
    )
    assert shown(error=0.214, kernels=12) == (
        "made on h200: 1.235 ms, bound by tags (off by 21% for 12 kernels that this binds)"
    )
    assert shown(error=0.05, kernels=1).endswith("(off by 5% for 1 kernel that this binds)")


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


def test_wrong_launches_are_refused():
    with pytest.raises(LaunchError):
        H200.predict(copy, SMALL, threads=4096)
    with pytest.raises(LaunchError):
        H200.predict(copy, SMALL, OTHER)
