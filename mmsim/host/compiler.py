"""Numba's compiler, with a cache of machine code in mmsim's own directory.

Importing this file loads Numba. The cache changes only the speed: every process compiles code again
that can't be kept, or can't be read. Loading machine code executes it, so mmsim loads no file that
another user can have written.
"""

from __future__ import annotations

import hashlib
import inspect
import pickle
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from mmsim.host import cached_files, ownership

# Any, for mypy: Numba's declarations of types differ between versions.
numba: Any = import_module("numba")
NullCache: Any = import_module("numba.core.caching").NullCache
CompileResult: Any = import_module("numba.core.compiler").CompileResult
Dispatcher: Any = import_module("numba.core.dispatcher").Dispatcher
dumps: Any = import_module("numba.core.serialize").dumps

F = TypeVar("F", bound=Callable[..., object])


def enabled() -> bool:
    """Return whether Numba compiles: with NUMBA_DISABLE_JIT=1, it leaves functions unchanged."""
    return not numba.config.DISABLE_JIT


def compiled(function: F, source: str | None = None, **options: Any) -> F:
    """Compile a function with Numba, for its argument types, to run without the global lock.

    `source` is the whole source of the machine code: the function and all that it calls. Default:
    the file of the function.
    """
    dispatcher = numba.njit(nogil=True, **options)(function)
    if source is None:
        with suppress(OSError):  # an installation without its sources
            source = inspect.getsource(sys.modules[function.__module__])
    if source is not None and isinstance(dispatcher, Dispatcher):
        dispatcher._cache = _CodeCache(function, f"{source} {options}")
    return dispatcher  # type: ignore[no-any-return]


def kept(name: str) -> Iterator[Path]:
    """The files of machine code of the Python file `name`.py."""
    directory = _directory()
    if directory is not None:
        with suppress(OSError):
            yield from directory.glob(f"{name}.*.code")


def _directory(make: bool = False) -> Path | None:
    """The directory for this version of Numba; None if the user has no directory."""
    directory = cached_files.cache_directory()
    if directory is None:
        return None
    directory /= f"numba-{numba.__version__}"
    try:
        ownership.check_folder(directory, make)
    except ownership.NotOwnError as error:
        _warn(str(error))
        return None
    except OSError:  # it doesn't exist yet, or can't be made
        return None
    return directory


@cache
def _warn(reason: str) -> None:
    """Warn once that machine code is not loaded, with the reason."""
    directory = cached_files.cache_directory()
    warnings.warn(
        f"mmsim loads no machine code from {directory} and compiles again, which takes "
        f"seconds: {reason}. Whoever can write there could have code executed. Name a folder of "
        "your own in MMSIM_CACHE_DIR, or see to it that only you can write there.",
        RuntimeWarning,
        stacklevel=2,
    )


class _CodeCache(NullCache):  # type: ignore[misc]  # a class of Any
    """The machine code of a function on the disk, a file for each choice of argument types.

    A file holds a pickle and its SHA-256. A damaged file is ignored, and so is a file that another
    user can have written.
    """

    def __init__(self, function: Callable[..., object], source: str) -> None:
        code = function.__code__
        self.name = f"{Path(code.co_filename).stem}.{code.co_name}"
        self.source = f"{source} {code.co_firstlineno} {code.co_code.hex()}"

    def _file(self, types: object, codegen: Any, make: bool = False) -> Path | None:
        directory = _directory(make)
        if directory is None:
            return None
        python = sys.version_info[:2]
        key = repr((types, codegen.magic_tuple(), python, self.source)).encode()
        return directory / f"{self.name}.{hashlib.sha256(key).hexdigest()[:24]}.code"

    def load_overload(self, sig: object, target_context: Any) -> Any:
        """The code for such arguments, None if there is none."""
        target_context.refresh()
        file = self._file(sig, target_context.codegen())
        try:
            body = cached_files.read(file) if file else None
        except ownership.NotOwnError as error:
            _warn(str(error))
            return None
        if body is None:
            return None
        try:
            return CompileResult._rebuild(target_context, *pickle.loads(body))
        except Exception:  # another build of Numba made it, which shows in many ways
            return None

    def save_overload(self, sig: object, data: Any) -> None:
        """Keep the code for such arguments, if possible."""
        file = None
        if not data.library.has_dynamic_globals:
            file = self._file(sig, data.codegen, make=True)
        if file is None:
            return
        cached_files.write(file, dumps(data._reduce()))
