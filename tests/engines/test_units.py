"""A memory unit counts the stages of all requests that wait at it together."""

import numpy as np
import pytest

import mmsim as mm
from tests.kit.oracle.own_machines import OwnMachine

WARPS = 8  # enough to be counted together


@mm.program
def columns(T, placed, plain):
    if T.warp % 2:
        placed[T.lane, T.warp % 4]
    else:
        plain[T.lane, T.warp % 4]


def stages(machine, program, *args, schedule="asynchronous"):
    how = {"threads": 4 * WARPS, "schedule": schedule, "engine": "events", "trace": False}
    return machine.run(program, *args, **how).stages


@pytest.mark.parametrize(
    ("placed", "plain", "expected"),
    [
        (False, False, WARPS * 4),  # a column of a 4 x 4 matrix lies in one bank,
        (True, True, WARPS * 1),  # and in four if row i is rotated by i
        (True, False, WARPS // 2 * (1 + 4)),
        (False, True, WARPS // 2 * (4 + 1)),
    ],
)
def test_arrays_with_a_layout_and_without_one(placed, plain, expected):
    matrix = np.zeros((4, 4), int)
    rotated = mm.place(matrix, mm.layout.Diagonal(4))
    args = [rotated if one else matrix for one in (placed, plain)]
    assert stages(mm.DMM(4, 2), columns, *args) == expected


class Unaligned(OwnMachine):
    """Its arrays begin at multiples of its width, as those of the papers' machines do."""

    line = property(lambda self: self.width)


@mm.program
def across(T, first, b, c, several):
    if several and T.warp % 2:
        c[8 * T.warp + T.lane + 2]
    else:
        b[8 * T.warp + T.lane + 2]


@pytest.mark.parametrize("several", [False, True])
def test_arrays_that_begin_within_a_sector(several):
    """They begin at address 4: each warp's four words lie on both sides of a sector's end."""
    machine = Unaligned(4, ("sector", 8, 3), ())
    b, c = np.zeros((2, 8 * WARPS), int)
    assert stages(machine, across, np.zeros(4, int), b, c, several) == 2 * WARPS
    assert stages(machine, across, np.zeros(8, int), b, c, several) == 1 * WARPS
