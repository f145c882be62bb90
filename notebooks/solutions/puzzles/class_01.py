# %% [markdown]
# # Solutions of the puzzles of class 1
#
# Cells tagged "mistake" are likely wrong answers: each fails the gate that it names, and no other.


# %% name="scale-rows"
@mm.program
def scale(T, a, f, b):
    i, j = T.id // 8, T.id % 8
    b[i, j] = f[i] * a[i, j]


# %% name="scale-rows" tags=["mistake"] fails="stages <= 24"
# A diagonal is good on banks, but on address groups it is as bad as a column.
@mm.program
def scale(T, a, f, b):
    i, j = T.id % 8, T.id // 8
    j = (i + j) % 8
    b[i, j] = f[i] * a[i, j]


# %% name="pairs"
# Lanes 0 to 3 read even words first, lanes 4 to 7 odd words.
@mm.program
def pairs(T, a, b):
    h = T.lane // 4
    x = a[2 * T.id + h]
    y = a[2 * T.id + 1 - h]
    b[T.id] = x + y


# %% name="pairs" tags=["mistake"] fails="stages <= 24"
# Lanes k and k + 4 are both even or both odd: they meet as before.
@mm.program
def pairs(T, a, b):
    h = T.lane % 2
    x = a[2 * T.id + h]
    y = a[2 * T.id + 1 - h]
    b[T.id] = x + y


# %% name="own-tables"
# Word k of the table of thread t is 8 k + t, in bank t.
@mm.program
def distinct(T, a, d):
    seen = mm.shared(64, dtype=int)
    for k in range(8):
        seen[8 * k + T.id] = 0
    for t in range(8):
        seen[8 * a[8 * t + T.id] + T.id] = 1
    count = 0
    for k in range(8):
        count += seen[8 * k + T.id]
    d[T.id] = count


# %% name="own-tables" tags=["mistake"] fails="stages of seen <= 24"
# Rotated tables are free where all threads take the same k, but not where the values decide.
@mm.program
def distinct(T, a, d):
    seen = mm.shared(64, dtype=int)
    for k in range(8):
        seen[8 * T.id + (k + T.id) % 8] = 0
    for t in range(8):
        seen[8 * T.id + (a[8 * t + T.id] + T.id) % 8] = 1
    count = 0
    for k in range(8):
        count += seen[8 * T.id + (k + T.id) % 8]
    d[T.id] = count


# %% name="own-tables" tags=["mistake"] fails="shared_words == 64"
# Registers: a card has none that a program can number.
@mm.program
def distinct(T, a, d):
    seen = mm.registers(8, dtype=int)
    for t in range(8):
        seen[a[8 * t + T.id]] = 1
    count = 0
    for k in range(8):
        count += seen[k]
    d[T.id] = count
