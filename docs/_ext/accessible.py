"""Corrects on each page what Sphinx and the theme write that a screen reader can't use."""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

CAPTION = 'role="heading"'
MODULES = "_modules/index"


def with_levels(text: str) -> str:
    """Captions of contents as headings that have a level.

    >>> with_levels('<p class="caption" role="heading">Guides</p>')
    '<p class="caption" role="heading" aria-level="2">Guides</p>'
    """
    return text.replace(f"{CAPTION}>", f'{CAPTION} aria-level="2">')


def named_as_shown(text: str) -> str:
    """What unfolds a cell under the name that it shows, and no other.

    >>> named_as_shown('<summary aria-label="Toggle hidden content"><p>Show</p></summary>')
    '<summary><p>Show</p></summary>'
    """
    return re.sub(r'<summary aria-label="[^"]*">', "<summary>", text)


def flat(text: str) -> str:
    """A list whose lists stand between its entries, as one list.

    >>> flat("<h1>M</h1><ul><li>a</li><ul><li>a.b</li></ul></ul>")
    '<h1>M</h1><ul><li>a</li><li>a.b</li></ul>'
    """
    before, found, entries = text.partition("<ul>")
    entries, _, after = entries.rpartition("</ul>")
    return f"{before}{found}{re.sub('</?ul>', '', entries)}</ul>{after}" if found else text


def put_right(
    app: Sphinx, page: str, template: str, context: dict[str, Any], document: object
) -> None:
    """Change what stands on a page."""
    for part in ("body", "furo_navigation_tree"):
        if isinstance(context.get(part), str):
            context[part] = named_as_shown(with_levels(context[part]))
    if page == MODULES:
        context["body"] = flat(context["body"])


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", put_right, priority=900)  # after the theme
    return {"parallel_read_safe": True, "parallel_write_safe": True}
