"""The launches of the transposes on the UMM, with symbols for their sizes."""

from __future__ import annotations

from typing import Any

import mmsim as mm
from mmsim.claims import root
from mmsim.claims.launch import SymbolicLaunch
from mmsim_algorithms.grids import exact
from mmsim_algorithms.transpose.umm import apart, local, mirror, rotating
from mmsim_algorithms.transpose.umm_groups import mirror_groups


def tiles(
    program: mm.Program,
    n: Any,
    p: Any,
    w: Any,
    l: Any,
    r: Any = None,
    matrix: tuple[Any, Any] | None = None,
) -> SymbolicLaunch:
    """The launch of `umm.transpose`: n words as matrices of this shape, a square by default."""
    side = w if r is None else root(r * w)
    rows, columns = matrix or (root(n), root(n))
    source, target = (exact(n) / columns, columns), (exact(n) / rows, rows)
    arguments: dict[str, Any] = {"a": source, "b": target}
    if program is apart:
        arguments["c"] = target
    arguments |= {"side": side, "group": exact(w) / side}
    return SymbolicLaunch(program, arguments, threads=p, machine=mm.UMM(w, l))


def by_w(program: mm.Program, n: Any, p: Any, w: Any, l: Any) -> list[SymbolicLaunch]:
    """With w registers."""
    return [tiles(program, n, p, w, l)]


def by_r(program: mm.Program, n: Any, p: Any, w: Any, l: Any, r: Any) -> list[SymbolicLaunch]:
    """With r registers."""
    return [tiles(program, n, p, w, l, r)]


def then_copied(n: Any, p: Any, w: Any, l: Any) -> list[SymbolicLaunch]:
    """The local transpose, then all tiles copied, with w registers."""
    shape = root(n), root(n)
    whole = SymbolicLaunch(
        mirror, {"a": shape, "b": shape, "side": w}, threads=p, machine=mm.UMM(w, l)
    )
    return [tiles(local, n, p, w, l), whole]


def rotated(n: Any, p: Any, w: Any, l: Any) -> list[SymbolicLaunch]:
    """One w x w matrix."""
    return [SymbolicLaunch(rotating, {"a": (w, w), "b": (w, w)}, threads=p, machine=mm.UMM(w, l))]


def by_groups(span: str, n: Any, p: Any, w: Any, l: Any, r: Any) -> list[SymbolicLaunch]:
    """The global transpose with r registers: sqrt(w/r) rows of tiles at a time, or fewer."""
    side, shape = root(r * w), (root(n), root(n))
    group = exact(w) / side
    rows = group if span == "whole" else root(r * group)
    sizes = {"a": shape, "b": shape, "side": side, "group": group, "span": rows}
    return [SymbolicLaunch(mirror_groups, sizes, threads=p, machine=mm.UMM(w, l))]


def then_by_groups(n: Any, p: Any, w: Any, l: Any, r: Any) -> list[SymbolicLaunch]:
    """The local transpose, then the global one by whole groups."""
    return [tiles(local, n, p, w, l, r), *by_groups("whole", n, p, w, l, r)]
