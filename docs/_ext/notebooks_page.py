"""The notebooks among the pages. Sphinx reads what lies below docs/ only, so they are copied.

Their page is notebooks/README.md, which lists them where the repository is read.
"""

from __future__ import annotations

import filecmp
import json
import re
import shutil
import sys
from pathlib import Path

import nbformat
from alt_texts import name_picture
from sphinx.application import Sphinx

sys.path.append(str(Path(__file__).parents[2] / "notebooks"))

PAGE = "notebooks"
NAMES = "[0-9]*.ipynb"
LINK = re.compile(r"\]\((?!\w+:)([^)#]+)")
"""A link to another file, up to its path."""


def copy(app: Sphinx, config: object) -> None:
    """Copy the notebooks, with the outputs that they were saved with.

    Files that are there already are not written again: another build may be reading them.
    """
    folder = Path(app.srcdir, "notebooks")
    folder.mkdir(exist_ok=True)
    notebooks = {path.name: path for path in (folder.parent.parent / "notebooks").glob(NAMES)}
    for old in folder.iterdir():
        if old.name not in notebooks:
            old.unlink()
    for name, notebook in notebooks.items():
        if not (folder / name).exists() or not filecmp.cmp(notebook, folder / name, False):
            shutil.copy(notebook, folder)


def put_in_place(app: Sphinx, document: str, source: list[str]) -> None:
    """Replace the page by the notebooks' own, whose links lead to the copies."""
    if document != PAGE:
        return
    docs = Path(app.srcdir)
    names = sorted(path.name for path in (docs / "notebooks").glob(NAMES))

    def from_here(link: re.Match[str]) -> str:
        return f"](notebooks/{link[1]}" if link[1] in names else f"](../notebooks/{link[1]}"

    text = (docs.parent / "notebooks" / "README.md").read_text(encoding="utf-8")
    entries = "\n".join(f"notebooks/{Path(name).stem}" for name in names)
    source[0] = LINK.sub(from_here, text) + f"\n```{{toctree}}\n:hidden:\n\n{entries}\n```\n"


def leave_out_answers(app: Sphinx, document: str, source: list[str]) -> None:
    """Where answers aren't to be shown, take out folded outputs and the checks of exercises."""
    if app.config.notebook_answers or not document.startswith("notebooks/"):
        return
    from course.reading import Role, parts

    notebook = nbformat.reads(source[0], as_version=4)
    shown = [part for part in parts(notebook) if part.role is not Role.CHECK]
    for part in shown:
        if part.role is Role.REVEAL:
            part.cell.outputs = []
    notebook.cells = [part.cell for part in shown]
    source[0] = nbformat.writes(notebook)


def name_pictures(app: Sphinx, document: str, source: list[str]) -> None:
    """Give the pictures of a cell the text that its metadata have as `alt`, else their own."""
    if document.startswith("notebooks/"):
        notebook = json.loads(source[0])
        for cell in notebook["cells"]:
            if alt := cell["metadata"].get("alt"):
                cell["metadata"]["mystnb"] = {"image": {"alt": alt}}
            for output in cell.get("outputs", []):
                name_picture(output.get("data", {}))
        source[0] = json.dumps(notebook)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("config-inited", copy)
    app.add_config_value("notebook_answers", True, "env", bool)
    app.connect("source-read", put_in_place)
    app.connect("source-read", leave_out_answers)
    app.connect("source-read", name_pictures)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
