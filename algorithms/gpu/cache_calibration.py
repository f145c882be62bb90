"""Measure the second-level cache and memory of the GPU at hand: `mmsim gpu calibrate --cache`.

The programs are small, and none of them is ever predicted. `cache_points` describes them,
and how each number follows from their times. The record has a row for each point: the picoseconds
of an access, the two times behind it, and the profiler's counts of the longer launch, which makes
`counted` accesses.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from mmsim.errors import FormatError
from mmsim.gpu import ncu
from mmsim.gpu.counting import NAME
from mmsim.gpu.ncu import NoCounters, Profiled
from mmsim.gpu.record import Record, Row
from mmsim.gpu.replay import cupy
from mmsim.gpu.signed import facts
from mmsim_algorithms.gpu import cache_multiprocessors, sessions
from mmsim_algorithms.gpu.cache_multiprocessors import CLUSTERS, HALVES, OF_BLOCKS, OF_EACH, SHARES
from mmsim_algorithms.gpu.cache_point import Point
from mmsim_algorithms.gpu.cache_points import UNCOUNTED, counted, points
from mmsim_algorithms.gpu.cache_stage import METRICS, Stage, counted_name

EXPERIMENT = "cache"


def measured(command: str, say: Callable[[str], None]) -> Iterator[Record]:
    """The record so far, number by number: first the times, then with the counts.

    Raises `NoGPU` without a GPU. If its counters can't be read, the record gives the reason.
    """
    stage = Stage(cupy())
    card = {"multiprocessors": stage.card.multiprocessors, "cache bytes": stage.card.cache_bytes}
    record = Record(EXPERIMENT, {**facts(command), **card}, ())
    for number, own in groupby(points(stage.card), lambda point: point.number):
        say(number)
        record = replace(record, rows=(*record.rows, *map(stage.measure, own)))
        yield record
    for name in (HALVES, SHARES, CLUSTERS):
        say(name)
        own = getattr(cache_multiprocessors, name)(stage)
        record = replace(record, rows=(*record.rows, *own))
        yield record
    say("counting")
    try:
        yield with_counts(record, counted(stage.card))
    except NoCounters as error:
        yield replace(record, facts={**record.facts, "not counted": str(error)})


def with_counts(record: Record, launched: Sequence[Point]) -> Record:
    """The record with the profiler's counts of the points' launches in their rows."""
    profiler, metrics, known = sessions.session(METRICS)
    with tempfile.TemporaryDirectory() as name:
        module = "mmsim_algorithms.gpu.cache_stage"
        launches = ncu.profile(profiler, NAME, metrics, Path(name), module)
    rows = joined(record.rows, launched, launches, metrics)
    return replace(record, facts={**record.facts, **known}, rows=tuple(rows))


def joined(
    rows: Sequence[Row],
    launched: Sequence[Point],
    launches: Sequence[Profiled],
    metrics: Sequence[str],
) -> list[Row]:
    """The rows, with the counts of the launched points.

    Raises `NoCounters` if the launches aren't those of the points, one by one.
    """
    own = sessions.in_order(launches, [counted_name(point) for point in launched])
    left = iter(zip(launched, own, strict=True))
    found: list[Row] = []
    for row in rows:
        if row["number"] in (HALVES, OF_BLOCKS, OF_EACH, SHARES, CLUSTERS, *UNCOUNTED):
            found.append(row)
        else:
            point, launch = next(left)
            found.append({**row, "counted": point.counted, **launch.counts(metrics)})
    return found


# ------------------------------------------------------------ the numbers


def numbers(record: Record) -> dict[str, float]:
    """The single numbers that the points give, in picoseconds.

    `tag` is that of a tag request and `sector` that of a data sector, of reads that hit; `written
    tag` and `written sector` are those of writes; `hit` and `miss` are latencies. `read from
    memory` and `written to memory` are those of a sector in turn, `random read` and `random write`
    of a sector alone at a random place, `partial write` of a word of one.

    Raises `FormatError` for a record that lacks one.
    """
    found = {}
    for name, (number, about, times) in NUMBERS.items():
        rows = [row for row in record.rows if row["number"] == number]
        own = [row for row in rows if about.items() <= row.items()]
        if len(own) != 1 or not isinstance(ps := own[0].get("ps"), int | float):
            raise FormatError(f"the record has {len(own)} rows for {name}, not one")
        found[name] = times * ps
    return found


NUMBERS: Mapping[str, tuple[str, Row, float]] = {
    "tag": ("random read hits", {}, 1),
    "sector": ("read hits", {"word bytes": 8, "stride": 1}, 4),
    "written tag": ("random write hits", {}, 1),
    "written sector": ("write hits", {"word bytes": 8, "stride": 1}, 4),
    "hit": ("hit latency", {}, 1),
    "miss": ("miss latency", {}, 1),
    "read from memory": ("memory, reads", {}, 4),
    "written to memory": ("memory, writes", {}, 4),
    "random read": ("runs, read", {"words": 8}, 8),
    "random write": ("runs, written", {"words": 8}, 8),
    "partial write": ("partial writes", {"words": 1}, 1),
}
"""For each number the points' number, the row's values, and the accesses that it is the time of."""
