"""Answer "is my tile free of conflicts?" without a program and without a GPU."""

from __future__ import annotations

from collections.abc import Callable

from mmsim.errors import LayoutError
from mmsim.host.guesses import advised
from mmsim.model import questions
from mmsim.model.layout import Layout
from mmsim.model.questions import Access, Conflicts, Kind
from mmsim.model.tiles import Shape, Strided, Swizzle, cute
from mmsim.model.tiles import shape_of as shape_of


@advised(dtype="bytes=4, the bytes of an element", ways="values=, the accesses of each thread")
def conflicts(
    layout: Layout | str,
    access: Access | Strided | str,
    shape: Shape | None = None,
    *,
    bytes: int = 4,  # as the field says it
    vector: int = 1,
    kind: Kind = "read",
    threads: int = 32,
    values: int = 1,
) -> Conflicts:
    """Return the cost of one warp's accesses to a tile in shared memory, phase by phase.

    Parameters
    ----------
    layout
        The places of the tile's elements: a layout of `mmsim.layout`, your own object with a method
        `offsets(shape)`, or a layout as CuTe prints it.
    access
        The element that a thread accesses: a function, or a thread-value layout of CuTe, itself or
        as text. The function takes the thread (0 to `threads` - 1) and the number of its value (0
        to `values` - 1). It returns an index, a number in row-major order, or None for an inactive
        thread. The layout has threads along its first axis, values along its second, and numbers
        the elements of the tile with the tile's first axis fastest.
    shape
        The extents of the tile. Default: those of `layout`, if it has them.
    bytes
        The bytes of an element: 1, 2, 4, 8 or 16.
    vector
        The number of adjacent elements that a thread accesses together, at most 16 bytes. `access`
        gives the first one. They are adjacent along the tile's last or first axis, and begin at a
        multiple of `vector`. A thread-value layout names all of them.
    kind
        "read" or "write"; "atomic" or "cas" (compare and swap), of 4 or 8 bytes; "ldmatrix" or
        "stmatrix". For a matrix, `threads` is 8 (.x1), 16 (.x2) or 32 (.x4), and each thread gives
        the first element of a row of 16 bytes.

    There are 32 banks of 4 bytes, by the rule measured on an NVIDIA H200 (docs/machines.md). One
    instruction accesses one value of each thread, in order. Raises `LayoutError` if the arguments
    don't describe an access to the tile.

    >>> print(conflicts("(32,32):(32,1)", lambda thread, value: (thread, value)))
    read of 4 bytes a thread: 1 request, 1 phase, 32 stages, 31 beyond the least
    values  phase  threads  stages  least  banks
    0           0  0-31         32      1      1
    >>> conflicts("Swizzle<5,0,5> o (32,32):(32,1)", lambda t, v: (t, v)).free
    True
    >>> rows = conflicts("(32,8):(8,1)", lambda t, v: (t, 0), bytes=2, kind="ldmatrix")
    >>> rows.phases, rows.stages
    (4, 4)
    """
    placed: Layout = cute(layout) if isinstance(layout, str) else layout
    if access in ("rows", "columns"):
        index = "value, thread" if access == "rows" else "thread, value"
        raise LayoutError(
            f"{access!r} is not an access; write lambda thread, value: ({index}) and values=, how "
            "many elements each thread accesses"
        )
    if isinstance(access, str):
        read = cute(access)
        if isinstance(read, Swizzle):
            raise LayoutError(f"{access} is not a layout of threads and values: it is swizzled")
        access = read
    return questions.ask(
        placed,
        access,
        shape_of(placed, shape),
        size=bytes,
        vector=vector,
        kind=kind,
        threads=threads,
        values=values,
    )


def along(
    shape: Shape, way: str, vector: int = 1, threads: int = 32
) -> tuple[Callable[[int, int], tuple[int, int] | None], int]:
    """Return the access to a whole tile by "rows" or "columns", and the number of values a thread.

    Along rows the threads take consecutive vectors; along columns, vectors one below the other. In
    the last value, surplus threads take no part.

    >>> by_columns, values = along((32, 32), "columns")
    >>> by_columns(3, 1), values
    ((3, 1), 32)
    """
    if len(shape) != 2:
        raise LayoutError(f"a tile has rows and columns, but its shape is {shape}")
    rows, columns = shape[0], shape[1] // vector
    if columns * vector != shape[1]:
        raise LayoutError(
            f"rows of {shape[1]} elements are not a whole number of vectors of {vector}"
        )
    values = -(-rows * columns // threads)

    def access(thread: int, value: int) -> tuple[int, int] | None:
        number = value * threads + thread
        if number >= rows * columns:
            return None
        if way == "rows":
            return number // columns, number % columns * vector
        return number % rows, number // rows * vector

    return access, values
