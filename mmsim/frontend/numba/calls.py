"""Calls in kernels: numba.cuda's functions, and Python's, NumPy's and math's."""

from __future__ import annotations

import ast
import copy
import types
import warnings
from collections.abc import Callable
from functools import cache

import numpy as np

from mmsim.errors import Place
from mmsim.frontend.numba import functions, vectors
from mmsim.frontend.numba.arrays import NumbaValues
from mmsim.frontend.numba.cmath import OF_COMPLEX
from mmsim.frontend.numba.elementwise import Elementwise
from mmsim.frontend.numba.names import name_of, type_name
from mmsim.frontend.numba.state import KernelFunction, kernel
from mmsim.frontend.python.calls import Calls
from mmsim.frontend.python.dialect import Effect, Intrinsic, no_value
from mmsim.frontend.python.scope import Alias, Captured, Missing, Span, Value
from mmsim.frontend.python.source import written
from mmsim.frontend.python.statements import Statements
from mmsim.frontend.python.tables import constant_of
from mmsim.ir import nodes as ir

SILENT = ("threadfence", "threadfence_block", "threadfence_system", "nanosleep", "cg.this_grid")
"""Calls without a meaning in a model whose accesses take effect in order."""
WAITS = ("syncwarp", *SILENT)
WAIT = Effect((), lambda _, given, place: ir.Barrier(place))
"""Stands for one of these in messages."""


class NumbaCalls(Calls):
    """The calls of one function."""

    values: NumbaValues

    def __init__(self, values: NumbaValues, inline: Callable[..., Value | None]) -> None:
        super().__init__(values, inline)
        self.elementwise = Elementwise(values)

    def result(self, node: ast.Call) -> Value:
        """The value of a call."""
        if any(isinstance(one, ast.Starred) for one in node.args):
            node = copy.copy(node)
            node.args = self.values.spread(node.args)
        if name_of(node.func, self.function) in WAITS:
            raise no_value(WAIT, node.func, self.function)
        method = node.func
        if isinstance(method, ast.Attribute) and self.is_method(method, "bit_count"):
            number = self.builder.expression(method.value)
            return ir.Call("popc", (number,), self.function.place(node))
        what = vectors.maker(node.func, self.function)
        if what is not None:
            given = self.values.tuple_of(node.args, [None] * len(node.args))
            return vectors.made(node, what, given, self.function)
        called = self.function.captured(node.func)
        if called is isinstance and len(node.args) == 2 and not node.keywords:
            return self.is_instance(*node.args)
        if called is tuple and len(node.args) == 1 and not node.keywords:
            return self.plain_tuple(node.args[0])
        own = functions.written_out(called, len(node.args))
        if own is not None and not node.keywords:
            return self.inlined(node, own)
        type_ = type_name(called)
        if type_ and called not in (int, float, complex, bool):
            typed = Intrinsic((1,), lambda given, place: ir.Unary(type_, given[0], place))
            return super().intrinsic(typed, node)
        return super().result(node)

    def index(self, node: ast.expr, array: Alias) -> list[ir.Expr]:
        """The numbers of an atomic's index, which may be a tuple with a name."""
        found = self.values.arrays.numbers_of([node], array)
        if any(isinstance(one, Span) for one in found):
            raise self.refuse(node, f"{written(node)!r} is not an index of one element")
        place = self.place(node)
        return [self.builder.spill(one, place) for one in found if not isinstance(one, Span)]

    def inlined(self, node: ast.Call, function: types.FunctionType) -> Value:
        """The call of a function that is written out in the language of kernels."""
        value = self.inline(node, function)
        assert value is not None  # each of them returns something
        return value

    def plain_tuple(self, node: ast.expr) -> tuple[Value, ...]:
        """tuple(x) of a tuple."""
        value = self.values.value(node)
        if not isinstance(value, tuple):
            raise self.function.refuse(node, f"{written(node)!r} is not a tuple", "write a tuple")
        return tuple(value)

    def is_instance(self, node: ast.expr, kind: ast.expr) -> ir.Expr:
        """isinstance(x, tuple) and isinstance(x, np.ndarray), which are known beforehand."""
        wanted = [self.function.captured(one) for one in getattr(kind, "elts", [kind])]
        if not wanted or any(one not in (tuple, list, np.ndarray) for one in wanted):
            raise self.function.refuse(
                kind,
                "isinstance knows tuples and arrays here, not types of numbers",
                "choose by another argument, as None",
            )
        known = self.function.captured(node)
        if not isinstance(known, Missing):
            return ir.Const(isinstance(known, tuple(wanted)))
        with self.builder.aside():
            value = self.values.value(node)
        of = tuple if isinstance(value, tuple) else np.ndarray
        return ir.Const(isinstance(value, tuple | Alias) and of in wanted)

    def intrinsic(self, word: Intrinsic, node: ast.Call) -> Value:
        """The value of a function without an effect; of a complex number it is written out."""
        place = self.function.place(node)
        if place not in kernel(self.function).known.of_complex:
            return super().intrinsic(word, node)
        call = word.value((ir.Const(0),) * len(node.args), place)
        assert isinstance(call, ir.Call | ir.Binary)
        return self.inlined(node, OF_COMPLEX[call.op])

    def length(self, node: ast.Call) -> ir.Expr:
        """len(a), also of an array in a tuple."""
        whole = copy.copy(node)
        whole.args = [self.values.by_name(one) for one in node.args]
        return super().length(whole)

    def wait(self, node: ast.Call) -> bool:
        """Return whether a call only waits: for the warp, or as a fence, which is silent here."""
        name, place = name_of(node.func, self.function), self.function.place(node)
        if name not in WAITS:
            return False
        self.builder.operands(*node.args)
        if name == "syncwarp":
            self.builder.emit(ir.Exchange(None, "sync", (), place))
        return True


@cache
def warn_of_print(place: Place) -> None:
    """Warn, once, of a print in a kernel: a user may wait for its output."""
    warnings.warn_explicit(
        f"{place}: print does nothing in a kernel on mmsim; store the value in an array, or step "
        "through the launch, as with kernel.player()",
        UserWarning,
        place.file,
        place.line,
    )


def _waits_for_grid(node: ast.AST) -> bool:
    """Return whether something is the call of a grid's sync, by its name."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and (node.func.attr == "sync" and not node.args)
    )


class NumbaStatements(Statements):
    """Branches, and expressions on a separate line."""

    calls: NumbaCalls

    def split(self, node: ast.If, test: ir.Expr) -> None:
        """The branches of an `if`; for a test known beforehand, the taken one."""
        if isinstance(test, ir.Const):
            self.builder.statements(node.body if test.value else node.orelse)
            return
        if self.is_last(node) and any(map(_waits_for_grid, ast.walk(node))):
            place = self.function.place(node.test)
            self.builder.emit(ir.If(test, (), (ir.Return(place),), place))
            self.builder.statements(node.body)
            return
        super().split(node, test)

    def is_last(self, node: ast.If) -> bool:
        """Return whether a kernel has no more statements for the threads whose test is false.

        They end there, as on GPUs since Volta, so that others can wait for the grid without them.
        """
        inside = len(self.function.unit.stack) > 1
        return not inside and not node.orelse and node is self.function.text.node.body[-1]

    def called(self, node: ast.Expr, call: ast.Call) -> bool:
        """Return whether a call is a statement."""
        if self.calls.wait(call):
            return True
        if self.function.captured(call.func) is print:
            warn_of_print(self.function.place(call))
            return True
        if self.calls.elementwise.is_ufunc(call):
            self.calls.elementwise.ufunc(call, self.calls.result)
            return True
        return super().called(node, call)

    def defined(self, node: ast.FunctionDef) -> None:
        """def inside a kernel: its calls inline the function, with the names around it."""
        outer = self.function.python
        codes = [
            one
            for one in outer.__code__.co_consts
            if isinstance(one, types.CodeType) and one.co_name == node.name
        ]
        at_line = self.function.place(node).line
        found = next((one for one in codes if one.co_firstlineno == at_line), None)
        if found is None or node.decorator_list:
            raise self.function.refuse(
                node,
                f"{node.name!r} can't be a function inside a kernel",
                "define it outside the kernel and call it",
            )
        cells = tuple(types.CellType() for _ in found.co_freevars)
        defaults = tuple(map(self.default, node.args.defaults))
        inner = types.FunctionType(found, outer.__globals__, node.name, defaults, cells)
        assert isinstance(self.function, KernelFunction)
        self.function.unit.around[inner] = self.function
        self.function.bound[node.name] = Captured(inner)

    def default(self, node: ast.expr) -> ir.Scalar:
        """The default of a parameter of a function inside a kernel: a number in the text."""
        value, _ = self.builder.apart(node)
        known = constant_of(value)
        if known is None:
            raise self.function.refuse(
                node, f"the default {written(node)!r} is not a number", "give numbers as defaults"
            )
        return known

    def raised(self, node: ast.Raise) -> None:
        """raise: the thread ends, as on a GPU; in a kernel that is debugged it is an error."""
        given = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        name = "RuntimeError" if given is None else written(given)
        texts = node.exc.args if isinstance(node.exc, ast.Call) else []
        self.emit_raise(name, texts, node)

    def emit_raise(self, name: str, texts: list[ast.expr], node: ast.AST) -> None:
        """The statement by which a thread raises an exception."""
        message = None
        if kernel(self.function).debug:
            said = [
                str(one.value) if isinstance(one, ast.Constant) else written(one) for one in texts
            ]
            message = f"{name}: {', '.join(said)}" if said else name
        self.builder.emit(ir.Return(self.function.place(node), message))

    def asserted(self, node: ast.Assert) -> None:
        """assert test: raise an exception if the test is false."""
        test = self.builder.expression(node.test)
        with self.builder.aside() as fails:
            self.emit_raise("AssertionError", [] if node.msg is None else [node.msg], node)
        self.builder.emit(ir.If(test, (), tuple(fails), self.function.place(node)))
