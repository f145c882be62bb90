"""The page of counters: the predicted and the card's counts of each launch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mmsim.gpu.record import Row
from mmsim_algorithms.gpu.cached_predictions import COUNTS, KEPT
from mmsim_algorithms.gpu.kept import Results, number, values
from mmsim_algorithms.gpu.markdown import paragraph, percent, short, table
from mmsim_algorithms.gpu.predicted import (
    ABOUT,
    COUNTED,
    FEW,
    TITLES,
    Count,
    Predictions,
    marked,
    same,
)

HEAD = """\
# The counters, predicted and counted

<!-- Made by `make metal` from benchmarks/results; change `algorithms/gpu`, not this page. -->
"""
MEANINGS = {
    "L1 sectors": "the sectors that requests ask for: reads, writes and atomics",
    "L2 tag requests": "lines that requests look up, and lines that the cache adds",
    "L2 sectors read": "sectors that reads ask for; a sector that crosses for a read counts again",
    "L2 hits": "sectors that a read finds, in its own half or at home",
    "L2 misses": """sectors that come for a read: to its own half, or from memory to their home;
        also sectors that come in addition to another one""",
    "crossings": "sectors that go from one half to the other, for reads and writes",
    "from memory": "sectors that memory sends",
    "to memory": "sectors that go to memory before the launch ends",
}
"""The machine's counts."""
BY = "\N{NO-BREAK SPACE}/ "
"""Stands between two numbers; a narrow cell has one below the other."""
KERNELS = {
    "kernels": "The kernels",
    "unseen": "A second set of kernels",
    "third": "A third set of kernels",
}
"""The sets of kernels that have a section, and its title."""
Pairs = Sequence[tuple[Row, Row]]


def counters(results: Results) -> str:
    """The text of docs/metal-counters.md; nothing without predictions."""
    icpp = Predictions.kept("icpp", results, KEPT)
    kernels = [_kernels(title, which, results) for which, title in KERNELS.items()]
    if icpp is None or not kernels[0]:
        return ""
    return "\n".join((HEAD, _compared(icpp), _permutations(icpp), *filter(None, kernels)))


def _compared(icpp: Predictions) -> str:
    return "\n".join(
        (
            paragraph(
                f"""These tables compare the predictions of [the machine with a
                cache](metal.md#a-machine-with-a-cache) for each launch with the counts of NVIDIA's
                profiler on the card, as predicted / counted. They are in bold where they differ by
                more than 5% and at least {FEW} are counted. Each counted launch begins with an
                empty cache; the counts of a kernel that does nothing aren't subtracted. The
                launches of √n = 8192 were counted on another H200. Times are in milliseconds,
                predicted / measured, of all launches of an algorithm together; there each launch
                finds the cache as the last one left it."""
            ),
            "## What is compared with what\n",
            table(
                ("count", "of the machine", "of the card"),
                (
                    (
                        one.title,
                        " ".join(MEANINGS[one.title].split()),
                        " + ".join(f"`{metric}`" for metric in one.metrics),
                    )
                    for one in COUNTED
                ),
                texts=3,
            ),
            paragraph(
                f"""The machine's hits and misses are defined as the card's. A read that looks in
                its own half and then at home counts twice, in both. A miss is not a sector that a
                read asks for, but a sector that comes: memory sends two, and so two cross, although
                the read asks for only one. So hits and misses together are more than the sectors
                read. {_brought(icpp)} The mean difference of the sums of hits and misses is
                {_sums(icpp)}."""
            ),
            paragraph(
                """Several reads of one sector at about the same time reach the card's cache as one,
                so it may read fewer sectors than the multiprocessors ask for; the machine reads
                each. Another metric counts the L1 sectors of atomics with a used old value; no
                launch here has any."""
            ),
        )
    )


def _of(title: str) -> Count:
    (found,) = (one for one in COUNTED if one.title == title)
    return found


def _looked_up(pair: tuple[Row, Row]) -> tuple[float, float]:
    """Hits and misses together, predicted and counted."""
    own, row = pair
    parts = (_of("L2 hits"), _of("L2 misses"))
    return sum(number(own, one.field) for one in parts), sum(one.counted(row) or 0 for one in parts)


def _brought(icpp: Predictions) -> str:
    """The excess of hits and misses over the sectors read, for one launch."""
    about: Row = {"algorithm": "S-designated", "permutation": "random", "type": "float"}
    pairs = [pair for pair in icpp.pairs() if about.items() <= pair[0].items()]
    own, row = pair = max(pairs, key=lambda pair: number(pair[0], "sqrt n"))
    read = _of("L2 sectors read")
    predicted, counted = _looked_up(pair)
    predicted, counted = predicted - number(own, read.field), counted - (read.counted(row) or 0)
    return f"""For {about["algorithm"]} along the {about["permutation"]} permutation of
        {about["type"]}s at √n = {own["sqrt n"]} they are more by {predicted:,.0f}, predicted, and
        by {counted:,.0f}, counted."""


def _sums(icpp: Predictions) -> str:
    """The mean error of the predicted sums of hits and misses."""
    sums = [_looked_up(pair) for pair in icpp.pairs()]
    off = [abs(predicted / counted - 1) for predicted, counted in sums if counted >= FEW]
    return percent(sum(off) / len(off))


# ------------------------------------------------------------ the tables


def _permutations(icpp: Predictions) -> str:
    parts = [
        "## ICPP's permutations\n",
        paragraph(
            """Counts are for each permuted word: divided by √n squared. The time of scheduled is
            the mean over the five permutations. Each of its launches has a line, below the line of
            their sums."""
        ),
    ]
    names = ("algorithm", "permutation", "type")
    for side in values(icpp.of(COUNTS), "sqrt n"):
        own = [pair for pair in icpp.pairs() if pair[0]["sqrt n"] == side]
        parts += [f"### √n = {side}\n", _table(icpp, own, names, int(side) ** 2)]
    return "\n".join(parts)


def _kernels(title: str, which: str, results: Results) -> str:
    """The section of a set; nothing if it isn't predicted and counted."""
    kernels = Predictions.kept(which, results, KEPT)
    if kernels is None or not kernels.pairs():
        return ""
    return "\n".join(
        (
            f"## {title}\n",
            paragraph(
                """Counts are in millions. Each launch of a kernel has a line, below the line of
                their sums."""
            ),
            _table(kernels, kernels.pairs(), ("kernel", "data"), 1_000_000),
        )
    )


def _table(predictions: Predictions, pairs: Pairs, names: Sequence[str], unit: int) -> str:
    """A line for each group of launches, with its time, and one for each of several launches."""
    groups: dict[tuple[str, ...], list[tuple[Row, Row]]] = {}
    for pair in pairs:
        groups.setdefault(tuple(str(pair[0][name]) for name in names), []).append(pair)
    rows, times = [], predictions.times()
    for key, own in groups.items():
        about = [text.replace("_", " ") for text in key]
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
    predicted = sum(number(row, "predicted") for row in times) / len(times)
    measured = sum(number(row, "measured") for row in times) / len(times)
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
