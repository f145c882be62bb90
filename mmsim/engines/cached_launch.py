"""A launch on a machine with sectors and several requests under way, as engines use it."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mmsim.engines.together import together
from mmsim.host.free_memory import SMALL
from mmsim.ir import nodes as ir
from mmsim.ir.compiled import Straight, known_values
from mmsim.ir.dtypes import Integers
from mmsim.ir.needs import needs
from mmsim.meaning.frame import Site
from mmsim.meaning.launch import Launch
from mmsim.model import cache
from mmsim.model.cache import Numbers, Sparse, State
from mmsim.model.machines import Machine
from mmsim.model.sectors import Asked

OF_A_SECTOR = 1000
"""Bytes of the entries in dicts for a sector, its line and its row, in both halves."""


def asked(launch: Launch) -> tuple[Numbers, tuple[Asked, ...]]:
    """The rule's numbers for a launch, and the way each of its accesses asks for sectors.

    If all elements have several bytes, a place has as many: no access touches a part of it.
    """
    return launch.memo.once("asked", lambda: _asked(launch))


def _asked(launch: Launch) -> tuple[Numbers, tuple[Asked, ...]]:
    machine = launch.machine
    numbers = machine.cache
    assert numbers is not None
    sizes = [launch.arrays[site.array].dtype.itemsize for site in launch.meaning.sites]
    place = math.gcd(numbers.sector, *map(machine.room, sizes))
    numbers = numbers._replace(sector=numbers.sector // place, dmms=launch.grid.dmms_used)
    kinds = kinds_of(launch)
    return numbers, tuple(
        Asked.by(machine, numbers, place, kind, size, site.merged and machine.merges > 0)
        for site, kind, size in zip(launch.meaning.sites, kinds, sizes, strict=True)
    )


def kinds_of(launch: Launch) -> list[int]:
    """The kind of each access, as the rule has them."""
    machine = launch.machine
    is_own = machine.cache is not None and machine.cache.own_sets > 0
    is_own = is_own and not has_volatile_words(launch)

    atomics = {site.array for site in launch.meaning.sites if site.kind == "atomic"}

    def kind(site: Site) -> int:
        array = launch.arrays[site.array]
        if site.kind == "atomic" and array.dtype.kind == "f" and site.op != "exch":
            return cache.OF_FLOATS
        if site.kind == "read" and is_own and site.array not in atomics and not site.strong:
            return cache.OWN_READ
        return cache.KIND[site.kind]

    return list(map(kind, launch.meaning.sites))


def new_state(numbers: Numbers, machine: Machine, sectors: int = 1 << 62) -> State:
    """An empty cache of a machine, see `mmsim.model.cache.new_state`."""
    sizes = machine.clusters_of(numbers.dmms)
    return cache.new_state(numbers, sizes, machine.half_of or (), sectors)


def plain_state(launch: Launch) -> State:
    """The cache that an earlier launch left, or an empty one, in lists, or in dicts if sparse."""
    numbers, _ = asked(launch)
    machine = launch.machine
    if sparse(launch):
        sizes = machine.clusters_of(numbers.dmms)
        return cache.sparse_state(numbers, sizes, machine.half_of or ())
    return cache.listed(launch.left or new_state(numbers, machine))


def in_arrays(state: State, like: State) -> State:
    """A state of lists as arrays of the types of another one."""
    return State._make(np.array(new, old.dtype) for new, old in zip(state, like, strict=True))


def leave(launch: Launch, state: State) -> None:
    """Leave a cache to the next launch: it begins at time 0, and its DMMs' own caches are empty."""
    state.free[:] = 0
    state.own_tags[:] = -1
    launch.left = state


def sparse(launch: Launch) -> bool:
    """Return whether only the used entries of tables larger than the arrays are kept, in Python."""
    if launch.left is not None:  # an earlier launch has left its tables
        return False
    arrays = launch.arrays.values()
    held = sum(array.size * len(array.bases) * array.dtype.itemsize for array in arrays)
    return tables(launch) > max(SMALL, held)


def empty_counts(launch: Launch) -> npt.NDArray[np.int64] | list[Sparse]:
    """A row for each access of the text, with a counter for each cost; none without a cache."""
    rule, sites = launch.machine.cache, len(launch.meaning.sites)
    if rule is not None and sparse(launch):
        return [Sparse(0) for _ in range(sites)]
    columns = 0 if rule is None else cache.counters(rule, launch.grid.dmms_used)
    return np.zeros((sites, columns), np.int64)


def tables(launch: Launch) -> int:
    """Bytes of a machine's tables: the contents of the cache, and the counts of each access."""
    numbers, ways = asked(launch)
    counts = cache.counters(numbers, numbers.dmms) * len(ways)
    return cache.numbers_bytes(numbers) + 2 * 8 * counts


def last_sector(launch: Launch) -> int:
    """An upper bound of the addresses of a launch's arrays."""
    numbers, ways = asked(launch)
    ends = [array.bases.item(-1) + array.words for array in launch.arrays.values()]
    return max(ends, default=1) * max((way.size for way in ways), default=1) // numbers.sector


def bytes_of_tables(launch: Launch) -> int:
    """The most bytes of the entries that are kept of the tables."""
    whole = tables(launch)
    return min(whole, OF_A_SECTOR * (1 + last_sector(launch))) if sparse(launch) else whole


class Waits(NamedTuple):
    """The requests for which each access of a launch waits, and the time of computations.

    `needs` says how the access of each row waits for requests of the access of each column, see
    `mmsim.model.rounds`. `loops` names for each access its loop whose trips are unrolled, by the
    first access in it, -1 for none; `most` has the trips that are unrolled together, 0 for all.
    `pauses` has for each warp the time that it computes before each request.
    """

    needs: npt.NDArray[np.int8]
    loops: npt.NDArray[np.int64]
    most: npt.NDArray[np.int64]
    pauses: npt.NDArray[np.int64]


def waits(launch: Launch) -> Waits:
    """The waits of each access of a launch.

    No access waits if a warp has one request under way: it has completed by then.
    """
    warps = launch.grid.blocks * launch.grid.warps_per_block
    none = np.zeros(warps, np.int64)
    return Waits(*needed(launch), none if launch.pauses is None else launch.pauses())


def has_volatile_words(launch: Launch) -> bool:
    """Return whether all words are volatile on a card, as in the CUDA C that mmsim writes."""
    return launch.code.arithmetic == "python"


def needed(launch: Launch) -> tuple[npt.NDArray[np.int8], Integers, Integers]:
    """`Waits` of a launch without the pauses, which need no run of it."""
    meaning, machine, arithmetic = launch.meaning, launch.machine, launch.code.arithmetic
    count, body = len(meaning.sites), meaning.code.body
    ranges = launch.ranges if machine.unrolls else None

    def is_shared(one: ir.Access) -> bool:
        return launch.arrays[one.array].own_units

    def registers(one: ir.Access) -> int:
        words = len(one.targets) if isinstance(one, ir.VectorLoad) else 1
        return words * -(-launch.arrays[one.array].dtype.itemsize // 4)

    def found() -> tuple[npt.NDArray[np.int8], Integers, Integers]:
        if ranges is None:
            return together((), needs(body, count), none, is_shared, registers, False)
        known = known_values(meaning.typing, meaning.constant, ranges)
        straight = Straight(body, count, known, arithmetic)
        most = np.array(straight.most, np.int64)
        needed, moves = needs(straight.body, count), not has_volatile_words(launch)
        return together(straight.body, needed, most, is_shared, registers, moves)

    none = np.zeros(count, np.int64)
    if machine.under_way == 1:
        return np.zeros((count, count), np.int8), none - 1, none
    return launch.memo.once("waits", found)
