"""Layouts as small device functions: the word in which element (i, j) of an array lies.

A row-major array needs none: the text has `a[i][j]`. An array with rotated rows gets its
shifts as a formula (diagonal), packed into a few 64-bit numbers as in RAP Figure 7, or as a table
in constant memory. Any other layout is a table that is passed to the kernel. The first two touch
no memory at all, and constant memory has neither banks nor address groups. A passed table is read
from global memory, and counts there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mmsim.ir.dtypes import Integers

MOST_PACKED = 4
"""The most 64-bit numbers of packed shifts."""
MOST_CONSTANT = 1024
"""The most shifts in a table in constant memory."""

INDICES = ("i", "j", "k", "l")


@dataclass(frozen=True)
class Placement:
    """An array's index function: its text, and its table to be passed, if any."""

    text: str
    table: Integers | None


def placement(name: str, shape: Sequence[int], offsets: Integers, title: str) -> Placement:
    """The function `at_NAME` for word offsets in row-major order; `title` names the layout."""
    indices = INDICES[: len(shape)] if len(shape) <= 4 else [f"i{n}" for n in range(len(shape))]
    parameters = ", ".join(f"long long {index}" for index in indices)
    width = shape[-1]
    shifts = rotations(offsets, width) if len(shape) > 1 else None
    diagonal = shifts is not None and np.array_equal(shifts, np.arange(len(shifts)) % width)
    lines: list[str] = []
    table = None
    if shifts is None or not (diagonal or len(shifts) <= MOST_CONSTANT):
        table = offsets
        parameters = f"const int *offsets_{name}, {parameters}"
        word = f"offsets_{name}[{_row_major(indices, shape)}]"
    else:
        *outer, j = indices
        row = _row_major(outer, shape[:-1])
        first = row if len(outer) == 1 else f"({row})"
        if not diagonal:
            lines = _shifts(name, shifts, width)
        shift = first if diagonal else f"shift_{name}({row})"
        word = f"{first} * {width} + ({j} + {shift}) % {width}"
    lines += [
        f"// Where the elements of {name} lie: {title}.",
        f"__device__ long long at_{name}({parameters})",
        "{",
        f"    return {word};",
        "}",
    ]
    return Placement("\n".join(lines), table)


def rotations(offsets: Integers, width: int) -> Integers | None:
    """The rotation of each row of `width` words; None for a layout that isn't a rotation."""
    if not offsets.size:
        return None
    rows = offsets.reshape(-1, width)
    row = np.arange(len(rows))[:, None]
    shifts = rows[:, :1] - row * width
    if not np.array_equal(rows, row * width + (np.arange(width) + shifts) % width):
        return None
    return shifts.ravel()


def _row_major(indices: Sequence[str], shape: Sequence[int]) -> str:
    """The number of an element from its indices."""
    text = indices[0]
    for index, extent in zip(indices[1:], shape[1:], strict=True):
        text = f"({text}) * {extent} + {index}" if " " in text else f"{text} * {extent} + {index}"
    return text


def _shifts(name: str, shifts: Integers, width: int) -> list[str]:
    """The function `shift_NAME`, which gives the shift of row i."""
    bits = max((width - 1).bit_length(), 1)
    each = 64 // bits
    if len(shifts) > MOST_PACKED * each:
        return _table(name, shifts)
    packed = [
        sum(int(one) << (bits * place) for place, one in enumerate(shifts[start : start + each]))
        for start in range(0, len(shifts), each)
    ]
    lines = [
        f"// r_i, by which row i of {name} is rotated: {each} numbers of {bits} bits to a word.",
        f"__device__ int shift_{name}(int i)",
        "{",
        "    unsigned long long r =",
    ]
    for word, number in enumerate(packed[:-1]):
        lines.append(f"        i < {(word + 1) * each} ? {number:#018x}ULL :")
    lines.append(f"        {packed[-1]:#018x}ULL;")
    place = f"i % {each}" if len(packed) > 1 else "i"
    factor = f"{bits} * ({place})" if " " in place else f"{bits} * {place}"
    lines += [f"    return r >> ({factor}) & {2**bits - 1:#x};", "}", ""]
    return lines


def _table(name: str, shifts: Integers) -> list[str]:
    """The same as a table in constant memory."""
    numbers = [str(shift) for shift in shifts]
    rows = [", ".join(numbers[start : start + 16]) for start in range(0, len(numbers), 16)]
    kind = "unsigned char" if shifts.max() < 256 else "int"
    return [
        f"// r_i, by which row i of {name} is rotated.",
        f"__constant__ {kind} shifts_{name}[{len(shifts)}] = {{",
        *(f"    {row}," for row in rows),
        "};",
        f"__device__ int shift_{name}(int i)",
        "{",
        f"    return shifts_{name}[i];",
        "}",
        "",
    ]
