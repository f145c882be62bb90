"""The notebooks: paired with their text, showing what a fresh kernel shows, with checked exercises.

What an author does wrong here is fixed by `make notebooks`, except the questions to readers.
"""

import ast
import json
import re
import sys
from pathlib import Path

import jupytext
import nbformat
import pytest
from course.reading import python
from execute import kernel

import mmsim as mm
from mmsim.cudart import installed

FOLDER = Path(__file__).parents[2] / "notebooks"
SHOWN = {"text/html", "image/svg+xml", "image/png"}  # of which only the presence is compared

each = pytest.mark.parametrize("path", sorted(FOLDER.glob("*.ipynb")), ids=lambda path: path.stem)


def cells(path):
    return nbformat.read(path, as_version=4).cells


def code(path):
    return [cell for cell in cells(path) if cell.cell_type == "code"]


def is_exercise(cell):
    return "exercise" in cell.metadata.get("tags", [])


def checked(source):
    """The name whose value the check at the end of a cell looks at; None if there is no check."""
    if "check(" not in source:
        return None
    last = ast.parse(source).body[-1]
    is_check = isinstance(last, ast.Expr) and ast.unparse(last).startswith("check(")
    return last.value.args[0].id if is_check else None


def solutions(path, tag=None):
    """The cells of the solutions, or those tagged "mistake", by the name of their exercise."""
    text = jupytext.read(FOLDER / "solutions" / f"{path.stem}.py")
    found = {}
    for cell in text.cells:
        if "name" in cell.metadata and cell.metadata.get("tags", [None]) == [tag]:
            found.setdefault(cell.metadata["name"], []).append(cell.source)
    return found


def spoilt(source, name):
    """A solution made wrong: its functions do nothing, or its value is another."""
    tree = ast.parse(source)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    for function in functions:
        function.body = [ast.Pass()]
    other = f"{name} = (__import__('numpy').asarray({name}) + 1).tolist()"
    return ast.unparse(tree) if functions else f"{source}\n{other}"


def raising(source):
    """A cell whose answer raises instead of getting a value."""
    return source.replace(" = ...", " = 1 / 0")


def printed(outputs):
    """The output and the text of what was shown; of figures and pages that there are any."""
    found = []
    for output in outputs:
        if output.output_type == "stream":
            found.append((output.name, output.text))
        else:
            found.append((output.data.get("text/plain"), sorted(SHOWN & output.data.keys())))
    return found


def test_every_text_is_a_notebook_and_every_notebook_is_in_the_readme():
    notebooks = {path.stem for path in FOLDER.glob("*.ipynb")}
    assert notebooks
    assert {path.stem for path in FOLDER.glob("[0-9]*.py")} == notebooks
    assert {path.stem for path in (FOLDER / "solutions").glob("*.py")} == notebooks
    assert sorted(notebooks) == [name for name in listed() if name in notebooks]


def listed():
    """The notebooks to which their README links."""
    return re.findall(r"\]\((\d\d-[\w-]+)\.ipynb\)", (FOLDER / "README.md").read_text("utf-8"))


@each
def test_links_lead_somewhere(path):
    text = "\n".join(cell.source for cell in cells(path) if cell.cell_type == "markdown")
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        another = target.removesuffix(".ipynb") in listed()
        assert another or (FOLDER / target).exists(), target


@each
def test_jupytext_would_change_nothing(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert jupytext.writes(notebook, "py:percent") == path.with_suffix(".py").read_text("utf-8")


@each
def test_it_is_saved_as_executed_from_top_to_bottom_and_holds_nothing_of_a_machine(path):
    notebook = nbformat.read(path, as_version=4)
    assert set(notebook.metadata) == {"jupytext", "kernelspec"}
    assert notebook.metadata.kernelspec.name == "python3"
    counts = [cell.execution_count for cell in code(path)]
    assert counts == list(range(1, len(counts) + 1))
    for cell in code(path):
        assert "execution" not in cell.metadata
        outputs = json.dumps(cell.outputs)
        assert not re.search(r"/(home|root|tmp|private|Users|opt|work)/|[A-Z]:\\\\", outputs)
        assert not re.search(r"\bat 0x[0-9a-f]+", outputs)


@each
def test_it_asks_for_predictions_and_folds_what_is_shown(path):
    asked = [number for number, cell in enumerate(code(path)) if "predicted(" in cell.source]
    assert len(asked) >= 3
    for number in asked:
        before, shown = code(path)[number - 1 : number + 1]
        assert re.search(r"^guess = None\b", before.source, re.MULTILINE)
        assert "hide-output" in shown.metadata.tags
        assert shown.metadata.jupyter.outputs_hidden


@each
@pytest.mark.parametrize("absent", ["classroom", "sealed", "mmsim"])
def test_opened_alone_it_says_what_it_needs(path, absent, monkeypatch):
    monkeypatch.delitem(sys.modules, "classroom", raising=False)
    monkeypatch.setitem(sys.modules, absent, None)  # an import of it fails
    imports = ast.Module([ast.parse(python(code(path)[0].source)).body[0]], [])
    with pytest.raises(ImportError, match=rf"{absent}.*: .*needs mmsim installed.*classroom\.py"):
        exec(compile(imports, path.name, "exec"), {})


@each
def test_every_exercise_has_a_check_and_a_solution(path):
    exercises = [number for number, cell in enumerate(code(path)) if is_exercise(cell)]
    assert len(exercises) >= 4
    for number in exercises:
        exercise, after = code(path)[number : number + 2]
        name = checked(after.source)
        assert name == f"answer_{exercise.metadata.name}", "the next code cell ends with its check"
        assert re.search(rf"^{name} = \.\.\.", exercise.source, re.MULTILINE)
    names = [code(path)[number].metadata.name for number in exercises]
    assert sorted(names) == sorted(set(names)) == sorted(solutions(path))
    assert solutions(path, "mistake").keys() <= set(names)
    assert all(len(found) == 1 for found in solutions(path).values())
    assert sum(checked(cell.source) is not None for cell in code(path)) == len(exercises)


@each
def test_a_fresh_kernel_shows_what_is_saved_and_the_checks_know_right_from_wrong(path):
    """One execution: each exercise unanswered, then wrong, then right; and so the rest follows."""
    if any("mm.RawKernel(" in cell.source for cell in code(path)):
        try:
            installed.library()
        except mm.MMSimError as error:
            pytest.skip(str(error))
    right, wrong = solutions(path), solutions(path, "mistake")
    exercise = None
    with kernel(nbformat.read(path, as_version=4)) as client:

        def run(source, number):
            cell = nbformat.v4.new_code_cell(source)
            return printed(client.execute_cell(cell, number).outputs)

        for number, cell in enumerate(cells(path)):
            if cell.cell_type != "code":
                continue
            assert run(cell.source, number) == printed(cell.outputs), cell.source
            name = checked(cell.source)
            if name:
                assert printed(cell.outputs)[-1][1].startswith("Not answered yet")
                (solution,) = right[exercise]
                for mistake in wrong.get(exercise) or [spoilt(solution, name)]:
                    run(mistake, number)
                    assert run(cell.source, number)[-1][1].startswith("Not yet: "), mistake
                run(solution, number)
                assert run(cell.source, number) == [("stdout", "Right.\n")], solution
            if is_exercise(cell):
                exercise = cell.metadata.name
