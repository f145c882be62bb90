"""Puts a changed text in the place of a module's; no file is changed."""

from __future__ import annotations

import gc
import inspect
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, FunctionType


def put_in_place(path: Path, text: str, root: Path, fresh: bool) -> None:
    """From now on the module in that file has this text.

    If only functions have changed, those that are there get their new code. What runs when a module
    is loaded takes a `fresh` start: everything of the tree is forgotten, to be loaded again.
    """
    new = _codes(compile(text, str(path), "exec"))
    old = _codes(compile(path.read_text(encoding="utf-8"), str(path), "exec"))
    if not fresh and all(_does(code) == _does(old[name]) for name, code in new.items()):
        try:
            for function in gc.get_objects():
                if isinstance(function, FunctionType):
                    code = function.__code__
                    if code.co_filename == str(path):
                        function.__code__ = new[code.co_qualname]
            return
        except ValueError:  # of a function in a function, with other variables of the outer one
            pass
    forget(root)
    get_code = SourceFileLoader.get_code

    def get(self, name):
        if Path(self.path) == path:
            return compile(text, self.path, "exec", dont_inherit=True)
        return get_code(self, name)

    SourceFileLoader.get_code = get


def _codes(code: CodeType) -> dict[str, CodeType]:
    """A module's code and that of all classes and functions in it, by name."""
    found = {code.co_qualname: code}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found |= _codes(constant)
    return found


def _does(code: CodeType) -> object:
    """The work of a module or a class body by itself, without the functions in it."""
    if code.co_flags & inspect.CO_OPTIMIZED and not code.co_qualname.startswith("<"):
        return "a function"
    constants = [repr(c) for c in code.co_consts if not isinstance(c, CodeType)]
    return code.co_code, code.co_names, constants


def forget(root: Path) -> None:
    """Let everything below `root` be loaded again, but what is installed there, as in `.venv`."""
    for name, module in list(sys.modules.items()):
        file = Path(getattr(module, "__file__", None) or "")
        if file.is_relative_to(root) and not file.is_relative_to(sys.prefix):
            del sys.modules[name]
