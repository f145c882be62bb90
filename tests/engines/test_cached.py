"""`mm.Cached`: it is the HMM where it has no more, and both engines play its rule."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, event, given, reject, settings
from hypothesis import strategies as st

import mmsim as mm
from draws import draws
from mmsim.engines.array import cached_time
from mmsim.errors import VectorError
from race_free_programs import CANDIDATES, SCHEDULES, orderly_cases
from random_programs import bits, races
from reference import RefHMM

both_schedules = pytest.mark.parametrize("schedule", SCHEDULES)
many = settings(
    max_examples=draws(12),
    deadline=None,
    print_blob=True,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.filter_too_much,
    ],
)


def on_hmm(case):
    return type(case.machine_spec) is RefHMM


def run(machine, case, schedule, **options):
    how = {**case.launch, "schedule": schedule, **options}
    try:
        return machine.run(case.program, *case.arguments, **how)
    except VectorError:  # some vectors are too long for banks of bytes
        reject()


def outcome(run):
    contents = {name: bits(values) for name, values in run.arrays.items()}
    return run.time, run.accesses, run.rounds, run.cache, contents


def played(trace):
    """All that a trace has, but its machine."""
    return (
        trace.time,
        trace.dispatches,
        trace.waits,
        trace.arrivals,
        trace.releases,
        trace.rounds,
        trace.changes,
    )


@both_schedules
@many
@given(case=CANDIDATES.filter(on_hmm), bank_bytes=st.sampled_from([None, None, 4]))
def test_without_more_it_is_the_hmm(case, schedule, bank_bytes):
    spec = case.machine_spec
    numbers = spec.dmms, spec.width, spec.global_latency, spec.shared_latency
    hmm = mm.HMM(*numbers, bank_bytes=bank_bytes)
    cached = mm.Cached(*numbers, bank_bytes=bank_bytes)
    expected = run(hmm, case, schedule, engine="events", check=True)
    found = run(cached, case, schedule, engine="events", check=True)
    assert found.cache or not any(row.space == "global" for row in found.accesses)
    assert outcome(replace(found, cache=())) == outcome(expected)
    assert found.findings == expected.findings
    assert played(found.trace) == played(expected.trace)
    if schedule == "synchronous" or not races(expected):
        assert outcome(run(cached, case, schedule)) == outcome(found)


@st.composite
def cached_machines(draw, spec):
    """Small machines of all kinds, of which each number matters."""
    sectors = draw(st.sampled_from([one for one in (1, 2, 4) if spec.width % one == 0]))
    halves, ways = draw(st.integers(1, 2)), draw(st.integers(1, 2))
    bank_bytes = draw(st.sampled_from([None, None, 4]))
    line = spec.width * (bank_bytes or 1)
    sets = draw(st.integers(0, 3)) if line // sectors <= 32 else 0
    times = st.integers(0, 4)
    return mm.Cached(
        spec.dmms,
        spec.width,
        spec.global_latency,
        spec.shared_latency,
        bank_bytes,
        sectors=sectors,
        tag_time=draw(st.integers(1, 3)),
        sector_time=draw(times),
        cross_time=draw(times),
        memory_time=draw(times),
        fill_time=draw(times),
        row_time=draw(times),
        miss_latency=draw(times),
        capacity=sets * line * ways * halves,
        ways=ways,
        halves=halves,
        fetch=draw(st.sampled_from([one for one in (1, 2) if sectors % one == 0])),
        channels=draw(st.integers(1, 3)),
        banks=draw(st.integers(1, 3)),
        row=draw(st.integers(1, 3)),
        under_way=draw(st.integers(1, 3)),
        resident=draw(st.sampled_from([None, 24, 32])),
    )


@st.composite
def cached_cases(draw):
    """Programs without a race, and machines for them."""
    case = draw(orderly_cases(24).filter(on_hmm))
    return case, draw(cached_machines(case.machine_spec))


@both_schedules
@many
@given(drawn=cached_cases())
def test_the_engines_agree(drawn, schedule):
    case, machine = drawn
    events = run(machine, case, schedule, engine="events", trace=False, check=True)
    if not races(events):
        event("no race")
        assert outcome(run(machine, case, schedule, engine="array")) == outcome(events)


@mm.program
def many_ways(T, a, b, d, n):
    s = mm.shared(16, dtype=mm.int64)
    r = mm.registers(3)
    for k in range(3):
        r[k] = a[d[(T.id + k * T.count // 3) % n]]
    s[T.index] = d[T.id]
    T.barrier()
    if T.lane % 3 != 1:
        mm.atomic.add(b, (s[15 - T.index] + T.index % 2) % n, r[0] + r[2])
    a[d[T.id]] = r[1]


MACHINE = mm.Cached(
    3, 8, 20, 3, sectors=4, sector_time=2, cross_time=3, memory_time=5, fill_time=4, row_time=7,
    miss_latency=11, capacity=128, ways=2, halves=2, fetch=2, channels=2, banks=2, row=2,
    under_way=2, resident=32,
)  # fmt: skip


@both_schedules
@pytest.mark.parametrize("compile", [False, True])
def test_the_compiled_player_agrees(schedule, compile, monkeypatch):
    monkeypatch.setattr(cached_time.Requests, "pays", lambda self, work: compile)
    n = 160
    rng = np.random.RandomState(0)
    args = rng.randint(0, 9, n), np.zeros(n, int), rng.permutation(n), n
    how = {"threads": n, "block_size": 16, "schedule": schedule}
    fast = MACHINE.run(many_ways, *args, **how)
    slow = MACHINE.run(many_ways, *args, **how, engine="events")
    assert outcome(fast) == outcome(slow)
    assert min(sum(getattr(row, name) for row in fast.cache) for name in COUNTS) > 0


COUNTS = ("tags", "hits", "misses", "memory_writes", "fills", "crossings", "activations")
