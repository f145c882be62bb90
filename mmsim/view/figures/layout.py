"""A tile and its layout: the elements in rows and columns, each in the colour of its bank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mmsim.errors import LayoutError, MMSimError, shown
from mmsim.host.arguments import whole
from mmsim.host.guesses import advised
from mmsim.ir.dtypes import Integers
from mmsim.model import questions
from mmsim.model.byte_banks import BANK_BYTES, SIZES
from mmsim.model.drawn import BANKS
from mmsim.model.layout import Layout, offsets_of
from mmsim.model.tiles import Shape, Strided, cute, shape_of
from mmsim.view.figures import paper
from mmsim.view.palette import GRID, ink

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HUES = (*paper.COLOURS, "#999999")
SHADES = (0.0, 0.3, 0.55, 0.75)
"""The share of white in the colours of four neighbouring banks of one hue."""
PALE = 0.8
"""The share of white over the elements outside of an access."""

ROWS, COLUMNS = 128, 256
"""The most rows and columns that are drawn."""
SMALL = 16
"""The most columns of a tile that shows offsets."""
NARROW = 8
"""The most columns of a tile whose figure is one column of a paper wide."""
TALLEST = 9.0
NAMES = 0.6
"""The width of the rows' names, in inches."""
LINE, DIGIT, MARGIN = 8.6, 4.6, 1.5
"""Points of the line height, of a digit's width, and of the margin around a text."""
ORDER = ("bank", "offset", "thread")
"""The lines of a cell, from top to bottom."""
LINED = 3
"""The least size of a cell, in points, at which lines separate the cells."""
POINTS = 72


@advised()
def layout(
    layout: Layout | str,
    shape: Shape | None = None,
    access: questions.Access | Strided | str | None = None,
    *,
    bytes: int = BANK_BYTES,  # as `mmsim.conflicts` calls it
    vector: int = 1,
    kind: questions.Kind = "read",
    value: int = 0,
    threads: int = questions.THREADS,
    banks: int | None = None,
    axes: Axes | None = None,
) -> Axes:
    """Draw a tile: each element in the colour of its bank, with the bank's number where it fits.

    Four neighbouring banks, 16 bytes, share a hue. Elements in one word of 4 bytes are one cell. In
    a small tile each cell also has its offset, in words, below the bank. With an access, the
    requested cells have a frame and their threads, and the other cells are pale. Of a large tile,
    only the first 128 rows and 256 columns are drawn; the names of the axes say so.

    Parameters
    ----------
    layout, shape, access, bytes, vector, kind, threads
        As for `mmsim.conflicts`. In an array of more than two dimensions, all axes except for the
        last one together are the rows.
    value
        The number of the threads' value to draw.
    banks
        The number of banks of 4 bytes. Default: the width of the rows that the layout rotates (such
        as `RAP`), else 32.
    axes
        Where to draw.

    Examples
    --------
    >>> import mmsim as mm
    >>> axes = mm.figures.layout("Swizzle<2,0,2>", (4, 4), banks=4)
    >>> [axes.texts[4 + column].get_text() for column in range(4)]  # row 1: bank and offset
    ['1\\n5', '0\\n4', '3\\n7', '2\\n6']
    """
    placed: Any = cute(layout) if isinstance(layout, str) else layout
    shape = shape_of(placed, shape)
    if not shape or 0 in shape:
        raise MMSimError(f"a tile of shape {shape} has no elements to draw")
    if bytes not in SIZES:
        raise LayoutError(f"an element has 1, 2, 4, 8 or 16 bytes, not {shown(bytes)}")
    count = getattr(placed, "banks", BANKS) if banks is None else banks
    whole("banks", count, 1)
    tile = _Tile(offsets_of(placed, shape).reshape(-1, shape[-1]), bytes, count)
    asked: dict[int, tuple[int, ...]] = {}
    if access is not None:
        whole("value", value, 0)
        read: Any = cute(access) if isinstance(access, str) else access
        how: Any = {"size": bytes, "vector": vector, "kind": kind, "threads": threads}
        found = questions.ask(placed, read, shape, **how, values=value + 1)
        asked = _asked(tile.offsets, found, bytes, value)
    return _draw(tile, shape, asked, axes)


@dataclass(frozen=True, eq=False)
class _Tile:
    """The part of a tile that is drawn: the offset of each element, in elements."""

    offsets: Integers
    bytes: int
    banks: int

    @property
    def part(self) -> Integers:
        return self.offsets[:ROWS, :COLUMNS]

    @property
    def words(self) -> Integers:
        """The word of 4 bytes in which each element begins."""
        words: Integers = self.part * self.bytes // BANK_BYTES
        return words

    def name(self, word: int) -> list[str]:
        """The bank, or the banks, of an element that begins in a word; the longest first."""
        words = max(self.bytes // BANK_BYTES, 1)
        first, last = word % self.banks, (word + words - 1) % self.banks
        return [str(first)] if first == last else [f"{first}–{last}", str(first)]


def _asked(
    offsets: Integers, found: questions.Conflicts, size: int, value: int
) -> dict[int, tuple[int, ...]]:
    """The threads that request each element, by its number in row-major order."""
    if value >= len(found.addresses):
        raise LayoutError(
            f"a thread has {len(found.addresses)} values, counted from 0, so none is {value}"
        )
    element_at = {offset: element for element, offset in enumerate(offsets.ravel().tolist())}
    vector = found.bytes // size
    asked: dict[int, tuple[int, ...]] = {}
    for thread, address in enumerate(found.addresses[value]):
        if address >= 0:
            for offset in range(address * vector, (address + 1) * vector):
                element = element_at[offset]
                asked[element] = (*asked.get(element, ()), thread)
    return asked


def _draw(tile: _Tile, shape: Shape, asked: dict[int, tuple[int, ...]], axes: Axes | None) -> Axes:
    from matplotlib.collections import LineCollection
    from matplotlib.patches import Rectangle

    rows, columns = tile.part.shape
    inches = paper.COLUMN if columns <= NARROW else paper.PAGE
    across = POINTS * (inches - NAMES) / columns
    cells = _cells(tile, asked)
    letter = "T" if _fit(cells, "thread", across, tile, "T") else ""
    # The threads are the most important text; the colour of a cell shows its bank.
    lines = [
        line for line in ("thread", "bank", "offset") if _fit(cells, line, across, tile, letter)
    ]
    down = min(LINE * len(lines) + 2 if lines else across, POINTS * TALLEST / rows)
    lines = lines[: int(down / LINE)]
    colours = [bank_colour(bank, tile.banks) for bank in range(tile.banks)]
    pale = [_whiter(colour, PALE) for colour in colours]
    height = down * rows / POINTS + (0.5 if "bank" in lines else 0.9)
    with paper.drawing(axes, inches, height) as drawn:
        _paint(drawn, tile, asked, [*colours, *pale])
        if min(across, down) >= LINED:
            upright = [[(one.column, one.row), (one.column, one.row + 1)] for one in cells]
            level = [[(one.column, one.row), (one.column + one.columns, one.row)] for one in cells]
            style: Any = {"colors": GRID, "linewidths": 0.3}
            drawn.add_collection(LineCollection([*upright, *level], **style))
        shown = [line for line in ORDER if line in lines]
        for cell in cells:
            if cell.threads:
                style = {"fill": False, "linewidth": min(1.0, across / 8)}
                gid = f"asked-{cell.row}-{cell.column}"
                drawn.add_patch(
                    Rectangle((cell.column, cell.row), cell.columns, 1, gid=gid, **style)
                )
            text = [cell.text(line, across, tile, letter) for line in shown]
            colour = (pale if asked and not cell.threads else colours)[cell.word % tile.banks]
            if any(text):
                middle = cell.column + cell.columns / 2, cell.row + 0.53
                style = {"ha": "center", "va": "center", "linespacing": 0.95, "color": ink(colour)}
                shown_text = "\n".join(one[0] for one in text if one)
                drawn.text(*middle, shown_text, gid=f"cell-{cell.row}-{cell.column}", **style)
        _name(drawn, tile, shape, across, down, shown)
        if "bank" not in lines:
            _explain(drawn, colours)
        paper.describe(
            drawn,
            f"tile of {' × '.join(map(str, shape))} elements, each in the colour of its bank"
            + (f", with the {len(asked)} elements that threads want framed" if asked else ""),
            (
                f"row {row} begins in banks {', '.join(str(word % tile.banks) for word in own[:4])}"
                for row, own in enumerate(tile.words.tolist())
            ),
        )
    return drawn


def _paint(axes: Axes, tile: _Tile, asked: dict[int, tuple[int, ...]], colours: list[str]) -> None:
    """Give each element the colour of its bank; `colours` has the pale ones of all banks last."""
    from matplotlib.colors import ListedColormap

    rows, columns = tile.part.shape
    shade = tile.words % tile.banks
    if asked:
        left = np.ones(tile.offsets.size, dtype=np.int64)
        left[list(asked)] = 0
        shade = shade + tile.banks * left.reshape(tile.offsets.shape)[:rows, :columns]
    across, down = np.arange(columns + 1), np.arange(rows + 1)
    span: Any = {"vmin": -0.5, "vmax": len(colours) - 0.5, "cmap": ListedColormap(colours)}
    axes.pcolormesh(across, down, shade, **span, rasterized=True)


def _explain(axes: Axes, colours: list[str]) -> None:
    """Draw a colour bar of the banks, for cells without their banks' numbers."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap, Normalize

    of = ScalarMappable(Normalize(-0.5, len(colours) - 0.5), ListedColormap(colours))
    where: Any = {"orientation": "horizontal", "aspect": 60, "pad": 0.02}
    bar = axes.figure.colorbar(of, ax=axes, label="bank", **where)
    marks = list(range(0, len(colours), max(len(colours) // 8, 1)))
    bar.set_ticks(marks, labels=list(map(str, marks)))
    paper.small_ticks(bar.ax)


@dataclass(frozen=True)
class _Cell:
    """Adjacent elements in one word, in order, that the same threads request."""

    row: int
    column: int
    columns: int
    word: int
    offset: int
    threads: tuple[int, ...]

    def text(self, line: str, across: float, tile: _Tile, letter: str) -> list[str] | None:
        """The texts for a line, the longest first; None without a text."""
        if line == "bank":
            texts = tile.name(self.word)
        elif line == "offset":
            texts = [str(self.offset)]
        else:
            texts = _of_threads(self.threads, letter)
        room = across * self.columns - MARGIN
        return [text for text in texts if DIGIT * len(text) <= room] if texts else None


def _fit(cells: list[_Cell], line: str, across: float, tile: _Tile, letter: str) -> bool:
    """Return whether a line fits into every cell that has it. Only small tiles have offsets."""
    if line == "offset" and tile.offsets.shape[1] > SMALL:
        return False
    texts = [cell.text(line, across, tile, letter) for cell in cells]
    return all(text is None or text for text in texts) and any(texts)


def _cells(tile: _Tile, asked: dict[int, tuple[int, ...]]) -> list[_Cell]:
    words, width = tile.words, tile.offsets.shape[1]
    found: list[_Cell] = []
    for row in range(words.shape[0]):
        begin = 0
        for column in range(1, words.shape[1] + 1):
            first, own = row * width + begin, row * width + column
            same = (
                column < words.shape[1]
                and tile.part[row, column] == tile.part[row, column - 1] + 1
                and words[row, column] == words[row, begin]
                and asked.get(own) == asked.get(first)
            )
            if not same:
                word, offset = int(words[row, begin]), int(tile.part[row, begin])
                threads = tuple(sorted(asked.get(first, ())))
                found.append(_Cell(row, begin, column - begin, word, offset, threads))
                begin = column
    return found


def _of_threads(threads: tuple[int, ...], letter: str) -> list[str]:
    """The threads of a cell, the longest text first; * stands for more of them."""
    if len(threads) < 2:
        return [f"{letter}{thread}" for thread in threads]
    first, last = threads[0], threads[-1]
    neighbours = last - first == len(threads) - 1
    every = f"{first}–{last}" if neighbours else ",".join(map(str, threads))
    return [f"{letter}{every}", f"{letter}{first}*"]


def _name(
    axes: Axes, tile: _Tile, shape: Shape, across: float, down: float, lines: list[str]
) -> None:
    """Name the rows and columns by their indices, and say what the cells show."""
    (rows, columns), every = tile.part.shape, tile.offsets.shape
    by = _apart(across, DIGIT * len(str(columns - 1)) + 2)
    marks = range(0, columns, by)
    paper.columns_above(axes, [mark + 0.5 for mark in marks], list(map(str, marks)))
    marks = range(0, rows, _apart(down, LINE))
    names = [",".join(map(str, np.unravel_index(mark, shape[:-1]))) for mark in marks]
    axes.set_yticks([mark + 0.5 for mark in marks], names if len(shape) > 1 else [""])
    axes.set(xlim=(0, columns), ylim=(rows, 0))
    notes = [f"the first {columns} of {every[1]}"] if columns < every[1] else []
    notes += [f"cells show {', '.join(lines)}"] if lines else []
    axes.set_xlabel(f"column ({'; '.join(notes)})" if notes else "column")
    if len(shape) > 1:
        axes.set_ylabel("row" + (f" (the first {rows} of {every[0]})" if rows < every[0] else ""))


def _apart(room: float, needed: float) -> int:
    """The distance between named marks, a power of two."""
    by = 1
    while by * room < needed:
        by *= 2
    return by


def bank_colour(bank: int, banks: int) -> str:
    """The colour of a bank. Of many banks, those of 16 neighbouring bytes share a hue."""
    if banks <= len(HUES):
        return HUES[bank]
    return _whiter(HUES[bank // len(SHADES) % len(HUES)], SHADES[bank % len(SHADES)])


def _whiter(colour: str, white: float) -> str:
    """A colour with so much white in it."""
    parts = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{round(part + (255 - part) * white):02x}" for part in parts)
