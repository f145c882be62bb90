"""Pointers: the arrays that each register of a kernel may point into.

PTX has numbers alone. What is used as an address comes from a parameter, or from the name of a
variable. `Pointers` follows these through moves, sums and choices, whatever way the threads go.

A register that always points into one array holds an *offset*: the bytes from the first one of the
array. Any other register holds a number; an address in it counts from the beginning of its space.
So the index of most accesses needs no address.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from math import gcd

from mmsim.frontend.ptx.arrays import PASSING, address_in, space_of
from mmsim.frontend.ptx.body import SPECIAL
from mmsim.frontend.ptx.module import (
    Address,
    Immediate,
    Instruction,
    Operand,
    Pair,
    Register,
    Symbol,
    Vector,
)

CARRYING = frozenset(
    (
        *("mov", "cvta", "add", "sub", "mad", "selp", "slct", "cvt", "and", "or", "xor", "not"),
        *("min", "max", "shl", "shr", "lop3", "bfi", "bfe", "prmt", "shfl", "shf", "mul"),
        *("addc", "subc", "madc"),
    )
)
"""The instructions whose result may point to where an operand points."""
AFFINE = frozenset(("mov", "cvta", "add", "sub", "mad", "selp", "cvt"))
"""Those of them whose result is an offset if what points has one."""


@dataclass(frozen=True)
class Kind:
    """The content of a register: a number, or (`is_offset`) an offset in the only one of `arrays`.

    A number may be an address in any of `arrays`. With `is_loaded`, it was read in memory and may
    be any address that the kernel stores. With `is_lasting`, this memory was there before the
    launch, and it may be an address in any array at all.
    """

    arrays: frozenset[str] = frozenset()
    is_offset: bool = False
    is_loaded: bool = False
    is_lasting: bool = False

    @property
    def array(self) -> str:
        """The only array."""
        (found,) = self.arrays
        return found


FIRST_ADDRESS = 1 << 12
"""No array begins below it."""
NUMBER = Kind()
READING = ("ld", "ldu", "atom")
"""The instructions whose result was in memory."""


def offset_in(array: str) -> Kind:
    """The kind of what points into an array."""
    return Kind(frozenset((array,)), True)


def joined(first: Kind | None, second: Kind | None) -> Kind | None:
    """The kind of a register that holds either; None for what isn't known yet."""
    if first is None or second is None or first == second:
        return second if first is None else first
    return any_of(first, second)


def any_of(*kinds: Kind) -> Kind:
    """The kind of a number that may be an address wherever those of some kinds may."""
    return Kind(
        frozenset().union(*(kind.arrays for kind in kinds)),
        is_loaded=any(kind.is_loaded for kind in kinds),
        is_lasting=any(kind.is_lasting for kind in kinds),
    )


class Pointers:
    """The kind of every register, and a power of two of which its value is always a multiple.

    `seeds` gives the kinds of the results that this class can't know: those of loads of
    parameters, by the instruction; None for other instructions. `factor` gives a power of two that
    divides the offset of such a result, 0 for 0. `passing` are the arrays in memory that ends with
    the launch.
    """

    def __init__(
        self,
        body: Iterable[Instruction],
        variables: Mapping[str, str],
        seed: Callable[[Instruction], Kind | None],
        factor: Callable[[Instruction], int] = lambda one: 0,
        passing: Collection[str] = (),
    ) -> None:
        self._body = list(body)
        self._variables = variables
        self._passing = frozenset(passing)
        self._seed = seed
        self.offset_factor = factor
        self.kinds: dict[str, Kind] = {}
        self.factors: dict[str, int] = {}
        self._settle(self._kinds)
        self._settle(self._factors)

    def _settle(self, step: Callable[[Instruction], bool]) -> None:
        while any([step(one) for one in self._body]):
            pass

    # Kinds

    def kind(self, operand: Operand) -> Kind | None:
        """The kind of an operand; None if it isn't known yet."""
        if isinstance(operand, Register):
            return NUMBER if operand.name in SPECIAL else self.kinds.get(operand.name)
        if isinstance(operand, Symbol) and operand.name in self._variables:
            return offset_in(self._variables[operand.name])
        if isinstance(operand, Vector | Pair):
            found = (self.kind(one) for one in parts(operand))
            return reduce(joined, found, None)
        return NUMBER

    def _kinds(self, one: Instruction) -> bool:
        """Widen the kinds of the results of an instruction; return whether one is new."""
        results, sources = results_and_sources(one)
        if not results:
            return False
        found = self._seed(one)
        if found is None:
            found = self._carried(one, sources)
        changed = False
        for result in results:
            wider = joined(self.kinds.get(result), found)
            if wider is not None and wider != self.kinds.get(result):
                self.kinds[result] = wider
                changed = True
        return changed

    def _carried(self, one: Instruction, sources: list[Operand]) -> Kind | None:
        """The kind of a result, from those of the operands."""
        name = one.name[0]
        if name in READING and one.name[-1] in ("b64", "u64", "s64"):
            return self._loaded(one)
        if name not in CARRYING:
            return NUMBER
        if name == "and" and any(_is_small(source) for source in sources):
            return NUMBER
        held = [self.kind(source) for source in sources]
        if name == "selp":
            held = held[:2]
            return joined(*held)
        if any(kind is None for kind in held):
            return None
        known = [kind for kind in held if kind is not None]
        pointing = [kind for kind in known if kind.arrays]
        if not pointing:
            return any_of(*known)
        if name == "sub" and len(pointing) == 2:
            first, second = pointing
            if first.is_offset or (first.arrays == second.arrays and len(first.arrays) == 1):
                return NUMBER
        is_sum = name in AFFINE and not any(isinstance(x, Vector) for x in one.operands)
        last = known[-1] if name == "mad" else known[0] if name == "sub" else pointing[0]
        if is_sum and len(pointing) == 1 and pointing[0].is_offset and last is pointing[0]:
            return last
        return any_of(*known)

    def _loaded(self, one: Instruction) -> Kind | None:
        """The kind of what an instruction reads in memory."""
        base = address_in(one).base
        kind = NUMBER if base is None else self.kind(base)
        if kind is None:
            return None
        known = bool(kind.arrays) and not kind.is_loaded
        is_passing = space_of(one) in PASSING or (known and kind.arrays <= self._passing)
        return Kind(is_loaded=True, is_lasting=not is_passing)

    # Factors

    def factor(self, operand: Operand) -> int | None:
        """A power of two that divides the operand, 0 for 0; None if it isn't known yet."""
        if isinstance(operand, Immediate):
            return lowest_bit(operand.value) if isinstance(operand.value, int) else 1
        if isinstance(operand, Symbol):
            return lowest_bit(operand.offset) if operand.name in self._variables else 1
        if isinstance(operand, Register):
            return 1 if operand.name in SPECIAL else self.factors.get(operand.name)
        return 1

    def _factors(self, one: Instruction) -> bool:
        results, sources = results_and_sources(one)
        if not results:
            return False
        found = self._divided(one, sources)
        changed = False
        for result in results:
            before = self.factors.get(result)
            after = found if before is None or found is None else gcd(before, found)
            if after is not None and after != before:
                self.factors[result] = after
                changed = True
        return changed

    def _divided(self, one: Instruction, sources: list[Operand]) -> int | None:
        """A power of two that divides the result of an instruction; None if nothing is known."""
        name, *suffixes = one.name
        seed = self._seed(one)
        if seed is not None and seed.is_offset:
            return self.offset_factor(one)
        numbers = [self.factor(source) for source in sources]
        if name in ("mov", "cvta", "add", "sub", "min", "max") or name == "selp":
            known = [number for number in numbers[:2] if number is not None]
            return reduce(gcd, known) if known else None
        if name == "cvt":
            return numbers[0] if "rzi" not in suffixes and "f32" not in suffixes[1:] else 1
        if any(number is None for number in numbers):
            return None
        known = [number for number in numbers if number is not None]
        match name:
            case "mul" if "hi" not in suffixes:
                return known[0] * known[1]
            case "mad" if "hi" not in suffixes:
                return gcd(known[0] * known[1], known[2])
            case "shl" if isinstance(sources[1], Immediate) and 0 <= sources[1].value < 64:
                return known[0] << int(sources[1].value)
            case "and":
                return 0 if 0 in known else max(known)
            case "or" | "xor":
                return gcd(*known)
        return 1


def _is_small(operand: Operand) -> bool:
    """Return whether an operand is a mask that keeps low bits alone, as for what is misaligned."""
    return isinstance(operand, Immediate) and 0 <= operand.value < FIRST_ADDRESS


def lowest_bit(number: int) -> int:
    """The largest power of two that divides a number; 0 for 0."""
    return number & -number


def parts(operand: Operand) -> tuple[Operand, ...]:
    """The operands in a vector or a pair; an operand of another kind itself."""
    if isinstance(operand, Vector):
        return operand.parts
    if isinstance(operand, Pair):
        return (operand.first, operand.second)
    return (operand,)


WITHOUT_RESULT = frozenset(
    (
        *("st", "red", "bra", "brx", "bar", "barrier", "ret", "exit", "trap", "membar", "fence"),
        *("call", "prefetch", "prefetchu", "cp", "mbarrier", "nanosleep", "pmevent", "discard"),
        *("applypriority", "griddepcontrol", "print"),
    )
)
"""The instructions whose first operand is no result. A call is taken apart before."""


def results_and_sources(one: Instruction) -> tuple[list[str], list[Operand]]:
    """The registers that an instruction sets, and its operands without these, one by one."""
    if not one.operands or (one.name[0] in WITHOUT_RESULT and one.name[:2] != ("bar", "red")):
        return [], [part for operand in one.operands for part in parts(operand)]
    first, *rest = one.operands
    results = [part.name for part in parts(first) if isinstance(part, Register)]
    sources = [part for operand in rest for part in parts(operand)]
    if isinstance(first, Address):
        return [], [first, *sources]
    return [name for name in results if name != "_"], sources
