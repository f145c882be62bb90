"""The arrays that the addresses of a kernel may be in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from mmsim.frontend.ptx.arrays import Array, address_in, space_of
from mmsim.frontend.ptx.module import Address, Instruction
from mmsim.frontend.ptx.pointers import NUMBER, Kind, Pointers, any_of, results_and_sources

MEMORY = frozenset(["ld", "ldu", "st", "atom", "red"])


class Reach:
    """The arrays that each access of a kernel may be in.

    `stored` is the kind of what the kernel stores. With `is_raw`, nothing says which arguments are
    pointers. `goes_anywhere` is True if the kernel accesses addresses that come from no argument,
    `follows` if they may be of before the launch. `is_lasting` is True if addresses of arrays may
    be in memory before or after the launch.
    """

    def __init__(
        self,
        instructions: Sequence[Instruction],
        arrays: Mapping[str, Array],
        pointers: Pointers,
        is_raw: bool,
    ) -> None:
        self.instructions = instructions
        self.arrays = arrays
        self.pointers = pointers
        self.is_raw = is_raw
        self.goes_anywhere = False
        self.stored = self._stored()
        self.follows = any(map(self._follows, instructions))
        self.is_lasting = self.follows or self._outlast(self.stored.arrays)

    def _stored(self) -> Kind:
        """The kind of all that the kernel stores or writes as text."""
        values = [
            source
            for one in self.instructions
            if one.name[0] in ("st", "atom", "red", "print")
            for source in results_and_sources(one)[1]
            if not isinstance(source, Address)
        ]
        return any_of(*(self.pointers.kind(value) or NUMBER for value in values))

    def kind(self, one: Instruction) -> Kind:
        """The kind of an access's address; of one from memory, with all that the kernel stores."""
        base = address_in(one).base
        kind = NUMBER if base is None else self.pointers.kind(base) or NUMBER
        return any_of(kind, self.stored) if kind.is_loaded else kind

    def is_anywhere(self, kind: Kind) -> bool:
        """Return whether an address of a kind may be in any array."""
        return kind.is_lasting or not (kind.arrays or kind.is_loaded)

    def _outlast(self, names: Iterable[str]) -> bool:
        """Return whether an array of some names doesn't end with the launch."""
        return not all(self.arrays[name].is_passing for name in names)

    def _follows(self, one: Instruction) -> bool:
        """Return whether an instruction accesses an address that may be of before the launch."""
        return (
            is_access(one)
            and self.is_anywhere(self.kind(one))
            and self._outlast(array.name for array in self.candidates(one))
        )

    def candidates(self, one: Instruction) -> list[Array]:
        """The arrays that an access may be in."""
        space, kind = space_of(one), self.kind(one)
        self.goes_anywhere |= kind.is_loaded and space in ("generic", "global")
        is_anywhere = self.is_anywhere(kind) or (kind.is_loaded and self.is_raw)
        names = self.arrays.keys() if is_anywhere else kind.arrays
        found = [self.arrays[name] for name in names]
        fits = ("global",) if space == "const" else (space,)
        if space != "generic":
            found = [one for one in found if one.space in fits or one.space == space]
        reached = self.stored.arrays | kind.arrays if one.name[0] not in ("atom", "red") else ()
        found = [array for array in found if array.space != "local" or array.name in reached]
        return sorted(found, key=lambda array: array.base)


def is_access(one: Instruction) -> bool:
    """Return whether an instruction accesses memory."""
    return one.name[0] in MEMORY and space_of(one) != "param"
