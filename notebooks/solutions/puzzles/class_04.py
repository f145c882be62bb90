# %% [markdown]
# # Solutions of the puzzles of class 4
#
# Cells tagged "mistake" are likely wrong answers: each fails the gate that it names, and no other.


# %% name="perfect-shuffle"
# Lanes 0 to 3 take words of the first half, lanes 4 to 7 of the second, from the other four banks.
@mm.program
def shuffle(T, a, b):
    half = T.lane // 4
    k = 4 * (T.warp ^ half) + T.lane % 4
    b[2 * k + half] = a[32 * half + k]


# %% name="perfect-shuffle" tags=["mistake"] fails="stages <= 16"
# Four words of each half, but from the same banks.
@mm.program
def shuffle(T, a, b):
    half = T.lane // 4
    k = 4 * T.warp + T.lane % 4
    b[2 * k + half] = a[32 * half + k]


# %% name="perfect-shuffle" tags=["mistake"] fails="stages <= 16"
# Writes in order: now the reads meet.
@mm.program
def shuffle(T, a, b):
    b[T.id] = a[32 * (T.id % 2) + T.id // 2]


# %% name="pairs-of-places"
@mm.program
def permute(T, a, b, t):
    source, target = mm.vector(t, 2)[T.id]
    b[target] = a[source]


# %% name="pairs-of-places" tags=["mistake"] fails="requests <= 24"
# Without conflicts, but still two requests.
@mm.program
def permute(T, a, b, t):
    h = T.lane // 4
    x, y = t[2 * T.id + h], t[2 * T.id + 1 - h]
    if h == 1:
        x, y = y, x
    b[y] = a[x]


# %% name="permute-in-place"
@mm.program
def permute(T, a, s, d):
    x = a[s[T.id]]
    target = d[T.id]
    T.barrier()
    a[target] = x


# %% name="permute-in-place" tags=["mistake"] fails="no shared_words"
# By a copy.
@mm.program
def permute(T, a, s, d):
    copy = mm.shared(64)
    copy[T.id] = a[T.id]
    T.barrier()
    a[d[T.id]] = copy[s[T.id]]


# %% name="permute-in-place" tags=["mistake"] fails="barriers <= 1"
# The second barrier orders nothing.
@mm.program
def permute(T, a, s, d):
    x = a[s[T.id]]
    T.barrier()
    a[d[T.id]] = x
    T.barrier()
