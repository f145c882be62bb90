"""Run a Python program that uses `numba.cuda`, with mmsim instead."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Sequence
from pathlib import Path

from mmsim.cuda.replacing import replace


def run_script(script: str, arguments: Sequence[str]) -> int:
    """Run a file, or with `-m` a module, as `python` does; return its exit status.

    Raises any exception that the program doesn't catch.
    """
    replace()
    before = sys.argv, sys.path[:]
    try:
        if script == "-m":
            name, *rest = arguments
            sys.argv = [name, *rest]
            sys.path.insert(0, "")
            runpy.run_module(name, run_name="__main__", alter_sys=True)
        else:
            sys.argv = [script, *arguments]
            sys.path.insert(0, str(Path(script).resolve().parent))
            runpy.run_path(script, run_name="__main__")
    except SystemExit as ended:
        return _status(ended.code)
    finally:
        sys.argv, sys.path[:] = before
    return 0


def _status(code: object) -> int:
    """Python's exit status for an argument of `sys.exit`."""
    if code is None:
        return 0
    if isinstance(code, int):
        return code
    print(code, file=sys.stderr)
    return 1
