"""The laboratory on the site: its page, once, and links to it from the examples.

An example leads to its own program, inputs and machine: they are those with which it runs. Cells
run in the kernel of their page, which loads `observed_runs`; the other examples run here.
A page of the field's algorithms leads to the small examples that its programs have.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from observed_runs import PAGE, Runs, links
from sphinx.application import Sphinx
from sphinx.util import logging

import mmsim as mm
from mmsim.host.plugins import registered_in
from mmsim.view.lab import Laboratory
from mmsim.view.lab.claims import PROGRAMS

logger = logging.getLogger(__name__)
BLOCK = re.compile(r"^```python\n(.*?)^```$(?:\n\n```text\n.*?^```$)?", re.MULTILINE | re.DOTALL)
"""An example, with what it prints."""
TABLE = re.compile(r"(^\|.*\n)+|(?=^## )", re.MULTILINE)
"""The table of a family's programs; without one, the first heading."""
MARK = "<!-- laboratory -->"
CELLS = "file_format: mystnb"
"""The text below examples that are cells."""
RUNS = re.compile(r"\.(run|check)\(")
FAMILY = re.compile(r"`mmsim_algorithms\.(\w+)`")
LEFT_OUT = ("how-to/cache", "how-to/large", "how-to/prove", "numba", "sweeps")
"""Pages whose runs no laboratory has, or whose examples take long."""
MACHINES = {"DMM": mm.DMM(4, 3), "UMM": mm.UMM(4, 3), "HMM": mm.HMM(2, 4, 10)}
"""Those on which the programs of the field's algorithms are shown."""


@mm.program
def transpose(T, a, b):
    i, j = T.id // a.shape[1], T.id % a.shape[1]
    b[j, i] = a[i, j]


def at_first() -> Laboratory:
    """The laboratory of the front page, and of the laboratory's page without a link."""
    a = np.arange(64).reshape(8, 8)
    return mm.lab(transpose, a, np.zeros_like(a), threads=64, machine=mm.DMM(8, 2))


def with_links(page: str, text: str) -> str:
    """The text of a page, with a paragraph of links after each example that has runs.

    The examples run, as far as the last with runs.
    """
    found = list(BLOCK.finditer(text))
    last = max((at for at, block in enumerate(found) if RUNS.search(block[1])), default=-1)
    names: dict[str, Any] = {"__name__": "__main__"}
    runs, parts, done = Runs(names), [], 0
    with contextlib.chdir(tempfile.gettempdir()), runs.observed():
        for number, block in enumerate(found[: last + 1]):
            name = f"<{page} {number}>"
            lines = block[1].splitlines(keepends=True)
            linecache.cache[name] = (len(block[1]), None, lines, name)
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(block[1], name, "exec"), names)
            if shown := runs.links():
                parts += [text[done : block.end()], f"\n\n{shown}"]
                done = block.end()
    return "".join([*parts, text[done:]])


def of_family(family: str) -> Iterator[tuple[str, Laboratory]]:
    """The small examples of a family's programs, by names that differ."""
    for program in registered_in(PROGRAMS):
        module = program.function.__module__
        if module.startswith(f"mmsim_algorithms.{family}."):
            machine = MACHINES[program.listed[0].partition(",")[0]]
            example = program.prepare(machine.width)
            launch = {"threads": None, "block_size": None, **example.launch}
            yield (
                f"{module.rpartition('.')[2]}.{program.name}",
                Laboratory(program, example.arguments, machine, launch, "synchronous"),
            )


def family_links(family: str) -> str:
    """A paragraph of links to a family's programs; those of one name also have that of the file."""
    found = dict(of_family(family))
    plain = [name.rpartition(".")[2] for name in found]
    return links(
        {
            name if plain.count(own) > 1 else own: laboratory
            for own, (name, laboratory) in zip(plain, found.items(), strict=True)
        }
    )


def add_links(app: Sphinx, document: str, source: list[str]) -> None:
    """Add links to the text of a page."""
    text = source[0]
    if document.startswith("algorithms/"):
        if family := FAMILY.search(text):
            end = TABLE.search(text).end()
            source[0] = f"{text[:end]}\n{family_links(family[1])}\n{text[end:]}"
    elif not (document.startswith("notebooks/") or document in LEFT_OUT or CELLS in text):
        source[0] = with_links(document, text)


def from_here(
    app: Sphinx, page: str, template: str, context: dict[str, Any], document: object
) -> None:
    """Let the links of a page in a folder lead out of it."""
    if isinstance(context.get("body"), str):
        place = context["pathto"](PAGE, 1)
        context["body"] = context["body"].replace(f'"{PAGE}#', f'"{place}#')


def show_on_front_page(app: Sphinx, document: str, source: list[str]) -> None:
    """Replace the front page's mark by the laboratory."""
    if document == "index":
        frame = (
            f'<iframe class="mmsim-laboratory" src="{PAGE}#{at_first().fragment()}" '
            'title="a laboratory: change the program, see its run" loading="lazy"></iframe>'
        )
        source[0] = source[0].replace(MARK, frame)


def write(app: Sphinx, error: Exception | None) -> None:
    """Write the laboratory's page, and the puzzles' page beside it."""
    if error is None and app.builder.format == "html":
        from course.puzzle_page import puzzle_page  # `notebooks_page` knows the folder

        at_first().save(Path(app.outdir, PAGE))
        Path(app.outdir, PAGE).with_name("puzzles.html").write_text(puzzle_page(), "utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", add_links)
    app.connect("source-read", show_on_front_page)
    app.connect("html-page-context", from_here)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
