"""Requests of a machine with sectors and a cache: noted first, then served in their order."""

from __future__ import annotations

import inspect
import sys
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim.engines.array import asynchronous_time as plain_time
from mmsim.engines.array import cached_compiled as player
from mmsim.engines.array import turns_compiled
from mmsim.engines.array.lazy_compilation import LazilyCompiled
from mmsim.engines.cached_launch import (
    asked,
    bytes_of_tables,
    last_sector,
    needed,
    new_state,
    plain_state,
    sparse,
)
from mmsim.host.cores import cores, in_thread, on_all_cores
from mmsim.host.progress import Progress
from mmsim.meaning.launch import Launch
from mmsim.meaning.memory_budget import Growth
from mmsim.model import cache as rule
from mmsim.model import sectors as sectors_file
from mmsim.model import under_way
from mmsim.model.machines import Machine
from mmsim.model.sectors import Asked, gather

Integers = npt.NDArray[np.int64]
Numeric = npt.NDArray[Any]
FEW = 5_000
"""The sectors that Python plays before Numba is loaded."""
PLAY = LazilyCompiled("cached_compiled.play", 1_000_000)
"""The sectors that Python plays in about the time that compiling takes."""
OF_A_REQUEST = 60
"""Bytes of a request, in addition to its sectors."""
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


def write_other(numbers: rule.Numbers, state: rule.State, lines: int) -> None:
    """The rule's function, called here in order to compile it."""
    rule.write_other(numbers, state, lines)


def swept(machine: Machine, lines: int) -> rule.State:
    """A machine's cache, in arrays, after writes of `lines` lines of another array."""
    numbers = machine.cache
    assert numbers is not None
    state = new_state(numbers, machine, rule.OTHER * numbers.sectors)
    compiled()[3](numbers, state, lines)
    return state


@cache
def compiled() -> Any:
    """Compile `play`, `serve_round`, `gather_all` and `write_other`; the code is kept on disk."""
    from mmsim.host import compiler

    extending: Any = import_module("numba.extending")
    numba: Any = import_module("numba")
    plain_time.register_trees()
    extending.overload(rule.quotient)(quick_quotient(numba))
    extending.overload(rule.slot_of)(quick_slot_of(numba))
    for functions in (rule.PARTS, under_way.PARTS, sectors_file.PARTS, player.PARTS):
        for function in functions:
            extending.register_jitable(forceinline=True)(function)
    source = inspect.getsource(sys.modules[__name__]) + "".join(map(inspect.getsource, PARTS))
    how = {"error_model": "numpy", "_nrt": False}
    return [
        compiler.compiled(function, source, **how)
        for function in (player.play, player.serve_round, gather_all, write_other)
    ]


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


LANES = 8
"""Slots of a cache that are compared together."""


def quick_slot_of(numba: Any) -> Any:
    """A search for Numba that compares several slots together, by vector instructions.

    A cache of many ways is searched for each sector; the line is mostly missing.
    """
    extending: Any = import_module("numba.extending")
    ir: Any = import_module("llvmlite.ir")
    int32, int64 = numba.int32, numba.int64

    @extending.intrinsic  # type: ignore[untyped-decorator]
    def equal(context: Any, tags: Any, first: Any, line: Any) -> Any:
        """A bit for each of `LANES` slots from the first one on, set if the slot has the line."""

        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            array = context.make_array(signature.args[0])(context, builder, values[0])
            number = context.get_value_type(signature.args[2])
            vector = ir.VectorType(number, LANES)
            start = builder.bitcast(builder.gep(array.data, [values[1]]), vector.as_pointer())
            found = builder.load(start, align=signature.args[0].dtype.bitwidth // 8)
            wanted = builder.insert_element(
                ir.Constant(vector, ir.Undefined), values[2], ir.Constant(ir.IntType(32), 0)
            )
            every = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
            wanted = builder.shuffle_vector(wanted, ir.Constant(vector, ir.Undefined), every)
            bits = builder.bitcast(builder.icmp_signed("==", found, wanted), ir.IntType(LANES))
            return builder.zext(bits, ir.IntType(64))

        return numba.int64(tags, int64, tags.dtype), generate

    def chosen(tags: Any, first: Any, ways: Any, line: Any) -> Any:
        own = int32 if tags.dtype == int32 else int64

        def searched(tags: Any, first: Any, ways: Any, line: Any) -> Any:
            if ways % LANES:
                for slot in range(first, first + ways):
                    if tags[slot] == line:
                        return slot
                return -1
            for slot in range(first, first + ways, LANES):
                bits = equal(tags, int64(slot), own(line))
                if bits:
                    return slot + turns_compiled.trailing_zeros(bits)
            return -1

        return searched

    return chosen


PARTS = (rule, under_way, sectors_file, player, turns_compiled)
"""The files with the compiled functions."""
NO_SECTORS, UNTOUCHED = np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.uint32)


@dataclass(frozen=True)
class Note:
    """Some requests of one access: their stages, their sectors, the end of each one's sectors."""

    site: int
    stages: Numeric
    sectors: Numeric
    touched: Numeric
    ends: Integers

    @property
    def bytes(self) -> int:
        """The bytes of the note."""
        return self.stages.nbytes + self.sectors.nbytes + self.touched.nbytes + self.ends.nbytes


class Requests:
    """The requests of a launch, in the order of their notes."""

    def __init__(self, launch: Launch, growth: Growth, compile: bool | None = None) -> None:
        self.launch = launch
        self.growth = growth
        self.compile = compile
        self.notes: list[Note] = []
        self.count = 0
        self.sectors = 0
        self.held = 0
        machine = launch.machine
        self.numbers, self.ways = asked(launch)
        self.masked = self.numbers.sets > 0
        self.to_shared = [
            bool(machine.shared and launch.arrays[site.array].shared)
            for site in launch.meaning.sites
        ]

    def note(
        self,
        site: int,
        addresses: Integers,
        firsts: Integers,
        stages: Integers,
    ) -> int:
        """Note requests of one access, which begin at `firsts`; return the first one's number."""
        number = self.count
        note = self.made(site, addresses, firsts, stages)
        self.notes.append(note)
        self.count += len(stages)
        self.sectors += len(note.sectors)
        self.held += note.bytes + OF_A_NOTE
        self.growth.need(2 * self.held + OF_A_REQUEST * self.count, self.held)
        return number

    def made(
        self,
        site: int,
        addresses: Integers,
        firsts: Integers,
        stages: Integers,
    ) -> Note:
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
        dtype = narrow(int(addresses.max() + 1) * asked.size // asked.sector)
        pieces: dict[int, tuple[int, Numeric, Numeric]] = {}

        def work(first: int, last: int) -> None:
            most = asked.most(int(firsts[last] - firsts[first]))
            own = np.empty(most, dtype)
            places = np.zeros(most if asked.masked else 0, np.uint32)
            scratch = np.empty(longest, np.int64)
            given = addresses, firsts, first, last, scratch
            end = compiled()[2](asked, *given, own, places, ends)
            if self.masked and not asked.masked:
                places = np.zeros(end, np.uint32)
            pieces[first] = last, own[:end].copy(), places[:end].copy()

        compiled()
        on_all_cores(work, count, min(cores(), 1 + len(addresses) // (1 << 18)))
        before = 0
        for first in sorted(pieces):
            last, own, _ = pieces[first]
            ends[first:last] += before
            before += len(own)
        every = [pieces[first] for first in sorted(pieces)]
        if len(every) == 1:
            return every[0][1], every[0][2], ends
        return (
            np.concatenate([own for _, own, _ in every]),
            np.concatenate([places for _, _, places in every]),
            ends,
        )

    def new_state(self, sectors: int) -> rule.State:
        """Return an empty cache for requests with `sectors` sectors, in arrays."""
        most = max(sectors, last_sector(self.launch))
        return new_state(self.numbers, self.launch.machine, most)

    def pays(self, work: int) -> bool:
        """Return whether to use compiled functions for `sectors` more sectors."""
        if self.compile is not None:
            return self.compile
        if work < FEW or not PLAY.pays(work):
            return False
        from mmsim.host import compiler  # loads Numba

        return compiler.enabled()

    def asynchronous(
        self,
        operations: Numeric,
        start: Integers,
        progress: Progress,
        counts: Integers | list[rule.Sparse],
    ) -> int:
        """Return the finishing time; `counts` gets the costs of each access's requests."""
        if isinstance(counts, list):
            launch, state = self._prepared(operations, start, False, np.zeros(0, np.int64))
            plain = player.State._make(part.tolist() for part in state)._replace(counts=counts)
            return player.play(launch, plain, self.numbers, plain_state(self.launch), [0, 0])
        compile = self.pays(self.sectors)
        cached = self.launch.left or self.new_state(self.sectors)
        self.launch.left = cached
        launch, state = self._prepared(operations, start, compile, counts)
        control = np.zeros(2, np.int64)
        if not compile:
            plain = player.State._make(part.tolist() for part in state)
            listed = rule.listed(cached)
            time = player.play(launch, plain, self.numbers, listed, control)
            for part, found in zip(cached, listed, strict=True):
                part[:] = found
            cached.free[:] = 0
            counts += np.array(plain.counts, np.int64).reshape(counts.shape)
            return time

        def work() -> int:
            return int(compiled()[0](launch, state, self.numbers, cached, control))

        def watch() -> None:
            progress.report("asynchronous schedule", int(control[1]), "warp requests")

        def stop() -> None:
            control[0] = 1

        time = in_thread(work, watch, stop)
        cached.free[:] = 0
        counts += state.counts
        return time

    def _prepared(
        self, operations: Numeric, start: Integers, compile: bool, counts: Integers
    ) -> tuple[player.Launch, player.State]:
        """Return the input of the player, and drop the notes."""
        launch, grid = self.launch, self.launch.grid
        machine = launch.machine
        dmms = grid.dmms_used
        blocks, size = grid.blocks, grid.warps_per_block
        warps = blocks * size
        # No more requests are under way than a warp has.
        places = min(machine.under_way, max(int(np.diff(start).max()), 1))
        if places > FEW_PLACES:
            more = OF_A_PLACE * warps * places
            self.growth.need(2 * self.held + OF_A_REQUEST * self.count + more, self.held)
        sites = [np.full(len(note.stages), note.site, np.int32) for note in self.notes]
        stages = [note.stages for note in self.notes]
        ends = [np.zeros(1, np.int64)]
        for note in self.notes:
            ends.append(ends[-1][-1] + note.ends)
        table = (
            _joined(sites, np.int32),
            _joined(stages, np.int64),
            np.concatenate(ends),
            _joined([note.sectors for note in self.notes], np.int32),
            _joined([note.touched for note in self.notes if self.masked], np.uint32),
        )
        self.notes = []
        before = np.arange(blocks) * grid.block_size
        threads = np.minimum(grid.block_size, grid.threads - before)
        kinds = np.array([rule.KIND[site.kind] for site in launch.meaning.sites], np.int64)
        sizes = machine.clusters_of(dmms)
        arrays = (
            np.cumsum((0, *sizes)),
            operations.astype(np.int64),
            threads,
            needed(launch),
            kinds,
            np.array(self.to_shared, bool),
            *table,
        )
        fixed = player.Launch(
            dmms,
            blocks,
            size,
            places,
            int(machine.latencies(2)[1]) if machine.shared else 1,
            *(arrays if compile else (array.tolist() for array in arrays)),
        )
        sequences = np.zeros((warps, 2), np.int64)
        sequences[: grid.warps, 0] = start[:-1]
        sequences[: grid.warps, 1] = start[1:]
        words = plain_time.words_for(warps)
        clusters, of_clusters = (plain_time.words_for(most) for most in (len(sizes), max(sizes)))
        resident = grid.threads if machine.resident is None else machine.resident
        state = player.State(
            sequences,
            np.zeros(warps * places, np.int64),
            np.zeros(warps * places, np.int32),
            np.zeros((dmms, words), np.int64),
            np.zeros((dmms, words), np.int64),
            np.zeros((dmms, 2), np.int64),
            np.zeros((len(sizes), of_clusters), np.int64),
            np.zeros(clusters, np.int64),
            np.zeros(len(sizes), np.int64),
            np.zeros(dmms, np.int64),
            np.zeros(dmms, bool),
            np.full(dmms, resident, np.int64),
            np.zeros(blocks, np.int64),
            np.zeros(blocks, np.int64),
            np.zeros(blocks, np.int64),
            np.zeros(blocks, np.int64),
            np.zeros(blocks, np.int64),
            np.zeros(warps, np.int64),
            np.zeros(warps, np.int64),
            np.zeros(warps + dmms, np.int64),
            np.zeros(warps + dmms, np.int64),
            np.zeros(6, np.int64),
            np.zeros_like(counts),
        )
        return fixed, state


class Rounds:
    """Serves the rounds of the synchronous schedule; the cache stays between rounds."""

    def __init__(self, requests: Requests) -> None:
        self.requests = requests
        self.sparse = sparse(requests.launch)
        self.plain: rule.State | None = plain_state(requests.launch)
        if not self.sparse:
            self.state = requests.new_state(1 << 62)

    def serve(self, note: Note, start: int, dmms: Integers, counts: Integers | rule.Sparse) -> int:
        """Return when a round that begins at `start` ends; `counts` gets its costs."""
        numbers, kind = self.requests.numbers, self.requests.ways[note.site].kind
        table = dmms, note.stages, np.append(0, note.ends), note.sectors, note.touched
        if self.plain is not None:
            if self.sparse or not self.requests.pays(len(note.sectors)):
                own: Any = counts.tolist() if isinstance(counts, np.ndarray) else counts
                own_dmms, stages, ends, sectors, touched = (array.tolist() for array in table)
                given = kind, own_dmms, stages, ends, sectors, touched, own
                time = player.serve_round(numbers, self.plain, start, *given)
                if isinstance(counts, np.ndarray):
                    counts[:] = own
                return time
            arrays = zip(self.plain, self.state, strict=True)
            self.state = rule.State._make(np.array(new, old.dtype) for new, old in arrays)
            self.plain = None
        serve_round = compiled()[1]
        return int(serve_round(numbers, self.state, start, kind, *table, counts))


def bytes_played(launch: Launch) -> int:
    """The bytes of the schedule, without the requests."""
    grid, machine = launch.grid, launch.machine
    assert machine.cache is not None
    dmms = grid.dmms_used
    of_warps = grid.warps * (100 + OF_A_PLACE * min(machine.under_way, FEW_PLACES))
    of_warps += 2 * 8 * dmms * plain_time.words_for(grid.blocks * grid.warps_per_block)
    sizes = machine.clusters_of(dmms)
    of_clusters = 8 * len(sizes) * (plain_time.words_for(max(sizes)) + 4)
    return of_warps + of_clusters + bytes_of_tables(launch)


def narrow(most: int) -> type[np.int32 | np.int64]:
    """The type of numbers up to `most`: functions are compiled for these two types only."""
    return np.int32 if most < 1 << 31 else np.int64


def _joined(parts: list[Numeric], least: type[Any]) -> Numeric:
    """Join arrays into one, of the widest type."""
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if parts else np.zeros(0, least)
