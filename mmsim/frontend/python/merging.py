"""Names of arrays where paths meet: after an `if`, and around a loop.

A name that stands for one array on every path keeps it. Otherwise variables select the array
(`aliases.Merged`).
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace

from mmsim.errors import LanguageError, Place
from mmsim.frontend.python import aliases
from mmsim.frontend.python.builder import Part
from mmsim.frontend.python.scope import Entity, NoArray, Restart
from mmsim.frontend.python.syntax import assigned_in
from mmsim.ir import nodes as ir


@dataclass
class Loop:
    """A loop that is being parsed.

    `merged` are the names of arrays that it gives to others, with their `keys`, and `unset` those
    without an array before it. A loop over a tuple is unrolled: `scope` is its name, `trip` that
    of the trip at work.
    """

    merged: dict[str, aliases.Merged]
    keys: dict[str, set[aliases.Key]] = field(default_factory=dict)
    unset: list[str] = field(default_factory=list)
    scope: str = ""
    trip: str = ""

    def begin_trip(self, bound: dict[str, Entity]) -> None:
        """Give its names their meaning at the start of every trip."""
        for name, merged in self.merged.items():
            bound[name] = merged.alias
        for name in self.unset:
            bound[name] = NoArray()


class Merging(Part):
    """The names of arrays of one function."""

    def merged(
        self, after_then: dict[str, Entity], then: ir.Block, orelse: ir.Block, place: Place
    ) -> tuple[ir.Block, ir.Block]:
        """Both branches of an `if`; each name stands for one thing after them."""
        if ends(orelse) and not ends(then):
            self.function.bound.update(after_then)
        if ends(then) or ends(orelse):
            return then, orelse
        settings: tuple[list[ir.Stmt], list[ir.Stmt]] = [], []
        for name, entity in after_then.items():
            ways = (
                self.function.stands_for(entity),
                self.function.stands_for(self.function.bound[name]),
            )
            if ways[0] == ways[1]:
                continue
            if ways[0] is None or ways[1] is None:
                self.function.bound[name] = NoArray()
                continue
            keys = [*aliases.keys_of(ways[0]), *aliases.keys_of(ways[1])]
            name_of = aliases.Merged.of(keys, place, self.function.unit)
            self.function.bound[name] = name_of.alias
            for block, way in zip(settings, ways, strict=True):
                assert way is not None
                block += name_of.settings(way, place, True)
        return (*then, *settings[0]), (*orelse, *settings[1])

    def enter(self, body: list[ast.stmt], place: Place) -> Loop:
        """Begin a loop: names that its body gives to other arrays are variables from here on."""
        loop, renamed, unit = Loop({}), set(assigned_in(body)), self.function.unit
        unit.loops += 1
        for name, entity in self.function.array_names().items():
            if name not in renamed:
                continue
            entry = self.function.stands_for(entity)
            if entry is None:
                loop.unset.append(name)
            else:
                known = unit.known.keys.setdefault((unit.loops, name), set())
                known.update(aliases.keys_of(entry))
                here = [key for key in known if key[0] in unit.arrays]
                loop.keys[name], loop.merged[name] = known, aliases.Merged.of(here, place, unit)
                self.builder.block += loop.merged[name].settings(entry, place, True)
        loop.begin_trip(self.function.bound)
        return loop

    def keep_names(self, loop: Loop, place: Place) -> None:
        """Set the variables of a loop's names before the trip ends.

        A name that stands for one more array now does so from the begin of the loop on: parsing
        begins again with it.
        """
        settings: list[ir.Assign] = []
        is_new = False
        for name, merged in loop.merged.items():
            alias = self.function.stands_for(self.function.bound[name])
            more = set(aliases.keys_of(alias)) - loop.keys[name]
            is_missing = alias is None or not (more or merged.holds(alias))
            if is_missing or any(len(axes) > aliases.MOST_FIXED for _, axes in more):
                raise LanguageError(
                    f"{name!r} may not name one array after this iteration of the loop",
                    place,
                    "assign an array to it on every path through the loop's body",
                )
            loop.keys[name] |= more
            is_new |= bool(more)
            if not more and alias is not None:
                settings += merged.settings(alias, place, False)
        if is_new:
            raise Restart
        if len(settings) > 1:
            settings = [
                replace(one, value=self.builder.spill(one.value, place)) for one in settings
            ]
        self.builder.block += settings


def ends(block: ir.Block) -> bool:
    """Return whether the end of a block is never reached."""
    return bool(block) and isinstance(block[-1], ir.Break | ir.Continue | ir.Return | ir.Leave)
