# %% [markdown]
# # Solutions of the puzzles of class 10
#
# Cells tagged "mistake" are likely wrong answers: each fails the gate that it names, and no other.


# %% name="matrix-vector"
@mm.program
def product(T, a, x, y):
    total = a[T.warp, T.lane] * x[T.lane]
    total += a[T.warp, 8 + T.lane] * x[8 + T.lane]
    d = 4
    while d > 0:
        total += mm.warp.shuffle_down(total, d)
        d //= 2
    if T.lane == 0:
        y[T.warp] = total


# %% name="matrix-vector" tags=["mistake"] fails="time <= 89"
# One lane adds what the others have left in memory.
@mm.program
def product(T, a, x, y):
    part = mm.shared((16, 8), dtype=int)
    total = a[T.warp, T.lane] * x[T.lane]
    total += a[T.warp, 8 + T.lane] * x[8 + T.lane]
    part[T.warp, T.lane] = total
    mm.warp.sync()
    if T.lane == 0:
        total = 0
        for k in range(8):
            total += part[T.warp, k]
        y[T.warp] = total


# %% name="scan"
@mm.program
def scan(T, a, b):
    totals = mm.shared(8, dtype=int)
    x = a[T.id]
    d = 1
    while d < 8:
        before = mm.warp.shuffle_up(x, d)
        if T.lane >= d:
            x += before
        d *= 2
    if T.lane == 7:
        totals[T.warp] = x
    T.barrier()
    for k in range(T.warp):
        x += totals[k]
    b[T.id] = x


# %% name="scan" tags=["mistake"] fails="no findings"
# Without the barrier.
@mm.program
def scan(T, a, b):
    totals = mm.shared(8, dtype=int)
    x = a[T.id]
    d = 1
    while d < 8:
        before = mm.warp.shuffle_up(x, d)
        if T.lane >= d:
            x += before
        d *= 2
    if T.lane == 7:
        totals[T.warp] = x
    for k in range(T.warp):
        x += totals[k]
    b[T.id] = x


# %% name="scan" tags=["mistake"] fails="time <= 80"
# Each thread adds all words before its own.
@mm.program
def scan(T, a, b):
    x = 0
    for k in range(T.id + 1):
        x += a[k]
    b[T.id] = x


# %% name="sort-in-a-warp"
@mm.program
def sort(T, a, b):
    x = a[T.id]
    size = 2
    while size <= 8:
        d = size // 2
        while d > 0:
            y = mm.warp.shuffle_xor(x, d)
            upwards, lower = T.lane & size == 0, T.lane & d == 0
            x = min(x, y) if upwards == lower else max(x, y)
            d //= 2
        size *= 2
    b[T.id] = x


# %% name="sort-in-a-warp" tags=["mistake"] fails="no barriers"
# The barriers stay, though nothing needs them.
@mm.program
def sort(T, a, b):
    x = a[T.id]
    size = 2
    while size <= 8:
        d = size // 2
        while d > 0:
            T.barrier()
            y = mm.warp.shuffle_xor(x, d)
            upwards, lower = T.lane & size == 0, T.lane & d == 0
            x = min(x, y) if upwards == lower else max(x, y)
            d //= 2
        size *= 2
    b[T.id] = x


# %% name="sort-in-a-warp" tags=["mistake"] fails="requests <= 16"
# In shared memory, with syncs of the warp.
@mm.program
def sort(T, a, b):
    s = mm.shared(64, dtype=int)
    s[T.id] = a[T.id]
    size = 2
    while size <= 8:
        d = size // 2
        while d > 0:
            mm.warp.sync()
            x, y = s[T.id], s[T.id ^ d]
            mm.warp.sync()
            upwards, lower = T.lane & size == 0, T.lane & d == 0
            s[T.id] = min(x, y) if upwards == lower else max(x, y)
            d //= 2
        size *= 2
    b[T.id] = s[T.id]


# %% name="smallest-and-largest"
@mm.program
def extremes(T, a, r):
    lows = mm.shared(8, dtype=int)
    highs = mm.shared(8, dtype=int)
    low = a[T.id]
    high = low
    for t in range(1, 8):
        x = a[64 * t + T.id]
        low, high = min(low, x), max(high, x)
    d = 4
    while d > 0:
        low = min(low, mm.warp.shuffle_xor(low, d))
        high = max(high, mm.warp.shuffle_xor(high, d))
        d //= 2
    if T.lane == 0:
        lows[T.warp] = low
        highs[T.warp] = high
    T.barrier()
    if T.warp == 0:
        low, high = lows[T.lane], highs[T.lane]
        d = 4
        while d > 0:
            low = min(low, mm.warp.shuffle_xor(low, d))
            high = max(high, mm.warp.shuffle_xor(high, d))
            d //= 2
        if T.lane < 2:
            r[T.lane] = low if T.lane == 0 else high


# %% name="smallest-and-largest" tags=["mistake"] fails="time <= 240"
# Reads all words twice.
@mm.program
def extremes(T, a, r):
    lows = mm.shared(8, dtype=int)
    highs = mm.shared(8, dtype=int)
    low = a[T.id]
    high = a[T.id]
    for t in range(1, 8):
        low, high = min(low, a[64 * t + T.id]), max(high, a[64 * t + T.id])
    d = 4
    while d > 0:
        low = min(low, mm.warp.shuffle_xor(low, d))
        high = max(high, mm.warp.shuffle_xor(high, d))
        d //= 2
    if T.lane == 0:
        lows[T.warp] = low
        highs[T.warp] = high
    T.barrier()
    if T.warp == 0:
        low, high = lows[T.lane], highs[T.lane]
        d = 4
        while d > 0:
            low = min(low, mm.warp.shuffle_xor(low, d))
            high = max(high, mm.warp.shuffle_xor(high, d))
            d //= 2
        if T.lane < 2:
            r[T.lane] = low if T.lane == 0 else high


# %% name="smallest-and-largest" tags=["mistake"] fails="barriers <= 1"
# One array for both, so that the second extreme has to wait.
@mm.program
def extremes(T, a, r):
    s = mm.shared(8, dtype=int)
    low = a[T.id]
    high = low
    for t in range(1, 8):
        x = a[64 * t + T.id]
        low, high = min(low, x), max(high, x)
    d = 4
    while d > 0:
        low = min(low, mm.warp.shuffle_xor(low, d))
        high = max(high, mm.warp.shuffle_xor(high, d))
        d //= 2
    if T.lane == 0:
        s[T.warp] = low
    T.barrier()
    if T.warp == 0:
        low = s[T.lane]
    T.barrier()
    if T.lane == 0:
        s[T.warp] = high
    T.barrier()
    if T.warp == 0:
        high = s[T.lane]
        d = 4
        while d > 0:
            low = min(low, mm.warp.shuffle_xor(low, d))
            high = max(high, mm.warp.shuffle_xor(high, d))
            d //= 2
        if T.lane < 2:
            r[T.lane] = low if T.lane == 0 else high
