"""The reference evaluation itself: what holds of every run, and of one warp and of one thread.

Its stages, rounds, turns and barriers are those of the event engine
(`test_events_against_reference.py`), which `test_timing_rules.py` holds to numbers counted by hand.
"""

import ast
import operator
import re
from types import SimpleNamespace
from unittest import mock

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.kit.generators import random_complex, random_typed
from tests.kit.generators.draws import draws
from tests.kit.generators.random_programs import cases, define, evaluated
from tests.kit.oracle import reference
from tests.kit.oracle.reference import RefPlaced
from tests.kit.runs.paths import SCHEDULES


def touched(outcome):
    return [(array, kind) for _, _, _, _, array, kind, _, _ in outcome.dispatches]


# ---------------------------------------------------------------- random programs


random = settings(max_examples=draws(12))


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
