"""Copies blocks of a graph, so that only its header is an entry of each loop.

A loop that jumps enter at two blocks has no header. T1 (drop a jump of a region to itself) and T2
(merge a region with the only one that jumps to it) leave one region of a reducible graph (M. Hecht
and J. Ullman, "Flow Graph Reducibility", 1972). Of any other graph they leave regions that several
jump to. A copy of such a region for each of these can be merged with it, so each copying leaves a
region less.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from mmsim.ir.structured import BasicBlock, Label

MOST = 10_000
"""The most blocks of a graph with copies."""


def reducible(blocks: Mapping[Label, BasicBlock], entry: Label) -> dict[Label, BasicBlock]:
    """A graph that does the same, in which no loop has another entry than its header.

    If this takes more than `MOST` blocks, the graph stays as it is.

    >>> from mmsim.errors import Place
    >>> place = Place("f", "f.py", 1)
    >>> jumps = {"a": ("b", "c"), "b": ("c",), "c": ("b",)}
    >>> found = reducible({one: BasicBlock((), to, place) for one, to in jumps.items()}, "a")
    >>> {one: block.targets for one, block in found.items()}
    {'a': ('b', 'c'), 'b': ('c',), 'c': ('b copy 1',), 'b copy 1': ('c',)}
    """
    found = dict(blocks)
    copies = 0
    while (region := _entered_by_several(found, entry)) is not None:
        header, own, sources = region
        for source in sources[1:]:
            copies += 1
            names = {label: f"{label} copy {copies}" for label in own}
            for label in own:
                found[names[label]] = _redirected(found[label], names)
            for label in source:
                found[label] = _redirected(found[label], {header: names[header]})
        if len(found) > MOST:
            return dict(blocks)
    return found


def _redirected(block: BasicBlock, names: Mapping[Label, Label]) -> BasicBlock:
    """A block with other targets for some."""
    return replace(block, targets=tuple(names.get(one, one) for one in block.targets))


def _entered_by_several(
    blocks: Mapping[Label, BasicBlock], entry: Label
) -> tuple[Label, set[Label], list[set[Label]]] | None:
    """The smallest region that several jump to, by its header, and these; None without one."""
    sources: dict[Label, set[Label]] = {entry: set()}
    pending = [entry]
    while pending:
        label = pending.pop()
        for target in blocks[label].targets:
            if target not in sources:
                pending.append(target)
            sources.setdefault(target, set()).add(label)
    regions = {label: {label} for label in sources}
    header = {label: label for label in sources}
    left = list(sources)
    while left:
        merged = False
        for label in left:
            into = {header[one] for one in sources[label]} - {label}
            if label != entry and len(into) == 1:
                (other,) = into
                regions[other] |= regions.pop(label)
                header |= dict.fromkeys(regions[other], other)
                merged = True
        left = [label for label in left if label in regions]
        if not merged:
            break
    others = [label for label in left if label != entry]
    if not others:
        return None
    smallest = min(others, key=lambda label: len(regions[label]))
    into = {header[one] for one in sources[smallest]} - {smallest}
    return smallest, regions[smallest], [regions[one] for one in _in_order(into, left)]


def _in_order(some: Iterable[Label], every: Iterable[Label]) -> list[Label]:
    """Some labels in the order of all."""
    wanted = set(some)
    return [one for one in every if one in wanted]
