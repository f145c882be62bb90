# %% [markdown]
# # Solutions of 2: latency and warps
#
# Cells tagged "mistake" are likely wrong answers, which the check refuses.

# %% name="1"
answer_1 = 1024 // 32 + 100 - 1

# %% name="2"
# n/w + n(l - 1)/p <= 2n/w, so p >= w(l - 1) = 152.
answer_2 = 256

# %% name="2" tags=["mistake"]
answer_2 = 128

# %% name="3"
# Warp 0 sends at 0, 7, 14, 21, 28; the other two follow it in turn.
answer_3 = 5 * 7 + 3 - 1

# %% name="3" tags=["mistake"]
answer_3 = 5 * (3 + 7 - 1)  # in lock step

# %% name="4"
# After its request of 5 time units a warp stands in the queue until the other 14 had their turns.
answer_4 = "turn"

# %% name="4" tags=["mistake"]
answer_4 = "latency"

# %% name="5"
answer_5 = sum(3 * (-(-k // 4) + 5 - 1) for k in (32, 16, 8, 4, 2, 1))

# %% name="5" tags=["mistake"]
answer_5 = sum(2 * (-(-k // 4) + 5 - 1) for k in (32, 16, 8, 4, 2, 1))  # two reads and one write


# %% name="6"
@mm.program
def quick(T, a):
    x = 0
    for t in range(8):
        x += a[t * T.count + T.id]
    a[T.id] = x
    T.barrier()
    k = T.count // 2
    while k > 0:
        if T.id < k:
            a[T.id] += a[T.id + k]
        T.barrier()
        k //= 2


answer_6 = quick


# %% name="6" tags=["mistake"]
# Eight words in a row for each thread: a stride of 8, all in one bank. And a race on top of it.
@mm.program
def quick(T, a):
    x = 0
    for t in range(8):
        x += a[T.id * 8 + t]
    a[T.id] = x
    T.barrier()
    k = T.count // 2
    while k > 0:
        if T.id < k:
            a[T.id] += a[T.id + k]
        T.barrier()
        k //= 2


answer_6 = quick


# %% name="6" tags=["mistake"]
# The same without the race: right, but too slow.
@mm.program
def quick(T, a):
    x = 0
    for t in range(8):
        x += a[T.id * 8 + t]
    T.barrier()
    a[T.id] = x
    T.barrier()
    k = T.count // 2
    while k > 0:
        if T.id < k:
            a[T.id] += a[T.id + k]
        T.barrier()
        k //= 2


answer_6 = quick


# %% name="6" tags=["mistake"]
# No barrier in the tree.
@mm.program
def quick(T, a):
    x = 0
    for t in range(8):
        x += a[t * T.count + T.id]
    a[T.id] = x
    T.barrier()
    k = T.count // 2
    while k > 0:
        if T.id < k:
            a[T.id] += a[T.id + k]
        k //= 2


answer_6 = quick
