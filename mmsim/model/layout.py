"""Layouts: where element (i, j) of an array lies.

A layout maps the elements of an array of a given shape to word offsets from the array's start, one
word each. The program doesn't depend on it: `mm.place(data, layout)` gives the array a layout, and
the same transpose runs under every layout. The rotating layouts see the memory as rows of w words
and rotate row i by r_i, so that word j of row i lies at i*w + (j + r_i) mod w:

- `RAW`: r_i = 0, row-major order, for any shape (RAP section IV);
- `RAS`: independent random r_i (RAP section IV);
- `RAP`: r is one random permutation of 0..w-1, hence w rows (RAP section IV);
- `Diagonal`: r_i = i (ICPP section V);
- `OneP`, `R1P`, `ThreeP`, `W2P`, `OnePW2R`: RAP for w x w x w x w arrays, whose row (i, j, k) is
  rotated by f(i, j, k) (RAP section VII, which calls them 1P, R1P, 3P, w²P and 1Pw²R).

`mmsim.model.tiles` has the layouts of tiles in a card's shared memory: `Padded`, `Strided`,
`Swizzle` and `XorRows`.

Random shifts come from NumPy's frozen `RandomState`: a seed gives the same shifts on every
machine.
"""

from __future__ import annotations

import math
import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from mmsim.errors import LayoutError, shown
from mmsim.host.guesses import guessed_in
from mmsim.model.drawn import DrawnLayout
from mmsim.model.tiles import Layout as Layout
from mmsim.model.tiles import Offsets as Offsets
from mmsim.model.tiles import Padded as Padded
from mmsim.model.tiles import Shape, whole
from mmsim.model.tiles import Strided as Strided
from mmsim.model.tiles import Swizzle as Swizzle
from mmsim.model.tiles import XorRows as XorRows
from mmsim.model.tiles import cute as cute
from mmsim.tracebacks import said

_LISTED = [
    *("Diagonal", "Layout", "OneP", "OnePW2R", "Padded", "R1P", "RAP", "RAS", "RAW"),
    *("Strided", "Swizzle", "ThreeP", "W2P", "XorRows", "cute"),
]

WIDEST = 2**31 - 1
"""The largest width, the same as for machines."""
WIDEST_APART = 2**40
"""The last word of an array: far beyond any memory, and well within 64 bits."""

MASKED = "is masked; fill what is masked: pass array.filled(...)"
"""The reason to refuse a masked array, bare or placed, and the remedy."""


@dataclass(frozen=True)
class RAW(DrawnLayout):
    """Elements in row-major order, without gaps: no row is rotated (RAP section IV).

    `RowMajor` is the same class.

    >>> RAW().offsets((2, 3))
    array([[0, 1, 2],
           [3, 4, 5]])
    """

    def offsets(self, shape: Shape) -> Offsets:
        return np.arange(math.prod(shape), dtype=np.int64).reshape(shape)


RowMajor = RAW
"""Another name of `RAW`, from earlier versions."""


@dataclass(frozen=True)
class _Rotating(DrawnLayout, ABC):
    """Rows of `width` words, row i rotated by the shift r_i that a subclass chooses."""

    width: int

    def __post_init__(self) -> None:
        width = whole(self.width, f"the width of a {type(self).__name__} layout", 1, WIDEST)
        object.__setattr__(self, "width", width)

    @property
    def banks(self) -> int:
        return self.width

    def offsets(self, shape: Shape) -> Offsets:
        """Word offset of every element of an array with rows of `width` words.

        Raises `LayoutError` unless the last extent is `width` (or, for one dimension, a multiple
        of it).
        """
        width, size = self.width, math.prod(shape)
        fits = size % width == 0 if len(shape) == 1 else bool(shape) and shape[-1] == width
        if not fits:
            raise LayoutError(
                f"{self} rotates rows of {width} words, so it can't hold an array of shape "
                f"{shape}; give it an array whose last extent is {width}, or another width"
            )
        rows = size // width
        row = np.arange(rows, dtype=np.int64)[:, None]
        word = (np.arange(width, dtype=np.int64) + self._shifts(rows)[:, None]) % width
        return (row * width + word).reshape(shape)

    @abstractmethod
    def _shifts(self, rows: int) -> Offsets:
        """Return the shifts r_i of `rows` rows."""


@dataclass(frozen=True)
class Diagonal(_Rotating):
    """Row i rotated by i: the diagonal arrangement (ICPP section V).

    >>> Diagonal(4).offsets((2, 4))
    array([[0, 1, 2, 3],
           [5, 6, 7, 4]])
    """

    def _shifts(self, rows: int) -> Offsets:
        return np.arange(rows, dtype=np.int64)


@dataclass(frozen=True)
class _Seeded(_Rotating):
    """Shifts drawn from a seed."""

    seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "seed", whole(self.seed, "a layout's seed", 0, 2**32 - 1))


@dataclass(frozen=True)
class _Random(_Seeded):
    """A separate shift for every row, drawn or given."""

    shifts: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.shifts is not None:
            try:
                given = None if isinstance(self.shifts, str) else tuple(self.shifts)
            except TypeError:
                given = None
            if given is None:
                raise LayoutError(f"the shifts of a layout are numbers, not {shown(self.shifts)}")
            what = "a shift of a layout"
            shifts = tuple(whole(shift, what, -(2**63), 2**63 - 1) for shift in given)
            object.__setattr__(self, "shifts", shifts)

    @abstractmethod
    def draw(self, rows: int) -> Offsets:
        """Return the random numbers of an array of `rows` rows."""

    def _shifts(self, rows: int) -> Offsets:
        if self.shifts is None:
            return self.draw(rows)
        if len(self.shifts) != rows:
            raise LayoutError(
                f"{self} has {len(self.shifts)} shifts for {rows} rows; give one for each row"
            )
        return np.array([shift % self.width for shift in self.shifts], dtype=np.int64)


@dataclass(frozen=True)
class RAS(_Random):
    """Random address shift: every row rotated by its own random number (RAP section IV).

    `shifts` gives the numbers r_0, r_1, ... Without it, `seed` draws them.
    """

    def draw(self, rows: int) -> Offsets:
        """Return the random numbers of an array of `rows` rows."""
        drawn: Offsets = np.random.RandomState(self.seed).randint(self.width, size=rows)
        return drawn.astype(np.int64)


@dataclass(frozen=True)
class RAP(_Random):
    """Random address permute-shift: the shifts are a permutation of 0..w-1 (RAP section IV).

    It holds exactly w rows of w words. `shifts` gives the permutation. Without it, `seed` draws
    the permutation.

    >>> RAP(4, shifts=(2, 0, 3, 1)).offsets((16,))[10]  # RAP Figure 6
    np.int64(9)
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.shifts is not None and (
            len(self.shifts) != self.width or sorted(self.shifts) != list(range(self.width))
        ):
            raise LayoutError(
                f"the shifts of a RAP layout of width {self.width} are a permutation of "
                f"0..{self.width - 1}, not {self.shifts}"
            )

    @property
    def extents(self) -> Shape:
        """The numbers of rows and of columns."""
        return self.width, self.width

    def draw(self, rows: int) -> Offsets:
        """Return the random permutation of the `rows` rows, which are w."""
        return np.random.RandomState(self.seed).permutation(rows).astype(np.int64)

    def _shifts(self, rows: int) -> Offsets:
        if rows != self.width:
            raise LayoutError(
                f"{self} is a matrix of {self.width} rows of {self.width} words, so it can't hold "
                f"{rows} rows; use RAS for other numbers of rows"
            )
        return super()._shifts(rows)


@dataclass(frozen=True)
class _Higher(_Seeded):
    """A w x w x w x w array whose row (i, j, k), a[i][j][k], is rotated by f(i, j, k) (RAP VII).

    It holds exactly w³ rows of w words. The shape may show all four extents or fewer. Row
    (i, j, k) is row (i*w + j)*w + k of the memory.
    """

    paper_name: ClassVar[str]

    def __str__(self) -> str:
        return f"{self.paper_name}(width={self.width}, seed={self.seed})"

    @property
    def extents(self) -> Shape:
        """The four extents."""
        return (self.width,) * 4

    @property
    def numbers(self) -> int:
        """The number of random numbers (the last row of RAP Table IV)."""
        return self.width

    def draw(self) -> Offsets:
        """Return the random numbers, `numbers` of them: permutations of 0..w-1, joined."""
        random = np.random.RandomState(self.seed)
        drawn = [random.permutation(self.width) for _ in range(self.numbers // self.width)]
        return np.concatenate(drawn).astype(np.int64)

    @abstractmethod
    def f(self, numbers: Offsets, i: Offsets, j: Offsets, k: Offsets) -> Offsets:
        """Return the shift of row (i, j, k), modulo w, for the random numbers.

        `numbers` may hold many layouts: its last axis counts the random numbers.
        """

    def _shifts(self, rows: int) -> Offsets:
        w = self.width
        if rows != w**3:
            raise LayoutError(
                f"{self} is an array of {w}*{w}*{w} rows of {w} words, so it can't hold {rows} "
                "rows; use RAS for other numbers of rows"
            )
        i, j, k = np.indices((w, w, w), dtype=np.int64).reshape(3, rows)
        return self.f(self.draw(), i, j, k)


@dataclass(frozen=True)
class OneP(_Higher):
    """1P, one permutation: f(i, j, k) = r_k for a random permutation r (RAP section VII).

    >>> str(OneP(4, seed=1)), OneP(4, seed=1).numbers
    ('1P(width=4, seed=1)', 4)
    """

    paper_name = "1P"

    def f(self, numbers: Offsets, i: Offsets, j: Offsets, k: Offsets) -> Offsets:
        return numbers[..., k]


@dataclass(frozen=True)
class R1P(_Higher):
    """R1P, repeated one permutation: f(i, j, k) = r_i + r_j + r_k (RAP section VII).

    Six rows with the same three numbers i, j, k in different orders have one shift.
    """

    paper_name = "R1P"

    def f(self, numbers: Offsets, i: Offsets, j: Offsets, k: Offsets) -> Offsets:
        return numbers[..., i] + numbers[..., j] + numbers[..., k]


@dataclass(frozen=True)
class ThreeP(_Higher):
    """3P, three permutations: f(i, j, k) = r_i + s_j + t_k (RAP section VII prefers it)."""

    paper_name = "3P"

    @property
    def numbers(self) -> int:
        return 3 * self.width

    def f(self, numbers: Offsets, i: Offsets, j: Offsets, k: Offsets) -> Offsets:
        w = self.width
        return numbers[..., i] + numbers[..., w + j] + numbers[..., 2 * w + k]


@dataclass(frozen=True)
class W2P(_Higher):
    """w²P, w² permutations: f(i, j, k) = r^(i w + j)_k, a RAP for every i, j (RAP section VII)."""

    paper_name = "w²P"

    @property
    def numbers(self) -> int:
        return self.width**3

    def f(self, numbers: Offsets, i: Offsets, j: Offsets, k: Offsets) -> Offsets:
        return numbers[..., (i * self.width + j) * self.width + k]


@dataclass(frozen=True)
class OnePW2R(_Higher):
    """1Pw²R, one permutation and w² numbers: f(i, j, k) = s_(i w + j) + r_k (RAP section VII)."""

    paper_name = "1Pw²R"

    @property
    def numbers(self) -> int:
        return self.width**2 + self.width

    def draw(self) -> Offsets:
        random = np.random.RandomState(self.seed)
        drawn = random.permutation(self.width), random.randint(self.width, size=self.width**2)
        return np.concatenate(drawn).astype(np.int64)

    def f(self, numbers: Offsets, i: Offsets, j: Offsets, k: Offsets) -> Offsets:
        w = self.width
        return numbers[..., k] + numbers[..., w + i * w + j]


@dataclass(frozen=True, eq=False)
class Placed:
    """An array with its layout. `place` makes it.

    `words` is the number of words from the array's first word to its last used word.
    """

    data: npt.NDArray[Any]
    layout: Layout
    words: int

    def __repr__(self) -> str:
        return f"place({self.data.dtype} array of shape {self.data.shape}, {self.layout})"


def masked(data: object) -> bool:
    """Return whether this is a masked array of NumPy. It doesn't load `numpy.ma`.

    >>> masked(np.zeros(3)), masked(np.ma.masked_less([1, 2], 2))
    (False, True)
    """
    loaded = sys.modules.get("numpy.ma")
    return loaded is not None and isinstance(data, loaded.MaskedArray)


def place(data: npt.ArrayLike, layout: Layout) -> Placed:
    """Give `data` a layout. Pass the result to `run` instead of the bare array.

    Raises `LayoutError` if the layout can't hold an array of that shape.

    >>> place(np.zeros((4, 4)), RAP(4, seed=1))
    place(float64 array of shape (4, 4), RAP(width=4, seed=1, shifts=None))
    """
    if isinstance(data, Placed):
        raise LayoutError(f"this array is placed already: {data}")
    if masked(data):
        raise LayoutError(f"this array {MASKED}")
    try:
        array = np.asarray(data)
    except MemoryError:
        raise
    except Exception as error:  # whatever an object raises that is converted to an array
        raise LayoutError(f"this is not an array: {error}") from None
    if array.dtype.kind not in "biufc":
        raise LayoutError(f"an array of {array.dtype} holds no numbers")
    if isinstance(layout, type) or not isinstance(layout, Layout):
        raise LayoutError(
            f"{shown(layout)} is not a layout; give one of mmsim.layout's, or an object with a "
            "method offsets(shape)"
        )
    return Placed(array, layout, words_of(offsets_of(layout, array.shape)))


def offsets_of(layout: Layout, shape: Shape) -> Offsets:
    """Return `layout.offsets(shape)`; a `LayoutError` unless each element has its own word."""
    try:
        offsets = np.asarray(layout.offsets(shape))
    except (LayoutError, MemoryError):
        raise
    except Exception as error:  # whatever the user's own code raises
        raise LayoutError(f"{layout}.offsets({shape}) failed: {said(error)}") from error
    if offsets.shape != shape or offsets.dtype.kind not in "iu":
        raise LayoutError(f"{layout}.offsets({shape}) must give an integer array of that shape")
    flat = offsets.astype(np.int64).ravel()
    if flat.size and (flat.min() != 0 or flat.max() > WIDEST_APART):
        raise LayoutError(
            f"{layout} gives the elements of shape {shape} the words {int(flat.min())} to "
            f"{int(flat.max())}; the first is 0, the last at most {WIDEST_APART}"
        )
    ordered = np.sort(flat)  # np.unique takes up to 30 times as long
    if (ordered[1:] == ordered[:-1]).any():
        raise LayoutError(f"{layout} doesn't give each element of shape {shape} a word of its own")
    return flat.reshape(shape)


def words_of(offsets: Offsets) -> int:
    """The number of words from an array's first word to its last used word."""
    return int(offsets.max()) + 1 if offsets.size else 0


def __dir__() -> list[str]:
    """The names that complete `mm.layout.`: the layouts, without the module's other names.

    >>> from mmsim.model import layout
    >>> [name for name in dir(layout) if name.startswith("R")]
    ['R1P', 'RAP', 'RAS', 'RAW']
    """
    return sorted(_LISTED)


guessed_in(
    __name__, "mm.layout", _LISTED, {"Transposed ColumnMajor": "mm.layout.Strided((8, 8), (1, 8))"}
)
