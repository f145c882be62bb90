"""Mutation testing itself: `make mutate` finds a rule that no test holds, and says so."""

import re
import subprocess
import sys
from collections import defaultdict
from importlib import import_module
from types import FunctionType

import pytest

from tests.kit import ROOT
from tests.kit.mutation.edits import KINDS, Text, edits
from tests.kit.mutation.in_place import differing, forget
from tests.kit.mutation.kept import VERDICTS, read
from tests.kit.mutation.page import cover, name_of, rooms
from tests.kit.mutation.sample import (
    ROOMS,
    RULES,
    explanations,
    modules,
    of_module,
    rank,
    text_of,
)

KEPT = ROOT / "benchmarks" / "results" / "mutation.json"
EXPLAINED = ROOT / "tests" / "kit" / "mutation" / "explained.toml"

TOY = '''\
def cost(stages, latency):
    """What a request of 1 + 1 stages takes."""
    time = latency - 1
    while stages > 0:
        stages -= 1
        time += 1
    return time if time > 0 else 0


def never(x):
    return x + 1
'''
TEST = "from mmsim.model.toy import cost\n\ndef test_cost():\n"
LINE = "return time if time > 0 else 0"
EXPLAINED_TOY = f"""\
[[survivor]]
room = "model"
where = "cost"
line = "{LINE}"
mutants = ["{LINE.replace(">", ">=")}", "{LINE.replace("else 0", "else 1")}"]
why = "No request takes less than a time unit."
"""


def mutate(folder, test):
    """The exit status, what is printed before the table, the table's row, what comes after it."""
    for place in ("mmsim/model", "tests/model", "tests/kit/mutation", "benchmarks/results"):
        (folder / place).mkdir(parents=True, exist_ok=True)
    (folder / "mmsim" / "__init__.py").touch()
    (folder / "mmsim" / "model" / "toy.py").write_text(TOY)
    (folder / "tests" / "model" / "test_toy.py").write_text(test)
    (folder / "tests" / "kit" / "mutation" / "explained.toml").write_text(EXPLAINED_TOY)
    command = [sys.executable, "-m", "tests.kit.mutation.mutate", "model", "--root", folder]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert not done.stderr
    start, _, end = done.stdout.partition("\nmodel ")
    row, _, rest = end.partition("\n")
    return done.returncode, start, [int(number) for number in row.split()], rest


@pytest.mark.long
def test_what_survives_is_reported_until_a_test_kills_it_or_it_is_explained(tmp_path):
    test = TEST + "    assert cost(2, 1) == 2\n"
    status, start, row, rest = mutate(tmp_path, test)
    mutants, killed, timed_out, explained, _, survived = row
    assert (status, timed_out, explained, survived) == (1, 3, 2, 1)  # stages never fall
    assert killed == mutants - 6
    assert f"  - {LINE}\n  + {LINE.replace('> 0', '> 1')}\n" in rest
    assert "stale" not in start

    # The rest is known, but for what the changed file of tests has found.
    status, start, row, rest = mutate(tmp_path, test + "    assert cost(1, 1) == 1\n")
    assert f"{mutants} mutants, {mutants - 2} to try\n" in start
    assert (status, row) == (0, [mutants, killed + 1, 3, 2, 0, 0])

    status, start, *_ = mutate(tmp_path, test + "    assert cost(1, 1) == 1\n")
    assert (status, start.count("0 to try")) == (0, 1)
    assert (tmp_path / "mmsim" / "model" / "toy.py").read_text() == TOY


@pytest.mark.parametrize(
    ("kind", "line", "mutants"),
    [
        ("comparison", "x = a < b", ["x = a <= b", "x = a >= b"]),
        ("comparison", "x = a is not b", ["x = a is b"]),
        ("comparison", "x = (a) not in (b)", ["x = (a) in (b)"]),
        ("arithmetic", "x = a // (b - c)", ["x = a * (b - c)", "x = a // (b + c)"]),
        ("arithmetic", "x = ~a", ["x = a"]),
        ("arithmetic", "x += a", ["x -= a"]),
        ("logic", "x = a and not b", ["x = a or not b", "x = a and b"]),
        (
            "logic",
            "x = a if b or c else d",
            ["x = a if b and c else d", "x = a if not (b or c) else d"],
        ),
        ("constant", "x = 3, 0, True", ["x = 2, 0, True", "x = 3, 1, True", "x = 3, 0, False"]),
        ("extremes", "x = max(a, b.min())", ["x = min(a, b.min())", "x = max(a, b.max())"]),
        ("statement", "f(a)", ["pass"]),
        ("statement", "a.b[c] = d", ["pass"]),
        ("text", "x = f'{a} + b' 'c && d'", ["x = f'{a} - b' 'c && d'", "x = f'{a} + b' 'c || d'"]),
    ],
)
def test_each_kind_of_change(kind, line, mutants):
    text = Text(f"def f(a, b, c, d):\n    '''1 + 1 == 2'''\n    {line}\n    g = a\n")
    found = [one for one in edits(text, writer=True) if one.kind == kind]
    assert sorted(one.mutant for one in found) == sorted(mutants)
    for one in found:
        assert (one.where, one.line, one.runs, one.at_import) == ("f", line, (3, 3), False)
        assert text.changed(one) == text.source.replace(line, one.mutant)


def test_returns_and_loops():
    text = Text(
        "def f(a, b) -> bool:\n    for x in (\n        a,\n        b,\n    ):\n        break\n"
        "    return a\n\n\ndef g(a, b):\n    return a, b\n"
    )
    assert {(one.kind, one.mutant) for one in edits(text)} == {
        ("flow", "):"),
        ("flow", "continue"),
        ("return", "return not (a)"),
        ("return", "return b, a"),
    }
    for one in edits(text):
        assert len(text.changed(one).splitlines()) == len(text.lines)


@pytest.mark.parametrize(
    "line",
    [
        "raise ValueError(1 + 1)",
        "assert x == 1, 1 + 1",
        "x: tuple[1 + 1]",
        "zip(x, y, strict=True) is z",
        "def __repr__(self): return 1 + 1",
        "@dataclass(frozen=True)\nclass A: pass",
        "__slots__ = ('a',) * 2",
        "if TYPE_CHECKING: x = 1 + 1",
    ],
)
def test_what_is_no_rule_stays(line):
    assert [one.kind for one in edits(Text(line)) if one.kind != "comparison"] == []


def test_only_what_differs_is_replaced():
    text = (
        "class A:\n    def f(self):\n        return 1, lambda: 2\n    def g(self):\n        pass\n"
    )

    def of(after):
        before, changed = (compile(one, "x", "exec") for one in (text, after))
        return [old.co_qualname for old, new in differing(before, changed)]

    assert of(text.replace("return 1", "return 3")) == ["A.f"]
    assert of(text.replace("2", "3")) == ["A.f", "A.f.<locals>.<lambda>"]
    assert of(text.replace("class A:\n", "class A:\n    x = 1\n"))[0] == "A"
    assert of(f"{text}x = 1\n") == ["<module>"]
    assert isinstance(of, FunctionType)


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
    forget(tmp_path)
    assert "installed" in sys.modules
    assert "of_the_tree" not in sys.modules
    assert "pytest" in sys.modules


def test_a_mutant_keeps_its_place_in_the_draw_when_its_code_moves(tmp_path):
    (tmp_path / "mmsim" / "model").mkdir(parents=True)
    drawn = []
    for name, text in (("a.py", TOY), ("b.py", f"import ast\n\n{TOY}")):
        path = tmp_path / "mmsim" / "model" / name
        path.write_text(text)
        found = list(of_module(tmp_path, "model", path))
        drawn.append([(one.key, one.code, rank(one, 2)) for one in found])
    assert drawn[0] == drawn[1]
    assert len({key for key, *_ in drawn[0]}) == len(drawn[0])
    assert max(number for *_, number in drawn[0]) < 1


def test_a_mutant_of_unreached_code_is_not_drawn():
    assert rank(next(of_module(ROOT, "model", ROOT / "mmsim/model/turns.py")), 0) < 0


def test_the_cover_takes_the_greatest_part_first():
    kills = {"a": frozenset("1234"), "b": frozenset("345"), "c": frozenset("5"), "d": frozenset()}
    assert cover(kills, {"b": 2.0, "c": 1.0}) == ["a", "c"]


def test_what_is_kept_is_whole():
    """Not that it is of the present code, which `make mutate` says."""
    document = read(KEPT)
    assert set(document) == {"made", "rooms", "files", "costs", "mutants"}
    assert set(document["rooms"]) == {*ROOMS, RULES}
    reasons = explanations(EXPLAINED)
    keys = set()
    for entry in document["mutants"]:
        name = entry["key"], entry["module"]  # a room may have equal functions
        assert name not in keys
        keys.add(name)
        assert entry["kind"] in {*KINDS, "rule"}
        assert entry["verdict"] in VERDICTS
        assert bool(entry["by"]) == (entry["verdict"] != "survived")
        assert entry["by"] or name_of(entry) in reasons
        assert re.fullmatch("[0-9a-f]{12}", entry["code"])
    tried = [entry["room"] for entry in document["mutants"]]
    assert all(tried.count(room) >= 40 for room in ROOMS)


def test_the_page_has_the_kept_numbers():
    page = (ROOT / "docs" / "mutation.md").read_text("utf-8")
    for row in rooms(read(KEPT), explanations(EXPLAINED)):
        assert row in page


def test_reasons_name_mutants_that_exist():
    """Those of the kept results do: their code may have changed since."""
    kept = {name_of(entry) for entry in read(KEPT)["mutants"]}
    wanted = defaultdict(set)
    for name, why in explanations(EXPLAINED).items():
        assert why.endswith(".")
        wanted[name[0]] |= {name} - kept
    for room, names in wanted.items():
        for path in modules(ROOT, room):
            lines = " ".join(map(str.strip, text_of(path).lines))
            if any(line in lines for _, _, line, _ in names):
                names -= {mutant.name for mutant in of_module(ROOT, room, path)}
        assert names == set()
