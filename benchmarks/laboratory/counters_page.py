"""The page of counters: the predicted and the card's counts of each launch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmarks.laboratory.kernel_sets import LATER
from benchmarks.laboratory.predictions import (
    COUNTED,
    FEW,
    HITS,
    MISSES,
    TITLES,
    Predictions,
    marked,
)
from benchmarks.laboratory.rendering import render
from mmsim.gpu.record import Row
from mmsim_algorithms.gpu.cached_predictions import COUNTS, KEPT
from mmsim_algorithms.gpu.comparisons import plain
from mmsim_algorithms.gpu.evidence import ABOUT, same
from mmsim_algorithms.gpu.kept import Results, number, values
from mmsim_algorithms.gpu.markdown import short, table

MEANINGS = {
    "L1 sectors": "the sectors that requests ask for: reads, writes and atomics",
    "L2 tag requests": "lines that requests look up, and lines that the cache adds",
    "L2 sectors read": "sectors that reads ask for; a sector that crosses for a read counts again",
    "L2 hits": "sectors that a read finds, in its own half or at home",
    "L2 misses": "sectors that come for a read: to its own half, or from memory to their home; "
    "also sectors that come in addition to another one",
    "crossings": "sectors that go from one half to the other, for reads and writes",
    "from memory": "sectors that memory sends",
    "to memory": "sectors that go to memory before the launch ends",
}
"""The machine's counts."""
BY = "\N{NO-BREAK SPACE}/ "
"""Stands between two numbers; a narrow cell has one below the other."""
KERNELS = {"kernels": "The kernels"} | {which: one["title"] for which, one in LATER.items()}
"""The sets of kernels that have a section, and its title."""
(READ,) = (one for one in COUNTED if one.title == "L2 sectors read")
ALONG: Row = {"algorithm": "S-designated", "permutation": "random", "type": "float"}
"""The launch whose hits and misses are compared with its sectors read."""
Pairs = Sequence[tuple[Row, Row]]


def page(results: Results) -> str:
    """The text of docs/metal-counters.md; nothing without predictions."""
    icpp = Predictions.kept("icpp", results, KEPT)
    sets = {title: _kernels(which, results) for which, title in KERNELS.items()}
    if icpp is None or not sets["The kernels"]:
        return ""
    pairs = [pair for pair in icpp.pairs() if ALONG.items() <= pair[0].items()]
    own, row = pair = max(pairs, key=lambda pair: number(pair[0], "sqrt n"))
    predicted, counted = _looked_up(pair)
    sums = [_looked_up(pair) for pair in icpp.pairs()]
    off = [abs(one / other - 1) for one, other in sums if other >= FEW]
    return render(
        "metal-counters",
        few=FEW,
        meanings=table(
            ("count", "of the machine", "of the card"),
            (
                (one.title, MEANINGS[one.title], " + ".join(f"`{name}`" for name in one.metrics))
                for one in COUNTED
            ),
            texts=3,
        ),
        about=own,
        predicted_more=predicted - number(own, READ.field),
        counted_more=counted - (READ.counted(row) or 0),
        sums=sum(off) / len(off),
        sides=[(side, _permutations(icpp, side)) for side in values(icpp.of(COUNTS), "sqrt n")],
        sets=[(title, lines) for title, lines in sets.items() if lines],
    )


def _looked_up(pair: tuple[Row, Row]) -> tuple[float, float]:
    """Hits and misses together, predicted and counted."""
    own, row = pair
    parts = (HITS, MISSES)
    return sum(number(own, one.field) for one in parts), sum(one.counted(row) or 0 for one in parts)


def _permutations(icpp: Predictions, side: int) -> str:
    own = [pair for pair in icpp.pairs() if pair[0]["sqrt n"] == side]
    return _table(icpp, own, ("algorithm", "permutation", "type"), int(side) ** 2)


def _kernels(which: str, results: Results) -> str:
    """The table of a set; nothing if it isn't predicted and counted."""
    kernels = Predictions.kept(which, results, KEPT)
    if kernels is None or not kernels.pairs():
        return ""
    return _table(kernels, kernels.pairs(), ("kernel", "data"), 1_000_000)


def _table(predictions: Predictions, pairs: Pairs, names: Sequence[str], unit: int) -> str:
    """A line for each group of launches, with its time, and one for each of several launches."""
    groups: dict[tuple[str, ...], list[tuple[Row, Row]]] = {}
    for pair in pairs:
        groups.setdefault(tuple(str(pair[0][name]) for name in names), []).append(pair)
    rows, times = [], predictions.times()
    for key, own in groups.items():
        about = [*map(plain, key)]
        several = f"all {len(own)}" if len(own) > 1 else ""
        rows.append((*about, several, *_time(times, own[0][0]), *_counts(own, unit)))
        if several:
            rows += [(*about, str(pair[0]["step"]), "", "", *_counts([pair], unit)) for pair in own]
    head = (*names, "launch", "time", "bound by", *TITLES)
    return table(head, rows, texts=len(names))


def _time(rows: Sequence[Row], own: Row) -> tuple[str, str]:
    """The predicted and the measured time of a group's launches, and their limit."""
    about = {name: value for name, value in own.items() if name in ABOUT and name != "step"}
    times = [row for row in rows if same(about, row)]
    predicted, measured = (
        sum(number(row, field) for row in times) / len(times) for field in ("predicted", "measured")
    )
    return f"{short(predicted)}{BY}{short(measured)}", str(times[0]["bound"])


def _counts(pairs: Pairs, unit: int) -> Iterator[str]:
    """The sums over some launches, in a unit: predicted / counted."""
    for one in COUNTED:
        predicted = sum(number(own, one.field) for own, _ in pairs)
        found = [one.counted(row) for _, row in pairs]
        known = [value for value in found if value is not None]
        if len(known) < len(found):
            yield f"{predicted / unit:.3f}{BY}?"
        else:
            counted = sum(known)
            off = predicted / counted - 1 if counted >= FEW else None
            yield marked(f"{predicted / unit:.3f}{BY}{counted / unit:.3f}", off)
