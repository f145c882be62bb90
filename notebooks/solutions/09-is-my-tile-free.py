# %% [markdown]
# # Solutions of 9: is my tile free of conflicts?
#
# Cells tagged "mistake" are likely wrong answers, which the check refuses.

# %% name="1"
# Halves, floats, doubles: 132 bytes are 33 words, 260 are 65, and of 520 a phase has 16 threads,
# two banks apart. Bytes: 66 are 16 words and a half, so that rows 0, 2, 4, ... are 33 words apart,
# and the rows between begin in the other 16 banks.
answer_1 = [2, 2, 1, 1]

# %% name="1" tags=["mistake"]
answer_1 = [1, 1, 1, 1]

# %% name="2"
answer_2 = 4  # rows of 36 floats: the eight threads of a phase begin 4 banks apart

# %% name="2" tags=["mistake"]
answer_2 = 1


# %% name="3"
# Diagonal: row i is rotated by i.
def place(i, j):
    return 32 * i + (i + j) % 32


answer_3 = place


# %% name="3" tags=["mistake"]
# Rotated by an even number, two rows of a column meet.
def place(i, j):
    return 32 * i + (2 * i + j) % 32


answer_3 = place

# %% name="4"
# Eight rows begin in one bank. A mode of 2^b times 16 bytes puts 2^b of them into different banks.
answer_4 = [8, 4, 2, 1]

# %% name="4" tags=["mistake"]
answer_4 = [8, 8, 4, 2]

# %% name="5"
# The five bits of the row, from bit 6 on, go to the bits that choose the bank, from bit 1 on.
rows = question(
    lambda thread, value: (value, 2 * thread), (64, 64), size=2, vector=2, kind="write", values=64
)
columns = question(lambda thread, value: (thread, value), (64, 64), size=2, values=64)
answer_5 = (5, 1, 5)

# %% name="5" tags=["mistake"]
rows = question(
    lambda thread, value: (value, 2 * thread), (64, 64), size=2, vector=2, kind="write", values=64
)
columns = question(lambda thread, value: (thread, value), (64, 64), size=2, values=64)
answer_5 = (3, 3, 3)
