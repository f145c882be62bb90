"""The rules of the machines and of the language, tested on every engine.

The modules named here run once for each of them, with `run`'s default engine set to it. "fused" is
the array engine's compiled road, taken wherever a program has one, however small, and left
uncompiled: the text that would be compiled runs as Python.
"""

from __future__ import annotations

import pytest

from mmsim import launch
from mmsim.engines import array
from mmsim.engines.fused import build, execute

ON_EVERY_ENGINE = {
    "test_bad_input",
    "test_language_arithmetic",
    "test_language_meaning",
    "test_layouts",
    "test_timing_rules",
}


def pytest_generate_tests(metafunc):
    if metafunc.module.__name__ in ON_EVERY_ENGINE:
        metafunc.parametrize("engine_used", ["events", "array", "fused"], indirect=True)


@pytest.fixture(autouse=True)
def engine_used(request, monkeypatch):
    """Set the default engine for a test of `ON_EVERY_ENGINE`."""
    name = getattr(request, "param", None)
    if name is None:
        return
    monkeypatch.setattr(launch, "default_engine", "events" if name == "events" else "array")
    if name == "fused":
        monkeypatch.setattr(array, "FEW", 0)
        monkeypatch.setattr(execute.Execution, "worthwhile", lambda self: True)
        monkeypatch.setattr(execute.Execution, "_ready", lambda self: build.plain(self.text.kernel))


@pytest.fixture
def uncompiled(monkeypatch):
    """What Numba would compile runs as Python: done sooner where a program is used once."""
    monkeypatch.setattr(execute.Execution, "_ready", lambda self: build.plain(self.text.kernel))
