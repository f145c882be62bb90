# %% [markdown]
# # Solutions of 10: the canon
#
# Cells tagged "mistake" are likely wrong answers, which the check refuses.

# %% name="1"
# Steps with 2048, 1024, ..., 1 pairs: 8 + 4 + 2 + 1 rounds for those with more than 256, then 8
# steps of one. Their stages: 128 + 64 + ... + 1, then 4 steps of fewer than 16 pairs.
answer_1 = 3 * (255 + 4 + (15 + 8) * 9)

# %% name="1" tags=["mistake"]
answer_1 = 255 + 4 + (15 + 8) * 9  # two reads and a write: three accesses

# %% name="2"
# What depends on p, 9n/p + 18 log p + 3p/w: 852 for 1024 threads, 678 for 2048, 744 for 4096.
answer_2 = 2048

# %% name="2" tags=["mistake"]
answer_2 = 8192

# %% name="3"
# 12 (n/w - 1) + 7 log w against (3 log n - 1) n/w + 1: 50 and 45 for n = 16, 98 and 113 for 32.
answer_3 = 32

# %% name="3" tags=["mistake"]
answer_3 = 16


# %% name="4"
# With one array a thread could read a word that another has already changed in the same step.
@mm.program
def running(T, a, b):
    n, p, i = a.size, T.count, T.id
    h = 1
    while h < n:
        for k in range(i, n, p):
            x = a[k]
            if k >= h:
                x = max(x, a[k - h])
            b[k] = x
        T.barrier()
        a, b = b, a
        h = 2 * h


answer_4 = running


# %% name="4" tags=["mistake"]
# Words without one before them must be copied, too.
@mm.program
def running(T, a, b):
    n, p, i = a.size, T.count, T.id
    h = 1
    while h < n:
        for k in range(i, n, p):
            if k >= h:
                b[k] = max(a[k], a[k - h])
        T.barrier()
        a, b = b, a
        h = 2 * h


answer_4 = running

# %% name="5"
# Each thread reads a word of A and one of B for each of 4 pairs of tiles, and writes a word of C: 9
# accesses of 256 warps.
answer_5 = 9 * 4096 // 16

# %% name="5" tags=["mistake"]
answer_5 = 8 * 4096 // 16  # the product is written, too

# %% name="6"
answer_6 = 224 * 7 // 16  # 14 reads for each of 16 words, with 7 stages each

# %% name="6" tags=["mistake"]
answer_6 = 224 // 16  # without conflicts


# %% name="7"
@mm.program
def largest(T, a, c):
    n, p, i = a.size, T.count, T.id
    s = a[i]
    for t in range(1, n // p):
        s = max(s, a[t * p + i])
    c[i] = s
    h = p // 2
    while h > 0:
        T.barrier()
        if i < h:
            s = max(s, c[i + h])
            c[i] = s
        h = h // 2


found = mm.fit(
    largest,
    wider,
    machine=lambda w: mm.DMM(w, 100),
    arguments=lambda n, p: (numbers(n), np.zeros(p, int)),
)
answer_7 = (largest, found)


# %% name="7" tags=["mistake"]
# Zero is larger than negative numbers.
@mm.program
def largest(T, a, c):
    n, p, i = a.size, T.count, T.id
    s = 0
    for t in range(n // p):
        s = max(s, a[t * p + i])
    c[i] = s
    h = p // 2
    while h > 0:
        T.barrier()
        if i < h:
            s = max(s, c[i + h])
            c[i] = s
        h = h // 2


answer_7 = (largest, by_columns)


# %% name="7" tags=["mistake"]
# In this grid p is always n/2, and so the formula holds only there.
@mm.program
def largest(T, a, c):
    n, p, i = a.size, T.count, T.id
    s = a[i]
    for t in range(1, n // p):
        s = max(s, a[t * p + i])
    c[i] = s
    h = p // 2
    while h > 0:
        T.barrier()
        if i < h:
            s = max(s, c[i + h])
            c[i] = s
        h = h // 2


found = mm.fit(
    lambda n, w: mm.DMM(w, 100).run(largest, numbers(n), np.zeros(n // 2, int), threads=n // 2),
    {"n": [256, 512, 1024, 2048], "w": [4, 8, 16, 32]},
)
answer_7 = (largest, found)


# %% name="8"
# The words of lanes i and j of a warp lie in one bank if w divides 2(i - j). With an even w that is
# so for j = i + w/2: two stages for each read. With an odd w it is so only if w divides i - j, and
# no two lanes of a warp are that far apart. All widths of the grid are even.
def time_there(n, p, w, l):
    return 3 * n / w + 3 * n * (l - 1) / p


widths = range(1, 33, 2)
answer_8 = (widths, time_there)


# %% name="8" tags=["mistake"]
# A warp of one thread has no conflict, too.
def time_there(n, p, w, l):
    return 3 * n / w + 3 * n * (l - 1) / p


answer_8 = (range(3, 33, 2), time_there)


# %% name="8" tags=["mistake"]
# Also the second read has one stage.
def time_there(n, p, w, l):
    return 4 * n / w + 3 * n * (l - 1) / p


answer_8 = (range(1, 33, 2), time_there)


# %% name="8" tags=["mistake"]
# Right where n = p only.
def time_there(n, p, w, l):
    return 3 * n / w + 3 * (l - 1)


answer_8 = (range(1, 33, 2), time_there)
