"""A plugin for pytest: what Numba would compile runs as Python, so that a mutant is tried at once."""

from __future__ import annotations

import numba

numba.config.DISABLE_JIT = 1  # before any module of mmsim is loaded

from mmsim.engines import play, schedule  # noqa: E402


def compiled():
    """Takes the arrays that the compiled function takes, and runs the same text on lists."""
    return lambda *arguments: play.play(*map(schedule.plain, arguments[:-1]), arguments[-1])


schedule.compiled = compiled
