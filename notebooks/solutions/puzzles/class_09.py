# %% [markdown]
# # Solutions of the puzzles of class 9
#
# Cells tagged "mistake" are likely wrong answers: each fails the gate that it names, and no other.


# %% name="rows-of-twelve"
# Rows 2k and 2k + 1 begin 4 banks apart. Each couple is rotated by k.
@mm.program
def transpose(T, a, b):
    tile = mm.shared((8, 12))
    i = T.warp
    for j in range(T.lane, 12, 8):
        tile[i, (j + i // 2) % 12] = a[i, j]
    T.barrier()
    i = T.lane
    for j in range(T.warp, 12, 8):
        b[j, i] = tile[i, (j + i // 2) % 12]


# %% name="rows-of-twelve" tags=["mistake"] fails="shared_words <= 96"
@mm.program
def transpose(T, a, b):
    tile = mm.shared((8, 13))
    i = T.warp
    for j in range(T.lane, 12, 8):
        tile[i, j] = a[i, j]
    T.barrier()
    i = T.lane
    for j in range(T.warp, 12, 8):
        b[j, i] = tile[i, j]


# %% name="rows-of-twelve" tags=["mistake"] fails="no wasted"
# Rotated by the row modulo 4: rows 0 and 4 begin in the same bank, and stay there.
@mm.program
def transpose(T, a, b):
    tile = mm.shared((8, 12))
    i = T.warp
    for j in range(T.lane, 12, 8):
        tile[i, (j + i % 4) % 12] = a[i, j]
    T.barrier()
    i = T.lane
    for j in range(T.warp, 12, 8):
        b[j, i] = tile[i, (j + i % 4) % 12]


# %% name="rows-of-twelve" tags=["mistake"]
# Without the barrier.
@mm.program
def transpose(T, a, b):
    tile = mm.shared((8, 12))
    i = T.warp
    for j in range(T.lane, 12, 8):
        tile[i, (j + i // 2) % 12] = a[i, j]
    i = T.lane
    for j in range(T.warp, 12, 8):
        b[j, i] = tile[i, (j + i // 2) % 12]


# %% name="swizzle-pairs"
@mm.program
def columns(T, a, b):
    tile = mm.shared((8, 8))
    i, p = T.id // 4, T.id % 4
    mm.vector(tile, 2)[i, p ^ (i % 4)] = mm.vector(a, 2)[i, p]
    T.barrier()
    i, p = T.id % 8, T.id // 8
    mm.vector(b, 2)[p, i] = mm.vector(tile, 2)[i, p ^ (i % 4)]


# %% name="swizzle-pairs" tags=["mistake"] fails="shared_words <= 64"
# Padded by a pair.
@mm.program
def columns(T, a, b):
    tile = mm.shared((8, 10))
    i, p = T.id // 4, T.id % 4
    mm.vector(tile, 2)[i, p] = mm.vector(a, 2)[i, p]
    T.barrier()
    i, p = T.id % 8, T.id // 8
    mm.vector(b, 2)[p, i] = mm.vector(tile, 2)[i, p]


# %% name="swizzle-pairs" tags=["mistake"] fails="no wasted"
# By the row's last bit: two places for eight rows.
@mm.program
def columns(T, a, b):
    tile = mm.shared((8, 8))
    i, p = T.id // 4, T.id % 4
    mm.vector(tile, 2)[i, p ^ (i % 2)] = mm.vector(a, 2)[i, p]
    T.barrier()
    i, p = T.id % 8, T.id // 8
    mm.vector(b, 2)[p, i] = mm.vector(tile, 2)[i, p ^ (i % 2)]


# %% name="rows-columns-blocks"
SWIZZLE = (0, 4, 1, 5, 2, 6, 3, 7)


@mm.program
def look(T, a, rows, columns, blocks):
    tile = mm.shared((8, 8))
    i, j = T.id // 8, T.id % 8
    tile[i, j ^ SWIZZLE[i]] = a[i, j]
    T.barrier()
    rows[i, j] = tile[i, j ^ SWIZZLE[i]]
    columns[i, j] = tile[j, i ^ SWIZZLE[j]]
    y, x = 2 * (i // 2) + j // 4, 4 * (i % 2) + j % 4
    blocks[i, j] = tile[y, x ^ SWIZZLE[y]]


# %% name="rows-columns-blocks" tags=["mistake"] fails="stages of tile <= 32"
# Rows and columns are free, but two rows of a block go to the same half.
SWIZZLE = (0, 1, 2, 3, 4, 5, 6, 7)


@mm.program
def look(T, a, rows, columns, blocks):
    tile = mm.shared((8, 8))
    i, j = T.id // 8, T.id % 8
    tile[i, j ^ SWIZZLE[i]] = a[i, j]
    T.barrier()
    rows[i, j] = tile[i, j ^ SWIZZLE[i]]
    columns[i, j] = tile[j, i ^ SWIZZLE[j]]
    y, x = 2 * (i // 2) + j // 4, 4 * (i % 2) + j % 4
    blocks[i, j] = tile[y, x ^ SWIZZLE[y]]
