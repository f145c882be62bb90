"""CuPy's `RawKernel` and `RawModule`, on a memory machine."""

from __future__ import annotations

import re
from collections.abc import Sequence
from os import PathLike
from typing import Any, NoReturn, cast

import numpy.typing as npt

from mmsim.cuda.arguments import on_host
from mmsim.cuda.devices import Device
from mmsim.cuda.launchable import Launchable
from mmsim.cuda.launches import Configuration, Extents, extents_of, launch
from mmsim.cudart.compilation import checked_options
from mmsim.cudart.facts import Facts, facts_of
from mmsim.cudart.source import Source, file_name, read
from mmsim.errors import Brief, CallError, LaunchError, MMSimError, shown
from mmsim.frontend.given import HasProgram
from mmsim.frontend.late import Late
from mmsim.frontend.program import Program
from mmsim.host.guesses import Guessed, advised, instead

MOST_SHARED = 227 * 1024
"""The most bytes of shared memory that a block of compute capability 9.0 may ask for."""


class Code(Guessed):
    """The code of a kernel or of a module, and how it is compiled."""

    backend = "nvrtc"

    def __init__(
        self,
        source: Source,
        enable_cooperative_groups: bool,
        file_path: str | None = None,
    ) -> None:
        self._source = source
        self.enable_cooperative_groups = enable_cooperative_groups
        self.file_path = file_path

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
            log = self._source.compiled.log
            if log_stream is not None and log:
                log_stream.write(log)


@advised()
class RawKernel(Launchable, HasProgram, Code):
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
            "binary_version": "kernel.ptx_version",
            "kernel function": "kernel(grid, block, args)",
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
        if re.fullmatch(r"\S+\.(cu|cuh|ptx)", code):
            raise CallError(
                f"code is the name of a file, {code!r}; write RawModule(path={code!r})"
                f".get_function({name!r})"
            )
        file = re.sub(r"[^A-Za-z0-9_]+", "_", name)
        source = Source(code, file_name(code, file), checked_options(options))
        self._begin(source, name, enable_cooperative_groups)

    def _begin(
        self, source: Source, name: str, cooperative: bool, file_path: str | None = None
    ) -> None:
        super().__init__(source, cooperative, file_path)
        self.name = self.__name__ = name
        self._most_shared = Device.MAX_SHARED_MEMORY_PER_BLOCK

    @classmethod
    def _of(cls, module: Code, name: str) -> RawKernel:
        """A kernel of a module."""
        kernel = cls.__new__(cls)
        kernel._begin(module._source, name, module.enable_cooperative_groups, module.file_path)
        return kernel

    def __getitem__(self, configuration: object) -> NoReturn:
        raise CallError(
            f"the kernel {self.name!r} is launched as {self.name}(grid, block, args), with a tuple "
            "of arguments"
        )

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_launched": None}

    def __repr__(self) -> str:
        return f"<kernel {self.name}>"

    @property
    def ptx(self) -> str:
        """The code as PTX."""
        with Brief():
            return self._source.compiled.ptx

    def compile(self, log_stream: Any = None) -> None:
        """Compile the code now; write what the compiler reports to `log_stream`."""
        with Brief():
            super().compile(log_stream)
            self._source.kernel(self.name)

    @property
    def program(self) -> Program:
        """The program that machines run."""
        with Brief():
            return cast(Program, self._source.program(self.name))

    @property
    def attributes(self) -> dict[str, int]:
        """The facts of the kernel, which are also attributes of their own, by their names."""
        return {
            name: getattr(self, name)
            for name in (
                *("max_threads_per_block", "shared_size_bytes", "const_size_bytes"),
                *("local_size_bytes", "ptx_version", "max_dynamic_shared_size_bytes"),
            )
        }

    @property
    def _facts(self) -> Facts:
        with Brief():
            return facts_of(self._source.module, self._source.kernel(self.name))

    @property
    def max_threads_per_block(self) -> int:
        """The most threads of a block: the kernel's launch bounds, or the device's limit."""
        return self._facts.most_threads or Device.MAX_THREADS_PER_BLOCK

    @property
    def shared_size_bytes(self) -> int:
        """The bytes of shared memory that the kernel declares with a size."""
        return self._facts.shared_bytes

    @property
    def const_size_bytes(self) -> int:
        """The bytes of the module's `__constant__` variables."""
        return self._facts.constant_bytes

    @property
    def local_size_bytes(self) -> int:
        """The bytes of a thread's own arrays."""
        return self._facts.local_bytes

    @property
    def ptx_version(self) -> int:
        """The compute capability that the PTX is for: 90 is 9.0."""
        with Brief():
            return int(re.sub(r"\D", "", self._source.module.target))

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

    @advised("kernel((blocks,), (threads,), (a, b, n))")
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


@advised()
class RawModule(Code):
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
        file_path = None if path is None else str(path)
        if path is not None:
            code = read(path)
        _check_text("code", code)
        file = file_name(cast(str, code), "module") if path is None else str(path)
        expressions = checked_options(name_expressions or (), "name_expressions")
        source = Source(cast(str, code), file, checked_options(options), expressions)
        super().__init__(source, enable_cooperative_groups, file_path)
        self.name_expressions = expressions or None

    def get_function(self, name: str) -> RawKernel:
        """The kernel with a name, or with one of the `name_expressions`."""
        _check_text("name", name)
        return RawKernel._of(self, name)

    def get_global(self, name: str) -> npt.NDArray[Any]:
        """The memory of a `__device__` or `__constant__` variable, which the host may change.

        It is an array of one dimension, whose elements have the type of the declaration. They are
        bytes if this is not a plain number, as for structs, or if only PTX is known.
        `numpy.ndarray(shape, dtype, module.get_global(name))` gives it another type, as
        `cupy.ndarray` does.

        Examples
        --------
        >>> import numpy as np, mmsim as mm
        >>> module = mm.RawModule(code='''
        ... __constant__ float factors[2] = {2, 3};
        ... extern "C" __global__ void scale(float* a) { a[threadIdx.x] *= factors[threadIdx.x]; }
        ... ''')
        >>> module.get_global("factors")[1] = 5
        >>> a = np.ones(2, np.float32)
        >>> module.get_function("scale")(1, 2, (a,))
        >>> a
        array([2., 5.], dtype=float32)
        """
        _check_text("name", name)
        with Brief():
            return self._source.variable(name)


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
