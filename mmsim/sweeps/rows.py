"""What a sweep keeps of a case: one flat row."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from mmsim.host.progress import unwatched
from mmsim.host.version import VERSION
from mmsim.results import Run

SweepRow = dict[str, Any]

COUNTED = ("time", "requests", "stages", "least", "coalesced", "conflict_free", "casual")
"""What is counted of a run; the last three are its requests by class. Null where a case failed."""

RESULTS = ("key", *COUNTED, "error", "message", "seconds", "source", "mmsim")
"""The columns that a sweep makes; no parameter may be called like one of them."""

FACTS = ("machine", "schedule", "threads", "block_size")
"""What the run reports of itself, where no parameter has that name."""


def carried_out(
    function: Callable[..., Run], values: dict[str, Any], written: SweepRow
) -> SweepRow:
    """The row of a case: `function(**values)` run and counted, or its error. `key` and `source`
    are left to the caller.

    An exception, `sys.exit` too, becomes part of the row: `error` is its kind, `message` its text.
    """

    begun = time.perf_counter()
    found: SweepRow = dict.fromkeys((*FACTS, *COUNTED))
    error = message = None
    try:
        with unwatched():
            run = function(**values)
        if not isinstance(run, Run):
            raise TypeError(f"a sweep's function returns a Run; this one returned {run!r:.80}")
        found = _counted(run)
    except (Exception, SystemExit) as raised:  # whatever a case does wrong, the others go on
        error, message = type(raised).__name__, _message(raised)
    seconds = round(time.perf_counter() - begun, 6)
    end = {"error": error, "message": message, "seconds": seconds, "mmsim": VERSION}
    return {**_facts(found, written), **end}


def _message(raised: BaseException) -> str:
    """The text of an exception, in characters that any reader of JSON takes."""
    try:
        return str(raised).encode("utf-8", "backslashreplace").decode()
    except Exception as error:  # its text is the case's code too
        return f"it can't be printed: {type(error).__name__}"


def lost(written: SweepRow) -> SweepRow:
    """The row of a case that ended its worker process."""

    message = "the process that ran this case ended; perhaps memory ran out"
    end = {"error": "WorkerDied", "message": message, "seconds": None, "mmsim": VERSION}
    return {**_facts(dict.fromkeys((*FACTS, *COUNTED)), written), **end}


def _facts(found: SweepRow, written: SweepRow) -> SweepRow:
    """Parameters first; a parameter keeps its name from a fact."""
    return {**written, **{name: found[name] for name in found if name not in written}}


def _counted(run: Run) -> SweepRow:
    def of_class(access_class: str) -> int:
        return sum(row.requests for row in run.accesses if row.access_class == access_class)

    return {
        "machine": str(run.machine),
        "schedule": run.schedule,
        "threads": run.threads,
        "block_size": run.block_size,
        "time": run.time,
        "requests": run.requests,
        "stages": run.stages,
        "least": sum(row.least for row in run.accesses),
        "coalesced": of_class("coalesced"),
        "conflict_free": of_class("conflict-free"),
        "casual": of_class("casual"),
    }
