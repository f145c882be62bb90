"""The array engine's parts: counters, operators, analysis, and what it does when a path ends."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mmsim as mm
from mmsim.engines.array import counting
from mmsim.engines.array import engine as array
from mmsim.engines.array.fused import execute, runtime, tiering
from mmsim.engines.array.fused.analysis import Analysis, CannotFuse, order_matters, straighten
from mmsim.engines.array.interpreted import Interpreted
from mmsim.errors import AddressError, ArithmeticFault, ProgramError, TypeFault
from mmsim.ir import nodes as ir
from mmsim.ir.operators import BINARY
from mmsim.ir.walk import statements
from mmsim.model.conflicts import Banks, Groups
from tests.kit.generators.draws import draws
from tests.kit.runs.paths import agrees, both_engines, both_schedules, outcome, run_along
from tests.kit.runs.programs import copy, program_of


def zeros(size, dtype=int):
    return np.zeros(size, dtype)


# ------------------------------------------------------------------ counters

ADDRESSES = st.one_of(
    st.integers(0, 20),
    st.integers(0, 3).map(lambda x: x << 40),
    st.integers(0, 2**45),
    st.integers(0, 200).map(lambda x: 64 * x),
    st.integers(0, 200).map(lambda x: 100 * x + 2**41),
)


@settings(max_examples=draws(100))
@given(st.data())
def test_the_compiled_counters_agree_with_the_rule(data):
    width = data.draw(st.integers(1, 100))
    request = st.one_of(
        st.lists(ADDRESSES, min_size=1, max_size=width),
        st.integers(1, width).flatmap(
            lambda n: st.builds(
                lambda a, step: list(range(a, a + n * step, step)),
                ADDRESSES,
                st.sampled_from([1, 1, 2, width, width + 1]),
            )
        ),
        # All banks, each once, or one of them twice and another one not.
        st.permutations(range(width)).map(lambda banks: [bank + 3 * width for bank in banks]),
        st.permutations(range(width)).map(lambda banks: [*banks[:-1], banks[0] + width]),
    )
    requests = data.draw(st.lists(request, min_size=1, max_size=6))
    addresses = np.array(list(itertools.chain(*requests)))
    sizes = np.array([len(request) for request in requests])
    warps = np.repeat(np.arange(len(requests)), sizes)
    for conflict, kind in {"bank": Banks, "group": Groups}.items():
        expected = kind(width).stage_counts(addresses, warps, len(requests))
        stages = np.zeros(len(requests), dtype=np.int64)
        tables = counting.scratch(int(sizes.max()))
        counting.count_stages(
            addresses, np.cumsum(sizes), 0, len(sizes), width, conflict == "group", tables, stages
        )
        assert stages.tolist() == expected.tolist()
        at_a_glance = counting.bank_request if conflict == "bank" else counting.group_request
        found = [at_a_glance(np.array(one), len(one), width, tables) for one in requests]
        assert found == expected.tolist()


def test_the_first_group_is_counted_like_the_others():
    addresses = np.array([1, 16])  # groups 0 and 4 of width 4; 1 times 4 is 4, too
    assert counting.group_stages(addresses, 2, 4, counting.scratch(2)) == 2


def test_the_interpreter_counts_many_lanes_as_it_does_few(monkeypatch):
    @mm.program
    def scattered(T, a, b):
        if T.id % 3 != 1:
            b[(T.id * 7) % len(b)] = a[T.id * T.id % len(a)]

    args = np.arange(501), zeros(400)
    machine = mm.HMM(2, 5, 9)
    few = run_along("interpreted", scattered, *args, threads=400, machine=machine, block_size=33)
    monkeypatch.setattr("mmsim.engines.array.interpreted.MANY", 0)
    many = run_along("interpreted", scattered, *args, threads=400, machine=machine, block_size=33)
    assert outcome(many) == outcome(few)


def test_one_lane_next_to_warps_of_many_is_counted_like_them(monkeypatch):
    @mm.program
    def backwards(T, a):
        a[len(a) - 1 - 128 * T.id]

    monkeypatch.setattr("mmsim.engines.array.interpreted.MANY", 0)
    machine = mm.UMM(128, 3)
    run = run_along("interpreted", backwards, zeros(128 * 129), threads=129, machine=machine)
    assert run.stages == 128 + 1


# ------------------------------------------------------------------ operators

INTEGERS = [0, 1, -1, 2, -3, 7, 63, 64, 65, 2**31, -(2**31) - 1, 2**62, 2**63 - 1, -(2**63)]
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.1, -2.5, 3.0, 7.5, 1e-310, 1e300, -1e308, math.inf, -math.inf,
          math.nan]  # fmt: skip


def bits(values):
    """Numbers as they are in memory; all NaNs are one."""
    values = np.asarray(values)
    if values.dtype == float:
        values = np.where(np.isnan(values), np.nan, values)
    return values.dtype, values.tobytes()


@pytest.mark.parametrize(
    ("op", "name", "right"),
    [
        ("//", "floor_divide", [y for y in INTEGERS if y]),
        ("%", "modulo", [y for y in INTEGERS if y]),
        ("<<", "shift_left", [y for y in INTEGERS if y >= 0]),
        (">>", "shift_right", [y for y in INTEGERS if y >= 0]),
        ("**", "power", [y for y in INTEGERS if y >= 0]),
    ],
)
def test_operators_of_fused_programs_on_integers(op, name, right):
    x, y = (np.array(part) for part in zip(*itertools.product(INTEGERS, right), strict=True))
    with np.errstate(all="ignore"):
        expected = BINARY[op].python(x, y)
    function = getattr(runtime, name)
    assert bits([function(*pair) for pair in zip(x.tolist(), y.tolist(), strict=True)]) == bits(
        expected
    )
    for a, b, result in zip(x.tolist(), y.tolist(), expected.tolist(), strict=True):
        if b < 10**6 or op in ("//", "%"):  # as one number: 2 ** 2 ** 62 would take forever
            assert BINARY[op].python(a, b) == result


@pytest.mark.parametrize(("op", "name"), [("//", "float_floor_divide"), ("%", "float_modulo")])
def test_operators_of_fused_programs_on_floats(op, name):
    right = [y for y in FLOATS if y != 0]
    x, y = (np.array(part) for part in zip(*itertools.product(FLOATS, right), strict=True))
    with np.errstate(all="ignore"):
        expected = BINARY[op].python(x, y)
    function = getattr(runtime, name)
    pairs = list(zip(x.tolist(), y.tolist(), strict=True))
    assert bits([function(*pair) for pair in pairs]) == bits(expected)
    assert bits([BINARY[op].python(*pair) for pair in pairs]) == bits(expected)


def test_the_shift_of_a_power_of_two():
    assert [runtime.shift_of(1 << k) for k in range(63)] == list(range(63))
    assert {runtime.shift_of(x) for x in (0, -1, -8, 3, 6, 2**62 + 1, -(2**63))} == {-1}


@given(
    st.lists(
        st.one_of(
            st.integers(0, 300).map(lambda x: [x]),
            st.tuples(st.integers(0, 300), st.integers(1, 100)).map(
                lambda row: list(range(row[0], row[0] + row[1]))
            ),
            st.lists(st.integers(0, 400), min_size=1),
        ),
        max_size=6,
    )
)
def test_marks_show_which_elements_were_written_before(requests):
    marks = np.zeros(500 // 64 + 2, dtype=np.uint64)
    seen = set()
    for request in requests:
        again = len(set(request)) < len(request) or bool(seen & set(request))
        assert runtime.mark(np.array(request), len(request), marks) == again
        if again:
            return
        seen |= set(request)
        assert {x for x in range(500) if int(marks[x >> 6]) >> (x & 63) & 1} == seen


# ------------------------------------------------------------------ analysis


def analysed(program):
    return Analysis(straighten(program.code.body))


@mm.program
def variables(T, a, n):
    same = n * T.count
    own = T.id * 2 + same
    read = a[own]
    copied = read
    twice = 0
    if T.id > 3:
        twice = 1
        inside = n + 1
        a[T.id] = inside
    for k in range(same):
        a[T.id] = copied + twice + k


def test_what_is_uniform_and_what_is_inlined():
    analysis = analysed(variables)
    assert {"same", "inside", "k"} <= analysis.uniform
    assert not {"own", "read", "copied", "twice"} & analysis.uniform
    assert {"own", "copied"} <= set(analysis.inlined)
    assert not {"same", "inside", "twice", "k"} & set(analysis.inlined)


@mm.program
def set_by_turns(T, a, n):
    x = 0
    y = 0
    for _ in range(n):
        x = y
        y = T.id
    a[T.id] = x


def test_what_takes_a_threads_own_value_in_the_next_turn_is_not_uniform():
    assert not {"x", "y"} & analysed(set_by_turns).uniform


def order_of(program, name="a"):
    body = straighten(program.code.body)
    return order_matters(body, name, Analysis(body).inlined)


@pytest.mark.parametrize(
    ("body", "order"),
    [
        ("b[T.id] = a[0]", "no"),
        ("i = T.id\na[i] = a[T.id] + 1", "no"),
        ("i, j = T.block, T.index\na[i, j] = a[T.block, T.index] + 1", "no"),
        ("a[T.id, 0] = a[T.id, 0] + 1", "no"),
        ("a[T.block, T.index] = a[T.index, T.block]", "yes"),
        ("a[T.index] = a[T.index] + 1", "yes"),
        ("i = T.id\nif T.id > 2:\n    i = 0\na[i] = a[i] + 1", "yes"),
        ("a[T.id] = a[T.id + 1]", "yes"),
        ("a[b[T.id]] = 1", "written"),
    ],
)
def test_when_the_order_of_the_pieces_matters(body, order):
    assert order_of(program_of(body)) == order


def chosen(x):
    if x > 3:
        return x
    return -x


@mm.program
def returns_early(T, a):
    if T.id == 2:
        return
    a[T.id] = chosen(T.id)


def test_a_straightened_program_has_no_jumps():
    body = straighten(returns_early.code.body)
    assert not any(isinstance(one, ir.Return | ir.Leave | ir.Scope) for one in statements(body))
    agrees("plain", returns_early, zeros(8), threads=8)


@mm.program
def returns_from_a_loop(T, a):
    for k in range(3):
        if T.id == k:
            return
        a[T.id] = k


def test_a_return_from_a_loop_cannot_be_straightened():
    with pytest.raises(CannotFuse):
        straighten(returns_from_a_loop.code.body)


@mm.program
def two_pieces_write_one_element(T, a, b):
    b[T.id % 5] = a[T.id]
    b[5 + T.id] = a[T.id] * 2


@pytest.mark.parametrize("parts", [1, 1 << 20])
def test_pieces_that_write_one_element_are_run_again_as_one(monkeypatch, parts):
    monkeypatch.setattr(execute, "PIECE", 8)
    monkeypatch.setattr(execute, "SHORT", 0)
    monkeypatch.setattr(execute, "PART", parts)
    whole = []
    pieces = execute.Execution._pieces

    def noted(self, kernel, as_one):
        whole.append(as_one)
        return pieces(self, kernel, as_one)

    monkeypatch.setattr(execute.Execution, "_pieces", noted)
    agrees("plain", two_pieces_write_one_element, np.arange(100), zeros(105), threads=100,
           schedules=["synchronous"])  # fmt: skip
    assert whole == [False, True]


@both_schedules
@pytest.mark.parametrize(
    ("body", "dtype", "n", "kind", "thread", "index"),
    [
        ("a[T.id] = 1\na[T.id + n] = 2", int, 3, AddressError, 13, (16,)),
        ("a[T.id] = 10 // (T.id - n)", int, 3, ArithmeticFault, 3, None),
        ("x = T.id // (n - 3)\na[T.id] = 1", int, 3, ArithmeticFault, 0, None),
        ("r = mm.registers(4)\nr[T.id - n] = 1\na[T.id] = 1", int, 3, AddressError, 0, (-3,)),
        ("a[T.id] = T.id * n", "int8", 30, TypeFault, 5, (5,)),
        ("a[T.id] = int(T.id * 2.0**60)", int, 0, ArithmeticFault, None, None),
    ],
)
def test_what_goes_wrong_in_a_fused_program_is_reported_by_the_interpreter(
    body, dtype, n, kind, thread, index, schedule
):
    program, threads = program_of(body, "a, n"), 16
    shown = []
    for path in ("plain", "interpreted"):
        a = zeros(threads, dtype)
        with pytest.raises(ProgramError) as caught:
            run_along(path, program, a, n, threads=threads, schedule=schedule)
        shown.append((type(caught.value), str(caught.value), caught.value.thread))
        assert not a.any()
    assert shown[0] == shown[1]
    assert shown[0][0] is kind
    if thread is not None:
        assert shown[0][2] == thread
    if index is not None:
        assert caught.value.index == index


@mm.program
def barriers_along_two_paths(T, a, b):
    s = mm.shared(12)
    if T.warp % 2 == 0:
        s[T.index] = a[T.id]
        T.barrier()
        b[T.id] = s[(T.index + 4) % 12]
    else:
        s[T.index] = a[T.id] * 10
        a[T.id]
        T.barrier()
        b[T.id] = s[(T.index + 8) % 12]


@mm.program
def barriers_in_loops_of_other_lengths(T, a, b):
    for k in range(T.warp % 3):
        T.barrier()
        b[T.id] = a[T.id] + k


@mm.program
def barriers_after_a_write(T, a, b):
    a[T.id] += 1  # done once, though lock step is tried first
    if T.warp % 2 == 0:
        T.barrier()
    else:
        b[T.id] = a[T.id]
        T.barrier()


OUT_OF_STEP = [barriers_along_two_paths, barriers_in_loops_of_other_lengths, barriers_after_a_write]


@pytest.mark.parametrize("program", OUT_OF_STEP)
@pytest.mark.parametrize("machine", [mm.DMM(4, 3), mm.HMM(2, 4, 7)])
def test_warps_that_meet_at_barriers_from_other_paths(program, machine, monkeypatch):
    ran = []
    by_warp = Interpreted.operations_by_warp
    monkeypatch.setattr(
        Interpreted, "operations_by_warp", lambda self: ran.append(self) or by_warp(self)
    )
    args = np.arange(36), zeros(36)
    agrees("interpreted", program, *args, threads=36, block_size=12, machine=machine,
           schedules=["asynchronous"])  # fmt: skip
    assert len(ran) == 1


# ------------------------------------------------------------------ results


@pytest.mark.parametrize("path", ["plain", "interpreted"])
def test_small_results_are_copies_and_large_ones_views_that_cannot_be_written(path):
    for size in (8, 100_000):
        a, b = np.arange(size), zeros(size)
        run = run_along(path, copy, a, b, threads=8)
        assert not b.any()
        assert a.flags.writeable
        assert (run.arrays["b"][:8] == np.arange(8)).all()
        assert run.arrays["b"].flags.writeable
        assert np.shares_memory(run.arrays["a"], a) == (size > 8)
        assert run.arrays["a"].flags.writeable == (size == 8)


def test_few_threads_are_interpreted(monkeypatch):
    asked = []
    monkeypatch.setattr(tiering.Tiering, "at_once", lambda self: asked.append(self) or False)
    a = np.arange(array.FEW)
    run_along(None, copy, a, zeros(array.FEW), threads=array.FEW - 1)
    assert asked == []
    run_along(None, copy, a, zeros(array.FEW), threads=array.FEW)
    assert len(asked) == 1


@mm.program
def store(T, a, x):
    a[T.id] = x * 1.0


@both_engines
def test_launches_that_only_look_the_same_share_nothing(engine):
    machine, a = mm.UMM(4, 3), np.zeros(8)
    for number in (0.0, -0.0, 0, False, 1, 1.0, True, float("nan"), 2**40):
        run = machine.run(store, a, number, threads=8, engine=engine)
        assert run.arrays["a"].tobytes() == np.full(8, number * 1.0).tobytes()
    for threads, block_size in ((8, 8), (8, 4), (4, 4)):
        run = machine.run(
            ids, np.zeros(8, int), threads=threads, block_size=block_size, engine=engine
        )
        expected = np.zeros(8, int)
        expected[:threads] = 10 * threads + block_size
        assert np.array_equal(run.arrays["a"], expected)


@mm.program
def ids(T, a):
    a[T.id] = 10 * T.count + T.block_size
