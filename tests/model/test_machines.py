"""Machines: their memory units, as data that doesn't change (docs/machines.md)."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest

import mmsim as mm
from mmsim.errors import MachineError
from mmsim.model.conflicts import Banks, Groups
from mmsim.model.machines import Unit
from mmsim.model.threads import Grid


def test_a_dmm_has_a_unit_of_banks_and_a_umm_one_of_address_groups():
    assert mm.UMM(4, 3).units == (Unit("memory", Groups(4), 3),)
    assert mm.DMM(4, 3).units == (Unit("memory", Banks(4), 3),)
    assert mm.DMM(4, 3).memory == mm.DMM(4, 3).units[0]


def test_an_hmm_has_a_group_unit_and_a_bank_unit_for_each_dmm():
    machine = mm.HMM(dmms=2, width=4, global_latency=300)
    assert machine.units == (
        Unit("global", Groups(4), 300, None, "global"),
        Unit("shared[0]", Banks(4), 1, 0, "shared"),  # 1 by default
        Unit("shared[1]", Banks(4), 1, 1, "shared"),
    )
    assert mm.HMM(1, 4, 300, 7).shared == (Unit("shared[0]", Banks(4), 7, 0, "shared"),)


@pytest.mark.parametrize(
    ("thing", "field"),
    [
        (mm.DMM(4, 3), "width"),
        (mm.UMM(4, 3), "latency"),
        (mm.HMM(2, 4, 3), "dmms"),
        (Unit("memory", Banks(4), 3), "latency"),
        (mm.HMM(2, 4, 5).units, "latency"),
        (Grid(8, 8, 4), "threads"),
    ],
)
def test_machines_units_and_grids_do_not_change(thing, field):
    with pytest.raises(FrozenInstanceError):
        setattr(thing, field, 1)


def test_numpys_numbers_become_pythons():
    machine = mm.DMM(np.int64(4), np.uint8(3))
    assert (type(machine.width), type(machine.latency)) == (int, int)
    assert machine == mm.DMM(4, 3)


@pytest.mark.parametrize("kind", [mm.DMM, mm.UMM])
def test_the_least_and_the_largest_numbers(kind):
    assert kind(1, 1).width == 1
    assert kind(2**31 - 1, 2**31 - 1).latency == 2**31 - 1
    with pytest.raises(MachineError, match=r"latency=2147483648, .* at most 2147483647"):
        kind(1, 2**31)
    with pytest.raises(MachineError, match=r"width=0, .* at least 1"):
        kind(0, 1)


def test_an_hmm_names_its_two_latencies_when_asked_for_one():
    with pytest.raises(TypeError, match=r"write global_latency= and shared_latency= .* two lat"):
        mm.HMM(2, 4, latency=5)
    with pytest.raises(TypeError, match="nonsense"):
        mm.HMM(2, 4, 5, nonsense=5)
