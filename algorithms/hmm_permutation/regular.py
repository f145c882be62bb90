"""Shuffle and bit-reversal in as little time as a transpose (IEICE; by tiles that mmsim adds).

The abstract promises 2n/w + 2n/(kw) + 2L - 2 on k DMMs for transpose, shuffle and bit-reversal and
gives no algorithm. These need no table. The permutation moves a tile of whole address groups onto
whole address groups. A block takes such a tile and turns it in shared memory, conflict-free.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

import mmsim as mm
from mmsim_algorithms.errors import require
from mmsim_algorithms.transpose.hmm import transposed

SOURCE = "IEICE, abstract"


def reversed_bits(x: int, bits: int) -> int:
    """The lowest `bits` bits of x in reverse order."""
    y = 0
    for bit in range(bits):
        y = 2 * y + (x >> bit) % 2
    return y


@mm.program
def bit_reversal(T: mm.Thread, a: mm.Array, b: mm.Array, w: int, k: int, m: int) -> None:
    """Bit-reversal of 2^m words, w = 2^k, a block of w^2 threads for each tile.

    The number of a word has k high bits, m - 2k middle ones and k low ones. The w x w words that
    share the middle bits are a tile: the high bits choose its row, an address group, the low bits
    the column. At their destinations the words of a tile share the reversed middle bits. alpha is
    in the diagonal arrangement of ICPP section V.
    """
    alpha = mm.shared((w, w))
    middle, arrival = T.block, reversed_bits(T.block, m - 2 * k)
    i, j = T.index // w, T.index % w
    alpha[i, (i + j) % w] = a[(i * T.blocks + middle) * w + j]
    T.barrier()
    row, column = reversed_bits(j, k), reversed_bits(i, k)
    b[(i * T.blocks + arrival) * w + j] = alpha[row, (row + column) % w]


@mm.program
def shuffle(T: mm.Thread, a: mm.Array, b: mm.Array, w: int) -> None:
    """Shuffle, a block of 2w threads for each tile: P(x) = 2x, and 2x - n + 1 in the upper half.

    Address groups g and g + n/2w are the rows of tile g; its words arrive in groups 2g and 2g + 1,
    alternately from the two rows. The second row of alpha is rotated by w/2, so that a warp reads
    each row from a different half of the banks.
    """
    alpha = mm.shared((2, w))
    half = a.size // 2
    i, j = T.index // w, T.index % w
    alpha[i, (j + i * (w // 2)) % w] = a[i * half + T.block * w + j]
    T.barrier()
    row, column = T.index % 2, T.index // 2
    b[T.block * 2 * w + T.index] = alpha[row, (column + row * (w // 2)) % w]


@bit_reversal.example
def bit_reversal_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """At least `size` words (default: 4w^2); of other widths the next power of two is taken."""
    k = (width - 1).bit_length()
    m = max((max(size, 1) - 1).bit_length(), 2 * k) if size else 2 * k + 2
    a = np.arange(2**m)
    return mm.Example(a, np.zeros_like(a), 2**k, k, m, threads=a.size, block_size=4**k)


@shuffle.example
def shuffle_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """At least `size` words (default: 4w^2), a multiple of 2w, for an even width."""
    w = width + width % 2
    n = -(-(size or 4 * w * w) // (2 * w)) * 2 * w
    a = np.arange(n)
    return mm.Example(a, np.zeros_like(a), w, threads=n, block_size=2 * w)


def bit_reversed(
    machine: mm.HMM, a: npt.ArrayLike, *, schedule: mm.Schedule = "synchronous"
) -> mm.Run:
    """Permute an array by bit-reversal on an HMM of k DMMs: 2n/w + 2n/(kw) + 2L - 2 time units.

    Raises `PreconditionError` unless n and w are powers of two, n >= w^2, and k divides n/w^2.
    """
    data = np.asarray(a)
    n, w = _sizes(data, machine)
    require(n >= w * w, f"n >= w^2, but n={n} and w={w}", SOURCE)
    _whole_shares(n // (w * w), machine)
    return machine.run(
        bit_reversal,
        data,
        np.zeros_like(data),
        w,
        w.bit_length() - 1,
        n.bit_length() - 1,
        threads=n,
        block_size=w * w,
        schedule=schedule,
    )


def shuffled(machine: mm.HMM, a: npt.ArrayLike, *, schedule: mm.Schedule = "synchronous") -> mm.Run:
    """Permute an array by the shuffle on an HMM of k DMMs: 2n/w + 2n/(kw) + 2L - 2 time units.

    Raises `PreconditionError` unless n and w are powers of two, n >= 2w, and k divides n/2w.
    """
    data = np.asarray(a)
    n, w = _sizes(data, machine)
    require(n >= 2 * w, f"n >= 2w, but n={n} and w={w}", SOURCE)
    _whole_shares(n // (2 * w), machine)
    return machine.run(
        shuffle,
        data,
        np.zeros_like(data),
        w,
        threads=n,
        block_size=2 * w,
        schedule=schedule,
    )


def _sizes(data: npt.NDArray[np.generic], machine: mm.HMM) -> tuple[int, int]:
    n, w = data.size, machine.width
    require(data.ndim == 1, f"a is one-dimensional, not of shape {data.shape}", SOURCE)
    require(n > 0 and n & (n - 1) == 0, f"n is a power of two, not {n}", SOURCE)
    require(w & (w - 1) == 0, f"w is a power of two, not {w}", SOURCE)
    return n, w


def _whole_shares(tiles: int, machine: mm.HMM) -> None:
    k = machine.dmms
    require(tiles % k == 0, f"k divides the number of tiles; k={k}, tiles: {tiles}", SOURCE)


REGULAR: dict[str, Callable[..., mm.Run]] = {
    "transpose": transposed,
    "shuffle": shuffled,
    "bit-reversal": bit_reversed,
}
