"""Writes what touches an array: its address, what it costs, and the move; registers too."""

from __future__ import annotations

import numpy as np

from mmsim.engines.fused.analysis import CannotFuse
from mmsim.engines.fused.pieces import Pieces
from mmsim.language import ir
from mmsim.language.types import is_int

BARRIER_SITE = -1


class Accesses(Pieces):
    """A program that is being written, with what its accesses need."""

    def _element(self, array: str, index: tuple[ir.Expr, ...], to: str) -> None:
        """Lines that find the number of an element, or `bad`, for one lane."""
        shape = self.launch.meaning.shapes[array]
        if len(index) != len(shape) or any(self.typing.of(part).kind == "f" for part in index):
            raise CannotFuse(f"{array} has another shape")
        number = ""
        for axis, part in enumerate(index):
            name, extent = self.text.temporary(), f"extent_{array}_{axis}"
            self.text.add(f"{name} = {self.lanes.wide(part)}")
            self.text.add(f"bad |= ({name} < 0) | ({name} >= {extent})")
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
            with self._lanes():
                at = self._register_address(array, index)
                text = self._fitting(array, value)
                self.text.add(f"register_{array}[{at}, at + lane] = {text}")
            self._give_up()

    def _clear(self, register: str) -> None:
        with self._warps(), self._lanes():
            self.text.add(f"register_{register}[:, at + lane] = 0")

    def _fitting(self, array: str, value: ir.Expr) -> str:
        """The text of a value that is stored, `bad` where the array's type can't hold it."""
        held, stored = self.typing.arrays[array], self.typing.of(value)
        name = self.text.temporary()
        self.text.add(f"{name} = {self.lanes.write(value)}")
        if is_int(held) and stored.kind == "b":
            return f"np.int64({name})"
        if is_int(held) and is_int(stored) and held != stored:
            limits = np.iinfo(held.name)
            self.text.add(f"if ({name} < {int(limits.min)}) | ({name} > {int(limits.max)}):")
            self.text.add("    bad = True")
            self.text.add(f"    {name} = 0")
        return name

    def _in_step(self) -> None:
        """Give up rather than leave the list of accesses, should the skeleton have told a lie."""
        self.text.add("if at_access >= len(requests):")
        self.text.add("    return 1")

    def _at_access(self, site: int) -> None:
        """The skeleton's line for an access; for a barrier also the kernel's."""
        self.plain.add(f"sites.append({site})")
        self.plain.add("steps += 1")
        self.plain.add("if steps > limit:")
        self.plain.add("    raise OverflowError")
        if site == BARRIER_SITE:
            self._in_step()
            self.text.add("if len(operations):")
            self.text.add("    for warp in range(warp0, warp1):")
            self.text.add("        operations[warp, at_access] = 1")
            self.text.add("at_access += 1")

    def _access(
        self,
        site: int,
        array: str,
        index: tuple[ir.Expr, ...],
        target: str | None,
        value: ir.Expr | None,
    ) -> None:
        text, memory = self.text, self.launch.arrays[array]
        slot = "count" if self.mask else "lane"
        at_hand = "" if value is None or self.mask else self._at_hand(array, value)
        self._stop()
        self._in_step()
        with self._warps():
            text.add(f"count = {'0' if self.mask else 'lanes'}")
            with self._lanes():
                self._element(array, index, f"elements[{slot}]")
                if value is not None and not at_hand:
                    text.add(f"sent_{array}[{slot}] = {self._fitting(array, value)}")
                if self.mask:
                    text.add("where[count] = lane")
                    text.add("count += 1")
            self._give_up()
            if self.mask:
                text.add("if count == 0:")
                text.add("    continue")
            addresses = "elements"
            if memory.offsets is not None:
                addresses = "addresses"
                text.add("for slot in range(count):")
                text.add(f"    addresses[slot] = offsets_{array}[places[slot]]")
            self._count(array, addresses)
            self._move(array, target, value is not None, at_hand)
        self._at_access(site)
        text.add("at_access += 1")

    def _count(self, array: str, addresses: str) -> None:
        """Count the stages of a warp's request.

        Arrays begin at multiples of the width, so that an address within the array will do.
        """
        machine, memory, text = self.launch.machine, self.launch.arrays[array], self.text
        own = bool(memory.shared and machine.shared)
        by = machine.units[int(memory.unit_of_copy[0])].conflict
        # The commonest requests are known at a glance: one group, or consecutive addresses.
        text.add("odd = 0")
        if by == "group":
            text.add(f"first_group = {addresses}[0] // {self.width}")
            text.add("for slot in range(count):")
            text.add(f"    odd |= {addresses}[slot] // {self.width} - first_group")
        else:
            text.add("for slot in range(1, count):")
            text.add(f"    odd |= {addresses}[slot] - {addresses}[slot - 1] - 1")
        text.add("stages = 1")
        if by == "bank" and self.width <= 64:
            # So are the conflict-free ones of whole warps: all banks are seen.
            text.add("if odd:")
            text.add("    seen = np.uint64(0)")
            text.add("    for slot in range(count):")
            bank = f"np.uint64({addresses}[slot] % {self.width})"
            text.add(f"        seen |= np.uint64(1) << {bank}")
            all_banks = f"np.uint64({(1 << self.width) - 1})"
            text.add(f"    odd = count != {self.width} or seen != {all_banks}")
        text.add("if odd:")
        text.add(f"    stages = {by}_stages({addresses}, count, {self.width}, tables)")
        text.add(f"sums[{'1 + dmm' if own else '0'}, at_access] += stages")
        text.add("requests[at_access] += 1")
        text.add("if len(operations):")
        text.add(f"    operations[warp, at_access] = 2 * stages{' + 1' if own else ''}")

    def _at_hand(self, array: str, value: ir.Expr) -> str:
        """The text of a stored value that lies in a variable and fits as it is; else empty."""
        while isinstance(value, ir.Var) and value.name in self.analysis.inlined:
            value = self.analysis.inlined[value.name]
        if not isinstance(value, ir.Var) or value.name not in self.lanes.assigned:
            return ""
        if value.name in self.analysis.uniform:
            return ""
        same_type = self.typing.variables[value.name] == self.typing.arrays[array]
        return f"own_{value.name}[at + slot]" if same_type else ""

    def _move(self, array: str, target: str | None, writing: bool, at_hand: str) -> None:
        text = self.text
        row = f"data_{array}[{'block - block0, ' if self.launch.arrays[array].shared else ''}"
        lane = "where[slot]" if self.mask else "slot"
        if not writing:
            if target is not None:
                text.add("for slot in range(count):")
                text.add(f"    own_{target}[at + {lane}] = {row}places[slot]]")
            return
        if array in self.marked:
            text.add(f"if marking and mark(elements, count, marks_{array}):")
            text.add("    return 2")
        # The lowest-numbered thread's value stays: it is written last.
        text.add("for slot in range(count - 1, -1, -1):")
        text.add(f"    {row}places[slot]] = {at_hand or f'sent_{array}[slot]'}")
