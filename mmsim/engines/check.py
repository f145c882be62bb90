"""Looks for mistakes in a program: one watched run, and some more for each doubtful winner."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress

import numpy as np

from mmsim.engines.events.engine import ask_for_room, drive, driver_of, trace_of
from mmsim.engines.events.recorder import Recorder
from mmsim.engines.selection import check_trace
from mmsim.engines.tally import result
from mmsim.errors import LaunchError, ProgramError, shown
from mmsim.host.arguments import several, whole, yes_or_no
from mmsim.meaning.launch import Launch
from mmsim.model.machines import Machine, Schedule
from mmsim.model.threads import Shape, make_grid
from mmsim.monitors.bankcheck import BankConflicts
from mmsim.monitors.faults import finding_before, finding_of
from mmsim.monitors.listener import bits_of
from mmsim.monitors.placing import capacity, placement
from mmsim.monitors.watch import Monitors
from mmsim.monitors.winners import Other
from mmsim.results import Run
from mmsim.results.findings import Finding, Language, of_launch
from mmsim.results.report import Report

UNSET = "unset must be the name of an array parameter, or several names"
OTHERS: dict[Other, str] = {"lowest": "the other's", "highest": "the last other's"}


def check(
    launch: Callable[[], Launch],
    machine: Machine,
    sizes: tuple[int, int | None, Shape | None],
    schedule: Schedule,
    language: Language,
    *,
    shared_words: int | None,
    unset: str | Collection[str],
    trace: bool,
) -> Report:
    """As `Machine.check` documents; `launch` binds the program of a language anew.

    `sizes` are those of `mmsim.model.threads.asked`.
    """
    if shared_words is not None:
        whole("shared_words", shared_words)
    tracing = yes_or_no("trace", trace)
    if tracing:
        check_trace(machine)
    names = [unset] if isinstance(unset, str) else several(UNSET, unset)
    try:
        bound = launch()
        bound.meaning.ready()
    except ProgramError as error:  # found from types and shapes alone
        threads, block_size, shape = sizes
        size = int(threads if block_size is None else block_size)
        grid = make_grid(threads, size, machine.width, 1, shape)
        at_once = of_launch([finding_before(error)], grid, language)
        return Report(
            machine, error.program, int(threads), size, schedule, 0, at_once, shape=grid.shape
        )
    _check_names(bound, names)
    found = [*placement(bound, bound.args), *capacity(bound, shared_words)]
    ask_for_room(bound, tracing, checking=True)
    monitors = Monitors(bound, names, thorough=True)
    recorder = Recorder(bound) if tracing else None
    driver = driver_of(bound, monitors, recorder)
    run: Run | None = None
    try:
        drive(driver)
        time = driver.now
        record = trace_of(driver, recorder, time)
        run = result(bound, "events", time, driver.tally.tables(), monitors.findings(), record)
        found += run.findings or ()
        found += _winners(launch, monitors, run)
    except ProgramError as error:
        time = driver.now
        record = trace_of(driver, recorder, time)
        found += monitors.findings()
        found.append(finding_of(error, bound, monitors, time))
    return Report(
        machine,
        bound.program.name,
        bound.grid.threads,
        bound.grid.block_size,
        schedule,
        time,
        of_launch(found, bound.grid, bound.program.code.arithmetic),
        run,
        record,
        bound.grid.shape,
    )


def bank_conflicts(launch: Launch) -> tuple[Finding, ...]:
    """The first bank conflict of each access of the text, up to the program's error if any."""
    ask_for_room(launch, recording=False, checking=True)
    conflicts = BankConflicts(launch)
    with suppress(ProgramError):
        drive(driver_of(launch, conflicts))
    found = tuple(one for _, one in sorted(conflicts.found.items()))
    return of_launch(found, launch.grid, launch.program.code.arithmetic)


def _check_names(launch: Launch, unset: Collection[str]) -> None:
    for name in unset:
        if not isinstance(name, str) or name not in launch.parameters:
            known = ", ".join(launch.parameters) or "none"
            raise LaunchError(
                f"unset={shown(name)}, but {launch.program.name!r} has no such array parameter; it "
                f"has {known}"
            )


def _winners(launch: Callable[[], Launch], monitors: Monitors, run: Run) -> Iterator[Finding]:
    """The lines whose concurrent writes change the results if another one wins: run again.

    Each line is tried alone; then those without a difference are tried together.
    """
    concurrent_writes = monitors.concurrent_writes
    assert concurrent_writes is not None

    def difference(lines: Collection[int]) -> str:
        for other, whose in OTHERS.items():
            sites = np.flatnonzero(np.isin(monitors.lines.of_site, list(lines))).tolist()
            note = _again(launch(), dict.fromkeys(sites, other), whose, run)
            if note:
                return note
        return ""

    alone = []
    for line in sorted(concurrent_writes.found.first.keys() - monitors.updates.lost.first.keys()):
        if note := difference([line]):
            yield concurrent_writes.finding(line, note)
        else:
            alone.append(line)
    if len(alone) > 1 and difference(alone):
        for line in list(alone):
            without = [one for one in alone if one != line]
            if difference(without):
                alone = without
        lines = ", ".join(str(monitors.lines.sites[line].place.line) for line in alone)
        text = f"{difference(alone)} (in lines {lines} together)"
        yield concurrent_writes.finding(alone[0], text)


def _again(bound: Launch, others: Mapping[int, Other], whose: str, run: Run) -> str:
    """The difference that other winners make, in words; empty without one."""
    ask_for_room(bound, recording=False, checking=False)
    driver = driver_of(bound)
    driver.others = others
    try:
        drive(driver)
    except ProgramError as error:
        return f"if {whose} stays, {error.message}"
    for name, now in bound.results().items():
        before = run.arrays[name]
        same = bits_of(before) == bits_of(now)
        if not same.all():
            index = tuple(map(int, np.argwhere(~same)[0]))
            shown = ", ".join(map(str, index))
            ends = f"{name}[{shown}] ends as {before[index]}"
            return f"{ends}, but as {now[index]} if {whose} stays"
    return ""
