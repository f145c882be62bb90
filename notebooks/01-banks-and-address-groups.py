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
# # Why is one access to memory slower than another?
#
# Thirty-two threads read thirty-two words. On one GPU, with one program, that may take one step or
# thirty-two: all depends on *which* words. Here you learn which, on the two simplest machines
# there are: the **DMM** (Discrete Memory Machine, as a GPU's shared memory) and the **UMM**
# (Unified Memory Machine, as its global memory).
#
# You need a little Python, and nothing from before. About 90 minutes: banks and groups 15, requests
# 20, strides 20, who wins 10, exercises 25.

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

# %% [markdown]
# ## 1. One memory, seen in two ways
#
# A memory has *width* $w$. Write its addresses in rows of $w$:

# %%
w = 4
addresses = np.arange(16).reshape(-1, w)
print(addresses)
print("bank 2:         ", addresses[:, 2])
print("address group 2:", addresses[2])

# %% [markdown]
# A **column** is a *bank*: the addresses that are equal modulo $w$. A **row** is an *address
# group*: the addresses that are equal after division by $w$.
#
# - The **DMM** serves in one time unit one word of *each bank*, wherever it lies in it.
# - The **UMM** serves in one time unit *one address group*, all of its words.
#
# Threads come in *warps* of $w$, and the threads of a warp ask at the same time. If the memory
# can't serve them together, it serves them in several *stages*, in turn. On the DMM the number of
# stages is that of the different words in the fullest bank (the *congestion*). On the UMM it is
# the number of different groups. (SMM, *Simple Memory Machine Models*, section 2.)
#
# ## 2. A request
#
# In this program every thread asks for one word; a list says which one.


# %%
@mm.program
def read(T, m, asked):
    m[asked[T.id]]


def ask(machine, *warps):
    """What happens when the threads of each warp ask for these addresses."""
    asked = np.array(warps).ravel()
    return machine.run(read, np.arange(asked.max() + 1), asked, threads=asked.size, trace=True)


def requests(run):
    """The numbers of the requests for m; those for the list `asked` are not the matter here."""
    return [number for number, one in enumerate(run.trace.dispatches) if one.array == "m"]


def stages(run):
    """How many stages each warp's request for m took."""
    return [run.trace.dispatches[number].stage_count for number in requests(run)]


def time(run):
    """How long it took to serve all requests for m: the round of its reading."""
    (reading,) = [round for round in run.rounds if round.array == "m"]
    return reading.time


# %% [markdown]
# The example is from the paper that introduces both machines (SMM, Figure 4): $w = 4$, and each
# word takes $l = 3$ time units to come (the *latency*). The stages of all warps enter the memory
# in consecutive time units, and the last still needs $l - 1$ time units more. So all
# is done after
#
# $$\text{the sum of all stages} + l - 1.$$
#
# Warp 0 asks for the addresses 0, 1, 10, 6, warp 1 for 8, 9, 14, 15. How long does it take on the
# DMM? Mark the addresses in the table above, count, and only then go on.

# %%
figure_4 = ([0, 1, 10, 6], [8, 9, 14, 15])
guess = None  # time units on the DMM

# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
on_banks = ask(mm.DMM(width=4, latency=3), *figure_4)
predicted(guess, time(on_banks))

# %% [markdown]
# In the drawing a column is a bank and a row an address group. Below are the stages in the order
# of their entry. T2 and T3 want two words of one bank, so one of them has to wait.

# %%
print("stages of each warp:", stages(on_banks))
mm.figures.access(on_banks, requests(on_banks)).figure

# %% [markdown]
# The same request on the UMM. Now rows count, not columns.

# %%
guess = None  # time units on the UMM

# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
on_groups = ask(mm.UMM(width=4, latency=3), *figure_4)
predicted(guess, time(on_groups))

# %%
print("stages of each warp:", stages(on_groups))
assert time(on_groups) == sum(stages(on_groups)) + 3 - 1
mm.figures.access(on_groups, requests(on_groups)).figure

# %% [markdown]
# See it happen: step with the arrow keys (click into the player first), and watch the stages move
# through the pipeline registers. The player's clock ends at 9, not at 5, because it also shows how
# the program gets its addresses. In the first 4 time units the two warps read the list. In the
# other 5 they send the requests that you know.

# %%
for round in on_banks.rounds:
    print(f"reading {round.array}: {round.time} time units")
assert on_banks.time == sum(round.time for round in on_banks.rounds) == 9
on_banks.trace.player()

# %% [markdown]
# Now change something: an address in the list, the machine, its width, or the program. This is a
# *laboratory*. It runs the program in the page, at once, and needs no Python. Which addresses take
# one stage a warp on both machines?

# %%
asked = np.array(figure_4).ravel()
mm.lab(read, np.arange(16), asked, threads=8, machine=mm.DMM(width=4, latency=3))

# %% [markdown]
# ### Exercise 1
#
# Another paper's example (ICPP, International Conference on Parallel Processing 2013, Figure 3):
# $w = 4$, $l = 5$; warp 0 asks for 7, 5, 15, 0, warp 1 for 10, 11, 12, 9. Give the time on the DMM
# and the time on the UMM, as a pair.

# %% name="1" tags=["exercise"]
answer_1 = ...  # (on the DMM, on the UMM)

# %%
figure_3 = ([7, 5, 15, 0], [10, 11, 12, 9])
check(answer_1, (time(ask(mm.DMM(4, 5), *figure_3)), time(ask(mm.UMM(4, 5), *figure_3))))

# %% [markdown]
# ## 3. Asking for the same
#
# All four threads of a warp ask for address 5, on the DMM. One bank, four requests. How many
# stages?

# %%
guess = None  # stages

# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
(same_word,) = stages(ask(mm.DMM(4, 3), [5, 5, 5, 5]))
predicted(guess, same_word)

# %% [markdown]
# Requests of one warp for one address *merge* into one: the word is sent to all that asked. Only
# **different** words of one bank conflict.

# %%
for wanted in ([5, 5, 5, 5], [5, 9, 5, 9], [1, 5, 9, 13], [4, 5, 6, 7], [4, 9, 14, 3]):
    (banks,), (groups,) = (stages(ask(machine, wanted)) for machine in (mm.DMM(4, 3), mm.UMM(4, 3)))
    print(f"{wanted!s:16} stages on the DMM {banks}, on the UMM {groups}")

# %% [markdown]
# The papers have names for it (ICPP, section III). An access is
#
# - **coalesced** on a UMM if every request goes to one address group,
# - **conflict-free** on a DMM if no request wants two different words of one bank,
# - **casual** otherwise, on either.
#
# A run reports the class of each access, its stages, and the least possible number.

# %%
print(ask(mm.DMM(4, 3), [4, 9, 14, 3]))
print(ask(mm.UMM(4, 3), [4, 9, 14, 3]))

# %% [markdown]
# ### Exercise 2
#
# Find four addresses, below 64, that take one stage on a DMM of width 4 and four stages on a UMM of
# width 4. Not the ones from above.

# %% name="2" tags=["exercise"]
answer_2 = ...  # a list of four addresses


# %%
def easy_on_banks_only(wanted):
    if np.shape(wanted) != (4,) or min(wanted) < 0 or max(wanted) >= 64:
        return f"{wanted} are not four addresses below 64"
    if sorted(wanted) == [3, 4, 9, 14]:
        return "these are the ones from above"
    found = [*stages(ask(mm.DMM(4, 3), wanted)), *stages(ask(mm.UMM(4, 3), wanted))]
    return None if found == [1, 4] else f"{wanted} take {found[0]} and {found[1]} stages"


check(answer_2, easy_on_banks_only)

# %% [markdown]
# ### Exercise 3
#
# And the other way round: is there a request that is fine on the UMM, one stage, but has a conflict
# on the DMM? The machine tries *all* requests of three threads for nine words, $w = 3$.

# %% name="3" tags=["exercise"]
answer_3 = ...  # True or False

# %%
everything = np.stack(np.meshgrid(*[range(9)] * 3), axis=-1).reshape(-1, 3)
banks = np.array(stages(ask(mm.DMM(3, 1), *everything)))
groups = np.array(stages(ask(mm.UMM(3, 1), *everything)))
check(answer_3, bool(np.any((groups == 1) & (banks > 1))))

# %% [markdown]
# ## 4. Strides
#
# The access that you will meet most: thread $i$ asks for word $s \cdot i$, with a fixed *stride*
# $s$. The words of a row have stride 1, those of a column have the length of a row, the same field
# of many records has the size of a record.


# %%
@mm.program
def strided(T, m, s):
    m[s * T.id]


def with_stride(machine, s):
    """One warp reads with stride s."""
    return machine.run(strided, np.zeros(s * machine.width), s, threads=machine.width)


# %% [markdown]
# On a DMM of width 8, how many stages does stride 6 take? (A machine of latency 1 needs as many
# time units as stages.)

# %%
guess = None  # stages

# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
predicted(guess, with_stride(mm.DMM(8, 1), 6).time)

# %% [markdown]
# Now all strides up to 32, at the width of a real GPU. It looks wild, but it is a function that you
# know.

# %%
strides = list(range(1, 33))
runs = [with_stride(mm.DMM(32, 1), s) for s in strides]
axes = mm.figures.times(strides, runs, lambda s: gcd(s, 32), symbol="s", name=r"$\gcd(s, w)$")
axes.figure

# %% [markdown]
# The addresses $0, s, 2s, \dots$ come back to their first bank after $w / \gcd(s, w)$ steps. So
# only so many banks are in use, with $\gcd(s, w)$ words in each. On the UMM it is simpler: the
# further apart, the more groups, until every word has its own. (SMM, section 3, Theorem 3.1.)

# %%
for s in range(1, 65):
    assert with_stride(mm.DMM(32, 1), s).time == gcd(s, 32)
    assert with_stride(mm.UMM(32, 1), s).time == min(s, 32)
for s in (1, 2, 3, 31, 32, 33):
    print(f"stride {s:2}: DMM {with_stride(mm.DMM(32, 1), s).time:2} stages, ", end="")
    print(f"UMM {with_stride(mm.UMM(32, 1), s).time:2}")

# %% [markdown]
# A DMM of 32 banks forgives every odd stride; a UMM forgives none.
#
# ### Exercise 4
#
# A matrix has rows of 12 words. A warp reads a column of it, on a DMM with $w = 8$. Leave some
# words at the end of each row empty (*padding*). What is the shortest length of a row that makes
# the access conflict-free?

# %% name="4" tags=["exercise"]
answer_4 = ...  # words in a row, at least 12

# %%
shortest = next(row for row in range(12, 99) if with_stride(mm.DMM(8, 1), row).time == 1)
check(answer_4, shortest, unit="words")

# %% [markdown]
# ## 5. Who wins?
#
# Writing costs what reading costs. But if several threads write to one address, what stays? Within
# a warp the thread with the lowest number wins. Of two warps the one served later overwrites the
# other.
#
# Eight threads, in warps of four, all write their number into the same word. What is in it at the
# end?


# %%
@mm.program
def all_at_once(T, m):
    m[0] = T.id


# %%
guess = None  # the number in m[0]

# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
run = mm.DMM(4, 3).run(all_at_once, np.array([-1]), threads=8, check=True)
predicted(guess, run.arrays["m"][0])

# %% [markdown]
# Don't build on it: on a GPU the warps may come in another order. Run with `check=True` and the
# simulator says so.

# %%
(race,) = run.findings
print(race.array, race.index, "threads", race.threads)

# %% [markdown]
# ## 6. Exercises: write it yourself
#
# Eight threads, and 64 words in rows of 8; thread $i$ adds up row $i$. Each step reads a *column*,
# and $w = 8$.


# %%
@mm.program
def sums(T, a, total):
    x = 0
    for t in range(8):
        x += a[T.id * 8 + t]
    total[T.id] = x


a = np.random.default_rng(seed=1).integers(0, 100, 64)
machine = mm.DMM(width=8, latency=2)
slow = machine.run(sums, a, np.zeros(8, dtype=int), threads=8)
assert (slow.arrays["total"] == a.reshape(8, 8).sum(axis=1)).all()
print(slow.profile())

# %% [markdown]
# ### Exercise 5
#
# Fix it by padding: 64 threads copy `a` to `b`, which has more room, and leave a hole after every
# row; then eight threads add. (`T.barrier()` lets no thread go on before all have copied.) Two
# indices of `b` are wrong: they leave no holes. Change them so that no access is casual. `b` has
# 128 words.


# %% name="5" tags=["exercise"]
@mm.program
def padded_sums(T, a, b, total):
    b[T.id] = a[T.id]  # change this
    T.barrier()
    if T.id < 8:
        x = 0
        for t in range(8):
            x += b[T.id * 8 + t]  # and this
        total[T.id] = x


answer_5 = ...  # write padded_sums here, when you are done


# %%
def what_is_wrong(run):
    """What is wrong with a run that should add up the rows without a conflict; None if nothing."""
    if not (run.arrays["total"] == a.reshape(8, 8).sum(axis=1)).all():
        return f"the sums are {run.arrays['total']}"
    casual = [row for row in run.accesses if row.access_class == "casual"]
    return f"line {casual[0].line} still has conflicts" if casual else None


def adds_with_padding(program):
    spare, total = np.zeros(128, dtype=int), np.zeros(8, dtype=int)
    return what_is_wrong(machine.run(program, a, spare, total, threads=64))


check(answer_5, adds_with_padding)

# %% [markdown]
# ### Exercise 6
#
# The same without spare memory, and without copying: eight threads, `a` as it is. Each thread has
# to read all 8 words of its row, but the order is free.


# %% name="6" tags=["exercise"]
@mm.program
def rotated_sums(T, a, total):
    x = 0
    for t in range(8):
        x += a[T.id * 8 + t]  # change this
    total[T.id] = x


answer_6 = ...  # write rotated_sums here, when you are done


# %%
def adds_in_turn(program):
    return what_is_wrong(machine.run(program, a, np.zeros(8, dtype=int), threads=8))


check(answer_6, adds_in_turn)

# %% [markdown]
# ## What to take home
#
# - A warp's request costs stages: words in the fullest bank (DMM), or address groups (UMM).
# - Equal addresses cost nothing more. Strides cost $\gcd(s, w)$, or $\min(s, w)$.
# - A conflict isn't fate: pad, or change the order.
#
# Next: [latency, and how warps hide it](02-latency-and-warps.ipynb).
#
# *Sources: SMM is Nakano's paper on simple memory machine models, ICPP that of Kasagi, Nakano and
# Ito on offline permutation on the HMM (Hierarchical Memory Machine). All rules are in [the
# machines](../docs/machines.md).*
