"""Cooperative groups: the whole grid as one group, with a barrier."""

from __future__ import annotations

from mmsim.cuda.in_python import current
from mmsim.cuda.stubs import outside


class GridGroup:
    """All threads of a launch."""

    def sync(self) -> int:
        """Wait until all of its threads are here."""
        if (thread := current()) is None:
            outside("cg.GridGroup.sync")
        thread.wait("grid", "cg.this_grid().sync", lambda group, one: None)
        return 0


def this_grid() -> GridGroup:
    """The group of all threads of the launch."""
    if current() is None:
        outside("cg.this_grid")
    return GridGroup()
