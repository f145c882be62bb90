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
# # How well does the model predict a real GPU?
#
# Six notebooks counted time units on machines of paper. Here the same programs ran on a card, an
# NVIDIA H200, and the model says beforehand how long they take. In some places it is right, in
# others it is far off, and you will see where, and for the most part why.
#
# You need the DMM (Discrete Memory Machine) and the HMM (Hierarchical Memory Machine;
# [notebooks 1](01-banks-and-address-groups.ipynb) and [2](02-latency-and-warps.ipynb)), the
# permutations of [notebooks 4](04-conflict-free-permutation.ipynb) and
# [5](05-scheduled-permutation.ipynb) and the transposes of [notebook
# 6](06-random-address-permute-shift.ipynb). You need no GPU: the results of one are kept in
# the repository (`benchmarks/results/gpu`), and the archive of the course has a copy in the folder
# `results`. Where there is a GPU with CuPy, section 3 measures it too. The tables, the figures and
# some paragraphs are those of [the page about the model and the metal](../docs/metal.md), made here
# from the results.
#
# About 90 minutes: the machine and its numbers (15), shared memory (25), global memory (25), what
# is left out (10), exercises (15).

# %%
try:
    from classroom import check, predicted

    import mmsim as mm
except ModuleNotFoundError as error:
    needed = "mmsim installed, and classroom.py and sealed.py in its folder"
    raise ImportError(f"{error}: this notebook needs {needed}") from None

# %matplotlib inline
# %config InlineBackend.figure_formats = ["svg"]
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from IPython.display import Markdown

from mmsim.gpu import NoGPU, replay
from mmsim.gpu.shared import repetition
from mmsim.view.figures.paper import STYLE
from mmsim_algorithms import rap
from mmsim_algorithms.gpu import comparisons
from mmsim_algorithms.gpu.figures import draw
from mmsim_algorithms.gpu.kept import (
    FOLDER,
    Results,
    errors,
    factor,
    largest_error,
    launched,
    mean_error,
    number,
    pick,
    time_with_sectors,
    values,
)
from mmsim_algorithms.gpu.permuting import SEVERAL

# %%
plt.rcParams.update(STYLE)  # letters as large as in the page's figures

folder = FOLDER if FOLDER.is_dir() else Path("results")  # of a checkout, or of the archive
assert folder.is_dir(), "the folder `results` is missing; it is in this notebook's archive"
kept = Results.read(folder)
for record in kept.records.values():
    print(f"{record.experiment:15} {record.facts['device']}, {record.facts['date'][:10]}")

# %% [markdown]
# ## 1. A machine that stands for the card
#
# The model has few numbers: a width (32 on this card), the number of DMMs, two latencies, and how
# long a time unit lasts. Three small programs measure them: a chain of accesses that wait for each
# other (latency), one with few and with many conflicts (a stage), one that copies a long array (an
# address group). No number is fitted to what is to be predicted; people chose the model's rules.

# %%
card = kept.card
Markdown(comparisons.calibration_table(card))

# %% [markdown]
# The stage lasts a clock cycle: the *time unit* of the papers is real. **Predict** from these
# numbers: how long does one access to global memory take that waits for nothing else?

# %%
guess = None  # nanoseconds, to the nearest ten

# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
predicted(guess, round(card.global_latency * card.group_ps / 1000, -1))

# %% [markdown]
# ### Exercise 1
#
# An address group is 128 bytes. How many terabytes a second does the global memory move, by
# `card.group_ps`? To one decimal.

# %% name="1" tags=["exercise"]
answer_1 = ...

# %%
check(answer_1, round(128 / card.group_ps, 1), unit="TB/s")

# %% [markdown]
# ## 2. The same program, as CUDA
#
# The code for the card is generated from the same program that the model runs. Here is the
# transpose CRSW of notebook 6, its two matrices in the shared memory of one block.

# %%
a = np.arange(1024, dtype=np.float32).reshape(32, 32)
b = np.zeros_like(a)
print(rap.crsw_to.cuda(a, b, threads=1024, space="shared"))

# %% [markdown]
# ## 3. Shared memory
#
# To time it, the kernel repeats the program 2000 times between two readings of the card's clock.
# The model runs it on the DMM of width 32 and the latency above, with warps on their own.
#
# **Predict**: CRSW writes columns. Under RAP (random address permute-shift, notebook 6) its writes
# have no conflict. How many times as fast does RAP make it *on the card*?

# %%
guess = None  # a factor, to the nearest whole number

# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
crsw = {row["layout"]: row for row in pick(kept["RAP-T3"].rows, type="float", transpose="CRSW")}
predicted(guess, round(number(crsw["RAW"], "measured") / number(crsw["RAP"], "measured")))

# %% [markdown]
# Let the model predict all nine transposes here and now, and compare with the card's cycles.


# %%
def model_cycles(program, *args, repetitions=2000):
    """Cycles of one repetition by 1024 threads, on the DMM that stands for the card."""
    machine = kept.calibration("RAP-T3")
    one = repetition(program, *args, threads=1024)
    return one.time(machine.shared_latency, repetitions) / repetitions * machine.cycles_per_stage


print("layout transpose predicted  measured   error")
for row in pick(kept["RAP-T3"].rows, type="float"):
    of_a, of_b = (rap.LAYOUTS[row["layout"]](32, seed) for seed in (0, 1))
    program = rap.OUT_OF_PLACE[row["transpose"]]
    cycles = model_cycles(program, mm.place(a, of_a), mm.place(b, of_b))
    error = cycles / row["measured"] - 1
    name = f"{row['layout']:6} {row['transpose']:9}"
    print(f"{name} {cycles:9.1f} {row['measured']:9.1f} {error:+7.1%}")
    assert abs(cycles - row["predicted"]) < 0.001

# %% [markdown]
# Is there a GPU where you are? Then it runs the first of them too.

# %%
try:
    found = replay(rap.crsw_to, a, b, threads=1024, space="shared", repeat=2000)
    text = f"{found.device}: {found.median:.1f} cycles"
except NoGPU:
    text = "There is no GPU with CuPy here; what follows uses the kept results."
Markdown(text)

# %% [markdown]
# Permutations too (CFP Table II): 1024 words, D- and S-designated and conflict-free, for float
# and double. Each point is a cell of one of the two tables; on the line the model is right.

# %% alt="Cycles predicted and measured, CFP Table II and RAP Table III: all near the line."
figure = plt.figure(figsize=(7.5, 4), layout="constrained")
for part, experiment in zip(figure.subfigures(1, 2), ("CFP-T2", "RAP-T3"), strict=True):
    draw(kept, experiment, part)
plt.show()

# %%
cells = [*kept["CFP-T2"].rows, *kept["RAP-T3"].rows]
mean, most = mean_error(cells), largest_error(cells)
print(f"{len(errors(cells))} cells, off by {mean:.1%} on average, {most:.1%} at most")
print(f"the model is too fast in {sum(off < 0 for off in errors(cells))} of them")

# %% [markdown]
# One rule had to be added for this: words of 8 bytes. The card serves a warp that asks for
# doubles as two half-warps, each on 16 banks of 8 bytes (exercise 3).
#
# ### Exercise 2
#
# Predict the cycles of the S-designated permutation of 1024 floats along the transpose (w = 32,
# 1024 threads): without running anything, from the stages of its three rounds and
# `card.cycles_per_stage`. The check allows 2% of what the card took.

# %% name="2" tags=["exercise"]
answer_2 = ...  # cycles

# %%
(row,) = pick(kept["CFP-T2"].rows, type="float", permutation="transpose", algorithm="S-designated")
check(answer_2, number(row, "measured"), unit="cycles", rtol=0.02)

# %% [markdown]
# ### Exercise 3
#
# Doubles: a warp is served as two half-warps in turn, and each half meets 16 banks
# of 8 bytes. How many stages does a warp take that reads doubles `stride = 4` apart?


# %%
@mm.program
def read(T, a, stride):
    a[T.id * stride]


print(
    "floats, stride 4:",
    repetition(read, np.zeros(1024, np.float32), 4, threads=32).stages,
    "stages",
)

# %% name="3" tags=["exercise"]
answer_3 = ...  # stages

# %%
check(answer_3, repetition(read, np.zeros(1024), 4, threads=32).stages, unit="stages")

# %% [markdown]
# ### One multiprocessor at a time
#
# A permutation of an array by each block, and more and more arrays (CFP Figure 7). The card has
# 132 multiprocessors. **Predict**: how many times as long as 132 arrays do 133 take?

# %%
guess = None  # a factor, to the nearest whole number

# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
arrays = {
    row["arrays"]: number(row, "measured")
    for row in pick(kept["CFP-F7"].rows, algorithm="D-designated")
}
predicted(guess, round(arrays[133] / arrays[132]))

# %% alt="The measured times of arrays lie on the predicted steps, 132 arrays wide."
draw(kept, "CFP-F7", plt.figure(figsize=(5, 3)))
plt.show()

# %% [markdown]
# The 133rd array has to share a multiprocessor with another. Whether it waits or comes in between,
# nothing is gained: the shared memory is busy with one already.
#
# ## 4. Global memory, coalesced
#
# Now Table II of ICPP (International Conference on Parallel Processing 2013): √n × √n words in the
# global memory, permuted by the three ways of notebook 5. Some of its cells are *coalesced*: the
# scheduled permutation, and the others along the identity and the shuffle. Take these first, for
# √n of 4096 and 8192.
#
# **Predict** the model's mean error, in percent.

# %%
guess = None  # percent, to the nearest whole number

# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
table = launched(kept["ICPP-T2"].rows, SEVERAL)  # several words a thread
coalesced, casual = (pick(table, coalesced=which) for which in (True, False))
large = [row for row in coalesced if row["sqrt n"] >= 4096]
predicted(guess, round(100 * mean_error(large)))

# %%
Markdown(comparisons.coalesced_errors(table))

# %% [markdown]
# One line stands out, fetching (S) along the shuffle:

# %%
Markdown(comparisons.half_groups(table))

# %% [markdown]
# And the shorter arrays? The model's time divided by the card's (predicted/measured):

# %%
Markdown(comparisons.factors(coalesced))

# %% [markdown]
# There the model is too slow. Its warps wait for each request before they send the next; a warp of
# the card has several reads in flight, and that counts as long as there is little else
# to hide the latency.
#
# ## 5. Global memory, casual
#
# Along random, bit-reversal and transpose each warp of the other two ways touches 32 groups or
# nearly as many. The model charges 32 groups, 4 sectors each.
#
# **Predict**: S-designated *reads* casually. How many times as slow as the card is the model, at
# most?

# %%
guess = None  # a factor, to the nearest whole number

# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
reads = pick(casual, algorithm="S-designated")
predicted(guess, round(max(factor(row) for row in reads)))

# %% alt="Times predicted and measured, ICPP Table II: most casual points lie above the line."
draw(kept, "ICPP-T2", plt.figure(figsize=(7.5, 4), layout="constrained"))
plt.show()

# %% [markdown]
# What did one casual access take on the card? Take away the launch and the two plain rounds from
# the measured time, divide by n, and count in sectors. In the model it is 4.

# %%
machine = kept.calibration("ICPP-T2")
Markdown(comparisons.sectors(table, machine))

# %% [markdown]
# A casual *read* costs about one sector, and two or three along random once the array is large. A
# casual *write* costs about two, and up to seven along random. None of that is in the model: it
# knows no sectors and no caches. The kept results hold times only; this is what is known of such
# cards:

# %%
Markdown(comparisons.reasons(comparisons.LARGE))

# %% [markdown]
# ### So who wins?
#
# The paper's question: when is the scheduled permutation the fastest of the three? Count its wins
# over all permutations, sizes and types: on the paper's card (a GTX 680), on the H200, and by the
# model.

# %%
Markdown(comparisons.where_scheduled_wins(table))

# %% [markdown]
# On the paper's card it won far more often than on the H200, where a casual read is cheap: the
# table above says how cheap. It still wins along random permutations of large arrays, where a
# casual read of floats took two or three sectors. The model lets it win there too, and in many a
# cell more, because it overcharges casual reads.
#
# ### Exercise 4
#
# Along the random permutation of floats, at which √n is the scheduled permutation the fastest *by
# the model*? A list, the smallest first.

# %% name="4" tags=["exercise"]
answer_4 = ...

# %%
sides = values(table, "sqrt n")
model = comparisons.winners(table, lambda row: row["predicted"])
check(answer_4, [side for side in sides if model["float", "random", side] == "scheduled"])

# %% [markdown]
# ## 6. Not only time
#
# The card counts too. NVIDIA's profiler reports how many *wavefronts* served the requests to shared
# memory, and how many address groups requests to global memory looked at: the model's stages. It
# was asked for every program of the papers that has an example, reads and writes apart.

# %%
Markdown(comparisons.verdicts(kept["counters"]))

# %% [markdown]
# So the stages are as the model counts them, and the few exceptions have their reasons. Where it
# is off in time, it is their *price* that differs.
#
# ### Exercise 5
#
# CUDA programmers transpose in shared memory with *padding*: rows of 33 words, the last one
# unused. Here `a` and `b` are such matrices, 32 × 33, without any layout. Write the transpose of
# the 32 × 32 words in use, and see what the model predicts for the card.


# %% name="5" tags=["exercise"]
@mm.program
def padded(T, a, b):
    i, j = T.id // 32, T.id % 32
    b[i, j] = a[i, j]


answer_5 = ...  # when it is done: padded


# %% jupyter={"source_hidden": true} tags=["hide-input"]
def wrong_padded(program):
    a = np.arange(32 * 33, dtype=np.float32).reshape(32, 33)
    run = mm.DMM(32, 1).run(program, a, np.zeros_like(a), threads=1024)
    if not np.array_equal(run.arrays["b"][:, :32], a[:, :32].T):
        return "b isn't the transpose of a"
    cycles = model_cycles(program, a, np.zeros_like(a))
    return f"it would take {cycles:.1f} cycles; 64 are enough" if cycles > 64 else None


check(answer_5, wrong_padded)

# %% [markdown]
# ### Exercise 6
#
# Improve the model. S-designated reads its table of 4-byte words (n/32 address groups), writes its
# words (n/32 groups of floats, twice as many of doubles), and reads n words casually. Suppose
# each casual read costs one sector, a quarter of a group. Write a Python function of a row of the
# table that returns milliseconds, and use `machine.milliseconds(groups, launches=1)`.


# %% name="6" tags=["exercise"]
def corrected(row):
    n = row["sqrt n"] ** 2
    wide = 2 if row["type"] == "double" else 1
    groups = n / 32 + wide * n / 32 + n
    return machine.milliseconds(groups, launches=1)


answer_6 = ...  # when it is done: corrected


# %% jupyter={"source_hidden": true} tags=["hide-input"]
def wrong_corrected(function):
    for row in reads:
        mine, right = function(row), time_with_sectors(row, machine)
        if not isinstance(mine, float) or abs(mine / right - 1) > 0.01:
            where = f"{row['permutation']} ({row['type']}), √n = {row['sqrt n']}"
            return f"for {where} it gives {mine}"


check(answer_6, wrong_corrected)

# %% [markdown]
# Does that explain the card? This time by the measured one, bold where it is near:

# %%
Markdown(comparisons.with_sectors(table, machine))

# %% [markdown]
# ## 7. What the model leaves out
#
# - caches, sectors and pages of the global memory: casual access is cheaper than the model says,
#   or more expensive;
# - several requests of one warp in flight: short arrays are faster;
# - computing: in the model it is free, and the papers' programs do next to none;
# - everything else a card does: the clock that changes, launches that overlap, atomic operations.
#
# ## What to take home
#
# - In shared memory the model is right: conflicts cost on the card what they cost on the DMM.
# - In global memory it is off by some percent for long arrays and coalesced access, by more where
#   a warp wants half a group. For short arrays it is too slow.
# - Casual access costs another price on the card, with sectors and caches; there it is not a
#   prediction.
# - It keeps the parts that a programmer can change: conflicts, coalescing, latency.
#
# *Sources.* All of these figures, with how they were measured, are on [the page about the model
# and the metal](../docs/metal.md). The tables are CFP Table II and Figure 7, RAP Table III, ICPP
# Table II.
