"""Stages: what one warp's request costs at a memory unit (docs/machines.md, *One warp's access*).

A memory of width w is w banks. Bank b holds the addresses congruent to b modulo w; address group g
holds the w addresses g*w .. g*w + w - 1. Requests of one warp for one address are one request. The
papers (SMM section 2, RAP section II) charge a warp

- on banks, the *congestion*: the largest number of distinct addresses in one bank;
- on address groups, the number of distinct groups.

This is the only file that knows it. `stage_counts` answers for many warps at once and is what the
engines charge; `stage_of` says in which stage each request travels and is what a trace shows.
"""

from __future__ import annotations

from collections import Counter
from typing import Literal

import numpy as np
import numpy.typing as npt

Conflict = Literal["bank", "group"]
Integers = npt.NDArray[np.int64]


def stage_counts(
    addresses: Integers, warps: Integers, count: int, width: int, conflict: Conflict
) -> Integers:
    """Stages of each of `count` warp requests at once.

    `addresses` holds one address for each requesting lane and `warps`, of the same length, the
    number (0 .. count-1) of the warp that the lane belongs to. Returns `count` whole numbers; a
    warp without a request gets 0.

    >>> addresses = np.array([7, 5, 15, 0, 10, 11, 12, 9])  # ICPP Figure 3, w = 4
    >>> warps = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    >>> stage_counts(addresses, warps, 2, 4, "bank"), stage_counts(addresses, warps, 2, 4, "group")
    (array([2, 1]), array([3, 2]))
    """
    if len(addresses) == 0:
        return np.zeros(count, dtype=np.int64)
    cells = addresses // width if conflict == "group" else addresses
    span = int(cells.max()) + 1
    keys = np.sort(warps * span + cells)
    new = np.empty(len(keys), dtype=np.bool_)
    new[0] = True
    np.not_equal(keys[1:], keys[:-1], out=new[1:])
    distinct = keys[new]
    # A key is warp * span + address (or group); a bank's counter is warp * w + address mod w.
    owner = distinct // span
    if conflict == "group":
        return np.bincount(owner, minlength=count)
    load = np.bincount(owner * width + (distinct - owner * span) % width, minlength=count * width)
    result: Integers = load.reshape(count, width).max(axis=1)
    return result


def stages(addresses: list[int], width: int, conflict: Conflict) -> int:
    """Stages of one warp's request, given the addresses of its active lanes (at least one).

    >>> stages([0, 1, 10, 6], 4, "bank"), stages([0, 1, 10, 6], 4, "group")  # SMM Figure 4
    (2, 3)
    >>> stages([5, 5, 5, 5], 4, "bank")  # RAP Figure 2 (3): merged
    1
    """
    if conflict == "group":
        return len({address // width for address in addresses})
    if len({address % width for address in addresses}) == len(addresses):
        return 1  # conflict-free, the common case
    return max(Counter([address % width for address in set(addresses)]).values())


def stage_of(addresses: list[int], width: int, conflict: Conflict) -> list[int]:
    """The stage, counted from 0, in which each lane's request travels.

    Within a bank the stages are filled in ascending address order, on groups in ascending group
    order. The largest stage plus one is `stages` of the same request.

    >>> stage_of([0, 1, 10, 6], 4, "bank"), stage_of([0, 1, 10, 6], 4, "group")
    ([0, 0, 1, 0], [0, 0, 2, 1])
    """
    if conflict == "group":
        order = sorted({address // width for address in addresses})
        return [order.index(address // width) for address in addresses]
    filled: dict[int, int] = {}
    stage: dict[int, int] = {}
    for address in sorted(set(addresses)):
        bank = address % width
        stage[address] = filled.get(bank, 0)
        filled[bank] = stage[address] + 1
    return [stage[address] for address in addresses]
