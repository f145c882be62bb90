"""Launches the points of `mmsim.gpu.cache_points` for a profiler to count.

`python -m mmsim.gpu.cache_counted` launches those that `counted` names, in their order.
"""

from __future__ import annotations

from mmsim.gpu.cache_points import Card, Point, points
from mmsim.gpu.cache_stage import Stage
from mmsim.gpu.replay import cupy

UNCOUNTED = ("under way", "launch", "multiprocessors", "hit latency", "miss latency", "pages")
"""Numbers that no counter explains."""


def counted(card: Card) -> list[Point]:
    """The points that are counted."""
    return [point for point in points(card) if point.number not in UNCOUNTED]


def main() -> None:
    """Launch each of them once, after the launch that prepares the cache."""
    stage = Stage(cupy())
    for point in counted(stage.card):
        stage.count(point)


if __name__ == "__main__":
    main()
