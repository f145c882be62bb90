# %% [markdown]
# # Solutions of the puzzles of class 7
#
# Cells tagged "mistake" are likely wrong answers: each fails the gate that it names, and no other.


# %% name="four-at-once"
@mm.program
def double(T, a, b):
    x, y, z, w = mm.vector(a, 4)[T.id]
    mm.vector(b, 4)[T.id] = 2 * x, 2 * y, 2 * z, 2 * w


# %% name="four-at-once" tags=["mistake"] fails="time <= 58"
# Two at a time.
@mm.program
def double(T, a, b):
    for k in range(T.id, 64, 32):
        x, y = mm.vector(a, 2)[k]
        mm.vector(b, 2)[k] = 2 * x, 2 * y


# %% name="four-at-once" tags=["mistake"] fails="time <= 58"
# Four words in a row, one at a time.
@mm.program
def double(T, a, b):
    for k in range(4 * T.id, 4 * T.id + 4):
        b[k] = 2 * a[k]


# %% name="rows-of-nine"
@mm.program
def double(T, a, b):
    for k in range(T.id, 144, T.count):
        i, j = k // 9, k % 9
        b[i, j] = 2 * a[i, j]


# %% name="rows-of-nine" tags=["mistake"] fails="stages <= 36"
# By columns.
@mm.program
def double(T, a, b):
    for k in range(T.id, 144, T.count):
        i, j = k % 16, k // 16
        b[i, j] = 2 * a[i, j]
