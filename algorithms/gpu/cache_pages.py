"""The pages whose addresses a multiprocessor knows, from the points of `cache_points.pages`.

Reads of few regions are fast at any distance between the regions. Reads of more regions are fast
only if the regions are so near that several share a page.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import cast

from mmsim.gpu.record import Row
from mmsim_algorithms.gpu.cache_points import MEBI

PAGES = "pages"
"""The points' number."""
LONGER = 1.5
"""Reads are fast up to this multiple of the time with the fewest regions."""


@dataclass(frozen=True)
class Pages:
    """The bytes of a page, the pages that a multiprocessor knows, picoseconds of another one."""

    page: int
    pages: int
    page_time: float


def found(rows: Iterable[Row]) -> Pages | None:
    """The pages that the rows show; None without such points, or if all reads are fast."""
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
            regions, spacing = cast(int, row["pages"]), cast(float, row["spacing MiB"])
            times.setdefault(spacing, {})[regions] = cast(float, row["ps"])
    return times


def _quick(times: Mapping[int, float], regions: int) -> bool:
    """Return whether reads of `regions` regions take about the time of the fewest regions."""
    return times[regions] < LONGER * times[min(times)]
