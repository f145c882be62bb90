"""Text that is safe to print: on a terminal, into a file, on a page.

Names, lines and messages come from programs and from files, and may hold anything: control
characters of a terminal, halves of a surrogate pair, which no file can hold, marks that turn the
direction of writing.
"""

from __future__ import annotations


def printable(text: str) -> str:
    """Text in which every character that does not print is shown as its escape; tabs are spaces.

    >>> print(printable("a\\x1b[31m" + chr(0xD800)))
    a\\x1b[31m\\ud800
    """
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode()
        for letter in text.expandtabs()
    )


def printable_lines(text: str) -> str:
    """The same of text whose lines stay lines."""
    return "\n".join(map(printable, text.split("\n")))


def counted(count: int, one: str, several: str = "") -> str:
    """A number of things in words.

    >>> counted(1, "launch", "launches"), counted(2, "kernel")
    ('1 launch', '2 kernels')
    """
    return f"{count} {one if count == 1 else several or one + 's'}"
