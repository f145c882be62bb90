"""The engine in JavaScript as one script: all modules of this folder in one scope."""

from __future__ import annotations

import re
from importlib import resources

IMPORT = re.compile(r'^import \{[^}]*\} from "\./(\w+)\.js";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:const|let|function|class)\b)", re.MULTILINE)
NAMED = re.compile(
    r"^(?:export )?(?:const|let|(?:async )?function\*?|class) (\w+|[{\[][^}\]]*[}\]])", re.MULTILINE
)
UNNEEDED = re.compile(
    r"^ */\*.*?\*/\n|^ *//[^\n]*\n|^ +|(?<=[;,{}()\[\]:]) // [^\"'`\n]*$|^\n",
    re.MULTILINE | re.DOTALL,
)
"""A comment, the indentation of a line, or an empty line."""


def bundle() -> str:
    """Return all modules as one script, each after those that it imports.

    Raises `ValueError` if two have the same name at the top, or if one exports in another way.
    """
    texts = {
        path.name.removesuffix(".js"): path.read_text(encoding="utf-8")
        for path in resources.files("mmsim.javascript").iterdir()
        if path.name.endswith(".js")
    }
    refuse_same_names(texts)
    return "".join(map(plain, (texts[name] for name in in_order(texts))))


def in_order(texts: dict[str, str]) -> list[str]:
    """The names of modules, each behind those that it imports."""
    ordered: dict[str, None] = {}
    begun: set[str] = set()

    def add(name: str) -> None:
        if name in begun:
            return
        begun.add(name)
        for other in IMPORT.findall(texts[name]):
            add(other)
        ordered[name] = None

    for name in sorted(texts):
        add(name)
    return list(ordered)


def names(text: str) -> list[str]:
    """The names that a module defines at the top.

    >>> names("export const one = 1;\\nconst [two, three] = [2, 3];\\nfunction* four() {}\\n")
    ['one', 'two', 'three', 'four']
    """
    found = []
    for given in NAMED.findall(text):
        parts = given.strip("{}[]").split(",") if given[0] in "{[" else [given]
        found += [part.split(":")[-1].split("=")[0].strip().removeprefix("...") for part in parts]
    return [name for name in found if name]


def refuse_same_names(texts: dict[str, str]) -> None:
    """Refuse modules that can't share a scope."""
    owners: dict[str, str] = {}
    for module, text in texts.items():
        for name in names(text):
            if name in owners:
                raise ValueError(f"{module}.js defines {name}, as {owners[name]}.js does")
            owners[name] = module


def plain(text: str) -> str:
    """A module without imports, exports, comments and indentation.

    >>> plain('import { a } from "./b.js";\\n/** One. */\\nexport const c = () => {\\n  a;\\n};\\n')
    'const c = () => {\\na;\\n};\\n'
    """
    text = EXPORT.sub("", IMPORT.sub("", text))
    if left := re.search(r"^(?:import|export)\b.*$", text, re.MULTILINE):
        raise ValueError(f"a module has {left.group()!r}")
    return UNNEEDED.sub("", text)
