"""Mutation testing itself: `make mutate` finds a rule that no test holds, and says so."""

from __future__ import annotations

import ast
import re
import shlex
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MUTATION = ROOT / "tests" / "kit" / "mutation"

TOY = '''\
def cost(stages, latency):
    """What a request of 1 + 1 stages takes."""
    time = latency - 1
    while stages > 0:
        stages -= 1
        time += 1
    return time if time > 0 else 0


def __repr__(self):
    return 1 + 1


def refused(width: int | None) -> int | None:
    if width:
        raise ValueError(1 + 1)
'''
ENGINES = ("events", "array", "fused")
"""What a test that runs on each of them has in its name besides."""
RULES = '[[module]]\npath = "toy.py"\ntests = ["test_toy.py"]\nwithout = ["refused.inner"]\n'
TEST = "from toy import cost, refused\n\ndef test_cost():\n    refused(0)\n"
LINE = "return time if time > 0 else 0"
EXPLAINED = f"""\
[[survivor]]
module = "toy.py"
where = "cost"
line = "{LINE}"
mutants = ["{LINE.replace(">", ">=")}", "{LINE.replace("else 0", "else 1")}"]
why = "No request takes less than a time unit."
"""


def mutate(folder, test, explained):
    """The exit status, what is printed first, the table's last row, and what comes after it."""
    (folder / "tests" / "kit" / "mutation").mkdir(parents=True, exist_ok=True)
    (folder / "toy.py").write_text(TOY)
    (folder / "tests" / "test_toy.py").write_text(test)
    (folder / "tests" / "kit" / "mutation" / "timing_rules.toml").write_text(RULES)
    (folder / "tests" / "kit" / "mutation" / "explained.toml").write_text(explained)
    done = subprocess.run(
        [sys.executable, "-m", "tests.kit.mutation.mutate", "--root", folder],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert not done.stderr
    start, _, end = done.stdout.partition("\nall ")
    row, _, rest = end.partition("\n")
    return done.returncode, start, [int(number) for number in row.split()], rest


@pytest.mark.long
def test_what_survives_is_reported_until_a_test_kills_it_or_it_is_explained(tmp_path):
    test = TEST + "    assert cost(2, 1) == 2\n"
    in_vain = EXPLAINED.replace("else 1", "else 2")
    status, _, (*_, survived), rest = mutate(tmp_path, test, in_vain)
    assert (status, survived) == (1, 2)
    unexplained, in_vain = rest.split("Explained, but no such mutant survived:")
    for mutant in (LINE.replace("> 0", "> 1"), LINE.replace("else 0", "else 1")):
        assert f"  - {LINE}\n  + {mutant}\n" in unexplained
    assert in_vain.strip() == f"toy.py | cost | {LINE} | {LINE.replace('else 0', 'else 2')}"

    test += "    assert cost(1, 1) == 1\n"
    status, start, row, rest = mutate(tmp_path, test, EXPLAINED)
    mutants, killed, timed_out, explained, survived = row
    assert start.startswith(f"{mutants} mutants, 1 to try\n")
    assert (status, explained, survived, rest) == (0, 2, 0, "")
    assert timed_out == 3  # stages never fall
    assert killed == mutants - timed_out - explained > 5
    assert (tmp_path / "toy.py").read_text() == TOY


def test_a_tree_is_loaded_again_but_not_what_is_installed_in_it(tmp_path, monkeypatch):
    """As NumPy is in `.venv`, which can't be loaded twice."""
    (tmp_path / ".venv").mkdir()
    (tmp_path / "of_the_tree.py").touch()
    (tmp_path / ".venv" / "installed.py").touch()
    for folder in (tmp_path, tmp_path / ".venv"):
        monkeypatch.syspath_prepend(folder)
    for name in ("of_the_tree", "installed"):
        monkeypatch.setitem(sys.modules, name, import_module(name))
    monkeypatch.setattr(sys, "prefix", str(tmp_path / ".venv"))
    import_module("tests.kit.mutation.mutate").forget(tmp_path)
    assert "installed" in sys.modules
    assert "of_the_tree" not in sys.modules
    assert "pytest" in sys.modules


def survivors():
    """The explained mutants: module, function, its line, what became of it."""
    for entry in tomllib.loads((MUTATION / "explained.toml").read_text())["survivor"]:
        assert entry["why"].endswith("."), entry
        for mutant in entry["mutants"]:
            yield entry["module"], entry["where"], entry["line"], mutant


def test_what_is_explained_stands_in_the_sources():
    rules = tomllib.loads((MUTATION / "timing_rules.toml").read_text())
    modules = {entry["path"] for entry in rules["module"]}
    seen = set()
    for survivor in survivors():
        assert survivor not in seen
        seen.add(survivor)
        module, where, line, mutant = survivor
        assert module in modules
        assert line != mutant
        assert line in joined(module, where), survivor


def joined(module, where):
    """The lines of a function or class (or a file), stripped and joined by a space."""
    text = (ROOT / module).read_text(encoding="utf-8")
    node = ast.parse(text)
    for name in filter(None, where.split(".")):
        (node,) = (
            inner
            for inner in ast.walk(node)
            if isinstance(inner, ast.FunctionDef | ast.ClassDef) and inner.name == name
        )
    lines = text.splitlines()
    if where:
        lines = lines[node.lineno - 1 : node.end_lineno]
    return " ".join(line.strip() for line in lines)


@pytest.mark.parametrize("kind", ["tests", "compiled"])
def test_the_tests_named_are_there(kind):
    rules = tomllib.loads((MUTATION / "timing_rules.toml").read_text())
    for entry in rules["module"]:
        assert (ROOT / entry["path"]).exists()
        for test in entry.get(kind, []):
            path, *chosen = shlex.split(test)
            file, _, name = path.partition("::")
            text = (ROOT / "tests" / file).read_text(encoding="utf-8")
            assert f"def {name}" in text
            names = " ".join([*re.findall(r"def (test_\w+)", text), *ENGINES])
            for word in set(re.findall(r"\w+", " ".join(chosen[1:]))) - {"and", "or", "not"}:
                assert word in names, test
