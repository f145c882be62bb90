"""The event engine against the plain evaluation in `reference`, on random programs.

Both must agree on everything that can be seen of a run: its time, what the arrays hold (bit for
bit), the rounds of lock step, and every single dispatch. MMSIM_EXAMPLES sets how many programs
are tried under each schedule.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from tests.kit.generators.draws import draws
from tests.kit.generators.random_programs import bits, cases, evaluated, run_case
from tests.kit.oracle.reference import Outcome


def run_mmsim(case, schedule):
    """What mmsim makes of a case, in the words of the reference."""
    result = run_case(case, schedule, engine="events", trace=True)
    outcome = Outcome(time=result.time, arrays=dict(result.arrays))
    if schedule == "synchronous":
        outcome.rounds = [(r.line, r.array, r.kind, r.stages, r.time) for r in result.rounds]
    outcome.dispatches = [
        (d.time, d.unit, d.warp, d.line, d.array, d.kind, d.stage_count, d.completion)
        for d in result.trace.dispatches
    ]
    return outcome


@pytest.mark.parametrize("schedule", ["synchronous", "asynchronous"])
@settings(
    max_examples=draws(40),
    deadline=None,
    derandomize=False,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(case=cases())
def test_events_agree_with_the_reference(case, schedule):
    expected = evaluated(case, schedule)
    actual = run_mmsim(case, schedule)
    # A unit dispatches at most once at an instant, and what units do at one instant is unordered.
    assert sorted(actual.dispatches) == sorted(expected.dispatches)
    assert actual.rounds == expected.rounds
    assert actual.time == expected.time
    assert actual.arrays.keys() == expected.arrays.keys()
    for name, array in expected.arrays.items():
        assert bits(actual.arrays[name]) == bits(array), (name, actual.arrays[name], array)
