"""The wrong count, or else the wrong rate, of each predicted time that is far off."""

from __future__ import annotations

from collections.abc import Sequence

from mmsim.gpu.record import Row
from mmsim_algorithms.gpu.kept import number
from mmsim_algorithms.gpu.markdown import listed, paragraph, signed, table
from mmsim_algorithms.gpu.predicted import ABOUT, FAR, TITLES, Predictions, errors, same

LATENCY = "latency"
"""The limit of a run whose resources are all busy for less than half of it."""


EXPLAINED = """The column "bound by" names the limit of the predicted launches for most of their
    time. It is the resource of global memory that is occupied longest, or the latency, if no
    resource is occupied for half of a launch. The column "wrong" names the counts of any launch
    that are off by more than 15% in the direction of the time. If there is none, the rate of the
    limit is wrong, or the model lacks something. Counts in brackets are off in the other direction,
    and don't explain the time."""


def wrong(predictions: Predictions, explained: str) -> str:
    """A table of these times with reasons, below an explanation; nothing without such times."""
    times, launches = predictions.times(), predictions.launches()
    rows = []
    for row in times:
        off = errors([row])[0]
        if abs(off) > FAR:
            own = [one for one in launches if same(one, {**row, "step": one["step"]})]
            bound = str(row["bound"])
            rows.append((*_about(row), signed(off), bound, reason(off, own, bound)))
    names = [name.replace("sqrt n", "√n") for name in ABOUT if name in times[0]]
    if not rows:
        return ""
    return "\n".join(
        (
            paragraph(f"{len(rows)} times are off by more than 15%. {explained}"),
            table((*names, "time", "bound by", "wrong"), rows, texts=len(names) + 3),
        )
    )


def _about(row: Row) -> tuple[str, ...]:
    return tuple(str(row[name]).replace("_", " ") for name in ABOUT if name in row)


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
    along = [f"{title} {signed(one)}" for title, one in far.items() if one * off > 0]
    against = [f"{title} {signed(one)}" for title, one in far.items() if one * off < 0]
    rate = "the latency" if bound == LATENCY else f"the rate of {bound}"
    first = listed(along) or rate
    return f"{first} ({listed(against)})" if against else first
