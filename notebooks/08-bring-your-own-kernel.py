# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     notebook_metadata_filter: -jupytext.text_representation.jupytext_version
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # What does your own kernel cost, and what is wrong with it?
#
# You have a kernel written for Numba, `@cuda.jit` and all. It gives the right answer on a GPU,
# and you don't know why it isn't faster; or it gives a wrong answer sometimes, and you don't know
# why. Here it runs unchanged on the memory machine: which line wastes how much, which two threads
# race, which thread never comes to the barrier.
#
# You need to know what a bank and an address group are ([notebook
# 1](01-banks-and-address-groups.ipynb)) and what a warp is ([notebook
# 2](02-latency-and-warps.ipynb)), and have seen a kernel of `numba.cuda`. Neither a GPU nor Numba
# is needed.
#
# About 90 minutes: a kernel and its profile (25), what conflicts cost (15), mistakes that a GPU
# doesn't report (25), step by step and whole programs (10), exercises (15).

# %%
try:
    from classroom import check, predicted

    import mmsim as mm
except ModuleNotFoundError as error:
    needed = "mmsim installed, and classroom.py and sealed.py in its folder"
    raise ImportError(f"{error}: this notebook needs {needed}") from None

from textwrap import fill

import numpy as np

from mmsim import cuda
from mmsim.errors import ProgramError

# %% [markdown]
# One line is different from a file for a GPU: `from mmsim import cuda`, in the place of `from
# numba import cuda`.
#
# ## 1. A transpose
#
# The textbook's: a block reads a tile of 32 × 32 words row by row, puts it into shared memory,
# and writes it column by column, so that both accesses to global memory are coalesced.


# %%
@cuda.jit
def transpose(a, b):
    tile = cuda.shared.array((32, 32), dtype=np.float32)
    i, j = cuda.threadIdx.y, cuda.threadIdx.x
    x, y = cuda.grid(2)
    tile[i, j] = a[y, x]
    cuda.syncthreads()
    row, column = cuda.blockIdx.x * 32 + i, cuda.blockIdx.y * 32 + j
    b[row, column] = tile[j, i]


a = np.arange(4096, dtype=np.float32).reshape(64, 64)
b = np.zeros_like(a)
transpose[(2, 2), (32, 32)](a, b)
print(np.array_equal(b, a.T))

# %% [markdown]
# It is right. The machine was an HMM (Hierarchical Memory Machine) with the numbers of an NVIDIA
# H200: 132 DMMs (its multiprocessors) of width 32, and the latencies that were measured there
# ([notebook 7](07-the-model-and-the-metal.ipynb)). Its banks have 4 bytes, as there: a word of the
# tile is a float, or four int8, or half of a double ([notebook 9](09-is-my-tile-free.ipynb)).
#
# The last line reads `tile[j, i]`, where j is `threadIdx.x`. **Predict**: how many stages does
# one warp take for it?

# %%
guess = None  # stages

# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
row = next(row for row in cuda.last.accesses if row.array == "tile" and row.kind == "read")
predicted(guess, row.stages // row.requests)

# %% [markdown]
# `cuda.last` is the run of the last launch: every access with its stages, and the least that are
# possible. `kernel.profile()` has the same next to the source.

# %%
print(cuda.last)

# %%
print(transpose.profile())

# %% [markdown]
# Both accesses of global memory are coalesced; the tile is written without a conflict. Its read is
# the worst possible: the 32 threads of a warp read a column, and rows are 32 words long, so all of
# the column lies in one bank.
#
# The fix is as old as CUDA: one more word in each row, which is never used.


# %%
@cuda.jit
def padded(a, b):
    tile = cuda.shared.array((32, 33), dtype=np.float32)
    i, j = cuda.threadIdx.y, cuda.threadIdx.x
    x, y = cuda.grid(2)
    tile[i, j] = a[y, x]
    cuda.syncthreads()
    row, column = cuda.blockIdx.x * 32 + i, cuda.blockIdx.y * 32 + j
    b[row, column] = tile[j, i]


b = np.zeros_like(a)
padded[(2, 2), (32, 32)](a, b)
assert np.array_equal(b, a.T)
print(padded.profile())

# %% [markdown]
# ### Exercise 1
#
# The *padded* transpose has one more word in each row of the tile, which is never used: 33 words.
# Why one word, and not two? Say how many stages a warp takes for `tile[j, i]` with rows of 34
# words, of 36 and of 48. A list of three numbers.

# %% name="1" tags=["exercise"]
answer_1 = ...


# %% jupyter={"source_hidden": true} tags=["hide-input"]
def column_stages(length):
    @cuda.jit
    def column(b):
        tile = cuda.shared.array((32, length), dtype=np.float32)
        j = cuda.threadIdx.x
        b[j] = tile[j, 0]

    column[1, 32](np.zeros(32, np.float32))
    return next(row.stages for row in cuda.last.accesses if row.array == "tile")


check(answer_1, [column_stages(length) for length in (34, 36, 48)])

# %% [markdown]
# ## 2. What did it cost?
#
# Stages are not yet time. **Predict**: how many times as long as the padded transpose does the
# first take, for this matrix of 64 × 64?

# %%
guess = None  # a factor, to one decimal


# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
def time(kernel, side):
    a = np.zeros((side, side), np.float32)
    kernel[(side // 32, side // 32), (32, 32)](a, np.zeros_like(a))
    return cuda.last.time


predicted(guess, round(time(transpose, 64) / time(padded, 64), 1))

# %% [markdown]
# Next to nothing: there are four blocks, on four of 132 multiprocessors, and nearly all of the
# time is the latency of the global memory. 1024 × 1024 keep all of them busy, but then they all
# wait for the one global memory:

# %%
for side in (64, 256, 1024):
    print(side, time(transpose, side), time(padded, side))

# %% [markdown]
# So the conflict is real, and here it hides behind the global memory. It shows where a kernel
# does more in its shared memory: below, in exercise 4.
#
# And without a tile? The simplest of all transposes reads rows and writes columns of the global
# memory. **Predict**: how many times as long as the padded one does it take for 1024 × 1024?


# %%
@cuda.jit
def simple(a, b):
    x, y = cuda.grid(2)
    b[x, y] = a[y, x]


guess = None  # a factor, to the nearest whole number

# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
predicted(guess, round(time(simple, 1024) / time(padded, 1024)))

# %%
print(simple.profile())

# %% [markdown]
# ([Notebook 7](07-the-model-and-the-metal.ipynb) shows how far to believe that: a card has
# caches, and casual accesses cost less there than in the model.)
#
# ### Exercise 2
#
# Points of three floats lie in order: x, y, z, x, y, z, and so on. How many address
# groups does a warp touch that reads the 32 numbers `points[3 * i]`? `points` begins where a
# group begins.

# %% name="2" tags=["exercise"]
answer_2 = ...  # groups


# %% jupyter={"source_hidden": true} tags=["hide-input"]
@cuda.jit
def first_coordinates(points, xs):
    i = cuda.grid(1)
    xs[i] = points[3 * i]


first_coordinates[1, 32](np.zeros(96, np.float32), np.zeros(32, np.float32))
groups = next(row.stages for row in cuda.last.accesses if row.array == "points")
check(answer_2, groups, unit="groups")

# %% [markdown]
# ## 3. Mistakes that a GPU doesn't report
#
# ### Out of range
#
# On a GPU an index beyond the end reads or writes what lies there. Here it is an error, with
# line, array and thread.


# %%
@cuda.jit
def shift(a):
    i = cuda.grid(1)
    a[i] = a[i + 1]


try:
    shift[2, 32](np.arange(64.0))
except ProgramError as error:
    print(fill(str(error).splitlines()[0], 80))

# %% [markdown]
# ### A divergent barrier
#
# `syncthreads` in a branch that only a part of a warp takes has no meaning. A GPU hangs, or goes
# on, as it likes.


# %%
@cuda.jit
def stage_in(a, b):
    part = cuda.shared.array(64, dtype=np.float64)
    t = cuda.threadIdx.x
    if t < 48:
        part[t] = a[t]
        cuda.syncthreads()
    b[t] = part[t % 48]


try:
    stage_in[1, 64](np.arange(64.0), np.zeros(64))
except ProgramError as error:
    print(fill(str(error).splitlines()[0], 80))

# %% [markdown]
# ### A race
#
# The sum of 256 numbers, in halves: at each step half as many threads add. The author knows that a
# barrier is needed after the numbers are put into shared memory. **Predict**: is the result 32640,
# the right one?


# %%
@cuda.jit
def total(a, out):
    part = cuda.shared.array(256, dtype=np.float64)
    t = cuda.threadIdx.x
    part[t] = a[t]
    cuda.syncthreads()
    step = 128
    while step > 0:
        if t < step:
            part[t] += part[t + step]
        step //= 2
    if t == 0:
        out[0] = part[0]


guess = None  # True or False

# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
numbers, out = np.arange(256.0), np.zeros(1)
total[1, 256](numbers, out)
predicted(guess, bool(out[0] == 32640))

# %% [markdown]
# It is, and it always is on this machine: its warps take turns, so warp 0 reads `part[32]` long
# after warp 1 has written it. Nothing in the kernel says so, and on a GPU warp 1 may come later.
# `check` looks for pairs of accesses that nothing orders, whatever the result was this time:

# %%
machine = mm.HMM(132, 32, global_latency=11031, shared_latency=29, bank_bytes=4)
report = machine.check(total, numbers, out, grid=1, block=256, schedule="asynchronous")
print(fill(str(report.findings[0]), 80))

# %% [markdown]
# ### Exercise 3
#
# Correct it. The check wants the right sum, and nothing found.


# %% name="3" tags=["exercise"]
@cuda.jit
def corrected(a, out):
    part = cuda.shared.array(256, dtype=np.float64)
    t = cuda.threadIdx.x
    part[t] = a[t]
    cuda.syncthreads()
    step = 128
    while step > 0:
        if t < step:
            part[t] += part[t + step]
        step //= 2
    if t == 0:
        out[0] = part[0]


answer_3 = ...  # when it is done: corrected


# %% jupyter={"source_hidden": true} tags=["hide-input"]
def wrong_sum(kernel):
    out = np.zeros(1)
    kernel[1, 256](numbers, out)
    if out[0] != 32640:
        return f"the sum is 32640, not {out[0]:g}"
    report = machine.check(kernel, numbers, out, grid=1, block=256, schedule="asynchronous")
    return str(report.findings[0].kind) if report.findings else None


check(answer_3, wrong_sum)

# %% [markdown]
# ## 4. Step by step
#
# A machine that can be watched is small: two DMMs of width 4. `with cuda.machine(...)` lets
# launches run on it; the player needs the trace, so here the machine runs the kernel, the
# launch's brackets as arguments. Press `Space`.


# %%
@cuda.jit
def small_transpose(a, b):
    tile = cuda.shared.array((4, 4), dtype=np.float32)
    i, j = cuda.threadIdx.y, cuda.threadIdx.x
    x, y = cuda.grid(2)
    tile[i, j] = a[y, x]
    cuda.syncthreads()
    row, column = cuda.blockIdx.x * 4 + i, cuda.blockIdx.y * 4 + j
    b[row, column] = tile[j, i]


small = mm.HMM(dmms=2, width=4, global_latency=6, shared_latency=2)
matrix = np.arange(32, dtype=np.float32).reshape(8, 4)
run = small.run(
    small_transpose,
    matrix,
    np.zeros((4, 8), np.float32),
    grid=(1, 2),
    block=(4, 4),
    schedule="asynchronous",
    trace=True,
)
run.trace.player()

# %% [markdown]
# Look for the reads of `tile`: four consecutive dispatches of one warp into one bank.
#
# ## 5. Whole programs
#
# A script that imports `numba.cuda` needs no change at all. From the command line
#
# ```sh
# mmsim cuda --check script.py  # runs it, prints a table of its kernels, and what it finds
# pytest -p mmsim.cuda.pytest --cuda-check tests/
# ```
#
# The second is for a computer without a GPU that tests what you push: [a workflow to
# copy](../docs/how-to/ci.md).
#
# ### Exercise 4
#
# The blocks of this sum add neighbours first: the distance doubles at each step. It is right, and
# it has no race. Its profile:


# %%
@cuda.jit
def block_sums(a, out):
    part = cuda.shared.array(256, dtype=np.float64)
    t = cuda.threadIdx.x
    part[t] = a[cuda.grid(1)]
    cuda.syncthreads()
    step = 1
    while step < 256:
        k = 2 * step * t
        if k < 256:
            part[k] += part[k + step]
        cuda.syncthreads()
        step *= 2
    if t == 0:
        out[cuda.blockIdx.x] = part[0]


words, sums = np.arange(1024.0), np.zeros(4)
block_sums[4, 256](words, sums)
print(block_sums.profile())

# %% [markdown]
# Write it so that no stage is wasted. The check wants the same sums, no stage beyond the least
# possible, and nothing found.


# %% name="4" tags=["exercise"]
@cuda.jit
def better(a, out):
    part = cuda.shared.array(256, dtype=np.float64)
    t = cuda.threadIdx.x
    part[t] = a[cuda.grid(1)]
    cuda.syncthreads()
    step = 1
    while step < 256:
        k = 2 * step * t
        if k < 256:
            part[k] += part[k + step]
        cuda.syncthreads()
        step *= 2
    if t == 0:
        out[cuda.blockIdx.x] = part[0]


answer_4 = ...  # when it is done: better


# %% jupyter={"source_hidden": true} tags=["hide-input"]
def wrong_sums(kernel):
    out = np.zeros(4)
    kernel[4, 256](words, out)
    if not np.array_equal(out, sums):
        return f"the sums are {sums}, not {out}"
    wasted = sum(row.wasted for row in cuda.last.accesses)
    if wasted:
        return f"{wasted} stages are wasted"
    report = machine.check(kernel, words, out, grid=4, block=256, schedule="asynchronous")
    return str(report.findings[0].kind) if report.findings else None


check(answer_4, wrong_sums)

# %% [markdown]
# ### Exercise 5
#
# Correct `stage_in` of section 3: all threads come to one barrier, and `b[t]` is `a[t % 48]` as its
# author meant it.


# %% name="5" tags=["exercise"]
@cuda.jit
def staged(a, b):
    part = cuda.shared.array(64, dtype=np.float64)
    t = cuda.threadIdx.x
    if t < 48:
        part[t] = a[t]
        cuda.syncthreads()
    b[t] = part[t % 48]


answer_5 = ...  # when it is done: staged


# %% jupyter={"source_hidden": true} tags=["hide-input"]
def wrong_staging(kernel):
    b = np.zeros(64)
    kernel[1, 64](numbers, b)
    if not np.array_equal(b, numbers[np.arange(64) % 48]):
        return "b[t] isn't a[t % 48]"
    if not any(row.array == "part" for row in cuda.last.accesses):
        return "use the shared array"
    report = machine.check(kernel, numbers, b, grid=1, block=64, schedule="asynchronous")
    return str(report.findings[0].kind) if report.findings else None


check(answer_5, wrong_staging)

# %% [markdown]
# ## What to take home
#
# - A kernel of `numba.cuda` is a program of the machine as it stands, and every line has its
#   price.
# - A conflict in shared memory costs stages; whether it costs time depends on what else is waited
#   for.
# - Silent mistakes on a GPU are errors or findings here: indices out of range, divergent
#
#   barriers, races.
# - A right result doesn't prove anything: the race was there all the time.
#
# *Further reading*: [the language of Numba's kernels](../docs/numba.md), [the
# checker](../docs/checker.md), [what the simulator of numba-cuda has and
# hasn't](../docs/explanation/numba-simulator.md).
