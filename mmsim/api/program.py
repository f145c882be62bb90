"""`mm.program`: a function of a thread T, parsed once to a program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from mmsim.errors import Brief, LaunchError
from mmsim.frontend import program as plain
from mmsim.frontend.python.parse import parse, plain_function
from mmsim.host.guesses import Guessed, advised, instead
from mmsim.ir import nodes as ir
from mmsim.ir.liveness import Registers
from mmsim.ir.walk import parts
from mmsim.model.threads import Given, asked

INSTEAD = instead(
    {
        "run launch forall": "machine.run(program, ..., threads=), as mm.DMM(32, 5).run(...)",
        "check": "machine.check(program, ..., threads=)",
        "profile": "machine.run(program, ..., threads=).profile()",
        "source": "inspect.getsource(program.function)",
        "py_func": "program.function",
        "ptx": "program.cuda(..., threads=) for CUDA C",
    }
)
"""Names of kernels of other tools, with a program's name for each."""


class Program(plain.Program, Guessed):
    """A program in the language of docs/language.md. Made by `mm.program`, run by a machine.

    A function that returns a value is a helper, not a program. Programs call helpers.

    `name` is the function's name, `code` its intermediate representation. A program can be pickled;
    the pickle holds the code.
    """

    _instead = INSTEAD

    @advised()
    def cuda(
        self,
        *args: Any,
        threads: int | None = None,
        block_size: int | None = None,
        grid: Given | None = None,
        block: Given | None = None,
        space: Literal["global", "shared"] = "global",
        clear_shared: bool = True,
        lock_step: bool = False,
    ) -> str:
        """Return this program as readable CUDA C for these arguments. It needs no GPU.

        The text is valid for arguments of these shapes, types and layouts, for these numbers and
        for this number of threads. Run the program on a machine first: a GPU checks no index and no
        division. If several lanes write one word in one instruction, any lane may win. If the lanes
        of a warp exchange words without a barrier, the model keeps them in step and a GPU may not.

        Parameters
        ----------
        *args, threads, block_size, grid, block
            As for `Machine.run`. A block has at most 1024 threads.
        space
            "global": arrays lie in global memory and `mm.shared` arrays in shared memory, as on the
            HMM. "shared": all arrays are copied into the shared memory of one block, as on the DMM,
            and the program runs `repeat` times between two readings of the clock.
        clear_shared
            Fill `mm.shared` arrays with 0 first, as the simulator does. A program that writes
            before it reads doesn't need it. Without it, all accesses are the program's own.
        lock_step
            Let all threads of the one block wait for each other after every access. Programs that
            rely on the synchronous schedule need it. All threads must take the same branches.

        See Also
        --------
        mmsim.gpu.kernel : the text, and what its launch needs.

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
        from mmsim.api.kernels import kernel  # loads what writes CUDA C

        options: dict[str, Any] = {
            "threads": threads,
            "block_size": block_size,
            "grid": grid,
            "block": block,
            "space": space,
            "clear_shared": clear_shared,
            "lock_step": lock_step,
        }
        with Brief():
            return kernel(self, *args, **options).source

    @advised()
    def registers(
        self,
        *args: Any,
        threads: int | None = None,
        block_size: int | None = None,
        grid: Given | None = None,
        block: Given | None = None,
    ) -> Registers:
        """Return the registers that a thread needs: the most words that it holds at an access.

        SMM gives a thread r registers "to store words of data". A *word* is the result of a read,
        or is computed from one. Values computed from T, the arguments and constants alone don't
        count. A thread holds a word at an access if the access or a later statement may use it. A
        live `mm.registers` array counts whole, and every branch counts as taken. So a run may hold
        fewer words, but never more.

        Parameters
        ----------
        *args, threads, block_size, grid, block
            As for `Machine.run`; the sizes of `mm.registers` arrays may depend on them. The threads
            may be omitted if no size depends on T.

        Returns
        -------
        Registers
            `words`: all words. `data`: the words that may be written to memory again; the paper's r
            counts these. The other words are addresses, or decide a branch.

        Raises `LaunchError` for arguments that don't fit the program.

        Examples
        --------
        >>> import numpy as np, mmsim as mm
        >>> @mm.program
        ... def permute(T, a, b, d):
        ...     b[d[T.id]] = a[T.id]
        >>> permute.registers(np.zeros(8), np.zeros(8), np.arange(8))  # a word and its address
        Registers(data=1, words=2)
        """
        from mmsim.api.binding import bind  # loads what launches
        from mmsim.api.machines import UMM

        with Brief():
            if threads is None and grid is None and block is None:
                self._refuse_sizes_by_threads()
                threads = 1
            sizes = asked(threads, block_size, grid, block)
            return bind(UMM(1, 1), self, args, sizes).registers

    def _refuse_sizes_by_threads(self) -> None:
        """Refuse a program whose register arrays have sizes that depend on the threads."""
        for local in self.code.locals:
            sizes = [part for extent in local.shape for part in parts(extent)]
            if local.kind == "registers" and any(isinstance(one, ir.ThreadField) for one in sizes):
                raise LaunchError(
                    f"the size of {local.name!r} depends on T: give registers(..., threads=)"
                )


@advised("@mm.program without (), above def name(T, ...)")
def program(function: Callable[..., Any]) -> Program:
    """Decorate a plain function of a thread T and its arguments as a per-thread program.

    The function is parsed once, here. Python outside the language raises a `LanguageError`. It
    names file and line, points at the text and says what to write instead.

    >>> import mmsim as mm
    >>> @mm.program
    ... def copy(T, a, b):
    ...     b[T.id] = a[T.id]
    >>> copy.name
    'copy'
    """
    if isinstance(function, Program):
        return function
    with Brief():
        python = plain_function(function)
        return Program(python, parse(python))
