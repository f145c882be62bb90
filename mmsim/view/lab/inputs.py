"""The inputs of a run, described so that they have a meaning for other sizes.

An array of 0, 1, 2, ... is "range", whatever its shape. Without such a rule an array has its
values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields
from itertools import product
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim.errors import LaunchError
from mmsim.model.layout import (
    RAP,
    RAS,
    Diagonal,
    Layout,
    Padded,
    Placed,
    Swizzle,
    XorRows,
    offsets_of,
)

Array = npt.NDArray[Any]
Sizes = dict[str, int]

MOST = 2**16
"""The most elements of an array that is described by its values."""
SEEDS = range(10)
"""The seeds that are tried for an array of random numbers."""
KNOWN: tuple[type, ...] = (Padded, Swizzle, XorRows, Diagonal, RAP, RAS)
"""The layouts that the page can change."""


def describe(name: str, value: Any, sizes: Sizes) -> dict[str, Any]:
    """Describe an argument: an array or a number. `sizes` has the values of named sizes.

    >>> describe("a", np.arange(16).reshape(4, 4), {"n": 4})
    {'name': 'a', 'kind': 'range', 'shape': 'n, n', 'dtype': 'int64'}
    >>> describe("k", 3, {"n": 4})
    {'name': 'k', 'value': '3'}
    """
    layout = value.layout if isinstance(value, Placed) else None
    array = np.asarray(value.data if isinstance(value, Placed) else value)
    if array.ndim == 0 and layout is None:
        return _number(name, value, sizes)
    found = {
        "name": name,
        **_filled(name, array),
        "shape": ", ".join(size_text(extent, sizes) for extent in array.shape),
        "dtype": array.dtype.name,
    }
    order = ("name", "kind", "shape", "dtype", *found)
    found = {key: found[key] for key in dict.fromkeys(order)}
    if layout is not None and (placed := _layout(layout, array.shape, sizes)) is not None:
        found["layout"] = placed
    return found


def size_text(value: int, sizes: Sizes) -> str:
    """A size as text: the name that has it as its value, if one has, or a product of two.

    >>> size_text(64, {"n": 8}), size_text(16, {"n": 8}), size_text(10, {"n": 8})
    ('n * n', '2 * n', '10')
    """
    for name, known in sizes.items():
        if value == known:
            return name
    for (name, known), (other, second) in product(sizes.items(), repeat=2):
        if value == known * second and known > 1 and second > 1:
            return f"{name} * {other}"
    for name, known in sizes.items():
        if known > 2 and value in (2 * known, 4 * known):
            return f"{value // known} * {name}"
    return str(value)


def _number(name: str, value: Any, sizes: Sizes) -> dict[str, Any]:
    plain = value.item() if isinstance(value, np.generic | np.ndarray) else value
    text = str(plain)
    if type(plain) is int and plain > 2 and plain in sizes.values():
        text = size_text(plain, sizes)
    dtype = value.dtype.name if isinstance(value, np.generic | np.ndarray) else None
    return {"name": name, "value": text, **({"dtype": dtype} if dtype else {})}


def _filled(name: str, array: Array) -> dict[str, Any]:
    """The rule that fills an array, or its values."""
    for kind, make in PLAIN.items():
        if _same(array, make(array.size)):
            return {"kind": kind}
    for seed in SEEDS if array.size > 1 else ():
        draws = np.random.RandomState(seed)
        if _same(array, draws.permutation(array.size)):
            return {"kind": "permutation", "seed": str(seed)}
        draws = np.random.RandomState(seed)
        if array.dtype.kind == "f" and _same(array, draws.random_sample(array.size)):
            return {"kind": "random", "low": "0", "high": "1", "seed": str(seed)}
    if array.size > MOST:
        raise LaunchError(
            f"{name} has {array.size} values that no rule describes, and a laboratory's page holds "
            f"at most {MOST}; give np.arange, zeros, ones or a permutation by RandomState(seed)"
        )
    return {"kind": "values", "values": " ".join(map(str, array.ravel().tolist()))}


PLAIN: dict[str, Callable[[int], Array]] = {
    "zeros": np.zeros,
    "ones": np.ones,
    "range": np.arange,
    "reversed": lambda size: np.arange(size)[::-1],
}


def _same(array: Array, other: Array) -> bool:
    with np.errstate(all="ignore"):
        return bool((array.ravel() == other.astype(array.dtype)).all())


def _layout(layout: Layout, shape: tuple[int, ...], sizes: Sizes) -> dict[str, Any] | None:
    """A layout as data: its parameters, or the offsets of one that the page doesn't know."""
    offsets = offsets_of(layout, shape).ravel()
    if (offsets == np.arange(prod(shape))).all():
        return None
    drawn = getattr(layout, "shifts", None) is None and getattr(layout, "layout", None) is None
    if type(layout) not in KNOWN or not drawn:
        return {"kind": "given", "offsets": offsets.tolist()}
    own = {field.name: getattr(layout, field.name) for field in fields(layout)}  # type: ignore[arg-type]
    texts = {name: str(value) for name, value in own.items() if isinstance(value, int)}
    if "width" in texts and own["width"] == sizes.get("w"):
        texts["width"] = "w"
    return {"kind": type(layout).__name__, **texts}


def named_sizes(values: Iterable[Any]) -> Sizes:
    """Names for the extents of the arrays: n for the first, m for another.

    >>> named_sizes([np.zeros((4, 4)), np.zeros((4, 6)), 5])
    {'n': 4, 'm': 6}
    """
    names = iter("nmk")
    found: Sizes = {}
    for value in values:
        for extent in np.shape(value.data if isinstance(value, Placed) else value):
            if extent > 2 and size_text(extent, found) == str(extent):
                if (name := next(names, None)) is None:
                    return found
                found[name] = extent
    return found
