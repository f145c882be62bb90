"""Errors of a thread's own work: no value, no variable, no such type."""

from functools import partial

import numpy as np

import mmsim as mm
from tests.kit.planted.pair import UMM, fault, pair, zeros


@mm.program
def mean_of_none(T, sums, counts, means):
    """A mean where nothing was counted."""
    means[T.id] = sums[T.id] // counts[T.id]


@mm.program
def mean_of_none_mended(T, sums, counts, means):
    if counts[T.id] > 0:
        means[T.id] = sums[T.id] // counts[T.id]


@mm.program
def shifted_back(T, a):
    """A shift by a number of places that becomes negative."""
    a[T.id] = 1 << (30 - T.id)


@mm.program
def shifted_back_mended(T, a):
    a[T.id] = 1 << abs(30 - T.id)


@mm.program
def set_on_one_way(T, a, b):
    """A variable that only one way of a branch sets."""
    if a[T.id] > 10:
        x = a[T.id]
    b[T.id] = x


@mm.program
def set_on_one_way_mended(T, a, b):
    x = 0
    if a[T.id] > 10:
        x = a[T.id]
    b[T.id] = x


@mm.program
def too_narrow(T, a):
    """A square that an element of 8 bits can't hold."""
    a[T.id] = T.id * T.id


@mm.program
def fraction_lost(T, a, b):
    """A quotient stored in an array of integers."""
    b[T.id] = a[T.id] / 2


@mm.program
def fraction_lost_mended(T, a, b):
    b[T.id] = a[T.id] // 2


on_umm = partial(pair, machine=UMM)

PAIRS = [
    on_umm(
        mean_of_none,
        mean_of_none_mended,
        np.arange(64),
        np.arange(64) % 7,
        zeros(64),
        finds=fault("arithmetic", "", 0, "means[T.id] =", 10, note="division by zero"),
    ),
    on_umm(
        shifted_back,
        shifted_back_mended,
        zeros(64),
        finds=fault("arithmetic", "", 31, "a[T.id] =", 0, note="a shift by a negative number"),
    ),
    on_umm(
        set_on_one_way,
        set_on_one_way_mended,
        np.arange(64)[::-1].copy(),
        zeros(64),
        finds=fault(
            "unassigned",
            "",
            53,
            "b[T.id] =",
            11,
            note="the variable 'x' is read before this thread has assigned it",
        ),
    ),
    on_umm(
        too_narrow,
        too_narrow,
        np.zeros(64, np.int8),
        fixed={"arguments": (np.zeros(64, np.int16),)},
        finds=fault(
            "type",
            "a[12]",
            12,
            "a[T.id] =",
            0,
            note="144 doesn't fit a[12]: 'a' holds int8, from -128 to 127",
        ),
    ),
    on_umm(
        fraction_lost,
        fraction_lost_mended,
        np.arange(64),
        zeros(64),
        finds=fault(
            "type", "b", 0, "b[T.id] =", note="a float is stored in 'b', which holds int64"
        ),
    ),
]
