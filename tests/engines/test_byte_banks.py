"""Machines whose banks have bytes: elements take their own, long ones are served in phases."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

import mmsim as mm
from mmsim.engines.array import interpreted
from mmsim.errors import MachineError
from mmsim.gpu.words import CardHMM
from tests.kit.generators.draws import draws
from tests.kit.generators.race_free_programs import orderly_cases
from tests.kit.oracle.reference import RefHMM, RefOwn
from tests.kit.runs.both import agree_with_the_reference, agree_without_a_race
from tests.kit.runs.paths import agrees, both_schedules, outcome, run_along

WAYS = ("array", "events")
CARD = mm.DMM(32, 5, bank_bytes=4)


@mm.program
def read_rows(T, a, index, out):
    out[T.id] = a[index[T.id]]


def stages(dtype, index, machine=CARD, way="array"):
    """The stages of the read of `a`, and the least that it could take."""
    a, out = np.zeros(4096, dtype), np.zeros(32, dtype)
    where = np.array(index, np.int32)
    run = machine.run(read_rows, a, where, out, threads=len(where), engine=way)
    (row,) = (row for row in run.accesses if row.array == "a")
    return row.stages, row.least


LANE = np.arange(32)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("dtype", "index", "expected"),
    [
        (np.int8, LANE, (1, 1)),
        (np.int8, LANE * 4, (1, 1)),
        (np.int8, LANE * 128, (32, 1)),
        (np.int16, LANE * 2, (1, 1)),
        (np.int16, LANE * 4, (2, 1)),
        (np.float32, LANE * 32, (32, 1)),
        (np.float64, LANE, (2, 2)),
        (np.float64, LANE * 2, (4, 2)),
        (np.float64, LANE // 2, (1, 1)),
        (np.float64, LANE % 2, (1, 1)),
        (np.float64, LANE % 4, (2, 2)),
        (np.complex128, LANE, (4, 4)),
        (np.complex128, LANE // 2 * 8, (16, 2)),
        (np.complex128, LANE * 0, (2, 2)),
        (np.float64, [7], (1, 1)),
        (np.float64, [7, 7, 8], (2, 1)),
    ],
)
def test_reads_take_their_phases(way, dtype, index, expected):
    found = stages(dtype, index, way=way)
    if len(index) == 3:  # lanes 0 and 1 share, lane 2 is alone: one phase, two banks
        expected = (1, 1)
    assert found == expected


GLOBAL = mm.HMM(1, 32, 9, bank_bytes=4)


@pytest.mark.parametrize("path", ["interpreted", "counted", "fused"])
@pytest.mark.parametrize(
    ("dtype", "index", "expected"),
    [
        (np.int8, LANE + 127, (2, 1)),
        (np.float32, LANE + 1, (2, 1)),
        (np.float64, LANE, (2, 2)),
        (np.float64, LANE + 1, (3, 2)),  # by half-warps: 4
        (np.float64, LANE + 15, (3, 2)),
        (np.float64, LANE * 0, (1, 1)),
        (np.float64, LANE // 2 + 8, (2, 1)),
        (np.float64, LANE % 16, (1, 1)),
        (np.float64, LANE % 17, (2, 2)),
        (np.float64, LANE * 16, (32, 2)),
        (np.float64, LANE[:16] + 1, (2, 1)),
        (np.complex128, LANE, (4, 4)),
        (np.complex128, LANE + 1, (5, 4)),
        (np.complex128, LANE % 8, (1, 1)),
        (np.complex128, LANE[::-1] * 4, (16, 4)),
        (np.float64, [7], (1, 1)),
    ],
)
def test_a_request_takes_an_address_group_once_also_for_long_elements(
    path, dtype, index, expected, monkeypatch
):
    """At best it takes enough groups for its distinct elements."""
    if path == "counted":
        monkeypatch.setattr(interpreted, "MANY", 1)  # so that the compiled counter counts them
        path = "interpreted"
    a, out = np.zeros(4096, dtype), np.zeros(32, dtype)
    where = np.array(index, np.int32)
    run = agrees(path, read_rows, a, where, out, threads=len(where), machine=GLOBAL)
    (row,) = (row for row in run.accesses if row.array == "a")
    assert (row.stages, row.least) == expected


@mm.program
def rows_of_longs(T, a, b, c, d):
    b[T.id + 1] = a[T.id]
    c[3]
    mm.atomic.add(d, T.id + 1, 1)
    mm.atomic.add(c, 5, 1)


@pytest.mark.parametrize("path", ["interpreted", "fused"])
def test_rows_of_long_elements_take_each_group_once_but_in_atomics(path):
    """Of two warps: whole groups, groups from the second element on, one element; atomics."""
    args = np.zeros(64, int), *(np.zeros(65, int) for _ in range(3))
    run = agrees(path, rows_of_longs, *args, threads=64, machine=GLOBAL)
    found = {(row.array, row.kind): (row.stages, row.least) for row in run.accesses}
    assert found[("a", "read")] == (4, 4)
    assert found[("b", "write")] == (6, 4)
    assert found[("c", "read")] == (2, 2)
    assert found[("d", "atomic")] == (8, 4)  # by half-warps
    assert found[("c", "atomic")] == (64, 4)


@mm.program
def write_rows(T, a, index):
    a[index[T.id]] = T.id


@pytest.mark.parametrize("way", WAYS)
def test_writes_are_never_paired(way):
    for dtype, expected in ((np.float64, 2), (np.complex128, 4), (np.int8, 1)):
        a = np.zeros(4096, dtype)
        run = CARD.run(write_rows, a, LANE // 2, threads=32, engine=way)
        (row,) = (row for row in run.accesses if row.array == "a")
        assert (row.stages, row.least) == (expected, expected)


@mm.program
def swap(T, a, old):
    old[T.id] = mm.atomic.cas(a, T.id % 4, 0, T.id)


@mm.program
def add(T, a, old):
    old[T.id] = mm.atomic.add(a, T.id % 4, 1)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("program", "dtype", "on_card", "in_papers"),
    [(add, np.int32, 8, 8), (swap, np.int32, 16, 8), (add, np.int64, 8, 8)],
)
def test_atomics_on_a_card(way, program, dtype, on_card, in_papers):
    for machine, expected in ((CARD, on_card), (mm.DMM(32, 5), in_papers)):
        a, old = np.zeros(32, dtype), np.zeros(32, dtype)
        run = machine.run(program, a, old, threads=32, engine=way, trace=way == "events")
        (row,) = (row for row in run.accesses if row.kind == "atomic")
        assert row.stages == expected
        if way == "events":
            assert mm.Run.from_json(run.to_json()) == run
            (one,) = (one for one in run.trace.dispatches if one.kind == "atomic")
            assert run.trace.rule(one).stages(list(one.addresses), LANE) == expected


@mm.program
def many_sizes(T, double, single, byte):
    s = mm.shared(64)
    t = mm.shared(64, dtype=np.int8)
    s[(5 * T.index) % T.block_size] = double[T.id]
    t[T.index] = single[T.id]
    T.barrier()
    byte[T.id] = s[T.index // 2] > t[0]
    single[T.id] = t[(7 * T.index) % T.block_size]


@both_schedules
@pytest.mark.parametrize("path", ["plain", "interpreted"])
def test_engines_agree_on_words_of_many_sizes(schedule, path):
    n = 512
    rng = np.random.RandomState(0)
    args = rng.rand(n), rng.randint(0, 2, n, np.int32), np.zeros(n, bool)
    machine = mm.HMM(3, 32, 9, 2, bank_bytes=4)
    how = {"threads": n, "block_size": 64, "schedule": schedule}
    events = machine.run(many_sizes, *args, **how, engine="events")
    assert mm.Run.from_json(events.to_json()) == events
    if path == "interpreted":
        found = run_along(path, many_sizes, *args, machine=machine, **how)
        assert outcome(found) == outcome(events)
    assert outcome(machine.run(many_sizes, *args, **how)) == outcome(events)


def test_arrays_begin_at_bank_0_of_their_bytes():
    machine = mm.HMM(2, 32, 9, 2, bank_bytes=4)
    args = np.zeros(65), np.zeros(65, np.int32), np.zeros(65, bool)
    how = {"threads": 64, "block_size": 64, "engine": "events"}
    run = machine.run(many_sizes, *args, **how)
    begin = {array.name: array.addresses[0, 0] * array.data.itemsize for array in run.trace.arrays}
    assert begin == {"double": 0, "single": 640, "byte": 1024, "s": 0, "t": 512}
    plain = mm.HMM(2, 32, 9, 2).run(many_sizes, *args, **how)
    begin = {array.name: array.addresses[0, 0] for array in plain.trace.arrays}
    assert begin == {"double": 0, "single": 96, "byte": 192, "s": 0, "t": 64}


def test_layouts_count_elements():
    """A padded tile of doubles: rows of 32, one element longer, are read by columns at best."""

    @mm.program
    def columns(T, a, out):
        out[T.id] = a[T.id, 3]

    out = np.zeros(32)
    for layout, expected in ((mm.layout.Padded(0), 32), (mm.layout.Padded(1), 2)):
        a = mm.place(np.zeros((32, 32)), layout)
        run = CARD.run(columns, a, out, threads=32)
        assert next(row.stages for row in run.accesses if row.array == "a") == expected


@pytest.mark.parametrize("wrong", [3, 0, -4, 32, 4.0, "4", True])
def test_banks_have_a_power_of_two_of_bytes(wrong):
    for make in (lambda: mm.DMM(4, 2, wrong), lambda: mm.HMM(1, 4, 2, bank_bytes=wrong)):
        with pytest.raises(MachineError, match=r"bank_bytes=.*a bank has 1, 2, 4, 8 or 16 bytes"):
            make()


def test_machines_say_what_they_are():
    assert repr(CARD) == "DMM(width=32, latency=5, bank_bytes=4)"
    assert repr(mm.DMM(32, 5)) == "DMM(width=32, latency=5)"
    assert repr(CardHMM(1, 32, 2)).startswith("CardHMM(dmms=1")
    assert mm.DMM(32, 5) != CARD


@both_schedules
@settings(max_examples=draws(10))
@given(case=orderly_cases(40, 8).filter(lambda one: type(one.machine_spec) is RefHMM))
def test_random_programs_take_what_the_reference_says(case, schedule):
    units = ("card group", 8, 3), (("card byte bank", 8, 2),)
    case = replace(case, machine_spec=RefOwn(8, *units))
    agree_with_the_reference(case, schedule)
    agree_without_a_race(case, schedule)


def test_a_trace_has_the_stages_of_a_compare_and_swap_of_some_lanes():
    """Lanes 0 and 6 of 8 bytes are served by halves of 4 lanes, each stage twice."""

    @mm.program
    def swap(T, a):
        if T.lane % 6 == 0:
            mm.atomic.cas(a, T.id, 0.0, 1.0)

    run = mm.DMM(8, 3, bank_bytes=4).run(swap, np.zeros(8), threads=8, trace=True)
    (dispatch,) = run.trace.dispatches
    assert run.stages == dispatch.stage_count == 4
    assert (dispatch.stages, dispatch.phases) == ((1, 3), (0, 1))
    assert mm.Run.from_json(run.to_json()) == run
