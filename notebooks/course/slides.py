"""Where a slide begins: at each heading, and wherever the one before is full."""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import deepcopy
from math import ceil

import nbformat
from classroom import UNGUESSED
from nbformat import NotebookNode

from course.reading import Role, parts

HEIGHT = 680
"""Of what stands on a slide, above its number, in pixels; all is in the style of course.css."""
TEXT, CODE, GAP, COLUMNS, PICTURE, PLAYER = 36, 25, 18, 92, 440, 620
ZOOM = 1.9 * 4 / 3
"""Of a picture, whose height is in points."""
BLANK = re.compile(r"\n\s*\n")


def slides(notebook: NotebookNode, *, answers: bool) -> NotebookNode:
    """A notebook cut into slides.

    With answers, what was to be predicted is on the slide after the question, which a printed page
    shows without it; without answers it is left out. Imports and checks are always left out. The
    text after a question explains its answer, so it begins a new slide.
    """
    made = nbformat.v4.new_notebook(metadata=deepcopy(notebook.metadata))
    room, section, before = 0.0, "", Role.TEXT
    for cell, role in pieces(notebook):
        if role is Role.REVEAL and not answers:
            continue
        if before in (Role.GUESS, Role.EXERCISE) or (role is Role.REVEAL and before is not role):
            room = 0
        before = role
        height = height_of(cell)
        heading = re.match(r"(#+) (.*)", cell.source) if cell.cell_type == "markdown" else None
        section = heading[2] if heading else section
        for output in cell.get("outputs", []):
            if "text" in output:
                output.text = output.text.replace(f" {UNGUESSED}", "")
            if "text/html" in output.get("data", {}):
                output.data["text/html"] = lecturing(output.data["text/html"])
        if heading and len(heading[1]) < 3:
            kind = "slide"
        elif heading or height > room:
            kind = "subslide"
        else:
            kind = "-"
        room = (HEIGHT if kind in ("slide", "subslide") else room) - height
        cell.metadata["slideshow"] = {"slide_type": kind}
        if kind == "subslide" and not heading:
            cell.metadata["section"] = section
        made.cells.append(nbformat.from_dict(cell))
    return made


def lecturing(frame: str) -> str:
    """The frame of a player, in lecture mode.

    >>> lecturing("<iframe srcdoc='&lt;main id=&quot;player&quot;&gt;'>")
    "<iframe srcdoc='&lt;main id=&quot;player&quot; data-lecture&gt;'>"
    """
    return frame.replace("id=&quot;player&quot;", "id=&quot;player&quot; data-lecture")


def pieces(notebook: NotebookNode) -> Iterator[tuple[NotebookNode, Role]]:
    """What stands on a slide undivided: a heading with its first paragraph, a paragraph, a cell.

    A cell whose code and outputs don't fit on a slide together is divided.
    """
    for part in parts(notebook):
        cell = deepcopy(part.cell)
        if part.role in (Role.SETUP, Role.CHECK):
            continue
        if part.role is Role.TEXT:
            for text in paragraphs(cell.source):
                yield nbformat.v4.new_markdown_cell(text), part.role
        elif part.role is not Role.REVEAL and cell.outputs and height_of(cell) > HEIGHT:
            shown = deepcopy(cell)
            cell.outputs = []
            shown.metadata["transient"] = {"remove_source": True}
            yield cell, part.role
            yield shown, part.role
        else:
            yield cell, part.role


def paragraphs(text: str) -> Iterator[str]:
    r"""A text in pieces; a heading stays with what follows, a list or a formula with what precedes.

    >>> list(paragraphs("## A\n\nb\n\nc:\n\n- d\n- e\n\n## F"))
    ['## A\n\nb', 'c:\n\n- d\n- e', '## F']
    """
    whole = ""
    for piece in BLANK.split(text):
        joins = piece.startswith(("- ", "$$", "|", "1. ")) or whole.rsplit("\n", 1)[-1].startswith(
            "#"
        )
        if whole and (not joins or piece.startswith("#")):
            yield whole
            whole = piece
        else:
            whole = f"{whole}\n\n{piece}" if whole else piece
    if whole:
        yield whole


def height_of(cell: NotebookNode) -> float:
    """How high a cell will be, in about as many pixels."""
    if cell.cell_type == "markdown":
        return sum(
            GAP + TEXT * ceil(len(piece) / COLUMNS) * (1.4 if piece.startswith("#") else 1)
            for piece in BLANK.split(cell.source)
        )
    source = "" if "transient" in cell.metadata else cell.source
    height = GAP + CODE * (source.count("\n") + 1) if source else 0
    for output in cell.outputs:
        data = output.get("data", {})
        if "image/svg+xml" in data:
            found = re.search(r'<svg[^>]*? height="([\d.]+)pt"', data["image/svg+xml"])
            height += GAP + min(PICTURE, float(found[1]) * ZOOM if found else PICTURE)
        elif "<iframe" in data.get("text/html", ""):
            height += GAP + PLAYER
        elif "text/markdown" in data:
            height += GAP + TEXT * (data["text/markdown"].count("\n") + 1)
        else:
            text = output.get("text") or data.get("text/plain", "")
            height += GAP + CODE * (text.rstrip().count("\n") + 1)
    return height
