"""The puzzles: each has a solution and gates that are needed, and a grade for what is handed in."""

import ast
import json
import re
import sys

import numpy as np
import pytest

import mmsim as mm

pytest.importorskip("jupytext")

from course.puzzling import assignment, copy_puzzles, solved
from course.reading import FOLDER, notebooks
from puzzles import graded, puzzles
from puzzles.__main__ import main
from puzzles.exported import exported, programs_in
from puzzles.puzzle import UNITS, Gate, Puzzle

PUZZLES = puzzles()
each = pytest.mark.parametrize("name", PUZZLES)


def squashed(text):
    return re.sub(r"\s+", "", text)


def solution(name):
    (cell,) = solved()[name]
    return cell.source


def doubling(**changes):
    """A puzzle of a lecturer."""
    return Puzzle(
        **{
            "name": "doubling",
            "title": "Twice",
            "task": "b is to be twice a, in one round less.",
            "starter": "@mm.program\ndef double(T, a, b):\n    b[T.id] = a[T.id] + a[T.id]\n",
            "machine": mm.DMM(8, 4),
            "threads": 16,
            "inputs": lambda rng: (rng.integers(0, 9, 16), np.zeros(16, int)),
            "expected": lambda a, b: {"b": 2 * a},
            "gates": ["time <= 10", "no findings"],
            "hints": ["How often is a read?"],
            **changes,
        }
    )


def test_every_class_has_puzzles():
    """The page with puzzles runs them, and can't compile CUDA C++, of which the last class is."""
    lessons = [one.lesson for one in PUZZLES.values()]
    assert len(PUZZLES) >= 24
    assert set(lessons) == set(range(1, len(notebooks())))


@each
def test_the_solution_passes_every_gate_and_the_starter_does_not(name):
    one = PUZZLES[name]
    grade = one.grade(solution(name), cases=[1, 2])
    assert grade.solved, grade
    assert grade.points == grade.most == one.setting()["points"]
    starter = one.grade(one.starter, cases=[0])
    assert (starter.points, starter.solved) == (0, False)


@each
def test_likely_wrong_answers_fail_the_gate_that_they_name_and_no_other(name):
    one = PUZZLES[name]
    assert solved("mistake")[name]
    for cell in solved("mistake")[name]:
        grade = one.grade(cell.source, cases=[0])
        if fails := cell.metadata.get("fails"):
            assert fails in one.gates
            assert grade.failed == [Gate.read(fails).words], grade
            assert grade.points in (0, grade.most - 1)
        else:
            assert grade.points < grade.most, grade


def test_most_gates_are_needed():
    needed = {
        (name, cell.metadata["fails"])
        for name, cells in solved("mistake").items()
        for cell in cells
        if "fails" in cell.metadata
    }
    assert len({name for name, _ in needed}) >= 0.9 * len(PUZZLES)
    every = {(name, gate) for name, one in PUZZLES.items() for gate in one.gates}
    assert len(needed) >= 0.75 * len(every), every - needed


@each
def test_a_program_that_does_nothing_gets_no_point_and_inputs_differ(name):
    one = PUZZLES[name]
    header = f"@mm.program\ndef {one.program}(T, {', '.join(one.parameters)}):\n"
    assert one.grade(f"{header}    pass\n", cases=[0]).points == 0
    first, *others = (one.expected_of(case) for case in range(3))
    for other in others:
        assert not all((first[array] == right).all() for array, right in other.items())


def test_a_program_that_knows_the_results_fails():
    one = doubling()
    table = tuple(one.expected_of(0)["b"].tolist())
    text = f"B = {table}\n\n\n@mm.program\ndef double(T, a, b):\n    b[T.id] = B[T.id]\n"
    assert one.grade(text, cases=[0]).solved
    assert one.grade(text).points == 0


@each
def test_hints_and_tasks_hold_no_part_of_the_solution(name):
    one = PUZZLES[name]
    before = squashed(one.starter)
    words = squashed(" ".join([one.task, *one.hints]))
    tree = ast.parse(solution(name))
    parts = {
        squashed(ast.unparse(node))
        for node in ast.walk(tree)
        if isinstance(node, ast.BinOp | ast.Call | ast.Subscript | ast.Tuple | ast.Assign)
    }
    for part in parts:
        if part not in before and len(part) >= 6:
            assert part not in words, part
    assert 2 <= len(one.hints) <= 3
    assert 2 <= len(re.findall(r"[.?](?: |$)", one.plain_task)) <= 4


def test_no_solution_is_one_of_an_exercise():
    files = (FOLDER / "solutions").glob("*.py")
    shown = squashed("".join(path.read_text("utf-8") for path in files))
    for name in PUZZLES:
        body = squashed(solution(name).partition("\n")[2].partition(":\n")[2])
        assert body not in shown


@each
def test_a_setting_is_json_and_has_what_a_launch_needs(name):
    one = PUZZLES[name]
    setting = json.loads(json.dumps(one.setting()))
    assert setting["class"] == one.lesson
    first, second = setting["cases"]
    assert first["arguments"] != second["arguments"]
    assert first["text"].startswith("import mmsim as mm\n")
    assert first["name"] == one.program
    assert {gate["counter"] for gate in setting["gates"]} <= set(UNITS)
    assert squashed(solution(name)) not in squashed(json.dumps(setting))
    for case, arrays in enumerate(setting["expected"]):
        right = one.expected_of(case)
        assert {
            key: np.reshape(found["data"], found["shape"]).tolist() for key, found in arrays.items()
        } == {key: found.tolist() for key, found in right.items()}


def test_a_gate_is_read_and_said():
    gate = Gate.read("stages of  tile <= 8")
    assert (gate.counter, gate.of, gate.within, gate.bound) == ("stages", "tile", None, 8)
    assert gate.words == "at most 8 stages of tile"
    assert Gate.read("requests in global == 4").words == "exactly 4 requests in global memory"
    assert Gate.read("barriers <= 1").words == "at most 1 barrier"
    assert Gate.read("shared_words <= 1").words == "at most 1 word of shared memory"
    assert Gate.read("no wasted").words == "no wasted stages"
    for wrong in ("stages < 8", "time of a <= 8", "speed <= 8", "stages"):
        with pytest.raises(ValueError, match="is not a gate"):
            Gate.read(wrong)
    for gate, schedule in (("barriers <= 1", "synchronous"), ("rounds <= 1", "asynchronous")):
        with pytest.raises(ValueError, match=f"doubling: a {schedule} run has no"):
            doubling(gates=[gate], schedule=schedule)


def test_a_grade_says_what_is_missing():
    one = doubling()
    assert str(one.grade(one.starter)) == (
        "0 of 3 points\npassed: right results\nnot yet: at most 10 time units: 13\n"
        "passed: no findings: 0"
    )
    short = one.starter.replace("a[T.id] + a[T.id]", "2 * a[T.id]")
    assert one.grade(short).solved
    wrong = one.grade(short.replace("2 *", "3 *"))
    assert (wrong.points, wrong.judged[0].found[:5]) == (0, "b[0] ")
    failing = one.grade(short.replace("a[T.id]", "a[T.id + 1]"))
    assert failing.points == 0
    assert "index out of range" in failing.judged[0].found
    racy = one.grade(short + "    b[0] = 2 * a[0] + 0 * T.id\n    b[1 - 1] = 2 * a[0]\n")
    assert "no findings" not in racy.failed  # the same value is no race
    endless = one.grade(short + "    while True:\n        pass\n")
    assert "no end" in endless.judged[0].found


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def double(T, a, b:\n", "this is not Python"),
        ("import os\n", "line 1 is neither"),
        ("print(1)\n", "line 4 is neither"),
        ("x = 1\n", "there is no program 'double'"),
        ("@mm.program\ndef twice(T, a, b):\n    b[T.id] = a[T.id]\n", "there is no program"),
        ("@mm.program\ndef double(T, a, b):\n    b[T.id] = open(a)\n", "open"),
        ("@mm.program\ndef double(T, a):\n    a[T.id] = 1\n", "argument"),
    ],
)
def test_a_text_without_an_answer_gets_no_point_and_a_reason(text, said):
    grade = doubling().grade(text)
    assert grade.points == 0
    assert said in grade.judged[0].found


def test_what_the_page_exports_is_graded(tmp_path, capsys):
    names = list(PUZZLES)[:3]
    programs = {name: solution(name) for name in names[:2]}
    programs[names[1]] = PUZZLES[names[1]].starter
    assert programs_in(exported(programs)) == {
        name: text.strip() + "\n" for name, text in programs.items()
    }
    (tmp_path / "mine.py").write_text(exported(programs), "utf-8")
    most = [PUZZLES[name].setting()["points"] for name in names]
    assert [graded(name, tmp_path) for name in names] == [most[0], 0, 0]
    said = capsys.readouterr().out
    assert said.startswith(f"{most[0]} of {most[0]} points\npassed: right results\n")
    assert said.endswith(f"There is no program for {names[2]} in the files beside this notebook.\n")
    (tmp_path / "newer.py").write_text(exported({names[1]: solution(names[1])}), "utf-8")
    assert graded(names[1], tmp_path) == most[1]


def test_exported_files_are_graded_on_the_command_line(tmp_path, capsys, monkeypatch):
    file = tmp_path / "mine.py"
    first, second, *_ = PUZZLES
    programs = {first: solution(first), second: PUZZLES[second].starter, "unknown": "x = 1"}
    file.write_text(exported(programs), "utf-8")
    monkeypatch.setattr(sys, "argv", ["puzzles", str(file)])
    main()
    said = capsys.readouterr().out
    most = [1 + len(one.gates) for one in PUZZLES.values()]
    assert said.startswith(f"{first}: {most[0]} of {most[0]} points\npassed: right results\n")
    assert f"{second}: 0 of {most[1]} points\n" in said
    assert said.endswith(f"{file}: {most[0]} of {sum(most)} points\n")


def test_what_students_get_holds_no_solution(tmp_path):
    copy_puzzles(tmp_path)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    texts = squashed("".join(path.read_text("utf-8") for path in files))
    made = assignment(student=True)
    texts += squashed("".join(cell.source for cell in made.cells))
    assert not [name for name in PUZZLES if squashed(solution(name)) in texts]
    graders = [cell for cell in made.cells if cell.cell_type == "code"]
    assert [cell.metadata.nbgrader.points for cell in graders] == [
        1 + len(one.gates) for one in PUZZLES.values()
    ]
    assert all(cell.metadata.nbgrader.locked for cell in graders)
