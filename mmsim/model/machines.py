"""A machine: memory units, each with a rule of conflicts and a latency.

An engine needs no more of a machine than this. Each kind of machine has a file of its own: `dmm`,
`umm`, `hmm` and `cached`.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal, overload

import numpy as np
import numpy.typing as npt

from mmsim.errors import MachineError, shown
from mmsim.host.arguments import is_whole
from mmsim.model.byte_banks import SIZES, ByteBanks, ByteGroups
from mmsim.model.cache import Numbers
from mmsim.model.conflicts import Banks, Conflict, Groups

LARGEST = 2**31 - 1
"""The largest width, latency or number of DMMs: times and addresses must fit into 64 bits."""

LONGEST = max(SIZES)
"""The bytes of the longest element."""

NAME = re.compile(r"[A-Za-z]+")
"""The name of a number that isn't known, as in mm.DMM("w", "l")."""

Schedule = Literal["synchronous", "asynchronous"]
Engine = Literal["array", "events"]


@dataclass(frozen=True)
class Unit:
    """One memory unit: its name, its rule of conflicts, its latency, the DMM that it serves.

    `dmm` is None for the unit that every warp reaches; `space` is the name of its memory in rows.
    A stage takes `stage_time` time units.
    """

    name: str
    conflict: Conflict
    latency: int
    dmm: int | None = None
    space: str = "memory"
    stage_time: int = 1


@dataclass(frozen=True, eq=False)
class Units(Sequence[Unit]):
    """The units `before`, then the shared memories of `dmms` DMMs, created on access.

    A machine may have more DMMs than a list could hold. All shared memories are the same.

    >>> from mmsim.model.conflicts import Banks
    >>> units = Units((), dmms=2**31 - 1, latency=1, conflict=Banks(32))
    >>> len(units), units[-1].name, units[:2] == units[0:2]
    (2147483647, 'shared[2147483646]', True)
    """

    before: tuple[Unit, ...]
    dmms: int
    latency: int
    conflict: Conflict
    stage_time: int = 1

    def __len__(self) -> int:
        return len(self.before) + self.dmms

    @overload
    def __getitem__(self, index: int) -> Unit: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Unit, ...]: ...

    def __getitem__(self, index: int | slice) -> Unit | tuple[Unit, ...]:
        numbers = range(len(self))[index]
        return (
            tuple(map(self._unit, numbers)) if isinstance(numbers, range) else self._unit(numbers)
        )

    def _unit(self, number: int) -> Unit:
        dmm = number - len(self.before)
        if dmm < 0:
            return self.before[number]
        rule = self.conflict, self.latency
        return Unit(f"shared[{dmm}]", *rule, dmm, "shared", self.stage_time)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Units):
            return vars(self) == vars(other)
        return isinstance(other, tuple) and len(other) == len(self) and other == self[:]

    def __hash__(self) -> int:
        return hash((self.before, self.dmms, self.latency, self.conflict))


class Machine(ABC):
    """The machine as an engine sees it: a width and memory units."""

    kind: ClassVar[str] = ""
    """The name of its kind on the command line; "" for a machine of the user's own."""
    first_latency: ClassVar[str] = "latency"
    """The field of the latency of the memory with the array parameters."""

    width: int
    bank_bytes: int | None = None
    """The bytes of a bank; None if a word holds an element of any size."""
    cache: Numbers | None = None
    """The rule of a memory with sectors and a cache; None without."""
    half_of: tuple[int, ...] | None = None
    """The half of the cache of each cluster; None for the half of its number."""
    merges: int = 0
    """1 if an atomic at one place for all lanes of a warp, by the text, is one request, else 0."""
    unrolls: int = 0
    """1 if a warp waits for its reads as in a compiler's code (`mmsim.ir.compiled`), else 0."""
    under_way: int = 1
    """The most requests of a warp under way, under the asynchronous schedule."""
    resident: int | None = None
    """The most threads on a DMM at a time, under that schedule; None without a limit."""

    @property
    @abstractmethod
    def memory(self) -> Unit:
        """The unit in front of the memory that holds the array parameters."""

    @cached_property
    def shared(self) -> Sequence[Unit]:
        """The units of the DMMs' shared memories, one for each DMM.

        Empty if shared arrays lie in the machine's one memory.
        """
        return ()

    @cached_property
    def units(self) -> Sequence[Unit]:
        """All memory units."""
        return (self.memory, *self.shared)

    @property
    def line(self) -> int:
        """The alignment of arrays in words, or in bytes if banks have bytes."""
        if self.bank_bytes is None:
            return self.width
        return math.lcm(self.width * self.bank_bytes, LONGEST)

    @property
    def alignment(self) -> int:
        """The alignment of the arguments, in the unit of `line`."""
        return self.line

    def room(self, size: int) -> int:
        """The place of an element of `size` bytes: one word, or its bytes if banks have bytes."""
        return 1 if self.bank_bytes is None else size

    def latencies(self, count: int) -> npt.NDArray[np.int64]:
        """The latencies of the first `count` units."""
        return self._of_units("latency", count)

    def times_of_stages(self, count: int) -> npt.NDArray[np.int64]:
        """The time units of a stage of the first `count` units."""
        return self._of_units("stage_time", count)

    def _of_units(self, number: str, count: int) -> npt.NDArray[np.int64]:
        units = self.units
        if isinstance(units, Units):  # the shared memories are the same
            found = np.full(count, getattr(units, number))
            found[: len(units.before)] = [getattr(unit, number) for unit in units.before[:count]]
            return found
        return np.array([getattr(unit, number) for unit in units[:count]], dtype=np.int64)

    def clusters_of(self, dmms: int) -> tuple[int, ...]:
        """The DMMs of each cluster among the first `dmms`; clusters take turns at the memory.

        Empty if there are no clusters: then the DMMs take turns.
        """
        return ()

    @property
    def pipelined(self) -> bool:
        """Return whether each unit takes one stage in each time unit, and nothing else, for traces.

        Each warp also has one request under way, and each block is on the DMM of its number.
        """
        plain = self.cache is None or self.cache.plain
        return self.under_way == 1 and self.resident is None and plain and not self.slow_stages

    def held(self, threads: int, shared: int, registers: int) -> int | None:
        """The most blocks on a DMM at a time, under that schedule; None without a limit.

        A block takes `shared` bytes of shared memory, each of its threads at least `registers`.
        """
        return None if self.resident is None else self.resident // threads

    @cached_property
    def slow_stages(self) -> bool:
        """Return whether a stage of some unit takes more than a time unit."""
        return any(unit.stage_time > 1 for unit in (self.memory, *self._different))

    @cached_property
    def shared_conflict(self) -> Conflict | None:
        """The rule of conflicts of all shared memories, None if they have different ones."""
        rules = {unit.conflict for unit in self._different}
        return next(iter(rules)) if len(rules) == 1 else None

    @cached_property
    def by_lane(self) -> bool:
        """Return whether the rule of a unit depends on the lanes that ask."""
        return any(unit.conflict.by_lane for unit in (self.memory, *self._different))

    @property
    def _different(self) -> Sequence[Unit]:
        """The units of the shared memories, one of them if all are the same."""
        return self.shared[:1] if isinstance(self.shared, Units) else self.shared


def banks(machine: Machine) -> Conflict:
    """The rule of a machine's banks."""
    if machine.bank_bytes is None:
        return Banks(machine.width)
    return ByteBanks(machine.width, machine.bank_bytes)


def groups(machine: Machine) -> Conflict:
    """The rule of a machine's address groups."""
    if machine.bank_bytes is None:
        return Groups(machine.width)
    return ByteGroups(machine.width, machine.bank_bytes)


def in_short(machine: Any) -> str:
    """A machine as text, without optional numbers that were not given."""
    known = [(part.name, getattr(machine, part.name)) for part in fields(machine)]
    left = {part.name: part.default for part in fields(machine) if part.kw_only}
    text = ", ".join(
        f"{name}={value!r}"
        for name, value in known
        if value is not None and (name not in left or left[name] != value)
    )
    return f"{type(machine).__name__}({text})"


def check_bank_bytes(machine: Machine) -> None:
    """Refuse banks of other than 1, 2, 4, 8 or 16 bytes."""
    value = machine.bank_bytes
    if value is not None and (type(value) is not int or value not in SIZES):
        raise MachineError(
            f"bank_bytes={shown(value)}, but a bank has 1, 2, 4, 8 or 16 bytes, as 4 on a GPU; "
            "without bank_bytes a word holds an element"
        )


def check_numbers(machine: Machine, *names: str, least: int = 1, most: int = LARGEST) -> None:
    """Refuse numbers that aren't whole, from `least` on; NumPy's become Python's.

    Names, and symbols of SymPy, are for costs and proofs; `refuse_symbols` keeps them from runs.
    """
    for name in names:
        value = getattr(machine, name)
        if isinstance(value, str) and NAME.fullmatch(value):
            import sympy

            value = sympy.Symbol(value, positive=True, integer=True)
            object.__setattr__(machine, name, value)
        if hasattr(value, "free_symbols"):
            continue
        if not is_whole(value):
            raise MachineError(
                f"{name} of a {type(machine).__name__} must be a whole number, not {shown(value)}"
            )
        value = int(value)
        object.__setattr__(machine, name, value)
        if not least <= value <= most:
            bound = f"at least {least}" if value < least else f"at most {most}"
            raise MachineError(
                f"{name}={shown(value)}, but the {name} of a {type(machine).__name__} "
                f"must be {bound}"
            )


def refuse_symbols(machine: Machine) -> None:
    """Refuse a machine with a name in the place of a number."""
    names: list[str] = [part.name for part in fields(machine)] if is_dataclass(machine) else []
    for name in names:
        value = getattr(machine, name)
        if hasattr(value, "free_symbols"):
            raise MachineError(
                f"{name}={value} of the {type(machine).__name__} is a name; a run needs a "
                "number, and mm.cost finds a formula for all"
            )


def whole_numbers(machine: Machine, name: str) -> tuple[int, ...]:
    """The whole numbers of a field, as Python's; refuses others, and those out of range."""
    values = getattr(machine, name)
    for value in values:
        if not is_whole(value):
            raise MachineError(
                f"{name} of a {type(machine).__name__} must be whole numbers, not {shown(value)}"
            )
        if not 0 <= value <= LARGEST:
            raise MachineError(f"{name} has {shown(value)}, but at most {LARGEST} and at least 0")
    return tuple(map(int, values))
