"""The versions of names are those of Numba's own pass, instruction by instruction."""

from copy import deepcopy

import numpy as np
import pytest
from numba import cuda
from numba.core import ssa as numbas

from mmsim.frontend.numba import context
from mmsim.frontend.numba.kernel import numba_program
from tests.kit.generators.draws import draws
from tests.kit.generators.random_typing import TypedCase


def walks(a, b, n):
    i = cuda.grid(1)
    x, y = 0, i
    for k in range(n):
        if a[k] > 3:
            x, y = y, x + 1
            continue
        while y < 5:
            y += 1
            if y == x:
                break
        else:
            x = k
        last = y
        if a[k] < 0:
            x = last
            return
    i += 1
    b[i - 1] = x if n > 2 else y


def text_of(blocks):
    return {label: [str(one) for one in block.body] for label, block in blocks.items()}


@pytest.fixture
def compared(monkeypatch):
    """The number of functions of which both passes were compared."""
    found = []
    own = context.name_versions

    def both(blocks):
        right = numbas._run_ssa(deepcopy(blocks))
        own(blocks)
        assert text_of(blocks) == text_of(right)
        found.append(sum(" = phi(" in one for lines in text_of(blocks).values() for one in lines))

    monkeypatch.setattr(context, "name_versions", both)
    return found


def test_loops_with_every_jump(compared):
    numba_program(walks).specialized((np.zeros(8), np.zeros(8), 4))
    assert compared == [9]


@pytest.mark.parametrize("seed", range(draws(15)))
def test_random_kernels(compared, seed):
    case = TypedCase(seed)
    numba_program(case.kernel).specialized(case.args())
    assert compared
