"""Pieces of a Markdown page: paragraphs, tables, numbers."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence


def paragraph(text: str) -> str:
    """Return the text in lines of at most 100 characters."""
    words = " ".join(text.split())
    return textwrap.fill(words, 100, break_long_words=False, break_on_hyphens=False) + "\n"


def bullets(items: Iterable[str]) -> str:
    """A list, each item in lines of at most 100 characters."""
    wrapped = (
        textwrap.fill(
            " ".join(item.split()),
            100,
            initial_indent="- ",
            subsequent_indent="  ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        for item in items
    )
    return "\n".join(wrapped) + "\n"


def filled(text: str) -> str:
    """A text whose paragraphs and lists have lines of at most 100 characters, a blank line between.

    >>> print(filled("# A head\\n\\nA\\n text.\\n\\n\\n- One\\n  item.\\n- Another.\\n"), end="")
    # A head
    <BLANKLINE>
    A text.
    <BLANKLINE>
    - One item.
    - Another.
    """
    blocks = (block.strip("\n") for block in re.split(r"\n[ \n]*\n", text))
    return "\n".join(map(_filled, filter(None, blocks)))


def _filled(block: str) -> str:
    if block.startswith(("#", "|", "![", "<!--")):
        return f"{block}\n"
    if block.startswith("- "):
        return bullets(re.split(r"^- ", block, flags=re.M)[1:])
    return paragraph(block)


def table(head: Sequence[str], rows: Iterable[Sequence[str]], texts: int = 1) -> str:
    """A table whose first `texts` columns are aligned to the left, the others to the right."""
    rule = ["---" if number < texts else "---:" for number in range(len(head))]
    lines = [list(head), rule, *map(list, rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def percent(part: float) -> str:
    """A part as percent.

    >>> percent(0.0123), percent(0.0004), percent(0.44)
    ('1.2%', '0.04%', '44%')
    """
    size = abs(part) * 100
    return f"{size:.{0 if size >= 10 else 1 if size >= 0.1 else 2}f}%"


def signed(part: float) -> str:
    """A part as percent, with its sign and at most one decimal.

    >>> signed(0.031), signed(-0.0009), signed(1.23)
    ('+3.1%', '-0.1%', '+123%')
    """
    return f"{100 * part:+.{0 if abs(part) >= 0.1 else 1}f}%"


def short(value: float) -> str:
    """A number with three digits, or all of its whole part.

    >>> short(0.0041600001), short(1.104), short(96.758), short(1088.1)
    ('0.00416', '1.10', '96.8', '1088')
    """
    if value >= 100:
        return f"{value:.0f}"
    digits = 2
    while value and value * 10 ** (digits - 2) < 1:
        digits += 1
    return f"{value:.{1 if value >= 10 else digits}f}"


def count(number: int, one: str, many: str = "") -> str:
    """A number of things.

    >>> count(1, "array"), count(2, "array")
    ('1 array', '2 arrays')
    """
    return f"{number} {one if number == 1 else many or one + 's'}"


def listed(items: Iterable[object]) -> str:
    """Things in a sentence.

    >>> listed(["a"]), listed("ab"), listed("abc")
    ('a', 'a and b', 'a, b and c')
    """
    texts = [str(item) for item in items]
    return " and ".join(part for part in (", ".join(texts[:-1]), *texts[-1:]) if part)
