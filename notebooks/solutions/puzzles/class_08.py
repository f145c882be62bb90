# %% [markdown]
# # Solutions of the puzzles of class 8
#
# Cells tagged "mistake" are likely wrong answers: each fails the gate that it names, and no other.


# %% name="halo"
@mm.program
def window(T, a, b):
    part = mm.shared(18)
    t = T.threadIdx.x
    i = T.blockIdx.x * T.blockDim.x + t
    part[t] = a[i]
    if t < 2:
        part[16 + t] = a[16 + i]
    T.barrier()
    b[i] = part[t] + part[t + 1] + part[t + 2]


# %% name="halo" tags=["mistake"]
# Without the barrier.
@mm.program
def window(T, a, b):
    part = mm.shared(18, dtype=int)
    t = T.threadIdx.x
    i = T.blockIdx.x * T.blockDim.x + t
    part[t] = a[i]
    if t < 2:
        part[16 + t] = a[16 + i]
    b[i] = part[t] + part[t + 1] + part[t + 2]


# %% name="halo" tags=["mistake"] fails="shared_words <= 18"
# Room for 16 words more than the block needs.
@mm.program
def window(T, a, b):
    part = mm.shared(34)
    t = T.threadIdx.x
    i = T.blockIdx.x * T.blockDim.x + t
    part[t] = a[i]
    if t < 2:
        part[32 + t] = a[16 + i]
    T.barrier()
    first = part[t]
    second = part[t + 1 if t < 15 else 32]
    third = part[t + 2 if t < 14 else t + 18]
    b[i] = first + second + third


# %% name="halo" tags=["mistake"] fails="stages in global <= 40"
# All threads copy a second word.
@mm.program
def window(T, a, b):
    part = mm.shared(18)
    t = T.threadIdx.x
    i = T.blockIdx.x * T.blockDim.x + t
    part[t] = a[i]
    part[t + 2] = a[i + 2]
    T.barrier()
    b[i] = part[t] + part[t + 1] + part[t + 2]


# %% name="ragged-end"
@mm.program
def reverse(T, a, b):
    part = mm.shared(16, dtype=int)
    t = T.threadIdx.x
    first = T.blockIdx.x * T.blockDim.x
    count = min(16, a.size - first)
    if t < count:
        part[t] = a[first + t]
    T.barrier()
    if t < count:
        b[first + t] = part[count - 1 - t]


# %% name="ragged-end" tags=["mistake"]
# A barrier that only those reach that have a word.
@mm.program
def reverse(T, a, b):
    part = mm.shared(16, dtype=int)
    t = T.threadIdx.x
    first = T.blockIdx.x * T.blockDim.x
    count = min(16, a.size - first)
    if t < count:
        part[t] = a[first + t]
        T.barrier()
    if t < count:
        b[first + t] = part[count - 1 - t]


# %% name="ragged-end" tags=["mistake"] fails="barriers <= 1"
# A second barrier, to be on the safe side.
@mm.program
def reverse(T, a, b):
    part = mm.shared(16, dtype=int)
    t = T.threadIdx.x
    first = T.blockIdx.x * T.blockDim.x
    count = min(16, a.size - first)
    if t < count:
        part[t] = a[first + t]
    T.barrier()
    if t < count:
        b[first + t] = part[count - 1 - t]
    T.barrier()


# %% name="count-votes"
@mm.program
def votes(T, a, c):
    i = T.blockIdx.x * T.blockDim.x + T.threadIdx.x
    count = T.barrier_count(a[i] > 50)
    if T.threadIdx.x == 0:
        mm.atomic.add(c, 0, count)


# %% name="count-votes" tags=["mistake"]
# Without an atomic: blocks overwrite each other's sums.
@mm.program
def votes(T, a, c):
    i = T.blockIdx.x * T.blockDim.x + T.threadIdx.x
    count = T.barrier_count(a[i] > 50)
    if T.threadIdx.x == 0:
        c[0] += count


# %% name="count-votes" tags=["mistake"] fails="stages of c <= 4"
# One atomic for each warp.
@mm.program
def votes(T, a, c):
    i = T.blockIdx.x * T.blockDim.x + T.threadIdx.x
    found = mm.warp.ballot(a[i] > 50)
    if T.lane == 0:
        mm.atomic.add(c, 0, mm.popc(found))
