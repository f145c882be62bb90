"""The asynchronous schedule of known operations (docs/machines.md) against three other tellings.

One is `stated_plainly`, below: the section's sentences, in order. One is the event
engine's own units, turns and barriers. One is whole programs on the event engine.
"""

import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from simpy import Environment

import mmsim as mm
from mmsim.engines.array import turns_compiled as play
from mmsim.engines.array.asynchronous_time import asynchronous_time, same_dmms, words_for
from mmsim.engines.array.turns_compiled import BARRIER
from mmsim.engines.events.barriers import Barriers
from mmsim.engines.events.moment import COMPLETION, Moment
from mmsim.engines.events.units import Job, MemoryUnit
from mmsim.errors import Place
from mmsim.meaning.frame import Waiting
from mmsim.model.machines import LARGEST
from mmsim.model.threads import Grid
from mmsim.model.turns import GroupsInTurn, WarpsInTurn
from tests.kit.generators.draws import draws
from tests.kit.generators.random_programs import cases, run_case
from tests.kit.oracle.own_machines import OwnMachine

both_ways = pytest.mark.parametrize("compile", [False, True], ids=["plain", "compiled"])


def memory(k):
    """A request of k stages at the machine's memory unit."""
    return 2 * k


def shared(k):
    """A request of k stages at the shared unit of the warp's DMM."""
    return 2 * k + 1


def time_of(machine, sequences, warps_per_block=None, compile=False, dtype=np.int32, **how):
    """The kernel's time for warps of one thread each."""
    grid = grid_of(machine, len(sequences), warps_per_block)
    operations = np.array([op for sequence in sequences for op in sequence], dtype)
    start = np.cumsum([0, *map(len, sequences)])
    return asynchronous_time(machine, grid, operations, start, compile=compile, **how)


def grid_of(machine, warps, warps_per_block):
    width = machine.width
    block = (warps_per_block or warps) * width
    return Grid(warps * width, min(block, warps * width), width, len(machine.shared) or 1)


# ------------------------------------------------------------------ the rules stated in other ways


def stated_plainly(machine, sequences, warps_per_block=None):
    """The pipeline, turns and barriers, asynchronous, time unit by time unit."""
    dmms = len(machine.shared) or 1
    size = warps_per_block or len(sequences)
    warps = range(len(sequences))
    block = [warp // size for warp in warps]
    dmm = [block[warp] % dmms for warp in warps]
    latency = {"memory": machine.memory.latency}
    latency |= {x: unit.latency for x, unit in enumerate(machine.shared)}
    free = dict.fromkeys(latency, 0)
    last_warp, last_dmm = {}, dmms - 1

    left = [list(sequence) for sequence in sequences]
    state = ["runs" for _ in warps]  # runs, ready, waits, finished, or the time of completion
    wants = [None for _ in warps]  # unit and stages of a warp that is ready
    now = finish = 0
    while True:
        # "At one instant completions and barriers come before dispatches."
        state = ["runs" if s == now and type(s) is int else s for s in state]
        changed = True
        while changed:
            changed = False
            for warp in warps:
                while state[warp] == "runs":
                    changed = True
                    op = left[warp].pop(0) if left[warp] else None
                    if op is None:
                        state[warp] = "finished"
                    elif op == 1:
                        state[warp] = "waits"
                    elif op > 1:
                        state[warp] = "ready"
                        wants[warp] = (dmm[warp] if op % 2 else "memory", op // 2)
            for b in set(block):
                there = [w for w in warps if block[w] == b and state[w] != "finished"]
                # "until every unfinished warp of its block is there too"
                if there and all(state[w] == "waits" for w in there):
                    changed = True
                    for w in there:
                        state[w] = "runs"
        # "Whenever a unit is free, it dispatches the next warp in turn that is ready."
        for unit in latency:
            ready = [w for w in warps if state[w] == "ready" and wants[w][0] == unit]
            if free[unit] > now or not ready:
                continue
            turn = unit
            if unit == "memory":  # "takes the DMMs in turn, and within each DMM its warps in turn"
                last_dmm = turn = in_turn({dmm[w] for w in ready}, last_dmm)
                ready = [w for w in ready if dmm[w] == turn]
            who = (unit, turn)
            warp = last_warp[who] = in_turn(ready, last_warp.get(who, -1))
            stages = wants[warp][1]
            free[unit] = now + stages
            state[warp] = now + stages + latency[unit] - 1
            finish = max(finish, state[warp])
        later = [s for s in state if type(s) is int]
        later += [free[wants[w][0]] for w in warps if state[w] == "ready"]
        if not later:
            assert set(state) == {"finished"}
            return finish
        now = min(later)


def in_turn(ready, last):
    """The first after the last one, in circular order."""
    return min((number for number in ready if number > last), default=min(ready))


class Request(Job):
    """A request for whose completion a process may wait."""

    def __init__(self, env, warp):
        super().__init__(env, warp)
        self.completed = Moment(env)

    def happen(self):
        self.completed.after(0, COMPLETION)


def on_simpy(machine, sequences, warps_per_block=None):
    """The same with the event engine's units, turns and barriers."""
    grid = grid_of(machine, len(sequences), warps_per_block)
    env = Environment()

    def unit(of):
        turns = (
            GroupsInTurn(grid.dmm_of_warp) if machine.shared and of.dmm is None else WarpsInTurn()
        )
        return MemoryUnit(env, of, turns)

    units = [unit(of) for of in machine.units]
    barriers = Barriers(grid, [])
    waiting = Waiting(Place("f", "file", 1), True)

    def warp(number):
        for op in sequences[number]:
            if op == BARRIER:
                released = Moment(env)
                barriers.arrive(number, waiting, np.zeros(0, bool), released)
                yield released
            elif op:
                job = Request(env, number)
                job.stages = op // 2
                units[1 + grid.dmm_of_warp(number) if op % 2 else 0].submit(job)
                yield job.completed
        barriers.finish(grid.block_of_warp(number))

    for number in range(grid.warps):
        env.process(warp(number))
    env.run()
    return env.now


# ------------------------------------------------------------------ random operations


@st.composite
def schedules(draw, most_warps=14):
    """A machine, the operations of its warps, and the warps of a block."""
    width = draw(st.integers(1, 4))
    latency = st.integers(1, 4) | st.integers(1, 50)
    kind = draw(st.sampled_from(["DMM", "UMM", "HMM", "HMM", "HMM"]))
    if kind == "HMM":
        machine = mm.HMM(draw(st.integers(1, 4)), width, draw(latency), draw(latency))
    else:
        machine = getattr(mm, kind)(width, draw(latency))
    # Drawn by NumPy, which is faster than one by one; a case still shrinks by its few numbers.
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    warps = draw(st.integers(1, most_warps))
    longest = draw(st.integers(0, 10))
    barriers, nothing, to_shared = (draw(st.sampled_from([0.0, 0.1, 0.4])) for _ in range(3))
    stages = draw(st.integers(1, width))
    program = rng.random(longest)  # a barrier stands at the same place in most warps
    sequences = []
    for _ in range(warps):
        length = longest if rng.random() < 0.6 else int(rng.integers(0, longest + 1))
        requests = 2 * rng.integers(1, stages + 1, length)
        if machine.shared:
            requests += rng.random(length) < to_shared
        requests[rng.random(length) < nothing] = 0
        own = program[:length] if rng.random() < 0.8 else rng.random(length)
        requests[own < barriers] = BARRIER
        sequences.append(requests.tolist())
    return machine, sequences, draw(st.integers(1, warps))


@settings(max_examples=draws(30))
@given(case=schedules())
def test_as_stated_plainly_and_as_the_event_engine(case):
    expected = stated_plainly(*case)
    assert on_simpy(*case) == expected
    assert time_of(*case) == expected
    assert time_of(*case, compile=True) == expected


@settings(max_examples=draws(20))
@given(case=cases())
def test_whole_programs(case):
    assume("grid_barrier" not in case.source)  # such programs aren't timed this way
    run = run_case(case, "asynchronous", engine="events", trace=True)
    machine = run.machine
    grid = Grid(
        case.threads, case.block_size or case.threads, machine.width, len(machine.shared) or 1
    )
    # A warp that comes to a barrier and leaves it at one instant may be dispatched at that instant.
    happenings = [(a.time, 0, a.warp, BARRIER) for a in run.trace.arrivals]
    happenings += [
        (d.time, 1, d.warp, 2 * d.stage_count + d.unit.startswith("shared"))
        for d in run.trace.dispatches
    ]
    sequences = [[] for _ in range(grid.warps)]
    for _, _, warp, op in sorted(happenings):
        sequences[warp].append(op)
    operations = np.array([op for sequence in sequences for op in sequence], np.int64)
    start = np.cumsum([0, *map(len, sequences)])
    for compile in (False, True):
        assert asynchronous_time(machine, grid, operations, start, compile=compile) == run.time


@both_ways
@pytest.mark.parametrize(
    ("warps", "dmms"), [(63, 1), (64, 1), (65, 1), (200, 2), (4096, 1), (4097, 1)]
)
def test_many_warps(warps, dmms, compile):
    # The ready warps' tree gets a second floor at 65 and a third at 4097 warps of a DMM.
    rng = np.random.default_rng(warps)
    machine = mm.HMM(dmms, 4, 7, 2)
    sequences = []
    for _ in range(warps):
        before, after = (rng.integers(2, 8, rng.integers(0, 3)).tolist() for _ in range(2))
        sequences.append([*before, BARRIER, *after])
    assert time_of(machine, sequences, 50, compile) == on_simpy(machine, sequences, 50)


@both_ways
@pytest.mark.parametrize("dmms", [5, 64, 100])
def test_many_dmms(dmms, compile):
    rng = np.random.default_rng(dmms)
    machine = mm.HMM(dmms, 4, 9, 3)
    sequences = [rng.integers(1, 8, rng.integers(0, 7)).tolist() for _ in range(3 * dmms + 1)]
    assert time_of(machine, sequences, 2, compile) == on_simpy(machine, sequences, 2)


# ------------------------------------------------------------------ DMMs that do the same


def taken_together(machine, sequences, warps_per_block):
    """The finding of `same_dmms` in warps of equally many operations."""
    grid = grid_of(machine, len(sequences), warps_per_block)
    steps = len(sequences[0])
    start = np.arange(len(sequences) + 1) * steps
    return same_dmms(grid, machine.dmms, np.array(sequences, np.int32).reshape(-1), start)


@st.composite
def same_on_each_dmm(draw):
    """An HMM whose DMMs all do the same, none beginning at its shared memory."""
    width, stages = draw(st.tuples(st.integers(1, 4), st.integers(1, 4)))
    latency = st.integers(1, 4) | st.integers(1, 50)
    machine = mm.HMM(draw(st.integers(2, 5)), width, draw(latency), draw(latency))
    size, rows, steps = (draw(st.integers(1, most)) for most in (3, 3, 10))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    barriers, nothing, to_shared = (draw(st.sampled_from([0.0, 0.1, 0.4])) for _ in range(3))
    own = np.full((rows, 1, size, steps), memory(stages))
    at_shared = rng.random(own.shape) < to_shared
    own[at_shared] = shared(rng.integers(1, 5, at_shared.sum()))
    own[rng.random(own.shape) < nothing] = 0
    own[np.broadcast_to(rng.random(steps) < barriers, own.shape)] = BARRIER
    for sequence in own.reshape(-1, steps):
        requests = np.flatnonzero(sequence > 1)
        if len(requests):
            sequence[requests[0]] = memory(stages)
    sequences = np.broadcast_to(own, (rows, machine.dmms, size, steps)).reshape(-1, steps)
    return machine, sequences.tolist(), size


@settings(max_examples=draws(30))
@given(case=same_on_each_dmm())
def test_one_dmm_stands_for_those_that_do_the_same(case):
    requests = any(op > 1 for sequence in case[1] for op in sequence)
    assert (taken_together(*case) is not None) == requests
    expected = stated_plainly(*case)
    assert time_of(*case) == expected
    assert time_of(*case, compile=True) == expected


@both_ways
@pytest.mark.parametrize(
    ("sequences", "warps_per_block"),
    [
        ([[2, 2], [2, 2], [2, 2]], 1),  # a block more on DMM 0
        ([[2, 2], [2, 2], [2, 2]], 2),  # a block that isn't full
        ([[2, 2], [2, 0]], 1),
        ([[2, 2], [2, 2], [2, 2], [2, 3]], 1),  # another in the second blocks only
        ([[2, 4], [2, 4]], 1),  # the requests take different numbers of stages
        ([[3, 2], [3, 2]], 1),  # DMM 1 would begin before its turn
        ([[0, 3, 2], [0, 3, 2]], 1),
        ([[1, 9, 2, 3], [1, 2, 3, 3]] * 2, 2),
        ([[3, 5], [3, 5]], 1),  # nothing in turn
        ([[0, 0], [0, 0]], 1),
    ],
)
def test_dmms_are_taken_together_only_where_they_do_the_same(sequences, warps_per_block, compile):
    machine = mm.HMM(2, 8, 3, 2)
    assert taken_together(machine, sequences, warps_per_block) is None
    expected = stated_plainly(machine, sequences, warps_per_block)
    assert time_of(machine, sequences, warps_per_block, compile) == expected


@both_ways
def test_warps_of_unequal_length_are_not_taken_together(compile):
    # Cut into rows of two they would look the same.
    sequences = [[2, 2, 2], [2]]
    machine, start = mm.HMM(2, 8, 3, 2), np.array([0, 3, 4])
    assert same_dmms(grid_of(machine, 2, 1), 2, np.array([2, 2, 2, 2]), start) is None
    assert time_of(machine, sequences, 1, compile) == stated_plainly(machine, sequences, 1)


@both_ways
def test_each_dmm_is_looked_at(compile):
    machine, sequences = mm.HMM(3, 8, 3, 2), [[2, 2], [2, 2], [2, 3]]
    assert taken_together(machine, sequences, 1) is None
    assert time_of(machine, sequences, 1, compile) == stated_plainly(machine, sequences, 1)


def test_a_schedule_of_dmms_taken_together_can_be_stopped(monkeypatch):
    monkeypatch.setattr(play, "REPORT", 4)
    machine, sequences = mm.HMM(4, 8, 3, 2), [[2] * 9] * 4
    assert taken_together(machine, sequences, 1) is not None
    assert time_of(machine, sequences, 1, control=np.array([1, 0])) == -1
    assert time_of(machine, sequences, 1, control=np.array([0, 0])) > 0


def test_a_last_block_of_fewer_threads_is_not_taken_together():
    grid = Grid(threads=30, block_size=8, width=4, dmms=2)  # its last warp has two threads
    operations, start = np.full(8, 2), np.arange(9)
    assert same_dmms(grid, 2, operations, start) is None
    assert asynchronous_time(mm.HMM(2, 4, 5), grid, operations, start) == 8 + 5 - 1


# ------------------------------------------------------------------ by hand


@both_ways
def test_the_largest_latencies_and_stages(compile):
    machine = mm.HMM(2, LARGEST, LARGEST, LARGEST)
    k = LARGEST
    sequences = [[memory(k), BARRIER, shared(k), memory(k)], [shared(k), BARRIER, memory(k)]] * 3
    expected = stated_plainly(machine, sequences, 2)
    assert expected > 8 * LARGEST
    assert time_of(machine, sequences, 2, compile, dtype=np.int64) == expected


@both_ways
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int32, np.int64])
def test_any_type_of_operations(dtype, compile):
    most = min(int(np.iinfo(dtype).max) // 2, 30_000)
    sequences = [[memory(most), BARRIER, shared(3)], [0, 2, 1]]
    machine = mm.HMM(1, 32767, 10)
    assert time_of(machine, sequences, None, compile, dtype) == stated_plainly(machine, sequences)


# ------------------------------------------------------------------ progress, stopping, loading


@both_ways
@pytest.mark.parametrize("op", [memory(1), shared(1)])
def test_progress_is_counted(op, compile, monkeypatch):
    if not compile:
        monkeypatch.setattr(play, "REPORT", 10)  # reports must not change the schedule
    sequences = [[op] * 5 + [memory(1)] * 2, [op, 0, BARRIER], [op] * 30] * 3
    machine = mm.HMM(2, 4, 6, 2)
    control = np.array([0, 7])
    assert time_of(machine, sequences, 2, compile, control=control) == stated_plainly(
        machine, sequences, 2
    )
    assert control.tolist() == [0, 7 + 3 * (7 + 1 + 30)]


@both_ways
@pytest.mark.parametrize("op", [memory(1), shared(1)])
def test_stopped(op, compile):
    control = np.array([1, 0])
    sequences = [[op] * 5000] * 8
    assert time_of(mm.HMM(1, 4, 6), sequences, None, compile, control=control) == -1
    assert 10_000 < control[1] < 40_000


def test_another_thread_watches_and_stops_it():
    count = 30_000_000
    control = np.zeros(2, np.int64)
    operations = np.full(count, shared(1), np.uint16)
    start = np.array([0, count // 2, count])
    results = []

    def work():
        grid = Grid(8, 8, 4)
        results.append(asynchronous_time(mm.HMM(1, 4, 6), grid, operations, start, control))

    thread = threading.Thread(target=work)
    thread.start()
    while control[1] == 0 and thread.is_alive():
        time.sleep(0.001)
    control[0] = 1
    thread.join()
    assert results == [-1]
    assert 0 < control[1] < count


def test_numba_is_loaded_when_there_is_much_to_do():
    code = (
        "import sys, numpy as np, mmsim as mm\n"
        "from mmsim.engines.array.asynchronous_time import FEW, asynchronous_time\n"
        "from mmsim.model.threads import Grid\n"
        "for count in (FEW // 10, FEW + 1):\n"
        "    operations = np.full(count, 2, np.int32)\n"
        "    asynchronous_time(mm.DMM(4, 3), Grid(4, 4, 4), operations, np.array([0, count]))\n"
        "    print('numba' in sys.modules)\n"
    )
    output = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert output.split() == ["False", "True"]


# ------------------------------------------------------------------ beyond a word of ready warps


@mm.program
def one_reads_on(T, a, chosen, times):
    for _ in range(times if T.id == chosen else 1):
        a[T.id]


@pytest.mark.parametrize("warps", [64, 65, 66, 67, 128, 131, 200, 4097])
def test_ready_warps_are_found_in_turn_however_far_they_stand(warps):
    """Of warps that all ask at time 0 warp c is dispatched at time c; then it goes on by itself."""
    latency, times = 2 * warps, 3
    for chosen in {0, 1, 2, 62, 63, warps // 2, warps - 2, warps - 1}:
        run = mm.DMM(1, latency).run(
            one_reads_on,
            np.zeros(warps),
            chosen,
            times,
            threads=warps,
            schedule="asynchronous",
            engine="array",
        )
        assert run.time == chosen + times * latency


@pytest.mark.parametrize(("latencies", "finish"), [((1, 9), 11), ((9, 1), 10), ((9, 9), 11)])
def test_dmms_of_other_latencies_do_not_do_the_same(latencies, finish):
    """Each reads the memory, in consecutive time units, and then its own shared memory."""
    machine = OwnMachine(4, ("group", 4, 1), tuple(("bank", 4, l) for l in latencies))
    assert time_of(machine, [[memory(1), shared(1)]] * 2, warps_per_block=1) == finish


def test_the_floors_of_a_tree_of_ready_warps_are_full():
    assert [words_for(warps) for warps in (1, 64, 65, 4096, 4097)] == [1, 1, 65, 65, 4161]
