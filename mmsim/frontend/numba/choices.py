"""Values that depend on the path to a line: the choices of static single assignment.

A choice between numbers is a variable, set at the end of each path. One between arrays sets which
of them it is, and their indices.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import Any

from numba.core import types

from mmsim.errors import Place
from mmsim.frontend.numba.base import base_of
from mmsim.frontend.numba.function_calls import CallLowering
from mmsim.frontend.numba.liveness import incoming, phi_of
from mmsim.frontend.numba.places import named
from mmsim.frontend.numba.values import NONE, Maybe, Value, dtype_of, is_number
from mmsim.frontend.python.aliases import MOST_FIXED, Merged, key_of
from mmsim.frontend.python.scope import Alias, Restart
from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import BOOL, INT
from mmsim.ir.structured import BasicBlock, Label
from mmsim.ir.walk import parts


def read(names: Any, place: Place) -> Value:
    """The value of a variable, or the tuple of those of several."""
    if isinstance(names, tuple):
        return tuple(read(one, place) for one in names)
    return ir.Var(names, place)


Settings = list[tuple[str, ir.Expr]]
"""Variables and their values, all at once."""


class ChoiceLowering(CallLowering):
    """The choices of one function."""

    def settle_choices(self, graph: dict[Label, BasicBlock], label: int, block: Any) -> None:
        """Set what the choices at the start of a block take, at the end of the blocks before."""
        edges: dict[int, Settings] = defaultdict(list)
        for one in block.body:
            phi = phi_of(one)
            for var, source in incoming(phi) if phi is not None else ():
                if var.name in self.values:
                    self.place = self.places.of(one)
                    path = f"{self.prefix}{one.target.name}"
                    chosen, value = self.values[one.target.name], self.values[var.name]
                    edges[source] += self.settings(path, chosen, value)
        for source, settings in edges.items():
            self.set_at_end(graph, source, label, settings)

    def settings(self, path: str, target: Value, value: Value) -> Settings:
        """The assignments by which a choice gets a value."""
        if isinstance(target, tuple):
            pairs = zip(target, value, strict=True)
            return [
                one for n, pair in enumerate(pairs) for one in self.settings(f"{path}.{n}", *pair)
            ]
        if isinstance(target, Maybe):
            pair = value if isinstance(value, Maybe) else Maybe(ir.Const(True), value)
            if value == NONE:
                pair = Maybe(ir.Const(False), ir.Const(0))
            is_there = self.settings(path, target.is_there, pair.is_there)
            return is_there + self.settings(path, target.value, pair.value)
        if isinstance(target, ir.Var):
            number = self.as_type(self.single(value), self.type_of(target))
            is_set = isinstance(number, ir.Var) and number.name == target.name
            return [] if is_set else [(target.name, number)]
        if target == value:
            return []
        if not isinstance(target, Alias) or not isinstance(value, Alias):
            raise self.refused("what a name stands for depends on the path to this line")
        merged = self.merged.get(path)
        if merged is None or not merged.holds(value):
            keys = self.unit.keys.setdefault(path, set())
            keys |= set(map(key_of, (*target.parts, *value.parts)))
            if any(len(axes) > MOST_FIXED for _, axes in keys):
                raise self.refused("an array gets more and more indices", "write a loop")
            raise Restart
        return [
            (one.target, self.known(one.value)) for one in merged.settings(value, self.place, True)
        ]

    def set_at_end(
        self, graph: dict[Label, BasicBlock], source: int, label: int, settings: Settings
    ) -> None:
        """Put assignments on the way from a block to another one; all read the old values."""
        if not settings:
            return
        old, place = graph[source], self.place
        names = {name for name, _ in settings}
        read = {
            one.name for _, value in settings for one in parts(value) if isinstance(one, ir.Var)
        }
        self.block = []
        if names & read:
            settings = [(name, self.kept(value)) for name, value in settings]
        made = (*self.block, *(ir.Assign(name, value, place) for name, value in settings))
        if len(set(old.targets)) == 1:
            graph[source] = replace(old, body=(*old.body, *made))
            return
        between = f"{source}_{label}"
        targets = tuple(between if one == label else one for one in old.targets)
        graph[source] = replace(old, targets=targets)
        graph[between] = BasicBlock(made, (label,), old.place)

    def choice(self, one: Any) -> None:
        """Versions of a name with one type are one variable; those of other types are copied."""
        name, type_ = one.target.name, self.type_at(one.target)
        if self.group(one.target) is not None:
            place = named(self.place, base_of(one.target))
            if place is self.place:  # as the head of a loop: an error shows the first use
                blocks = self.found.ir.blocks.values()
                others = (item for block in blocks for item in block.body if phi_of(item) is None)
                uses = (item for item in others if name in {v.name for v in item.list_vars()})
                use = next(map(self.places.of, uses), place)
                place = named(use, base_of(one.target))
            self.values[name] = read(self.variable(one.target), place)
            return
        known = [self.values[var.name] for var, _ in incoming(one.value) if var.name in self.values]
        if not known:
            raise self.refused(f"{base_of(one.target)!r} has no value here")
        path = f"{self.prefix}{name}"
        self.values[name] = self.chosen(path, base_of(one.target), known[0], type_)

    def chosen(self, path: str, text: str, known: Value, type_: Any) -> Value:
        """The value of a choice like one of those that it takes."""
        if isinstance(type_, types.Optional):
            return self.maybe(text, type_)
        if isinstance(type_, types.EnumMember):
            return ir.Var(self.new_variable(text, dtype_of(type_)), self.place)
        if isinstance(known, tuple) and hasattr(type_, "count"):
            return tuple(
                self.chosen(f"{path}.{n}", f"{text}_{n}", part, own)
                for n, (part, own) in enumerate(zip(known, type_, strict=True))
            )
        if isinstance(known, ir.Expr):
            return ir.Var(self.new_variable(text, dtype_of(type_)), self.place)
        if isinstance(known, Alias) and path in self.unit.keys:
            merged = self.merged[path] = Merged.of(self.unit.keys[path], self.place, self.unit)
            for variable in merged.variables:
                self.unit.held.variables[variable.name] = INT
            return merged.alias
        return known

    def maybe(self, text: str, type_: types.Optional) -> Maybe:
        """Variables for a number that may be None."""
        if not is_number(type_.type):
            raise self.refused(f"{text!r} is {type_.type} or None, which depends on the path")
        names = (
            self.new_variable(f"{text}_is_there", BOOL),
            self.new_variable(text, dtype_of(type_)),
        )
        return Maybe(*(ir.Var(name, self.place) for name in names))

    @property
    def merged(self) -> dict[str, Merged]:
        """The arrays that names may stand for, by their paths."""
        return self.unit.merged
