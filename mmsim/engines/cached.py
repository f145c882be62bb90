"""What engines ask of a launch on a machine with sectors and several requests under way."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from mmsim.ir.needs import needs
from mmsim.meaning.launch import Launch
from mmsim.model import cache
from mmsim.model.cache import Numbers, State
from mmsim.model.machines import Machine
from mmsim.model.sectors import Asked


def asked(launch: Launch) -> tuple[Numbers, tuple[Asked, ...]]:
    """What the rule says of a launch, and how each of its accesses asks for sectors.

    Where all elements have several bytes, a place is that many: nothing asks for a part of it.
    """
    found: tuple[Numbers, tuple[Asked, ...]] | None = launch.kept.get("asked")
    if found is None:
        machine = launch.machine
        numbers = machine.cache
        assert numbers is not None
        sizes = [launch.arrays[site.array].dtype.itemsize for site in launch.meaning.sites]
        place = math.gcd(numbers.sector, *map(machine.room, sizes))
        numbers = numbers._replace(sector=numbers.sector // place)
        ways = tuple(
            Asked.by(machine, numbers, place, site.kind, size)
            for site, size in zip(launch.meaning.sites, sizes, strict=True)
        )
        found = launch.kept["asked"] = numbers, ways
    return found


def new_state(numbers: Numbers, machine: Machine, sectors: int = 1 << 62) -> State:
    """An empty cache of a machine, see `mmsim.model.cache.new_state`."""
    return cache.new_state(numbers, machine.cluster_sizes, machine.half_of or (), sectors)


def needed(launch: Launch) -> npt.NDArray[np.bool_]:
    """Whether the access of each row waits for requests of the access of each column.

    None does where a warp has one request under way: then that has completed anyway.
    """
    found: npt.NDArray[np.bool_] | None = launch.kept.get("needed")
    if found is None:
        meaning = launch.meaning
        found = np.zeros((len(meaning.sites), len(meaning.sites)), dtype=bool)
        if launch.machine.under_way > 1:
            for row, sites in enumerate(needs(meaning.code.body, len(meaning.sites))):
                found[row, list(sites)] = True
        launch.kept["needed"] = found
    return found
