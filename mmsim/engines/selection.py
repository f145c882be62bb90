"""From a launch to a `Run`: picks the engine."""

from __future__ import annotations

from mmsim.errors import LaunchError, ProgramError
from mmsim.host.arguments import one_of, yes_or_no
from mmsim.meaning.launch import Launch
from mmsim.model.machines import Engine, Machine
from mmsim.results.run import Run

default_engine: Engine = "array"
FEW = 1 << 12
"""The most threads whose texts are written in the order of the model's time."""


def launch(bound: Launch, engine: Engine | None, trace: bool | None, check: bool) -> Run:
    """Carry out a launch, as `Machine.run` documents."""
    if engine is not None:
        one_of("engine", engine, ("array", "events"))
    shows = bound.machine.pipelined
    recording = engine == "events" and shows if trace is None else yes_or_no("trace", trace)
    checking = yes_or_no("check", check)
    if recording:
        check_trace(bound.machine)
    if recording and engine == "array":
        raise LaunchError("the array engine has no trace; take engine='events' for one")
    try:
        in_order = bound.writes_text and bound.grid.threads <= FEW and engine is None
        picked = "events" if recording or in_order else engine or default_engine
        if picked == "array" and not checking and bound.ordered and bound.machine.cache is not None:
            from mmsim.engines.array import in_turn

            found = in_turn.run(bound)
            if found is not None:
                return found
        if picked == "events" or bound.ordered:
            from mmsim.engines.events import engine as events  # loads SimPy

            return events.run(bound, recording, checking)
        from mmsim.engines.array import engine as array  # a run loads the engine that it needs

        return array.run(bound, checking)
    except ProgramError as error:
        error.position = bound.grid.position(error.thread)
        raise


def check_trace(machine: Machine) -> None:
    """Refuse a trace of a machine that isn't `pipelined`: its stages don't show everything."""
    if not machine.pipelined:
        raise LaunchError(
            f"a trace shows the stages of each warp's one request, but a {type(machine).__name__} "
            "with such times, several requests under way or a bound on resident threads does more; "
            "take trace=False, and run.cache for its counts"
        )
