"""Tells a deadlock from a program that merely goes on: nothing changes, and a warp reads on."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim.engines.lines import bits_of
from mmsim.language.frame import Site
from mmsim.launch import Launch

Integers = npt.NDArray[Any]


class Standstill:
    """Notes for how many requests no write has changed memory, and the last of those requests."""

    def __init__(self, launch: Launch) -> None:
        self.arrays = launch.arrays
        self.enough = launch.meaning.max_accesses // 4
        self.requests = 0
        self.last: tuple[Site, int, int, int, int, int] | None = None

    def access(
        self,
        site: Site,
        copies: Integers | int,
        elements: Integers,
        threads: Integers,
        blocks: Integers | int,
        values: npt.NDArray[Any] | None,
        times: Integers | int,
    ) -> None:
        """One memory instruction, before it takes effect."""
        self.requests += 1
        if values is None:
            copy, block, time = (
                int(one[0]) if isinstance(one, np.ndarray) else one
                for one in (copies, blocks, times)
            )
            self.last = (site, copy, int(elements[0]), int(threads[0]), block, time)
            return
        array = self.arrays[site.array]
        old = array.read(elements, blocks)
        if not np.array_equal(bits_of(old), bits_of(values.astype(array.dtype, copy=False))):
            self.requests = 0

    @property
    def reached(self) -> bool:
        """Whether nothing has changed for so long that nothing will."""
        return self.last is not None and self.requests >= self.enough
