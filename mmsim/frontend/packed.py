"""Functions on their way to another process, with the parsed code of their program.

A run needs only the code, which is data. The function is needed if another program calls this
one, its example if a trial run needs arguments. Each is packed by value if
cloudpickle is installed, else by its name, and unpacked on first use. An error of unpacking is
reported there.
"""

from __future__ import annotations

import importlib
import io
import linecache
import sys
from collections import ChainMap
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from types import CodeType
from typing import Any

from mmsim.errors import MMSimError

DROPPED = "<dynamic-code>"
"""The text that cloudpickle writes in the place of a file's name."""
_packing: ContextVar[bool] = ContextVar("packing", default=False)


@dataclass(frozen=True)
class Packed:
    """A function of a program: by value (`content`), or `name` in `module`, or the reason why not.

    `texts` are texts that no file keeps, such as those of notebook cells, by their names.
    """

    what: str
    texts: dict[str, str]
    content: bytes | None = None
    module: str = ""
    name: str = ""
    reason: str = ""

    def unpacked(self) -> Callable[..., Any]:
        """The function, or an `MMSimError` with the reason for its absence."""
        reason = self.reason
        for name, text in self.texts.items():
            if not linecache.getlines(name):
                linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        try:
            if self.content is not None:
                found: Callable[..., Any] = importlib.import_module("cloudpickle").loads(
                    self.content
                )
                return found
            if self.name:
                return _named(self.module, self.name)
        except Exception as error:  # loading runs the objects' own code
            reason = f"{type(error).__name__}: {error}"
        raise MMSimError(
            f"{self.what} was not sent along from another process ({reason}); define it at the top "
            "level of a module that both processes import, or install cloudpickle in both"
        )


def packed(
    what: str, function: Callable[..., Any], files: Iterable[str]
) -> Packed | Callable[..., Any]:
    """A function ready for pickling. It stays unchanged inside one that is packed by value.

    `files` are the names of the texts of its program.
    """
    if _packing.get():
        return function
    texts = {name: "".join(linecache.getlines(name)) for name in files if not Path(name).exists()}
    reason = "cloudpickle is not installed"
    token = _packing.set(True)
    try:
        return Packed(what, texts, _by_value(function))
    except ImportError:
        pass
    except Exception as error:  # pickling runs the objects' own code
        reason = f"{type(error).__name__}: {error}"
    finally:
        _packing.reset(token)
    module, name = function.__module__ or "", function.__qualname__
    try:
        by_name = _named(module, name) is function
    except (KeyError, AttributeError):
        by_name = False
    if by_name:
        return Packed(what, texts, None, module, name)
    return Packed(what, texts, reason=reason)


def _by_value(function: Callable[..., Any]) -> bytes:
    """A function as cloudpickle packs it, but each code with the name of its file.

    cloudpickle drops this name from 3.1.3 on. It leads to the text of a function.
    """
    pickler: Any = importlib.import_module("cloudpickle").Pickler
    reduced = pickler.dispatch_table[CodeType]

    def with_file(code: CodeType) -> tuple[Any, ...]:
        made, parts = reduced(code)
        return made, tuple(code.co_filename if part == DROPPED else part for part in parts)

    table = {"dispatch_table": ChainMap({CodeType: with_file}, pickler.dispatch_table)}
    content = io.BytesIO()
    type("Pickler", (pickler,), table)(content).dump(function)
    return content.getvalue()


def _named(module: str, name: str) -> Callable[..., Any]:
    """The function of that name; for a program its function."""
    if module != "__main__":
        importlib.import_module(module)
    found: Any = reduce(getattr, name.split("."), sys.modules[module])
    function: Callable[..., Any] = getattr(found, "function", found)
    return function
