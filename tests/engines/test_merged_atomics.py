"""Atomics that a compiler merges: one request of a sector for all lanes with one place."""

import numpy as np
import pytest

import mmsim as mm
from tests.kit.generators.random_programs import define
from tests.kit.runs.paths import both_engines, both_schedules

MERGING = mm.Cached(2, 8, 20, sectors=4, capacity=256, slices=8, atomic_time=2, merges=1)
HEAD = "@mm.program\ndef made(T, a, b, k):\n"


def asked(*lines, machine=MERGING, dtype=np.int32, **how):
    """The sectors that each atomic of a program asks for, in 4 warps of 8 threads."""
    program = define(HEAD + "".join(f"    {line}\n" for line in lines), "made")
    a, b = np.zeros(64, dtype), np.arange(64) % 7
    run = machine.run(program, a, b, 3, threads=32, block_size=16, trace=False, **how)
    return {row.line: row.sectors for row in run.cache if row.kind == "atomic"}


@both_engines
@both_schedules
@pytest.mark.parametrize(
    "place",
    ["5", "k", "k % 2", "T.block", "T.warp", "T.block * 2 + k", "a.size - 1", "T.count // 16"],
)
def test_lanes_with_one_place_by_the_text_are_merged(engine, schedule, place):
    how = {"engine": engine, "schedule": schedule}
    text = f"mm.atomic.add(a, {place}, T.id)"
    assert asked(text, **how) == {3: 4}
    assert asked(f"x = {text}", "b[T.id] = x", **how) == {3: 4}
    assert asked(text, machine=mm.Cached(2, 8, 20, sectors=4, capacity=256), **how) == {3: 32}


@pytest.mark.parametrize("place", ["T.id * 0", "T.lane // 8", "T.index * 0", "b[0]", "r[0]", "c"])
def test_lanes_with_one_place_by_chance_take_turns(place):
    lines = "r = mm.registers(1, dtype=mm.int32)", "c = b[0]", f"mm.atomic.add(a, {place}, 1)"
    assert asked(*lines) == {5: 32}


@pytest.mark.parametrize(
    ("op", "sectors"),
    [*((op, 4) for op in ("add", "sub", "max", "min", "and_", "or_", "xor")), ("exch", 32)],
)
def test_which_operations_are_merged(op, sectors):
    assert asked(f"mm.atomic.{op}(a, 0, 1)") == {3: sectors}


def test_a_comparison_is_not_merged():
    assert asked("mm.atomic.cas(a, 0, 1, 2)") == {3: 32}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_floats_are_not_merged(dtype):
    assert asked("mm.atomic.add(a, 0, 1)", dtype=dtype) == {3: 32}


def test_a_place_that_differs_makes_a_request_of_all_its_sectors():
    """The merged atomic of a part of the lanes, and one on a word for each lane."""
    assert asked("if T.lane < 3:", "    mm.atomic.add(a, 0, 1)") == {4: 4}
    assert asked("mm.atomic.add(a, T.lane, 1)") == {3: 16}


@pytest.mark.parametrize(
    ("lines", "sectors"),
    [
        (("i = k", "i = i + 1"), 4),
        (("i = k", "i = T.id * 0"), 32),
        (("i = 0", "if T.lane < 3:", "    i = 1", "    i = 0"), 32),
        (("if T.lane < 9:", "    i = k"), 32),
        (("i = 0", "if k < 9:", "    i = 1"), 4),
        (("i = 0", "for j in range(k):", "    i = j"), 4),
        (("i = 0", "for j in range(T.lane * 0 + 3):", "    i = 2"), 32),
        (("i = 0", "while i < k:", "    i = i + 1"), 4),
        (("i = 0", "while i < T.lane * 0 + 3:", "    i = i + 1"), 32),
        (("i = 0", "while i < 3:", "    i = i + 1", "    if T.lane < 0:", "        break"), 32),
        (("i = 0", "for j in range(k):", "    if T.id < 0:", "        continue", "    i = 1"), 32),
        (("if T.lane < 0:", "    return", "i = 0", "i = 1"), 4),
    ],
)
def test_a_variable_is_the_same_in_a_warp_if_all_its_values_are_in_one_branch(lines, sectors):
    number = len(lines) + 3
    assert asked(*lines, "mm.atomic.add(a, i, 1)") == {number: sectors}


def test_lanes_that_are_together_in_a_loop_are_merged_there():
    """The first of 8 lanes makes no trip; in each of the others one lane less goes on."""
    lines = "i = 1", "while i < T.lane + 1:", "    mm.atomic.add(a, k, 1)", "    i = i + 1"
    assert asked(*lines) == {5: 4 * 7}
    lines = "for i in range(T.lane):", "    j = i", "    mm.atomic.add(a, j, 1)"
    assert asked(*lines) == {5: 4 * (7 + 6 + 5 + 4 + 3 + 2 + 1)}


def test_a_merged_atomic_occupies_its_slice_once():
    """Of 4 warps: 4 sectors of 2 instead of 32, and as many stages as ever."""
    times = []
    for merges in (0, 1):
        machine = mm.Cached(1, 8, 20, slices=8, atomic_time=90, capacity=64, merges=merges)
        run = machine.run(
            define(HEAD + "    mm.atomic.add(a, k, 1)\n", "made"),
            np.zeros(8, int),
            np.zeros(1),
            3,
            threads=32,
            schedule="asynchronous",
        )
        assert run.arrays["a"].tolist() == [0, 0, 0, 32, 0, 0, 0, 0]
        assert sum(row.stages for row in run.accesses) == 32
        times.append(run.time)
    assert times == [32 * 90 + 19, 4 * 90 + 19]
