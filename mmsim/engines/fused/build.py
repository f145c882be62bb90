"""Compiles what `writer` wrote, and keeps it on disk for the next time."""

from __future__ import annotations

import hashlib
import inspect
import linecache
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from mmsim.engines.fused import runtime

Kernel = Callable[..., int]
HEAD = '"""A program of mmsim, written out to be compiled. It may be deleted at any time."""\n'


def cache_directory() -> Path:
    """Where compiled programs are kept: MMSIM_CACHE_DIR, or the user's cache directory."""
    if given := os.environ.get("MMSIM_CACHE_DIR"):
        return Path(given)
    home = Path.home()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local")) / "mmsim"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "mmsim"
    return Path(os.environ.get("XDG_CACHE_HOME", home / ".cache")) / "mmsim"


@cache
def _called() -> str:
    """What a compiled kernel has taken in besides its own text: the functions that it calls."""
    import numba

    from mmsim.engines import counting

    return "\n".join([numba.__version__, inspect.getsource(counting), inspect.getsource(runtime)])


def _file(kernel: str) -> Path:
    """The file of a kernel's text: its name is what it holds."""
    name = hashlib.sha256(f"{_called()} {kernel}".encode()).hexdigest()[:24]
    return cache_directory() / f"program_{name}.py"


def _kept(kernel: str) -> Iterator[Path]:
    """The index of a kernel that has been compiled before, and the files that it lists."""
    file = _file(kernel)
    return (file.parent / "__pycache__").glob(f"{file.stem}.*.nb?")


def is_kept(kernel: str) -> bool:
    """Whether a kernel that has been compiled before is on the disk."""
    return any(file.suffix == ".nbi" for file in _kept(kernel))


def forget(kernel: str) -> None:
    """Take a kernel that can't be read off the disk, if that can be done."""
    with suppress(OSError):
        for file in _kept(kernel):
            file.unlink()


def _namespace() -> dict[str, Any]:
    import numpy as np

    from mmsim.engines.counting import bank_stages, group_stages

    # Numba looks the module up again when it loads what it kept.
    names = {
        "__name__": runtime.__name__,
        "np": np,
        "group_stages": group_stages,
        "bank_stages": bank_stages,
    }
    return names | {name: getattr(runtime, name) for name in runtime.__all__}


def plain(kernel: str) -> Kernel:
    """A kernel that Python runs, for tests. Its numbers are NumPy's, which wrap around."""
    import numpy as np

    kinds: dict[type, Any] = {bool: np.bool_, int: np.int64, float: np.float64}

    def numpy_number(value: Any) -> Any:
        return kinds[type(value)](value) if type(value) in kinds else value

    def wrapping(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *operands: numpy_number(function(*operands))

    namespace = _namespace()
    namespace |= {name: wrapping(getattr(runtime, name)) for name in runtime.__all__}
    exec(compile(kernel, "<a fused program>", "exec"), namespace)
    run: Kernel = namespace["kernel"]
    return lambda *arguments: run(*map(numpy_number, arguments))


def compiled(kernel: str) -> Kernel:
    """A kernel that Numba compiles at its first call, or takes from the disk."""
    return _compiled(kernel, _write(_file(kernel), HEAD + kernel))


def compiled_afresh(kernel: str) -> Kernel:
    """A kernel that Numba compiles at its first call, whatever the disk holds."""
    return _compiled(kernel, False)


def _compiled(kernel: str, keep: bool) -> Kernel:
    import numba

    text = HEAD + kernel
    file = _file(kernel)
    namespace = _namespace()
    if not keep:
        linecache.cache[str(file)] = (len(text), None, text.splitlines(True), str(file))
    exec(compile(text, str(file), "exec"), namespace)
    return numba.njit(nogil=True, cache=keep, error_model="numpy")(namespace["kernel"])


def _write(file: Path, text: str) -> bool:
    """Put the text where Numba keeps what it compiles; False where nothing can be kept.

    The text that runs is always the one just written, never what a file says.
    """
    try:
        if file.exists() and file.read_text(encoding="utf-8") == text:
            return True
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            "w", dir=file.parent, suffix=".tmp", delete=False, encoding="utf-8"
        ) as new:
            new.write(text)
        os.replace(new.name, file)  # two processes may do this at once
        return True
    except OSError:
        return False
