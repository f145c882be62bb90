# %% [markdown]
# # Solutions of 3: transpose three ways
#
# Cells tagged "mistake" are likely wrong answers, which the check refuses.

# %% name="1"
# 16 steps; in each 32 requests of 32 stages to read, 32 of one stage to write, two latencies.
answer_1 = 16 * (32 * 32 + 9 + 32 + 9)

# %% name="1" tags=["mistake"]
answer_1 = 16 * (32 * 32 + 32 + 9)  # one latency

# %% name="2"
# The third warp ends one diagonal at (11, 0) and begins the next at (0, 2): a[8, 9], a[11, 0] and
# a[1, 3], the words 105, 132 and 15, are all in bank 6.
answer_2 = 3

# %% name="3"
# p = 2048, so p/w = 64 requests a round; n/p = 32 words for each thread, read and written.
answer_3 = 2 * (64 + 10 - 1) * 32

# %% name="4"
answer_4 = 2 * 512 + 2 * 512 // 8 + 2 * 100 - 2

# %% name="4" tags=["mistake"]
answer_4 = 2 * 512 // 8 + 2 * 512 // 8 + 2 * 100 - 2  # there is only one global memory


# %% name="5"
@mm.program
def padded(T, a, b, w):
    alpha = mm.shared((w, w + 1))
    I, J = T.block // (a.shape[1] // w), T.block % (a.shape[1] // w)
    i, j = T.index // w, T.index % w
    alpha[i, j] = a[I * w + i, J * w + j]
    T.barrier()
    b[J * w + i, I * w + j] = alpha[j, i]


answer_5 = padded


# %% name="5" tags=["mistake"]
# Padded at the end of the tile, not of each row.
@mm.program
def padded(T, a, b, w):
    alpha = mm.shared((w + 1, w))
    I, J = T.block // (a.shape[1] // w), T.block % (a.shape[1] // w)
    i, j = T.index // w, T.index % w
    alpha[i, j] = a[I * w + i, J * w + j]
    T.barrier()
    b[J * w + i, I * w + j] = alpha[j, i]


answer_5 = padded


# %% name="5" tags=["mistake"]
# Without the barrier a warp reads what another hasn't written yet.
@mm.program
def padded(T, a, b, w):
    alpha = mm.shared((w, w + 1))
    I, J = T.block // (a.shape[1] // w), T.block % (a.shape[1] // w)
    i, j = T.index // w, T.index % w
    alpha[i, j] = a[I * w + i, J * w + j]
    b[J * w + i, I * w + j] = alpha[j, i]


answer_5 = padded


# %% name="6"
@mm.program
def in_place(T, a):
    rows = a.shape[0]
    j, k = T.id // rows, T.id % rows
    x = a[(j + k) % rows, k]
    T.barrier()
    a[k, (j + k) % rows] = x


answer_6 = in_place


# %% name="6" tags=["mistake"]
# Without the barrier.
@mm.program
def in_place(T, a):
    rows = a.shape[0]
    j, k = T.id // rows, T.id % rows
    a[k, (j + k) % rows] = a[(j + k) % rows, k]


answer_6 = in_place


# %% name="6" tags=["mistake"]
# With it, but still along the columns.
@mm.program
def in_place(T, a):
    rows = a.shape[0]
    j, k = T.id // rows, T.id % rows
    x = a[k, j]
    T.barrier()
    a[j, k] = x


answer_6 = in_place
