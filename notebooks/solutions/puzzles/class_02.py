# %% [markdown]
# # Solutions of the puzzles of class 2
#
# Cells tagged "mistake" are likely wrong answers: each fails the gate that it names, and no other.


# %% name="horner"
@mm.program
def horner(T, x, c, y):
    at = x[T.id]
    value = c[0]
    for k in range(1, 5):
        value = value * at + c[k]
    y[T.id] = value


# %% name="horner" tags=["mistake"] fails="rounds <= 7"
# Reads x in every iteration.
@mm.program
def horner(T, x, c, y):
    value = c[0]
    for k in range(1, 5):
        value = value * x[T.id] + c[k]
    y[T.id] = value


# %% name="enough-threads"
@mm.program
def increment(T, a, b):
    for k in range(T.id, 256, T.count):
        b[k] = a[k] + 1


# %% name="enough-threads" tags=["mistake"] fails="time <= 167"
# Four words in a row: the words of a warp are 4 apart, in two banks.
@mm.program
def increment(T, a, b):
    for k in range(4 * T.id, 4 * T.id + 4):
        b[k] = a[k] + 1


# %% name="two-barriers"
# A tree of eights.
@mm.program
def total(T, a, c):
    s = mm.shared(64, dtype=int)
    x = 0
    for t in range(8):
        x += a[64 * t + T.id]
    s[T.id] = x
    T.barrier()
    if T.id < 8:
        x = 0
        for t in range(8):
            x += s[8 * t + T.id]
        s[T.id] = x
    T.barrier()
    if T.id == 0:
        x = 0
        for t in range(8):
            x += s[t]
        c[0] = x


# %% name="two-barriers" tags=["mistake"] fails="time <= 150"
# One thread adds all 64 sums, and waits 64 times.
@mm.program
def total(T, a, c):
    s = mm.shared(64, dtype=int)
    x = 0
    for t in range(8):
        x += a[64 * t + T.id]
    s[T.id] = x
    T.barrier()
    if T.id == 0:
        x = 0
        for t in range(64):
            x += s[t]
        c[0] = x


# %% name="two-barriers" tags=["mistake"] fails="no findings"
# The second barrier left out: only in the model do the lanes of a warp run together.
@mm.program
def total(T, a, c):
    s = mm.shared(64, dtype=int)
    x = 0
    for t in range(8):
        x += a[64 * t + T.id]
    s[T.id] = x
    T.barrier()
    if T.id < 8:
        x = 0
        for t in range(8):
            x += s[8 * t + T.id]
        s[T.id] = x
        if T.id == 0:
            x = 0
            for t in range(8):
                x += s[t]
            c[0] = x


# %% name="two-barriers" tags=["mistake"] fails="barriers <= 2"
# A tree of fours takes three steps.
@mm.program
def total(T, a, c):
    s = mm.shared(64, dtype=int)
    x = 0
    for t in range(8):
        x += a[64 * t + T.id]
    s[T.id] = x
    k = 16
    while k > 0:
        T.barrier()
        if T.id < k:
            s[T.id] = s[T.id] + s[T.id + k] + s[T.id + 2 * k] + s[T.id + 3 * k]
        k //= 4
    if T.id == 0:
        c[0] = s[0]
