"""Make the course: `make course`, or `python -m course FOLDER [--only 01]` in notebooks/.

Everything is made from the notebooks and their solutions, and nothing is fetched.
"""

from __future__ import annotations

import argparse
import shutil
import zipfile
from collections.abc import Iterable
from pathlib import Path

import nbformat
import sphinx_revealjs

from course.copies import student_copy, teacher_copy
from course.index import index
from course.pages import Slides, Worksheet, described
from course.printing import print_pages
from course.puzzle_page import puzzle_page
from course.puzzling import NAME as PUZZLES
from course.puzzling import assignment, copy_puzzles
from course.reading import FOLDER, notebooks, read, solutions
from course.sealing import sealed_answers
from course.slides import slides
from course.wheel import build_wheel
from course.worksheets import worksheet

NEEDED = ("classroom.py", "sealed.py", "matplotlibrc")
"""What a notebook needs in its folder."""
RECORDS = FOLDER.parent / "benchmarks" / "results" / "gpu"
"""The records of a GPU that a notebook reads from `results`."""
REVEAL = Path(sphinx_revealjs.__file__).parent / "_static" / "revealjs"
EARLIEST = (1980, 1, 1, 0, 0, 0)
"""The date in every archive, so that the same files make the same archive."""
README = """\
# The notebooks of the course

They need Python 3.11 or newer, Jupyter, and mmsim, which is the file `{wheel}`:

    pip install jupyterlab {wheel}

Open the notebook of a folder, leave the other files of the folder where they are, and keep the
notebook's name. Before you hand it in, choose "Restart Kernel and Run All Cells": below each
exercise that you have done it prints "Right."
"""
GRADER = """\
c = get_config()
c.CourseDirectory.course_id = "memory-machines"
c.ClearSolutions.code_stub = {"python": ""}  # an exercise has its own beginning
c.Execute.timeout = 300
c.ClearSolutions.enforce_metadata = True
"""


def make(folder: Path, chosen: list[Path]) -> None:
    """Make the slides, worksheets, copies and archives of these notebooks, and the index."""
    student, teacher = folder / "student", folder / "teacher"
    for old in (student / "slides", student / "worksheets", student / "notebooks", teacher):
        shutil.rmtree(old, ignore_errors=True)
    copy_reveal(student / "reveal")
    wheel = build_wheel(student / "notebooks")
    write(student / "notebooks" / "README.md", README.format(wheel=wheel.name))
    for number, path in enumerate(chosen, 1):
        print(f"{number} of {len(chosen)}: {path.stem}", flush=True)
        make_pages(path, student, teacher)
        make_copies(path, student / "notebooks", teacher / "nbgrader" / "source")
    make_puzzles(student / "notebooks", teacher / "nbgrader" / "source")
    write(student / f"{PUZZLES}.html", puzzle_page())
    write(teacher / "nbgrader" / "nbgrader_config.py", GRADER)
    archive(student / "notebooks.zip", student / "notebooks", (student / "notebooks").rglob("*"))
    printed = print_pages(sorted((student / "worksheets").glob("*.html")))
    if not printed:
        print("There is no Chromium that Playwright can run: the worksheets are pages, not PDF.")
    write_indexes(folder, chosen, printed)
    print(f"Open {folder / 'index.html'}")


def make_pages(path: Path, student: Path, teacher: Path) -> None:
    """The slides, with and without answers, and the worksheet."""
    for answers, place in ((False, student), (True, teacher)):
        cut = slides(read(path), answers=answers)
        described(cut)
        shared = ".." if place == student else "../../student"
        write(place / "slides" / f"{path.stem}.html", Slides(shared).page(cut))
    write(student / "worksheets" / f"{path.stem}.html", Worksheet().page(worksheet(read(path))))


def make_copies(path: Path, student: Path, source: Path) -> None:
    """The student's copy and the teacher's, each in a folder with what it needs."""
    notebook, sealed = read(path), sealed_answers(path)
    copies = {
        student: student_copy(notebook, sealed),
        source: teacher_copy(notebook, sealed, solutions(path)),
    }
    for place, made in copies.items():
        write(place / path.stem / path.name, nbformat.writes(made) + "\n")
        for name in NEEDED:
            shutil.copy(FOLDER / name, place / path.stem)
        if any('Path("results")' in cell.source for cell in made.cells):
            shutil.copytree(RECORDS, place / path.stem / "results")
    files = [*student.iterdir(), *(student / path.stem).rglob("*")]
    archive(student.parent / "downloads" / f"{path.stem}.zip", student, files)


def make_puzzles(student: Path, source: Path) -> None:
    """The notebook that grades the puzzles, with what it needs."""
    for place in (student, source):
        made = assignment(student=place == student)
        write(place / PUZZLES / f"{PUZZLES}.ipynb", nbformat.writes(made) + "\n")
        copy_puzzles(place / PUZZLES)
    files = [*student.iterdir(), *(student / PUZZLES).rglob("*")]
    archive(student.parent / "downloads" / f"{PUZZLES}.zip", student, files)


def copy_reveal(folder: Path) -> None:
    """What of Reveal the slides load."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("dist/reveal.js", "dist/reveal.css", "LICENSE"):
        shutil.copy(REVEAL / name, folder)
    shutil.copytree(REVEAL / "plugin" / "notes", folder / "notes", dirs_exist_ok=True)


def write(path: Path, text: str) -> None:
    """Write a file, and make its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def archive(path: Path, root: Path, files: Iterable[Path]) -> None:
    """Pack files, by their names below the root."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for file in sorted(file for file in files if file.is_file()):
            name = zipfile.ZipInfo(file.relative_to(root).as_posix(), EARLIEST)
            name.compress_type = zipfile.ZIP_DEFLATED
            packed.writestr(name, file.read_bytes())


def write_indexes(folder: Path, chosen: list[Path], printed: bool) -> None:
    """The students' page and the teacher's."""
    sheet = {"PDF": "worksheets/{name}.pdf"} if printed else {}
    columns = {
        "Slides": {"slides": "slides/{name}.html"},
        "Worksheet": sheet | {"page": "worksheets/{name}.html"},
        "Notebook": {"download": "downloads/{name}.zip"},
    }
    site = (folder / "student" / "site" / "index.html").exists()
    lines = [
        '<p><a href="notebooks.zip">All notebooks</a> in one archive.'
        + (' The <a href="site/index.html">documentation</a> of the simulator.' if site else "")
        + "</p>",
        f'<p><a href="{PUZZLES}.html">Puzzles</a>: programs to change. '
        f'<a href="downloads/{PUZZLES}.zip">The notebook that grades them</a>.</p>',
    ]
    write(
        folder / "student" / "index.html",
        index("Memory machines: the course", "\n".join(lines), chosen, columns),
    )
    columns = {
        "Slides with answers": {"slides": "teacher/slides/{name}.html"},
        "Solutions": {"notebook for nbgrader": "teacher/nbgrader/source/{name}/{name}.ipynb"},
    }
    introduction = """\
<p>Students get the folder <code>student</code>, which holds no answers:
<a href="student/index.html">their page</a>. The folder <code>teacher</code> is yours:
the slides with the answers, and a course for nbgrader
(<code>teacher/nbgrader</code>).</p>"""
    heading = "Memory machines: the teacher's page"
    write(folder / "index.html", index(heading, introduction, chosen, columns))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="course", description="Make the course.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="+", default=[""], help="beginnings of names")
    given = parser.parse_args()
    make(given.folder, [one for one in notebooks() if one.name.startswith(tuple(given.only))])
