"""The page's sections about the second-level cache, the memory, and kernels beyond the papers'."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

from benchmarks.laboratory.kernel_sets import LATER
from benchmarks.laboratory.rendering import in_short, of_rows, render
from mmsim.gpu.record import Row
from mmsim_algorithms.gpu import cache_calibration
from mmsim_algorithms.gpu.cache_calibrated import members as cluster_members
from mmsim_algorithms.gpu.cache_multiprocessors import CLUSTERS, HALVES, OF_BLOCKS, OF_EACH, SHARES
from mmsim_algorithms.gpu.cache_pages import PAGES, by_spacing
from mmsim_algorithms.gpu.evidence import same
from mmsim_algorithms.gpu.kept import Results, number
from mmsim_algorithms.gpu.kernel_sets import SETS
from mmsim_algorithms.gpu.markdown import short, table

OWN = ("number", "accesses", "times", "ps", "low", "high", "few ms", "many ms", "counted")
"""Fields of a point's row that don't identify the point."""
OTHERS = (HALVES, OF_BLOCKS, OF_EACH, PAGES, SHARES, CLUSTERS)
"""The numbers of rows that are no points of this table."""
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


def section(results: Results) -> str:
    """The times and the counts of single accesses; nothing without a record."""
    if cache_calibration.EXPERIMENT not in results.records:
        return ""
    record = results[cache_calibration.EXPERIMENT]
    shares, members = blocks_run(record.rows), cluster_members(record.rows)
    known = sum(map(len, members)) == len(shares)
    of_blocks = [str(row["halves"]) for row in record.rows if row["number"] == OF_BLOCKS]
    return render(
        "cache",
        mebibytes=number(record.facts, "cache bytes") / 2**20,
        points=table(
            ("what is measured", "of", "picoseconds", *SHOWN),
            (_point(row) for row in record.rows if row["number"] not in OTHERS),
            texts=2,
        ),
        halves=_halves([row for row in record.rows if row["number"] == HALVES]),
        runs=[_runs(halves) for halves in of_blocks],
        pages=_pages(record.rows),
        shares=shares,
        of_sizes=_of_sizes(members, shares) if known else [],
        clusters=in_words(map(len, members)),
    )


def blocks_run(rows: Iterable[Row]) -> list[int]:
    """The blocks of each multiprocessor that wrote to memory; none if the rows lack them."""
    return [
        int(one) for row in rows if row["number"] == SHARES for one in str(row["blocks"]).split()
    ]


def in_words(sizes: Iterable[int]) -> str:
    """A text with the number of clusters of each size.

    >>> in_words((6, 4, 6)), in_words((6,))
    ('2 of 6, 1 of 4', '1 of 6')
    """
    of_size = sorted(Counter(sizes).items(), reverse=True)
    return ", ".join(f"{many} of {size}" for size, many in of_size)


def _point(row: Row) -> tuple[str, ...]:
    about = [
        f"{name} {value}" for name, value in row.items() if name not in OWN and "__" not in name
    ]
    counts = (_each(row, metric) for metric in SHOWN.values())
    return (str(row["number"]), ", ".join(about), short(number(row, "ps")), *counts)


def _each(row: Row, metric: str) -> str:
    """A count for each access."""
    if not isinstance(row.get(metric), int):
        return ""
    each = number(row, metric) / number(row, "counted")
    return short(each) if each >= LEAST else f"{each:.0f}"


def _halves(rows: Sequence[Row]) -> str:
    """The cycles of reads by multiprocessors after another one."""
    fields = [name for row in rows[:1] for name in row if name not in ("number", "multiprocessor")]
    columns = {name: name for name in ("multiprocessor", *fields)}
    return of_rows(rows, columns, texts=0) if rows else ""


def _runs(halves: str) -> tuple[int, int, list[str]]:
    """Count the blocks, the consecutive first ones in one half, and the next ones."""
    runs = [len(list(own)) for _, own in groupby(halves)]
    return len(halves), runs[0], [f"the next {one}" for one in runs[1:]]


def _pages(rows: Sequence[Row]) -> str:
    """The times of reads of regions; nothing if they aren't measured."""
    times = by_spacing(rows)
    spacings = sorted(times)
    regions = sorted({one for own in times.values() for one in own})
    lines = [(str(one), *(short(times[spacing][one]) for spacing in spacings)) for one in regions]
    head = ("regions", *(f"{one:g}" for one in spacings))
    return table(head, lines, texts=0) if times else ""


def _of_sizes(members: Sequence[Sequence[int]], blocks: Sequence[int]) -> list[str]:
    """The blocks of multiprocessors in clusters of each size."""
    ran: dict[int, list[int]] = {}
    for own in members:
        ran.setdefault(len(own), []).extend(blocks[one] for one in own)
    return [
        f"in one of {size} {min(own)} to {max(own)}"
        for size, own in sorted(ran.items(), reverse=True)
    ]


# ------------------------------------------------------------ kernels


def kernels(results: Results) -> str:
    """Times and counts of kernels beyond the papers'; nothing without a record."""
    if SETS["kernels"].experiment not in results.records:
        return ""
    return render(
        "kernels",
        first=_measured("kernels", results),
        later=[
            (LATER[which]["title"].removesuffix(" of kernels"), _measured(which, results))
            for which in LATER
            if SETS[which].experiment in results.records
        ],
    )


def _measured(which: str, results: Results) -> str:
    """The times and the counts of a set."""
    counters = results.records.get(f"{which}-counters")
    counted = () if counters is None else counters.rows

    def millions(metric: str) -> Callable[[Row], str]:
        return lambda row: _millions([one for one in counted if same(row, one)], metric)

    columns = {
        **{name: name for name in ("kernel", "data", "launches")},
        "milliseconds": in_short("measured"),
        **{title: millions(metric) for title, metric in SHOWN.items()},
    }
    return of_rows(results[SETS[which].experiment].rows, columns, texts=2)


def _millions(rows: Sequence[Row], metric: str) -> str:
    """A count of some launches together; nothing if one of them lacks it."""
    found = [row.get(metric) for row in rows]
    known = [value for value in found if isinstance(value, int)]
    return short(sum(known) / 1e6) if found and len(known) == len(found) else ""
