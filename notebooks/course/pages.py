"""Notebooks as pages that load nothing from elsewhere: formulas are MathML, the style is inside."""

from __future__ import annotations

import html
import re
import sys
from pathlib import Path
from typing import Any

from jinja2 import pass_context
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from nbconvert import HTMLExporter, SlidesExporter
from nbformat import NotebookNode
from pygments.formatters import HtmlFormatter
from traitlets.config import Config

from course.reading import FOLDER, title
from mmsim.view.look import page_style

sys.path.append(str(FOLDER.parent / "docs" / "_ext"))
from alt_texts import name_picture
from alt_texts import title as svg_title
from mathml import mathml

HERE = Path(__file__).parent
STYLE = page_style(dark=False) + (HERE / "templates" / "course.css").read_text("utf-8")
CODE = HtmlFormatter(style="a11y-high-contrast-light").get_style_defs(".highlight")


def formula(latex: str, options: dict[str, bool]) -> str:
    """A formula of a text cell."""
    return mathml(latex.strip(), "block" if options["display_mode"] else "inline")


MARKDOWN = (
    MarkdownIt("commonmark")
    .enable("table")
    .use(dollarmath_plugin, renderer=formula, double_inline=True)
)


def linked(text: str, shared: str) -> str:
    """Links as they are among the pages: to another notebook's, and into the site.

    >>> linked("see [2](02-warps.ipynb) and [the rules](../docs/machines.md#a)", "..")
    'see [2](02-warps.html) and [the rules](../site/machines.html#a)'
    """
    text = re.sub(r"\]\((\d\d-[\w-]+)\.ipynb", r"](\1.html", text)
    return re.sub(r"\]\(\.\./docs/([^)#]+)\.md", rf"]({shared}/site/\1.html", text)


class Offline:
    """What the pages and the slides share."""

    kind: str

    def __init__(self, shared: str = "..") -> None:
        """`shared` is the folder, seen from the page, of the site and of Reveal."""
        self.shared = shared
        settings = Config()
        settings.TemplateExporter.extra_template_basedirs = [str(HERE / "templates")]
        settings.TemplateExporter.template_name = self.kind
        settings.HTMLExporter.exclude_input_prompt = True
        settings.HTMLExporter.exclude_output_prompt = True
        super().__init__(config=settings)

    @pass_context
    def markdown2html(self, context: Any, source: str) -> str:
        """The text of a cell, or of an output in Markdown."""
        return MARKDOWN.render(linked(source, self.shared))

    def page(self, notebook: NotebookNode) -> str:
        """The whole page."""
        about = {"title": title(notebook), "style": STYLE, "code": CODE, "shared": self.shared}
        resources = {"course": about}
        for number, cell in enumerate(notebook.cells):
            cell["id"] = f"cell-{number + 1}"
        made, _ = self.from_notebook_node(notebook, resources)
        return made


class Worksheet(Offline, HTMLExporter):
    """A page to print."""

    kind = "worksheet"


class Slides(Offline, SlidesExporter):
    """A page of slides, for Reveal."""

    kind = "slides"


def described(notebook: NotebookNode) -> None:
    """Describe each picture by its cell's `alt`, else by its title, else by the text before it.

    A figure that is HTML too, with the same picture, is shown as the template shows pictures.
    """
    text = ""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            paragraphs = [one for one in cell.source.split("\n\n") if not one.startswith("#")]
            text = " ".join(paragraphs[-1].split()) if paragraphs else text
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if "image/svg+xml" in data:
                name_picture(data)
                plain = re.sub(r"[*`$]|\]\([^)]*\)|\[", "", text)
                seen = cell.metadata.get("alt") or svg_title(data["image/svg+xml"]) or plain
                output.metadata["alt"] = html.escape(f"Figure: {seen}")
                data.pop("text/html", None)
