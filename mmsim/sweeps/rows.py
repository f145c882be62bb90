"""The row of a case in a sweep's file: flat data."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from mmsim.host.progress import unwatched
from mmsim.host.version import VERSION
from mmsim.model.machines import Machine, Units
from mmsim.results import Run

SweepRow = dict[str, Any]

COUNTED = ("time", "requests", "stages", "least", "coalesced", "conflict_free", "casual")
"""The counts of a run; the last three are its requests by class. Null if a case failed."""

RESULTS = ("key", *COUNTED, "error", "message", "seconds", "source", "mmsim")
"""The columns that a sweep adds; no parameter may have one of these names."""

MACHINE = ("kind", "width", "latency", "dmms", "shared_latency", "bank_bytes")
"""The columns of a machine: its class and numbers, null for a number that it lacks. `latency` is
that of the memory of the array parameters, on an HMM the global memory."""

FACTS = ("machine", *MACHINE, "schedule", "threads", "block_size")
"""The facts of a run, unless a parameter has the name."""


def run_case(function: Callable[..., Run], values: dict[str, Any], written: SweepRow) -> SweepRow:
    """The row of a case: `function(**values)` run and counted, or its error. `key` and `source`
    are left to the caller.

    The row keeps an exception, `sys.exit` too: `error` is its kind, `message` its text.
    """
    begun = time.perf_counter()
    found = _not_run(values)
    error = message = None
    try:
        with unwatched():
            run = function(**values)
        if not isinstance(run, Run):
            raise TypeError(f"a sweep's function returns a Run; this one returned {run!r:.80}")
        found = _counted(run)
    except (Exception, SystemExit) as raised:  # if a case fails, the others go on
        error, message = type(raised).__name__, _message(raised)
    seconds = round(time.perf_counter() - begun, 6)
    end = {"error": error, "message": message, "seconds": seconds, "mmsim": VERSION}
    return {**_facts(found, written), **end}


def _message(raised: BaseException) -> str:
    """The text of an exception, in characters that any reader of JSON accepts."""
    try:
        return str(raised).encode("utf-8", "backslashreplace").decode()
    except Exception as error:  # its text is the case's code too
        return f"it can't be printed: {type(error).__name__}"


def row_of_lost_worker(values: dict[str, Any], written: SweepRow) -> SweepRow:
    """The row of a case that ended its worker process."""

    message = "the process that ran this case ended; perhaps memory ran out"
    end = {"error": "WorkerDied", "message": message, "seconds": None, "mmsim": VERSION}
    return {**_facts(_not_run(values), written), **end}


def differing(rows: Iterable[SweepRow]) -> list[str]:
    """The parameters and facts in which rows differ.

    The text of a machine is left out if its kind and numbers determine it.

    >>> differing([{"machine": "dmm", "kind": "DMM", "n": 1}, {"machine": "umm", "kind": "UMM"}])
    ['kind', 'n']
    """
    rows = list(rows)
    names = dict.fromkeys(name for row in rows for name in row if name not in RESULTS)
    found = [name for name in names if len({row.get(name) for row in rows}) > 1]
    described = {(*map(row.get, MACHINE), row.get("machine")) for row in rows}
    if len({one[:-1] for one in described}) == len(described):
        return [name for name in found if name != "machine"]
    return found


def machine_columns(machine: Machine) -> SweepRow:
    """The columns `MACHINE` of a machine.

    >>> from mmsim import DMM, HMM
    >>> [value for value in machine_columns(DMM(width=32, latency=5)).values()]
    ['DMM', 32, 5, None, None, None]
    >>> [value for value in machine_columns(HMM(8, 32, 300, bank_bytes=4)).values()]
    ['HMM', 32, 300, 8, 1, 4]
    """
    shared = machine.shared
    if isinstance(shared, Units):
        latencies = {shared.latency}
    else:
        latencies = {unit.latency for unit in shared}
    return {
        "kind": type(machine).__name__,
        "width": machine.width,
        "latency": machine.memory.latency,
        "dmms": len(shared) or None,
        "shared_latency": latencies.pop() if len(latencies) == 1 else None,
        "bank_bytes": machine.bank_bytes,
    }


def _not_run(values: dict[str, Any]) -> SweepRow:
    """The facts of a case without a run: its machine's, if one of its parameters is a machine."""
    found: SweepRow = dict.fromkeys((*FACTS, *COUNTED))
    machines = [value for value in values.values() if isinstance(value, Machine)]
    if len(machines) == 1:
        with suppress(Exception):  # a user's own machine may fail; the run reports it
            found |= {"machine": str(machines[0]), **machine_columns(machines[0])}
    return found


def _facts(found: SweepRow, written: SweepRow) -> SweepRow:
    """The facts that aren't parameters; a parameter has precedence over a fact of its name."""
    return {**written, **{name: found[name] for name in found if name not in written}}


def _counted(run: Run) -> SweepRow:
    names = ("schedule", "threads", "block_size", "time", "requests", "stages")
    classes = Counter[str]()
    for row in run.accesses:
        classes[row.access_class.replace("-", "_")] += row.requests
    return {
        "machine": str(run.machine),
        **machine_columns(run.machine),
        **{name: getattr(run, name) for name in names},
        "least": sum(row.least for row in run.accesses),
        **{name: classes[name] for name in ("coalesced", "conflict_free", "casual")},
    }
