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
# # What can you learn of CUDA C++ without a card?
#
# Nearly all: the kernels of a first course are here, in CUDA C++, each with the mistake that most
# students make. NVIDIA's compiler NVRTC compiles them, on any computer, and the memory machine runs
# them. It says more than a card would: which index is out of range, which two threads race, which
# line wastes how much.
#
# You need to know what a thread, a block and a warp are, and a little C++. What a bank is, you find
# in [notebook 1](01-banks-and-address-groups.ipynb). The compiler is a package of Python: `pip
# install "memory-machine-simulator[cuda-c]"`, on Linux and on Windows.
#
# About 90 minutes: the bounds of a vector (15), a race (20), a transpose, step by step (20), a
# product of matrices (20), divergence (15).

# %%
try:
    from classroom import check, predicted

    import mmsim as mm
except ModuleNotFoundError as error:
    needed = "mmsim installed, and classroom.py and sealed.py in its folder"
    raise ImportError(f"{error}: this notebook needs {needed}") from None

from textwrap import fill

import numpy as np

from mmsim.errors import ProgramError

machine = mm.HMM(dmms=4, width=32, global_latency=100, bank_bytes=4)

# %% [markdown]
# ## 1. A sum of vectors
#
# Everyone's first kernel: a thread for each element. Blocks have 256 threads, and there are as many
# blocks as it takes for 1000 elements. `mm.RawKernel` is CuPy's name, and the launch is CuPy's,
# too: grid, block, arguments. The arrays are NumPy's.

# %%
add = mm.RawKernel(
    r"""
extern "C" __global__ void add(const float* a, const float* b, float* c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = a[i] + b[i];
}
""",
    "add",
)

# %% [markdown]
# **Predict**: how many threads have no element?

# %%
guess = None  # threads

# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
n, block = 1000, 256
grid = -(-n // block)
predicted(guess, grid * block - n)

# %% [markdown]
# A card lets them write behind the end of `c`. Often nothing happens, because other arrays begin
# on the next multiple of 256 bytes; and one day another array has wrong numbers in it. Here it is
# an error, with the line, the thread and the array:

# %%
a, b = np.arange(n, dtype=np.float32), np.ones(n, np.float32)
try:
    add((grid,), (block,), (a, b, np.zeros_like(a), np.int32(n)))
except ProgramError as error:
    print(fill(str(error).splitlines()[0], 80))

# %% [markdown]
# ### Exercise 1
#
# Threads without an element have to do nothing. Correct the kernel: it has to be right for any `n`.

# %% name="1" tags=["exercise"]
bounded_code = r"""
extern "C" __global__ void add(const float* a, const float* b, float* c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = a[i] + b[i];
}
"""
answer_1 = ...  # when it is done: mm.RawKernel(bounded_code, "add")


# %% jupyter={"source_hidden": true} tags=["hide-input"]
def wrong_vector(kernel):
    for n in (1, 255, 256, 1000):
        c = np.zeros(n, np.float32)
        kernel((4,), (256,), (a[:n].copy(), b[:n].copy(), c, np.int32(n)))
        if not np.array_equal(c, a[:n] + b[:n]):
            return f"for n = {n} the sum of the vectors is another one"
    return None


check(answer_1, wrong_vector)

# %% [markdown]
# ## 2. A sum of all numbers
#
# A block adds 256 numbers in halves: in each step half as many threads add. The author has put a
# barrier behind the numbers in shared memory.

# %%
total = mm.RawKernel(
    r"""
extern "C" __global__ void total(const float* a, float* out)
{
    __shared__ float part[256];
    int t = threadIdx.x;
    part[t] = a[t];
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        if (t < step)
            part[t] += part[t + step];
    }
    if (t == 0)
        out[0] = part[0];
}
""",
    "total",
)

# %% [markdown]
# **Predict**: is the result 32640, the right one?

# %%
guess = None  # True or False

# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
words, out = np.arange(256, dtype=np.float32), np.zeros(1, np.float32)
total((1,), (256,), (words, out))
predicted(guess, bool(out[0] == 32640))

# %% [markdown]
# A right result proves nothing: on this machine the warps take turns, and on a card they often do.
# `check` looks for two accesses that no barrier orders, whatever the result was:

# %%
report = machine.check(total, words, out, grid=1, block=256)
print(fill(str(report.findings[0]), 80))

# %% [markdown]
# ### Exercise 2
#
# Correct it. The check wants the right sum, and nothing found.

# %% name="2" tags=["exercise"]
total_code = r"""
extern "C" __global__ void total(const float* a, float* out)
{
    __shared__ float part[256];
    int t = threadIdx.x;
    part[t] = a[t];
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        if (t < step)
            part[t] += part[t + step];
    }
    if (t == 0)
        out[0] = part[0];
}
"""
answer_2 = ...  # when it is done: mm.RawKernel(total_code, "total")


# %% jupyter={"source_hidden": true} tags=["hide-input"]
def wrong_sum(kernel):
    out = np.zeros(1, np.float32)
    report = machine.check(kernel, words, out, grid=1, block=256)
    if report.findings:
        return report.findings[0].kind
    found = report.run.arrays["out"][0]
    return None if found == 32640 else f"the sum is 32640, not {found:g}"


check(answer_2, wrong_sum)

# %% [markdown]
# ## 3. A transpose, step by step
#
# A block puts a tile of the matrix into shared memory by rows, and reads it there by columns. So
# both accesses to global memory are by rows. The compiler gets the sizes as options, as `nvcc
# -DTILE=32`.

# %%
TRANSPOSE = r"""
extern "C" __global__ void transpose(const float* in, float* out, int n)
{
    __shared__ float tile[TILE][ROW];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * n + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    out[y * n + x] = tile[threadIdx.x][threadIdx.y];
}
"""


def transpose(tile, row):
    return mm.RawKernel(TRANSPOSE, "transpose", (f"-DTILE={tile}", f"-DROW={row}"))


matrix = np.arange(64 * 64, dtype=np.float32).reshape(64, 64)
plain, turned = transpose(32, 32), np.zeros_like(matrix)
plain((2, 2), (32, 32), (matrix, turned, np.int32(64)))
assert np.array_equal(turned, matrix.T)

# %% [markdown]
# **Predict**: how many stages, that is time units of the shared memory, does a warp take for
# `tile[threadIdx.x][threadIdx.y]`?

# %%
guess = None  # stages

# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
read = next(row for row in plain.last.accesses if row.array == "tile" and row.kind == "read")
predicted(guess, read.stages // read.requests)

# %%
print(plain.profile())

# %% [markdown]
# The 32 words of a column lie in one bank, which gives one word in a stage. See it on a machine
# with warps of 4 threads, tiles of 4 × 4 words, and 4 banks. Press `Space`, and look for the reads
# of `tile`: four stages of one warp, all in one bank.

# %%
small = mm.HMM(dmms=2, width=4, global_latency=6, shared_latency=2, bank_bytes=4)
run = small.run(
    transpose(4, 4),
    np.arange(32, dtype=np.float32),
    np.zeros(32, np.float32),
    4,
    grid=(1, 2),
    block=(4, 4),
    schedule="asynchronous",
    trace=True,
)
run.trace.player()

# %% [markdown]
# ### Exercise 3
#
# `ROW` may be larger than `TILE`: the words at the end of each row are never used. For which of the
# lengths 32 to 40 does the kernel with tiles of 32 × 32 waste no stage? A list of numbers.

# %% name="3" tags=["exercise"]
answer_3 = ...


# %% jupyter={"source_hidden": true} tags=["hide-input"]
def wasted(row):
    kernel = transpose(32, row)
    kernel((1, 1), (32, 32), (np.zeros(1024, np.float32), np.zeros(1024, np.float32), np.int32(32)))
    return sum(access.wasted for access in kernel.last.accesses)


check(answer_3, [row for row in range(32, 41) if wasted(row) == 0])

# %% [markdown]
# ## 4. A product of matrices
#
# A thread for each element of c. The simple kernel reads a row and a column of global memory for
# each; the other one takes tiles into shared memory, which all threads of the block use.

# %%
SIMPLE = r"""
extern "C" __global__ void product(const float* a, const float* b, float* c, int n)
{
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] = sum;
}
"""
TILED = r"""
extern "C" __global__ void product(const float* a, const float* b, float* c, int n)
{
    __shared__ float own_a[TILE][TILE], own_b[TILE][TILE];
    int i = threadIdx.y, j = threadIdx.x;
    int x = blockIdx.x * TILE + j, y = blockIdx.y * TILE + i;
    float sum = 0;
    for (int first = 0; first < n; first += TILE) {
        own_a[i][j] = a[y * n + first + j];
        own_b[i][j] = b[(first + i) * n + x];
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum += own_a[i][k] * own_b[k][j];
        __syncthreads();
    }
    c[y * n + x] = sum;
}
"""
side = 64
left, right = np.random.RandomState(1).randint(0, 4, (2, side, side)).astype(np.float32)


def product(code, tile):
    """The stages of global memory, and the time."""
    kernel = mm.RawKernel(code, "product", (f"-DTILE={tile}",))
    of_all = (side // tile, side // tile)
    run = machine.run(
        *(kernel, left, right, np.zeros_like(left), side),
        grid=of_all,
        block=(tile, tile),
        schedule="asynchronous",
    )
    assert np.array_equal(run.arrays["c"].reshape(side, side), left @ right)
    return sum(row.stages for row in run.accesses if row.space == "global"), run.time


# %% [markdown]
# **Predict**: how many times as many stages of global memory does the simple kernel take, with
# blocks of 32 × 32 threads and matrices of 64 × 64? To the nearest whole number.

# %%
guess = None  # a factor

# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
predicted(guess, round(product(SIMPLE, 32)[0] / product(TILED, 32)[0]))

# %%
for name, code in (("simple", SIMPLE), ("tiled", TILED)):
    print(name, *product(code, 32))

# %% [markdown]
# Each word of a and b is read by 64 threads. The tiles reduce this to the 2 blocks along a row or a
# column. The time is that of the slower memory: with tiles, the shared memory now has most of the
# work.
#
# ### Exercise 4
#
# Tiles of 16 × 16 need a quarter of the shared memory. How many stages of global memory does the
# tiled kernel take with them? (A warp then has two rows of 16 words, in two address groups.)

# %% name="4" tags=["exercise"]
answer_4 = ...

# %% jupyter={"source_hidden": true} tags=["hide-input"]
check(answer_4, product(TILED, 16)[0], unit="stages")

# %% [markdown]
# ## 5. Divergence
#
# The threads of a warp run in step. If they take different branches, the warp runs both.
# Computation is free in the model, but each branch sends its own requests to the memory.

# %%
BRANCHES = r"""
extern "C" __global__ void choose(const float* a, const float* b, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (CONDITION)
        out[i] = a[i];
    else
        out[i] = b[i] * b[i + 1];
}
"""


def choose(condition):
    """The requests of a launch with four warps."""
    kernel = mm.RawKernel(BRANCHES, "choose", (f"-DCONDITION={condition}",))
    kernel((1,), (128,), tuple(np.ones(129, np.float32) for _ in range(3)))
    return sum(row.requests for row in kernel.last.accesses)


# %% [markdown]
# If all four warps take the first branch, they send 8 requests: each one reads and writes once. All
# of the second branch: 12. **Predict**: how many are they if the even threads take the first
# branch, and the odd ones the second?

# %%
guess = None  # requests

# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
predicted(guess, choose("i % 2 == 0"))

# %% [markdown]
# A barrier in a branch that only a part of a warp takes has no meaning at all. A card may hang, or
# go on, as it likes. Here it is an error:

# %%
divergent = mm.RawKernel(
    r"""
extern "C" __global__ void shift(float* a)
{
    __shared__ float own[64];
    int t = threadIdx.x;
    own[t] = a[t];
    if (t < 48) {
        __syncthreads();
        a[t] = own[t + 1];
    }
}
""",
    "shift",
)
try:
    divergent((1,), (64,), (np.arange(64, dtype=np.float32),))
except ProgramError as error:
    print(fill(str(error).splitlines()[0], 80))

# %% [markdown]
# ### Exercise 5
#
# Give a condition for `choose`, a text, with which a half of the 128 threads takes each branch, as
# above, and no warp diverges.

# %% name="5" tags=["exercise"]
answer_5 = ...


# %% jupyter={"source_hidden": true} tags=["hide-input"]
def wrong_condition(condition):
    kernel = mm.RawKernel(BRANCHES, "choose", (f"-DCONDITION={condition}",))
    out = np.zeros(128, np.float32)
    kernel((1,), (128,), (np.zeros(129, np.float32), np.ones(129, np.float32), out))
    if out.sum() != 64:
        return f"{128 - out.sum():g} threads take the first branch"
    requests = sum(row.requests for row in kernel.last.accesses)
    return None if requests == 10 else f"there are {requests} requests"


check(answer_5, wrong_condition)

# %% [markdown]
# ## For teachers
#
# The cells with `check` are what a grader runs. `make course` makes of each notebook slides, a
# worksheet, copies for students without the answers, and a course for nbgrader ([hold a
# class](../docs/how-to/course.md)). A grader of your own is a test of pytest: `machine.check` on
# the kernel of each student, which needs no card either ([a workflow to
# copy](../docs/how-to/ci-cuda-c.md)).
#
# ## What to take home
#
# - CUDA C++ can be compiled, run and checked without a card.
# - Test the sizes around the end of a block. An index out of range is the most frequent mistake.
# - A right result doesn't prove that a kernel has no race.
# - A column of a tile lies in one bank, unless the rows have an odd length.
# - Tiles save global memory what they give to shared memory.
# - The branches of a warp cost as if all were taken.
#
# *Further reading*: [CUDA C++ on mmsim](../docs/how-to/cuda-c.md), [whole programs, with `main`
# and `<<<...>>>`](../docs/how-to/cuda-c.md#a-whole-program), [the checker](../docs/checker.md).
