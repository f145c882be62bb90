"""Execute the notebooks and save what they show: `make notebooks`, or `python execute.py 03*.py`.

The text (.py) and the notebook (.ipynb) of a pair are synchronised first: whichever was edited last
counts. What differs from one execution to the next isn't saved.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import jupytext
import nbformat
from jupytext.cli import jupytext as command
from nbclient import NotebookClient

HERE = Path(__file__).parent


@contextmanager
def kernel(notebook: nbformat.NotebookNode, folder: Path = HERE) -> Iterator[NotebookClient]:
    """A fresh kernel in a folder, to execute the cells of a notebook."""
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "0"}  # the date that figures bear
    environment.pop("MPLBACKEND", None)  # they are to show in the notebook
    client = NotebookClient(
        notebook,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
        timeout=120,
        extra_arguments=["--IPKernelApp.log_level=40"],  # errors only
        coalesce_streams=True,  # what is printed comes in pieces that differ from time to time
    )
    with client.setup_kernel(env=environment):
        yield client


def execute(text: Path) -> None:
    """Synchronise the pair of a text, execute it from a fresh kernel and save both."""
    path = text.with_suffix(".ipynb")
    if path.exists():
        command(["--quiet", "--sync", str(path)])
    notebook = jupytext.read(text)
    with kernel(notebook) as client:
        for number, cell in enumerate(notebook.cells):
            client.execute_cell(cell, number)
            cell["id"] = f"cell-{number + 1}"
            cell.metadata.pop("execution", None)  # the times
    notebook.metadata.pop("language_info", None)  # the version of Python
    nbformat.write(notebook, path)
    command(["--quiet", "--sync", str(path)])


if __name__ == "__main__":
    for text in map(Path, sys.argv[1:] or sorted(HERE.glob("[0-9]*.py"))):
        print(text.name, flush=True)
        execute(text)
