"""The event engine against the plain evaluation in `reference`, on random programs.

Both must agree on everything that can be seen of a run: its time, what the arrays hold (bit for
bit), the rounds of lock step, and every single dispatch. MMSIM_EXAMPLES sets how many programs
are tried under each schedule.
"""

from hypothesis import given, settings

from tests.kit.generators.draws import draws
from tests.kit.generators.random_programs import cases
from tests.kit.runs.both import agree_with_the_reference
from tests.kit.runs.paths import both_schedules


@both_schedules
@settings(max_examples=draws(15))
@given(case=cases())
def test_events_agree_with_the_reference(case, schedule):
    agree_with_the_reference(case, schedule)
