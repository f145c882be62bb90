"""A name of `mmsim` is loaded when it is first used, and a run loads only what it needs."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import mmsim
from mmsim import names

RUN = """
import sys
import numpy as np
import mmsim as mm
from copying import copy

run = mm.DMM(8, 2).run(copy, np.arange(64), np.zeros(64, int), threads=64, schedule={schedule!r})
"""
PROGRAM = """
import mmsim as mm

@mm.program
def copy(T, a, b):
    b[T.id] = a[T.id]
"""
NAMED = """
import mmsim as mm

@mm.program
def summed(T, a, out):
    part = mm.shared(8, dtype=mm.float32)
    own = mm.registers(1)
    own[0] = mm.float32(mm.popc(T.id) + mm.warp.shuffle_xor(T.id, 1))
    mm.atomic.add(part, T.id % 8, own[0])
    T.barrier()
    out[T.id] = part[T.id % 8]
"""


HEAVY = {"sympy", "matplotlib", "numba", "scipy", "rich", "simpy", "joblib", "cupy", "numpy.ma"}


@pytest.fixture
def loaded(tmp_path):
    """A function: the modules that a new process has loaded when it has run some code."""
    (tmp_path / "copying.py").write_text(PROGRAM)

    def loaded(code):
        code += "\nimport sys; print(*sorted(sys.modules))"
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
        return done.stdout.splitlines()[-1].split()

    return loaded


def rooms(modules):
    """The rooms of `mmsim` among them, as in CONTRIBUTING.md."""
    parts = (name.split(".") for name in modules)
    return {part[1] for part in parts if part[0] == "mmsim" and len(part) > 1}


def ours(modules):
    return [name for name in modules if name.split(".")[0] == "mmsim"]


def test_type_checkers_see_the_names_in_the_modules_that_have_them():
    seen = {}
    for node in ast.walk(ast.parse(Path(mmsim.__file__).read_text("utf-8"))):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for line in node.body:
                assert isinstance(line, ast.ImportFrom)
                seen |= {alias.name: line.module for alias in line.names}
                assert all(alias.name == alias.asname for alias in line.names)  # public so
    assert seen == {**names.HOME, "__version__": "mmsim.names"}
    assert len(names.__all__) == sum(map(len, map(str.split, names.MODULES.values())))


@pytest.mark.parametrize("name", names.__all__)
def test_a_name_is_what_its_module_has(name):
    found = getattr(mmsim, name)
    module = getattr(sys.modules[names.HOME[name]], name)
    assert found is module
    assert name in dir(mmsim)


def test_rooms_are_attributes():
    for room in names.ROOMS:
        assert getattr(mmsim, room) is sys.modules[f"mmsim.{room}"]
        assert room in dir(mmsim)


def test_a_machine_loads_no_front_end_and_no_engine(loaded):
    found = loaded("import mmsim as mm; mm.DMM, mm.UMM, mm.HMM, mm.Cached, mm.Machine")
    assert rooms(found) <= {"api", "errors", "host", "ir", "model", "names", "printable"} | {
        "results",
        "tabular",
        "tracebacks",
    }
    assert len(ours(found)) <= 52


@pytest.mark.parametrize("module", ["mmsim.gpu", "mmsim_algorithms.transpose"])
def test_an_import_loads_nothing_heavy(loaded, module):
    assert not set(loaded(f"import {module}")) & HEAVY


@pytest.mark.parametrize("schedule", ["synchronous", "asynchronous"])
def test_a_run_loads_only_what_it_needs(loaded, schedule):
    found = loaded(RUN.format(schedule=schedule))
    assert rooms(found) == {
        *("api", "engines", "errors", "frontend", "host", "ir", "meaning", "model", "monitors"),
        *("names", "printable", "results", "tabular", "tracebacks"),
    }
    assert not set(found) & HEAVY
    assert [name for name in ours(found) if "monitors." in name] == ["mmsim.monitors.listener"]
    assert len(ours(found)) <= 141


def test_a_table_of_a_run_loads_no_claims_no_sweeps_and_no_figures(loaded):
    found = loaded(RUN.format(schedule="synchronous") + "str(run)")
    assert "mmsim.view.tables" in found
    assert not rooms(found) & {"claims", "sweeps"}
    assert "mmsim.view.figures" not in found


def test_a_program_may_be_the_first_to_use_a_name(loaded, tmp_path):
    (tmp_path / "named.py").write_text(NAMED)
    assert "mmsim.frontend.program" in loaded("from named import summed")
    (tmp_path / "misnamed.py").write_text(NAMED.replace("mm.shared(", "mm.shred("))
    with pytest.raises(subprocess.CalledProcessError) as error:
        loaded("from misnamed import summed")
    assert "LanguageError" in error.value.stderr
