"""A kernel of numba.cuda as a program, parsed again for each kind of arguments."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from mmsim.errors import LanguageError, MMSimError, Place, shown
from mmsim.frontend.numba.names import python_function
from mmsim.frontend.numba.options import DEFAULTS, Options
from mmsim.frontend.program import Program
from mmsim.ir import nodes as ir

if TYPE_CHECKING:
    from mmsim.frontend.numba.kinds import Flattened

DISPATCHERS = ("numba.", "numba_cuda", "mmsim.cuda")
"""The modules with the classes of `cuda.jit`'s results."""


class Specialized(NamedTuple):
    """A kernel's program for the kinds of some arguments, and the arguments that it takes."""

    program: Program
    args: tuple[Any, ...]
    given: Flattened

    def store(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Copy a run's results into the arrays that the launch got, or that the kernel captures."""
        for parameter, value in zip(self.program.code.parameters, self.args, strict=True):
            if isinstance(value, np.ndarray) and value.flags.writeable:
                np.copyto(value, arrays[parameter.name].view(value.dtype))
        self.given.put_back()


class NumbaProgram(Program):
    """A kernel in the language of numba.cuda. Made by `numba_program`, run by a machine.

    Numba compiles a kernel for the types of its arguments; likewise, a launch parses it for their
    kinds. `specialized` gives the program for some arguments. `code` is the last one parsed.
    """

    def __init__(
        self,
        function: types.FunctionType,
        *,
        device: bool = False,
        options: Options = DEFAULTS,
    ) -> None:
        first = function.__code__.co_firstlineno
        where = Place(function.__name__, function.__code__.co_filename, first)
        super().__init__(function, where)
        if not device:
            self._returns = None
        self._options = options
        self._specialized: dict[tuple[Any, ...], tuple[Program, Any]] = {}
        self._dynamic: dict[Options, NumbaProgram] = {}

    def with_shared(self, dynamic_bytes: int) -> NumbaProgram:
        """This kernel for launches with `dynamic_bytes` of dynamic shared memory in each block."""
        options = self._options._replace(dynamic_bytes=dynamic_bytes)
        if options == self._options:
            return self
        if options not in self._dynamic:
            function = cast(types.FunctionType, self.function)
            self._dynamic[options] = NumbaProgram(function, options=options)
        return self._dynamic[options]

    def specialized(self, args: Sequence[Any]) -> Specialized:
        """The program for arguments of these kinds, with the arguments of its launch."""
        if self.is_helper:
            self.code  # noqa: B018  # an error
        from mmsim.frontend.numba.kinds import Flattened  # loads Numba's types

        python = cast(types.FunctionType, self.function)
        code = python.__code__
        given = Flattened(self.name, args, code.co_varnames[: code.co_argcount])
        found = self._specialized.get(given.kinds)
        if found is None:
            from mmsim.frontend.numba.parse import parse_kernel  # loads Numba's inference of types

            parsed = parse_kernel(python, given, self._options)
            found = self._specialized[given.kinds] = Program(python, parsed.code), parsed
            self._code = parsed.code
        program, parsed = found
        values = zip((*given.values, *parsed.from_outside), parsed.words, strict=True)
        args = tuple(value if word is None else value.view(word) for value, word in values)
        return Specialized(program, args, given)

    def __getstate__(self) -> dict[str, Any]:
        """The function alone; another process parses it again for its arguments."""
        return {**super().__getstate__(), "_specialized": {}, "_dynamic": {}}

    @property
    def parsed_late(self) -> bool:
        """Return whether a launch parses it: it has no code before."""
        return True

    @property
    def code(self) -> ir.Code:
        """The representation for the arguments of its last launch."""
        if self.is_helper:
            return super().code
        if self._code is None:
            raise MMSimError(
                f"the kernel {self.name!r} is parsed for the arguments of a launch; launch it first"
            )
        return self._code


_adopted: WeakKeyDictionary[Any, NumbaProgram] = WeakKeyDictionary()


def as_program(thing: Any) -> Any:
    """A kernel of `cuda.jit`, of Numba's or of mmsim's, as a program; all else unchanged.

    Equal kernels give one program. With `cuda.jit(debug=True)` an exception is an error of the run.
    """
    module = type(thing).__module__
    if isinstance(thing, Program | types.FunctionType) or not module.startswith(DISPATCHERS):
        return thing
    function = python_function(thing)
    if function is None:
        return thing
    found = _adopted.get(thing)
    if found is None:
        debug = bool(getattr(thing, "targetoptions", {}).get("debug"))
        found = _adopted[thing] = NumbaProgram(function, options=Options(debug=debug))
    return found


def numba_program(
    kernel: Any, *, device: bool = False, options: Options = DEFAULTS
) -> NumbaProgram:
    """A kernel of numba.cuda, a plain function or a dispatcher, as a program.

    A `device` function is a helper, which kernels call and no machine runs.
    """
    function = python_function(kernel)
    if function is None:
        raise LanguageError(
            f"{shown(kernel)} is not a function",
            Place(shown(kernel), "<unknown>", 0),
            "give a function written with def, or what cuda.jit made of one",
        )
    return NumbaProgram(function, device=device, options=options)
