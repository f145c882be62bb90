"""Blocks that a card holds at a time: by warps, blocks, registers, and shared memory."""

from dataclasses import replace

import numpy as np
import pytest

import mmsim as mm
from mmsim import cuda
from mmsim.api.binding import bind
from mmsim.errors import LaunchError
from mmsim.model.issue import issue

H200 = mm.H200()
FACTS = {"name": "small", "device": "", "driver": "", "date": "", "unit_fs": 1}
TIMES = {"launch_time": 0, "block_time": 0, "cycle_time": 1}
SMALL = mm.Card(1, 4, 10, bank_bytes=4, resident=256, under_way=2, **FACTS, **TIMES)
"""One multiprocessor, with warps of 4 threads."""


@pytest.mark.parametrize(
    ("block", "held"),
    [
        ((256, 0, 0), 8),  # 2048 threads
        ((100, 0, 0), 16),  # 4 warps each
        ((32, 0, 0), 32),  # 32 blocks
        ((256, 48 * 1024, 0), 4),  # 4 times 49 of 228 KiB
        ((32, 27 * 1024 + 512, 0), 8),  # 8 times 28.5 KiB
        ((32, 27 * 1024 + 513, 0), 7),  # 128 bytes more each
        ((1024, 227 * 1024, 0), 1),
        ((1024, 227 * 1024 + 1, 0), 0),
        ((256, 0, 32), 8),  # 64 warps
        ((256, 0, 33), 6),  # 40 registers: 12 warps for each scheduler
        ((32, 0, 56), 32),
        ((64, 0, 56), 18),  # 9 warps for each scheduler
        ((256, 0, 1000), 1),  # 255 registers: 2 warps for each scheduler
        ((512, 0, 255), 0),
    ],
)
def test_an_h200_holds_the_blocks_of_the_occupancy_calculator(block, held):
    assert H200.held(*block) == held


def test_only_what_a_card_states_is_a_limit():
    none = {"resident_blocks": None, "registers": None, "shared_bytes": None}
    assert replace(H200, **none).held(32, 1 << 20, 99) == 64
    assert replace(H200, **none, resident=None).held(32, 1 << 20, 99) is None
    assert replace(H200, resident_blocks=5).held(32, 0, 0) == 5


@mm.program
def staged(T, a):
    s = mm.shared(T.block_size)
    s[T.index] = a[T.id]
    a[T.id] = s[T.index]


def runs(card, threads):
    """The time of a launch of blocks of one warp, by both engines."""
    a = np.zeros(threads, np.float32)
    how = {"threads": threads, "block_size": 4, "schedule": "asynchronous"}
    times = {card.run(staged, a, **how, engine=engine).time for engine in ("array", "events")}
    assert len(times) == 1
    return times.pop()


def test_blocks_begin_when_others_have_left_shared_memory():
    """A block takes 22 time units by itself: 10 for a read, 1 + 1 in shared memory, 10.

    Of two that begin together, the first ends at 23, because the other has its turn in shared
    memory, and this one at 24. The next two begin at 23 and 24, and end 23 time units later.
    """
    assert runs(SMALL, 4) == 22
    assert runs(replace(SMALL, shared_bytes=128), 16) == 4 * 22
    two = runs(replace(SMALL, shared_bytes=256), 16)
    assert two == 24 + 23
    assert runs(replace(SMALL, shared_bytes=256, reserved_bytes=1), 16) == 4 * 22
    assert runs(replace(SMALL, resident_blocks=2), 16) == two
    assert runs(replace(SMALL, resident_blocks=1), 14) == 4 * 22  # the last block is smaller


def test_a_thread_takes_a_register_for_each_word_that_it_holds():
    @mm.program
    def kept(T, a):
        own = mm.registers(33)
        for k in range(33):
            own[k] = a[k, T.id]
        for k in range(33):
            a[k, T.id] = own[k]

    def launch(program, a):
        return bind(H200, program, (a,), (a.shape[-1], 256, None), "asynchronous")

    a = np.zeros((33, 4096), np.float32)
    assert launch(kept, a).held == 6
    assert launch(staged, a[0]).held == 8

    @cuda.jit
    def copied(a):
        own = cuda.local.array(33, np.float32)
        for k in range(33):
            own[k] = a[k, cuda.grid(1)]
        for k in range(33):
            a[k, cuda.grid(1)] = own[k]

    assert launch(copied, a).held == 8  # the array may be in local memory


@pytest.mark.parametrize(("limit", "held"), [("", 5), (".maxnreg 32", 8), (".maxnreg 64", 5)])
def test_ptx_may_say_how_many_registers_are_enough(limit, held):
    """A thread holds 41 words before it writes the first one."""
    loads = "".join(f"ld.global.f32 %f{k}, [%rd1+{4 * k}];\n" for k in range(41))
    stores = "".join(f"st.global.f32 [%rd1+{4 * k}], %f{40 - k};\n" for k in range(41))
    kernel = mm.RawKernel(
        f""".version 8.0
.target sm_90
.address_size 64
.visible .entry kept(.param .u64 a) {limit}
{{
.reg .f32 %f<41>;
.reg .b64 %rd<2>;
ld.param.u64 %rd1, [a];
{loads}{stores}ret;
}}
""",
        "kept",
    )
    a = np.zeros(64, np.float32)
    assert bind(H200, kernel, (a,), (512, 256, None), "asynchronous").held == held


def test_blocks_that_no_multiprocessor_holds_are_refused():
    @mm.program
    def large(T, a):
        s = mm.shared(60_000)
        s[T.index] = a[T.id]

    a = np.zeros(64, np.float32)
    with pytest.raises(LaunchError, match="take 240000 bytes of shared memory, and 1 registers"):
        H200.predict(large, a, threads=64, block_size=32)
    with pytest.raises(LaunchError, match="a DMM of this machine holds 2048"):
        H200.predict(staged, np.zeros(4096, np.float32), threads=4096, block_size=4096)


def test_a_grid_that_meets_has_only_resident_blocks():
    @mm.program
    def met(T, a):
        s = mm.shared(30_000)
        s[T.index] = a[T.id]
        T.grid_barrier()
        a[T.id] = s[T.index]

    for blocks in (132, 133):
        a = np.zeros(32 * blocks, np.float32)
        if blocks == 132:
            assert bind(H200, met, (a,), (a.size, 32, None), "asynchronous").held == 1
            continue
        with pytest.raises(LaunchError, match="of its 133 blocks only 132 can begin"):
            H200.predict(met, a, threads=a.size, block_size=32)


def test_fewer_warps_at_once_wait_longer_for_their_own_results():
    grid = mm.model.threads.make_grid(32 * 64, 32, 32, 1, None)
    warps = np.full((1, 64), 100.0)
    times = [issue(H200, ("sum float32",), warps, grid, held) for held in (64, 8, 4)]
    assert times[0] < times[1] * 2 == times[2]
