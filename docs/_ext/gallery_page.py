"""The gallery: the papers' figures, drawn when the site is made, and the list of all of them.

The page names the commands; on the site its marks are replaced by the figures and by the list.
Where a run gives something else than a paper's figure shows, the build has a warning.
`pictures_drawn` names the figures that are drawn, if not all are, as for `family_pages`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.util import logging

from mmsim.claims import ClaimError, Drawing
from mmsim.claims.printed import registered_contents, registered_drawings, registered_tables
from mmsim.gpu.experiment import registered_experiments
from mmsim.reports.contents import Reproduction, reproductions
from mmsim.view.figures.files import as_svg
from mmsim_algorithms.papers import titled

logger = logging.getLogger(__name__)
PAGE, FOLDER = "gallery", "gallery"
EMPTY = '<svg xmlns="http://www.w3.org/2000/svg" width="96" height="96"></svg>'
"""Stands for a figure that is not drawn, if no earlier build has drawn it."""
FIGURES, CONTENTS = "<!-- figures -->", "<!-- contents -->"


def in_order() -> list[Reproduction]:
    """All tables and figures, in the papers' order."""
    experiments = registered_experiments()
    contents, tables = registered_contents(), registered_tables()
    return reproductions(contents, tables, registered_drawings(), experiments.values())


def gallery(folder: Path, chosen: Collection[str] = ()) -> Iterator[str]:
    """The figures in Markdown, paper by paper; their files are written to the folder."""
    drawings = {one.id: one for one in registered_drawings()}
    paper = ""
    for found in in_order():
        if found.id in drawings:
            drawing = drawings[found.id]
            if found.id.partition("-")[0] != paper:
                paper = found.id.partition("-")[0]
                yield f"## {titled(paper)}"
            file = folder / f"{found.id}.svg"
            try:
                if not chosen or found.id in chosen:
                    save(file, as_svg(drawing.draw()))
                elif not file.exists():
                    save(file, EMPTY)
            except ClaimError as error:
                logger.warning("%s is not as in the paper: %s", found.id, error)
                continue
            yield from entry(drawing, found)


def entry(drawing: Drawing, found: Reproduction) -> Iterator[str]:
    """A figure with its caption: what it shows, where it stands, from what and how it is made."""
    yield f"### {drawing.id}"
    yield f"![{plain(found.title)}]({FOLDER}/{drawing.id}.svg)"
    yield f"{plain(drawing.source)}: {plain(drawing.title)}."
    note = f"; {plain(drawing.note)}" if drawing.note else ""
    yield f"Made: {found.made}, by {code(found.how)}{note}."


def save(path: Path, text: str) -> None:
    """Write a file, unless it has this text already: another build may be reading it."""
    path.parent.mkdir(exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def contents() -> str:
    """The list of all tables and figures as a table."""
    lines = ["| id | what it shows | made | by, or why not |", "| --- | --- | --- | --- |"]
    for one in in_order():
        how = code(one.how) if one.how.startswith("mmsim ") else plain(one.how)
        lines.append(f"| {one.id} | {plain(one.title)} | {one.made} | {how} |")
    return "\n".join(lines)


def code(commands: str) -> str:
    """Commands as code, each on its own."""
    return "; ".join(f"`{command}`" for command in commands.split("; "))


def plain(text: str) -> str:
    """Text in which nothing is Markdown."""
    for mark in "\\*_[]|<`":
        text = text.replace(mark, f"\\{mark}")
    return text


def put_in_place(app: Sphinx, document: str, source: list[str]) -> None:
    """Replace the marks by the figures and the list."""
    if document == PAGE:
        figures = "\n\n".join(gallery(Path(app.srcdir, FOLDER), app.config.pictures_drawn))
        source[0] = source[0].replace(FIGURES, figures).replace(CONTENTS, contents())


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", put_in_place)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
