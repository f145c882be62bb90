"""CUDA's vector types: one to four numbers, x, y, z and w. They have a meaning inside a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mmsim.cuda import in_python, types
from mmsim.cuda.stubs import outside
from mmsim.frontend.numba.names import ALIASES, AXES


@dataclass(frozen=True)
class VectorType:
    """A type of `count` numbers. In a kernel, a call with numbers and vectors makes a value."""

    name: str
    base_type: types.Type
    num_elements: int
    aliases: tuple[str, ...]

    def __post_init__(self) -> None:
        """Kernels know it by its own name."""
        object.__setattr__(self, "_name", self.name)

    @property
    def attr_names(self) -> tuple[str, ...]:
        """The names of its numbers."""
        return AXES[: self.num_elements]

    @property
    def user_facing_object(self) -> VectorType:
        """The type itself; Numba uses this name for the object that a kernel calls."""
        return self

    @property
    def __name__(self) -> str:
        return self.name

    def __call__(self, *args: Any) -> Any:
        if in_python.current() is None:
            outside(self.name)
        return in_python.vector(self.attr_names, self.base_type, args)

    def __repr__(self) -> str:
        return f"<{self.name}>"


def _all() -> dict[str, VectorType]:
    found = {}
    for base, names in ALIASES.items():
        for count in range(1, 5):
            name = f"{base}x{count}"
            aliases = tuple(f"{one}{count}" for one in names)
            found[name] = VectorType(name, getattr(types, base), count, aliases)
    return found


vector_types = _all()
"""The vector types by name.

>>> vector_types["float32x4"].attr_names, vector_types["float32x4"].aliases
(('x', 'y', 'z', 'w'), ('float4',))
"""
