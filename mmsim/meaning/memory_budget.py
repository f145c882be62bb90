"""The memory of a launch: what is available, and what grows while it runs."""

from __future__ import annotations

from dataclasses import dataclass, field

from mmsim.errors import RoomError
from mmsim.host import free_memory
from mmsim.host.free_memory import GIB, require_memory
from mmsim.meaning.launch import Launch


def check_memory(launch: Launch, needed: int) -> None:
    """Refuse a run that needs more bytes than there are."""
    if needed < free_memory.SMALL:
        return
    threads = launch.grid.threads
    require_memory(
        f"program {launch.program.name!r} with {threads} threads",
        needed,
        f" ({needed // threads:,} bytes a thread)",
        "take fewer threads, smaller arrays or a narrower type",
    )


@dataclass(eq=False)
class Growth:
    """Reserves room for data that grow with a run's accesses, before they exist.

    `what` names them in the message. `check_memory` has reserved a run's fixed data.
    """

    launch: Launch
    what: str
    asked: int = field(default_factory=lambda: free_memory.SMALL)  # so little is not reserved

    def need(self, most: int, held: int) -> None:
        """Reserve `most` bytes for the time until the run ends; it has `held` of them already.

        The next `SMALL` bytes are reserved as well, to save time.
        """
        if most <= self.asked:
            return
        self.asked = most + free_memory.SMALL
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
