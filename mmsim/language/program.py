"""`mm.program`: a per-thread program, parsed once."""

from __future__ import annotations

import functools
import linecache
import types
from collections.abc import Callable
from typing import Any, Literal, TypeVar

from mmsim.errors import LanguageError, MMSimError, Place
from mmsim.language import ir
from mmsim.language.parse import parse

T = TypeVar("T")
MOST_KEPT = 100


class Program:
    """A program in the language of docs/language.md. Made by `mm.program`, run by a machine.

    `name` is the function's name, `code` its intermediate representation, `function` the function
    itself, so that other programs can call it.
    """

    def __init__(self, function: types.FunctionType) -> None:
        functools.update_wrapper(self, function)  # first: it takes over the function's attributes
        self.function = function
        self.code: ir.Code = parse(function)
        self.name = self.code.name
        self._example: Callable[..., Example] | None = None
        self._memo: dict[Any, Any] = {}

    def __repr__(self) -> str:
        parameters = ", ".join(parameter.name for parameter in self.code.parameters)
        source = self.code.sources[0]
        return f"<program {self.name}({parameters}) from {source.file}, line {source.first}>"

    def __getstate__(self) -> dict[str, Any]:
        """All but what is made again from it: compiled functions can't go to another process."""
        return {**self.__dict__, "_memo": {}}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise MMSimError(
            f"a program is run by a machine: mm.DMM(32, 5).run({self.name}, ..., threads=...)"
        )

    def kept(self, key: Any, make: Callable[[], T]) -> T:
        """What `make()` returns, made once for each key: what follows from the program's text.

        The key must name all else that it follows from. What was asked for last is kept longest.
        """
        memo = self._memo
        found: T = memo.pop(key, None)  # nothing that is kept is None
        if found is None:
            found = make()
        memo[key] = found
        if len(memo) > MOST_KEPT:
            memo.pop(next(iter(memo)), None)
        return found

    def example(self, function: Callable[..., Example]) -> Callable[..., Example]:
        """Decorate the host code that prepares arguments for a trial run (`mmsim run`).

        `function(width, size, seed)` returns an `Example`; `width` is the machine's, `size` and
        `seed` what the user asked for, or the function's own defaults.
        """
        self._example = function
        return function

    @property
    def has_example(self) -> bool:
        """Whether `prepare` has arguments to give."""
        return self._example is not None

    def prepare(self, width: int, **choices: int) -> Example:
        """The arguments of a trial run, by the function decorated with `example`."""
        if self._example is None:
            raise MMSimError(f"the program {self.name!r} has no example; give its arguments")
        return self._example(width, **choices)

    def cuda(
        self,
        *args: Any,
        threads: int,
        block_size: int | None = None,
        space: Literal["global", "shared"] = "global",
        clear_shared: bool = True,
        lock_step: bool = False,
    ) -> str:
        """The CUDA C of this program for such arguments, fit to be read. It needs no GPU.

        The text is for arguments of these shapes, types and layouts, for these numbers and for so
        many threads. A program must be right before it is written: run it on a machine first. A GPU
        checks no index and no division, and of several lanes that write one word in one instruction
        any may win; where the lanes of a warp exchange words without a barrier, the model keeps
        them in step and a GPU may not.

        Parameters
        ----------
        *args, threads, block_size
            As for `Machine.run`. A block has at most 1024 threads.
        space
            "global": arrays lie in global memory and `mm.shared` arrays in shared memory, as on the
            HMM. "shared": all arrays are copied into the shared memory of one block, as on the DMM,
            and the program runs `repeat` times between two readings of the clock.
        clear_shared
            Fill `mm.shared` arrays with 0 first, as the simulator does. A program that writes
            before it reads doesn't need it, and without it the only accesses are its own.
        lock_step
            Let all threads of the one block wait for each other after every access, as under the
            synchronous schedule, for programs that lean on it. All must take the same way.

        See Also
        --------
        mmsim.gpu.kernel : the text, and all that a launch of it needs to know.

        Examples
        --------
        >>> import numpy as np, mmsim as mm
        >>> @mm.program
        ... def transpose(T, a, b):
        ...     i, j = T.id // a.shape[1], T.id % a.shape[1]
        ...     b[j, i] = a[i, j]
        >>> a = np.zeros((32, 32))
        >>> print(transpose.cuda(a, a.copy(), threads=1024))
        // transpose in CUDA C: p = 1024 threads, 1 block of 1024.
        // Compile with --fmad=false: Python never fuses a product and a sum.
        <BLANKLINE>
        extern "C" __global__ void transpose(
            const volatile double (*a)[32],
            volatile double (*b)[32])
        {
            const struct { long long id; } T = {threadIdx.x};
            // i, j = T.id // a.shape[1], T.id % a.shape[1]
            long long i = T.id / 32;
            long long j = T.id % 32;
            // b[j, i] = a[i, j]
            b[j][i] = a[i][j];
        }
        """
        from mmsim.gpu import kernel  # the floor above, entered only here

        options: dict[str, Any] = {
            "space": space,
            "clear_shared": clear_shared,
            "lock_step": lock_step,
        }
        return kernel(self, *args, threads=threads, block_size=block_size, **options).source


class Example:
    """Arguments of one run: `arguments` after T in order, `threads`, `block_size`."""

    def __init__(self, *arguments: Any, threads: int, block_size: int | None = None) -> None:
        self.arguments = arguments
        self.threads = threads
        self.block_size = block_size


def program(function: Callable[..., Any]) -> Program:
    """Decorate a plain function of a thread T and its arguments as a per-thread program.

    It is parsed here, once. Python that isn't in the language is refused with a `LanguageError`
    that names file and line, points at the text and says what to write instead.

    >>> import mmsim as mm
    >>> @mm.program
    ... def copy(T, a, b):
    ...     b[T.id] = a[T.id]
    >>> copy.name
    'copy'
    """
    if isinstance(function, Program):
        return function
    if not isinstance(function, types.FunctionType):
        raise LanguageError(
            f"{function!r} is no function",
            Place(str(function), "<unknown>", 0),
            "decorate a function written with def",
        )
    try:
        return Program(function)
    except RecursionError:
        code = function.__code__
        first = code.co_firstlineno
        line = linecache.getline(code.co_filename, first).rstrip("\n")
        raise LanguageError(
            f"an expression or a block of {function.__name__!r} is nested too deeply",
            Place(function.__name__, code.co_filename, first, 0, len(line), line),
            "take it apart into several statements",
        ) from None
