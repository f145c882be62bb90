"""From a decorated function to its representation (docs/language.md)."""

from __future__ import annotations

import types

from mmsim.errors import LanguageError
from mmsim.language import ir
from mmsim.language.parameters import default_numbers, parameter_names, source_key
from mmsim.language.scope import ParameterUse, Shared, TheThread
from mmsim.language.source import read
from mmsim.language.statements import FunctionParser, bind_variables


def parse(function: types.FunctionType) -> ir.Code:
    """The representation of `function`, or a `LanguageError` at the first thing it can't be."""
    text = read(function)
    name = function.__name__
    names = parameter_names(text)
    if not names:
        raise LanguageError(
            f"the program {name!r} has no parameter",
            text.place(text.node),
            f"its first parameter is the thread: def {name}(T, ...)",
        )
    defaults = default_numbers(function, text)
    shared = Shared(name, {source_key(text.source): text.source}, stack=[function])
    uses: list[ParameterUse] = []
    parser = FunctionParser(shared, function, text, {names[0]: TheThread()})
    for node in text.node.args.args[1:]:
        shared.taken.add(node.arg)
        parameter = ParameterUse(node.arg, text.place(node), defaults.get(node.arg))
        uses.append(parameter)
        if node.arg in parser.assigned:
            _copy_to_variable(parser, parameter)
        else:
            parser.bound[node.arg] = parameter
    bind_variables(parser)
    body = parser.body()
    parameters = tuple(ir.Parameter(use.name, use.use, use.default, use.place) for use in uses)
    return ir.Code(
        name,
        parameters,
        tuple(shared.locals),
        tuple(shared.variables),
        body,
        tuple(shared.sources.values()),
    )


def _copy_to_variable(parser: FunctionParser, parameter: ParameterUse) -> None:
    """A parameter that the program assigns is a number, and a variable of each thread."""
    parameter.use, parameter.used_at = "number", parameter.place
    variable = parser.shared.variable(parameter.name, parser.shared.name)
    parser.bound[parameter.name] = variable
    parser.emit(ir.Assign(variable.name, ir.Number(parameter.name), parameter.place))
