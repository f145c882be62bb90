"""Random kernels of numbers of all types leave what the same text leaves that Numba compiles."""

from __future__ import annotations

import pytest

from tests.kit.generators.draws import draws
from tests.kit.generators.random_typing import TypedCase, plainly, same


@pytest.fixture(autouse=True)
def plain(monkeypatch):
    plainly(monkeypatch.setattr)


def check(seed):
    case = TypedCase(seed)
    assert same(case.simulated(), case.right()), case.body


@pytest.mark.parametrize("seed", range(draws(8)))
def test_a_kernel_leaves_what_numba_does(seed):
    check(seed)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1000, 4000))
def test_many_kernels_leave_what_numba_does(seed):
    check(seed)
