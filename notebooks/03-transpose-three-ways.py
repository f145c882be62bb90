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
# # Must a transpose cost more than a copy?
#
# To transpose a matrix is to move every word once, as in a copy. The plain program for it is many
# times slower all the same. Here you see why, and three ways out: another order on the DMM
# (Discrete Memory Machine), registers on the UMM (Unified Memory Machine), shared memory on the
# HMM (Hierarchical Memory Machine).
#
# You need stages ([notebook 1](01-banks-and-address-groups.ipynb)) and rounds ([notebook
# 2](02-latency-and-warps.ipynb)). About 90 minutes: the plain way 20, the diagonal 20, registers
# 15, shared memory 15, exercises 20.

# %%
try:
    from classroom import check, predicted

    import mmsim as mm
except ModuleNotFoundError as error:
    needed = "mmsim installed, and classroom.py and sealed.py in its folder"
    raise ImportError(f"{error}: this notebook needs {needed}") from None

# %matplotlib inline
# %config InlineBackend.figure_formats = ["svg"]
from math import gcd

import numpy as np

from mmsim.claims import registered, verify_claim
from mmsim_algorithms.access import copy
from mmsim_algorithms.transpose import diagonal, straightforward
from mmsim_algorithms.transpose import hmm as hmm_transpose
from mmsim_algorithms.transpose import umm as umm_transpose

# %% [markdown]
# ## 1. The price of a copy
#
# A copy reads and writes every word, $w$ in a stage, in $n/p$ steps of two rounds (SMM, *Simple
# Memory Machine Models*, Corollary 3.2):
#
# $$2 \left(\frac{p}{w} + l - 1\right) \frac{n}{p}.$$
#
# All runs go in lock step. This is our matrix, 64 by 64, and the machines that we move it on:

# %%
w, l = 32, 10
side = 64
n, p = side * side, 1024
dmm, umm = mm.DMM(w, l), mm.UMM(w, l)
matrix = np.arange(n).reshape(side, side)


def move(program, machine, a=matrix, p=p, trace=False):
    """Run a transpose of the matrix a with p threads, and see that it is right."""
    run = machine.run(program, a, np.zeros_like(a), threads=p, trace=trace)
    assert (run.arrays["b"] == a.T).all()
    return run


flat = matrix.ravel()
price = dmm.run(copy, flat, np.zeros_like(flat), threads=p).time
assert price == umm.run(copy, flat, np.zeros_like(flat), threads=p).time
assert price == 2 * (p / w + l - 1) * n / p
print("a copy, on either machine:", price)

# %% [markdown]
# ## 2. The plain way
#
# The papers' straightforward program (SMM, section 5) reads down the columns and writes along the
# rows. Here it is on a small machine, $w = 4$, with a matrix of 8 by 8, and a thread for each word.

# %%
small = np.arange(64).reshape(8, 8)
run = move(straightforward, mm.DMM(4, 3), small, p=64, trace=True)
print(run.profile())

# %% [markdown]
# One of the two accesses wastes most of its stages. It is the first warp's read:

# %%
mm.figures.access(run, 0).figure

# %% [markdown]
# The large one again: $w = 32$, a matrix of 64 by 64, and a copy has 128 requests to read and 128
# to write, of one stage each. How many stages do the reads of the plain transpose take on the DMM?

# %%
guess = None  # stages of the reads

# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
plain = move(straightforward, dmm)
reads, writes = plain.accesses
predicted(guess, reads.stages)

# %%
print(plain)
print(f"{plain.time / price:.1f} times the price of a copy")

# %% [markdown]
# Round by round: each read wastes, each write is fine.

# %%
mm.figures.rounds(plain).figure

# %% [markdown]
# A column is a stride of $\sqrt n$, the length of a row. A warp that stays in one column wants
# $\gcd(\sqrt n, w)$ words of every bank that it meets (SMM, section 5). So the length of a row
# decides. With a thread for each word:


# %%
def square(s):
    """A matrix of s by s."""
    return np.arange(s * s).reshape(s, s)


for s in (32, 33, 34, 36, 40, 48, 64):
    row = move(straightforward, dmm, square(s), p=s * s).accesses[0]
    print(f"rows of {s}: {row.requests:3} requests to read, {row.stages:4} stages")
    assert row.stages <= row.requests * gcd(s, w)

# %% [markdown]
# On the UMM no length helps: the words of a column are in as many address groups as there are
# words, once a row has $w$ words or more.

# %%
for s in (32, 33, 64):
    row = move(straightforward, umm, square(s), p=s * s).accesses[0]
    print(f"rows of {s}: {row.requests:3} requests to read, {row.stages:4} stages")

# %% [markdown]
# ### Exercise 1
#
# A matrix of 128 by 128 on a DMM with $w = 32$, $l = 10$, and 1024 threads. How many time units
# does the plain transpose take? (Rounds, stages, latencies.)

# %% name="1" tags=["exercise"]
answer_1 = ...  # time units

# %%
check(answer_1, move(straightforward, dmm, square(128)).time, unit="time units")

# %% [markdown]
# ## 3. First way out: the diagonal, on the DMM
#
# A warp doesn't have to take the words of one column. On a *diagonal* every word has its
# own column, so its own bank, both where it comes from and where it goes to.

# %%
run = move(diagonal, mm.DMM(4, 3), small, p=64, trace=True)
print(run.profile())

# %% [markdown]
# The first warp's read and its write (`b` begins at address 64):

# %%
first_write = len(run.trace.dispatches) // 2
mm.figures.access(run, [0, first_write]).figure

# %% [markdown]
# Back to $w = 32$ and 64 by 64. The plain way took many times the price of a copy. And the
# diagonal?

# %%
print("copy:", price, " plain:", plain.time)
guess = None  # time units of the diagonal transpose on the DMM

# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
predicted(guess, move(diagonal, dmm).time)

# %% [markdown]
# This is Lemma 5.1 of SMM. Its proof counts one round at each step, where the program has two, a
# read and a write. The simulator keeps such claims as printed and as corrected, and tries both on
# many machines:

# %%
claims = {claim.id: claim for claim in registered()}
for name in ("SMM-L5.1.printed", "SMM-L5.1"):
    verdict = verify_claim(claims[name])
    print(f"{verdict.statement:24} {verdict.result}, {verdict.cases} cases")

# %% [markdown]
# And on the UMM? The plain program had a bad read and a good write there, as on the DMM:

# %%
print("plain, on the UMM:", move(straightforward, umm).time)
guess = None  # time units of the diagonal transpose on the UMM

# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
predicted(guess, move(diagonal, umm).time)

# %%
print(move(diagonal, umm))

# %% [markdown]
# The cure of one machine is the poison of the other: on a diagonal every word has its own row, so
# now the write has $w$ address groups as well.
#
# ### Exercise 2
#
# Lemma 5.1 says "regardless of $n$", which holds where $w$ divides $\sqrt n$. On a DMM with $w = 9$
# and a matrix of 12 by 12, 36 threads: how many stages does the worst request of `diagonal` take?

# %% name="2" tags=["exercise"]
answer_2 = ...  # stages

# %%
odd = move(diagonal, mm.DMM(9, 1), square(12), p=36, trace=True)
check(answer_2, max(one.stage_count for one in odd.trace.dispatches), unit="stages")

# %% [markdown]
# ## 4. Second way out: registers, on the UMM
#
# A UMM wants whole rows, for reading and for writing. So a warp takes a tile of $w$ by $w$ words,
# *keeps* it in its registers, which cost nothing, and writes it in another order. The trick is that
# thread $i$ begins at column $i$, so that no thread holds two words of one row of the result (SMM,
# section 5, the rotating technique).

# %%
tile = np.arange(16).reshape(4, 4)
run = mm.UMM(4, 3).run(umm_transpose.rotating, tile, np.zeros_like(tile), threads=4, trace=True)
assert (run.arrays["b"] == tile.T).all()
assert run.time == 2 * 3 * 4  # 2lw
print(run.profile())

# %% [markdown]
# A single warp can't hide the latency; every request waits for the one before: $2wl$. For a large
# matrix each warp takes a tile, and all warps work at the same time. `direct` writes each tile
# immediately where it belongs. That takes as long as a copy with just as many threads:

# %%
tiles = n // (w * w)
with_registers = umm_transpose.transpose(
    umm, matrix, threads=tiles * w, program=umm_transpose.direct
)
assert (with_registers.arrays["b"] == matrix.T).all()
of_a_copy = umm.run(copy, flat, np.zeros_like(flat), threads=tiles * w)
print("transpose:", with_registers.time, " copy with as many threads:", of_a_copy.time)
papers_own = umm_transpose.transpose(umm, matrix, threads=tiles * w)
print("the paper's own program:", papers_own.time)

# %% [markdown]
# But each warp holds $w^2$ words, so there is at most a warp for each tile:
# few threads, and the latency shows. (The paper's own program first transposes each tile in its
# place and then swaps tiles. SMM, Lemma 5.2; `direct` is SMM-L5.2.direct in [the
# ledger](../docs/ledger.md).)
#
# ### Exercise 3
#
# `direct` with a warp for each tile, $w = 32$, $l = 10$, but a matrix of 256 by 256. How many time
# units?

# %% name="3" tags=["exercise"]
answer_3 = ...  # time units

# %%
large = square(256)
run = umm_transpose.transpose(umm, large, threads=large.size // w, program=umm_transpose.direct)
check(answer_3, run.time, unit="time units")

# %% [markdown]
# ## 5. Third way out: shared memory, on the HMM
#
# The HMM has both: a global memory that is a UMM, and $d$ DMMs, each with a shared memory, whose
# latency is 1. So read rows of a tile from the global memory, turn the tile in the shared memory,
# where columns are allowed, and write rows (ICPP, International Conference on Parallel Processing
# 2013, section V).

# %%
hmm = mm.HMM(dmms=1, width=w, global_latency=l)
shared = hmm_transpose.transposed(hmm, matrix)
assert (shared.arrays["b"] == matrix.T).all()
print(shared.profile())

# %% [markdown]
# In the tile $\alpha$ the word $(i, j)$ lies at column $(i + j) \bmod w$: the diagonal again, so
# that rows and columns are both conflict-free.
#
# With one DMM it takes the time below. With two, the global memory stays the same, and the shared
# memories share the work. How much does that save? Guess the new time.

# %%
print("one DMM:", shared.time)
guess = None  # time units with two DMMs

# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
predicted(guess, hmm_transpose.transposed(mm.HMM(2, w, l), matrix).time)

# %% [markdown]
# Two global rounds of $n/w + L - 1$ and two shared rounds of $n/(dw)$:
#
# $$2\frac{n}{w} + 2\frac{n}{dw} + 2L - 2.$$
#
# (ICPP, Lemma 5, counts $n/w$ for a shared round, which is right for one DMM.)

# %%
for d in (1, 2, 4):
    time = hmm_transpose.transposed(mm.HMM(d, w, l), matrix).time
    assert time == 2 * n / w + 2 * n / (d * w) + 2 * l - 2
    print(f"d = {d}: {time}")

# %% [markdown]
# Watch two DMMs turn a small matrix, tile by tile: rows out of the global memory, rows into it, and
# diagonals in the shared memories.

# %%
watched = mm.HMM(dmms=2, width=4, global_latency=5).run(
    hmm_transpose.transpose,
    np.arange(32).reshape(8, 4),
    np.zeros((4, 8), dtype=int),
    4,
    threads=32,
    block_size=16,
    schedule="asynchronous",
    trace=True,
)
watched.trace.player()

# %% [markdown]
# The same in a laboratory, where you can change the program, the sizes and the machine. What
# becomes of the shared rounds without the diagonal, when the tile's columns are those of the
# matrix?

# %%
mm.lab(
    hmm_transpose.transpose,
    np.arange(32).reshape(8, 4),
    np.zeros((4, 8), dtype=int),
    4,
    threads=32,
    block_size=16,
    machine=mm.HMM(dmms=2, width=4, global_latency=5),
)

# %% [markdown]
# ### Exercise 4
#
# A matrix of 128 by 128, $w = 32$, global latency 100, 8 DMMs: how many time units does the
# transpose through shared memory take?

# %% name="4" tags=["exercise"]
answer_4 = ...  # time units

# %%
eight = hmm_transpose.transposed(mm.HMM(8, 32, 100), square(128))
check(answer_4, eight.time, unit="time units")

# %% [markdown]
# ## 6. All together
#
# A table of what you have seen, for the 64 by 64 matrix and $w = 32$. (The HMM has a thread for
# each word, `direct` a warp for each tile, the others 1024 threads.)

# %%
block = {"threads": n, "block_size": w * w}
hmm_copy = hmm.run(copy, flat, np.zeros_like(flat), **block)
hmm_plain = hmm.run(straightforward, matrix, np.zeros_like(matrix), **block)
table = {
    "copy": (price, price, hmm_copy.time),
    "plain": (plain.time, move(straightforward, umm).time, hmm_plain.time),
    "diagonal": (move(diagonal, dmm).time, move(diagonal, umm).time, None),
    "registers": (None, with_registers.time, None),
    "shared memory": (None, None, shared.time),
}
print(f"{'':14}{'DMM':>6}{'UMM':>6}{'HMM':>6}")
for name, times in table.items():
    print(f"{name:14}" + "".join(f"{'' if time is None else time:>6}" for time in times))

# %% [markdown]
# ### Exercise 5
#
# Instead of the diagonal one often sees a *padded* tile: rows of $w + 1$ words in the shared
# memory. The program below has a plain tile. Fix it by padding, so that no access is casual. (Here
# the warps of a block don't go in lock step, so keep the barrier.)


# %% name="5" tags=["exercise"]
@mm.program
def padded(T, a, b, w):
    alpha = mm.shared((w, w))
    I, J = T.block // (a.shape[1] // w), T.block % (a.shape[1] // w)
    i, j = T.index // w, T.index % w
    alpha[i, j] = a[I * w + i, J * w + j]
    T.barrier()
    b[J * w + i, I * w + j] = alpha[j, i]


answer_5 = ...  # write padded here, when you are done


# %%
def transposes_in_tiles(program):
    a = np.arange(128).reshape(8, 16)
    run = mm.HMM(2, 4, 10).run(
        program,
        *(a, np.zeros((16, 8), dtype=int), 4),
        threads=128,
        block_size=16,
        schedule="asynchronous",
        check=True,
    )
    if run.findings:
        return f"there is a race between the lines {run.findings[0].lines}"
    if not (run.arrays["b"] == a.T).all():
        return "b isn't the transpose of a"
    casual = [row for row in run.accesses if row.access_class == "casual"]
    return f"the {casual[0].kind} of {casual[0].array} has conflicts" if casual else None


check(answer_5, transposes_in_tiles)

# %% [markdown]
# ### Exercise 6
#
# Transpose *in place* on a DMM: `a` becomes its own transpose, without a second array. There is a
# thread for each word, all in one block. No access may be casual, and there may be no race, so
# think of the barrier.


# %% name="6" tags=["exercise"]
@mm.program
def in_place(T, a):
    rows = a.shape[0]
    j, k = T.id // rows, T.id % rows
    a[j, k] = a[k, j]  # right in lock step only, and with conflicts


answer_6 = ...  # write in_place here, when you are done


# %%
def transposes_in_place(program):
    a = np.arange(256).reshape(16, 16)
    run = mm.DMM(8, 5).run(program, a, threads=256, schedule="asynchronous", check=True)
    if run.findings:
        return f"there is a race between the lines {run.findings[0].lines}"
    if not (run.arrays["a"] == a.T).all():
        return "a isn't transposed"
    casual = [row for row in run.accesses if row.access_class == "casual"]
    return f"the {casual[0].kind} of line {casual[0].line} has conflicts" if casual else None


check(answer_6, transposes_in_place)

# %% [markdown]
# ## What to take home
#
# - A transpose has a row on one side and a column on the other; the column costs.
# - DMM: go along diagonals, and it costs as much as a copy.
# - UMM: keep a tile in registers, and read and write rows; it costs as much as a copy with as few
#   threads.
# - HMM: turn the tile in the shared memory; the global memory sees rows only.
#
# Next: [any permutation at all, without a conflict](04-conflict-free-permutation.ipynb).
#
# *Sources: SMM, section 5; ICPP, section V. Claims SMM-ST, SMM-L5.1, SMM-ROT, SMM-L5.2.direct and
# ICPP-L5.d in [the ledger](../docs/ledger.md).*
