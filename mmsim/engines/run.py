"""From a launch to a `Run`: picks the engine."""

from __future__ import annotations

from mmsim.errors import LaunchError, ProgramError
from mmsim.host.arguments import one_of, yes_or_no
from mmsim.meaning.launch import Launch
from mmsim.model.machines import Engine
from mmsim.results.run import Run

default_engine: Engine = "array"


def launch(bound: Launch, engine: Engine | None, trace: bool | None, check: bool) -> Run:
    """Carry out a launch, as `Machine.run` documents."""
    if engine is not None:
        one_of("engine", engine, ("array", "events"))
    recording = engine == "events" if trace is None else yes_or_no("trace", trace)
    checking = yes_or_no("check", check)
    if recording and engine == "array":
        raise LaunchError("the array engine has no trace; take engine='events' for one")
    try:
        return _run(bound, engine, recording, checking)
    except ProgramError as error:
        error.position = bound.grid.position(error.thread)
        raise


def _run(bound: Launch, engine: Engine | None, recording: bool, checking: bool) -> Run:
    """The same, with what was asked for checked."""
    if recording or (engine or default_engine) == "events" or bound.ordered:
        from mmsim.engines.events import engine as events  # loads SimPy

        return events.run(bound, recording, checking)
    from mmsim.engines.array import engine as array  # a run loads the engine that it needs

    return array.run(bound, checking)
