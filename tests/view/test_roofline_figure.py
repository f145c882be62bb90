"""The roofline of a run on `mm.Cached`: its bars are what the counters say."""

from dataclasses import replace

import numpy as np
import pytest

import mmsim as mm
from mmsim.results.roofline import LATENCY, SHARED, roofline, under_way
from mmsim.view.figures.files import alt_text

CARD = mm.Cached(
    4, 8, 200, 3, sectors=2, tag_time=7, sector_time=3, memory_time=5, fill_time=9, row_time=20,
    miss_latency=100, capacity=512, ways=2, halves=2, cross_time=2, channels=2, banks=2, row=4,
    under_way=4, resident=64, page=64, pages=2, page_time=11,
)  # fmt: skip
N = 1024
A = np.arange(N)
SCATTERED = np.random.RandomState(0).permutation(N)
HOW = {"threads": N, "block_size": 32, "schedule": "asynchronous"}


@mm.program
def scatter(T, a, b, d):
    j = d[T.id]
    b[j] = a[T.id]


@mm.program
def copy(T, a, b):
    b[T.id] = a[T.id]


@mm.program
def conflicts(T, a, b):
    s = mm.shared(8 * T.block_size)
    for _ in range(100):
        s[8 * T.index] += 1
    b[T.id] = a[T.id] + s[8 * T.index]


@mm.program
def many_lines(T, a):
    a[T.id]
    a[2 * T.id]
    a[3 * T.id]
    a[4 * T.id]
    a[5 * T.id]
    a[6 * T.id]
    a[7 * T.id]
    a[8 * T.id]


@mm.program
def counted(T, a):
    mm.atomic.add(a, T.id // 8, 1)


@mm.program
def histogram(T, a, d):
    mm.atomic.add(a, d[T.id], 1)


@pytest.mark.parametrize(
    ("numbers", "binds", "time"),
    [
        ({"port_time": 20}, "ports", 512 * 20 // 4),
        ({"wire_time": 20}, "wires", 512 * 20 // 4),
        ({"slices": 2, "atomic_time": 9}, "slices", 5 * 64 * 9),
    ],
)
def test_of_what_there_are_several_the_busiest_one_binds(numbers, binds, time):
    """Of 64 warps each makes 8 atomics on a word of its own; on 4 DMMs.

    Of the 8 lines of 8 words, 5 are in one of the 2 slices.
    """
    machine = mm.Cached(4, 8, 20, sectors=4, **numbers)
    run = machine.run(counted, np.zeros(64, int), **{**HOW, "threads": 512})
    found = roofline(run)
    times = {bound.resource: bound.time for bound in found.bounds}
    assert times == {"tags": 512, binds: time, LATENCY: 20}
    assert found.binds == binds == run.profile().lines[-1].bound
    assert run.time >= time


COUNTED = (
    "tags", "sectors", "crossings", "memory_reads", "memory_writes", "fills", "activations",
    "translations",
)  # fmt: skip


def scattered(machine=CARD, **options):
    return machine.run(scatter, A, np.zeros(N, int), SCATTERED, **{**HOW, **options})


def bars(axes):
    """The sum of each bar's parts in percent, and what is written next to it, by its name."""
    widths = np.array([[part.get_width() for part in parts] for parts in axes.containers])
    names = [text.get_text() for text in axes.get_yticklabels()]
    written = [text.get_text() for text in axes.texts]
    return {
        name: (width, text)
        for name, width, text in zip(names, widths.sum(axis=0), written, strict=True)
    }


@pytest.mark.parametrize("schedule", ["synchronous", "asynchronous"])
def test_bars_are_the_counters_times_the_rates(schedule):
    run = scattered(schedule=schedule)
    total = {name: sum(getattr(row, name) for row in run.cache) for name in COUNTED}
    expected = {
        "tags": 7 * total["tags"] + 9 * total["fills"],
        "sectors": 3 * total["sectors"],
        "crossings": 2 * total["crossings"],
        "memory": 5 * (total["memory_reads"] + total["memory_writes"]),
        "rows": 20 * total["activations"],
        "pages": 11 * total["translations"],
        LATENCY: run.requests * 200 / under_way(run),
    }
    drawn = bars(mm.figures.roofline(run))
    assert drawn.keys() == expected.keys()
    for name, time in expected.items():
        assert drawn[name][0] == pytest.approx(100 * time / run.time)
        assert time <= run.time


def test_what_binds_is_marked():
    """Each resource in turn is made slow; where none is, the latency binds."""
    for name, rate in (
        *(("tags", "tag_time"), ("sectors", "sector_time"), ("crossings", "cross_time")),
        *(("memory", "memory_time"), ("tags", "fill_time"), ("rows", "row_time")),
        *(("pages", "page_time"), (LATENCY, "global_latency")),
    ):
        run = scattered(replace(CARD, **{rate: 10_000}))
        axes = mm.figures.roofline(run)
        marked = [name for name, (_, text) in bars(axes).items() if text.endswith("binds")]
        assert marked == [name]
        assert f"{name} binds" in alt_text(axes.figure)
        assert {line.bound for line in run.profile().lines} <= {"", name}


@pytest.mark.parametrize("engine", ["events", "array"])
def test_the_slice_of_a_hot_word_has_its_whole_bar(engine):
    """All atomics are on one word: one of 64 slices serves them all, and takes nearly the run."""
    machine = replace(CARD, slices=64, atomic_time=30)
    how = {**HOW, "engine": engine, "trace": False}
    run = machine.run(histogram, np.zeros(256, int), np.zeros(N, int), **how)
    axes = mm.figures.roofline(run)
    width, text = bars(axes)["slices"]
    assert width == pytest.approx(100 * N * 30 / run.time)
    assert text == "98%, binds"
    assert "slices binds" in alt_text(axes.figure)
    spread = machine.run(histogram, np.zeros(256, int), np.arange(N) % 256, **how)
    assert not bars(mm.figures.roofline(spread))["slices"][1].endswith("binds")


def test_resources_without_a_time_are_left_out():
    machine = mm.Cached(2, 8, 50, sectors=2, memory_time=2)
    assert list(bars(mm.figures.roofline(scattered(machine)))) == ["tags", "memory", LATENCY]


def test_shared_memory_has_a_bar_where_it_is_accessed():
    run = CARD.run(conflicts, A, np.zeros(N, int), **HOW)
    found = roofline(run)
    (shared,) = (bound for bound in found.bounds if bound.resource == SHARED)
    assert 4 * shared.time == sum(row.stages for row in run.accesses if row.space == "shared")
    assert SHARED in bars(mm.figures.roofline(run))


def test_no_more_requests_are_under_way_than_there_is_room_for():
    """Four DMMs hold two blocks of four warps each, and each warp has four requests."""
    assert under_way(scattered()) == 4 * 2 * 4 * 4
    assert under_way(scattered(threads=64)) == 2 * 4 * 4  # there are two blocks
    assert under_way(scattered(schedule="synchronous")) == N // 8


def test_lines_have_parts_and_the_legend_says_what_binds_each():
    both = mm.total([scattered(), CARD.run(copy, A, np.zeros(N, int), **HOW)])
    axes = mm.figures.roofline(both)
    legend = [text.get_text() for text in axes.get_legend().get_texts()]
    assert len(axes.containers) == len(legend) == 3
    assert legend[1].split(": ")[1].startswith("b[j] = a[T.id] (")
    assert LATENCY not in bars(axes)  # launches may have different numbers of threads
    run = CARD.run(many_lines, np.zeros(8 * N), **HOW)
    legend = mm.figures.roofline(run).get_legend().get_texts()
    assert len(legend) == 7
    assert legend[-1].get_text() == "the other 2 lines"


def test_other_runs_are_refused():
    with pytest.raises(mm.MMSimError, match=r"run it on mm.Cached, or draw lines\(run\)"):
        mm.figures.roofline(scattered(mm.HMM(4, 8, 20)))
