"""Whether a launch fits into the memory there is, and what grows while it runs."""

from __future__ import annotations

from mmsim.errors import RoomError
from mmsim.host import free_memory, memory_budget
from mmsim.host.memory_budget import GIB, require_memory
from mmsim.meaning.launch import Launch


def check_memory(launch: Launch, needed: int) -> None:
    """Refuse a run that needs more bytes than there are."""
    if needed < memory_budget.SMALL:
        return
    threads = launch.grid.threads
    require_memory(
        f"program {launch.program.name!r} with {threads} threads",
        needed,
        f" ({needed // threads:,} bytes a thread)",
        "take fewer threads, smaller arrays or a narrower type",
    )


class Growth:
    """Asks for room for what grows with a run's accesses, before it is there.

    `what` is it, for the message. Of what a run takes whatever it does, `check_memory` has asked.
    """

    def __init__(self, launch: Launch, what: str) -> None:
        self.launch = launch
        self.what = what
        self.asked = memory_budget.SMALL  # so little is not asked for

    def need(self, most: int, held: int) -> None:
        """It will take `most` bytes before the run ends, `held` of which it has already.

        The next `SMALL` bytes are asked for as well, so that little time goes into asking.
        """
        if most <= self.asked:
            return
        self.asked = most + memory_budget.SMALL
        free = free_memory.available()
        more = self.asked - held
        if free is not None and more > free:
            raise RoomError(
                f"program {self.launch.program.name!r} with {self.launch.grid.threads} threads has "
                f"made so many accesses that {self.what} needs {more / GIB:,.1f} GiB more, but "
                f"only {free / GIB:,.1f} GiB are free; take fewer threads or accesses"
            )


def copies(launch: Launch) -> int:
    """Bytes of the parameters that are copied because the program writes them."""
    arrays = launch.arrays.values()
    return sum(
        array.size * array.dtype.itemsize for array in arrays if array.written and not array.shared
    )


def shared(launch: Launch) -> int:
    """Bytes of the shared arrays of all blocks."""
    arrays = [array for array in launch.arrays.values() if array.shared]
    return sum(array.size * len(array.bases) * array.dtype.itemsize for array in arrays)
