"""Checks where the arrays lie: whether they fit, and in rows as wide as the machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from mmsim.meaning.launch import Launch
from mmsim.model.layout import Placed
from mmsim.monitors.lines import found_access
from mmsim.results.findings import Finding


def capacity(launch: Launch, words: int | None) -> Iterator[Finding]:
    """The first shared array of a DMM that doesn't fit into `words` words of shared memory.

    All blocks of a DMM have their shared arrays at the same time (docs/machines.md), each at the
    next multiple of w. A DMM or a UMM holds them in its one memory, behind the parameters, which
    don't count here.
    """
    names = [local.name for local in launch.code.locals if local.kind == "shared"]
    shared = [launch.arrays[name] for name in names]
    if words is None or not shared:
        return
    begin = min(int(array.bases.min()) for array in shared) if not launch.machine.shared else 0
    beyond = []
    for array in shared:
        over = np.flatnonzero(array.bases + array.size - begin > words)
        if len(over):
            beyond.append((int(over[0]), int(array.bases[over[0]]), array.name))
    if beyond:
        block, _, name = min(beyond)
        place = next(local.place for local in launch.code.locals if local.name == name)
        thread = block * launch.grid.block_size
        number = launch.arrays[name].unit_of_copy[block]
        ends = (array.bases[array.unit_of_copy == number] + array.size for array in shared)
        most = max(int(of_unit.max()) for of_unit in ends) - begin
        unit = launch.machine.units[int(number)].name
        yield Finding(
            "capacity",
            name,
            None,
            block,
            (found_access(place, "declaration", thread, block),),
            note=f"the blocks on {unit} need {most} words of it, and there are {words}",
        )


def placement(launch: Launch, args: tuple[Any, ...]) -> Iterator[Finding]:
    """The arguments whose layout rotates rows of another width than the machine's.

    The paper's guarantees for such a layout hold only for rows of w words.
    """
    width = launch.machine.width
    for parameter, argument in zip(launch.code.parameters, args, strict=False):
        if isinstance(argument, Placed):
            rows = getattr(argument.layout, "width", width)
            if rows != width:
                yield Finding(
                    "placement",
                    parameter.name,
                    None,
                    None,
                    (found_access(parameter.place, "declaration", 0, 0),),
                    note=f"{argument.layout} has rows of {rows} words, but the machine is {width} "
                    "wide",
                )
