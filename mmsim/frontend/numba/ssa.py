"""Static single assignment: every assignment of a name gets a version of its own.

The versions and the choices between them are those of `numba.core.ssa`, which reads the whole
function again for each name. Here a name is looked for where it stands. A test compares both.
"""

from __future__ import annotations

from collections import defaultdict
from copy import copy
from typing import Any

from numba.core import ir as numba_ir
from numba.core.analysis import compute_cfg_from_blocks
from numba.core.ir_utils import replace_vars_inner, replace_vars_stmt
from numba.core.ssa import _iterated_domfronts

Spots = defaultdict[str, list[tuple[int, int]]]


def name_versions(blocks: dict[int, Any]) -> None:
    """Give a name of its own to each assignment of the names that have several, and to choices."""
    sets: Spots = defaultdict(list)
    uses: Spots = defaultdict(list)
    for label, block in blocks.items():
        for at, one in enumerate(block.body):
            if isinstance(one, numba_ir.Assign):
                sets[one.target.name].append((label, at))
            for name in used(one):
                uses[name].append((label, at))
    graph = compute_cfg_from_blocks(blocks)
    versions = _Versions(blocks, graph, _iterated_domfronts(graph))
    doms = graph.dominators()
    several = [name for name, spots in sets.items() if len(spots) > 1]
    for name in [*several, *(name for name in uses if len(sets[name]) < 2)]:
        labels = {label for label, _ in sets[name]}
        if len(sets[name]) > 1 or any(labels.isdisjoint(doms[label]) for label, _ in uses[name]):
            versions.name(name, sets[name], uses[name])
    for label, choices in versions.choices.items():
        blocks[label].body = [*reversed(choices), *blocks[label].body]


def used(one: Any) -> tuple[str, ...]:
    """The names that an instruction reads; a choice reads its versions."""
    read = one.value if isinstance(one, numba_ir.Assign) else one
    if isinstance(read, numba_ir.Var):
        return (read.name,)
    if not isinstance(read, numba_ir.Inst):
        return ()
    return tuple(dict.fromkeys(var.name for var in read.list_vars()))


class _Versions:
    """The versions of each name in turn; `choices` stand at the beginning of blocks."""

    def __init__(self, blocks: dict[int, Any], graph: Any, fronts: dict[int, set[int]]) -> None:
        self.blocks = blocks
        self.graph = graph
        self.fronts = fronts
        self.scope = next(iter(blocks.values())).scope
        self.choices: defaultdict[int, list[Any]] = defaultdict(list)

    def name(self, name: str, sets: list[tuple[int, int]], uses: list[tuple[int, int]]) -> None:
        """Rename a name, where it is set and then where it is read."""
        self.old = name
        self.sets: defaultdict[int, list[tuple[int, Any]]] = defaultdict(list)
        self.tops: dict[int, Any] = {}
        self.meets = set().union(*(self.fronts[label] for label, _ in sets))
        for number, (label, at) in enumerate(sets):
            body = self.blocks[label].body
            one = copy(body[at])
            if number:
                one.target = self.scope.redefine(name, loc=one.loc)
            body[at] = one
            self.sets[label].append((at, one.target))
        for label, at in uses:
            block = self.blocks[label]
            before = [target for place, target in self.sets[label] if place < at]
            found = before[-1] if before else self.at_top(label, block.loc)
            if found is numba_ir.UNDEFINED or found.name == name:
                continue
            one = block.body[at] = copy(block.body[at])
            if not isinstance(one, numba_ir.Assign):
                replace_vars_stmt(one, {name: found})
            elif isinstance(one.value, numba_ir.Var):
                one.value = found
            else:
                replace_vars_inner(one.value, {name: found})

    def at_top(self, label: int, loc: Any) -> Any:
        """The version that a block begins with, which may be a new choice."""
        passed, dominators = [], self.graph.immediate_dominators()
        while label not in self.tops and label not in self.meets:
            passed.append(label)
            above = dominators[label]
            if above == label:
                self.tops[label] = numba_ir.UNDEFINED
            elif self.sets[above]:
                self.tops[label] = self.sets[above][-1][1]
            else:
                label = above
        found = self.tops[label] if label in self.tops else self.choice(label, loc)
        self.tops.update(dict.fromkeys(passed, found))
        return found

    def choice(self, label: int, loc: Any) -> Any:
        """A choice between the versions with which the blocks before end."""
        target = self.scope.redefine(self.old, loc=loc)
        value = numba_ir.Expr.phi(loc=loc)
        self.choices[label].append(numba_ir.Assign(target=target, value=value, loc=loc))
        self.sets[label].insert(0, (-1, target))
        for before, _ in self.graph.predecessors(label):
            ends = self.sets[before]
            value.incoming_values.append(ends[-1][1] if ends else self.at_top(before, loc))
            value.incoming_blocks.append(before)
        return target
