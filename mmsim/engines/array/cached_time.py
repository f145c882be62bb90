"""Requests of a machine with sectors and a cache: noted first, then served in their order."""

from __future__ import annotations

import inspect
import sys
from functools import cache, lru_cache, partial
from importlib import import_module
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mmsim.engines.array import cached_compiled as player
from mmsim.engines.array import turns_compiled
from mmsim.engines.array.asynchronous_time import (
    register_trees,
    sequences_of,
    watched,
    words_for,
)
from mmsim.engines.array.lazy_compilation import LazilyCompiled
from mmsim.engines.cached_launch import (
    asked,
    bytes_of_tables,
    in_arrays,
    kinds_of,
    last_sector,
    leave,
    new_state,
    plain_state,
    waits,
)
from mmsim.host.cores import cores, on_all_cores
from mmsim.host.progress import Progress
from mmsim.ir.dtypes import Integers
from mmsim.meaning.launch import Launch
from mmsim.meaning.memory_budget import Growth
from mmsim.model import cache as rule
from mmsim.model import rounds
from mmsim.model import sectors as sectors_file
from mmsim.model.machines import Machine
from mmsim.model.sectors import Asked, gather

Numeric = npt.NDArray[Any]
FEW = 5_000  # the sectors that Python plays before Numba is loaded
PLAY = LazilyCompiled("cached_compiled.play", 1_000_000)
"""The sectors that Python plays in about the time that compiling takes."""
BYTES = 64
"""Bytes of a line of this computer's cache."""
OF_A_REQUEST = 60  # bytes of a request, in addition to its sectors
OF_A_NOTE = 600
OF_A_PLACE = 12
FEW_PLACES = 64
"""Bytes of a place for a request of a warp under way; this many are reserved in advance."""


def gather_all(
    asked: Asked,
    addresses: Any,
    firsts: Any,
    begin: int,
    end: int,
    scratch: Any,
    sectors: Any,
    places: Any,
    ends: Any,
) -> int:
    """The sectors of requests `begin` to `end` of one access, and the end of each request."""
    at = 0
    for request in range(begin, end):
        first, last = firsts[request], firsts[request + 1]
        at = gather(asked, addresses, first, last, scratch, sectors, places, at)
        ends[request] = at
    return at


@cache
def compiled() -> SimpleNamespace:
    """Compile `play`, `serve_round`, `gather_all` and `write_other`; the code is kept on disk."""
    from mmsim.host import compiler

    extending: Any = import_module("numba.extending")
    numba: Any = import_module("numba")
    register_trees()
    extending.overload(rule.quotient)(quick_quotient(numba))
    extending.overload(rule.slot_of)(quick_slot_of(numba))
    extending.overload(sectors_file.sort)(quick_sort(numba))
    extending.overload(player.soon)(quick_soon(numba))
    for functions in (rule.PARTS, rounds.PARTS, sectors_file.PARTS, player.PARTS):
        for function in functions:
            extending.register_jitable(forceinline=True)(function)
    source = inspect.getsource(sys.modules[__name__]) + "".join(map(inspect.getsource, PARTS))
    how = {"error_model": "numpy", "_nrt": False}
    entered = player.play, player.serve_round, gather_all, rule.write_other
    return SimpleNamespace(
        **{function.__name__: compiler.compiled(function, source, **how) for function in entered}
    )


def quick_quotient(numba: Any) -> Any:
    """A quotient for Numba: a shift, or a division of 32 bits, if that is enough."""
    int64, uint32 = numba.int64, numba.uint32

    def chosen(number: Any, by: Any) -> Any:
        def divided(number: Any, by: Any) -> Any:
            if by & (by - 1) == 0:
                return int64(number) >> turns_compiled.trailing_zeros(int64(by))
            if number < 1 << 32 and by < 1 << 32:
                return int64(uint32(number) // uint32(by))
            return int64(number) // by

        return divided

    return chosen


RANKED = 32
"""The most numbers that are sorted by counting, for each, those that come before it."""


def quick_sort(numba: Any) -> Any:
    """A sort for Numba that ranks a few numbers by vector instructions.

    There is room for `RANKED` numbers more behind them.
    """
    extending: Any = import_module("numba.extending")
    ir: Any = import_module("llvmlite.ir")
    int64 = numba.int64
    by_steps = sectors_file.by_steps

    @extending.intrinsic  # type: ignore[untyped-decorator]
    def rank(context: Any, numbers: Any, one: Any, others: Any) -> Any:
        """The numbers before one of the first `RANKED`: less, or equal and earlier.

        `others` has a bit for each of the numbers that count.
        """

        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            array = context.make_array(signature.args[0])(context, builder, values[0])
            number, bits = context.get_value_type(signature.args[0].dtype), ir.IntType(RANKED)
            vector = ir.VectorType(number, RANKED)
            first = builder.bitcast(array.data, vector.as_pointer())
            found = builder.load(first, align=signature.args[0].dtype.bitwidth // 8)
            own = builder.load(builder.gep(array.data, [values[1]]))
            wanted = builder.insert_element(
                ir.Constant(vector, ir.Undefined), own, ir.Constant(ir.IntType(32), 0)
            )
            every = ir.Constant(ir.VectorType(ir.IntType(32), RANKED), [0] * RANKED)
            wanted = builder.shuffle_vector(wanted, ir.Constant(vector, ir.Undefined), every)
            less = builder.bitcast(builder.icmp_signed("<", found, wanted), bits)
            same = builder.bitcast(builder.icmp_signed("==", found, wanted), bits)
            place = builder.trunc(values[1], bits)
            earlier = builder.sub(builder.shl(bits(1), place), bits(1))
            before = builder.or_(less, builder.and_(same, earlier))
            before = builder.and_(before, builder.trunc(values[2], bits))
            return builder.zext(builder.ctpop(before), ir.IntType(64))

        return int64(numbers, int64, int64), generate

    def chosen(numbers: Any, count: Any) -> Any:
        def ranked(numbers: Any, count: Any) -> None:
            if count > RANKED:
                by_steps(numbers, count)
                return
            others = (1 << count) - 1
            for one in range(count):
                numbers[RANKED + rank(numbers, int64(one), int64(others))] = numbers[one]
            for one in range(count):
                numbers[one] = numbers[RANKED + one]

        return ranked

    return chosen


def quick_soon(numba: Any) -> Any:
    """A prefetch for Numba."""
    extending: Any = import_module("numba.extending")
    ir: Any = import_module("llvmlite.ir")

    @extending.intrinsic  # type: ignore[untyped-decorator]
    def prefetch(context: Any, array: Any, at: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            made = context.make_array(signature.args[0])(context, builder, values[0])
            number = ir.IntType(32)
            address = builder.bitcast(
                builder.gep(made.data, [values[1]]), ir.IntType(8).as_pointer()
            )
            kind = ir.FunctionType(ir.VoidType(), [address.type, number, number, number])
            function = builder.module.declare_intrinsic("llvm.prefetch", [address.type], kind)
            builder.call(function, [address, number(1), number(3), number(1)])
            return context.get_dummy_value()

        return numba.void(array, numba.int64), generate

    int64 = numba.int64

    def chosen(array: Any, at: Any) -> Any:
        def asked(array: Any, at: Any) -> None:
            prefetch(array, int64(at))

        return asked

    return chosen


LANES, FEW_LANES = 16, 8  # slots of a cache that are compared together


def _equal(numba: Any, lanes: int) -> Any:
    """A function for Numba: a bit for each of `lanes` slots from one on, set if it has a line."""
    extending: Any = import_module("numba.extending")
    ir: Any = import_module("llvmlite.ir")

    @extending.intrinsic  # type: ignore[untyped-decorator]
    def equal(context: Any, tags: Any, first: Any, line: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            array = context.make_array(signature.args[0])(context, builder, values[0])
            number = context.get_value_type(signature.args[2])
            vector = ir.VectorType(number, lanes)
            start = builder.bitcast(builder.gep(array.data, [values[1]]), vector.as_pointer())
            found = builder.load(start, align=signature.args[0].dtype.bitwidth // 8)
            wanted = builder.insert_element(
                ir.Constant(vector, ir.Undefined), values[2], ir.Constant(ir.IntType(32), 0)
            )
            every = ir.Constant(ir.VectorType(ir.IntType(32), lanes), [0] * lanes)
            wanted = builder.shuffle_vector(wanted, ir.Constant(vector, ir.Undefined), every)
            bits = builder.bitcast(builder.icmp_signed("==", found, wanted), ir.IntType(lanes))
            return builder.zext(bits, ir.IntType(64))

        return numba.int64(tags, numba.int64, tags.dtype), generate

    return equal


def quick_slot_of(numba: Any) -> Any:
    """A search for Numba that compares several slots together, by vector instructions.

    A cache of many ways is searched for each sector; the line is mostly missing.
    """
    int32, int64 = numba.int32, numba.int64
    equal, equal_few = (_equal(numba, lanes) for lanes in (LANES, FEW_LANES))

    def chosen(tags: Any, first: Any, ways: Any, line: Any) -> Any:
        own = int32 if tags.dtype == int32 else int64

        def searched(tags: Any, first: Any, ways: Any, line: Any) -> Any:
            if ways % FEW_LANES:
                for slot in range(first, first + ways):
                    if tags[slot] == line:
                        return slot
                return -1
            if ways % LANES:
                for slot in range(first, first + ways, FEW_LANES):
                    bits = equal_few(tags, int64(slot), own(line))
                    if bits:
                        return slot + turns_compiled.trailing_zeros(bits)
                return -1
            for slot in range(first, first + ways, LANES):
                bits = equal(tags, int64(slot), own(line))
                if bits:
                    return slot + turns_compiled.trailing_zeros(bits)
            return -1

        return searched

    return chosen


PARTS = (rule, rounds, sectors_file, player, turns_compiled)
"""The files with the compiled functions."""
NO_SECTORS, UNTOUCHED = np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.uint32)


class Note(NamedTuple):
    """Some requests of one access: their stages, their sectors, the end of each one's sectors."""

    site: int
    stages: Numeric
    sectors: Numeric
    touched: Numeric
    ends: Integers


class Requests:
    """The requests of a launch, in the order of their notes."""

    def __init__(self, launch: Launch, growth: Growth) -> None:
        self.launch = launch
        self.growth = growth
        self.notes: list[Note] = []
        self.count = 0
        self.sectors = 0
        self.held = 0
        self.numbers, self.ways = asked(launch)
        self.masked = self.numbers.sets + self.numbers.own_sets > 0
        self.orders = np.zeros(len(launch.meaning.sites), np.int64)
        self.to_shared = [launch.arrays[site.array].own_units for site in launch.meaning.sites]

    def note(self, site: int, addresses: Integers, firsts: Integers, stages: Integers) -> int:
        """Note requests of one access, which begin at `firsts`; return the first one's number."""
        number = self.count
        note = self.made(site, addresses, firsts, stages)
        self.notes.append(note)
        self.count += len(stages)
        self.sectors += len(note.sectors)
        self.held += OF_A_NOTE + sum(column.nbytes for column in note[1:])
        self.growth.need(2 * self.held + OF_A_REQUEST * self.count, self.held)
        return number

    def made(self, site: int, addresses: Integers, firsts: Integers, stages: Integers) -> Note:
        """Note requests of one access."""
        if self.to_shared[site]:
            stages = stages * self.launch.machine.shared[0].stage_time
            return Note(site, stages, NO_SECTORS, UNTOUCHED, np.zeros(len(stages), np.int64))
        firsts = np.append(firsts, len(addresses))
        sectors, touched, ends = self.gathered(self.ways[site], addresses, firsts)
        return Note(site, stages, sectors, touched, ends)

    def gathered(
        self, asked: Asked, addresses: Integers, firsts: Integers
    ) -> tuple[Numeric, Numeric, Integers]:
        """The sectors of requests, their touched places, and the end of each request."""
        count = len(firsts) - 1
        ends = np.zeros(count, np.int64)
        longest = int(np.diff(firsts).max())
        if not self.pays(len(addresses)):
            most = asked.most(len(addresses))
            found, touched, at_ends = [0] * most, [0] * most, [0] * count
            given = addresses.tolist(), firsts.tolist()
            end = gather_all(asked, *given, 0, count, [0] * longest, found, touched, at_ends)
            sectors = np.array(found[:end], np.int64)
            return (
                sectors.astype(narrow(int(sectors.max()))),
                np.array(touched[:end], np.uint32) if self.masked else UNTOUCHED,
                np.array(at_ends, np.int64),
            )
        last = int(addresses.max())
        dtype = narrow((last + 1) * asked.size // asked.sector)
        pieces: dict[int, tuple[int, Numeric, Numeric]] = {}

        def work(first: int, last: int) -> None:
            most = asked.most(int(firsts[last] - firsts[first]))
            own = np.empty(most, dtype)
            places = np.zeros(most if self.masked else 0, np.uint32)
            scratch = np.zeros(longest + 2 * RANKED, narrow(last))
            given = addresses, firsts, first, last, scratch
            end = compiled().gather_all(asked, *given, own, places, ends)
            pieces[first] = last, own[:end], places[:end]

        compiled()
        on_all_cores(work, count, min(cores(), 1 + len(addresses) // (1 << 18)))
        before = 0
        every = sorted(pieces.items())
        for first, (last, own, _) in every:
            ends[first:last] += before
            before += len(own)
        return (
            _joined([own for _, (_, own, _) in every], dtype),
            _joined([places for _, (_, _, places) in every], np.uint32),
            ends,
        )

    def new_state(self, sectors: int) -> rule.State:
        """Return an empty cache for requests with `sectors` sectors, in arrays."""
        return new_state(self.numbers, self.launch.machine, self.most(sectors))

    def most(self, sectors: int = 0) -> int:
        """A bound for the numbers of sectors."""
        return max(sectors, last_sector(self.launch))

    def pays(self, work: int) -> bool:
        """Return whether to use compiled functions for `work` more sectors."""
        return bool(self.orders.any()) or (work >= FEW and PLAY.pays(work))

    def asynchronous(
        self,
        operations: Numeric,
        start: Integers,
        progress: Progress,
        counts: Integers | list[rule.Sparse],
    ) -> int:
        """Return the finishing time; `counts` gets the costs of each access's requests."""
        launch, control = self.launch, np.zeros(2, np.int64)
        if isinstance(counts, list):
            fixed, state = self._prepared(operations, start, False)
            plain = player.State._make(part.tolist() for part in state)._replace(counts=counts)
            return player.play(fixed, plain, self.numbers, plain_state(launch), control)
        compile = self.pays(self.sectors)
        cached = self.found()
        fixed, state = self._prepared(operations, start, compile)
        state = state._replace(counts=counts)
        if compile:
            play = compiled().play
            time = watched(
                lambda: int(play(fixed, state, self.numbers, cached, control)), control, progress
            )
        else:
            plain, listed = player.State._make(map(np.ndarray.tolist, state)), rule.listed(cached)
            time = player.play(fixed, plain, self.numbers, listed, control)
            cached = in_arrays(listed, cached)
            counts[:] = np.reshape(plain.counts, counts.shape)
        leave(launch, cached)
        return time

    def found(self) -> rule.State:
        """A copy of the cache that an earlier launch left, or an empty one."""
        left = self.launch.left
        if left is None:
            left = self.new_state(self.sectors)
        elif not rule.are_narrow(self.numbers, self.most(self.sectors)):
            left = rule.widened(left)
        return rule.State._make(map(aligned, left))

    def prepared(self, operations: Numeric, start: Integers) -> tuple[player.Launch, player.State]:
        """Return the input of the compiled player, without counts, and drop the notes."""
        return self._prepared(operations, start, True)

    def _prepared(
        self, operations: Numeric, start: Integers, compile: bool
    ) -> tuple[player.Launch, player.State]:
        """Return the input of the player, without counts, and drop the notes."""
        launch, grid, machine = self.launch, self.launch.grid, self.launch.machine
        dmms, blocks, size = grid.dmms_used, grid.blocks, grid.warps_per_block
        warps = blocks * size
        # No more requests are under way than a warp has.
        places = min(machine.under_way, max(int(np.diff(start).max()), 1))
        if self.orders.any():
            places = machine.under_way
        if places > FEW_PLACES:
            more = OF_A_PLACE * warps * places
            self.growth.need(2 * self.held + OF_A_REQUEST * self.count + more, self.held)
        ends = [np.zeros(1, np.int64)]
        for note in self.notes:
            ends.append(ends[-1][-1] + note.ends)
        sizes = machine.clusters_of(dmms)
        room, taken = launch.room
        arrays = (
            np.cumsum((0, *sizes)),
            operations.astype(np.int64),
            taken,
            self.orders,
            *waits(launch),
            np.array(kinds_of(launch), np.int64),
            np.array(self.to_shared, bool),
            _joined([np.full(len(one.stages), one.site, np.int32) for one in self.notes], np.int32),
            _joined([note.stages for note in self.notes], np.int64),
            np.concatenate(ends),
            _joined([note.sectors for note in self.notes], np.int32),
            _joined([note.touched for note in self.notes if self.masked], np.uint32),
        )
        self.notes = []
        fixed = player.Launch(
            dmms,
            blocks,
            size,
            places,
            int(machine.latencies(2)[1]) if machine.shared else 1,
            *(arrays if compile else (array.tolist() for array in arrays)),
        )
        zeros = partial(np.zeros, dtype=np.int64)
        words, clusters, of_clusters = map(words_for, (warps, len(sizes), max(sizes)))
        state = player.State(
            sequences=sequences_of(start, warps),
            times=zeros(warps * places),
            sites=np.zeros(warps * places, np.int32),
            within=np.full(warps, -1, np.int64),
            trips=zeros(warps),
            ready=zeros((dmms, words)),
            ready_shared=zeros((dmms, words)),
            last=zeros((dmms, 2)),
            dmms=zeros((len(sizes), of_clusters)),
            clusters=zeros(clusters),
            last_of=zeros(len(sizes)),
            free=zeros(dmms),
            planned=np.zeros(dmms, bool),
            room=np.full(dmms, room, np.int64),
            ended=zeros(words_for(blocks)),
            **{name: zeros(blocks) for name in player.OF_BLOCKS},
            waiting=zeros(warps),
            todo=zeros(warps),
            heap_times=zeros(warps + dmms),
            heap=zeros(warps + dmms),
            ordered=zeros(max(warps, 1) if self.orders.any() else 1),
            held=zeros((warps, 2) if self.orders.any() else (1, 2)),
            numbers=zeros(9),
            counts=zeros(0),
        )
        return fixed, state


def aligned(array: Numeric) -> Numeric:
    """A copy that begins where a line of this computer's cache begins: few lines hold each set."""
    place = np.empty(array.nbytes + BYTES, np.uint8)
    first = -place.ctypes.data % BYTES
    found = place[first : first + array.nbytes].view(array.dtype).reshape(array.shape)
    found[...] = array
    return found


SWEPT = 3
"""So many times the capacity of a cache are written by `swept`."""


@lru_cache(maxsize=2)
def swept(machine: Machine) -> rule.State:
    """The cache after another array of `SWEPT` times its size was written, in arrays."""
    numbers = machine.cache
    assert numbers is not None
    places = numbers.sets * numbers.ways * numbers.halves * numbers.sectors * numbers.sector
    state = new_state(numbers, machine, rule.OTHER * numbers.sectors)
    compiled().write_other(numbers, state, SWEPT * places // machine.line)
    return rule.narrowed(state) if numbers.sectors <= rule.BITS else state


class Rounds:
    """Serves the rounds of the synchronous schedule; the cache stays between rounds."""

    def __init__(self, requests: Requests) -> None:
        self.requests = requests
        self.state = plain_state(requests.launch)
        self.compiled = False

    def serve(self, note: Note, start: int, dmms: Integers, counts: Integers | rule.Sparse) -> int:
        """Return when a round that begins at `start` ends; `counts` gets its costs."""
        requests = self.requests
        table = dmms, note.stages, np.append(0, note.ends), note.sectors, note.touched
        whole = isinstance(counts, np.ndarray)
        if whole and not self.compiled and requests.pays(len(note.sectors)):
            self.state, self.compiled = in_arrays(self.state, requests.new_state(1 << 62)), True
        given = requests.numbers, self.state, start, requests.ways[note.site].kind
        if self.compiled:
            return int(compiled().serve_round(*given, *table, counts))
        own: Any = counts.tolist() if isinstance(counts, np.ndarray) else counts
        serve_round: Any = player.serve_round
        time: int = serve_round(*given, *map(np.ndarray.tolist, table), own)
        if isinstance(counts, np.ndarray):
            counts[:] = own
        return time


def bytes_played(launch: Launch) -> int:
    """The bytes of the schedule, without the requests."""
    grid, machine = launch.grid, launch.machine
    dmms = grid.dmms_used
    of_warps = grid.warps * (100 + OF_A_PLACE * min(machine.under_way, FEW_PLACES))
    of_warps += 2 * 8 * dmms * words_for(grid.blocks * grid.warps_per_block)
    sizes = machine.clusters_of(dmms)
    of_clusters = 8 * len(sizes) * (words_for(max(sizes)) + 4)
    return of_warps + of_clusters + bytes_of_tables(launch)


def narrow(most: int) -> type[np.int32 | np.int64]:
    """The type of numbers up to `most`: functions are compiled for these two types only."""
    return np.int32 if most < 1 << 31 else np.int64


def _joined(parts: list[Numeric], least: type[Any]) -> Numeric:
    """Join arrays into one, of the widest type."""
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if parts else np.zeros(0, least)
