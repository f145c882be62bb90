"""Calls of functions of Python, NumPy, math and numba.cuda, and of numbers' methods.

Those of numba.cuda are barriers, exchange, atomics, and arrays that a kernel makes.
"""

from __future__ import annotations

import cmath
import operator
import types as python
import warnings
from dataclasses import replace
from functools import cache, reduce
from typing import Any, ClassVar, Literal, cast

import numpy as np
from numba.core import types
from numba.np.npdatetime_helpers import get_best_unit, get_timedelta_conversion_factor
from numba.np.numpy_support import as_dtype, ufunc_find_matching_loop

from mmsim.errors import LanguageError, Place
from mmsim.frontend.numba.axes import PARTS, form_of
from mmsim.frontend.numba.base import base_of
from mmsim.frontend.numba.context import DeviceFunction, context
from mmsim.frontend.numba.inlined import InlineLowering
from mmsim.frontend.numba.kinds import in_bits
from mmsim.frontend.numba.libdevice import LIBRARIES
from mmsim.frontend.numba.library import (
    CALLS,
    COMPLEX,
    OF_COMPLEX,
    OF_DATES,
    WRITTEN_OUT,
    of_numba,
)
from mmsim.frontend.numba.signatures import CALLED, Given, Vector
from mmsim.frontend.numba.templates import WRITTEN, Word, sum_as
from mmsim.frontend.numba.values import (
    DATES,
    NONE,
    OPERATORS,
    Counted,
    Index,
    Method,
    Object,
    Slice,
    Value,
    dtype_of,
    is_number,
)
from mmsim.frontend.numba.words import RULES
from mmsim.frontend.python.scope import Alias, View
from mmsim.frontend.python.tables import leaves
from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import INT, Type, part

OF_NUMBER = {"bit_count": "popc", "conjugate": "conjugate"}
"""The functions that methods of numbers are."""
OF_ELEMENT = ("item", "take")
"""The methods that give the element of an array without axes."""
OF_BITS = ("add", "sub", "and", "or", "xor", "exch", "cas")
"""The atomics that do the same to integers with and without a sign."""
DYNAMIC = "dynamic_shared"
"""The name of the array of dynamic shared memory."""


class CallLowering(InlineLowering):
    """The calls of one function."""

    def call(self, source: Any, one: Any) -> Value:
        """The value of a call."""
        type_: Any = self.type_at(source.func)
        sig: Any = self.found.calls.get(source)
        called = self.of(source.func)
        args = [*map(self.of, source.args)]
        if source.vararg is not None:
            args += self.of(source.vararg)
        kws = {name: self.of(var) for name, var in source.kws}
        if isinstance(type_, Word):
            package, _, name = type_.member.rpartition(".")
            library = LIBRARIES.get(package)
            meaning = library[name].meaning if library else ""
            if callable(meaning):
                return self.numeric(meaning, [*args, *kws.values()], sig)
            return self.word(type_.member, args, kws, sig, one.target)
        if isinstance(type_, DeviceFunction):
            return self.inlined(type_.function, sig.args, args, kws)
        if isinstance(type_, types.NumberClass | types.DType):
            return self.as_type(self.single(args[0]), sig.return_type)
        if isinstance(type_, types.ExceptionClass):
            return NONE  # `raise` says all of it
        if isinstance(type_, types.NamedTupleClass):
            fields = type_.instance_class._fields[len(args) :]
            return tuple((*args, *(kws[name] for name in fields)))
        if isinstance(sig.return_type, types.BooleanLiteral):
            return ir.Const(sig.return_type.literal_value)
        simple = self.simple(called) if isinstance(called, Method) else None
        if simple is not None:
            return simple
        before = (called.owner,) if isinstance(called, Method) else ()
        given = sig.args if sig.recvr is None else (sig.recvr, *sig.args)
        written = WRITTEN.get((getattr(type_, "typing_key", None), given))
        if written is not None:
            text = self.places.text_of(source.func)
            return self.of_numba(written, given, [*before, *args], kws, text)
        thing = called.thing if isinstance(called, Object) else None
        is_sum = thing is np.sum or (isinstance(called, Method) and called.name == "sum")
        if is_sum and is_number(sig.return_type):  # of old versions of Numba
            wanted: Any = as_dtype(sig.return_type).type
            return self.inlined(sum_as(wanted), given[:1], [*before, *args][:1], {})
        if isinstance(called, Method) and isinstance(called.owner, Slice):
            return self.bounds(called.owner, self.single(args[0]))
        if isinstance(called, Method) and isinstance(called.owner, Alias):
            return self.method_of_array(called.owner, type_.this, called.name, args, sig)
        own = self.BUILT_IN.get(thing)
        if own is not None:
            return own(self, args, sig)
        has_dates = any(isinstance(getattr(one, "dtype", one), DATES) for one in sig.args)
        if isinstance(thing, np.ufunc) and len(args) == thing.nin + 1 and not has_dates:
            return self.elementwise(thing, type_, args)
        return self.operation(thing, args, sig)

    def operation(self, fn: Any, values: list[Value], sig: Any) -> Value:
        """The value of an operator, or of another function of numbers."""
        raise NotImplementedError

    def of_numba(
        self, function: Any, given: Given, args: list[Value], kws: dict[str, Value], text: str
    ) -> Value:
        """The value of a call of what Numba writes in Python; errors have the place of the call."""
        try:
            return self.inlined(function, given, args, kws)
        except LanguageError:  # its place is in the text of Numba
            name = text if text.replace(".", "").isidentifier() else function.__name__
            raise self.refused(
                f"the call of {name!r} isn't in the language of programs", CALLED
            ) from None

    def simple(self, method: Method) -> ir.Expr | None:
        """The value of a method of a number, or of an array with one element; None for others."""
        is_array = isinstance(method.owner, Alias)
        if method.name in OF_ELEMENT and not (is_array and self.rank(method.owner)):
            return self.single(method.owner)
        if is_array or method.name not in OF_NUMBER:
            return None
        return ir.Call(OF_NUMBER[method.name], (method.owner,), self.place)

    # Functions of numbers

    def numeric(self, thing: Any, args: list[Value], sig: Any) -> Value:
        """The value of a function of numbers, computed in the types of its signature."""
        if thing is bool and isinstance(args[0], tuple):
            return ir.Const(bool(args[0]))
        if any(isinstance(one, DATES) for one in sig.args):
            return self.of_dates(thing, args, sig)
        if thing is float and isinstance(args[0], Object):
            return self.float_of(args[0].thing)
        if thing in (int, float, bool, complex) and len(args) == 1:
            return self.as_type(self.single(args[0]), sig.return_type)
        given = [
            self.as_type(self.single(value), getattr(type_, "dtype", type_))
            for value, type_ in zip(args, sig.args, strict=True)
        ]
        if isinstance(thing, np.ufunc):
            loop: Any = ufunc_find_matching_loop(thing, sig.args)
            given = [*map(self.as_type, given, loop.inputs)]
            is_whole = isinstance(sig.return_type, types.Integer)
            if is_whole and thing in (np.floor, np.ceil, np.trunc):
                return given[0]
        is_complex = any(self.type_of(one).kind == "c" for one in given)
        node: Any = OPERATORS.get(thing)
        is_own = isinstance(thing, python.FunctionType)
        written = thing if is_own else WRITTEN_OUT.get((thing, len(args)))
        if written is not None and (node is None or is_complex):
            return self.written_out(written, given)
        if getattr(thing, "__module__", "") == "cmath":
            return self.as_type(self.of_complex(thing.__name__, given), sig.return_type)
        if node is not None:
            return node[0](node[1], *given, self.place)
        op = CALLS.get(thing)
        if op is None:
            text = getattr(thing, "__name__", thing)
            raise self.refused(f"the call of {text!r} isn't in the language of programs", CALLED)
        is_written = is_complex and op in COMPLEX
        own = self.of_complex(op, given) if is_written else ir.Call(op, tuple(given), self.place)
        return self.as_type(own, sig.return_type)

    def of_dates(self, thing: Any, args: list[Value], sig: Any) -> Value:
        """The value of a function of dates, in the smallest unit of them."""
        name = OPERATORS.get(thing, (None, getattr(thing, "__name__", "")))[1]
        pairs = [*zip(map(self.single, args), sig.args, strict=True)]
        if not isinstance(pairs[0][1], DATES):  # a number times a time
            pairs.reverse()
        units = [type_.unit for type_ in (*sig.args, sig.return_type) if isinstance(type_, DATES)]
        unit, given = reduce(get_best_unit, units), list[ir.Expr]()
        for value, type_ in pairs:
            if isinstance(type_, DATES):
                factor = get_timedelta_conversion_factor(type_.unit, unit)
                if factor is None:
                    what = f"times in the units {type_.unit} and {unit} have no common unit"
                    raise self.refused(what, "convert one before the launch: astype('M8[D]')")
                if factor != 1:
                    value = self.written_out(OF_DATES["*", 1], [value, ir.Const(factor)])
            given.append(value)
        written = OF_DATES.get((name, sum(isinstance(one, DATES) for one in sig.args)))
        if written is None:
            raise self.refused(f"the call of {name!r} isn't in the language of programs", CALLED)
        return self.as_type(self.single(self.written_out(written, given)), sig.return_type)

    def float_of(self, text: Any) -> ir.Expr:
        """float("inf") and other floats in the form of a text."""
        try:
            return ir.Const(float(text))
        except (TypeError, ValueError):
            raise self.refused(
                f"{text!r} is not a float", "write float('inf') or float('nan')"
            ) from None

    def written_out(self, function: Any, given: list[ir.Expr]) -> Value:
        """The call of a function that is written in the language of kernels."""
        return self.inlined(function, self.types_of(given), given, {})

    def types_of(self, given: list[ir.Expr]) -> Given:
        """Numba's types of numbers."""
        return tuple(context().resolve_value_type(self.type_of(one).type()) for one in given)

    def of_complex(self, name: str, given: list[ir.Expr]) -> ir.Expr:
        """The value of a function of complex numbers."""
        types = self.types_of(given)
        written = of_numba(name, types) or OF_COMPLEX.get(name)
        if written is None:
            type_ = context().resolve_value_type(getattr(cmath, name))
            context().resolve_function_type(type_, types, {})
            written = WRITTEN[type_.typing_key, types]
        return self.single(self.written_out(written, given))

    def elementwise(self, ufunc: np.ufunc, type_: Any, args: list[Value]) -> Value:
        """np.sin(a, out): for each element, the result for numbers."""
        *given, out = args
        if not isinstance(out, Alias) or self.fields(out):
            raise self.refused(
                "the result needs an array of numbers", "give one as the last argument"
            )
        sources = [self.spread(one, out) for one in given]

        def value(index: tuple[ir.Expr, ...]) -> ir.Expr:
            numbers = [self.along(one, index) for one in sources]
            sig = context().resolve_function_type(type_, self.types_of(numbers), {})
            found = self.numeric(ufunc, numbers, sig)
            return self.as_type(self.single(found), sig.return_type)

        self.fill(out, value)
        return out

    # Built-in functions

    def _extreme(self, op: str, args: list[Value], sig: Any) -> ir.Expr:
        items = args[0] if len(args) == 1 and isinstance(args[0], tuple) else args
        first, *others = (self.as_type(self.single(one), sig.return_type) for one in items)
        are_floats = len(sig.args) == 2 and all(isinstance(one, types.Float) for one in sig.args)
        for other in others:
            if are_floats:  # where numba-cuda calls fmin and fmax, which leave a NaN out
                function = WRITTEN_OUT[np.fmin if op == "min" else np.fmax, 2]
                first = self.single(self.written_out(function, [first, other]))
            else:
                first = ir.Binary(op, first, other, self.place)
        return first

    def _integers(self, args: list[Value]) -> list[ir.Expr]:
        return [self.as_type(self.single(one), INT) for one in args]

    def _range(self, args: list[Value], sig: Any) -> Counted:
        given = self._integers(args)
        start, stop, *step = given if len(given) > 1 else [ir.Const(0), *given]
        return Counted(stop, start, step[0] if step else ir.Const(1))

    def _ord(self, args: list[Value], sig: Any) -> ir.Expr:
        found = self.characters(args[0])
        if len(found) != 1 or not isinstance(args[0], Object):
            raise self.refused("ord takes one character, which is known before the launch")
        return found[0]

    def _slice(self, args: list[Value], sig: Any) -> Slice:
        given = [None if one == NONE else one for one in args]
        start, stop, *step = given if len(given) > 1 else [None, *given]
        return Slice(start, stop, step[0] if step and step[0] is not None else ir.Const(1))

    def _next(self, args: list[Value], sig: Any) -> Value:
        return self.next_of(self.counted(args[0]))

    def _enumerate(self, args: list[Value], sig: Any) -> Counted:
        first = self.as_type(self.single(args[1]), INT) if len(args) > 1 else ir.Const(0)
        return self.zipped([self.numbers_from(first), args[0]])

    def _arrays_of_one(self, args: list[Value], sig: Any) -> Counted:
        (array,) = args
        if not isinstance(array, Alias):
            raise self.refused("np.nditer takes one array here")
        return self.indices(self.shape(array)).of_items(lambda index: self.part(array, index))

    BUILT_IN: ClassVar[dict[Any, Any]] = {
        range: _range,
        len: lambda self, args, sig: self.length(args[0]),
        ord: _ord,
        type: lambda self, args, sig: Object(sig.return_type),
        operator.getitem: lambda self, args, sig: self.item(*args),
        min: lambda self, args, sig: self._extreme("min", args, sig),
        max: lambda self, args, sig: self._extreme("max", args, sig),
        slice: _slice,
        iter: lambda self, args, sig: self.counted(args[0]),
        next: _next,
        enumerate: _enumerate,
        zip: lambda self, args, sig: self.zipped(args),
        np.ndindex: lambda self, args, sig: self.indices(
            self._integers(args[0] if args and isinstance(args[0], tuple) else args)
        ),
        np.ndenumerate: lambda self, args, sig: self.indices(self.shape(args[0])).of_items(
            lambda index: (index, self.load(args[0], index))
        ),
        np.nditer: _arrays_of_one,
        tuple: lambda self, args, sig: args[0] if args else (),
    }
    """Python's own functions that take more than numbers."""

    # Words of numba.cuda

    def word(
        self,
        member: str,
        args: list[Value],
        kws: dict[str, Value],
        sig: Any,
        target: Any,
    ) -> Value:
        """The value of a call of a function of numba.cuda, which `target` gets."""
        rule, is_used = RULES[member], self.live.uses[target.name] > 0
        named = dict(zip(rule.names, args, strict=False)) | kws
        given = [named[name] for name in rule.names if name in named]
        if member == "const.array_like":
            return given[0]
        if isinstance(sig.return_type, Vector):
            return self.vector(given, sig.return_type)
        match rule.meaning:
            case None:
                return NONE
            case "shared" | "registers" as kind:
                return self.made(kind, named["shape"], sig.return_type, base_of(target))
            case "load":
                return self.single(self.item(*given))
            case "store":
                self.assign_part(self.indexed(*given[:2]), given[2])
                return NONE
            case str(op):
                return self.atomic(cast(ir.AtomicOp, op), named, is_used)
        found = rule.meaning(self.operands(given, sig), self.place)
        if not isinstance(found, ir.Exchange | ir.Barrier):
            return self.as_result(found, sig.return_type)
        if not is_used or sig.return_type == types.none:
            self.block.append(found)
            return NONE
        if isinstance(found, ir.Barrier) and found.op is None:  # of the grid
            self.block.append(found)
            return self.as_result(ir.Const(0), sig.return_type)
        result = self.unit.unique("t")
        self.block.append(replace(found, target=result))
        held = self.unit.held.set_to(found)
        assert held is not None
        self.unit.held.variables[result] = held.type
        return self.as_result(ir.Var(result, self.place), sig.return_type)

    def as_result(self, found: Value, type_: Any) -> Value:
        """The value of a word: as many numbers as its type has."""
        several = found if isinstance(found, tuple) else (found,) * 2
        is_tuple = isinstance(type_, types.BaseTuple)
        return (
            tuple(map(self.as_type, several, type_))
            if is_tuple
            else self.as_type(several[0], type_)
        )

    def vector(self, args: list[Value], type_: Any) -> Value:
        """A vector of numbers, and of the numbers of smaller vectors."""
        numbers = map(self.single, leaves(tuple(args)))
        return tuple(self.as_type(one, type_.base) for one in numbers)

    def operands(self, given: list[Value], sig: Any) -> tuple[ir.Expr, ...]:
        """The operands of a word, in the types of its signature."""
        pairs = zip(given, sig.args, strict=True)
        return tuple(self.as_type(self.single(value), type_) for value, type_ in pairs)

    def atomic(self, op: ir.AtomicOp, given: dict[str, Value], is_used: bool) -> Value:
        """An atomic on an element of an array."""
        array, index = given["array"], given.get("index", ir.Const(0))
        numbers = [*map(self.whole, index if isinstance(index, tuple) else (index,))]
        is_own = isinstance(array, Alias) and not self.fields(array)
        if not is_own or any(part.array in self.unit.tables for part in array.parts):
            raise self.refused("an atomic needs an array of numbers", "make it a parameter")
        if any(self.unit.is_registers(part.array) for part in array.parts):  # it fails on a card
            raise self.refused("an atomic needs an array that threads share", "write a plain +=")
        if self.is_mixed(array):
            known = {name: self.fixed(one) for name, one in given.items()}
            return self.apart(array, lambda one: self.atomic(op, known | {"array": one}, is_used))
        held = self.unit.held.arrays[array.parts[0].array]
        form, value = form_of(array.parts[0]), self.single(given["value"])
        is_part = form in PARTS
        own = held if is_part or not form else np.dtype(form)
        is_whole = own.kind in "iu" and held.kind in "iu" and own.itemsize == held.itemsize
        is_same = own == held or (is_whole and op in OF_BITS)
        if is_part and op in ("add", "sub"):  # -0.0 is added to the other part
            value = self.as_type(value, part(held))
            value = value if op == "add" else ir.Unary("-", value, self.place)
            both = (value, ir.Const(-0.0)) if form == "real" else (ir.Const(-0.0), value)
            op, value = "add", ir.Call("complex", both, self.place)
        elif is_part or not is_same:
            word = part(held) if is_part else own
            if word.itemsize <= held.itemsize:
                self.in_words(array, word, self.unit.whole)
            raise self.refused(
                f"there is no atomic {op} here of {form} values",
                "let all atomics on an array take numbers of the smallest type as which it is read",
            )
        old = self.single(given["old"]) if "old" in given else None
        old = None if old is None else self.reread(self.as_type(old, own), held)
        value = self.reread(self.as_type(value, own), held)
        target = self.unit.temporary(held) if is_used else None

        def make(one: View, operands: list[ir.Expr]) -> ir.Stmt:
            whole = one.element(operands)
            return ir.Atomic(target, op, one.array, whole, old, value, self.place)

        self.emit_for(array, numbers, make)
        if target is None:
            return NONE
        found = ir.Var(target, self.place)
        return ir.Call(form, (found,), self.place) if is_part else self.reread(found, own)

    def whole(self, index: Value) -> ir.Expr:
        """An index of an atomic: Numba converts one that is a float."""
        number = self.single(index)
        return self.as_type(number, INT) if self.type_of(number).kind == "f" else number

    def made(
        self, kind: Literal["shared", "registers"], shape: Value, type_: Any, name: str
    ) -> Alias:
        """An array that the kernel makes, under its name in the text if it has one."""
        extents = tuple(map(self.single, shape if isinstance(shape, tuple) else (shape,)))
        if extents == (ir.Const(0),) and kind == "shared":
            return self.dynamic(dtype_of(type_.dtype))
        name = self.unit.unique(kind if name.startswith("$") else name)
        made = ir.LocalArray(name, kind, extents, None, self.place)
        if is_number(type_.dtype):
            return self.made_of_words(made, dtype_of(type_.dtype))

        def field(name: str, held: Type, shape: Index) -> str:
            self.unit.locals.append(replace(made, name=name, shape=shape, dtype=held.name))
            self.unit.array(name, held, len(shape))
            return name

        self.unit.of_records(name, in_bits(as_dtype(type_.dtype)), extents, field)
        return Alias((View(name),))

    def made_of_words(self, made: ir.LocalArray, type_: Type) -> Alias:
        """An array of numbers, in words of a smaller type if it is viewed as such."""
        held = self.unit.words.get(made.name, type_)
        *others, last = made.shape
        count = ir.Const(last.value * (type_.itemsize // held.itemsize))  # type: ignore[union-attr]
        self.unit.locals.append(replace(made, dtype=held.name, shape=(*others, count)))
        self.unit.array(made.name, held, len(made.shape))
        return self.viewed(Alias((View(made.name),)), held, type_)

    def dynamic(self, type_: Any) -> Alias:
        """The block's dynamic shared memory: one array, whose size the launch gives."""
        count = ir.Const(self.unit.options.dynamic_bytes // type_.itemsize)
        if count == ir.Const(0):
            raise self.refused(
                "the launch has no dynamic shared memory",
                "give its bytes, as in kernel[grid, block, stream, bytes](...)",
            )
        if DYNAMIC in self.unit.ranks:
            whole = Alias((View(DYNAMIC),))
            return self.viewed(whole, self.unit.held.arrays[DYNAMIC], type_)
        self.unit.taken.add(DYNAMIC)
        made = ir.LocalArray(DYNAMIC, "shared", (count,), None, self.place)
        return self.made_of_words(made, type_)


@cache
def warn_once(place: Place, what: str) -> None:
    """Warn, once, of what a user may not expect in a kernel."""
    warnings.warn_explicit(f"{place}: {what}", UserWarning, place.file, place.line)
