"""A conflict rule and a machine that mmsim doesn't know, held against the reference."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mmsim as mm
from mmsim.engines.array import interpreted
from mmsim.engines.array.fused import tiering
from mmsim.errors import FormatError, LaunchError
from mmsim.gpu.words import CardDMM, CardHMM
from mmsim.model.conflicts import Banks, Groups
from mmsim.model.machines import Unit
from mmsim.results.chrome import events
from mmsim.view.player.data import run_data
from tests.kit.generators.draws import draws
from tests.kit.generators.race_free_programs import orderly_cases
from tests.kit.oracle.own_machines import OwnMachine, Sectors
from tests.kit.oracle.reference import RefHMM, RefOwn
from tests.kit.runs.both import agree_with_the_reference, agree_without_a_race
from tests.kit.runs.paths import SCHEDULES, agrees, both_schedules, outcome

WIDTH = 16
UNITS = st.one_of(
    st.tuples(st.just("bank"), st.sampled_from([2, 4, 8, WIDTH]), st.integers(1, 5)),
    st.tuples(st.just("group"), st.sampled_from([4, WIDTH]), st.integers(1, 5)),
    st.tuples(st.just("sector"), st.just(8), st.integers(1, 5)),
    st.tuples(
        st.sampled_from(["card bank", "card group", "card byte bank"]),
        st.just(WIDTH),
        st.integers(1, 5),
    ),
)


@st.composite
def own_cases(draw):
    """Programs without a race on machines of one's own."""
    case = draw(orderly_cases(40, WIDTH).filter(lambda one: type(one.machine_spec) is RefHMM))
    shared = tuple(draw(st.lists(UNITS, min_size=1, max_size=3)))
    return replace(case, machine_spec=RefOwn(WIDTH, draw(UNITS), shared))


@both_schedules
@settings(max_examples=draws(10))
@given(case=own_cases())
def test_both_engines_agree_with_the_reference(case, schedule):
    agree_with_the_reference(case, schedule)
    agree_without_a_race(case, schedule)


@mm.program
def through_shared(T, a, b):
    s = mm.shared(32)
    s[2 * T.index] = a[T.id]
    T.barrier()
    b[T.id] = s[2 * T.index] + a[4 * T.id % a.size]


MACHINE = OwnMachine(16, ("sector", 8, 7), (("bank", 16, 2), ("bank", 4, 3)))


def launched(**options):
    a = np.arange(64)
    how = {"threads": 64, "block_size": 16, "schedule": "asynchronous", **options}
    return MACHINE.run(through_shared, a, np.zeros(64, int), **how)


def test_rows_say_the_right_names_and_numbers():
    for options in ({}, {"engine": "events"}):
        run = launched(**options)
        found = {
            (row.array, row.kind, row.line - run.accesses[0].line): (
                row.space,
                row.requests,
                row.stages,
                row.access_class,
            )
            for row in run.accesses
        }
        assert found == {
            ("a", "read", 0): ("global", 4, 8, "casual"),
            ("s", "write", 0): ("shared", 4, 2 * 2 + 2 * 8, "casual"),
            ("s", "read", 2): ("shared", 4, 2 * 2 + 2 * 8, "casual"),
            ("a", "read", 2): ("global", 4, 4 * 8, "casual"),
            ("b", "write", 2): ("global", 4, 8, "casual"),
        }


@mm.program
def within_sectors(T, a, b):
    b[T.id] = a[T.id // 2]


def test_the_least_has_the_rules_own_name():
    machine = OwnMachine(8, ("sector", 8, 3), (("bank", 8, 1),))
    for way in ("array", "events"):
        run = machine.run(within_sectors, np.arange(16), np.zeros(16, int), threads=16, engine=way)
        assert {row.access_class for row in run.accesses} == {"one sector"}
        assert {row.access_class for row in run.rounds} == {"one sector"}


def test_large_launches_are_interpreted_and_agree():
    n = 1 << 13
    a = np.random.RandomState(0).permutation(n)
    how = {"threads": n, "block_size": 16}
    for schedule in SCHEDULES:
        runs = [
            MACHINE.run(through_shared, a, np.zeros(n, int), engine=way, schedule=schedule, **how)
            for way in ("array", "events")
        ]
        assert outcome(runs[0]) == outcome(runs[1])


@mm.program
def of_many_sizes(T, double, single, byte, p):
    s = mm.shared(64)
    t = mm.shared(64, dtype=np.int32)
    s[(5 * T.index) % T.block_size] = double[p[T.id]]
    t[T.index] = single[T.id]
    T.barrier()
    if T.lane % 5 != 1:
        byte[T.id] = s[T.index] > t[0]
        double[T.id] = s[T.block_size - 1 - T.index] + s[0]
    x = byte[(3 * T.id) % T.count]
    if x:
        single[T.id] = t[(7 * T.index) % T.block_size]


@both_schedules
@pytest.mark.parametrize("block_size", [64, 40])
@pytest.mark.parametrize("path", ["plain", "interpreted"])
def test_words_of_many_sizes_on_a_card(schedule, block_size, path, monkeypatch):
    monkeypatch.setattr(interpreted, "MANY", 1)  # so that the compiled counter counts them
    n = 1000
    rng = np.random.RandomState(0)
    args = rng.rand(n), rng.randint(0, 2, n, np.int32), np.zeros(n, bool), rng.permutation(n)
    how = {"threads": n, "block_size": block_size, "schedules": [schedule]}
    run = agrees(path, of_many_sizes, *args, machine=CardHMM(3, 32, 9, 2), **how)
    assert {row.access_class for row in run.accesses} >= {"casual", "conflict-free"}


@mm.program
def doubled(T, a, b):
    if T.lane < 10:
        b[T.id] = a[2 * T.id]


def test_what_a_card_makes_of_doubles_can_be_looked_at():
    """Halves of 4 lanes on 4 banks: lanes 0 to 3, 4 to 7; of the second warp 8, 9, no more."""
    a = np.arange(32.0)
    for way in ("array", "events"):
        run = CardDMM(8, 3).run(doubled, a, a.copy(), threads=16, engine=way)
        counts = [(r.requests, r.stages, r.least, r.access_class) for r in run.accesses]
        assert counts == [(2, 8, 4, "casual"), (2, 4, 4, "conflict-free")]
        assert [(r.stages, r.least, r.wasted) for r in run.rounds] == [(8, 4, 4), (4, 4, 0)]
        assert mm.Run.from_json(run.to_json()) == run
    first = run.trace.dispatches[0]
    assert first.places == (0, 2, 0, 2, 0, 2, 0, 2)
    assert first.stages == (0, 0, 1, 1, 2, 2, 3, 3)
    assert first.phases == (0, 0, 0, 0, 1, 1, 1, 1)
    assert [one.phase_count for one in run.trace.dispatches] == [2, 2, 2, 2]
    assert run.profile().wasted == 4
    assert str(run.profile()).splitlines()[1].split()[1:5] == [
        "requests",
        "least",
        "stages",
        "wasted",
    ]
    axes = mm.figures.access(run, 0)
    assert [label.get_text() for label in axes.get_yticklabels()][-4:] == [
        "W(0), phase 1, stage 1",
        "W(0), phase 1, stage 2",
        "W(0), phase 2, stage 3",
        "W(0), phase 2, stage 4",
    ]
    assert [label.get_text() for label in mm.figures.access(run, 0).get_xticklabels()] == [
        "B[0]",
        "B[1]",
        "B[2]",
        "B[3]",
    ]
    data = run_data([run.trace])
    assert data["units"][0]["title"] == "8 banks of 4 bytes"
    assert data["arrays"][0]["table"] == {"columns": [0, 1, 2, 3], "rows": False}
    assert data["dispatches"]["phases"] == [2, 2, 2, 2]
    assert data["lanes"]["phase"] == [0, 0, 0, 0, 1, 1, 1, 1] * 4


def test_phases_are_kept_only_where_the_rule_has_some():
    a = np.arange(32)
    long, short = (
        CardDMM(8, 3).run(doubled, b, b.copy(), threads=16, trace=True)
        for b in (a, a.astype(np.int32))
    )
    for run, words in ((long, True), (short, False)):
        assert mm.Run.from_json(run.to_json()) == run
        assert ("phases" in run_data([run.trace])["dispatches"]) is words
        about = [event.get("args", {}) for event in events(run.trace)]
        data = [one["phases"] for one in about if "phases" in one]
        assert data == ([2] * 8 if words else [])
    assert short.trace.dispatches[0].phase_count == 1
    assert "least" not in str(short.profile()).splitlines()[1]


def test_rounds_of_earlier_files_take_one_stage_a_request_at_best():
    run = mm.DMM(4, 3).run(doubled, np.arange(32.0), np.zeros(32), threads=16)
    document = json.loads(run.to_json())
    for row in document["value"]["rounds"]:
        assert row.pop("least") == row["requests"]
    assert mm.Run.from_json(json.dumps(document)) == run
    document["value"]["rounds"][0]["least"] = 1
    with pytest.raises(FormatError, match="has 4 requests, 8 stages, 1 of them the least"):
        mm.Run.from_json(json.dumps(document))


@mm.program
def along_a_diagonal(T, a):
    s = mm.shared(256)
    s[17 * T.index] = a[T.id]


def test_two_machines_whose_shared_memories_differ_share_no_compiled_program(monkeypatch):
    monkeypatch.setattr(tiering.Tiering, "at_once", lambda self: True)
    n = 1 << 12
    how = {"threads": n, "block_size": 16}
    times = set()
    for rule in ("bank", "group", "bank"):
        machine = OwnMachine(16, ("group", 16, 7), ((rule, 16, 2),))
        fast = machine.run(along_a_diagonal, np.arange(n), **how)
        slow = machine.run(along_a_diagonal, np.arange(n), engine="events", **how)
        assert outcome(fast) == outcome(slow)
        times.add(fast.time)
    assert len(times) == 2


def test_the_trace_the_player_and_the_figures_know_the_rule():
    run = launched(engine="events")
    assert [(unit.name, unit.conflict) for unit in run.trace.units] == [
        ("global", "sector"),
        ("shared[0]", "bank"),
        ("shared[1]", "bank"),
    ]
    first = run.trace.dispatches[0]
    assert first.places == tuple([0] * 8 + [1] * 8)
    assert first.stages == first.places
    assert isinstance(run.trace.conflict("global"), Sectors)
    axes = mm.figures.banks(run, "global")
    assert axes.get_ylabel() == "sector of global"
    assert mm.figures.banks(run, "shared[1]").get_ylim() == (4, 0)
    drawn = mm.figures.access(run, 0)
    assert drawn.get_yticklabels()[0].get_text() == "sector 0"
    assert drawn.get_xticklabels()[1].get_text() == "+1"
    of_dmm_1 = next(n for n, one in enumerate(run.trace.dispatches) if one.unit == "shared[1]")
    drawn = mm.figures.access(run, of_dmm_1)
    assert [label.get_text() for label in drawn.get_xticklabels()] == [
        "B[0]",
        "B[1]",
        "B[2]",
        "B[3]",
    ]
    data = run_data([run.trace])["units"]
    assert [(one["conflict"], one["title"], one["columns"], one["rows"]) for one in data] == [
        ("sector", "sectors", None, False),
        ("bank", "16 banks", list(range(16)), False),
        ("bank", "4 banks", 4 * list(range(4)), False),
    ]
    assert "global unit (sectors, latency 7)" in str(list(events(run.trace)))


@pytest.mark.parametrize("way", ["array", "events"])
def test_a_run_is_written_and_read_again(way):
    run = launched(engine=way)
    again = mm.Run.from_json(run.to_json())
    assert again == run
    assert again.machine == MACHINE


def test_an_unknown_machine_is_refused():
    text = launched().to_json().replace('"OwnMachine"', '"OtherMachine"')
    with pytest.raises(FormatError, match="'OtherMachine'; your own machine has to be defined"):
        mm.Run.from_json(text)


@dataclass(frozen=True)
class SlowDMM(mm.Machine):
    """A DMM each of whose stages takes some time units."""

    width: int
    stage_time: int

    @cached_property
    def memory(self):
        return Unit("memory", Banks(self.width), 3, stage_time=self.stage_time)


def test_a_machine_whose_stages_take_longer_is_not_traced():
    """A pipeline's picture has a stage for each time unit."""

    @mm.program
    def copy(T, a):
        a[T.id] = a[T.id] + 1

    run = SlowDMM(4, 1).run(copy, np.arange(8), threads=8, trace=True)
    assert (run.time, run.trace.dispatches[-1].completion) == (8, 8)
    assert SlowDMM(4, 2).run(copy, np.arange(8), threads=8).time == 12
    with pytest.raises(LaunchError, match="trace=False"):
        SlowDMM(4, 2).run(copy, np.arange(8), threads=8, trace=True)


@dataclass(frozen=True)
class SlowHMM(mm.Machine):
    """An HMM with a time of a stage for each unit."""

    width: int
    stage_times: tuple[int, ...]

    @cached_property
    def memory(self):
        return Unit("global", Groups(self.width), 9, None, "global", self.stage_times[0])

    @cached_property
    def shared(self):
        return tuple(
            Unit(f"shared[{dmm}]", Banks(self.width), 2, dmm, "shared", time)
            for dmm, time in enumerate(self.stage_times[1:])
        )


@pytest.mark.parametrize("schedule", ["synchronous", "asynchronous"])
@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("times", [(1, 1, 3), (1, 3, 1), (2, 1, 1), (2, 3, 3)])
def test_the_stages_of_each_unit_take_their_own_time(schedule, fused, times, monkeypatch):
    monkeypatch.setattr(tiering.Tiering, "at_once", lambda self: fused)
    blocks = 8

    @mm.program
    def turned(T, a, b):
        s = mm.shared(8, int)
        s[T.index] = a[T.id]
        T.barrier()
        b[T.id] = s[7 - T.index] + s[T.index * 2 % 8]

    a = np.arange(8 * blocks)
    launch = {"threads": 8 * blocks, "block_size": 8, "schedule": schedule, "trace": False}
    machine = SlowHMM(4, times)
    assert not machine.pipelined
    array, events = (
        machine.run(turned, a, a.copy(), **launch, engine=engine) for engine in ("array", "events")
    )
    assert array.time == events.time
    plain = SlowHMM(4, (1, 1, 1)).run(turned, a, a.copy(), **launch)
    assert plain.time < array.time
    if schedule == "synchronous":  # blocks of one DMM take turns; of two DMMs the slower one counts
        at_memory = 2 * (2 * blocks * times[0] + 9 - 1)
        assert array.time == at_memory + 4 * blocks * max(times[1:]) + 3 * (2 - 1)
