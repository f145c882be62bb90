"""Proves that a program has no mistake and no bank conflict, for all sizes.

A mistake is a data race, an index out of range, a divergent barrier, or an exception that the
program raises. The proof is about the asynchronous schedule, and so about every order of the warps.
Sizes, numbers of threads, the width, number parameters and the words of arrays are unknown, as far
as the given facts leave them open. It assumes that

- the sizes of a launch and its whole numbers are less than 2^31, and no arithmetic on sizes,
  numbers of threads, numbers of iterations and parameters leaves 64 bits;
- arrays have the types and numbers of axes of the launch, and its grid and blocks have extents
  along the same axes.

Integers that come from memory may have any value of their type, and wrap around.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, product
from time import monotonic
from typing import Any, cast

import numpy as np
import z3

from mmsim.errors import LaunchError
from mmsim.ir.dtypes import is_int, limits
from mmsim.meaning.launch import Launch
from mmsim.model.threads import Shape
from mmsim.proof.races_banks import TwoLanes
from mmsim.proof.races_given import Fact, Names, holds
from mmsim.proof.races_laws import Laws
from mmsim.proof.races_values import Sides, Threads, Values
from mmsim.proof.races_walk import Walk
from mmsim.proof.two_threads import Open, Pair, TwoThreads
from mmsim.proof.whole_numbers import Number, Space, Truth, Value, constant
from mmsim.results.proved import Property

MOST_OPEN = 4
"""After so many open questions about a property no more are asked."""
SMALL = (4, 8, 40)
"""Sizes of counterexamples that are tried first, and at most."""
ANEW = 2
"""So often each question is asked for a counterexample of such sizes."""
MOST_WORDS = 1 << 16
"""Words of the arrays of a counterexample."""
SECONDS = 120
"""After so long, what is still open stays undecided."""


@dataclass(frozen=True)
class Example:
    """A launch that a proof can't exclude: width, sizes as of `asked`, arguments by name."""

    width: int
    sizes: tuple[int, int | None, Shape | None]
    arguments: dict[str, Any]


class Questions:
    """The possible mistakes in the program of a launch where facts hold: open questions.

    The launch gives the types, the numbers of axes, and whether there is one block only.
    """

    def __init__(
        self, launch: Launch, given: tuple[str, ...], shape: Shape | None, one: bool
    ) -> None:
        self.launch, self.one_block = launch, one
        self.sides: tuple[Sides, Sides] | None = None
        if shape is not None:
            block, grid = ((True, y > 1, z > 1) for _, y, z in (shape.block, shape.grid))
            self.sides = block, grid
        self.facts = [Fact(text) for text in given]
        self._refuse_false_facts()
        z3.z3._main_ctx = None  # a new one: what Z3 tries first depends on earlier terms
        space = self.space = Space()
        space.deadline = monotonic() + SECONDS
        self.ranks = {name: len(launch.arrays[name].shape) for name in launch.parameters}
        self.types: dict[str, np.dtype[Any]] = {
            one.name: np.dtype(one.type) for one in launch.code.parameters if one.type is not None
        }
        for fact in self.facts:  # each may use what the earlier ones define
            if fact.words is None:
                fact.defines(space, self._names(Threads(space, self.sides, one)))
        self.threads = Threads(space, self.sides, one)
        self.names = self._names(self.threads)
        space.given += [fact.truth(space, self.names) for fact in self.facts if not fact.words]
        lowered = launch.lowered
        values = Values(space, lowered, self.threads, dict(self.extents), self.numbers)
        for local in lowered.code.locals:
            values.extents[local.name] = tuple(values.of(part, {}) for part in local.shape)
        laws = Laws(space)
        self.alone = Pair(space, laws, None)
        self.walk = Walk(values, self._of_word, self._holds)
        self.two = TwoThreads(self.walk, self.threads, laws)

    @cached_property
    def _barriers(self) -> list[Open]:
        return list(self.two.barriers())

    def open(self, about: Property) -> list[Open]:
        """The open questions about a mistake."""
        barriers = self._barriers  # first: it says what barriers order
        match about:
            case "race":
                found = self.two.races()
            case "index":
                found = self.two.indices()
            case "exception":
                found = self.two.exceptions()
            case _:
                return barriers
        return list(islice(found, MOST_OPEN))

    def conflicts(self) -> list[Open]:
        """The open questions about bank conflicts; the facts give the width."""
        lanes = TwoLanes(self.two, self.launch.conflict, self.launch.placed)
        return list(islice(lanes.conflicts(), MOST_OPEN))

    def _refuse_false_facts(self) -> None:
        launch = self.launch
        grid = launch.grid
        sizes = {
            "threads": grid.threads,
            "block_size": grid.block_size,
            "blocks": grid.blocks,
            "width": grid.width,
            **{name: of for name, of in grid.uniform.items() if "." in name},
        }
        contents = launch.results()
        for fact in self.facts:
            if not self._is_true(fact, sizes, launch.meaning.numbers, contents):
                raise LaunchError(
                    f"given={fact.text!r} does not hold of this launch; check one of which it holds"
                    ", or leave it out"
                )

    def _is_true(
        self,
        fact: Fact,
        sizes: Mapping[str, int],
        numbers: Mapping[str, Any],
        contents: Mapping[str, Any],
    ) -> bool:
        whole = {name: value for name, value in numbers.items() if isinstance(value, int)}
        known = {name: constant(int(value)) for name, value in {**sizes, **whole}.items()}
        arrays = {name: tuple(map(constant, its.shape)) for name, its in contents.items()}
        return holds(fact, Names(Space(), known, arrays), contents)

    def _names(self, threads: Threads) -> Names:
        space, lowered = self.space, self.launch.lowered
        known: dict[str, Any] = {
            "threads": threads.count,
            "block_size": threads.block_size,
            "blocks": threads.blocks,
            "width": threads.width,
            **threads.extents,
        }
        self.numbers = {
            name: space.size(f"number {name}", max(limits(type_)[0], 1 - 2**31))
            for name, type_ in lowered.numbers.items()
            if is_int(type_)
        }
        for name in self.launch.program.addresses:  # those of the launch
            self.numbers[name] = constant(cast(int, self.launch.meaning.numbers[name]))
        known |= self.numbers
        given = {
            name: tuple(space.size(f"{name}.shape[{axis}]", 0) for axis in range(rank))
            for name, rank in self.ranks.items()
        }
        self.extents = dict(given)
        for name, type_ in self.types.items():
            self._measure(name, type_.itemsize, self.launch.arrays[name].dtype.itemsize, given)
        return Names(space, known, given)

    def _measure(
        self, name: str, own: int, held: int, given: dict[str, tuple[Number, ...]]
    ) -> None:
        """Distinguish the elements of an argument, of `own` bytes, from those of the program.

        Facts are about the argument's. `given` has their number.
        """
        (size,) = given[name]
        if own % held == 0:
            self.extents[name] = (size * constant(own // held),)
        elif held % own == 0:
            given[name] = (size * constant(held // own),)
        else:
            given[name] = (self.space.size(f"{name}.size of the argument", 0),)

    def _of_argument(self, name: str, array: Any) -> Any:
        """An array of the program with the elements of the argument."""
        type_ = self.types.get(name, array.dtype)
        return array.view(type_) if array.nbytes % type_.itemsize == 0 else array

    def _of_word(self, array: str, word: Value) -> list[Truth]:
        """The facts about a word of an array."""
        return [
            fact.truth(self.space, self.names, word)
            for fact in self.facts
            if fact.words is not None and fact.words[0] == array and not self._is_held(array)
        ]

    def _is_held(self, array: str) -> bool:
        """Return whether the words of an argument are others than those of the program."""
        held = self.launch.arrays[array].dtype
        return bool(self.types.get(array, held) != held)

    def _holds(self, fact: Truth) -> bool:
        if z3.is_true(z3.simplify(fact)):
            return True
        return bool(self.alone.ask([z3.Not(fact)])[0] == "unsat")

    # Counterexamples

    def examples(self, opened: list[Open]) -> Iterator[Example]:
        """Launches that the proof can't exclude, the smallest first, each of other sizes."""
        launched = self.threads.count, self.threads.block_size
        others: list[Truth] = []
        for most, question, _ in product(SMALL, opened, range(ANEW)):
            more = [one.term <= most for one in list(self.space.symbols.values()) if one.size]
            answer, model = question.ask(exact=True, more=[*more, *others])
            if answer == "sat":
                found = (self._example(model, filled) for filled in (False, True))
                yield from (one for one in found if one is not None)
                terms = [self.space.term(one) for one in launched]
                known = [model.eval(one, model_completion=True) for one in terms]
                others.append(z3.Or(*(a != b for a, b in zip(terms, known, strict=True))))

    def _example(self, model: Any, filled: bool) -> Example | None:
        def value(number: Number) -> int:
            total = 0
            for mono, factor in number.terms.items():
                for name in mono:
                    term = self.space.symbols[name].term
                    factor *= model.eval(term, model_completion=True).as_long()
                total += factor
            return total

        threads = self.threads
        sizes = {
            "threads": value(threads.count),
            "block_size": value(threads.block_size),
            "blocks": value(threads.blocks),
            "width": value(threads.width),
            **{name: value(extent) for name, extent in threads.extents.items()},
        }
        numbers = {
            name: value(known) if (known := self.numbers.get(name)) else its
            for name, its in self.launch.meaning.numbers.items()
        }
        extents = {name: tuple(map(value, its)) for name, its in self.extents.items()}
        words = sum(int(np.prod(its)) for its in extents.values())
        if max(words, sizes["threads"]) > MOST_WORDS:
            return None
        contents = {
            name: self._contents(name, self.launch.arrays[name].contents(), its, model, filled)
            for name, its in extents.items()
        }
        given = {name: self._of_argument(name, array) for name, array in contents.items()}
        if not all(self._is_true(one, sizes, numbers, given) for one in self.facts):
            return None
        shape = None
        if self.sides is not None:
            grid, block = (
                tuple(sizes[f"{of}.{axis}"] for axis in "xyz") for of in ("gridDim", "blockDim")
            )
            shape = Shape(grid, block)  # type: ignore[arg-type]
        size = None if self.one_block and shape is None else sizes["block_size"]
        return Example(sizes["width"], (sizes["threads"], size, shape), numbers | contents)

    def _contents(
        self, name: str, own: Any, extents: tuple[int, ...], model: Any, filled: bool
    ) -> Any:
        """The words of an array: those that the model has, else the launch's again and again.

        With `filled` the others are as the model has those that it doesn't name.
        """
        found = np.resize(own, extents) if own.size else np.zeros(extents, own.dtype)
        function = next((f for f in model.decls() if f.name() == f"word of {name}"), None)
        if function is None or own.dtype.kind not in "iu":
            return found
        low, high = limits(own.dtype)
        *entries, rest = model[function].as_list()
        if filled and z3.is_int_value(rest) and low <= rest.as_long() <= high:
            found[...] = rest.as_long()
        for entry in entries:
            *index, word = (one.as_long() for one in entry)
            within = all(0 <= i < n for i, n in zip(index, extents, strict=True))
            if within and low <= word <= high:
                found[tuple(index)] = word
        return found
