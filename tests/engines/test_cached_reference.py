"""Both engines on `mm.Cached` against its own reference, written from docs/machines.md alone."""

import numpy as np
from hypothesis import event, given, settings
from hypothesis import strategies as st

import mmsim as mm
from tests.kit.generators.cached_machines import cached_machines
from tests.kit.generators.draws import draws
from tests.kit.generators.random_programs import bits, define, races
from tests.kit.generators.simple_programs import simple_programs
from tests.kit.oracle.cached import Run
from tests.kit.runs.paths import both_engines, both_schedules

COUNTS = (
    "stages", "tags", "sectors", "hits", "misses", "memory_reads", "memory_writes", "fills",
    "crossings", "activations", "translations",
)  # fmt: skip


@st.composite
def cached_cases(draw):
    """A program of simple statements, its arguments, its launch, and a machine for it."""
    dmms, width = draw(st.integers(1, 3)), draw(st.sampled_from([2, 4, 8]))
    latencies = draw(st.sampled_from([1, 5, 40])), draw(st.sampled_from([1, 2, 9]))
    machine = draw(cached_machines(dmms, width, *latencies))
    block_size = draw(st.integers(1, 2 * width + 1))
    blocks = draw(st.integers(1, 5))
    threads = max(block_size, block_size * blocks - draw(st.integers(0, block_size - 1)))
    source = draw(simple_programs())
    rng = np.random.RandomState(draw(st.integers(0, 99)))
    size = draw(st.integers(1, 40))
    types = ["int64", "int32", "int64"]
    if draw(st.booleans()):  # atomics on floats, with the places of those on b
        source = source.replace("(T, a, b, d)", "(T, a, b, d, f)")
        source = source.replace("atomic.add(b,", "atomic.add(f,")
        types.append("float32")
    args = [rng.randint(0, 97, size).astype(dtype) for dtype in types]
    return source, args, machine, {"threads": threads, "block_size": block_size}


def counted(row):
    return {name: getattr(row, name) for name in COUNTS if getattr(row, name)}


@both_schedules
@settings(max_examples=draws(15))
@given(drawn=cached_cases())
def test_both_engines_agree_with_the_reference(drawn, schedule):
    source, args, machine, launch = drawn
    how = {**launch, "schedule": schedule}
    expected = Run(source, "made", machine, args, **how)
    program = define(source, "made")
    events = machine.run(program, *args, **how, engine="events", trace=False, check=True)
    engines = [events]
    if schedule == "synchronous" or not races(events):
        event("on both engines")
        engines.append(machine.run(program, *args, **how, engine="array", trace=False))
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
    args = [np.zeros(8, "int64") for _ in range(3)]
    how = {"threads": 8, "block_size": 8, "schedule": "asynchronous"}
    run = machine.run(define(LEAVES, "made"), *args, **how, engine=engine)
    expected = Run(LEAVES, "made", machine, args, **how)
    assert run.time == expected.time == 20
    assert expected.releases == [(10, 0)]
