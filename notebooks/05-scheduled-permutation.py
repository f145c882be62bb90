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
# # How can any permutation be fast where the memory is slow?
#
# Notebook 4 permuted words in a memory of banks. Large arrays lie in the *global* memory of a
# GPU, which has a long latency and counts address groups, not banks. There the same trick doesn't
# work. Another one does: many easy rounds in place of one hard one.
#
# You need the UMM (Unified Memory Machine) and address groups ([notebook
# 1](01-banks-and-address-groups.ipynb)), the transpose in shared memory ([notebook
# 3](03-transpose-three-ways.ipynb)), and edge colouring ([notebook
# 4](04-conflict-free-permutation.ipynb)).
#
# About 90 minutes: what casual access costs (15), three easy steps (25), rows in shared memory
# (20), the sum and who wins (15), exercises (15; the last one for home).

# %%
try:
    from classroom import check, predicted

    import mmsim as mm
except ModuleNotFoundError as error:
    needed = "mmsim installed, and classroom.py and sealed.py in its folder"
    raise ImportError(f"{error}: this notebook needs {needed}") from None

# %matplotlib inline
# %config InlineBackend.figure_formats = ["svg"]
import matplotlib.pyplot as plt
import numpy as np

from mmsim_algorithms import permutations
from mmsim_algorithms.colouring import schedules
from mmsim_algorithms.dmm_permutation import permute
from mmsim_algorithms.hmm_permutation import (
    columns_permuted,
    plan,
    row_tables,
    rows_permuted,
    scheduled,
)

# %% [markdown]
# ## 1. Casual access is expensive
#
# The machine is an HMM now: d DMMs, each with its own shared memory (w banks, latency 1), and one
# global memory (address groups of w words, latency L). A warp's request to the global memory takes
# a stage for each address group that it touches.
#
# A round is *coalesced* if each warp touches one group only, and *casual* if some warp touches
# several. Let thread i write `b[p[i]] = a[i]` in the global memory, with n = 1024 words, w = 8
# and L = 50, along the transpose of the 32 × 32 matrix.
#
# **Predict** the time of the three rounds (read `a`, read `p`, write `b`).

# %%
guess = None  # time units

# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
n, w, L = 1024, 8, 50
machine = mm.HMM(dmms=2, width=w, global_latency=L)
run = permute(machine, "D-designated", permutations.transpose(n))
predicted(guess, run.time)

# %%
for row in run.rounds:
    print(f"{row.kind:5} {row.array}: {row.stages:4} stages, time {row.time:4}, {row.access_class}")

# %% [markdown]
# The stages of the casual round are the *distribution* $D_w$ of the permutation: the address
# groups that each warp touches, added up. The time is $D_w + 2n/w + 3(L - 1)$ (ICPP, International
# Conference on Parallel Processing 2013, Lemma 4).
#
# What of notebook 4's remedy? Its schedule makes each warp visit w different *banks*. **Predict**
# the time of the conflict-free order along the same transpose. (It reads one table more.)

# %%
guess = None  # time units

# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
predicted(guess, permute(machine, "conflict-free", permutations.transpose(n)).time)

# %%
print("permutation    D-designated  conflict-free   Dw/n")
for name, make in permutations.NAMED.items():
    P = make(n, 0)
    D = permutations.distribution(P, w)
    there, free = (permute(machine, way, P).time for way in ("D-designated", "conflict-free"))
    assert there == D + 2 * n // w + 3 * (L - 1)
    print(f"{name:13} {there:13} {free:14} {D / n:6.3f}")
large = 2**22
mean = permutations.expected_distribution(large, 32)
print(f"random, 2^22 words, w = 32: Dw/n is {mean / large:.4f} on average")

# %% [markdown]
# It doesn't help. The schedule takes a warp's words from different banks, wherever they lie, so
# that reading `a` is casual too. Only along the identity, where nothing is to be corrected, it does
# no more harm than one more coalesced round. A random permutation of a large array is nearly as
# bad as the worst: hardly two words of a warp land in one group.
#
# ## 2. Three easy steps
#
# Fold the array into a matrix of √n × √n words. Moving words *within a row* will turn out easy,
# and so will moving them *within a column*. Is every permutation a few such moves?
#
# Try columns first: bring each word to its row, then, within the row, to its place. Here is what
# goes wrong. For a random permutation of an 8 × 8 matrix, count how many words of each column
# want to go to each row.

# %%
side = 8
P = permutations.random(side * side, seed=2)
to_row, to_column = np.divmod(P.reshape(side, side), side)
wanted = np.array([np.bincount(to_row[:, j], minlength=side) for j in range(side)])
print(wanted)

# %% [markdown]
# One row of this table for each column of the matrix. A word can't share its place, so each entry
# would have to be 1.
#
# So begin with a move *within the rows* that makes them all 1: spread the words such that each
# column holds one word for each row. That is an edge colouring again. A word is an edge from its
# row to its target row. It travels in the column of its colour. Words that start in one row get
# different columns, and so do words that end in one row.
#
# **Predict**: how many colours are needed for the 8 × 8 matrix?

# %%
guess = None  # colours

# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
first, second, third = schedules.three_steps(P, side)
predicted(guess, len(np.unique(first)))

# %%
matrices = {"before": np.arange(side * side).reshape(side, side)}
moved = np.empty_like(first)
np.put_along_axis(moved, first, matrices["before"], axis=1)
matrices["1: within rows"] = moved
moved = np.empty_like(first)
np.put_along_axis(moved, second.T, matrices["1: within rows"], axis=0)
matrices["2: within columns"] = moved
moved = np.empty_like(first)
np.put_along_axis(moved, third, matrices["2: within columns"], axis=1)
matrices["3: within rows"] = moved
assert np.array_equal(moved.ravel()[P], np.arange(side * side))

# %% alt="Three steps sort the 8 shades." jupyter={"source_hidden": true} tags=["hide-input"]
figure, panels = plt.subplots(1, 4, figsize=(11, 3))
for axes, (title, words) in zip(panels, matrices.items(), strict=True):
    axes.imshow(P[words] // side, cmap="cividis")
    for (i, j), word in np.ndenumerate(words):
        row, column = divmod(P[word], side)
        shade = "white" if row < 5 else "black"
        axes.text(j, i, f"{row},{column}", ha="center", va="center", fontsize=7, color=shade)
    axes.set_title(title, fontsize=9)
    axes.set_xticks([])
    axes.set_yticks([])
plt.show()

# %% [markdown]
# Each word shows the row and the column where it is going; its shade is the row. After step 1
# every column has each shade once. Step 2 sorts the columns by shade. Step 3 only sorts the rows.

# %%
words = matrices["1: within rows"]
assert all(len(set(column)) == side for column in (P[words] // side).T)
words = matrices["2: within columns"]
assert all(set(row) == {i} for i, row in enumerate(P[words] // side))
print("step 1 gave each column each shade once, step 2 each row its own shade")

# %% [markdown]
# That is Lemma 7.3 of SMM (*Simple Memory Machine Models*) and ICPP's section VII. Kőnig's theorem
# says that the colouring always exists: each row has √n words before and after.
#
# ### Exercise 1
#
# Plan step 1 by hand. The transpose of a 4 × 4 matrix sends the word in row i, column j to row j.
# Give a 4 × 4 list of lists: in which column does word (i, j) travel? Each row must use each
# column once, and in each column the words must go to different rows.

# %% name="1" tags=["exercise"]
answer_1 = ...


# %% jupyter={"source_hidden": true} tags=["hide-input"]
def wrong_plan(answer):
    try:
        travel = np.array(answer).reshape(4, 4)
    except ValueError:
        return "it has to be four rows of four columns"
    for i, row in enumerate(travel):
        if sorted(row) != [0, 1, 2, 3]:
            return f"row {i} doesn't use each column once"
    for column in range(4):
        if len({j for i, j in zip(*np.where(travel == column), strict=True)}) < 4:
            return f"in column {column} two words go to one row"


check(answer_1, wrong_plan)

# %% [markdown]
# ## 3. A row in shared memory
#
# Why is moving within a row easy? A row is short enough for the shared memory of a DMM (Discrete
# Memory Machine). A block takes a row: it reads it coalesced, permutes it in shared memory by the
# conflict-free schedule of notebook 4, and writes it back coalesced. This is ICPP section VI.


# %%
@mm.program
def row_wise(T, a, b, s, d):
    alpha = mm.shared(a.shape[1])
    beta = mm.shared(a.shape[1])
    i, j = T.block, T.index
    alpha[j] = a[i, j]
    source, target = s[i, j], d[i, j]
    T.barrier()
    beta[target] = alpha[source]
    T.barrier()
    b[i, j] = beta[j]


w, L, side = 4, 6, 4
small = mm.HMM(dmms=2, width=w, global_latency=L)
a = np.arange(side * side).reshape(side, side)
s, d = row_tables([permutations.random(side, seed) for seed in range(side)], w)
run = small.run(row_wise, a, np.zeros_like(a), s, d, threads=16, block_size=side, trace=True)
run.profile()

# %% [markdown]
# Four rounds in the global memory and four in the shared memories, and none wastes a stage. Step
# through it: there are two shared memories, and two blocks on each DMM.

# %%
run.trace.player()

# %% [markdown]
# A coalesced round of the global memory takes $n/w + L - 1$. A conflict-free round of shared
# memory has latency 1, and the d shared memories work in parallel, each for its own blocks.
#
# **Predict** the time of the row-wise permutation of a 64 × 64 matrix, on d = 4 DMMs of width w =
# 8, with L = 50.

# %%
guess = None  # time units

# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
side, w, d, L = 64, 8, 4, 50
n = side * side
machine = mm.HMM(dmms=d, width=w, global_latency=L)
a = np.arange(n).reshape(side, side)
tables = row_tables([permutations.random(side, seed) for seed in range(side)], w)
run = rows_permuted(machine, a, tables)
predicted(guess, run.time)

# %%
for row in run.rounds:
    print(f"{row.space:6} {row.kind:5} {row.array:5} {row.time:4} time units, {row.access_class}")
assert run.time == 4 * (n // w + L - 1) + 4 * n // (d * w)

# %% [markdown]
# So the time is $4(n/w + L - 1) + 4n/(dw)$. ICPP's Lemma 7 prints $8n/w + 4L - 4$, which is the
# same for d = 1; the ledger (ICPP-L7.d) has the case of more DMMs, as IEICE (Transactions of the
# Institute of Electronics, Information and Communication Engineers, 2014) counts it.
#
# ### Exercise 2
#
# Shared memory is scarce. This row-wise permutation does with *one* shared array where `row_wise`
# has two, and goes wrong: on a GPU the warps of a block don't run in lock step. Fix it, still
# with one shared array, without a race and without a conflict. (A number in a variable is the
# thread's own.)


# %% name="2" tags=["exercise"]
@mm.program
def in_one_array(T, a, b, s, d):
    alpha = mm.shared(a.shape[1])
    i, j = T.block, T.index
    alpha[j] = a[i, j]
    T.barrier()
    alpha[d[i, j]] = alpha[s[i, j]]
    T.barrier()
    b[i, j] = alpha[j]


answer_2 = ...  # when it is done: in_one_array


# %% jupyter={"source_hidden": true} tags=["hide-input"]
def wrong_rows(program):
    P = np.array([permutations.random(16, seed) for seed in range(4)])
    a, (s, d) = np.arange(64).reshape(4, 16), row_tables(P, 4)
    run = mm.HMM(2, 4, 10).run(
        program,
        *(a, np.zeros_like(a), s, d),
        threads=64,
        block_size=16,
        schedule="asynchronous",
        check=True,
    )
    if run.findings:
        return f"there is a race on {run.findings[0].array}, lines {run.findings[0].lines}"
    if not np.array_equal(np.take_along_axis(run.arrays["b"], P, axis=1), a):
        return "a word isn't in its place"
    shared = {row.array for row in run.accesses if row.space == "shared"}
    if len(shared) > 1:
        return f"there are {len(shared)} shared arrays"
    wasted = sum(row.wasted for row in run.accesses)
    return f"{wasted} stages are wasted" if wasted else None


check(answer_2, wrong_rows)

# %% [markdown]
# ## 4. A column is a row of the transpose
#
# Columns aren't neighbours in memory, so don't touch them: transpose, permute the rows, transpose
# back. Notebook 3's transpose by tiles in shared memory is coalesced and conflict-free.

# %%
run = columns_permuted(machine, a, tables)
kinds = [(row.space, row.access_class) for row in run.rounds]
for kind in sorted(set(kinds)):
    print(kinds.count(kind), "rounds:", *kind)
assert run.time == 8 * (n // w + L - 1) + 8 * n // (d * w)

# %% [markdown]
# ## 5. The sum
#
# Rows, columns, rows. **Predict** the number of rounds in the global memory.

# %%
guess = None  # rounds

# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
P = permutations.random(n, seed=0)
run = scheduled(machine, np.arange(n), plan(P, w))
assert np.array_equal(run.arrays["b"][P], np.arange(n))
predicted(guess, sum(row.space == "global" for row in run.rounds))

# %%
print(*sorted({row.access_class for row in run.rounds}))
assert run.time == 16 * (n // w + L - 1) + 16 * n // (d * w)
print(f"n = {n}, w = {w}, d = {d}, L = {L}:")
print("permutation    D-designated  S-designated  scheduled")
for name, make in permutations.NAMED.items():
    P = make(n, 0)
    ways = [permute(machine, way, P).time for way in ("D-designated", "S-designated")]
    assert ways[0] == ways[1]
    ways.append(scheduled(machine, np.arange(n), plan(P, w)).time)
    print(f"{name:13}", "".join(f"{time:13}" for time in ways))

# %% [markdown]
# The scheduled permutation takes $16(n/w + n/(dw) + L - 1)$ for *every* permutation, with not one
# casual round (ICPP Theorem 9 for d = 1; IEICE for d DMMs). (D- and S-designated take the same:
# $D_w$ counts pairs of a group that words leave and a group that they enter, and the inverse has
# the same pairs.) It didn't win here. Look at the formulas: sixteen coalesced rounds cost $16n/w$
# against $n$ for a casual one.
#
# ### Exercise 3
#
# How many of the rounds of the scheduled permutation are reads of the global memory, and how many
# are writes to it? A pair of numbers.

# %% name="3" tags=["exercise"]
answer_3 = ...

# %%
small_run = scheduled(mm.HMM(2, 4, 10), np.arange(64), plan(permutations.random(64, 0), 4))
kinds = [row.kind for row in small_run.rounds if row.space == "global"]
check(answer_3, (kinds.count("read"), kinds.count("write")))

# %% [markdown]
# **Predict**: for the transpose, w = 8 and any n, L and d: does the scheduled permutation ever
# win? (Compare the formulas of both times, term by term.)

# %%
guess = None  # True or False


# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
def casual(n, w, L):
    return n + 2 * n // w + 3 * (L - 1)


def three_steps(n, w, L, d):
    return 16 * (n // w + L - 1) + 16 * n // (d * w)


sizes = [4**k for k in range(3, 16)]
wins = [
    three_steps(n, 8, L, d) < casual(n, 8, L) for n in sizes for L in (1, 500) for d in (1, 2, 8)
]
predicted(guess, any(wins))

# %% [markdown]
# With w = 8 the global rounds alone are $16n/w = 2n$. A casual access must be expensive
# compared with a coalesced one, and how expensive is exactly the width. A GPU has w = 32. Points
# are simulated, lines are the formulas.

# %% alt="The schedule wins for large n, with the longer latency later; the copy is fastest."
w, d = 32, 4
sides = [64, 128, 256]
figure, panels = plt.subplots(1, 2, figsize=(8, 3), sharey=True, layout="constrained")
for axes, L in zip(panels, (50, 500), strict=True):
    machine = mm.HMM(dmms=d, width=w, global_latency=L)
    found = {"D-designated, transpose": [], "scheduled, transpose": [], "copy": []}
    for side in sides:
        P = permutations.transpose(side**2)
        found["D-designated, transpose"].append(permute(machine, "D-designated", P).time)
        found["copy"].append(permute(machine, "copy", P).time)
        run = scheduled(machine, np.arange(side**2), plan(P, w))
        found["scheduled, transpose"].append(run.time)
    n = 1024 * np.arange(1, 65)
    curves = casual(n, w, L), three_steps(n, w, L, d), 2 * (n // w + L - 1)
    for (name, times), curve, marker in zip(found.items(), curves, "os^", strict=True):
        assert times == [curve[side**2 // 1024 - 1] for side in sides]
        (line,) = axes.plot(n, curve)
        axes.plot(np.square(sides), times, marker, color=line.get_color(), label=name)
    axes.set(xscale="log", yscale="log", xlabel="n", title=f"L = {L}")
panels[0].set_ylabel("time units")
panels[0].legend(frameon=False)
plt.show()

# %% [markdown]
# With a longer latency the lines cross later: sixteen latencies have to be paid back. No
# permutation can be faster than $n/w + L - 1$, since every word has to be read (ICPP section
# VII), so the schedule is within a constant factor of the best: the copy, at the bottom, already
# takes twice that.
#
# ### Exercise 4
#
# w = 32, d = 4, L = 1000, along the transpose. At which √n, of 64, 128, 256 and 512, is the
# scheduled permutation the faster one for the first time?

# %% name="4" tags=["exercise"]
answer_4 = ...

# %%
wins = (s for s in (64, 128, 256, 512) if three_steps(s**2, 32, 1000, 4) < casual(s**2, 32, 1000))
check(answer_4, next(wins))

# %% [markdown]
# ### Exercise 5
#
# Shared memory isn't free. For n = 4096, w = 8 and L = 100, how many DMMs (a power of two) does
# it take until the rounds in shared memory are less than a tenth of the scheduled permutation's
# time?

# %% name="5" tags=["exercise"]
answer_5 = ...


# %%
def share(d):
    run = scheduled(mm.HMM(d, 8, 100), np.arange(4096), plan(permutations.random(4096, 0), 8))
    return sum(row.time for row in run.rounds if row.space == "shared") / run.time


check(answer_5, next(d for d in (1, 2, 4, 8, 16, 32) if share(d) < 0.1))

# %% [markdown]
# ### Exercise 6
#
# A harder one. *Rotation by k* sends word i to i + k modulo n. If w doesn't divide k, each warp
# writes to two address groups. Write a program for blocks of 2w threads that rotates by k with
# every round coalesced. (Let a block write 2w words that begin where a group begins. They come
# from three groups at most. It may read all three, two of them with all its threads. The warps
# don't go in lock step.)


# %% name="6" tags=["exercise"]
@mm.program
def rotate(T, a, b, k):
    i = T.id
    b[(i + k) % a.size] = a[i]


answer_6 = ...  # when it is done: rotate


# %% jupyter={"source_hidden": true} tags=["hide-input"]
def wrong_rotation(program):
    n, w = 128, 8
    for k in (0, 8, 3, 21):
        a = np.arange(n)
        machine = mm.HMM(dmms=2, width=w, global_latency=10)
        run = machine.run(
            program,
            *(a, np.zeros_like(a), k),
            threads=n,
            block_size=2 * w,
            schedule="asynchronous",
            check=True,
        )
        if run.findings:
            return f"there is a race on {run.findings[0].array}, lines {run.findings[0].lines}"
        if not np.array_equal(run.arrays["b"], np.roll(a, k)):
            return f"for k = {k} b isn't the rotated a"
        for row in run.accesses:
            if row.wasted:
                return f"for k = {k} the {row.kind} of {row.array} wastes {row.wasted} stages"


check(answer_6, wrong_rotation)

# %% [markdown]
# ## What to take home
#
# - In the global memory it's address groups that count, and a random permutation of a large array
#   is nearly as bad as the worst.
# - Rows, columns, rows: three easy steps make up any permutation. The colouring says in which
#   column a word travels.
# - A row is permuted in shared memory, a column is a row of the transpose. No round is casual.
# - Sixteen coalesced rounds pay where a casual round is expensive: $w$ large, $n$ large compared
#   with $L$.
#
# Next: [do without planning, by chance](06-random-address-permute-shift.ipynb).
#
# *Sources.* ICPP: Kasagi, Nakano, Ito, "An Optimal Offline Permutation Algorithm on the
# Hierarchical Memory Machine, with the GPU implementation". Sections IV to VII have the
# algorithms, Table I the rounds. SMM section 7 does the same in a memory of address groups alone,
# with registers in place of the shared memory (`algorithms/umm_permutation`).
