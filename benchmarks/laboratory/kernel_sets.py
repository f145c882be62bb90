"""The page's sections about the sets of kernels, as the machine with a cache predicts them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from benchmarks.laboratory.predictions import (
    TITLES,
    Predictions,
    bold,
    mean,
    mean_factor,
    ratio,
    wrong,
)
from benchmarks.laboratory.rendering import Columns, in_short, of_rows, render
from mmsim.gpu.record import Record, Row
from mmsim_algorithms.gpu.cached_predictions import KEPT
from mmsim_algorithms.gpu.evidence import in_words, same
from mmsim_algorithms.gpu.kept import FOLDER, Results, errors, number
from mmsim_algorithms.gpu.kernel_sets import SETS
from mmsim_algorithms.gpu.markdown import percent, signed, table

FIRST, NOW = "first", "now"
"""A set's first prediction that is kept, and the present one."""
LATER = {
    "unseen": {
        "title": "A second set of kernels",
        "kinds": "Some are of the same kinds as those of the first set, on other data and of other "
        "sizes.",
        "since": "for the turns of clusters and for pages",
    },
    "third": {
        "title": "A third set of kernels",
        "kinds": "Sparse matrices and stencils have other forms here; the other kinds are new.",
        "since": "for the start of blocks and for the halves of clusters",
    },
}
"""Each later set's title, its kinds, and the rules that came after its first prediction."""


def section(results: Results) -> str:
    """The sections about all sets, the first set last; it must be kept."""
    kernels, original = (
        Predictions.kept("kernels", results, _folder(when)) for when in (NOW, FIRST)
    )
    assert kernels is not None
    assert original is not None
    made = str(results["cache"].facts["date"])
    known = [one.experiment for one in SETS.values() if one.experiment in results.records]
    earlier = all(str(results[name].facts["date"]) < made for name in known)
    again = Record.read(FOLDER.parent / "h200" / "KERNELS-again.json").rows
    return render(
        "kernel_sets",
        all=_all(results),
        made=made,
        earlier=known if earlier else [],
        later=[later(which, results) for which in LATER],
        first=kernels,
        original=original,
        apart=max(
            abs(number(one, "measured") / number(row, "measured") - 1)
            for row, one in zip(results["KERNELS"].rows, again, strict=True)
        ),
        times_and_counts=_times_and_counts(kernels),
        wrong=wrong(kernels),
    )


def _folder(when: str) -> Path:
    return KEPT / FIRST if when == FIRST else KEPT


def _all(results: Results) -> str:
    """A line for each prediction of each set."""
    order = [(which, when) for when in (FIRST, NOW) for which in LATER]
    rows = []
    for which, when in (*order, ("kernels", FIRST), ("kernels", NOW)):
        kernels = Predictions.kept(which, results, _folder(when))
        if kernels is not None:
            found, experiment = errors(kernels.times()), SETS[which].experiment
            record = Record.read(_folder(when) / f"{which}.json")
            rows.append(
                (
                    f"{experiment}, {when}",
                    in_words(record, results[experiment]),
                    str(len(found)),
                    str(sum(one < 0 for one in found)),
                    signed(mean(found)),
                    percent(mean([*map(abs, found)])),
                    f"{mean_factor(found):.2f}",
                    signed(max(found, key=abs)),
                )
            )
    head = ("kernels", "too fast", "mean error", "mean absolute error", "factor", "largest")
    return table(("set, prediction", "before", *head), rows, texts=2)


def later(which: str, results: Results) -> str:
    """The section of a set in `LATER`; nothing if it isn't measured and predicted."""
    kernels, first = (Predictions.kept(which, results, _folder(when)) for when in (NOW, FIRST))
    if kernels is None:
        return ""
    return render(
        "later_set",
        **LATER[which],
        kernels=kernels,
        first=first,
        times_and_counts=_times_and_counts(kernels),
        wrong=wrong(kernels),
    )


def _times_and_counts(kernels: Predictions) -> str:
    """A line for each kernel of a set."""
    launches = kernels.launches()

    def off(title: str) -> Callable[[Row], str]:
        def shown(row: Row) -> str:
            own = [one[title] for one in launches if same(row, one)]
            known = [one for one in own if isinstance(one, float)]
            return bold(mean(known)) if known else ""

        return shown

    columns: Columns = {
        **{"kernel": "kernel", "data": "data"},
        **{"measured ms": in_short("measured"), "predicted": in_short("predicted")},
        "ratio": lambda row: ratio([row]).strip("*"),
        **{title: off(title) for title in TITLES},
    }
    return of_rows(kernels.times(), columns, texts=2)
