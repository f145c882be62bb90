# %% [markdown]
# Solutions of notebook 4, conflict-free permutation.

# %% [markdown]
# The reads of `q` and the writes of `b` take 8 + 2 time units each, the casual reads 64 + 2.

# %% name="1"
answer_1 = (8 + 2) + (64 + 2) + (8 + 2)

# %% [markdown]
# Follow a circuit and give its edges the two colours in turn.

# %% name="2"
answer_2 = [0, 1, 0, 0, 1, 0, 1, 1]

# %% [markdown]
# Word j of warp g goes to bank g, so that the warp is as bad as can be; its row (j + g) mod 4 is
# chosen so that each row takes its words from four different banks.

# %% name="3"
answer_3 = [(j + g) % 4 * 4 + g for g in range(4) for j in range(4)]


# %% [markdown]
# Conflict-free takes longer by 2n/w + l - 1 - C, so l = C - 2n/w + 1.

# %% name="4"
answer_4 = permutations.congestion(permutations.random(1024, 0), 32) - 2 * 1024 // 32 + 1

# %% [markdown]
# A warp takes a diagonal: its elements lie in different columns, and in different rows.


# %% name="5"
@mm.program
def transposed(T, a, b):
    w = a.shape[0]
    i, j = T.id // w, T.id % w
    b[j, (i + j) % w] = a[(i + j) % w, j]


answer_5 = transposed


# %% [markdown]
# The threads of a warp must take neighbours of the tables: contiguous access.


# %% name="6"
@mm.program
def shared_out(T, a, b, s, d):
    for k in range(a.size // T.count):
        i = k * T.count + T.id
        b[d[i]] = a[s[i]]


answer_6 = shared_out
