"""The array engine against the event engine, on random programs.

Where a program has no data race both must agree on everything that a run has: time, accesses,
rounds, and arrays bit for bit. Where it has one, both must say so; under the synchronous schedule,
where rounds order everything, they agree even then. MMSIM_EXAMPLES sets how many programs are
tried.
"""

from collections import Counter

from hypothesis import event, given, settings

from mmsim.engines.array import engine as array
from mmsim.engines.array.fused.analysis import CannotFuse
from tests.kit.generators.draws import draws
from tests.kit.generators.race_free_programs import CANDIDATES
from tests.kit.generators.random_programs import cases, races, run_case
from tests.kit.runs.both import agree_without_a_race
from tests.kit.runs.paths import both_schedules, outcome

many = settings(max_examples=draws(15))


@both_schedules
@many
@given(case=CANDIDATES)
def test_the_engines_agree_without_a_race_and_both_find_one(case, schedule):
    events = run_case(case, schedule, engine="events", trace=False, check=True)
    checked = run_case(case, schedule, engine="array", check=True)
    assert races(events) == races(checked)
    if schedule == "synchronous" or not races(events):
        assert events.findings == checked.findings
    if not races(events):
        event("no race")
        assert events.findings == checked.findings
        assert outcome(run_case(case, schedule, engine="array")) == outcome(events)
        assert outcome(checked) == outcome(events)


@many
@given(case=cases())
def test_rounds_order_everything_so_that_lock_step_needs_no_program_without_a_race(case):
    events = run_case(case, "synchronous", engine="events", trace=False)
    assert outcome(run_case(case, "synchronous", engine="array")) == outcome(events)


class Fused:
    """Makes the array engine take the fused path, uncompiled, wherever there is one.

    `paths` counts how it went.
    """

    def __init__(self, monkeypatch):
        self.paths = Counter()
        run = array.run

        def run_fused(launch, check=False):
            try:
                result = run(launch, check, "plain")
            except CannotFuse:
                self.paths["interpreted"] += 1
                return run(launch, check)
            self.paths["fused"] += 1
            return result

        monkeypatch.setattr(array, "run", run_fused)


@both_schedules
def test_fused_programs_agree_too(schedule, monkeypatch):
    fused = Fused(monkeypatch)

    @many
    @given(case=CANDIDATES)
    def check(case):
        agree_without_a_race(case, schedule)

    check()
    assert fused.paths["fused"] > fused.paths["interpreted"] / 8
