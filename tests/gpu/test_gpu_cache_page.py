"""The page's sections about the cache, the memory and further kernels, from records as they are."""

from benchmarks.laboratory.cache import SHOWN, kernels
from benchmarks.laboratory.cache import section as cache
from benchmarks.laboratory.page import page
from mmsim.gpu.record import Record
from mmsim_algorithms.gpu.cache_stage import METRICS
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


def test_both_stand_on_the_page_where_they_are_kept():
    kept = Results.read()
    text = page(kept)
    for part in (cache(kept), kernels(kept)):
        assert part in text
        lines = [line for line in part.splitlines() if line.startswith("|")]
        assert all(line.count("|") in (9, 10, 17) for line in lines)
