"""`mm.Cached`: it is the HMM where it has no more, and both engines play its rule."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import event, given, reject, settings
from hypothesis import strategies as st

import mmsim as mm
from mmsim.engines import cached_launch as cached
from mmsim.engines.array import cached_time
from mmsim.errors import LaunchError, VectorError
from mmsim.results.roofline import roofline
from tests.kit.generators.cached_machines import cached_machines
from tests.kit.generators.draws import draws
from tests.kit.generators.race_free_programs import CANDIDATES, orderly_cases
from tests.kit.generators.random_programs import bits, races
from tests.kit.oracle.reference import RefHMM
from tests.kit.runs.paths import both_schedules

many = settings(max_examples=draws(5))


def on_hmm(case):
    return type(case.machine_spec) is RefHMM


def run(machine, case, schedule, **options):
    how = {**case.launch, "schedule": schedule, **options}
    try:
        return machine.run(case.program, *case.arguments, **how)
    except VectorError:  # some vectors are too long for banks of bytes
        reject()
    except LaunchError as error:  # a DMM may hold too few threads for a barrier of the grid
        if "has a barrier of the grid" not in str(error):
            raise
        reject()


def outcome(run):
    contents = {name: bits(values) for name, values in run.arrays.items()}
    return run.time, run.accesses, run.rounds, run.cache, contents


def played(trace):
    """All that a trace has, but its machine."""
    return (
        *(trace.time, trace.dispatches, trace.waits, trace.arrivals, trace.releases, trace.rounds),
        trace.changes,
    )


@both_schedules
@many
@given(case=CANDIDATES.filter(on_hmm), bank_bytes=st.sampled_from([None, None, 4]))
def test_without_more_it_is_the_hmm(case, schedule, bank_bytes):
    spec = case.machine_spec
    numbers = spec.dmms, spec.width, spec.global_latency, spec.shared_latency
    hmm = mm.HMM(*numbers, bank_bytes=bank_bytes)
    machine = mm.Cached(*numbers, bank_bytes=bank_bytes)
    expected = run(hmm, case, schedule, engine="events", check=True)
    found = run(machine, case, schedule, engine="events", check=True)
    assert found.cache or not any(row.space == "global" for row in found.accesses)
    assert outcome(replace(found, cache=())) == outcome(expected)
    assert found.findings == expected.findings
    assert played(found.trace) == played(expected.trace)
    if schedule == "synchronous" or not races(expected):
        assert outcome(run(machine, case, schedule)) == outcome(found)


@st.composite
def cached_cases(draw):
    """Programs without a race, and machines for them."""
    case = draw(orderly_cases(24).filter(on_hmm))
    spec = case.machine_spec
    return case, draw(
        cached_machines(spec.dmms, spec.width, spec.global_latency, spec.shared_latency)
    )


@both_schedules
@many
@given(drawn=cached_cases())
def test_the_engines_agree(drawn, schedule):
    case, machine = drawn
    events = run(machine, case, schedule, engine="events", trace=False, check=True)
    found = roofline(events)
    assert found is not None
    assert all(bound.time <= events.time for bound in found.bounds)
    if not races(events):
        event("no race")
        assert outcome(run(machine, case, schedule, engine="array")) == outcome(events)


@mm.program
def many_ways(T, a, b, c, d, n):
    s = mm.shared(16, dtype=mm.int64)
    r = mm.registers(3)
    for k in range(3):
        r[k] = a[d[(T.id + k * T.count // 3) % n]]
    s[T.index] = d[T.id]
    T.barrier()
    if T.lane % 3 != 1:
        mm.atomic.add(b, (s[15 - T.index] + T.index % 2) % n, r[0] + r[2])
    c[d[T.id]] = r[1]


MACHINE = mm.Cached(
    3, 8, 20, 3, sectors=4, sector_time=2, cross_time=3, memory_time=5, fill_time=4, row_time=7,
    miss_latency=11, spread_latency=13, cross_latency=6, port_time=4, wire_time=3,
    write_port_time=9, write_wire_time=5, write_time=2, shared_time=2, capacity=128, ways=2,
    halves=2, fetch=2, channels=2, banks=2, row=2, under_way=2, resident=32, clusters=(1, 2),
    half_of=(1, 0), slices=3, atomic_time=6, page=64, pages=2, page_time=8,
)  # fmt: skip


@both_schedules
@pytest.mark.parametrize("compile", [False, True])
def test_the_compiled_player_agrees(schedule, compile, monkeypatch):
    monkeypatch.setattr(cached_time.Requests, "pays", lambda self, work: compile)
    n = 160
    rng = np.random.RandomState(0)
    args = rng.randint(0, 9, n), np.zeros(n, int), np.zeros(n, int), rng.permutation(n), n
    how = {"threads": n, "block_size": 16, "schedule": schedule}
    fast = MACHINE.run(many_ways, *args, **how)
    slow = MACHINE.run(many_ways, *args, **how, engine="events")
    assert outcome(fast) == outcome(slow)
    assert min(sum(getattr(row, name) for row in fast.cache) for name in COUNTS) > 0


@both_schedules
@many
@given(drawn=cached_cases())
def test_tables_that_keep_only_what_is_used_give_the_same(drawn, schedule):
    """As of a machine whose tables would take more memory than there is."""
    case, machine = drawn
    expected = run(machine, case, schedule, engine="array")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cached, "tables", lambda launch: 1 << 60)
        assert outcome(run(machine, case, schedule, engine="array")) == outcome(expected)


COUNTS = (
    "tags", "hits", "misses", "memory_writes", "fills", "crossings", "activations",
    "translations", "busiest_port", "busiest_wire", "busiest_slice",
)  # fmt: skip


@mm.program
def scatter(T, a, b, d):
    b[d[T.id]] = a[T.id]


@mm.program
def drawn(T, a, b):
    r = mm.registers(3)
    for k in range(3):
        r[k] = mm.atomic.add(a, 0, 1)
    for k in range(3):
        b[T.id, k] = r[k]


@mm.program
def met(T, a, b):
    b[T.id] = a[T.id]
    T.grid_barrier()
    a[T.id] = b[T.id]


def test_what_cannot_be_done_is_refused():
    args = np.arange(16), np.zeros(16, int)
    how = {"threads": 16, "block_size": 4, "schedule": "asynchronous"}
    with pytest.raises(mm.MMSimError, match="blocks of 4 threads"):
        mm.Cached(1, 4, 10, resident=3).run(met, *args, **how)
    with pytest.raises(mm.MMSimError, match="barrier of the grid"):
        mm.Cached(1, 4, 10, resident=8).run(met, *args, **how)
    assert (
        mm.Cached(2, 4, 10, resident=8).run(met, *args, **how).time
        == mm.HMM(2, 4, 10).run(met, *args, **how).time
    )
    with pytest.raises(mm.MMSimError, match="take trace=False"):
        mm.Cached(1, 4, 10, tag_time=2).run(met, *args, **how, trace=True)
    with pytest.raises(mm.MMSimError, match="resident threads does more"):
        mm.Cached(1, 4, 10, resident=16).run(met, *args, **how, trace=True)
    for numbers, message in (
        ({"sectors": 3}, "can't be cut"),
        ({"sectors": 4, "fetch": 3}, "fetch=3"),
        ({"halves": 3}, "1 or 2 halves"),
        ({"capacity": 12, "ways": 2}, "holds a multiple of 8"),
        ({"tag_time": 0}, "at least 1"),
        ({"write_time": 0}, "at least 1"),
        ({"shared_time": 0}, "at least 1"),
        ({"sector_time": -1}, "at least 0"),
        ({"port_time": -1}, "at least 0"),
        ({"write_port_time": -1}, "write_port_time"),
        ({"write_wire_time": -1}, "write_wire_time"),
        ({"under_way": 1.5}, "whole number"),
        ({"resident": 0}, "at least 1"),
        ({"atomic_time": -1}, "atomic_time"),
        ({"slices": 0}, "slices"),
        ({"clusters": 0}, "clusters"),
        ({"clusters": 2}, "at most 1"),
        ({"clusters": (1, 1)}, "the clusters have 2 DMMs together, but the machine has 1"),
        ({"clusters": (1, 0)}, "a size below 1"),
        ({"clusters": ()}, "a size below 1"),
        ({"clusters": (1.0,)}, "must be whole numbers, not 1.0"),
        ({"clusters": (True,)}, "must be whole numbers, not True"),
        ({"clusters": (10**5000,)}, "clusters has"),
        ({"half_of": (0, 0)}, "half_of has 2 halves, but there are 1 clusters, each in half 0;"),
        ({"half_of": (1,)}, "half_of has 1 halves"),
        ({"clusters": 1.5}, "whole number"),
        ({"half_of": (np.timedelta64(0, "D"),)}, "must be whole numbers, not np.timedelta64"),
        ({"page": 6}, "page=6, but a page consists of lines of 4"),
        ({"page": -4}, "at least 0"),
        ({"pages": 0}, "at least 1"),
        ({"page_time": -1}, "page_time"),
    ):
        with pytest.raises(mm.MMSimError, match=message):
            mm.Cached(1, 4, 10, **numbers)
    given = mm.Cached(3, 4, 10, clusters=[np.int64(1), 2], half_of=[0, 0])
    assert given == mm.Cached(3, 4, 10, clusters=(1, 2), half_of=(0, 0))
    with pytest.raises(mm.MMSimError, match="at most 32"):
        mm.Cached(1, 64, 10, capacity=64)


def test_a_run_is_written_read_and_added_up():
    args = np.arange(64), np.zeros(64, int), np.arange(64)[::-1].copy()
    more = {"capacity": 64, "under_way": 2, "clusters": (1, 1)}
    machine = mm.Cached(2, 8, 20, sectors=2, memory_time=3, **more)
    run = machine.run(scatter, *args, threads=64, block_size=8)
    assert run.cache
    assert mm.Run.from_json(run.to_json()) == run
    twice = mm.total([run, run])
    assert [row.misses for row in twice.cache] == [2 * row.misses for row in run.cache]
    assert '"cache"' not in mm.HMM(2, 8, 20).run(scatter, *args, threads=64).to_json()
