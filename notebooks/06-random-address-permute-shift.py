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
# # Can chance spare us the bank conflicts?
#
# Whoever tunes a kernel knows the diagonal trick for the transpose ([notebook
# 3](03-transpose-three-ways.ipynb)) and the schedule for a permutation given beforehand
# ([notebook 4](04-conflict-free-permutation.ipynb)). But most programmers just write `b[j][i] =
# a[i][j]`. This notebook leaves the program as it is and shuffles the *memory*: where an element
# lies is drawn at random, once.
#
# You need banks, congestion and the transpose ([notebooks 1](01-banks-and-address-groups.ipynb)
# and [3](03-transpose-three-ways.ipynb)), and what an expected value is.
#
# About 90 minutes: one program under three layouts (25), why it works (15), balls in bins (20),
# an adversary and more dimensions (15), exercises (15).

# %%
try:
    from classroom import check, predicted

    import mmsim as mm
except ModuleNotFoundError as error:
    needed = "mmsim installed, and classroom.py and sealed.py in its folder"
    raise ImportError(f"{error}: this notebook needs {needed}") from None

# %matplotlib inline
# %config InlineBackend.figure_formats = ["svg"]
from itertools import permutations, product
from math import log

import matplotlib.pyplot as plt
import numpy as np

from mmsim_algorithms.rap import diagonal, stride
from mmsim_algorithms.rap.cases import stages
from mmsim_algorithms.rap.higher import ACCESSES as HIGHER_ACCESSES
from mmsim_algorithms.rap.higher import LAYOUTS as HIGHER_LAYOUTS
from mmsim_algorithms.rap.higher import random_numbers
from mmsim_algorithms.rap.max_load import expected_max_load
from mmsim_algorithms.rap.simulation import congestions, table_2

# %% [markdown]
# ## 1. One program, three layouts
#
# The transpose as everybody writes it first. It reads rows (*contiguous* access) and writes
# columns (*stride* access): CRSW in RAP section III.


# %%
@mm.program
def crsw(T, a, b):
    w = a.shape[0]
    i, j = T.id // w, T.id % w
    b[j, i] = a[i, j]


# %% [markdown]
# It doesn't say where element (i, j) *lies*. That is up to a layout, and `mm.place(data, layout)`
# sets it. Row i is w words, one in each bank, and the layouts here rotate it by a shift $r_i$, to
# the right:
#
# - **RAW**, row-major: $r_i = 0$.
# - **RAS**, random address shift: each $r_i$ is a separate random number.
# - **RAP**, random address permute-shift: r is one random *permutation* of 0 .. w - 1.
#
# Here is an 8 × 8 matrix under each. A column of the drawing is a bank; column 2 of the matrix,
# which one warp writes, is dark.

# %%
w = 8
layouts = {
    "RAW": mm.layout.RAW(),
    "RAS": mm.layout.RAS(w, seed=1),
    "RAP": mm.layout.RAP(w, seed=1),
}


# %% jupyter={"source_hidden": true} tags=["hide-input"]
def draw_layout(layout, w, column, axes):
    """The elements where they lie, those of one column of the matrix dark."""
    where = layout.offsets((w, w))
    dark = np.zeros(w * w)
    dark[where[:, column]] = 1
    axes.imshow(dark.reshape(w, w), cmap="Blues", vmax=1.6)
    for (i, j), offset in np.ndenumerate(where):
        axes.text(offset % w, offset // w, f"{i},{j}", ha="center", va="center", fontsize=7)
    axes.set_xticks(range(w))
    axes.set_yticks([])
    axes.set_xlabel("bank")
    axes.tick_params(labelsize=7)


# %% alt="Column 2 lies in one bank under RAW, in some under RAS, in all under RAP."
figure, panels = plt.subplots(1, 3, figsize=(9, 3.2))
for axes, (name, layout) in zip(panels, layouts.items(), strict=True):
    draw_layout(layout, w, 2, axes)
    load = np.bincount(layout.offsets((w, w))[:, 2] % w)
    axes.set_title(f"{name}: congestion {load.max()}", fontsize=9)
plt.show()

# %% [markdown]
# **Predict** the time of `crsw` on a DMM (Discrete Memory Machine) of width w = 8 and latency l =
# 5, with both matrices row-major. (There are w warps. It takes one round that reads and one that
# writes.)

# %%
guess = None  # time units


# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
def transpose(layout, w, l=5, trace=False):
    a = np.arange(w * w).reshape(w, w)
    b = np.zeros_like(a)
    a, b = mm.place(a, layout), mm.place(b, layout)
    run = mm.DMM(w, l).run(crsw, a, b, threads=w * w, trace=trace)
    assert np.array_equal(run.arrays["b"], run.arrays["a"].T)
    return run


predicted(guess, transpose(layouts["RAW"], w).time)

# %% [markdown]
# **Predict** the same under RAP.

# %%
guess = None  # time units

# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
predicted(guess, transpose(layouts["RAP"], w).time)

# %%
for name, layout in layouts.items():
    print(name, [(row.kind, row.array, row.stages) for row in transpose(layout, w).rounds])
for w, l in product((4, 8, 16, 32), (1, 5, 30)):
    assert transpose(mm.layout.RAW(), w, l).time == w * w + w + 2 * (l - 1)
    assert transpose(mm.layout.RAP(w, seed=1), w, l).time == 2 * (w + l - 1)

# %% [markdown]
# RAW takes $w^2 + w + 2(l - 1)$, RAP takes $2(w + l - 1)$, as little as the diagonal transpose
# (RAP Lemma 1 and Theorem 2). The program is unchanged. Watch the writes, in a smaller matrix:

# %%
transpose(mm.layout.RAP(4, seed=0), 4, 3, trace=True).trace.player()

# %% [markdown]
# In a laboratory you can give each array another layout, and another seed. The curve shows the
# time over the width, measured.

# %%
small = np.arange(64).reshape(8, 8)
placed = [mm.place(matrix, mm.layout.RAP(8)) for matrix in (small, np.zeros_like(small))]
mm.lab(crsw, *placed, threads=64, machine=mm.DMM(8, 3))

# %% [markdown]
# ### Exercise 1
#
# How long does `crsw` take under RAP for w = 16 and l = 7?

# %% name="1" tags=["exercise"]
answer_1 = ...  # time units

# %%
check(answer_1, transpose(mm.layout.RAP(16, seed=5), 16, 7).time, unit="time units")

# %% [markdown]
# ## 2. Why a permutation
#
# Under a shift r, element $(i, j)$ lies in bank $(j + r_i) \bmod w$.
#
# - *Contiguous*: i is fixed, j takes all values, so the bank takes all values. Congestion 1,
#   whatever r is.
# - *Stride*: j is fixed, i takes all values. The banks are $r_0, ..., r_{w-1}$, rotated by $j$.
#   They differ if the $r_i$ do, and that is what a permutation is.
#
# **Predict**: of all 24 permutations of 0 .. 3, under how many does `crsw` of a 4 × 4 matrix meet
# no conflict at all?

# %%
guess = None  # permutations

# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
runs = [transpose(mm.layout.RAP(4, shifts=r), 4) for r in permutations(range(4))]
predicted(guess, sum(all(row.wasted == 0 for row in run.rounds) for run in runs))

# %% [markdown]
# What are the dice good for, if all permutations are equally fine? For the *other* accesses. Take
# the shifts 7, 6, ..., 0 for an 8 × 8 matrix: as good as any for rows and columns. But look at
# its diagonals, and compare with shifts that are drawn.

# %%
w = 8
a = np.arange(w * w).reshape(w, w)


def congestion(access, layout):
    run = mm.DMM(w, 1).run(access, mm.place(a, layout), threads=w * w)
    return run.stages / run.requests


fixed = mm.layout.RAP(w, shifts=(7, 6, 5, 4, 3, 2, 1, 0))
for access in (stride, diagonal):
    found = [congestion(access, mm.layout.RAP(w, seed)) for seed in range(100)]
    print(f"{access.name:8}: fixed {congestion(access, fixed)}, drawn {np.mean(found)} on average")

# %% [markdown]
# Whoever fixes the shifts fixes an access that is as bad as can be. If they are drawn, no access
# is bad under every draw: what is left is bad luck.
#
# ### Exercise 2
#
# Find shifts, a permutation of 0 .. 7, under which the *anti*diagonals are as bad as can be: for
# each i, all the elements (j, (i - j) mod 8) lie in one bank. A list of 8 shifts.

# %% name="2" tags=["exercise"]
answer_2 = ...


# %%
@mm.program
def antidiagonal(T, a):
    w = a.shape[0]
    i, j = T.id // w, T.id % w
    a[j, (i - j) % w]


def wrong_shifts(answer):
    if sorted(answer) != list(range(8)):
        return "it isn't a permutation of 0 .. 7"
    a = mm.place(np.zeros((8, 8)), mm.layout.RAP(8, shifts=tuple(answer)))
    reached = mm.DMM(8, 1).run(antidiagonal, a, threads=64).stages
    return None if reached == 64 else f"the 8 requests take {reached} stages, not 64"


check(answer_2, wrong_shifts)

# %% [markdown]
# ## 3. Balls in bins
#
# How bad is luck on average? Under RAS each row has its own random shift, so the w words of a
# column fall into w banks like balls into bins, independently. The congestion is the load of the
# fullest bin.
#
# **Predict** its expected value for w = 32.

# %%
guess = None  # to one decimal

# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
predicted(guess, round(expected_max_load(32, 32), 1))

# %% [markdown]
# That number is computed exactly (`algorithms/rap/max_load.py`). Simulation has to agree: draw many
# layouts, look at one warp's congestion under each.

# %% alt="Congestion 3 and 4 are the most frequent in all three cases; above 6 it is rare."
w, samples = 32, 20_000
drawn = {
    (access, layout): congestions(access, layout, w, samples, np.random.RandomState(0))
    for access, layout in (("stride", "RAS"), ("diagonal", "RAP"), ("random", "RAP"))
}
figure, axes = plt.subplots(figsize=(6, 2.6))
for k, ((access, layout), found) in enumerate(drawn.items()):
    values, counts = np.unique(found, return_counts=True)
    name = f"{access} access under {layout}: mean {found.mean():.2f}"
    axes.bar(values + 0.27 * (k - 1), counts / samples, 0.25, label=name, hatch=["", "//", ".."][k])
axes.set(xlabel="congestion", ylabel="part of the draws", xticks=range(1, 10))
axes.legend(frameon=False)
plt.show()

# %%
mean, error = drawn["stride", "RAS"].mean(), drawn["stride", "RAS"].std() / samples**0.5
print(f"stride under RAS: {mean:.3f} ± {error:.3f}, exactly {expected_max_load(w, w):.3f}")
assert abs(mean - expected_max_load(w, w)) < 4 * error
print(f"never more than {max(found.max() for found in drawn.values())} of {w} in {samples} draws")

# %% [markdown]
# ### Exercise 3
#
# Under RAS with w = 4, how likely is it that a column of the matrix meets no conflict? A fraction
# or a decimal number. (The check looks at all 4⁴ shifts.)

# %% name="3" tags=["exercise"]
answer_3 = ...


# %% jupyter={"source_hidden": true} tags=["hide-input"]
def chance():
    free = 0
    for shifts in product(range(4), repeat=4):
        banks = mm.layout.RAS(4, shifts=shifts).offsets((4, 4))[:, 0] % 4
        free += len(set(banks.tolist())) == 4
    return free / 4**4


check(answer_3, chance(), atol=5e-4)

# %% [markdown]
# Now all four accesses of the paper, with its Table II and the simulated values. *Random* access
# takes w elements drawn with replacement (equal ones are one request).

# %%
print("access      layout   simulated       RAP Table II, w = 32")
for cell in table_2(samples=20_000, widths=(32,)):
    mean = f"{cell.mean:6.2f} ± {cell.standard_error:.3f}"
    print(f"{cell.access:11} {cell.layout:5} {mean} {cell.printed:>8}")
    assert cell.agrees

# %% [markdown]
# RAP has 1 where the programmer goes by rows or columns, and under four everywhere else. The
# abstract promises 3.53 for any access; that is stride access under RAS, and the diagonal one
# under RAP is worse, as Table II itself shows (ledger, RAP-TH2.any.printed).
#
# ### How it grows
#
# Balls in bins pile up very slowly. RAP's Theorem 2 has $O(\log w / \log\log w)$; the ledger
# (RAP-TH2.O) takes 2 for the constant, as a bound of what is measured.

# %% alt="RAW grows like w, RAS and RAP's diagonal slowly; RAP's stride stays 1."
widths = (8, 16, 32, 64, 128, 256)
figure, axes = plt.subplots(figsize=(4.5, 2.8))
curves = {
    "RAW, stride: w": widths,
    "RAS, stride: exact": [expected_max_load(w, w) for w in widths],
    "RAP, diagonal: 4000 draws": [
        congestions("diagonal", "RAP", w, 4000, np.random.RandomState(0)).mean() for w in widths
    ],
    "2 ln w / ln ln w": [2 * log(w) / log(log(w)) for w in widths],
    "RAP, stride: 1": [1] * len(widths),
}
for (name, values), style in zip(curves.items(), ("o", "s", "^", "x", "v"), strict=True):
    axes.plot(widths, values, style, label=name, markersize=4)
axes.set_xscale("log", base=2)
axes.set_yscale("log", base=2)
axes.set(xlabel="w", ylabel="congestion")
axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
plt.show()

# %% [markdown]
# ### Exercise 4
#
# Chance has a price. The diagonal transpose DRDW reads and writes diagonals, w = 32 requests
# each, and under RAW it has no conflict. By the table in section 3, how many stages does it waste
# on average under RAP? To the nearest 10. (All 64 requests have the same expected value.)

# %% name="4" tags=["exercise"]
answer_4 = ...

# %%
(cell,) = (c for c in table_2(20_000, (32,)) if (c.access, c.layout) == ("diagonal", "RAP"))
check(answer_4, round(64 * (cell.mean - 1), -1), unit="stages")
# %% [markdown]
# ## 4. An adversary, and more dimensions
#
# Theorem 2 of RAP bounds the *expected* congestion of any access, for somebody who doesn't know
# r. Exercise 5 is for somebody who does.
#
# ### Exercise 5
#
# You are the adversary, and you know r. A warp accesses one element in each row of this 8 × 8
# matrix. Which column in row 0, 1, ..., 7, such that all of them lie in one bank? A list of 8
# columns.

# %%
r = mm.layout.RAP(8, seed=3).offsets((8, 8))[:, 0] % 8
print("r =", r.tolist())

# %% name="5" tags=["exercise"]
answer_5 = ...


# %%
@mm.program
def attack(T, a, column):
    a[T.id, column[T.id]]


def wrong_attack(answer):
    column = np.array(answer)
    if column.shape != (8,) or set(column.tolist()) - set(range(8)):
        return "it has to be 8 columns, each 0 to 7"
    a = mm.place(np.zeros((8, 8)), mm.layout.RAP(8, seed=3))
    run = mm.DMM(8, 1).run(attack, a, column, threads=8)
    reached = stages("a")(run)
    return None if reached == 8 else f"the congestion is {reached}"


check(answer_5, wrong_attack)

# %% [markdown]
# Arrays with four indices are harder: w × w × w × w elements, whose rows (i, j, k) are to be
# rotated such that a warp has no conflict along *any* of the four indices. RAP section VII has
# several ways, with fewer or more random numbers. Each line below is one of them, with the stages
# for each request of w = 4 threads, and what it needs for w = 32.
#
# **Predict**: under 1P the shift is $r_k$, so only the index k is spread. What is the congestion
# of stride3 (i changes) for w = 4?

# %%
guess = None  # stages


# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
def per_request(access, layout, w=4, seed=0):
    a = mm.place(np.zeros((w, w, w, w), int), HIGHER_LAYOUTS[layout](w, seed))
    run = mm.DMM(w, 1).run(HIGHER_ACCESSES[access], a, threads=w**4)
    return run.stages / run.requests


predicted(guess, per_request("stride3", "1P"))

# %%
print("layout ", *(f"{access:>11}" for access in HIGHER_ACCESSES), "  random numbers, w = 32")
for layout in HIGHER_LAYOUTS:
    found = [per_request(access, layout) for access in HIGHER_ACCESSES]
    print(f"{layout:7}", *(f"{x:11.2f}" for x in found), f"{random_numbers(layout, 32):10}")

# %% [markdown]
# R1P ($r_i + r_j + r_k$) and 3P ($r_i + s_j + t_k$) have no conflict along any index. The paper
# prefers 3P: under R1P the six rows with the same three numbers in another order share one shift,
# and somebody who knows *that* can use it.

# %%
for name in ("R1P", "3P"):
    row = HIGHER_LAYOUTS[name](8, 0).offsets((8, 8, 8, 8))[..., 0] % 8  # the shift of row (i, j, k)
    shifts = [int(row[order]) for order in permutations((1, 2, 5))]
    print(f"{name}: shifts of rows (1, 2, 5), (1, 5, 2), ...: {shifts}")

# %% [markdown]
# ### Exercise 6
#
# A GPU has no `mm.place`: there the program computes the address. Write `crsw` for matrices that
# are plain to the machine, but lie rotated: element (i, j) is to stand at place [i, (j + r[i]) %
# w], in `a` and in `b`. The program here ignores the shifts. (RAP section VI prints such a
# program with a mistake: the ledger, RAP-CUDA.printed.)


# %% name="6" tags=["exercise"]
@mm.program
def by_hand(T, a, b, r):
    w = a.shape[0]
    i, j = T.id // w, T.id % w
    b[j, i] = a[i, j]


answer_6 = ...  # when it is done: by_hand


# %% jupyter={"source_hidden": true} tags=["hide-input"]
def wrong_by_hand(program):
    w = 8
    layout = mm.layout.RAP(w, seed=4)
    where = layout.offsets((w, w))
    r = where[:, 0] % w
    matrix = np.arange(w * w).reshape(w, w)
    a = np.empty(w * w, int)
    a[where] = matrix
    run = mm.DMM(w, 5).run(program, a.reshape(w, w), np.zeros((w, w), int), r, threads=w * w)
    if not np.array_equal(run.arrays["b"].ravel()[where], matrix.T):
        return "b isn't the transpose, in its layout"
    wasted = sum(row.wasted for row in run.accesses)
    return f"{wasted} stages are wasted" if wasted else None


check(answer_6, wrong_by_hand)

# %% [markdown]
# ## What to take home
#
# - A layout says where an element lies; the program needn't know.
# - RAP rotates the rows by a random *permutation*: rows and columns never have a conflict,
#   whatever the draw.
# - For all other accesses the dice keep the congestion small on average, for whoever doesn't know
#   them.
# - Balls in bins: the fullest of $w$ bins grows very slowly with $w$.
#
# Next: [does any of this happen on a real GPU?](07-the-model-and-the-metal.ipynb)
#
# *Source.* RAP: Nakano, Matsumae, Ito, "Random Address Permute-Shift Technique for the Shared
# Memory on GPUs". Section III has the accesses, IV the layouts and Theorem 2, V and VII the
# tables.
