"""Data races, planted one by one, each with a twin without."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

import mmsim as mm
from mmsim import Run
from mmsim.cli import main
from mmsim.results import Finding, FoundAccess
from tests.kit.planted.pair import line_of, zeros
from tests.kit.runs.paths import ENGINES, both_schedules

DMM = mm.DMM(width=4, latency=3)
HMM = mm.HMM(dmms=2, width=4, global_latency=5)


@pytest.fixture(params=ENGINES)
def check(request):
    """Run a program with check=True on an engine, under the asynchronous schedule by default."""

    def run(machine, program, *args, schedule="asynchronous", **options):
        options = {"threads": 8, "schedule": schedule, "check": True, **options}
        return machine.run(program, *args, engine=request.param, trace=False, **options)

    return run


@mm.program
def fold(T, a, n):
    a[T.id % n] = T.id


@mm.program
def shuffle(T, a, b):
    s = mm.shared(4, dtype=int)
    i, j = T.block, T.index
    s[j] = a[i, j]
    b[i, j] = s[3 - j]


@mm.program
def hand_over(T, a, b, phase):
    if T.block == 0 and phase != 1:
        a[T.index] = 1
    T.barrier()
    if T.block == 1 and phase != 0:
        b[T.index] = a[T.index]


# ------------------------------------------------------------------ lock step


@mm.program
def prefix_sums(T, a):
    k = 1
    while k < T.count:
        x = 0
        if T.id >= k:
            x = a[T.id - k]
        a[T.id] += x
        k *= 2


# ------------------------------------------------------------------ what is none


@mm.program
def write_one(T, a, values):
    a[0] = values[T.id]


@both_schedules
@pytest.mark.parametrize(
    ("values", "races"),
    [
        ([5, 5, 5, 5, 5, 5, 5, 5], False),
        ([5, 5, 5, 5, 6, 6, 6, 6], True),
        ([5, 1, 2, 3, 5, 4, 4, 4], False),  # of each warp the first thread wins
        ([5, 1, 2, 3, 1, 5, 5, 5], True),
        ([0.0, 0, 0, 0, -0.0, 0, 0, 0], True),  # bit by bit
        ([np.nan] * 8, False),
        ([False] * 4 + [True] * 4, True),
        ([1 + 2j] * 8, False),
        ([1 + 2j] * 4 + [1 + 3j] * 4, True),
        ([0j] * 4 + [complex(-0.0, 0)] * 4, True),
        ([complex(0, -0.0)] * 4 + [0j] * 4, True),
        (np.array([2 + 2j] * 4 + [1 + 2j] * 4, "complex64"), True),
        (np.array([0j] * 4 + [complex(0, -0.0)] * 4, "complex64"), True),
    ],
)
def test_two_writes_of_one_value_are_no_race(check, values, races, schedule):
    values = np.array(values)
    run = check(DMM, write_one, np.zeros(1, values.dtype), values, schedule=schedule)
    assert [finding.threads for finding in run.findings] == [(0, 4)] * races


@both_schedules
def test_values_are_compared_as_they_are_stored(check, schedule):
    values = np.array([0.1] * 4 + [0.1 + 1e-12] * 4)
    for dtype, races in ((np.float32, 0), (np.float64, 1)):
        found = check(DMM, write_one, np.zeros(1, dtype), values, schedule=schedule).findings
        assert len(found) == races


# ------------------------------------------------------------------ names


def put(T, x, i):
    x[i] = T.id  # a helper's write


def test_a_helpers_line_is_named_once(check):
    @mm.program
    def twice(T, a):
        put(T, a, 0)
        put(T, a, T.id % 2)

    (finding,) = check(DMM, twice, zeros(2)).findings
    place = line_of(twice, "# a helper's write")
    assert place[0] == "put"
    first, second = FoundAccess(0, 0, "write", *place), FoundAccess(4, 0, "write", *place)
    assert finding == Finding("race", "a", (0,), None, (first, second), "interval", 2)


def test_an_index_is_logical_whatever_the_layout(check):
    @mm.program
    def one_element(T, a):
        a[2, 1] = T.id

    placed = mm.place(zeros(4, 4), mm.layout.RAP(4, seed=3))
    (finding,) = check(DMM, one_element, placed).findings
    assert (finding.array, finding.index, finding.threads) == ("a", (2, 1), (0, 4))


# ------------------------------------------------------------------ what it says


@mm.program
def rotated(T, a):
    a[T.id] = a[(T.id + 4) % 8]


def text_of(check, *args, **options):
    """The message, without the times, which one of the engines doesn't know."""
    (finding,) = check(*args, **options).findings
    return re.sub(r" at time \d+", "", str(finding))


def test_the_message_names_all_and_says_what_to_do(check):
    *_, line = line_of(fold, "a[T.id % n]")
    assert text_of(check, DMM, fold, zeros(8), 4) == (
        f"data race on a[0]: thread 0 writes it (fold, line {line}) and thread 4 writes it "
        f"(fold, line {line}) in one barrier interval, in no order (and 3 more elements); "
        "let one thread alone write it, in a loop put T.barrier() between two iterations"
    )
    arrays = zeros(2, 4), zeros(2, 4)
    write, read = (line_of(shuffle, text)[2] for text in ("s[j] = a", "b[i, j] = s"))
    text = text_of(check, mm.HMM(2, 2, 5), shuffle, *arrays, block_size=4)
    assert text == (
        f"data race on s[0] of block 0: thread 0 writes it (shuffle, line {write}) and thread 3 "
        f"reads it (shuffle, line {read}) in one barrier interval, in no order (and 7 more "
        "elements); put T.barrier() between the two, in a loop also between two iterations"
    )
    text = text_of(check, HMM, hand_over, zeros(4), zeros(4), 2, block_size=4)
    assert "in another block, in no order" in text
    assert (
        "T.barrier() does not order threads of different blocks: access it in two launches" in text
    )
    text = text_of(check, HMM, fold, zeros(8), 4, block_size=4)
    assert "let one block alone write it" in text
    text = text_of(check, DMM, fold, zeros(8), 7, schedule="synchronous")
    assert "in the same round, in no order; let one thread alone write it" in text
    assert "read into a variable" in text_of(check, DMM, rotated, zeros(8))


@both_schedules
def test_a_checked_run_is_the_same_run(check, schedule):
    for program, args in ((prefix_sums, [np.ones(8, int)]), (fold, [zeros(8), 3])):
        checked = check(DMM, program, *args, schedule=schedule)
        plain = check(DMM, program, *args, schedule=schedule, check=False)
        assert plain.findings is None
        assert replace(checked, findings=None) == plain
        assert checked != plain


def test_a_total_merges_findings(check):
    racy = check(DMM, fold, zeros(8), 4)
    other = check(DMM, fold, zeros(8), 3)
    clean = check(DMM, fold, zeros(8), 8)
    unchecked = check(DMM, fold, zeros(8), 8, check=False)
    (finding,) = racy.findings
    assert mm.total([clean, racy, other]).findings == (replace(finding, elements=4 + 3),)
    assert mm.total([clean, clean]).findings == ()
    assert mm.total([clean, unchecked]).findings is None
    assert mm.total([unchecked, racy]).findings == (finding,)


def test_a_run_shows_its_findings(check):
    *_, line = line_of(fold, "a[T.id % n]")
    racy = check(DMM, fold, zeros(8), 4)
    for shown in (repr(racy), racy._repr_html_()):
        shown = re.sub(r" at time \d+", "", " ".join(shown.split()))
        for text in ("1 finding", "data race", "a[0]", f"thread 4 writes it (fold, line {line})"):
            assert text in shown
    (finding,) = racy.findings
    two = replace(racy, findings=(finding, replace(finding, array="<b>\x1b", copy=7)))
    assert "2 findings" in repr(two)
    assert r"<b>\x1b[0] of block 7" in repr(two)
    assert r"&lt;b&gt;\x1b[0] of block 7" in two._repr_html_()
    clean = check(DMM, fold, zeros(8), 8)
    head, *_, scope = repr(clean).splitlines()
    assert head.endswith("time units, nothing found")
    assert scope.startswith("Looked for ")
    assert "write wins, deadlocks (machine.check and mmsim check do); other arguments" in scope
    assert "nothing found" not in repr(replace(clean, findings=None))


def test_json_keeps_findings(check):
    for program, args in ((fold, [zeros(8), 4]), (fold, [zeros(8), 8]), (prefix_sums, [zeros(8)])):
        run = check(DMM, program, *args)
        assert Run.from_json(run.to_json()).findings == run.findings
        document = json.loads(run.to_json())
        del document["value"]["findings"]  # as it was before there were any
        assert Run.from_json(json.dumps(document)).findings is None


# ------------------------------------------------------------------ on the command line

FILE = """\
import mmsim as mm

@mm.program
def fold(T, a, n):
    a[T.id % n] = T.id
"""


def test_the_command_line_leaves_with_1_when_it_finds_something(capsys, tmp_path):
    path, saved = tmp_path / "mine.py", tmp_path / "run.json"
    path.write_text(FILE)
    call = ["run", f"{path}:fold", "zeros:8", "4", "--threads", "8", "--width", "4"]
    assert main(call) == 0
    assert "found" not in capsys.readouterr().out
    assert main([*call, "--check", "--json", str(saved)]) == 1
    assert "1 finding" in capsys.readouterr().out
    (finding,) = Run.from_json(saved.read_text()).findings
    assert (finding.array, finding.lines, finding.threads) == ("a", (5, 5), (0, 4))
    call[3] = "8"
    assert main([*call, "--check", "--schedule", "asynchronous"]) == 0
    assert "nothing found" in " ".join(capsys.readouterr().out.split())


def test_an_update_by_way_of_a_register_is_an_update():
    @mm.program
    def by_register(T, a):
        r = mm.registers(1)
        x = a[0]
        r[0] = x + 1
        a[0] = r[0]

    def directly(T, a):
        x = a[0]
        a[0] = x + 1

    found = [
        mm.DMM(4, 2).check(program, np.zeros(1, int), threads=8).findings
        for program in (by_register, mm.program(directly))
    ]
    assert [one.kind for one in found[0]] == [one.kind for one in found[1]] == ["lost-update"]


@mm.program
def read_by_the_second_warp(T, a):
    s = mm.shared(8)
    if T.id < 4:
        s[T.id] = 1
    a[T.id] = s[T.id]


def test_engines_report_the_time_of_a_warp_in_a_round():
    how = {"threads": 8, "schedule": "synchronous", "check": True, "trace": False}
    one, other = (
        DMM.run(read_by_the_second_warp, np.zeros(8, int), engine=engine, **how).findings
        for engine in ENGINES
    )
    assert one == other
    assert [access.time for finding in one for access in finding.accesses] == [4]
