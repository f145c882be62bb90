"""Several modules of PTX that refer to each other, as one (NVIDIA, "PTX ISA 9.0", section 12.3)."""

from __future__ import annotations

import re
from collections.abc import Sequence

HEAD = re.compile(r"^\.(?:version|target|address_size)\b.*$", re.MULTILINE)
FILE = re.compile(r"(\.file\s+|\.loc\s+|\binlined_at\s+)(\d+)")
"""A number of a source file."""
OWN = re.compile(r"(?<![\w$.%])(?:\$[\w$]*|__unnamed_\d+)")
"""A name that is a module's own: the compiler gives other modules the same ones.

The name of a static function or variable has its file in it.
"""


def linked(texts: Sequence[str]) -> str:
    """The text of one module with all that these modules have.

    >>> print(linked([".version 9.0\\n.loc 1 5 0\\n$str", ".version 9.0\\n.loc 1 7 0\\n$str"]))
    .version 9.0
    .loc 1 5 0
    $str$0
    <BLANKLINE>
    .loc 2 7 0
    $str$1
    """
    if len(texts) == 1:
        return texts[0]
    found = []
    files = 0
    for number, text in enumerate(texts):
        before = files

        def moved(one: re.Match[str], before: int = before) -> str:
            return f"{one[1]}{int(one[2]) + before}"

        files += max((int(one[2]) for one in FILE.finditer(text)), default=0)
        text = OWN.sub(rf"\g<0>${number}", FILE.sub(moved, text))
        found.append(HEAD.sub("", text) if number else text)
    return "\n".join(found)
