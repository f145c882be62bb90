"""Looks for mistakes in a program: one run that is watched, and some for each doubtful winner."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

import numpy as np

from mmsim.check.faults import finding_before, finding_of
from mmsim.check.placing import capacity, placement
from mmsim.engines.collisions import Other
from mmsim.engines.events import drive, driver_of
from mmsim.engines.recorder import Recorder
from mmsim.engines.watch import Watch
from mmsim.errors import LaunchError, ProgramError
from mmsim.launch import Launch, bind
from mmsim.machines import Machine, Schedule
from mmsim.results import Run
from mmsim.results.findings import Finding
from mmsim.results.report import Report
from mmsim.threads import whole

OTHERS: dict[Other, str] = {"lowest": "the other's", "highest": "the last other's"}


def check(
    machine: Machine,
    program: Any,
    args: tuple[Any, ...],
    *,
    threads: int,
    block_size: int | None,
    schedule: Schedule,
    max_accesses: int,
    shared_words: int | None,
    unset: Collection[str],
    trace: bool,
) -> Report:
    """What `Machine.check` documents."""

    def launch() -> Launch:
        return bind(machine, program, args, threads, block_size, schedule, max_accesses)

    if shared_words is not None:
        whole("shared_words", shared_words)
    try:
        bound = launch()
        bound.meaning.ready()
    except ProgramError as error:  # one that types and shapes alone tell
        size = threads if block_size is None else block_size
        found_at_once = (finding_before(error),)
        return Report(machine, program.name, threads, size, schedule, 0, found_at_once)
    _check_names(bound, unset)
    found = [*placement(bound, args), *capacity(bound, shared_words)]
    watch = Watch(bound, unset, thorough=True)
    recorder = Recorder(bound) if trace else None
    driver = driver_of(bound, recorder, watch)
    run: Run | None = None
    try:
        drive(driver)
        run = driver.result()
        found += run.findings or ()
        found += _winners(launch, watch, run)
        time = run.time
    except ProgramError as error:
        time = driver.now
        found += watch.findings()
        found.append(finding_of(error, bound, watch, time))
    return Report(
        machine,
        program.name,
        bound.grid.threads,
        bound.grid.block_size,
        schedule,
        time,
        tuple(found),
        run,
        None if recorder is None else driver.record(time),
    )


def _check_names(launch: Launch, unset: Collection[str]) -> None:
    for name in unset:
        if name not in launch.parameters:
            known = ", ".join(launch.parameters)
            raise LaunchError(
                f"unset={name!r}, but {launch.program.name!r} has no such array parameter; it has "
                f"{known}"
            )


def _winners(launch: Callable[[], Launch], watch: Watch, run: Run) -> Iterator[Finding]:
    """The lines whose concurrent writes change the results if another one wins: run again.

    Each line alone, then those together that make no difference alone.
    """
    collisions = watch.collisions
    assert collisions is not None

    def difference(lines: Collection[int]) -> str:
        for other, whose in OTHERS.items():
            sites = np.flatnonzero(np.isin(watch.lines.of_site, list(lines))).tolist()
            note = _again(launch(), dict.fromkeys(sites, other), whose, run)
            if note:
                return note
        return ""

    alone = []
    for line in sorted(collisions.first):
        if note := difference([line]):
            yield collisions.finding(line, note)
        else:
            alone.append(line)
    if len(alone) > 1 and difference(alone):
        for line in list(alone):
            without = [one for one in alone if one != line]
            if difference(without):
                alone = without
        lines = ", ".join(str(watch.lines.sites[line].place.line) for line in alone)
        yield collisions.finding(alone[0], f"{difference(alone)} (in lines {lines} at once)")


def _again(bound: Launch, others: Mapping[int, Other], whose: str, run: Run) -> str:
    """What changes in a run with other winners, in words; empty if nothing."""
    driver = driver_of(bound, None, None)
    driver.others = others
    try:
        drive(driver)
    except ProgramError as error:
        return f"if {whose} stays, {error.message}"
    return _difference(run, bound, whose)


def _difference(run: Run, other: Launch, whose: str) -> str:
    """The first element that another winner has changed, in words; empty if none."""
    for name, now in other.results().items():
        before = run.arrays[name]
        same = before.view(f"u{before.itemsize}") == now.view(f"u{now.itemsize}")
        if not same.all():
            index = tuple(map(int, np.argwhere(~same)[0]))
            shown = ", ".join(map(str, index))
            ends = f"{name}[{shown}] ends as {before[index]}"
            return f"{ends}, but as {now[index]} if {whose} stays"
    return ""
