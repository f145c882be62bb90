"""Random programs in which no two threads race, as a GPU needs them.

The models let the lanes of a warp go in lock step, so that only warps can race; a GPU promises
nothing of the kind. These programs give the same arrays in whatever order their threads run from
barrier to barrier.
"""

from bisect import bisect_right
from collections import defaultdict

from mmsim.errors import LaunchError
from mmsim.gpu import kernel
from tests.kit.generators.race_free_programs import CANDIDATES
from tests.kit.generators.random_programs import drawn, in_turn, races, run_case

TURNS = 20
"""How often a draw that found too few programs is repeated."""


def lanes_meet(trace):
    """Return whether lanes of a warp exchange words, or write one, without a barrier between."""
    passed = defaultdict(list)
    for release in trace.releases:
        for warp in release.warps:
            passed[warp].append(release.time)
    met = defaultdict(lambda: (set(), set(), set()))
    for d in trace.dispatches:
        interval = bisect_right(passed[d.warp], d.time)
        for thread, element, value in zip(d.threads, d.elements, d.values, strict=True):
            threads, kinds, values = met[d.array, d.copy, element, d.warp, interval]
            threads.add(thread)
            kinds.add(d.kind)
            values.add(repr(value) if d.kind == "write" else d.kind)
    return any(
        len(threads) > 1 and kinds & {"write", "atomic"} and len(values) > 1
        for threads, kinds, values in met.values()
    )


def threads_race(case):
    """Return whether two threads of a case race, be they of two warps or of one.

    Atomics whose order matters count as such: a GPU makes them in any order.
    """
    run = run_case(case, "asynchronous", trace=True, check=True)
    return races(run) or lanes_meet(run.trace) or in_turn(case)


def can_be_written(case):
    """Return whether a case can be written in CUDA C: whose lanes exchange must be known there."""
    spaces = ("global", "shared") if case.block_size in (None, case.threads) else ("global",)
    try:
        for space in spaces:
            kernel(case.program, *case.arguments, **case.launch, space=space)
    except LaunchError:
        return False
    return True


def draw_cases(count, number, candidates=CANDIDATES):
    """So many different programs whose threads don't race; each number gives others."""
    found = {}
    for turn in range(TURNS):
        if len(found) < count:
            for case in drawn(candidates, count, f"{number}, {turn}"):
                if case.source in found or not can_be_written(case):
                    continue
                if not threads_race(case):
                    found[case.source] = case
    assert len(found) >= count, f"only {len(found)} of {count} programs"
    return list(found.values())[:count]
