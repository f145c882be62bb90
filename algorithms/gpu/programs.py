"""ICPP's permutations with several words a thread, to hide a GPU's latency.

A GPU keeps 2048 threads of a multiprocessor at a time, and few blocks with large shared arrays.
With one word each too few requests are in flight to keep the global memory busy. So each thread
first reads `words` words into its registers, then writes them. The model charges the same as for a
thread for each word: the requests and the warps are the same.
"""

from __future__ import annotations

import mmsim as mm


@mm.program
def destination_designated(T: mm.Thread, a: mm.Array, b: mm.Array, p: mm.Array, words: int) -> None:
    """ICPP section IV, [Destination-designated permutation]: b[p[i]] = a[i]."""
    c = mm.registers(words)
    target = mm.registers(words)
    for k in range(words):
        target[k] = p[k * T.count + T.id]
    for k in range(words):
        c[k] = a[k * T.count + T.id]
    for k in range(words):
        b[target[k]] = c[k]


@mm.program
def source_designated(T: mm.Thread, a: mm.Array, b: mm.Array, q: mm.Array, words: int) -> None:
    """ICPP section IV, [Source-designated permutation]: b[i] = a[q[i]]."""
    c = mm.registers(words)
    source = mm.registers(words)
    for k in range(words):
        source[k] = q[k * T.count + T.id]
    for k in range(words):
        c[k] = a[source[k]]
    for k in range(words):
        b[k * T.count + T.id] = c[k]


@mm.program
def row_wise(T: mm.Thread, a: mm.Array, b: mm.Array, s: mm.Array, d: mm.Array, words: int) -> None:
    """ICPP section VI, [Row-wise permutation]: a block for each row."""
    alpha = mm.shared(a.shape[1])
    beta = mm.shared(a.shape[1])
    c = mm.registers(words)
    source = mm.registers(words)
    target = mm.registers(words)
    i = T.block
    for k in range(words):
        c[k] = a[i, k * T.block_size + T.index]
    for k in range(words):
        source[k] = s[i, k * T.block_size + T.index]
    for k in range(words):
        target[k] = d[i, k * T.block_size + T.index]
    for k in range(words):
        alpha[k * T.block_size + T.index] = c[k]
    T.barrier()
    for k in range(words):
        beta[target[k]] = alpha[source[k]]
    T.barrier()
    for k in range(words):
        b[i, k * T.block_size + T.index] = beta[k * T.block_size + T.index]


@mm.program
def transpose(T: mm.Thread, a: mm.Array, b: mm.Array, w: int, words: int) -> None:
    """ICPP section V, [Transpose]: a block for each tile of w x w words, w/words rows at a time."""
    alpha = mm.shared((w, w))
    c = mm.registers(words)
    I, J = T.block // (a.shape[1] // w), T.block % (a.shape[1] // w)
    i, j = T.index // w, T.index % w
    for k in range(words):
        c[k] = a[I * w + k * (w // words) + i, J * w + j]
    for k in range(words):
        alpha[k * (w // words) + i, (k * (w // words) + i + j) % w] = c[k]
    T.barrier()
    for k in range(words):
        b[J * w + k * (w // words) + i, I * w + j] = alpha[j, (j + k * (w // words) + i) % w]
