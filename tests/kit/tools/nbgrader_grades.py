"""Let nbgrader itself make the students' notebooks of a course, and grade answers to them.

`make nbgrader` runs this on build/course. nbgrader is installed into an environment of its own,
which sees the libraries of .venv. It has to make the very copies that the course gives to students,
and give all points to right answers and none to wrong or missing ones, nor to a cell that raises.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import nbformat

from tests.kit import ROOT

sys.path[:0] = [str(ROOT / "notebooks"), str(ROOT / "tests" / "docs")]

from course.puzzling import NAME as PUZZLES  # noqa: E402
from course.puzzling import solved  # noqa: E402
from course.reading import FOLDER, solutions  # noqa: E402
from puzzles import puzzles  # noqa: E402
from puzzles.exported import exported  # noqa: E402
from test_notebooks import raising, spoilt  # noqa: E402
from test_notebooks import solutions as cells_of_solutions  # noqa: E402

NEEDED = "nbgrader==0.9.6"
GRADES = """\
import json, sys
from nbgrader.api import Gradebook
with Gradebook("sqlite:///gradebook.db") as book:
    print(json.dumps([[one.student.id, one.score, one.max_score]
                      for one in book.assignment_submissions(sys.argv[1])]))
"""


def environment(folder: Path) -> Path:
    """The Python of nbgrader's environment, which is made if it isn't there."""
    python = folder / "bin" / "python"
    if not (folder / "bin" / "nbgrader").exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-qq", NEEDED], check=True)
        base = {"base": str(folder), "platbase": str(folder)}
        own = Path(sysconfig.get_path("purelib", vars=base))
        (own / "outer.pth").write_text(
            f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})"
        )
    return python


def submit(copy: Path, target: Path, answers: dict[str, str | None]) -> None:
    """Hand in a copy with these answers, by exercise; None is a cell that raises."""
    notebook = nbformat.read(copy, as_version=4)
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("solution"):
            answer = answers.get(cell.metadata.name, "")
            cell.source = raising(cell.source) if answer is None else cell.source + answer
    shutil.copytree(copy.parent, target)
    nbformat.write(notebook, target / copy.name)


def submit_programs(copy: Path, target: Path, programs: dict[str, str]) -> None:
    """Hand in the notebook of the puzzles with a file that their page exports."""
    shutil.copytree(copy.parent, target, ignore=shutil.ignore_patterns("__pycache__"))
    (target / "my-puzzles.py").write_text(exported(programs), encoding="utf-8")


def same_cells(one: Path, other: Path) -> bool:
    """Return whether two notebooks have the same cells for nbgrader."""
    cells = (
        [(cell.source, cell.metadata.get("nbgrader")) for cell in nbformat.read(path, 4).cells]
        for path in (one, other)
    )
    return next(cells) == next(cells)


def nbgrader(python: Path, work: Path, *words: str) -> None:
    """Let nbgrader run a command in the folder of its course."""
    command = [str(python), "-m", "nbgrader", *words]
    paths = os.pathsep.join([str(python.parent), os.environ["PATH"]])
    clean = {**os.environ, "PATH": paths}
    done = subprocess.run(command, cwd=work, capture_output=True, text=True, env=clean)
    assert done.returncode == 0, done.stdout + done.stderr


def released(python: Path, course: Path, work: Path, name: str) -> Path:
    """The students' copy of a notebook, of which nbgrader has to make the same."""
    copy = course / "student" / "notebooks" / name / f"{name}.ipynb"
    nbgrader(python, work, "generate_assignment", name)
    assert same_cells(work / "release" / name / copy.name, copy), "nbgrader makes another copy"
    return copy


def grades_of(python: Path, work: Path, name: str) -> dict[str, tuple[float, float]]:
    """The points of each student, and the most that there are, after nbgrader has graded."""
    nbgrader(python, work, "autograde", name)
    shown = subprocess.run(
        [str(python), "-c", GRADES, name], cwd=work, capture_output=True, text=True, check=True
    )
    grades = {student: (score, most) for student, score, most in json.loads(shown.stdout)}
    print(name, {student: f"{score:g} of {most:g}" for student, (score, most) in grades.items()})
    assert grades["right"][0] == grades["right"][1] > 0
    return grades


def grade_puzzles(python: Path, course: Path, work: Path) -> None:
    """Grade the puzzles; an assertion fails on a disagreement.

    Programs may be right, the starters, or missing. Who changes what grades gets nothing for it.
    """
    copy = released(python, course, work, PUZZLES)
    right = {name: cells[0].source for name, cells in solved().items()}
    starters = {name: one.starter for name, one in puzzles().items()}
    for student, programs in {"right": right, "starters": starters, "empty": {}}.items():
        submit_programs(copy, work / "submitted" / student / PUZZLES, programs)
    submit_programs(copy, cheat := work / "submitted" / "cheat" / PUZZLES, starters)
    grader = cheat / PUZZLES / "puzzle.py"
    changed = grader.read_text("utf-8").replace(
        "return count <= self.bound", "return True or count"
    )
    assert changed != grader.read_text("utf-8")
    grader.write_text(changed, encoding="utf-8")
    grades = grades_of(python, work, PUZZLES)
    assert grades["starters"][0] == grades["cheat"][0] == grades["empty"][0] == 0


def grade(python: Path, course: Path, work: Path, name: str) -> None:
    """Make, validate and grade one notebook; an assertion fails where nbgrader disagrees."""
    path = FOLDER / f"{name}.ipynb"
    copy = released(python, course, work, name)
    right = solutions(path)
    points = {
        about.grade_id.removeprefix("check-"): about.points
        for cell in nbformat.read(copy, as_version=4).cells
        if (about := cell.metadata.get("nbgrader")) and about.grade
    }
    wrong = {one: "\n".join(found) for one, found in cells_of_solutions(path, "mistake").items()}
    wrong = {one: wrong.get(one) or spoilt(right[one], f"answer_{one}") for one in right}
    by_turns = {one: right[one] if number % 2 else None for number, one in enumerate(right)}
    hand_ins = {"right": right, "wrong": wrong, "empty": {}, "raising": dict.fromkeys(right)}
    for student, answers in (hand_ins | {"by turns": by_turns}).items():
        submit(copy, work / "submitted" / student / name, answers)
    grades = grades_of(python, work, name)
    assert grades["wrong"][0] == grades["empty"][0] == grades["raising"][0] == 0
    assert grades["by turns"][0] == sum(points[one] for one in right if by_turns[one])


def main() -> None:
    """Grade the notebooks of a course, or those whose names begin as given."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("course", type=Path)
    parser.add_argument("--only", nargs="+", default=[""])
    given = parser.parse_args()
    python = environment(ROOT / "build" / "nbgrader")
    work = ROOT / "build" / "nbgrader-course"
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(given.course / "teacher" / "nbgrader", work)
    for folder in sorted((work / "source").iterdir()):
        if not folder.name.startswith(tuple(given.only)):
            continue
        if folder.name == PUZZLES:
            grade_puzzles(python, given.course.resolve(), work)
        else:
            grade(python, given.course.resolve(), work, folder.name)


if __name__ == "__main__":
    main()
