"""The fields of SimPy's events that mmsim sets itself, against the SimPy that is installed."""

from simpy import Environment, Timeout

from mmsim.engines.events.moment import Moment

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
