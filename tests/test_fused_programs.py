"""Programs that the array engine fuses, or refuses to: written small, and run uncompiled."""

from __future__ import annotations

import numpy as np
import pytest

import mmsim as mm
from mmsim.engines.fused.analysis import CannotFuse
from roads import agrees, run_along


def zeros(size, dtype=int):
    return np.zeros(size, dtype)


def fuses(program, *args, **how):
    """Whether a program has a fused road."""
    try:
        run_along("plain", program, *args, **how)
    except CannotFuse:
        return False
    return True


# ------------------------------------------------------------------ which access is which


def first_of(a, i):
    return a[i]
    a[0] = 5  # never reached, yet an access of the text


@mm.program
def accesses_after_one_that_is_never_reached(T, a, b):
    s = mm.shared(4)
    x = first_of(a, T.id)
    b[T.id] = x
    s[T.lane] = x


def test_accesses_are_told_apart_after_one_that_is_never_reached():
    agrees(
        "plain",
        accesses_after_one_that_is_never_reached,
        np.arange(8),
        zeros(8),
        threads=8,
        machine=mm.HMM(2, 4, 10),
        block_size=4,
    )


# ------------------------------------------------------------------ numbers


@mm.program
def shifts_that_lose_bits(T, a):
    if (T.count << 61) > 0:
        a[T.id] = 1
    if ((T.count << 61) >> 61) == T.count:
        a[T.id] = 2


@mm.program
def products_of_chosen_literals(T, a):
    if (5 if T.count > 3 else 7) * 2**61 > 0:
        a[T.id] = 1
    a[T.id] = 3


@mm.program
def products_of_the_lesser_literal(T, a):
    if min(5, T.count) * 2**62 > 2**62:
        a[T.id] = 1
    a[T.id] = 3


@mm.program
def ranges_longer_than_64_bits(T, a):
    for i in range(-(2**63) + 1, 2**63 - 1, 2**62):
        a[T.id] = i


@pytest.mark.parametrize(
    "program",
    [
        shifts_that_lose_bits,
        products_of_chosen_literals,
        products_of_the_lesser_literal,
        ranges_longer_than_64_bits,
    ],
)
def test_loops_and_branches_never_depend_on_uniform_numbers_that_wrap(program):
    assert not fuses(program, zeros(8), threads=8)
    agrees(None, program, zeros(8), threads=8)


@mm.program
def the_lesser_of_an_int_and_a_float(T, a):
    a[T.id] = min(1, 2.0) * 2**62 * 4


def test_literals_have_the_type_of_their_expression():
    run = agrees("plain", the_lesser_of_an_int_and_a_float, zeros(8, float), threads=8)
    assert (run.arrays["a"] == 2.0**64).all()
