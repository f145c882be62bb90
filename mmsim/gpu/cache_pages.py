"""The pages whose addresses a multiprocessor knows, from the points `mmsim.gpu.cache_points.pages`.

Reads of up to so many regions are quick, however far these are from each other; reads of more
regions are quick only where these are so near that several share a page.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from mmsim.gpu.cache_points import MEBI
from mmsim.gpu.record import Row

PAGES = "pages"
"""The points' number."""
LONGER = 1.5
"""Times as long as with the fewest regions: what takes less is quick."""


@dataclass(frozen=True)
class Pages:
    """The bytes of a page, how many a multiprocessor knows, picoseconds of one that it doesn't."""

    page: int
    pages: int
    page_time: float


def found(rows: Iterable[Row]) -> Pages | None:
    """What the rows show; None where none is such a point, or where all reads are quick."""
    times = by_spacing(rows)
    if not times:
        return None
    farthest = times[max(times)]
    if _quick(farthest, max(farthest)):
        return None
    most = max(regions for regions in farthest if _quick(farthest, regions))
    more = min(regions for regions in farthest if regions > most)
    page = min(spacing for spacing, own in times.items() if not _quick(own, more))
    return Pages(round(page * MEBI), most, farthest[max(farthest)])


def by_spacing(rows: Iterable[Row]) -> dict[float, dict[int, float]]:
    """The picoseconds of a read, by the MiB from one region to the next and by the regions."""
    times: dict[float, dict[int, float]] = {}
    for row in rows:
        if row["number"] == PAGES:
            regions, ps = row["pages"], row["ps"]
            times.setdefault(row["spacing MiB"], {})[regions] = ps  # type: ignore
    return times


def _quick(times: Mapping[int, float], regions: int) -> bool:
    """Whether reads of so many regions take about as long as those of the fewest."""
    return times[regions] < LONGER * times[min(times)]
