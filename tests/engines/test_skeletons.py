"""The functions of a text that is run before the kernel, to learn how often its loops turn."""

import numpy as np
import pytest

from mmsim.engines.array.fused import runtime
from mmsim.engines.array.fused.skeleton import NAMES
from mmsim.ir.functions import FUNCTIONS


@pytest.mark.parametrize("name", ["unsigned_shift_left", "unsigned_shift_right"])
def test_shifts_agree_with_those_of_the_kernel(name):
    for x in (0, 1, 3, 12):
        for y in (0, 1, 5, 59, 64, 200):
            right = getattr(runtime, name)(np.uint64(x), np.uint64(y))
            assert NAMES[name](x, y) == int(right)


def test_a_product_and_a_sum_are_rounded_once_as_in_the_kernel():
    numbers = [np.float32(one) for one in (0.1, -3.7, 1e30, 5e-30, 16777217 / 3, np.inf)]
    for x in numbers:
        for y in numbers:
            for z in numbers:
                right = runtime.fused_single(x, y, z)
                assert NAMES["fused_single"](x, y, z) == right or np.isnan(right)


def test_every_function_that_a_text_may_call_has_a_meaning_before_the_kernel():
    """All that Numba's texts name, but what is of NumPy or of the accesses."""
    called = {row.numba for row in FUNCTIONS.values() if row.numba and "." not in row.numba}
    called = {name for name in called if name.isidentifier() and hasattr(runtime, name)}
    assert "fused_single" in called
    assert called <= NAMES.keys()


def test_a_range_near_the_bounds_of_64_bits_is_refused():
    far = 2**62
    assert NAMES["range"](0, far - 1) == range(far - 1)
    for bounds in ((far,), (0, far), (-far, 0), (0, 5, far)):
        with pytest.raises(OverflowError):
            NAMES["range"](*bounds)
