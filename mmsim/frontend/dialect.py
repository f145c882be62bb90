"""What a dialect of the language defines; all else is Python's and parsed the same for all.

A dialect is how a program says which thread it is, how threads wait for each other, and how arrays
are made: `T.id`, `T.barrier()` and `mm.shared(...)` in the dialect of `mm.program`. Parsing asks it
first what a name, an attribute or a call is. With the node it gets the function around it, which
knows what names mean (`entity`, `captured`), where a node stands and how it is refused.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from mmsim.errors import Place
from mmsim.frontend.function import Function
from mmsim.frontend.scope import Entity, Value
from mmsim.frontend.source import FunctionText
from mmsim.ir import nodes as ir
from mmsim.ir.nodes import AtomicOp


@dataclass(frozen=True)
class Maker:
    """What makes an array: of which kind, what it is called, and what messages call the array.

    Its first parameter, the shape of the array, is called `shape`, the second one "dtype".
    """

    kind: Literal["shared", "registers"]
    called: str
    array: str
    shape: str


@dataclass(frozen=True)
class Joint:
    """A call that gives a value and is a statement of its own: a barrier, an exchange.

    `make` gives the statement for the variable that takes the value, None if it is dropped, and for
    the call's operands.
    """

    operands: tuple[ast.expr, ...]
    make: Callable[[str | None, tuple[ir.Expr, ...], Place], ir.Stmt]


class Dialect(Protocol):
    """How a program names its thread, its barriers and its arrays.

    Messages say `decorator` for what makes programs of functions, `launch` for what takes their
    arguments, `own_array` for an array of each thread, and `uniform` for what sizes are made of.
    """

    decorator: str
    launch: str
    own_array: str
    uniform: str

    def bound(self, text: FunctionText) -> dict[str, Entity]:
        """What names of a program mean from the beginning; its other parameters are a launch's.

        Raises `LanguageError` where the text can't be a program.
        """

    def value(self, node: ast.expr, function: Function) -> Value | None:
        """What a name, an attribute or a call of the dialect gives; None for what isn't its own.

        Raises `LanguageError` where it is the dialect's own and can't stand there.
        """

    def statement(self, call: ast.Call, place: Place, function: Function) -> ir.Stmt | None:
        """What a call means as a statement, which stands at `place`; None if it isn't its own."""

    def joint(self, call: ast.Call, function: Function) -> Joint | None:
        """The barrier or the exchange with a value that a call is; None for any other call.

        Raises `LanguageError` for wrong arguments.
        """

    def maker(self, called: Any) -> Maker | None:
        """What makes an array, if that is what an outside object is called for."""

    def atomic(self, called: Any) -> AtomicOp | None:
        """The atomic that an outside object is when it is called, None of any other."""

    def vector(self, call: ast.Call, function: Function) -> tuple[ast.expr, int] | None:
        """The array whose vectors a call stands for, and their length; None for any other call.

        Raises `LanguageError` where its arguments can't be.
        """

    def helper(self, called: Any) -> types.FunctionType | None:
        """The function that a call of an outside object inlines; None for what can't be inlined."""

    def remedy(self, node: ast.expr, function: Function) -> str | None:
        """What to write instead of a name that the dialect lacks, None if it isn't known."""

    def element_type(self, given: Any) -> str:
        """The name of NumPy's type that an outside object or a text stands for, "" for none."""
