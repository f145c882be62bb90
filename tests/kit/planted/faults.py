"""Errors of a thread's own work: no value, no variable, no such type."""

from functools import partial

import numpy as np

from tests.kit.planted.pair import UMM, fault, planted, zeros

on_umm = partial(planted, machine=UMM)


@fault("arithmetic", "", 0, "means[T.id] =", 10, note="division by zero")
@on_umm(np.arange(64), np.arange(64) % 7, zeros(64))
def mean_of_none(T, sums, counts, means):
    """A mean where nothing was counted."""
    means[T.id] = sums[T.id] // counts[T.id]  # bug
    if counts[T.id] > 0:  # twin
        means[T.id] = sums[T.id] // counts[T.id]  # twin


@fault("arithmetic", "", 31, "a[T.id] =", 0, note="a shift by a negative number")
@on_umm(zeros(64))
def shifted_back(T, a):
    """A shift by a number of places that becomes negative."""
    a[T.id] = 1 << (30 - T.id)  # bug
    a[T.id] = 1 << abs(30 - T.id)  # twin


@fault(
    "unassigned",
    "",
    53,
    "b[T.id] =",
    11,
    note="the variable 'x' is read before this thread has assigned it",
)
@on_umm(np.arange(64)[::-1].copy(), zeros(64))
def set_on_one_way(T, a, b):
    """A variable that only one way of a branch sets."""
    x = 0  # twin
    if a[T.id] > 10:
        x = a[T.id]
    b[T.id] = x


@fault(
    "type",
    "a[12]",
    12,
    "a[T.id] =",
    0,
    note="144 doesn't fit a[12]: 'a' holds int8, from -128 to 127",
)
@on_umm(np.zeros(64, np.int8), fixed={"arguments": (np.zeros(64, np.int16),)})
def too_narrow(T, a):
    """A square that an element of 8 bits can't hold."""
    a[T.id] = T.id * T.id


@fault("type", "b", 0, "b[T.id] =", note="a float is stored in 'b', which holds int64")
@on_umm(np.arange(64), zeros(64))
def fraction_lost(T, a, b):
    """A quotient stored in an array of integers."""
    b[T.id] = a[T.id] / 2  # bug
    b[T.id] = a[T.id] // 2  # twin
