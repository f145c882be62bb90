"""The house: what an import loads, which floor knows which, what is public.

The floors are those of CONTRIBUTING.md, which the tests below read.
"""

import ast
import re
import shutil
import subprocess
import sys
import warnings
from collections import defaultdict
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import mmsim
from tests.conftest import FIRST, IN_ONE_PROCESS, group_of

PACKAGE = Path(mmsim.__file__).parent
ROOT = PACKAGE.parent


def floors():
    """The floor of each room, by the table in CONTRIBUTING.md."""
    found = {}
    for line in (ROOT / "CONTRIBUTING.md").read_text("utf-8").splitlines():
        if row := re.match(r"\| (\d+) \| ((?:`[a-z_]+`(?:, )?)+) \|", line):
            found |= dict.fromkeys(re.findall(r"`([a-z_]+)`", row[2]), int(row[1]))
    return found


FLOOR = floors()


def module_name(path, folder):
    parts = path.relative_to(folder.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def tree_of(path):
    return ast.parse(path.read_text("utf-8"))


@cache
def modules(folder):
    return {module_name(path, folder): path for path in sorted(folder.rglob("*.py"))}


def imported(name, path, known):
    """The modules among `known` that a file imports anywhere: at the top, in a function, for types.

    Importing a module loads its packages too; that counts only where the file names the package.
    """
    found = imported_by(tree_of(path), known)
    yield from (one for one in found if one != name)


def imported_by(tree, known):
    """The modules among `known` that a part of a file imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            named = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "a relative import"
            inside = [f"{node.module}.{alias.name}" for alias in node.names]
            named = [one if one in known else node.module for one in inside]
        elif isinstance(node, ast.Call) and called(node) == "import_module":
            named = [one.value for one in node.args if isinstance(one, ast.Constant)]
        else:
            continue
        yield from (one for one in named if one in known)


def called(call):
    """The last part of the name of what is called."""
    return getattr(call.func, "attr", getattr(call.func, "id", ""))


@cache
def arrows(folder):
    known = modules(folder)
    return {name: set(imported(name, path, known)) for name, path in known.items()}


def room(name):
    """The part of a module's name that CONTRIBUTING.md gives a floor."""
    parts = name.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def circle(graph):
    """Names in a circle of a graph of arrows, or nothing."""
    try:
        list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        return error.args[1]
    return []


@pytest.mark.parametrize(
    "module", ["mmsim", "mmsim.model.turns", "mmsim_algorithms", "tests.kit.runs"]
)
def test_a_warning_in_our_own_code_is_an_error(module):
    def warn(module):
        warnings.warn_explicit("old", DeprecationWarning, "file.py", 1, module)

    with pytest.raises(DeprecationWarning, match="old"):
        warn(module)
    with warnings.catch_warnings(record=True) as seen:
        warn(f"another_{module}")
    assert len(seen) == 1


def test_every_room_has_a_floor():
    assert {room(name) for name in modules(PACKAGE)} == set(FLOOR)


def test_no_import_runs_upwards():
    """Lazy ones and those for types count as well."""
    upwards = [
        f"{name} (floor {FLOOR[room(name)]}) imports {other} (floor {FLOOR[room(other)]})"
        for name, others in arrows(PACKAGE).items()
        for other in sorted(others)
        if FLOOR[room(other)] > FLOOR[room(name)]
    ]
    assert upwards == []


@pytest.mark.parametrize("folder", ["mmsim", "algorithms"])
def test_no_files_import_each_other_in_a_circle(folder):
    assert circle(arrows(ROOT / folder)) == []


def test_no_rooms_import_each_other_in_a_circle():
    graph = defaultdict(set)
    for name, others in arrows(PACKAGE).items():
        graph[room(name)] |= {room(other) for other in others} - {room(name)}
    assert circle(graph) == []


def test_only_two_modules_look_the_package_up():
    """It stands on a higher floor: `tabular` makes it load `view`, `function` compares with it."""
    seen = re.compile(r'sys\.modules(\[|\.get\()"mmsim')
    found = {name for name, path in modules(PACKAGE).items() if seen.search(path.read_text())}
    assert found == {"mmsim.tabular", "mmsim.frontend.python.function"}


def at_once(tree):
    """The statements of a file that its import runs: none in a function, none for types alone."""
    for node in ast.iter_child_nodes(tree):
        is_for_types = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        if not is_for_types and not isinstance(node, ast.FunctionDef | ast.Lambda):
            yield node
            yield from at_once(node)


@cache
def loaded(name):
    """The modules that are loaded with one, itself and its packages among them."""
    known, found, wanted = modules(PACKAGE), set(), [name]
    while wanted:
        name = wanted.pop()
        if name in known and name not in found:
            found.add(name)
            wanted.append(name.rpartition(".")[0])
            for node in at_once(tree_of(known[name])):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    one = ast.Module([node], [])
                    wanted += imported_by(one, known)
    return found


def test_an_import_in_a_function_loads_something():
    """It stands there to spare a start what only some calls need; else it belongs at the top."""
    known, idle = modules(PACKAGE), []
    for name, path in known.items():
        tree = tree_of(path)
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef):
                late = [one for one in imported_by(function, known) if one in loaded(name)]
                idle += [f"{name}.{function.name}: {one}" for one in late]
    assert idle == []


def test_what_runs_upwards_or_in_a_circle_is_seen(tmp_path):
    package = tmp_path / "mmsim"
    package.mkdir()
    (package / "errors.py").write_text("def f():\n    from mmsim import view\n")
    (package / "view.py").write_text(
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import mmsim.errors\n"
    )
    assert arrows(package) == {"mmsim.errors": {"mmsim.view"}, "mmsim.view": {"mmsim.errors"}}
    assert set(circle(arrows(package))) == {"mmsim.errors", "mmsim.view"}


@pytest.mark.parametrize("beginning", IN_ONE_PROCESS)
def test_what_one_process_does_is_there(beginning):
    assert "\ndef test_" in (ROOT / beginning).read_text("utf-8")
    assert group_of(f"{beginning}::test_another[1]") == IN_ONE_PROCESS[beginning]
    assert group_of("tests/house/test_house.py::test_a") == "tests/house/test_house.py"


@pytest.mark.parametrize("group", FIRST)
def test_what_begins_first_is_there(group):
    assert group in IN_ONE_PROCESS.values() or (ROOT / group).exists()


def test_one_process_does_all_of_a_group(tmp_path):
    """In two processes, with the tests' own conftest.py."""
    folder = tmp_path / "tests"
    (folder / "docs").mkdir(parents=True)
    (folder / "kit").mkdir()
    for file in ("__init__.py", "conftest.py", "kit/__init__.py", "kit/long_variants.py"):
        shutil.copy(Path(__file__).parents[1] / file, folder / file)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = long\n")
    note = "import os, pytest\n@pytest.mark.parametrize('n', range(9))\ndef test_a(n):\n"
    note += "    with open('by', 'a') as by:\n        by.write(f'{os.getpid()} ')\n"
    for file in ("test_course.py", "test_site.py", "test_zoo.py"):
        (folder / "docs" / file).write_text(
            note.replace("by", "by_itself" if "zoo" in file else "by")
        )
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "--dist", "loadgroup", "tests"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert "27 passed" in done.stdout, done.stdout + done.stderr
    (group,), (other,) = (set((tmp_path / by).read_text().split()) for by in ("by", "by_itself"))
    assert group != other


def test_all_lists_the_public_names():
    assert sorted(mmsim.__all__) == mmsim.__all__ or set(mmsim.__all__) <= set(dir(mmsim))
    public = {
        name
        for name, value in vars(mmsim).items()
        if not name.startswith("_") and getattr(value, "__module__", "").startswith("mmsim")
    }
    assert public <= set(mmsim.__all__)


def test_the_library_knows_no_algorithm():
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(tree_of(path)):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            assert not any(name.split(".")[0] == "mmsim_algorithms" for name in names), path
