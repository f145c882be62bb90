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
# # How many warps does it take to hide the latency?
#
# A word takes 100 time units to come from the memory. Can a machine all the same read a word for
# every thread of a warp in every time unit? Here you watch requests travel through the pipeline of
# a memory, find out when it is full and when it runs dry, and for what warps wait.
#
# You need stages and conflict-free access from [notebook 1](01-banks-and-address-groups.ipynb).
# About 90 minutes: one round 15, lock step 15, warps on their own 20, hiding 15, barriers 10,
# exercises 15 (the last one for home).

# %%
try:
    from classroom import check, predicted

    import mmsim as mm
except ModuleNotFoundError as error:
    needed = "mmsim installed, and classroom.py and sealed.py in its folder"
    raise ImportError(f"{error}: this notebook needs {needed}") from None

# %matplotlib inline
# %config InlineBackend.figure_formats = ["svg"]
from collections import Counter

import numpy as np

from mmsim_algorithms.access import contiguous, stride

# %% [markdown]
# ## 1. One round
#
# All programs of the first half only read, without any conflict: at step $t$ thread $i$ of $p$
# reads word $tp + i$ of $n$. This is the papers' *contiguous access* (SMM, *Simple Memory Machine
# Models*, section 3).


# %%
def read(machine, n, p, schedule="synchronous", trace=True):
    """p threads read n words."""
    return machine.run(contiguous, np.zeros(n), threads=p, schedule=schedule, trace=trace)


w, l = 4, 5
machine = mm.DMM(width=w, latency=l)
print(read(machine, n=16, p=4).profile())

# %% [markdown]
# A single warp that reads a single word for each of its threads takes $l$ time units: its one stage
# passes through $l$ pipeline registers. Four warps, one read each: how long?

# %%
print("one warp:", read(machine, n=4, p=4).time)
guess = None  # time units for four warps

# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
one_round = read(machine, n=16, p=16)
predicted(guess, one_round.time)

# %% [markdown]
# In every time unit one stage enters the first register, and all others move on by one. The number
# is that of the warp.

# %%
mm.figures.pipeline(one_round).figure

# %% [markdown]
# In a *round* $p/w$ warps send one conflict-free request each. So a round takes
#
# $$\frac{p}{w} + l - 1.$$

# %%
for p in (4, 8, 16, 40, 400):
    assert read(machine, n=p, p=p).time == p // w + l - 1

# %% [markdown]
# ### Exercise 1
#
# A DMM (Discrete Memory Machine) with $w = 32$ and $l = 100$; 1024 threads read one word each. How
# long does it take?

# %% name="1" tags=["exercise"]
answer_1 = ...  # time units

# %%
check(answer_1, read(mm.DMM(32, 100), n=1024, p=1024).time, unit="time units")

# %% [markdown]
# ## 2. Lock step
#
# Now $n$ words and $p$ threads, so that each thread reads $n/p$ words. If all threads go in lock
# step (the *synchronous* schedule, which the papers' formulas count), the next round begins when
# the last request of this one is complete.

# %%
lock_step = read(machine, n=64, p=16)
mm.figures.pipeline(lock_step).figure

# %% [markdown]
# Look at the gaps: before each round the pipeline runs dry. Four warps fill four places of five,
# and then everybody waits for the last stage to come out. There are $n/p$ rounds, so the whole
# takes
#
# $$\left(\frac{p}{w} + l - 1\right) \frac{n}{p} = \frac{n}{w} + \frac{n (l - 1)}{p}.$$
#
# The first term is bandwidth: $w$ words in a time unit. The second is latency, and threads help
# against it. (SMM, Theorem 3.1. In its proof the paper prints $n/w$ for the $p/w$ of one round; the
# result in $O$ is right. See [the ledger](../docs/ledger.md), SMM-T3.1a.)
#
# Take a machine with $w = 8$, $l = 20$, and 1024 words. One warp of 8 threads needs the time below.
# And two warps?

# %%
large = mm.DMM(width=8, latency=20)
n = 1024
print("one warp:", read(large, n, p=8).time)
guess = None  # time units for two warps

# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
predicted(guess, read(large, n, p=16).time)

# %% [markdown]
# Nearly half. And so on, for a while:

# %%
threads = [8, 16, 32, 64, 128, 256, 512, 1024]
runs = [read(large, n, p, trace=False) for p in threads]
axes = mm.figures.times(
    threads, runs, lambda p: n / 8 + n * (20 - 1) / p, symbol="p", name="$n/w + n(l-1)/p$"
)
axes.axhline(n / 8, color="gray", linewidth=0.8)  # the bandwidth: n/w
axes.figure

# %% [markdown]
# The grey line is $n/w$: no schedule gets below it, for only $w$ words come out in a time unit.
#
# ### Exercise 2
#
# The same machine ($w = 8$, $l = 20$), lock step, but $n = 4096$. What is the smallest *power of
# two* $p$ with which the time is at most $2n/w$?

# %% name="2" tags=["exercise"]
answer_2 = ...  # threads

# %%
powers = [2**k for k in range(3, 13)]
few = next(p for p in powers if read(large, 4096, p, trace=False).time <= 2 * 4096 // 8)
check(answer_2, few, unit="threads")

# %% [markdown]
# ## 3. Every warp on its own
#
# But why should a warp wait for the others? Under the *asynchronous* schedule each sends its next
# request as soon as its own last one is complete, and whenever the memory is free it takes the next
# ready warp *in turn*.
#
# In lock step the run above took the time below. How long does it take if every warp goes on its
# own? ($w = 4$, $l = 5$, four warps, four reads each.)

# %%
print("lock step:", lock_step.time)
guess = None  # time units, every warp on its own

# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
own = read(machine, n=64, p=16, schedule="asynchronous")
predicted(guess, own.time)

# %%
mm.figures.pipeline(own).figure

# %% [markdown]
# Warp 0 is ready again after $l = 5$ time units, but four warps keep the memory busy for four only:
# one place in five stays empty. A fifth warp would fill it.
#
# What does a warp do all the time? Either its own request is under way (*latency*), or it is ready
# and another's turn has come (*turn*), or, in lock step, it waits for the round to end (*round*).

# %%
mm.figures.warps(lock_step).figure

# %%
mm.figures.warps(own).figure


# %%
def waiting(run):
    """How long all warps together waited, by reason."""
    total = Counter()
    for wait in run.trace.waits:
        total[wait.reason] += wait.end - wait.start
    return dict(total)


print("lock step:  ", waiting(lock_step))
print("on their own", waiting(own))

# %% [markdown]
# ### Exercise 3
#
# Three warps on a machine with $w = 4$, $l = 7$, each on its own, five reads each (so $p = 12$, $n
# = 60$). How long does it take? Draw it, if you like, as above.

# %% name="3" tags=["exercise"]
answer_3 = ...  # time units

# %%
three = read(mm.DMM(4, 7), n=60, p=12, schedule="asynchronous")
check(answer_3, three.time, unit="time units")

# %% [markdown]
# ## 4. Enough warps
#
# The pipeline has $l$ places, and each warp fills one. So with $l$ warps, that is $p = wl$ threads,
# it is always full, and the latency is *hidden* (SMM, section 4).
#
# With $w = 4$, $l = 5$ and 20 threads, 320 words take the time below. What if we double the threads
# to 40?

# %%
print("20 threads:", read(machine, n=320, p=20, schedule="asynchronous").time)
guess = None  # time units with 40 threads

# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
predicted(guess, read(machine, n=320, p=40, schedule="asynchronous").time)

# %% [markdown]
# More threads than $wl$ only stand in the queue. The time is
#
# $$\frac{n}{w} + l - 1 \quad\text{if } p \ge wl,\qquad
# \frac{nl}{p} + \frac{p}{w} - 1 \quad\text{if } p < wl.$$


# %%
def formula(n, p, w, l):
    return n / w + l - 1 if p >= w * l else n * l / p + p / w - 1


warps = [1, 2, 3, 4, 5, 6, 8, 10, 12]
n = 4 * 360
runs = [read(machine, n, w * k, schedule="asynchronous", trace=False) for k in warps]
axes = mm.figures.times(
    warps, runs, lambda k: formula(n, w * k, w, l), symbol="p/w", name="formula"
)
axes.axvline(l, color="gray", linewidth=0.8)  # as many warps as the latency
for k, run in zip(warps, runs, strict=True):
    assert run.time == formula(n, w * k, w, l)
axes.figure

# %% [markdown]
# On either machine no program that needs $n$ words can be faster than $\max(n/w + l - 1,\; nl/p)$:
# the *bandwidth limitation* and the *latency limitation* (SMM, Theorem 4.1). We are at most
# $p/w - 1$ above it:

# %%
for k, run in zip(warps, runs, strict=True):
    bound = max(n / w + l - 1, n * l / (w * k))
    print(f"{k:2} warps: {run.time:4} time units, no less than {bound:.0f}")
    assert bound <= run.time <= bound + k - 1

# %% [markdown]
# Conflicts break the picture: a request of $k$ stages fills $k$ places, so fewer warps fill the
# pipeline, with waste.

# %%
conflicts = machine.run(stride, np.zeros(32), threads=8, schedule="asynchronous", trace=True)
print("two warps, stride 4, least stages:", sum(row.least for row in conflicts.accesses))
print("stages:", conflicts.stages, " time:", conflicts.time)
mm.figures.pipeline(conflicts).figure

# %% [markdown]
# ### Exercise 4
#
# A DMM with $w = 4$ and $l = 5$; 15 warps, each on its own, read 4 words per thread. For what do
# the warps wait longest, all together: `"turn"` or `"latency"`?

# %% name="4" tags=["exercise"]
answer_4 = ...  # "turn" or "latency"

# %%
waits = waiting(read(machine, n=240, p=60, schedule="asynchronous"))
check(answer_4, max(waits, key=waits.get))

# %% [markdown]
# ## 5. Waiting for each other
#
# Most programs can't let every warp run off: what one writes another reads. A *barrier* makes each
# warp wait until all are there. Adding up the words of an array is the simplest case: the upper
# half is added to the lower half, again and again.


# %%
@mm.program
def tree(T, a):
    k = T.count
    while k > 0:
        if T.id < k:
            a[T.id] += a[T.id + k]
        T.barrier()
        k //= 2


# %%
a = np.random.default_rng(seed=2).integers(0, 100, 1024)
small = machine.run(tree, a[:32], threads=16, schedule="asynchronous", trace=True)
assert small.arrays["a"][0] == a[:32].sum()
print(small.time, "time units:", waiting(small))
mm.figures.warps(small).figure

# %%
small.trace.player()

# %% [markdown]
# In lock step a barrier is idle. A step of $k$ threads is three rounds (two reads, one write) of
# $\lceil k/w \rceil + l - 1$ time units, so the last steps, with hardly any thread left, cost
# nearly as much as a full one: the latency, three times. How many time units does the *last* step
# take, on the same machine?

# %%
guess = None  # time units of the step with k = 1

# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
steps = machine.run(tree, a[:32], threads=16)
predicted(guess, sum(round.time for round in steps.rounds[-3:]))

# %%
print([sum(round.time for round in steps.rounds[at : at + 3]) for at in range(0, 15, 3)])
assert steps.time == sum(3 * (-(-k // w) + l - 1) for k in (16, 8, 4, 2, 1))

# %% [markdown]
# And without the barrier? In lock step all is well. On their own some warps read what others
# haven't written yet. That the sum comes out right all the same is luck; `check=True` doesn't rely
# on luck.


# %%
@mm.program
def careless(T, a):
    k = T.count
    while k > 0:
        if T.id < k:
            a[T.id] += a[T.id + k]
        k //= 2


for schedule in ("synchronous", "asynchronous"):
    run = machine.run(careless, a, threads=512, schedule=schedule, check=True)
    right = run.arrays["a"][0] == a.sum()
    print(f"{schedule}: races {len(run.findings)}, the sum is {'right' if right else 'wrong'}")

# %% [markdown]
# ### Exercise 5
#
# In lock step, on a machine with $w = 4$ and $l = 5$: how long does `tree` take for 64 words with
# 32 threads?

# %% name="5" tags=["exercise"]
answer_5 = ...  # time units

# %%
check(answer_5, machine.run(tree, a[:64], threads=32).time, unit="time units")

# %% [markdown]
# ### Exercise 6
#
# A thousand words ($n = 1024$), $w = 8$, $l = 10$. `tree` takes 512 threads and has many steps,
# each with its latency. Be faster: let 128 threads first add up 8 words each, on their own, in a
# register (which costs nothing), and only then begin the tree. The sum has to end in `a[0]`, there
# may be no race, and in lock step it may take at most three quarters of `tree`'s time.


# %% name="6" tags=["exercise"]
@mm.program
def quick(T, a):
    x = 0
    # add up 8 words here
    a[T.id] = x
    T.barrier()
    # and here comes the tree


answer_6 = ...  # write quick here, when you are done

# %%
wide = mm.DMM(width=8, latency=10)
limit = wide.run(tree, a, threads=512).time * 3 / 4


def adds_quickly(program):
    run = wide.run(program, a, threads=128)
    if run.arrays["a"][0] != a.sum():
        return f"a[0] is {run.arrays['a'][0]}, and the sum is {a.sum()}"
    own = wide.run(program, a, threads=128, schedule="asynchronous", check=True)
    if own.findings:
        return f"there is a race between the lines {own.findings[0].lines}"
    return None if run.time <= limit else f"it takes {run.time}, and may take {limit:.0f}"


check(answer_6, adds_quickly)

# %% [markdown]
# ## What to take home
#
# - A round takes $p/w + l - 1$. In lock step the pipeline runs dry before each.
# - Warps on their own hide the latency if there are $l$ of them: $p \ge wl$.
# - No program beats $\max(n/w + l - 1, nl/p)$.
# - Steps with few threads pay the full latency. Do as much as you can between two barriers.
#
# Next: [transpose, three ways](03-transpose-three-ways.ipynb).
#
# *Source: SMM, sections 3 and 4. The formulas of both schedules are claims that the simulator
# checks: SMM-T3.1a, SMM-T4.1.hidden and SMM-T4.1.exposed in [the ledger](../docs/ledger.md).*
