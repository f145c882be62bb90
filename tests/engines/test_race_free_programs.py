"""Random programs without a race: many, rich, and without one for a reason."""

import re
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import Phase, assume, given, seed, settings

from tests.kit.generators.draws import draws
from tests.kit.generators.race_free_programs import (
    CANDIDATES,
    has_race,
    orderly_cases,
    race_free_cases,
)
from tests.kit.generators.random_programs import bits, in_turn, run_case
from tests.kit.oracle.reference import RefDMM, RefHMM, RefPlaced, RefUMM

DRAWS = 200
counting = settings(max_examples=DRAWS, database=None, phases=[Phase.generate])


def features(case):
    """Name all that may happen in the asynchronous run of a case, and say if it does."""
    run = run_case(case, "asynchronous", trace=True)
    trace, width = run.trace, case.machine_spec.width
    blocks = -(-run.threads // run.block_size)
    warp_of = {t: d.warp for d in trace.dispatches for t in d.threads}
    lanes = Counter(warp_of.values())
    times = {}  # line -> how often each thread has come there
    kinds, writers, readers = {}, {}, {}
    for d in trace.dispatches:
        kinds.setdefault(d.array, set()).add(d.kind)
        times.setdefault((d.line, d.kind, d.array), Counter()).update(d.threads)
        for element in d.elements:
            by = writers if d.kind == "write" else readers
            by.setdefault((d.array, d.copy, element), set()).add(d.warp)
    shared = {array.name for array in trace.arrays if array.shared}
    placed = {name for name, arg in zip("abc", case.args, strict=False) if type(arg) is RefPlaced}
    return {
        "divergence": any(len(d.threads) < lanes[d.warp] for d in trace.dispatches),
        "different trip counts": any(
            len(set(count.values())) > 1 and max(count.values()) > 1 for count in times.values()
        ),
        "barriers of several warps": any(len(release.warps) > 1 for release in trace.releases),
        "shared memory": shared & set(kinds),
        "layouts": placed & set(kinds),
        "partial warps": run.threads % width and len(lanes) > 1,
        "several blocks": blocks > 1 and len({d.warp for d in trace.dispatches}) > 1,
        "d > 1": isinstance(case.machine_spec, RefHMM) and min(case.machine_spec.dmms, blocks) > 1,
        "in-place arrays": {"read", "write"} in kinds.values(),
        "a warp reads what another writes": any(
            writers[at] - {warp} for at in writers for warp in readers.get(at, ())
        ),
        "two warps write one element": any(len(warps) > 1 for warps in writers.values()),
        "a warp's threads write one element": any(
            d.kind == "write" and len(set(d.elements)) < len(d.elements) for d in trace.dispatches
        ),
        "accesses of helpers": "helper" in "".join(d.function for d in trace.dispatches),
        "conflicts": any(d.stage_count > 1 for d in trace.dispatches),
    }


@pytest.mark.long
def test_most_candidates_survive_and_every_feature_occurs():
    drawn, survived, occur = 0, 0, Counter()

    @seed(0)
    @counting
    @given(CANDIDATES)
    def draw(case):
        nonlocal drawn, survived
        drawn += 1
        if not has_race(case):
            survived += 1
            occur.update({name: bool(found) for name, found in features(case).items()})

    draw()
    assert drawn == DRAWS
    assert survived >= DRAWS // 2
    assert min(occur.values()) >= 5, occur


def without_barriers(source):
    """A program whose threads don't meet: what a barrier gives each is its own test."""
    source = re.sub(
        r"T\.(grid_)?barrier\(\)|(?<=  )T\.barrier_\w+\(.*\)$", "pass", source, flags=re.M
    )
    source = source.replace("T.barrier_count(", "int(")
    return re.sub(r"T\.barrier_(or|and)\(", "bool(", source)


def test_an_orderly_author_needs_the_barriers():
    """Without its barriers many a program races, with them none."""
    counts = Counter()

    @seed(0)
    @settings(counting, max_examples=80)
    @given(orderly_cases())
    def draw(case):
        assert not has_race(case)
        source = without_barriers(case.source)
        if source != case.source:
            counts["with barriers"] += 1
            without = replace(case, source=source)
            counts["racy without"] += has_race(without, ["asynchronous"])

    draw()
    assert counts["racy without"] >= 10, counts


@settings(max_examples=draws(12))
@given(case=race_free_cases())
def test_without_a_race_the_order_of_warps_makes_no_difference(case):
    """Neither the schedule nor the machine, which decides who is served when.

    That of atomics may make one, without being a race.
    """
    assume(not in_turn(case))
    width = case.machine_spec.width
    runs = [run_case(case, schedule) for schedule in ("synchronous", "asynchronous")]
    for machine in (RefDMM(width, 1), RefUMM(width, 7), RefHMM(3, width, 2, 9)):
        runs.append(run_case(replace(case, machine_spec=machine), "asynchronous"))
    first, *others = ({name: bits(array) for name, array in run.arrays.items()} for run in runs)
    assert all(other == first for other in others)
