"""`cuda.jit`: a kernel from a Python function, with Numba's way to launch it."""

from __future__ import annotations

import functools
import inspect
import types as python
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, overload

from numba.core.typing.templates import Signature, signature

from mmsim.api.machines import Machine
from mmsim.api.result import Run
from mmsim.cuda import in_python, machines, stepping
from mmsim.cuda.arguments import converted, memory_of, of_argument, on_host, seen_as
from mmsim.cuda.kernels import Kernel, check_carveout
from mmsim.cuda.launches import (
    Configuration,
    Extents,
    Launched,
    extents_of,
    launch,
    launch_in_python,
)
from mmsim.cuda.source_text import defined
from mmsim.cuda.types import (
    Type,
    Types,
    TypingError,
    as_signature,
    best,
    listed,
    none,
    reinterpreted,
    signatures_of,
)
from mmsim.errors import Brief, CallError, MMSimError, shown
from mmsim.frontend.numba.kernel import NumbaProgram, numba_program
from mmsim.frontend.numba.options import Options
from mmsim.frontend.packed import Packed, packed
from mmsim.host.guesses import Guessed, instead
from mmsim.results import Profile

if TYPE_CHECKING:
    from mmsim.view.player import Player

DEFAULT_BLOCK = 256
"""The default number of threads in a block of `forall`."""

UNCONFIGURED = """
Kernel launch configuration was not specified. Use the syntax:

kernel_function[blockspergrid, threadsperblock](arg0, arg1, ..., argn)

See https://numba.readthedocs.io/en/stable/cuda/kernels.html#kernel-invocation for help.

"""


class Dispatcher(Guessed):
    """A kernel, or a device function, made by `cuda.jit`.

    `kernel[grid, block, stream, shared_bytes](*args)` launches it. Each set of argument types has
    its own `Kernel` in `overloads`.
    """

    _instead = instead(
        {
            "run launch": "kernel[grid, block](...), then kernel.last",
            "time cycles": "kernel.last.time",
            "stats report runs": "kernel.last, or kernel.profile()",
        }
    )

    def __init__(self, py_func: Callable[..., Any], targetoptions: dict[str, Any]) -> None:
        functools.update_wrapper(self, py_func)
        self.py_func = py_func
        self.targetoptions = targetoptions
        self.overloads: dict[Types, Kernel] = {}
        self.specialized = False
        self.specializations: dict[Types, Dispatcher] = {}
        self._launched: Launched | None = None
        self._can_compile = True
        self._parsed: NumbaProgram | None = None

    @property
    def program(self) -> NumbaProgram:
        """The front end's program of the function, made when it is first needed."""
        if self._parsed is None:
            debug = bool(self.targetoptions.get("debug"))
            options = Options(debug=debug, memory_of=memory_of)
            self._parsed = numba_program(self.py_func, device=self.is_device, options=options)
        return self._parsed

    @property
    def is_device(self) -> bool:
        """Return whether it is a device function: kernels call it, and the host can't launch it."""
        return bool(self.targetoptions.get("device"))

    @property
    def extensions(self) -> list[Any]:
        """Objects with `prepare_args(type, value, stream, retr)`, which changes arguments first."""
        found: list[Any] = self.targetoptions.setdefault("extensions", [])
        return found

    def __repr__(self) -> str:
        return f"<{'device function' if self.is_device else 'kernel'} {self.__name__}>"

    __name__: str

    def __get__(self, obj: Any, objtype: Any = None) -> Any:
        return self if obj is None else python.MethodType(self, obj)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if in_python.current() is not None:
            return self.py_func(*args, **kwargs)
        raise ValueError(UNCONFIGURED)

    def __getitem__(self, configuration: Any) -> Configured:
        if not isinstance(configuration, tuple) or len(configuration) not in (2, 3, 4):
            raise ValueError("must specify at least the griddim and blockdim")
        return self.configure(*configuration)

    def configure(
        self, griddim: Any, blockdim: Any, stream: Any = 0, sharedmem: int = 0
    ) -> Configured:
        """Return this kernel with its launch: `kernel[griddim, blockdim, stream, sharedmem]`."""
        if griddim is None or blockdim is None:
            raise ValueError(UNCONFIGURED)
        grid, block = extents_of("griddim", griddim), extents_of("blockdim", blockdim)
        return Configured(self, grid, block, stream, sharedmem)

    def forall(self, ntasks: int, tpb: int = 0, stream: Any = 0, sharedmem: int = 0) -> ForAll:
        """Return this kernel for `ntasks` tasks, with as many blocks of `tpb` threads as necessary.

        Each thread takes task `cuda.grid(1)` if that is less than `ntasks`.
        """
        return ForAll(self, ntasks, tpb, stream, sharedmem)

    def call(self, args: tuple[Any, ...], launch_config: Configured) -> None:
        """Launch it with these arguments."""
        with Brief():
            self._call(args, launch_config)

    def _call(self, args: tuple[Any, ...], configured: Configured) -> None:
        if self.is_device:
            raise MMSimError(
                f"{self.__name__!r} is a device function, which a kernel calls; launch a kernel"
            )
        expected = inspect.signature(self.py_func)
        try:
            expected.bind(*args)
        except TypeError as error:
            raise CallError(f"the kernel {self.__name__}{expected}: {error}") from None
        afterwards: list[Callable[[], Any]] = []
        args = tuple(on_host(self._extended(arg, configured.stream, afterwards)) for arg in args)
        kernel, args = self._chosen(args)
        for callback in configured.pre_launch_callbacks:
            callback(kernel, configured)
        sizes = configured.griddim, configured.blockdim, configured.sharedmem
        asked = Configuration(*sizes, kernel.max_threads_per_block)
        if in_python.is_asked_for():
            launch_in_python(self.py_func, args, asked)
        else:
            kernel.last = self._launched = launch(self.program, args, asked)
        for action in afterwards:
            action()

    def _extended(self, value: Any, stream: Any, afterwards: list[Callable[[], Any]]) -> Any:
        """An argument after all extensions; the last extension comes first."""
        if not self.extensions:
            return value
        type_: Any = of_argument(value)
        for extension in reversed(self.extensions):
            type_, value = extension.prepare_args(type_, value, stream=stream, retr=afterwards)
        return value

    def _chosen(self, args: tuple[Any, ...]) -> tuple[Kernel, tuple[Any, ...]]:
        """The overload for arguments, and the arguments converted to its types."""
        given = tuple(map(of_argument, args))
        if given in self.overloads:
            return self.overloads[given], args
        if self._can_compile:
            return self.compile(given), args
        found = best(given, list(self.overloads))
        if found is not None:
            return self.overloads[found], tuple(map(converted, args, found))
        if self.specialized and (found := reinterpreted(given, next(iter(self.overloads)))):
            pairs = zip(args, found, strict=True)
            return self.overloads[found], tuple(seen_as(*pair) for pair in pairs)
        raise TypingError(
            f"No matching definition for argument type(s) {', '.join(map(str, given))} of kernel "
            f"{self.__name__!r}, which takes {'; '.join(map(listed, self.overloads))}"
        )

    def compile(self, sig: Any) -> Kernel:
        """Return the overload for such argument types; make it if necessary."""
        wanted = as_signature(sig)
        if wanted.args in self.overloads:
            return self.overloads[wanted.args]
        if not self._can_compile:
            raise RuntimeError("Compilation disabled")
        expected = len(inspect.signature(self.py_func).parameters)
        if len(wanted.args) != expected:
            raise TypingError(
                f"the signature {listed(wanted.args)} has {len(wanted.args)} arguments, but "
                f"{self.__name__!r} takes {expected}"
            )
        kernel = Kernel(self, signature(none, *wanted.args))
        self.overloads[wanted.args] = kernel
        return kernel

    def compile_device(self, args: Any, return_type: Any = None) -> Kernel:
        """Return the overload of a device function for such argument types."""
        return self.compile(tuple(args))

    def disable_compile(self, val: bool = True) -> None:
        """Accept no argument types except for the known ones."""
        self._can_compile = not val

    @property
    def signatures(self) -> list[Types]:
        """The argument types of the overloads."""
        return list(self.overloads)

    nopython_signatures = signatures

    def specialize(self, *args: Any) -> Dispatcher:
        """Return this kernel for such arguments, or arguments of such types, only."""
        if self.specialized:
            raise RuntimeError("Dispatcher already specialized")
        given = tuple(arg if isinstance(arg, Type) else of_argument(arg) for arg in args)
        found = self.specializations.get(given)
        if found is None:
            found = Dispatcher(self.py_func, self.targetoptions)
            found._parsed = self._parsed
            found.compile(given)
            found.disable_compile()
            found.specialized = True
            self.specializations[given] = found
        return found

    @property
    def last(self) -> Run | None:
        """The last launch; None before the first."""
        return None if self._launched is None else self._launched.run

    def profile(self) -> Profile:
        """Return the kernel's source, line by line, with each line's cost in the last launch."""
        return self._last_launch().run.profile()

    def verdict(self) -> str:
        """Return a paragraph about the last launch: conflicts, findings, and what was not checked.

        Launches are checked under `mmsim cuda --check` and `pytest --cuda-check`.
        """
        from mmsim.cuda.report import verdict  # loads what draws tables

        return verdict(self._last_launch())

    def _last_launch(self) -> Launched:
        if self._launched is None:
            name = self.__name__
            if in_python.is_asked_for():
                raise MMSimError(
                    f"the launches of {name!r} have no costs, as {in_python.VARIABLE} is set: they "
                    "call the Python function"
                )
            raise MMSimError(
                f"kernel {name!r} hasn't been launched yet; launch it as {name}[grid, block](...)"
            )
        return self._launched

    def player(
        self,
        *,
        machine: Machine | None = None,
        start: int = 0,
        end: int | None = None,
        preset: str | None = None,
    ) -> Player:
        """Return a page to step through the last launch in a browser or a notebook.

        The launch runs again, with the same arguments, unless `cuda.trace` recorded it.

        Parameters
        ----------
        machine
            Default: the machine of `cuda.machine`. If none was chosen, a small machine with the
            same warps and banks, as the default machine's latencies are too long.
        start, end, preset
            The first and the last time unit to show (default: all), and with which moments to
            begin, as for `Run.player`.

        Raises
        ------
        MMSimError
            Before the first launch, and after one with more than 256 KiB of arrays, which
            `cuda.trace` can record.

        Examples
        --------
        >>> import numpy as np
        >>> from mmsim import cuda
        >>> @cuda.jit
        ... def twice(a):
        ...     a[cuda.grid(1)] *= 2
        >>> twice[2, 32](np.ones(64, np.float32))
        >>> twice.player()
        <player of twice, time units 0 to 11>
        """
        return stepping.player(self.__name__, self._last_launch(), machine, start, end, preset)

    def _of_overloads(self, name: str, signature: Any) -> Any:
        """A number of one overload, or the numbers of all."""
        if signature is not None:
            return getattr(self.overloads[as_signature(signature).args], name)
        if self.specialized:
            return getattr(next(iter(self.overloads.values())), name)
        return {types: getattr(one, name) for types, one in self.overloads.items()}

    def get_regs_per_thread(self, signature: Any = None) -> Any:
        """The registers of a thread (`Run.registers`), by argument types."""
        return self._of_overloads("regs_per_thread", signature)

    def get_const_mem_size(self, signature: Any = None) -> Any:
        """The bytes of constant memory, by argument types."""
        return self._of_overloads("const_mem_size", signature)

    def get_shared_mem_per_block(self, signature: Any = None) -> Any:
        """The bytes of shared memory of a block, by argument types."""
        return self._of_overloads("shared_mem_per_block", signature)

    def get_max_threads_per_block(self, signature: Any = None) -> Any:
        """The most threads of a block, by argument types."""
        return self._of_overloads("max_threads_per_block", signature)

    def get_local_mem_per_thread(self, signature: Any = None) -> Any:
        """The bytes of local memory of a thread, by argument types."""
        return self._of_overloads("local_mem_per_thread", signature)

    def inspect_types(self, file: Any = None) -> None:
        """Print the source of the kernel, with the argument types of each overload."""
        for kernel in self.overloads.values():
            kernel.inspect_types(file)

    def _no_machine_code(self, *args: Any, **kwargs: Any) -> Any:
        """Refuse, as mmsim makes no machine code."""
        raise MMSimError(
            f"mmsim makes no machine code of {self.__name__!r}: it runs the Python; "
            f"{self.__name__}.profile() shows what each line costs"
        )

    inspect_llvm = inspect_asm = inspect_lto_ptx = inspect_sass = inspect_sass_cfg = (
        _no_machine_code
    )

    def __getstate__(self) -> dict[str, Any]:
        files = {self.py_func.__code__.co_filename}
        function = packed(f"the kernel {self.__name__!r}", self.py_func, files)
        types = list(self.overloads)
        state = {"types": types, "can_compile": self._can_compile, "specialized": self.specialized}
        return {**state, "function": function, "options": self.targetoptions}

    def __setstate__(self, state: dict[str, Any]) -> None:
        function = state["function"]
        if isinstance(function, Packed):
            function = function.unpacked()
        Dispatcher.__init__(self, getattr(function, "py_func", function), state["options"])
        for types in state["types"]:
            self.compile(types)
        self._can_compile = state["can_compile"]
        self.specialized = state["specialized"]


CUDADispatcher = Dispatcher
"""Numba's name of the class."""


@dataclass(eq=False)
class Configured:
    """A kernel with its grid, block, stream and dynamic shared memory. A call launches it.

    Before each launch, it calls `pre_launch_callbacks` with the `Kernel` and itself.
    """

    dispatcher: Dispatcher
    griddim: Extents
    blockdim: Extents
    stream: Any
    sharedmem: int
    pre_launch_callbacks: list[Callable[[Kernel, Configured], Any]] = field(default_factory=list)

    def __call__(self, *args: Any) -> None:
        self.dispatcher.call(args, self)


@dataclass(eq=False)
class ForAll:
    """A kernel with a number of tasks. A call launches it."""

    dispatcher: Dispatcher
    ntasks: int
    thread_per_block: int
    stream: Any
    sharedmem: int

    def __post_init__(self) -> None:
        if self.ntasks < 0:
            raise ValueError(f"Can't create ForAll with negative task count: {self.ntasks}")

    def __call__(self, *args: Any) -> None:
        if self.ntasks == 0:
            return
        block = self.thread_per_block or max(DEFAULT_BLOCK, machines.current().width)
        grid = -(-self.ntasks // block)
        self.dispatcher[grid, block, self.stream, self.sharedmem](*args)


@overload
def jit(func_or_sig: Callable[..., Any], **options: Any) -> Dispatcher: ...


@overload
def jit(func_or_sig: Any = None, **options: Any) -> Callable[[Callable[..., Any]], Dispatcher]: ...


def jit(
    func_or_sig: Any = None,
    device: bool = False,
    inline: Any = "never",
    forceinline: bool = False,
    link: Any = (),
    debug: bool | None = None,
    opt: bool | None = None,
    lineinfo: bool = False,
    cache: bool = False,
    launch_bounds: Any = None,
    lto: bool | None = None,
    shared_memory_carveout: Any = None,
    fastmath: bool = False,
    max_registers: int | None = None,
    extensions: Any = None,
    **others: Any,
) -> Any:
    """Decorate a kernel or, with `device=True`, a function that kernels call.

    Numba's other options, such as `fastmath` and `max_registers`, are accepted without effect: a
    kernel computes what its Python says.

    Parameters
    ----------
    func_or_sig
        The function; or one or more signatures, whose types arguments are converted to.
    device
        Whether it is a device function.
    launch_bounds
        The most threads of a block, or a tuple whose first item is this number.
    link
        Refused, as mmsim can't run foreign code.
    debug
        Whether an exception in a kernel is an error of the launch, of `Machine.run` and of
        `Machine.check`. Else it ends the thread.
        With `MMSIM_PYTHON=1` in the environment launches call the function: it is always an error.

    Examples
    --------
    >>> from mmsim import cuda
    >>> @cuda.jit("void(float32[:], float32)")
    ... def scale(a, factor):
    ...     i = cuda.grid(1)
    ...     if i < a.size:
    ...         a[i] *= factor
    >>> len(scale.signatures)
    1
    """
    if link:
        raise NotImplementedError(
            "link= names code of CUDA C or PTX, which mmsim cannot run; write it in Python with "
            "cuda.jit(device=True)"
        )
    if others.get("boundscheck"):
        raise NotImplementedError("bounds checking is not supported for CUDA; mmsim always checks")
    for old in ("argtypes", "restype", "bind"):
        if others.get(old) is not None:
            raise TypeError(
                f"Deprecated keyword argument `{old}`. Signatures should be passed as the first "
                "positional argument."
            )
    check_carveout(shared_memory_carveout)
    options = {
        "device": device,
        "debug": bool(debug),
        "opt": True if opt is None else opt,
        "lineinfo": lineinfo,
        "fastmath": fastmath,
        "inline": inline,
        "forceinline": forceinline,
        "launch_bounds": launch_bounds,
        "max_registers": max_registers,
        "extensions": list(extensions or ()),
        **others,
    }
    signatures = signatures_of(func_or_sig)
    if signatures is None and func_or_sig is not None:
        return _decorated(func_or_sig, options, [], False)
    return functools.partial(
        _decorated,
        options=options,
        signatures=signatures or [],
        specialized=not isinstance(func_or_sig, list),
    )


def _decorated(
    function: Any, options: dict[str, Any], signatures: list[Signature], specialized: bool
) -> Dispatcher:
    """Return the kernel or device function for a decorated function."""
    function = getattr(function, "py_func", function)
    if not isinstance(function, python.FunctionType):
        raise TypeError(f"{shown(function)} is not a Python function, which cuda.jit decorates")
    dispatcher = Dispatcher(defined(function), options)
    for one in signatures:
        if one.return_type != none and not options["device"]:
            raise TypeError("CUDA kernel must have void return type.")
        dispatcher.compile(one)
    if signatures:
        dispatcher.disable_compile()
        dispatcher.specialized = specialized
    return dispatcher
