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
# # The canon: sum, scan, product, sort
#
# Every course on parallel algorithms has them: the sum, prefix sums (scan), the product of
# matrices, sorting. Here you see what they cost on memory machines, in the naive order and in a
# good one, and which term of the time binds: the words that are moved, $n/w$, the latency of each
# thread's own accesses, $nl/p$, or that of steps which wait for each other, $l \log n$.
#
# You need stages ([notebook 1](01-banks-and-address-groups.ipynb)), rounds ([notebook
# 2](02-latency-and-warps.ipynb)) and the HMM ([notebook 3](03-transpose-three-ways.ipynb)). About
# 90 minutes: the sum 25, prefix sums 15, the product 10, sorting 15, eleven others 15, your own
# program 10; the last section, for all sizes, is for home. Logarithms are to the base 2.

# %%
try:
    from classroom import check, predicted

    import mmsim as mm
except ModuleNotFoundError as error:
    needed = "mmsim installed, and classroom.py and sealed.py in its folder"
    raise ImportError(f"{error}: this notebook needs {needed}") from None

# %matplotlib inline
# %config InlineBackend.figure_formats = ["svg"]
import numpy as np

from mmsim.claims import registered
from mmsim_algorithms.prefix_sums.programs import by_doubling, by_tree
from mmsim_algorithms.sorting import bitonic_without_conflicts, merge_sorted, worst
from mmsim_algorithms.sorting.claims import merging_stages, moving_stages
from mmsim_algorithms.sums import columns, strided_tree, tree
from mmsim_algorithms.sums.programs import numbers

# %%
claims = {claim.id: claim for claim in registered()}


def measure(name, **case):
    """What a claim of the ledger is about, mostly a time, in a run whose result is checked."""
    return claims[name].measure(claims[name].run(schedule="synchronous", **case))


# %% [markdown]
# ## 1. The sum
#
# $n$ numbers are added in pairs, the sums in pairs, and so on: a tree with $\log n$ steps. Which
# pairs? The naive tree adds neighbours. In its step with distance $h = 1, 2, 4, \dots$ thread $k$
# does
#
#     a[2 * h * k] = a[2 * h * k] + a[2 * h * k + h]
#
# Take a DMM of width $w = 32$ and the step with $h = 4$. A warp reads the words 0, 8, 16, …, 248.
# **Predict**: how many stages does this request take?

# %%
guess = None  # stages


# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
@mm.program
def first_words(T, a, h):
    a[2 * h * T.id]


predicted(guess, mm.DMM(32, 5).run(first_words, np.zeros(256), 4, threads=32).stages)

# %% [markdown]
# The words lie in four banks, eight in each. On a UMM they lie in eight address groups: as many
# stages. The *tree of halves* adds the second half of the numbers to the first, then the second
# quarter to the first quarter:
#
#     a[k] = a[k] + a[k + h]     for h = n/2, n/4, ..., 1
#
# Threads next to each other now access words next to each other. The stages of each round, of 64
# numbers on a DMM with $w = 8$:

# %%
mm.figures.rounds(mm.DMM(8, 5).run(strided_tree, numbers(64), threads=32)).figure

# %%
mm.figures.rounds(mm.DMM(8, 5).run(tree, numbers(64), threads=32)).figure

# %% [markdown]
# What are the formulas? `mm.fit` runs a program over a grid of parameters and looks for the terms
# of its time. Here there is a thread for each pair, $p = n/2$.

# %%
grid = {"n": [1024, 2048, 4096, 8192], "w": [4, 8, 16, 32], "l": [1, 2, 5, 10]}


def sum_by(program):
    """The sum on a DMM with a thread for each pair, as a function of n, w and l."""
    return lambda n, w, l: mm.DMM(w, l).run(program, numbers(n), threads=n // 2)


trees = {"neighbours": mm.fit(sum_by(strided_tree), grid), "halves": mm.fit(sum_by(tree), grid)}
for name, found in trees.items():
    print(f"{name}: {found}")

# %%
mm.figures.formulas(trees, "n", grid["n"], w=32, l=5).figure

# %% [markdown]
# The naive tree multiplies $n/w$ by $\log w$; the rest is the same. In the ledger the formulas have
# $p$ as well, and are verified on both machines:

# %%
for name in ("SUM-strided", "SUM-tree", "SUM-columns"):
    print(f"{name}: {claims[name].text}")

# %% [markdown]
# ### Exercise 1
#
# A DMM with $w = 16$ and $l = 10$, $n = 4096$ numbers and $p = 256$ threads. How many time units
# does the tree of halves take? (First with the formula; then count: which steps have one round, and
# which have more?)

# %% name="1" tags=["exercise"]
answer_1 = ...  # time units

# %%
check(answer_1, measure("SUM-tree", on="DMM", n=4096, p=256, w=16, l=10))

# %% [markdown]
# ### Columns
#
# The tree writes what it could keep. In the sum by *columns* each of $p$ threads first adds the
# words $i, p + i, 2p + i, \dots$ in a register, and only then a tree adds the $p$ sums. Its time
# for $l = 100$:

# %%
wider = {"n": [1024, 2048, 4096, 8192], "p": [64, 128, 256, 512], "w": [4, 8, 16, 32]}
by_columns = mm.fit(
    columns,
    wider,
    machine=lambda w: mm.DMM(w, 100),
    arguments=lambda n, p: (numbers(n), np.zeros(p, int)),
)
print(by_columns)

# %% [markdown]
# More threads hide the latency of reading, $99n/p$. But the more sums are left, the more steps the
# tree has, and each waits for the latency twice: $198 \log p$. Which term binds?

# %%
threads = [2**k for k in range(5, 13)]
mm.figures.terms(by_columns, "p", threads, n=4096, w=32).figure

# %% [markdown]
# **Predict**: with which power of two, from 32 to 4096 threads, is the sum of $n = 4096$ numbers
# fastest for $w = 32$ and $l = 100$?

# %%
guess = None  # threads

# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
times = {p: measure("SUM-columns", on="DMM", n=4096, p=p, w=32, l=100) for p in threads}
predicted(guess, min(times, key=times.get))

# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
print(times)

# %% [markdown]
# No program that adds pair by pair takes less than the largest of $n/w + l - 1$, $nl/p$ and
# $l \log n$ ([why](../docs/algorithms/sum.md)). So columns are optimal but for a constant.
#
# ### Exercise 2
#
# And for $n = 65536$ numbers, $w = 32$ and $l = 10$? Which power of two, from 32 to 8192 threads,
# is best?

# %% name="2" tags=["exercise"]
answer_2 = ...  # threads

# %% jupyter={"source_hidden": true} tags=["hide-input"]
best = {
    p: measure("SUM-columns", on="DMM", n=65536, p=p, w=32, l=10)
    for p in (2**k for k in range(5, 14))
}
check(answer_2, min(best, key=best.get))

# %% [markdown]
# ### On the HMM
#
# In the global memory of an HMM each step of the tree waits for the global latency $L$, so columns
# take about $2L \log p$ besides the reading. The good program lets each DMM add its own columns in
# its shared memory, of latency 1, and then one DMM adds the $d$ sums. The global memory is asked
# for reading, to write $d$ sums, to read them and to write the result.
#
# **Predict** the time of the good program for $n = 16384$, $p = 1024$, $w = 32$, $d = 4$ and
# $L = 100$. Reading takes 16 rounds of $32 + 99$.

# %%
machine = {"w": 32, "d": 4, "L": 100, "l": 1}
print("in the global memory:", measure("SUM-HMM.global", n=16384, p=1024, **machine))
guess = None  # time units

# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
predicted(guess, measure("SUM-HMM", n=16384, p=1024, **machine))

# %% [markdown]
# ### Few barriers
#
# Under the asynchronous schedule a barrier keeps the steps of the tree apart. The threads of one
# warp need none, as they go in step. So let each warp add the sums of its own $w$ threads, and put
# a barrier only before the sums of warps are read. With $wl$ threads it takes few of them:

# %%
w, l = 4, 16
print("by columns:", measure("SUM-columns.barriers", on="DMM", n=128, p=w * l, w=w, l=l))
print("by warps:", measure("SUM-async.barriers", on="DMM", n=128, w=w, l=l))

# %% [markdown]
# ## 2. Prefix sums
#
# From $n$ numbers the $n$ sums of the first 1, 2, …, $n$ of them. The simple way doubles a distance
# $h$: in each of $\log n$ steps every word adds the word $h$ before it.
#
#     x = a[k]
#     if k >= h: x += a[k - h]
#     b[k] = x                   for h = 1, 2, 4, ...
#
# The optimal way goes up a tree, as the sum does, and down again: a node hands on to its children
# the sum of everything before them. That is seven accesses for each of $n - 1$ nodes.

# %%
for way in (by_doubling, by_tree):
    run, sums = way(mm.DMM(4, 1), [3, 1, 4, 1, 5, 9, 2, 6], 4)
    print(f"{run.program:8} {sums} {run.time} time units")

# %% [markdown]
# For these eight numbers the simple way is faster. **Predict** for $n = 4096$, 256 threads,
# $w = 32$ and $l = 5$ on the UMM: how many time units does the tree take?

# %%
print("doubling:", measure("SCAN-doubling.UMM", on="UMM", n=4096, p=256, w=32, l=5))
guess = None  # time units of the tree

# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
predicted(guess, measure("SCAN-tree", on="UMM", n=4096, p=256, w=32, l=5))

# %% [markdown]
# With as many threads as there is work, on the DMM:

# %%
scans = {
    "doubling": mm.fit(lambda n, w, l: by_doubling(mm.DMM(w, l), numbers(n), n)[0], grid),
    "tree": mm.fit(lambda n, w, l: by_tree(mm.DMM(w, l), numbers(n), n // 2)[0], grid),
}
for name, found in scans.items():
    print(f"{name}: {found}")

# %%
mm.figures.formulas(scans, "n", [2**k for k in range(6, 17, 2)], w=32, l=5).figure

# %% [markdown]
# Doubling has $(n \log n)/w$, the tree only $n/w$, but with a larger coefficient. And its
# $l \log n$ is more than twice as much, as it goes through the $\log n$ levels twice.
#
# ### Exercise 3
#
# On a DMM with $w = 4$ and $l = 1$, with $n$ threads for doubling and $n/2$ for the tree: what is
# the smallest power of two $n$ from 8 on for which the tree is faster?

# %% name="3" tags=["exercise"]
answer_3 = ...  # numbers


# %% jupyter={"source_hidden": true} tags=["hide-input"]
def tree_wins(n, w=4, l=1):
    simple = measure("SCAN-doubling.DMM", on="DMM", n=n, p=n, w=w, l=l)
    return measure("SCAN-tree", on="DMM", n=n, p=n // 2, w=w, l=l) < simple


check(answer_3, next(n for n in (2**k for k in range(3, 12)) if tree_wins(n)))

# %% [markdown]
# ### Exercise 4
#
# The tree subtracts, so it cannot find *running maxima*: the largest of the first 1, 2, …, $n$
# numbers. Doubling can. Change the program below, which is that of the prefix sums. (Why are there
# two arrays that take turns?)


# %% name="4" tags=["exercise"]
@mm.program
def running(T, a, b):
    n, p, i = a.size, T.count, T.id
    h = 1
    while h < n:
        for k in range(i, n, p):
            x = a[k]
            if k >= h:
                x += a[k - h]
            b[k] = x
        T.barrier()
        a, b = b, a
        h = 2 * h


answer_4 = ...  # when it is done: running


# %% jupyter={"source_hidden": true} tags=["hide-input"]
def wrong_maxima(program):
    for n, p in ((64, 16), (128, 16), (100, 12)):
        a = (np.arange(n) * 7919 + 13) % 1009 - 500
        for schedule in ("synchronous", "asynchronous"):
            run = mm.DMM(4, 5).run(program, a, np.zeros(n, int), threads=p, schedule=schedule)
            found = run.arrays["b" if (n - 1).bit_length() % 2 else "a"]
            if not np.array_equal(found, np.maximum.accumulate(a)):
                return f"of {n} numbers by {p} threads, {schedule}, not all maxima are right"
    return None


check(answer_4, wrong_maxima)

# %% [markdown]
# ## 3. The product
#
# $C = AB$ for matrices of $s \times s$ words, $n = s^2$. A thread computes an element of $C$ by $s$
# products. If a warp has elements of a *row* of $C$, it reads one word of $A$, which all its
# threads share, and $w$ words next to each other of $B$: a stage each. If it has elements of a
# *column*, it reads $w$ words of a column of $A$.
#
# **Predict** the time by columns for $s = 32$, a thread for each element, $w = 32$ and $l = 5$ on a
# DMM. By rows it is $(2s + 1)(p/w + l - 1)$.

# %%
case = {"n": 32 * 32, "w": 32, "l": 5}
print("by rows:", measure("MATMUL-rows", on="DMM", p=1024, **case))
guess = None  # time units by columns

# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
predicted(guess, measure("MATMUL-columns", on="DMM", p=1024, **case))

# %% [markdown]
# There are two ways out. One keeps the program and moves the words: under a random address
# permute-shift ([notebook 6](06-random-address-permute-shift.ipynb)) no column meets a bank
# conflict.

# %%
print("by columns under RAP:", measure("MATMUL-columns.RAP", seed=0, **case))

# %% [markdown]
# The other is the HMM. In the global memory even the product by rows waits for the latency $2s + 1$
# times. By *tiles* a block fetches $w \times w$ words of $A$ and of $B$ and uses each of them $w$
# times in its shared memory. If $A B^T$ is wanted, it reads columns of the second tile, and again
# there is RAP. 64 × 64 words:

# %%
hmm = {"w": 16, "d": 4, "L": 100, "l": 1}
for name in ("MATMUL-HMM.global", "MATMUL-HMM.tiled", "MATMUL-HMM.RAW", "MATMUL-HMM.RAP"):
    print(f"{name:17} {measure(name, n=64 * 64, **hmm):6}")

# %% [markdown]
# ### Exercise 5
#
# The product by tiles of two matrices of 64 × 64 words, $w = 16$: how many requests does the global
# memory get, reads and writes together? (A request is one access of one warp. By rows without tiles
# it gets 33024.)

# %% name="5" tags=["exercise"]
answer_5 = ...  # requests

# %% jupyter={"source_hidden": true} tags=["hide-input"]
tiled = claims["MATMUL-HMM.tiled"].run(schedule="synchronous", n=64 * 64, **hmm)
check(answer_5, sum(row.requests for row in tiled.accesses if row.space == "global"))

# %% [markdown]
# ## 4. Sorting
#
# Bitonic sort compares words $h$ apart, in $\log n (\log n + 1)/2$ steps. For $h \ge w$ a warp
# reads words next to each other. For $h < w$ its pairs lie in $2w$ words, and the first words of
# all pairs are in half of the banks: two stages.
#
# $n = 1024$, $w = 32$, $l = 1$: of the 55 steps 40 have $h < w$. So the time is $2n/w$ for each of
# 15 steps, and twice as much for each of 40. With a trick there is no conflict: in every second row
# of $w$ words a thread takes the second word of its pair first. **Predict** the time.

# %%
case = {"n": 1024, "p": 512, "w": 32, "l": 1}
print("bitonic sort:", measure("SORT-bitonic", on="DMM", **case))
guess = None  # time units without conflicts

# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
predicted(guess, measure("SORT-bitonic.free", on="DMM", **case))

# %% [markdown]
# On the UMM the trick gains nothing. (Why? The two rows of $w$ words are two address groups.)

# %%
shuffled = np.random.default_rng(0).permutation(1024)
run = mm.UMM(32, 1).run(bitonic_without_conflicts, shuffled, 32, threads=512)
print("bitonic sort:", measure("SORT-bitonic", on="UMM", **case), " with the trick:", run.time)

# %% [markdown]
# ### Merge sort, and its worst input
#
# GPU libraries sort by merging: each thread finds by a search where its $E$ words begin in two
# sorted runs, and then merges them word by word. Which banks it asks depends on the data. For a
# random input there are some conflicts. But for some inputs $E$ threads of a warp go side by side
# through the same banks. Then each of $E$ reads has $E$ stages, and only about $w/E$ of the warp's
# $w$ threads get their word in a stage.
#
# One can also avoid all conflicts, for every input, if the second run of each pair lies downwards
# and $\gcd(E, w) = 1$ ([how](../docs/algorithms/sorting.md)).

# %%
w, E = 32, 15
n = 8 * w * E
inputs = {"random": np.random.default_rng(0).permutation(n), "worst": worst(n, w, E)}
for name, a in inputs.items():
    serial = merge_sorted(mm.DMM(w, 1), a, E)
    free = merge_sorted(mm.DMM(w, 1), a, E, conflicts=False)
    assert (serial.arrays["b"] == np.arange(n)).all()
    assert (free.arrays["b"] == np.arange(n)).all()
    print(f"{name}: {merging_stages(serial)} stages of reads that merge; ", end="")
    print(f"without conflicts {moving_stages(free)} to read and to write")

# %% [markdown]
# ### Exercise 6
#
# $w = 16$ and $E = 7$. A pass merges two runs of 112 words, whose words are in the worst order. How
# many stages do its 224 merging reads take?

# %% name="6" tags=["exercise"]
answer_6 = ...  # stages

# %%
check(answer_6, measure("SORT-merge.worst", n=224, w=16, E=7, run=112, l=5))

# %% [markdown]
# ## 5. Eleven others
#
# The same few ideas make the rest of the canon fast. Each of these has [a
# page](../docs/algorithms/index.md) with its programs and the reasons for its time.
#
# ### Words next to each other
#
# **Bulk execution** runs one sequential algorithm on $p$ inputs, a thread for each. If all inputs
# lie one behind the other, row by row, threads next to each other access words that are $n$ apart.
# Column by column, word $j$ of all inputs lies together. Prefix sums of 256 inputs of 64 words take
# $t = 128$ accesses each, on a UMM with $w = 32$ and $l = 5$. **Predict** the time column by
# column.

# %%
case = {"algorithm": "prefix sums", "on": "UMM", "n": 64, "t": 128, "p": 256, "w": 32, "l": 5}
print("row by row:", measure("BULK-rows.UMM", **case))
guess = None  # time units column by column

# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
predicted(guess, measure("BULK-columns", **case))

# %% [markdown]
# In a **sparse matrix** in compressed rows the $k$ nonzero words of a row lie together. With a
# thread for each row a warp reads words that are $k$ apart: stride access. On a DMM with $w = 32$,
# rows of 8 words take the time below. **Predict**: rows of 9 words, do they take more or less? How
# much?

# %%
case = {"n": 1024, "p": 1024, "w": 32, "l": 1}
print("8 words in a row:", measure("SPMV-threads.DMM", on="DMM", k=8, **case))
guess = None  # time units with 9 words in a row

# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
predicted(guess, measure("SPMV-threads.DMM", on="DMM", k=9, **case))

# %% [markdown]
# ELLPACK stores the first nonzero word of every row, then the second of every row: column by
# column again. The same is true of the **stencil** (each word becomes the sum of itself and its
# four neighbours) and of a **list** in $f$ fragments: adjacent threads take adjacent words.


# %%
def compared(what, naive, good):
    """The times of two ways, each a name in the ledger with its case."""
    one, other = (measure(name, **case) for name, case in (naive, good))
    print(f"{what:16}{one:8} by {naive[0]:18}{other:6} by {good[0]:18}{one / other:5.1f} times")


case = {"on": "UMM", "p": 1024, "w": 32, "l": 5}
compared(
    "sparse matrix",
    ("SPMV-threads.UMM", {**case, "n": 1024, "k": 8}),
    ("SPMV-ell", {**case, "n": 1024, "k": 8}),
)
compared(
    "stencil",
    ("STENCIL-columns", {**case, "n": 128 * 128}),
    ("STENCIL-rows.UMM", {**case, "n": 128 * 128}),
)
compared(
    "list",
    ("LIST-fragments", {"n": 4096, "w": 32, "l": 5, "f": 64}),
    ("LIST-positions", {"n": 4096, "p": 1024, "w": 32, "l": 5, "f": 64}),
)

# %% [markdown]
# ### Fetch once, use often
#
# On an HMM a word is fetched once and then used in the shared memory: the **convolution** of $m$
# and $m + n - 1$ words, **approximate string matching**, **dynamic programming** over intervals,
# the **fast Fourier transform** by columns and rows, and the stencil again, by bands of rows.

# %%
compared(
    "convolution",
    ("CONV-direct.UMM", {"on": "UMM", "n": 1024, "m": 64, "p": 1024, "w": 16, "l": 100}),
    ("CONV-HMM", {"n": 1024, "m": 64, "p": 1024, "k": 1, **hmm}),
)
compared(
    "string matching",
    ("ASM-HMM.global", {"n": 512, "m": 16, "p": 256, **hmm}),
    ("ASM-HMM", {"n": 512, "m": 16, "p": 256, **hmm}),
)
compared(
    "intervals",
    ("DP-HMM.global", {"n": 32, "w": 4, "d": 4, "L": 100}),
    ("DP-HMM", {"n": 32, "r": 4, "w": 4, "d": 4, "L": 100, "l": 1}),
)
compared("FFT", ("FFT-HMM.global", {"n": 4096, **hmm}), ("FFT-HMM", {"n": 4096, **hmm}))
compared(
    "stencil",
    ("STENCIL-HMM.global", {"n": 128 * 128, "r": 4, **hmm}),
    ("STENCIL-HMM.bands", {"n": 128 * 128, "r": 4, **hmm}),
)

# %% [markdown]
# The **summed area table** has in each place the sum of everything above it and to its left. The
# names of four programs give their reads and writes of a word of the global memory. 1R1W has the
# fewest accesses, but it takes the tiles in $2\sqrt n/w - 1$ waves, and each waits for the latency
# six times. **Predict**: is it faster than 2R1W for 64 × 64 words? And for 128 × 128?
# ($w = d = 4$, $L = 50$.) Write the two faster ones down.

# %%
guess = None  # such as ["1R1W", "2R1W"], for 64 × 64 and for 128 × 128

# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
case = {"w": 4, "d": 4, "L": 50, "l": 1}
tables = {
    side: {way: measure(f"SAT-{way}", n=side * side, **case) for way in ("2R1W", "1R1W")}
    for side in (64, 128)
}
predicted(guess, [min(times, key=times.get) for times in tables.values()])

# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
for side, times in tables.items():
    print(f"{side} × {side}: {times}")

# %% [markdown]
# ### Conflicts that the data make
#
# A **histogram** counts values by atomics. Those of a warp on one address are served in turn.
# With a column of bins for each lane no two threads of a warp ever meet. 8192 values in 32
# bins on a DMM, $w = 32$, $l = 5$, 1024 threads; all values of a warp are the same. **Predict** the
# time with a column for each lane.

# %%
case = {"n": 8192, "p": 1024, "w": 32, "l": 5}
for k in (1, 4, 32):
    print(f"{k:2} threads of a warp with the same value:", end=" ")
    print(measure("HIST-atomic", on="DMM", k=k, **case))
guess = None  # time units with a column for each lane

# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
predicted(guess, measure("HIST-lanes", m=32, skew=0, **case))

# %% [markdown]
# ### Steps that wait for each other
#
# The optimal **triangulation of a polygon** with $n$ sides is dynamic programming with a diagonal
# of $n - 1$ after the other. If each element makes its sums in sequence, that is about
# $n^2$ rounds in all, however many threads there are. The good program makes each sum as soon as
# both its parts are known, so that a diagonal costs $O(1)$ rounds. (Its words are arranged by
# diagonals, too.)

# %%
compared(
    "triangulation",
    ("POLY-rows", {"n": 32, "w": 8, "l": 30}),
    ("POLY-eager.O", {"n": 32, "p": 32 * 32 // 2, "w": 8, "l": 30}),
)

# %% [markdown]
# ## 6. The bound of your own program
#
# A researcher does not know the formula yet. Then `mm.fit` gives a conjecture: a formula that is
# exact in all cases of a grid, or what is left over ([how it works](../docs/how-to/bound.md)). It
# has at most six terms. So fix the parameters that you do not ask about, as $l = 100$ above, and
# vary the others one by one: with $p = n/2$ in all cases it is unknown whether a term is $n$ or
# $2p$.
#
# ### Exercise 7
#
# Write `largest(T, a, c)`: $p$ threads leave the largest of $n$ numbers in `c[0]`. `c` has a word
# for each thread, $p$ divides $n$, both are powers of two, and the numbers may all be negative. It
# is to take no longer than the sum by columns. Then find its formula in $n$, $p$ and $w$ on a DMM
# with $l = 100$. The answer is both: your program, and what `mm.fit` found.


# %% name="7" tags=["exercise"]
@mm.program
def largest(T, a, c):
    c[T.id] = a[T.id]


# found = mm.fit(largest, ..., machine=..., arguments=...)
answer_7 = ...  # when both are done: (largest, found)


# %% jupyter={"source_hidden": true} tags=["hide-input"]
def wrong_largest(both):
    program, found = both
    for n, p, w in ((256, 32, 8), (4096, 512, 32), (32768, 1024, 64), (16384, 32, 2)):
        a = -1 - numbers(n)
        run = mm.DMM(w, 100).run(program, a, np.zeros(p, int), threads=p)
        if run.arrays["c"][0] != a.max():
            return f"the largest of {n} numbers is {a.max()}, not {run.arrays['c'][0]}"
        if run.time > measure("SUM-columns", on="DMM", n=n, p=p, w=w, l=100):
            return f"with n={n}, p={p}, w={w} the sum by columns takes less than {run.time}"
        formula = found.value({"n": n, "p": p, "w": w, "l": 100})
        if formula != run.time:
            return f"with n={n}, p={p}, w={w} the formula says {formula}, the machine {run.time}"
    return None if found.unique else "the formula is not the only one: vary more"


check(answer_7, wrong_largest)

# %% [markdown]
# ## 7. For all sizes
#
# A formula from runs is a conjecture, however many runs agree. `mm.cost` runs nothing. It executes
# the program with symbols for the sizes, and what it finds is true for all of them ([what such a
# proof says](../docs/explanation/proofs.md)). Only the width must be a number. Here each thread
# adds two words that are $n$ apart:


# %%
@mm.program
def halves(T, a, b):
    n = b.size
    for i in range(T.id, n, T.count):
        b[i] = a[i] + a[i + n]


shapes = {"a": ("2 n",), "b": ("n",)}
facts = ("w divides p", "p divides n")
cost = mm.cost(halves, shapes=shapes, threads="p", machine=mm.DMM("w", "l"), given=facts)
print(cost.of_width(32).time)

# %% [markdown]
# The next program adds two neighbours. `mm.fit` finds a formula that is exact in 192 runs:


# %%
@mm.program
def neighbours(T, a, b):
    for i in range(T.id, b.size, T.count):
        b[i] = a[2 * i] + a[2 * i + 1]


def run_neighbours(n, p, w, l):
    return mm.DMM(w, l).run(neighbours, numbers(2 * n), numbers(n), threads=p)


wide = {"n": [256, 512, 1024, 2048], "p": [32, 64, 128, 256], "w": [4, 8, 16, 32], "l": [1, 2, 5]}
print(mm.fit(run_neighbours, wide))


# %% [markdown]
# **Predict**: at how many of the widths from 1 to 32 is this the time, for all $n$, $p$ and $l$?


# %%
def conjecture(n, p, w, l):
    return 5 * n / w + 3 * n * (l - 1) / p


cost = mm.cost(neighbours, shapes=shapes, threads="p", machine=mm.DMM("w", "l"), given=facts)


def is_proved(formula, w):
    """Return whether the time at a width is what a formula of n, p, w and l says, for all sizes."""
    time = cost.of_width(w).time
    symbols = {symbol.name: symbol for symbol in time.free_symbols}
    return (time - formula(w=w, **symbols)).expand() == 0


guess = None  # widths

# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
predicted(guess, sum(is_proved(conjecture, w) for w in range(1, 33)))

# %% [markdown]
# ### Exercise 8
#
# Find the widths from 1 to 32 at which the conjecture is wrong, and the time at these widths, as a
# function of $n$, $p$, $w$ and $l$; `is_proved` is to prove it. (`cost.of_width(6)` says where the
# time goes at $w = 6$.) Why did none of the 192 runs show it?


# %% name="8" tags=["exercise"]
def time_there(n, p, w, l):
    return conjecture(n, p, w, l)


widths = []
answer_8 = ...  # when both are done: (widths, time_there)


# %% jupyter={"source_hidden": true} tags=["hide-input"]
def wrong_there(both):
    widths, formula = both
    for w in range(1, 33):
        right = is_proved(conjecture, w)
        if right == (w in widths):
            return f"at w={w} the conjecture is {'proved' if right else 'wrong'}"
        if not right and not is_proved(formula, w):
            case = {"n": 5 * w, "p": w, "w": w, "l": 3}
            found, time = formula(**case), run_neighbours(**case).time
            said = ", ".join(f"{name}={value}" for name, value in case.items())
            return f"with {said} the formula says {found:g}, the machine {time}"
    return None


check(answer_8, wrong_there)

# %% [markdown]
# The next steps are [a claim](../docs/how-to/claim.md) with its conditions, which `mmsim verify`
# tries in many more cases, and its [proof](../docs/tutorial/proof.md). All programs of this
# notebook but the last three have their claims in [the ledger](../docs/ledger.md), which says what
# is proved.
