"""The page's sections about the sets of kernels, as the machine with a cache predicts them."""

from __future__ import annotations

from pathlib import Path

from mmsim.gpu.record import Record
from mmsim_algorithms.gpu.cached_predictions import KEPT
from mmsim_algorithms.gpu.kept import FOLDER, Results, number
from mmsim_algorithms.gpu.kernel_sets import SETS
from mmsim_algorithms.gpu.markdown import listed, paragraph, percent, short, signed, table
from mmsim_algorithms.gpu.page_wrong import wrong
from mmsim_algorithms.gpu.predicted import (
    TITLES,
    Predictions,
    bold,
    errors,
    mean,
    mean_factor,
    of_rates,
    ratio,
    same,
    summary,
)
from mmsim_algorithms.gpu.predicted_before import in_words

MEANT = "The columns are as above."
FIRST, NOW = "first", "now"
"""A set's first prediction that is kept, and the present one."""
LATER = {
    "unseen": (
        "A second set of kernels",
        "Some are of the same kinds as those of the first set, on other data and of other sizes.",
    ),
    "third": (
        "A third set of kernels",
        "Sparse matrices and stencils have other forms here; the other kinds are new.",
    ),
}
"""Each later set's title of its section, and its kinds."""
SINCE = {
    "unseen": "for the turns of clusters and for pages",
    "third": "for the start of blocks and for the halves of clusters",
}
"""The rules that came after their first prediction."""


def sets(results: Results) -> list[str]:
    """The sections about all sets, the first set last; it must be kept."""
    parts = [
        "### The kernels by this machine\n",
        paragraph(
            """The rules were changed after a look at the first set of kernels, so the other two
            sets say more, and their first predictions most. The rules were changed after these,
            too. A prediction counts as made before the measurement only if a signed file shows it:
            its seal is intact, its date is older, the measurement names it, and the rules, the
            launches and the data have the same digests. The column "before" says what the files
            show. The errors are explained [above](#what-is-compared-and-how)."""
        ),
        _all(results),
        *_later_machine(results),
        paragraph(
            """If the mean error is below zero, the machine is too fast on the whole. In the
            machine, instructions and the start of blocks cost nothing."""
        ),
    ]
    for which in LATER:
        parts += later(which, results)
    return [*parts, *_first_set(results)]


def _later_machine(results: Results) -> list[str]:
    """A sentence on whether the present machine was measured after all sets."""
    made = str(results["cache"].facts["date"])
    known = [one.experiment for one in SETS.values() if one.experiment in results.records]
    if any(str(results[name].facts["date"]) >= made for name in known):
        return []
    return [
        paragraph(
            f"""The predictions of "{NOW}" came after the measurements: the microbenchmarks of the
            present machine are of {made}, later than the times of {listed(known)}."""
        )
    ]


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


def later(which: str, results: Results) -> list[str]:
    """The section of a set in `LATER`; nothing if it isn't measured and predicted."""
    kernels = Predictions.kept(which, results, KEPT)
    if kernels is None:
        return []
    title, kinds = LATER[which]
    first = Predictions.kept(which, results, KEPT / FIRST)
    seen = "This is their first prediction."
    if first is not None:
        seen = f"""This is not the first prediction. When that one was made, the rules
            {SINCE[which]} were missing. It had a {_of(first)} (on average, more precisely,
            {_mean(first)})."""
    return [
        f"### {title}\n",
        paragraph(
            f"""{summary(kernels.times()).capitalize()}. The aim was 20% on average; more precisely
            it is {_mean(kernels)}. {seen} {kinds} The hit rate is predicted
            {of_rates(kernels.hit_rates())}. Next to the times stand the errors of the counts, the
            mean over launches:"""
        ),
        _times_and_counts(kernels),
        wrong(kernels, MEANT),
    ]


def _first_set(results: Results) -> list[str]:
    kernels = Predictions.kept("kernels", results, KEPT)
    first = Predictions.kept("kernels", results, KEPT / FIRST)
    assert kernels is not None
    assert first is not None
    again = Record.read(FOLDER.parent / "h200" / "KERNELS-again.json").rows
    apart = max(
        abs(number(one, "measured") / number(row, "measured") - 1)
        for row, one in zip(results["KERNELS"].rows, again, strict=True)
    )
    return [
        "### The first set of kernels\n",
        paragraph(
            f"""{summary(kernels.times()).capitalize()}. The aim was 20% on average. This isn't the
            first prediction. That one had a {_of(first)}, mostly from the histogram of skewed data
            and the sparse matrix with a power law. These two led to the rules for atomics and for
            arithmetic, but the rules' numbers do not come from them. On another H200 the kernels'
            times differ by at most {percent(apart)}. [The counts
            themselves](metal-counters.md#the-kernels) stand with those of the permutations. The hit
            rate of the second-level cache is predicted {of_rates(kernels.hit_rates())}."""
        ),
        _times_and_counts(kernels),
        wrong(kernels, MEANT),
        paragraph(
            """The machine lacks a rule of the card: several reads of one sector at about the same
            time reach the cache as one. So the card's cache counts fewer sectors than the
            multiprocessors ask for, in the stencil and in both matrix products. In the machine,
            instructions and the start of blocks cost nothing, so the predicted times of regular
            kernels are too short."""
        ),
    ]


def _of(kernels: Predictions) -> str:
    """The summary of a set, after "a"."""
    return summary(kernels.times()).replace("error", "error of", 1)


def _times_and_counts(kernels: Predictions) -> str:
    """A line for each kernel of a set."""
    rows = []
    for row in kernels.times():
        own = [one for one in kernels.launches() if same(row, one)]
        counts = []
        for name in TITLES:
            known = [number(one, name) for one in own if one[name] is not None]
            counts.append(bold(sum(known) / len(known)) if known else "")
        times = [short(number(row, name)) for name in ("measured", "predicted")]
        times.append(ratio([row]).strip("*"))
        rows.append((str(row["kernel"]), str(row["data"]), *times, *counts))
    return table(("kernel", "data", "measured ms", "predicted", "ratio", *TITLES), rows, texts=2)


def _mean(kernels: Predictions) -> str:
    """The mean absolute error of a set, to a hundredth of a percent."""
    return f"{mean([*map(abs, errors(kernels.times()))]):.2%}"
