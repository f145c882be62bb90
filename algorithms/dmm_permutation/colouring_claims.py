"""Claims of CFP sections IV and V and SMM section 6 about colouring the graph of banks.

Word i of a permutation P is an edge from bank i mod w of a to bank P(i) mod w of b. This module
counts colours, edges of one colour at a node and degrees from the colouring and the graph
themselves; it uses neither the machine nor the colouring's own checks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

import mmsim as mm
from mmsim.claims import Case, Claim, correct
from mmsim_algorithms.colouring import colour, colour_by_flipping, colour_by_matchings, flips
from mmsim_algorithms.dmm_permutation.cases import at_one_latency, named, permuted
from mmsim_algorithms.dmm_permutation.programs import conflict_free, moved
from mmsim_algorithms.grids import DEFINED, WHOLE_WARPS

SECTION = 6

METHODS: dict[str, Callable[..., npt.NDArray[np.int32]]] = {
    "augmenting paths": colour_by_flipping,
    "perfect matchings": colour_by_matchings,
    "Euler splits": colour,
}
"""The ways to a colouring: the papers' own first, the fastest last."""


# The runs.


def bank_graph(permutation: str, n: int, w: int) -> tuple[npt.NDArray[np.int64], ...]:
    """The bank that each word leaves, and the one that it enters."""
    return np.arange(n) % w, named(permutation, n, w) % w


def coloured(
    schedule: mm.Schedule, method: str, permutation: str, n: int, w: int, l: int
) -> mm.Run:
    """Colour the graph of banks, and permute with the words in the order of their colours.

    The run's arrays are the graph, `left` and `right`, and its `colours`. A wrong colouring changes
    the order, hence the time and the counts; the words still arrive.
    """
    left, right = bank_graph(permutation, n, w)
    colours = METHODS[method](left, right, w)
    a, P = np.arange(n), named(permutation, n, w)
    s = np.argsort(colours, kind="stable")
    run = mm.DMM(w, l).run(
        conflict_free, a, np.zeros_like(a), s, P[s], threads=n, schedule=schedule
    )
    arrays: dict[str, npt.NDArray[Any]] = {"left": left, "right": right, "colours": colours}
    return replace(correct(run, b=moved(a, P)), arrays=arrays)


def searched(schedule: mm.Schedule, permutation: str, n: int, w: int, l: int) -> mm.Run:
    """`coloured` by augmenting paths; the array `looked` counts the edges that each search sees."""
    run = coloured(schedule, "augmenting paths", permutation, n, w, l)
    looked = [step.looked for _, step in flips(run.arrays["left"], run.arrays["right"], w)]
    return replace(run, arrays={"looked": np.array(looked)})


def scheduled(schedule: mm.Schedule, permutation: str, n: int, w: int, l: int) -> mm.Run:
    """A conflict-free run, checked; its arrays s and d are the tables that it read."""
    return permuted("conflict-free", schedule, permutation, n, w, l)


# What is measured.


def different_colours(run: mm.Run) -> int:
    """Count the colours of the colouring."""
    return len(set(run.arrays["colours"].tolist()))


def most_of_one_colour(run: mm.Run) -> int:
    """The most edges of one colour at a node: 1 in a proper colouring."""
    colours = run.arrays["colours"].tolist()
    return max(
        max(Counter(zip(run.arrays[side].tolist(), colours, strict=True)).values())
        for side in ("left", "right")
    )


def largest_degree(run: mm.Run) -> int:
    """The most edges of a node: n/w if the n edges are spread evenly over w nodes a side."""
    return max(max(Counter(run.arrays[side].tolist()).values()) for side in ("left", "right"))


def fewest_banks(run: mm.Run) -> int:
    """The fewest different banks that a warp reads or writes, by s and d."""
    w = run.machine.width
    return min(
        len({address % w for address in warp})
        for table in ("s", "d")
        for warp in run.arrays[table].reshape(-1, w).tolist()
    )


def edges_looked_at(run: mm.Run) -> int:
    """The edges that all searches together look at."""
    return int(run.arrays["looked"].sum())


# The cases.


def graphs() -> Iterator[Case]:
    """Every named permutation with every width from two banks on."""
    for case in at_one_latency():
        if case["w"] > 1:
            yield {name: case[name] for name in ("permutation", "n", "w", "l")}


def by(*methods: str) -> Iterator[Case]:
    """The same, coloured in each of these ways."""
    for method in methods:
        for case in graphs():
            yield {"method": method, **case}


# The claims.


def _claims() -> Iterator[Claim]:
    def claim(id: str, source: str, title: str, formula: Callable[..., Any], **more: Any) -> Claim:
        facts = {"kind": "exact", "run": coloured, "requires": (WHOLE_WARPS, DEFINED), **more}
        return Claim(id=id, source=source, title=title, formula=formula, **facts)

    for id, source, methods in (
        ("CFP-COL", "CFP, sections IV and V", ("augmenting paths",)),
        ("SMM-T6.1", "SMM, Theorem 6.1 (König)", tuple(METHODS)),
    ):
        grid = partial(by, *methods)
        yield claim(
            id,
            source,
            "n/w colours are enough for a bank graph: those that its colouring uses",
            lambda n, w: n / w,
            grid=grid,
            measure=different_colours,
            quantity="colours",
            note="coloured by " + ", by ".join(methods),
        )
        yield claim(
            f"{id}.proper",
            source,
            "no two edges of one colour share a node: the most edges of one colour at a node",
            lambda: 1,
            grid=grid,
            measure=most_of_one_colour,
            quantity="edges",
        )
    yield claim(
        "CFP-COL.looks",
        "CFP, section V",
        "the searches for augmenting paths: edges that they look at, polynomial in n and w",
        lambda n, w: n * (n + w) / 2,
        kind="upper",
        grid=graphs,
        run=searched,
        measure=edges_looked_at,
        quantity="looks",
        note="the paper says polynomial time and no exponent; n searches, each of which looks at "
        "each edge of the graph once at most, while its degree falls from n/w to 1, make n(n+w)/2",
    )
    yield claim(
        "SMM-T6.1.degree",
        "SMM, section 6",
        "a bank graph is regular of degree n/w: the most edges of a node",
        lambda n, w: n / w,
        grid=partial(by, "Euler splits"),
        measure=largest_degree,
        quantity="degree",
        note="n edges at w nodes on either side: if the largest degree is n/w, all are",
    )
    for id, source in (("CFP-L2", "CFP, Lemma 2"), ("SMM-L6.2", "SMM, Lemma 6.2")):
        yield claim(
            id,
            source,
            "a warp's sources are in different banks, and so are its destinations: the fewest of "
            "a warp",
            lambda w: w,
            grid=graphs,
            run=scheduled,
            measure=fewest_banks,
            quantity="banks",
        )


CLAIMS = list(_claims())
