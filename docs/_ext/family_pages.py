"""The pictures on the pages of the field's algorithms, drawn from runs when the site is made.

A page has a mark where a picture comes, which is replaced by the picture and its caption. Where a
run gives something else than a claim says, the build has a warning.

`pictures_drawn` names the pages whose pictures are drawn, if not all are. The others keep those of
an earlier build, or empty ones.
"""

from __future__ import annotations

from pathlib import Path

from gallery_page import EMPTY, logger, plain, save
from sphinx.application import Sphinx

from mmsim.claims import ClaimError
from mmsim.view.figures.files import as_svg
from mmsim_algorithms.drawings.measured import Picture
from mmsim_algorithms.drawings.sections import EVERY_PICTURE

PAGES, FOLDER = "algorithms", "pictures"


def entry(picture: Picture, folder: Path, drawn: bool = True) -> str:
    """A picture with its caption in Markdown; its file is written to the folder."""
    file = folder / f"{picture.name}.svg"
    try:
        if drawn:
            save(file, as_svg(picture.draw()))
        elif not file.exists():
            save(file, EMPTY)
    except ClaimError as error:
        logger.warning("the picture of %s is not as its claims say: %s", picture.name, error)
        return ""
    return f"![{plain(picture.alt)}]({FOLDER}/{picture.name}.svg)\n\n{plain(picture.caption)}"


def put_in_place(app: Sphinx, document: str, source: list[str]) -> None:
    """Replace the marks of a page by its pictures."""
    chosen = app.config.pictures_drawn
    for picture in EVERY_PICTURE:
        if document == f"{PAGES}/{picture.page}":
            folder = Path(app.srcdir, PAGES, FOLDER)
            shown = entry(picture, folder, not chosen or picture.page in chosen)
            source[0] = source[0].replace(picture.mark, shown)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_config_value("pictures_drawn", [], "env")
    app.connect("source-read", put_in_place)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
