"""A plugin for pytest: what Numba would compile runs as Python, at once."""

from __future__ import annotations

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests():
    """Before any module of mmsim is loaded."""
    import numba

    numba.config.DISABLE_JIT = 1

    from mmsim.engines import play, schedule

    def compiled():
        """Takes the arrays that the compiled function takes, and runs the same text on lists."""
        return lambda *arguments: play.play(*map(schedule.plain, arguments[:-1]), arguments[-1])

    schedule.compiled = compiled
