"""The notebooks among the pages. Sphinx reads what lies below docs/ only, so they are copied."""

from __future__ import annotations

import filecmp
import shutil
from pathlib import Path

from sphinx.application import Sphinx

MARK = "<!-- notebooks -->"
NAMES = "[0-9]*.ipynb"


def copy(app: Sphinx, config: object) -> None:
    """Copy the notebooks, with the outputs that they were saved with.

    What is there already stays untouched, for another build may be reading it.
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


def fill_in(app: Sphinx, document: str, source: list[str]) -> None:
    """Replace the mark on a page by the list of the notebooks."""
    if MARK in source[0]:
        names = sorted(path.stem for path in Path(app.srcdir, "notebooks").glob(NAMES))
        entries = "\n".join(f"notebooks/{name}" for name in names)
        made = f"```{{toctree}}\n:maxdepth: 1\n\n{entries}\n```" if names else "There is none yet."
        source[0] = source[0].replace(MARK, made)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("config-inited", copy)
    app.connect("source-read", fill_in)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
