"""Cooperative groups: the whole grid as one group, with a barrier."""

from __future__ import annotations

from mmsim.cuda.stubs import outside


class GridGroup:
    """All threads of a launch."""

    def sync(self) -> int:
        """Wait until all of its threads are here."""
        outside("cg.GridGroup.sync")


def this_grid() -> GridGroup:
    """The group of all threads of the launch."""
    outside("cg.this_grid")
