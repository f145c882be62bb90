"""The house: what an import loads, which floor knows which, what is public."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import mmsim

PACKAGE = Path(mmsim.__file__).parent

# From the ground up (CONTRIBUTING.md). A module may import its own floor and those below.
FLOORS = [
    ("errors", "machines", "layout", "threads", "conflicts", "cores"),
    ("language",),
    ("memory",),
    ("results",),
    ("launch",),
    ("engines",),
    ("bench", "check", "claims", "gpu", "player", "sweeps", "view"),
    ("cli", "__main__"),
]
FLOOR = {name: number for number, floor in enumerate(FLOORS) for name in floor}


@pytest.mark.parametrize("module", ["mmsim", "mmsim.gpu"])
def test_importing_mmsim_loads_nothing_heavy(module):
    code = (
        f"import sys, {module}; "
        "print([m for m in ('sympy', 'matplotlib', 'numba', 'simpy', 'rich', 'scipy', 'cupy', "
        "'joblib') if m in sys.modules])"
    )
    output = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert output.strip() == "[]"


def test_importing_the_algorithms_does_not_load_sympy():
    code = "import sys, algorithms.access, algorithms.transpose; print('sympy' in sys.modules)"
    output = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert output.strip() == "False"


def test_all_lists_the_public_names():
    assert sorted(mmsim.__all__) == mmsim.__all__ or set(mmsim.__all__) <= set(dir(mmsim))
    public = {
        name
        for name, value in vars(mmsim).items()
        if not name.startswith("_") and getattr(value, "__module__", "").startswith("mmsim")
    }
    assert public <= set(mmsim.__all__)


def modules():
    return sorted(path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py")


def imported_at_the_top(path):
    """The mmsim modules that a file imports when it is loaded."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("mmsim."):
            yield node.module.split(".")[1]
        elif isinstance(node, ast.ImportFrom) and node.module == "mmsim":
            yield from (alias.name for alias in node.names if alias.name in FLOOR)


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_lower_floors_never_import_higher_ones(path):
    own = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    assert own in FLOOR, f"{own} has no floor"
    for other in imported_at_the_top(path):
        assert FLOOR[other] <= FLOOR[own], f"{own} imports {other}"


def test_the_library_knows_no_algorithm():
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            assert not any(name.split(".")[0] == "algorithms" for name in names), path
