# %% [markdown]
# # Solutions of the puzzles of class 3
#
# Cells tagged "mistake" are likely wrong answers: each fails the gate that it names, and no other.


# %% name="tile-without-padding"
@mm.program
def transpose(T, a, b):
    tile = mm.shared((8, 8))
    I, J = T.block // 2, T.block % 2
    i, j = T.index // 8, T.index % 8
    tile[i, (i + j) % 8] = a[8 * I + i, 8 * J + j]
    T.barrier()
    b[8 * J + i, 8 * I + j] = tile[j, (i + j) % 8]


# %% name="tile-without-padding" tags=["mistake"] fails="shared_words <= 64"
@mm.program
def transpose(T, a, b):
    tile = mm.shared((8, 9))
    I, J = T.block // 2, T.block % 2
    i, j = T.index // 8, T.index % 8
    tile[i, j] = a[8 * I + i, 8 * J + j]
    T.barrier()
    b[8 * J + i, 8 * I + j] = tile[j, i]


# %% name="tile-without-padding" tags=["mistake"] fails="no wasted"
# Rotated by twice the row, rows i and i + 4 of a column meet.
@mm.program
def transpose(T, a, b):
    tile = mm.shared((8, 8))
    I, J = T.block // 2, T.block % 2
    i, j = T.index // 8, T.index % 8
    tile[i, (2 * i + j) % 8] = a[8 * I + i, 8 * J + j]
    T.barrier()
    b[8 * J + i, 8 * I + j] = tile[j, (i + 2 * j) % 8]


# %% name="tile-without-padding" tags=["mistake"]
# Without the barrier.
@mm.program
def transpose(T, a, b):
    tile = mm.shared((8, 8))
    I, J = T.block // 2, T.block % 2
    i, j = T.index // 8, T.index % 8
    tile[i, (i + j) % 8] = a[8 * I + i, 8 * J + j]
    b[8 * J + i, 8 * I + j] = tile[j, (i + j) % 8]


# %% name="turn-the-picture"
@mm.program
def turn(T, a, b):
    i, j = T.id // 16, T.id % 16
    i = (i + j) % 16
    b[j, 15 - i] = a[i, j]


# %% name="turn-the-picture" tags=["mistake"] fails="stages <= 64"
# Rows of b in place of rows of a: now the reads are columns.
@mm.program
def turn(T, a, b):
    i, j = T.id // 16, T.id % 16
    b[i, j] = a[15 - j, i]


# %% name="swap-in-place"
# (i, i + d) and (i + d, i) lie on two diagonals, and a row and column of each has its own bank.
@mm.program
def transpose(T, a):
    d = T.id // 8 + 1
    i = T.id % 8
    j = (i + d) % 8
    if d < 4 or i < 4:
        a[i, j], a[j, i] = a[j, i], a[i, j]


# %% name="swap-in-place" tags=["mistake"] fails="no findings"
# On the diagonal 4 two threads swap each pair: that is right only if both run together.
@mm.program
def transpose(T, a):
    d = T.id // 8 + 1
    i = T.id % 8
    j = (i + d) % 8
    a[i, j], a[j, i] = a[j, i], a[i, j]


# %% name="swap-in-place" tags=["mistake"] fails="no barriers"
# Each thread moves two elements, after a barrier.
@mm.program
def transpose(T, a):
    i, k = T.id % 8, T.id // 8
    x, y = a[(i + k) % 8, i], a[(i + k + 4) % 8, i]
    T.barrier()
    a[i, (i + k) % 8], a[i, (i + k + 4) % 8] = x, y


# %% name="swap-in-place" tags=["mistake"] fails="stages <= 16"
# The same pairs in another order: first those with i = 0.
@mm.program
def transpose(T, a):
    d = T.id % 4 + 1
    i = T.id // 4
    j = (i + d) % 8
    if d < 4 or i < 4:
        a[i, j], a[j, i] = a[j, i], a[i, j]
