# %% [markdown]
# Solutions of notebook 5, the scheduled permutation.

# %% [markdown]
# Each of the three row-wise permutations reads the matrix and two tables and writes once; each of
# the two transposes reads once and writes once.

# %% name="1"
answer = (3 * 3 + 2, 3 + 2)

# %% [markdown]
# Diagonals again: word (i, j) travels in column (i + j) mod 4.

# %% name="2"
answer = [[(i + j) % 4 for j in range(4)] for i in range(4)]

# %% [markdown]
# It wins where n (1 - 14/w - 16/(dw)) > 13 (L - 1), that is where n > 29 684: √n = 172.3.

# %% name="3"
answer = 256

# %% [markdown]
# 16n/(dw) is 8192/d, the rest 16 (512 + 99) = 9776; so d has to be more than 7.5.

# %% name="4"
answer = 8


# %% name="5"
@mm.program
def transpose(T, a, b, w):
    alpha = mm.shared((w, w))
    I, J = T.block // (a.shape[1] // w), T.block % (a.shape[1] // w)
    i, j = T.index // w, T.index % w
    alpha[i, (i + j) % w] = a[I * w + i, J * w + j]
    T.barrier()
    b[J * w + i, I * w + j] = alpha[j, (j + i) % w]


answer = transpose

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


answer = rotate
