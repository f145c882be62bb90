"""Saved results that contradict themselves are refused when they are read, with what is wrong.

What is accepted can be used: tests/kit/fuzzing/documents.py shows, draws, exports and steps
through it.
"""

import json
from dataclasses import replace

import numpy as np
import pytest

import mmsim as mm
from mmsim import Run
from mmsim.api.report import Report
from mmsim.errors import FormatError, MMSimError
from mmsim.results import Finding, FoundAccess
from mmsim.results.trace import Arrival, Release
from mmsim.results.variables import Change


@mm.program
def turn(T, a, b):
    s = mm.shared(T.block_size, int)
    r = mm.registers(2, int)
    r[1] = T.id
    s[T.index] = a[T.id]
    T.barrier()
    x = s[T.block_size - 1 - T.index]
    b[T.id] = x


HOW = {"threads": 16, "block_size": 8, "trace": True, "check": True}
ARGUMENTS = (np.arange(16), np.zeros(16, np.int8))
FREE = mm.HMM(2, 4, 3).run(turn, *ARGUMENTS, schedule="asynchronous", **HOW)
STEP = mm.HMM(2, 4, 3).run(turn, *ARGUMENTS, **HOW)
REPORT = mm.HMM(2, 4, 3).check(turn, np.arange(15), ARGUMENTS[1], threads=16, trace=True)
LINE = FREE.trace.dispatches[0].line


def refuse(run, words):
    with pytest.raises(FormatError, match=words):
        type(run).from_json(run.to_json())


def with_record(run, **changes):
    return replace(run, record=replace(run.trace, **changes))


def with_part(run, part, number, changes):
    """A run in whose trace one dispatch, wait, ... has other values."""
    parts = list(getattr(run.trace, part))
    changes = changes(parts[number]) if callable(changes) else changes
    parts[number] = replace(parts[number], **changes)
    return with_record(run, **{part: tuple(parts)})


def test_the_runs_are_accepted_before_they_are_damaged():
    assert Run.from_json(FREE.to_json()) == FREE
    assert Run.from_json(STEP.to_json()) == STEP
    assert Report.from_json(REPORT.to_json()) == REPORT
    whole = mm.total([STEP, STEP])
    assert Run.from_json(whole.to_json()) == whole


# ------------------------------------------------------------ the trace


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"machine": mm.HMM(2, 4, 4)}, "memory units are not those of HMM"),
        ({"machine": mm.HMM(5, 4, 3)}, "memory units are not those of HMM"),
        ({"machine": mm.HMM(2**31 - 1, 4, 4)}, "memory units are not those of HMM"),
        ({"schedule": "sometimes"}, "there is no schedule 'sometimes'"),
        ({"threads": 0}, "threads=0, but it must be at least 1"),
        ({"threads": 10**12, "block_size": 10**12}, "has 2 copies"),
        ({"block_size": 17}, "block_size=17 is larger than threads=16"),
        ({"time": -1}, "it takes -1 time units"),
        ({"time": 2**62}, "it takes 4611686018427387904 time units"),
        ({"time": FREE.time + 1}, f"takes {FREE.time + 1} time units, but all has ended before"),
        ({"time": 3}, "is at no time of the run"),
        ({"dispatches": ()}, "time units, but nothing happens in them"),
        ({"sources": ()}, "the dispatch of warp 0 at 0 is of a line that no source has"),
        ({"arrays": FREE.trace.arrays[:1] * 2}, "two of its arrays have one name"),
        ({"variables": FREE.trace.variables * 2}, "two of its variables have one name"),
        ({"rounds": (0,)}, "it has rounds, which only the synchronous schedule has"),
        ({"arrivals": FREE.trace.arrivals[::-1]}, "its barriers are not in order of time"),
        ({"releases": FREE.trace.releases[::-1]}, "its barriers are not in order of time"),
        ({"waits": FREE.trace.waits[::-1]}, "comes after a later one"),
        ({"changes": FREE.trace.changes[::-1]}, "comes after a later one"),
        ({"dispatches": FREE.trace.dispatches[::-1]}, "comes after a later one"),
    ],
)
def test_a_trace_that_can_not_be(changes, words):
    refuse(with_record(FREE, **changes), words)


@pytest.mark.parametrize(
    ("rounds", "words"),
    [
        ((-1, *STEP.trace.rounds[1:]), "a round begins at no time of the run"),
        (STEP.trace.rounds[::-1], "its rounds are not in order of time"),
        (STEP.trace.rounds[1:], "its trace has other rounds"),
    ],
)
def test_rounds_of_a_trace_that_can_not_be(rounds, words):
    refuse(with_record(STEP, rounds=rounds), words)


def test_a_source_that_begins_nowhere():
    source = replace(FREE.sources[0], first=0)
    refuse(with_record(FREE, sources=(source,)), "the source of 'turn' begins at 0")
    refuse(replace(FREE, sources=(source,)), "the source of 'turn' begins at 0")


SHARED = 2
"""The number of the shared array among the arrays of the trace."""


@pytest.mark.parametrize(
    ("number", "changes", "words"),
    [
        (0, {"shape": (15,)}, "the array 'a' has data of another shape"),
        (0, {"shape": (-4, -4)}, r"the array 'a' has no shape \(-4, -4\)"),
        (0, {"data": np.arange(16)}, "the array 'a' has data of another shape"),
        (0, {"shared": True}, "the array 'a' has 1 copies"),
        (0, {"units": ("shared[0]",)}, r"the array 'a' lies in other units than HMM\(.*\) has"),
        (0, {"units": ()}, "the array 'a' lies in other units"),
        (SHARED, {"units": ("shared[1]", "shared[0]")}, "the array 's' lies in other units"),
        (0, lambda one: {"addresses": one.addresses * 2}, "the array 'b' begins at address 16 of"),
        (0, lambda one: {"addresses": one.addresses * 0 - 1}, "elements that share an address"),
        (0, lambda one: {"addresses": one.addresses + 4}, "'a' begins at address 4 of global"),
        (1, lambda one: {"addresses": one.addresses * 0 + np.arange(16)}, "'b' begins at addr"),
        (1, lambda one: {"addresses": one.addresses + 2**60}, "'b' begins at address"),
    ],
)
def test_an_array_that_can_not_be(number, changes, words):
    refuse(with_part(FREE, "arrays", number, changes), words)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"unit": "elsewhere"}, "the dispatch of warp 0 at 0 is of an unknown unit or array"),
        ({"array": "c"}, "is of an unknown unit or array"),
        ({"unit": "shared[0]"}, "goes to another unit than its array lies behind"),
        ({"array": "b"}, "has other addresses than its array"),
        ({"array": "s"}, "goes to another unit than its array lies behind"),
        ({"warp": 4}, "the dispatch of warp 4 at 0 is of an unknown warp"),
        ({"warp": -1}, "is of an unknown warp"),
        ({"warp": 1}, "has threads of another warp"),
        ({"threads": (0, 2, 1, 3)}, "has threads that are not in ascending order"),
        ({"threads": (0, 1, 1, 3)}, "has vectors that differ in length or are not adjacent"),
        ({"threads": (0, 0, 0, 1)}, "has vectors that differ in length or are not adjacent"),
        ({"threads": (0, 1, 2, 4)}, "has threads of another warp"),
        ({"threads": (0, 1, 2)}, "has entries for different threads"),
        ({"values": (0, 1, 2)}, "has entries for different threads"),
        ({"line": LINE + 100}, "is of a line that no source has"),
        ({"function": "other"}, "is of a line that no source has"),
        ({"copy": 1}, "leaves its array: it is of another block's copy"),
        ({"elements": (0, 1, 2, 16)}, "leaves its array"),
        ({"elements": (-1, 1, 2, 3)}, "leaves its array"),
        ({"elements": (0, 1, 2, 4)}, "has other addresses than its array"),
        ({"addresses": (0, 1, 2, 4)}, "has other addresses than its array"),
        ({"places": (0, 0, 0, -1)}, "has places of other addresses"),
        ({"stages": (0, 0, 0, 1)}, "has stages that nothing travels in, or others than"),
        ({"stages": (0, 0, 0, 10**15)}, "has stages that nothing travels in, or others than"),
        ({"values": (0, 1, 2, 0.5)}, "has values that its array can't hold"),
        ({"completion": 4}, "completes at another time than it takes"),
        ({"time": -1, "completion": 2}, "is at no time of the run"),
        ({"time": 2**62, "completion": 2**62 + 3}, "is at no time of the run"),
    ],
)
def test_a_dispatch_that_can_not_be(changes, words):
    refuse(with_part(FREE, "dispatches", 0, changes), words)


def test_a_value_beyond_a_narrow_array():
    run = with_part(FREE, "dispatches", -1, lambda one: {"values": (200,) * len(one.values)})
    refuse(run, "has values that its array can't hold")


def test_a_float_beyond_a_narrow_array():
    @mm.program
    def read(T, a):
        a[T.id]

    run = mm.DMM(4, 2).run(read, np.ones(4, np.float32), threads=4, trace=True)
    assert Run.from_json(with_part(run, "dispatches", 0, {"values": (np.inf,) * 4}).to_json())
    refuse(with_part(run, "dispatches", 0, {"values": (1e300,) * 4}), "its array can't hold")


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (("1j", 0j), "values"),
        ((complex(1e300, 0), 0j), "values that its array can't hold"),
    ],
)
def test_a_complex_number_beyond_its_array(values, words):
    @mm.program
    def read(T, a):
        a[T.id]

    run = mm.DMM(2, 1).run(read, np.array([1j, 2], "complex64"), threads=2, trace=True)
    damaged = with_part(run, "dispatches", 0, {"values": values})
    refuse(damaged, words)


@pytest.mark.parametrize("parts", [[1.0], [1.0, 2], [1.0, "2"], "1j", [1.0, 2.0, 3.0]])
def test_a_complex_number_has_two_floats(parts):
    @mm.program
    def read(T, a):
        a[T.id]

    run = mm.DMM(2, 1).run(read, np.array([1j, 2j]), threads=2, trace=True)
    text = run.to_json()
    assert text.count('{"$complex": [0.0, 1.0]}') == 1
    damaged = text.replace('{"$complex": [0.0, 1.0]}', json.dumps({"$complex": parts}))
    with pytest.raises(FormatError, match="a complex number has two floats"):
        Run.from_json(damaged)


def test_an_array_of_floats_holds_no_complex_number():
    @mm.program
    def read(T, a):
        a[T.id]

    run = mm.DMM(2, 1).run(read, np.array([1.5, 2]), threads=2, trace=True)
    refuse(with_part(run, "dispatches", 0, {"values": (1j, 2.0)}), "values that its array")


def shifted(number, by):
    """The dispatch of that number, later by some time units."""
    return with_part(
        FREE,
        "dispatches",
        number,
        lambda one: {"time": one.time + by, "completion": one.completion + by},
    )


def test_dispatches_that_do_not_follow_one_another():
    refuse(shifted(-1, FREE.time), "is at no time of the run")
    refuse(shifted(1, -1), "at 0 takes a unit that serves another")
    longer = with_record(shifted(-1, 100), time=FREE.time + 100)
    refuse(longer, "comes after time in which nothing happens")
    first = FREE.trace.dispatches[0]
    again = replace(first, time=1, completion=first.completion + 1)
    both = with_record(FREE, dispatches=(first, again), time=again.completion)
    refuse(both, "the dispatch of warp 0 at 1 comes before its warp's last one has completed")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"unit": "elsewhere"}, "the wait of warp 0 from 0 is for no unit"),
        ({"unit": None}, "has a unit and a reason that do not go together"),
        ({"reason": "barrier"}, "has a unit and a reason that do not go together"),
        ({"reason": "hunger"}, "reason of Wait can't be 'hunger'"),
        ({"line": 0}, "is in a line that no source has"),
        ({"warp": 9}, "the wait of warp 9 from 0 is of an unknown warp"),
        ({"start": -1}, "is at no time of the run"),
        ({"end": 0}, "is at no time of the run"),
        ({"end": 10**12}, "is at no time of the run"),
        ({"end": 6}, "begins before the warp's last one has ended"),
    ],
)
def test_a_wait_that_can_not_be(changes, words):
    refuse(with_part(FREE, "waits", 0, changes), words)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"time": -1}, "the arrival of warp 0 at -1 is at no time of the run"),
        ({"warp": 7}, "the arrival of warp 7 at 5 is of a warp that block 0 lacks"),
        ({"block": 1}, "is of a warp that block 1 lacks"),
        ({"line": 0}, "is in a line that no source has"),
    ],
)
def test_an_arrival_that_can_not_be(changes, words):
    arrival = Arrival(5, 0, 0, LINE)
    assert Run.from_json(with_record(FREE, arrivals=(arrival,)).to_json())
    refuse(with_record(FREE, arrivals=(replace(arrival, **changes),)), words)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"time": FREE.time + 1},
            f"release of block 0 at {FREE.time + 1} is at no time of the run",
        ),
        ({"block": 5}, "the release of block 5 at 5 lets warp 0 go, which is of another block"),
        ({"warps": (0, 2)}, "lets warp 2 go, which is of another block"),
        ({"block": 5, "warps": ()}, "the release of block 5 at 5 lets no warp go"),
    ],
)
def test_a_release_that_can_not_be(changes, words):
    release = Release(5, 0, (0, 1))
    assert Run.from_json(with_record(FREE, releases=(release,)).to_json())
    refuse(with_record(FREE, releases=(replace(release, **changes),)), words)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": "y"}, "the change of 'y' at 0 is of an unknown variable or element"),
        ({"element": 1}, "is of an unknown variable or element"),
        ({"warp": 4}, "is of other threads than its warp has"),
        ({"values": (1,)}, "is of other threads than its warp has"),
        ({"time": -1}, "the change of 'x' at -1 is at no time of the run"),
        ({"time": 10**6}, "is at no time of the run"),
        ({"values": (0, 0, 0, 0.5)}, "has values that its variable can't hold"),
        ({"name": "r", "values": (0, 0, 0, None)}, "has values that its variable can't hold"),
    ],
)
def test_a_change_that_can_not_be(changes, words):
    change = Change(0, 0, "x", 0, (0, 1, 2, None))
    assert Run.from_json(with_record(FREE, changes=(change,)).to_json())
    refuse(with_record(FREE, changes=(replace(change, **changes),)), words)


def test_registers_that_take_more_room_than_there_is():
    number = [one.name for one in FREE.trace.variables].index("r")
    run = with_part(FREE, "variables", number, {"shape": (2**40,)})
    refuse(run, "its threads hold 17592186044432 values, more than the 268435456 possible")


# ------------------------------------------------------------ the run


def with_row(run, rows, place, changes):
    parts = list(getattr(run, rows))
    parts[place] = replace(parts[place], **changes)
    return replace(run, **{rows: tuple(parts)})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"time": -1}, "it takes -1 time units"),
        ({"time": FREE.time + 1}, f"its trace takes {FREE.time} time units, and it"),
        ({"threads": 0}, "threads=0, but it must be at least 1"),
        ({"schedule": "sometimes"}, "there is no schedule 'sometimes'"),
        ({"engine": "steam"}, "there is no engine 'steam'"),
        ({"launches": 0}, "it is a run of 0 launches"),
        ({"launches": 2}, "it has one trace for 2 launches"),
        ({"program": "other"}, "its trace has another program"),
        ({"machine": mm.HMM(2, 4, 5)}, "its trace has another machine"),
        ({"threads": 20}, "its trace has another threads"),
        ({"rounds": STEP.rounds}, "it has rounds, which only the synchronous schedule has"),
        ({"sources": FREE.sources * 2}, "its trace has other sources"),
        ({"sources": (), "record": None}, "is in a line that no source has"),
    ],
)
def test_a_run_that_can_not_be(changes, words):
    refuse(replace(FREE, **changes), words)


def test_a_trace_that_ends_early():
    early = with_record(FREE, time=FREE.time - 1)
    refuse(replace(early, time=FREE.time - 1), "its trace ends before its last request")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"line": 1}, "the access of 'a' in line 1 is in a line that no source has"),
        ({"file": "elsewhere.py"}, "is in a line that no source has"),
        ({"space": "memory"}, "goes to an unknown memory: 'memory'"),
        ({"array": "c"}, "the access of 'c' in line .* is of an unknown array"),
        ({"requests": 0}, "has 0 requests, 4 stages, 4 of them the least"),
        ({"stages": 3}, "has 4 requests, 3 stages"),
        ({"least": 5}, "4 stages, 5 of them the least"),
        ({"stages": 2**62}, "has 4 requests, 4611686018427387904 stages"),
        ({"access_class": "fine"}, "the access of 'a' in line .* is coalesced, not 'fine'"),
        ({"access_class": "casual"}, "is coalesced, not 'casual'"),
    ],
)
def test_an_access_that_can_not_be(changes, words):
    refuse(with_row(FREE, "accesses", 0, changes), words)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"number": 0}, "round 1 has the number 0, begins at"),
        ({"start": 0}, "round 1 has the number 1, begins at 0 and takes .* before it ends at"),
        ({"time": 0}, "takes 0 time units"),
        ({"time": 100}, "round 2 has the number 2"),
        ({"line": 1}, "round 1, of 's' in line 1 is in a line that no source has"),
        ({"requests": 5}, "has 5 requests, 4 stages"),
    ],
)
def test_a_round_that_can_not_be(changes, words):
    refuse(with_row(STEP, "rounds", 1, changes), words)


def test_rounds_that_do_not_fill_the_time():
    run = replace(STEP, record=None)
    refuse(replace(run, rounds=run.rounds[:-1]), f"its rounds take .* units, and it {STEP.time}")
    refuse(replace(run, rounds=()), f"its rounds take 0 time units, and it {STEP.time}")


# ------------------------------------------------------------ findings and reports


@pytest.mark.parametrize(
    ("changes", "access", "words"),
    [
        ({}, {"thread": 16}, "the finding 'read of .*' is of thread 16 of block 0"),
        ({}, {"block": -1}, "is of thread 1 of block -1"),
        ({}, {"block": 1}, "has thread 1 in block 1"),
        ({}, {"line": 1}, "is in line 1, which no source has"),
        ({}, {"time": FREE.time + 1}, f"is at time {FREE.time + 1} of {FREE.time}"),
        ({"copy": 2}, {}, "is of an array of block 2"),
        ({"copy": -1}, {}, "is of an array of block -1"),
        ({"elements": 0}, {}, "concerns 0 elements"),
        ({"index": (16,)}, {}, r"is of a\[16\], which does not exist"),
        ({"index": (-1,)}, {}, r"is of a\[-1\], which does not exist"),
        ({"index": (1, 1)}, {}, r"is of a\[1, 1\], which does not exist"),
    ],
)
def test_a_finding_that_can_not_be(changes, access, words):
    action = FoundAccess(1, 0, "read", "turn", FREE.sources[0].file, LINE, time=0)
    good = Finding("unwritten", "a", (1,), None, (action,))
    assert Run.from_json(replace(FREE, findings=(good,)).to_json()).findings == (good,)
    bad = replace(good, accesses=(replace(action, **access),), **changes)
    refuse(replace(FREE, findings=(bad,)), words)


def test_an_index_out_of_range_may_lie_outside_and_a_total_has_blocks_of_several_sizes():
    (finding,) = REPORT.findings
    assert (finding.kind, finding.index) == ("out-of-range", (15,))
    both = mm.total([FREE, FREE])
    action = FoundAccess(9, 0, "read", "turn", FREE.sources[0].file, LINE)
    found = replace(both, findings=(Finding("unwritten", "a", (9,), None, (action,)),))
    assert Run.from_json(found.to_json()) == found


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"time": -1}, "it takes -1 time units"),
        ({"time": 100}, "its trace takes .* time units, and it 100"),
        ({"threads": 0}, "threads=0"),
        ({"schedule": "never"}, "there is no schedule 'never'"),
        ({"program": "other"}, "its trace has another program"),
        ({"findings": ()}, "it has no run, and no finding that says why"),
        ({"run": STEP}, "its run has another block_size"),
    ],
)
def test_a_report_that_can_not_be(changes, words):
    refuse(replace(REPORT, **changes), words)


def test_a_report_whose_run_takes_another_time():
    report = mm.HMM(2, 4, 3).check(turn, *ARGUMENTS, threads=16, block_size=8)
    assert Report.from_json(report.to_json()) == report
    longer = replace(report, time=report.time + 1)
    refuse(longer, f"its run takes {report.time} time units, and it {report.time + 1}")


# ------------------------------------------------------------ maps that no one can draw


def test_a_map_that_is_too_large_is_refused_before_it_is_made():
    @mm.program
    def read(T, a):
        a[T.id]

    slow = mm.DMM(4, 2**26).run(read, np.zeros(4), threads=4, trace=True)
    with pytest.raises(MMSimError, match=r"67108864 time units is too long to draw .* 'round'"):
        mm.figures.banks(slow)
    assert mm.figures.banks(slow, over="round")
    wide = mm.DMM(2**17, 1).run(read, np.zeros(4), threads=4, trace=True)
    with pytest.raises(MMSimError, match="a map of 131072 banks is too tall to draw"):
        mm.figures.banks(wide)
