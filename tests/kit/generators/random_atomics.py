"""Random atomics, for the `Author` of `random_programs`.

They change any array whose element type they take, and *counters*: arrays that only they change.
Where a program is to give the same in whatever order its warps run, each counter has operations of
one kind, whose old values are not used.
"""

import numpy as np

from mmsim.ir.atomics import COMMUTING, TYPES
from tests.kit.generators import random_typed as typed

NAMES = {"and": "and_", "or": "or_"}
VALUES = {"int32": "1000", "uint32": "100", "float32": "16.0", "float64": "16.0"}
KINDS = {kind: [op for op in COMMUTING if COMMUTING[op] == kind] for kind in COMMUTING.values()}


def counter(author, known, parameters, args, array_name):
    """Add a parameter that is a counter."""
    name, dtype = author.name("u"), author.pick("uint32", "int64", "uint32", "int32")
    size = author.number(1, 6)
    known.append(array_name(name, dtype, 1, (size,), writable=False))
    parameters.append(name)
    args.append((np.arange(size) * author.number(0, 3)).astype(dtype))
    author.counters[name] = author.pick(*KINDS) if author.commuting else None


def targets(author, s):
    """The arrays that an atomic can change at a place."""
    own = [] if author.commuting and author.orderly else author.writable(s)
    found = [a for a in own if a.dtype in TYPES["exch"] and a.name not in author.counters]
    return found + [a for a in s.arrays if a.name in author.counters]


def atomic(author, s, array):
    """An atomic on an array."""
    kind = author.counters.get(array.name)
    ops = KINDS[kind] if kind else [op for op in TYPES if array.dtype in TYPES[op]]
    if array.dtype == "uint32" and not kind:
        ops += ["inc", "dec"] * 3
    op = author.pick(*ops)
    index = author.place(array, s)
    at = index[0] if len(index) == 1 else f"({', '.join(index)})"
    values = [value(author, s, array) for _ in range(1 + (op == "cas"))]
    return f"mm.atomic.{NAMES.get(op, op)}({', '.join([array.name, at, *values])})"


def value(author, s, array):
    """A number that fits into the array, at times of its own type."""
    if array.dtype in typed.TYPES and author.pick(False, False, True):
        text = typed.value(author, array.dtype, s, author.pick(0, 0, 1))
        return f"{text} % 16.0" if array.dtype in typed.FLOATS else text
    text = author.expression(array.type, s, author.pick(0, 0, 1))
    limit = VALUES.get(array.dtype)
    return f"({text}) % {limit}" if limit else text


def expression(author, type_, s):
    """The old value of an atomic, None where there is no array for it."""
    if author.commuting:
        return None
    arrays = [a for a in targets(author, s) if a.type == type_]
    return atomic(author, s, author.pick(*arrays)) if arrays else None


def statement(author, s):
    """An atomic as a statement, None where there is no array for it."""
    arrays = targets(author, s)
    return [atomic(author, s, author.pick(*arrays))] if arrays else None
