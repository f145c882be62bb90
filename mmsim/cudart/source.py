"""The code of a module: CUDA C++ or PTX, as text or in a file."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim.cudart.compilation import to_ptx
from mmsim.cudart.nvrtc import Compiled
from mmsim.errors import LaunchError, UnknownNameError, shown
from mmsim.frontend.late import Late
from mmsim.frontend.ptx.arrays import KINDS
from mmsim.frontend.ptx.cpp import element_type
from mmsim.frontend.ptx.flat import size_of
from mmsim.frontend.ptx.heap import with_heap
from mmsim.frontend.ptx.mangled import plain_name
from mmsim.frontend.ptx.module import Function, Module

IS_PTX = re.compile(r"^\s*\.version\s", re.MULTILINE)


@dataclass(eq=False)
class Source:
    """Code in a file, or as text that messages name as if it lay in `file`.

    Its kernels share `_memory`, the bytes of the module's variables.
    """

    code: str
    file: str
    options: tuple[str, ...]
    expressions: tuple[str, ...] = ()
    _programs: dict[str, Late] = field(default_factory=dict)
    _memory: dict[str, Any] = field(default_factory=dict)

    def __getstate__(self) -> dict[str, Any]:
        """The code alone; another process compiles it again."""
        return {one.name: getattr(self, one.name) for one in fields(self)} | {"_programs": {}}

    @cached_property
    def compiled(self) -> Compiled:
        """The PTX; CUDA C++ is compiled when it is first needed."""
        if is_ptx(self.code):
            return Compiled(self.code, {}, "")
        return to_ptx(self.code, self.file, self.options, self.expressions)

    @cached_property
    def module(self) -> Module:
        """The module that the PTX describes."""
        from mmsim.frontend.ptx.text import read

        found: Module = read(self.compiled.ptx)
        return found

    def kernel(self, name: str) -> Function:
        """The kernel of a name, or of a name expression. Raises `UnknownNameError` without it."""
        functions = self.module.functions
        found = functions.get(self.compiled.names.get(name, name))
        if found is not None and found.is_entry:
            return found
        kernels = [one.name for one in functions.values() if one.is_entry]
        plain = [plain_name(one) for one in kernels]
        has = f"its kernels are {', '.join(plain)}" if kernels else "it has no kernel"
        wrong = f"no kernel {name!r} in {self.file!r}; {has}"
        if name in plain:
            wrong = f"the kernel {name!r} in {self.file!r} has a name of C++"
        raise UnknownNameError(
            f'{wrong}. Declare it extern "C" __global__, or take RawModule(code=..., '
            f"name_expressions=[{name!r}])"
        )

    def variable(self, name: str) -> npt.NDArray[Any]:
        """The memory of a variable of the module, which its kernels share and the host may change.

        Raises `UnknownNameError` without it.
        """
        from mmsim.frontend.ptx.slots import bytes_of

        held = [one for one in self.module.variables.values() if one.space in ("global", "const")]
        wanted = self.compiled.names.get(name, name)
        found = [one for one in held if one.name == wanted]
        found = found or [one for one in held if plain_name(one.name) == name]
        if len(found) != 1:
            names = ", ".join(plain_name(one.name) for one in held)
            has = f"its variables are {names}" if names else "it has no variable"
            raise UnknownNameError(
                f"{len(found) or 'no'} variables {name!r} in {self.file!r}; {has}. The compiler "
                "leaves out static ones that no kernel uses"
            )
        (one,) = found
        memory = bytes_of(one, self._memory)[: size_of(one)]
        type_ = element_type(self.texts().values(), plain_name(one.name))
        if not one.is_array and (type_ is None or type_.itemsize != len(memory)):
            type_ = np.dtype(f"{KINDS[one.type[0]]}{len(memory)}")
        return memory if type_ is None or len(memory) % type_.itemsize else memory.view(type_)

    def program(self, name: str) -> Late:
        """The program of a kernel."""
        entry = self.kernel(name).name
        if entry not in self._programs:
            from mmsim.frontend.ptx.kernel import PtxProgram

            file = self.file if is_ptx(self.code) else f"{self.file}.ptx"
            self._programs[entry] = PtxProgram(
                with_heap(self.module),
                entry,
                text=self.texts(),
                ptx=self.compiled.ptx,
                file=file,
                memory=self._memory,
            )
        return self._programs[entry]

    def texts(self) -> dict[str, str]:
        """The text of each file that the PTX names, as far as it is there."""
        found = {}
        for file in self.module.files.values():
            with suppress(OSError, ValueError):  # of another computer; not a text
                found[file] = Path(file).read_text("utf-8")
        if not is_ptx(self.code):
            found[self.file] = self.code
        return found


def is_ptx(code: str) -> bool:
    """Return whether code is PTX, which begins with its version."""
    return bool(IS_PTX.search(code))


def file_name(code: str, name: str) -> str:
    """The name of a file for code that is in none."""
    return f"{name}.{'ptx' if is_ptx(code) else 'cu'}"


def read(path: object) -> str:
    """The text of a file of CUDA C++ or PTX. Raises `LaunchError` if it can't be read."""
    try:
        return Path(os.fspath(path)).read_text("utf-8")  # type: ignore[call-overload]  # TypeError
    except (OSError, TypeError) as error:
        raise LaunchError(f"the file {shown(path)} can't be read: {error}") from None
    except ValueError:
        raise LaunchError(
            f"{shown(path)} is not a text, as a cubin or a fatbin; give a file of CUDA C++ or of "
            "PTX (nvcc -ptx -lineinfo)"
        ) from None
