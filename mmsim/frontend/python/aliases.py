"""Names of arrays: renaming at parse time, or by variables if the name depends on the run.

An assignment such as `a, b = b, a` or `row = s[k]` gives an array a name and touches no memory. If
a name stands for one array on all paths to a line, parsing resolves it. If the array
depends on the path to a line (after a swap in a loop, or after an `if`), a `Merged` name keeps in
variables of the thread which array it is, and its leading indices and spans. An access by
such a name is one of several accesses behind an `if`; each thread makes one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from mmsim.errors import Place
from mmsim.frontend.python.scope import FIRST, Alias, Span, Unit, View
from mmsim.ir import nodes as ir

UNKNOWN = ir.Var("", Place("", "", 0))
"""Stands for each further number in a key."""
MOST_FIXED = 8
"""The most restricted leading axes of an alias that depends on the path to a line."""

Key = tuple[View, tuple[bool, ...]]
"""A part without its numbers, and of each of its restricted leading axes whether a span remains."""


def chosen(alias: Alias, make: Callable[[View], ir.Stmt], place: Place) -> ir.Stmt:
    """The statement of `make` for the part that the alias stands for."""
    *others, last = enumerate(alias.parts)
    statement = make(last[1])
    for position, part in reversed(others):
        test = ir.Compare("==", alias.which, ir.Const(position), place)
        statement = ir.If(test, (make(part),), (statement,), place)
    return statement


def chosen_value(which: ir.Expr, values: Iterable[ir.Expr], place: Place) -> ir.Expr:
    """One of several values, by the number `which`."""
    *others, value = values
    for position, other in reversed(list(enumerate(others))):
        test = ir.Compare("==", which, ir.Const(position), place)
        value = ir.Choose(test, other, value)
    return value


def extent_of(alias: Alias, axis: int, rank: int | None, place: Place) -> ir.Expr:
    """An extent of an alias, if it has `rank` axes."""

    def extent(part: View) -> ir.Expr:
        if 0 <= axis < len(part.spans):
            return part.spans[axis].count
        whole = None if rank is None else rank + part.fixed
        return ir.Extent(part.array, axis if axis < 0 else axis + part.fixed, whole, place)

    return chosen_value(alias.which, map(extent, alias.parts), place)


def size_of(alias: Alias, place: Place) -> ir.Expr:
    """The number of elements of an alias."""

    def size(part: View) -> ir.Expr:
        value: ir.Expr = ir.Extent(part.array, None, None, place)
        for axis in range(part.axes):
            value = ir.Binary("//", value, ir.Extent(part.array, axis, None, place), place)
        for span in part.spans:
            value = ir.Binary("*", value, span.count, place)
        return value

    return chosen_value(alias.which, map(size, alias.parts), place)


def dimensions_of(alias: Alias, place: Place) -> ir.Expr:
    """The number of axes of an alias."""

    def dimensions(part: View) -> ir.Expr:
        value = ir.Extent(part.array, "ndim", None, place)
        return ir.Binary("-", value, ir.Const(part.fixed), place) if part.fixed else value

    return chosen_value(alias.which, map(dimensions, alias.parts), place)


@dataclass(frozen=True)
class Merged:
    """A name whose array is known only when the program runs: variables identify the array.

    `indices` has the variables of the restricted leading axes for each of `keys`, `more` those of
    its further numbers; the variable `which` selects one of these.
    """

    keys: tuple[Key, ...]
    which: ir.Var
    indices: tuple[tuple[ir.Var | Span, ...], ...]
    more: tuple[tuple[ir.Var, ...], ...]

    @staticmethod
    def of(keys: Iterable[Key], place: Place, unit: Unit) -> Merged:
        """New variables for a name that stands for one of `keys`.

        An access tries the arrays in their order, and one array first with fewer restricted axes.
        """
        several = set(keys)
        known = [one for one in several if not any(_is_of(one, other) for other in several - {one})]
        known.sort(key=lambda key: (unit.arrays.index(key[0].array), key[1], repr(key[0])))

        def variable() -> ir.Var:
            return ir.Var(unit.unique("t"), place)

        def axis(is_span: bool) -> ir.Var | Span:
            return Span(variable(), variable(), variable(), place) if is_span else variable()

        indices = tuple(tuple(map(axis, axes)) for _, axes in known)
        more = tuple(tuple(variable() for _ in view.numbers) for view, _ in known)
        return Merged(tuple(known), variable(), indices, more)

    @property
    def variables(self) -> list[ir.Var]:
        """All variables that identify the array."""
        inside = [one for axes in self.indices for axis in axes for one in _numbers(axis)]
        further = [one for several in self.more for one in several]
        return [self.which, *(one for one in (*inside, *further) if isinstance(one, ir.Var))]

    @property
    def alias(self) -> Alias:
        """The alias that the name stands for."""
        rows = zip(self.keys, self.indices, self.more, strict=True)
        parts = tuple(view.with_numbers(index, more) for (view, _), index, more in rows)
        return Alias(parts, self.which if len(self.keys) > 1 else FIRST)

    def _position(self, part: View) -> int | None:
        own = key_of(part)
        return next((n for n, key in enumerate(self.keys) if own == key or _is_of(own, key)), None)

    def holds(self, alias: Alias) -> bool:
        """Return whether the name can stand for an alias."""
        return all(self._position(part) is not None for part in alias.parts)

    def settings(self, alias: Alias, place: Place, first: bool) -> list[ir.Assign]:
        """The assignments by which the name stands for `alias`.

        The `first` time all variables get a value.
        """
        found: list[tuple[ir.Expr, ir.Expr]] = []
        positions = [self._position(part) or 0 for part in alias.parts]
        if len(self.keys) > 1:
            which = chosen_value(alias.which, map(ir.Const, positions), place)
            if positions == list(range(len(positions))) and len(positions) > 1:
                which = alias.which
            found.append((self.which, which))
        for position, (axes, more) in enumerate(zip(self.indices, self.more, strict=True)):
            here = [at == position for at in positions]
            if not any(here) and not first:
                continue
            own = alias.parts[here.index(True)] if any(here) else None
            parts = [
                part if is_here else own for part, is_here in zip(alias.parts, here, strict=True)
            ]
            variables = [*(one for axis in axes for one in _numbers(axis)), *more]
            rows = [
                [FIRST] * len(variables) if part is None else _all_numbers(part, len(axes), place)
                for part in parts
            ]
            for variable, *values in zip(variables, *rows, strict=True):
                is_one = all(value == values[0] for value in values)
                value = values[0] if is_one else chosen_value(alias.which, values, place)
                found.append((variable, value))
        return [
            ir.Assign(variable.name, value, place)
            for variable, value in found
            if isinstance(variable, ir.Var)
        ]


def _numbers(axis: ir.Expr | Span) -> tuple[ir.Expr, ...]:
    """The numbers of a restricted axis: its index, or those of its span."""
    return (axis.start, axis.step, axis.count) if isinstance(axis, Span) else (axis,)


def _all_numbers(part: View, count: int, place: Place) -> list[ir.Expr]:
    """The numbers of so many restricted axes, and the further ones."""
    own = range(part.axes, part.axes + count - len(part.index))
    extents = (ir.Extent(part.array, axis, None, place) for axis in own)
    rest = (Span(ir.Const(0), ir.Const(1), extent, place) for extent in extents)
    return [*(one for axis in (*part.index, *rest) for one in _numbers(axis)), *part.numbers]


def key_of(part: View) -> Key:
    """The key of a part: all but its numbers."""
    view = part.with_numbers((), [UNKNOWN] * len(part.numbers))
    return view, tuple(isinstance(one, Span) for one in part.index)


def _is_of(one: Key, other: Key) -> bool:
    """Return whether a key is another one with fewer axes, as that of `a` is for `a[2:]`."""
    (array, axes), (whole, more) = one, other
    return (
        array == whole
        and len(axes) < len(more)
        and axes + (True,) * (len(more) - len(axes)) == more
    )


def keys_of(alias: Alias | None) -> list[Key]:
    """All parts that an alias may stand for."""
    return [] if alias is None else [key_of(part) for part in alias.parts]
