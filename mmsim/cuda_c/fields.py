"""The ranges of the fields of T in one launch."""

from __future__ import annotations

from mmsim.ir import nodes as ir
from mmsim.meaning.launch import Launch
from mmsim.model.threads import Extents


def ranges_of_fields(launch: Launch) -> dict[str, tuple[int, int]]:
    """The ranges of the fields of T."""
    grid = launch.grid
    return {
        "id": (0, grid.threads - 1),
        "index": (0, grid.block_size - 1),
        "block": (0, grid.blocks - 1),
        "lane": (0, min(grid.width, grid.block_size) - 1),
        "warp": (0, grid.warps - 1),
        **_along("threadIdx", grid.extents.block),
        **_along("blockIdx", grid.extents.grid),
        **{field: (value, value) for field, value in grid.uniform.items()},
    }


def _along(name: str, extents: Extents) -> dict[str, tuple[int, int]]:
    """The ranges of an index along each axis."""
    return {
        f"{name}.{axis}": (0, extent - 1) for axis, extent in zip(ir.AXES, extents, strict=True)
    }
