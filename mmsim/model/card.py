"""The machine that stands for one card, with its measured numbers, read from a file."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from mmsim.errors import FormatError, MachineError, shown
from mmsim.host.cached_files import data_directory
from mmsim.host.guesses import nearest
from mmsim.model import cached
from mmsim.model.machines import LARGEST

FOLDER = Path(__file__).with_name("cards")
"""The cards that come with mmsim."""
ALLOCATION = 512
"""Bytes; an allocation of CUDA begins at a multiple of these."""
SCHEDULERS = 4
"""Schedulers of a multiprocessor. Each has a quarter of the registers, for its own warps."""
OF_A_WARP, OF_A_BLOCK = 256, 128
"""A warp takes a multiple of so many registers, a block one of so many bytes of shared memory."""
MOST_REGISTERS = 255
"""Registers of a thread; further words are in local memory."""
NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,63}")


@dataclass(frozen=True, repr=False, kw_only=True)
class Card(cached.Cached):
    """A `Cached` whose numbers were measured on a card, and what else a prediction needs.

    `mmsim gpu calibrate --save NAME` measures a card. A time unit lasts `unit_fs` femtoseconds.

    Parameters
    ----------
    name
        What `mm.card` calls it.
    device, driver, date
        The card, its driver, and the day of the measurements.
    unit_fs
        Femtoseconds of a time unit.
    launch_time
        Time units of an empty launch.
    block_time
        Time units between the beginnings of two blocks.
    cycle_time
        Time units of a clock cycle.
    resident_blocks, registers, shared_bytes
        Blocks, registers, and bytes of shared memory of all blocks that a multiprocessor holds at a
        time, as `resident` is that of threads. Default: no limit.
    reserved_bytes
        Bytes of shared memory that each block takes in addition.
    operations
        The operations of a multiprocessor, as ("sum int32", 1560): time units for a warp's.
    errors
        How far predictions of kernels that something binds were off, as ("tags", 12, 0.21): what
        binds, the number of kernels, the mean of abs(log(predicted / measured)).
    """

    kind = "card"

    name: str
    device: str
    driver: str
    date: str
    unit_fs: int
    launch_time: int
    block_time: int
    cycle_time: int
    resident_blocks: int | None = None
    registers: int | None = None
    shared_bytes: int | None = None
    reserved_bytes: int = 0
    operations: tuple[tuple[str, int], ...] = ()
    errors: tuple[tuple[str, int, float], ...] = ()

    def __repr__(self) -> str:
        return f"card({self.name!r})"

    @property
    def alignment(self) -> int:
        """The alignment of CUDA's allocations, in bytes."""
        return math.lcm(self.line, ALLOCATION)

    def held(self, threads: int, shared: int, registers: int) -> int | None:
        """The most blocks at a time, by warps, blocks, registers, and shared memory.

        This is the rule of NVIDIA's `cuda_occupancy.h` for compute capabilities 8.0 to 9.0.

        >>> read("h200").held(256, 40_000, 0), read("h200").held(256, 0, 56)
        (5, 4)
        """
        warps = -(-threads // self.width)
        limits = [self.resident_blocks]
        if self.resident is not None:
            limits.append(self.resident // (warps * self.width))
        if self.registers is not None and registers > 0:
            own = _multiple(min(registers, MOST_REGISTERS) * self.width, OF_A_WARP)
            limits.append(self.registers // SCHEDULERS // own * SCHEDULERS // warps)
        if self.shared_bytes is not None:
            own = _multiple(shared, OF_A_BLOCK) + self.reserved_bytes
            limits.append(self.shared_bytes // own if own else None)
        return min((limit for limit in limits if limit is not None), default=None)

    def milliseconds(self, time_units: float) -> float:
        """The milliseconds of time units.

        >>> read("h200").milliseconds(10**9)
        0.1
        """
        return time_units * self.unit_fs / 1e12


LIMITS = ("resident_blocks", "registers", "shared_bytes", "reserved_bytes")
"""The numbers that bound how many blocks a multiprocessor holds at a time, beside `resident`."""
NUMBERS = ("unit_fs", "launch_time", "block_time", "cycle_time", *LIMITS)
C = TypeVar("C", bound=Card)


def to_json(card: Card) -> str:
    """The text of a card's file."""
    own = asdict(card)
    return json.dumps({name: of for name, of in own.items() if of is not None}, indent=1) + "\n"


def folders() -> tuple[Path, ...]:
    """The folders of cards: the user's own first, then those that come with mmsim."""
    own = data_directory()
    return (FOLDER,) if own is None else (own / "cards", FOLDER)


def names() -> list[str]:
    """The names of all cards.

    >>> {"h100", "h200"} <= set(names())
    True
    """
    return sorted({file.stem for folder in folders() for file in folder.glob("*.json")})


def read(name: str, kind: type[C] = Card) -> C:  # type: ignore[assignment]
    """The card of a name, in small or capital letters, as a class of cards; or `MachineError`.

    >>> read("H200").device
    'NVIDIA H200'
    """
    if isinstance(name, str) and NAME.fullmatch(name.lower()):
        for folder in folders():
            file = folder / f"{name.lower()}.json"
            if file.exists():
                found: C = _of_file(file, file.stat().st_mtime_ns, kind)
                return found
    raise MachineError(
        f"no card is called {shown(name)}; {nearest(str(name), names())} "
        "(`mmsim gpu calibrate --save NAME` measures another)"
    )


def own_file(name: str) -> Path:
    """The file of a card of the user's; or `MachineError` for what can't be a card's name."""
    folder = data_directory()
    if not NAME.fullmatch(name.lower()):
        raise MachineError(
            f"{shown(name)} can't be a card's name; write up to 64 letters, digits, or any of _.-, "
            "beginning with a letter or a digit"
        )
    if folder is None:
        raise MachineError("there is no folder for cards; name one by MMSIM_DATA_DIR")
    return folder / "cards" / f"{name.lower()}.json"


@cache
def _of_file(file: Path, _: int, kind: type[C]) -> C:
    """The card of a file, read once as long as the file is the same."""
    try:
        return of_dict(json.loads(file.read_text(encoding="utf-8")), kind)
    except (ValueError, TypeError, AttributeError, MachineError) as error:
        raise FormatError(f"{file} holds no card: {error}") from None


def of_dict(found: Mapping[str, Any], kind: type[C]) -> C:
    """A card from plain data. Raises `ValueError` or `MachineError` for anything else."""
    known = {one.name: one for one in fields(Card)}
    if unknown := found.keys() - known.keys():
        raise ValueError(f"a card has no {', '.join(sorted(unknown))}")
    given = {name: _tuple(value) for name, value in found.items()}
    for name in NUMBERS:
        is_needed = known[name].default is MISSING or given.get(name) is not None
        if is_needed and (type(given.get(name)) is not int or not 0 <= given[name] <= LARGEST):
            raise ValueError(f"its {name} can't be {shown(given.get(name))}")
    return kind(**given)


def _multiple(number: int, of: int) -> int:
    """The least multiple of a number that isn't less than another one."""
    return -(-number // of) * of


def _tuple(value: Any) -> Any:
    return tuple(map(_tuple, value)) if isinstance(value, list) else value
