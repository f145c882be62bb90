"""CuPy's `RawKernel` and `RawModule`, on a memory machine."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from os import PathLike
from typing import Any, cast

from mmsim.cuda.arguments import on_host
from mmsim.cuda.devices import Device
from mmsim.cuda.launchable import Launchable
from mmsim.cuda.launches import Configuration, Extents, extents_of, launch
from mmsim.cudart.compilation import checked_options
from mmsim.cudart.source import Source, file_name, read
from mmsim.errors import Brief, CallError, LaunchError, MMSimError, shown
from mmsim.frontend.given import HasProgram
from mmsim.frontend.late import Late
from mmsim.frontend.program import Program
from mmsim.host.guesses import Guessed, instead

MOST_SHARED = 227 * 1024
"""The most bytes of shared memory that a block of compute capability 9.0 may ask for."""


class RawKernel(Launchable, HasProgram, Guessed):
    """A kernel of CUDA C++ or PTX, with CuPy's way to launch it: `kernel(grid, block, args)`.

    A machine runs it too: `machine.run(kernel, *args, grid=, block=)`. The code is compiled when it
    is first needed. CUDA C++ needs NVIDIA's compiler, of the extra `cuda-c`; PTX needs none.

    Parameters
    ----------
    code
        CUDA C++, or PTX as a compiler writes it (`nvcc -ptx -lineinfo`).
    name
        The name of the kernel in the code, declared `extern "C" __global__`.
    options
        Options of the compiler, such as `("-std=c++17", "-DN=32")`.
    backend
        "nvrtc".

    Examples
    --------
    >>> import numpy as np, mmsim as mm
    >>> kernel = mm.RawKernel(r'''
    ... extern "C" __global__ void twice(float* a) { a[threadIdx.x] *= 2; }
    ... ''', "twice")
    >>> kernel
    <kernel twice>
    """

    _launch_text = "{name}(grid, block, args)"
    _instead = instead(
        {
            "run launch": "kernel(grid, block, args), then kernel.last",
            "time cycles": "kernel.last.time",
            "stats report": "kernel.last, or kernel.profile()",
            "num_regs": "kernel.last.registers",
        }
    )

    def __init__(
        self,
        code: str,
        name: str,
        options: Sequence[str] = (),
        backend: str = "nvrtc",
        *,
        translate_cucomplex: bool = False,
        enable_cooperative_groups: bool = False,
        jitify: bool = False,
    ) -> None:
        _refuse(backend, translate_cucomplex, jitify)
        _check_text("code", code)
        _check_text("name", name)
        file = re.sub(r"[^A-Za-z0-9_]+", "_", name)
        self._begin(Source(code, file_name(code, file), checked_options(options)), name)
        self.enable_cooperative_groups = enable_cooperative_groups

    def _begin(self, source: Source, name: str) -> None:
        self._source = source
        self.name = self.__name__ = name
        self._most_shared = Device.MAX_SHARED_MEMORY_PER_BLOCK

    @classmethod
    def _of(cls, source: Source, name: str, enable_cooperative_groups: bool) -> RawKernel:
        """A kernel of a module."""
        kernel = cls.__new__(cls)
        kernel._begin(source, name)
        kernel.enable_cooperative_groups = enable_cooperative_groups
        return kernel

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_launched": None}

    def __repr__(self) -> str:
        return f"<kernel {self.name}>"

    @property
    def code(self) -> str:
        """The code, as it was given."""
        return self._source.code

    @property
    def options(self) -> tuple[str, ...]:
        """The options of the compiler."""
        return self._source.options

    backend = "nvrtc"

    @property
    def ptx(self) -> str:
        """The code as PTX."""
        with Brief():
            return self._source.compiled.ptx

    def compile(self, log_stream: Any = None) -> None:
        """Compile the code now; write what the compiler reports to `log_stream`."""
        with Brief():
            _compile(self._source, log_stream)
            self._source.kernel(self.name)

    @property
    def program(self) -> Program:
        """The program that machines run."""
        with Brief():
            return cast(Program, self._source.program(self.name))

    @property
    def max_threads_per_block(self) -> int:
        """The most threads of a block: the kernel's launch bounds, or the device's limit."""
        with Brief():
            bounds = self._source.kernel(self.name).limits.get("maxntid")
        return Device.MAX_THREADS_PER_BLOCK if bounds is None else math.prod(bounds)

    @property
    def max_dynamic_shared_size_bytes(self) -> int:
        """The most bytes of dynamic shared memory; set it to allow more than 48 KiB."""
        return self._most_shared

    @max_dynamic_shared_size_bytes.setter
    def max_dynamic_shared_size_bytes(self, most: int) -> None:
        if not isinstance(most, int) or not 0 <= most <= MOST_SHARED:
            raise LaunchError(
                f"max_dynamic_shared_size_bytes is from 0 to {MOST_SHARED}, not {shown(most)}"
            )
        self._most_shared = most

    def __call__(self, grid: Any, block: Any, args: Any, *, shared_mem: int = 0) -> None:
        """Launch the kernel on the machine of `mmsim.cuda`; arrays have its writes afterwards.

        Parameters
        ----------
        grid, block
            Blocks of the grid and threads of a block, as up to three numbers along x, y and z.
        args
            A tuple of the kernel's arguments. An array of NumPy, or of `mmsim.cuda`, is a pointer
            to its first element.
        shared_mem
            Bytes of dynamic shared memory.
        """
        with Brief():
            if not isinstance(args, tuple | list):
                raise CallError(
                    f"the arguments of the kernel {self.name!r} are a tuple, as (a, b, 3), not "
                    f"{shown(args)}"
                )
            asked = Configuration(
                _extents(self.name, "grid", grid),
                _extents(self.name, "block", block),
                shared_mem,
                self.max_threads_per_block,
                self._most_shared,
            )
            program = cast(Late, self.program)
            self._launched = launch(program, tuple(map(on_host, args)), asked)


class RawModule(Guessed):
    """Code of CUDA C++ or PTX with several kernels, as CuPy's.

    Parameters
    ----------
    code
        CUDA C++ or PTX.
    path
        A file of CUDA C++ or PTX, instead of `code`.
    options
        Options of the compiler.
    name_expressions
        Kernels that are instances of templates, or that have C++ names: `["scale<float>"]`.

    Examples
    --------
    >>> import mmsim as mm
    >>> module = mm.RawModule(code=r'''
    ... template <typename T> __global__ void scale(T* a, T by) { a[threadIdx.x] *= by; }
    ... ''', name_expressions=["scale<float>", "scale<double>"])
    >>> module.get_function("scale<float>")
    <kernel scale<float>>
    """

    _instead = instead({"kernel function get_kernel": "module.get_function(name)"})

    def __init__(
        self,
        code: str | None = None,
        *,
        path: str | PathLike[str] | None = None,
        options: Sequence[str] = (),
        backend: str = "nvrtc",
        translate_cucomplex: bool = False,
        enable_cooperative_groups: bool = False,
        name_expressions: Sequence[str] | None = None,
        jitify: bool = False,
    ) -> None:
        _refuse(backend, translate_cucomplex, jitify)
        if (code is None) == (path is None):
            raise CallError("a RawModule is made of either code= or path=")
        self.file_path = None if path is None else str(path)
        if path is not None:
            code = read(path)
        _check_text("code", code)
        file = file_name(cast(str, code), "module") if path is None else str(path)
        expressions = checked_options(name_expressions or ())
        self._source = Source(cast(str, code), file, checked_options(options), expressions)
        self.name_expressions = expressions or None
        self.enable_cooperative_groups = enable_cooperative_groups

    backend = "nvrtc"

    @property
    def code(self) -> str:
        """The code, as it was given."""
        return self._source.code

    @property
    def options(self) -> tuple[str, ...]:
        """The options of the compiler."""
        return self._source.options

    def compile(self, log_stream: Any = None) -> None:
        """Compile the code now; write what the compiler reports to `log_stream`."""
        with Brief():
            _compile(self._source, log_stream)

    def get_function(self, name: str) -> RawKernel:
        """The kernel with a name, or with one of the `name_expressions`."""
        _check_text("name", name)
        return RawKernel._of(self._source, name, self.enable_cooperative_groups)

    def get_global(self, name: str) -> Any:
        """Refused: a launch begins with the values that the code gives to its variables."""
        raise MMSimError(
            f"the host can't reach the variable {shown(name)} of a module: each launch begins with "
            "the values in the code; give the kernel an array as an argument instead"
        )


def _compile(source: Source, log_stream: Any) -> None:
    log = source.compiled.log
    if log_stream is not None and log:
        log_stream.write(log)


def _refuse(backend: str, translate_cucomplex: bool, jitify: bool) -> None:
    """Refuse the options of CuPy that need another compiler than NVRTC."""
    if backend != "nvrtc":
        raise MMSimError(f"backend={shown(backend)} is not supported; leave it out, for NVRTC")
    for name, on in (("translate_cucomplex", translate_cucomplex), ("jitify", jitify)):
        if on:
            raise MMSimError(f"{name}=True is not supported; leave it out")


def _check_text(what: str, given: object) -> None:
    if not isinstance(given, str):
        raise CallError(f"{what} is a text, not {shown(given)}")


def _extents(name: str, what: str, given: Any) -> Extents:
    try:
        return extents_of(what, given)
    except (TypeError, ValueError) as error:
        raise LaunchError(f"kernel {name!r}: {error}") from None
