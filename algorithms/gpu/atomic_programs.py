"""Programs that make one atomic access a thread, or repeat it.

All take the same arrays: `h`, whose words are changed, at `index[i]` by thread i, with `values[i]`,
and `old`, for what was there. Where `h` is to lie in shared memory its elements and size are taken.
"""

from __future__ import annotations

from mmsim.api.program import program
from mmsim.frontend.thread import atomic
from mmsim.frontend.thread.names import Array, Thread, shared

# ------------------------------------------------------------ in shared memory


@program
def shared_add(T: Thread, h: Array, index: Array, values: Array, old: Array) -> None:
    """Add; the old value is used."""
    own = shared(h.size, dtype=h.dtype)
    old[T.id] = atomic.add(own, index[T.id], values[T.id])


@program
def shared_add_unused(T: Thread, h: Array, index: Array, values: Array, old: Array) -> None:
    """Add, and discard the old value. The word is read later, so that the atomic is kept."""
    own = shared(h.size, dtype=h.dtype)
    atomic.add(own, index[T.id], values[T.id])
    old[T.id] = own[index[T.id]]


@program
def shared_count(T: Thread, h: Array, index: Array, values: Array, old: Array) -> None:
    """Add the constant 1, and discard the old value. The word is read later, as above."""
    own = shared(h.size, dtype=h.dtype)
    atomic.add(own, index[T.id], 1)
    old[T.id] = own[index[T.id]]


@program
def shared_ticket(T: Thread, h: Array, index: Array, values: Array, old: Array) -> None:
    """Add the constant 1; the old value is used."""
    own = shared(h.size, dtype=h.dtype)
    old[T.id] = atomic.add(own, index[T.id], 1)


@program
def shared_max(T: Thread, h: Array, index: Array, values: Array, old: Array) -> None:
    """The larger of two; the old value is used."""
    own = shared(h.size, dtype=h.dtype)
    old[T.id] = atomic.max(own, index[T.id], values[T.id])


@program
def shared_exch(T: Thread, h: Array, index: Array, values: Array, old: Array) -> None:
    """Exchange; the old value is used."""
    own = shared(h.size, dtype=h.dtype)
    old[T.id] = atomic.exch(own, index[T.id], values[T.id])


@program
def shared_cas(T: Thread, h: Array, index: Array, values: Array, old: Array) -> None:
    """Compare and swap; the old value is used."""
    own = shared(h.size, dtype=h.dtype)
    old[T.id] = atomic.cas(own, index[T.id], 0, values[T.id])


# ------------------------------------------------------------ in global memory


@program
def global_add(T: Thread, h: Array, index: Array, values: Array, old: Array) -> None:
    """Add; the old value is used."""
    old[T.id] = atomic.add(h, index[T.id], values[T.id])


@program
def global_add_unused(T: Thread, h: Array, index: Array, values: Array, old: Array) -> None:
    """Add, and discard the old value."""
    atomic.add(h, index[T.id], values[T.id])


@program
def global_count(T: Thread, h: Array, index: Array, values: Array, old: Array) -> None:
    """Add the constant 1, and discard the old value."""
    atomic.add(h, index[T.id], 1)


# ------------------------------------------------------------ again and again


@program
def add_again(T: Thread, h: Array, index: Array, values: Array, old: Array, times: int) -> None:
    """Add repeatedly, and sum the old values."""
    at = index[T.id]
    value = values[T.id]
    total = value
    for _ in range(times):
        total += atomic.add(h, at, value)
    old[T.id] = total


@program
def add_unused_again(
    T: Thread, h: Array, index: Array, values: Array, old: Array, times: int
) -> None:
    """Add repeatedly, and discard the old values."""
    at = index[T.id]
    value = values[T.id]
    for _ in range(times):
        atomic.add(h, at, value)


@program
def count_again(T: Thread, h: Array, index: Array, values: Array, old: Array, times: int) -> None:
    """Add the constant 1 repeatedly, and discard the old values."""
    at = index[T.id]
    for _ in range(times):
        atomic.add(h, at, 1)
