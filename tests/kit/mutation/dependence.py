"""Which of the model's rules a claim depends on, by its formula and by what its runs meet.

The rules:

- banks, wide banks, groups: how many stages a request takes at a unit of that kind;
- conflicts: what a request of more than two stages takes;
- latency: a request of k stages takes k + l - 1;
- rounds: a round takes the sum of its stages, and the latency once; rounds follow one another;
- warps: w threads are a warp;
- DMMs: the shared memories work in parallel;
- turns: which warp is dispatched when, under the asynchronous schedule;
- barriers: a barrier takes no time of its own;
- counts: requests, stages and classes of accesses are added up.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import sympy

from mmsim.claims import Claim
from mmsim.claims.formulas import GCD
from mmsim.results.run import Run

RULES = (
    "banks",
    "wide banks",
    "groups",
    "conflicts",
    "latency",
    "rounds",
    "warps",
    "DMMs",
    "turns",
    "barriers",
    "counts",
)
QUANTITIES = {
    "T": "time",
    "S": "stages",
    "S_low": "stages",
    "S_high": "stages",
    "D": "stages",
    "congestion": "stages",
    "deficit": "stages",
    "words": "requests",
    "R": "requests",
    "B": "no cost",
    "rounds": "no cost",
    "colours": "no cost",
    "edges": "no cost",
    "degree": "no cost",
    "banks": "no cost",
    "looks": "no cost",
    "Pr": "no cost",
    "outcomes": "no cost",
    "C": "no cost",
    "cells": "classes",
    "matches": "no cost",
    "address": "no cost",
}
"""What the quantity of a claim is; one that is not here has to be added."""
BARRIER = ".barrier()"
"""A part of the text of every program with a barrier."""
CONFLICTS = {"C", "D"}
"""Parameters that count the stages of a casual round."""


@dataclass(frozen=True)
class Met:
    """What runs of a claim meet.

    `units` are the rules of conflicts of the units that they access ("bank", "group"), `most` the
    stages of a request, at most, on average over an access; `dmms` the most DMMs that are accessed,
    `asynchronous` whether the runs of the synchronous schedule are asynchronous all the same,
    `barriers` whether a program has a barrier.
    """

    units: frozenset[str]
    most: float
    dmms: int
    asynchronous: bool
    barriers: bool


def met(runs: Iterable[object]) -> Met:
    """What these runs, asked for under the synchronous schedule, meet.

    What was counted without a machine, as probabilities are, meets nothing.
    """
    units, most, dmms, asynchronous, barriers = set(), 0.0, 1, False, False
    for run in runs:
        if not isinstance(run, Run):
            continue
        asynchronous |= run.schedule == "asynchronous"
        barriers |= any(BARRIER in line for one in run.sources for line in one.lines)
        for row in run.accesses:
            shared = row.space == "shared"
            unit = run.machine.shared[0] if shared else run.machine.memory
            units.add(unit.conflict.name)
            most = max(most, row.stages / row.requests)
            if shared:
                blocks = -(-run.threads // run.block_size)
                dmms = max(dmms, min(len(run.machine.shared), blocks))
    return Met(frozenset(units), most, dmms, asynchronous, barriers)


def depends(claim: Claim, meets: Met) -> set[str]:
    """The rules that a claim's formula depends on, where its runs meet so much.

    A lower bound of a time needs no more of the conflicts than that each request takes a stage, and
    nothing of the time of a barrier: it holds all the more if a barrier takes some.
    Raises `KeyError` for a quantity that QUANTITIES does not know.
    """
    kind = QUANTITIES[claim.quantity]
    if kind == "no cost":
        return set()
    formula = claim.statement.rhs
    names = {symbol.name for symbol in formula.free_symbols}
    number = not names  # of a worked example: every rule has its part in it
    at_least = claim.kind == "lower" and kind == "time"
    rules = set()
    if kind in ("time", "stages", "classes") and not at_least:
        rules |= {f"{unit}s" for unit in meets.units}
        if kind != "classes" and (names & CONFLICTS or _bounds_a_stride(formula) or meets.most > 2):
            rules.add("conflicts")
    if kind == "time":
        rules.add("turns" if meets.asynchronous else "rounds")
        if number or names & {"l", "L"}:
            rules.add("latency")
    else:
        rules.add("counts")
    if kind != "requests" and (number or "w" in names):
        rules.add("warps")
    if kind == "time" and meets.dmms > 1 and names & {"d", "k"}:
        rules.add("DMMs")
    if kind == "time" and meets.barriers and not at_least:
        rules.add("barriers")
    if at_least:
        rules.add("turns")  # it is held to both schedules
    return rules


def _bounds_a_stride(formula: sympy.Expr) -> bool:
    """Whether a gcd, or a minimum with w, counts the stages of a request."""
    w = sympy.Symbol("w", positive=True, integer=True)
    return bool(formula.has(GCD) or any(w in one.free_symbols for one in formula.atoms(sympy.Min)))
