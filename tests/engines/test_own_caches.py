"""Each DMM's own cache, on both engines: which reads look there, and what they take."""

import numpy as np

import mmsim as mm
from mmsim import cuda
from mmsim.api.binding import bind
from mmsim.engines.cached_launch import asked, new_state
from mmsim.engines.selection import launch
from tests.kit.runs.paths import both_engines

MACHINE = mm.Cached(
    2, 32, 100, sectors=4, bank_bytes=4, capacity=1 << 14, own_capacity=1 << 12, own_latency=10
)


@cuda.jit
def twice(a, b, c):
    i = cuda.grid(1)
    x = a[i]
    y = a[(i + int(x)) % a.size]
    c[i] = 1
    b[i] = y + c[i]


@cuda.jit
def moved(a, b, c):
    i = cuda.grid(1)
    x = a[i]
    a[i] = x + 1
    b[i] = a[i]
    cuda.atomic.add(c, i, x)
    x = c[i]
    b[i] = c[i] + x


@mm.program
def again(T, a, b):
    x = a[T.id]
    b[T.id] = a[T.id + int(x)]


def run(program, *args, engine, machine=MACHINE):
    args = [one.copy() for one in args]
    how = {"schedule": "asynchronous", "engine": engine, "trace": False}
    found = machine.run(program, *args, threads=64, block_size=32, **how)
    rows = {(row.array, row.kind, row.line): row.sectors for row in found.cache}
    return found.time, [rows[key] for key in sorted(rows)]


@both_engines
def test_reads_look_there(engine):
    """Of 4 sectors for each of 2 warps: a once, b written, c written and then read.

    A row whose reads ask for no sector is left out.
    """
    a, b, c = np.zeros(64, np.float32), np.zeros(64, np.float32), np.zeros(64, np.float32)
    time, sectors = run(twice, a, b, c, engine=engine)
    assert sectors == [8, 8, 8, 8]
    without = mm.Cached(2, 32, 100, sectors=4, bank_bytes=4, capacity=1 << 14)
    longer, sectors = run(twice, a, b, c, engine=engine, machine=without)
    assert sectors == [8, 8, 8, 8, 8]
    assert longer - time == 90


@both_engines
def test_writes_pass_it_and_arrays_with_atomics_do_without(engine):
    """Of the reads, the first of a and both of c ask for sectors."""
    a, b, c = np.zeros(64, np.float32), np.zeros(64, np.float32), np.zeros(64, np.int32)
    args = [one.copy() for one in (a, b, c)]
    how = {"schedule": "asynchronous", "engine": engine, "trace": False}
    rows = MACHINE.run(moved, *args, threads=64, block_size=32, **how).cache
    first = min(row.line for row in rows)
    reads = sorted((row.array, row.line - first) for row in rows if row.kind == "read")
    assert reads == [("a", 0), ("c", 4), ("c", 5)]


@both_engines
def test_programs_do_without(engine):
    a = np.zeros(64, np.float32)
    assert run(again, a, a, engine=engine)[1] == [8, 8, 8]


@both_engines
def test_the_next_launch_begins_with_empty_own_caches(engine):
    """It finds the words in the cache that all DMMs share."""
    arrays = [np.zeros(64, np.float32) for _ in range(3)]
    first = bind(MACHINE, twice, tuple(arrays), (64, 32, None), "asynchronous", 100)
    first.left = new_state(asked(first)[0], MACHINE)
    launch(first, engine, None, False)
    assert (first.left.own_tags == -1).all()
    assert (first.left.tags != -1).any()
