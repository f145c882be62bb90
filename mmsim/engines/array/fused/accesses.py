"""Writes the text of accesses to arrays and registers: the address, the cost, and the move.

The stages of a request are counted by the functions of `mmsim.engines.array.counting`. For these
`lanes` is the text of the list of requesting lanes, `count` the text of their number, `addresses`
the text of their addresses.
"""

from __future__ import annotations

from dataclasses import dataclass

from mmsim.engines.array.fused.analysis import CannotFuse
from mmsim.engines.array.fused.expressions import numpy_name
from mmsim.engines.array.fused.loops import kept
from mmsim.engines.array.fused.pieces import Pieces
from mmsim.engines.array.fused.rows import Row
from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import limits
from mmsim.ir.nodes import AtomicOp
from mmsim.model.byte_banks import InPairs, Long, Packed, Twice, Vectors
from mmsim.model.conflicts import Conflict, InParts

BARRIER_SITE = -1
LEAVES: dict[AtomicOp, str] = {
    "add": "{old} + {value}",
    "sub": "{old} - {value}",
    "max": "max({old}, {value})",
    "min": "min({old}, {value})",
    "and": "{old} & {value}",
    "or": "{old} | {value}",
    "xor": "{old} ^ {value}",
    "exch": "{value}",
    "cas": "{value} if {old} == {compare} else {old}",
    "inc": "0 if {old} >= {value} else {old} + 1",
    "dec": "{value} if ({old} == 0) | ({old} > {value}) else {old} - 1",
}
"""The text of an atomic's new value, as `mmsim.ir.atomics.LEAVES`; an array wraps it around."""


Cost = tuple[str, str]
"""The texts of the stages of a request, and of its least stages."""


def counted(rule: Conflict | None, width: int, begin: int) -> bool:
    """Return whether arrays aligned to `begin` words and warps of these lanes have counters."""
    if isinstance(rule, Twice):
        return counted(rule.rule, width, begin)
    if isinstance(rule, Vectors):
        return begin % rule.count == 0 and counted(rule.rule, width, begin // rule.count)
    if rule is None or rule.compiled is None or begin % rule.width:
        return False
    if isinstance(rule, InPairs) and rule.width == 1:
        return False  # a part may consist of two consecutive lanes
    return rule.width >= width or isinstance(rule, InParts) or rule.compiled == "group"


def of_lanes(rule: Conflict, addresses: str, lanes: str, count: str) -> Cost:
    """The cost of a request of any lanes; of vectors `addresses` has the numbers."""
    if isinstance(rule, Twice):
        return _twice(of_lanes(rule.rule, addresses, lanes, count))
    if isinstance(rule, Vectors):
        stages, phases = of_lanes(rule.rule, addresses, lanes, count)
        if isinstance(rule, Long):  # a request for one group is no common case
            stages = f"group_stages({addresses}, {count}, {rule.width}, tables)"
        words = f"{addresses}, {count}, {rule.count}, {rule.width}"
        return stages, f"fewest_of_vectors(stages, {phases}, {words}, tables)"
    if not isinstance(rule, InParts):
        packed = f"{rule.elements}, " if isinstance(rule, Packed) else ""
        request = f"{rule.compiled}_request({addresses}, {count}, {rule.width}, {packed}tables)"
        return request, "1"
    at_once = f"{rule.width}"
    if isinstance(rule, InPairs):
        at_once = f"lanes_at_once({addresses}, {lanes}, {count}, {rule.width})"
    counter = str(rule.rule.compiled).upper()
    given = f"{addresses}, {lanes}, {count}, {at_once}, {rule.width}, {counter}, tables"
    return f"stages_of_parts({given})", f"parts_asking({lanes}, {count}, {at_once})"


def of_row(rule: Conflict, first: str) -> Cost:
    """The cost of a request of `lanes` lanes for consecutive addresses; of atomics too."""
    if isinstance(rule, Twice):
        return _twice(of_row(rule.rule, first))
    if isinstance(rule, Long):
        fewest = f"(lanes + {rule.width - 1}) // {rule.width}"
        return f"row_of_groups({first}, lanes, {rule.width})", fewest
    parts = f"parts_asking(every, lanes, {rule.width})"
    is_group = str(rule.compiled).startswith("group")
    if isinstance(rule, InParts):  # each has at most one address of each bank
        return f"row_of_group_parts({first}, lanes, {rule.width})" if is_group else parts, parts
    return f"row_of_{'group' if is_group else 'bank'}s({first}, lanes, {rule.width})", "1"


def of_one(rule: Conflict) -> Cost:
    """The cost of a request of `lanes` lanes for one address."""
    if isinstance(rule, Twice):
        return _twice(of_one(rule.rule))
    least = f"parts_asking(every, lanes, {rule.longest})" if isinstance(rule, InParts) else "1"
    return "lanes" if str(rule.compiled).endswith("_atomic") else least, least


def _twice(cost: Cost) -> Cost:
    return f"2 * {cost[0]}", f"2 * {cost[1]}"


@dataclass(frozen=True)
class Words:
    """The words of a warp's request, or for vectors the vectors.

    `word` is the text of one of them, that of number `slot` (from 0, unsigned) among `count`. For a
    row, `elements` is the text of its first element and `first` of this element's place. Otherwise
    `elements` is the text of a list.
    """

    word: str
    count: str
    elements: str
    row: Row | None = None
    first: str = ""


class Accesses(Pieces):
    """A program that is being written, with the state of its accesses.

    Within a loop over the warps `access` counts the accesses so far. `forwarding` are the variables
    that are written as they are read, and `forwarded` gives their words.
    """

    access = 0
    forwarding: frozenset[str] | set[str] = frozenset()

    def _register_write(self, array: str, index: tuple[ir.Expr, ...], value: ir.Expr) -> None:
        with self._warps():
            with self._lanes(self.mask):
                at = self._register_address(array, index)
                text = self._fitting(array, value)
                self.text.add(f"register_{array}[{at}, here] = {text}")
            self._give_up()

    def _fitting(self, array: str, value: ir.Expr) -> str:
        """The text of a stored value, `bad` if the array's type can't hold it."""
        held, stored = self.typing.arrays[array], self.typing.of(value)
        name = self.text.temporary()
        self.text.add(f"{name} = {self.lanes.write(value)}")
        if held != stored:
            low, high = limits(held)
            self.text.add(f"if ({name} < {low}) | ({name} > {high}):")
            self.text.add("    bad = True", f"    {name} = {numpy_name(stored)}(0)")
        return name

    def _in_step(self, accesses: int) -> None:
        """Give up at the end of the list of accesses, in case the skeleton is wrong."""
        self.text.add(f"if at_access + {accesses} > len(requests):", "    return 1")

    def _in_skeleton(self, site: int) -> None:
        """The skeleton's lines for an access or a barrier."""
        self.plain.add(f"sites.append({site})")
        if site != BARRIER_SITE:
            self._step()

    def _barrier(self) -> None:
        self._in_skeleton(BARRIER_SITE)
        self._in_step(1)
        with self._under("if len(operations):"):
            self.text.add("for warp in range(warp0, warp1):", "    operations[warp, at_access] = 1")
        self.text.add("at_access += 1")

    def _load(self, site: int, array: str, index: tuple[ir.Expr, ...], target: str | None) -> None:
        text = self.text
        moving = target if target in self.forwarding else None
        found = self._request(site, array, index, moving)
        if target is None:
            return
        self.forwarded.pop(target, None)
        self.in_rows.pop(target, None)
        if moving:
            self.forwarded[moving] = found.word
            self.unstored.add(moving)
        elif found.row and target in self.moves.unwritten:
            text.add(f"row_{target} = {found.first}")
            text.add(f"rows_{target}[np.uint64(warp - warp0)] = row_{target}")
            self.in_rows[target] = array, found.row
            self.rowed.add(target)
            self.unstored.add(target)
            self.at_hand.add(target)
        else:
            self.owned.add(target)
            text.add(f"for slot in range(np.uint64({found.count})):")
            lane = "np.uint64(where[slot])" if self.mask else "slot"
            text.add(f"    own_{target}[at + {lane}] = {found.word}")

    def _store(self, site: int, array: str, index: tuple[ir.Expr, ...], value: ir.Expr) -> None:
        text = self.text
        found = self._request(site, array, index, None, "write")
        if array in self.marked:
            seen = f"mark({found.elements}, {found.count}, marks_{array})"
            if found.row:
                count = found.count if found.row == "row" else "1"
                seen = f"mark_row({found.elements}, {count}, marks_{array})"
            text.add(f"if marking and {seen}:", "    return 2")
        name = None if self.mask else kept(value, self.analysis)
        # The variable holds the array's words as they are.
        whole = (
            name is not None
            and name in self.lanes.assigned
            and self.typing.variables[name] == self.typing.arrays[array]
        )
        own = self._own(str(name), "slot") if whole else ""
        if whole and found.row == "one":
            text.add("slot = np.uint64(0)")  # the lowest-numbered thread's value stays
            text.add(f"{found.word} = {own}")
            return
        slot = "slot" if found.row == "row" else "back"
        with self._under(f"for {slot} in range(np.uint64({found.count})):"):
            if slot == "back":  # the lowest-numbered thread's value is written last
                text.add(f"slot = np.uint64({found.count} - 1) - back")
            if not whole:
                self._lane_of_slot()
                own = self._fitting(array, value)
            text.add(f"{found.word} = {own}")
        if not whole:
            self._give_up()

    def _vector_load(self, load: ir.VectorLoad) -> None:
        count = len(load.targets)
        found = self._request(load.site, load.array, load.index, None, "read", count)
        with self._under(f"for slot in range(np.uint64({found.count})):"):
            self._lane_of_slot()
            for at, target in enumerate(load.targets):
                self.forwarded.pop(target, None)
                self.in_rows.pop(target, None)
                self.owned.add(target)
                self.text.add(f"own_{target}[here] = {found.word.format(at)}")

    def _vector_store(self, store: ir.VectorStore) -> None:
        text, array, count = self.text, store.array, len(store.values)
        found = self._request(store.site, array, store.index, None, "write", count)
        with self._under(f"for back in range(np.uint64({found.count})):"):
            # The lowest-numbered thread's vector is written last.
            text.add(f"slot = np.uint64({found.count} - 1) - back")
            self._lane_of_slot()
            if array in self.marked:
                first = f"{found.elements}[slot] * {count}"
                text.add(f"if marking and mark_row({first}, {count}, marks_{array}):")
                text.add("    return 2")
            words = [self._fitting(array, value) for value in store.values]
            text.add(*(f"{found.word.format(at)} = {word}" for at, word in enumerate(words)))
        self._give_up()

    def _lane_of_slot(self) -> None:
        """Lines that find the lane of a requested word."""
        self.text.add(f"lane = {'where[slot]' if self.mask else 'np.int64(slot)'}")
        self.text.add("here = at + np.uint64(lane)")

    def _atomic(self, statement: ir.Atomic) -> None:
        """Write a loop over the lanes in order; each lane receives the previous one's result."""
        text, array, target = self.text, statement.array, statement.target
        held = self.typing.arrays[array]
        if statement.op == "cas" and held.kind == "f":
            raise CannotFuse("a float's bits are compared")
        if statement.op not in LEAVES:
            raise CannotFuse(f"the atomic {statement.op}")
        kind = "cas" if statement.op == "cas" else "atomic"
        found = self._request(statement.site, array, statement.index, None, kind)
        old, brought = self.text.temporary(), self.text.temporary()
        with self._under(f"for slot in range(np.uint64({found.count})):"):
            self._lane_of_slot()
            *compare, value = (
                f"{numpy_name(held)}({self._fitting(array, one)})" for one in statement.operands
            )
            text.add(f"{brought} = {value}", f"{old} = {found.word}")
            left = LEAVES[statement.op].format(old=old, value=brought, compare="".join(compare))
            text.add(f"{found.word} = {left}")
            if target is not None:
                self.forwarded.pop(target, None)
                self.in_rows.pop(target, None)
                self.owned.add(target)
                text.add(f"own_{target}[here] = {old}")
        self._give_up()

    def _request(
        self,
        site: int,
        array: str,
        index: tuple[ir.Expr, ...],
        target: str | None,
        kind: str = "read",
        vector: int = 1,
    ) -> Words:
        """Count a warp's request; later lines need the words of variable `target`."""
        self._in_skeleton(site)
        plain = self.mask is None and self.launch.arrays[array].offsets is None
        if vector > 1:
            as_one = isinstance(self._conflict(array, kind, vector), Vectors)
            if not as_one or self.launch.arrays[array].offsets is not None:
                raise CannotFuse("vectors that aren't served as one element, or have a layout")
            found = self._scattered(array, index, target, kind, vector)
        elif plain and (row := self.rows.of(index)):
            found = self._row(row, array, index, kind)
        elif plain and self.shared and self.full and self.rows.same_in_all_blocks(index):
            found = self._listed(array, index, kind)
        else:
            found = self._scattered(array, index, target, kind)
        self.access += 1
        return found

    def _row(self, row: Row, array: str, index: tuple[ir.Expr, ...], kind: str) -> Words:
        """The request of all lanes, for consecutive elements or for one."""
        text, number = self.text, self.text.temporary()
        element, first = f"element_{number}", f"first_{number}"
        text.add("lane = 0")
        self._element(array, index, element, " - lanes + 1" if row == "row" else "")
        self._give_up()
        rule = self._conflict(array, kind)
        self._note(array, *(of_one(rule) if row == "one" else of_row(rule, element)))
        base = self._base(array)
        text.add(f"{first} = np.uint64({element}{f' + {base}' if base else ''})")
        return Words(self._in_row(array, row, first, "slot"), "lanes", element, row, first)

    def _listed(self, array: str, index: tuple[ir.Expr, ...], kind: str) -> Words:
        """The request of all lanes, for elements that are the same in all blocks: listed once."""
        text, width = self.text, self.width
        name = f"of_all_{len(self.lists)}"
        self.lists[name] = "block_size"
        doubtful = text.doubtful
        with text.hoisted(), self._under(f"if new_{name}:"):
            text.add(f"new_{name} = False")
            with text.loop(f"for start in range(0, block_size, {width}):"):
                with self._under("for lane in range(lanes):"):
                    self._element(array, index, f"elements_{name}[np.uint64(start + lane)]")
                self._end()
                part = f"elements_{name}[start : start + {width}]"
                taken, fewest = self._cost(array, part, "lanes", kind)
                text.add(f"stages_{name}[np.uint64(start)] = {taken}")
        text.doubtful = doubtful
        self._note(array, f"stages_{name}[np.uint64(start)]", fewest)
        place = self._based(array, f"places_{name}[np.uint64(start) + slot]")
        return Words(place, "lanes", f"elements_{name}[start : start + {width}]")

    def _scattered(
        self,
        array: str,
        index: tuple[ir.Expr, ...],
        target: str | None,
        kind: str,
        vector: int = 1,
    ) -> Words:
        """The request of the active lanes, each for its own element, or for its own vector."""
        text, memory = self.text, self.launch.arrays[array]
        of, count = "", "lanes"
        if target:
            of = f"_{target}"
            self.lists[target] = str(self.width)
        if not self.mask:
            with self._lanes():
                self._element(array, index, f"elements{of}[np.uint64(lane)]", vector=vector)
        elif self.access == 0:
            count = "count"
            text.add("count = 0")
            with self._lanes(self.mask):
                self._element(array, index, "elements[np.uint64(count)]", vector=vector)
                text.add("where[np.uint64(count)] = lane")
                text.add("count += 1")
            text.add("if count == 0:", "    continue")
        else:  # the lanes are those of the access before
            count = "count"
            with self._under("for slot in range(np.uint64(count)):"):
                text.add("lane = where[slot]", "here = at + np.uint64(lane)")
                self._element(array, index, "elements[slot]", vector=vector)
            text.drop("here")
        self._give_up()
        addresses = f"elements{of}"
        if memory.offsets is not None:
            addresses = "addresses"
            text.add(f"for slot in range(np.uint64({count})):")
            text.add(f"    addresses[slot] = offsets_{array}[places{of}[slot]]")
        self._note(array, *self._cost(array, addresses, count, kind, vector))
        place = f"places{of}[slot]"
        if vector > 1:
            place = f"{place} * np.uint64({vector}) + np.uint64({{}})"
        return Words(self._based(array, place), count, f"elements{of}")

    def _based(self, array: str, place: str) -> str:
        """The text of a word in its copy of an array."""
        if base := self._base(array):
            name = f"base_{self.text.temporary()}"
            self.text.add(f"{name} = np.uint64({base})")
            place = f"{name} + {place}"
        return f"data_{array}[{place}]"

    def _conflict(self, array: str, kind: str, vector: int = 1) -> Conflict:
        """The rule of an array's units, for which there is a compiled counter."""
        conflict = self.launch.conflict(array, kind, vector)
        assert conflict is not None
        return conflict

    def _cost(self, array: str, addresses: str, count: str, kind: str, vector: int = 1) -> Cost:
        lanes = "where" if self.mask else "every"
        return of_lanes(self._conflict(array, kind, vector), addresses, lanes, count)

    def _note(self, array: str, stages: str, least: str) -> None:
        """Write the lines that count a request with these stages and least stages.

        Arrays begin at multiples of the rule's width, so an address within the array is enough.
        """
        own = self.launch.arrays[array].own_units
        text = self.text
        at = f"at_access + {self.access}" if self.access else "at_access"
        text.add(f"stages = {stages}")
        text.add(f"sums[{'1 + dmm' if own else '0'}, {at}] += stages")
        text.add(f"requests[{at}] += 1")
        if self.launch.machine.by_lane:
            text.add(f"sums[-1, {at}] += {least}")
        text.add("if len(operations):")
        text.add(f"    operations[warp, {at}] = 2 * stages{' + 1' if own else ''}")

    def _base(self, array: str) -> str:
        """The text of the place where the copy of a shared array begins; empty for a parameter."""
        if not self.launch.arrays[array].shared:
            return ""
        return f"(block - block0) * size_{array}"
