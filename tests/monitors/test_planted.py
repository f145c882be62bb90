"""The checker finds each planted bug, to the field, and says nothing of the clean twins."""

import re
from collections import Counter

import pytest

from mmsim.errors import ProgramError
from tests.kit.planted import PAIRS
from tests.kit.runs.paths import both_engines
from tests.kit.tools.planted_bugs import of_bug, of_twin

SHOWN = {"race", "beside-atomic", "lost-update", "unwritten", "barrier", "warp-sync"}
"""What one run shows, with `run(check=True)`."""

each = pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)


def times_of(findings):
    return [finding.times for finding in findings]


def agree(known, expected):
    """Return whether times are those expected, where any are."""
    return all(
        expects is None or knows == expects
        for knew, expecting in zip(known, expected, strict=True)
        for knows, expects in zip(knew, expecting, strict=True)
    )


@each
def test_a_bug_is_found_as_it_was_planted(pair):
    findings = of_bug(pair).findings
    assert [finding.kind for finding in findings] == [expected.kind for expected in pair.finds]
    for finding, expected in zip(findings, pair.finds, strict=True):
        assert finding == expected.finding(pair.bug, finding.note)
        assert expected.note in finding.note
        assert bool(expected.note) or not finding.note or finding.kind == "deadlock"
    times = times_of(findings)
    assert agree(times, [expected.times for expected in pair.finds]), times


@each
def test_a_twin_is_clean(pair):
    for schedule in pair.clean:
        report = of_twin(pair, schedule)
        assert report.ok, str(report)
        assert report.run is not None


@each
@both_engines
def test_a_run_shows_what_one_run_can(pair, engine):
    expected = tuple(
        one.finding(pair.bug, "")
        for one in pair.finds
        if one.kind in SHOWN
        # A run doesn't know which parameters hold nothing yet.
        and not (one.kind == "unwritten" and one.array in pair.bug.unset)
    )
    launched = pair.bug

    def run(launched, schedule):
        return launched.machine.run(
            launched.program,
            *launched.arguments,
            **launched.how(schedule),
            engine=engine,
            trace=False,
            check=True,
        )

    if of_bug(pair).run is None:
        with pytest.raises(ProgramError):
            run(launched, pair.schedule)
    else:
        assert run(launched, pair.schedule).findings == expected
    for schedule in pair.clean:
        assert run(pair.twin, schedule).findings == ()


@each
def test_a_finding_says_all_that_it_knows(pair):
    for finding in of_bug(pair).findings:
        text = str(finding)
        assert text.startswith(finding.title)
        assert text.endswith(finding.advice)
        assert finding.element in text
        assert finding.note in text
        for access in finding.accesses:
            assert f"({access.function}, line {access.line})" in text
            if access.kind == "declaration":
                assert f"declared ({access.function}, line {access.line})" in text
            else:
                assert re.search(rf"\bthread {access.thread} \w", text)
            if access.time is not None:
                assert re.search(rf"(at|since) time {access.time} ", text)


def test_the_suite_is_as_large_as_it_should_be():
    assert len(PAIRS) == len({pair.name for pair in PAIRS}) >= 158
    assert len({pair.story for pair in PAIRS}) == len(PAIRS)
    kinds = Counter(pair.kind for pair in PAIRS)
    assert kinds["race"] >= 25
    assert all(
        kinds[kind] >= 5
        for kind in (
            *("unwritten", "barrier", "winner", "out-of-range", "deadlock", "capacity"),
            *("beside-atomic", "lost-update", "warp-sync", "exchange", "spin"),
        )
    )
    timed = [pair for pair in PAIRS if any(t is not None for one in pair.finds for t in one.times)]
    assert len(timed) >= 15


def test_a_bug_has_a_story_and_is_as_wide_as_a_gpu():
    for pair in PAIRS:
        assert re.fullmatch(r"[A-Z/T].*\.", pair.story), pair.name
        assert pair.bug.machine.width == 32
        assert (pair.bug.block_size or pair.bug.threads) <= 1024
