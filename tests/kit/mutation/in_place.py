"""Puts a changed text in the place of a module's; no file is changed."""

from __future__ import annotations

import functools
import gc
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

Place = tuple[str, int, str]
"""A function's file, its first line, its name."""


class Loaded:
    """The functions of a tree that are loaded, and what they keep of earlier calls."""

    def __init__(self, root: Path) -> None:
        self.functions: dict[Place, list[FunctionType]] = defaultdict(list)
        self.caches: list[Any] = []
        gc.unfreeze()
        for one in gc.get_objects():
            if isinstance(one, FunctionType) and one.__code__.co_filename.startswith(str(root)):
                self.functions[place(one.__code__)].append(one)
            elif isinstance(one, functools._lru_cache_wrapper) and of_mmsim(one):
                self.caches.append(one)
        gc.freeze()

    def put_in_place(self, path: Path, before: str, after: str) -> bool:
        """Give the functions that differ the code that they have in another text of their module.

        False if more than functions differ: the module must be loaded again then.
        """
        old, new = (compile(text, str(path), "exec", dont_inherit=True) for text in (before, after))
        pairs = list(differing(old, new))
        if any(not was.co_flags & 1 for was, _ in pairs):  # not optimized: a module or a class
            return False
        for cache in self.caches:
            cache.cache_clear()
        try:
            for was, now in pairs:
                for function in self.functions[place(was)]:
                    if function.__code__ == was:
                        function.__code__ = now
        except ValueError:  # of a function in a function, with other variables of the outer one
            return False
        return True


def of_mmsim(function: Any) -> bool:
    return str(function.__module__).startswith("mmsim")


def place(code: CodeType) -> Place:
    return code.co_filename, code.co_firstlineno, code.co_qualname


def differing(old: CodeType, new: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """The code that differs, before and after, of modules, classes and functions.

    A module or class counts only if it differs without the functions in it.

    >>> text = "x = 1\\ndef f():\\n    return lambda: 2\\n"
    >>> codes = (compile(one, "", "exec") for one in (text, text.replace("2", "3")))
    >>> [was.co_qualname for was, now in differing(*codes)]
    ['f', 'f.<locals>.<lambda>']
    """
    inner = [[one for one in code.co_consts if isinstance(one, CodeType)] for code in (old, new)]
    within_function = bool(old.co_flags & 1)
    if (
        _does(old) != _does(new)
        or len(inner[0]) != len(inner[1])
        or (within_function and old != new)
    ):
        yield old, new
    for was, now in zip(*inner, strict=False):
        if was != now:
            yield from differing(was, now)


def _does(code: CodeType) -> object:
    """The work of a code by itself, without the functions in it."""
    constants = [repr(one) for one in code.co_consts if not isinstance(one, CodeType)]
    return code.co_code, code.co_names, constants


def load_instead(texts: Mapping[Path, str], root: Path) -> None:
    """Load everything of the tree again when it is next imported, these files with these texts."""
    forget(root)
    instead = {str(path): text for path, text in texts.items()}
    get_code = SourceFileLoader.get_code

    def get(self: SourceFileLoader, name: str) -> CodeType | None:
        text = instead.get(self.path)
        if text is None:
            return get_code(self, name)
        return compile(text, self.path, "exec", dont_inherit=True)

    SourceFileLoader.get_code = get  # type: ignore[method-assign]


def forget(root: Path) -> None:
    """Let everything below `root` be loaded again, but what is installed there, as in `.venv`."""
    for name, module in list(sys.modules.items()):
        file = Path(getattr(module, "__file__", None) or "")
        if file.is_relative_to(root) and not file.is_relative_to(sys.prefix):
            del sys.modules[name]
