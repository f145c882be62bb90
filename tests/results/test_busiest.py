"""The busiest port, wire and slice: what binds where one of many is occupied all the time."""

import json
from dataclasses import replace

import numpy as np
import pytest

import mmsim as mm
from mmsim.engines.tally import at_bottlenecks
from mmsim.errors import FormatError
from mmsim.model.cache import COUNTS, counters
from mmsim.results.cache import BUSIEST, OF_RUN
from mmsim.results.roofline import roofline
from tests.kit.runs.paths import both_engines, both_schedules

SLICED = mm.Cached(4, 8, 20, sectors=4, slices=8, atomic_time=2)
WORDS = np.zeros(512, int)
HOW = {"threads": 64, "block_size": 16}


@mm.program
def counted(T, a, stride, first):
    mm.atomic.add(a, T.id * stride + first, 1)


@mm.program
def two_words(T, a):
    mm.atomic.add(a, 0, 1)
    if T.id < 32:
        mm.atomic.add(a, 8, 1)


@mm.program
def written(T, a, b):
    b[T.id * 4] = a[T.id]


@mm.program
def read_often(T, a):
    for k in range(16):
        a[k * T.count + T.id]


def bounds(run):
    """The resources that bind each line and the run, and the bound on its time by each resource."""
    found = roofline(run)
    lines = [line.bound for line in run.profile().lines if line.bound]
    return lines, found.binds, {bound.resource: bound.time for bound in found.bounds}


@both_engines
@both_schedules
def test_slices_bind_where_all_atomics_are_on_one_word(engine, schedule):
    """One of 8 slices serves 64 sectors; an atomic of 8 threads on a word makes 8 tag requests."""
    how = {**HOW, "engine": engine, "schedule": schedule, "trace": False}
    run = SLICED.run(counted, WORDS, 0, 0, **how)
    lines, binds, times = bounds(run)
    assert (lines, binds) == (["slices"], "slices")
    assert (times["tags"], times["slices"]) == (64, 64 * 2)
    assert run.time == 64 * 2 + 19


@both_engines
@both_schedules
def test_slices_do_not_bind_where_atomics_are_spread(engine, schedule):
    """Of 64 lines, 9 are in the fullest slice, which takes less than 64 tag requests."""
    how = {**HOW, "engine": engine, "schedule": schedule, "trace": False}
    lines, binds, times = bounds(SLICED.run(counted, WORDS, 8, 0, **how))
    assert (lines, binds) == (["tags"], "tags")
    assert (times["tags"], times["slices"]) == (64, 9 * 2)


@both_engines
@pytest.mark.parametrize(("rate", "binds"), [("port_time", "ports"), ("wire_time", "wires")])
def test_one_block_alone_is_bound_by_its_own_dmm(engine, rate, binds):
    """Two warps of 16 reads each, all of the DMM of their block; the other three have nothing."""
    machine = mm.Cached(4, 8, 20, under_way=4, **{rate: 20})
    how = {"threads": 16, "schedule": "asynchronous", "engine": engine, "trace": False}
    run = machine.run(read_often, np.zeros(256, int), **how)
    lines, bound, times = bounds(run)
    assert (lines, bound) == ([binds], binds)
    assert times[binds] == 2 * 16 * 20 == run.time - 19


@both_engines
def test_each_line_and_the_run_have_a_busiest_slice(engine):
    """Words 0 and 8 lie in different slices: the second line has nothing in the run's busiest."""
    run = SLICED.run(two_words, WORDS, **HOW, engine=engine, schedule="asynchronous", trace=False)
    found = [(row.busiest_slice, row.busiest_slice_of_run) for row in run.cache]
    assert found == [(64, 64), (32, 0)]
    assert bounds(run)[0] == ["slices", "slices"]
    assert bounds(run)[2]["slices"] == 64 * 2


@both_engines
@both_schedules
def test_the_run_is_not_bound_by_what_its_lines_occupy_apart(engine, schedule):
    """Words 0 and 8 keep their slices busy for 128 and 64: neither is half of the run."""
    how = {**HOW, "engine": engine, "schedule": schedule, "trace": False}
    run = replace(SLICED, global_latency=80).run(two_words, WORDS, **how)
    assert 2 * (128 + 64) > run.time > 2 * 128
    assert bounds(run)[:2] == (["latency", "latency"], "latency")


@both_engines
def test_stages_pass_ports_and_sectors_wires_and_only_atomics_slices(engine):
    """Block 0 has two warps, block 1 one: reads of 4 sectors in 1 stage, writes of 8 in 4."""
    machine = replace(SLICED, port_time=1, wire_time=1)
    how = {"threads": 24, "block_size": 16, "schedule": "asynchronous", "engine": engine}
    run = machine.run(written, WORDS, np.zeros(512, int), **how, trace=False)
    found = {row.kind: [getattr(row, name) for name in BUSIEST] for row in run.cache}
    assert found == {"read": [2, 8, 0], "write": [8, 16, 0]}


def test_each_launch_has_a_busiest_slice_of_its_own():
    """Of three launches on words of three slices, each is bound by one: so are all together."""
    runs = [SLICED.run(counted, WORDS, 0, word, **HOW) for word in (0, 8, 16)]
    both = mm.total(runs)
    (row,) = both.cache
    assert (row.sectors, row.busiest_slice, row.busiest_slice_of_run) == (192, 192, 192)
    assert bounds(both) == (["slices"], "slices", {"tags": 3 * 64, "slices": 192 * 2})


def test_a_line_counts_all_of_its_accesses_by_their_times():
    """Line 1 occupies port 0 for 10 by reads, port 1 for 2 by reads and 12 by writes.

    Line 2 occupies port 0 for 18: so does the run longest. Its atomics are in slice 1.
    """
    machine = mm.Cached(
        2, 8, 20, port_time=2, write_port_time=3, write_wire_time=0, slices=2, atomic_time=5
    )
    others = [0] * COUNTS
    counts = np.array(
        [
            [*others, 0, 0, 5, 7, 1, 7],
            [*others, 0, 0, 0, 7, 4, 7],
            [*others, 0, 0, 9, 7, 0, 7],
            [*others, 2, 6, 0, 7, 0, 7],
        ]
    )
    found = at_bottlenecks(machine.cache, counts, [1, 1, 2, 2], ["read", "write", "read", "atomic"])
    assert found.tolist() == [
        [1, 0, 0, 5, 0, 0],
        [4, 0, 0, 0, 0, 0],
        [9, 0, 0, 9, 0, 0],
        [0, 0, 6, 0, 0, 6],
    ]


@pytest.mark.parametrize(
    "rate",
    [
        *("port_time", "wire_time", "write_port_time", "write_wire_time", "atomic_time"),
        *("float_time", "line_time"),
    ],
)
def test_nothing_more_is_counted_unless_one_of_them_takes_time(rate):
    assert counters(mm.Cached(5, 8, 20, slices=3).cache, 4) == COUNTS
    assert counters(mm.Cached(5, 8, 20, slices=3, **{rate: 1}).cache, 4) == COUNTS + 3 + 2 * 4


def test_what_takes_no_time_is_not_counted():
    (row,) = mm.Cached(4, 8, 20, slices=8).run(counted, WORDS, 0, 0, **HOW).cache
    assert [getattr(row, name) for name in (*BUSIEST, *OF_RUN)] == [0] * 6
    (row,) = SLICED.run(counted, WORDS, 0, 0, **HOW).cache
    assert [getattr(row, name) for name in (*BUSIEST, *OF_RUN)] == [0, 0, 64] * 2


@mm.program
def same_line(T, a, b):
    b[T.id] = a[T.id % 4]


@mm.program
def mixed(T, a, b):
    mm.atomic.add(a, T.id * 0, 1)
    mm.atomic.exch(a, T.id * 0, 1)
    mm.atomic.add(b, T.id * 0, 1)


@both_engines
@both_schedules
def test_slices_bind_where_all_warps_read_one_line(engine, schedule):
    """16 reads of a line, each of 30; the writes occupy no slice."""
    machine = replace(SLICED, line_time=30)
    how = {**HOW, "engine": engine, "schedule": schedule, "trace": False}
    run = machine.run(same_line, WORDS, np.zeros(64, int), **how)
    found = {row.kind: (row.sectors, row.busiest_slice, row.busiest_slice_of_run)
             for row in run.cache}  # fmt: skip
    assert found["read"][1:] == (8, 8)
    assert found["write"][1:] == (0, 0)
    assert bounds(run)[:2] == (["slices"], "slices")
    assert bounds(run)[2]["slices"] == 8 * 30
    assert mm.Run.from_json(run.to_json()) == run


@both_engines
@both_schedules
def test_atomics_on_floats_count_as_others_of_the_same_time(engine, schedule):
    """Each of 3 accesses asks for a sector 64 times; of floats each takes 5, but the first one 2.

    That is as long as 158.5 others.
    """
    machine = replace(SLICED, float_time=5)
    how = {**HOW, "engine": engine, "schedule": schedule, "trace": False}
    run = machine.run(mixed, np.zeros(1, np.float32), np.zeros(1, np.int32), **how)
    assert [row.busiest_slice for row in run.cache] == [158, 64, 64]
    times = [bound.time for bound in roofline(run).bounds if bound.resource == "slices"]
    assert times == [2 * (158 + 64)]  # a and b lie in different slices
    assert mm.Run.from_json(run.to_json()) == run


@both_engines
@both_schedules
def test_atomics_on_floats_bind_if_others_take_no_time(engine, schedule):
    """Each access asks for a sector 64 times; two of them take no time, one takes 63 times 5."""
    machine = replace(SLICED, float_time=5, atomic_time=0)
    how = {**HOW, "engine": engine, "schedule": schedule, "trace": False}
    run = machine.run(mixed, np.zeros(1, np.float32), np.zeros(1, np.int32), **how)
    assert [row.busiest_slice for row in run.cache] == [63, 0, 0]
    assert bounds(run)[0][0] == bounds(run)[1] == "slices"
    assert bounds(run)[2]["slices"] == 63 * 5
    assert mm.Run.from_json(run.to_json()) == run


@pytest.mark.parametrize("name", [*BUSIEST, *OF_RUN])
def test_a_file_with_more_on_the_busiest_than_there_is_is_refused(name):
    run = SLICED.run(counted, WORDS, 0, 0, **HOW)
    assert mm.Run.from_json(run.to_json()) == run
    document = json.loads(run.to_json())
    (row,) = document["value"]["cache"]
    row[name] = max(row["stages"], row["sectors"]) + 1
    with pytest.raises(FormatError, match=f"has {row[name]} on the {name.replace('_', ' ')}"):
        mm.Run.from_json(json.dumps(document))
    del row[name]
    with pytest.raises(FormatError, match=name):
        mm.Run.from_json(json.dumps(document))


def test_a_table_has_a_column_for_what_takes_time():
    shown = repr(SLICED.run(counted, WORDS, 0, 0, **HOW).cache)
    assert "busiest slice" in shown
    assert "busiest port" not in shown
    assert "of run" not in shown
