"""Warps that meet in a word, where their order matters: then the event engine runs the launch."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mmsim as mm
from mmsim.engines.array import meetings
from mmsim.engines.array.interpreted import Interpreted
from mmsim.frontend.ptx.kernel import PtxProgram
from mmsim.frontend.ptx.text import read
from tests.kit.generators.random_programs import same
from tests.kit.runs.paths import launched

WIDTH, THREADS = 4, 16
MACHINE = mm.HMM(dmms=2, width=WIDTH, global_latency=5)


def run(program, *args, engine="array", schedule="asynchronous"):
    how = {"threads": THREADS, "block_size": 8, "schedule": schedule}
    return MACHINE.run(program, *args, engine=engine, trace=False, **how)


def taken(program, *args):
    """Return the engine that takes a program; its results are those of the event engine."""
    found, events = run(program, *args), run(program, *args, engine="events")
    assert (found.time, found.accesses) == (events.time, events.accesses)
    assert same(found.arrays, events.arrays)
    return found.engine


def zeros(size=THREADS, dtype=np.int32):
    return np.zeros(size, dtype)


@mm.program
def own_words(T, a):
    s = mm.shared(2, dtype=np.int32)
    a[T.id] = mm.atomic.add(s, T.index // 4, T.id)
    a[T.id] += s[T.index // 4]


@mm.program
def one_word(T, a):
    s = mm.shared(1, dtype=np.int32)
    a[T.id] = mm.atomic.add(s, 0, T.id)


@mm.program
def after_a_barrier(T, a):
    s = mm.shared(1, dtype=np.int32)
    if T.warp % 2 == 0:
        a[T.id] = mm.atomic.add(s, 0, T.id)
    T.barrier()
    if T.warp % 2 == 1:
        a[T.id] = mm.atomic.add(s, 0, T.id)


@mm.program
def without_a_barrier(T, a):
    s = mm.shared(1, dtype=np.int32)
    if T.warp % 2 == 1:
        a[T.id] = mm.atomic.add(s, 0, T.id)
    else:
        a[T.id] = mm.atomic.add(s, 0, T.id)


@mm.program
def equal_values(T, a):
    s = mm.shared(1, dtype=np.int32)
    mm.atomic.exch(s, 0, 7)
    T.barrier()
    a[T.id] = s[0]


@mm.program
def different_values(T, a):
    s = mm.shared(1, dtype=np.int32)
    mm.atomic.exch(s, 0, T.warp % 2)
    T.barrier()
    a[T.id] = s[0]


@mm.program
def different_zeros(T, a):
    s = mm.shared(1, dtype=np.float32)
    mm.atomic.exch(s, 0, mm.float32(0.0) * (T.warp % 2 * 2 - 1))
    T.barrier()
    a[T.id] = s[0]


@mm.program
def kinds_in_turn(T, a):
    s = mm.shared(1, dtype=np.int32)
    mm.atomic.add(s, 0, T.index)
    T.barrier()
    mm.atomic.max(s, 0, 9)
    T.barrier()
    a[T.id] = s[0]


@mm.program
def kinds_at_once(T, a):
    s = mm.shared(1, dtype=np.int32)
    mm.atomic.add(s, 0, T.index)
    mm.atomic.max(s, 0, 9)
    T.barrier()
    a[T.id] = s[0]


@mm.program
def sums_of_floats(T, a):
    s = mm.shared(1, dtype=np.float32)
    mm.atomic.add(s, 0, mm.float32(0.1) * T.id)
    T.barrier()
    a[T.id] = s[0]


@mm.program
def read_by_another(T, a):
    s = mm.shared(1, dtype=np.int32)
    if T.warp % 2 == 0:
        a[T.id] = mm.atomic.add(s, 0, 1)
    else:
        a[T.id] = s[0]


@mm.program
def mixed_by_one(T, a):
    s = mm.shared(1, dtype=np.int32)
    if T.warp % 2 == 0:
        mm.atomic.exch(s, 0, 3)
        a[T.id] = s[0]
    if T.warp % 2 == 1:
        mm.atomic.exch(s, 0, 3)


@mm.program
def in_global_memory(T, a):
    a[T.id] = mm.atomic.add(a, T.id, 1)


@mm.program
def of_the_grid(T, a):
    s = mm.shared(2, dtype=np.int32)
    a[T.id] = mm.atomic.add(s, T.index // 4, T.id)
    T.grid_barrier()


@mm.program
def along_two_paths(T, a):
    s = mm.shared(2, dtype=np.int32)
    if T.warp % 2 == 0:
        a[T.id] = mm.atomic.add(s, 0, 1)
        T.barrier()
        a[T.id] += s[1]
    else:
        a[T.id] = mm.atomic.add(s, 1, 1)
        T.barrier()
        a[T.id] += s[0]


@pytest.mark.parametrize(
    "program", [own_words, after_a_barrier, equal_values, kinds_in_turn, along_two_paths]
)
def test_the_array_engine_runs_warps_that_meet_in_no_word(program):
    assert taken(program, zeros()) == "array"


@pytest.mark.parametrize(
    "program",
    [
        *(one_word, without_a_barrier, different_values, different_zeros, kinds_at_once),
        *(sums_of_floats, read_by_another, mixed_by_one, in_global_memory, of_the_grid),
    ],
)
def test_the_event_engine_runs_warps_whose_order_matters(program):
    has_floats = program in (different_zeros, sums_of_floats)
    assert taken(program, zeros(dtype=np.float32 if has_floats else np.int32)) == "events"


def test_lock_step_needs_no_check():
    assert run(one_word, zeros(), schedule="synchronous").engine == "array"


def test_equal_launches_go_to_the_event_engine_at_once(monkeypatch):
    @mm.program
    def again(T, a):
        s = mm.shared(1, dtype=np.int32)
        a[T.id] = mm.atomic.add(s, 0, T.id)

    seen = []
    monkeypatch.setattr(meetings.Meet, "__init__", lambda self: seen.append(1))
    assert [run(again, zeros()).engine for _ in range(2)] == ["events", "events"]
    assert seen == [1]


def test_an_exchange_for_many_values_does_not_commute(monkeypatch):
    @mm.program
    def values(T, a, n):
        s = mm.shared(1, dtype=np.int32)
        for k in range(n):
            mm.atomic.exch(s, 0, k)
            T.barrier()
        a[T.id] = s[0]

    monkeypatch.setattr(meetings, "MOST_WAYS", 6)
    assert taken(values, zeros(), 4) == "array"
    assert taken(values, zeros(), 5) == "events"


def test_a_run_asks_for_memory_for_stamps(monkeypatch):
    how = {"machine": MACHINE, "threads": THREADS, "block_size": 8, "schedule": "asynchronous"}
    launch = launched(own_words, zeros(), **how)
    before = Interpreted(launch, None).needed()
    monkeypatch.setattr(meetings, "OF_A_WORD", meetings.OF_A_WORD + 1)
    assert Interpreted(launch, None).needed() == before + 4  # two blocks have two words each
    monkeypatch.setattr(meetings, "OF_A_LANE", meetings.OF_A_LANE + 1)
    assert Interpreted(launch, None).needed() == before + 4 + THREADS


VOLATILE = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 a) {
.reg .b64 %p<3>;
.reg .b32 %r<8>;
.shared .align 4 .b32 s[64];
ld.param.u64 %p0, [a];
mov.u32 %r0, %tid.x;
shl.b32 %r1, %r0, 2;
mov.u32 %r2, s;
add.u32 %r3, %r2, %r1;
st.volatile.shared.u32 [%r3], %r0;
BARRIER
xor.b32 %r4, %r1, PARTNER;
add.u32 %r5, %r2, %r4;
ld.volatile.shared.u32 %r6, [%r5];
cvt.u64.u32 %p1, %r1;
add.u64 %p2, %p0, %p1;
st.global.u32 [%p2], %r6;
ret;
}
"""


@pytest.mark.parametrize(
    ("partner", "barrier", "engine"),
    [(1, "", "array"), (32, "bar.sync 0;", "array"), (32, "", "events")],
)
def test_a_volatile_word_of_another_warp_needs_a_barrier(partner, barrier, engine):
    ptx = VOLATILE.replace("PARTNER", str(4 * partner)).replace("BARRIER", barrier)
    array = np.zeros(64, np.int32)
    found = PtxProgram(read(ptx), "k", ptx=ptx).specialized((array,))
    machine, runs = mm.HMM(1, 32, 50, 5, bank_bytes=4), []
    for asked in ("array", "events"):
        how = {"grid": 1, "block": 64, "schedule": "asynchronous", "engine": asked}
        runs.append(machine.run(found.program, *found.args, **how, trace=False))
        found.store(runs[-1].arrays)
        assert asked == "events" or array.tolist() == [i ^ partner for i in range(64)]
    assert runs[0].engine == engine
    assert runs[0].time == runs[1].time
    assert same(runs[0].arrays, runs[1].arrays)


@mm.program
def anything(T, kind, place, value, meets, a):
    s = mm.shared(4, dtype=np.int32)
    x = mm.int32(1)
    for k in range(kind.shape[0]):
        i, v = place[k, T.id], value[k, T.id]
        if kind[k, T.id] == 1:
            x = mm.int32(3) * x + s[i]
        elif kind[k, T.id] == 2:
            s[i] = v
        elif kind[k, T.id] == 3:
            x = mm.int32(3) * x + mm.atomic.add(s, i, v)
        elif kind[k, T.id] == 4:
            mm.atomic.max(s, i, v)
        elif kind[k, T.id] == 5:
            mm.atomic.exch(s, i, v)
        if meets[k] == 1:
            T.barrier()
    a[T.id] = x


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.sampled_from([1, 2, 4]))
def test_both_engines_agree_on_random_accesses(seed, steps, spread):
    random = np.random.default_rng(seed)
    shape = steps, THREADS
    kind = random.integers(0, 6, (steps, THREADS // WIDTH)).repeat(WIDTH, axis=1)
    kind = np.where(random.random(shape) < 0.5, kind, 0)
    place = (random.integers(0, spread, shape) + np.arange(THREADS) // WIDTH) % 4
    value = random.integers(0, 2, shape).astype(np.int32)
    taken(anything, kind, place, value, random.integers(0, 2, steps), zeros())
