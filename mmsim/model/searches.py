"""Layouts under which all accesses to a tile are free of conflicts: the smallest padding, swizzles.

Every access is tried under each layout. A `questions.Question` is fastest, because it finds the
elements only once. Any function from a layout to `Conflicts` will do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from mmsim.model.layout import Layout
from mmsim.model.questions import Conflicts, Unaligned
from mmsim.model.tiles import Padded, Strided, Swizzle

Asked = Callable[[Layout], Conflicts]
BITS = range(1, 6)
BASES = range(8)
LONGEST_SHIFT = 10


def padding(accesses: Iterable[Asked], most: int = 32, step: int = 1) -> int | None:
    """Return the smallest padding of rows under which all accesses are free of conflicts, or None.

    Paddings up to `most` words are tried, except those under which a vector isn't aligned.
    A padding is a multiple of `step`.

    >>> from mmsim.model.questions import question
    >>> rows, columns = (question(way, (32, 32)) for way in (lambda t, v: t, lambda t, v: (t, 0)))
    >>> padding([rows, columns])
    1
    """
    every = list(accesses)
    tried = (by for by in range(0, most + 1, step) if _free(every, Padded(by)))
    return next(tried, None)


def swizzles(accesses: Iterable[Asked], layout: Strided | None = None) -> Iterator[Swizzle]:
    """Return all swizzles of at most 5 bits under which all accesses are free of conflicts.

    They are tried on `layout`, or on row-major order, except those under which a vector isn't
    aligned. The fewest bits come first.

    >>> from mmsim.model.questions import question
    >>> rows, columns = (question(way, (32, 32)) for way in (lambda t, v: t, lambda t, v: (t, 0)))
    >>> [str(one) for one in swizzles([rows, columns])]
    ['Swizzle<5,0,5>']
    """
    every = list(accesses)
    for bits in BITS:
        for base in BASES:
            for shift in range(bits, LONGEST_SHIFT + 1):
                swizzle = Swizzle(bits, base, shift, layout)
                if _free(every, swizzle):
                    yield swizzle


def _free(accesses: list[Asked], layout: Layout) -> bool:
    try:
        return all(one(layout).free for one in accesses)
    except Unaligned:
        return False
