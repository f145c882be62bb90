"""A plugin for pytest: what Numba would compile runs as Python, without delay."""

from __future__ import annotations

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests():
    """Before any module of mmsim is loaded."""
    import numba

    numba.config.DISABLE_JIT = 1
