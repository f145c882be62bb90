"""Names of arrays: renaming at parse time, or by variables if the name depends on the run.

An assignment such as `a, b = b, a` or `row = s[k]` gives an array a name and touches no memory. If
a name stands for one array on all paths to a line, parsing resolves it. If the array
depends on the path to a line (after a swap in a loop, or after an `if`), a `Merged` name keeps in
variables of the thread which array it is, and its fixed leading indices. An access by
such a name is one of several accesses behind an `if`; each thread makes one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from mmsim.errors import LanguageError, Place
from mmsim.frontend.python.scope import FIRST, Alias, Unit, View
from mmsim.ir import nodes as ir

MOST_FIXED = 8
"""The most leading indices of an alias that depends on the path to a line."""

Key = tuple[str, int]
"""An array and the number of fixed leading indices."""


def chosen(alias: Alias, make: Callable[[View], ir.Stmt], place: Place) -> ir.Stmt:
    """The statement of `make` for the part that the alias stands for."""
    *others, last = enumerate(alias.parts)
    statement = make(last[1])
    for position, part in reversed(others):
        test = ir.Compare("==", alias.which, ir.Const(position), place)
        statement = ir.If(test, (make(part),), (statement,), place)
    return statement


def _chosen_value(alias: Alias, values: list[ir.Expr], place: Place) -> ir.Expr:
    """The value for the part that the alias stands for, among the values for each part."""
    value = values[-1]
    for position, other in reversed(list(enumerate(values[:-1]))):
        test = ir.Compare("==", alias.which, ir.Const(position), place)
        value = ir.Choose(test, other, value)
    return value


def extent_of(alias: Alias, axis: int, rank: int | None, place: Place) -> ir.Expr:
    """An extent of an alias, if it has `rank` axes."""
    values: list[ir.Expr] = []
    for part in alias.parts:
        spans = part.spans
        if 0 <= axis < len(spans):
            values.append(spans[axis].count)
            continue
        fixed = part.axes - len(spans)
        whole = None if rank is None else rank + fixed
        own = axis if axis < 0 else axis + fixed
        values.append(ir.Extent(part.array, own, whole, place))
    return _chosen_value(alias, values, place)


def size_of(alias: Alias, place: Place) -> ir.Expr:
    """The number of elements of an alias."""
    values: list[ir.Expr] = []
    for part in alias.parts:
        value: ir.Expr = ir.Extent(part.array, None, None, place)
        for axis in range(part.axes):
            value = ir.Binary("//", value, ir.Extent(part.array, axis, None, place), place)
        for span in part.spans:
            value = ir.Binary("*", value, span.count, place)
        values.append(value)
    return _chosen_value(alias, values, place)


def dimensions_of(alias: Alias, place: Place) -> ir.Expr:
    """The number of axes of an alias."""
    values: list[ir.Expr] = []
    for part in alias.parts:
        value: ir.Expr = ir.Extent(part.array, "ndim", None, place)
        fixed = len(part.index) - len(part.spans)
        if fixed:
            value = ir.Binary("-", value, ir.Const(fixed), place)
        values.append(value)
    return _chosen_value(alias, values, place)


@dataclass(frozen=True)
class Merged:
    """A name whose array is known only when the program runs: variables identify the array.

    `indices` has the variables of the fixed leading indices for each of `keys`; the variable
    `which` selects one of these.
    """

    keys: tuple[Key, ...]
    which: ir.Var
    indices: tuple[tuple[ir.Var, ...], ...]

    @staticmethod
    def of(keys: Iterable[Key], place: Place, unit: Unit) -> Merged:
        """New variables for a name that stands for one of `keys`.

        An access tries the arrays in their order, and one array first with fewer fixed indices.
        """
        known = tuple(sorted(set(keys), key=lambda key: (unit.arrays.index(key[0]), key[1])))
        indices = tuple(
            tuple(ir.Var(unit.unique("t"), place) for _ in range(fixed)) for _, fixed in known
        )
        return Merged(known, ir.Var(unit.unique("t"), place), indices)

    @property
    def alias(self) -> Alias:
        """The alias that the name stands for."""
        parts = (View(key[0], index) for key, index in zip(self.keys, self.indices, strict=True))
        return Alias(tuple(parts), self.which if len(self.keys) > 1 else FIRST)

    def holds(self, alias: Alias) -> bool:
        """Return whether the name can stand for an alias."""
        return all(key_of(part) in self.keys for part in alias.parts)

    def settings(self, alias: Alias, place: Place, first: bool) -> list[ir.Assign]:
        """The assignments by which the name stands for `alias`.

        The `first` time all variables get a value.
        """
        found: list[tuple[str, ir.Expr]] = []
        if any(part.spans for part in alias.parts):
            raise LanguageError(
                "which slice a name stands for depends on the path to this line",
                place,
                "give each slice a name of its own",
            )
        positions = [self.keys.index(key_of(part)) for part in alias.parts]
        if len(self.keys) > 1:
            which = _chosen_value(alias, list(map(ir.Const, positions)), place)
            if positions == list(range(len(positions))) and len(positions) > 1:
                which = alias.which
            found.append((self.which.name, which))
        for position, variables in enumerate(self.indices):
            if position in positions:
                values = alias.parts[positions.index(position)].element(())
            elif first:
                values = tuple(ir.Const(0) for _ in variables)
            else:
                continue
            found += [(one.name, value) for one, value in zip(variables, values, strict=True)]
        return [
            ir.Assign(name, value, place)
            for name, value in found
            if not (isinstance(value, ir.Var) and value.name == name)
        ]


def key_of(part: View) -> Key:
    """The key of a part: all but the values of its fixed indices."""
    return part.array, part.axes


def keys_of(alias: Alias | None) -> list[Key]:
    """All parts that an alias may stand for."""
    return [] if alias is None else [key_of(part) for part in alias.parts]
