"""What engines ask of a launch on a machine with sectors and several requests under way."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mmsim.ir.needs import needs
from mmsim.meaning.launch import Launch
from mmsim.model.sectors import Asked


def asked(launch: Launch) -> tuple[Asked, ...]:
    """How each access asks for sectors, found once for equal launches."""
    found: tuple[Asked, ...] | None = launch.kept.get("asked")
    if found is None:
        sizes = [launch.arrays[site.array].dtype.itemsize for site in launch.meaning.sites]
        found = launch.kept["asked"] = tuple(
            Asked.by(launch.machine, site.kind, size, site.vector)
            for site, size in zip(launch.meaning.sites, sizes, strict=True)
        )
    return found


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
