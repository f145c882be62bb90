"""The values of operations on operands of one type, and those known before the program runs.

Values are as in `operators`: one Python number that the type can hold if all lanes agree, else
an array of the type. Bools, 64-bit integers and doubles compute as Python's numbers do. The results
of all other types are NumPy's: integers wrap around, every operation on floats is rounded to the
type, and a float without a value is a NaN or an infinity. Only a check, a cast of a float that the
type doesn't hold, and a power that has to be finite raise `NoValue`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np

from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import BOOL, COMPLEX, FLOAT, INT, Type, is_int, limits
from mmsim.ir.lower import Lowered
from mmsim.ir.operators import Mask, NoValue, Value, refuse_where, row_of, truth
from mmsim.ir.row import Row, wrap
from mmsim.ir.walk import Memo, expressions, parts

Compute = Callable[..., Value]
"""Takes the operands, and the mask of active lanes if there may be no value."""
PYTHONS: dict[Type, Callable[[Any], Any]] = {
    **{BOOL: bool, FLOAT: float, COMPLEX: complex},
    INT: lambda x: wrap(int(x)),
}
"""The types of Python's numbers. All but COMPLEX compute as NumPy's arrays do."""


def computing(value: ir.Operating, of: Callable[[ir.Expr], Type]) -> Compute:
    """The function that computes an operation of the lowered form; `of` gives types."""
    row, types = row_of(value), tuple(map(of, expressions(value)))
    held = types[0]
    if row.kind == "check":
        return _checking(row, held)
    if row.kind == "cast":
        assert row.gives is not None
        return _casting(value.op, held, row.gives)
    if row.kind == "compare":
        return row.compute
    if held.kind == "c" and row.complex:
        assert callable(row.complex), row.complex
        return _in_type(row.complex, types)
    if row.kind == "function" or held not in PYTHONS:
        return _in_type(row.compute, types)
    return row.checked or row.python


def may_refuse(value: ir.Expr, of: Callable[[ir.Expr], Type]) -> bool:
    """Return whether an expression of the lowered form may have no value, apart from its parts."""
    if not isinstance(value, ir.Operating):
        return False
    row = row_of(value)
    if row.kind == "cast" and row.gives is not None and is_int(row.gives):
        return of(expressions(value)[0]).kind == "f"
    return row.kind == "check" or row.checked is not None


@cache
def _in_type(compute: Callable[..., Any], types: tuple[Type, ...]) -> Compute:
    """NumPy's function of operands that become arrays of these types."""

    def run(*values: Value) -> Value:
        arrays = [isinstance(value, np.ndarray) for value in values]
        held = [np.asarray(value, type_) for value, type_ in zip(values, types, strict=True)]
        if any(arrays) and not all(arrays):
            held = list(np.broadcast_arrays(*held))
        with np.errstate(all="ignore"):
            result = compute(*held)
        return result if any(arrays) else result.item()

    return run


def _checking(row: Row, type_: Type) -> Compute:
    """A number that passes a check; 1 for a lane that isn't active and doesn't pass."""
    test, message, one = row.compute, row.refused, type_.type(1)

    def run(x: Value, mask: Mask) -> Value:
        bad = test(x, 0)
        refuse_where(bad, mask, message)
        if isinstance(bad, np.ndarray) and bad.any():
            return np.where(bad, one, x)
        return x

    return run


@cache
def _casting(op: str, held: Type, wanted: Type) -> Compute:
    """A cast: integers wrap around, floats are rounded, towards zero to ints.

    A float that an integer type can't hold has no value.
    """
    if wanted == BOOL:
        return truth
    if held.kind != "f" or not is_int(wanted):
        single = PYTHONS.get(wanted, lambda x: np.asarray(x, held).astype(wanted).item())
        return lambda x: x.astype(wanted) if isinstance(x, np.ndarray) else single(x)
    low, high = limits(wanted)
    least, beyond = float(low), float(high + 1)  # powers of two
    room = "64 bits" if op == "int" else "it"
    message = f"{op}(...) of a float that {room} can't hold"

    def run(x: Value, mask: Mask) -> Value:
        whole = np.trunc(np.asarray(x, FLOAT))
        good = (whole >= least) & (whole < beyond)
        single = not isinstance(x, np.ndarray)
        if not np.all(good):
            refuse_where(True if single else ~good, mask, message)
            whole = np.where(good, whole, 0.0)
        return int(whole) if single else whole.astype(wanted)

    return run


def constants(
    lowered: Lowered,
    numbers: Mapping[str, ir.Scalar],
    uniform: Mapping[str, int],
    extent: Callable[[ir.Extent], int | None],
) -> Memo[ir.Scalar | None]:
    """The constants of a lowered program for one launch: the value of an expression.

    It is None if it isn't known, or there is none. `numbers` are the values of number parameters,
    `uniform` those of the fields of T with the same value for all threads, and `extent` gives the
    size of an array.
    """

    def find(value: ir.Expr) -> ir.Scalar | None:
        if isinstance(value, ir.Operating):
            return result(value)
        if isinstance(value, ir.Const):
            return value.value
        if isinstance(value, ir.Number):
            return numbers.get(value.name)
        if isinstance(value, ir.Extent):
            return extent(value)
        return uniform.get(value.field) if isinstance(value, ir.ThreadField) else None

    def result(value: ir.Operating) -> ir.Scalar | None:
        known: list[Any] = list(map(of, expressions(value)))
        if None in known:
            return None
        if may_refuse(value, lowered.of):
            known.append(True)
        try:
            with np.errstate(all="ignore"):
                found: ir.Scalar = computing(value, lowered.of)(*known)
        except NoValue:
            return None  # it is an error only if a thread gets there
        return found

    of = Memo(find)
    return of


def consists_of(value: ir.Expr, kinds: tuple[type, ...]) -> bool:
    """Return whether an expression has no other parts than nodes of these kinds."""
    return all(isinstance(part, kinds) for part in parts(value))
