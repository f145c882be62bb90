"""Atomics: the word that each leaves, its element types, and when their order matters.

An atomic access reads a word, computes and writes it back in one indivisible step; it returns the
old value. The operations are CUDA's, and so are their types (CUDA C++ Programming Guide, *Atomic
Functions*): integers wrap around at the size of the word, a float is rounded to its type, "cas"
compares bits. Lanes that access one word take turns. Each receives the word that the previous one
left. Numba's kernels add to a part of a complex word by adding -0.0 to the other part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import Integers
from mmsim.ir.functions import made
from mmsim.ir.nodes import AtomicOp
from mmsim.ir.walk import accesses

Words = npt.NDArray[Any]

INTEGERS = ("int32", "uint32", "int64", "uint64")
FLOATS = ("float32", "float64")

TYPES: dict[AtomicOp, tuple[str, ...]] = {
    "add": (*INTEGERS, *FLOATS),
    **dict.fromkeys(("sub", "max", "min", "and", "or", "xor"), INTEGERS),
    **dict.fromkeys(("exch", "cas"), (*INTEGERS, *FLOATS)),
    **dict.fromkeys(("inc", "dec"), ("uint32",)),
}
"""The element types of the arrays for each operation."""

ORDERLESS: dict[AtomicOp, np.ufunc] = {
    "max": np.maximum,
    "min": np.minimum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
UFUNCS: dict[AtomicOp, np.ufunc] = {"add": np.add, "sub": np.subtract, **ORDERLESS}
"""NumPy's name of an operation, if it has one."""

COMMUTING: dict[AtomicOp, str] = {"add": "sum", "sub": "sum", **{op: op for op in ORDERLESS}}
"""Operations on integers by kind: those of one kind commute, so their order doesn't matter."""

REDUCTIONS: dict[str, np.ufunc] = {"sum": np.add, **{op: one for op, one in ORDERLESS.items()}}
"""The function that merges several copies of a word after operations of one kind."""


def bits(words: Words) -> Words:
    """The same words as integers that are equal if all bits are."""
    return words.view(f"u{words.dtype.itemsize}")


def _computed(ufunc: np.ufunc, old: Words, value: Words, _: Words) -> Words:
    computed: Words = ufunc(old, value)
    return computed


LEAVES: dict[AtomicOp, Callable[[Words, Words, Words], Words]] = {
    **{op: partial(_computed, ufunc) for op, ufunc in UFUNCS.items()},
    "exch": lambda _, value, __: value,
    "cas": lambda old, value, compare: np.where(bits(old) == bits(compare), value, old),
    "inc": lambda old, value, _: np.where(old >= value, old.dtype.type(0), old + old.dtype.type(1)),
    "dec": lambda old, value, _: np.where(
        (old == 0) | (old > value), value, old - old.dtype.type(1)
    ),
}
"""The new word of one access, from the old word, the value and the compared word, by lane."""


def _of_kind(kind: str, op: AtomicOp, old: Words, value: Words, compare: Words) -> Words:
    """An operation on the bits of words as words of another kind."""
    given = (one.view(f"{kind}{old.dtype.itemsize}") for one in (old, value, compare))
    return LEAVES[op](*given).view(old.dtype)


ON_WORDS: dict[AtomicOp, Callable[[Words, Words, Words], Words]] = {
    "signed_max": partial(_of_kind, "i", "max"),
    "signed_min": partial(_of_kind, "i", "min"),
    "float_add": partial(_of_kind, "f", "add"),
}
"""Those of PTX on an array of unsigned integers, which it takes as one of other numbers."""


def _of_part(op: AtomicOp, old: Words, value: Words, compare: Words) -> Words:
    """An operation on 4 of the 8 bytes of each word; see `mmsim.ir.nodes.Atomic`."""
    shift, leaves = compare >> np.uint64(32), ON_WORDS.get(op) or LEAVES[op]
    given = (one.astype(np.uint32) for one in (old >> shift, value, compare))
    others = old & ~(np.uint64(0xFFFFFFFF) << shift)
    left: Words = others | leaves(*given).astype(np.uint64) << shift
    return left


PARTS: dict[AtomicOp, AtomicOp] = {
    "part_add": "add",
    "part_max": "max",
    "part_min": "min",
    "part_and": "and",
    "part_or": "or",
    "part_xor": "xor",
    "part_exch": "exch",
    "part_cas": "cas",
    "part_inc": "inc",
    "part_dec": "dec",
    "part_signed_max": "signed_max",
    "part_signed_min": "signed_min",
    "part_float_add": "float_add",
}
"""The operations on a part of a word, and those that they carry out on it."""

ON_BITS: dict[AtomicOp, Callable[[Words, Words, Words], Words]] = {
    **ON_WORDS,
    **{name: partial(_of_part, op) for name, op in PARTS.items()},
}
"""Those that take the words of an array of unsigned integers as other numbers, or parts of them."""

OTHERS: dict[AtomicOp, Callable[[Words, Words, Words], Words]] = {
    "greater": lambda old, value, _: np.where(value > old, value, old),
    "less": lambda old, value, _: np.where(value < old, value, old),
    "nanmax": lambda old, value, _: np.fmax(old, value),
    "nanmin": lambda old, value, _: np.fmin(old, value),
    "real": lambda old, value, _: made(value.real, old.imag),
    "imag": lambda old, value, _: made(old.real, value.imag),
    **ON_BITS,
}
"""The result of Numba's atomic max and min of floats, and of those that leave NaNs out.

CUDA has none of them: Numba writes a loop of compare-and-swap. "real" and "imag" store one part of
a complex number. The rest is PTX's.
"""


def refusal(op: AtomicOp, array: str, held: str) -> str:
    """The reason why an atomic operation doesn't take an array, None without one."""
    if held.startswith("complex"):
        return (
            f"atomic {op} takes no complex numbers, as CUDA's atomics take none, and {array!r} "
            f"holds {held}; keep the parts in two arrays"
        )
    if op == "sub" and held in FLOATS:
        return f"atomic sub takes no floats, and {array!r} holds {held}; add the negative value"
    return f"atomic {op} takes arrays of {', '.join(TYPES[op])}, and {array!r} holds {held}"


def in_turn(
    op: AtomicOp, before: Words, cells: Integers, values: Words, compare: Words | None
) -> tuple[Words, Words]:
    """The old and the new word of each lane; the lanes of one cell come in their order.

    `before` is the word of each lane's cell at first.

    >>> in_turn("add", np.array([5, 5, 0]), np.array([7, 7, 3]), np.array([1, 2, 4]), None)
    (array([5, 6, 0]), array([6, 8, 4]))
    """
    compared, leaves = values if compare is None else compare, OTHERS.get(op) or LEAVES[op]
    if len(cells) == 1:
        return before, leaves(before, values, compared)
    order = np.argsort(cells, kind="stable")
    own = cells[order]
    starts = np.flatnonzero(np.append(True, own[1:] != own[:-1]))
    sizes = np.diff(starts, append=len(own))
    old, new = before.copy(), np.empty_like(before)
    most = int(sizes.max())
    if most > len(starts) and (op in UFUNCS or op == "exch"):  # fewer cells than turns
        for lanes in np.split(order, starts[1:]):
            line = np.concatenate([before[lanes[:1]], values[lanes]])
            if op in UFUNCS:
                line = UFUNCS[op].accumulate(line, dtype=line.dtype)
            old[lanes], new[lanes] = line[:-1], line[1:]
        return old, new
    for turn in range(most):
        if turn:
            starts = starts[sizes > turn]
            sizes = sizes[sizes > turn]
            old[order[starts + turn]] = new[order[starts + turn - 1]]
        lanes = order[starts + turn]
        new[lanes] = leaves(old[lanes], values[lanes], compared[lanes])
    return old, new


def untouched(kind: str, type_: np.dtype[Any]) -> int:
    """The word that an operation of a kind leaves unchanged.

    >>> untouched("sum", np.dtype(np.int32)), untouched("and", np.dtype(np.uint32))
    (0, 4294967295)
    """
    limits = np.iinfo(type_.name)
    all_bits = -1 if limits.min < 0 else int(limits.max)
    return {"max": int(limits.min), "min": int(limits.max), "and": all_bits}.get(kind, 0)


def order_matters(block: Iterable[ir.Stmt], types: dict[str, np.dtype[Any]]) -> frozenset[str]:
    """The arrays of a program whose results the order in which warps access them may change.

    It can't if no old value is used, and all atomics on an array are of one kind of `COMMUTING`,
    on integers. It can if a strong load may wait for another thread's word.
    """
    kinds: dict[str, set[str]] = {}
    every = list(accesses(block))
    loads = {one.array for one in every if one.strong and isinstance(one, ir.Load | ir.VectorLoad)}
    changing = ir.Store | ir.VectorStore | ir.Atomic
    found = {one.array for one in every if one.array in loads and isinstance(one, changing)}
    for one in every:
        if isinstance(one, ir.Atomic):
            kind = COMMUTING.get(one.op)
            if kind is None or one.target is not None or types[one.array].kind in "fc":
                found.add(one.array)
            else:
                kinds.setdefault(one.array, set()).add(kind)
    return frozenset(found.union(name for name, of in kinds.items() if len(of) > 1))
