"""Functions on their way to another process, with the parsed code of their program.

A run needs only the code, which is data. The function is needed if another program calls this
one, its example if a trial run needs arguments. Each is packed by value if
cloudpickle is installed, else by its name, and unpacked on first use. An error of unpacking is
reported there.
"""

from __future__ import annotations

import importlib
import linecache
import sys
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

from mmsim.errors import MMSimError

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
        cloudpickle = importlib.import_module("cloudpickle")
        return Packed(what, texts, cloudpickle.dumps(function))
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


def _named(module: str, name: str) -> Callable[..., Any]:
    """The function of that name; for a program its function."""
    if module != "__main__":
        importlib.import_module(module)
    found: Any = reduce(getattr, name.split("."), sys.modules[module])
    function: Callable[..., Any] = getattr(found, "function", found)
    return function
