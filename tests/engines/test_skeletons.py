"""The functions of a text that is run before the kernel, to learn how often its loops turn."""

import numpy as np
import pytest

from mmsim.engines.array.fused import runtime
from mmsim.engines.array.fused.skeleton import NAMES


@pytest.mark.parametrize("name", ["unsigned_shift_left", "unsigned_shift_right"])
def test_shifts_agree_with_those_of_the_kernel(name):
    for x in (0, 1, 3, 12):
        for y in (0, 1, 5, 59, 64, 200):
            right = getattr(runtime, name)(np.uint64(x), np.uint64(y))
            assert NAMES[name](x, y) == int(right)


def test_a_range_near_the_bounds_of_64_bits_is_refused():
    far = 2**62
    assert NAMES["range"](0, far - 1) == range(far - 1)
    for bounds in ((far,), (0, far), (-far, 0), (0, 5, far)):
        with pytest.raises(OverflowError):
            NAMES["range"](*bounds)
