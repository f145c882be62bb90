"""The states of a trace that the player's page has to show."""

from dataclasses import asdict

import numpy as np

from mmsim.view.player import data


def fields(thing, *names):
    return {name: getattr(thing, name) for name in names}


def expected(trace, start=0, end=None):
    """The states of a run at its time units, as the page has to give them."""
    numbers = {id(dispatch): number for number, dispatch in enumerate(trace.dispatches)}
    shared = {array.name: array.shared for array in trace.arrays}
    for cycle in list(trace.cycles())[start : None if end is None else end + 1]:
        yield {
            "time": cycle.time,
            "registers": {
                name: [
                    stage
                    and fields(stage, "dispatch", "warp", "number")
                    | {"requests": [list(request) for request in stage.requests]}
                    for stage in row
                ]
                for name, row in cycle.registers.items()
            },
            "waiting": [asdict(wait) for wait in cycle.waiting],
            "dispatched": [numbers[id(dispatch)] for dispatch in cycle.dispatched],
            "completed": [numbers[id(dispatch)] for dispatch in cycle.completed],
            "memory": {
                name: [data.plain(row.ravel()) for row in (values if shared[name] else [values])]
                for name, values in cycle.memory.items()
            },
            "variables": {
                name: [
                    None
                    if value is None
                    else data.plain(np.array(value).ravel())
                    if held.ndim > 1
                    else data.plain(np.array([value]))[0]
                    for value in held.tolist()
                ]
                for name, held in cycle.variables.items()
            },
        }


def until(page, test):
    """Wait until a test in JavaScript holds; a page does not evaluate the texts of Playwright."""
    for _ in range(500):
        if page.evaluate(test):
            return
        page.wait_for_timeout(20)
    raise AssertionError(f"{test} does not hold after 10 seconds")
