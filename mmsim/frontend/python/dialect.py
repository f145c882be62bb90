"""The definitions of a dialect of the language; all else is Python's, parsed the same for all.

A dialect names the thread, its barriers and its arrays: `T.id`, `T.barrier()` and `mm.shared(...)`
in the dialect of `mm.program`. The parser asks it first for the meaning of a name, an attribute or
a call. It passes the node and the function around it. The function knows the meaning of names
(`entity`, `captured`), the place of a node, and how to refuse it.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from mmsim.errors import Place
from mmsim.frontend.python.function import Function
from mmsim.frontend.python.scope import Entity, Value
from mmsim.frontend.python.source import FunctionText
from mmsim.ir import nodes as ir
from mmsim.ir.nodes import AtomicOp


@dataclass(frozen=True)
class Maker:
    """A function that makes an array: the kind, its name, and the array's name in messages.

    Its first parameter, the shape of the array, is called `shape`, the second one "dtype".
    """

    kind: Literal["shared", "registers"]
    called: str
    array: str
    shape: str


@dataclass(frozen=True)
class Joint:
    """A call that gives a value and is a separate statement: a barrier, an exchange.

    `make` gives the statement for the variable of the value, None if it is dropped, and for
    the call's operands.
    """

    operands: tuple[ast.expr, ...]
    make: Callable[[str | None, tuple[ir.Expr, ...], Place], ir.Stmt]


class Dialect(Protocol):
    """The names of a program for its thread, its barriers and its arrays.

    Messages use `decorator` for the decorator of programs, `launch` for the function that takes
    their arguments, `own_array` for an array of each thread, and `uniform` for the parts of sizes.
    """

    decorator: str
    launch: str
    own_array: str
    uniform: str

    def bound(self, text: FunctionText) -> dict[str, Entity]:
        """The initial meaning of a program's names; its other parameters are a launch's.

        Raises `LanguageError` if the text can't be a program.
        """

    def value(self, node: ast.expr, function: Function) -> Value | None:
        """The value of a name, an attribute or a call of the dialect; None for all others.

        Raises `LanguageError` if it belongs to the dialect and can't stand there.
        """

    def statement(self, call: ast.Call, place: Place, function: Function) -> ir.Stmt | None:
        """The statement for a call at `place`; None for a call outside of the dialect."""

    def joint(self, call: ast.Call, function: Function) -> Joint | None:
        """The barrier or the exchange with a value for a call; None for any other call.

        Raises `LanguageError` for wrong arguments.
        """

    def maker(self, called: Any) -> Maker | None:
        """The kind of array that a call of an outside object makes, if any."""

    def atomic(self, called: Any) -> AtomicOp | None:
        """The atomic for a call of an outside object, None for any other."""

    def vector(self, call: ast.Call, function: Function) -> tuple[ast.expr, int] | None:
        """The array and the length of the vectors in a call; None for any other call.

        Raises `LanguageError` for wrong arguments.
        """

    def helper(self, called: Any) -> types.FunctionType | None:
        """The function that a call of an outside object inlines; None if it can't be inlined."""

    def remedy(self, node: ast.expr, function: Function) -> str | None:
        """The replacement for a name that the dialect lacks, None if it isn't known."""

    def element_type(self, given: Any) -> str:
        """The name of NumPy's type for an outside object or a text, "" for none."""
