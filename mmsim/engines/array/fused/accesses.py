"""Writes the text of accesses to arrays and registers: the address, the cost, and the move."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

from mmsim.engines.array.fused.analysis import CannotFuse
from mmsim.engines.array.fused.counters import least, of_one, of_row, stages
from mmsim.engines.array.fused.expressions import numpy_name
from mmsim.engines.array.fused.loops import kept
from mmsim.engines.array.fused.pieces import Pieces
from mmsim.engines.array.fused.rows import Row
from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import limits, no_index
from mmsim.ir.nodes import AtomicOp
from mmsim.model.conflicts import Conflict

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


@dataclass(frozen=True)
class Words:
    """The words of a warp's request.

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

    Within a loop over the warps `access` counts the accesses so far. `moving` are the variables
    that are written as they are read, and `words` gives their words.
    """

    access = 0
    moving: frozenset[str] | set[str] = frozenset()

    @abstractmethod
    def _statement(self, statement: ir.Stmt) -> None:
        """Write a statement."""

    def _element(self, array: str, index: tuple[ir.Expr, ...], to: str, last: str = "") -> None:
        """Lines that find the number of an element, or `bad`, for one lane.

        `last` is added to the last axis's extent, for all the elements that follow.
        """
        shape = self.launch.meaning.shapes[array]
        if len(index) != len(shape) or no_index(map(self.typing.of, index)) is not None:
            raise CannotFuse(f"{array} has another shape")
        number = ""
        for axis, part in enumerate(index):
            name, extent = self.text.temporary(), f"extent_{array}_{axis}"
            self.text.add(f"{name} = {self.lanes.write(part)}")
            room = extent + (last if axis == len(index) - 1 else "")
            self.text.add(f"bad |= ({name} < 0) | ({name} >= {room})")
            number = f"({number}) * {extent} + {name}" if number else name
        self.text.add(f"{to} = {number}")

    def _register_address(self, array: str, index: tuple[ir.Expr, ...]) -> str:
        name = self.text.temporary()
        self._element(array, index, name)
        self.text.add("if bad:")
        self.text.add(f"    {name} = 0")
        return name

    def _register_write(self, array: str, index: tuple[ir.Expr, ...], value: ir.Expr) -> None:
        with self._warps():
            with self._lanes(self.mask):
                at = self._register_address(array, index)
                text = self._fitting(array, value)
                self.text.add(f"register_{array}[{at}, here] = {text}")
            self._give_up()

    def _clear(self, register: str) -> None:
        with self._warps(), self._lanes(self.mask):
            self.text.add(f"register_{register}[:, here] = 0")

    def _fitting(self, array: str, value: ir.Expr) -> str:
        """The text of a stored value, `bad` if the array's type can't hold it."""
        held, stored = self.typing.arrays[array], self.typing.of(value)
        name = self.text.temporary()
        self.text.add(f"{name} = {self.lanes.write(value)}")
        if held != stored:
            low, high = limits(held)
            self.text.add(f"if ({name} < {low}) | ({name} > {high}):")
            self.text.add("    bad = True")
            self.text.add(f"    {name} = {numpy_name(stored)}(0)")
        return name

    def _in_step(self, accesses: int) -> None:
        """Give up at the end of the list of accesses, in case the skeleton is wrong."""
        self.text.add(f"if at_access + {accesses} > len(requests):")
        self.text.add("    return 1")

    def _in_skeleton(self, site: int) -> None:
        """The skeleton's lines for an access or a barrier."""
        self.plain.add(f"sites.append({site})")
        if site != BARRIER_SITE:
            self.plain.add("steps += 1")
            self.plain.add("if steps > limit:")
            self.plain.add("    raise OverflowError")

    def _barrier(self) -> None:
        self._in_skeleton(BARRIER_SITE)
        self._in_step(1)
        self.text.add("if len(operations):")
        self.text.add("    for warp in range(warp0, warp1):")
        self.text.add("        operations[warp, at_access] = 1")
        self.text.add("at_access += 1")

    def _fused_loop(self, group: ir.Block) -> None:
        """Write the statements of one loop over the warps."""
        accesses = sum(isinstance(one, ir.MemoryAccess) for one in group)
        self.access = 0
        self.moving = frozenset() if self.mask else self.moves.moved(group)
        if accesses:
            self._stop()
            self._in_step(accesses)
        with self._warps():
            for statement in group:
                self._statement(statement)
        if accesses:
            self.text.add(f"at_access += {accesses}")

    def _load(self, site: int, array: str, index: tuple[ir.Expr, ...], target: str | None) -> None:
        text = self.text
        moving = target if target in self.moving else None
        found = self._request(site, array, index, moving)
        if target is None:
            return
        self.words.pop(target, None)
        self.left.pop(target, None)
        if moving:
            self.words[moving] = found.word
            self.nowhere.add(moving)
        elif found.row and target in self.moves.unwritten:
            text.add(f"row_{target} = {found.first}")
            text.add(f"rows_{target}[np.uint64(warp - warp0)] = row_{target}")
            self.left[target] = array, found.row
            self.rowed.add(target)
            self.nowhere.add(target)
            self.at_hand.add(target)
        else:
            self.owned.add(target)
            text.add(f"for slot in range(np.uint64({found.count})):")
            lane = "np.uint64(where[slot])" if self.mask else "slot"
            text.add(f"    own_{target}[at + {lane}] = {found.word}")

    def _store(self, site: int, array: str, index: tuple[ir.Expr, ...], value: ir.Expr) -> None:
        text = self.text
        found = self._request(site, array, index, None)
        if array in self.marked:
            seen = f"mark({found.elements}, {found.count}, marks_{array})"
            if found.row:
                count = found.count if found.row == "row" else "1"
                seen = f"mark_row({found.elements}, {count}, marks_{array})"
            text.add(f"if marking and {seen}:")
            text.add("    return 2")
        name = None if self.mask else kept(value, self.analysis)
        whole = name in self.lanes.assigned and self._same_type(array, name)
        if whole and found.row == "one":
            text.add("slot = np.uint64(0)")  # the lowest-numbered thread's value stays
            text.add(f"{found.word} = {self._own(str(name), 'slot')}")
            return
        if found.row == "row":
            text.add(f"for slot in range(np.uint64({found.count})):")
            text.depth += 1
        else:  # it is written last
            text.add(f"for back in range(np.uint64({found.count})):")
            text.depth += 1
            text.add(f"slot = np.uint64({found.count} - 1) - back")
        if whole:
            text.add(f"{found.word} = {self._own(str(name), 'slot')}")
            text.depth -= 1
            return
        text.add(f"lane = {'where[slot]' if self.mask else 'np.int64(slot)'}")
        text.add("here = at + np.uint64(lane)")
        text.add(f"{found.word} = {self._fitting(array, value)}")
        text.depth -= 1
        self._give_up()

    def _atomic(self, statement: ir.Atomic) -> None:
        """Write a loop over the lanes in order; each lane receives the previous one's result."""
        text, array, target = self.text, statement.array, statement.target
        held = self.typing.arrays[array]
        if statement.op == "cas" and held.kind == "f":
            raise CannotFuse("a float's bits are compared")
        kind = "cas" if statement.op == "cas" else "atomic"
        found = self._request(statement.site, array, statement.index, None, kind)
        text.add(f"for slot in range(np.uint64({found.count})):")
        text.depth += 1
        text.add(f"lane = {'where[slot]' if self.mask else 'np.int64(slot)'}")
        text.add("here = at + np.uint64(lane)")
        *compare, value = (
            f"{numpy_name(held)}({self._fitting(array, one)})" for one in statement.operands
        )
        old, brought = self.text.temporary(), self.text.temporary()
        text.add(f"{brought} = {value}")
        text.add(f"{old} = {found.word}")
        if statement.op not in LEAVES:
            raise CannotFuse(f"the atomic {statement.op}")
        left = LEAVES[statement.op].format(old=old, value=brought, compare="".join(compare))
        text.add(f"{found.word} = {left}")
        if target is not None:
            self.words.pop(target, None)
            self.left.pop(target, None)
            self.owned.add(target)
            text.add(f"own_{target}[here] = {old}")
        text.depth -= 1
        self._give_up()

    def _same_type(self, array: str, variable: str | None) -> bool:
        """Return whether a variable holds an array's words as they are."""
        return variable is not None and (
            self.typing.variables[variable] == self.typing.arrays[array]
        )

    def _own(self, name: str, lane: str | None = None) -> str:
        if name in self.words:
            return self.words[name]
        if name not in self.left:
            return f"own_{name}[{f'at + {lane}' if lane else 'here'}]"
        if name not in self.at_hand:
            with self.text.at_head():
                self.text.add(f"row_{name} = rows_{name}[np.uint64(warp - warp0)]")
            self.at_hand.add(name)
        return self._in_row(*self.left[name], f"row_{name}", lane or "np.uint64(lane)")

    def _request(
        self,
        site: int,
        array: str,
        index: tuple[ir.Expr, ...],
        target: str | None,
        kind: str = "read",
    ) -> Words:
        """Count a warp's request; later lines need the words of variable `target`."""
        self._in_skeleton(site)
        plain = self.mask is None and self.launch.arrays[array].offsets is None
        if plain and (row := self.rows.of(index)):
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

    @staticmethod
    def _in_row(array: str, row: Row, first: str, lane: str) -> str:
        """The text of a lane's word of a row."""
        return f"data_{array}[{first} + {lane}]" if row == "row" else f"data_{array}[{first}]"

    def _listed(self, array: str, index: tuple[ir.Expr, ...], kind: str) -> Words:
        """The request of all lanes, for elements that are the same in all blocks: listed once."""
        text, width = self.text, self.width
        name = f"of_all_{len(self.lists)}"
        self.lists[name] = "block_size"
        doubtful = text.doubtful
        with text.hoisted():
            text.add(f"if new_{name}:")
            text.depth += 1
            text.add(f"new_{name} = False")
            with text.loop(f"for start in range(0, block_size, {width}):"):
                text.add("for lane in range(lanes):")
                text.depth += 1
                self._element(array, index, f"elements_{name}[np.uint64(start + lane)]")
                text.depth -= 1
                self._end()
                part = f"elements_{name}[start : start + {width}]"
                taken, fewest = self._costs(array, part, "lanes", kind)
                text.add(f"stages_{name}[np.uint64(start)] = {taken}")
            text.depth -= 1
        text.doubtful = doubtful
        self._note(array, f"stages_{name}[np.uint64(start)]", fewest)
        place = self._based(array, f"places_{name}[np.uint64(start) + slot]")
        return Words(place, "lanes", f"elements_{name}[start : start + {width}]")

    def _scattered(
        self, array: str, index: tuple[ir.Expr, ...], target: str | None, kind: str
    ) -> Words:
        """The request of the active lanes, each for its own element."""
        text, memory = self.text, self.launch.arrays[array]
        of, count = "", "lanes"
        if target:
            of = f"_{target}"
            self.lists[target] = str(self.width)
        if not self.mask:
            with self._lanes():
                self._element(array, index, f"elements{of}[np.uint64(lane)]")
        elif self.access == 0:
            count = "count"
            text.add("count = 0")
            with self._lanes(self.mask):
                self._element(array, index, "elements[np.uint64(count)]")
                text.add("where[np.uint64(count)] = lane")
                text.add("count += 1")
            text.add("if count == 0:")
            text.add("    continue")
        else:  # the lanes are those of the access before
            count = "count"
            text.add("for slot in range(np.uint64(count)):")
            text.depth += 1
            text.add("lane = where[slot]")
            text.add("here = at + np.uint64(lane)")
            self._element(array, index, "elements[slot]")
            text.depth -= 1
            text.drop("here")
        self._give_up()
        addresses = f"elements{of}"
        if memory.offsets is not None:
            addresses = "addresses"
            text.add(f"for slot in range(np.uint64({count})):")
            text.add(f"    addresses[slot] = offsets_{array}[places{of}[slot]]")
        self._note(array, *self._costs(array, addresses, count, kind))
        return Words(self._based(array, f"places{of}[slot]"), count, f"elements{of}")

    def _based(self, array: str, place: str) -> str:
        """The text of a word in its copy of an array."""
        if base := self._base(array):
            name = f"base_{self.text.temporary()}"
            self.text.add(f"{name} = np.uint64({base})")
            place = f"{name} + {place}"
        return f"data_{array}[{place}]"

    def _conflict(self, array: str, kind: str) -> Conflict:
        """The rule of an array's units, for which there is a compiled counter."""
        conflict = self.launch.conflict(array, kind)
        assert conflict is not None
        return conflict

    def _costs(self, array: str, addresses: str, count: str, kind: str) -> tuple[str, str]:
        """The texts of the stages of a request, and of its least stages."""
        given = self._conflict(array, kind), addresses, "where" if self.mask else "every", count
        return stages(*given), least(*given)

    def _note(self, array: str, stages: str, least: str) -> None:
        """Write the lines that count a request with these stages and least stages.

        Arrays begin at multiples of the rule's width, so an address within the array is enough.
        """
        own = bool(self.launch.arrays[array].shared and self.launch.machine.shared)
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
