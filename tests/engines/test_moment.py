"""The fields of SimPy's events that mmsim sets itself, against the SimPy that is installed."""

import pytest
from simpy import Environment, Event, Timeout

from mmsim.engines.events.moment import COMPLETION, DISPATCH, Moment, Recurring
from mmsim.errors import LaunchError

FIELDS = {"env", "callbacks", "_ok", "_value"}


def test_a_moment_has_the_fields_of_a_timeout():
    """A SimPy that keeps more in an event, or something else, is one that `Moment` must follow."""
    env = Environment()
    timeout, moment = vars(Timeout(env, 3)), vars(Moment(env))
    assert timeout.keys() - {"_delay"} == FIELDS
    assert moment.keys() == FIELDS
    for name in FIELDS:
        assert moment[name] == timeout[name], name


def test_what_simpy_does_to_an_event_that_happens():
    """It calls its callbacks once and leaves None: so a moment knows that it may be set off."""
    env = Environment()
    timeout = Timeout(env, 3)
    callbacks = timeout.callbacks
    calls = []
    callbacks.append(calls.append)
    env.run()
    assert (calls, timeout.callbacks, env.now) == ([timeout], None, 3)
    assert timeout.processed
    assert timeout.ok


def test_a_moment_is_an_event_for_processes_and_conditions():
    env = Environment()
    first, second = Moment(env), Moment(env)
    seen = []

    def waits():
        yield first & second
        seen.append(env.now)

    env.process(waits())
    first.after(2, COMPLETION)
    second.after(5, COMPLETION)
    assert isinstance(first, Event)
    env.run()
    assert seen == [5]


class Noted(Recurring):
    """Notes in a list when it happens."""

    def __init__(self, env, seen, times=1):
        super().__init__(env)
        self.seen = seen
        self.times = times

    def happen(self, event):
        assert event is self
        self.seen.append((self.env.now, self))
        self.times -= 1
        if self.times:
            self.after(self.times, COMPLETION)


def test_completions_come_before_dispatches_and_each_in_the_order_they_were_set_off():
    env = Environment()
    seen = []
    priorities = [DISPATCH, COMPLETION, DISPATCH, COMPLETION]
    moments = [Noted(env, seen) for _ in priorities]
    for moment, priority in zip(moments, priorities, strict=True):
        moment.after(4, priority)
    env.run()
    assert seen == [(4, moments[number]) for number in (1, 3, 0, 2)]


def test_a_recurring_event_happens_again():
    env = Environment()
    seen = []
    Noted(env, seen, times=4).after(1, COMPLETION)
    env.run()
    assert [time for time, _ in seen] == [1, 4, 6, 7]


def test_what_an_event_raises_ends_the_run_as_it_is():
    env = Environment()
    error = LaunchError("once")

    def fail(_):
        raise error

    moment = Moment(env)
    moment.callbacks = [fail]
    moment.after(1, COMPLETION)
    with pytest.raises(LaunchError, match="once") as raised:
        env.run()
    assert raised.value is error
