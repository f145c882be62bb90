"""Predictions of the machine with a cache, compared with a card's times and counts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp, log1p
from pathlib import Path

from benchmarks.laboratory.rendering import FILTERS, render
from mmsim.gpu.record import Record, Row
from mmsim_algorithms.gpu.cached_predictions import COUNTS, KEPT, TIMES
from mmsim_algorithms.gpu.comparisons import plain
from mmsim_algorithms.gpu.evidence import ABOUT, same
from mmsim_algorithms.gpu.kept import FOLDER, Results, errors, factor, launched, number
from mmsim_algorithms.gpu.kernel_sets import SETS
from mmsim_algorithms.gpu.markdown import listed, percent, signed, table
from mmsim_algorithms.gpu.permuting import SEVERAL

ASKED = "l1tex__t_sectors_pipe_lsu_mem_global_op_"


@dataclass(frozen=True)
class Count:
    """A count: the field of a prediction, and the profiler's metrics, added together."""

    title: str
    field: str
    metrics: tuple[str, ...]

    def counted(self, row: Row) -> float | None:
        """The card's count of a launch; None if a metric has no value."""
        known = [one for one in map(row.get, self.metrics) if isinstance(one, int)]
        return sum(known) if len(known) == len(self.metrics) else None

    def off(self, own: Row, row: Row) -> float | None:
        """The prediction's error; None for small counts."""
        counted = self.counted(row)
        if counted is None or counted < FEW:
            return None
        return number(own, self.field) / counted - 1


COUNTED = (
    Count("L1 sectors", "sectors asked", tuple(f"{ASKED}{op}.sum" for op in ("ld", "st", "red"))),
    Count("L2 tag requests", "tags", ("lts__t_tag_requests.sum",)),
    Count("L2 sectors read", "sectors read", ("lts__t_sectors_op_read.sum",)),
    Count("L2 hits", "read hits", ("lts__t_sectors_op_read_lookup_hit.sum",)),
    Count("L2 misses", "read misses", ("lts__t_sectors_op_read_lookup_miss.sum",)),
    Count("crossings", "crossings", ("lts__t_sectors_srcunit_ltcfabric.sum",)),
    Count("from memory", "memory reads", ("dram__sectors_read.sum",)),
    Count("to memory", "memory writes", ("dram__sectors_write.sum",)),
)
"""The predicted and counted values of each launch."""
HITS, MISSES = (one for one in COUNTED if one.title in ("L2 hits", "L2 misses"))
TITLES = tuple(one.title for one in COUNTED)
LARGEST = FOLDER.parent / "h200" / "icpp-counters-8192.json"
"""The counts of the largest permutations, on another H200."""
FEW = 10_000
"""Smaller counts are not compared: they include the launch's own reads."""
NEAR, FAR = 0.05, 0.15
"""The largest errors of a count and of a time that count as near."""
LATENCY = "latency"
"""The limit of a run whose resources are all busy for less than half of it."""


@dataclass(frozen=True)
class Predictions:
    """The kept predictions of one kind, and the card's times and counts."""

    rows: tuple[Row, ...]
    measured: tuple[Row, ...]
    counted: tuple[Row, ...]

    @staticmethod
    def kept(which: str, results: Results, folder: Path = KEPT) -> Predictions | None:
        """Read those of `icpp` or a set of kernels; None without predictions or measurements."""
        file = folder / f"{which}.json"
        if not file.exists() or (which in SETS and SETS[which].experiment not in results.records):
            return None
        rows, counters = Record.read(file).rows, results.records.get(f"{which}-counters")
        counted = () if counters is None else counters.rows
        if which in SETS:
            return Predictions(rows, results[SETS[which].experiment].rows, counted)
        if folder == KEPT:
            counted += Record.read(LARGEST).rows
        return Predictions(rows, tuple(launched(results["ICPP-T2"].rows, SEVERAL)), counted)

    def of(self, what: str) -> list[Row]:
        """The rows of times, of counts or of NumPy's moves."""
        return [row for row in self.rows if row["what"] == what]

    def times(self) -> list[Row]:
        """The measured rows, each with its prediction, if known."""
        found: list[Row] = []
        for row in self.measured:
            for own in self.of(TIMES):
                if "table" not in own and same(own, row):
                    more = {name: own[name] for name in ("predicted", "bound") if name in own}
                    found.append({**row, **more})
        return found

    def launches(self) -> list[Row]:
        """Counted launches, with the error of each predicted count."""
        return [
            {
                **{name: own[name] for name in ABOUT if name in own},
                **{one.title: one.off(own, row) for one in COUNTED},
            }
            for own, row in self.pairs()
        ]

    def hit_rates(self) -> list[float]:
        """The predicted hit rate less the counted one, for each counted launch.

        A rate is hits over hits and misses; launches with few of them are left out.
        """
        found = []
        for own, row in self.pairs():
            hits, misses = (one.counted(row) for one in (HITS, MISSES))
            if hits is not None and misses is not None and hits + misses >= FEW:
                predicted = [number(own, one.field) for one in (HITS, MISSES)]
                found.append(predicted[0] / sum(predicted) - hits / (hits + misses))
        return found

    def pairs(self) -> list[tuple[Row, Row]]:
        """The predicted and the card's row of each counted launch."""
        return [
            (own, row)
            for own in self.of(COUNTS)
            for row in self.counted
            if all(own.get(name) == row.get(name) for name in ABOUT)
        ]


def of_rates(rates: Sequence[float]) -> str:
    """Count the hit rates that are near, in words.

    >>> of_rates([0.01, -0.2])
    'within 5 points for 1 of 2 launches'
    """
    near = sum(abs(one) <= NEAR for one in rates)
    return f"within {100 * NEAR:.0f} points for {near} of {len(rates)} launches"


def mean(found: Sequence[float]) -> float:
    """The mean of some errors.

    >>> mean([0.5, -0.25])
    0.125
    """
    return sum(found) / len(found)


def mean_factor(found: Iterable[float]) -> float:
    """The typical factor of some errors, above 1 whether a time is too long or too short.

    It is exp of the mean of |log(1 + error)|, so that half the time counts as twice it does.

    >>> mean_factor([1.0, -0.5]), round(mean_factor([0.0, 3.0]), 9)
    (2.0, 2.0)
    """
    return exp(mean([abs(log1p(one)) for one in found]))


def summary(rows: Sequence[Row]) -> str:
    """The errors of some predicted times, in words."""
    found = errors(rows)
    far = sum(abs(one) > 0.4 for one in found)
    return (
        f"mean absolute error {percent(mean([*map(abs, found)]))} (a factor of "
        f"{mean_factor(found):.2f}), mean error {signed(mean(found))}, the largest "
        f"{signed(max(found, key=abs))}, {far} over 40%"
    )


def ratio(rows: Sequence[Row]) -> str:
    """Predicted/measured of the one row, in bold if it is far off; nothing for none or several."""
    if len(rows) != 1:
        return ""
    found = factor(rows[0])
    return f"**{found:.2f}**" if abs(found - 1) > FAR else f"{found:.2f}"


def bold(off: object) -> str:
    return marked(signed(off), off) if isinstance(off, float) else ""


def marked(text: str, off: float | None) -> str:
    """Set numbers in bold that are off by more than `NEAR`."""
    return text if off is None or abs(off) <= NEAR else f"**{text}**"


def mean_off(predictions: Predictions) -> str:
    """The mean absolute error of the times, to a hundredth of a percent."""
    return f"{mean([*map(abs, errors(predictions.times()))]):.2%}"


def error_of(predictions: Predictions) -> str:
    """The summary of the times, after "a"."""
    return summary(predictions.times()).replace("error", "error of", 1)


FILTERS.update({one.__name__: one for one in (summary, of_rates, mean_off, error_of)})


# ------------------------------------------------------------ what is wrong with a time


def wrong(predictions: Predictions, explained: bool = False) -> str:
    """A table of the times that are far off, with reasons; nothing without such times.

    A reason is the wrong count, or else the wrong rate. The text may explain the columns.
    """
    times, launches = predictions.times(), predictions.launches()
    rows = []
    for row in times:
        off = errors([row])[0]
        if abs(off) > FAR:
            own = [one for one in launches if same(one, {**row, "step": one["step"]})]
            about = (plain(row[name]) for name in ABOUT if name in row)
            bound = str(row["bound"])
            rows.append((*about, signed(off), bound, reason(off, own, bound)))
    if not rows:
        return ""
    names = [name.replace("sqrt n", "√n") for name in ABOUT if name in times[0]]
    lines = table((*names, "time", "bound by", "wrong"), rows, texts=len(names) + 3)
    return render("wrong_times", lines=rows, explained=explained, table=lines)


def reason(off: float, launches: Sequence[Row], bound: str) -> str:
    """Name the errors behind a time with this error.

    >>> launches = [{title: 0.0 for title in TITLES} | {"crossings": 0.4}]
    >>> reason(0.2, launches, "tags"), reason(-0.2, launches, "tags")
    ('crossings +40%', 'the rate of tags (crossings +40%)')
    """
    if not launches:
        return "not counted"
    largest = {
        title: max((number(one, title) for one in launches if one[title] is not None), key=abs)
        for title in TITLES
        if any(one[title] is not None for one in launches)
    }
    far = {title: one for title, one in largest.items() if abs(one) > FAR}
    along, against = (
        [f"{title} {signed(one)}" for title, one in far.items() if one * off * sign > 0]
        for sign in (1, -1)
    )
    rate = "the latency" if bound == LATENCY else f"the rate of {bound}"
    first = listed(along) or rate
    return f"{first} ({listed(against)})" if against else first
