"""From a kernel of numba.cuda to its representation, for arguments of some kinds."""

from __future__ import annotations

import inspect
import types as python
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numba.core import types
from numba.np.numpy_support import from_dtype

from mmsim.errors import LanguageError, Place
from mmsim.frontend.numba.kinds import ArrayKind, Kind, NumberKind, SameKind, TupleKind
from mmsim.frontend.python.scope import Alias, Unit, View
from mmsim.frontend.typed.context import inferred
from mmsim.frontend.typed.lowering import FunctionLowering, Value
from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import BOOL, COMPLEX, FLOAT, INT, UNSIGNED
from mmsim.ir.walk import numbered


@dataclass
class KernelUnit(Unit):
    """The data of one kernel's lowering, for all its functions; `ranks` of arrays."""

    ranks: dict[str, int] = field(default_factory=dict)

    def source_of(self, function: python.FunctionType) -> ir.Source:
        """The text of a function."""
        lines, first = inspect.getsourcelines(function)
        source = ir.Source(
            function.__name__,
            function.__code__.co_filename,
            first,
            tuple(line.rstrip("\n") for line in lines),
        )
        self.sources[f"{source.file}:{first}"] = source
        return source


def numba_type(kind: Kind) -> types.Type:
    """Numba's type of an argument."""
    match kind:
        case ArrayKind(dtype, ndim):
            return types.Array(from_dtype(np.dtype(dtype)), ndim, "A")
        case NumberKind(dtype):
            return from_dtype(np.dtype(dtype))
        case TupleKind(items):
            return types.Tuple.from_types(tuple(map(numba_type, items)))
    raise LanguageError(f"an argument of kind {kind}", Place("", "", 0))


def parse_kernel(
    function: python.FunctionType, kinds: Sequence[Kind]
) -> tuple[ir.Code, dict[str, np.dtype]]:
    """The representation of a kernel for arguments of these kinds."""
    flat = [kinds[kind.place] if isinstance(kind, SameKind) else kind for kind in kinds]
    found = inferred(function, tuple(map(numba_type, flat)))
    unit = KernelUnit(function.__name__)
    source = unit.source_of(function)
    place = Place(function.__name__, source.file, source.first)
    given: list[ir.Parameter] = []
    names = list(inspect.signature(function).parameters)
    unit.taken.update(names)

    def value(name: str, kind: Kind) -> Value:
        match kind:
            case SameKind(number):
                return Alias((View(given[number].name),))
            case ArrayKind(_, ndim):
                given.append(ir.Parameter(name, "array", None, place))
                unit.parameters.append(name)
                unit.ranks[name] = ndim
                return Alias((View(name),))
            case NumberKind(dtype):
                given.append(ir.Parameter(name, "number", None, place))
                unit.parameters.append(name)
                own = np.dtype(dtype)
                held = {"f": FLOAT, "c": COMPLEX}.get(own.kind, INT)
                if own in (BOOL, UNSIGNED):
                    held = own
                number = ir.Number(name)
                return number if held == own else ir.Unary(own.name, number, place)
            case TupleKind(items):
                return tuple(value(unit.unique(f"{name}_{n}"), one) for n, one in enumerate(items))
        raise LanguageError(f"an argument of kind {kind}", place)

    values = [value(name, kind) for name, kind in zip(names, kinds, strict=True)]
    lowering = FunctionLowering(unit, found, values, source)
    body = lowering.body("block_", ir.Return)
    code = ir.Code(
        function.__name__,
        tuple(given),
        tuple(unit.locals),
        tuple(unit.variables),
        numbered(body),
        tuple(unit.sources.values()),
        "numba",
    )
    return code
