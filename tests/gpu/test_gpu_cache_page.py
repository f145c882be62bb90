"""The page's sections about the cache, the memory and further kernels, from records as they are."""

from dataclasses import replace

import pytest

from benchmarks.laboratory import kernel_sets
from benchmarks.laboratory.cache import SHOWN, kernels
from benchmarks.laboratory.cache import section as cache
from benchmarks.laboratory.kernel_sets import later
from benchmarks.laboratory.page import page
from benchmarks.laboratory.predictions import COUNTED as PREDICTED
from mmsim.gpu.cache_stage import METRICS
from mmsim.gpu.record import Record
from mmsim_algorithms.gpu.kept import Results
from tests.kit.views.markdown import cells

POINT = {"accesses": 1000, "times": "3 and 15", "low": 6.0, "high": 8.0, "few ms": 1, "many ms": 2}
ROWS = (
    {
        **{"number": "read hits", "word bytes": 4, "stride": 32, "ps": 7.125, **POINT},
        **{"counted": 2000, **dict.fromkeys(METRICS, 3000), "dram__sectors_read.sum": 9},
        "dram__sectors_write.sum": None,
    },
    {"number": "hit latency", "MiB": 7.5, "ps": 131000.0, **POINT},
    {"number": "halves", "multiprocessor": 4, "first, 5%": 212, "second, 5%": 201},
    {"number": "halves of blocks", "halves": "0001100"},
)
CACHE = Record("cache", {"cache bytes": 60 * 2**20}, ROWS)
TIMES = Record(
    "KERNELS",
    {},
    (
        {"kernel": "histogram", "data": "Zipf", "launches": 2, "measured": 0.25, "predicted": None},
        {"kernel": "gather", "data": "Zipf", "launches": 1, "measured": 1.5, "predicted": 2.0},
    ),
)
COUNTED = Record(
    "kernels-counters",
    {},
    tuple(
        {
            "kernel": "histogram",
            "data": "Zipf",
            "step": step,
            **dict.fromkeys(METRICS, 1_500_000),
        }
        for step in (0, 1)
    ),
)


def test_where_nothing_is_kept_nothing_is_said():
    assert cache(Results({})) == kernels(Results({})) == ""


def test_points_have_their_time_and_their_counts_for_each_access():
    text = cache(Results({"cache": CACHE}))
    assert "has 60 MiB" in text
    assert cells(text, "read hits") == [
        *("read hits", "word bytes 4, stride 32", "7.12", "1.50", "1.50", "1.50", "0", "")
    ]
    assert cells(text, "hit latency") == ["hit latency", "MiB 7.5", "131000", *5 * [""]]
    assert "the first 3 are in one half, the next 2 and the next 2 in the other" in " ".join(
        text.split()
    )
    assert cells(text, "multiprocessor") == ["multiprocessor", "first, 5%", "second, 5%"]
    assert cells(text, "4") == ["4", "212", "201"]


def test_kernels_have_the_counts_of_all_their_launches():
    text = kernels(Results({"KERNELS": TIMES, "kernels-counters": COUNTED}))
    assert cells(text, "histogram") == [
        "histogram",
        "Zipf",
        "2",
        "0.250",
        *len(SHOWN) * ["3.00"],
    ]
    assert cells(text, "gather") == ["gather", "Zipf", "1", "1.50", *len(SHOWN) * [""]]
    uncounted = kernels(Results({"KERNELS": TIMES}))
    assert cells(uncounted, "histogram")[4:] == len(SHOWN) * [""]


LATER = [("unseen", "UNSEEN"), ("third", "THIRD")]


def in_set(record, which, experiment):
    """The same rows, of another set."""
    name = record.experiment.replace("KERNELS", experiment).replace("kernels", which)
    return replace(record, experiment=name)


@pytest.mark.parametrize(("names", "words"), [*zip(LATER, ["A second", "A third"], strict=True)])
def test_a_later_set_has_a_table_of_its_own(names, words):
    first = {"KERNELS": TIMES, "kernels-counters": COUNTED}
    alone = kernels(Results(first))
    slower = replace(TIMES, rows=tuple({**row, "measured": 7.5} for row in TIMES.rows))
    further = [in_set(one, *names) for one in (slower, COUNTED)]
    both = kernels(Results({**first, **{one.experiment: one for one in further}}))
    assert both.startswith(alone)
    assert f"{words} set" in both
    assert f"{words} set" not in alone
    own = both.removeprefix(alone)
    counted = len(SHOWN) * ["3.00"]
    assert cells(own, "histogram") == ["histogram", "Zipf", "2", "7.50", *counted]


@pytest.mark.parametrize(("which", "experiment"), LATER)
def test_what_is_predicted_of_a_later_set_has_a_section(which, experiment, tmp_path, monkeypatch):
    about = {"kernel": "gather", "data": "Zipf"}
    counts = {one.field: 1_800_000 * len(one.metrics) for one in PREDICTED}
    rows = (
        {"what": "time", **about, "predicted": 1.2, "bound": "tags", "seconds": 3},
        {"what": "counts", **about, "step": 0, "program": "gather", **counts},
    )
    counters = f"{which}-counters"
    counted = Record(counters, {}, ({**about, "step": 0, **dict.fromkeys(METRICS, 1_500_000)},))
    results = Results({experiment: in_set(TIMES, which, experiment), counters: counted})
    monkeypatch.setattr(kernel_sets, "KEPT", tmp_path)
    assert later(which, results) == ""
    (tmp_path / f"{which}.json").write_text(Record(f"{which}-cached", {}, rows).to_json())
    text = later(which, results)
    assert text.startswith(f"### {kernel_sets.LATER[which]['title']}\n")
    assert "This is their first prediction." in text
    said = "Mean absolute error 20% (a factor of 1.25), mean error -20%, the largest -20%"
    assert f"{said}, 0 over 40%" in " ".join(text.split())
    off = len(PREDICTED) * ["**+20%**"]
    shown, reasons = text.split("1 times are off")
    assert cells(shown, "gather") == ["gather", "Zipf", "1.50", "1.20", "0.80", *off]
    assert "| gather | Zipf | -20% | tags | the rate of tags (L1 sectors +20%" in reasons
    assert "histogram" not in text
    assert later(which, Results({counters: counted})) == ""
    (tmp_path / "first").mkdir()
    before = Record(f"{which}-cached", {}, ({**rows[0], "predicted": 1.35}, rows[1]))
    (tmp_path / "first" / f"{which}.json").write_text(before.to_json())
    again = " ".join(later(which, results).split())
    assert "This is their first prediction." not in again
    assert "This is not the first prediction. When that one was made, the rules" in again
    assert "It had a mean absolute error of 10.0% (a factor of 1.11), mean error -10.0%" in again
    assert "(on average, more precisely, 10.00%)" in again
    uncounted = later(which, Results({experiment: results[experiment]}))
    uncounted = uncounted.split("1 times are off")[0]
    assert cells(uncounted, "gather")[2:] == ["1.50", "1.20", "0.80", *len(PREDICTED) * [""]]


def test_both_stand_on_the_page_where_they_are_kept():
    kept = Results.read()
    text = page(kept)
    for part in (cache(kept), kernels(kept)):
        assert part in text
        lines = [line for line in part.splitlines() if line.startswith("|")]
        assert all(line.count("|") in (9, 10, 17) for line in lines)
