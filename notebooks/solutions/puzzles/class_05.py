# %% [markdown]
# # Solutions of the puzzles of class 5
#
# Cells tagged "mistake" are likely wrong answers: each fails the gate that it names, and no other.


# %% name="pixels"
@mm.program
def planes(T, a, p):
    own = mm.shared(48)
    for k in range(3):
        own[16 * k + T.index] = a[48 * T.block + 16 * k + T.index]
    T.barrier()
    for c in range(3):
        p[c, T.id] = own[3 * T.index + c]


# %% name="pixels" tags=["mistake"] fails="no wasted"
# Sorted by colours on the way into shared memory: places 0, 16, 32, 1, 17, ... lie in few banks.
@mm.program
def planes(T, a, p):
    own = mm.shared(48)
    for k in range(3):
        word = 16 * k + T.index
        own[16 * (word % 3) + word // 3] = a[48 * T.block + word]
    T.barrier()
    for c in range(3):
        p[c, T.id] = own[16 * c + T.index]


# %% name="pixels" tags=["mistake"] fails="shared_words <= 48"
# The same in rows of 19 words, without conflicts.
@mm.program
def planes(T, a, p):
    own = mm.shared((3, 19))
    for k in range(3):
        word = 16 * k + T.index
        own[word % 3, word // 3] = a[48 * T.block + word]
    T.barrier()
    for c in range(3):
        p[c, T.id] = own[c, T.index]


# %% name="pixels" tags=["mistake"] fails="no findings"
# Without a barrier.
@mm.program
def planes(T, a, p):
    own = mm.shared(48)
    for k in range(3):
        own[16 * k + T.index] = a[48 * T.block + 16 * k + T.index]
    for c in range(3):
        p[c, T.id] = own[3 * T.index + c]


# %% name="columns"
@mm.program
def permute(T, a, q, b):
    beta = mm.shared((16, 8))
    i, j = T.index // 8, T.index % 8
    column = 8 * T.block + j
    beta[q[i, column], j] = a[i, column]
    T.barrier()
    b[i, column] = beta[i, j]


# %% name="columns" tags=["mistake"] fails="no wasted"
# A column of a is a row here, in all banks.
@mm.program
def permute(T, a, q, b):
    beta = mm.shared((8, 16))
    i, j = T.index // 8, T.index % 8
    column = 8 * T.block + j
    beta[j, q[i, column]] = a[i, column]
    T.barrier()
    b[i, column] = beta[j, i]


# %% name="columns" tags=["mistake"] fails="shared_words <= 128"
# With two arrays, as the class permutes rows.
@mm.program
def permute(T, a, q, b):
    alpha = mm.shared((16, 8))
    beta = mm.shared((16, 8))
    i, j = T.index // 8, T.index % 8
    column = 8 * T.block + j
    alpha[i, j] = a[i, column]
    target = q[i, column]
    T.barrier()
    beta[target, j] = alpha[i, j]
    T.barrier()
    b[i, column] = beta[i, j]


# %% name="columns" tags=["mistake"]
# Without a barrier.
@mm.program
def permute(T, a, q, b):
    beta = mm.shared((16, 8))
    i, j = T.index // 8, T.index % 8
    column = 8 * T.block + j
    beta[q[i, column], j] = a[i, column]
    b[i, column] = beta[i, j]
