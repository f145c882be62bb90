"""The page's sections about the second-level cache, the memory, and kernels beyond the papers'."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from mmsim.gpu import cache_calibration, cache_clusters, cache_shares
from mmsim.gpu.cache_clusters import CLUSTERS
from mmsim.gpu.cache_halves import HALVES, OF_BLOCKS, OF_EACH
from mmsim.gpu.cache_pages import PAGES, by_spacing
from mmsim.gpu.cache_shares import SHARES
from mmsim.gpu.record import Record, Row
from mmsim_algorithms.gpu.kept import Results, number
from mmsim_algorithms.gpu.kernel_sets import SETS
from mmsim_algorithms.gpu.markdown import listed, paragraph, short, table

OWN = ("number", "accesses", "times", "ps", "low", "high", "few ms", "many ms", "counted")
"""Fields of a point's row that don't identify the point."""
SHOWN = {
    "tags": "lts__t_tag_requests.sum",
    "sectors of data": "lts__d_sectors.sum",
    "crossing": "lts__t_sectors_srcunit_ltcfabric.sum",
    "from memory": "dram__sectors_read.sum",
    "to memory": "dram__sectors_write.sum",
}
"""The counts in the tables, by their meaning."""
LEAST = 0.005
"""A smaller count for each access is shown as none."""


def cache(results: Results) -> list[str]:
    """The times and the counts of single accesses; nothing without a record."""
    if cache_calibration.EXPERIMENT not in results.records:
        return []
    record = results[cache_calibration.EXPERIMENT]
    others = (HALVES, OF_BLOCKS, OF_EACH, PAGES, SHARES, CLUSTERS)
    points = [row for row in record.rows if row["number"] not in others]
    parts = [
        "## The second-level cache and the memory\n",
        paragraph(
            f"""`mmsim gpu calibrate --cache` repeats one kind of access by as many threads as the
            card holds, few times and many times: the difference gives the time of an access. The
            card's cache has {number(record.facts, "cache bytes") / 2**20:.0f} MiB. NVIDIA's
            profiler counts the longer launch: tags that the cache looked up, sectors of its data,
            sectors that crossed between its halves, sectors from and to the memory. The table has
            each count for one access. If one thread or one block reads, the time is that of one of
            its reads. No predicted kernel is among these microbenchmarks."""
        ),
        table(
            ("what is measured", "of", "picoseconds", *SHOWN),
            (_point(row) for row in points),
            texts=2,
        ),
        *_halves(record),
        *_pages(record),
        *_shares(record),
    ]
    return ["\n".join(parts)]


def _point(row: Row) -> tuple[str, ...]:
    about = ", ".join(f"{name} {value}" for name, value in row.items() if _tells(name))
    return (
        str(row["number"]),
        about,
        short(number(row, "ps")),
        *(_each(row, metric) for metric in SHOWN.values()),
    )


def _tells(field: str) -> bool:
    return field not in OWN and "__" not in field


def _each(row: Row, metric: str) -> str:
    """A count for each access."""
    if not isinstance(row.get(metric), int):
        return ""
    each = number(row, metric) / number(row, "counted")
    return short(each) if each >= LEAST else f"{each:.0f}"


def _halves(record: Record) -> list[str]:
    """The cycles of reads by multiprocessors after another one."""
    rows = [row for row in record.rows if row["number"] == HALVES]
    if not rows:
        return []
    fields = [name for name in rows[0] if name not in ("number", "multiprocessor")]
    return [
        paragraph(
            """One multiprocessor reads a chain of lines, then another one reads the same chain,
            twice. The table has the clock cycles of single reads, as quantiles: of the first
            multiprocessor, whose lines all come from memory, and of both readings of the other
            one."""
        ),
        table(
            ("multiprocessor", *fields),
            ((str(row["multiprocessor"]), *(str(row[name]) for name in fields)) for row in rows),
            texts=0,
        ),
        *(_of_blocks(row) for row in record.rows if row["number"] == OF_BLOCKS),
    ]


def _of_blocks(row: Row) -> str:
    """Count the consecutive blocks in one half."""
    halves = str(row["halves"])
    runs = [len(list(own)) for _, own in groupby(halves)]
    return paragraph(
        f"""Reads that take longer the first time, and not the second, cross from the other half.
        There are {len(halves)} blocks, one for each multiprocessor. Of these, the first {runs[0]}
        are in one half, {listed(f"the next {one}" for one in runs[1:])} in the other and the one
        half in turn. So adjacent blocks, which often write to the same lines, are mostly in one
        half."""
    )


def _pages(record: Record) -> list[str]:
    """The times of reads of regions; nothing if they aren't measured."""
    times = by_spacing(record.rows)
    if not times:
        return []
    spacings = sorted(times)
    regions = sorted({one for own in times.values() for one in own})
    return [
        paragraph(
            """All threads read random sectors that hit: the lanes of a warp read in turn in several
            regions, which begin several MiB apart. A multiprocessor knows the places of some pages
            of the memory. Each further page of a request takes time, and near regions share pages.
            The table has the picoseconds of a read, by the number of regions (down) and their
            distance in MiB (across):"""
        ),
        table(
            ("regions", *(f"{one:g}" for one in spacings)),
            ((str(one), *(short(times[spacing][one]) for spacing in spacings)) for one in regions),
            texts=0,
        ),
    ]


def _shares(record: Record) -> list[str]:
    """The number of blocks that multiprocessors run; nothing if it isn't measured."""
    blocks = cache_shares.counts(record.rows)
    if not blocks:
        return []
    text = f"""Of {sum(blocks):,} equal blocks that write to random sectors of a long array, each
        multiprocessor runs {min(blocks)} to {max(blocks)}."""
    members = cache_clusters.members(record.rows)
    if sum(map(len, members)) != len(blocks):
        return [paragraph(text)]
    ran: dict[int, list[int]] = {}
    for own in members:
        ran.setdefault(len(own), []).extend(blocks[one] for one in own)
    of_sizes = (
        f"in one of {size} {min(own)} to {max(own)}"
        for size, own in sorted(ran.items(), reverse=True)
    )
    return [
        paragraph(
            f"""{text} It depends on its cluster: {", ".join(of_sizes)}. Two multiprocessors are in
            one cluster if they delay each other when they ask for pages, while all others are idle.
            The clusters found are {cache_clusters.in_words(list(map(len, members)))}."""
        )
    ]


def kernels(results: Results) -> list[str]:
    """Times and counts of kernels beyond the papers'; nothing without a record."""
    if SETS["kernels"].experiment not in results.records:
        return []
    parts = [
        "## Kernels beyond the papers'\n",
        paragraph(
            """A machine with a cache has to predict these kernels. Their results are checked.
            Counts are in millions, over all launches of a kernel, each with an empty cache."""
        ),
        _measured("kernels", results),
    ]
    for which, name in (("unseen", "second"), ("third", "third")):
        if SETS[which].experiment in results.records:
            words = f"A {name} set, measured later:"
            parts += [paragraph(words), _measured(which, results)]
    return ["\n".join(parts)]


def _measured(which: str, results: Results) -> str:
    """The times and the counts of a set."""
    record = results[SETS[which].experiment]
    counted = results.records.get(f"{which}-counters")
    return table(
        ("kernel", "data", "launches", "milliseconds", *SHOWN),
        (_kernel(row, [] if counted is None else counted.rows) for row in record.rows),
        texts=2,
    )


def _kernel(row: Row, counted: Iterable[Row]) -> tuple[str, ...]:
    own = [one for one in counted if (one["kernel"], one["data"]) == (row["kernel"], row["data"])]
    return (
        str(row["kernel"]),
        str(row["data"]),
        str(row["launches"]),
        short(number(row, "measured")),
        *(_millions(own, metric) for metric in SHOWN.values()),
    )


def _millions(rows: Sequence[Row], metric: str) -> str:
    """A count of some launches together; nothing if one of them lacks it."""
    found = [row.get(metric) for row in rows]
    known = [value for value in found if isinstance(value, int)]
    return short(sum(known) / 1e6) if found and len(known) == len(found) else ""
