"""Saved results that contradict themselves are refused when they are read, with what is wrong.

What is accepted can be used: tests/kit/fuzzing/documents.py shows, draws, exports and steps
through it.
"""

import json
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

import mmsim as mm
from mmsim import Run
from mmsim.api.report import Report
from mmsim.errors import FormatError, MMSimError
from mmsim.results import Finding, FoundAccess
from mmsim.results.codec import encode


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


def refuse_changed(run, words, *changes):
    """Refuse the file of a run in which each of the places has another value."""
    document = json.loads(run.to_json())
    for *path, value in changes:
        place = document["value"]
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value(place[path[-1]]) if callable(value) else value
    with pytest.raises(FormatError, match=words):
        type(run).from_json(json.dumps(document))


def same(trace, other):
    """Compare two traces with all that follows."""
    names = [part.name for part in fields(trace)]
    for name in (*names, "units", "arrays", "dispatches", "waits"):
        one, two = (encode(getattr(of, name)) for of in (trace, other))
        assert json.dumps(one) == json.dumps(two), name


def test_the_runs_are_accepted_before_they_are_damaged():
    assert FREE.trace.changes[0].name == "r"
    assert Run.from_json(FREE.to_json()) == FREE
    assert Run.from_json(STEP.to_json()) == STEP
    assert Report.from_json(REPORT.to_json()) == REPORT
    whole = mm.total([STEP, STEP])
    assert Run.from_json(whole.to_json()) == whole


@pytest.mark.parametrize("run", [FREE, STEP, REPORT], ids=["turns", "lock step", "report"])
def test_all_that_follows_comes_back(run):
    same(type(run).from_json(run.to_json()).trace, run.trace)


# ------------------------------------------------------------ files of earlier versions

FIRST_FORMAT = Path(__file__).parent / "first_format"
FILES = sorted(FIRST_FORMAT.glob("*.json"))


def kind_of(file):
    return Report if json.loads(file.read_text())["value"]["$class"] == "Report" else Run


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_an_earlier_file_opens_and_is_kept_in_less(file):
    text = file.read_text()
    assert '"mmsim 1"' in text
    run = kind_of(file).from_json(text)
    again = run.to_json()
    assert '"mmsim 2"' in again
    assert len(again) < len(text)
    assert kind_of(file).from_json(again) == run


def test_there_is_an_earlier_file_of_each_sort():
    texts = [file.read_text() for file in FILES]
    assert {kind_of(file) for file in FILES} == {Run, Report}
    assert any('"records"' in text for text in texts)
    assert any('"record": null' in text for text in texts)
    sorts = ("round", "barrier", "turn", "latency", "atomic", "asynchronous", "synchronous")
    assert all(any(f'"{one}"' in text for text in texts) for one in sorts)


def test_the_earliest_files_lack_shapes_positions_and_phases():
    def without(value, *names):
        if isinstance(value, dict):
            return {key: without(one, *names) for key, one in value.items() if key not in names}
        return [without(one, *names) for one in value] if isinstance(value, list) else value

    for name, lacking in (("turns", ("position",)), ("vectors", ("phases",))):
        text = (FIRST_FORMAT / f"{name}.json").read_text()
        document = without(json.loads(text), *lacking)
        if name == "turns":
            del document["value"]["shape"], document["value"]["record"]["shape"]
        assert Run.from_json(json.dumps(document)) == Run.from_json(text)
    document = without(
        json.loads((FIRST_FORMAT / "layout.json").read_text()), "variables", "changes"
    )
    trace = Run.from_json(json.dumps(document)).trace
    assert (trace.variables, trace.changes) == ((), ())


def test_a_compare_and_swap_of_an_earlier_file_shows_in_its_stages():
    run = Run.from_json((FIRST_FORMAT / "atomics.json").read_text())
    assert {one.line for one in run.trace.dispatches if one.swap} == {23}


@pytest.mark.parametrize(
    ("part", "number", "field", "value"),
    [
        ("units", 0, "latency", 10**15),
        ("arrays", 0, "units", ["shared[0]"]),
        ("arrays", 2, "units", ["shared[1]", "shared[0]"]),
        ("dispatches", 0, "unit", "shared[0]"),
        ("dispatches", 0, "copy", 1),
        ("dispatches", 0, "addresses", [0, 1, 2, 4]),
        ("dispatches", 0, "places", [0, 0, 0, -1]),
        ("dispatches", 0, "stages", [0, 0, 0, 10**15]),
        ("dispatches", 0, "values", [0, 1, 2, 4]),
        ("dispatches", 0, "completion", 4),
        ("dispatches", 0, "phases", [0, 0, 0, 1]),
        ("waits", 0, "unit", "shared[0]"),
        ("waits", 0, "reason", "turn"),
        ("waits", 0, "end", 10**12),
    ],
)
def test_an_earlier_file_that_contradicts_itself(part, number, field, value):
    document = json.loads((FIRST_FORMAT / "turns.json").read_text())
    document["value"]["record"][part][number][field] = value
    with pytest.raises(FormatError, match=rf"{field} of number {number} of its {part} isn't what"):
        Run.from_json(json.dumps(document))


# ------------------------------------------------------------ the trace

TRACE = "record"


TIME, WARP, SITE, THREADS, ELEMENTS, VALUES = range(6)
DAMAGES = [
    *((FREE, place, value, words) for place, value, words in (
        (("machine",), {"$class": "HMM", "dmms": 0, "width": 4}, "damaged"),
        (("machine", "dmms"), {}, "damaged"),
        (("machine", "dmms"), {"$array": "int64", "shape": [1], "base64": ""}, "damaged"),
        (("machine", "dmms"), {"$complex": [1.0, 2.0]}, "dmms of a HMM must be a whole number"),
        (("machine", "global_latency"), 4, "could be at 4, when its warp is ready and its unit"),
        (("schedule",), "sometimes", "there is no schedule 'sometimes'"),
        (("threads",), 0, "threads=0, but it must be at least 1"),
        (("threads",), 10**12, "its threads hold 4500000000000 values, more than"),
        (("block_size",), 17, "block_size=17 is larger than threads=16"),
        (("time",), -1, "it takes -1 time units"),
        (("time",), 2**62, "it takes 4611686018427387904 time units"),
        (("time",), FREE.time + 1, f"{FREE.time + 1} time units, but all is over at {FREE.time}"),
        (("time",), 3, "is at no time of the run"),
        ((TRACE, "asked"), [], "time units, but all is over at 0"),
        (("sources",), [], "in line .*, which no source has"),
        (("sources", 0, "first"), 0, "the source of 'turn' begins at 0"),
        ((TRACE, "parameters"), lambda old: old[:1] * 2, "two of its arrays have one name"),
        ((TRACE, "variables"), lambda old: old * 2, "two of its variables have one name"),
        ((TRACE, "rounds"), [0], "it has rounds, which only the synchronous schedule has"),
        ((TRACE, "arrivals"), lambda old: old[::-1], "the arrival of .* comes after a later one"),
        ((TRACE, "releases"), lambda old: old[::-1], "the release of .* comes after a later one"),
        ((TRACE, "changes"), lambda old: old[::-1], "comes after a later one"),
        ((TRACE, "asked"), lambda old: old[::-1], "comes after a later one"),
        ((TRACE, "machine"), {"$class": "DMM"}, "its trace differs in machine"),
        ((TRACE, "waits"), [], "damaged"),
        ((TRACE, "units"), [], "Trace has no field 'units'"),
        ((TRACE, "lived"), [0] * 5, "has more warps than there are"),
        ((TRACE, "parameters", 0, "data", "shape"), [], "damaged"),
        ((TRACE, "shared", 0, "dtype"), "object", "'s' holds nothing that an array"),
        ((TRACE, "shared", 0, "shape"), [-8], "'s' holds nothing that an array"),
        ((TRACE, "sites", 0, "line"), LINE + 100, f"is in line {LINE + 100}, which no source has"),
        ((TRACE, "sites", 0, "function"), "other", "which no source has"),
        ((TRACE, "sites", 0, "array"), "c", "is of an unknown array or vector"),
        ((TRACE, "sites", 0, "vector"), 3, "is of an unknown array or vector"),
        ((TRACE, "sites", 0, "kind"), "look", "kind of Site can't be 'look'"),
    )),
    *((STEP, (TRACE, "rounds"), value, words) for value, words in (
        ([-1, *STEP.trace.rounds[1:]], "its round of time -1 doesn't begin"),
        (list(STEP.trace.rounds[::-1]), "doesn't begin when the one before is over|could be at"),
        (list(STEP.trace.rounds[1:]), "its trace has other rounds|could be at"),
        ([*STEP.trace.rounds, STEP.time], f"its round of time {STEP.time} doesn't begin"),
    )),
    *((FREE, (TRACE, "parameters", 0, "offsets"), encode(value), words) for value, words in (
        (np.arange(16)[::-1] * 0, "doesn't give each element of shape .* a word of its own"),
        (np.arange(16) + 1, "the words 1 to 16; the first is 0"),
        (np.arange(16) * 2**60, "the layout of 'a' gives the elements"),
        (np.arange(15), "failed: ValueError: cannot reshape"),
        (np.arange(16) + 0.5, "must give an integer array of that shape"),
    )),
    *((FREE, (TRACE, "asked", 0, field), value, words) for field, value, words in (
        (WARP, 4, "the dispatch of warp 4 at 0 is of warp 4, which doesn't exist there"),
        (WARP, -1, "is of warp .*, which doesn't exist there"),
        (SITE, 10, "the dispatch of warp 0 at 0 is of an unknown access"),
        (SITE, -1, "is of an unknown access"),
        (THREADS, [0, 2, 1, 3], "has threads of another warp, or not in ascending order"),
        (THREADS, [0, 1, 1, 3], "has threads of another warp, or not in ascending order"),
        (THREADS, [0, 1, 2, 4], "has threads of another warp"),
        (THREADS, [-1, 1, 2, 3], "has threads of another warp"),
        (THREADS, [0, 1, 2], "has elements of other threads"),
        (ELEMENTS, [], "has elements of other threads"),
        (ELEMENTS, [0, 1, 2, 16], "leaves its array"),
        (ELEMENTS, [-1, 1, 2, 3], "leaves its array"),
        (ELEMENTS, [0, 1, 2, 4.5], "asked of Trace can't be 4.5"),
        (ELEMENTS, [0, 1, 2, 8], "at 1 could be at 2, when its warp is ready and its unit free"),
        (VALUES, [0, 1, 2, 3], "has values that its array can't hold"),
        (TIME, 1, "the dispatch of warp 0 at 1 could be at 0"),
        (TIME, -1, "is at no time of the run"),
        (TIME, 2**62, "is at no time of the run"),
    )),
    *((FREE, (TRACE, "asked", -1, VALUES), value, words) for value, words in (
        ([200] * 4, "has values that its array can't hold"),
        ([0.5] * 4, "has values that its array can't hold"),
        ([10**400] * 4, "can't be"),
        ([1] * 3, "has values that its array can't hold"),
        ([], "has values that its array can't hold"),
    )),
    *((FREE, (TRACE, "arrivals", 0, field), value, words) for field, value, words in (
        (0, -1, "the arrival of warp 0 at -1 is at no time of the run"),
        (0, 10**6, "is at no time of the run"),
        (0, 0, "the wait of warp 0 from 0 begins before its last one ends|comes after"),
        (1, 7, "the arrival of warp 7 at .* is of warp 7, which doesn't exist there"),
        (2, 1, "is of warp 0, which doesn't exist there"),
        (3, 0, "is in line 0, which no source has"),
    )),
    *((FREE, (TRACE, "releases", 0, field), value, words) for field, value, words in (
        (0, FREE.time + 1, f"the release of block 0 at {FREE.time + 1} is at no time of the run"),
        (2, [0, 2], "is of warp 2, which doesn't exist there"),
        (2, [], "lets no warp go"),
        (2, [9], "is of warp .*, which doesn't exist there"),
        (2, [0, 0], "releases warp 0 at .* without its arrival"),
    )),
    *((FREE, (TRACE, "changes", 0, field), value, words) for field, value, words in (
        (2, "zz", "the change of 'zz' at 0 is of an unknown variable or element"),
        (2, 1, "changes of Trace can't be 1"),
        (3, 2, "is of an unknown variable or element"),
        (1, 4, "is of warp .*, which doesn't exist there"),
        (4, [1], "is of other threads than its warp has"),
        (0, -1, "is at no time of the run"),
        (0, 10**6, "is at no time of the run"),
        (4, [0, 0, 0, 0.5], "has values that its variable can't hold"),
        (4, [0, 0, 0, None], "has values that its variable can't hold"),
    )),
]  # fmt: skip


@pytest.mark.parametrize(("run", "place", "value", "words"), DAMAGES)
def test_a_trace_that_can_not_be(run, place, value, words):
    refuse_changed(run, words, (*place, value))


def test_a_trace_of_more_units_than_there_can_be_is_refused_immediately():
    @mm.program
    def read(T, a):
        a[T.id]

    run = mm.HMM(2, 4, 3).run(read, np.zeros(16), threads=16, block_size=4, trace=True)
    words = "it has 2147483648 memory units, more than the 4194304 possible"
    many = ("machine", "dmms", 2**31 - 1), ("threads", 10**12)
    refuse_changed(run, words, *many)


def kept(dtype, *numbers):
    """A run that writes such numbers."""

    @mm.program
    def write(T, a, b):
        b[T.id] = a[T.id]

    a = np.array(numbers, dtype)
    return mm.DMM(4, 2).run(write, a, a * 0, threads=len(numbers), trace=True)


def test_a_float_beyond_a_narrow_array():
    run = kept("float32", 1, 2)
    place = (TRACE, "asked", 1, VALUES)
    document = json.loads(run.to_json())
    document["value"]["record"]["asked"][1][VALUES] = [np.inf, -np.inf]
    assert Run.from_json(json.dumps(document)).trace.dispatches[1].values == (np.inf, -np.inf)
    refuse_changed(run, "its array can't hold", (*place, [1e300, 1.0]))
    refuse_changed(run, "values that its array", (*place, [{"$complex": [0.0, 1.0]}, 2.0]))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("1j", "asked of Trace can't be '1j'"),
        ({"$complex": [1e300, 0.0]}, "values that its array can't hold"),
        *(({"$complex": parts}, "a complex number has two floats") for parts in
          ([1.0], [1.0, 2], [1.0, "2"], "1j", [1.0, 2.0, 3.0])),
    ],
)  # fmt: skip
def test_a_complex_number_that_can_not_be(value, words):
    refuse_changed(kept("complex64", 1j, 2), words, (TRACE, "asked", 1, VALUES, 0, value))


def test_dispatches_that_do_not_follow_one_another():
    last = FREE.trace.dispatches[-1]
    at = (TRACE, "asked", -1, TIME)
    refuse_changed(FREE, "is at no time of the run", (*at, last.time + FREE.time))
    refuse_changed(FREE, "at 0 could be at 1", (TRACE, "asked", 1, TIME, 0))
    longer = FREE.time + 100
    refuse_changed(FREE, "could be at", (*at, last.time + 100), ("time", longer))
    first = json.loads(FREE.to_json())["value"]["record"]["asked"][0]
    again = [first, [1, *first[1:]]]
    refuse_changed(FREE, "the dispatch of warp 0 at 1 could be at 3", (TRACE, "asked", again))


def test_registers_that_take_more_room_than_there_is():
    number = [one.name for one in FREE.trace.variables].index("r")
    words = "its threads hold 17592186044432 values, more than the 268435456 possible"
    refuse_changed(FREE, words, (TRACE, "variables", number, "shape", [2**40]))
    refuse_changed(
        FREE,
        "holds nothing that an array or a variable can",
        (TRACE, "variables", number, "dtype", "object"),
    )


# ------------------------------------------------------------ the run


def with_row(run, rows, place, changes):
    parts = list(getattr(run, rows))
    parts[place] = replace(parts[place], **changes)
    return replace(run, **{rows: tuple(parts)})


WRONG = [
    *((replace(FREE, **changes), words) for changes, words in (
        ({"time": -1, "record": None}, "it takes -1 time units"),
        ({"time": FREE.time + 1}, "its trace differs in time"),
        ({"threads": 0, "record": None}, "threads=0, but it must be at least 1"),
        ({"schedule": "sometimes", "record": None}, "there is no schedule 'sometimes'"),
        ({"engine": "steam"}, "there is no engine 'steam'"),
        ({"launches": 0}, "it is a run of 0 launches"),
        ({"launches": 2}, "it has one trace for 2 launches"),
        ({"program": "other"}, "its trace differs in program"),
        ({"machine": mm.HMM(2, 4, 5)}, "its trace differs in machine"),
        ({"threads": 20}, "its trace differs in threads"),
        ({"rounds": STEP.rounds}, "it has rounds, which only the synchronous schedule has"),
        ({"sources": FREE.sources * 2}, "its trace differs in sources"),
        ({"sources": (), "record": None}, "is in a line that no source has"),
    )),
    *((replace(REPORT, **changes), words) for changes, words in (
        ({"time": -1, "record": None}, "it takes -1 time units"),
        ({"time": 100}, "its trace differs in time"),
        ({"threads": 0, "record": None}, "threads=0"),
        ({"schedule": "never", "record": None}, "there is no schedule 'never'"),
        ({"program": "other"}, "its trace differs in program"),
        ({"findings": ()}, "it has no run, and no finding that says why"),
        ({"run": STEP}, "its run differs in block_size"),
    )),
    *((with_row(FREE, "accesses", 0, changes), words) for changes, words in (
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
    )),
    *((with_row(STEP, "rounds", 1, changes), words) for changes, words in (
        ({"number": 0}, "round 1 has the number 0, begins at"),
        ({"start": 0}, "round 1 has the number 1, begins at 0 and takes .* before it ends at"),
        ({"time": 0}, "takes 0 time units"),
        ({"time": 100}, "round 2 has the number 2"),
        ({"line": 1}, "round 1, of 's' in line 1 is in a line that no source has"),
        ({"requests": 5}, "has 5 requests, 4 stages"),
    )),
]  # fmt: skip


@pytest.mark.parametrize(("run", "words"), WRONG, ids=[words for _, words in WRONG])
def test_a_run_or_a_report_that_can_not_be(run, words):
    refuse(run, words)


def test_a_trace_that_ends_early():
    waits = FREE.time - FREE.trace.dispatches[-1].time  # until its last request has completed
    assert waits > 1
    words = "its trace ends before its last request"
    early = ("time", FREE.time - 1)
    refuse_changed(FREE, words, early, (TRACE, "changes", []), ("findings", []))


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


def test_a_report_whose_run_takes_another_time():
    report = mm.HMM(2, 4, 3).check(turn, *ARGUMENTS, threads=16, block_size=8)
    assert Report.from_json(report.to_json()) == report
    longer = replace(report, time=report.time + 1)
    refuse(longer, "its run differs in time")


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
