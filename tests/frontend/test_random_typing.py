"""Random kernels of numbers of all types leave what the same text leaves that Numba compiles."""

from __future__ import annotations

import numpy as np
import pytest

from tests.kit.generators.draws import draws
from tests.kit.generators.random_typing import TypedCase, plainly, same
from tests.kit.tools.typing_agreement import given_by_none, verdict


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
@pytest.mark.parametrize("first", range(1000, 4000, 50))
def test_many_kernels_leave_what_numba_does(first):
    for seed in range(first, first + 50):
        check(seed)


def test_a_verdict_compares_bits_and_names_errors():
    zeros, others = [np.zeros(2)], [-np.zeros(2)]
    assert verdict(zeros, zeros) == "same"
    assert verdict(zeros, others) == "DIFFERENT"
    assert verdict([np.array([np.nan])], [np.array([-np.nan])]) == "same"
    assert verdict("A: x", zeros) == "mmsim: A"
    assert verdict("A: x", "B: y") == "mmsim: A, the other: B"


def test_a_kernel_is_wrong_if_no_compiler_agrees():
    words = [(1, "same"), (1, "DIFFERENT"), (2, "DIFFERENT"), (3, "same"), (4, "mmsim: A")]
    assert given_by_none([*words, (2, "the other: B")]) == [2]
    assert given_by_none([*words, (2, "same")]) == []


def test_a_kernel_for_a_card_asks_for_no_function_that_numba_cuda_lacks():
    body = "".join(TypedCase(seed, for_card=True).body for seed in range(20))
    assert "np.remainder(" not in body
    assert "np.add(" not in body
    assert "min(" in body
