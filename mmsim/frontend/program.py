"""A program: its parsed code, and the function that it was parsed from."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any, cast

from mmsim.errors import LanguageError, MMSimError, Place, shown
from mmsim.frontend.packed import Packed, packed
from mmsim.ir import nodes as ir
from mmsim.model.threads import Given, asked
from mmsim.tracebacks import said

LAUNCH = "machine.run(f, a, grid=grid, block=block)"
"""The launch of a program, as text."""
STAYING = ("__wrapped__", "__annotations__", "__annotate__", "__type_params__")
"""Attributes that aren't pickled: the function is packed separately, the rest is for readers."""


class Program:
    """A program in the language of docs/language.md. Made by `mm.program`, run by a machine.

    A function that returns a value is not a program but a helper, which programs call.

    `name` is the function's name, `code` its intermediate representation. A program can be pickled;
    the pickle contains the code.

    A front end makes it from a function and the result of parsing: the code, or the place where a
    helper returns a value.
    """

    listed: tuple[str, str] = ("", "")
    """For `mmsim list`: its machines, and the id of a claim on its time, or ""."""
    addresses: tuple[str, ...] = ()
    """The parameters that are addresses of arrays: a launch has no choice."""
    most_registers: int | None = None
    """The registers of a thread on a card at most, if the program says so."""

    def __init__(self, function: types.FunctionType, parsed: ir.Code | Place) -> None:
        functools.update_wrapper(self, function)  # first: it takes over the function's attributes
        self._function: types.FunctionType | Packed = function
        self.name = function.__name__
        self._returns = parsed if isinstance(parsed, Place) else None
        self._code = None if isinstance(parsed, Place) else parsed
        self._example: Callable[..., Example] | Packed | None = None

    @property
    def is_helper(self) -> bool:
        """Return whether it returns a value: other programs call it, and no machine runs it."""
        return self._returns is not None

    @property
    def code(self) -> ir.Code:
        """The program's representation; an error for a helper, which has none."""
        if self._returns is not None:
            raise LanguageError(
                f"{self.name!r} returns a value; it is a helper",
                self._returns,
                "call it from a program, or store the result in an array",
            )
        assert self._code is not None
        return self._code

    @property
    def parsed_late(self) -> bool:
        """Return whether a launch parses it: it has no code before."""
        return False

    def for_proof(self) -> Program:
        """The program of which a proof knows most; it computes the same."""
        return self

    def worded(self, message: str, value: object) -> str:
        """The message of an error that the program raises, with its value in the place of {}."""
        return message.replace("{}", str(value))

    def __repr__(self) -> str:
        if self._code is None:
            return f"<helper {self.name}>"
        parameters = ", ".join(parameter.name for parameter in self.code.parameters)
        source = self.code.sources[0]
        return f"<program {self.name}({parameters}) from {source.file}, line {source.first}>"

    def __getstate__(self) -> dict[str, Any]:
        """The parsed code as data: another process runs the same, whatever its files contain."""
        kept = {name: value for name, value in self.__dict__.items() if name not in STAYING}
        for what, function in (("function", self._function), ("example", self._example)):
            if function is not None and not isinstance(function, Packed):
                about = f"the {what} of the program {self.name!r}"
                kept[f"_{what}"] = packed(about, function, self._files())
        return kept

    def _files(self) -> set[str]:
        """The files of its text."""
        if self._code is None:
            return {self.function.__code__.co_filename}
        return {source.file for source in self._code.sources}

    def __copy__(self) -> Program:
        return self  # as Python does with functions

    def __deepcopy__(self, memo: dict[int, Any]) -> Program:
        return self

    @property
    def function(self) -> types.FunctionType:
        """The function itself, so that other programs can call it.

        Raises `MMSimError` in a process that got the program without the function.
        """
        if isinstance(self._function, Packed):
            self._function = cast(types.FunctionType, self._function.unpacked())
        return self._function

    @property
    def example_function(self) -> Callable[..., Example] | None:
        """The function decorated with `example`, None without one.

        Raises `MMSimError` in a process that got the program without the example.
        """
        if isinstance(self._example, Packed):
            self._example = self._example.unpacked()
        return self._example

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.code  # noqa: B018  # an error for a helper
        raise MMSimError(
            f"a program is run by a machine: mm.DMM(32, 5).run({self.name}, ..., threads=...)"
        )

    def __getitem__(self, sizes: Any) -> Any:
        self.code  # noqa: B018  # an error for a helper
        raise MMSimError(f"a program is launched by a machine: write {LAUNCH}")

    __iter__ = None  # else Python would take any object with indices for a sequence

    def example(self, function: Callable[..., Example]) -> Callable[..., Example]:
        """Decorate the host code that prepares arguments for a trial run (`mmsim run`).

        `function(width, size, seed)` returns an `Example`; `width` is the machine's, `size` and
        `seed` are the user's, or the function's own defaults.
        """
        self._example = function
        return function

    @property
    def has_example(self) -> bool:
        """Return whether there is an example."""
        return self._example is not None

    def prepare(self, width: int, **choices: int) -> Example:
        """The arguments of a trial run, by the function decorated with `example`.

        Raises `MMSimError` if there is none, if it fails, or if it returns something else.
        """
        example = self.example_function
        if example is None:
            raise MMSimError(f"the program {self.name!r} has no example; give its arguments")
        called = f"width={shown(width)}" + "".join(f", {k}={shown(v)}" for k, v in choices.items())
        try:
            found = example(width, **choices)
        except (MMSimError, MemoryError):
            raise
        except (Exception, SystemExit) as error:  # any error of the user's own code
            text = f"the example of the program {self.name!r} failed with {called}: {said(error)}"
            raise MMSimError(text) from error
        if not isinstance(found, Example):
            raise MMSimError(
                f"the example of the program {self.name!r} returned {_kind(found)} with {called}; "
                "it must return an mmsim.Example"
            )
        return found


def _kind(value: object) -> str:
    return "nothing" if value is None else f"a {type(value).__name__}"


class Example:
    """Arguments of one run: `arguments` after T in order, and `launch`, the threads.

    The threads are given as to `Machine.run`: `threads` and `block_size`, or `grid` and `block`.

    >>> Example(5, grid=(2, 2), block=8).launch
    {'grid': (2, 2), 'block': 8}
    """

    def __init__(
        self,
        *arguments: Any,
        threads: int | None = None,
        block_size: int | None = None,
        grid: Given | None = None,
        block: Given | None = None,
    ) -> None:
        self.arguments = arguments
        given = {"threads": threads, "block_size": block_size, "grid": grid, "block": block}
        self.launch: dict[str, Any] = {
            name: value for name, value in given.items() if value is not None
        }
        if not self.launch:
            raise TypeError("an Example lacks its threads: give threads=, or grid= and block=")
        self.threads, self.block_size, _ = asked(**self.launch)
