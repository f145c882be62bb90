"""Further kernels of the third set that is timed on a GPU."""

from __future__ import annotations

import mmsim as mm
from mmsim_algorithms.gpu.kernel_data import ODD

EMPTY = 0
"""The content of a free slot of a hash table, which is no key."""
ONE = 256
"""Coordinates in an image count parts of a pixel: so many parts are a pixel."""


@mm.program
def dense_row_of_thread(T: mm.Thread, a: mm.Array, x: mm.Array, y: mm.Array) -> None:
    """y is the matrix a times x: a thread for each row."""
    s = 0
    for j in range(a.shape[1]):
        s += a[T.id, j] * x[j]
    y[T.id] = s


@mm.program
def dense_row_of_warp(T: mm.Thread, a: mm.Array, x: mm.Array, y: mm.Array, w: int) -> None:
    """The same with a warp for each row, whose lanes add their sums by exchange. w is the width."""
    i = T.id // w
    s = 0
    for j in range(T.lane, a.shape[1], w):
        s += a[i, j] * x[j]
    h = w // 2
    while h > 0:
        s += mm.warp.shuffle_xor(s, h)
        h = h // 2
    if T.lane == 0:
        y[i] = s


@mm.program
def by_coordinates(
    T: mm.Thread, r: mm.Array, c: mm.Array, v: mm.Array, x: mm.Array, y: mm.Array
) -> None:
    """Add to y the matrix that has v[e] in row r[e] and column c[e], times x, by atomics."""
    for e in range(T.id, v.size, T.count):
        mm.atomic.add(y, r[e], v[e] * x[c[e]])


@mm.program
def push(T: mm.Thread, r: mm.Array, c: mm.Array, share: mm.Array, y: mm.Array) -> None:
    """Each vertex adds its share to y at all its neighbours: c[e], for e from r[v] to r[v + 1]."""
    v = T.id
    own = share[v]
    for e in range(r[v], r[v + 1]):
        mm.atomic.add(y, c[e], own)


@mm.program
def scatter(T: mm.Thread, a: mm.Array, b: mm.Array, q: mm.Array) -> None:
    """b[q[i]] = a[i], a thread for each word of a."""
    b[q[T.id]] = a[T.id]


@mm.program
def mark(T: mm.Thread, flags: mm.Array, q: mm.Array) -> None:
    """flags[q[i]] = 1, a thread for each i; several may write the same one."""
    flags[q[T.id]] = 1


@mm.program
def scatter_pairs(
    T: mm.Thread,
    keys: mm.Array,
    values: mm.Array,
    places: mm.Array,
    new_keys: mm.Array,
    new_values: mm.Array,
) -> None:
    """Each key and its value go to their place, a thread for each pair."""
    q = places[T.id]
    new_keys[q] = keys[T.id]
    new_values[q] = values[T.id]


@mm.program
def compact(T: mm.Thread, a: mm.Array, places: mm.Array, b: mm.Array) -> None:
    """The positive words of a, in order: places[i] of them are before a[i]."""
    x = a[T.id]
    if x > 0:
        b[places[T.id]] = x


@mm.program
def look_up(
    T: mm.Thread, slots: mm.Array, values: mm.Array, keys: mm.Array, found: mm.Array, shift: int
) -> None:
    """The value of each key in a hash table with linear probing, or -1.

    A key's first slot is its product with an odd number, modulo 2^32, without the last `shift`
    bits.
    """
    key = keys[T.id]
    i = (key * ODD & 0xFFFFFFFF) >> shift
    slot = slots[i]
    while slot != key and slot != EMPTY:
        i += 1
        slot = slots[i]
    value = -1
    if slot == key:
        value = values[i]
    found[T.id] = value


@mm.program
def nine_points(T: mm.Thread, a: mm.Array, b: mm.Array) -> None:
    """Add each word of a matrix and its eight neighbours; an edge word stands for those outside.

    A thread for each word.
    """
    rows, columns = a.shape
    i, j = T.id // columns, T.id % columns
    up, down = max(i - 1, 0), min(i + 1, rows - 1)
    left, right = max(j - 1, 0), min(j + 1, columns - 1)
    x = a[up, left] + a[up, j] + a[up, right]
    x += a[i, left] + a[i, j] + a[i, right]
    b[i, j] = x + a[down, left] + a[down, j] + a[down, right]


@mm.program
def five_points_by_tiles(T: mm.Thread, a: mm.Array, b: mm.Array, w: int) -> None:
    """Each word of a torus and its four neighbours, by blocks of w^2 threads.

    A block first copies its tile, with one more word on each side, to shared memory.
    """
    rows, columns = a.shape
    tile = mm.shared((w + 2, w + 2), dtype=a.dtype)
    m = columns // w
    I, J = T.block // m * w, T.block % m * w
    for t in range(T.index, (w + 2) * (w + 2), T.block_size):
        i, j = t // (w + 2), t % (w + 2)
        tile[i, j] = a[(I + i + rows - 1) % rows, (J + j + columns - 1) % columns]
    T.barrier()
    i, j = T.index // w + 1, T.index % w + 1
    x = tile[i, j] + tile[i - 1, j] + tile[i + 1, j] + tile[i, j - 1] + tile[i, j + 1]
    b[I + i - 1, J + j - 1] = x


@mm.program
def hadamard_step(T: mm.Thread, a: mm.Array, b: mm.Array, h: int) -> None:
    """A step of the Hadamard transform, with radix 4: a thread for each four words h apart."""
    i = T.id // h * (4 * h) + T.id % h
    w, x, y, z = a[i], a[i + h], a[i + 2 * h], a[i + 3 * h]
    b[i] = w + x + y + z
    b[i + h] = w - x + y - z
    b[i + 2 * h] = w + x - y - z
    b[i + 3 * h] = w - x - y + z


@mm.program
def bitonic_step(T: mm.Thread, a: mm.Array, run: int, h: int) -> None:
    """Words h apart change places if they are out of order; every other run goes down."""
    i = T.id // h * (2 * h) + T.id % h
    x, y = a[i], a[i + h]
    up = i // run % 2 == 0
    a[i] = min(x, y) if up else max(x, y)
    a[i + h] = max(x, y) if up else min(x, y)


@mm.program
def bitonic_steps_of_block(T: mm.Thread, a: mm.Array, run: int) -> None:
    """The last steps, in shared memory: each block has two words for each of its threads."""
    own = mm.shared(2 * T.block_size, dtype=a.dtype)
    first = 2 * T.block * T.block_size
    own[T.index] = a[first + T.index]
    own[T.index + T.block_size] = a[first + T.index + T.block_size]
    up = first // run % 2 == 0
    h = T.block_size
    while h > 0:
        T.barrier()
        i = T.index // h * (2 * h) + T.index % h
        x, y = own[i], own[i + h]
        own[i] = min(x, y) if up else max(x, y)
        own[i + h] = max(x, y) if up else min(x, y)
        h = h // 2
    T.barrier()
    a[first + T.index] = own[T.index]
    a[first + T.index + T.block_size] = own[T.index + T.block_size]


@mm.program
def products_of_block(T: mm.Thread, x: mm.Array, y: mm.Array, sums: mm.Array) -> None:
    """Each block's part of the sum of x[i] y[i], added by a tree in shared memory."""
    own = mm.shared(T.block_size, dtype=x.dtype)
    s = 0
    for i in range(T.id, x.size, T.count):
        s += x[i] * y[i]
    own[T.index] = s
    h = T.block_size // 2
    while h > 0:
        T.barrier()
        if T.index < h:
            own[T.index] = own[T.index] + own[T.index + h]
        h = h // 2
    if T.index == 0:
        sums[T.block] = own[0]


@mm.program
def sum_of_block(T: mm.Thread, sums: mm.Array, s: mm.Array) -> None:
    """s[0] is the sum of all words, added by one block in the same way."""
    own = mm.shared(T.block_size, dtype=sums.dtype)
    x = 0
    for i in range(T.index, sums.size, T.block_size):
        x += sums[i]
    own[T.index] = x
    h = T.block_size // 2
    while h > 0:
        T.barrier()
        if T.index < h:
            own[T.index] = own[T.index] + own[T.index + h]
        h = h // 2
    if T.index == 0:
        s[0] = own[0]


@mm.program
def rotate(T: mm.Thread, a: mm.Array, b: mm.Array, cosine: int, sine: int) -> None:
    """b is a square image turned around its centre; each pixel is the weighted mean of four.

    Cosine and sine count parts of `ONE`. Pixels from outside of the image are 0.
    """
    side = a.shape[0]
    i, j = T.id // side, T.id % side
    m = side // 2
    y = cosine * (i - m) + sine * (j - m) + m * ONE
    x = cosine * (j - m) - sine * (i - m) + m * ONE
    k, l = y // ONE, x // ONE
    below, right = y % ONE, x % ONE
    pixel = 0.0
    if 0 <= k < side - 1 and 0 <= l < side - 1:
        upper = (ONE - right) * a[k, l] + right * a[k, l + 1]
        lower = (ONE - right) * a[k + 1, l] + right * a[k + 1, l + 1]
        pixel = ((ONE - below) * upper + below * lower) / (ONE * ONE)
    b[i, j] = pixel


@mm.program
def move(T: mm.Thread, particles: mm.Array, places: mm.Array, time: int) -> None:
    """The places of particles after some time: each has two coordinates and two speeds in a row."""
    i = T.id
    places[i, 0] = particles[i, 0] + time * particles[i, 2]
    places[i, 1] = particles[i, 1] + time * particles[i, 3]
