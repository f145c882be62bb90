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
# # Is my tile free of conflicts?
#
# A kernel puts a tile of a matrix into shared memory one way and takes it out another way. On a
# real GPU its elements have 1 to 16 bytes, threads take several together, rows are padded and
# addresses are swizzled, and people look into a profiler to learn whether that was right. The
# answer is arithmetic, and this notebook does it.
#
# You need to know what a bank is ([notebook 1](01-banks-and-address-groups.ipynb)). No GPU is
# needed. The rule below is one that was measured on a GPU: [banks of 4
# bytes](../docs/machines.md).
#
# About 90 minutes: banks and bytes (20), padding (15), vectors and phases (20), swizzles (20),
# search (15).

# %%
try:
    from classroom import check, predicted

    import mmsim as mm
except ModuleNotFoundError as error:
    needed = "mmsim installed, and classroom.py and sealed.py in its folder"
    raise ImportError(f"{error}: this notebook needs {needed}") from None

import numpy as np

from mmsim.errors import LayoutError
from mmsim.model.questions import question
from mmsim.model.searches import padding, swizzles

# %% [markdown]
# ## 1. Banks and bytes
#
# Shared memory has 32 banks, and a bank is 4 bytes wide. Bytes 0 to 3 are word 0 and lie in bank
# 0, bytes 4 to 7 are word 1 in bank 1, and so on; word 32 is in bank 0 again. A warp's access
# takes as many stages as it wants different words of one bank.
#
# `mm.conflicts` takes a layout (where the elements of a tile lie), an access (which element each
# thread wants), the tile's shape and the bytes of an element. Here each thread reads one element
# of the first row.

# %%
RAW = mm.layout.RAW()
print(mm.conflicts(RAW, lambda thread, value: (0, thread), (32, 32), bytes=4))

# %% [markdown]
# Now the first column of the same tile of floats. **Predict**: how many stages?

# %%
guess = None  # stages


# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
def column(thread, value):
    return thread, 0


predicted(guess, mm.conflicts(RAW, column, (32, 32), bytes=4).stages)

# %% [markdown]
# A row is 32 words long, so all of a column lies in bank 0.
#
# And if the elements are halves, of 2 bytes each? **Predict** the stages for a column of 32 × 32
# halves.

# %%
guess = None  # stages

# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
predicted(guess, mm.conflicts(RAW, column, (32, 32), bytes=2).stages)

# %% [markdown]
# A row has 64 bytes, which are 16 words. So the elements of a column lie in banks 0 and 16 by
# turns. The banks of the first column's first eight elements:

# %%
offsets = RAW.offsets((32, 32))
print(offsets[:8, 0] * 2 // 4 % 32)

# %% [markdown]
# The object that `mm.conflicts` returns knows more: which threads want which words of a bank.

# %%
found = mm.conflicts(RAW, column, (32, 32), bytes=2, threads=6)
for _, _, bank, words in found.collisions():
    print(f"bank {bank}: {words}")

# %% [markdown]
# ## 2. Padding
#
# The oldest remedy: each row gets some elements that are never used, so that the next one begins
# in another bank. `mm.layout.Padded(1)` adds one element. For floats that is enough. **Predict**
# the stages of a column of 64 × 64 halves, padded by one half.

# %%
guess = None  # stages

# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
predicted(guess, mm.conflicts(mm.layout.Padded(1), column, (64, 64), bytes=2).stages)

# %% [markdown]
# One half is half a word: two rows later the column has moved by one bank, so two neighbours
# share a bank, and they want different words of it.
#
# ### Exercise 1
#
# By how many elements must the rows of a tile of 64 × 64 elements be padded, so that its columns
# are free of conflicts? The smallest paddings for elements of 1, 2, 4 and 8 bytes: a list of four
# numbers.

# %% name="1" tags=["exercise"]
answer_1 = ...

# %% jupyter={"source_hidden": true} tags=["hide-input"]
check(answer_1, [padding([question(column, (64, 64), size=size)]) for size in (1, 2, 4, 8)])

# %% [markdown]
# ## 3. Vectors and phases
#
# A thread can take up to 16 bytes in one access: a `float4`, or eight halves. A warp then wants 512
# bytes, and 32 banks give 128 bytes in a stage. The hardware serves such a request in four
# *phases*, eight threads at a time, and accesses of 8 bytes in two. Only threads of one phase can
# conflict.
#
# A warp reads 32 consecutive `float4`. **Predict**: how many stages?

# %%
guess = None  # stages


# %% jupyter={"outputs_hidden": true} tags=["hide-output"]
def side_by_side(thread, value):
    return 0, 4 * thread


contiguous = mm.conflicts(RAW, side_by_side, (8, 128), bytes=4, vector=4)
predicted(guess, contiguous.stages)

# %% [markdown]
# Four stages, and not one of them is wasted: `least` is the fewest that these threads could take,
# wherever the elements lay. That is what `free` compares with. (Some tools don't know phases, and
# call this a 4-way conflict.)

# %%
print(contiguous)
print(contiguous.stages, contiguous.least, contiguous.free)

# %% [markdown]
# A column of `float4`, in a tile of 32 × 32 floats:


# %%
def column_of_vectors(thread, value):
    return thread, 4 * value


print(mm.conflicts(RAW, column_of_vectors, (32, 32), vector=4, values=8))

# %% [markdown]
# In each phase eight threads want four banks. Padding by one float isn't possible any more,
# because a `float4` has to begin at a multiple of 16 bytes:

# %%
try:
    mm.conflicts(mm.layout.Padded(1), column_of_vectors, (32, 32), vector=4, values=8)
except LayoutError as error:
    print(error)

# %% [markdown]
# ### Exercise 2
#
# What is the smallest padding under which a column of `float4`, in a tile of 32 × 32 floats, is
# free of conflicts?

# %% name="2" tags=["exercise"]
answer_2 = ...  # floats

# %% jupyter={"source_hidden": true} tags=["hide-input"]
of_vectors = question(column_of_vectors, (32, 32), vector=4, values=8)
check(answer_2, padding([of_vectors]), unit="floats")

# %% [markdown]
# ## 4. Swizzles
#
# Padding wastes memory. A *swizzle* wastes nothing: it lets the elements of a row change places, in
# each row another way. The simplest: element j of row i lies where element j xor i of a plain row
# would. The words of a tile of 4 × 4:

# %%
print(mm.layout.XorRows(4).offsets((4, 4)))

# %% [markdown]
# The numbers modulo 4 are the banks, if there were four. Every row meets each of them once, and so
# does every column.
#
# ### Exercise 3
#
# Write your own. `place(i, j)` gives the offset, in words, of element (i, j) of a tile of 32 × 32
# floats. No two elements may share a word, no word beyond 1023 may be used, and rows and columns
# are to be free of conflicts. The one above is not allowed.


# %% name="3" tags=["exercise"]
def place(i, j):
    return 32 * i + j


answer_3 = ...  # when it is done: place


# %% jupyter={"source_hidden": true} tags=["hide-input"]
class Own:
    def __init__(self, place):
        self.place = place

    def offsets(self, shape):
        return np.array([[self.place(i, j) for j in range(shape[1])] for i in range(shape[0])])


def wrong_place(place):
    offsets = Own(place).offsets((32, 32))
    if sorted(offsets.ravel().tolist()) != list(range(1024)):
        return "the 1024 elements don't have the words 0 to 1023"
    if np.array_equal(offsets, mm.layout.XorRows(32).offsets((32, 32))):
        return "that is the one above"
    for name, access in (("row", lambda t, v: (v, t)), ("column", lambda t, v: (t, v))):
        found = mm.conflicts(Own(place), access, (32, 32), values=32)
        if not found.free:
            return f"a {name} takes {max(one.stages for one in found.requests)} stages"
    return None


check(answer_3, wrong_place)

# %% [markdown]
# CUTLASS writes a swizzle as `Swizzle<B, M, S>`: B bits of an element's offset, from bit M + S on,
# are added without carry to the B bits from bit M on. The hardware knows three of them by the
# bytes of a row: 32, 64 and 128. `ldmatrix` gives tensor cores their operands: each thread names a
# row of 16 bytes, eight threads a matrix, and a matrix is a phase. A tile of 64 × 64 halves, rows
# one below the other:


# %%
def row_of_matrix(thread, value):
    return thread, 8 * value


for layout in (RAW, *(mm.layout.Swizzle.of_bytes(row, 2) for row in (32, 64, 128))):
    found = mm.conflicts(layout, row_of_matrix, (64, 64), bytes=2, kind="ldmatrix", values=8)
    print(layout, found.stages, "stages of", found.least)

# %% [markdown]
# ### Exercise 4
#
# Without `ldmatrix`, each thread reads its part of a matrix by itself: thread t takes the two
# halves at row t // 4, columns 2(t mod 4) and 2(t mod 4) + 1. How many stages does that take in
# the tile of 64 × 64 halves, in row-major order and in the modes of 32, 64 and 128 bytes? A list
# of four numbers.

# %% name="4" tags=["exercise"]
answer_4 = ...


# %% jupyter={"source_hidden": true} tags=["hide-input"]
def fragment(thread, value):
    return thread // 4, 2 * (thread % 4)


layouts = (RAW, *(mm.layout.Swizzle.of_bytes(row, 2) for row in (32, 64, 128)))
check(
    answer_4,
    [mm.conflicts(one, fragment, (64, 64), bytes=2, vector=2).stages for one in layouts],
)

# %% [markdown]
# ## 5. Search
#
# Which swizzle, then? There are not many with up to five bits, so all can be tried. A `question`
# is an access that can be asked of each layout in turn. Rows of a tile of 64 × 64 halves are
# written eight halves at a time, and matrices are read:

# %%
written = question(
    lambda thread, value: (thread // 8 + 4 * value, 8 * (thread % 8)),
    (64, 64),
    size=2,
    vector=8,
    kind="write",
    values=16,
)
read = question(row_of_matrix, (64, 64), size=2, kind="ldmatrix", values=8)
print(padding([written, read]), [str(one) for one in swizzles([written, read])])

# %% [markdown]
# A padding of 8 halves, or the mode of 128 bytes, and no other swizzle.
#
# ### Exercise 5
#
# The same tile of halves is written by rows, two halves at a time, and read by columns, one half
# at a time: `rows` and `columns` below. Find a swizzle that frees both, as CUTLASS writes it: a
# tuple (B, M, S). There are several.

# %% name="5" tags=["exercise"]
rows = question(
    lambda thread, value: (value, 2 * thread), (64, 64), size=2, vector=2, kind="write", values=64
)
columns = question(lambda thread, value: (thread, value), (64, 64), size=2, values=64)
answer_5 = ...


# %% jupyter={"source_hidden": true} tags=["hide-input"]
def wrong_swizzle(numbers):
    swizzle = mm.layout.Swizzle(*numbers)
    for name, one in (("writing", rows), ("reading", columns)):
        found = one(swizzle)
        if not found.free:
            return f"{name} takes {found.stages} stages, and {found.least} are the least"
    return None


check(answer_5, wrong_swizzle)

# %% [markdown]
# The same from the command line, with an exit status for scripts:
#
# ```sh
# mmsim conflicts 128B --tile 64x64 --type half --vector 8 --write rows --ldmatrix columns
# mmsim conflicts --tile 64x64 --type half --write rows --read columns --search swizzles
# ```
#
# [A guide](../docs/how-to/tiles.md) answers questions that people asked about tiles of CUTLASS,
# Triton and ThunderKittens.
