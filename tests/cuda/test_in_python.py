"""Launches that call the Python function: the results of the model, and a debugger stops."""

import inspect
import subprocess
import sys
import threading

import numpy as np
import pytest

from mmsim import cuda
from mmsim.cuda import in_python, stubs
from mmsim.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32
from mmsim.errors import MMSimError


@pytest.fixture(autouse=True)
def python_mode(monkeypatch):
    monkeypatch.setenv("MMSIM_PYTHON", "1")


def both(monkeypatch, kernel, grid, block, *args, shared=0):
    """The arrays after a launch of the model, and after one that calls the function."""
    found = []
    for value in ("0", "1"):
        monkeypatch.setenv("MMSIM_PYTHON", value)
        given = [one.copy() if isinstance(one, np.ndarray) else one for one in args]
        kernel[grid, block, 0, shared](*given)
        found.append([one.tolist() for one in given if isinstance(one, np.ndarray)])
    return found


@cuda.jit(device=True)
def in_part(part, t):
    own = cuda.shared.array(32, np.int64)
    own[t] += t
    cuda.syncthreads()
    return own[31 - t] + part[t]


@cuda.jit
def reversed_in_blocks(a, out):
    part = cuda.shared.array((64,), np.int64)
    mine = cuda.local.array(2, np.float32)
    x, y = cuda.grid(2)
    t = cuda.threadIdx.x + cuda.blockDim.x * cuda.threadIdx.y
    mine[0] = t
    part[t] = a[x, y] + cuda.gridsize(2)[0]
    cuda.syncthreads()
    out[x, y] = part[63 - t] * 100 + mine[0] + mine[1]
    if t < 2:
        out[x, y] += cuda.gridDim.y * cuda.blockIdx.x


@cuda.jit
def calling(a):
    part = cuda.shared.array(32, np.int64)
    t = cuda.threadIdx.x
    part[t] = t
    a[t] = in_part(part, t) * 1000 + in_part(part, t)
    for _ in range(2):
        cuda.syncthreads()
        a[t] += in_part(part, t)


@cuda.jit
def of_dynamic(a):
    part = cuda.shared.array(0, np.int32)
    part[cuda.threadIdx.x] = cuda.threadIdx.x
    cuda.syncthreads()
    a[cuda.threadIdx.x] = part[part.size - 1 - cuda.threadIdx.x]


@cuda.jit
def counted(a):
    t = cuda.threadIdx.x
    a[t, 0] = cuda.syncthreads_count(t % 3)
    a[t, 1] = cuda.syncthreads_and(t < 63)
    a[t, 2] = cuda.syncthreads_or(t == 63)


@cuda.jit
def exchanged(a):
    t = cuda.grid(1)
    lane = cuda.laneid
    full = 0xFFFFFFFF
    a[t, 0] = cuda.shfl_sync(full, t, 5)
    a[t, 1] = cuda.shfl_up_sync(full, t, 3)
    a[t, 2] = cuda.shfl_down_sync(full, t, 3)
    a[t, 3] = cuda.shfl_xor_sync(full, t, 1)
    a[t, 4] = cuda.all_sync(full, t < 63) + 2 * cuda.any_sync(full, t == 63)
    a[t, 5] = cuda.eq_sync(full, t < 32)
    a[t, 6] = cuda.ballot_sync(full, t % 3 == 0)
    a[t, 7] = cuda.match_any_sync(full, t % 4)
    mask, same = cuda.match_all_sync(full, t // 32)
    a[t, 8] = mask + same
    a[t, 9] = cuda.lanemask_lt() + cuda.warpsize + lane
    if lane < 8:
        for _ in range(lane // 4 + 1):
            cuda.syncwarp()
            a[t, 10] += cuda.activemask()
        a[t, 11] = cuda.shfl_xor_sync(0xFF, t, 1)
    else:
        a[t, 11] = cuda.shfl_xor_sync(0xFFFFFF00, t, 2)


@cuda.jit
def updated(i, u, f):
    t = cuda.threadIdx.x
    cuda.atomic.add(i, 0, t)
    cuda.atomic.sub(i, 1, t)
    cuda.atomic.and_(i, 2, ~(1 << t))
    cuda.atomic.or_(i, 3, 1 << t)
    cuda.atomic.xor(i, 4, t)
    cuda.atomic.max(i, 5, t)
    cuda.atomic.min(i, 6, t)
    cuda.atomic.exch(i, 7, t)
    cuda.atomic.cas(i, 8, 0, t + 1)
    cuda.atomic.compare_and_swap(i[9:], 0, t + 1)
    cuda.atomic.inc(u, (0, 0), 5)
    cuda.atomic.dec(u, (0, 1), 5)
    cuda.atomic.max(f, 0, float(t))
    cuda.atomic.nanmax(f, 1, float(t))
    cuda.atomic.nanmin(f, 2, float(t))


@cuda.jit
def of_bits(a, out):
    i = cuda.grid(1)
    x = a[i]
    out[i, 0] = cuda.popc(x) + 100 * cuda.clz(x) + 10000 * cuda.ffs(x)
    out[i, 1] = cuda.brev(x)
    out[i, 2] = cuda.selp(x > 3, 1, 2) + int(cuda.fma(2.0, 3.0, 4.0)) + int(cuda.cbrt(27.0))
    cuda.threadfence()
    cuda.nanosleep(5)


@cuda.jit
def of_library(x, out):
    i = cuda.grid(1)
    out[i, 0] = cuda.libdevice.exp10(x[i])
    out[i, 1] = cuda.libdevice.round(x[i])
    out[i, 2], out[i, 3] = cuda.libdevice.sincos(x[i])


TABLE = np.arange(4)


@cuda.jit
def read(out, pair):
    table = cuda.const.array_like(TABLE)
    v = cuda.float32x3(cuda.float32x2(1.5, 2), 3)
    first, factor = pair
    i = cuda.grid(1)
    out[i] = table[i] * factor + v.x + v.z + first[i]


POINTS = np.dtype([("x", np.int64), ("y", np.float32)])


@cuda.jit
def moved(points):
    own = cuda.local.array(1, POINTS)
    i = cuda.grid(1)
    own[0].x = points[i].x
    points[i].x = own[0]["x"] + 1
    points[i]["y"] = i


@cuda.jit
def over_blocks(a):
    a[cuda.grid(1)] += 1
    cuda.cg.this_grid().sync()
    total = 0
    for i in range(a.size):
        total += a[i]
    cuda.cg.this_grid().sync()
    a[cuda.grid(1)] = total


@cuda.jit
def hinted(a, out):
    i = cuda.grid(1)
    cuda.stcs(out, (i, 1), cuda.ldca(a, i) + 1)
    cuda.stwt(out, (i, 0), cuda.ldcv(out, (i, -1)))


GRID = np.arange(16 * 16).reshape(16, 16)
CASES = {
    "shared arrays": (reversed_in_blocks, (2, 2), (8, 8), GRID, np.zeros_like(GRID)),
    "device functions": (calling, 1, 32, np.zeros(32, int)),
    "barriers that count": (counted, 1, 64, np.zeros((64, 3), int)),
    "exchange": (exchanged, 1, 64, np.zeros((64, 12), int)),
    "atomics": (updated, 1, 32, np.zeros(10, int), np.ones((1, 2), np.uint32), np.zeros(3)),
    "bits": (of_bits, 1, 4, np.array([0, 1, 6, 2**32 - 1], np.uint32), np.zeros((4, 3), int)),
    "bits of 64": (of_bits, 1, 3, np.array([0, 2, 2**40 + 2], np.uint64), np.zeros((3, 3), int)),
    "libdevice": (of_library, 1, 3, np.array([0.5, -2.5, 1.25]), np.zeros((3, 4))),
    "tables": (read, 1, 4, np.zeros(4), (np.ones(4), 2.5)),
    "records": (moved, 1, 4, np.zeros(4, POINTS)),
    "hints for caches": (hinted, 1, 4, np.arange(4.0), np.zeros((4, 2), int)),
    "the grid": (over_blocks, 4, 32, np.zeros(128, int)),
}


@pytest.mark.parametrize("case", CASES)
def test_the_results_are_those_of_the_model(case, monkeypatch):
    model, python = both(monkeypatch, *CASES[case])
    assert python == model


def test_dynamic_shared_memory_has_the_bytes_of_the_launch(monkeypatch):
    model, python = both(monkeypatch, of_dynamic, 1, 16, np.zeros(16, int), shared=64)
    assert python == model == [list(range(15, -1, -1))]


def test_random_numbers_of_device_arrays_are_the_same(monkeypatch):
    @cuda.jit
    def draw(states, out):
        out[cuda.grid(1)] = xoroshiro128p_uniform_float32(states, cuda.grid(1))

    found = []
    for value in ("0", "1"):
        monkeypatch.setenv("MMSIM_PYTHON", value)
        out = cuda.device_array(8, np.float32)
        draw[1, 8](create_xoroshiro128p_states(8, seed=3), out)
        found.append(out.copy_to_host().tolist())
    assert found[0] == found[1]


def test_every_name_of_a_kernel_has_a_meaning():
    without = (lambda: None).__code__
    called = {
        f"{name}.{one}" if isinstance(thing, type) else name: inspect.unwrap(
            method.__func__ if method else thing
        )
        for name, thing in vars(stubs).items()
        if name in stubs.__all__
        for one, method in (vars(thing).items() if isinstance(thing, type) else [("", None)])
        if not isinstance(thing, type) or isinstance(method, staticmethod)
    }
    empty = {name for name, one in called.items() if one.__code__.co_code == without.co_code}
    nothing = {"nanosleep", "threadfence", "threadfence_block", "threadfence_system"}
    assert empty - nothing <= set(in_python.WORDS) <= set(called)


def test_print_prints_thread_after_thread(capsys):
    @cuda.jit
    def loud(a):
        print("thread", cuda.grid(1), [one for one in a])
        cuda.syncthreads()
        print("after", cuda.threadIdx.x)

    loud[2, 2](np.zeros(1))
    lines = [f"thread {t} [np.float64(0.0)]" for t in range(4)]
    expected = [*lines[:2], "after 0", "after 1", *lines[2:], "after 0", "after 1"]
    assert capsys.readouterr().out.splitlines() == expected


PROGRAM = """
import numpy as np
from mmsim import cuda

@cuda.jit
def add(a):
    i = cuda.grid(1)
    if i == 5:
        breakpoint()
    a[i] += i

a = np.ones(8)
add[2, 4](a)
print(a.sum())
"""


@pytest.mark.parametrize("command", [[], ["-m", "pdb", "-c", "b program.py:10", "-c", "c"]])
def test_pdb_stops_in_a_kernel(command, tmp_path):
    """At breakpoint(), and at a place that pdb was given before the launch."""
    text = PROGRAM.replace("breakpoint()", "pass") if command else PROGRAM
    (tmp_path / "program.py").write_text(text)
    done = subprocess.run(
        [sys.executable, *command, "program.py"],
        cwd=tmp_path,
        input="p cuda.blockIdx.x, cuda.threadIdx.x, a[5]\n!a[7] = 5\nclear\ny\nc\nq\n",
        capture_output=True,
        text=True,
        timeout=120,
    )
    place = "(0, 0, np.float64(1.0))" if command else "(1, 1, np.float64(1.0))"
    assert place in done.stdout, done.stdout + done.stderr
    assert "40.0" in done.stdout


def test_an_error_names_thread_block_and_kernel_and_ends_the_others():
    @cuda.jit
    def fails(a):
        cuda.syncthreads()
        a[cuda.grid(1)] = 1

    before = threading.active_count()
    with pytest.raises(IndexError) as caught:
        fails[2, 32](np.zeros(40))
    [said] = caught.value.__notes__
    assert said == "in thread 8 (threadIdx (8, 0, 0), blockIdx (1, 0, 0)) of the kernel 'fails'"
    for _ in range(100):
        if threading.active_count() == before:
            break
        threading.Event().wait(0.05)
    assert threading.active_count() == before


def test_threads_that_wait_for_each_other_are_an_error():
    @cuda.jit
    def stuck(a):
        if cuda.threadIdx.x:
            cuda.syncthreads()
        else:
            cuda.cg.this_grid().sync()

    with pytest.raises(
        MMSimError, match=r"'stuck' can't go on: .* cuda\.cg\.this_grid\(\)\.sync, "
    ):
        stuck[1, 2](np.zeros(1))


def test_a_lane_that_is_asked_takes_part():
    @cuda.jit
    def asks(a):
        if cuda.laneid < 4:
            a[0] = cuda.shfl_sync(0xF, 1, 9)

    with pytest.raises(MMSimError, match=r"thread 0 asks lane 9 .* cuda\.shfl_sync"):
        asks[1, 32](np.zeros(1))


def test_limits_of_a_launch_hold_and_costs_are_refused():
    @cuda.jit
    def fill(a):
        a[cuda.grid(1)] = 1

    with pytest.raises(MMSimError, match="it must be from 1 to 1024"):
        fill[1, 2000](np.zeros(2000))
    fill[1, 4](np.zeros(4))
    with pytest.raises(MMSimError, match="'fill' have no costs, as MMSIM_PYTHON is set"):
        fill.profile()


def test_names_of_kernels_are_refused_on_the_host_and_in_other_threads():
    with pytest.raises(MMSimError, match=r"cuda\.grid cannot be called from host code"):
        cuda.grid(1)
    with pytest.raises(AttributeError, match="threadIdx"):
        cuda.threadIdx.x
    assert repr(cuda.laneid) == "<laneid>"


def test_grid_takes_no_other_number_of_axes():
    @cuda.jit
    def wrong(a):
        a[0] = cuda.grid(4)

    with pytest.raises(ValueError, match="take 1, 2 or 3"):
        wrong[1, 1](np.zeros(1))
