"""Traces of the first format, which repeat what follows from their facts."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from mmsim.results.encoding import array_of, encode
from mmsim.results.trace import Trace
from mmsim.results.valid_trace import check_facts

Object = dict[str, Any]
FOLLOWS = ("units", "arrays", "dispatches", "waits")
"""The fields of a trace that follow from others."""
EVENTS = ("arrivals", "releases", "changes")


def trace_of(record: Object, read: Callable[[Object], Trace]) -> Trace:
    """Read a trace by its facts. Raises a `ValueError` if another one follows from them."""
    trace = read(facts_of(record, ()))
    check_facts(trace)
    swaps = [  # only its stages show an atomic compare and swap
        number
        for number, one in enumerate(trace.dispatches)
        if one.kind == "atomic" and encode(one.stages) != record["dispatches"][number]["stages"]
    ]
    if swaps:
        trace = read(facts_of(record, swaps))
    for part in FOLLOWS:
        if len(record[part]) != len(getattr(trace, part)):
            raise ValueError(f"it has {len(record[part])} {part}, not {len(getattr(trace, part))}")
        for number, (kept, one) in enumerate(zip(record[part], getattr(trace, part), strict=True)):
            follows = encode(one)
            for name, value in kept.items():
                if name != "$class" and json.dumps(value) != json.dumps(follows.get(name)):
                    raise ValueError(
                        f"{name} of number {number} of its {part} isn't what follows: "
                        f"{json.dumps(follows.get(name)):.80}"
                    )
    return trace


def facts_of(record: Object, swaps: Collection[int]) -> Object:
    """The facts of a trace, of whose dispatches some are compare and swaps."""
    given, shared = [], []
    for array in record["arrays"]:
        name, shape, data = array["name"], array["shape"], array["data"]
        if array["shared"]:
            shared.append({"name": name, "shape": shape, "dtype": data["$array"]})
            continue
        addresses = array_of(array["addresses"])
        offsets = (addresses - addresses.min(initial=2**62)).reshape(shape)
        kept = None if (np.diff(addresses) == 1).all() else encode(offsets)
        given.append({"name": name, "data": {**data, "shape": shape}, "offsets": kept})
    sites: dict[str, int] = {}
    asked = []
    for number, one in enumerate(record["dispatches"]):
        vector = one["threads"].count(one["threads"][0])
        site = {name: one[name] for name in ("function", "line", "array", "kind")}
        text = json.dumps({**site, "vector": vector, "swap": number in swaps})
        threads, elements = one["threads"][::vector], one["elements"][::vector]
        values = [] if one["kind"] == "read" else one["values"]
        of_text = sites.setdefault(text, len(sites))
        asked.append([one["time"], one["warp"], of_text, threads, elements, values])
    lived: dict[int, int] = {}
    for wait in record["waits"]:
        if wait["reason"] == "round":
            lived[wait["warp"]] = bisect_right(record["rounds"], wait["start"])
    return {
        "variables": [],  # the earliest files have none
        **{name: of for name, of in record.items() if name not in FOLLOWS},
        **{name: [list(one.values())[1:] for one in record.get(name, ())] for name in EVENTS},
        "parameters": given,
        "shared": shared,
        "sites": list(map(json.loads, sites)),
        "asked": asked,
        "lived": [lived.get(warp, 0) for warp in range(max(lived, default=-1) + 1)],
    }
