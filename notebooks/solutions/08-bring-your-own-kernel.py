# %% [markdown]
# # Solutions of 8: bring your own kernel
#
# Cells tagged "mistake" are likely wrong answers, which the check refuses.

# %% name="1"
# gcd(length, 32) words of a column share a bank: only an odd length is free of conflicts.
answer_1 = [2, 4, 16]

# %% name="1" tags=["mistake"]
answer_1 = [1, 1, 1]

# %% name="2"
answer_2 = 3  # 32 numbers over 96 words: three groups of 32 words

# %% name="2" tags=["mistake"]
answer_2 = 32


# %% name="3"
@cuda.jit
def corrected(a, out):
    part = cuda.shared.array(256, dtype=np.float64)
    t = cuda.threadIdx.x
    part[t] = a[t]
    cuda.syncthreads()
    step = 128
    while step > 0:
        if t < step:
            part[t] += part[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        out[0] = part[0]


answer_3 = corrected


# %% name="3" tags=["mistake"]
# A barrier that only those reach that add.
@cuda.jit
def corrected(a, out):
    part = cuda.shared.array(256, dtype=np.float64)
    t = cuda.threadIdx.x
    part[t] = a[t]
    cuda.syncthreads()
    step = 128
    while step > 0:
        if t < step:
            part[t] += part[t + step]
            cuda.syncthreads()
        step //= 2
    if t == 0:
        out[0] = part[0]


answer_3 = corrected


# %% name="4"
# In halves: neighbouring threads add neighbouring words.
@cuda.jit
def better(a, out):
    part = cuda.shared.array(256, dtype=np.float64)
    t = cuda.threadIdx.x
    part[t] = a[cuda.grid(1)]
    cuda.syncthreads()
    step = 128
    while step > 0:
        if t < step:
            part[t] += part[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        out[cuda.blockIdx.x] = part[0]


answer_4 = better


# %% name="4" tags=["mistake"]
# Without a conflict, but no longer the sum.
@cuda.jit
def better(a, out):
    part = cuda.shared.array(256, dtype=np.float64)
    t = cuda.threadIdx.x
    part[t] = a[cuda.grid(1)]
    cuda.syncthreads()
    step = 1
    while step < 256:
        if t + step < 256:
            part[t] += part[t + step]
        cuda.syncthreads()
        step *= 2
    if t == 0:
        out[cuda.blockIdx.x] = part[0] + 1


answer_4 = better


# %% name="5"
@cuda.jit
def staged(a, b):
    part = cuda.shared.array(64, dtype=np.float64)
    t = cuda.threadIdx.x
    if t < 48:
        part[t] = a[t]
    cuda.syncthreads()
    b[t] = part[t % 48]


answer_5 = staged


# %% name="5" tags=["mistake"]
# No barrier at all.
@cuda.jit
def staged(a, b):
    part = cuda.shared.array(64, dtype=np.float64)
    t = cuda.threadIdx.x
    if t < 48:
        part[t] = a[t]
    b[t] = part[t % 48]


answer_5 = staged
