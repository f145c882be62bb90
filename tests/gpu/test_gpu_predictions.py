"""What the calibrated machines predict: stages and times by hand and by the simulator's own run."""

from __future__ import annotations

import sys
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mmsim as mm
from mmsim import gpu
from mmsim.cuda_c.writer import waits_between_repetitions
from mmsim.engines.array.fused import execute
from mmsim.errors import AddressError, MMSimError
from mmsim.gpu import Calibration, Replay, kernel
from mmsim.gpu.calibration import chain, copy, random_cycle, read
from mmsim.gpu.replay import timed
from mmsim.gpu.shared import repetition
from mmsim.gpu.words import CardBanks, time_units
from mmsim_algorithms import permutations
from mmsim_algorithms.colouring import schedules
from mmsim_algorithms.dmm_permutation import conflict_free, destination_designated
from tests.kit.cards.played import DEVICE, KNOWN
from tests.kit.generators.random_programs import define
from tests.kit.oracle.emulated_gpu import Emulated, needs_compiler

pytestmark = pytest.mark.usefixtures("uncompiled")


def int32(*values):
    return np.array(values, np.int32)


# ------------------------------------------------------------ one request in shared memory


def brute_force(addresses, lanes, banks_of_a_group, lanes_of_a_group):
    """Different words of the fullest bank, group of lanes by group of lanes."""
    total = 0
    for first in range(0, 32, lanes_of_a_group):
        group = range(first, first + lanes_of_a_group)
        asked = {a for a, lane in zip(addresses, lanes, strict=True) if lane in group}
        banks = Counter(address % banks_of_a_group for address in asked)
        total += max(banks.values(), default=0)
    return total


@given(st.dictionaries(st.integers(0, 31), st.integers(0, 200), min_size=1), st.booleans())
def test_words_of_8_bytes_are_served_half_a_warp_at_a_time(asked, doubled):
    lanes = sorted(asked)
    addresses = [asked[lane] * (16 if doubled else 1) for lane in lanes]

    def stages(size):
        return CardBanks(32).of_words(size).stages(addresses, np.array(lanes))

    assert stages(16) == brute_force(addresses, lanes, 8, 8)
    assert stages(8) == brute_force(addresses, lanes, 16, 16)
    for size in (1, 2, 4):
        assert stages(size) == brute_force(addresses, lanes, 32, 32)


# ------------------------------------------------------------ repetitions of a program


def once_and_again(name, arrays, body, between=""):
    """A program of these statements, and one that runs them in a loop."""
    lines = body.split("\n")
    again = [*lines, between] if between else lines
    text = "".join(f"    {line}\n" for line in lines)
    loop = "".join(f"        {line}\n" for line in again)
    heads = f"def {name}(T, {arrays}):\n", f"def {name}_again(T, {arrays}, repetitions):\n"
    return (
        mm.program(define(heads[0] + text, name)),
        mm.program(define(f"{heads[1]}    for _ in range(repetitions):\n{loop}", f"{name}_again")),
    )


copied, copied_again = once_and_again("copied", "a, b", "b[T.id] = a[T.id]")
designated, designated_again = once_and_again("designated", "a, b, p", "b[p[T.id]] = a[T.id]")
scheduled, scheduled_again = once_and_again("scheduled", "a, b, s, d", "b[d[T.id]] = a[s[T.id]]")
transposed_in_place, transposed_in_place_again = once_and_again(
    "transposed_in_place",
    "a",
    "i, j = divmod(T.id, a.shape[0])\nc = a[i, j]\nT.barrier()\na[j, i] = c",
    between="T.barrier()",  # it reads what it writes
)
# Warps with much and with little to do, and a barrier in the middle.
uneven, uneven_again = once_and_again(
    "uneven",
    "a, b",
    "for k in range(T.warp):\n    b[(T.id * k) % b.size] = a[T.id]\nT.barrier()\n"
    "if T.lane < 20:\n    b[T.id] = a[T.lane * 8]",
)


@mm.program
def leaving(T, a, b):
    if T.warp % 2 == 1:
        return
    c = a[T.id]
    T.barrier()
    b[4 * T.id] = c


@mm.program
def leaving_again(T, a, b, repetitions):
    for _ in range(repetitions):
        c = 0
        if T.warp % 2 == 0:
            c = a[T.id]
        T.barrier()
        if T.warp % 2 == 0:
            b[4 * T.id] = c
        T.barrier()  # threads leave it before a barrier


REPEATED = ["copy", "D-designated", "conflict-free", "in place", "uneven", "leaving"]


def of_repetitions(dtype):
    """A program, the same in a loop, and their arguments."""
    n = 256
    a, b = np.arange(n).astype(dtype), np.zeros(n, dtype)
    P = permutations.random(n, 3)
    tables = [one.astype(np.int32) for one in schedules.conflict_free(P, 32)]
    return {
        "copy": (copied, copied_again, (a, b), n),
        "D-designated": (designated, designated_again, (a, b, P.astype(np.int32)), n),
        "conflict-free": (scheduled, scheduled_again, (a, b, *tables), n),
        "in place": (transposed_in_place, transposed_in_place_again, (a.reshape(16, 16),), n),
        "uneven": (uneven, uneven_again, (a, b), n - 16),
        "leaving": (leaving, leaving_again, (a, np.zeros(4 * n, dtype)), n),
    }


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
@pytest.mark.parametrize("latency", [1, 5, 29])
@pytest.mark.parametrize("name", REPEATED)
def test_repetitions_take_the_time_of_the_same_program_in_a_loop(name, latency, dtype):
    programs = of_repetitions(dtype)
    assert list(programs) == REPEATED
    program, again, arguments, threads = programs[name]
    one = repetition(program, *arguments, threads=threads)
    machine = mm.DMM(32, latency)
    for repetitions in (1, 2, 3, 8):
        run = machine.run(again, *arguments, repetitions, threads=threads, schedule="asynchronous")
        assert one.time(latency, repetitions) == run.time
        assert one.stages * repetitions == run.stages


def test_blocks_of_one_multiprocessor_share_its_memory():
    a = np.zeros(64, np.float32)
    one = repetition(copied, a, a.copy(), threads=64)
    assert one.time(10) == 21  # 2 reads, 10 later 2 writes, the last done after another 10
    assert one.time(10, blocks=2) == 4 + 10 + 10 - 1
    assert one.time(2, repetitions=100, blocks=3) == 3 * 100 * one.stages + 1
    barrier = repetition(transposed_in_place, np.zeros((8, 8), np.float32), threads=64)
    assert barrier.alone
    alone = barrier.time(29)
    assert alone < barrier.time(29, blocks=2) < 2 * alone


def test_doubles_take_the_time_of_a_program_that_reads_and_writes_each_half():
    """32 consecutive doubles: two stages, as one request of a DMM with two words in each bank."""

    @mm.program
    def two_each(T, a, b):
        b[(T.lane % 16) + 32 * (T.lane // 16) + 64 * T.warp] = a[
            (T.lane % 16) + 32 * (T.lane // 16) + 64 * T.warp
        ]

    n, a = 128, np.zeros(256, np.float32)
    doubles = repetition(copied, np.zeros(n), np.zeros(n), threads=n)
    for latency in (1, 7, 40):
        run = mm.DMM(32, latency).run(two_each, a, a.copy(), threads=n, schedule="asynchronous")
        assert doubles.time(latency) == run.time
    assert doubles.stages == 16


def test_small_words_lie_in_a_bank_each():
    for dtype in (bool, np.int8, np.uint16):
        a = np.zeros(64, dtype)
        assert repetition(copied, a, a.copy(), threads=64).warps == ((2, 2), (2, 2))


# ------------------------------------------------------------ between the repetitions


@mm.program
def swapped(T, a):
    a[T.id] = a[T.count - 1 - T.id]


@mm.program
def through_shared(T, a, b):
    c = mm.shared(T.count)
    c[T.id] = a[T.id]
    T.barrier()
    b[T.id] = c[T.count - 1 - T.id]


@mm.program
def reversed_with_a_barrier(T, a, b):
    c = a[T.id]
    T.barrier()
    b[T.count - 1 - T.id] = c


@mm.program
def leaving_at_once(T, a, b):
    if T.id > 5:
        return
    b[T.id] = a[T.id]


WAITING = {
    "neither": (copied, False, 2),
    "a barrier alone": (reversed_with_a_barrier, False, 2),
    "some leave, and there is no barrier": (leaving_at_once, False, 2),
    "it reads what it writes": (swapped, True, 1),
    "it reads the shared array that it writes": (through_shared, True, 2),
    "some leave before a barrier": (leaving, True, 2),
}


@pytest.mark.parametrize("case", WAITING)
def test_the_kernel_waits_between_repetitions_where_the_prediction_does(case):
    program, waits, arrays = WAITING[case]
    assert waits_between_repetitions(program.code) == waits
    arguments = [np.zeros(256, np.int32) for _ in range(arrays)]
    assert repetition(program, *arguments, threads=64).alone == waits
    source = kernel(program, *arguments, threads=64, space="shared").source
    of_a_repetition = source.split("< repeat;")[1].rsplit("\n    }\n", 1)[0]
    last = [line.strip() for line in of_a_repetition.splitlines()][-2:]
    if program is leaving:
        assert last == ["while (!__syncthreads_and(1))", ";"]
    else:
        assert (last[-1] == "__syncthreads();") == waits


@needs_compiler
def test_two_repetitions_on_an_emulated_gpu_are_two_launches(tmp_path):
    """Whichever thread goes first: a repetition begins when the last one has ended."""
    programs = [(reversed_with_a_barrier, 2), (through_shared, 2), (leaving, 2)]
    data = np.arange(64, dtype=np.int32)
    given = [[data, *(np.zeros(256, np.int32),) * (count - 1)] for _, count in programs]
    written = [
        kernel(program, *arguments, threads=64, space="shared")
        for (program, _), arguments in zip(programs, given, strict=True)
    ]
    emulated = Emulated(written, tmp_path)
    for number, ((program, _), arguments) in enumerate(zip(programs, given, strict=True)):
        expected = mm.DMM(32, 1).run(program, *arguments, threads=64).arrays
        for backward in (False, True):
            found = emulated.run(number, backward, repeat=3)
            assert all((found[name] == values).all() for name, values in expected.items())


# ------------------------------------------------------------ global memory


@mm.program
def staged(T, a, b):
    """Through a shared array, with conflicts there and none here, and the last half idle."""
    c = mm.shared((2, T.block_size))
    c[0, (5 * T.index) % T.block_size] = a[T.id]
    T.barrier()
    if T.index < T.block_size // 2:
        b[2 * T.id] = c[0, 2 * T.index]


@mm.program
def searched(T, a, b):
    """Looks: their number is known only when a thread has looked."""
    c = mm.shared(4)
    x = T.id
    while a[x] != 0:
        x = a[x]
    c[T.index % 4] = a[x]
    T.barrier()
    b[T.id] = x


N = 192
A, B = np.arange(N), np.zeros(N, int)
P = permutations.random(N, 1)
OF_MEMORY = {
    "copy": lambda: (copied, (A, B), 96),
    "copy of several words": lambda: (copy, (A, B, 3), 32),
    "random": lambda: (destination_designated, (A, B, P), 64),
    "conflict-free": lambda: (conflict_free, (A, B, *schedules.conflict_free(P, 32)), 96),
    "a shared array": lambda: (staged, (A, np.zeros(2 * N, int)), 48),
    "only the interpreter": lambda: (searched, (np.maximum(A - 1 - A % 5, 0), B), 96),
    "a partly filled warp": lambda: (copied, (A, B), 40),
}
"""Programs of global memory; a schedule is coloured only where its test runs."""


MACHINES = [mm.HMM(1, 32, 1), mm.HMM(2, 32, 30, 3), mm.HMM(3, 32, 500), mm.HMM(2, 64, 9, 2)]


def launched(name, dtype):
    program, arguments, block_size = OF_MEMORY[name]()
    arguments = [one.astype(dtype) if isinstance(one, np.ndarray) else one for one in arguments]
    threads = len(arguments[0]) // (arguments[-1] if program is copy else 1)
    return program, arguments, {"threads": threads, "block_size": block_size}


@pytest.mark.parametrize("machine", MACHINES, ids=str)
@pytest.mark.parametrize("name", OF_MEMORY)
def test_words_of_4_bytes_take_the_time_of_a_run(name, machine):
    program, arguments, how = launched(name, np.int32)
    run = machine.run(program, *arguments, **how, schedule="asynchronous")
    assert time_units(machine, program, *arguments, **how) == run.time


@pytest.mark.parametrize("machine", MACHINES, ids=str)
@pytest.mark.parametrize("name", OF_MEMORY)
def test_both_ways_to_know_what_the_warps_do_agree(name, machine, monkeypatch):
    program, arguments, how = launched(name, np.int64)
    time = time_units(machine, program, *arguments, **how)

    def none(*_):
        raise execute.CannotFuse("for a test")

    monkeypatch.setattr(execute.Execution, "__init__", none)
    assert time_units(machine, program, *arguments, **how) == time
    run = machine.run(program, *arguments, **how, schedule="asynchronous")
    assert run.time < time or how["block_size"] < machine.width


def test_times_of_8_byte_words_by_hand():
    ints, doubles = np.zeros(64, np.int32), np.zeros(64)
    machine, how = mm.HMM(1, 32, 10), {"threads": 64, "block_size": 64}
    # Stages back to back from 0; what reads at t may write at t + stages + 9.
    assert time_units(machine, copied, ints, ints.copy(), **how) == 1 + 9 + 1 + 1 + 9
    # Warp 0 reads till 11, warp 1 till 13; the first writes 11, 12, the second 13, 14; 9 more.
    assert time_units(machine, copied, doubles, doubles.copy(), **how) == 24
    # Warp 0 reads till 10, writes in 10, 11; warp 1 reads till 11, writes in 12, 13; 9 more.
    assert time_units(machine, copied, ints, doubles, **how) == 23
    # A register's word costs nothing; the table of 4 bytes 1, each scattered double a group.
    far = (np.arange(32) * 32).astype(np.int32)
    how = {"threads": 32, "block_size": 32}
    scattered = time_units(machine, designated, doubles[:32], np.zeros(1024), far, **how)
    assert scattered == 10 + (2 + 9) + (32 + 9)


def test_words_of_8_bytes_at_a_wide_machine():
    doubles = np.zeros(64 * 64)
    machine, how = mm.HMM(1, 64, 1), {"threads": 64, "block_size": 64}

    @mm.program
    def apart(T, a):
        c = mm.shared(64 * T.count, dtype=float)
        a[64 * T.id]
        c[64 * T.id] = 1.0

    assert time_units(machine, apart, doubles, **how) == 64 + 64


def test_a_program_s_own_error_is_reported():
    with pytest.raises(AddressError):
        time_units(mm.HMM(1, 32, 1), copied, int32(1), int32(1), threads=4)


# ------------------------------------------------------------ the calibration


def test_a_calibration_gives_machines_and_times():
    assert KNOWN.dmm == mm.DMM(32, 20)
    assert KNOWN.umm == mm.UMM(32, 60)
    assert KNOWN.hmm == mm.HMM(2, 32, 60, 20)
    assert KNOWN.milliseconds(1000, launches=5) == pytest.approx(40e-6 + 0.01)
    assert KNOWN.milliseconds(0) == pytest.approx(0.002)
    assert Calibration.from_dict(KNOWN.to_dict()) == KNOWN


@pytest.mark.parametrize("change", [{"colour": 1}, {"device": None}])
def test_what_is_no_calibration_is_refused(change):
    found = {**KNOWN.to_dict(), **change}
    if found["device"] is None:
        del found["device"]
    with pytest.raises(MMSimError, match=r"this is not a calibration: .*(colour|device)"):
        Calibration.from_dict(found)


@given(st.integers(2, 60))
def test_a_random_cycle_comes_back_after_all_places(length):
    cycle, place = random_cycle(length), 0
    seen = [place := int(cycle[place]) for _ in range(length)]
    assert sorted(seen) == list(range(length))
    assert place == 0
    assert cycle.dtype == np.int32


def test_the_chain_measures_the_latency_and_meets_no_conflict():
    a, b = np.arange(32, dtype=np.int32), np.zeros(32, np.int32)
    times = [
        mm.DMM(32, 29).run(chain, a, b, steps, threads=32, schedule="asynchronous").time
        for steps in (64, 192)
    ]
    assert (times[1] - times[0]) / 128 == 29
    spread = np.zeros(64 * 50, np.int32)
    spread[::64] = 64 * random_cycle(50)
    run = mm.UMM(32, 9).run(chain, spread, int32(1), 50, threads=1, schedule="asynchronous")
    assert run.time == 51 * 9
    assert run.arrays["b"] == 0  # it has been everywhere


def test_a_stride_s_read_takes_as_many_stages_as_it_meets():
    a = np.zeros(32 * 64, np.int32)
    for stride, stages in ((1, 1), (2, 2), (8, 8), (32, 32), (33, 1)):
        assert repetition(read, a, stride, threads=64).stages == 2 * stages


def test_the_copy_reads_and_writes_each_word_once_in_whole_groups():
    a = np.arange(512)
    run = mm.UMM(32, 9).run(copy, a, np.zeros_like(a), 8, threads=64)
    assert (run.arrays["b"] == a).all()
    assert [(row.requests, row.stages) for row in run.accesses] == [(16, 16)] * 2


# ------------------------------------------------------------ a replay's own prediction


def replayed(program, arguments, space, calibration, repeat=1, **how):
    return Replay(
        *(program.name, DEVICE, space, "cycles", 1.0, 1.0, 1.0, 1, repeat, {}, calibration),
        (program, tuple(arguments), {"block_size": None, **how}),
    )


def test_a_replay_predicts_repetitions_in_shared_memory():
    a = np.zeros(1024, np.float32)
    found = replayed(copied, (a, a.copy()), "shared", KNOWN, repeat=10, threads=1024)
    again = KNOWN.dmm.run(copied_again, a, a.copy(), 10, threads=1024, schedule="asynchronous")
    assert found.predicted == again.time / 10 * 1.25
    assert found.run.machine == KNOWN.dmm
    assert found.run.schedule == "asynchronous"


def test_a_replay_predicts_a_launch_in_global_memory():
    a = np.zeros(128, np.int32)
    found = replayed(copied, (a, a.copy()), "global", KNOWN, threads=128, block_size=64)
    assert found.run.machine == KNOWN.hmm
    assert found.predicted == KNOWN.milliseconds(found.run.time)
    searching = replayed(searched, (np.zeros_like(a), a), "global", KNOWN, threads=128)
    assert searching.predicted == KNOWN.milliseconds(searching.run.time)


def test_without_a_calibration_nothing_is_predicted_but_a_run_is_there():
    a = np.zeros(64, np.int32)
    for space, machine in (("shared", mm.DMM(32, 1)), ("global", mm.HMM(1, 32, 1))):
        found = replayed(copied, (a, a.copy()), space, None, threads=64)
        assert found.predicted is None
        assert found.run.machine == machine


# ------------------------------------------------------------ timing with events


class FakeCuPy:
    """Of CuPy what `timed` asks for; its clock is the list of what was sent."""

    uint8 = np.uint8

    def __init__(self):
        self.sent = []
        self.cuda = self

    def empty(self, size, dtype):
        return SimpleNamespace(
            fill=lambda value: self.sent.append(f"sweep {size} with {value}"),
        )

    def Event(self):
        event = SimpleNamespace(synchronize=lambda: self.sent.append("wait"))
        event.record = lambda: setattr(event, "at", len(self.sent))
        return event

    def get_elapsed_time(self, begin, end):
        return end.at - begin.at


@pytest.mark.parametrize("sweeps", [1, 3])
def test_a_launch_is_timed_behind_sweeps_of_the_cache(sweeps, monkeypatch):
    monkeypatch.setattr(sys.modules["mmsim.gpu.replay"], "device", lambda: DEVICE)
    cp = FakeCuPy()

    def launch(repetition):
        cp.sent.append(f"repetition {repetition}")

    assert timed(cp, launch, 3, sweeps) == [1.0] * 3
    warm, rest = cp.sent[:2], cp.sent[2:]
    assert warm == ["repetition 0", "repetition 1"]
    assert rest == [
        sent
        for n in range(3)
        for sent in (*[f"sweep 3072 with {n}"] * sweeps, f"repetition {n}", "wait")
    ]


def test_gpu_s_public_names_are_there():
    assert set(gpu.__all__) <= set(dir(gpu))
