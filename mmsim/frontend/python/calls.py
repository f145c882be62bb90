"""Calls: of words such as atomics, of Python's own functions, and of helpers, with their returns.

A helper is parsed at each of its calls. A return of a program ends the thread; that of a helper
ends one of its calls.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from mmsim.errors import LanguageError, Place
from mmsim.frontend.python import aliases, tables, thread
from mmsim.frontend.python.grammar import MOST_CALLS
from mmsim.frontend.python.loops import Loops
from mmsim.frontend.python.remedies import remedy
from mmsim.frontend.python.scope import (
    RETURNED,
    Alias,
    Captured,
    Entity,
    Missing,
    Role,
    ThreadName,
    TupleName,
    Value,
    VariableName,
    View,
)
from mmsim.frontend.python.source import (
    FunctionText,
    default_numbers,
    defaults_of,
    is_none,
    parameter_names,
    read,
    root,
    source_key,
    written,
)
from mmsim.frontend.python.words import (
    ADVICE,
    FUNCTIONS_OF_PYTHON,
    Atomic,
    Effect,
    Intrinsic,
    Maker,
    Vectors,
    Vocabulary,
    Word,
    arguments_of,
    no_value,
)
from mmsim.ir import nodes as ir

COUNTS = {0: "no number", 1: "one number", 2: "two numbers", 3: "three numbers"}


@dataclass(eq=False)
class Calls(Loops):
    """The calls of one function, and its own returns.

    The statements of a helper replace its call. `leaves` says whether the scope of a helper is left
    before its end; `given` is the value that it returns.
    """

    given: Value | None = None
    leaves: bool = False

    def called_word(self, node: ast.expr) -> Word | None:
        """The word for a called expression, of a program or of Python."""
        word = thread.word(node, self)
        if word is not None:
            return word
        return FUNCTIONS_OF_PYTHON.get(self.captured(node))

    def call(self, node: ast.Call) -> Value:
        """The value of a call."""
        called, place = node.func, self.place(node)
        match self.called_word(called):
            case None:
                pass
            case Effect(value=value) as effect:
                if value is None:
                    raise no_value(effect, called, self)
                result = ir.Var(self.temporary(), place)
                self.effect(effect, node, result.name)
                return value(result, place)
            case Intrinsic() as intrinsic:
                return self.intrinsic(intrinsic, node)
            case Atomic() as atomic:
                target = self.temporary()
                self.atomic(node, atomic, target)
                return ir.Var(target, place)
            case Maker(called=name):
                raise self.refuse(
                    node,
                    f"{name} stands inside an expression",
                    remedy(called, self)
                    or f"write name = {name}(...) at the top level of the function",
                )
            case Vectors():
                raise self.refuse(
                    node, "the vectors of an array have an index", f"write {written(node)}[i]"
                )
            case _:
                text = written(called)
                raise self.refuse(node, f"{text!r} is a number", "write it without ()")
        builtin = BUILTINS.get(self.captured(called))
        if builtin is not None:
            return builtin(self, node)
        is_unknown = isinstance(self.captured(called), Missing)
        if isinstance(called, ast.Attribute) and called.attr == "conjugate" and is_unknown:
            return self.conjugate(node, called)  # the method of a number
        returned = self.inline(node, self.callee(node))
        if returned is None:
            raise self.refuse(node, f"{written(called)!r} returns nothing")
        return returned

    def effect(self, word: Effect, node: ast.Call, target: str | None) -> None:
        """The statement of a word, after its operands."""
        name, place = word.noun or written(node.func), self.place(node)
        arguments = arguments_of(node, name, word.parameters, self)
        self.emit(word.emit(target, tuple(self.operands(*arguments)), place))

    def atomic(self, node: ast.Call, word: Atomic, target: str | None) -> None:
        """The statement for an atomic."""
        called, place, count = written(node.func), self.place(node), len(word.parameters)
        if len(node.args) != count or node.keywords:
            raise self.refuse(
                node,
                f"{called} takes {count} arguments",
                f"write {called}({', '.join(word.parameters)})",
            )
        array = self.in_memory(
            node.args[0], called, "which no other thread sees", "change it by an assignment"
        )
        operands = self.atomic_index(node.args[1])
        for one in node.args[2:]:
            operands = self.followed(operands, one)

        def atomic(part: View, given: list[ir.Expr]) -> ir.Stmt:
            *at, value = given
            compare = at.pop() if word.op == "cas" else None
            where = part.element(at)
            return ir.Atomic(target, word.op, part.array, where, compare, value, place)

        self.emit_for(array, operands, atomic, place)

    def atomic_index(self, node: ast.expr) -> list[ir.Expr]:
        """The numbers of an atomic's index; for a tuple, those in it."""
        if isinstance(node, ast.Tuple) and node.elts:
            return self.operands(*node.elts)
        if isinstance(node, ast.Name) and isinstance(self.entity(node.id), TupleName):
            raise self.refuse(node, f"{node.id!r} is a tuple", "write its numbers, as in (i, j)")
        return self.operands(node)

    def intrinsic(self, word: Intrinsic, node: ast.Call) -> Value:
        """The value of a function without an effect."""
        if len(node.args) not in word.arities or node.keywords:
            takes = " or ".join(COUNTS[arity] for arity in word.arities)
            raise self.refuse(node, f"{written(node.func)} takes {takes} here")
        of_text = self.float_of_text(node)
        if of_text is not None:
            return of_text
        return word.value(tuple(self.operands(*node.args)), self.place(node))

    def least_or_most(self, node: ast.Call) -> ir.Expr:
        """min(...) and max(...)."""
        op = "min" if self.captured(node.func) is min else "max"
        if len(node.args) < 2 or node.keywords:
            raise self.refuse(node, f"{op} takes two or more numbers here")
        place = self.place(node)
        first, *rest = self.operands(*node.args)
        for position, other in enumerate(rest, start=1):
            first = self.link(ir.Binary(op, first, other, place), position, place)
        return first

    def conjugate(self, node: ast.Call, called: ast.Attribute) -> ir.Expr:
        """z.conjugate()."""
        if node.args or node.keywords:
            raise self.refuse(node, f"{written(called)} takes no number here")
        number = self.expression(called.value)
        return ir.Call("conjugate", (number,), self.place(node))

    def divmod_of(self, node: ast.Call) -> tuple[ir.Expr, ir.Expr]:
        """divmod(x, y)."""
        if len(node.args) != 2 or node.keywords:
            raise self.refuse(node, "divmod takes two numbers")
        place = self.place(node)
        operands = self.operands(*node.args)
        left, right = (self.spill(one, place) for one in operands)
        return ir.Binary("//", left, right, place), ir.Binary("%", left, right, place)

    def float_of_text(self, call: ast.Call) -> ir.Const | None:
        """float('inf') and other floats in the form of a text; None for any other call."""
        node = call.args[0] if call.args else None
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
            return None
        if self.captured(call.func) is not float:
            return None
        try:
            return ir.Const(float(node.value))
        except ValueError:
            raise self.refuse(
                node, f"{node.value!r} is not a float", "write float('inf') or float('nan')"
            ) from None

    def length(self, node: ast.Call) -> ir.Expr:
        """len(a) of an array, a tuple or a table."""
        if len(node.args) == 1 and not node.keywords:
            (owner,) = node.args
            array = self.array(owner)
            if array is None and isinstance(owner, ast.Subscript) and self.array(root(owner)):
                array = self.alias(owner, Role(self.place(owner)))
            if array is not None:
                return aliases.extent_of(array, 0, None, self.place(node))
            if self.gives_tuple(owner) or isinstance(owner, ast.Attribute):
                value = self.value(owner)
                if isinstance(value, tuple):
                    return ir.Const(len(value))
            self.refuse_no_array(owner)
        raise self.refuse(node, "len takes an array, a tuple or a table")

    def callee(self, node: ast.Call) -> types.FunctionType:
        """The helper of a call; every other call is refused."""
        target = self.captured(node.func)
        helper = thread.helper(target)
        if helper is not None:
            return helper
        text = written(node.func)
        advice = remedy(node.func, self)
        if isinstance(target, types.BuiltinFunctionType) and target.__module__ in ADVICE:
            raise self.refuse(
                node.func, f"{text!r} isn't in the language of programs", ADVICE[target.__module__]
            )
        if isinstance(target, Missing):
            advice = advice or "define the function above the program"
            if isinstance(node.func, ast.Name) and node.func.id in self.bound:
                advice = f"{text!r} is a name of this function; give that another name"
            raise self.refuse(node.func, f"{text!r} is not a function here", advice)
        raise self.refuse(
            node.func,
            f"the call of {text!r} isn't in the language of programs",
            advice
            or "call min, max, abs, divmod, len, int, float, complex, bool or a function of the "
            "language",
        )

    def inline(self, node: ast.Call, function: types.FunctionType) -> Value | None:
        """Inline a call; return its value, None if it has none."""
        unit = self.unit
        self.check_call(node, function)
        text = read(function)
        arguments = self.helper_arguments(node, function, text)
        scope = unit.unique(text.node.name)
        value = unit.unique(f"{text.node.name}_value")
        looping = self.looping or self.loops > 0
        inner = type(self)(unit, function, text, {}, scope, value, looping)
        for name, argument in arguments.items():
            inner.bound[name] = self.argument(name, argument, inner)
        inner.bind_variables()
        unit.sources[source_key(text.source)] = text.source
        unit.stack.append(function)
        body = inner.body()
        unit.stack.pop()
        if looping:
            self.emit(inner.forget(arguments))
        if inner.leaves:
            self.emit(ir.Scope(scope, body))
        else:
            self.block.extend(body)
        given = inner.given
        return None if given is None else placed(given, self.place(node))

    def helper_arguments(
        self, node: ast.Call, function: types.FunctionType, text: FunctionText
    ) -> dict[str, ast.expr | Captured]:
        """Parameter names, with the arguments of the call."""
        parameters = parameter_names(text)
        given: dict[str, ast.expr | Captured] = {}
        most, count = len(parameters), len(node.args)
        if count > most:
            raise self.refuse(node, f"{function.__name__!r} takes {most} arguments, not {count}")
        given.update(zip(parameters, node.args, strict=False))
        for keyword in node.keywords:
            if keyword.arg is None:
                raise self.refuse(
                    keyword.value, "** isn't in the language", "write the arguments one by one"
                )
            if keyword.arg not in parameters or keyword.arg in given:
                raise self.refuse(node, f"{function.__name__!r} can't take {keyword.arg!r} here")
            given[keyword.arg] = keyword.value
        for name, value in defaults_of(function, parameters).items():
            given.setdefault(name, Captured(value))
        missing = [name for name in parameters if name not in given]
        if missing:
            raise self.refuse(node, f"the call of {function.__name__!r} lacks {missing[0]!r}")
        return given

    def forget(self, arguments: Iterable[str]) -> ir.Forget:
        """The start of a call in a loop: none of its names keep their old values."""
        own = [self.bound[name] for name in self.assigned if name not in arguments]
        names = [one for one in own if isinstance(one, VariableName | TupleName)]
        values = *(self.variables_of(one, self.text.node) for one in names), self.given or ()
        variables = (leaf.name for leaf in tables.leaves(values) if isinstance(leaf, ir.Var))
        arrays = self.declared.values()
        registers = tuple(one.name for one in arrays if one.kind == "registers")
        return ir.Forget(tuple(variables), registers)

    def check_call(self, node: ast.Call, function: types.FunctionType) -> None:
        """Refuse recursion, and more calls than a program may have."""
        if function in self.unit.stack:
            raise self.refuse(
                node, f"{function.__name__!r} calls itself", "write a loop instead of recursion"
            )
        self.unit.calls += 1
        if self.unit.calls > MOST_CALLS:
            raise self.refuse(
                node,
                f"the program grows to more than {MOST_CALLS} calls",
                "a call stands for the function's body; call fewer functions from functions",
            )

    def argument(self, name: str, argument: ast.expr | Captured, own: Calls) -> Entity:
        """The meaning of the parameter `name` of an inlined function."""
        assigned = name in own.assigned
        if isinstance(argument, Captured):  # a default
            if not assigned:
                return argument
            default = default_numbers(own.python, own.text)[name]
            return self.value_argument(name, ir.Const(default), own, own.place(own.text.node))
        role = own.role(name)
        if role is not None and role.shape is None:
            return self.alias(argument, role)
        if isinstance(argument, ast.Name):
            entity = self.entity(argument.id)
            if not assigned and not isinstance(entity, VariableName | TupleName | Missing):
                return entity
            if isinstance(entity, ThreadName):
                raise own.refuse(
                    own.text.node, f"{own.python.__name__!r} assigns its parameter {name!r}"
                )
        value, place = self.value(argument), self.place(argument)
        if isinstance(value, Alias):
            if assigned:
                own.learn(name, Role(place))
            return value
        return self.value_argument(name, value, own, place)

    def value_argument(
        self, name: str, value: Value, own: Calls, place: Place
    ) -> VariableName | TupleName:
        """A number or a tuple that an inlined function gets."""
        shape, role = tables.shape_of(value), own.role(name)
        if isinstance(value, tuple):
            if tables.has_arrays(value):
                raise LanguageError(
                    "a tuple of arrays is handed to a function", place, "hand the arrays one by one"
                )
            if name in own.assigned and role is None:
                own.learn(name, Role(place, shape))
            if role is not None and role.shape != shape:
                raise LanguageError(
                    f"{name!r} of {own.python.__name__!r} is given tuples of several sizes",
                    place,
                    "write a function for each size",
                )
        given = self.unit.several(name, own.python.__name__, shape)
        if isinstance(given, TupleName):
            value = self.spill_all(value, place)
        elif name not in own.assigned and (known := self.launch_constant(value)) is not None:
            self.unit.constants[given.name] = known
        self.set_all(self.variables_of(given, own.text.node), value, place)
        return given

    def return_(self, node: ast.Return) -> None:
        """Return, with a value or without one; in the program this ends the thread."""
        place = self.place(node)
        if self.scope is None:
            self.emit(ir.Return(place))
            return
        last = self.depth == 0 and node is self.text.node.body[-1]
        if node.value is not None and not is_none(node.value):
            role = self.role(RETURNED)
            if role is None:
                self.give(self.value(node.value), node, last)
            else:
                self.give(self.alias(node.value, role), node, last)
        if last:
            return  # the end of the function anyway
        self.leaves = True
        self.emit(ir.Leave(self.scope, place))

    def give(self, value: Value, node: ast.Return, last: bool) -> None:
        """Keep the value that a function returns."""
        place = self.place(node)
        if tables.has_arrays(value):
            if not last or self.given is not None:
                raise self.refuse(
                    node,
                    "an array is returned from more than one place",
                    "return arrays in the function's last line alone",
                )
            self.given = self.spill_all(value, place)
            return
        numbers, shape, own = tables.leaves(value), tables.shape_of(value), self.python.__name__
        if self.given is None:
            if last and all(isinstance(one, ir.Number) for one in numbers):
                self.given = value  # parameters, which may turn out to be arrays
                return
            self.given = ir.Var(self.given_name, place)
            if shape is not None:
                name = self.unit.several(self.given_name, own, shape)
                self.given = self.variables_of(name, node)
        if tables.shape_of(self.given) != shape:
            raise self.refuse(
                node,
                f"{own!r} returns something of another size elsewhere",
                "return a number everywhere, or a tuple of one size",
            )
        if len(numbers) > 1:
            value = self.spill_all(value, place)
        self.set_all(self.given, value, place)


BUILTINS: Vocabulary[Callable[[Calls, ast.Call], Value]] = Vocabulary(
    [
        (min, Calls.least_or_most),
        (max, Calls.least_or_most),
        (divmod, Calls.divmod_of),
        (len, Calls.length),
    ]
)
"""Python's functions that take more than numbers."""


def placed(value: Value, place: Place) -> Value:
    """The value of a call, at the place of the call."""
    if isinstance(value, tuple):
        return tuple(placed(part, place) for part in value)
    if isinstance(value, ir.Var):
        return ir.Var(value.name, place)
    return value
