# %% [markdown]
# # Solutions of the puzzles of class 6
#
# Cells tagged "mistake" are likely wrong answers: each fails the gate that it names, and no other.


# %% name="three-directions"
SHIFTS = (0, 2, 4, 6, 1, 3, 5)


@mm.program
def look(T, a, b):
    tile = mm.shared((7, 7))
    i, j = T.id // 7, T.id % 7
    tile[i, (j + SHIFTS[i]) % 7] = a[i, j]
    T.barrier()
    column = tile[j, (i + SHIFTS[j]) % 7]
    diagonal = tile[j, (i + j + SHIFTS[j]) % 7]
    antidiagonal = tile[j, (i - j + SHIFTS[j]) % 7]
    b[i, j] = column + 100 * diagonal + 10000 * antidiagonal


# %% name="three-directions" tags=["mistake"] fails="stages of tile <= 28"
# Columns and diagonals are free, and each antidiagonal lies in one bank.
SHIFTS = (0, 1, 2, 3, 4, 5, 6)


@mm.program
def look(T, a, b):
    tile = mm.shared((7, 7))
    i, j = T.id // 7, T.id % 7
    tile[i, (j + SHIFTS[i]) % 7] = a[i, j]
    T.barrier()
    column = tile[j, (i + SHIFTS[j]) % 7]
    diagonal = tile[j, (i + j + SHIFTS[j]) % 7]
    antidiagonal = tile[j, (i - j + SHIFTS[j]) % 7]
    b[i, j] = column + 100 * diagonal + 10000 * antidiagonal


# %% name="three-directions" tags=["mistake"] fails="shared_words <= 49"
# Rows of 9 words: padding does what a rotation by 2 does.
@mm.program
def look(T, a, b):
    tile = mm.shared((7, 9))
    i, j = T.id // 7, T.id % 7
    tile[i, j] = a[i, j]
    T.barrier()
    column = tile[j, i]
    diagonal = tile[j, (i + j) % 7]
    antidiagonal = tile[j, (i - j) % 7]
    b[i, j] = column + 100 * diagonal + 10000 * antidiagonal


# %% name="plain-under-rap"
# The shifts differ, so a column has a word in each bank; and a row is only rotated.
@mm.program
def transpose(T, a, b):
    i, j = T.id // 8, T.id % 8
    b[j, i] = a[i, j]


# %% name="plain-under-rap" tags=["mistake"] fails="no wasted"
# Other diagonals.
@mm.program
def transpose(T, a, b):
    i, j = T.id // 8, T.id % 8
    b[j, (i - j) % 8] = a[(i - j) % 8, j]


# %% name="lookups"
@mm.program
def look_up(T, t, x, y):
    own = mm.shared(64)
    i, j = T.id // 8, T.id % 8
    own[8 * i + (i + j) % 8] = t[T.id]
    T.barrier()
    key = x[T.id]
    i, j = key // 8, key % 8
    y[T.id] = own[8 * i + (i + j) % 8]


# %% name="lookups" tags=["mistake"] fails="shared_words <= 64"
@mm.program
def look_up(T, t, x, y):
    own = mm.shared(72)
    own[T.id + T.id // 8] = t[T.id]
    T.barrier()
    key = x[T.id]
    y[T.id] = own[key + key // 8]


# %% name="lookups" tags=["mistake"] fails="no wasted"
# The transposed table: a warp reads it without a conflict, but writes it with one.
@mm.program
def look_up(T, t, x, y):
    own = mm.shared(64)
    own[8 * (T.id % 8) + T.id // 8] = t[T.id]
    T.barrier()
    key = x[T.id]
    y[T.id] = own[8 * (key % 8) + key // 8]


# %% name="lookups" tags=["mistake"] fails="no findings"
# Without a barrier.
@mm.program
def look_up(T, t, x, y):
    own = mm.shared(64)
    i, j = T.id // 8, T.id % 8
    own[8 * i + (i + j) % 8] = t[T.id]
    key = x[T.id]
    i, j = key // 8, key % 8
    y[T.id] = own[8 * i + (i + j) % 8]
