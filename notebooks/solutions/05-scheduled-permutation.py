# %% [markdown]
# Solutions of notebook 5, the scheduled permutation.

# %% [markdown]
# Diagonals again: word (i, j) travels in column (i + j) mod 4.

# %% name="1"
answer_1 = [[(i + j) % 4 for j in range(4)] for i in range(4)]

# %% [markdown]
# All threads have to read before the first one writes, so the word waits in a variable meanwhile:
# one barrier more.


# %% name="2"
@mm.program
def in_one_array(T, a, b, s, d):
    alpha = mm.shared(a.shape[1])
    i, j = T.block, T.index
    alpha[j] = a[i, j]
    T.barrier()
    word = alpha[s[i, j]]
    T.barrier()
    alpha[d[i, j]] = word
    T.barrier()
    b[i, j] = alpha[j]


answer_2 = in_one_array


# %% name="2" tags=["mistake"]
@mm.program
def in_one_array(T, a, b, s, d):
    alpha = mm.shared(a.shape[1])
    i, j = T.block, T.index
    alpha[j] = a[i, j]
    T.barrier()
    word = alpha[s[i, j]]
    alpha[d[i, j]] = word  # others may not have read yet
    T.barrier()
    b[i, j] = alpha[j]


answer_2 = in_one_array

# %% [markdown]
# Each of the three row-wise permutations reads the matrix and two tables and writes once; each of
# the two transposes reads once and writes once.

# %% name="3"
answer_3 = (3 * 3 + 2, 3 + 2)

# %% [markdown]
# It wins where n (1 - 14/w - 16/(dw)) > 13 (L - 1), that is where n > 29 684: √n = 172.3.

# %% name="4"
answer_4 = 256

# %% [markdown]
# 16n/(dw) is 8192/d, the rest 16 (512 + 99) = 9776; so d has to be more than 7.5.

# %% name="5"
answer_5 = 8


# %% [markdown]
# A block writes 2w words that begin where a group begins. What it needs lies in three groups at
# most: it reads two of them with all its threads and the third with half of them.


# %% name="6"
@mm.program
def rotate(T, a, b, k):
    w = T.block_size // 2
    alpha = mm.shared(3 * w)
    first = (T.block * T.block_size - k) % a.size  # the word that comes to the block's first place
    group = first // w * w
    alpha[T.index] = a[(group + T.index) % a.size]
    if T.index < w:
        alpha[2 * w + T.index] = a[(group + 2 * w + T.index) % a.size]
    T.barrier()
    b[T.id] = alpha[first - group + T.index]


answer_6 = rotate


# %% name="6" tags=["mistake"]
# Each thread fetches its word: a warp reads from two address groups instead of writing to them.
@mm.program
def rotate(T, a, b, k):
    b[T.id] = a[(T.id - k) % a.size]


answer_6 = rotate


# %% name="6" tags=["mistake"]
# Without the barrier a warp reads what the other hasn't written yet.
@mm.program
def rotate(T, a, b, k):
    w = T.block_size // 2
    alpha = mm.shared(3 * w)
    first = (T.block * T.block_size - k) % a.size
    group = first // w * w
    alpha[T.index] = a[(group + T.index) % a.size]
    if T.index < w:
        alpha[2 * w + T.index] = a[(group + 2 * w + T.index) % a.size]
    b[T.id] = alpha[first - group + T.index]


answer_6 = rotate
