"""Counts requests, stages and rounds; engines of every kind count with it."""

from __future__ import annotations

from typing import Any

from mmsim.language.frame import Site
from mmsim.launch import Launch
from mmsim.machines import HMM
from mmsim.results import AccessRow, RoundRow, Run
from mmsim.results.findings import Finding
from mmsim.results.rows import classify
from mmsim.results.trace import Trace


class Tally:
    """Counts requests and stages of every access of the program's text, and lists the rounds."""

    def __init__(self, launch: Launch) -> None:
        self.launch = launch
        self.rounds: list[RoundRow] = []
        self.requests = [0] * len(launch.meaning.sites)
        self.stages = [0] * len(launch.meaning.sites)

    def count(self, site: Site, requests: int, stages: int) -> None:
        """Requests of one access took so many stages together."""
        self.requests[site.number] += requests
        self.stages[site.number] += stages

    def round(self, site: Site, start: int, time: int, requests: int, stages: int) -> None:
        """A round of the synchronous schedule has ended."""
        self.count(site, requests, stages)
        space, conflict = space_of(self.launch, site.array)
        self.rounds.append(
            RoundRow(
                len(self.rounds),
                start,
                time,
                site.place.function,
                site.place.file,
                site.place.line,
                site.array,
                site.kind,
                space,
                requests,
                stages,
                classify(conflict, requests, stages),
            )
        )

    def result(
        self,
        engine: str,
        time: int,
        findings: tuple[Finding, ...] | None = None,
        record: Trace | None = None,
    ) -> Run:
        """The finished run."""
        launch = self.launch
        return Run(
            machine=launch.machine,
            program=launch.program.name,
            threads=launch.grid.threads,
            block_size=launch.grid.block_size,
            schedule=launch.schedule,
            engine=engine,
            time=time,
            arrays=launch.results(),
            accesses=self.rows(),
            rounds=tuple(self.rounds),
            sources=launch.program.code.sources,
            findings=findings,
            record=record,
        )

    def rows(self) -> tuple[AccessRow, ...]:
        """One row for each line, array and kind that was executed."""
        merged: dict[tuple[Any, ...], list[int]] = {}
        sites: dict[tuple[Any, ...], Site] = {}
        for site, requests, stages_ in zip(
            self.launch.meaning.sites, self.requests, self.stages, strict=True
        ):
            if requests:
                place = site.place
                key = (place.file, place.line, place.function, site.array, site.kind)
                sums = merged.setdefault(key, [0, 0])
                sums[0] += requests
                sums[1] += stages_
                sites.setdefault(key, site)
        return tuple(
            self._row(sites[key], requests, stages_) for key, (requests, stages_) in merged.items()
        )

    def _row(self, site: Site, requests: int, stages_: int) -> AccessRow:
        space, conflict = space_of(self.launch, site.array)
        return AccessRow(
            site.place.function,
            site.place.file,
            site.place.line,
            site.array,
            site.kind,
            space,
            requests,
            stages_,
            requests,
            classify(conflict, requests, stages_),
        )


def space_of(launch: Launch, array: str) -> tuple[str, str]:
    """The space that an array lies in, and what its units conflict by."""
    machine = launch.machine
    if not isinstance(machine, HMM):
        return "memory", machine.memory.conflict
    return ("shared", "bank") if launch.arrays[array].shared else ("global", "group")
