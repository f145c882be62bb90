"""From a function in the language of numba.cuda to its representation, for given arguments."""

from __future__ import annotations

import ast
import types
from collections.abc import Sequence
from dataclasses import replace

from mmsim.errors import LanguageError, LaunchError, Place, shown
from mmsim.frontend.numba.arrays import NumbaArrays, NumbaValues
from mmsim.frontend.numba.assignments import NumbaAssignments
from mmsim.frontend.numba.calls import NumbaCalls, NumbaStatements
from mmsim.frontend.numba.cmath import OF_COMPLEX
from mmsim.frontend.numba.declarations import NumbaDeclarations
from mmsim.frontend.numba.dialect import NumbaDialect
from mmsim.frontend.numba.inlining import NumbaInlining
from mmsim.frontend.numba.kinds import Kind
from mmsim.frontend.numba.loops import NumbaLoops
from mmsim.frontend.numba.numbers import NumbaExpressions, NumbaTuples
from mmsim.frontend.numba.parameters import Parameters
from mmsim.frontend.numba.records import without_records
from mmsim.frontend.numba.renaming import separated
from mmsim.frontend.numba.state import KernelFunction, KernelKnown, KernelUnit, Options, Parsed
from mmsim.frontend.python.dialect import Dialect
from mmsim.frontend.python.function import Function
from mmsim.frontend.python.function_parser import FunctionParser
from mmsim.frontend.python.parse import returns_value
from mmsim.frontend.python.scope import (
    Alias,
    Captured,
    Restart,
    Role,
    TupleName,
    Value,
    ValueName,
    VariableName,
    like,
    number,
)
from mmsim.frontend.python.source import FunctionText, read
from mmsim.frontend.python.syntax import parameter_names, source_key
from mmsim.frontend.python.tables import shape_of
from mmsim.ir import nodes as ir
from mmsim.ir.numba_types import NumbaTyping
from mmsim.ir.walk import numbered

DIALECT = NumbaDialect()


class NumbaParser(FunctionParser):
    """Parses one function of a kernel."""

    arrays_by, tuples_by, values_by = NumbaArrays, NumbaTuples, NumbaValues
    declarations_by, inlining_by, calls_by = NumbaDeclarations, NumbaInlining, NumbaCalls
    assignments_by, expressions_by = NumbaAssignments, NumbaExpressions
    loops_by, statements_by = NumbaLoops, NumbaStatements
    values: NumbaValues
    declarations: NumbaDeclarations
    statements: NumbaStatements

    def __init__(
        self,
        function: Function,
        dialect: Dialect,
        scope: str | None = None,
        given_name: str = "",
        looping: bool = False,
    ) -> None:
        super().__init__(function, dialect, scope, given_name, looping)
        self.values.arrays.values = self.declarations.values = self.values
        self.builder.statement_forms |= {
            ast.FunctionDef: self.statements.defined,
            ast.Raise: self.statements.raised,
            ast.Assert: self.statements.asserted,
        }


def parse_kernel(function: types.FunctionType, kinds: Sequence[Kind], options: Options) -> Parsed:
    """The representation of a kernel for arguments of these kinds.

    Raises `LanguageError` at the first thing outside of the language.
    """
    text = read(function, DIALECT.decorator)
    returns = returns_value(text)
    if returns is not None:
        raise LanguageError(
            f"the kernel {function.__name__!r} returns a value",
            returns,
            "store it in an array, or make this a device function: @cuda.jit(device=True)",
        )
    known = KernelKnown()
    while True:
        try:
            return _Kernel(function, text, kinds, known, options).parsed()
        except Restart:  # the kind of one more name; so this ends
            continue


class _Kernel:
    """One parsing of a kernel."""

    def __init__(
        self,
        function: types.FunctionType,
        text: FunctionText,
        kinds: Sequence[Kind],
        known: KernelKnown,
        options: Options,
    ) -> None:
        self.text = text = separated(text, known)
        self.unit = KernelUnit(
            function.__name__,
            {source_key(text.source): text.source},
            stack=[function],
            known=known,
            dynamic_bytes=options.dynamic_bytes,
            debug=options.debug,
            memory_of=options.memory_of,
        )
        self.function = KernelFunction(self.unit, function, text, {})
        self.parser = NumbaParser(self.function, DIALECT)
        self.kinds = kinds
        self.parameters = Parameters(self.unit)
        self.unit.array_from_outside = self.parameters.array_from_outside

    def parsed(self) -> Parsed:
        """The representation, if enough is known of the names; else `Restart`."""
        names = parameter_names(self.text)
        if len(names) != len(self.kinds):
            name = self.unit.name
            raise LaunchError(
                f"the kernel {name}({', '.join(names)}) takes {len(names)} arguments, "
                f"not {len(self.kinds)}"
            )
        self.unit.taken.update(names)
        for node, kind in zip(self.text.node.args.args, self.kinds, strict=True):
            self.bind(node, kind)
        self.function.bind_variables()
        body = self.parser.body()
        if self.unit.doubtful is not None:
            raise self.unit.doubtful
        code = ir.Code(
            self.unit.name,
            tuple(self.parameters.given),
            tuple(self.unit.locals),
            tuple(self.unit.variables),
            body,
            tuple(self.unit.sources.values()),
            "numba",
        )
        code = without_records(code, self.unit)
        typing = NumbaTyping(code, self.parameters.dtypes, self.parameters.numbers)
        self.learn_of_complex(typing)
        body = numbered(code.body)
        return Parsed(replace(code, body=body), tuple(self.parameters.from_outside))

    def learn_of_complex(self, typing: NumbaTyping) -> None:
        """Begin again with the functions that have complex arguments, if there are any."""
        known = self.unit.known.of_complex
        for op, place in typing.of_complex:
            if place in known or op not in OF_COMPLEX:
                raise LanguageError(
                    f"{op} takes real numbers, and this one is complex",
                    place,
                    "give it abs(z), z.real or z.imag",
                )
        if typing.of_complex:
            known.update(place for _, place in typing.of_complex)
            raise Restart

    def bind(self, node: ast.arg, kind: Kind) -> None:
        """Bind a parameter to the initial meaning of its name."""
        name, function = node.arg, self.function
        place = function.text.place(node)
        value = self.parameters.value(name, kind, place)
        if isinstance(value, Captured):
            known = number(value.value)
            if name not in function.assigned:
                function.bound[name] = value
                return
            if known is None:
                raise function.refuse(
                    node,
                    f"{name!r} is {shown(value.value)} in this launch, and the kernel assigns it",
                    "give what is assigned a name of its own",
                )
            value = ir.Const(known)
        if name not in function.assigned:
            function.bound[name] = value if isinstance(value, Alias) else ValueName(value)
            return
        roles = self.unit.known.roles
        if isinstance(value, Alias):
            roles.setdefault((function.python, name), Role(place))
            function.bound[name] = value
            return
        own: VariableName | TupleName = self.unit.variable(name, self.unit.name)
        if isinstance(value, tuple):
            shape = shape_of(value)
            assert shape is not None
            roles.setdefault((function.python, name), Role(place, shape))
            own = self.unit.tuple_name(name, shape, self.unit.name)
        function.bound[name] = own
        self.parser.calls.tuples.set_all(_variables(own, place), value, place)


def _variables(name: VariableName | TupleName, place: Place) -> Value:
    """The variables of a number or a tuple."""
    if isinstance(name, VariableName):
        return ir.Var(name.name, place)
    return like(name.items, (_variables(item, place) for item in name.items))
