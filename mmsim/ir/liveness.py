"""The registers that a program needs: the most words that a thread holds at a memory access.

SMM counts the registers of a thread in "words of data" (section 1). A value is a *word* if a read
gave it, or if it was computed from one. A variable or an `mm.registers` array is *live* where a
later statement may use its value. The registers needed at an access are the words that are live
just before it. Those of a program are the most at any access.

- Of all words, `data` are those that may be written to memory again: SMM counts these. The others
  are only addresses or decide a branch.
- Values computed from T, the arguments and constants alone are local work, not words.
- A write uses the word that it writes, so a copy needs one register. A read needs none for its word
  before this has come; the word counts from the next access on.
- An atomic access uses its operand as a write does, and brings the old word as a read does. The
  compared word decides something, as a test does.
- The analysis doesn't distinguish the elements of an `mm.registers` array, so a live array counts
  whole, from where it may hold a word.
- Every branch may be taken and every loop may iterate, so no run holds more words than are counted
  here. A loop over a range holds its bounds while it iterates.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from mmsim.ir import nodes as ir
from mmsim.ir.graph import Graph
from mmsim.ir.walk import expressions, names


@dataclass(frozen=True)
class Registers:
    """The most words that a thread holds while it accesses memory.

    `words` are all that came from memory, `data` those of them that may be written to memory again.
    """

    data: int
    words: int


def registers(body: ir.Block, sizes: Mapping[str, int]) -> Registers:
    """The registers that a program needs; `sizes` are the words of its `mm.registers` arrays."""
    facts = _Facts(body)
    held, data, words = facts.held(), facts.live(only_data=True), facts.live(only_data=False)

    def most(live: list[int]) -> int:
        at_accesses = {live[at] & held[at] for at, step in enumerate(facts.steps) if step.access}
        return max((facts.size(one, sizes) for one in at_accesses), default=0)

    return Registers(most(data), most(words))


def _sources(value: ir.Expr) -> Iterable[str]:
    """The variables and register arrays whose values enter the value of an expression.

    Those that only choose among values don't: the index of a register, the test of a choice.
    """
    if isinstance(value, ir.Var):
        yield value.name
    elif isinstance(value, ir.RegisterRead):
        yield value.array
    else:
        for part in expressions(value)[1 if isinstance(value, ir.Choose) else 0 :]:
            yield from _sources(part)


class _Facts:
    """The names that each step of a program concerns.

    A set of names is an integer, a bit for each: many sets are joined, and most are large.
    """

    def __init__(self, body: ir.Block) -> None:
        graph = Graph(body)
        self.steps, self.entry = graph.steps, graph.entry
        self._bits: dict[str, int] = {}
        self.targets = [self.of([one.target] if one.target else []) for one in self.steps]
        self.ends = [self.of(one.ends) for one in self.steps]
        self.sources = [self.of(_sources(one.value) if one.value else ()) for one in self.steps]

    def of(self, found: Iterable[str]) -> int:
        """The set of these names."""
        joined = 0
        for name in found:
            joined |= self._bits.setdefault(name, 1 << len(self._bits))
        return joined

    def size(self, joined: int, sizes: Mapping[str, int]) -> int:
        """The words of variables and of arrays of these sizes; a variable holds one."""
        arrays = [(self._bits[name], words) for name, words in sizes.items() if name in self._bits]
        return joined.bit_count() + sum(words - 1 for bit, words in arrays if joined & bit)

    def held(self) -> list[int]:
        """The names that may hold a word before each step; none where no thread comes."""
        found = [0] * len(self.steps)
        reached = {self.entry}
        changed = True
        while changed:
            changed = False
            for at in reversed(range(len(self.steps))):
                if at not in reached:
                    continue
                step = self.steps[at]
                after = found[at] & ~self.ends[at]
                if step.reads or found[at] & self.sources[at]:
                    after |= self.targets[at]
                for following in step.next:
                    if following not in reached or after & ~found[following]:
                        reached.add(following)
                        found[following] |= after
                        changed = True
        return found

    def live(self, only_data: bool) -> list[int]:
        """The names before each step whose values a later step may use.

        A use is an index, a test, or a write to memory; with `only_data` only the last. An assigned
        value is used if its target is.
        """
        asked, valued = [0] * len(self.steps), self.sources
        if not only_data:
            asked = [self.of(names(step.asks)) for step in self.steps]
            valued = [self.of(names((one.value,) if one.value else ())) for one in self.steps]
        found = [0] * len(self.steps)
        changed = True
        while changed:
            changed = False
            for at, step in enumerate(self.steps):
                after = 0
                for following in step.next:
                    after |= found[following]
                live = asked[at] | (after & ~self.ends[at])
                if step.target is None or after & self.targets[at]:
                    live |= valued[at]
                if live != found[at]:
                    found[at], changed = live, True
        return found
