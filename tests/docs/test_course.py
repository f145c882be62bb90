"""The course: what students get holds no answer, what they hand in is graded, the slides fit.

Made of the first notebook; the long tests make it of all.
"""

import ast
import html
import io
import re
import shutil
import subprocess
import sys
import zipfile
from functools import cache
from importlib.util import find_spec

import nbformat
import pytest

from tests.kit.views import axe

if find_spec("sphinx_revealjs") is None:  # without loading Sphinx
    pytest.skip("what the course is made with isn't installed", allow_module_level=True)

from classroom import UNGUESSED
from course import printing
from course.copies import checksum, names
from course.puzzling import solved
from course.reading import FOLDER, Role, notebooks, parts, python, read, solutions
from course.slides import slides
from execute import kernel
from puzzles.exported import exported
from sealed import FINENESS, canonical, seal
from test_notebooks import raising, spoilt
from test_notebooks import solutions as cells_of_solutions
from test_site import loads


@pytest.fixture(scope="module", params=["01", pytest.param("", marks=pytest.mark.long)])
def course(request, tmp_path_factory):
    """The folder in which the course has been made, and its notebooks."""
    folder = tmp_path_factory.mktemp("course")
    command = [sys.executable, "-m", "course", str(folder), "--only", request.param]
    made = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, timeout=1200)
    assert made.returncode == 0, made.stderr
    chosen = [path for path in notebooks() if path.name.startswith(request.param)]
    assert f"{len(chosen)} of {len(chosen)}: {chosen[-1].stem}" in made.stdout
    return folder, chosen


@pytest.fixture(scope="module")
def site(course, tmp_path_factory):
    """The folder of the notebooks' pages on the course's site, as the Makefile makes them."""
    _, chosen = course
    place = tmp_path_factory.mktemp("site")
    docs = place / "docs"
    for name in ("_ext", "_static"):
        shutil.copytree(FOLDER.parent / "docs" / name, docs / name)
    shutil.copy(FOLDER.parent / "docs" / "conf.py", docs)
    (place / "notebooks").mkdir()
    for path in [*chosen, FOLDER / "README.md"]:
        shutil.copy(path, place / "notebooks")
    for name in ("course", "puzzles"):
        (place / "notebooks" / name).symlink_to(FOLDER / name)
    (docs / "notebooks.md").touch()
    (docs / "index.md").write_text("# A course\n\n```{toctree}\nnotebooks\n```\n")
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-q", "-D", "notebook_answers=0"]
    made = subprocess.run([*command, docs, place / "html"], capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    return place / "html"


def documents(folder):
    """The text of each page and notebook of a folder and of its archives, by its place there."""
    for path in sorted(folder.rglob("*")):
        place = path.relative_to(folder).as_posix()
        if path.suffix == ".zip":
            with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as packed:
                for name in packed.namelist():
                    if name.endswith(".ipynb"):
                        yield f"{place}: {name}", seen(packed.read(name).decode())
        elif path.suffix in (".html", ".ipynb"):
            yield place, seen(path.read_text("utf-8"))


def seen(text):
    """The text of a page or of a notebook's file, as their readers see it."""
    if text.startswith("{"):
        cells = nbformat.reads(text, as_version=4).cells
        return "\n".join([*(cell.source for cell in cells), *map(printed, cells)])
    return html.unescape(re.sub(r"<[^>]*>", "", text))


def printed(cell):
    return "\n".join(output.get("text", "") for output in cell.get("outputs", ()))


def stripped(texts):
    return {line.strip() for text in texts for line in text.splitlines()} - {""}


@cache
def shown_to_all():
    """The lines that stand in a notebook, this one or another: a solution may have one of them."""
    return stripped(cell.source for path in notebooks() for cell in read(path).cells)


def secrets(path):
    """The lines of a notebook's solutions that stand in no notebook."""
    return stripped(solutions(path).values()) - shown_to_all()


def folded(path):
    """The lines of a notebook's folded outputs, as they are saved and as a slide has them."""
    outputs = {part.role: [] for part in parts(read(path))}
    for part in parts(read(path)):
        outputs[part.role].append(printed(part.cell))
    hidden = stripped(outputs[Role.REVEAL])
    return {line.removesuffix(f" {UNGUESSED}") for line in hidden} | hidden


def squashed(text):
    return re.sub(r"\s+", "", text)


def answers(path):
    """The expressions that compute a right answer: those of the solutions and of the checks.

    Of a check those count that it compares with, not those of a function that looks at an answer.
    Without what a question shows, and a name or a number alone.
    """
    found, shown = set(), ""
    right = solutions(path)
    for part in parts(read(path)):
        if part.role is Role.CHECK:
            source = python(part.cell.source)
            *before, last = ast.parse(source).body
            compared = last.value.args[1]
            functions = [one.name for one in before if isinstance(one, ast.FunctionDef)]
            if getattr(compared, "id", "") not in functions:
                values = [one.value for one in before if isinstance(one, ast.Assign)]
                found |= {ast.get_source_segment(source, one) for one in [*values, compared]}
            solution = right[part.exercise]
            *_, last = ast.parse(solution).body
            found.add(ast.get_source_segment(solution, last.value))
        else:
            shown += squashed(part.cell.source)
    compound = {squashed(one) for one in found if re.search(r"[(\[ ]", one)}
    return {one for one in compound if one not in shown}


def test_what_students_get_holds_no_answer(course):
    folder, chosen = course
    found = dict(documents(folder / "student"))
    # And the index, Reveal's page for a speaker, the puzzles, and in three places what grades them.
    assert len(found) == 5 * len(chosen) + 6
    holds_no_answer(found, chosen)


@pytest.mark.long  # test_site.py leaves answers out of a notebook's page in a quick test
def test_their_site_holds_no_answer(course, site):
    _, chosen = course
    pages = {f"site: {name}": text for name, text in documents(site)}
    assert all(f"site: notebooks/{path.stem}.html" in pages for path in chosen)
    holds_no_answer(pages, chosen)


def holds_no_answer(found, chosen):
    hidden = [(secrets(path) | folded(path), answers(path)) for path in chosen]
    for name, text in found.items():
        lines, whole = stripped([text]), squashed(text)
        for others, right in hidden:
            assert not others & lines, name
            assert not [one for one in right if one in whole], name


def test_an_answer_in_what_students_get_would_be_seen(course):
    folder, chosen = course
    found = dict(documents(folder / "teacher"))
    for path in chosen:
        teachers = found[f"nbgrader/source/{path.stem}/{path.name}"]
        assert secrets(path)
        assert secrets(path) <= stripped([teachers])
        assert len(folded(path) & stripped([found[f"slides/{path.stem}.html"]])) >= 3
        whole = squashed(teachers + seen(path.read_text("utf-8")))
        assert len(answers(path)) >= 3
        assert all(one in whole for one in answers(path))


@pytest.mark.parametrize("path", notebooks(), ids=lambda path: path.stem)
def test_a_question_and_what_answers_it_are_on_different_slides(path):
    """A question is the last of its slide; what precedes it may answer another."""
    for shown in (False, True):
        sheets = []
        for cell in slides(read(path), answers=shown).cells:
            if cell.metadata.slideshow.slide_type in ("slide", "subslide"):
                sheets.append([])
            sheets[-1].append(cell)
        asked = 0
        for sheet in sheets:
            questions = [
                bool(re.search(r"^(guess = None|answer_\w+ = \.\.\.)", cell.source, re.MULTILINE))
                for cell in sheet
            ]
            asked += sum(questions)
            assert not any(questions[:-1]), sheet
        roles = [part.role for part in parts(read(path))]
        assert asked == roles.count(Role.GUESS) + roles.count(Role.EXERCISE) >= 7
        answers = [cell for sheet in sheets for cell in sheet if "predicted(" in cell.source]
        assert len(answers) == (roles.count(Role.GUESS) if shown else 0)


def test_a_students_copy_has_neither_outputs_nor_what_works_an_answer_out(course):
    folder, chosen = course
    sealed = 0
    for path in chosen:
        made = read(folder / "student" / "notebooks" / path.stem / path.name)
        assert not any(cell.outputs or cell.execution_count for cell in code(made))
        for before, after in zip(parts(read(path)), made.cells, strict=True):
            if before.role is Role.CHECK and "Sealed(" in after.source:
                call = ast.parse(before.cell.source).body[-1].value
                assert ast.unparse(call.args[1]) not in expressions(after.source)
                sealed += 1
    assert sealed >= 2 * len(chosen)


def expressions(source):
    """Every expression and every name of a cell's code, as text."""
    nodes = ast.walk(ast.parse(python(source)))
    return {ast.unparse(node) for node in nodes if isinstance(node, ast.expr)}


def code(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def points(outputs, most):
    """The points of a cell by nbgrader's rule: an error gives none, a number is what it says."""
    for output in outputs:
        if output.output_type == "error" or output.get("name") == "stderr":
            return 0
        if output.output_type == "execute_result":
            return float(output.data["text/plain"])
    return most


def test_in_its_archive_right_answers_get_the_points_and_wrong_or_missing_ones_none(
    course, tmp_path, monkeypatch
):
    """With the mmsim of the archive and no checkout: the archive has all that is needed."""
    folder, chosen = course
    for path in chosen:
        place = tmp_path / path.stem
        shutil.unpack_archive(folder / "student" / "downloads" / f"{path.stem}.zip", place)
        (wheel,) = place.glob("*.whl")
        assert wheel.name in (place / "README.md").read_text("utf-8")
        shutil.unpack_archive(wheel, place / "installed", "zip")
        monkeypatch.setenv("PYTHONPATH", str(place / "installed"))
        names_of = list(solutions(path))
        before = dict(zip(names_of, ["0", *names_of], strict=False))
        right, wrong = cells_of_solutions(path), cells_of_solutions(path, "mistake")
        notebook = read(place / path.stem / path.name)
        total, exercise = 0, None
        with kernel(notebook, place / path.stem) as client:

            def run(source, client=client):
                cell = nbformat.v4.new_code_cell(source, metadata={"tags": ["raises-exception"]})
                return client.execute_cell(cell, 0).outputs

            (where,) = run("import mmsim; print(mmsim.__file__)")
            assert where.text.startswith(str(place / "installed"))
            for cell in code(notebook):
                marks = cell.metadata.get("nbgrader", {})
                if marks.get("solution"):
                    exercise, asked = cell.metadata.name, cell.source
                    continue
                if not marks.get("grade"):
                    assert not any(one.output_type == "error" for one in run(cell.source))
                    continue
                (solution,) = right[exercise]
                # The exercise before may have had the same answer.
                name, former = (f"answer_{one}" for one in (exercise, before[exercise]))
                run(re.sub(rf"^{name} =", f"{former} =", solution, flags=re.MULTILINE))
                mistakes = wrong.get(exercise) or [spoilt(solution, name)]
                for answer in [raising(asked), asked, *mistakes]:
                    run(answer)
                    assert points(run(cell.source), marks.points) == 0, (path.stem, answer)
                run(solution)
                assert points(run(cell.source), marks.points) == marks.points, solution
                total += marks.points
        assert total >= len(right)


def test_the_archive_of_the_puzzles_grades_what_their_page_exports(course, tmp_path, monkeypatch):
    """With the mmsim of the archive and no checkout."""
    shutil.unpack_archive(course[0] / "student" / "downloads" / "puzzles.zip", tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    shutil.unpack_archive(wheel, tmp_path / "installed", "zip")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "installed"))
    place = tmp_path / "puzzles"
    first, *_, last = solved()
    programs = {name: solved()[name][0].source for name in (first, last)}
    (place / "mine.py").write_text(exported(programs), "utf-8")
    notebook = read(place / "puzzles.ipynb")
    with kernel(notebook, place) as client:
        for number, cell in enumerate(graders := code(notebook)):
            if cell in (graders[0], graders[1], graders[-1]):
                client.execute_cell(cell, number)
                right = cell is not graders[1]
                most = cell.metadata.nbgrader.points
                assert points(cell.outputs, most) == (most if right else 0)


def test_nbgrader_knows_what_each_cell_is_for(course):
    """The rules of its metadata, schema 3; `make nbgrader` asks nbgrader itself."""
    folder, chosen = course
    for path in chosen:
        made = read(folder / "student" / "notebooks" / path.stem / path.name)
        teachers = read(folder / "teacher" / "nbgrader" / "source" / path.stem / path.name)
        nbformat.validate(made)
        found = [cell for cell in made.cells if "nbgrader" in cell.metadata]
        ids = [cell.metadata.nbgrader.grade_id for cell in found]
        assert len(ids) == len(set(ids))
        assert all(re.fullmatch(r"[\w-]+", one) for one in ids)
        for cell in found:
            about = cell.metadata.nbgrader
            assert about.schema_version == 3
            assert about.grade == ("points" in about)
            assert about.solution != about.locked
            assert cell.metadata.get("editable", True) == about.solution
            assert about.checksum == checksum(cell)
        names_of = [
            cell.metadata.nbgrader.grade_id for cell in found if cell.metadata.nbgrader.solution
        ]
        assert names_of == [f"exercise-{name}" for name in solutions(path)]
        for cell, source in zip(made.cells, teachers.cells, strict=True):
            begin = source.source.partition("### BEGIN SOLUTION")[0]
            assert cell.source == begin


def test_the_checksum_is_nbgraders():
    """As nbgrader 0.9.6 computes it."""
    about = {"grade": True, "solution": False, "locked": True, "grade_id": "check-1", "points": 2}
    cell = nbformat.v4.new_code_cell("graded(answer)", metadata={"nbgrader": about})
    assert checksum(cell) == "97f24ad8b128b279b72e7ad4fb6e92f4"


def opened(browser, page, asked):
    """Show a page; what it asks for is added to `asked`, its errors fail."""
    shown = browser.new_page(viewport={"width": 1280, "height": 720}, reduced_motion="reduce")
    shown.on("request", lambda request: asked.append(request.url))
    shown.on("pageerror", lambda error: pytest.fail(f"{page.name}: {error}"))
    shown.goto(page.as_uri())
    return shown


def test_nothing_is_loaded_from_elsewhere(course):
    folder, _ = course
    pages = sorted(folder.rglob("*.html"))
    assert len(pages) > 4
    for page in pages:
        for address in loads(page.read_text("utf-8")).found:
            assert not re.match(r"(\w+:)?//", address), (page.name, address)
            assert address.startswith("data:") or (page.parent / address).exists(), address


SLIDES = """() => {
  const body = Reveal.getCurrentSlide().querySelector(":scope > .fit");
  return {
    overflow: body.getBoundingClientRect().bottom - innerHeight,
    wide: body.scrollWidth - body.clientWidth,
    zoom: Number(body.style.zoom),
    answered: [...body.querySelectorAll(".jp-OutputArea-output")].some(
      (one) => one.innerText.startsWith("The machine says")),
    asked: /^guess = None/m.test(body.innerText),
    left: Reveal.availableFragments().next,
    last: Reveal.isLastSlide(),
  };
}"""


def test_every_slide_fits_and_an_answer_is_on_the_slide_after_its_question(course, browser):
    folder, chosen = course
    for path in chosen:
        asked = []
        page = opened(browser, folder / "teacher" / "slides" / f"{path.stem}.html", asked)
        page.wait_for_function("Reveal.isReady()")
        zooms, answered, state = [], 0, {"last": False, "asked": False}
        while not state["last"]:
            before, state = state, page.evaluate(SLIDES)
            assert state["overflow"] <= 0, page.url
            assert state["wide"] <= 0, page.url
            assert not state["left"], "a slide shows all that it has"
            answered += before["asked"] and state["answered"]
            zooms.append(state["zoom"])
            page.keyboard.press("ArrowRight")
        assert min(zooms) > 0.5, "a slide is too full to be read"
        assert answered >= 3
        assert asked
        assert all(url.startswith(("file:", "data:", "about:", "blob:")) for url in asked)
        page.close()


def test_worksheets_are_printed(course, browser):
    folder, chosen = course
    for path in chosen:
        pdf = (folder / "student" / "worksheets" / f"{path.stem}.pdf").read_bytes()
        assert pdf.startswith(b"%PDF-")
        assert b"/StructTreeRoot" in pdf
        assert b"file://" not in pdf
        page = folder / "student" / "worksheets" / f"{path.stem}.html"
        assert "href" not in page.read_text("utf-8")
        asked = len(re.findall('class="room"', page.read_text("utf-8")))
        roles = [part.role for part in parts(read(path))]
        assert asked == roles.count(Role.GUESS) + roles.count(Role.EXERCISE)


def test_without_a_browser_worksheets_are_pages(monkeypatch, tmp_path):
    monkeypatch.setattr(printing.shutil, "which", lambda name: None)
    (tmp_path / "a.html").touch()
    assert not printing.print_pages([tmp_path / "a.html"])
    assert not list(tmp_path.glob("*.pdf"))


def test_axe_finds_no_barrier(course, browser):
    script = axe.needed()
    folder, _ = course
    bad = browser.new_page()
    bad.set_content("<html lang=en><title>a</title><main><img src='data:,'></main>")
    assert any(one.startswith("image-alt") for one in axe.violations(bad, script))
    for page in sorted(folder.rglob("*.html")):
        if page.name == "speaker-view.html":
            continue
        shown = opened(browser, page, [])
        # While a slide fades in, its letters have less contrast.
        shown.add_style_tag(content="* { transition: none !important; }")
        found = axe.violations(shown, script)
        if page.parent.name == "slides":
            for _ in range(6):
                shown.keyboard.press("ArrowRight")
                found += axe.violations(shown, script)
        assert found == [], page
        shown.close()


def test_a_picture_is_called_as_it_says_or_by_the_text_before():
    from course import pages  # loads nbconvert

    new = nbformat.v4
    *outputs, other = (
        new.new_output("display_data", data={"image/svg+xml": svg, "text/html": "<img>"})
        for svg in ("<svg><title>n &lt; w</title></svg>", "<svg></svg>", "<svg></svg>")
    )
    named = new.new_code_cell("", metadata={"alt": "Two graphs"}, outputs=[other])
    text = new.new_markdown_cell("# A\n\nThe *banks*:")
    notebook = new.new_notebook(cells=[text, new.new_code_cell("", outputs=outputs), named])
    pages.described(notebook)
    made = notebook.cells[1].outputs
    assert [one.metadata["alt"] for one in made] == ["Figure: n &lt; w", "Figure: The banks:"]
    assert notebook.cells[2].outputs[0].metadata["alt"] == "Figure: Two graphs"
    assert [set(one.data) for one in made] == [{"image/svg+xml"}] * 2


@pytest.mark.parametrize(("atol", "rtol"), [(0.25, 0), (0, 0.01)])
@pytest.mark.parametrize("right", [25, -25.0, 0.5])
def test_a_sealed_number_opens_within_its_tolerance_only(monkeypatch, right, atol, rtol):
    monkeypatch.setattr("sealed.hashed", lambda text, salt: text + salt)  # in no time
    within = atol or rtol * abs(right)
    made = seal(right, "salt", atol=atol, rtol=rtol)
    for part in (-0.9, 0, 0.9):
        assert made.opens(right + part * within)
    for part in (-1.2, 1.2):
        assert not made.opens(right + part * within)
    assert not made.opens([right])
    assert (made.step, made.ratio) == (atol / FINENESS, rtol / FINENESS)  # not the answer's size


def test_a_sealed_answer_is_recognized_in_each_form():
    made = seal((5, 2), "salt")
    assert made.opens([5.0, 2])
    assert not made.opens([2, 5])
    assert not made.opens(5)
    assert seal(5, "another").hashes != seal(5, "salt").hashes
    with pytest.raises(TypeError, match="not a number"):
        canonical({5})
    with pytest.raises(ValueError, match="one tolerance"):
        seal([1, 2], "salt", atol=1)


def test_names_of_a_statement():
    bound, used = names("@f\ndef g(x, y=a):\n    z = [u for u in x if u > b]\n    return z")
    assert bound == {"g"}
    assert used == {"f", "a", "b"}


def test_players_on_slides_are_in_lecture_mode(course, new_page):
    folder, chosen = course
    page = new_page()
    page.goto((folder / "teacher" / "slides" / f"{chosen[0].stem}.html").as_uri())
    player = page.frame_locator("iframe.mmsim-player").first
    player.locator("#whole.lecture").wait_for(state="attached")
