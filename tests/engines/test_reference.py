"""The reference evaluation itself: examples worked by hand, and the random programs."""

from __future__ import annotations

import ast
import operator
import re
from math import gcd
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.kit.generators import random_complex, random_typed
from tests.kit.generators.draws import draws
from tests.kit.generators.random_programs import RotatingRows, cases, define, evaluated
from tests.kit.oracle import reference
from tests.kit.oracle.reference import RefDMM, RefHMM, RefPlaced, RefUMM, evaluate

SCHEDULES = ["synchronous", "asynchronous"]


def run(body, machine, *args, threads, block_size=None, schedule="synchronous"):
    """Evaluate a program given by its body; its arrays are called a, b, c in order."""
    parameters = ", ".join(["T", *"abc"[: len(args)]])
    lines = "".join(f"    {line}\n" for line in body.strip("\n").split("\n"))
    source = f"def program({parameters}):\n{lines}"
    return evaluate(source, "program", machine, list(args), threads, block_size, schedule)


def timeline(outcome):
    return [(time, warp, end) for time, _, warp, _, _, _, _, end in outcome.dispatches]


def touched(outcome):
    return [(array, kind) for _, _, _, _, array, kind, _, _ in outcome.dispatches]


def zeros(size):
    return np.zeros(size, int)


# ---------------------------------------------------------------- stages and rounds


@pytest.mark.parametrize(
    ("addresses", "latency", "dmm", "umm"),
    [
        ([0, 1, 10, 6, 8, 9, 14, 15], 3, 5, 7),
        ([7, 5, 15, 0, 10, 11, 12, 9], 5, 7, 9),
    ],
)
def test_the_two_requests_of_the_rules(addresses, latency, dmm, umm):
    for machine, time in ((RefDMM(4, latency), dmm), (RefUMM(4, latency), umm)):
        outcome = run("b[a[T.id]]", machine, np.array(addresses), zeros(16), threads=8)
        assert [r[4] for r in outcome.rounds] == [2 + latency - 1, time]
        assert outcome.time == 2 + latency - 1 + time


@pytest.mark.parametrize(("n", "p", "w", "latency"), [(16, 8, 4, 3), (24, 4, 4, 1), (12, 12, 3, 6)])
def test_copy(n, p, w, latency):
    body = "for k in range(len(a) // T.count):\n    b[k * T.count + T.id] = a[k * T.count + T.id]"
    for machine in (RefDMM(w, latency), RefUMM(w, latency)):
        outcome = run(body, machine, np.arange(n), zeros(n), threads=p)
        assert outcome.time == 2 * (p // w + latency - 1) * n // p
        assert (outcome.arrays["b"] == np.arange(n)).all()


@pytest.mark.parametrize(("n", "p", "w", "latency"), [(32, 8, 4, 3), (48, 4, 4, 2), (24, 8, 4, 1)])
def test_stride(n, p, w, latency):
    body = "for k in range(len(a) // T.count):\n    a[T.id * (len(a) // T.count) + k]"
    outcome = run(body, RefDMM(w, latency), zeros(n), threads=p)
    assert outcome.time == (gcd(n // p, w) * p // w + latency - 1) * n // p


def test_requests_for_one_address_merge():
    for machine in (RefDMM(4, 3), RefUMM(4, 3)):
        assert run("a[5]", machine, zeros(8), threads=4).rounds == [(2, "a", "read", 1, 3)]
    # Addresses 1, 5, 1, 5: one bank, two distinct addresses, two groups.
    for machine in (RefDMM(4, 3), RefUMM(4, 3)):
        assert run("a[1 + T.id % 2 * 4]", machine, zeros(8), threads=4).time == 4


def test_the_lowest_thread_of_a_warp_wins_and_the_later_warp():
    outcome = run("a[0] = T.id + 10", RefDMM(2, 1), zeros(1), threads=4)
    assert outcome.arrays["a"].tolist() == [12]
    # Warp 0 reads once more than warp 1, so it writes later and its value stays.
    body = "if T.warp == 0:\n    a[1]\n    a[1]\nelse:\n    a[2]\na[0] = T.id + 10"
    outcome = run(body, RefDMM(2, 4), zeros(3), threads=4, schedule="asynchronous")
    assert outcome.arrays["a"][0] == 10
    assert timeline(outcome) == [(0, 0, 4), (1, 1, 5), (4, 0, 8), (5, 1, 9), (8, 0, 12)]


def test_skipped_accesses_take_no_time():
    for schedule in SCHEDULES:
        outcome = run(
            "if T.id < 0:\n    a[0]", RefUMM(2, 5), zeros(1), threads=4, schedule=schedule
        )
        assert (outcome.time, outcome.dispatches, outcome.rounds) == (0, [], [])
    # Only warp 1 is dispatched; with only one warp active a round lasts one stage + l - 1.
    outcome = run("if T.id == 3:\n    a[0]", RefDMM(2, 5), zeros(1), threads=4)
    assert timeline(outcome) == [(0, 1, 5)]


def test_placed_arrays_conflict_where_they_lie():
    data = np.arange(16).reshape(4, 4)
    column = "a[T.id, 0]"
    assert run(column, RefDMM(4, 1), data, threads=4).time == 4
    placed = RefPlaced(data, RotatingRows(1).offsets((4, 4)))
    outcome = run(column + "\na[0, 0] = 9", RefDMM(4, 1), placed, threads=4)
    assert [r[3] for r in outcome.rounds] == [1, 1]
    assert outcome.arrays["a"][0].tolist() == [9, 1, 2, 3]  # in logical order
    assert data[0, 0] == 0  # inputs are never changed


# ---------------------------------------------------------------- threads


def test_partial_warps_and_blocks():
    body = "a[T.id, 0] = T.warp\na[T.id, 1] = T.lane\na[T.id, 2] = T.index\na[T.id, 3] = T.block"
    body += "\na[T.id, 4] = T.block_size\na[T.id, 5] = T.blocks * 100 + T.count"
    outcome = run(body, RefDMM(2, 1), np.zeros((7, 6), int), threads=7, block_size=3)
    assert outcome.arrays["a"].T.tolist() == [
        [0, 0, 1, 2, 2, 3, 4],
        [0, 1, 0, 0, 1, 0, 0],
        [0, 1, 2, 0, 1, 2, 0],
        [0, 0, 0, 1, 1, 1, 2],
        [3] * 7,
        [307] * 7,
    ]


def test_every_block_has_its_own_shared_array():
    body = "s = mm.shared(1, dtype=int)\ns[0] += T.id + 1\na[T.id] = s[0]"
    for machine in (RefDMM(4, 1), RefHMM(2, 4, 3, 1)):
        outcome = run(body, machine, zeros(6), threads=6, block_size=2)
        assert outcome.arrays["a"].tolist() == [1, 1, 3, 3, 5, 5]


# ---------------------------------------------------------------- the asynchronous schedule


def test_latencies_overlap():
    outcome = run("a[0]\na[0]", RefDMM(1, 3), zeros(1), threads=2, schedule="asynchronous")
    assert timeline(outcome) == [(0, 0, 3), (1, 1, 4), (3, 0, 6), (4, 1, 7)]
    assert outcome.time == 7
    assert run("a[0]\na[0]", RefDMM(1, 3), zeros(1), threads=2).time == 8


def test_turns_are_circular():
    # From time 1 on all three warps are always ready: it is never warp 0 again immediately.
    outcome = run("a[0]\na[0]", RefDMM(1, 1), zeros(1), threads=3, schedule="asynchronous")
    assert [d[2] for d in outcome.dispatches] == [0, 1, 2, 0, 1, 2]
    assert outcome.time == 6


def test_a_unit_is_busy_for_as_many_units_as_stages():
    # a[2 i] takes two stages on two banks; warp 0 is back at 3, but the unit is free only at 4.
    body = "a[2 * T.id]\na[T.id]"
    outcome = run(body, RefDMM(2, 2), zeros(8), threads=4, schedule="asynchronous")
    assert timeline(outcome) == [(0, 0, 3), (2, 1, 5), (4, 0, 6), (5, 1, 7)]


def test_a_barrier_waits_for_the_slowest_warp():
    body = "if T.id == 0:\n    a[0]\nT.barrier()\na[1]"
    outcome = run(body, RefDMM(1, 2), zeros(2), threads=2, schedule="asynchronous")
    assert timeline(outcome) == [(0, 0, 2), (2, 1, 4), (3, 0, 5)]  # warp 1 follows warp 0
    assert outcome.releases == [(2, 0)]


def test_a_warp_that_ends_may_release_the_others():
    body = "if T.id == 0:\n    a[0]\n    return\nT.barrier()\na[1]\nT.barrier()\nT.barrier()"
    outcome = run(body, RefDMM(1, 2), zeros(2), threads=2, schedule="asynchronous")
    assert timeline(outcome) == [(0, 0, 2), (2, 1, 4)]
    assert outcome.releases == [(2, 0), (4, 0), (4, 0)]


def test_blocks_wait_for_themselves_only():
    body = "if T.id == 0:\n    a[0]\nT.barrier()\na[T.id]"
    outcome = run(body, RefDMM(1, 4), zeros(4), threads=4, block_size=2, schedule="asynchronous")
    assert timeline(outcome) == [(0, 0, 4), (1, 2, 5), (2, 3, 6), (4, 0, 8), (5, 1, 9)]
    assert outcome.releases == [(0, 1), (4, 0)]


def test_a_barrier_for_part_of_a_warp_is_an_error():
    for schedule in SCHEDULES:
        with pytest.raises(ValueError, match="live lanes"):
            run("if T.id:\n    T.barrier()", RefDMM(2, 1), threads=2, schedule=schedule)
        # What has returned is not live.
        body = "if T.id:\n    return\nT.barrier()"
        assert run(body, RefDMM(2, 1), threads=2, schedule=schedule).time == 0


# ---------------------------------------------------------------- the HMM


def test_the_global_unit_takes_the_dmms_in_turn():
    # Blocks of two warps: warps 0, 1, 4, 5 live on DMM 0 and warps 2, 3, 6, 7 on DMM 1.
    order = {"asynchronous": [0, 2, 1, 3, 4, 6, 5, 7], "synchronous": list(range(8))}
    for schedule in SCHEDULES:
        machine = RefHMM(2, 1, 5, 1)
        outcome = run("a[T.id]", machine, zeros(8), threads=8, block_size=2, schedule=schedule)
        assert [d[:3] for d in outcome.dispatches] == [
            (time, "global", warp) for time, warp in enumerate(order[schedule])
        ]
        assert outcome.time == 7 + 5


def test_each_dmm_has_its_own_turn_at_the_global_unit():
    # Warps 0 and 2 live on DMM 0, warp 1 on DMM 1, and from time 1 on all are always ready.
    machine = RefHMM(2, 1, 1, 1)
    body = "a[0]\na[0]"
    outcome = run(body, machine, zeros(1), threads=3, block_size=1, schedule="asynchronous")
    assert [d[2] for d in outcome.dispatches] == [0, 1, 2, 1, 0, 2]


def test_shared_memories_work_together():
    body = "s = mm.shared(4, dtype=int)\ns[T.index * 2]\na[T.id * 2]"
    for schedule in SCHEDULES:
        machine = RefHMM(2, 2, 3, 1)
        outcome = run(body, machine, zeros(8), threads=4, block_size=2, schedule=schedule)
        assert outcome.dispatches == [
            (0, "shared[0]", 0, 3, "s", "read", 2, 2),
            (0, "shared[1]", 1, 3, "s", "read", 2, 2),
            (2, "global", 0, 4, "a", "read", 2, 6),  # groups 0 and 1
            (4, "global", 1, 4, "a", "read", 2, 8),
        ]
    outcome = run(body, machine, zeros(8), threads=4, block_size=2)
    assert outcome.rounds == [(3, "s", "read", 4, 2), (4, "a", "read", 4, 6)]


# ---------------------------------------------------------------- the language


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("b[a[0]] = c[0]", ["c read", "a read", "b write"]),
        ("a[b[0]] += c[0]", ["b read", "a read", "c read", "a write"]),
        ("a[0], b[a[0]] = c[0], a[1]", ["c read", "a read", "a write", "a read", "b write"]),
        ("a[b[c[0]]]", ["c read", "b read", "a read"]),
        ("x = a[0] if T.id == 1 else b[0]", ["a read", "b read"]),
        ("x = a[0] if T.id == 5 else b[0]", ["b read"]),
        ("if T.id == 1:\n    a[0]\nelse:\n    b[0]\nc[0]", ["a read", "b read", "c read"]),
        ("x = a[0] and b[0]", ["a read"]),
        ("x = a[0] or b[0]", ["a read", "b read"]),
        ("x = T.id and b[0]", ["b read"]),
        ("x = a[0] > b[0] > c[0]", ["a read", "b read"]),
        ("x = a[0] <= b[0] > c[0]", ["a read", "b read", "c read"]),
        ("x = max(a[0], b[0]) + c[0]", ["a read", "b read", "c read"]),
        ("for k in range(T.id):\n    a[0]\n    b[0]", ["a read", "b read"]),
    ],
)
def test_memory_is_touched_in_pythons_order(body, expected):
    outcome = run(body, RefDMM(2, 1), zeros(4), zeros(4), zeros(4), threads=2)
    assert [f"{array} {kind}" for array, kind in touched(outcome)] == expected


def results(body, data, threads=4):
    data = np.array(data)
    one, other = (run(body, RefDMM(2, 2), data, threads=threads, schedule=s) for s in SCHEDULES)
    assert (one.arrays["a"] == other.arrays["a"]).all()
    return one.arrays["a"].tolist()


def test_lanes_leave_loops_one_by_one():
    body = "for k in range(T.id + 1):\n    if k == 2:\n        break\n    a[T.id] += 1"
    assert results(body, [0] * 4) == [1, 2, 2, 2]
    body = "for k in range(4):\n    if k == T.id:\n        continue\n    a[T.id] += 10 ** k"
    assert results(body, [0] * 4) == [1110, 1101, 1011, 111]
    body = "k = 0\nwhile k < T.id:\n    k += 1\n    if k == 3:\n        return\na[T.id] = k + 1"
    assert results(body, [0] * 4) == [1, 2, 3, 0]


def test_numbers():
    body = "x = a[0]\na[0] = x // 2\na[1] = x % 3\na[2] = int(x / 2)\na[3] = -x ** 2"
    assert results(body, [-7, 0, 0, 0], threads=1) == [-4, 2, -3, -49]
    body = "x = a[0]\na[0] = x * 4\na[1] = abs(x * 2)\na[2] = x * 2 - 1\na[3] = x * x"
    assert results(body, [2**62, 0, 0, 0], threads=1) == [0, -(2**63), 2**63 - 1, 0]


def test_registers_belong_to_a_thread():
    body = "r = mm.registers(2)\nr[1] = T.id\na[T.id] = r[0] * 10 + r[1]"
    assert results(body, [9] * 4) == [0, 1, 2, 3]


def test_helpers():
    source = """
LIMIT = 2

def fetch(x, i):
    if i < LIMIT:
        return x[i]
    return -i

def program(T, a, b):
    b[T.id] = fetch(a, T.id) + 1
"""
    data = np.array([5, 6, 7, 8])
    outcome = evaluate(source, "program", RefDMM(4, 1), [data, zeros(4)], 4, None, "synchronous")
    assert outcome.arrays["b"].tolist() == [6, 7, -1, -2]
    assert [r[:3] for r in outcome.rounds] == [(6, "a", "read"), (10, "b", "write")]


def test_lock_step_and_its_absence():
    # To reverse an array in place, everyone must read before anyone writes; with a warp of its
    # own pace, warp 1 has written at time 3 what warp 0 reads at time 4.
    body = "if T.warp == 0:\n    a[0]\n    a[0]\nx = a[3 - T.id]\na[T.id] = x"
    expected = {"synchronous": [4, 3, 2, 1], "asynchronous": [1, 2, 2, 1]}
    for schedule in SCHEDULES:
        outcome = run(body, RefDMM(2, 1), np.array([1, 2, 3, 4]), threads=4, schedule=schedule)
        assert outcome.arrays["a"].tolist() == expected[schedule]


# ---------------------------------------------------------------- random programs


random = settings(
    max_examples=draws(40),
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@random
@given(cases())
def test_random_programs_are_valid(case):
    for schedule in SCHEDULES:
        outcome = evaluated(case, schedule)
        assert outcome.time == max((d[7] for d in outcome.dispatches), default=0)
        busy = {}  # unit -> until when
        for time, unit, _, _, _, _, stages, _ in outcome.dispatches:
            assert time >= busy.get(unit, 0)
            busy[unit] = time + stages
        if schedule == "synchronous":
            assert outcome.time == sum(r[4] for r in outcome.rounds)
            assert sum(d[6] for d in outcome.dispatches) == sum(r[3] for r in outcome.rounds)


@random
@given(st.integers(1, 4).flatmap(lambda threads: cases(threads=threads)))
def test_with_one_warp_the_schedules_agree(case):
    assume(case.threads <= min(case.machine_spec.width, case.block_size or case.threads))
    one, other = (evaluated(case, schedule) for schedule in SCHEDULES)
    assert one.dispatches == other.dispatches
    assert all(same(one.arrays[name], other.arrays[name]) for name in one.arrays)


def same(x, y):
    return x.dtype == y.dtype and x.tobytes() == y.tobytes()


class PlainArray:
    """An array whose elements are Python's own numbers, and which remembers who touched it."""

    def __init__(self, name, data, log):
        self.name, self.data, self.log = name, data, log
        self.shape = data.shape

    @property
    def size(self):
        return self.data.size

    @property
    def ndim(self):
        return self.data.ndim

    def __len__(self):
        return len(self.data)

    def __getitem__(self, index):
        element = self.data[index]
        if isinstance(element, np.ndarray):
            return PlainArray(self.name, element, self.log)  # a[i] of a[i][j]
        self.log.append((self.name, "read"))
        return element.item()

    def __setitem__(self, index, value):
        self.log.append((self.name, "write"))
        self.data[index] = value


class PlainVectors:
    """The vectors of an array: each is one access."""

    def __init__(self, array, count):
        self.log, self.name = array.log, array.name
        self.data = array.data.reshape(*array.shape[:-1], -1, count)

    def __getitem__(self, index):
        self.log.append((self.name, "read"))
        return tuple(self.data[index].tolist())

    def __setitem__(self, index, values):
        self.log.append((self.name, "write"))
        self.data[index] = values


def plain_atomic(op):
    """An atomic of one thread: it reads a word and writes it back."""

    def access(array, index, *given):
        word = array.data[index]
        array.log.append((array.name, "atomic"))
        array.data[index] = reference.changed(op, word, *given)
        return word.item()

    return access


ATOMICS = ("add", "sub", "max", "min", "and_", "or_", "xor", "exch", "cas", "inc", "dec")


ONE_LANE = SimpleNamespace(
    **{f"shuffle{way}": lambda value, other: value for way in ("", "_up", "_down", "_xor")},
    **{vote: bool for vote in ("any", "all")},
    **{match: lambda value: 1 for match in ("match_any", "match_all")},
    ballot=lambda test: int(bool(test)),
    active_mask=lambda: 1,
    sync=lambda: None,
)
"""What a warp of one lane exchanges."""


class TooLarge(Exception):
    pass


def check_size(value):
    if type(value) is int and not -(2**63) <= value < 2**63:
        raise TooLarge
    return value


def no_types_on_request():
    """Draw none, and no functions, as long as this lasts: these are NumPy's and not Python's."""
    return mock.patch.multiple(
        random_typed,
        value=lambda author, type_, s, depth: "1",
        int_of=lambda author, s, depth: "1",
        float_of=lambda author, s, x, depth: x,
        statement=lambda author, s: ["pass"],
    )


def no_complex_arithmetic():
    """Draw complex numbers, but nothing computed of them.

    Python rounds quotients otherwise, and from 3.14 on takes a real number for no complex one.
    """
    return mock.patch.multiple(
        random_complex,
        TYPES=(random_complex.PLAIN,),
        value=lambda author, type_, s, depth: random_complex.leaf(author, type_, s),
    )


@no_complex_arithmetic()
@no_types_on_request()
@random
@given(cases(threads=1))
def test_one_thread_means_what_python_means(case):
    powers = mock.patch.dict(reference.BINARY, {ast.Pow: operator.pow})  # those of Python
    with mock.patch.object(reference, "wrap64", check_size), powers:
        try:
            outcome = evaluated(case, "asynchronous")
        except TooLarge:
            assume(False)  # Python's integers do not wrap
    log = []
    names = iter(re.findall(r"(\w+) = mm.shared", case.source))
    mm = SimpleNamespace(
        shared=lambda shape, dtype: PlainArray(next(names), np.zeros(shape, dtype), log),
        registers=lambda size: [0] * size,
        program=lambda function: function,
        vector=PlainVectors,
        atomic=SimpleNamespace(**{op: plain_atomic(op) for op in ATOMICS}),
        warp=ONE_LANE,
    )
    thread = SimpleNamespace(id=0, index=0, block=0, lane=0, warp=0, count=1, blocks=1)
    thread.block_size = case.block_size or 1
    thread.threadIdx = thread.blockIdx = SimpleNamespace(x=0, y=0, z=0)
    thread.blockDim = thread.gridDim = SimpleNamespace(x=1, y=1, z=1)
    thread.barrier = thread.grid_barrier = lambda: None
    thread.barrier_or = thread.barrier_and = bool
    thread.barrier_count = lambda test: int(bool(test))
    tables = SimpleNamespace(array=lambda rows: PlainArray(None, np.array(rows), []))
    program = define(case.source, case.name, mm, tables)
    parameters = re.search(r"def program\(T, (.*)\):", case.source)[1].split(", ")
    args = []
    for name, arg in zip(parameters, case.args, strict=True):
        data = arg.array if isinstance(arg, RefPlaced) else arg
        args.append(PlainArray(name, data.copy(), log) if isinstance(data, np.ndarray) else data)
    program(thread, *args)
    assert touched(outcome) == log
    for name, arg in zip(parameters, args, strict=True):
        if isinstance(arg, PlainArray):
            assert same(arg.data, outcome.arrays[name])
