"""Small programs of `numba.cuda`, one for each feature on docs/explanation/numba-simulator.md.

Each returns whether the feature works. As a script this runs all of them, under whatever stands for
`numba.cuda` in its process, and prints what came out as JSON.
"""

import contextlib
import io
import json
import os
import signal
import sys
import time
import warnings

import numpy as np
from numba import cuda

SECONDS = 5
FEATURES = {}


IN_PYTHON = set()


def feature(name, in_python=False):
    """Register a program under the feature's name, as the page has it.

    mmsim runs it with MMSIM_PYTHON=1 if this is asked for.
    """

    def keep(program):
        FEATURES[name] = program
        if in_python:
            IN_PYTHON.add(name)
        return program

    return keep


def findings():
    """The number of findings of the last launch; where nothing is checked, none."""
    last = getattr(cuda, "last", None)
    return len(last.findings or ()) if last is not None else 0


@feature("Shared memory and barriers")
def shared_memory():
    @cuda.jit
    def turned(a):
        part = cuda.shared.array(64, np.float64)
        t = cuda.threadIdx.x
        part[t] = a[t]
        cuda.syncthreads()
        a[t] = part[63 - t]

    a = np.arange(64.0)
    turned[1, 64](a)
    return a.tolist() == list(range(63, -1, -1))


@feature("Atomics")
def atomics():
    @cuda.jit
    def histogram(words, counts):
        cuda.atomic.add(counts, words[cuda.grid(1)] % 4, 1)

    counts = np.zeros(4, np.int64)
    histogram[2, 32](np.arange(64), counts)
    return counts.tolist() == [16] * 4


@feature("Streams and device arrays")
def streams():
    @cuda.jit
    def double(a):
        a[cuda.grid(1)] *= 2

    stream = cuda.stream()
    a = cuda.to_device(np.arange(8), stream)
    double[1, 8, stream](a)
    stream.synchronize()
    return a.copy_to_host().tolist() == list(range(0, 16, 2))


@feature("An index out of range is an error, with the thread")
def out_of_range():
    @cuda.jit
    def beyond(a):
        a[cuda.grid(1)] = 1

    try:
        beyond[1, 32](np.zeros(31))
    except IndexError as error:
        return "31" in str(error)
    return False


@feature("Warp operations: shuffles, votes, matches")
def warp_operations():
    @cuda.jit
    def sums(a, votes):
        t = cuda.threadIdx.x
        value = a[t]
        step = 16
        while step > 0:
            value += cuda.shfl_down_sync(0xFFFFFFFF, value, step)
            step //= 2
        votes[t] = cuda.ballot_sync(0xFFFFFFFF, t % 2 == 0)
        a[t] = value

    a, votes = np.arange(32), np.zeros(32, np.int64)
    sums[1, 32](a, votes)
    return a[0] == 496 and votes[5] & 0xFFFFFFFF == 0x55555555


@feature("`cuda` imported inside a function")
def imported_inside():
    from numba import cuda as gpu

    @gpu.jit
    def mark(a):
        a[gpu.grid(1)] = 1

    a = np.zeros(8)
    mark[1, 8](a)
    return a.all()


@feature("`grid.sync()` over several blocks")
def grid_sync():
    @cuda.jit
    def turned(a):
        i = cuda.grid(1)
        value = a[i]
        cuda.cg.this_grid().sync()
        a[a.size - 1 - i] = value

    a = np.arange(64)
    turned[2, 32](a)
    return a.tolist() == list(range(63, -1, -1))


@feature("Blocks that wait for each other")
def waiting_blocks():
    @cuda.jit
    def in_turn(flag, a):
        if cuda.blockIdx.x == 0:
            while cuda.atomic.add(flag, 0, 0) == 0:
                pass
            a[0] = 1
        else:
            cuda.atomic.add(flag, 0, 1)

    a = np.zeros(1)
    in_turn[2, 1](np.zeros(1, np.int64), a)
    return a[0] == 1


@feature("Numba's types: a float32 times a literal is a double")
def numba_types():
    @cuda.jit
    def scaled(a, out):
        out[0] = a[0] * 1.1

    out = np.zeros(1)
    scaled[1, 1](np.full(1, 0.1, np.float32), out)
    return out[0] == np.float64(np.float32(0.1)) * 1.1


@feature("Numba's integers: numbers given as arguments wrap around")
def wrapping():
    @cuda.jit
    def square(n, out):
        out[0] = n * n

    out = np.ones(1, np.int64)
    square[1, 1](2**32, out)
    return out[0] == 0


@feature("Signatures convert arguments")
def signatures():
    @cuda.jit("void(int32, float64[:])")
    def keep(n, out):
        out[0] = n

    out = np.zeros(1)
    keep[1, 1](2.75, out)
    return out[0] == 2


@feature('`vectorize` and `guvectorize` with `target="cuda"`')
def vectorized():
    from numba import vectorize

    @vectorize(["float64(float64, float64)"], target="cuda")
    def add(x, y):
        return x + y

    return add(np.arange(3.0), 1.0).tolist() == [1, 2, 3]


@feature("A block too large is an error, with the limit")
def too_large():
    @cuda.jit
    def nothing(a):
        if cuda.threadIdx.x == 0:
            a[0] = 1

    try:
        nothing[1, 2048](np.zeros(1))
    except Exception as error:  # another one may say that this computer has no room for threads
        return "1024" in str(error)
    return False


@feature("Data races are found")
def races():
    @cuda.jit
    def racy(a):
        a[0] = cuda.grid(1)

    racy[2, 32](np.zeros(1, np.int64))
    return findings() > 0


@feature("A missing `syncwarp` is found")
def missing_sync():
    @cuda.jit
    def turned(a):
        part = cuda.shared.array(32, np.float64)
        t = cuda.threadIdx.x
        part[t] = a[t]
        a[t] = part[31 - t]

    turned[1, 32](np.zeros(32))
    return findings() > 0


@feature("Reads of shared memory that nothing wrote are found")
def never_written():
    @cuda.jit
    def forgotten(a):
        part = cuda.shared.array(32, np.float64)
        a[cuda.threadIdx.x] = part[cuda.threadIdx.x]

    forgotten[1, 32](np.zeros(32))
    return findings() > 0


@feature("A barrier that a part of a warp doesn't reach is an error")
def divergent_barrier():
    @cuda.jit
    def divergent(a):
        if cuda.threadIdx.x < 8:
            cuda.syncthreads()
        a[cuda.threadIdx.x] = 1

    try:
        divergent[1, 32](np.zeros(32))
    except Exception:
        return True
    return False


@feature("What each line costs: conflicts, coalescing")
def costs():
    @cuda.jit
    def column(a):
        tile = cuda.shared.array((32, 32), np.float64)
        tile[cuda.threadIdx.x, 0] = a[cuda.threadIdx.x]

    column[1, 32](np.zeros(32))
    return "30 of them beyond" in str(column.profile())


@feature("Events measure time")
def events():
    @cuda.jit
    def mark(a):
        a[cuda.grid(1)] = 1

    before, after = cuda.event(), cuda.event()
    before.record()
    mark[1, 32](np.zeros(32))
    after.record()
    after.synchronize()
    return cuda.event_elapsed_time(before, after) > 0


@feature("`print` in a kernel prints", in_python=True)
def printing():
    @cuda.jit
    def speak(a):
        print("thread", cuda.grid(1))

    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        speak[1, 1](np.zeros(1))
    return printed.getvalue() == "thread 0\n"


@feature("A debugger stops in a kernel", in_python=True)
def debugger():
    @cuda.jit
    def stopping(a):
        breakpoint()
        a[0] = 1

    stops = []
    sys.breakpointhook = lambda: stops.append(1)
    stopping[1, 1](np.zeros(1))
    return stops == [1]


@feature("Half precision")
def half_precision():
    @cuda.jit
    def double(a):
        a[cuda.grid(1)] += a[cuda.grid(1)]

    a = np.ones(4, np.float16)
    double[1, 4](a)
    return a.tolist() == [2] * 4


@feature("Text")
def text():
    @cuda.jit
    def fill(a):
        a[cuda.grid(1)] = "abc"

    a = np.array(["", ""], dtype="U3")
    fill[1, 2](a)
    return a.tolist() == ["abc", "abc"]


@feature("Dates")
def dates():
    @cuda.jit
    def difference(a, b, out):
        out[0] = a[0] - b[0]

    a, b = (np.array([day], dtype="datetime64[D]") for day in ("2026-01-02", "2026-01-01"))
    out = np.zeros(1, dtype="timedelta64[D]")
    difference[1, 1](a, b, out)
    return out[0] == np.timedelta64(1, "D")


@feature("Recursion")
def recursion():
    @cuda.jit(device=True)
    def factorial(n):
        return 1 if n < 2 else n * factorial(n - 1)

    @cuda.jit
    def fill(a):
        a[0] = factorial(5)

    a = np.zeros(1)
    fill[1, 1](a)
    return a[0] == 120


@feature("All of Python: lists, dictionaries, any function", in_python=True)
def any_python():
    @cuda.jit
    def sort(a):
        words = sorted(a)
        for i in range(len(words)):
            a[i] = words[i]

    a = np.array([3, 1, 2])
    sort[1, 1](a)
    return a.tolist() == [1, 2, 3]


@feature("Foreign code: `declare_device`, `link`")
def foreign():
    times2 = cuda.declare_device("times2", "int32(int32)")

    @cuda.jit(link=["times2.cu"])
    def double(a):
        a[0] = times2(a[0])

    a = np.ones(1, np.int32)
    double[1, 1](a)
    return a[0] == 2


@feature("libdevice")
def libdevice():
    from numba.cuda import libdevice

    @cuda.jit
    def root(a):
        a[0] = libdevice.sqrt(a[0])

    a = np.full(1, 4.0)
    root[1, 1](a)
    return a[0] == 2


@feature("PTX (Parallel Thread Execution) and other machine code")
def machine_code():
    @cuda.jit("void(float64[:])")
    def double(a):
        a[0] *= 2

    return "ld.global" in str(double.inspect_asm())


@feature("Arrays shared with another process (IPC)")
def other_processes():
    return cuda.to_device(np.zeros(4)).get_ipc_handle() is not None


def seconds_of_an_addition(threads=4096):
    """Seconds of a vector addition; the second of two, so without compilation."""

    @cuda.jit
    def add(a, b, c):
        i = cuda.grid(1)
        if i < c.size:
            c[i] = a[i] + b[i]

    a, b, c = np.arange(float(threads)), np.ones(threads), np.zeros(threads)
    for _ in range(2):
        start = time.perf_counter()
        add[threads // 128, 128](a, b, c)
        took = time.perf_counter() - start
    assert (c == a + b).all()
    return took


def works(program):
    """Run a feature; tell whether it works, and what its program said if it failed."""

    def end(number, frame):
        raise TimeoutError(f"took more than {SECONDS} seconds")

    signal.signal(signal.SIGALRM, end)
    signal.alarm(SECONDS)
    try:
        return bool(program()), ""
    except (Exception, SystemExit) as error:
        return False, f"{type(error).__name__}: {error}".splitlines()[0]
    finally:
        signal.alarm(0)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    seconds = seconds_of_an_addition()  # first: a program that waits for ever goes on computing
    outcomes = {}
    for name, program in FEATURES.items():
        os.environ["MMSIM_PYTHON"] = str(int(name in IN_PYTHON))
        outcomes[name] = works(program)
    print(json.dumps({"features": outcomes, "seconds": seconds}))
