# %% [markdown]
# Solutions of notebook 6, random address permute-shift.

# %% name="1"
answer_1 = 2 * (16 + 7 - 1)

# %% [markdown]
# Element (j, i - j) lies in bank i - j + r_j: the same for all j if r_j = j, the diagonal
# arrangement.

# %% name="2"
answer_2 = [0, 1, 2, 3, 4, 5, 6, 7]

# %% name="2" tags=["mistake"]
answer_2 = [7, 6, 5, 4, 3, 2, 1, 0]


# %% [markdown]
# The first row may have any shift, the second has 3 of 4 left, and so on.

# %% name="3"
answer_3 = 1 * 3 / 4 * 2 / 4 * 1 / 4

# %% [markdown]
# 64 requests of 3.61 stages in place of 1.

# %% name="4"
answer_4 = 170
# %% [markdown]
# Element (i, j) lies in bank j + r_i modulo 8; take bank 0.

# %% name="5"
answer_5 = [-shift % 8 for shift in r.tolist()]


# %% name="6"
@mm.program
def by_hand(T, a, b, r):
    w = a.shape[0]
    i, j = T.id // w, T.id % w
    b[j, (i + r[j]) % w] = a[i, (j + r[i]) % w]


answer_6 = by_hand
