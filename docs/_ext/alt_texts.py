"""Figures of cells for those who don't see them: what their SVG is called, else the text before.

myst-nb gives them no text, and Sphinx then writes the name of the file.
"""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

TITLE = re.compile(r"<title>(.*?)</title>", re.DOTALL)
IMAGE = re.compile(r'<img alt="([^"]*)"')


def title(svg: str) -> str:
    """What an SVG says of itself; empty if it says nothing.

    >>> title("<svg><title>n &lt; w</title></svg>"), title("<svg></svg>")
    ('n < w', '')
    """
    found = TITLE.search(svg)
    return html.unescape(" ".join(found[1].split())) if found else ""


def name_picture(data: dict[str, Any]) -> None:
    """Give the SVG of an output the text that the same picture has in HTML, unless it has a title.

    In the notebooks pyplot makes the SVG of all figures, without a title.

    >>> data = {"image/svg+xml": ["<svg x=''>", "</svg>"], "text/html": ['<img alt="a &lt; b">']}
    >>> name_picture(data)
    >>> data["image/svg+xml"]
    "<svg x=''><title>a &lt; b</title></svg>"
    """
    svg, page = ("".join(data.get(kind, "")) for kind in ("image/svg+xml", "text/html"))
    found = IMAGE.match(page)
    if svg and found and not TITLE.search(svg):
        named = f"<title>{found[1]}</title>"
        data["image/svg+xml"] = re.sub(r"<svg\b[^>]*>", lambda tag: tag[0] + named, svg, count=1)


def text_of(image: nodes.image, folder: Path, before: str) -> str:
    """The text for an image: its title, or what the page says before it."""
    names = (name for name in image.get("candidates", {}).values() if name.endswith(".svg"))
    titles = (title((folder / name).read_text(encoding="utf-8")) for name in names)
    return f"Figure: {next(filter(None, titles), before)}"


def describe(app: Sphinx, doctree: nodes.document, name: str) -> None:
    """Give each image that has no text one."""
    before = ""
    for node in doctree.findall(lambda one: isinstance(one, nodes.paragraph | nodes.image)):
        if isinstance(node, nodes.paragraph):
            before = " ".join(node.astext().split()) or before
        elif isinstance(node, nodes.image) and not node.get("alt"):
            node["alt"] = text_of(node, Path(app.srcdir), before)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("doctree-resolved", describe)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
