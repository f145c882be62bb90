"""Loads that a compiler moves before a loop, in which they would read the same words."""

import copy
import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import mmsim as mm
from mmsim import cuda
from mmsim.api.binding import bind
from mmsim.errors import AddressError
from mmsim.frontend.numba.kernel import numba_program
from mmsim.ir.operations import changes
from mmsim.ir.walk import statements
from mmsim.model.threads import asked
from mmsim_algorithms.gpu.fourth.cases import CASES
from tests.kit.generators.draws import draws
from tests.kit.generators.random_numba import numba_cases
from tests.kit.generators.random_programs import define
from tests.kit.runs.paths import both_engines

COMPILED = mm.Cached(1, 4, 10, under_way=32, unrolls=1)
UMM = mm.UMM(4, 10)
A = np.arange(64, dtype=np.float64)
HEAD = "from numba import cuda, float64\n\n\ndef made(a, b, d, n, m):\n    i = cuda.grid(1)\n"
BEGIN = "    x, y = a.size - 64, 0.0\n    s = cuda.shared.array(64, float64)\n"
BEGIN += "    t = cuda.shared.array(64, float64)\n    cuda.syncthreads()\n"
END = "    b[i] = y\n"


def kernel(text):
    lines = "".join(f"    {line}\n" for line in text.splitlines())
    return numba_program(define(f"{HEAD}{BEGIN}{lines}{END}", "made"))


def reads(text, machine=COMPILED, n=5, m=6):
    """The requests to each array of a warp's reads."""
    arguments = A, np.zeros(4), np.arange(64), n, m
    return of_run(machine.run(kernel(text), *arguments, grid=1, block=4))


def of_run(run):
    found = Counter()
    for row in run.accesses:
        found[row.array] += row.requests * (row.kind == "read")
    return +found


@pytest.mark.parametrize(
    ("text", "of_a"),
    [
        ("for j in range(n):\n    y += a[i]", 1),
        ("for j in range(n):\n    y += a[j]", 5),
        ("for j in range(n):\n    y += a[j] - a[i]", 6),
        ("for j in range(0, n, 2):\n    y += a[i]", 1),
        ("for j in range(n, 0, -1):\n    y += a[i]", 1),
        ("for j in range(0, n, m):\n    y += a[i]", 1),  # one trip
        ("for j in range(0, m, n):\n    y += a[i]", 2),  # a compiler knows no step
        ("j = 0\nwhile j < n:\n    y += a[i]\n    j += 1", 5),
        ("for j in range(n):\n    k = i + 1\n    y += a[k * 2]", 1),
        ("for j in range(n):\n    y += a[i + x]\n    x = x + 1", 5),
        ("for j in range(n):\n    k = x\n    x = x + 1\n    y += a[k]", 5),
        ("for j in range(n):\n    k = i\n    k = k + k\n    k = k + k\n    y += a[k]", 1),
        ("for j in range(n):\n    k = i" + "\n    k = k + k" * 6 + "\n    y += a[k % 64]", 5),
        ("for j in range(n):\n    k = i\n    if y < 9:\n        k = j\n    y += a[k]", 5),
    ],
)
def test_a_load_of_the_same_word_leaves_a_loop(text, of_a):
    assert reads(text)["a"] == of_a


@pytest.mark.parametrize(
    ("text", "of_a"),
    [
        ("for j in range(n):\n    for k in range(m):\n        y += a[i]", 1),
        ("for j in range(n):\n    for k in range(m):\n        y += a[j]", 5),
        ("for j in range(n):\n    for k in range(m):\n        y += a[k]", 30),
        ("for j in range(n):\n    for k in range(4):\n        y += a[k]", 4),
        ("for j in range(n):\n    for k in range(j):\n        y += a[i]", 4),
        ("for j in range(n):\n    l = i\n    for k in range(m):\n        y += a[l]", 1),
        (
            "for j in range(n):\n"
            "    l = i\n"
            "    for k in range(m):\n"
            "        y += a[l]\n"
            "        l += 1",
            30,
        ),
        ("for j in range(n):\n    l = i\n    for k in range(m):\n        l += 1\n    y += a[l]", 5),
        (
            "for j in range(n):\n"
            "    for k in range(4):\n"
            "        l = k\n"
            "        k = i\n"
            "        y += a[l]",
            20,
        ),
        ("for j in range(n):\n    for k in range(32):\n        y += a[k]", 32),
        ("for j in range(n):\n    for k in range(33):\n        y += a[k]", 5 * 33),
        ("for j in range(n):\n    for k in range(-1, 3):\n        y += a[k]", 20),
        ("for j in range(n):\n    for k in range(3, -1, -1):\n        y += a[k]", 20),
        ("for j in range(n):\n    for k in range(4):\n        k = k + 1\n        y += a[k]", 20),
        ("for j in range(n):\n    for k in range(1, 8, 3):\n        y += a[2 * k + i]", 3),
        (
            "for j in range(n):\n"
            "    for k in range(4):\n"
            "        for l in range(4):\n"
            "            y += a[k + 4 * l]",
            16,
        ),
        (
            "for j in range(n):\n"
            "    for k in range(4):\n"
            "        for l in range(9):\n"
            "            y += a[k + 4 * l]",
            5 * 36,
        ),
        (
            "for j in range(n):\n"
            "    for k in range(4):\n"
            "        for l in range(k):\n"
            "            y += a[k]",
            5 * 3,
        ),
        (
            "for j in range(n):\n"
            "    for k in range(4):\n"
            "        y += a[k]\n"
            "        if y > 1:\n"
            "            break",
            3 + 4,
        ),
    ],
)
def test_a_load_leaves_all_loops_in_which_it_stays_the_same(text, of_a):
    """With the counter of a short loop inside, a register keeps each word."""
    assert reads(text)["a"] == of_a


@pytest.mark.parametrize(
    ("statement", "of_a", "of_s"),
    [
        ("pass", 1, 1),
        ("b[i] = j", 5, 1),
        ("s[i] = j", 1, 5),
        ("t[i] = j", 1, 1),
        ("cuda.atomic.add(t, i, 1)", 5, 5),
        ("cuda.syncthreads()", 5, 5),
        ("cuda.syncwarp()", 5, 5),
        ("y += cuda.shfl_sync(-1, y, 0)", 1, 1),
    ],
)
def test_what_a_loop_writes_is_loaded_again(statement, of_a, of_s):
    found = reads(f"for j in range(n):\n    y += a[i] + s[i]\n    {statement}")
    assert found["a"] == of_a
    assert found["s"] == of_s


@pytest.mark.parametrize(
    ("text", "of_a"),
    [
        ("if n > j:\n    y += a[i]", 5),
        ("if n < j:\n    y += a[i + 1000]", 0),
        ("if n < j:\n    break\ny += a[i]", 5),
        ("if n < j:\n    continue\ny += a[i]", 5),
        ("if n < j:\n    return\ny += a[i]", 5),
        *(
            (f"if n < j:\n    if m > j:\n        {jump}\n    y += 1\ny += a[i]", 5)
            for jump in ("break", "continue", "return")
        ),
        ("y += a[i]\nif j > 2:\n    break", 1),
        ("y += a[i]\nif j > 2:\n    return", 1),
        ("for k in range(n):\n    if k > 2:\n        break\ny += a[i]", 1),
        ("while y < 2:\n    y += 1\n    if y > 2:\n        continue\ny += a[i]", 1),
    ],
)
def test_a_load_that_the_first_trip_may_not_reach_stays(text, of_a):
    lines = "".join(f"\n    {line}" for line in text.splitlines())
    assert reads(f"for j in range(n):{lines}")["a"] == of_a


def test_without_a_trip_nothing_is_loaded():
    text = "for j in range({}):\n    for k in range({}):\n        y += a[i + 1000]"
    for outer, inner in ((0, "m"), ("n", "m"), ("m", "n"), ("4", "n")):
        assert reads(text.format(outer, inner), n=0)["a"] == 0


def test_lanes_without_a_trip_load_nothing():
    """Thread 0 has none, and would leave the array."""
    assert reads("for j in range(i):\n    y += a[i + i // 4 - 1 // i]") == {"a": 1}


def test_machines_that_unroll_nothing_and_programs_of_mmsim_keep_their_loads():
    text = "for j in range(n):\n    y += a[i]"
    assert reads(text, mm.Cached(1, 4, 10))["a"] == 5
    program = kernel(text)
    arguments = A, np.zeros(4), np.arange(64), 5, 6
    for machine, requests in ((COMPILED, 1), (UMM, 5), (COMPILED, 1)):
        assert of_run(machine.run(program, *arguments, grid=1, block=4))["a"] == requests

    @mm.program
    def own(T, a, b):
        y = 0.0
        for _ in range(5):
            y = y + a[T.id]
        b[T.id] = y

    assert of_run(COMPILED.run(own, A, A.copy(), threads=4, block_size=4)) == {"a": 5}


@both_engines
@pytest.mark.parametrize(
    ("text", "index"),
    [
        ("for j in range(n):\n    y += a[j] - a[i + 61]", 64),
        (
            "for j in range(n):\n    for k in range(3, 4):\n        k = i + 61\n        y += a[k]",
            64,
        ),
        ("for j in range(n):\n    for k in range(3, 5):\n        y += a[k + 60]", 64),
    ],
)
def test_an_index_out_of_range_is_reported_as_without_moving(text, index, engine):
    program, arguments = kernel(text), (A, np.zeros(4), np.arange(64), 5, 6)
    found = []
    for machine in (UMM, COMPILED):
        with pytest.raises(AddressError) as error:
            machine.run(program, *arguments, grid=1, block=4, engine=engine)
        found.append(error.value)
    one, other = found
    assert str(one) == str(other)
    facts = [(each.program, each.place, each.array, each.thread, each.index) for each in found]
    assert facts[0] == facts[1]
    assert facts[0][4] == (index,)


def test_a_load_moves_with_its_site_and_all_statements_have_numbers():
    text = "for j in range(n):\n    for k in range(4):\n        y += a[k] - a[i] - a[j]"
    arguments = A, np.zeros(4), np.arange(64), 5, 6
    program, sizes = kernel(text), asked(None, None, 1, 4)
    one, other = (bind(machine, program, arguments, sizes) for machine in (UMM, COMPILED))
    assert list(map(repr, one.meaning.sites)) == list(map(repr, other.meaning.sites))
    numbers = [each.number for each in statements(other.meaning.code.body)]
    assert len(numbers) == len(set(numbers))
    assert min(numbers) >= 0


@pytest.mark.parametrize(
    ("job", "way", "of_a_warp"),
    [("matrix product", "registers", 4 * (16 * 8 + 8)), ("k-means", "global", 16 * 4 + 4)],
)
def test_kernels_load_as_often_as_their_machine_code_on_an_h200(job, way, of_a_warp):
    """By Nsight Compute, 136 loads of a warp for each of the product's tiles of 16, here 4."""
    (case,) = (one for one in CASES if (one.job, one.way) == (job, way))
    grid, block = replace(case, size=case.small).extents
    arguments = case.data(case.small).arguments
    run = mm.Cached(1, 32, 10, unrolls=1).run(
        case.numba_kernel(cuda), *arguments, grid=grid, block=block, schedule="asynchronous"
    )
    warps = math.prod(grid) * math.prod(block) // 32
    assert of_run(run).total() == warps * of_a_warp


def same_memory(program, machine, arguments, engine, **sizes):
    """Assert that a machine that moves loads leaves what the UMM does."""
    how = {"schedule": "asynchronous", **sizes}
    right = UMM.run(program, *copy.deepcopy(arguments), **how)
    found = machine.run(program, *copy.deepcopy(arguments), **how, engine=engine)
    for name, words in right.arrays.items():
        np.testing.assert_array_equal(found.arrays[name], words)


INDICES = (
    "i",
    "x",
    "j",
    "k",
    "l",
    "x + i",
    "k + 2 * i",
    "j * l",
    "x // 2 + k",
    "d[i]",
    "d[x % 64]",
)
RANGES = ("n", "m", "4", "1, 3", "0, 6, 2", "3, -1, -1", "33", "x % 3", "i", "j, 4", "n - 5")
STATEMENTS = (
    *(f"y += {array}[({{}}) % 64]" for array in "aaaast"),
    *("x = {}", "k = {}", "x += {}", "s[i] = y", "t[i] = y", "b[i] = y", "y += s[i] + b[i]"),
    *("if x > {}:\n{}", "if y > {}:\n{}", "while x > 99:\n    x -= 7"),
    *("if x % 5 == 4:\n    break", "if i == {}:\n    continue", "if x % 7 == 6:\n    return"),
)


@st.composite
def texts(draw, depth=3):
    """A loop with loads and what keeps them from leaving it."""
    inner = st.sampled_from(STATEMENTS)
    lines = [f"for {draw(st.sampled_from('jkl'))} in range({draw(st.sampled_from(RANGES))}):"]
    for _ in range(draw(st.integers(1, 3))):
        if depth > 1 and draw(st.booleans()):
            text = draw(texts(depth - 1))
        else:
            index = draw(st.sampled_from(INDICES[:-2]))
            text = draw(inner).format(index, "    y += a[(x + k) % 64]")
        lines += [f"    {line}" for line in text.splitlines()]
    return "\n".join(lines)


drawn = settings(
    max_examples=draws(5),
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)


@both_engines
@drawn
@given(text=texts())
def test_loops_with_moved_loads_leave_the_same_memory(engine, text):
    arguments = A / 4, np.zeros(8), np.arange(64)[::-1].copy(), 5, 6
    program = kernel(f"s[i] = i\nt[i] = 1\nj = k = l = 1\n{text}")
    for machine in (COMPILED, mm.H200()):
        same_memory(program, machine, arguments, engine, grid=2, block=4)


@both_engines
@drawn
@given(case=numba_cases())
def test_random_kernels_with_moved_loads_leave_the_same_memory(engine, case):
    program = numba_program(case.python)
    same_memory(program, COMPILED, case.args, engine, **case.sizes)


def test_what_only_moved_loads_use_is_not_computed_again():
    text = "for j in range(n):\n    k = i * 2 + 1\n    l = k * 3\n    y += a[l] + {}"
    for used, left in (("1", False), ("k", True)):
        program, sizes = kernel(text.format(used)), asked(None, None, 1, 4)
        launch = bind(COMPILED, program, (A, np.zeros(4), np.arange(64), 5, 6), sizes)
        changed = changes(launch.meaning.code.body)
        assert ("k" in changed, "l" in changed) == (left, False)
