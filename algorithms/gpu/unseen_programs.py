"""Further kernels of the second set that is timed on a GPU."""

from __future__ import annotations

import mmsim as mm


@mm.program
def seven_points(T: mm.Thread, a: mm.Array, b: mm.Array) -> None:
    """Each word of a box and its six neighbours, a thread for each; words at the edge stay."""
    layers, rows, columns = a.shape[0], a.shape[1], a.shape[2]
    k = T.id % columns
    j = T.id // columns % rows
    i = T.id // (columns * rows)
    x = a[i, j, k]
    if 0 < i < layers - 1 and 0 < j < rows - 1 and 0 < k < columns - 1:
        x += a[i - 1, j, k] + a[i + 1, j, k]
        x += a[i, j - 1, k] + a[i, j + 1, k]
        x += a[i, j, k - 1] + a[i, j, k + 1]
    b[i, j, k] = x


@mm.program
def naive_transpose(T: mm.Thread, a: mm.Array, b: mm.Array) -> None:
    """b is a transposed, a thread for each word: reads by rows, writes by columns."""
    i, j = T.id // a.shape[1], T.id % a.shape[1]
    b[j, i] = a[i, j]


@mm.program
def sum_by_shuffles(T: mm.Thread, a: mm.Array, s: mm.Array, w: int) -> None:
    """Add the sum of a to s[0]: each thread's, each warp's by exchange, each block's, by atomics.

    w is the width, a power of two; a block has w warps at most.
    """
    own = mm.shared(w, dtype=a.dtype)
    x = 0
    for i in range(T.id, a.size, T.count):
        x += a[i]
    h = w // 2
    while h > 0:
        x += mm.warp.shuffle_xor(x, h)
        h = h // 2
    if T.lane == 0:
        own[T.index // w] = x
    T.barrier()
    if T.index < w:
        x = own[T.index] if T.index < T.block_size // w else 0
        h = w // 2
        while h > 0:
            x += mm.warp.shuffle_xor(x, h)
            h = h // 2
        if T.index == 0:
            mm.atomic.add(s, 0, x)


@mm.program
def block_scan(T: mm.Thread, a: mm.Array, b: mm.Array, sums: mm.Array) -> None:
    """b has the prefix sums of each block's words of a, and sums the total of each block.

    Hillis and Steele's way in shared memory, with two rows that take turns.
    """
    c = mm.shared((2, T.block_size), dtype=a.dtype)
    i = T.index
    x = a[T.id]
    row, h = 0, 1
    c[row, i] = x
    while h < T.block_size:
        T.barrier()
        if i >= h:
            x += c[row, i - h]
        row = 1 - row
        c[row, i] = x
        h = 2 * h
    b[T.id] = x
    if i == T.block_size - 1:
        sums[T.block] = x


@mm.program
def add_before(T: mm.Thread, b: mm.Array, sums: mm.Array) -> None:
    """Add to each block's words of b the prefix sum of the blocks before it."""
    if T.block > 0:
        b[T.id] = b[T.id] + sums[T.block - 1]


@mm.program
def binary_search(T: mm.Thread, a: mm.Array, keys: mm.Array, found: mm.Array) -> None:
    """For each key, count the words of a, in ascending order, that are not larger."""
    key = keys[T.id]
    low, high = 0, a.size
    while low < high:
        q = (low + high) // 2
        if a[q] <= key:
            low = q + 1
        else:
            high = q
    found[T.id] = low


@mm.program
def axpy(T: mm.Thread, x: mm.Array, y: mm.Array, z: mm.Array, factor: int, stride: int) -> None:
    """z = factor x + y, of every stride-th word: a thread for each."""
    i = T.id * stride
    z[i] = factor * x[i] + y[i]


@mm.program
def chase(T: mm.Thread, links: mm.Array, end: mm.Array, steps: int) -> None:
    """Each thread follows the links from its own word, so many steps."""
    v = T.id
    for _ in range(steps):
        v = links[v]
    end[T.id] = v
