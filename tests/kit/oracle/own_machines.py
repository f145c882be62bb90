"""A rule of conflicts and a machine of somebody's own, made of what mmsim offers for it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import mmsim as mm
from mmsim.gpu.words import CardBanks
from mmsim.model.byte_banks import ByteBanks, ByteGroups
from mmsim.model.conflicts import Banks, Conflict, Groups
from mmsim.model.machines import Unit

SECTOR = 8


@dataclass(frozen=True)
class Sectors(Conflict):
    """A request takes one stage for each sector of 8 words that it meets."""

    name = "sector"
    place = "sector"
    free = "one sector"

    def cells(self, addresses):
        return addresses // SECTOR

    def stage_of(self, addresses, lanes=None):
        met = sorted({address // SECTOR for address in addresses})
        return [met.index(address // SECTOR) for address in addresses]


RULES = {
    "bank": Banks,
    "group": Groups,
    "sector": Sectors,
    "card bank": CardBanks,
    "card byte bank": ByteBanks,
    "card group": ByteGroups,
}


@dataclass(frozen=True)
class OwnMachine(mm.Machine):
    """A memory for all and shared memories, each unit with a rule, a width and a latency."""

    width: int
    all: tuple[str, int, int]
    own: tuple[tuple[str, int, int], ...]

    @property
    def line(self):
        return 4 * self.width  # no array begins within an address group of a card's bytes

    @cached_property
    def memory(self):
        rule, width, latency = self.all
        return Unit("global", RULES[rule](width), latency, None, "global")

    @cached_property
    def shared(self):
        return tuple(
            Unit(f"shared[{dmm}]", RULES[rule](width), latency, dmm, "shared")
            for dmm, (rule, width, latency) in enumerate(self.own)
        )
