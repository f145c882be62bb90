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
# # Can any permutation be done without one bank conflict?
#
# Every word of an array moves to its own place, and you know the places beforehand. Some
# orders of moving are cheap, others wait at one bank all the time. There is always one that waits
# nowhere, and a theorem of 1916, about graphs, finds it.
#
# You need banks and congestion ([notebook 1](01-banks-and-address-groups.ipynb)), rounds and
# latency ([notebook 2](02-latency-and-warps.ipynb)), and the transpose ([notebook
# 3](03-transpose-three-ways.ipynb)).
#
# About 90 minutes: what a permutation costs (20), the graph and its colours (30), the order that
# they give (20), exercises (20; the last one for home).

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
from mmsim_algorithms.colouring import check_colouring, colour, colour_by_matchings, schedules
from mmsim_algorithms.dmm_permutation import permute
from mmsim_algorithms.errors import PreconditionError
from mmsim_algorithms.printed import table

# %% [markdown]
# ## 1. A table says where to
#
# A *permutation* `P` sends word `i` to place `P[i]`. It is *off-line* if it is known before the
# data are: then the host may prepare tables, as long as it likes, and only the moving counts.
#
# The first idea is to let thread `i` take word `i` and look up where it goes.

# %%
w, l, n = 4, 5, 16
machine = mm.DMM(w, l)
P = permutations.transpose(n)
print(P.reshape(w, w))


@mm.program
def designated(T, a, b, p):
    i = T.id
    b[p[i]] = a[i]


# %% [markdown]
# That line is three rounds: it reads `a`, reads `p`, writes `b`. A round takes its stages and
# then `l - 1` time units more. Look at the matrix above: row 0 is where the four threads of warp
# 0 write.
#
# **Predict** the time of all three rounds, for n = 16 words, w = 4 banks and latency l = 5.

# %%
guess = None  # time units

# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
run = machine.run(designated, np.arange(n), np.zeros(n, int), P, threads=n, trace=True)
predicted(guess, run.time)

# %%
for row in run.rounds:
    print(f"{row.kind:5} {row.array}: {row.requests} warps, {row.stages:2} stages, time {row.time}")

# %% [markdown]
# The write is the trouble. Here is what warp 0 asks for in it: four words of one bank, so four
# stages.

# %%
first_write = next(k for k, one in enumerate(run.trace.dispatches) if one.array == "b")
mm.figures.access(run, first_write).figure
# %% [markdown]
# Step through it: press `C` for the next conflict.

# %%
run.trace.player()

# %% [markdown]
# ## 2. Some permutations are kinder
#
# The *congestion* of a warp's write is the largest number of its words in one bank. Added up over
# all warps it is the number of stages of the write, and we call it C.
#
# CFP (section VI) tries five permutations. **Predict** C of one, the *shuffle*, which sends i to
# 2i in the lower half and to 2i + 1 - n in the upper one, for n = 1024 words and w = 32 banks.
# Without any conflict it would be n/w = 32.

# %%
guess = None  # stages

# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
n, w, l = 1024, 32, 1
predicted(guess, permutations.congestion(permutations.shuffle(n), w))

# %% [markdown]
# One may also let thread `i` *fetch* the word that belongs in place `i`: `b[i] = a[q[i]]`, where
# `q` is the inverse of `P`. CFP calls the two *destination-designated* and *source-designated*.
# Then the read may have conflicts, and its congestion is that of `q`.

# %%
print("permutation     C(P)  C(P inverse)   time D-designated, S-designated")
for name, make in permutations.NAMED.items():
    P = make(n, 0)
    there, back = (permutations.congestion(p, w) for p in (P, permutations.inverse(P)))
    to, fro = (permute(mm.DMM(w, l), f"{c}-designated", P).time for c in "DS")
    assert to == there + 2 * n // w + 3 * (l - 1)
    assert fro == back + 2 * n // w + 3 * (l - 1)
    print(f"{name:13} {there:6} {back:13} {to:17} {fro:13}")

# %% [markdown]
# The assertions are the formula: $C + 2n/w + 3(l - 1)$, from CFP's rounds in section III.
#
# ### Exercise 1
#
# Eight banks, latency 3, 64 words. How long does the *source-designated* algorithm take along the
# transpose of the 8 × 8 matrix?

# %% name="1" tags=["exercise"]
answer_1 = ...  # time units

# %%
moved = permute(mm.DMM(8, 3), "S-designated", permutations.transpose(64))
check(answer_1, moved.time, unit="time units")

# %% [markdown]
# Neither way is safe: transpose and bit-reversal are as bad as can be, all words of a warp in one
# bank, both ways. But who says that warp 0 has to move words 0 to 31?
#
# ## 3. Words are edges
#
# Choose the w words that a warp moves together such that they *leave* w different banks and
# *enter* w different banks. To see which go together, draw each word as an edge from the bank
# that it leaves to the bank that it enters.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#000000"]
STYLES = ["-", "--", ":", "-.", (0, (5, 1)), (0, (1, 1))]


def draw_graph(P, w, colours=None, only=None, axes=None):
    """Each word as an edge from the bank that it leaves to the one that it enters.

    Words between the same two banks are bent apart.
    """
    axes = axes or plt.figure(figsize=(3, 2.4)).gca()
    seen = {}
    for i, target in enumerate(P):
        left, right = i % w, target % w
        k = seen[left, right] = seen.get((left, right), -1) + 1
        if only is not None and colours[i] != only:
            continue
        t = np.linspace(0, 1, 30)
        bend = 0.25 * ((k + 1) // 2) * (-1) ** k
        c = None if colours is None else int(colours[i])
        axes.plot(
            t,
            -((1 - t) * left + t * right + 4 * bend * t * (1 - t)),
            color="0.4" if c is None else COLOURS[c % 6],
            linestyle="-" if c is None else STYLES[c % 6],
            linewidth=1.5,
        )
    for x, side, name in ((0, "right", "leaves"), (1, "left", "enters")):
        axes.plot([x] * w, -np.arange(w), "o", color="black", markersize=5)
        for bank in range(w):
            axes.text(x + (0.08 if x else -0.08), -bank, f"{bank}", va="center", ha=side)
        if only is None:
            axes.text(x, 0.5, f"{name} bank", ha="center", fontsize=8)
    axes.set_xlim(-0.4, 1.4)
    axes.set_ylim(-w + 0.5, 0.8)
    axes.axis("off")


# %% alt="Left, each bank is joined to each once. Right, some pairs are joined twice."
w, n = 4, 16
some = permutations.random(n, seed=3)
figure, (left, right) = plt.subplots(1, 2, figsize=(7, 2.4))
draw_graph(permutations.transpose(n), w, axes=left)
draw_graph(some, w, axes=right)
plt.show()

# %% [markdown]
# Left the transpose, right a random permutation: there some words have both banks in common, so
# that two edges join the same two nodes (a *multigraph*). *Bipartite* means that edges only join
# left to right.
#
# **Predict**: in the random graph, with how many edges does each bank on the right end up?

# %%
guess = None  # a list of w = 4 numbers

# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
predicted(guess, np.bincount(some % w).tolist())

# %% [markdown]
# Each bank holds n/w of the words before and after, so every node has $n/w$ edges, whatever P is:
# the graph is *regular*, of degree $D = n/w$.
#
# A warp moves w edges without conflict if no two of them meet: a *perfect matching*. We want to
# split all edges into D of them. Give each matching a colour, and this is an **edge colouring**:
# edges that meet differ in colour.
#
# ### First come, first served?
#
# Take the edges in order, and give each the smallest colour free at both ends. No fewer colours
# will do than a node has edges.
#
# **Predict** how many colours this takes for the random permutation.

# %%
guess = None  # colours


# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
def greedy(P, w):
    at_left, at_right, colours = [set() for _ in range(w)], [set() for _ in range(w)], []
    for i, target in enumerate(P):
        taken = at_left[i % w] | at_right[target % w]
        c = min(set(range(len(P))) - taken)
        at_left[i % w].add(c)
        at_right[target % w].add(c)
        colours.append(c)
    return np.array(colours)


predicted(guess, len(set(greedy(some, w))))

# %% [markdown]
# It isn't an accident of this one:

# %%
counts = [len(set(greedy(permutations.random(1024, seed), 32))) for seed in range(10)]
print("n = 1024, w = 32, so D = 32; greedy colours:", counts)
assert min(counts) > 32

# %% [markdown]
# Each colour beyond D is one more warp, with lanes left idle.
#
# ### Kőnig's theorem
#
# > A bipartite multigraph in which every node has D edges can be coloured with D colours.
#
# (D. Kőnig, 1916; CFP Theorem 1.) The idea of the proof is a loop. Take k nodes on the left:
# their kD edges end on the right, where each node takes D at most, so at k nodes or more. By
# Hall's theorem that is all it takes for a perfect matching to exist. Paint it, remove it: every
# node has lost one edge, and the graph is regular of degree D - 1. Go on until nothing is left.

# %%
banks = np.arange(n) % w
colours = colour_by_matchings(banks, some % w, w)
left = np.ones(n, bool)
for c in range(n // w):
    degrees = np.bincount(banks[left], minlength=w), np.bincount(some[left] % w, minlength=w)
    print(f"before colour {c}: edges at each bank, left {degrees[0]}, right {degrees[1]}")
    left &= colours != c

# %% alt="The graph in four colours, then each colour alone: four edges, one for each bank."
figure, axes = plt.subplots(1, 5, figsize=(11, 1.9))
draw_graph(some, w, colours, axes=axes[0])
for c in range(4):
    draw_graph(some, w, colours, only=c, axes=axes[c + 1])
    words = ", ".join(map(str, np.flatnonzero(colours == c)))
    axes[c + 1].set_title(f"colour {c}: words {words}", fontsize=8)
plt.show()

# %% [markdown]
# ### Exercise 2
#
# Colour this graph by hand: 8 words, 4 banks, degree 2. The answer is a list of 8 colours, 0 or
# 1, one for each word.

# %% alt="Eight edges: two leave each of the banks 0 to 3, and two enter each."
small = np.array([5, 1, 4, 6, 0, 7, 3, 2])
draw_graph(small, 4)
plt.show()
print("word: leaves bank, enters bank")
for i, target in enumerate(small):
    print(f"   {i}: {i % 4}, {target % 4}")

# %% name="2" tags=["exercise"]
answer_2 = ...


# %% jupyter={"source_hidden": true} tags=["hide-input"]
def wrong_colours(answer):
    try:
        check_colouring(np.arange(8) % 4, small % 4, 4, answer)
    except PreconditionError as error:
        return str(error)


check(answer_2, wrong_colours)

# %% [markdown]
# ### Exercise 3
#
# Transpose and bit-reversal are bad both ways. Give a permutation of 16 words that on 4 banks is
# as bad as can be for one way and free for the other: C(P) = 16 and C(P⁻¹) = 4. A list of 16
# places.

# %% name="3" tags=["exercise"]
answer_3 = ...


# %% jupyter={"source_hidden": true} tags=["hide-input"]
def wrong_permutation(answer):
    try:
        P = permutations.check(answer)
    except PreconditionError as error:
        return str(error)
    if len(P) != 16:
        return f"it has {len(P)} words"
    found = permutations.congestion(P, 4), permutations.congestion(permutations.inverse(P), 4)
    return None if found == (16, 4) else f"C(P) and C(P⁻¹) are {found}"


check(answer_3, wrong_permutation)

# %% [markdown]
# ## 4. A colour is a warp
#
# Let warp c move the words of colour c. Which lane takes which word doesn't matter; take lane j
# for the word in bank j. Two tables say it all (CFP section IV): thread t reads place `S[t]` and
# writes place `D[t]`.


# %%
def schedule(P, w):
    i = np.arange(len(P))
    c = colour(i % w, P % w, nodes=w)
    S = np.empty_like(P)
    S[c * w + i % w] = i  # the word of colour c that lies in bank i mod w
    return S, P[S]


S, D = schedule(some, w)
print("bank read   ", (S % w).reshape(-1, w).tolist())
print("bank written", (D % w).reshape(-1, w).tolist())
for warp in range(n // w):
    lanes = slice(warp * w, (warp + 1) * w)
    assert len(set(S[lanes] % w)) == len(set(D[lanes] % w)) == w


@mm.program
def by_schedule(T, a, b, s, d):
    i = T.id
    b[d[i]] = a[s[i]]


# %% [markdown]
# `colour` is a faster way to the same end: it splits the graph into halves along Euler circuits.
#
# **Predict** the time, on the DMM (Discrete Memory Machine) of width 4 and latency 5. Mind that
# there are four rounds now: which?

# %%
guess = None  # time units

# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
a = np.arange(n)
run = mm.DMM(w, 5).run(by_schedule, a, np.zeros_like(a), S, D, threads=n, trace=True)
assert np.array_equal(run.arrays["b"][some], a)
predicted(guess, run.time)

# %%
run.profile()

# %% [markdown]
# No line wastes a stage. Step through it: each request takes one stage only.

# %%
run.trace.player()

# %% [markdown]
# And the time is the same for **every** permutation: $4(n/w + l - 1)$.

# %%
n, w, l = 1024, 32, 1
for name, make in permutations.NAMED.items():
    P = make(n, 0)
    run = permute(mm.DMM(w, l), "conflict-free", P)
    assert run.time == 4 * (n // w + l - 1)
    assert all(row.access_class == "conflict-free" for row in run.rounds)
    print(f"{name:13} {run.time}")

# %% [markdown]
# ## 5. Is it worth it?
#
# One more table is one more round. So the schedule wins where $C > 2n/w + l - 1$, and loses along
# the identity. CFP measured it (Table II): nanoseconds in the shared memory of a GeForce GTX 680,
# one block of n = 1024 threads. Next to them are the simulated time units, with l = 1.

# %%
paper = {row["permutation"]: row for row in table("cfp_table2")}
print("permutation     D-designated     S-designated     conflict-free")
for name, make in permutations.NAMED.items():
    row, P = paper[name.replace("-", "_")], make(n, 0)
    cells, ns = [], {}
    for algorithm in ("D-designated", "S-designated", "conflict-free"):
        ns[algorithm] = float(row[algorithm.replace("-", "_").lower() + "_ns"])
        cells.append(f"{permute(mm.DMM(w, l), algorithm, P).time:5} ({ns[algorithm]:4.0f} ns)")
    print(f"{name:13}", "  ".join(cells))
    worth_it = name in ("random", "transpose", "bit-reversal")
    assert (ns["conflict-free"] < min(ns["D-designated"], ns["S-designated"])) == worth_it

# %% [markdown]
# On that card as in the model the schedule wins along random, transpose and bit-reversal, and
# loses along the identity. Along the shuffle all three are even in the model. The card is not a DMM
# there: it costs more to fetch than to send. It has banks of 8 bytes, and on those fetching takes
# 64 stages and sending 32 (ledger, CFP-T2.wide.shuffle). Notebook 7 looks at a card of today.
#
# The schedule has a misprint in the paper, by the way: CFP prints S⁻¹(D(i)) = P(i) where it
# should be D(S⁻¹(i)) = P(i) (ledger, CFP-SD).

# %%
S, D = schedules.conflict_free(some, 4)
back = permutations.inverse(S)
print("D(S⁻¹(i)) = P(i) for all i:", np.array_equal(D[back], some))
print("S⁻¹(D(i)) = P(i) for all i:", np.array_equal(back[D], some))

# %% [markdown]
# ### Exercise 4
#
# For n = 1024, w = 32 and the random permutation with seed 0: what is the smallest latency l at
# which destination-designated takes *no longer* than conflict-free?

# %% name="4" tags=["exercise"]
answer_4 = ...  # a latency

# %%
P = permutations.random(1024, 0)
times = {
    l: [permute(mm.DMM(32, l), way, P).time for way in ("D-designated", "conflict-free")]
    for l in range(1, 101)
}
first = next(l for l, (there, free) in times.items() if there <= free)
check(answer_4, first, unit="time units")

# %% [markdown]
# ### Exercise 5
#
# The transpose is so regular that it needs no tables. This program is right, but its writes meet
# at one bank. Change which element thread `T.id` takes such that no access has a conflict. (Look
# at the left graph in section 3: which words may a warp take together?)


# %% name="5" tags=["exercise"]
@mm.program
def transposed(T, a, b):
    w = a.shape[0]
    i, j = T.id // w, T.id % w
    b[j, i] = a[i, j]


answer_5 = ...  # when it is done: transposed


# %% jupyter={"source_hidden": true} tags=["hide-input"]
def wrong_program(program):
    a = np.arange(64).reshape(8, 8)
    run = mm.DMM(8, 3).run(program, a, np.zeros_like(a), threads=64)
    if not np.array_equal(run.arrays["b"], a.T):
        return "b isn't the transpose of a"
    wasted = sum(row.wasted for row in run.accesses)
    return f"it wastes {wasted} stages" if wasted else None


check(answer_5, wrong_program)

# %% [markdown]
# ### Exercise 6
#
# A GPU may have fewer threads than words. Complete the program for p threads that move n/p words
# each by the tables `s` and `d`, still without a conflict, for any n/p.


# %% name="6" tags=["exercise"]
@mm.program
def shared_out(T, a, b, s, d):
    for k in range(a.size // T.count):
        i = T.id * (a.size // T.count) + k
        b[d[i]] = a[s[i]]


answer_6 = ...  # when it is done: shared_out


# %% jupyter={"source_hidden": true} tags=["hide-input"]
def wrong_shares(program):
    P = permutations.random(64, 1)
    S, D = schedules.conflict_free(P, 8)
    for p in (8, 16, 32, 64):
        a = np.arange(64)
        run = mm.DMM(8, 3).run(program, a, np.zeros_like(a), S, D, threads=p)
        if not np.array_equal(run.arrays["b"][P], a):
            return f"with {p} threads a word isn't in its place"
        if any(row.wasted for row in run.accesses):
            return f"with {p} threads there are conflicts"


check(answer_6, wrong_shares)
# %% [markdown]
# ## What to take home
#
# - A word is an edge, from the bank that it leaves to the bank that it enters.
# - The graph is regular, so Kőnig's theorem colours it with $n/w$ colours; a colour is what a
#   warp moves.
# - Then every permutation takes $4(n/w + l - 1)$, with two tables that the host works out
#   beforehand.
# - It is worth it where the plain way has many conflicts, and not along the identity.
#
# Next: [the same for memory that counts address groups](05-scheduled-permutation.ipynb).
#
# *Sources.* CFP: Kasagi, Nakano, Ito, "An Implementation of Conflict-Free Offline Permutation on
# the GPU". Sections III and IV have the three algorithms, section V the colouring.
