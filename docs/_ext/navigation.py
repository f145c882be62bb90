"""The list of all pages at the side of each page, made in a fraction of the time.

Sphinx copies the headings of all pages for each page, and drops them, as only the titles are asked
for. Here they are dropped once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from docutils import nodes
from sphinx.addnodes import toctree
from sphinx.application import Sphinx

Contents = dict[str, nodes.bullet_list]


def titles(contents: nodes.bullet_list) -> nodes.bullet_list:
    """The contents of a page without its headings below the title; pages below it stay."""
    kept = contents.deepcopy()
    for entry in kept.children:
        if isinstance(entry, nodes.list_item) and len(entry) > 1:
            if pages := list(entry.findall(toctree)):
                entry[1][:] = pages
            else:
                entry.pop(1)
    return kept


def from_titles(app: Sphinx) -> Callable[..., None]:
    """Return what gives each page a list that is made of titles."""
    found: Contents = {}

    def give(_: Sphinx, page: str, template: str, context: dict[str, Any], document: Any) -> None:
        listed = context.get("toctree")
        if listed is None:
            return
        if not found:
            found.update({name: titles(one) for name, one in app.env.tocs.items()})

        def toctree_of_titles(**options: Any) -> str:
            if not options.get("titles_only"):
                return str(listed(**options))
            whole, app.env.tocs = app.env.tocs, found
            try:
                return str(listed(**options))
            finally:
                app.env.tocs = whole

        context["toctree"] = toctree_of_titles

    return give


def setup(app: Sphinx) -> dict[str, bool]:
    # Before the theme asks for the list.
    app.connect("html-page-context", from_titles(app), priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
