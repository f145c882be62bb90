# %% [markdown]
# # Solutions of 1: banks and address groups
#
# Cells tagged "mistake" are likely wrong answers, which the check refuses.

# %% name="1"
# DMM: 7 and 15 are in bank 3, so 2 + 1 stages, and 4 more. UMM: 3 + 2 groups, and 4 more.
answer_1 = (2 + 1 + 5 - 1, 3 + 2 + 5 - 1)

# %% name="2"
answer_2 = [0, 5, 10, 15]  # a diagonal: every bank once, every group once

# %% name="2" tags=["mistake"]
answer_2 = [0, 4, 8, 12]  # a column: four groups, but one bank

# %% name="2" tags=["mistake"]
answer_2 = [-4, 1, 6, 11]

# %% name="3"
answer_3 = False  # different words of one group are in different banks

# %% name="4"
answer_4 = 13  # the first length from 12 on that is odd, so that gcd(13, 8) = 1


# %% name="5"
@mm.program
def padded_sums(T, a, b, total):
    b[T.id + T.id // 8] = a[T.id]
    T.barrier()
    if T.id < 8:
        x = 0
        for t in range(8):
            x += b[T.id * 9 + t]
        total[T.id] = x


answer_5 = padded_sums


# %% name="5" tags=["mistake"]
# Padded by as many words as a row has: still all in one bank.
@mm.program
def padded_sums(T, a, b, total):
    b[T.id + T.id // 8 * 8] = a[T.id]
    T.barrier()
    if T.id < 8:
        x = 0
        for t in range(8):
            x += b[T.id * 16 + t]
        total[T.id] = x


answer_5 = padded_sums


# %% name="5" tags=["mistake"]
# Reads as if there were holes, but leaves none.
@mm.program
def padded_sums(T, a, b, total):
    b[T.id] = a[T.id]
    T.barrier()
    if T.id < 8:
        x = 0
        for t in range(8):
            x += b[T.id * 9 + t]
        total[T.id] = x


answer_5 = padded_sums


# %% name="6"
@mm.program
def rotated_sums(T, a, total):
    x = 0
    for t in range(8):
        x += a[T.id * 8 + (t + T.id) % 8]
    total[T.id] = x


answer_6 = rotated_sums


# %% name="6" tags=["mistake"]
# All turn by the same: a column it is.
@mm.program
def rotated_sums(T, a, total):
    x = 0
    for t in range(8):
        x += a[T.id * 8 + (t + 3) % 8]
    total[T.id] = x


answer_6 = rotated_sums
