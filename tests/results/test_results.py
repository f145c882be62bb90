"""Results: accesses, rounds, profile, totals, how they show, and JSON there and back."""

import io
import json
from dataclasses import dataclass, replace

import numpy as np
import pytest
from rich.console import Console

import mmsim as mm
from mmsim import Run
from mmsim.errors import FormatError, LaunchError
from mmsim.results import codec
from mmsim.results.codec import encode
from tests.kit.generators.random_programs import define
from tests.kit.runs.paths import both_engines, both_schedules
from tests.kit.runs.programs import copy, line_of


@mm.program
def strided(T, a, b, stride):
    x = a[T.id]
    b[T.id * stride % len(b)] = x


def plain_helper(T, x, i):
    return x[2 * i]


@mm.program
def with_helper(T, a, b):
    b[T.id] = plain_helper(T, a, T.id)
    plain_helper(T, b, 0)


@mm.program
def shuffle(T, a, b):
    s = mm.shared((4, 4))
    i, j = T.index // 4, T.index % 4
    s[i, j] = a[T.id]
    T.barrier()
    b[T.id] = s[j, i]


def accesses(run):
    """(array, kind, space, requests, stages, least, class) of each row."""
    return [
        (row.array, row.kind, row.space, row.requests, row.stages, row.least, row.access_class)
        for row in run.accesses
    ]


def numbers(size):
    return np.arange(size)


# ------------------------------------------------------------------ accesses


@both_schedules
def test_accesses_on_banks(schedule):
    run = mm.DMM(4, 3).run(strided, numbers(8), numbers(16), 2, threads=8, schedule=schedule)
    # a: 2 warps, 1 stage each. b: banks 0 2 0 2, 2 stages each.
    assert accesses(run) == [
        ("a", "read", "memory", 2, 2, 2, "conflict-free"),
        ("b", "write", "memory", 2, 4, 2, "casual"),
    ]
    assert [row.wasted for row in run.accesses] == [0, 2]
    assert [row.line for row in run.accesses] == [
        line_of(run, "x = a[T.id]"),
        line_of(run, "b[T.id * stride % len(b)] = x"),
    ]
    assert {(row.function, row.file) for row in run.accesses} == {("strided", __file__)}
    assert (run.requests, run.stages) == (4, 6)


@both_schedules
def test_accesses_on_the_hmm(schedule):
    run = mm.HMM(2, 4, 3).run(
        shuffle, numbers(32), numbers(32), threads=32, block_size=16, schedule=schedule
    )
    # Two blocks of 4 warps. Columns of s: banks 0 0 0 0, 4 stages.
    assert accesses(run) == [
        ("a", "read", "global", 8, 8, 8, "coalesced"),
        ("s", "write", "shared", 8, 8, 8, "conflict-free"),
        ("s", "read", "shared", 8, 32, 8, "casual"),
        ("b", "write", "global", 8, 8, 8, "coalesced"),
    ]


@pytest.mark.parametrize(
    ("machine", "order", "stages", "access_class"),
    [
        # ICPP section III on w = 4: conflict-free means distinct banks or the same address,
        # coalesced means one address group for the whole warp.
        (mm.DMM(4, 1), (3, 2, 1, 0), 1, "conflict-free"),
        (mm.DMM(4, 1), (0, 5, 10, 15), 1, "conflict-free"),  # a diagonal
        (mm.DMM(4, 1), (5, 5, 5, 5), 1, "conflict-free"),  # the same address
        (mm.DMM(4, 1), (1, 5, 2, 3), 2, "casual"),  # 1 and 5 in bank 1
        (mm.UMM(4, 1), (3, 2, 1, 0), 1, "coalesced"),
        (mm.UMM(4, 1), (7, 7, 4, 4), 1, "coalesced"),
        (mm.UMM(4, 1), (0, 5, 10, 15), 4, "casual"),
        (mm.UMM(4, 1), (3, 4, 5, 6), 2, "casual"),  # across a border
    ],
)
@both_schedules
def test_classes_as_the_paper_defines_them(machine, order, stages, access_class, schedule):
    @mm.program
    def four(T, a, x0, x1, x2, x3):
        i = x3
        if T.id == 0:
            i = x0
        elif T.id == 1:
            i = x1
        elif T.id == 2:
            i = x2
        a[i]

    run = machine.run(four, numbers(16), *order, threads=4, schedule=schedule)
    assert accesses(run) == [("a", "read", "memory", 1, stages, 1, access_class)]


@both_schedules
def test_an_access_is_casual_if_one_warp_is(schedule):
    @mm.program
    def one_bad_warp(T, a):
        a[T.id if T.warp == 0 else T.lane * 4]

    # 1 stage for warp 0, 4 for warp 1.
    run = mm.DMM(4, 1).run(one_bad_warp, numbers(16), threads=8, schedule=schedule)
    assert accesses(run) == [("a", "read", "memory", 2, 5, 2, "casual")]


@both_schedules
def test_a_row_for_each_line_array_and_kind(schedule):
    @mm.program
    def several(T, a, b):
        a[T.id] = a[T.id] + b[T.id] + a[T.id]
        a[T.id]

    run = mm.DMM(4, 1).run(several, numbers(4), numbers(4), threads=4, schedule=schedule)
    assert [(row[:2], row[3]) for row in accesses(run)] == [
        (("a", "read"), 2),
        (("b", "read"), 1),
        (("a", "write"), 1),
        (("a", "read"), 1),
    ]
    first = line_of(run, "a[T.id] = a[T.id] + b[T.id] + a[T.id]")
    assert [row.line for row in run.accesses] == [first, first, first, first + 1]


@both_schedules
def test_a_loop_is_one_row(schedule):
    @mm.program
    def loop(T, a):
        for k in range(5):
            a[k * T.id % 8]

    # k = 0: 0 0 0 0, 1 stage; k = 1: 0 1 2 3, 1; k = 2: 0 2 4 6, 2; k = 3: 0 3 6 1, 1;
    # k = 4: 0 4 0 4, 2.
    run = mm.DMM(4, 1).run(loop, numbers(8), threads=4, schedule=schedule)
    assert accesses(run) == [("a", "read", "memory", 5, 7, 5, "casual")]


@both_schedules
def test_a_helpers_access_stands_at_the_helpers_line(schedule):
    run = mm.DMM(4, 1).run(with_helper, numbers(8), numbers(4), threads=4, schedule=schedule)
    helper = line_of(run, "return x[2 * i]")
    assert [(row.function, row.line, row.array, row.kind) for row in run.accesses] == [
        ("plain_helper", helper, "a", "read"),
        ("with_helper", line_of(run, "b[T.id] = plain_helper(T, a, T.id)"), "b", "write"),
        ("plain_helper", helper, "b", "read"),
    ]
    assert [row.stages for row in run.accesses] == [2, 1, 1]  # banks 0 2 0 2; 0 1 2 3; one word


# ------------------------------------------------------------------ rounds


def test_rounds_add_up_to_the_time():
    run = mm.HMM(2, 4, 3, 2).run(shuffle, numbers(32), numbers(32), threads=32, block_size=16)
    # Global: 8 + 3 - 1 = 10. Shared, 4 warps on each DMM: 4 + 2 - 1 = 5, 16 + 2 - 1 = 17.
    rows = run.rounds
    assert [(row.number, row.start, row.time) for row in rows] == [
        (0, 0, 10),
        (1, 10, 5),
        (2, 15, 17),
        (3, 32, 10),
    ]
    assert sum(row.time for row in rows) == run.time == 42
    assert [(row.array, row.kind, row.space) for row in rows] == [
        ("a", "read", "global"),
        ("s", "write", "shared"),
        ("s", "read", "shared"),
        ("b", "write", "global"),
    ]
    assert [(row.requests, row.stages, row.access_class) for row in rows] == [
        (8, 8, "coalesced"),
        (8, 8, "conflict-free"),
        (8, 32, "casual"),
        (8, 8, "coalesced"),
    ]
    assert {(row.function, row.file) for row in rows} == {("shuffle", __file__)}
    assert [row.line for row in rows] == [row.line for row in run.accesses]


def test_each_pass_of_a_loop_is_a_round_of_its_own_class():
    @mm.program
    def loop(T, a):
        for k in range(3):
            a[2**k * T.id]

    run = mm.DMM(4, 1).run(loop, numbers(13), threads=4)
    assert [(row.stages, row.access_class) for row in run.rounds] == [
        (1, "conflict-free"),
        (2, "casual"),
        (4, "casual"),
    ]


def test_no_rounds_without_lock_step():
    run = mm.DMM(4, 1).run(copy, numbers(4), numbers(4), threads=4, schedule="asynchronous")
    assert run.rounds == ()


# ------------------------------------------------------------------ profile


def profile_rows(run):
    """The cost of each line with an access, by its text."""
    return {
        line.text.strip(): (line.requests, line.stages, line.wasted, line.time)
        for line in run.profile().lines
        if line.requests
    }


def test_the_profile_gives_each_line_its_cost():
    run = mm.DMM(4, 3).run(strided, numbers(8), numbers(16), 2, threads=8)
    profile = run.profile()
    # Rounds of 2 and of 4 stages, each + 3 - 1.
    assert profile_rows(run) == {
        "x = a[T.id]": (2, 2, 0, 4),
        "b[T.id * stride % len(b)] = x": (2, 4, 2, 6),
    }
    assert (profile.program, profile.stages, profile.wasted) == ("strided", 6, 2)
    assert sum(line.time for line in profile.lines) == run.time == 10
    assert "asynchronous" not in repr(profile)
    texts = [line.text for line in profile.lines]
    assert texts == [
        "@mm.program",
        "def strided(T, a, b, stride):",
        "    x = a[T.id]",
        "    b[T.id * stride % len(b)] = x",
    ]
    first = profile.lines[0].line
    assert [line.line for line in profile.lines] == list(range(first, first + 4))


def test_lines_overlap_without_lock_step():
    run = mm.DMM(4, 3).run(copy, numbers(8), numbers(8), threads=8, schedule="asynchronous")
    assert profile_rows(run) == {"b[T.id] = a[T.id]": (4, 4, 0, None)}
    assert repr(run.profile()).endswith("lines overlap under the asynchronous schedule")


def test_the_profile_shows_helpers_too():
    run = mm.DMM(4, 3).run(with_helper, numbers(8), numbers(4), threads=4)
    # The helper: 2 stages on a, 1 on b; rounds of 2 + 2, 1 + 2 (the write), 1 + 2.
    assert profile_rows(run) == {
        "b[T.id] = plain_helper(T, a, T.id)": (1, 1, 0, 3),
        "return x[2 * i]": (2, 3, 1, 7),
    }
    lines = run.profile().lines
    assert [line.function for line in lines] == ["with_helper"] * 4 + ["plain_helper"] * 2
    assert sum(line.time for line in lines) == run.time


# ------------------------------------------------------------------ several launches as one


def test_total_adds_up():
    machine = mm.DMM(4, 3)
    one = machine.run(copy, numbers(8), numbers(8), threads=8)  # 4 + 4
    two = machine.run(strided, numbers(8), numbers(16), 2, threads=4)  # 3 + 4
    whole = mm.total([one, two])
    assert (one.time, two.time, whole.time) == (8, 7, 15)
    assert (whole.launches, whole.program) == (2, "copy + strided")
    assert (whole.threads, whole.machine, whole.schedule) == (8, machine, "synchronous")
    assert [(row.number, row.start, row.time) for row in whole.rounds] == [
        (0, 0, 4),
        (1, 4, 4),
        (2, 8, 3),
        (3, 11, 4),
    ]
    assert whole.accesses == one.accesses + two.accesses
    assert whole.sources == one.sources + two.sources
    assert sum(line.time for line in whole.profile().lines) == 15
    assert (whole.requests, whole.stages) == (4 + 2, 4 + 3)


def test_total_merges_the_same_access():
    machine = mm.UMM(4, 3)
    good, bad = (
        machine.run(strided, numbers(8), numbers(16), stride, threads=4) for stride in (1, 4)
    )
    assert accesses(mm.total([good, bad])) == [
        ("a", "read", "memory", 2, 2, 2, "coalesced"),
        ("b", "write", "memory", 2, 1 + 4, 2, "casual"),
    ]
    assert accesses(mm.total([good, good]))[1] == ("b", "write", "memory", 2, 2, 2, "coalesced")
    assert len(mm.total([good, bad]).sources) == 1


def test_total_of_launches_that_come_again_keeps_rows_and_no_contents():
    machine = mm.UMM(4, 3)

    def whole(value, threads=8):
        a = np.full(8, value)
        return mm.total([machine.run(copy, a, numbers(8), threads=threads)] * 2)

    one = whole(1)
    kept = [replace(one, rounds=list(one.rounds)) for _ in range(2)]
    assert whole(2).arrays["b"].tolist() == [2] * 8
    assert whole(2).time == one.time
    assert (whole(1, 4).threads, whole(1, 4).requests) == (4, 4)
    assert whole(1) == one
    # Lists may change between two totals.
    before = mm.total(kept)
    kept[1].rounds.pop()
    assert len(mm.total(kept).rounds) == len(before.rounds) - 1


@pytest.mark.parametrize("machine", [mm.DMM(4, 3), mm.HMM(1, 4, 3)])
def test_total_keeps_the_class_of_banks(machine):
    how = {"threads": 16, "block_size": 16}
    runs = [machine.run(shuffle, numbers(16), numbers(16), **how) for _ in range(2)]
    assert [row.access_class for row in mm.total(runs).accesses] == [
        row.access_class for row in runs[0].accesses
    ]


def test_total_keeps_each_arrays_last_contents():
    machine = mm.DMM(4, 3)
    one = machine.run(copy, numbers(4), numbers(4), threads=4)
    two = machine.run(copy, np.array([5, 6, 7, 8]), numbers(4), threads=4)
    assert mm.total([one, two]).arrays["b"].tolist() == [5, 6, 7, 8]
    assert one.arrays["b"].tolist() == [0, 1, 2, 3]


def test_total_of_totals():
    run = mm.DMM(4, 3).run(copy, numbers(4), numbers(4), threads=4)
    pair = mm.total([run, run])
    assert mm.total(iter([pair, run])) == mm.total([run, run, run])
    assert mm.total([run]) == run


def test_total_without_lock_step():
    run = mm.DMM(4, 3).run(copy, numbers(8), numbers(8), threads=8, schedule="asynchronous")
    whole = mm.total([run, run])
    assert (run.time, whole.time, whole.rounds) == (7, 14, ())


def test_total_refuses_what_does_not_add_up():
    def run(machine, schedule="synchronous"):
        return machine.run(copy, numbers(4), numbers(4), threads=4, schedule=schedule)

    with pytest.raises(LaunchError, match="no runs"):
        mm.total([])
    with pytest.raises(LaunchError, match="different machines"):
        mm.total([run(mm.DMM(4, 3)), run(mm.DMM(4, 4))])
    with pytest.raises(LaunchError, match="schedules"):
        mm.total([run(mm.DMM(4, 3)), run(mm.DMM(4, 3), "asynchronous")])


# ------------------------------------------------------------------ how results show

HOSTILE = "<script>alert(1)</script>"
MARKUP, OTHER_MARKUP = "[red]x[/red]", "[blue]y[/blue]"


def shown_by_rich(value):
    """The text that Rich prints of a value, captions wider than their tables on one line again."""
    out = io.StringIO()
    Console(file=out, width=200).print(value)
    return out.getvalue().replace(" \n", " ")


def test_a_run_shows_its_numbers():
    run = mm.DMM(4, 3).run(strided, numbers(8), numbers(16), 2, threads=8)
    assert repr(run).splitlines()[0] == (
        "strided on DMM(width=4, latency=3), 8 threads in blocks of 8, synchronous: 10 time units"
    )
    row = f"{line_of(run, 'x = a[T.id]')}  a      read    memory         2       2      2"
    assert row in repr(run)
    for text in (run._repr_html_(), shown_by_rich(run)):
        assert "10 time units" in text
        assert "conflict-free" in text
        assert "casual" in text


def test_a_total_shows_its_launches():
    run = mm.DMM(4, 3).run(copy, numbers(4), numbers(4), threads=4)
    assert "synchronous, 2 launches: 12 time units" in repr(mm.total([run, run]))


def test_a_profile_shows_every_line():
    profile = mm.DMM(4, 3).run(strided, numbers(8), numbers(16), 2, threads=8).profile()
    for text in (repr(profile), profile._repr_html_(), shown_by_rich(profile)):
        assert "6 stages, 2 of them beyond the least possible" in text
        for line in profile.lines:
            assert line.text in text


def hostile_run():
    """A run whose program text and names look like HTML and like Rich's markup."""
    source = f"def hostile(T, a):\n    a[T.id] = 1  # {HOSTILE} {OTHER_MARKUP}\n"
    run = mm.DMM(4, 3).run(mm.program(define(source, "hostile")), numbers(4), threads=4)
    rows = tuple(replace(row, array=HOSTILE, space=OTHER_MARKUP) for row in run.accesses)
    return replace(run, program=HOSTILE + MARKUP, accesses=rows)


def test_hostile_names_show_as_text():
    run = hostile_run()
    for value in (run, run.profile()):
        html = value._repr_html_()
        assert "<script" not in html
        assert html.count("&lt;script&gt;alert(1)&lt;/script&gt;") == 2
        for text in (repr(value), shown_by_rich(value)):
            assert text.count(HOSTILE) == 2
            assert MARKUP in text  # in the caption
            assert OTHER_MARKUP in text  # in a cell


def long_run(rows):
    """A run with that many rows of accesses."""
    lines = ["def long(T, a):", *(f"    a[{k}]" for k in range(rows))]
    program = mm.program(define("\n".join(lines) + "\n", "long"))
    return mm.DMM(4, 3).run(program, numbers(rows), threads=1)


@pytest.mark.parametrize(("rows", "note"), [(45, "and 5 more rows"), (41, "and 1 more row")])
def test_long_tables_are_cut_with_a_note(rows, note):
    for text in (repr(long_run(40)), long_run(40)._repr_html_(), shown_by_rich(long_run(40))):
        assert "more row" not in text
    run = long_run(rows)
    assert len(run.accesses) == rows
    assert repr(run).splitlines()[-1] == note
    assert f"<p>{note}</p>" in run._repr_html_()
    assert note in shown_by_rich(run)
    assert len(repr(run).splitlines()) == 1 + 1 + 40 + 1  # caption, titles, rows, note
    # A profile is the program's text: it stays whole.
    assert len(repr(run.profile()).splitlines()) == 2 + 1 + rows


def test_a_run_without_accesses_shows():
    @mm.program
    def idle(T):
        pass

    run = mm.DMM(4, 3).run(idle, threads=4)
    assert repr(run).endswith("0 time units")
    assert "0 time units" in run._repr_html_()
    assert "0 time units" in shown_by_rich(run)


# ------------------------------------------------------------------ inputs and results are apart


@both_engines
@both_schedules
def test_inputs_never_change(schedule, engine):
    a, b = numbers(8), np.zeros(8, int)
    placed = mm.place(np.zeros((2, 4)), mm.layout.Diagonal(4))

    @mm.program
    def write_all(T, a, b, c):
        a[T.id] = -1
        b[T.id] = -1
        c[T.id // 4, T.id % 4] = -1

    mm.DMM(4, 3).run(write_all, a, b, placed, threads=8, schedule=schedule, engine=engine)
    assert a.tolist() == list(range(8))
    assert not b.any()
    assert not placed.data.any()


@both_schedules
def test_results_are_copies(schedule):
    a, b = numbers(4), np.zeros(4, int)
    run = mm.DMM(4, 3).run(copy, a, b, threads=4, schedule=schedule, trace=True)
    for name in "ab":
        assert not np.shares_memory(run.arrays[name], a)
        assert not np.shares_memory(run.arrays[name], b)
    a[:] = 77
    assert run.arrays["a"].tolist() == run.arrays["b"].tolist() == [0, 1, 2, 3]
    run.arrays["b"][:] = 88
    *_, last = run.trace.cycles()
    assert last.memory["b"].tolist() == [0, 1, 2, 3]
    assert not b.any()


@both_schedules
@pytest.mark.parametrize("make", [np.asfortranarray, lambda a: a.T.copy().T, lambda a: a[::-1]])
def test_results_are_in_logical_order_whatever_the_inputs_memory_order(make, schedule):
    @mm.program
    def double(T, a):
        a[T.id // 3, T.id % 3] *= 2

    a = make(np.arange(6).reshape(2, 3))
    run = mm.DMM(4, 3).run(double, a, threads=6, schedule=schedule)
    assert (run.arrays["a"] == 2 * a).all()


def test_results_of_placed_arrays_are_in_logical_order():
    a = mm.place(np.arange(16).reshape(4, 4), mm.layout.RAP(4, seed=3))

    @mm.program
    def double(T, a):
        a[T.id // 4, T.id % 4] *= 2

    run = mm.DMM(4, 3).run(double, a, threads=16)
    assert (run.arrays["a"] == 2 * a.data).all()


# ------------------------------------------------------------------ JSON


def bits(array):
    return array.dtype, array.shape, np.ascontiguousarray(array).tobytes()


def there_and_back(run):
    """The run that comes back from JSON; nothing of it is lost."""
    text = run.to_json()
    back = Run.from_json(text)
    assert back == run
    assert back.to_json() == text
    assert list(back.arrays) == list(run.arrays)
    for name, array in run.arrays.items():
        assert bits(back.arrays[name]) == bits(array)
        back.arrays[name][...] = 0  # and can be written to
    for name in ("machine", "program", "threads", "block_size", "schedule", "engine", "time"):
        assert getattr(back, name) == getattr(run, name)
        assert type(getattr(back, name)) is type(getattr(run, name))
    assert (back.accesses, back.rounds) == (run.accesses, run.rounds)
    assert (back.sources, back.launches) == (run.sources, run.launches)
    assert back.profile() == run.profile()
    return back


EXTREMES = {
    "bool": [True, False],
    "int8": [-128, 127],
    "int16": [-(2**15), 2**15 - 1],
    "int32": [-(2**31), 2**31 - 1],
    "int64": [-(2**63), 2**63 - 1],
    "uint8": [0, 255],
    "uint16": [0, 2**16 - 1],
    "uint32": [0, 2**32 - 1],
    "uint64": [0, 2**64 - 1],
    "float32": [np.nan, -0.0, np.inf, -np.inf, 1e-45, 3.4028235e38],
    "float64": [np.nan, -0.0, np.inf, -np.inf, 5e-324, 1.7976931348623157e308, 0.1],
    "complex64": [complex(-0.0, 1e-45), complex(np.inf, -0.0), 3.4028235e38j, complex(np.nan, 1)],
    "complex128": [complex(-0.0, 5e-324), complex(-np.inf, -0.0), 0.1 - 1e308j, complex(1, np.nan)],
}


@both_schedules
@pytest.mark.parametrize("dtype", EXTREMES)
def test_json_keeps_every_bit(dtype, schedule):
    values = np.array(EXTREMES[dtype], dtype=dtype)
    run = mm.DMM(4, 3).run(
        copy, values, np.zeros_like(values), threads=len(values), schedule=schedule, trace=True
    )
    assert run.arrays["b"].tobytes() == values.tobytes()
    back = there_and_back(run)
    for one, other in zip(run.trace.dispatches, back.trace.dispatches, strict=True):
        assert list(map(repr, one.values)) == list(map(repr, other.values))


def test_json_keeps_unicode():
    source = "def grüße(T, ä):\n    ä[T.id] = 1  # 漢字 😀 \\u0000 \t\n"
    run = mm.DMM(4, 3).run(mm.program(define(source, "grüße")), numbers(4), threads=4)
    back = there_and_back(run)
    assert back.program == "grüße"
    assert back.sources[0].lines[1] == source.splitlines()[1]
    assert back.to_json().isascii()


def test_json_keeps_shapes():
    @mm.program
    def nothing(T, a, b):
        pass

    run = mm.DMM(4, 3).run(nothing, np.zeros((2, 3, 1)), np.zeros((0, 2)), threads=1)
    assert there_and_back(run).arrays["b"].shape == (0, 2)


def test_runs_differ_by_what_they_hold():
    run = mm.DMM(4, 3).run(copy, np.zeros(4), np.zeros(4), threads=4)
    assert run == mm.DMM(4, 3).run(copy, np.zeros(4), np.zeros(4), threads=4)
    assert run != mm.DMM(4, 3).run(copy, -np.zeros(4), np.zeros(4), threads=4)
    assert run != replace(run, time=run.time + 1)
    assert run != "a run"


# ------------------------------------------------------------------ JSON of other programs

SMALL = mm.HMM(2, 2, 3).run(
    shuffle, numbers(4), np.zeros(4), threads=4, block_size=2, schedule="asynchronous", trace=True
)
TEXT = SMALL.to_json()


@pytest.mark.parametrize(
    "text",
    [
        *("", "null", "[]", "{}", "17", '"mmsim 2"', "{", TEXT[:-1], TEXT + "}"),
        *(TEXT.replace("mmsim 2", "mmsim 3"), "[" * 100_000, "1" * 5000, '{"format": "mmsim 2"}'),
        '{"format": ["mmsim 2"], "value": 1}',
        '{"format": "mmsim 2", "value": {"$class": "Run"}}',
        '{"format": "mmsim 2", "value": {"$class": "os.system", "command": "true"}}',
        '{"format": "mmsim 2", "value": {"$class": ["Run"]}}',
        '{"format": "mmsim 2", "value": {"$class": "DMM", "width": 4, "latency": 3}}',
        '{"format": "mmsim 2", "value": {"$class": "DMM", "width": 0, "latency": 3}}',
        '{"format": "mmsim 2", "value": {"$dict": [1]}}',
        '{"format": "mmsim 2", "value": ' + "[" * 490 + "]" * 490 + "}",
    ],
)
def test_what_is_no_run_is_refused(text):
    with pytest.raises(FormatError):
        Run.from_json(text)


OF_ARRAYS = [
    *({"$array": "object"}, {"$array": "i4,("}, {"$array": "float128"}, {"$array": ">i8"}),
    *({"$array": "int32"}, {"$array": None}, {"shape": [5]}, {"shape": [-1]}),
    *({"shape": [1e999]}, {"shape": [True, 4]}, {"shape": [4.0]}, {"shape": "4"}),
    *({"shape": 4}, {"shape": [10**30]}, {"base64": "AAAA"}, {"base64": "A"}),
    *({"base64": "!!"}, {"base64": "ä"}, {"base64": None}),
]
OF_RUNS = [
    *({"time": "5"}, {"time": 5.0}, {"time": True}, {"time": None}, {"program": 5}),
    {"machine": {"$class": "Run"}},
    {"machine": {"$class": "DMM", "width": 4, "latency": 3, "os": 1}},
    *({"arrays": []}, {"arrays": {"$dict": [["a", 5]]}}, {"accesses": [5]}),
    *({"accesses": {"$dict": []}}, {"sources": [[]]}, {"record": 5}, {"__class__": 5}),
    {"more": 5},
]
DAMAGES = [
    *((("arrays", "$dict", 0, 1), damage) for damage in OF_ARRAYS),
    *(((), damage) for damage in OF_RUNS),
    (("accesses", 0), {"access_class": "fine"}),
]


@pytest.mark.parametrize(("place", "damage"), DAMAGES)
def test_a_damaged_run_is_refused(place, damage):
    document = json.loads(TEXT)
    damaged = document["value"]
    for key in place:
        damaged = damaged[key]
    damaged.update(damage)
    with pytest.raises(FormatError):
        Run.from_json(json.dumps(document))
    assert issubclass(FormatError, mm.MMSimError)


@pytest.mark.parametrize("runs", [5, [1], "x"])
def test_a_total_of_something_else(runs):
    with pytest.raises(LaunchError, match="total takes runs"):
        mm.total(runs)


def test_a_total_shares_nothing_with_its_runs_and_says_where_traces_are():
    run = mm.DMM(2, 1).run(copy, np.zeros(2), np.zeros(2), threads=2, trace=True)
    both = mm.total([run, run])
    both.arrays["b"][0] = 9
    assert run.arrays["b"][0] == 0
    with pytest.raises(mm.MMSimError, match=r"run.traces has one for each of its launches"):
        both.trace


@dataclass(frozen=True)
class Unreadable:
    """A class that results must not have."""

    size: int
    data: bytes


@pytest.mark.parametrize("annotation", [bytes, set[int], tuple, dict[int, int], list])
def test_an_annotation_that_the_codec_does_not_know_is_an_error(annotation):
    with pytest.raises(TypeError, match="there is no reader for the annotation"):
        codec.reader_of(annotation)


def test_a_tuple_of_known_parts_has_these_and_no_others():
    read = codec.reader_of(tuple[int, str])
    assert read([1, "a"]) == (1, "a")
    for value in ([1], [1, "a", "b"], ["a", 1], (1, "a"), None):
        with pytest.raises(ValueError, match="can't be"):
            read(value)


def test_a_class_that_the_codec_can_not_read_is_an_error_before_anything_is_read():
    with pytest.raises(TypeError, match="annotation <class 'bytes'>"):
        codec.reader_of(Unreadable)


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("offsets", encode(np.zeros(4)), "must give an integer array of that shape"),
        ("data", [], "data of Given can't be a list"),
        ("name", None, "name of Given can't be None"),
        ("addresses", [], "Given has no field 'addresses'"),
    ],
)
def test_an_array_of_the_wrong_kind_is_refused(field, value, words):
    document = json.loads(TEXT)
    document["value"]["record"]["parameters"][0][field] = value
    with pytest.raises(FormatError, match=words):
        Run.from_json(json.dumps(document))


def test_a_machine_that_is_no_dataclass_runs_but_is_not_saved():
    class Plain(mm.Machine):
        width = 4
        memory = mm.Unit("memory", mm.Banks(4), 2)

    run = Plain().run(shuffle, np.arange(8), np.zeros(8), threads=8)
    assert run.time == mm.DMM(4, 2).run(shuffle, np.arange(8), np.zeros(8), threads=8).time
    with pytest.raises(mm.MMSimError, match="Plain can't be saved as JSON; make your machine a da"):
        run.to_json()
