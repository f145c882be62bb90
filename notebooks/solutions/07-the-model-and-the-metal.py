# %% [markdown]
# Solutions of notebook 7, the model and the metal.

# %% [markdown]
# A byte in a picosecond is a terabyte in a second.

# %% name="1"
answer_1 = round(128 / card.group_ps, 1)

# %% [markdown]
# Two rounds of 32 stages and one of 1024; with so many warps the latency is hidden.

# %% name="2"
answer_2 = (32 + 1024 + 32) * card.cycles_per_stage

# %% name="2" tags=["mistake"]
answer_2 = (32 + 32 + 32) * card.cycles_per_stage

# %% [markdown]
# Sixteen threads, four words apart: they meet four banks, four words in each. Two halves: eight
# stages.

# %% name="3"
answer_3 = 8

# %% name="4"
answer_4 = [2048, 4096, 8192]

# %% [markdown]
# Word (j, i) lies at 33 j + i, in bank j + i modulo 32: another for each j.


# %% name="5"
@mm.program
def padded(T, a, b):
    i, j = T.id // 32, T.id % 32
    b[j, i] = a[i, j]


answer_5 = padded


# %% name="6"
def corrected(row):
    n = row["sqrt n"] ** 2
    wide = 2 if row["type"] == "double" else 1
    groups = n / 32 + wide * n / 32 + n / 4
    return machine.milliseconds(groups, launches=1)


answer_6 = corrected


# %% name="6" tags=["mistake"]
def corrected(row):
    n = row["sqrt n"] ** 2
    return machine.milliseconds(n / 32 + n / 32 + n / 4, launches=1)


answer_6 = corrected
