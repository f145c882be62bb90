"""Both engines on `mm.Cached` against its own reference, written from docs/machines.md alone."""

import ast
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import event, example, given, settings
from hypothesis import strategies as st

import mmsim as mm
from mmsim.api.binding import bind
from mmsim.engines import cached_launch, together
from mmsim.engines.cached_launch import needed
from mmsim.engines.selection import launch
from mmsim.model.rounds import ALWAYS, FIRST
from mmsim.model.threads import asked
from tests.kit.generators.cached_machines import cached_machines
from tests.kit.generators.draws import draws
from tests.kit.generators.random_programs import bits, define, races
from tests.kit.generators.simple_programs import simple_programs
from tests.kit.oracle.cached import Run, Waits, shared_arrays
from tests.kit.runs.paths import both_engines, both_schedules

TYPES = "int64", "int32", "int64"
COUNTS = (
    "stages", "tags", "sectors", "hits", "misses", "memory_reads", "memory_writes", "fills",
    "crossings", "activations", "translations",
)  # fmt: skip


@st.composite
def cached_cases(draw):
    """A program of simple statements, its arguments, a machine for it, its launch, and pauses."""
    dmms, width = draw(st.integers(1, 3)), draw(st.sampled_from([2, 4, 8]))
    latencies = draw(st.sampled_from([1, 5, 40])), draw(st.sampled_from([1, 2, 9]))
    machine = draw(cached_machines(dmms, width, *latencies))
    block_size = draw(st.integers(1, 2 * width + 1))
    blocks = draw(st.integers(1, 5))
    threads = max(block_size, block_size * blocks - draw(st.integers(0, block_size - 1)))
    source = draw(simple_programs())
    rng = np.random.RandomState(draw(st.integers(0, 99)))
    size = draw(st.integers(1, 40))
    types = [*TYPES]
    if draw(st.booleans()):  # atomics on floats, with the places of those on b
        source = source.replace("(T, a, b, d)", "(T, a, b, d, f)")
        source = source.replace("atomic.add(b,", "atomic.add(f,")
        types.append("float32")
    args = [rng.randint(0, 97, size).astype(dtype) for dtype in types]
    times = draw(st.just([0]) | st.lists(st.integers(0, 9), min_size=1, max_size=5))
    return source, args, machine, {"threads": threads, "block_size": block_size}, times


def counted(row):
    return {name: getattr(row, name) for name in COUNTS if getattr(row, name)}


def computed(program, args, machine, sizes, schedule, times, engine, check=False):
    """A run whose warps compute for such times before their requests, in turn, and these times."""
    one = bind(machine, program, args, asked(**sizes), schedule, 1 << 40)
    pauses = np.resize(times, one.grid.blocks * one.grid.warps_per_block)
    one.pauses = lambda: pauses
    return launch(one, engine, False, check), pauses.tolist()


USED_LATER = """\
@mm.program
def made(T, a, b, d):
    x = a[T.id]
    for k in range(2):
        mm.atomic.add(b, 0, 1)
        if x == 5:
            x = a[0]
    d[T.id] = 6
"""
ALL = {"threads": 8, "block_size": 8}
WORDS = [np.zeros(8, "int64") for _ in range(3)]


@both_schedules
@settings(max_examples=draws(15))
@given(drawn=cached_cases())
@example(drawn=(USED_LATER, WORDS, mm.Cached(1, 4, 40, under_way=2), ALL, [0]))
def test_both_engines_agree_with_the_reference(drawn, schedule):
    source, args, machine, sizes, times = drawn
    program = define(source, "made")
    launched = program, args, machine, sizes, schedule, times
    events, pauses = computed(*launched, "events", check=True)
    expected = Run(source, "made", machine, args, **sizes, schedule=schedule, pauses=pauses)
    engines = [events]
    if schedule == "synchronous" or not races(events):
        event("on both engines")
        engines.append(computed(*launched, "array")[0])
    for run in engines:
        assert run.time == expected.time
        found = {(row.line, row.array, row.kind): counted(row) for row in run.cache}
        assert found == {place: dict(+row) for place, row in expected.counts.items()}
        assert {name: bits(run.arrays[name]) for name in expected.arrays} == {
            name: bits(values) for name, values in expected.arrays.items()
        }
        if schedule == "synchronous":
            rounds = [(row.line, row.array, row.kind, row.time) for row in run.rounds]
            assert rounds == expected.rounds


HOW = {ALWAYS: "all", FIRST: "first"}


THREE_TRIPS = """\
@mm.program
def made(T, a, b, d):
    x = T.id
    z = 7
    for k in range(3):
        if T.lane % 3 == 1:
            x = a[T.id % a.size]
            a[T.id % a.size] = (T.id + z) % 97
            z = x
        else:
            x = a[T.id % a.size]
"""


@settings(max_examples=draws(30))
@example(source=THREE_TRIPS, unrolls=1, size=9, moves=False, registers=16)
@given(
    source=simple_programs(),
    unrolls=st.integers(0, 1),
    size=st.integers(1, 40),
    moves=st.booleans(),
    registers=st.sampled_from([2, 3, 8, 16]),
)
def test_each_access_waits_for_the_lines_of_the_reference(source, unrolls, size, moves, registers):
    arrays = {name: np.zeros(size, kind) for name, kind in zip("abd", TYPES, strict=True)}
    machine = mm.Cached(1, 4, 10, under_way=2, unrolls=unrolls)
    program, sizes = define(source, "made"), asked(threads=9, block_size=5)
    one = bind(machine, program, [*arrays.values()], sizes, "asynchronous", 1 << 40)
    volatile = patch.object(cached_launch, "has_volatile_words", return_value=not moves)
    with volatile, patch.object(together, "REGISTERS", registers):
        needs, loops, most = needed(one)
    lines = [site.place.line for site in one.meaning.sites]
    body = ast.parse(source).body[0].body
    expected = Waits(body, arrays | shared_arrays(body), unrolls, moves, registers)
    of_sites = zip(lines, needs, loops.tolist(), most.tolist(), strict=True)
    for line, row, loop, number in of_sites:
        assert {lines[site]: HOW[row[site]] for site in np.flatnonzero(row)} == expected.needs[line]
        assert (lines[loop] if loop >= 0 else None) == expected.loops.get(line)
        assert number == expected.most.get(line, 0)


LEAVES = """\
@mm.program
def made(T, a, b, d):
    if T.index > 3:
        a[T.id] = 5
        return
    T.barrier()
    b[T.id] = 6
"""


@both_engines
def test_a_barrier_waits_for_the_last_request_of_a_warp_that_ends(engine):
    """l = 10, two warps of 4: the write at 0 is done at 10, then the barrier opens."""
    machine = mm.Cached(1, 4, 10, under_way=2)
    how = {**ALL, "schedule": "asynchronous"}
    run = machine.run(define(LEAVES, "made"), *WORDS, **how, engine=engine)
    expected = Run(LEAVES, "made", machine, WORDS, **how)
    assert run.time == expected.time == 20
    assert expected.releases == [(10, 0)]


COMPUTES = """\
@mm.program
def made(T, a, b, d):
    a[T.id] = 5
    b[T.id] = 6
    T.barrier()
    d[T.id] = 7
    T.barrier()
"""


@both_engines
@pytest.mark.parametrize(("under_way", "second"), [(1, 10 + 7), (2, 1 + 7)])
def test_a_warp_computes_before_its_requests_and_barriers(engine, under_way, second):
    """l = 10, 7 before each but the first and that after a barrier, also before the last one."""
    machine, program = mm.Cached(1, 8, 10, under_way=under_way), define(COMPUTES, "made")
    run, pauses = computed(program, WORDS, machine, ALL, "asynchronous", [7], engine)
    assert run.time == second + 10 + 7 + 10 + 7
    how = {**ALL, "schedule": "asynchronous", "pauses": pauses}
    assert Run(COMPUTES, "made", machine, WORDS, **how).time == run.time


@both_engines
def test_a_warp_waits_for_what_the_text_may_have_used_before(engine):
    """l = 40: the atomics at 40 and 48 wait for the read, though none uses it before the first.

    The first one, of 8 stages, is done at 87: then the write begins.
    """
    machine = mm.Cached(1, 8, 40, under_way=2)
    program = define(USED_LATER, "made")
    run, _ = computed(program, WORDS, machine, ALL, "asynchronous", [0], engine)
    assert run.time == 40 + (8 + 39) + (1 + 39)
