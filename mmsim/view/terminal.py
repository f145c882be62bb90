"""Tables for Rich that fit into the width of the terminal without a cut name or number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

NARROW = 16
"""The least characters of a line in a cell whose text is broken over lines."""


class FittingTable(Table):
    """A table that drops borders if they don't fit, and prints row by row if its columns don't.

    Words of a title, and the lines of a column with a least width, are never broken.
    """

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        columns = [_texts(column.header, *column.cells) for column in self.columns]
        widest = [longest(texts) for texts in columns]
        least = [
            max(
                column.min_width or min(longest(texts[1:]), NARROW),
                *(cell_len(word) for word in texts[0].plain.split()),
                1,
            )
            for column, texts in zip(self.columns, columns, strict=True)
        ]
        room = options.max_width - 3 * len(columns) - 1  # without borders and spaces
        if sum(least) > room:
            room = options.max_width - 2 * len(columns)
            self.box, self.padding, self.pad_edge = None, (0, 2, 0, 0), False
        if sum(least) > room:
            yield from self._row_by_row(columns)
            return
        for column, width in zip(self.columns, shared(room, least, widest), strict=True):
            column.width = width
        yield from super().__rich_console__(console, options)

    def _row_by_row(self, columns: Sequence[Sequence[Text]]) -> Iterator[Text | Table]:
        """Yield a line for each nonempty cell, after its title."""
        if self.title:
            yield Text.assemble(*_texts(self.title), style="table.title")
        for row in range(len(self.rows)):
            if row:
                yield Text()
            shown = Table.grid(padding=(0, 2))
            width = longest(title for title, *_ in columns)
            shown.add_column(no_wrap=True, min_width=width, style="table.header")
            shown.add_column(overflow="fold")
            for title, *cells in columns:
                if cells[row].plain:
                    shown.add_row(title, cells[row])
            yield shown
        if self.caption:
            yield Text.assemble(*_texts(self.caption), style="table.caption")


def shared(room: int, least: Iterable[int], widest: Sequence[int]) -> list[int]:
    """Widths of columns that fit: first the least widths, then the narrowest columns grow.

    >>> shared(30, [4, 8, 8], [4, 30, 12]), shared(90, [4, 8, 8], [4, 30, 12])
    ([4, 14, 12], [4, 30, 12])
    """
    widths = list(least)
    while sum(widths) < room:
        growing = [at for at, width in enumerate(widths) if width < widest[at]]
        if not growing:
            break
        widths[min(growing, key=widths.__getitem__)] += 1
    return widths


def _texts(*cells: object) -> list[Text]:
    return [cell if isinstance(cell, Text) else Text(str(cell)) for cell in cells]


def longest(texts: Iterable[Text]) -> int:
    """The length of the longest line."""
    return max((cell_len(line) for text in texts for line in text.plain.split("\n")), default=0)
