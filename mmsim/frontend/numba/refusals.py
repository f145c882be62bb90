"""Numba's refusals in our words: the place in the text, what is wrong, and what to write instead.

Numba names the instruction that it refuses. The types of its operands say what is wrong with it.
"""

from __future__ import annotations

import ast
import re
import types as python
from typing import Any

from numba.core import ir as numba_ir
from numba.core import types
from numba.core.ir_utils import get_definition, guard

from mmsim.errors import LanguageError, Place
from mmsim.frontend.numba.names import AXES
from mmsim.frontend.numba.places import Places
from mmsim.frontend.numba.signatures import CALLED, Namespace, Refusal, Vector
from mmsim.frontend.numba.words import RULES, VALUES
from mmsim.frontend.python.function import with_article
from mmsim.frontend.python.grammar import ADVICE, OWN_ARRAY, STATEMENT_ADVICE
from mmsim.frontend.python.source import FunctionText, parsed, source_of
from mmsim.ir import nodes as ir

LOCAL = "a cuda.local.array"
OF_AXES = "write {text}.x, .y or .z"
KINDS: tuple[tuple[Any, str, str], ...] = (
    (types.NoneType, "None", "give it a number"),
    (types.Optional, "None on some paths", "give it a number on every path"),
    (types.Array, "an array", "read an element of it, with a number for each axis"),
    (types.Record, "a record", "read a field of it"),
    (types.BaseTuple, "a tuple", "take its values one by one"),
    ((types.List, types.ListType), *ADVICE[ast.List]),
    (types.Set, *ADVICE[ast.Set]),
    (types.DictType, *ADVICE[ast.Dict]),
    ((types.UnicodeType, types.StringLiteral), *ADVICE[ast.JoinedStr]),
    (types.EnumMember, "a member of an enumeration", "write {text}.value"),
    (types.EnumClass, "an enumeration", "write the value of a member"),
    (types.Module, "a module", "write a name in it"),
    ((types.Callable, types.MakeFunctionLiteral), "a function", "call it, as {text}(...)"),
    (Namespace, "not a number", OF_AXES),
)
"""Kinds of values other than numbers, by Numba's types, and what to write instead."""
ALLOWED = (ast.Tuple, ast.Slice, ast.Starred, ast.Raise, ast.Assert)
OUTSIDE = {kind: row for kind, row in (ADVICE | STATEMENT_ADVICE).items() if kind not in ALLOWED}
"""Python that kernels don't have, if Numba refuses it."""
TOO_LARGE = "programs compute with integers from -2^63 to 2^64 - 1"
Said = tuple[str, str] | None
"""A message and its advice; None if there is nothing to say."""
_COLOUR = re.compile("\x1b\\[[0-9;]*m")
_LITERAL = re.compile(r"Literal\[\w+\]\((.*?)\)")
_KNOWN = (
    (
        r".*Int value is too large: (\d+).*",
        rf"the integer \1 doesn't fit into 64 bits; {TOO_LARGE}",
    ),
    (r".*Variable ('\w+') is not defined.*", r"\1 has no value here; assign it before"),
    (r".*'expected (\d+), got (\d+)'.*", r"\1 names can't take \2 values; write as many"),
    (r"tuple index out of range.*", "the tuple has no such value; count from 0"),
    (
        r".*Invalid NumPy dtype specified: ('[^']*').*",
        r"\1 is not a type of elements; write a type, as numba.float32",
    ),
    (
        r".*constant type used for exception.*",
        "only exceptions can be raised; write one, as ValueError",
    ),
    (
        r"Cannot unify (.*?) and (.*?) for '\$.*",
        r"the value is \1 on one way and \2 on another; give it one kind of value",
    ),
    (
        r"Cannot unify (.*?) and (.*?) for '([^'.]*)[^']*', defined at.*",
        r"'\3' is \1 on one way and \2 on another; give each a name of its own",
    ),
    (
        r".*Cannot capture .* associated with variable ('.*?') in a function that may .*",
        r"the function uses \1, which is no constant; call it here, don't hand it on",
    ),
    (
        r"Unsupported constraint encountered: raise .*",
        "an exception takes numbers and text in a kernel; leave its arguments out",
    ),
    (
        r".*reshape\(\) supports contiguous array only.*",
        "only an array in row-major order can be reshaped; copy it into one",
    ),
    (
        r".*'mark_try_block' is not defined.*",
        "try isn't in the language of programs; avoid the error with an if",
    ),
    (r".*unify return type.*", "the function returns values of several kinds; return one kind"),
)
"""Messages of Numba that say what is wrong, in our words."""

DEBUGGERS = {"breakpoint", "set_trace"}
CALLS = "set MMSIM_PYTHON=1 in the environment, so that launches call the Python function"


def kind_of(type_: types.Type) -> str:
    """A type in words."""
    own = types.unliteral(type_)
    if isinstance(own, types.Array) and isinstance(own.dtype, types.Number | types.Boolean):
        return f"an array of {own.dtype}"
    return next((noun for known, noun, _ in KINDS if isinstance(own, known)), str(own))


def outside_of(source: ir.Source, line: int | None) -> LanguageError | None:
    """The error for Python that kernels don't have, in a line or anywhere; None without any."""
    node = parsed(source)
    if isinstance(node, ast.FunctionDef):
        text = FunctionText(source, node)
        for one in (inner for part in node.body for inner in ast.walk(part)):
            what, advice = OUTSIDE.get(type(one), ("", ""))
            place = text.place(one) if what else None
            if place is not None and line in (None, place.line):
                message = f"{what} isn't in the language of programs"
                return LanguageError(message, place, advice.replace(OWN_ARRAY, LOCAL))
    return None


def debugger_in(source: ir.Source) -> LanguageError | None:
    """The error for a function that calls a debugger; None for others."""
    node = parsed(source)
    if isinstance(node, ast.FunctionDef):
        text = FunctionText(source, node)
        for one in ast.walk(node):
            if isinstance(one, ast.Call) and ast.unparse(one.func).split(".")[-1] in DEBUGGERS:
                return LanguageError(
                    "no debugger stops in a simulated launch", text.place(one), CALLS
                )
    return None


def refusal(function: python.FunctionType, error: Exception, infer: Any) -> LanguageError:
    """The error of ours for one of Numba's; `infer` is the inference of types, if it began."""
    if stop := debugger_in(source_of(function)):
        return stop
    at, error = (None, error) if infer is None else infer.refused(error)
    if isinstance(error.__cause__, LanguageError):  # of a function that this one calls
        return error.__cause__
    places = Places(function, source_of(function))
    text = _LITERAL.sub(r"\1", _COLOUR.sub("", str(error))).strip()
    said = re.search(r"\((\d+)\)$", text)  # unsupported bytecode
    loc = getattr(error, "loc", None)
    line = int(said[1]) if said else None if loc is None else int(loc.line)
    place = places.line(line or places.source.first) if at is None else places.of(at)
    if isinstance(error, Refusal):
        return LanguageError(error.what, place, error.advice)
    if "@pytest_ar" in function.__code__.co_names and "assert" in place.text:
        return LanguageError(
            "pytest has rewritten this assert, and calls its own functions",
            place,
            "write PYTEST_DONT_REWRITE in the docstring of the file",
        )
    for one, ours in _KNOWN:
        if re.fullmatch(one, text, re.DOTALL):
            what, _, advice = re.sub(one, ours, text, flags=re.DOTALL).partition("; ")
            return LanguageError(what, place, advice)
    found = outside_of(places.source, line if at is None else place.line)
    known = None if at is None else Explanation(places, infer, at).found()
    if known is not None and (found is None or not _within(place, found.place)):
        return LanguageError(known[0], place, known[1])
    opcode = re.match(r"Use of unsupported opcode \((\w+)\)", text)
    text = f"Numba refuses this: {text or type(error).__name__}".partition("\n")[0]
    text = f"kernels don't have the instruction {opcode[1]}" if opcode else text
    return found or LanguageError(text, place)


def _within(inner: Place, outer: Place) -> bool:
    """Return whether a place lies within another of the same line."""
    return outer.column <= inner.column and inner.end_column <= outer.end_column


class Explanation:
    """The reason for which Numba refuses an instruction, by the types of its operands."""

    def __init__(self, places: Places, infer: Any, at: Any) -> None:
        self.places = places
        self.infer = infer
        self.at = at
        self.place = places.of(at)

    def type_of(self, var: Any) -> Any:
        """Numba's type of a variable, None if it has none yet."""
        return getattr(self.infer.typevars.get(var.name), "type", None)

    def found(self) -> Said:
        """The message and the advice, if they are clear from the types."""
        source: Any = self.at.value if isinstance(self.at, numba_ir.Assign) else self.at
        if isinstance(source, numba_ir.Global | numba_ir.FreeVar):
            return self.name(source.name, source.value)
        is_set = isinstance(source, numba_ir.SetItem | numba_ir.StaticSetItem | numba_ir.SetAttr)
        if not is_set and not isinstance(source, numba_ir.Expr):
            return None
        op = "setitem" if is_set else source.op
        parts = {**vars(source), "value": source.target} if is_set else source._kws
        owner = parts.get("func", parts.get("value"))
        if op in ("binop", "inplace_binop", "unary"):
            op, owner = "operator", None
        elif "attr" in parts:
            return self.attribute(owner, parts["attr"])
        elif owner is None:
            return None
        given = source.list_vars()
        if owner is not None:
            given.remove(owner)
        return (
            (self.owned(op, owner, given) if owner is not None else None)
            or next(filter(None, map(self.no_number, given)), None)
            or self.for_reals(op, owner, given)
            or self.in_general(given if op == "call" else source.list_vars())
        )

    def name(self, name: str, value: Any) -> Said:
        """A name from outside whose value has no meaning in a kernel."""
        if name not in self.place.text:
            return None
        if isinstance(value, numba_ir.UndefinedType):
            return (
                f"the name {name!r} means nothing here",
                "assign it first, make it a parameter, or define it above the program",
            )
        if callable(value):
            return _lacking(name)
        return (
            f"{name!r} is {with_article(type(value).__name__)} from outside the program",
            "numbers, tuples, tables of numbers and functions of the language can be captured",
        )

    def attribute(self, var: Any, name: str) -> Said:
        """x.name of an object without it."""
        owner, text = self.type_of(var), f"{self.places.text_of(var)}.{name}"
        if text not in self.place.text:
            return None
        if isinstance(owner, types.Module) and hasattr(owner.pymod, name):
            return _lacking(text)
        names = ", ".join(_members(owner))
        return f"{text!r} doesn't exist", f"it has {names}" if names else ""

    def owned(self, op: str, owner: Any, given: list[Any]) -> Said:
        """A value that can't be called, indexed or iterated."""
        type_, text = self.type_of(owner), self.places.text_of(owner)
        index = self.type_of(given[0]) if given else None
        if op == "call":
            if text in CALLED.replace(",", "").split():
                return None  # it is in the language, for other values
            is_inlined = any(one.__name__ == "Inlined" for one in getattr(type_, "templates", ()))
            is_lacking = is_inlined or isinstance(type_, types.BoundFunction)
            if (is_lacking or "numpy" in str(type_)) and text.replace(".", "").isidentifier():
                return _lacking(text)
            if isinstance(type_, types.Callable | types.TypeRef):
                return None
            return f"{text!r} is {kind_of(type_)}, not a function", "write it without ()"
        record = getattr(type_, "dtype", type_)
        if isinstance(record, types.Record) and isinstance(index, types.StringLiteral):
            return f"{text!r} has no such field", f"it has {', '.join(record.fields)}"
        if op == "setitem" and isinstance(type_, types.Array) and not type_.mutable:
            return (
                f"{text!r} is an array from outside the program",
                "it is constant; make it a parameter and pass it to the kernel",
            )
        if isinstance(type_, types.BaseTuple) and op == "setitem":
            advice = f"assign a new tuple, or use {LOCAL}"
            return f"{text!r} is a tuple, whose values stay as they are", advice
        if isinstance(type_, types.Array):
            if isinstance(index, types.BaseTuple) and len(index) > type_.ndim:
                axes = "1 axis" if type_.ndim == 1 else f"{type_.ndim} axes"
                what = f"{text!r} has {axes}, and the index {len(index)} numbers"
                return what, "write a number for each axis"
        elif not isinstance(type_, types.BaseTuple):
            advice = (
                OF_AXES if isinstance(type_, Namespace) else "only arrays and tuples have elements"
            )
            return f"{text!r} is {kind_of(type_)}", advice.format(text=text)
        elif op in ("getitem", "getiter"):
            advice = "write a number as the index" + " of each" * (op == "getiter")
            return f"the values of {text!r} are of several kinds", advice
        return None

    def no_number(self, var: Any) -> Said:
        """An operand of another kind than numbers."""
        type_, text = self.type_of(var), self.places.text_of(var)
        made = guard(get_definition, self.infer.func_ir, var)
        if isinstance(type_, types.NoneType) and getattr(made, "op", "") == "call":
            called = self.places.text_of(made.func)
            return f"{called!r} has no value", f"write {called}() as a statement of its own"
        for known, noun, advice in KINDS:
            if isinstance(type_, known):
                whole = advice.replace(OWN_ARRAY, LOCAL).format(text=text)
                return f"{text!r} is {noun}", whole
        return None

    def for_reals(self, op: str, owner: Any, given: list[Any]) -> Said:
        """A function, or an array, of real numbers that gets a complex one."""
        complexes = [one for one in given if isinstance(self.type_of(one), types.Complex)]
        if not complexes or op == "operator":
            return None
        text = self.places.text_of(owner)
        if op == "call":
            what = f"{text.rpartition('.')[2]} takes real numbers, and this one is complex"
            return what, "give it abs(z), z.real or z.imag"
        number = self.places.text_of(complexes[0])
        return f"{number!r} is complex, and {text!r} holds real numbers", f"write {number}.real"

    def in_general(self, several: list[Any]) -> Said:
        """An operation that is not there for numbers of these types."""
        own = [self.type_of(one) for one in several]
        if None in own or not own:
            return None
        *most, last = map(kind_of, own)
        kinds = f"{', '.join(most)} and {last}" if most else last
        text = self.place.text[self.place.column : self.place.end_column]
        return f"{text!r} has no meaning for {kinds}", ""


def _lacking(text: str) -> Said:
    return f"the call of {text!r} isn't in the language of programs", CALLED


def _members(owner: Any) -> tuple[str, ...]:
    """The attributes that values of a type have."""
    if isinstance(owner, Namespace):
        whole = f"{owner.member}."
        return tuple(one.removeprefix(whole) for one in (*VALUES, *RULES) if one.startswith(whole))
    if isinstance(owner, Vector):
        return tuple(AXES[: owner.count])
    if hasattr(owner, "fields"):  # a record, or a named tuple
        return tuple(owner.fields)
    if isinstance(owner, types.Array):
        return ("shape", "size", "ndim", "dtype")
    return ("real", "imag") if isinstance(owner, types.Number) else ()
