"""Planted bugs: programs with one mistake each, and for each a twin without it.

A program and its twin stand in one function: lines that end with `# bug` are only the bug's, those
that end with `# twin` only the twin's, and the twin has b in place of a in `a  # twin: b`.

Each file is of one kind of mistake. A bug's docstring says what is wrong;
`tests/monitors/test_planted.py` holds the checker to each finding, and
`tests/kit/tools/planted_bugs.py` prints them all.

Where a finding has times they were worked out by hand from the rules of the machines. On the DMM
and UMM of latency 5, for instance, two warps without conflicts send their requests at 0 and 1, 5
and 6, 10 and 11; a barrier opens when the last request has completed, and then the next warp in
turn goes first.
"""

from importlib import import_module

from tests.kit.planted.pair import Expected, Launched, Pair, pairs_in

NAMES = (
    *("tiles", "updates", "atomic", "counters", "locks", "blocks", "unwritten", "barriers"),
    *("warps", "lanes", "winners", "out_of_range", "waiting", "room", "faults"),
)
FILES = tuple(import_module(f"{__name__}.{name}") for name in NAMES)
PAIRS: tuple[Pair, ...] = tuple(pair for file in FILES for pair in pairs_in(file))

__all__ = ["PAIRS", "Expected", "Launched", "Pair", "pairs_in"]
