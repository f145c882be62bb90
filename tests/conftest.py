"""The rules of the machines and of the language, tested on every engine.

The modules named here run once for each of them, with `run`'s default engine set to it. "fused" is
the array engine's compiled path, taken wherever a program has one, however small, and left
uncompiled: the text that would be compiled runs as Python.
"""

from __future__ import annotations

import pytest

from mmsim.engines import run
from mmsim.engines.array import engine as array
from mmsim.engines.array.fused import build, execute, worth

ON_EVERY_ENGINE = {
    "test_bad_input",
    "test_language_arithmetic",
    "test_language_meaning",
    "test_layouts",
    "test_timing_rules",
}

IN_ONE_PROCESS = {
    "tests/claims/test_evidence.py": "wrong rules",
    "tests/gpu/test_cuda_emulated.py::test_a_rule_of_the_language": "rules",
    "tests/gpu/test_gpu_programs.py": "drawn programs",
    "tests/monitors/test_planted_on_gpu.py": "planted bugs",
    "tests/docs/test_notebooks.py::test_a_fresh_kernel": "kernels",
    "tests/docs/test_site.py": "kernels",
}
"""Beginnings of tests' names, and what they share: one process does it, once.

Kernels of notebooks share the choice of ports: of two begun at one time both may pick the same.
"""


def group_of(name):
    """What the processes take as one piece: a test, or those that share something."""
    for beginning, group in IN_ONE_PROCESS.items():
        if name.startswith(beginning):
            return group
    return name


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """With `--dist loadgroup`; the marks of pytest-xdist 3.8 have no effect with pytest 9.2."""
    if config.getvalue("dist") != "loadgroup":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class ByGroup(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return group_of(nodeid)

    return ByGroup(config, log)


def pytest_generate_tests(metafunc):
    if metafunc.module.__name__ in ON_EVERY_ENGINE:
        metafunc.parametrize("engine_used", ["events", "array", "fused"], indirect=True)


@pytest.fixture(autouse=True)
def engine_used(request, monkeypatch):
    """Set the default engine for a test of `ON_EVERY_ENGINE`."""
    name = getattr(request, "param", None)
    if name is None:
        return
    monkeypatch.setattr(run, "default_engine", "events" if name == "events" else "array")
    if name == "fused":
        take_the_fused_path(monkeypatch)


def take_the_fused_path(monkeypatch):
    """Take the array engine's fused path wherever a program has one, and leave it uncompiled."""
    monkeypatch.setattr(array, "FEW", 0)
    monkeypatch.setattr(worth.Worth, "at_once", lambda self: True)
    monkeypatch.setattr(execute.Execution, "_ready", lambda self: build.plain(self.text.kernel))


@pytest.fixture
def uncompiled(monkeypatch):
    """What Numba would compile runs as Python: done sooner where a program is used once."""
    monkeypatch.setattr(execute.Execution, "_ready", lambda self: build.plain(self.text.kernel))
