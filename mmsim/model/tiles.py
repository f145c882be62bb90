"""Layouts of tiles in shared memory, as in kernels: padded rows, swizzles, strides.

A tile of a matrix product is written by rows. It is read by columns, or by the blocks of a tensor
core. A good layout makes both free of conflicts. `Padded` makes its rows longer than their data.
`Swizzle`, as defined by CUTLASS's CuTe, combines the bits of an element's offset that choose the
bank with those that choose the row. `Strided` has a stride for each extent, also for nested ones,
as in the layouts that CuTe prints; `cute` reads these.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from mmsim.errors import LayoutError, shown
from mmsim.host.arguments import is_whole
from mmsim.model.drawn import DrawnLayout

Offsets = npt.NDArray[np.int64]
Shape = tuple[int, ...]
Nested = int | tuple["Nested", ...]
"""A number, or a tuple of such: the extents or strides of a layout of CuTe."""

LARGEST = 2**40
"""The largest distance of adjacent elements: far beyond any memory."""


@runtime_checkable
class Layout(Protocol):
    """An object that maps the elements of an array to words."""

    def offsets(self, shape: Shape) -> Offsets:
        """Word offset of every element, an integer array of shape `shape`.

        Each element has its own word, and one element has word 0. Unused words may lie
        between them.
        Raises `LayoutError` if the shape doesn't fit.
        """
        ...


@dataclass(frozen=True)
class Padded(DrawnLayout):
    """Rows that are longer than their data: each ends with `by` unused words.

    >>> Padded(1).offsets((2, 3))
    array([[0, 1, 2],
           [4, 5, 6]])
    """

    by: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "by", whole(self.by, "the padding of a row", 0, LARGEST))

    def offsets(self, shape: Shape) -> Offsets:
        """Word offset of every element; a row is the last axis."""
        if not shape:
            raise LayoutError(f"{self} pads rows, so it can't hold a number; give an array")
        rows = math.prod(shape[:-1])
        word = np.arange(shape[-1], dtype=np.int64)
        row = np.arange(rows, dtype=np.int64)[:, None] * (shape[-1] + self.by)
        return (row + word).reshape(shape)


@dataclass(frozen=True)
class Strided(DrawnLayout):
    """A stride for each axis, as a layout of CuTe: `Strided((8, 8), (1, 8))` goes by columns.

    `shape` has the extents. `stride` has the words from one index to the next, nested in the same
    way. A tuple as an extent divides its axis into parts; the first part moves fastest. An array
    has one axis for each entry of `shape`, with as many elements as the product of the entry.

    >>> Strided((2, 3), (1, 2)).offsets((2, 3))
    array([[0, 2, 4],
           [1, 3, 5]])
    >>> Strided((4, (2, 2)), (2, (1, 8))).offsets((4, 4))[1]
    array([ 2,  3, 10, 11])
    """

    shape: tuple[Nested, ...]
    stride: tuple[Nested, ...]

    def __post_init__(self) -> None:
        for name in ("shape", "stride"):
            given = getattr(self, name)
            if isinstance(given, int):
                object.__setattr__(self, name, (given,))
        _check_nesting(self.shape, self.stride, self)

    @property
    def extents(self) -> Shape:
        """The elements along each axis."""
        return tuple(map(_size, self.shape))

    def offsets(self, shape: Shape | None = None) -> Offsets:
        """Word offset of every element; `shape` must be that of the layout."""
        if shape is not None and shape != self.extents:
            raise LayoutError(
                f"{self} is a layout of shape {self.extents}, so it can't hold an array of shape "
                f"{shape}; give it an array of its own shape"
            )
        axes = [_axis(one, stride) for one, stride in zip(self.shape, self.stride, strict=True)]
        found = np.zeros(self.extents, dtype=np.int64)
        for number, axis in enumerate(axes):
            found += axis.reshape([-1 if own == number else 1 for own in range(len(axes))])
        return found

    def __str__(self) -> str:
        return f"{_text(self.shape)}:{_text(self.stride)}"


@dataclass(frozen=True)
class Swizzle(DrawnLayout):
    """The swizzle of CuTe, of an element's offset: `bits` bits, from `base` on, moved by `shift`.

    The `bits` bits of an offset from bit `base + shift` on are added, without carry, to those from
    bit `base` on: offset xor ((offset >> shift) & mask). With a negative `shift`, the bits from
    `base` on are added to those from `base - shift` on. The hardware's mode of 128 bytes is
    `Swizzle<3,4,3>` of bytes. For elements of 2 bytes this is `Swizzle(3, 3, 3)`; `of_bytes`
    computes it. The swizzle applies to the offsets of `layout`, by default row-major order.

    >>> Swizzle(1, 0, 1).offsets((2, 2)), Swizzle(3, 4, 3).of(0b1010000000)
    (array([[0, 1],
           [3, 2]]), 720)
    """

    bits: int
    base: int
    shift: int
    layout: Layout | None = None

    def __post_init__(self) -> None:
        name = "of a swizzle"
        object.__setattr__(self, "bits", whole(self.bits, f"the number of bits {name}", 0, 31))
        object.__setattr__(self, "base", whole(self.base, f"the first bit {name}", 0, 31))
        object.__setattr__(self, "shift", whole(self.shift, f"the shift {name}", -31, 31))
        if abs(self.shift) < self.bits:
            raise LayoutError(
                f"Swizzle<{self.bits},{self.base},{self.shift}> would mix bits with themselves; "
                f"its shift has to be at least {self.bits}, or at most {-self.bits}"
            )

    @staticmethod
    def of_bytes(row: int, size: int, layout: Layout | None = None) -> Swizzle:
        """Return the hardware's mode of 32, 64 or 128 bytes, for elements of `size` bytes.

        >>> str(Swizzle.of_bytes(128, 2)), str(Swizzle.of_bytes(32, 4))
        ('Swizzle<3,3,3>', 'Swizzle<1,2,3>')
        """
        if row not in (32, 64, 128):
            raise LayoutError(f"swizzles have modes of 32, 64 and 128 bytes, not of {shown(row)}")
        if size not in (1, 2, 4, 8, 16):
            raise LayoutError(f"an element has 1, 2, 4, 8 or 16 bytes, not {shown(size)}")
        return Swizzle(row.bit_length() - 5, 4 - (size.bit_length() - 1), 3, layout)

    def of(self, offset: int) -> int:
        """Return the swizzled offset of an offset."""
        return int(self.apply(np.array(offset, dtype=np.int64)))

    def apply(self, offsets: Offsets) -> Offsets:
        """Return the swizzled offsets of offsets."""
        up, down = max(-self.shift, 0), max(self.shift, 0)
        chosen = offsets & (((1 << self.bits) - 1) << (self.base + down))
        result: Offsets = offsets ^ ((chosen >> down) << up)
        return result

    def offsets(self, shape: Shape) -> Offsets:
        """Word offset of every element."""
        if self.layout is None:
            plain = np.arange(math.prod(shape), dtype=np.int64).reshape(shape)
        else:
            plain = self.layout.offsets(shape)
        return self.apply(plain)

    def __str__(self) -> str:
        own = f"Swizzle<{self.bits},{self.base},{self.shift}>"
        return own if self.layout is None else f"{own} o {self.layout}"


@dataclass(frozen=True)
class XorRows(DrawnLayout):
    """Word j of row i lies where word j xor (i mod `width`) lies in a plain row.

    The number of words of a row is a power of two, at least `width`; blocks of `vector` adjacent
    words stay together.

    >>> XorRows(2).offsets((2, 2))
    array([[0, 1],
           [3, 2]])
    """

    width: int = 32
    vector: int = 1

    def __post_init__(self) -> None:
        for name in ("width", "vector"):
            number = whole(getattr(self, name), f"the {name} of {type(self).__name__}", 1, 2**31)
            if number & (number - 1):
                raise LayoutError(f"the {name} of {type(self).__name__} is a power of two")
            object.__setattr__(self, name, number)

    def offsets(self, shape: Shape) -> Offsets:
        """Word offset of every element."""
        columns = shape[-1] if shape else 0
        if columns & (columns - 1) or columns < self.width * self.vector:
            raise LayoutError(
                f"{self} needs rows of a power of two of words, at least "
                f"{self.width * self.vector}, so it can't hold an array of shape {shape}"
            )
        rows = math.prod(shape[:-1])
        row = np.arange(rows, dtype=np.int64)[:, None]
        word = np.arange(columns, dtype=np.int64) ^ (row % self.width * self.vector)
        return (row * columns + word).reshape(shape)


def shape_of(layout: object, shape: Shape | None) -> Shape:
    """Return the tile's shape: the given one, or that of the layout.

    >>> shape_of(Strided((2, 3), (3, 1)), None), shape_of(Padded(1), (4, 4))
    ((2, 3), (4, 4))
    """
    if shape is not None:
        return tuple(shape)
    if not hasattr(layout, "offsets"):
        raise LayoutError(
            f"{shown(layout)} is not a layout; give one of mmsim.layout's, as "
            "mm.layout.Padded(1), or an object with a method offsets(shape)"
        )
    inner = layout.layout if isinstance(layout, Swizzle) else layout
    own: Shape | None = getattr(inner, "extents", None)
    if own is None:
        raise LayoutError(f"{layout} holds tiles of any shape; say which, as in shape=(64, 64)")
    return own


# ------------------------------------------------------------ CuTe's notation

_SWIZZLE = r"S(?:wizzle|w)<\s*(\d+)\s*,\s*(\d+)\s*,\s*(-?\d+)\s*>"
_POINTER = r"smem_ptr\[(8|16|32|64|128)b\]\(.*\)"


def cute(text: str) -> Strided | Swizzle:
    """Read a layout that CuTe prints as `text`: strides, with an optional swizzle in front.

    Static numbers may have CuTe's underscore. An offset of 0 between the two is left out; another
    one is refused. Before a pointer, as in CuTe's layouts for `wgmma`, a swizzle is one of bytes.
    It becomes the swizzle of elements of the pointer's number of bits.

    >>> cute("(_8,(2,4)):(8,(_1,2))")
    Strided(shape=(8, (2, 4)), stride=(8, (1, 2)))
    >>> str(cute("Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)"))
    'Swizzle<3,3,3> o (8,64):(64,1)'
    """
    parts = [part.strip() for part in re.split(r"\s+o\s+", text.strip())]
    swizzle = re.fullmatch(_SWIZZLE, parts[0])
    bits = base = shift = 0
    if swizzle is not None:
        bits, base, shift = map(int, swizzle.groups())
        parts.pop(0)
        pointer = re.fullmatch(_POINTER, parts[0]) if len(parts) == 2 else None
        if pointer is not None:
            base -= int(pointer[1]).bit_length() - 4
            parts.pop(0)
        elif len(parts) == 2 and re.fullmatch("_?0", parts[0]):
            parts.pop(0)
        if not parts:
            return Swizzle(bits, base, shift)
    try:
        shape, stride = map(_nested, " o ".join(parts).split(":"))
    except ValueError:
        raise LayoutError(
            f"{shown(text)} is not a layout of CuTe; write it as CuTe prints it, such as "
            "'(8,8):(8,1)' or 'Swizzle<3,4,3> o (8,64):(64,1)', or give one of mmsim.layout's, as "
            "mm.layout.Padded(1)"
        ) from None
    strided = Strided(shape, stride)
    return strided if swizzle is None else Swizzle(bits, base, shift, strided)


def _nested(text: str) -> tuple[Nested, ...]:
    """Read extents or strides: JSON with round brackets and underscores. Raises `ValueError`."""
    if not re.fullmatch(r"[\d(),_\s]+", text):
        raise ValueError(text)
    plain = re.sub(r"\b_+(?=\d)", "", text)
    found = _tuples(json.loads(plain.replace("(", "[").replace(")", "]")))
    return found if isinstance(found, tuple) else (found,)


def _tuples(part: Any) -> Nested:
    """Make tuples of lists, which are not empty."""
    if part == []:
        raise ValueError(part)
    return tuple(map(_tuples, part)) if isinstance(part, list) else int(part)


def _check_nesting(shape: Nested, stride: Nested, whole_one: Strided) -> None:
    """Refuse extents and strides that aren't nested in the same way, or are not numbers."""
    if isinstance(shape, tuple) and isinstance(stride, tuple) and len(shape) == len(stride):
        for one, own in zip(shape, stride, strict=True):
            _check_nesting(one, own, whole_one)
    elif isinstance(shape, tuple) or isinstance(stride, tuple):
        raise LayoutError(
            f"the extents and the strides of {whole_one} aren't nested in the same way"
        )
    else:
        whole(shape, "an extent of a layout", 1, LARGEST)
        whole(stride, "a stride of a layout", 0, LARGEST)


def _size(extent: Nested) -> int:
    return extent if isinstance(extent, int) else math.prod(map(_size, extent))


def _axis(extent: Nested, stride: Nested) -> Offsets:
    """The offset that each index along an axis adds."""
    if isinstance(extent, int) and isinstance(stride, int):
        return np.arange(extent, dtype=np.int64) * stride
    assert isinstance(extent, tuple)
    assert isinstance(stride, tuple)
    found = np.zeros(1, dtype=np.int64)
    for part, own in zip(extent, stride, strict=True):  # the first moves fastest
        found = (_axis(part, own)[:, None] + found).ravel()
    return found


def _text(nested: Nested) -> str:
    if isinstance(nested, int):
        return str(nested)
    return f"({','.join(map(_text, nested))})"


def whole(value: object, what: str, least: int | None = None, most: int | None = None) -> int:
    """Return a whole number within its bounds, or raise a `LayoutError`."""
    if not is_whole(value):
        raise LayoutError(f"{what} is a whole number, not {shown(value)}")
    if least is not None and value < least:
        raise LayoutError(f"{what} is at least {least}, not {shown(value)}")
    if most is not None and value > most:
        raise LayoutError(f"{what} is at most {most}, not {shown(value)}")
    return int(value)
