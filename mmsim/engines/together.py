"""Reads that compiled code begins together, though the text has them one after another.

A compiler moves a read up to where its place is known, in straight code, but not above a write or
an atomic in the same memory. So the reads whose places depend on no other read come first, then
what depends on these, and so on: each access has a depth. In the order of the text an access needs
no word of a read that the compiler has moved above another access of its depth. But the words of
reads that begin together have to be in registers. docs/machines.md has the rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mmsim.ir import nodes as ir
from mmsim.ir.compiled import USE
from mmsim.ir.dtypes import Integers
from mmsim.ir.walk import accesses, inside
from mmsim.model.rounds import ALWAYS, FIRST

REGISTERS = 16
"""The registers of a thread for the words of reads of one depth that are under way."""
Run = list[tuple[ir.Access, bool]]
"""The accesses of straight code in the order of the text, and whether each is conditional."""


class Read(NamedTuple):
    """A read of straight code."""

    site: int
    depth: int
    registers: int


def together(
    body: ir.Block,
    needs: Sequence[Set[int]],
    most: Integers,
    is_shared: Callable[[ir.Access], bool],
    registers: Callable[[ir.Access], int],
    moves: bool,
) -> tuple[npt.NDArray[np.int8], Integers, Integers]:
    """The waits of each row's access for each column's, the loop of each access, and its trips.

    `most` has for each access in an unrolled loop the trips that are unrolled together; the result
    has those whose reads are under way together, 0 for all. A loop is named by the first access in
    it; -1 is none, if `body` is no straight code or for lone accesses. A read fills `registers`; it
    is moved up only if the compiler `moves` reads.
    """
    found, loops = np.zeros((len(needs), len(needs)), np.int8), np.full(len(needs), -1)
    under_way = most.copy()
    for site, needed in enumerate(needs):
        found[site, list(needed)] = ALWAYS
    for run, is_loop in _runs(body, most):
        sites = [one.site for one, _ in run]
        places = {site: sites.index(site) for site in sites}
        lasts = {site: len(run) if is_loop else place for place, site in enumerate(sites)}
        is_end = {
            memory: [not _reads(one) and is_shared(one) == memory for one, _ in run]
            for memory in (False, True)
        }
        depth: dict[int, int] = {}
        loop, end = -1, -1
        for site, place in places.items():
            if place >= end:
                loop, end = site, place
            if lasts[site] > place:
                loops[site], end = loop, max(end, lasts[site])
            before = [one for one in needs[site] if places.get(one, len(run)) < place]
            depth[site] = own = max((1 + depth[one] for one in before), default=0)
            for one in before if moves else ():
                read = places[one]
                ends = is_end[is_shared(run[read][0])]
                first = max((at + 1 for at in range(read) if ends[at]), default=0)
                passed = (other.site for other, is_if in run[first:read] if not is_if)
                if any(depth[other] == own for other in passed):
                    found[site, one] = 0
                elif loops[site] >= 0 and not any(ends if is_loop else ends[read : lasts[site]]):
                    found[site, one] = FIRST
        reads = [Read(one.site, depth[one.site], registers(one)) for one, _ in run if _reads(one)]
        for loop in {*loops[sites].tolist()}:
            group = [one for one in reads if loops[one.site] == loop]
            for site, other in _waiting(group):
                found[site, other] = ALWAYS
            if loop < 0:
                continue
            trips = sites.count(loop)
            number = min([int(most[loop]) or trips, *_fitting(group, trips)])
            if is_loop or number < trips:
                under_way[loops == loop] = number
                row = found[loop]
                row[[one.site for one in group if not row[one.site]]] = FIRST
    return found, loops, under_way


def _waiting(reads: list[Read]) -> Iterator[tuple[int, int]]:
    """The reads of a trip that wait for registers, each with the read that has them."""
    under_way: dict[int, list[Read]] = {}
    for one in dict.fromkeys(reads):
        own = under_way.setdefault(one.depth, [])
        own.append(one)
        while len(own) > 1 and sum(each.registers for each in own) > REGISTERS:
            yield one.site, own.pop(0).site


def _fitting(reads: list[Read], trips: int) -> Iterator[int]:
    """The trips for whose reads registers are enough, by depth; `reads` are those of `trips`."""
    for depth in {one.depth for one in reads}:
        filled = sum(one.registers for one in reads if one.depth == depth)
        yield max(1, REGISTERS * trips // filled)


def _runs(block: ir.Block, most: Integers) -> Iterator[tuple[Run, bool]]:
    """The runs of accesses in straight code, and whether each is that of an unrolled loop."""
    run: Run = []
    for one in (*block, None):
        if isinstance(one, ir.Assign | ir.Forget):
            continue
        if isinstance(one, ir.RegisterWrite) and one.array != USE:
            continue
        access: ir.Stmt | None = one
        if isinstance(one, ir.If) and isinstance(one.test, ir.Const) and len(one.then) == 1:
            access = one.then[0]
        if isinstance(access, ir.Access):
            run.append((access, access is not one))
            continue
        if run:
            yield run, bool(most[run[0][0].site]) and len(run) == len([*accesses(block)])
        run = []
        for inner in () if one is None else inside(one):
            yield from _runs(inner, most)


def _reads(one: ir.Access) -> bool:
    return isinstance(one, ir.Load | ir.VectorLoad)
